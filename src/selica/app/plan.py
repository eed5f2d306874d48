"""From a power to a number of samples, in the words of the page."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from selica import planning
from selica._core.types import Array
from selica.app.asked import Asked
from selica.app.charts import POWER, Axis, Chart, ChartLine, ChartRule, Mark
from selica.app.reached import MESSAGE_PASSING, procedures
from selica.app.telling import change
from selica.catalogue import Method
from selica.planning.predict.ceiling import CEILING
from selica.planning.questions.inverse import MOST_SAMPLES, sample_search
from selica.planning.questions.search import SampleEstimate
from selica.plots.style import line_style

_QUICK = "stability"
"""Equations of the methods that are predicted without draws where columns are independent."""
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


class PlanRow(NamedTuple):
    """What one method needs, as a row of a table."""

    samples: int | None
    cells: Mapping[str, Any]
    is_former: bool = False
    """Whether it is of a former setting, until this one is known."""

    def order(self) -> tuple[bool, float]:
        """Return what rows are sorted by: samples, or power where no number is enough."""
        if self.samples is not None:
            return False, self.samples
        power = str(self.cells["power"])
        return True, 1.0 if power == "…" else -float(power)


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
    is_whole: bool = False
    """Whether curves are known, too."""

    def rows(self, former: Mapping[str, Need] | None = None) -> list[PlanRow]:
        """Return the methods with the fewest samples first, with dots for what is still to come.

        Parameters
        ----------
        former : mapping, optional
            Answers of a former setting by their methods, for methods about which nothing is known.
        """
        known = {need.method: PlanRow(need.samples, need.row) for need in self.needs}
        before = former or {}
        blank = dict.fromkeys(self.ceiling.row, "…")
        for one in procedures(self.asked):
            if one.label in known:
                continue
            said = {"method": one.label, "controls": one.controls}
            about = self.about.get(one.label)
            if about is not None:
                row = PlanRow(about, blank | said | {"samples": f"≈ {about:,}"})
            elif one.label in before:
                row = PlanRow(before[one.label].samples, before[one.label].row, is_former=True)
            else:
                row = PlanRow(None, blank | said, is_former=True)
            known[one.label] = row
        return [
            *sorted(known.values(), key=PlanRow.order),
            PlanRow(self.ceiling.samples, self.ceiling.row),
        ]

    @property
    def best_label(self) -> str | None:
        """What is recommended, once that is known."""
        best = None if self.found is None else self.found.best
        return None if best is None else best.prediction.label

    def chart(self) -> Chart:
        """Return the power against the samples."""
        marks = [
            Mark(need.samples, self.power, line.style.colour, need.method)
            for need in (*self.needs, self.ceiling)
            for line in self.lines
            if need.method == line.style.label and need.samples is not None
        ]
        target = f"power {self.power:g}"
        return Chart(
            "selica-plan", "Power against the number of samples", f"{target}; {self.asked}",
            Axis("samples", log=True), POWER, self.lines,
            rules=[ChartRule("y", self.power, target)],
            marks=marks, marks_label="samples that reach the power",
        )  # fmt: skip


def plans(
    power: float, asked: Asked, on_step: Callable[[], object] = lambda: None
) -> Iterator[Plan]:
    """Iterate over plans: samples with which each method finds this share of the signals.

    First about so many for methods that are predicted at once, where others take long after the
    ceiling alone, then for all, then exactly, method after method; the last one is whole, with all
    curves. `on_step` is called before some predictions of a method.
    """
    names = [one.name for one in procedures(asked)]
    quick = [one.name for one in procedures(asked) if _is_quick(one, asked)]
    study = _study(asked, on_step)
    search = sample_search(power, method=names, **study)
    if not asked.is_plain:
        yield _sketched(power, asked, search.ceiling)
    if quick and quick != names:
        some = sample_search(power, method=quick, **study)
        yield _sketched(power, asked, some.ceiling, some.sketch())
    first = _sketched(power, asked, search.ceiling, search.sketch())
    yield first
    for found in search.growing():
        needs = tuple(_need(answer) for answer in found.answers)
        yield first._replace(needs=needs, found=found if len(needs) == len(names) else None)
    every = [(one.method, one.x, one.power) for one in (*found.answers, found.ceiling)]
    yield first._replace(needs=needs, lines=_lines(every, needs), found=found, is_whole=True)


def estimates(
    power: float, asked: Asked, on_step: Callable[[], object] = lambda: None
) -> Iterator[Plan]:
    """Iterate over one plan: about how many samples those methods need that are predicted soon."""
    quick = [one.name for one in procedures(asked) if _is_quick(one, asked)]
    search = sample_search(power, method=quick, **_study(asked, on_step))
    yield _sketched(power, asked, search.ceiling, search.sketch())


def _study(asked: Asked, on_step: Callable[[], object]) -> dict[str, Any]:
    """Return the arguments of a search."""
    return {"fdr": asked.fdr, "on_step": on_step, **asked.keywords()}


def changes(
    found: planning.Requirement | None, on_step: Callable[[], object] = lambda: None
) -> Iterator[str]:
    """Iterate over one sentence: what would change the answer most."""
    on_step()
    yield change(found)


def _is_quick(one: Method, asked: Asked) -> bool:
    """Tell which methods are predicted first, because others take long."""
    if asked.covariance or one.equations != _QUICK:
        return False
    return asked.response == "numeric" or one.name != MESSAGE_PASSING


def _sketched(
    power: float,
    asked: Asked,
    ceiling: planning.RequiredValue,
    sketch: Sequence[SampleEstimate] = (),
) -> Plan:
    """Return what a search knows at once: the ceiling, and estimates."""
    about = {line_style(one.method).label: one.samples for one in sketch}
    every = [(one.method, one.x, one.power) for one in sketch if one.x.size]
    every.append((ceiling.method, ceiling.x, ceiling.power))
    top = _need(ceiling)
    return Plan(power, asked, (), about, top, _lines(every, [*sketch, top]))


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


def commands(power: float, samples: int, asked: Asked) -> tuple[str, str]:
    """Return two commands: the question of the page, and all methods with so many samples."""
    return (
        f"selica plan samples {asked.words()} --power {power:g}",
        f"selica plan compare -n {samples} {asked.words()}",
    )
