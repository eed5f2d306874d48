"""Classes: probabilities, certificates and penalties from their definitions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from selica._core.errors import ArgumentError
from selica._core.losses import LogisticLoss, MultinomialLoss, read_response
from tests.oracles.classes import identified_coef

LOSS = MultinomialLoss()


def some(seed, n=15, K=4):
    rng = np.random.default_rng(seed)
    y = (np.arange(n) % K).astype(float)
    return y, rng.choice([0.0, 1.0, 2.5], n), rng.standard_normal((n, K))


def total(y, c, eta):
    """The loss, also of complex predictors."""
    picked = eta[np.arange(y.size), y.astype(int)]
    return np.sum(c * (np.log(np.sum(np.exp(eta), axis=1)) - picked))


def test_it_is_what_the_definition_says():
    y, c, eta = some(0)
    assert LOSS.total(y, c, eta) == pytest.approx(total(y, c, eta), rel=1e-13)
    v = LOSS.gradient(y, c, eta)
    for i, k in np.ndindex(eta.shape):
        moved = eta.astype(complex)
        moved[i, k] += 1e-30j
        assert v[i, k] == pytest.approx(total(y, c, moved).imag / 1e-30, abs=1e-13)
    np.testing.assert_allclose(v.sum(axis=1), 0.0, atol=1e-13)
    A = LOSS.majorant(y, c, 3.0 * eta)
    for i in range(y.size):
        P = np.exp(3.0 * eta[i]) / np.exp(3.0 * eta[i]).sum()
        H = c[i] * (np.diag(P) - np.outer(P, P))
        assert np.linalg.eigvalsh(np.diag(A[i]) - H).min() > -1e-14
    known = -2.0 * np.log(LOSS.mean(eta)[np.arange(y.size), y.astype(int)])
    np.testing.assert_allclose(LOSS.deviance(y, eta), known)
    held_out = np.arange(y.size) < 5
    score = LOSS.held_out_score(y, c, held_out, np.stack([eta, 2.0 * eta]))
    assert score.deviance[0] == pytest.approx(c[:5] @ known[:5])
    assert (score.deviance.shape, score.mass) == ((2,), c[:5].sum())


def test_the_dual_is_minus_the_conjugate():
    y, c, eta = some(1, 5, 3)
    v = LOSS.gradient(y, c, eta)
    for kappa in (0.4, 1.0):

        def cost(x, kappa=kappa):
            line = x.reshape(eta.shape)
            slope = LOSS.gradient(y, c, line) - kappa * v
            return float(LOSS.total(y, c, line)) - kappa * np.sum(v * line), slope.ravel()

        known = minimize(cost, eta.ravel(), jac=True, options={"gtol": 1e-10}).fun
        assert LOSS.dual(y, c, eta, np.array(kappa)) == pytest.approx(known, abs=1e-9)
    assert LOSS.dual(y, c, eta, np.array(0.0)) == LOSS.infimum(y, c) == 0.0


def test_members_are_taken_together_or_one_by_one():
    rng = np.random.default_rng(3)
    y, c, scale = some(3)[0], rng.random((2, 3, 15)), rng.random((2, 3))
    eta = rng.standard_normal((2, 3, 15, 4))
    for name, shape in (("total", ()), ("gradient", (15, 4)), ("majorant", (15, 4))):
        found = getattr(LOSS, name)(y, c, eta)
        assert found.shape == (2, 3, *shape)
        for place in np.ndindex(2, 3):
            known = getattr(LOSS, name)(y, c[place], eta[place])
            np.testing.assert_allclose(found[place], known, rtol=1e-13)
    found = LOSS.dual(y, c, eta, scale)
    assert found.shape == LOSS.infimum(y, c).shape == (2, 3)
    for place in np.ndindex(2, 3):
        known = LOSS.dual(y, c[place], eta[place], scale[place])
        assert found[place] == pytest.approx(float(known), rel=1e-13)
    assert np.all(LOSS.infimum(y, c) == 0.0)


def test_intercepts_balance_the_classes():
    y, _, eta = some(2)
    c = np.random.default_rng(0).random((3, 15))
    a = LOSS.balance(y, c, 3.0 * eta)
    assert a.shape == (3, 4)
    np.testing.assert_allclose(a.sum(axis=1), 0.0, atol=1e-13)
    v = LOSS.gradient(y, c, 3.0 * eta + a[:, None])
    np.testing.assert_allclose(v.sum(axis=1), 0.0, atol=1e-11)
    for intercept in (True, False):
        null = LOSS.null(y, c, intercept)
        line = np.broadcast_to(null.intercept[:, None], (3, 15, 4))
        np.testing.assert_allclose(null.gradient, LOSS.gradient(y, c, line), atol=1e-13)
        np.testing.assert_allclose(null.value, LOSS.total(y, c, line), rtol=1e-13)
    found = LOSS.balance(y, c, np.zeros((15, 4)))
    np.testing.assert_allclose(found, LOSS.null(y, c).intercept, atol=1e-10)


def test_a_class_without_weight_is_left_out():
    y, _, eta = some(3)
    c = np.stack([np.where(y == 2, 0.0, 1.0), np.where(y == 0, 1.0, 0.0)])
    np.testing.assert_array_equal(LOSS.degenerate(y, c), [False, True])
    null = LOSS.null(y, c)
    assert null.intercept[0, 2] == -np.inf
    assert np.all(null.gradient[0, :, 2] == 0.0)
    line = np.broadcast_to(null.intercept[:, None], (2, 15, 4))
    np.testing.assert_allclose(LOSS.total(y, c, line), null.value, rtol=1e-13)
    a = LOSS.balance(y, c, eta)
    assert a[0, 2] == -np.inf
    assert np.isfinite(a[0, [0, 1, 3]]).all()
    np.testing.assert_allclose(LOSS.gradient(y, c, eta + a[:, None]).sum(axis=1), 0.0, atol=1e-11)


def test_two_classes_are_labels():
    rng = np.random.default_rng(4)
    y, c, z = (rng.random(20) < 0.5).astype(float), rng.random(20), rng.standard_normal(20)
    eta, known = np.column_stack([-0.5 * z, 0.5 * z]), LogisticLoss()
    assert LOSS.total(y, c, eta) == pytest.approx(float(known.total(y, c, z)))
    np.testing.assert_allclose(LOSS.gradient(y, c, eta)[:, 1], known.gradient(y, c, z), atol=1e-14)
    scale = np.array(0.6)
    assert LOSS.dual(y, c, eta, scale) == pytest.approx(float(known.dual(y, c, z, scale)))
    assert LOSS.informative_rows(y) == known.informative_rows(y)


@pytest.mark.parametrize("penalty", ["each", "group"])
@pytest.mark.parametrize("K", [2, 3, 4, 5])
def test_coefficients_are_the_cheapest_of_their_kind(penalty, K):
    loss = MultinomialLoss(penalty)
    rng = np.random.default_rng(5)
    W = rng.standard_normal((6, K))
    found = identified_coef(W, penalty)
    assert np.ptp(found - W, axis=1).max() < 1e-14
    for shift in rng.standard_normal(50):
        assert np.all(loss.charged(found) <= loss.charged(found + shift) + 1e-12)
    np.testing.assert_allclose(identified_coef(found, penalty), found, atol=1e-15)
    G = rng.standard_normal((6, K))  # the dual norm: the largest product at a charge of one
    V = rng.standard_normal((20_000, 1, K))
    products = np.sum(V * G, axis=2) / loss.charged(np.broadcast_to(V, (20_000, 6, K)))
    assert np.all(products <= loss.pull(G) + 1e-12)
    best = np.eye(K)[np.abs(G).argmax(axis=1)] * np.sign(G) if penalty == "each" else G
    reached = np.sum(best * G, axis=1) / loss.charged(best)
    np.testing.assert_allclose(reached, loss.pull(G), rtol=1e-12)


def test_classes_are_read_and_drawn():
    loss, read = read_response("classes", np.array(["b", "a", "c", "b"]))
    assert (loss.name, list(read.classes)) == ("multinomial", ["a", "b", "c"])
    np.testing.assert_array_equal(read.values, [1.0, 0.0, 2.0, 1.0])
    np.testing.assert_array_equal(loss.strata(read.values), read.values)
    eta = np.tile([0.0, 1.0, -1.0], (60_000, 1))
    y = LOSS.draw(eta, None, np.random.default_rng(0))
    np.testing.assert_allclose(np.bincount(y.astype(int)) / y.size, LOSS.mean(eta[0]), atol=0.01)
    assert MultinomialLoss(n_classes=5).indicators(np.array([0.0, 2.0])).shape == (2, 5)


def test_bad_classes_are_named():
    with pytest.raises(ArgumentError, match="none of them missing"):
        LOSS.read(np.array([1.0, np.nan]))
    with pytest.raises(ArgumentError, match="y must hold numbers of classes"):
        LOSS.check(np.array([0.5, 1.0]))
    with pytest.raises(ArgumentError, match="needs a predictor for each class"):
        LOSS.draw(np.zeros(3), None, np.random.default_rng(0))
    with pytest.raises(ArgumentError, match="penalty must be one of 'group', 'each'"):
        MultinomialLoss("none")
