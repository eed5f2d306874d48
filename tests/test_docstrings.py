"""Every public function shows how it is called.

`python -m tests.test_docstrings` lists what has no example.
"""

from __future__ import annotations

import inspect
from importlib import import_module

import pytest

ROOMS = (
    "amp", "control", "experiments", "planning", "plots", "reports", "sampling", "selectors",
    "solvers", "statistics", "theory",
)  # fmt: skip
# reports is the command line's and the page's.
SHOWN = tuple(room for room in ROOMS if room != "reports")


def lacking(room: str) -> list[str]:
    """Public functions and classes of a room without an example; warnings need none."""
    module = import_module(f"selica.{room}")
    found = [(name, getattr(module, name)) for name in module.__all__]
    return [
        name
        for name, value in found
        if callable(value)
        and ">>>" not in (value.__doc__ or "")
        and not (inspect.isclass(value) and issubclass(value, Warning))
    ]


def is_result(room: str, name: str) -> bool:
    """Whether a class is made by the library: whoever returns it shows it in an example."""
    value = getattr(import_module(f"selica.{room}"), name)
    if not inspect.isclass(value):
        return False
    made = hasattr(value, "__dataclass_fields__") or issubclass(value, tuple)
    return made or inspect.isabstract(value)


@pytest.mark.parametrize("room", SHOWN)
def test_public_functions_have_an_example(room: str) -> None:
    assert [name for name in lacking(room) if not is_result(room, name)] == []


@pytest.mark.parametrize("room", ROOMS)
def test_public_names_have_a_docstring(room: str) -> None:
    module = import_module(f"selica.{room}")
    values = [(name, getattr(module, name)) for name in module.__all__]
    assert [name for name, value in values if callable(value) and not value.__doc__] == []


if __name__ == "__main__":
    for each in ROOMS:
        for missing in lacking(each):
            kind = "result" if is_result(each, missing) else "callable"
            print(f"selica.{each}.{missing} ({kind})")
