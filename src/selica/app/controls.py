"""Sliders that more than one tab has; their values are in the address of the page."""

from __future__ import annotations

from typing import NamedTuple, TypeVar

import streamlit as st

from selica._core.effects import EmpiricalEffects, effects_of
from selica._core.errors import ArgumentError, SelicaError
from selica._core.wording import signals
from selica.app import markup
from selica.app.dragging import dragged

Number = TypeVar("Number", int, float)


class UnsizedStudy(NamedTuple):
    """A study without its number of samples."""

    n_features: int
    n_signals: int
    r2: float
    fdr: float
    effects: str = "gaussian"
    """Name of a distribution, or a list of numbers."""


LAWS = {"Gaussian": "gaussian", "All equal": "point", "Laplace (a few large)": "laplace"}
"""Distributions of effects, as they are called on the page."""
_OWN = "My own list"
"""The choice of effects that are typed."""


class Positions(NamedTuple):
    """Numbers that the sliders of a study stand at."""

    n: int
    p: int
    k: int
    r2: float
    fdr: float


FIRST = Positions(400, 500, 100, 0.95, 0.1)
"""Samples, variables, signals, R² and FDR before anything is moved."""


class Sliders:
    """The sliders of a tab. One that is being dragged has the value under the thumb."""

    def __init__(self) -> None:
        self._dragged = dragged()

    def _slider(
        self, key: str, label: str, low: Number, high: Number, first: Number, step: Number
    ) -> Number:
        kind = type(first)
        let_go = kind(st.slider(label, low, high, first, step, key=key, bind="query-params"))
        before = st.session_state.get(f"before-{key}", let_go)
        st.session_state[f"before-{key}"] = let_go
        # what is told of a drag may come together with its end
        if self._dragged is None or self._dragged[0] != key or let_go != before:
            return let_go
        return min(max(kind(round(self._dragged[1], 6)), low), high)

    def power(self) -> float:
        """Return the share of the signals that is to be found."""
        label = "Power wanted (share of the signals found)"
        return self._slider("power", label, 0.05, 0.95, 0.5, 0.05)

    def samples(self) -> int:
        """Return the number of samples."""
        return self._slider("n", "Samples (n)", 50, 5000, FIRST.n, 10)

    def study(self) -> UnsizedStudy:
        """Return variables, signals, their strength, and the errors that are allowed."""
        p = self._slider("p", "Variables (p)", 50, 5000, FIRST.p, 10)
        law = st.selectbox(
            "Effects of the signals",
            [*LAWS, _OWN],
            key="effects",
            bind="query-params",
            help="How the effects differ in size. Equal effects are the easiest to find; if they "
            "follow a Gaussian or Laplace distribution, some are too small to find.",
        )
        effects = LAWS.get(law, "")
        if effects:
            k = self._slider("k", "True signals (k)", 1, 500, FIRST.k, 1)
            if k > p:
                st.caption(f"There are {p} variables: all of them are taken as signals.")
        else:
            effects, k = _listed(p)
        r2 = self._slider(
            "r2", "Share of the variance that signals explain (R²)", 0.05, 0.99, FIRST.r2, 0.01
        )
        fdr = self._slider("fdr", "False discovery rate allowed (FDR)", 0.01, 0.5, FIRST.fdr, 0.01)
        return UnsizedStudy(p, min(k, p), r2, fdr, effects)


def _listed(most: int) -> tuple[str, int]:
    """Return typed effects and their number; where they make no sense the page stops here."""
    text = st.text_input(
        "Effects of all true signals, with commas between them", "0.5, 0.4, 0.3, 0.2, 0.1",
        key="list", bind="query-params",
        help="Only their ratios count: R² says how strong they are.",
    )  # fmt: skip
    try:
        law = effects_of(text)
        if not isinstance(law, EmpiricalEffects):
            raise ArgumentError("effects must be numbers.")
        if len(law.values) > most:
            raise ArgumentError(f"effects must be at most {most} numbers, one for each variable.")
    except SelicaError as error:
        markup.problem(f"The {error}")
        st.stop()
    st.caption(f"These are {signals(len(law.values))}.")
    return ",".join(text.replace(",", " ").split()), len(law.values)
