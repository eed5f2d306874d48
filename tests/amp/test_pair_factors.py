"""The linear model with normal factors: its means by definition, factored anew and corrected."""

from __future__ import annotations

import numpy as np
import pytest

from selica.amp.pair_factors import PairModel, TallModel, WideModel

NOISE = 0.6


def instance(rows: int, versions: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng([rows, versions])
    X = rng.standard_normal((rows, 6 * versions))
    X[:, 1] = X[:, 0] + 0.3 * X[:, 1]
    ratio = rng.uniform(0.02, 0.2, X.shape[1])
    return np.asfortranarray(X), rng.standard_normal(rows), ratio, rng.standard_normal(ratio.size)


def check(model: PairModel, ratio: np.ndarray, shift: np.ndarray, tolerance: float) -> None:
    """Compare means with those of the normal distribution of the coefficients."""
    lam = 1.0 / (ratio * NOISE)
    covariance = np.linalg.inv(model.X.T @ model.X / NOISE + np.diag(lam))
    mean = covariance @ (model.X.T @ model.response / NOISE + np.sqrt(lam) * shift)
    share = np.eye(lam.size) - np.sqrt(lam) * covariance * np.sqrt(lam)[:, None]
    each = share.reshape(model.versions, model.p, model.versions, model.p)
    found = model.solve(ratio, shift, NOISE)
    close = {"rtol": tolerance, "atol": tolerance}
    np.testing.assert_allclose(found.blocks, np.einsum("kplp->pkl", each), **close)
    np.testing.assert_allclose(found.pull, np.sqrt(lam) * mean - shift, **close)
    np.testing.assert_allclose(found.residual, model.response - model.X @ mean, **close)


@pytest.mark.parametrize("versions", [2, 3])
def test_means_are_those_of_the_normal_distribution(versions):
    for rows, form, tolerance in ((9, WideModel, 2e-6), (40, TallModel, 1e-11)):
        X, y, ratio, shift = instance(rows, versions)
        check(form(X, y, versions), ratio, shift, tolerance)
        check(form(X, y, versions), np.full(ratio.size, 0.1), shift, tolerance)


@pytest.mark.parametrize("versions", [2, 3])
def test_a_corrected_matrix_is_as_good_as_one_factored_anew(versions):
    X, y, ratio, shift = instance(9, versions)
    model = WideModel(X, y, versions)
    model.solve(ratio, shift, NOISE)
    base = model._base
    # one column rises until it is known, where double precision counts; then another one falls,
    # and the first comes back
    for change in ({0: 1e4}, {0: 3.0, 7: 0.3}, {3: 8.0, 7: 0.4}, {}):
        moved = ratio.copy()
        for column, factor in change.items():
            moved[column] *= factor
        check(model, moved, shift, 2e-6)
        assert model._base is base


def test_a_known_column_keeps_its_digits():
    # what is left of 1 - N is compared, of which single precision would keep three digits
    X, y, ratio, shift = instance(9, 2)
    model = WideModel(X, y, 2)
    model.solve(ratio, shift, NOISE)
    ratio[0] = 1e4
    kept = 1.0 - model.solve(ratio, shift, NOISE).blocks[0, 0, 0]
    rest = np.delete(np.arange(12), 0)
    B = np.eye(9) + (X[:, rest] * ratio[rest]) @ X[:, rest].T
    expected = 1.0 / (1.0 + ratio[0] * X[:, 0] @ np.linalg.solve(B, X[:, 0]))
    np.testing.assert_allclose(kept, expected, rtol=1e-5)


def test_ratios_are_kept_where_they_matter_least(monkeypatch):
    monkeypatch.setattr("selica.amp.pair_factors.FEWEST_ROWS", 0)
    X, y, ratio, shift = instance(9, 2)
    model = WideModel(X, y, 2)
    np.testing.assert_array_equal(model.kept(ratio, 0.5), ratio)
    blocks = model.solve(ratio, shift, NOISE).blocks
    size = np.einsum("pkk->kp", blocks).ravel()
    wanted = ratio * np.where(np.arange(12) == 4, 2.0, 1.01)
    # all but the fourth change by a hundredth of what the data know of them
    near = model.kept(wanted, 0.011)
    np.testing.assert_array_equal(near, np.where(np.arange(12) == 4, wanted, ratio))
    assert size[4] > 0.011 * size.sum()
    # none may be neglected, and too many would have to be corrected
    np.testing.assert_array_equal(model.kept(wanted, 0.0), wanted)
    # a column that was corrected once is followed
    model.solve(near, shift, NOISE)
    wanted[4] = 1.0001 * ratio[4]
    assert model.kept(wanted, 0.5)[4] == wanted[4]
    # and so is one that loses more than the share of its own, however little that is of all
    high = np.where(np.arange(12) == 4, 1e3, 2.0 * ratio)
    model.solve(high, shift, NOISE)
    fallen = np.where(np.arange(12) == 4, ratio, high)
    np.testing.assert_array_equal(model.kept(fallen, 0.5), fallen)


def test_what_stands_on_two_columns_together_is_factored_anew():
    # each of them may fall by itself: the other one knows the same
    X, y, ratio, shift = instance(9, 2)
    X[:, 1] = X[:, 0] + 1e-3 * X[:, 1]
    model = WideModel(X, y, 2)
    high = np.where(np.arange(12) < 2, 100.0, ratio)
    model.solve(high, shift, NOISE)
    base = model._base
    check(model, np.where(np.arange(12) < 1, ratio, high), shift, 1e-4)
    assert model._base is base
    check(model, ratio, shift, 1e-4)
    assert model._base is not base
