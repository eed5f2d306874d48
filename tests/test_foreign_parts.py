"""The package uses only public parts of the libraries it builds on (docs/compatibility.md)."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator

import pytest

from tests.test_house import MODULES, SOURCE

NAMED_TUPLES = {"_replace", "_asdict", "_fields", "_make"}
PYTHON = {"_exit", "_getframe"}
"""Parts of Python that its documentation describes."""
PUBLIC = {
    "distributed": {"distributed"},
    "joblib": {"joblib", "joblib.parallel"},
    "streamlit": {"streamlit"},
}
"""Of libraries whose internal modules have plain names: the modules that are public."""
INTERNAL_DOM = re.compile(r"data-testid|\.st[A-Z]\w*|block-container|data-baseweb|emotion-cache")
"""Names that Streamlit gives to elements for itself; `.st-key-...` and `--st-...` are public."""


def at_run_time(tree: ast.AST) -> Iterator[ast.AST]:
    """All nodes but those that only a checker of types reads."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        yield node
        yield from at_run_time(node)


def imported(tree: ast.AST) -> Iterator[str]:
    """Dotted names that are imported from elsewhere, also by a text."""
    for node in at_run_time(tree):
        if isinstance(node, ast.Import):
            yield from (one.name for one in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield from (f"{node.module}:{one.name}" for one in node.names)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            yield from (one.value for one in node.args if isinstance(one, ast.Constant))


def private_imports(tree: ast.AST) -> list[str]:
    """Imports of parts of libraries that are not public."""
    found = []
    for name in imported(tree):
        module, _, part = name.partition(":")
        library = module.partition(".")[0]
        if library == "selica" or library in sys.stdlib_module_names:
            continue
        if any(
            one.startswith("_") for one in [*module.split("."), part]
        ) or module not in PUBLIC.get(library, {module}):
            found.append(name)
    return found


def own_names() -> set[str]:
    """Private names that the package itself defines."""
    names: set[str] = set()
    for tree in MODULES.values():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                names.add(node.name)
            elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                names.add(node.attr)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                names.add(node.id)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                names.add(node.value)  # of slots
    return names


OWN = own_names() | NAMED_TUPLES | PYTHON


def private_attributes(tree: ast.AST) -> list[str]:
    """Private attributes of things that others define."""
    return [
        f"line {node.lineno}: {ast.unparse(node)}"
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        if node.attr.startswith("_") and not node.attr.endswith("__") and node.attr not in OWN
        if not re.fullmatch(r"selica(\.\w+)*", ast.unparse(node.value))
    ]


@pytest.mark.parametrize("module", MODULES)
def test_nothing_private_of_a_library_is_used(module: str) -> None:
    assert private_imports(MODULES[module]) == []
    assert private_attributes(MODULES[module]) == []


@pytest.mark.parametrize(
    "text",
    [
        "from sklearn.utils._param_validation import Interval",
        "from sklearn.utils.estimator_checks import _yield_all_checks",
        "import scipy.stats._distn_infrastructure",
        "def f():\n    from streamlit.web.cli import main",
        "import_module('streamlit.components.v2.manifest_scanner')",
    ],
)
def test_a_private_import_would_be_noticed(text: str) -> None:
    assert private_imports(ast.parse(text))


def test_a_private_attribute_would_be_noticed() -> None:
    assert private_attributes(ast.parse("backend = parallel._backend"))
    assert private_attributes(ast.parse("known = kind._get_param_names()"))
    assert not private_attributes(ast.parse("other = row._replace(a=1)"))


def test_the_page_names_no_element_of_streamlit_by_an_internal_name() -> None:
    files = [path for path in (SOURCE / "app").rglob("*") if path.suffix in (".py", ".js", ".css")]
    assert len(files) > 20
    assert [path.name for path in files if INTERNAL_DOM.search(path.read_text("utf-8"))] == []
    assert INTERNAL_DOM.search('[data-testid="stColumn"]')
    assert INTERNAL_DOM.search("querySelector('.stApp')")
    assert not INTERNAL_DOM.search(".st-key-answers { color: var(--st-text-color) }")
