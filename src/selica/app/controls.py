"""Sliders that more than one tab has; their values are in the address of the page."""

from __future__ import annotations

from typing import NamedTuple

import streamlit as st


class Wish(NamedTuple):
    """A study without its number of samples."""

    n_features: int
    n_signals: int
    r2: float
    fdr: float


def samples() -> int:
    """Number of samples."""
    return int(st.slider("Samples (n)", 50, 5000, 400, 10, key="n", bind="query-params"))


def wish() -> Wish:
    """Variables, signals, their strength, and the errors that are allowed."""
    p = int(st.slider("Variables (p)", 50, 5000, 500, 10, key="p", bind="query-params"))
    k = int(st.slider("True signals (k)", 1, 500, 100, 1, key="k", bind="query-params"))
    if k > p:
        st.caption(f"There are {p} variables: all of them are taken as signals.")
    r2 = float(
        st.slider(
            "Variance they explain (R²)", 0.05, 0.99, 0.95, 0.01, key="r2", bind="query-params"
        )
    )
    fdr = float(
        st.slider(
            "False discoveries allowed (FDR)",
            0.01,
            0.5,
            0.1,
            0.01,
            key="fdr",
            bind="query-params",
        )
    )
    return Wish(p, min(k, p), r2, fdr)
