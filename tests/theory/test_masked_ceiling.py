"""The ceiling of knockoffs with one copy: published digits, direct integrals, drawn fields."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import norm

from selica import theory
from selica.errors import ArgumentError, DoesNotApply
from selica.theory.bayes.masked import LEVELS, _load, pair_precision

ROWS = [
    ((1.12, 0.5, 0.01), 33.545429, 0.403879, 0.749695, 0.079443, 0.407196, 0.765244),
    ((1.12, 0.5, 0.1), 4.016902, 1.118543, 0.292331, 0.061885, 0.155808, 0.351487),
    ((0.63, 0.1, 0.01), 41.617635, 0.385085, 0.684876, 0.096795, 0.075827, 0.686324),
]
"""Model; s, T, power, true FDR and discoveries of the filter at 0.1; power at true FDR 0.1.

Computed by another program."""


BESIDE = [(0.03338756, 0.6458, 0.8005), (0.27882183, 0.3309, 0.4194), (0.01513781, 0.6253, 0.6951)]
"""E, and the power of one copy by the lasso and of the Bayes ceiling at true FDR 0.1."""
SIGNED = [
    (0.749674, 0.405908, 0.767849),
    (0.286670, 0.151882, 0.357463),
    (0.684935, 0.075788, 0.686640),
]
"""Of the signed maximum: power and discoveries of the filter at 0.1; power at true FDR 0.1."""


def model_of(alpha, rho, Delta, **more):
    return theory.Model(alpha=alpha, rho=rho, Delta=Delta, **more)


@pytest.mark.parametrize(("point", "s", "T", "power", "fdr", "found", "true_power"), ROWS)
def test_independent_digits(point, s, T, power, fdr, found, true_power):
    one = theory.masked_ceiling(model_of(*point), 0.1)
    got = (one.precision, one.threshold, one.power, one.fdr, one.discoveries)
    np.testing.assert_allclose(got, (s, T, power, fdr, found), atol=6e-7)
    two = theory.masked_ceiling(model_of(*point), 0.1, level="true")
    np.testing.assert_allclose((two.power, two.fdr), (true_power, 0.1), atol=6e-7)
    assert one.power < theory.power(model_of(*point), "bayes", 0.1)


@pytest.mark.parametrize(("row", "beside"), list(zip(ROWS, BESIDE, strict=True)))
def test_digits_beside_them(row, beside):
    model = model_of(*row[0])
    found = theory.masked_ceiling(model, 0.1).prediction_error
    np.testing.assert_allclose(found, beside[0], atol=6e-9)
    powers = [theory.power(model, method, 0.1) for method in ("knockoffs-ideal", "bayes")]
    np.testing.assert_allclose(powers, beside[1:], atol=6e-5)


@pytest.mark.parametrize(("row", "signed"), list(zip(ROWS, SIGNED, strict=True)))
def test_the_signed_maximum_has_fewer_discoveries_and_more_power(row, signed):
    # sign(|u| - |v|) max(|u|, |v|) on the fields of the ceiling, by the trapezoidal rule
    model, rho = model_of(*row[0]), row[0][1]
    one, two = (theory.masked_ceiling(model, 0.1, level=level) for level in LEVELS)
    sd = np.sqrt(1.0 + one.precision)
    x = np.linspace(0.0, 10.0, 400_001)

    def beyond(own, other):
        """P(|u| > t, |u| > |v|) at t = own x, for each x."""
        inside = 2.0 * norm.pdf(x) * (2.0 * norm.cdf(own * x / other) - 1.0)
        step = 0.5 * (inside[1:] + inside[:-1]) * (x[1] - x[0])
        return np.append(np.cumsum(step[::-1])[::-1], 0.0)

    t = np.linspace(0.5, 8.0, 100_001)
    null, wrong = np.interp(t, x, beyond(1.0, 1.0)), np.interp(t, x, beyond(1.0, sd))
    signal = np.interp(t / sd, x, beyond(sd, 1.0))
    false, found = (1.0 - rho) * null, (1.0 - rho) * null + rho * signal
    at = np.argmax((false + rho * wrong) / found <= 0.1)
    true = np.argmax(false / found <= 0.1)
    np.testing.assert_allclose((signal[at], found[at], signal[true]), signed, atol=5e-5)
    assert found[at] < one.discoveries
    assert signal[true] > two.power


def test_errors_of_a_pair_are_integrals():
    # s = 2, unit effects: variances by the trapezoidal rule over both fields
    rho, s = 0.3, 2.0

    def ratio(u):
        return np.exp(0.5 * s * u**2 / (1.0 + s)) / np.sqrt(1.0 + s)

    def both(u, v):
        Z = 1.0 - rho + 0.5 * rho * (ratio(u) + ratio(v))
        out = 0.0
        for x in (u, v):
            pi, mean = 0.5 * rho * ratio(x) / Z, s * x / (1.0 + s)
            out += pi * (s / (1.0 + s) + mean**2) - (pi * mean) ** 2
        return out * Z * norm.pdf(u) * norm.pdf(v)

    grid = np.arange(-18.0, 18.0, 0.05)
    expected = 0.05**2 * both(grid[:, None], grid).sum()
    model = model_of(1.0, rho, 0.1)
    np.testing.assert_allclose(_load(model.mixture, rho, s), expected, rtol=1e-10)


def test_errors_of_a_pair_with_point_effects_are_integrals():
    # s = 3, effects of sizes a and 2 a with both signs
    rho, s = 0.2, 3.0
    effects = theory.PointEffects([1.0, 2.0])
    size = math.sqrt(s) * np.array([-2.0, -1.0, 1.0, 2.0]) / math.sqrt(2.5)

    def both(u, v):
        each = [[np.exp(m * x - 0.5 * m**2) / 4.0 for m in size] for x in (u, v)]
        R = [sum(part) for part in each]
        Z = 1.0 - rho + 0.5 * rho * (R[0] + R[1])
        out = 0.0
        for part in each:
            first, second = (
                0.5 * rho * sum(m**k * r for m, r in zip(size, part, strict=True)) / Z
                for k in (1, 2)
            )
            out += second - first**2
        return out * Z * norm.pdf(u) * norm.pdf(v)

    grid = np.arange(-16.0, 16.0, 0.04)
    expected = 0.04**2 * both(grid[:, None], grid).sum()
    model = model_of(1.0, rho, 0.1, effects=effects)
    np.testing.assert_allclose(_load(model.mixture, rho, s), expected, rtol=1e-9)
    few = pair_precision(model, few_digits=True)
    assert few == pytest.approx(pair_precision(model), rel=1e-4)


def test_drawn_fields_have_these_rates():
    (alpha, rho, Delta), *_ = ROWS[1]
    one = theory.masked_ceiling(model_of(alpha, rho, Delta), 0.2)
    rng, n, s = np.random.default_rng(0), 400_000, one.precision
    signal = rng.random(n) < rho
    u, v = rng.standard_normal((2, n)) * np.where(
        [signal, np.zeros(n, bool)], np.sqrt(1.0 + s), 1.0
    )

    def evidence(x):
        ratio = np.exp(0.5 * s * x**2 / (1.0 + s)) / np.sqrt(1.0 + s)
        return np.log(1.0 - rho + rho * ratio)

    W = evidence(u) - evidence(v)
    chosen = one.threshold < W
    estimated = (-one.threshold > W).sum() / chosen.sum()
    np.testing.assert_allclose(
        (estimated, chosen[signal].mean(), (chosen & ~signal).sum() / chosen.sum()),
        (0.2, one.power, one.fdr), atol=0.005,
    )  # fmt: skip


def test_few_variables_pay_for_one_more():
    model = model_of(*ROWS[0][0])
    assert theory.masked_ceiling(model, 0.1, n_features=50).power < ROWS[0][3]
    none = theory.masked_ceiling(model_of(0.3, 0.05, 1.0), 0.1, n_features=20)
    assert none.power == none.fdr == none.discoveries == 0.0
    assert np.isinf(none.threshold)


def test_what_it_does_not_know():
    model = model_of(1.0, 0.1, 0.1, effects=theory.PointEffects(signs="given"))
    with pytest.raises(DoesNotApply, match="both signs alike"):
        theory.masked_ceiling(model, 0.1)
    with pytest.raises(ArgumentError, match="level"):
        theory.masked_ceiling(model_of(1.0, 0.1, 0.1), 0.1, level="both")
    with pytest.raises(ArgumentError, match="fdr"):
        theory.masked_ceiling(model_of(1.0, 0.1, 0.1), 1.5)
