"""How long the page takes to open, and to answer a slider: `python -m benchmarks.page_speed`.

Times are taken in the browser: from the key that moves a slider to the picture after which neither
the table nor the curves change any more, and to the first answer: on Predict procedures and curves,
on Plan estimates for the methods, on Theory all of it. Browser and server share the machine's
cores.
"""

from __future__ import annotations

import argparse
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
_QUIET = {"Predict": 900, "Plan": 2500, "Theory": 300}
"""Milliseconds without a change after which an answer counts as whole."""
# When the table of the open tab first answered, and when it or the curves last changed.
_WATCH = r"""() => {
  const shown = (what, part) => Array.from(document.querySelectorAll(what))
    .filter(one => one.getClientRects().length).map(part).join('|');
  const table = () => shown('.selica-wide table', one => one.innerText);
  const curves = () => shown('.selica-chart svg path.curve', one => one.getAttribute('d'));
  let text, lines, asked = false;
  window.addEventListener('keydown', () => {
    window.moved = performance.now();
    window.changed = window.first = null;
    [text, lines] = [table(), curves()];
  }, true);
  const look = () => {
    asked = false;
    const [now, drawn] = [table(), curves()];
    const other = now && now !== text;
    if (!other && (!drawn || drawn === lines)) return;
    [text, lines] = [now || text, drawn || lines];
    window.changed = performance.now();
    const answered = window.open_tab !== 'Plan' || /≈|\d\s+FDR/.test(now);
    if ((other || window.open_tab !== 'Plan') && answered)
      window.first = window.first || window.changed;
  };
  new MutationObserver(() => {
    if (!asked) requestAnimationFrame(() => setTimeout(look, 0));
    asked = true;
  }).observe(document.body, {subtree: true, childList: true, attributes: true,
                            characterData: true});
}"""
_DONE = "quiet => window.first && performance.now() - window.changed > quiet"


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


def moves(page: Any, tab: str, slider: str, count: int) -> tuple[list[float], list[float]]:
    """Milliseconds from a key to the first change and to the last one."""
    thumb = page.locator(f".field[data-key={slider}] input[type=range]:visible")
    first, whole = [], []
    for _ in range(count):
        thumb.focus()
        page.keyboard.press("ArrowLeft" if slider == "r2" else "ArrowRight")  # room to move
        page.wait_for_function(_DONE, arg=_QUIET[tab], polling=50, timeout=60_000)
        begun, done = page.evaluate("[window.first - window.moved, window.changed - window.moved]")
        first.append(begun)
        whole.append(done)
    return first, whole


def main() -> None:
    """Prints a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--moves", type=int, default=8, help="of each slider")
    parser.add_argument("--starts", type=int, default=3)
    parser.add_argument("--tabs", nargs="+", choices=_SLIDERS, default=[*_SLIDERS])
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
        print(f"\n| tab, slider | median ms | largest | below {GOAL:g} ms |\n|---|---|---|---|")
        with server() as (address, _):
            for tab in asked.tabs:
                page = browser.new_page(viewport={"width": 1400, "height": 1000})
                page.goto(f"{address}?tab={tab}")
                page.wait_for_selector(".selica-wide table")
                page.evaluate(f"window.open_tab = '{tab}'")
                page.evaluate(_WATCH)
                page.wait_for_timeout(3000)
                for slider in _SLIDERS[tab]:
                    first, whole = moves(page, tab, slider, asked.moves)
                    for name, times in ((", first", first), (", whole", whole)):
                        below = sum(t < GOAL for t in times)
                        print(
                            f"| {tab}, {slider}{name} | {np.median(times):.0f} | {max(times):.0f} "
                            f"| {below} of {len(times)} |",
                            flush=True,
                        )
                page.close()
        browser.close()


if __name__ == "__main__":
    main()
