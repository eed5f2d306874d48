r"""e-values of knockoff statistics, and the e-value version of Benjamini-Hochberg.

One draw of knockoffs gives (Ren & Barber 2024)

.. math:: e_j = p\, \frac{1\{W_j \ge T\}}{1 + \#\{k : W_k \le -T\}} ,

which is a set of e-values, :math:`\sum_{j\ \text{noise}} E\, e_j \le p`, for every stopping time
:math:`T` of the process that shows the signs of :math:`W` from the smallest :math:`|W|` upwards. So
is the average over any number of draws. Here :math:`T` is the first :math:`t` at which the knockoff
filter at level :math:`\alpha_{kn}` would stop or, with early stopping, fewer than
:math:`1/\alpha_{kn}` positives are left: from there on knockoff+ cannot stop any more. Before it
gives up the filter may go on at a second, larger level: whether fewer than :math:`1/\alpha_{kn}`
positives are left is seen on the way up, so that this is a stopping time as well.

The e-BH rule (Wang & Ramdas 2022) rejects the :math:`k^*` largest of :math:`K` e-values,

.. math:: k^* = \max\{k : k\, e_{(k)} \ge K / \alpha\} ,

none if there is no such k, and keeps the false discovery rate at :math:`\alpha` whatever the
dependence between them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from selica._core.errors import ArgumentError
from selica._core.rounding import ROUNDING
from selica._core.types import Array, BoolArray
from selica._core.validation import error_level, flag, numbers, offset_of
from selica.control.knockoffs import sign_counts, within_level


def knockoff_evalues(
    W: ArrayLike,
    fdr: float,
    offset: int = 1,
    early_stopping: bool = True,
    *,
    fallback_fdr: float | None = None,
) -> Array:
    """Return the e-values of one draw of knockoffs.

    Average them over draws and pass the average to `ebh`.

    Parameters
    ----------
    W : array of shape (p,)
        Knockoff statistics.
    fdr : float
        Level of the knockoff filter inside, between 0 and 1. The e-values are valid at any; half
        the level that `ebh` is to keep is a good choice, with that level as `fallback_fdr`.
    offset : {1, 0}
        Of the filter inside. The e-values are valid with both.
    early_stopping : bool
        Whether to stop where fewer than 1 / fdr positives are left (1 / fallback_fdr, if given),
        from where on the filter with offset 1 could not stop any more. Without it a draw in which
        the filter selects nothing has no e-value at all.
    fallback_fdr : float, optional
        Level of the filter where fewer than 1 / fdr positives are left, so that `fdr` itself is
        out of reach; at least `fdr`, which is the default. Without it a draw with fewer than
        1 / fdr signals has no e-values that `ebh` could use.

    Returns
    -------
    array of shape (p,)
        Not negative; zero for W <= 0.

    Notes
    -----
    The early stop is at the smallest abs(W), of a positive or a negative, with fewer than 1 / fdr
    positives at or above it. To go on to the next positive and leave out the negatives on the way
    would not be a stopping time, and would make the e-values too large.

    Examples
    --------
    >>> from selica.control import knockoff_evalues
    >>> knockoff_evalues([-5, -1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10], fdr=0.2)
    array([ 0.,  0.,  0.,  0.,  0.,  0.,  0., 12., 12., 12., 12., 12.])

    Six clear signals and an average for `ebh` at level 0.2: half of it needs ten.

    >>> W = [9, 8, 7, 6, 5, 4, -1]
    >>> knockoff_evalues(W, fdr=0.1)
    array([3.5, 3.5, 3.5, 3.5, 3.5, 3.5, 0. ])
    >>> knockoff_evalues(W, fdr=0.1, fallback_fdr=0.2)
    array([7., 7., 7., 7., 7., 7., 0.])
    """
    w = numbers("W", W)
    fdr, offset = error_level("fdr", fdr), offset_of(offset)
    last = fdr if fallback_fdr is None else error_level("fallback_fdr", fallback_fdr)
    if last < fdr:
        raise ArgumentError(f"fallback_fdr must be at least fdr = {fdr:g}; got {last:g}.")
    counts = sign_counts(w)
    few = fdr * counts.positive < 1.0 - ROUNDING
    stop = within_level(counts, fdr, offset) | few & within_level(counts, last, offset)
    if flag("early_stopping", early_stopping):
        stop |= last * counts.positive < 1.0 - ROUNDING
    if not stop.any():
        return np.zeros(w.size)
    first = np.argmax(stop)
    return np.asarray(np.where(w >= counts.t[first], w.size / (1.0 + counts.negative[first]), 0.0))


def ebh(evalues: ArrayLike, fdr: float) -> BoolArray:
    """Select with a bounded false discovery rate from e-values, under any dependence.

    Parameters
    ----------
    evalues : array of shape (p,)
        One e-value for each variable, not negative.
    fdr : float
        Target false discovery rate, between 0 and 1.

    Returns
    -------
    boolean array of shape (p,)
        The k largest, with k as large as possible such that they are all at least p / (fdr k);
        equal e-values are selected together.

    Examples
    --------
    >>> from selica.control import ebh
    >>> ebh([40, 30, 20, 10, 5, 1, 0, 0, 0, 0], fdr=0.25)
    array([ True,  True,  True,  True, False, False, False, False, False,
           False])
    """
    evalues = numbers("evalues", evalues, at_least=0.0)
    share = error_level("fdr", fdr) * evalues / evalues.size
    k = np.arange(1, evalues.size + 1)
    enough = k * np.sort(share)[::-1] >= 1.0 - ROUNDING
    if not enough.any():
        return np.zeros(evalues.size, dtype=bool)
    return np.asarray(k[enough][-1] * share >= 1.0 - ROUNDING)
