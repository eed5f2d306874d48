"""The interface of samplers, their table, and a sampler of one file in another package."""

from __future__ import annotations

import importlib
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

from selica import AggregatedKnockoffs, DerandomizedKnockoffs, KnockoffSelection
from selica._core.errors import ArgumentError, RefusedError
from selica._core.warning import noted
from selica.sampling import (
    FixedKnockoffs,
    GaussianKnockoffs,
    IndependentKnockoffs,
    Sampler,
    exchangeability,
    iid_copies,
    simulate,
)
from selica.sampling import sampler as samplers
from selica.selectors import AssumptionWarning

SKELETON = Path(__file__).parents[1] / "skeletons" / "sampler.py"
DATA = simulate(300, 40, 12, snr=20.0, random_state=0)


@pytest.fixture
def shuffled(tmp_path, monkeypatch):
    """The skeleton as a module of a package of someone else, registered."""
    package = tmp_path / "theirs"
    package.mkdir()
    (package / "__init__.py").touch()
    shutil.copy(SKELETON, package / "shuffled.py")
    monkeypatch.syspath_prepend(str(tmp_path))
    module = importlib.import_module("theirs.shuffled")
    module.add()
    yield module
    samplers.unregister("shuffled")
    for name in ("theirs.shuffled", "theirs"):
        sys.modules.pop(name, None)


@pytest.mark.parametrize(
    "make",
    [
        lambda: KnockoffSelection(0.2, sampler="shuffled", lam=0.05, random_state=0),
        lambda: DerandomizedKnockoffs(0.2, n_copies=8, sampler="shuffled", lam=0.05),
        lambda: AggregatedKnockoffs(0.4, n_copies=10, sampler="shuffled", lam=0.05),
    ],
)
def test_a_sampler_of_one_file_runs_in_every_knockoff_selector(shuffled, make):
    found = make().set_params(random_state=0).fit(DATA.X, DATA.y)
    assert (found.support_ & DATA.support).sum() >= 8
    assert (found.support_ & ~DATA.support).sum() <= 4
    assert "the predictors are independent of each other" in str(found.guarantee_)
    assert found.exchangeability_.departure == 1.0
    named = found.statistics_
    given = make().set_params(random_state=0, sampler=shuffled.ShuffledColumns())
    np.testing.assert_array_equal(given.fit(DATA.X, DATA.y).statistics_, named)


def test_its_promise_is_proven_for_one_copy(shuffled):
    found = KnockoffSelection(0.2, sampler="shuffled", random_state=0).fit(DATA.X, DATA.y)
    assert found.guarantee_.proven


def test_its_copies_are_exchangeable_for_independent_columns_of_any_kind(shuffled):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.poisson(2.0, 200), rng.standard_cauchy(200), rng.random(200) < 0.3])
    sampler = shuffled.ShuffledColumns()
    copy = sampler.sample(X, random_state=1)
    np.testing.assert_array_equal(np.sort(copy, axis=0), np.sort(X, axis=0))
    assert not exchangeability(X, copy, random_state=2).differs


def test_correlated_columns_withdraw_its_promise(shuffled):
    data = simulate(300, 40, 12, snr=20.0, covariance=("ar1", 0.9), random_state=0)
    selector = KnockoffSelection(0.2, sampler="shuffled", lam=0.05, random_state=0)
    with pytest.warns(AssumptionWarning, match="so the columns are not independent, as sampler="):
        selector.fit(data.X, data.y)
    assert selector.guarantee_.level is None
    assert any("no error rate is promised" in note for note in selector.notes_)


def test_what_it_needs_is_refused_in_its_words(shuffled):
    with pytest.raises(RefusedError, match="sampler='shuffled' needs 10 rows; X has 8"):
        KnockoffSelection(sampler="shuffled").fit(DATA.X[:8], DATA.y[:8])


def test_it_works_for_two_classes_and_constant_columns(shuffled):
    X = DATA.X.copy()
    X[:, 3] = 1.0
    selector = KnockoffSelection(0.3, sampler="shuffled", lam=0.05, random_state=0)
    selector.fit(X, DATA.y > 0.0)
    assert any("never selected: x3" in note for note in selector.notes_)
    assert selector.statistics_[3] == 0.0


