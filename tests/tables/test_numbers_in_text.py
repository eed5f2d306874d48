"""Numbers in a column of text, where a user says that it holds numbers."""

from __future__ import annotations

import numpy as np

from selica.tables.numbers_in_text import common_unit, numbers_in


def test_limits_are_numbers_and_words_are_none():
    cells = ["1.5", "<0.5", "≥ 3", ">= 2,5", None, "high", "1,500"]
    found = numbers_in(np.array(cells, dtype=object))
    np.testing.assert_array_equal(found.values, [1.5, 0.5, 3.0, 2.5, np.nan, np.nan, np.nan])
    assert found.limits == ["<0.5", "≥ 3", ">= 2,5"]
    assert found.others == ["high", "1,500"]  # the comma may separate thousands
    assert (found.known, found.mostly) == (6, True)


def test_mostly_text():
    found = numbers_in(np.array(["a", "b", "1"], dtype=object))
    assert not found.mostly


def test_a_unit_is_common_or_none():
    assert common_unit([f"{v} mg" for v in range(6)]) == "mg"
    assert common_unit([f"{v}%" if v % 2 else f"{v}" for v in range(8)]) == "%"
    assert common_unit(["5 mg", "10 mg"]) is None  # a few doses are names
    assert common_unit([f"P{v}" for v in range(6)]) is None
    assert common_unit([f"{v}" for v in range(6)]) is None
    assert common_unit([f"{v}-{v + 1}" for v in range(6)]) is None
    found = numbers_in(np.array([f"{v} mg" for v in range(6)], dtype=object))
    assert found.values.tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
