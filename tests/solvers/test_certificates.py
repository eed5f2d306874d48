"""Gaps and violations of fits that were stopped early: what they say is what numpy says.

A fit that is solved to the last digit has a gap of zero whatever the formula. So these are stopped
after a few steps: identical columns keep active sets from solving the squared loss, and Newton's
method is given too few steps for the others. Fits in the core and those in Python have the same
certificate, but for the curvature that they put to columns without a penalty.
"""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import numpy as np
import pytest
from scipy.special import expit, xlogy

from selica._core.errors import ArgumentError
from selica._core.losses import LogisticLoss, PoissonLoss, SquaredLoss
from selica.solvers import (
    lasso_path_batch,
    logistic_path_batch,
    poisson_path_batch,
    quadratic_lasso,
)
from selica.solvers.ensemble import make_problem, solve

RNG = np.random.default_rng(0)
N = 30
BASE = RNG.standard_normal((N, 10))
TWINS = np.hstack([BASE, BASE, BASE[:, :5] + BASE[:, 5:]])
ETA = BASE[:, :4].sum(axis=1)
Y = {
    "squared": ETA + RNG.standard_normal(N),
    "logistic": (RNG.random(N) < expit(ETA)).astype(float),
    "poisson": RNG.poisson(np.exp(0.4 * ETA)).astype(float),
}
WEIGHTS = 0.05 * RNG.integers(1, 4, (3, N))
COLUMNS = BASE[:, :6]


class LogisticInPython(LogisticLoss):
    """The log-loss without its kernel."""

    kernel = None


class PoissonInPython(PoissonLoss):
    """The loss of counts without its kernel."""

    kernel = None


class SquaresInPython(SquaredLoss):
    """The squared loss without its kernel."""

    kernel = None
    quadratic = False


IN_PYTHON = {"squared": SquaresInPython, "logistic": LogisticInPython, "poisson": PoissonInPython}
IN_THE_CORE = {
    "squared": lasso_path_batch,
    "logistic": logistic_path_batch,
    "poisson": poisson_path_batch,
}


class Rows(NamedTuple):
    """A loss of rows at some predictors."""

    value: float
    pull: np.ndarray
    """Minus its derivatives."""
    curvature: np.ndarray
    lowest: float
    """The smallest value that any predictors have."""


def rows(name, y, c, eta):
    if name == "squared":
        return Rows(0.5 * c @ (y - eta) ** 2, c * (y - eta), c, 0.0)
    if name == "logistic":
        m = expit(eta)
        value = c @ (np.logaddexp(0.0, eta) - y * eta)
        return Rows(value, c * (y - m), c * m * (1.0 - m), 0.0)
    m = np.exp(eta)
    return Rows(c @ (m - y * eta), c * (y - m), c * m, c @ (y - xlogy(y, y)))


def dual(name, y, c, pull, scale):
    """Minus the conjugate of the loss at minus `scale` times the pull."""
    m = y - scale * pull / c  # what a model with this pull would expect
    if name == "squared":
        return 0.5 * c @ (y**2 - m**2)
    if name == "logistic":
        return -c @ (xlogy(m, m) + xlogy(1.0 - m, 1.0 - m))
    return -c @ (xlogy(m, m) - m)


def constant(name, y, c):
    """The predictor of a fit without variables."""
    m = c @ y / c.sum()
    return np.log(m / (1.0 - m)) if name == "logistic" else np.log(m)


class Charge(NamedTuple):
    """What coefficients are charged: a penalty and a ridge for each."""

    penalty: np.ndarray
    ridge: np.ndarray


