"""Losses of penalised regressions with their duality gaps, in plain NumPy: the judge's formulas.

A fit minimises F(w) = Σ_i c_i l_i(η) + lam Σ_j |w_j| + ½ lam2 Σ_j w_j², η = offset + a + X w, in
sums, never in means. A loss has five functions: `settle` adds the best intercept to η; `value`;
`slope` v = ∂/∂η; `dual` is a lower bound of the smallest F that κ v proves when κ |X'v| ≤ lam
(lam2 = 0); `infimum` bounds the value from below over all η. A gap is divided by the null loss
minus the infimum. η is (n,), for classes (n, K).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Loss(Protocol):
    """What the judge knows about a response."""

    def settle(self, eta: Array, c: Array) -> Array: ...

    def value(self, eta: Array, c: Array) -> float: ...

    def slope(self, eta: Array, c: Array) -> Array: ...

    def dual(self, eta: Array, c: Array, kappa: float) -> float: ...

    def infimum(self, c: Array) -> float: ...


def _entropy(q: Array) -> Array:
    """q log q, zero at zero."""
    return q * np.log(np.where(q > 0.0, q, 1.0))


@dataclass(frozen=True, slots=True)
class Squared:
    """½ (y − η)²."""

    y: Array
    intercept: bool = False

    def settle(self, eta: Array, c: Array) -> Array:
        return eta + (c @ (self.y - eta) / c.sum() if self.intercept else 0.0)

    def value(self, eta: Array, c: Array) -> float:
        return float(0.5 * c @ (self.y - eta) ** 2)

    def slope(self, eta: Array, c: Array) -> Array:
        return c * (eta - self.y)

    def dual(self, eta: Array, c: Array, kappa: float) -> float:
        s = kappa * (eta - self.y)
        return float(-c @ (0.5 * s**2 + s * self.y))

    def infimum(self, c: Array) -> float:
        return 0.0


@dataclass(frozen=True, slots=True)
class Logistic:
    """log(1 + e^η) − y η for y = 0 or 1."""

    y: Array
    intercept: bool = False

    def settle(self, eta: Array, c: Array) -> Array:
        if not self.intercept:
            return eta
        low, high = -40.0 - eta.max(), 40.0 - eta.min()  # the slope grows with the intercept
        while high - low > 1e-14 * max(1.0, abs(low), abs(high)):
            middle = 0.5 * (low + high)
            if middle in (low, high):
                break
            if self.slope(eta + middle, c).sum() > 0.0:
                high = middle
            else:
                low = middle
        return eta + 0.5 * (low + high)

    def value(self, eta: Array, c: Array) -> float:
        return float(c @ (np.logaddexp(0.0, eta) - self.y * eta))

    def slope(self, eta: Array, c: Array) -> Array:
        # e^η/(1 + e^η) − y without cancellation
        return c * np.where(self.y > 0.5, -_sigmoid(-eta), _sigmoid(eta))

    def dual(self, eta: Array, c: Array, kappa: float) -> float:
        return self.bound(kappa * self.slope(eta, c), c)

    def bound(self, v: Array, c: Array) -> float:
        """The dual value of any slope v with |X'v| ≤ lam; NaN where v is none."""
        there = c > 0.0
        wrong = np.where(self.y > 0.5, -v, v)[there] / c[there]
        if wrong.min() < 0.0 or wrong.max() > 1.0:
            return np.nan
        return float(-c[there] @ (_entropy(wrong) + _entropy(1.0 - wrong)))

    def infimum(self, c: Array) -> float:
        return 0.0


def _sigmoid(eta: Array) -> Array:
    return np.exp(-np.logaddexp(0.0, -eta))


