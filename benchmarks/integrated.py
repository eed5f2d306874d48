"""Integrated stability selection: its promises, and a published setting.

`python -m benchmarks.integrated` measures false selections on the path of the lasso, `--trees`
those of trees, and `--published` runs a setting of Melikechi, Dunson and Miller (arXiv 2410.02208)
and prints its numbers beside theirs.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from benchmarks.arena.published import studies
from benchmarks.table_kinds import autoregressive
from sklearn.ensemble import ExtraTreesRegressor, GradientBoostingRegressor

from selica import IntegratedStability
from selica._core.table import Row, Table
from selica._core.types import Array, BoolArray
from selica.control import integrated_efp, integrated_scores, rank_integral

FDR = 0.1
"""False discovery rate of the rows that have one."""


class Setting(NamedTuple):
    """Data sets of one kind."""

    name: str
    n: int
    p: int
    signals: int = 0
    strength: float = 0.0
    correlation: float = 0.0
    """Of neighbours, in a chain."""
    squares: bool = False
    """Whether the response has squares of the variables that matter."""

    def draw(self, seed: int) -> tuple[Array, Array, BoolArray]:
        """Return columns, a response, and which columns matter."""
        rng = np.random.default_rng([seed, 7])
        X = autoregressive(self.correlation)(rng, self.n, self.p)
        coef = np.zeros(self.p)
        where = rng.choice(self.p, self.signals, replace=False)
        coef[where] = self.strength * rng.choice([-1.0, 1.0], self.signals)
        effect = (X**2 - 1.0) / np.sqrt(2.0) if self.squares else X
        return X, effect @ coef + rng.standard_normal(self.n), coef != 0.0


LINEAR = (
    Setting("nothing matters, 100 x 200", 100, 200),
    Setting("nothing matters, 600 x 100", 600, 100),
    Setting("independent, 10 of 200 matter, 200 rows", 200, 200, 10, 0.3),
    Setting("AR(1) 0.5, 10 of 200 matter, 200 rows", 200, 200, 10, 0.4, 0.5),
    Setting("AR(1) 0.8, 10 of 200 matter, 200 rows", 200, 200, 10, 0.5, 0.8),
    Setting("independent, 10 of 400 matter, 100 rows", 100, 400, 10, 0.6),
)
CURVED = (
    Setting("nothing matters, 150 x 50", 150, 50),
    Setting("squares, 3 of 50 matter, 200 rows", 200, 50, 3, 1.2, squares=True),
)


NOTES = {
    "integrated stability, bound, order 2": "the published bound, which is no theorem",
    "integrated stability, trees": "60 halves, 10 extremely randomised trees each",
}
"""What is said about the rows of a rule."""


def trees(many: int) -> Any:
    """Return trees that are fast and see curves."""
    return ExtraTreesRegressor(many, max_features=0.33, min_samples_leaf=5)


def fitted(selector: Any, X: Array, y: Array, seed: int) -> Any:
    """Fit a selector without its warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return selector.set_params(random_state=seed, n_jobs=1).fit(X, y)


