"""Time one peer on one workload: `python -m benchmarks.peers.run_peer --peer celer --workload 0`.

Run it from the repository's root with the Python of any environment that has NumPy and the peer
(glmnet: NumPy, and Rscript on the path). A member at two penalties comes first, so compilation is
not timed; the certificate is computed after the clock has stopped. Runs are repeated, and their
median counts; none is begun after a minute. The record is printed as JSON. With
`--threads 2` members are shared by two processes (for R: two forks), half of them to each, the best
a loop over members can do; every library inside has one thread.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from . import adapters, glm_adapters
from .problem import TARGET_GAP, Array, Problem, judge, make_problem, workload_name
from .settings import SETTINGS

ONE_THREAD = {
    f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL", "NUMBA", "BLIS")
}
LONGEST = 60.0  # seconds, after which no repeat begins
Timing = tuple[float, float]  # wall and processor seconds of the whole ensemble
Answer = tuple[Array, "Array | None"]  # W (B, L, p), dual points (B, L, n)


_solve: adapters.Solve | None = None  # forked processes find it here


def _forked(b: int) -> float:
    """Processor seconds of a member; its answer stays here, so that no time goes into sending."""
    assert _solve is not None
    start = time.process_time()
    _solve(b)
    return time.process_time() - start


@contextmanager
def _free_cores() -> Iterator[None]:
    """Gives back the cores: adelie binds its process, and so all forks of it, to one of them."""
    cores = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else None
    yield
    if cores is not None:
        os.sched_setaffinity(0, cores)


def time_python(
    problem: Problem, peer: str, way: str, tol: float, threads: int, repeats: int
) -> tuple[Answer, list[Timing], str]:
    """The ensemble `repeats` times in this process, or shared by `threads` forks of it."""
    global _solve
    adapters.quiet()
    with _free_cores():
        make = (adapters if problem.kind == "squared" else glm_adapters).ADAPTERS[peer]
        make(replace(problem, lams=problem.lams[:2]), way, tol)(0)
        _solve = solve = make(problem, way, tol)
    members = range(len(problem.weights))
    timings: list[Timing] = []
    if threads > 1:
        with multiprocessing.get_context("fork").Pool(threads) as pool:
            pool.map(_forked, [0] * threads, chunksize=1)
            while len(timings) < repeats and _walls(timings) < LONGEST:
                start = time.perf_counter()
                cpus = pool.map(_forked, members, chunksize=-(-len(members) // threads))
                timings.append((time.perf_counter() - start, sum(cpus)))
        answers = [solve(b) for b in members]  # what forks have answered is the same
    while threads == 1 and len(timings) < repeats and _walls(timings) < LONGEST:
        start, cpu = time.perf_counter(), time.process_time()
        answers = [solve(b) for b in members]
        timings.append((time.perf_counter() - start, time.process_time() - cpu))
    W = np.stack([_padded(a[0], len(problem.lams)) for a in answers])
    duals = None if answers[0][1] is None else np.stack([a[1] for a in answers])
    return (W, duals), timings, adapters.version(peer)


def _walls(timings: list[Timing]) -> float:
    return sum(wall for wall, _ in timings)


def _padded(path: Array, length: int) -> Array:
    """NaN where a peer stopped before the end of the path."""
    full = np.full((length, path.shape[1]), np.nan)
    full[: len(path)] = path
    return full


def time_glmnet(
    problem: Problem, way: str, tol: float, threads: int, repeats: int
) -> tuple[Answer, list[Timing], str]:
    """R, through raw files in a temporary folder; R holds the clock."""
    n, p = problem.X.shape
    B, L = len(problem.weights), len(problem.lams)
    copies = np.empty(0) if problem.copies is None else problem.copies
    columns = p if problem.copies is None else 2 * p
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "X").write_bytes(problem.X.tobytes("F"))
        (folder / "copies").write_bytes(copies.tobytes())
        event = np.empty(0) if problem.event is None else problem.event
        (folder / "event").write_bytes(event.tobytes())
        for part in ("y", "weights", "lams"):
            (folder / part).write_bytes(getattr(problem, part).tobytes())
        script = str(Path(__file__).with_name("glmnet.R"))
        numbers = [str(v) for v in (n, p, L, B, way, tol, threads, repeats)]
        command = ["Rscript", script, name, *numbers, problem.kind, str(LONGEST)]
        run = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        W = np.fromfile(folder / "W").reshape(B, L, columns)
        timings = [
            (float(wall), float(cpu))
            for wall, cpu in map(str.split, (folder / "times").read_text().splitlines())
        ]
    return (W, None), timings, run.stdout.strip()


def run(
    peer: str,
    workload: str,
    members: int,
    threads: int = 1,
    repeats: int = 1,
    way: str | None = None,
    tol: float | None = None,
    seed: int = 0,
    out: Path | None = None,
) -> dict[str, Any]:
    """One record; `way` and `tol` are those of `settings` unless given."""
    if way is None or tol is None:
        default_way, default_tol = SETTINGS[peer][workload]
        way, tol = way or default_way, default_tol if tol is None else tol
    problem = make_problem(workload, members, seed)
    if peer == "glmnet":
        (W, duals), timings, version = time_glmnet(problem, way, tol, threads, repeats)
    else:
        (W, duals), timings, version = time_python(problem, peer, way, tol, threads, repeats)
    gaps = judge(problem, W, duals)
    data = b"".join(
        part.tobytes() for part in (problem.X, problem.weights, problem.copies) if part is not None
    )
    walls, cpus = np.array(timings).T / members
    record = {
        "peer": peer,
        "version": version,
        "workload": workload,
        "way": way,
        "tol": tol,
        "members": members,
        "threads": threads,
        "repeats": len(timings),
        "seed": seed,
        "seconds_per_member": float(np.median(walls)),
        "best_seconds_per_member": walls.min(),
        "cpu_seconds_per_member": cpus.min(),
        "max_gap": gaps.max(),
        "median_gap": float(np.median(gaps)),
        "gap_met": bool(gaps.max() <= TARGET_GAP),
        "problem": hashlib.sha256(data).hexdigest()[:12],
    }
    if out is not None:
        np.savez_compressed(out, W=W, gaps=gaps, lams=problem.lams, record=json.dumps(record))
        out.with_suffix(".json").write_text(json.dumps(record, indent=1) + "\n")
    return record


def one_thread(module: str, kernels: int = 1) -> None:
    """Start again with one thread a library: NumPy is already loaded with those it found.

    `kernels` is for selica alone.
    """
    wanted = ONE_THREAD | {"SELICA_NUM_THREADS": str(kernels)}
    if any(os.environ.get(name) != value for name, value in wanted.items()):
        command = [sys.executable, "-m", module, *sys.argv[1:]]
        os.execve(sys.executable, command, os.environ | wanted)


def main() -> None:
    """Parse, run, print; exit code 1 when the gap was not met."""
    one_thread("benchmarks.peers.run_peer")
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--peer", required=True, choices=[*adapters.ADAPTERS, "glmnet"])
    parser.add_argument("--workload", required=True, type=workload_name, help="name or position")
    parser.add_argument("--members", type=int, default=4)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=1, help="the median counts")
    parser.add_argument("--way", help="route through the peer, see adapters.py")
    parser.add_argument("--tol", type=float, nargs="+", help="several: one record each")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, help="coefficients as .npz, and the record as .json")
    options = vars(parser.parse_args())
    met = True
    for tol in options.pop("tol") or [None]:
        record = run(**options, tol=tol)
        met = met and record["gap_met"]
        print(json.dumps(record), flush=True)
        if not record["gap_met"]:
            sentence = f"{record['peer']} on {record['workload']}: gap {record['max_gap']:.1e}"
            print(f"{sentence} misses {TARGET_GAP:.0e}", file=sys.stderr)
    sys.exit(not met)


if __name__ == "__main__":
    main()
