"""Commands as a user runs them, and what is expected of those that fail."""

from __future__ import annotations

import io
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from typing import NamedTuple
from unittest import mock

import numpy as np
import pytest

from selica.cli import main

STUDY = ["-n", "400", "-p", "500", "-k", "100", "--r2", "0.9"]


class Done(NamedTuple):
    """How a command ended."""

    returncode: int
    stdout: str
    stderr: str


def selica(*args):
    """The command in this process, with all that its entry point does."""
    out, err = io.StringIO(), io.StringIO()
    with (
        mock.patch.object(sys, "argv", ["selica", *map(str, args)]),
        redirect_stdout(out),
        redirect_stderr(err),
        pytest.raises(SystemExit) as end,
    ):
        main()
    return Done(end.value.code, out.getvalue(), err.getvalue())


def process(*args, **options):
    """The command in a process of its own."""
    command = [sys.executable, "-c", "from selica.cli import main; main()", *map(str, args)]
    settings = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "timeout": 300}
    return subprocess.run(command, **(settings | options))


def assert_one_sentence(done, *words, code=2):
    """It failed, and said why in one line."""
    said = done.stderr.strip()
    assert said.startswith("selica: ")
    assert said.endswith(".")
    assert "\n" not in said
    for word in words:
        assert word in done.stderr
    assert done.returncode == code


def csv_text(names="größe,b,c,d,é,y"):
    """A table in which the first two variables matter."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 5))
    y = 2.0 * X[:, 0] - 2.0 * X[:, 1] + 0.1 * rng.standard_normal(60)
    lines = [",".join(f"{v:.5f}" for v in (*x, t)) for x, t in zip(X, y, strict=True)]
    return "\n".join([names, *lines, ""])