@dataclass(frozen=True, slots=True)
class Poisson:
    """μ − y (η − offset), μ = e^η; η includes the offset."""

    y: Array
    intercept: bool = True
    offset: Array | float = 0.0

    def settle(self, eta: Array, c: Array) -> Array:
        if not self.intercept:
            return eta
        top = eta.max()
        return eta + np.log(c @ self.y / (c @ np.exp(eta - top))) - top

    def value(self, eta: Array, c: Array) -> float:
        return float(c @ (np.exp(eta) - self.y * (eta - self.offset)))

    def slope(self, eta: Array, c: Array) -> Array:
        return c * (np.exp(eta) - self.y)

    def dual(self, eta: Array, c: Array, kappa: float) -> float:
        r = self.y + kappa * (np.exp(eta) - self.y)
        return float(-c @ (_entropy(r) - r * (1.0 + self.offset)))

    def infimum(self, c: Array) -> float:
        return float(c @ (self.y - _entropy(self.y) + self.y * self.offset))


@dataclass(frozen=True, slots=True)
class Cox:
    """Minus the log partial likelihood, ties by Breslow, or by Efron with case weights."""

    time: Array
    event: Array
    strata: NDArray[np.int64] | None = None
    ties: str = "breslow"

    def settle(self, eta: Array, c: Array) -> Array:
        return eta  # a constant changes nothing

    def _terms(self, c: Array) -> list[tuple[float, Array, Array]]:
        """(ω, b, q) of each term ω log Σ b e^η: rows at risk, and the dying as probabilities."""
        strata = np.zeros(len(c)) if self.strata is None else self.strata
        dies = (self.event > 0.5) & (c > 0.0)
        terms = []
        for stratum, moment in sorted(set(zip(strata[dies], self.time[dies], strict=True))):
            here = strata == stratum
            dying = here & dies & (self.time == moment)
            risk = np.where(here & (self.time >= moment), c, 0.0)
            weight, number = float(c[dying].sum()), int(dying.sum())
            q = np.where(dying, c, 0.0) / weight
            if self.ties == "breslow":
                terms.append((weight, risk, q))
                continue
            for k in range(number):
                terms.append((weight / number, risk - np.where(dying, c, 0.0) * k / number, q))
        return terms

    def value(self, eta: Array, c: Array) -> float:
        total = -float(c @ (self.event * eta))
        for omega, b, _ in self._terms(c):
            top = eta[b > 0.0].max()
            total += omega * (np.log(b @ np.exp(np.where(b > 0.0, eta - top, 0.0))) + top)
        return total

    def slope(self, eta: Array, c: Array) -> Array:
        v = -c * self.event
        for omega, b, _ in self._terms(c):
            v += omega * _softmax(b, eta)
        return v

    def dual(self, eta: Array, c: Array, kappa: float) -> float:
        total = 0.0
        for omega, b, q in self._terms(c):
            mixed = kappa * _softmax(b, eta) + (1.0 - kappa) * q
            total -= omega * float(np.sum(_entropy(mixed) - mixed * np.log(np.where(b > 0, b, 1))))
        return total

    def infimum(self, c: Array) -> float:
        total = 0.0
        for omega, b, q in self._terms(c):
            total += omega * np.log(b[q > 0.0].sum())
        return float(total)


def _softmax(b: Array, eta: Array) -> Array:
    """Probabilities proportional to b e^η."""
    there = b > 0.0
    p = np.zeros_like(b)
    p[there] = b[there] * np.exp(eta[there] - eta[there].max())
    return p / p.sum()


