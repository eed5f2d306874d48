r"""Times of events: Cox's partial likelihood, with censoring, ties, strata and entry times.

All sums over risk sets are sums of positive numbers, taken in logarithms: nothing overflows, and no
digits are lost where few are left at risk. With :math:`S_k = \sum_i b_{ki} e^{\eta_i}` of the terms
of `risk_sets`, the second derivatives are :math:`diag(A) - \sum_k \omega_k p_k p_k'` with
:math:`A_i = \sum_k \omega_k p_{ki}` and :math:`p_{ki} = b_{ki} e^{\eta_i} / S_k`, so that A bounds
them. The gradient is :math:`A - c \delta`.

The conjugate of :math:`\log \sum b e^\eta` at a distribution p' is :math:`\sum p' \log (p'/b)`. A
dual point at :math:`\kappa` times the gradient is :math:`p' = \kappa p + (1 - \kappa) q` in each
term, where q is the distribution of those who died: the certificate costs as much as a gradient.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import xlogy

from selica._core.errors import ArgumentError, RefusedError
from selica._core.losses.base import HeldOut, Loss, Reading
from selica._core.losses.risk_sets import RiskSets
from selica._core.types import Array, BoolArray
from selica._core.validation import array_of, choice, short, written

TIES = ("breslow", "efron")
"""How events at the same time are treated."""
_FORMS = (
    "y must be times and events for response='survival': a pair (time, event), an array of two "
    "columns, or a structured array with one float and one boolean field"
)


class CoxLoss(Loss):
    """Minus the log partial likelihood; weights of the rows enter risk sets and events alike.

    A row is (time, event), (time, event, stratum) or (time, event, stratum, entry), with an event
    of 1 for a time at which it happened and 0 for one until which it had not. Rows of different
    strata are never compared. A row is at risk after its entry.

    Parameters
    ----------
    ties : {"breslow", "efron"}
        With Breslow's terms a weight of two is the same as two rows. Efron's are closer to what a
        finer clock would give; there a weight of two is not a tie.

    Examples
    --------
    >>> import numpy as np
    >>> from selica._core.losses import CoxLoss
    >>> y = np.array([[1.0, 1.0], [2.0, 0.0], [3.0, 1.0]])
    >>> CoxLoss().gradient(y, np.ones(3), np.zeros(3)).round(9).tolist()
    [-0.666666667, 0.333333333, 0.333333333]
    """

    name = "cox"
    response = "survival"
    label = "times of events"
    fields = ("time", "event", "stratum", "entry")
    defaults = (0.0, -np.inf)
    identified = False
    diagonal = False

    def __init__(self, ties: str = "breslow") -> None:
        self.ties = choice("ties", ties, TIES)

    def __repr__(self) -> str:
        return f"CoxLoss({self.ties!r})"

    # --- the fit

    def compiled(self, y: Array) -> str | None:
        """Return the name of the core's loss, which knows no times of entry."""
        simple = y.ndim == 2 and y.shape[-1] < len(self.fields)  # one response for all members
        return f"cox-{self.ties}" if simple else None

    def total(self, y: Array, c: Array, eta: Array) -> Array:
        """Return minus the log partial likelihood."""
        return self._each(_Sums.value, y, c, eta, np.zeros(()))

    def gradient(self, y: Array, c: Array, eta: Array) -> Array:
        """Return expected minus observed events, the negative martingale residuals."""
        return np.asarray(self.majorant(y, c, eta) - c * self.columns(y)[1])

    def majorant(self, y: Array, c: Array, eta: Array) -> Array:
        """Return the expected events of each row."""
        return self._each(_Sums.expected, y, c, eta, np.zeros(eta.shape[-1]))

    def curved(self, y: Array, c: Array, eta: Array, V: Array) -> Array:
        """Return the matrix of second derivatives times vectors V, (k, n), for one member."""

        def product(sums: _Sums) -> Array:
            return sums.curved(V)

        return self._each(product, y, c, eta, np.zeros(V.shape))

    def dual(self, y: Array, c: Array, eta: Array, scale: Array) -> Array:
        """Return minus the weighted relative entropies of the dual points of all terms."""

        def value(sums: _Sums, scale: Array) -> Array:
            return sums.dual(scale[..., None])

        return self._each(value, y, c, eta, np.zeros(()), scale)

    def infimum(self, y: Array, c: Array) -> Array:
        """Return the loss where everybody dies in the order of their hazards."""
        return self._each(_Sums.infimum, y, c, np.zeros(c.shape[-1]), np.zeros(()))

    def balance(self, y: Array, c: Array, eta: Array) -> Array:
        """Return zero: a constant changes nothing."""
        shape = np.broadcast_shapes(self.columns(y)[0].shape, c.shape, eta.shape)
        return np.zeros(shape[:-1])

    def degenerate(self, y: Array, c: Array) -> BoolArray:
        """Return where no event has any weight."""
        return np.asarray(np.vecdot(c, self.columns(y)[1]) <= 0.0)

    def _each(
        self, function: Callable[..., Array], y: Array, c: Array, eta: Array, nothing: Array,
        *more: Array,
    ) -> Array:  # fmt: skip
        """Apply a function of sums over risk sets to each data set; `nothing` without events."""
        scales = ((*part.shape, 1) for part in more)
        shape = np.broadcast_shapes(self.columns(y)[0].shape, c.shape, eta.shape, *scales)
        c, eta = np.broadcast_to(c, shape), np.broadcast_to(eta, shape)
        more = tuple(np.broadcast_to(part, shape[:-1]) for part in more)
        while y.ndim > 2 and (y.shape[0] == 1 or y.strides[0] == 0):
            y = y[0]  # one data set for all members
        if y.ndim > 2:
            y = np.broadcast_to(y, (*shape, y.shape[-1]))
            parts = zip(y, c, eta, *more, strict=True)
            return np.stack([self._each(function, *part[:3], nothing, *part[3:]) for part in parts])
        time, event, stratum, entry = self.columns(y)
        if not np.any(event > 0.0):
            return np.broadcast_to(nothing, (*shape[:-1], *nothing.shape))
        sets = RiskSets(time, event, stratum, entry, self.ties == "efron")
        return function(_Sums(sets, c, eta), *more)

    # --- predictions

    def mean(self, eta: Array) -> Array:
        """Return the hazard in units of that at a predictor of zero."""
        with np.errstate(over="ignore"):
            return np.asarray(np.exp(eta))

    def held_out_score(self, y: Array, c: Array, held_out: BoolArray, eta: Array) -> HeldOut:
        """Return twice the loss of all rows minus that of the fitted ones, and the events held out.

        Rows that were held out are compared with all rows at risk, not only with each other. A
        difference, it may be negative.
        """
        fitted = np.where(held_out, 0.0, c)
        excess = self.total(y, c, eta) - self.total(y, fitted, eta)
        return HeldOut(2.0 * excess, float((c - fitted) @ self.columns(y)[1]))

    # --- the response

    def takes(self, y: Any) -> bool:
        """Return whether it is a pair (time, event), or a structured array of both."""
        if isinstance(y, tuple) and len(y) == 2:
            return all(np.ndim(part) == 1 for part in y)
        names = getattr(getattr(y, "dtype", None), "names", None)
        return names is not None or (getattr(y, "ndim", 0) == 2 and y.shape[1] == 2)

    def read(self, y: Any) -> Reading:
        """Return times, events, strata and entries, as far as they are given."""
        values = _survival(y)
        self.check(values)
        if not np.any(values[:, 1]):
            raise RefusedError("y has no event: there is nothing to explain.")
        return Reading(values)

    def check(self, y: Array) -> None:
        """Refuse event codes other than 0 and 1, missing times, and times before the entry."""
        if y.ndim < 2 or not 2 <= y.shape[-1] <= len(self.fields):
            raise ArgumentError(f"{_FORMS}; got shape {y.shape}.")
        time, event, stratum, entry = self.columns(y)
        if not (np.all(np.isfinite(time)) and not np.any(np.isnan(stratum) | np.isnan(entry))):
            raise ArgumentError("y must have a finite time in every row.")
        wrong = ~np.isin(event, (0.0, 1.0))
        if wrong.any():
            raise ArgumentError(
                "y must have events of 1 (it happened) and 0 (censored) only; got "
                f"{written(event[wrong].flat[0])}."
            )
        if np.any(entry >= time):
            raise ArgumentError("y must have entries before the times; a row has not.")

    def strata(self, y: Array) -> Array:
        """Return whether the event of a row happened."""
        return self.columns(y)[1]

    def informative_rows(self, y: Array) -> int:
        """Return the number of events, which is what a fit learns from."""
        return int(np.count_nonzero(self.columns(y)[1]))

    def draw(self, eta: Array, noise_variance: float | None, rng: np.random.Generator) -> Array:
        """Return times with hazards exp(eta), none censored."""
        del noise_variance
        time = rng.standard_exponential(eta.size) * np.exp(-eta)
        return np.column_stack([time, np.ones(eta.size)])


