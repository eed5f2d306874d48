"""Names of the package on its pages exist: `theory.power`, `selica.select`, `Solution.cost`."""

from __future__ import annotations

import re
import warnings
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

import pytest

import selica
from tests.docs.test_pages import DOCS, ROOT, SOURCES

SOURCE = Path(selica.__file__).parent
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
NAME = re.compile(r"`([A-Za-z_]\w*(?:\.\w+)+)(?:\([^`]*\))?`")
"""A dotted name between backticks, perhaps with its arguments; no command and no assignment."""
FILE = re.compile(r"\.(csv|html|json|md|py|toml|zip)$")
ROOMS = {room.name for room in iter_modules(selica.__path__)} | {"selica"}
PAGES = [*SOURCES, ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
CLASSES = {
    name: ".".join(path.relative_to(SOURCE.parent).with_suffix("").parts)
    for path in SOURCE.rglob("*.py")
    for name in re.findall(r"^class ([A-Z]\w*)", path.read_text("utf-8"), re.MULTILINE)
}
"""The module of each class."""


def names(text: str) -> set[str]:
    """Names of the package in a page: those that begin with a room or look like a class."""
    found = {name for name in NAME.findall(FENCE.sub("", text)) if not FILE.search(name)}
    return {
        name
        for name in found
        if name.partition(".")[0] in ROOMS or re.match(r"[A-Z]\w*[a-z]\w*\.", name)
    }


def has(holder: Any, name: str) -> bool:
    """Tell whether a module or class has an attribute, or its instances have a declared one."""
    declared = (vars(kind).get("__annotations__", {}) for kind in getattr(holder, "__mro__", ()))
    return hasattr(holder, name) or any(name in one for one in declared)


def exists(name: str) -> bool:
    """Tell whether a dotted name is a module, or what modules and classes lead to."""
    first, *rest = name.split(".")
    if first not in ROOMS:
        if first not in CLASSES:
            return False
        holder = getattr(import_module(CLASSES[first]), first)
    else:
        path = name.removeprefix("selica.").split(".")
        holder, rest = selica, path
        for length in range(len(path), 0, -1):
            module = ".".join(["selica", *path[:length]])
            try:
                holder, rest = import_module(module), path[length:]
            except ModuleNotFoundError as error:
                if not module.startswith(str(error.name)):
                    raise
                continue
            break
    for part in rest:
        if not has(holder, part):
            return False
        holder = getattr(holder, part, None)
    return True


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_names_on_a_page_exist(page: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # former names, where a page lists them
        gone = [name for name in sorted(names(page.read_text("utf-8"))) if not exists(name)]
    assert gone == []


def test_names_are_found() -> None:
    assert "theory.iid.solver.solve_members" in names((DOCS / "theory.md").read_text("utf-8"))
    text = '`theory.power(model, "bayes")`, `x.y`, `tables.csv`, `sampling.type = "SS"`, `Data.X`'
    assert names(text) == {"theory.power", "Data.X"}


@pytest.mark.parametrize(
    ("name", "there"),
    [
        ("selica.select", True),
        ("sampling.clumps.clump_tree", True),
        ("Solution.q", True),
        ("RowLoss.proximal", True),
        ("theory.channel.channel", False),
        ("theory.power.best", False),
        ("SpectralDesign.liberty", False),
        ("Equations.step", False),
    ],
)
def test_names_that_exist_and_names_that_do_not(name: str, there: bool) -> None:
    assert exists(name) is there
