"""Simulations of plans that are committed: predictions are near them, and the page shows them."""

from __future__ import annotations

import csv
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

DOCS = Path(__file__).parents[2] / "docs"
MEAN, WORST, SAMPLES = 0.03, 0.10, 0.05
"""Errors of the power: mean of a procedure in a kind, largest, and at required samples."""


@pytest.fixture(scope="module")
def benchmark():
    return import_module("benchmarks.plan_kinds")


def rows_of(name):
    with (DOCS / "data/plans" / name).open(newline="") as file:
        return list(csv.DictReader(file))


def test_settings_are_many_and_of_all_kinds(benchmark):
    rows = rows_of("kinds.csv")
    settings = {tuple(row[name] for name in ("kind", "n", "p", "k", "level")) for row in rows}
    assert len(settings) >= 60
    assert {row["kind"] for row in rows} == set(benchmark.KINDS)
    assert max(int(row["p"]) for row in rows) == 20_000
    assert min(int(row["data_sets"]) for row in rows) >= 5


def test_every_procedure_is_predicted_in_every_kind(benchmark):
    """Bounds may be exceeded by no more than draws of the data sets explain."""
    for one in benchmark.summaries(rows_of("kinds.csv")):
        assert one.mean <= MEAN + 2.0 * one.mean_error, one
        assert abs(one.worst) <= WORST + 2.0 * one.worst_error, one


def test_all_rows_together_are_predicted():
    """Draws explain little of a mean over all rows."""
    rows = rows_of("kinds.csv")
    power, seen = (np.array([float(row[name]) for row in rows]) for name in PAIR)
    assert np.abs(power - seen).mean() <= 0.02
    for method in {row["method"] for row in rows}:
        of = np.array([row["method"] == method for row in rows])
        assert abs(np.mean((power - seen)[of])) <= MEAN, method


PAIR = ("power", "simulated_power")
"""What is predicted, and what is simulated."""


def test_required_samples_have_the_power_that_was_asked_for(benchmark):
    rows = rows_of("samples.csv")
    assert len(rows) == len(benchmark.QUESTIONS) >= 20
    for row in rows:
        off = abs(float(row["simulated_power"]) - float(row["asked"]))
        assert off <= SAMPLES, row


def test_the_page_shows_these_rows(benchmark):
    text = (DOCS / "planning-accuracy.md").read_text("utf-8")
    assert benchmark.kinds_table(rows_of("kinds.csv")) in text
    assert benchmark.samples_table(rows_of("samples.csv")) in text
