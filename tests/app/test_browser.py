"""The page end to end, in a browser without a window."""

from __future__ import annotations

import io
import itertools
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
from xml.etree import ElementTree

import numpy as np
import playwright.sync_api as playwright
import pytest
from typer.testing import CliRunner

from selica.cli import app as command_line

# a browser is no Python package: the tests install all else themselves
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium on this machine")
WAIT = 60_000  # ms; a busy machine is slow
CHART = ".selica-chart svg path.curve"
WHOLE = """() => !document.querySelector('.selica-former, .selica-answer > i')
  && !/[…≈]/.test(document.querySelector('.selica-wide table')?.innerText ?? '…')"""


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


def field(view: Any, key: str, kind: str) -> Any:
    return view.locator(f".field[data-key={key}] input[type={kind}]:visible")


def middle(part: Any) -> tuple[float, float]:
    """Scroll to a part and return its middle; a chart may be drawn anew meanwhile."""
    until = time.monotonic() + WAIT / 1000
    while True:
        left, top, width, height = part.evaluate(
            """part => {
              part.scrollIntoView({ block: "nearest" });
              const box = part.getBoundingClientRect();
              return [box.x, box.y, box.width, box.height];
            }"""
        )
        if width and height:  # a part that is no longer in the page has no size
            return left + width / 2, top + height / 2
        assert time.monotonic() < until


CHARTED = """said => {
  const points = document.querySelectorAll('.selica-chart circle.point').length;
  const title = document.querySelector('.selica-chart svg')?.getAttribute('aria-label') ?? '';
  const methods = document.querySelector('.selica-wide table')?.rows.length - 3;
  return title.includes(said) && points === methods && !document.querySelector('.selica-former');
}"""
"""Whether the chart of Predict is that of a setting with all its points: it is drawn last."""
SAMPLES = "() => Number((/([0-9,]+) samples/.exec(document.querySelector('.selica-wide caption')"
SAMPLES += "?.innerText ?? '') ?? ['', '0'])[1].replace(',', ''))"
ASKED = "() => Number(new URLSearchParams(location.search).get('n'))"


def test_a_slider_is_followed_while_it_is_dragged_and_nothing_comes_from_outside(
    view: Any, address: str
) -> None:
    view.goto(address)
    view.wait_for_function(WHOLE)
    before = view.locator(CHART).first.get_attribute("d")
    slide, typed = field(view, "n", "range"), field(view, "n", "text")
    x, y = middle(slide)
    view.mouse.move(x, y)
    view.mouse.down()
    view.wait_for_function(f"() => ({SAMPLES})() > 200")
    seen = [view.evaluate(SAMPLES)]
    for step in (20, 40):
        view.mouse.move(x + step, y)
        view.wait_for_function(f"before => ({SAMPLES})() > before", arg=seen[-1])
        seen.append(view.evaluate(SAMPLES))
    assert "n=" not in view.evaluate("location.search")  # it is not let go yet
    view.mouse.up()
    view.wait_for_function(f"() => ({SAMPLES})() === ({ASKED})()")
    assert view.evaluate(SAMPLES) == int(typed.input_value().replace(",", ""))
    assert view.locator(CHART).first.get_attribute("d") != before
    outside = [url for url in view.asked if not url.startswith((address, "data:", "blob:"))]
    assert outside == []


def test_a_number_is_typed_exactly_and_the_back_button_goes_back(view: Any, address: str) -> None:
    view.goto(f"{address}?p=300")
    view.wait_for_function(WHOLE)
    typed = field(view, "n", "text")
    for n in (237, 1234):
        typed.fill(str(n))
        typed.press("Enter")
        view.wait_for_function(f"n => ({SAMPLES})() === n && ({ASKED})() === n", arg=n)
    typed.fill("many")
    typed.press("Enter")
    view.wait_for_selector("text=Type a whole number from 20 to 1,000,000.")
    assert view.evaluate(ASKED) == 1234
    view.go_back()
    view.wait_for_function(f"() => ({SAMPLES})() === 237")
    assert typed.input_value() == "237"
    link = view.url
    view.go_back()
    view.wait_for_function(f"() => ({SAMPLES})() === 200")
    view.go_forward()
    view.wait_for_function(f"() => ({SAMPLES})() === 237")
    view.goto(link)
    view.wait_for_function(f"() => ({SAMPLES})() === 237")
    assert field(view, "p", "text").input_value() == "300"


