"""Selectors of elastic nets: against scikit-learn, over all engines, and what is refused."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import ElasticNet, Lasso

from selica import (
    AggregatedKnockoffs,
    Bolasso,
    DerandomizedKnockoffs,
    KnockoffSelection,
    LassoSelection,
    StabilitySelection,
)
from selica._core.errors import ArgumentError
from selica._core.random import child, seed_sequence
from selica.sampling import GaussianKnockoffs, iid_copies, resample_weights, simulate
from selica.selectors.engine import TOLERANCE
from selica.selectors.stability import ROWS
from selica.statistics import cross_validate, knockoff_statistic, make_data
from selica.statistics.cross_validation import folds
from selica.statistics.data import beside, ridge_of_ratio
from tests.amp.instances import rms

DATA = simulate(120, 30, 6, snr=5.0, covariance=("ar1", 0.6), random_state=0)


def fitted(cls=StabilitySelection, data=DATA, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return cls(random_state=0, **settings).fit(data.X, data.y)


def peer(X, y, lam, l1_ratio, weight=None):
    net = ElasticNet(alpha=lam / l1_ratio, l1_ratio=l1_ratio, tol=1e-12, max_iter=200_000)
    return net.fit(X, y, sample_weight=weight)


def standard(X):
    return (X - X.mean(axis=0)) / X.std(axis=0)


@pytest.mark.parametrize("l1_ratio", [0.9, 0.3])
def test_probabilities_are_those_of_a_loop_over_scikit_learn(l1_ratio):
    selector = fitted(lam=0.15, l1_ratio=l1_ratio, n_resamples=30)
    X, y = standard(DATA.X), standard(DATA.y)
    weights = resample_weights(120, 30, random_state=child(seed_sequence(0), ROWS))
    counts = sum(peer(X, y, 0.15, l1_ratio, row).coef_ != 0.0 for row in weights)
    np.testing.assert_array_equal(selector.selection_probabilities_, counts / 30)
    plain = fitted(lam=0.15, n_resamples=30)
    assert np.any(plain.selection_probabilities_ != selector.selection_probabilities_)


def test_one_fit_is_that_of_scikit_learn():
    selector = fitted(LassoSelection, lam=0.1, l1_ratio=0.4)
    X, y = standard(DATA.X), standard(DATA.y)
    net = peer(X, y, 0.1, 0.4)
    np.testing.assert_allclose(
        selector.coef_ * DATA.X.std(axis=0) / DATA.y.std(), net.coef_, atol=2e-4
    )
    np.testing.assert_array_equal(selector.support_, net.coef_ != 0.0)


def test_cross_validation_honours_the_ratio():
    data = make_data(DATA.X, DATA.y, "squared")._replace(l1_ratio=0.5)
    penalties = np.array([0.3, 0.1, 0.03])
    found = cross_validate(
        data, np.random.default_rng(0), n_folds=5, penalties=penalties, tol=1e-10
    )
    place = folds(data, 5, np.random.default_rng(0))
    error = np.zeros(3)
    for k in range(5):
        out = place == k
        for j, lam in enumerate(penalties):
            net = peer(data.X[~out], data.y[~out], lam, 0.5)
            error[j] += np.sum((data.y[out] - net.predict(data.X[out])) ** 2) / 120
    np.testing.assert_allclose(found.error, error, rtol=1e-5)
    chosen = fitted(LassoSelection, l1_ratio=0.5).lam_
    same = cross_validate(data, np.random.default_rng(0))
    assert chosen in same.penalties
    assert chosen != fitted(LassoSelection).lam_


def test_knockoff_statistics_are_those_of_scikit_learn():
    data = make_data(DATA.X, DATA.y, "squared")._replace(l1_ratio=0.5)
    copy = iid_copies(data.X, random_state=1, members=1)[0]
    rng = np.random.default_rng(0)
    W = knockoff_statistic(data, copy, rng, penalty=0.05)
    net = np.abs(peer(beside(data, copy).X, data.y, 0.05, 0.5).coef_)
    np.testing.assert_allclose(W, net[:30] - net[30:], atol=2e-4)
    # exchanging a variable with its copy changes the sign, also where the penalty is chosen
    for settings in ({"penalty": 0.05}, {}, {"statistic": "entry"}):
        ahead = knockoff_statistic(data, copy, np.random.default_rng(0), **settings)
        swapped = data._replace(X=standard(copy))
        behind = knockoff_statistic(swapped, data.X, np.random.default_rng(0), **settings)
        np.testing.assert_allclose(ahead, -behind, atol=2e-4)
        assert np.any(ahead != knockoff_statistic(
            data._replace(l1_ratio=1.0), copy, np.random.default_rng(0), **settings
        ))  # fmt: skip


@pytest.mark.parametrize(
    "cls", [KnockoffSelection, DerandomizedKnockoffs, AggregatedKnockoffs, Bolasso]
)
def test_every_selector_takes_the_ratio(cls):
    settings = {KnockoffSelection: {}, Bolasso: {"n_resamples": 10}}.get(cls, {"n_copies": 3})
    settings = settings | {"lam": 0.05}
    selector = fitted(cls, l1_ratio=0.5, **settings)
    assert clone(selector).get_params()["l1_ratio"] == 0.5
    plain = fitted(cls, **settings)
    name = "selection_probabilities_" if cls is Bolasso else "statistics_"
    assert np.any(getattr(selector, name) != getattr(plain, name))
    assert str(selector.guarantee_) == str(plain.guarantee_)


@pytest.mark.parametrize("correlation", [0.0, 0.8])
@pytest.mark.parametrize("labels", [False, True])
def test_all_engines_agree(correlation, labels):
    draw = simulate(300, 80, 12, snr=4.0, covariance=("ar1", correlation), random_state=3)
    y = np.where(draw.y > np.quantile(draw.y, 0.7), "case", "control") if labels else draw.y
    data = replace(draw, y=y)
    lam = 0.03 if labels else 0.08
    settings = {"lam": lam, "l1_ratio": 0.15, "n_resamples": 600}
    P = fitted(data=data, **settings).selection_probabilities_
    auto = fitted(data=data, engine="auto", **settings)
    assert auto.fields_ is not None
    assert auto.probability_error_ <= TOLERANCE
    error = rms(np.sqrt(P * (1 - P) / 600))
    assert rms(auto.selection_probabilities_ - P) < np.hypot(error, 0.02)
    alone = fitted(data=data, engine="semi-analytic", **settings)
    np.testing.assert_array_equal(alone.selection_probabilities_, auto.selection_probabilities_)
    lasso = fitted(data=data, engine="semi-analytic", lam=lam)
    assert rms(lasso.selection_probabilities_ - P) > 0.05


def test_engines_agree_on_copies():
    data = simulate(300, 60, 12, snr=4.0, random_state=3)
    settings = {"threshold": 0.6, "sampler": "iid", "lam": 0.05, "l1_ratio": 0.4, "n_copies": 200}
    refits = fitted(DerandomizedKnockoffs, data, **settings)
    found = fitted(DerandomizedKnockoffs, data, engine="semi-analytic", **settings)
    P = refits.selection_probabilities_
    error = rms(np.sqrt(P * (1 - P) / 200))
    assert rms(found.selection_probabilities_ - P) < np.hypot(error, 0.02)
    assert found.fields_.lam2 == pytest.approx(0.05 * 300 * 1.5)


def test_a_level_by_message_passing():
    """The fields of irrelevant variables keep their law, so that p-values keep theirs."""
    false, chosen = 0, 0
    for seed in range(12):
        data = simulate(300, 150, 20, snr=2.0, random_state=seed)
        selector = fitted(data=data, fdr=0.2, engine="semi-analytic", l1_ratio=0.5)
        assert np.count_nonzero(selector.support_ & data.support) >= 8
        false += np.count_nonzero(selector.support_ & ~data.support)
        chosen += np.count_nonzero(selector.support_)
    assert 0.05 < false / chosen < 0.3


def test_the_first_variables_of_a_path():
    settings = {"resampling": "pairs", "q": 4, "n_resamples": 40}
    selector, plain = fitted(l1_ratio=0.3, **settings), fitted(**settings)
    assert selector.mean_selected_ <= 4.0
    assert np.any(selector.selection_probabilities_ != plain.selection_probabilities_)


@pytest.mark.parametrize(
    ("cls", "settings", "words"),
    [
        (StabilitySelection, {"l1_ratio": 0.0}, "l1_ratio must be between"),
        (StabilitySelection, {"l1_ratio": 1.5}, "l1_ratio must be between"),
        (LassoSelection, {"l1_ratio": "half"}, "l1_ratio must be a number"),
        (LassoSelection, {"l1_ratio": 0.5, "lam": "theory"}, "lam='theory' is for the lasso"),
        (StabilitySelection, {"l1_ratio": 0.5, "estimator": Lasso()}, "leave it out"),
        (KnockoffSelection, {"l1_ratio": 0.5, "statistic": "correlation"}, "fits none"),
    ],
)
def test_what_is_refused(cls, settings, words):
    with pytest.raises(ArgumentError, match=words):
        fitted(cls, **settings)


def test_the_unit_of_the_ridge():
    assert ridge_of_ratio(3.0, 0.25).item() == pytest.approx(9.0)
    lam, lam2 = 2.0, ridge_of_ratio(2.0, 0.4).item()
    n, alpha = 50, 2.0 / 0.4 / 50
    assert lam == pytest.approx(n * alpha * 0.4)
    assert lam2 == pytest.approx(n * alpha * 0.6)


@pytest.mark.slow
def test_promises_hold_for_elastic_nets():
    """Knockoffs with the law of the columns known, and bounds of stability selection."""
    shares, counts = [], []
    for seed in range(200):
        data = simulate(150, 40, 15, snr=1.5, covariance=("ar1", 0.5), random_state=seed)
        law = GaussianKnockoffs(np.zeros(40), data.covariance.matrix())
        chosen = fitted(KnockoffSelection, data, fdr=0.2, sampler=law, l1_ratio=0.3).support_
        shares.append(np.count_nonzero(chosen & ~data.support) / max(chosen.sum(), 1))
        chosen = fitted(
            data=data, pfer=1.0, threshold=0.7, resampling="pairs", n_resamples=50, l1_ratio=0.3
        ).support_
        counts.append(np.count_nonzero(chosen & ~data.support))
    for values, level in ((shares, 0.2), (counts, 1.0)):
        error = np.std(values) / np.sqrt(200)
        assert 0.0 < np.mean(values) < level + 3.0 * error
