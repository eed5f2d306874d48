"""Caches that are damaged: the answer is the same, and the cache whole again."""

from __future__ import annotations

import importlib
import importlib.util
import os
import shutil
import sys
from pathlib import Path

import pytest

import selica as selica_package
from selica._core import compiled
from selica.experiments import reproduce
from tests.hardening.commands import csv_text, process

KERNEL = """
from selica._core.compiled import njit

@njit(cache=True)
def thrice(x):
    return 3.0 * x
"""


def empty(content):
    return b""


def cut(content):
    return content[: len(content) // 2]


def short(content):
    return content[:-1]


def begun(content):
    return bytes([content[0] ^ 0xFF]) + content[1:]


def flipped(content):
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 0x01]) + content[middle + 1 :]


DAMAGES = [empty, cut, short, begun, flipped]


@pytest.fixture
def kernel(tmp_path):
    """Loads a kernel as a new process would."""
    path = tmp_path / "kernels.py"
    path.write_text(KERNEL)

    def load():
        spec = importlib.util.spec_from_file_location("kernels", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module.thrice

    return load


CALLED = """
from selica._core.compiled import njit

FACTOR = 3.0

@njit(cache=True)
def times(x):
    return FACTOR * x
"""
CALLING = """
from selica._core.compiled import njit
from called_kernels import FACTOR, times

@njit(cache=True)
def outer(x):
    return times(x) + 1.0

@njit(cache=True)
def constant(x):
    return FACTOR - x

@njit(cache=True)
def alone(x):
    return x + 2.0
"""


@pytest.fixture
def kernels(tmp_path, monkeypatch):
    """Loads kernels that call one another across files, as a new process would."""
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "called_kernels.py").write_text(CALLED)
    (tmp_path / "calling_kernels.py").write_text(CALLING)

    def load():
        compiled._digest.cache_clear()
        for name in ("calling_kernels", "called_kernels"):
            sys.modules.pop(name, None)
        importlib.invalidate_caches()
        return importlib.import_module("calling_kernels")

    yield load
    for name in ("calling_kernels", "called_kernels"):
        sys.modules.pop(name, None)


def _called(module):
    kernels = module.outer, module.constant, module.alone
    values = [kernel(2.0) for kernel in kernels]
    return values, [sum(kernel.stats.cache_hits.values()) for kernel in kernels]


def test_a_changed_kernel_in_another_file_is_noticed(kernels, tmp_path):
    assert _called(kernels()) == ([7.0, 1.0, 4.0], [0, 0, 0])
    assert _called(kernels()) == ([7.0, 1.0, 4.0], [1, 1, 1])
    other = tmp_path / "called_kernels.py"
    other.write_text(CALLED.replace("3.0", "5.0"))
    os.utime(other, (1.0, 1.0))  # whatever the clock says
    assert _called(kernels()) == ([11.0, 3.0, 4.0], [0, 0, 1])
    assert _called(kernels()) == ([11.0, 3.0, 4.0], [1, 1, 1])


def test_files_that_are_written_anew_are_not_compiled_again(kernels, tmp_path):
    _called(kernels())
    for file in tmp_path.glob("*.py"):
        file.write_text(file.read_text())
        os.utime(file, (1.0, 1.0))
    assert _called(kernels())[1] == [1, 1, 1]


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("ending", ["nbi", "nbc"])
def test_a_damaged_file_is_made_anew(ending, damage, kernel, tmp_path):
    assert kernel()(1.5) == 4.5
    [path] = tmp_path.rglob(f"*.{ending}")
    whole = path.read_bytes()
    path.write_bytes(damage(whole))
    again = kernel()
    assert again(1.5) == 4.5
    assert not again.stats.cache_hits
    assert path.stat().st_size == len(whole)
    once_more = kernel()
    assert once_more(1.5) == 4.5
    assert sum(once_more.stats.cache_hits.values()) == 1


def test_the_first_function_that_is_compiled_says_so_once(kernel, monkeypatch, capsys):
    """The first fit took a minute without a word."""
    monkeypatch.delenv(compiled.QUIET, raising=False)
    compiled._announce.cache_clear()
    assert kernel()(1.5) == 4.5
    said = capsys.readouterr().err
    assert said.startswith("selica: compiling its solvers")
    assert "about a minute" in said
    assert kernel()(2) == 6.0  # for another type, in the same process
    compiled._announce.cache_clear()
    assert kernel()(1.5) == 4.5  # from the cache
    assert capsys.readouterr().err == ""


def test_a_cache_that_cannot_be_written_is_left_out(kernel, tmp_path, monkeypatch):
    def full(self, overloads):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(compiled.IndexDataCacheFile, "_save_index", full)
    assert kernel()(1.5) == 4.5
    assert list(tmp_path.rglob("*.nbi")) == []


@pytest.mark.slow
@pytest.mark.parametrize(("ending", "damage"), [("nbi", empty), ("nbc", cut), ("nbc", flipped)])
def test_damaged_kernels(ending, damage, tmp_path):
    """In a copy of the package, which takes the kernels along that are compiled already."""
    table, package = tmp_path / "table.csv", tmp_path / "path" / "selica"
    table.write_text(csv_text(), encoding="utf-8")
    shutil.copytree(Path(selica_package.__file__).parent, package)
    command = ["select", table, "--target", "y", "--method", "lasso", "--lam", "0.1", "--json"]
    environment = os.environ | {"PYTHONPATH": str(package.parent)}
    expected = process(*command, env=environment)
    assert expected.returncode == 0
    found = list(package.rglob(f"*.{ending}"))
    assert found
    for path in found:
        path.write_bytes(damage(path.read_bytes()))
    again = process(*command, env=environment, timeout=600)
    assert (again.returncode, again.stderr) == (0, "")
    assert again.stdout == expected.stdout


@pytest.mark.slow
def test_parts_of_a_run_that_are_damaged(tmp_path):
    """A flipped byte in the finished parts costs those parts, not the table."""
    reproduce("finite-size", "smoke", tmp_path, n_jobs=1)
    table = (tmp_path / "finite-size.csv").read_bytes()
    [parts] = (tmp_path / "parts").iterdir()
    content = bytearray(parts.read_bytes())
    content[0] ^= 0xFF
    parts.write_bytes(content[:-30])
    again = reproduce("finite-size", "smoke", tmp_path, n_jobs=1)
    assert (tmp_path / "finite-size.csv").read_bytes() == table
    assert len(again.table) > 0
