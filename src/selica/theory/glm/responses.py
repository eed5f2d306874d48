"""Responses other than a linear one: a binary response whose log odds are linear."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from selica._core.errors import ArgumentError
from selica._core.results import unwrap
from selica._core.validation import real
from selica.theory.model import Model

STRONGEST = 1e4
"""Largest T: standard deviations of a hundred logits, where the response is a sign."""


@dataclass(frozen=True, slots=True, init=False, eq=False)
class Logistic:
    r"""A binary response with log odds linear in x, fitted by penalised logistic regression.

    Parameters
    ----------
    T : float or array
        Signal strength: variance of the log odds over the rows, :math:`T = E[w_0^2]`, from 0 to
        1e4; broadcasts against the model. With standardised independent columns and coefficients
        b it is :math:`\sum_j b_j^2`. The effects of the model, which have second moment one, are
        multiplied by :math:`\sqrt{T/\rho}`.

    Notes
    -----
    Such a response is random by itself: the model has no noise of its own, Delta = 0. Order
    parameters are in log odds, and `lam` is that of `solvers.logistic_path_batch` for rows of
    squared length one.

    Examples
    --------
    >>> from selica import theory
    >>> model = theory.Model(alpha=4.0, rho=0.2, Delta=0.0)
    >>> s = theory.solve_stability(model, lam=1.0, response=theory.Logistic(T=4.0))
    >>> round(s.q, 5), round(s.m, 5), round(s.v, 5)
    (1.54531, 2.24401, 0.31902)
    >>> round(s.rates(Pi_th=0.6).fdr, 4)
    0.3484
    """

    T: Any

    def __init__(self, T: ArrayLike) -> None:
        strength = real("T", T, at_least=0.0, at_most=STRONGEST)
        strength.setflags(write=False)
        object.__setattr__(self, "T", unwrap(strength))

    def __repr__(self) -> str:
        return f"Logistic(T={self.T})"

    @staticmethod
    def check(response: object, model: Model) -> Logistic:
        """Return `response` if it is one that fits the model; else raise an error."""
        if not isinstance(response, Logistic):
            raise ArgumentError(
                f"response must be theory.Logistic(T=...) with the signal strength T; "
                f"got {response!r}."
            )
        Model.check(model)
        if np.any(np.asarray(model.Delta) != 0.0):
            raise ArgumentError(
                "Delta must be 0 with a logistic response: a binary response is random by itself, "
                "and T says how much the signal decides."
            )
        return response
