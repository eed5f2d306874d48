"""Knockoffs of genotypes for groups of neighbouring markers, by a distribution of haplotypes.

Where only whole groups have to be exchangeable with their copies, the hidden motifs of a group are
drawn anew given those at its ends (after Sesia et al. 2020; the recursion is in
`cpp/chains/path_copy.hpp`). Inside a group a copy is then far less like its marker than a copy that
would have to be exchangeable by itself, and the difference is power.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from selica._core.compiled import core, threads
from selica._core.errors import ArgumentError
from selica._core.random import RandomState, generator
from selica._core.validation import array_of, instance
from selica.sampling.motifs import (
    MISSING,
    HaplotypeLaw,
    as_genotypes,
    check_ploidy,
    refuse_impossible,
)


def group_copies(
    law: HaplotypeLaw,
    X: ArrayLike,
    partitions: ArrayLike,
    *,
    ploidy: int = 2,
    random_state: RandomState | None = None,
) -> Any:
    """Draw knockoff copies of genotypes for groups of neighbouring markers.

    Parameters
    ----------
    law : HaplotypeLaw
        Distribution of the haplotypes.
    X : array of shape (n, p)
        Numbers of alleles 0, 1 and 2; NaN, or -1 in integers, where a call is missing.
    partitions : array of shape (R, p) or (p,)
        Labels of the groups, one row for each partition of the markers; markers of a group stand
        side by side.
    ploidy : {1, 2}
        Haplotypes of a row.
    random_state : None, int, SeedSequence, Generator or RandomState
        Source of the copies; each row has its own stream of numbers.

    Returns
    -------
    array of int8, shape (R, n, p)
        A copy for each partition, which can change places with X in any set of its groups. All of
        them come from one draw of the hidden motifs: they are not joint copies, and each is used in
        a fit of its own. A copy is missing where the call is. Whether a call is missing must not
        depend on the genotype; then X and copy, both with these gaps, are exchangeable.

    Examples
    --------
    >>> import numpy as np
    >>> from selica.sampling import HaplotypeLaw, group_copies
    >>> rng = np.random.default_rng(0)
    >>> law = HaplotypeLaw(np.full(60, 0.1), np.full((60, 3), 1 / 3), rng.random((60, 3)))
    >>> X = law.simulate(2000, random_state=1)
    >>> alone, twenties = np.arange(60), np.arange(60) // 20
    >>> copies = group_copies(law, X, [alone, twenties], random_state=2)
    >>> like = [np.mean([np.corrcoef(X[:, j], c[:, j])[0, 1] for j in range(60)]) for c in copies]
    >>> print(f"{like[0]:.2f} {like[1]:.2f}")
    0.26 0.09
    """
    instance("law", law, HaplotypeLaw)
    check_ploidy(ploidy)
    table = as_genotypes(X, ploidy, columns=law.n_markers)
    begins = group_begins(partitions, law.n_markers)
    out = np.empty((len(begins), *table.shape), dtype=np.int8)
    key = generator(random_state).integers(0, 2**64, size=2, dtype=np.uint64)
    refuse_impossible(
        *core().draw_group_copies(
            ploidy, *law.arrays, table, begins.view(np.uint8), key, out, threads=threads()
        )
    )
    out[:, table == MISSING] = MISSING
    return out


def group_begins(partitions: ArrayLike, markers: int) -> Any:
    """Return where groups of neighbouring markers begin, as a boolean array of shape (R, p).

    Parameters
    ----------
    partitions : array of shape (R, p) or (p,)
        Labels of the groups.
    markers : int
        Number of markers p.

    Examples
    --------
    >>> from selica.sampling.group_copies import group_begins
    >>> group_begins([7, 7, 5], 3).tolist()
    [[True, False, True]]
    """
    labels = np.atleast_2d(array_of(partitions))
    if labels.ndim != 2 or labels.shape[1] != markers or len(labels) == 0:
        raise ArgumentError(
            f"partitions must have a label for each of the {markers} markers; got shape "
            f"{labels.shape}."
        )
    begins = np.ones(labels.shape, dtype=bool)
    begins[:, 1:] = labels[:, 1:] != labels[:, :-1]
    for row, begin in zip(labels, begins, strict=True):
        if np.unique(row).size != np.count_nonzero(begin):
            raise ArgumentError("partitions must be of groups whose markers stand side by side.")
    return begins
