"""Do the promises hold? The rows of docs/data/guarantees: `python -m benchmarks.guarantees`."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks import result_files
from selica._core.table import Table
from selica.experiments.calibration import (
    AUTO_SETTINGS,
    BESIDE_SETTINGS,
    LEFT_OUT_SETTINGS,
    auto_methods,
    beside_methods,
    calibrated_methods,
    left_out_methods,
)
from selica.experiments.calibration import SETTINGS as CALIBRATED
from selica.experiments.guarantees import SETTINGS, Setting, all_methods, guarantees_by_setting
from selica.experiments.power import power_beside_theory
from selica.experiments.promise_rows import (
    PromiseRow,
    promises_of,
    read_promises,
    write_promises,
)  # fmt: skip
from selica.experiments.table_kinds import TABLE_SETTINGS, table_methods

COMMAND = "python -m benchmarks.guarantees --parts"
LEVELS_IN_NAMES = ("calibrated stability", "knockoff+", "e-values", "automatic choice")
POWER = {
    "study": "study", "method": "method", "power": "power", "power_error": "power_error",
    "predicted": "predicted", "ratio": "ratio", "fdp": "fdr", "fdp_error": "fdr_error",
    "predicted_fdr": "predicted_fdr", "runs": "runs",
}  # fmt: skip


class Part(NamedTuple):
    """Settings, selectors, and how many data sets there are of each setting by default."""

    settings: tuple[Setting, ...]
    methods: Callable[[Setting, Any], dict[str, Any]]
    runs: int


PARTS = {
    "errors": Part(SETTINGS, all_methods, 500),
    "tables": Part(TABLE_SETTINGS, table_methods, 200),
    "calibration": Part(CALIBRATED, calibrated_methods, 500),
    "left_out": Part(LEFT_OUT_SETTINGS, left_out_methods, 500),
    "auto_rates": Part(AUTO_SETTINGS, auto_methods, 500),
    "left_out_beside": Part(BESIDE_SETTINGS, beside_methods, 15),
}


def line(row: PromiseRow) -> str:
    """A measurement in one line."""
    measured = "refused" if row.measured is None else f"{row.measured:.3f} ({row.error or 0:.3f})"
    level = "" if row.level is None else f" of {row.level:.3g}"
    power = "" if row.power is None else f", power {row.power:.2f}"
    return (
        f"{row.setting} | {row.method} | {row.controls}{level} | {measured} | {row.promised} | "
        f"selects {row.selects:.2f}{power}"
    )


def measure(name: str, runs: int | None, only: list[str] | None, options: Any) -> None:
    """Print the rows of a part setting by setting, and add each setting to the file."""
    part = PARTS[name]
    runs = runs or part.runs
    file = options.csv and options.csv / f"{name}.csv"
    known = read_promises(file) if file and file.exists() else []
    done = {row.setting for row in known if row.runs >= runs}

    def wanted(setting: Setting) -> bool:
        return setting.name in only if only else setting.name not in done

    where = {"methods": part.methods, "n_jobs": options.n_jobs, "wanted": wanted}
    for table in guarantees_by_setting(runs, part.settings, **where):
        rows = promises_of(table, f"{COMMAND} {name}", LEVELS_IN_NAMES)
        if file:
            write_promises(file, rows)
        print("\n".join(map(line, rows)), flush=True)


def power(runs: int, options: Any) -> None:
    """Print power beside its prediction, and the false discovery rate beside its own."""
    found = power_beside_theory(runs, n_jobs=options.n_jobs)
    rows = [{new: row[old] for old, new in POWER.items()} for row in found]
    if options.csv:
        Table.of(_rounded(row) for row in rows).to_csv(options.csv / "power.csv")
    for row in rows:
        print(" | ".join(f"{v:.3f}" if isinstance(v, float) else str(v) for v in row.values()))


def _rounded(row: dict[str, Any]) -> dict[str, Any]:
    return {key: float(f"{v:.4g}") if isinstance(v, float) else v for key, v in row.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--parts", nargs="+", choices=(*PARTS, "power"), help="all by default")
    parser.add_argument("--runs", type=int, help="data sets of each setting")
    parser.add_argument(
        "--settings", nargs="+", help="names of settings to measure, also again; all by default"
    )
    parser.add_argument(
        "--csv", type=Path, metavar="FOLDER",
        help="folder of the rows, docs/data/guarantees; settings that it has are not repeated",
    )  # fmt: skip
    parser.add_argument("--n-jobs", type=int, default=-1)
    options = parser.parse_args()
    for name in options.parts or (*PARTS, "power"):
        if name == "power":
            power(options.runs or 50, options)
        else:
            measure(name, options.runs, options.settings, options)
    if result_files.in_docs(options.csv):
        result_files.record("guarantees")


if __name__ == "__main__":
    main()
