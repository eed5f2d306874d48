"""Groups of variables: which variables are selected, or not, together.

A group is the unit of a selection: statistics, filters and bounds count groups, a discovery is a
group, and its members are listed without a promise of their own. Groups may come from the columns,
never from the response. Where they are formed from the rows that are copied, what is promised by
copies that trade places with the columns is expected, not proven: an exchange of columns and copies
could change the groups. Groups that are given, and any groups of a fixed design, cost no promise.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from selica._core.errors import ArgumentError, DoesNotApply
from selica._core.types import Array, IntArray
from selica._core.validation import number, short, written
from selica._core.wording import few
from selica.sampling import correlation_groups
from selica.sampling.weights import missing_label
from selica.selectors.guarantee import Guarantee
from selica.statistics import Data
from selica.tables.columns import different_names
from selica.tables.feature_labels import feature_labels

CORRELATION = "correlation"
"""The word that asks for clusters of correlated columns."""
CUT = 0.5
"""Correlation from which on columns are in one cluster, on average, where nothing else is said."""
REPRESENTATIVES = ("sparse", "weighted", "simple")
"""Ways to weigh the members of a group in its representative."""
_KINDS = "labels of the variables, 'correlation', 'correlation:0.7' or 'FILE:COLUMN'"
"""What groups may be, for an error."""
SAME_ROWS = "it does not matter that groups were formed from the same rows"
"""What an unproven promise rests on where groups come from the rows that are copied."""
_WORD = re.compile(r"\b(V|v)ariable(s?)\b")


class Groups(NamedTuple):
    """Which variables belong together."""

    of: IntArray
    """(p,): number of the group of each variable, in the order of their first members."""
    names: tuple[str, ...]
    """Of the groups."""
    origin: str
    """Where they come from, as a clause."""
    formed: bool = False
    """Whether they were formed from the rows of the table."""

    @property
    def sizes(self) -> IntArray:
        """(K,): number of variables in each group."""
        return np.bincount(self.of)

    @property
    def single(self) -> bool:
        """Whether every group has one variable, so that groups change nothing but names."""
        return len(self.names) == self.of.size

    def members(self, names: Sequence[str]) -> list[tuple[str, ...]]:
        """Return the names of the members of each group.

        Parameters
        ----------
        names : sequence of str
            Of all variables.
        """
        found: list[list[str]] = [[] for _ in self.names]
        for name, group in zip(names, self.of, strict=True):
            found[group].append(name)
        return [tuple(one) for one in found]

    def in_columns(self, data: Data) -> Data:
        """Return data whose units are groups; groups of one leave them as they are.

        Parameters
        ----------
        data : Data
            Whose `variable` says which columns are those of one variable.
        """
        if self.single:
            return data
        variable = data.variable
        member = np.arange(data.X.shape[1], dtype=np.intp) if variable is None else variable
        return data._replace(variable=self.of[member], member=member)


def in_groups(text: str, names: Sequence[str] = ()) -> str:
    """Return a sentence about variables as one about groups.

    Parameters
    ----------
    text : str
    names : sequence of str
        Of groups; they stay as they are.

    Examples
    --------
    >>> from selica.selectors.grouping import in_groups
    >>> in_groups("Variables are many, and a variable is false.")
    'Groups are many, and a group is false.'
    """
    kept = [re.escape(name) for name in names if _WORD.search(name)]
    parts = re.split(f"({'|'.join(kept)})", text) if kept else [text]
    parts[::2] = [
        _WORD.sub(lambda found: ("G" if found[1] == "V" else "g") + f"roup{found[2]}", part)
        for part in parts[::2]
    ]
    return "".join(parts)


def read_groups(groups: Any, names: Sequence[str], data: Data) -> Groups | None:
    """Return the groups that a user asks for; None where there are none.

    Parameters
    ----------
    groups : None, sequence, mapping, "correlation", ("correlation", cut) or text
        As selectors take it: one label for each variable, or by its name. A label that is missing
        (None, NaN) makes a group of the variable alone. As text also "correlation:0.7" and
        "FILE:COLUMN", a column of a table of the variables.
    names : sequence of str
        Of the variables.
    data : Data
        The columns, for clusters of them.

    Examples
    --------
    >>> import numpy as np
    >>> from selica.selectors.grouping import read_groups
    >>> from selica.statistics import make_data
    >>> data = make_data(np.eye(4)[:, :3], np.arange(4.0), "squared")
    >>> found = read_groups({"a": "left", "b": "right", "c": "left"}, ["a", "b", "c"], data)
    >>> found.of.tolist(), found.names
    ([0, 1, 0], ('left', 'right'))
    """
    if groups is None:
        return None
    if isinstance(groups, str):
        word, colon, rest = groups.rpartition(":")
        if CORRELATION in (groups, word):
            groups = (CORRELATION, _number(rest) if colon else CUT)
        elif colon and word and rest:
            groups = feature_labels(word, rest, names)
        else:
            raise ArgumentError(f"groups must be {_KINDS}; got {groups!r}.")
    if isinstance(groups, tuple) and len(groups) == 2 and groups[0] == CORRELATION:
        cut = number("groups: the cut", groups[1], at_least=0.0, at_most=1.0)
        if data.stored:
            raise DoesNotApply(
                "groups='correlation' compares all pairs of columns, which a stored table has too "
                "many of: give a label for each column."
            )
        return _clusters(cut, names, data)
    labels = _labels(groups, names)
    codes: dict[Any, int] = {}
    of = np.empty(len(names), dtype=np.intp)
    titles: list[str] = []
    for place, label in enumerate(labels):
        alone = missing_label(label)
        key = ("", place) if alone else ("label", label)
        try:
            of[place] = codes.setdefault(key, len(codes))
        except TypeError:
            raise ArgumentError(
                f"groups must have labels that are hashable, such as text or numbers; got "
                f"{short(label)}."
            ) from None
        if of[place] == len(titles):
            titles.append(names[place] if alone else written(label))
    return Groups(of, different_names(titles), "the groups were given")


def _number(text: str) -> float | str:
    """Return the number that a text is, or the text."""
    try:
        return float(text)
    except ValueError:
        return text


def _clusters(cut: float, names: Sequence[str], data: Data) -> Groups:
    """Return clusters of correlated columns; categories and constant columns are alone."""
    variable = np.arange(len(names)) if data.variable is None else data.variable
    alone = np.bincount(variable, minlength=len(names))[variable] == 1
    columns = np.flatnonzero(alone & data.varies)
    labels = -1 - np.arange(len(names), dtype=np.intp)  # each by itself
    if columns.size > 1:
        rows = data.weight > 0.0
        labels[variable[columns]] = correlation_groups(data.X[np.ix_(rows, columns)], cut)
    _, first, of = np.unique(labels, return_index=True, return_inverse=True)
    order = np.argsort(np.argsort(first))
    of = order[of].astype(np.intp)
    places = np.split(np.argsort(of, kind="stable"), np.cumsum(np.bincount(of))[:-1])
    members = [[names[j] for j in own.tolist()] for own in places]
    return Groups(
        of, tuple(title_of(own) for own in members),
        f"columns whose correlation is above {cut:g} in size, on average, are a group",
        formed=True,
    )  # fmt: skip


def title_of(names: Sequence[str]) -> str:
    """Return what a group of these variables is called.

    Examples
    --------
    >>> from selica.selectors.grouping import title_of
    >>> title_of(["a", "b"]), title_of(["a", "b", "c"])
    ('a and b', 'a and 2 more')
    """
    return " and ".join(names) if len(names) < 3 else few(names, 1)


def _labels(groups: Any, names: Sequence[str]) -> list[Any]:
    """Return one label for each variable, in the order of the variables."""
    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(groups, pandas.Series):
        index = groups.index
        if not (isinstance(index, pandas.RangeIndex) and len(groups) == len(names)):
            if index.has_duplicates:
                raise ArgumentError("groups has more than one label for some of the variables.")
            groups = dict(zip(map(str, index), groups.tolist(), strict=True))
    if isinstance(groups, Mapping):
        known = {str(name): label for name, label in groups.items()}
        without = [name for name in names if name not in known]
        if without:
            raise ArgumentError(
                f"groups must have a label for each variable; there is none for {few(without)}."
            )
        return [known[name] for name in names]
    if isinstance(groups, bytes | set | frozenset) or not hasattr(groups, "__len__"):
        raise ArgumentError(f"groups must be {_KINDS}; got {short(groups)}.")
    if np.ndim(groups) != 1 or len(groups) != len(names):
        raise ArgumentError(
            f"groups must have one label for each of the {len(names)} variables; got {len(groups)}."
            if np.ndim(groups) == 1
            else f"groups must be one label for each of the {len(names)} variables, in a row; got "
            f"an array with {np.ndim(groups)} dimensions."
        )
    listed = groups.tolist() if hasattr(groups, "tolist") else groups
    return list(listed)


def for_groups(promise: Guarantee) -> Guarantee:
    """Return a promise on variables as one on groups of them.

    Parameters
    ----------
    promise : Guarantee

    Examples
    --------
    >>> from selica.selectors.grouping import for_groups
    >>> from selica.selectors.guarantee import Guarantee
    >>> print(for_groups(Guarantee("false discovery rate", 0.1, True, "", "")))
    On average at most 10 % of the selected groups are false. This is proven if the rows are \
