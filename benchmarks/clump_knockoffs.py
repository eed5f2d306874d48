"""False discoveries and power over clumps: `python -m benchmarks.clump_knockoffs --folder DIR`.

A cohort is simulated once and its motifs are fitted once; every data set has its own causal
markers, effects, noise and knockoff copies. Knockoffs of clumps at several resolutions stand beside
tests of single markers with clumping. A discovery is a stretch of neighbouring markers, for either:
it is true if one of its markers is causal. Power is the share of causal markers in a discovery.
Rows that are in the file are not computed again.
"""

from __future__ import annotations

import argparse
import csv
import pickle
import resource
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from benchmarks.simulate_cohort import Cohort, simulate_cohort
from scipy.stats import t as student

from selica import ClumpKnockoffs
from selica._core.random import child, seed_sequence
from selica.control import benjamini_hochberg
from selica.sampling import fit_segment_motifs, ld_blocks
from selica.sampling.stored_calls import calls_of, standard_calls
from selica.tables.genotypes import Genotypes, read_genotypes

OUT = Path("docs/data/clumps/knockoffs.csv")
"""Rows of all data sets."""
LEVEL = 0.1
"""False discovery rate that is asked for."""
CLUMP_R2 = 0.1
"""Squared correlation to an index marker from which on a marker is in its clump."""
WINDOW = 100
"""Markers to either side of an index marker that may be in its clump."""
N_MOTIFS = 16
"""Motifs of a segment: half of the usual number, in a quarter of the time."""
HERITABILITY = 0.5


class Simulated(NamedTuple):
    """A cohort, and the resolutions that are asked for."""

    n: int
    p: int
    n_causal: int
    switch_rate: float
    """Probability that a haplotype goes on with another founder, for each marker."""
    resolutions: tuple[float, ...]
    """Markers of a clump, on average, or squared correlations."""


COHORTS = {
    "2000x10000": Simulated(2_000, 10_000, 30, 0.05, (5, 20, 50)),
    "5000x50000": Simulated(5_000, 50_000, 50, 0.05, (5, 20, 50)),
    "2000x10000-long": Simulated(2_000, 10_000, 30, 0.005, (0.5, 5, 20, 50, 100, 200)),
}
"""Cohorts by name; "long" has the usual switch rate of `simulate_cohort`, and so longer LD."""
FIGURE = {
    "2000x10000": "short LD, 2,000 people",
    "5000x50000": "short LD, 5,000 people",
    "2000x10000-long": "long LD, 2,000 people",
}
"""Cohorts of the figure, and what they are called in it."""
COLUMNS = ("cohort", "data_set", "method", "resolution", "discoveries", "false", "fdp", "power",
           "markers", "processor_seconds")  # fmt: skip


class Study(NamedTuple):
    """Phenotype of a data set."""

    y: Any
    covariates: Any
    causal: Any
    """(k,): places of causal markers."""


def simulated(name: str, folder: Path) -> Genotypes:
    """Return the genotypes of a cohort, which are simulated where they are not there."""
    one, path = COHORTS[name], folder / f"{name}.bed"
    if not path.exists():
        cohort = Cohort(one.n, one.p, one.n_causal, switch_rate=one.switch_rate, random_state=1)
        simulate_cohort(path, cohort)
    return read_genotypes(path)


def cohort_of(name: str, folder: Path) -> tuple[Genotypes, Any, float]:
    """Return genotypes, their motifs, and the processor time of the fit."""
    genotypes, stored = simulated(name, folder), folder / f"{name}.motifs"
    if not stored.exists():
        start = time.process_time()
        segments = ld_blocks(genotypes, genotypes.markers.chromosome)
        motifs = fit_segment_motifs(genotypes, segments, n_motifs=N_MOTIFS, random_state=0)
        stored.write_bytes(pickle.dumps((motifs, time.process_time() - start)))
    motifs, seconds = pickle.loads(stored.read_bytes())
    return genotypes, motifs, seconds


def study_of(genotypes: Genotypes, n_causal: int, seed: Any) -> Study:
    """Draw causal markers, effects of equal size, two covariates and noise."""
    rng = np.random.default_rng(seed)
    n, p = genotypes.shape
    causal = np.sort(rng.choice(p, n_causal, replace=False))
    table = genotypes.calls(causal).astype(float)
    genetic = (table - table.mean(axis=0)) / table.std(axis=0) @ rng.choice([-1.0, 1.0], n_causal)
    covariates = rng.standard_normal((n, 2))
    noise = rng.standard_normal(n) + 0.3 * covariates.sum(axis=1)
    parts = (np.sqrt(HERITABILITY) * genetic / genetic.std(), np.sqrt(1.0 - HERITABILITY) * noise)
    return Study(sum(parts), covariates, causal)


