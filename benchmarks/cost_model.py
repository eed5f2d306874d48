"""What stability selection on stored genotypes costs: `python -m benchmarks.cost_model`.

Measures fits of an ensemble of half-samples on tables of two bits that are mapped from a file, in a
process of its own for each size, beside a model of bytes and operations. The constants of the model
are fitted to the two smallest sizes, bytes of a column to wide tables of few rows, and checked
against all others:

    seconds = a n p + b n p m        opening (moments of all columns), and m members
    memory  = c + d p + 8 n m        the interpreter, bytes of a column, weights of the rows

n p are the entries that are unpacked once, n p m the multiply-adds of a product of all columns with
all members; the constant b says how many such products the paths take. Seconds are processor time
of all threads. Memory is the largest resident memory of the process, minus the pages of the mapped
file, which the system can take back; with them it is in the last column. `--sizes` sets the numbers
of columns, `--csv` adds rows to a file, `--plot` draws time and memory against them, and
`--extrapolate` prints what the model says of half a million people.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from selica._core.table import Table

ROOT = Path(__file__).resolve().parents[1]
N, MEMBERS, ACTIVE = 2000, 100, 30
BLOCK = 2000
FITTED = 2
"""Sizes, from the smallest, that constants are fitted to."""
BIOBANK = (500_000, 600_000, 100)
"""People, markers and half-samples of the extrapolation."""
FEW_ROWS = 200
"""Rows of the tables that bytes of a column are measured with, since they do not depend on rows."""
WIDE = (100_000, 200_000)
"""Columns of these tables: enough for members that are solved together to fill their memory."""
Record = dict[str, Any]


def write_codes(path: Path, n: int, p: int) -> None:
    """Write random genotypes in two bits, one marker a line, block by block."""
    from selica.solvers import pack_two_bit

    with path.open("wb") as file:
        for start in range(0, p, BLOCK):
            rng = np.random.default_rng([n, start])
            share = rng.uniform(0.1, 0.5, min(BLOCK, p - start))
            file.write(pack_two_bit(rng.binomial(2, share, (n, share.size)).astype(np.int8)))


def mapped_bytes(path: Path) -> int:
    """Resident bytes of the mapping of a file in this process; 0 where the system does not say."""
    found, inside = 0, False
    try:
        lines = Path("/proc/self/smaps").read_text().splitlines()
    except OSError:
        return 0
    for line in lines:
        if "-" in line.split(" ", 1)[0]:
            inside = line.endswith(str(path))
        elif inside and line.startswith("Rss:"):
            found += 1024 * int(line.split()[1])
    return found


def measure_here(path: Path, n: int, p: int, members: int) -> Record:
    """Fit the ensemble in this process."""
    from selica.sampling import resample_weights
    from selica.solvers import lasso_path_batch, two_bit_design

    codes = np.memmap(path, dtype=np.uint8, mode="r", shape=(p, -(-n // 4)))
    begin = time.process_time()
    X = two_bit_design(codes, n)
    opening = time.process_time() - begin
    rng = np.random.default_rng(0)
    y = np.sum([X.column(j) for j in range(10)], axis=0) + 2.0 * rng.standard_normal(n)
    weights = resample_weights(n, members, "pairs", 0.5, random_state=0)
    # where about as many columns are active as a selection looks at
    top = 0.5 * n * np.std(y) / np.sqrt(n / 2) * np.sqrt(2.0 * np.log(p))
    path_ = top * np.geomspace(1.2, 0.8, 10)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    begin, wall = time.process_time(), time.perf_counter()
    fit = lasso_path_batch(
        X, y, path_, weights, fit_intercept=True, standardize=True, keep=("counts",),
        max_active=ACTIVE,
    )  # fmt: skip
    return {
        "n": n, "p": p, "members": members, "file": path.stat().st_size,
        "passes": getattr(fit, "passes", None),
        "opening_seconds": opening,
        "seconds": time.process_time() - begin,
        "wall_seconds": time.perf_counter() - wall,
        "peak": 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
        "before": 1024 * before, "mapped": mapped_bytes(path),
        "converged": bool(fit.converged), "most_active": int(fit.n_active.max()),
    }  # fmt: skip


def measure(n: int, p: int, members: int, folder: Path) -> Record:
    """Fit the ensemble in a process of its own."""
    path = folder / f"codes-{n}-{p}"
    write_codes(path, n, p)
    command = [sys.executable, "-m", "benchmarks.cost_model", "--one", str(path)]
    numbers = [str(number) for number in (n, p, members)]
    done = subprocess.run([*command, *numbers], cwd=ROOT, check=True, stdout=subprocess.PIPE)
    path.unlink()
    return dict(json.loads(done.stdout))


def own_memory(row: Record) -> float:
    """Largest resident memory without the mapped file."""
    return float(row["peak"] - row["mapped"])


def of_size(rows: list[Record]) -> list[Record]:
    """Rows of the tables that are asked about, not those that bytes of a column come from."""
    return [row for row in rows if row["n"] != FEW_ROWS]


def fitted(rows: list[Record]) -> dict[str, float]:
    """Constants of the model, from the smallest sizes; relative errors count."""
    few = sorted(of_size(rows), key=lambda row: row["p"])[:FITTED]
    entries = np.array([row["n"] * row["p"] for row in few], dtype=float)
    members = np.array([row["members"] for row in few])
    opening = np.array([row["opening_seconds"] for row in few])
    seconds = np.array([row["seconds"] for row in few])
    wide = [row for row in rows if row["n"] == FEW_ROWS]
    memory = np.array([own_memory(row) - 8.0 * row["n"] * row["members"] for row in wide])
    sizes = np.array([[1.0, row["p"]] for row in wide])
    space = np.linalg.lstsq(sizes / memory[:, None], np.ones(len(wide)), rcond=None)[0]
    return {
        "entry": float(np.mean(opening / entries)),
        "multiply": float(np.mean(seconds / (entries * members))),
        "base": float(space[0]),
        "column": float(space[1]),
    }


def predicted(model: dict[str, float], row: Record) -> tuple[float, float]:
    """Seconds and bytes by the model."""
    n, p, m = row["n"], row["p"], row["members"]
    seconds = n * p * (model["entry"] + m * model["multiply"])
    return seconds, model["base"] + p * model["column"] + 8.0 * n * m


def print_table(rows: list[Record], model: dict[str, float]) -> None:
    """Measured beside the model."""
    print(
        "| n | p | file, MB | passes | seconds | model | memory, MB | model | with the file, MB |"
    )
    print("|---" * 9 + "|")
    for row in sorted(of_size(rows), key=lambda row: row["p"]):
        seconds, memory = predicted(model, row)
        passes = "-" if row["passes"] is None else f"{row['passes']:g}"
        print(
            f"| {row['n']:,} | {row['p']:,} | {row['file'] / 1e6:.0f} | {passes} | "
            f"{row['seconds'] + row['opening_seconds']:.2f} | {seconds:.2f} | "
            f"{own_memory(row) / 1e6:.0f} | {memory / 1e6:.0f} | {row['peak'] / 1e6:.0f} |"
        )


def extrapolate(model: dict[str, float]) -> None:
    """What the model says of a biobank: one machine, and a cluster that opens the file."""
    n, p, m = BIOBANK
    row = {"n": n, "p": p, "members": m}
    seconds, memory = predicted(model, row)
    weights, result = 8 * n * m, 8 * p * m
    names = ", ".join(f"{name} {value:.3g}" for name, value in model.items())
    print(f"\nConstants: {names}")
    print(f"\n{n:,} people, {p:,} markers, {m} half-samples:")
    print(f"- file: {p * -(-n // 4) / 1e9:.0f} GB")
    print(f"- processor time: {seconds / 3600:.1f} hours")
    print(f"- memory beside the file: {memory / 1e9:.1f} GB")
    print(f"- to a cluster: {weights / 1e9:.1f} GB of weights, back at most {result / 1e9:.1f} GB")


def draw(rows: list[Record], model: dict[str, float], path: Path) -> None:
    """Time and memory against the number of columns, with the lines of the model."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    rows = sorted(of_size(rows), key=lambda row: row["p"])
    p = np.array([row["p"] for row in rows])
    model_lines = np.array([predicted(model, row) for row in rows])
    shown = (
        ("processor seconds", [row["seconds"] + row["opening_seconds"] for row in rows], 1.0),
        ("memory without the file, MB", [own_memory(row) for row in rows], 1e6),
    )
    figure, axes = plt.subplots(1, 2, figsize=(8.0, 3.4), constrained_layout=True)
    for place, (axis, (label, values, unit)) in enumerate(zip(axes, shown, strict=True)):
        axis.loglog(p, np.array(values) / unit, "o", label="measured")
        axis.loglog(p, model_lines[:, place] / unit, "-", label="model")
        axis.set_xlabel("columns p")
        axis.set_ylabel(label)
        axis.legend(frameon=False)
    figure.savefig(path, dpi=150)


