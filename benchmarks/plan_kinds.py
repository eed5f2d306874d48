"""Plans of every kind against simulations: `python -m benchmarks.plan_kinds`.

Sixty settings of ten kinds: many variables, unequal effects, correlated columns, classes, counts
and survival times. Every method is run as the plan prints it. Results go to a file data set by data
set (`--store`), so that an interrupted run goes on; `--table` writes the means to
docs/data/plans/kinds.csv and prints what docs/planning.md shows.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import time
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from selica import selectors, theory
from selica._core.effects import Effects
from selica._core.errors import DoesNotApply, RefusedError
from selica._core.types import Array
from selica.control import fdp, tpp
from selica.planning import Binary, Counts, Numeric, Survival
from selica.planning.predict.prediction import Prediction, predict
from selica.planning.responses import StudyResponse
from selica.planning.study import Study

METHODS = ("stability-fdr", "stability-pfer", "knockoffs", "knockoffs-evalues")
SEED = 25
_CASE_POOL = 50_000
"""Rows of the population that are drawn at a time for cases and controls."""
_COPIED_ENTRIES = 250_000
"""Entries of a table up to which fifty copies are made."""
_GAUSSIAN_COLUMNS = 2000
"""Columns up to which copies estimate a covariance; more are known to be independent here."""


class Setting(NamedTuple):
    """Data sets of one kind, and the level asked of the methods."""

    kind: str
    n: int
    p: int
    k: int
    strength: tuple[str, float]
    fdr: float = 0.1
    effects: Effects = theory.GaussianEffects()
    response: StudyResponse = Numeric()
    covariance: Any = None

    @property
    def study(self) -> Study:
        name, value = self.strength
        return Study.of(
            self.n, self.p, self.k, effects=self.effects, response=self.response,
            covariance=self.covariance, **{name: value},
        )  # fmt: skip

    def __str__(self) -> str:
        name, value = self.strength
        size = f"{self.n} x {self.p}, {self.k} signals"
        return f"{self.kind}, {size}, {name} {value:g}, level {self.fdr:g}"


def _grid(kind: str, rows: list[tuple[Any, ...]], name: str, **more: Any) -> list[Setting]:
    return [Setting(kind, n, p, k, (name, value), fdr, **more) for n, p, k, value, fdr in rows]


_EQUAL = theory.PointEffects()
_DECAY = theory.EmpiricalEffects([0.9**j for j in range(30)])
SETTINGS = [
    *_grid("many variables", [
        (400, 5000, 20, 0.7, 0.1), (600, 5000, 40, 0.8, 0.2), (1000, 10_000, 30, 0.6, 0.1),
        (800, 10_000, 60, 0.9, 0.1), (600, 20_000, 20, 0.7, 0.2), (1000, 20_000, 50, 0.8, 0.1),
    ], "r2"),
    *_grid("unequal effects", [
        (300, 200, 30, 0.7, 0.1), (400, 400, 30, 0.8, 0.2), (600, 300, 30, 0.6, 0.1),
        (500, 1000, 30, 0.8, 0.1), (250, 500, 30, 0.9, 0.2), (800, 200, 30, 0.5, 0.1),
    ], "r2", effects=_DECAY),
    *_grid("AR 0.5", [
        (400, 200, 20, 0.7, 0.1), (300, 300, 30, 0.85, 0.2), (600, 400, 40, 0.8, 0.1),
        (500, 800, 40, 0.85, 0.1), (800, 500, 40, 0.6, 0.2), (400, 600, 30, 0.9, 0.1),
    ], "r2", covariance=("ar1", 0.5)),
    *_grid("AR 0.8", [
        (800, 200, 20, 0.7, 0.1), (600, 300, 30, 0.85, 0.2), (1200, 400, 40, 0.8, 0.1),
        (1000, 800, 40, 0.9, 0.1), (1500, 500, 40, 0.6, 0.2), (800, 600, 30, 0.9, 0.1),
    ], "r2", covariance=("ar1", 0.8)),
    *_grid("blocks 0.5", [
        (400, 200, 20, 0.8, 0.1), (400, 300, 30, 0.85, 0.2), (800, 400, 40, 0.8, 0.1),
        (600, 800, 40, 0.9, 0.1), (900, 500, 40, 0.6, 0.2), (500, 600, 30, 0.9, 0.1),
    ], "r2", covariance=("block", 0.5, 10)),
    *_grid("prevalence 0.1", [
        (1000, 200, 20, 0.45, 0.1), (1500, 300, 30, 0.32, 0.2), (2000, 400, 30, 0.3, 0.1),
        (1500, 500, 20, 0.38, 0.1), (1000, 400, 15, 0.45, 0.2), (3000, 300, 40, 0.25, 0.1),
    ], "effect_size", response=Binary(0.1), effects=_EQUAL),
    *_grid("case-control", [
        (400, 200, 20, 0.5, 0.1), (600, 300, 30, 0.5, 0.2), (800, 400, 30, 0.45, 0.1),
        (600, 500, 20, 0.6, 0.1), (400, 400, 15, 0.7, 0.2), (1200, 300, 40, 0.4, 0.1),
    ], "effect_size", response=Binary(0.05, cases=0.5)),
    *_grid("classes", [
        (400, 200, 20, 0.6, 0.1), (600, 300, 30, 0.5, 0.2), (800, 400, 40, 0.5, 0.1),
        (600, 600, 20, 0.6, 0.1), (500, 400, 15, 0.8, 0.2), (1200, 300, 40, 0.4, 0.1),
    ], "effect_size", response=Binary(0.4)),
    *_grid("counts", [
        (400, 200, 20, 0.2, 0.1), (600, 300, 30, 0.15, 0.2), (800, 400, 40, 0.15, 0.1),
        (600, 600, 20, 0.2, 0.1), (400, 400, 15, 0.25, 0.2), (1000, 300, 40, 0.12, 0.1),
    ], "effect_size", response=Counts(2.0)),
    *_grid("survival, 30 % events", [
        (600, 200, 20, 0.35, 0.1), (900, 300, 30, 0.3, 0.2), (1200, 400, 40, 0.3, 0.1),
        (900, 600, 20, 0.4, 0.1), (700, 400, 15, 0.5, 0.2), (1600, 300, 40, 0.25, 0.1),
    ], "effect_size", response=Survival(0.3)),
]  # fmt: skip


def covered(setting: Setting, method: str) -> bool:
    """Whether a method is run in a setting."""
    if method == "knockoffs-evalues" and setting.n * setting.p > _COPIED_ENTRIES:
        return False
    return not (setting.covariance is not None and method == "stability-fdr")


def draw(setting: Setting, rng: np.random.Generator) -> tuple[Array, Any, Array]:
    """One data set: columns, response, and which variables matter."""
    study, p, k = setting.study, setting.p, setting.k
    beta = np.zeros(p)
    places = rng.choice(p, k, replace=False)
    given = isinstance(setting.effects, theory.EmpiricalEffects)
    size = np.array(setting.effects.values) if given else setting.effects.sample(k, rng)
    beta[places] = size * study.effect_size
    if setting.covariance is not None:
        variance = study.columns.covariance.variance_of(beta)
        beta *= math.sqrt(study.snr / variance)

    def rows(n: int) -> Array:
        white = rng.standard_normal((p, n))
        if setting.covariance is not None:
            white = study.columns.covariance.colour(white)
        return white.T

    X = rows(setting.n)
    z = X @ beta
    kind = setting.response
    if isinstance(kind, Numeric):
        y: Any = z + rng.standard_normal(z.size)
    elif isinstance(kind, Binary):
        a = float(study.theory_response.intercept)
        if kind.cases is None:
            y = (rng.random(z.size) < 1.0 / (1.0 + np.exp(-a - z))).astype(float)
        else:
            X, y = _cases(setting, rng, rows, beta, a)
    elif isinstance(kind, Counts):
        y = rng.poisson(np.exp(float(study.theory_response.intercept) + z)).astype(float)
    else:
        end = float(study.theory_response.censoring)
        time = rng.exponential(size=z.size) * np.exp(-z)
        y = (np.minimum(time, end), time <= end)
    return X, y, beta != 0.0


def _cases(
    setting: Setting, rng: np.random.Generator, rows: Any, beta: Array, a: float
) -> tuple[Array, Array]:
    """Cases and controls of a population, as many as the sample has of each."""
    share = setting.response.cases  # type: ignore[attr-defined]
    wanted = {1.0: round(share * setting.n), 0.0: setting.n - round(share * setting.n)}
    kept: dict[float, list[Array]] = {1.0: [], 0.0: []}
    size = max(_CASE_POOL // setting.p, 100)
    while any(sum(map(len, kept[c])) < wanted[c] for c in kept):
        X = rows(size)
        label = (rng.random(size) < 1.0 / (1.0 + np.exp(-a - X @ beta))).astype(float)
        for c, parts in kept.items():
            missing = wanted[c] - sum(map(len, parts))
            if missing > 0:
                parts.append(X[label == c][:missing])
    both = {c: np.concatenate(parts) for c, parts in kept.items()}
    return np.concatenate([both[1.0], both[0.0]]), np.repeat([1.0, 0.0], [wanted[1.0], wanted[0.0]])


def run(setting: Setting, found: Prediction, number: int) -> tuple[float, float, float]:
    """The recommendation, as printed, on one data set: power, share of false ones, refused."""
    entropy = [SEED, SETTINGS.index(setting), number]
    rng = np.random.default_rng(entropy)
    X, y, truth = draw(setting, rng)
    selector = eval(found.code, vars(selectors))
    known = selector.get_params()
    more: dict[str, Any] = {"random_state": number, "n_jobs": 1}
    kind = setting.response.name
    more["response"] = {"counts": "counts", "survival": "survival", "binary": "binary"}.get(
        kind, "auto"
    )
    if setting.p > _GAUSSIAN_COLUMNS:
        more["sampler"] = "iid"
    selector.set_params(**{name: value for name, value in more.items() if name in known})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            mask, refused = selector.fit(X, y).support_, 0.0
        except RefusedError:  # message passing that is not believed selects nothing
            mask, refused = np.zeros(setting.p, dtype=bool), 1.0
    return tpp(mask, truth), fdp(mask, truth), refused


def main() -> None:
    """Run, or write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--store", type=Path, default=Path(".bench/plan_kinds.jsonl"))
    parser.add_argument("--seconds", type=float, default=3600.0)
    parser.add_argument("--method", action="append", choices=METHODS)
    parser.add_argument("--kind", action="append")
    parser.add_argument("--datasets", type=int, default=40)
    parser.add_argument("--part", type=int, nargs=2, default=(0, 1), metavar=("I", "OF"))
    parser.add_argument("--table", type=Path)
    asked = parser.parse_args()
    asked.store.parent.mkdir(parents=True, exist_ok=True)
    tasks = [
        (setting, method)
        for setting in SETTINGS
        for method in asked.method or METHODS
        if covered(setting, method) and (not asked.kind or setting.kind in asked.kind)
    ]
    if asked.table:
        write(tasks, asked.store, asked.table)
        return
    stored = _stored(asked.store)
    predictions: dict[tuple[int, str], Prediction] = {}
    begun = time.monotonic()
    for number in range(asked.datasets):
        for place, (setting, method) in enumerate(tasks):
            if place % asked.part[1] != asked.part[0]:
                continue
            if time.monotonic() - begun > asked.seconds:
                return
            at = (SETTINGS.index(setting), method)
            if at not in predictions:
                predictions[at] = predict(setting.study, method, setting.fdr)
            key = json.dumps([str(setting), predictions[at].code, number])
            if key in stored:
                continue
            with asked.store.open("a") as file:
                found = run(setting, predictions[at], number)
                print(json.dumps({"key": key, "found": found}), file=file)


