"""Whoever does the work, and whoever dies doing it: the counts are the same to the last bit."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import joblib
import numpy as np
import pytest
from distributed import Client, LocalCluster
from distributed.diagnostics.plugin import SchedulerPlugin

from selica.sampling import resample_weights, simulate
from selica.solvers import lasso_path_batch


def _ensemble(members):
    """Arguments of a run of many chunks."""
    data = simulate(150, 800, 10, snr=5.0, random_state=0)
    weights = resample_weights(150, members, "bootstrap", rate=1.0, random_state=1)
    top = np.abs(data.X.T @ data.y).max()
    return data.X, data.y, top * np.geomspace(1.0, 0.05, 30), weights


@pytest.fixture(scope="module")
def serial():
    """The answer of one process to the first 200 members."""
    fit = lasso_path_batch(*_ensemble(200), keep="counts")
    assert fit.converged
    assert np.any((fit.counts > 0) & (fit.counts < 200))
    return fit


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_joblib_backends(serial, backend):
    with joblib.parallel_config(backend=backend):
        for jobs in (1, 2):
            fit = lasso_path_batch(*_ensemble(200), keep="counts", n_jobs=jobs)
            np.testing.assert_array_equal(fit.counts, serial.counts)
            np.testing.assert_array_equal(fit.n_active, serial.n_active)


def _digest(counts):
    return hashlib.sha256(np.ascontiguousarray(counts, dtype=np.int64).tobytes()).hexdigest()


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_threads_of_the_core(serial, threads):
    """In a process for each number, as a user would set it."""
    code = (
        "from selica._core.compiled import threads\n"
        "from tests.solvers.test_cluster import _digest, _ensemble, lasso_path_batch\n"
        "fit = lasso_path_batch(*_ensemble(200), keep='counts')\n"
        "print(threads(), _digest(fit.counts))"
    )
    environment = os.environ | {"SELICA_NUM_THREADS": str(threads)}
    options = {"env": environment, "cwd": Path(__file__).parents[2], "text": True}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, **options)
    assert done.stdout.split() == [str(threads), _digest(serial.counts)]


class _Watch(SchedulerPlugin):
    """What the scheduler saw: tasks that were finished, tasks that a worker left undone."""

    def __init__(self):
        self.finished, self.undone, self.gone = set(), set(), set()

    def transition(self, key, start, finish, *args, **kwargs):
        if (start, finish) == ("processing", "memory"):
            self.finished.add(key)
        if (start, finish) == ("processing", "released"):
            self.undone.add(key)

    def remove_worker(self, scheduler, worker, **kwargs):
        self.gone.add(worker)


def _kill_one(scheduler, watch, pids, killed, over):
    """Kills a worker that is at work, once the run is under way."""
    while not over.is_set():
        busy = [a for a in pids if a in scheduler.workers and scheduler.workers[a].processing]
        if len(watch.finished) >= 2 and busy:
            os.kill(pids[busy[0]], signal.SIGKILL)
            killed.append(busy[0])
            return
        time.sleep(0.002)


def test_a_worker_of_a_cluster_dies():
    run = _ensemble(3000)
    expected = lasso_path_batch(*run, keep="counts")
    watch, killed, over = _Watch(), [], threading.Event()
    options = {"processes": True, "host": "127.0.0.1", "dashboard_address": None}
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, **options) as cluster,
        Client(cluster) as client,
    ):
        pids = client.run(os.getpid)
        assert len({*pids.values(), os.getpid()}) == 3
        cluster.scheduler.add_plugin(watch)
        arguments = (cluster.scheduler, watch, pids, killed, over)
        killer = threading.Thread(target=_kill_one, args=arguments)
        killer.start()
        try:
            with joblib.parallel_config(backend="dask"):
                fit = lasso_path_batch(*run, keep="counts", n_jobs=2)
        finally:
            over.set()
            killer.join()
        # it died with work in hand, which was done again, and not by it
        assert len(killed) == 1
        assert killed[0] in watch.gone
        assert watch.undone
        assert watch.undone <= watch.finished
    np.testing.assert_array_equal(fit.counts, expected.counts)
    np.testing.assert_array_equal(fit.n_active, expected.n_active)
    assert fit.converged


@pytest.mark.slow
def test_a_design_travels_once_for_each_worker(tmp_path):
    """Bytes that arrive at two workers: the table once for each, and what belongs to a chunk."""
    from benchmarks.cluster import Dask, Run, measured

    rng = np.random.default_rng(0)
    X = np.asfortranarray(rng.integers(0, 3, (200, 20_000), dtype=np.int8))
    y = X[:, :5].sum(axis=1) + rng.standard_normal(200)
    weights = resample_weights(200, 200, "subsample", 0.5, random_state=1)
    top = np.abs((X - X.mean(axis=0)).T @ (y - y.mean())).max()

    def answer(table):
        settings = {"keep": "counts", "fit_intercept": True, "max_active": 50}
        return lambda jobs: (
            lasso_path_batch(table, y, [0.5 * top], weights, n_jobs=jobs, **settings).counts
        )

    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    own = weights.nbytes + 3 * 2 * 8 * 20_000  # weights; units, origins, penalty weights
    for table, designs in ((X, 2), (mapped, 0)):
        cluster = Dask()
        try:
            row = measured(Run("test", X.nbytes, answer(table)), cluster)
        finally:
            cluster.close()
        assert row.same
        assert row.chunks >= 10
        expected = designs * X.nbytes + own
        assert expected - 10 < row.received < 1.25 * expected + 300_000


@pytest.mark.slow
def test_all_workers_of_a_cluster_die():
    """Nobody has the design any more: it is sent again, to those that come."""
    run = _ensemble(6000)
    expected = lasso_path_batch(*run, keep="counts")
    options = {"processes": True, "host": "127.0.0.1", "dashboard_address": None}
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, **options) as cluster,
        Client(cluster) as client,
    ):
        pids = client.run(os.getpid)
        killer = threading.Timer(0.8, lambda: [os.kill(p, signal.SIGKILL) for p in pids.values()])
        killer.start()
        with joblib.parallel_config(backend="dask"):
            fit = lasso_path_batch(*run, keep="counts", n_jobs=2)
        killer.join()
    np.testing.assert_array_equal(fit.counts, expected.counts)


@pytest.mark.slow
def test_knockoff_copies_on_a_cluster_are_those_of_one_process():
    """To the last bit, although messages of a cluster leave arrays at odd addresses."""
    from selica import DerandomizedKnockoffs

    data = simulate(100, 150, 5, snr=5.0, random_state=0)
    settings = {"n_copies": 16, "statistic": "coefficient", "random_state": 0}
    expected = DerandomizedKnockoffs(**settings).fit(data.X, data.y).statistics_
    options = {"processes": True, "host": "127.0.0.1", "dashboard_address": None}
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, **options) as cluster,
        Client(cluster),
        joblib.parallel_config(backend="dask"),
    ):
        found = DerandomizedKnockoffs(**settings, n_jobs=2).fit(data.X, data.y).statistics_
    np.testing.assert_array_equal(found, expected)
