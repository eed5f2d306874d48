"""Missing values: how many they are, what is done with them, numbers that stand for them."""

from __future__ import annotations

import numpy as np
import pytest

from selica.tables import prepare
from selica.tables.missing import POLICIES, MissingCells, absent, counts, stand_ins

A = np.arange(20.0) ** 1.5
GAPS = np.where(np.arange(20) == 3, np.nan, A)
TEXT = np.array(["u", None] + ["v", "u"] * 9, dtype=object)


def test_where_values_are_absent():
    assert np.flatnonzero(absent(GAPS)).tolist() == [3]
    assert np.flatnonzero(absent(TEXT)).tolist() == [1]


def test_missing_values_are_counted_by_column_and_row():
    found, rows = counts(["a", "b", "t"], [A, GAPS, TEXT])
    assert found.tolist() == [0, 1, 1]
    assert np.flatnonzero(rows).tolist() == [1, 3]
    assert counts([], [])[0].size == 0


@pytest.mark.parametrize(
    ("cells", "policy", "sentence"),
    [
        ((1, 1, 1), "impute", "1 value of the variables is missing, in 1 of 9 rows and 1 column "
         "('a'); it is estimated from the other columns, anew in each resample."),
        ((3, 2, 1), "impute", "3 values of the variables are missing, in 2 of 9 rows and 1 column "
         "('a'); they are estimated from the other columns, anew in each resample."),
        ((1, 1, 1), "drop-rows", "1 value of the variables is missing, in 1 of 9 rows and 1 column "
         "('a'); this row is left out."),
        ((3, 2, 2), "drop-columns", "3 values of the variables are missing, in 2 of 9 rows and 2 "
         "columns ('a'); these columns are left out."),
    ],
)  # fmt: skip
def test_what_is_done_is_a_sentence(cells, policy, sentence):
    assert MissingCells(policy, *cells, {"a": 1}).sentence(9) == sentence
    assert policy in POLICIES


def test_nothing_missing_is_nothing_said():
    assert MissingCells("impute", 0, 0, 0).sentence(9) is None


def test_policies_do_what_they_say():
    table = {"a": A, "b": GAPS, "c": A[::-1] ** 2, "y": np.sin(A)}
    imputed = prepare(table, "y")
    assert np.isnan(imputed.X).sum() == 1
    rows = prepare(table, "y", missing="drop-rows")
    assert rows.rows.tolist() == [i for i in range(20) if i != 3]
    assert rows.names == ("a", "b", "c")
    columns = prepare(table, "y", missing="drop-columns")
    assert columns.names == ("a", "c")
    assert [one.reason for one in columns.left_out] == ["has no value in 1 of 20 rows"]
    for found in (imputed, rows, columns):
        assert found.missing.by_column == {"b": 1}
        assert (found.missing.cells, found.missing.rows, found.missing.columns) == (1, 1, 1)


def test_numbers_that_stand_for_missing_values_are_asked_about():
    odd = A.copy()
    odd[[2, 5]] = -999.0
    said = stand_ins(["a", "b"], [A, odd])
    assert said == (
        "-999 is far from all other values of 'b' (2 cells), and is taken as a number. If it "
        "stands for a missing value, leave these cells empty."
    )
    odd[5] = 0.0
    assert stand_ins(["a", "b"], [A, odd]) is None
    assert stand_ins(["a"], [np.arange(980.0, 1000.0)]) is None
