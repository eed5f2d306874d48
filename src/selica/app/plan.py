"""From a power to a number of samples, in the words of the page."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from selica import planning
from selica.planning.samples import growing_requirement
from selica.plots.style import LineStyle, line_style, quantity_style

MOST_SAMPLES = 100_000
METHODS = ("stability", "knockoff", "evalues", "pvalues", "stability_r_concave")
"""Of `planning.METHODS`, those a person would choose among."""


def styles() -> tuple[LineStyle, ...]:
    """Of all methods, and of the ceiling."""
    labels = [planning.METHODS[name].label for name in METHODS]
    return (*map(quantity_style, labels, range(len(labels))), line_style("bayes"))


class Need(NamedTuple):
    """What one method needs."""

    method: str
    """Its label."""
    samples: int | None
    """None where the largest number tried is not enough."""
    row: dict[str, Any]
    """The prediction with so many samples."""
    code: str


class Plan(NamedTuple):
    """Answers of the methods that have one so far, and power against the number of samples."""

    needs: tuple[Need, ...]
    ceiling: Need
    """What no method can do without."""
    points: tuple[tuple[str, float, float], ...]
    """Method, number of samples and power."""

    @property
    def curves(self) -> dict[str, list[Any]]:
        """The points in columns, to some way beyond the last answer."""
        every = (*self.needs, self.ceiling)
        answers = [need.samples for need in every if need.samples is not None]
        end = 2.0 * max(answers, default=MOST_SAMPLES)
        method, n, power = zip(*(p for p in self.points if p[1] <= end), strict=True)
        return {"method": list(method), "n": list(n), "power": list(power)}

    @property
    def rows(self) -> list[dict[str, Any]]:
        """Of all methods, with dots for an answer to come."""
        blank = dict.fromkeys(self.ceiling.row, "…")
        waiting = [blank | {"method": style.label} for style in styles()[len(self.needs) : -1]]
        return [*(need.row for need in self.needs), *waiting, self.ceiling.row]


def plans(
    power: float,
    n_features: int,
    n_signals: int,
    r2: float,
    fdr: float,
    told: Callable[[], object] = lambda: None,
) -> Iterator[Plan]:
    """The smallest number of samples with which each method finds this share of the signals.

    First the ceiling, then method after method; the last one is whole. `told` is called before
    each prediction.
    """
    growing = growing_requirement(
        power,
        n_features=n_features,
        n_signals=n_signals,
        r2=r2,
        fdr=fdr,
        method=METHODS,
        at_most=MOST_SAMPLES,
        told=told,
    )
    *lines, top = styles()
    for found in growing:
        every = (*zip(lines, found.answers, strict=False), (top, found.ceiling))
        *needs, ceiling = (_need(style, answer) for style, answer in every)
        points = tuple(
            (style.label, x, y)
            for style, answer in every
            for x, y in zip(answer.x.tolist(), answer.power.tolist(), strict=True)
        )
        yield Plan(tuple(needs), ceiling, points)


def _need(style: LineStyle, answer: planning.Answer) -> Need:
    at = answer.prediction
    row = {
        "method": style.label,
        "samples": "not reached" if answer.value is None else f"{answer.value:,.0f}",
        "power": f"{at.power:.2f}",
        "true": f"{at.true_selections:.1f}",
        "false": f"{at.false_selections:.1f}",
        "promise": at.promise,
    }
    return Need(style.label, None if answer.value is None else int(answer.value), row, at.code)


def commands(
    power: float, samples: int, n_features: int, n_signals: int, r2: float, fdr: float
) -> tuple[str, str]:
    """For a shell: the question of the page, and all methods with so many samples."""
    study = f"-p {n_features} -k {n_signals} --r2 {r2:g} --fdr {fdr:g}"
    return (
        f"selica plan samples {study} --power {power:g}",
        f"selica plan compare -n {samples} {study}",
    )
