"""Result objects in, matplotlib figures out. Nothing here computes."""

from selica.plots.correlated import plot_correlated_power
from selica.plots.groups import plot_groups
from selica.plots.large_deviations import plot_rate_function
from selica.plots.manhattan import plot_manhattan
from selica.plots.planning import plot_comparison, plot_planted, plot_requirement
from selica.plots.power import plot_power
from selica.plots.selection import (
    plot_bars,
    plot_fdp_bound,
    plot_frequencies,
    plot_stability_path,
    plot_statistics,
)

__all__ = [
    "plot_bars",
    "plot_comparison",
    "plot_correlated_power",
    "plot_fdp_bound",
    "plot_frequencies",
    "plot_groups",
    "plot_manhattan",
    "plot_planted",
    "plot_power",
    "plot_rate_function",
    "plot_requirement",
    "plot_stability_path",
    "plot_statistics",
]
