"""The semidefinite S-matrix: published numbers, closed forms, two other ways to the optimum."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import block_diag, eigvalsh
from scipy.optimize import linprog

from selica._core.errors import ConvergenceWarning
from selica.sampling import s_matrix, sdp
from tests.sampling.test_s_matrices import CASES, ar1, equicorrelated, nearly_singular, wishart

cases = pytest.mark.parametrize("sigma", CASES.values(), ids=CASES.keys())


def is_feasible(sigma, s):
    return np.all(s >= 0) and np.all(s <= 1) and eigvalsh(2 * sigma - np.diag(s))[0] >= -1e-13


def bounds_by_cutting_planes(sigma, accuracy=5e-9):
    """Below and above the optimum: linear programs with more and more of the constraint.

    2 Sigma - diag(s) is semidefinite if sum_j v_j^2 s_j <= 2 v' Sigma v for all v; each program
    has some v only and is too large. A point on the way from inside to its solution is feasible.
    """
    p = sigma.shape[0]
    inside = np.full(p, 0.5 * eigvalsh(sigma)[0])
    root = np.linalg.cholesky(2 * sigma - np.diag(inside))
    rows, ends = [np.zeros(p)], [0.0]
    below = -np.inf
    exact = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
    for _ in range(200):
        found = linprog(-np.ones(p), np.array(rows), ends, bounds=(0.0, 1.0), options=exact)
        above = -found.fun
        # largest t with A(inside) - t diag(x - inside) semidefinite
        move = np.linalg.solve(root, np.linalg.solve(root, np.diag(found.x - inside)).T)
        t = min(1.0, 1.0 / max(np.linalg.eigvalsh(0.5 * (move + move.T))[-1], 1e-300))
        edge = inside + t * (found.x - inside)
        below = max(below, edge.sum())
        if above - below < accuracy:
            return below, above
        for point in (found.x, edge):
            value, vector = np.linalg.eigh(2 * sigma - np.diag(point))
            # any v will do; the program would drop tiny coefficients of a row without notice
            for v in np.where(np.abs(vector) < 1e-4, 0.0, vector).T[value < 1e-9]:
                rows.append(v**2)
                ends.append(2 * v @ sigma @ v)
    raise AssertionError("the cutting planes did not close the gap")


def optimum_by_barrier(sigma, accuracy=1e-8):
    """sum s + mu (log det A + log s + log(1 - s)) by Newton steps, mu to zero; error <= 3 p mu."""
    p = sigma.shape[0]
    s = np.full(p, 0.5 * eigvalsh(sigma)[0])
    mu = 1.0

    def value(s):
        sign, logdet = np.linalg.slogdet(2 * sigma - np.diag(s))
        if sign <= 0 or s.min() <= 0 or s.max() >= 1 or eigvalsh(2 * sigma - np.diag(s))[0] <= 0:
            return -np.inf
        return s.sum() + mu * (logdet + np.log(s).sum() + np.log1p(-s).sum())

    while 3 * p * mu > accuracy:
        mu *= 0.3
        for _ in range(200):
            M = np.linalg.inv(2 * sigma - np.diag(s))
            gradient = 1 + mu * (1 / s - 1 / (1 - s) - M.diagonal())
            hessian = mu * (np.diag(1 / s**2 + 1 / (1 - s) ** 2) + M**2)
            step = np.linalg.solve(hessian, gradient)
            if gradient @ step < 1e-3 * mu:
                break
            length = 1.0
            while value(s + length * step) < value(s) + 1e-4 * length * gradient @ step:
                length /= 2
            s = s + length * step
    return s.sum()


def test_published_numbers():
    s = s_matrix(ar1(0.5, 3), "sdp")
    np.testing.assert_allclose(s, [1, 2 / 3, 1], atol=1e-7)


@pytest.mark.parametrize("p", [2, 3, 10, 31])
@pytest.mark.parametrize("r", [0.5, 0.6, 0.9, 0.99, 0.999999])
def test_equicorrelated(p, r):
    np.testing.assert_allclose(s_matrix(equicorrelated(r, p), "sdp"), 2 * (1 - r), rtol=1e-6)


@pytest.mark.parametrize("r", [-0.95, -0.6, -0.5, 0.0, 0.3, 0.5, 0.7, 0.999])
def test_two_variables(r):
    # (2 - s_1)(2 - s_2) >= 4 r^2, and the two enter alike
    np.testing.assert_allclose(s_matrix(equicorrelated(r, 2), "sdp"), min(1, 2 - 2 * abs(r)))


def test_all_of_the_variance_where_it_is_possible():
    for sigma in (np.eye(4), equicorrelated(0.49, 6), ar1(0.3, 30)):  # lambda_min >= 1/2
        assert eigvalsh(sigma)[0] >= 0.5
        np.testing.assert_allclose(s_matrix(sigma, "sdp"), 1.0, atol=1e-8)


@pytest.mark.parametrize(
    "sigma",
    [ar1(0.5, 4), ar1(0.9, 3), ar1(-0.7, 4), wishart(4, 0), wishart(6, 1), wishart(3, 2, ratio=1)],
)
def test_between_the_bounds_of_cutting_planes(sigma):
    below, above = bounds_by_cutting_planes(sigma)
    assert below - 1e-8 <= s_matrix(sigma, "sdp").sum() <= above + 1e-8


@cases
def test_against_a_barrier_method(sigma):
    s = s_matrix(sigma, "sdp")
    assert is_feasible(sigma, s)
    assert abs(s.sum() - optimum_by_barrier(sigma)) < 5e-8 * max(1, s.sum())


def test_a_variable_may_be_left_with_nothing():
    # x_0 = (x_1 + ... + x_4)/2 + a little: to free the four costs x_0 all it has
    sigma = block_diag(1.001, np.eye(4))
    sigma[0, 1:] = sigma[1:, 0] = 0.5
    sd = np.sqrt(sigma.diagonal())
    sigma = sigma / sd / sd[:, None]
    below, above = bounds_by_cutting_planes(sigma)
    s = s_matrix(sigma, "sdp")
    assert is_feasible(sigma, s)
    assert below - 1e-8 <= s.sum() <= above + 1e-8


def test_unrelated_groups_are_separate_problems():
    first, second = ar1(0.8, 4), wishart(6, 3)
    s = s_matrix(block_diag(first, second), "sdp")
    np.testing.assert_allclose(s[:4].sum(), s_matrix(first, "sdp").sum(), atol=1e-7)
    np.testing.assert_allclose(s[4:].sum(), s_matrix(second, "sdp").sum(), atol=1e-7)


@given(st.integers(1, 12), st.integers(0, 10_000))
@settings(max_examples=40, deadline=None)
def test_no_other_method_has_a_larger_sum(p, seed):
    sigma = wishart(p, seed, ratio=1.3)
    s = s_matrix(sigma, "sdp")
    assert is_feasible(sigma, s)
    for method in ("mvr", "maxent", "equi"):
        assert s_matrix(sigma, method).sum() <= s.sum() * (1 + 1e-9)


@pytest.mark.parametrize("smallest", [1e-4, 1e-6, 1e-9])
def test_nearly_singular(smallest):
    sigma = nearly_singular(40, smallest)
    s = s_matrix(sigma, "sdp")
    assert is_feasible(sigma, s)
    assert s.sum() >= s_matrix(sigma, "maxent").sum()


@pytest.mark.slow
def test_three_hundred_variables():
    # a hundred groups of three with the published solution, in any order and with any signs
    rng = np.random.default_rng(0)
    order, sign = rng.permutation(300), rng.choice([-1.0, 1.0], 300)
    sigma = block_diag(*[ar1(0.5, 3)] * 100)[np.ix_(order, order)] * sign * sign[:, None]
    s = s_matrix(sigma, "sdp")
    np.testing.assert_allclose(s, np.tile([1, 2 / 3, 1], 100)[order], atol=1e-6)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert is_feasible(wishart(300, 0), s_matrix(wishart(300, 0), "sdp"))


def test_says_when_it_is_not_optimal(monkeypatch):
    monkeypatch.setattr(sdp, "_MAX_STEPS", 2)
    sigma = wishart(20, 0)
    with pytest.warns(ConvergenceWarning, match="gap"):
        s = s_matrix(sigma, "sdp")
    assert is_feasible(sigma, s)


def test_steps_that_cannot_be_taken_leave_a_valid_answer(monkeypatch):
    monkeypatch.setattr(sdp, "_HALVINGS", 0)
    sigma = wishart(20, 0)
    with pytest.warns(ConvergenceWarning):
        s = s_matrix(sigma, "sdp")
    assert is_feasible(sigma, s)
