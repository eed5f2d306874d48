"""From a power to a number of samples, in the words of the page."""

from __future__ import annotations

from typing import Any, NamedTuple

from selica import planning
from selica.plots.style import LineStyle, line_style, quantity_style

MOST_SAMPLES = 100_000
METHODS = ("stability", "knockoff", "evalues", "pvalues", "stability_r_concave")
"""Of `planning.METHODS`, those a person would choose among."""


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
    """Answers of all methods, and power against the number of samples."""

    needs: tuple[Need, ...]
    ceiling: dict[str, Any]
    """A row as those of the methods: what none of them can do without."""
    curves: list[dict[str, Any]]
    styles: tuple[LineStyle, ...]


def plan(power: float, n_features: int, n_signals: int, r2: float, fdr: float) -> Plan:
    """The smallest number of samples with which each method finds this share of the signals."""
    found = planning.required_samples(
        power,
        n_features=n_features,
        n_signals=n_signals,
        r2=r2,
        fdr=fdr,
        method=METHODS,
        at_most=MOST_SAMPLES,
    )
    needs: list[Need] = []
    curves: list[dict[str, Any]] = []
    styles: list[LineStyle] = []
    for rank, answer in enumerate((*found.answers, found.ceiling)):
        known = planning.METHODS.get(answer.method)
        style = line_style("bayes") if known is None else quantity_style(known.label, rank)
        at = answer.prediction
        row = {
            "method": style.label,
            "samples": "not reached" if answer.value is None else f"{answer.value:,.0f}",
            "power": f"{at.power:.2f}",
            "true": f"{at.true_selections:.1f}",
            "false": f"{at.false_selections:.1f}",
            "promise": at.promise,
        }
        samples = None if answer.value is None else int(answer.value)
        needs.append(Need(style.label, samples, row, at.code))
        curves.extend(
            {"method": style.label, "n": x, "power": y}
            for x, y in zip(answer.x.tolist(), answer.power.tolist(), strict=True)
        )
        styles.append(style)
    *methods, ceiling = needs
    return Plan(tuple(methods), ceiling.row, curves, tuple(styles))


def commands(
    power: float, samples: int, n_features: int, n_signals: int, r2: float, fdr: float
) -> tuple[str, str]:
    """For a shell: the question of the page, and all methods with so many samples."""
    study = f"-p {n_features} -k {n_signals} --r2 {r2:g} --fdr {fdr:g}"
    return (
        f"selica plan samples {study} --power {power:g}",
        f"selica plan compare -n {samples} {study}",
    )
