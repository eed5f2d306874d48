"""Variables of which one of several versions is real: the prior, and cavities by two ways."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import integrate
from scipy.stats import norm

from selica.amp.pair_messages import looks_independent, pair_messages
from selica.amp.pair_propagation import pair_propagation
from selica.amp.pairs import PairCavities, PairPrior

X = np.array(
    [[1.0, 0.5, -0.3], [-0.8, 1.2, 0.4], [0.3, -1.0, 1.1], [1.5, 0.2, -0.9],
     [-1.2, -0.7, 0.6], [0.1, 0.9, -1.4], [0.7, -0.4, 0.2], [-0.5, 0.6, 0.8]]
)  # fmt: skip
COPY = np.array(
    [[0.4, -0.6, 0.9], [-0.2, 0.8, -1.1], [-1.0, 0.3, 0.5], [0.9, -0.1, 0.7],
     [0.6, -1.3, -0.4], [-0.7, 1.0, -0.2], [1.1, 0.4, -0.8], [-0.3, -0.5, 1.2]]
)  # fmt: skip
Y = np.array([1.2, -0.5, -0.9, 2.0, -1.6, 0.8, 0.9, -0.4])
PAIRS = np.arange(3)


def odds(found, unit):
    return np.subtract(*found.prior.evidence(found.seen, unit))


def test_beliefs_of_a_pair_are_integrals():
    # channel r = w + N(0, 1/s) for both members; sums of one-dimensional integrals over the prior
    p0, t2, s = 0.7, 0.4, 3.0
    r = np.array([0.9, -0.5])

    def seen_as(w, place):
        at = np.zeros(2)
        at[place] = w
        return norm.pdf(r, at, s**-0.5).prod()

    def moment(place, power):
        def inner(w):
            return w**power * seen_as(w, place) * norm.pdf(w, 0.0, t2**0.5)

        return integrate.quad(inner, -8.0, 8.0, epsabs=1e-12)[0]

    nothing = seen_as(0.0, 0)
    total = p0 * nothing + 0.5 * (1.0 - p0) * (moment(0, 0) + moment(1, 0))
    prior, cavities = PairPrior(p0, t2), PairCavities((s * r)[:, None], np.full((2, 1), s))
    known = prior.beliefs(cavities, np.zeros(1, dtype=int))
    for place in (0, 1):
        real, first, second = (0.5 * (1.0 - p0) * moment(place, k) / total for k in (0, 1, 2))
        found = (known.real[place, 0], known.mean[place, 0], known.variance[place, 0])
        np.testing.assert_allclose(found, (real, first, second - first**2), rtol=1e-7)
    versions = [p0 * nothing + (1.0 - p0) * moment(place, 0) for place in (0, 1)]
    expected = np.log(versions[0] / versions[1])
    found = np.subtract(*prior.evidence(cavities, np.zeros(1, dtype=int)))
    np.testing.assert_allclose(found, [expected], rtol=1e-7)


def test_columns_of_a_unit_are_real_together():
    # two columns of one unit: states (version, zero or not of either column), enumerated
    p0, t2 = 0.6, 0.5
    rng = np.random.default_rng(0)
    eta, precision = 2.0 * rng.standard_normal((2, 2)), rng.random((2, 2)) + 0.5
    prior, unit = PairPrior(p0, t2), np.zeros(2, dtype=int)
    mass, real = np.zeros(2), np.zeros((2, 2))
    for version, states in itertools.product((0, 1), itertools.product((0, 1), repeat=2)):
        weight = 1.0
        for column, on in enumerate(states):
            e, c = eta[version, column], precision[version, column]
            factor = np.exp(0.5 * e**2 / (c + 1.0 / t2)) / np.sqrt(1.0 + t2 * c)
            weight *= (1.0 - p0) * factor if on else p0
        mass[version] += weight
        real[version] += weight * np.array(states)
    seen = PairCavities(eta, precision)
    np.testing.assert_allclose(prior.evidence(seen, unit)[:, 0], np.log(mass))
    np.testing.assert_allclose(prior.beliefs(seen, unit).real, real / mass.sum())


def test_huge_cavities_neither_overflow_nor_tie():
    prior, unit = PairPrior(0.9, 1.0), np.arange(3)
    seen = PairCavities(np.array([[1e9, 2e9, 0.0], [0.0, 0.0, 1e9]]), np.ones((2, 3)))
    W = np.subtract(*prior.evidence(seen, unit))
    assert np.all(np.isfinite(W))
    assert W[1] > W[0] > 0.0 > W[2]
    assert np.all(np.isfinite(prior.beliefs(seen, unit).mean))


@pytest.mark.parametrize(
    ("p0", "t2", "noise", "exact"),
    [
        (0.8, 1.0, 1.0, [0.73129216, 0.50957762, 0.58405364]),
        (0.8, 1.0, 0.25, [0.99599939, 0.62281046, 0.62103845]),
        (0.5, 0.5, 0.5, [0.94636006, 0.58012895, 0.65968842]),
    ],
)
def test_propagation_is_near_the_exact_posterior(p0, t2, noise, exact):
    # exact: all 64 states of three pairs; propagation is an approximation for so few of them
    found = pair_propagation([X, COPY], Y, PAIRS, prior=PairPrior(p0, t2), noise=noise, rounds=30)
    np.testing.assert_allclose(1.0 / (1.0 + np.exp(-odds(found, PAIRS))), exact, atol=0.01)


def test_a_single_pair_is_exact():
    # its cavity is the likelihood itself, whatever the other member of the pair is
    prior, noise, unit = PairPrior(0.8, 0.7), 0.5, np.zeros(1, dtype=int)
    # more rows than columns, and fewer, in single precision
    for rows, tolerance in ((slice(None), 1e-9), (slice(0, 1), 1e-6)):
        x, copy, y = X[rows, :1], COPY[rows, :1], Y[rows]
        found = pair_propagation([x, copy], y, unit, prior=prior, noise=noise)
        expected = [
            0.5 * (z @ y) ** 2 / noise / (z @ z + noise / 0.7) - 0.5 * np.log1p(0.7 * z @ z / noise)
            for z in (x[:, 0], copy[:, 0])
        ]
        np.testing.assert_allclose(prior.bayes_factors(found.seen)[:, 0], expected, rtol=tolerance)


def test_wide_and_tall_tables_have_the_same_equations():
    # rows of zeros add nothing, and make a wide table tall
    rng = np.random.default_rng(1)
    wide = rng.standard_normal((2, 6, 5))
    y = rng.standard_normal(6)
    given, unit = {"prior": PairPrior(0.8, 0.3), "noise": 0.4}, np.array([0, 1, 1, 2, 3])
    zeros = np.zeros((2, 10, 5))
    tall = np.concatenate([wide, zeros], axis=1)
    one = pair_propagation(list(wide), y, unit, **given)
    two = pair_propagation(list(tall), np.append(y, np.zeros(10)), unit, **given)
    # single precision in wide tables
    np.testing.assert_allclose(one.seen.eta, two.seen.eta, rtol=2e-5)
    np.testing.assert_allclose(one.seen.precision, two.seen.precision, rtol=2e-5)


def test_prior_and_noise_are_estimated():
    rng = np.random.default_rng(2)
    n, p, k = 1000, 150, 30
    table, copy = rng.standard_normal((2, n, p))
    w = np.zeros(p)
    w[:k] = rng.standard_normal(k) * 0.3
    y = table @ w + rng.standard_normal(n)
    scale = y.std()
    found = pair_propagation([table, copy], y / scale, np.arange(p))
    assert abs(found.noise - 1.0 / scale**2) < 0.05
    assert abs(found.prior.zero - (1.0 - k / p)) < 0.1
    assert 0.4 < found.prior.variance / (0.09 / scale**2) < 2.0


def test_messages_and_propagation_agree_on_independent_columns():
    rng = np.random.default_rng(3)
    n, p = 450, 300
    table, copy = rng.standard_normal((2, n, p))
    y = table[:, :30] @ rng.standard_normal(30) * 0.4 + rng.standard_normal(n)
    y /= y.std()
    unit = np.arange(p)
    one, two = pair_messages([table, copy], y, unit), pair_propagation([table, copy], y, unit)
    W, V = odds(one, unit), odds(two, unit)
    assert np.corrcoef(W, V)[0, 1] > 0.98
    assert abs(one.prior.zero - two.prior.zero) < 0.05


def test_messages_say_where_they_diverge():
    rng = np.random.default_rng(4)
    table = rng.standard_normal((80, 1)) + 0.05 * rng.standard_normal((80, 60))
    y = table[:, 0] / table[:, 0].std()
    assert pair_messages([table, table + 0.01], y, np.arange(60)) is None
    assert not looks_independent([table, table + 0.01])


@pytest.mark.slow
def test_messages_reach_the_ceiling():
    # alpha 1.12, rho 0.5, Delta 0.01, T of the filter at 0.1: what theory.masked_ceiling has
    size, rho, T = 2000, 0.5, 0.403879
    n, rows = int(1.12 * size), []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        versions = rng.standard_normal((2, n, size)) / np.sqrt(size)
        signal = np.arange(size) < rho * size
        w = np.where(signal, rng.standard_normal(size), 0.0)
        w *= np.sqrt(rho / np.mean(w**2))
        y = versions[0] @ w + 0.1 * rng.standard_normal(n)
        found = pair_messages(
            list(versions), y, np.arange(size), prior=PairPrior(1.0 - rho, 1.0), steps=80
        )
        W = odds(found, np.arange(size))
        error = np.mean((found.mean[0] - w) ** 2 + found.mean[1] ** 2)
        signals, nulls = W[signal], W[~signal]
        rows.append([error, (signals > T).mean(), (nulls > T).mean(), (signals < -T).mean()])
    mean, spread = np.mean(rows, axis=0), np.std(rows, axis=0, ddof=1) / np.sqrt(len(rows))
    assert np.all(np.abs(mean - [0.023388, 0.749695, 0.064698, 0.016741]) < 3.5 * spread)


@pytest.mark.parametrize(("rows", "pairs", "tolerance"), [(60, 20, 1e-6), (110, 80, 1e-3)])
def test_an_exchange_moves_the_evidence_whatever_the_order_of_the_pairs(rows, pairs, tolerance):
    """Fixed-X knockoffs need it of the formulas: the mask orders pairs by single rows.

    Tables with fewer rows than columns have single precision, and factors that lag behind.
    """
    rng = np.random.default_rng(5)
    X, copy = rng.standard_normal((2, rows, pairs))
    copy = 0.5 * X + copy
    X, copy = X - X.mean(axis=0), copy - copy.mean(axis=0)
    y = X[:, :3].sum(axis=1) + rng.standard_normal(rows)
    y = (y - y.mean()) / y.std()
    which, unit = rng.random(pairs) < 0.5, np.arange(pairs)
    W = odds(pair_propagation([X, copy], y, unit), unit)
    moved = [np.where(which, copy, X), np.where(which, X, copy)]
    after = odds(pair_propagation(moved, y, unit), unit)
    assert np.abs(W).max() > 1.0
    np.testing.assert_allclose(after, np.where(which, -W, W), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("versions", [2, 3])
def test_factors_that_lag_behind_change_little(versions, monkeypatch):
    rng = np.random.default_rng(6)
    n, p = 150, 100
    columns = list(rng.standard_normal((versions, n, p)))
    y = columns[0][:, :8].sum(axis=1) + rng.standard_normal(n)
    y, unit = y / y.std(), np.arange(p)
    lagging = pair_propagation(columns, y, unit)
    monkeypatch.setattr("selica.amp.pair_factors.FEWEST_ROWS", n + 1)
    whole = pair_propagation(columns, y, unit)
    one, two = (found.prior.evidence(found.seen, unit) for found in (lagging, whole))
    assert np.any(one != two)
    assert np.corrcoef((one[0] - one[1]), (two[0] - two[1]))[0, 1] > 0.999
    np.testing.assert_allclose(lagging.noise, whole.noise, rtol=0.05)
