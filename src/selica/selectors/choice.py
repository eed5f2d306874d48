"""Which method a table is given to: one table of rules, of which the first that applies decides.

A rule looks at the size of a table, at its columns and at which rows belong together, never at how
the response goes with the columns, so that the choice costs no promise. `python -m
benchmarks.default_answers --compare 10` measures what the rules are worth; docs/choosing.md has the
figures.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple

import numpy as np

from selica._core.types import Array
from selica.sampling import GaussianKnockoffs
from selica.sampling.exchangeability import FEWEST_ROWS, WITHDRAWN_RATIO
from selica.sampling.sampler import as_sampler
from selica.selectors.checks import LARGEST_CORRELATION, most_correlated
from selica.selectors.comparison import KnockoffComparison, sampler_choice
from selica.statistics import Data

MOST_COLUMNS = 2000
"""Columns of the widest table whose knockoffs take less than minutes."""
MOST_CELLS = 1_000_000
"""Cells of the largest table whose knockoffs take less than minutes."""
MOST_CELLS_OF_CLASSES = 400_000
"""The same where the response is not linear: each fit takes several steps."""
SMALLEST_FREEDOM = 0.02
"""Copies that differ from their columns in less of the variance than this find hardly anything."""
STABILITY = "stability-pfer"
"""Name of stability selection with a bound, in the catalogue."""
KNOCKOFFS = "knockoffs-frequency"
"""Name of derandomized knockoffs with a bound, in the catalogue."""
NAMES = {
    STABILITY: "Stability selection",
    KNOCKOFFS: "Derandomized knockoffs",
    "knockoffs-evalues": "Derandomized knockoffs with e-values",
    "stability-fdr": "Stability selection with p-values",
}
"""What methods are called in sentences."""


class Facts:
    """What the rules look at; what is dear to know is found out when a rule asks for it.

    Parameters
    ----------
    data : Data
        The table in standard form.
    table : array of shape (n, p)
        As it is.
    seed : SeedSequence
        Of the fit; the copy that is compared with the columns is the first of knockoffs with it.
    """

    def __init__(self, data: Data, table: Array, seed: np.random.SeedSequence) -> None:
        self._data, self._table, self._seed = data, table, seed
        self.columns = table.shape[1]
        self.units = data.n_variables
        self.unit_name = "column" if data.member is None else "group"
        self.cells = table.size
        self.most_cells = _most_cells(data)
        grouped = data.units is not None
        self.rows = data.n_units if grouped else int(np.count_nonzero(data.weight))
        self.row_name = "groups of rows" if grouped else "rows"
        self.varying = int(np.count_nonzero(data.varies))

    @cached_property
    def correlation(self) -> float:
        """Size of the largest correlation between two columns."""
        return most_correlated(self._data)[0]

    @property
    def apart(self) -> str:
        """The columns whose correlation counts, as a noun with its verb."""
        return f"columns {'' if self._data.member is None else 'of different groups '}that are"

    @cached_property
    def comparison(self) -> KnockoffComparison:
        """The columns beside copies of them, as knockoffs would have them."""
        chosen = sampler_choice(self._data, self._table)
        return KnockoffComparison(
            self._data, self._table, as_sampler(chosen.name), self._seed, n_copies=1,
            drop_constant=True, spare=chosen.spare,
        )  # fmt: skip

    @property
    def departure(self) -> float:
        """How far copies are from exchangeable with the columns; 1 is as they should be."""
        checked = self.comparison.exchangeability
        return 1.0 if checked is None else float(checked.departure)

    @property
    def freedom(self) -> float:
        """Share of the variance of a column in which its copy may differ from it, on average.

        It is known of copies by a covariance; of others it is taken to be all of it.
        """
        sampler = self.comparison.sampler
        if not isinstance(sampler, GaussianKnockoffs):
            return 1.0
        return float(np.mean(sampler.s_ / np.diagonal(sampler.covariance)))


class Rule(NamedTuple):
    """A line of the table of choices.

    Examples
    --------
    >>> from selica.selectors.choice import RULES
    >>> RULES[0].table, RULES[0].method
    ('one column', 'knockoffs-frequency')
    """

    table: str
    """Which tables it is for, as a noun."""
    applies: Callable[[Facts], bool]
    method: str
    """Name in the catalogue, where a number of false selections is allowed."""
    because: Callable[[Facts], str]
    """Why, as a clause."""
    why: str
    """Why, for the documentation."""
    otherwise: Callable[[Facts], str]
    """When the other method would have been chosen, as the end of a sentence; empty where nothing
    else could be."""


RULES = (
    Rule(
        "one column",
        lambda facts: facts.units == 1,
        KNOCKOFFS,
        lambda facts: f"the only {facts.unit_name} can be compared with its copies",
        "a single column can be compared with its copies, and has no competitors in a resample",
        lambda facts: "",
    ),
    Rule(
        "no column that varies",
        lambda facts: facts.varying == 0,
        STABILITY,
        lambda facts: "no column varies",
        "there is nothing to select",
        lambda facts: "",
    ),
    Rule(
        f"more than {MOST_COLUMNS:,} columns",
        lambda facts: facts.columns > MOST_COLUMNS,
        STABILITY,
        lambda facts: (
            f"the table has {facts.columns:,} columns, and knockoffs of more than "
            f"{MOST_COLUMNS:,} take too long"
        ),
        "knockoffs take minutes and much memory there",
        lambda facts: f"for at most {MOST_COLUMNS:,} columns",
    ),
    Rule(
        f"more than {MOST_CELLS:,} cells (rows times columns), or {MOST_CELLS_OF_CLASSES:,} where "
        "the response is not linear",
        lambda facts: facts.cells > facts.most_cells,
        STABILITY,
        lambda facts: (
            f"the table has {facts.cells:,} cells (rows times columns), and knockoffs of more than "
            f"{facts.most_cells:,} take too long"
        ),
        "knockoffs take minutes there",
        lambda facts: "for a smaller table",
    ),
    Rule(
        f"fewer than {FEWEST_ROWS} rows, or groups of rows that belong together",
        lambda facts: facts.rows < FEWEST_ROWS,
        STABILITY,
        lambda facts: (
            f"{facts.rows} {facts.row_name} are too few to check knockoff copies of the columns"
        ),
        "whether copies pass as columns cannot be checked",
        lambda facts: f"for {FEWEST_ROWS} or more",
    ),
    Rule(
        f"two columns with a correlation above {LARGEST_CORRELATION}",
        lambda facts: facts.correlation > LARGEST_CORRELATION,
        STABILITY,
        lambda facts: (
            "knockoffs cannot tell near-duplicate columns apart (the largest correlation is "
            f"{facts.correlation:.3f})"
        ),
        "copies do not tell such columns apart",
        lambda facts: f"without {facts.apart} correlated by more than {LARGEST_CORRELATION}",
    ),
    Rule(
        "copies that are far from exchangeable with the columns (a ratio above "
        f"{WITHDRAWN_RATIO}, see guarantees)",
        lambda facts: facts.departure > WITHDRAWN_RATIO,
        STABILITY,
        lambda facts: (
            "knockoff copies are far from exchangeable with these columns (ratio "
            f"{facts.departure:.3g}, at most {WITHDRAWN_RATIO} is accepted)"
        ),
        "the promise of knockoffs would not hold",
        lambda facts: "for columns that are easier to copy, as with more rows",
    ),
    Rule(
        "copies that hardly differ from their columns (in less than "
        f"{SMALLEST_FREEDOM:.0%} of the variance), as those of smooth columns do",
        lambda facts: facts.freedom < SMALLEST_FREEDOM,
        STABILITY,
        lambda facts: (
            "proper knockoff copies of these columns hardly differ from them (in "
            f"{100.0 * facts.freedom:.2g} % of the variance)"
        ),
        "such copies have hardly any power",
        lambda facts: "for columns that depend less on each other",
    ),
    Rule(
        "every other table",
        lambda facts: True,
        KNOCKOFFS,
        lambda facts: "the table is small enough for knockoffs and its columns can be copied",
        "most power",
        lambda facts: (
            f"for more than {MOST_COLUMNS:,} columns, fewer than {FEWEST_ROWS} rows, or "
            f"{facts.apart} correlated by more than {LARGEST_CORRELATION}"
        ),
    ),
)
"""The table of choices: the first rule that applies decides."""


class Choice(NamedTuple):
    """A method, and why it was chosen."""

    method: str
    """Name in the catalogue, where a number of false selections is allowed."""
    because: str
    """Why, as a clause."""
    otherwise: str
    """When the other method would have been chosen, as the end of a sentence."""
    comparison: KnockoffComparison | None = None
    """The columns beside copies of them, where the rules have looked at them and knockoffs were
    chosen."""

    def sentences(self, method: str | None = None) -> str:
        """Say what was chosen and why, and what else would have been.

        Parameters
        ----------
        method : str, optional
            The method that is used in the place of the chosen one, for what was asked for.
        """
        text = self.because_of(method or self.method)
        if not self.otherwise:
            return text
        other = KNOCKOFFS if self.method == STABILITY else STABILITY
        return f"{text} {NAMES[other]} would have been chosen {self.otherwise}."

    def because_of(self, method: str, also: str = "") -> str:
        """Say why a method was chosen.

        Parameters
        ----------
        method : str
        also : str
            What else speaks for it, as the beginning of a clause.
        """
        verb = "was" if method == STABILITY else "were"
        return f"{NAMES[method]} ({method}) {verb} chosen because {also}{self.because}."


def too_large(data: Data, table: Array) -> bool:
    """Tell whether a table is too large for knockoffs.

    Parameters
    ----------
    data, table
        As in `Facts`.
    """
    return table.shape[1] > MOST_COLUMNS or table.size > _most_cells(data)


def _most_cells(data: Data) -> int:
    """Return the cells of the largest table whose knockoffs take less than minutes."""
    return MOST_CELLS if data.loss.quadratic else MOST_CELLS_OF_CLASSES


def choose(data: Data, table: Array, seed: np.random.SeedSequence) -> Choice:
    """Choose the method for a table, without a look at the response.

    Parameters
    ----------
    data, table, seed
        As in `Facts`.
    """
    facts = Facts(data, table, seed)
    rule = next(rule for rule in RULES if rule.applies(facts))
    made = facts.__dict__.get("comparison") if rule.method == KNOCKOFFS else None
    return Choice(rule.method, rule.because(facts), rule.otherwise(facts), made)
