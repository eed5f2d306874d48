"""Warnings that point at the line of the caller, from any depth."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

_PACKAGE = str(Path(__file__).parents[1])
"""Folder of the package."""
_BETWEEN = ("sklearn", "joblib")
"""Libraries that may stand between a caller and the package, as a pipeline does."""
_NOTED: ContextVar[bool] = ContextVar("noted", default=False)
"""Whether the caller reads the notes of a result in the place of warnings."""
_SAID: ContextVar[list[str] | None] = ContextVar("said", default=None)
"""Where the sentences are collected that become notes of a result."""


def warn(message: str, category: type[Warning]) -> None:
    """Warn at the first line outside of the package.

    Parameters
    ----------
    message : str
        One sentence or more.
    category : type of Warning

    Notes
    -----
    The line is that of the code that called the package, whether directly or through scikit-learn
    or joblib. A thread has no caller: what is noticed there belongs into the notes of a result.
    """
    if issubclass(category, UserWarning):
        said = _SAID.get()
        if said is not None:
            said.append(message)
        if _NOTED.get():
            return
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and _inside(frame.f_code.co_filename, frame.f_globals):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


@contextmanager
def heard() -> Iterator[list[str]]:
    """Collect the sentences of every `UserWarning` that `warn` says inside, from any depth.

    They are said all the same. Unlike `warnings.catch_warnings`, it works in threads, each of which
    hears what it says itself.
    """
    said: list[str] = []
    token = _SAID.set(said)
    try:
        yield said
    finally:
        _SAID.reset(token)


@contextmanager
def noted() -> Iterator[None]:
    """Leave what is noticed to the notes of the result: inside, `warn` shows no `UserWarning`.

    Unlike `warnings.catch_warnings` it changes nothing for other threads.
    """
    token = _NOTED.set(True)
    try:
        yield
    finally:
        _NOTED.reset(token)


def _inside(file: str, names: dict[str, object]) -> bool:
    """Tell whether a frame belongs to the package or to a library in between."""
    if file.startswith(_PACKAGE):
        return True
    return str(names.get("__name__", "")).split(".")[0] in _BETWEEN
