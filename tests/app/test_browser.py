"""The page end to end, in a browser without a window."""

from __future__ import annotations

import io
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import playwright.sync_api as playwright
import pytest

# a browser is no Python package: the tests install all else themselves
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium on this machine")
WAIT = 60_000  # ms; a busy machine is slow
CHART = "[data-testid=stVegaLiteChart] svg .mark-line"


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-c", "from selica.cli import main; main()"]
    server = subprocess.Popen(
        [*command, "app", "--no-browser", "--port", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    )
    try:
        until = time.monotonic() + 60
        while True:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/_stcore/health"):
                    break
            except OSError:
                assert server.poll() is None, "the server ended"
                assert time.monotonic() < until, "the server did not start"
                time.sleep(0.1)
        yield f"http://127.0.0.1:{port}/"
        assert server.poll() is None, "the server did not live through it"
    finally:
        server.terminate()
        server.wait(30)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture
def view(browser: Any) -> Iterator[Any]:
    """A window that notes every address it asks for."""
    window = browser.new_page(viewport={"width": 1400, "height": 1000})
    window.set_default_timeout(WAIT)
    window.asked = []
    window.on("request", lambda request: window.asked.append(request.url))
    yield window
    window.close()


def test_a_slider_moves_the_curves_and_nothing_comes_from_outside(view: Any, address: str) -> None:
    view.goto(address)
    view.wait_for_selector("text=At an FDR of")
    view.wait_for_selector(f"{CHART} path")
    before = view.locator(CHART).first.inner_html()
    table = view.locator(".selica-wide table").first.inner_text()
    thumb = view.locator("[data-testid=stSlider]").first.locator("input[type=range]")
    box = thumb.evaluate_handle("e => e.parentElement.parentElement").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    view.mouse.move(x, y)
    view.mouse.down()
    view.mouse.move(x + 60, y, steps=5)
    view.mouse.up()
    view.wait_for_function(
        "t => document.querySelector('.selica-wide table').innerText !== t", arg=table
    )
    view.wait_for_function(
        "([chart, old]) => document.querySelector(chart).innerHTML !== old", arg=[CHART, before]
    )
    view.wait_for_function("() => location.search.includes('n=')")
    outside = [url for url in view.asked if not url.startswith((address, "data:", "blob:"))]
    assert outside == []


SAMPLES = "() => Number(/([0-9]+) samples/.exec(document.body.innerText)[1])"


def test_the_view_follows_a_slider_while_it_is_dragged(view: Any, address: str) -> None:
    view.goto(address)
    view.wait_for_selector(f"{CHART} path")
    thumb = view.locator(".st-key-n input[type=range]")
    box = thumb.evaluate_handle("e => e.parentElement.parentElement").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    view.mouse.move(x, y)
    view.mouse.down()
    seen = [view.evaluate(SAMPLES)]
    for step in (20, 40, 60):
        view.mouse.move(x + step, y)
        view.wait_for_function(f"before => ({SAMPLES})() > before", arg=seen[-1])
        seen.append(view.evaluate(SAMPLES))
    assert "n=" not in view.evaluate("location.search")  # it is not let go yet
    view.mouse.move(x, y)  # back to where it was, which no slider of Streamlit would tell
    view.mouse.up()
    view.wait_for_function(f"first => ({SAMPLES})() === first", arg=seen[0])
    view.mouse.down()
    view.mouse.move(x + 30, y, steps=3)
    view.mouse.up()
    view.wait_for_function(
        f"() => ({SAMPLES})() === Number(new URLSearchParams(location.search).get('n'))"
    )
    assert view.evaluate(SAMPLES) == int(thumb.input_value()) > seen[0]


def test_a_plan_answers_a_slider_with_estimates_and_then_with_numbers(
    view: Any, address: str
) -> None:
    view.goto(f"{address}?tab=Plan&p=200&k=30&r2=0.8")
    whole = "() => { const t = document.querySelector('.selica-wide table'); "
    whole += "return t && !/[…≈]/.test(t.innerText) && t.innerText; }"
    before = view.wait_for_function(whole).json_value()
    view.wait_for_selector("text=Fewest samples")
    view.evaluate(
        """() => {
          window.estimates = new Set();
          new MutationObserver(() => {
            const shown = document.querySelector('.selica-wide table').innerText;
            if (shown.includes('≈')) window.estimates.add(shown);
          }).observe(document.body, {subtree: true, childList: true, characterData: true});
        }"""
    )
    view.locator(".st-key-power input[type=range]:visible").focus()
    view.keyboard.press("ArrowRight")
    view.wait_for_function("() => window.estimates.size > 0")
    view.wait_for_function(
        f"t => {{ const now = ({whole})(); return now && now !== t; }}", arg=before
    )
    view.wait_for_function("() => document.body.innerText.includes('--power 0.55')")


HOSTILE = "![a](http://127.0.0.9/a.png),b,<img src=x onerror=alert(1)>,=1+1,y"


def rows(n: int, header: str = HOSTILE) -> bytes:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 4))
    y = 2.0 * X[:, 2] - 2.0 * X[:, 3] + 0.1 * rng.standard_normal(n)
    lines = [",".join(f"{v:.5f}" for v in (*x, t)) for x, t in zip(X, y, strict=True)]
    return "\n".join([header, *lines]).encode()


