"""All runs of docs/reliability.md, one after another: `python -m benchmarks.reliability`.

    python -m benchmarks.reliability                 all of them
    python -m benchmarks.reliability page fuzz       some
    python -m benchmarks.reliability --folder DIR    where files of 2 GB may lie

What a run says goes into docs/data/reliability.csv, with command, day, version and seconds.
"""

from __future__ import annotations

import argparse
import csv
import os
import platform
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks import dependencies, large_file, page_users, result_files
from selica import KnockoffSelection, StabilitySelection, __version__
from selica.amp import stability_amp

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "docs" / "data" / "reliability.csv"
COLUMNS = ("run", "command", "date", "version", "machine", "seconds", "verdict", "measured")
TESTS = (
    "tests/hardening",
    "tests/app",
    "tests/core/test_compiled.py",
    "tests/experiments/test_reproduction.py",
    "tests/experiments/test_store.py",
    "tests/selectors/test_keeping.py",
    "tests/solvers/test_cluster.py",
)
"""Tests that docs/reliability.md names."""


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


def memory(count: int) -> str:
    said = []
    for name, fit in fits().items():
        before, more = growth(fit, count)
        said.append(f"{name} {more:+.2f} MB of {before:.0f}")
    return f"{count} fits each: {', '.join(said)}"


def tests() -> str:
    """The tests that docs/reliability.md names, slow ones too."""
    return pytest(*TESTS)


def core(problems: int) -> str:
    """Random small problems for the core, with its memory checked."""
    said = command("make", "fuzz", f"PROBLEMS={problems}")
    return said.strip().splitlines()[-1]


def sanitize() -> str:
    return last_line(command("make", "sanitize"))


def fuzz(examples: int) -> str:
    """Cases by room and outcome, from the tests themselves."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "cases"
        log.touch()
        environment = {"SELICA_FUZZ": str(examples), "SELICA_FUZZ_LOG": str(log)}
        try:
            pytest(
                "tests/hardening/test_fuzz.py",
                "--hypothesis-seed=0",
                "-n",
                "2",
                environment=environment,
            )
        finally:
            text = log.read_text(encoding="utf-8")
    lines = [line.split("\t") for line in text.splitlines()]
    table = fuzz_table(lines)
    print(table)
    _, calls, answered, refused, defects, _ = table.splitlines()[-1].strip("| ").split(" | ")
    return f"{calls} calls, {answered} answered, {refused} refused, {defects} defects"


def pytest(*arguments: str, environment: dict[str, str] | None = None) -> str:
    """Run tests; return their last line."""
    start = [sys.executable, "-m", "pytest", "-q", "--tb=short", "-p", "no:cacheprovider"]
    return last_line(command(*start, *arguments, environment=environment))


def command(*words: str, environment: dict[str, str] | None = None) -> str:
    """Run a command and show what it prints; an error if it fails."""
    process = subprocess.Popen(
        words, cwd=ROOT, env=os.environ | (environment or {}), text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    said = []
    assert process.stdout is not None
    for line in process.stdout:
        said.append(line)
        print(line, end="", flush=True)
    if process.wait() != 0:
        raise RuntimeError(f"exit code {process.returncode}: {last_line(''.join(said))}")
    return "".join(said)


def last_line(said: str) -> str:
    return (said.strip().splitlines() or ["nothing was said"])[-1].strip("= ")


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


def record(name: str, said: str, verdict: str, seconds: float) -> None:
    """Put a run in the place of the former one of its name."""
    rows = {}
    if RESULTS.exists():
        with RESULTS.open(newline="", encoding="utf-8") as file:
            rows = {row["run"]: row for row in csv.DictReader(file)}
    rows[name] = dict(zip(COLUMNS, (
        name, f"python -m benchmarks.reliability {name}", time.strftime("%Y-%m-%d"), __version__,
        f"{os.cpu_count()} cores, Python {platform.python_version()}", f"{seconds:.0f}", verdict,
        said,
    ), strict=True))  # fmt: skip
    with RESULTS.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows(rows[one] for one in sorted(rows))


def main() -> None:
    """Run, print and record; the exit code says whether a run failed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("runs", nargs="*", help="all of them by default")
    parser.add_argument("--fits", type=int, default=500)
    parser.add_argument("--users", type=int, default=16)
    parser.add_argument("--seconds", type=float, default=600.0, help="how long users stay")
    parser.add_argument("--examples", type=int, default=400, help="cases for most functions")
    parser.add_argument("--problems", type=int, default=100_000, help="of the core")
    parser.add_argument("--size", type=float, default=2.0, help="GB of a large file")
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()))
    given = parser.parse_args()
    runs: dict[str, Callable[[], str]] = {
        "tests": tests,
        "memory": lambda: memory(given.fits),
        "large": lambda: large_file.run(given.folder, given.size),
        "page": lambda: page_users.run(given.users, given.seconds),
        "fuzz": lambda: fuzz(given.examples),
        "core": lambda: core(given.problems),
        "sanitize": sanitize,
        "audit": dependencies.run,
    }
    unknown = [name for name in given.runs if name not in runs]
    if unknown:
        parser.error(f"{unknown[0]} is none of {', '.join(runs)}")
    failed = False
    for name in given.runs or runs:
        begin = time.perf_counter()
        try:
            said, verdict = runs[name](), "holds"
        except Exception as error:
            said, verdict, failed = f"{type(error).__name__}: {error}", "fails", True
        record(name, said, verdict, time.perf_counter() - begin)
        print(f"| {name} | {said} | {verdict} |", flush=True)
    result_files.record("reliability")
    sys.exit(failed)


if __name__ == "__main__":
    main()
