"""Knockoff selectors: rules, samplers, promises."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter
from sklearn.base import clone
from sklearn.covariance import OAS
from sklearn.linear_model import Ridge

from selica import AggregatedKnockoffs, DataSplitting, DerandomizedKnockoffs, KnockoffSelection
from selica._core import memory
from selica._core.errors import ArgumentError, DoesNotApply, RefusedError
from selica._core.losses import loss_of
from selica._core.random import child
from selica.control import (
    averaged_level,
    ebh,
    frequency_bound,
    knockoff_threshold,
    posthoc_evalues,
)
from selica.reports.account import used_by
from selica.sampling import FixedKnockoffs, GaussianKnockoffs, simulate
from selica.selectors import AssumptionWarning
from selica.selectors.base import FILLED_IN
from selica.selectors.statistic_choice import statistic_choice
from selica.statistics import knockoff_statistic, make_data

DATA = simulate(200, 25, 10, snr=10.0, covariance=("ar1", 0.3), random_state=0)
KNOWN = GaussianKnockoffs(0.0, DATA.covariance)
INDEPENDENT = simulate(200, 25, 10, snr=10.0, random_state=0)
SELECTORS = [
    KnockoffSelection(0.2, lam=0.1),
    DerandomizedKnockoffs(0.2, n_copies=3, lam=0.1),
    DerandomizedKnockoffs(pfer=1.0, n_copies=3, lam=0.1),
    DerandomizedKnockoffs(kfwer=(2, 0.2), n_copies=3, lam=0.1),
    AggregatedKnockoffs(0.2, n_copies=3, lam=0.1),
]
RULES = ["one copy", "e-values", "PFER", "k-FWER", "p-values"]
LEDOIT_WOLF = GaussianKnockoffs(covariance="ledoit_wolf")


def smooth_fields(n, shape, width, seed):
    noise = np.random.default_rng(seed).standard_normal((n, *shape))
    return gaussian_filter(noise, (0, width, width)).reshape(n, -1)


def heard(selector, X, y):
    """Warnings of a fit."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        selector.fit(X, y)
    return [str(w.message) for w in caught]


def test_the_filter_is_applied_to_the_statistics():
    selector = KnockoffSelection(0.3, sampler=KNOWN, random_state=1).fit(DATA.X, DATA.y)
    cut = knockoff_threshold(selector.statistics_, 0.3)
    np.testing.assert_array_equal(selector.support_, selector.statistics_ >= cut)
    assert selector.guarantee_.proven
    assert selector.guarantee_.level == 0.3


@pytest.mark.parametrize("sampler", ["gaussian", "fixed", "iid", GaussianKnockoffs(None, OAS()),
                                     lambda X, rng: rng.standard_normal(X.shape)])  # fmt: skip
def test_samplers(sampler):
    data = INDEPENDENT
    selector = KnockoffSelection(0.3, sampler=sampler, random_state=1).fit(data.X, data.y)
    assert selector.statistics_.shape == (25,)
    assert selector.statistics_[data.support].mean() > selector.statistics_[~data.support].mean()
    estimated = sampler == "gaussian" or isinstance(sampler, GaussianKnockoffs)
    assert selector.guarantee_.proven == (not estimated)


def test_evalues_are_averaged_over_copies():
    selector = DerandomizedKnockoffs(0.4, n_copies=8, sampler=KNOWN, random_state=1)
    selector.fit(DATA.X, DATA.y)
    each = [posthoc_evalues(w, 0.2) for w in selector.statistics_]
    np.testing.assert_allclose(selector.evalues_, np.mean(each, axis=0))
    # the harmonic mean of 0.4 and 8 times 0.2 is above one half
    np.testing.assert_array_equal(selector.support_, ebh(np.mean(each, axis=0), 0.5))