independent. A group is false if none of its members matters given all other variables; nothing is \
promised about single members.
    """
    return replace(
        promise, discoveries="groups", assumptions=in_groups(promise.assumptions),
        settings=in_groups(promise.settings),
    )  # fmt: skip


def equal_sizes(data: Data) -> bool:
    """Tell whether all groups have as many columns."""
    assert data.variable is not None
    sizes = np.bincount(data.variable)
    return bool(np.all(sizes == sizes[0]))


def representative_weights(frequency: Array, groups: IntArray, kind: str) -> Array:
    """Return the weights of the members in the representative of their group, (p,).

    They add up to one in each group (Faletto and Bien 2022).

    Parameters
    ----------
    frequency : array of shape (p,)
        How often resamples select each variable.
    groups : array of int, shape (p,)
    kind : {"sparse", "weighted", "simple"}
        All weight on the member that is selected most, shared where several are; by how often each
        is selected; the same for all. Where no member is ever selected, the same for all.

    Examples
    --------
    >>> import numpy as np
    >>> from selica.selectors.grouping import representative_weights
    >>> groups = np.array([0, 0, 0, 1])
    >>> representative_weights(np.array([0.5, 0.25, 0.25, 0.8]), groups, "weighted").tolist()
    [0.5, 0.25, 0.25, 1.0]
    """
    top = np.zeros(int(groups.max()) + 1)
    np.maximum.at(top, groups, frequency)
    shares = {
        "sparse": (frequency == top[groups]).astype(float),
        "weighted": np.where(top[groups] > 0.0, frequency, 1.0),
        "simple": np.ones(frequency.size),
    }[kind]
    return np.asarray(shares / np.bincount(groups, shares)[groups])
