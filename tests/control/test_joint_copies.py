"""The filter with several joint copies."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from selica._core.errors import ArgumentError
from selica.control import (
    joint_qvalues,
    joint_selection,
    joint_threshold,
    joint_wins,
    knockoff_threshold,
)

TEN_GROUPS = np.array(
    [
        (5, 1, 2, 0.5), (3, 0.2, 2.5, 1), (0.5, 0.4, 0.9, 0.1), (2, 0.1, 0, 0.3), (0, 0, 0, 0),
        (1.2, 0.6, 0.6, 1.1), (4, 0.5, 1.5, 3), (0.3, 2.2, 0.1, 0.2), (2.6, 0.4, 0.8, 0.2),
        (1.9, 0.7, 0.9, 1),
    ]
).T  # fmt: skip


def test_who_wins_with_three_copies():
    wins = joint_wins(TEN_GROUPS)
    assert wins.n_joint == 3
    np.testing.assert_array_equal(np.delete(wins.winner, 4), [0, 0, 2, 0, 0, 0, 1, 0, 0])
    assert wins.winner[4] != 0
    np.testing.assert_allclose(wins.lead, [4, 2, 0.5, 1.9, 0, 0.6, 2.5, 2, 2.2, 1], atol=1e-12)


def test_the_filter_with_three_copies():
    wins = joint_wins(TEN_GROUPS)
    seven = np.isin(np.arange(10), [0, 1, 3, 5, 6, 8, 9])
    for level, threshold, chosen in (
        (0.05, np.inf, np.zeros(10, dtype=bool)), (0.1, 0.6, seven), (0.15, 0.5, seven),
    ):  # fmt: skip
        found = joint_threshold(wins.winner, wins.lead, 3, level)
        assert found == pytest.approx(threshold)
        np.testing.assert_array_equal(joint_selection(wins.winner, wins.lead, 3, level), chosen)
    np.testing.assert_allclose(
        joint_qvalues(wins.winner, wins.lead, 3), np.where(seven, 2 / 21, 1.0)
    )


def test_a_tie_has_no_winner():
    wins = joint_wins([[5, 1, 3, 0.5, 4], [1, 2, 3.5, 0.2, 4], [2, 0.5, 1, 0.1, 1]])
    np.testing.assert_array_equal(wins.winner, [0, 1, 1, 0, 1])
    np.testing.assert_allclose(wins.lead, [3.5, 1.25, 1.5, 0.35, 0.0])


def test_how_many_copies_are_needed():
    winner, lead = [0, 0, 0, 0, 2, 0, 0, 1, 0, 0], np.arange(10.0, 0.0, -1.0)
    assert joint_threshold(winner, lead, 2, 0.1) == np.inf
    assert joint_threshold(winner, lead, 2, 0.2) == 1.0
    assert joint_selection(winner, lead, 2, 0.2).sum() == 8
    assert joint_threshold(winner, lead, 5, 0.1) == 1.0


@given(arrays(float, (2, 12), elements=st.integers(0, 6).map(float)), st.floats(0.05, 0.9))
def test_one_copy_is_the_usual_filter(T, fdr):
    wins = joint_wins(T)
    W = T[0] - T[1]
    threshold = knockoff_threshold(W, fdr)
    assert joint_threshold(wins.winner, wins.lead, 1, fdr) == threshold
    np.testing.assert_array_equal(joint_selection(wins.winner, wins.lead, 1, fdr), threshold <= W)


@given(arrays(float, (4, 9), elements=st.integers(0, 5).map(float)), st.permutations(range(4)))
def test_the_order_of_the_versions_does_not_change_the_lead(T, order):
    """The winner moves with its version, unless there is a tie."""
    before, after = joint_wins(T), joint_wins(T[list(order)])
    np.testing.assert_array_equal(before.lead, after.lead)
    clear = before.lead > 0.0
    np.testing.assert_array_equal(np.array(order)[after.winner[clear]], before.winner[clear])


@given(arrays(float, (3, 9), elements=st.integers(0, 9).map(float)))
def test_qvalues_are_the_smallest_levels(T):
    wins = joint_wins(T)
    q = joint_qvalues(wins.winner, wins.lead, 2)
    for level in np.unique(q[q < 1.0]):
        np.testing.assert_array_equal(joint_selection(wins.winner, wins.lead, 2, level), q <= level)
        below = joint_selection(wins.winner, wins.lead, 2, level - 1e-6)
        np.testing.assert_array_equal(below, q < level - 1e-9)


def test_the_false_discovery_rate_of_pure_noise():
    """All is false: some are selected in at most the share `fdr` of the cases.

    And in as many cases, at least, as the first 1/(m fdr) variables win.
    """
    rng = np.random.default_rng(0)
    for m, first in ((1, 5), (3, 2)):
        runs = [joint_wins(rng.random((m + 1, 40))) for _ in range(2000)]
        some = np.mean([joint_selection(run.winner, run.lead, m, 0.2).any() for run in runs])
        assert some <= 0.2 + 3 * np.sqrt(0.2 * 0.8 / 2000)
        least = (m + 1.0) ** -first
        assert some >= least - 3 * np.sqrt(least / 2000)


def test_bad_importances():
    with pytest.raises(ArgumentError, match=r"^importances must have a row"):
        joint_wins([[1.0, 2.0]])
    with pytest.raises(ArgumentError, match=r"^importances"):
        joint_wins([[1.0], [-1.0]])
    with pytest.raises(ArgumentError, match=r"^winner must be between 0 and 2"):
        joint_threshold([3], [1.0], 2, 0.1)
    with pytest.raises(ArgumentError, match=r"^winner must have one integer"):
        joint_threshold([0, 1], [1.0], 2, 0.1)
