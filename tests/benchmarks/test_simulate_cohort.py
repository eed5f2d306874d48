"""A simulated cohort: its genealogy is a coalescent tree, its files say what they should."""

from __future__ import annotations

import numpy as np
import pytest
from bed_reader import open_bed
from benchmarks.simulate_cohort import (
    Cohort,
    Genealogy,
    Uniform,
    chromosome_sizes,
    simulate_cohort,
)

from selica._core.table import Table

SMALL = Cohort(n=201, p=1500, n_causal=10, chromosomes=3, missing=0.02, random_state=3)


@pytest.fixture(scope="module")
def cohort(tmp_path_factory):
    return simulate_cohort(tmp_path_factory.mktemp("cohort") / "small.bed", SMALL)


def leaves_below(tree, node):
    if node < tree.leaves:
        return 1 << node
    return leaves_below(tree, tree.children[node][0]) | leaves_below(tree, tree.children[node][1])


def test_a_moved_leaf_leaves_a_tree():
    tree = Genealogy(12, Uniform(np.random.default_rng(0)))
    for _ in range(200):
        tree.move_leaf()
        root = tree.parent.index(-1)
        assert leaves_below(tree, root) == (1 << 12) - 1
        for node in range(23):
            assert tree.below[node] == leaves_below(tree, node)
            assert node == root or tree.time[tree.parent[node]] >= tree.time[node]
        assert tree.sorted == sorted(tree.time[12:])


def test_the_tree_stays_a_coalescent_tree():
    # Kingman: the last common ancestor of k is 2 (1 - 1/k) back on average, and the length of all
    # branches is 2 (1 + 1/2 + ... + 1/(k-1))
    k = 6
    tree = Genealogy(k, Uniform(np.random.default_rng(1)))
    ages, lengths = [], []
    for _ in range(3000):
        for _ in range(k):
            tree.move_leaf()
        ages.append(max(tree.time))
        lengths.append(
            sum(
                tree.time[above] - tree.time[node]
                for node, above in enumerate(tree.parent)
                if above >= 0
            )
        )
    # moves leave trees correlated: errors are those of a tenth as many independent ones
    for found, expected in (
        (ages, 2 * (1 - 1 / k)),
        (lengths, 2 * sum(1 / j for j in range(1, k))),
    ):
        error = np.std(found) / np.sqrt(len(found) / 10)
        assert abs(np.mean(found) - expected) < 4 * error


def test_files_hold_what_was_asked_for(cohort):
    with open_bed(cohort) as file:
        calls = file.read(dtype="float32")
        assert calls.shape == (201, 1500)
        assert file.chromosome.tolist() == [
            str(c + 1) for c, size in enumerate(chromosome_sizes(1500, 3)) for _ in range(size)
        ]
        for c in "123":
            assert (np.diff(file.bp_position[file.chromosome == c]) > 0).all()
    assert abs(np.isnan(calls).mean() - 0.02) < 0.002
    share = np.nanmean(calls, axis=0) / 2
    assert share.min() > 0.03  # 0.05 before calls were lost
    assert share.max() < 0.53


def test_neighbours_are_correlated_and_chromosomes_are_not(cohort):
    with open_bed(cohort) as file:
        calls = file.read(dtype="float64")
    calls = np.where(np.isnan(calls), np.nanmean(calls, axis=0), calls)
    z = (calls - calls.mean(0)) / calls.std(0)
    near = ((z[:, :-1] * z[:, 1:]).mean(0) ** 2).mean()
    far = ((z[:, :500] * z[:, 1000:]).mean(0) ** 2).mean()
    assert near > 0.15
    assert far < 2.0 / 201


def test_the_phenotype_has_the_heritability(cohort, tmp_path):
    truth = Table.read_csv(cohort.with_suffix(".truth.csv"))
    lines = [line.split() for line in cohort.with_suffix(".pheno").read_text().splitlines()]
    assert lines[0] == ["FID", "IID", "y"]
    assert len(lines) == 202
    assert len(truth) == 10
    path = simulate_cohort(
        tmp_path / "a.bed", SMALL._replace(heritability=0.9, missing=0.0, covariate_share=0.0)
    )
    y = np.array(
        [float(line.split()[2]) for line in path.with_suffix(".pheno").read_text().splitlines()[1:]]
    )
    with open_bed(path) as file:
        index = [file.sid.tolist().index(row["name"]) for row in truth]
        x = file.read(np.s_[:, index], dtype="float64")
    x = (x - x.mean(0)) / x.std(0)
    genetic = x @ truth["effect"]
    assert abs(np.corrcoef(genetic, y)[0, 1] ** 2 - 0.9) < 0.05


def test_the_same_seed_is_the_same_file(cohort, tmp_path):
    again = simulate_cohort(tmp_path / "again.bed", SMALL)
    for ending in (".bed", ".bim", ".fam", ".pheno", ".covar", ".truth.csv"):
        assert again.with_suffix(ending).read_bytes() == cohort.with_suffix(ending).read_bytes()
    other = simulate_cohort(tmp_path / "other.bed", SMALL._replace(random_state=4))
    assert other.read_bytes() != cohort.read_bytes()


def test_cases_are_a_share(tmp_path):
    path = simulate_cohort(tmp_path / "a.bed", SMALL._replace(prevalence=0.25, p=100))
    values = [line.split()[2] for line in path.with_suffix(".pheno").read_text().splitlines()[1:]]
    assert {v: values.count(v) for v in "12"} == {"2": 50, "1": 151}
