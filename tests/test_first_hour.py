"""The first hour of a new user, and the tutorial: commands print what the pages show."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FIRST, TUTORIAL = "first-hour", "tutorial"


def words(text: str) -> str:
    """Without line breaks and indents: pages and terminals are of different width."""
    return " ".join(text.split())


def blocks(page: str) -> list[tuple[str, str]]:
    """Kinds and texts of the blocks of code on a page."""
    text = (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")
    return re.findall(r"```(\w+)\n(.*?)```", text, flags=re.DOTALL)


def script(page: str) -> str:
    """The program that writes the tables of a page."""
    (found,) = (text for kind, text in blocks(page) if kind == "python")
    return found


def commands(page: str) -> list[tuple[str, str]]:
    """What is typed, and what is shown after it."""
    found = []
    for kind, text in blocks(page):
        if kind == "console":
            for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
                command, shown = re.split(r"(?<!\\)\n", part, maxsplit=1)
                found.append((command.replace("\\\n", ""), shown))
    return found


def run(command: str, cwd: Path) -> str:
    program, *arguments = shlex.split(command)
    beside = Path(sys.executable).parent / program
    done = subprocess.run(
        [beside, *arguments], cwd=cwd, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("page", [FIRST, pytest.param(TUTORIAL, marks=pytest.mark.slow)])
def test_every_command_prints_what_is_shown(tmp_path, page):
    (tmp_path / "table.py").write_text(script(page))
    steps = [(one, shown) for one, shown in commands(page) if not one.startswith("make")]
    assert len(steps) >= 6
    for command, shown in steps:
        printed = words(run(command, tmp_path))
        for paragraph in shown.split("\n\n"):
            for line in paragraph.splitlines() if "  " in paragraph else [paragraph]:
                assert words(line) in printed, (command, line)
    assert (tmp_path / "report" / "report.html").exists()


def test_what_is_said_of_the_list_is_true(tmp_path):
    scope: dict = {}
    exec(script(FIRST).split("with open")[0], scope)
    true = {f"gene{j}" for j in scope["data"].support.nonzero()[0]}
    shown = [text for command, text in commands(FIRST) if command.startswith("selica select")]
    tables = [text.partition("Not selected")[0] for text in shown]
    lists = [set(re.findall(r"^ +\d+  (gene\d+)", text, flags=re.MULTILINE)) for text in tables]
    assert [len(found & true) for found in lists] == [7, 7, 7]
    assert [len(found - true) for found in lists] == [1, 1, 0]


@pytest.mark.slow
def test_make_run_from_a_clean_checkout(tmp_path):
    subprocess.run(["git", "clone", "-q", str(ROOT), str(tmp_path / "clone")], check=True)
    assert shutil.which("make")
    done = subprocess.run(
        ["make", "run"], cwd=tmp_path / "clone", capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    (shown,) = (text for kind, text in blocks(FIRST) if kind == "text")
    for line in shown.splitlines():
        assert words(line) in words(done.stdout), line
    for step in ("1 of 3", "2 of 3", "3 of 3"):
        assert step in done.stdout
    assert "Of the 50 probes, which are pure noise, none was selected" in words(done.stdout)
    assert (tmp_path / "clone" / "report" / "report.html").exists()


@pytest.mark.slow
def test_the_promise_in_the_tutorial_is_the_one_that_is_printed(tmp_path):
    (tmp_path / "table.py").write_text(script(TUTORIAL))
    (promise,) = (text for kind, text in blocks(TUTORIAL) if kind == "text")
    steps = [one for one, _ in commands(TUTORIAL)][:2]
    assert words(promise) in words([run(one, tmp_path) for one in steps][-1])
