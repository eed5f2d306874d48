"""Averages over the resampling laws against sums and integrals at high precision."""

from __future__ import annotations

from functools import cache, partial

import mpmath as mp
import numpy as np
import pytest

from selica._core.counts import RESAMPLINGS, check_rate, count_law, exponential_nodes, single_fit
from selica._core.errors import ArgumentError

RATES = [0.01, 0.3, 1.0, 2.0, 10.0, 79.9, 80.0, 80.1, 100.0, 400.0, 1000.0]
CHIS = [0.0, 1e-6, 1e-2, 0.3, 1.0, 30.0, 1e3, 1e6]


@cache
def poisson_exact(rate, chi):
    """f1, f2, f3, f2 - f1^2 and E[c / (1 + chi c)^2], summed over counts at fifty digits."""
    with mp.workdps(50):
        mu, chi = mp.mpf(rate), mp.mpf(chi)
        mass = mp.exp(-mu)
        total = [mp.mpf(0)] * 4
        for c in range(int(rate + 25 * rate**0.5 + 60)):
            k = c / (1 + chi * c)
            each = (k, k * k, k**3, k / (1 + chi * c))
            total = [t + mass * e for t, e in zip(total, each, strict=True)]
            mass *= mu / (c + 1)
        f1, f2, f3, loss = total
        return [float(x) for x in (f1, f2, f3, f2 - f1**2, loss)]


@cache
def exponential_exact(rate, chi):
    """The same for weights rate * Exp(1): with s = 1/(chi rate), closed in exp(s) E1(s)."""
    with mp.workdps(80):
        mu, chi = mp.mpf(rate), mp.mpf(chi)
        if chi == 0:
            return [float(x) for x in (mu, 2 * mu**2, 6 * mu**3, mu**2, mu)]
        s = 1 / (chi * mu)
        y1 = s * mp.exp(s) * mp.e1(s)  # E[1/(1 + chi c)^k], k = 1, 2, 3, each by parts
        y2 = s - s * y1
        y3 = s / 2 - s * y2 / 2
        f1 = (1 - y1) / chi
        f2 = (1 - 2 * y1 + y2) / chi**2
        f3 = (1 - 3 * y1 + 3 * y2 - y3) / chi**3
        return [float(x) for x in (f1, f2, f3, f2 - f1**2, (y1 - y2) / chi)]


def all_five(resampling, rate, chi):
    law, x = count_law(resampling, np.array([rate])), np.array([chi])
    f = law.averages(x)
    return [v[0] for v in (*f, law.variance(f, x), law.loss_factor(x))]


@pytest.mark.parametrize("rate", RATES)
def test_poisson_against_sums(rate):
    for chi in CHIS:
        np.testing.assert_allclose(
            all_five("poisson", rate, chi), poisson_exact(rate, chi), rtol=1e-12, err_msg=f"{chi=}"
        )


@pytest.mark.parametrize("rate", [0.05, 0.7, 1.0, 3.0, 50.0, 1000.0])
def test_exponential_against_the_exponential_integral(rate):
    for chi in CHIS:
        got, want = (f(rate, chi) for f in (partial(all_five, "exponential"), exponential_exact))
        f1, f2, f3, variance, loss = got
        np.testing.assert_allclose([f1, f2, f3, loss], want[:3] + want[4:], rtol=1e-12)
        # weights below exp(-37) are left out, and for chi * rate >> 1 only small ones vary:
        # the mass exp(-37) = 9e-17 is compared with 1 / (chi * rate)
        assert variance == pytest.approx(want[3], rel=1e-12 + 1e-16 * chi * rate)


@pytest.mark.parametrize("rate", [0.01, 0.5, 0.9, 1.0])
@pytest.mark.parametrize("chi", CHIS)
def test_bernoulli_in_closed_form(rate, chi):
    k = 1.0 / (1.0 + chi)
    want = [rate * k, rate * k**2, rate * k**3, rate * (1 - rate) * k**2, rate * k**2]
    np.testing.assert_allclose(all_five("bernoulli", rate, chi), want, rtol=1e-12)


