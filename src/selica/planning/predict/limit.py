"""What the theory predicts for rules that set their thresholds by the data.

In a large system such a rule sets its threshold where expected counts meet its condition. With p
variables, W the knockoff statistic of one copy and B copies:

- knockoff+: the smallest t with (1/p + P(W <= -t)) / P(W >= t) at most the level;
- e-values: each copy takes its own t at half the level, or where no variable is behind; it gives
  e = 1 / (1/p + P(W <= -t)) to W >= t. k of B copies give k/B of e, and e-BH takes the smallest k
  with (k/B) e at least 1 / (raised level P(at least k copies)), see `control.averaged_level`;
- p-values: (1/p + P(W <= -z)) / gamma is the aggregated p-value of a variable of which a share
  gamma of the copies has W >= z, and the step-up rule takes the smallest z at which it is at most
  the level times the share of the variables selected;
- fields: message passing knows the distribution of irrelevant fields, counts all p variables as
  irrelevant and takes the smallest cut u with 2 H(u) at most the level times the share above it;
- the first q variables of halves of the rows: the penalty at which a half selects q on average.

What is left out are the fluctuations of counts, which matter where few variables are selected;
`planning.predict.finite` puts them back.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import fields, replace
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import ArrayLike
from scipy.special import betainc, betaincinv, binom, ndtr

from selica._core.scalar import density, knockoff_probability
from selica._core.types import Array
from selica.planning.predict.rules import raised_level
from selica.planning.study import Study, models
from selica.theory import (
    KnockoffSolution,
    Model,
    Rates,
    Solution,
    StabilitySolution,
    solve_knockoff,
    solve_lasso,
    solve_stability,
)
from selica.theory.glm.fast import solve_fast
from selica.theory.selection.levels import log_rates
from selica.theory.selection.rates import make_rates, over_signals, two_sided, votes_needed

PENALTIES = 9
"""Penalties that are tried for each study."""
_SOLUTIONS = 1024
"""Solutions of the theory that are kept, of a few kilobytes each."""
_FARTHEST = 8.0
"""Largest threshold, in deviations of what is irrelevant: no such variable is beyond."""
_THRESHOLDS = 65
"""Thresholds up to there."""
_COARSE_THRESHOLDS = 17
"""Thresholds of a first look at p-values."""
_CELL_EDGES = np.concatenate([np.linspace(0.0, 1.0, 161), [1.1, 1.25, 1.5, 2.0, 4.0, 1e6]])
"""Edges of the cells of a field, up to where all copies select it and beyond."""
_CELLS_A_STEP = 4
"""Cells of a copy's field in a step between two thresholds."""
_TINY = 1e-300
"""What keeps a logarithm finite."""
_OWN_LEADS = np.linspace(-6.0, 6.0, 65)
"""Leads of a field over the penalty, in its own deviations."""
_COPY_LEADS = np.linspace(0.0, 9.0, 49)[1:]
"""Leads beyond these, in deviations of a copy."""
_QUANTILES = np.linspace(-7.0, 7.0, 113)
"""Normal quantiles of a random threshold."""
_QUANTILE_WEIGHTS = density(_QUANTILES) * (_QUANTILES[1] - _QUANTILES[0])
"""Weights of these quantiles."""
_CERTAIN = 1.0 - 1e-16
"""The largest probability that is not one."""


def solved(
    solve: Callable[..., Any], studies: tuple[Study, ...], lams: ArrayLike, **settings: Hashable
) -> Any:
    """Return the solution of studies at penalties; what was solved before is kept.

    Parameters
    ----------
    solve : callable
        One of `theory.solve_lasso`, `solve_stability` and `solve_knockoff`.
    studies : tuple of Study
        With the same distribution of effects.
    lams : array of shape (studies, ...)
    **settings
        More arguments of the function; tuples in the place of arrays.
    """
    penalties = np.asarray(lams, dtype=float)
    return _solved(solve, studies, penalties.shape, penalties.tobytes(), **settings)


@lru_cache(maxsize=_SOLUTIONS)
def _solved(
    solve: Callable[..., Any],
    studies: tuple[Study, ...],
    shape: tuple[int, ...],
    penalties: bytes,
    **settings: Any,
) -> Any:
    lams = np.frombuffer(penalties).reshape(shape)
    model = models(studies, len(shape) - 1)
    first = studies[0]
    if first.theory_response is None:
        return solve(model, lams, **settings)
    kind = _KINDS[solve]
    if all(study.snr == first.snr for study in studies):
        return solve_fast(kind, model, lams, first.theory_response, **settings)
    each = [
        solve_fast(
            kind,
            study.model,
            lams[place],
            study.theory_response,
            **{name: _at(value, shape, place) for name, value in settings.items()},
        )
        for place, study in enumerate(studies)
    ]
    return stacked(each, model)


