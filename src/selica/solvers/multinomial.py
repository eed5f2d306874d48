"""Penalised regressions of several classes by the hundred, along a path of penalties."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from selica._core.compiled import core, threads
from selica._core.errors import ArgumentError
from selica._core.losses import MultinomialLoss
from selica._core.losses.multinomial import PENALTIES
from selica._core.types import Array, Progress
from selica._core.validation import choice, count, flag, number, reporter, workers
from selica.solvers.arguments import (
    falling,
    member_weights,
    penalties_and_ridges,
    penalty_factor,
)
from selica.solvers.designs import as_table
from selica.solvers.ensemble import STATUS, STOPPED, csr_of, in_rows
from selica.solvers.free_columns import free_columns
from selica.solvers.results import LassoBatch

_KEEP = ("coef", "sparse", "counts", "entry")
"""What can be kept of the members."""


@dataclass(frozen=True, slots=True, repr=False)
class MultinomialBatch(LassoBatch):
    """B members of K classes over L penalties: a `LassoBatch` with one more axis for the classes.

    Attributes
    ----------
    coef : array (B, L, p, K), optional
        Coefficients; zero in classes that a member does not have.
    sparse : sparse array (B * L, p), optional
        What a penalty of one charges for the coefficients of each variable, row b * L + l for
        member b and penalty l: their length ("group") or the sum of their sizes ("each").
    intercept : array (B, L, K)
        Of mean zero; minus infinity in classes that a member does not have.
    counts : integer array (L, p), optional
        In how many members a variable is selected, i.e. its coefficients differ between classes.
    gap : array (B, L)
        Duality gap relative to the loss of the model without variables.
    status : array of str (B, L)
        As in `LassoBatch`; "degenerate" where a member has fewer than two classes.
    classes : array (K,)
        The classes, in the order of the last axis.

    Examples
    --------
    >>> import numpy as np
    >>> from selica.solvers import multinomial_path_batch
    >>> X = np.array([[-1.0], [-2.0], [0.1], [0.2], [1.0], [2.0]])
    >>> fit = multinomial_path_batch(X, list("aabbcc"), [0.5], np.ones((1, 6)))
    >>> fit.classes.tolist(), fit.coef.shape, fit.n_active.tolist()
    (['a', 'b', 'c'], (1, 1, 1, 3), [[1]])
    """

    classes: Any = None

    @property
    def _more_sizes(self) -> tuple[str, ...]:
        """Number of classes, for `repr`."""
        return (f"{len(self.classes)} classes",)


def multinomial_path_batch(
    X: Any,
    y: ArrayLike,
    lams: ArrayLike,
    weights: ArrayLike,
    penalty_weights: ArrayLike | None = None,
    *,
    penalty: str = "group",
    unpenalised: ArrayLike | None = None,
    lam2: ArrayLike = 0.0,
    standardize: bool = False,
    max_active: int | None = None,
    keep: str | Iterable[str] = "coef",
    tol: float = 1e-6,
    max_iter: int = 100,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> MultinomialBatch:
    r"""Fit B weighted regressions of K classes over one design, along a path of penalties.

    Member b minimises, with :math:`\eta_{ik} = a_{bk} + x_i \cdot W_k` and a row :math:`W_j` of
    coefficients for each variable,

    .. math:: \sum_i c_{bi} \Big[\log \sum_k e^{\eta_{ik}} - \eta_{i y_i}\Big]
        + \lambda \sum_j u_{bj} \|W_j\| + \tfrac12 \lambda_2 \sum_{jk} W_{jk}^2 .

    No class is a reference. What the fit leaves open, a constant in all classes, is chosen so that
    the penalty is smallest: with "group" the coefficients of a variable have mean zero, with "each"
    zero is a median of them (of two medians, the middle). Intercepts are always fitted.

    Parameters
    ----------
    X : array, sparse array or table of `solvers.designs`, of shape (n, p)
    y : array of shape (n,) or (B, n)
        The class of each row: numbers or labels, sorted in the answer.
    lams, weights, penalty_weights, lam2, max_active, progress
        As in `lasso_path_batch`.
    penalty : {"group", "each"}
        The norm: "group" takes the length of :math:`W_j`, so that a variable is in or out for all
        classes; "each" takes the sum of the sizes of its entries.
    unpenalised : array of integers or of bool (p,), optional
        Columns without penalty, ridge and standardisation: their numbers, or a flag for each.
    standardize : bool
        Penalise coefficients of columns scaled to unit weighted variance in each member; they are
        returned in the unit of X. Columns without variance stay out.
    keep : {"coef", "sparse", "counts", "entry"} or several of them
        What is kept: all coefficients; what the penalty charges for those of each variable, as a
        sparse array; how many members select a variable at each penalty; the penalty at which a
        variable enters each member.
    tol : float
        Largest duality gap, relative to the loss of the model without variables.
    max_iter : int
        Newton steps at each penalty.
    n_jobs : int, optional
        Threads, over which members are spread; None takes all there are. The answer is the same.

    Returns
    -------
    MultinomialBatch

    Examples
    --------
    >>> import numpy as np
    >>> from selica.solvers import multinomial_path_batch
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.standard_normal((60, 5)), rng.integers(3, size=60)
    >>> X[:, 0] += y
    >>> fit = multinomial_path_batch(X, y, [12.0, 8.0], np.ones((1, 60)), keep=("coef", "counts"))
    >>> fit.converged, fit.counts.tolist()
    (True, [[1, 0, 0, 0, 0], [1, 0, 0, 0, 0]])
    """
    table = as_table("X", X)
    n, p = table.shape
    rows = member_weights(weights, n)
    members = len(rows)
    places, classes = _classes(y, n, members)
    path, ridge = falling(*penalties_and_ridges(lams, lam2, members))
    factor = penalty_factor(penalty_weights, p, members)
    if isinstance(keep, str) or not isinstance(keep, Iterable):
        keep = (keep,)
    kept = {choice("keep", one, _KEEP) for one in keep}
    steps = count("max_iter", max_iter)
    settings = {
        "group": choice("penalty", penalty, PENALTIES) == "group",
        "standardize": flag("standardize", standardize),
        "tol": number("tol", tol, at_least=1e-14, at_most=1.0),
        "max_iter": steps,
        "max_active": -1 if max_active is None else count("max_active", max_active, at_least=0),
        "threads": _threads(n_jobs),
        "sparse": "sparse" in kept,
    }
    reporter(progress)
    arrays = _arrays(kept, members, path.shape[-1], p, len(classes))
    passes, entries = core().solve_multinomial(
        table.design(),
        y=in_rows(places),
        classes=len(classes),
        weights=rows.astype(float, copy=False),
        lams=in_rows(path),
        lam2=in_rows(ridge),
        factor=in_rows(factor),
        unpenalised=free_columns(unpenalised, table, p, True),
        settings=settings,
        arrays=arrays,
        progress=progress,
    )
    return MultinomialBatch(
        lams=path,
        lam2=ridge,
        coef=arrays.get("coef"),
        sparse=None if entries is None else csr_of(entries, (arrays["gap"].size, p)),
        intercept=arrays["intercept"],
        counts=arrays.get("counts"),
        mean=None,
        second_moment=None,
        first_entry=arrays.get("entry"),
        n_active=arrays["n_active"],
        gap=arrays["gap"],
        kkt=arrays["kkt"],
        iterations=arrays["iterations"],
        status=STATUS[arrays["status"]],
        lam_max=arrays["largest"],
        passes=passes,
        classes=classes,
    )


def _classes(y: ArrayLike, n: int, members: int) -> tuple[Array, Any]:
    """Return the place of each row's class among the classes, and these."""
    raw = np.asarray(y)
    if raw.shape not in ((n,), (members, n)):
        raise ArgumentError(f"y must have shape ({n},) or ({members}, {n}); got {raw.shape}.")
    reading = MultinomialLoss().read(raw.ravel())
    return reading.values.reshape(raw.shape), reading.classes


def _threads(n_jobs: int | None) -> int:
    """Return the number of threads; as with joblib, -1 is all of them."""
    jobs = workers(n_jobs)
    if jobs is None or jobs > 0:
        return threads() if jobs is None else jobs
    return max(threads() + 1 + jobs, 1)


def _arrays(kept: set[str], members: int, n_lams: int, p: int, K: int) -> dict[str, Any]:
    """Return arrays to fill."""
    grid = (members, n_lams)
    wanted = {
        "coef": ((*grid, p, K), float),
        "counts": ((n_lams, p), np.int64),
        "entry": ((members, p), float),
    }
    arrays: dict[str, Any] = {
        name: np.zeros(shape, dtype=kind) for name, (shape, kind) in wanted.items() if name in kept
    }
    return arrays | {
        "intercept": np.zeros((*grid, K)),
        "n_active": np.full(grid, -1, dtype=np.int64),
        "gap": np.full(grid, np.nan),
        "kkt": np.full(grid, np.nan),
        "iterations": np.zeros(grid, dtype=np.int64),
        "status": np.full(grid, STOPPED, dtype=np.int8),
        "largest": np.full(members, np.nan),
    }
