"""What the pages say of methods is what the catalogue says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from selica import catalogue
from selica.catalogue import Method

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
HEAD = "| name | what it is | in Python | promise, and what it rests on |"
PAGES = ("choosing", "selecting", "predicting", "first-hour", "getting-started", "index")


def line(one: Method) -> str:
    """A row of the table of `docs/selecting.md`."""
    words = ", ".join(f"{name}={value!r}" for name, value in one.preset.items())
    asked = one.levels[:1] or tuple(one.usual)  # without it another method may be the default
    words = ", ".join([*(f"{name}=" for name in asked), *([words] if words else [])])
    code = f"`{one.class_name}({words})`" if one.class_name else "-"
    return f"| `{one.name}` | {one.label} | {code} | {one.promise} {one.rests_on} |"


def table() -> str:
    return "\n".join([HEAD, "|---" * 4 + "|", *map(line, catalogue.methods())])


def test_the_page_on_selecting_has_the_table_of_the_catalogue() -> None:
    assert table() in (DOCS / "selecting.md").read_text("utf-8"), f"It has to be\n\n{table()}"


@pytest.mark.parametrize("page", PAGES)
def test_commands_on_a_page_name_methods_of_the_catalogue(page: str) -> None:
    text = (DOCS / f"{page}.md").read_text("utf-8")
    for name in re.findall(r"--method (\S+)", text):
        assert name.rstrip("`.,;)") in {*catalogue.METHODS, "NAME"}, (page, name)


def test_commands_of_the_readme_name_methods_of_the_catalogue() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    named = re.findall(r"(?:one|power)\((?:model, )?\"([^\"]+)\"", text)
    assert len(named) >= 3
    assert {*named} <= {*catalogue.METHODS}
