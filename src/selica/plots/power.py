"""Power at ideal thresholds against the false discovery rate."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import TYPE_CHECKING

import numpy as np

from selica._core.errors import ArgumentError
from selica.plots import arguments as check
from selica.plots.canvas import canvas, legend, line, note
from selica.plots.style import line_style
from selica.theory import Curve

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def plot_power(
    curves: Sequence[Curve],
    rates: Sequence[float | None] | None = None,
    level: float | None = None,
    title: str = "",
) -> Figure:
    """Draw one line for each curve of a single model.

    Parameters
    ----------
    curves : sequence of Curve
        From `theory.power_curve`, each for one model.
    rates : sequence of float or None, optional
        Resampling rate behind each curve, for the legend; None where there is none.
    level : float, optional
        FDR level to mark.
    title : str

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> from selica import theory
    >>> from selica.plots import plot_power
    >>> model = theory.Model(0.8, 0.2, 0.01)
    >>> curve = theory.power_curve(model, "knockoffs-frequency", [0.05, 0.1, 0.2])
    >>> figure = plot_power([curve], level=0.1)
    >>> figure.savefig("power.png")  # doctest: +SKIP
    """
    curves = check.several("curves", curves, Curve, "power curves")
    if any(np.ndim(curve.fdr) != 1 for curve in curves):
        raise ArgumentError("curves must each be for one model.")
    rates = [None] * len(curves) if rates is None else _rates(rates)
    check.same_length(curves=curves, rates=rates)
    if level is not None:
        check.finite("level", level)
    check.text("title", title)
    known = list(dict.fromkeys(r for r in rates if r is not None))
    figure, ((axes,),) = canvas()
    for curve, rate in zip(curves, rates, strict=True):
        style = line_style(curve.method, rate, known.index(rate) if rate is not None else 0)
        line(axes, curve.fdr, curve.tpr, style, lw=1.8)
    if level is not None:
        axes.axvline(level, color="0.6", lw=0.8, zorder=0)
        note(axes, f"FDR {level:g}", (level, 0.0), (3, 3))
    axes.set(xlabel="false discovery rate", ylabel="power at the ideal threshold", title=title)
    axes.set_xlim(0.0, float(max(curve.fdr[-1] for curve in curves)))
    axes.set_ylim(0.0, 1.0)
    legend(axes, loc="lower right")
    return figure


def _rates(values: Sequence[float | None]) -> list[float | None]:
    found = check.several("rates", values, (Real, type(None)), "numbers")
    return [None if rate is None else check.finite("rates", rate) for rate in found]
