"""As many resamples or copies as settle the decisions, and what is promised then."""

from __future__ import annotations

import numpy as np
import pytest

from selica import AggregatedKnockoffs, AutoSelection, DerandomizedKnockoffs, StabilitySelection
from selica._core.errors import ArgumentError
from selica._core.warning import noted
from selica.control import averaged_level, frequency_bound
from selica.progress import reporting, stoppable
from selica.sampling import FixedKnockoffs, simulate
from selica.selectors.drawing import (
    ANY_COPIES,
    ANY_NUMBER,
    FIRST_COPIES,
    FIRST_RESAMPLES,
    possible_copies,
)

DATA = simulate(120, 40, 5, snr=3.0, random_state=0)
CLOSE = simulate(100, 60, 8, snr=3.0, random_state=1)


def fitted(selector, data=DATA):
    with noted():
        return selector.fit(data.X, data.y)


@pytest.fixture(scope="module")
def settled():
    return fitted(StabilitySelection(n_resamples="auto", threshold=0.75, random_state=0))


@pytest.fixture(scope="module")
def going_on():
    return fitted(StabilitySelection(n_resamples="auto", random_state=0), CLOSE)


def test_settled_decisions_need_no_second_block(settled):
    assert settled.n_resamples_ == FIRST_RESAMPLES
    assert not settled.stability_.close_calls
    same = fitted(StabilitySelection(n_resamples=FIRST_RESAMPLES, threshold=0.75, random_state=0))
    np.testing.assert_array_equal(same.selection_probabilities_, settled.selection_probabilities_)
    assert same.guarantee_.level == settled.guarantee_.level


def test_close_calls_need_more_blocks(going_on):
    many = going_on.n_resamples_
    assert many > FIRST_RESAMPLES
    assert many % FIRST_RESAMPLES == 0
    assert not going_on.stability_.close_calls or many == 10 * FIRST_RESAMPLES
    # the block before had close calls, and the first is that of a fixed number
    first = fitted(StabilitySelection(n_resamples=FIRST_RESAMPLES, random_state=0), CLOSE)
    assert first.stability_.close_calls
    assert first.threshold_ == going_on.threshold_


def test_members_are_the_same_for_any_workers(going_on):
    again = fitted(StabilitySelection(n_resamples="auto", random_state=0, n_jobs=2), CLOSE)
    np.testing.assert_array_equal(again.selection_probabilities_, going_on.selection_probabilities_)
    assert again.stability_ == going_on.stability_


def test_the_cap_is_said():
    # half of the halves select a variable that is drawn by a coin
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 2))
    X[:, 1] = X[:, 0] + 1e-3 * rng.standard_normal(60)
    y = X.sum(axis=1) + rng.standard_normal(60)
    selector = StabilitySelection(q=1, threshold=0.5, n_resamples="auto", random_state=0)
    with noted():
        P = selector.fit(X, y).selection_probabilities_
        selector.set_params(threshold=float(P[0])).fit(X, y)
    assert selector.n_resamples_ == 10 * FIRST_RESAMPLES
    assert any("the most that n_resamples='auto' draws" in note for note in selector.notes_)


def test_the_bound_without_an_assumption_stays_proven():
    found = fitted(StabilitySelection(n_resamples="auto", pfer=0.5, assumption="none",
                                      random_state=0))  # fmt: skip
    assert found.guarantee_.proven
    assert ANY_NUMBER not in found.guarantee_.assumptions


@pytest.mark.parametrize("assumption", ["unimodal", "r-concave"])
def test_bounds_on_the_shape_of_frequencies_are_expected_only(assumption):
    fixed = StabilitySelection(n_resamples=200, pfer=0.5, assumption=assumption, random_state=0)
    auto = StabilitySelection(n_resamples="auto", pfer=0.5, assumption=assumption, random_state=0)
    fixed, auto = fitted(fixed), fitted(auto)
    assert fixed.guarantee_.proven
    assert not auto.guarantee_.proven
    assert ANY_NUMBER in auto.guarantee_.assumptions
    assert auto.guarantee_.level == fixed.guarantee_.level  # of the fewest there could be


