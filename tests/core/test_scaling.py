"""The dictionary between a study and the theory, from its definitions."""

from __future__ import annotations

import numpy as np
import pytest

from selica._core.errors import ArgumentError
from selica._core.scaling import (
    noise_from_r2,
    noise_from_snr,
    penalty_of_data,
    ratios,
)

RHO = np.array([0.01, 0.2, 0.5, 1.0])


@pytest.mark.parametrize("r2", [1e-6, 0.1, 0.5, 0.95, 1.0])
def test_r2_is_the_explained_share(r2):
    Delta = noise_from_r2(RHO, r2)
    np.testing.assert_allclose(RHO / (RHO + Delta), r2, rtol=1e-12)


@pytest.mark.parametrize("snr", [1e-4, 0.3, 1.0, 250.0])
def test_snr_is_signal_over_noise(snr):
    np.testing.assert_allclose(RHO / noise_from_snr(RHO, snr), snr, rtol=1e-14)


@pytest.mark.parametrize("r2", [0.05, 0.5, 0.9])
def test_r2_and_snr_say_the_same(r2):
    np.testing.assert_allclose(
        noise_from_r2(RHO, r2), noise_from_snr(RHO, r2 / (1.0 - r2)), rtol=1e-13
    )


def test_noise_broadcasts():
    assert noise_from_r2(RHO[:, None], [0.2, 0.8]).shape == (4, 2)
    assert noise_from_snr(0.3, 2.0).shape == ()


def test_no_noise_at_r2_one():
    assert noise_from_r2(0.4, 1.0) == 0.0


def test_ratios_of_a_study():
    alpha, rho = ratios(400, 500, 100)
    assert (alpha, rho) == (0.8, 0.2)
    alpha, rho = ratios([100, 200], 400, 0)
    np.testing.assert_array_equal(alpha, [0.25, 0.5])
    assert rho == 0.0


@pytest.mark.parametrize(
    ("args", "name"),
    [
        ((0, 10, 1), "n_samples"),
        ((-4, 10, 1), "n_samples"),
        ((np.nan, 10, 1), "n_samples"),
        (("ten", 10, 1), "n_samples"),
        ((5, 0, 0), "n_features"),
        ((5, np.inf, 0), "n_features"),
        ((5, 10, -1), "n_signals"),
        ((5, 10, 11), "n_signals"),
        ((5, 10, [1, 11]), "n_signals"),
    ],
)
def test_bad_sizes_are_named(args, name):
    with pytest.raises(ArgumentError, match=f"^{name} must"):
        ratios(*args)


@pytest.mark.parametrize(
    ("convert", "args", "name"),
    [
        (noise_from_r2, (0.2, 0.0), "r2"),
        (noise_from_r2, (0.2, 1.01), "r2"),
        (noise_from_r2, (0.2, np.nan), "r2"),
        (noise_from_r2, (-0.1, 0.5), "rho"),
        (noise_from_snr, (0.2, 0.0), "snr"),
        (noise_from_snr, (0.2, -1.0), "snr"),
        (noise_from_snr, (0.2, "high"), "snr"),
        (noise_from_snr, (-0.2, 1.0), "rho"),
    ],
)
def test_bad_noise_is_named(convert, args, name):
    with pytest.raises(ArgumentError, match=f"^{name} must"):
        convert(*args)


@pytest.mark.parametrize("mu_B", [1.0, 2.0])
def test_the_penalty_makes_both_objectives_one(mu_B):
    """glmnet's objective on standardised data is the theory's, up to a factor, at every b."""
    rng = np.random.default_rng(4)
    n, p, rho, Delta, lam = 30, 12, 0.3, 0.15, 0.7
    X = rng.normal(size=(n, p))
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    y = rng.normal(size=n)
    y = (y - y.mean()) / y.std()
    counts = rng.multinomial(int(mu_B * n), np.full(n, 1.0 / n))
    penalty = penalty_of_data(lam, n, p, rho, Delta, mu_B)
    s = 1.0 / np.sqrt(rho + Delta)  # Var y = s^2 (rho + Delta) = 1
    ratio = []
    for b in rng.normal(size=(5, p)):
        data = counts @ (y - X @ b) ** 2 / (2 * counts.sum()) + penalty * np.abs(b).sum()
        w = np.sqrt(p) * b / s
        theory = counts @ (y / s - X / np.sqrt(p) @ w) ** 2 / 2 + lam * np.abs(w).sum()
        ratio.append(theory / data)
    np.testing.assert_allclose(ratio, counts.sum() / s**2, rtol=1e-13)


def test_penalties_broadcast():
    got = penalty_of_data(np.array([0.1, 0.2]), 100, 50, 0.2, 0.05)
    # l = lam sqrt(p) s / n, s = 2
    np.testing.assert_allclose(got, np.array([0.1, 0.2]) * np.sqrt(50) * 2.0 / 100, rtol=1e-14)
