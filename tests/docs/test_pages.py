"""What the pages say is what the library does: code on them runs, and their lists are complete."""

from __future__ import annotations

import doctest
import re
import warnings
from importlib import import_module
from pathlib import Path

import pytest

import selica
from tests.test_docstrings import ROOMS
from tests.test_first_hour import run, words

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
SESSION = re.compile(r"^```pycon\n(.*?)^```", re.MULTILINE | re.DOTALL)
SOURCES = sorted(
    page for folder in (".", "methods", "coming-from") for page in (DOCS / folder).glob("*.md")
)
"""Pages that are written by hand; the gallery and the reference are made by a build."""
PAGES = [page for page in SOURCES if SESSION.search(page.read_text("utf-8"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(DOCS)))
def test_sessions_on_a_page_give_what_is_printed(page: Path) -> None:
    text = "\n".join(SESSION.findall(page.read_text("utf-8")))
    test = doctest.DocTestParser().get_doctest(text, {}, page.stem, str(page), 0)
    assert test.examples
    said: list[str] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        outcome = doctest.DocTestRunner(verbose=False).run(test, out=said.append)
    assert outcome.failed == 0, "".join(said)


@pytest.mark.parametrize(
    ("page", "command"),
    [
        ("predicting", "selica predict"),
        pytest.param("planning", "selica plan samples", marks=pytest.mark.slow),
    ],
)
def test_a_command_on_a_page_prints_what_is_shown(page: str, command: str, tmp_path: Path) -> None:
    text = (DOCS / f"{page}.md").read_text("utf-8")
    blocks = re.findall(rf"^```console\n\$ ({command}.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert blocks
    for block in blocks:
        typed, _, shown = block.partition("\n")
        assert len(shown.split()) > 50
        assert words(shown) in words(run(typed, tmp_path))


def test_the_reference_lists_every_public_function_and_class() -> None:
    text = (DOCS / "api.md").read_text("utf-8")
    parts = re.findall(r"currentmodule:: selica\.([\w.]+)\n(.*?)```", text, re.DOTALL)
    listed = {room: re.findall(r"^   (\w+)$", part, re.MULTILINE) for room, part in parts}
    assert set(listed) == set(ROOMS)
    for room, names in listed.items():
        module = import_module(f"selica.{room}")
        public = [name for name in module.__all__ if callable(getattr(module, name))]
        assert sorted(names) == sorted(public), room


def test_every_page_is_in_the_sidebar() -> None:
    for index in (page for page in SOURCES if page.stem == "index"):
        lists = re.findall(r"```{toctree}\n(.*?)```", index.read_text("utf-8"), re.DOTALL)
        linked = {line for part in lists for line in part.split() if not line.startswith(":")}
        assert {page.stem for page in index.parent.glob("*.md")} - {"index"} <= linked
        if index.parent != DOCS:
            front = (DOCS / "index.md").read_text("utf-8")
            assert f"\n{index.parent.name}/index\n" in front


def test_the_citation_names_this_version() -> None:
    text = (ROOT / "CITATION.cff").read_text("utf-8")
    assert re.findall(r"^version: (.*)$", text, re.MULTILINE) == [selica.__version__]
