"""Warnings that point at the line of the caller, from any depth."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import NamedTuple, TypeVar

from selica._core.errors import AssumptionWarning

T = TypeVar("T")


class Said(NamedTuple):
    """What `warn` said."""

    message: str
    category: type[Warning]


_PACKAGE = f"{Path(__file__).parents[1]}{os.sep}"
"""Folder of the package, with the sign that ends it: folders beside it may begin alike."""
_BETWEEN = ("sklearn", "joblib")
"""Libraries that may stand between a caller and the package, as a pipeline does."""
_NOTED: ContextVar[bool] = ContextVar("noted", default=False)
"""Whether the caller reads the notes of a result in the place of warnings."""
_SAID: ContextVar[list[Said] | None] = ContextVar("said", default=None)
"""Where what is said is collected, to become notes of a result."""


def warn(message: str, category: type[Warning]) -> None:
    """Give a warning that names the first line outside of the package.

    Parameters
    ----------
    message : str
        One sentence or more.
    category : type of Warning

    Notes
    -----
    The line is that of the code that called the package, whether directly or through scikit-learn
    or joblib. A worker has no caller: `overheard` brings what is said there to the thread that
    waits for it.
    """
    if issubclass(category, UserWarning):
        said = _SAID.get()
        if said is not None:
            said.append(Said(message, category))
        if _NOTED.get():
            return
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and _inside(frame.f_code.co_filename, frame.f_globals):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def cautioned(before: tuple[str, ...], clause: str, *, act: bool = True) -> tuple[str, ...]:
    """Return cautions with one more sentence; warn of it where a person should act on it.

    Parameters
    ----------
    before : tuple of str
        What was said so far about what weakens a selection.
    clause : str
        The sentence without its capital and its full stop.
    act : bool

    Examples
    --------
    >>> from selica._core.warning import cautioned
    >>> cautioned(("Rows repeat.",), "there are few rows", act=False)
    ('Rows repeat.', 'There are few rows.')
    """
    caution = f"{clause[0].upper()}{clause[1:]}."
    if act:
        warn(caution, AssumptionWarning)
    return (*before, caution)


@contextmanager
def heard() -> Iterator[list[Said]]:
    """Collect every `UserWarning` that `warn` says inside, from any depth.

    They are said all the same, and whoever listens further out hears them too. Unlike
    `warnings.catch_warnings`, it works in threads, each of which hears what it says itself.
    """
    outer, said = _SAID.get(), list[Said]()
    token = _SAID.set(said)
    try:
        yield said
    finally:
        _SAID.reset(token)
        if outer is not None:
            outer.extend(said)


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


@contextmanager
def withheld() -> Iterator[list[Said]]:
    """Collect every `UserWarning` that `warn` says inside, without saying it or passing it on.

    Whoever asks for it decides later what is said: `warn` takes a `Said` by its fields.

    Examples
    --------
    >>> from selica._core.warning import heard, warn, withheld
    >>> with heard() as outside, withheld() as said:
    ...     warn("Nobody hears this.", UserWarning)
    >>> said[0].message, outside
    ('Nobody hears this.', [])
    """
    said = list[Said]()
    collects, silent = _SAID.set(said), _NOTED.set(True)
    try:
        yield said
    finally:
        _NOTED.reset(silent)
        _SAID.reset(collects)


def overheard(work: Callable[..., T], arguments: Iterable[object]) -> tuple[T, list[Said]]:
    """Return the result of work(*arguments) in a worker, and what it would have said there.

    Parameters
    ----------
    work : callable
    arguments : iterable
    """
    with heard() as said, noted():
        return work(*arguments), said


def _inside(file: str, names: dict[str, object]) -> bool:
    """Tell whether a frame belongs to the package or to a library in between."""
    if file.startswith(_PACKAGE):
        return True
    return str(names.get("__name__", "")).split(".")[0] in _BETWEEN
