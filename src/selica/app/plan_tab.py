"""The tab *Plan*: from a power to a number of samples, and what to run then."""

from __future__ import annotations

from collections import OrderedDict
from time import monotonic, sleep
from typing import NamedTuple

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from selica._core.effects import effects_of
from selica._core.wording import assumptions
from selica.app import charts, markup
from selica.app.controls import Sliders, UnsizedStudy
from selica.app.plan import MOST_SAMPLES, Plan, commands, plans, styles
from selica.app.turns import Turns
from selica.catalogue import method
from selica.planning import RequiredValue
from selica.planning.questions.answers import far_apart
from selica.planning.questions.recommendation import RULE

_PLANS = Turns()
"""The queue of all plans."""
_BETWEEN_WORDS = 0.15
"""Seconds at least between two words of progress."""
_BETWEEN_TABLES = 0.4
"""Seconds at least between two tables."""
_OUT = 0.03
"""Seconds in which an answer leaves the server, before more is worked out."""
_QUICK = 0.05
"""Seconds for the ceiling; where it takes more, it is drawn before the methods are tried."""
_KEPT = 256  # plans remembered: going back costs nothing
_WORDS = (
    "found, false: expected numbers of signals and of irrelevant variables selected. controls: "
    "FDR, the expected share of false selections (3.2 FDR: up to 3.2 times the level); PFER, "
    "their expected number. Best possible is the Bayes-optimal selector, which knows the "
    "distribution of the effects. Correlated columns need more samples."
)


@st.cache_resource
def _known() -> OrderedDict[tuple[float, UnsizedStudy], Plan]:
    return OrderedDict()


@st.fragment
def show() -> None:
    """Show sliders on the left, numbers of samples on the right."""
    left, right = st.columns([1, 2.4], gap="large")
    with left:
        sliders = Sliders()
        power, study = sliders.power(), sliders.study()
    with right:
        planned = _planned(power, study)
        _recipe(planned, power, study)


def _planned(power: float, study: UnsizedStudy) -> Plan:
    """Return the whole plan, drawn as far as it is known while it is worked out."""
    known = _known()
    planned = known.get((power, study))
    if planned is not None:
        _draw(planned, power)
        return planned
    drawn: DrawnPlan | None = None
    begun = said_at = monotonic()

    def on_step() -> None:
        nonlocal said_at
        if drawn is not None and monotonic() > said_at + _BETWEEN_WORDS:
            said_at = monotonic()
            drawn.working.caption("computing …")  # this lets the next move of a slider in

    growing = plans(power, *study, on_step=on_step)
    planned = next(growing)
    if monotonic() > begun + _QUICK:
        drawn = _draw(planned, power)
        sleep(_OUT)
    planned = next(growing)
    drawn, drawn_at = _draw(planned, power, drawn), monotonic()
    sleep(_OUT)
    with _PLANS.turn(on_step):
        for planned in growing:
            if monotonic() > drawn_at + _BETWEEN_TABLES:
                markup.table(planned.rows, drawn=drawn.table)
                drawn_at = monotonic()
    drawn = _draw(planned, power, drawn)
    drawn.working.empty()
    known[power, study] = planned
    while len(known) > _KEPT:
        known.popitem(last=False)
    return planned


class DrawnPlan(NamedTuple):
    """Parts of a plan that are on the page."""

    curves: DeltaGenerator
    table: DeltaGenerator
    working: DeltaGenerator


def _draw(planned: Plan, power: float, drawn: DrawnPlan | None = None) -> DrawnPlan:
    """Draw a plan, or more of one that is drawn."""
    curves = charts.curves(
        planned.curves,
        styles(),
        ("n", "samples"),
        horizontal=power,
        log=True,
        drawn=drawn and drawn.curves,
    )
    table = markup.table(planned.rows, drawn=drawn and drawn.table)
    return DrawnPlan(curves, table, drawn.working if drawn else st.empty())


def _recipe(planned: Plan, power: float, study: UnsizedStudy) -> None:
    """Say what to type, for the method with the fewest samples."""
    law = effects_of(study.effects)
    if planned.found is None:
        return
    best, other, left_out = planned.found.recommendation
    reasons = [f"Left out: {_with(one)}: {reason}." for one, reason in left_out]
    if best is None:
        markup.problem(
            f"No method reaches this power with {MOST_SAMPLES:,} samples and keeps the level: "
            "ask for less power, or allow a higher false discovery rate."
        )
        markup.notes(RULE, *reasons, assumptions(law))
        return
    asked, closer = commands(power, int(best.value or 0), *study)
    markup.remark(f"Fewest samples: {_with(best)}.")
    equal = [
        f"With equal effects instead of {law.label}, {planned.equal:,} samples would be enough."
    ] if far_apart(best.value, planned.equal) and planned.equal is not None else []  # fmt: skip
    markup.notes(RULE, *reasons, *equal, assumptions(law), _WORDS)
    st.markdown("The same question on the command line:")
    st.code(asked, language="bash", wrap_lines=True)
    st.markdown("All methods with this number of samples:")
    st.code(closer, language="bash", wrap_lines=True)
    st.markdown(
        "Once there is data, run this selector, with the penalty that is best for such a study:"
    )
    code = best.prediction.code
    st.code(
        f"from selica import {code.split('(')[0]}\n\nselector = {code}\n"
        "print(selector.fit(X, y).summary())",
        language="python",
        wrap_lines=True,
    )
    if other is not None:
        st.caption(
            "Checks on the data may refuse its p-values. To be prepared for that, "
            f"plan {_with(other)}:"
        )
        st.code(other.prediction.code, language="python", wrap_lines=True)


def _with(answer: RequiredValue) -> str:
    """Return an answer in words."""
    return f"{answer.value or 0:,.0f} with {method(answer.method).label}"
