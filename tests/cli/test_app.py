"""`selica app` as far as it goes without starting a server."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

import pytest
from typer.testing import CliRunner

from selica._core.errors import ArgumentError
from selica.cli import app as command_line

MODULE = import_module("selica.cli.app")  # in its room the name is that of all commands


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Arguments that the server would have been started with."""
    seen: list[str] = []

    def run_module(name: str, **_: Any) -> None:
        assert name == "streamlit"
        seen.extend(sys.argv[1:])

    monkeypatch.setattr("runpy.run_module", run_module)
    monkeypatch.setattr("sys.argv", ["selica"])
    monkeypatch.setattr(MODULE, "_prepare", lambda: None)
    return seen


def test_only_this_machine_is_served_and_nothing_is_reported(started: list[str]) -> None:
    ran = CliRunner().invoke(command_line, ["app", "--no-browser", "--port", "8123"])
    assert ran.exit_code == 0, ran.output
    assert "http://127.0.0.1:8123" in ran.output
    assert "password" not in ran.output
    for flag in (
        "--server.address=127.0.0.1",
        "--server.port=8123",
        "--server.headless=true",
        "--browser.gatherUsageStats=false",
        "--server.maxUploadSize=25",
    ):
        assert flag in started


def test_another_address_comes_with_a_warning(started: list[str]) -> None:
    ran = CliRunner().invoke(command_line, ["app", "--host", "0.0.0.0"])
    assert "--server.address=0.0.0.0" in started
    assert "there is no password" in ran.output


def test_without_streamlit_there_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MODULE, "find_spec", lambda name: None)
    with pytest.raises(ArgumentError, match=r"pip install 'selica\[app\]'"):
        MODULE.app()
