"""The ensemble engine beside its peers, in one run: `make bench-ensemble`.

Time for each member along the whole path, one thread each, every answer judged by the same
certificate (`benchmarks.peers.problem`). Peers need their environments
(`python -m benchmarks.peers.environments`); those that are missing are left out.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from benchmarks.peers.__main__ import measure
from benchmarks.peers.environments import missing
from benchmarks.peers.problem import WORKLOADS, certificate, make_problem

from selica.solvers import lasso_path_batch

PEERS = ("sklearn", "celer", "skglm", "adelie", "glmnet")
# Members of ours: an ensemble is what the engine is for, and chunks of 32 go together.
MEMBERS = {"320x128": 256, "200x1000": 128, "71x4088": 128, "1000x5000": 64, "20000x500": 64}
JUDGED = 4


def ours(name: str, repeats: int) -> tuple[float, float]:
    """Seconds for each member (best of several), and the largest gap of the judged ones."""
    problem = make_problem(name, MEMBERS.get(name, 128))
    run = (problem.X, problem.y, problem.lams, problem.weights)
    lasso_path_batch(problem.X, problem.y, problem.lams, problem.weights[:40], keep="counts")
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        lasso_path_batch(*run, keep="counts")
        times.append((time.perf_counter() - start) / problem.weights.shape[0])
    few = problem.weights[:JUDGED]
    fit = lasso_path_batch(problem.X, problem.y, problem.lams, few)
    gap = certificate(problem.X, problem.y, few, problem.lams, fit.coef).max()
    return min(times), float(gap)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workloads", nargs="*", default=list(WORKLOADS)[:5])
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    peers = [peer for peer in PEERS if not missing(peer)]
    print("| workload | selica, ms (gap) | " + " | ".join(peers) + " | fastest peer / selica |")
    print("|---|---|" + "---|" * (len(peers) + 1))
    for name in options.workloads:
        before, gap = ours(name, options.repeats)
        records = {peer: measure(peer, name) for peer in peers}
        after, _ = ours(name, options.repeats)  # interleaved: the machine is not always the same
        mine = min(before, after)
        cells = [f"{1e3 * r['seconds_per_member']:.3g}" for r in records.values()]
        best = min((r["seconds_per_member"] for r in records.values()), default=np.nan)
        print(
            f"| {name} | {1e3 * mine:.3g} ({gap:.0e}) | {' | '.join(cells)} | {best / mine:.1f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
