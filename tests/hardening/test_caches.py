"""Caches that are damaged: the answer is the same, or a sentence says what to delete."""

from __future__ import annotations

import os
import pickle
import shutil
import sys
from pathlib import Path

import pytest

import selica as selica_package
from selica.experiments import reproduce
from tests.hardening.commands import assert_one_sentence, csv_text, process, selica


@pytest.mark.parametrize("error", [pickle.UnpicklingError("pickle data was truncated"), EOFError()])
def test_what_numba_raises_is_a_sentence(error, monkeypatch):
    def fail(*args, **kwargs):
        raise error

    monkeypatch.setattr(sys.modules["selica.cli.reproduce"], "check_folder", fail)
    done = selica("reproduce", "power")
    assert_one_sentence(done, "cache of compiled kernels", "*.nbi", code=1)


@pytest.mark.slow
@pytest.mark.parametrize(("ending", "size"), [("nbi", 0), ("nbi", 20), ("nbc", 20)])
def test_kernels_cut_short(ending, size, tmp_path):
    """In a copy of the package, which takes the kernels along that are compiled already."""
    table, package = tmp_path / "table.csv", tmp_path / "path" / "selica"
    table.write_text(csv_text(), encoding="utf-8")
    shutil.copytree(Path(selica_package.__file__).parent, package)
    command = ["select", table, "--target", "y", "--method", "lasso", "--lam", "0.1", "--json"]
    environment = os.environ | {"PYTHONPATH": str(package.parent)}
    assert process(*command, env=environment).returncode == 0
    found = list(package.rglob(f"*.{ending}"))
    assert found
    for path in found:
        os.truncate(path, size)
    assert_one_sentence(process(*command, env=environment), str(package), code=1)


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
