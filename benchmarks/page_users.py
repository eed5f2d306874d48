"""People at the page: each moves sliders, changes tabs and uploads tables, all of one server.

`python -m benchmarks.reliability page`
"""

from __future__ import annotations

import asyncio
import os
import random
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

WAIT = 60_000
"""Milliseconds: someone who waits longer counts as an error."""
PREDICT, PLAN, SELECT = "Predict", "Plan", "Select"
_SLIDER = ".field input[type=range]:visible"
_ANSWERED = """said => {
  const title = document.querySelector('.selica-wide caption')?.innerText ?? '';
  const text = title.replace(/\\s+/g, ' ');
  return said.every(one => text.includes(one)) && !document.querySelector('.selica-answer > i');
}"""
"""Whether the table has these words above it, and all of it is known."""
_UPLOAD = "[data-testid=stFileUploader] input[type=file]"


def resident(process: int | str = "self") -> float:
    """Memory that a process holds, in MB."""
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


@dataclass
class Notes:
    """What was seen."""

    waits: dict[str, list[float]] = field(default_factory=dict)
    """Of views, by what was done."""
    errors: list[str] = field(default_factory=list)
    memory: list[float] = field(default_factory=list)
    """In MB, at even times."""


@contextmanager
def server() -> Iterator[tuple[str, int]]:
    """Address and process of the page."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-c", "from selica.cli import main; main()", "app", "--no-browser"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen([*command, "--port", str(port)], **quiet)  # type: ignore[call-overload]
    try:
        until = time.monotonic() + 120.0
        while True:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/_stcore/health"):
                    break
            except OSError:
                if process.poll() is not None or time.monotonic() > until:
                    raise RuntimeError("the server did not start") from None
                time.sleep(0.02)
        yield f"http://127.0.0.1:{port}/", process.pid
        if process.poll() is not None:
            raise RuntimeError("the server did not live through it")
    finally:
        process.terminate()
        process.wait(30)


def chromium() -> dict[str, Any]:
    """How the browser is started."""
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    return {"executable_path": path, "args": ["--no-sandbox"]}


class User:
    """Someone with a window of their own."""

    def __init__(self, page: Any, address: str, number: int, notes: Notes) -> None:
        self.page, self.address, self.notes, self.number = page, address, notes, number
        self.rng = random.Random(number)
        self.tab = PREDICT

    async def arrive(self) -> None:
        """Opens the page."""
        await self.page.goto(self.address, timeout=WAIT)
        await self.page.wait_for_function(_ANSWERED, arg=["What procedures reach"], timeout=WAIT)
        self.tab = PREDICT

    async def stay(self, until: float) -> None:
        """Does one thing after another; what goes wrong is noted, and the page opened again."""
        while time.monotonic() < until:
            act = self._next()
            begin = time.monotonic()
            try:
                await act()
                if await self.page.locator("[data-testid=stException]").count():
                    raise RuntimeError("the page shows an exception")
            except Exception as error:
                said = str(error).splitlines()[0] if str(error) else type(error).__name__
                self.notes.errors.append(f"user {self.number}, {act.__name__}: {said}")
                await self._again()
            else:
                did = f"{self.tab}{act.__name__.replace('_', ' ')}"
                self.notes.waits.setdefault(did, []).append(time.monotonic() - begin)
            await asyncio.sleep(self.rng.uniform(0.1, 1.0))

    def _next(self) -> Callable[[], Any]:
        """Mostly a slider, at times another tab; every third user has tables."""
        if self.tab == SELECT:
            return self._upload if self.rng.random() < 0.6 else self._change_tab
        return self._move_slider if self.rng.random() < 0.8 else self._change_tab

    async def _move_slider(self) -> None:
        thumbs = self.page.locator(_SLIDER)
        await thumbs.first.wait_for(state="attached", timeout=WAIT)
        thumb = thumbs.nth(self.rng.randrange(await thumbs.count()))
        key = "ArrowRight" if self.rng.random() < 0.5 else "ArrowLeft"
        for _ in range(self.rng.randint(1, 6)):
            await thumb.press(key, timeout=WAIT)
        p, r2, fdr = [await self._typed(key) for key in ("p", "r2", "fdr")]
        said = [f"{p} variables", f"R² {r2}", f"FDR {fdr}"]
        if self.tab == PREDICT:
            said.append(f"{await self._typed('n')} samples")
        else:
            said.append(f"Samples for a power of {await self._typed('power')}:")
        await self.page.wait_for_function(_ANSWERED, arg=said, timeout=WAIT)

    async def _typed(self, key: str) -> str:
        place = self.page.locator(f".field[data-key={key}] input[type=text]:visible")
        text: str = await place.input_value(timeout=WAIT)
        return text

    async def _change_tab(self) -> None:
        tabs = [PREDICT, PLAN, *([SELECT] if self.number % 3 == 0 else [])]
        self.tab = self.rng.choice([tab for tab in tabs if tab != self.tab])
        await self.page.get_by_role("tab", name=self.tab).click(timeout=WAIT)
        if self.tab == SELECT:
            await self.page.wait_for_selector("text=Embedded data >> visible=true", timeout=WAIT)
            return
        said = {PREDICT: "What procedures reach", PLAN: "Samples for a power of"}[self.tab]
        await self.page.wait_for_function(_ANSWERED, arg=[said], timeout=WAIT)

    async def _upload(self) -> None:
        """A table of one's own, by a link that opens the tab."""
        link = f"{self.address}?tab=Select&data=My+own+table&method=Lasso"
        await self.page.goto(link, timeout=WAIT)
        await self.page.wait_for_selector(_UPLOAD, state="attached", timeout=WAIT)
        file = {"name": "table.csv", "mimeType": "text/csv", "buffer": self._table()}
        await self.page.set_input_files(_UPLOAD, file)
        await self.page.get_by_role("button", name="Select variables").click(timeout=WAIT)
        await self.page.wait_for_selector("text=variables selected", timeout=WAIT)

    def _table(self) -> bytes:
        rng = np.random.default_rng(self.rng.randrange(10**6))
        X = rng.standard_normal((200, 30))
        y = X[:, 0] - X[:, 1] + rng.standard_normal(200)
        lines = [",".join(f"{v:.5f}" for v in (*x, t)) for x, t in zip(X, y, strict=True)]
        return "\n".join([",".join([*(f"x{j}" for j in range(30)), "y"]), *lines]).encode()

    async def _again(self) -> None:
        try:
            await self.arrive()
        except Exception as error:
            said = str(error).splitlines()[0] if str(error) else type(error).__name__
            self.notes.errors.append(f"user {self.number}, again: {said}")


