"""The partial likelihood: against sums over risk sets that are written out."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import xlogy

from selica._core.errors import ArgumentError, DoesNotApply, RefusedError
from selica._core.losses import CoxLoss, PoissonLoss, read_response
from selica._core.losses.intervals import Intervals

BOTH = [CoxLoss("breslow"), CoxLoss("efron")]


def terms(y, c, ties):
    """All terms (omega, b), by the definition; y has four columns."""
    time, event, stratum, entry = y.T
    found = []
    for s in np.unique(stratum):
        for T in np.unique(time[(event == 1) & (stratum == s)]):
            risk = (stratum == s) & (entry < T) & (time >= T)
            dead = (stratum == s) & (time == T) & (event == 1) & (c > 0)
            if not dead.any():
                continue
            d, number = c[dead].sum(), int(dead.sum())
            if ties == "breslow":
                found.append((d, np.where(risk, c, 0.0), dead))
                continue
            for k in range(number):
                b = np.where(risk, c, 0.0)
                b[dead] *= 1.0 - k / number
                found.append((d / number, b, dead))
    return found


def total(y, c, ties, eta):
    """The loss, also of complex predictors."""
    observed = np.sum(c * y[:, 1] * eta)
    return sum(w * np.log(np.sum(b * np.exp(eta))) for w, b, _ in terms(y, c, ties)) - observed


def hessian(y, c, ties, eta):
    """The second derivatives, written out."""
    H = np.zeros((eta.size, eta.size))
    for w, b, _ in terms(y, c, ties):
        p = b * np.exp(eta) / np.sum(b * np.exp(eta))
        H += w * (np.diag(p) - np.outer(p, p))
    return H


def dual(y, c, ties, eta, kappa):
    """The dual objective, written out."""
    value = 0.0
    for w, b, dead in terms(y, c, ties):
        p = b * np.exp(eta) / np.sum(b * np.exp(eta))
        q = np.where(dead, c, 0.0) / c[dead].sum()
        mixed = kappa * p + (1.0 - kappa) * q
        value -= w * np.sum(xlogy(mixed, mixed / np.where(b > 0, b, 1.0)))
    return value


def some(seed, n=14, *, late=True):
    """A data set with ties, strata, late entries and rows without weight."""
    rng = np.random.default_rng(seed)
    time = rng.integers(2, 8, n).astype(float)
    entry = np.where(late & (rng.random(n) < 0.4), rng.integers(0, time), -np.inf)
    y = np.column_stack([time, rng.random(n) < 0.6, rng.integers(0, 2, n), entry])
    c = rng.choice([0.0, 1.0, 2.0, 0.3], n)
    return y, c, 1.5 * rng.standard_normal(n)


@pytest.mark.parametrize("loss", BOTH, ids=str)
@pytest.mark.parametrize("seed", range(12))
def test_it_is_what_the_definition_says(loss, seed):
    y, c, eta = some(seed)
    assert loss.total(y, c, eta) == pytest.approx(total(y, c, loss.ties, eta), rel=1e-13)
    step = [
        total(y, c, loss.ties, eta + 1e-30j * (np.arange(eta.size) == i)).imag / 1e-30
        for i in range(eta.size)
    ]
    np.testing.assert_allclose(loss.gradient(y, c, eta), step, atol=1e-13)
    A = loss.majorant(y, c, eta)
    np.testing.assert_allclose(A, loss.gradient(y, c, eta) + c * y[:, 1], atol=1e-13)
    assert np.linalg.eigvalsh(np.diag(A) - hessian(y, c, loss.ties, eta)).min() > -1e-12
    V = np.random.default_rng(seed).standard_normal((3, eta.size)) + 2.0
    known = V @ hessian(y, c, loss.ties, eta)
    np.testing.assert_allclose(loss.curved(y, c, eta, V), known, atol=1e-12)
    scale = np.array([0.0, 0.3, 0.9, 1.0])
    known = [dual(y, c, loss.ties, eta, kappa) for kappa in scale]
    np.testing.assert_allclose(loss.dual(y, c, eta, scale), known, rtol=1e-12, atol=1e-12)
    assert loss.infimum(y, c) == pytest.approx(known[0], rel=1e-13, abs=1e-13)
    for s in (0, 1):
        assert abs(loss.gradient(y, c, eta)[y[:, 2] == s].sum()) < 1e-13


@pytest.mark.parametrize("loss", BOTH, ids=str)
def test_the_dual_bounds_what_any_predictors_reach(loss):
    y, c, eta = some(3, 8)
    v = loss.gradient(y, c, eta)
    for kappa in (0.3, 0.8, 1.0):

        def cost(x, kappa=kappa):
            slope = loss.gradient(y, c, x) - kappa * v
            return float(loss.total(y, c, x) - kappa * v @ x), slope

        lowest = minimize(cost, eta, jac=True, method="BFGS", options={"gtol": 1e-10}).fun
        bound = float(loss.dual(y, c, eta, np.array(kappa)))
        assert bound <= lowest + 1e-9
        if kappa == 1.0:
            assert bound == pytest.approx(lowest, abs=1e-9)
    grid = np.random.default_rng(0).standard_normal((200, 8)) * 10.0
    assert np.all(loss.total(y, c, grid) >= loss.infimum(y, c) - 1e-9)
    in_order = -60.0 * (y[:, 0] + 0.5 * (y[:, 1] == 0.0))
    assert loss.total(y, c, in_order) == pytest.approx(float(loss.infimum(y, c)), abs=1e-9)


def test_large_ties_have_a_bound_too():
    """Of more events than pairs are gone through, the certificate is below, and exact at one."""
    rng = np.random.default_rng(1)
    n = 120
    y = np.column_stack([rng.integers(1, 3, n), rng.random(n) < 0.8, np.zeros(n), np.full(n, -1)])
    c, eta, loss = rng.integers(0, 3, n).astype(float), rng.standard_normal(n), CoxLoss("efron")
    for kappa in (0.0, 0.5, 0.99, 1.0):
        found = float(loss.dual(y, c, eta, np.array(kappa)))
        known = dual(y, c, "efron", eta, kappa)
        assert found <= known + 1e-10
        if kappa in (0.0, 1.0):
            assert found == pytest.approx(known, rel=1e-12)
    assert loss.total(y, c, eta) == pytest.approx(total(y, c, "efron", eta), rel=1e-13)


def test_a_large_tie_beside_events_alone():
    rng = np.random.default_rng(4)
    n = 120
    time = np.r_[np.full(100, 1.0), np.arange(2.0, 22.0)]  # a hundred at once, then one by one
    y = np.column_stack([time, np.ones(n), np.zeros(n), np.full(n, -1.0)])
    c, eta, loss = np.ones(n), rng.standard_normal(n), CoxLoss("efron")
    for kappa in (0.0, 1.0):
        found = float(loss.dual(y, c, eta, np.array(kappa)))
        assert found == pytest.approx(dual(y, c, "efron", eta, kappa), rel=1e-12)


@pytest.mark.parametrize("loss", BOTH, ids=str)
def test_rows_without_weight_take_no_digits(loss):
    y, c, eta = some(5)
    members = np.array([c, np.where(c > 0.0, 1.0, 0.0)])
    far = np.array([np.where(c > 0.0, eta, -1e12), np.where(c > 0.0, 2.0 * eta, -1e12)])
    near = np.where(c > 0.0, far, 0.0)
    scale = np.array([0.4, 0.9])
    assert np.any(c == 0.0)
    for name in ("total", "dual"):
        more = () if name == "total" else (scale,)
        found, known = (getattr(loss, name)(y, members, x, *more) for x in (far, near))
        np.testing.assert_allclose(found, known, rtol=1e-12)


@pytest.mark.parametrize("loss", BOTH, ids=str)
def test_members_are_taken_together_or_one_by_one(loss):
    rng = np.random.default_rng(2)
    data = [some(seed) for seed in range(5)]
    y = data[0][0]
    c, eta = np.array([one[1] for one in data]), np.array([one[2] for one in data])
    scale = rng.random(5)
    shared = np.broadcast_to(y, (5, *y.shape))
    own = np.array([one[0] for one in data])
    for given, alone in ((y, [y] * 5), (shared, [y] * 5), (own, list(own))):
        for name in ("total", "gradient", "majorant"):
            found = getattr(loss, name)(given, c, eta)
            known = [getattr(loss, name)(*one) for one in zip(alone, c, eta, strict=True)]
            np.testing.assert_allclose(found, known, rtol=1e-14, atol=1e-15)
        known = [loss.dual(*one) for one in zip(alone, c, eta, scale, strict=True)]
        np.testing.assert_allclose(loss.dual(given, c, eta, scale), known, rtol=1e-14)
        known = [loss.infimum(*one) for one in zip(alone, c, strict=True)]
        np.testing.assert_allclose(loss.infimum(given, c), known, rtol=1e-14)
        np.testing.assert_array_equal(loss.balance(given, c, eta), np.zeros(5))
    assert loss.total(shared, c[0], eta[0]).shape == loss.total(own, c[0], eta[0]).shape == (5,)
    null = loss.null(y, c)
    assert null.intercept.shape == null.value.shape == (5,)
    np.testing.assert_array_equal(null.gradient, loss.gradient(y, c, np.zeros((5, 14))))


@pytest.mark.parametrize("loss", BOTH, ids=str)
def test_predictors_far_apart_lose_no_digits(loss):
    """The last of a risk set decides a term although its share of the first sum is 1e-600."""
    y = np.array([[1.0, 1], [2, 1], [3, 0]])
    eta = np.array([1500.0, 10.0, 10.0 + np.log(3.0)])
    assert loss.total(y, np.ones(3), eta) == pytest.approx(np.log(4.0), abs=1e-12)
    found = loss.gradient(y, np.ones(3), eta)
    np.testing.assert_allclose(found, [0.0, -0.75, 0.75], atol=1e-13)
    late = np.column_stack([y, np.zeros(3), [0.0, 1.5, 1.5]])
    np.testing.assert_allclose(loss.gradient(late, np.ones(3), eta), found, atol=1e-13)
    assert loss.dual(y, np.ones(3), eta, np.array(0.5)) < np.log(4.0)


def test_weights_are_repetitions_for_breslow_only():
    y, _, eta = some(4)
    c = np.random.default_rng(0).integers(0, 4, eta.size).astype(float)
    rows = np.repeat(np.arange(eta.size), c.astype(int))
    ones = np.ones(rows.size)
    breslow, efron = (
        (loss.total(y, c, eta), loss.total(y[rows], ones, eta[rows])) for loss in BOTH
    )
    assert breslow[0] == pytest.approx(breslow[1], rel=1e-13)
    assert efron[0] > efron[1] + 0.1
    added = np.bincount(rows, BOTH[0].gradient(y[rows], ones, eta[rows]), eta.size)
    np.testing.assert_allclose(BOTH[0].gradient(y, c, eta), added, atol=1e-12)


@pytest.mark.parametrize("loss", BOTH, ids=str)
def test_order_of_rows_and_a_constant_change_nothing(loss):
    y, c, eta = some(5, 40)
    order = np.random.default_rng(1).permutation(40)
    assert loss.total(y[order], c[order], eta[order]) == pytest.approx(
        float(loss.total(y, c, eta)), rel=1e-13
    )
    moved = loss.gradient(y[order], c[order], eta[order])
    np.testing.assert_allclose(moved, loss.gradient(y, c, eta)[order], atol=1e-13)
    assert loss.total(y, c, eta + 5.0) == pytest.approx(float(loss.total(y, c, eta)), rel=1e-13)
    monotone = y.copy()
    monotone[:, [0, 3]] = np.exp(monotone[:, [0, 3]])
    np.testing.assert_allclose(loss.gradient(monotone, c, eta), loss.gradient(y, c, eta), atol=0)


@pytest.mark.parametrize("loss", BOTH, ids=str)
def test_alone_in_a_stratum_there_is_nothing_to_learn(loss):
    y, c, eta = some(6)
    y[:, 2] = np.arange(eta.size)
    np.testing.assert_allclose(loss.gradient(y, c, eta), 0.0, atol=1e-15)


def test_the_gradient_is_that_of_counts_at_the_estimated_hazard():
    y, c, eta = some(7, late=False)
    y = y[:, :2]
    c = c + 0.1
    loss = CoxLoss()
    hazard = loss.majorant(y, c, eta) / (c * np.exp(eta))  # Lambda(t_i)
    at_risk = hazard > 0.0
    counts = np.column_stack([y[:, 1], np.log(np.where(at_risk, hazard, 1.0))])
    known = PoissonLoss().gradient(counts[at_risk], c[at_risk], eta[at_risk])
    np.testing.assert_allclose(loss.gradient(y, c, eta)[at_risk], known, atol=1e-13)


@pytest.mark.parametrize("loss", BOTH, ids=str)
def test_without_events_there_is_no_loss(loss):
    y, c, eta = some(8)
    calm = y.copy()
    calm[:, 1] = 0.0
    assert loss.total(calm, c, eta) == loss.infimum(calm, c) == 0.0
    assert loss.dual(calm, c, eta, np.array(0.5)) == 0.0
    np.testing.assert_array_equal(loss.gradient(calm, c, eta), np.zeros(eta.size))
    weights = np.stack([c, np.where(y[:, 1] == 1, 0.0, c), np.zeros(c.size)])
    np.testing.assert_array_equal(loss.degenerate(y, weights), [False, True, True])
    np.testing.assert_allclose(loss.total(y, weights, eta)[1:], 0.0, atol=1e-15)
    np.testing.assert_allclose(loss.gradient(y, weights, eta)[1:], 0.0, atol=1e-15)
    np.testing.assert_allclose(loss.dual(y, weights, eta, np.ones(3))[1:], 0.0, atol=1e-15)


@pytest.mark.parametrize("loss", BOTH, ids=str)
def test_held_out_rows_are_compared_with_all(loss):
    y, c, eta = some(9, 30)
    fold = np.arange(30) % 3
    scores = [loss.held_out_score(y, c, fold == k, np.stack([eta, 0.0 * eta])) for k in range(3)]
    for k, score in enumerate(scores):
        fitted = np.where(fold == k, 0.0, c)
        known = 2.0 * (total(y, c, loss.ties, eta) - total(y, fitted, loss.ties, eta))
        assert score.deviance[0] == pytest.approx(known, rel=1e-12)
        assert score.mass == pytest.approx(np.sum((c * y[:, 1])[fold == k]))
    assert sum(score.mass for score in scores) == pytest.approx(np.sum(c * y[:, 1]))
    assert loss.total_deviance(y, c, eta) == pytest.approx(
        2.0 * (total(y, c, loss.ties, eta) - float(loss.infimum(y, c))), rel=1e-12
    )
    with pytest.raises(DoesNotApply, match="times of events is no sum over rows"):
        loss.deviance(y, eta)


def test_forms_of_the_response():
    time, event = [2.0, 3.5, 1.0], [True, False, True]
    known = np.column_stack([time, event]).astype(float)
    pairs = np.array(list(zip(event, time, strict=True)), dtype=[("dead", bool), ("days", float)])
    for given in (
        pairs, known, known.tolist(), (time, event), [time, [1, 0, 1]],
        (np.array(time), np.array(event)), known.astype(object),
    ):  # fmt: skip
        loss, read = read_response("survival", given)
        assert loss.name == "cox"
        np.testing.assert_array_equal(read.values, known)
    wide = np.column_stack([known, [0, 0, 1], [0.0, 0.0, 0.0]])
    np.testing.assert_array_equal(CoxLoss().read(wide).values, wide)
    assert CoxLoss().informative_rows(known) == 2
    np.testing.assert_array_equal(CoxLoss().strata(known), [1.0, 0.0, 1.0])


@pytest.mark.parametrize(
    ("y", "sentence"),
    [
        (([1.0, 2.0], [1, 2]), "events of 1 .* and 0 .* only; got 2"),
        (([1.0, np.nan], [1, 0]), "a finite time in every row"),
        (([1.0, 2.0], [1, np.nan]), "events of 1"),
        ([1.0, 2.0, 3.0], "a pair \\(time, event\\)"),
        (np.ones((4, 5)), "two columns"),
        (np.array(["a", "b"]), "y must be times and events"),
        (([1.0, 2.0], ["a", "b"]), "no number"),
        (np.array([(1, 2.0)], dtype=[("a", int), ("b", float)]), "one boolean field"),
        (np.array([[2.0, 1.0, 0.0, 2.0]] * 2), "entries before the times"),
    ],
)
def test_bad_responses_are_named(y, sentence):
    with pytest.raises(ArgumentError, match=sentence):
        CoxLoss().read(y)


def test_a_response_without_events_is_refused():
    with pytest.raises(RefusedError, match="y has no event"):
        CoxLoss().read(([1.0, 2.0], [0, 0]))
    with pytest.raises(ArgumentError, match="ties must be one of 'breslow', 'efron'"):
        CoxLoss("exact")


def test_times_are_drawn_from_their_hazards():
    eta = np.repeat([-1.0, 0.5], 40_000)
    y = CoxLoss().draw(eta, None, np.random.default_rng(0))
    mean = y[:, 0].reshape(2, -1).mean(axis=1)
    np.testing.assert_allclose(mean * CoxLoss().mean(np.array([-1.0, 0.5])), 1.0, atol=0.03)
    np.testing.assert_array_equal(y[:, 1], 1.0)


@pytest.mark.parametrize("size", [1, 2, 3, 7, 8, 9, 33])
def test_sums_over_intervals(size):
    rng = np.random.default_rng(size)
    start, stop = rng.integers(0, size + 1, (2, 50))
    inside = (start[:, None] <= np.arange(size)) & (np.arange(size) < stop[:, None])
    some_of = Intervals(start, stop, size)
    x, z = 5.0 * rng.standard_normal((3, 50)), 5.0 * rng.standard_normal((3, size))
    np.testing.assert_allclose(np.exp(some_of.over_rows(x)), np.exp(x) @ inside, rtol=1e-13)
    np.testing.assert_allclose(np.exp(some_of.over_places(z)), np.exp(z) @ inside.T, rtol=1e-13)
