r"""How much the members of an ensemble agree on what they select (Nogueira et al. 2018).

:math:`M` members select from :math:`d` variables. With :math:`Z` the table of zeros and ones,
:math:`f_j` the share of the members that select variable :math:`j`, :math:`k_i` the number that
member :math:`i` selects and :math:`\bar k` their mean, the index is

.. math:: \hat\Phi = 1 - \frac{\frac{M}{M-1} \frac1d \sum_j f_j (1 - f_j)}
    {\frac{\bar k}{d} (1 - \frac{\bar k}{d})} ,

one less the average variance of a variable's membership, as a share of what it is if every member
draws its variables at random. It is 1 if all members select the same, 0 on average if they draw at
random, and at least :math:`-1/(M-1)`; for members that select equally many it is Kuncheva's index,
averaged over the pairs of members.

Its variance is that of the mean of the members' influences

.. math:: \hat\phi_i = \frac{\frac1d \sum_j Z_{ij} f_j - \frac{k_i \bar k}{d^2}
    + \frac{\hat\Phi}{2} (\frac{2 k_i \bar k}{d^2} - \frac{k_i}{d} - \frac{\bar k}{d} + 1)}
    {\frac{\bar k}{d} (1 - \frac{\bar k}{d})} , \qquad
    \mathrm{var} = \frac{4}{M^2} \sum_i (\hat\phi_i - \bar\phi)^2 .

The two halves of a complementary pair depend on each other. Where members come in pairs the unit is
the pair, with the average of both influences: 4 / (M/2)^2 times the sum of squares over pairs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from selica._core.errors import ArgumentError
from selica._core.results import Result
from selica._core.validation import array_of, flag

NORMAL_95 = 1.959963984540054
"""Standard errors on either side of a 95 % interval."""


@dataclass(frozen=True, slots=True, repr=False)
class StabilityIndex(Result):
    """Agreement of the members of an ensemble, with a 95 % interval.

    Attributes
    ----------
    index : float
        1: all members select the same; 0: as if each drew its variables at random. nan where it is
        not defined.
    variance : float
        Estimated variance of the index over further draws of the members.
    lower, upper : float
        The interval, index plus and minus 1.96 standard errors; `upper` may exceed 1.
    units : int
        Independent members, or pairs of members.
    why_undefined : str
        A sentence where the index is nan, else nothing.

    Examples
    --------
    >>> from selica.control import stability_index
    >>> found = stability_index([[1, 1, 0, 0, 0], [1, 1, 0, 0, 0], [1, 0, 1, 0, 0]])
    >>> round(found.index, 3), found.units
    (0.444, 3)
    >>> stability_index([[0, 0], [0, 0]]).why_undefined
    'No member selects any variable, so that their agreement is not defined.'
    """

    index: float
    variance: float
    lower: float
    upper: float
    units: int
    why_undefined: str = ""

    @property
    def half_width(self) -> float:
        """Half of the width of the interval; nan where the index is not defined."""
        return NORMAL_95 * float(np.sqrt(self.variance))


def stability_index(selections: Any, *, pairs: bool = False) -> StabilityIndex:
    """Return the stability index of the selections of several members (Nogueira et al. 2018).

    It speaks of how the members were drawn, given the data: it says nothing of other data, and is
    no bound on errors.

    Parameters
    ----------
    selections : array or sparse array of shape (M, d)
        Zeros and ones, or a boolean array: which of d variables each of M members selects; M is at
        least two.
    pairs : bool
        Whether rows 0 and 1, 2 and 3, ... are complementary halves, which depend on each other: the
        variance is then that over pairs.

    Returns
    -------
    StabilityIndex

    Examples
    --------
    >>> from selica.control import stability_index
    >>> stability_index([[1, 0, 1, 0], [0, 1, 0, 1]]).index
    -1.0
    >>> stability_index([[1, 0, 1, 0]] * 4, pairs=True)
    StabilityIndex(index=1, variance=0, lower=1, upper=1, units=2, why_undefined=)
    """
    Z = _zeros_and_ones(selections)
    M, d = Z.shape
    if flag("pairs", pairs) and M % 2:
        raise ArgumentError(f"selections must have an even number of rows for pairs; got {M}.")
    units = M // 2 if pairs else M
    share = np.asarray(Z.sum(axis=0), dtype=float).ravel() / M
    sizes = np.asarray(Z.sum(axis=1), dtype=float).ravel()
    total = int(sizes.sum())
    if total in (0, M * d):
        what = "selects any variable" if total == 0 else "leaves any variable out"
        undefined = f"No member {what}, so that their agreement is not defined."
        return StabilityIndex(np.nan, np.nan, np.nan, np.nan, units, undefined)
    k, mean = sizes / d, total / (M * d)
    by_chance = mean * (1.0 - mean)
    index = 1.0 - M / (M - 1.0) * float(np.mean(share * (1.0 - share))) / by_chance
    overlap = np.asarray(Z @ share).ravel() / d
    influence = (overlap - k * mean + 0.5 * index * (2.0 * k * mean - k - mean + 1.0)) / by_chance
    if pairs:
        influence = influence.reshape(-1, 2).mean(axis=1)
    spread = influence - influence.mean()
    variance = 4.0 / units**2 * float(spread @ spread)
    half = NORMAL_95 * np.sqrt(variance)
    return StabilityIndex(index, variance, index - half, index + half, units)


def _zeros_and_ones(selections: Any) -> Any:
    """Return selections as a sparse array of numbers, checked."""
    sparse = bool(issparse(selections))
    table: Any = csr_array(selections) if sparse else array_of(selections)
    values = table.data if sparse else table
    if table.ndim != 2 or table.shape[0] < 2 or table.shape[1] < 1:
        raise ArgumentError(
            "selections must be a table with a row for each of two or more members and a column "
            f"for each variable; got shape {table.shape}."
        )
    if values.dtype.kind not in "biuf" or not np.all((values == 0) | (values == 1)):
        raise ArgumentError("selections must hold zeros and ones only.")
    return csr_array(table.astype(np.float64))
