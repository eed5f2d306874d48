"""Predictions beside selectors on small data sets, run as recommended."""

from __future__ import annotations

import warnings
from importlib import import_module

import numpy as np
import pytest

from selica import selectors, theory
from selica.control import tpp
from selica.planning import METHODS, compare_methods
from selica.sampling import simulate

PROCEDURES = [name for name, method in METHODS.items() if method.calibrated]

STUDIES = {
    "Gaussian effects": ((300, 200, 40, 0.8, 0.2), theory.GaussianEffects()),
    "equal effects": ((250, 150, 30, 0.6, 0.2), theory.PointEffects()),
    "more variables than rows": ((200, 300, 40, 0.95, 0.2), theory.GaussianEffects()),
}


@pytest.mark.parametrize("name", STUDIES)
@pytest.mark.parametrize("method", ["knockoffs", "stability-fdr"])
def test_power_of_the_recommendation_is_as_predicted(name, method):
    (n, p, k, r2, fdr), effects = STUDIES[name]
    comparison = compare_methods(n, p, k, r2=r2, fdr=fdr, effects=effects, methods=[method])
    found, runs = comparison.one(method), 20
    power = []
    for seed in range(runs):
        data = simulate(
            n, p, k, noise_variance=comparison.study.model.Delta, effects=effects,
            scale="article", random_state=seed,
        )  # fmt: skip
        selector = eval(found.code, vars(selectors)).set_params(random_state=seed)
        if method == "knockoffs":
            selector.set_params(sampler="iid")
        else:  # without the refits that check it
            selector.set_params(engine="semi-analytic")
        power.append(tpp(selector.fit(data.X, data.y).support_, data.support))
    assert 0.1 < found.power < 0.95
    error = np.std(power, ddof=1) / np.sqrt(runs)
    assert np.mean(power) == pytest.approx(found.power, abs=3.0 * error + 0.03)


@pytest.mark.parametrize(
    "method", ["knockoffs-evalues", "knockoffs-pvalues", "stability-pfer-unimodal"]
)
def test_copies_and_bounds_find_as_much_as_predicted(method):
    comparison = compare_methods(300, 100, 20, r2=0.9, fdr=0.2, methods=[method])
    found, runs = comparison.one(method), 12
    assert 0.1 < found.power < 0.9
    power = []
    for seed in range(runs):
        data = simulate(
            300, 100, 20, noise_variance=comparison.study.model.Delta, scale="article",
            random_state=seed,
        )  # fmt: skip
        selector = eval(found.code, vars(selectors)).set_params(random_state=seed, n_jobs=1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # about few resamples
            power.append(tpp(selector.fit(data.X, data.y).support_, data.support))
    error = np.std(power, ddof=1) / np.sqrt(runs)
    assert np.mean(power) == pytest.approx(found.power, abs=3.0 * error + 0.03)


@pytest.fixture(scope="module")
def benchmark():
    """The command of the tables in the documentation, which lives beside the package."""
    return import_module("benchmarks.planning")


@pytest.mark.slow
@pytest.mark.parametrize("method", PROCEDURES)
def test_mean_error_of_predicted_power(benchmark, method):
    chosen = [benchmark.task(one, method) for one in benchmark.SETTINGS[:10]]
    found = benchmark.measure(chosen)
    errors = [
        abs(one.prediction.power - seen.power) for one, seen in zip(chosen, found, strict=True)
    ]
    assert np.mean(errors) <= 0.03


@pytest.mark.slow
@pytest.mark.parametrize("number", range(12))
def test_required_samples_have_the_power(benchmark, number):
    question = benchmark.QUESTIONS[number]
    setting = question.answered()
    (seen,) = benchmark.measure([benchmark.task(setting, question.method, setting.datasets)])
    assert seen.answered == pytest.approx(question.power, abs=0.05)
