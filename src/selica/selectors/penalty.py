"""Which penalty a selector uses: given, by cross-validation, or by theory."""

from __future__ import annotations

from typing import Any

import numpy as np

from selica._core.errors import ArgumentError
from selica._core.losses import require
from selica._core.scaling import penalty_of_data
from selica._core.types import Array
from selica._core.validation import choice, number, positive, short
from selica.statistics import Data, cross_validate
from selica.statistics.model_of_data import estimate_model
from selica.theory import optimal_lam

PENALTY_WORDS = ("auto", "cv", "theory")


def choose_penalties(
    lam: Any, data: Data, rng: np.random.Generator, *, method: str = "lasso", mu_B: float = 1.0
) -> Array:
    """Return penalties in glmnet's unit, from large to small.

    Parameters
    ----------
    lam : {"auto", "cv", "theory"}, float or array
        "auto" is "cv": smallest error of rows left out. "theory": the penalty at which the theory
        expects the smallest prediction error of one member, for the sparsity and the noise
        estimated from the data.
    data : Data
    rng : Generator
        For the folds.
    method : str
        Method whose equations say the prediction error, as in `theory.optimal_lam`.
    mu_B : float
        Its resampling rate.
    """
    if isinstance(lam, str):
        if lam not in PENALTY_WORDS:
            raise ArgumentError(
                f"lam must be one of {PENALTY_WORDS}, a number or an array; got {lam!r}."
            )
        if lam == "theory" and data.l1_ratio < 1.0:
            raise ArgumentError(
                "lam='theory' is for the lasso; with l1_ratio below 1 use lam='cv'."
            )
        if lam == "theory":
            require("penalty by theory", data.loss)
        found = cross_validate(data, rng)
        if lam != "theory":
            return found.penalties[found.best : found.best + 1]
        n, p = data.X.shape
        model = estimate_model(data, found)
        best = float(optimal_lam(model, method, mu_B=mu_B))
        return np.atleast_1d(penalty_of_data(best, n, p, model.rho, model.Delta, mu_B))
    try:
        values = np.unique(np.ravel(positive("lam", lam)))[::-1]
    except ArgumentError as error:
        raise ArgumentError(
            f"{error} It may also be one of {PENALTY_WORDS}; got {short(lam)}."
        ) from None
    return np.asarray(values)


def fixed_penalty(lam: Any) -> float | None:
    """Return a penalty as a number; None where cross-validation chooses it.

    Parameters
    ----------
    lam : {"auto", "cv"} or float
    """
    if isinstance(lam, str):
        choice("lam", lam, ("auto", "cv"))
        return None
    return number("lam", lam, at_least=1e-12)
