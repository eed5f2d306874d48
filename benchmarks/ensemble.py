"""The ensemble engine beside its peers, in one run: `make bench-ensemble`.

Time for each member along the whole path, every answer judged by the same certificate
(`benchmarks.peers.problem`). Peers need their environments
(`python -m benchmarks.peers.environments`); those that are missing are left out, and so is
riboflavin where $SELICA_DATA does not name its folder. With `--threads 2` selica has two threads,
and a peer's loop over members is shared by two processes of one thread each, which keep their
answers (R sends them back).
"""

from __future__ import annotations

import argparse
import json
import os
import time
from pathlib import Path

import numpy as np
from benchmarks.peers.__main__ import Record, measure
from benchmarks.peers.environments import missing
from benchmarks.peers.problem import TARGET_GAP, WORKLOADS, Array, judge, make_problem
from benchmarks.peers.run_peer import one_thread

from selica import __version__
from selica.solvers import lasso_path_batch

PEERS = ("sklearn", "celer", "skglm", "adelie", "glmnet")
# Members of ours: an ensemble is what the engine is for, and chunks of 32 go together.
MEMBERS = {"320x128": 256, "200x1000": 128, "71x4088": 128, "1000x5000": 64, "20000x500": 64}
JUDGED = 4
# Colours of Okabe and Ito (2008) and markers, for the figure.
LOOKS = {
    "selica": ("#D55E00", "D"),
    "sklearn": ("#0072B2", "o"),
    "celer": ("#009E73", "s"),
    "skglm": ("#CC79A7", "^"),
    "adelie": ("#E69F00", "v"),
    "glmnet": ("#000000", "x"),
}


def ours(name: str, repeats: int, threads: int) -> Record:
    """Seconds for each member (best of several), and the largest gap of the judged ones."""
    problem = make_problem(name, MEMBERS.get(name, 128))
    run = (problem.X, problem.y, problem.lams)
    lasso_path_batch(*run, problem.weights[:40], keep="counts")
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        lasso_path_batch(*run, problem.weights, keep="counts")
        times.append((time.perf_counter() - start) / len(problem.weights))
    fit = lasso_path_batch(*run, problem.weights[:JUDGED])
    gaps = judge(problem, fit.coef)
    return selica_record(name, len(problem.weights), min(times), gaps, threads)


def selica_record(name: str, members: int, seconds: float, gaps: Array, threads: int = 1) -> Record:
    """In the form of the peers' records."""
    return {
        "peer": "selica",
        "version": __version__,
        "workload": name,
        "members": members,
        "threads": threads,
        "seconds_per_member": seconds,
        "max_gap": float(gaps.max()),
        "gap_met": bool(gaps.max() <= TARGET_GAP),
    }


def cell(record: Record) -> str:
    """Milliseconds, with a mark where the gap was missed."""
    return f"{1e3 * record['seconds_per_member']:.3g}{'' if record['gap_met'] else ' (!)'}"


def advantage(mine: Record, others: list[Record]) -> str:
    """How many times the fastest peer that met the gap takes longer."""
    met = [r["seconds_per_member"] for r in others if r["gap_met"]]
    return f"{min(met) / mine['seconds_per_member']:.1f}" if met else "-"


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
    parser.add_argument("--workloads", nargs="+", choices=WORKLOADS, default=list(WORKLOADS))
    parser.add_argument("--peers", nargs="*", choices=PEERS, default=list(PEERS))
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--out", type=Path, help="the records as JSON")
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
        mine = ours(name, options.repeats, options.threads)
        row = [measure(peer, name, options.threads) for peer in peers]
        again = ours(name, options.repeats, options.threads)  # the machine is not always the same
        mine = min(mine, again, key=lambda r: r["seconds_per_member"])
        records += [mine, *row]
        cells = [f"{cell(mine)} ({mine['max_gap']:.0e})", *map(cell, row), advantage(mine, row)]
        print(f"| {name} | {' | '.join(cells)} |", flush=True)
        if options.out:
            options.out.write_text(json.dumps(records, indent=1) + "\n")
    if options.plot:
        draw(records, options.plot)


if __name__ == "__main__":
    main()
