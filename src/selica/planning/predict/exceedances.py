r"""Variables that can matter to a rule, drawn from their exact distribution.

A rule looks at statistics from the largest down, and there is a size t below which it never stops:
there negatives are so many that counts cannot come near its level. Of p variables only those with
a statistic beyond t in some copy matter then, a few thousand of a million. They are drawn from
their exact distribution:

- :math:`W = (|g + \sqrt v z| - \lambda)_+ - (\sqrt{\tilde v}|z'| - \lambda)_+` is beyond t only if
  one of its two parts is: with :math:`c = \lambda + t` that has a probability
  :math:`q(g) = 1 - (1 - r)(1 - a(g))` in a copy, by the tails r of the copy and a of the variable
  itself, and :math:`1 - (1 - q(g))^B` in one of B copies, which share the field g;
- the number of such irrelevant variables is binomial, their fields have the normal density times
  that probability, and signals are kept with it;
- given a field, copies are independent but for the condition that one of them is beyond t, and the
  parts of W that are beyond c have the distribution of a normal number in its tail.

Variables whose field is beyond the cut of a control variate are kept, too.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri

from selica._core.scalar import survival
from selica._core.types import Array, BoolArray, IntArray
from selica.planning.predict.limit import CopyCounts, FieldLaw
from selica.planning.predict.listed import Listed
from selica.planning.study import Study
from selica.theory import KnockoffSolution, Solution

_TAIL_BATCH = 150_000
"""Statistics of a batch where only those that can matter are drawn."""
_LARGEST_BATCH = 500
"""Data sets of such a batch, at most."""
_UNLIKELY_DEVIATIONS = 5.0
"""Standard deviations by which counts may miss what is expected of them."""
_CELL_WIDTH = 0.01
"""Width of the cells of abs(g) of irrelevant variables, in standard deviations."""
_CHANCES = np.array([1.0, 0.3, 0.1, 0.03, 0.01, 1e-3])
"""Largest chances of groups of variables, in falling order; the smallest is the last."""
_FARTHEST_FIELD = 12.0
"""End of the last cell, in standard deviations."""


class Sample(NamedTuple):
    """Some of the variables of R data sets; the others are without evidence."""

    fields: Array
    """Absolute fields, (R, M)."""
    statistics: Any
    """Knockoff statistics in the unit of the field, (R, copies, M) or `Listed`; None without."""
    truth: BoolArray
    """Which of them are signals, (R, M) or (M,)."""
    first: BoolArray
    """Whether the first signal of all is the first variable here, (R,)."""


def lowest_statistic(solution: KnockoffSolution, p: int, fdr: float, *, posthoc: bool) -> float:
    """Return a size of W below which no filter at the level or a smaller one stops.

    Parameters
    ----------
    solution : KnockoffSolution
        Of one model.
    p : int
    fdr : float
    posthoc : bool
        Whether it also stops where no statistic is behind.
    """
    (t,), (ahead,), (behind,) = CopyCounts.of(solution)
    positive, negative = p * ahead, p * behind
    spread = np.sqrt(negative + fdr**2 * positive)
    below = 1.0 + negative - fdr * positive > _UNLIKELY_DEVIATIONS * spread
    if posthoc:
        below &= negative > _UNLIKELY_DEVIATIONS**2
    return float(solution.Q_hat * _last(t, below))


def lowest_field(solution: Solution, p: int, fdr: float) -> float:
    """Return a size of the field that the step-up rule on p-values of fields leaves out."""
    sd = float(np.sqrt(solution.chi_hat))
    g, null, signal = (part[0] for part in FieldLaw.of(solution, np.array([_FARTHEST_FIELD * sd])))
    law = solution.rho * signal + (1.0 - solution.rho) * null
    above = p * np.cumsum(law[::-1])[::-1]
    false = 2.0 * p * survival(g / sd)
    return _last(g, false > fdr * (above + _UNLIKELY_DEVIATIONS * np.sqrt(above)))


def _last(x: Array, fine: BoolArray) -> float:
    """Return the last value before the first that is not fine; zero if there is none."""
    first = fine.size if fine.all() else int(np.argmin(fine))
    return float(x[first - 1]) if first else 0.0


def scattered(chance: Array, copies: int, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    """Draw which copies of which variables something happens to, each by itself.

    Variables of about the same chance are put in a row of cells, one for each copy. The gaps
    between cells that are hit at the largest of these chances are geometric, and a hit counts with
    the ratio of the two chances: so it costs what happens, and not what might.

    Parameters
    ----------
    chance : array of shape (N,)
        Of each copy of a variable.
    copies : int
    rng : Generator

    Returns
    -------
    variable, copy : array of int
        A pair for each that happens; no pair twice.
    """
    level = np.searchsorted(-_CHANCES, -np.minimum(chance, 1.0), side="right") - 1
    variables, places = [], []
    for number, top in enumerate(_CHANCES.tolist()):
        pick = np.flatnonzero((level == number) & (chance > 0.0))
        cells = pick.size * copies
        if top == 1.0:
            hit = np.arange(cells)
        else:
            number_drawn = int(cells * top + 8.0 * math.sqrt(cells * top) + 20.0)
            hit = np.cumsum(rng.geometric(top, number_drawn)) - 1
            while hit[-1] < cells:
                more = np.cumsum(rng.geometric(top, number_drawn))
                hit = np.append(hit, hit[-1] + more)
            hit = hit[: np.searchsorted(hit, cells)]
        variable = pick[hit // copies]
        counts = rng.random(hit.size) * top < chance[variable]
        variables.append(variable[counts])
        places.append((hit % copies)[counts])
    return np.concatenate(variables), np.concatenate(places)


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
    first : float, optional
        Effect of the first signal; by default it is drawn as that of any other.
    """

    def __init__(
        self,
        study: Study,
        solution: Solution,
        copies: int,
        lowest: float,
        cut: float,
        first: float | None = None,
    ) -> None:
        self._first = first
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
        edges = sd * np.append(np.arange(0.0, _FARTHEST_FIELD, _CELL_WIDTH), _FARTHEST_FIELD)
        if self._cut < edges[-1]:
            edges = np.insert(edges, np.searchsorted(edges, self._cut), self._cut)
        self._edges = edges
        mass = -2.0 * np.diff(survival(edges / sd))
        kept = mass * self._chance(0.5 * (edges[1:] + edges[:-1]))
        self._share = float(kept.sum())
        self._law = np.cumsum(kept) / max(self._share, 1e-300)
        expected = study.n_signals + (study.n_features - study.n_signals) * self._share
        self.size = int(
            np.clip(_TAIL_BATCH / (max(copies, 1) * max(expected, 1.0)), 1, _LARGEST_BATCH)
        )
        """Data sets of a batch."""

    def sample(self, seed: tuple[int, ...]) -> Sample:
        """Draw a batch of data sets."""
        R, k, s = self.size, self._study.n_signals, self._solution
        effects, noise, rng = (np.random.default_rng([*seed, part]) for part in range(3))
        size = self._study.effects.sample((R, k), effects)
        if self._first is not None:
            size[:, 0] = self._first
        g = np.abs(s.slope * size + np.sqrt(s.chi_hat) * noise.standard_normal((R, k)))
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
            return Sample(fields, None, truth, kept[:, 0])
        own = self._own(field)
        which, copy = self._beyond(field, own, rng)
        value = self._statistics(field, own, which, rng).astype(np.float32)
        some = np.flatnonzero(value)
        which, copy = which[some], copy[some]
        group, variable = row[which] * self._copies + copy, (row * shape[1] + place)[which]
        listed = Listed(group, variable, value[some], (R, self._copies, shape[1]))
        return Sample(fields, listed, truth, kept[:, 0])

    def _own(self, g: Array) -> Array:
        """Return P(a field with noise is above c), and P(it is below -c), in two rows."""
        return np.stack([survival((self._edge + sign * g) / self._sd) for sign in (-1.0, 1.0)])

    def _one(self, own: Array) -> Array:
        """Return P(a statistic may be beyond the lowest in one copy), by what `_own` returns."""
        return np.asarray(1.0 - (1.0 - self._tail) * (1.0 - own[0] - own[1]))

    def _chance(self, g: Array) -> Array:
        """Return P(a variable is kept)."""
        if not self._copies:
            return np.asarray(g > self._cut, dtype=float)
        return np.where(g > self._cut, 1.0, self._some(self._one(self._own(g))))

    def _some(self, one: Array) -> Array:
        """Return P(a statistic may be beyond the lowest in some copy)."""
        with np.errstate(divide="ignore"):
            return np.asarray(-np.expm1(self._copies * np.log1p(-np.minimum(one, 1.0))))

    def _beyond(self, g: Array, own: Array, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
        """Draw variables and copies whose statistics may be beyond, one of each variable or more.

        Copies have uniform numbers, and are beyond where these are at most their chance: the
        smallest is drawn on the condition that it is, for those whose field is not reason enough.
        """
        chance, B = self._one(own), self._copies
        asked = g <= self._cut
        with np.errstate(divide="ignore", invalid="ignore"):
            some = rng.random(g.size) * self._some(chance)
            least = np.where(asked, -np.expm1(np.log1p(-some) / B), 0.0)
            rest = np.where(least < 1.0, (chance - least) / (1.0 - least), 0.0)
        first = rng.integers(B, size=g.size)
        which, copy = scattered(rest, B, rng)
        one = np.flatnonzero(asked)
        other = ~asked[which] | (copy != first[which])
        return np.append(which[other], one), np.append(copy[other], first[one])

    def _statistics(
        self, fields: Array, tails: Array, which: IntArray, rng: np.random.Generator
    ) -> Array:
        """Draw W of some variables in a copy each, given that one of its parts is beyond c."""
        g, (above, below) = fields[which], tails[:, which]
        lam, edge, tail, sd = self._solution.lam, self._edge, self._tail, self._sd
        own, u = above + below, rng.random((3, which.size))
        pick = u[0] * (1.0 - (1.0 - tail) * (1.0 - own))
        far = pick < own  # the variable itself
        # then, with the same number, the copy
        twin = np.where(far, pick < own * tail, True)
        up = u[1] * own < above
        size = np.empty_like(g)
        with np.errstate(divide="ignore", invalid="ignore"):
            beyond = np.where(up, u[1] * own, u[1] * own - above)[far]
            size[far] = np.where(up, g, -g)[far] - sd * ndtri(beyond)
            near, rest = g[~far], u[1, ~far]
            bottom, top = ndtr((-edge - near) / sd), ndtr((edge - near) / sd)
            inside = np.abs(near + sd * ndtri(bottom + rest * (top - bottom)))
        size[~far] = np.minimum(inside, edge)
        # the tail of a copy, or what is below it
        of_copy = np.where(twin, 0.5 * u[2] * tail, 0.5 - 0.5 * u[2] * (1.0 - tail))
        of_copy = -self._copy_sd * ndtri(of_copy)
        return np.asarray(np.maximum(size - lam, 0.0) - np.maximum(of_copy - lam, 0.0))
