"""Files of the package that a module needs, by the imports that are written in them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

_PACKAGE = "selica"


def sources(module: str) -> list[Path]:
    """Return the files of a module and of all that it imports from the package, sorted.

    Parameters
    ----------
    module : str
        Name of a module of the package, with dots.

    Notes
    -----
    What a package imports in its `__init__` counts where a name is taken from the package itself.
    Imports for type checkers do not count.

    Examples
    --------
    >>> from selica.experiments.sources import sources
    >>> "errors.py" in [path.name for path in sources("selica._core.validation")]
    True
    """
    found: dict[str, Path] = {}
    waiting = [module]
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        spec = find_spec(name)
        assert spec is not None
        assert spec.origin is not None
        found[name] = Path(spec.origin)
        waiting += _imported(ast.parse(found[name].read_text("utf-8")))
    return sorted(found.values())


def _imported(tree: ast.AST) -> Iterator[str]:
    """Iterate over the modules of the package that a syntax tree imports."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import):
            yield from (one.name for one in node.names if one.name.split(".")[0] == _PACKAGE)
        elif isinstance(node, ast.ImportFrom):
            yield from _taken(node)
        elif not _for_type_checkers(node):
            yield from _imported(node)


def _taken(node: ast.ImportFrom) -> Iterator[str]:
    """Iterate over the modules of one statement "from ... import ..."."""
    package = node.module or ""
    if package.split(".")[0] != _PACKAGE:
        return
    for one in node.names:
        inner = f"{package}.{one.name}"
        yield inner if _is_module(inner) else package


def _is_module(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:
        return False


def _for_type_checkers(node: ast.AST) -> bool:
    test = getattr(node, "test", None)
    return isinstance(test, ast.Name) and test.id == "TYPE_CHECKING"
