r"""Methods on simulated data sets, where columns are correlated and there is no theory.

A data set has the covariance, the effects and the response of the study. Its linear predictor
:math:`z = x^T\beta` has the variance T of the study, whatever the places of the signals are. So z
and the response are drawn first, also where cases and controls are sampled separately, and then the
rows given z,

.. math:: x = w + \Sigma\beta \, (z - w^T\beta) / T, \qquad w \sim N(0, \Sigma),

which have the covariance :math:`\Sigma` and the predictor z. Draws end when the standard error of
the power is small, or at a number of data sets that depends on the size of the study alone, so that
the same study has the same answer on any machine.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from selica import catalogue
from selica._core.effects import EmpiricalEffects, PlacedEffects
from selica._core.errors import DoesNotApply
from selica._core.progress import report, reporting
from selica._core.random import child, generator
from selica._core.types import Array, BoolArray
from selica.catalogue import Method
from selica.planning.predict.expectation import FOUND_SHARES, Expected
from selica.planning.predict.prediction import Forecast
from selica.planning.predict.runs import RunOutcome, run_selector
from selica.planning.study import Study

LARGEST_COLUMNS = 500
"""Columns of a study up to which methods are run."""
LARGEST_ENTRIES = 600_000
"""Entries of a table up to which methods are run."""
_WANTED_ERROR = 0.02
"""Standard error of the power at which draws end."""
_BATCH = 4
"""Data sets between two looks at that error."""
_FEWEST_SETS = 12
"""Data sets, at least."""
_MOST_SETS = 60
"""Data sets, at most."""
_ALL_ENTRIES = 4_000_000
"""Entries of all tables, at most, where data sets are more than the fewest."""
_DRAFT = 0.25
"""Share of the data sets of a rough prediction."""
_SEED = 26
"""Of all draws."""
_EFFECTS_KEY = 0
"""Spawn key of the effects of a data set."""
_SELECTOR_KEY = 1
"""Spawn key of the selector."""
_ROWS_KEY = 2
"""Spawn key of what rows have beside their linear predictor."""
_RESPONSE_KEY = 3
"""Spawn key of linear predictors and responses."""


class DrawnSet(NamedTuple):
    """A simulated data set."""

    X: Array
    y: Any
    """As selectors take it."""
    coef: Array

    @property
    def truth(self) -> BoolArray:
        """Which variables have an effect."""
        return np.asarray(self.coef != 0.0)


def has_selector(row: Method) -> bool:
    """Return whether a method can be simulated: one that sets its threshold from the data.

    Parameters
    ----------
    row : Method

    Examples
    --------
    >>> from selica import catalogue
    >>> from selica.planning.predict.simulated import has_selector
    >>> has_selector(catalogue.method("knockoffs")), has_selector(catalogue.method("lasso"))
    (True, False)
    """
    return row.calibrated and row.selector is not None and row.predictor is not None


def check_size(study: Study) -> None:
    """Raise an error where a study is too large to be simulated.

    Parameters
    ----------
    study : Study
        With correlated columns and no theory.
    """
    n, p = study.n_samples, study.n_features
    if p > LARGEST_COLUMNS or n * p > LARGEST_ENTRIES:
        raise DoesNotApply(
            f"covariance: there is no theory for {described(study)}, and methods are simulated for "
            f"at most {LARGEST_COLUMNS} columns and {LARGEST_ENTRIES:,} entries; got {n:,} x {p:,}."
        )


def forecast(row: Method, study: Study, level: float, best: bool) -> Forecast:
    """Simulate a method in a study.

    Parameters
    ----------
    row : Method
        With a selector.
    study : Study
        With correlated columns.
    level : float
        Of the false discovery rate.
    best : bool
        Whether settings are those that are best for independent columns with this response, or
        those of the selector that is told only the level. A bound on false selections is in both
        the level times the number of selections that are expected there.

    Examples
    --------
    >>> from selica import catalogue
    >>> from selica.planning import Binary
    >>> from selica.planning.predict.simulated import forecast
    >>> from selica.planning.study import Study
    >>> study = Study.of(150, 10, 5, r2=0.8, response=Binary(), covariance=("ar1", 0.3))
    >>> found = forecast(catalogue.method("knockoffs"), study, 0.2, best=False)
    >>> found.parameters, 0.0 < found.expected.power_error < 0.1
    ({'fdr': 0.2}, True)
    """
    check_size(study)
    plain = replace(study.with_independent_columns(), draft=False)
    settings = next(iter(row.load_predictor()((plain,), level, best))).parameters
    runs = _runs(row.name, study, tuple(settings.items()))
    settings_name = "best" if best else "default"
    return Forecast(_expected(study, runs), settings, _notes(row, study, runs, settings_name))


def draw(study: Study, seed: np.random.SeedSequence) -> DrawnSet:
    """Draw a data set of a study with correlated columns.

    Parameters
    ----------
    study : Study
    seed : SeedSequence
        Of the data set. With fewer samples, rows are the first of those with more; not so where
        cases and controls are sampled separately.

    Examples
    --------
    >>> import numpy as np
    >>> from selica.planning import Binary
    >>> from selica.planning.predict.simulated import draw
    >>> from selica.planning.study import Study
    >>> study = Study.of(20, 5, 2, r2=0.5, response=Binary(), covariance=("ar1", 0.5))
    >>> data = draw(study, np.random.SeedSequence(0))
    >>> data.X.shape, data.y.shape, int(data.truth.sum())
    ((20, 5), (20,), 2)
    """
    assert study.columns is not None
    covariance, n = study.columns.covariance, study.n_samples
    coef = _coefficients(study, generator(child(seed, _EFFECTS_KEY)))
    coef *= math.sqrt(study.snr / covariance.variance_of(coef))
    z, y = study.response.draw(n, study.snr, generator(child(seed, _RESPONSE_KEY)))
    white = generator(child(seed, _ROWS_KEY)).standard_normal((n, covariance.n_white))
    X = covariance.colour(white.T).T
    X = X + np.outer((z - X @ coef) / study.snr, np.asarray(covariance) @ coef)
    return DrawnSet(X, y, coef)


def _coefficients(study: Study, rng: np.random.Generator) -> Array:
    """Draw coefficients, in any unit; a list of effects is that of the signals, in any order."""
    effects, p, k = study.effects, study.n_features, study.n_signals
    if isinstance(effects, PlacedEffects):
        return effects.vector()
    listed = isinstance(effects, EmpiricalEffects) and len(effects.values) == k
    size = rng.permutation(effects.values) if listed else effects.sample(k, rng)  # type: ignore[attr-defined]
    coef = np.zeros(p)
    coef[rng.choice(p, k, replace=False)] = size
    return coef


@lru_cache(maxsize=128)
def _runs(
    method: str, study: Study, settings: tuple[tuple[str, Any], ...]
) -> tuple[RunOutcome, ...]:
    """Run a method on data sets until its power is known, which is kept."""
    row = catalogue.method(method)
    arguments: Mapping[str, Any] = dict(settings) | dict(study.response.arguments)
    selector = row.load_selector()(**{**row.preset, **arguments})
    most = int(np.clip(_ALL_ENTRIES // (study.n_samples * study.n_features), 0, _MOST_SETS))
    fewest = _FEWEST_SETS
    if study.draft:
        most, fewest = round(_DRAFT * most), _FEWEST_SETS // 2
    root = np.random.SeedSequence(_SEED)
    found: list[RunOutcome] = []
    while len(found) < fewest or (len(found) < most and _error(study, found) > _WANTED_ERROR):
        for number in range(len(found), len(found) + _BATCH):
            report("data sets", number, max(most, fewest))
            seed = child(root, number)
            X, y, coef = draw(study, seed)
            with reporting(lambda what, done, total: None):  # of a selector, which is quick
                one = run_selector(
                    selector, X, y, coef != 0.0,
                    seed=child(seed, _SELECTOR_KEY), called=f"methods[{method!r}]",
                )  # fmt: skip
            found.append(one)
    report("data sets", max(most, fewest), max(most, fewest))
    return tuple(found)


def _error(study: Study, runs: list[RunOutcome] | tuple[RunOutcome, ...]) -> float:
    """Return the standard error of the power."""
    power = np.array([one.power for one in runs])
    error = float(power.std(ddof=1)) / math.sqrt(power.size)
    # one signal more or less in all data sets is what was not seen
    return max(error, 1.0 / (power.size * math.sqrt(study.n_signals)))


def _expected(study: Study, runs: tuple[RunOutcome, ...]) -> Expected:
    """Return the means over data sets."""
    k = study.n_signals
    power, false, every = np.array([[one.power, one.fdp, one.selected] for one in runs]).T
    mean = float(power.mean())
    low, high = np.quantile(k * power, FOUND_SHARES, method="inverted_cdf").round().tolist()
    return Expected(
        power=mean,
        fdr=float(false.mean()),
        true_selections=k * mean,
        false_selections=max(float(every.mean()) - k * mean, 0.0),
        power_error=_error(study, runs),
        found_low=low,
        found_high=high,
    )


def described(study: Study) -> str:
    """Return what there is no theory for, in words.

    Parameters
    ----------
    study : Study
        With correlated columns.
    """
    columns = "" if study.columns is None else study.columns.label
    if isinstance(study.effects, PlacedEffects):
        return f"{study.response.label}, effects at given places and {columns}"
    return f"{study.response.label} and {columns}"


def _notes(
    row: Method, study: Study, runs: tuple[RunOutcome, ...], settings: str
) -> tuple[str, ...]:
    """Return how a prediction was made, in sentences."""
    false = np.array([one.fdp for one in runs])
    false_error = float(false.std(ddof=1)) / math.sqrt(false.size)
    why = (
        f"There is no theory for {described(study)}, so that methods were run on simulated data "
        "sets; best settings are those for independent columns."
    )
    measured = (
        f"Simulated in {len(runs)} data sets: {row.label}, {settings} settings; standard error of "
        f"the power {_error(study, runs):.3f}, of the FDR {false_error:.3f}."
    )
    refused = sum(one.refused for one in runs)
    if refused:
        measured += f" It refused {refused} of them, in which it finds nothing."
    return why, measured