class _Sums:
    """Sums over risk sets at some predictors; everything but weights in logarithms."""

    def __init__(self, sets: RiskSets, c: Array, eta: Array) -> None:
        with np.errstate(divide="ignore"):
            risk = np.log(c) + eta
            self._omega, share = sets.terms(c)
            self._share = np.log(share)
        self._sets, self._c, self._eta, self._risk = sets, c, eta, risk
        at = sets.term_place
        self._dying = sets.log_of_dying(risk)
        self._others = sets.surviving.over_rows(risk)
        whole = np.logaddexp(self._others[..., at], self._share + self._dying[..., at])
        self._sum = np.where(self._omega > 0.0, whole, 0.0)

    def value(self) -> Array:
        """Return the loss."""
        observed = self._sets.of_dying(self._c * self._eta).sum(axis=-1)
        return np.asarray(np.vecdot(self._omega, self._sum) - observed)

    def infimum(self) -> Array:
        """Return the smallest loss: of each term, that of those who die."""
        return np.asarray(np.vecdot(self._omega, self._share + self._log_events()))

    def _log_events(self) -> Array:
        """Return the logarithm of the weight of the events at the place of each term."""
        events = self._sets.of_dying(self._c)
        return np.log(np.where(events > 0.0, events, 1.0))[..., self._sets.term_place]

    def expected(self) -> Array:
        """Return the expected events of each row: its hazard, summed while it is at risk."""
        return self._while_at_risk(self._hazard())

    def curved(self, V: Array) -> Array:
        """Return A V minus the terms' weighted p p' V; a constant is added to V, which is free."""
        Z = V - V.min(axis=-1, keepdims=True)
        with np.errstate(divide="ignore"):
            weighted = self._risk + np.log(Z)
        at = self._sets.term_place
        mean = np.logaddexp(
            self._sets.surviving.over_rows(weighted)[..., at],
            self._share + self._sets.log_of_dying(weighted)[..., at],
        )
        return np.asarray(
            self.expected() * Z - self._while_at_risk(self._hazard() + mean - self._sum)
        )

    def _hazard(self) -> Array:
        """Return the logarithm of omega / S of each term."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self._omega) - self._sum)

    def _while_at_risk(self, hazard: Array) -> Array:
        """Return for each row the sum of b exp(eta) times what terms have, (..., n)."""
        sets = self._sets
        total = sets.surviving.over_places(sets.log_of_terms(hazard))
        last = sets.log_of_terms(hazard + self._share)
        total[..., sets.dying] = np.logaddexp(total[..., sets.dying], last[..., sets.place])
        return np.asarray(np.exp(self._risk + total))

    def dual(self, scale: Array) -> Array:
        """Return the dual objective; `scale` has the shape (..., 1)."""
        sets, at = self._sets, self._sets.term_place
        line = np.where(self._c > 0.0, self._eta, self._eta.max(axis=-1, keepdims=True))
        least = line.min(axis=-1, keepdims=True)
        with np.errstate(divide="ignore"):
            above = self._risk + np.log(line - least)
        # sums of p log(p / b) over survivors and, for large ties, over those who die
        p = _share_of(self._others[..., at], self._sum)
        mean = least + _share_of(sets.surviving.over_rows(above), self._others)
        entropy = p * (scale * (mean[..., at] - self._sum) + xlogy(scale, scale))
        if sets.tied.any():
            p = _share_of(self._share + self._dying[..., at], self._sum)
            mean = least + _share_of(sets.log_of_dying(above), self._dying)
            chord = scale * p * (mean[..., at] - self._sum)
            chord = chord - (1.0 - scale) * (self._share + self._log_events())
            entropy = entropy + np.where(sets.tied, chord, 0.0)
        # and over pairs of a term and one who dies: the ratio r = p' / b
        term, row = sets.pair_term, sets.dying[sets.pair_dying]
        share = self._share[..., term]
        ratio = scale * np.exp(self._eta[..., row] - self._sum[..., term])
        ratio = ratio + (1.0 - scale) * np.exp(-share - self._log_events()[..., term])
        pairs = self._omega[..., term] * xlogy(self._c[..., row] * np.exp(share) * ratio, ratio)
        return np.asarray(-np.vecdot(self._omega, entropy) - pairs.sum(axis=-1))


def _share_of(part: Array, whole: Array) -> Array:
    """Return the ratio of two sums that are given by logarithms; zero where there is none."""
    return np.asarray(np.exp(part - np.where(part > -np.inf, whole, 0.0)))


def _survival(y: Any) -> Array:
    """Return a response in any of its forms as an array of floats, (n, 2) to (n, 4)."""
    if isinstance(y, tuple | list) and len(y) == 2:
        pair = [array_of(part) for part in y]
        if pair[0].ndim == 1 and pair[0].shape == pair[1].shape:
            return _floats(pair)
    raw = array_of(y)
    if raw.dtype.names is not None and raw.ndim == 1:
        parts = [raw[name] for name in raw.dtype.names]
        events = [part for part in parts if part.dtype.kind == "b"]
        times = [part for part in parts if part.dtype.kind == "f"]
        if len(parts) == 2 and len(events) == len(times) == 1:
            return _floats([*times, *events])
    elif raw.ndim == 2 and raw.dtype.kind in "iufbO":
        return _floats(list(raw.T))
    raise ArgumentError(f"{_FORMS}; got {short(y)}.")


def _floats(columns: list[Any]) -> Array:
    """Return columns side by side, as floats."""
    try:
        return np.column_stack([np.asarray(part, dtype=float) for part in columns])
    except (TypeError, ValueError):
        raise ArgumentError(f"{_FORMS}; got something that is no number.") from None