def certificate(name, X, y, c, w, a, charge, free):
    """Gap and largest violation by their definitions, `free` being what free columns add."""
    at = rows(name, y, c, X @ w + a)
    penalty, ridge = charge
    q = X.T @ at.pull - ridge * w
    some = penalty > 0.0
    scale = np.min(penalty[some] / np.maximum(np.abs(q[some]), penalty[some]), initial=1.0)
    primal = at.value + penalty @ np.abs(w) + 0.5 * ridge @ w**2
    over = np.maximum(scale * np.abs(q + ridge * w) - penalty, 0.0)
    # a penalty is no smaller than scale * |q|; of a tiny ridge rounding would say otherwise
    over = np.where(some, np.minimum(over, scale * ridge * np.abs(w)), over)
    bent = np.sum(over[ridge > 0.0] ** 2 / (2.0 * ridge[ridge > 0.0]))
    gap = primal - dual(name, y, c, at.pull, scale) + bent
    gap = max(gap, 0.0) + free(q, at.curvature)  # where these pull, a dual point is not quite one
    violations = [
        abs(q[j] - penalty[j] * np.sign(w[j])) if w[j] != 0.0 else max(abs(q[j]) - penalty[j], 0.0)
        for j in range(w.size)
    ]
    return gap, max(violations)


SOME = np.array([0.0, 0.0, 1.0, 1.0, 1.0, 1.0])
"""Which columns a case charges that does not charge all."""
ALL = np.ones(6)
CASES = {
    "a lasso": ({}, ALL, 0.0 * ALL),
    "a ridge": ({"lam2": 0.02}, ALL, 0.02 * ALL),
    "some have a ridge alone": ({"penalty_weights": SOME, "lam2": 0.02}, SOME, 0.02 * ALL),
    "some are free": ({"unpenalised": SOME == 0.0}, SOME, 0.0 * ALL),
    "some are free, a ridge": ({"unpenalised": SOME == 0.0, "lam2": 0.02}, SOME, 0.02 * SOME),
}
"""Settings, and the penalties in units of lam and the ridges that they make."""


def fitted(kind, name, X, lam, settings):
    lams = np.atleast_1d(lam)
    if kind == "core":
        return IN_THE_CORE[name](X, Y[name], lams, WEIGHTS, **settings)
    return solve(make_problem(X, Y[name], lams, WEIGHTS, IN_PYTHON[name](), **settings))


KINDS = pytest.mark.parametrize("kind", ["core", "python"])
NAMES = pytest.mark.parametrize("name", ["logistic", "poisson"])
INTERCEPT = pytest.mark.parametrize("intercept", [False, True])


@KINDS
@NAMES
@INTERCEPT
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_fit_that_was_stopped(kind, name, intercept, case, sign):
    X, y, lam = sign * COLUMNS, Y[name], 0.05
    settings, penalty, ridge = CASES[case]
    charge = Charge(lam * penalty, ridge)
    none = charge.penalty + charge.ridge == 0.0
    for steps in (1,) if none.any() else (1, 2, 3):
        more = {"fit_intercept": intercept, "tol": 1e-13, "max_iter": steps} | settings
        fit = fitted(kind, name, X, lam, more)
        assert not fit.converged
        for b, c in enumerate(WEIGHTS):
            w, start = fit.coef[b, 0], constant(name, y, c) if intercept else 0.0
            null = rows(name, y, c, np.full(N, start))

            def free(q, curvature, w=w, c=c, null=null):
                """|q w| + q^2 / 2 over the curvature: in the core, that of the only reference."""
                if kind == "core":
                    Z = X - (c @ X / c.sum() if intercept else 0.0)
                    curve = null.curvature @ Z**2
                else:
                    curve = curvature @ X**2
                return np.sum((np.abs(q * w) + 0.5 * q**2 / curve)[none])

            gap, kkt = certificate(name, X, y, c, w, fit.intercept[b, 0], charge, free)
            unit = null.value - null.lowest
            assert fit.gap[b, 0] * unit == pytest.approx(gap, rel=1e-9)
            assert fit.kkt[b, 0] == pytest.approx(kkt, rel=1e-9)