def test_false_selections_of_noise_keep_the_level(shuffled):
    """All forty variables are irrelevant: any selection is false, and rarely made."""
    rng = np.random.default_rng(0)
    runs = 60
    selected = 0
    for seed in range(runs):
        X, y = rng.standard_normal((80, 40)), rng.standard_normal(80)
        selector = KnockoffSelection(0.2, sampler="shuffled", lam=0.1, random_state=seed)
        with noted():  # the check of the copies raises a false alarm in one of a hundred runs
            selected += selector.fit(X, y).support_.any()
    assert selected / runs <= 0.2 + 3.0 * np.sqrt(0.16 / runs)


def test_names_are_taken_once_and_given_back(shuffled):
    assert samplers.names()[-1] == "shuffled"
    with pytest.raises(ArgumentError, match="one that no sampler has; got 'shuffled'"):
        samplers.register("shuffled", shuffled.ShuffledColumns)
    with pytest.raises(ArgumentError, match="a registered sampler; got 'gaussian'"):
        samplers.unregister("gaussian")
    for name, make in (("", IndependentKnockoffs), (3, IndependentKnockoffs), ("mine", 3)):
        with pytest.raises(ArgumentError):
            samplers.register(name, make)
    with pytest.raises(ArgumentError, match="'shuffled'; got 'theirs'"):
        KnockoffSelection(sampler="theirs").fit(DATA.X, DATA.y)


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("gaussian", GaussianKnockoffs()),
        ("fixed", FixedKnockoffs(intercept=True)),
        ("iid", IndependentKnockoffs()),
    ],
)
def test_a_name_is_its_row_of_the_table(name, given):
    assert type(samplers.as_sampler(name)) is type(given)
    assert samplers.as_sampler(given) is given
    found = [
        KnockoffSelection(0.2, sampler=one, lam=0.05, random_state=0).fit(DATA.X, DATA.y)
        for one in (name, given)
    ]
    np.testing.assert_array_equal(found[0].statistics_, found[1].statistics_)
    assert str(found[0].guarantee_) == str(found[1].guarantee_)


class OnlyCopies:
    """An object of someone else with the one method that selectors always took."""

    def copies(self, X, random_state, members):
        return [
            iid_copies(X, random_state=random_state, members=members)[b] for b in range(members)
        ]


def test_objects_and_functions_are_wrapped():
    def independent(X, rng):
        return rng.standard_normal(X.shape) * X.std(axis=0)

    for given in (OnlyCopies(), independent):
        assert isinstance(samplers.as_sampler(given), Sampler)
        selector = DerandomizedKnockoffs(0.2, n_copies=4, sampler=given, lam=0.05, random_state=0)
        found = selector.fit(DATA.X, DATA.y)
        assert found.support_.sum() >= 8
        assert "the sampler draws knockoff copies of the true" in str(found.guarantee_)
    with pytest.raises(ArgumentError, match="sampler must be one of"):
        samplers.as_sampler(3)


def test_what_a_sampler_says_of_itself():
    known = GaussianKnockoffs(0.0, np.eye(3))
    assert known.exact
    assert "the one that was given" in known.assumption
    assert not GaussianKnockoffs().exact
    assert "estimated" in GaussianKnockoffs().assumption
    assert GaussianKnockoffs().mismatch == ""
    assert not FixedKnockoffs().exchangeable
    assert not FixedKnockoffs().any_statistic
    assert IndependentKnockoffs().independent


def test_doubts_name_columns_that_are_not_normal():
    X = DATA.X[:30].copy()
    X[:, 5] = X[:, 5] > 0.0
    few, wide = GaussianKnockoffs().fit(X).doubts(X)
    assert few.columns == (5,)
    assert "few values" in few.clause
    assert "40 columns is estimated from 30 rows" in wide.clause
    assert GaussianKnockoffs(0.0, np.eye(40)).doubts(X) == []


@pytest.mark.parametrize("kind", [FixedKnockoffs, int])
def test_a_class_is_no_sampler(kind):
    with pytest.raises(ArgumentError, match=rf"^sampler .*the class {kind.__name__}, not an"):
        samplers.as_sampler(kind)
