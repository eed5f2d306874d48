"""Errors and warnings a user can meet."""

from __future__ import annotations

from collections.abc import Iterable


class ArgumentError(ValueError):
    """An argument is not usable; the message names it and says what it may be."""

    @classmethod
    def choice(cls, name: str, value: object, allowed: Iterable[str]) -> ArgumentError:
        """An unknown keyword, with the list of the known ones."""
        known = ", ".join(repr(a) for a in allowed)
        return cls(f"{name} must be one of {known}; got {value!r}.")


class BoundaryWarning(UserWarning):
    """A search ended at the edge of what it may try."""


class ConvergenceWarning(UserWarning):
    """An iteration stopped before it reached its tolerance."""
