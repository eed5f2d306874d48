r"""The field of each variable on the averaged fit, as if that variable had been left out.

Let :math:`w` be the average of the coefficients over the resamples, :math:`r` the residuals of the
averaged fit (minus the slopes of the loss), :math:`D` its curvatures, :math:`\mathit{df}` the mean
number of variables that a resample selects, and :math:`z_j` what is left of column j once the
others have predicted it (`sampling.laws.remainders`), with the mean square :math:`v_j`. For a
variable that does not matter :math:`z_j` is independent of the response and of all other columns.
So, had the fit not used it, :math:`z_j' r_{-j}` would be normal with the variance
:math:`v_j |r_{-j}|^2`. What the fit made of it is taken out by one step of Newton's method:

.. math::
    h_j &= z_j' r + \gamma\, v_j w_j, \qquad
    \gamma = \sum_i \frac{D_i}{1 + a D_i}, \qquad
    \sum_i \frac{a D_i}{1 + a D_i} = 1 + \mathit{df}, \\
    |r_{-j}|^2 &= |r|^2 + 2 w_j\, z_j' D r + w_j^2 v_j\, \gamma\, \frac{\sum_i D_i^2}{\sum_i D_i},
    \qquad t_j = h_j / \sqrt{v_j |r_{-j}|^2} .

Row i has the leverage :math:`a D_i / (1 + a D_i)`, and leverages add up to the number of variables
and one for the intercept; for squares :math:`\gamma = n - 1 - \mathit{df}`. By Stein's formula
:math:`h_j` has mean zero for a variable that does not matter, whatever the covariance of normal
columns and also with more columns than rows: a fit of j moves the residuals by :math:`-(I - P)\,
\delta z_j w_j`, with the projection P on the active columns of a resample, of trace df.

References
----------
Bellec and Zhang (2022), De-biasing the Lasso with degrees-of-freedom adjustment, Bernoulli 28.
Celentano, Montanari and Wei (2023), The Lasso with general Gaussian designs with applications to
hypothesis testing, Annals of Statistics 51.
Liu, Katsevich, Janson and Ramdas (2022), Fast and powerful conditional randomization testing via
distillation, Biometrika 109.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from selica._core.losses.base import RowLoss
from selica._core.scalar import survival
from selica._core.types import Array, BoolArray
from selica.statistics.data import Data

_FLAT = 1e-10
"""Mean square of what is left of a standardised column, below which nothing is left of it."""
_NEWTON_STEPS = 100
"""Steps of Newton's method, at most."""
_NEWTON_TOLERANCE = 1e-14
"""Relative error at which it ends."""
_NORMAL_MEDIAN = 0.6744897501960817
"""Median of the absolute value of a standard normal number."""


class AveragedFit(NamedTuple):
    """What a fit that is averaged over resamples leaves of the response.

    Examples
    --------
    >>> import numpy as np
    >>> from selica.statistics import make_data
    >>> from selica.statistics.left_out import averaged_fit
    >>> data = make_data(np.array([[1.0], [-1.0], [1.0], [-1.0]]), np.arange(4.0), "squared")
    >>> fit = averaged_fit(data, np.zeros(1), 0.0)
    >>> fit.gain, bool(abs(fit.residual.sum()) < 1e-12)
    (3.0, True)
    """

    coef: Array
    """(p,): mean coefficients."""
    residual: Array
    """(n,): minus the slopes of the loss."""
    curvature: Array
    """(n,)."""
    gain: float
    """What a coefficient of one adds to its own field, for what is left of a column of unit
    variance."""
    steepness: float
    """Sum of squared curvatures over their sum; 1 for squares."""
    free_rows: float
    """Rows that the fit leaves free: without the intercept and what a resample selects."""

    @property
    def error(self) -> float:
        """Mean square of the residuals as if each row had been left out.

        It is the noise of the fields: the smaller, the more an effect stands out.
        """
        if self.free_rows <= 0.0:
            return np.inf
        n = self.residual.size
        return float(self.residual @ self.residual) * n / self.free_rows**2


