"""Stability selection under a bound: halves of the rows that select their first q variables.

The bound is on the expected number of false selections (PFER). A level of the false discovery rate
is asked of it by allowing the level times the number of variables that are expected to be selected:
the largest q whose bound is no more than that.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from selica._core.errors import ArgumentError
from selica._core.types import Array
from selica.control import stability_bound
from selica.control.stability import largest_usable_q
from selica.planning.finite import Expected
from selica.planning.study import Study
from selica.theory import StabilitySolution, solve_stability

_CUTOFFS = (0.6, 0.75, 0.9)
_PENALTIES = 20
_TRIED = 24


@lru_cache(maxsize=65536)
def _bound(p: int, q: int, cutoff: float, n_pairs: int, assumption: str) -> float:
    """Infinite where the theorem does not apply."""
    try:
        return float(stability_bound(p, q, cutoff, n_pairs, assumption))
    except ArgumentError:
        return math.inf


class Halves:
    """Halves of the rows along penalties, from few variables to many."""

    def __init__(self, study: Study) -> None:
        self.study = study
        self.log_lams = np.log(study.penalties(_PENALTIES, 0.5))
        self.grid = solve_stability(study.model, np.exp(self.log_lams), 0.5, "bernoulli")
        self.taken: Array = study.n_features * np.asarray(self.grid.chi * self.grid.Q_hat)
        self._kept: dict[float, Array] = {}

    def selected(self, q: Array | float, cutoff: float) -> Array:
        """Variables expected at the cutoff where halves take q, and many halves are drawn."""
        if cutoff not in self._kept:
            rates = self.grid.rates(cutoff)
            p, k = self.study.n_features, self.study.n_signals
            self._kept[cutoff] = k * rates.tpr + (p - k) * rates.fpr
        return np.asarray(np.interp(q, self.taken, self._kept[cutoff]))

    def taking(self, q: float) -> StabilitySolution:
        """The halves that take q variables on average."""
        lam = math.exp(np.interp(q, self.taken, self.log_lams))
        return solve_stability(self.study.model, lam, 0.5, "bernoulli")


@lru_cache(maxsize=8)
def _halves(study: Study) -> Halves:
    return Halves(study)


def by_bound(
    study: Study, fdr: float, assumption: str, *, best: bool, resamples: int
) -> tuple[Expected, dict[str, Any]]:
    """The most powerful cutoff and q, or the usual cutoff, with arguments of the selector."""
    halves = _halves(study)
    usual = 0.75 if assumption == "none" else 0.6
    p, n_pairs = study.n_features, resamples // 2
    tried = {
        cutoff: _largest_q(halves, fdr, cutoff, assumption, n_pairs)
        for cutoff in (_CUTOFFS if best else (usual,))
    }
    settings: dict[str, Any] = {"resampling": "pairs", "assumption": assumption}
    cutoff = max(tried, key=lambda c: float(halves.selected(tried[c], c)) if tried[c] else 0.0)
    q = tried[cutoff]
    if q == 0:
        return Expected(0.0, 0.0, 0.0, 0.0), settings | {"q": 1, "threshold": usual}
    rates = halves.taking(q).rates(cutoff, n_members=resamples)
    allowed = fdr * float(halves.selected(q, cutoff))
    least = _bound(p, q, cutoff, n_pairs, assumption)
    settings["pfer"] = max(float(f"{allowed:.3g}"), math.ceil(least * 1e4) / 1e4)
    return Expected.of_rates(study, rates), settings | ({"threshold": cutoff} if best else {})


def _largest_q(halves: Halves, fdr: float, cutoff: float, assumption: str, n_pairs: int) -> int:
    """The largest q that the level allows, 0 if there is none."""
    p = halves.study.n_features
    top = min(int(halves.taken.max()), p - 1)
    if assumption == "r-concave":
        top = min(top, largest_usable_q(p, n_pairs))

    def fine(q: int) -> bool:
        allowed = fdr * float(halves.selected(q, cutoff))
        return _bound(p, q, cutoff, n_pairs, assumption) <= allowed

    # the same numbers in every study of so many variables: their bounds are known the next time
    tried = [int(q) for q in np.unique(np.geomspace(1.0, p, _TRIED).astype(int)) if q <= top]
    good = next((i for i in reversed(range(len(tried))) if fine(tried[i])), None)
    if good is None:
        return 0
    low, high = tried[good], tried[good + 1] if good + 1 < len(tried) else top + 1
    while high - low > 1:
        middle = (low + high) // 2
        if fine(middle):
            low = middle
        else:
            high = middle
    return low
