"""Groups of columns from their correlations."""

from __future__ import annotations

import numpy as np
import pytest

from selica.errors import ArgumentError
from selica.sampling import correlation_groups


def brute_force(C, cut, linkage):
    """Join the two closest clusters as long as their correlation is large enough."""
    join = {"average": np.mean, "single": np.max, "complete": np.min}[linkage]
    clusters = [[j] for j in range(len(C))]
    while len(clusters) > 1:
        pairs = [
            (join(C[np.ix_(a, b)]), i, i + 1 + j)
            for i, a in enumerate(clusters)
            for j, b in enumerate(clusters[i + 1 :])
        ]
        best, i, j = max(pairs)
        if best < cut:
            break
        clusters[i] = sorted(clusters[i] + clusters.pop(j))
    out = np.empty(len(C), dtype=int)
    for number, cluster in enumerate(sorted(clusters)):
        out[cluster] = number
    return out.tolist()


@pytest.mark.parametrize("linkage", ["average", "single", "complete"])
@pytest.mark.parametrize("cut", [0.3, 0.5, 0.8])
def test_clusters_by_the_definition(linkage, cut):
    rng = np.random.default_rng(1)
    Z = rng.standard_normal((60, 4))
    X = Z[:, rng.integers(0, 4, 15)] * rng.choice([-3.0, 1.0], 15) + rng.standard_normal((60, 15))
    C = np.abs(np.corrcoef(X.T))
    assert correlation_groups(X, cut, linkage).tolist() == brute_force(C, cut, linkage)


def test_scale_sign_and_rows_do_not_matter():
    rng = np.random.default_rng(0)
    X = np.repeat(rng.standard_normal((40, 3)), 2, axis=1) + 0.3 * rng.standard_normal((40, 6))
    found = correlation_groups(X).tolist()
    assert found == [0, 0, 1, 1, 2, 2]
    other = (X * [1e-9, -1e9, 1.0, -1.0, 1e200, 5.0] + 7.0)[::-1]
    assert correlation_groups(other).tolist() == found


def test_constant_columns_are_alone():
    X = np.column_stack([np.ones(9), np.arange(9.0), np.arange(9.0) ** 1.1, np.zeros(9)])
    assert correlation_groups(X).tolist() == [0, 1, 1, 2]
    assert correlation_groups(X, 0.0).tolist() == [0, 1, 1, 2]
    assert correlation_groups(np.arange(5.0)[:, None]).tolist() == [0]


def test_bad_input():
    X = np.eye(3)
    with pytest.raises(ArgumentError, match="cut"):
        correlation_groups(X, 1.5)
    with pytest.raises(ArgumentError, match="linkage"):
        correlation_groups(X, linkage="ward")
    with pytest.raises(ArgumentError, match="X"):
        correlation_groups([1.0, 2.0])