def bounds(found: Any) -> Iterator[tuple[str, BoolArray]]:
    """Yield what the published bounds select, from the lists of the same fit."""
    q, p = found.probability_path_.shape
    counts = np.rint(found.probability_path_ * found.n_resamples_)
    for order in (1, 2):
        path = rank_integral(p, found.n_resamples_ // 2, order, longest=q)
        efp = integrated_efp(integrated_scores(counts, path), path)
        yield f"integrated stability, bound, order {order}", efp <= 1.0


def measured(setting: Setting, runs: int, by_trees: bool) -> Iterator[Row]:
    """Yield the rows of a setting."""
    found: dict[str, list[tuple[int, int]]] = {}
    name = "integrated stability, trees" if by_trees else "integrated stability"
    selector = IntegratedStability()
    if by_trees:
        selector.set_params(estimator=trees(10), n_resamples=60)
    for run in range(runs):
        X, y, truth = setting.draw(run)
        one = fitted(selector, X, y, run)
        masks = {name: one.support_, f"{name}, FDR": one.qvalues_ <= FDR}
        for rule, mask in (masks | ({} if by_trees else dict(bounds(one)))).items():
            found.setdefault(rule, []).append((int(mask[~truth].sum()), int(mask[truth].sum())))
    for rule, numbers in found.items():
        false, true = np.array(numbers, dtype=float).T
        share = rule.endswith("FDR")
        error = false / np.maximum(false + true, 1.0) if share else false
        promised = {"integrated stability, bound, order 2": "nothing"}.get(rule, "expected")
        if rule.endswith("order 1") and setting.correlation == 0.0:
            promised = "proven"
        yield {
            "setting": setting.name, "method": rule,
            "controls": "FDR" if share else "false selections", "level": FDR if share else 1.0,
            "measured": rounded(error.mean()), "error": rounded(error.std(ddof=1) / runs**0.5),
            "promised": promised, "selects": rounded(np.mean(false + true > 0)),
            "power": rounded(true.mean() / setting.signals) if setting.signals else None,
            "runs": runs,
            "command": f"python -m benchmarks.integrated{' --trees' if by_trees else ''}",
            "note": NOTES.get(rule.removesuffix(", FDR"), ""),
        }  # fmt: skip


def rounded(value: float) -> float:
    """Return a number with four digits."""
    return float(f"{value:.4g}")


def bumps(seed: int) -> tuple[Array, Array, BoolArray]:
    """Return a data set of the published kind, 250 x 500.

    Neighbours have a correlation of 0.5; 5 to 15 variables matter, each by a bump about zero, and
    the signal has 1/2 to 2 times the variance of the noise.
    """
    rng = np.random.default_rng([seed, 11])
    X = autoregressive(0.5)(rng, 250, 500)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    truth = np.zeros(500, dtype=bool)
    truth[rng.choice(500, rng.integers(5, 16), replace=False)] = True
    signal = np.exp(-(X[:, truth] ** 2)).sum(axis=1)
    noise = np.sqrt(signal.var() / rng.uniform(0.5, 2.0))
    return X, signal + noise * rng.standard_normal(250), truth


def published(runs: int) -> None:
    """Print what is found in the published setting at a false discovery rate of 0.1."""
    boosted = GradientBoostingRegressor(n_estimators=50, max_depth=1, max_features=0.2)
    learners = {"extra trees": trees(50), "boosting": boosted, "lasso": None}
    rows: dict[str, list[tuple[float, float, float]]] = {name: [] for name in learners}
    for run in range(runs):
        X, y, truth = bumps(run)
        for name, learner in learners.items():
            start = time.process_time()
            mask = fitted(IntegratedStability(fdr=FDR, estimator=learner), X, y, run).support_
            false = float(np.count_nonzero(mask & ~truth) / max(np.count_nonzero(mask), 1))
            found = float(np.count_nonzero(mask & truth) / np.count_nonzero(truth))
            rows[name].append((found, false, time.process_time() - start))
        print(f"after {run + 1} data sets", flush=True)
        for name, each in rows.items():
            mean, error = np.mean(each, axis=0), np.std(each, axis=0) / len(each) ** 0.5
            print(
                f"  {name}: found {mean[0]:.3f} ({error[0]:.3f}), false {mean[1]:.3f} "
                f"({error[1]:.3f}), {mean[2]:.1f} s", flush=True,
            )  # fmt: skip
    known = next(study for study in studies() if study.kind.name == "I1")
    for number in known.numbers:
        false = "" if number.fdr is None else f", false {number.fdr:.3f}"
        print(f"published, {number.method}: found {number.power:.3f}{false} [{known.source}]")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=500, help="data sets of each kind")
    parser.add_argument(
        "--settings", type=int, nargs="+", help="places of settings; by default all"
    )
    parser.add_argument("--trees", action="store_true", help="trees in the place of the lasso")
    parser.add_argument("--published", action="store_true", help="the published setting")
    parser.add_argument("--csv", type=Path, metavar="FILE", help="file to put the rows into")
    options = parser.parse_args()
    if options.published:
        published(options.runs)
        return
    known = Table.read_csv(options.csv) if options.csv and options.csv.exists() else Table.of([])
    settings = CURVED if options.trees else LINEAR
    for place in options.settings or range(len(settings)):
        setting = settings[place]
        new = list(measured(setting, options.runs, options.trees))
        print("\n".join(" | ".join(map(str, row.values())) for row in new), flush=True)
        done = {(row["setting"], row["method"]) for row in new}
        old = [row for row in known if (row["setting"], row["method"]) not in done]
        known = Table.of([*old, *new])
        if options.csv:
            known.to_csv(options.csv)


if __name__ == "__main__":
    main()
