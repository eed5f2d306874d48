"""Which sampler makes the copies of a table: one table of rules, of which the first decides.

A rule looks at the columns, and at what is known of the rows, never at the response, so that the
choice costs no promise.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from selica._core.random import RandomState
from selica._core.types import Array
from selica._core.validation import matrix
from selica.sampling.copies import Copies
from selica.sampling.kinds import BINARY, CONSTANT, CONTINUOUS, GENOTYPE, KINDS, variables_of
from selica.sampling.sampler import Sampler, as_sampler

GAUSSIAN = "gaussian"
"""Name of the copies by a covariance."""
SEQUENTIAL = "sequential"
"""Name of the copies by models, column after column."""
GENOTYPES = "genotypes"
"""Name of the copies by a hidden Markov model of haplotypes."""
FEWEST_MARKERS = 20
"""Columns below which numbers of alleles are no stretch of a chromosome."""
SMALLEST_LINKAGE = 0.1
"""Squared correlation of neighbouring markers, on average, from which on they are linked; that of
markers far apart must be below half of it."""
FEW_OTHERS = 0.1
"""Share of the variables that may be of another kind where columns are called continuous: Gaussian
copies keep more power among many correlated numbers, and one column of two values does no harm."""
MOST_WORK = 650_000_000
"""Work up to which models of all columns take about six seconds on one core."""
MOST_SPARE_COLUMNS = 2000
"""Columns up to which copies by a covariance are tried after others; beyond, they take minutes."""


class TableFacts:
    """What the rules look at.

    Parameters
    ----------
    X : array of shape (n, p)
    variable : array of int, shape (p,), optional
        Number of the variable to which a column belongs.
    covariates : bool
        Whether there are covariates to keep, on which copies must be drawn.
    row_groups : bool
        Whether there are rows that belong together.
    column_groups : bool
        Whether groups of columns are selected as a whole.
    joint_copies : bool
        Whether several copies have to be exchangeable with each other too.
    """

    def __init__(
        self,
        X: Array,
        variable: ArrayLike | None,
        *,
        covariates: bool,
        row_groups: bool,
        column_groups: bool,
        joint_copies: bool,
    ) -> None:
        self._X, self._variable = X, variable
        self.covariates, self.row_groups = covariates, row_groups
        self.column_groups, self.joint_copies = column_groups, joint_copies
        self.rows, self.columns = X.shape

    @property
    def work(self) -> int:
        """Work to fit models of all columns: each has up to twice as many columns."""
        return int((self.rows + 2 * self.columns) * self.columns**2)

    @cached_property
    def kinds(self) -> dict[str, int]:
        """How many variables there are of each kind, without constant ones."""
        found = [one.kind for one in variables_of(self._X, self._variable)]
        return {kind: found.count(kind) for kind in KINDS if kind in found and kind != CONSTANT}

    @property
    def others(self) -> int:
        """How many variables are not continuous."""
        return sum(many for kind, many in self.kinds.items() if kind != CONTINUOUS)

    @property
    def continuous(self) -> bool:
        """Whether all but a few variables are continuous."""
        return self.others <= FEW_OTHERS * sum(self.kinds.values())

    @property
    def genotypes(self) -> bool:
        """Whether all columns are numbers of alleles at markers that are linked to the next."""
        X = self._X
        many = self.columns
        if many < FEWEST_MARKERS or not np.all((X == 0.0) | (X == 1.0) | (X == 2.0)):
            return False
        if 2 * self.kinds.get(GENOTYPE, 0) < many:
            return False
        Z = X - X.mean(axis=0)
        size = np.sqrt((Z**2).sum(axis=0))
        Z = Z[:, size > 0.0] / size[size > 0.0]
        near, far = (
            float(np.mean((Z * np.roll(Z, shift, axis=1)).sum(axis=0) ** 2))
            for shift in (1, Z.shape[1] // 2)
        )
        return near >= max(SMALLEST_LINKAGE, 2.0 * far)

    @property
    def described(self) -> str:
        """The kinds and their numbers, as in "3 binary, 5 continuous"."""
        return ", ".join(f"{many} {kind}" for kind, many in self.kinds.items())


class SamplerRule(NamedTuple):
    """A line of the table of samplers.

    Examples
    --------
    >>> from selica.sampling.automatic import RULES
    >>> [(rule.table, rule.sampler) for rule in RULES][-1]
    ('every other table', 'sequential')
    """

    table: str
    """Which tables it is for, as a noun."""
    applies: Callable[[TableFacts], bool]
    sampler: str
    """Its name."""
    because: Callable[[TableFacts], str]
    """Why, as a clause."""


RULES = (
    SamplerRule(
        "rows that belong together",
        lambda facts: facts.row_groups,
        GAUSSIAN,
        lambda facts: "only these copies can be drawn for rows that belong together",
    ),
    SamplerRule(
        "covariates to keep",
        lambda facts: facts.covariates,
        GAUSSIAN,
        lambda facts: "only these copies can be drawn given the covariates that are kept",
    ),
    SamplerRule(
        "groups of columns",
        lambda facts: facts.column_groups,
        GAUSSIAN,
        lambda facts: "only these copies are made for groups of columns",
    ),
    SamplerRule(
        "several joint copies",
        lambda facts: facts.joint_copies,
        GAUSSIAN,
        lambda facts: "only these copies can be drawn jointly",
    ),
    SamplerRule(
        "genotypes in the order of the chromosomes",
        lambda facts: facts.genotypes,
        GENOTYPES,
        lambda facts: "the columns are numbers of alleles, and neighbours depend on each other",
    ),
    SamplerRule(
        f"continuous columns, all or at least {1.0 - FEW_OTHERS:.0%} of them",
        lambda facts: facts.continuous,
        GAUSSIAN,
        lambda facts: (
            f"nearly all columns are continuous ({facts.described})"
            if facts.others
            else "all columns are continuous"
        ),
    ),
    SamplerRule(
        "large tables, as 500 rows with more than 600 columns",
        lambda facts: facts.work > MOST_WORK,
        GAUSSIAN,
        lambda facts: (
            f"one model for each of {facts.columns:,} columns would take too long with "
            f"{facts.rows:,} rows"
        ),
    ),
    SamplerRule(
        "every other table",
        lambda facts: True,
        SEQUENTIAL,
        lambda facts: (
            "all columns have two values"
            if list(facts.kinds) == [BINARY]
            else f"the variables are of several kinds or discrete ({facts.described})"
        ),
    ),
)
"""The table of samplers: the first rule that applies decides."""


class SamplerChoice(NamedTuple):
    """A sampler, and why it was chosen."""

    name: str
    because: str
    """Why, as a clause."""
    columns: int
    """Of the table."""

    @property
    def spare(self) -> Sampler | None:
        """The sampler to be tried where copies by the chosen one do not behave like the columns."""
        if self.name == GAUSSIAN or self.columns > MOST_SPARE_COLUMNS:
            return None
        return as_sampler(GAUSSIAN)

    @property
    def sentence(self) -> str:
        """Which sampler makes the copies and why."""
        return f"Knockoff copies are made by sampler={self.name!r} because {self.because}."


def choose_sampler(
    X: ArrayLike,
    variable: ArrayLike | None = None,
    *,
    covariates: bool = False,
    row_groups: bool = False,
    column_groups: bool = False,
    joint_copies: bool = False,
) -> SamplerChoice:
    """Choose how copies of a table are made, by the kinds of its columns.

    Parameters
    ----------
    X : array of shape (n, p)
    variable, covariates, row_groups, column_groups, joint_copies
        As in `TableFacts`.

    Examples
    --------
    >>> import numpy as np
    >>> from selica.sampling.automatic import choose_sampler
    >>> rng = np.random.default_rng(0)
    >>> X = np.column_stack([rng.standard_normal((50, 2)), rng.random(50) < 0.3])
    >>> print(choose_sampler(X).sentence)  # doctest: +NORMALIZE_WHITESPACE
    Knockoff copies are made by sampler='sequential' because the variables are of several kinds or
    discrete (1 binary, 2 continuous).
    """
    facts = TableFacts(
        matrix("X", X), variable,
        covariates=covariates, row_groups=row_groups, column_groups=column_groups,
        joint_copies=joint_copies,
    )  # fmt: skip
    rule = next(rule for rule in RULES if rule.applies(facts))
    return SamplerChoice(rule.sampler, rule.because(facts), facts.columns)


class AutomaticSampler(Sampler):
    """Make copies by the sampler that fits the kinds of the columns, see `choose_sampler`.

    Examples
    --------
    >>> import numpy as np
    >>> from selica.sampling.sampler import as_sampler
    >>> rng = np.random.default_rng(0)
    >>> X = np.column_stack([rng.standard_normal((50, 2)), rng.random(50) < 0.3])
    >>> as_sampler("auto").fit(X)
    SequentialKnockoffs(residuals='resampled')
    """

    assumption = "the sampler that is chosen by the kinds of the columns suits them"
    exact = False
    mismatch = ""

    def __init__(self) -> None:
        self._variable: ArrayLike | None = None

    def with_variables(self, variable: ArrayLike | None) -> AutomaticSampler:
        """Return a sampler that knows which columns belong together; see `Sampler`."""
        made = copy(self)
        made._variable = variable
        return made

    def fit(self, X: ArrayLike, sample_weight: ArrayLike | None = None) -> Sampler:
        """Return the sampler that is chosen, fitted; see `Sampler.fit`."""
        chosen = as_sampler(choose_sampler(X, self._variable).name)
        return chosen.with_variables(self._variable).fit(X, sample_weight)

    def copies(self, X: ArrayLike, random_state: RandomState | None, members: Any) -> Copies:
        """Return copies by the sampler that is chosen; see `Sampler.copies`."""
        return self.fit(X).copies(X, random_state, members)

    def __repr__(self) -> str:
        return "AutomaticSampler()"
