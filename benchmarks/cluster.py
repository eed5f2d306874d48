"""What a cluster is sent, before and after arrays travel once: `python -m benchmarks.cluster`.

Two worker processes of Dask. "Before" is what joblib sends by itself: every chunk with its table.
Bytes are those of all messages that arrive at the workers, from the scheduler and from each other,
counted where the messages of a connection are put together; answers are counted in the same way in
this process, where they arrive twice, at the scheduler and from it. `--kill` ends one worker in the
middle. `--ray` runs the same on Ray: there bytes are what is put into the object store.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import joblib
import numpy as np

from selica import DerandomizedKnockoffs, StabilitySelection
from selica._core import parallel
from selica.sampling import resample_weights, simulate
from selica.solvers import ensemble, lasso_path_batch

MB = 1e6
SEED = 1


class Run(NamedTuple):
    """Work for a cluster."""

    name: str
    design: int
    """Bytes of the table as it is fitted."""
    answer: Callable[[int | None], Any]
    """Takes n_jobs."""


class Row(NamedTuple):
    """What one run took."""

    chunks: int
    received: int
    """Bytes that arrived at the workers."""
    returned: int
    """Bytes that came back."""
    seconds: float
    same: bool
    """Whether the answer is that of one process, to the last bit."""


def genotypes(n: int, p: int) -> Any:
    """A table of 0, 1 and 2 in a byte each, and a response."""
    rng = np.random.default_rng(SEED)
    share = rng.uniform(0.1, 0.5, p)
    X = np.asfortranarray(rng.binomial(2, share, (n, p)).astype(np.int8))
    y = X[:, :10].sum(axis=1) + 2.0 * rng.standard_normal(n)
    return X, y


def runs(scale: float, folder: Path) -> Iterator[Run]:
    """Ensembles of fits on a table in memory and in a file, resamples and copies of selectors."""
    n, p, members = 400, int(20_000 * scale), 200
    X, y = genotypes(n, p)
    weights = resample_weights(n, members, "subsample", 0.5, random_state=SEED)
    path = np.abs((X - X.mean(axis=0)).T @ (y - y.mean())).max() * np.geomspace(0.6, 0.3, 10)

    def counts(table: Any, n_jobs: int | None) -> Any:
        fit = lasso_path_batch(
            table, y, path, weights, keep="counts", fit_intercept=True, standardize=True,
            max_active=100, n_jobs=n_jobs,
        )  # fmt: skip
        return fit.counts

    yield Run("ensemble, doubles", 8 * n * p, lambda jobs: counts(X.astype(float), jobs))
    yield Run("ensemble, one byte", n * p, lambda jobs: counts(X, jobs))
    np.save(folder / "X.npy", X)
    mapped = np.load(folder / "X.npy", mmap_mode="r")
    yield Run("ensemble, one byte in a file", n * p, lambda jobs: counts(mapped, jobs))

    data = simulate(200, int(1000 * scale), 10, snr=5.0, random_state=SEED)

    def resamples(n_jobs: int | None) -> Any:
        selector = StabilitySelection(pfer=1.0, n_resamples=400, n_jobs=n_jobs, random_state=SEED)
        return selector.fit(data.X, data.y).selection_probabilities_

    def copies(n_jobs: int | None) -> Any:
        selector = DerandomizedKnockoffs(
            n_copies=32, statistic="coefficient", n_jobs=n_jobs, random_state=SEED
        )
        return selector.fit(data.X, data.y).statistics_

    yield Run("StabilitySelection", data.X.nbytes, resamples)
    yield Run("DerandomizedKnockoffs", data.X.nbytes, copies)


@contextmanager
def chunks_counted() -> Iterator[list[int]]:
    """Count the tasks that go to workers."""
    found: list[int] = []
    inner = parallel.on_workers

    def counted(work: Any, tasks: Any, *arguments: Any, **options: Any) -> Any:
        found.append(len(tasks))
        return inner(work, tasks, *arguments, **options)

    with (
        patch.object(parallel, "on_workers", counted),
        patch.object(ensemble, "on_workers", counted),
    ):
        yield found


def _count_messages() -> None:
    """Count the bytes of all messages that arrive in this process, from now on."""
    from distributed.comm import tcp

    if not hasattr(tcp, "selica_counted"):
        inner = tcp.from_frames

        async def counted(frames: Any, *arguments: Any, **options: Any) -> Any:
            tcp.selica_counted += sum(memoryview(frame).nbytes for frame in frames)
            return await inner(frames, *arguments, **options)

        tcp.from_frames = counted
    tcp.selica_counted = 0


def _counted() -> int:
    """Bytes that have arrived."""
    from distributed.comm import tcp

    return int(getattr(tcp, "selica_counted", 0))


class Dask:
    """Two worker processes of Dask."""

    def __init__(self) -> None:
        from distributed import Client, LocalCluster

        options = {"processes": True, "host": "127.0.0.1", "dashboard_address": None}
        self._cluster = LocalCluster(n_workers=2, threads_per_worker=1, **options)
        self._client = Client(self._cluster)
        # what a worker imports and compiles at its first task is not what is measured
        with self.backend():
            lasso_path_batch(*(np.eye(2), np.ones(2), [0.1], np.ones((64, 2))), n_jobs=2)

    def backend(self) -> Any:
        """Context in which joblib sends work here."""
        return joblib.parallel_config(backend="dask")

    def begin(self) -> None:
        """Count from here on."""
        self._client.run(_count_messages)
        _count_messages()

    def counted(self) -> tuple[int, int]:
        """Bytes that arrived at the workers, and at this process."""
        here = _counted()
        return sum(self._client.run(_counted).values()), here

    def kill_one(self) -> None:
        """End a worker as a machine that fails would."""
        pid = next(iter(self._client.run(os.getpid).values()))
        os.kill(pid, signal.SIGKILL)

    def close(self) -> None:
        """End all workers."""
        self._client.close()
        self._cluster.close()


class Ray:
    """Two worker processes of Ray."""

    def __init__(self) -> None:
        import ray
        from ray.util.joblib import register_ray

        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
        register_ray()
        self._put, self._calls = 0, 0
        self._count()

    def _count(self) -> None:
        """Count what is put into the store, and the calls."""
        import ray
        from ray import cloudpickle
        from ray.util.multiprocessing.pool import Pool

        put, call = ray.put, Pool._run_batch

        def counted_put(value: Any, **options: Any) -> Any:
            size = getattr(value, "nbytes", None)
            self._put += len(cloudpickle.dumps(value)) if size is None else size
            return put(value, **options)

        def counted_call(pool: Any, actor: int, func: Any, batch: Any) -> Any:
            self._calls += 1
            return call(pool, actor, func, batch)

        ray.put, Pool._run_batch = counted_put, counted_call

    def backend(self) -> Any:
        """Context in which joblib sends work here."""
        return joblib.parallel_config(backend="ray", n_jobs=2)

    def begin(self) -> None:
        """Count from here on."""
        self._put = 0

    def counted(self) -> tuple[int, int]:
        """Bytes that were put into the store; answers are not counted."""
        return self._put, 0

    def kill_one(self) -> None:
        """Not measured on Ray."""

    def close(self) -> None:
        """End all workers."""
        import ray

        ray.shutdown()


def measured(run: Run, cluster: Any, *, plain: bool = False, kill: bool = False) -> Row:
    """One run on a cluster, beside its answer in one process."""
    expected = run.answer(None)
    cluster.begin()
    killer = threading.Timer(0.6, cluster.kill_one)
    alone = patch.object(parallel, "cluster_of", lambda _: None) if plain else nullcontext()
    with alone, chunks_counted() as chunks, cluster.backend():
        begin = time.perf_counter()
        if kill:
            killer.start()
        found = run.answer(2)
        seconds = time.perf_counter() - begin
    if kill:
        killer.join()
    received, returned = cluster.counted()
    return Row(sum(chunks), received, returned, seconds, np.array_equal(found, expected))


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=float, default=1.0, help="factor of the columns")
    parser.add_argument("--kill", action="store_true", help="end a worker in the middle")
    parser.add_argument("--ray", action="store_true", help="on Ray instead of Dask")
    arguments = parser.parse_args()
    heads = ("what", "chunks", "design, MB", "before, MB", "after, MB", "answers, MB")
    print(f"| {' | '.join(heads)} | before, s | after, s | same |")
    print("|---" * 9 + "|")
    with tempfile.TemporaryDirectory() as folder:
        for run in runs(arguments.scale, Path(folder)):
            rows = []
            for plain in (True, False):
                cluster = Ray() if arguments.ray else Dask()
                try:
                    rows.append(measured(run, cluster, plain=plain, kill=arguments.kill))
                finally:
                    cluster.close()
            before, after = rows
            sizes = (run.design, before.received, after.received, after.returned)
            print(
                f"| {run.name} | {after.chunks} | "
                + " | ".join(f"{size / MB:.1f}" for size in sizes)
                + f" | {before.seconds:.1f} | {after.seconds:.1f} | "
                f"{'yes' if before.same and after.same else 'NO'} |",
                flush=True,
            )


if __name__ == "__main__":
    sys.exit(main())
