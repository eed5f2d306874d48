"""The measured promises of the documentation: every row can be read, and none is broken."""

from __future__ import annotations

import csv
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "docs" / "_ext"))

import promises  # noqa: E402 (an extension of the documentation, in no package)

FILES = promises.promise_files()
OTHERS = promises.other_files()


def test_there_are_rows():
    assert {"errors.csv", "tables.csv", "calibration.csv"} <= {path.name for path in FILES}
    assert len(promises.all_rows()) > 300


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_no_row_breaks_its_promise(path: Path):
    rows = promises.read_promises(path)
    assert rows
    assert [(row.setting, row.method) for row in rows if not row.holds] == []
    assert all(row.runs > 1 for row in rows)
    assert all(0.0 <= (value or 0.0) <= 1.0 for row in rows for value in (row.selects, row.power))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_commands_of_rows_are_benchmarks(path: Path):
    for command in {row.command for row in promises.read_promises(path)} - {""}:
        (module,) = re.findall(r"python -m (benchmarks(?:\.\w+)+)", command)
        assert (ROOT / (module.replace(".", "/") + ".py")).exists(), command


@pytest.mark.parametrize("path", OTHERS, ids=lambda path: path.stem)
def test_other_tables_have_a_cell_in_every_place(path: Path):
    with path.open(newline="", encoding="utf-8") as file:
        head, *rows = csv.reader(file, strict=True)
    assert all(head)
    assert rows
    assert {len(row) for row in rows} == {len(head)}


def test_lines_of_the_short_table_speak_of_rows():
    measured = {(row.method, row.controls) for row in promises.all_rows()}
    with (promises.FOLDER / promises.LINES).open(newline="", encoding="utf-8") as file:
        said = [(row["method"], row["controls"]) for row in csv.DictReader(file)]
    assert len(said) == len({*said})
    assert {*said} <= measured


def test_the_worst_is_the_measurement_closest_to_its_level():
    row = promises.PromiseRow("a", "m", "FDR", 0.2, 0.1, 0.01, "proven", runs=10)
    close = promises.PromiseRow("b", "m", "FDR", 0.1, 0.09, 0.01, "proven", runs=20)
    other = promises.PromiseRow("c", "m", "FDR", 0.1, 0.09, 0.01, "withdrawn", runs=40)
    table = promises.short_table([row, close, other])
    assert "| 0.1 to 0.2 | 0.090 (0.010) of 0.1: b | - | 70 |" in table
    assert "1 further row" in table


def test_the_page_has_the_short_table_of_the_rows():
    page = promises.PAGE.read_text("utf-8")
    made = promises.page_with(page, promises.short_table(promises.all_rows()))
    assert page == made, "Run `python docs/_ext/promises.py` after a change of the rows."


def test_the_readme_describes_every_file():
    assert {*promises.titles()} == {path.name for path in (*FILES, *OTHERS)}
