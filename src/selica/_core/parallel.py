"""Independent pieces of a fit: on threads here, or on the workers of joblib."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import numba

from selica._core.threads import one_blas_thread
from selica._core.validation import workers

T = TypeVar("T")


def pieces(
    work: Callable[..., T], arguments: Iterable[tuple[Any, ...]], n_jobs: int | None
) -> list[T]:
    """Results of work(*arguments), in order.

    Parameters
    ----------
    work : callable
    arguments : iterable of tuples
    n_jobs : int, optional
        Workers, through joblib; None: threads of this process, since compiled code runs side by
        side in them.
    """
    if workers(n_jobs) is not None:
        from joblib import Parallel, delayed

        return list(Parallel(n_jobs=n_jobs)(delayed(work)(*each) for each in arguments))
    settings: Any = numba.config
    with (
        one_blas_thread(),
        ThreadPoolExecutor(int(settings.NUMBA_NUM_THREADS)) as pool,
    ):
        return list(pool.map(lambda each: work(*each), arguments))
