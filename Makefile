# Everything starts from a machine that has Python 3.11+, make and a C++ compiler.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
DOCS_STAMP := $(VENV)/.docs
# Not the cluster: its processes are started anew and wait for each other longer than they may.
SANITIZED ?= tests/solvers tests/amp tests/correlated tests/sampling/test_chains.py tests/statistics/test_mlr.py -m "not slow" --ignore tests/solvers/test_cluster.py -n 2
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt
# What builds the C++ core, and dependencies that come as sources. It is in the environment: a build that finds the same tools again compiles only what changed.
BUILD_TOOLS := scikit-build-core nanobind cmake ninja setuptools wheel
CORE := CMakeLists.txt $(shell find cpp -name '*.[ch]pp')
CMAKE := PATH="$(abspath $(BIN)):$$PATH" cmake
CONFIGURE := $(CMAKE) -S . -G Ninja -DPython_EXECUTABLE=$(abspath $(BIN)/python) -DSELICA_WERROR=ON --log-level=WARNING

# One thread in each numerical library: test processes share the cores.
export OMP_NUM_THREADS ?= 1
export OPENBLAS_NUM_THREADS ?= 1
export MKL_NUM_THREADS ?= 1

.PHONY: help venv core sanitize fuzz run reproduce test test-all test-matrix lint format bench bench-ensemble docs wheel reliability clean

help:
	@echo "make run       variables selected from a real table, with a page to read in report/"
	@echo "make reproduce the figures of the article at their full size, in reproduced/"
	@echo "make test      fast tests        make test-all  slow guarantees too"
	@echo "make test-matrix  fast tests on every Python from 3.11 to 3.14 that can be found"
	@echo "make lint      style, types, layers"
	@echo "make core      the C++ core anew, beside the Python files; make sanitize: the solver tests with its memory checked"
	@echo "make fuzz      random small problems for the C++ core, each answer checked: PROBLEMS=100000 SET=avx2"
	@echo "make bench     speed of the theory and of message passing; make bench-ensemble: of the solvers"
	@echo "make wheel     the package to install, in dist/; make reliability: the long runs of docs/reliability.md"
	@echo "make docs      the documentation with its examples run, in docs/_build/html"

venv: $(STAMP)

$(STAMP): pyproject.toml constraints.txt $(CORE)
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(PIP) $(BUILD_TOOLS)
	@echo "selica: building the C++ core and installing what it is tested with; the build takes up to 45 s ..."
	@$(PIP) --no-build-isolation -e ".[plots,test]"
	@touch $@

$(DOCS_STAMP): $(STAMP)
	@$(PIP) --no-build-isolation -e ".[docs]"
	@touch $@

core:
	@$(CONFIGURE) -B build/core -DSELICA_IN_PLACE=ON
	@$(CMAKE) --build build/core

# The memory checker has to be the first library of a process, and to find the one that throws exceptions.
sanitize:
	@$(CONFIGURE) -B build/sanitize -DSELICA_SANITIZE=ON
	@$(CMAKE) --build build/sanitize
	SELICA_CORE=$(CURDIR)/build/sanitize PYTHONPATH=src ASAN_OPTIONS=detect_leaks=0 \
	LD_PRELOAD="$$($${CXX:-c++} -print-file-name=libasan.so) $$($${CXX:-c++} -print-file-name=libstdc++.so)" \
	$(BIN)/python -m pytest -q -p no:cacheprovider $(SANITIZED)

# PROBLEMS random ensembles from number FIRST on, each answer checked by the definition of its problem.
PROBLEMS ?= 100000
FIRST ?= 0
SET ?= baseline
fuzz:
	@$(CONFIGURE) -B build/fuzz -DSELICA_FUZZ=ON
	@$(CMAKE) --build build/fuzz --target fuzz_$(SET)
	build/fuzz/fuzz_$(SET) $(PROBLEMS) $(FIRST)

run: $(STAMP)
	@$(BIN)/selica select --demo --out report

reproduce: $(STAMP)
	@$(BIN)/selica reproduce all --scale paper --out reproduced

test: $(STAMP)
	$(BIN)/python -m pytest -n 2 -m "not slow"

test-all: $(DOCS_STAMP)
	$(BIN)/python -m pytest -n 2

test-matrix:
	$(PYTHON) -m tests.matrix

lint: $(STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/clang-format --dry-run --Werror $(filter %pp,$(CORE))

format: $(STAMP)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .
	$(BIN)/clang-format -i $(filter %pp,$(CORE))

bench: $(STAMP)
	$(BIN)/python -m benchmarks.theory
	$(BIN)/python -m benchmarks.message_passing --speed

bench-ensemble: $(STAMP)
	$(BIN)/python -m benchmarks.ensemble

docs: $(DOCS_STAMP)
	@rm -rf docs/generated # names that are gone would leave pages behind
	$(BIN)/python -m sphinx -W --keep-going -q docs docs/_build/html

wheel: $(STAMP)
	@rm -rf dist
	$(BIN)/python -m pip wheel --quiet --no-build-isolation --no-deps --wheel-dir dist .
	@ls dist

reliability: $(STAMP)
	$(BIN)/python -m benchmarks.reliability

clean:
	rm -rf $(VENV) .venv-3.* build src/selica/_core/_compiled_* docs/_build docs/gallery docs/generated dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache power.png report reproduced
