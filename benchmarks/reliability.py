"""The long runs of docs/reliability.md: `python -m benchmarks.reliability`."""

from __future__ import annotations

import argparse
import asyncio
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from selica import KnockoffSelection, StabilitySelection
from selica.amp import stability_amp

ROOT = Path(__file__).parents[1]


def resident(process: int | str = "self") -> float:
    """Memory that a process holds, in MB."""
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


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
        before = resident()
        for seed in range(count):
            fit(seed)
    return before, resident() - before


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


def users(count: int, seconds: float) -> None:
    """Pages that ask for other numbers again and again, all at once, of one server."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-c", "from selica.cli import main; main()", "app", "--no-browser"]
    server = subprocess.Popen([*command, "--port", str(port)], stdout=subprocess.DEVNULL)
    try:
        asyncio.run(_visit(f"http://127.0.0.1:{port}/", count, seconds, server.pid))
        if server.poll() is not None:
            print("| page | the server ended |")
    finally:
        server.terminate()
        server.wait(30)


async def _visit(address: str, count: int, seconds: float, server: int) -> None:
    from playwright.async_api import async_playwright

    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    async with async_playwright() as driver:
        browser = await driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        pages = [await browser.new_page() for _ in range(count)]
        for _ in range(300):
            try:
                await pages[0].goto(address)
                break
            except Exception:  # it is starting
                await asyncio.sleep(0.2)
        await asyncio.gather(*(_ask(page, address, 100 + 10 * k) for k, page in enumerate(pages)))
        before, views, failures = resident(server), 0, 0
        until = time.monotonic() + seconds
        waits: list[float] = []

        async def user(page: Any, number: int) -> None:
            nonlocal views, failures
            step = 0
            while time.monotonic() < until:
                step += 1
                begin = time.monotonic()
                try:
                    await _ask(page, address, 200 + 10 * ((37 * step + 61 * number) % 300))
                except Exception as error:
                    failures += 1
                    print(f"user {number}: {str(error).splitlines()[0]}", file=sys.stderr)
                views += 1
                waits.append(time.monotonic() - begin)

        await asyncio.gather(*(user(page, k) for k, page in enumerate(pages)))
        after = resident(server)
        await browser.close()
    print(
        f"| page | {count} users, {seconds:.0f} s | {views} views, {failures} failed, median "
        f"{np.median(waits):.1f} s, longest {max(waits):.1f} s; server {before:.0f} MB, then "
        f"{after - before:+.0f} MB |",
        flush=True,
    )


async def _ask(page: Any, address: str, n: int) -> None:
    """A view with this many samples, until its answer is there."""
    await page.goto(f"{address}?n={n}", timeout=60_000)
    await page.wait_for_selector("text=At an FDR of", timeout=60_000)
    if await page.locator("[data-testid=stException], .selica-box.problem").count():
        raise RuntimeError("the page shows an error")


def fuzz(examples: int) -> None:
    """Cases by outcome, from the tests themselves."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "cases"
        log.touch()
        environment = os.environ | {"SELICA_FUZZ": str(examples), "SELICA_FUZZ_LOG": str(log)}
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "--tb=short",
            "tests/hardening/test_fuzz.py",
        ]
        done = subprocess.run(command, cwd=ROOT, env=environment)
        outcomes = Counter(line.split()[-1] for line in log.read_text().splitlines())
    print(f"| fuzz | {outcomes.total()} cases | {dict(outcomes)}, exit code {done.returncode} |")


def main() -> None:
    """Prints rows of the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", nargs="*", help="memory, page, fuzz; all of them by default")
    parser.add_argument("--fits", type=int, default=500)
    parser.add_argument("--users", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=300.0)
    parser.add_argument("--examples", type=int, default=200, help="cases for each function")
    arguments = parser.parse_args()
    runs = {
        "memory": lambda: memory(arguments.fits),
        "page": lambda: users(arguments.users, arguments.seconds),
        "fuzz": lambda: fuzz(arguments.examples),
    }
    for name in arguments.runs or runs:
        if name not in runs:
            parser.error(f"{name} is none of {', '.join(runs)}")
        runs[name]()


if __name__ == "__main__":
    main()
