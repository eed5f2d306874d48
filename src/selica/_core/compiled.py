"""The core in C++: one extension module for each instruction set, beside this file.

The modules are built from `cpp/` when the package is installed. Nothing is compiled at run time.
"""

from __future__ import annotations

import os
import sys
from functools import cache
from importlib.machinery import EXTENSION_SUFFIXES
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from threading import Lock
from types import ModuleType
from typing import Any

from selica._core.errors import ArgumentError

SETS = ("baseline", "avx2", "avx512")
"""Instruction sets that a core may be built for, each of which contains those before it."""
FORCED = "SELICA_SET"
"""Environment variable: the instruction set to use instead of the largest that the machine runs."""
ELSEWHERE = "SELICA_CORE"
"""Environment variable: a folder that holds the extension modules instead of the package's own."""
THREADS = "SELICA_NUM_THREADS"
"""Environment variable: how many threads compiled code may have."""

_LOADING = Lock()
"""Held while a module is imported: two threads that do it at once would register its types twice,
and a warning would say so."""


@cache
def core() -> Any:
    """Return the extension module of this machine; it is imported once.

    It is the one for the largest instruction set that was built and that the processor runs. The
    environment variable SELICA_SET names another (`baseline`, `avx2`, `avx512`), SELICA_CORE a
    folder with modules that were built elsewhere, such as those with checked memory.

    Raises
    ------
    ImportError
        If there is no module, or none for the set that is asked for.

    Examples
    --------
    >>> from selica._core.compiled import SETS, core
    >>> core().instruction_set in SETS
    True
    """
    best = str(load("baseline").best_set())
    able = SETS[: SETS.index(best) + 1]
    wanted = os.environ.get(FORCED)
    if wanted:
        if wanted not in SETS:
            raise ImportError(f"{FORCED} is {wanted!r}, which is none of {', '.join(SETS)}.")
        if wanted not in able:
            raise ImportError(
                f"{FORCED} is {wanted!r}, which this processor does not run; it runs "
                f"{', '.join(able)}."
            )
        return load(wanted)
    for each in reversed(able[1:]):
        if _file(each) is not None:
            return load(each)
    return load("baseline")


def load(instruction_set: str) -> ModuleType:
    """Import the extension module for one instruction set.

    Raises
    ------
    ImportError
        If it was not built.
    """
    name = f"{__package__}._compiled_{instruction_set}"
    with _LOADING:
        if name in sys.modules:
            return sys.modules[name]
        file = _file(instruction_set)
        if file is None:
            raise ImportError(
                f"The compiled core of selica for {instruction_set!r} is missing: install a wheel, "
                "or build it from the sources with a C++ compiler, by `make core` or `pip install "
                ".`."
            )
        spec = spec_from_file_location(name, file)
        assert spec is not None
        assert spec.loader is not None
        module = module_from_spec(spec)
        spec.loader.exec_module(module)
        sys.modules[name] = module
        return module


def threads() -> int:
    """Return how many threads compiled code may have.

    The environment variable SELICA_NUM_THREADS says so; without it, there is one for each processor
    that this process may use.

    Raises
    ------
    ArgumentError
        If the variable is no positive whole number.
    """
    asked = os.environ.get(THREADS, "").strip()
    if not asked:
        return _processors()
    if not asked.isdecimal() or int(asked) < 1:
        raise ArgumentError(f"{THREADS} is {asked!r}; it has to be a positive whole number.")
    return int(asked)


def _processors() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _file(instruction_set: str) -> Path | None:
    """Return where the module for an instruction set is; None if it was not built."""
    folder = Path(os.environ.get(ELSEWHERE) or Path(__file__).parent)
    named = (folder / f"_compiled_{instruction_set}{ending}" for ending in EXTENSION_SUFFIXES)
    return next((path for path in named if path.exists()), None)
