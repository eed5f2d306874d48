"""Missing values are filled in by conditional means, in narrow and in wide tables."""

from __future__ import annotations

import numpy as np
import pytest

from selica.statistics import imputation
from selica.statistics.imputation import NOBODY, Imputation, filled


def _table(n, p, share=0.1, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    X[:, 1::2] = 0.9 * X[:, ::2][:, : X[:, 1::2].shape[1]] + 0.4 * X[:, 1::2]
    return X, rng.random((n, p)) < share


def _by_definition(X, missing, neighbours, j, weight):
    """Fill in one column: ridge of one row on its neighbours, by the rows that know it."""
    used = weight > 0.0
    W = np.where(missing, 0.0, weight[:, None])
    mean = (W * X).sum(axis=0) / W.sum(axis=0)
    scale = np.sqrt((W * (X - mean) ** 2).sum(axis=0) / W.sum(axis=0))
    Z = np.where(missing, 0.0, (X - mean) / scale)
    A, w = Z[:, neighbours], W[:, j]
    slope = np.linalg.solve(A.T @ (w[:, None] * A) + np.eye(len(neighbours)), A.T @ (w * Z[:, j]))
    out = X[:, j].copy()
    gone = missing[:, j] & used
    out[gone] = mean[j] + scale[j] * (A @ slope)[gone]
    return out


def test_values_are_ridge_regressions_on_the_neighbours():
    X, missing = _table(60, 8)
    made = Imputation.of(X, missing)
    weight = np.random.default_rng(1).integers(0, 3, 60).astype(float)
    out = made.fill(X, weight)
    for place, j in enumerate(made.columns):
        want = _by_definition(X, missing, made.neighbours[place], j, weight)
        assert out[:, j] == pytest.approx(want, abs=1e-12)
    # rows without a weight, and values that are known, stay
    assert np.array_equal(out[weight == 0.0], X[weight == 0.0])
    assert np.array_equal(out[~missing], X[~missing])


def test_what_is_at_missing_places_does_not_matter():
    X, missing = _table(60, 8)
    made = Imputation.of(X, missing)
    other = np.where(missing, 7.0, X)
    assert np.array_equal(made.neighbours, Imputation.of(other, missing).neighbours)
    weight = np.ones(60)
    assert np.allclose(made.fill(X, weight), made.fill(other, weight))


def test_a_wide_table_is_compared_in_part(monkeypatch):
    X, missing = _table(100, 3000, 0.02)
    exact = Imputation.of(X, missing)
    monkeypatch.setattr(imputation, "_MOST_PAIRS", 0)
    some = Imputation.of(X, missing)
    partner = exact.columns ^ 1  # columns come in pairs with a correlation of 0.9
    assert np.all(np.any(exact.neighbours == partner[:, None], axis=1))
    found = np.any(some.neighbours == partner[:, None], axis=1)
    assert np.mean(found) > 0.9
    # by chance the largest of 3000 correlations in 100 rows is about 0.35: no neighbour
    assert np.mean(np.count_nonzero(some.neighbours != NOBODY, axis=1)) < 2.0
    for one in some.neighbours[:50]:
        known = one[one != NOBODY]
        assert np.unique(known).size == known.size
    again = Imputation.of(X, missing)
    assert np.array_equal(again.neighbours, some.neighbours)


def test_a_column_without_neighbours_gets_its_mean():
    X, missing = _table(60, 4)
    made = Imputation(missing, np.array([0]), np.full((1, 3), NOBODY))
    out = made.fill(X, np.ones(60))
    gone = missing[:, 0]
    assert out[gone, 0] == pytest.approx(X[~gone, 0].mean())


def test_neighbours_that_are_gone_are_left_out():
    X, missing = _table(60, 6)
    made = Imputation.of(X, missing)
    part = made.some_columns(np.array([0, 1]))
    assert set(part.neighbours.ravel()) <= {0, 1, NOBODY}
    assert np.all(part.neighbours[:, 0] != NOBODY)
    out = part.fill(X[:, :2], np.ones(60))
    want = _by_definition(X[:, :2], missing[:, :2], [1], 0, np.ones(60))
    assert out[:, 0] == pytest.approx(want, abs=1e-12)


def test_a_complete_table_is_left_alone():
    X, _ = _table(20, 3)
    same, how = filled(X)
    assert same is X
    assert how is None