@NAMES
def test_the_pull_of_a_free_column_stands_for_what_it_can_gain_where_no_curvature_is_known(name):
    # after the second step without an intercept the core asks for a new reference
    y = Y[name]
    more = {"fit_intercept": False, "tol": 1e-13, "max_iter": 2, "unpenalised": SOME == 0.0}
    fit = fitted("core", name, COLUMNS, 0.05, more)
    for b, c in enumerate(WEIGHTS):
        w, null = fit.coef[b, 0], rows(name, y, c, np.zeros(N))

        def free(q, _, w=w):
            return np.sum((np.abs(q * w) + np.abs(q))[SOME == 0.0])

        gap, _ = certificate(name, COLUMNS, y, c, w, 0.0, Charge(0.05 * SOME, 0.0 * ALL), free)
        assert fit.gap[b, 0] * (null.value - null.lowest) == pytest.approx(gap, rel=1e-9)


@KINDS
@NAMES
@pytest.mark.parametrize("case", CASES)
def test_a_gap_is_no_smaller_than_what_is_left_to_gain(kind, name, case):
    settings, penalty, ridge = CASES[case]
    more = {"fit_intercept": True} | settings
    rough = fitted(kind, name, COLUMNS, 0.05, more | {"tol": 1e-13, "max_iter": 1})
    best = fitted(kind, name, COLUMNS, 0.05, more | {"tol": 1e-11})
    for b, c in enumerate(WEIGHTS):
        primal = []
        for fit in (rough, best):
            w = fit.coef[b, 0]
            value = rows(name, Y[name], c, COLUMNS @ w + fit.intercept[b, 0]).value
            primal.append(value + 0.05 * penalty @ np.abs(w) + 0.5 * ridge @ w**2)
        null = rows(name, Y[name], c, np.full(N, constant(name, Y[name], c)))
        left = (primal[0] - primal[1]) / (null.value - null.lowest)
        assert 1e-4 < left <= rough.gap[b, 0]


@KINDS
@NAMES
@INTERCEPT
def test_standardised_columns_are_charged_by_their_deviations(kind, name, intercept):
    X = np.column_stack([COLUMNS * [1.0, 2.0, 0.3, 1.0, 5.0, 1.0], np.ones(N)])
    y, lam, lam2 = Y[name], 0.05, 0.02
    some = np.array([0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0])
    more = {"fit_intercept": intercept, "tol": 1e-13, "max_iter": 2, "lam2": lam2}
    more |= {"standardize": True, "penalty_weights": some}
    fit = fitted(kind, name, X, lam, more)
    for b, c in enumerate(WEIGHTS):
        centre = c @ X / c.sum() if intercept else 0.0
        variance = c @ (X - centre) ** 2 / c.sum()
        varies = variance > 1e-9
        assert np.all(fit.coef[b, 0, ~varies] == 0.0)
        charge = Charge((lam * some * np.sqrt(variance))[varies], (lam2 * variance)[varies])
        null = rows(name, y, c, np.full(N, constant(name, y, c) if intercept else 0.0))
        w, a = fit.coef[b, 0, varies], fit.intercept[b, 0]
        gap, kkt = certificate(name, X[:, varies], y, c, w, a, charge, lambda *_: 0.0)
        assert fit.gap[b, 0] * (null.value - null.lowest) == pytest.approx(gap, rel=1e-9)
        assert fit.kkt[b, 0] == pytest.approx(kkt, rel=1e-9)


ONES = np.ones(TWINS.shape[1])
TWO_OUT = np.r_[0.0, 0.0, ONES[2:]]


