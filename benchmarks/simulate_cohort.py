"""Simulate a cohort with linkage disequilibrium: `python -m benchmarks.simulate_cohort OUT.bed`.

Haplotypes are mosaics of founders (Li and Stephens 2003). The founders have a genealogy, a
coalescent tree (Kingman 1982) which changes along a chromosome: a leaf is taken off and joins the
others again, as one more lineage would, so that every marker sees a coalescent tree. A marker is a
mutation on a branch, so that neighbours are correlated as on real chromosomes. One chromosome is
written after another, block by block: `OUT.bed`, `.bim`, `.fam`, phenotype in `.pheno`, covariates
in `.covar`, and the truth in `.truth.csv`.
"""

from __future__ import annotations

import argparse
import time
from bisect import bisect_left, insort
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from selica._core.random import child, seed_sequence
from selica._core.table import Table
from selica.tables.genotypes.bed import write_bed
from selica.tables.genotypes.codes import pack
from selica.tables.genotypes.markers import Markers
from selica.tables.genotypes.people import People

MEGABASES = (
    248, 242, 198, 190, 182, 171, 159, 145, 138, 134, 135,
    133, 114, 107, 102, 90, 83, 80, 59, 64, 47, 51,
)  # fmt: skip
"""Lengths of the human autosomes, about."""
BLOCK = 1024
"""Markers that are in memory at once."""
TRIES = 50
"""Mutations that are drawn for a marker until one is frequent enough in the cohort."""
BASES = ("A", "C", "G", "T")


class Cohort(NamedTuple):
    """What is simulated."""

    n: int = 5_000
    p: int = 500_000
    n_causal: int = 50
    heritability: float = 0.5
    """Share of the variance of the phenotype that markers explain."""
    covariate_share: float = 0.1
    """Share of the variance that age and sex explain."""
    chromosomes: int = 22
    n_founders: int = 50
    founder_rate: float = 0.02
    """Times a founder joins the genealogy anew, for each marker."""
    switch_rate: float = 0.005
    """Probability that a haplotype goes on with another founder, for each marker."""
    missing: float = 0.0
    """Share of calls that are missing."""
    frequency: float = 0.05
    """Smallest frequency of the rarer allele, in the cohort."""
    prevalence: float = 0.0
    """Share of cases: the phenotype is then 2 for the largest values and 1 for others."""
    random_state: int = 0


