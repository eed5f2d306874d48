"""What is selected or not: variables by name, or groups of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from selica._core.types import BoolArray, IntArray
from selica._core.validation import printable
from selica.selectors.grouping import Groups, in_groups


class SelectedUnits(SelectorMixin, BaseEstimator):  # type: ignore[misc]
    """Names of what a selector selects from, and which of them are selected.

    A unit is a variable or, where `groups` were given, a group of variables. A variable is a column
    of the table or, if it is a category, several of them.
    """

    groups: Any = None
    groups_: IntArray | None = None
    group_names_: Any = None
    group_support_: BoolArray | None = None
    _grouping: Groups | None = None
    support_: BoolArray
    _variable: IntArray | None = None
    """The variable of each column; None where every column is one."""
    _columns: tuple[str, ...] = ()
    """Names of the columns, where they differ from those of variables."""
    _references: tuple[str, ...] = ()
    """For each variable, the level of a category that has no column."""
    _most_listed: int | None = None
    """Units of a summary, at most."""

    def _get_support_mask(self) -> BoolArray:
        check_is_fitted(self, "support_")
        return self.support_

    def _names(self) -> list[str]:
        """Return the names of the columns as they can be printed, or x0, x1, ..."""
        if hasattr(self, "feature_names_in_"):
            return [printable(str(name)) for name in self.feature_names_in_]
        return [f"x{j}" for j in range(self.n_features_in_)]

    def _column_names(self) -> list[str]:
        """Return the name of the variable of each column."""
        names = self._names()
        return names if self._variable is None else [names[v] for v in self._variable]

    def _unit_names(self) -> list[str]:
        """Return the names of what is selected or not: variables, or groups of them."""
        return self._names() if self._grouping is None else list(self._grouping.names)

    def _unit_support(self) -> BoolArray:
        """Return which variables, or groups of them, are selected."""
        return self.support_ if self.group_support_ is None else self.group_support_

    def _words(self, text: str) -> str:
        """Return a sentence on variables in the words of what is selected."""
        return text if self._grouping is None else in_groups(text, self._grouping.names)

    def _list_members(self) -> None:
        """Select the members of the selected groups, where groups are what was selected from."""
        self.groups_ = self.group_names_ = None
        if self._grouping is not None:
            self.groups_ = self._grouping.of
            self.group_names_ = np.array(self._grouping.names, dtype=object)
            self.group_support_ = self.support_
            self.support_ = self.group_support_[self.groups_]
