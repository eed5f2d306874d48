"""Errors and warnings a user can meet."""

from __future__ import annotations

from collections.abc import Iterable


class SelicaError(ValueError):
    """Base of every error that the package raises on purpose; the message is one sentence."""

    def __str__(self) -> str:
        """Return the message as one line, whatever was passed in."""
        return " ".join(super().__str__().splitlines())


class ArgumentError(SelicaError):
    """An argument is not usable; the message names it and says what it may be."""

    @classmethod
    def choice(cls, name: str, value: object, allowed: Iterable[str]) -> ArgumentError:
        """Return the error for an unknown keyword, with the list of the known ones."""
        known = ", ".join(repr(a) for a in allowed)
        return cls(f"{name} must be one of {known}; got {value!r}.")


class RefusedError(SelicaError):
    """The arguments are fine, but these data do not allow an answer with them."""


class DoesNotApply(SelicaError):
    """The question is fine, but this part of the package has no answer for such a case."""


class ColumnError(RefusedError):
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

    def named(self, name: str) -> RefusedError:
        """Return the same error with the name of the column."""
        return RefusedError(self.text.replace("{column}", name))


class BoundaryWarning(UserWarning):
    """A search ended at the edge of what it may try."""


class ConvergenceWarning(UserWarning):
    """An iteration stopped before it reached its tolerance."""


class RenamedWarning(FutureWarning):
    """A name is accepted for one more release; the message says the name to use."""
