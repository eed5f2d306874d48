"""Correlations between the variables of groups, beside the tree that joins them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from selica._core.errors import ArgumentError
from selica._core.types import Array, BoolArray, IntArray
from selica.plots import arguments as check
from selica.plots.style import RC

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_CHOSEN = "#0072B2"
"""Colour of selected groups."""
_OTHER = "#8a8a8a"
"""Colour of other groups."""
_MOST_LABELS = 45
"""Groups whose names fit beside a map."""
_SIGNS = 26
"""Signs of a name."""


def plot_groups(
    correlations: Array,
    groups: IntArray,
    names: Sequence[str],
    selected: BoolArray,
    joins: Array,
    *,
    left_out: int = 0,
    title: str = "",
) -> Figure:
    """Draw correlations as a map beside a tree, with a frame around each group.

    Parameters
    ----------
    correlations : array of shape (m, m)
        Sizes, from 0 to 1, in the order of the map.
    groups : array of int, shape (m,)
        The group of each variable, 0, 1, ... from the top; members are side by side.
    names : sequence of str
        Of the groups.
    selected : boolean array of shape (groups,)
        Those that are marked.
    joins : array of shape (m - 1, 5)
        Place and height of two branches, and the height at which they are joined.
    left_out : int
        Groups that are not on the map.
    title : str

    Examples
    --------
    >>> import numpy as np
    >>> from selica.plots import plot_groups
    >>> size = np.array([[1.0, 0.8, 0.1], [0.8, 1.0, 0.2], [0.1, 0.2, 1.0]])
    >>> joins = np.array([[0.0, 0.0, 1.0, 0.0, 0.2], [0.5, 0.2, 2.0, 0.0, 0.85]])
    >>> chosen = np.array([True, False])
    >>> figure = plot_groups(size, np.array([0, 0, 1]), ["a and 1 more", "c"], chosen, joins)
    >>> len(figure.axes[1].patches)
    2
    """
    size = check.numbers("correlations", correlations, (None, None))
    m = len(size)
    owner = np.asarray(groups)
    if size.shape != (m, m) or owner.shape != (m,):
        raise ArgumentError("groups must have one number for each row of correlations.")
    labels = check.several("names", names, (str,), "text")
    chosen = np.array(check.several("selected", selected, (bool, np.bool_), "True and False"))
    if not len(labels) == chosen.size == int(owner.max()) + 1:
        raise ArgumentError("names and selected must have one entry for each group.")
    brackets = np.zeros((0, 5)) if m == 1 else check.numbers("joins", joins, (m - 1, 5))
    check.text("title", title)
    figure, tree, field, scale = _panels(m)
    image = field.imshow(size, cmap="Greys", vmin=0.0, vmax=1.0, interpolation="nearest")
    _frames(field, owner, chosen)
    _labels(field, owner, labels, chosen, left_out)
    _branches(tree, brackets, m)
    bar = figure.colorbar(image, cax=scale, orientation="horizontal")
    bar.set_label("size of the correlation", fontsize=8)
    bar.ax.tick_params(labelsize=8)
    if title:
        figure.suptitle(title, fontsize=10)
    return figure


def _panels(m: int) -> tuple[Figure, Axes, Axes, Any]:
    """Make a figure with places for the tree, the map and the scale of its colours."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context(RC):
        figure = Figure(figsize=(7.2, 5.4))
        figure.set_layout_engine("none")
        tree = figure.add_axes((0.03, 0.16, 0.14, 0.76))
        field = figure.add_axes((0.18, 0.16, 0.57, 0.76))
        scale = figure.add_axes((0.18, 0.09, 0.3, 0.022))
    for axes in (tree, field):
        axes.grid(visible=False)
        axes.set_ylim(m - 0.5, -0.5)
        axes.set_xticks([])
        axes.spines[:].set_visible(False)
    tree.set_yticks([])
    return figure, tree, field, scale


def _frames(field: Axes, owner: IntArray, chosen: BoolArray) -> None:
    """Draw a square around the members of each group, selected ones in colour and on top."""
    from matplotlib.patches import Rectangle

    for group, picked in sorted(enumerate(chosen.tolist()), key=lambda one: one[1]):
        own = np.flatnonzero(owner == group)
        corner, width = own[0] - 0.5, own[-1] - own[0] + 1.0
        style: dict[str, Any] = {"ec": _OTHER, "lw": 0.6}
        if picked:
            style = {"ec": _CHOSEN, "lw": 2.0}
        field.add_patch(Rectangle((corner, corner), width, width, fill=False, **style))
    field.set_aspect("auto")


def _labels(
    field: Axes, owner: IntArray, names: Sequence[str], chosen: BoolArray, left_out: int
) -> None:
    """Name groups at the right; where there are many, only those that are selected."""
    field.yaxis.tick_right()
    every = len(names) <= _MOST_LABELS
    listed = [group for group in range(len(names)) if every or chosen[group]]
    middle = [float(np.flatnonzero(owner == group).mean()) for group in listed]
    texts = [_short(names[group]) for group in listed]
    field.set_yticks(middle, texts, fontsize=7.5)
    field.tick_params(axis="y", length=0, pad=4)
    for group, label in zip(listed, field.get_yticklabels(), strict=True):
        picked = bool(chosen[group])
        label.set_color(_CHOSEN if picked else "0.35")
        label.set_fontweight("bold" if picked else "normal")
    said = ["framed and bold: selected"] if chosen.any() else ["no group is selected"]
    if left_out:
        said.append(f"{left_out:,} more group{'s' if left_out > 1 else ''} not shown")
    field.text(
        1.0, -0.085, "\n".join(said), transform=field.transAxes, ha="right", va="top", fontsize=8,
        color="0.35",
    )  # fmt: skip


def _branches(tree: Axes, joins: Array, m: int) -> None:
    """Draw the tree, its leaves at the right."""
    for one, low, other, high, top in joins:
        tree.plot([low, top, top, high], [one, one, other, other], color="0.35", lw=0.8)
    tree.set_xlim(max(float(joins[:, 4].max(initial=0.0)), 1e-9) * 1.02, 0.0)
    tree.set_ylim(m - 0.5, -0.5)


def _short(name: str) -> str:
    """Return a name that fits; a dollar is a dollar and begins no formula."""
    cut = name if len(name) <= _SIGNS else name[: _SIGNS - 1] + "…"
    return cut.replace("$", r"\$")
