"""Which sampler a table is given to."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

from selica import AggregatedKnockoffs, AutoSelection, DerandomizedKnockoffs, KnockoffSelection
from selica.sampling import GaussianKnockoffs, HaplotypeLaw, simulate
from selica.sampling.automatic import RULES, AutomaticSampler, SamplerChoice, choose_sampler
from selica.sampling.exchangeability import DOUBTFUL_RATIO
from selica.sampling.sampler import as_sampler, names
from selica.selectors import AssumptionWarning

RNG = np.random.default_rng(0)
NUMBERS = RNG.standard_normal((200, 12))
MIXED = np.where(np.arange(12) % 3 == 0, NUMBERS > 0.4, NUMBERS)
Y = MIXED[:, :6].sum(axis=1) + 0.5 * RNG.standard_normal(200)


@pytest.mark.parametrize(
    ("X", "settings", "name", "because"),
    [
        (NUMBERS, {}, "gaussian", "all columns are continuous"),
        (
            np.where(np.arange(12) == 3, NUMBERS > 0, NUMBERS),
            {},
            "gaussian",
            "nearly all columns are continuous (1 binary, 11 continuous)",
        ),
        (
            np.where(np.arange(12) < 2, NUMBERS > 0, NUMBERS),
            {},
            "sequential",
            "(2 binary, 10 continuous)",
        ),
        (MIXED, {}, "sequential", "several kinds or discrete (4 binary, 8 continuous)"),
        (MIXED > 0.5, {}, "sequential", "because all columns have two values."),
        (RNG.poisson(2.0, (100, 3)), {}, "sequential", "(3 count)"),
        (MIXED, {"row_groups": True}, "gaussian", "rows that belong together"),
        (MIXED, {"covariates": True}, "gaussian", "given the covariates that are kept"),
        (MIXED, {"column_groups": True}, "gaussian", "made for groups of columns"),
        (MIXED, {"joint_copies": True}, "gaussian", "drawn jointly"),
        (RNG.random((9, 5000)) < 0.5, {}, "gaussian", "would take too long with 9 rows"),
    ],
)
def test_the_choice_follows_the_kinds_of_the_columns(X, settings, name, because):
    found = choose_sampler(np.asarray(X, dtype=float), **settings)
    assert found.name == name
    assert because in found.sentence


def test_markers_in_the_order_of_a_chromosome_are_genotypes():
    theta = RNG.choice([0.02, 0.98], (200, 4))
    law = HaplotypeLaw(np.full(200, 0.05), np.full((200, 4), 0.25), theta)
    X = law.simulate(300, random_state=1).astype(float)
    assert choose_sampler(X).name == "genotypes"
    shuffled = X[:, RNG.permutation(200)]
    assert choose_sampler(shuffled).name == "sequential"
    assert choose_sampler(np.column_stack([X, RNG.random(300)])).name == "sequential"
    assert choose_sampler(RNG.integers(3, size=(300, 40)).astype(float)).name == "sequential"


def test_constant_columns_do_not_count():
    assert choose_sampler(np.column_stack([NUMBERS, np.ones(200)])).name == "gaussian"
    assert choose_sampler(np.ones((20, 2))).name == "gaussian"


def test_indicators_of_a_factor_are_one_variable():
    X = np.column_stack([NUMBERS, np.eye(3)[RNG.integers(3, size=200)]])
    assert "1 factor" in choose_sampler(X, [*range(12), 12, 12, 12]).because
    assert "3 binary" in choose_sampler(X).because


@pytest.mark.parametrize(("rows", "columns", "fits"), [(500, 600, True), (500, 650, False)])
def test_where_models_take_too_long(rows, columns, fits):
    X = RNG.random((rows, columns)) < 0.3
    assert (choose_sampler(X.astype(float)).name == "sequential") is fits


def test_every_rule_names_a_sampler():
    assert {rule.sampler for rule in RULES} <= set(names())


@pytest.mark.parametrize(
    "make",
    [
        lambda **given: KnockoffSelection(0.4, lam=0.05, random_state=0, **given),
        lambda **given: DerandomizedKnockoffs(0.4, n_copies=3, lam=0.05, random_state=0, **given),
        lambda **given: AggregatedKnockoffs(0.8, n_copies=3, lam=0.05, random_state=0, **given),
    ],
)
@pytest.mark.parametrize(("X", "name"), [(NUMBERS, "gaussian"), (MIXED, "sequential")])
def test_selectors_say_which_sampler_they_took(make, X, name):
    found = make().fit(X, Y)
    assert found.sampler_ == name
    assert any(f"sampler='{name}' because" in note for note in found.notes_)
    asked = make(sampler=name).fit(X, Y)
    np.testing.assert_array_equal(found.statistics_, asked.statistics_)
    assert not any("because" in note and "sampler=" in note for note in asked.notes_)


def test_the_default_answer_uses_and_says_the_same():
    found = AutoSelection(n_resamples=5, random_state=0).fit(MIXED, Y)
    assert found.selector_.sampler_ == "sequential"
    assert any("sampler='sequential' because" in note for note in found.notes_)


def test_covariates_and_groups_of_rows_have_gaussian_copies():
    selector = KnockoffSelection(0.4, lam=0.05, random_state=0)
    kept = selector.fit(MIXED, Y, keep=RNG.standard_normal(200))
    assert kept.sampler_ == "gaussian"
    groups = selector.fit(MIXED, Y, rows_of=np.repeat(np.arange(100), 2))
    assert groups.sampler_ == "gaussian"


def test_a_sampler_object_is_named_by_itself():
    found = KnockoffSelection(
        0.4, sampler=GaussianKnockoffs(0.0, np.eye(12)), lam=0.05, random_state=0
    ).fit(NUMBERS, Y)
    assert found.sampler_ == "GaussianKnockoffs(n_features=12, method='mvr')"


def test_the_automatic_sampler_alone():
    sampler = as_sampler("auto")
    assert isinstance(sampler, AutomaticSampler)
    assert not sampler.exact
    copy = sampler.sample(MIXED, random_state=0)
    np.testing.assert_array_equal(copy, as_sampler("sequential").fit(MIXED).sample(MIXED, 0))
    assert isinstance(sampler.fit(NUMBERS), GaussianKnockoffs)


def test_another_sampler_takes_over_where_copies_do_not_behave_like_the_columns(monkeypatch):
    data = simulate(200, 30, 10, snr=20.0, covariance=("ar1", 0.9), random_state=0)
    # copies of independent entries stand for a sampler that the columns do not suit
    chosen = SamplerChoice("iid", "of a test", 30)
    monkeypatch.setattr("selica.selectors.knockoffs.sampler_choice", lambda *_: chosen)
    selector = KnockoffSelection(0.2, statistic="coefficient", random_state=0).fit(data.X, data.y)
    assert selector.sampler_ == "gaussian"
    assert selector.exchangeability_.departure <= DOUBTFUL_RATIO
    assert any("copies by sampler='iid' did not behave" in note for note in selector.notes_)
    assert not any("because of a test" in note for note in selector.notes_)
    asked = clone(selector).set_params(sampler="gaussian").fit(data.X, data.y)
    # the stand-in copies standardised columns, which changes the last digits
    assert selector.statistics_ == pytest.approx(asked.statistics_, abs=1e-9)
    assert selector.guarantee_.level == 0.2


def test_a_sampler_that_was_asked_for_is_kept():
    data = simulate(200, 30, 10, snr=20.0, covariance=("ar1", 0.9), random_state=0)
    with pytest.warns(AssumptionWarning, match="no error rate is promised"):
        selector = KnockoffSelection(0.2, sampler="iid", random_state=0).fit(data.X, data.y)
    assert selector.sampler_ == "iid"
    assert selector.guarantee_.level is None


def test_no_spare_sampler_where_a_covariance_takes_minutes():
    assert SamplerChoice("genotypes", "", 2000).spare is not None
    assert SamplerChoice("genotypes", "", 2001).spare is None
    assert SamplerChoice("gaussian", "", 10).spare is None
