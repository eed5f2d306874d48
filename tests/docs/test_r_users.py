"""The blocks of R on docs/r-users.md run, and print what the page shows."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "r-users.md"
BLOCK = re.compile(r"^```r\n(.*?)^```", re.MULTILINE | re.DOTALL)
SHOWN = "#> "
"""What a block prints is behind it."""
RSCRIPT = shutil.which("Rscript")


def has_reticulate() -> bool:
    """Tell whether R and its package reticulate are there."""
    if RSCRIPT is None:
        return False
    asked = [RSCRIPT, "-e", "quit(status = !requireNamespace('reticulate', quietly = TRUE))"]
    return subprocess.run(asked, capture_output=True).returncode == 0


def printed(text: str) -> list[str]:
    """Return the words of what is printed."""
    return text.split()


def test_the_page_shows_what_blocks_print() -> None:
    blocks = BLOCK.findall(PAGE.read_text("utf-8"))
    assert len(blocks) >= 6
    assert sum(SHOWN in block for block in blocks) >= 6


@pytest.mark.skipif(not has_reticulate(), reason="Rscript or its package reticulate is not here")
def test_blocks_of_r_print_what_the_page_shows(tmp_path: Path) -> None:
    pytest.importorskip("pandas", reason="reticulate makes data frames of pandas")
    code = "\n".join(BLOCK.findall(PAGE.read_text("utf-8")))
    shown = [line.removeprefix(SHOWN) for line in code.splitlines() if line.startswith(SHOWN)]
    script = tmp_path / "page.R"
    script.write_text(code, "utf-8")
    environment = os.environ | {"RETICULATE_PYTHON": sys.executable, "MPLBACKEND": "Agg"}
    done = subprocess.run(
        [str(RSCRIPT), "--vanilla", str(script)],
        cwd=tmp_path, env=environment, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert printed(done.stdout) == printed("\n".join(shown))
