"""What methods are expected to do, and what a study needs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any

from selica.plots import arguments as check
from selica.plots.canvas import Numbers, canvas, legend, line, markers
from selica.plots.style import LineStyle, line_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_GREY = "0.35"
"""Colour of a mark in a legend that stands for marks of all methods."""
_THEORIES = (("0.35", "o"), ("0.35", "d"))
"""Colours and marks of the powers that the theory predicts, for correlated columns first."""


def plot_comparison(
    methods: Sequence[str],
    settings: Sequence[str],
    power: Sequence[float],
    fdr: Sequence[float],
    level: float,
    ceiling: float | None = None,
) -> Figure:
    """Draw power and false discovery rate of methods at each of their settings.

    Parameters
    ----------
    methods, settings : sequences of str
        Method and setting of each point; a method of the catalogue has its own colour and mark.
    power, fdr : sequences of float
    level : float
        FDR level to mark.
    ceiling : float, optional
        Power that no method surpasses, to mark.

    Examples
    --------
    >>> from selica.plots import plot_comparison
    >>> names = ["knockoffs", "lasso"]
    >>> figure = plot_comparison(names, ["best", "best"], [0.5, 0.4], [0.1, 0.08], 0.1)
    >>> [tick.get_text() for tick in figure.axes[0].get_yticklabels()]
    ['knockoffs, one copy', 'lasso']
    """
    methods = check.several("methods", methods, str, "names")
    settings = check.several("settings", settings, str, "names")
    check.same_length(methods=methods, settings=settings)
    power = check.numbers("power", power, (len(methods),)).tolist()
    fdr = check.numbers("fdr", fdr, (len(methods),)).tolist()
    check.finite("level", level)
    if ceiling is not None:
        check.finite("ceiling", ceiling)
    places = {name: place for place, name in enumerate(dict.fromkeys(methods))}
    ranks = {setting: rank for rank, setting in enumerate(dict.fromkeys(settings))}
    size = (7.8, 1.5 + 0.34 * len(places))
    figure, ((left, right),) = canvas(columns=2, size=size, sharey=True)
    for name, setting, *values in zip(methods, settings, power, fdr, strict=True):
        style = line_style(name, rank=places[name])
        for axes, value in zip((left, right), values, strict=True):
            line(axes, [value], [places[name]], style, label=None, **_mark(style, ranks[setting]))
    for setting, rank in ranks.items():
        grey = LineStyle(setting, _GREY, "none", "o")
        line(left, [], [], grey, **_mark(grey, rank))
    if ceiling is not None:
        left.axvline(ceiling, color="black", lw=0.8, zorder=0, label="best possible")
    right.axvline(level, color="0.6", lw=0.8, zorder=0)
    left.set(xlabel="power", xlim=(-0.02, 1.02))
    left.set_yticks(list(places.values()), _labels(places))
    left.invert_yaxis()
    right.set(xlabel="false discovery rate", xlim=(-0.02, None))
    legend(figure)
    return figure


def _mark(style: LineStyle, rank: int) -> dict[str, Any]:
    """Return the look of a setting: the first is filled, inside the open marks of the others."""
    filled = rank == 0
    return {
        "marker": style.marker,
        "ls": "none",
        "mfc": style.colour if filled else "none",
        "ms": 5.0 if filled else 9.0,
        "zorder": 3 - rank,
    }


def _labels(methods: Iterable[str]) -> list[str]:
    """Return what methods are called beside an axis."""
    return [line_style(name).label for name in methods]


def plot_requirement(
    methods: Sequence[str],
    curves: Sequence[tuple[Numbers, Numbers]],
    values: Sequence[float | None],
    target: float,
    quantity: str,
    now: float | None = None,
) -> Figure:
    """Draw the power of methods against what is asked for, with the answers marked.

    Parameters
    ----------
    methods : sequence of str
        A method of the catalogue has its own colour, dash and mark.
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
    >>> figure = plot_requirement(["knockoffs"], [curve], [200], 0.5, "samples")
    >>> figure.axes[0].get_xlabel()
    'samples'
    """
    methods = check.several("methods", methods, str, "names")
    pairs = check.several("curves", curves, (tuple, list), "pairs (x, power)")
    answers = check.several("values", values, _KNOWN, "numbers")
    check.same_length(methods=methods, curves=pairs, values=answers)
    check.finite("target", target)
    check.text("quantity", quantity)
    figure, ((axes,),) = canvas()
    for rank, (name, (x, power), value) in enumerate(zip(methods, pairs, answers, strict=True)):
        style = line_style(name, rank=rank)
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
    legend(figure, ncols=2)
    return figure


Span = tuple[float, float, float]
"""A mean and the ends of its interval."""
_KNOWN = (Real, type(None))


def plot_planted(
    methods: Sequence[str],
    power: Sequence[Span],
    fdr: Sequence[Span],
    level: float,
    correlated: Sequence[float | None],
    independent: Sequence[float | None],
) -> Figure:
    """Draw what selectors did with planted signals, beside what the theory predicted.

    Parameters
    ----------
    methods : sequence of str
        A method of the catalogue has its own colour and mark.
    power, fdr : sequences of (mean, low, high)
    level : float
        FDR level to mark.
    correlated, independent : sequences of float or None
        Power by the theory for correlated columns, and for independent ones.

    Examples
    --------
    >>> from selica.plots import plot_planted
    >>> spans = [(0.5, 0.4, 0.6)], [(0.1, 0.05, 0.15)]
    >>> figure = plot_planted(["knockoffs"], *spans, 0.1, [0.48], [0.6])
    >>> len(figure.axes)
    2
    """
    methods = check.several("methods", methods, str, "names")
    rows = range(len(methods))
    spans = [
        check.numbers(name, x, (len(methods), 3)) for name, x in (("power", power), ("fdr", fdr))
    ]
    predicted = {
        "theory, correlated columns": check.several("correlated", correlated, _KNOWN, "numbers"),
        "theory, independent columns": check.several("independent", independent, _KNOWN, "numbers"),
    }
    check.same_length(methods=methods, correlated=correlated, independent=independent)
    check.finite("level", level)
    size = (7.8, 1.7 + 0.42 * len(methods))
    figure, ((left, right),) = canvas(columns=2, size=size, sharey=True)
    for (label, values), (colour, shape) in zip(predicted.items(), _THEORIES, strict=True):
        known = [row for row in rows if values[row] is not None]
        check.numbers(label, [values[row] for row in known] or [0.0])
        if known:
            style = LineStyle(label, colour, "none", shape)
            look = {"marker": shape, "mfc": "none", "ms": 10.0}
            line(left, [values[row] for row in known], known, style, **look)
    for axes, span in zip((left, right), spans, strict=True):
        for row, (mean, low, high) in enumerate(span):
            style = line_style(methods[row], rank=row)
            ends = [[max(mean - low, 0.0)], [max(high - mean, 0.0)]]
            markers(axes, [mean], [row], None, style, xerr=ends, mfc=style.colour)
    grey = LineStyle("simulation, 95 % interval", _GREY, "none", "o")
    markers(left, [], [], None, grey, xerr=[], mfc=_GREY, label=grey.label)
    right.axvline(level, color="0.6", lw=0.8, zorder=0)
    left.set(xlabel="power", xlim=(-0.02, 1.02))
    left.set_yticks(list(rows), _labels(methods))
    left.set_ylim(len(methods) - 0.5, -0.5)
    right.set(xlabel="false discovery rate", xlim=(-0.02, None))
    legend(figure, ncols=3)
    return figure


def _plain_ticks(axes: Axes) -> None:
    """Write numbers along a logarithmic axis as people write them."""
    from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

    low, high = axes.get_xlim()
    steps = (1.0, 2.0, 5.0) if high < 1e3 * low else (1.0,)
    axes.xaxis.set_major_locator(LogLocator(subs=steps))
    axes.xaxis.set_major_formatter(StrMethodFormatter("{x:,.10g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