async def _visit(address: str, server: int, count: int, seconds: float) -> Notes:
    from playwright.async_api import async_playwright

    notes = Notes()
    async with async_playwright() as driver:
        browser = await driver.chromium.launch(**chromium())
        users = []
        for number in range(count):
            window = await browser.new_context(viewport={"width": 1400, "height": 1000})
            users.append(User(await window.new_page(), address, number, notes))
        await asyncio.gather(*(user.arrive() for user in users))
        until = time.monotonic() + seconds

        async def watch() -> None:
            while time.monotonic() < until:
                notes.memory.append(resident(server))
                await asyncio.sleep(1.0)

        await asyncio.gather(watch(), *(user.stay(until) for user in users))
        notes.memory.append(resident(server))
        await browser.close()
    return notes


def run(count: int, seconds: float) -> str:
    """Return what was seen; an error where the page had one."""
    with server() as (address, process):
        notes = asyncio.run(_visit(address, process, count, seconds))
    for error in notes.errors:
        print(error, file=sys.stderr)
    for did, waits in sorted(notes.waits.items()):
        middle, most = np.median(waits), max(waits)
        print(f"{did}: {len(waits)} views, median {middle:.2f} s, at most {most:.1f} s")
    every = np.concatenate(list(notes.waits.values()))
    quarters = [notes.memory[(len(notes.memory) - 1) * k // 4] for k in range(5)]
    said = (
        f"{count} users, {seconds:.0f} s: {every.size} views, {len(notes.errors)} errors; waits: "
        f"median {np.median(every):.2f} s, 95 % {np.quantile(every, 0.95):.1f} s, longest "
        f"{every.max():.1f} s; server in MB at the start and after each quarter: "
        f"{', '.join(f'{one:.0f}' for one in quarters)}, at most {max(notes.memory):.0f}"
    )
    if notes.errors:
        raise RuntimeError(said)
    return said
