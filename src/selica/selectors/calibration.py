"""How stability selection keeps a false discovery rate: one table of rules, the first decides.

Every rule gives p-values of the fields that variables have in the ensemble, and a step-up rule on
them keeps the level. What differs is how the distribution of the fields is known.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple

import numpy as np

from selica._core.errors import DoesNotApply, RefusedError
from selica._core.losses import treats
from selica._core.types import Array
from selica.control import benjamini_hochberg
from selica.sampling import resample_weights
from selica.sampling.laws.remainders import INDEPENDENT, LARGEST_CORRELATION, remainders_of
from selica.sampling.laws.table import LAWS
from selica.selectors.engine import correlated
from selica.selectors.members import Scheme
from selica.statistics.data import Data, penalty_path
from selica.statistics.fits import fit_members
from selica.statistics.left_out import averaged_fit, left_out_fields

MESSAGES = "message passing"
"""Fields whose noise message passing knows."""
LEFT_OUT = "left-out fields"
"""Fields of the averaged fit as if each variable had been left out."""
FEWEST_ROWS = 40
"""Rows below which the distribution of the columns cannot be checked."""
FEWEST_FREE_ROWS = 20.0
"""Rows that the averaged fit has to leave free; a field is normal only if many rows make it."""
MOST_COLUMNS = 2000
"""Columns up to which the distribution of correlated columns is estimated; beyond it takes
minutes."""
LARGEST_DISPERSION = 1.5
"""Fields of variables that are not selected are believed if they are at most so many times as large
as they should be."""
_REMAINDERS = (
    "what is left of a column once the others have predicted it is independent of them, as it is "
    "for normal columns"
)
"""What p-values of left-out fields assume beside the law of the columns, as a clause."""
_WEAK_DEPENDENCE = "the p-values do not depend much on each other"
"""What the step-up rule on the p-values assumes, as a clause."""
_PENALTIES = 16
"""Penalties that are compared."""
_SMALLEST_SHARE = 0.02
"""The smallest of them, as a share of the largest."""
_RESAMPLES = 48
"""Resamples at each of them."""


class ResponseError(RefusedError):
    """P-values are refused by what the response says, and not by the columns or its kind alone.

    A rule that takes their place was then chosen by the response.
    """


class CalibrationFacts:
    """What the rules look at.

    Parameters
    ----------
    data : Data
    engine : str
        "auto", or "semi-analytic" where nothing is to be refitted.
    """

    def __init__(self, data: Data, engine: str) -> None:
        self.data = data
        self.unchecked = engine == "semi-analytic"
        self.rows, self.columns = data.n_rows, int(np.count_nonzero(data.varies))

    @cached_property
    def correlated(self) -> bool:
        """Whether a column is far from independent of the others."""
        return correlated(self.data)

    @property
    def for_left_out(self) -> bool:
        """Whether left-out fields are defined."""
        data = self.data
        plain = bool(np.all(data.weight == 1.0)) and data.l1_ratio == 1.0
        return plain and treats("left-out fields", data.loss) and self.rows >= FEWEST_ROWS

    @property
    def known_columns(self) -> bool:
        """Whether the distribution of the columns can be estimated."""
        return self.columns <= MOST_COLUMNS or not self.correlated


class CalibrationRule(NamedTuple):
    """A line of the table.

    Examples
    --------
    >>> from selica.selectors.calibration import RULES
    >>> [(rule.table, rule.fields) for rule in RULES][0]
    ('columns close to independent, no more than rows', 'message passing')
    """

    table: str
    """Which tables it is for, as a noun."""
    applies: Callable[[CalibrationFacts], bool]
    fields: str
    """Whose p-values decide."""


RULES = (
    CalibrationRule(
        "columns close to independent, no more than rows",
        lambda facts: (
            facts.data.loss.quadratic and facts.columns <= facts.rows and not facts.correlated
        ),
        MESSAGES,
    ),
    CalibrationRule(
        "correlated columns without refits (engine='semi-analytic')",
        lambda facts: facts.data.loss.quadratic and facts.unchecked and facts.correlated,
        MESSAGES,
    ),
    CalibrationRule(
        "correlated columns up to 2,000, more columns than rows, two classes, counts",
        lambda facts: facts.for_left_out and facts.known_columns,
        LEFT_OUT,
    ),
    CalibrationRule(
        "sample weights or an elastic net, a linear response",
        lambda facts: facts.data.loss.quadratic,
        MESSAGES,
    ),
)
"""The table of rules: the first that applies decides."""


class CalibrationRoute(NamedTuple):
    """How a level is kept on some data."""

    fields: str
    """Whose p-values decide."""
    messages: bool
    """Whether message passing is tried for the probabilities."""
    left_out: bool
    """Whether left-out fields decide, or take its place where it fails."""


def calibration_route(data: Data, engine: str) -> CalibrationRoute:
    """Return how a level is kept on these data, or say that it cannot be.

    Parameters
    ----------
    data : Data
    engine : str
    """
    facts = CalibrationFacts(data, engine)
    possible = facts.for_left_out and facts.known_columns
    for rule in RULES:
        if rule.applies(facts):
            messages = data.loss.quadratic and (facts.unchecked or not facts.correlated)
            return CalibrationRoute(
                rule.fields, rule.fields == MESSAGES or messages, possible and not facts.unchecked
            )
    raise DoesNotApply(
        f"fdr: p-values for {data.loss.label} need {FEWEST_ROWS} rows or more and the lasso "
        "without sample weights; use pfer, or knockoffs."
    )


def penalty_for_fields(
    data: Data, scheme: Scheme, seed: np.random.SeedSequence, n_jobs: int | None
) -> float:
    """Return the penalty at which an effect stands out most from the noise of its field.

    Parameters
    ----------
    data : Data
    scheme : Scheme
    seed : SeedSequence
        Of the resamples.
    n_jobs : int, optional
    """
    path = penalty_path(data, _PENALTIES, _SMALLEST_SHARE)
    if path[0] == 0.0:
        raise ResponseError("fdr: no column is associated with the response at all.")
    weights = resample_weights(
        data.n_rows, _RESAMPLES, scheme.resampling, scheme.rate,
        strata=data.loss.strata(data.y), random_state=seed,
    )  # fmt: skip
    fit = fit_members(data, path, weights.astype(float), keep=("counts", "moments"), n_jobs=n_jobs)
    assert fit.counts is not None
    assert fit.mean is not None
    selected = fit.counts.sum(axis=1) / _RESAMPLES
    errors = [
        averaged_fit(data, coef, float(size)).error
        for coef, size in zip(fit.mean, selected, strict=True)
    ]
    return float(path[int(np.argmin(errors))])


class FieldCalibration(NamedTuple):
    """P-values of left-out fields, and what they rest on.

    Examples
    --------
    >>> import numpy as np
    >>> from selica.selectors.calibration import FieldCalibration
    >>> found = FieldCalibration(np.ones(3), np.zeros(3), "neighbours", 0.02, 1.1)
    >>> print(found.sentence.split(". ")[0])
    The p-values assume that each column depends on a few others (neighbours)
    >>> print(found.assumption)  # doctest: +NORMALIZE_WHITESPACE
    each column depends on a few others (neighbours), and what is left of a column once the others
    have predicted it is independent of them, as it is for normal columns, and the p-values do not
    depend much on each other
    """

    p_values: Array
    """(p,)."""
    z_values: Array
    """(p,): the fields in units of their noise."""
    law: str
    """Name of the law of the columns."""
    correlation: float
    """What the law leaves of the correlation of columns, on rows to which it was not fitted."""
    dispersion: float
    """How many times as large fields of variables are that are not selected as they should be."""

    @property
    def assumption(self) -> str:
        """What the p-values and the step-up rule on them rest on, as a clause."""
        remainders = "" if self.law == INDEPENDENT else f", and {_REMAINDERS}"
        return f"{self._columns}{remainders}, and {_WEAK_DEPENDENCE}"

    @property
    def _columns(self) -> str:
        """What the law assumes of the columns, as a clause."""
        if self.law == INDEPENDENT:
            return "the predictors are independent of each other"
        return LAWS[self.law].words

    @property
    def sentence(self) -> str:
        """What the p-values rest on, and how it was checked."""
        return (
            f"The p-values assume that {self._columns}. On rows to which this was not fitted, a "
            f"correlation of {self.correlation:.2f} is left on average; up to "
            f"{LARGEST_CORRELATION:g} is accepted."
        )


def calibrated(
    data: Data, coef: Array, selected: float, level: float, seed: np.random.SeedSequence
) -> FieldCalibration:
    """Return p-values of left-out fields, or refuse where they cannot be believed.

    Parameters
    ----------
    data : Data
    coef : array of shape (p,)
        Mean coefficients over the resamples.
    selected : float
        Mean number of variables that a resample selects.
    level : float
        Of the false discovery rate.
    seed : SeedSequence
        Of the rows on which the law of the columns is judged.
    """
    there = data.varies
    fit = averaged_fit(data, coef, selected)
    if fit.free_rows < FEWEST_FREE_ROWS:
        raise ResponseError(
            f"fdr: the resamples select {selected:.0f} variables on average, which leaves too few "
            f"of {data.n_rows} rows to judge them by. A larger lam, more rows, pfer or knockoffs "
            "would help."
        )
    X = data.X[:, there]
    if X.shape[1] <= MOST_COLUMNS:
        columns, law, correlation = remainders_of(X, seed)
    else:
        columns, law, correlation = X, INDEPENDENT, 0.0
    if correlation > LARGEST_CORRELATION:
        raise RefusedError(
            "fdr: no estimate describes how the columns depend on each other: on rows that it was "
            f"not fitted to, a correlation of {correlation:.2g} is left on average. Ask for pfer "
            "instead, or use knockoffs."
        )
    fields = left_out_fields(fit._replace(coef=coef[there]), columns)
    z, p = np.zeros(there.size), np.ones(there.size)
    z[there], p[there] = fields.z_values, fields.p_values
    dispersion = fields.dispersion(~benjamini_hochberg(fields.p_values, level))
    if dispersion > LARGEST_DISPERSION:
        raise ResponseError(
            f"fdr: the fields of most variables are {dispersion:.2g} times as large as those of "
            "variables that do not matter: too many matter, or the rows depend on each other. Ask "
            "for pfer instead, or use knockoffs."
        )
    return FieldCalibration(p, z, law, correlation, dispersion)
