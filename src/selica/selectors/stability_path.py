"""Selection probabilities along the penalty: the picture behind a stability selection."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from selica._core.random import child
from selica._core.results import Result
from selica._core.types import Array, BoolArray
from selica.plots import plot_stability_path
from selica.selectors.members import MemberRule, Refits, Scheme
from selica.statistics import Data
from selica.statistics.data import largest_penalty, path_from

if TYPE_CHECKING:
    from matplotlib.figure import Figure

N_PENALTIES = 30
"""Penalties along a path."""
N_HALVES = 100
"""Halves of the rows along a path, where the fit drew none of its own."""
ROWS = 1
"""Spawn key of the resampled rows."""
WEAKNESS = 2
"""Spawn key of the penalties of the randomised lasso."""
_SMALLEST_WIDE = 0.1
"""Smallest penalty, as a share of the largest, with more columns than rows: below it fits take long
and follow the noise."""
_SMALLEST_TALL = 0.02
"""The same with more rows than columns."""


@dataclass(frozen=True, slots=True, repr=False)
class StabilityPath(Result):
    """Selection probabilities at many penalties.

    Attributes
    ----------
    lams : array of shape (L,)
        Penalties, from large to small, in the unit of glmnet's lambda.
    probabilities : array of shape (L, p)
        Share of the resamples that select each variable, at each penalty.
    names : tuple of str
        Of the variables.
    support : boolean array of shape (p,)
        The variables that were selected.
    threshold : float, optional
        The probability that the selection needed; None where it did not go by probabilities.

    Examples
    --------
    >>> from selica import StabilitySelection
    >>> from selica.sampling import simulate
    >>> data = simulate(100, 30, 3, snr=10.0, random_state=0)
    >>> selector = StabilitySelection(n_resamples=50, random_state=0).fit(data.X, data.y)
    >>> path = selector.stability_path()
    >>> path.probabilities.shape, bool((path.probabilities[:, data.support].max(axis=0) == 1).all())
    ((30, 30), True)
    """

    lams: Array
    probabilities: Array
    names: tuple[str, ...]
    support: BoolArray
    threshold: float | None

    def plot(self, title: str = "") -> Figure:
        """Draw the probabilities against the penalty, selected variables by name (matplotlib)."""
        return plot_stability_path(
            self.lams, self.probabilities, self.support, self.threshold, title, names=self.names
        )


def path_of_halves(
    data: Data, seed: Any, names: Sequence[str], support: BoolArray, n_jobs: int | None
) -> StabilityPath:
    """Return the stability path of the data of any method, by random halves of the rows.

    Parameters
    ----------
    data : Data
    seed : SeedSequence
    names : sequence of str
        Of the variables.
    support : boolean array of shape (p,)
        The variables that were selected.
    n_jobs : int, optional
    """
    lams = path_penalties(data, None)
    seeds = (child(seed, ROWS), child(seed, WEAKNESS))
    scheme = Scheme("pairs", 0.5, 1.0)
    found = path_probabilities(data, scheme, N_HALVES, lams, seeds, n_jobs)
    return StabilityPath(lams, found, tuple(names), support, None)


def path_penalties(data: Data, lam: float | None) -> Array:
    """Return the penalties of a path, down to that of the fit or below.

    Parameters
    ----------
    data : Data
    lam : float, optional
        The penalty of the fit, which is one of them.
    """
    n, p = data.X.shape
    top = largest_penalty(data)
    smallest = _SMALLEST_WIDE if n <= p else _SMALLEST_TALL
    if lam is None or not 0.0 < lam < top:
        return path_from(top, data.X.shape, N_PENALTIES, smallest)
    path = path_from(top, data.X.shape, N_PENALTIES - 1, min(smallest, 0.5 * lam / top))
    return np.sort(np.append(path, lam))[::-1]


def path_probabilities(
    data: Data, scheme: Scheme, members: int, penalties: Array, seeds: Any, n_jobs: int | None
) -> Array:
    """Return the share of the members that select each variable, at each penalty, (L, p).

    Parameters
    ----------
    data : Data
    scheme : Scheme
        How rows are drawn.
    members : int
    penalties : array of shape (L,)
    seeds : two SeedSequences
        As in `Refits`: with those of a fit, the rows are drawn as they were for it.
    n_jobs : int, optional
    """
    refits = Refits(data, scheme, members, MemberRule(penalties, None, None), n_jobs, seeds)
    return np.asarray(refits.at_least(members).counts / members)
