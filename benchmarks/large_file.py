"""A table of 2 GB from its file to an answer: `python -m benchmarks.large_file --folder DIR`.

The file has a line for each of 2,000 samples and as many columns of random numbers as make up its
size; the sum of ten columns, with noise, is the response. The command `selica select` reads it in a
process of its own, whose time and largest memory are printed.
"""

from __future__ import annotations

import argparse
import csv
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

ROWS = 2_000
SIGNALS = 10
WIDTH = 7
"""Bytes of a number with four decimals and its comma."""
SEED = 0


def write_table(path: Path, size: float) -> list[str]:
    """Write a table of so many GB; return the names of the columns that matter."""
    n_columns = int(size * 1e9 / ROWS / WIDTH)
    rng = np.random.default_rng(SEED)
    causal = np.sort(rng.choice(n_columns, SIGNALS, replace=False))
    with path.open("wb") as file:
        names = ",".join(f"gene{j}" for j in range(n_columns))
        file.write(f"{names},outcome\n".encode())
        place = 10.0 ** -np.array([0.0, 1.0, 2.0, 3.0, 4.0])
        for _ in range(ROWS):
            digits = rng.integers(0, 10, (n_columns, 5), dtype=np.uint8)
            cells = np.full((n_columns, WIDTH), ord(","), dtype=np.uint8)
            cells[:, 0], cells[:, 2:6] = digits[:, 0] + ord("0"), digits[:, 1:] + ord("0")
            cells[:, 1] = ord(".")
            outcome = float((digits[causal] @ place).sum()) + 5.0 * rng.standard_normal()
            file.write(cells.tobytes() + f"{outcome:.4f}\n".encode())
    return [f"gene{j}" for j in causal]


def selected(path: Path, out: Path) -> tuple[str, float, float, float]:
    """Return what the command printed, its seconds, processor seconds and largest memory in GB."""
    start = [sys.executable, "-c", "from selica.cli import main; main()"]
    command = [*start, "select", str(path), "--target", "outcome", "--out", str(out)]
    begin = time.perf_counter()
    done = subprocess.run([*command, "--seed", "0"], capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - begin
    if done.returncode != 0:
        raise SystemExit(f"exit code {done.returncode}: {done.stderr.strip()}")
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return done.stdout, seconds, used.ru_utime + used.ru_stime, used.ru_maxrss / 2**20


def run(folder: Path, size: float) -> str:
    """Return what a table of so many GB took."""
    path = folder / "large.csv"
    names = write_table(path, size)
    n_bytes = path.stat().st_size
    try:
        said, seconds, processor, memory = selected(path, folder / "report")
    finally:
        path.unlink()
    with (folder / "report" / "selection.csv").open(newline="", encoding="utf-8") as file:
        found = {row["variable"] for row in csv.DictReader(file) if row["selected"] == "True"}
    print(said)
    return (
        f"{n_bytes / 1e9:.1f} GB of text: {seconds:.0f} s ({processor:.0f} s of processor), at "
        f"most {memory:.1f} GB of memory, {len(found)} selected, {len(found & {*names})} of them "
        f"among the {SIGNALS} that matter"
    )


def main() -> None:
    """Print what it took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, required=True, help="where the table may lie")
    parser.add_argument("--size", type=float, default=2.0, help="GB of the table")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    print(run(arguments.folder, arguments.size))


if __name__ == "__main__":
    main()
