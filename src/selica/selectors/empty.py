"""What a selection that is empty would have needed, found by running its rule again."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

FDR_LEVELS = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5)
"""False discovery rates that are tried in turn."""
PFER_LEVELS = (0.1, 0.2, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0)
"""Expected numbers of false selections that are tried in turn."""


class Alternative(NamedTuple):
    """A level at which the same rule selects some variables."""

    level: float
    selected: int
    before: float | None
    """The level tried before, at which nothing is selected."""

    def sentence(self, name: str) -> str:
        """Say what the two levels select; `name` is what the level is called."""
        many = "1 variable" if self.selected == 1 else f"{self.selected} variables"
        none = "" if self.before is None else f", and {name} {self.before:g} none"
        return f"{name} {self.level:g} would select {many}{none}."


def first_that_selects(
    levels: Iterable[float], selected: Callable[[float], int]
) -> Alternative | None:
    """Return the first of some levels that selects any variable; None if there is none.

    Parameters
    ----------
    levels : iterable of float
        In the order in which they are tried.
    selected : callable
        How many variables the rule selects at a level.
    """
    before = None
    for level in levels:
        number = selected(level)
        if number:
            return Alternative(level, number, before)
        before = level
    return None
