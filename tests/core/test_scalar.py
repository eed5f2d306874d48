"""Gaussian moments of the soft threshold against their definitions."""

from __future__ import annotations

from functools import cache
from types import SimpleNamespace

import mpmath as mp
import numpy as np
import pytest
from scipy.stats import norm

from selica._core import scalar

_NODE, _WEIGHT = np.polynomial.legendre.leggauss(20)


def panels(edges):
    """Gauss-Legendre nodes and weights between consecutive edges."""
    edges = np.unique(edges)
    half = 0.5 * np.diff(edges)[:, None]
    middle = 0.5 * (edges[1:] + edges[:-1])[:, None]
    return (middle + half * _NODE).ravel(), (half * _WEIGHT).ravel()


def around(point, width, low, high):
    """Panel edges that resolve `width` around `point`, inside (low, high)."""
    edges = point + width * np.linspace(-9.0, 9.0, 37)
    return edges[(edges > low) & (edges < high)]


def arrays(*numbers):
    return [np.array([float(x)]) for x in numbers]


# --- one Gaussian ----------------------------------------------------------------------------

EXCESS_POINTS = [-30.0, -8.0, -2.5, -0.3, 0.0, 0.1, 0.9, 2.0, 3.7, 4.9, 5.0]
EXCESS_POINTS += [5.0000001, 5.2, 6.5, 9.0, 14.0, 22.0, 30.0]


@cache
def excess_exact(a, power):
    """E(z - a)_+^power by quadrature at forty digits, a an mpf."""
    with mp.workdps(40):
        a = mp.mpf(a)
        up = max(a, mp.mpf(0))  # the density at the start of the branch stays outside
        top, scale = max(-a, mp.mpf(0)), 1 / (1 + up)
        edges = {mp.mpf(0), *(top + k * scale for k in (-8, -4, -2, 0, 1, 2, 4, 8, 16, 32))}
        edges = [e for e in sorted(edges) if e >= 0]

        def each(u):
            return u**power * mp.exp((up * up - (a + u) ** 2) / 2)

        return mp.npdf(up) * mp.quad(each, [*edges, edges[-1] + 12])


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


@cache
def member_exact(mean, var, lam):
    """Moments of S(h) and of the clipped field by quadrature over the three branches of h."""
    with mp.workdps(30):
        m, lam = mp.mpf(mean), mp.mpf(lam)
        sd = mp.sqrt(mp.mpf(var))
        a, b = (lam - m) / sd, (lam + m) / sd
        inside = [e for e in (-b, *range(-12, 13, 3), a) if -b <= e <= a]
        inner = mp.quad(lambda z: (m + sd * z) ** 2 * mp.npdf(z), inside) if len(inside) > 1 else 0
        (p_a, one_a, two_a), (p_b, one_b, two_b) = (
            [sd**power * excess_exact(edge, power) for power in (0, 1, 2)] for edge in (a, b)
        )
        active = p_a + p_b
        return SimpleNamespace(
            active=float(active),
            clipped=float(inner + lam**2 * active),
            square=float(two_a + two_b),
            absolute=float(one_a + one_b),
            mean=float(one_a - one_b),
        )


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
    sd = np.sqrt(var)
    assert got.phi_a[0] == pytest.approx(norm.pdf((lam - mean) / sd), rel=1e-11, abs=1e-300)
    assert got.phi_b[0] == pytest.approx(norm.pdf((lam + mean) / sd), rel=1e-11, abs=1e-300)


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


# --- two members -----------------------------------------------------------------------------


def half_variance(a):
    """Var (eta - a)_+ without cancellation: (eta - a)_+ = eta - a + (a - eta)_+ for a < 0."""
    b = np.abs(a)
    tail = (1.0 + b * b) * norm.sf(b) - b * norm.pdf(b)
    tail = tail - (norm.pdf(b) - b * norm.sf(b)) ** 2
    return np.where(a > 0.0, tail, 1.0 - 2.0 * norm.cdf(-b) + tail)


def pair_exact(mean, var, own, lam):
    """Mean over the shared field g of Var(S | g) and of P(active | g)^2."""
    sd, sd_g = np.sqrt(own), np.sqrt(max(var - own, 0.0))
    if sd_g == 0.0:
        g, weight = np.array([mean]), np.ones(1)
    else:
        reach = 12.0 * sd_g + max(lam - abs(mean), 0.0)
        low, high = mean - reach, mean + reach
        edges = [np.linspace(low, high, int(4 * reach / sd_g) + 1)]
        edges += [around(side * lam, sd, low, high) for side in (-1.0, 1.0)]
        g, weight = panels(np.concatenate(edges))
        weight = weight * norm.pdf((g - mean) / sd_g) / sd_g
    a, b = (lam - g) / sd, (lam + g) / sd
    up, down = norm.pdf(a) - a * norm.sf(a), norm.pdf(b) - b * norm.sf(b)
    # S = up-part - down-part, never both: their covariance is - E up E down
    variance = own * (half_variance(a) + half_variance(b) + 2.0 * up * down)
    return weight @ variance, weight @ (norm.sf(a) + norm.sf(b)) ** 2


