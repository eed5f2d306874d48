"""Threads of the linear algebra library."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from threadpoolctl import ThreadpoolController


@lru_cache(maxsize=1)
def _libraries() -> ThreadpoolController:
    # looking for the libraries takes milliseconds, more than a small fit
    return ThreadpoolController()


def one_blas_thread() -> Any:
    """A context in which matrix products use one thread, since members share the cores."""
    return _libraries().limit(limits=1, user_api="blas")
