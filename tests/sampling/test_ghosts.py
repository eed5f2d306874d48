"""Ghost knockoffs: the law of (Z, Z~), against Gaussian copies of the table behind Z."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chi2

from selica._core.errors import ArgumentError
from selica.sampling import GaussianKnockoffs, GhostKnockoffs, block_sizes, reference_linkage
from selica.sampling import usable_linkage as usable
from selica.sampling.ld_blocks import cheapest_cuts
from selica.sampling.reference_panels import _cut_costs, _Panel
from selica.tables import LinkageBlocks

AR = 0.7 ** np.abs(np.subtract.outer(range(6), range(6)))
BLOCKS = LinkageBlocks([AR, np.array([[1.0, -0.4], [-0.4, 1.0]]), np.eye(1)])
WHOLE = np.zeros((9, 9))
WHOLE[:6, :6], WHOLE[6:8, 6:8], WHOLE[8, 8] = AR, BLOCKS.matrices[1], 1.0


def mean_and_covariance(ghosts: GhostKnockoffs, p: int) -> tuple[np.ndarray, np.ndarray]:
    """Slope and covariance of the copies given Z, read off the samplers by linearity."""
    slope = np.zeros((ghosts.n_joint * p, p))
    base = ghosts.draw(np.zeros(p), 5).ravel()
    for j in range(p):
        slope[:, j] = ghosts.draw(np.eye(p)[j], 5).ravel() - base
    return slope, base


@pytest.mark.parametrize("method", ["mvr", "maxent", "sdp", "equi"])
def test_the_mean_of_a_copy_is_that_of_the_formula(method: str) -> None:
    ghosts = GhostKnockoffs(BLOCKS, method)
    slope, _ = mean_and_covariance(ghosts, 9)
    S = np.diag(ghosts.s_)
    np.testing.assert_allclose(slope, np.eye(9) - S @ np.linalg.inv(WHOLE), atol=1e-10)


@pytest.mark.parametrize(("groups", "m"), [(None, 1), (None, 3), ([0, 0, 1, 1, 2, 2, 3, 3, 4], 2)])
def test_z_and_copies_have_the_joint_covariance(groups: object, m: int) -> None:
    ghosts = GhostKnockoffs(BLOCKS, groups=groups, n_joint=m)
    p, draws = 9, 1200
    rng = np.random.default_rng(0)
    root = np.linalg.cholesky(WHOLE)
    drawn = np.empty((draws, (m + 1) * p))
    for b in range(draws):
        z = root @ rng.standard_normal(p)
        drawn[b] = np.concatenate([z, ghosts.draw(z, 1, b).ravel()])
    expected = np.zeros(((m + 1) * p, (m + 1) * p))
    for block in range(ghosts.n_blocks):
        where = np.arange(p)[ghosts.place(block)]
        index = (np.arange(m + 1)[:, None] * p + where).ravel()
        expected[np.ix_(index, index)] = ghosts.joint_correlation(block)
    # entries of a covariance of normal numbers have the variance (v_ii v_jj + v_ij^2) / draws
    error = np.sqrt((np.outer(expected.diagonal(), expected.diagonal()) + expected**2) / draws)
    off = np.abs(drawn.T @ drawn / draws - expected) / error
    assert off.max() < 5.0
    assert np.all(np.linalg.eigvalsh(expected) > -1e-9)


def test_ghosts_have_the_law_of_copies_of_the_table() -> None:
    """Given X and y, X~'y / sqrt(n) of Gaussian copies has the mean and covariance of a ghost."""
    rng = np.random.default_rng(3)
    n, p, draws = 40, 6, 3000
    X = rng.standard_normal((n, p)) @ np.linalg.cholesky(AR).T
    y = X[:, 0] + rng.standard_normal(n)
    y *= np.sqrt(n / (y @ y))  # |y|^2 = n
    z = X.T @ y / np.sqrt(n)
    own = GaussianKnockoffs(0.0, AR).copies(X, 0, draws)
    of_table = np.array([copy.T @ y / np.sqrt(n) for copy in own])
    ghosts = GhostKnockoffs(LinkageBlocks([AR]))
    of_z = np.array([ghosts.draw(z, 1, b)[0] for b in range(draws)])
    # the exact law of both, from the formula
    S = np.diag(ghosts.s_)
    mean = z - S @ np.linalg.solve(AR, z)
    V = 2.0 * S - S @ np.linalg.solve(AR, S)
    for found in (of_table, of_z):
        # Hotelling's statistic with a known covariance is chi-squared
        gap = found.mean(axis=0) - mean
        assert draws * gap @ np.linalg.solve(V, gap) < chi2.isf(1e-4, p)
        error = np.sqrt((np.outer(V.diagonal(), V.diagonal()) + V**2) / draws)
        assert np.abs((np.cov(found.T) - V) / error).max() < 5.0


