"""Pieces of work side by side, and how many threads the linear algebra library has meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from functools import lru_cache
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController

from selica._core.clusters import active_cluster, arrived
from selica._core.progress import stop_here
from selica._core.shared_arrays import SharedArrays, sharing, unpacked
from selica._core.types import Progress
from selica._core.validation import workers
from selica._core.warning import Said, overheard, warn

T = TypeVar("T")
_ATTEMPTS = 3
"""How often arrays are put on the workers again, where all that had them died."""
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
    each: Callable[[int, T], object] | None = None,
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
    each : callable, optional
        ``each(place, result)``, called by the thread that waits as soon as a result is there.
    """
    tasks = list(arguments)
    if workers(n_jobs) is not None:
        done = on_workers(_overheard_alone, [(work, task) for task in tasks], n_jobs)
        return _said_here(done, len(tasks), progress, fewest, each)
    from selica._core.compiled import threads

    with (
        one_blas_thread(),
        ThreadPoolExecutor(threads()) as pool,
    ):
        found = (one for one in pool.map(lambda task: overheard(work, task), tasks))
        return _said_here(found, len(tasks), progress, fewest, each)


def _said_here(
    done: Generator[tuple[T, list[Said]], None, None],
    total: int,
    progress: Progress | None,
    fewest: int | None,
    each: Callable[[int, T], object] | None,
) -> list[T]:
    """Return results, and say in this thread what workers noticed, each sentence once."""
    results: list[tuple[T, list[Said]]] = []
    try:
        for one in done:
            results.append(one)
            if each is not None:
                each(len(results) - 1, one[0])
            if progress is not None:
                progress(len(results), total)
    except KeyboardInterrupt:
        if fewest is None or len(results) < fewest or not stop_here():
            raise
    finally:
        done.close()  # what has not begun does not begin any more
    for sentence in dict.fromkeys(one for _, said in results for one in said):
        warn(sentence.message, sentence.category)
    return [result for result, _ in results]


def _overheard_alone(work: Callable[..., T], arguments: tuple[Any, ...]) -> tuple[T, list[Said]]:
    """Do a piece of work on a worker, with one thread for matrix products as on any other."""
    with one_blas_thread():
        return overheard(work, arguments)


def on_workers(
    work: Callable[..., T],
    tasks: Sequence[tuple[Any, ...]],
    n_jobs: int | None,
    *,
    prefer: str | None = None,
) -> Generator[T, None, None]:
    """Yield the results of work(*task) in order, through joblib.

    On a cluster, arrays that tasks have in common travel to a worker once, and inside `sharing`
    also where several calls have them in common.

    Parameters
    ----------
    work : callable
    tasks : sequence of tuples
    n_jobs : int, optional
        Workers; None follows `joblib.parallel_config`.
    prefer : {"processes", "threads"}, optional
        As in joblib.
    """
    from joblib import Parallel, delayed  # slow to import, and seldom needed

    with sharing() as places:
        for attempt in range(_ATTEMPTS):
            try:
                parallel = Parallel(n_jobs=n_jobs, prefer=prefer, return_as="generator")
            except ValueError:  # the backend of Ray has all results at the end
                parallel = Parallel(n_jobs=n_jobs, prefer=prefer)
            cluster = active_cluster(prefer)
            if cluster is None or not tasks:
                yield from parallel(delayed(work)(*task) for task in tasks)
                return
            shared = SharedArrays(tasks, cluster.put, places)
            packed = (shared.packed((work, task)) for task in tasks)
            done = 0
            try:
                for result in parallel(
                    delayed(_unpacked_call)(content, *arrays) for content, arrays in packed
                ):
                    done += 1
                    yield result
                return
            except GeneratorExit:
                raise
            except BaseException:
                if attempt == _ATTEMPTS - 1 or not cluster.lost(places.handles):
                    raise
            # all workers that had an array died; others go on with what is left
            places.forget()
            cluster.wait()
            tasks = tasks[done:]


def _unpacked_call(content: bytes, *arrays: Any) -> Any:
    """Do a task on a worker."""
    work, task = unpacked(content, [arrived(array) for array in arrays])
    return work(*task)