def scored(stretches: list[tuple[int, int]], causal: Any) -> dict[str, Any]:
    """Return counts of discoveries, each from its first marker to the one behind its last."""
    hits = [int(np.count_nonzero((causal >= a) & (causal < b))) for a, b in stretches]
    found = np.zeros(causal.size, dtype=bool)
    for a, b in stretches:
        found |= (causal >= a) & (causal < b)
    false = hits.count(0)
    return {
        "discoveries": len(stretches),
        "false": false,
        "fdp": false / max(len(stretches), 1),
        "power": float(found.mean()),
        "markers": float(np.mean([b - a for a, b in stretches])) if stretches else 0.0,
    }


def by_knockoffs(
    genotypes: Genotypes, motifs: Any, study: Study, resolutions: tuple[float, ...], seed: Any
) -> Iterator[dict]:
    """Yield a row for each resolution."""
    start = time.process_time()
    selector = ClumpKnockoffs(LEVEL, resolutions=resolutions, motifs=motifs, random_state=seed)
    selector.fit(genotypes, study.y, keep=study.covariates)
    seconds = time.process_time() - start
    for one in selector.resolutions_:
        first = np.searchsorted(one.clumps, np.flatnonzero(one.selected))
        last = np.searchsorted(one.clumps, np.flatnonzero(one.selected), side="right")
        stretches = list(zip(first.tolist(), last.tolist(), strict=True))
        yield {"method": "clump knockoffs", "resolution": one.name,
               "processor_seconds": seconds} | scored(stretches, study.causal)  # fmt: skip


def single_tests(genotypes: Genotypes, study: Study) -> Any:
    """Return p-values of regressions on each marker and the covariates."""
    n, p = genotypes.shape
    kept = np.column_stack([np.ones(n), study.covariates])
    basis = np.linalg.qr(kept)[0]
    y = study.y - basis @ (basis.T @ study.y)
    freedom = n - kept.shape[1] - 1
    r = np.empty(p)
    for begin in range(0, p, 2_000):
        end = min(begin + 2_000, p)
        X = standard_calls(calls_of(genotypes, begin, end)).astype(float)
        X -= (X @ basis) @ basis.T
        r[begin:end] = X @ y / np.sqrt(np.einsum("mn,mn->m", X, X) * (y @ y))
    return 2.0 * student.sf(np.abs(r) * np.sqrt(freedom / (1.0 - r**2)), freedom)


def clumped(genotypes: Genotypes, p_values: Any, chosen: Any) -> list[tuple[int, int]]:
    """Return stretches around index markers: the smallest p-values that are in no clump yet."""
    chromosome = genotypes.markers.chromosome
    open_markers, stretches = chosen.copy(), []
    for index in np.argsort(p_values, kind="stable"):
        if not chosen[index]:
            break
        if not open_markers[index]:
            continue
        begin, end = max(0, index - WINDOW), min(chosen.size, index + WINDOW + 1)
        table = standard_calls(calls_of(genotypes, begin, end))
        near = (table @ table[index - begin]) ** 2 >= CLUMP_R2
        near &= chromosome[begin:end] == chromosome[index]
        members = begin + np.flatnonzero(near)
        open_markers[members] = False
        stretches.append((int(members[0]), int(members[-1]) + 1))
    return stretches


def by_single_tests(genotypes: Genotypes, study: Study) -> Iterator[dict]:
    """Yield a row for each way to choose markers."""
    start = time.process_time()
    p_values = single_tests(genotypes, study)
    rules = {
        "Bonferroni 0.05": p_values <= 0.05 / p_values.size,
        f"Benjamini-Hochberg {LEVEL:g}": benjamini_hochberg(p_values, LEVEL),
    }
    for name, chosen in rules.items():
        stretches = clumped(genotypes, p_values, chosen)
        yield {"method": "single markers, clumped", "resolution": name,
               "processor_seconds": time.process_time() - start} | scored(
            stretches, study.causal)  # fmt: skip


