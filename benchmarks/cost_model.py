"""What stability selection on stored genotypes costs: `python -m benchmarks.cost_model`.

Measures selections from simulated cohorts (`benchmarks.simulate_cohort`) in mapped .bed files, with
ten covariates that are kept, in a process of its own for each size, beside a model of bytes and
operations:

    seconds = a m n q^2 + b m n p       fits to working sets of about q columns, and products
    memory  = c + d p + 8 n m           the interpreter, bytes of a column, weights of the rows

for n people, p markers and m half-samples of which each selects its first q markers; n p m are the
multiply-adds of one product of all markers with all members, and b says how many of them paths and
moments take. a and b are fitted to the two smallest numbers of markers, c and d to the second and
the third, and all others check them. Seconds are processor time of all threads. Memory is the
largest resident memory of the process without the pages of the mapped file, which the system can
take back; with them it is in the last column. `--sizes` sets the numbers of markers, `--csv` adds
rows to a file, `--plot` draws time and memory against them, and `--extrapolate` prints what the
model says of half a million people.
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
from benchmarks.simulate_cohort import Cohort, simulate_cohort

from selica._core.table import Table

ROOT = Path(__file__).resolve().parents[1]
N, MEMBERS, SELECTED, KEPT = 5000, 100, 200, 10
SIZES = [10_000, 30_000, 100_000, 300_000]
BIOBANK = (500_000, 600_000, 100)
"""People, markers and half-samples of the extrapolation."""
Record = dict[str, Any]


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


def measure_here(path: Path, members: int, q: int) -> Record:
    """Select in this process; a number of markers of zero is the bound pfer = 1."""
    from selica import StabilitySelection
    from selica.selectors.members import Refits
    from selica.tables.genotypes import read_genotypes

    genotypes = read_genotypes(path)
    n, p = genotypes.shape
    y = np.loadtxt(path.with_suffix(".pheno"), skiprows=1, usecols=2)
    covariates = np.loadtxt(path.with_suffix(".covar"), skiprows=1, usecols=(2, 3))
    noise = np.random.default_rng(0).standard_normal((n, KEPT - covariates.shape[1]))
    rule: dict[str, Any] = {"q": q, "threshold": 0.9} if q else {"pfer": 1.0}
    selector = StabilitySelection(n_resamples=members, random_state=0, **rule)
    read: list[float] = []
    whole = Refits.at_least

    def counted(refits: Any, count: int) -> Any:
        found = whole(refits, count)
        read[:] = [found.gap, found.passes + refits.passes]
        return found

    Refits.at_least = counted  # type: ignore[method-assign]
    begin, wall = time.process_time(), time.perf_counter()
    selector.fit(genotypes, y, keep=np.column_stack([covariates, noise]))
    truth = {row["name"] for row in Table.read_csv(path.with_suffix(".truth.csv"))}
    chosen = np.array(genotypes.names)[selector.support_]
    return {
        "n": n, "p": p, "members": members, "q": selector.q_, "file": path.stat().st_size,
        "passes": read[1], "gap": read[0],
        "seconds": time.process_time() - begin,
        "wall_seconds": time.perf_counter() - wall,
        "peak": 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
        "mapped": mapped_bytes(path),
        "selected": chosen.size, "causal": sum(str(name) in truth for name in chosen),
    }  # fmt: skip


def measure(n: int, p: int, members: int, q: int, folder: Path) -> Record:
    """Select in a process of its own."""
    path = simulate_cohort(folder / f"cohort-{n}-{p}.bed", Cohort(n=n, p=p))
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.cost_model", "--one", str(path)]
    numbers = [str(number) for number in (members, q)]
    done = subprocess.run([*command, *numbers], cwd=ROOT, check=True, stdout=subprocess.PIPE)
    for file in folder.glob(f"{path.stem}.*"):
        file.unlink()
    return dict(json.loads(done.stdout))


def own_memory(row: Record) -> float:
    """Largest resident memory without the mapped file."""
    return float(row["peak"] - row["mapped"])


def compared(rows: list[Record]) -> list[Record]:
    """Rows of the usual people, members and q, by the number of markers."""
    usual = [row for row in rows if (row["n"], row["members"], row["q"]) == (N, MEMBERS, SELECTED)]
    return sorted(usual, key=lambda row: row["p"])


def fitted(rows: list[Record]) -> dict[str, float]:
    """Constants of the model; relative errors count."""
    usual = compared(rows)
    few, more = usual[:2], usual[1:3]
    work = np.array([[row["members"] * row["n"] * size for size in (row["q"] ** 2, row["p"])]
                     for row in few], dtype=float)  # fmt: skip
    seconds = np.array([row["seconds"] for row in few])
    time_ = np.linalg.solve(work, seconds)
    memory = np.array([own_memory(row) - 8.0 * row["n"] * row["members"] for row in more])
    space = np.linalg.solve(np.array([[1.0, row["p"]] for row in more]), memory)
    names = ("set", "product", "base", "column")
    return dict(zip(names, [*time_.tolist(), *space.tolist()], strict=True))


def predicted(model: dict[str, float], row: Record) -> tuple[float, float]:
    """Seconds and bytes by the model."""
    n, p, m, q = row["n"], row["p"], row["members"], row["q"]
    seconds = m * n * (model["set"] * q**2 + model["product"] * p)
    return seconds, model["base"] + p * model["column"] + 8.0 * n * m


def print_table(rows: list[Record], model: dict[str, float]) -> None:
    """Measured beside the model."""
    print(
        "| n | p | q | file, MB | passes | processor, s | model | wall, s | memory, MB | model | "
        "with the file, MB | selected | causal |"
    )
    print("|---" * 13 + "|")
    for row in sorted(rows, key=lambda row: (row["q"], row["n"], row["p"])):
        seconds, memory = predicted(model, row)
        print(
            f"| {row['n']:,} | {row['p']:,} | {row['q']} | {row['file'] / 1e6:.0f} | "
            f"{row['passes']:.0f} | {row['seconds']:.1f} | {seconds:.1f} | "
            f"{row['wall_seconds']:.1f} | {own_memory(row) / 1e6:.0f} | {memory / 1e6:.0f} | "
            f"{row['peak'] / 1e6:.0f} | {row['selected']} | {row['causal']} |"
        )
    print(f"\nLargest gap {max(row['gap'] for row in rows):.0e}")


def extrapolate(model: dict[str, float]) -> None:
    """What the model says of a biobank: one machine, and a cluster that opens the file."""
    n, p, m = BIOBANK
    seconds, memory = predicted(model, {"n": n, "p": p, "members": m, "q": SELECTED})
    print("\nConstants: " + ", ".join(f"{name} {value:.3g}" for name, value in model.items()))
    print(f"\n{n:,} people, {p:,} markers, {m} half-samples of {SELECTED} markers:")
    print(f"- file: {p * -(-n // 4) / 1e9:.0f} GB")
    print(f"- processor time: {seconds / 3600:.1f} hours")
    print(f"- memory beside the file: {memory / 1e9:.1f} GB")
    print(f"- to a cluster that opens the file: {8 * n * m / 1e9:.1f} GB of weights")


def draw(rows: list[Record], model: dict[str, float], path: Path) -> None:
    """Time and memory against the number of columns, with the lines of the model."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt
    from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

    rows = compared(rows)
    p = np.array([row["p"] for row in rows])
    fine = np.geomspace(p.min(), p.max(), 50)
    model_lines = np.array([predicted(model, rows[0] | {"p": size}) for size in fine])
    shown = (
        ("processor seconds", [row["seconds"] for row in rows], 1.0),
        ("memory without the file, MB", [own_memory(row) for row in rows], 1e6),
    )
    figure, axes = plt.subplots(1, 2, figsize=(8.0, 3.4), constrained_layout=True)
    for place, (axis, (label, values, unit)) in enumerate(zip(axes, shown, strict=True)):
        axis.loglog(p, np.array(values) / unit, "o", label="measured")
        axis.loglog(fine, model_lines[:, place] / unit, "-", label="model")
        for each in (axis.xaxis, axis.yaxis):
            each.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
            each.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
            each.set_minor_formatter(NullFormatter())
        axis.set_xlabel("markers")
        axis.set_ylabel(label)
        axis.legend(frameon=False)
    figure.suptitle(f"Stability selection: {N:,} people, {MEMBERS} halves, two threads")
    figure.savefig(path, dpi=150)


def main() -> None:
    """Measure, fit, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--n", type=int, default=N)
    parser.add_argument("--members", type=int, default=MEMBERS)
    parser.add_argument("--q", type=int, default=SELECTED, help="0: by the bound pfer = 1")
    parser.add_argument("--csv", type=Path, help="file of rows, which are added to those there")
    parser.add_argument("--saved", action="store_true", help="measure nothing, read --csv")
    parser.add_argument("--plot", type=Path)
    parser.add_argument("--extrapolate", action="store_true")
    arguments = parser.parse_args()
    if arguments.one:
        path, *numbers = arguments.one
        print(json.dumps(measure_here(Path(path), *map(int, numbers))))
        return
    rows: list[Record] = []
    if arguments.csv is not None and arguments.csv.exists():
        rows = [dict(row) for row in Table.read_csv(arguments.csv)]
    if not arguments.saved:
        with tempfile.TemporaryDirectory() as folder:
            for p in arguments.sizes:
                one = (arguments.n, p, arguments.members, arguments.q)
                rows.append(measure(*one, Path(folder)))
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
    main()
