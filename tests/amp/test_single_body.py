"""What members make of a field, against numerical integration."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from selica._core.counts import count_law
from selica._core.scalar import knockoff_probability, soft_threshold
from selica.amp.single_body import member
from selica.amp.weights import row_averages

CASES = [(0.3, 0.01, 0.2), (-1.5, 0.4, 1.0), (0.0, 1.0, 0.1), (5.0, 1e-6, 1.0), (0.9, 0.2, 1.0)]


def integral(function, g, v_hat, lam):
    sd = np.sqrt(v_hat)
    edges = [x for x in (-lam, lam) if abs(x - g) < 12 * sd]
    value, _ = quad(
        lambda h: function(soft_threshold(np.array(h), lam)) * norm.pdf(h, g, sd),
        g - 12 * sd, g + 12 * sd, points=edges or None, epsabs=1e-14, epsrel=1e-11, limit=200,
    )  # fmt: skip
    return value


@pytest.mark.parametrize(("g", "v_hat", "lam"), CASES)
@pytest.mark.parametrize("weakness", [1.0, 0.4])
def test_averages_are_integrals_over_the_field(g, v_hat, lam, weakness):
    Q_hat = 1.7
    lams = [lam] if weakness == 1.0 else [lam, lam / weakness]

    def average(function):
        return np.mean([integral(function, g, v_hat, x) for x in lams])

    mean = average(lambda s: s)
    variance = average(lambda s: (s - mean) ** 2)
    active = average(lambda s: float(s != 0.0))
    found = member(
        np.array([[g]]), np.array([[v_hat]]), np.array([[Q_hat]]), np.array([lam]), weakness
    )
    assert found.w_bar[0, 0] == pytest.approx(mean / Q_hat, rel=1e-8, abs=1e-12)
    assert found.v[0, 0] == pytest.approx(variance / Q_hat**2, rel=1e-7, abs=1e-12)
    assert found.Pi[0, 0] == pytest.approx(active, rel=1e-8, abs=1e-12)
    assert found.chi[0, 0] == pytest.approx(active / Q_hat, rel=1e-8, abs=1e-12)


def test_a_small_spread_is_not_lost_in_a_large_field():
    """The variance of a variable that is always active is that of its field."""
    g, v_hat = np.array([[3e6]]), np.array([[1e-4]])
    found = member(g, v_hat, np.ones((1, 1)), np.array([1.0]))
    assert found.v[0, 0] == pytest.approx(1e-4, rel=1e-6)


def test_an_empty_column_has_no_coefficient():
    zero = np.zeros((1, 1))
    found = member(zero, zero, zero, np.array([1.0]))
    assert [float(x[0, 0]) for x in found] == [0.0, 0.0, 0.0, 0.0]


@pytest.mark.parametrize(
    ("resampling", "rate"), [("poisson", 0.5), ("poisson", 20.0), ("bernoulli", 0.5),
                             ("exponential", 1.0), ("poisson", 500.0)],
)  # fmt: skip
def test_interpolated_averages_are_those_taken_one_by_one(resampling, rate):
    law = count_law(resampling, np.array([rate]))
    chi = np.geomspace(1e-6, 30.0, 2000).reshape(100, 20)
    many = row_averages(law, chi)
    each = [row_averages(law, part) for part in chi]
    np.testing.assert_allclose(many.f1, [x.f1 for x in each], rtol=1e-8)
    np.testing.assert_allclose(many.spread, [x.spread for x in each], rtol=1e-6, atol=1e-12)


def test_rows_that_are_not_numbers_stay_so():
    law = count_law("poisson", np.array([1.0]))
    chi = np.full(1000, np.nan)
    with np.errstate(invalid="ignore"):
        assert np.isnan(row_averages(law, chi).f1).all()


@pytest.mark.parametrize("gap", [-0.3, 0.0, 0.2])
def test_a_copy_may_have_a_threshold_of_its_own(gap):
    rng = np.random.default_rng(0)
    h = 0.8 + 0.6 * rng.standard_normal(4_000_000)
    copy = 0.9 * rng.standard_normal(h.size)
    beats = np.abs(soft_threshold(h, 0.5)) - np.abs(soft_threshold(copy, 0.8)) > gap
    chance = knockoff_probability(0.8, 0.36, 0.81, 0.5, gap, 0.8)
    assert float(chance.value) == pytest.approx(beats.mean(), abs=4 * 0.5 / np.sqrt(h.size))
    step = 1e-5
    up = knockoff_probability(0.8 + step, 0.36, 0.81, 0.5, gap, 0.8).value
    down = knockoff_probability(0.8 - step, 0.36, 0.81, 0.5, gap, 0.8).value
    assert float(chance.slope) == pytest.approx(float(up - down) / (2 * step), rel=1e-6)
