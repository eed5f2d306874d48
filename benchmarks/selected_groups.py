"""Selectors with groups, everything estimated: `python -m benchmarks.selected_groups`.

False selections, false discovery rate and power of groups beside those of single variables; one
variable of each group that matters has an effect. `--csv FOLDER` writes the rows, and `--figure`
the picture of the page on groups.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from selica import DerandomizedKnockoffs, KnockoffSelection, StabilitySelection
from selica._core.types import Array, IntArray
from selica.experiments.promise_rows import PromiseRow, write_promises

COMMAND = "python -m benchmarks.selected_groups"
RUNS = 60
"""Data sets of each design by default."""
ROWS = 200
"""Rows of a data set."""
EFFECT = 0.35
"""Effect of a variable that matters; the noise has a variance of one."""


class Design(NamedTuple):
    """Columns in groups."""

    name: str
    sizes: tuple[int, ...]
    within: float
    """Correlation of two columns of a group, or of neighbours."""
    matter: int
    """Groups that matter."""
    chain: bool = False
    """Whether all columns are one chain, in which neighbours are correlated."""
    given: bool = True
    """Whether groups are given; else they are found from the columns."""


DESIGNS = (
    Design("20 blocks of 5 with 0.95 within, 4 matter", (5,) * 20, 0.95, 4),
    Design("AR(1) 0.9 in 20 groups of 5, 4 matter", (5,) * 20, 0.9, 4, chain=True),
    Design("20 blocks of 1 to 9 with 0.8 within, found by correlation, 4 matter",
           (1, 9, 2, 8, 3, 7, 4, 6, 5, 5) * 2, 0.8, 4, given=False),
    Design("20 blocks of 5 with 0.95 within, nothing matters", (5,) * 20, 0.95, 0),
)  # fmt: skip
METHODS: dict[str, tuple[str, float, bool, Callable[[], Any]]] = {
    "stability of groups": (
        "false selections", 1.0, True, lambda: StabilitySelection(pfer=1.0, n_resamples=100),
    ),
    "derandomized knockoffs of groups": (
        "false selections", 1.0, True,
        lambda: DerandomizedKnockoffs(pfer=1.0, n_copies=15, statistic="coefficient"),
    ),
    "knockoffs of groups, 5 joint copies": (
        "FDR", 0.2, True, lambda: KnockoffSelection(0.2, joint_copies=5),
    ),
    "stability of single variables": (
        "false selections", 1.0, False, lambda: StabilitySelection(pfer=1.0, n_resamples=100),
    ),
    "derandomized knockoffs of single variables": (
        "false selections", 1.0, False,
        lambda: DerandomizedKnockoffs(pfer=1.0, n_copies=15, statistic="coefficient"),
    ),
}  # fmt: skip
"""What is measured, its level, whether groups are selected, and what selects."""


def table(design: Design, seed: int) -> tuple[Array, Array, Array, IntArray]:
    """Return columns, response, coefficients and groups."""
    rng = np.random.default_rng([seed, 23])
    groups = np.repeat(np.arange(len(design.sizes)), design.sizes)
    p = groups.size
    if design.chain:
        covariance = design.within ** np.abs(np.subtract.outer(np.arange(p), np.arange(p)))
    else:
        covariance = np.where(groups[:, None] == groups, design.within, 0.0)
        np.fill_diagonal(covariance, 1.0)
    X = rng.standard_normal((ROWS, p)) @ np.linalg.cholesky(covariance).T
    coef = np.zeros(p)
    for group in rng.choice(len(design.sizes), design.matter, replace=False):
        coef[rng.choice(np.flatnonzero(groups == group))] = EFFECT * rng.choice([-1.0, 1.0])
    return X, X @ coef + rng.standard_normal(ROWS), coef, groups


class Outcome(NamedTuple):
    """What one selection got right, and what it promised."""

    false: float
    power: float
    some: float
    promised: str
    level: float


def outcome(design: Design, method: str, seed: int) -> Outcome:
    """Return what a method does on a data set."""
    controls, _, grouped, make = METHODS[method]
    X, y, coef, groups = table(design, seed)
    selector = make().set_params(random_state=seed, n_jobs=1)
    if grouped:
        selector.set_params(groups=groups if design.given else "correlation")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        selector.fit(X, y)
    if grouped:
        chosen = selector.group_support_
        truth = np.bincount(selector.groups_, coef != 0.0) > 0.0
    else:
        chosen, truth = selector.support_, coef != 0.0
    wrong, many = int((chosen & ~truth).sum()), int(chosen.sum())
    promise = selector.guarantee_
    said = "withdrawn" if promise.level is None else "proven" if promise.proven else "expected"
    return Outcome(
        wrong / max(many, 1) if controls == "FDR" else float(wrong),
        int((chosen & truth).sum()) / max(int(truth.sum()), 1),
        float(many > 0),
        said,
        promise.level or np.nan,
    )


def measure(design: Design, runs: int) -> Iterator[PromiseRow]:
    """Return the rows of all methods on one design; runs without a promise are not counted."""
    for method, (controls, level, grouped, _) in METHODS.items():
        found = [outcome(design, method, seed) for seed in range(runs)]
        kept = [one for one in found if one.promised != "withdrawn"]
        promised = "withdrawn"
        if kept:
            promised = "proven" if all(one.promised == "proven" for one in kept) else "expected"
        counted = kept or found
        false, power, some = (np.array([one[k] for one in counted]) for k in range(3))
        note = "groups are counted" if grouped else "single variables are counted"
        if kept and len(kept) < runs:
            note += f"; the promise was withdrawn in {runs - len(kept)} of {runs} runs"
        yield PromiseRow(
            design.name, method, controls, level, round(float(false.mean()), 4),
            round(float(false.std() / np.sqrt(len(counted))), 4), promised,
            round(float(some.mean()), 3), round(float(power.mean()), 3) if design.matter else None,
            len(counted), COMMAND, note,
        )  # fmt: skip


def figure(path: Path) -> None:
    """Draw the map of the page on groups."""
    rng = np.random.default_rng(1)
    programs = rng.standard_normal((300, 20))
    genes = 0.95 * np.repeat(programs, 10, axis=1) + 0.3 * rng.standard_normal((300, 200))
    response = programs[:, :4].sum(axis=1) + 1.5 * rng.standard_normal(300)
    selector = StabilitySelection(groups="correlation", random_state=0).fit(genes, response)
    selector.group_map().plot().savefig(path, dpi=130)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=RUNS, help="data sets of each design")
    parser.add_argument("--csv", type=Path, help="folder for the rows")
    parser.add_argument("--figure", action="store_true", help="draw docs/images/groups.png")
    asked = parser.parse_args()
    if asked.figure:
        figure(Path("docs/images/groups.png"))
        return
    rows: list[PromiseRow] = []
    for design in DESIGNS:
        for row in measure(design, asked.runs):
            print(row, flush=True)
            rows.append(row)
            if asked.csv is not None:
                write_promises(asked.csv / "selected_groups.csv", rows)


if __name__ == "__main__":
    main()