@pytest.mark.parametrize(("copies", "level"), [(10, 1 / 6), (2, 0.1)])
def test_a_promise_says_what_is_kept_without_its_condition(copies, level):
    found = DerandomizedKnockoffs(0.1, n_copies=copies, sampler=KNOWN, lam=0.1, random_state=0)
    promise = found.fit(DATA.X, DATA.y).guarantee_
    condition = "among irrelevant variables high e-values are rarer than low ones"
    raised = copies > 2
    assert promise.proven != raised
    assert promise.level == 0.1
    assert promise.assumptions.endswith(condition) == raised
    assert promise.source.startswith("e-values: Ren and Barber 2024; level") == raised
    said = (
        f"If high e-values are not rarer, it is at most {100 * level:.3g} %; this is proven if the "
        "other conditions hold, and so is 10 % if this method is asked for 5 %."
    )
    assert promise.settings == (said if raised else "")
    # what is said after the fit does not need it
    assert condition not in found.posthoc().guarantee.assumptions
    assert found.posthoc().guarantee.proven


@pytest.mark.parametrize("level", [0.05, 0.1, 0.3, 0.6])
@pytest.mark.parametrize("own", [None, 0.2])
def test_half_of_a_level_keeps_it_whatever_the_evalues_look_like(level, own):
    half = DerandomizedKnockoffs(0.5 * level, n_copies=40, copy_fdr=own, sampler=KNOWN, lam=0.1,
                                 random_state=0).fit(DATA.X, DATA.y)  # fmt: skip
    assert half._raised_level_of_fit <= level
    np.testing.assert_array_equal(
        half.support_, ebh(half.evalues_, averaged_level(0.5 * level, own or 0.25 * level, 40))
    )


