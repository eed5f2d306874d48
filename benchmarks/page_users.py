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
OFTEN = 250
"""Milliseconds between two looks at a window, which cost the machine something, too."""
PREDICT, PLAN, SELECT = "Predict", "Plan", "Select"
_SLIDER = ".field input[type=range]:visible"
_SHOWN = """said => {
  const tables = [...document.querySelectorAll('.selica-wide table')];
  const table = tables.find(one => one.offsetParent);  // that of the open tab
  const text = (table?.caption?.innerText ?? '').replace(/\\s+/g, ' ');
  const known = [...table?.querySelectorAll('tr:not(.selica-former)') ?? []].slice(1);
  return table && said.every(one => text.includes(one))
    && known.filter(row => /≈/.test(row.innerText) || !/…/.test(row.innerText)).length > 1;
}"""
"""Whether the table has these words above it, and numbers of more than the best possible."""
_ANSWERED = """said => {
  const tables = [...document.querySelectorAll('.selica-wide table')];
  const table = tables.find(one => one.offsetParent);  // that of the open tab
  const text = (table?.caption?.innerText ?? '').replace(/\\s+/g, ' ');
  return table && said.every(one => text.includes(one)) && !/[…≈]/.test(table.innerText)
    && !table.querySelector('.selica-former');
}"""
"""Whether all numbers of the table are known, and none of them is an estimate."""
LOOK = (2.0, 8.0)
"""Seconds for which someone looks at an answer."""
FOLLOWED = 0.25
"""Share of the answers that someone waits for until all numbers are exact."""
_UPLOAD = "[data-testid=stFileUploader] input[type=file]"


def resident(process: int | str = "self") -> float:
    """Memory that a process holds, in MB."""
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


@dataclass
class Notes:
    """What was seen."""

    waits: dict[str, list[float]] = field(default_factory=dict)
    """Until there was an answer, which may be an estimate, by what was done."""
    whole: dict[str, list[float]] = field(default_factory=dict)
    """Until all numbers were exact, by the tab."""
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
    return {"executable_path": path, "args": ["--no-sandbox", "--disable-gpu"]}


class User:
    """Someone with a window of their own."""

    def __init__(self, page: Any, address: str, number: int, notes: Notes) -> None:
        self.page, self.address, self.notes, self.number = page, address, notes, number
        self.rng = random.Random(number)
        self.tab = PREDICT

    async def arrive(self) -> None:
        """Opens the page."""
        await self.page.goto(self.address, timeout=WAIT)
        await self._shows(["What procedures reach"])
        self.tab = PREDICT

    async def stay(self, until: float) -> None:
        """Does one thing after another; what goes wrong is noted, and the page opened again."""
        while time.monotonic() < until:
            act = self._next()
            begin = time.monotonic()
            try:
                said = await act()
                if await self.page.locator("[data-testid=stException]").count():
                    raise RuntimeError("the page shows an exception")
            except Exception as error:
                said = str(error).splitlines()[0] if str(error) else type(error).__name__
                self.notes.errors.append(f"user {self.number}, {act.__name__}: {said}")
                await self._again()
            else:
                did = f"{self.tab}{act.__name__.replace('_', ' ')}"
                self.notes.waits.setdefault(did, []).append(time.monotonic() - begin)
                if said and self.rng.random() < FOLLOWED:
                    await self._follow(said, begin)
            await asyncio.sleep(self.rng.uniform(*LOOK))

    async def _shows(self, said: list[str]) -> list[str]:
        """Waits for an answer to what was asked; returns it."""
        await self.page.wait_for_function(_SHOWN, arg=said, timeout=WAIT, polling=OFTEN)
        return said

    async def _follow(self, said: list[str], begin: float) -> None:
        """Waits until no number is an estimate."""
        try:
            await self.page.wait_for_function(_ANSWERED, arg=said, timeout=WAIT, polling=OFTEN)
        except Exception as error:
            self.notes.errors.append(f"user {self.number}, {self.tab}, whole answer: {error}"[:90])
        self.notes.whole.setdefault(self.tab, []).append(time.monotonic() - begin)

    def _next(self) -> Callable[[], Any]:
        """Mostly a slider, at times another tab; every third user has tables."""
        if self.tab == SELECT:
            return self._upload if self.rng.random() < 0.6 else self._change_tab
        return self._move_slider if self.rng.random() < 0.8 else self._change_tab

    async def _move_slider(self) -> list[str]:
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
        return await self._shows(said)

    async def _typed(self, key: str) -> str:
        place = self.page.locator(f".field[data-key={key}] input[type=text]:visible")
        text: str = await place.input_value(timeout=WAIT)
        return text

    async def _change_tab(self) -> list[str] | None:
        tabs = [PREDICT, PLAN, *([SELECT] if self.number % 3 == 0 else [])]
        self.tab = self.rng.choice([tab for tab in tabs if tab != self.tab])
        await self.page.get_by_role("tab", name=self.tab).click(timeout=WAIT)
        if self.tab == SELECT:
            await self.page.wait_for_selector("text=Embedded data >> visible=true", timeout=WAIT)
            return None
        said = {PREDICT: "What procedures reach", PLAN: "Samples for a power of"}[self.tab]
        return await self._shows([said])

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
            window = await browser.new_context(
                viewport={"width": 1000, "height": 600}, reduced_motion="reduce"
            )
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
    for tab, waits in sorted(notes.whole.items()):
        middle, most = np.median(waits), max(waits)
        print(f"{tab}, exact: {len(waits)} answers, median {middle:.2f} s, at most {most:.1f} s")
    every = np.concatenate(list(notes.waits.values()))
    exact = np.concatenate([*notes.whole.values(), np.zeros(0)])
    quarters = [notes.memory[(len(notes.memory) - 1) * k // 4] for k in range(5)]
    said = (
        f"{count} users, {seconds:.0f} s: {every.size} views, {len(notes.errors)} errors; waits: "
        f"median {np.median(every):.2f} s, 95 % {np.quantile(every, 0.95):.1f} s, longest "
        f"{every.max():.1f} s; until all numbers are exact: median {np.median(exact):.1f} s, "
        f"longest {exact.max(initial=0.0):.1f} s; server in MB "
        f" at the start and after each quarter: "
        f"{', '.join(f'{one:.0f}' for one in quarters)}, at most {max(notes.memory):.0f}"
    )
    if notes.errors:
        raise RuntimeError(said)
    return said
