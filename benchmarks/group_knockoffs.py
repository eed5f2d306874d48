"""Knockoffs of groups, with one copy and five: `python -m benchmarks.group_knockoffs`.

False discovery rate and power of groups beside those of single variables, the covariance known;
`--published` repeats a published simulation; `--speed` times S of 2,000 variables.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from selica._core.types import Array, BoolArray, IntArray
from selica.control import joint_selection, joint_wins
from selica.experiments.promise_rows import PromiseRow, read_promises, write_promises
from selica.sampling import GaussianKnockoffs, correlation_groups, group_s_matrix
from selica.statistics import joint_importances, make_data

COMMAND = "python -m benchmarks.group_knockoffs"
LEVELS = (0.1, 0.2)
SIZE = 5
"""Variables of a group."""
METHODS = {
    "group knockoffs": (True, 1),
    "group knockoffs, 5 joint copies": (True, 5),
    "knockoff+": (False, 1),
    "knockoffs, 5 joint copies": (False, 5),
}
"""Whether groups are selected, and how many joint copies there are."""
PUBLISHED_RUNS = 20
"""Data sets of the published simulation by default."""
PUBLISHED = {
    "estimated": ((0.737, 0.021), (0.270, 0.022)),
    "known": ((0.874, 0.049), (0.430, 0.057)),
}
"""Power and FDR of groups and of single variables over ten data sets, in the manual of
Knockoffs.jl (page "Group Knockoffs", an earlier version with an estimated covariance and a later
one with the true one)."""


class Design(NamedTuple):
    """Groups of five neighbours, of which some have one variable with an effect each."""

    name: str
    covariance: Array
    matter: int
    """Groups that matter."""
    rows: int = 400
    effect: float = 0.4
    runs: int = 500
    """Data sets by default."""


def neighbours(p: int, r: float) -> Array:
    """Return the correlations of an autoregressive process."""
    return np.asarray(r ** np.abs(np.subtract.outer(np.arange(p), np.arange(p))))


def blocks(p: int, within: float, between: float) -> Array:
    """Return correlations that are larger inside blocks of five."""
    same = np.equal.outer(np.arange(p) // SIZE, np.arange(p) // SIZE)
    return np.asarray(np.where(same, within, between) + (1.0 - within) * np.eye(p))


DESIGNS = (
    Design("AR(1) 0.9 in groups of 5, 15 of 40 matter", neighbours(200, 0.9), 15),
    Design(
        "blocks of 5, 0.9 within and 0.3 between, 15 of 40 matter",
        blocks(200, 0.9, 0.3),
        15,
        effect=0.3,
    ),
    Design("AR(1) 0.9 in groups of 5, 4 of 40 matter", neighbours(200, 0.9), 4, runs=200),
    Design("AR(1) 0.9 in groups of 5, nothing matters", neighbours(200, 0.9), 0, runs=200),
)


class Outcome(NamedTuple):
    """False share and power of one selection, and whether there is any."""

    fdp: float
    power: float
    some: bool


def outcome(selected: BoolArray, truth: BoolArray) -> Outcome:
    """Return what a selection got right."""
    many = int(selected.sum())
    return Outcome(
        int((selected & ~truth).sum()) / max(many, 1),
        int((selected & truth).sum()) / max(int(truth.sum()), 1),
        many > 0,
    )


def select(
    X: Array, y: Array, sampler: GaussianKnockoffs, groups: IntArray | None, seed: int
) -> dict[float, BoolArray]:
    """Return the selections at all levels."""
    data = make_data(X, y, "squared", variable=groups)
    rng = np.random.default_rng([seed, 2])
    T = joint_importances(data, sampler.copies(X, seed, 1), [rng], n_jobs=1)[0]
    wins = joint_wins(T)
    return {level: joint_selection(wins.winner, wins.lead, wins.n_joint, level) for level in LEVELS}


def samplers_of(design: Design) -> dict[str, GaussianKnockoffs]:
    """Return what draws the copies of each method."""
    labels = np.arange(len(design.covariance)) // SIZE
    return {
        name: GaussianKnockoffs(
            0.0, design.covariance, "maxent", groups=labels if grouped else None, n_joint=m
        )
        for name, (grouped, m) in METHODS.items()
    }


def data_set(
    design: Design, samplers: dict[str, GaussianKnockoffs], seed: int
) -> dict[tuple[str, float], Outcome]:
    """Return what all methods select at all levels on one data set."""
    p = len(design.covariance)
    labels = np.arange(p) // SIZE
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((design.rows, p)) @ np.linalg.cholesky(design.covariance).T
    matter = rng.choice(p // SIZE, design.matter, replace=False)
    signs = rng.choice([-1.0, 1.0], design.matter)
    coef = np.zeros(p)
    coef[matter * SIZE + rng.integers(0, SIZE, design.matter)] = design.effect * signs
    y = X @ coef + rng.standard_normal(design.rows)
    found = {}
    for name, (grouped, _) in METHODS.items():
        truth = np.isin(np.arange(p // SIZE), matter) if grouped else coef != 0.0
        chosen = select(X, y, samplers[name], labels if grouped else None, seed)
        for level, selected in chosen.items():
            found[name, level] = outcome(selected, truth)
    return found


def rows_of(
    design: Design, found: Sequence[dict[tuple[str, float], Outcome]]
) -> Iterator[PromiseRow]:
    """Return the rows of all methods on one design."""
    runs = len(found)
    for name, level in found[0]:
        false, power, some = np.array([one[name, level] for one in found], dtype=float).T
        yield PromiseRow(
            design.name, name, "FDR", level, float(false.mean()),
            float(false.std() / np.sqrt(runs)), "proven", float(some.mean()),
            float(power.mean()) if design.matter else None, runs, COMMAND,
            "groups are counted" if METHODS[name][0] else "single variables are counted",
        )  # fmt: skip


def measure(design: Design, runs: int) -> list[PromiseRow]:
    """Return the rows of one design, measured on so many data sets."""
    samplers = samplers_of(design)
    return list(rows_of(design, [data_set(design, samplers, seed) for seed in range(runs)]))


def published(runs: int) -> None:
    """Print a published simulation: 1000 x 200, AR(1) 0.9, ten effects of 0.25, five copies."""
    sigma = neighbours(200, 0.9)
    root = np.linalg.cholesky(sigma)
    for law, numbers in PUBLISHED.items():
        found: list[list[Outcome]] = [[], []]
        for seed in range(runs):
            rng = np.random.default_rng(seed)
            X = rng.standard_normal((1000, 200)) @ root.T
            X = (X - X.mean(axis=0)) / X.std(axis=0)
            coef = np.zeros(200)
            coef[rng.choice(200, 10, replace=False)] = 0.25 * rng.choice([-1.0, 1.0], 10)
            y = X @ coef + rng.standard_normal(1000)
            clusters = correlation_groups(X, 0.5, "complete")
            for place, groups in enumerate((clusters, None)):
                mean, covariance = (0.0, sigma) if law == "known" else (None, None)
                sampler = GaussianKnockoffs(
                    mean, covariance, "maxent", groups=groups, n_joint=5
                ).fit(X)
                truth = coef != 0.0
                if groups is not None:
                    truth = np.bincount(groups, truth) > 0.0
                selected = select(X, y, sampler, groups, seed)[0.1]
                found[place].append(outcome(selected, truth))
        for what, outcomes, (power, fdr) in zip(
            ("groups", "single variables"), found, numbers, strict=True
        ):
            false, own, _ = np.array(outcomes, dtype=float).T
            error = own.std() / np.sqrt(runs)
            print(
                f"covariance {law}, {what}: power {own.mean():.3f} ({error:.3f}), published "
                f"{power}; FDR {false.mean():.3f}, published {fdr}",
                flush=True,
            )


def speed() -> None:
    """Print the seconds for S of 2,000 variables in groups of 10."""
    sigma, groups = neighbours(2000, 0.9), np.arange(2000) // 10
    for method in ("maxent", "mvr"):
        for m in (1, 5):
            start, busy = time.perf_counter(), time.process_time()
            group_s_matrix(sigma, groups, method, m)
            print(
                f"{method}, {m} copies: {time.perf_counter() - start:.1f} s, "
                f"{time.process_time() - busy:.1f} s of one core",
                flush=True,
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, help="data sets of each design")
    parser.add_argument(
        "--csv", type=Path, metavar="FILE", help="where designs that are there are not repeated"
    )
    parser.add_argument("--published", action="store_true")
    parser.add_argument("--speed", action="store_true")
    options = parser.parse_args()
    if options.speed:
        speed()
        return
    if options.published:
        published(options.runs or PUBLISHED_RUNS)
        return
    known = read_promises(options.csv) if options.csv and options.csv.exists() else []
    done = {row.setting: row.runs for row in known}
    for design in DESIGNS:
        runs = options.runs or design.runs
        if done.get(design.name, 0) >= runs:
            continue
        rows = measure(design, runs)
        if options.csv:
            write_promises(options.csv, rows)
        for row in rows:
            power = "" if row.power is None else f", power {row.power:.3f}"
            print(
                f"{row.setting} | {row.method} | {row.level} | {row.measured:.3f} "
                f"({row.error:.3f}){power}",
                flush=True,
            )


if __name__ == "__main__":
    main()