def random_pairs(seed, number):
    rng = np.random.default_rng(seed)
    for _ in range(number):
        var = np.exp(rng.uniform(-6.0, 3.0))
        lam = np.sqrt(var) * rng.uniform(0.01, 4.0)
        mean = rng.choice([0.0, 1.0]) * np.sqrt(var) * rng.uniform(-4.0, 4.0)
        yield mean, var, var * rng.uniform(0.001, 0.999), lam


@pytest.mark.parametrize(("mean", "var", "own", "lam"), list(random_pairs(1, 40)))
def test_two_members_against_their_definition(mean, var, own, lam):
    spread, both = pair_exact(mean, var, own, lam)
    got = scalar.two_members(*arrays(mean, var, own, lam))
    assert got.spread[0] == pytest.approx(spread, rel=1e-9)
    assert got.both[0] == pytest.approx(both, rel=1e-9, abs=1e-14)


@pytest.mark.parametrize("mean", [0.0, 0.3, -0.9, 2.5])
@pytest.mark.parametrize("lam", [0.05, 1.0, 3.0])
@pytest.mark.parametrize("share", [1e-4, 1e-6, 1e-9, 1e-12])
def test_a_tiny_own_variance_keeps_its_relative_accuracy(mean, lam, share):
    var = 0.8
    spread, both = pair_exact(mean, var, share * var, lam)
    for m in [mean, None] if mean == 0.0 else [mean]:
        m = None if m is None else np.array([m])
        got = scalar.two_members(m, *arrays(var, share * var, lam))
        assert got.spread[0] == pytest.approx(spread, rel=1e-9)
        assert got.both[0] == pytest.approx(both, rel=1e-9)


@pytest.mark.parametrize(("mean", "var", "lam"), [(0.0, 1.0, 0.5), (0.8, 0.5, 1.0), (-3, 2, 0.1)])
def test_members_that_share_nothing_are_independent(mean, var, lam):
    exact = member_exact(mean, var, lam)
    got = scalar.two_members(*arrays(mean, var, var, lam))
    assert got.spread[0] == pytest.approx(exact.square - exact.mean**2, rel=1e-11)
    assert got.both[0] == pytest.approx(exact.active**2, rel=1e-11)


@pytest.mark.parametrize("mean", [None, 0.0, 1.3])
def test_members_that_share_all_are_one(mean):
    var, own, lam = arrays(1.7, 0.0, 0.9)
    got = scalar.two_members(None if mean is None else np.array([mean]), var, own, lam)
    assert got.spread[0] == 0.0
    assert got.both[0] == pytest.approx(member_exact(mean or 0.0, 1.7, 0.9).active, rel=1e-12)


@pytest.mark.parametrize(("mean", "var", "own", "lam"), list(random_pairs(2, 12)))
def test_both_is_the_derivative_of_spread(mean, var, own, lam):
    own = min(own, 0.99 * var)
    h = 1e-3 * own

    def spread(shift):
        return scalar.two_members(*arrays(mean, var, own + shift * h, lam)).spread[0]

    slope = (8.0 * (spread(1) - spread(-1)) - (spread(2) - spread(-2))) / (12.0 * h)
    both = scalar.two_members(*arrays(mean, var, own, lam)).both[0]
    assert both == pytest.approx(slope, rel=1e-8, abs=1e-11)


@pytest.mark.parametrize("share", [1e-9, 1e-3, 0.2, 0.7, 0.999, 1.0])
@pytest.mark.parametrize("t", [1e-3, 0.3, 1.0, 3.0, 6.0])
def test_the_symmetric_way_equals_the_general_way(share, t):
    var, own, lam, zero = arrays(2.3, 2.3 * share, t * np.sqrt(2.3), 0.0)
    short, general = (scalar.two_members(mean, var, own, lam) for mean in (None, zero))
    slack = 1e-11 * norm.sf(t)
    np.testing.assert_allclose(short.spread, general.spread, rtol=1e-12, atol=slack * 2.3 * share)
    np.testing.assert_allclose(short.both, general.both, rtol=1e-12, atol=slack)


