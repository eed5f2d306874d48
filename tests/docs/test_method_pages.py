"""Every method has a page, with one picture, one rule, one example and one warning."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from selica import catalogue

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
sys.path.insert(0, str(DOCS / "_ext"))

import methods  # noqa: E402 (it is an extension of the documentation, in no package)

PAGES = sorted(page for page in methods.FOLDER.glob("*.md") if page.stem != "index")
CATALOGUED = [page for page in PAGES if page.stem != "summary-knockoffs"]
WIDEST_LINE = 100
"""Characters of a line of code that a window of 1280 pixels shows."""


def test_every_method_is_on_one_page() -> None:
    named = [
        name
        for page in PAGES
        for line in methods.NAMED.findall(page.read_text("utf-8"))
        for name in line.split()
    ]
    assert sorted(named) == sorted(catalogue.METHODS)


def test_the_page_of_a_method_has_its_name_where_it_is_the_first() -> None:
    for page in CATALOGUED:
        first = methods.NAMED.findall(page.read_text("utf-8"))[0].split()[0]
        assert page.stem in (first, "ideal")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_has_one_picture_rule_example_and_warning(page: Path) -> None:
    text = page.read_text("utf-8")
    [picture] = re.findall(r"^!\[[^]]{20,}\]\((.*?)\)$", text, re.MULTILINE)
    assert picture == f"../images/methods/{page.stem}.png"
    assert (page.parent / picture).stat().st_size > 10_000
    assert len(re.findall(r"^\$\$$", text, re.MULTILINE)) == 2
    assert text.count("```pycon") == 1
    assert text.count(":::{warning}") == 1
    for heading in ("## The rule", "## Example", "## When to "):
        assert text.count(heading) == 1
    assert "\n**Cite** " in text


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_code_of_a_page_fits_the_window(page: Path) -> None:
    blocks = re.findall(r"^```(?:pycon|console|r)\n(.*?)^```", page.read_text("utf-8"), re.M | re.S)
    assert max(len(line) for block in blocks for line in block.splitlines()) <= WIDEST_LINE


def test_pictures_are_drawn_for_pages() -> None:
    from benchmarks.method_pictures import PICTURES

    assert {*PICTURES} == {page.stem for page in PAGES}


@pytest.mark.parametrize("one", [*catalogue.methods()], ids=lambda one: one.name)
def test_a_card_says_what_the_catalogue_says(one: catalogue.Method) -> None:
    card = methods.card(one)
    assert one.promise in card
    assert one.rests_on in card
    assert (f"--method {one.name}" in card) == any((one.selector, one.genotypes, one.predictor))
    assert f"[{one.name}]({methods.pages()[one.name]}.md)" in methods.table()
