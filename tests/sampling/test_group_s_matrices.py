"""S of groups of variables: numeric oracles, optimality, and the limit of single variables."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from selica._core.errors import ArgumentError
from selica.sampling import group_s_matrix, s_matrix
from selica.sampling.group_s_matrices import GROUP_METHODS, DiagonalBlocks
from tests.sampling.test_s_matrices import ar1, equicorrelated, wishart

PAIRS = np.array([0, 0, 1, 1, 2, 2])
TRIPLES = np.array([0, 0, 0, 1, 1, 1])
UNEVEN = np.array([3, 1, 3, 7, 1, 3, 9, 1])


def lower(block):
    return block[np.tril_indices_from(block)]


def mirrored(block):
    """The lower triangle of a block read from its other corner."""
    return lower(block[::-1, ::-1])


def entropy(sigma, S, m=1):
    return -np.linalg.slogdet((m + 1) / m * sigma - S)[1] - m * np.linalg.slogdet(S)[1]


def reconstruction(sigma, S, m=1):
    A = (m + 1) / m * sigma - S
    return np.trace(np.linalg.inv(A)) + m**2 * np.trace(np.linalg.inv(S))


def by_blocks(sigma, groups, m):
    """Maximum entropy by exact updates of one block after the other."""
    same = np.equal.outer(groups, groups)
    S = np.where(same, 0.1 * np.linalg.eigvalsh(sigma)[0] * np.eye(len(sigma)), 0.0)
    for _ in range(3000):
        before = S.copy()
        for group in np.unique(groups):
            G = np.ix_(groups == group, groups == group)
            M = np.linalg.inv((m + 1) / m * sigma - S)
            S[G] = m / (m + 1) * (S[G] + np.linalg.inv(M[G]))
        if np.abs(S - before).max() < 1e-13:
            break
    return S


def by_rank_one_moves(sigma, groups, m):
    """MVR by moves along single columns, and sums and differences of two of them."""
    p = len(sigma)
    unit = np.eye(p)
    moves = list(unit)
    for i, j in combinations(range(p), 2):
        if groups[i] == groups[j]:
            moves += [(unit[i] + unit[j]) / np.sqrt(2), (unit[i] - unit[j]) / np.sqrt(2)]
    S = 0.1 * np.linalg.eigvalsh(sigma)[0] * unit
    for _ in range(5000):
        before = S.copy()
        for v in moves:
            a = np.linalg.solve((m + 1) / m * sigma - S, v)
            s = np.linalg.solve(S, v)
            a1, a2, s1, s2 = v @ a, np.sqrt(a @ a), v @ s, np.sqrt(s @ s)
            S = S + (m * s2 - a2) / (a2 * s1 + m * s2 * a1) * np.outer(v, v)
        if np.abs(S - before).max() < 1e-13:
            break
    return S


def test_maximum_entropy_of_neighbours():
    sigma = ar1(0.5, 6)
    S = group_s_matrix(sigma, PAIRS)
    np.testing.assert_allclose(lower(S[:2, :2]), [0.909886, 0.319772, 0.639544], atol=5e-7)
    np.testing.assert_allclose(lower(S[2:4, 2:4]), [0.594437, 0.207003, 0.594437], atol=5e-7)
    np.testing.assert_allclose(mirrored(S[4:, 4:]), lower(S[:2, :2]), atol=1e-9)
    assert entropy(sigma, S) == pytest.approx(3.80255145, abs=5e-9)
    S = group_s_matrix(sigma, TRIPLES)
    expected = [0.977123, 0.454247, 0.908494, 0.158494, 0.316987, 0.633975]
    np.testing.assert_allclose(lower(S[:3, :3]), expected, atol=5e-7)
    np.testing.assert_allclose(mirrored(S[3:, 3:]), lower(S[:3, :3]), atol=1e-9)
    assert entropy(sigma, S) == pytest.approx(3.35679040, abs=5e-9)


def test_mvr_of_neighbours():
    sigma = ar1(0.5, 6)
    S = group_s_matrix(sigma, PAIRS, "mvr")
    np.testing.assert_allclose(lower(S[:2, :2]), [0.868700, 0.271528, 0.578528], atol=5e-7)
    np.testing.assert_allclose(lower(S[2:4, 2:4]), [0.539892, 0.163451, 0.539892], atol=5e-7)
    assert reconstruction(sigma, S) == pytest.approx(20.42698134, abs=5e-9)
    S = group_s_matrix(sigma, TRIPLES, "mvr")
    expected = [0.960023, 0.427760, 0.865875, 0.130822, 0.269711, 0.576111]
    np.testing.assert_allclose(lower(S[:3, :3]), expected, atol=5e-7)
    assert reconstruction(sigma, S) == pytest.approx(19.56798342, abs=5e-9)


def test_equi_of_neighbours():
    sigma = ar1(0.5, 6)
    S = group_s_matrix(sigma, PAIRS, "equi")
    same = np.equal.outer(PAIRS, PAIRS)
    np.testing.assert_allclose(S, np.where(same, 0.89389277 * sigma, 0.0), atol=5e-9)
    S = group_s_matrix(sigma, TRIPLES, "equi")
    np.testing.assert_allclose(S[:3, :3], sigma[:3, :3], atol=1e-12)


@pytest.mark.parametrize(
    ("groups", "method", "entries", "value"),
    [
        (PAIRS, "maxent", (0.546232, 0.046232), 5.66705580),
        (PAIRS, "mvr", (0.525105, 0.025105), 22.05402690),
        (PAIRS, "equi", (0.666667, 0.333333), None),
        (TRIPLES, "maxent", (0.551597, 0.051597), 5.60796101),
        (TRIPLES, "mvr", (0.528427, 0.028427), 21.98432473),
        (TRIPLES, "equi", (0.5, 0.25), None),
    ],
)
def test_equicorrelated_variables(groups, method, entries, value):
    sigma = equicorrelated(0.5, 6)
    S = group_s_matrix(sigma, groups, method)
    np.testing.assert_allclose((S[0, 0], S[0, 1]), entries, atol=5e-7)
    if value is not None:
        objective = entropy if method == "maxent" else reconstruction
        assert objective(sigma, S) == pytest.approx(value, abs=5e-9)


@pytest.mark.parametrize("m", [1, 3])
def test_slow_updates_have_the_same_limit(m):
    sd = np.array([1.0, 0.1, 3.0, 1.0, 2.0])
    correlation = ar1(0.6, 5)
    sigma = correlation * np.outer(sd, sd)
    groups = UNEVEN[[0, 1, 2, 4, 3]]
    for method, slow in (("maxent", by_blocks), ("mvr", by_rank_one_moves)):
        expected = slow(correlation, groups, m) * np.outer(sd, sd)
        np.testing.assert_allclose(
            group_s_matrix(sigma, groups, method, m), expected, rtol=0, atol=1e-8 * sd.max() ** 2
        )


@pytest.mark.parametrize("method", GROUP_METHODS)
@pytest.mark.parametrize("sigma", [ar1(0.5, 30), ar1(0.99, 30), wishart(30, 0)])
def test_groups_of_one_are_single_variables(method, sigma):
    S = group_s_matrix(sigma, np.arange(30)[::-1], method)
    assert np.count_nonzero(S - np.diag(S.diagonal())) == 0
    np.testing.assert_allclose(S.diagonal(), s_matrix(sigma, method), rtol=1e-8)


@pytest.mark.parametrize("m", [1, 5])
def test_the_copies_of_one_group_of_all_are_independent_of_it(m):
    sigma = wishart(7, 0)
    for method in ("maxent", "equi"):
        S = group_s_matrix(sigma, np.zeros(7, int), method, m)
        np.testing.assert_allclose(S, sigma, atol=1e-8)


def test_maximum_entropy_does_not_depend_on_the_basis_inside_groups():
    sigma, rng = wishart(6, 0), np.random.default_rng(0)
    B = np.zeros((6, 6))
    for first in (0, 2, 4):
        B[first : first + 2, first : first + 2] = rng.standard_normal((2, 2))
    S = group_s_matrix(B @ sigma @ B.T, PAIRS, "maxent", 2)
    np.testing.assert_allclose(S, B @ group_s_matrix(sigma, PAIRS, "maxent", 2) @ B.T, atol=1e-7)


def test_a_screened_variable_has_no_part_in_the_copies():
    """Of neighbours, the outer one of a pair is screened off by the inner one (Markov chain)."""
    sigma = ar1(0.7, 8)
    S = group_s_matrix(sigma, np.arange(8) // 2)
    np.testing.assert_allclose(np.linalg.solve(sigma, S)[0], np.eye(8)[0], atol=1e-9)


def test_units_of_variables_scale_s():
    sd = np.array([1.0, 0.01, 30.0, 2.0, 5.0, 1e4])
    sigma = ar1(0.6, 6)
    for method in GROUP_METHODS:
        S = group_s_matrix(sigma, PAIRS, method)
        np.testing.assert_allclose(
            group_s_matrix(sigma * np.outer(sd, sd), PAIRS, method), S * np.outer(sd, sd),
            rtol=1e-8, atol=1e-12,
        )  # fmt: skip


def test_blocks_of_groups_of_different_sizes():
    blocks = DiagonalBlocks(np.unique(UNEVEN, return_inverse=True)[1])
    rng = np.random.default_rng(0)
    A, B = rng.standard_normal((8, 8)), rng.standard_normal((8, 8))
    sorted_groups = UNEVEN[blocks.order]
    same = np.equal.outer(sorted_groups, sorted_groups)
    D = blocks.of(A + A.T)
    np.testing.assert_allclose(blocks.matrix(D), np.where(same, A + A.T, 0.0))
    np.testing.assert_allclose(blocks.times(D, B), blocks.matrix(D) @ B)
    np.testing.assert_allclose(blocks.matrix(blocks.product(A, A.T)), np.where(same, A @ A.T, 0.0))


@pytest.mark.parametrize("groups", [None, "ab", [0.5] * 4, [0, 1], [[0, 1, 2, 3]], [True] * 4])
def test_bad_groups(groups):
    with pytest.raises(ArgumentError, match=r"^groups must have one integer for each"):
        group_s_matrix(np.eye(4), groups)


def test_bad_arguments():
    with pytest.raises(ArgumentError, match=r"^method"):
        group_s_matrix(np.eye(4), [0, 0, 1, 1], "sdp")
    with pytest.raises(ArgumentError, match=r"^n_joint"):
        group_s_matrix(np.eye(4), [0, 0, 1, 1], n_joint=0)
    with pytest.raises(ArgumentError, match=r"^covariance"):
        group_s_matrix(np.ones((2, 3)), [0, 1])


@pytest.mark.slow
def test_two_thousand_variables_in_groups_of_ten():
    p = 2000
    sigma, groups = ar1(0.9, p), np.arange(p) // 10
    S = group_s_matrix(sigma, groups)
    gradient = np.linalg.inv(2.0 * sigma - S) - np.linalg.inv(S)
    scale = np.abs(np.linalg.inv(S)).max()
    assert np.abs(gradient[np.equal.outer(groups, groups)]).max() < 1e-8 * scale