def upload(view: Any, name: str, content: bytes) -> None:
    view.wait_for_selector("[data-testid=stFileUploader] input[type=file]", state="attached")
    view.set_input_files(
        "[data-testid=stFileUploader] input[type=file]",
        {"name": name, "mimeType": "text/csv", "buffer": content},
    )


def test_a_table_is_uploaded_and_its_report_downloaded(
    view: Any, address: str, tmp_path: Path
) -> None:
    said: list[str] = []
    view.on("dialog", lambda dialog: (said.append(dialog.message), dialog.dismiss()))
    view.goto(f"{address}?tab=Select&data=My+own+table&method=Lasso")
    upload(view, "table.csv", rows(80))
    view.get_by_role("button", name="Select variables").click()
    view.wait_for_selector("text=variables selected")
    shown = view.locator(".selica-wide table").first.inner_text()
    assert "<img src=x onerror=alert(1)>" in shown
    assert view.locator(".selica-wide img").count() == 0
    view.get_by_text("The table and its columns").click()
    view.get_by_text("More options").click()
    view.get_by_role("combobox", name="Covariates to keep").click()
    view.wait_for_timeout(500)
    outside = [url for url in view.asked if not url.startswith((address, "data:", "blob:"))]
    assert outside == []
    view.keyboard.press("Escape")
    with view.expect_download() as caught:
        view.get_by_text("Download the report").click()
    caught.value.save_as(tmp_path / "report.zip")
    with zipfile.ZipFile(io.BytesIO((tmp_path / "report.zip").read_bytes())) as archive:
        assert sorted(archive.namelist()) == ["report.html", "selection.csv", "selection.json"]
        assert b",'=1+1," in archive.read("selection.csv")
    assert said == []


def columns_of(view: Any) -> Any:
    """Where the table of columns is drawn."""
    view.wait_for_selector("[data-testid=stDataFrame] canvas")
    view.wait_for_timeout(1000)  # it is drawn on a canvas, and says nothing of it
    return view.locator("[data-testid=stDataFrame] canvas").first.bounding_box()


