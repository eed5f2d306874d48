"""Segments and clumps of markers, against all cuts and against sums by definition."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest

from selica._core.errors import ArgumentError
from selica.sampling import clumps, ld_blocks
from selica.sampling.clumps import clump_tree
from selica.sampling.ld_blocks import cheapest_cuts, cut_costs
from selica.tables.genotypes import Genotypes
from tests.sampling.test_genotypes import founders


def blocks_of(sizes, seed, n=400):
    """Genotypes of independent blocks of markers."""
    each = [founders(m, 6, seed + k).simulate(n, random_state=seed + k) for k, m in
            enumerate(sizes)]  # fmt: skip
    return np.concatenate(each, axis=1)


@pytest.mark.parametrize(("smallest", "largest"), [(2, 4), (3, 5), (1, 11), (2, 3)])
def test_cuts_are_the_cheapest_of_all(smallest, largest):
    cost = np.random.default_rng(0).random(12)
    best = min(
        (sum(cost[c] for c in cuts), cuts)
        for k in range(12)
        for cuts in combinations(range(1, 12), k)
        if all(smallest <= d <= largest for d in np.diff([0, *cuts, 12]))
    )
    assert tuple(cheapest_cuts(cost, smallest, largest).tolist()) == best[1]


def test_a_size_that_no_segments_add_up_to_is_cut_evenly():
    assert cheapest_cuts(np.zeros(10), 6, 7).tolist() == [5]


def test_a_cut_costs_what_it_parts():
    X = blocks_of([30, 40], 1, n=200)
    X[3, 5] = -1
    table = X.astype(float)
    table[3, 5] = np.delete(table[:, 5], 3).mean()
    r2 = np.corrcoef(table.T) ** 2
    r2[r2 < 10.0 / 200] = 0.0
    cost = [sum(r2[i, j] for i in range(c) for j in range(c, 70) if j - i <= 25) for c in range(70)]
    np.testing.assert_allclose(cut_costs(Genotypes.of(X), band=25), cost, atol=1e-4)


def test_independent_blocks_are_found():
    sizes = [60, 80, 50, 70]
    found = ld_blocks(Genotypes.of(blocks_of(sizes, 2)), smallest=40, largest=90)
    starts = np.flatnonzero(np.diff(found, prepend=-1))
    assert np.abs(starts - np.cumsum([0, *sizes[:-1]])).max() <= 1


def test_segments_stay_on_their_chromosome():
    genotypes = Genotypes.of(blocks_of([50, 50], 3, n=50))
    labels = np.repeat(["1", "2"], [30, 70])
    found = ld_blocks(genotypes, labels, smallest=10, largest=40)
    assert found[29] < found[30]
    assert np.bincount(found).max() <= 40


@pytest.mark.parametrize("even", [False, True])
def test_the_closest_neighbours_are_joined_first(even):
    def close(a, b):
        between = r2[np.ix_(a, b)].mean()
        if not even:
            return between
        both = [*a, *b]
        # the sum of squared distances to the centre of a clump, in the space of the kernel r2
        within = [np.trace(r2[np.ix_(c, c)]) - r2[np.ix_(c, c)].sum() / len(c) for c in
                  (both, a, b)]  # fmt: skip
        return within[1] + within[2] - within[0]

    rng = np.random.default_rng(4)
    r2 = rng.random((9, 9))
    r2 = (r2 + r2.T) / 2
    tree = clump_tree(r2, even)
    groups = [[j] for j in range(9)]
    for removed, size in zip(tree.removed, tree.closeness, strict=True):
        means = [close(a, b) for a, b in pairwise(groups)]
        k = int(np.argmax(means))
        assert size == pytest.approx(means[k], abs=1e-12)
        assert removed == groups[k + 1][0]
        groups[k : k + 2] = [groups[k] + groups[k + 1]]


def test_clumps_are_nested_and_have_the_sizes_asked_for():
    genotypes = Genotypes.of(blocks_of([60, 60], 5))
    segments = np.repeat([0, 1], 60)
    found = clumps(genotypes, segments, [1, 4, 0.5, 20])
    assert found[0].tolist() == list(range(120))
    assert found[1].max() + 1 == 30
    assert found[3].max() + 1 == 6
    for fine, coarse in ((0, 1), (1, 3)):
        pairs = {*zip(found[fine], found[coarse], strict=True)}
        assert len(pairs) == found[fine].max() + 1
    assert not set(found[3][:60]) & set(found[3][60:])


@pytest.mark.parametrize("wrong", [0, 1.5, -0.1, "fine", [], [0.5, 0.5], True])
def test_resolutions_are_checked(wrong):
    with pytest.raises(ArgumentError, match="resolutions must be"):
        clumps(Genotypes.of(np.ones((3, 4), dtype=int)), np.zeros(4), wrong)
