"""Threads of the linear algebra library."""

from __future__ import annotations

from contextlib import nullcontext
from functools import lru_cache
from typing import Any

from threadpoolctl import ThreadpoolController

_SMALL = 1000
"""Rows and columns up to which a second thread saves no time worth having."""


@lru_cache(maxsize=1)
def _libraries() -> ThreadpoolController:
    # looking for the libraries takes milliseconds, more than a small fit
    return ThreadpoolController()


def one_blas_thread() -> Any:
    """A context in which matrix products use one thread, since members share the cores."""
    return _libraries().limit(limits=1, user_api="blas")


def blas_threads_for(shape: tuple[int, ...]) -> Any:
    """A context for cubic work on a table of this shape.

    Threads round in their own order. A small table gets one, and so the same bytes for every
    number of threads; a large one gets all there are.
    """
    return one_blas_thread() if max(shape) <= _SMALL else nullcontext()