_KINDS: dict[Callable[..., Any], str] = {
    solve_lasso: "lasso",
    solve_stability: "stability",
    solve_knockoff: "knockoff",
}
"""What the quick solver of other responses calls the solvers."""


def _at(setting: Any, shape: tuple[int, ...], place: int) -> Any:
    """Return the part of a setting that belongs to one of the studies."""
    if isinstance(setting, str):
        return setting
    return np.broadcast_to(np.asarray(setting, dtype=float), shape)[place]


def stacked(each: Sequence[Any], model: Model) -> Any:
    """Return solutions of one shape as one solution, along a new first axis.

    Parameters
    ----------
    each : sequence of Solution
        Of one kind.
    model : Model
        All of their models, in the shape of the result.
    """
    first = each[0]
    parts = {
        field.name: np.stack([np.broadcast_to(getattr(one, field.name), one.shape) for one in each])
        for field in fields(first)
        if not isinstance(getattr(first, field.name), str | Model)
    }
    status = {"status": np.stack([np.broadcast_to(one.status, one.shape) for one in each])}
    return replace(first, model=model, **(parts | status))


def unsolved(solution: Solution) -> tuple[str, ...]:
    """Return a note if the equations at a point were not solved, and none if they were."""
    if solution.converged:
        return ()
    return (
        f"The equations of the theory were not solved (status {solution.status!r}, residual "
        f"{solution.residual:.1e}): no power is predicted, and it is shown as 0.",
    )


def smooth_maximum(x: Array, value: Array) -> float:
    """Return the place of the maximum of a smooth function known at equal steps, by a parabola."""
    i = int(np.argmax(value))
    if i in (0, x.size - 1):
        return float(x[i])
    before, top, after = value[i - 1 : i + 2]
    if not (math.isfinite(before) and math.isfinite(after)):
        return float(x[i])
    curvature = before - 2.0 * top + after
    shift = 0.5 * (before - after) / curvature if curvature < 0.0 else 0.0
    return float(x[i] + shift * (x[i + 1] - x[i]))


def rounded(x: float) -> float:
    """Return a number of three digits, to be read and typed."""
    return float(f"{x:.3g}")


def monotone(y: Array, x: Array) -> Array:
    """Interpolate by piecewise cubics that are monotone where the values are.

    The rule of Fritsch and Butland, as scipy's `PchipInterpolator` has it, for equal steps; to
    import that one takes longer than a plan.

    Parameters
    ----------
    y : array of shape (L, N)
        Values at 0, 1, ..., N - 1.
    x : array of shape (X,)
        From 0 to N - 1.

    Examples
    --------
    >>> import numpy as np
    >>> from selica.planning.predict.limit import monotone
    >>> monotone(np.array([[0.0, 1.0, 2.0]]), np.array([0.5, 1.5])).tolist()
    [[0.5, 1.5]]
    """
    rise = np.diff(y, axis=1)
    left, right = rise[:, :-1], rise[:, 1:]
    slope = np.zeros_like(y)
    same = left * right > 0.0
    np.divide(2.0 * left * right, left + right, out=slope[:, 1:-1], where=same)
    for end, (near, next_) in ((0, (0, 1)), (-1, (-1, -2))):
        m0, m1 = rise[:, near], rise[:, next_]
        d = 0.5 * (3.0 * m0 - m1)
        d = np.where(np.sign(d) != np.sign(m0), 0.0, d)
        steep = (np.sign(m0) != np.sign(m1)) & (np.abs(d) > 3.0 * np.abs(m0))
        slope[:, end] = np.where(steep, 3.0 * m0, d)
    i = np.minimum(x.astype(np.intp), y.shape[1] - 2)
    t = x - i
    low, high = slope[:, i], slope[:, i + 1]
    step = rise[:, i]
    # the cubic with these values and slopes at both ends
    return np.asarray(
        y[:, i] + t * (low + t * ((3.0 * step - 2.0 * low - high) + t * (low + high - 2.0 * step)))
    )