def test_the_page_begins_with_a_usual_study_and_its_scales_are_logarithmic(
    view: Any, address: str
) -> None:
    view.goto(address)
    view.wait_for_function(WHOLE)
    first = {"n": "200", "p": "1,000", "k": "10", "r2": "0.5", "fdr": "0.1"}
    for key, value in first.items():
        assert field(view, key, "text").input_value() == value
    html = view.locator("body").inner_text()
    real, ideal = html.index("What procedures reach"), html.index("Ideal: nobody knows")
    assert html.index("Most power: ") < real < ideal
    x, y = middle(field(view, "p", "range"))
    view.mouse.click(x, y)
    view.wait_for_function("() => new URLSearchParams(location.search).get('p')")
    # half way from 10 to a million: in the middle one of five decades, at a round number
    assert 1000 < int(field(view, "p", "text").input_value().replace(",", "")) < 10_000


def test_controls_come_with_the_choice_that_they_belong_to(view: Any, address: str) -> None:
    view.goto(f"{address}?p=100")
    view.wait_for_function(WHOLE)
    assert field(view, "list", "text").count() == 0
    for choice, key, value, said in (
        ("binary", "prevalence", "0.1", "binary response (prevalence 0.1)"),
        ("counts", "rate", "2", "counts (mean 2)"),
        ("survival", "events", "0.3", "survival times (share of events 0.3)"),
    ):
        view.locator("[data-key=response] select").select_option(choice)
        field(view, key, "text").wait_for()
        assert field(view, "corr", "text").count() == 0
        field(view, key, "text").fill(value)
        field(view, key, "text").press("Enter")
        view.wait_for_selector(f"text={said}")
    view.locator("[data-key=response] select").select_option("numeric")
    view.locator("[data-key=effects] select").select_option("list")
    field(view, "list", "text").fill("3 2 1")
    field(view, "list", "text").press("Enter")
    view.wait_for_selector("text=100 variables, 3 signals")
    field(view, "list", "text").fill("3 two 1")
    field(view, "list", "text").press("Enter")
    wrong = view.locator("[data-key=list] .wrong", has_text="must be numbers")
    wrong.wait_for()
    field(view, "list", "text").fill("3 2 1")
    field(view, "list", "text").press("Enter")
    wrong.wait_for(state="detached")
    view.wait_for_selector("text=100 variables, 3 signals")
    assert field(view, "k", "text").count() == 0
    view.locator("[data-key=columns] select").select_option("ar1")
    field(view, "corr", "text").wait_for()
    view.wait_for_selector("text=columns correlated, AR(1) 0.5")
    assert "columns=ar1" in view.evaluate("location.search")


def test_a_slow_answer_keeps_the_former_one_and_does_not_hold_up_the_next_move(
    view: Any, address: str
) -> None:
    view.goto(f"{address}?n=300")
    view.wait_for_function(WHOLE)
    rows = view.locator(".selica-wide table").first.locator("tr")
    before = rows.filter(has_text="knockoffs, one copy").inner_text()
    view.evaluate(
        """() => {
          window.whole = 0;
          const look = () => {
            const [said, text] = ['.selica-answer', '.selica-wide caption'].map(
              name => document.querySelector(name)?.innerHTML ?? '');
            if (text.includes('AR(1)') && !said.includes('<i>')) window.whole += 1;
          };
          new MutationObserver(look).observe(document.body, {subtree: true, childList: true});
        }"""
    )
    view.locator("[data-key=columns] select").select_option("ar1")
    view.wait_for_selector(".selica-wide caption >> text=AR(1) 0.5")
    pale = view.locator(".selica-wide tr.selica-former", has_text="knockoffs, one copy")
    assert pale.inner_text() == before
    field(view, "corr", "text").fill("0.6")
    field(view, "corr", "text").press("Enter")
    view.wait_for_selector(".selica-wide caption >> text=AR(1) 0.6")
    assert view.evaluate("window.whole") == 0  # nothing waited for the answer at 0.5
    known = view.locator(".selica-wide tr:not(.selica-former)")
    found = known.filter(has_text="knockoffs, one copy").first
    found.wait_for()
    assert found.inner_text() != before


