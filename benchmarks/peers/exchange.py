"""Problems as files that Python and R read, and answers as files that Python reads.

A folder has `manifest.csv`, a line a problem, and for problem k files of raw doubles, by columns.
Here: k.X (n, p), k.rows (n, 5: response, event, stratum, offset, weight) and k.lams (L,); what
`selecting` sends and receives stands there. A peer writes
k.answer: for each penalty the intercepts, one a class, and the coefficients, class after class; and
k.largest: the smallest penalty, in its own unit times the total weight, that selects nothing.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
COLUMNS = ("number", "loss", "ties", "n", "p", "penalties", "classes", "ridge", "kind")


@dataclass(frozen=True, slots=True)
class Small:
    """One weighted problem along a short path: penalty lam |w| + ½ ridge lam w²."""

    number: int
    loss: str  # squared | logistic | poisson | cox | cox-strata | each | group
    X: Array
    rows: Array  # (n, 5): response, event, stratum, offset, weight
    lams: Array
    ridge: float = 0.0
    classes: int = 1
    ties: str = "breslow"
    kind: str = ""

    @property
    def y(self) -> Array:
        return self.rows[:, 0]

    @property
    def event(self) -> Array:
        return self.rows[:, 1]

    @property
    def strata(self) -> NDArray[np.int64]:
        return self.rows[:, 2].astype(np.int64)

    @property
    def offset(self) -> Array:
        return self.rows[:, 3]

    @property
    def c(self) -> Array:
        return self.rows[:, 4]


def put(folder: Path, number: int, name: str, values: ArrayLike) -> None:
    """Write one array of one problem."""
    raw = np.asarray(values, dtype=np.float64).tobytes("F")
    (folder / f"{number}.{name}").write_bytes(raw)


def get(folder: Path, number: int, name: str, *shape: int) -> Array:
    """Read one array of one problem."""
    return np.fromfile(folder / f"{number}.{name}").reshape(shape or -1, order="F")


def write_manifest(folder: Path, columns: Sequence[str], lines: Iterable[Sequence[object]]) -> None:
    """Write a line for each problem."""
    with (folder / "manifest.csv").open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow(columns)
        out.writerows(lines)


def read_manifest(folder: Path) -> list[dict[str, str]]:
    """Read the lines of the problems."""
    with (folder / "manifest.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def write(folder: Path, problems: list[Small]) -> None:
    """All problems, for the peers to read."""
    lines = []
    for s in problems:
        sizes = (*s.X.shape, len(s.lams), s.classes)
        lines.append((s.number, s.loss, s.ties, *sizes, s.ridge, s.kind))
        for name in ("X", "rows", "lams"):
            put(folder, s.number, name, getattr(s, name))
    write_manifest(folder, COLUMNS, lines)


def read(folder: Path) -> list[Small]:
    """The problems of a folder."""
    problems = []
    for line in read_manifest(folder):
        number, n, p = int(line["number"]), int(line["n"]), int(line["p"])
        X = get(folder, number, "X", n, p)
        rows = get(folder, number, "rows", n, 5)
        problems.append(
            Small(
                number, line["loss"], X, rows, get(folder, number, "lams"), float(line["ridge"]),
                int(line["classes"]), line["ties"], line["kind"],
            )
        )  # fmt: skip
    return problems


def answer(folder: Path, problem: Small, W: Array, intercept: Array, largest: float) -> None:
    """What a peer found: W (L, p, K), intercept (L, K), and the largest penalty that matters."""
    parts = [np.concatenate([a, w.ravel("F")]) for a, w in zip(intercept, W, strict=True)]
    (folder / f"{problem.number}.answer").write_bytes(np.concatenate(parts).tobytes())
    (folder / f"{problem.number}.largest").write_bytes(np.float64(largest).tobytes())


def answered(folder: Path, problem: Small) -> tuple[Array, Array, float] | None:
    """W (L, p, K), intercept (L, K) and the largest penalty; None if the peer gave up."""
    path = folder / f"{problem.number}.answer"
    if not path.exists():
        return None
    p, K = problem.X.shape[1], problem.classes
    flat = np.fromfile(path).reshape(len(problem.lams), K + p * K)
    W = flat[:, K:].reshape(-1, K, p).transpose(0, 2, 1)
    return W, flat[:, :K], float(np.fromfile(folder / f"{problem.number}.largest")[0])
