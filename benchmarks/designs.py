"""Memory and time of the kinds of columns beside dense doubles: `python -m benchmarks.designs`.

float32 and int8 (genotypes) against float64 with the same entries, and sparse columns with 1 % of
their entries against the same columns dense. Counts are kept, columns are standardised, an
intercept is fitted, members are bootstrap resamples. Every line comes from a process of its own,
which makes its input block by block; memory is the largest resident memory of that process after
the first call, minus that before it. `--quick` divides n and p by ten. Threads are those of
SELICA_NUM_THREADS.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
# Rows, columns, kinds of input (the first one is what the others are compared with).
DENSE = (
    (2000, 20_000, ("float64", "float32")),
    (2000, 20_000, ("float64 genotypes", "int8")),
    (5000, 100_000, ("float64 genotypes", "int8")),
)
SPARSE = ((1000, 5000), (1000, 20_000), (1000, 50_000))
DENSITY = 0.01
MEMBERS, PENALTIES, SMALLEST = 32, 20, 0.3
MOST_ACTIVE = 150  # a member stops there, as in a selection
REPEATS = 3  # calls, the median counts
BLOCK = 200  # columns made at a time
MEMORY_TARGET, TIME_TARGET = 0.3, 1.2
Record = dict[str, Any]


def peak() -> int:
    """Largest resident memory of this process so far, in bytes."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def column_block(kind: str, start: int, n: int) -> Any:
    """Columns from `start` on, as rows; the same for all kinds that are compared."""
    rng = np.random.default_rng([n, start])
    if kind in ("int8", "float64 genotypes"):
        share = rng.uniform(0.1, 0.5, (BLOCK, 1))
        return (rng.random((BLOCK, n)) < share).astype(np.int8) + (rng.random((BLOCK, n)) < share)
    block = rng.standard_normal((BLOCK, n), dtype=np.float32)
    if kind.endswith("sparse"):
        block *= rng.random((BLOCK, n)) < DENSITY
    return block


def dense_input(kind: str, n: int, p: int) -> Any:
    """(n, p) by columns, filled without a second array of its size."""
    X = np.empty((p, n), dtype=kind.split()[0])
    for start in range(0, p, BLOCK):
        X[start : start + BLOCK] = column_block(kind, start, n)[: p - start]
    return X.T


def sparse_input(n: int, p: int) -> Any:
    """The columns of kind "float64 sparse" as CSC."""
    from scipy import sparse

    blocks = [
        sparse.csc_array(column_block("sparse", start, n)[: p - start].T.astype(np.float64))
        for start in range(0, p, BLOCK)
    ]
    return sparse.hstack(blocks, format="csc")


def largest_penalty(X: Any, y: Any) -> float:
    """Over standardised columns, block by block."""
    largest = 0.0
    for start in range(0, X.shape[1], BLOCK):
        block = X[:, start : start + BLOCK]
        block = np.asarray(block if isinstance(X, np.ndarray) else block.todense(), dtype=float)
        spread = block.std(axis=0)
        products = np.abs(block.T @ (y - y.mean()))[spread > 0.0] / spread[spread > 0.0]
        largest = max(largest, products.max(initial=0.0))
    return largest


def measure(kind: str, n: int, p: int) -> Record:
    """Child: input, penalties, one call whose memory counts, further calls for the time."""
    from selica.sampling import resample_weights
    from selica.solvers import lasso_path_batch

    X = sparse_input(n, p) if kind == "sparse" else dense_input(kind, n, p)
    rng = np.random.default_rng(0)
    first = X[:, :20] if isinstance(X, np.ndarray) else X[:, :20].todense()
    signal = np.asarray(first, dtype=np.float64).sum(axis=1)
    y = signal / signal.std() + rng.standard_normal(n)
    lams = largest_penalty(X, y) * np.geomspace(1.0, SMALLEST, PENALTIES)
    weights = resample_weights(n, MEMBERS, "bootstrap", rate=1.0, random_state=1)
    options = {
        "fit_intercept": True,
        "standardize": True,
        "keep": "counts",
        "max_active": MOST_ACTIVE,
    }
    few = X[:, :50]
    lasso_path_batch(few, y, lams, weights[:8], **options)  # what is loaded once is not counted
    size = X.nbytes if isinstance(X, np.ndarray) else X.data.nbytes + X.indices.nbytes
    before, times = peak(), []
    for call in range(REPEATS):
        start = time.perf_counter()
        fit = lasso_path_batch(X, y, lams, weights, **options)
        times.append((time.perf_counter() - start) / MEMBERS)
        if call == 0:
            above = peak() - before
    return {
        "size": size,
        "above": above / size,
        "seconds": float(np.median(times)),
        "gap": float(np.nanmax(fit.gap)),
        "active": float(fit.n_active.max(axis=1).mean()),
    }


def child(kind: str, n: int, p: int) -> Record:
    """The record of a process of its own."""
    command = [sys.executable, "-m", "benchmarks.designs", "--child", kind, str(n), str(p)]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout)


def report_dense(scale: int) -> None:
    print(f"\nMemory above the input (asked for: at most {MEMORY_TARGET} of it) and time over that")
    print(f"of doubles (at most {TIME_TARGET}); {MEMBERS} members, {PENALTIES} penalties.\n")
    print("| n x p | input | input, GB | memory above / input | ms a member | / doubles | gap |")
    print("|---|---|---|---|---|---|---|")
    for n, p, kinds in DENSE:
        doubles = None
        for kind in kinds:
            r = child(kind, n // scale, p // scale)
            doubles = doubles or r["seconds"]
            cells = (
                f"{n // scale} x {p // scale}",
                kind,
                f"{r['size'] / 1e9:.3f}",
                f"{r['above']:.2f}",
                f"{1e3 * r['seconds']:.3g}",
                f"{r['seconds'] / doubles:.2f}",
                f"{r['gap']:.0e}",
            )
            print(f"| {' | '.join(cells)} |", flush=True)


def report_sparse(scale: int) -> None:
    print(f"\nColumns with {100 * DENSITY:g} % of their entries, sparse and dense.\n")
    print("| n x p | dense, ms a member | sparse, ms a member | dense / sparse | gap |")
    print("|---|---|---|---|---|")
    for n, p in SPARSE:
        size = (n // scale, p // scale)
        dense, few = child("float64 sparse", *size), child("sparse", *size)
        times = [1e3 * r["seconds"] for r in (dense, few)]
        cells = (f"{times[0]:.3g}", f"{times[1]:.3g}", f"{times[0] / times[1]:.2f}")
        print(f"| {size[0]} x {size[1]} | {' | '.join(cells)} | {few['gap']:.0e} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--parts", nargs="+", default=["dense", "sparse"])
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows and columns")
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        kind, n, p = options.child
        print(json.dumps(measure(kind, int(n), int(p))))
        return
    scale = 10 if options.quick else 1
    if "dense" in options.parts:
        report_dense(scale)
    if "sparse" in options.parts:
        report_sparse(scale)


if __name__ == "__main__":
    main()
