r"""What a design and row weights make of freedom: the fields of a variable, for any spectrum.

Let :math:`F = \chi\hat Q` be the degrees of freedom for each variable; without a ridge part of the
penalty they are the share of active variables. Two scalar equations,

.. math:: E_L\frac{L}{g+L} = F = \alpha\, E_c\frac{c}{c+\theta},

fix g and :math:`\theta`, and everything else follows without iteration (docs/general-designs.md):
the response :math:`\hat Q` of a field, and the variances of the fields, which are linear in the
squared error of the estimate and in the noise. With independent entries
:math:`\hat Q = \alpha f_1`, and the coefficients are :math:`\alpha f_2` and :math:`\alpha f_1^2`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import expit, log_expit

from selica._core.counts import CountLaw
from selica._core.root import find_root
from selica._core.types import Array, BoolArray, IntArray
from selica.theory.spectrum.spectra import Spectrum

_LARGEST_LOG_ODDS = 70.0  # log odds beyond which the fields do not change


class Response(NamedTuple):
    """Fields at a freedom F, shape (n,): variances are for each unit of error and of noise."""

    Q: Array
    """Response of the field to the effect."""
    a: Array
    """Variance of a member's field, for each unit of its squared error."""
    b: Array
    """The same for each unit of the noise."""
    a_shared: Array
    """Covariance of two members' fields, for each unit of the covariance of their errors."""
    a_own: Array
    """a - a_shared, without a difference."""
    b_own: Array
    loss_error: Array
    """Training loss of a member, for each unit of its squared error."""
    loss_noise: Array


class SpectralDesign(NamedTuple):
    """A spectrum and row weights, at n points."""

    spectrum: Spectrum
    law: CountLaw
    alpha: Array

    @property
    def most(self) -> Array:
        """F is below this share: of rows seen, or of directions there are."""
        seen = np.vecdot(self.law.probability, self.law.weight > 0.0)
        return np.asarray(np.minimum(self.alpha * seen, self.spectrum.rank))

    def take(self, index: IntArray | BoolArray) -> SpectralDesign:
        """Return the same at a part of the points."""
        return SpectralDesign(self.spectrum, self.law.take(index), self.alpha[index])

    def freedom(self, y: Array) -> Array:
        """Return F at its log odds y against `most`."""
        return np.asarray(self.most * expit(y))

    def _log_odds(self, y: Array, limit: Array) -> Array:
        """Return log(F/(limit - F)) for a limit of at least `most`."""
        most = self.most
        return np.asarray(np.log(most) + log_expit(y) - np.log(limit - most + most * expit(-y)))

    def _spectral(self, y: Array) -> Array:
        """Return g with E[L/(g + L)] = F, in logarithms."""
        some = self.spectrum.values > 0.0
        L, p = self.spectrum.values[some], self.spectrum.weights[some]
        rank, mean = self.spectrum.rank, self.spectrum.mean

        def equation(log_g: Array, index: IntArray) -> tuple[Array, Array]:
            g = np.exp(log_g)[:, None]
            share, other = L / (g + L), g / (g + L)
            # log odds against the rank are close to linear in log g
            value, rest = share @ p, other @ p
            return goal[index] - np.log(value / rest), (share * other) @ p * rank / (value * rest)

        goal = self._log_odds(y, np.asarray(rank))
        return find_root(equation, np.log(mean / rank) - goal, max_step=8.0, max_iter=200).x

    def _counted(self, y: Array) -> Array:
        """Return theta with alpha E[c/(c + theta)] = F, in logarithms."""
        c, prob = self.law.weight, self.law.probability
        seen, mean = np.vecdot(prob, c > 0.0), np.vecdot(prob, c)
        goal = self._log_odds(y, self.alpha * seen)
        some = c > 0.0

        def equation(log_t: Array, index: IntArray) -> tuple[Array, Array]:
            theta, weight = np.exp(log_t)[:, None], prob[index]
            share, other = c[index] / (c[index] + theta), theta / (c[index] + theta) * some[index]
            value, rest = np.vecdot(weight, share), np.vecdot(weight, other)
            slope = np.vecdot(weight, share * other)
            return goal[index] - np.log(value / rest), slope * seen[index] / (value * rest)

        return find_root(equation, np.log(mean / seen) - goal, max_step=8.0, max_iter=200).x

    def response(self, y: Array) -> Response:
        """Return the fields at log odds of the freedom; they tend to limits on both sides."""
        y = np.clip(y, -_LARGEST_LOG_ODDS, _LARGEST_LOG_ODDS)
        L, p = self.spectrum.values, self.spectrum.weights
        g = np.exp(self._spectral(y))[:, None]
        theta = np.exp(self._counted(y))[:, None]
        D = g + L
        S, J02, J12 = (1.0 / D) @ p, (1.0 / D**2) @ p, (L / D**2) @ p
        # Var(1/D): for large g by the shares L/D = 1 - g/D, which differ where 1/D does not
        large = g[:, 0] > self.spectrum.mean
        share = L / D
        by_share = (share - (share @ p)[:, None]) ** 2 @ p / g[:, 0] ** 2
        spread = np.where(large, by_share, (1.0 / D - S[:, None]) ** 2 @ p)
        beta = J12 / J02
        curved = ((L - beta[:, None]) / D) ** 2 @ p  # J22 - J12^2 / J02

        c, prob = self.law.weight, self.law.probability
        k = 1.0 / (c + theta)
        k1 = np.vecdot(prob, k)
        seen = c * k
        kappa = np.vecdot(prob, seen) / k1
        theta = theta[:, 0]
        # Var k / k1^2, by k or by c k = 1 - theta k
        wide = theta > np.vecdot(prob, c)
        one = np.vecdot(prob, (k - k1[:, None]) ** 2)
        two = np.vecdot(prob, (seen - np.vecdot(prob, seen)[:, None]) ** 2) / theta**2
        omega = np.where(wide, two, one) / k1**2

        t = curved / (self.alpha * (kappa * k1) ** 2)
        rest = 1.0 - omega * (t - 1.0)
        r = beta / (self.alpha * k1**2)
        a_shared = kappa**2 * spread / (S**2 * J02)
        b_shared = kappa**2 * beta
        a_own = beta * omega * r / rest
        b_own = beta * omega * (theta**2 + kappa**2 * (t - 1.0)) / rest
        # the rows' residuals (theta eps - n)/(c + theta), n of variance r e + (t - 1) T_row
        row_e, row_noise = omega * r / rest, (kappa**2 + omega * theta**2) / rest
        factor = 0.5 * self.alpha * np.vecdot(prob, seen * k)
        return Response(
            Q=self.freedom(y) * kappa / S,
            a=a_shared + a_own,
            b=b_shared + b_own,
            a_shared=a_shared,
            a_own=a_own,
            b_own=b_own,
            loss_error=factor * (r + (t - 1.0) * row_e),
            loss_noise=factor * (theta**2 + (t - 1.0) * row_noise),
        )
