"""Speed and accuracy of the theory engine: `make bench`.

Times are of one process with one thread (the Makefile sets it). The machine may be noisy: the best
of several runs is printed beside the median. Accuracy stands beside each time: the largest residual
of an undamped step of the equations, or the largest difference to brute-force quadrature. `--csv`
keeps the rows for docs/benchmarks.md.
"""

from __future__ import annotations

import argparse
import platform
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import scipy
from rich.console import Console
from rich.table import Table
from tests.oracles import replica
from tests.theory.points import random_box

from benchmarks import result_files
from selica import __version__, theory

FIGURE = [
    *(("lasso", 1.0), ("thresholded-lasso", 1.0)),
    *(("stability-ideal", 1.0), ("stability-ideal", 2.0)),
    *(("knockoffs-ideal", 1.0), ("knockoffs-frequency", 1.0)),
]


class Line(NamedTuple):
    """A row of the table."""

    work: str
    best: str
    median: str
    asked: str
    """What the time has to be, at most; empty where nothing was asked."""
    accuracy: str


def timed(run: Callable[[], object], repeats: int) -> tuple[float, float]:
    """Best and median seconds."""
    run()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times), float(np.median(times))


def grids() -> Iterator[Line]:
    box = random_box(20_000, seed=1)
    model = theory.Model(box["alpha"], box["rho"], box["Delta"])
    runs = {
        "lasso": lambda: theory.solve_lasso(model, box["lam"]),
        "stability": lambda: theory.solve_stability(model, box["lam"], box["mu_B"]),
        "knockoff": lambda: theory.solve_knockoff(model, box["lam"]),
    }
    for name, run in runs.items():
        best, median = timed(run, 5)
        s = run()
        share = 100 * np.mean(s.converged)
        yield Line(
            f"grid of 20,000 points, {name}",
            f"{20_000 / best:,.0f} points/s",
            f"{20_000 / median:,.0f} points/s",
            "10,000 points/s" if name != "lasso" else "",
            f"{share:.2f} % converged, residual {s.residual.max():.1e}",
        )


def scalars() -> Iterator[Line]:
    model = theory.Model(2.5, 0.3, 0.01)
    hard = theory.Model(0.3, 0.3, 0.01)
    runs = {
        "lasso": lambda m: theory.solve_lasso(m, 0.1),
        "stability": lambda m: theory.solve_stability(m, 0.1),
        "knockoff": lambda m: theory.solve_knockoff(m, 0.1),
    }
    for label, m in (("", model), (" (alpha = 0.3)", hard)):
        for name, run in runs.items():
            best, median = timed(lambda run=run, m=m: run(m), 100)
            yield Line(
                f"one solve, {name}{label}",
                f"{1e3 * best:.2f} ms",
                f"{1e3 * median:.2f} ms",
                "3 ms",
                f"residual {run(m).residual:.1e}",
            )


def figure() -> Iterator[Line]:
    model = theory.Model(np.array([0.36, 0.63, 1.12, 2.0])[:, None], 0.5, np.array([0.01, 0.1]))
    levels = np.linspace(0.005, 0.5, 100)

    def run() -> list[theory.Curve]:
        return [theory.power_curve(model, method, levels, mu_B=rate) for method, rate in FIGURE]

    best, median = timed(run, 3)
    yield Line(
        "power figure of the article: 8 panels, 6 curves, optimal lam, 100 levels",
        f"{best:.2f} s",
        f"{median:.2f} s",
        "5 s",
        "",
    )


def against_quadrature() -> Iterator[Line]:
    """The same equations by dense quadrature in every iteration, on the same points."""
    box = random_box(40, seed=2)
    model = theory.Model(box["alpha"], box["rho"], box["Delta"])
    points = [{name: float(v[i]) for name, v in box.items()} for i in range(40)]
    for method in ("stability", "knockoff"):
        if method == "stability":
            best, median = timed(lambda: theory.solve_stability(model, box["lam"], box["mu_B"]), 20)
            ours = theory.solve_stability(model, box["lam"], box["mu_B"])
        else:
            best, median = timed(lambda: theory.solve_knockoff(model, box["lam"]), 20)
            ours = theory.solve_knockoff(model, box["lam"])
            for p in points:
                p.pop("mu_B", None)
        start = time.perf_counter()
        peers = [replica.solve(method, **p) for p in points]
        slow = time.perf_counter() - start
        off = max(
            abs(getattr(ours, name)[i] - peer[name])
            for i, peer in enumerate(peers)
            for name in ("q", "m", "chi", "v")
        )
        yield Line(
            f"40 points, {method}: ratio to quadrature in every iteration",
            f"{slow / best:,.0f} times",
            f"{slow / median:,.0f} times",
            "",
            f"largest difference {off:.1e}",
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--csv", type=Path, help="file of the rows")
    options = parser.parse_args()
    console = Console(width=140, highlight=False)
    console.print(
        f"selica {__version__}, Python {platform.python_version()}, NumPy {np.__version__}, "
        f"SciPy {scipy.__version__}, one thread"
    )
    table = Table(box=None, pad_edge=False)
    for heading, justify in (
        ("work", "left"),
        ("best", "right"),
        ("median", "right"),
        ("asked for", "right"),
        ("accuracy", "left"),
    ):
        table.add_column(heading, justify=justify, no_wrap=heading != "work")
    lines = [*grids(), *scalars(), *figure(), *against_quadrature()]
    for line in lines:
        table.add_row(*line)
    console.print(table)
    if options.csv is not None:
        peers = f"NumPy {np.__version__}, SciPy {scipy.__version__}"
        result_files.save(options.csv, [line._asdict() for line in lines], peers)


if __name__ == "__main__":
    main()
