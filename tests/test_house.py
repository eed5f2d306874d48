"""The shape of the code: read off its syntax trees, so that it stays as docs/design.md says."""

from __future__ import annotations

import ast
import inspect
import re
from collections import defaultdict
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

import selica

SOURCE = Path(selica.__file__).parent
DESIGN = SOURCE.parents[1] / "docs" / "design.md"
MOST_POSITIONAL = 7
MODULES = {
    str(path.relative_to(SOURCE).with_suffix("")).replace("/", "."): ast.parse(path.read_text())
    for path in sorted(SOURCE.rglob("*.py"))
}


def long_calls(tree: ast.AST) -> list[str]:
    """Calls that pass more positional arguments than a reader can count."""
    return [
        f"line {node.lineno}: {ast.unparse(node.func)} with {len(node.args)}"
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and len(node.args) > MOST_POSITIONAL
    ]


@pytest.mark.parametrize("module", MODULES)
def test_no_function_is_entered_with_many_positional_arguments(module: str) -> None:
    assert long_calls(MODULES[module]) == []


def test_a_long_call_would_be_noticed() -> None:
    assert long_calls(ast.parse("f(1, 2, 3, 4, 5, 6, 7, 8)"))
    assert not long_calls(ast.parse("f(1, 2, 3, 4, 5, 6, 7, x=8)"))


def test_no_public_class_name_is_defined_twice() -> None:
    homes = defaultdict(list)
    for module, tree in MODULES.items():
        for node in ast.iter_child_nodes(tree):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes[node.name].append(module)
    assert {name: where for name, where in homes.items() if len(where) > 1} == {}


def tables() -> dict[str, set[str]]:
    """Modules that docs/design.md lists, by the heading "Inside `room`" of their table."""
    listed: dict[str, set[str]] = {}
    room = None
    for line in DESIGN.read_text().splitlines():
        heading = re.match(r"#+ Inside `([\w.]+)`", line)
        if heading:
            room = heading[1]
            listed[room] = set()
        elif line.startswith("#"):
            room = None
        elif room and line.startswith("| `"):
            listed[room] |= set(re.findall(r"`([\w.]+)`", line.split("|")[1]))
    return listed


def test_the_design_lists_every_module_of_every_room() -> None:
    there = defaultdict(set)
    for module in MODULES:
        room, _, rest = module.partition(".")
        if rest and rest.rpartition(".")[2] != "__init__":
            there[room].add(rest)
    assert tables() == dict(there)


@pytest.mark.parametrize("module", MODULES)
def test_every_docstring_begins_with_a_sentence(module: str) -> None:
    short = [
        f"line {node.lineno}: {text.splitlines()[0]}"
        for node in ast.walk(MODULES[module])
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and (text := ast.get_docstring(node))
        if re.match(r"(Of|By|In|With|At|As|From|To|On) ", text)
    ]
    assert short == []


@pytest.mark.parametrize("module", MODULES)
def test_constants_are_named_one_a_line(module: str) -> None:
    pairs = [
        f"line {node.lineno}: {ast.unparse(target)}"
        for node in ast.iter_child_nodes(MODULES[module])
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Tuple)
    ]
    assert pairs == []


ROOMS = (
    "amp", "catalogue", "control", "experiments", "planning", "plots", "reports", "sampling",
    "selectors", "solvers", "statistics", "tables", "theory",
)  # fmt: skip
VERBS = {
    "Add", "Answer", "Apply", "Ask", "Bound", "Build", "Calibrate", "Check", "Choose", "Combine",
    "Compare", "Compute", "Count", "Cut", "Decide", "Describe", "Diagnose", "Divide", "Draw",
    "Estimate", "Explain", "Find", "Fit", "Follow", "Give", "Import", "Iterate", "Keep", "List",
    "Make", "Measure", "Name", "Predict", "Print", "Read", "Recommend", "Return", "Run", "Say",
    "Sample", "Search", "Select", "Set", "Shrink", "Simulate", "Solve", "Split", "Standardise",
    "Sum", "Summarise", "Take", "Tell", "Test", "Transform", "Turn", "Write",
}  # fmt: skip


def public_functions(room: str) -> Iterator[tuple[str, str]]:
    """Name and docstring of all public functions of a room, and of methods of its classes."""
    module = import_module(f"selica.{room}")
    for name in getattr(module, "__all__", [n for n in vars(module) if not n.startswith("_")]):
        value = getattr(module, name)
        if not str(getattr(value, "__module__", "")).startswith("selica."):
            continue
        if inspect.isfunction(value):
            yield name, value.__doc__ or ""
        elif inspect.isclass(value):
            for key, part in vars(value).items():
                bare = part.__func__ if isinstance(part, classmethod | staticmethod) else part
                if not key.startswith("_") and inspect.isfunction(bare):
                    yield f"{name}.{key}", bare.__doc__ or ""


@pytest.mark.parametrize("room", ROOMS)
def test_public_functions_are_described_by_a_verb(room: str) -> None:
    other = {
        name: doc.splitlines()[0] if doc else ""
        for name, doc in public_functions(room)
        if re.split(r"\W", doc.strip(), maxsplit=1)[0] not in VERBS
    }
    assert other == {}


def test_the_picture_of_the_rooms_shows_every_room() -> None:
    picture = (DESIGN.parent / "images" / "rooms.svg").read_text()
    shown = set(re.findall(r'<tspan class="room">(\w+)</tspan>', picture))
    rooms = {module.partition(".")[0] for module in MODULES}
    assert shown == rooms - {"__init__", "__main__", "_version", "errors", "progress"}
