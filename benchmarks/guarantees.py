"""Do the promises hold? The tables of docs/guarantees.md: `python -m benchmarks.guarantees`."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from selica._core.table import Row, Table
from selica.experiments.calibration import SETTINGS, calibrated_methods
from selica.experiments.guarantees import guarantees
from selica.experiments.power import power_beside_theory
from selica.experiments.table_kinds import TABLE_SETTINGS, table_methods

SHORT = {
    "false discovery rate": "FDR",
    "expected number of false selections": "false selections",
    "probability of 2 or more false selections": "2 or more false",
    "nothing": "none",
}


def error_rates(table: Table) -> str:
    """Error rates beside their levels, and power."""
    lines = [
        "| setting | method | level | measured | promised | selects anything | power |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in table:
        measured = f"{row['error']:.3f} ({row['error_error']:.3f})"
        if row.get("low") is not None:
            measured += f"; rarely selected {row['low']:.3f}"
        level = SHORT[row["controls"]]
        if row["level"] is not None:
            level = f"{level} {row['level']:.3g}"
        lines.append(
            f"| {row['setting']} | {row['method']} | {level} | {measured} | "
            f"{'yes' if row['promised'] else 'no'} | {row['any']:.2f} | {row['power']:.2f} |"
        )
    return "\n".join(lines)


def by_setting(table: Table) -> str:
    """Error rates beside their levels and power, one line for each setting."""
    methods = list(dict.fromkeys(table["method"]))
    lines = [f"| setting | runs | {' | '.join(methods)} |", "|---" * (2 + len(methods)) + "|"]
    for setting in dict.fromkeys(table["setting"]):
        rows = {row["method"]: row for row in table.where(setting=setting)}
        cells = [_cell(rows[name]) if name in rows else "none" for name in methods]
        runs = max(row["runs"] for row in rows.values())
        lines.append(f"| {setting} | {runs} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _cell(row: Row) -> str:
    """Error rate with its standard error, the level, and power or how often anything is chosen."""
    measured = f"{row['error']:.3f} ({row['error_error']:.3f})"
    level = "no promise" if row["level"] is None else f"of {row['level']:.3g}"
    signals = "nothing" not in row["setting"]
    then = f"power {row['power']:.2f}" if signals else f"any {row['any']:.2f}"
    return f"{measured} {level}, {then}"


def powers(table: Table) -> str:
    """Power beside its prediction, and the false discovery rate beside its own."""
    lines = [
        "| study | method | power | predicted | ratio | FDR | predicted |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in table:
        ratio = "none" if row["ratio"] is None else f"{row['ratio']:.3f}"
        predicted = f"{row['predicted']:.3f}"
        if row["predicted_taken"] is not None:
            predicted += f"; as taken {row['predicted_taken']:.3f}"
        lines.append(
            f"| {row['study']} | {row['method']} | {row['power']:.3f} ({row['power_error']:.3f}) | "
            f"{predicted} | {ratio} | {row['fdp']:.3f} ({row['fdp_error']:.3f}) | "
            f"{row['predicted_fdr']:.3f} |"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=500, help="data sets for the error rates")
    parser.add_argument(
        "--table-runs", type=int, default=200, help="data sets for the error rates of other tables"
    )
    parser.add_argument("--power-runs", type=int, default=50, help="data sets for the power")
    parser.add_argument(
        "--parts",
        nargs="+",
        choices=("errors", "tables", "calibration", "power"),
        help="all by default",
    )
    parser.add_argument("--n-jobs", type=int, default=-1)
    parser.add_argument("--out", type=Path, help="folder for the tables as CSV")
    options = parser.parse_args()
    parts: dict[str, tuple[Callable[[], Table], Callable[[Table], str]]] = {
        "errors": (lambda: guarantees(options.runs, n_jobs=options.n_jobs), error_rates),
        "tables": (
            lambda: guarantees(
                options.table_runs, TABLE_SETTINGS, methods=table_methods, n_jobs=options.n_jobs
            ),
            by_setting,
        ),
        "calibration": (
            lambda: guarantees(
                options.runs, SETTINGS, methods=calibrated_methods, n_jobs=options.n_jobs
            ),
            error_rates,
        ),
        "power": (
            lambda: power_beside_theory(options.power_runs, n_jobs=options.n_jobs), powers,
        ),
    }  # fmt: skip
    for name in options.parts or parts:
        table = parts[name][0]()
        if options.out:
            options.out.mkdir(parents=True, exist_ok=True)
            table.to_csv(options.out / f"{name}.csv")
        print(parts[name][1](table), end="\n\n", flush=True)


if __name__ == "__main__":
    main()
