r"""What is believed of variables of which one of several versions is real.

A unit, a variable or a group of them, has V versions: its columns as they are, and knockoff copies
of them. Exactly one version is real, each with the same probability. The coefficient of a column of
the real version is zero with probability p0 and else normal of variance t2; all others are zero.

A column is seen through its cavity, what all data but its own prior say of its coefficient w while
the other versions of the column are zero: :math:`\exp(\eta w - C w^2 / 2)`. Then

.. math:: \log B = \frac{\eta^2}{2 (C + 1/t_2)} - \tfrac12 \log(1 + t_2 C) , \qquad
    m = p_0 + (1 - p_0) B

are the Bayes factor of a coefficient that is not zero, and the evidence for the column's version.
The evidence for a version is the product over its columns, and log odds that one version is the
real one and not another are differences of logarithms: a knockoff statistic.

`pair_messages` finds the cavities of many independent columns, `pair_propagation` those of any.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from selica._core.types import Array, IntArray

FEWEST_ZERO = 0.5
"""Share of coefficients that are zero in the real version, at least."""
MOST_ZERO = 1.0 - 1e-6
"""And at most, so that no version is without hope."""
NARROWEST = 1e-8
"""The variance of a coefficient is at least this share of what it would be if it were not zero."""


class PairCavities(NamedTuple):
    """What the data say of each column's coefficient while its other versions are zero."""

    eta: Array
    """(V, p): slope at zero."""
    precision: Array
    """(V, p): C, zero for a column that says nothing."""


class PairBeliefs(NamedTuple):
    """Coefficients given their cavities."""

    real: Array
    """(V, p): probability that a coefficient is not zero."""
    mean: Array
    """(V, p)."""
    variance: Array
    """(V, p)."""
    square: Array
    """(V, p): mean square of a coefficient that is not zero."""


class PairPrior(NamedTuple):
    """Prior of the coefficients of the real version.

    Examples
    --------
    >>> import numpy as np
    >>> from selica.amp.pairs import PairCavities, PairPrior
    >>> seen = PairCavities(np.array([[40.0, 0.0], [0.0, 0.0]]), np.full((2, 2), 100.0))
    >>> PairPrior(0.9, 0.01).evidence(seen, np.array([0, 1])).round(3).tolist()
    [[1.56, -0.03], [-0.03, -0.03]]
    """

    zero: float
    """Share p0 of coefficients that are zero."""
    variance: float
    """Variance t2 of the others."""

    def bayes_factors(self, seen: PairCavities) -> Array:
        """Return log B of every column, (V, p)."""
        growth = 0.5 * seen.eta**2 / (seen.precision + 1.0 / self.variance)
        return np.asarray(growth - 0.5 * np.log1p(self.variance * seen.precision))

    def column_evidence(self, seen: PairCavities) -> Array:
        """Return log m of every column, (V, p)."""
        some = np.log1p(-self.zero) + self.bayes_factors(seen)
        return np.asarray(np.logaddexp(np.log(self.zero), some))

    def evidence(self, seen: PairCavities, unit: IntArray) -> Array:
        """Return the logarithm of the evidence for each version of each unit, (V, units)."""
        return sums(self.column_evidence(seen), unit)

    def beliefs(self, seen: PairCavities, unit: IntArray) -> PairBeliefs:
        """Return means and variances of all coefficients."""
        some = np.log1p(-self.zero) + self.bayes_factors(seen)
        each = np.logaddexp(np.log(self.zero), some)
        version = sums(each, unit)
        version = version - np.logaddexp.reduce(version, axis=0)
        real = np.exp(version[:, unit] + some - each)
        variance = 1.0 / (seen.precision + 1.0 / self.variance)
        centre = variance * seen.eta
        square = variance + centre**2
        mean = real * centre
        spread = np.maximum(real * square - mean**2, NARROWEST * variance)
        return PairBeliefs(real, mean, spread, square)

    def learnt(self, seen: PairCavities, unit: IntArray, steps: int) -> PairPrior:
        """Return the prior after steps of expectation maximisation, the cavities held fixed.

        Weak hyperpriors keep it where it makes sense, also for few variables: p0 is uniform above
        one half, and t2 has an inverse gamma distribution of shape 2 and mean 1 / p, in units of
        the response's variance.
        """
        found, p = self, seen.eta.shape[1]
        for _ in range(steps):
            known = found.beliefs(seen, unit)
            active = float(known.real.sum())
            total = float((known.real * known.square).sum())
            zero = float(np.clip((1.0 + p - active) / (2.0 + p), FEWEST_ZERO, MOST_ZERO))
            found = PairPrior(zero, (1.0 / p + 0.5 * total) / (1.0 + 0.5 * active))
        return found

    def towards(self, other: PairPrior, share: float) -> PairPrior:
        """Return a prior on the way to another."""
        zero = (1.0 - share) * self.zero + share * other.zero
        return PairPrior(zero, self.variance ** (1.0 - share) * other.variance**share)


class PairFields(NamedTuple):
    """Where an iteration ended."""

    seen: PairCavities
    prior: PairPrior
    noise: float
    """Variance of the response that the variables do not explain."""
    mean: Array
    """(V, p): means of the coefficients."""


def sums(values: Array, unit: IntArray) -> Array:
    """Return the sums over the columns of each unit, (V, units)."""
    n_units = int(unit.max(initial=-1)) + 1
    return np.stack([np.bincount(unit, weights=row, minlength=n_units) for row in values])
