"""What a selection that is empty would have needed: another level, or more rows.

Levels are found by running the rule again. The number of rows follows from how strong the strongest
associations are: a variable whose association with the response has the size z in standard errors,
in n rows, has z sqrt(N / n) in N rows, with an error of one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np
from scipy.special import bdtrc, ndtr, ndtri

from selica._core.rounding import ceiling
from selica._core.types import Array
from selica.statistics import Data
from selica.statistics.data import null_gradient

FDR_LEVELS = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5)
"""False discovery rates that are tried in turn."""
PFER_LEVELS = (0.1, 0.2, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0)
"""Expected numbers of false selections that are tried in turn."""
CHANCE = 0.8
"""Probability with which so many rows would select a variable."""
_FEWEST_ROWS = 20
"""Rows below which a standard error says too little."""
_LARGEST_SHARE = 0.999
"""Share of the halves of the rows above which a threshold is as good as one."""


class Alternative(NamedTuple):
    """A level at which the same rule selects some variables."""

    level: float
    selected: int
    before: float | None
    """The level tried before, at which nothing is selected."""

    def sentence(self, name: str) -> str:
        """Say what the two levels select; `name` is what the level is called."""
        many = "1 variable" if self.selected == 1 else f"{self.selected} variables"
        none = "" if self.before is None else f", and {name} {self.before:g} none"
        return f"{name} {self.level:g} would select {many}{none}."


def first_that_selects(
    levels: Iterable[float], selected: Callable[[float], int]
) -> Alternative | None:
    """Return the first of some levels that selects any variable; None if there is none.

    Parameters
    ----------
    levels : iterable of float
        In the order in which they are tried.
    selected : callable
        How many variables the rule selects at a level.
    """
    before = None
    for level in levels:
        number = selected(level)
        if number:
            return Alternative(level, number, before)
        before = level
    return None


class Demand(NamedTuple):
    """What a rule asks of the strongest variables before it selects any.

    Examples
    --------
    >>> from selica.selectors.empty import of_copies
    >>> round(of_copies(100, share=0.5).size, 2)
    2.7
    """

    variables: int
    """How many variables a selection has at least."""
    size: float
    """Association that each of them must reach, in standard errors."""


def of_halves(p: int, q: int, threshold: float) -> Demand:
    """Return what a threshold on the share of the halves that select a variable asks for.

    A half of the rows selects its first q of p variables: those of associations above c, where
    q/p of the irrelevant ones are. Given the association z in all rows, that in a half is normal
    about z / sqrt 2 with a variance of 1/2, so that the share of the halves is Phi(z - sqrt 2 c).

    Parameters
    ----------
    p, q : int
        Variables, and how many of them a half selects.
    threshold : float
        Share of the halves that a variable needs.

    Examples
    --------
    >>> from selica.selectors.empty import of_halves
    >>> round(of_halves(1000, 20, 0.9).size, 2)
    4.57
    """
    half = float(ndtri(1.0 - 0.5 * min(q / p, 1.0 - 1e-12)))
    return Demand(1, 2.0**0.5 * half + float(ndtri(min(threshold, _LARGEST_SHARE))))


def of_copies(p: int, share: float, variables: int = 1) -> Demand:
    """Return what it takes to be ahead of all p knockoff copies, in a share of the draws of them.

    The largest association of p irrelevant copies stays below z with the probability
    (2 Phi(z) - 1)^p.

    Parameters
    ----------
    p : int
    share : float
    variables : int
        How many variables a selection has at least.

    Examples
    --------
    >>> from selica.selectors.empty import of_copies
    >>> of_copies(1, 0.5).size < of_copies(1000, 0.5).size
    True
    """
    below = min(max(share, 1e-3), _LARGEST_SHARE) ** (1.0 / p)
    return Demand(variables, float(ndtri(0.5 * (1.0 + below))))


def of_p_values(p: int, level: float) -> Demand:
    """Return what the smallest of p p-values needs at a false discovery rate.

    Examples
    --------
    >>> from selica.selectors.empty import of_p_values
    >>> round(of_p_values(1000, 0.1).size, 2)
    3.89
    """
    return Demand(1, float(ndtri(1.0 - 0.5 * min(level, 1.0) / p)))


def standard_errors_per_association(data: Data) -> float:
    """Return by how much an association of a refit is to be multiplied to be in standard errors.

    Where nothing is associated with the response, the sum of slopes times a standardised column has
    the sum of their squares as its variance; of rows that belong together, the sum of the squares
    of their sums, if the column is constant within them.

    Examples
    --------
    >>> import numpy as np
    >>> from selica.selectors.empty import standard_errors_per_association
    >>> from selica.statistics import make_data
    >>> rng = np.random.default_rng(0)
    >>> data = make_data(rng.standard_normal((400, 3)), rng.standard_normal(400), "squared")
    >>> round(standard_errors_per_association(data), 6)
    20.0
    """
    slopes = np.asarray(null_gradient(data, data.weight)).reshape(data.n_rows, -1)
    square = float((slopes**2).sum())
    if data.units is not None:  # columns may be constant within units, whose rows then add up
        together = np.zeros((int(data.units.max()) + 1, slopes.shape[1]))
        np.add.at(together, data.units, slopes)
        square = max(square, float((together**2).sum()))
    if slopes.shape[1] > 1:  # the difference of two classes, on average over pairs of them
        square *= 2.0 / (slopes.shape[1] - 1)
    return float(data.weight.sum() / np.sqrt(square)) if square > 0.0 else 0.0


class RowsNeeded(NamedTuple):
    """How many rows would select something.

    Examples
    --------
    >>> import numpy as np
    >>> from selica.selectors.empty import Demand, RowsNeeded
    >>> found = RowsNeeded.of(Demand(1, 3.16), np.array([1.0, 3.0]), 90)
    >>> found.variable, found.rows, round(found.by_chance, 4)
    (1, 170, 0.0054)
    >>> print(found.sentence(["age", "dose"], "rows"))
    The strongest association with the response is that of dose: 3 standard errors, which the \
