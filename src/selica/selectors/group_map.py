"""How the variables of groups go together: their correlations, in the order of a tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from selica._core.results import Result
from selica._core.types import Array, BoolArray, IntArray
from selica.plots import plot_groups
from selica.statistics import Data

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_VARIABLES = 90
"""Variables on a map: more cannot be told apart."""


@dataclass(frozen=True, slots=True, repr=False)
class GroupMap(Result):
    """Correlations between variables, members of a group side by side.

    Attributes
    ----------
    names : tuple of str
        Of the m variables that are shown, in the order of the map.
    groups : array of int, shape (m,)
        The group of each, as a place in `group_names`.
    group_names : tuple of str
        Of the groups that are shown, in the order of the map.
    selected : boolean array of shape (groups,)
    correlations : array of shape (m, m)
        Size of the correlations; of a category, the largest of its columns.
    joins : array of shape (m - 1, 5)
        The tree: place and height of one branch, place and height of the other, and the height at
        which they are joined. A height is one minus the mean correlation between two branches.
        Members of a group are joined before groups are.
    left_out : int
        Groups that are not shown.

    Examples
    --------
    >>> import numpy as np
    >>> from selica import StabilitySelection
    >>> rng = np.random.default_rng(0)
    >>> Z = rng.standard_normal((100, 5))
    >>> X = np.repeat(Z, 2, axis=1) + 0.1 * rng.standard_normal((100, 10))
    >>> selector = StabilitySelection(groups="correlation", random_state=0)
    >>> found = selector.fit(X, Z[:, 0] + rng.standard_normal(100)).group_map()
    >>> found.correlations.shape, found.group_names[0]
    ((10, 10), 'x0 and x1')
    """

    names: tuple[str, ...]
    groups: IntArray
    group_names: tuple[str, ...]
    selected: BoolArray
    correlations: Array
    joins: Array
    left_out: int = 0

    def plot(self, title: str = "") -> Figure:
        """Draw the map beside its tree, selected groups framed (needs matplotlib)."""
        return plot_groups(
            self.correlations, self.groups, self.group_names, self.selected, self.joins,
            left_out=self.left_out, title=title,
        )  # fmt: skip


def group_map(
    data: Data,
    of: IntArray,
    group_names: Sequence[str],
    selected: BoolArray,
    *,
    names: Sequence[str],
    rank: Sequence[int],
    variable: IntArray | None,
) -> GroupMap:
    """Return the map of the first groups.

    Parameters
    ----------
    data : Data
    of : array of int, shape (p,)
        The group of each variable.
    group_names : sequence of str
    selected : boolean array of shape (K,)
    names : sequence of str
        Of the variables.
    rank : sequence of int
        Groups in the order in which they are shown, as far as there is room.
    variable : array of int, shape (columns,), optional
        The variable of each column, where one has several.
    """
    sizes = np.bincount(of, minlength=len(group_names))
    room = np.cumsum(sizes[list(rank)]) <= MOST_VARIABLES
    kept = [group for group, fits in zip(rank, room, strict=True) if fits] or list(rank[:1])
    shown = np.flatnonzero(np.isin(of, kept))
    first = MOST_VARIABLES if shown.size > MOST_VARIABLES else shown.size  # one huge group
    shown = shown[:first]
    size = _correlations(data, shown, variable)
    order, joins = joined(1.0 - size, of[shown])
    groups = of[shown][order]
    _, place = np.unique(groups, return_index=True)
    listed = groups[np.sort(place)]
    number = {int(group): k for k, group in enumerate(listed)}
    return GroupMap(
        tuple(names[j] for j in shown[order]),
        np.array([number[int(group)] for group in groups]),
        tuple(group_names[group] for group in listed),
        np.asarray(selected[listed]),
        size[np.ix_(order, order)],
        joins,
        len(group_names) - len(listed),
    )


def _correlations(data: Data, shown: IntArray, variable: IntArray | None) -> Array:
    """Return the sizes of the correlations between some variables, (m, m)."""
    owner = np.arange(data.X.shape[1]) if variable is None else variable
    columns = np.flatnonzero(np.isin(owner, shown))
    X = data.X[:, columns] * np.sqrt(data.weight / data.weight.sum())[:, None]
    each = np.abs(X.T @ X)
    place = np.searchsorted(shown, owner[columns])
    size = np.zeros((shown.size, shown.size))
    np.maximum.at(size, (place[:, None], place[None, :]), each)
    np.fill_diagonal(size, 1.0)
    return np.minimum(size, 1.0)


def joined(distance: Array, groups: IntArray) -> tuple[IntArray, Array]:
    """Return the order and the joins of a tree by average linkage, groups before others.

    Parameters
    ----------
    distance : array of shape (m, m)
    groups : array of int, shape (m,)

    Returns
    -------
    array of int, shape (m,)
        The order in which no branches cross; the earlier of two branches comes first.
    array of shape (m - 1, 5)
        As in `GroupMap`.

    Examples
    --------
    >>> import numpy as np
    >>> from selica.selectors.group_map import joined
    >>> distance = np.array([[0.0, 0.9, 0.2], [0.9, 0.0, 0.8], [0.2, 0.8, 0.0]])
    >>> order, joins = joined(distance, np.array([0, 1, 0]))
    >>> order.tolist(), joins.round(3).tolist()
    ([0, 2, 1], [[0.0, 0.0, 1.0, 0.0, 0.2], [0.5, 0.2, 2.0, 0.0, 0.85]])
    """
    m = len(groups)
    branches: dict[int, list[int]] = {j: [j] for j in range(m)}
    height = dict.fromkeys(range(m), 0.0)
    owner = {j: int(groups[j]) for j in range(m)}
    between = distance.astype(float)
    np.fill_diagonal(between, np.inf)
    apart = groups[:, None] != groups[None, :]
    steps: list[tuple[int, int, float]] = []
    for _ in range(m - 1):
        # members of one group first, as long as there are any
        inside = np.where(apart, np.inf, between)
        here = inside if np.isfinite(inside).any() else between
        a, b = sorted(divmod(int(np.argmin(here)), m))
        top = max(float(between[a, b]), height[a], height[b])
        steps.append((a, b, top))
        one, other = len(branches[a]), len(branches[b])
        mean = (one * between[a] + other * between[b]) / (one + other)
        between[a], between[:, a] = mean, mean
        between[a, a] = between[b] = between[:, b] = np.inf
        if owner[a] != owner[b]:
            apart[a] = apart[:, a] = True
        branches[a] += branches.pop(b)
        height[a] = top
    order = np.array(branches[0], dtype=np.intp)
    place = {int(j): float(k) for k, j in enumerate(order)}
    ends = {j: (place[j], 0.0) for j in range(m)}
    joins = np.zeros((m - 1, 5))
    for row, (a, b, top) in enumerate(steps):
        joins[row] = (*ends[a], *ends[b], top)
        ends[a] = (0.5 * (ends[a][0] + ends[b][0]), top)
    return order, joins
