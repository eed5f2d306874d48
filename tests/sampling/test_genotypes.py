"""Knockoffs of genotypes: exact on laws that can be added up, close on those that are fitted."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from selica import KnockoffSelection
from selica._core.compiled import core
from selica._core.errors import ArgumentError, ColumnError, RefusedError
from selica._core.warning import noted
from selica.sampling import GenotypeKnockoffs, HaplotypeLaw, exchangeability
from selica.sampling.group_copies import group_begins
from selica.sampling.motifs import as_genotypes, fit_motifs
from tests.sampling.swaps import swap_error

# Two motifs and three markers, and what an independent program printed for haplotypes.
RATES = np.array([0.0, 0.5, 1.0])
SHARES = np.array([[0.7, 0.3], [0.5, 0.5], [0.2, 0.8]])
FREQUENCIES = np.array([[0.1, 0.8], [0.3, 0.9], [0.2, 0.6]])
TOY = HaplotypeLaw(RATES, SHARES, FREQUENCIES)
CHANCE = [0.22443178, 0.15528496, 0.16266548, 0.14761778, 0.05258861, 0.04047833, 0.10231008,
          0.11462298]  # fmt: skip
JOINT = {
    ("000", "000"): 0.0725534737,
    ("000", "111"): 0.0086214129,
    ("011", "100"): 0.0086214129,
    ("111", "111"): 0.0272468195,
    ("101", "101"): 0.0011157020,
}


class Enumerated:
    """Everything about a small law, by sums over all hidden motifs; and what the core would draw.

    Rows of `paths` are hidden states site by site, (p, ploidy). `groups` numbers the groups of
    sites, each of which is copied as a whole.
    """

    def __init__(self, law, ploidy, groups=None):
        self.law, self.ploidy = law, ploidy
        p, K = law.shares.shape
        self.groups = np.arange(p) if groups is None else np.array(groups)
        self.single = np.array(list(product(range(K), repeat=p)), dtype=np.uint8)
        stay = law.stay
        step = [
            stay[j] * np.eye(K) + (1.0 - stay[j]) * law.shares[j] * np.ones((K, 1))
            for j in range(p)
        ]
        self.prior = np.array(
            [law.shares[0, z[0]] * np.prod([step[j][z[j - 1], z[j]] for j in range(1, p)])
             for z in self.single]
        )  # fmt: skip
        chance = self.prior
        self.paths = self.single[:, :, None]
        if ploidy == 2:
            self.paths = np.array([np.stack(two, 1) for two in product(self.single, repeat=2)])
            chance = np.kron(self.prior, self.prior)
        theta = law.frequencies[np.arange(p)[None, :, None], self.paths]
        each = np.stack([1.0 - theta[..., 0], theta[..., 0]], axis=-1)
        if ploidy == 2:
            a, b = theta[..., 0], theta[..., 1]
            each = np.stack([(1 - a) * (1 - b), a * (1 - b) + b * (1 - a), a * b], axis=-1)
        self.rows = np.array(list(product(range(ploidy + 1), repeat=p)), dtype=np.int8)
        self.emission = np.array(
            [[np.prod(one[np.arange(p), row]) for row in self.rows] for one in each]
        )
        self.each = each
        self.joint_hidden = chance[:, None] * self.emission
        self.chance = self.joint_hidden.sum(axis=0)

    def hidden(self, genotypes):
        """P(path | genotypes) by the core, (rows, paths)."""
        m, k = len(genotypes), len(self.paths)
        choices = np.tile(self.paths[:, ::-1].reshape(k, -1), (m, 1)).astype(np.int64)
        out = np.empty(m * k)
        core().path_probabilities(
            self.ploidy, *self.law.arrays, np.repeat(genotypes, k, axis=0), choices, out
        )
        return out.reshape(m, k)

    def hidden_copies(self):
        """P(copied path | path) by the core; it draws a group from its last site to the first."""
        m, p = self.single.shape
        order = np.lexsort((-np.arange(p), self.groups))
        out = np.empty(m * m)
        core().path_copy_probabilities(
            self.law.stay, self.law.shares, np.repeat(self.single, m, axis=0),
            np.tile(self.single[:, order], (m, 1)).astype(np.int64),
            group_begins(self.groups, p)[0].view(np.uint8), out,
        )  # fmt: skip
        one = out.reshape(m, m)
        return one if self.ploidy == 1 else np.kron(one, one)

    def copies(self, genotypes):
        """P(copy | genotypes), (rows, all rows)."""
        return self.hidden(genotypes) @ self.hidden_copies() @ self.emission


def random_law(seed, p, K, rate=0.4):
    rng = np.random.default_rng(seed)
    return HaplotypeLaw(rng.exponential(rate, p), rng.dirichlet(np.ones(K), p), rng.random((p, K)))


def founders(p, n_founders, seed, rate=0.05):
    """A law of founder haplotypes, each with an allele of its own at every marker."""
    rng = np.random.default_rng(seed)
    alleles = rng.random((p, n_founders)) < rng.uniform(0.2, 0.8, (p, 1))
    return HaplotypeLaw(
        np.full(p, rate), np.full((p, n_founders), 1.0 / n_founders),
        np.where(alleles, 0.99, 0.01),
    )  # fmt: skip


def neighbours(X):
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    return (Z[:, 1:] * Z[:, :-1]).mean(axis=0)


def test_the_joint_distribution_is_the_one_that_was_printed_for_haplotypes():
    toy = Enumerated(TOY, 1)
    np.testing.assert_allclose(toy.chance, CHANCE, atol=5e-9)
    J = toy.chance[:, None] * toy.copies(toy.rows)
    names = ["".join(map(str, row)) for row in toy.rows.tolist()]
    for (a, b), value in JOINT.items():
        assert J[names.index(a), names.index(b)] == pytest.approx(value, abs=5e-11)


@pytest.mark.parametrize("ploidy", [1, 2])
@pytest.mark.parametrize("law", [TOY, random_law(1, 3, 3)], ids=["toy", "random"])
def test_genotypes_and_copies_can_change_places_in_any_set(law, ploidy):
    small = Enumerated(law, ploidy)
    J = small.chance[:, None] * small.copies(small.rows)
    assert J.sum() == pytest.approx(1.0, abs=1e-13)
    assert swap_error(small.rows, J) < 1e-15


@pytest.mark.parametrize("ploidy", [1, 2])
def test_hidden_motifs_have_their_probabilities_given_the_genotypes(ploidy):
    small = Enumerated(random_law(2, 3, 3), ploidy)
    posterior = (small.joint_hidden / small.chance).T
    np.testing.assert_allclose(small.hidden(small.rows), posterior, atol=1e-14)


def test_a_segment_begins_anew():
    law = random_law(3, 4, 2)
    cut = HaplotypeLaw(np.where(np.arange(4) == 2, np.inf, law.rates), law.shares, law.frequencies)
    small = Enumerated(cut, 1)
    J = small.chance[:, None] * small.copies(small.rows)
    assert swap_error(small.rows, J) < 1e-15
    # rows are the left half times the right half
    half = J.reshape(4, 4, 4, 4).sum(axis=(1, 3)), J.reshape(4, 4, 4, 4).sum(axis=(0, 2))
    np.testing.assert_allclose(J, np.kron(*half), atol=1e-15)


@pytest.mark.parametrize("ploidy", [1, 2])
def test_a_missing_genotype_is_left_open(ploidy):
    small = Enumerated(TOY, ploidy)
    gap = small.rows[small.rows[:, 1] == 0].copy()
    gap[:, 1] = -1
    found = small.copies(gap)
    for row, copy in zip(gap, found, strict=True):
        like = (small.rows[:, [0, 2]] == row[[0, 2]]).all(axis=1)
        share = small.chance[like] / small.chance[like].sum()
        np.testing.assert_allclose(copy, share @ small.copies(small.rows[like]), atol=1e-15)


@pytest.mark.parametrize("ploidy", [1, 2])
def test_what_is_drawn_has_these_probabilities(ploidy):
    n, small = 200_000, Enumerated(TOY, ploidy)
    m = len(small.rows)
    X = small.rows[np.random.default_rng(0).choice(m, n, p=small.chance)]
    copy = GenotypeKnockoffs(TOY, ploidy=ploidy).sample(X, random_state=1).astype(int)
    code = (ploidy + 1) ** np.arange(2, -1, -1)
    seen = np.bincount((X @ code) * m + copy @ code, minlength=m * m)
    expected = n * (small.chance[:, None] * small.copies(small.rows)).ravel()
    cells = m * m - 1
    assert abs(((seen - expected) ** 2 / expected).sum() - cells) < 4 * np.sqrt(2 * cells)


@pytest.mark.parametrize("ploidy", [1, 2])
def test_missing_genotypes_are_drawn_given_the_others(ploidy):
    n, small = 100_000, Enumerated(TOY, ploidy)
    X = small.rows[np.random.default_rng(0).choice(len(small.rows), n, p=small.chance)].copy()
    X[:, 1] = -1
    done = GenotypeKnockoffs(TOY, ploidy=ploidy).complete(X, random_state=1)
    np.testing.assert_array_equal(done[:, [0, 2]], X[:, [0, 2]])
    code = (ploidy + 1) ** np.arange(2, -1, -1)
    seen = np.bincount(done.astype(int) @ code, minlength=len(small.rows))
    expected = n * small.chance
    cells = len(expected) - 1
    assert abs(((seen - expected) ** 2 / expected).sum() - cells) < 4 * np.sqrt(2 * cells)


@pytest.mark.parametrize("ploidy", [1, 2])
def test_a_step_of_the_fit_has_the_expected_counts(ploidy):
    """Each of the three tables by its definition, over all hidden paths and jumps."""
    law = random_law(4, 3, 3)
    small = Enumerated(law, ploidy)
    X = small.rows[:: ploidy + 1].copy()
    X[2, 1] = -1
    weight = np.linspace(0.5, 1.5, len(X))
    counts = np.empty((3, 3, 3))
    likelihood, *wrong = core().motif_counts(ploidy, *law.arrays, X, weight, counts, 2)
    expected = np.zeros((3, 3, 3))
    total = 0.0
    stay = law.stay
    prior = small.joint_hidden[:, 0] / small.emission[:, 0]
    for row, w in zip(X, weight, strict=True):
        seen = [j for j in range(3) if row[j] >= 0]
        like = prior * np.prod([small.each[:, j, row[j]] for j in seen], axis=0)
        total += w * np.log(like.sum())
        for path, chance in zip(small.paths, w * like / like.sum(), strict=True):
            for j in range(3):
                for h in range(ploidy):
                    k = path[j, h]
                    t = law.frequencies[j, path[j]]
                    one = row[j] / ploidy if row[j] != 1 or ploidy == 1 else (
                        t[h] * (1 - t[1 - h]) / (t[0] * (1 - t[1]) + t[1] * (1 - t[0]))
                    )  # fmt: skip
                    if row[j] >= 0:
                        expected[0, j, k] += chance / ploidy
                        expected[1, j, k] += chance * one / ploidy
                    jump = (1.0 - stay[j]) * law.shares[j, k]
                    same = j > 0 and path[j - 1, h] == k
                    expected[2, j, k] += chance / ploidy * jump / (jump + stay[j] * same)
    assert wrong == [-1, -1]
    assert likelihood == pytest.approx(total, abs=1e-12)
    np.testing.assert_allclose(counts, expected, atol=1e-12)


@pytest.mark.parametrize("ploidy", [1, 2])
def test_long_rows_are_read_in_windows_of_the_same_result(ploidy):
    """The first markers of a long row are what they are in a short one, if the rest is missing."""
    law = random_law(5, 300, 4)
    X = law.simulate(11, ploidy=ploidy, random_state=0)
    X[:, 50:] = -1
    short = HaplotypeLaw(law.rates[:50], law.shares[:50], law.frequencies[:50])
    long_counts, counts = np.empty((3, 300, 4)), np.empty((3, 50, 4))
    one = core().motif_counts(ploidy, *law.arrays, X, np.ones(11), long_counts, 2)
    head = np.ascontiguousarray(X[:, :50])
    two = core().motif_counts(ploidy, *short.arrays, head, np.ones(11), counts, 1)
    assert one[0] == pytest.approx(two[0], rel=1e-12)
    np.testing.assert_allclose(long_counts[:, :50], counts, atol=1e-12)


def test_neither_threads_nor_other_rows_change_a_copy(monkeypatch):
    X = founders(150, 6, 0).simulate(90, random_state=1)
    found = []
    for threads in ("1", "3"):
        monkeypatch.setenv("SELICA_NUM_THREADS", threads)
        fitted = GenotypeKnockoffs(n_motifs=4, n_steps=3).fit(X)
        found.append((fitted.law.frequencies, fitted.copies(X, 5, [2])[0]))
    np.testing.assert_array_equal(found[0][0], found[1][0])
    np.testing.assert_array_equal(found[0][1], found[1][1])
    np.testing.assert_array_equal(fitted.copies(X[:50], 5, 3)[2], found[0][1][:50])


def test_the_likelihood_grows_at_every_step():
    X = founders(80, 6, 2).simulate(200, random_state=3)
    trace = fit_motifs(X, 6, 30, random_state=0).log_likelihood
    assert (np.diff(trace) > -1e-3).all()
    assert trace[-1] > trace[0] + 100.0


def test_fitted_copies_have_the_correlations_of_the_genotypes():
    X = founders(150, 8, 4).simulate(1500, random_state=5)
    fitted = GenotypeKnockoffs(n_motifs=10).fit(X)
    copy = fitted.sample(X, random_state=6)
    mixed = np.where(np.arange(150) % 2 == 0, copy, X)
    of_X = neighbours(X)
    # an estimate of a correlation has an error of 1 / sqrt(1500) = 0.026
    for other in (copy, mixed):
        assert np.sqrt(((neighbours(other) - of_X) ** 2).mean()) < 0.026 * np.sqrt(2.0)
        assert np.corrcoef(neighbours(other), of_X)[0, 1] > 0.97
    assert np.abs(copy.mean(axis=0) - X.mean(axis=0)).max() < 0.12
    assert exchangeability(X, copy, random_state=7).departure < 1.25


def test_known_copies_pass_the_check_where_independent_ones_fail():
    law = founders(100, 8, 8)
    X = law.simulate(800, random_state=9)
    copy = GenotypeKnockoffs(law).sample(X, random_state=10)
    assert exchangeability(X, copy, random_state=11).departure == 1.0
    alone = HaplotypeLaw(np.full(100, np.inf), law.shares, law.frequencies)
    bad = GenotypeKnockoffs(alone).sample(X, random_state=10)
    assert exchangeability(X, bad, random_state=11).departure > 1.5


def test_segments_are_fitted_apart():
    X = founders(60, 5, 12).simulate(150, random_state=13)
    labels = np.repeat(["1", "X"], 30)
    both = GenotypeKnockoffs(n_motifs=4, n_steps=5, segments=labels).fit(X).law
    assert np.isinf(both.rates[[0, 30]]).all()
    assert np.isfinite(np.delete(both.rates, [0, 30])).all()
    alone = GenotypeKnockoffs(n_motifs=4, n_steps=5).fit(X[:, :30]).law
    np.testing.assert_array_equal(both.frequencies[:30], alone.frequencies)


def test_markers_that_do_not_vary_have_copies_that_do_not():
    X = founders(40, 5, 14).simulate(100, random_state=15)
    X[:, 3], X[:, 7] = 0, 2
    X[5, 3] = -1
    copy = GenotypeKnockoffs(n_motifs=4, n_steps=5).fit(X).sample(X, random_state=16)
    assert (copy[:, 3] == 0).all()
    assert (copy[:, 7] == 2).all()


def test_bytes_are_read_where_they_lie():
    X = np.zeros((4, 3), dtype=np.int8)
    assert as_genotypes(X, 2) is X
    gaps = np.array([[0.0, np.nan], [2.0, 1.0]])
    assert as_genotypes(gaps, 2).tolist() == [[0, -1], [2, 1]]


def test_weights_count_rows():
    X = founders(20, 4, 17).simulate(60, random_state=18)
    rows = np.repeat(np.arange(60), np.arange(60) % 3)
    start = fit_motifs(X, 3, 1, random_state=0).law
    counts = [np.empty((3, 20, 3)) for _ in range(2)]
    weight = (np.arange(60) % 3).astype(float)
    core().motif_counts(2, *start.arrays, X, weight, counts[0], 1)
    core().motif_counts(2, *start.arrays, X[rows], np.ones(rows.size), counts[1], 1)
    np.testing.assert_allclose(*counts, atol=1e-11)


def test_tables_are_checked():
    known = GenotypeKnockoffs(TOY)
    with pytest.raises(ColumnError, match=r"column 1 holds 0\.5"):
        known.fit([[0.0, 0.5, 1.0]])
    with pytest.raises(ColumnError, match=r"numbers of alleles, 0, 1 and 2, where .* 0 holds 3"):
        known.sample([[3, 0, 0]])
    with pytest.raises(ColumnError, match="numbers of alleles, 0 and 1, where"):
        GenotypeKnockoffs(TOY, ploidy=1).sample([[2, 0, 0]])
    with pytest.raises(ArgumentError, match="X must have 3 columns; got 2"):
        known.sample([[0, 0]])
    with pytest.raises(ArgumentError, match="X must be a non-empty table"):
        known.sample(["a"])
    with pytest.raises(ArgumentError, match="law is not known yet"):
        GenotypeKnockoffs().sample([[0, 0]])
    with pytest.raises(ArgumentError, match="n_motifs must be at most 255"):
        GenotypeKnockoffs(n_motifs=300)
    with pytest.raises(ArgumentError, match="ploidy must be at most 2"):
        GenotypeKnockoffs(ploidy=4)
    with pytest.raises(ArgumentError, match="law must be a HaplotypeLaw"):
        GenotypeKnockoffs("motifs")
    with pytest.raises(ArgumentError, match="segments cannot be given beside law"):
        GenotypeKnockoffs(TOY, segments=[0, 0, 0])
    never = HaplotypeLaw([0.0, 0.1], [[1.0], [1.0]], [[0.5], [1.0]])
    with pytest.raises(RefusedError, match="up to column 1 the genotypes of row 2 are impossible"):
        GenotypeKnockoffs(never).sample([[0, 2], [1, 2], [1, 1], [1, 0]])


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ((RATES[:2], SHARES, FREQUENCIES), "must have shapes"),
        ((-RATES, SHARES, FREQUENCIES), "rates must be a vector of numbers that are not negative"),
        ((RATES, SHARES + 0.1, FREQUENCIES), "shares must sum to one at every marker"),
        ((RATES, SHARES, FREQUENCIES + 0.5), "frequencies must be between 0 and 1"),
    ],
)
def test_a_law_is_checked(parts, message):
    with pytest.raises(ArgumentError, match=message):
        HaplotypeLaw(*parts)


def test_a_law_can_be_simulated():
    rows = TOY.simulate(100_000, ploidy=1, random_state=0)
    seen = np.bincount(rows.astype(int) @ [4, 2, 1], minlength=8) / 100_000
    np.testing.assert_allclose(seen, CHANCE, atol=0.006)


def test_a_selection_says_what_it_rests_on():
    law = founders(40, 6, 20, rate=0.3)
    X = law.simulate(300, random_state=21)
    y = X[:, ::4] @ np.ones(10) + np.random.default_rng(22).standard_normal(300)
    known = KnockoffSelection(0.2, sampler=GenotypeKnockoffs(law), random_state=0).fit(X, y)
    assert known.guarantee_.proven
    assert "the distribution of the genotypes is the one that was given" in str(known.guarantee_)
    assert known.support_.sum() >= 5
    named = KnockoffSelection(0.2, sampler="genotypes", random_state=0).fit(X, y)
    assert not named.guarantee_.proven
    assert "mosaics of the motifs" in str(named.guarantee_)
    assert named.exchangeability_.departure < 1.25
    few = KnockoffSelection(0.2, sampler="genotypes", random_state=0).fit(X[:60], y[:60])
    assert any("fitted to 60 rows only" in caution for caution in few.cautions_)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_longer_laws_are_exchangeable_too(seed):
    small = Enumerated(random_law(seed, 5, 2), 2)
    J = small.chance[:, None] * small.copies(small.rows)
    assert J.sum() == pytest.approx(1.0, abs=1e-13)
    assert swap_error(small.rows, J) < 1e-15


@pytest.mark.slow
@pytest.mark.parametrize("known", [True, False])
def test_the_false_discovery_rate_is_kept_on_linked_markers(known):
    law = founders(60, 20, 0, rate=0.1)
    matter = np.zeros(60, dtype=bool)
    matter[::4] = True
    coef = 0.5 * matter * (-1.0) ** np.cumsum(matter)
    shares, power = [], []
    for seed in range(100):
        X = law.simulate(300, random_state=seed)
        y = X @ coef + np.random.default_rng([seed, 1]).standard_normal(300)
        sampler = GenotypeKnockoffs(law if known else None)
        selector = KnockoffSelection(0.2, sampler=sampler, lam=0.05, random_state=seed)
        with noted():
            found = selector.fit(X, y).support_
        shares.append((found & ~matter).sum() / max(found.sum(), 1))
        power.append((found & matter).sum() / matter.sum())
    assert np.mean(shares) <= 0.2 + 3.0 * np.std(shares) / np.sqrt(100)
    assert np.mean(power) > 0.4


@pytest.mark.parametrize("gap", [np.nan, -1.0, "impute"])
def test_a_table_with_gaps_is_told_what_completes_it(gap):
    X = founders(20, 4, seed=0).simulate(100, random_state=1).astype(float)
    X[3, 0] = np.nan if gap == "impute" else gap
    y = np.random.default_rng(2).standard_normal(100)
    settings = {"missing": "impute"} if gap == "impute" else {}
    with pytest.raises((ArgumentError, RefusedError)) as error:
        KnockoffSelection(sampler="genotypes", random_state=0).fit(X, y, **settings)
    assert "sampling.GenotypeKnockoffs().fit(X).complete(X)" in str(error.value)


def test_a_marker_that_nobody_has_is_not_constant():
    X = founders(6, 4, seed=0).simulate(50, random_state=1)
    X[:, 2] = -1
    law = fit_motifs(X, 3, 2, ploidy=2, random_state=0).law
    assert np.all((law.frequencies[2] > 0.0) & (law.frequencies[2] < 1.0))


def test_the_core_refuses_a_table_without_people():
    law = random_law(0, 4, 3)
    with pytest.raises(ValueError, match="no genotypes"):
        core().motif_counts(
            2, *law.arrays, np.zeros((0, 4), np.int8), np.zeros(0), np.empty((3, 4, 3)), 1
        )
