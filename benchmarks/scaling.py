"""Memory, members and the first call of the ensemble engine: `python -m benchmarks.scaling`.

Every figure of memory and every first call comes from a process of its own. Threads are those of
the environment (NUMBA_NUM_THREADS, OPENBLAS_NUM_THREADS).
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
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
# The large ensemble: n, p, members, penalties, smallest penalty over the largest.
LARGE = (2000, 20_000, 200, 30, 0.05)
MEMORY_TARGET = 1.5  # GB (1e9 bytes), the design included
MEMBERS = (64, 256, 1024)
GROWTH = ("320x128", "200x1000")
FIRST = ("320x128", 256)
FIRST_TARGET = 1.5  # seconds


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


def first() -> dict[str, Any]:
    """Child: import, one ensemble, and what has been imported on the way."""
    start = time.perf_counter()
    from selica.solvers import lasso_path_batch

    imported = time.perf_counter()
    from benchmarks.peers.problem import make_problem

    problem = make_problem(*FIRST)
    made = time.perf_counter()
    lasso_path_batch(problem.X, problem.y, problem.lams, problem.weights, keep="counts")
    called = time.perf_counter()
    lasso_path_batch(problem.X, problem.y, problem.lams, problem.weights, keep="counts")
    return {
        "import": imported - start,
        "data": made - imported,
        "call": called - made,
        "again": time.perf_counter() - called,
        "sklearn": "sklearn" in sys.modules,
    }


CHILDREN: dict[str, Callable[..., dict[str, Any]]] = {"memory": memory, "first": first}


def child(name: str, *arguments: str) -> dict[str, Any]:
    """The record of a process of its own, with its wall clock from start to end."""
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.scaling", "--child", name, *arguments],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return {"wall": time.perf_counter() - start} | json.loads(done.stdout)


def report_memory() -> None:
    n, p, members, length, smallest = LARGE
    print(
        f"\nMemory: {n} x {p}, {members} members, {length} penalties down to {smallest} of the "
        f"largest, counts kept. The design alone is {8e-9 * n * p:.2f} GB.\n"
    )
    print("| design given in | before the call, GB | peak, GB | asked for | s | gap | active |")
    print("|---|---|---|---|---|---|---|")
    for order, words in (("C", "rows"), ("F", "columns")):
        r = child("memory", order)
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


def report_first(repeats: int) -> None:
    name, members = FIRST
    child("first")  # fills the kernel cache
    records = [child("first") for _ in range(repeats)]
    for r in records:
        r["whole"] = r["wall"] - r["again"]
    records.sort(key=lambda r: r["whole"])
    print(
        f"\nFirst call: {name}, {members} members, a fresh process with compiled kernels in the "
        f"cache; seconds, best of {repeats} (median of the whole).\n"
    )
    print("| whole process | asked for | import | data | first call | second call | sklearn |")
    print("|---|---|---|---|---|---|---|")
    r, median = records[0], records[len(records) // 2]["whole"]
    parts = " | ".join(f"{r[part]:.2f}" for part in ("import", "data", "call", "again"))
    loaded = "imported" if r["sklearn"] else "not imported"
    print(f"| {r['whole']:.2f} ({median:.2f}) | {FIRST_TARGET} | {parts} | {loaded} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--parts", nargs="+", default=["memory", "members", "first"])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--child", nargs="+", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        print(json.dumps(CHILDREN[options.child[0]](*options.child[1:])))
        return
    threads = os.environ.get("NUMBA_NUM_THREADS", f"all {os.cpu_count()}")
    print(f"Python {platform.python_version()}, NumPy {np.__version__}, kernel threads: {threads}")
    if "first" in options.parts:
        report_first(options.repeats)
    if "members" in options.parts:
        report_members(options.repeats)
    if "memory" in options.parts:
        report_memory()


if __name__ == "__main__":
    main()
