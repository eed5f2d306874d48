"""Probabilities by message passing in the selectors: checked, believed, or replaced by refits."""

from __future__ import annotations

import warnings
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from selica import DerandomizedKnockoffs, StabilitySelection
from selica._core.errors import ArgumentError, ConvergenceWarning, DoesNotApply, RefusedError
from selica.amp import StabilityVamp
from selica.control import benjamini_hochberg
from selica.sampling import simulate
from selica.selectors import AssumptionWarning, UnstableWarning
from selica.selectors.engine import TOLERANCE, checks_needed, decide, error_bound
from tests.amp.instances import rms


@pytest.fixture(scope="module")
def data():
    return simulate(300, 200, 20, snr=4.0, random_state=3)


@pytest.fixture(scope="module")
def correlated():
    return simulate(150, 200, 20, snr=4.0, covariance=("ar1", 0.95), random_state=3)


def fitted(data, cls=StabilitySelection, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return cls(random_state=0, **settings).fit(data.X, data.y)


@pytest.mark.parametrize(
    "settings",
    [{}, {"resample_rate": 2.0}, {"resampling": "pairs"}, {"weakness": 0.5},
     {"resampling": "exponential"}],
)  # fmt: skip
def test_all_engines_agree_on_independent_columns(data, settings):
    settings = {"lam": 0.06, "n_resamples": 600} | settings
    refits = fitted(data, **settings)
    P = refits.selection_probabilities_
    auto = fitted(data, engine="auto", **settings)
    assert auto.fields_ is not None
    assert auto.probability_error_ <= TOLERANCE
    error = rms(np.sqrt(P * (1 - P) / 600))
    assert rms(auto.selection_probabilities_ - P) < np.hypot(error, 0.02)
    alone = fitted(data, engine="semi-analytic", **settings)
    np.testing.assert_array_equal(alone.selection_probabilities_, auto.selection_probabilities_)
    assert alone.probability_error_ is None
    often = P > 0.5
    np.testing.assert_array_equal(auto.signs_[often], refits.signs_[often])


def test_correlated_columns_take_the_vector_form(correlated):
    settings = {"lam": 0.1, "n_resamples": 600}
    P = fitted(correlated, **settings).selection_probabilities_
    auto = fitted(correlated, engine="auto", **settings)
    assert isinstance(auto.fields_, StabilityVamp)
    assert rms(auto.selection_probabilities_ - P) < 0.015
    alone = fitted(correlated, engine="semi-analytic", lam=0.1)
    np.testing.assert_array_equal(alone.selection_probabilities_, auto.selection_probabilities_)


@pytest.mark.parametrize("correlation", [0.0, 0.6])
def test_labels_of_unequal_classes(correlation):
    """The intercept is not penalised, in refits as in message passing."""
    draw = simulate(400, 60, 10, snr=3.0, covariance=("ar1", correlation), random_state=1)
    labels = np.where(draw.y > np.quantile(draw.y, 0.8), "case", "control")
    data = replace(draw, y=labels)
    settings = {"lam": 0.02, "n_resamples": 800}
    P = fitted(data, **settings).selection_probabilities_
    found = fitted(data, engine="semi-analytic", lam=0.02)
    assert found.fields_.converged
    assert found.selection_probabilities_.shape == (60,)
    assert rms(found.selection_probabilities_ - P) < 0.03


def test_refits_take_over_where_message_passing_is_wrong(correlated, monkeypatch):
    monkeypatch.setattr("selica.selectors.engine._COSTLY", 0.0)  # without the vector form
    settings = {"lam": 0.03, "n_resamples": 100}
    auto = fitted(correlated, engine="auto", **settings)
    refits = fitted(correlated, **settings)
    assert auto.fields_ is None
    np.testing.assert_array_equal(auto.selection_probabilities_, refits.selection_probabilities_)
    np.testing.assert_array_equal(auto.signs_, refits.signs_)
    assert "by refits" in str(auto.summary())


def test_a_wrong_answer_is_noticed(data, monkeypatch):
    """Message passing that is off by more than the tolerance is not believed."""
    from selica.selectors import engine

    def liar(honest):
        return lambda X, y, lam, *args, **settings: honest(X, y, 1.3 * lam, *args, **settings)

    for name in ("stability_amp", "stability_vamp"):
        monkeypatch.setattr(engine, name, liar(getattr(engine, name)))
    auto = fitted(data, engine="auto", lam=0.06, n_resamples=200)
    assert auto.fields_ is None
    assert "its probabilities are wrong" in auto.note_
    refits = fitted(data, lam=0.06, n_resamples=200)
    np.testing.assert_array_equal(auto.selection_probabilities_, refits.selection_probabilities_)


def test_copies_without_drawing_them():
    data = simulate(600, 400, 80, snr=4.0, random_state=3)
    settings = {"threshold": 0.8, "sampler": "iid", "lam": 0.04, "n_copies": 200}
    drawn = fitted(data, DerandomizedKnockoffs, **settings)
    P = drawn.selection_probabilities_
    auto = fitted(data, DerandomizedKnockoffs, engine="auto", **settings)
    assert auto.fields_ is not None
    assert 32 <= len(auto.statistics_) < 200
    assert rms(auto.selection_probabilities_ - P) < np.hypot(rms(np.sqrt(P * (1 - P) / 200)), 0.01)
    alone = fitted(data, DerandomizedKnockoffs, engine="semi-analytic", **settings)
    assert len(alone.statistics_) == 0
    np.testing.assert_array_equal(alone.selection_probabilities_, auto.selection_probabilities_)
    chosen = fitted(
        data, DerandomizedKnockoffs, engine="semi-analytic", threshold=0.8, sampler="iid"
    )
    assert chosen.support_[data.support].mean() > 0.4
    assert chosen.support_[~data.support].mean() < 0.2
    assert "all copies" in str(chosen.summary())


def test_copies_are_drawn_where_that_is_wrong(correlated):
    settings = {"threshold": 0.8, "sampler": "iid", "lam": 0.03, "n_copies": 40}
    auto = fitted(correlated, DerandomizedKnockoffs, engine="auto", **settings)
    drawn = fitted(correlated, DerandomizedKnockoffs, **settings)
    assert auto.fields_ is None
    np.testing.assert_array_equal(auto.statistics_, drawn.statistics_)


def test_a_level_determines_the_threshold(data):
    selector = fitted(data, fdr=0.1, engine="auto")
    assert selector.fields_ is not None
    assert selector.guarantee_.level == 0.1
    assert not selector.guarantee_.proven
    assert "close to independent" in str(selector.guarantee_)
    P = selector.selection_probabilities_
    assert selector.threshold_ == P[selector.support_].min()
    false = np.count_nonzero(selector.support_ & ~data.support)
    assert selector.support_.sum() >= 10
    assert false <= 0.3 * selector.support_.sum()
    stricter = fitted(data, fdr=0.01, engine="auto")
    assert stricter.threshold_ >= selector.threshold_


def test_nothing_at_a_level_is_nothing():
    noise = simulate(200, 100, 0, noise_variance=1.0, random_state=1)
    selector = fitted(noise, fdr=0.05, engine="semi-analytic", lam=0.1)
    assert selector.support_.sum() <= 1
    assert "Nothing was selected" in selector.explain() or selector.support_.sum() == 1


@pytest.mark.parametrize(
    ("settings", "words"),
    [({"fdr": 0.1, "engine": "monte-carlo"}, "leave out q, estimator and engine"),
     ({"fdr": 0.1, "engine": "auto", "threshold": 0.6}, "leave out threshold"),
     ({"fdr": 2.0, "engine": "auto"}, "fdr must be"),
     ({"engine": "fast"}, "engine must be one of"),
     ({"engine": "semi-analytic", "q": 3}, "lasso at one penalty"),
     ({"engine": "semi-analytic", "lam": [0.1, 0.2]}, "lasso at one penalty"),
     ({"lam": "power"}, "lam='power' needs engine")],
)  # fmt: skip
def test_settings_that_do_not_go_together(data, settings, words):
    with pytest.raises(ArgumentError, match=words):
        fitted(data, **settings)


def test_a_level_is_refused_where_it_cannot_be_held(correlated):
    with pytest.raises(RefusedError, match="no threshold is known to hold the level"):
        fitted(correlated, fdr=0.1, engine="auto", lam=0.03, l1_ratio=0.5)


def test_auto_refits_what_message_passing_is_not_for(data):
    selector = fitted(data, engine="auto", q=5, n_resamples=20)
    assert selector.fields_ is None
    assert "does not apply" in selector.note_


@pytest.mark.parametrize(
    "settings",
    [{"sampler": "gaussian"}, {"statistic": "entry"}, {"threshold": None, "fdr": 0.1}],
)
def test_knockoffs_that_message_passing_is_not_for(data, settings):
    settings = {"threshold": 0.5, "sampler": "iid", "engine": "semi-analytic"} | settings
    with pytest.raises(DoesNotApply, match="semi-analytic"):
        fitted(data, DerandomizedKnockoffs, **settings)


def test_unchecked_message_passing_warns_of_correlated_columns(correlated):
    selector = StabilitySelection(lam=0.5, fdr=0.1, engine="semi-analytic")
    with pytest.warns(AssumptionWarning, match="columns are correlated"):
        selector.fit(correlated.X, correlated.y)


def test_no_level_without_convergence(correlated):
    selector = StabilitySelection(lam=0.01, fdr=0.1, engine="semi-analytic")
    with pytest.raises(RefusedError, match="did not converge"):
        selector.fit(correlated.X, correlated.y)


def test_message_passing_that_did_not_converge_warns(correlated, monkeypatch):
    monkeypatch.setattr("selica.selectors.engine._TOO_COSTLY", 0.0)  # without the vector form
    selector = StabilitySelection(lam=0.01, engine="semi-analytic")
    with pytest.warns((ConvergenceWarning, AssumptionWarning)) as seen:
        selector.fit(correlated.X, correlated.y)
    assert any("status" in str(w.message) for w in seen)
    assert np.isfinite(selector.selection_probabilities_).all()


def test_constant_columns_and_weights(data):
    X = np.column_stack([np.ones(len(data.y)), data.X])
    weight = np.random.default_rng(0).exponential(size=len(data.y))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        kinds = [
            StabilitySelection(0.06, engine=engine, n_resamples=400, random_state=0).fit(
                X, data.y, weight
            )
            for engine in ("semi-analytic", "monte-carlo")
        ]
    P, refits = (s.selection_probabilities_ for s in kinds)
    assert P[0] == refits[0] == 0.0
    assert rms(P - refits) < 0.04


def bounds(P, truth, trials=200):
    rng = np.random.default_rng(0)
    R = checks_needed(P)
    return np.array([error_bound(P, rng.binomial(R, truth), R) for _ in range(trials)])


@pytest.mark.parametrize("variables", [20, 400])
def test_the_check_sees_errors_and_not_noise(variables):
    rng = np.random.default_rng(1)
    P = rng.uniform(size=variables)
    assert np.mean(bounds(P, P) <= TOLERANCE) > 0.9
    off = np.clip(P + 0.07 * np.sign(rng.standard_normal(variables)), 0.0, 1.0)
    assert np.mean(bounds(P, off) > TOLERANCE) > 0.95
    assert bounds(P, P).min() > 0.0  # an error that was not seen may still be there


def test_the_check_sees_a_single_variable():
    P = np.random.default_rng(2).uniform(size=400)
    P[0] = 0.999
    truth = P.copy()
    truth[0] = 0.6
    assert np.mean(bounds(P, truth) > TOLERANCE) > 0.95


def test_how_many_refits_a_check_takes():
    assert checks_needed(np.array([0.5])) > 1000  # one variable says little
    assert checks_needed(np.zeros(5)) == checks_needed(np.full(10000, 0.5)) == 32


@pytest.mark.parametrize(("off", "believed"), [(0.0, True), (0.08, False)])
def test_all_refits_are_asked_before_message_passing_is_refused(off, believed):
    """Of few refits all counts may be high by chance; an error remains when there are more."""
    P = np.full(400, 0.5)
    fields = SimpleNamespace(converged=True, selection_probabilities=P)
    asked = []

    def refits(members):
        asked.append(members)
        high = off if members == 256 else 0.08
        return np.full(400, round((0.5 + high) * members)), members

    found = decide("auto", [lambda: fields], refits, 256)
    assert asked == [checks_needed(P), 256]
    assert (found.fields is fields) == believed


def test_twins_among_independent_columns_take_the_vector_form():
    data = simulate(300, 300, 20, snr=4.0, random_state=0)
    X = data.X.copy()
    rng = np.random.default_rng(0)
    X[:, 1] = 0.97 * X[:, 0] + np.sqrt(1 - 0.97**2) * rng.standard_normal(300)
    y = data.y + 2.0 * X[:, 0]
    twins = replace(data, X=X, y=y)
    auto = fitted(twins, engine="auto", lam=0.05)
    P = fitted(twins, lam=0.05, n_resamples=1000).selection_probabilities_
    assert isinstance(auto.fields_, StabilityVamp)
    np.testing.assert_allclose(auto.selection_probabilities_[:2], P[:2], atol=0.06)


def test_levels_hold_where_probabilities_are_all_one(data):
    """At a rate near one every member selects the same: fields still tell variables apart."""
    selector = fitted(
        data, fdr=0.1, engine="semi-analytic", resampling="subsample", resample_rate=0.99, lam=0.03
    )
    expected = benjamini_hochberg(selector.fields_.p_values, 0.1)
    assert np.count_nonzero(selector.selection_probabilities_ > 1.0 - 1e-12) > expected.sum()
    np.testing.assert_array_equal(selector.support_, expected)
    assert selector.fields_.expected_false(1.0) > 1.0


def test_pairs_are_halves_whatever_the_rate(data):
    kinds = [
        fitted(data, resampling="pairs", resample_rate=rate, engine="semi-analytic", lam=0.06)
        for rate in (None, 0.5, 1.0)
    ]
    for other in kinds[1:]:
        np.testing.assert_array_equal(
            other.selection_probabilities_, kinds[0].selection_probabilities_
        )


def test_a_level_on_correlated_columns_is_warned_of():
    draw = simulate(500, 300, 30, snr=4.0, covariance=("ar1", 0.5), random_state=2)
    with pytest.warns(AssumptionWarning, match="columns are correlated"):
        StabilitySelection(0.12, fdr=0.1, engine="semi-analytic").fit(draw.X, draw.y)


def test_knockoffs_warn_too(correlated):
    selector = DerandomizedKnockoffs(threshold=0.8, sampler="iid", lam=0.01, engine="semi-analytic")
    with pytest.warns((ConvergenceWarning, AssumptionWarning)) as seen:
        selector.fit(correlated.X, correlated.y)
    told = " ".join(str(w.message) for w in seen)
    assert "columns are correlated" in told
    assert "status" in told


def test_copies_of_weighted_rows_are_drawn(data):
    weight = np.random.default_rng(0).exponential(size=len(data.y))
    selector = DerandomizedKnockoffs(threshold=0.8, sampler="iid", lam=0.06, engine="semi-analytic")
    with pytest.raises(DoesNotApply, match="no sample weights"):
        selector.fit(data.X, data.y, weight)


@pytest.mark.parametrize("cls", [StabilitySelection, DerandomizedKnockoffs])
def test_nothing_that_varies(cls):
    settings = {"threshold": 0.8, "sampler": "iid"} if cls is DerandomizedKnockoffs else {}
    y = np.random.default_rng(0).standard_normal(30)
    with pytest.raises(RefusedError, match="are constant"):
        cls(engine="semi-analytic", lam=0.1, **settings).fit(np.ones((30, 4)), y)


def test_auto_answers_like_refits_where_nothing_varies():
    y = np.random.default_rng(0).standard_normal(30)
    for engine in ("auto", "monte-carlo"):
        found = StabilitySelection(0.1, engine=engine, n_resamples=8).fit(np.ones((30, 4)), y)
        assert not found.support_.any()


def test_labels_with_weights_need_refits(data):
    labels = (data.y > 0).astype(int)
    weight = np.random.default_rng(0).exponential(size=len(labels))
    with pytest.raises(DoesNotApply, match=r"With sample weights, .* for a linear response only"):
        StabilitySelection(0.02, engine="semi-analytic").fit(data.X, labels, weight)


def test_a_penalty_that_message_passing_cannot_choose():
    draw = simulate(100, 120, 10, snr=4.0, covariance=("ar1", 0.97), random_state=0)
    selector = StabilitySelection("power", engine="auto", n_resamples=40, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnstableWarning)
        selector.fit(draw.X, draw.y)
    assert any("cross-validation chose it" in caution for caution in selector.cautions_)
