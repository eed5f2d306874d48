"""The tab *Predict*: what every method will find, while the sliders move."""

from __future__ import annotations

import streamlit as st

from selica.app import charts, controls, markup, prediction
from selica.app.prediction import Predicted, Study

_KEPT = 512  # studies remembered: going back costs nothing


@st.cache_data(max_entries=_KEPT, show_spinner=False)
def _predicted(study: Study, more: float | None) -> Predicted:
    return prediction.predict(study, more)


@st.fragment
def show() -> None:
    """Sliders on the left, curves and numbers on the right. Few elements: each takes its time."""
    left, right = st.columns([1, 2.4], gap="large")
    with left:
        n = controls.samples()
        p, k, r2, fdr = controls.wish()
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
