"""Groups of columns that are alike, from the columns alone: the response has no part in them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.cluster.hierarchy import fcluster
from scipy.cluster.hierarchy import linkage as joined
from scipy.spatial.distance import squareform

from selica._core.linkage import LinkageBlocks
from selica._core.memory import check_memory
from selica._core.types import Array, IntArray
from selica._core.validation import choice, instance, matrix, moderate, number

LINKAGES = ("average", "single", "complete")
"""How the distance of two clusters comes from the distances of their members."""
_BYTES = 24.0
"""Memory for each pair of columns: a matrix of correlations, distances, and a copy of these."""


def correlation_groups(X: ArrayLike, cut: float = 0.5, linkage: str = "average") -> IntArray:
    """Find groups of columns by hierarchical clustering of the sizes of their correlations.

    Parameters
    ----------
    X : array of shape (n, p)
        A constant column is a group of its own.
    cut : float
        Clusters are joined as long as the correlation between them, in size, is at least this: on
        average, or of the closest or the farthest members.
    linkage : {"average", "single", "complete"}

    Returns
    -------
    array of int, shape (p,)
        The group of each column: 0, 1, ... in the order of their first members.

    Examples
    --------
    >>> import numpy as np
    >>> from selica.sampling import correlation_groups
    >>> rng = np.random.default_rng(0)
    >>> Z = rng.standard_normal((100, 3))
    >>> X = np.column_stack([Z, -Z[:, 1] + 0.1 * rng.standard_normal(100)])
    >>> correlation_groups(X).tolist()
    [0, 1, 2, 1]
    """
    table = moderate("X", matrix("X", X), 1e300)
    cut = number("cut", cut, at_least=0.0, at_most=1.0)
    how: Any = choice("linkage", linkage, LINKAGES)
    p = table.shape[1]
    if p == 1:
        return np.zeros(1, dtype=np.intp)
    check_memory(f"groups of {p:,} columns", _BYTES * p**2, "give groups, or leave columns out")
    centred = table - table.mean(axis=0)
    largest = np.abs(centred).max(axis=0)
    centred /= np.where(largest > 0.0, largest, 1.0)  # so that squares are neither huge nor zero
    length = np.sqrt((centred**2).sum(axis=0))
    centred /= np.where(length > 0.0, length, 1.0)
    labels = _clusters(np.abs(centred.T @ centred), cut, how)
    # a constant column has a distance of 1 to all others, which a cut of 0 would not keep apart
    labels[length == 0.0] = -1 - np.flatnonzero(length == 0.0)
    return _in_order(labels)


def linkage_groups(ld: LinkageBlocks, cut: float = 0.5, linkage: str = "average") -> IntArray:
    """Find groups of markers by hierarchical clustering of LD, block by block.

    Parameters
    ----------
    ld : LinkageBlocks
    cut, linkage
        As in `correlation_groups`.

    Returns
    -------
    array of int, shape (p,)
        The group of each marker: 0, 1, ... in the order of their first members.

    Examples
    --------
    >>> from selica.sampling import linkage_groups
    >>> from selica.tables import LinkageBlocks
    >>> ld = LinkageBlocks([[[1.0, -0.9], [-0.9, 1.0]], [[1.0, 0.2], [0.2, 1.0]]])
    >>> linkage_groups(ld).tolist()
    [0, 0, 1, 2]
    """
    instance("ld", ld, LinkageBlocks)
    cut = number("cut", cut, at_least=0.0, at_most=1.0)
    how = choice("linkage", linkage, LINKAGES)
    labels, before = [], 0
    for block in ld.matrices:
        if len(block) == 1:
            labels.append(np.array([before]))
        else:
            labels.append(_clusters(np.abs(block), cut, how) + before)
        before = int(labels[-1].max()) + 1
    return _in_order(np.concatenate(labels))


def _clusters(size: Array, cut: float, how: Any) -> IntArray:
    """Return labels of clusters, given how large correlations are."""
    distance = np.clip(1.0 - size, 0.0, 1.0)
    np.fill_diagonal(distance, 0.0)
    tree = joined(squareform(distance, checks=False), how)
    return np.asarray(fcluster(tree, 1.0 - cut, "distance").astype(np.intp))


def _in_order(labels: IntArray) -> IntArray:
    """Return labels as numbers 0, 1, ... in the order of their first members."""
    _, first, code = np.unique(labels, return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(first))[code], dtype=np.intp)
