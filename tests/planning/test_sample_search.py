"""The search for samples: estimates that are near, answers that are exact, studies at once."""

from __future__ import annotations

import math
from dataclasses import astuple

import numpy as np
import pytest

from selica import theory
from selica.planning import METHODS, required_samples
from selica.planning.predict.ceiling import ceiling, ceilings
from selica.planning.predict.prediction import Prediction, predict, predict_each
from selica.planning.questions.inverse import sample_search
from selica.planning.questions.search import PowerSearch
from selica.planning.study import Study

CALIBRATED = [name for name, method in METHODS.items() if method.calibrated]
LAWS = [theory.GaussianEffects(), theory.PointEffects(), theory.LaplaceEffects()]
NAMES = ["Gaussian", "equal", "Laplace"]


@pytest.mark.parametrize("effects", LAWS, ids=NAMES)
@pytest.mark.parametrize("settings", ["best", "default"])
@pytest.mark.parametrize("method", METHODS)
def test_studies_at_once_are_predicted_as_one_by_one(method, settings, effects):
    studies = tuple(
        Study.of(n, 120, k, r2=r2, effects=effects)
        for n, k, r2 in ((30, 10, 0.3), (150, 30, 0.8), (900, 30, 0.8))
    )
    for together, alone in zip(
        predict_each(studies, method, 0.2, settings),
        (predict(study, method, 0.2, settings) for study in studies),
        strict=True,
    ):
        assert together.parameters == alone.parameters
        assert astuple(together)[2:6] == pytest.approx(astuple(alone)[2:6], abs=1e-12)


def test_ceilings_at_once():
    studies = tuple(Study.of(n, 200, 40, r2=0.8) for n in (50, 200, 1000))
    alone = [ceiling(study, 0.1).power for study in studies]
    assert [one.power for one in ceilings(studies, 0.1)] == pytest.approx(alone, abs=1e-12)


@pytest.mark.parametrize(
    ("power", "sizes"),
    [
        (0.5, {"n_features": 500, "n_signals": 100, "r2": 0.95, "fdr": 0.1}),
        (0.8, {"n_features": 300, "n_signals": 40, "r2": 0.7, "fdr": 0.2}),
        (0.3, {"n_features": 1000, "n_signals": 60, "r2": 0.6, "fdr": 0.1}),
    ],
)
def test_estimates_are_near_the_answers(power, sizes):
    search = sample_search(power, method=["stability-fdr", "knockoffs", "stability-pfer"], **sizes)
    sketch = search.sketch()
    *_, whole = search.growing()
    assert search.ceiling.value == whole.ceiling.value
    for about, answer in zip(sketch, whole.answers, strict=True):
        assert about.samples == pytest.approx(answer.value, rel=0.06)
        inside = (answer.x >= about.x[0]) & (answer.x <= about.x[-1])
        drawn = np.interp(np.log(answer.x[inside]), np.log(about.x), about.power)
        assert np.max(np.abs(drawn - answer.power[inside])) < 0.12
        assert np.all(np.diff(about.power) >= 0.0)


@pytest.mark.parametrize(
    ("power", "sizes", "method"),
    [
        (0.3, {"n_features": 100, "n_signals": 50, "r2": 0.9, "fdr": 0.01}, "stability-pfer"),
        (0.1, {"n_features": 50, "n_signals": 1, "r2": 0.05, "fdr": 0.5}, "knockoffs-evalues"),
        (0.5, {"n_features": 980, "n_signals": 20, "r2": 0.96, "fdr": 0.2}, "knockoffs-pvalues"),
        (0.5, {"n_features": 24, "n_signals": 2, "r2": 1e-6, "fdr": 0.001}, "stability-fdr"),
    ],
)
def test_nothing_is_estimated_far_from_what_was_tried(power, sizes, method):
    (about,) = sample_search(power, method=method, at_most=100_000, **sizes).sketch()
    assert about.samples is None
    assert about.x.size == about.power.size == 0


def test_no_number_that_was_tried_and_is_enough_is_smaller():
    found = required_samples(
        0.3, n_features=154, n_signals=26, r2=0.6, effects=theory.LaplaceEffects(),
        method="knockoffs-evalues", settings="default", at_most=100_000,
    ).one("knockoffs-evalues")  # fmt: skip
    assert found.value == found.x[found.power >= 0.3].min()


def test_an_estimate_costs_two_predictions_of_a_method():
    asked = []
    search = sample_search(
        0.5,
        n_features=200,
        n_signals=30,
        r2=0.8,
        method=CALIBRATED,
        on_step=lambda: asked.append(1),
    )
    assert not asked
    search.sketch()
    assert len(asked) == len(CALIBRATED)
    assert all(len(tried.found) == 2 for tried in search._every)


@pytest.mark.parametrize("at_most", [2, 3, 17, 100_000])
@pytest.mark.parametrize(
    "sizes",
    [
        {"n_features": 60, "n_signals": 60, "r2": 0.5},  # no level is ever missed
        {"n_features": 60, "n_signals": 50, "r2": 0.9},
        {"n_features": 60, "n_signals": 1, "r2": 0.9},
        {"n_features": 2, "n_signals": 1, "r2": 1e-6},  # out of reach
    ],
    ids=str,
)
def test_answers_at_the_edges(sizes, at_most):
    search = sample_search(0.5, method=["stability-fdr", "knockoffs"], at_most=at_most, **sizes)
    search.sketch()
    *_, whole = search.growing()
    study = Study.of(2, **sizes)
    for answer in whole.answers:
        assert answer.x.min() >= 2
        assert answer.x.max() <= at_most
        if answer.value is None:
            assert predict(study.with_samples(at_most), answer.method, 0.1).power < 0.5
            continue
        at = predict(study.with_samples(answer.value), answer.method, 0.1)
        assert at.power >= 0.5
        if answer.value > 2:
            fewer = predict(study.with_samples(answer.value - 1), answer.method, 0.1)
            assert fewer.power < 0.5 + at.power_error


def of_power(power):
    return Prediction("knockoffs", "best", power, 0.0, 0.0, 0.0, "FDR", "", {})


@pytest.mark.parametrize("turn", [3.0, 47.3, 4711.5, 99_999.5])
@pytest.mark.parametrize("width", [0.01, 1.0, 5.0])
def test_whole_numbers_are_found_with_few_predictions(turn, width):
    def predicted(values):
        return [
            of_power(1.0 / (1.0 + math.exp(min((math.log(turn) - math.log(x)) / width, 50.0))))
            for x in values
        ]

    rising = PowerSearch("knockoffs", predicted, 0.5)
    assert not rising.reaches(2)
    assert rising.reaches(200_000)
    assert rising.last(200_000, 2, whole=True) == math.ceil(turn)
    assert len(rising.found) < 45
    falling = PowerSearch(
        "knockoffs", lambda values: [of_power(1.0 - one.power) for one in predicted(values)], 0.5
    )
    assert falling.reaches(2)
    assert not falling.reaches(200_000)
    assert falling.last(2, 200_000, whole=True) == math.floor(turn)


def test_a_smooth_power_takes_a_handful_of_predictions():
    def predicted(values):
        return [of_power(x / (x + 337.7)) for x in values]

    tried = PowerSearch("knockoffs", predicted, 0.5)
    tried.ask([300, 500])
    assert tried.last(500, 300, whole=True) == 338
    assert len(tried.found) <= 6
