"""One stream for each member, whoever draws it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from selica._core.errors import ArgumentError
from selica._core.random import child, generator, member_indices, seed_sequence


def states(seeds):
    return [tuple(s.generate_state(4)) for s in seeds]


def children(random_state, n):
    seed = seed_sequence(random_state)
    return [child(seed, b) for b in range(n)]


def test_children_are_numpys_own():
    want = np.random.SeedSequence(5).spawn(4)
    assert states(children(5, 4)) == states(want)


def test_a_seed_sequence_is_left_alone_and_gives_the_same_children():
    parent = np.random.SeedSequence(3, spawn_key=(1, 2), pool_size=8)
    parent.spawn(5)
    first = children(parent, 3)
    assert parent.n_children_spawned == 5
    assert states(first) == states(children(parent, 3))
    assert [s.spawn_key for s in first] == [(1, 2, 0), (1, 2, 1), (1, 2, 2)]
    fresh = np.random.SeedSequence(3, spawn_key=(1, 2), pool_size=8)
    assert states(first) == states(fresh.spawn(3))


@pytest.mark.parametrize("make", [np.random.default_rng, np.random.RandomState])
def test_a_generator_is_advanced_and_reproducible(make):
    rng = make(0)
    first, second = children(rng, 3), children(rng, 3)
    assert states(first) != states(second)
    again = make(0)
    assert states(first) == states(children(again, 3))


def test_none_takes_entropy_from_the_system():
    assert seed_sequence(None).entropy != seed_sequence(None).entropy


def test_generator():
    rng = np.random.default_rng(0)
    assert generator(rng) is rng
    for source in (4, np.int32(4), np.random.SeedSequence(4)):
        assert generator(source).random() == np.random.default_rng(4).random()
    legacy = np.random.RandomState(4)
    assert generator(legacy).random() != generator(legacy).random()
    assert generator(None).random() != generator(None).random()


def test_purposes_are_apart():
    seed = seed_sequence(0)
    assert len({*states(child(seed, a, b) for a in range(5) for b in range(5))}) == 25


@pytest.mark.parametrize("bad", [-1, 1.5, True, "seed", [1, 2], np.array([1]), {}, object()])
def test_bad_seeds(bad):
    for function in (generator, seed_sequence):
        with pytest.raises(ArgumentError, match="random_state"):
            function(bad)


@given(
    st.slices(12)
    | st.lists(st.integers(0, 11), max_size=5)
    | st.builds(range, st.integers(0, 12))
    | st.none()
)
def test_members_index_like_an_array(members):
    full = np.arange(12)
    want = full if members is None else full[members if isinstance(members, slice) else [*members]]
    got = member_indices(members, 12)
    assert got.dtype == np.intp
    np.testing.assert_array_equal(got, want)


def test_members_of_an_ensemble_without_end():
    np.testing.assert_array_equal(member_indices(3), [0, 1, 2])
    np.testing.assert_array_equal(member_indices(slice(3, 9, 2)), [3, 5, 7])
    np.testing.assert_array_equal(member_indices([10**12, 0]), [10**12, 0])


@pytest.mark.parametrize(
    "bad",
    [
        *([-1], [12], 3, [0.5], "all", [True, False], [[1, 2]], [[1], [2, 3]], {1, 2}),
        *(slice("a"), slice(0, 4, 0)),
    ],
)
def test_bad_members(bad):
    with pytest.raises(ArgumentError, match="members"):
        member_indices(bad, 12)


@pytest.mark.parametrize(
    "bad", [None, -1, 2.0, "all", True, slice(None), slice(2, None), slice(-3, 4), slice(4, 1, -1)]
)
def test_bad_members_without_end(bad):
    with pytest.raises(ArgumentError, match="members"):
        member_indices(bad)
