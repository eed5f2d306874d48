"""How far LD reaches: `python -m benchmarks.cohort_ld --folder DIR`.

`--part distance` prints the mean squared correlation of markers by their distance, and how much of
a marker its neighbours explain, in both simulated cohorts of `benchmarks.clump_knockoffs` and in
the published genotypes of `$SELICA_DATA`. `--part motifs` fits 16 and 32 motifs to the first
chromosomes of both cohorts and prints the check of the copies.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from benchmarks.clump_knockoffs import simulated

from selica._core.types import Array
from selica.sampling import clumps, fit_segment_motifs, ld_blocks, stored_group_copies
from selica.sampling.segment_motifs import copies_by_block
from selica.sampling.stored_calls import calls_of, standard_calls
from selica.statistics.clumps import standard_two_bit
from selica.tables.genotypes import Genotypes

DISTANCES = (1, 5, 20, 50, 100, 200)
"""In markers."""
NEIGHBOURS = 20
"""Markers to either side that explain a marker."""
EXPLAINED = 200
"""Markers that are explained, at even distances."""
COHORTS = ("2000x10000", "2000x10000-long")
RESOLUTIONS = (5, 20, 50, 100)
MOTIFS = (16, 32)
CHROMOSOMES = 4
"""Chromosomes to which motifs are fitted."""


def published(folder: Path) -> Iterator[tuple[str, Genotypes, Any]]:
    """Yield names, genotypes and chromosomes of published data."""
    toy = folder / "gwas_toy_knockoffzoom"
    table = pd.read_csv(toy / "genotypes.csv.gz").drop(columns="y")
    label = pd.read_csv(toy / "snps.csv").chr.astype(str).to_numpy()
    genotypes = Genotypes.of(table.to_numpy(np.int8))
    yield "artificial study of KnockoffZoom", genotypes, label
    half = np.arange(0, genotypes.shape[1], 2)
    yield "every second of its markers", genotypes.some_markers(half), label[half]
    mice = folder / "mice_gwas"
    table = pd.read_csv(mice / "genotypes.csv.gz")
    label = pd.read_csv(mice / "snps.csv.gz").chr.astype(str).to_numpy()
    yield "outbred mice", Genotypes.of(table.to_numpy(np.int8)), label


def by_distance(genotypes: Genotypes, chromosome: Any) -> tuple[list[float], float]:
    """Return mean squared correlations by distance, and the median share that neighbours explain.

    Chance makes 1 / n of a squared correlation, which is taken off; the share is adjusted for the
    number of neighbours. What is left below zero is printed as zero.
    """
    n, p = genotypes.shape
    table = standard_calls(calls_of(genotypes, 0, p))
    varies = np.einsum("mn,mn->m", table, table) > 0.5
    squares = []
    for distance in DISTANCES:
        same = (chromosome[distance:] == chromosome[:-distance]) & varies[distance:]
        same &= varies[:-distance]
        r = np.einsum("mn,mn->m", table[distance:][same], table[:-distance][same])
        squares.append(float(np.mean(r**2)) - 1.0 / n)
    shares = [
        explained(table, chromosome, int(j))
        for j in np.linspace(0, p - 1, EXPLAINED).round()
        if varies[int(j)]
    ]
    return squares, float(np.median(shares))


def explained(table: Any, chromosome: Any, j: int) -> float:
    """Return the share of the variance of a marker that its neighbours explain, adjusted."""
    near = np.arange(max(0, j - NEIGHBOURS), min(len(table), j + NEIGHBOURS + 1))
    near = near[(near != j) & (chromosome[near] == chromosome[j])]
    X: Array = np.asarray(table[near].T, dtype=float)
    y = np.asarray(table[j], dtype=float)
    coef, _, rank, _ = np.linalg.lstsq(X, y, rcond=1e-6)
    left = float(np.sum((y - X @ coef) ** 2))
    return 1.0 - left * (y.size - 1) / (y.size - 1 - int(rank))


def distance_table(folder: Path, data: Path) -> Iterator[str]:
    """Yield the lines of the table of distances."""
    yield "| genotypes | " + " | ".join(map(str, DISTANCES)) + " | share explained |"
    yield "|---" * (len(DISTANCES) + 2) + "|"
    cohorts = ((name, simulated(name, folder)) for name in COHORTS)
    each = [
        *((name, one, one.markers.chromosome) for name, one in cohorts),
        *published(data),
    ]
    for name, genotypes, chromosome in each:
        squares, share = by_distance(genotypes, np.asarray(chromosome))
        numbers = " | ".join(f"{max(value, 0.0):.2f}" for value in squares)
        yield f"| {name} | {numbers} | {share:.2f} |"


def motif_table(folder: Path) -> Iterator[str]:
    """Yield the lines of the table of motifs."""
    yield "| cohort | motifs | clump | check of the copies | marker and copy | fit, s |"
    yield "|---|---|---|---|---|---|"
    for name in COHORTS:
        whole = simulated(name, folder)
        first = [str(c + 1) for c in range(CHROMOSOMES)]
        some = whole.some_markers(np.flatnonzero(np.isin(whole.markers.chromosome, first)))
        segments = ld_blocks(some, some.markers.chromosome)
        labels = clumps(some, segments, RESOLUTIONS)
        own = standard_calls(calls_of(some, 0, some.shape[1]))
        for n_motifs in MOTIFS:
            start = time.process_time()
            motifs = fit_segment_motifs(some, segments, n_motifs=n_motifs, random_state=0)
            seconds = time.process_time() - start
            copies = stored_group_copies(some, motifs, labels, random_state=0)
            for resolution, groups, codes in zip(RESOLUTIONS, labels, copies, strict=True):
                copy = standard_two_bit(codes, some.n_rows)
                found = copies_by_block(some, copy, groups, segments, 0)
                other = standard_calls(calls_of(copy, 0, some.shape[1]))
                alike = float(np.einsum("mn,mn->m", own, other).mean())
                yield (
                    f"| {name} | {n_motifs} | {resolution} | {found.ratio:.2f} | {alike:.2f} | "
                    f"{seconds:.0f} |"
                )


def main() -> None:
    """Read options and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, required=True, help="for the simulated cohorts")
    parser.add_argument("--part", choices=("distance", "motifs"), required=True)
    given = parser.parse_args()
    if given.part == "distance":
        lines = distance_table(given.folder, Path(os.environ["SELICA_DATA"]))
    else:
        lines = motif_table(given.folder)
    for line in lines:
        print(line, flush=True)


if __name__ == "__main__":
    main()
