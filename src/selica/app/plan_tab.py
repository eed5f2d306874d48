"""The tab *Plan*: from a power to a number of samples, and what to run then."""

from __future__ import annotations

import streamlit as st

from selica.app import charts, controls, markup
from selica.app.controls import Wish
from selica.app.plan import MOST_SAMPLES, Need, Plan, plan


@st.cache_data(max_entries=256, show_spinner="working out the numbers of samples")
def _plan(power: float, wish: Wish) -> Plan:
    return plan(power, *wish)


@st.fragment
def show() -> None:
    """Sliders on the left, numbers of samples on the right."""
    left, right = st.columns([1, 2.4], gap="large")
    with left:
        power = float(
            st.slider(
                "Power wanted (share of the signals found)",
                0.05,
                0.95,
                0.5,
                0.05,
                key="power",
                bind="query-params",
            )
        )
        wish = controls.wish()
    with right:
        planned = _plan(power, wish)
        markup.cards({need.method: _samples(need) for need in planned.needs})
        charts.curves(
            [row for row in planned.curves if row["n"] <= _end(planned)],
            planned.styles,
            ("n", "samples"),
            horizontal=power,
            log=True,
        )
        _recipe(planned, wish)


def _samples(need: Need) -> str:
    return f"more than {MOST_SAMPLES:,}" if need.samples is None else f"{need.samples:,} samples"


def _end(planned: Plan) -> float:
    """The curves are drawn to some way beyond the last answer."""
    return 4.0 * max(need.samples or MOST_SAMPLES for need in planned.needs)


def _recipe(planned: Plan, wish: Wish) -> None:
    """What to type, for the method with the fewest samples."""
    reached = [need for need in planned.needs if need.samples is not None]
    if not reached:
        markup.problem(
            f"No method finds so many signals with {MOST_SAMPLES:,} samples: ask for less power, "
            "or allow more false discoveries."
        )
        return
    best = min(reached, key=lambda need: need.samples or 0)
    st.markdown(f"**Check it**: {best.method} with {best.samples:,} samples")
    p, k, r2, fdr = wish
    st.code(
        f"selica predict -n {best.samples} -p {p} -k {k} --r2 {r2:g} --fdr {fdr:g}",
        language="bash",
    )
    st.markdown("**Once there is data**")
    name = best.code.split("(")[0]
    st.code(
        f"from selica import {name}\n\nselector = {best.code}.fit(X, y)\nprint(selector.summary())",
        language="python",
    )
    st.caption(
        "Independent Gaussian columns, a linear response: correlated columns need more samples."
    )
