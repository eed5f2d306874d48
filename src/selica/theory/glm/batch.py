r"""Solves the equations of a general response at many points at once: members, then pairs.

**Members.** The fields :math:`(\hat Q, \hat m, \hat T)` give the overlaps of one member, and these
the fields; an intercept, or the effective cumulative hazard, is corrected on the way. Anderson's
acceleration of this iteration, in logarithms: each step is the combination of the last ones that
leaves the least.

**Pairs.** One scalar equation for the variance V of a member's own part of a field,
:math:`V = \psi(V)`, with :math:`0 \le \psi' < 1` (docs/logistic.md). Knockoff copies are null
variables whose whole estimate is a member's own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from selica._core.effects import Mixture
from selica._core.root import find_root
from selica._core.scalar import one_member, soft_absolute, soft_square, two_members
from selica._core.types import Array, BoolArray, IntArray
from selica.theory.glm.spectral import MemberRows, SpectralRows
from selica.theory.glm.tables import Clock
from selica.theory.numerics.continuation import PathPoints, follow

_MEMORY = 6
"""Steps that are combined."""
_DAMPED_STEPS = 3
"""Steps of half the length before."""
_MOST_STEPS = 80
"""Steps of the first try."""
_FEW_STEPS = 25
"""Steps from a near guess."""
_LONGEST_STEP = 1.5
"""Of a logarithm."""
_TINY = 1e-300
"""What keeps a logarithm finite."""


class OverlapsOfMembers(NamedTuple):
    """Overlaps of one member with copies, arrays over n points."""

    m: Array
    variance: Array
    """Of a field: q + v, and of copies."""
    chi: Array


@dataclass(frozen=True, slots=True)
class Bodies:
    """The variables of n models: what fields make of a variable; arrays of shape (n,)."""

    rho: Array
    """Zero where effects have no size."""
    scale: Array
    """Size of an effect of the model, sqrt(T / rho)."""
    lam: Array
    lam2: Array
    kinds: Mixture
    copies: int

    def take(self, index: IntArray | BoolArray) -> Bodies:
        """Return the same variables at a part of the points."""
        rho, scale, lam, lam2 = (
            part[index] for part in (self.rho, self.scale, self.lam, self.lam2)
        )
        return Bodies(rho, scale, lam, lam2, self.kinds, self.copies)

    def share(self, copies: int) -> Array:
        """Return the numbers of variables of each kind, for each variable of the data, (n, K)."""
        share = self.rho[:, None] * self.kinds.probability
        share[:, 0] = 1.0 - self.rho + copies
        return share

    def _fields(self, m_hat: Array, total: Array) -> tuple[Array | None, Array, Array]:
        slope = (m_hat * self.scale)[:, None]
        mean = slope * self.kinds.mean if self.kinds.mean.any() else None
        return mean, total[:, None] + (slope * self.kinds.sd) ** 2, self.lam[:, None]

    def member(self, Q_hat: Array, m_hat: Array, total: Array) -> OverlapsOfMembers:
        """Return the overlaps of one member at its fields."""
        mean, var, lam = self._fields(m_hat, total)
        one = one_member(mean, var, lam)
        share, K = self.share(self.copies), Q_hat + self.lam2
        # E[w0 S(h)] of N(mu, sd^2), by Stein's lemma
        slope = (m_hat * self.scale)[:, None]
        overlap = slope * self.kinds.sd**2 * one.active + self.kinds.mean * one.first
        return OverlapsOfMembers(
            m=self.scale * np.vecdot(share, overlap) / K,
            variance=np.vecdot(share, soft_square(mean, var, lam)) / K**2,
            chi=np.vecdot(share, one.active) / K,
        )

    def spread(self, Q_hat: Array, m_hat: Array, total: Array, v_hat: Array) -> tuple[Array, Array]:
        """Return v, and its slope in v_hat."""
        mean, var, lam = self._fields(m_hat, total)
        own = np.clip(v_hat, 0.0, total)[:, None]
        pair = two_members(mean, var, own, lam)
        share, square = self.share(0), (Q_hat + self.lam2) ** 2
        return np.vecdot(share, pair.spread) / square, np.vecdot(share, pair.both) / square

    def copy(self, Q_hat: Array, total: Array) -> tuple[Array, Array]:
        """Return variance and susceptibility of a copy."""
        K = Q_hat + self.lam2
        active = one_member(None, total, self.lam).active
        return self.copies * soft_square(None, total, self.lam) / K**2, self.copies * active / K

    def mean_absolute(self, Q_hat: Array, m_hat: Array, total: Array) -> Array:
        """Return E|w_hat|, of copies too."""
        absolute = soft_absolute(*self._fields(m_hat, total))
        return np.asarray(np.vecdot(self.share(self.copies), absolute) / (Q_hat + self.lam2))


class MemberSolutions(NamedTuple):
    """Solved members: logarithms of fields with offsets, (n, 3 + offsets)."""

    state: Array
    found: BoolArray
    iterations: IntArray


def split(state: Array) -> tuple[Array, Array, Array, Array]:
    """Return Q_hat, m_hat, the total and the offsets of a state."""
    Q_hat, m_hat, total = np.exp(state[:, :3]).T
    return Q_hat, m_hat, total, state[:, 3:]


def step(
    rows: SpectralRows, bodies: Bodies, state: Array, with_loss: bool = False
) -> tuple[Array, MemberRows]:
    """Return how far an undamped step moves each state, and the rows it came from."""
    Q_hat, m_hat, total, offset = split(state)
    one = bodies.member(Q_hat, m_hat, total)
    there = rows.member(one.m, one.variance, one.chi, offset, with_loss)
    three = np.stack([there.Q_hat, there.m_hat, there.total], axis=1)
    moved = np.log(np.maximum(three, _TINY)) - state[:, :3]
    return np.concatenate([moved, there.shift], axis=1), there


def nothing(rows: SpectralRows) -> Array:
    """Return the state of estimates that are zero."""
    zero = np.zeros(rows.alpha.size)
    offset = rows.start()
    there = rows.member(zero, zero, zero, offset)
    three = np.stack([there.Q_hat, there.m_hat, there.total], axis=1)
    return np.concatenate([np.log(np.maximum(three, _TINY)), offset + there.shift], axis=1)


def regridded(state: Array, old: Clock | None, new: Clock | None) -> Array:
    """Return states with hazards at other times."""
    if old is None or new is None or old is new:
        return state
    at, known = np.log(new.time), np.log(old.time)
    more = [np.interp(at, known, one[3:] - known) + at for one in state]
    return np.concatenate([state[:, :3], np.stack(more)], axis=1)


def solve_members(
    rows: SpectralRows, bodies: Bodies, state: Array | None = None
) -> MemberSolutions:
    """Solve for one member at each point, from a guess or from nothing."""
    if state is not None:
        return accelerated(rows, bodies, state, 0, _MOST_STEPS)
    return accelerated(rows, bodies, nothing(rows), _DAMPED_STEPS, _MOST_STEPS)


def follow_members(
    rows_of: Callable[[IntArray, Array], SpectralRows], bodies: Bodies, size: int, most: int
) -> MemberSolutions:
    """Follow members from a large penalty, where they are next to nothing, to the given one.

    Parameters
    ----------
    rows_of : callable
        (points, variances of fields) -> their rows, fine enough for these.
    bodies : Bodies
    size : int
        Number of points.
    most : int
        Steps of the path.
    """
    every = np.arange(size)
    begin = rows_of(every, np.zeros(size))
    start = nothing(begin)
    _, m_hat, total, _ = split(start)
    goal = np.log(bodies.lam)
    here = np.maximum(goal, np.log(4.0 * np.sqrt(total + (m_hat * bodies.scale) ** 2)))

    def points(found: MemberSolutions) -> PathPoints:
        return PathPoints(found.state.T.copy(), found.found, found.iterations)

    def solve(log_lam: Array, guess: Array, index: IntArray) -> PathPoints:
        there = replace(bodies.take(index), lam=np.exp(log_lam))
        state = guess.T.copy()
        variance = there.member(*split(state)[:3]).variance
        return points(accelerated(rows_of(index, 1.5 * variance), there, state, 0, _FEW_STEPS))

    at = replace(bodies, lam=np.exp(here))
    first = points(accelerated(begin, at, start, _DAMPED_STEPS, _MOST_STEPS))
    path = follow(solve, first, here, goal, 0.7, most)
    return MemberSolutions(path.point.T.copy(), path.found, path.iterations)


def accelerated(
    rows: SpectralRows,
    bodies: Bodies,
    guess: Array,
    damped: int,
    most: int,
) -> MemberSolutions:
    """Run Anderson's acceleration; steps are bounded, and where it gets worse it starts again."""
    out = guess.copy()
    found = np.zeros(len(out), dtype=bool)
    count = np.full(len(out), most, dtype=np.intp)
    active = np.arange(len(out))
    x = guess.copy()
    before_x = before_f = None
    moves = np.zeros((len(x), x.shape[1], 0))
    changes = np.zeros((len(x), x.shape[1], 0))
    best = np.full(len(x), np.inf)
    for number in range(1, most + 1):
        f, _ = step(rows, bodies, x)
        size = np.max(np.abs(f), axis=1)
        done = size < rows.precision.tolerance
        if done.any() or number == most:
            out[active] = x
            found[active[done]] = True
            count[active[done]] = number
            stay = ~done
            if not stay.any():
                break
            active, x, f, size, best = (a[stay] for a in (active, x, f, size, best))
            moves, changes = moves[stay], changes[stay]
            if before_x is not None and before_f is not None:
                before_x, before_f = before_x[stay], before_f[stay]
            rows, bodies = rows.take(stay), bodies.take(stay)
        if number <= damped:
            x = x + 0.5 * np.clip(f, -_LONGEST_STEP, _LONGEST_STEP)
            continue
        if before_x is not None and before_f is not None:
            moves = np.concatenate([moves, (x - before_x)[..., None]], axis=2)[..., -_MEMORY:]
            changes = np.concatenate([changes, (f - before_f)[..., None]], axis=2)[..., -_MEMORY:]
            worse = size > 3.0 * best
            moves[worse], changes[worse] = 0.0, 0.0
            best = np.where(worse, size, np.minimum(best, size))
        else:
            best = size
        ahead = f
        if moves.shape[2]:
            gamma = _least(changes, f)
            ahead = ahead - np.einsum("ndk,nk->nd", moves + changes, gamma)
        longest = np.max(np.abs(ahead), axis=1, keepdims=True)
        ahead = ahead * (_LONGEST_STEP / np.maximum(longest, _LONGEST_STEP))
        before_x, before_f = x, f
        x = x + np.where(np.isfinite(ahead), ahead, 0.0)
    return MemberSolutions(out, found, count)


