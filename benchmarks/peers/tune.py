"""Find the table of `settings`: `python -m benchmarks.peers.tune --peer celer --workload 0`.

For each route through the peer: the loosest tolerance of the grid 1, 5, 2, 1, … a decade whose
certified gap is met by all members. Run it as `run_peer`, with the peer's Python. Routes are
compared by processor seconds, which other load on the machine disturbs less.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Iterator

from .problem import workload_name
from .run_peer import one_thread, run

# Routes, and where the search for a tolerance starts (much too loose).
WAYS: dict[str, tuple[list[str], float]] = {
    "sklearn": (["gram", "residual", "lars", "lars-gram"], 1e-5),
    "celer": (["prune", "grow"], 1e-5),
    "skglm": (["anderson", "gram"], 1e-5),
    "adelie": (["shared", "rows", "rows-strong", "cov"], 1e-8),
    "glmnet": (["naive", "covariance", "naive-rows", "covariance-rows"], 1e-9),
}
# The same for the other losses; "whole" stands for a peer without a choice.
GLM_WAYS: dict[str, dict[str, tuple[list[str], float]]] = {
    "logistic": {
        "celer": (["prune", "grow", "prune-newton", "grow-newton"], 1e-5),
        "skglm": (["anderson", "newton"], 1e-4),
        "adelie": (["shared", "rows", "rows-strong", "rows-tight"], 1e-6),
        "glmnet": (["Newton", "modified.Newton", "Newton-rows", "modified.Newton-rows"], 1e-7),
    },
    "poisson": {
        "skglm": (["newton"], 1e-4),
        "adelie": (["shared", "rows", "rows-strong", "rows-tight"], 1e-6),
        "glmnet": (["whole", "whole-rows"], 1e-7),
    },
    "cox": {
        "skglm": (["newton"], 1e-4),
        "adelie": (["shared", "rows", "rows-strong", "rows-tight"], 1e-6),
        "glmnet": (["whole", "whole-rows"], 1e-7),
    },
}


def grid(start: float, stop: float = 1e-17) -> Iterator[float]:
    """start, start/2, start/5, start/10, …"""
    for k in itertools.count():
        tol = float(f"{start / 10 ** (k // 3) / (1, 2, 5)[k % 3]:.1e}")
        if tol < stop:
            return
        yield tol


def main() -> None:
    """Print the loosest tolerance of each route with its time."""
    one_thread("benchmarks.peers.tune")
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--peer", required=True, choices=WAYS)
    parser.add_argument("--workload", required=True, type=workload_name)
    parser.add_argument("--members", type=int, default=8)
    parser.add_argument("--ways", nargs="+")
    parser.add_argument("--start", type=float)
    options = parser.parse_args()
    table = GLM_WAYS.get(options.workload.split("-")[0], WAYS)
    ways, start = table[options.peer]
    for way in options.ways or ways:
        for tol in grid(options.start or start):
            record = run(options.peer, options.workload, options.members, way=way, tol=tol)
            if record["gap_met"]:
                cpu, gap = 1e3 * record["cpu_seconds_per_member"], record["max_gap"]
                setting = f"{options.peer} {options.workload} {way} {tol:.0e}"
                print(f"{setting}: {cpu:.2f} ms a member (processor), gap {gap:.1e}", flush=True)
                break
        else:
            print(f"{options.peer} {options.workload} {way}: not reached", flush=True)


if __name__ == "__main__":
    main()
