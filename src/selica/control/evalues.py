r"""e-values of knockoff statistics, and the e-value version of Benjamini-Hochberg.

One draw of knockoffs gives (Ren & Barber 2024)

.. math:: e_j = p\, \frac{1\{W_j \ge T\}}{1 + \#\{k : W_k \le -T\}} ,

which is a set of e-values, :math:`\sum_{j\ \text{noise}} E\, e_j \le p`, for every stopping time
:math:`T` of the process that shows the signs of :math:`W` from the smallest :math:`|W|` upwards. So
is the average over any number of draws. Here :math:`T` is the first :math:`t` at which the knockoff
filter at level :math:`\alpha_{kn}` would stop or, with early stopping, fewer than
:math:`1/\alpha_{kn}` positives are left: from there on knockoff+ cannot stop any more. The stop of
`posthoc_evalues` finds more, and is the one of the selectors.

The e-BH rule (Wang & Ramdas 2022) rejects the :math:`k^*` largest of :math:`K` e-values,

.. math:: k^* = \max\{k : k\, e_{(k)} \ge K / \alpha\} ,

none if there is no such k, and keeps the false discovery rate at :math:`\alpha` whatever the
dependence between them.

That much is wasted on averages :math:`E_j` over :math:`B` draws. Let e-BH run at a level
:math:`\lambda`, and let :math:`R_j` be the number of variables that it would reject if :math:`E_j`
were infinite. If it rejects j, it rejects :math:`R_j` variables, so that its false discovery rate
is :math:`\sum_j E[\,1\{E_j \ge p/(\lambda R_j)\}/R_j\,]` over noise. Markov's inequality bounds
it by :math:`\lambda`, with equality only if noise has one positive value. If instead high values
of noise are rarer than low ones - given :math:`R_j`, the probabilities of
:math:`0, \delta, 2\delta, ..` for :math:`E_j` do not increase - then

.. math:: P(E_j \ge x \mid R_j) \le \frac{E[E_j \mid R_j]}{2x - \delta} .

A draw of which the filter stops with :math:`R_j` positives adds about
:math:`\delta = p / (B \alpha_{kn} R_j)` to a variable. This is an approximation: it adds
:math:`p/(B(1+N))` with N negatives beyond the stop, which may be up to twice as much where
:math:`N = 0`. With :math:`x = p/(\lambda R_j)` and :math:`\sum E\,E_j \le p` the false discovery
rate is then at most :math:`1 / (2/\lambda - 1/(B \alpha_{kn}))`, which is :math:`\alpha` at

.. math:: \lambda = \frac{2}{1/\alpha + 1/(B \alpha_{kn})} ,

the harmonic mean of :math:`\alpha` and :math:`B \alpha_{kn}`: nearly twice the level for many
draws. So :math:`\alpha` is expected, not proven: beside the approximation, the shape is needed
given :math:`R_j`, and that of each average by itself is not enough. Let nothing matter, let k be
each of the numbers 1 to p with probability :math:`\lambda / p`, and let k variables drawn at random
have :math:`p/(\lambda k)`, all others zero: high values are rarer than low ones, and the false
discovery rate is :math:`\lambda`. Whatever the values look like, :math:`\lambda` bounds it: this is
proven.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from selica._core.rounding import ROUNDING
from selica._core.types import Array, BoolArray
from selica._core.validation import count, error_level, flag, numbers, offset_of
from selica.control.knockoffs import sign_counts, within_level

_LARGEST_LEVEL = 0.5
"""Level of e-BH on averages, at most, unless a larger one is to be kept."""


def knockoff_evalues(
    W: ArrayLike,
    fdr: float,
    offset: int = 1,
    early_stopping: bool = True,
) -> Array:
    """Return the e-values of one draw of knockoffs.

    Average them over draws and pass the average to `ebh`. They have the stop of the article, and
    reproduce its method; selectors use `posthoc_evalues`, whose stop finds more.

    Parameters
    ----------
    W : array of shape (p,)
        Knockoff statistics.
    fdr : float
        Level of the knockoff filter inside, between 0 and 1. The e-values are valid at any; half
        the level that `ebh` is to keep is a good choice.
    offset : {1, 0}
        Of the filter inside. The e-values are valid with both.
    early_stopping : bool
        Whether to stop where fewer than 1 / fdr positives are left, from where on the filter with
        offset 1 could not stop any more. Without it a draw in which the filter selects nothing has
        no e-value at all.

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
    """
    w = numbers("W", W)
    fdr, offset = error_level("fdr", fdr), offset_of(offset)
    counts = sign_counts(w)
    stop = within_level(counts, fdr, offset)
    if flag("early_stopping", early_stopping):
        stop |= fdr * counts.positive < 1.0 - ROUNDING
    if not stop.any():
        return np.zeros(w.size)
    first = np.argmax(stop)
    return np.asarray(np.where(w >= counts.t[first], w.size / (1.0 + counts.negative[first]), 0.0))


def averaged_level(fdr: float, copy_fdr: float, n_copies: int) -> float:
    """Return the level at which e-BH may take averages over draws to keep a smaller one.

    It is expected, not proven, that the smaller one is kept if among irrelevant variables high
    averages are rarer than low ones. It is proven that the level that is returned, at most twice
    the smaller one, bounds the false discovery rate of any valid e-values.

    Parameters
    ----------
    fdr : float
        False discovery rate to keep, between 0 and 1.
    copy_fdr : float
        Level of the filter of each draw, as in `posthoc_evalues`.
    n_copies : int
        Number of draws that differ from each other.

    Returns
    -------
    float
        Harmonic mean of `fdr` and `copy_fdr` times `n_copies`; at least `fdr`, and where it is more
        than that, at most 1/2.

    Examples
    --------
    >>> from selica.control import averaged_level
    >>> round(averaged_level(0.1, copy_fdr=0.05, n_copies=50), 4)
    0.1923
    >>> averaged_level(0.1, copy_fdr=0.05, n_copies=1)
    0.1
    """
    fdr, own = error_level("fdr", fdr), error_level("copy_fdr", copy_fdr)
    mean = 2.0 / (1.0 / fdr + 1.0 / (count("n_copies", n_copies) * own))
    return max(fdr, min(mean, _LARGEST_LEVEL))


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
