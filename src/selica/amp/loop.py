"""The one loop of message passing: damped as far as it has to be, ended in any case."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from selica._core.results import Status
from selica._core.types import Array, BoolArray, IntArray
from selica.amp.judge import DONE, GOES_ON, GONE, Books, judge
from selica.amp.kernels import compare

_STEPS = (0.02, 1.0)
"""Shares of a step that are taken at least and at most."""
_EVERY = 4
"""Of many penalties, one in so many is solved first; then all of them go together, in products with
as many columns as there are penalties."""
_ROUGH_TOLERANCE = 1e-3
"""How far those are solved that come first."""

State = tuple[Array, ...]
"""Arrays whose last axis runs over the penalties."""
Step = Callable[[State, IntArray], State]
"""(state, which penalties) -> the next state, undamped."""


class Iteration(NamedTuple):
    """Where an iteration ended, for each penalty."""

    state: State
    status: Array
    residual: Array
    """Relative change of the last undamped step."""
    iterations: IntArray
    rate: Array
    """Share of the last step that was taken."""


def iterate(
    step: Step,
    start: State,
    floors: tuple[float, ...],
    *,
    tol: float,
    max_iter: int,
    shares: tuple[float, float] = _STEPS,
    rate: Array | None = None,
) -> Iteration:
    """Repeat `step` until the state stays, each penalty with a damping of its own.

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
    shares : tuple of two floats
        Of a step: what is taken at least and at most.
    rate : array of shape (L,), optional
        What is taken at the start; by default the most.

    Returns
    -------
    Iteration
        With the state of the smallest change, where it did not converge.
    """
    L = start[0].shape[-1]
    best = tuple(np.array(part) for part in start)
    status = np.full(L, Status.MAX_ITER, dtype=object)
    live, now = np.arange(L), start
    steps: State = tuple(np.zeros_like(part) for part in start[: len(floors)])
    longest = shares[1]
    books = Books.opened(np.full(L, longest) if rate is None else rate, longest)
    least = np.array(floors)
    for _ in range(max_iter):
        with np.errstate(all="ignore"):
            new = step(now, live)
            rest = sum((fresh.sum(axis=0) for fresh in new[len(floors) :]), np.zeros(live.size))
        steps, sums = _compare(now, new, steps)
        verdict, better = judge(books, live, sums, rest, least, tol=tol, shares=shares)
        _write(best, new, live, better)
        status[live[verdict == DONE]] = Status.CONVERGED
        status[live[verdict == GONE]] = Status.NONFINITE
        keep = verdict == GOES_ON
        if not keep.any():
            break
        taken = books.rate[live]
        now = (
            *(old + taken * each for old, each in zip(now, steps, strict=False)),
            *new[len(floors) :],
        )
        if not keep.all():
            now, steps = (
                tuple(part.compress(keep, -1) for part in parts) for parts in (now, steps)
            )
            live = live[keep]
    return Iteration(best, status.astype(str), books.residual, books.iterations, books.rate)


def iterate_path(
    step: Step,
    start: State,
    floors: tuple[float, ...],
    lam: Array,
    *,
    tol: float,
    max_iter: int,
) -> Iteration:
    """Iterate at many penalties: a few of them roughly, then all from between those.

    Parameters
    ----------
    start : tuple of arrays, last axis 1
        Where every penalty begins that has none solved beside it.
    lam : array of shape (L,)
        Penalties, which say what is between.
    step, floors, tol, max_iter
        As in `iterate`.
    """
    L = lam.size
    if 2 * _EVERY > L:
        return iterate(step, _repeated(start, L), floors, tol=tol, max_iter=max_iter)
    order = np.argsort(lam, kind="stable")
    some = order[np.unique(np.r_[0:L:_EVERY, L - 1])]
    rough = iterate(
        partial(_some, step, some), _repeated(start, some.size), floors,
        tol=max(tol, _ROUGH_TOLERANCE), max_iter=max_iter // 2,
    )  # fmt: skip
    remaining = max_iter - int(rough.iterations.max())
    solved = np.flatnonzero(rough.status == Status.CONVERGED)
    near, rate = _repeated(start, L), np.ones(L)
    if solved.size:
        nodes, where = np.unique(lam[some[solved]], return_index=True)
        known = solved[where]
        near = _between(tuple(part[..., known] for part in rough.state), nodes, lam)
        rate = np.interp(np.log(lam), np.log(nodes), rough.rate[known])
    whole = iterate(step, near, floors, tol=tol, max_iter=remaining, rate=rate)
    whole.iterations[some] += rough.iterations
    return whole


def _repeated(start: State, L: int) -> State:
    return tuple(np.repeat(part, L, axis=-1) for part in start)


def _some(step: Step, some: IntArray, state: State, which: IntArray) -> State:
    """Restrict a step to some penalties, given by their positions among all."""
    return step(state, some[which])


def _between(solved: State, nodes: Array, lam: Array) -> State:
    """Return states at the penalties `lam` from those at ascending `nodes`: cubic in log lam."""
    at = np.log(np.clip(lam, nodes[0], nodes[-1]))
    line, cubic = (_lagrange(np.log(nodes), at, points) for points in (2, 4))
    states = []
    for part in solved:
        near, straight = part @ cubic, part @ line
        states.append(np.where(near * straight > 0.0, near, straight))  # variances stay positive
    return tuple(states)


def _lagrange(nodes: Array, at: Array, points: int) -> Array:
    """Return (nodes, at): weights of the nearest nodes in polynomials through `points` of them."""
    points = min(points, nodes.size)
    first = np.clip(np.searchsorted(nodes, at) - points // 2, 0, nodes.size - points)
    near = first + np.arange(points)[:, None]
    weights = np.zeros((nodes.size, at.size))
    for k, node in enumerate(near):
        others = np.delete(near, k, axis=0)
        share = (at - nodes[others]) / (nodes[node] - nodes[others])
        weights[node, np.arange(at.size)] = share.prod(axis=0)
    return weights


def _write(best: State, new: State, live: IntArray, which: BoolArray) -> None:
    """Keep the columns `which` of a new state."""
    whole = which.all() and live.size == best[0].shape[-1]
    for part, fresh in zip(best, new, strict=True):
        if whole:
            part[...] = fresh
        else:
            part[..., live[which]] = fresh[..., which]


def _compare(now: State, new: State, before: State) -> tuple[State, Array]:
    """Compare the step from one state to the next with the one before."""
    sums = np.zeros((len(before), 4, new[0].shape[-1]))
    steps = tuple(
        compare(old, fresh, ago, each)
        for old, fresh, ago, each in zip(now, new, before, sums, strict=False)
    )
    return steps, sums
