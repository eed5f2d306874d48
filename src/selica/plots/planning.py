"""What methods are expected to do, and what a study needs."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import TYPE_CHECKING

import numpy as np

from selica.plots import arguments as check
from selica.plots.canvas import Numbers, canvas, legend, line, markers
from selica.plots.style import quantity_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def plot_comparison(
    labels: Sequence[str],
    settings: Sequence[str],
    power: Sequence[float],
    fdr: Sequence[float],
    level: float,
    ceiling: float | None = None,
) -> Figure:
    """Power and false discovery rate of methods at each of their settings.

    Parameters
    ----------
    labels, settings : sequences of str
        Method and setting of each point.
    power, fdr : sequences of float
    level : float
        FDR level to mark.
    ceiling : float, optional
        Power that no method surpasses, to mark.

    Examples
    --------
    >>> from selica.plots import plot_comparison
    >>> figure = plot_comparison(["a", "b"], ["best", "best"], [0.5, 0.4], [0.1, 0.08], 0.1)
    >>> len(figure.axes)
    2
    """
    labels = check.several("labels", labels, str, "names")
    settings = check.several("settings", settings, str, "names")
    check.same_length(labels=labels, settings=settings)
    power = check.numbers("power", power, (len(labels),)).tolist()
    fdr = check.numbers("fdr", fdr, (len(labels),)).tolist()
    check.finite("level", level)
    if ceiling is not None:
        check.finite("ceiling", ceiling)
    methods = list(dict.fromkeys(labels))
    size = (7.2, 1.5 + 0.34 * len(methods))
    figure, ((left, right),) = canvas(columns=2, size=size, sharey=True)
    for rank, setting in enumerate(dict.fromkeys(settings)):
        style = quantity_style(setting, rank)
        pick = [i for i, own in enumerate(settings) if own == setting]
        rows = [methods.index(labels[i]) for i in pick]
        for axes, values in ((left, power), (right, fdr)):
            # the first setting is filled and inside the open marks of the others
            shape = {"marker": style.marker, "ms": 5.0 if rank == 0 else 9.0, "zorder": 3 - rank}
            face = style.colour if rank == 0 else "none"
            line(axes, [values[i] for i in pick], rows, style, ls="none", mfc=face, **shape)
    if ceiling is not None:
        left.axvline(ceiling, color="black", lw=0.8, zorder=0, label="best possible")
    right.axvline(level, color="0.6", lw=0.8, zorder=0)
    left.set(xlabel="power", xlim=(-0.02, 1.02), yticks=range(len(methods)), yticklabels=methods)
    left.invert_yaxis()
    right.set(xlabel="false discovery rate", xlim=(-0.02, None))
    legend(figure)
    return figure


def plot_requirement(
    labels: Sequence[str],
    curves: Sequence[tuple[Numbers, Numbers]],
    values: Sequence[float | None],
    target: float,
    quantity: str,
    now: float | None = None,
) -> Figure:
    """Power of methods against what is asked for, with the answers marked.

    Parameters
    ----------
    labels : sequence of str
    curves : sequence of (x, power)
    values : sequence of float or None
        Answer of each method.
    target : float
        Power asked for.
    quantity : str
        What runs along the axis.
    now : float, optional
        What there is of it, to mark.

    Examples
    --------
    >>> from selica.plots import plot_requirement
    >>> curve = ([100, 200, 400], [0.2, 0.5, 0.7])
    >>> figure = plot_requirement(["knockoff"], [curve], [200], 0.5, "samples")
    >>> figure.axes[0].get_xlabel()
    'samples'
    """
    labels = check.several("labels", labels, str, "names")
    pairs = check.several("curves", curves, (tuple, list), "pairs (x, power)")
    answers = check.several("values", values, _KNOWN, "numbers")
    check.same_length(labels=labels, curves=pairs, values=answers)
    check.finite("target", target)
    check.text("quantity", quantity)
    figure, ((axes,),) = canvas()
    for rank, (label, (x, power), value) in enumerate(zip(labels, pairs, answers, strict=True)):
        style = quantity_style(label, rank)
        along = check.numbers("curves: x", x)
        line(axes, along, check.numbers("curves: power", power, along.shape), style)
        if value is not None:
            check.finite("values", value)
            axes.plot([value], [target], marker=style.marker, color=style.colour, zorder=3)
    axes.axhline(target, color="0.6", lw=0.8, zorder=0)
    if now is not None:
        check.finite("now", now)
        axes.axvline(now, color="0.4", lw=1.0, ls=(0, (2, 2)), zorder=0, label="now")
    axes.set(xlabel=quantity, ylabel="power (true positive rate)", xscale="log", ylim=(0.0, 1.02))
    _plain_ticks(axes)
    legend(figure, ncols=3)
    return figure


Span = tuple[float, float, float]
"""A mean and the ends of its interval."""
_KNOWN = (Real, type(None))


def plot_planted(
    labels: Sequence[str],
    power: Sequence[Span],
    fdr: Sequence[Span],
    level: float,
    correlated: Sequence[float | None],
    independent: Sequence[float | None],
) -> Figure:
    """What selectors did with planted signals, beside what the theory said.

    Parameters
    ----------
    labels : sequence of str
    power, fdr : sequences of (mean, low, high)
    level : float
        FDR level to mark.
    correlated, independent : sequences of float or None
        Power by the theory for correlated columns, and for independent ones.

    Examples
    --------
    >>> from selica.plots import plot_planted
    >>> spans = [(0.5, 0.4, 0.6)], [(0.1, 0.05, 0.15)]
    >>> figure = plot_planted(["knockoff+"], *spans, 0.1, [0.48], [0.6])
    >>> len(figure.axes)
    2
    """
    labels = check.several("labels", labels, str, "names")
    rows = range(len(labels))
    spans = [
        check.numbers(name, x, (len(labels), 3)) for name, x in (("power", power), ("fdr", fdr))
    ]
    told = {
        "theory, correlated columns": check.several("correlated", correlated, _KNOWN, "numbers"),
        "theory, independent columns": check.several("independent", independent, _KNOWN, "numbers"),
    }
    check.same_length(labels=labels, correlated=correlated, independent=independent)
    check.finite("level", level)
    size = (7.2, 1.7 + 0.42 * len(labels))
    figure, ((left, right),) = canvas(columns=2, size=size, sharey=True)
    for rank, (label, values) in enumerate(told.items(), start=1):
        style = quantity_style(label, rank)
        known = [row for row in rows if values[row] is not None]
        check.numbers(label, [values[row] for row in known] or [0.0])
        shape = {"marker": style.marker, "ls": "none", "mfc": "none", "ms": 8.0}
        if known:
            line(left, [values[row] for row in known], known, style, **shape)
    style = quantity_style("simulation, 95 % interval", 0)
    for axes, (mean, low, high) in zip((left, right), (span.T for span in spans), strict=True):
        ends = np.maximum([mean - low, high - mean], 0.0)
        markers(axes, mean, rows, None, style, xerr=ends, label=style.label)
    right.axvline(level, color="0.6", lw=0.8, zorder=0)
    left.set(xlabel="power", xlim=(-0.02, 1.02), yticks=rows, yticklabels=labels)
    left.set_ylim(len(labels) - 0.5, -0.5)
    right.set(xlabel="false discovery rate", xlim=(-0.02, None))
    legend(figure, ncols=3)
    return figure


def _plain_ticks(axes: Axes) -> None:
    """Numbers along a logarithmic axis as people write them."""
    from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

    low, high = axes.get_xlim()
    steps = (1.0, 2.0, 5.0) if high < 1e3 * low else (1.0,)
    axes.xaxis.set_major_locator(LogLocator(subs=steps))
    axes.xaxis.set_major_formatter(StrMethodFormatter("{x:,.10g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