@dataclass(frozen=True, slots=True)
class CoxBySums:
    """Cox with Breslow's ties and one stratum, by cumulative sums: for large data."""

    time: Array
    event: Array

    def settle(self, eta: Array, c: Array) -> Array:
        return eta

    def _sorted(self, eta: Array, c: Array) -> tuple[Array, ...]:
        order = np.argsort(self.time, kind="stable")
        t = self.time[order]
        first, last = np.searchsorted(t, t, "left"), np.searchsorted(t, t, "right") - 1
        c, d = c[order], self.event[order]
        shifted = eta[order] - eta.max()
        e = c * np.exp(shifted)
        risk = np.cumsum(e[::-1])[::-1][first]
        return order, first, last, c, d, shifted, e, risk

    def value(self, eta: Array, c: Array) -> float:
        _, _, _, c, d, shifted, _, risk = self._sorted(eta, c)
        dies = (c * d) > 0.0
        return float((c * d)[dies] @ (np.log(risk[dies]) - shifted[dies]))

    def slope(self, eta: Array, c: Array) -> Array:
        order, _, last, c, d, _, e, risk = self._sorted(eta, c)
        dies = (c * d) > 0.0
        hazard = np.cumsum(np.divide(c * d, risk, out=np.zeros_like(risk), where=dies))[last]
        v = np.empty_like(e)
        v[order] = e * hazard - c * d
        return v

    def dual(self, eta: Array, c: Array, kappa: float) -> float:
        _, first, _, c, d, shifted, e, risk = self._sorted(eta, c)
        n = len(e)
        dies = (c * d) > 0.0
        deaths = np.bincount(first[dies], (c * d)[dies], n)  # d_T, at the first row of a time
        gone = np.bincount(first[dies], e[dies], n)
        tilted = np.cumsum((e * shifted)[::-1])[::-1] - np.bincount(
            first[dies], (e * shifted)[dies], n
        )
        at = np.flatnonzero(deaths)
        logs = np.log(risk[at])
        survivors = (np.log(kappa) - logs) * (1.0 - gone[at] / risk[at]) + tilted[at] / risk[at]
        total = deaths[at] @ (kappa * survivors) if kappa > 0.0 else 0.0
        rows = np.flatnonzero(dies)
        mixed = kappa * np.exp(shifted[rows]) / risk[rows] + (1.0 - kappa) / deaths[first[rows]]
        total += deaths[first[rows]] @ (c[rows] * mixed * np.log(mixed))
        return float(-total)

    def infimum(self, c: Array) -> float:
        dies = (c * self.event) > 0.0
        weights = np.bincount(np.unique(self.time[dies], return_inverse=True)[1], c[dies])
        return float(weights @ np.log(weights))


@dataclass(frozen=True, slots=True)
class Multinomial:
    """log Σ_k e^{η_k} − η_y for y = 0, …, K − 1; no certificate here, it only compares."""

    y: NDArray[np.int64]

    def value(self, eta: Array, c: Array) -> float:
        top = eta.max(axis=1)
        rows = np.arange(len(c))
        logs = np.log(np.exp(eta - top[:, None]).sum(axis=1)) + top
        return float(c @ (logs - eta[rows, self.y]))

    def null(self, c: Array) -> float:
        """The loss of the best intercepts alone."""
        shares = np.bincount(self.y, c)
        return float(-_entropy(shares / c.sum()).sum() * c.sum())

    def infimum(self, c: Array) -> float:
        return 0.0


def null_loss(loss: Loss, c: Array, offset: Array | float = 0.0) -> float:
    """The loss of the best intercept alone."""
    return loss.value(loss.settle(np.zeros(len(c)) + offset, c), c)


def relative_gaps(
    loss: Loss, X: Array, c: Array, lams: Array, W: Array, duals: Array | None = None
) -> Array:
    """Duality gap of each row of W (L, p) over the null loss minus the infimum; inf if not finite.

    The intercept that came with W is not asked for: the best one for W is taken. Labels
    only: `duals` (L, n) are slopes that a solver has found itself; the better bound counts.
    """
    unit = null_loss(loss, c) - loss.infimum(c)
    gaps = np.empty(len(lams))
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        etas = [loss.settle(eta, c) for eta in W @ X.T]
        steepest = np.abs(np.array([loss.slope(eta, c) for eta in etas]) @ X).max(axis=1)
        for row, (eta, lam) in enumerate(zip(etas, lams, strict=True)):
            kappa = float(min(1.0, lam / steepest[row])) if steepest[row] > 0.0 else 1.0
            primal = loss.value(eta, c) + lam * np.abs(W[row]).sum()
            dual = loss.dual(eta, c, kappa)
            if duals is not None:
                assert isinstance(loss, Logistic)
                steep = np.abs(duals[row] @ X).max()
                dual = np.fmax(dual, loss.bound(duals[row] * min(1.0, lam / steep), c))
            gaps[row] = (primal - dual) / unit
    return np.where(np.isfinite(gaps), gaps, np.inf)