def _least(changes: Array, f: Array) -> Array:
    """Return the combinations of changes that come nearest to f, (n, k)."""
    scale = np.sqrt(np.einsum("ndk,ndk->nk", changes, changes))
    scale = np.where(scale > 0.0, scale, 1.0)
    unit = changes / scale[:, None, :]
    normal = np.einsum("ndk,ndl->nkl", unit, unit)
    k = np.arange(normal.shape[1])
    normal[:, k, k] += 1e-13
    return (
        np.asarray(np.linalg.solve(normal, np.einsum("ndk,nd->nk", unit, f)[..., None])[..., 0])
        / scale
    )


class PairPoints(NamedTuple):
    """What two members share, arrays over n points."""

    own: Array
    """V: variance of a member's own part of a field, copies included."""
    v_hat: Array
    converged: BoolArray
    iterations: IntArray


def solve_pairs(
    rows: SpectralRows, bodies: Bodies, state: Array, one: OverlapsOfMembers, there: MemberRows
) -> PairPoints:
    """Solve for what the members of an ensemble do not share."""
    Q_hat, m_hat, total, _ = split(state)
    size = len(state)
    alone = (
        bodies.copies == 0
        and bool(np.all(rows.weight[:, :1] == 1.0))
        and rows.weight.shape[1] == 1
        and bool(np.all(rows.probability[:, 0] == 1.0))
    )
    if alone:
        zero = np.zeros(size)
        return PairPoints(zero, zero, np.ones(size, dtype=bool), np.zeros(size, dtype=np.intp))
    copy, _ = bodies.copy(Q_hat, total)
    known = one.m**2 / rows.T if rows.T > 0.0 else np.zeros(size)
    top = np.maximum(one.variance - known, copy)

    def psi(V: Array, index: IntArray) -> tuple[Array, Array, Array]:
        chi_hat, slope = rows.take(index).pair(
            one.m[index], one.variance[index], V, there.mean[index]
        )
        v_hat = np.clip(total[index] - chi_hat, 0.0, total[index])
        v, both = bodies.take(index).spread(Q_hat[index], m_hat[index], total[index], v_hat)
        return copy[index] + v, both * slope, v_hat

    def equation(V: Array, index: IntArray) -> tuple[Array, Array]:
        value, slope, _ = psi(V, index)
        return V - value, np.maximum(1.0 - slope, 1e-3)

    tolerance = 1e-5 if rows.precision.tolerance > 1e-9 else 1e-11
    scale = np.maximum(top, _TINY)

    def scaled(x: Array, index: IntArray) -> tuple[Array, Array]:
        value, slope = equation(x * scale[index], index)
        return value / scale[index], slope

    root = find_root(
        scaled, 0.5 * (copy + top) / scale, lower=copy / scale, upper=1.0, tol=tolerance
    )
    V = root.x * scale
    _, _, v_hat = psi(V, np.arange(size))
    return PairPoints(V, v_hat, root.converged, root.iterations)
