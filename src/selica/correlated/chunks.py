"""A table of many columns as independent chunks of neighbours, and signals planted in them.

Where only neighbours are correlated, a chunk of N columns that closes to a ring is a sample of a
table of any length: averages over its columns are those of the table, without ends. So the
equations are solved on chunks, and a table of p columns is as many chunks as it takes.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.linalg import circulant
from scipy.stats import binom

from selica._core.effects import Effects
from selica._core.types import Array, IntArray
from selica.sampling.covariance import (
    Autoregressive,
    Blocks,
    Covariance,
    Factors,
    parse_covariance,
)

LARGEST = 600
"""Columns of a chunk, at most."""
_FEWEST_COLUMNS = 32
"""Columns of a chunk, about, where correlations are short."""
_LENGTHS_AROUND = 14.0
"""Correlation lengths around a ring."""
_MOSTLY_EMPTY = 0.5
"""Share of chunks without a signal from which on those with signals are drawn apart."""
_TINY = 1e-300
"""What keeps a ratio finite."""
_CANDIDATES = 32
"""Draws of the distribution for each effect, of which one is taken."""


class Chunks(NamedTuple):
    """How a table is cut.

    Examples
    --------
    >>> from selica.correlated.chunks import cut
    >>> from selica.sampling.covariance import Autoregressive
    >>> found = cut(Autoregressive(1000, 0.5))
    >>> found.covariance.n_features, found.number
    (32, 31)
    """

    covariance: Covariance
    """Of the columns of one chunk."""
    number: int
    """Chunks of the table."""
    whole: bool
    """Whether the chunk is the table itself."""
    note: str = ""
    """What is left out, in a sentence."""

    @property
    def size(self) -> int:
        """Columns of a chunk."""
        return self.covariance.n_features


def cut(covariance: Covariance) -> Chunks:
    """Cut a table into chunks that do not know of each other, as small as it goes.

    Parameters
    ----------
    covariance : Covariance
        Of all columns.

    Examples
    --------
    >>> from selica.correlated.chunks import cut
    >>> from selica.sampling.covariance import Blocks
    >>> cut(Blocks(60, 0.5, 10)).size, cut(Blocks(6000, 0.5, 10)).size
    (60, 40)
    """
    p = covariance.n_features
    if isinstance(covariance, Autoregressive):
        r = abs(covariance.r)
        length = 0.0 if r == 0.0 else _LENGTHS_AROUND / -math.log(r)
        size = min(max(2 * math.ceil(0.5 * length), _FEWEST_COLUMNS), LARGEST)
        if p >= 2 * size:
            return Chunks(_ring(covariance.r, size), round(p / size), whole=False)
    elif isinstance(covariance, Blocks) and 2 * covariance.size <= p:
        many = math.ceil(_FEWEST_COLUMNS / covariance.size)
        size = many * covariance.size
        if size <= LARGEST and p >= 2 * size:
            return Chunks(Blocks(size, covariance.r, covariance.size), round(p / size), whole=False)
    if p <= LARGEST:
        return Chunks(covariance, 1, whole=True)
    said = (
        f"The theory was solved for {LARGEST} neighbouring columns, as if the table were made of "
        "such parts that are independent of each other."
    )
    return Chunks(_part(covariance), round(p / LARGEST), whole=False, note=said)


def _ring(r: float, size: int) -> Covariance:
    """Return the covariance of an even number of columns of an AR(1) row that closes to a ring."""
    lag = np.arange(size)
    first = (r ** lag.astype(float) + r ** (size - lag).astype(float)) / (1.0 + r**size)
    return parse_covariance(circulant(first), size, np.random.default_rng(0))


def _part(covariance: Covariance) -> Covariance:
    """Return the covariance of the first columns."""
    if isinstance(covariance, Autoregressive):
        return Autoregressive(LARGEST, covariance.r)
    if isinstance(covariance, Blocks):
        return Blocks(LARGEST, covariance.r, min(covariance.size, LARGEST))
    if isinstance(covariance, Factors):
        return Factors(covariance.loadings[:LARGEST], covariance.strength)
    matrix = np.asarray(covariance)[:LARGEST, :LARGEST]
    return parse_covariance(matrix, LARGEST, np.random.default_rng(0))


class Planted(NamedTuple):
    """Effects in the columns of J chunks."""

    truth: Array
    """Effects, (J, N)."""
    share: Array
    """How often a chunk of this kind occurs, over how often it was drawn; of sum one."""
    signal: float
    """Expectation of w0' Sigma w0 / N."""


