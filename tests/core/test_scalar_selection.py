"""Selection probabilities, with and without a knockoff copy, against their definitions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from selica._core import scalar
from tests.core.gaussian import around, arrays, panels


@pytest.mark.parametrize("own", [1e-10, 0.01, 1.0, 9.0])
def test_selection_probability_is_a_two_sided_tail(own):
    g = np.array([-2.0, -1.0, 0.0, 0.3, 1.0, 1.00001, 5.0])
    got = scalar.selection_probability(g, np.array(own), np.array(1.0))
    h = norm(loc=g, scale=np.sqrt(own))
    np.testing.assert_allclose(got, h.sf(1.0) + h.cdf(-1.0), rtol=1e-9, atol=1e-300)


def test_selection_without_own_randomness_is_a_step():
    g = np.array([-1.5, -1.0, 0.0, 0.999, 1.0, 1.001])
    got = scalar.selection_probability(g, np.zeros(6), np.ones(6))
    np.testing.assert_array_equal(got, [1, 0, 0, 0, 0, 1])
    mixed = scalar.selection_probability(np.full(2, 1.5), np.array([0.0, 1.0]), np.array(1.0))
    np.testing.assert_allclose(mixed, [1.0, norm.sf(-0.5) + norm.sf(2.5)], rtol=1e-14)


def beats(u, mean, sd, lam):
    """P(|S(h)| > u) for h ~ N(mean, sd^2); always true for u < 0."""
    edge = lam + np.maximum(u, 0.0)
    if sd > 0.0:
        tail = norm.sf((edge - mean) / sd) + norm.sf((edge + mean) / sd)
    else:
        tail = 1.0 * (abs(mean) > edge)
    return np.where(u < 0.0, 1.0, tail)


def knockoff_exact(mean, var, var_copy, lam, gap):
    """The atom of the copy at zero, and an integral over its excess u = |h_copy| - lam."""
    sd, sc = np.sqrt(var), np.sqrt(var_copy)
    if sc == 0.0:
        return float(beats(np.array(gap), mean, sd, lam))
    value = (1.0 - 2.0 * norm.sf(lam / sc)) * beats(np.array(gap), mean, sd, lam)
    top = 14.0 * sc
    edges = [np.linspace(0.0, top, 60), np.array([-gap, abs(mean) - lam - gap])]
    if sd > 0.0:
        edges.append(around(abs(mean) - lam - gap, sd, 0.0, top))
        edges.append(around(-gap, sd, 0.0, top))
    edges = np.concatenate(edges)
    u, weight = panels(edges[(edges >= 0.0) & (edges <= top)])
    return float(
        value + weight @ (beats(gap + u, mean, sd, lam) * 2 / sc * norm.pdf((u + lam) / sc))
    )


CONTESTS = [
    # mean, var, var_copy, lam
    (0.0, 1.0, 1.0, 0.5),
    (0.8, 0.3, 0.6, 0.4),
    (-1.7, 0.5, 1.1, 1.0),
    (2.0, 1e-12, 0.5, 0.7),
    (2.0, 0.0, 0.5, 0.7),
    (1.2, 0.4, 0.0, 0.7),
    (0.3, 1e-6, 0.02, 0.3),
    (0.6, 0.02, 4.0, 0.01),
    (5.0, 0.3, 0.3, 0.5),
]
GAPS = [-3.0, -0.7, -0.05, 0.0, 0.02, 0.6, 2.5]


@pytest.mark.parametrize(("mean", "var", "var_copy", "lam"), CONTESTS)
@pytest.mark.parametrize("gap", GAPS)
def test_knockoff_probability_against_quadrature(mean, var, var_copy, lam, gap):
    got = scalar.knockoff_probability(*arrays(mean, var, var_copy, lam, gap))
    want = knockoff_exact(mean, var, var_copy, lam, gap)
    # a field of relative width 1e-13 stands for one without spread
    assert got.value[0] == pytest.approx(want, abs=1e-12)


@pytest.mark.parametrize("var_copy", [0.2, 0.0])
def test_two_inactive_halves_are_an_atom_of_the_difference(var_copy):
    mean, var, lam = 0.4, 0.3, 0.5
    below, at = (
        scalar.knockoff_probability(*arrays(mean, var, var_copy, lam, gap)).value[0]
        for gap in (-1e-13, 0.0)
    )
    idle = 1.0 - beats(np.array(0.0), mean, np.sqrt(var), lam)
    idle_copy = 1.0 - 2.0 * norm.sf(lam / np.sqrt(var_copy)) if var_copy > 0.0 else 1.0
    assert below - at == pytest.approx(idle * idle_copy, abs=1e-11)


@pytest.mark.parametrize("lam", [0.2, 1.0])
@pytest.mark.parametrize("gap", [0.05, 0.5])
def test_a_variable_without_effect_and_its_copy_are_exchangeable(lam, gap):
    # P(Z > gap) = P(Z < -gap) = 1 - P(Z > -gap)
    up, down = (scalar.knockoff_probability(*arrays(0, 0.7, 0.7, lam, s * gap)) for s in (1, -1))
    assert up.value[0] == pytest.approx(1.0 - down.value[0], abs=1e-14)


@pytest.mark.parametrize(("mean", "var", "var_copy", "lam"), [c for c in CONTESTS if c[1] > 1e-7])
@pytest.mark.parametrize("gap", [-0.7, -0.05, 0.02, 0.6])
def test_knockoff_slopes_by_differences(mean, var, var_copy, lam, gap):
    h = 1e-3 * np.sqrt(min(v for v in (var, var_copy) if v > 0.0))
    h = min(h, abs(gap) / 4, abs(mean) / 4 if mean else h)

    def value(d_mean, d_gap):
        moved = arrays(abs(mean) + d_mean, var, var_copy, lam, gap + d_gap)
        return scalar.knockoff_probability(*moved).value[0]

    def difference(f):
        return (8.0 * (f(h) - f(-h)) - (f(2 * h) - f(-2 * h))) / (12.0 * h)

    got = scalar.knockoff_probability(*arrays(mean, var, var_copy, lam, gap))
    abs_tol = 1e-14 / h
    assert got.slope[0] == pytest.approx(difference(lambda d: value(d, 0.0)), rel=1e-7, abs=abs_tol)
    assert got.gap_slope[0] == pytest.approx(
        difference(lambda d: value(0.0, d)), rel=1e-7, abs=abs_tol
    )


def test_knockoff_probability_rises_with_the_field_and_falls_with_the_gap():
    g = np.linspace(0.0, 6.0, 80)
    for gap in (-0.4, 0.0, 0.4):
        value = scalar.knockoff_probability(g, *arrays(0.1, 0.5, 0.6, gap)).value
        assert np.all(np.diff(value) >= 0.0)
        assert value[-1] > value[0] + 0.1
    gaps = np.linspace(-2.0, 2.0, 81)
    value = scalar.knockoff_probability(*arrays(1.0, 0.1, 0.5, 0.6), gaps).value
    assert np.all(np.diff(value) <= 0.0)


def test_gaps_of_both_signs_in_one_call():
    gaps = np.array(GAPS)
    together = scalar.knockoff_probability(*arrays(0.8, 0.3, 0.6, 0.4), gaps)
    for i, gap in enumerate(gaps):
        one = scalar.knockoff_probability(*arrays(0.8, 0.3, 0.6, 0.4, gap))
        for a, b in zip(together, one, strict=True):
            assert a[i] == pytest.approx(b[0], rel=1e-14)
