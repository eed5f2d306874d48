"""Group copies of genotypes: exchangeable group by group, by adding up everything drawn."""

from __future__ import annotations

import numpy as np
import pytest

from selica._core.errors import ArgumentError, RefusedError
from selica.sampling import GenotypeKnockoffs, HaplotypeLaw, group_copies
from tests.sampling.swaps import swap_error
from tests.sampling.test_genotypes import TOY, Enumerated, founders, random_law

PARTITIONS = [(0, 0, 1, 1), (0, 1, 1, 2), (0, 0, 0, 1), (0, 1, 2, 2), (0, 0, 0, 0)]


def likeness(X, copy):
    """Correlation of each marker with its copy."""
    a, b = X - X.mean(axis=0), copy - copy.mean(axis=0)
    return (a * b).sum(axis=0) / np.sqrt((a**2).sum(axis=0) * (b**2).sum(axis=0))


@pytest.mark.parametrize("groups", PARTITIONS)
def test_groups_of_a_haplotype_can_change_places_with_their_copies(groups):
    for seed in range(2):
        small = Enumerated(random_law(seed, 4, 3), 1, groups)
        J = small.chance[:, None] * small.copies(small.rows)
        assert J.sum() == pytest.approx(1.0, abs=1e-13)
        assert swap_error(small.rows, J, groups) < 1e-15


@pytest.mark.parametrize("groups", [(0, 0, 1), (0, 1, 1)])
def test_groups_of_two_haplotypes_can_change_places_with_their_copies(groups):
    small = Enumerated(random_law(1, 3, 3), 2, groups)
    J = small.chance[:, None] * small.copies(small.rows)
    assert J.sum() == pytest.approx(1.0, abs=1e-13)
    assert swap_error(small.rows, J, groups) < 1e-15
    assert swap_error(small.rows, J) > 1e-6  # inside of a group it would not hold


def test_the_copy_is_that_of_the_chain_of_groups_by_its_definition():
    """The states of the chain of groups are all motifs of a group; its transitions are products."""
    law, groups = random_law(5, 4, 2), (0, 0, 1, 1)
    small = Enumerated(law, 1, groups)
    step = [
        law.stay[j] * np.eye(2) + (1.0 - law.stay[j]) * law.shares[j] * np.ones((2, 1))
        for j in range(4)
    ]
    pairs = [(a, b) for a in range(2) for b in range(2)]
    first = np.array([law.shares[0, a] * step[1][a, b] for a, b in pairs])
    Q = np.array([[step[2][v[1], w[0]] * step[3][w[0], w[1]] for w in pairs] for v in pairs])
    expected = np.empty((16, 16))
    N = first @ Q
    for x, (i, k) in enumerate((i, k) for i in range(4) for k in range(4)):
        for y, (a, b) in enumerate((a, b) for a in range(4) for b in range(4)):
            one = first * Q[:, k]
            two = Q[i] * Q[a] / N
            expected[x, y] = one[a] / one.sum() * two[b] / two.sum()
    np.testing.assert_allclose(small.hidden_copies(), expected, atol=1e-15)


def test_one_group_of_everything_is_an_independent_row():
    small = Enumerated(random_law(2, 3, 3), 2, (0, 0, 0))
    np.testing.assert_allclose(
        small.copies(small.rows), np.tile(small.chance, (len(small.rows), 1)), atol=1e-15
    )


def test_what_is_drawn_has_these_probabilities():
    n, partitions = 200_000, [(0, 0, 1), (0, 1, 2), (0, 1, 1)]
    small = Enumerated(TOY, 2)
    m = len(small.rows)
    X = small.rows[np.random.default_rng(0).choice(m, n, p=small.chance)]
    copies = group_copies(TOY, X, partitions, random_state=1).astype(int)
    code = 3 ** np.arange(2, -1, -1)
    for groups, copy in zip(partitions, copies, strict=True):
        law = Enumerated(TOY, 2, groups)
        seen = np.bincount((X @ code) * m + copy @ code, minlength=m * m)
        expected = n * (law.chance[:, None] * law.copies(law.rows)).ravel()
        cells = m * m - 1
        assert abs(((seen - expected) ** 2 / expected).sum() - cells) < 4 * np.sqrt(2 * cells)


def test_copies_inside_of_groups_are_much_less_like_their_markers():
    law = founders(120, 8, 3, rate=0.05)
    X = law.simulate(2000, random_state=4)
    alone, large = group_copies(law, X, [np.arange(120), np.arange(120) // 40], random_state=5)
    single = GenotypeKnockoffs(law).sample(X, random_state=6)
    assert likeness(X, alone).mean() == pytest.approx(likeness(X, single).mean(), abs=0.02)
    assert likeness(X, large).mean() < 0.6 * likeness(X, alone).mean()


def test_neither_threads_nor_other_rows_nor_later_partitions_change_a_copy(monkeypatch):
    law = founders(150, 6, 0)
    X = law.simulate(90, random_state=1)
    partitions = [np.arange(150) // 7, np.arange(150) // 3]
    found = []
    for threads in ("1", "3"):
        monkeypatch.setenv("SELICA_NUM_THREADS", threads)
        found.append(group_copies(law, X, partitions, random_state=2))
    np.testing.assert_array_equal(*found)
    fewer = group_copies(law, X[:50], partitions[:1], random_state=2)
    np.testing.assert_array_equal(fewer[0], found[0][0, :50])


def test_gaps_are_left_open_and_are_gaps_of_the_copy():
    law = founders(40, 5, 7)
    X = law.simulate(60, random_state=8)
    X[3, 5:20] = -1
    copy = group_copies(law, X, np.arange(40) // 4, random_state=9)[0]
    np.testing.assert_array_equal(copy == -1, X == -1)


def test_groups_are_checked():
    X = np.zeros((2, 3), dtype=np.int8)
    with pytest.raises(ArgumentError, match="markers stand side by side"):
        group_copies(TOY, X, [0, 1, 0])
    with pytest.raises(ArgumentError, match="partitions must have a label for each of the 3"):
        group_copies(TOY, X, [0, 1])
    certain = HaplotypeLaw(np.zeros(3), np.ones((3, 1)), np.zeros((3, 1)))
    with pytest.raises(RefusedError, match="row 0 are impossible"):
        group_copies(certain, X + 1, [0, 0, 1])
