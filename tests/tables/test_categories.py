"""A category as columns of 0 and 1."""

from __future__ import annotations

import numpy as np

from selica.tables.categories import indicators


def of(values):
    return indicators("c", np.array(values, dtype=object))


def test_the_most_frequent_value_is_the_reference():
    found = of(["b", "a", "b", "c", None])
    assert (found.reference, found.levels) == ("b", ("a", "c"))
    np.testing.assert_array_equal(found.values, [[0, 0], [1, 0], [0, 0], [0, 1], [np.nan, np.nan]])


def test_yes_is_one_even_where_it_is_frequent():
    assert of(["yes", "yes", "no"]).levels == ("yes",)
    assert of(["no", "no", "yes"]).levels == ("yes",)


def test_rare_values_are_taken_together():
    found = of(["u"] * 30 + ["v"] * 28 + ["w", "x"])
    assert found.levels == ("v", "other")
    assert found.values[-2:, 1].tolist() == [1.0, 1.0]
    assert found.notes == (
        "2 values of 'c' that fewer than 3 rows have are taken together as 'other': 'w', 'x'.",
    )


def test_one_rare_value_stays():
    assert of(["u"] * 30 + ["v"] * 29 + ["w"]).levels == ("v", "w")
