"""Pieces of work side by side, and how many threads the linear algebra library has meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from functools import lru_cache
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController

from selica._core.progress import stop_here
from selica._core.types import Progress
from selica._core.validation import workers
from selica._core.warning import Said, overheard, warn

T = TypeVar("T")
_SMALL = 1000
"""Rows and columns up to which a second thread saves no time worth having."""


@lru_cache(maxsize=1)
def _libraries() -> ThreadpoolController:
    # looking for the libraries takes milliseconds, more than a small fit
    return ThreadpoolController()


def one_blas_thread() -> Any:
    """Return a context in which matrix products use one thread, since members share the cores."""
    return _libraries().limit(limits=1, user_api="blas")


def blas_threads_for(shape: tuple[int, ...]) -> Any:
    """Return a context for cubic work on a table of this shape.

    Threads round in their own order. A small table gets one, and so the same bytes for every
    number of threads; a large one gets all there are.
    """
    return one_blas_thread() if max(shape) <= _SMALL else nullcontext()


def pieces(
    work: Callable[..., T],
    arguments: Iterable[tuple[Any, ...]],
    n_jobs: int | None,
    *,
    progress: Progress | None = None,
    fewest: int | None = None,
) -> list[T]:
    """Return the results of work(*arguments), in order.

    Parameters
    ----------
    work : callable
    arguments : iterable of tuples
    n_jobs : int, optional
        Workers, through joblib; None: threads of this process, since compiled code runs side by
        side in them.
    progress : callable, optional
        ``progress(done, total)``, called by the thread that waits.
    fewest : int, optional
        With so many results Ctrl-C returns those that are there, inside `stoppable`; without it all
        are needed.
    """
    tasks = list(arguments)
    if workers(n_jobs) is not None:
        from joblib import Parallel, delayed

        parallel = Parallel(n_jobs=n_jobs, return_as="generator")
        done = parallel(delayed(overheard)(work, each) for each in tasks)
        return _said_here(done, len(tasks), progress, fewest)
    from selica._core.compiled import threads

    with (
        one_blas_thread(),
        ThreadPoolExecutor(threads()) as pool,
    ):
        found = (one for one in pool.map(lambda each: overheard(work, each), tasks))
        return _said_here(found, len(tasks), progress, fewest)


def _said_here(
    done: Generator[tuple[T, list[Said]], None, None],
    total: int,
    progress: Progress | None,
    fewest: int | None,
) -> list[T]:
    """Return results, and say in this thread what workers noticed, each sentence once."""
    results: list[tuple[T, list[Said]]] = []
    try:
        for one in done:
            results.append(one)
            if progress is not None:
                progress(len(results), total)
    except KeyboardInterrupt:
        if fewest is None or len(results) < fewest or not stop_here():
            raise
    finally:
        done.close()  # what has not begun does not begin any more
    for sentence in dict.fromkeys(each for _, said in results for each in said):
        warn(sentence.message, sentence.category)
    return [result for result, _ in results]
