r"""The saddle-point equations of the generating function of the ensemble's cost.

.. math:: g(y) = \lim \frac1N E_D \log E_{D^*} e^{-y L(D, D^*)}

L is the minimal cost of a member, D the data, :math:`D^*` what is random between members. The
equations close on the state (E, chi + chi_tilde, v + v_tilde), with one number more where the rows
of a member are counted: nu, which keeps their number. docs/large-deviations.md derives them;
equation numbers are its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from selica._core.counts import exponential_nodes
from selica._core.effects import Mixture
from selica._core.scalar import density
from selica._core.types import Array
from selica.theory.large_deviations.tilted import (
    TRUNCATION,
    OutOfRange,
    TiltedMember,
    field_nodes,
    half_normal,
    poisson_table,
    tilted_member,
    tilted_row,
)

RESAMPLINGS = ("poisson", "multinomial", "bernoulli", "subsample", "exponential")
"""Distributions of the row weights; "multinomial" and "subsample" draw a fixed number of rows."""


class State(NamedTuple):
    """What the equations close on."""

    error: float
    """E, the prediction error of the averaged estimator."""
    chi: float
    """chi + chi_tilde."""
    v: float
    """v + v_tilde."""
    nu: float = 0.0
    """Multiplier of the number of rows; zero where that number is free."""


class Hats(NamedTuple):
    """Conjugates: the field of a variable is m_hat w0 + sqrt(chi_hat) xi + sqrt(v_hat) eta."""

    Q: float
    m: float
    chi: float
    v: float


class TiltedOverlaps(NamedTuple):
    """Averages over one variable, and over its copy where there is one."""

    q: float
    m: float
    chi: float
    v: float
    chi_tilde: float
    v_tilde: float
    error: float
    """E, summed without a cancelling difference."""
    absolute: float
    """E<|w_hat|>, copies included."""
    log_weight: float
    """E log E_eta exp(y phi), copies included."""
    answer: float
    """E (d<w_hat>/dg)^2."""


class TiltedPoint(NamedTuple):
    """One step of the equations from a state, and what can be read off there."""

    new: State
    """Where the step leads; nu is the relative excess of rows, zero at a solution."""
    hats: Hats
    overlaps: TiltedOverlaps
    g: float
    cost: float
    replicon: float
    """Below one the solution is stable (eq. 22)."""
    copy_margin: float
    """1 - y v_tilde_hat / Q_hat: at zero a copy's coefficient has no finite variance (eq. 20)."""
    row_margin: float
    """(1 + c (chi + y v)) / (1 + c chi) at the largest count: at zero a row diverges (eq. 21)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RateEquations:
    """The equations of one model, one method and one penalty."""

    alpha: float
    rho: float
    Delta: float
    lam: float
    mixture: Mixture
    """Kinds of variables, the nulls first, signs dropped: they play no role."""
    resampling: str
    """One of `RESAMPLINGS`, or "none" with knockoffs."""
    mu_B: float
    copies: int

    @property
    def counted(self) -> bool:
        """Whether the number of rows of a member is fixed."""
        return self.resampling in ("multinomial", "subsample")

    def step(self, state: State, y: float) -> TiltedPoint:
        """Make one undamped step: averages over a row, conjugates, averages over a variable."""
        error, chi, v, nu = state
        if not (np.isfinite(state).all() and error > 0.0 and chi >= 0.0 and v >= 0.0):
            raise OutOfRange("the state is not finite")
        count, log_p = self._counts(state, y)
        row_margin = float((1.0 + (chi + y * v) * count[-1]) / (1.0 + chi * count[-1]))
        if not row_margin > 0.0:
            raise OutOfRange("a row has no finite average")
        xi2, weight = half_normal(y * error)
        row = tilted_row(error * xi2, count, log_p + nu * count, chi, v, y)
        mean = self.alpha * weight
        hats = Hats(  # eqs. 11
            Q=float(mean @ row.f),
            m=float(mean @ (xi2 * row.k)),
            chi=float(mean @ (error * xi2 * row.k**2)),
            v=float(mean @ (v * row.fk + error * xi2 * row.k_variance)),
        )
        field = hats.chi + hats.v
        copy_margin = 1.0 - y * field / hats.Q if self.copies else 1.0
        if not (hats.Q > 0.0 and hats.chi > 0.0 and hats.m > 0.0 and copy_margin > 0.0):
            raise OutOfRange("the field of a copy has no finite average")
        new = self._overlaps(hats, y)
        # eq. 7 at the overlaps of the state: both halves enter by their sums
        g = (
            0.5 * y * (hats.Q * (new.q + v) - field * chi)
            - 0.5 * y * y * (hats.v * new.q + field * v)
            - y * hats.m * new.m
            + new.log_weight
            + float(mean @ row.log_weight)
        )
        excess = 0.0
        if self.counted:
            g -= self.alpha * nu * self.mu_B
            excess = float(weight @ row.rows) / self.mu_B - 1.0
        cost = 0.5 * float(mean @ row.loss) + self.lam * new.absolute  # eq. 17
        answer = row.k - y * error * xi2 * row.k_variance
        return TiltedPoint(
            new=State(new.error, new.chi + new.chi_tilde, new.v + new.v_tilde, excess),
            hats=hats,
            overlaps=new,
            g=g,
            cost=cost,
            replicon=float(mean @ answer**2) * new.answer,
            copy_margin=copy_margin,
            row_margin=row_margin,
        )

    def _counts(self, state: State, y: float) -> tuple[Array, Array]:
        """Return the counts of a row, from small to large, and their log probabilities."""
        if self.resampling == "none":
            return np.ones(1), np.zeros(1)
        if self.resampling in ("bernoulli", "subsample"):
            return np.array([0.0, 1.0]), np.log([1.0 - self.mu_B, self.mu_B])
        if self.resampling == "exponential":
            node, probability = exponential_nodes()
            keep = probability > 0.0
            count, log_p = self.mu_B * node[keep], np.log(probability[keep])
            k = count[-1] / (1.0 + max(state.chi + y * state.v, 0.0) * count[-1])
            # at six standard deviations the last weight must still count for nothing
            if -0.5 * y * state.error * 36.0 * k > 0.8 * node[-1]:
                raise OutOfRange("the weights of a row have no finite average")
            return count, log_p
        factor = float(np.exp(np.clip(state.nu, -50.0, 50.0)))
        tilt = -0.5 * y * state.error * TRUNCATION**2
        return poisson_table(self.mu_B, factor, tilt, state.chi + y * state.v)

    def _overlaps(self, hats: Hats, y: float) -> TiltedOverlaps:
        """Return averages over one variable (eqs. 12 to 16)."""
        Q, m_hat, chi_hat, v_hat = hats
        own = max(v_hat, (1e-8 * self.lam) ** 2)  # below, the spread is lost in rounding
        share = self.rho * self.mixture.probability
        share[0] = 1.0 - self.rho
        there = share > 1e-18
        share, mu, spread = share[there], self.mixture.mean[there], self.mixture.sd[there] ** 2
        var = chi_hat + m_hat**2 * spread
        g, width = field_nodes(m_hat * mu, np.sqrt(var), self.lam, own, 1.0 - y * own / Q)
        one = tilted_member(g, own, Q, self.lam, y)
        law = np.zeros_like(g)
        m = off = 0.0
        for k in range(share.size):
            for sign in (1.0, -1.0) if mu[k] > 0.0 else (1.0,):
                # g and -g are one node: an effect at -g is its negative at g
                away = g - sign * m_hat * mu[k]
                p = density(away / np.sqrt(var[k])) * width
                p *= share[k] / np.sqrt(var[k]) * (1.0 if mu[k] > 0.0 else 2.0)
                effect = sign * mu[k] + m_hat * spread[k] / var[k] * away  # E[w0 | g]
                law += p
                m += float(p @ (effect * one.mean))
                off += float(p @ (one.mean - effect) ** 2)
            off += share[k] * spread[k] * chi_hat / var[k]  # Var[w0 | g]
        slope = one.active / Q + y * one.variance
        out = TiltedOverlaps(
            q=float(law @ one.mean**2),
            m=m,
            chi=float(law @ one.active) / Q,
            v=float(law @ one.variance),
            chi_tilde=0.0,
            v_tilde=0.0,
            error=self.Delta + off,
            absolute=float(law @ one.absolute),
            log_weight=float(law @ one.log_weight),
            answer=float(law @ slope**2),
        )
        if not self.copies:
            return out
        copy = self._copy(chi_hat + v_hat, Q, y)
        return out._replace(
            chi_tilde=float(copy.active[0]) / Q,
            v_tilde=float(copy.variance[0]),  # its mean is zero
            absolute=out.absolute + float(copy.absolute[0]),
            log_weight=out.log_weight + float(copy.log_weight[0]),
        )

    def _copy(self, var: float, Q: float, y: float) -> TiltedMember:
        """Return averages over a knockoff copy: all of its field is the member's own (eq. 16)."""
        own = max(var, (1e-8 * self.lam) ** 2)
        return tilted_member(np.zeros(1), own, Q, self.lam, y)
