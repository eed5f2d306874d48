"""Promises under test: many data sets with a known truth."""

from __future__ import annotations

import numpy as np
import pytest

from selica import DataSplitting
from selica.control import fdp, tpp
from selica.experiments.guarantees import SETTINGS, guarantees
from selica.sampling import simulate

NAMES = [setting.name for setting in SETTINGS]


def check(table):
    for row in table:
        where = (row["setting"], row["method"])
        margin = 3.0 / np.sqrt(row["runs"])
        if row["controls"] == "FDR":
            if not row["promised"]:
                continue
            assert row["fdp"] <= row["level"] + 3.0 * row["fdp_error"], where
            if row["setting"] == "nothing matters":
                assert row["any"] <= row["level"] + margin * 0.5, where
        else:
            # what the theorem bounds: selected variables that a half of the rows rarely selects
            assert row["low"] <= row["level"] + 3.0 * row["low_error"], where
            if row["promised"]:
                assert row["false"] <= row["level"] + 3.0 * row["false_error"], where


def test_promises_on_a_few_data_sets():
    table = guarantees(30, [SETTINGS[0], SETTINGS[2]], random_state=1)
    check(table)
    dense = table.where(setting="dense signals")
    assert dense.one(method="knockoff+")["power"] > 0.7  # control is not bought by silence
    assert dense.one(method="e-values, 10 copies")["power"] > 0.7


def test_a_promise_that_is_broken_is_noticed():
    table = guarantees(20, [SETTINGS[2]], random_state=1)
    broken = [row | {"fdp": 0.5, "low": 3.0} for row in table]
    with pytest.raises(AssertionError):
        check(broken)


@pytest.mark.slow
@pytest.mark.parametrize("place", range(len(SETTINGS)), ids=NAMES)
def test_promises_on_many_data_sets(place):
    check(guarantees(500, [SETTINGS[place]], random_state=place))


@pytest.mark.slow
@pytest.mark.parametrize(("level", "splits"), [(0.1, 1), (0.2, 1), (0.2, 10)])
def test_data_splitting_of_two_classes_keeps_its_level_where_all_signals_are_seen(level, splits):
    """No theorem, but independent columns and many clear signals are what it is meant for."""
    wrong, found = [], []
    for run in range(60):
        study = simulate(400, 60, 15, response="logistic", random_state=run)
        selector = DataSplitting(level, n_splits=splits, random_state=run).fit(study.X, study.y)
        wrong.append(fdp(selector.support_, study.support))
        found.append(tpp(selector.support_, study.support))
    assert np.mean(wrong) <= level + 3.0 * np.std(wrong) / np.sqrt(60)
    assert np.mean(found) > 0.4  # control is not bought by silence
