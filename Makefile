# Everything starts from a machine that has Python 3.11+, make and a C++ compiler.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RUN_STAMP := $(VENV)/.runs
STAMP := $(VENV)/.installed
DOCS_STAMP := $(VENV)/.docs
# Not the cluster: its processes are started anew and wait for each other longer than they may.
SANITIZED ?= tests/solvers tests/amp tests/correlated tests/sampling/test_chains.py tests/statistics/test_mlr.py -m "not slow" --ignore tests/solvers/test_cluster.py -n 2
PIP := $(BIN)/python -m pip install --disable-pip-version-check -c constraints.txt
# A line for each tenth of the build, and the names of packages as they come; all of it is in a file, of which the end is shown after a failure.
LOG := $(VENV)/install.log
COMMA := ,
define INSTALL
$(PIP) -v --no-build-isolation $(1) 2>&1 | tee $(LOG) | awk ' \
	/^ *Collecting / { sub(/[^A-Za-z0-9_-].*/, "", $$2); printf "%s %s", (names++ ? "" : "   packages:"), $$2; fflush() } \
	match($$0, /\[[0-9]+\/[0-9]+\] Building/) { split(substr($$0, RSTART + 1, RLENGTH - 11), k, "/"); part = int(10 * k[1] / k[2]); \
		if (part != said) { printf "%s   built: %d of %d files\n", (names ? "\n" : ""), k[1], k[2]; fflush(); said = part; names = 0 } } \
	END { if (names) print "" }' \
	|| { tail -n 40 $(LOG); exit 1; }
endef
# What builds the C++ core, and dependencies that come as sources. It is in the environment: a build that finds the same tools again compiles only what changed.
BUILD_TOOLS := scikit-build-core nanobind cmake ninja setuptools wheel
# The first `make run` builds the core for two instruction sets, to have its answer sooner; everything else for all of them.
SETS := cmake.define.SELICA_NATIVE_SETS
FIRST_SETS := $(if $(wildcard $(STAMP)),all,baseline$(if $(filter x86_64 amd64,$(shell uname -m)),;avx2))
CORE := CMakeLists.txt $(shell find cpp -name '*.[ch]pp')
CMAKE := PATH="$(abspath $(BIN)):$$PATH" cmake
CONFIGURE := $(CMAKE) -S . -G Ninja -DPython_EXECUTABLE=$(abspath $(BIN)/python) -DSELICA_WERROR=ON --log-level=WARNING

# A command whose output is read by another one fails where it fails.
SHELL := bash
.SHELLFLAGS := -o pipefail -c

# One thread in each numerical library: test processes share the cores.
export OMP_NUM_THREADS ?= 1
export OPENBLAS_NUM_THREADS ?= 1
export MKL_NUM_THREADS ?= 1

.PHONY: help venv core sanitize fuzz run reproduce test test-all test-matrix coverage lint format bench bench-ensemble bench-page docs wheel reliability clean

help:
	@echo "make run       variables selected from a real table, with a page to read in report/"
	@echo "make reproduce the figures of the article at their full size, in reproduced/"
	@echo "make test      fast tests        make test-all  slow guarantees too"
	@echo "make test-matrix  wheels on every Python from 3.11 to 3.14, oldest and newest dependencies; MATRIX=--full: fast tests"
	@echo "make coverage  lines of control, selectors and theory that no fast test of theirs reaches"
	@echo "make lint      style, types, layers"
	@echo "make core      the C++ core anew, beside the Python files; make sanitize: the solver tests with its memory checked"
	@echo "make fuzz      random small problems for the C++ core, each answer checked: PROBLEMS=100000 SET=avx2"
	@echo "make bench     speed of the theory and of message passing; make bench-ensemble: of the solvers; make bench-page: docs/benchmarks.md from stored results"
	@echo "make wheel     sources and package to install, in dist/; make reliability: the long runs of docs/reliability.md"
	@echo "make docs      the documentation with its examples run, in docs/_build/html"

venv: $(STAMP)

$(RUN_STAMP): pyproject.toml constraints.txt $(CORE)
	@echo "1 of 3: an environment in $(VENV), with the tools that build the C++ core"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(PIP) --quiet $(BUILD_TOOLS)
	@echo "2 of 3: packages that selica needs, and the build of its C++ core (up to 45 s of it on two free cores)"
	@$(call INSTALL,-C "$(SETS)=$(FIRST_SETS)" -e ".[plots]")
	@touch $@

$(STAMP): $(RUN_STAMP)
	@echo "selica: installing what it is tested with"
	@$(call INSTALL,-C $(SETS)=all -e ".[plots$(COMMA)test]")
	@touch $@

$(DOCS_STAMP): $(STAMP)
	@$(call INSTALL,-C $(SETS)=all -e ".[docs]")
	@touch $@

core:
	@$(CONFIGURE) -B build/core -DSELICA_IN_PLACE=ON -DSELICA_NATIVE_SETS=all
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

run: $(RUN_STAMP)
	@echo "3 of 3: which measurements of 442 patients go with the progression of diabetes?"
	@echo
	@$(BIN)/selica select --demo --out report

reproduce: $(STAMP)
	@$(BIN)/selica reproduce all --scale paper --out reproduced

test: $(STAMP)
	$(BIN)/python -m pytest -n 2 -m "not slow"

test-all: $(DOCS_STAMP)
	$(BIN)/python -m pytest -n 2

MATRIX ?=
test-matrix:
	$(PYTHON) -m tests.matrix $(MATRIX)

# The rooms that decide, by their own tests and by those of what calls them; subprocesses count too.
COVERING := $(addprefix src/selica/,control selectors theory) $(addprefix tests/,control selectors theory catalogue reports cli planning)
coverage: $(STAMP)
	@$(PIP) coverage
	@rm -rf build/coverage && mkdir -p build/coverage
	-$(BIN)/python -m coverage run -m pytest -q -m "not slow" $(COVERING)
	@$(BIN)/python -m coverage combine --quiet
	$(BIN)/python -m coverage report

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

bench-page: $(STAMP)
	@$(BIN)/python -m benchmarks.page_of_results

docs: $(DOCS_STAMP)
	@rm -rf docs/generated # names that are gone would leave pages behind
	$(BIN)/python -m sphinx -W --keep-going -q docs docs/_build/html

# The wheel comes from the archive, which so is known to be whole.
wheel: $(STAMP)
	@rm -rf dist
	$(BIN)/python -c "from scikit_build_core.build import build_sdist; build_sdist('dist')"
	$(BIN)/python -m pip wheel --quiet --no-build-isolation --no-deps --wheel-dir dist dist/selica-*.tar.gz
	@ls dist

reliability: $(STAMP)
	$(BIN)/python -m benchmarks.reliability

clean:
	rm -rf $(VENV) build src/selica/_core/_compiled_* docs/_build docs/gallery docs/generated dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache power.png report reproduced
