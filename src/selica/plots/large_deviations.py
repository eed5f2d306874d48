"""Rate functions of the cost, with what finite ensembles did."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from selica._core.table import Table
from selica.plots import arguments as check
from selica.plots.canvas import canvas, legend, line, markers, note
from selica.plots.style import quantity_style
from selica.theory import RateFunction

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_POINTS = 401  # of a line


def plot_rate_function(
    rates: RateFunction | Sequence[RateFunction],
    labels: Sequence[str] | None = None,
    measured: Table | None = None,
    title: str = "",
) -> Figure:
    """Draw s against the cost, one line for each rate function.

    Parameters
    ----------
    rates : RateFunction or sequence of them
        Each over a grid of y. A dot marks an end that is not the end of the range asked for.
    labels : sequence of str, optional
        For the legend; by default the method and its resampling.
    measured : Table, optional
        Columns N, cost, s and error, from `experiments.costs.empirical_rate`; one kind of marker
        for each N.
    title : str

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> from selica import theory
    >>> from selica.plots import plot_rate_function
    >>> model = theory.Model(1.0, 0.3, 0.1)
    >>> found = theory.rate_function(model, "stability-ideal", 0.2, [-1, 0, 1])
    >>> figure = plot_rate_function(found)
    >>> len(figure.axes)
    1
    """
    given = [rates] if isinstance(rates, RateFunction) else rates
    many = check.several("rates", given, RateFunction, "rate functions")
    names = [_label(one) for one in many] if labels is None else labels
    names = check.several("labels", names, str, "names")
    check.same_length(rates=many, labels=names)
    if measured is not None:
        Table.check("measured", measured, "N", "cost", "s", "error")
    check.text("title", title)
    figure, ((axes,),) = canvas()
    for rank, (one, name) in enumerate(zip(many, names, strict=True)):
        style = quantity_style(name, rank)
        cost = np.linspace(np.nanmin(one.cost), np.nanmax(one.cost), _POINTS)
        line(axes, cost, one.rate(cost), style)
        for end in (one.low, one.high):
            if end.reason != "range":
                axes.plot([end.cost], [end.s], "o", color=style.colour, ms=5)
                note(axes, end.reason, (end.cost, end.s), (5, -3))
    if measured is not None:
        for rank, N in enumerate(measured.unique("N"), start=len(many)):
            rows = measured.where(N=N)
            style = quantity_style(f"histogram, N = {N}", rank)
            markers(axes, rows["cost"], rows["s"], rows["error"], style, label=style.label)
        # the lines reach farther down than any sample
        low, high = float(np.min(measured["cost"])), float(np.max(measured["cost"]))
        if high > low:
            axes.set_ylim(bottom=1.6 * float(np.min(measured["s"])))
            axes.set_xlim(low - 0.2 * (high - low), high + 0.2 * (high - low))
    axes.set(xlabel="cost of a fit per variable", ylabel="rate function s", title=title)
    legend(axes, loc="lower center")
    return figure


def _label(rate: RateFunction) -> str:
    return rate.method if rate.resampling == "none" else f"{rate.method}, {rate.resampling}"