def plant(
    chunks: Chunks,
    effects: Effects,
    counts: tuple[int, int],
    wanted: tuple[int, int],
    rng: np.random.Generator,
) -> Planted:
    """Plant signals in chunks of a table in which k of p columns matter.

    Parameters
    ----------
    chunks : Chunks
    effects : Effects
    counts : tuple of int
        (k, p): signals and columns of the table.
    wanted : tuple of int
        (signals, columns) of all chunks together, at least. Where most chunks have no signal,
        those that have one are drawn apart.
    rng : Generator
    """
    (k, p), (signals, columns), N = counts, wanted, chunks.size
    rho = k / p
    sigma = np.asarray(chunks.covariance)
    own = float(np.trace(sigma))
    if chunks.whole:
        J = max(math.ceil(signals / k), math.ceil(columns / p))
        number, share = np.full(J, k), np.full(J, 1.0 / J)
        pairs = rho * (k - 1.0) / max(p - 1.0, 1.0)
    else:
        number, share = _numbers(N, rho, signals, columns, rng)
        pairs = rho**2
    mixture = effects.mixture()
    mean = float(mixture.probability @ mixture.mean)
    signal = (rho * own + mean**2 * pairs * (float(sigma.sum()) - own)) / N
    truth = np.zeros((number.size, N))
    places = np.argsort(rng.random(truth.shape), axis=1)
    taken = np.arange(N) < number[:, None]
    rows = np.nonzero(taken)[0]
    truth[rows, places[taken]] = _spread_effects(effects, rows.size, rng)
    if chunks.whole:  # a signal has its variance in every table
        drawn = np.vecdot(truth @ sigma, truth) / N
        truth *= np.sqrt(signal / np.maximum(drawn, _TINY))[:, None]
    return Planted(truth, share, signal)


def _numbers(
    N: int, rho: float, signals: int, columns: int, rng: np.random.Generator
) -> tuple[IntArray, Array]:
    """Return signals in each of J chunks, in any order, and what the chunks weigh."""
    empty = (1.0 - rho) ** N
    if empty < _MOSTLY_EMPTY:
        J = math.ceil(max(signals / (rho * N), columns / N))
        number = _quantiles(N, rho, 0.0, J)
        return rng.permutation(number), np.full(J, 1.0 / J)
    some = math.ceil(signals * (1.0 - empty) / (rho * N))
    none = math.ceil(columns / N)
    number = np.concatenate([_quantiles(N, rho, empty, some), np.zeros(none, dtype=int)])
    share = np.concatenate([np.full(some, (1.0 - empty) / some), np.full(none, empty / none)])
    order = rng.permutation(number.size)
    return number[order], share[order]


def _quantiles(N: int, rho: float, above: float, size: int) -> IntArray:
    """Return the binomial distribution of (N, rho) beyond a probability, in equal steps."""
    at = above + (1.0 - above) * (np.arange(size) + 0.5) / size
    return np.asarray(np.maximum(binom.ppf(at, N, rho), 1.0 if above else 0.0), dtype=int)


def _spread_effects(effects: Effects, size: int, rng: np.random.Generator) -> Array:
    """Draw effects, one from each of as many parts of equal probability."""
    drawn = np.sort(effects.sample(size * _CANDIDATES, rng)).reshape(size, _CANDIDATES)
    return rng.permutation(drawn[np.arange(size), rng.integers(_CANDIDATES, size=size)])