def test_doobs_inequality_is_what_the_bound_needs():
    """Shares of exchangeable pairs, stopped when they are largest, keep Markov's bound."""
    rng, t = np.random.default_rng(0), 0.4
    largest, mean = 0, 0.0
    for _ in range(4000):
        both = rng.random(60) < rng.beta(0.3, 2.0)  # pairs that select it twice, given the data
        shares = np.cumsum(both)[9:] / np.arange(10, 61)
        largest += shares.max() >= t
        mean += both.mean() / 4000
    bound = mean / t
    assert largest / 4000 <= bound
    # which is no empty statement: with a fixed number fewer reach it
    assert largest / 4000 > 0.3 * bound


def copies(rule, **settings):
    return fitted(DerandomizedKnockoffs(**rule, sampler="iid", lam=0.1, random_state=0, **settings))


@pytest.mark.parametrize("rule", [{"fdr": 0.3}, {"pfer": 1.0}, {"threshold": 0.6}])
def test_copies_of_the_pilot_do_not_count(rule):
    found = copies(rule, n_copies="auto")
    drawn = copies({"fdr": 0.3}, n_copies=FIRST_COPIES + found.n_copies_).statistics_
    assert found.n_copies_ in possible_copies(FIRST_COPIES)
    np.testing.assert_array_equal(found.statistics_, drawn[FIRST_COPIES:])
    assert any(f"asked for {found.n_copies_} copies" in note for note in found.notes_)
    given = copies(rule, n_copies=5).guarantee_
    by_shape = "threshold" not in rule  # what rests on the shape at one number is expected only
    assert not found.guarantee_.proven
    assert given.proven == ("pfer" in rule)
    assert (ANY_COPIES in found.guarantee_.assumptions) == by_shape
    if "fdr" in rule:  # proven is the level for all numbers that the pilot may ask for
        most = averaged_level(0.3, 0.15, possible_copies(FIRST_COPIES)[-1])
        assert f"at most {100 * most:.3g} %; this is proven" in found.guarantee_.settings
    if by_shape:  # which one copy does not need
        alone = found.fdp_bound().guarantee
        assert alone.proven
        assert ANY_COPIES not in alone.assumptions


@pytest.mark.parametrize("randomized", [False, True])
def test_copies_that_are_the_same_for_every_seed_know_their_pilot(randomized):
    sampler = FixedKnockoffs(intercept=True, randomized=randomized)
    settings = {"sampler": sampler, "statistic": "correlation", "random_state": 0}
    found = fitted(DerandomizedKnockoffs(0.3, n_copies="auto", **settings))
    assert not found.guarantee_.proven
    assert found.guarantee_.assumptions.count(ANY_COPIES) == 1
    assert ("proven" in found.guarantee_.settings) == randomized
    assert found.posthoc().guarantee.proven == randomized
    given = fitted(DerandomizedKnockoffs(0.3, n_copies=3, **settings)).guarantee_
    assert ANY_COPIES not in given.assumptions
    assert "at most 36 %; this is proven" in given.settings  # 2 / (1 / 0.3 + 1 / 0.45)


def test_the_pilot_decides_how_many_copies():
    found = fitted(
        DerandomizedKnockoffs(
            threshold=0.5, n_copies="auto", sampler="iid", lam=0.1, random_state=1
        ),
        CLOSE,
    )
    pilot = fitted(
        DerandomizedKnockoffs(
            threshold=0.5, n_copies=FIRST_COPIES, sampler="iid", lam=0.1, random_state=1
        ),
        CLOSE,
    )
    P = pilot.selection_probabilities_
    between = (P > 0.0) & (P < 1.0)
    distance = np.abs(P[between] - 0.5)
    wanted = float(np.max(4.0 * P[between] * (1.0 - P[between]) / distance**2))
    offered = possible_copies(FIRST_COPIES)
    expected = next(many for many in offered if many >= min(max(wanted, offered[0]), offered[-1]))
    assert found.n_copies_ == expected


