"""Scripts of the page that run in the browser, each with its style sheet."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib.resources import files
from typing import Any

import streamlit as st


@cache
def component(name: str, *scripts: str) -> Callable[..., Any]:
    """Return what mounts a component, registered when a page is served, not before.

    Parameters
    ----------
    name : str
        Of its script, and of its style sheet where there is one.
    *scripts : str
        Names of scripts that this one builds on.
    """
    folder = files("selica.app") / "scripts"
    code = "\n".join((folder / f"{one}.js").read_text("utf-8") for one in (*scripts, name))
    sheet = folder / f"{name}.css"
    style = sheet.read_text("utf-8") if sheet.is_file() else None
    return st.components.v2.component(f"selica_{name}", js=code, css=style, isolate_styles=False)
