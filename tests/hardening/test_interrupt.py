"""Ctrl-C during a fit: it stops soon, says what Python says, and the process is of use again."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from selica.solvers import cox_path_batch, lasso_path_batch, logistic_path_batch

ROOT = Path(__file__).parents[2]
SOON = 1.0
"""Seconds within which a fit stops."""
FITS = {
    "squared": lambda X, y, **rest: lasso_path_batch(X, y, **rest),
    "logistic": lambda X, y, **rest: logistic_path_batch(X, (y > 0.0).astype(float), **rest),
    "cox": lambda X, y, **rest: cox_path_batch(X, (np.exp(y), np.ones(len(y))), **rest),
}
PIPES = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
SCRIPT = """
from tests.hardening.test_interrupt import long_fit
print("begun", flush=True)
long_fit("squared")
"""


def long_fit(name):
    """Far longer than anybody waits."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 2000))
    y = X[:, :20].sum(axis=1) + rng.standard_normal(400)
    lams, weights = np.geomspace(100.0, 0.5, 60), rng.poisson(1.0, (4000, 400)).astype(float)
    FITS[name](X, y, lams=lams, weights=weights, keep="counts")


def threads():
    """How many threads this process has, where the system says so."""
    tasks = Path("/proc/self/task")
    return len(list(tasks.iterdir())) if tasks.is_dir() else 0


@pytest.mark.parametrize("name", FITS)
def test_a_fit_stops_soon_and_leaves_no_thread(name):
    before, sent = threads(), []

    def press():
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    later = threading.Timer(1.0, press)
    later.start()
    with pytest.raises(KeyboardInterrupt):
        long_fit(name)
    assert time.monotonic() - sent[0] < SOON
    later.join()
    assert threads() <= before
    assert lasso_path_batch(np.eye(3), np.ones(3), [0.5], np.ones((1, 3))).converged


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such signal")
def test_a_process_ends_by_the_signal():
    command = [sys.executable, "-c", SCRIPT]
    run = subprocess.Popen(command, cwd=ROOT, text=True, **PIPES)
    assert run.stdout.readline() == "begun\n"
    time.sleep(1.0)
    begun = time.monotonic()
    run.send_signal(signal.SIGINT)
    said = run.communicate(timeout=60)[1]
    assert time.monotonic() - begun < SOON + 1.0  # and the interpreter ends
    assert run.returncode in (-signal.SIGINT, 130)
    assert said.splitlines()[-1] == "KeyboardInterrupt"
