"""Rates with a finite number of members, against brute force and limits."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import binom, norm

from selica import theory
from selica._core.errors import ArgumentError

MODEL = theory.Model(alpha=2.5, rho=0.3, Delta=0.01)


def brute_force(solution, chance, sd):
    """P(at least the needed votes) averaged over g ~ N(0, sd^2), by adaptive quadrature."""
    total = 0.0
    edges = np.concatenate([np.linspace(0.0, 4.0, 41), [12.0]]) * sd
    for low, high in itertools.pairwise(edges):
        total += quad(lambda g: chance(g) * norm.pdf(g, 0.0, sd), low, high, epsabs=1e-14)[0]
    return 2.0 * total


@pytest.mark.parametrize("n_members", [1, 16, 256])
@pytest.mark.parametrize("lam", [0.18, 0.5])
def test_stability_against_adaptive_quadrature(lam, n_members):
    s = theory.solve_stability(MODEL, lam)
    needed = int(np.ceil(0.15 * n_members - 1e-9))
    rates = s.rates(0.15, n_members=n_members)

    def chance(g):
        return binom.sf(needed - 1, n_members, s.selection_probability(g))

    assert rates.fpr == pytest.approx(brute_force(s, chance, np.sqrt(s.chi_hat)), abs=1e-9)
    signal = np.sqrt(s.Q_hat**2 + s.chi_hat)
    assert rates.tpr == pytest.approx(brute_force(s, chance, signal), abs=1e-9)


def test_knockoffs_against_adaptive_quadrature():
    d = theory.solve_knockoff(MODEL, 0.1)
    rates = d.rates(0.05, 0.15, n_members=32)

    def chance(g):
        return binom.sf(4, 32, d.selection_probability(g, 0.05))  # 0.15 * 32 = 4.8: five votes

    assert rates.fpr == pytest.approx(brute_force(d, chance, np.sqrt(d.chi_hat)), abs=1e-9)


def test_the_numbers_of_the_cross_check():
    s = theory.solve_stability(MODEL, 0.18)
    assert s.rates(0.15).fdr == pytest.approx(0.7, abs=1e-10)
    assert s.rates(0.15, n_members=256).fdr == pytest.approx(0.6817, abs=5e-5)


def test_many_members_are_the_limit():
    lams = np.array([0.1, 0.3, 1.0])
    s, d = theory.solve_stability(MODEL, lams), theory.solve_knockoff(MODEL, lams)
    for finite, limit in (
        (s.rates(0.3, n_members=10**7), s.rates(0.3)),
        (d.rates(0.05, 0.3, n_members=10**7), d.rates(0.05, 0.3)),
    ):
        np.testing.assert_allclose(finite.tpr, limit.tpr, atol=1e-6)
        np.testing.assert_allclose(finite.fpr, limit.fpr, atol=1e-6)


def test_one_member_is_one_member():
    """With one member the rate is the average selection probability, the vanilla rule."""
    d = theory.solve_knockoff(MODEL, 0.3)
    one = d.rates(0.05, 0.5, n_members=1)
    vanilla = d.single_rates(0.05)
    assert one.tpr == pytest.approx(vanilla.tpr, abs=1e-9)
    assert one.fpr == pytest.approx(vanilla.fpr, abs=1e-9)


def test_no_vote_needed_selects_everything_and_all_votes_almost_nothing():
    s = theory.solve_stability(MODEL, 0.3)
    assert s.rates(0.0, n_members=10).tpr == 1.0
    assert s.rates(0.0, n_members=10).fdr == pytest.approx(0.7)
    assert s.rates(1.0, n_members=1000).fpr < s.rates(0.9, n_members=1000).fpr


def test_effects_with_points():
    model = theory.Model(2.5, 0.3, 0.01, theory.PointEffects())
    s = theory.solve_stability(model, 0.5)
    finite = s.rates(0.5, n_members=10**6)
    assert finite.tpr == pytest.approx(s.rates(0.5).tpr, abs=1e-6)


@pytest.mark.parametrize("bad", [0, 1.5, -3, float("nan")])
def test_number_of_members_is_checked(bad):
    with pytest.raises(ArgumentError, match="n_members"):
        theory.solve_stability(MODEL, 0.3).rates(0.15, n_members=bad)


def test_grids_broadcast():
    s = theory.solve_stability(MODEL, np.array([0.1, 0.3])[:, None])
    rates = s.rates(np.array([0.1, 0.2, 0.3]), n_members=64)
    assert rates.tpr.shape == (2, 3)
    alone = theory.solve_stability(MODEL, 0.3).rates(0.2, n_members=64)
    assert rates.tpr[1, 1] == pytest.approx(alone.tpr, abs=1e-12)
