"""Every small change to the code of a file: a list of mutants, each a syntax tree.

A change swaps an operator, moves a constant by one, turns a condition round, swaps a function such
as `min` and `max`, returns nothing, or leaves a statement out. Docstrings, annotations, decorators
and the sentences of errors are left alone.
"""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

COMPARISONS: dict[type, tuple[type, ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}
OPERATORS: dict[type, type] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
TWINS = ("min max", "minimum maximum", "argmin argmax", "any all", "floor ceil", "zeros ones")
NAMES = {a: b for pair in TWINS for a, b in (pair.split(), pair.split()[::-1])}
SIDES = {"left": "right", "right": "left"}
COMPOUND = (ast.If, ast.While, ast.For, ast.With, ast.Try, ast.FunctionDef, ast.ClassDef)
Place = tuple[tuple[str, int | None], ...]
"""The way to a node: fields, with the place in a list."""


@dataclass(frozen=True)
class Mutant:
    """One change to a file."""

    file: str
    """Relative to the sources of the package."""
    scope: str
    """Function that is changed; empty for a constant of the module."""
    text: str
    """The statement, or the head of it, as it reads after the change."""
    first: int
    last: int
    """Lines of the statement before the change."""
    place: Place
    number: int
    """Which of the changes at this place."""

    @property
    def name(self) -> str:
        return f"{self.file} {self.scope}: {self.text}"


def mutants(root: Path, file: str, functions: tuple[str, ...] = ()) -> list[Mutant]:
    """All changes to a file, or to some of its functions."""
    tree = ast.parse((root / file).read_text())
    found, seen = [], Counter[str]()
    for place, node, chain in _nodes(tree, (), ()):
        scope = ".".join(x.name for x in chain if isinstance(x, ast.FunctionDef | ast.ClassDef))
        if functions and not any(scope == f or scope.startswith(f + ".") for f in functions):
            continue
        for number, _ in enumerate(_changes(node, chain, place)):
            first, last = _lines(node, chain)
            text = _text(_changed(tree, place, number), place, node)
            seen[scope + text] += 1
            if seen[scope + text] > 1:
                text += f"  # {seen[scope + text]}"
            found.append(Mutant(file, scope, text, first, last, place, number))
    return found


def tree_of(root: Path, mutant: Mutant) -> ast.Module:
    """The syntax tree of the file with the change."""
    tree = _changed(ast.parse((root / mutant.file).read_text()), mutant.place, mutant.number)
    return ast.fix_missing_locations(tree)


def _nodes(
    node: ast.AST, place: Place, chain: tuple[ast.AST, ...]
) -> Iterator[tuple[Place, ast.AST, tuple[ast.AST, ...]]]:
    """Nodes that may change, with the way to them and the nodes around them."""
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns", "decorator_list", "bases", "keywords") and (
            field != "keywords" or isinstance(node, ast.ClassDef)
        ):
            continue
        children = value if isinstance(value, list) else [value]
        for i, child in enumerate(children):
            if not isinstance(child, ast.AST) or _left_alone(child, node, field):
                continue
            where = (*place, (field, i if isinstance(value, list) else None))
            yield where, child, (*chain, node)
            yield from _nodes(child, where, (*chain, node))


def _left_alone(child: ast.AST, parent: ast.AST, field: str) -> bool:
    if isinstance(child, ast.JoinedStr | ast.Import | ast.ImportFrom | ast.AnnAssign):
        return True
    if isinstance(parent, ast.Raise) and field == "exc":
        return True
    if isinstance(child, ast.Assign) and isinstance(child.targets[0], ast.Name):
        return child.targets[0].id == "__all__"
    return isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant)


def _changes(node: ast.AST, chain: tuple[ast.AST, ...], place: Place) -> list[ast.AST]:
    """What a node may become."""
    parent = chain[-1]
    inside = any(isinstance(x, ast.FunctionDef) for x in chain)
    out: list[ast.AST] = []
    if isinstance(node, ast.Compare):
        for i, op in enumerate(node.ops):
            for other in COMPARISONS[type(op)]:
                out.append(_with(node, ops=[*node.ops[:i], other(), *node.ops[i + 1 :]]))
    elif isinstance(node, ast.BinOp) and type(node.op) in OPERATORS and not _of_text(node):
        out.append(_with(node, op=OPERATORS[type(node.op)]()))
    elif isinstance(node, ast.AugAssign):
        out += [_with(node, op=OPERATORS[type(node.op)]()), ast.Pass()]
    elif isinstance(node, ast.BoolOp):
        out.append(_with(node, op=ast.Or() if isinstance(node.op, ast.And) else ast.And()))
    elif isinstance(node, ast.UnaryOp):
        out.append(copy.deepcopy(node.operand))
    elif isinstance(node, ast.Constant):
        out += _constants(node, parent)
    elif isinstance(node, ast.Return) and not _is_none(node.value):
        out.append(ast.Return(ast.Constant(None)))
    elif isinstance(node, ast.Call) and (swapped := _swapped(node.func)) is not None:
        out.append(_with(node, func=swapped))
    elif inside and (isinstance(node, ast.Expr | ast.Raise | ast.Break) or _again(node, chain)):
        out.append(ast.Pass())
    elif (
        isinstance(node, ast.Attribute) and node.attr in NAMES and isinstance(parent, ast.Attribute)
    ):
        out.append(_with(node, attr=NAMES[node.attr]))  # such as np.minimum.accumulate
    tested = isinstance(parent, ast.If | ast.IfExp | ast.While) and place[-1][0] == "test"
    if tested and not isinstance(node, ast.Compare | ast.UnaryOp):
        out.append(ast.UnaryOp(ast.Not(), copy.deepcopy(node)))
    return out


