"""Responses of a study: shares of variance, residuals and words, against definitions and draws."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import brentq

from selica.planning import Binary, Counts, Numeric, Survival, compare_methods
from selica.planning.predict.prediction import predict
from selica.planning.responses import RESPONSES, check_response
from selica.planning.study import Study

EVERY = [
    Numeric(),
    Binary(),
    Binary(prevalence=0.1),
    Binary(prevalence=0.01, cases=0.5),
    Counts(),
    Counts(rate=3.0),
    Survival(),
    Survival(events=0.3),
]
DRAWS = 400_000


def normal(T):
    """The linear predictors of many rows."""
    return math.sqrt(T) * np.random.default_rng(1).standard_normal(DRAWS)


@pytest.mark.parametrize("response", EVERY, ids=lambda one: one.label)
@pytest.mark.parametrize("r2", [0.01, 0.3, 0.8])
def test_a_share_and_its_variance_belong_together(response, r2):
    assert response.r2(response.variance(r2)) == pytest.approx(r2, rel=1e-12)


def test_the_share_of_a_numeric_response():
    z, noise = normal(1.5), np.random.default_rng(2).standard_normal(DRAWS)
    assert Numeric().r2(1.5) == pytest.approx(z.var() / (z + noise).var(), abs=0.005)


def test_the_share_of_a_binary_response_is_that_of_its_liability():
    """A case is who has a linear predictor above a logistic number."""
    z, noise = normal(1.5), np.random.default_rng(2).logistic(size=DRAWS)
    assert Binary().r2(1.5) == pytest.approx(z.var() / (z - noise).var(), abs=0.005)
    assert Binary(prevalence=0.1).r2(1.5) == Binary().r2(1.5)  # the scale has no threshold


def test_the_share_of_counts_is_that_of_their_variance():
    rate, T = 2.0, 0.3
    mean = rate * np.exp(normal(T) - T / 2.0)
    y = np.random.default_rng(2).poisson(mean)
    assert Counts(rate).r2(T) == pytest.approx(mean.var() / y.var(), abs=0.01)


def test_the_share_of_survival_times_is_that_of_their_logarithm():
    z, times = normal(1.5), np.random.default_rng(2).exponential(size=DRAWS)
    assert Survival().r2(1.5) == pytest.approx(z.var() / np.log(times * np.exp(-z)).var(), abs=0.01)


def slope(residual, z):
    """Mean of a residual times the predictor, for a predictor of variance one."""
    return float(residual @ z / (z @ z))


def test_the_null_residual_of_a_numeric_response():
    """Of y in standard deviations: its slope is a correlation over that of the predictor."""
    z, T = normal(4.0), 4.0
    y = z + np.random.default_rng(2).standard_normal(DRAWS)
    y /= y.std()
    assert Numeric().gradient(T) == pytest.approx((y.std(), slope(y, z)), abs=0.005)


@pytest.mark.parametrize(("prevalence", "cases"), [(0.5, None), (0.1, None), (0.05, 0.5)])
def test_the_null_residual_of_a_binary_response(prevalence, cases):
    """Cases and controls by a logistic law; a case-control sample keeps some of the controls."""
    T, rng = 1.0, np.random.default_rng(2)
    z = normal(T)
    found = brentq(lambda c: np.mean(1.0 / (1.0 + np.exp(-c - z))) - prevalence, -20.0, 20.0)
    y = rng.random(DRAWS) < 1.0 / (1.0 + np.exp(-found - z))
    kept = np.ones(DRAWS, dtype=bool)
    if cases is not None:
        kept = y | (rng.random(DRAWS) < y.mean() / (1.0 - y.mean()) * (1.0 - cases) / cases)
    y, z = y[kept], z[kept]
    spread, steep = Binary(prevalence, cases).gradient(T)
    assert spread == pytest.approx(y.std(), abs=0.005)
    # over a sample that is not normal any more the slope is that of the mean of y given z
    assert steep == pytest.approx(slope((y - y.mean()) * 1.0, z - z.mean()), rel=0.06)


def test_the_null_residual_of_counts():
    rate, T = 2.0, 0.3
    z = normal(T)
    y = np.random.default_rng(2).poisson(rate * np.exp(z - T / 2.0))
    spread, steep = Counts(rate).gradient(T)
    assert spread == pytest.approx(y.std(), rel=0.01)
    assert steep == pytest.approx(slope(y - y.mean(), z), rel=0.02)


def test_the_null_residual_of_survival_times():
    """The martingale residual: event minus cumulative hazard; its variance is the events."""
    events, T = 0.3, 0.02
    z = normal(T)
    times = np.random.default_rng(2).exponential(size=DRAWS) * np.exp(-z)
    end = np.quantile(times, events)
    residual = (times <= end) - np.minimum(times, end)
    spread, steep = Survival(events).gradient(T)
    assert spread == pytest.approx(residual.std(), abs=0.01)
    assert steep == pytest.approx(slope(residual, z), rel=0.05)


LABELS = {
    "a linear response": Numeric(),
    "a binary response with prevalence 0.5": Binary(),
    "a binary response with prevalence 0.01 (50 % of the sample are cases)": Binary(0.01, 0.5),
    "counts of mean 3": Counts(3.0),
    "survival times with events in 30 % of the rows": Survival(0.3),
}


@pytest.mark.parametrize("label", LABELS)
def test_labels_and_options(label):
    response = LABELS[label]
    assert response.label == label
    given = dict(response.options)
    kind = RESPONSES[given.pop("response", "numeric")]
    assert kind(**given) == response


@pytest.mark.parametrize(
    ("response", "words"),
    [
        (Numeric(), ""),
        (Counts(), ""),
        (Survival(0.3), "about 60 events"),
        (Binary(0.1), "about 20 cases"),
        (Binary(0.9), "about 20 controls"),
        (Binary(0.01, cases=0.25), "about 50 cases"),
    ],
    ids=str,
)
def test_what_carries_the_information_is_counted(response, words):
    assert response.informative(200) == words


def test_code_has_the_arguments_that_a_response_needs():
    for response, told in ((Numeric(), ""), (Counts(), ", response='count'")):
        study = Study.of(80, 20, 4, snr=1.0, response=response)
        assert predict(study, "knockoffs", 0.1, "default").code == (
            f"KnockoffSelection(fdr=0.1{told})"
        )


@pytest.mark.parametrize(
    ("kind", "given", "message"),
    [
        (Binary, {"prevalence": 0.0}, "prevalence must be between 0.0001 and 0.9999; got 0"),
        (Binary, {"prevalence": 10}, r"got 10 \(did you mean 0.1\?\)"),
        (Binary, {"cases": 1.0}, "cases must be between"),
        (Counts, {"rate": 0.0}, "rate must be between"),
        (Survival, {"events": 0.0}, "events must be between"),
        (Survival, {"events": "few"}, "events must be a number"),
    ],
)
def test_shares_and_rates_that_cannot_be(kind, given, message):
    with pytest.raises(ValueError, match=message):
        kind(**given)


def test_what_is_no_response_is_refused():
    assert check_response(None) == Numeric()
    for wrong in ("binary", Binary, 3):
        with pytest.raises(ValueError, match=r"response must be one of planning\.Numeric"):
            check_response(wrong)


@pytest.mark.parametrize(
    ("response", "r2"), [(Binary(), 0.99), (Counts(), 0.99), (Survival(), 0.99)], ids=str
)
def test_signals_that_are_too_strong_for_the_theory(response, r2):
    with pytest.raises(ValueError, match=r"^r2 must stand for weaker effects: "):
        compare_methods(100, 20, 2, r2=r2, response=response)
