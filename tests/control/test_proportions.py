"""False discovery and true positive proportions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from selica._core.errors import ArgumentError
from selica.control import fdp, tpp


def mask(indices, p):
    out = np.zeros(p, dtype=bool)
    out[list(indices)] = True
    return out


def test_twenty_selected():
    truth = [*range(18), 35, 36, 37]
    for s, t in [
        (range(20), truth),
        (mask(range(20), 40), truth),
        (range(20), mask(truth, 40)),
        (mask(range(20), 40), mask(truth, 40)),
    ]:
        assert fdp(s, t) == pytest.approx(2 / 20)
        assert tpp(s, t) == pytest.approx(18 / 21)


@pytest.mark.parametrize("nothing", [[], (), np.zeros(5, dtype=bool), np.array([], dtype=int)])
def test_nothing_selected(nothing):
    assert fdp(nothing, [0, 4]) == 0.0
    assert tpp(nothing, [0, 4]) == 0.0


def test_nothing_true():
    assert fdp([1, 2], []) == 1.0
    assert tpp([1, 2], []) == 0.0
    assert fdp([], []) == 0.0


@given(st.sets(st.integers(0, 15)), st.sets(st.integers(0, 15)))
def test_sets(selected, truth):
    s, t = list(selected), list(truth)
    assert fdp(s, t) == len(selected - truth) / max(len(selected), 1)
    assert tpp(s, t) == len(selected & truth) / max(len(truth), 1)
    assert fdp(mask(s, 16), t) == fdp(s, mask(t, 16)) == fdp(mask(s, 16), mask(t, 16)) == fdp(s, t)
    assert tpp(mask(s, 16), t) == tpp(s, mask(t, 16)) == tpp(mask(s, 16), mask(t, 16)) == tpp(s, t)


@pytest.mark.parametrize("proportion", [fdp, tpp])
@pytest.mark.parametrize(
    ("selected", "truth", "message"),
    [
        ([True, False], [True, False, True], "selected and truth must be masks of the same length"),
        ([True, False], [2], "truth names variable 2, selected is a mask of length 2"),
        ([5], [True] * 5, "selected names variable 5, truth is a mask of length 5"),
        ([-1], [0], "selected must have indices from 0"),
        ([0], [3, -2], "truth must have indices from 0"),
        ([0, 1, 1, 0], [0], "selected names a variable twice; a mask must be boolean"),
        ([0.0, 1.0], [0], "selected must be a boolean mask or a list of indices"),
        ("ab", [0], "selected must be"),
        ([0], None, "truth must be"),
        ([0], 3, "truth must be"),
        ([[True]], [0], "selected must be"),
        ([[0], [1, 2]], [0], "selected must be"),
        ([0], [None], "truth must be"),
    ],
)
def test_bad_sets(proportion, selected, truth, message):
    with pytest.raises(ArgumentError, match=message):
        proportion(selected, truth)
