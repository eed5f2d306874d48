"""What stability selection on stored genotypes costs: `python -m benchmarks.cost_model`.

Measures selections from simulated cohorts (`benchmarks.simulate_cohort`) in mapped .bed files, with
ten covariates that are kept, in a process of its own for each row, beside a model of operations and
bytes. n people, p markers, m half-samples of h = n / 2 people, of which each selects its first q
markers; c members are fitted together, which the solver decides (`members_per_chunk`), in m / c
chunks:

    penalties L = 36 ln(h / ln(p / q)) + l0 + l1 q / h         of the 500 on a path
    passes    P = m / c (1 + L (r0 + r1 ln c + r2 c q / p))    readings of all markers by the fits
    seconds     = s0 + s1 n p                                  to read, check and describe
                + 2 m p (o0 n + o1)                            moments, before the path and with it
                + f0 n p P + f1 m p L                          products, and screening
                + f2 m h q^2 + f3 m q^3                        Gram matrices, and their factors
    bytes       = b0 + b1 p                                    before the fits
                + 2 c (40 p + 40 n + 8 k (h + 2 k)) + 8 n m    of two threads, and weights
    k           = k0 (1.25 (q + 10) + 48)                      columns of a working set, with spare

36 is the number of penalties on a path over twice the logarithm of its range: the penalty at which
noise enters falls as the root of ln(p / q) / h. A chunk goes on until the last of its members asks
for all gradients, which is why passes grow with ln c; columns whose gradients are computed one by
one are the term with c q / p. The constants are fitted to the rows of CALIBRATION, each to what was
measured for it (penalties, passes, seconds of each phase, memory before the fits and at its peak);
all other rows check them. Seconds are processor time of all threads. Memory is the largest resident
memory of the process without the pages of the mapped file, which the system can take back.

`--n`, `--sizes` and `--q` say what is measured, `--csv` adds rows to a file, `--saved` measures
nothing, `--plot` draws time and memory against the markers, and `--extrapolate` prints what the
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

from benchmarks import result_files
from selica._core.compiled import core
from selica._core.table import Table

ROOT = Path(__file__).resolve().parents[1]
N, MEMBERS, SELECTED, KEPT = 5000, 100, 200, 10
SIZES = [10_000, 30_000, 100_000, 300_000]
CALIBRATION = (
    (2_500, 100_000, 100), (1_000, 30_000, 200), (5_000, 10_000, 200), (5_000, 30_000, 200),
    (2_500, 30_000, 600), (5_000, 10_000, 600), (5_000, 30_000, 1_240),
)  # fmt: skip
"""People, markers and q of the rows that constants come from."""
PENALTIES, RANGE = 500, 1e3
"""Of a path of `StabilitySelection`: how many there are, and the largest over the smallest."""
BLOCKS, THREADS = 2, 2
"""Members of a stored table are fitted in so many blocks; threads of the measurements."""
BIOBANK = (500_000, 600_000, 100)
"""People, markers and half-samples of the extrapolation."""
Record = dict[str, Any]
Model = dict[str, list[float]]


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


def resident_bytes() -> int:
    """Resident bytes of this process; 0 where the system does not say."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return 0
    return pages * resource.getpagesize()


