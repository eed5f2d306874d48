"""The gallery: in which order examples are shown, and which figures of theirs."""

from __future__ import annotations

from typing import Any
from weakref import WeakSet

from matplotlib.figure import Figure
from sphinx_gallery.scrapers import figure_rst

# From questions about data to questions about the theory; the last three need data of the reader's.
ORDER = (
    "many_genes", "wine", "binary_outcome", "rare_mutations", "correlated_blocks", "empty_result",
    "own_base_learner", "fdr_calibrated", "plan_a_study", "resampling_rate",
    "selection_probabilities", "without_refits", "compare_with_theory", "dask_cluster",
    "riboflavin", "hiv", "colon",
)  # fmt: skip

_saved: WeakSet[Figure] = WeakSet()


def place(filename: str) -> tuple[int, str]:
    """Sort key of an example; one that has no place yet comes last."""
    name = filename.removesuffix(".py")
    return (ORDER.index(name) if name in ORDER else len(ORDER), name)


def scrape(block: Any, variables: dict[str, Any], settings: dict[str, Any]) -> str:
    """Saves every figure that has got a name in this part of an example.

    selica's plots return a figure and open no window, so that nothing else knows of them.
    """
    paths = []
    for value in list(variables["example_globals"].values()):
        if isinstance(value, Figure) and value not in _saved:
            path = next(variables["image_path_iterator"])
            value.savefig(path, dpi=150, bbox_inches="tight")
            _saved.add(value)
            paths.append(path)
    return figure_rst(paths, settings["src_dir"])
