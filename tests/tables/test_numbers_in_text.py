"""Numbers in a column of text, where a user says that it holds numbers."""

from __future__ import annotations

import numpy as np

from selica.tables.numbers_in_text import numbers_in


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
