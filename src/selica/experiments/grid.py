"""Cells over a grid, side by side with the theory, in one tidy table."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from selica._core.effects import Effects, GaussianEffects
from selica._core.errors import ArgumentError
from selica._core.parallel import one_blas_thread
from selica._core.random import RandomState, seed_sequence
from selica._core.table import Table
from selica._core.types import Progress
from selica._core.validation import positive, real, reporter, short, workers
from selica._version import __version__
from selica.experiments.cells import IDENTITY, Cell, ThresholdRule, check_cell, simulated_method
from selica.experiments.measure import Dataset, measure
from selica.experiments.sources import sources
from selica.experiments.store import Store
from selica.experiments.summary import failure_rows, simulation_rows, theory_rows
from selica.theory import Model

# Data sets in one piece of work: what is lost when a run is killed.
_BLOCK = 4


@dataclass(frozen=True, slots=True)
class Measured:
    """The data sets of a cell, and why those that are missing failed."""

    cell: Cell
    datasets: list[Dataset]
    numbers: list[int]
    """Which data sets these are."""
    failures: list[str]


def collect(
    cells: Sequence[Cell],
    *,
    random_state: RandomState | None = 0,
    n_jobs: int | None = None,
    store: Store | None = None,
    progress: Progress | None = None,
) -> list[Measured]:
    """Simulate cells, a few data sets at a time, through joblib.

    Parameters
    ----------
    cells : sequence of Cell
    random_state : None, int, SeedSequence, Generator or RandomState
        Data sets have seeds of their own: the answer does not depend on `n_jobs`.
    n_jobs : int, optional
        Workers, as in joblib; None follows `joblib.parallel_config`.
    store : Store, optional
        Where finished parts are kept and looked up.
    progress : callable, optional
        ``progress(done, total)``, in data sets.

    Returns
    -------
    list of Measured
        One for each cell. A part that failed is named there and tried again the next time.
    """
    from joblib import Parallel, delayed, hash  # slow to import

    if store is not None and not isinstance(store, Store):
        raise ArgumentError(f"store must be a Store; got {short(store)}.")
    reporter(progress)
    n_jobs = workers(n_jobs)
    seed = seed_sequence(random_state)
    origin = (_code(), seed.entropy, seed.spawn_key)
    total = sum(cell.n_datasets for cell in cells)
    kept: dict[tuple[int, int], list[Any]] = {}
    failures: dict[int, list[str]] = {}
    todo, done = [], 0
    for i, cell in enumerate(cells):
        for start in range(0, cell.n_datasets, _BLOCK):
            block = range(start, min(start + _BLOCK, cell.n_datasets))
            key = hash((origin, _without_size(cell), block.start, block.stop))
            if store is not None and key in store:
                kept[i, start] = store[key]
                done += len(block)
            else:
                todo.append((i, block, key))
    if progress is not None:
        progress(done, total)
    parallel = Parallel(n_jobs=n_jobs, return_as="generator_unordered")
    work = (delayed(_block)(cells[i], seed, block, i, key) for i, block, key in todo)
    for i, block, key, value, reason in parallel(work):
        if reason:
            failures.setdefault(i, []).append(reason)
        else:
            kept[i, block.start] = value
            if store is not None:
                store.add(key, value)
        done += len(block)
        if progress is not None:
            progress(done, total)
    out = []
    for i, cell in enumerate(cells):
        starts = [s for s in range(0, cell.n_datasets, _BLOCK) if (i, s) in kept]
        datasets = [Dataset(*numbers) for s in starts for numbers in kept[i, s]]
        numbers = [s + j for s in starts for j in range(len(kept[i, s]))]
        out.append(Measured(cell, datasets, numbers, sorted(failures.get(i, []))))
    return out


def _without_size(cell: Cell) -> tuple[Any, ...]:
    """Return what a data set depends on: not on how many there are."""
    return tuple(getattr(cell, name) for name in cell.__slots__ if name != "n_datasets")


@cache
def _code() -> str:
    """Return a digest of the code that makes a data set's numbers: other code, other parts."""
    digest = hashlib.sha256(f"{__version__} {np.__version__}".encode())
    for path in sources("selica.experiments.measure"):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _block(
    cell: Cell, seed: np.random.SeedSequence, block: range, i: int, key: str
) -> tuple[int, range, str, list[Any] | None, str]:
    """Measure some data sets on a worker; what goes wrong is an answer, not the end of the run.

    With one thread in BLAS, here as on any worker: the last bit of a product may depend on it.
    """
    try:
        with one_blas_thread():
            return i, block, key, measure(cell, seed, block), ""
    except Exception as error:
        return i, block, key, None, f"{type(error).__name__}: {error}"


