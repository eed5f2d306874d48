"""Long work of all windows in turns: they share the cores of one machine."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Condition

_OFTEN = 0.1
"""Seconds between two looks of one who waits."""


class Turns:
    """A queue for one kind of work: first come, first served.

    Parameters
    ----------
    places : int
        Pieces of work that go on at the same time.
    """

    def __init__(self, places: int = 1) -> None:
        self._places = places
        self._changed = Condition()
        self._queue: deque[object] = deque()

    @property
    def are_taken(self) -> bool:
        """Whether a piece of work would have to wait."""
        with self._changed:
            return len(self._queue) >= self._places

    @contextmanager
    def turn(self, waiting: Callable[[], object] = lambda: None) -> Iterator[None]:
        """Wait for those who came before; `waiting` is called again and again, and may raise."""
        ticket = object()
        with self._changed:
            self._queue.append(ticket)
        try:
            while not self._is_next(ticket):
                waiting()
            yield
        finally:
            with self._changed:
                self._queue.remove(ticket)
                self._changed.notify_all()

    def _is_next(self, ticket: object) -> bool:
        with self._changed:
            return self._changed.wait_for(lambda: self._queue.index(ticket) < self._places, _OFTEN)
