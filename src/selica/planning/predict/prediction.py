"""Every method in a study: what it is expected to do at its best settings, and as it comes.

The catalogue says which function predicts a method. All of them have one protocol: of studies, a
level of the false discovery rate and whether settings are the best ones, to one `Forecast` for each
of the studies.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, Protocol, TypeVar

from selica import catalogue
from selica._core.deprecation import renamed
from selica._core.errors import ArgumentError, DoesNotApply
from selica._core.results import Result
from selica._core.types import Progress
from selica._core.validation import number, short
from selica.catalogue import Method
from selica.planning.predict.expectation import Expected
from selica.planning.study import Study
from selica.theory import Rates

SETTINGS = ("best", "default")
"""The most powerful settings for a study, and those of a selector that is told only the level."""

T = TypeVar("T")
Studies = tuple[Study, ...]
"""Studies with the same number of variables and distribution of effects."""


class Forecast(NamedTuple):
    """What a method is expected to do in a study.

    Examples
    --------
    >>> from selica.planning.predict.expectation import Expected
    >>> from selica.planning.predict.prediction import Forecast
    >>> Forecast(Expected(0.5, 0.1, 5.0, 0.6), {"fdr": 0.1}).notes
    ()
    """

    expected: Expected
    parameters: dict[str, Any]
    """Arguments of the selector."""
    notes: tuple[str, ...] = ()
    """What a reader should know about the prediction, in sentences."""


class Predictor(Protocol):
    """A function that predicts a method."""

    def __call__(self, studies: Studies, level: float, best: bool, /) -> Iterable[Forecast]:
        """Return what is found in each of the studies."""


@dataclass(frozen=True, slots=True, repr=False)
class Prediction(Result):
    """What a method is expected to do in a study, and how to run it.

    Attributes
    ----------
    method : str
        Its name in the catalogue.
    settings : {"best", "default"}
    power : float
        Mean share of the signals that are selected.
    fdr : float
        Mean share of false ones among the selected.
    true_selections, false_selections : float
        Expected numbers.
    controls : str
        What the method keeps at the level: "FDR", "PFER" or "none".
    code : str
        The selector, as Python.
    parameters : dict
        Its arguments.
    power_error : float
        Standard error of the power, from the draws that it rests on; zero where there are none.
    found_low, found_high : float
        How many signals are found in nine of ten such studies, at least and at most.
    variable_power : float or None
        Probability that the one variable that was asked for is selected; None where none was.
    notes : tuple of str
        What a reader should know about the prediction, in sentences.

    Examples
    --------
    >>> from selica.planning import compare_methods
    >>> found = compare_methods(300, 200, 40, r2=0.8, fdr=0.1, methods="knockoffs")
    >>> found.one("knockoffs", "default").code
    'KnockoffSelection(fdr=0.1)'
    >>> found.one("knockoffs").controls
    'FDR'
    """

    method: str
    settings: str
    power: float
    fdr: float
    true_selections: float
    false_selections: float
    controls: str
    code: str
    parameters: dict[str, Any]
    power_error: float = 0.0
    found_low: float = math.nan
    found_high: float = math.nan
    variable_power: float | None = None
    notes: tuple[str, ...] = ()

    _columns = (
        "method", "settings", "power", "power_error", "fdr", "true_selections", "found_low",
        "found_high", "variable_power", "false_selections", "controls", "code",
    )  # fmt: skip

    @classmethod
    def of(
        cls,
        row: Method,
        found: Forecast,
        settings: str,
        arguments: Mapping[str, Any] | None = None,
    ) -> Prediction:
        """Return what is found with a method of the catalogue.

        Parameters
        ----------
        row : Method
        found : Forecast
        settings : {"best", "default"}
        arguments : mapping, optional
            Further arguments of the selector, which say what the response is.
        """
        given = found.parameters | dict(arguments or {})
        inner = ", ".join(f"{name}={value!r}" for name, value in given.items())
        return cls(
            method=row.name,
            settings=settings,
            **found.expected._asdict(),
            controls=row.controls,
            code=f"{row.class_name}({inner})" if row.selector is not None else "",
            parameters=found.parameters,
            notes=found.notes,
        )

    @property
    def label(self) -> str:
        """What tables and figures call the method."""
        return catalogue.method(self.method).label

    def found_words(self, n_signals: int) -> str:
        """Say how many signals are found in most studies, and how likely the one variable is.

        Parameters
        ----------
        n_signals : int
            Signals of the study.

        Examples
        --------
        >>> from selica.planning import compare_methods
        >>> found = compare_methods(300, 200, 40, r2=0.8, methods="lasso")
        >>> found.one("lasso").found_words(40)
        'In eight of ten such studies it finds 17 to 25 of the 40 signals.'
        """
        low, high = self.found_low, self.found_high
        number = f"{low:,.0f}" if low == high else f"{low:,.0f} to {high:,.0f}"
        words = f"In eight of ten such studies it finds {number} of the {n_signals:,} signals"
        if self.variable_power is None:
            return f"{words}."
        return (
            f"{words}; it finds the one variable with a probability of {self.variable_power:.2f}."
        )

    @property
    def promise(self) -> str:
        """Former name of `controls`."""
        renamed("Prediction.promise", "Prediction.controls")
        return self.controls


def predict(study: Study, method: str, fdr: float, settings: str = "best") -> Prediction:
    """Return what a method is expected to do; arguments are checked by the callers.

    Parameters
    ----------
    study : Study
    method : str
        Its name in the catalogue.
    fdr : float
    settings : {"best", "default"}
    """
    return predict_each((study,), method, fdr, settings)[0]


def predict_each(
    studies: Studies, method: str, fdr: float, settings: str = "best"
) -> list[Prediction]:
    """Return what a method is expected to do in several studies, faster than one by one.

    Parameters
    ----------
    studies : tuple of Study
        With as many variables and the same distribution of effects.
    method, fdr, settings
        As in `predict`.
    """
    row = catalogue.method(method)
    if any(study.columns is not None for study in studies):
        from selica.planning.predict.correlated import predict_correlated

        predictor: Predictor = partial(predict_correlated, row)
    else:
        predictor = row.load_predictor()
    found = predictor(studies, fdr, settings == "best")
    return [
        Prediction.of(row, _believed(one, study), settings, study.response.arguments)
        for study, one in zip(studies, found, strict=True)
    ]


def _believed(found: Forecast, study: Study) -> Forecast:
    """Return a forecast without numbers of equations that were not solved."""
    if not any("not solved" in note for note in found.notes):
        return found
    nothing = Expected.of_rates(study, Rates(0.0, 0.0, 0.0))
    return found._replace(expected=nothing)


def predictable() -> dict[str, Method]:
    """Return the methods of the catalogue that have a prediction, by name."""
    return {row.name: row for row in catalogue.methods() if row.predictor is not None}


def check_level(fdr: float) -> float:
    """Return a checked level of the false discovery rate."""
    return number("fdr", fdr, at_least=1e-3, at_most=0.5)


def check_methods(methods: Sequence[str] | str | None, argument: str = "methods") -> list[Method]:
    """Return the methods of the catalogue with these names, or with names that they had.

    Parameters
    ----------
    methods : str, sequence of str or None
        None is no choice: all methods that have a prediction.
    argument : str
        How the caller calls them; opens the message of an error.
    """
    if methods is None:
        return list(predictable().values())
    names = (methods,) if isinstance(methods, str) else methods
    if not isinstance(names, list | tuple) or not names:
        raise ArgumentError(f"{argument} must be a list of names; got {short(methods)}.")
    rows = [catalogue.method(name, room="planning", argument=argument) for name in names]
    return list({row.name: row for row in rows}.values())


def planned_names(
    methods: Sequence[str] | str | None,
    argument: str = "methods",
    *,
    calibrated: bool = False,
    study: Study | None = None,
) -> tuple[str, ...]:
    """Return checked names of methods that have a prediction.

    Parameters
    ----------
    methods : str, sequence of str or None
        None: all, or all whose threshold the data set.
    argument : str
    calibrated : bool
        Whether only those whose threshold the data set are taken where none is named.
    study : Study, optional
        Where its columns are correlated, methods without a prediction for that are left out.
    """
    rows = check_methods(methods, argument)
    for row in rows:
        if row.predictor is None:
            known = ", ".join(predictable())
            raise DoesNotApply(
                f"{argument}: {row.name!r} has no prediction; the methods with one are {known}. "
                "planning.plasmode_power measures any method on a table."
            )
    if methods is None and calibrated:
        rows = [row for row in rows if row.calibrated]
    if study is not None and study.columns is not None:
        from selica.planning.predict.correlated import covered

        able = [row for row in rows if covered(row, study)]
        if methods is not None and len(able) < len(rows):
            raise DoesNotApply(
                f"{argument}: {next(row.name for row in rows if row not in able)!r} has no "
                "prediction for correlated columns; planning.plasmode_power measures it on a table."
            )
        rows = able
    return tuple(row.name for row in rows)


def current_name(method: str) -> str:
    """Return the name of a method, also where one is given that it had.

    Parameters
    ----------
    method : str
        Returned as it is where no method has or had this name.
    """
    try:
        return catalogue.method(method, room="planning").name
    except ArgumentError:
        return method


def reporting(steps: Sequence[T], progress: Progress | None) -> Iterator[T]:
    """Iterate over the steps of some work, and report each of them when it is done.

    Parameters
    ----------
    steps : sequence
    progress : callable or None
        ``progress(done, total)``.
    """
    for done, step in enumerate(steps, 1):
        yield step
        if progress is not None:
            progress(done, len(steps))
