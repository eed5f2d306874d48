"""The page of benchmarks says what the stored files say, and its commands can be run."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from datetime import date
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

page = import_module("benchmarks.page_of_results")
result_files = import_module("benchmarks.result_files")

ROOT = Path(__file__).parents[2]
RUNS = result_files.read_runs()
COMMANDS = sorted({
    one.strip() for run in RUNS.values() for one in f"{run.command};{run.smaller}".split(";") if one
})  # fmt: skip


def test_the_page_is_what_the_stored_files_say():
    text = page.PAGE.read_text("utf-8")
    assert text == page.renewed(text), "Run `make bench-page` after a change of the files."


def test_another_number_in_a_file_is_another_page(tmp_path, monkeypatch):
    for file in result_files.FOLDER.glob("*.csv"):
        (tmp_path / file.name).write_text(file.read_text("utf-8").replace("0.162", "0.987"))
    monkeypatch.setattr(page, "FOLDER", tmp_path)
    assert "| 320x128 | 0.987 (1e-15) |" in page.renewed(page.PAGE.read_text("utf-8"))


def test_every_section_has_a_run_and_every_run_a_section():
    assert {*RUNS} == {*page.SECTIONS}


@pytest.mark.parametrize("run", RUNS.values(), ids=list(RUNS))
def test_a_run_says_when_where_and_with_what(run):
    assert date(2026, 1, 1) < date.fromisoformat(run.date)
    assert re.match(r"\d+\.\d+\.\d+\S* \([0-9a-f]{7,}\)$", run.selica)
    assert all((run.command, run.machine, run.took, run.source))
    assert not run.smaller or run.smaller_took


@cache
def usage(module: str) -> str:
    asked = [sys.executable, "-W", "ignore", "-m", module, "--help"]
    done = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_exists_with_its_options(command):
    python, flag, module, *words = shlex.split(command)
    assert (python, flag) == ("python", "-m")
    for word in words:
        assert not word.startswith("--") or word in usage(module), word


def test_saved_rows_come_back_with_their_run(tmp_path):
    rows = [{"what": "a, b", "number": "1.5"}, {"what": "c", "number": ""}]
    result_files.save(tmp_path / "some.csv", rows, "peer 1.0")
    assert result_files.read_rows(tmp_path / "some.csv") == rows
    result_files.save(tmp_path / "other.csv", rows[:1])
    found = result_files.read_runs(tmp_path / "runs.csv")
    assert [*found] == ["some", "other"]
    assert found["some"].peers == "peer 1.0"
    assert date.fromisoformat(found["other"].date)
    assert found["other"].command == result_files.typed()
    assert found["other"].machine == result_files.machine()


def test_a_run_that_is_recorded_again_keeps_its_commands(tmp_path):
    path = tmp_path / "runs.csv"
    result_files.record("scale", path, command="python -m benchmarks.cost_model", took="long")
    result_files.record("scale", path, machine="another")
    (run,) = result_files.read_runs(path).values()
    assert (run.command, run.took, run.machine) == (
        "python -m benchmarks.cost_model", "long", "another",
    )  # fmt: skip
