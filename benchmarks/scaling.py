"""How the ensemble engine grows: `python -m benchmarks.scaling [--plot FILE]`.

Time against rows, columns, members and penalties, one after the other, with the power of each that
fits best, for the squared loss and for labels; memory of a large ensemble, in a process of its own;
time for each member of growing ensembles. Threads are those of the environment
(SELICA_NUM_THREADS, OPENBLAS_NUM_THREADS).
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
# The large ensemble: n, p, members, penalties, smallest penalty over the largest.
LARGE = (2000, 20_000, 200, 30, 0.05)
MEMORY_TARGET = 1.5  # GB (1e9 bytes), the design included
MEMBERS = (64, 256, 1024)
GROWTH = ("320x128", "200x1000")
# One of these is varied, the others stay at BASE.
BASE = {"n": 400, "p": 1000, "members": 32, "penalties": 30}
VARIED = {
    "n": (100, 200, 400, 800, 1600, 3200),
    "p": (250, 500, 1000, 2000, 4000, 8000),
    "members": (8, 16, 32, 64, 128, 256),
    "penalties": (10, 20, 40, 80, 160),
}
WORDS = {"n": "rows n", "p": "columns p", "members": "members B", "penalties": "penalties L"}
LOSSES = {"squared": "#0072B2", "logistic": "#D55E00"}
SIGNALS, SMALLEST = 10, 0.1
Times = dict[tuple[str, str], list[float]]  # loss and what is varied -> seconds


def peak() -> float:
    """Largest resident memory of this process so far, in GB."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e9


def memory(order: str) -> dict[str, Any]:
    """Child: the large ensemble, its design in rows (C) or columns (F); counts are kept."""
    from selica.sampling import resample_weights
    from selica.solvers import lasso_path_batch

    n, p, members, length, smallest = LARGE
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, p)) if order == "C" else rng.standard_normal((p, n)).T
    y = X[:, :20].sum(axis=1) + 2.0 * rng.standard_normal(n)
    weights = resample_weights(n, members, "bootstrap", rate=1.0, random_state=1)
    lams = np.abs(X.T @ y).max() * np.geomspace(1.0, smallest, length)
    record: dict[str, Any] = {"order": order, "before": peak()}
    start = time.perf_counter()
    fit = lasso_path_batch(X, y, lams, weights, keep="counts")
    record |= {"seconds": time.perf_counter() - start, "peak": peak(), "gap": float(fit.gap.max())}
    return record | {"active": float(fit.n_active[:, -1].mean())}


def report_memory() -> None:
    n, p, members, length, smallest = LARGE
    print(
        f"\nMemory: {n} x {p}, {members} members, {length} penalties down to {smallest} of the "
        f"largest, counts kept. The design alone is {8e-9 * n * p:.2f} GB.\n"
    )
    print("| design given in | before the call, GB | peak, GB | asked for | s | gap | active |")
    print("|---|---|---|---|---|---|---|")
    for order, words in (("C", "rows"), ("F", "columns")):
        command = [sys.executable, "-m", "benchmarks.scaling", "--child", order]
        done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
        r = json.loads(done.stdout)
        print(
            f"| {words} | {r['before']:.2f} | {r['peak']:.2f} | {MEMORY_TARGET} | "
            f"{r['seconds']:.1f} | {r['gap']:.0e} | {r['active']:.0f} |",
            flush=True,
        )


def report_members(repeats: int) -> None:
    from benchmarks.peers.problem import make_problem

    from selica.solvers import lasso_path_batch

    print(f"\nMembers: milliseconds for each along the whole path, best of {repeats} runs.\n")
    print("| workload | " + " | ".join(f"B = {B}" for B in MEMBERS) + " | last / first |")
    print("|---|" + "---|" * (len(MEMBERS) + 1))
    for name in GROWTH:
        problem = make_problem(name, max(MEMBERS))
        run = (problem.X, problem.y, problem.lams)
        lasso_path_batch(*run, problem.weights[:40], keep="counts")
        best = dict.fromkeys(MEMBERS, np.inf)
        for _ in range(repeats):  # interleaved: the machine is not always the same
            for B in MEMBERS:
                start = time.perf_counter()
                lasso_path_batch(*run, problem.weights[:B], keep="counts")
                best[B] = min(best[B], (time.perf_counter() - start) / B)
        cells = " | ".join(f"{1e3 * seconds:.3g}" for seconds in best.values())
        print(f"| {name} | {cells} | {best[MEMBERS[-1]] / best[MEMBERS[0]]:.2f} |", flush=True)


