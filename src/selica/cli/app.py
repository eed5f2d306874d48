"""`selica app`: the page in a browser, on this machine."""

from __future__ import annotations

import os
import runpy
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from threading import Thread
from typing import Annotated

import typer

from selica._core.errors import ArgumentError

LOOPBACK = "127.0.0.1"
MOST_MEGABYTES = 25
"""Of an upload."""


def app(
    host: Annotated[
        str,
        typer.Option(help="Address to listen on; by default only this machine can reach it."),
    ] = LOOPBACK,
    port: Annotated[int, typer.Option(help="Port to listen on.", min=1, max=65535)] = 8501,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Do not open a browser window.")
    ] = False,
) -> None:
    """Open a page to predict, plan and select in. Nothing you load leaves the machine.

    Example: selica app --port 8600
    """
    if find_spec("streamlit") is None:
        raise ArgumentError("The page needs streamlit (pip install 'selica[app]').")
    shown = LOOPBACK if host == "0.0.0.0" else host
    typer.echo(f"The page is at http://{shown}:{port}; Ctrl+C ends it.")
    if host not in (LOOPBACK, "localhost", "::1"):
        typer.echo("Everyone who can reach this address can use it: there is no password.")
    # Streamlit would look for garbage after every move of a slider
    os.environ.setdefault("STREAMLIT_RUNNER_POST_SCRIPT_GC", "false")
    Thread(target=_prepare, daemon=True).start()
    # as `python -m streamlit run` does, in this process
    sys.argv = ["streamlit", "run", str(_script()), *_flags(host, port, no_browser)]
    runpy.run_module("streamlit", run_name="__main__", alter_sys=True)


def _prepare() -> None:
    """Compute the first view while the server starts and the browser opens."""
    import_module("selica.app.predict_tab").prepare()


def _script() -> Path:
    """Return the path of the page, which is loaded by its server only."""
    return Path(__file__).parents[1] / "app" / "served" / "start.py"


def _flags(host: str, port: int, no_browser: bool) -> list[str]:
    """Return the settings of the server: quiet, without telemetry, and with a limit on uploads."""
    settings = {
        "server.address": host,
        "server.port": port,
        "server.headless": no_browser,
        "server.showEmailPrompt": False,
        "server.maxUploadSize": MOST_MEGABYTES,
        "server.fileWatcherType": "none",
        "browser.gatherUsageStats": False,
        "browser.serverAddress": LOOPBACK if host == "0.0.0.0" else host,
        "client.toolbarMode": "minimal",
        "client.showErrorDetails": "none",
        "logger.hideWelcomeMessage": True,
        "theme.light.primaryColor": "#0072b2",
        "theme.dark.primaryColor": "#1f8fd6",
    }
    return [f"--{name}={str(value).lower()}" for name, value in settings.items()]