strongest of 2 irrelevant variables reaches in 0.5 % of all tables. If it is as strong as it \
looks, about 170 rows would select it with a probability of 0.8.
    """

    variable: int
    """Place of the weakest of the variables that a selection needs."""
    rank: int
    """Its rank among the associations, from 1."""
    association: float
    """Its association with the response, in standard errors."""
    rows: int
    """Rounded up to two digits."""
    by_chance: float
    """Probability that so many of as many irrelevant variables look at least as strong."""
    variables: int
    """How many there are."""

    @classmethod
    def of(cls, demand: Demand, association: Array, rows: int) -> RowsNeeded | None:
        """Return what it takes if associations are as strong as they look; None if it is not known.

        Parameters
        ----------
        demand : Demand
        association : array of shape (p,)
            Of each variable by itself with the response, in standard errors.
        rows : int
        """
        p = association.size
        rank = min(demand.variables, p)
        j = int(np.argsort(-association, kind="stable")[rank - 1])
        z = float(association[j])
        if z <= 0.0 or rows < _FEWEST_ROWS:
            return None
        many = rows * ((demand.size + float(ndtri(CHANCE))) / z) ** 2
        if many <= rows:  # these rows should have done, so that the formula does not hold here
            return None
        unit = 10 ** max(int(np.log10(many)) - 1, 0)
        chance = float(bdtrc(rank - 1, p, 2.0 * ndtr(-z)))
        return cls(j, rank, z, ceiling(many / unit) * unit, chance, p)

    def sentence(self, names: list[str], unit: str) -> str:
        """Say it; `unit` is what is counted: rows, or groups of them."""
        first = self.rank == 1
        ending = {1: "st", 2: "nd", 3: "rd"}.get(self.rank if self.rank < 20 else 0, "th")
        which = "strongest" if first else f"{self.rank}{ending} strongest"
        found = "it" if first else f"{self.rank} variables"
        percent = 100.0 * self.by_chance
        share = "less than 0.1" if percent < 0.1 else f"{percent:.1g}" if percent < 1 else (
            f"{percent:.0f}"
        )  # fmt: skip
        return (
            f"The {which} association with the response is that of {names[self.variable]}: "
            f"{self.association:.3g} standard errors, which the {which} of {self.variables:,} "
            f"irrelevant variables reaches in {share} % of all tables. If it is as strong as it "
            f"looks, about {self.rows:,} {unit} would select {found} with a probability of "
            f"{CHANCE:g}."
        )
