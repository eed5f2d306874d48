"""The tab *Predict*: what every method will find, while the sliders move."""

from __future__ import annotations

from functools import lru_cache

import streamlit as st

from selica.app import charts, controls, markup, prediction
from selica.app.prediction import Study

_predicted = lru_cache(maxsize=512)(prediction.predict)  # going back costs nothing


def prepare() -> None:
    """Works out the first view, for whoever opens the page without a link."""
    n, p, k, r2, _ = controls.FIRST
    _predicted(Study(n, p, k, r2), None)


@st.fragment
def show() -> None:
    """Sliders on the left, curves and numbers on the right. Few elements: each takes its time."""
    left, right = st.columns([1, 2.4], gap="large")
    with left:
        sliders = controls.Sliders()
        n, (p, k, r2, fdr) = sliders.samples(), sliders.wish()
    predicted = _predicted(Study(n, p, k, r2), None if prediction.known(fdr) else fdr)
    with right:
        x = ("fdr", "false discovery rate")
        charts.curves(predicted.curves(), prediction.STYLES, x, vertical=fdr)
        title = f"At an FDR of {fdr:g}: {k} signals among {p} variables, {n} samples"
        markup.table(predicted.found(fdr), title=title)
        details = st.expander("Settings and order parameters", key="details", bind="query-params")
        if details.open:
            with details:
                markup.notes(
                    "lam is the penalty of the theory, at which one fit predicts best; on data it "
                    "is glmnet's lambda and scikit-learn's alpha, for standardised X and y."
                )
                markup.table(predicted.settings(fdr))
                markup.notes("Order parameters and their conjugates, in the article's units.")
                markup.table(predicted.order_parameters(fdr))
        markup.notes(
            *predicted.notes,
            "Independent Gaussian columns, a linear response, thresholds at their true FDR: a "
            "guide, not a promise. Best possible is the Bayes-optimal selector, which knows the "
            "law of the effects. How a method finds its threshold from data is on the tab Plan.",
        )
