"""What procedures reach that set their threshold by the data: list and rule of `planning`."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

from selica import catalogue, planning
from selica.app.asked import Asked
from selica.catalogue import Method
from selica.planning.predict.ceiling import ceiling
from selica.planning.predict.prediction import SETTINGS, Prediction, planned_names, predict

_COLUMNS = ("method", "power", "± s.e.", "FDR", "found", "false", "controls")
"""Columns of the table."""


def procedures(asked: Asked) -> list[Method]:
    """Return the methods that set their threshold by the data and have a theory for the study."""
    names = planned_names(None, calibrated=True, study=asked.study(2))
    return [catalogue.method(name) for name in names]


class Reached(NamedTuple):
    """What is known so far of what procedures find in a study."""

    asked: Asked
    n_samples: int
    found: tuple[Prediction, ...]
    """All methods at their best settings, then as they come."""
    top: Prediction | None = None
    """What is possible at all; None as long as not all is known."""

    @property
    def comparison(self) -> planning.Comparison | None:
        """The comparison that `selica plan compare` makes, once all is known."""
        if self.top is None:
            return None
        study = self.asked.study(self.n_samples)
        return planning.Comparison(study, self.asked.fdr, self.found, self.top)

    @property
    def at_best(self) -> list[Prediction]:
        """Procedures at their best settings, with the most powerful first."""
        known = [one for one in self.found if one.settings == SETTINGS[0]]
        return sorted(known, key=lambda one: -one.power)

    def rows(self) -> list[dict[str, Any]]:
        """Return the procedures at their best settings, with the most powerful first."""
        known = self.at_best
        names = {one.method for one in known}
        waiting = [one for one in procedures(self.asked) if one.name not in names]
        blank = dict.fromkeys(_COLUMNS, "…")
        return [
            *(_row(one) for one in known),
            *(blank | {"method": one.label, "controls": one.controls} for one in waiting),
            *([] if self.top is None or math.isnan(self.top.power) else [_row(self.top)]),
        ]

    def is_marked(self) -> list[bool]:
        """Return which of the rows is the recommended one."""
        comparison = self.comparison
        best = None if comparison is None else comparison.best
        label = None if best is None else best.label
        return [row["method"] == label for row in self.rows()]


def _row(one: Prediction) -> dict[str, Any]:
    cells = (
        one.label,
        f"{one.power:.3f}",
        f"{one.power_error:.3f}" if one.power_error >= 0.0005 else "",
        f"{one.fdr:.3f}",
        f"{one.true_selections:,.1f}",
        f"{one.false_selections:,.1f}",
        "" if one.method == "bayes" else one.controls,
    )
    return dict(zip(_COLUMNS, cells, strict=True))


_predicted = lru_cache(maxsize=4096)(predict)  # going back costs nothing
_ceiling = lru_cache(maxsize=512)(ceiling)


def reached(asked: Asked, n_samples: int) -> Iterator[Reached]:
    """Iterate over what is known, with one more prediction each time; the last one is whole."""
    study, found = asked.study(n_samples), ()
    yield Reached(asked, n_samples, found)
    for setting in SETTINGS:
        for one in procedures(asked):
            found = (*found, _predicted(study, one.name, asked.fdr, setting))
            yield Reached(asked, n_samples, found)
    yield Reached(asked, n_samples, found, _ceiling(study, asked.fdr))
