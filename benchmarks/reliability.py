"""The long runs of docs/reliability.md: `python -m benchmarks.reliability`."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks import page_users
from selica import KnockoffSelection, StabilitySelection
from selica.amp import stability_amp

ROOT = Path(__file__).parents[1]


def fits() -> dict[str, Callable[[int], object]]:
    """A fit of a small table by its seed, for each engine."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 40))
    y = X[:, :3].sum(axis=1) + rng.standard_normal(60)
    return {
        "StabilitySelection": lambda seed: StabilitySelection(
            n_resamples=20, random_state=seed
        ).fit(X, y),
        "KnockoffSelection": lambda seed: KnockoffSelection(random_state=seed).fit(X, y),
        "stability_amp": lambda seed: stability_amp(X, y, 0.1 * (1 + seed % 5)),
    }


def growth(fit: Callable[[int], object], count: int, warm_up: int = 50) -> tuple[float, float]:
    """Memory in MB after the first `warm_up` fits, and how much more after `count` others."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        for seed in range(warm_up):
            fit(seed)
        before = page_users.resident()
        for seed in range(count):
            fit(seed)
    return before, page_users.resident() - before


def memory(count: int) -> None:
    for name, fit in fits().items():
        begin = time.perf_counter()
        before, more = growth(fit, count)
        seconds = time.perf_counter() - begin
        print(
            f"| memory | {name}, {count} fits | {before:.1f} MB, then {more:+.2f} MB "
            f"in {seconds:.0f} s |",
            flush=True,
        )


def fuzz(examples: int) -> None:
    """Cases by room and outcome, from the tests themselves."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "cases"
        log.touch()
        environment = os.environ | {"SELICA_FUZZ": str(examples), "SELICA_FUZZ_LOG": str(log)}
        command = [sys.executable, "-m", "pytest", "-q", "--tb=short", "--hypothesis-seed=0"]
        test = "tests/hardening/test_fuzz.py"
        done = subprocess.run([*command, test], cwd=ROOT, env=environment)
        lines = [line.split("\t") for line in log.read_text(encoding="utf-8").splitlines()]
    print(fuzz_table(lines))
    print(f"exit code {done.returncode}", flush=True)


def fuzz_table(lines: list[list[str]]) -> str:
    """Rows by room, and one of their sums."""
    outcomes: dict[str, Counter[str]] = defaultdict(Counter)
    seconds: Counter[str] = Counter()
    for kind, label, *rest in lines:
        if kind == "case":
            for room in (label.split(".")[0], "all"):
                outcomes[room][rest[0]] += 1
                seconds[room] += float(rest[1])  # type: ignore[assignment]
    rows = [
        "| room | cases | answered | refused | defects | seconds |",
        "|---|---|---|---|---|---|",
    ]
    for room in sorted(outcomes, key=lambda name: (name == "all", name)):
        count = outcomes[room]
        kinds = " | ".join(f"{count[name]:,}" for name in ("answered", "refused", "defect"))
        rows.append(f"| {room} | {count.total():,} | {kinds} | {seconds[room]:.0f} |")
    return "\n".join(rows)


def main() -> None:
    """Prints rows of the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", nargs="*", help="memory, page, fuzz; all of them by default")
    parser.add_argument("--fits", type=int, default=500)
    parser.add_argument("--users", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=300.0)
    parser.add_argument("--examples", type=int, default=80, help="cases for most functions")
    arguments = parser.parse_args()
    runs = {
        "memory": lambda: memory(arguments.fits),
        "page": lambda: page_users.run(arguments.users, arguments.seconds),
        "fuzz": lambda: fuzz(arguments.examples),
    }
    for name in arguments.runs or runs:
        if name not in runs:
            parser.error(f"{name} is none of {', '.join(runs)}")
        runs[name]()


if __name__ == "__main__":
    main()
