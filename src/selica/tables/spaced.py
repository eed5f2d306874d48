"""Text with spaces between columns, as R and PLINK write it: turned into text with tabs."""

from __future__ import annotations

import csv
import io
import re
from itertools import islice

_SIGNS = b",;\t|"
"""Characters that separate columns in any other file."""
_LOOKED_AT = 9
"""Lines that are looked at."""
_FEWEST_LINES = 2
"""Lines below which nothing can be told: names, and a row."""


def with_tabs(content: bytes) -> bytes | None:
    """Return text with tabs in the place of spaces between columns; None for any other text.

    Parameters
    ----------
    content : bytes
        UTF-8.
    """
    start = content[:4_000_000]
    lines = [line.strip() for line in start.splitlines() if line.strip()]
    some = list(islice(lines, _LOOKED_AT))
    if len(some) < _FEWEST_LINES or any(sign in some[0] for sign in _SIGNS):
        return None
    widths = [len(_fields(line.decode("utf-8", "replace"))) for line in some]
    rows = set(widths[1:])
    # R writes names of the rows, and no name for them
    if widths[0] < 2 or len(rows) > 1 or not rows <= {widths[0], widths[0] + 1}:
        return None
    if b'"' not in content:
        return re.sub(rb"[ \t]+(?=\S)", b"\t", re.sub(rb"(?m)^[ \t]+|[ \t]+$", b"", content))
    out = io.StringIO()
    writer = csv.writer(out, delimiter="\t", lineterminator="\n")
    writer.writerows(_fields(line) for line in content.decode("utf-8").splitlines() if line.strip())
    return out.getvalue().encode()


def _fields(line: str) -> list[str]:
    """Return the fields of a line, those in quotes as they are."""
    fields = next(csv.reader([line.strip()], delimiter=" ", skipinitialspace=True), [])
    return [field for field in fields if field]