def test_curves_are_frozen_compared_read_and_downloaded(view: Any, address: str) -> None:
    view.goto(f"{address}?p=300")
    view.wait_for_function(CHARTED, arg="200 samples")
    view.get_by_role("button", name="Freeze", exact=True).click()
    typed = field(view, "n", "text")
    typed.fill("400")
    typed.press("Enter")
    view.wait_for_function(CHARTED, arg="400 samples")
    assert view.locator(".selica-chart path.frozen").count() == view.locator(CHART).count()
    x, y = middle(view.locator(".selica-chart svg"))
    view.mouse.move(x - 60, y)
    tip = view.locator(".selica-chart .tip:visible")
    tip.wait_for()
    assert "frozen" in tip.inner_text()
    assert "best possible" in tip.inner_text()
    x, y = middle(view.locator(".selica-chart circle.point").last)
    view.mouse.move(x, y)
    view.wait_for_function(
        "() => /false discovery rate\\s+power/.test(document.querySelector('.tip').innerText)"
    )
    labels = view.locator(".selica-chart g.label text")
    boxes = [labels.nth(k).bounding_box() for k in range(labels.count())]
    places = sorted(box["y"] for box in boxes)
    assert all(b - a >= 10 for a, b in itertools.pairwise(places))  # none over another
    with view.expect_download() as caught:
        view.get_by_role("button", name="SVG").click()
    text = Path(caught.value.path()).read_text("utf-8")
    assert caught.value.suggested_filename == "selica-ideal.svg"
    legend = ("best possible", "knockoffs, ideal", "what procedures reach")
    for said in ("Ideal: power", "400 samples, 300 variables", "200 samples", *legend):
        assert said in text
    assert ElementTree.fromstring(text).tag.endswith("svg")
    with view.expect_download() as caught:
        view.get_by_role("button", name="PNG").click()
    image = Path(caught.value.path()).read_bytes()
    assert image.startswith(b"\x89PNG")
    assert int.from_bytes(image[16:20], "big") == 2 * 960  # wide enough for print
    view.get_by_role("button", name="Unfreeze").click()
    assert view.locator(".selica-chart path.frozen").count() == 0


def test_a_table_is_sorted_by_a_click(view: Any, address: str) -> None:
    view.goto(f"{address}?p=300")
    view.wait_for_function(WHOLE)
    view.locator(".selica-wide th", has_text="method").first.click()
    first = view.locator(".selica-wide tr >> nth=1").inner_text()
    assert first.startswith("best possible")
    view.locator(".selica-wide th", has_text="method").first.click()
    assert view.locator(".selica-wide tr >> nth=1").inner_text().startswith("stability")


def test_a_plan_answers_with_estimates_then_with_numbers_and_a_protocol(
    view: Any, address: str
) -> None:
    view.goto(f"{address}?tab=Plan&p=200&k=30&r2=0.8")
    view.wait_for_selector("text=Fewest samples")
    view.evaluate(
        """() => {
          window.estimates = new Set();
          new MutationObserver(() => {
            const text = document.querySelector('.selica-wide table')?.innerText ?? '';
            for (const one of text.match(/≈ [0-9,]+/g) ?? []) window.estimates.add(one);
          }).observe(document.body, {subtree: true, childList: true, characterData: true});
        }"""
    )
    field(view, "power", "range").focus()
    view.keyboard.press("ArrowRight")
    view.wait_for_function("() => window.estimates.size > 0")
    view.wait_for_function("() => document.body.innerText.includes('--power 0.81')")
    view.wait_for_function(WHOLE)
    assert "power=0.81" in view.evaluate("location.search")
    view.get_by_text("Sample size justification for a protocol").click()
    paper = view.locator("[data-testid=stCode]", has_text="The study is planned with n =")
    text = paper.locator("code").inner_text()
    command = text.split("Command: ")[1].strip()
    assert command == "selica plan samples -p 200 -k 30 --r2 0.8 --fdr 0.1 --power 0.81"
    told = CliRunner().invoke(command_line, [*command.split()[1:], "--protocol"])
    # but for the flag, the same text to the last sign
    assert told.stdout.split("Command:")[0].split() == text.split("Command:")[0].split()
    assert "[1] The selica developers." in text
    heads = view.locator(".selica-wide table").first.locator("th").all_inner_texts()
    assert {"method", "samples", "power", "FDR", "controls"} <= set(heads)
    view.context.grant_permissions(["clipboard-read", "clipboard-write"])
    paper.hover()
    paper.get_by_role("button", name="Copy").click()
    copied = view.evaluate("navigator.clipboard.readText()")
    assert copied.split() == text.split()


