"""The tab *Predict*: what procedures will find, and what a known threshold would."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache, partial
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, NamedTuple

import streamlit as st

from selica._core.errors import SelicaError
from selica.app import charts, controls, markup, prediction, telling
from selica.app.apart import Apart, look
from selica.app.asked import Asked
from selica.app.charts import Mark
from selica.app.panel import Panel
from selica.app.prediction import PageStudy, Predicted
from selica.app.reached import Reached, reached
from selica.catalogue import method
from selica.planning import Comparison

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

_PANEL = Panel("Predict", (controls.SAMPLES, *controls.STUDY))
_predicted = lru_cache(maxsize=512)(prediction.predict)  # going back costs nothing
_OUT = 0.03
"""Seconds in which an answer leaves the server, before more is worked out."""
_DRAWN = 0.15
"""Seconds at least between two tables."""
_FIRST = 0.07
"""Seconds in which procedures are predicted before the first answer is drawn."""
_REST = 0.4
"""Seconds without a move before it is worked out what would change the answer most."""
_FORMER = "former answer"
"""Where a window keeps what it showed last."""
_IDEAL = "Ideal: nobody knows this threshold"
_REAL = "What procedures reach, with a threshold that they set from the data"
_WORDS = (
    "found, false: expected numbers of signals and of irrelevant variables selected. ± s.e.: "
    "standard error of the power from the draws behind it, where there are any. controls: FDR, the "
    "expected share of false selections (3.2 FDR: up to 3.2 times the level); PFER, their expected "
    "number. best possible: the Bayes-optimal selector, which knows the distribution of the "
    "effects."
)
_NO_IDEAL = (
    "What a known threshold would find is shown for a numeric response and independent columns "
    "only."
)
_LIMIT = (
    "The curves, and the table below them, are the limit of large studies; the table at the top "
    "counts that a study has only so many signals. This is why the best possible differs a little."
)


def prepare() -> None:
    """Compute the first view, for whoever opens the page without a link."""
    first = {field.key: field.first for field in (controls.SAMPLES, *controls.STUDY)}
    n, p, k, r2 = (first[key] for key in ("n", "p", "k", "r2"))
    _predicted(PageStudy(int(n), int(p), int(k), float(r2)), None)


class _Drawn(NamedTuple):
    """Parts of the answer that are replaced while it is worked out."""

    headline: DeltaGenerator | None
    table: DeltaGenerator | None
    notes: DeltaGenerator | None
    chart: DeltaGenerator | None


class _Former(NamedTuple):
    """The last whole answer of a window."""

    said: tuple[str, ...] = (markup.COMPUTING,)
    rows: Mapping[str, Mapping[str, Any]] = {}
    """By their methods."""


def show() -> None:
    """Show controls on the left, procedures and then the ideal on the right."""
    left, right = markup.sides()
    with left:
        samples, asked = controls.study(_PANEL, controls.SAMPLES, right)
    n, ideal = int(samples), None
    if asked.is_plain:
        study = PageStudy(n, asked.n_features, asked.n_signals, asked.study(n).r2, asked.effects)
        ideal = _predicted(study, None if prediction.known(asked.fdr) else asked.fdr)
    with right:
        try:
            _follow(ideal, asked, n)
        except SelicaError as error:
            markup.problem(str(error))


def _follow(ideal: Predicted | None, asked: Asked, n: int) -> None:
    """Draw what is known, and more as it becomes known; the ideal comes with the first.

    Nothing is drawn empty before: the former answer stays, pale, until there is another.
    """
    drawn: _Drawn | None = None
    drawn_at = monotonic()
    apart = Apart(look)
    for known in reached(asked, n) if asked.is_plain else reached(asked, n, apart.run):
        wait = _FIRST if drawn is None else _DRAWN
        # what follows may take seconds
        at_once = drawn is None and (known.is_next_slow or not asked.is_plain)
        if not known.is_whole and monotonic() < drawn_at + wait and not at_once:
            continue
        if drawn is None:
            drawn = _draw(known, ideal)
            if ideal is None:
                markup.notes(_NO_IDEAL)
            else:
                _details(ideal, asked.fdr)
            sleep(_OUT)
        else:
            _draw(known, ideal if known.is_whole else None, drawn)
        drawn_at = monotonic()  # a drawing lets the next move of a slider in
    assert drawn is not None, "what is whole is drawn"
    apart.rest(_REST)
    change = apart.run(partial(telling.change, known.comparison))
    if change:
        markup.notes(*telling.reasons(known), change, _WORDS, drawn=drawn.notes)


def _draw(known: Reached, ideal: Predicted | None, drawn: _Drawn | None = None) -> _Drawn:
    """Draw what procedures reach, as far as it is known, and the ideal where there is one."""
    before = _Drawn(None, None, None, None) if drawn is None else drawn
    setting = f"{known.n_samples:,} samples, {known.asked}"
    comparison = known.comparison
    rows = known.rows(_former().rows)
    if comparison is not None:
        named = {str(row.cells["method"]): row.cells for row in rows}
        st.session_state[_FORMER] = _Former(tuple(telling.headline(comparison)), named)
    headline = _say(comparison, before.headline)
    table = markup.table(
        [row.cells for row in rows],
        [row.cells["method"] == known.best_label for row in rows],
        former=[row.is_former for row in rows],
        title=f"{_REAL}: {setting}",
        drawn=before.table,
    )
    notes = markup.notes(*telling.reasons(known), _WORDS, drawn=before.notes)
    chart = before.chart
    if ideal is not None:
        marks = [
            Mark(one.fdr, one.power, method(one.method).colour, one.label) for one in known.at_best
        ]
        chart = charts.draw(ideal.chart(setting, known.asked.fdr, marks), chart)
    return _Drawn(headline, table, notes, chart)


def _former() -> _Former:
    found: _Former = st.session_state.get(_FORMER, _Former())
    return found


def _say(comparison: Comparison | None, drawn: DeltaGenerator | None) -> DeltaGenerator:
    """Draw the last whole answer, pale where it is of a former setting."""
    is_former = comparison is None
    return markup.answer(*_former().said, former=is_former, working=is_former, drawn=drawn)


def _details(ideal: Predicted, fdr: float) -> None:
    """Show the ideal in numbers, and what is behind them where that is open."""
    markup.table(ideal.found(fdr), title=f"{_IDEAL}, at an FDR of {fdr:g}")
    details = st.expander("Settings and order parameters", key="details", bind="query-params")
    if details.open:
        with details:
            markup.notes(
                "lam is the penalty in the theory's unit, at which one fit predicts best; lam on "
                "data is the same penalty as glmnet's lambda and scikit-learn's alpha, for "
                "standardised X and y. rate: rows drawn per row of the data in each resample."
            )
            markup.table(ideal.settings(fdr))
            markup.notes("Order parameters and their conjugates, in the article's units.")
            for names in (prediction.OVERLAPS, prediction.CONJUGATES):
                markup.table(ideal.parameters(names, fdr))
    markup.notes(*ideal.notes, _LIMIT)
