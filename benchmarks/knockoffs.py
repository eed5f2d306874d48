"""An ensemble of knockoff copies beside a loop over [X, copy]: `python -m benchmarks.knockoffs`.

Time for each copy along the whole path, one thread each, every answer judged by the same
certificate. The copies compared are drawn before the clock starts, for selica as for its peers;
beside it stands selica's time with `iid_copies` that are drawn as they are needed.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import numpy as np
from benchmarks.ensemble import PEERS, REPEATS, advantage, cell, selica_record, timed
from benchmarks.peers.__main__ import Record, measure
from benchmarks.peers.environments import missing
from benchmarks.peers.problem import KNOCKOFFS, TARGET_GAP, make_problem
from benchmarks.peers.run_peer import one_thread

from selica.sampling import iid_copies
from selica.solvers import knockoff_path_batch


def ours(name: str, copies: int) -> Record:
    """Seconds for each copy, drawn before and drawn on demand; gap of the judged ones."""
    problem = make_problem(name, copies)
    record = selica_record(problem, timed(problem, REPEATS))
    source = iid_copies(problem.X, random_state=0, members=copies).__getitem__
    drawn = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        knockoff_path_batch(problem.X, problem.y, problem.lams, source, copies, keep="counts")
        drawn.append((time.perf_counter() - start) / copies)
    return record | {"seconds_with_drawing": float(np.median(drawn))}


def main() -> None:
    one_thread("benchmarks.knockoffs")
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--workloads", nargs="+", choices=KNOCKOFFS, default=list(KNOCKOFFS))
    parser.add_argument("--peers", nargs="*", choices=PEERS, default=list(PEERS))
    parser.add_argument("--copies", type=int, default=256)
    parser.add_argument("--out", type=Path, help="the records as JSON")
    options = parser.parse_args()
    peers = [peer for peer in options.peers if not missing(peer)]
    records: list[Record] = []
    print(f"Milliseconds for each of {options.copies} copies (peers: fewer), one thread, median of")
    print(f"five; gap at most {TARGET_GAP:.0e}, or (!) missed.\n")
    print("| n x p | selica (gap) | with drawing | " + " | ".join(peers) + " | fastest / selica |")
    print("|---|---|---|" + "---|" * (len(peers) + 1))
    for name in options.workloads:
        mine = ours(name, options.copies)
        row = [measure(peer, name) for peer in peers]
        records += [mine, *row]
        cells = [
            f"{cell(mine)} ({mine['max_gap']:.0e})",
            f"{1e3 * mine['seconds_with_drawing']:.3g}",
            *map(cell, row),
            advantage(mine, row),
        ]
        print(f"| {name.removeprefix('knockoffs-')} | {' | '.join(cells)} |", flush=True)
        if options.out:
            options.out.write_text(json.dumps(records, indent=1) + "\n")


if __name__ == "__main__":
    main()