class FieldLaw(NamedTuple):
    """Values of abs(g), the field of a variable, and what they weigh; each (L, G), by solution."""

    g: Array
    null: Array
    signal: Array

    @classmethod
    def of(cls, solution: Solution, top: Array) -> FieldLaw:
        """Return the weights of fields in L solved models, in cells fine up to `top`, (L,)."""
        edges = np.ravel(top)[:, None] * _CELL_EDGES
        null, above = _beyond(solution, solution.chi_hat, edges)
        above[:, -1] = 0.0
        centre = 0.5 * (edges[:, 1:] + edges[:, :-1])
        return cls(centre, -np.diff(null), -np.diff(above))


def rates_of_members(solution: StabilitySolution, Pi_th: Array | float, members: int) -> Rates:
    """Return the rates of so many resamples: an average over thresholds of infinitely many.

    At least k of B resamples select a variable of probability Pi as often as a threshold drawn
    from Beta(k, B - k + 1) is at most Pi.
    """
    votes = votes_needed(np.asarray(Pi_th), members)
    asked = np.maximum(votes, 1.0)
    drawn = betaincinv(asked, members - asked + 1.0, ndtr(_QUANTILES)[:, None])
    rates = solution.rates(np.minimum(drawn, _CERTAIN).reshape(-1, *solution.shape))
    mean = (
        np.where(votes > 0.0, np.tensordot(_QUANTILE_WEIGHTS, part, 1), 1.0)
        for part in (rates.tpr, rates.fpr)
    )
    return make_rates(np.asarray(solution.rho), *mean)


class CopyCounts(NamedTuple):
    """Shares of the variables by their statistics W of one copy; solutions by thresholds."""

    t: Array
    ahead: Array
    """P(W > t)."""
    behind: Array
    """P(W <= -t)."""

    @classmethod
    def of(cls, solution: KnockoffSolution) -> CopyCounts:
        """Return the shares at each of L solutions, or at one.

        Own and copied fields are independent, so that both shares are averages over the copy, in
        cells of which a step between two thresholds has a whole number.
        """
        s = solution
        Q, lam, spread = (
            np.ravel(part)[:, None] for part in (s.Q_hat, s.lam, np.sqrt(s.v_tilde_hat))
        )
        steps = np.append(1e-9, np.linspace(0.0, _FARTHEST, _THRESHOLDS)[1:])
        width = (steps[2] - steps[1]) * spread
        # edges of the cells of the copy, from the penalty on; thresholds are some of them
        edges = lam + width / _CELLS_A_STEP * np.arange(_CELLS_A_STEP * (_THRESHOLDS - 1) + 1.0)
        copy = two_sided(edges, np.zeros(()), spread**2)
        weight = np.concatenate([-np.diff(copy), copy[:, -1:]], axis=1)
        cells = weight.shape[1]
        # what the own field has to exceed, up to the sum of the largest copy and threshold
        coarse = np.arange(2.0 * _THRESHOLDS)
        null, signal = _beyond(s, s.chi_hat + s.v_hat, lam + width * coarse)
        rho = _shares(s)[:, None]
        known = rho * signal + (1.0 - rho) * null
        middle = (np.arange(2.0 * cells) + 0.5) / _CELLS_A_STEP
        own = np.exp(monotone(np.log(known + _TINY), middle))
        windows = sliding_window_view(own, cells, axis=1)[
            :, : _CELLS_A_STEP * _THRESHOLDS : _CELLS_A_STEP
        ]
        ahead = np.vecdot(windows, weight[:, None]) + (1.0 - copy[:, :1]) * known[:, :_THRESHOLDS]
        # a copy in the cell i is ahead by d cells of what is at most the middle of cell i - d
        below = np.concatenate([np.zeros((len(own), cells - 1)), 1.0 - own[:, :cells]], axis=1)
        windows = sliding_window_view(below, cells, axis=1)[:, ::-_CELLS_A_STEP]
        return cls(spread / Q * steps, ahead, np.vecdot(windows, weight[:, None]))


def _beyond(solution: Solution, var: Array, x: Array) -> tuple[Array, Array]:
    """Return P(abs(h) > x) of nulls and signals for fields h with noise, at (L, X)."""
    noise = np.ravel(var)
    signal = over_signals(
        solution.model.signals,
        np.ravel(solution.slope),
        noise,
        lambda mean, var: two_sided(x[:, :, None], mean[:, None], var[:, None]),
    )
    return two_sided(x, np.zeros(()), noise[:, None]), signal


