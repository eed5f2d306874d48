"""Mutants of the certificates of the C++ core, all compiled into one module.

Expressions of the functions below become `selica_mutant == k ? changed : original`. The module is
built once, for the baseline instruction set, in `build/mutants`; a child sets the number of its
mutant. Changes swap operators, constants and functions, as far as patterns of text can tell.
"""

from __future__ import annotations

import ctypes
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.mutants.changes import Mutant
from benchmarks.mutants.trials import Trials

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "build" / "mutants"
CERTIFICATES = {
    "paths/squares.hpp": ("Solved judge() const",),
    "paths/newton.hpp": ("double certify(double value)", "double paid(const double* w) const"),
    "paths/multinomial_fit.hpp": ("double certify(double value)",),
    "paths/fit.hpp": ("inline double ridge_conjugate", "inline double distance"),
    "paths/record.hpp": ("void progress(", "bool finish(", "void degenerate("),
    "paths/multinomial_record.hpp": ("void progress(", "bool finish("),
}
"""Beginnings of the functions that gaps, violations and the status come from."""
TESTS = tuple(
    f"tests/solvers/test_{name}.py"
    for name in (
        "certificates",
        "elastic_net",
        "free_columns",
        "lasso",
        "multinomial",
        "multinomial_certificates",
        "newton",
    )
)
SWAPS = (
    (" + ", " - "), (" - ", " + "), (" * ", " / "), (" / ", " * "), (" > ", " >= "),
    (" > ", " <= "), (" < ", " <= "), (" < ", " >= "), (" <= ", " < "), (" <= ", " > "),
    (" >= ", " > "),
    (" >= ", " < "), (" == ", " != "), (" != ", " == "), (" && ", " || "), (" || ", " && "),
    ("std::max(", "std::min("), ("std::min(", "std::max("), ("std::abs(", "("), ("0.5", "1.5"),
    ("1.0", "2.0"), ("0.0", "1.0"), ("!(", "("),
)  # fmt: skip
EXPRESSIONS = (
    re.compile(r"\breturn (?P<e>[^{};]+);"),
    re.compile(r"\bif \((?P<e>(?:[^()]|\([^()]*\)|\((?:[^()]|\([^()]*\))*\))+)\)"),
    re.compile(r"(?<![=!<>]) [+-]?= (?P<e>[^{};]+);"),
)


def core_trials(said: Callable[[Mutant, str], None]) -> tuple[Trials, tuple[str, ...]]:
    """Build the module; return its mutants and the tests that have to notice them."""
    source = FOLDER / "source"
    found: list[Mutant] = []
    visible = '__attribute__((visibility("default"), used))'
    switch = f'extern "C" {{\n{visible} inline int selica_mutant = 0;\n}}\nnamespace selica {{'
    texts = {path.relative_to(ROOT): path.read_text() for path in ROOT.glob("cpp/**/*.?pp")}
    texts[Path("CMakeLists.txt")] = (ROOT / "CMakeLists.txt").read_text()
    for file, functions in CERTIFICATES.items():
        place = Path("cpp") / file
        texts[place] = _instrumented(file, texts[place], functions, found)
    types = Path("cpp/base/types.hpp")
    texts[types] = texts[types].replace("namespace selica {", switch, 1)
    for place, text in texts.items():
        path = source / place
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text() != text:  # what is the same is not built again
            path.write_text(text)
    _build(source)
    os.environ |= {"SELICA_CORE": str(FOLDER), "SELICA_SET": "baseline"}
    return Trials(found, said, change=_switch), TESTS


def _instrumented(file: str, text: str, functions: tuple[str, ...], found: list[Mutant]) -> str:
    for beginning in functions:
        start = text.index(beginning)
        end = _end(text, text.index("{", start))
        body = text[start:end]
        places = sorted(_places(body), reverse=True)
        for first, last in places:
            expression = body[first:last]
            chain = f"({expression})"
            for changed in _changed(expression):
                number = len(found) + 1
                line = text.count("\n", 0, start) + body.count("\n", 0, first) + 1
                said = " ".join(changed.split())
                scope = beginning.split("(")[0].split()[-1]
                found.append(Mutant(f"cpp/{file}", scope, said, line, line, (), number))
                chain = f"(selica_mutant == {number} ? ({changed}) : {chain})"
            body = body[:first] + chain + body[last:]
        text = text[:start] + body + text[end:]
    return text


def _end(text: str, brace: int) -> int:
    depth = 0
    for place in range(brace, len(text)):
        depth += {"{": 1, "}": -1}.get(text[place], 0)
        if depth == 0:
            return place + 1
    raise ValueError("a function without an end")


def _places(body: str) -> Iterator[tuple[int, int]]:
    """Beginnings and ends of expressions that stand alone, none inside another."""
    taken: list[tuple[int, int]] = []
    for pattern in EXPRESSIONS:
        for match in pattern.finditer(body):
            first, last = match.span("e")
            if _alone(match["e"]) and all(last <= a or first >= b for a, b in taken):
                taken.append((first, last))
                yield first, last


def _alone(expression: str) -> bool:
    """Whether a text is one expression: no list, no assignment, no comment, no pointer."""
    depth = 0
    for sign in expression:
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(sign, 0)
        if depth < 0 or (depth == 0 and sign == ","):
            return False
    return depth == 0 and not re.search(r" [+-]?= |//|\.data\(\)", expression)


def _changed(expression: str) -> Iterator[str]:
    for old, new in SWAPS:
        for match in re.finditer(re.escape(old), expression):
            if old[0].isdigit() and expression[match.start() - 1 : match.start()] not in (
                "",
                " ",
                "(",
            ):
                continue
            if old == "!(" and match.start() > 0 and expression[match.start() - 1] == "!":
                continue
            yield expression[: match.start()] + new + expression[match.end() :]


def _build(source: Path) -> None:
    bin_ = Path(sys.executable).parent
    environment = os.environ | {"PATH": f"{bin_}{os.pathsep}{os.environ['PATH']}"}
    configure = [
        "cmake",
        "-S",
        str(source),
        "-B",
        str(FOLDER),
        "-G",
        "Ninja",
        "--log-level=WARNING",
    ]
    settings = ["-DSELICA_NATIVE_SETS=baseline", f"-DPython_EXECUTABLE={sys.executable}"]
    subprocess.run([*configure, *settings], check=True, env=environment)
    subprocess.run(["cmake", "--build", str(FOLDER)], check=True, env=environment)


def _switch(mutant: Mutant) -> None:
    from selica._core.compiled import core

    ctypes.c_int.in_dll(ctypes.CDLL(core().__file__), "selica_mutant").value = mutant.number