def done(out: Path) -> set[tuple[str, int]]:
    """Return which data sets are in the file."""
    if not out.exists():
        return set()
    with out.open(newline="") as file:
        return {(row["cohort"], int(row["data_set"])) for row in csv.DictReader(file)}


def append(out: Path, rows: list[dict[str, Any]]) -> None:
    """Write the rows of a data set in one go."""
    new = not out.exists()
    out.parent.mkdir(parents=True, exist_ok=True)
    with out.open("a", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        if new:
            writer.writeheader()
        writer.writerows(rows)


def averages(out: Path) -> None:
    """Print means and standard errors over data sets."""
    with out.open(newline="") as file:
        rows = list(csv.DictReader(file))
    keys = dict.fromkeys((r["cohort"], r["method"], r["resolution"]) for r in rows)
    for key in keys:
        mine = [r for r in rows if (r["cohort"], r["method"], r["resolution"]) == key]
        columns = ("fdp", "power", "discoveries", "markers", "processor_seconds")
        fdp, power, found, width, seconds = (np.array([float(r[c]) for r in mine]) for c in columns)
        error = [x.std(ddof=1) / np.sqrt(x.size) if x.size > 1 else np.nan for x in (fdp, power)]
        print(
            f"{' | '.join(key)} | {len(mine)} sets | FDR {fdp.mean():.3f} ({error[0]:.3f}) | "
            f"power {power.mean():.3f} ({error[1]:.3f}) | {found.mean():.1f} discoveries of "
            f"{width[found > 0].mean() if (found > 0).any() else 0:.0f} markers | "
            f"{seconds.mean():.0f} s"
        )


def figure(out: Path, path: Path) -> None:
    """Draw power and false discovery rate against the size of clumps."""
    import matplotlib.pyplot as plt

    with out.open(newline="") as file:
        rows = [r for r in csv.DictReader(file) if r["resolution"].endswith(" markers")]
    drawn, (left, right) = plt.subplots(1, 2, figsize=(10, 3.6))
    for name, label in FIGURE.items():
        mine = [r for r in rows if r["cohort"] == name]
        sizes = sorted({int(r["resolution"].split()[0]) for r in mine})
        for axis, column in ((left, "power"), (right, "fdp")):
            each = [
                [float(r[column]) for r in mine if r["resolution"] == f"{size} markers"]
                for size in sizes
            ]
            errors = [np.std(one, ddof=1) / np.sqrt(len(one)) for one in each]
            axis.errorbar(
                sizes, [np.mean(one) for one in each], errors, marker="o", capsize=3, label=label
            )
    right.axhline(LEVEL, color="black", linewidth=0.8, linestyle="--")
    right.text(5, LEVEL + 0.003, "level")
    for axis, measure in ((left, "power"), (right, "false discovery rate")):
        axis.set(xscale="log", xlabel="markers of a clump, on average", ylabel=measure)
        axis.set_xticks([5, 20, 50, 100, 200], ["5", "20", "50", "100", "200"])
        axis.minorticks_off()
    left.set_ylim(0.0, 1.02)
    right.set_ylim(0.0, 0.16)
    left.legend(loc="lower right", frameon=False)
    drawn.tight_layout()
    drawn.savefig(path, dpi=130)


def main() -> None:
    """Read options, compute what is missing, and print averages."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, required=True, help="for the simulated cohorts")
    parser.add_argument("--cohort", choices=COHORTS, default="2000x10000")
    parser.add_argument("--data-sets", type=int, default=30)
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--figure", type=Path, help="draw the rows of the file")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    known = done(given.out)
    ahead = [k for k in range(given.data_sets) if (given.cohort, k) not in known]
    if ahead:
        genotypes, motifs, seconds = cohort_of(given.cohort, given.folder)
        print(f"{genotypes}; {motifs}, fitted in {seconds:.0f} s of processor time", flush=True)
    for k in ahead:
        seed = child(seed_sequence(2026), k)
        one = COHORTS[given.cohort]
        study = study_of(genotypes, one.n_causal, child(seed, 0))
        rows = [*by_knockoffs(genotypes, motifs, study, one.resolutions, child(seed, 1)),
                *by_single_tests(genotypes, study)]  # fmt: skip
        append(given.out, [{"cohort": given.cohort, "data_set": k} | row for row in rows])
    if ahead:
        print(f"memory at most: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.2f} GB")
    averages(given.out)
    if given.figure is not None:
        figure(given.out, given.figure)


if __name__ == "__main__":
    main()
