"""Every example runs from a clean checkout and says at its end what there is to see."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "examples"
EXAMPLES = sorted(FOLDER.glob("*.py"))
WITH_DATA = {"colon", "hiv", "riboflavin"}  # of the reader; they say so and stop without
QUICK = WITH_DATA | {"resampling_rate", "selection_probabilities"}


def run(example: Path, folder: Path) -> str:
    environment = {key: value for key, value in os.environ.items() if key != "SELICA_DATA"}
    done = subprocess.run(
        [sys.executable, "-W", "error::UserWarning", str(example)],
        cwd=folder, env=environment | {"MPLBACKEND": "Agg"}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    "example",
    [
        pytest.param(path, marks=() if path.stem in QUICK else pytest.mark.slow, id=path.stem)
        for path in EXAMPLES
    ],
)
def test_an_example_runs_and_leaves_no_file(example: Path, tmp_path: Path) -> None:
    said = run(example, tmp_path)
    assert said
    assert (said.startswith("Set SELICA_DATA")) == (example.stem in WITH_DATA)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_has_a_title_and_says_what_to_see(example: Path) -> None:
    source = example.read_text("utf-8")
    _, title, line, *_ = (ast.get_docstring(ast.parse(source), clean=False) or "").split("\n")
    assert line == "=" * len(title)
    if example.stem in WITH_DATA:
        assert "What to see: " in source
    else:
        assert source.split("# %%\n")[-1].startswith("# **What to see:** ")
