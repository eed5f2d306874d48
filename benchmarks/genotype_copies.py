"""Copies of genotypes and of Markov chains: `python -m benchmarks.genotype_copies`.

Time and memory of a fit and a copy at 1,000 people and 20,000 markers; `--promises` measures false
discovery rates with copies by a known law, a fitted one and a Gaussian one on the same data, with
`--csv FILE` as rows; `--real` checks copies of the genotypes in `$SELICA_DATA`.
"""

from __future__ import annotations

import argparse
import csv
import os
import resource
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from selica import KnockoffSelection
from selica._core.types import Array
from selica.control import fdp, knockoff_threshold, tpp
from selica.experiments.promise_rows import PromiseRow, read_promises, write_promises
from selica.sampling import (
    GaussianKnockoffs,
    GenotypeKnockoffs,
    HaplotypeLaw,
    MarkovKnockoffs,
    exchangeability,
)

COMMAND = "python -m benchmarks.genotype_copies --promises"
LEVELS = (0.1, 0.2)
ROWS = 300
COLUMNS = 60
SIGNALS = 15
LAM = 0.05
"""Penalty in glmnet's unit, chosen before the data."""


class Setting(NamedTuple):
    """Data sets of one kind."""

    name: str
    draw: Callable[[int], Any]
    """Rows of a seed."""
    samplers: dict[str, Any]
    strength: float


def founders(p: int, n_founders: int, rate: float, seed: int) -> HaplotypeLaw:
    """Haplotypes that are mosaics of founders, with errors in one of a hundred alleles."""
    rng = np.random.default_rng(seed)
    alleles = rng.random((p, n_founders)) < rng.uniform(0.2, 0.8, (p, 1))
    even = np.full((p, n_founders), 1.0 / n_founders)
    return HaplotypeLaw(np.full(p, rate), even, np.where(alleles, 0.99, 0.01))


def two_states(p: int, stay: float, seed: int) -> HaplotypeLaw:
    """Haplotypes whose alleles are a Markov chain: two motifs, each with an allele of its own."""
    carried = np.random.default_rng(seed).uniform(0.2, 0.8, p)
    shares = np.column_stack([1.0 - carried, carried])
    return HaplotypeLaw(np.full(p, -np.log(stay)), shares, np.tile([0.0, 1.0], (p, 1)))


def chain_rows(first: Array, step: Array, p: int, seed: int) -> Any:
    """Rows of a Markov chain."""
    rng = np.random.default_rng(seed)
    out = np.empty((ROWS, p), dtype=int)
    out[:, 0] = rng.choice(first.size, ROWS, p=first)
    below = np.cumsum(step, axis=1)[:, :-1]
    for j in range(1, p):
        out[:, j] = (rng.random(ROWS)[:, None] >= below[out[:, j - 1]]).sum(axis=1)
    return out


def settings() -> Iterator[Setting]:
    """Return the kinds of data, each with the samplers to compare."""
    for name, law, strength in (
        ("genotypes of 20 founders", founders(COLUMNS, 20, 0.1, 0), 0.5),
        ("genotypes, alleles a Markov chain", two_states(COLUMNS, 0.6, 1), 0.4),
    ):
        yield Setting(
            name,
            lambda seed, law=law: law.simulate(ROWS, random_state=seed),
            {
                "knockoff+, known genotypes": GenotypeKnockoffs(law),
                "knockoff+, fitted genotypes": GenotypeKnockoffs(),
                "knockoff+, Gaussian copies": GaussianKnockoffs(),
            },
            strength,
        )
    first = np.array([0.4, 0.3, 0.3])
    step = np.array([[0.7, 0.2, 0.1], [0.2, 0.6, 0.2], [0.1, 0.3, 0.6]])
    yield Setting(
        "Markov chain of three values",
        lambda seed: chain_rows(first, step, COLUMNS, seed),
        {
            "knockoff+, known Markov chain": MarkovKnockoffs(first, [step] * (COLUMNS - 1)),
            "knockoff+, fitted Markov chain": MarkovKnockoffs(),
            "knockoff+, Gaussian copies": GaussianKnockoffs(),
        },
        0.35,
    )


def one_run(setting: Setting, seed: int) -> Iterator[dict[str, Any]]:
    """Select on one data set by each sampler; W decides at both levels."""
    X = setting.draw(seed)
    truth = np.zeros(COLUMNS, dtype=bool)
    truth[np.linspace(0, COLUMNS - 1, SIGNALS).round().astype(int)] = True
    coef = setting.strength * truth * (-1.0) ** np.cumsum(truth)
    y = X @ coef + np.random.default_rng([seed, 1]).standard_normal(ROWS)
    for method, sampler in setting.samplers.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = KnockoffSelection(0.2, sampler=sampler, lam=LAM, random_state=seed).fit(X, y)
        promised = "proven" if found.guarantee_.proven else "expected"
        if found.guarantee_.level is None:
            promised = "withdrawn"
        for level in LEVELS:
            selected = found.statistics_ >= knockoff_threshold(found.statistics_, level, 1)
            yield {
                "setting": setting.name, "seed": seed, "method": method, "level": level,
                "fdp": float(fdp(selected, truth)), "tpp": float(tpp(selected, truth)),
                "any": int(selected.any()), "promised": promised,
                "ratio": found.exchangeability_.ratio,
            }  # fmt: skip


