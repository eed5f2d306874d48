"""The tab *Plan*: from a power to a number of samples, what to write and what to run then."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from functools import partial
from time import monotonic, sleep
from typing import TYPE_CHECKING, NamedTuple

import streamlit as st

from selica._core.compiled import threads
from selica._core.errors import SelicaError
from selica.app import charts, controls, markup, telling
from selica.app.apart import Apart, look
from selica.app.asked import Asked
from selica.app.panel import Panel
from selica.app.plan import Need, Plan, changes, commands, estimates, plans
from selica.app.workers import Workers
from selica.planning.questions.protocol import protocol

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

_PANEL = Panel("Plan", (controls.POWER, *controls.STUDY))
_WORKERS = Workers(threads())
"""Processes for the plans of all windows."""
_ESTIMATES = Workers(1)
"""A process for estimates, where a plan has to wait for those of other windows."""
_BETWEEN_TABLES = 0.4
"""Seconds at least between two tables."""
_OUT = 0.03
"""Seconds in which an answer leaves the server, before more is worked out."""
_REST = 0.4
"""Seconds without a move before it is worked out what would change the answer most."""
_FORMER = "former plan"
"""Where a window keeps what it showed last."""
_KEPT = 256  # plans remembered: going back costs nothing
_WORDS = (
    "found, false: expected numbers of signals and of irrelevant variables selected. ± s.e.: error "
    "of the power from the draws behind it, where there are any. controls: FDR, the expected share "
    "of false selections (3.2 FDR: up to 3.2 times the level); PFER, their expected number. best "
    "possible: the Bayes-optimal selector, which knows the distribution of the effects."
)


class _Told(NamedTuple):
    """A whole plan, with what would change it most."""

    plan: Plan
    change: str


class _FormerPlan(NamedTuple):
    """The last whole answer of a window."""

    said: tuple[str, ...] = (markup.COMPUTING,)
    needs: Mapping[str, Need] = {}
    """By their methods."""


def _former() -> _FormerPlan:
    found: _FormerPlan = st.session_state.get(_FORMER, _FormerPlan())
    return found


@st.cache_resource
def _known() -> OrderedDict[tuple[float, Asked], _Told]:
    return OrderedDict()


class _Drawn(NamedTuple):
    """Parts of a plan that are replaced while it is worked out."""

    headline: DeltaGenerator | None = None
    chart: DeltaGenerator | None = None
    table: DeltaGenerator | None = None


def show() -> None:
    """Show controls on the left, numbers of samples on the right."""
    left, right = markup.sides()
    with left:
        power, asked = controls.study(_PANEL, controls.POWER, right)
    with right:
        try:
            told = _planned(power, asked)
        except SelicaError as error:
            markup.problem(str(error))
        else:
            _recipe(told, power, asked)


def _planned(power: float, asked: Asked) -> _Told:
    """Return the whole plan, drawn as far as it is known while it is worked out."""
    known = _known()
    told = known.get((power, asked))
    if told is not None:
        _say(told.plan, _draw(told.plan, _Drawn()).headline, working=False)
        return told
    planned = next(plans(power, asked))
    drawn = _draw(planned, _Drawn())
    drawn_at = monotonic()
    sleep(_OUT)
    if _WORKERS.are_busy and not asked.covariance:
        for planned in _ESTIMATES.stream(partial(estimates, power, asked), look):
            _draw(planned, drawn)
    for more in _WORKERS.stream(partial(plans, power, asked), look):
        if not more.needs and len(more.about) <= len(planned.about):
            continue  # these estimates are there
        is_first = bool(more.about and not planned.about)  # estimates, after the ceiling alone
        planned = more
        late = monotonic() > drawn_at + _BETWEEN_TABLES
        if is_first or late or planned.found is not None:
            _draw(planned, drawn)
            drawn_at = monotonic()
    Apart(look).rest(_REST)
    (change,) = _WORKERS.stream(partial(changes, planned.found), look)
    _say(planned, drawn.headline, working=False)
    told = known[power, asked] = _Told(planned, change)
    while len(known) > _KEPT:
        known.popitem(last=False)
    return told


def _say(planned: Plan, drawn: DeltaGenerator | None, *, working: bool = True) -> DeltaGenerator:
    """Draw the answer in sentences; the former one stays, pale, where nothing is known."""
    about = min((n for n in planned.about.values() if n is not None), default=None)
    said = _former().said
    if planned.found is not None:
        said = tuple(telling.required(planned.found))
        needs = {need.method: need for need in planned.needs}
        st.session_state[_FORMER] = _FormerPlan(said, needs)
    elif about is not None:
        said = (f"About {about:,} samples …",)
    is_former = planned.found is None and about is None
    return markup.answer(*said, former=is_former, working=working, drawn=drawn)


def _draw(planned: Plan, drawn: _Drawn) -> _Drawn:
    """Draw a plan, or more of one that is drawn."""
    rows = planned.rows(_former().needs)
    headline = _say(planned, drawn.headline)
    chart = charts.draw(planned.chart(), drawn.chart)
    table = markup.table(
        [row.cells for row in rows],
        [row.cells["method"] == planned.best_label for row in rows],
        former=[row.is_former for row in rows],
        title=f"Samples for a power of {planned.power:g}: {planned.asked}",
        drawn=drawn.table,
    )
    return _Drawn(headline, chart, table)


def _recipe(told: _Told, power: float, asked: Asked) -> None:
    """Say why, what to write into a protocol, and what to type."""
    found = told.plan.found
    assert found is not None, "a plan that is told is whole"
    markup.notes(*telling.planned(found), told.change, _WORDS)
    best, other, _ = found.recommendation
    if best is None:
        return
    question, closer = commands(power, int(best.value or 0), asked)
    paper = st.expander(
        "Sample size justification for a protocol", key="paper", bind="query-params"
    )
    if paper.open:
        with paper:
            st.code(protocol(found, command=question), language=None, wrap_lines=True)
    run = st.expander("How to ask on the command line, and what to run", key="run-plan",
                      expanded=True)  # fmt: skip
    with run:
        st.code(f"# the same question\n{question}\n\n# all methods with so many samples\n{closer}",
                language="bash", wrap_lines=True)  # fmt: skip
        code = best.prediction.code
        fit = (
            "# once there is data: this selector, with the penalty that is best for such a study\n"
            f"from selica import {code.split('(')[0]}\n\nselector = {code}\n"
            "print(selector.fit(X, y).summary())"
        )
        if other is not None:
            fit += f"\n\n# if checks on the data refuse its p-values\n# {other.prediction.code}"
        st.code(fit, language="python", wrap_lines=True)
