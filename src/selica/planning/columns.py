"""How the columns of a study are correlated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from selica._core.errors import ArgumentError
from selica._core.types import Array
from selica._core.validation import count, matrix, number, short

if TYPE_CHECKING:  # plans with independent columns start without the room
    from selica.sampling.covariance import Covariance

_FORMS = {"ar1": ("r",), "block": ("r", "size"), "equicorrelated": ("r",)}
"""Correlations that a study may have, with what follows their names."""
_LARGEST = 0.99
"""Correlation beyond which columns cannot be told apart."""


@dataclass(frozen=True, slots=True, eq=False)
class _Known:
    """A covariance that is compared by identity, since a matrix cannot be a key."""

    covariance: Covariance


@dataclass(frozen=True, slots=True)
class CorrelatedColumns:
    """Correlated columns of a study.

    Examples
    --------
    >>> from selica.planning.columns import check_columns
    >>> check_columns(("ar1", 0.5), 100).label
    'columns with autoregressive correlation 0.5'
    """

    form: tuple[Any, ...]
    """Name and numbers, or a known covariance."""
    n_features: int

    @property
    def covariance(self) -> Covariance:
        """The covariance of a row."""
        known = self.form[0]
        if isinstance(known, _Known):
            return known.covariance
        from selica.sampling.covariance import parse_covariance

        return parse_covariance(self.form, self.n_features, np.random.default_rng(0))

    @property
    def label(self) -> str:
        """What an answer calls such columns."""
        name = self.form[0]
        if name == "ar1":
            return f"columns with autoregressive correlation {self.form[1]:g}"
        if name == "block":
            return f"blocks of {self.form[2]} columns with correlation {self.form[1]:g}"
        if name == "equicorrelated":
            return f"columns that all have correlation {self.form[1]:g}"
        return "columns with the given covariance"

    @property
    def typed(self) -> str:
        """What is typed for it on the command line, such as ar1:0.5; else a file."""
        if isinstance(self.form[0], _Known):
            return "covariance.csv"
        return ":".join(f"{part:g}" if not isinstance(part, str) else part for part in self.form)


def check_columns(covariance: object, n_features: int) -> CorrelatedColumns | None:
    """Return the correlation of a study's columns; None for independent ones.

    Parameters
    ----------
    covariance : None, "identity", tuple, array or Covariance
    n_features : int

    Examples
    --------
    >>> from selica.planning.columns import check_columns
    >>> check_columns("identity", 10) is None
    True
    """
    if covariance is None or (isinstance(covariance, str) and covariance == "identity"):
        return None
    from selica.sampling.covariance import FORMS, Covariance, parse_covariance

    if isinstance(covariance, tuple) and covariance and covariance[0] in _FORMS:
        name, *rest = covariance
        if len(rest) != len(_FORMS[name]):
            raise ArgumentError(f"covariance must be {FORMS}; got {short(covariance)}.")
        least = -_LARGEST if name == "ar1" else 0.0
        r = number("covariance: the correlation", rest[0], at_least=least, at_most=_LARGEST)
        form = (name, r, *rest[1:])
        if name == "block":
            form = (name, r, count("covariance: the size of a block", rest[1], at_most=n_features))
        return None if r == 0.0 else CorrelatedColumns(form, n_features)
    if isinstance(covariance, str | tuple):
        raise ArgumentError(f"covariance must be {FORMS}; got {short(covariance)}.")
    if not isinstance(covariance, Covariance):
        covariance = _correlations(matrix("covariance", covariance), n_features)
    known = parse_covariance(covariance, n_features, np.random.default_rng(0))
    return CorrelatedColumns((_Known(known),), n_features)


def _correlations(given: Array, n_features: int) -> Array:
    """Return the correlations of a covariance, since effects are those of standardised columns."""
    rows, columns = given.shape
    if rows != n_features or columns != n_features:
        raise ArgumentError(
            f"covariance must have {n_features} rows and columns, one for each variable; got "
            f"{rows} x {columns}."
        )
    variance = given.diagonal()
    if np.any(variance <= 0.0):
        raise ArgumentError(
            f"covariance must have positive variances; got {variance.min():g} on its diagonal."
        )
    deviation = np.sqrt(variance)
    found = given / np.outer(deviation, deviation)
    np.fill_diagonal(found, 1.0)
    return np.asarray(found)
