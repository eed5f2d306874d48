"""The picture of a rate function shows the numbers it was given."""

from __future__ import annotations

import numpy as np

from selica import theory
from selica._core.table import Table
from selica.plots import plot_rate_function

MODEL = theory.Model(alpha=1.0, rho=0.3, Delta=0.1)


def test_lines_ends_and_markers():
    r = theory.rate_function(MODEL, "knockoff", 0.2)
    measured = Table.of(
        {"N": N, "cost": r.typical_cost, "s": -0.01 / N, "error": 1e-3} for N in (100, 200)
    )
    axes = plot_rate_function([r], measured=measured, title="costs").get_axes()[0]
    drawn = axes.get_lines()[0]
    np.testing.assert_array_equal(drawn.get_xdata(), r.cost)
    np.testing.assert_array_equal(drawn.get_ydata(), r.s)
    assert "condensation" in [text.get_text() for text in axes.texts]
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert labels == ["knockoff", "histogram, N = 100", "histogram, N = 200"]
    assert axes.get_title() == "costs"


def test_one_rate_function_needs_no_list():
    r = theory.rate_function(MODEL, "stability", 0.2, y=[-1.0, 0.0, 1.0])
    axes = plot_rate_function(r).get_axes()[0]
    assert axes.get_legend().get_texts()[0].get_text() == "stability, poisson"
