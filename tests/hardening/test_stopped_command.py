"""Ctrl-C on the command line: what is there is printed; without enough of it, one sentence."""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")

_COMMAND = [sys.executable, "-c", "from selica.cli import main; main()", "select"]
_LONG = 120.0
"""Seconds that a command may take on a machine that runs other tests."""


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((500, 600)).round(3)
    y = X[:, :5].sum(axis=1) + rng.standard_normal(500)
    path = tmp_path_factory.mktemp("stopped") / "table.csv"
    names = ",".join([*(f"v{j}" for j in range(600)), "y"])
    np.savetxt(path, np.column_stack([X, y]), "%.3f", ",", header=names, comments="")
    return path


def _until(fd, pattern):
    """Read a terminal until a pattern is there; return what was read."""
    seen, end = "", time.time() + _LONG
    while time.time() < end:
        if select.select([fd], [], [], 0.2)[0]:
            try:
                seen += os.read(fd, 65536).decode("utf-8", "replace")
            except OSError:  # the other side is closed
                return seen
            if re.search(pattern, seen):
                return seen
    raise AssertionError(f"no {pattern!r} in {seen[-2000:]!r}")


def _started(table, method, members):
    """Start a long selection with a terminal for its errors, where bars are shown."""
    own, other = pty.openpty()
    words = [str(table), "--target", "y", "--method", method, "--n-resamples", str(members)]
    env = os.environ | {"COLUMNS": "120", "TERM": "xterm"}
    run = subprocess.Popen(
        [*_COMMAND, *words], stdout=subprocess.PIPE, stderr=other, text=True, env=env
    )
    os.close(other)
    return run, own


@pytest.mark.slow
def test_resamples_that_are_there_are_an_answer(table):
    run, terminal = _started(table, "stability-pfer", 20000)
    try:
        shown = _until(terminal, r"resamples.*(?<!\d)([4-9]\d\d|\d{4,5})/20000")
        assert "left:" in shown
        run.send_signal(signal.SIGINT)
        out, _ = run.communicate(timeout=_LONG)
    finally:
        run.kill()
        os.close(terminal)
    assert run.returncode == 0
    found = re.search(r"stopped after (\d+) of 20000 resamples", out)
    assert found is not None, out
    assert int(found[1]) >= 20
    assert all(f"v{j}" in out for j in range(5))


def test_before_there_is_an_answer_one_sentence(table):
    run, terminal = _started(table, "splitting", 20000)
    try:
        _until(terminal, r"splits.*/20000")
        run.send_signal(signal.SIGINT)
        shown = _until(terminal, r"answer")
        out, _ = run.communicate(timeout=_LONG)
    finally:
        run.kill()
        os.close(terminal)
    assert run.returncode == 130
    assert "selica: stopped before there was an answer." in shown
    assert out == ""


@pytest.mark.slow
def test_a_pipe_shows_no_bars(table):
    run = subprocess.run(
        [*_COMMAND, str(table), "--target", "y", "--method", "stability-pfer"],
        capture_output=True,
        text=True,
        timeout=_LONG,
        check=True,
    )
    assert run.stderr == ""
