"""Is a study planned well? Predicted against simulated power: `python -m benchmarks.planning`.

Every recommendation is run as it is printed, on independent Gaussian columns. Results go to a file
data set by data set: an interrupted run continues, and what is predicted differently by now is run
again.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from selica import selectors, theory
from selica._core.effects import Effects
from selica._core.errors import RefusedError
from selica._core.random import child
from selica.control import fdp, tpp
from selica.planning import METHODS, required_samples
from selica.planning.predict.prediction import Prediction, predict
from selica.planning.study import Study
from selica.sampling import simulate

LAWS: dict[str, Effects] = {
    "Gaussian": theory.GaussianEffects(),
    "equal": theory.PointEffects(),
    "Laplace": theory.LaplaceEffects(),
}
PROCEDURES = tuple(name for name, method in METHODS.items() if method.calibrated)
SEED = 7
# Data sets of a setting: so many that about this number of signals is looked for, as long as their
# tables have no more entries than this.
_SIGNALS, _ENTRIES, _FEWEST = 3000, 40_000_000, 12
# A run goes through all settings in so many rounds, so that a part of it covers all of them.
_ROUNDS = 4
# Tables of which e-values see two rounds.
_SMALL = 100_000


class Setting(NamedTuple):
    """Data sets of one kind, and the level asked of the methods."""

    n: int
    p: int
    k: int
    law: str
    r2: float
    fdr: float

    def __str__(self) -> str:
        return f"{self.n} x {self.p}, {self.k} {self.law}, R2 {self.r2:g}, level {self.fdr:g}"

    @property
    def study(self) -> Study:
        return Study.of(self.n, self.p, self.k, r2=self.r2, effects=LAWS[self.law])

    @property
    def datasets(self) -> int:
        """How many are worth while: the more signals, the fewer."""
        return max(min(_SIGNALS // self.k, _ENTRIES // (self.n * self.p)), _FEWEST)

    def rounds(self, method: str) -> int:
        """More for rules that find much or nothing."""
        if method == "knockoffs-pvalues":  # no selection of theirs is smaller than 1 / (0.3 level)
            return _ROUNDS
        return 2 if method == "knockoffs-evalues" and self.n * self.p <= _SMALL else 1


# Chosen by theory: knockoff+ finds between 0.45 and 0.85.
SETTINGS = (
    Setting(100, 100, 30, "Gaussian", 0.85, 0.2),
    Setting(200, 100, 30, "equal", 0.64, 0.2),
    Setting(400, 100, 25, "Laplace", 0.76, 0.2),
    Setting(800, 100, 30, "Gaussian", 0.77, 0.1),
    Setting(150, 200, 50, "Laplace", 0.93, 0.2),
    Setting(300, 200, 50, "Gaussian", 0.85, 0.2),
    Setting(500, 200, 40, "equal", 0.51, 0.2),
    Setting(600, 200, 60, "Laplace", 0.91, 0.1),
    Setting(200, 300, 50, "Gaussian", 0.89, 0.2),
    Setting(400, 300, 60, "equal", 0.76, 0.1),
    Setting(1000, 300, 60, "Gaussian", 0.84, 0.05),
    Setting(250, 400, 50, "Laplace", 0.91, 0.2),
    Setting(400, 400, 80, "Gaussian", 0.91, 0.1),
    Setting(800, 400, 60, "equal", 0.52, 0.2),
    Setting(1500, 400, 90, "Laplace", 0.89, 0.05),
    Setting(250, 500, 40, "equal", 0.82, 0.2),
    Setting(500, 500, 80, "Laplace", 0.94, 0.1),
    Setting(1000, 500, 100, "Gaussian", 0.88, 0.05),
    Setting(300, 600, 60, "Gaussian", 0.92, 0.2),
    Setting(600, 600, 70, "equal", 0.74, 0.1),
    Setting(300, 800, 50, "Laplace", 0.96, 0.2),
    Setting(800, 800, 100, "Gaussian", 0.91, 0.1),
    Setting(2000, 500, 100, "equal", 0.46, 0.05),
    Setting(250, 1000, 40, "Gaussian", 0.91, 0.2),
    Setting(600, 1000, 80, "Laplace", 0.94, 0.1),
    Setting(1200, 1000, 100, "equal", 0.67, 0.05),
    Setting(1500, 1000, 120, "Gaussian", 0.88, 0.1),
    Setting(500, 1500, 60, "equal", 0.8, 0.2),
    Setting(1000, 2000, 120, "Laplace", 0.94, 0.05),
    Setting(2000, 2000, 200, "Gaussian", 0.9, 0.05),
)
# Bounds find little where many variables matter: settings for them, with fewer.
SPARSE = (
    Setting(300, 300, 15, "Gaussian", 0.7, 0.2),
    Setting(400, 500, 20, "Gaussian", 0.7, 0.2),
    Setting(300, 800, 20, "Laplace", 0.85, 0.2),
    Setting(500, 400, 20, "Laplace", 0.8, 0.1),
    Setting(800, 400, 25, "Gaussian", 0.7, 0.1),
    Setting(200, 600, 12, "Gaussian", 0.8, 0.2),
    Setting(600, 600, 30, "Laplace", 0.85, 0.2),
    Setting(400, 300, 10, "equal", 0.35, 0.2),
    Setting(300, 1000, 20, "equal", 0.7, 0.2),
    Setting(1000, 500, 20, "Laplace", 0.7, 0.05),
    Setting(250, 400, 10, "equal", 0.5, 0.2),
    Setting(600, 1000, 20, "equal", 0.45, 0.1),
)


class Question(NamedTuple):
    """How many samples a method needs for a power."""

    power: float
    method: str
    p: int
    k: int
    law: str
    r2: float
    fdr: float

    def answered(self) -> Setting:
        """The setting with as many samples as are required."""
        found = required_samples(
            self.power, n_features=self.p, n_signals=self.k, r2=self.r2, fdr=self.fdr,
            effects=LAWS[self.law], method=self.method,
        ).one(self.method)  # fmt: skip
        assert found.value is not None
        return Setting(int(found.value), *self[2:])


QUESTIONS = (
    Question(0.8, "stability-fdr", 200, 30, "Gaussian", 0.8, 0.1),
    Question(0.7, "stability-fdr", 150, 25, "equal", 0.5, 0.1),
    Question(0.6, "stability-fdr", 300, 40, "Laplace", 0.8, 0.2),
    Question(0.7, "knockoffs", 200, 40, "Gaussian", 0.8, 0.1),
    Question(0.8, "knockoffs", 150, 30, "equal", 0.6, 0.2),
    Question(0.7, "knockoffs-evalues", 300, 50, "Gaussian", 0.9, 0.1),
    Question(0.6, "knockoffs-evalues", 200, 40, "Laplace", 0.9, 0.2),
    Question(0.6, "knockoffs-pvalues", 300, 60, "Gaussian", 0.9, 0.2),
    Question(0.4, "stability-pfer-none", 300, 20, "Laplace", 0.9, 0.2),
    Question(0.4, "stability-pfer-unimodal", 200, 20, "Gaussian", 0.8, 0.2),
    Question(0.6, "stability-pfer", 250, 40, "Laplace", 0.9, 0.2),
    Question(0.5, "stability-pfer", 200, 20, "equal", 0.5, 0.2),
)


class Task(NamedTuple):
    """A method in a setting."""

    setting: Setting
    method: str
    prediction: Prediction
    datasets: Sequence[int]
    """Their numbers."""

    def key(self, dataset: int) -> str:
        """What a result is stored by: another recommendation is another result."""
        return json.dumps([*self.setting, self.method, self.prediction.code, dataset])


class Measured(NamedTuple):
    """Simulated power and false discovery rate, with standard errors."""

    runs: int
    power: float
    power_error: float
    fdr: float
    fdr_error: float
    refused: int
    answered: float
    """Power where it did not refuse."""


def task(setting: Setting, method: str, datasets: int | None = None) -> Task:
    """A method in a setting, with its prediction, on so many data sets or as suits the method."""
    numbers = range(datasets or setting.datasets)
    if datasets is None:
        numbers = [s for s in numbers if s % _ROUNDS < setting.rounds(method)]
    return Task(setting, method, predict(setting.study, method, setting.fdr), numbers)


def run(one: Task, dataset: int) -> tuple[float, float, bool]:
    """The recommendation, as printed, on one data set: power, share of false ones, refused."""
    n, p, k, law, r2, fdr = one.setting
    entropy = [SEED, n, p, k, list(LAWS).index(law), round(1e4 * r2), round(1e4 * fdr)]
    seed = child(np.random.SeedSequence(entropy), dataset)
    data = simulate(
        n, p, k, noise_variance=one.setting.study.model.Delta, effects=LAWS[law],
        scale="article", random_state=seed,
    )  # fmt: skip
    selector = eval(one.prediction.code, vars(selectors))
    known = selector.get_params()
    more = {"random_state": child(seed, 1), "n_jobs": 1}
    selector.set_params(**{name: value for name, value in more.items() if name in known})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            mask, refused = selector.fit(data.X, data.y).support_, False
        except RefusedError:  # message passing that is not believed selects nothing
            mask, refused = np.zeros(p, dtype=bool), True
    return tpp(mask, data.support), fdp(mask, data.support), refused


def measure(chosen: Sequence[Task], out: Path | None = None) -> list[Measured]:
    """Simulated rates of every task; what is stored is not run again."""
    stored = {} if out is None else _stored(out)
    for step in range(_ROUNDS):
        for one in chosen:
            for dataset in one.datasets:
                key = one.key(dataset)
                if dataset % _ROUNDS != step or key in stored:
                    continue
                stored[key] = run(one, dataset)
                if out is not None:
                    with out.open("a") as file:
                        print(json.dumps({"key": key, "found": stored[key]}), file=file)
    return [_summary([stored[one.key(s)] for s in one.datasets]) for one in chosen]


def _stored(out: Path) -> dict[str, Any]:
    """Results by their keys; a line that an interruption cut short is run again."""
    found: dict[str, Any] = {}
    for line in out.read_text().splitlines() if out.exists() else ():
        try:
            one = json.loads(line)
        except json.JSONDecodeError:
            continue
        found[one["key"]] = one["found"]
    return found


def _summary(found: list[Any]) -> Measured:
    values = np.array(found, dtype=float)
    mean = values.mean(axis=0)
    error = values.std(axis=0, ddof=1) / np.sqrt(len(values))
    answered = values[values[:, 2] == 0.0, 0]
    return Measured(
        len(values), float(mean[0]), float(error[0]), float(mean[1]), float(error[1]),
        int(values[:, 2].sum()), float(answered.mean()) if answered.size else np.nan,
    )  # fmt: skip


def settings_table(chosen: Sequence[Task], found: Sequence[Measured]) -> str:
    """Predicted power, simulated power and its standard error, setting by setting."""
    methods = list(dict.fromkeys(one.method for one in chosen))
    cells: dict[Setting, dict[str, str]] = {}
    runs: dict[Setting, set[int]] = {}
    for one, seen in zip(chosen, found, strict=True):
        text = f"{one.prediction.power:.2f} / {seen.power:.2f} ({seen.power_error:.2f})"
        cells.setdefault(one.setting, {})[one.method] = text
        runs.setdefault(one.setting, set()).add(seen.runs)
    lines = [f"| setting | data sets | {' | '.join(methods)} |", "|---" * (len(methods) + 2) + "|"]
    lines += [
        f"| {setting} | {', '.join(map(str, sorted(runs[setting])))} | "
        f"{' | '.join(row.get(name, '') for name in methods)} |"
        for setting, row in cells.items()
    ]
    return "\n".join(lines)


def methods_table(chosen: Sequence[Task], found: Sequence[Measured]) -> str:
    """How far predictions are off, method by method."""
    lines = [
        "| method | settings | power 0.1 to 0.9 | mean error | in those | with its sign | "
        "by chance | worst | FDR | refused | where it answered |",
        "|---" * 11 + "|",
    ]
    for method in dict.fromkeys(one.method for one in chosen):
        pairs = [(t, f) for t, f in zip(chosen, found, strict=True) if t.method == method]
        errors = np.array([t.prediction.power - f.power for t, f in pairs])
        answered = np.array([abs(t.prediction.power - f.answered) for t, f in pairs])
        false = np.array([t.prediction.fdr - f.fdr for t, f in pairs])
        noise = np.array([f.power_error for _, f in pairs])
        middle = np.array([0.1 <= f.power <= 0.9 for _, f in pairs])
        worst = int(np.abs(errors).argmax())
        among = f"{np.abs(errors[middle]).mean():.3f}" if middle.any() else "none"
        # a normal error of this standard deviation has this mean size
        chance = np.sqrt(2.0 / np.pi) * noise.mean()
        lines.append(
            f"| {method} | {len(pairs)} | {middle.sum()} | {np.abs(errors).mean():.3f} | {among} | "
            f"{errors.mean():+.3f} | {chance:.3f} | {errors[worst]:+.3f} ({noise[worst]:.3f}) | "
            f"{np.abs(false).mean():.3f} | {sum(f.refused for _, f in pairs)} of "
            f"{sum(f.runs for _, f in pairs)} | {answered.mean():.3f} |"
        )
    return "\n".join(lines)


def questions_table(chosen: Sequence[Task], found: Sequence[Measured]) -> str:
    """Power that was asked for, and simulated power with the samples that are required."""
    lines = [
        "| method | power asked for | setting | samples | data sets | simulated power | refused |",
        "|---" * 7 + "|",
    ]
    for question, one, seen in zip(QUESTIONS, chosen, found, strict=True):
        setting = f"{one.setting}".removeprefix(f"{one.setting.n} x ")
        lines.append(
            f"| {one.method} | {question.power:g} | {setting} | {one.setting.n} | {seen.runs} | "
            f"{seen.power:.3f} ({seen.power_error:.3f}) | {seen.refused} |"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--settings", type=int, nargs="+", help="their numbers; all by default")
    parser.add_argument("--methods", nargs="+", default=PROCEDURES, choices=tuple(METHODS))
    parser.add_argument("--samples", action="store_true", help="at the samples that are required")
    parser.add_argument("--datasets", type=int, help="of each setting; by its size by default")
    parser.add_argument("--out", type=Path, help="file of results, which an interrupted run reads")
    options = parser.parse_args()
    if options.samples:
        chosen = []
        for one in QUESTIONS:
            setting = one.answered()
            chosen.append(task(setting, one.method, options.datasets or setting.datasets))
        print(questions_table(chosen, measure(chosen, options.out)))
        return
    every = SETTINGS + SPARSE
    numbers = options.settings or range(len(every))
    chosen = [
        task(every[i], name, options.datasets)
        for i in numbers
        for name in options.methods
        if every[i] in SETTINGS or METHODS[name].controls == "PFER"
    ]
    found = measure(chosen, options.out)
    print(settings_table(chosen, found), methods_table(chosen, found), sep="\n\n")


if __name__ == "__main__":
    main()
