"""Work in a thread apart, while the page stays ready for the next move of a slider.

Streamlit ends a run of the page when it draws something, or reads its state, and the window has
moved on. A piece of work that does neither for a second would make the next move wait for it.
Longer work is for `workers`.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Event
from time import monotonic
from typing import TypeVar

import streamlit as st

T = TypeVar("T")
_OFTEN = 0.05
"""Seconds between two looks at whether the window has moved on."""
_POOL = ThreadPoolExecutor(4, thread_name_prefix="selica")


def look() -> None:
    """Raise where the window has moved on: Streamlit sees to that when its state is read."""
    st.session_state.get("tab")


class Apart:
    """Work for one answer of one window.

    Parameters
    ----------
    look : callable
        Raises where the window has moved on.
    """

    def __init__(self, look: Callable[[], object]) -> None:
        self._look = look

    def run(self, work: Callable[[], T]) -> T:
        """Return what the work returns; do not wait for it where the window moves on."""
        future: Future[T] = _POOL.submit(work)
        try:
            while not future.done():
                try:
                    return future.result(_OFTEN)
                except TimeoutError:
                    self._look()
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def rest(self, seconds: float) -> None:
        """Wait, unless the window moves on."""
        until = monotonic() + seconds
        while monotonic() < until:
            Event().wait(_OFTEN)
            self._look()
