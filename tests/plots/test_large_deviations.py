"""The picture of a rate function shows the numbers it was given."""

from __future__ import annotations

import numpy as np

from selica import theory
from selica._core.table import Table
from selica.plots import plot_rate_function

MODEL = theory.Model(alpha=1.0, rho=0.3, Delta=0.1)


def test_lines_ends_and_markers():
    r = theory.rate_function(MODEL, "knockoffs-ideal", 0.2)
    measured = Table.of(
        {"N": N, "cost": r.typical_cost + N * 1e-6, "s": -0.01 / N, "error": 1e-3}
        for N in (100, 200)
    )
    axes = plot_rate_function([r], measured=measured, title="costs").get_axes()[0]
    drawn = axes.get_lines()[0]
    x = np.asarray(drawn.get_xdata())
    assert (x.min(), x.max()) == (r.cost.min(), r.cost.max())
    at_points = np.interp(r.cost, x, np.asarray(drawn.get_ydata()))
    np.testing.assert_allclose(at_points, r.s, atol=1e-5)
    assert "condensation" in [text.get_text() for text in axes.texts]
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert labels == ["knockoffs-ideal", "histogram, N = 100", "histogram, N = 200"]
    assert axes.get_title() == "costs"


def test_one_rate_function_needs_no_list():
    r = theory.rate_function(MODEL, "stability-ideal", 0.2, y=[-1.0, 0.0, 1.0])
    axes = plot_rate_function(r).get_axes()[0]
    assert axes.get_legend().get_texts()[0].get_text() == "stability-ideal, poisson"
