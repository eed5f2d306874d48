"""Every method and its peers on the same data: `python -m benchmarks.arena`.

`run` asks our methods, `peers` those of other packages, in environments of their own
(`python -m benchmarks.peers.environments` makes these), `published` repeats settings that others
have published, and `tables` writes docs/data/arena, the figures and docs/arena.md from the answers.
Answers are kept in a folder, and what is known is not asked again: a run that was stopped goes on
where it was, and a contestant whose version was raised is run again alone.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.arena import kinds as data
from benchmarks.arena.contestants import TARGETS, Contestant, ours, peers
from benchmarks.arena.page import write_all
from benchmarks.arena.published import studies
from benchmarks.arena.run import run, tasks
from benchmarks.arena.store import Answers

SETS = 16
"""Data sets of each kind."""
SMOKE = ("independent", "AR 0.5", "binary", "nothing matters")
"""Kinds of the smallest run."""
SMOKE_SETS = 2


def chosen(known: Mapping[str, Any], names: list[str] | None, what: str) -> list[Any]:
    """Return those that are named, or all."""
    for name in names or ():
        if name not in known:
            raise SystemExit(f"{what} must be one of {', '.join(known)}; got {name!r}.")
    return [known[name] for name in names or known]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", nargs="?", choices=("run", "peers", "published", "tables"),
                        default="run")  # fmt: skip
    parser.add_argument("--only", nargs="+", metavar="CONTESTANT")
    parser.add_argument("--kinds", nargs="+", metavar="KIND")
    parser.add_argument("--targets", nargs="+", metavar="TARGET", help='"FDR 0.1", ...')
    parser.add_argument("--sets", type=int, default=SETS, help="data sets of each kind")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--folder", type=Path, help="tables that lend their columns")
    parser.add_argument("--store", type=Path, default=Path(".bench/arena"))
    parser.add_argument("--smoke", action="store_true", help="a few minutes")
    options = parser.parse_args()
    if options.smoke:
        options.kinds, options.sets = options.kinds or list(SMOKE), SMOKE_SETS
    if options.folder is None:
        print("Without --folder the kinds with columns of real tables are left out.")
    answers = Answers(options.store)
    if options.part == "tables":
        write_all(answers, options.folder, options.sets)
        return
    contestants: dict[str, Contestant] = peers() if options.part == "peers" else ours()
    known = data.kinds(options.folder)
    targets = chosen({one.name: one for one in TARGETS}, options.targets, "--targets")
    if options.part == "published":
        contestants |= peers()
        known = {one.kind.name: one.kind for one in studies(options.folder)}
        targets = [*TARGETS[:1]]
    todo = tasks(
        chosen(contestants, options.only, "--only"),
        chosen(known, options.kinds, "--kinds"),
        options.sets,
        targets,
    )
    run([*todo], answers, options.jobs)


if __name__ == "__main__":
    main()
