"""Gaps and violations of fits of several classes that were stopped early, by their definitions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import log_softmax, softmax, xlogy

from selica.solvers import multinomial_path_batch

RNG = np.random.default_rng(0)
N, P, K, LAM = 60, 6, 4, 0.01
X = RNG.standard_normal((N, P)) + RNG.standard_normal((N, 1))
X -= X.mean(axis=0)  # the core takes the curvatures of centred columns
LABELS = np.argmax(X[:, :K] + RNG.gumbel(size=(N, K)), axis=1)
WEIGHTS = 0.02 * RNG.integers(1, 4, (3, N))
BOTH = pytest.mark.parametrize("penalty", ["each", "group"])


def directions(penalty):
    """The directions that are charged: classes, or an orthonormal basis of contrasts of them."""
    if penalty == "each":
        return np.eye(K)
    basis = np.triu(np.ones((K, K - 1)))
    for s in range(K - 1):
        basis[s + 1, s] = -(s + 1.0)  # class s + 1 against all before it
    return basis / np.linalg.norm(basis, axis=0)


def charged(V, penalty):
    return np.abs(V).sum(axis=1) if penalty == "each" else np.linalg.norm(V, axis=1)


def pulled(Q, penalty):
    return np.abs(Q).max(axis=1) if penalty == "each" else np.linalg.norm(Q, axis=1)


def violation(q, v, lam, penalty):
    """Of one variable."""
    if penalty == "group":
        length = np.linalg.norm(v)
        away = q - lam * v / length if length > 0.0 else None
        return np.linalg.norm(q) - lam if away is None else np.linalg.norm(away)
    return max(
        abs(a - lam * np.sign(b)) if b != 0.0 else abs(a) - lam
        for a, b in zip(q.tolist(), v.tolist(), strict=True)
    )


def certificate(c, W, a, lam, ridge, penalty):
    """Relative gap and largest violation; `lam` and `ridge` of each variable."""
    Y, B = np.eye(K)[LABELS], directions(penalty)
    logs = log_softmax(a + X @ W, axis=1)
    probabilities = softmax(a + X @ W, axis=1)
    free = (lam == 0.0) & (ridge == 0.0)
    V = np.array(W)
    if penalty == "each":  # coefficients without a penalty are those against the last class
        V[free] -= V[free][:, -1:]
    V = V @ B
    Q = X.T @ (c[:, None] * (Y - probabilities)) @ B - ridge[:, None] * V
    primal = -c @ logs[np.arange(N), LABELS] + lam @ charged(V, penalty)
    primal += 0.5 * ridge @ (V**2).sum(axis=1)
    size = pulled(Q, penalty)
    some = lam > 0.0
    scale = np.min(lam[some] / np.maximum(size[some], lam[some]), initial=1.0)
    M = Y + scale * (probabilities - Y)
    dual = -c @ xlogy(M, M).sum(axis=1)
    G = Q + ridge[:, None] * V
    parts = np.abs(G) if penalty == "each" else np.linalg.norm(G, axis=1)[:, None]
    over = np.maximum(scale * parts - lam[:, None], 0.0)[ridge > 0.0]
    bent = np.sum(over**2 / (2.0 * ridge[ridge > 0.0, None]))
    shares = np.bincount(LABELS, c, K) / c.sum()  # of the only reference, where no variable is in
    curve = np.outer(c @ X**2, shares @ B**2 - (shares @ B) ** 2)
    left = np.sum((np.abs(Q * V) + 0.5 * Q**2 / curve)[free])
    unit = -c @ np.log(shares[LABELS])
    kkt = max(violation(Q[j], V[j], lam[j], penalty) for j in range(P))
    return (max(primal - dual + bent, 0.0) + left) / unit, kkt


@BOTH
@pytest.mark.parametrize("lam2", [0.0, 0.02])
@pytest.mark.parametrize("free", [None, [0, 1]])
@pytest.mark.parametrize("u", [1.0, 0.0])
def test_a_fit_that_was_stopped(penalty, lam2, free, u):
    factor = np.array([1.0, 1.0, u, 1.0, 1.0, 1.0])
    lam, ridge = LAM * factor, np.full(P, lam2)
    if free is not None:
        lam[free] = ridge[free] = 0.0
    settings = {"penalty": penalty, "lam2": lam2, "unpenalised": free, "tol": 1e-13}
    without = np.any(lam + ridge == 0.0)
    for steps in (1,) if without else (1, 2):
        fit = multinomial_path_batch(X, LABELS, [LAM], WEIGHTS, factor, max_iter=steps, **settings)
        assert not fit.converged
        for b, c in enumerate(WEIGHTS):
            gap, kkt = certificate(c, fit.coef[b, 0], fit.intercept[b, 0], lam, ridge, penalty)
            assert fit.gap[b, 0] == pytest.approx(gap, rel=1e-9)
            assert fit.kkt[b, 0] == pytest.approx(kkt, rel=1e-9)


@BOTH
def test_a_gap_that_is_the_tolerance_is_small_enough(penalty):
    def fitted(tol):
        return multinomial_path_batch(
            X, LABELS, [LAM], WEIGHTS, penalty=penalty, max_iter=1, tol=tol
        )

    tol = float(fitted(1e-13).gap.max())
    assert fitted(tol).gap.max() == tol
    assert fitted(tol).converged
    assert not fitted(float(np.nextafter(tol, 0.0))).converged


@BOTH
def test_a_member_stops_where_it_would_have_more_variables_than_it_may(penalty):
    lams = [0.4, 0.2, 0.1, 0.04, 0.01]
    whole = multinomial_path_batch(X, LABELS, lams, WEIGHTS, penalty=penalty, tol=1e-10)
    active = np.count_nonzero(np.any(whole.coef != 0.0, axis=3), axis=2)
    np.testing.assert_array_equal(whole.n_active, active)
    for most in (0, 3, P):
        fit = multinomial_path_batch(
            X, LABELS, lams, WEIGHTS, penalty=penalty, tol=1e-10, max_active=most
        )
        stopped = np.maximum.accumulate(active > most, axis=1)
        np.testing.assert_array_equal(fit.status == "stopped", stopped)
        np.testing.assert_array_equal(fit.n_active[~stopped], active[~stopped])
        assert np.all(np.isnan(fit.gap[stopped]) & np.isnan(fit.kkt[stopped]))


@BOTH
def test_a_tiny_ridge_does_not_magnify_rounding(penalty):
    lams = [0.4, 0.2, 0.1]
    fit = multinomial_path_batch(X, LABELS, lams, WEIGHTS, penalty=penalty, lam2=1e-30, tol=1e-10)
    assert fit.converged
    assert fit.gap.max() <= 1e-10


@BOTH
def test_the_pull_of_a_free_column_stands_for_what_it_can_gain_where_no_curvature_is_known(penalty):
    # nothing is fitted where the pull is small enough: there is no reference yet
    small, lam = 1e-3, 1e3
    table = np.column_stack([small * X[:, 0], X[:, 1:]])
    fit = multinomial_path_batch(
        table, LABELS, [lam], WEIGHTS, penalty=penalty, unpenalised=[0], tol=0.5
    )
    assert np.all(fit.iterations == 0)
    assert np.all(fit.coef == 0.0)
    for b, c in enumerate(WEIGHTS):
        shares = np.bincount(LABELS, c, K) / c.sum()
        pull = (c * table[:, 0]) @ (np.eye(K)[LABELS] - shares) @ directions(penalty)
        unit = -c @ np.log(shares[LABELS])
        assert fit.gap[b, 0] == pytest.approx(np.abs(pull).sum() / unit, rel=1e-6)
