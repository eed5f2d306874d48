"""Every procedure in a study with correlated columns, by the theory for a covariance."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from selica._core.errors import DoesNotApply
from selica.catalogue import Method
from selica.planning.predict import correlated_copies, correlated_halves, simulated
from selica.planning.predict.prediction import Forecast

_CHANCE = 3.0
"""Standard errors by which a power may be above what is possible."""
_LIMITED = (
    "The prediction was above what is possible with independent columns, and is limited to that: "
    "do not rely on it."
)
"""What is said of a power that is too large to be true."""


def covered(row: Method, study: Any = None) -> bool:
    """Return whether a method has a prediction for correlated columns.

    Parameters
    ----------
    row : Method
    study : Study, optional
        By default one that theory predicts; otherwise it may be simulated.

    Examples
    --------
    >>> from selica import catalogue
    >>> from selica.planning.predict.correlated import covered
    >>> covered(catalogue.method("knockoffs")), covered(catalogue.method("lasso"))
    (True, False)
    """
    if study is not None and study.is_simulated:
        return simulated.has_selector(row)
    return correlated_copies.rule_of(row) is not None or row.name in correlated_halves.ASSUMPTIONS


def predict_correlated(
    row: Method, studies: Iterable[Any], level: float, best: bool
) -> Iterator[Forecast]:
    """Predict a method in studies whose columns are correlated.

    Parameters
    ----------
    row : Method
        Of the catalogue: knockoffs with one copy, with e-values or p-values of many, or stability
        selection under a bound.
    studies : sequence of Study
        With `columns`. The ratio of signal to noise is that of the whole linear predictor,
        correlations included. AR(1) rows and blocks may have any number of columns; of other
        covariances the first 600 columns are looked at. Where the response is not numeric, or
        signals have given places, methods are run on simulated data sets.
    level : float
        Of the false discovery rate.
    best : bool
        Of knockoffs, the statistic compares coefficients at the penalty at which a fit predicts
        best. Selectors as they come have another statistic, and a note says so. Of a bound, the
        threshold is the most powerful one; otherwise the usual one.

    Yields
    ------
    Forecast
        One for each study; deterministic.

    Raises
    ------
    DoesNotApply
        Where there is no theory of the method for correlated columns.
    """
    for study in studies:
        if study.is_simulated:
            yield simulated.forecast(row, study, level, best)
        else:
            yield _by_theory(row, study, level, best)


def _by_theory(row: Method, study: Any, level: float, best: bool) -> Forecast:
    """Predict a method by the theory for a covariance."""
    if row.name in correlated_halves.ASSUMPTIONS:
        predict = correlated_halves.forecast
    elif correlated_copies.rule_of(row) is not None:
        predict = correlated_copies.forecast
    else:
        raise DoesNotApply(
            f"{row.name!r} has no prediction for correlated columns; planning.plasmode_power "
            "measures it on a table."
        )
    return _below_ceiling(predict(row, study, level, best), study, level)


def _below_ceiling(found: Forecast, study: Any, level: float) -> Forecast:
    """Return a forecast of no more than is possible with as many independent columns."""
    from selica.planning.predict.ceiling import ceiling  # which needs predictions

    most = ceiling(replace(study, columns=None, draft=False), level).power
    expected = found.expected
    if expected.power <= most + _CHANCE * expected.power_error:
        return found
    k = study.n_signals
    limited = expected._replace(power=most, true_selections=k * most)
    return found._replace(expected=limited, notes=(*found.notes, _LIMITED))
