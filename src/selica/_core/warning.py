"""Warnings that point at the line of the caller, from any depth."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

_PACKAGE = str(Path(__file__).parents[1])
"""Folder of the package."""
_BETWEEN = ("sklearn", "joblib")
"""Libraries that may stand between a caller and the package, as a pipeline does."""


def warn(message: str, category: type[Warning]) -> None:
    """Warn at the first line outside of the package.

    Parameters
    ----------
    message : str
        One sentence or more.
    category : type of Warning

    Notes
    -----
    The line is that of the code that called the package, whether directly or through scikit-learn
    or joblib. A thread has no caller: what is noticed there belongs into the notes of a result.
    """
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and _inside(frame.f_code.co_filename, frame.f_globals):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def _inside(file: str, names: dict[str, object]) -> bool:
    """Whether a frame belongs to the package or to a library in between."""
    if file.startswith(_PACKAGE):
        return True
    return str(names.get("__name__", "")).split(".")[0] in _BETWEEN
