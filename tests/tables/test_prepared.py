"""A table made ready for a selector."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from selica._core.errors import ArgumentError, RefusedError
from selica.tables import Prepared, prepare

N = 40
RNG = np.random.default_rng(0)
A, B, Y = RNG.standard_normal((3, N))
TABLE = {
    "patient": [f"P{i // 4}" for i in range(N)],
    "tissue": ["liver", "lung", "lung", "skin"] * 10,
    "sex": ["f", "m"] * 20,
    "a": A,
    "b": np.where(np.arange(N) == 3, np.nan, B),
    "w": np.arange(1.0, N + 1.0),
    "y": np.where(np.arange(N) == 5, np.nan, Y),
}


def test_everything_has_the_same_rows():
    ready = prepare(TABLE, "y", rows_of="patient", weights="w", strata="tissue", keep="sex")
    assert ready.rows.tolist() == [i for i in range(N) if i != 5]
    for part in (ready.X, ready.y, ready.keep, ready.sample_weight, ready.strata, ready.rows_of):
        assert len(part) == N - 1
    np.testing.assert_array_equal(ready.sample_weight, np.delete(TABLE["w"], 5))
    np.testing.assert_array_equal(ready.y, np.delete(TABLE["y"], 5))
    assert np.unique(ready.rows_of).size == 10
    assert np.unique(ready.strata).size == 3


def test_categories_are_one_variable():
    ready = prepare(TABLE, "y", drop="w")
    assert ready.names == ("tissue", "sex", "a", "b")
    assert ready.columns == ("tissue: liver", "tissue: skin", "sex: m", "a", "b")
    assert ready.variable.tolist() == [0, 0, 1, 2, 3]
    assert ready.references == ("lung", "f", "", "")
    liver = np.delete(np.array(TABLE["tissue"]) == "liver", 5)
    np.testing.assert_array_equal(ready.X[:, 0], liver)


def test_every_column_has_a_kind_and_a_use():
    ready = prepare(TABLE, "y", keep="sex", weights="w")
    uses = {one.name: (one.kind, one.use) for one in ready.kinds}
    assert uses == {
        "patient": ("identifier", "left out"),
        "tissue": ("category", "variable"),
        "sex": ("category", "keep"),
        "a": ("number", "variable"),
        "b": ("number", "variable"),
        "w": ("identifier", "weights"),
        "y": ("number", "target"),
    }
    assert [one.name for one in ready.left_out] == ["patient"]
    assert ready.left_out[0].values.size == N - 1


def test_notes_say_everything_that_was_done():
    ready = prepare(TABLE, "y", rows_of="patient", drop="w")
    assert list(ready.notes) == [
        "1 of 40 rows has no response ('y') and is left out.",
        "Rows with the same 'patient' belong together: 10 groups of 3 to 4 rows.",
        "1 value of the variables is missing, in 1 of 39 rows and 1 column ('b'); it is estimated "
        "from the other columns, anew in each resample.",
    ]


def test_many_columns_are_left_out_by_their_kinds():
    table = {f"c{j}": [1.0] * N for j in range(9)} | {"e": [None] * N, "a": A, "y": Y}
    (note,) = prepare(table, "y").notes
    assert note == (
        "10 columns are left out: 9 with one value ('c0', 'c1', 'c2', 'c3', 'c4' and 4 more); "
        "1 without any value ('e')."
    )


@pytest.mark.parametrize(
    ("options", "kind", "sentence"),
    [
        ({"missing": "zero"}, ArgumentError, "missing must be one of 'impute', 'drop-rows'"),
        ({"kinds": {"zz": "number"}}, ArgumentError, "kinds: there is no column 'zz'"),
        ({"kinds": {"a": "float"}}, ArgumentError, "kinds: 'a' must be one of 'number'"),
        ({"kinds": [1]}, ArgumentError, "kinds must map names to kinds"),
        ({"kinds": {"a": "category"}}, ArgumentError, "kinds: 'a' has 39 different values in"),
        ({"drop": ["tissue", "sex", "a", "b", "w"]}, RefusedError, "There are no variables: "),
        ({"offset": "w"}, ArgumentError, "offset is for counts: ask for response='count'"),
        ({"weights": "sex"}, ArgumentError, "weights: 'sex' is text; it must be numbers."),
        ({"keep": "patient"}, RefusedError, "keep takes numbers and categories; 'patient' says"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(options, kind, sentence):
    with pytest.raises(kind) as error:
        prepare(TABLE, "y", **options)
    assert str(error.value).startswith(sentence)


def test_too_few_rows():
    with pytest.raises(RefusedError, match="There must be at least two rows; the table has one"):
        prepare({"a": [1.0], "y": [2.0]}, "y")
    gaps = {"a": [1.0, 2.0, 3.0, 4.0], "y": [2.0, None, None, None]}
    with pytest.raises(RefusedError, match="is constant"):
        prepare(gaps, "y")
    holes = {"a": [1, None, 3, None], "b": [None, 2, None, 4], "c": [1, 2, 4, 3], "y": [1, 5, 2, 4]}
    with pytest.raises(RefusedError, match="missing: 0 rows of 4 are left without missing values"):
        prepare(holes, "y", missing="drop-rows")


def test_a_row_without_a_label_is_on_its_own():
    table = TABLE | {"patient": [None, None, *TABLE["patient"][2:]], "y": Y}
    units = prepare(table, "y", rows_of="patient").rows_of
    assert np.unique(units).size == 12
    assert units[0] != units[1]


def test_a_table_is_not_changed_and_the_answer_is_frozen():
    before = {name: np.array(values, copy=True) for name, values in TABLE.items()}
    ready = prepare(TABLE, "y")
    for name, values in before.items():
        np.testing.assert_array_equal(np.asarray(TABLE[name]), values)
    assert isinstance(ready, Prepared)
    with pytest.raises(dataclasses.FrozenInstanceError):
        ready.X = None
