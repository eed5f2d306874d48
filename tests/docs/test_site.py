"""The site as built: no warning, no broken link, nothing from outside, readable on a phone."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import playwright.sync_api as playwright
import pytest

pytest.importorskip("sphinx_gallery", reason="the packages of the extra docs are not installed")
pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
# What a browser fetches by itself, and what waits for a click.
LOADED = {"img": "src", "script": "src", "link": "href", "source": "src", "iframe": "src"}
# MathJax draws its complaints, in SVG as in HTML.
COMPLAINTS = 'mjx-merror, [data-mml-node="merror"]'
# Code, tables and formulas that a window of usual width shows in part.
CUT = """[...document.querySelectorAll('article :is(pre, table, div.math)')].filter(part => {
    const frame = part.closest('.pst-scrollable-table-container') || part
    const drawn = part.querySelector('svg') || part
    const right = Math.max(drawn.getBoundingClientRect().x + drawn.scrollWidth,
                           drawn.getBoundingClientRect().right)
    return right > frame.getBoundingClientRect().right + 1
}).map(part => part.innerText.slice(0, 60))"""
# Formulas whose beginning no scrolling can reach.
HIDDEN = """[...document.querySelectorAll('div.math')].filter(frame => {
    const formula = frame.querySelector('svg')
    return formula && formula.getBoundingClientRect().x < frame.getBoundingClientRect().x - 1
}).length"""


PARTS = ("*.html", "gallery/*.html", "methods/*.html", "coming-from/*.html")
"""Pages that are looked at in a browser."""


class Page(HTMLParser):
    """Names, links and loaded files of a page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path
        self.names: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {key: value or "" for key, value in attrs}
        self.names |= {given[key] for key in ("id", "name") if key in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if tag in LOADED and LOADED[tag] in given:
            self.loaded.append(given[LOADED[tag]])


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A build of a copy, so that nothing that an earlier build left behind can help."""
    work = tmp_path_factory.mktemp("site")
    skip = shutil.ignore_patterns("_build", "gallery", "generated", "__pycache__")
    for folder in ("docs", "examples"):
        shutil.copytree(ROOT / folder, work / folder, ignore=skip)
    for name in ("CHANGELOG.md", "CITATION.cff"):
        shutil.copy(ROOT / name, work)
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "docs", "html"]
    done = subprocess.run(command, cwd=work, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return work / "html"


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Page]:
    found = (path for path in sorted(site.rglob("*.html")) if "_static" not in path.parts)
    return {path: Page(path) for path in found}


def test_nothing_is_loaded_from_outside(site: Path, pages: dict[Path, Page]) -> None:
    outside = [
        (page.path.name, address)
        for page in pages.values()
        for address in page.loaded
        if urlsplit(address).netloc or address.startswith("//")
    ]
    assert outside == []
    for style in site.rglob("*.css"):
        assert not re.search(r"(url\(|@import)\s*['\"]?(https?:)?//", style.read_text("utf-8")), (
            style
        )


def test_every_link_inside_the_site_arrives(pages: dict[Path, Page]) -> None:
    lost = []
    for page in pages.values():
        for address in page.links + page.loaded:
            parts = urlsplit(address)
            if parts.scheme or parts.netloc:
                continue
            target = page.path
            if parts.path:
                target = (page.path.parent / unquote(parts.path)).resolve()
            name = unquote(parts.fragment)
            known = pages[target].names if target in pages else None
            if not target.exists() or (name and known is not None and name not in known):
                lost.append((page.path.name, address))
    assert lost == []


def test_the_gallery_was_run(site: Path) -> None:
    scripts = {path.stem for path in (ROOT / "examples").glob("*.py")}
    assert len(scripts) >= 10
    for name in scripts - {"colon", "hiv", "riboflavin"}:
        assert "sphx-glr-script-out" in (site / "gallery" / f"{name}.html").read_text("utf-8"), name


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    if CHROMIUM is None:
        pytest.skip("there is no chromium on this machine")
    with playwright.sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.mark.parametrize("width", [1400, 390])
def test_pages_fit_the_window_and_formulas_are_drawn(site: Path, browser: Any, width: int) -> None:
    window = browser.new_page(viewport={"width": width, "height": 900})
    asked: list[str] = []
    failed: list[str] = []
    window.on("request", lambda request: asked.append(request.url))
    window.on("pageerror", lambda error: failed.append(str(error)))
    for page in sorted(page for part in PARTS for page in site.glob(part)):
        window.goto(page.as_uri())
        if 'class="math' in page.read_text("utf-8"):
            window.wait_for_selector("mjx-container svg", state="attached")
        wide = window.evaluate("document.documentElement.scrollWidth - window.innerWidth")
        assert wide <= 0, (page.name, wide)
        assert window.locator(COMPLAINTS).count() == 0, page.name
        assert width < 1400 or window.evaluate(CUT) == [], page.name
        assert window.evaluate(HIDDEN) == 0, page.name
    window.close()
    assert failed == []
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []


def test_measured_promises_can_be_filtered_sorted_and_searched(site: Path, browser: Any) -> None:
    window = browser.new_page()
    window.goto((site / "guarantee-rows.html").as_uri() + "#method=knockoff%2B&promised=proven")
    rows = window.locator("table.promise-rows tbody tr")
    some = rows.count()
    assert 10 < some < 100
    assert window.locator("table.promise-rows tbody").inner_text().count("knockoff+") == some
    window.locator("th[data-key=share] button").click()
    shares = [float(text) for text in window.locator(".promise-bar").all_inner_texts()]
    assert shares == sorted(shares, reverse=True)
    window.locator("form.promise-filter input").fill("ar(1) 0.9")
    assert 0 < rows.count() < some
    window.locator("form.promise-filter button").click()
    window.wait_for_function(f"document.querySelectorAll('.promise-rows tbody tr').length > {some}")
    window.close()


def test_measured_promises_can_be_read_without_scripts(site: Path, browser: Any) -> None:
    quiet = browser.new_context(java_script_enabled=False)
    window = quiet.new_page()
    window.goto((site / "guarantee-rows.html").as_uri())
    assert window.locator("table.promise-rows tbody tr").count() > 300
    assert window.locator("form.promise-filter").is_hidden()
    assert window.locator('a[href$="errors.csv"]').count() == 1
    quiet.close()
