"""The tab *Plan*: from a power to a number of samples, and what to run then."""

from __future__ import annotations

from collections import OrderedDict
from time import monotonic, sleep
from typing import NamedTuple

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from selica.app import charts, markup
from selica.app.controls import Sliders, Wish
from selica.app.plan import MOST_SAMPLES, Plan, commands, plans, styles
from selica.app.turns import Turns

_PLANS = Turns()
_TOLD, _DRAWN = 0.15, 0.4
"""Seconds at least between two words of progress, and between two tables."""
_OUT = 0.03
"""Seconds in which an answer leaves the server, before more is worked out."""
_QUICK = 0.05
"""Seconds for the ceiling; where it takes more, it is drawn before the methods are tried."""
_KEPT = 256  # plans remembered: going back costs nothing


@st.cache_resource
def _known() -> OrderedDict[tuple[float, Wish], Plan]:
    return OrderedDict()


@st.fragment
def show() -> None:
    """Sliders on the left, numbers of samples on the right."""
    left, right = st.columns([1, 2.4], gap="large")
    with left:
        sliders = Sliders()
        power, wish = sliders.power(), sliders.wish()
    with right:
        planned = _planned(power, wish)
        _recipe(planned, power, wish)


def _planned(power: float, wish: Wish) -> Plan:
    """The whole plan, drawn as far as it is known while it is worked out."""
    known = _known()
    planned = known.get((power, wish))
    if planned is not None:
        _draw(planned, power)
        return planned
    drawn: Drawn | None = None
    begun = told_at = monotonic()

    def told() -> None:
        nonlocal told_at
        if drawn is not None and monotonic() > told_at + _TOLD:
            told_at = monotonic()
            drawn.working.caption("working it out …")  # this lets the next move of a slider in

    growing = plans(power, *wish, told)
    planned = next(growing)
    if monotonic() > begun + _QUICK:
        drawn = _draw(planned, power)
        sleep(_OUT)
    planned = next(growing)
    drawn, drawn_at = _draw(planned, power, drawn), monotonic()
    sleep(_OUT)
    with _PLANS.turn(told):
        for planned in growing:
            if monotonic() > drawn_at + _DRAWN:
                markup.table(planned.rows, drawn=drawn.table)
                drawn_at = monotonic()
    drawn = _draw(planned, power, drawn)
    drawn.working.empty()
    known[power, wish] = planned
    while len(known) > _KEPT:
        known.popitem(last=False)
    return planned


class Drawn(NamedTuple):
    """What is on the page of a plan."""

    curves: DeltaGenerator
    table: DeltaGenerator
    working: DeltaGenerator


def _draw(planned: Plan, power: float, drawn: Drawn | None = None) -> Drawn:
    """Draws a plan, or more of one that is drawn."""
    curves = charts.curves(
        planned.curves,
        styles(),
        ("n", "samples"),
        horizontal=power,
        log=True,
        drawn=drawn and drawn.curves,
    )
    table = markup.table(planned.rows, drawn=drawn and drawn.table)
    return Drawn(curves, table, drawn.working if drawn else st.empty())


def _recipe(planned: Plan, power: float, wish: Wish) -> None:
    """What to type, for the method with the fewest samples."""
    reached = [(need.samples, need) for need in planned.needs if need.samples is not None]
    if not reached:
        markup.problem(
            f"No method finds so many signals with {MOST_SAMPLES:,} samples: ask for less power, "
            "or allow more false discoveries."
        )
        return
    samples, best = min(reached, key=lambda pair: pair[0])
    asked, closer = commands(power, samples, *wish)
    st.markdown("The same on the command line, with `--json` and `--plot`:")
    st.code(asked, language="bash", wrap_lines=True)
    st.markdown(f"**Fewest samples**: {samples:,} with {best.method}. Every method with so many:")
    st.code(closer, language="bash", wrap_lines=True)
    st.markdown("Once there is data, with the penalty that is best for such a study:")
    name = best.code.split("(")[0]
    st.code(
        f"from selica import {name}\n\nselector = {best.code}\nprint(selector.fit(X, y).summary())",
        language="python",
        wrap_lines=True,
    )
    others = [pair for pair in reached if "engine=" not in pair[1].code]
    if "engine=" in best.code and others:
        more, other = min(others, key=lambda pair: pair[0])
        st.caption(
            "Refits check message passing and may refuse the data. Plan for that with "
            f"{more:,} samples: {other.method}, as"
        )
        st.code(other.code, language="python", wrap_lines=True)
    st.caption(
        "Independent Gaussian columns, a linear response: correlated columns need more samples. "
        "Best possible is the Bayes-optimal selector, which knows the law of the effects."
    )
