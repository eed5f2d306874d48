"""Errors and warnings of the package, by what a program can do about them.

Every error that is raised on purpose is a `SelicaError`, and a `ValueError`:

- `ArgumentError`: what was asked for is impossible; another argument is needed;
- `RefusedError`: the arguments are fine, but these data do not allow an answer;
- `DoesNotApply`: this part of the package has no answer for such a case; another method may.

>>> from selica import errors
>>> issubclass(errors.RefusedError, errors.SelicaError)
True
"""

from selica._core.errors import (
    ArgumentError,
    BoundaryWarning,
    ConvergenceWarning,
    DoesNotApply,
    RefusedError,
    RenamedWarning,
    SelicaError,
)

__all__ = [
    "ArgumentError",
    "BoundaryWarning",
    "ConvergenceWarning",
    "DoesNotApply",
    "RefusedError",
    "RenamedWarning",
    "SelicaError",
]
