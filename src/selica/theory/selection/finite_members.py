r"""Rates of ensembles with a finite number of members.

With B members a variable of selection probability :math:`\Pi` is selected when at least
:math:`k = \lceil B\,\Pi_{th} \rceil` of them agree, which has the probability
:math:`P(\mathrm{Bin}(B, \Pi) \ge k) = I_\Pi(k, B - k + 1)`. It replaces the step
:math:`1(\Pi > \Pi_{th})`, and is averaged over the law of the field.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import betainc, betainccinv, betaincinv

from selica._core.effects import Mixture
from selica._core.quadrature import panels
from selica._core.scalar import density
from selica._core.types import Array
from selica._core.validation import count
from selica.theory.selection.rates import Rates, make_rates, two_sided

_ORDER = 12
# Panels of the quadrature end where I_Pi(k, B - k + 1) has these values, and symmetrically.
_LEVELS = np.array([1e-17, 1e-13, 1e-10, 1e-7, 1e-5, 1e-3, 0.01, 0.05, 0.15, 0.3, 0.5])
_REACH = np.linspace(-9.0, 9.0, 19)  # standard deviations of the field
_CERTAIN = 1.0 - 1e-16


def votes_needed(Pi_th: Array, n_members: int) -> Array:
    """How many of the members have to select a variable."""
    return np.ceil(n_members * np.asarray(Pi_th) - 1e-9)


def member_rates(
    Pi_th: Array,
    n_members: int,
    rho: Array,
    field: tuple[Array, Array],
    signals: Mixture,
    threshold: Callable[[Array], Array],
    probability: Callable[[Array], Array],
) -> Rates:
    """Rates of the rule "at least Pi_th n_members members".

    Parameters
    ----------
    Pi_th : array
        At the common shape of everything.
    n_members : int
    rho : array
    field : (slope, chi_hat)
        The field of a variable with effect w is N(slope w, chi_hat).
    signals : Mixture
        Law of the effects, folded.
    threshold, probability : callable
        g of a selection probability, and back; arguments have one more axis, the last.
    """
    count("n_members", n_members)
    k = votes_needed(Pi_th, n_members)[..., None]
    # with no vote needed everything is selected; the first vote stands in for it below
    a, b = np.maximum(k, 1.0), n_members - np.maximum(k, 1.0) + 1.0
    below, above = betaincinv(a, b, _LEVELS), betainccinv(a, b, _LEVELS[-2::-1])
    Pi = np.minimum(np.concatenate([below, above], axis=-1), _CERTAIN)
    knots = threshold(Pi)

    def rate(mean: Array, sd: Array) -> Array:
        """Chance that a variable whose field is N(mean, sd^2) is selected."""
        mean, sd = np.broadcast_arrays(mean, sd)
        mean, sd = mean[..., None], sd[..., None]
        low, high = knots[..., :1], knots[..., -1:]
        own = np.clip(np.abs(mean) + sd * _REACH, low, high)
        cuts = np.sort(np.concatenate([np.broadcast_to(knots, own.shape[:-1] + knots.shape[-1:]),
                                       own], axis=-1), axis=-1)  # fmt: skip
        g, weight = panels(cuts, _ORDER)
        with np.errstate(divide="ignore", invalid="ignore"):
            law = (density((g - mean) / sd) + density((g + mean) / sd)) / sd
        between = np.sum(weight * law * betainc(a, b, probability(g)), axis=-1)
        smooth = between + two_sided(high, mean, sd**2)[..., 0]
        certain = betainc(a, b, probability(np.abs(mean)))[..., 0]
        return np.asarray(np.where(sd[..., 0] > 0.0, smooth, certain))

    slope, chi_hat = field
    nobody = k[..., 0] <= 0.0
    fpr = np.where(nobody, 1.0, rate(np.zeros(()), np.sqrt(chi_hat)))
    tpr = np.zeros(())
    for mean, sd, share in zip(*signals, strict=True):
        tpr = tpr + share * rate(slope * mean, np.sqrt((slope * sd) ** 2 + chi_hat))
    return make_rates(rho, np.where(nobody, 1.0, tpr), fpr)
