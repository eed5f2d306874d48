r"""Distributions of the row weights: how often a row of the data enters one member of the ensemble.

A member gives row :math:`\mu` the weight :math:`c_\mu`. In the large-system limit the weights are
independent draws from one distribution, and the theory needs the averages

.. math:: f_k = E_c\!\left[\left(\frac{c}{1 + \chi c}\right)^k\right] .

Each distribution is a list of nodes and probabilities that are exact, or exact to rounding, for
these functions at every :math:`\chi \ge 0`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import eigh_tridiagonal
from scipy.special import gammaln

from selica._core.errors import ArgumentError
from selica._core.types import Array, BoolArray, IntArray
from selica._core.validation import LARGEST, choice, positive

RESAMPLINGS = ("poisson", "bernoulli", "exponential")
"""Ways to weight rows."""

# From here on a Poisson count has exp(-rate) < 1e-34 at zero: nothing is lost when Gauss nodes
# treat its distribution as smooth, and 40 of them are exact to rounding.
_POISSON_GAUSS = 80.0
_POISSON_NODES = 40


class CountAverages(NamedTuple):
    """Averages over the row weights at one susceptibility chi; see `CountLaw.averages`."""

    f1: Array
    f2: Array
    f3: Array


class CountLaw(NamedTuple):
    """Nodes and probabilities of the weight of a row, shape (points, nodes)."""

    weight: Array
    """Weights a row can have."""
    probability: Array

    def averages(self, chi: Array) -> CountAverages:
        """Return f_1, f_2, f_3 at susceptibilities chi, shape (points,)."""
        k = self.weight / (1.0 + chi[:, None] * self.weight)
        pk = self.probability * k
        pk2 = pk * k
        return CountAverages(pk.sum(axis=1), pk2.sum(axis=1), np.vecdot(pk2, k))

    def variance(self, averages: CountAverages, chi: Array) -> Array:
        """Return f_2 - f_1^2, summed as a variance."""
        chi = chi[:, None]
        y = 1.0 / (1.0 + chi * self.weight)
        # where k = (1 - y)/chi saturates, y still tells the counts apart
        small = chi * np.vecdot(self.probability, self.weight)[:, None] < 1.0
        off = np.where(
            small,
            self.weight * y - averages.f1[:, None],
            (y - np.vecdot(self.probability, y)[:, None]) / np.where(small, 1.0, chi),
        )
        return np.asarray(np.vecdot(self.probability, off**2))

    def loss_factor(self, chi: Array) -> Array:
        """Return E_c[c / (1 + chi c)^2], the factor of the training loss in a cost per variable."""
        each = self.weight / (1.0 + chi[:, None] * self.weight) ** 2
        return np.asarray(np.vecdot(self.probability, each))

    def take(self, index: IntArray | BoolArray) -> CountLaw:
        """Return the row weights at some of the points."""
        return CountLaw(self.weight[index], self.probability[index])


def check_rate(name: str, rate: ArrayLike, resampling: object) -> Array:
    """Return the rate of a resampling scheme, checked; of "bernoulli" it is a probability."""
    law = choice("resampling", resampling, RESAMPLINGS)
    return positive(name, rate, at_most=1.0 if law == "bernoulli" else LARGEST)


def count_law(resampling: str, rate: Array) -> CountLaw:
    """Return nodes of the distribution of the row weights, one row of nodes for each rate.

    Parameters
    ----------
    resampling : {"poisson", "bernoulli", "exponential"}
        Bootstrap with replacement, subsampling without, Bayesian bootstrap.
    rate : array of shape (points,)
        Mean weight; for "bernoulli" the probability that a row is kept, at most one.
    """
    if resampling == "poisson":
        return _poisson(rate)
    if resampling == "bernoulli":
        return CountLaw(
            np.broadcast_to([0.0, 1.0], (rate.size, 2)), np.stack([1.0 - rate, rate], axis=1)
        )
    if resampling == "exponential":
        node, probability = exponential_nodes()
        return CountLaw(rate[:, None] * node, np.broadcast_to(probability, (rate.size, node.size)))
    raise ArgumentError.choice("resampling", resampling, RESAMPLINGS)


def single_fit(points: int) -> CountLaw:
    """Return the row weights of a single fit: every row once."""
    one = np.ones((points, 1))
    return CountLaw(one, one)


def _poisson(rate: Array) -> CountLaw:
    if rate.size == 1:
        return _poisson_table(float(rate[0]))
    unique, inverse = np.unique(rate, return_inverse=True)
    tables = [_poisson_table(float(mu)) for mu in unique]
    length = max(table.weight.shape[1] for table in tables)
    count = np.zeros((unique.size, length))
    probability = np.zeros((unique.size, length))
    for i, table in enumerate(tables):
        size = table.weight.shape[1]
        count[i, :size] = table.weight[0]
        probability[i, :size] = table.probability[0]
    return CountLaw(count[inverse], probability[inverse])


@lru_cache(maxsize=4096)
def _poisson_table(mu: float) -> CountLaw:
    if mu <= _POISSON_GAUSS:
        # the tail beyond is below 1e-17 for every rate up to the switch
        c = np.arange(np.ceil(mu + 9.5 * np.sqrt(mu) + 18.0), dtype=float)
        table = CountLaw(c[None], np.exp(c * np.log(mu) - mu - gammaln(c + 1.0))[None])
    else:
        # Golub-Welsch for the Charlier polynomials, centred at the mean to keep the spread
        k = np.arange(_POISSON_NODES, dtype=float)
        node, vector = eigh_tridiagonal(k, np.sqrt(k[1:] * mu))
        table = CountLaw(np.asarray(mu + node)[None], np.asarray(vector[0] ** 2)[None])
    for part in table:  # shared by everyone who asks for this rate
        part.setflags(write=False)
    return table


def exponential_nodes() -> tuple[Array, Array]:
    """Return a trapezoidal rule in log c for exp(-c) dc, exact to rounding for f_k at any chi.

    In x = log c the integrand is analytic in |Im x| < pi/2, so that a step of 0.25 errs by
    exp(-pi^2 / 0.25) = 7e-18; below x = -37 and above x = 3.7 nothing is left.
    """
    x = np.arange(-37.0, 3.75, 0.25)
    node = np.exp(x)
    weight = 0.25 * node * np.exp(-node)
    return node, weight / weight.sum()