@pytest.mark.parametrize("share", [0.5, 0.6, 0.75, 0.9, 1.0])
def test_no_number_a_pilot_may_ask_for_costs_more_than_is_paid(share):
    found = copies({"pfer": 1.0, "threshold": share}, n_copies="auto")
    assert found.negatives_ * frequency_bound(found.n_copies_, share) <= 1.0 + 1e-12


def test_few_false_selections_take_more_copies():
    found = copies({"pfer": 0.04}, n_copies="auto")
    assert found.n_copies_ >= 49
    assert found.negatives_ >= 1.0 - 1e-9
    assert found.guarantee_.level == 0.04


def test_aggregated_and_automatic_selections_take_it():
    found = fitted(
        AggregatedKnockoffs(0.5, n_copies="auto", sampler="iid", lam=0.1, random_state=0)
    )
    assert len(found.statistics_) == found.n_copies_ >= FIRST_COPIES
    chosen = fitted(AutoSelection(n_resamples="auto", random_state=0))
    assert chosen.selector_.n_copies == "auto"


@pytest.mark.parametrize(
    "selector",
    [
        StabilitySelection(n_resamples="some"),
        DerandomizedKnockoffs(n_copies="many"),
        AggregatedKnockoffs(n_copies=None),
        AutoSelection(n_resamples="all"),
    ],
)
def test_other_words_are_refused(selector):
    with pytest.raises(ArgumentError, match=r"^n_(resamples|copies) must"):
        fitted(selector)


def stopped(selector, after, data):
    def listener(what, done, total):
        if done > after:
            raise KeyboardInterrupt

    with stoppable() as stop, reporting(listener):
        found = fitted(selector, data)
    assert stop.used
    return found


def test_ctrl_c_leaves_the_blocks_that_are_there():
    found = stopped(StabilitySelection(n_resamples="auto", random_state=0), 250, CLOSE)
    assert 200 < found.n_resamples_ < 400
    assert "stopped after" in found.notes_[0]
    assert found.n_resamples_ == found.stability_.members


def test_ctrl_c_in_the_pilot_leaves_the_pilot():
    selector = DerandomizedKnockoffs(
        pfer=1.0, n_copies="auto", sampler="iid", lam=0.1, random_state=0
    )
    found = stopped(selector, 12, DATA)
    assert 5 <= found.n_copies_ < FIRST_COPIES
    assert found.guarantee_.level == 1.0


def test_ctrl_c_after_the_pilot_leaves_what_came_after_it():
    selector = DerandomizedKnockoffs(
        pfer=1.0, n_copies="auto", sampler="iid", lam=0.1, random_state=0
    )
    found = stopped(selector, FIRST_COPIES + 12, DATA)
    assert 5 <= found.n_copies_ < FIRST_COPIES
    whole = copies({"pfer": 1.0}, n_copies="auto")
    np.testing.assert_array_equal(found.statistics_, whole.statistics_[: found.n_copies_])


@pytest.mark.parametrize("pfer", [1.0, 0.04])
def test_ctrl_c_after_the_pilot_keeps_the_bound_for_what_is_there(pfer):
    selector = DerandomizedKnockoffs(
        pfer=pfer, n_copies="auto", sampler="iid", lam=0.1, random_state=0
    )
    found = stopped(selector, FIRST_COPIES + 6, DATA)
    given = copies({"pfer": pfer}, n_copies=found.n_copies_)
    assert found.threshold_ == given.threshold_
    assert found.negatives_ == given.negatives_
    bound = frequency_bound(found.n_copies_, found.threshold_)
    np.testing.assert_allclose(found.negatives_ * bound, pfer)
