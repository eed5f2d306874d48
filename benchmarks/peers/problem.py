"""The workloads and the judge: plain NumPy, the same numbers in every environment.

All solvers minimise ½ Σ_i c_bi (y_i − x_i·w)² + lam Σ_j |w_j| for members b = 1..B on one shared
grid of penalties, from lam_max of the full data down to 0.05 lam_max, or at 0.1 lam_max alone; c_b
are bootstrap counts. In the knockoff workloads the design of member b is [X, copy_b] and its counts
are ones; a copy has independent Gaussian entries with the root mean square of its column of X.

Labels, counts and survival times follow the same linear predictor, scaled to SIGNAL; the loss takes
the place of the half square (`losses`). Labels are fitted without an intercept, which celer does
not have, counts with one, survival needs none. A quarter of the survival times is censored.
"""

from __future__ import annotations

import gzip
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from .losses import CoxBySums, Logistic, Loss, Poisson, Squared, relative_gaps

Array = NDArray[np.float64]

# (n, p, path length); riboflavin is real and is read from $SELICA_DATA.
WORKLOADS: dict[str, tuple[int, int, int]] = {
    "320x128": (320, 128, 20),
    "200x1000": (200, 1000, 50),
    "71x4088": (71, 4088, 50),
    "1000x5000": (1000, 5000, 50),
    "20000x500": (20000, 500, 50),
    "riboflavin": (71, 4088, 50),
}
# The same for knockoffs; p is that of X, without the copy.
KNOCKOFFS: dict[str, tuple[int, int, int]] = {
    "knockoffs-320x128": (320, 128, 20),
    "knockoffs-1000x800": (1000, 800, 50),
}
# One penalty, for resamples and for knockoffs.
SINGLE: dict[str, tuple[int, int, int]] = {
    f"single-{kind}{n}x{p}": (n, p, 1)
    for n, p in ((1000, 400), (1000, 5000), (5000, 2000))
    for kind in ("", "knockoffs-")
}
# Other losses, on the designs of two workloads.
GLMS: dict[str, tuple[int, int, int]] = {
    f"{loss}-{size}": WORKLOADS[size]
    for loss in ("logistic", "poisson", "cox")
    for size in ("200x1000", "1000x5000")
}
EVERY = WORKLOADS | KNOCKOFFS | SINGLE | GLMS
SMALLEST_RATIO, SINGLE_RATIO = 0.05, 0.1
SNR = 5.0
# Standard deviation of the linear predictor.
SIGNAL = {"logistic": 2.0, "poisson": 0.7, "cox": 1.0}
TARGET_GAP = 1e-6  # relative to ½ Σ c y², or to the null loss minus its infimum


@dataclass(frozen=True, slots=True)
class Problem:
    """One design, one response, B rows of counts, one grid of penalties; B copies or none."""

    name: str
    X: Array  # (n, p), columns contiguous
    y: Array  # (n,)
    weights: Array  # (B, n)
    lams: Array  # (L,), decreasing
    copies: Array | None = None  # (B, p, n): columns of each member alone, behind those of X
    kind: str = "squared"
    event: Array | None = None  # (n,): for survival, where y is the time

    def design(self, b: int) -> Array:
        """What member b is fitted on, columns contiguous."""
        if self.copies is None:
            return self.X
        return np.concatenate([self.X.T, self.copies[b]]).T

    @property
    def intercept(self) -> bool:
        """Whether an intercept is fitted."""
        return self.kind == "poisson"

    @property
    def loss(self) -> Loss:
        """The loss of the response."""
        if self.kind == "cox":
            assert self.event is not None
            return CoxBySums(self.y, self.event)
        return {"squared": Squared, "logistic": Logistic, "poisson": Poisson}[self.kind](
            self.y, self.intercept
        )


def workload_name(key: str) -> str:
    """A name of `EVERY` workload, or its position."""
    names = list(EVERY)
    name = names[int(key)] if key.isdecimal() else key
    if name not in names:
        raise SystemExit(f"unknown workload {key!r}: one of {', '.join(names)}")
    return name


