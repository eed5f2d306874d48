"""The public names of the package, as text: `python -m tests.public_api` writes public_api.txt.

A line is a name with its arguments and their defaults, an attribute, a command with an option, or a
method of the catalogue. `tests/test_public_api.py` compares the file with the package;
docs/compatibility.md says what may change and how.
"""

from __future__ import annotations

import enum
import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import typer

from selica import catalogue
from selica.cli import app
from tests.test_docstrings import ROOMS

LISTED = Path(__file__).with_suffix(".txt")


def signature(value: Any, skip_first: bool = False) -> str:
    """Arguments with their defaults, without their types."""
    kept = list(inspect.signature(value).parameters.values())[skip_first:]
    plain = [one.replace(annotation=inspect.Parameter.empty) for one in kept]
    return re.sub(r" at 0x\w+", "", str(inspect.Signature(plain)))


def fitted(value: type) -> Iterator[str]:
    """Attributes that the docstring of a class lists."""
    text = inspect.getdoc(value) or ""
    found = re.search(r"^Attributes\n-+\n(.*?)(?=^\w+\n-+\n|\Z)", text, re.MULTILINE | re.DOTALL)
    for line in found[1].splitlines() if found else ():
        if re.match(r"[a-z]", line):
            yield from (name.strip() for name in line.partition(" : ")[0].split(","))


def members(value: type) -> Iterator[str]:
    """Public methods, properties and attributes, also those of bases within the package."""
    attributes = set(fitted(value))
    methods = {}
    for base in reversed(value.__mro__):
        if not base.__module__.startswith("selica."):
            continue
        attributes |= set(inspect.get_annotations(base))
        for name, part in vars(base).items():
            if name.startswith("_") or name.endswith("_request"):  # made by scikit-learn
                continue
            bare = part.__func__ if isinstance(part, classmethod | staticmethod) else part
            if "ormer name" in (getattr(bare, "__doc__", "") or ""):  # accepted, but not promised
                continue
            if inspect.isfunction(bare):
                methods[name] = signature(bare, not isinstance(part, staticmethod))
            else:
                attributes.add(name)
    attributes |= set(getattr(value, "_fields", ()))
    lines = {f".{name}" for name in attributes - set(methods) if not name.startswith("_")}
    yield from sorted(lines | {f".{name}{text}" for name, text in methods.items()})


def described(name: str, value: Any) -> Iterator[str]:
    """Lines about one name."""
    if not inspect.isclass(value):
        yield f"{name}{signature(value)}" if inspect.isfunction(value) else name
    elif issubclass(value, BaseException):
        yield f"{name}: {', '.join(base.__name__ for base in value.__bases__)}"
    elif issubclass(value, enum.Enum):
        yield name
        yield from (f"{name}.{one.name}" for one in value)
    else:
        yield f"{name}{signature(value)}"
        yield from (f"{name}{member}" for member in members(value))


def commands(command: Any, path: str) -> Iterator[str]:
    """Options and arguments of a command and of those below it."""
    for one in command.params:
        words = [*one.opts, *one.secondary_opts]
        is_option = any(word.startswith("-") for word in words)
        yield f"{path} {' '.join(words) if is_option else one.name.upper()}"
    for name, below in getattr(command, "commands", {}).items():
        yield from commands(below, f"{path} {name}")


def lines() -> list[str]:
    """The public interface, sorted within its three parts."""
    names = []
    for room in ("", *ROOMS):
        module = import_module(f"selica.{room}".rstrip("."))
        for name in sorted(module.__all__):
            value = getattr(module, name)
            if not inspect.ismodule(value):
                home = f"{module.__name__}.{name}"
                names += described(home, value) if room else [home]
    typed = sorted(f"$ {line}" for line in commands(typer.main.get_command(app), "selica"))
    return [*names, *typed, *(f"method {name}" for name in sorted(catalogue.METHODS))]


def main() -> None:
    """Write the list."""
    LISTED.write_text("\n".join(lines()) + "\n", "utf-8")
    print(f"{len(lines())} lines in {LISTED}")


if __name__ == "__main__":
    main()
