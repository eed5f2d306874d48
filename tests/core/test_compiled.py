"""The compiled core: which module is loaded, what is said without one, what each of them gives."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from selica._core import compiled
from selica._core.errors import ArgumentError
from selica.amp import judge as judges
from selica.amp import kernels
from selica.correlated.kernel import solve_members

ROOT = Path(__file__).parents[2]
BUILT = [name for name in compiled.SETS if compiled._file(name) is not None]
ABLE = compiled.SETS[: compiled.SETS.index(compiled.load("baseline").best_set()) + 1]
RUN = [name for name in BUILT if name in ABLE]


@pytest.fixture(autouse=True)
def fresh(monkeypatch):
    """Each test chooses anew; modules that are loaded stay."""
    for name in (compiled.FORCED, compiled.THREADS):
        monkeypatch.delenv(name, raising=False)
    compiled.core.cache_clear()
    yield
    compiled.core.cache_clear()


def said(code, **environment):
    """The last line that a new process prints, also where it fails."""
    command = [sys.executable, "-c", f"from selica._core.compiled import core\n{code}"]
    done = subprocess.run(
        command, capture_output=True, text=True, env=os.environ | environment, check=False
    )
    return (done.stdout + done.stderr).strip().splitlines()[-1]


def test_the_largest_set_that_runs_is_loaded_once():
    assert compiled.core().instruction_set == RUN[-1]
    assert compiled.core() is compiled.core()


@pytest.mark.parametrize("name", RUN)
def test_a_set_can_be_forced(name, monkeypatch):
    monkeypatch.setenv(compiled.FORCED, name)
    assert compiled.core().instruction_set == name


def test_an_unknown_set_is_one_sentence(monkeypatch):
    monkeypatch.setenv(compiled.FORCED, "sse9")
    with pytest.raises(ImportError) as error:
        compiled.core()
    expected = "SELICA_SET is 'sse9', which is none of baseline, avx2, avx512."
    assert str(error.value) == expected


def test_a_set_that_the_processor_does_not_run_is_one_sentence(monkeypatch):
    class Old:
        best_set = staticmethod(lambda: "avx2")

    monkeypatch.setattr(compiled, "load", lambda name: Old)
    monkeypatch.setenv(compiled.FORCED, "avx512")
    with pytest.raises(ImportError) as error:
        compiled.core()
    assert str(error.value) == (
        "SELICA_SET is 'avx512', which this processor does not run; it runs baseline, avx2."
    )


def test_sets_that_were_not_built_are_passed_over(monkeypatch):
    monkeypatch.setattr(compiled, "_file", {"baseline": Path("here")}.get)
    assert compiled.core().instruction_set == "baseline"


def test_a_missing_core_is_one_sentence(tmp_path):
    assert said("core()", SELICA_CORE=str(tmp_path)) == (
        "ImportError: The compiled core of selica for 'baseline' is missing: install a wheel, or "
        "build it from the sources with a C++ compiler, by `make core` or `pip install .`."
    )


def test_a_core_may_be_elsewhere(tmp_path):
    found = compiled._file("baseline")
    shutil.copy(found, tmp_path / found.name)
    printed = said("print(core().__file__)", SELICA_CORE=str(tmp_path))
    assert printed == str(tmp_path / found.name)


def test_threads(monkeypatch):
    assert compiled.threads() >= 1
    monkeypatch.setenv(compiled.THREADS, "3")
    assert compiled.threads() == 3
    for wrong in ("0", "-1", "two", "1.5"):
        monkeypatch.setenv(compiled.THREADS, wrong)
        with pytest.raises(ArgumentError, match=f"^SELICA_NUM_THREADS is '{wrong}'; it has to be"):
            compiled.threads()


def test_without_a_compiler_one_sentence_says_what_to_install(tmp_path):
    """CMake is all there is on the path."""
    tools = {name: shutil.which(name) for name in ("cmake", "ninja")}
    if None in tools.values():
        # the build is configured by hand: `make venv` installs both, a plain `pip install` neither
        pytest.skip("CMake and Ninja are not on the path")
    environment = {"PATH": str(tmp_path / "bin"), "CXX": str(tmp_path / "nowhere" / "c++")}
    (tmp_path / "bin").mkdir()
    for name, path in tools.items():
        (tmp_path / "bin" / name).symlink_to(path)
    command = [tools["cmake"], "-S", ROOT, "-B", tmp_path / "build", "-G", "Ninja"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 1
    assert done.stderr.count("CMake Error") == 1
    words = " ".join(done.stderr.split())
    assert "with a C++20 compiler and none was found: install one" in words
    for remedy in ("apt install g++", "xcode-select --install", "Visual Studio Build Tools"):
        assert remedy in words
    assert "or install a wheel, which needs no compiler." in words


def answers(name, monkeypatch):
    """What all kernels make of the same arrays, with one instruction set."""
    monkeypatch.setenv(compiled.FORCED, name)
    compiled.core.cache_clear()
    assert compiled.core().instruction_set == name
    rng = np.random.default_rng(0)
    found = []
    for m, k, L in [(1, 1, 1), (3, 5, 2), (7, 8, 1), (13, 29, 1), (37, 100, 3)]:
        A = rng.standard_normal((m, k))
        to_rows, to_columns = rng.random((3, k, L)), rng.random((3, m, L))
        found += [kernels.along(A, *to_rows), kernels.across(A, *to_columns)]
        for kind in (np.float64, np.float32):
            parts = tuple(rng.random((2, m, L)))
            both, size, out = np.empty((m, 2 * L), kind), np.empty((2, L)), np.empty((2, m, L))
            kernels.pack(parts, rng.random(m), both, size)
            kernels.unpack(both, rng.random(m), size, out)
            found += [both, size, out.astype(kind)]
        y, (fit, chi, v, a), copies = rng.random(m), rng.random((4, m, L)), rng.random((2, L))
        found += kernels.copied_rows(y, fit, chi, v, a, *copies)
        g, lam = 4.0 * rng.standard_normal((m, L)), np.broadcast_to(rng.random(L), (m, L))
        found += kernels.soft_moments(g, 0.1 + rng.random((m, L)), lam)
        sums = np.zeros((1, 4, L))
        found += [kernels.compare(g, fit, chi, sums[0]), sums]
        books = judges.Books.opened(np.ones(L), 1.0)
        found += judges.judge(
            books, np.arange(L), sums, np.zeros(L), np.ones(1), tol=1e-3, shares=(0.02, 1.0)
        )
        found += books
        coef = np.zeros((2, 3, k))
        gram = 0.5 ** abs(np.subtract.outer(np.arange(k), np.arange(k)))
        assert solve_members(gram, rng.standard_normal((2, 3, k)), 0.3, coef) == 0
        found.append(coef)
    return found


@pytest.mark.parametrize("name", RUN[1:])
def test_all_sets_give_the_same_to_rounding(name, monkeypatch):
    expected, found = (answers(each, monkeypatch) for each in ("baseline", name))
    for one, other in zip(expected, found, strict=True):
        tolerance = 1e-6 if one.dtype == np.float32 else 1e-10
        np.testing.assert_allclose(other, one, rtol=tolerance, atol=1e-12)


@pytest.mark.parametrize("name", RUN)
def test_products_are_those_of_the_definition(name, monkeypatch):
    monkeypatch.setenv(compiled.FORCED, name)
    rng = np.random.default_rng(1)
    for m in range(1, 20):
        for k in (1, 2, 7, 8, 9, 16, 31):
            A, (u, s, t) = rng.standard_normal((m, k)), rng.random((3, k, 2))
            found = kernels.along(A, u, s, t)
            np.testing.assert_allclose(found, [A @ u, A**2 @ s, A**2 @ t], rtol=1e-10, atol=1e-12)
            B = np.ascontiguousarray(A.T)
            found = kernels.across(B, u, s, t)
            np.testing.assert_allclose(found, [A @ u, A**2 @ s, A**2 @ t], rtol=1e-10, atol=1e-12)


def test_wrong_arrays_are_refused_and_never_copied():
    module, A, out = compiled.core(), np.ones((4, 3)), np.empty((3, 4, 1))
    u = np.ones((3, 1))
    for wrong in (A.astype(np.float32), np.asfortranarray(A), A[0], A[:, ::-1]):
        with pytest.raises(TypeError, match="incompatible function arguments"):
            module.along(wrong, u, u, u, out)
    with pytest.raises(ValueError, match="Sizes of factors differ"):
        module.along(A, u[:2], u[:2], u[:2], out)
    with pytest.raises(TypeError, match="incompatible function arguments"):
        module.along(A, u, u, u, out.astype(np.float32))
    A.flags.writeable = u.flags.writeable = False  # what is only read
    module.along(A, u, u, u, out)
    np.testing.assert_array_equal(out[:, :, 0], 3.0)
    out.flags.writeable = False
    with pytest.raises(TypeError, match="incompatible function arguments"):
        module.along(A, u, u, u, out)


def test_threads_that_ask_for_the_core_at_once_have_the_same() -> None:
    """Types that were registered twice would be of no use to one of them."""
    code = (
        "import sys; sys.setswitchinterval(1e-6)\n"
        "from concurrent.futures import ThreadPoolExecutor\n"
        "from threading import Barrier\n"
        "from selica._core.compiled import load\n"
        "begin = Barrier(8)\n"
        "def ask(_):\n"
        "    begin.wait()\n"
        "    return load('baseline')\n"
        "with ThreadPoolExecutor(8) as pool:\n"
        "    assert len({id(one) for one in pool.map(ask, range(8))}) == 1\n"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True, timeout=120)


@pytest.mark.skipif(sys.platform != "linux", reason="limits of memory of Linux")
def test_a_thread_that_cannot_be_started_is_an_error():
    code = """
import re, resource
import numpy as np
from pathlib import Path
from selica.sampling import HaplotypeLaw
law = HaplotypeLaw(np.full(400, 0.1), np.full((400, 16), 1 / 16), np.full((400, 16), 0.3))
X, out, key = np.ones((4000, 400), np.int8), np.empty((4000, 400), np.int8), np.ones(2, np.uint64)
draw = lambda: core().draw_genotypes(
    2, *law.arrays, X, complete=False, key=key, out=out, threads=64
)
used = int(re.search(r"VmSize:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) * 1024
resource.setrlimit(resource.RLIMIT_AS, (used + 2**25, resource.RLIM_INFINITY))
try:
    draw()
except (RuntimeError, MemoryError) as error:
    print(type(error).__name__, error)
"""
    assert said(code).startswith(("RuntimeError", "MemoryError"))
