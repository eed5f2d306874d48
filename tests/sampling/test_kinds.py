"""Kinds of columns, read off their values."""

from __future__ import annotations

import numpy as np
import pytest

from selica._core.errors import ArgumentError
from selica.sampling.kinds import kind_of, variables_of

RNG = np.random.default_rng(0)


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        (np.full(50, 3.0), "constant"),
        (RNG.choice([-1.0, 4.0], 50), "binary"),
        (RNG.integers(3, size=50), "genotype"),
        (RNG.poisson(4.0, 200), "count"),
        (RNG.integers(1, 6, 50) - 3.0, "discrete"),
        (np.where(RNG.random(90) < 0.4, 0.0, RNG.random(90)), "discrete"),
        (RNG.standard_normal(50), "continuous"),
        (RNG.integers(10_000, size=300), "continuous"),
        (np.arange(12.0), "continuous"),
    ],
)
def test_kind_of_a_column(column, kind):
    assert kind_of(np.asarray(column, dtype=float)) == kind


def test_indicators_of_one_variable_are_a_factor():
    level = RNG.integers(4, size=40)
    X = np.column_stack([RNG.standard_normal(40), np.eye(4)[level][:, 1:], RNG.random(40)])
    found = variables_of(X, [0, 1, 1, 1, 2])
    assert [one.kind for one in found] == ["continuous", "factor", "continuous"]
    assert found[1].columns.tolist() == [1, 2, 3]
    alone = variables_of(X)
    assert [one.kind for one in alone] == ["continuous", "binary", "binary", "binary", "continuous"]


def test_columns_of_one_variable_that_are_no_indicators_stay_apart():
    x = RNG.standard_normal(30)
    found = variables_of(np.column_stack([x, x**2]), [0, 0])
    assert [one.kind for one in found] == ["continuous", "continuous"]


def test_variable_must_fit_the_columns():
    with pytest.raises(ArgumentError, match="variable must have one entry for each of the 2"):
        variables_of(np.zeros((3, 2)), [0])
