"""Power against correlation: a line and a band for each method, a panel for each noise."""

from __future__ import annotations

import numpy as np

from selica._core.table import Table
from selica.plots import plot_correlated_power


def test_lines_bands_and_one_legend():
    rows = [
        {"Delta": Delta, "correlation": r, "method": method, "mu_B": rate, "value": 0.9 - r,
         "error": 0.01}
        for Delta in (0.01, 0.1)
        for r in (0.6, 0.0)  # in any order
        for method, rate in (
            ("stability-ideal", 2.0), ("stability-ideal", 1.0), ("knockoffs-frequency", None)
        )
    ]  # fmt: skip
    figure = plot_correlated_power(Table.of(rows), 0.1)
    assert [axes.get_title(loc="left") for axes in figure.axes] == [
        r"$\Delta = 0.01$", r"$\Delta = 0.1$",
    ]  # fmt: skip
    for axes in figure.axes:
        assert len(axes.get_lines()) == len(axes.collections) == 3
        for drawn in axes.get_lines():
            np.testing.assert_allclose(drawn.get_xydata(), [[0.0, 0.9], [0.6, 0.3]])
    shown = [text.get_text() for text in figure.legends[0].get_texts()]
    assert shown == [
        "stability, ideal, rate 2", "stability, ideal, rate 1", "knockoffs, share of copies",
    ]  # fmt: skip
    assert figure.axes[0].get_ylabel() == "power at FDR 0.1"
