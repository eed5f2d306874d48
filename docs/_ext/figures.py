"""Figures of the gallery: selica's plots return a figure and open no window."""

from __future__ import annotations

from typing import Any
from weakref import WeakSet

from matplotlib.figure import Figure
from sphinx_gallery.scrapers import figure_rst

_saved: WeakSet[Figure] = WeakSet()


def scrape(block: Any, variables: dict[str, Any], settings: dict[str, Any]) -> str:
    """Saves every figure that has got a name in this part of an example."""
    paths = []
    for value in list(variables["example_globals"].values()):
        if isinstance(value, Figure) and value not in _saved:
            path = next(variables["image_path_iterator"])
            value.savefig(path, dpi=150, bbox_inches="tight")
            _saved.add(value)
            paths.append(path)
    return figure_rst(paths, settings["src_dir"])
