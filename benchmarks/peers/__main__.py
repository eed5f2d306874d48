"""All peers on all workloads: `python -m benchmarks.peers`, after `benchmarks.peers.environments`.

Prints a table and writes the records to --out. Each peer runs in a process of its own environment.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
from pathlib import Path
from typing import Any

from .environments import ROOT, missing, python_of
from .settings import SETTINGS

# Members and repeats (the median counts): enough for a stable time, short enough to wait for.
PLAN: dict[str, tuple[int, int]] = {
    "320x128": (32, 5),
    "200x1000": (8, 5),
    "71x4088": (8, 5),
    "1000x5000": (3, 5),
    "20000x500": (3, 5),
    "riboflavin": (8, 5),
    "knockoffs-320x128": (32, 5),
    "knockoffs-1000x800": (3, 5),
    "single-1000x400": (16, 5),
    "single-knockoffs-1000x400": (16, 5),
    "single-1000x5000": (4, 5),
    "single-knockoffs-1000x5000": (3, 5),
    "single-5000x2000": (4, 5),
    "single-knockoffs-5000x2000": (3, 5),
    "logistic-200x1000": (4, 5),
    "poisson-200x1000": (4, 5),
    "cox-200x1000": (1, 5),
    "logistic-1000x5000": (2, 5),
    "poisson-1000x5000": (2, 5),
    "cox-1000x5000": (1, 5),
}
Record = dict[str, Any]


def measure(peer: str, workload: str, threads: int = 1, *extra: str) -> Record:
    """The record of one peer on one workload, from a process of its environment."""
    members, repeats = PLAN[workload]
    members += -members % threads  # no process without work at the end
    numbers = {"members": members, "repeats": repeats, "threads": threads}
    options = [f"--{name}={value}" for name, value in numbers.items()]
    command = [python_of(peer), "-m", "benchmarks.peers.run_peer", "--peer", peer]
    command += ["--workload", workload, *options, *extra]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
    if not done.stdout:
        raise RuntimeError(f"{peer} on {workload} failed")
    return json.loads(done.stdout.splitlines()[-1])


def table(records: list[Record]) -> str:
    """Markdown: milliseconds a member, the fastest in bold, with the largest gap."""
    peers = list(dict.fromkeys(r["peer"] for r in records))
    titles = {r["peer"]: f"{r['peer']} {r['version']}" for r in records}
    lines = ["| workload | threads | " + " | ".join(titles[p] for p in peers) + " |"]
    lines.append("|---|---|" + "---|" * len(peers))
    for key in dict.fromkeys((r["workload"], r["threads"]) for r in records):
        cells = {r["peer"]: r for r in records if (r["workload"], r["threads"]) == key}
        met = [r["seconds_per_member"] for r in cells.values() if r["gap_met"]]
        shown = []
        for peer in peers:
            if (r := cells.get(peer)) is None:
                shown.append("-")
                continue
            time = f"{1e3 * r['seconds_per_member']:.3g} ms"
            if met and r["seconds_per_member"] == min(met):
                time = f"**{time}**"
            missed = "" if r["gap_met"] else ", missed"
            shown.append(f"{time} ({r['way']}, gap {r['max_gap']:.0e}{missed})")
        lines.append(f"| {key[0]} | {key[1]} | " + " | ".join(shown) + " |")
    return "\n".join(lines)


def main() -> None:
    """Measure workload by workload, so that the peers of one row meet the same machine."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--peers", nargs="+", choices=SETTINGS, default=list(SETTINGS))
    parser.add_argument("--workloads", nargs="+", choices=PLAN, default=list(PLAN))
    parser.add_argument("--threads", nargs="+", type=int, default=[1])
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    reasons = {peer: missing(peer) for peer in options.peers}
    for reason in filter(None, reasons.values()):
        print(reason)
    if "riboflavin" in options.workloads and "SELICA_DATA" not in os.environ:
        print("riboflavin is skipped: SELICA_DATA does not name a folder")
        options.workloads.remove("riboflavin")
    records: list[Record] = []
    for workload in options.workloads:
        for threads in options.threads:
            for peer in [peer for peer, reason in reasons.items() if reason is None]:
                if workload not in SETTINGS[peer]:
                    continue
                records.append(measure(peer, workload, threads))
                if options.out:
                    options.out.write_text(json.dumps(records, indent=1) + "\n")
    print(table(records))


if __name__ == "__main__":
    main()
