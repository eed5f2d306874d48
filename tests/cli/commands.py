"""Commands as a person runs them: in this process, or installed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from typer.testing import CliRunner

from selica.cli import app, main

SELICA = Path(sysconfig.get_path("scripts")) / "selica"


def invoke(*args):
    """What a command prints, run in this process."""
    result = CliRunner().invoke(app, [*map(str, args)], env={"COLUMNS": "80"})
    if result.exception is not None:
        raise result.exception
    assert result.exit_code == 0
    assert result.stderr == ""
    return result.stdout


def parsed(*args):
    """Its JSON, in which nothing but JSON may be."""
    return json.loads(invoke(*args, "--json"), parse_constant=_no_constant)


def _no_constant(name):
    raise AssertionError(f"{name} is not JSON")


def run(*args, **env):
    """The installed command in a process of its own."""
    env = os.environ | {"COLUMNS": "80", "OMP_NUM_THREADS": "1"} | env
    return subprocess.run([SELICA, *args], capture_output=True, text=True, timeout=60, env=env)


def call_main(monkeypatch, *args):
    """The exit code of the entry point."""
    monkeypatch.setattr(sys, "argv", ["selica", *args])
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)  # put back afterwards
    with pytest.raises(SystemExit) as done:
        main()
    return done.value.code


def assert_one_line(code, stderr, word=""):
    """Bad input ends with code 2 and one line that has this word in it."""
    assert code == 2
    assert "Traceback" not in stderr
    lines = stderr.splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("selica: ")
    assert word.lower() in lines[0].lower()


def assert_refused(monkeypatch, capsys, args, word):
    """Nothing is printed but that line, which has the word as it is spelled."""
    code = call_main(monkeypatch, *args)
    printed = capsys.readouterr()
    assert printed.out == ""
    assert_one_line(code, printed.err)
    assert word in printed.err
