"""The same seed gives the same bytes, whoever does the work."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import warnings
from pathlib import Path

import joblib
import pytest

from tests.hardening.digests import digests

ROOT = Path(__file__).parents[2]
ONE = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "SELICA_NUM_THREADS": "1"}
ONE |= {"PYTHONHASHSEED": "0"}
RUNS = {
    "another process": ([], {}),
    "two threads of the core": ([], {"SELICA_NUM_THREADS": "2"}),
    "two threads of BLAS": ([], {"OMP_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "2"}),
    "another hash seed": ([], {"PYTHONHASHSEED": "12345"}),
    "n_jobs=2, loky": (["2", "loky"], {}),
    "n_jobs=2, threading": (["2", "threading"], {}),
}


def in_a_process(arguments, environment):
    command = [sys.executable, "-W", "ignore", "-m", "tests.hardening.digests", *arguments]
    settings = {"cwd": ROOT, "env": os.environ | ONE | environment, "stdout": subprocess.PIPE}
    return json.loads(subprocess.run(command, check=True, text=True, **settings).stdout)


@pytest.fixture(scope="module")
def expected():
    return in_a_process([], {})


@pytest.mark.slow
@pytest.mark.parametrize("run", RUNS)
def test_same_bytes(run, expected):
    assert in_a_process(*RUNS[run]) == expected


def test_threads_of_joblib_change_no_byte():
    """A small table, in this process."""
    with warnings.catch_warnings(), joblib.parallel_config(backend="threading"):
        warnings.simplefilter("ignore", UserWarning)  # a table too small for its columns
        serial = digests(1, 40, 60)
        assert digests(2, 40, 60) == serial
    assert len(set(serial.values())) == len(serial)
