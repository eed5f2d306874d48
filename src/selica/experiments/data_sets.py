"""The same work on many data sets of several kinds, through joblib."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

import numpy as np

from selica._core.random import RandomState, child, seed_sequence
from selica._core.types import Progress

Kind = TypeVar("Kind")
Found = TypeVar("Found")

# Data sets that go to a worker together.
_BLOCK = 10


def on_data_sets(
    work: Callable[[Kind, Sequence[np.random.SeedSequence]], list[Found]],
    kinds: Sequence[Kind],
    runs: int,
    *,
    random_state: RandomState | None,
    n_jobs: int | None,
    progress: Progress | None,
    wanted: Callable[[Kind], bool] | None = None,
) -> Iterator[tuple[Kind, list[Found]]]:
    """Return each kind of data set with what was found on `runs` of them.

    Parameters
    ----------
    work : callable
        From a kind and the seeds of some data sets to what is found on each of these.
    kinds : sequence
    runs : int
    random_state, n_jobs
        As in `sweep`.
    progress : callable or None
        ``progress(done, total)``, in kinds.
    wanted : callable, optional
        Whether a kind is worked on; the others keep their seeds.
    """
    from joblib import Parallel, delayed

    seed = seed_sequence(random_state)
    for i, kind in enumerate(kinds):
        if progress is not None:
            progress(i, len(kinds))
        if wanted is not None and not wanted(kind):
            continue
        seeds = [child(seed, i, r) for r in range(runs)]
        blocks = [seeds[s : s + _BLOCK] for s in range(0, runs, _BLOCK)]
        parts = Parallel(n_jobs=n_jobs)(delayed(work)(kind, block) for block in blocks)
        yield kind, [one for part in parts for one in part]
    if progress is not None:
        progress(len(kinds), len(kinds))