def test_what_is_kept_without_the_condition_is_not_proven_with_values_filled_in():
    X = DATA.X.copy()
    X[0, 0] = np.nan
    found = DerandomizedKnockoffs(0.1, n_copies=10, sampler=KNOWN, lam=0.1, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        promise = found.fit(X, DATA.y, missing="impute").guarantee_
    assert promise.assumptions.endswith(FILLED_IN)
    assert promise.settings == (
        "If high e-values are not rarer, it is at most 16.7 %, and at most 10 % if this method is "
        "asked for 5 %."
    )


def test_the_same_copy_many_times_is_one_copy():
    data = INDEPENDENT
    copy = np.random.default_rng(3).standard_normal(data.X.shape)
    found = DerandomizedKnockoffs(
        0.3, n_copies=20, sampler=lambda X, rng: copy, lam=0.1, random_state=0
    ).fit(data.X, data.y)
    assert "e-values" not in found.guarantee_.assumptions
    np.testing.assert_array_equal(found.support_, ebh(found.evalues_, 0.3))


def test_the_rule_of_the_article():
    selector = DerandomizedKnockoffs(threshold=0.5, w_threshold=0.02, n_copies=9, sampler="iid",
                                     random_state=0).fit(DATA.X, DATA.y)  # fmt: skip
    votes = np.count_nonzero(selector.statistics_ > 0.02, axis=0)
    np.testing.assert_array_equal(selector.selection_probabilities_, votes / 9)
    np.testing.assert_array_equal(selector.support_, votes >= 5)
    assert selector.guarantee_.level is None


def test_a_single_copy_more_or_less_does_not_change_the_earlier_ones():
    few = DerandomizedKnockoffs(0.3, n_copies=3, sampler=KNOWN, random_state=1)
    more = DerandomizedKnockoffs(0.3, n_copies=5, sampler=KNOWN, random_state=1)
    W = few.fit(DATA.X, DATA.y).statistics_
    np.testing.assert_array_equal(W, more.fit(DATA.X, DATA.y).statistics_[:3])


def test_copies_that_move_along_with_their_columns():
    """Permuted and flipped columns with copies to match give permuted statistics."""
    order = np.random.default_rng(0).permutation(25)
    flip = np.where(np.arange(25) % 2, -1.0, 1.0)
    copy = KNOWN.sample(DATA.X, random_state=3)
    first = KnockoffSelection(0.3, sampler=lambda X, rng: copy, random_state=0)
    again = KnockoffSelection(0.3, sampler=lambda X, rng: (copy * flip)[:, order], random_state=0)
    W = first.fit(DATA.X, DATA.y).statistics_
    moved = again.fit((DATA.X * flip)[:, order], DATA.y).statistics_
    np.testing.assert_allclose(moved, W[order], atol=1e-9)


def test_nothing_selected_is_explained():
    rng = np.random.default_rng(0)
    selector = KnockoffSelection(0.1, sampler="iid", random_state=0)
    selector.fit(rng.standard_normal((60, 12)), rng.standard_normal(60))
    assert not selector.support_.any()
    assert "at least 10 variables" in selector.explain()
    assert "at least 10 variables" in str(selector.summary())


def test_weak_assumptions_are_announced():
    X = np.round(DATA.X)
    few = KnockoffSelection(0.3, sampler="gaussian", random_state=0).fit(X, DATA.y)
    assert any("few values" in caution for caution in few.cautions_)
    wide = simulate(30, 60, 5, snr=5.0, random_state=0)
    thin = KnockoffSelection(0.3, random_state=0).fit(wide.X, wide.y)
    assert any("60 columns is estimated from 30 rows" in caution for caution in thin.cautions_)
    assert not thin._noticed  # nobody can settle it
    constant = DATA.X.copy()
    constant[:, 3] = 1.0
    known = KnockoffSelection(0.3, sampler=KNOWN, random_state=0, lam=0.1).fit(constant, DATA.y)
    assert any("x3" in caution for caution in known.cautions_)


@pytest.mark.parametrize(
    ("settings", "word"),
    [
        ({"fdr": 0.1, "pfer": 1.0}, "one of fdr"),
        ({"fdr": 0.1, "threshold": 0.5}, "threshold"),
        ({"kfwer": 3}, "kfwer"),
        ({"kfwer": (0, 0.1)}, "kfwer"),
        ({"pfer": -1.0}, "pfer"),
        ({"fdr": 2.0}, "fdr"),
        ({"n_copies": 0}, "n_copies"),
        ({"sampler": "vine"}, "sampler"),
        ({"sampler": 7}, "sampler"),
        ({"statistic": "p"}, "statistic"),
        ({"lam": "theory"}, "lam"),
        ({"lam": -1.0}, "lam"),
        ({"sampler": lambda X, rng: X[:, :2]}, "sampler"),
    ],
)
def test_bad_settings(settings, word):
    selector = DerandomizedKnockoffs(**{"n_copies": 2, "random_state": 0} | settings)
    with pytest.raises(ArgumentError, match=word):
        selector.fit(DATA.X, DATA.y)


def test_a_level_below_one_asks_for_more_copies_not_for_silence():
    """With half of the copies nine of ten of them were made to select nothing."""
    settings = {"n_copies": 30, "sampler": KNOWN, "random_state": 0}
    selector = DerandomizedKnockoffs(kfwer=(1, 0.1), **settings).fit(DATA.X, DATA.y)
    assert selector.threshold_ == 1.0
    assert selector.negatives_ > 1.0
    assert selector.support_.any()
    found = DerandomizedKnockoffs(pfer=0.5, **settings).fit(DATA.X, DATA.y)
    assert (
        frequency_bound(30, found.threshold_)
        <= 0.5
        < frequency_bound(30, found.threshold_ - 1.0 / 30.0)
    )
    assert DerandomizedKnockoffs(pfer=1.0, **settings).fit(DATA.X, DATA.y).threshold_ == 0.5


@pytest.mark.parametrize(
    "selector",
    [
        AggregatedKnockoffs(0.01, n_copies=8),
        DataSplitting(0.02, n_splits=8),
    ],
    ids=lambda selector: type(selector).__name__,
)
def test_the_level_named_for_an_empty_list_selects_as_many(selector):
    """The note named 0.383 where 0.15 selects fourteen: the levels of the copies move too."""
    selector.set_params(random_state=0).fit(DATA.X, DATA.y)
    assert not selector.support_.any()
    level, many = re.search(
        r"(?:FDR|level) ([0-9.]+) would select (\d+) var", selector.explain()
    ).groups()
    selector.set_params(fdr=float(level)).fit(DATA.X, DATA.y)
    assert selector.support_.sum() == int(many)


def test_the_number_of_false_selections_named_for_an_empty_list_selects_as_many():
    noise = simulate(200, 25, 0, noise_variance=1.0, covariance=("ar1", 0.3), random_state=5)
    settings = {"n_copies": 8, "lam": 0.02, "sampler": KNOWN, "random_state": 0}
    selector = DerandomizedKnockoffs(pfer=1.0, **settings)
    selector.fit(noise.X, noise.y)
    assert not selector.support_.any()
    level, many = re.search(r"PFER ([0-9.]+) would select (\d+) var", selector.explain()).groups()
    selector.set_params(pfer=float(level)).fit(noise.X, noise.y)
    assert selector.support_.sum() == int(many)


def test_a_level_that_silences_copies_names_the_copies_it_needs():
    settings = {"sampler": KNOWN, "lam": 0.05, "random_state": 0}
    few = DerandomizedKnockoffs(pfer=0.02, n_copies=20, **settings).fit(DATA.X, DATA.y)
    assert not few.support_.any()
    assert "with n_copies=99 every copy is" in few.explain()
    enough = DerandomizedKnockoffs(pfer=0.02, n_copies=99, **settings).fit(DATA.X, DATA.y)
    assert enough.negatives_ >= 1.0


def test_a_table_too_wide_for_the_memory_is_refused_at_once(monkeypatch):
    """200 x 20,000 was ended by the system at 13 GB, without a word."""
    monkeypatch.setattr(memory, "available", lambda: 20e9)
    X = np.random.default_rng(0).standard_normal((5, 20_000))
    with pytest.raises(RefusedError, match=r"20,000 columns would need about 33.6 GB .* 20 GB"):
        KnockoffSelection().fit(X, np.arange(5.0))


def test_a_second_fit_by_another_rule_forgets_the_first():
    selector = DerandomizedKnockoffs(0.5, n_copies=4, sampler=KNOWN, random_state=0)
    assert "e-value" in selector.fit(DATA.X, DATA.y).summary().variables.columns
    selector.set_params(fdr=None, pfer=2.0).fit(DATA.X, DATA.y)
    assert "probability" in selector.summary().variables.columns
    assert selector.evalues_ is None


def test_aggregation_says_what_its_theorem_says():
    selector = AggregatedKnockoffs(0.1, n_copies=4, sampler=KNOWN, random_state=0)
    guarantee = selector.fit(DATA.X, DATA.y).guarantee_
    assert guarantee.level == pytest.approx(0.323, abs=1e-3)  # 3.23 times the level
    assert selector.pvalues_.shape == (25,)


def test_a_level_that_cannot_be_reached_is_announced():
    few = simulate(60, 6, 3, snr=10.0, random_state=0)
    for selector in (KnockoffSelection(0.1), DerandomizedKnockoffs(0.1, n_copies=2)):
        selector.set_params(sampler="iid", random_state=0)
        with pytest.warns(AssumptionWarning, match="at least 10 variables, and there are 6"):
            selector.fit(few.X, few.y)


def test_columns_that_are_nearly_the_same_are_announced():
    X = DATA.X.copy()
    X[:, 4] = -2.0 * X[:, 9] + 1.0
    found = KnockoffSelection(0.3, sampler="iid", random_state=0)
    assert not any("x4 and x9" in text for text in heard(found, X, DATA.y))
    assert any("x4 and x9" in text for text in found.cautions_)


def test_constant_columns_need_no_copy():
    X = DATA.X.copy()
    X[:, 3] = 2.0
    selector = KnockoffSelection(0.3, random_state=0).fit(X, DATA.y)
    assert selector.cautions_ == ("Constant columns are never selected: x3.",)
    assert selector.statistics_[3] == 0.0
    assert np.count_nonzero(selector.statistics_) > 5


@pytest.mark.parametrize("sampler", ["fixed", "iid"])
def test_weights_of_the_rows_of_a_fixed_design_are_not_proven(sampler):
    data = simulate(120, 10, 3, snr=3.0, random_state=0)
    selector = KnockoffSelection(0.5, sampler=sampler, statistic="correlation", random_state=0)
    equal = selector.fit(data.X, data.y, sample_weight=np.full(120, 2.0)).guarantee_
    assert equal.proven
    weighted = selector.fit(data.X, data.y, sample_weight=np.linspace(0.5, 2.0, 120)).guarantee_
    assert weighted.proven == (sampler == "iid")
    assert ("rows have different weights" in weighted.assumptions) == (sampler == "fixed")


def test_fixed_copies_are_for_a_centred_linear_response():
    with pytest.raises(DoesNotApply, match="continuous"):
        KnockoffSelection(0.3, sampler=FixedKnockoffs(intercept=True)).fit(DATA.X, DATA.y > 0)
    with pytest.raises(ArgumentError, match="intercept"):
        KnockoffSelection(0.3, sampler=FixedKnockoffs()).fit(DATA.X, DATA.y)
    selector = KnockoffSelection(0.3, sampler=FixedKnockoffs(intercept=True), random_state=0)
    selector.set_params(statistic="coefficient")
    assert "linear" in selector.fit(DATA.X, DATA.y).guarantee_.assumptions
    assert not selector.guarantee_.proven  # the folds of the penalty look at single rows
    for settings in (
        {"lam": 0.1}, {"statistic": "auto"}, {"statistic": "entry"}, {"statistic": "correlation"},
    ):  # fmt: skip
        assert (
            selector.set_params(lam="auto")
            .set_params(**settings)
            .fit(DATA.X, DATA.y)
            .guarantee_.proven
        )


@pytest.mark.parametrize("selector", SELECTORS, ids=RULES)
def test_copies_that_are_far_from_exchangeable_withdraw_the_promise(selector):
    X = smooth_fields(100, (5, 12), 1.25, 0)
    y = X[:, :6].sum(axis=1) + np.random.default_rng(1).standard_normal(100)
    said = heard(selector.set_params(random_state=0, sampler=LEDOIT_WOLF), X, y)
    assert any("times as much as the columns" in text for text in said)
    assert any("no error rate is promised" in text for text in said)
    assert selector.exchangeability_.ratio > 10.0
    assert selector.exchangeability_.p_value <= 0.01
    assert selector.exchangeability_.swap in {"full", "half"}
    assert selector.guarantee_.level is None
    assert str(selector.guarantee_).startswith(
        "No error rate is controlled: the knockoff copies do not behave like the columns"
    )
    assert str(selector.guarantee_) in str(selector.summary())  # the selection is still given


@pytest.mark.parametrize("selector", SELECTORS, ids=RULES)
def test_another_law_takes_over_where_the_first_fails(selector):
    X = smooth_fields(100, (5, 12), 1.25, 0)
    y = X[:, :6].sum(axis=1) + np.random.default_rng(1).standard_normal(100)
    said = heard(selector.set_params(random_state=0, sampler="gaussian"), X, y)
    assert not any("times as much" in text for text in said)
    assert selector.exchangeability_.departure <= 1.25
    assert selector.guarantee_.level is not None
    assert not selector.guarantee_.proven
    assert "each column depends on a few others (neighbours)" in selector.guarantee_.assumptions
    (note,) = [text for text in selector.notes_ if "drawn from another estimate" in text]
    assert "did not behave like the columns (ratio" in note
    # the choice of the law does not depend on the response
    other = clone(selector).fit(X, np.random.default_rng(2).standard_normal(100))
    assert other.exchangeability_ == selector.exchangeability_


def test_a_law_by_name_is_kept():
    X = smooth_fields(100, (5, 12), 1.25, 0)
    y = np.random.default_rng(1).standard_normal(100)
    for name in ("shrinkage", "factors", "factors_neighbours"):
        found = KnockoffSelection(
            0.2, lam=0.1, sampler=GaussianKnockoffs(covariance=name), random_state=0
        )
        heard(found, X, y)
        assert not any("another estimate" in text for text in found.notes_)
        assert f"({name})" in found.guarantee_.assumptions or found.guarantee_.level is None


@pytest.mark.parametrize("covariance", ["identity", ("ar1", 0.5)], ids=str)
@pytest.mark.parametrize("seed", range(3))
def test_copies_of_hardly_correlated_columns_are_silent(covariance, seed):
    data = simulate(100, 30, 5, snr=5.0, covariance=covariance, random_state=seed)
    selector = KnockoffSelection(0.2, lam=0.1, random_state=seed).fit(data.X, data.y)  # no warning
    assert selector.exchangeability_.departure < 1.25
    assert selector.guarantee_.level == 0.2
    assert not selector.guarantee_.proven


def test_copies_that_are_a_little_off_are_announced():
    data = simulate(150, 150, 5, snr=5.0, covariance=("ar1", 0.9), random_state=1)
    selector = KnockoffSelection(0.2, lam=0.1, sampler=LEDOIT_WOLF, random_state=1)
    said = heard(selector, data.X, data.y)
    assert 1.25 < selector.exchangeability_.departure <= 1.3
    assert any("the level may be exceeded" in text for text in said)
    assert selector.guarantee_.level == 0.2


def test_a_covariance_that_is_not_that_of_the_table_is_announced():
    data = simulate(200, 20, 5, snr=5.0, covariance=("ar1", 0.6), random_state=0)
    good = GaussianKnockoffs(0.0, data.covariance)
    selector = KnockoffSelection(0.2, sampler=good, lam=0.1, random_state=0)
    assert heard(selector, data.X, data.y) == []
    assert selector.guarantee_.proven
    wrong = simulate(5, 20, 0, noise_variance=1.0, covariance=("ar1", 0.5)).covariance
    selector.set_params(sampler=GaussianKnockoffs(0.0, wrong))
    (said,) = heard(selector, data.X, data.y)
    assert "the mean or the covariance given is not that of the table" in said
    assert not selector.guarantee_.proven
    assert selector.guarantee_.level == 0.2
    selector.set_params(sampler=GaussianKnockoffs(0.0, np.eye(20)))
    (said,) = heard(selector, data.X, data.y)
    assert "not that of the table" in said
    assert selector.guarantee_.level is None


def test_samplers_that_claim_a_law_are_held_to_it():
    data = simulate(200, 20, 5, snr=5.0, covariance=("ar1", 0.6), random_state=0)
    selector = KnockoffSelection(0.2, sampler="iid", lam=0.1, random_state=0)
    (said,) = heard(selector, data.X, data.y)
    assert "the columns are not independent, as sampler='iid' takes them to be" in said
    assert selector.guarantee_.level is None
    selector.set_params(sampler=lambda X, rng: rng.standard_normal(X.shape))
    (said,) = heard(selector, data.X, data.y)
    assert "the sampler does not draw knockoffs of this table" in said
    true = GaussianKnockoffs(0.0, data.covariance)
    selector.set_params(sampler=lambda X, rng: true.sample(X, rng))
    assert heard(selector, data.X, data.y) == []
    assert selector.guarantee_.proven
    selector.set_params(sampler="fixed").fit(data.X, data.y)
    assert selector.exchangeability_ is None  # not what fixed-X knockoffs rest on
    article = DerandomizedKnockoffs(threshold=0.5, sampler="iid", n_copies=3, random_state=0)
    assert heard(article, data.X, data.y) == []  # it promises nothing
    assert article.exchangeability_.departure > 1.5


def test_few_rows_are_said_not_to_be_checked():
    data = simulate(39, 10, 3, snr=5.0, random_state=0)
    selector = KnockoffSelection(0.3, lam=0.1, random_state=0).fit(data.X, data.y)
    assert selector.exchangeability_.ratio is None
    assert "(not checked: this needs 40 rows)" in str(selector.guarantee_)


def test_the_check_changes_no_other_random_number():
    """Copies come from child 0 of the seed and folds from child 1, with or without it."""
    seed = np.random.SeedSequence(5)
    copies = GaussianKnockoffs().fit(DATA.X).copies(DATA.X, child(seed, 0), 1)
    W = knockoff_statistic(make_data(DATA.X, DATA.y, "squared"), copies[0],
                           np.random.default_rng(child(seed, 1, 0)))  # fmt: skip
    selector = KnockoffSelection(0.3, statistic="coefficient", random_state=5)
    np.testing.assert_allclose(selector.fit(DATA.X, DATA.y).statistics_, W, atol=1e-12)


@pytest.mark.parametrize(
    ("selector", "statistic", "because"),
    [
        (KnockoffSelection(0.3), "bayes", "no setting asks"),
        (DerandomizedKnockoffs(pfer=1.0, n_copies=2), "bayes", "no setting asks"),
        (AggregatedKnockoffs(0.3, n_copies=2), "bayes", "no setting asks"),
        (KnockoffSelection(0.3, lam=0.1), "coefficient", "a penalty is given"),
        (KnockoffSelection(0.3, lam="cv"), "coefficient", "a penalty is given"),
        (KnockoffSelection(0.3, l1_ratio=0.5), "coefficient", "an elastic net is asked for"),
        (KnockoffSelection(0.3, joint_copies=2), "coefficient", "several joint copies"),
        (DerandomizedKnockoffs(threshold=0.6, n_copies=2), "coefficient", "one on coefficients"),
    ],
)
def test_the_statistic_that_is_left_open(selector, statistic, because):
    selector = clone(selector).set_params(random_state=0).fit(DATA.X, DATA.y)
    assert selector.statistic_ == statistic
    [note] = [one for one in selector.notes_ if "by statistic=" in one]
    assert f"statistic={statistic!r} because" in note
    assert because in note
    named = clone(selector).set_params(statistic=statistic).fit(DATA.X, DATA.y)
    np.testing.assert_array_equal(named.statistics_, selector.statistics_)
    assert not any("by statistic=" in one for one in named.notes_)


@pytest.mark.parametrize("statistic", ["bayes", "mlr"])
@pytest.mark.parametrize("sampler", ["iid", "fixed", "gaussian"])
def test_the_unit_of_a_column_does_not_matter(statistic, sampler):
    selector = KnockoffSelection(0.3, sampler=sampler, statistic=statistic, random_state=0)
    W = selector.fit(INDEPENDENT.X, INDEPENDENT.y).statistics_
    unit = 2.0 ** np.arange(-12, 13)
    other = clone(selector).fit(unit * INDEPENDENT.X, INDEPENDENT.y)
    if sampler == "gaussian":  # the law of the columns is estimated in their units
        assert np.mean(other.statistics_[INDEPENDENT.support] > 0.0) > 0.8
    else:
        np.testing.assert_allclose(other.statistics_, W, rtol=1e-6, atol=1e-6)


def test_an_estimator_takes_the_place_of_the_statistic():
    selector = KnockoffSelection(0.3, estimator=Ridge(), random_state=0).fit(DATA.X, DATA.y)
    assert not any("by statistic=" in one for one in selector.notes_)
    assert used_by(selector)["statistic"] == used_by(selector)["lam"] == "not used"
    default = KnockoffSelection(0.3, random_state=0).fit(DATA.X, DATA.y)
    assert (used_by(default)["statistic"], used_by(default)["lam"]) == ("bayes", "not used")


def test_the_statistic_that_is_left_open_for_several_classes_and_large_tables():
    X = np.random.default_rng(0).standard_normal((60, 4))
    made = make_data(X, np.arange(60) % 3, loss_of("multinomial"))
    assert statistic_choice(made, "auto", None).because == "the response has several classes"
    wide = np.broadcast_to(np.arange(3001.0)[:, None] % 7.0, (3001, 1501))
    large = make_data(X, X[:, 0], "squared")._replace(X=wide)
    assert statistic_choice(large, "auto", None) == ("coefficient", "the table is large")
    tall = large._replace(X=wide[:, :1500])
    assert statistic_choice(tall, "auto", None).name == "bayes"


@pytest.mark.parametrize("selector", SELECTORS, ids=RULES)
def test_every_promise_names_independent_rows(selector):
    data = INDEPENDENT
    said = str(selector.set_params(random_state=0).fit(data.X, data.y).guarantee_)
    assert "expected, not proven, if the rows are independent" in said
    assert "the joint distribution of the predictors, which is estimated here, is close to" in said
    assert "[" in said


def test_promises_in_words():
    def said(selector):
        data = INDEPENDENT
        return str(selector.set_params(random_state=0, lam=0.1).fit(data.X, data.y).guarantee_)

    given = GaussianKnockoffs(0.0, np.eye(25))
    assert said(KnockoffSelection(0.2, sampler=given)) == (
        "On average at most 20 % of the selected variables are false. This is proven if the rows "
        "are independent and the joint distribution of the predictors is the one that was given "
        "[Barber and Candès 2015; Candès et al. 2018]."
    )
    assert said(DerandomizedKnockoffs(kfwer=(2, 0.15), sampler=given, n_copies=3)) == (
        "The probability of 2 or more false selections is at most 15 %. This is proven if the rows "
        "are independent, the joint distribution of the predictors is the one that was given, and "
        "among irrelevant variables high selection frequencies are rarer than low ones [Ren, Wei "
        "and Candès 2023]."
    )
    assert said(AggregatedKnockoffs(0.1, n_copies=3)).endswith(
        "[Nguyen, Chevalier, Thirion and Arlot 2020]. You asked for 10 %; the theorem bounds the "
        "rate by 3.23 times that only."
    )


@pytest.mark.filterwarnings("ignore::selica.selectors.AssumptionWarning")
@pytest.mark.parametrize("visits", [1, 3])
def test_many_covariates_leave_columns_no_better_than_their_copies(visits):
    """As many irrelevant columns are ahead of their copies as behind: 40 covariates, 100 groups."""
    groups, p = 100, 30
    units = np.repeat(np.arange(groups), visits)
    ahead = []
    for seed in range(15):
        rng = np.random.default_rng(seed)
        keep = rng.standard_normal((groups, 2 * groups // 5))[units]
        X = rng.standard_normal((groups, p))[units]
        y = keep.sum(axis=1) / 6.0 + rng.standard_normal(units.size)
        y += 2.0 * rng.standard_normal(groups)[units]
        selector = DerandomizedKnockoffs(pfer=1.0, n_copies=5, lam=0.1, random_state=seed)
        W = selector.fit(X, y, keep=keep, rows_of=None if visits == 1 else units).statistics_
        ahead.append(np.sign(W).sum(axis=0))  # copies of one column are dependent
    assert abs(np.sum(ahead)) < 3.0 * np.linalg.norm(ahead)


def test_columns_that_are_nearly_the_same_weaken_the_promise_of_an_estimated_law():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 8))
    X[:, 7] = X[:, 0] + 0.2 * X[:, 7]
    y = X[:, 1] + rng.standard_normal(200)
    clause, way_out = "some columns are nearly the same", "groups='correlation'"
    covariance = np.eye(8)
    covariance[0, 7] = covariance[7, 0] = 1.0
    covariance[7, 7] = 1.04
    for settings, weaker in (
        ({}, True),
        ({"groups": "correlation"}, False),
        ({"sampler": GaussianKnockoffs(0.0, covariance)}, False),
    ):
        found = KnockoffSelection(0.5, lam=0.1, random_state=0, **settings).fit(X, y)
        assert (clause in str(found.guarantee_)) is weaker
        assert any(way_out in note for note in found.notes_) is weaker
    one = DerandomizedKnockoffs(pfer=1.0, n_copies=3, lam=0.1, random_state=0).fit(X, y)
    assert clause in str(one.guarantee_)
    assert sum(way_out in note for note in one.notes_) == 1
