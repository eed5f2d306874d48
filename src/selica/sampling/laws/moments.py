"""What every law begins with: correlations of standardised columns, and how many rows they have."""

from __future__ import annotations

import numpy as np

from selica._core.types import Array

NUGGET = 1e-7
"""Variance that no direction of standardised columns falls below: what rounding, or a measurement
with seven digits, leaves of it."""


def effective_rows(share: Array) -> float:
    """Return how many equal rows tell as much as rows with these shares.

    Examples
    --------
    >>> import numpy as np
    >>> from selica.sampling.laws.moments import effective_rows
    >>> round(effective_rows(np.array([0.25, 0.25, 0.5])), 2)
    2.67
    """
    return float(1.0 / np.sum(share**2))


def second_moments(rows: Array, share: Array) -> Array:
    """Return the second moments of columns of mean zero, (p, p)."""
    weighted = rows * np.sqrt(share)[:, None]
    return np.asarray(weighted.T @ weighted)


def with_nugget(covariance: Array) -> Array:
    """Return a covariance without directions of hardly any variance, symmetric to the last bit."""
    out = 0.5 * (covariance + covariance.T)
    out[np.diag_indices(len(out))] += NUGGET
    return np.asarray(out)
