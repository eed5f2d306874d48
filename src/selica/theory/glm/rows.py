r"""What rows make of order parameters: averages over truth, fit, class and weight of one row.

A row has the true predictor :math:`z_0 \sim N(0, T)` and, for one member, the cavity field
:math:`\omega`, Gaussian with variance q + v and covariance m with z_0; two members of one data set
have fields of covariance q. A member of weight c fits

.. math:: \hat z = \arg\min_z\; c\,\ell(y, z) + (z - \omega)^2 / (2\chi), \qquad
    G = (\hat z - \omega)/\chi = -c\,\ell'(y, \hat z) .

Averages over z_0 given :math:`\omega`, and over :math:`\omega`, are trapezoidal sums. As functions
of a field, the logistic function and G are analytic at distances below pi from the real axis, for
every :math:`\chi c` (docs/logistic.md): the sums converge exponentially, to 1e-13 at the steps
below.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from selica._core.losses.base import LabelledLoss
from selica._core.types import Array

if TYPE_CHECKING:
    from scipy.interpolate import BSpline

_STEP = 0.45
"""Of a field, by the strip of analyticity: exp(-2 pi^2 / 0.45) = 1e-19."""
_STEP_SD = 0.65
"""In standard deviations, by the Gaussian: exp(-2 pi^2 / 0.65^2) = 5e-21."""
_REACH = 9.0
"""Standard deviations that are summed over; the rest weighs 2e-19."""
_MOST_NODES = 20_001
"""Nodes of a sum, at most."""
_TABLE_STEP = 0.125
"""Distance of the nodes of a table of G."""
_DEGREE = 9
"""Degree of the spline through them, which errs by less than 1e-14."""
_LITTLE = 1e-18
"""Share of the total weight that is left out."""
_NOTHING = 1e-200
"""Fields of such a variance are zero."""


class Averages(NamedTuple):
    """Fields that the rows send to a variable, from one member."""

    Q_hat: float
    m_hat: float
    total: float
    """T_hat = chi_hat + v_hat = alpha E G^2."""
    own: float
    """The part of v_hat that does not need a spread of the fields: alpha E Var_c G."""
    loss: float
    """Training loss for each variable."""


class Shared(NamedTuple):
    """What two members have in common, at one v; see `Pairs`."""

    chi_hat: float
    v_hat: float
    slope: float
    """d v_hat / d v = alpha E[G_1' G_2']."""


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of one model: alpha, strength of the signal, loss, row weights (nodes,)."""

    alpha: float
    T: float
    loss: LabelledLoss
    weight: Array
    probability: Array

    @classmethod
    def of(
        cls, alpha: float, T: float, loss: LabelledLoss, weight: Array, probability: Array
    ) -> Rows:
        """Make rows; weights that add nothing to any sum are one weight of zero."""
        gain = weight * probability
        often = gain > _LITTLE * gain.sum()
        rest = float(probability[~often].sum())
        weight, probability = weight[often], probability[often]
        if rest > 0.0:
            weight, probability = np.append(0.0, weight), np.append(rest, probability)
        return cls(alpha, T, loss, weight, probability)

    def member(self, m: float, total: float, chi: float) -> Averages:
        """Return averages over one member, with fields of variance `total` = q + v."""
        omega, share, slope = self._fields(m, total)
        y = self.loss.labels[:, None, None]
        c, p = self.weight, self.probability
        z = self._fit(omega, chi)
        G = -c * self.loss.slope(y, z)
        curve = c * self.loss.curvature(y, z)
        mean = G @ p
        varied = (G - mean[..., None]) ** 2 @ p
        return Averages(
            Q_hat=self.alpha * float(np.sum(share * ((curve / (1.0 + chi * curve)) @ p))),
            m_hat=self.alpha * float(np.sum(slope * mean)),
            total=self.alpha * float(np.sum(share * (mean**2 + varied))),
            own=self.alpha * float(np.sum(share * varied)),
            loss=self.alpha * float(np.sum(share * (self.loss.value(y, z) @ (c * p)))),
        )

    def pairs(self, m: float, total: float, chi: float) -> Pairs:
        """Return averages over two members, for every v."""
        reach = (_REACH + 0.1) * np.sqrt(2.0 * total) + 10.0 * _TABLE_STEP
        grid = np.linspace(-reach, reach, int(np.ceil(2.0 * reach / _TABLE_STEP)) + 1)
        y = self.loss.labels[:, None, None]
        mean = (-self.weight * self.loss.slope(y, self._fit(grid, chi))) @ self.probability
        from scipy.interpolate import make_interp_spline  # a quarter of a second, seldom needed

        table = make_interp_spline(grid, mean, k=_DEGREE, axis=1)
        return Pairs(self, m, total, self.member(m, total, chi).own, table)

    def _fields(self, m: float, variance: float) -> tuple[Array, Array, Array]:
        """Return nodes of a field, and weights of p(y|z0) and its slope for each class, (J, n)."""
        ratio = m / variance if variance > _NOTHING else 0.0
        sd = np.sqrt(variance) if variance > _NOTHING else 0.0
        rest = np.sqrt(max(self.T - m * ratio, 0.0))
        omega, weight = gauss(sd, ratio, rest)
        beside, inner = gauss(rest)
        z0 = ratio * omega[:, None] + beside
        y = self.loss.labels[:, None, None]
        many = self.loss.multiplicity[:, None] * weight
        return (
            omega,
            many * (self.loss.chance(y, z0) @ inner),
            many * (self.loss.chance_slope(y, z0) @ inner),
        )

    def _fit(self, omega: Array, chi: float) -> Array:
        """Return z_hat of each class, field and weight, (J, n, C)."""
        shape = (self.loss.labels.size, omega.size, self.weight.size)
        field = np.broadcast_to(omega[:, None], shape)
        label = np.broadcast_to(self.loss.labels[:, None, None], shape)
        pull = np.broadcast_to(chi * self.weight, shape)
        return self.loss.proximal(label.ravel(), field.ravel(), pull.ravel()).reshape(shape)


