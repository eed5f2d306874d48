"""Every public function shows how it is called, every result how it is come by and read.

`python -m tests.test_docstrings` lists what has no example.
"""

from __future__ import annotations

import inspect
from importlib import import_module

import pytest

ROOMS = (
    "amp", "catalogue", "control", "errors", "experiments", "planning", "plots", "progress",
    "reports", "sampling", "selectors", "solvers", "statistics", "tables", "tables.genotypes",
    "theory",
)  # fmt: skip


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


@pytest.mark.parametrize("room", ROOMS)
def test_public_names_have_an_example(room: str) -> None:
    assert lacking(room) == []


@pytest.mark.parametrize("room", ROOMS)
def test_public_names_have_a_docstring(room: str) -> None:
    module = import_module(f"selica.{room}")
    values = [(name, getattr(module, name)) for name in module.__all__]
    assert [name for name, value in values if callable(value) and not value.__doc__] == []


if __name__ == "__main__":
    for each in ROOMS:
        for missing in lacking(each):
            print(f"selica.{each}.{missing}")
