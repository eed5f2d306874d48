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


FIRST = (400, 500, 100, 0.95, 0.1)
"""Samples, variables, signals, R² and FDR before anything is moved."""
_N, _P, _K, _R2, _FDR = FIRST


def samples() -> int:
    """Number of samples."""
    return int(st.slider("Samples (n)", 50, 5000, _N, 10, key="n", bind="query-params"))


def wish() -> Wish:
    """Variables, signals, their strength, and the errors that are allowed."""
    p = int(st.slider("Variables (p)", 50, 5000, _P, 10, key="p", bind="query-params"))
    k = int(st.slider("True signals (k)", 1, 500, _K, 1, key="k", bind="query-params"))
    if k > p:
        st.caption(f"There are {p} variables: all of them are taken as signals.")
    r2 = float(
        st.slider(
            "Variance they explain (R²)", 0.05, 0.99, _R2, 0.01, key="r2", bind="query-params"
        )
    )
    fdr = float(
        st.slider(
            "False discoveries allowed (FDR)",
            0.01,
            0.5,
            _FDR,
            0.01,
            key="fdr",
            bind="query-params",
        )
    )
    return Wish(p, min(k, p), r2, fdr)
