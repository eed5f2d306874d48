r"""Masked likelihood ratios: the log odds that a column, and not its copy, is the original.

The odds are those of a Bayesian model of the masked data (Spector and Fithian, Asymptotically
optimal knockoff statistics via the masked likelihood ratio): of each pair one member may matter,
with probability 1 - p0, and then with a normal effect. Gibbs sampling in the core adds up the odds;
`cpp/masked/model.hpp` has model and formulas. If the model is right, no other statistic finds more
in large tables, on average and at the level that the filter estimates; if it is wrong that costs
power, and never the promise, since the pairs are masked.

A binary response keeps its labels, as signs of a normal response (probit). Other responses come as
`statistics.pairs` makes them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from selica._core.compiled import core, threads
from selica._core.types import Array
from selica.solvers import lasso_path_batch
from selica.statistics.data import Data
from selica.statistics.pairs import MaskedPairs, masked_pairs

CHAINS = 4
"""Chains, half of which begin without any variable and half where the lasso ends."""
SWEEPS = 500
"""Sweeps over all pairs in each chain."""
BURN_IN = 0.1
"""Share of the sweeps of a chain that are not counted."""
LEAST_P0 = 0.5
"""Share of the units that do not matter, at least."""
SHAPE = 2.0
"""Shape of the inverse Gamma priors, whose mean is then their scale."""
_PAD = 8
"""Columns are filled with zeros to a multiple of so many rows."""


class Prior(NamedTuple):
    """Parameters of the model: where chains begin, and what is believed about them.

    p0 is uniform above `LEAST_P0`; t2 and s2 are inverse Gamma of the shape `SHAPE`, with the means
    t2 and 1. A response whose noise is known keeps its s2.
    """

    p0: float
    """Share of the units that do not matter."""
    t2: float
    """Variance of an effect, for columns and a response of mean square one."""
    s2: float
    """Variance of the noise."""
    fixed: bool = False
    """Whether all three keep these values."""


class MaskedOdds(NamedTuple):
    """What the chains found."""

    W: Array
    """(units,): log odds that the original is the original."""
    spread: float
    """Largest difference between two chains in the probability of the same unit."""


def mlr_odds(
    data: Data, copy: Array, rng: np.random.Generator, n_threads: int | None = None
) -> Array:
    """Return the log odds that each variable, and not its copy, is the original, (units,).

    Of several classes each is a response of its own, and the log odds are added.

    Parameters
    ----------
    data : Data
    copy : array of shape (n, p)
        Knockoff copy of the columns as they were given, before standardisation.
    rng, n_threads
        As in `mlr_statistics`.
    """
    parts = masked_pairs(data, copy, labels=True)
    each = [mlr_statistics(part, rng, n_threads=n_threads).W for part in parts]
    return np.asarray(np.sum(each, axis=0))


def mlr_statistics(
    pairs: MaskedPairs,
    rng: np.random.Generator,
    *,
    sweeps: int = SWEEPS,
    chains: int = CHAINS,
    prior: Prior | None = None,
    n_threads: int | None = None,
    gram: bool | None = None,
) -> MaskedOdds:
    """Return the log odds that each unit, and not its copy, is the original.

    Parameters
    ----------
    pairs : MaskedPairs
        Of a binary response with its labels, by ``masked_pairs(data, copy, labels=True)``.
    rng : Generator
        The same generator gives the same answer, with any number of threads.
    sweeps, chains : int
        How long is sampled.
    prior : Prior, optional
        By default one that has no scale: effects share the variance of the response.
    n_threads : int, optional
        None for one for each processor.
    gram : bool, optional
        Whether all products of columns are computed first. By default where it saves time.

    Examples
    --------
    >>> import numpy as np
    >>> from selica.sampling import simulate
    >>> from selica.statistics import make_data
    >>> from selica.statistics.mlr import mlr_statistics
    >>> from selica.statistics.pairs import masked_pairs
    >>> rng = np.random.default_rng(0)
    >>> data = simulate(100, 5, 1, snr=9.0, random_state=0)
    >>> copy = rng.standard_normal((100, 5))  # the columns are independent and Gaussian
    >>> [pairs] = masked_pairs(make_data(data.X, data.y, "squared"), copy)
    >>> W = mlr_statistics(pairs, rng).W
    >>> bool(W.argmax() == data.support.argmax())
    True
    """
    versions, starts = _versions(pairs)
    binary = pairs.labels is not None
    y = pairs.response if pairs.labels is None else pairs.labels
    known = prior or _usual(pairs)
    noise_drawn = not known.fixed and not binary and pairs.noise is None
    settings: dict[str, Any] = {
        **known._asdict(),
        "t2_shape": 0.0 if known.fixed else SHAPE, "t2_scale": known.t2,
        "s2_shape": SHAPE if noise_drawn else 0.0, "s2_scale": 1.0,
        "least_p0": 1.0 if known.fixed else LEAST_P0,
        "rows": y.size, "freedom": float(np.count_nonzero(pairs.weight) - pairs.basis.shape[1]),
        "labels": binary, "sweeps": sweeps, "burn_in": int(BURN_IN * sweeps),
    }  # fmt: skip
    found = np.empty((chains, 2, starts.size - 1))
    key = rng.integers(0, 2**64, size=2, dtype=np.uint64)
    core().masked_chains(
        versions, starts, y=_padded(y), flat=_padded(pairs.basis.T),
        start=_start(pairs, versions), key=key, settings=settings, gram=gram, out=found,
        threads=threads() if n_threads is None else n_threads,
    )  # fmt: skip
    mean = np.logaddexp.reduce(found, axis=0)
    share = np.exp(found[:, 0])
    spread = float((share.max(axis=0) - share.min(axis=0)).max())
    return MaskedOdds(pairs.signed(mean[0] - mean[1]), spread)


def _usual(pairs: MaskedPairs) -> Prior:
    """Return where the parameters of a model without a scale begin."""
    if pairs.labels is not None:
        noise = 1.0
    else:
        noise = 1.0 if pairs.noise is None else pairs.noise
    return Prior(0.9, 1.0 / pairs.variable.size, noise)


def _padded(rows: Array) -> Array:
    """Return vectors with zeros up to the length that the core takes, (..., size)."""
    n = rows.shape[-1]
    out = np.zeros((*rows.shape[:-1], -(-n // _PAD) * _PAD))
    out[..., :n] = rows
    return out


def _versions(pairs: MaskedPairs) -> tuple[Array, Any]:
    """Return columns of both versions, (2 p, size), units together, and where each unit begins.

    Columns of a unit are rotated so that they are orthogonal.
    """
    order = np.argsort(pairs.variable, kind="stable")
    units = int(pairs.variable.max()) + 1
    starts = np.searchsorted(pairs.variable[order], np.arange(units + 1))
    both = []
    for part in (pairs.first, pairs.second):
        columns = np.ascontiguousarray(part.T[order])
        for unit in np.flatnonzero(np.diff(starts) > 1):
            block = slice(starts[unit], starts[unit + 1])
            _, axes = np.linalg.eigh(columns[block] @ columns[block].T)
            columns[block] = axes.T @ columns[block]
        both.append(columns)
    return _padded(np.concatenate(both)), starts.astype(np.int64)


def _start(pairs: MaskedPairs, versions: Array) -> Array:
    """Return coefficients of a lasso on all columns, at the penalty that noise alone would pass."""
    n = pairs.response.size
    penalty = np.sqrt(2.0 * n * np.log(len(versions)) * np.mean(pairs.response**2))
    fit = lasso_path_batch(
        np.asfortranarray(versions[:, :n].T), pairs.response, [penalty], np.ones((1, n)),
        fit_intercept=False, n_jobs=1,
    )  # fmt: skip
    assert fit.coef is not None
    return np.ascontiguousarray(fit.coef[0, 0])
