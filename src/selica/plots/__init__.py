"""Result objects in, matplotlib figures out. Nothing here computes."""

from selica.plots.power import plot_power

__all__ = ["plot_power"]