def test_a_single_fit_gives_each_row_weight_one():
    chi = np.array([0.0, 0.5, 40.0])
    law = single_fit(3)
    f = law.averages(chi)
    for power, value in enumerate(f, start=1):
        np.testing.assert_allclose(value, (1.0 + chi) ** -power, rtol=1e-15)
    np.testing.assert_array_equal(law.variance(f, chi), np.zeros(3))
    np.testing.assert_allclose(law.loss_factor(chi), (1.0 + chi) ** -2, rtol=1e-15)


@pytest.mark.parametrize("resampling", RESAMPLINGS)
@pytest.mark.parametrize("rate", [0.01, 0.5, 1.0, 7.0, 80.0, 81.0, 1000.0])
def test_nodes_are_a_law_of_the_stated_mean(resampling, rate):
    if resampling == "bernoulli" and rate > 1.0:
        rate = 1.0 / rate
    law = count_law(resampling, np.array([rate]))
    assert np.all(law.probability >= 0.0)
    assert np.all(law.weight >= 0.0)
    assert law.probability.sum() == pytest.approx(1.0, abs=1e-13)
    assert np.vecdot(law.probability, law.weight)[0] == pytest.approx(rate, rel=1e-13)


def test_exponential_nodes_have_the_moments_of_the_law():
    node, probability = exponential_nodes()
    for k, factorial in enumerate([1, 1, 2, 6]):
        assert probability @ node**k == pytest.approx(factorial, rel=1e-12)


@pytest.mark.parametrize("resampling", RESAMPLINGS)
def test_many_rates_in_one_call_equal_single_calls(resampling):
    rate = np.array([0.4, 1.0, 0.02, 0.4, 0.9])
    if resampling != "bernoulli":
        rate = np.concatenate([rate, [85.0, 3.0, 900.0]])
    chi = np.geomspace(1e-3, 1e3, rate.size)
    law = count_law(resampling, rate)
    f = law.averages(chi)
    together = np.stack([*f, law.variance(f, chi), law.loss_factor(chi)])
    single = [all_five(resampling, r, c) for r, c in zip(rate, chi, strict=True)]
    np.testing.assert_allclose(together.T, single, rtol=1e-13)


@pytest.mark.parametrize("resampling", RESAMPLINGS)
@pytest.mark.parametrize("chi", [0.0, 0.1, 1.0, 20.0])
def test_the_loss_factor_is_f1_minus_chi_f2(resampling, chi):
    # c / (1 + chi c)^2 = k - chi k^2 with k = c / (1 + chi c)
    f1, f2, _, _, loss = all_five(resampling, 0.8, chi)
    assert loss == pytest.approx(f1 - chi * f2, rel=1e-12)


@pytest.mark.parametrize("index", [np.array([2, 0]), np.array([True, False, True])])
def test_take_is_the_law_of_a_subset(index):
    rate, chi = np.array([0.5, 30.0, 2.0]), np.array([0.1, 1.0, 10.0])
    law = count_law("poisson", rate)
    np.testing.assert_allclose(
        law.take(index).averages(chi[index]).f2, law.averages(chi).f2[index], rtol=1e-15
    )


def test_tables_that_are_kept_cannot_be_changed_from_outside():
    first, again = (count_law("poisson", np.array([1.5])) for _ in range(2))
    for a, b in zip(first, again, strict=True):
        assert not (np.shares_memory(a, b) and a.flags.writeable)


def test_an_unknown_law_is_refused_by_name():
    with pytest.raises(ArgumentError, match=r"^resampling must be one of 'poisson'.*'jackknife'"):
        count_law("jackknife", np.ones(1))


def test_rates_that_laws_can_have():
    for law in RESAMPLINGS:
        assert check_rate("mu_B", [0.5, 1.0], law).tolist() == [0.5, 1.0]
    assert check_rate("mu_B", 3.0, "poisson") == 3.0
    with pytest.raises(ArgumentError, match=r"^mu_B must be between .* and 1; got 3"):
        check_rate("mu_B", 3.0, "bernoulli")
    with pytest.raises(ArgumentError, match=r"^resampling must be one of 'poisson'"):
        check_rate("mu_B", 1.0, "jackknife")
