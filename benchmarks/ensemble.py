"""The ensemble engine beside its peers, in one run: `make bench-ensemble`.

Time for each member along the whole path, every answer judged by the same certificate
(`benchmarks.peers.problem`): resamples with squared loss, knockoff copies, labels, counts and
survival times. Times are medians of five runs; those of selica are taken before and after its
peers. Peers need their environments (`python -m benchmarks.peers.environments`); those that are
missing are left out, and so is riboflavin where $SELICA_DATA does not name its folder. A dash: the
peer does not have that loss; "slow": it needs more than half a minute a member (`settings`). With
`--threads 2` selica has two threads, and a peer's loop over members is shared by two processes of
one thread each, which keep their answers (R sends them back).
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.peers.__main__ import Record, measure
from benchmarks.peers.environments import missing
from benchmarks.peers.problem import (
    GLMS,
    KNOCKOFFS,
    TARGET_GAP,
    WORKLOADS,
    Problem,
    judge,
    make_problem,
)
from benchmarks.peers.run_peer import one_thread
from benchmarks.peers.settings import SETTINGS, TOO_SLOW

from benchmarks import result_files
from selica import __version__, solvers

PEERS = ("sklearn", "celer", "skglm", "adelie", "glmnet")
SHOWN = [*WORKLOADS, *KNOCKOFFS, *GLMS]
# Members of ours: an ensemble is what the engine is for, and chunks of members go together.
MEMBERS = {
    "320x128": 256,
    "1000x5000": 64,
    "20000x500": 64,
    "knockoffs-320x128": 256,
    "knockoffs-1000x800": 64,
    "logistic-1000x5000": 32,
    "poisson-1000x5000": 32,
    "cox-1000x5000": 32,
}
USUAL_MEMBERS = 128
JUDGED = 4
REPEATS = 5  # three before the peers, two after them
# Colours of Okabe and Ito (2008) and markers, for the figure.
LOOKS = {
    "selica": ("#D55E00", "D"),
    "sklearn": ("#0072B2", "o"),
    "celer": ("#009E73", "s"),
    "skglm": ("#CC79A7", "^"),
    "adelie": ("#E69F00", "v"),
    "glmnet": ("#000000", "x"),
}


def solver(problem: Problem) -> Callable[..., Any]:
    """selica on the first members of a problem, a function of their number and of `keep`."""
    run = (problem.X, problem.y, problem.lams)
    copies = problem.copies
    if copies is not None:
        ours = partial(solvers.knockoff_path_batch, *run, lambda b: copies[b].T)
        return lambda members, keep="coef": ours(members, keep=keep)
    name = {"squared": "lasso"}.get(problem.kind, problem.kind)
    many = getattr(solvers, f"{name}_path_batch")
    response = (problem.y, problem.event) if problem.kind == "cox" else problem.y
    options = {} if problem.kind == "cox" else {"fit_intercept": problem.intercept}

    def fit(members: int, keep: str = "coef") -> Any:
        weights = problem.weights[:members]
        return many(problem.X, response, problem.lams, weights, keep=keep, **options)

    return fit


def timed(problem: Problem, repeats: int) -> list[float]:
    """Seconds for each member, counts kept, after a warm-up."""
    fit, members = solver(problem), len(problem.weights)
    fit(min(members, 40), "counts")
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        fit(members, "counts")
        times.append((time.perf_counter() - start) / members)
    return times


def selica_record(problem: Problem, times: list[float], threads: int = 1) -> Record:
    """In the form of the peers' records, with the largest gap of the judged members."""
    gaps = judge(problem, solver(problem)(JUDGED).coef)
    return {
        "peer": "selica",
        "version": __version__,
        "workload": problem.name,
        "members": len(problem.weights),
        "threads": threads,
        "seconds_per_member": float(np.median(times)),
        "best_seconds_per_member": min(times),
        "max_gap": float(gaps.max()),
        "gap_met": bool(gaps.max() <= TARGET_GAP),
    }


def cell(record: Record | None) -> str:
    """Milliseconds, with a mark where the gap was missed."""
    if record is None:
        return "-"
    return f"{1e3 * record['seconds_per_member']:.3g}{'' if record['gap_met'] else ' (!)'}"


def advantage(mine: Record, others: list[Record]) -> str:
    """How many times the fastest peer that met the gap takes longer."""
    met = [r["seconds_per_member"] for r in others if r["gap_met"]]
    return f"{min(met) / mine['seconds_per_member']:.1f}" if met else "-"


def csv_rows(records: list[Record]) -> list[Record]:
    """One row for each solver on each workload; that of selica says how far it is ahead."""
    rows = []
    for one in records:
        same = [r for r in records if r["workload"] == one["workload"] and r["peer"] != "selica"]
        mine = one["peer"] == "selica"
        rows.append({
            "workload": one["workload"], "solver": one["peer"],
            "milliseconds": f"{1e3 * one['seconds_per_member']:.3g}",
            "gap": f"{one['max_gap']:.0e}" if mine else "",
            "note": "" if one["gap_met"] else "missed the gap",
            "times": advantage(one, same) if mine else "",
        })  # fmt: skip
    slow = [(peer, name) for peer, names in TOO_SLOW.items() for name in names]
    known = {one["workload"] for one in records}
    return rows + [
        dict.fromkeys(rows[0], "") | {"workload": name, "solver": peer, "note": "slow"}
        for peer, name in slow
        if name in known
    ]


