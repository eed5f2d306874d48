"""The contract of scikit-learn, by its own checks."""

from __future__ import annotations

import warnings

import numpy as np
import pandas
import polars
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from selica import (
    AggregatedKnockoffs,
    AutoSelection,
    Bolasso,
    DataSplitting,
    DerandomizedKnockoffs,
    IntegratedStability,
    KnockoffSelection,
    LassoSelection,
    StabilitySelection,
)
from selica.sampling import simulate
from selica.theory import PointEffects

ESTIMATORS = [
    LassoSelection(),
    LassoSelection(l1_ratio=0.5),
    AutoSelection(n_resamples=10),
    StabilitySelection(n_resamples=40),
    StabilitySelection(lam="cv", n_resamples=8),
    StabilitySelection(resampling="pairs", q=1, n_resamples=8),
    IntegratedStability(n_resamples=20),
    Bolasso(n_resamples=8),
    KnockoffSelection(fdr=0.5),
    DerandomizedKnockoffs(n_copies=2, fdr=0.5),
    AggregatedKnockoffs(n_copies=2, fdr=0.5),
    DataSplitting(n_splits=2, fdr=0.5),
]


# A weight is not a repeated row to a method that draws rows, or puts them into folds.
WEIGHTS = {
    f"check_sample_weight_equivalence_on_{kind}_data": "rows are resampled or put into folds; a "
    "repeated row can be drawn twice or lie in two folds, a weighted one cannot"
    for kind in ("dense", "sparse")
}


@parametrize_with_checks(
    ESTIMATORS,
    expected_failed_checks=lambda e: {} if isinstance(e, DataSplitting) else WEIGHTS,
)
def test_scikit_learn_checks(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(estimator)


DATA = simulate(120, 20, 8, snr=20.0, random_state=3)


def fitted(estimator, X=DATA.X, y=DATA.y, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return clone(estimator).set_params(random_state=0, **settings).fit(X, y)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
def test_the_same_seed_gives_the_same_selection_for_any_number_of_workers(estimator):
    first = fitted(estimator)
    names = [
        n for n in ("selection_probabilities_", "statistics_", "support_") if hasattr(first, n)
    ]
    for settings in ({}, {"n_jobs": 1}, {"n_jobs": 2}):
        if settings and "n_jobs" not in estimator.get_params():
            continue
        again = fitted(estimator, **settings)
        for name in names:
            np.testing.assert_array_equal(getattr(again, name), getattr(first, name))


RESAMPLING = [e for e in ESTIMATORS if not hasattr(e, "sampler")]


@pytest.mark.parametrize("estimator", RESAMPLING, ids=repr)
def test_permuting_columns_permutes_the_result(estimator):
    order = np.random.default_rng(0).permutation(20)
    first, again = fitted(estimator), fitted(estimator, DATA.X[:, order])
    np.testing.assert_array_equal(again.support_, first.support_[order])
    if hasattr(first, "selection_probabilities_"):
        expected = first.selection_probabilities_[order]
        np.testing.assert_array_equal(again.selection_probabilities_, expected)


@pytest.mark.parametrize("estimator", RESAMPLING, ids=repr)
def test_signs_and_units_of_columns_do_not_matter(estimator):
    scale = np.where(np.arange(20) % 2, -1.0, 1.0) * 10.0 ** np.linspace(-3, 3, 20)
    first, again = fitted(estimator), fitted(estimator, DATA.X * scale + 5.0)
    np.testing.assert_array_equal(again.support_, first.support_)
    if hasattr(first, "selection_probabilities_"):
        np.testing.assert_array_equal(
            again.selection_probabilities_, first.selection_probabilities_
        )


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
def test_units_of_the_response_do_not_matter(estimator):
    first, again = fitted(estimator), fitted(estimator, y=1e3 * DATA.y - 7.0)
    np.testing.assert_array_equal(again.support_, first.support_)


@pytest.mark.parametrize("library", [pandas, polars], ids=lambda library: library.__name__)
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
def test_names_in_names_out_and_a_summary_to_read(estimator, library):
    names = [f"gene {j}" for j in range(20)]
    table = library.DataFrame(dict(zip(names, DATA.X.T, strict=True)))
    selector = fitted(estimator, table, library.Series(DATA.y))
    np.testing.assert_array_equal(selector.support_, fitted(estimator).support_)
    chosen = list(selector.get_feature_names_out())
    assert chosen == [n for n, s in zip(names, selector.support_, strict=True) if s]
    out = selector.set_output(transform=library.__name__).transform(table)
    assert isinstance(out, library.DataFrame)
    assert list(out.columns) == chosen
    np.testing.assert_array_equal(out.to_numpy(), DATA.X[:, selector.support_])
    summary = selector.summary()
    frame = summary.to_frame()
    assert set(frame["variable"]) == set(names)
    assert set(frame.loc[frame["selected"], "variable"]) == set(chosen)
    assert str(selector.guarantee_) in str(summary)
    for name in chosen:
        assert name in str(summary)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
def test_strong_signals_are_found(estimator):
    easy = simulate(300, 20, 8, snr=200.0, effects=PointEffects(), random_state=1)
    selector = fitted(estimator, easy.X, easy.y)
    if estimator.get_params().get("q"):
        assert (easy.support >= selector.support_).all()
        return
    assert np.count_nonzero(selector.support_ & easy.support) >= 7


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
def test_two_classes_are_a_binary_response(estimator):
    data = simulate(200, 10, 3, response="logistic", effects=PointEffects(), random_state=2)
    numbers = fitted(estimator, 3.0 * data.X, data.y)
    words = fitted(estimator, 3.0 * data.X, np.where(data.y == 1, "yes", "no"))
    np.testing.assert_array_equal(numbers.support_, words.support_)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
@pytest.mark.parametrize(
    ("X", "y", "word"),
    [
        (np.full((30, 3), np.nan), np.arange(30.0), "NaN"),
        (np.full((30, 3), np.inf), np.arange(30.0), r"infinite \(inf\)"),
        (np.ones((30, 3)), np.ones(30), "y is constant"),
        (np.ones((1, 3)), np.ones(1), "minimum of 2"),
        (np.ones((0, 3)), np.ones(0), "minimum of 2"),
        (np.eye(30)[:, :3], np.arange(29.0), "inconsistent numbers of samples"),
        (np.array([["a"] * 3] * 30), np.arange(30.0), "not numbers"),
        (np.eye(30)[:, :3], np.arange(30).astype(str), "y has 30 different values in 30 rows"),
        (np.eye(30)[:, :3], np.full(30, np.nan), "NaN"),
    ],
)
def test_bad_tables_are_one_clear_sentence(estimator, X, y, word):
    with pytest.raises(ValueError, match=word):
        fitted(estimator, X, y)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
def test_constant_and_duplicate_columns(estimator):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 6))
    X[:, 1] = 3.0
    X[:, 2] = X[:, 0]
    y = X[:, 0] + 0.1 * rng.standard_normal(60)
    settings = {"sampler": "iid"} if hasattr(estimator, "sampler") else {}
    selector = fitted(estimator, X, y, **settings)
    assert not selector.support_[1]


@pytest.mark.parametrize(
    ("p", "said"), [(7, "... and 1 more variable"), (8, "... and 2 more variables")]
)
def test_what_a_summary_does_not_show_is_counted_in_words(p, said):
    X = np.random.default_rng(0).standard_normal((60, p))
    y = 3.0 * X[:, 0] + np.random.default_rng(1).standard_normal(60)
    lines = LassoSelection(lam=0.8).fit(X, y).summary().listing().splitlines()
    assert said in lines
