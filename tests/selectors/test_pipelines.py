"""An empty selection inside a pipeline: a table without columns, and an intercept after it."""

from __future__ import annotations

import warnings

import numpy as np
import pandas
import pytest
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from selica import (
    AggregatedKnockoffs,
    DerandomizedKnockoffs,
    InterceptIfEmpty,
    KnockoffSelection,
    StabilitySelection,
)
from selica.selectors import EmptySelectionWarning

RNG = np.random.default_rng(0)
X = RNG.standard_normal((90, 15))
Y = RNG.standard_normal(90)
LABELS = np.where(RNG.random(90) < 0.4, "ill", "well")
SELECTORS = [
    DerandomizedKnockoffs(fdr=0.1, n_copies=3, random_state=0),
    AggregatedKnockoffs(n_copies=3, random_state=0),
    KnockoffSelection(fdr=0.05, random_state=0),
]
ACCEPTED = {
    "check_estimators_empty_data_messages": "a table without columns is what it is for",
}


@parametrize_with_checks(
    [InterceptIfEmpty(Ridge()), InterceptIfEmpty(LogisticRegression())],
    expected_failed_checks=lambda _: ACCEPTED,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("selector", SELECTORS, ids=lambda one: type(one).__name__)
def test_folds_without_a_selection_have_the_score_of_the_mean(selector):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = cross_val_score(make_pipeline(selector, InterceptIfEmpty(LinearRegression())), X, Y)
    assert not selector.__dict__.get("support_", np.zeros(1)).any()
    np.testing.assert_allclose(found, cross_val_score(DummyRegressor(), X, Y), atol=1e-12)


@pytest.mark.parametrize("scoring", ["accuracy", "roc_auc", "neg_log_loss"])
def test_classes_have_their_shares(scoring):
    model = make_pipeline(SELECTORS[0], InterceptIfEmpty(LogisticRegression()))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = cross_val_score(model, X, LABELS, scoring=scoring)
    expected = cross_val_score(DummyClassifier(strategy="prior"), X, LABELS, scoring=scoring)
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_a_grid_is_searched_over_empty_selections():
    model = make_pipeline(StabilitySelection(random_state=0), InterceptIfEmpty(Ridge()))
    grid = {"stabilityselection__pfer": [0.5, 5.0], "interceptifempty__estimator__alpha": [0.1, 1]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = GridSearchCV(model, grid, cv=3).fit(X, Y)
    assert np.isfinite(found.cv_results_["mean_test_score"]).all()


def test_a_warning_says_what_to_do_and_what_comes_out():
    selector = SELECTORS[0].fit(X, Y)
    with pytest.warns(EmptySelectionWarning, match=r"put selica\.InterceptIfEmpty around it"):
        assert selector.transform(X).shape == (90, 0)
    frame = pandas.DataFrame(X).add_prefix("gene ")
    named = SELECTORS[0].set_output(transform="pandas").fit(frame, Y)
    with pytest.warns(EmptySelectionWarning):
        found = named.transform(frame)
    assert found.shape == (90, 0)
    assert found.index.equals(frame.index)


def test_with_columns_it_is_the_estimator_itself():
    model, plain = InterceptIfEmpty(Ridge(alpha=2.0)), Ridge(alpha=2.0)
    weight = RNG.random(90)
    model.fit(X, Y, sample_weight=weight)
    np.testing.assert_array_equal(
        model.predict(X), plain.fit(X, Y, sample_weight=weight).predict(X)
    )
    assert not model.empty_
    assert model.n_features_in_ == 15


def test_weights_count_for_the_mean():
    weight = RNG.random(90)
    model = InterceptIfEmpty(LinearRegression()).fit(X[:, :0], Y, sample_weight=weight)
    assert model.predict(X[:2, :0]) == pytest.approx(np.average(Y, weights=weight))
    assert model.empty_