@dataclass(frozen=True, slots=True)
class Pairs:
    """Two members of one data set, as functions of the variance v that they do not share."""

    rows: Rows
    m: float
    total: float
    own: float
    table: BSpline
    """E_c G of a field, for each class."""

    def largest(self) -> float:
        """Return the bound of v that follows from q >= m^2 / T."""
        known = self.m**2 / self.rows.T if self.rows.T > 0.0 else 0.0
        return max(self.total - known, 0.0)

    def at(self, v: float) -> Shared:
        """Return chi_hat and v_hat when fields of members have the variance v around their mean."""
        omega, share, _ = self.rows._fields(self.m, max(self.total - v, 0.0))
        beside, weight = gauss(np.sqrt(max(v, 0.0)))
        field = omega[:, None] + beside
        G = self.table(field)  # (J, n, nodes of v)
        mean = G @ weight
        spread = (G - mean[..., None]) ** 2 @ weight
        slope = self.table(field, 1) @ weight
        alpha = self.rows.alpha
        return Shared(
            chi_hat=alpha * float(np.sum(share * mean**2)),
            v_hat=self.own + alpha * float(np.sum(share * spread)),
            slope=alpha * float(np.sum(share * slope**2)),
        )


def gauss(sd: float, ratio: float = 0.0, rest: float = 0.0) -> tuple[Array, Array]:
    """Return a trapezoidal rule for functions of x ~ N(0, sd^2) and of ratio * x + rest * u.

    The latter are averaged over a Gaussian u, and are smooth on the scale rest / ratio.
    """
    if sd == 0.0:
        return np.zeros(1), np.ones(1)
    step = min(_STEP, _STEP_SD * sd)
    if abs(ratio) > 1.0:
        smooth = sd * rest / np.hypot(rest, sd * ratio)
        step = min(step, max(_STEP / abs(ratio), _STEP_SD * smooth))
    half = min(int(np.ceil(_REACH * sd / step)), _MOST_NODES // 2)
    x: Array = np.linspace(-_REACH * sd, _REACH * sd, 2 * half + 1)
    weight = np.exp(-0.5 * (x / sd) ** 2)
    return x, np.asarray(weight / weight.sum())
