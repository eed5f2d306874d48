r"""Selections by data splitting (Dai, Lin, Xing & Liu 2023).

The mirror statistic :math:`M_j` of a noise variable, made of its estimates on two halves of the
data, is symmetric about zero; that of a variable that matters is large and positive. The threshold

.. math:: \tau = \min\Big\{ t \in \{|M_j|\} :
          \frac{o + \#\{M < -t\}}{\max(1, \#\{M > t\})} \le \alpha \Big\}

selects :math:`M_j > \tau`, strictly. The paper has the offset :math:`o = 0`, the authors' programs
:math:`o = 1`.

With many splits the inclusion rate :math:`I_j` is the average over splits of
:math:`1\{j \in S\} / \max(|S|, 1)`. In rising order, let :math:`l` be the last index with
:math:`I_{(1)} + .. + I_{(l)} \le \alpha`; then :math:`I_j > I_{(l)}` are selected.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from selica._core.rounding import ROUNDING
from selica._core.validation import error_level, numbers, offset_of


def mirror_threshold(M: ArrayLike, fdr: float, offset: int = 1) -> float:
    """Return the threshold of mirror statistics: variables with M > threshold are selected.

    Parameters
    ----------
    M : array of shape (p,)
        Mirror statistics.
    fdr : float
        Target false discovery rate, between 0 and 1.
    offset : {1, 0}
        Added to the number of negatives; 0 is the looser rule of the paper.

    Returns
    -------
    float
        One of the values of abs(M), possibly zero; infinite if no value keeps the level. Variables
        with M <= 0 are never selected.

    Examples
    --------
    >>> from selica.control import mirror_threshold
    >>> M = [1.9, 1.5, 1.1, -0.4, 0, 0.35, -0.3, 0.07]
    >>> mirror_threshold(M, fdr=0.5)
    0.3
    >>> mirror_threshold(M, fdr=0.2), mirror_threshold(M, fdr=0.2, offset=0)
    (inf, 0.4)
    """
    M = numbers("M", M)
    fdr, offset = error_level("fdr", fdr), offset_of(offset)
    t = np.unique(np.abs(M))
    ordered = np.sort(M)
    positive = M.size - np.searchsorted(ordered, t, side="right")
    negative = np.searchsorted(ordered, -t, side="left")
    fine = offset + negative <= fdr * np.maximum(positive, 1) + ROUNDING
    return float(t[np.argmax(fine)]) if fine.any() else np.inf


def inclusion_rate_cutoff(rates: ArrayLike, fdr: float) -> float:
    """Return the cutoff of inclusion rates: variables with a rate > cutoff are selected.

    Parameters
    ----------
    rates : array of shape (p,)
        Average over splits of 1 / (number of variables selected) for the selected ones and 0 for
        the others; between 0 and 1.
    fdr : float
        Target false discovery rate, between 0 and 1: the largest sum of the rates left out.

    Returns
    -------
    float
        Zero if even the smallest rate is above `fdr`: all variables are then selected.

    Notes
    -----
    Equal rates, also equal but for rounding, are left out or selected together: left out only if
    the sum of all of them fits. Where splits agree, the variables that all of them select have
    equal rates, and a rule that leaves all of them out because one would fit selects nothing. The
    selection does not depend on the order of the variables.

    Examples
    --------
    >>> import numpy as np
    >>> from selica.control import inclusion_rate_cutoff
    >>> rates = np.array([0.40, 0.30, 0.22, 0.05, 0.03, 0.0])
    >>> rates > inclusion_rate_cutoff(rates, fdr=0.1)
    array([ True,  True,  True, False, False, False])
    """
    # a mean of ones may exceed one by rounding
    rates = np.sort(numbers("rates", rates, at_least=0.0, at_most=1.0 + ROUNDING))
    last = np.append(np.diff(rates) > ROUNDING, True)  # of its group of equal rates
    fits = last & (np.cumsum(rates) <= error_level("fdr", fdr) + ROUNDING)
    return float(rates[fits].max(initial=0.0))
