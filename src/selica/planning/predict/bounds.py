"""Stability selection under a bound: halves of the rows that select their first q variables.

The bound is on the expected number of false selections (PFER). A level of the false discovery rate
is asked of it by allowing the level times the number of variables that are expected to be selected:
the largest q whose bound is no more than that.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np

from selica import catalogue
from selica._core.types import Array
from selica.control import stability_parameters, supported_bound
from selica.control.stability import bound_obstacle, largest_usable_q
from selica.control.thresholds import CARRIED_SHARE, THRESHOLD
from selica.planning.predict.expectation import Expected, variable_rate
from selica.planning.predict.limit import rates_of_members, solved, unsolved
from selica.planning.predict.prediction import Forecast, Studies
from selica.planning.study import Study
from selica.theory import Rates, StabilitySolution, solve_stability

CUTOFFS = (0.6, 0.75, THRESHOLD)
"""Thresholds that are tried."""
_PENALTIES = 20
"""Penalties along which halves of the rows are solved."""
_KNOWN_SHARES = np.geomspace(2e-4, 0.6, 16)
"""Shares q/p at which bounds are known beforehand."""
_EVERY_NUMBER = 10_000
"""Numbers q of which every one is tried; of larger ones as many."""
_TINY = 1e-300
"""What keeps a ratio finite."""


def r_concave(studies: Studies, level: float, best: bool) -> Iterable[Forecast]:
    """Predict stability selection under the bound for r-concave frequencies.

    Parameters
    ----------
    studies : tuple of Study
    level : float
    best : bool
        Whether the threshold is the most powerful one; otherwise the usual one.
    """
    return by_bound(studies, level, "r-concave", best=best, resamples=_resamples())


def unimodal(studies: Studies, level: float, best: bool) -> Iterable[Forecast]:
    """Predict stability selection under the bound for unimodal frequencies.

    Parameters
    ----------
    studies, level, best
        As in `r_concave`.
    """
    return by_bound(studies, level, "unimodal", best=best, resamples=_resamples())


def no_assumption(studies: Studies, level: float, best: bool) -> Iterable[Forecast]:
    """Predict stability selection under the bound without an assumption on frequencies.

    Parameters
    ----------
    studies, level, best
        As in `r_concave`.
    """
    return by_bound(studies, level, "none", best=best, resamples=_resamples())


def _resamples() -> int:
    """Return the number of resamples of the selector."""
    return int(catalogue.method("stability-pfer").default("n_resamples"))


@lru_cache(maxsize=64)
def _largest_usable(p: int, n_pairs: int) -> int:
    """Return the largest q with a bound for r-concave frequencies, which is kept."""
    return largest_usable_q(p, n_pairs)


@lru_cache(maxsize=4096)
def _bound(p: int, q: float, cutoff: float, n_pairs: int, assumption: str) -> float:
    """Return the bound on false selections, infinite where the theorem does not apply."""
    if bound_obstacle(p, q, cutoff, n_pairs, assumption):
        return math.inf
    return float(supported_bound(p, q, cutoff, n_pairs, assumption))


def _about(p: int, q: Array, cutoff: float, n_pairs: int, assumption: str) -> Array:
    """Return bounds for many q, to a few per cent: p times a known function of q/p."""
    share = q / p
    ends = np.searchsorted(_KNOWN_SHARES, [share.min(), share.max()])
    some = _KNOWN_SHARES[max(ends[0] - 1, 0) : ends[1] + 1]
    known = [_bound(10_000, 10_000 * x, cutoff, n_pairs, assumption) / 10_000 for x in some]
    finite = np.isfinite(known)
    if not finite.any():
        return np.full(q.shape, math.inf)
    at, value = np.log(some[finite]), np.log(np.array(known)[finite])
    about = p * np.exp(np.interp(np.log(share), at, value))
    return np.asarray(np.where(np.log(share) <= at[-1], about, math.inf))


class Halves:
    """Halves of the rows of a study along penalties, from few variables to many."""

    def __init__(self, study: Study, log_lams: Array, taken: Array, kept: Array) -> None:
        self.study, self.log_lams = study, log_lams
        self.taken = taken
        """Variables that a half takes at each penalty."""
        self._kept = dict(zip(CUTOFFS, kept, strict=True))

    def selected(self, q: Array | float, cutoff: float) -> Array:
        """Return how many are expected at the cutoff where halves take q, with many halves."""
        return np.asarray(np.interp(q, self.taken, self._kept[cutoff]))

    def log_lam(self, q: float) -> float:
        """Return the log penalty at which halves take q variables on average."""
        return float(np.interp(q, self.taken, self.log_lams))


@lru_cache(maxsize=64)
def halves_of(studies: tuple[Study, ...]) -> list[Halves]:
    """Return the halves of each of some studies with the same distribution of effects."""
    log_lams = np.log([study.penalties(_PENALTIES, 0.5) for study in studies])
    grid = _half_rows(studies, np.exp(log_lams))
    rates = grid.rates(np.array(CUTOFFS)[:, None, None])
    p, k = (
        np.array([getattr(study, name) for study in studies])[:, None]
        for name in ("n_features", "n_signals")
    )
    taken = p * np.asarray(grid.chi * grid.Q_hat)
    kept = np.moveaxis(k * rates.tpr + (p - k) * rates.fpr, 0, 1)
    return [Halves(*each) for each in zip(studies, log_lams, taken, kept, strict=True)]


def _half_rows(studies: Studies, lams: Array) -> StabilitySolution:
    """Return halves of the rows of each study at penalties (studies, ...)."""
    found: StabilitySolution = solved(
        solve_stability, studies, lams, mu_B=0.5, resampling="bernoulli"
    )
    return found


def by_bound(
    studies: Studies, fdr: float, assumption: str, *, best: bool, resamples: int
) -> list[Forecast]:
    """Predict the most powerful cutoff and q, or the usual cutoff, under a bound.

    Parameters
    ----------
    studies : tuple of Study
    fdr : float
    assumption : {"none", "unimodal", "r-concave"}
    best : bool
    resamples : int
    """
    halves = halves_of(studies)
    chosen = [BoundSettings.of(each, fdr, assumption, best, resamples) for each in halves]
    some = [i for i, each in enumerate(chosen) if each.q > 0]
    nothing = Rates(0.0, 0.0, 0.0)
    out = [
        Forecast(
            Expected.of_rates(study, nothing, None if study.variable is None else 0.0),
            each.parameters,
        )
        for study, each in zip(studies, chosen, strict=True)
    ]
    if not some:
        return out
    lams = np.exp([halves[i].log_lam(chosen[i].q) for i in some])
    at = _half_rows(tuple(studies[i] for i in some), lams)
    rates = rates_of_members(at, np.array([chosen[i].cutoff for i in some]), resamples)
    for place, i in enumerate(some):
        found = Rates(*(float(part[place]) for part in (rates.tpr, rates.fpr, rates.fdr)))
        again = partial(rates_of_members, Pi_th=chosen[i].cutoff, members=resamples)
        chance = variable_rate(studies[i], at[place], again)
        expected = Expected.of_rates(studies[i], found, chance)
        out[i] = Forecast(expected, chosen[i].parameters, unsolved(at[place]))
    return out


class BoundSettings(NamedTuple):
    """The cutoff and q that a bound allows, and the arguments of the selector."""

    cutoff: float
    q: int
    """Variables that halves take; 0 where the level allows none."""
    parameters: dict[str, Any]

    @classmethod
    def of(
        cls, halves: Halves, fdr: float, assumption: str, best: bool, resamples: int
    ) -> BoundSettings:
        """Return the most powerful settings, or those with the usual cutoff.

        Parameters
        ----------
        halves : Halves
        fdr : float
        assumption : {"none", "unimodal", "r-concave"}
        best : bool
        resamples : int
        """
        pairs = resamples // 2
        tried = CUTOFFS if best else (THRESHOLD,)
        cutoff, q = _allowed(halves, fdr, assumption, pairs, tried)
        settings: dict[str, Any] = {"resampling": "pairs", "assumption": assumption}
        if q == 0:
            return cls(cutoff, 0, settings | {"q": 1, "threshold": THRESHOLD})
        allowed = fdr * float(halves.selected(q, cutoff))
        least = _bound(halves.study.n_features, q, cutoff, pairs, assumption)
        pfer = max(float(f"{allowed:.3g}"), math.ceil(least * 1e4) / 1e4)
        if not best and q == carried(halves.study):  # the selector lowers its threshold then
            found = stability_parameters(
                halves.study.n_features, q=q, pfer=pfer, n_pairs=pairs, assumption=assumption
            )
            cutoff = float(found.cutoff)
        return cls(cutoff, q, settings | {"pfer": pfer} | ({"threshold": cutoff} if best else {}))


def _allowed(
    halves: Halves, fdr: float, assumption: str, n_pairs: int, cutoffs: Sequence[float]
) -> tuple[float, int]:
    """Return the cutoff that selects most, and its largest q; 0 where a level allows none."""
    tried = {cutoff: _guess(halves, fdr, cutoff, assumption, n_pairs) for cutoff in cutoffs}
    # from the cutoff that seems to select most on
    for cutoff in sorted(tried, key=lambda c: -float(halves.selected(tried[c], c))):
        q = _largest_q(halves, fdr, cutoff, assumption, n_pairs, tried[cutoff])
        if q > 0:
            return cutoff, q
    return cutoffs[0], 0


def carried(study: Study) -> int:
    """Return how many variables a selector takes from half of the rows, at most.

    Parameters
    ----------
    study : Study
    """
    rows = study.n_samples * study.response.informative_share
    return max(int(CARRIED_SHARE * rows / 2.0), 1)


def _most(halves: Halves, assumption: str, n_pairs: int) -> int:
    """Return the largest q: no more than halves take at the smallest penalty, or can carry."""
    p = halves.study.n_features
    top = min(math.ceil(float(halves.taken.max())), p - 1, carried(halves.study))
    return min(top, _largest_usable(p, n_pairs)) if assumption == "r-concave" else top


def _guess(halves: Halves, fdr: float, cutoff: float, assumption: str, n_pairs: int) -> int:
    """Return about the largest q that the level allows; 0 if there is no q at all."""
    top = _most(halves, assumption, n_pairs)
    if top < 1:
        return 0
    q = np.arange(1.0, min(top, _EVERY_NUMBER) + 1.0)
    if top > _EVERY_NUMBER:
        q = np.concatenate([q, np.ceil(np.geomspace(_EVERY_NUMBER + 1.0, top, _EVERY_NUMBER))])
    bound = _about(halves.study.n_features, q, cutoff, n_pairs, assumption)
    excess = bound / np.maximum(fdr * halves.selected(q, cutoff), _TINY)
    fine = np.flatnonzero(excess <= 1.0)
    return int(q[fine[-1] if fine.size else np.argmin(excess)])


def _largest_q(
    halves: Halves, fdr: float, cutoff: float, assumption: str, n_pairs: int, guess: int
) -> int:
    """Return the largest q near the guess that the level allows, 0 if there is none."""
    p, top = halves.study.n_features, _most(halves, assumption, n_pairs)

    def fine(q: int) -> bool:
        allowed = fdr * float(halves.selected(q, cutoff))
        return _bound(p, q, cutoff, n_pairs, assumption) <= allowed

    if guess == 0:
        return 0
    low, high, step = guess, guess + 1, 1
    while low >= 1 and not fine(low):
        low, high, step = low - step, low, 2 * step
    if low < 1:
        return 0 if high == 1 or not fine(1) else 1
    while high <= top and high - low == step and fine(high):
        low, high, step = high, min(high + 2 * step, top + 1), 2 * step
    while high - low > 1:
        middle = (low + high) // 2
        if fine(middle):
            low = middle
        else:
            high = middle
    return low
