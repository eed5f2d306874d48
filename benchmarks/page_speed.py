"""How long the page takes to open, and to answer a slider: `python -m benchmarks.page_speed`.

Times are taken in the browser, from the key that moves a slider to three pictures: the first in
which the table or a curve belongs to the new value (where methods take long that is the best
possible, beside the former answer), the first with a method of the new value (on Plan an estimate
of its samples), and the one after which neither the table nor the curves change any more. Browser
and server share the machine's cores.
"""

from __future__ import annotations

import argparse
import itertools
import time
from typing import Any

import numpy as np
from benchmarks.page_users import chromium, server

GOAL = 300.0
"""Milliseconds for an answer."""
_SLIDERS = {
    "Predict": ("n", "p", "k", "r2", "fdr"),
    "Plan": ("power", "p", "k", "r2", "fdr"),
    "Theory": ("lam", "mu", "pi", "alpha"),
}
_KINDS = {
    "plain": "",
    "binary": "response=binary&prevalence=0.1",
    "counts": "response=counts",
    "survival": "response=survival",
    "ar1": "columns=ar1&corr=0.5",
    "block": "columns=block&corr=0.5",
}
"""Studies of other kinds, as the address has them."""
_QUIET = 400
"""Milliseconds without a change after which an answer counts as whole, if it does not say
otherwise."""
_PARTS = ("first", "method", "whole")
# When the table of the open tab first changed, when it first had a method of the new value, and
# when it or the curves last changed.
_WATCH = r"""() => {
  const shown = (what, part) => Array.from(document.querySelectorAll(what))
    .filter(one => one.getClientRects().length).map(part).join('|');
  const table = () => shown('.selica-wide table', one => one.innerText);
  const curves = () => shown('.selica-chart svg path.curve', one => one.getAttribute('d'));
  const methods = () => shown('.selica-wide tr:not(.selica-former)', row => row.innerText)
    .split('|').filter(row => /[0-9]/.test(row) && !/best possible/.test(row)).join('|');
  let text, lines, asked = false, before;
  window.addEventListener('keydown', () => {
    window.moved = performance.now();
    window.changed = window.first = window.method = null;
    [text, lines, before] = [table(), curves(), methods()];
  }, true);
  const look = () => {
    asked = false;
    const [now, drawn] = [table(), curves()];
    const other = now && now !== text;
    if (!other && (!drawn || drawn === lines)) return;
    [text, lines] = [now || text, drawn || lines];
    window.changed = performance.now();
    window.first = window.first || window.changed;
    const known = methods(), plain = !document.querySelector('.selica-answer');  // Theory
    if (plain || (known && known !== before)) window.method = window.method || window.changed;
  };
  new MutationObserver(() => {
    if (!asked) requestAnimationFrame(() => setTimeout(look, 0));
    asked = true;
  }).observe(document.body, {subtree: true, childList: true, attributes: true,
                            characterData: true});
}"""
_DONE = """quiet => window.method && performance.now() - window.changed > quiet
  && !document.querySelector('.selica-answer > i, .selica-wide .selica-former')"""


def first_view(browser: Any) -> tuple[float, float]:
    """Seconds from the command, and from the server's first answer, to table and curves."""
    page = browser.new_context(viewport={"width": 1400, "height": 1000}).new_page()
    begin = time.perf_counter()
    with server() as (address, _):
        answered = time.perf_counter()
        page.goto(address)
        page.wait_for_selector(".selica-wide table")
        page.wait_for_selector(".selica-chart svg path.curve")
        seen = time.perf_counter()
        page.context.close()
    return seen - begin, seen - answered


def moves(page: Any, slider: str, count: int) -> list[tuple[float, ...]]:
    """Milliseconds from a key to the first change, to a method and to the last change."""
    thumb = page.locator(f".field[data-key={slider}] input[type=range]:visible")
    times = []
    for _ in range(count):
        thumb.focus()
        page.keyboard.press("ArrowLeft" if slider == "r2" else "ArrowRight")  # room to move
        page.wait_for_function(_DONE, arg=_QUIET, polling=50, timeout=180_000)
        at = "[window.first, window.method, window.changed].map(at => at - window.moved)"
        times.append(tuple(page.evaluate(at)))
    return times


def main() -> None:
    """Prints a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--moves", type=int, default=8, help="of each slider")
    parser.add_argument("--starts", type=int, default=3)
    parser.add_argument("--tabs", nargs="+", choices=_SLIDERS, default=[*_SLIDERS])
    parser.add_argument("--kinds", nargs="+", choices=_KINDS, default=["plain"])
    parser.add_argument("--sliders", nargs="+", help="only these")
    asked = parser.parse_args()
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(**chromium())
        starts = [first_view(browser) for _ in range(asked.starts)]
        for what, *seconds in zip(("command", "server's answer"), *starts, strict=True):
            if not seconds:
                break
            each = ", ".join(f"{s:.2f}" for s in seconds)
            print(f"first view, seconds after the {what}: {each}", flush=True)
        head = [f"{name}: median, largest, below {GOAL:g}" for name in _PARTS]
        print(f"\n| tab, slider | {' | '.join(head)} |\n|---|---|---|---|")
        with server() as (address, _):
            for tab, kind in itertools.product(asked.tabs, asked.kinds):
                page = browser.new_page(viewport={"width": 1400, "height": 1000})
                page.goto(f"{address}?tab={tab}&{_KINDS[kind]}")
                page.wait_for_selector(".selica-wide table")
                page.wait_for_selector(".selica-answer > i", state="detached", timeout=300_000)
                page.evaluate(_WATCH)
                for slider in _SLIDERS[tab]:
                    if asked.sliders and slider not in asked.sliders:
                        continue
                    times = np.array(moves(page, slider, asked.moves))
                    cells = [
                        f"{np.median(part):.0f}, {part.max():.0f}, "
                        f"{(part < GOAL).sum()} of {part.size}"
                        for part in times.T
                    ]
                    name = f"{tab}, {slider}" if kind == "plain" else f"{tab}, {kind}, {slider}"
                    print(f"| {name} | {' | '.join(cells)} |", flush=True)
                page.close()
        browser.close()


if __name__ == "__main__":
    main()
