"""What a fitted selector says of its selection: a table, sentences, paths and maps."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from selica._core.errors import ArgumentError
from selica._core.random import seed_sequence
from selica._core.table import Table
from selica._core.types import Array, IntArray
from selica._core.wording import few
from selica.selectors.agreement import Stability
from selica.selectors.directions import Directions, effect_columns
from selica.selectors.empty import Demand, RowsNeeded
from selica.selectors.group_map import GroupMap, group_map
from selica.selectors.grouping import Groups
from selica.selectors.guarantee import Guarantee
from selica.selectors.refit import RefitEffects
from selica.selectors.stability_path import StabilityPath, path_of_halves
from selica.selectors.summary import (
    NEAR_MISSES,
    Summary,
    TableColumn,
    order_of,
)
from selica.selectors.text_table import reader_columns
from selica.selectors.units import SelectedUnits
from selica.statistics import Data

if TYPE_CHECKING:
    from matplotlib.figure import Figure


_LISTED_ITEMS = 3
"""Selected variables with duplicates that have a sentence each."""


class SelectionDescription(SelectedUnits):
    """The part of a selector that describes a selection; nothing here decides.

    A method says what it measured (`summary`, by way of `_ranked`), what a selection would have
    needed where there is none (`_why`, `_demand`), and draws it (`plot`).
    """

    guarantee_: Guarantee
    duplicates_: Mapping[str, tuple[str, ...]] = MappingProxyType({})
    near_duplicates_: Mapping[str, tuple[str, ...]] = MappingProxyType({})
    note_: str | None = None
    effects_: RefitEffects | None = None
    stability_: Stability | None = None
    _evidence: Array | None = None
    _rows: tuple[int, str] = (0, "rows")
    _data: Data | None = None
    if TYPE_CHECKING:  # set by a fit
        response_: str

    @abstractmethod
    def summary(self) -> Summary:
        """Return the variables, what was measured of each, and the decision."""

    def _ranked(
        self,
        title: str,
        measured: TableColumn,
        *first: Array,
        ties: str = "",
        more: Sequence[TableColumn] = (),
    ) -> Summary:
        """Return a summary by what decides, without ties, with direction and size of effects.

        Parameters
        ----------
        title : str
        measured : TableColumn
            What decides, of each variable.
        *first : arrays of shape (p,)
            Variables are ranked by the first, largest on top; where it is the same, by the second,
            and so on; then by their own association with the response.
        ties : str
            What the second of them is, as a clause; empty if there is one only.
        more : sequence of TableColumn
            Further columns, such as standard errors.
        """
        self._get_support_mask()
        names, support = self._unit_names(), self._unit_support()
        chosen, unit = int(np.count_nonzero(support)), self._words("variable")
        measured, *more = (
            one._replace(meaning=self._words(one.meaning)) for one in (measured, *more)
        )
        keys, sizes = list(first), list[TableColumn]()
        if self.effects_ is not None:
            keys.append(self.effects_.association)
            sizes = effect_columns(self.effects_, len(names), self._directions())
        columns = [measured, *(one for one in more if not one.last), *sizes,
                   *(one for one in more if one.last), *self._member_columns()]  # fmt: skip
        order = order_of(support, keys)[: self._most_listed]
        rows = Table.of(
            {"rank": rank, unit: names[j], "selected": bool(support[j])}
            | {one.name: one.values[j] for one in columns}
            for rank, j in enumerate(order, start=1)
        )
        shown = reader_columns(rows.rows)
        explained = {c.name: c.meaning for c in columns if c.meaning and c.name in shown}
        if chosen and self.effects_ is not None:
            explained[self.effects_.ratio or "effect"] = self._directions().size(self.effects_)
        then = [part for part in (ties, "the association with the response") if part]
        explained["rank"] = f"by {measured.name}; ties by {', then by '.join(then)}"
        units = unit if len(names) == 1 else f"{unit}s"
        heading = f"{title}: {chosen:,} of {len(names):,} {units}"
        return Summary(
            heading, self._with_duplicates(rows), str(self.guarantee_), self._notes(),
            chosen + NEAR_MISSES, measured.name, explained, unit=unit,
        )  # fmt: skip

    def _member_columns(self) -> list[TableColumn]:
        """Return how many members groups have, and which, as columns of a table."""
        if self._grouping is None:
            return []
        members = self._grouping.members(self._names())
        return [
            TableColumn("members", [len(one) for one in members], ""),
            TableColumn(
                "in this group", [", ".join(one) for one in members],
                "the members of the group; it is selected as a whole, and which of them matter is "
                "not said",
                last=True,
            ),
        ]  # fmt: skip

    def _directions(self) -> Directions:
        """Return how directions are called."""
        classes = getattr(self, "classes_", None)
        several = classes is not None and len(classes) > 2
        variable, names, references = self._variable, self._names(), self._references
        if self._grouping is not None:
            variable, names, references = self._directed(self._grouping)
        return Directions(
            classes, several, self.response_, names, self._columns, variable, references,
            grouped=self._grouping is not None,
        )  # fmt: skip

    def _directed(self, groups: Groups) -> tuple[IntArray, list[str], tuple[str, ...]]:
        """Return the group of each column, and names and references of groups with one member."""
        own = groups.of if self._variable is None else groups.of[self._variable]
        names, references = list(groups.names), [""] * len(groups.names)
        for j, group in enumerate(groups.of):
            if groups.sizes[group] == 1:
                names[group] = self._names()[j]
                references[group] = self._references[j] if self._references else ""
        return own, names, tuple(references)

    def _with_duplicates(self, rows: Table) -> Table:
        """Return the table with the columns that are identical, or nearly, to selected ones."""
        for column, found in (
            ("identical to", self.duplicates_),
            ("nearly identical to", self.near_duplicates_),
        ):
            if found:
                listed = {name: few(same) for name, same in found.items()}
                rows = Table.of(row | {column: listed.get(row["variable"])} for row in rows)
        return rows

    def explain(self) -> str:
        """Say why nothing was selected, and what would have selected something."""
        self._get_support_mask()
        units = self._unit_support()
        if units.any():
            chosen = int(np.count_nonzero(units))
            return self._words(f"{chosen:,} of {units.size:,} variables were selected.")
        return " ".join(["Nothing was selected.", self._words(self._why()), *self._more_rows()])

    @abstractmethod
    def _why(self) -> str:
        """Say what a selection would have needed, where there is none."""

    def _demand(self) -> Demand | None:
        """Return what the rule asks of the strongest variables; None where it is not known."""
        return None

    def _more_rows(self) -> tuple[str, ...]:
        """Say how many rows a selection would have needed, as far as it is known."""
        demand, (rows, unit) = self._demand(), self._rows
        # of the strongest of several members, it is not known how strong chance makes it
        if demand is None or self._evidence is None or self._grouping is not None:
            return ()
        found = RowsNeeded.of(demand, self._evidence, rows)
        return () if found is None else (found.sentence(self._names(), unit),)

    def _notes(self) -> tuple[str, ...]:
        """Return what a summary adds: why it is empty, what is alike, the engine, how stable."""
        nothing = () if self.support_.any() else (self.explain(),)
        engine = () if self.note_ is None else (self.note_,)
        stable = () if self.stability_ is None else (self._words(self.stability_.words),)
        return (*nothing, *self._group_notes(), *self._duplicate_notes(), *engine, *stable)

    def _group_notes(self) -> tuple[str, ...]:
        """Return a sentence on the groups, where there are any."""
        if self._grouping is None:
            return ()
        many, p = len(self._grouping.names), self._grouping.of.size
        are = "variable is" if p == 1 else "variables are"
        groups = "1 group" if many == 1 else f"{many:,} groups"
        return (f"{p:,} {are} in {groups} ({self._grouping.origin}).",)

    def _duplicate_notes(self) -> tuple[str, ...]:
        """Return sentences on columns that are identical to selected ones."""
        notes = tuple(
            f"{name} is identical to {few(others)}, up to sign and scale: the data cannot tell "
            "which of them matters."
            for name, others in list(self.duplicates_.items())[:_LISTED_ITEMS]
        )
        more = len(self.duplicates_) - _LISTED_ITEMS
        if more <= 0:
            return notes
        has = (
            "1 more selected variable has" if more == 1 else f"{more} more selected variables have"
        )
        return (*notes, f"{has} such duplicates; the table lists them.")

    def stability_path(self) -> StabilityPath:
        """Compute how often random halves of the rows select each variable, along the penalty.

        It shows a selection by any method beside what the lasso keeps selecting.

        Examples
        --------
        >>> from selica import KnockoffSelection
        >>> from selica.sampling import simulate
        >>> data = simulate(100, 30, 3, snr=10.0, random_state=0)
        >>> selector = KnockoffSelection(random_state=0).fit(data.X, data.y)
        >>> selector.stability_path().probabilities.shape
        (30, 30)
        """
        self._get_support_mask()
        chosen = getattr(self, "selector_", None)
        if chosen is not None:
            path: StabilityPath = chosen.stability_path()
            return path
        if self._data is None:
            raise ArgumentError(
                "The data of the fit are not kept (they are large, or the selector was pickled): "
                "fit it again for a stability path."
            )
        parameters = self.get_params(deep=False)
        seed = seed_sequence(parameters.get("random_state"))
        return path_of_halves(
            self._data, seed, self._unit_names(), self._unit_support(), parameters.get("n_jobs")
        )

    def group_map(self) -> GroupMap:
        """Compute how the variables of groups are correlated, for a map of the first groups.

        Examples
        --------
        >>> import numpy as np
        >>> from selica import LassoSelection
        >>> X = np.random.default_rng(0).standard_normal((50, 6))
        >>> selector = LassoSelection(0.1, groups=[0, 0, 0, 1, 1, 1]).fit(X, X[:, 0])
        >>> selector.group_map().group_names
        ('0', '1')
        """
        self._get_support_mask()
        chosen = getattr(self, "selector_", None)
        if chosen is not None:
            found: GroupMap = chosen.group_map()
            return found
        if self._grouping is None:
            raise ArgumentError("groups were not given, so that there is nothing to map.")
        if self._data is None:
            raise ArgumentError(
                "The data of the fit are not kept (they are large, or the selector was pickled): "
                "fit it again for a map of the groups."
            )
        place = {name: group for group, name in enumerate(self._grouping.names)}
        return group_map(
            self._data, self._grouping.of, self._grouping.names, self._unit_support(),
            names=self._names(), variable=self._variable,
            rank=[place[row["group"]] for row in self.summary().variables],
        )  # fmt: skip

    @abstractmethod
    def plot(self) -> Figure:
        """Draw what was measured, with the threshold (needs matplotlib)."""


def is_mapped(selector: SelectionDescription) -> bool:
    """Tell whether a fitted selector has groups, and the data for a map of them."""
    chosen: Any = getattr(selector, "selector_", selector)
    return chosen._grouping is not None and chosen._data is not None