def available(names: list[str]) -> list[str]:
    """Those of the workloads whose data are there."""
    if "riboflavin" in names and "SELICA_DATA" not in os.environ:
        print("riboflavin is skipped: SELICA_DATA does not name a folder")
        return [name for name in names if name != "riboflavin"]
    return names


def draw(records: list[Record], path: Path) -> None:
    """Time for each member on a logarithmic scale: one row a workload, one mark a solver."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    from selica.plots.style import RC

    rows = list(dict.fromkeys((r["workload"], r["threads"]) for r in records))
    many = len({threads for _, threads in rows}) > 1
    with rc_context(RC | {"axes.grid.axis": "x"}):
        figure = Figure(figsize=(7.0, 1.3 + 0.5 * len(rows)))
        axes = figure.add_subplot()
        for height, key in enumerate(rows):
            row = [r for r in records if (r["workload"], r["threads"]) == key]
            for r in row:
                colour, marker = LOOKS[r["peer"]]
                strength = 1.0 if r["gap_met"] else 0.3  # faint: missed the gap
                axes.scatter(
                    1e3 * r["seconds_per_member"],
                    height,
                    s=55,
                    color=colour,
                    marker=marker,
                    alpha=strength,
                    label=r["peer"],
                    zorder=2,
                )
            met = {r["peer"]: 1e3 * r["seconds_per_member"] for r in row if r["gap_met"]}
            mine, best = met.pop("selica", None), min(met.values(), default=None)
            if mine is not None and best is not None:
                axes.plot((mine, best), (height, height), color="0.75", lw=1.5, zorder=1)
                axes.annotate(
                    f"{best / mine:.1f} times",
                    (np.sqrt(mine * best), height),
                    xytext=(0, 5),
                    textcoords="offset points",
                    ha="center",
                    fontsize=8,
                    color="0.35",
                )
        handles = dict(zip(*reversed(axes.get_legend_handles_labels()), strict=True))
        names = [peer for peer in LOOKS if peer in handles]
        figure.legend(
            [handles[peer] for peer in names], names, loc="outside upper center", ncols=len(names)
        )
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter("{x:g}")
        axes.set_xlabel("milliseconds for each member along the whole path")
        words = {1: "one thread"}
        labels = [
            f"{name}, {words.get(threads, f'{threads} threads')}" if many else name
            for name, threads in rows
        ]
        axes.set_yticks(range(len(rows)), labels)
        axes.set_ylim(len(rows) - 0.5, -0.6)
        figure.savefig(path, dpi=160)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--workloads", nargs="+", choices=SHOWN, default=SHOWN)
    parser.add_argument("--peers", nargs="*", choices=PEERS, default=list(PEERS))
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--out", type=Path, help="the records as JSON")
    parser.add_argument("--csv", type=Path, help="the records as rows for docs/benchmarks.md")
    parser.add_argument("--plot", type=Path, help="a figure of the records")
    parser.add_argument(
        "--saved", type=Path, nargs="+", help="draw the records of these files, measure nothing"
    )
    options = parser.parse_args()
    if options.saved:
        saved = [record for path in options.saved for record in json.loads(path.read_text())]
        draw(saved, options.plot or options.saved[0].with_suffix(".png"))
        return
    one_thread("benchmarks.ensemble", kernels=options.threads)
    peers = [peer for peer in options.peers if not missing(peer)]
    names = available(options.workloads)
    records: list[Record] = []
    print("| workload | selica, ms (gap) | " + " | ".join(peers) + " | fastest peer / selica |")
    print("|---|---|" + "---|" * (len(peers) + 1))
    for name in names:
        problem = make_problem(name, MEMBERS.get(name, USUAL_MEMBERS))
        times = timed(problem, REPEATS - REPEATS // 2)
        row = {
            peer: measure(peer, name, options.threads) if name in SETTINGS[peer] else None
            for peer in peers
        }
        times += timed(problem, REPEATS // 2)  # the machine is not always the same
        mine = selica_record(problem, times, options.threads)
        others = [record for record in row.values() if record is not None]
        records += [mine, *others]
        shown = [f"{cell(mine)} ({mine['max_gap']:.0e})"]
        shown += ["slow" if name in TOO_SLOW.get(peer, ()) else cell(row[peer]) for peer in peers]
        print(f"| {name} | {' | '.join(shown)} | {advantage(mine, others)} |", flush=True)
        if options.out:
            options.out.write_text(json.dumps(records, indent=1) + "\n")
    if options.plot:
        draw(records, options.plot)
    if options.csv:
        others = {r["peer"]: r["version"] for r in records if r["peer"] != "selica"}
        versions = ", ".join(f"{peer} {version}" for peer, version in others.items())
        result_files.save(options.csv, csv_rows(records), versions)


if __name__ == "__main__":
    main()
