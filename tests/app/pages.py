"""The page without a browser, for tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from streamlit.testing.v1 import AppTest

import selica.app

SCRIPT = Path(selica.app.__file__).parent / "served" / "start.py"


def opened(**address: str) -> Any:
    at = AppTest.from_file(str(SCRIPT), default_timeout=120)
    for name, value in address.items():
        at.query_params[name] = value
    return at.run()


def bodies(at: Any) -> str:
    """All HTML of the page but its style."""
    return "\n".join(part.proto.body for part in at.get("html") if "<style" not in part.proto.body)