def tabulate(measured: Iterable[Measured]) -> Table:
    """Return simulation and theory as one table; a cell that failed is a row with its reason."""
    rows = []
    for part in measured:
        rows += theory_rows(part.cell)
        if part.datasets:
            rows += simulation_rows(part.cell, part.datasets)
        for reason in part.failures:
            rows += failure_rows(part.cell, reason)
    return Table.of(rows)


def simulate_cell(
    method: str | Sequence[str],
    model: Model,
    lam: ArrayLike,
    *,
    threshold: ArrayLike | None = None,
    Pi_th: float = 0.5,
    mu_B: float = 1.0,
    N: int = 128,
    n_members: int = 256,
    n_datasets: int = 64,
    covariance: Any = IDENTITY,
    random_state: RandomState | None = 0,
    n_jobs: int | None = None,
    store: Store | None = None,
    progress: Progress | None = None,
) -> Table:
    """Simulate a method in finite systems beside the theory, along a path of penalties.

    Parameters
    ----------
    method : str or sequence of str
        lasso, thresholded-lasso, stability-ideal, knockoffs-ideal or knockoffs-frequency.
    model : theory.Model
        One point.
    lam : float or vector
        Penalties, in the unit of the theory.
    threshold : float or vector, optional
        Where the methods select: a selection probability for stability selection (0.5 by
        default), Z for knockoffs, abs(w) for the thresholded lasso (0 by default). Methods that
        mean different things by it are better simulated in calls of their own.
    Pi_th : float
        Share of the copies that knockoffs-frequency asks for beside the threshold on Z.
    mu_B : float
        Resampling rate of stability selection.
    N : int
        Number of variables; there are round(alpha N) samples.
    n_members, n_datasets : int
        Resamples or copies for each data set, and data sets.
    covariance : str, tuple or array
        As in `sampling.simulate`; the theory is for "identity" and left out otherwise.
    random_state, n_jobs, store, progress
        As in `sweep`.

    Returns
    -------
    Table
        One row for each penalty, threshold, quantity and source; see `sweep`.

    Examples
    --------
    >>> from selica import experiments, theory
    >>> model = theory.Model(alpha=2.5, rho=0.3, Delta=0.01)
    >>> table = experiments.simulate_cell("lasso", model, 0.3, N=64, n_datasets=20)
    >>> simulated = table.one(source="monte-carlo", quantity="m")
    >>> expected = table.one(source="theory", quantity="m")
    >>> abs(simulated["value"] - expected["value"]) < 4 * simulated["error"]
    True
    """
    if Model.check(model).shape != ():
        raise ArgumentError("model must be one point; sweep takes a grid.")
    return sweep(
        method=method,
        alpha=model.alpha,
        rho=model.rho,
        Delta=model.Delta,
        effects=model.effects,
        lam=lam,
        threshold=threshold,
        Pi_th=Pi_th,
        mu_B=mu_B,
        N=N,
        n_members=n_members,
        n_datasets=n_datasets,
        covariance=covariance,
        random_state=random_state,
        n_jobs=n_jobs,
        store=store,
        progress=progress,
    )


