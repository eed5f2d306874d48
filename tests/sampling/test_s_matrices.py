"""S-matrices: published numbers, optimality, feasibility."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import eigvalsh
from scipy.optimize import minimize

from selica._core.errors import ArgumentError, ConvergenceWarning, RefusedError
from selica.sampling import s_matrices, s_matrix


def ar1(r, p):
    return r ** np.abs(np.subtract.outer(range(p), range(p))).astype(float)


def equicorrelated(r, p):
    return (1 - r) * np.eye(p) + r


def wishart(p, seed, ratio=1.5):
    Z = np.random.default_rng(seed).standard_normal((int(np.ceil(ratio * p)), p))
    W = Z.T @ Z
    d = np.sqrt(W.diagonal())
    return W / d / d[:, None]


def nearly_singular(p, smallest, seed=0):
    Q = np.linalg.qr(np.random.default_rng(seed).standard_normal((p, p)))[0]
    W = (Q * np.geomspace(smallest, 1.0, p)) @ Q.T
    d = np.sqrt(W.diagonal())
    return W / d / d[:, None]


def loss(method, sigma, s):
    """From the definitions, by eigenvalues; infinite outside the feasible set."""
    eigenvalue = eigvalsh(2 * sigma - np.diag(s))
    if eigenvalue[0] <= 0 or np.min(s) <= 0:
        return np.inf
    if method == "mvr":
        return np.sum(1 / eigenvalue) + np.sum(1 / s)
    return -np.sum(np.log(eigenvalue)) - np.sum(np.log(s))


CASES = {
    "one": np.eye(1),
    "diagonal": np.eye(6),
    "ar1 0.5": ar1(0.5, 20),
    "ar1 0.95": ar1(0.95, 20),
    "ar1 -0.7": ar1(-0.7, 11),
    "equicorrelated 0.5": equicorrelated(0.5, 12),
    "equicorrelated 0.9": equicorrelated(0.9, 12),
    "wishart": wishart(30, 0),
    "wishart, more than one block": wishart(70, 1),
    "close to square": wishart(40, 2, ratio=1.0),
    "1e-4": nearly_singular(15, 1e-4),
}
cases = pytest.mark.parametrize("sigma", CASES.values(), ids=CASES.keys())
optimal = pytest.mark.parametrize("method", ["mvr", "maxent"])


@pytest.mark.parametrize(
    ("method", "want"),
    [("mvr", (0.59427, 0.42335, 0.59427)), ("maxent", (0.66028, 0.45644, 0.66028))],
)
def test_published_numbers(method, want):
    np.testing.assert_allclose(s_matrix(ar1(0.5, 3), method), want, atol=5e-6)


def test_published_equicorrelated_numbers():
    sigma = np.array([[1, 0.55, 0.2], [0.55, 1, 0.55], [0.2, 0.55, 1]])
    np.testing.assert_allclose(s_matrix(sigma, "equi"), 0.6315613, atol=5e-8)
    np.testing.assert_allclose(s_matrix(ar1(0.5, 5), "equi"), 0.7204584, atol=5e-8)
    np.testing.assert_allclose(s_matrix(equicorrelated(0.8, 5), "equi"), 2 * 0.2, rtol=1e-12)
    np.testing.assert_allclose(s_matrix(equicorrelated(0.3, 5), "equi"), 1.0)


@pytest.mark.parametrize("method", s_matrices.METHODS)
def test_independent_variables_have_independent_copies(method):
    np.testing.assert_allclose(s_matrix(np.diag([1.0, 4.0, 0.25]), method), [1.0, 4.0, 0.25])


@pytest.mark.parametrize("r", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("p", [2, 10])
def test_closed_forms_of_equicorrelated_variables(r, p):
    # s is the same for all; A = 2(1-r) - s, and 2(1-r) - s + 2rp on the constant vector
    grid = np.linspace(1e-5, min(1.0, 2 * (1 - r)) - 1e-5, 400_001)
    a, b = 2 * (1 - r) - grid, 2 * (1 - r) - grid + 2 * r * p
    mvr = (p - 1) / a + 1 / b + p / grid
    maxent = -(p - 1) * np.log(a) - np.log(b) - p * np.log(grid)
    sigma = equicorrelated(r, p)
    np.testing.assert_allclose(s_matrix(sigma, "mvr"), grid[np.argmin(mvr)], atol=5e-6)
    np.testing.assert_allclose(s_matrix(sigma, "maxent"), grid[np.argmin(maxent)], atol=5e-6)


@optimal
@cases
def test_no_move_of_a_coordinate_improves(method, sigma):
    s = s_matrix(sigma, method)
    best = loss(method, sigma, s)
    assert np.all(s > 0)
    assert np.all(s <= 1 + 1e-12)
    assert np.isfinite(best)
    for j in range(s.size):
        for step in (1e-3, -1e-3):
            moved = s.copy()
            moved[j] *= 1 + step
            assert loss(method, sigma, moved) > best


@optimal
@cases
def test_stationary(method, sigma):
    s = s_matrix(sigma, method)
    M = np.linalg.inv(2 * sigma - np.diag(s))
    # MVR: (M^2)_jj = 1/s_j^2; maximum entropy: M_jj = 1/s_j
    stationary = s * np.sqrt(np.diag(M @ M)) if method == "mvr" else s * np.diag(M)
    np.testing.assert_allclose(stationary, 1.0, atol=1e-7)


@optimal
@pytest.mark.parametrize("sigma", [ar1(0.8, 4), wishart(6, 3), equicorrelated(0.6, 5)])
def test_against_a_general_optimiser(method, sigma):
    start = np.log(np.full(sigma.shape[0], 0.9 * min(1.0, eigvalsh(sigma)[0])))
    options = {"xatol": 1e-10, "fatol": 1e-13, "maxiter": 40_000, "maxfev": 40_000}
    found = minimize(
        lambda u: loss(method, sigma, np.exp(u)), start, method="Nelder-Mead", options=options
    )
    s = s_matrix(sigma, method)
    size = loss(method, sigma, s) if method == "mvr" else s.size
    assert loss(method, sigma, s) <= found.fun + 1e-10 * size
    np.testing.assert_allclose(s, np.exp(found.x), rtol=1e-4)


@given(st.integers(1, 8), st.integers(0, 10_000), st.sampled_from(s_matrices.METHODS))
@settings(max_examples=60, deadline=None)
def test_permuting_flipping_and_rescaling(p, seed, method):
    sigma = wishart(p, seed, ratio=2.0)
    rng = np.random.default_rng(seed)
    order, sign = rng.permutation(p), rng.choice([-1.0, 1.0], p)
    size = 10.0 ** rng.uniform(-6, 6, p)
    factor = (sign * size)[order]
    other = sigma[np.ix_(order, order)] * factor * factor[:, None]
    s = s_matrix(sigma, method)
    got = s_matrix(other, method) / size[order] ** 2
    if method == "sdp":
        # The sum is determined to a relative 1e-9, and s to the root of that where the sum has a
        # smooth maximum, in absolute terms: an s of one and an s of 0.001 have the same error.
        np.testing.assert_allclose(got.sum(), s.sum(), rtol=1e-9)
        np.testing.assert_allclose(got, s[order], rtol=0.0, atol=np.sqrt(1e-9))
        assert eigvalsh(2 * sigma[np.ix_(order, order)] - np.diag(got))[0] > -1e-12
    else:
        np.testing.assert_allclose(got, s[order], rtol=1e-6, atol=1e-6)
    assert eigvalsh(2 * sigma - np.diag(s))[0] > -1e-12


@optimal
@pytest.mark.parametrize("smallest", [1e-6, 1e-9])
def test_nearly_singular(method, smallest):
    sigma = nearly_singular(80, smallest)
    s = s_matrix(sigma, method)
    assert np.all(s > 0)
    assert eigvalsh(2 * sigma - np.diag(s))[0] > 0
    M = np.linalg.inv(2 * sigma - np.diag(s))
    stationary = s * np.sqrt(np.diag(M @ M)) if method == "mvr" else s * np.diag(M)
    np.testing.assert_allclose(stationary, 1.0, atol=1e-4)


def test_coordinate_descent_alone_gets_there():
    """The passes and the Newton steps are two ways to one minimum."""
    sigma = ar1(0.6, 70)
    s = np.full(70, eigvalsh(sigma)[0])
    for _ in range(40):
        M = s_matrices._invert(sigma, s).M
        s = s_matrices._coordinate_pass(s, M, s_matrices._MVR())
    np.testing.assert_allclose(s, s_matrix(sigma, "mvr"), rtol=1e-9)


def test_a_pass_moves_each_coordinate_to_its_minimum():
    """Blocked updates against a fresh inverse for each coordinate."""
    sigma = wishart(70, 5)
    s = np.full(70, eigvalsh(sigma)[0])
    got = s_matrices._coordinate_pass(s, s_matrices._invert(sigma, s).M, s_matrices._MVR())
    for j in range(70):
        M = np.linalg.inv(2 * sigma - np.diag(s))
        a, b = M[j, j], np.linalg.norm(M[j])
        s[j] = (1 + a * s[j]) / (a + b)
    np.testing.assert_allclose(got, s, rtol=1e-9)


def test_says_when_it_is_not_optimal(monkeypatch):
    monkeypatch.setattr(s_matrices, "_MAX_NEWTON", 1)
    with pytest.warns(ConvergenceWarning, match="gap"):
        s_matrix(wishart(40, 0, ratio=1.0))


def test_an_exhausted_line_search_keeps_a_valid_answer(monkeypatch):
    monkeypatch.setattr(s_matrices, "_HALVINGS", 0)
    sigma = wishart(40, 0, ratio=1.0)
    with pytest.warns(ConvergenceWarning):
        s = s_matrix(sigma)
    assert np.isfinite(loss("mvr", sigma, s))


def test_three_hundred_variables_at_once():
    sigma = wishart(300, 0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        s = s_matrix(sigma)
    M = np.linalg.inv(2 * sigma - np.diag(s))
    np.testing.assert_allclose(s * np.sqrt(np.diag(M @ M)), 1.0, atol=1e-6)


@pytest.mark.parametrize(
    "bad",
    [
        np.ones(3),
        np.ones((2, 3)),
        np.array([[1.0, 0.2], [0.3, 1.0]]),
        np.diag([1.0, 0.0]),
        np.diag([1.0, -1.0]),
        np.diag([1.0, np.nan]),
        np.zeros((0, 0)),
        [["a"]],
        [[1.0], [0.0, 1.0]],
        None,
        3.0,
    ],
)
@pytest.mark.parametrize("method", s_matrices.METHODS)
def test_bad_covariances(bad, method):
    with pytest.raises(ArgumentError, match="Sigma") as error:
        s_matrix(bad, method)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("singular", [np.ones((3, 3)), np.array([[1.0, 2.0], [2.0, 1.0]])])
@pytest.mark.parametrize("method", s_matrices.METHODS)
def test_covariances_without_copies(singular, method):
    with pytest.raises(RefusedError, match="Sigma must be positive definite") as error:
        s_matrix(singular, method)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("method", ["SDP", "MVR", None, 1, ["mvr"]])
def test_bad_methods(method):
    with pytest.raises(ArgumentError, match=r"method.*'mvr', 'maxent', 'sdp', 'equi'"):
        s_matrix(np.eye(2), method)