class Uniform:
    """Random numbers between zero and one, one at a time, drawn many at a time."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng, self.ready = rng, list[float]()

    def __call__(self) -> float:
        """Return the next number."""
        if not self.ready:
            self.ready = self.rng.random(4096).tolist()
        return self.ready.pop()


class Genealogy:
    """A coalescent tree of founders; the leaves below a node are the bits of a number."""

    def __init__(self, leaves: int, uniform: Uniform) -> None:
        self.leaves, self.uniform = leaves, uniform
        nodes = 2 * leaves - 1
        self.parent, self.time = [-1] * nodes, [0.0] * nodes
        self.children: list[list[int]] = [[] for _ in range(nodes)]
        self.below = [1 << j for j in range(leaves)] + [0] * (leaves - 1)
        self.sorted: list[float] = []
        open_lines, now = list(range(leaves)), 0.0
        for node in range(leaves, nodes):
            many = len(open_lines)
            now += self.waiting() / (0.5 * many * (many - 1))
            pair = [open_lines.pop(int(uniform() * len(open_lines))) for _ in range(2)]
            self.time[node], self.children[node] = now, pair
            for one in pair:
                self.parent[one] = node
            self.below[node] = self.below[pair[0]] | self.below[pair[1]]
            self.sorted.append(now)
            open_lines.append(node)

    def waiting(self) -> float:
        """Return an exponential number."""
        return float(-np.log1p(-self.uniform()))

    def move_leaf(self) -> None:
        """Take a leaf off the tree and let it join the others anew."""
        leaf = int(self.uniform() * self.leaves)
        bit, node = 1 << leaf, self.parent[leaf]
        sibling = next(one for one in self.children[node] if one != leaf)
        self.replace(node, sibling, self.parent[node])
        self.sorted.pop(bisect_left(self.sorted, self.time[node]))
        above = self.parent[sibling]
        while above >= 0:
            self.below[above] &= ~bit
            above = self.parent[above]
        now = self.joining_time()
        taken = (leaf, node)
        lines = [
            one
            for one, start in enumerate(self.time)
            if start <= now
            and one not in taken
            and (self.parent[one] < 0 or self.time[self.parent[one]] > now)
        ]
        other = lines[int(self.uniform() * len(lines))]
        self.replace(other, node, self.parent[other])
        self.parent[other] = self.parent[leaf] = node
        self.children[node], self.time[node] = [other, leaf], now
        self.below[node] = self.below[other] | bit
        insort(self.sorted, now)
        above = self.parent[node]
        while above >= 0:
            self.below[above] |= bit
            above = self.parent[above]

    def joining_time(self) -> float:
        """Return when one more lineage meets one of those of the tree, each at rate one."""
        left, now, many = self.waiting(), 0.0, self.leaves - 1
        for end in self.sorted:
            if left < (end - now) * many:
                break
            left -= (end - now) * many
            now, many = end, many - 1
        return now + left / many

    def replace(self, old: int, new: int, above: int) -> None:
        """Put a node in the place of another below `above`."""
        self.parent[new] = above
        if above >= 0:
            pair = self.children[above]
            pair[pair.index(old)] = new

    def mutation(self, least: int) -> Any:
        """Return who carries a mutation on a random branch, with `least` carriers at least."""
        branches, ends, total = [], [], 0.0
        for node, above in enumerate(self.parent):
            if above >= 0 and least <= self.below[node].bit_count() <= self.leaves - least:
                total += self.time[above] - self.time[node]
                branches.append(node)
                ends.append(total)
        while not branches:  # a tree like a comb has none
            self.move_leaf()
            return self.mutation(least)
        mask = self.below[branches[bisect_left(ends, self.uniform() * total)]]
        packed = np.frombuffer(mask.to_bytes(-(-self.leaves // 8), "little"), dtype=np.uint8)
        return np.unpackbits(packed, count=self.leaves, bitorder="little").astype(bool)


def chromosome_sizes(p: int, chromosomes: int) -> list[int]:
    """Return how many markers each chromosome has."""
    length = np.array(MEGABASES[:chromosomes], dtype=float)
    ends = np.rint(p * np.cumsum(length) / length.sum()).astype(int)
    return np.diff(ends, prepend=0).tolist()


def haplotype_blocks(cohort: Cohort, size: int, rng: np.random.Generator) -> Iterator[Any]:
    """Yield calls of a chromosome, of shape (markers, n), with their alleles in a random order."""
    uniform = Uniform(rng)
    tree = Genealogy(cohort.n_founders, uniform)
    least = max(1, int(np.ceil(cohort.frequency * cohort.n_founders)))
    lines = 2 * cohort.n
    state = rng.integers(0, cohort.n_founders, lines)
    for start in range(0, size, BLOCK):
        many = min(BLOCK, size - start)
        out = np.empty((many, cohort.n), dtype=np.int8)
        moves = rng.poisson(cohort.founder_rate * cohort.n_founders, many).tolist()
        switches = rng.binomial(lines, cohort.switch_rate, many).tolist()
        for j in range(many):
            for _ in range(moves[j]):
                tree.move_leaf()
            who = rng.integers(0, lines, switches[j])
            state[who] = rng.integers(0, cohort.n_founders, switches[j])
            for _ in range(TRIES):
                carried = tree.mutation(least)[state]
                share = np.count_nonzero(carried) / lines
                if min(share, 1.0 - share) >= cohort.frequency:
                    break
                tree.move_leaf()
            else:
                raise ValueError("frequency is too high for a cohort of this size.")
            if share > 0.5:  # the first allele is the rarer one, as in PLINK
                carried = ~carried
            np.add(carried[: cohort.n], carried[cohort.n :], out=out[j], dtype=np.int8)
        yield out


class Drawn(NamedTuple):
    """Markers of a cohort with their effects."""

    markers: Markers
    causal: Any
    """(k,): places of causal markers, in order."""
    effect: Any
    """(k,): effects of a marker of variance one, before they are scaled to the heritability."""


def draw_markers(cohort: Cohort, rng: np.random.Generator) -> Drawn:
    """Draw positions, alleles and effects."""
    sizes = chromosome_sizes(cohort.p, cohort.chromosomes)
    chromosome = np.repeat([str(c + 1) for c in range(len(sizes))], sizes)
    position = np.concatenate(
        [
            np.sort(rng.choice(megabases * 1_000_000, size, replace=False)) + 1
            for megabases, size in zip(MEGABASES, sizes, strict=False)
        ]
    )
    first = rng.integers(0, 4, cohort.p)
    second = (first + rng.integers(1, 4, cohort.p)) % 4
    base = np.array(BASES, dtype=object)
    names = [f"m{j}" for j in range(1, cohort.p + 1)]
    markers = Markers.of(chromosome, names, position, base[first], base[second])
    causal = np.sort(rng.choice(cohort.p, cohort.n_causal, replace=False))
    return Drawn(markers, causal, rng.choice([-1.0, 1.0], cohort.n_causal))


def simulate_cohort(path: str | Path, cohort: Cohort = Cohort()) -> Path:  # noqa: B008 (immutable)
    """Write a cohort to files, and return the path of the `.bed` file.

    Parameters
    ----------
    path : path
        Of the `.bed` file; the others are beside it.
    cohort : Cohort
        The same cohort is the same files, to the last bit.
    """
    file = Path(path)
    file.parent.mkdir(parents=True, exist_ok=True)
    seed = seed_sequence(cohort.random_state)
    rng = np.random.default_rng(child(seed, 0))
    drawn = draw_markers(cohort, rng)
    genetic = np.zeros(cohort.n)
    frequency = np.zeros(cohort.n_causal)

    def codes() -> Iterator[Any]:
        place = 0
        for number, size in enumerate(chromosome_sizes(cohort.p, cohort.chromosomes)):
            stream = np.random.default_rng(child(seed, 1, number))
            for calls in haplotype_blocks(cohort, size, stream):
                here = np.flatnonzero((drawn.causal >= place) & (drawn.causal < place + len(calls)))
                for k in here:
                    column = calls[drawn.causal[k] - place].astype(float)
                    frequency[k] = 0.5 * column.mean()
                    genetic[:] += drawn.effect[k] * (column - column.mean()) / column.std()
                if cohort.missing > 0.0:
                    lost = stream.random(calls.shape, dtype=np.float32) < cohort.missing
                    calls[lost] = -1
                place += len(calls)
                yield pack(calls)

    sex = rng.integers(1, 3, cohort.n)
    names = [f"person{i}" for i in range(1, cohort.n + 1)]
    people = People.of(names, [f"family{i}" for i in range(1, cohort.n + 1)], sex)
    write_bed(file, codes(), people, drawn.markers)
    age = rng.integers(40, 71, cohort.n)
    write_people(file, cohort, people, np.column_stack([age, sex]), genetic, rng)
    write_truth(file, drawn, frequency)
    return file


def write_people(
    file: Path, cohort: Cohort, people: People, covariates: Any, genetic: Any, rng: Any
) -> None:
    """Write phenotype and covariates."""
    shares = (cohort.heritability if cohort.n_causal else 0.0, cohort.covariate_share)
    covariate = sum((column - column.mean()) / column.std() for column in covariates.T)
    y = np.sqrt(1.0 - sum(shares)) * rng.standard_normal(cohort.n)
    for share, part in zip(shares, (genetic, covariate), strict=True):
        if share > 0.0:
            y += np.sqrt(share) * part / part.std()
    text = [f"{value:.6f}" for value in y]
    if cohort.prevalence > 0.0:
        text = np.where(y > np.quantile(y, 1.0 - cohort.prevalence), "2", "1").tolist()
    ids = list(zip(people.family, people.name, strict=True))
    lines = [f"{f}\t{i}\t{value}" for (f, i), value in zip(ids, text, strict=True)]
    file.with_suffix(".pheno").write_text("\n".join(["FID\tIID\ty", *lines, ""]))
    lines = [f"{f}\t{i}\t{a}\t{s}" for (f, i), (a, s) in zip(ids, covariates, strict=True)]
    file.with_suffix(".covar").write_text("\n".join(["FID\tIID\tage\tsex", *lines, ""]))


def write_truth(file: Path, drawn: Drawn, frequency: Any) -> None:
    """Write the causal markers with the signs of their effects."""
    Table.of(
        drawn.markers.row(j) | {"effect": sign, "frequency": share}
        for j, sign, share in zip(drawn.causal, drawn.effect, frequency, strict=True)
    ).to_csv(file.with_suffix(".truth.csv"))


def main() -> None:
    """Read options and write a cohort."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path, help="the .bed file to write")
    for name, default in Cohort()._asdict().items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=type(default), default=default)
    given = vars(parser.parse_args())
    out, start = given.pop("out"), time.process_time()
    cohort = Cohort(**given)
    simulate_cohort(out, cohort)
    print(f"{out}: {cohort.n:,} people, {cohort.p:,} markers, {time.process_time() - start:.0f} s")


if __name__ == "__main__":
    main()
