"""Which sampler a table is given to."""

from __future__ import annotations

import numpy as np
import pytest

from selica import AggregatedKnockoffs, AutoSelection, DerandomizedKnockoffs, KnockoffSelection
from selica.sampling import GaussianKnockoffs, HaplotypeLaw
from selica.sampling.automatic import RULES, AutomaticSampler, choose_sampler
from selica.sampling.sampler import as_sampler, names

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
