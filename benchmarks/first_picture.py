"""The picture of the README: what a cross-validated lasso and selica select from the same tables.

`python -m benchmarks.first_picture docs/images/first-picture.png` draws it from 50 simulated tables
of 200 rows and 1,000 columns, of which 10 matter. It takes some minutes.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from selica import AutoSelection, LassoSelection
from selica.plots.canvas import image
from selica.sampling import simulate

ROWS, COLUMNS, MATTER, R2 = 200, 1000, 10, 0.5
TABLES = 50
METHODS: dict[str, Callable[[int], Any]] = {
    "lasso, penalty by\ncross-validation": lambda seed: LassoSelection("cv", random_state=seed),
    "selica, asked for at most\n1 false variable on average": lambda seed: AutoSelection(
        random_state=seed
    ),
    "selica, asked for at most\n10 % false on average": lambda seed: AutoSelection(
        fdr=0.1, random_state=seed
    ),
}
TRUE, FALSE = "#0072b2", "#d55e00"
"""Colours of the variables that matter, and of those that do not."""


def counts(tables: int = TABLES) -> dict[str, tuple[float, float]]:
    """Return the mean numbers of true and of false selections, by method."""
    found: dict[str, list[tuple[int, int]]] = {name: [] for name in METHODS}
    for seed in range(tables):
        data = simulate(ROWS, COLUMNS, MATTER, r2=R2, random_state=seed)
        for name, selector in METHODS.items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # empty lists count as they are
                mask = selector(seed).fit(data.X, data.y).get_support()
            found[name].append(((mask & data.support).sum(), (mask & ~data.support).sum()))
    return {name: tuple(np.mean(rows, axis=0).tolist()) for name, rows in found.items()}


def draw(means: dict[str, tuple[float, float]], tables: int = TABLES) -> Any:
    """Draw a bar for each method: true selections first, false ones after them."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.0, 3.0), layout="constrained")
    axes = figure.add_subplot()
    for place, (true, false) in enumerate(means.values()):
        axes.barh(place, true, color=TRUE, height=0.6)
        axes.barh(place, false, left=true, color=FALSE, height=0.6)
        text = f"{true:.1f} true, {false:.1f} false"
        axes.text(true + false + 0.4, place, text, va="center", fontsize=11)
    axes.set_yticks(range(len(means)), list(means), fontsize=10)
    axes.invert_yaxis()
    axes.set_xlim(0.0, 1.3 * max(map(sum, means.values())))
    axes.set_xlabel(f"variables selected from a table, mean of {tables} tables")
    size = f"{ROWS} rows, {COLUMNS:,} columns"
    said = f"{size}; {MATTER} of them matter and explain half of the variance"
    figure.suptitle(said, fontsize=12, x=0.01, ha="left")
    axes.spines[["top", "right"]].set_visible(False)
    return figure


def main() -> None:
    """Measure, print the numbers and write the picture."""
    means = counts()
    for name, (true, false) in means.items():
        print(f"{' '.join(name.split())}: {true:.2f} true, {false:.2f} false")
    path = Path(sys.argv[1])
    path.write_bytes(image(draw(means), path.suffix, dpi=150))


if __name__ == "__main__":
    main()