def measure_here(path: Path, members: int, q: int) -> Record:
    """Select in this process; a number of markers of zero is the bound pfer = 1."""
    from selica import StabilitySelection
    from selica.selectors.members import Refits
    from selica.solvers import ensemble
    from selica.tables.genotypes import read_genotypes

    genotypes = read_genotypes(path)
    n, p = genotypes.shape
    y = np.loadtxt(path.with_suffix(".pheno"), skiprows=1, usecols=2)
    covariates = np.loadtxt(path.with_suffix(".covar"), skiprows=1, usecols=(2, 3))
    noise = np.random.default_rng(0).standard_normal((n, KEPT - covariates.shape[1]))
    rule: dict[str, Any] = {"q": q, "threshold": 0.9} if q else {"pfer": 1.0}
    selector = StabilitySelection(n_resamples=members, random_state=0, **rule)
    read: list[float] = []
    whole, alone = Refits.at_least, ensemble.solve_part
    phases: dict[str, list[Record]] = {"opening": [], "fits": []}

    def counted(refits: Any, count: int) -> Any:
        found = whole(refits, count)
        read[:] = [found.gap, found.passes, refits.passes]
        return found

    def timed(problem: Any, *arguments: Any, **options: Any) -> Any:
        own, start = resident_bytes() - mapped_bytes(path), time.process_time()
        part = alone(problem, *arguments, **options)
        made = {
            "seconds": time.process_time() - start, "own": own,
            "together": ensemble._members_per_chunk(problem),
            "penalties": int(np.count_nonzero(part.kept.n_active >= 0)),
        }  # fmt: skip
        if len(problem.weights) > 1:
            phases["opening" if problem.lams.shape[-1] == 1 else "fits"].append(made)
        return part

    Refits.at_least = counted  # type: ignore[method-assign]
    ensemble.solve_part = timed
    begin, wall = time.process_time(), time.perf_counter()
    selector.fit(genotypes, y, keep=np.column_stack([covariates, noise]))
    truth = {row["name"] for row in Table.read_csv(path.with_suffix(".truth.csv"))}
    chosen = np.array(genotypes.names)[selector.support_]
    opening, fits = phases["opening"], phases["fits"]
    return {
        "n": n, "p": p, "members": members, "q": selector.q_, "file": path.stat().st_size,
        "together": fits[0]["together"],
        "penalties": sum(one["penalties"] for one in fits) / members,
        "passes": read[1] + read[2], "fit_passes": read[1], "gap": read[0],
        "seconds": time.process_time() - begin,
        "opening_seconds": sum(one["seconds"] for one in opening),
        "fit_seconds": sum(one["seconds"] for one in fits),
        "wall_seconds": time.perf_counter() - wall,
        "before": opening[0]["own"],
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


def together(row: Record) -> tuple[int, int]:
    """Return how many members the solver fits together, and in how many chunks all members are."""
    block = row["members"] // BLOCKS
    codes = row["p"] * -(-row["n"] // 4)
    sizes = (row["n"], row["p"] + KEPT, 0, False, block, row["n"] // 2, row["q"] + KEPT)
    size = int(core().members_per_chunk(*sizes, 2.0 * codes))
    return size, BLOCKS * -(-block // size)


def least_relative(work: Any, measured: Any) -> list[float]:
    """Return constants that are not negative, with the least squares of relative errors."""
    from scipy.optimize import nnls

    X = np.asarray(work, dtype=float) / np.asarray(measured, dtype=float)[:, None]
    size = X.max(axis=0)
    return [float(value) for value in nnls(X / size, np.ones(len(X)))[0] / size]


def theory(row: Record) -> float:
    """Return the penalties until noise enters, up to a constant."""
    level = np.log(0.5 * row["n"] / np.log(row["p"] / row["q"]))
    return float(0.5 * (PENALTIES - 1) / np.log(RANGE) * level)


def penalties(model: Model, row: Record) -> float:
    """Return how many penalties of its path a member is fitted at."""
    first, overfit = model["penalties"]
    return theory(row) + first + overfit * 2.0 * row["q"] / row["n"]


def pass_work(row: Record, length: float) -> list[float]:
    """Return what the passes of one chunk are proportional to, without the first."""
    size, _ = together(row)
    return [length, length * np.log(size), length * size * row["q"] / row["p"]]


def passes(model: Model, row: Record) -> float:
    """Return how often the fits read all markers."""
    work = pass_work(row, penalties(model, row))
    return together(row)[1] * (1.0 + float(np.dot(model["passes"], work)))


def opening_work(row: Record) -> list[float]:
    """Return operations of moments."""
    return [row["members"] * row["p"] * row["n"], float(row["members"] * row["p"])]


def rest_work(row: Record) -> list[float]:
    """Return operations of whatever is neither moments nor fits."""
    return [1.0, float(row["n"] * row["p"])]


def fit_work(model: Model, row: Record) -> list[float]:
    """Return operations of products, screening, Gram matrices and factors."""
    n, p, m, q = (float(row[name]) for name in ("n", "p", "members", "q"))
    return [
        n * p * passes(model, row), m * p * penalties(model, row), m * 0.5 * n * q**2, m * q**3
    ]  # fmt: skip


def fit_memory(row: Record, room: float) -> float:
    """Return bytes of the members that are fitted together on all threads, and weights."""
    n, p = row["n"], row["p"]
    k = room * (1.25 * (row["q"] + KEPT) + 48.0)
    each = 40.0 * p + 40.0 * n + 8.0 * k * (0.5 * n + 2.0 * k)
    return THREADS * together(row)[0] * each + 8.0 * n * row["members"]


def calibrates(row: Record) -> bool:
    """Tell whether constants come from a row."""
    return (row["n"], row["p"], row["q"]) in CALIBRATION


def fitted(rows: list[Record]) -> Model:
    """Return the constants of the model, from the rows that calibrate it."""
    from scipy.optimize import least_squares

    some = [row for row in rows if calibrates(row)]
    each = [[1.0, 2.0 * row["q"] / row["n"]] for row in some]
    beyond = np.array([row["penalties"] - theory(row) for row in some])
    model: Model = {"penalties": np.linalg.lstsq(np.array(each), beyond)[0].tolist()}
    later = [row["fit_passes"] / together(row)[1] - 1.0 for row in some]
    model["passes"] = least_relative([pass_work(row, penalties(model, row)) for row in some], later)
    opening = [row["opening_seconds"] for row in some]
    model["opening"] = least_relative([opening_work(row) for row in some], opening)
    rest = [row["seconds"] - row["opening_seconds"] - row["fit_seconds"] for row in some]
    model["rest"] = least_relative([rest_work(row) for row in some], rest)
    alone = [
        row["fit_seconds"] - float(np.dot(model["opening"], opening_work(row))) for row in some
    ]
    model["fits"] = least_relative([fit_work(model, row) for row in some], alone)
    before = [row["before"] for row in some]
    model["before"] = least_relative([[1.0, row["p"]] for row in some], before)

    def errors(room: Any) -> list[float]:
        return [predicted(model | {"room": [room[0]]}, row)[1] / own_memory(row) - 1.0
                for row in some]  # fmt: skip

    model["room"] = least_squares(errors, [1.0]).x.tolist()
    return model


def predicted(model: Model, row: Record) -> tuple[float, float]:
    """Return seconds and bytes by the model."""
    seconds = (
        np.dot(model["rest"], rest_work(row))
        + 2.0 * np.dot(model["opening"], opening_work(row))
        + np.dot(model["fits"], fit_work(model, row))
    )
    memory = np.dot(model["before"], [1.0, row["p"]]) + fit_memory(row, model["room"][0])
    return float(seconds), float(memory)


def excess_slope(rows: list[Record], values: list[float], fixed: float) -> float:
    """Return the slope against the markers, both as logarithms, above a fixed cost."""
    p = [np.log(row["p"]) for row in rows]
    return float(np.polyfit(p, np.log(np.array(values) - fixed), 1)[0])


def print_table(rows: list[Record], model: Model) -> None:
    """Measured beside the model."""
    heads = (
        "n", "p", "q", "together", "penalties", "model", "passes", "model", "processor, s", "model",
        "memory, MB", "model", "wall, s", "selected", "causal", "row",
    )  # fmt: skip
    print(f"| {' | '.join(heads)} |")
    print("|---" * len(heads) + "|")
    for row in sorted(rows, key=lambda row: (row["q"], row["n"], row["p"])):
        seconds, memory = predicted(model, row)
        own = own_memory(row)
        cells = (
            f"{row['n']:,}", f"{row['p']:,}", f"{row['q']:,}", f"{row['together']}",
            f"{row['penalties']:.0f}", f"{penalties(model, row):.0f}",
            f"{row['fit_passes']:.0f}", f"{passes(model, row):.0f}",
            f"{row['seconds']:.1f}", f"{seconds:.1f} ({seconds / row['seconds'] - 1.0:+.0%})",
            f"{own / 1e6:,.0f}", f"{memory / 1e6:,.0f} ({memory / own - 1.0:+.0%})",
            f"{row['wall_seconds']:.0f}", f"{row['selected']}", f"{row['causal']}",
            "calibrates" if calibrates(row) else "checks",
        )  # fmt: skip
        print(f"| {' | '.join(cells)} |")
    print(f"\nLargest gap {max(row['gap'] for row in rows):.0e}")
    usual = compared(rows)
    times, sizes = [row["seconds"] for row in usual], [own_memory(row) for row in usual]
    print(
        f"Slopes against the markers at q = {SELECTED}: "
        f"time {excess_slope(usual, times, 0.0):.2f}, "
        f"above the time of working sets {excess_slope(usual, times, fixed_cost(model)[0]):.2f}; "
        f"memory {excess_slope(usual, sizes, 0.0):.2f}, "
        f"above that before the fits {excess_slope(usual, sizes, fixed_cost(model)[1]):.2f}"
    )


def fixed_cost(model: Model) -> tuple[float, float]:
    """Return seconds and bytes that do not depend on the markers, at the usual n and q."""
    factors = [0.5 * N * SELECTED**2, SELECTED**3]
    seconds = model["rest"][0] + MEMBERS * np.dot(model["fits"][2:], factors)
    return float(seconds), float(model["before"][0])


def extrapolate(model: Model) -> None:
    """Print what the model says of a biobank: one machine, and a cluster that opens the file."""
    n, p, m = BIOBANK
    for name, values in model.items():
        print(f"{name}: {', '.join(f'{value:.3g}' for value in values)}")
    for q in (SELECTED, 1240):
        row = {"n": n, "p": p, "members": m, "q": q}
        seconds, memory = predicted(model, row)
        size, chunks = together(row)
        print(f"\n{n:,} people, {p:,} markers, {m} half-samples of {q:,} markers:")
        print(f"- file: {p * -(-n // 4) / 1e9:.0f} GB, read {passes(model, row):.0f} times")
        print(f"- processor time: {seconds / 3600:.1f} hours")
        print(f"- memory beside the file: {memory / 1e9:.0f} GB, {size} members on each thread")
        each = fit_memory(row, model["room"][0]) - 8.0 * n * m
        print(f"- of it for each member: {each / THREADS / size / 1e9:.2f} GB; {chunks} chunks")
        print(f"- to a cluster that opens the file: {8 * n * m / 1e9:.1f} GB of weights")


def draw(rows: list[Record], model: Model, path: Path) -> None:
    """Time and memory against the number of columns, with the lines of the model."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt
    from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

    rows = compared(rows)
    p = np.array([row["p"] for row in rows])
    fine = np.geomspace(p.min(), p.max(), 50)
    model_lines = np.array([predicted(model, rows[0] | {"p": int(size)}) for size in fine])
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
    figure.suptitle(f"{N:,} people, {MEMBERS} halves of q = {SELECTED}, {THREADS} threads")
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
        if result_files.in_docs(arguments.csv):
            result_files.record("scale")
    model = fitted(rows)
    print_table(rows, model)
    if arguments.extrapolate:
        extrapolate(model)
    if arguments.plot is not None:
        draw(rows, model, arguments.plot)


if __name__ == "__main__":
    main()
