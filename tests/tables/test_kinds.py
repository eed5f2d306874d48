"""Kinds of columns."""

from __future__ import annotations

import numpy as np
import pytest

from selica.tables import Columns
from selica.tables.kinds import (
    KINDS,
    blocks,
    fewest_rows,
    identifiers,
    is_category,
    is_dates,
    levels_of,
    recognise,
)

N = 60
RNG = np.random.default_rng(0)


def kind_of(name, values, given=None, **about):
    values = np.asarray(values, dtype=float if np.asarray(values).dtype.kind in "iufb" else object)
    table = Columns((name,), (values,), **about)
    (found,) = recognise(table, given)
    assert found.kind in KINDS
    assert bool(found.reason) == (found.kind not in ("number", "category"))
    return found.kind


@pytest.mark.parametrize(
    ("name", "values", "kind"),
    [
        ("x", RNG.standard_normal(N), "number"),
        ("x", RNG.integers(0, 3, N), "number"),
        ("x", np.full(N, 2.0), "constant"),
        ("x", np.where(np.arange(N) < 5, 2.0, np.nan), "constant"),
        ("x", np.full(N, np.nan), "empty"),
        ("x", np.arange(1, N + 1), "identifier"),
        ("x", RNG.permutation(N), "identifier"),
        ("x", np.arange(N) * 1000, "number"),
        ("patient_id", np.arange(N) * 1000, "identifier"),
        ("age", np.arange(N), "number"),
        ("patients", np.arange(N) // 4, "number"),
        ("PatientID", np.arange(N) // 4, "identifier"),
        ("visit_date", 20200101 + np.arange(N), "date"),
        ("code", 20200101 + RNG.integers(0, 900, N), "number"),
        ("x", ["a", "b", "c"] * 20, "category"),
        ("x", [f"s{i}" for i in range(N)], "identifier"),
        ("donor", [f"s{i // 5}" for i in range(N)], "identifier"),
        ("x", ["2020-01-02", "2021-03-04"] * 30, "date"),
        ("x", ["12 Jan 2020", "3 March 2021"] * 30, "date"),
        ("x", ["10:30", "11:45:00"] * 30, "date"),
        ("x", ["only"] * N, "constant"),
        ("x", [None] * N, "empty"),
        ("x", [f"a long remark on patient number {i}" for i in range(N)], "text"),
        ("x", [f"k{i // 2}" for i in range(N)], "text"),
    ],
)
def test_columns_are_recognised(name, values, kind):
    assert kind_of(name, values) == kind


def test_a_user_knows_better():
    assert kind_of("x", np.arange(N), {"x": "number"}) == "number"
    assert kind_of("x", RNG.standard_normal(N), {"x": "identifier"}) == "identifier"


def test_a_table_knows_its_dates():
    assert kind_of("x", ["1", "2"] * 30, kinds={"x": "date"}) == "date"


def test_many_columns_of_ranks_are_no_row_numbers():
    table = np.column_stack([RNG.permutation(N) for _ in range(10)]).astype(float)
    names = [f"g{j}" for j in range(10)]
    assert identifiers(names, table, np.arange(10)) == []
    assert identifiers(names, table, np.arange(10), total=1000) == list(range(10))
    assert identifiers(["id", *names[1:]], table, np.arange(10)) == [0]


def test_few_rows_are_numbered_by_name_only():
    table = np.arange(12.0).reshape(6, 2)
    assert identifiers(["a", "sample"], table, np.array([0, 1])) == [1]


def test_levels_are_in_the_order_of_their_frequency():
    levels = levels_of(np.array(["b", None, "a", "b", "c"], dtype=object))
    assert levels.words == ["b", "a", "c"]
    assert levels.counts.tolist() == [2, 1, 1]
    assert levels.codes.tolist() == [0, -1, 1, 0, 2]
    numbers = levels_of(np.array([2.0, np.nan, 2.0, 0.5]))
    assert (numbers.words, numbers.codes.tolist()) == (["2", "0.5"], [0, -1, 0, 1])


def test_rare_values_are_counted_as_one():
    assert [fewest_rows(n) for n in (10, 60, 1000)] == [2, 3, 5]
    assert is_category(np.array([30, 28, 1, 1]))
    assert not is_category(np.array([10, *[1] * 50]))
    assert is_category(np.array([1, 1]))


def test_dates_need_every_value():
    assert is_dates(["1/2/2020", "2020-01-01"])
    assert not is_dates(["1/2/2020", "soon"])
    assert not is_dates([])


def test_blocks_hold_every_column_once(monkeypatch):
    monkeypatch.setattr("selica.tables.kinds._BLOCK", 100)
    columns = [np.full(30, float(j)) for j in range(7)]
    found = {
        start + k: block[0, k]
        for start, block in blocks(columns, 30)
        for k in range(block.shape[1])
    }
    assert found == {j: float(j) for j in range(7)}
