r"""Draws of the variables whose statistics can matter, however many variables there are.

A rule looks at statistics from the largest down, and there is a size t below which it never stops:
there negatives are so many that counts cannot come near its level. Of p variables only those with
a statistic beyond t in some copy matter then, a few thousand of a million. They are drawn from
their exact law:

- :math:`W = (|g + \sqrt v z| - \lambda)_+ - (\sqrt{\tilde v}|z'| - \lambda)_+` is beyond t only if
  one of its two parts is: with :math:`c = \lambda + t` that has a probability
  :math:`q(g) = 1 - (1 - r)(1 - a(g))` in a copy, by the tails r of the copy and a of the variable
  itself, and :math:`1 - (1 - q(g))^B` in one of B copies, which share the field g;
- the number of such irrelevant variables is binomial, their fields have the normal density times
  that probability, and signals are kept with it;
- given a field, copies are independent but for the condition that one of them is beyond t, and the
  parts of W that are beyond c have the law of a normal number in its tail.

Variables whose field is beyond the cut of a control variate are kept, too.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri

from selica._core.scalar import survival
from selica._core.types import Array, BoolArray, IntArray
from selica.planning.predict.limit import Counts, FieldLaw
from selica.planning.study import Study
from selica.theory import KnockoffSolution, Solution

# Deviations by which counts may miss what is expected of them.
_UNLIKELY = 5.0
# Cells of abs(g) of irrelevant variables: their width and the end of the last, in deviations.
_WIDTH = 0.01
_FARTHEST = 12.0
# Statistics of a batch, and its data sets at most.
_BATCH = 400_000
_LARGEST = 500


class Sample(NamedTuple):
    """Some of the variables of R data sets; the others are without evidence."""

    fields: Array
    """Absolute fields, (R, M)."""
    statistics: Any
    """Knockoff statistics in the unit of the field, (R, copies, M); None without copies."""
    truth: BoolArray
    """Which of them are signals, (R, M) or (M,)."""


def lowest_statistic(solution: KnockoffSolution, p: int, fdr: float, *, early: bool) -> float:
    """A size of W below which no filter at the level or a smaller one stops.

    Parameters
    ----------
    solution : KnockoffSolution
        Of one model.
    p : int
    fdr : float
    early : bool
        Whether it also stops where fewer than 1 / fdr statistics are ahead.
    """
    (t,), (ahead,), (behind,) = Counts.of(solution)
    positive, negative = p * ahead, p * behind
    spread = np.sqrt(negative + fdr**2 * positive)
    below = 1.0 + negative - fdr * positive > _UNLIKELY * spread
    if early:
        below &= positive - _UNLIKELY * np.sqrt(positive) > 1.0 / fdr
    return float(solution.Q_hat * _last(t, below))


def lowest_field(solution: Solution, p: int, fdr: float) -> float:
    """A size of the field that the step-up rule on p-values of fields does not select."""
    sd = float(np.sqrt(solution.chi_hat))
    g, null, signal = (part[0] for part in FieldLaw.of(solution, np.array([_FARTHEST * sd])))
    law = solution.rho * signal + (1.0 - solution.rho) * null
    above = p * np.cumsum(law[::-1])[::-1]
    false = 2.0 * p * survival(g / sd)
    return _last(g, false > fdr * (above + _UNLIKELY * np.sqrt(above)))


def _last(x: Array, fine: BoolArray) -> float:
    """The last value before the first that is not fine; zero if there is none."""
    first = fine.size if fine.all() else int(np.argmin(fine))
    return float(x[first - 1]) if first else 0.0


class Exceedances:
    """Variables of data sets with a statistic beyond a size, or a field beyond a cut.

    Parameters
    ----------
    study : Study
    solution : Solution
        Of one model, with knockoffs if there are copies.
    copies : int
        Zero for fields alone.
    lowest : float
        Statistics below do not matter, or fields below if there are no copies.
    cut : float
        Fields above it are kept.
    """

    def __init__(
        self, study: Study, solution: Solution, copies: int, lowest: float, cut: float
    ) -> None:
        self._study, self._solution, self._copies = study, solution, copies
        self._cut = cut if copies else min(cut, lowest)
        if copies:
            assert isinstance(solution, KnockoffSolution)
            self._edge = float(solution.lam) + lowest
            # members may agree: a step
            self._sd = max(float(np.sqrt(solution.v_hat)), 1e-9 * self._edge)
            self._copy_sd = float(np.sqrt(solution.v_tilde_hat))
            self._tail = float(2.0 * survival(np.array(self._edge / self._copy_sd)))
        sd = float(np.sqrt(solution.chi_hat))
        edges = sd * np.append(np.arange(0.0, _FARTHEST, _WIDTH), _FARTHEST)
        if self._cut < edges[-1]:
            edges = np.insert(edges, np.searchsorted(edges, self._cut), self._cut)
        self._edges = edges
        mass = -2.0 * np.diff(survival(edges / sd))
        kept = mass * self._chance(0.5 * (edges[1:] + edges[:-1]))
        self._share = float(kept.sum())
        self._law = np.cumsum(kept) / max(self._share, 1e-300)
        expected = study.n_signals + (study.n_features - study.n_signals) * self._share
        self.size = int(np.clip(_BATCH / (max(copies, 1) * max(expected, 1.0)), 1, _LARGEST))
        """Data sets of a batch."""

    def sample(self, seed: tuple[int, ...]) -> Sample:
        """A batch of data sets."""
        R, k, s = self.size, self._study.n_signals, self._solution
        effects, noise, rng = (np.random.default_rng([*seed, part]) for part in range(3))
        g = np.abs(
            s.Q_hat * self._study.effects.sample((R, k), effects)
            + np.sqrt(s.chi_hat) * noise.standard_normal((R, k))
        )
        kept = noise.random((R, k)) < self._chance(g)
        numbers = rng.binomial(self._study.n_features - k, min(self._share, 1.0), R)
        cell = np.searchsorted(self._law, rng.random(numbers.sum()), side="right")
        cell = np.minimum(cell, self._law.size - 1)
        width = np.diff(self._edges)[cell]
        null = self._edges[cell] + width * rng.random(cell.size)
        # one list, data set after data set, signals first
        row = np.concatenate([np.nonzero(kept)[0], np.repeat(np.arange(R), numbers)])
        order = np.argsort(row, kind="stable")
        row, field = row[order], np.concatenate([g[kept], null])[order]
        true = (np.arange(row.size) < np.count_nonzero(kept))[order]
        sizes = np.bincount(row, minlength=R)
        place = np.arange(row.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        shape = (R, max(int(sizes.max()), 1))
        fields, truth = np.zeros(shape), np.zeros(shape, dtype=bool)
        fields[row, place], truth[row, place] = field, true
        if not self._copies:
            return Sample(fields, None, truth)
        W = np.zeros((R, self._copies, shape[1]), dtype=np.float32)
        which, copy = self._beyond(field, rng)
        W[row[which], copy, place[which]] = self._statistics(field[which], rng)
        return Sample(fields, W, truth)

    def _own(self, g: Array) -> tuple[Array, Array]:
        """P(a field with noise is above c), and P(it is below -c)."""
        return survival((self._edge - g) / self._sd), survival((self._edge + g) / self._sd)

    def _one(self, g: Array) -> Array:
        """P(a statistic may be beyond the lowest in one copy) of abs(g)."""
        above, below = self._own(g)
        return np.asarray(1.0 - (1.0 - self._tail) * (1.0 - above - below))

    def _chance(self, g: Array) -> Array:
        """P(a variable is kept)."""
        if not self._copies:
            return np.asarray(g > self._cut, dtype=float)
        with np.errstate(divide="ignore"):
            some = -np.expm1(self._copies * np.log1p(-np.minimum(self._one(g), 1.0)))
        return np.where(g > self._cut, 1.0, some)

    def _beyond(self, g: Array, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
        """Variables and copies whose statistics may be beyond, at least one of each variable.

        Copies have uniform numbers, and are beyond where these are at most their chance: the
        smallest is drawn on the condition that it is, for those whose field is not reason enough.
        """
        chance, B = self._one(g), self._copies
        asked = g <= self._cut
        with np.errstate(divide="ignore", invalid="ignore"):
            some = rng.random(g.size) * self._chance(g)
            least = np.where(asked, -np.expm1(np.log1p(-some) / B), 0.0)
            rest = np.where(least < 1.0, (chance - least) / (1.0 - least), 0.0)
        first = rng.integers(B, size=g.size)
        beyond = rng.random((g.size, B)) < rest[:, None]
        beyond[asked, first[asked]] = True
        which, copy = np.nonzero(beyond)
        return which, copy

    def _statistics(self, g: Array, rng: np.random.Generator) -> Array:
        """W of a variable with abs(g) in a copy, given that one of its parts is beyond c."""
        above, below = self._own(g)
        lam, edge, tail, sd = self._solution.lam, self._edge, self._tail, self._sd
        own, u = above + below, rng.random((3, g.size))
        pick = u[0] * (1.0 - (1.0 - tail) * (1.0 - own))
        far = pick < own  # the variable itself
        # then, with the same number, the copy
        twin = np.where(far, pick < own * tail, True)
        up = u[1] * own < above
        with np.errstate(divide="ignore", invalid="ignore"):
            high = g - sd * ndtri(np.where(up, u[1] * own, 0.5))
            low = -g - sd * ndtri(np.where(up, 0.5, u[1] * own - above))
            bottom, top = ndtr((-edge - g) / sd), ndtr((edge - g) / sd)
            inside = np.abs(g + sd * ndtri(bottom + u[1] * (top - bottom)))
        size = np.where(far, np.where(up, high, low), np.minimum(inside, edge))
        below_c = ndtri(0.5 + 0.5 * u[2] * (1.0 - tail))
        of_copy = np.where(twin, -ndtri(0.5 * u[2] * tail), below_c)
        of_copy *= self._copy_sd
        return np.asarray(np.maximum(size - lam, 0.0) - np.maximum(of_copy - lam, 0.0))
