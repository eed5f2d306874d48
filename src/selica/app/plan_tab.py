"""The tab *Plan*: from a power to a number of samples, and what to run then."""

from __future__ import annotations

import streamlit as st

from selica.app import charts, controls, markup
from selica.app.controls import Wish
from selica.app.plan import MOST_SAMPLES, Plan, commands, plan


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
        charts.curves(
            [row for row in planned.curves if row["n"] <= _end(planned)],
            planned.styles,
            ("n", "samples"),
            horizontal=power,
            log=True,
        )
        markup.table([*(need.row for need in planned.needs), planned.ceiling])
        _recipe(planned, power, wish)


def _end(planned: Plan) -> float:
    """The curves are drawn to some way beyond the last answer."""
    answers = [need.samples for need in planned.needs if need.samples is not None]
    return 2.0 * max(answers, default=MOST_SAMPLES)


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
