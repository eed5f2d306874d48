"""The one loop of message passing: damped as far as it has to be, ended in any case."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from selica._core.results import Status
from selica._core.types import Array, BoolArray, IntArray

# A step after which the change is larger than after any of the last few is shortened, others are
# lengthened; after a failure the longest step allowed is shorter too, for a while, so that the
# iteration does not run into the same wall.
_SHORTER, _LONGER, _CAP, _RECOVERY = 0.7, 1.1, 0.85, 1.005
_SHORTEST, _MEMORY = 0.02, 4
# Changes that stay this far above the smallest one seen, for this long, are divergence.
_LOST, _PATIENCE = 1e3, 60

State = tuple[Array, ...]
"""Arrays whose last axis runs over the penalties."""
Step = Callable[[State, IntArray], State]
"""(state, which penalties) -> the next state, undamped."""


class Outcome(NamedTuple):
    """Where an iteration ended, for each penalty."""

    state: State
    status: Array
    residual: Array
    """Relative change of the last undamped step."""
    iterations: IntArray


def iterate(
    step: Step, start: State, floors: tuple[float, ...], *, tol: float, max_iter: int
) -> Outcome:
    """Repeats `step` until the state stays, each penalty with a damping of its own.

    Parameters
    ----------
    step : callable
        Given a state and the positions of its penalties, the next state.
    start : tuple of arrays, last axis L
    floors : tuple of floats
        Norms below which a change is rounding, one for each of the first arrays of a state. These
        are damped and judged; the others are taken as they come.
    tol : float
        Relative change at which a penalty is done.
    max_iter : int

    Returns
    -------
    Outcome
        With the state of the smallest change, where it did not converge.
    """
    L = start[0].shape[-1]
    best = tuple(np.array(part) for part in start)
    residual = np.full(L, np.inf)
    iterations = np.zeros(L, dtype=np.intp)
    status = np.full(L, Status.MAX_ITER, dtype=object)
    live, now = np.arange(L), start
    rate, cap, last = np.ones(L), np.ones(L), np.full((_MEMORY, L), np.inf)
    lost = np.zeros(L, dtype=np.intp)
    for _ in range(max_iter):
        with np.errstate(all="ignore"):
            new = step(now, live)
            change = _change(now, new, floors)
        iterations[live] += 1
        finite = np.isfinite(change)
        better = finite & (change < residual[live])
        residual[live[better]] = change[better]
        _write(best, new, live, better)
        worse = ~(change <= last.max(axis=0))
        cap = np.where(worse, np.maximum(_CAP * cap, _SHORTEST), np.minimum(_RECOVERY * cap, 1.0))
        rate = np.where(
            worse, np.maximum(_SHORTER * rate, _SHORTEST), np.minimum(_LONGER * rate, cap)
        )
        lost = np.where(change > _LOST * residual[live], lost + 1, 0)
        done = finite & (change <= tol)
        gone = ~finite | (lost > _PATIENCE)
        status[live[done]] = Status.CONVERGED
        status[live[gone]] = Status.NONFINITE
        keep = ~done & ~gone
        if not keep.any():
            break
        now = tuple(
            old + rate * (fresh - old) if k < len(floors) else fresh
            for k, (old, fresh) in enumerate(zip(now, new, strict=True))
        )
        last = np.concatenate([last[1:], change[None]])
        if not keep.all():
            now = tuple(part[..., keep] for part in now)
            live, last = live[keep], last[:, keep]
            rate, cap, lost = rate[keep], cap[keep], lost[keep]
    return Outcome(best, status.astype(str), residual, iterations)


def _write(best: State, new: State, live: IntArray, which: BoolArray) -> None:
    """Keeps the columns `which` of a new state."""
    whole = which.all() and live.size == best[0].shape[-1]
    for part, fresh in zip(best, new, strict=True):
        if whole:
            part[...] = fresh
        else:
            part[..., live[which]] = fresh[..., which]


def _change(now: State, new: State, floors: tuple[float, ...]) -> Array:
    """Largest relative change of the judged arrays, for each penalty; NaN where anything is."""
    out = np.zeros(now[0].shape[-1])
    for old, fresh, floor in zip(now, new, floors, strict=False):
        size, moved = np.linalg.norm(fresh, axis=0), np.linalg.norm(fresh - old, axis=0)
        out = np.maximum(out, moved / np.maximum(size, floor))
    for fresh in new[len(floors) :]:
        out = out + 0.0 * fresh.sum(axis=0)
    return np.asarray(out)
