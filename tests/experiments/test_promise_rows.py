"""Measured promises in files: what is read is what was written, and a broken promise is noticed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from selica._core.table import Table
from selica.errors import ArgumentError
from selica.experiments.promise_rows import (
    HEADER,
    PromiseRow,
    is_promise_file,
    promises_of,
    read_promises,
    write_promises,
)

ROW = PromiseRow("weights", "knockoff+", "FDR", 0.2, 0.182, 0.016, "expected", 0.9, 0.5, 80, "c")


def test_a_row_holds_within_three_standard_errors():
    assert ROW.holds
    assert replace(ROW, measured=0.247).holds
    assert not replace(ROW, measured=0.249).holds
    assert not replace(ROW, measured=0.201, error=None).holds


def test_a_promise_needs_a_measurement():
    assert not replace(ROW, measured=None).holds
    assert not replace(ROW, level=None).holds
    assert replace(ROW, level=None, promised="withdrawn").holds


def test_a_setting_is_replaced_and_the_others_are_kept(tmp_path: Path):
    path = tmp_path / "rows.csv"
    other = replace(ROW, setting="counts", error=None, note="one, two")
    write_promises(path, [ROW, other])
    write_promises(path, [replace(ROW, runs=200)])
    assert read_promises(path) == [replace(ROW, runs=200), other]
    assert is_promise_file(path)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("setting,method\na,b\n", "columns"),
        (f"{','.join(HEADER)}\na,b,FDR,0.2,much,0.1,proven,,,10,,\n", "line 2"),
        (f"{','.join(HEADER)}\na,b,FDR,0.2,nan,0.1,proven,,,10,,\n", "line 2"),
        (f"{','.join(HEADER)}\na,b,FDR,0.2,0.1\n", "line 2"),
        (f"{','.join(HEADER)}\na,b,FDR,0.2,0.1,0.1,perhaps,,,10,,\n", "promised in line 2"),
    ],
)
def test_a_file_that_is_none_is_refused(tmp_path: Path, text: str, says: str):
    path = tmp_path / "rows.csv"
    path.write_text(text)
    with pytest.raises(ArgumentError, match=says):
        read_promises(path)


def test_a_bound_makes_two_rows_and_a_level_in_a_name_becomes_a_number():
    found = {
        "setting": "AR(1) 0.5", "method": "stability",
        "controls": "expected number of false selections",
        "level": 0.8, "proven": True, "promised": False, "runs": 500, "any": 0.7, "power": 0.1,
        "error": 0.004, "error_error": 0.003, "low": 0.002, "low_error": 0.001,
    }  # fmt: skip
    named = found | {
        "method": "knockoff+, 0.05", "controls": "false discovery rate", "level": 0.05,
        "promised": True, "low": None,
    }  # fmt: skip
    every, rare, level = promises_of(Table.of([found, named]), "c", ["knockoff+"])
    assert (every.controls, every.measured, every.promised) == (
        "false selections",
        0.004,
        "expected",
    )
    assert (rare.controls, rare.measured, rare.error) == ("rarely selected", 0.002, 0.001)
    assert rare.promised == "proven"
    assert (level.method, level.level, level.promised) == ("knockoff+", 0.05, "proven")
