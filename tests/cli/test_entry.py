"""The entry point: help, version, and a run that is stopped."""

from __future__ import annotations

from importlib.metadata import version

import pytest
import typer

from tests.cli.commands import call_main, run
from tests.cli.test_predict import RATIOS, TITLES, tables


@pytest.mark.parametrize("stop", [KeyboardInterrupt, typer.Abort])
def test_a_stopped_run_says_so(stop, monkeypatch, capsys):
    def stopped(**_):
        raise stop

    monkeypatch.setattr("selica.cli.app", stopped)
    assert call_main(monkeypatch, "predict") == 130
    assert capsys.readouterr().err == "selica: stopped before there was an answer.\n"


def test_the_installed_command_prints_its_table():
    done = run("predict", *RATIOS, "--lam", "0.2")
    assert done.returncode == 0
    assert done.stderr == ""
    assert list(tables(done.stdout)) == TITLES[:1]


def test_version(monkeypatch, capsys):
    assert call_main(monkeypatch, "--version") == 0
    assert capsys.readouterr().out == f"selica {version('selica')}\n"


OPTIONS = ["--n-samples", "-n", "--n-features", "-p", "--n-signals", "-k", "--alpha", "--rho"]
OPTIONS += ["--r2", "--snr", "--delta", "--fdr", "--lam", "--mu-b", "--resampling", "--effects"]
OPTIONS += ["--details", "--json", "--plot"]


def test_help_names_every_option(monkeypatch, capsys):
    assert call_main(monkeypatch, "predict", "--help") == 0
    text = capsys.readouterr().out.replace(",", " ").split()
    assert [name for name in OPTIONS if name not in text] == []


def test_help_names_every_command(monkeypatch, capsys):
    assert call_main(monkeypatch, "--help") == 0
    assert "predict" in capsys.readouterr().out


def test_without_arguments_the_help_is_shown():
    done = run()
    assert done.returncode in (0, 2)
    assert "Traceback" not in done.stderr
    text = done.stdout + done.stderr
    assert text.startswith("Usage: selica")
    assert "predict" in text
