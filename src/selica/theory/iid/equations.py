r"""The self-consistent equations of all methods, and the sums they are made of.

Lasso, stability selection and knockoffs differ only in the distribution of the row weights and in
the number of null variables: a knockoff copy adds one null for each variable. One set of equations
serves all of them. A ridge part lam2 w^2 / 2 of the penalty makes the estimate S(h; lam) / K with
K = Q_hat + lam2. The names follow the article; docs/theory.md and docs/elastic-net.md have the
formulas.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from selica._core.counts import CountLaw
from selica._core.effects import Mixture
from selica._core.scalar import (
    MemberMoments,
    clipped_mean,
    one_member,
    soft_absolute,
    soft_square,
    two_members,
)
from selica._core.types import Array, BoolArray, IntArray


class MemberSums(NamedTuple):
    """Sums over the variables for one member, with slopes; see `IidEquations.member`."""

    P: Array
    """Expected number of active variables, for each variable of the data."""
    P_Q: Array
    P_T: Array
    N: Array
    """K^2 times the squared error of the estimate."""
    N_Q: Array
    N_T: Array


class Order(NamedTuple):
    """Everything the equations determine, one entry for each point."""

    q: Array
    m: Array
    chi: Array
    v: Array
    chi_tilde: Array
    v_tilde: Array
    error: Array
    """E, the prediction error of the averaged estimator, noise included."""
    Q_hat: Array
    chi_hat: Array
    v_hat: Array


@dataclass(frozen=True, slots=True, kw_only=True)
class IidEquations:
    """The equations at n points of parameter space; arrays have shape (n,).

    `mixture` holds the K kinds of variables, the nulls first: a Gaussian without spread at zero.
    """

    alpha: Array
    rho: Array
    Delta: Array
    lam: Array
    lam2: Array | None
    """None where no point has a ridge part, which takes a shorter way."""
    law: CountLaw
    mixture: Mixture
    copies: int

    @classmethod
    def of_kinds(
        cls,
        alpha: Array,
        rho: Array,
        Delta: Array,
        lam: Array,
        lam2: Array | None = None,
        *,
        law: CountLaw,
        kinds: Mixture,
        copies: int,
    ) -> IidEquations:
        """Return the equations for kinds of variables; a ridge part that is zero is none."""
        ridge = lam2 if lam2 is not None and lam2.any() else None
        points = {"alpha": alpha, "rho": rho, "Delta": Delta, "lam": lam}
        return cls(**points, lam2=ridge, law=law, mixture=kinds, copies=copies)

    def take(self, index: IntArray | BoolArray) -> IidEquations:
        """Return the same equations at a part of the points."""
        return IidEquations(
            alpha=self.alpha[index],
            rho=self.rho[index],
            Delta=self.Delta[index],
            lam=self.lam[index],
            lam2=None if self.lam2 is None else self.lam2[index],
            law=self.law.take(index),
            mixture=self.mixture,
            copies=self.copies,
        )

    def _fields(self, Q: Array, T: Array) -> tuple[Array | None, Array, Array]:
        """Return mean and variance of the field of each kind, (n, K), and lam, (n, 1)."""
        mean = Q[:, None] * self.mixture.mean if self.mixture.mean.any() else None
        var = T[:, None] + (Q[:, None] * self.mixture.sd) ** 2
        return mean, var, self.lam[:, None]

    def curvature(self, Q: Array) -> Array:
        """Return K = Q + lam2: the estimate is S(h; lam) / K."""
        return Q if self.lam2 is None else Q + self.lam2

    def share(self, copies: int = 0) -> Array:
        """Return the numbers of variables of each kind, for each variable of the data, (n, K)."""
        share = self.rho[:, None] * self.mixture.probability
        share[:, 0] = 1.0 - self.rho + copies
        return share

    def member(self, Q: Array, T: Array) -> MemberSums:
        """Return the sums over one member at fields of slope Q and noise T, copies included."""
        mean, var, lam = self._fields(Q, T)
        one = one_member(mean, var, lam)
        slope, noise, spread = Q[:, None], T[:, None], self.mixture.sd**2
        var_Q = 2.0 * slope * spread
        P_var = 0.5 * one.edge / var
        if mean is not None:
            P_var = P_var - 0.5 * mean * one.gap / var
        outside = 2.0 * noise * P_var - one.edge  # N_var + active - 1
        N_var, N_T = outside + (1.0 - one.active), outside + one.active
        P_Q, N_Q = var_Q * P_var, var_Q * N_var
        if mean is not None:
            P_Q = P_Q + self.mixture.mean * one.gap
            more = (noise - var) * one.gap + mean * (1.0 - one.active)
            N_Q = N_Q + 2.0 * self.mixture.mean * more
        N = self._off(slope, noise, one)
        if self.lam2 is not None:
            more, inside = self._ridge(self.lam2[:, None], slope, mean, var, lam)
            twice = 2.0 * self.lam2[:, None]
            # slopes of E[w0 clip(h)] = mu E clip(h) + Q sd^2 P(|h| < lam)
            C_var = -slope * spread * P_var
            C_Q = spread * inside + var_Q * C_var
            if mean is not None:
                mu = self.mixture.mean
                C_var = C_var - 0.5 * mu * one.gap
                C_Q = C_Q - mu * var_Q * one.gap + mu**2 * inside
            N, N_Q, N_T = N + more, N_Q + twice * C_Q, N_T + twice * C_var
        every = np.array((one.active, P_Q, P_var, N, N_Q, N_T))
        return MemberSums._make(np.vecdot(self.share(self.copies), every))

    def _off(self, Q: Array, T: Array, one: MemberMoments) -> Array:
        """Return E (S(h) - Q w0)^2 of each kind, (n, K), in the form that does not cancel.

        With h = Q w0 + n, n ~ N(0, T), and S(h) = h - clip(h) the error S(h) - Q w0 is
        n - clip(h), and Stein's lemma gives T (2 P - 1) + E clip(h)^2: right for strong signals.
        Where noise rules, the three terms of the square are added as they stand.
        """
        mu, variance = self.mixture.mean, self.mixture.sd**2
        square = Q * Q
        size = square * (mu * mu + variance)
        strong = T * (2.0 * one.active - 1.0) + one.clipped
        weak = one.square + size - 2.0 * square * variance * one.active
        if mu.any():
            weak = weak - 2.0 * Q * mu * one.first
        return np.where(size > T, strong, weak)

    def _ridge(
        self, ridge: Array, Q: Array, mean: Array | None, var: Array, lam: Array
    ) -> tuple[Array, Array]:
        """Return what a ridge part adds to `_off`, (n, K), and P(|h| < lam).

        E (S(h) - K w0)^2 has K = Q + lam2: S(h) - Q w0 = n - clip(h), and n does not know w0, so
        that 2 lam2 E[w0 clip(h)] + lam2^2 E[w0^2] is added, and both terms are positive.
        """
        mu, variance = self.mixture.mean, self.mixture.sd**2
        inside, clipped = clipped_mean(mean, var, lam)
        pull = mu * clipped + Q * variance * inside
        return ridge * (2.0 * pull + ridge * (mu * mu + variance)), inside

    def spread(self, Q: Array, T: Array, own: Array) -> tuple[Array, Array]:
        """Return K^2 v, and its slope P(both active) in own = v_hat, without copies."""
        mean, var, lam = self._fields(Q, T)
        pair = two_members(mean, var, own[:, None], lam)
        share = self.share()
        return (
            np.vecdot(share, pair.spread),
            np.vecdot(share, pair.both),
        )

    def step(self, error: Array, own: Array, chi: Array) -> Order:
        """Make one undamped step as the article writes it: conjugates, then the overlaps anew.

        The state is E, v + v_tilde and chi + chi_tilde: the equations need no more.
        """
        f = self.law.averages(chi)
        Q = self.alpha * f.f1
        chi_hat = self.alpha * f.f1**2 * error
        v_hat = self.alpha * (self.law.variance(f, chi) * error + f.f2 * own)
        T = chi_hat + v_hat
        nothing = dict.fromkeys(("q", "m", "chi", "v", "chi_tilde", "v_tilde"), np.zeros_like(Q))
        error = self.rho + self.Delta
        out = Order(**nothing, error=error, Q_hat=Q, chi_hat=chi_hat, v_hat=v_hat)
        live = T > 0.0
        if live.all():
            return out._replace(**self.overlaps(Q, T, v_hat))
        if not live.any():
            return out
        new = self.take(live).overlaps(Q[live], T[live], v_hat[live])
        full = {name: np.array(getattr(out, name)) for name in new}
        for name, part in new.items():
            full[name][live] = part
        return out._replace(**full)

    def overlaps(self, Q: Array, T: Array, v_hat: Array) -> dict[str, Array]:
        """Return order parameters at fields of slope Q and noise T > 0, v_hat a member's own."""
        mean, var, lam = self._fields(Q, T)
        share = self.share()
        one = one_member(mean, var, lam)
        active = one.active
        square = soft_square(mean, var, lam)
        # E[w0 S]/Q of a component N(mu, sd^2): mu E S/Q + sd^2 P, by Stein's lemma
        overlap = self.mixture.sd**2 * active
        if mean is not None:
            overlap = overlap + self.mixture.mean * one.first / Q[:, None]
        spread, _ = self.spread(Q, T, v_hat)
        off = self._off(Q[:, None], T[:, None], one)
        if self.lam2 is not None:
            off = off + self._ridge(self.lam2[:, None], Q[:, None], mean, var, lam)[0]
        K = self.curvature(Q)
        return {
            "q": np.maximum(np.vecdot(share, square) - spread, 0.0) / K**2,
            "m": np.maximum(np.vecdot(share, overlap), 0.0) * (Q / K),
            "chi": np.vecdot(share, active) / K,
            "v": spread / K**2,
            "chi_tilde": self.copies * active[:, 0] / K,
            "v_tilde": self.copies * square[:, 0] / K**2,
            "error": self.Delta + (np.vecdot(share, off) - spread) / K**2,
        }

    def mean_absolute(self, Q: Array, T: Array) -> Array:
        """Return E|w_hat| (+ E|w_tilde|), the slope of the cost per variable in lam."""
        mean, var, lam = self._fields(Q, T)
        absolute = soft_absolute(mean, var, lam)
        return np.asarray(np.vecdot(self.share(self.copies), absolute) / self.curvature(Q))
