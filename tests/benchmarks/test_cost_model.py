"""The model of what a selection costs, beside what was measured."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from benchmarks.cost_model import (
    CALIBRATION,
    calibrates,
    fitted,
    least_relative,
    own_memory,
    predicted,
    together,
)

from selica._core.table import Table

ROWS = Path(__file__).parents[2] / "docs/data/scale/growth.csv"


@pytest.fixture(scope="module")
def rows():
    return [dict(row) for row in Table.read_csv(ROWS)]


def test_the_model_is_within_30_percent_of_rows_that_it_was_not_fitted_to(rows):
    model = fitted(rows)
    others = [row for row in rows if not calibrates(row)]
    assert len(rows) - len(others) == len(CALIBRATION)
    assert len(others) >= 9
    for row in others:
        seconds, memory = predicted(model, row)
        assert 0.7 < seconds / row["seconds"] < 1.3, row
        assert 0.7 < memory / own_memory(row) < 1.3, row


def test_rows_that_check_do_not_move_the_constants(rows):
    model = fitted(rows)
    changed = [row if calibrates(row) else row | {"seconds": 9e9, "peak": 9e12} for row in rows]
    assert fitted(changed) == model
    assert fitted([row for row in rows if calibrates(row)]) == model


def test_the_model_knows_how_many_members_the_solver_fits_together(rows):
    assert [together(row)[0] for row in rows] == [row["together"] for row in rows]


def test_constants_are_found_again():
    rng = np.random.default_rng(0)
    work = rng.uniform(1.0, 100.0, (6, 2))
    np.testing.assert_allclose(least_relative(work, work @ [2.0, 3e-5]), [2.0, 3e-5], rtol=1e-9)
