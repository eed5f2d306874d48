"""From a power to a number of samples, in the words of the page."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from selica import catalogue, planning, theory
from selica._core.effects import effects_of
from selica._core.types import Array
from selica.catalogue import Method
from selica.planning.predict.ceiling import CEILING
from selica.planning.questions.inverse import sample_search
from selica.planning.questions.search import SampleEstimate
from selica.plots.style import LineStyle, line_style

MOST_SAMPLES = 100_000
"""Largest number of samples that is tried."""


def planned() -> list[Method]:
    """Return the methods of the tab: what sets its threshold by the data, without variants."""
    able = (one for one in catalogue.methods(calibrated=True) if not one.preset)
    return [one for one in able if one.predictor is not None]


def styles() -> tuple[LineStyle, ...]:
    """Return the styles of all methods, and of the ceiling."""
    return (*(line_style(one.name) for one in planned()), line_style(CEILING))


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

    needs: tuple[Need, ...]
    about: tuple[str, ...]
    """About how many samples every method needs."""
    ceiling: Need
    """What no method can do without."""
    curves: dict[str, list[Any]]
    """Method, number of samples and power, to some way beyond the last answer."""
    found: planning.Requirement | None = None
    """All answers, once they are known."""
    equal: int | None = None
    """Samples of the recommended method if effects were equal."""

    @property
    def rows(self) -> list[dict[str, Any]]:
        """Rows of all methods, with dots for what is still to come."""
        blank = dict.fromkeys(self.ceiling.row, "…")
        waiting = [
            blank | {"method": one.label, "samples": samples, "controls": one.controls}
            for one, samples in zip(planned(), self.about, strict=True)
        ]
        return [*(need.row for need in self.needs), *waiting[len(self.needs) :], self.ceiling.row]


def plans(
    power: float,
    n_features: int,
    n_signals: int,
    r2: float,
    fdr: float,
    effects: str = "gaussian",
    on_step: Callable[[], object] = lambda: None,
) -> Iterator[Plan]:
    """Iterate over plans: samples with which each method finds this share of the signals.

    First what no method can do without, then about so many for all of them, then exactly, method
    after method; the last one is whole. `on_step` is called before some predictions of a method.
    """
    study: dict[str, Any] = {"n_features": n_features, "n_signals": n_signals, "r2": r2}
    study |= {"fdr": fdr, "at_most": MOST_SAMPLES}
    names = [one.name for one in planned()]
    search = sample_search(
        power, **study, effects=effects_of(effects), method=names, on_step=on_step
    )
    *lines, top = styles()
    ceiling = _need(top, search.ceiling)
    known = (search.ceiling.x, search.ceiling.power)
    nothing = (known[0][:0], known[1][:0])
    yield Plan((), ("…",) * len(lines), ceiling, _curves([nothing] * len(lines), known, [ceiling]))
    sketch = search.sketch()
    about = tuple("…" if e.samples is None else f"≈ {e.samples:,}" for e in sketch)
    curves = _curves([(e.x, e.power) for e in sketch], known, [*sketch, ceiling])
    yield Plan((), about, ceiling, curves)
    for found in search.growing():
        needs = tuple(_need(style, one) for style, one in zip(lines, found.answers, strict=False))
        yield Plan(needs, about, ceiling, curves)
    drawn = [(answer.x, answer.power) for answer in (*found.answers, found.ceiling)]
    whole = _curves(drawn[:-1], drawn[-1], needs)
    equal = None
    if found.best is not None:
        alike = sample_search(
            power, **study, effects=theory.PointEffects(), method=found.best.method, on_step=on_step
        )
        equal = next(alike.growing()).answers[0].value
    yield Plan(needs, about, ceiling, whole, found, None if equal is None else int(equal))


def _curves(
    lines: Sequence[tuple[Array, Array]],
    ceiling: tuple[Array, Array],
    answers: Sequence[Need | SampleEstimate],
) -> dict[str, list[Any]]:
    """Return the power against samples of the methods and of the ceiling, in columns."""
    end = 2.0 * max((n for one in answers if (n := one.samples)), default=MOST_SAMPLES)
    points = [
        (style.label, n, power)
        for style, line in zip(styles(), (*lines, ceiling), strict=True)
        for n, power in zip(*(part.tolist() for part in line), strict=True)
        if n <= end
    ]
    method, samples, powers = zip(*points, strict=True)
    return {"method": list(method), "n": list(samples), "power": list(powers)}


def _need(style: LineStyle, answer: planning.RequiredValue) -> Need:
    at = answer.prediction
    row = {
        "method": style.label,
        "samples": "not reached" if answer.value is None else f"{answer.value:,.0f}",
        "power": f"{at.power:.2f}",
        "FDR": f"{at.fdr:.3f}",
        "found": f"{at.true_selections:.1f}",
        "false": f"{at.false_selections:.1f}",
        "controls": "" if answer.method == CEILING else at.controls,
    }
    return Need(style.label, None if answer.value is None else int(answer.value), row)


def commands(
    power: float,
    samples: int,
    n_features: int,
    n_signals: int,
    r2: float,
    fdr: float,
    effects: str = "gaussian",
) -> tuple[str, str]:
    """Return two commands: the question of the page, and all methods with so many samples."""
    study = f"-p {n_features} -k {n_signals} --r2 {r2:g} --fdr {fdr:g}"
    study += "" if effects == "gaussian" else f" --effects={effects}"
    return (
        f"selica plan samples {study} --power {power:g}",
        f"selica plan compare -n {samples} {study}",
    )