def test_draws_are_the_same_for_a_seed_and_belong_to_copy_and_block() -> None:
    ghosts = GhostKnockoffs(BLOCKS)
    z = np.arange(9.0)
    assert np.array_equal(ghosts.draw(z, 0), ghosts.draw(z, 0))
    assert not np.array_equal(ghosts.draw(z, 0), ghosts.draw(z, 0, 1))
    alone = GhostKnockoffs(LinkageBlocks([AR]))
    assert np.array_equal(ghosts.draw(z, 0)[:, :6], alone.draw(z[:6], 0))


def test_samplers_that_are_not_kept_draw_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    z = np.arange(9.0)
    kept = GhostKnockoffs(BLOCKS).draw(z, 0)
    monkeypatch.setattr("selica.sampling.ghosts._KEPT_BYTES", 0)
    assert np.array_equal(GhostKnockoffs(BLOCKS).draw(z, 0), kept)


def test_shrinkage_by_brute_force_and_at_its_limits() -> None:
    n = 50
    total = error = 0.0
    for i in range(6):
        for j in range(6):
            if i != j:
                total += AR[i, j] ** 2
                error += (1.0 - AR[i, j] ** 2) ** 2 / n
    assert usable(AR, n).shrinkage == pytest.approx(error / total)
    assert usable(AR).shrinkage == 0.0
    assert usable(np.eye(3), 10).shrinkage == 1.0
    same = usable(np.ones((3, 3)))
    assert np.linalg.eigvalsh(same.correlation)[0] == pytest.approx(1e-3)


def test_blocks_are_cut_where_the_cost_is_least() -> None:
    rng = np.random.default_rng(0)
    cost = rng.random(12)
    found = np.diff([0, *cheapest_cuts(cost, 1, 4), 12]).tolist()
    assert sum(found) == 12
    assert max(found) <= 4

    def price(sizes: list[int]) -> float:
        return float(sum(cost[e] for e in np.cumsum(sizes)[:-1]))

    def ways(left: int) -> list[list[int]]:
        return [[]] if left == 0 else [
            [k, *rest] for k in range(1, min(4, left) + 1) for rest in ways(left - k)
        ]  # fmt: skip

    assert price(found) == pytest.approx(min(price(way) for way in ways(12)))


def test_costs_of_cuts_are_sums_of_squared_correlations(monkeypatch: pytest.MonkeyPatch) -> None:
    X = np.random.default_rng(0).standard_normal((30, 9)).cumsum(axis=1)
    monkeypatch.setattr("selica.sampling.reference_panels._WINDOW", 3)
    monkeypatch.setattr("selica.sampling.reference_panels._CHUNK", 4)
    square = np.maximum(np.corrcoef(X.T) ** 2 - 1.0 / 30, 0.0)
    found = _cut_costs(_Panel(X), 0, 9)
    for cut in range(1, 9):
        expected = sum(square[i, k] for i in range(cut) for k in range(cut, 9) if k - i <= 3)
        assert found[cut] == pytest.approx(expected)


def test_no_block_has_markers_of_two_chromosomes() -> None:
    X = np.random.default_rng(0).standard_normal((30, 10))
    assert block_sizes(X, 4, [1] * 3 + [2] * 7)[0] == 3
    ld = reference_linkage(X, chromosome=[1] * 3 + [2] * 7)
    assert ld.starts.tolist() == [0, 3, 10]
    np.testing.assert_allclose(ld.matrices[1], np.corrcoef(X[:, 3:].T), atol=1e-12)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: GhostKnockoffs(BLOCKS, groups=[0] * 9), "two LD blocks"),
        (lambda: GhostKnockoffs(BLOCKS).draw([1.0, 2.0]), "9 markers of ld"),
        (lambda: LinkageBlocks([np.full((2, 2), 2.0)]), "ones on its diagonal"),
        (lambda: LinkageBlocks([[[1.0, 0.2], [0.3, 1.0]]]), "symmetric"),
        (lambda: LinkageBlocks([]), "one block at least"),
        (lambda: LinkageBlocks([np.eye(2)], names=["a"]), "2 markers"),
        (lambda: LinkageBlocks([np.eye(2)], n_reference=1), "n_reference"),
        (lambda: reference_linkage(np.eye(5), [2, 2]), "add up"),
        (lambda: reference_linkage(np.eye(5), chromosome=[1]), "chromosome"),
    ],
)
def test_what_makes_no_sense_is_named(make: object, words: str) -> None:
    with pytest.raises(ArgumentError, match=words):
        make()  # type: ignore[operator]


def test_a_marker_that_does_not_vary_is_named() -> None:
    X = np.random.default_rng(0).standard_normal((10, 3))
    X[:, 1] = 2.0
    with pytest.raises(ValueError, match="column 1 does not vary"):
        reference_linkage(X)