@pytest.mark.parametrize("mean", [None, 0.4, -2.0])
@pytest.mark.parametrize("lam", [0.1, 1.0, 3.0])
def test_two_members_between_their_limits(mean, lam):
    var = np.full(60, 1.4)
    own = var * np.concatenate([np.geomspace(1e-8, 0.1, 30), np.linspace(0.12, 1.0, 30)])
    m = None if mean is None else np.full(60, mean)
    got = scalar.two_members(m, var, own, np.full(60, lam))
    active = scalar.one_member(m, var, np.full(60, lam)).active
    # P(both) is a power series in the correlation with positive coefficients
    assert np.all(np.diff(got.both) < 0.0)
    assert np.all(np.diff(got.spread) > 0.0)
    slack = 1e-12 * active
    assert np.all(got.both >= active**2 - slack)
    assert np.all(got.both <= active + slack)
    assert np.all(got.spread <= own * (active + slack))
    assert np.all(got.spread >= own * (got.both - slack))


@pytest.mark.parametrize("mean", [None, -1.5, 0.5])
@pytest.mark.parametrize(("t", "share"), [(6, 1e-6), (6, 0.3), (6, 1.0), (8, 0.3), (9, 1.0)])
def test_rare_activity_is_measured_against_itself(mean, t, share):
    spread, both = pair_exact(mean or 0.0, 1.0, share, t)
    m = None if mean is None else np.array([mean])
    got = scalar.two_members(m, *arrays(1.0, share, t))
    slack = 1e-13 * t * t * norm.sf(t - abs(mean or 0.0))
    assert got.spread[0] == pytest.approx(spread, rel=1e-12, abs=share * slack)
    assert got.both[0] == pytest.approx(both, rel=1e-12, abs=slack)


@pytest.mark.parametrize("mean", [None, -1.5, 0.5])
@pytest.mark.parametrize("t", [12.0, 20.0, 35.0, 60.0])
@pytest.mark.parametrize("share", [1e-6, 0.3, 1.0])
def test_activity_beyond_reach_stays_within_its_bounds(mean, t, share):
    m = None if mean is None else np.array([mean])
    got = scalar.two_members(m, *arrays(1.0, share, t))
    active = norm.sf(t - (mean or 0.0)) + norm.sf(t + (mean or 0.0))
    assert 0.0 <= got.spread[0] <= share * active
    assert abs(got.both[0]) <= active


def test_two_members_broadcast():
    mean = np.array([[0.0], [0.7]])
    var, own, lam = np.array([[1.0], [0.5]]), np.array([0.1, 0.2, 0.5]), np.array([1.0])
    got = scalar.two_members(mean, np.broadcast_to(var, (2, 3)), own, lam)
    assert got.spread.shape == (2, 3)
    for i in range(2):
        for j in range(3):
            one = scalar.two_members(*arrays(mean[i, 0], var[i, 0], own[j], 1.0))
            assert got.spread[i, j] == pytest.approx(one.spread[0], rel=1e-14)
            assert got.both[i, j] == pytest.approx(one.both[0], rel=1e-14)


# --- bivariate normal ------------------------------------------------------------------------


def bivariate_exact(h, k, r):
    """P(z1 > h, z2 > k) as an integral over z1."""
    width = np.sqrt(1.0 - r * r)
    top = max(h, 0.0) + 10.0
    low = max(h, -12.0)
    edges = [np.linspace(low, top, 60)]
    if r != 0.0:
        edges.append(around(k / r, width / abs(r), low, top))
    z, weight = panels(np.concatenate(edges))
    return weight @ (norm.pdf(z) * norm.sf((k - r * z) / width))


@pytest.mark.parametrize("r", [-0.9999, -0.999, -0.8, -0.6, -0.25, 0.0])
@pytest.mark.parametrize(
    ("h", "k"),
    [(0, 1), (0, -1), (1.2, 0), (-1.2, 0), (0.5, 0.5), (-0.5, 2), (1, -3), (-2, -0.1), (-9, 8)],
)
def test_bivariate_survival(h, k, r):
    width = np.sqrt(1.0 - r * r)
    got = scalar.bivariate_survival(*arrays(h, k, (k - r * h) / width, (h - r * k) / width))
    assert got[0] == pytest.approx(bivariate_exact(h, k, r), abs=3e-14)


def test_bivariate_survival_at_the_centre():
    # Sheppard: P(z1 > 0, z2 > 0) = 1/4 + arcsin(r) / (2 pi)
    r = np.linspace(-0.99, 0.99, 23)
    h = np.full_like(r, 1e-13)  # the conditional arguments carry the correlation
    same = h * np.sqrt((1.0 - r) / (1.0 + r))
    got = scalar.bivariate_survival(h, h, same, same)
    np.testing.assert_allclose(got, 0.25 + np.arcsin(r) / (2.0 * np.pi), atol=1e-12)


# --- selection probabilities -----------------------------------------------------------------


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
