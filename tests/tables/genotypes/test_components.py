"""Principal components against a dense singular value decomposition of the same table."""

from __future__ import annotations

import numpy as np
import pytest

from selica.errors import ArgumentError, RefusedError
from selica.tables.genotypes import Genotypes, Markers, principal_components
from selica.tables.genotypes import components as module


def populations(n=120, p=900, k=4, seed=0, missing=0.05):
    rng = np.random.default_rng(seed)
    shares = rng.uniform(0.1, 0.9, (k, p))
    calls = rng.binomial(2, shares[np.arange(n) % k])
    calls[rng.random((n, p)) < missing] = -1
    return Genotypes.of(calls)


def dense(genotypes, which):
    calls = genotypes.calls()[:, which].astype(float)
    calls[calls < 0] = np.nan
    share = np.nanmean(calls, axis=0) / 2
    z = np.nan_to_num((calls - 2 * share) / np.sqrt(2 * share * (1 - share)))
    left, values, _ = np.linalg.svd(z, full_matrices=False)
    return left, values**2 / (values**2).sum()


@pytest.mark.parametrize("k", [1, 3, 10])
def test_they_are_those_of_a_dense_decomposition(k, monkeypatch):
    monkeypatch.setattr(module, "_TOLERANCE", 1e-7)
    monkeypatch.setattr(module, "_BLOCK", 97)
    genotypes = populations()
    found = principal_components(genotypes, k)
    left, shares = dense(genotypes, found.markers)
    np.testing.assert_allclose(found.variances, shares[:k], rtol=1e-8)
    turned = left[:, :k].T @ found.values / np.sqrt(120)
    np.testing.assert_allclose(np.abs(turned), np.eye(k), atol=1e-4)
    assert found.residual <= 1e-7
    np.testing.assert_allclose((found.values**2).mean(axis=0), 1.0)


def test_noise_whose_variances_are_close_together_is_as_exact_as_it_says():
    rng = np.random.default_rng(3)
    genotypes = Genotypes.of(rng.binomial(2, 0.4, (300, 400)))
    found = principal_components(genotypes, 5, most_r2=1.0)
    _, shares = dense(genotypes, np.arange(400))
    np.testing.assert_allclose(found.variances, shares[:5], rtol=found.residual)
    assert found.residual <= 1e-3


def test_the_seed_changes_rounding_only_and_the_same_seed_nothing():
    genotypes = populations(k=4)
    one, same, other = (principal_components(genotypes, 3, random_state=s) for s in (0, 0, 1))
    assert one.values.tobytes() == same.values.tobytes()
    np.testing.assert_allclose(one.values, other.values, atol=5e-3)


def test_neighbours_that_are_correlated_are_left_out():
    rng = np.random.default_rng(5)
    base = rng.binomial(2, 0.5, (200, 60))
    calls = np.repeat(base, 5, axis=1)
    calls[rng.random(calls.shape) < 0.02] = 1
    chromosome = ["1"] * 150 + ["2"] * 150
    names = [f"m{j}" for j in range(300)]
    genotypes = Genotypes.of(
        calls, None, Markers.of(chromosome, names, np.arange(300), "A" * 300, "C" * 300)
    )
    found = principal_components(genotypes, 2)
    assert sorted({m // 5 for m in found.markers}) == list(range(60))
    r2 = np.corrcoef(calls[:, found.markers].T) ** 2
    assert all(r2[j, j + 1] <= 0.2 for j in range(found.markers.size - 1))
    assert "2 principal components are kept" in found.note
    few = principal_components(genotypes, 2, most_markers=30)
    assert few.markers.size <= 30


def test_too_many_are_refused():
    genotypes = populations(10, 50)
    with pytest.raises(RefusedError, match="10 of them need more than 10 people"):
        principal_components(genotypes, 10)
    with pytest.raises(ArgumentError, match="components must be at least 1"):
        principal_components(genotypes, 0)
    assert principal_components(genotypes, 9).values.shape == (10, 9)
