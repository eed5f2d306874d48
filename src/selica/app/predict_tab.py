"""The tab *Predict*: what every method will find, while the sliders move."""

from __future__ import annotations

from collections import OrderedDict
from functools import cache, lru_cache
from importlib import import_module
from threading import Thread
from time import monotonic, sleep
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from selica import catalogue
from selica._core.effects import effects_of
from selica._core.wording import assumptions, signals
from selica.app import charts, controls, markup, prediction
from selica.app.prediction import PageStudy, Predicted

_predicted = lru_cache(maxsize=512)(prediction.predict)  # going back costs nothing
_OUT = 0.03
"""Seconds in which an answer leaves the server, before more is worked out."""
_IDEAL = "At the ideal threshold, which nobody knows in practice"
_REAL = "With a threshold that real procedures set from the data"
_FIRST = 1.5
"""Seconds for the first view of a server to be drawn, before procedures are loaded."""
_DRAWN = 0.15
"""Seconds at least between two tables."""
_KEPT = 512  # studies whose procedures are remembered
_COLUMNS = ("method", "power", "FDR", "found", "false")


def prepare() -> None:
    """Compute the first view, for whoever opens the page without a link."""
    n, p, k, r2, _ = controls.FIRST
    _predicted(PageStudy(n, p, k, r2), None)


@st.fragment
def show() -> None:
    """Show sliders on the left, curves and numbers on the right; few elements, each takes time."""
    left, right = st.columns([1, 2.4], gap="large")
    with left:
        sliders = controls.Sliders()
        n, (p, k, r2, fdr, effects) = sliders.samples(), sliders.study()
    study = PageStudy(n, p, k, r2, effects)
    predicted = _predicted(study, None if prediction.known(fdr) else fdr)
    with right:
        markup.notes(
            "The curves show the power at the ideal threshold, which nobody knows in practice. "
            "Real procedures usually find less, sometimes nothing: the second table shows their "
            "power."
        )
        x = ("fdr", "false discovery rate")
        y = "power at the ideal threshold"
        charts.curves(predicted.curves(), prediction.STYLES, x, y=y, vertical=fdr)
        drawn = _tables(predicted, fdr, _known().get((study, fdr), []))
        details = st.expander("Settings and order parameters", key="details", bind="query-params")
        if details.open:
            with details:
                markup.notes(
                    "lam is the penalty in the theory's unit, at which one fit predicts best; lam "
                    "on data is the same penalty as glmnet's lambda and scikit-learn's alpha, for "
                    "standardised X and y."
                )
                markup.table(predicted.settings(fdr))
                markup.notes("Order parameters and their conjugates, in the article's units.")
                for names in (prediction.OVERLAPS, prediction.CONJUGATES):
                    markup.table(predicted.parameters(names, fdr))
        markup.notes(
            *predicted.notes,
            assumptions(effects_of(effects)),
            "found, false: expected numbers of signals and of irrelevant variables selected. rate: "
            "number of rows drawn per row of the data in each resample. Best possible is the "
            "Bayes-optimal selector, which knows the distribution of the effects; a bound for "
            "large studies. The tab Plan says what procedures control and how to run them.",
        )
        _add_reached(predicted, fdr, drawn)


Rows = list[dict[str, Any]]


@st.cache_resource
def _known() -> OrderedDict[tuple[PageStudy, float], Rows]:
    return OrderedDict()


def _add_reached(predicted: Predicted, fdr: float, drawn: DeltaGenerator) -> None:
    """Compute what procedures reach, after all else is on its way to the browser."""
    known, asked = _known(), (predicted.study, fdr)
    if asked in known:
        return
    sleep(_OUT)
    while _loading().is_alive():
        st.session_state.get("n")  # Streamlit may end the run here, for the next move of a slider
        sleep(_OUT)
    from selica.app.reached import reached

    rows: Rows = []
    drawn_at = monotonic()
    for one in catalogue.methods(beside_ideal=True):
        rows.append(reached(predicted.study, one, fdr))
        if monotonic() > drawn_at + _DRAWN:
            _tables(predicted, fdr, rows, drawn)  # this lets the next move of a slider in
            drawn_at = monotonic()
    _tables(predicted, fdr, rows, drawn)
    known[asked] = rows
    while len(known) > _KEPT:
        known.popitem(last=False)


@cache
def _loading() -> Thread:
    """Load what knows the procedures, which takes seconds, while the first view is drawn."""

    def load() -> None:
        sleep(_FIRST)
        import_module("selica.app.reached")

    thread = Thread(target=load, daemon=True)
    thread.start()
    return thread


def _tables(
    predicted: Predicted, fdr: float, rows: Rows, drawn: DeltaGenerator | None = None
) -> DeltaGenerator:
    """Draw what is ideal beside what is reached, as far as it is known."""
    n, p, k, *_ = predicted.study
    labels = [one.label for one in catalogue.methods(beside_ideal=True)]
    waiting = [
        {"method": label} | dict.fromkeys(_COLUMNS[1:], "…") for label in labels[len(rows) :]
    ]
    title = f"At an FDR of {fdr:g}: {signals(k)} among {p} variables, {n} samples"
    ideal = (_IDEAL, predicted.found(fdr))
    return markup.beside(title, ideal, (_REAL, [*rows, *waiting]), drawn=drawn)
