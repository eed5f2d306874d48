"""Are plans of every kind right? Predicted against simulated: `python -m benchmarks.plan_kinds`.

Settings of ten kinds: many variables, unequal effects, correlated columns, classes, counts and
survival times. Every procedure is run with the settings that are printed, on data sets that are
drawn until the simulated power is known well. With `--samples`, studies have the size that
`required_samples` asks for. Results go to a file data set by data set (`--store`): an interrupted
run continues, and what is predicted differently by now is run again. `--table` writes the means to
docs/data/plans and prints what docs/planning-accuracy.md shows.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import time
import warnings
import zlib
from collections.abc import Callable, Sequence
from functools import cache
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtr

from benchmarks import result_files
from selica import selectors, theory
from selica._core.effects import Effects
from selica._core.errors import RefusedError
from selica._core.types import Array
from selica.control import fdp, tpp
from selica.planning import Binary, Counts, Numeric, Survival, required_samples
from selica.planning.predict.prediction import Prediction, planned_names, predict
from selica.planning.responses import StudyResponse
from selica.planning.study import Study

STORE = Path(".bench/plan_kinds.jsonl")
"""Where results go, one line for each data set."""
TABLES = Path("docs/data/plans")
"""Where rows go."""
SEED = 25
MAIN = ("stability-fdr", "stability-pfer", "knockoffs", "knockoffs-evalues")
"""Procedures that are run most; the others are run on fewer data sets."""
_COPIES = ("knockoffs-evalues", "knockoffs-pvalues")
"""Procedures that fit many copies."""
_COPIED_ENTRIES = 2_000_000
"""Entries of a table up to which many copies are made."""
_GAUSSIAN_COLUMNS = 2000
"""Columns up to which copies estimate a covariance; more are said to be independent."""
_FEWEST, _MOST = 10, 150
"""Data sets of a procedure in a setting."""
_FEW = 12
"""Data sets of the other procedures, at most."""
_FEW_ENTRIES = 120_000
"""Entries of a table up to which these are run, where columns are not many."""
_WANTED_ERROR = 0.012
"""Standard error of the simulated power at which these end."""
_DRAWN_EFFECTS = 2000
"""Draws of the effects of a setting, from which the mean of a control variate is known."""
_REGRESSED = 6
"""Data sets from which on it is used."""
_CASE_POOL = 50_000
"""Entries of the population that are drawn at a time for cases and controls."""


class Setting(NamedTuple):
    """Data sets of one kind, and the level asked of the procedures."""

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
        """The study that is planned."""
        name, value = self.strength
        return Study.of(
            self.n, self.p, self.k, effects=self.effects, response=self.response,
            covariance=self.covariance, **{name: value},
        )  # fmt: skip

    def __str__(self) -> str:
        name, value = self.strength
        size = f"{self.n} x {self.p}, {self.k} signals"
        return f"{self.kind}, {size}, {name} {value:g}, level {self.fdr:g}"


class Kind(NamedTuple):
    """What the settings of a kind have in common."""

    strength: str
    """What says how strong signals are."""
    effects: Effects = theory.GaussianEffects()
    response: StudyResponse = Numeric()
    covariance: Any = None

    def setting(self, name: str, n: int, p: int, k: int, value: float, fdr: float) -> Setting:
        """A setting of this kind."""
        return Setting(name, n, p, k, (self.strength, value), fdr, *self[1:])


KINDS = {
    "many variables": Kind("r2"),
    "unequal effects": Kind("r2", theory.EmpiricalEffects([0.9**j for j in range(30)])),
    "AR 0.5": Kind("r2", covariance=("ar1", 0.5)),
    "AR 0.8": Kind("r2", covariance=("ar1", 0.8)),
    "blocks 0.5": Kind("r2", covariance=("block", 0.5, 10)),
    "prevalence 0.1": Kind("effect_size", theory.PointEffects(), Binary(0.1)),
    "case-control": Kind("effect_size", response=Binary(0.05, cases=0.5)),
    "classes": Kind("effect_size", response=Binary(0.4)),
    "counts": Kind("effect_size", response=Counts(2.0)),
    "survival, 30 % events": Kind("effect_size", response=Survival(0.3)),
}
# Rows, variables, signals, strength and level.
_ROWS = {
    "many variables": (
        (400, 5000, 20, 0.7, 0.1), (300, 5000, 20, 0.8, 0.2), (500, 10_000, 25, 0.8, 0.1),
        (400, 10_000, 20, 0.8, 0.2), (600, 20_000, 20, 0.7, 0.2), (500, 20_000, 25, 0.85, 0.1),
    ),
    "unequal effects": (
        (300, 200, 30, 0.7, 0.1), (400, 400, 30, 0.8, 0.2), (600, 300, 30, 0.6, 0.1),
        (500, 1000, 30, 0.8, 0.1), (250, 500, 30, 0.9, 0.2), (800, 200, 30, 0.5, 0.1),
    ),
    "AR 0.5": (
        (400, 200, 20, 0.7, 0.1), (300, 300, 30, 0.85, 0.2), (500, 300, 30, 0.8, 0.1),
        (500, 800, 40, 0.85, 0.1), (700, 300, 30, 0.6, 0.2), (400, 600, 30, 0.9, 0.1),
        (500, 300, 10, 0.5, 0.2), (300, 500, 30, 0.8, 0.2),
    ),
    "AR 0.8": (
        (800, 200, 20, 0.7, 0.1), (600, 300, 30, 0.85, 0.2), (900, 300, 30, 0.8, 0.1),
        (600, 500, 30, 0.9, 0.1), (900, 300, 30, 0.6, 0.2), (800, 600, 30, 0.9, 0.1),
        (500, 300, 10, 0.5, 0.2), (300, 500, 30, 0.8, 0.2),
    ),
    "blocks 0.5": (
        (400, 200, 20, 0.8, 0.1), (400, 300, 30, 0.85, 0.2), (500, 300, 30, 0.8, 0.1),
        (400, 600, 30, 0.9, 0.1), (700, 300, 30, 0.6, 0.2), (500, 400, 30, 0.9, 0.1),
        (500, 300, 10, 0.5, 0.2), (300, 500, 30, 0.8, 0.2),
    ),
    "prevalence 0.1": (
        (1000, 200, 20, 0.45, 0.1), (800, 200, 20, 0.45, 0.2), (1000, 400, 15, 0.45, 0.2),
        (1200, 300, 25, 0.4, 0.1), (900, 150, 25, 0.4, 0.2), (800, 500, 12, 0.55, 0.1),
    ),
    "case-control": (
        (400, 200, 20, 0.5, 0.1), (600, 300, 30, 0.5, 0.2), (600, 200, 30, 0.45, 0.1),
        (600, 500, 20, 0.6, 0.1), (400, 400, 15, 0.7, 0.2), (500, 150, 25, 0.5, 0.2),
    ),
    "classes": (
        (400, 200, 20, 0.6, 0.1), (600, 300, 30, 0.5, 0.2), (600, 200, 30, 0.5, 0.1),
        (600, 600, 20, 0.6, 0.1), (500, 400, 15, 0.8, 0.2), (500, 150, 25, 0.5, 0.2),
    ),
    "counts": (
        (400, 200, 20, 0.2, 0.1), (600, 300, 30, 0.15, 0.2), (500, 200, 30, 0.15, 0.1),
        (500, 500, 20, 0.2, 0.1), (400, 400, 15, 0.25, 0.2), (400, 150, 25, 0.18, 0.2),
    ),
    "survival, 30 % events": (
        (600, 200, 20, 0.35, 0.1), (700, 300, 30, 0.35, 0.2), (800, 200, 30, 0.35, 0.1),
        (800, 500, 20, 0.45, 0.1), (700, 400, 15, 0.5, 0.2), (600, 150, 25, 0.35, 0.2),
    ),
}  # fmt: skip
# One of each kind in turn, so that a part of a run covers all kinds.
SETTINGS = [
    KINDS[name].setting(name, *row)
    for some in zip_longest(*([(name, row) for row in rows] for name, rows in _ROWS.items()))
    for name, row in filter(None, some)
]


class Question(NamedTuple):
    """A power that is asked for."""

    power: float
    method: str
    kind: str
    p: int
    k: int
    strength: float
    fdr: float

    def answered(self) -> Setting:
        """The study with the samples that are required."""
        kind = KINDS[self.kind]
        needed = required_samples(
            self.power, n_features=self.p, n_signals=self.k, fdr=self.fdr, method=self.method,
            effects=kind.effects, response=kind.response, covariance=kind.covariance,
            **{kind.strength: self.strength},
        ).one(self.method).value  # fmt: skip
        assert needed is not None
        return kind.setting(self.kind, int(needed), self.p, self.k, self.strength, self.fdr)


QUESTIONS = (
    Question(0.6, "stability-fdr", "many variables", 5000, 30, 0.7, 0.1),
    Question(0.5, "knockoffs", "many variables", 5000, 40, 0.8, 0.2),
    Question(0.6, "stability-fdr", "unequal effects", 300, 30, 0.7, 0.1),
    Question(0.6, "knockoffs-evalues", "unequal effects", 200, 30, 0.8, 0.2),
    Question(0.6, "knockoffs", "AR 0.5", 300, 40, 0.8, 0.1),
    Question(0.7, "knockoffs-evalues", "AR 0.5", 200, 30, 0.8, 0.2),
    Question(0.5, "stability-pfer", "AR 0.5", 300, 30, 0.7, 0.2),
    Question(0.5, "knockoffs", "AR 0.8", 300, 40, 0.8, 0.2),
    Question(0.6, "knockoffs-evalues", "AR 0.8", 200, 30, 0.8, 0.1),
    Question(0.6, "knockoffs", "blocks 0.5", 300, 40, 0.8, 0.1),
    Question(0.5, "stability-pfer", "blocks 0.5", 200, 20, 0.7, 0.2),
    Question(0.8, "stability-fdr", "prevalence 0.1", 200, 20, 0.4, 0.1),
    Question(0.7, "knockoffs-evalues", "prevalence 0.1", 200, 30, 0.4, 0.2),
    Question(0.6, "stability-fdr", "case-control", 300, 30, 0.5, 0.1),
    Question(0.6, "knockoffs", "case-control", 200, 40, 0.5, 0.2),
    Question(0.5, "knockoffs-evalues", "classes", 200, 20, 0.6, 0.1),
    Question(0.6, "stability-fdr", "counts", 300, 30, 0.2, 0.1),
    Question(0.6, "knockoffs", "counts", 200, 40, 0.15, 0.1),
    Question(0.6, "knockoffs", "survival, 30 % events", 200, 40, 0.35, 0.1),
    Question(0.5, "stability-pfer", "survival, 30 % events", 300, 30, 0.35, 0.2),
    Question(0.6, "knockoffs-evalues", "survival, 30 % events", 200, 20, 0.4, 0.2),
)


def methods(setting: Setting) -> list[str]:
    """Procedures that a plan compares in a setting, as far as its tables are not too large."""
    names = planned_names(None, calibrated=True, study=setting.study)
    entries = setting.n * setting.p
    most = dict.fromkeys(_COPIES, _COPIED_ENTRIES) | {
        name: _FEW_ENTRIES if setting.p <= _GAUSSIAN_COLUMNS else _COPIED_ENTRIES
        for name in names
        if name not in MAIN
    }
    return [name for name in names if entries <= most.get(name, entries)]


def coefficients(setting: Setting, rng: np.random.Generator) -> Array:
    """Coefficients of a data set.

    Effects that are listed are those of the list. A share of the variance that is given is that of
    each data set; effects of a given size have it on average.
    """
    study, k = setting.study, setting.k
    beta = np.zeros(setting.p)
    places = rng.choice(setting.p, k, replace=False)
    listed = isinstance(setting.effects, theory.EmpiricalEffects)
    size = rng.permutation(setting.effects.values) if listed else setting.effects.sample(k, rng)
    beta[places] = size * study.effect_size
    if setting.strength[0] == "r2":
        own = study.columns.covariance.variance_of(beta) if study.columns else beta @ beta
        beta *= math.sqrt(study.snr / own)
    return beta


def draw(setting: Setting, rng: np.random.Generator) -> tuple[Array, Any, Array]:
    """One data set: columns, response, and which variables matter."""
    study, p = setting.study, setting.p
    beta, columns = coefficients(setting, rng), setting.study.columns

    def rows(n: int) -> Array:
        white = rng.standard_normal((p, n))
        return (white if columns is None else columns.covariance.colour(white)).T

    kind, truth = setting.response, study.theory_response
    if isinstance(kind, Binary) and kind.cases is not None:
        X, y = _cases(setting, rng, rows, beta)
        return X, y, beta != 0.0
    X = rows(setting.n)
    z = X @ beta
    if isinstance(kind, Numeric):
        y = z + rng.standard_normal(z.size)
    elif isinstance(kind, Binary):
        y = (rng.random(z.size) < _chance(truth.intercept + z)).astype(float)
    elif isinstance(kind, Counts):
        y = rng.poisson(np.exp(truth.intercept + z)).astype(float)
    else:  # the hazard is exp(z) at all times, and all rows are censored at the same one
        event = rng.exponential(size=z.size) * np.exp(-z)
        y = (np.minimum(event, truth.censoring), event <= truth.censoring)
    return X, y, beta != 0.0


def _chance(log_odds: Array) -> Array:
    return 1.0 / (1.0 + np.exp(-log_odds))


def _cases(
    setting: Setting, rng: np.random.Generator, rows: Callable[[int], Array], beta: Array
) -> tuple[Array, Array]:
    """Cases and controls of a population, as many as the sample has of each, in any order."""
    share = setting.response.cases  # type: ignore[attr-defined]
    intercept = setting.study.theory_response.intercept
    wanted = {1.0: round(share * setting.n), 0.0: setting.n - round(share * setting.n)}
    kept: dict[float, list[Array]] = {1.0: [], 0.0: []}
    size = max(_CASE_POOL // setting.p, 100)
    while any(sum(map(len, kept[c])) < wanted[c] for c in kept):
        X = rows(size)
        label = (rng.random(size) < _chance(intercept + X @ beta)).astype(float)
        for c, parts in kept.items():
            missing = wanted[c] - sum(map(len, parts))
            parts.append(X[label == c][:missing])
    X = np.concatenate([*kept[1.0], *kept[0.0]])
    y = np.repeat([1.0, 0.0], [wanted[1.0], wanted[0.0]])
    order = rng.permutation(y.size)
    return X[order], y[order]


class Task(NamedTuple):
    """A procedure in a setting."""

    setting: Setting
    prediction: Prediction

    @classmethod
    def of(cls, setting: Setting, method: str) -> Task:
        """With what is predicted."""
        return cls(setting, predict(setting.study, method, setting.fdr))

    def key(self, number: int) -> str:
        """What a result is stored by: another recommendation is another result."""
        return json.dumps([str(self.setting), self.prediction.code, number])

    def runs(self, stored: dict[str, Any]) -> Array:
        """Results of the data sets so far, (R, 3)."""
        found = []
        while (one := stored.get(self.key(len(found)))) is not None:
            found.append(one)
        return np.array(found, dtype=float).reshape(-1, 3)

    def finished(self, runs: Array) -> bool:
        """Whether there are enough of them."""
        number = len(runs)
        if number < _FEWEST:
            return False
        if number >= (_MOST if self.prediction.method in MAIN else _FEW):
            return True
        if runs[:, 0].std() == 0.0 and self.prediction.power > 0.0:  # it finds much or nothing
            return False
        return self.power(runs)[1] <= _WANTED_ERROR

    def power(self, runs: Array) -> tuple[float, float]:
        """Simulated power and its standard error.

        Data sets with large effects have more power: it is regressed on what their effects make
        one expect, the mean of which is known.
        """
        found = runs[:, 0]
        usual = float(found.std(ddof=1)) / math.sqrt(len(found))
        known, each = _detectable(self.setting, round(self.prediction.power, 1), len(found))
        apart = each - each.mean()
        spread = float(apart @ apart)
        if spread < 1e-12 or len(found) < _REGRESSED:
            return float(found.mean()), usual
        gap = float(each.mean()) - known
        slope = float(apart @ found) / spread
        rest = found - found.mean() - slope * apart
        square = float(rest @ rest) / (len(found) - 2)
        error = math.sqrt(square * (1.0 / len(found) + gap**2 / spread))
        return float(found.mean()) - slope * gap, error


def _detectable(setting: Setting, power: float, number: int) -> tuple[float, Array]:
    """Share of signals that a fixed cut would find: its mean, and that in each data set.

    An estimate of an effect has about the error of a fit of one variable, and the cut finds about
    the share `power`. Whatever cut and error are, the mean is that over draws of the effects.
    """
    drawn = _drawn_sizes(setting)
    spread, slope = setting.response.gradient(setting.study.snr)
    error = spread / slope / math.sqrt(setting.n)
    cut = np.quantile(drawn, 1.0 - min(max(power, 0.05), 0.95))
    each = np.array([_sizes(setting, i) for i in range(number)])
    known = float(ndtr((drawn - cut) / error).mean())
    return known, ndtr((each - cut) / error).mean(axis=1)


@cache
def _drawn_sizes(setting: Setting) -> Array:
    """Sizes of many draws of the effects, (draws, k)."""
    rng = np.random.default_rng([SEED, setting.n, setting.p])
    return np.abs([_nonzero(coefficients(setting, rng)) for _ in range(_DRAWN_EFFECTS)])


@cache
def _sizes(setting: Setting, number: int) -> Array:
    """Sizes of the effects of a data set, (k,)."""
    return np.abs(_nonzero(coefficients(setting, _rng(setting, number))))


def _nonzero(beta: Array) -> Array:
    return beta[beta != 0.0]


def _rng(setting: Setting, number: int) -> np.random.Generator:
    """Random numbers of a data set."""
    return np.random.default_rng([SEED, zlib.crc32(str(setting).encode()), number])


def run(one: Task, number: int) -> tuple[float, float, float]:
    """The recommendation, as printed, on one data set: power, share of false ones, refused."""
    setting = one.setting
    X, y, truth = draw(setting, _rng(setting, number))
    selector = eval(one.prediction.code, vars(selectors))
    more: dict[str, Any] = {"random_state": number, "n_jobs": 1}
    if setting.p > _GAUSSIAN_COLUMNS:
        more["sampler"] = "iid"
    known = selector.get_params()
    selector.set_params(**{name: value for name, value in more.items() if name in known})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            mask, refused = selector.fit(X, y).support_, 0.0
        except RefusedError:  # message passing that is not believed selects nothing
            mask, refused = np.zeros(setting.p, dtype=bool), 1.0
    return tpp(mask, truth), fdp(mask, truth), refused


def simulate(tasks: Sequence[Task], store: Path, seconds: float) -> None:
    """Run data sets in turn, one of each task, until there are enough or the time is over."""
    store.parent.mkdir(parents=True, exist_ok=True)
    stored, end = _stored(store), time.monotonic() + seconds
    for number in range(_MOST):
        for one in tasks:
            runs = one.runs(stored)
            if len(runs) > number or one.finished(runs):
                continue
            if time.monotonic() > end:
                return
            key = one.key(len(runs))
            stored[key] = run(one, len(runs))
            with store.open("a") as file:
                print(json.dumps({"key": key, "found": stored[key]}), file=file)


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


def row_of(one: Task, runs: Array) -> dict[str, Any]:
    """A row of the table: what is predicted and what is simulated."""
    setting, found = one.setting, one.prediction
    power, power_error = one.power(runs)
    share, refused = runs[:, 1], runs[:, 2]
    return {
        "kind": setting.kind, "n": setting.n, "p": setting.p, "k": setting.k,
        "strength": f"{setting.strength[0]} {setting.strength[1]:g}", "level": setting.fdr,
        "method": found.method, "power": round(found.power, 4),
        "power_error": round(found.power_error, 4), "fdr": round(found.fdr, 4),
        "simulated_power": round(power, 4), "simulated_power_error": round(power_error, 4),
        "simulated_fdr": round(float(share.mean()), 4),
        "simulated_fdr_error": round(float(share.std(ddof=1)) / math.sqrt(len(runs)), 4),
        "data_sets": len(runs), "refused": int(refused.sum()), "code": found.code,
    }  # fmt: skip


def _write(path: Path, rows: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


class Summary(NamedTuple):
    """How far predictions of a procedure are off in a kind."""

    kind: str
    method: str
    settings: int
    mean: float
    """Mean size of the error of the power."""
    chance: float
    """What it would be from draws alone, if the prediction were exact."""
    mean_error: float
    """Standard error of the mean, about."""
    worst: float
    """The largest error, with its sign."""
    worst_error: float
    """Standard error of it."""
    data_sets: int
    refused: int


def summaries(rows: Sequence[dict[str, Any]]) -> list[Summary]:
    """Errors of each procedure in each kind."""
    out = []
    groups = dict.fromkeys((row["kind"], row["method"]) for row in rows)
    for kind, method in groups:
        some = [row for row in rows if (row["kind"], row["method"]) == (kind, method)]
        power, drawn, seen, noise = (
            np.array([float(row[name]) for row in some])
            for name in ("power", "power_error", "simulated_power", "simulated_power_error")
        )
        apart, error = power - seen, np.hypot(drawn, noise)
        worst = int(np.abs(apart).argmax())
        # the size of a normal error has this mean
        chance = math.sqrt(2.0 / math.pi) * error.mean()
        spread = float(np.linalg.norm(error)) / error.size
        out.append(Summary(
            kind, method, len(some), float(np.abs(apart).mean()), float(chance), spread,
            float(apart[worst]), float(error[worst]),
            sum(int(row["data_sets"]) for row in some), sum(int(row["refused"]) for row in some),
        ))  # fmt: skip
    return out


def kinds_table(rows: Sequence[dict[str, Any]]) -> str:
    """Errors of each procedure in each kind, as a table."""
    lines = [
        "| kind | method | settings | mean error | by chance | worst | data sets | refused |",
        "|---" * 8 + "|",
    ]
    lines += [
        f"| {one.kind} | {one.method} | {one.settings} | {one.mean:.3f} | {one.chance:.3f} | "
        f"{one.worst:+.3f} ({one.worst_error:.3f}) | {one.data_sets} | {one.refused} |"
        for one in summaries(rows)
    ]
    return "\n".join(lines)


def samples_table(rows: Sequence[dict[str, Any]]) -> str:
    """Power that was asked for, and simulated power with the samples that are required."""
    lines = [
        "| kind | method | power asked for | setting | samples | data sets | simulated power |",
        "|---" * 7 + "|",
    ]
    lines += [
        f"| {row['kind']} | {row['method']} | {row['asked']} | {row['p']}, {row['k']} signals, "
        f"{row['strength']}, level {row['level']} | {row['n']} | {row['data_sets']} | "
        f"{float(row['simulated_power']):.3f} ({float(row['simulated_power_error']):.3f}) |"
        for row in rows
    ]
    return "\n".join(lines)


def main() -> None:
    """Run what is missing, or write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--store", type=Path, default=STORE)
    parser.add_argument("--seconds", type=float, default=math.inf, help="after which a run ends")
    parser.add_argument("--methods", nargs="+", help="all by default")
    parser.add_argument("--kinds", nargs="+", choices=tuple(KINDS), help="all by default")
    parser.add_argument("--samples", action="store_true", help="at the samples that are required")
    parser.add_argument("--table", action="store_true", help="write rows and print the table")
    options = parser.parse_args()
    asked: list[float] = []
    tasks: list[Task] = []
    if options.samples:
        for question in QUESTIONS:
            tasks.append(Task.of(question.answered(), question.method))
            asked.append(question.power)
    else:
        for setting in SETTINGS:
            if setting.kind in (options.kinds or KINDS):
                names = [name for name in methods(setting) if name in (options.methods or [name])]
                tasks += [Task.of(setting, name) for name in names]
    if not options.table:
        simulate(tasks, options.store, options.seconds)
        return
    stored = _stored(options.store)
    seen = [(i, one, runs) for i, one in enumerate(tasks) if len(runs := one.runs(stored)) > 1]
    seen.sort(key=lambda one: list(KINDS).index(one[1].setting.kind))
    rows = [row_of(one, runs) for _, one, runs in seen]
    if options.samples:
        rows = [{"asked": asked[i], **row} for (i, _, _), row in zip(seen, rows, strict=True)]
        _write(TABLES / "samples.csv", rows)
        print(samples_table(rows))
    else:
        _write(TABLES / "kinds.csv", rows)
        print(kinds_table(rows))
    result_files.record("plans")


if __name__ == "__main__":
    main()