@pytest.mark.parametrize(
    ("settings", "penalty", "ridge"),
    [
        ({}, ONES, 0.0),
        ({"lam2": 1e-30}, ONES, 1e-30),
        ({"unpenalised": TWO_OUT == 0.0}, TWO_OUT, 0.0),
        ({"penalty_weights": TWO_OUT, "lam2": 1e-14}, TWO_OUT, 1e-14),
    ],
    ids=["lasso", "tiny ridge", "free", "two with a ridge alone"],
)
def test_squares_of_identical_columns(settings, penalty, ridge):
    # the ridges are so small that identical columns remain too much for active sets; whether they
    # do is a matter of rounding, so that several responses are fitted
    c, lam, charge, stopped = np.ones(N), 0.001, Charge(0.001 * penalty, ridge * ONES), 0
    for seed, sign, intercept, steps in product(range(3), (1.0, -1.0), (False, True), (1, 2)):
        X, y = sign * TWINS, Y["squared"] + np.random.default_rng(seed).standard_normal(N)
        more = {"fit_intercept": intercept, "tol": 1e-13, "max_iter": steps} | settings
        fit = lasso_path_batch(X, y, [lam], c[None], **more)
        w, a = fit.coef[0, 0], fit.intercept[0, 0]
        unit = 0.5 * np.sum((y - (y.mean() if intercept else 0.0)) ** 2)

        def free(q, _, w=w):
            return np.sum(np.abs(q * w)[penalty == 0.0])

        gap, kkt = certificate("squared", X, y, c, w, a, charge, free)
        assert fit.gap[0, 0] * unit == pytest.approx(gap, rel=1e-8, abs=1e-12 * unit)
        assert fit.kkt[0, 0] == pytest.approx(kkt, rel=1e-8, abs=1e-12)
        stopped += not fit.converged
    assert stopped >= 4


def test_a_column_that_is_out_can_be_the_worst():
    signs = set()
    for seed, lam, steps in product((2, 7, 12), (0.1, 0.2, 0.5), (1, 2)):
        X = np.random.default_rng(seed).standard_normal((N, 25))
        for sign in (1.0, -1.0):
            more = {"fit_intercept": False, "tol": 1e-13, "max_iter": steps}
            fit = fitted("core", "poisson", sign * X, lam, more)
            for b, c in enumerate(WEIGHTS):
                w = fit.coef[b, 0]
                q = sign * X.T @ rows("poisson", Y["poisson"], c, sign * X @ w).pull
                out = np.where(w == 0.0, np.maximum(np.abs(q) - lam, 0.0), 0.0)
                on = np.where(w != 0.0, np.abs(q - lam * np.sign(w)), 0.0)
                assert fit.kkt[b, 0] == pytest.approx(max(out.max(), on.max()), rel=1e-9, abs=1e-12)
                if out.max() > max(on.max(), 1e-3):
                    signs.add(float(np.sign(q[out.argmax()])))
    assert signs == {1.0, -1.0}


@KINDS
@pytest.mark.parametrize("name", ["squared", "logistic", "poisson"])
def test_a_tiny_ridge_does_not_magnify_rounding(kind, name):
    # (|g| - lam)_+^2 / 2 ridge is zero at the optimum; rounding of 1e-16 would make it 0.005
    more = {"fit_intercept": True, "lam2": 1e-30, "tol": 1e-10}
    lams = np.geomspace(2.0, 0.05, 60 if kind == "core" else 5)
    fit = fitted(kind, name, COLUMNS, lams, more)
    assert fit.converged
    assert fit.gap.max() <= 1e-10
    plain = fitted(kind, name, COLUMNS, lams, more | {"lam2": 0.0})
    np.testing.assert_allclose(fit.coef, plain.coef, atol=1e-4)


@KINDS
@NAMES
def test_a_tiny_ridge_does_not_change_the_gap_of_a_fit_that_was_stopped(kind, name):
    # scale * |g| is above lam by rounding in some of these fits, by 1e-17 or so
    more = {"fit_intercept": True, "tol": 1e-13, "max_iter": 1}
    for lam in np.geomspace(0.02, 0.4, 40 if kind == "core" else 15):
        tiny, none = (fitted(kind, name, COLUMNS, lam, more | {"lam2": r}) for r in (1e-30, 0.0))
        np.testing.assert_allclose(tiny.gap, none.gap, rtol=1e-9)


def test_no_gap_is_below_zero():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X, y = rng.standard_normal((N, 5)), rng.standard_normal(N)
        none = lasso_path_batch(X, y, [1.0], np.ones((1, N)), np.zeros(5), tol=1e-12)
        some = lasso_path_batch(X, y, [1.0], np.ones((1, N)), np.ones(5), tol=1e-12)
        for fit in (none, some):
            assert fit.converged
            assert 0.0 <= fit.gap[0, 0] <= 1e-12


