"""What procedures reach that set their threshold by the data: list and rule of `planning`."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache, partial
from itertools import zip_longest
from typing import Any, NamedTuple

from selica import catalogue, planning
from selica.app.asked import Asked
from selica.catalogue import Method
from selica.planning.predict.ceiling import CEILING, ceiling
from selica.planning.predict.copy_ceiling import COPY_CEILING, copy_ceiling
from selica.planning.predict.prediction import SETTINGS, Prediction, predict
from selica.planning.questions.listed import listed

Cells = Mapping[str, Any]
"""Cells of a row, by their columns."""
_COLUMNS = ("method", "power", "± s.e.", "FDR", "found", "false", "controls")
"""Columns of the table."""
MESSAGE_PASSING = "stability-fdr"
"""The method that takes longest for a response that is no plain number."""
E_VALUES = "knockoffs-evalues"
"""The method that takes longest for one that is."""


def procedures(asked: Asked) -> list[Method]:
    """Return the methods that set their threshold by the data and have a theory for the study."""
    names = listed(asked.study(2), calibrated=True)
    return [catalogue.method(name) for name in names]


class ReachedRow(NamedTuple):
    """What a procedure reaches, as a row of a table."""

    cells: Cells
    is_former: bool = False
    """Whether it is of a former setting, until this one is known."""


class Reached(NamedTuple):
    """What is known so far of what procedures find in a study."""

    asked: Asked
    n_samples: int
    top: Prediction
    """What is possible at all."""
    found: tuple[Prediction, ...] = ()
    """All methods at their best settings, then as they come."""
    is_whole: bool = False
    copy_top: Prediction | None = None
    """What is possible with one knockoff copy; None where that is not known."""
    is_next_slow: bool = False
    """Whether the next prediction takes long, so that this one is worth drawing."""

    @property
    def comparison(self) -> planning.Comparison | None:
        """The comparison that `selica plan compare` makes, once all is known."""
        if not self.is_whole:
            return None
        study = self.asked.study(self.n_samples)
        return planning.Comparison(study, self.asked.fdr, self.found, self.top, self.copy_top)

    @property
    def at_best(self) -> list[Prediction]:
        """Procedures at their best settings, with the most powerful first."""
        known = [one for one in self.found if one.settings == SETTINGS[0]]
        return sorted(known, key=lambda one: -one.power)

    def rows(self, former: Mapping[str, Cells] | None = None) -> list[ReachedRow]:
        """Return the procedures at their best settings, with the most powerful first.

        Parameters
        ----------
        former : mapping, optional
            Rows of a former setting by their methods, for procedures that are not known yet.
        """
        known = {one.label: _row(one) for one in self.at_best}
        rows = []
        for one in procedures(self.asked):
            if one.label in known:
                rows.append(ReachedRow(known[one.label]))
            elif one.label in (former or {}):
                rows.append(ReachedRow((former or {})[one.label], is_former=True))
            else:
                blank = dict.fromkeys(_COLUMNS, "…")
                blank |= {"method": one.label, "controls": one.controls}
                rows.append(ReachedRow(blank, is_former=True))
        rows.sort(key=lambda row: -_power(row.cells))
        tops = (self.top, *([] if self.copy_top is None else [self.copy_top]))
        return [*rows, *(ReachedRow(_row(one)) for one in tops if not math.isnan(one.power))]

    @property
    def best_label(self) -> str | None:
        """What is recommended, once that is known."""
        comparison = self.comparison
        best = None if comparison is None else comparison.best
        return None if best is None else best.label


def _power(cells: Cells) -> float:
    return -1.0 if cells["power"] == "…" else float(cells["power"])


def _row(one: Prediction) -> dict[str, Any]:
    cells = (
        one.label,
        f"{one.power:.3f}",
        f"{one.power_error:.3f}" if one.power_error >= 0.0005 else "",
        f"{one.fdr:.3f}",
        f"{one.true_selections:,.1f}",
        f"{one.false_selections:,.1f}",
        "" if one.method in (CEILING, COPY_CEILING) else one.controls,
    )
    return dict(zip(_COLUMNS, cells, strict=True))


_predicted = lru_cache(maxsize=4096)(predict)  # going back costs nothing
_ceiling = lru_cache(maxsize=512)(ceiling)

Runner = Callable[[Callable[[], Prediction]], Prediction]
"""Does a piece of work, here or elsewhere."""


def reached(asked: Asked, n_samples: int, run: Runner = lambda work: work()) -> Iterator[Reached]:
    """Iterate over what is known, with one more prediction each time; the last one is whole."""
    study = asked.study(n_samples)
    known = Reached(asked, n_samples, _ceiling(study, asked.fdr))
    yield known
    methods = procedures(asked)
    for setting in SETTINGS:
        in_turn = sorted(methods, key=lambda one: _is_slow(one, asked))
        for one, after in zip_longest(in_turn, in_turn[1:]):
            predicted = run(partial(_predicted, study, one.name, asked.fdr, setting))
            slow = after is not None and _is_slow(after, asked)
            known = known._replace(found=(*known.found, predicted), is_next_slow=slow)
            yield known
    order = [(setting, one.name) for setting in SETTINGS for one in methods]
    found = tuple(sorted(known.found, key=lambda one: order.index((one.settings, one.method))))
    top = copy_ceiling(study, asked.fdr)
    yield known._replace(found=found, is_whole=True, copy_top=top, is_next_slow=False)


def _is_slow(one: Method, asked: Asked) -> bool:
    """Tell which methods are predicted last, because others are known sooner."""
    if asked.covariance:
        return one.equations == "stability"
    return one.name == (E_VALUES if asked.response == "numeric" else MESSAGE_PASSING)