def _constants(node: ast.Constant, parent: ast.AST) -> list[ast.AST]:
    value = node.value
    if isinstance(value, bool):
        return [ast.Constant(not value)]
    if isinstance(value, int | float):
        return [ast.Constant(value + 1), ast.Constant(value - 1)]
    if isinstance(value, str) and value in SIDES:
        return [ast.Constant(SIDES[value])]
    if isinstance(value, str) and isinstance(parent, ast.Compare):
        return [ast.Constant(value + "?")]
    return []


def _swapped(func: ast.expr) -> ast.expr | None:
    if isinstance(func, ast.Name) and func.id in NAMES:
        return ast.Name(NAMES[func.id], ast.Load())
    if isinstance(func, ast.Attribute) and func.attr in NAMES:
        return _with(func, attr=NAMES[func.attr])
    return None


def _again(node: ast.AST, chain: tuple[ast.AST, ...]) -> bool:
    """Whether an assignment changes what is there already, so that code without it still runs."""
    if not isinstance(node, ast.Assign):
        return False
    target = node.targets[0]
    if not isinstance(target, ast.Name):
        return isinstance(target, ast.Subscript | ast.Attribute)
    function = next(x for x in reversed(chain) if isinstance(x, ast.FunctionDef))
    arguments = function.args
    known = [a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
    before = [
        name.id
        for other in ast.walk(function)
        if isinstance(other, ast.Assign) and other.lineno < node.lineno
        for name in ast.walk(other)
        if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)
    ]
    return target.id in (*known, *before)


def _of_text(node: ast.BinOp) -> bool:
    return any(
        isinstance(side, ast.JoinedStr)
        or (isinstance(side, ast.Constant) and isinstance(side.value, str))
        for side in (node.left, node.right)
    )


def _is_none(value: ast.expr | None) -> bool:
    return value is None or (isinstance(value, ast.Constant) and value.value is None)


def _with(node: Any, **fields: Any) -> Any:
    new = copy.deepcopy(node)
    for name, value in fields.items():
        setattr(new, name, value)
    return new


def _changed(tree: ast.Module, place: Place, number: int) -> ast.Module:
    tree = copy.deepcopy(tree)
    chain: list[Any] = [tree]
    for field, i in place:
        value = getattr(chain[-1], field)
        chain.append(value if i is None else value[i])
    new = ast.copy_location(_changes(chain[-1], tuple(chain[:-1]), place)[number], chain[-1])
    field, i = place[-1]
    if i is None:
        setattr(chain[-2], field, new)
    else:
        getattr(chain[-2], field)[i] = new
    return tree


def _lines(node: Any, chain: tuple[Any, ...]) -> tuple[int, int]:
    """Lines whose tests can notice: those of a statement, or of a condition."""
    around = next((x for x in reversed((*chain, node)) if isinstance(x, ast.stmt)), node)
    if isinstance(around, ast.FunctionDef):  # a default
        return around.body[0].lineno, around.end_lineno or around.lineno
    if isinstance(around, COMPOUND):
        return node.lineno, node.end_lineno
    return around.lineno, around.end_lineno or around.lineno


def _text(tree: ast.Module, place: Place, before: ast.AST) -> str:
    """The changed statement; of a compound one its head."""
    chain: list[Any] = [tree]
    for field, i in place:
        value = getattr(chain[-1], field)
        chain.append(value if i is None else value[i])
    around = next(x for x in reversed(chain) if isinstance(x, ast.stmt))
    if isinstance(around, ast.Pass):
        return f"without {_line(before)}"
    return _line(around)


def _line(node: ast.AST) -> str:
    lines = ast.unparse(node).splitlines()
    return lines[0] if isinstance(node, COMPOUND) else " ".join(line.strip() for line in lines)
