"""Do the promises hold? The table of docs/guarantees.md: `python -m benchmarks.guarantees`."""

from __future__ import annotations

import argparse
from pathlib import Path

from selica._core.table import Table
from selica.experiments.guarantees import guarantees


def markdown(table: Table) -> str:
    """Error rates beside their levels, and power."""
    lines = [
        "| setting | method | level | measured | promised | selects anything | power |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in table:
        key = "fdp" if row["controls"] == "FDR" else "false"
        measured = f"{row[key]:.3f} ({row[f'{key}_error']:.3f})"
        if row["low"] is not None:
            measured += f"; rarely selected {row['low']:.3f}"
        level = f"{row['controls']} {row['level']:g}"
        lines.append(
            f"| {row['setting']} | {row['method']} | {level} | {measured} | "
            f"{'yes' if row['promised'] else 'no'} | {row['any']:.2f} | {row['power']:.2f} |"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--n-jobs", type=int, default=-1)
    parser.add_argument("--out", type=Path, help="the table as CSV")
    options = parser.parse_args()
    table = guarantees(options.runs, n_jobs=options.n_jobs)
    if options.out:
        table.to_csv(options.out)
    print(markdown(table))


if __name__ == "__main__":
    main()
