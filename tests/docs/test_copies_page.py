"""The table of docs/copies.md has the numbers of docs/data/guarantees/exchangeability.csv."""

from __future__ import annotations

import csv
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


def test_the_table_of_laws_is_that_of_the_measured_rows():
    with (DOCS / "data/guarantees/exchangeability.csv").open(newline="") as file:
        rows = {(row["setting"], row["method"]): row for row in csv.DictReader(file)}
    text = (DOCS / "copies.md").read_text("utf-8")
    shown = [
        [cell.strip().strip("*`") for cell in line.strip("|").split("|")]
        for line in text.splitlines()
        if line.startswith("|") and line.count("|") == 9 and line[2] not in "-c"
    ]
    assert len(shown) >= 12
    assert "50 data sets of each kind" in " ".join(text.split())
    assert {(line[0], name) for line in shown for name in METHODS} == set(rows)
    for line in shown:
        before, after = (rows[line[0], name] for name in METHODS)
        for row, cell in ((before, line[3]), (after, line[6])):
            assert cell == f"{float(row['measured']):.3f} ({float(row['error']):.3f})"
        assert line[4] in after["note"]
        assert int(after["runs"]) == int(before["runs"]) == 50
        # what fails is not promised
        for row in (before, after):
            above = float(row["measured"]) > float(row["level"]) + 3.0 * float(row["error"])
            assert not (above and row["promised"] == "expected")


METHODS = ("knockoff+, Ledoit-Wolf", "knockoff+")
"""Before and after, as the rows call them."""
