"""Whether members are enough: the rule by hand, and what it suggests."""

from __future__ import annotations

import numpy as np
import pytest

from selica._core.errors import ArgumentError
from selica.control import members_needed, share_distances


def test_distances_are_standard_errors_from_the_threshold():
    P, M = np.array([0.2, 0.85, 0.9, 1.0, 0.0]), 100
    by_hand = [0.7 / np.sqrt(0.2 * 0.8 / M), 0.05 / np.sqrt(0.85 * 0.15 / M), 0.0, np.inf, np.inf]
    np.testing.assert_allclose(share_distances(P, 0.9, M), by_hand)
    assert share_distances([1.0], 1.0, M)[0] == np.inf  # all members agree


def test_suggests_what_the_rule_says():
    P, threshold, M = np.array([0.99, 0.86, 0.4]), 0.9, 200
    found = members_needed(share_distances(P, threshold, M), M, half_width=0.02)
    by_hand = 4.0 * 0.86 * 0.14 / 0.04**2
    assert not found.enough
    assert found.precise
    assert found.close == (1,)
    assert found.suggested == int(np.ceil(by_hand - 1e-9)) == 301
    # so many of the same shares are just enough
    again = members_needed(share_distances(P, threshold, 302), 302, half_width=0.02)
    assert again.enough
    assert again.suggested == 302


def test_the_interval_asks_for_members_too():
    found = members_needed([9.0], 100, half_width=0.05)
    assert (found.settled, found.precise, found.suggested) == (True, False, 400)
    assert members_needed([1.0], 100, half_width=0.05).suggested == 400
    assert members_needed([0.8], 100, half_width=0.05).suggested == 625
    assert members_needed([9.0], 100, half_width=np.nan).enough  # nobody selects anything


def test_at_most_ten_times_as_many():
    found = members_needed([0.1, 5.0], 50)
    assert (found.suggested, found.capped) == (500, True)
    assert not members_needed([2.0 / np.sqrt(10.0) + 1e-9], 50).capped


@pytest.mark.parametrize(("distance", "width"), [(1e-200, 0.0), (5e-324, 0.0), (9.0, 1e300)])
def test_numbers_whose_squares_overflow(distance, width):
    found = members_needed([distance], 50, half_width=width)
    assert (found.suggested, found.capped) == (500, True)


def test_what_is_exactly_at_the_threshold_is_named_instead():
    found = members_needed(share_distances([0.9, 0.9, 0.3], 0.9, 50), 50)
    assert found.undecided == found.close == (0, 1)
    assert (found.suggested, found.capped, found.settled) == (50, False, False)


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (([], 10), "distances"),
        (([-1.0], 10), "distances"),
        (([1.0], 0), "members"),
        (([1.0], 10, -0.1), "half_width"),
    ],
)
def test_refuses_in_one_sentence(arguments, word):
    with pytest.raises(ArgumentError, match=word):
        members_needed(*arguments)
