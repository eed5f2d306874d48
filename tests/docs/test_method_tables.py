"""Commands on the pages name methods that the catalogue has."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from selica import catalogue
from tests.docs.test_pages import DOCS, ROOT, SOURCES

PAGES = [page for page in SOURCES if "--method" in page.read_text("utf-8")]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(DOCS)))
def test_commands_on_a_page_name_methods_of_the_catalogue(page: Path) -> None:
    for name in re.findall(r"--method ([\w-]+)", page.read_text("utf-8")):
        assert name in {*catalogue.METHODS, "NAME"} or page.stem == "contributing", name


def test_commands_of_the_readme_name_methods_of_the_catalogue() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    named = re.findall(r"(?:one|power)\((?:model, )?\"([^\"]+)\"", text)
    assert len(named) >= 3
    assert {*named} <= {*catalogue.METHODS}
