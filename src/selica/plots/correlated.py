"""What correlated columns cost each method."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from selica._core.table import Table
from selica.plots import arguments as check
from selica.plots.canvas import canvas, legend, letter, line
from selica.plots.style import line_style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_COLUMNS = ("Delta", "correlation", "method", "mu_B", "value", "error")
"""Columns that are drawn."""


def plot_correlated_power(table: Table, level: float) -> Figure:
    """Draw power at a level of the FDR against the correlation, a panel for each noise.

    Parameters
    ----------
    table : Table
        Columns Delta, correlation, method and mu_B (None without resampling), with the power
        `value` and its standard `error`, which is drawn as a band.
    level : float
        For the label.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> from selica._core.table import Table
    >>> from selica.plots import plot_correlated_power
    >>> row = {"Delta": 0.1, "method": "stability-ideal", "mu_B": 2.0, "error": 0.01}
    >>> rows = [row | {"correlation": c, "value": 0.6 - 0.2 * c} for c in (0.0, 0.5)]
    >>> len(plot_correlated_power(Table.of(rows), 0.1).axes)
    1
    """
    Table.check("table", table, *_COLUMNS)
    check.finite("level", level)
    noises = table.unique("Delta")
    rates = sorted(rate for rate in table.unique("mu_B") if rate is not None)
    figure, (panels,) = canvas(columns=len(noises), size=(4.6 * len(noises), 4.4), sharey=True)
    for axes, Delta in zip(panels, noises, strict=True):
        part = table.where(Delta=Delta)
        for method in part.unique("method"):
            for rate in part.where(method=method).unique("mu_B"):
                one = part.where(method=method, mu_B=rate)
                style = line_style(method, rate, rates.index(rate) if rate is not None else 0)
                order = np.argsort(one["correlation"])
                x, y, e = (one[name][order] for name in ("correlation", "value", "error"))
                axes.fill_between(x, y - e, y + e, color=style.colour, alpha=0.15, lw=0)
                line(axes, x, y, style)
        letter(axes, rf"$\Delta = {Delta:g}$")
        axes.set(xlabel="correlation of neighbours", ylim=(0.0, 1.0))
    panels[0].set_ylabel(f"power at FDR {level:g}")
    legend(figure, ncols=3)
    return figure
