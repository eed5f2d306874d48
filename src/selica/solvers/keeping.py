"""Runs chunks of members, here or on workers, and joins what was kept."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from threading import local
from typing import Any, NamedTuple

import numba
import numpy as np

from selica._core.parallel import one_blas_thread
from selica._core.types import Progress
from selica._core.validation import reporter, workers
from selica.solvers.ensemble import Design, Workspace, make_design, solve_chunk
from selica.solvers.paths import Kept
from selica.solvers.problem import Problem, members_per_chunk
from selica.solvers.results import LassoBatch

_STATUS = np.array(["converged", "max_iter", "stopped"])


class Part(NamedTuple):
    """What is kept of a chunk."""

    kept: Kept
    sparse: Any
    """Coefficients as a sparse array, or None."""


def solve(problem: Problem, n_jobs: int | None, progress: Progress | None = None) -> LassoBatch:
    """All members, in chunks that follow from the problem: on threads here, or on workers."""
    n_jobs = workers(n_jobs)
    reporter(progress)
    members = problem.weights.shape[0]
    size = members_per_chunk(problem)
    chunks = [problem.members(start, start + size) for start in range(0, members, size)]

    def joined(parts: Iterable[Part]) -> LassoBatch:
        done = []
        for part in parts:
            done.append(part)
            if progress is not None:
                progress(min(len(done) * size, members), members)
        return _join(problem, done)

    if n_jobs is not None and n_jobs != 1:
        from joblib import Parallel, delayed  # slow to import, and seldom needed

        parallel = Parallel(n_jobs=n_jobs, return_as="generator")
        return joined(parallel(delayed(_alone)(chunk) for chunk in chunks))
    design = make_design(problem)
    settings: Any = numba.config
    threads = 1 if n_jobs == 1 else min(int(settings.NUMBA_NUM_THREADS), len(chunks))
    spaces = local()

    def run(chunk: Problem) -> Part:
        if not hasattr(spaces, "own"):
            spaces.own = Workspace()
        return _part(chunk, design, spaces.own)

    with one_blas_thread():  # one thread for each chunk
        if threads == 1:
            return joined(map(run, chunks))
        with ThreadPoolExecutor(threads) as pool:
            return joined(pool.map(run, chunks))


def _alone(problem: Problem) -> Part:
    """A chunk on a worker."""
    with one_blas_thread():
        return _part(problem, make_design(problem), Workspace())


def _part(problem: Problem, design: Design, space: Workspace) -> Part:
    kept, entries = solve_chunk(problem, design, space)
    sparse = None
    if "sparse" in problem.keep:
        from scipy.sparse import csr_array  # slow to import, and seldom needed

        shape = (kept.gap.size, problem.n_columns)
        sparse = csr_array((entries.values, (entries.rows, entries.columns)), shape=shape)
    return Part(kept, sparse)


def _join(problem: Problem, parts: list[Part]) -> LassoBatch:
    """The chunks as one result."""
    members = problem.weights.shape[0]

    def stack(name: str) -> Any:
        values = [getattr(part.kept, name) for part in parts]
        return np.concatenate(values) if values[0].size else None

    def add(name: str) -> Any:
        values = [getattr(part.kept, name) for part in parts]
        return sum(values[1:], start=values[0]) if values[0].size else None

    total, square = add("total"), add("square")
    sparse = None
    if "sparse" in problem.keep:
        from scipy.sparse import vstack

        sparse = vstack([part.sparse for part in parts], format="csr")
    return LassoBatch(
        lams=problem.lams,
        lam2=problem.lam2,
        coef=stack("coef"),
        sparse=sparse,
        intercept=stack("intercept"),
        counts=add("counts"),
        mean=None if total is None else total / members,
        second_moment=None if square is None else square / members,
        first_entry=stack("entry"),
        n_active=stack("n_active"),
        gap=stack("gap"),
        kkt=stack("kkt"),
        iterations=stack("iterations"),
        status=_STATUS[stack("status")],
    )