def _stored(path: Path) -> dict[str, Any]:
    """Results by their keys; a line that an interruption cut short is run again."""
    found: dict[str, Any] = {}
    for line in path.read_text().splitlines() if path.exists() else ():
        try:
            one = json.loads(line)
        except json.JSONDecodeError:
            continue
        found[one["key"]] = one["found"]
    return found


def write(tasks: list[tuple[Setting, str]], store: Path, table: Path) -> None:
    """Write a row for each method in each setting, and print the errors of each kind."""
    stored, rows = _stored(store), []
    for setting, method in tasks:
        try:
            found = predict(setting.study, method, setting.fdr)
        except DoesNotApply:
            continue
        runs = [
            one
            for number in range(1000)
            if (one := stored.get(json.dumps([str(setting), found.code, number]))) is not None
        ]
        if len(runs) < 2:
            continue
        values = np.array(runs)
        error = values.std(axis=0, ddof=1) / math.sqrt(len(values))
        mean = values.mean(axis=0)
        rows.append({
            "kind": setting.kind, "n": setting.n, "p": setting.p, "k": setting.k,
            "strength": f"{setting.strength[0]} {setting.strength[1]:g}", "level": setting.fdr,
            "method": method, "power": round(found.power, 4),
            "power_error": round(found.power_error, 4),
            "fdr": round(found.fdr, 4), "simulated_power": round(mean[0], 4),
            "simulated_error": round(error[0], 4), "simulated_fdr": round(mean[1], 4),
            "data_sets": len(runs), "refused": int(values[:, 2].sum()), "code": found.code,
        })  # fmt: skip
    table.parent.mkdir(parents=True, exist_ok=True)
    with table.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    for line in summary(rows):
        print(line)


def summary(rows: list[dict[str, Any]]) -> list[str]:
    """Lines of a table: errors of each method in each kind."""
    lines = ["| kind | method | settings | mean error | worst | by chance | data sets | refused |",
             "|---|---|---|---|---|---|---|---|"]  # fmt: skip
    for kind in dict.fromkeys(row["kind"] for row in rows):
        for method in METHODS:
            some = [row for row in rows if row["kind"] == kind and row["method"] == method]
            if not some:
                continue
            apart = [float(row["power"]) - float(row["simulated_power"]) for row in some]
            noise = [float(row["simulated_error"]) for row in some]
            worst = max(range(len(some)), key=lambda i: abs(apart[i]))
            lines.append(
                f"| {kind} | {method} | {len(some)} | {np.mean(np.abs(apart)):.3f} "
                f"| {apart[worst]:+.3f} ({noise[worst]:.3f}) "
                f"| {math.sqrt(2.0 / math.pi) * np.mean(noise):.3f} "
                f"| {sum(int(row['data_sets']) for row in some)} "
                f"| {sum(int(row['refused']) for row in some)} |"
            )
    return lines


if __name__ == "__main__":
    main()