def main() -> None:
    """Measures, fits, prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--one", nargs=4, help=argparse.SUPPRESS)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 30_000, 100_000])
    parser.add_argument("--n", type=int, default=N)
    parser.add_argument("--members", type=int, default=MEMBERS)
    parser.add_argument("--csv", type=Path, help="file of rows, which are added to those there")
    parser.add_argument("--saved", action="store_true", help="measure nothing, read --csv")
    parser.add_argument("--plot", type=Path)
    parser.add_argument("--extrapolate", action="store_true")
    arguments = parser.parse_args()
    if arguments.one:
        path, *numbers = arguments.one
        n, p, members = map(int, numbers)
        print(json.dumps(measure_here(Path(path), n, p, members)))
        return
    rows: list[Record] = []
    if arguments.csv is not None and arguments.csv.exists():
        rows = [dict(row) for row in Table.read_csv(arguments.csv)]
    if not arguments.saved:
        with tempfile.TemporaryDirectory() as folder:
            wide = [(FEW_ROWS, p) for p in WIDE if all(row["n"] != FEW_ROWS for row in rows)]
            for n, p in [*wide, *((arguments.n, p) for p in arguments.sizes)]:
                rows.append(measure(n, p, arguments.members, Path(folder)))
                if arguments.csv is not None:
                    arguments.csv.parent.mkdir(parents=True, exist_ok=True)
                    Table.of(rows).to_csv(arguments.csv)
    model = fitted(rows)
    print_table(rows, model)
    if arguments.extrapolate:
        extrapolate(model)
    if arguments.plot is not None:
        draw(rows, model, arguments.plot)


if __name__ == "__main__":
    sys.exit(main())