def test_the_theory_moves_with_its_sliders(view: Any, address: str) -> None:
    view.goto(f"{address}?tab=Theory")
    view.wait_for_selector(".katex")
    view.wait_for_selector(CHART)
    for key in ("lam", "mu", "pi"):
        before = view.locator(".selica-cards").inner_text()
        picture = view.locator(".selica-chart svg").first.inner_html()
        field(view, key, "range").focus()
        view.keyboard.press("ArrowLeft")
        view.wait_for_function(
            "old => document.querySelector('.selica-cards').innerText !== old", arg=before
        )
        view.wait_for_function(
            "old => document.querySelector('.selica-chart svg').innerHTML !== old", arg=picture
        )
    assert view.locator(".selica-chart").count() == 2
    fields = view.locator(".selica-chart").first
    assert fields.locator("path[fill-opacity]").count() == 4  # two areas on either side
    legend = fields.locator("g.label").all_text_contents()
    tpr, fdr = (view.locator(".selica-cards b").nth(k).inner_text() for k in (0, 1))
    assert any(f"TPR {tpr} of the signals" in text for text in legend)
    assert any(f"FDR {fdr} of the selected" in text for text in legend)
    assert view.locator("text=The replicated system.").count() == 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_fits_and_can_be_read(browser: Any, address: str, scheme: str) -> None:
    """No part is wider than the window, and text stands out from what is behind it."""
    view = browser.new_page(viewport={"width": 1280, "height": 900}, color_scheme=scheme)
    view.set_default_timeout(WAIT)
    for tab in ("Predict", "Plan", "Select", "Theory"):
        view.goto(f"{address}?tab={tab}&p=100&fdr=0.2&k=30")
        drawn = "text=The list of selected variables" if tab == "Select" else CHART
        view.wait_for_selector(drawn)
        if tab == "Plan":
            view.wait_for_function(WHOLE)
        for width in (1920, 1280, 390):
            view.set_viewport_size({"width": width, "height": 900})
            wide = "document.querySelector('[data-testid=stMain]')"
            view.wait_for_function(f"() => {wide}.scrollWidth <= {wide}.clientWidth")
            view.wait_for_function("() => document.documentElement.scrollWidth <= innerWidth")
            fits = "[...document.querySelectorAll('.selica-wide')].every(one => !one.clientWidth"
            assert view.evaluate(f"{fits} || one.scrollWidth <= one.clientWidth + 1)"), (tab, width)
            if tab == "Select":
                continue
            panel, chart = (
                view.locator(part).first.bounding_box()
                for part in (".selica-panel", ".selica-chart")
            )
            if width < 640:  # controls above the answer
                assert panel["y"] + panel["height"] <= chart["y"]
            else:
                assert panel["x"] + panel["width"] <= chart["x"]
        at = ".selica-head b" if tab == "Select" else ".selica-chart svg text"
        shades = view.evaluate(
            """at => [[at, /svg/.test(at) ? 'fill' : 'color'],
                      ['.stApp', 'backgroundColor']].map(([name, what]) => {
              const text = getComputedStyle(document.querySelector(name))[what];
              return text.match(/[0-9]+/g).slice(0, 3).map(Number).reduce((a, b) => a + b) / 3;
            })""",
            at,
        )
        assert abs(shades[0] - shades[1]) > 120
        assert (shades[1] < 128) == (scheme == "dark")
    view.close()


def test_sliders_stay_beside_what_they_change(view: Any, address: str) -> None:
    view.set_viewport_size({"width": 1280, "height": 700})
    view.goto(f"{address}?p=100")
    view.wait_for_function(WHOLE)
    view.wait_for_selector(CHART)
    view.mouse.move(900, 400)
    view.mouse.wheel(0, 600)
    view.wait_for_function(
        "() => document.querySelector('.selica-chart')?.getBoundingClientRect().top < 500"
    )
    box = field(view, "n", "text").bounding_box()
    assert 0.0 <= box["y"] <= 200.0


HOSTILE = "![a](http://127.0.0.9/a.png),b,<img src=x onerror=alert(1)>,=1+1,y"


def rows(n: int, header: str = HOSTILE) -> bytes:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 4))
    y = 2.0 * X[:, 2] - 2.0 * X[:, 3] + 0.1 * rng.standard_normal(n)
    lines = [",".join(f"{v:.5f}" for v in (*x, t)) for x, t in zip(X, y, strict=True)]
    return "\n".join([header, *lines]).encode()


def upload(view: Any, name: str, content: bytes | Path) -> None:
    place = "[data-testid=stFileUploader] input[type=file]"
    view.wait_for_selector(place, state="attached")
    if isinstance(content, Path):
        view.set_input_files(place, content)
    else:
        view.set_input_files(place, {"name": name, "mimeType": "text/csv", "buffer": content})


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
    view.wait_for_selector("text=What procedures reach")
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
        ("huge.csv", b"", "25"),
    ],
)
def test_hostile_uploads_get_a_sentence_and_the_page_lives_on(
    view: Any, address: str, name: str, content: bytes, sentence: str, tmp_path: Path
) -> None:
    view.goto(f"{address}?tab=Select&data=My+own+table&method=Lasso")
    if name == "huge.csv":  # more than the server takes: said where it was dropped
        huge = tmp_path / name
        huge.write_bytes(b"1,2\n" * 7_000_000)
        upload(view, name, huge)
        view.wait_for_selector("[data-testid=stFileUploader] >> text=/must be 25/")
    else:
        upload(view, name, content)
        view.wait_for_selector(f".selica-box.problem >> text={sentence}")
    view.goto(address)
    view.wait_for_selector("text=What procedures reach")
