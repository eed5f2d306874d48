"""Counts with offsets: closed forms against sums, differences and exposures as weights."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import gammaln
from scipy.stats import poisson

from selica._core.errors import ArgumentError
from selica._core.losses import PoissonLoss, read_response

LOSS = PoissonLoss()


def some(seed, n=30):
    rng = np.random.default_rng(seed)
    y = np.column_stack([rng.poisson(1.5, n), np.log(rng.uniform(0.2, 3.0, n))])
    return y, rng.choice([0.0, 1.0, 2.5], n), rng.standard_normal(n)


def test_the_loss_is_minus_the_log_likelihood():
    y, c, eta = some(0)
    count, offset = y.T
    full = -poisson.logpmf(count, np.exp(eta + offset)) - gammaln(count + 1.0) + count * offset
    assert LOSS.total(y, c, eta) == pytest.approx(np.sum(c * full), rel=1e-12)


def test_derivatives_by_differences():
    y, c, eta = some(1)
    h = 1e-6
    for i in range(eta.size):
        e = h * (np.arange(eta.size) == i)
        slope = (LOSS.total(y, c, eta + e) - LOSS.total(y, c, eta - e)) / (2.0 * h)
        assert LOSS.gradient(y, c, eta)[i] == pytest.approx(slope, rel=1e-6, abs=1e-7)
        bend = (LOSS.gradient(y, c, eta + e) - LOSS.gradient(y, c, eta - e))[i] / (2.0 * h)
        assert LOSS.majorant(y, c, eta)[i] == pytest.approx(bend, rel=1e-6, abs=1e-7)


def test_the_dual_is_minus_the_conjugate():
    y, c, eta = some(2, 12)
    v = LOSS.gradient(y, c, eta)
    for kappa in (0.0, 0.4, 1.0):
        known = 0.0
        for i in np.flatnonzero(c):

            def cost(z, i=i, kappa=kappa):
                return c[i] * (np.exp(y[i, 1] + z) - y[i, 0] * z) - kappa * v[i] * z

            known += minimize_scalar(cost, bounds=(-40.0, 10.0), method="bounded",
                                     options={"xatol": 1e-11}).fun  # fmt: skip
        assert LOSS.dual(y, c, eta, np.array(kappa)) == pytest.approx(known, abs=1e-7)
    assert LOSS.infimum(y, c) == pytest.approx(float(LOSS.dual(y, c, eta, np.array(0.0))))


def test_the_intercept_is_exact():
    y, c, eta = some(3)
    weights = np.stack([c, np.ones(c.size), c[::-1]])
    a = LOSS.balance(y, weights, eta)
    assert a.shape == (3,)
    sums = LOSS.gradient(y, weights, eta + a[:, None]).sum(axis=1)
    np.testing.assert_allclose(sums, 0.0, atol=1e-12)
    far = LOSS.balance(y, c, eta + 2000.0)
    assert far == pytest.approx(float(LOSS.balance(y, c, eta)) - 2000.0, rel=1e-14)
    null = LOSS.null(y, weights)
    np.testing.assert_allclose(
        np.exp(null.intercept), weights @ y[:, 0] / (weights @ np.exp(y[:, 1])), rtol=1e-13
    )


def test_an_exposure_is_a_weight():
    """Offsets log E are the response y / E with the weights c E, up to a constant."""
    y, c, eta = some(4)
    E = np.exp(y[:, 1])
    assert LOSS.total(y, c, eta) == pytest.approx(float(LOSS.total(y[:, 0] / E, c * E, eta)))
    np.testing.assert_allclose(
        LOSS.gradient(y, c, eta), LOSS.gradient(y[:, 0] / E, c * E, eta), atol=1e-13
    )
    scale = np.array(0.7)
    assert LOSS.dual(y, c, eta, scale) == pytest.approx(
        float(LOSS.dual(y[:, 0] / E, c * E, eta, scale))
    )


def test_weights_are_repetitions_and_shapes_agree():
    y, _, eta = some(5)
    c = np.random.default_rng(0).integers(0, 3, eta.size).astype(float)
    rows = np.repeat(np.arange(eta.size), c.astype(int))
    ones = np.ones(rows.size)
    assert LOSS.total(y, c, eta) == pytest.approx(float(LOSS.total(y[rows], ones, eta[rows])))
    plain = np.column_stack([y[:, 0], np.zeros(eta.size)])
    for name in ("total", "gradient", "majorant", "balance"):
        known = getattr(LOSS, name)(plain, c, eta)
        np.testing.assert_array_equal(getattr(LOSS, name)(y[:, 0], c, eta), known)
        members = np.broadcast_to(plain, (4, *plain.shape))
        found = getattr(LOSS, name)(members, np.stack([c] * 4), eta)
        np.testing.assert_array_equal(found, np.stack([known] * 4))


def test_rows_without_weight_may_be_anywhere():
    y, c, eta = some(6)
    wild = np.where(c > 0.0, eta, 1e4)
    for name in ("total", "gradient", "majorant", "balance"):
        known, found = (getattr(LOSS, name)(y, c, line) for line in (eta, wild))
        np.testing.assert_array_equal(found, known)
    scale = np.array(0.5)
    assert LOSS.dual(y, c, wild, scale) == LOSS.dual(y, c, eta, scale)
    assert LOSS.total(y, np.ones(c.size), wild) == np.inf


def test_where_nothing_was_counted():
    y, c, _ = some(7)
    weights = np.stack([c, np.where(y[:, 0] > 0.0, 0.0, c)])
    np.testing.assert_array_equal(LOSS.degenerate(y, weights), [False, True])
    null = LOSS.null(y, weights)
    assert np.all(np.isfinite(null.intercept))
    assert null.value[1] == pytest.approx(0.0, abs=1e-290)


def test_held_out_rows_keep_their_offsets():
    y, c, eta = some(8)
    held_out = np.arange(eta.size) % 3 == 0
    mu = np.exp(eta + y[:, 1])
    excess = np.log(np.where(y[:, 0] > 0.0, y[:, 0] / mu, 1.0)) * y[:, 0] - y[:, 0] + mu
    found = LOSS.held_out_score(y, c, held_out, eta)
    assert found.deviance == pytest.approx(2.0 * np.sum((c * excess)[held_out]))
    assert found.mass == c[held_out].sum()
    assert LOSS.total_deviance(y, c, eta) == pytest.approx(2.0 * np.sum(c * excess))


def test_counts_are_read():
    for given in ([0, 3, 1], [0.0, 2.5, 1.0]):
        loss, read = read_response("count", np.array(given))
        assert (loss.name, read.classes) == ("poisson", None)
        np.testing.assert_array_equal(read.values, given)
    wide = np.array([[1.0, 0.3], [2.0, -0.1]])
    np.testing.assert_array_equal(read_response("count", wide)[1].values, wide)
    assert LOSS.informative_rows(np.array([0.0, 0.0, 1.0, 1.0])) == 2
    assert LOSS.informative_rows(np.array([9.0, 9.0])) == 2


@pytest.mark.parametrize(
    ("y", "sentence"),
    [
        ([1.0, -2.0], "counts of zero or more for response='count'; got -2"),
        ([1.0, np.nan], "y must be finite"),
        ([[1.0, -np.inf], [2.0, 0.0]], "y must be finite"),
        (np.ones((3, 3)), "two columns of counts and offsets; got 3 columns"),
        (["a", "b"], "y must be numbers"),
    ],
)
def test_bad_counts_are_named(y, sentence):
    with pytest.raises(ArgumentError, match=sentence):
        LOSS.read(np.array(y))
