"""Ctrl-C: a running fit ends within a second, leaves no thread, and the next one works."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time

import pytest

# another process is sent SIGINT, which Windows has no way to do
pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")

_SECOND = 1.0
"""Within this time the interpreter has the KeyboardInterrupt."""
_LOAD = 1.0
"""What a machine may add that runs other tests at the same time."""

_FRAME = """
import os, sys, time
import numpy as np
from selica.solvers import *
from selica.selectors import KnockoffSelection, StabilitySelection

rng = np.random.default_rng(0)
def table(n, p):
    X = rng.standard_normal((n, p))
    return X, X[:, :20] @ rng.standard_normal(20) + rng.standard_normal(n)

def threads():
    return len(os.listdir("/proc/self/task")) if os.path.isdir("/proc/self/task") else 1

def small():
    X, y = table(40, 20)
    return lasso_path_batch(X, y, [5.0, 1.0], np.ones((3, 40))).coef

small()
before, wanted = threads(), None
{prepare}
rng = np.random.default_rng(1); wanted = small()
print("started", flush=True)
try:
    {call}
except KeyboardInterrupt:
    print(f"stopped {{time.time():.6f}}", flush=True)
else:
    print("finished", flush=True)
time.sleep(0.1)
rng = np.random.default_rng(1)
assert np.array_equal(small(), wanted)
assert threads() <= before, (threads(), before)
print("well", flush=True)
"""

# Each would take minutes.
RUNS = {
    "lasso": (
        "X, y = table(1000, 4000); W = rng.multinomial(1000, np.full(1000, 1e-3), 2000) * 1.0",
        "lasso_path_batch(X, y, np.geomspace(900, 20, 60), W, keep='counts')",
    ),
    "lasso, one member": (
        "X, y = table(3000, 3000); W = np.ones((1, 3000))",
        "lasso_path_batch(X, y, np.geomspace(2000, 1e-3, 400), W, keep='counts')",
    ),
    "lasso, one penalty": (
        "X, y = table(3000, 3000); W = np.ones((1, 3000))",
        "lasso_path_batch(X, rng.standard_normal(3000), [1e-2], W, keep='counts')",
    ),
    "logistic": (
        "X, y = table(1000, 2000); W = rng.multinomial(1000, np.full(1000, 1e-3), 2000) * 1.0",
        "logistic_path_batch(X, (y > 0) * 1.0, np.geomspace(200, 2, 60), W, keep='counts')",
    ),
    "logistic, one penalty": (
        "X, y = table(3000, 3000); W = np.ones((1, 3000))",
        "logistic_path_batch(X, (y > 0) * 1.0, [1e-3], W, keep='counts', tol=1e-12)",
    ),
    "times of events": (
        "X, y = table(1000, 1000); W = np.ones((1000, 1000)); t = np.exp(y / 9); e = np.ones(1000)",
        "cox_path_batch(X, (t, e), np.geomspace(100, 2, 60), W, keep='counts')",
    ),
    "several classes": (
        "X, y = table(1000, 1000); W = rng.multinomial(1000, np.full(1000, 1e-3), 2000) * 1.0",
        "multinomial_path_batch(X, np.digitize(y, [-3, 3]), np.geomspace(200, 2, 60), W, "
        "keep='counts')",
    ),
    "several classes, one penalty": (
        "X, y = table(3000, 3000); W = np.ones((1, 3000))",
        "multinomial_path_batch(X, np.digitize(y, [-3, 3]), [1e-2], W, keep='counts', tol=1e-12)",
    ),
    "several classes, each charged": (
        "X, y = table(3000, 3000); W = np.ones((1, 3000))",
        "multinomial_path_batch(X, np.digitize(y, [-3, 3]), [1e-2], W, penalty='each', "
        "keep='counts', tol=1e-12)",
    ),
    "several classes, a large table": (
        "X = np.random.default_rng(1).standard_normal((4000, 30000), dtype=np.float32); "
        "W = np.ones((200, 4000))",
        "multinomial_path_batch(X, np.arange(4000) % 3, np.geomspace(300, 20, 60), W, "
        "keep='counts')",
    ),
    "copies": (
        "X, y = table(1000, 800)",
        "knockoff_path_batch(X, y, np.geomspace(900, 5, 60), "
        "lambda b: np.random.default_rng(b).standard_normal(X.shape), 2000, keep='counts')",
    ),
    "copies that take their time": (
        "X, y = table(100, 80)",
        "knockoff_path_batch(X, y, [9.0], lambda b: time.sleep(0.2) or X, 2000, keep='counts')",
    ),
    "a large table": (
        "X = np.random.default_rng(1).standard_normal((4000, 30000), dtype=np.float32); "
        "y = X[:, 0] * 1.0; W = np.ones((200, 4000))",
        "lasso_path_batch(X, y, np.geomspace(3000, 20, 60), W, keep='counts', fit_intercept=True)",
    ),
    "StabilitySelection": (
        "X, y = table(1000, 1000)",
        "StabilitySelection(n_resamples=3000, random_state=0).fit(X, y)",
    ),
    "one step of the fit of motifs, on one thread": (
        "from selica._core.compiled import core; from selica.sampling import HaplotypeLaw; "
        "law = HaplotypeLaw(np.full(4000, 0.1), np.full((4000, 32), 1 / 32), "
        "rng.random((4000, 32))); X = np.ones((16000, 4000), np.int8)",
        "core().motif_counts(2, *law.arrays, X, np.ones(16000), np.empty((3, 4000, 32)), 1)",
    ),
    "KnockoffSelection": (
        "X, y = table(3000, 1400)",
        "KnockoffSelection(random_state=0).fit(X, y)",
    ),
}


@pytest.mark.parametrize("after", [0.3, pytest.param(1.5, marks=pytest.mark.slow)])
@pytest.mark.parametrize("what", RUNS)
def test_a_fit_can_be_interrupted(what, after):
    prepare, call = RUNS[what]
    program = textwrap.dedent(_FRAME).format(prepare=prepare, call=call)
    run = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert run.stdout.readline() == "started\n"
        time.sleep(after)
        sent = time.time()
        run.send_signal(signal.SIGINT)
        out, err = run.communicate(timeout=60)
    finally:
        run.kill()
    assert run.returncode == 0, err
    first, last = out.split("\n")[:2]
    assert first.startswith("stopped"), first
    assert float(first.split()[1]) - sent < _SECOND + _LOAD
    assert last == "well"
