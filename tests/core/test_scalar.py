"""Gaussian moments of the soft threshold against their definitions: one member."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest
from scipy.stats import norm

from selica._core import scalar
from tests.core.gaussian import arrays, excess_exact, member_exact

EXCESS_POINTS = [-30.0, -8.0, -2.5, -0.3, 0.0, 0.1, 0.9, 2.0, 3.7, 4.9, 5.0]
EXCESS_POINTS += [5.0000001, 5.2, 6.5, 9.0, 14.0, 22.0, 30.0]


@pytest.mark.parametrize("x", EXCESS_POINTS)
def test_excess_square_keeps_its_relative_accuracy_in_the_tail(x):
    got = scalar.excess_square(np.array([x]))[0]
    assert got == pytest.approx(float(excess_exact(x, 2)), rel=1e-12)


@pytest.mark.parametrize("x", EXCESS_POINTS)
def test_excess_mean_is_the_mean_excess(x):
    # density - x * survival loses x^2 ulps of a density that itself loses x^2 / 2
    rel = 1e-12 if x <= 5.0 else 1e-10
    want = float(excess_exact(x, 1))
    assert scalar.excess_mean(np.array([x]))[0] == pytest.approx(want, rel=rel)


def test_excess_of_any_shape():
    x = np.linspace(-3.0, 9.0, 24).reshape(2, 3, 4)
    got = scalar.excess_square(x)
    assert got.shape == x.shape
    each = [scalar.excess_square(np.array(v)) for v in x.ravel()]  # zero-dimensional
    np.testing.assert_allclose(got.ravel(), each, rtol=1e-15)


def test_soft_threshold_by_cases():
    h = np.array([-3.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.5])
    np.testing.assert_array_equal(scalar.soft_threshold(h, 1.0), [-2.0, 0, 0, 0, 0, 0, 1.5])


def test_survival_is_exact_in_both_tails():
    for x in (-38.0, -5.0, 0.0, 1.0, 8.0, 25.0, 37.0):
        with mp.workdps(40):
            want = float(mp.erfc(mp.mpf(x) / mp.sqrt(2)) / 2)
        assert scalar.survival(np.array(x)) == pytest.approx(want, rel=1e-13)


FIELDS = [
    (0.0, 1.0, 1.0),
    (0.0, 0.04, 1.5),
    (0.0, 25.0, 0.01),
    (0.7, 0.3, 0.5),
    (-2.0, 0.1, 0.4),
    (0.9, 2.0, 6.0),
    (3.0, 1e-6, 1.0),
    (1.0, 1e-8, 1.0),
    (-0.99, 1e-5, 1.0),
    (0.4, 1e-3, 1.0),
    (40.0, 0.5, 0.2),
]


@pytest.mark.parametrize(("mean", "var", "lam"), FIELDS)
def test_one_member_against_quadrature(mean, var, lam):
    want = member_exact(mean, var, lam)
    m, v, t = arrays(mean, var, lam)
    got = scalar.one_member(m, v, t)
    # the field in units of its width has a^2 ulps of relative error in its density
    rel = 1e-12 + 4e-16 * max(0.0, lam - abs(mean)) ** 2 / var
    assert got.active[0] == pytest.approx(want.active, rel=rel)
    # clipped goes into sums with numbers of the size of the field's variance
    assert got.clipped[0] == pytest.approx(want.clipped, rel=1e-12, abs=1e-15 * (var + mean**2))
    # in one call with the rest, the moments of S are exact only to absolute accuracy
    assert got.square[0] == pytest.approx(want.square, rel=1e-12, abs=1e-15 * (var + lam**2))
    assert got.first[0] == pytest.approx(want.mean, rel=1e-12, abs=1e-15 * (np.sqrt(var) + lam))
    at_lam, at_minus = (norm.pdf(side * lam, mean, np.sqrt(var)) for side in (1.0, -1.0))
    assert got.edge[0] == pytest.approx(lam * (at_lam + at_minus), rel=1e-11, abs=1e-300)
    assert got.gap[0] == pytest.approx(at_lam - at_minus, rel=1e-11, abs=1e-14 * at_lam)


@pytest.mark.parametrize(("mean", "var", "lam"), FIELDS)
def test_soft_moments_against_quadrature(mean, var, lam):
    want = member_exact(mean, var, lam)
    args = arrays(mean, var, lam)
    rel = 1e-12 + 4e-16 * max(0.0, lam - abs(mean)) ** 2 / var
    assert scalar.soft_square(*args)[0] == pytest.approx(want.square, rel=rel)
    assert scalar.soft_absolute(*args)[0] == pytest.approx(want.absolute, rel=100 * rel)
    scale = want.absolute
    assert scalar.one_member(*args).first[0] == pytest.approx(
        want.mean, rel=1e-10, abs=1e-13 * scale
    )


@pytest.mark.parametrize("var", [1e-3, 0.2, 1.0, 30.0])
@pytest.mark.parametrize("lam", [0.01, 0.15, 1.0])
def test_no_mean_is_mean_zero(var, lam):
    zero, var, lam = arrays(0.0, var, lam)
    none, zeros = scalar.one_member(None, var, lam), scalar.one_member(zero, var, lam)
    for a, b in zip(none, zeros, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-13, atol=1e-15 * var[0])
    for f in (scalar.soft_square, scalar.soft_absolute):
        np.testing.assert_allclose(f(None, var, lam), f(zero, var, lam), rtol=1e-13)


@pytest.mark.parametrize("t", [1e-9, 1e-4, 0.02, 0.3, 0.59, 0.6, 0.61, 1.0, 2.5, 8.0])
def test_the_clipped_field_of_a_null_at_any_penalty(t):
    var = 3.0
    lam = t * np.sqrt(var)
    with mp.workdps(30):
        x = mp.mpf(lam) / mp.sqrt(3)
        inside = mp.quad(lambda z: z * z * mp.npdf(z), [-x, 0, x]) / x**2
        want = float(mp.mpf(lam) ** 2 * (inside + mp.erfc(x / mp.sqrt(2))))
    got = scalar.one_member(None, *arrays(var, lam)).clipped[0]
    assert got == pytest.approx(want, rel=1e-13)


@pytest.mark.parametrize(("mean", "var", "lam"), FIELDS)
def test_the_sign_of_the_mean_flips_only_odd_moments(mean, var, lam):
    plus, minus = arrays(mean, var, lam), arrays(-mean, var, lam)
    assert scalar.one_member(*plus).active == scalar.one_member(*minus).active
    np.testing.assert_allclose(
        scalar.one_member(*plus).clipped, scalar.one_member(*minus).clipped, rtol=1e-14
    )
    assert scalar.soft_square(*plus) == scalar.soft_square(*minus)
    assert scalar.soft_absolute(*plus) == scalar.soft_absolute(*minus)
    np.testing.assert_allclose(
        scalar.one_member(*plus).first, -scalar.one_member(*minus).first, rtol=1e-12, atol=1e-15
    )
