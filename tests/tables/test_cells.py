"""Cells of text: numbers as people write them, truth values, what is missing, what stays text."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from selica.tables.cells import Writing, has_decimal_commas, read_cells, texts_of


def read(cells, **writing):
    found = read_cells(["a"], [pa.array(cells, pa.string())], Writing(**writing))
    return found.values[0], found


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (["1", "-2.5", "3e2", " 4 ", "+.5"], [1.0, -2.5, 300.0, 4.0, 0.5]),
        (["1,5", "-2,25", "3"], [1.5, -2.25, 3.0]),
        (["1.234,5", "2", "3,75"], [1234.5, 2.0, 3.75]),
        (["1,234.5", "2,000", "7"], [1234.5, 2000.0, 7.0]),
        (["1 234", "12 500 000", "7"], [1234.0, 12500000.0, 7.0]),
        (["1'234.5", "2"], [1234.5, 2.0]),
        (["12 %", "7.5%"], [12.0, 7.5]),
        (["€ 3", "$4.5"], [3.0, 4.5]),
        (["inf", "-Infinity", "1"], [np.inf, -np.inf, 1.0]),
        (["TRUE", "false", "NA"], [1.0, 0.0, np.nan]),
        (["1", "?", "n/a", "", "n.d."], [1.0, np.nan, np.nan, np.nan, np.nan]),
    ],
)
def test_numbers_are_read_as_people_write_them(cells, values):
    found, _ = read(cells)
    np.testing.assert_array_equal(found, values)


@pytest.mark.parametrize(
    "cells",
    [["0123", "0456"], ["12345678901234567", "12345678901234568"], ["a", "1"], ["1-2", "2-3"]],
)
def test_codes_and_words_stay_text(cells):
    found, _ = read(cells)
    assert found.tolist() == cells


def test_an_ambiguous_comma_is_decided_by_the_file_or_not_at_all():
    cells = ["1,500", "2,250"]
    assert read(cells, decimal_comma=True)[0].tolist() == [1.5, 2.25]
    assert read(cells, decimal_point=True)[0].tolist() == [1500.0, 2250.0]
    assert read(cells, comma_file=True)[0].tolist() == [1500.0, 2250.0]
    values, found = read(cells)
    assert values.tolist() == cells
    assert found.remarks["a"].startswith("its commas may separate thousands or decimals")


def test_points_between_thousands_need_a_decimal_comma_elsewhere():
    cells = ["1.500", "2.250"]
    assert read(cells)[0].tolist() == [1.5, 2.25]
    assert read(cells, decimal_comma=True)[0].tolist() == [1500.0, 2250.0]


def test_mostly_numbers_say_which_cells_are_none():
    values, found = read(["1", "2", "3", "<0.5", "n.d.", "4"])
    assert values.dtype == object
    assert found.remarks == {"a": "1 of its cells is not a number ('<0.5')"}


def test_what_was_read_in_another_way_is_said():
    assert read(["1,5", "2,5"])[1].notes == [
        "Decimal commas are read as decimal points in 1 column: 'a'."
    ]
    assert read(["1", "?", "?"])[1].notes == ["'?' is read as missing (2 cells)."]
    assert read(["none", "drug"])[1].notes == [
        "'none' is taken as a value, not as missing, in 'a'."
    ]
    assert read(["TRUE", "FALSE"])[1].truths == {"a"}


def test_plus_stands_against_minus():
    assert read(["+", "-", "+"])[0].tolist() == ["+", "-", "+"]
    assert read(["x", "-", "x"])[0].tolist() == ["x", None, "x"]


def test_decimal_commas_for_certain():
    def text(cells):
        return [pa.array(cells, pa.string())]

    assert has_decimal_commas(text(["1,5", "2"]))
    assert not has_decimal_commas(text(["1,500", "2,500"]))
    assert not has_decimal_commas([])


def test_no_columns_and_no_rows():
    assert read_cells([], []).values == []
    assert read([])[0].size == 0


def test_equal_cells_share_an_object():
    found = texts_of(pa.chunked_array([["a", None], ["a", "b"]]))
    assert found.tolist() == ["a", None, "a", "b"]
    assert found[0] is found[2]