def seconds(loss: str, size: dict[str, int], repeats: int) -> float:
    """Median time of an ensemble of this size, counts kept; penalties to 0.1 of the largest."""
    from selica.sampling import resample_weights
    from selica.solvers import lasso_path_batch, logistic_path_batch

    n, p = size["n"], size["p"]
    rng = np.random.default_rng([n, p])
    X = np.asfortranarray(rng.standard_normal((n, p)))
    y = X[:, :SIGNALS].sum(axis=1) + 2.0 * rng.standard_normal(n)
    y = (y > 0.0).astype(np.float64) if loss == "logistic" else y
    top = np.abs(X.T @ (y - y.mean())).max()
    lams = top * np.geomspace(1.0, SMALLEST, size["penalties"])
    weights = resample_weights(n, size["members"], "bootstrap", rate=1.0, random_state=1)
    solve = logistic_path_batch if loss == "logistic" else lasso_path_batch
    times = []
    for _ in range(repeats + 1):
        start = time.perf_counter()
        solve(X, y, lams, weights, fit_intercept=True, keep="counts")
        times.append(time.perf_counter() - start)
    return float(np.median(times[1:]))


def power(sizes: tuple[int, ...], times: list[float]) -> float:
    """Least squares on logarithms."""
    return float(np.polyfit(np.log(sizes), np.log(times), 1)[0])


def report_growth(repeats: int, plot: Path | None) -> None:
    base = ", ".join(f"{value} {name}" for name, value in BASE.items())
    print(f"\nGrowth: milliseconds of an ensemble, median of {repeats}, around {base}.\n")
    times: Times = {}
    print("| varied | loss | time at each | power |")
    print("|---|---|---|---|")
    for varied, sizes in VARIED.items():
        for loss in LOSSES:
            times[loss, varied] = [seconds(loss, BASE | {varied: size}, repeats) for size in sizes]
            cells = ", ".join(
                f"{size}: {1e3 * t:.3g}" for size, t in zip(sizes, times[loss, varied], strict=True)
            )
            fitted = power(sizes, times[loss, varied])
            print(f"| {WORDS[varied]} | {loss} | {cells} | {fitted:.2f} |", flush=True)
    if plot:
        draw(times, plot)


def draw(times: Times, path: Path) -> None:
    """Four panels, logarithmic, with the fitted powers."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    from selica.plots.style import RC

    with rc_context(RC):
        figure = Figure(figsize=(7.0, 5.5))
        for panel, (varied, sizes) in enumerate(VARIED.items()):
            axes = figure.add_subplot(2, 2, panel + 1)
            for loss, colour in LOSSES.items():
                measured = times[loss, varied]
                label = f"{loss}, power {power(sizes, measured):.2f}"
                axes.loglog(sizes, 1e3 * np.array(measured), "o", color=colour, label=label)
                line = np.exp(
                    np.polyval(np.polyfit(np.log(sizes), np.log(measured), 1), np.log(sizes))
                )
                axes.loglog(sizes, 1e3 * line, color=colour, lw=1.0)
            axes.set_xlabel(WORDS[varied])
            axes.set_ylabel("milliseconds")
            axes.set_xticks(sizes, [str(size) for size in sizes])
            axes.minorticks_off()
            axes.legend(fontsize=8)
        figure.savefig(path, dpi=160)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--parts", nargs="+", default=["growth", "members", "memory"])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--plot", type=Path, help="a figure of the growth")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        print(json.dumps(memory(options.child)))
        return
    threads = os.environ.get("SELICA_NUM_THREADS", f"all {os.cpu_count()}")
    print(f"Python {platform.python_version()}, NumPy {np.__version__}, threads: {threads}")
    if "growth" in options.parts:
        report_growth(options.repeats, options.plot)
    if "members" in options.parts:
        report_members(options.repeats)
    if "memory" in options.parts:
        report_memory()


if __name__ == "__main__":
    main()
