"""What may be said of a knockoff fit when it has been seen: a level, and bounds for any list.

`KnockoffSelection` and `DerandomizedKnockoffs` inherit `AfterTheFit`. Both promises rest on the
copies alone, so that they are proven, expected or withdrawn as the promise of the fit is.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from selica._core.errors import ArgumentError
from selica._core.results import Result
from selica._core.rounding import ROUNDING
from selica._core.table import Table
from selica._core.types import Array, BoolArray, IntArray
from selica._core.validation import error_level, short
from selica._core.wording import counted, few
from selica.control import (
    false_bound,
    posthoc_level,
    posthoc_selection,
    prefix_bounds,
    sign_boundary,
)
from selica.selectors.guarantee import RATIO, Guarantee

CONFIDENCE = 0.95
"""Probability with which bounds hold, unless another is asked for."""
_SHOWN_LISTS = 20
"""Lists of a curve that are printed, at most."""
_LISTED_NAMES = 10
"""Names that a sentence lists where nothing was selected, at most."""
_HALF = 0.5 - ROUNDING
"""Level from which on a sentence says how little it means."""


@dataclass(frozen=True, slots=True, repr=False)
class PosthocLevel(Result):
    """A list with the level that was found for it after the fit.

    On average the false share of the list divided by the level is at most 1, however the list and
    the level were chosen from this one fit. That says less than a level that was fixed before the
    fit: the level itself is no bound on the average false share.

    Attributes
    ----------
    names : tuple of str
        The list, the clearest first.
    support : boolean array
        The same as a mask.
    level : float or None
        At most 1; None where the data support none.
    guarantee : Guarantee
        On what it rests.
    unit : str
        What is listed: "variable", or "group".

    Examples
    --------
    >>> from selica import KnockoffSelection
    >>> from selica.sampling import simulate
    >>> data = simulate(300, 40, 5, snr=20.0, random_state=0)
    >>> selector = KnockoffSelection(0.1, sampler="iid", random_state=0).fit(data.X, data.y)
    >>> int(selector.support_.sum())  # a rate of 0.1 needs ten variables
    0
    >>> print(selector.posthoc())  # doctest: +NORMALIZE_WHITESPACE
    5 variables at level 0.2: x14, x13, x11, x19, x32. The false share divided by the level is at
    most 1 on average, also when the level is chosen after the fit. This is proven if the rows are
    independent, and the predictors are independent of each other and normal [Fischer and Sechidis
    2025].
    """

    names: tuple[str, ...]
    support: BoolArray
    level: float | None
    guarantee: Guarantee
    unit: str = "variable"

    def __str__(self) -> str:
        if self.level is None and not self.names:
            return f"These data support no list of {self.unit}s at a level of 1 or less."
        many = counted(len(self.names), self.unit)
        if self.level is None:
            return f"These data support no level of 1 or less for this list of {many}."
        return f"{many} at level {self.level:.3g}: {few(self.names)}. {self.guarantee}"

    def __repr__(self) -> str:
        return str(self)

    def to_dict(self) -> dict[str, Any]:
        """Return level, names and what it rests on, as plain values."""
        return {
            "level": self.level,
            "names": list(self.names),
            "guarantee": self.guarantee.to_dict() | {"text": str(self.guarantee)},
        }


@dataclass(frozen=True, slots=True, repr=False)
class ListBound(Result):
    """A bound on the number of false variables in a list, which holds for all lists at once.

    Attributes
    ----------
    names : tuple of str
        The list.
    false : int or None
        False ones among them, at most; None where there is no bound, since all may be false.
    confidence : float
        Probability with which it holds.
    guarantee : Guarantee
        On what it rests.
    unit : str
        What is listed: "variable", or "group".

    Examples
    --------
    >>> from selica import KnockoffSelection
    >>> from selica.sampling import simulate
    >>> data = simulate(300, 40, 15, snr=20.0, random_state=0)
    >>> selector = KnockoffSelection(0.2, sampler="iid", random_state=0).fit(data.X, data.y)
    >>> found = selector.fdp_bound(selector.get_feature_names_out())
    >>> len(found.names), found.false, round(found.proportion, 2)
    (17, 6, 0.35)
    >>> print(selector.fdp_bound(["x1", "x2"]))
    There is no bound for this list of 2 variables at a confidence of 0.95: all may be false.
    """

    names: tuple[str, ...]
    false: int | None
    confidence: float
    guarantee: Guarantee
    unit: str = "variable"

    @property
    def proportion(self) -> float | None:
        """Bound on the share of false ones; None where there is no bound."""
        return None if self.false is None else self.false / len(self.names)

    def __str__(self) -> str:
        return self.claim if self.false is None else f"{self.claim} {self.guarantee.basis}"

    @property
    def claim(self) -> str:
        """The bound as a sentence, without what it rests on."""
        many = counted(len(self.names), self.unit)
        if self.false is None:
            return (
                f"There is no bound for this list of {many} at a confidence of "
                f"{self.confidence:g}: all may be false."
            )
        are = "is" if self.false == 1 else "are"
        return (
            f"With probability {self.confidence:g}, at most {self.false or 'none'} of these {many} "
            f"{are} false. Such bounds hold for all lists at once, with this probability."
        )

    def __repr__(self) -> str:
        return str(self)

    def to_dict(self) -> dict[str, Any]:
        """Return names, bounds and what they rest on, as plain values."""
        return {
            "names": list(self.names),
            "false": self.false,
            "proportion": self.proportion,
            "confidence": self.confidence,
            "guarantee": self.guarantee.to_dict() | {"text": str(self.guarantee)},
        }


@dataclass(frozen=True, slots=True, repr=False)
class BoundCurve(Result):
    """Bounds on the false variables of all lists W >= t, which hold for all lists at once.

    Attributes
    ----------
    W : array of shape (m,)
        Smallest statistic of each list, falling.
    size : array of int, shape (m,)
        How many variables it has.
    false : array of int, shape (m,)
        False ones among them, at most; as many as `size` where there is no bound.
    confidence : float
    guarantee : Guarantee
    unit : str

    Examples
    --------
    >>> from selica import KnockoffSelection
    >>> from selica.sampling import simulate
    >>> data = simulate(300, 40, 15, snr=20.0, random_state=0)
    >>> selector = KnockoffSelection(0.2, sampler="iid", random_state=0).fit(data.X, data.y)
    >>> curve = selector.fdp_bound()
    >>> curve.size[:6], curve.false[:6]
    (array([1, 2, 3, 4, 5, 6]), array([1, 2, 3, 4, 4, 4]))
    """

    W: Array
    size: IntArray
    false: IntArray
    confidence: float
    guarantee: Guarantee
    unit: str = "variable"

    @property
    def table(self) -> Table:
        """One row for each list: its size, its smallest W, and bounds; None where there is none."""
        rows = zip(self.size.tolist(), self.W.tolist(), self.false.tolist(), strict=True)
        return Table.of(
            {
                "size": size,
                "W": w,
                "false at most": false if false < size else None,
                "share at most": false / size if false < size else None,
            }
            for size, w, false in rows
        )

    def to_dict(self) -> dict[str, Any]:
        """Return sizes, statistics, bounds and what they rest on, as plain values."""
        columns = ("size", "W", "false at most", "share at most")
        rows = self.table.rows
        return {
            "confidence": self.confidence,
            **{name.replace(" ", "_"): [row[name] for row in rows] for name in columns},
            "guarantee": self.guarantee.to_dict() | {"text": str(self.guarantee)},
        }

    def to_frame(self) -> Any:
        """Return one row for each list (needs pandas)."""
        return self.table.to_frame()

    def __str__(self) -> str:
        if not self.size.size:
            return f"No {self.unit} is ahead of its copy: there is no list to bound."
        rows = self.table.rows
        step = -(-len(rows) // _SHOWN_LISTS)
        shown = rows[step - 1 :: step]
        lines = [f"{self.unit}s with the largest W   false at most"]
        for row in shown:
            bound = row["false at most"]
            said = "no bound" if bound is None else f"{bound} ({100.0 * bound / row['size']:.0f} %)"
            lines.append(f"{row['size']:>{len(self.unit) + 21}}   {said:>13}")
        return "\n".join([*lines, f"{self.guarantee}"])

    def __repr__(self) -> str:
        return str(self)


class AfterTheFit:
    """Knockoff selectors that say something of any list, also one chosen after the fit."""

    guarantee_: Guarantee
    statistics_: Array
    _of_copies: Guarantee | None

    @abstractmethod
    def _posthoc_evalues(self) -> tuple[Array, float]:
        """Return e-values for a level chosen after the fit, and the level that was asked for."""

    @abstractmethod
    def _one_copy(self) -> Array:
        """Return the statistics of one copy, which was fixed before they were seen."""

    @abstractmethod
    def _unit_names(self) -> list[str]:
        """Return the names of what is selected or not: variables, or groups of them."""

    @abstractmethod
    def _words(self, text: str) -> str:
        """Return a sentence on variables in the words of what is selected."""

    def posthoc(self) -> PosthocLevel:
        """Find the list and the level that the data support, where the asked level selects none.

        Returns
        -------
        PosthocLevel
            At the asked level or below where that selects anything, else at the smallest level.
            On average the false share divided by the level is at most 1. The level that was asked
            for is part of the rule: to try several, or several seeds, and keep the best is not
            covered.

        Examples
        --------
        >>> from selica import DerandomizedKnockoffs
        >>> from selica.sampling import simulate
        >>> data = simulate(300, 40, 5, snr=20.0, random_state=0)
        >>> selector = DerandomizedKnockoffs(0.1, n_copies=10, sampler="iid", random_state=0)
        >>> found = selector.fit(data.X, data.y).posthoc()
        >>> sorted(found.names), round(found.level, 3)
        (['x11', 'x13', 'x14', 'x19', 'x32'], 0.2)
        """
        e, fdr = self._posthoc_evalues()
        found = posthoc_selection(e, fdr)
        level = found.level if found.support.any() else None
        return self._at_level(found.support, level, e)

    def level_of(self, names: Any) -> PosthocLevel:
        """Find the level at which a list of one's own may be reported.

        Parameters
        ----------
        names : sequence of str, or boolean array of shape (p,)
            The list, however it was chosen; of groups where these are what is selected.

        Returns
        -------
        PosthocLevel
            Its level is None where the data support none of at most 1.

        Examples
        --------
        >>> from selica import KnockoffSelection
        >>> from selica.sampling import simulate
        >>> data = simulate(300, 40, 5, snr=20.0, random_state=0)
        >>> selector = KnockoffSelection(0.1, sampler="iid", random_state=0).fit(data.X, data.y)
        >>> selector.level_of(["x14", "x13"]).level
        0.5
        """
        e, _ = self._posthoc_evalues()
        support = self._listed_mask(names, e.size)
        level = posthoc_level(e, support)
        return self._at_level(support, min(level, 1.0) if level <= 1.0 + ROUNDING else None, e)

    def fdp_bound(
        self, names: Any = None, confidence: float | None = None
    ) -> ListBound | BoundCurve:
        """Bound the number of false variables in a list, with a probability, for all lists at once.

        Parameters
        ----------
        names : sequence of str, or boolean array of shape (p,), optional
            The list, however it was chosen, also after looking at the data. Without it, the lists
            of the variables with the largest statistics.
        confidence : float, optional
            Probability with which all bounds hold, fixed before they are seen; by default that of
            the selector, or 0.95.

        Returns
        -------
        ListBound or BoundCurve
            From one copy: several seeds, or averages over copies, would not be covered.

        Examples
        --------
        >>> from selica import KnockoffSelection
        >>> from selica.sampling import simulate
        >>> data = simulate(300, 40, 15, snr=20.0, random_state=0)
        >>> selector = KnockoffSelection(0.2, sampler="iid", random_state=0).fit(data.X, data.y)
        >>> selector.fdp_bound(selector.support_, confidence=0.8).false
        4
        """
        confidence = error_level(
            "confidence", self._confidence() if confidence is None else confidence
        )
        missed = 1.0 - confidence
        W = self._one_copy()
        boundary = sign_boundary(missed, int(np.count_nonzero(W)))
        promise = self._resting_on_copies(
            "probability that the bound of any list is exceeded", missed,
            "Katsevich and Ramdas 2020; Li, Maathuis and Goeman 2022",
        )  # fmt: skip
        if names is None:
            found = prefix_bounds(W, boundary)
            return BoundCurve(found.t, found.size, found.false, confidence, promise, self._unit())
        support = self._listed_mask(names, W.size)
        false = false_bound(W, support, boundary)
        listed = self._in_order(support, W)
        bound = false if false < len(listed) else None
        return ListBound(listed, bound, confidence, promise, self._unit())

    def _confidence(self) -> float:
        """Return the probability with which bounds hold, unless another is asked for."""
        return CONFIDENCE

    def _unit(self) -> str:
        """Return what a list consists of, in the singular."""
        return self._words("variable")

    def _at_level(self, support: BoolArray, level: float | None, order: Array) -> PosthocLevel:
        """Return a list with its level, the largest numbers first."""
        promise = self._resting_on_copies(RATIO, 1.0, "Fischer and Sechidis 2025")
        return PosthocLevel(self._in_order(support, order), support, level, promise, self._unit())

    def _in_order(self, support: BoolArray, order: Array) -> tuple[str, ...]:
        """Return the names of a list, the largest numbers first, then the largest statistics."""
        names, chosen = self._unit_names(), np.flatnonzero(support)
        W = np.atleast_2d(self.statistics_).mean(axis=0)
        return tuple(names[j] for j in chosen[np.lexsort((-W[chosen], -order[chosen]))])

    def _resting_on_copies(self, controls: str, level: float, source: str) -> Guarantee:
        """Return a promise that needs proper copies only, withdrawn where that of the fit is."""
        promise = self.guarantee_ if self._of_copies is None else self._of_copies
        if promise.level is None:
            return promise
        return replace(promise, controls=controls, level=level, source=source, settings="")

    def _listed_mask(self, names: Any, size: int) -> BoolArray:
        """Return a list as a mask."""
        if isinstance(names, str) or not isinstance(names, Iterable):
            raise ArgumentError(f"names must be a list of names; got {short(names)}.")
        listed = list(names)
        if listed and all(isinstance(one, bool | np.bool_) for one in listed):
            if len(listed) != size:
                raise ArgumentError(
                    f"names must have one entry for each of the {counted(size, self._unit())}, as "
                    f"a mask; got {len(listed)}."
                )
            support = np.array(listed, dtype=bool)
        else:
            support = self._places(listed)
        if not support.any():
            raise ArgumentError("names must have at least one name.")
        return support

    def _places(self, names: Sequence[Any]) -> BoolArray:
        """Return which variables, or groups, are listed."""
        places = {name: j for j, name in enumerate(self._unit_names())}
        unknown = [name for name in names if not isinstance(name, str) or name not in places]
        if unknown:
            raise ArgumentError(f"names: {short(unknown[0])} is none of the {self._unit()}s.")
        support = np.zeros(len(places), dtype=bool)
        support[[places[name] for name in names]] = True
        return support

    def _said_after(self) -> str:
        """Say what the data support at a level chosen after the fit, where nothing was selected."""
        if self.guarantee_.level is None:
            return ""
        found = self.posthoc()
        if found.level is None:
            return f" {found}"
        if found.level > 1.0 - ROUNDING:  # a share is at most 1 anyway
            return f" The data support no list of {found.unit}s at a level below 1."
        many = counted(len(found.names), found.unit)
        half = " At such a level half of the list, or more, may be false."
        return (
            f" With a level that is chosen after the fit, the data support {many} at level "
            f"{found.level:.3g}: {few(found.names, _LISTED_NAMES)}. The false share divided by "
            "this level is at most 1 on average, on the assumptions of the promise."
            f"{half if found.level >= _HALF else ''}"
        )