@KINDS
@NAMES
def test_a_gap_that_is_the_tolerance_is_small_enough(kind, name):
    more = {"fit_intercept": True, "max_iter": 1}
    rough = fitted(kind, name, COLUMNS, 0.05, more | {"tol": 1e-13})
    assert not rough.converged
    tol = float(rough.gap.max())
    assert fitted(kind, name, COLUMNS, 0.05, more | {"tol": tol}).gap.max() == tol
    assert fitted(kind, name, COLUMNS, 0.05, more | {"tol": tol}).converged
    less = float(np.nextafter(tol, 0.0))
    assert not fitted(kind, name, COLUMNS, 0.05, more | {"tol": less}).converged


@KINDS
def test_a_member_of_one_class_is_degenerate_at_all_of_its_penalties(kind):
    y = Y["logistic"]
    weights = np.array([np.ones(N), y, np.ones(N)])
    lams = np.array([1.0, 0.5, 0.2])
    if kind == "core":
        fit = logistic_path_batch(COLUMNS, y, lams, weights)
    else:
        fit = solve(make_problem(COLUMNS, y, lams, weights, LogisticInPython(), fit_intercept=True))
    assert np.all(fit.status[1] == "degenerate")
    assert np.all(fit.status[[0, 2]] == "converged")
    for part in (fit.gap, fit.kkt, fit.n_active):
        assert np.all(part[1] == 0.0)
    assert np.all(fit.coef[1] == 0.0)
    assert np.all(fit.n_active[[0, 2]] == np.count_nonzero(fit.coef[[0, 2]], axis=2))
    assert np.all(fit.n_active[[0, 2]] > 0)


@KINDS
@NAMES
def test_a_member_stops_where_it_would_have_more_variables_than_it_may(kind, name):
    lams = np.array([2.0, 1.0, 0.5, 0.2, 0.05])
    more = {"fit_intercept": True, "tol": 1e-10}
    whole = fitted(kind, name, COLUMNS, lams, more)
    active = np.count_nonzero(whole.coef, axis=2)
    np.testing.assert_array_equal(whole.n_active, active)
    for most in (0, 2, 6):
        fit = fitted(kind, name, COLUMNS, lams, more | {"max_active": most})
        stopped = np.maximum.accumulate(active > most, axis=1)
        np.testing.assert_array_equal(fit.status == "stopped", stopped)
        np.testing.assert_array_equal(fit.n_active[~stopped], active[~stopped])
        assert np.all(np.isnan(fit.gap[stopped]) & np.isnan(fit.kkt[stopped]))


def largest_violation(G, r, w, lam):
    g = G @ w - r
    return max(
        abs(g[j] + lam * np.sign(w[j])) if w[j] != 0.0 else max(abs(g[j]) - lam, 0.0)
        for j in range(w.size)
    )


def test_the_violation_of_a_quadratic_lasso():
    for seed in range(6):
        rng = np.random.default_rng(seed)
        A, r = rng.standard_normal((3, 12)), rng.standard_normal(12)
        G = A.T @ A
        stopped = quadratic_lasso(G, r, 1e-3)  # r is not in the range of G: there is no minimum
        assert not stopped.converged
        kkt = largest_violation(G, r, stopped.coef, 1e-3)
        assert stopped.kkt == pytest.approx(kkt, rel=1e-9)
        r = A.T @ [1.0, -2.0, 0.5]
        found = quadratic_lasso(G, r, 0.3)
        assert found.converged
        assert largest_violation(G, r, found.coef, 0.3) < 1e-12
        assert found.kkt < 1e-12
        again = quadratic_lasso(G, r, 0.3, start=found.coef)
        np.testing.assert_allclose(again.coef, found.coef, atol=1e-9)


def test_a_quadratic_lasso_names_what_is_wrong():
    with pytest.raises(ArgumentError, match="lam"):
        quadratic_lasso(np.eye(2), [1.0, 1.0], 0.0)
    with pytest.raises(ArgumentError, match="gram must be 2 x 2"):
        quadratic_lasso(np.eye(3), [1.0, 1.0], 0.5)
