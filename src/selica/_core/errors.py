"""Errors and warnings a user can meet."""

from __future__ import annotations

from collections.abc import Iterable


class SelicaError(ValueError):
    """Base of every error that the package raises on purpose; the message is one sentence.

    Examples
    --------
    >>> from selica import control, errors
    >>> try:
    ...     control.ebh([40.0, 3.0], fdr=5.0)
    ... except errors.SelicaError as error:
    ...     print(error)
    fdr must be between 0 and 1, both excluded; got 5.
    """

    def __str__(self) -> str:
        """Return the message as one line, whatever was passed in."""
        return " ".join(super().__str__().splitlines())


class ArgumentError(SelicaError):
    """An argument is not usable; the message names it and says what it may be.

    Examples
    --------
    >>> from selica import errors, sampling
    >>> try:
    ...     sampling.s_matrix([[1.0, 0.5], [0.5, 1.0]], "best")
    ... except errors.ArgumentError as error:
    ...     print(error)
    method must be one of 'mvr', 'maxent', 'sdp', 'equi'; got 'best'.
    """

    @classmethod
    def choice(cls, name: str, value: object, allowed: Iterable[str]) -> ArgumentError:
        """Return the error for an unknown keyword, with the list of the known ones."""
        known = ", ".join(repr(a) for a in allowed)
        return cls(f"{name} must be one of {known}; got {value!r}.")


class RefusedError(SelicaError):
    """The arguments are fine, but these data do not allow an answer with them.

    Examples
    --------
    >>> from selica import KnockoffSelection, errors
    >>> try:
    ...     KnockoffSelection().fit([[1.0, 2.0], [2.0, 1.0]], [3.0, 3.0])
    ... except errors.RefusedError as error:
    ...     print(error)
    y is constant (3): there is nothing to explain.
    """


class DoesNotApply(SelicaError):
    """The question is fine, but this part of the package has no answer for such a case.

    Examples
    --------
    >>> from selica import LassoSelection, errors
    >>> from selica.sampling import simulate
    >>> data = simulate(40, 5, 2, response="logistic", random_state=0)
    >>> try:
    ...     LassoSelection("theory").fit(data.X, data.y)
    ... except errors.DoesNotApply as error:
    ...     print(str(error).split(":")[0])
    lam='theory' is for a continuous response
    """


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
    """A former name is still accepted; the message says the name to use."""


class AssumptionWarning(UserWarning):
    """Something about the data weakens what a selection promises, or what it means."""


class EmptySelectionWarning(UserWarning):
    """Nothing was selected, and a table without columns is passed on."""


class UnstableWarning(UserWarning):
    """Another seed might decide most of it differently; more resamples would settle it."""
