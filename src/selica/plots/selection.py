"""What a selector measured of each variable."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from selica._core.errors import ArgumentError
from selica._core.table import Table
from selica._core.types import Array, BoolArray, IntArray
from selica._core.validation import choice, count
from selica.plots import arguments as check
from selica.plots.canvas import canvas, legend

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_CHOSEN = "#0072B2"
"""Colour of selected variables."""
_OTHER = "#999999"
"""Colour of variables that are not selected."""
_BELOW = "#D55E00"
"""Colour of variables whose copies are ahead."""
# A threshold, whichever way it runs.
_MARK: Any = {"color": "0.2", "lw": 1.0, "ls": (0, (4, 2))}
_MOST_LABELS = 15
"""Selected variables whose lines have names."""
_MOST_BARS = 500
"""More do not fit into a picture."""


def plot_bars(
    variables: Table, value: str, *, threshold: float | None = None, most: int = 25, title: str = ""
) -> Figure:
    """Draw the first variables, or groups, of a summary as bars, selected ones in colour.

    Parameters
    ----------
    variables : Table
        With columns variable (or group), selected, the value, and s.e. where there is one.
    value : str
        Which column to draw.
    threshold : float, optional
        Marked by a line where it is finite.
    most : int
        Variables drawn; where more are selected, all of them and five more, up to twice as many.
    title : str

    Examples
    --------
    >>> from selica.experiments import Table
    >>> from selica.plots import plot_bars
    >>> rows = [{"variable": f"x{j}", "selected": j == 0, "chance": 0.9 - j / 4} for j in range(3)]
    >>> figure = plot_bars(Table.of(rows), "chance", threshold=0.6)
    >>> len(figure.axes[0].patches)
    3
    """
    unit = "group" if "group" in getattr(variables, "columns", ()) else "variable"
    Table.check("variables", variables, unit, "selected")
    choice("value", value, variables.columns)
    check.text("title", title)
    most = count("most", most, at_most=_MOST_BARS)
    if threshold is not None:
        check.number("threshold", threshold)
    chosen = int(sum(row["selected"] for row in variables))
    rows = variables.rows[: max(most, min(chosen + 5, 2 * most))]
    figure, ((axes,),) = canvas(size=(6.4, 1.1 + 0.2 * len(rows)))
    place = np.arange(len(rows))[::-1]
    sizes = np.array([_size(value, row[value]) for row in rows])
    errors = None
    if "s.e." in variables.columns:
        errors = 2.0 * np.array([row["s.e."] or 0.0 for row in rows])
    for picked, colour, label in ((True, _CHOSEN, "selected"), (False, _OTHER, "not selected")):
        here = np.array([row["selected"] == picked for row in rows], dtype=bool)
        if here.any():
            axes.barh(
                place[here], sizes[here], color=colour, label=label, height=0.7,
                xerr=None if errors is None else errors[here],
                error_kw={"ecolor": "0.25", "elinewidth": 0.8},
            )  # fmt: skip
    if threshold is not None and np.isfinite(threshold):
        axes.axvline(threshold, **_MARK, label="threshold")
    axes.set_yticks(place, [_short(row[unit]) for row in rows], fontsize=8)
    axes.set(xlabel=value, title=title, ylim=(-0.7, len(rows) - 0.3))
    axes.grid(visible=False, axis="y")
    legend(axes, loc="lower right")
    return figure


def plot_stability_path(
    lams: Array,
    probabilities: Array,
    chosen: BoolArray,
    threshold: float | None,
    title: str = "",
    *,
    names: Sequence[str] | None = None,
) -> Figure:
    """Draw selection probabilities against the penalty; selected variables in colour.

    Parameters
    ----------
    lams : array of shape (L,)
    probabilities : array of shape (L, p)
    chosen : boolean array of shape (p,)
        The selected variables.
    threshold : float, optional
        Marked by a line.
    title : str
    names : sequence of str, optional
        Of the variables; up to 15 selected ones are labelled, where their lines end.

    Examples
    --------
    >>> import numpy as np
    >>> from selica.plots import plot_stability_path
    >>> chance = np.array([[0.2, 0.1], [0.9, 0.2]])  # two penalties, two variables
    >>> figure = plot_stability_path(np.array([0.2, 0.1]), chance, chance[-1] > 0.6, 0.6)
    >>> figure.axes[0].get_ylabel()
    'selection probability'
    """
    lams = check.numbers("lams", lams)
    if np.any(lams <= 0.0):
        raise ArgumentError("lams must be positive.")
    probabilities = check.numbers("probabilities", probabilities, (lams.size, None))
    chosen = np.array(check.several("chosen", chosen, (bool, np.bool_), "True and False"))
    if chosen.shape != probabilities.shape[1:]:
        raise ArgumentError("chosen must be True or False for each column of probabilities.")
    if threshold is not None:
        check.number("threshold", threshold)
    check.text("title", title)
    labels = () if names is None else check.several("names", names, (str,), "text")
    if labels and len(labels) != chosen.size:
        raise ArgumentError("names must have one for each column of probabilities.")
    figure, ((axes,),) = canvas()
    for picked, colour, width in ((False, _OTHER, 0.7), (True, _CHOSEN, 1.4)):
        lines = probabilities[:, chosen == picked]
        lines = lines[:, lines.any(axis=0)]  # those that no resample selects are a line at zero
        if lines.size:
            label = "selected" if picked else "not selected"
            axes.plot(lams, lines, color=colour, lw=width, alpha=0.85,
                      label=[label, *[""] * (lines.shape[1] - 1)])  # fmt: skip
    if threshold is not None:
        axes.axhline(threshold, **_MARK, label="threshold")
    axes.set(xscale="log", xlabel="penalty", ylabel="selection probability", title=title)
    axes.set_ylim(-0.02, 1.02)
    axes.minorticks_off()
    ticks = np.geomspace(lams.max(), lams.min(), 5)
    axes.set_xticks(ticks, [f"{tick:.2g}" for tick in ticks])
    axes.invert_xaxis()
    if labels:
        _label_entries(axes, lams, probabilities, chosen, labels)
    legend(axes, loc="lower left", bbox_to_anchor=(0.0, 0.06))
    return figure


def _label_entries(
    axes: Axes, lams: Array, probabilities: Array, chosen: BoolArray, names: Sequence[str]
) -> None:
    """Name selected variables where their lines cross one half, from the first that does."""
    crossing = {
        int(j): int(np.argmax(probabilities[:, j] >= 0.5))
        for j in np.flatnonzero(chosen & (probabilities.max(axis=0) >= 0.5))
    }
    ordered = sorted(crossing.items(), key=lambda one: one[1])[:_MOST_LABELS]
    for place, (j, _) in enumerate(ordered):
        level = 0.5 + 0.42 * (place % 6) / 6.0
        here = int(np.argmax(probabilities[:, j] >= level))
        axes.annotate(
            _short(names[j], 14), (lams[here], probabilities[here, j]), xytext=(-3, 1),
            textcoords="offset points", fontsize=7, color=_CHOSEN, ha="right",
        )  # fmt: skip


def plot_statistics(
    W: Array, threshold: float, title: str = "", *, unit: str = "variable"
) -> Figure:
    """Draw knockoff statistics in order of size: variables ahead of their copies, and behind.

    Below minus the threshold are the copies that were ahead: they estimate how many of the
    variables above it are false. `unit` is what is selected: "variable", or "group".

    Examples
    --------
    >>> import numpy as np
    >>> from selica.plots import plot_statistics
    >>> figure = plot_statistics(np.array([2.0, 1.5, -0.3, 0.0]), 1.0)
    >>> [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    ['selected', 'undecided']
    """
    W = check.numbers("W", W)
    check.number("threshold", threshold)
    check.text("title", title)
    check.text("unit", unit)
    figure, ((axes,),) = canvas()
    order = np.argsort(-np.abs(W), kind="stable")
    rank = np.arange(W.size)
    w = W[order]
    kinds: tuple[tuple[Any, str, str, str], ...] = (
        ((w >= threshold) & (w > 0.0), _CHOSEN, "selected", "o"),
        (w <= -threshold, _BELOW, "copies ahead by as much", "v"),
        (np.abs(w) < threshold, _OTHER, "undecided", "."),
    )
    for here, colour, label, marker in kinds:
        if here.any():
            axes.plot(rank[here], w[here], marker, color=colour, ms=4.5, ls="none", label=label)
    if np.isfinite(threshold):
        for level in (threshold, -threshold):
            axes.axhline(level, **_MARK)
    axes.axhline(0.0, color="0.6", lw=0.8)
    axes.set(xlabel=f"{unit}s by size of the statistic", ylabel="W", title=title)
    legend(axes, loc="upper right")
    return figure


def plot_fdp_bound(
    size: Array | IntArray,
    false: Array | IntArray,
    confidence: float,
    *,
    selected: int = 0,
    title: str = "",
    unit: str = "variable",
) -> Figure:
    """Draw how many variables of the longest lists are false at most, and how many are true.

    Parameters
    ----------
    size : array of shape (m,)
        Variables of each list, rising.
    false : array of shape (m,)
        How many of them are false, at most; as many as there are where there is no bound.
    confidence : float
        Probability with which the bounds hold.
    selected : int
        Size of the list that was selected, marked where there is one.
    title : str
    unit : str
        What is selected: "variable", or "group".

    Examples
    --------
    >>> import numpy as np
    >>> from selica.plots import plot_fdp_bound
    >>> figure = plot_fdp_bound(np.array([4, 5, 9]), np.array([4, 4, 4]), 0.95, selected=9)
    >>> figure.axes[0].get_xlabel()
    'variables with the largest statistics'
    """
    size, false = check.numbers("size", size), check.numbers("false", false)
    if size.shape != false.shape:
        raise ArgumentError("false must have one number for each of size.")
    check.number("confidence", confidence)
    count("selected", selected, at_least=0)
    check.text("title", title)
    check.text("unit", unit)
    figure, ((axes,),) = canvas()
    x = np.concatenate([[0.0], size])
    bound = np.concatenate([[0.0], false])
    axes.fill_between(
        x, bound, x, step="post", color=_CHOSEN, alpha=0.25, lw=0, label="true, at least"
    )
    axes.fill_between(x, 0.0, bound, step="post", color=_BELOW, alpha=0.25, lw=0)
    axes.step(x, bound, where="post", color=_BELOW, lw=1.6, label="false, at most")
    if selected:
        axes.axvline(selected, **_MARK, label=f"selected: {selected}")
    axes.set(
        xlabel=f"{unit}s with the largest statistics",
        ylabel=f"{unit}s, with probability {confidence:g}",
        title=title,
    )
    axes.set_xlim(0.0, max(float(x[-1]), 1.0))
    axes.set_ylim(0.0, max(float(x[-1]), 1.0))
    legend(axes, loc="upper left")
    return figure


def plot_frequencies(
    probabilities: Array, threshold: float | None, title: str = "", *, unit: str = "variable"
) -> Figure:
    """Draw how many variables have which selection probability.

    `unit` is what is selected: "variable", or "group".

    Examples
    --------
    >>> import numpy as np
    >>> from selica.plots import plot_frequencies
    >>> plot_frequencies(np.array([0.1, 0.2, 0.95]), 0.6).axes[0].get_xlabel()
    'selection probability'
    """
    probabilities = check.numbers("probabilities", probabilities)
    if threshold is not None:
        check.number("threshold", threshold)
    check.text("title", title)
    check.text("unit", unit)
    figure, ((axes,),) = canvas(size=(6.4, 3.4))
    axes.hist(probabilities, bins=np.linspace(0.0, 1.0, 41).tolist(), color=_CHOSEN, alpha=0.85)
    if threshold is not None and np.isfinite(threshold):
        axes.axvline(threshold, **_MARK, label="threshold")
        legend(axes, loc="upper right")
    axes.set(xlabel="selection probability", ylabel=f"{unit}s", yscale="symlog", title=title)
    axes.set_xlim(0.0, 1.0)
    return figure


def _size(column: str, value: Any) -> float:
    """Return a value of a table, in which it may be missing."""
    return np.nan if value is None else check.number(f"variables: {column}", value)


def _short(name: str, most: int = 28) -> str:
    """Return a label that fits; a dollar is a dollar and begins no formula."""
    cut = name if len(name) <= most else name[: most - 1] + "…"
    return cut.replace("$", r"\$")
