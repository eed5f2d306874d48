"""From a power to a number of samples, in the words of the page."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from selica import planning
from selica._core.types import Array
from selica.app.asked import Asked
from selica.app.charts import POWER, Axis, Chart, ChartLine, ChartRule, Mark
from selica.app.reached import procedures
from selica.planning.predict.ceiling import CEILING
from selica.planning.questions.inverse import MOST_SAMPLES, sample_search
from selica.planning.questions.search import SampleEstimate
from selica.plots.style import LineStyle, line_style

_QUICK = "stability"
"""Equations of the methods that are predicted without draws."""
_BEYOND = 2.0
"""How far curves go on, by the largest answer."""


class Need(NamedTuple):
    """What one method needs."""

    method: str
    """Its label."""
    samples: int | None
    """None where the largest number tried is not enough."""
    row: dict[str, Any]
    """The prediction with so many samples."""


class Plan(NamedTuple):
    """What is known so far: answers, estimates of those to come, power against the samples."""

    power: float
    asked: Asked
    needs: tuple[Need, ...]
    about: dict[str, int | None]
    """About how many samples methods need, by their labels; None: no estimate is possible."""
    ceiling: Need
    """What no method can do without."""
    lines: tuple[ChartLine, ...]
    """Power against samples, to some way beyond the last answer."""
    found: planning.Requirement | None = None
    """All answers, once they are known."""

    def rows(self) -> list[dict[str, Any]]:
        """Return the methods with the fewest samples first, with dots for what is still to come."""
        known = {need.method: (need.samples, need.row) for need in self.needs}
        blank = dict.fromkeys(self.ceiling.row, "…")
        for one in procedures(self.asked):
            if one.label not in known:
                about = self.about.get(one.label)
                said = {"method": one.label, "controls": one.controls}
                said |= {"samples": "…" if about is None else f"≈ {about:,}"}
                known[one.label] = (about, blank | said)
        order = sorted(known.values(), key=lambda pair: (pair[0] is None, pair[0] or 0))
        return [*(row for _, row in order), self.ceiling.row]

    def is_marked(self) -> list[bool]:
        """Return which of the rows is the recommended one."""
        best = None if self.found is None else self.found.best
        label = None if best is None else best.prediction.label
        return [row["method"] == label for row in self.rows()]

    def chart(self) -> Chart:
        """Return the power against the samples."""
        marks = [
            Mark(need.samples, self.power, line.style.colour)
            for need in (*self.needs, self.ceiling)
            for line in self.lines
            if need.method == line.style.label and need.samples is not None
        ]
        target = f"power {self.power:g}"
        return Chart(
            "selica-plan", "Power against the number of samples", f"{target}; {self.asked}",
            Axis("samples", log=True), POWER, self.lines,
            rules=[ChartRule("y", self.power, target)],
            marks=marks,
        )  # fmt: skip


def plans(
    power: float, asked: Asked, on_step: Callable[[], object] = lambda: None
) -> Iterator[Plan]:
    """Iterate over plans: samples with which each method finds this share of the signals.

    First about so many for methods that are predicted at once, then for all, then exactly, method
    after method; the last one is whole. `on_step` is called before some predictions of a method.
    """
    names = [one.name for one in procedures(asked)]
    quick = [one.name for one in procedures(asked) if one.equations == _QUICK]
    study = {"fdr": asked.fdr, "on_step": on_step, **asked.keywords()}
    if quick and quick != names and asked.is_plain:
        yield _sketched(power, asked, sample_search(power, method=quick, **study))
    search = sample_search(power, method=names, **study)
    first = _sketched(power, asked, search)
    yield first
    for found in search.growing():
        needs = tuple(_need(answer) for answer in found.answers)
        yield first._replace(needs=needs)
    every = [(one.method, one.x, one.power) for one in (*found.answers, found.ceiling)]
    yield first._replace(needs=needs, lines=_lines(every, needs), found=found)


def _sketched(power: float, asked: Asked, search: Any) -> Plan:
    """Return what a search knows at once."""
    ceiling, sketch = _need(search.ceiling), search.sketch()
    about = {line_style(one.method).label: one.samples for one in sketch}
    every = [(one.method, one.x, one.power) for one in (*sketch, search.ceiling) if one.x.size]
    return Plan(power, asked, (), about, ceiling, _lines(every, [*sketch, ceiling]))


def _lines(
    curves: Sequence[tuple[str, Array, Array]], answers: Sequence[Need | SampleEstimate]
) -> tuple[ChartLine, ...]:
    """Return the power against samples of methods, up to some way beyond the answers."""
    end = _BEYOND * max((n for one in answers if (n := one.samples)), default=MOST_SAMPLES)
    return tuple(
        ChartLine(line_style(name), x[x <= end].tolist(), power[x <= end].tolist())
        for name, x, power in curves
    )


def _need(answer: planning.RequiredValue) -> Need:
    at, style = answer.prediction, line_style(answer.method)
    row = {
        "method": style.label,
        "samples": "not reached" if answer.value is None else f"{answer.value:,.0f}",
        "power": f"{at.power:.3f}",
        "± s.e.": f"{at.power_error:.3f}" if at.power_error >= 0.0005 else "",
        "FDR": f"{at.fdr:.3f}",
        "found": f"{at.true_selections:,.1f}",
        "false": f"{at.false_selections:,.1f}",
        "controls": "" if answer.method == CEILING else at.controls,
    }
    return Need(style.label, None if answer.value is None else int(answer.value), row)


def styles(asked: Asked) -> tuple[LineStyle, ...]:
    """Return the styles of all methods, and of the ceiling."""
    return (*(line_style(one.name) for one in procedures(asked)), line_style(CEILING))


def commands(power: float, samples: int, asked: Asked) -> tuple[str, str]:
    """Return two commands: the question of the page, and all methods with so many samples."""
    return (
        f"selica plan samples {asked.words()} --power {power:g}",
        f"selica plan compare -n {samples} {asked.words()}",
    )
