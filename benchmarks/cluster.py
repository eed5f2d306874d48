"""What a cluster is sent, before and after arrays travel once: `python -m benchmarks.cluster`.

Two worker processes of Dask. "Before" is what joblib sends by itself: every chunk with its table.
Bytes are those of all messages that arrive at the workers, from the scheduler and from each other,
counted where the messages of a connection are put together; answers are counted in the same way in
this process, where they arrive twice, at the scheduler and from it. `--kill` ends one worker that
is at work, once a chunk is done; what had arrived there until then counts too, and so does what its
successor is sent. "Same" tells, before and after, whether the answer is that of one process to the
last bit. `--ray` runs the same on Ray: there bytes are what is put into the object store.
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
from benchmarks.simulate_cohort import Cohort, simulate_cohort

from selica import DerandomizedKnockoffs, StabilitySelection
from selica._core import parallel
from selica.sampling import resample_weights, simulate
from selica.solvers import ensemble, lasso_path_batch, two_bit_design
from selica.tables.genotypes import read_genotypes

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
    again: int = 0
    """Chunks that a worker which was killed left undone."""


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
    yield from genotype_runs(Cohort(n=2000, p=int(20_000 * scale)), folder)


def genotype_runs(cohort: Cohort, folder: Path) -> Iterator[Run]:
    """Selections from genotypes of two bits: mapped from a .bed file, and the same in memory."""
    path = simulate_cohort(folder / "cohort.bed", cohort)
    y = np.loadtxt(path.with_suffix(".pheno"), skiprows=1, usecols=2)
    genotypes = read_genotypes(path)
    copied = two_bit_design(np.array(genotypes.codes), genotypes.n_rows)

    def selection(table: Any, n_jobs: int | None) -> Any:
        selector = StabilitySelection(pfer=1.0, n_jobs=n_jobs, random_state=SEED)
        return selector.fit(table, y).selection_probabilities_

    name = "StabilitySelection, genotypes in "
    yield Run(f"{name}a .bed file", copied.nbytes, lambda jobs: selection(genotypes, jobs))
    yield Run(f"{name}memory", copied.nbytes, lambda jobs: selection(copied, jobs))


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


def _watch() -> Any:
    """Return a plugin that knows which tasks were finished, and which a worker left undone."""
    from distributed.diagnostics.plugin import SchedulerPlugin

    class Watch(SchedulerPlugin):  # type: ignore[misc]
        finished: set[Any] = set()  # noqa: RUF012 (one for each class, which is made anew)
        undone: set[Any] = set()  # noqa: RUF012

        def transition(
            self, key: Any, start: str, finish: str, *arguments: Any, **options: Any
        ) -> None:
            if (start, finish) == ("processing", "memory"):
                self.finished.add(key)
            if (start, finish) == ("processing", "released"):
                self.undone.add(key)

    return Watch()


def _counter() -> Any:
    """Return a plugin by which workers that come later count messages too."""
    from distributed.diagnostics.plugin import WorkerPlugin

    class Counter(WorkerPlugin):  # type: ignore[misc]
        name = "selica-counter"

        def setup(self, worker: Any) -> None:
            _count_messages()

    return Counter()


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
        self._lost, self._watch = 0, _watch()
        self._cluster.scheduler.add_plugin(self._watch, name="selica-watch")
        self._client.register_plugin(_counter())
        self._client.run(_count_messages)
        _count_messages()

    def counted(self) -> tuple[int, int]:
        """Bytes that arrived at the workers, and at this process."""
        here = _counted()
        self._client.wait_for_workers(2)
        return self._lost + sum(self._client.run(_counted).values()), here

    def kill_one(self, over: threading.Event) -> None:
        """End a worker that is at work as a machine that fails would, unless all is over."""
        scheduler, pids = self._cluster.scheduler, self._client.run(os.getpid)
        while not over.is_set():
            busy = [one for one in pids if scheduler.workers[one].processing]
            if self._watch.finished and busy:
                self._lost = self._client.run(_counted, workers=busy[:1])[busy[0]]
                os.kill(pids[busy[0]], signal.SIGKILL)
                return
            time.sleep(0.002)

    @property
    def again(self) -> int:
        """Chunks that were left undone by a worker."""
        return len(self._watch.undone)

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

    again = 0

    def kill_one(self, over: threading.Event) -> None:
        """Not measured on Ray."""

    def close(self) -> None:
        """End all workers."""
        import ray

        ray.shutdown()


def measured(run: Run, cluster: Any, *, plain: bool = False, kill: bool = False) -> Row:
    """One run on a cluster, beside its answer in one process."""
    expected = run.answer(None)
    cluster.begin()
    over = threading.Event()
    killer = threading.Thread(target=cluster.kill_one, args=(over,))
    alone = patch.object(parallel, "active_cluster", lambda _: None) if plain else nullcontext()
    with alone, chunks_counted() as chunks, cluster.backend():
        begin = time.perf_counter()
        if kill:
            killer.start()
        found = run.answer(2)
        seconds = time.perf_counter() - begin
    over.set()
    if kill:
        killer.join()
    received, returned = cluster.counted()
    same = np.array_equal(found, expected)
    return Row(sum(chunks), received, returned, seconds, same, cluster.again)


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=float, default=1.0, help="factor of the columns")
    parser.add_argument("--kill", action="store_true", help="end a worker in the middle")
    parser.add_argument("--ray", action="store_true", help="on Ray instead of Dask")
    parser.add_argument("--only", default="", help="runs with this in their names")
    arguments = parser.parse_args()
    heads = ("what", "chunks", "design, MB", "before, MB", "after, MB", "answers, MB")
    print(f"| {' | '.join(heads)} | before, s | after, s | done again | same |")
    print("|---" * 10 + "|")
    with tempfile.TemporaryDirectory() as folder:
        for run in runs(arguments.scale, Path(folder)):
            if arguments.only not in run.name:
                continue
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
                f"{before.again}, {after.again} | "
                + ", ".join("yes" if row.same else "NO" for row in rows)
                + " |",
                flush=True,
            )


if __name__ == "__main__":
    sys.exit(main())
