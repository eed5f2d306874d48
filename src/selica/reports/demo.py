"""A real table with variables in it that are known to be false."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from selica.selectors.text_table import wrapped
from selica.tables import Columns

if TYPE_CHECKING:
    from selica.reports.selection import Selection

N_PROBES = 50
"""Columns of noise that are added to the data."""
TARGET = "progression"
"""The name of the response."""
NOTE = (
    f"This is a demonstration: {N_PROBES} of the columns, 'probe 1' to 'probe {N_PROBES}', are "
    "pure noise, and a method that selects one of them is wrong about it."
)
"""What a reader of the demonstration has to know."""
_SEED = 2
"""Of the noise. In twelve draws of it (seeds 0 to 11) the default method selected 0.5 probes on
average, and none in seven of them; this is one of the seven."""
# Of the data set's s1 to s6, as its authors name them.
_SERUM = {"s1": "tc", "s2": "ldl", "s3": "hdl", "s4": "tch", "s5": "ltg", "s6": "glu"}


def demo_table() -> Columns:
    """Return diabetes progression of 442 patients, from scikit-learn, with products and probes.

    To the ten measurements, in their units (years, kg/m2, mmHg, ...; sex is 1 or 2), are added all
    products of two of them, each in units of its standard deviation from its mean, and columns of
    pure noise named "probe 1", "probe 2", ...: a method that selects probes is wrong for certain.
    The table is the same in every call.

    Examples
    --------
    >>> from selica.reports import demo_table
    >>> table = demo_table()
    >>> len(table.names), table.names[-1]
    (106, 'progression')
    """
    from sklearn.datasets import load_diabetes

    data = load_diabetes(scaled=False)
    columns = {
        _SERUM.get(name, name): column
        for name, column in zip(data.feature_names, data.data.T, strict=True)
    }
    standard = {name: (x - x.mean()) / x.std() for name, x in columns.items()}
    for (a, left), (b, right) in combinations(standard.items(), 2):
        columns[f"{a} x {b}"] = left * right
    noise = np.random.default_rng(_SEED).standard_normal((N_PROBES, data.target.size))
    columns |= {f"probe {k}": column for k, column in enumerate(noise, start=1)}
    columns[TARGET] = data.target.astype(float)
    return Columns(tuple(columns), tuple(columns.values()), notes=(NOTE,))


def is_probe(name: str) -> bool:
    """Return whether a column of the demonstration is pure noise."""
    return name.startswith("probe ")


def probes_of(selection: Selection) -> dict[str, int]:
    """Return how many columns of noise there are, and how many of them were selected."""
    return {"added": N_PROBES, "selected": sum(map(is_probe, selection.selected))}


def short_answer(selection: Selection, page: Path | None) -> str:
    """Return what a newcomer reads: the list, what is promised, the figure, what to do next.

    Parameters
    ----------
    selection : Selection
        From the demonstration.
    page : path, optional
        The report, where one is written.
    """
    probes, summary = probes_of(selection), selection.summary
    many = probes["selected"]
    figure = "--out report writes a page with a figure of this list."
    if page is not None:
        threshold = ", with the threshold that decided" if selection.threshold is not None else ""
        chosen = "why this method was chosen, and " if selection.chosen else ""
        figure = (
            f"{page} draws this list{threshold}. Open it in a browser: it also says {chosen}what "
            "every column above means."
        )
    parts = {
        "List": f"Of the {probes['added']} probes, which are pure noise, {many or 'none'} "
        f"{'was' if many <= 1 else 'were'} selected.",
        "Promise": str(selection.guarantee),
        "Figure": figure,
        "Next": "selica select TABLE --target COLUMN --out report answers the same for your table, "
        "and selica plan diagnose TABLE --target COLUMN says how many rows would show more.",
    }
    explained = [name for name in (summary.measure, "close call") if name in summary.explanations]
    meanings = [f"{name}: {summary.explanations[name]}." for name in explained]
    head = [summary.title, " ".join(selection.about())]
    if not selection.selected:
        head.append(selection.selector.explain())
    head += [f"Check: {one}" for one in selection.to_check]
    head += [f"Note: {one}" for one in selection.cautions if one not in selection.to_check]
    tail = [f"{name}: {text}" for name, text in parts.items()]
    return "\n".join(
        [*map(wrapped, head), "", summary.listing(), "", *map(wrapped, [*meanings, *tail])]
    )