def measured(rows: list[dict[str, str]], setting: Setting) -> Iterator[PromiseRow]:
    """Return what the runs of a setting say, for each method and level."""
    for method in setting.samplers:
        for level in LEVELS:
            some = [r for r in rows if r["method"] == method and float(r["level"]) == level]
            said = Counter(r["promised"] for r in some)
            promised, usual = said.most_common(1)[0]
            share = np.array([float(r["fdp"]) for r in some])
            ratio = np.median([float(r["ratio"]) for r in some])
            rest = len(some) - usual
            other = f"; another promise on {rest} of the data sets" if rest else ""
            yield PromiseRow(
                setting.name, method, "FDR", level, float(share.mean()),
                float(share.std(ddof=1) / np.sqrt(share.size)), promised,
                selects=float(np.mean([int(r["any"]) for r in some])),
                power=float(np.mean([float(r["tpp"]) for r in some])), runs=len(some),
                command=COMMAND, note=f"median ratio of the check {ratio:.2f}{other}",
            )  # fmt: skip


def promises(runs: int, target: Path | None, kept: Path) -> None:
    """Measure false discovery rates; runs that are in the file `kept` are not repeated."""
    done: list[dict[str, str]] = []
    if kept.exists():
        with kept.open(newline="", encoding="utf-8") as file:
            done = list(csv.DictReader(file))
    for setting in settings():
        mine = [row for row in done if row["setting"] == setting.name]
        known = {int(row["seed"]) for row in mine}
        for seed in range(runs):
            if seed in known:
                continue
            found = [{k: str(v) for k, v in row.items()} for row in one_run(setting, seed)]
            fresh = not kept.exists()
            with kept.open("a", newline="", encoding="utf-8") as file:
                writer = csv.DictWriter(file, found[0])
                if fresh:
                    writer.writeheader()
                writer.writerows(found)
            mine += found
        rows = list(measured(mine, setting))
        for row in rows:
            print(
                f"{row.setting}; {row.method}; FDR {row.level:g}: {row.measured:.3f} "
                f"({row.error:.3f}) {row.promised}, power {row.power:.2f}; {row.note}"
            )
        if target is not None:
            write_promises(target, rows)
    if target is not None:
        print(f"{len(read_promises(target))} rows in {target}")


def speed(people: int, markers: int, steps: int) -> None:
    """Time a fit and a copy, and say how much memory the process took at most."""
    law = founders(markers, 40, 0.02, 0)
    X = law.simulate(people, random_state=1)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    wall, cpu = time.perf_counter(), time.process_time()
    fitted = GenotypeKnockoffs(n_steps=steps).fit(X)
    middle = time.perf_counter() - wall, time.process_time() - cpu
    copy = fitted.sample(X, random_state=2)
    after = time.perf_counter() - wall, time.process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{people:,} people, {markers:,} markers, {steps} steps, {fitted}")
    print(f"fit: {middle[0]:.0f} s, {middle[1]:.0f} s of processors")
    print(f"copy: {after[0] - middle[0]:.1f} s, {after[1] - middle[1]:.1f} s of processors")
    print(f"memory: {peak:.0f} MB at most, {before:.0f} MB before the fit")
    print(f"correlation of neighbours, on average: {near(X):.3f}, of the copy {near(copy):.3f}")


def near(X: Any) -> float:
    """Return the mean size of the correlations between neighbours."""
    return float(np.abs(neighbours(X)).mean())


def neighbours(X: Any) -> Array:
    """Return correlations of neighbouring columns."""
    centred = X - X.mean(axis=0)
    scale = centred.std(axis=0)
    centred = centred / np.where(scale > 0.0, scale, 1.0)
    return np.asarray((centred[:, 1:] * centred[:, :-1]).mean(axis=0))


def real() -> None:
    """Check copies of the genotypes of mice (one chromosome) and of an artificial study."""
    folder = Path(os.environ["SELICA_DATA"])
    import pandas as pd

    mice = pd.read_csv(folder / "mice_gwas" / "genotypes.csv.gz")
    chromosome = pd.read_csv(folder / "mice_gwas" / "snps.csv.gz")["chr"].astype(str).to_numpy()
    study = pd.read_csv(folder / "gwas_toy_knockoffzoom" / "genotypes.csv.gz").drop(columns="y")
    for name, X, labels in (
        ("gwas_toy_knockoffzoom", study.to_numpy(np.int8), np.repeat([21, 22], 1000)),
        ("mice_gwas, chromosome 1", mice.to_numpy(np.int8)[:, chromosome == "1"], None),
    ):
        varies = X.min(axis=0) < X.max(axis=0)
        X, labels = X[:, varies], None if labels is None else labels[varies]
        for label, sampler in (
            ("motifs", GenotypeKnockoffs(segments=labels)),
            ("Gaussian", GaussianKnockoffs()),
        ):
            cpu = time.process_time()
            copy = sampler.fit(X).sample(X, random_state=1)
            cpu = time.process_time() - cpu
            check = exchangeability(X, copy, random_state=2)
            apart = np.abs(neighbours(copy) - neighbours(X)).mean()
            print(
                f"{name} {X.shape}, {label}: {check} Correlations of neighbours {near(X):.3f}, of "
                f"the copy {near(copy):.3f}, apart by {apart:.4f}; {cpu:.0f} s of processors."
            )


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", type=int, default=1000)
    parser.add_argument("--markers", type=int, default=20_000)
    parser.add_argument("--steps", type=int, default=25)
    parser.add_argument("--promises", action="store_true")
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--csv", type=Path)
    parser.add_argument("--kept", type=Path, default=Path("genotype_runs.csv"))
    parser.add_argument("--real", action="store_true")
    given = parser.parse_args()
    if given.promises:
        promises(given.runs, given.csv, given.kept)
    elif given.real:
        real()
    else:
        speed(given.people, given.markers, given.steps)


if __name__ == "__main__":
    main()
