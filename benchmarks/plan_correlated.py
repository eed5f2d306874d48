"""Are plans for correlated columns right? `python -m benchmarks.plan_correlated`.

Every procedure with a prediction for correlated columns is run with the settings that are printed,
on Gaussian rows. A row of the file is a procedure in a setting: an interrupted run continues after
the last of them; `--again` predicts all of them anew, and runs those again whose settings have
changed.
"""

from __future__ import annotations

import argparse
import csv
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from selica import catalogue
from selica._core.errors import RefusedError
from selica.control import fdp, tpp
from selica.planning.predict.correlated import predict_correlated
from selica.planning.predict.prediction import Forecast
from selica.planning.study import Study
from selica.sampling import simulate

FILE = Path("docs/data/plans/correlated.csv")
"""Where rows go."""
KINDS: dict[str, tuple[Any, ...]] = {
    "ar1:0.5": ("ar1", 0.5),
    "ar1:0.8": ("ar1", 0.8),
    "block:0.5:10": ("block", 0.5, 10),
}
"""Correlations, as they are typed."""
METHODS = {
    "knockoffs": 40,
    "stability-pfer": 20,
    "stability-pfer-unimodal": 20,
    "knockoffs-evalues": 20,
    "knockoffs-pvalues": 20,
}
"""Procedures and data sets of a setting; a third of these where a table has many entries."""
_MANY_ENTRIES = 300_000
"""Entries of a table above which fewer data sets are drawn."""
_SEED = 1000
"""First seed of the data sets."""


class Setting(NamedTuple):
    """Data sets of one kind, and the level asked of the procedures."""

    n: int
    p: int
    k: int
    r2: float
    level: float


SETTINGS = (
    Setting(400, 200, 20, 0.7, 0.2),
    Setting(300, 500, 30, 0.8, 0.2),
    Setting(500, 300, 10, 0.5, 0.2),
    Setting(800, 1000, 50, 0.6, 0.2),
    Setting(600, 200, 30, 0.6, 0.1),
)
"""What is planned."""


def planned(method: str, kind: str, setting: Setting) -> Forecast:
    """Return what is predicted, with the settings."""
    study = Study.of(*setting[:3], r2=setting.r2, covariance=KINDS[kind])
    return next(
        iter(predict_correlated(catalogue.method(method), (study,), setting.level, best=True))
    )


def simulated(
    method: str, kind: str, setting: Setting, found: Forecast
) -> Iterator[tuple[float, float]]:
    """Iterate over power and share of false discoveries of data sets."""
    selector = catalogue.method(method).load_selector()
    sets = METHODS[method]
    if method != "knockoffs" and setting.n * setting.p > _MANY_ENTRIES:
        sets //= 3
    for seed in range(sets):
        data = simulate(
            *setting[:3], r2=setting.r2, covariance=KINDS[kind], random_state=_SEED + seed
        )
        one = selector(**found.parameters, random_state=seed)
        if "n_jobs" in one.get_params():
            one.set_params(n_jobs=1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                mask = one.fit(data.X, data.y).get_support()
            except RefusedError:
                mask = np.zeros(setting.p, dtype=bool)
        yield tpp(mask, data.support), fdp(mask, data.support)


def measure(method: str, kind: str, setting: Setting) -> dict[str, Any]:
    """Return a row of the file."""
    start = time.process_time()
    found = planned(method, kind, setting)
    seconds = time.process_time() - start
    shares = np.array(list(simulated(method, kind, setting, found)))
    error = shares.std(axis=0, ddof=1) / np.sqrt(len(shares))
    mean = shares.mean(axis=0)
    return {
        "method": method,
        "kind": kind,
        **setting._asdict(),
        **_predicted(found),
        "simulated_power": f"{mean[0]:.4f}",
        "simulated_power_error": f"{error[0]:.4f}",
        "simulated_fdr": f"{mean[1]:.4f}",
        "simulated_fdr_error": f"{error[1]:.4f}",
        "data_sets": len(shares),
        "seconds": f"{seconds:.2f}",
        "settings": _typed(found),
    }


def _predicted(found: Forecast) -> dict[str, str]:
    power, error, fdr = (getattr(found.expected, name) for name in ("power", "power_error", "fdr"))
    return {
        "predicted_power": f"{power:.4f}",
        "predicted_error": f"{error:.4f}",
        "predicted_fdr": f"{fdr:.4f}",
    }


def _typed(found: Forecast) -> str:
    return " ".join(f"{name}={value}" for name, value in found.parameters.items())


def _key(row: dict[str, Any]) -> tuple[str, ...]:
    return tuple(str(row[name]) for name in ("method", "kind", *Setting._fields))


def _known() -> list[dict[str, Any]]:
    if not FILE.exists():
        return []
    with FILE.open(newline="") as file:
        return list(csv.DictReader(file))


def _write(rows: list[dict[str, Any]]) -> None:
    FILE.parent.mkdir(parents=True, exist_ok=True)
    with FILE.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys(), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def summary(rows: list[dict[str, Any]]) -> str:
    """Return mean and largest absolute errors of power, by procedure and kind."""
    lines = [
        "| procedure | correlation | settings | mean error | largest |",
        "|---|---|---|---|---|",
    ]
    for method in METHODS:
        for kind in KINDS:
            some = [row for row in rows if (row["method"], row["kind"]) == (method, kind)]
            off = [abs(float(r["predicted_power"]) - float(r["simulated_power"])) for r in some]
            if off:
                mean, worst = f"{np.mean(off):.3f}", f"{max(off):.3f}"
                lines.append(f"| {method} | {kind} | {len(off)} | {mean} | {worst} |")
    return "\n".join(lines)


def main() -> None:
    """Run what is missing, and print the summary."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--again", action="store_true", help="run changed predictions again")
    parser.add_argument("--summary", action="store_true", help="only print the summary")
    args = parser.parse_args()
    rows = _known()
    for setting in () if args.summary else SETTINGS:
        for method in METHODS:
            for kind in KINDS:
                key = (method, kind, *(str(value) for value in setting))
                old = [row for row in rows if _key(row) == key]
                if old and not args.again:
                    continue
                if old:
                    found = planned(method, kind, setting)
                    if old[0]["settings"] == _typed(found):
                        old[0].update(_predicted(found))
                        _write(rows)
                        continue
                new = measure(method, kind, setting)
                rows = [row for row in rows if _key(row) != key] + [new]
                _write(rows)
                print(*new.values(), flush=True)
    print(summary(rows))


if __name__ == "__main__":
    main()