def make_problem(name: str, members: int, seed: int = 0) -> Problem:
    """The workload with its first members: asking for more does not change the first."""
    n, p, length = EVERY[name]
    kind = name.split("-")[0] if name in GLMS else "squared"
    event = None
    rng = np.random.default_rng([seed, n, p])
    if name == "riboflavin":
        X, y = _riboflavin()
    else:
        X = rng.standard_normal((n, p))
        X /= X.std(axis=0)
        k = min(20, p // 10)
        w = np.zeros(p)
        w[rng.choice(p, k, replace=False)] = rng.choice([-1.0, 1.0], k)
        signal = X @ w
        if kind == "squared":
            y = signal + np.sqrt(k / SNR) * rng.standard_normal(n)
            y /= y.std()
        else:
            y, event = _response(kind, SIGNAL[kind] * signal / np.sqrt(k), rng)
    ratios = np.geomspace(1.0, SMALLEST_RATIO, length) if length > 1 else np.array([SINGLE_RATIO])
    X = np.asfortranarray(X)
    start = Problem(name, X, y, np.ones((1, n)), ratios, kind=kind, event=event)
    lams = _largest_penalty(start) * ratios
    streams = [np.random.default_rng([seed, n, p, b]) for b in range(members)]
    if "knockoffs" in name:
        copies = np.empty((members, p, n))
        for stream, copy in zip(streams, copies, strict=True):
            stream.standard_normal(out=copy)
        copies *= np.sqrt(np.mean(X**2, axis=0))[:, None]
        return Problem(name, X, y, np.ones((members, n)), lams, copies)
    weights = [stream.multinomial(n, np.full(n, 1 / n)) for stream in streams]
    counts = np.array(weights, dtype=np.float64)
    return Problem(name, X, y, counts, lams, kind=kind, event=event)


def _response(kind: str, eta: Array, rng: np.random.Generator) -> tuple[Array, Array | None]:
    """Labels, counts of mean about 2, or times with marks of those that were not censored."""
    if kind == "logistic":
        return (rng.random(len(eta)) < 1.0 / (1.0 + np.exp(-eta))).astype(np.float64), None
    if kind == "poisson":
        return rng.poisson(np.exp(0.5 + eta)).astype(np.float64), None
    time = rng.exponential(size=len(eta)) / np.exp(eta)
    censored = rng.exponential(3.0, size=len(eta)) / np.exp(eta)
    return np.minimum(time, censored), (time <= censored).astype(np.float64)


def _largest_penalty(problem: Problem) -> float:
    """Of the data without resampling: the smallest penalty at which nothing is selected."""
    c = problem.weights[0]
    eta = problem.loss.settle(np.zeros(len(c)), c)
    return float(np.abs(problem.X.T @ problem.loss.slope(eta, c)).max())


def _riboflavin() -> tuple[Array, Array]:
    folder = os.environ.get("SELICA_DATA")
    if not folder:
        raise SystemExit("riboflavin: set SELICA_DATA to the folder that holds riboflavin/")
    with gzip.open(Path(folder) / "riboflavin" / "riboflavin.csv.gz", "rt") as lines:
        next(lines)
        table = np.array([line.split(",")[1:] for line in lines], dtype=np.float64)
    table -= table.mean(axis=0)
    table /= table.std(axis=0)
    return table[:, 1:], table[:, 0]


def judge(problem: Problem, W: Array, duals: Array | None = None) -> Array:
    """The certificate of the first len(W) members, each on its own design."""
    if problem.kind != "squared":
        members = zip(problem.weights, W, [None] * len(W) if duals is None else duals, strict=False)
        run = (problem.loss, problem.X)
        return np.array([relative_gaps(*run, c, problem.lams, *rest) for c, *rest in members])
    every = [slice(b, b + 1) for b in range(len(W))]
    gaps = [
        certificate(
            problem.design(b.start),
            problem.y,
            problem.weights[b],
            problem.lams,
            W[b],
            None if duals is None else duals[b],
        )
        for b in every
    ]
    return np.concatenate(gaps)


def certificate(
    X: Array, y: Array, weights: Array, lams: Array, W: Array, duals: Array | None = None
) -> Array:
    """Relative duality gap of each member and penalty, (B, L); inf where W is not finite.

    The dual point is the residual, scaled into the feasible set at the best factor. A solver that
    carries a better one may bring it: `duals` (B, L, n) stands in the place of the residuals, is
    scaled in the same way, and the larger dual value counts. The gap is divided by ½ Σ c y². W is
    (B, L, p).
    """
    gaps = np.empty(W.shape[:2])
    for b, c in enumerate(weights):
        R = y - W[b] @ X.T
        dual = _dual_value(X, y, c, lams, R)
        if duals is not None:
            dual = np.fmax(dual, _dual_value(X, y, c, lams, duals[b]))
        primal = 0.5 * (R**2) @ c + lams * np.abs(W[b]).sum(axis=1)
        gaps[b] = (primal - dual) / (0.5 * c @ y**2)
    return np.where(np.isfinite(gaps), gaps, np.inf)


def _dual_value(X: Array, y: Array, c: Array, lams: Array, U: Array) -> Array:
    """max over s of s u·Cy − ½ s² u·Cu with s |X'Cu| ≤ lam, for each row u of U (L, n)."""
    inner = U @ (c * y)
    square = (U**2) @ c
    steepest = np.abs((U * c) @ X).max(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        s = np.nan_to_num(np.clip(inner / square, -lams / steepest, lams / steepest))
    return s * inner - 0.5 * s**2 * square
