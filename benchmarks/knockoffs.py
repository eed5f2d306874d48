"""An ensemble of knockoff copies beside a loop over [X, copy]: `python -m benchmarks.knockoffs`.

Time for each copy along the whole path, one thread each, every answer judged by the same
certificate. The copies compared are drawn before the clock starts, for selica as for its peers;
beside it stands selica's time with `iid_copies` that are drawn as they are needed.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.ensemble import JUDGED, PEERS, advantage, cell, selica_record
from benchmarks.peers.__main__ import Record, measure
from benchmarks.peers.environments import missing
from benchmarks.peers.problem import KNOCKOFFS, TARGET_GAP, Array, judge, make_problem
from benchmarks.peers.run_peer import one_thread

from selica.sampling import iid_copies
from selica.solvers import knockoff_path_batch


def ours(name: str, copies: int, repeats: int) -> Record:
    """Best seconds for each copy, drawn before and drawn on demand; gap of the judged ones."""
    problem = make_problem(name, copies)
    stored = problem.copies
    assert stored is not None
    run: tuple[Any, ...] = (problem.X, problem.y, problem.lams)

    def held(b: int) -> Array:
        return stored[b].T

    drawn = iid_copies(problem.X, random_state=0, members=copies).__getitem__
    knockoff_path_batch(*run, held, min(copies, 40), keep="counts")

    def timed(source: Callable[[int], Array]) -> float:
        start = time.perf_counter()
        knockoff_path_batch(*run, source, copies, keep="counts")
        return (time.perf_counter() - start) / copies

    times = [(timed(held), timed(drawn)) for _ in range(repeats)]
    fit = knockoff_path_batch(*run, held, JUDGED)
    best, with_drawing = np.min(times, axis=0)
    record = selica_record(name, copies, best, judge(problem, fit.coef))
    return record | {"seconds_with_drawing": with_drawing}


def main() -> None:
    one_thread("benchmarks.knockoffs")
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--workloads", nargs="+", choices=KNOCKOFFS, default=list(KNOCKOFFS))
    parser.add_argument("--peers", nargs="*", choices=PEERS, default=list(PEERS))
    parser.add_argument("--copies", type=int, default=256)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--out", type=Path, help="the records as JSON")
    options = parser.parse_args()
    peers = [peer for peer in options.peers if not missing(peer)]
    records: list[Record] = []
    print(f"Milliseconds for each of {options.copies} copies (peers: fewer), one thread, best run;")
    print(f"gap at most {TARGET_GAP:.0e}, or (!) missed.\n")
    print("| n x p | selica (gap) | with drawing | " + " | ".join(peers) + " | fastest / selica |")
    print("|---|---|---|" + "---|" * (len(peers) + 1))
    for name in options.workloads:
        before = ours(name, options.copies, options.repeats)
        row = [measure(peer, name) for peer in peers]
        after = ours(name, options.copies, options.repeats)  # interleaved, as the machine varies
        for key in ("seconds_per_member", "seconds_with_drawing"):
            before[key] = min(before[key], after[key])
        records += [before, *row]
        cells = [
            f"{cell(before)} ({before['max_gap']:.0e})",
            f"{1e3 * before['seconds_with_drawing']:.3g}",
            *map(cell, row),
            advantage(before, row),
        ]
        print(f"| {name.removeprefix('knockoffs-')} | {' | '.join(cells)} |", flush=True)
        if options.out:
            options.out.write_text(json.dumps(records, indent=1) + "\n")


if __name__ == "__main__":
    main()
