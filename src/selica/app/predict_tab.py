"""The tab *Predict*: what every method will find, while the sliders move."""

from __future__ import annotations

import streamlit as st

from selica.app import charts, controls, markup, prediction
from selica.app.prediction import Penalties, Predicted, Study

_KEPT = 512  # settings remembered: going back costs nothing


@st.cache_data(max_entries=_KEPT, show_spinner=False)
def _penalties(study: Study) -> Penalties:
    return prediction.penalties(study)


@st.cache_data(max_entries=_KEPT, show_spinner=False)
def _predicted(study: Study, fdr: float) -> Predicted:
    return prediction.predict(study, fdr, _penalties(study))


@st.fragment
def show() -> None:
    """Sliders on the left, curves and numbers on the right."""
    left, right = st.columns([1, 2.4], gap="large")
    with left:
        n = controls.samples()
        p, k, r2, fdr = controls.wish()
    study = Study(n, p, k, r2)
    predicted = _predicted(study, fdr)
    with right:
        x = ("fdr", "false discovery rate")
        charts.curves(predicted.curves, prediction.STYLES, x, vertical=fdr)
        st.markdown(f"**At an FDR of {fdr:g}**, {k} signals among {p} variables, {n} samples")
        markup.table(predicted.methods)
        with st.expander("Settings and order parameters"):
            st.caption(
                "lam is the penalty of the theory, at which one fit predicts best; on data it is "
                "glmnet's lambda and scikit-learn's alpha, for standardised X and y."
            )
            markup.table(predicted.settings)
            st.caption("Order parameters and their conjugates, in the article's units.")
            markup.table(predicted.order_parameters)
        for note in predicted.notes:
            st.caption(note)
        st.caption(
            "Independent Gaussian columns, a linear response, thresholds at their true FDR: a "
            "guide, not a promise. Best possible is the Bayes-optimal selector, which knows the "
            "law of the effects. How a method finds its threshold from data is on the tab Plan."
        )