def _shares(solution: Solution) -> Array:
    """Return the share of signals in each of L solved models."""
    return np.broadcast_to(solution.rho, solution.shape).ravel()


class OneCopy:
    """The statistics W = abs(w) - abs(w_copy) of p variables and one copy, in a large system.

    Of one solved model, or of each point of a grid; rates have the shape of the solution.
    """

    def __init__(self, solution: KnockoffSolution, p: int) -> None:
        self.solution, self.p = solution, p
        self._rho = _shares(solution)
        self._t, self._ahead, behind = CopyCounts.of(solution)
        self._behind = 1.0 / p + behind
        """The share that is behind, and one more variable."""

    @cached_property
    def _law(self) -> FieldLaw:
        s = self.solution
        return FieldLaw.of(s, np.asarray(s.lam + (_FARTHEST + 4.0) * np.sqrt(s.v_tilde_hat)))

    @cached_property
    def _leads(self) -> tuple[Array, Array]:
        """Leads of a field over penalty and gap, and how often such a field is ahead; (L, X)."""
        s = self.solution
        own, copy, lam = (
            np.ravel(part)[:, None] for part in (np.sqrt(s.v_hat), np.sqrt(s.v_tilde_hat), s.lam)
        )
        near = np.maximum(own, 1e-9 * lam) * _OWN_LEADS  # members may agree: a step
        x = np.concatenate([near, near[:, -1:] + copy * _COPY_LEADS], axis=1)
        far = 2.0 * (lam + x[:, -1:])  # so far that a field of the other sign is never ahead
        chance = knockoff_probability(far, own**2, copy**2, lam, far - lam - x)
        return x, chance.value

    def knockoff_plus(self, fdr: float) -> Rates:
        """Return the rates of the filter with offset one."""
        t = _first(self._t, self._behind - fdr * self._ahead)
        found = np.isfinite(t)
        rates = self.solution.single_rates(np.where(found, t, 0.0).reshape(self.solution.shape))
        return self._rates(*(np.where(found, np.ravel(x), 0.0) for x in (rates.tpr, rates.fpr)))

    def evalues(self, fdr: float, copies: int) -> Rates:
        """Return the rates of e-BH on average e-values, each copy at the levels of the selector."""
        # a filter stops as soon as a whole number is behind: with log 2 more of them expected
        behind = self._behind - math.log(2.0) / self.p
        t = _first(self._t, behind - np.maximum(0.5 * fdr * self._ahead, 1.0 / self.p))
        raised = raised_level(fdr, copies)
        tpr, fpr = np.zeros((2, t.size))
        votes = np.arange(1.0, copies + 1.0)
        for row in np.flatnonzero(np.isfinite(t)).tolist():
            chance = _tails(self._wins(row, t[row : row + 1])[0], copies)
            true, false, share = self._selected(row, chance)
            fewest = max(float(np.interp(t[row], self._t[row], behind[row])), 1.0 / self.p)
            e = votes / copies / fewest
            enough = e * raised * share >= 1.0
            if enough.any():
                place = int(np.argmax(enough))
                tpr[row], fpr[row] = true[place], false[place]
        return self._rates(tpr, fpr)

    def pvalues(self, fdr: float, copies: int, gamma: float) -> Rates:
        """Return the rates of the step-up rule on the aggregated p-values."""
        votes = int(votes_needed(np.array(gamma), copies))
        pick = slice(None, None, (_THRESHOLDS - 1) // (_COARSE_THRESHOLDS - 1))
        t, ahead, behind = (part[:, pick] for part in (self._t, self._ahead, self._behind))
        # no more variables have so many votes than Markov's inequality allows
        possible = behind / gamma <= fdr * ahead * copies / votes
        tpr, fpr = np.zeros((2, t.shape[0]))
        for row in np.flatnonzero(possible.any(axis=1)).tolist():

            def selected(at: Array, row: int = row) -> tuple[Array, Array, Array]:
                return self._selected(row, np.interp(self._wins(row, at), *_tail(votes, copies)))

            share = np.zeros(t.shape[1])
            share[possible[row]] = selected(t[row, possible[row]])[2]
            cut = float(_first(t[row], behind[row] / gamma - fdr * share))
            if not math.isfinite(cut):
                continue
            # the same between two steps of the coarse grid
            fine = cut + (t[row, 1] - t[row, 0]) * np.linspace(-0.5, 0.5, 9)
            fine = fine[fine > 0.0]
            true, false, share = selected(fine)
            limit = np.interp(fine, self._t[row], self._behind[row]) / gamma
            better = float(_first(fine, limit - fdr * share))
            at = better if math.isfinite(better) else cut
            tpr[row], fpr[row] = np.interp(at, fine, true), np.interp(at, fine, false)
        return self._rates(tpr, fpr)

    def _wins(self, row: int, t: Array) -> Array:
        """Return P(W > t) of a variable in each cell of one solution, (T, G)."""
        x, chance = self._leads[0][row], self._leads[1][row]
        lam, Q = (np.ravel(part)[row] for part in (self.solution.lam, self.solution.Q_hat))
        g, gap = self._law.g[row], (lam + Q * t)[:, None]
        ahead = np.asarray(np.interp(g - gap, x, chance))
        other = g < -x[0]  # beyond, the other sign is never ahead
        ahead[:, other] += np.interp(-g[other] - gap, x, chance)
        return ahead

    def _selected(self, row: int, chance: Array) -> tuple[Array, Array, Array]:
        """Return shares of signals, nulls and all that are selected with a chance of (..., G)."""
        true, false = chance @ self._law.signal[row], chance @ self._law.null[row]
        return true, false, self._rho[row] * true + (1.0 - self._rho[row]) * false

    def _rates(self, tpr: Array, fpr: Array) -> Rates:
        """Return rates in the shape of the solution."""
        shape = self.solution.shape
        return make_rates(np.asarray(self.solution.rho), tpr.reshape(shape), fpr.reshape(shape))


def _tails(chance: Array, copies: int) -> Array:
    """Return P(Bin(copies, chance) >= k) for k from one on, (copies, G)."""
    k = np.arange(copies, 0.0, -1.0)[:, None]
    odds = np.log(np.clip(chance, _TINY, _CERTAIN)), np.log1p(-np.minimum(chance, _CERTAIN))
    law = binom(copies, k) * np.exp(k * odds[0] + (copies - k) * odds[1])
    return np.asarray(np.minimum(np.cumsum(law, axis=0)[::-1], 1.0))


@lru_cache(maxsize=8)
def _tail(votes: int, copies: int) -> tuple[Array, Array]:
    """Return P(Bin(copies, chance) >= votes) at chances close enough to interpolate."""
    chance = np.linspace(0.0, 1.0, 4001)
    return chance, np.asarray(betainc(votes, copies - votes + 1.0, chance))


def _first(t: Array, excess: Array) -> Array:
    """Return where an excess, (..., T), is first zero or less; infinite if it never is."""
    fine = excess <= 0.0
    i = np.argmax(fine, axis=-1)[..., None]
    before = np.maximum(i - 1, 0)
    (low, high), (above, below) = (
        [
            np.take_along_axis(np.broadcast_to(part, fine.shape), at, -1)[..., 0]
            for at in (before, i)
        ]
        for part in (t, excess)
    )
    falls = (above > 0.0) & (below <= 0.0)
    share = np.where(falls, above / np.where(falls, above - below, 1.0), 0.0)
    return np.where(fine.any(axis=-1), low + share * (high - low), np.inf)


def cut_of_fields(solution: Solution, fdr: float) -> float:
    """Return the cut on abs(g) at which message passing estimates the level; else infinity.

    It counts all variables as irrelevant, so that the false discovery rate is 1 - rho times the
    level.
    """
    sd = math.sqrt(solution.chi_hat)
    u = np.linspace(0.0, _FARTHEST + 1.0, 2 * _THRESHOLDS)
    signals = solution.model.signals
    log_tpr, log_fpr, _ = log_rates(signals, np.full(u.size, sd / solution.slope), u)
    fpr, rho = np.exp(log_fpr), solution.rho
    # relative, so that what is linear between two steps is the logarithm
    excess = log_fpr - np.log(fdr * (rho * np.exp(log_tpr) + (1.0 - rho) * fpr))
    return sd * float(_first(u, excess))


def first_variables(model: Model, p: int, q: float) -> StabilitySolution:
    """Solve for halves of the rows that select q of p variables on average."""

    def half(log_lam: float) -> StabilitySolution:
        return solve_stability(model, math.exp(log_lam), 0.5, "bernoulli")

    def excess(log_lam: float) -> float:
        found = half(log_lam)
        return float(p * found.chi * found.Q_hat - q)

    from scipy.optimize import brentq  # a quarter of a second, and few need it

    return half(brentq(excess, -9.0, 5.0, xtol=1e-10))
