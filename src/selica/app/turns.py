"""Long work of all windows, one piece after another: they share one interpreter."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock

_OFTEN = 0.1
"""Seconds between two looks."""


class Turns:
    """Of one kind of work."""

    def __init__(self) -> None:
        self._lock = Lock()

    @contextmanager
    def turn(self, waiting: Callable[[], object] = lambda: None) -> Iterator[None]:
        """Waits for the work of others; `waiting` is called again and again, and may raise."""
        while not self._lock.acquire(timeout=_OFTEN):
            waiting()
        try:
            yield
        finally:
            self._lock.release()
