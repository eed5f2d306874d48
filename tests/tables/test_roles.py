"""Which columns are for what."""

from __future__ import annotations

import numpy as np
import pytest

from selica._core.errors import ArgumentError
from selica.tables import as_columns
from selica.tables.roles import LABELS, assign, meant, several

TABLE = as_columns(
    {f"pc{j}": [1.0, 2.0] for j in range(1, 13)} | {"a-b": [1, 2], "Sex": [1, 0], "y": [3, 4]}
)
NAMES = TABLE.names


@pytest.mark.parametrize(
    ("value", "names"),
    [
        (None, []),
        ("Sex", ["Sex"]),
        ("pc2,pc1", ["pc2", "pc1"]),
        (["pc1", "Sex,pc3"], ["pc1", "Sex", "pc3"]),
        ("pc9-pc11", ["pc9", "pc10", "pc11"]),
        ("pc9 \u2013 pc11", ["pc9", "pc10", "pc11"]),
        ("a-b", ["a-b"]),
        ("pc12-Sex", ["pc12", "a-b", "Sex"]),
        ("pc1, ,pc1", ["pc1"]),
    ],
)
def test_lists_and_ranges_of_names(value, names):
    assert several("keep", value, NAMES) == names


def test_a_range_goes_by_numbers_and_not_by_places():
    mixed = ("pc1", "pc10", "pc2", "age", "pc3")
    assert several("keep", "pc1-pc3", mixed) == ["pc1", "pc2", "pc3"]


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ("sex", "keep: there is no column 'sex'; did you mean 'Sex'?"),
        ("pc1-pc13", "keep: the range 'pc1-pc13' needs the column 'pc13', which is not there"),
        ("pc3-pc1", "keep: there is no column 'pc3-pc1'"),
        (3, "keep must be a list of names; got 3."),
        ([3], "keep must be a list of names; got [3]."),
    ],
)
def test_names_that_are_not_there(value, sentence):
    with pytest.raises(ArgumentError) as error:
        several("keep", value, NAMES)
    assert str(error.value).startswith(sentence)


def test_all_that_is_wrong_is_in_one_message():
    with pytest.raises(ArgumentError) as error:
        assign(TABLE, {"target": "z", "keep": "pc99", "weights": "Sex", "drop": "Sex"})
    said = str(error.value)
    assert "target: there is no column 'z'" in said
    assert "keep: there is no column 'pc99'" in said
    assert "'Sex' is named for weights and for drop; a column has one use." in said


def test_arrays_become_columns():
    table, roles = assign(TABLE, {"target": np.array([True, False]), "weights": np.array([1, 2])})
    assert (roles.target, roles.weights) == ("y (target)", "weights")
    assert table.truths == {"y (target)"}
    assert roles.uses() == {"y (target)": "target", "weights": "weights"}
    with pytest.raises(
        ArgumentError, match="target must have a value for each of 2 rows; it has 3"
    ):
        assign(TABLE, {"target": [1, 2, 3]})


def test_the_logarithm_of_an_offset():
    assert assign(TABLE, {"offset": "log( pc1 )"})[1].logarithm
    assert not assign(TABLE, {"offset": "pc1"})[1].logarithm


SURVIVAL = {
    "structured": np.array([(True, 2.0), (False, 3.0)], dtype=[("e", bool), ("t", float)]),
    "whole numbers": np.array([(1, 2.0), (0, 3.0)], dtype=[("e", int), ("t", float)]),
    "pair": ([2.0, 3.0], [True, False]),
    "columns": np.array([[2.0, 1.0], [3.0, 0.0]]),
    "both could be events": np.array([[1.0, 1.0], [1.0, 0.0]]),
}


@pytest.mark.parametrize("form", SURVIVAL)
def test_times_and_events_in_one_target(form):
    table, roles = assign(TABLE, {"target": SURVIVAL[form]})
    assert roles.target is None
    columns = dict(zip(table.names, table.values, strict=True))
    assert columns[roles.event].tolist() == [1.0, 0.0]
    assert columns[roles.time].tolist() == ([1.0, 1.0] if "both" in form else [2.0, 3.0])


def test_a_name_that_may_be_meant():
    assert meant("SEX", NAMES) == "; did you mean 'Sex'?"
    assert meant("zzz", NAMES).startswith("; there are 'pc1', 'pc2'")


def test_every_use_has_a_label():
    assert set(LABELS) <= set(assign(TABLE, {})[1].__slots__)
