"""Masked pairs: not one bit of them tells which member of a pair is the original."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import PoissonRegressor

from selica._core.losses import loss_of
from selica.statistics import make_data
from selica.statistics.pairs import masked_pairs

RESPONSES = ("linear", "binary", "count", "survival", "classes")
N, P = 60, 7
GROUPS = np.array([0, 1, 1, 2, 0, 3, 3])


def table(response, *, seed=0, copies=1):
    """Return columns, copies, a response, weights and covariates."""
    rng = np.random.default_rng(seed)
    X, copy = rng.standard_normal((N, P)), rng.standard_normal((N, copies * P))
    X[:, 3] += 2.0
    copy[:, 5] = X[:, 5]
    eta = X[:, 0] - X[:, 1]
    y = {
        "linear": eta + rng.standard_normal(N),
        "binary": (eta + rng.standard_normal(N) > 0.0).astype(float),
        "count": rng.poisson(np.exp(0.5 * eta)).astype(float),
        "survival": np.column_stack([rng.exponential(np.exp(-eta)), rng.random(N) < 0.7]),
        "classes": np.digitize(eta + rng.standard_normal(N), [-0.7, 0.7]).astype(float),
    }[response]
    return X, copy, y, rng.random(N) + 0.5, rng.standard_normal((N, 2))


def swapped(X, copy, groups, rng):
    """Return a table and its copy with half of the units exchanged, and which."""
    which = rng.permutation(groups.max() + 1) < (groups.max() + 1) / 2
    move = which[groups]
    return np.where(move, copy, X), np.where(move, X, copy), which


@pytest.mark.parametrize("response", RESPONSES)
@pytest.mark.parametrize("groups", [None, GROUPS])
@pytest.mark.parametrize("weighted", [False, True])
def test_an_exchange_changes_signs_and_nothing_else(response, groups, weighted):
    X, copy, y, weight, keep = table(response)
    units = np.arange(P) if groups is None else groups
    settings = {"variable": groups, "keep": keep if weighted else None}
    rows = weight if weighted else None
    other, back, which = swapped(X, copy, units, np.random.default_rng(1))
    before = masked_pairs(make_data(X, y, loss_of(response), rows, **settings), copy)
    after = masked_pairs(make_data(other, y, loss_of(response), rows, **settings), back)
    assert len(before) == (3 if response == "classes" else 1)
    for one, two in zip(before, after, strict=True):
        for name in ("first", "second", "response", "weight", "basis", "noise", "labels"):
            assert np.array_equal(getattr(one, name), getattr(two, name)), name
        expected = np.where(which, -one.sign, one.sign)
        assert np.array_equal(two.sign, expected)
        identical = units[5] if groups is None else -1
        assert np.array_equal(
            np.flatnonzero(one.sign == 0.0), [identical] if groups is None else []
        )


@pytest.mark.parametrize("response", RESPONSES)
def test_what_is_projected_off_is_gone(response):
    X, copy, y, weight, keep = table(response)
    for one in masked_pairs(make_data(X, y, loss_of(response), weight, keep=keep), copy):
        root = np.sqrt(one.weight)[:, None]
        constant = np.concatenate([np.ones((N, 1)), keep], axis=1) * root
        for part in (one.first, one.second, one.response[:, None]):
            np.testing.assert_allclose(constant.T @ part, 0.0, atol=1e-9)
        np.testing.assert_allclose(np.mean(one.response**2), 1.0)


def test_linear_pairs_are_the_columns_with_a_scale_in_common():
    X, copy, y, _, _ = table("linear")
    [one] = masked_pairs(make_data(5.0 * X, y, "squared"), 5.0 * copy)
    centred = [part - part.mean(axis=0) for part in (X, copy)]
    scale = np.sqrt(0.5 * sum((part**2).mean(axis=0) for part in centred))
    own = np.where(one.sign < 0.0, one.second, one.first)
    np.testing.assert_allclose(own, centred[0] / scale, atol=1e-12)
    np.testing.assert_allclose(one.response, (y - y.mean()) / y.std(), atol=1e-12)
    assert one.noise is None


def test_the_working_response_is_one_step_of_fisher_scoring():
    # nothing varies, so it is one at the shares of the classes: (y - share) / (share (1 - share))
    X, copy, y, _, _ = table("binary")
    [one] = masked_pairs(make_data(0.0 * X, y, "logistic"), 0.0 * copy)
    share = y.mean()
    expected = (y - share) / np.sqrt(share * (1.0 - share))
    np.testing.assert_allclose(one.response, expected, atol=1e-9)
    assert one.noise is None
    assert set(one.labels) == {-1.0, 1.0}


def test_the_working_response_is_taken_at_a_fit():
    # one strong effect: least squares on the working response find what the likelihood finds
    rng = np.random.default_rng(2)
    X, copy = rng.standard_normal((2, 400, 3))
    y = rng.poisson(np.exp(0.2 + X[:, 0])).astype(float)
    [one] = masked_pairs(make_data(X, y, loss_of("count")), copy)
    own = np.where(one.sign < 0.0, one.second, one.first)[:, :1]
    slope = np.linalg.lstsq(own, one.response, rcond=None)[0][0]
    peer = PoissonRegressor(alpha=0.0, tol=1e-10).fit(X[:, :1], y)
    mean = peer.predict(X[:, :1])
    best = one.weight * mean.mean() / mean  # the weights are the means of the fit, times one unit
    assert best.std() < 0.1
    # in the unit of the response, whose noise has the variance 1 / mean
    root = np.sqrt(mean / mean.mean())
    working = root * (peer.coef_[0] * X[:, 0] + (y - mean) / mean)
    z = working - root * (root @ working) / (root @ root)
    scale = np.sqrt(0.5 * (X[:, 0].var() + copy[:, 0].var()))
    assert slope == pytest.approx(peer.coef_[0] * scale / np.sqrt(np.mean(z**2)), rel=0.03)


def test_weights_of_events_are_expected_events():
    # no variable, no censoring: the hazard up to the k-th of n events is 1/n + ... + 1/(n - k + 1)
    X, copy, _, _, _ = table("survival")
    y = np.column_stack([np.arange(N) + 1.0, np.ones(N)])
    [one] = masked_pairs(make_data(0.0 * X, y, loss_of("survival")), 0.0 * copy)
    hazard = np.cumsum(1.0 / np.arange(N, 0, -1))
    np.testing.assert_allclose(one.weight, hazard / hazard.mean(), rtol=1e-9)
    working = np.sqrt(hazard) * (1.0 - hazard) / hazard
    np.testing.assert_allclose(one.response, working / np.sqrt(np.mean(working**2)), atol=1e-9)
    assert one.noise == pytest.approx(1.0 / np.mean(working**2))  # the variance of the slopes


def test_labels_keep_the_weights_of_their_rows():
    X, copy, y, weight, keep = table("binary")
    [one] = masked_pairs(make_data(X, y, "logistic", weight, keep=keep), copy, labels=True)
    np.testing.assert_allclose(one.weight, weight / weight.mean())


def test_signs():
    X, copy, y, _, _ = table("linear")
    [one] = masked_pairs(make_data(X, y, "squared"), copy)
    W = one.signed(np.arange(1.0, P + 1.0))
    assert W[5] == 0.0
    assert np.array_equal(np.abs(W), [1.0, 2.0, 3.0, 4.0, 5.0, 0.0, 7.0])
    smaller = (X - X.mean(axis=0))[0] < (copy - copy.mean(axis=0))[0]
    # up to the scale of each pair the first row decides
    assert np.array_equal(W > 0.0, smaller & (np.arange(P) != 5))
