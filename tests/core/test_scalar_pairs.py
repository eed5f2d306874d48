"""What two members have in common, and the bivariate normal law, against their definitions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from selica._core import scalar
from tests.core.gaussian import around, arrays, member_exact, panels


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