def test_a_kind_is_corrected_in_the_table_of_columns(view: Any, address: str) -> None:
    view.goto(f"{address}?tab=Select&data=My+own+table&method=lasso")
    codes = [f"{i % 4},{i % 7},{i % 7 + (i % 4 == 1)}" for i in range(60)]
    upload(view, "codes.csv", "\n".join(["site,dose,y", *codes]).encode())
    view.wait_for_selector("text='site' holds a few whole numbers")
    box = columns_of(view)
    x, y = box["x"] + 180, box["y"] + 2.5 * 35  # the kind of 'site': below the names, and below y
    view.mouse.move(x - 5, y - 3)
    view.wait_for_timeout(300)
    view.mouse.move(x, y)
    view.mouse.down()
    view.wait_for_timeout(100)
    view.mouse.up()
    view.keyboard.press("Enter")
    view.wait_for_timeout(500)
    view.keyboard.type("category")
    view.wait_for_timeout(300)
    view.keyboard.press("Enter")
    view.wait_for_selector("text='site' holds a few whole numbers", state="detached")
    view.get_by_role("button", name="Select variables").click()
    view.wait_for_selector("text=variables selected")
    view.get_by_text("How to run it again").click()
    view.wait_for_selector("text=--kind site=category")


def test_a_table_stays_while_another_tab_is_open(view: Any, address: str) -> None:
    view.goto(f"{address}?tab=Select&data=My+own+table&method=lasso")
    upload(view, "table.csv", rows(80, "a,b,c,d,e"))
    target = view.get_by_role("combobox", name="Column to explain")
    target.click()
    target.fill("e")
    view.keyboard.press("Enter")
    view.wait_for_selector("text=The model is linear.")
    view.get_by_role("tab", name="Predict").click()
    view.wait_for_selector("text=At an FDR of")
    # while that tab computes, nothing is forgotten yet
    view.wait_for_selector("[data-testid=stStatusWidget]", state="detached")
    view.wait_for_function("() => !document.body.innerText.includes('…')")
    view.wait_for_timeout(500)
    view.get_by_role("tab", name="Select").click()
    view.wait_for_selector("text=table.csv is still loaded")
    view.wait_for_selector("text=80 rows, 5 columns")
    view.wait_for_selector("text=The model is linear.")
    view.get_by_role("button", name="Select variables").click()
    view.wait_for_selector("text=variables selected")
    upload(view, "other.csv", b"a,b\n1,2\n3,4\n5,5\n")
    view.wait_for_selector("text=Choose what is to be explained.")
    view.get_by_role("button", name="Remove other.csv").click()
    view.wait_for_selector("text=Nothing you load leaves this machine")


@pytest.mark.parametrize("width", [390, 1280])
def test_an_answer_fits_its_window(view: Any, address: str, width: int) -> None:
    view.set_viewport_size({"width": width, "height": 900})
    view.goto(f"{address}?tab=Select&method=lasso&run=1")
    view.wait_for_selector(".selica-figures img")
    drawn = "() => [...document.querySelectorAll('.selica-figures img')].every(i => i.complete)"
    view.wait_for_function(drawn)
    for part in (".selica-many", ".selica-figures", ".selica-box"):
        for place in view.locator(part).all():
            assert place.evaluate("e => e.scrollWidth <= e.clientWidth + 1")
            box = place.bounding_box()
            assert box["x"] >= 0.0
            assert box["x"] + box["width"] <= width
    with view.expect_download() as caught:
        view.get_by_text("Download a bundle").locator("visible=true").click()
    assert caught.value.suggested_filename == "selica-bundle.zip"


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("binary.csv", bytes(range(256)) * 400, "is not text"),
        ("empty.csv", b"\n", "the file is empty"),
        ("wide.csv", (b"0," * 9_999 + b"0\n") * 3, "more than 2,000 columns"),
        ("huge.csv", b"1,2\n" * 7_000_000, "25"),
    ],
)
def test_hostile_uploads_get_a_sentence_and_the_page_lives_on(
    view: Any, address: str, name: str, content: bytes, sentence: str
) -> None:
    view.goto(f"{address}?tab=Select&data=My+own+table&method=Lasso")
    upload(view, name, content)
    if name == "huge.csv":  # more than the server takes: said where it was dropped
        view.wait_for_selector("[data-testid=stFileUploader] >> text=/must be 25/")
    else:
        view.wait_for_selector(f".selica-box.problem >> text={sentence}")
    view.goto(address)
    view.wait_for_selector("text=At an FDR of")
