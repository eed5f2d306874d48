from __future__ import annotations

import json

import pytest

from tests.cli.commands import run


def test_figures_by_name(tmp_path):
    result = run("reproduce", "phase-boundary", "replicated-system", "--out", str(tmp_path))
    assert result.returncode == 0
    assert "holds" in result.stdout
    assert "0.8763" in result.stdout
    assert "findings that hold" in result.stdout
    assert (tmp_path / "phase-boundary.png").exists()


def test_json(tmp_path):
    result = run("reproduce", "phase-boundary", "--scale", "smoke", "--out", tmp_path, "--json")
    report = json.loads(result.stdout)
    assert report[0]["figure"] == "phase-boundary"
    assert report[0]["rows"] > 100
    assert {f["holds"] for f in report[0]["findings"]} == {True, None}


@pytest.mark.parametrize(
    ("args", "word"),
    [
        ((), "all"),
        (("everything",), "figure"),
        (("power", "--n-jobs", "0"), "--n-jobs"),
        (("power", "--scale", "tiny"), "tiny"),
        (("power", "--seed", "-1"), "seed"),
    ],
)
def test_bad_input_is_one_line(args, word, tmp_path):
    result = run("reproduce", *args, "--out", str(tmp_path))
    assert result.returncode == 2
    assert word in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "file").touch()
    result = run("reproduce", "power", "--out", tmp_path / "file")
    assert result.returncode == 2
    assert "out" in result.stderr
