"""Penalties of the three kinds of fits that all methods look at."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from selica.theory.model import Model
from selica.theory.selection.penalty import optimal_lam


def predicting_penalties(model: Model, mu_B: ArrayLike = 1.0) -> dict[str, Any]:
    """Return the penalty at which one fit predicts best, for each kind of fit.

    Parameters
    ----------
    model : Model
        One model, not a grid.
    mu_B : array_like
        Resampling rates of stability selection.

    Returns
    -------
    dict
        "lasso" and "knockoff" to arrays of one penalty, "stability" to one for each rate: keys as
        `catalogue.Method.equations`.

    Notes
    -----
    Copies are irrelevant variables: a fit with them is a lasso of twice as many variables, in units
    that halve noise and penalty. So one search finds both penalties.

    Examples
    --------
    >>> from selica import theory
    >>> from selica.theory.selection.fits import predicting_penalties
    >>> sorted(predicting_penalties(theory.Model(0.8, 0.2, 0.01)))
    ['knockoff', 'lasso', 'stability']
    """
    halves = np.array([1.0, 0.5])
    alpha, rho, Delta = (x * halves for x in model.parameters.values())
    lasso, knockoff = optimal_lam(Model(alpha, rho, Delta, model.effects), "lasso")
    stability = optimal_lam(model, "stability-ideal", mu_B)
    return {
        "lasso": np.array([lasso]),
        "stability": stability,
        "knockoff": np.array([2.0 * knockoff]),
    }
