"""Errors and warnings a user can meet."""

from __future__ import annotations

from collections.abc import Iterable


class ArgumentError(ValueError):
    """An argument is not usable; the message names it and says what it may be."""

    def __str__(self) -> str:
        """One line, whatever was passed in."""
        return " ".join(super().__str__().splitlines())

    @classmethod
    def choice(cls, name: str, value: object, allowed: Iterable[str]) -> ArgumentError:
        """An unknown keyword, with the list of the known ones."""
        known = ", ".join(repr(a) for a in allowed)
        return cls(f"{name} must be one of {known}; got {value!r}.")


class RefusedError(ArgumentError):
    """Arguments are fine, but the data do not allow an answer with them."""


class ColumnError(ArgumentError):
    """A column of a table is not usable.

    Parameters
    ----------
    text : str
        The message, with "{column}" in the place of the column.
    column : int
        Its place in the table; whoever knows its name can say it by `named`.
    """

    def __init__(self, text: str, column: int) -> None:
        super().__init__(text, column)  # both, so that a worker can send it
        self.text, self.column = text, column

    def __str__(self) -> str:
        return str(self.named(f"column {self.column}"))

    def named(self, name: str) -> ArgumentError:
        """The same error with the name of the column."""
        return ArgumentError(self.text.replace("{column}", name))


class BoundaryWarning(UserWarning):
    """A search ended at the edge of what it may try."""


class ConvergenceWarning(UserWarning):
    """An iteration stopped before it reached its tolerance."""
