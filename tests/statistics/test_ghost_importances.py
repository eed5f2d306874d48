"""Importances from Z-scores: the lasso against the one of the table, penalties, groups."""

from __future__ import annotations

import numpy as np
import pytest

from selica.sampling import GhostKnockoffs
from selica.solvers import lasso_path_batch, quadratic_lasso
from selica.statistics.ghost_importances import (
    largest_noise,
    lasso_importances,
    marginal_importances,
    validated_penalty,
)
from selica.tables import LinkageBlocks

AR = 0.6 ** np.abs(np.subtract.outer(range(8), range(8)))
LD = LinkageBlocks([AR, AR[:4, :4]])
SEED = np.random.SeedSequence(0)


def test_the_quadratic_lasso_is_that_of_the_table() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((30, 6)), rng.standard_normal(30)
    fit = quadratic_lasso(X.T @ X / 30, X.T @ y / 30, 0.1)
    unit = np.sqrt(30)
    table = lasso_path_batch(X / unit, y / unit, [0.1], np.ones((1, 30)), fit_intercept=False)
    assert table.coef is not None
    np.testing.assert_allclose(fit.coef, table.coef[0, 0], atol=1e-7)
    assert fit.converged
    assert fit.kkt < 1e-12


def test_the_certificate_of_the_quadratic_lasso_notices_a_wrong_answer() -> None:
    G, r = AR, np.linspace(-1.0, 1.0, 8)
    fit = quadratic_lasso(G, r, 0.2)
    value = 0.5 * fit.coef @ G @ fit.coef - r @ fit.coef + 0.2 * np.abs(fit.coef).sum()
    rng = np.random.default_rng(0)
    for _ in range(50):
        w = fit.coef + 0.01 * rng.standard_normal(8)
        assert 0.5 * w @ G @ w - r @ w + 0.2 * np.abs(w).sum() > value
    assert quadratic_lasso(G, r, 1.0).coef.any() == (np.abs(r).max() > 1.0)


@pytest.mark.parametrize("lam", ["theory", "validation", 0.05])
def test_a_swap_of_a_marker_with_its_copy_swaps_their_importances(lam: object) -> None:
    """The penalty by splits is drawn, so that it has to be given for an exact swap."""
    ghosts = GhostKnockoffs(LD)
    z = np.random.default_rng(1).standard_normal(12) + 4.0 * (np.arange(12) % 5 == 0)
    Z = np.concatenate([z[None], ghosts.draw(z, 0)])
    found = lasso_importances(ghosts, Z, 500, lam, SEED)  # type: ignore[arg-type]
    assert found.lam is not None
    swapped = Z.copy()
    swapped[:, [2, 9]] = Z[::-1][:, [2, 9]]
    other = lasso_importances(ghosts, swapped, 500, found.lam, SEED)
    expected = found.values.copy()
    expected[:, [2, 9]] = found.values[::-1][:, [2, 9]]
    np.testing.assert_allclose(other.values, expected, atol=1e-9)
    assert found.kkt < 1e-9


def test_the_largest_noise_of_independent_markers_is_that_of_normal_numbers() -> None:
    ghosts = GhostKnockoffs(LinkageBlocks([np.eye(1)] * 200))
    rng = np.random.default_rng(0)
    expected = np.abs(rng.standard_normal((4000, 400))).max(axis=1)
    error = expected.std() / np.sqrt(30)
    assert largest_noise(ghosts, SEED) == pytest.approx(expected.mean(), abs=4.0 * error)


def test_a_validated_penalty_is_smaller_for_many_effects_than_for_few() -> None:
    ghosts = GhostKnockoffs(LinkageBlocks([AR] * 10))
    rng = np.random.default_rng(2)
    root = np.linalg.cholesky(AR)

    def penalty(effects: int) -> float:
        mu = np.zeros(80)
        mu[:: 80 // effects] = 8.0
        z = (AR @ mu.reshape(8, 10, order="F") + root @ rng.standard_normal((8, 10))).T.ravel()
        r = np.concatenate([z[None], ghosts.draw(z, 0)]) / np.sqrt(1000)
        return validated_penalty(ghosts, r, 1000, SEED)

    assert penalty(40) < penalty(2)


def test_groups_add_up_their_members() -> None:
    ghosts = GhostKnockoffs(LD, groups=[0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5])
    Z = np.arange(24.0).reshape(2, 12)
    expected = (Z**2).reshape(2, 6, 2).sum(axis=2)
    np.testing.assert_allclose(marginal_importances(ghosts, Z).values, expected)
