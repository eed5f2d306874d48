"""Time and memory of reading large tables, and of recognising their columns.

A process of its own reads each file: seconds of reading and of `prepare`, and the largest memory
above what the imports take, beside the size of the table as numbers and that of the file.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

SHAPES = {"tall": (1_000_000, 20), "wide": (100, 50_000)}
"""Rows and columns of the tables, the response among them."""
KINDS = ("csv", "csv.gz", "semicolon.csv", "parquet", "gaps.csv")
"""Files: with points, compressed, with semicolons and decimal commas, and with missing values."""
_READ = """
import json, sys, time
from pathlib import Path
from selica.tables import prepare, read_table
import pyarrow.csv, pyarrow.parquet

def memory(kind):
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * int(next(line for line in lines if line.startswith(kind)).split()[1])

before, start, work = memory("VmRSS"), time.perf_counter(), time.process_time()
table = read_table(sys.argv[1])
read, read_work = time.perf_counter() - start, time.process_time() - work
after = memory("VmHWM")
start, work = time.perf_counter(), time.process_time()
prepared = prepare(table, "y")
print(json.dumps({
    "read": read, "read_work": read_work, "prepare": time.perf_counter() - start,
    "prepare_work": time.process_time() - work, "bytes": after - before,
    "bytes_prepared": memory("VmHWM") - before,
}))
"""
"""Run in a process of its own, whose largest memory is that of the reading (on Linux)."""


def write(folder: Path, shape: str, kind: str) -> Path:
    """Write a table of normal numbers with six digits, and return where it is."""
    import pyarrow as pa
    from pyarrow import csv, parquet

    rows, columns = SHAPES[shape]
    path = folder / f"{shape}.{kind}"
    numbers = np.random.default_rng(0).standard_normal((columns, rows)).round(6)
    if kind == "gaps.csv":
        numbers[np.random.default_rng(1).random(numbers.shape) < 0.01] = np.nan
        numbers[-1] = np.nan_to_num(numbers[-1])
    names = [*(f"x{j}" for j in range(columns - 1)), "y"]
    if kind == "semicolon.csv":
        with path.open("w") as file:
            file.write(";".join(names) + "\n")
            for row in numbers.T:
                file.write(";".join(map(repr, row.tolist())).replace(".", ",") + "\n")
        return path
    table = pa.table([pa.array(column, from_pandas=True) for column in numbers], names)
    if kind == "parquet":
        parquet.write_table(table, path)
    elif kind == "csv.gz":
        with pa.CompressedOutputStream(str(path), "gzip") as stream:
            csv.write_csv(table, stream)
    else:
        csv.write_csv(table, path)
    return path


def measure(path: Path) -> dict[str, Any]:
    """Read a file in a process of its own."""
    run = subprocess.run(
        [sys.executable, "-c", _READ, str(path)], capture_output=True, text=True, check=True
    )
    found: dict[str, Any] = json.loads(run.stdout)
    return found


def main() -> None:
    """Print a line for each file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shapes", nargs="+", default=list(SHAPES), choices=SHAPES)
    parser.add_argument("--kinds", nargs="+", default=list(KINDS), choices=KINDS)
    parser.add_argument("--folder", type=Path, help="where files are kept between runs")
    asked = parser.parse_args()
    heads = (
        "rows x columns", "file", "file, MB", "numbers, MB", "read, s (processor)",
        "prepare, s (processor)", "memory, MB", "/ file", "/ numbers", "with prepare, / numbers",
    )  # fmt: skip
    print(f"| {' | '.join(heads)} |")
    print("|---" * len(heads) + "|")
    with tempfile.TemporaryDirectory() as own:
        for shape in asked.shapes:
            for kind in asked.kinds:
                path = (asked.folder or Path(own)) / f"{shape}.{kind}"
                if not path.exists():
                    write(path.parent, shape, kind)
                found = measure(path)
                rows, columns = SHAPES[shape]
                file, numbers = path.stat().st_size, 8 * rows * columns
                cells = [
                    f"{rows:,} x {columns:,}", kind, f"{file / 1e6:.0f}", f"{numbers / 1e6:.0f}",
                    f"{found['read']:.2f} ({found['read_work']:.2f})",
                    f"{found['prepare']:.2f} ({found['prepare_work']:.2f})",
                    f"{found['bytes'] / 1e6:.0f}",
                    f"{found['bytes'] / file:.1f}", f"{found['bytes'] / numbers:.1f}",
                    f"{found['bytes_prepared'] / numbers:.1f}",
                ]  # fmt: skip
                print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
