"""Whether selections are stable: what members select is counted, and words match numbers."""

from __future__ import annotations

import re

import numpy as np
import pytest

from selica import (
    AggregatedKnockoffs,
    AutoSelection,
    Bolasso,
    DataSplitting,
    DerandomizedKnockoffs,
    IntegratedStability,
    LassoSelection,
    StabilitySelection,
)
from selica._core.random import child, seed_sequence
from selica._core.warning import noted
from selica.control import first_negatives_filter, mirror_threshold, stability_index
from selica.sampling import simulate
from selica.selectors.agreement import joint_distances, stability_of
from selica.selectors.members import MemberRule, Refits, Scheme
from selica.selectors.stability_path import ROWS, WEAKNESS

DATA = simulate(120, 40, 5, snr=3.0, random_state=0)


def fitted(selector, data=DATA):
    with noted():
        return selector.fit(data.X, data.y)


@pytest.mark.parametrize(
    "selector",
    [
        StabilitySelection(n_resamples=40, random_state=0),
        StabilitySelection(0.1, n_resamples=30, random_state=0),
        StabilitySelection([0.2, 0.1], n_resamples=30, random_state=0),
        StabilitySelection(q=4, n_resamples=20, weakness=0.5, random_state=0),
        Bolasso(0.2, n_resamples=20, random_state=0),
        DerandomizedKnockoffs(0.3, n_copies=6, random_state=0),
        DerandomizedKnockoffs(pfer=2, n_copies=6, random_state=0),
        AggregatedKnockoffs(0.5, n_copies=6, random_state=0),
        DataSplitting(0.3, n_splits=6, random_state=0),
        IntegratedStability(n_resamples=40, random_state=0),
    ],
    ids=lambda one: f"{type(one).__name__}",
)
def test_every_selector_with_members_says_how_they_agree(selector):
    found = fitted(selector)
    stable = found.stability_
    assert stable.words in found.summary().notes
    assert stable.words in found.notes_
    assert stable.words not in str(found.guarantee_)
    assert -1.0 <= stable.lower <= stable.index <= stable.upper <= 1.0
    assert set(stable.at_threshold) <= set(stable.close_calls)
    assert stable.enough == (not stable.close_calls and stable.upper - stable.lower <= 0.05)


def test_without_members_nothing_is_said():
    assert fitted(LassoSelection(0.1)).stability_ is None
    assert fitted(DataSplitting(0.3, n_splits=1, random_state=0)).stability_ is None
    fields = StabilitySelection(0.1, engine="semi-analytic", random_state=0)
    assert fitted(fields).stability_ is None


def test_the_chosen_selector_speaks_for_the_choice():
    found = fitted(AutoSelection(n_resamples=10, random_state=0))
    assert found.stability_ == found.selector_.stability_
    assert found.stability_.words in found.summary().notes


def test_index_of_copies_is_that_of_what_each_copy_selects():
    found = fitted(DerandomizedKnockoffs(pfer=1, n_copies=7, threshold=0.5, random_state=0))
    assert found.negatives_ == 1.0
    votes = np.array([first_negatives_filter(w, 1) for w in found.statistics_])
    assert found.stability_.index == stability_index(votes).index
    assert found.stability_.members == 7


def test_index_of_splits_is_that_of_what_each_split_selects():
    found = fitted(DataSplitting(0.3, n_splits=6, random_state=0))
    each = [m > mirror_threshold(m, 0.3, 1) for m in found.statistics_]
    assert found.stability_.index == stability_index(each).index


def test_halves_are_units_in_pairs():
    rng = np.random.default_rng(0)
    Z = np.repeat(rng.random((10, 5)) < 0.4, 2, axis=0)
    far = np.full(5, np.inf)
    pairs = stability_of(Z, far, list("abcde"), "resamples", pairs=True)
    alone = stability_of(Z, far, list("abcde"), "resamples")
    assert pairs.index == alone.index
    assert pairs.upper - pairs.lower > alone.upper - alone.lower > 0.0
    # of the halves of a fit, as they come
    found = fitted(StabilitySelection(q=5, n_resamples=60, random_state=0))
    seeds = (child(found._seed, ROWS), child(found._seed, WEAKNESS))
    refits = Refits(found._data, Scheme("pairs", 0.5, 1.0), 60, MemberRule(None, 5, None), 1, seeds)
    halves = refits.at_least(60).chosen
    np.testing.assert_allclose(halves.mean(axis=0), found.selection_probabilities_)
    expected = stability_index(halves, pairs=True)
    assert found.stability_.index == expected.index
    assert found.stability_.lower == pytest.approx(expected.lower)


def test_members_are_the_same_whoever_fits_them():
    one = fitted(StabilitySelection(n_resamples=60, random_state=0)).stability_
    two = fitted(StabilitySelection(n_resamples=60, n_jobs=2, random_state=0)).stability_
    assert one == two


def test_words_for_close_calls():
    Z = np.zeros((20, 4), dtype=bool)
    Z[:, 0], Z[:9, 1] = True, True
    names = ["a", "b", "c", "d"]
    close = stability_of(Z, np.array([np.inf, 1.0, np.inf, np.inf]), names, "resamples")
    assert "1 decision is a close call (b): another seed may change it" in close.words
    assert "about 80 resamples would settle it" in close.words
    assert (close.close_calls, close.suggested, close.enough) == (("b",), 80, False)
    exact = stability_of(Z, np.array([np.inf, 0.0, np.inf, np.inf]), names, "resamples")
    assert "b is exactly at the threshold" in exact.words
    far = stability_of(Z, np.array([np.inf, 0.01, np.inf, np.inf]), names, "resamples")
    assert "even 200 resamples may not settle it" in far.words
    assert (close.capped, far.capped, far.noun) == (False, True, "resamples")
    ones = np.repeat(np.eye(4, dtype=bool), 500, axis=0) | np.eye(4, dtype=bool)[0]
    alike = stability_of(np.tile(ones, (20, 1)), np.full(4, np.inf), names, "resamples", each=2)
    digits = re.search(r"agree by ([\d.-]+) on the 2 variables that each of them", alike.words)
    assert len(digits[1].split(".")[1]) == 3
    nobody = stability_of(np.zeros((9, 4)), np.full(4, np.inf), names, "splits")
    assert nobody.enough
    assert np.isnan([nobody.index, nobody.lower, nobody.upper]).all()
    assert nobody.words.startswith("None of the 9 splits selects any variable")


def test_distance_of_a_joint_decision_is_that_of_its_mean():
    # a variable is selected where its mean over members is positive: z = mean / standard error
    rng = np.random.default_rng(0)
    values = rng.normal(size=(400, 3))
    values -= values.mean(axis=0)
    z = np.array([0.5, 1.0, 1.5])
    values += z * values.std(axis=0) / np.sqrt(400)
    found = joint_distances(lambda weight: weight @ values > 0.0, 400, seed_sequence(1))
    # a share of 200 draws has an error of up to 0.035, a quantile here one of up to 0.2
    np.testing.assert_allclose(found, z, atol=0.45)
    assert found[0] < found[2]