def sweep(
    *,
    method: str | Sequence[str],
    alpha: ArrayLike,
    rho: ArrayLike,
    Delta: ArrayLike,
    lam: ArrayLike,
    threshold: ArrayLike | None = None,
    Pi_th: float = 0.5,
    mu_B: ArrayLike = 1.0,
    N: int | Sequence[int] = 128,
    effects: Effects | Sequence[Effects] | None = None,
    covariance: Any = IDENTITY,
    n_members: int = 256,
    n_datasets: int = 64,
    random_state: RandomState | None = 0,
    n_jobs: int | None = None,
    store: Store | None = None,
    progress: Progress | None = None,
) -> Table:
    """Simulate finite systems over a grid of settings, beside the theory.

    Parameters
    ----------
    method, alpha, rho, Delta, mu_B, N, effects, covariance
        One value, or a list of values: an axis of the grid. For `covariance` only a list is an
        axis, a tuple is one covariance.
    lam, threshold, Pi_th, n_members, n_datasets
        As in `simulate_cell`. All penalties and thresholds are read off the same fits.
    random_state : None, int, SeedSequence, Generator or RandomState
        The same seed gives the same table for any `n_jobs` and any joblib backend; methods that
        differ in nothing else see the same data.
    n_jobs : int, optional
        Workers, as in joblib; None follows `joblib.parallel_config`.
    store : Store, optional
        File that keeps finished parts, so that a killed run goes on where it was.
    progress : callable, optional
        ``progress(done, total)``, in data sets.

    Returns
    -------
    Table
        Columns: method, the parameters, lam, threshold, n_members (infinite for the limit of the
        theory), source (theory or monte-carlo), quantity (q, m, v, v_tilde, prediction_error,
        ensemble_error, tpr, fdr, fdr_pooled), value, error (standard error), status, reason.
        What two methods read off the same fits (q, m, ...) is listed with the first of them.
        `fdr` is the average over data sets of the share of false selections, `fdr_pooled` the
        ratio of the averages; in the limit they are the same.

    Examples
    --------
    >>> from selica import experiments
    >>> table = experiments.sweep(
    ...     method=["lasso", "stability-ideal"], alpha=[1, 2], rho=0.2, Delta=0.1,
    ...     lam=[0.5, 1.0], N=32, n_members=8, n_datasets=4,
    ... )
    >>> sorted(table.unique("source"))
    ['monte-carlo', 'theory']
    """
    methods = _listed("method", method)
    methods = list(dict.fromkeys(simulated_method(one) for one in methods))
    laws = _listed("effects", GaussianEffects() if effects is None else effects)
    covariances = _listed("covariance", covariance, kinds=list)
    sizes = _listed("N", N.tolist() if isinstance(N, np.ndarray) else N)
    axes = [_axis(name, value) for name, value in
            (("alpha", alpha), ("rho", rho), ("Delta", Delta))]  # fmt: skip
    rates = _axis("mu_B", mu_B)
    penalties = np.ravel(positive("lam", lam))
    cells = []
    every = [_rule(name, threshold, Pi_th) for name in methods]
    for a, r, d, size, law, sigma in product(*axes, sizes, laws, covariances):
        model = Model(a, r, d, law)
        for ensemble in dict.fromkeys(rule.ensemble for rule in every):
            rules = tuple(rule for rule in every if rule.ensemble == ensemble)
            cells += [
                check_cell(
                    rules,
                    model,
                    penalties,
                    mu_B=rate,
                    N=size,
                    covariance=sigma,
                    n_members=n_members,
                    n_datasets=n_datasets,
                )
                for rate in (rates if ensemble == "stability" else [1.0])
            ]
    parts = collect(cells, random_state=random_state, n_jobs=n_jobs, store=store, progress=progress)
    return tabulate(parts)


def _listed(name: str, value: Any, kinds: Any = (list, tuple)) -> list[Any]:
    """Return one value or a list of values, as a list without repetitions."""
    values = list(value) if isinstance(value, kinds) else [value]
    if not values:
        raise ArgumentError(f"{name} must not be empty.")
    return [v for i, v in enumerate(values) if not any(v is w for w in values[:i])]


def _axis(name: str, value: ArrayLike) -> list[float]:
    """Return the values of an axis of numbers, each once."""
    return list(dict.fromkeys(np.ravel(real(name, value)).tolist()))


def _rule(method: str, threshold: ArrayLike | None, Pi_th: float) -> ThresholdRule:
    if method == "lasso":
        return ThresholdRule(method, (0.0,))
    usual = 0.5 if method == "stability-ideal" else 0.0
    at = np.ravel(real("threshold", usual if threshold is None else threshold))
    return ThresholdRule(
        method, tuple(at.tolist()), Pi_th if method == "knockoffs-frequency" else None
    )