def averaged_fit(data: Data, coef: Array, selected: float) -> AveragedFit:
    """Return what a fit with these mean coefficients leaves of the response.

    Parameters
    ----------
    data : Data
        With a loss that is a sum over rows.
    coef : array of shape (p,)
        Mean coefficients over the resamples.
    selected : float
        Mean number of variables that a resample selects.
    """
    loss = data.loss
    assert isinstance(loss, RowLoss)
    eta = data.X @ coef
    eta = eta + loss.balance(data.y, np.ones(eta.size), eta)
    y, eta = loss.row_wise(data.y, eta)  # offsets of counts included
    D = loss.curvature(y, eta)
    total = float(D.sum())
    steepness = float(D @ D) / total if total > 0.0 else 0.0
    used = 1.0 + selected
    return AveragedFit(coef, -loss.slope(y, eta), D, _gain(D, used), steepness, eta.size - used)


def _gain(D: Array, used: float) -> float:
    """Return the sum of curvatures less leverages, which add up to the variables that are used.

    The sum of leverages is concave in their factor a, so that Newton's method rises to the root.
    """
    D = D[D > 0.0]
    if used >= D.size:
        return 0.0
    a = used / float(D.sum())
    for _ in range(_NEWTON_STEPS):
        lever = a * D / (1.0 + a * D)
        missing = used - float(lever.sum())
        if missing <= _NEWTON_TOLERANCE * used:
            break
        a += missing / float(np.sum(lever * (1.0 - lever)) / a)
    return float(np.sum(D / (1.0 + a * D)))


class LeftOutFields(NamedTuple):
    """Fields as if each variable had been left out, in units of their noise.

    Examples
    --------
    >>> import numpy as np
    >>> from selica.statistics.left_out import LeftOutFields
    >>> fields = LeftOutFields(np.array([0.0, 1.96, -3.3]))
    >>> fields.p_values.round(3).tolist()
    [1.0, 0.05, 0.001]
    """

    z_values: Array
    """(p,): standard normal for variables that do not matter."""

    @property
    def p_values(self) -> Array:
        """Two-sided p-values, (p,)."""
        return np.minimum(2.0 * survival(np.abs(self.z_values)), 1.0)

    def dispersion(self, which: BoolArray) -> float:
        """Return how many times as large the fields of some variables are as they should be.

        By the median, which the few that matter hardly move.

        Parameters
        ----------
        which : boolean array of shape (p,)
            Variables that are not selected, for instance.
        """
        if not which.any():
            return 1.0
        return float(np.median(np.abs(self.z_values[which])) / _NORMAL_MEDIAN)


def left_out_fields(fit: AveragedFit, remainders: Array) -> LeftOutFields:
    """Return the field of each variable as if it had been left out of the averaged fit.

    Parameters
    ----------
    fit : AveragedFit
    remainders : array of shape (n, p)
        What is left of each column once the others have predicted it.

    Examples
    --------
    Without a penalty and with independent columns, a field grows with the t-statistic:

    >>> import numpy as np
    >>> from selica.statistics import make_data
    >>> from selica.statistics.left_out import averaged_fit, left_out_fields
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((100, 1))
    >>> data = make_data(X, X[:, 0] + rng.standard_normal(100), "squared")
    >>> coef = data.X.T @ data.y / 100
    >>> bool(left_out_fields(averaged_fit(data, coef, 1.0), data.X).z_values[0] > 5.0)
    True
    """
    w, r, D = fit.coef, fit.residual, fit.curvature
    v = np.mean(remainders**2, axis=0)
    there = v > _FLAT
    field = remainders.T @ r + fit.gain * v * w
    square = r @ r + 2.0 * w * (remainders.T @ (D * r)) + w**2 * v * fit.gain * fit.steepness
    # a step of Newton's method may overshoot: a fit without the variable leaves no less
    square = np.maximum(square, r @ r)
    noise = np.sqrt(np.where(there, v * square, 1.0))
    return LeftOutFields(np.where(there & (noise > 0.0), field / np.maximum(noise, 1e-300), 0.0))
