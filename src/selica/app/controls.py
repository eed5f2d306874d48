"""Controls of a study that the tabs Predict and Plan share; those that do not apply are hidden."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

import streamlit as st

from selica._core.errors import SelicaError
from selica._core.wording import signals
from selica.app import markup
from selica.app.asked import Asked, numbers_of
from selica.app.fields import ChoiceField, Field, NumberField, TextField, Value
from selica.app.panel import Panel, Values

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

_LAWS = {
    "gaussian": "Gaussian",
    "point": "All equal",
    "laplace": "Laplace (a few large)",
    "list": "A list of their ratios",
}
"""Effects whose strength R² says."""
_FORMER = {"Gaussian": "gaussian", "All equal": "point", "My own list": "list"}
_FORMER |= {_LAWS["laplace"]: "laplace"}
"""Effects in addresses from before."""
_SIZES = {
    "numeric": ("standardised betas", "0.3, 0.2, 0.2, 0.1"),
    "binary": ("odds ratios", "1.8, 1.5, 1.5, 0.7"),
    "counts": ("rate ratios", "1.5, 1.3, 1.3, 0.8"),
    "survival": ("hazard ratios", "1.8, 1.5, 1.5, 0.7"),
}
"""What effects with a size of their own are, and an example, by the response."""
POWER = NumberField("power", "Power wanted", 0.05, 0.99, 0.8, 0.01)
SAMPLES = NumberField("n", "Samples (n)", 20, 1_000_000, 200, log=True, whole=True)
_VARIABLES = NumberField("p", "Variables (p)", 10, 1_000_000, 1000, log=True, whole=True)
_SIGNALS = NumberField("k", "True signals (k)", 1, 100_000, 10, log=True, whole=True)
_R2 = NumberField("r2", "Variance explained (R²)", 0.01, 0.99, 0.5, 0.01)
_FDR = NumberField("fdr", "False discovery rate (FDR)", 0.01, 0.5, 0.1, 0.01)
_LIST = TextField(
    "list", "Effects of all signals", "0.5, 0.4, 0.3, 0.2, 0.1",
    "Only their ratios count: R² says how strong they are.",
)  # fmt: skip
_OWN = TextField("sizes", "", "")
_RESPONSE = ChoiceField(
    "response", "Response",
    {"numeric": "A number", "binary": "Yes or no", "counts": "A count",
     "survival": "Time until an event"},
    "numeric",
)  # fmt: skip
_PREVALENCE = NumberField("prevalence", "Prevalence", 0.001, 0.999, 0.3, log=True)
_SAMPLING = ChoiceField(
    "sampling", "Samples are drawn",
    {"population": "as they come", "cases": "as cases and controls"}, "population",
)  # fmt: skip
_CASES = NumberField("cases", "Share of cases", 0.05, 0.95, 0.5, 0.01)
_RATE = NumberField("rate", "Mean count", 0.05, 100.0, 1.0, log=True)
_EVENTS = NumberField("events", "Share of events", 0.02, 1.0, 0.5, 0.01)
_COLUMNS = ChoiceField(
    "columns", "Correlation of variables",
    {"none": "None", "ar1": "Neighbours, AR(1)", "block": "In blocks"}, "none",
)  # fmt: skip
_CORRELATION = NumberField("corr", "Correlation", 0.05, 0.95, 0.5, 0.01)
_BLOCK = NumberField("block", "Variables in a block", 2, 1000, 10, log=True, whole=True)
_EFFECTS = ChoiceField("effects", "Effects of the signals", _LAWS, "gaussian", _FORMER)
STUDY: tuple[Field, ...] = (
    _VARIABLES, _RESPONSE, _PREVALENCE, _SAMPLING, _CASES, _RATE, _EVENTS,
    _EFFECTS._replace(options=_LAWS | {"sizes": ""}), _LIST, _OWN, _SIGNALS, _R2,
    _COLUMNS, _CORRELATION, _BLOCK, _FDR,
)  # fmt: skip
"""All controls of a study, in the order in which they are shown."""
_DETAILS = {
    "binary": ("prevalence", "cases"),
    "counts": ("rate",),
    "survival": ("events",),
}
"""Arguments of a response."""


class Answered(NamedTuple):
    """What the controls of a tab say."""

    first: float
    """The number of samples, or the power wanted."""
    asked: Asked


def study(panel: Panel, first: NumberField, place: DeltaGenerator) -> Answered:
    """Show the controls of a study; where they make no sense, say so and stop.

    Parameters
    ----------
    panel : Panel
        Of the tab.
    first : NumberField
        The control above those of the study.
    place : DeltaGenerator
        Where the answer will be; what makes no sense is said there.
    """
    values = panel.values()
    try:
        asked, problem = _asked(values), ""
    except SelicaError as error:
        words = str(error)
        asked, problem = None, f"The {words[:1].lower()}{words[1:]}"
    panel.show([first, *_shown(values, asked, problem)], values)
    with place:
        markup.ignored(panel.ignored())
        if asked is None:
            markup.problem(problem)
            st.stop()
    return Answered(float(values[first.key]), asked)


def _asked(values: Values) -> Asked:
    """Return the study; an error where a list makes no sense."""
    p, response, law = int(values["p"]), str(values["response"]), str(values["effects"])
    r2: float | None = float(values["r2"])
    if law in ("list", "sizes"):
        text = str(values[law]) or (_SIZES[response][1] if law == "sizes" else "")
        effects, k = numbers_of(text, p)
        r2 = None if law == "sizes" else r2
    else:
        effects, k = law, min(int(values["k"]), p)
    details = tuple(
        (name, float(values[name]))
        for name in _DETAILS.get(response, ())
        if name != "cases" or values["sampling"] == "cases"
    )
    asked = Asked(
        p, k, float(values["fdr"]), r2, effects, response=response, details=details,
        covariance=_covariance(values),
    )  # fmt: skip
    asked.study(2)  # effects may be more than a study can hold
    return asked


def _covariance(values: Values) -> tuple[str | float | int, ...]:
    form = str(values["columns"])
    if form == "none" or values["response"] != "numeric":
        return ()
    corr = float(values["corr"])
    return (
        (form, corr) if form == "ar1" else (form, corr, min(int(values["block"]), int(values["p"])))
    )


def _shown(values: Mapping[str, Value], asked: Asked | None, problem: str = "") -> Iterator[Field]:
    """Iterate over the controls that apply; a list that makes no sense has the problem with it."""
    response, law = str(values["response"]), str(values["effects"])
    form, p = str(values["columns"]), int(values["p"])
    what, example = _SIZES[response]
    yield _VARIABLES
    yield _RESPONSE
    if response == "binary":
        yield _PREVALENCE
        yield _SAMPLING
        if values["sampling"] == "cases":
            yield _CASES
    if response == "counts":
        yield _RATE
    if response == "survival":
        yield _EVENTS
    yield _EFFECTS._replace(options=_LAWS | {"sizes": f"A list of {what}"})
    many = "" if asked is None else f"These are {signals(asked.n_signals)}."
    if law == "list":
        yield _LIST._replace(note=f"{_LIST.note} {many}".strip(), wrong=problem)
    elif law == "sizes":
        label = f"{what.capitalize()} of all signals, for one SD"
        if not values["sizes"]:
            many = "Nothing is typed yet: the numbers in grey are taken, as an example."
        yield _OWN._replace(label=label, note=many, wrong=problem, example=example)
    else:
        most = int(values["k"]) > p
        note = f"There are {p:,} variables: all of them are taken as signals." if most else ""
        yield _SIGNALS._replace(note=note)
    if law != "sizes":
        typical = "" if asked is None else f"A typical signal: {asked.study(2).typical_effect}."
        yield _R2._replace(note=typical)
    if response == "numeric":  # there is no theory for the others
        yield _COLUMNS
        if form != "none":
            yield _CORRELATION
        if form == "block":
            yield _BLOCK._replace(high=min(_BLOCK.high, p))
    yield _FDR
