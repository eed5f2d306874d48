"""Bounds on the false variables of any list: constants, examples, coverage over all signs."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from selica._core.errors import ArgumentError
from selica.control import (
    SignBoundary,
    false_bound,
    first_negatives_filter,
    prefix_bounds,
    sign_boundary,
)
from selica.control.fdp_bounds import crossing_probability, joint_boundary, linear_constant

TOY = np.array(
    [5, 4, 3.5, 3, -2.5, 2.2, 2, 1.8, 1.5, -1.2, 1, 0.8, -0.5, 0.3, 0, 0, -0.2, 0.1, 0.9, 0.7]
)
TWELVE = np.array([9, 8, 7, 6, -5, 4, 3, 2, -1.5, 1, 0.5, 0.2])


def theorem(level, length):
    """Return the linear boundary with the constant of Katsevich and Ramdas."""
    v = np.arange(1, length + 2)
    slope = -np.log(level) / np.log(2.0 - level)
    return SignBoundary(v, np.floor(slope * v + 1e-12).astype(int), level)


def exact(level, length):
    return sign_boundary(level, length)


def mask(chosen, p):
    return np.isin(np.arange(p), chosen)


def test_floors_of_the_theorem():
    assert theorem(0.05, 6).allowed[:6].tolist() == [4, 8, 13, 17, 22, 26]
    assert -np.log(0.01) / np.log(1.99) == pytest.approx(6.692252, abs=1e-6)


@pytest.mark.parametrize(
    ("level", "length", "crossing"),
    [
        (0.05, 5, 0.03125),
        (0.05, 10, 0.036133),
        (0.05, 12, 0.0361328125),
        (0.05, 20, 0.036667),
        (0.05, 100, 0.036851),
        (0.1, 100, 0.074648),
        (0.2, 100, 0.165201),
    ],
)
def test_what_the_constant_of_the_theorem_wastes(level, length, crossing):
    boundary = theorem(level, length)
    found = crossing_probability(boundary.negatives, boundary.allowed, length)
    assert found == pytest.approx(crossing, abs=6e-7)


@pytest.mark.parametrize(
    ("level", "length", "constant", "crossing"),
    [
        (0.05, 10, 4, None),
        (0.05, 99, 4, 0.037580),
        (0.05, 1000, 4, 0.037580),
        (0.1, 200, 3, 0.087378),
        (0.2, 12, Fraction(9, 4), None),
        (0.5, 12, Fraction(4, 3), None),
        (0.2, 50, Fraction(17, 7), None),
        (0.2, 200, Fraction(17, 7), 0.199806),
    ],
)
def test_exact_constants(level, length, constant, crossing):
    assert linear_constant(level, length) == constant
    if crossing is not None:
        v = np.arange(1, length + 2)
        slope = Fraction(constant)
        b = slope.numerator * v // slope.denominator
        assert crossing_probability(v, b, length) == pytest.approx(crossing, abs=6e-7)


@pytest.mark.parametrize("level", [0.03, 0.05, 0.2, 0.5])
@pytest.mark.parametrize("length", [4, 7, 9])
def test_the_smallest_constant_of_all(level, length):
    # every fraction is tried, and the walk is counted over all signs
    v = np.arange(1, length + 2)
    slopes = sorted({Fraction(b, d) for d in range(1, length + 2) for b in range(length + 1)})
    kept = [
        slope
        for slope in slopes
        if counted(v, slope.numerator * v // slope.denominator, length) <= level
    ]
    assert linear_constant(level, length) == kept[0]


def counted(v, b, length):
    """Return the crossing probability by counting over all signs."""
    limits = dict(zip(v.tolist(), b.tolist(), strict=True))
    missed = 0
    for signs in product([1, 0], repeat=length):
        heads = np.cumsum(signs)
        tails = np.arange(1, length + 1) - heads
        missed += any(
            h > limits.get(t + 1, length)
            for h, t in zip(heads.tolist(), tails.tolist(), strict=True)
        )
    return missed / 2**length


@pytest.mark.parametrize(
    ("level", "most", "v", "heads", "joint"),
    [
        (0.05, 10, [1, 2, 5, 8], [6, 8, 14, 18], 0.047784),
        (0.05, 50, [1, 2, 5, 8, 13, 18, 25, 32, 41, 50],
         [7, 9, 15, 20, 28, 35, 44, 53, 64, 76], 0.048631),
        (0.2, 50, [1, 2, 5, 8, 13, 18, 25, 32, 41, 50],
         [5, 7, 11, 16, 22, 29, 37, 46, 57, 67], 0.197179),
    ],
)  # fmt: skip
def test_joint_boundaries(level, most, v, heads, joint):
    found = joint_boundary(level, most)
    assert found.negatives.tolist() == v
    assert (found.allowed + 1).tolist() == heads
    assert found.missed == pytest.approx(joint, abs=6e-7)


def test_the_joint_boundary_of_a_large_study():
    found = sign_boundary(0.05, 10**6)  # it looks at 1,200 negatives at most
    pairs = list(zip(found.negatives.tolist(), (found.allowed + 1).tolist(), strict=True))
    assert len(pairs) == 48
    assert pairs[:4] == [(1, 8), (2, 11), (5, 17), (8, 22)]
    assert pairs[-1] == (1152, 1281)
    assert found.missed == pytest.approx(0.049689, abs=6e-7)


def test_crossings_of_short_boundaries():
    assert crossing_probability(np.array([1]), np.array([4])) == 1 / 32
    assert crossing_probability(np.array([1, 2]), np.array([4, 7])) == 0.041015625
    for length in (3, 6, 9):
        v, b = np.array([1, 3]), np.array([2, 4])
        assert crossing_probability(v, b, length) == counted(
            np.array([1, 2, 3]), np.array([2, 4, 4]), length
        )


@pytest.mark.parametrize(
    ("level", "bounds"),
    [(0.2, [2, 5, 6, 8, 10]), (0.5, [1, 3, 4, 5, 7]), (0.05, [4, 8, 9, 12, 14])],
)
def test_prefixes_of_the_toy(level, bounds):
    boundary = theorem(level, 18)
    lists = [t <= TOY for t in (3, 1.5, 1, 0.7, 0.1)]
    assert [np.count_nonzero(one) for one in lists] == [4, 8, 9, 12, 14]
    assert [false_bound(TOY, one, boundary) for one in lists] == bounds


@pytest.mark.parametrize(("level", "bounds"), [(0.5, [1, 3, 3]), (0.2, [2, 3, 4])])
def test_lists_of_the_toy(level, bounds):
    lists = [[0, 1, 2], [0, 5, 19], [0, 1, 4, 14]]
    boundary = theorem(level, 18)
    assert [false_bound(TOY, mask(one, 20), boundary) for one in lists] == bounds


@pytest.mark.parametrize(
    ("boundary", "level", "bounds"),
    [
        (theorem, 0.2, [2, 5, 4]),
        (exact, 0.2, [2, 4, 4]),
        (theorem, 0.5, [1, 3, 3]),
        (exact, 0.5, [1, 2, 3]),
    ],
)
def test_exact_constants_are_better(boundary, level, bounds):
    lists = [[0, 1, 2, 3], [0, 1, 2, 3, 5, 6, 7], [0, 3, 7, 10]]
    found = [false_bound(TWELVE, mask(one, 12), boundary(level, 12)) for one in lists]
    assert found == bounds


@pytest.mark.parametrize("seed", range(12))
def test_prefixes_are_lists(seed):
    rng = np.random.default_rng(seed)
    W = rng.integers(-9, 14, size=40).astype(float)  # with ties and zeros
    boundary = sign_boundary(0.2, int(np.count_nonzero(W))) if seed % 2 else joint_boundary(0.2, 6)
    found = prefix_bounds(W, boundary)
    assert found.t.tolist() == sorted({w for w in W if w > 0}, reverse=True)
    for t, size, false in zip(found.t, found.size, found.false, strict=True):
        assert size == np.count_nonzero(t <= W)
        assert false == false_bound(W, t <= W, boundary)


@pytest.mark.parametrize("seed", range(6))
def test_bounds_are_those_of_the_first_negatives(seed):
    rng = np.random.default_rng(seed)
    W = rng.integers(-5, 9, size=25).astype(float)
    chosen = rng.random(25) < 0.5
    boundary = joint_boundary(0.3, 8)
    each = [
        b + np.count_nonzero(chosen & ~first_negatives_filter(W, v))
        for v, b in zip(boundary.negatives.tolist(), boundary.allowed.tolist(), strict=True)
    ]
    assert false_bound(W, chosen, boundary) == min([np.count_nonzero(chosen), *each])


@pytest.mark.parametrize("boundary", [sign_boundary(0.2, 7), joint_boundary(0.3, 3)])
def test_coverage_of_all_lists_over_all_signs(boundary):
    # seven noise variables: the bound of some list fails exactly as often as the walk crosses
    p = 7
    lists = (np.arange(2**p)[:, None] >> np.arange(p)) % 2 == 1
    missed = 0
    for signs in product([1, -1], repeat=p):
        W = np.arange(p, 0, -1.0) * signs
        missed += any(false_bound(W, one, boundary) < np.count_nonzero(one) for one in lists)
    crossing = crossing_probability(boundary.negatives, boundary.allowed, p)
    assert missed / 2**p == crossing
    assert 0.0 < crossing <= 0.3


@pytest.mark.parametrize("level", [0.05, 0.2])
def test_coverage_with_true_variables_between(level):
    # three true variables, one of them negative: bounds fail at most as often as promised
    truth = np.array([True, False, False, True, False, False, True, False, False, False, False])
    size = np.arange(11, 0, -1.0)
    boundary = sign_boundary(level, 11)
    v = boundary.negatives.tolist()
    missed = 0
    for signs in product([1, -1], repeat=8):
        W = size.copy()
        W[~truth] *= signs
        W[3] *= -1
        false = [np.count_nonzero(first_negatives_filter(W, x) & ~truth) for x in v]
        missed += any(np.array(false) > boundary.allowed)  # else no list fails
        noise = (W > 0) & ~truth
        assert (false_bound(W, noise, boundary) < np.count_nonzero(noise)) <= any(
            np.array(false) > boundary.allowed
        )
    assert missed / 2**8 <= level


@pytest.mark.parametrize("seed", range(15))
def test_closed_testing_gives_the_same_numbers(seed):
    # the local test of a set crosses the boundary in its own order; no set more is rejected by it
    rng = np.random.default_rng(seed)
    p = 8
    W = rng.permutation(np.arange(1.0, p + 1)) * rng.choice([1, -1], p, p=[0.7, 0.3])
    boundary = sign_boundary(0.5, p) if seed % 2 else sign_boundary(0.2, p)
    limits = dict(zip(boundary.negatives.tolist(), boundary.allowed.tolist(), strict=True))
    order = np.argsort(-np.abs(W))

    def rejected(members):
        heads = tails = 0
        for j in order:
            if j in members:
                heads, tails = heads + (W[j] > 0), tails + (W[j] < 0)
                if heads > limits[tails + 1]:
                    return True
        return False

    subsets = [
        frozenset(np.flatnonzero((code >> np.arange(p)) % 2).tolist()) for code in range(2**p)
    ]
    possible = [one for one in subsets if not rejected(one)]
    for chosen in subsets:
        closed = max(len(chosen & one) for one in possible)
        assert false_bound(W, mask(sorted(chosen), p), boundary) == closed


def test_which_boundary_depends_on_the_number_only():
    assert sign_boundary(0.05, 99).negatives.tolist() == list(range(1, 101))
    assert sign_boundary(0.05, 100).negatives.tolist() == [1, 2, 5, 8]
    assert sign_boundary(0.05, 0).allowed.min() >= 0


@pytest.mark.parametrize(("level", "nonzero"), [(0.6, 100), (0.9, 400), (0.99, 9600)])
def test_large_levels_allow_few_and_are_kept(level, nonzero):
    found = sign_boundary(level, nonzero)
    assert np.all(found.allowed >= 0)
    assert np.all(np.diff(found.allowed) >= 0)
    assert 0.9 * level < found.missed <= level
    again = crossing_probability(found.negatives, found.allowed)
    assert again == pytest.approx(found.missed, rel=1e-12)


def test_levels_that_cannot_be_computed_are_refused():
    assert joint_boundary(1e-200, 50).missed <= 1e-200
    with pytest.raises(ArgumentError, match=r"^level must be at least 1e-200"):
        sign_boundary(1e-300, 400)


def test_the_longest_walk():
    one = np.array([1])
    assert crossing_probability(one, np.array([1000])) == 2.0**-1001
    assert crossing_probability(one, np.array([10_000])) == 0.0  # below any double


def test_small_positives_are_no_negatives():
    # fewer than three negatives: all positives are ahead, and two of the list are not positive
    boundary = SignBoundary(np.array([3]), np.array([0]), 0.1)
    assert false_bound([0.5, 0.0, -2.0], [True] * 3, boundary) == 2
