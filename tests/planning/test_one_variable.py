"""The probability to find one variable, and how many signals are found in most studies."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.interpolate import PchipInterpolator
from scipy.stats import binom, norm

from selica import planning, theory
from selica.errors import ArgumentError, DoesNotApply
from selica.planning.predict.ceiling import ceiling
from selica.planning.predict.copy_ceiling import copy_ceiling
from selica.planning.predict.expectation import Expected, binomial_quantile
from selica.planning.predict.prediction import predict
from selica.planning.study import Study
from selica.theory import Rates

METHODS = ["stability-fdr", "stability-pfer", "knockoffs", "knockoffs-evalues", "lasso"]
SIZES = np.linspace(0.0, 2.75, 12)
"""Effects in their root mean square, at which the probability is asked for."""
SLOW = {"knockoffs-evalues"}


@pytest.mark.parametrize(
    "method",
    [
        pytest.param(name, marks=pytest.mark.slow) if name in SLOW else name
        for name in (*METHODS, "bayes", "best-copy-statistic")
    ],
)
@pytest.mark.parametrize(("n", "p", "k"), [(400, 300, 30), (1500, 6000, 60)])
def test_over_all_effects_it_is_the_power(method, n, p, k):
    """Effects are Gaussian: the mean of the probability over them is the power."""
    of = {"bayes": ceiling, "best-copy-statistic": copy_ceiling}.get(
        method, lambda study, fdr: predict(study, method, fdr)
    )
    study = Study.of(n, p, k, r2=0.7)
    power = of(study, 0.2)
    chance = []
    for size in SIZES.tolist():
        one = Study.of(n, p, k, r2=0.7, variable=size * study.effect_size)
        chance.append(of(one, 0.2).variable_power)
    assert np.all(np.diff(chance) >= -0.03)
    fine = np.linspace(0.0, 6.0, 4001)
    between = PchipInterpolator(np.append(SIZES, 6.0), np.append(chance, chance[-1]))(fine)
    mean = 2.0 * np.trapezoid(norm.pdf(fine) * between, fine)
    assert mean == pytest.approx(power.power, abs=0.015)


def test_it_is_how_often_fields_are_selected():
    """A fixed cut: the normal probability itself."""
    study = Study.of(400, 300, 30, r2=0.7, variable=0.2)
    found = predict(study, "lasso", 0.1)
    other = predict(Study.of(400, 300, 30, r2=0.7), "lasso", 0.1)
    assert other.power == found.power
    assert other.variable_power is None
    lam = found.parameters["lam"] / study.penalty(1.0)
    s = theory.solve_lasso(study.model, lam)
    mean, sd = s.slope * 0.2 / study.effect_size, math.sqrt(s.chi_hat)
    by_hand = norm.sf((lam - mean) / sd) + norm.cdf((-lam - mean) / sd)
    assert found.variable_power == pytest.approx(by_hand, abs=5e-3)  # lam is rounded


def test_units_of_the_variable():
    odds = planning.OddsRatios([2.0, 1.5, 1.5])
    study = Study.of(400, 300, effects=odds, response=planning.Binary(0.3), variable=1.5)
    assert study.variable == pytest.approx(math.log(1.5))
    betas = planning.Betas([0.3, 0.2, 0.1])
    study = Study.of(400, 300, effects=betas, variable=0.2)
    noise = 1.0 - 0.09 - 0.04 - 0.01
    assert study.variable == pytest.approx(0.2 / math.sqrt(noise))


def test_what_cannot_be_asked():
    with pytest.raises(DoesNotApply, match=r"variable: .* independent columns"):
        Study.of(400, 300, 30, r2=0.5, covariance=("ar1", 0.5), variable=0.2)
    with pytest.raises(ArgumentError, match="variable must be above 0, as odds ratios are"):
        Study.of(
            400, 300, effects=planning.OddsRatios([2.0]), response=planning.Binary(), variable=-1.0
        )
    with pytest.raises(ArgumentError, match="variable"):
        Study.of(400, 300, 30, r2=0.5, variable=math.nan)


@pytest.mark.parametrize("chance", [0.0, 0.03, 0.5, 0.97, 1.0])
@pytest.mark.parametrize("number", [1, 20, 100_000])
def test_binomial_quantiles(chance, number):
    for share in (0.1, 0.9):
        assert binomial_quantile(share, number, chance) == binom.ppf(share, number, chance)


def test_the_range_of_numbers_found():
    study = Study.of(400, 300, 30, r2=0.7)
    fixed = Expected.of_rates(study, Rates(0.5, 0.01, math.nan))
    assert (fixed.found_low, fixed.found_high) == (11.0, 19.0)
    # one copy finds ten or none where ten is what the level asks for
    few = predict(Study.of(300, 500, 12, r2=0.5), "knockoffs", 0.1)
    assert few.found_low == 0.0
    assert few.found_low <= few.true_selections <= max(few.found_high, 1.0)
