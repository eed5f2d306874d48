"""Ledoit-Wolf covariances: scikit-learn, the definition row by row, weights, units."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn.covariance

from selica._core.errors import ArgumentError, RefusedError
from selica.sampling import ledoit_wolf

SHAPES = [(30, 5), (5, 30), (100, 1), (200, 40), (3, 2)]


def design(n, p, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) @ rng.standard_normal((p, p))
    return X * rng.uniform(0.5, 2.0, p) + rng.uniform(-3, 3, p)


def by_definition(rows, share):
    """Row by row, with the p x p matrix of each."""
    p = rows.shape[1]
    S = sum(w * np.outer(x, x) for w, x in zip(share, rows, strict=True))
    m = np.trace(S) / p
    d2 = np.linalg.norm(S - m * np.eye(p)) ** 2
    b2 = sum(
        w**2 * np.linalg.norm(np.outer(x, x) - S) ** 2 for w, x in zip(share, rows, strict=True)
    )
    shrinkage = min(b2, d2) / d2
    return shrinkage * m * np.eye(p) + (1 - shrinkage) * S, shrinkage


@pytest.mark.parametrize("shape", SHAPES)
def test_scikit_learn(shape):
    X = design(*shape)
    covariance, shrinkage = sklearn.covariance.ledoit_wolf(X)
    found = ledoit_wolf(X)
    scale = np.abs(covariance).max()
    np.testing.assert_allclose(found.covariance, covariance, rtol=1e-12, atol=1e-12 * scale)
    np.testing.assert_allclose(found.mean, X.mean(axis=0), rtol=1e-12)
    if shape[1] > 1:  # one variable: nothing is shrunk, whatever the number says
        assert found.shrinkage == pytest.approx(shrinkage, rel=1e-11)


@pytest.mark.parametrize("shape", SHAPES)
def test_scikit_learn_with_a_known_mean(shape):
    X = design(*shape)
    covariance, _ = sklearn.covariance.ledoit_wolf(X - 1.5, assume_centered=True)
    found = ledoit_wolf(X, mean=1.5)
    scale = np.abs(covariance).max()
    np.testing.assert_allclose(found.covariance, covariance, rtol=1e-12, atol=1e-12 * scale)
    np.testing.assert_array_equal(found.mean, np.full(shape[1], 1.5))


@pytest.mark.parametrize("shape", [(30, 5), (8, 20)])
def test_standardised_columns(shape):
    X = design(*shape)
    sd = X.std(axis=0)
    covariance, _ = sklearn.covariance.ledoit_wolf((X - X.mean(axis=0)) / sd)
    got = ledoit_wolf(X, standardise=True)
    np.testing.assert_allclose(got.covariance / sd / sd[:, None], covariance, atol=1e-12)
    np.testing.assert_allclose(got.covariance.diagonal(), sd**2, rtol=1e-12)
    # units do not matter
    unit = 10.0 ** np.linspace(-100, 100, shape[1])
    other = ledoit_wolf(X * unit, standardise=True)
    np.testing.assert_allclose(other.covariance / unit / unit[:, None], got.covariance, atol=1e-12)


@pytest.mark.parametrize("shape", [(30, 5), (8, 20)])
@pytest.mark.parametrize("mean", [None, 0.5])
def test_weights_by_definition(shape, mean):
    X = design(*shape)
    weight = np.random.default_rng(1).exponential(size=shape[0])
    share = weight / weight.sum()
    centre = share @ X if mean is None else mean
    covariance, shrinkage = by_definition(X - centre, share)
    found = ledoit_wolf(X, mean=mean, sample_weight=weight)
    np.testing.assert_allclose(found.covariance, covariance, atol=1e-12 * np.abs(covariance).max())
    assert found.shrinkage == pytest.approx(shrinkage, rel=1e-11)
    np.testing.assert_allclose(found.mean, centre, rtol=1e-12)


def test_only_ratios_of_weights_matter_and_zero_leaves_out():
    X = design(20, 4)
    plain = ledoit_wolf(X)
    for weight in (np.ones(20), np.full(20, 7), np.full(20, 1e307)):
        np.testing.assert_allclose(
            ledoit_wolf(X, sample_weight=weight).covariance, plain.covariance, rtol=1e-12
        )
    keep = np.arange(20) % 3 > 0
    for standardise in (False, True):
        some = ledoit_wolf(X, sample_weight=keep, standardise=standardise)
        rest = ledoit_wolf(X[keep], standardise=standardise)
        np.testing.assert_allclose(some.covariance, rest.covariance, rtol=1e-11, atol=1e-13)
        assert some.shrinkage == pytest.approx(rest.shrinkage, rel=1e-11)


@pytest.mark.parametrize("size", [1e-120, 1e120])
def test_size_of_the_numbers(size):
    X = design(20, 4)
    np.testing.assert_allclose(
        ledoit_wolf(X * size).covariance / size / size, ledoit_wolf(X).covariance, rtol=1e-12
    )


def test_limits():
    X = design(200_000, 3)
    assert ledoit_wolf(X).shrinkage < 1e-3
    np.testing.assert_allclose(ledoit_wolf(X).covariance, np.cov(X.T), rtol=0.01, atol=0.01)
    # the truth is a multiple of the identity: the more rows, the closer the estimate to it
    for n in (10, 100):
        white = np.random.default_rng(0).standard_normal((n, 200))
        error = np.linalg.norm(ledoit_wolf(white).covariance - np.eye(200)) ** 2 / 200
        assert error < 0.1 * 200 / n  # |S - I|^2 / p = (p + 1) / n for the plain S
    np.testing.assert_array_equal(ledoit_wolf(np.full((5, 2), 0.1)).covariance, np.zeros((2, 2)))


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"X": np.ones(3)}, "X"),
        ({"X": [[1.0, np.nan]]}, "X"),
        ({"X": [["a", "b"]]}, "X"),
        ({"X": np.ones((0, 2))}, "X"),
        ({"mean": [1.0, 2.0, 3.0]}, "mean"),
        ({"mean": np.nan}, "mean"),
        ({"mean": "zero"}, "mean"),
        ({"sample_weight": [1.0, 2.0]}, "sample_weight"),
        ({"sample_weight": 1.0}, "sample_weight"),
        ({"sample_weight": np.zeros(4, dtype=bool)}, "sample_weight"),
        ({"sample_weight": -np.ones(4)}, "sample_weight"),
        ({"sample_weight": np.zeros(4)}, "sample_weight"),
        ({"sample_weight": [1, 1, 1, np.nan]}, "sample_weight"),
        ({"sample_weight": list("abcd")}, "sample_weight"),
        ({"sample_weight": [[1.0], [1.0, 2.0]]}, "sample_weight"),
    ],
)
def test_bad_input(change, name):
    args = {"X": design(4, 2)} | change
    with pytest.raises(ArgumentError, match=name) as error:
        ledoit_wolf(args.pop("X"), **args)
    assert "\n" not in str(error.value)


def test_a_constant_column_is_refused():
    with pytest.raises(RefusedError, match=r"X.*constant"):
        ledoit_wolf([[0.1, 1.0], [0.1, 2.0]], standardise=True)
