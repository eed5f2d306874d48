"""Missing values, filled in by what the other columns say."""

from __future__ import annotations

import numpy as np

from selica.sampling import simulate
from selica.statistics import make_data
from selica.statistics.fits import fit_members
from selica.statistics.imputation import Imputation, filled


def table(n=400, p=20, share=0.1, seed=0):
    rng = np.random.default_rng(seed)
    X = simulate(n, p, 0, noise_variance=1.0, covariance=("ar1", 0.8), random_state=rng).X
    return X, rng.random((n, p)) < share


def test_values_are_close_to_the_conditional_means():
    X, gone = table()
    found, imputation = filled(np.where(gone, np.nan, X))
    assert np.array_equal(imputation.missing, gone)
    assert np.array_equal(found[~gone], X[~gone])
    # by both neighbours of an AR(1) sequence: the rest has variance (1 - r^2) / (1 + r^2)
    best = (1.0 - 0.64) / (1.0 + 0.64)
    inner = gone.copy()
    inner[:, [0, -1]] = False
    inner &= ~(np.roll(gone, 1, axis=1) | np.roll(gone, -1, axis=1))
    assert best * 0.8 < np.mean((found[inner] - X[inner]) ** 2) < best * 1.2


def test_a_resample_is_filled_in_by_its_own_rows_alone():
    X, gone = table()
    made = Imputation.of(X, gone)
    half = (np.arange(len(X)) < 200).astype(float)
    changed = X.copy()
    changed[200:] = 100.0 + np.random.default_rng(1).standard_normal((200, X.shape[1]))
    np.testing.assert_allclose(made.fill(X, half)[:200], made.fill(changed, half)[:200])
    assert not np.allclose(made.fill(X, half)[:200], made.fill(X, np.ones(400))[:200])


def test_members_are_fitted_to_what_their_rows_say():
    X, gone = table(n=200, p=5)
    y = X @ np.array([1.0, 0.0, -1.0, 0.0, 0.0])
    complete, imputation = filled(np.where(gone, np.nan, X))
    data = make_data(complete, y, "squared", imputation=imputation)
    half = np.zeros((1, 200))
    half[0, :100] = 1.0
    assert data.imputation is not None
    alone = data._replace(X=data.imputation.fill(data.X, half[0]), imputation=None)
    lam = np.array([0.05])
    np.testing.assert_allclose(
        fit_members(data, lam, half).coef, fit_members(alone, lam, half).coef, atol=1e-6
    )
    assert not np.allclose(
        fit_members(data, lam, half).coef,
        fit_members(data._replace(imputation=None), lam, half).coef,
        atol=1e-4,
    )


def test_some_of_the_columns_keep_their_neighbours():
    X, gone = table(p=6)
    made = Imputation.of(X, gone)
    which = np.array([True, False, True, True, True, True])
    part = made.some_columns(which)
    assert part.missing.shape == (400, 5)
    assert part.neighbours.max() < 5
    again = part.fill(X[:, which], np.ones(400))
    assert np.array_equal(again[~gone[:, which]], X[:, which][~gone[:, which]])
    assert np.isfinite(again).all()
