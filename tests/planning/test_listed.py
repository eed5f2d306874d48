"""One list of methods for a study: what has a prediction and can be run on its response."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from selica import catalogue, planning, selectors
from selica.planning import METHODS, Binary, Counts, Numeric, Study, Survival
from selica.planning.questions.listed import listed, unlisted
from selica.theory import GaussianEffects

N, P, K = 150, 30, 6


def study(response, columns=None):
    return Study.of(
        N, P, K, snr=2.0, effects=GaussianEffects(), response=response, covariance=columns
    )


def drawn(response):
    """Rows of such a study, with equal effects."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, P))
    z = 0.6 * X[:, :K].sum(axis=1)
    if isinstance(response, Binary):
        return X, (rng.random(N) < 1.0 / (1.0 + np.exp(-z))).astype(int)
    if isinstance(response, Counts):
        return X, rng.poisson(np.exp(0.5 * z))
    if isinstance(response, Survival):
        times = rng.exponential(size=N) * np.exp(-z)
        end = np.quantile(times, response.events)
        rows = zip(times <= end, np.minimum(times, end), strict=True)
        return X, np.array(list(rows), dtype=[("event", bool), ("time", float)])
    return X, z + rng.standard_normal(N)


RESPONSES = [Numeric(), Binary(0.5), Counts(1.0), Survival(0.5)]


@pytest.mark.parametrize("response", RESPONSES, ids=lambda one: one.name)
def test_what_is_listed_can_be_run_on_such_data(response):
    """As the code says, arguments of the response included."""
    found = planning.compare_methods(N, P, K, snr=2.0, response=response, fdr=0.3)
    assert {one.method for one in found.predictions} == set(listed(found.study))
    X, y = drawn(response)
    for one in found.predictions:
        if one.settings != "best" or one.method in ("knockoffs-evalues", "knockoffs-pvalues"):
            continue  # the same statistics as of one copy, many times
        selector = eval(one.code, vars(selectors))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # about few rows
            assert selector.set_params(random_state=0).fit(X, y).support_.shape == (P,)


def test_what_is_left_out_cannot_be_run():
    X, y = drawn(Survival(0.5))
    assert set(METHODS) - set(listed(study(Survival(0.5)))) == {"stability-fdr"}
    with pytest.raises(ValueError, match="times of events"):
        selectors.StabilitySelection(fdr=0.1, engine="auto").fit(X, y)


@pytest.mark.parametrize("response", RESPONSES[:3], ids=lambda one: one.name)
def test_all_methods_are_listed_for_the_other_responses(response):
    assert listed(study(response)) == tuple(METHODS)
    names = [name for name, row in METHODS.items() if row.calibrated]
    assert listed(study(response), calibrated=True) == tuple(names)
    assert unlisted(study(response), names) is None


def test_what_is_missing_is_said():
    survival = study(Survival(0.5))
    label = catalogue.method("stability-fdr").label
    assert unlisted(survival, listed(survival)) == (
        f"Not in the table: {label}: it has no p-values for survival times."
    )
    correlated = study(Numeric(), ("ar1", 0.5))
    assert unlisted(correlated, listed(correlated)) == (
        f"Not in the table: {label}: there is no prediction of it for correlated columns."
    )


def test_a_method_that_is_named_and_cannot_be_run_is_an_error():
    with pytest.raises(ValueError, match=r"^methods: 'stability-fdr' is not for survival times"):
        planning.compare_methods(
            N, P, K, snr=2.0, response=Survival(), methods=["knockoffs", "stability-fdr"]
        )
    with pytest.raises(ValueError, match=r"^method: 'stability-fdr' is not for survival times"):
        planning.required_samples(
            0.5, n_features=P, n_signals=K, snr=2.0, response=Survival(), method="stability-fdr"
        )


@pytest.mark.parametrize("response", RESPONSES, ids=lambda one: one.name)
def test_the_recommended_method_is_the_most_powerful_that_keeps_the_level(response):
    found = planning.compare_methods(
        N, P, K, snr=2.0, response=response, fdr=0.3,
        methods=["stability-pfer-unimodal", "stability-pfer"],
    )  # fmt: skip
    kept = [one for one in found.predictions if one.fdr < 0.305]
    assert found.best.power == max(one.power for one in kept)
    assert found.best.code in str(found)
    needed = planning.required_samples(
        0.5, n_features=P, n_signals=K, snr=2.0, response=response, fdr=0.3,
        method=["stability-pfer-unimodal", "stability-pfer"],
    )  # fmt: skip
    assert needed.best.value == min(one.value for one in needed.answers if one.value is not None)
    assert needed.best.prediction.code in str(needed)
