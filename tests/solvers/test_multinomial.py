"""Several classes: printed answers, logistic regression, brute force, and rules for every loss."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax

from selica._core.errors import ArgumentError
from selica._core.losses import MultinomialLoss
from selica.solvers import logistic_path_batch
from selica.solvers.designs import int8_design, side_by_side
from selica.solvers.multinomial import multinomial_path_batch
from tests.oracles.classes import identified_coef

BOTH = pytest.mark.parametrize("penalty", ["each", "group"])
X8 = np.array(
    [
        [1.0, 0.5, -0.3], [-0.8, 1.2, 0.4], [0.3, -1.0, 1.1], [1.5, 0.2, -0.9],
        [-1.2, -0.7, 0.6], [0.1, 0.9, -1.4], [0.7, -0.4, 0.2], [-0.5, 0.6, 0.8],
    ]
)  # fmt: skip
Y8 = np.array([0, 1, 2, 0, 1, 2, 0, 1])
C8 = np.array([1.0, 2.0, 0.0, 1.0, 3.0, 1.0, 1.0, 2.0])


def _data(seed=0, n=60, p=8, K=3, members=2, size=1.0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) + rng.standard_normal((n, 1))
    W = np.zeros((p, K))
    W[:3] = size * rng.standard_normal((3, K))
    y = np.argmax(X @ W + rng.gumbel(size=(n, K)), axis=1)
    weights = rng.multinomial(n, np.full(n, 1.0 / n), size=members).astype(float)
    return X, y, weights


def _norm(W, penalty):
    return np.abs(W).sum(axis=1) if penalty == "each" else np.linalg.norm(W, axis=1)


def _objective(X, y, c, a, W, lam, penalty, u=1.0, lam2=0.0):
    """Return loss, penalty and ridge; lam2 may be one number for each column."""
    logs = log_softmax(a + X @ W, axis=1)[np.arange(len(y)), y]
    return -c @ logs + lam * np.sum(u * _norm(W, penalty)) + 0.5 * np.sum(lam2 * (W**2).T)


def _objectives(fit, X, y, weights, penalty, **settings):
    """Return the objective of each member at each penalty."""
    return np.array(
        [
            [
                _objective(
                    X, y, c, fit.intercept[b, ell], fit.coef[b, ell], lam, penalty, **settings
                )
                for ell, lam in enumerate(fit.lams)
            ]
            for b, c in enumerate(weights)
        ]
    )


def _by_proximal_steps(X, y, c, lam, penalty, u, lam2, steps=2000):
    """Return the smallest objective that accelerated proximal gradient steps find."""
    K, p = int(y.max()) + 1, X.shape[1]
    A = np.column_stack([np.ones(len(y)), X])
    Y = np.eye(K)[y]
    t = 2.0 / np.linalg.norm(A * np.sqrt(c)[:, None], 2) ** 2
    charge, ridge = np.r_[0.0, lam * u][:, None], np.r_[0.0, np.broadcast_to(lam2, p)][:, None]
    W = V = np.zeros((p + 1, K))
    best, momentum = np.inf, 1.0
    for step in range(steps):
        fresh = V - t * (A.T @ (c[:, None] * (softmax(A @ V, axis=1) - Y)))
        if penalty == "each":
            fresh = np.sign(fresh) * np.maximum(np.abs(fresh) - t * charge, 0.0)
        else:
            size = np.maximum(np.linalg.norm(fresh, axis=1, keepdims=True), 1e-300)
            fresh = fresh * np.maximum(1.0 - t * charge / size, 0.0)
        fresh = fresh / (1.0 + t * ridge)
        again = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * momentum**2))
        V, W, momentum = fresh + (momentum - 1.0) / again * (fresh - W), fresh, again
        if step % 200 == 199:
            value = _objective(X, y, c, W[0], W[1:], lam, penalty, u, ridge[1:, 0])
            if value > best:
                V, momentum = W, 1.0
            best = min(best, value)
    return best


# --- printed answers (all to 1e-8)


def test_the_answers_for_three_classes():
    fit = multinomial_path_batch(X8, Y8, [0.8, 0.4], [np.ones(8), C8], penalty="each", tol=1e-13)
    W = np.zeros((3, 3, 3))
    W[0, 0] = 1.333191149, -1.594892751, 0.0
    W[1, 0], W[1, 2, 1] = (2.695707842, -2.745825746, 0.0), 0.182978465
    W[2, 0], W[2, 2] = (1.679502565, -0.986635389, 0.0), (0.0, 0.174890034, -1.193121505)
    found = fit.coef[[0, 0, 1], [0, 1, 0]]
    np.testing.assert_allclose(found, W, atol=3e-9)
    a = [
        [-0.216897321, 0.146386225, 0.070511095],
        [-0.651279859, 0.134571634, 0.516708225],
        [0.060533442, 0.718779143, -0.779312585],
    ]
    np.testing.assert_allclose(fit.intercept[[0, 0, 1], [0, 1, 0]], a, atol=3e-9)
    values = _objectives(fit, X8, Y8, [np.ones(8), C8], "each")[[0, 0, 1], [0, 1, 0]]
    np.testing.assert_allclose(values, [6.3470650169, 4.7480106559, 5.3307316577], atol=1e-9)


@pytest.mark.parametrize(
    ("penalty", "tops"),
    [("each", [2.9125, 4.354545454545]), ("group", [4.033415116251, 5.917909503580])],
)
def test_the_largest_penalty_and_the_fit_there(penalty, tops):
    weights = np.array([np.ones(8), C8])
    fit = multinomial_path_batch(X8, Y8, [7.0], weights, penalty=penalty)
    np.testing.assert_allclose(fit.lam_max, tops, rtol=1e-11)
    assert not fit.n_active.any()
    a = [
        [0.135155036036, 0.135155036036, -0.270310072072],
        [0.083771476, 0.931069336, -1.014840813],
    ]
    np.testing.assert_allclose(fit.intercept[:, 0], a, atol=1e-9)
    values = _objectives(fit, X8, Y8, weights, penalty)[:, 0]
    np.testing.assert_allclose(values, [8.657564240310, 9.459640091391], rtol=1e-11)
    lams = np.multiply.outer(tops, [1.0 + 1e-9, 1.0 - 1e-6])
    near = multinomial_path_batch(X8, Y8, lams, weights, penalty=penalty, tol=1e-14)
    assert near.n_active.tolist() == [[0, 1], [0, 1]]


# --- two classes


@pytest.mark.parametrize("settings", [{}, {"standardize": True}, {"unpenalised": [1]}], ids=str)
@pytest.mark.parametrize(("penalty", "ratio"), [("each", 1.0), ("group", np.sqrt(2.0))])
def test_two_classes_are_logistic_regression(penalty, ratio, settings):
    X, y, weights = _data(1, K=2)
    lams = np.array([6.0, 2.0, 0.5])
    u = np.linspace(0.5, 2.0, X.shape[1])
    fit = multinomial_path_batch(
        X, y, lams * ratio, weights, u, penalty=penalty, tol=1e-13, **settings
    )
    rest = settings.copy()
    u[rest.pop("unpenalised", [])] = 0.0
    known = logistic_path_batch(X, y, lams, weights, u, tol=1e-13, **rest)
    np.testing.assert_allclose(fit.coef[..., 1] - fit.coef[..., 0], known.coef, atol=1e-5)
    np.testing.assert_allclose(fit.coef.sum(axis=-1), 0.0, atol=1e-12)
    np.testing.assert_allclose(
        fit.intercept[..., 1] - fit.intercept[..., 0], known.intercept, atol=1e-5
    )
    assert np.array_equal(fit.n_active, known.n_active)


def test_the_printed_answers_for_two_classes():
    y = np.array([1, 0, 1, 1, 0, 0, 1, 0])
    known = (("each", 3.032487164489, 2.579466260006), ("group", 3.582280082, 2.098117743337))
    for penalty, w, value in known:
        fit = multinomial_path_batch(X8, y, [0.5], [C8], penalty=penalty, tol=1e-14)
        assert fit.coef[0, 0, 0, 1] - fit.coef[0, 0, 0, 0] == pytest.approx(w, abs=1e-8)
        assert _objectives(fit, X8, y, [C8], penalty)[0, 0] == pytest.approx(value, abs=1e-11)


# --- brute force


@BOTH
@pytest.mark.parametrize("lam2", [0.0, 0.7])
@pytest.mark.parametrize("free", [None, [2]])
def test_no_proximal_steps_find_less(penalty, lam2, free):
    X, y, weights = _data(2, n=30, p=5, members=1)
    u, ridge = np.array([1.0, 0.5, 1.0, 2.0, 1.0]), np.full(5, lam2)
    fit = multinomial_path_batch(
        X, y, [3.0, 1.0], weights, u, penalty=penalty, lam2=lam2, unpenalised=free, tol=1e-13
    )
    if free is not None:
        u[free] = ridge[free] = 0.0
    found = _objectives(fit, X, y, weights, penalty, u=u, lam2=ridge)[0]
    for value, lam in zip(found, fit.lams, strict=True):
        assert value == pytest.approx(
            _by_proximal_steps(X, y, weights[0], lam, penalty, u, ridge), rel=1e-9
        )
    assert fit.converged
    assert np.nanmax(fit.kkt) < 1e-5


def test_each_against_scipy():
    X, y, weights = _data(3, n=40, p=4, members=1)
    p, K, c, lam = 4, 3, weights[0], 2.0

    def parts(x):
        return x[:K], (x[K : K + p * K] - x[K + p * K :]).reshape(p, K)

    def value(x):
        a, W = parts(x)
        v = c[:, None] * (softmax(a + X @ W, axis=1) - np.eye(K)[y])
        G = (X.T @ v).ravel()
        loss = _objective(X, y, c, a, W, 0.0, "each")
        return loss + lam * x[K:].sum(), np.r_[v.sum(axis=0), G + lam, -G + lam]

    bounds = [(None, None)] * K + [(0.0, None)] * (2 * p * K)
    known = minimize(
        value, np.zeros(K + 2 * p * K), jac=True, bounds=bounds, method="L-BFGS-B",
        options={"ftol": 1e-15, "gtol": 1e-9, "maxiter": 5000, "maxfun": 50_000},
    )  # fmt: skip
    fit = multinomial_path_batch(X, y, [lam], weights, penalty="each", tol=1e-12)
    assert _objectives(fit, X, y, weights, "each")[0, 0] == pytest.approx(known.fun, rel=1e-9)


# --- the certificate, and the reference in NumPy


@BOTH
@pytest.mark.parametrize("lam2", [0.0, 0.4])
@pytest.mark.parametrize("free", [None, [0, 5]])
def test_the_gap_is_an_upper_bound(penalty, lam2, free):
    X, y, weights = _data(4, n=50, p=12, K=4)
    lams = [5.0, 2.0, 0.8]
    u, ridge = np.ones(12), np.full(12, lam2)
    if free is not None:
        u[free] = ridge[free] = 0.0
    settings = {"penalty": penalty, "lam2": lam2, "unpenalised": free}
    best = multinomial_path_batch(X, y, lams, weights, tol=1e-13, **settings)
    least = _objectives(best, X, y, weights, penalty, u=u, lam2=ridge)
    null = MultinomialLoss().null(np.asarray(y, dtype=float), weights).value
    for tol in (0.3, 1e-2, 1e-4, 1e-7):
        fit = multinomial_path_batch(X, y, lams, weights, tol=tol, **settings)
        excess = _objectives(fit, X, y, weights, penalty, u=u, lam2=ridge) - least
        assert fit.converged
        assert np.all(fit.gap >= 0.0)
        assert np.all(fit.gap <= tol)
        assert np.all(fit.gap * null[:, None] >= excess - 1e-11 * null[:, None])


@BOTH
def test_the_gap_is_that_of_the_reference(penalty):
    X, y, weights = _data(5, K=4, members=1)
    loss, response, c = MultinomialLoss(penalty), y.astype(float), weights[0]
    fit = multinomial_path_batch(X, y, [3.0], weights, penalty=penalty, tol=0.05)
    eta = fit.intercept[0, 0] + X @ fit.coef[0, 0]
    gradient = loss.gradient(response, c, eta)
    np.testing.assert_allclose(gradient.sum(axis=0), 0.0, atol=1e-9)
    scale = min(1.0, 3.0 / loss.pull(X.T @ gradient).max())
    value = loss.total(response, c, eta) + 3.0 * loss.charged(fit.coef[0, 0]).sum()
    gap = (value - loss.dual(response, c, eta, np.asarray(scale))) / loss.null(response, c).value
    if penalty == "group":
        assert fit.gap[0, 0] == pytest.approx(gap, rel=1e-6)
    else:  # the coefficients were moved since, and cost less
        assert gap * (1.0 - 1e-6) <= fit.gap[0, 0] <= 0.05


# --- what holds for every loss


@BOTH
@pytest.mark.parametrize("settings", [{}, {"standardize": True}, {"lam2": 0.3}], ids=str)
def test_weights_are_repetitions(penalty, settings):
    X, y, weights = _data(6)
    lams = [4.0, 1.0]
    fit = multinomial_path_batch(X, y, lams, weights, penalty=penalty, tol=1e-13, **settings)
    for b, c in enumerate(weights):
        rows = np.repeat(np.arange(len(y)), c.astype(int))
        again = multinomial_path_batch(
            X[rows], y[rows], lams, np.ones((1, rows.size)), penalty=penalty, tol=1e-13, **settings
        )
        np.testing.assert_allclose(again.coef[0], fit.coef[b], atol=2e-6)
        np.testing.assert_allclose(again.lam_max, fit.lam_max[b], rtol=1e-10)


@BOTH
def test_signs_of_columns_and_the_order_of_classes(penalty):
    X, y, weights = _data(7, K=5, n=100)
    settings = {"penalty": penalty, "tol": 1e-13}
    fit = multinomial_path_batch(X, y, [4.0, 1.0], weights, **settings)
    signs = np.array([1.0, -1.0] * 4)
    turned = multinomial_path_batch(X * signs, y, [4.0, 1.0], weights, **settings)
    np.testing.assert_allclose(turned.coef, fit.coef * signs[:, None], atol=2e-6)
    order = np.array([3, 0, 4, 1, 2])
    moved = multinomial_path_batch(X, order[y], [4.0, 1.0], weights, **settings)
    np.testing.assert_allclose(moved.coef[..., order], fit.coef, atol=2e-6)
    np.testing.assert_allclose(moved.intercept[..., order], fit.intercept, atol=2e-6)


@BOTH
def test_columns_of_any_unit_and_columns_that_repeat(penalty):
    X, y, weights = _data(17, K=4)
    X[:, 6], X[:, 7] = X[:, 0], X[:, 1] + 1e-7 * X[:, 2]
    lams = np.array([4.0, 1.0, 0.2])
    fit = multinomial_path_batch(X, y, lams, weights, penalty=penalty, tol=1e-11)
    large = multinomial_path_batch(1e6 * X, y, 1e6 * lams, weights, penalty=penalty, tol=1e-11)
    assert fit.converged
    assert large.converged
    np.testing.assert_allclose(X @ fit.coef, 1e6 * X @ large.coef, atol=1e-3)


@BOTH
def test_what_the_fit_leaves_open(penalty):
    for K in (3, 4, 5):
        X, y, weights = _data(8 + K, K=K, n=80)
        fit = multinomial_path_batch(X, y, [2.0, 0.5], weights, penalty=penalty, tol=1e-10)
        np.testing.assert_allclose(fit.intercept.mean(axis=-1), 0.0, atol=1e-12)
        identified = identified_coef(fit.coef, penalty)
        np.testing.assert_allclose(fit.coef, identified, atol=1e-12)
        assert np.array_equal(fit.n_active, np.any(fit.coef != 0.0, axis=-1).sum(axis=-1))


@BOTH
def test_more_columns_than_rows(penalty):
    X, y, weights = _data(9, n=40, p=300, K=3, members=3)
    X[:, 7] = X[:, 3]  # twice the same
    X[:, 9] = 1.0
    top = multinomial_path_batch(X, y, [1e9], weights, penalty=penalty).lam_max.max()
    lams = top * np.geomspace(1.0, 0.05, 12)
    keep = ("coef", "counts", "entry")
    fit = multinomial_path_batch(X, y, lams, weights, penalty=penalty, tol=1e-10, keep=keep)
    assert fit.converged
    assert np.nanmax(fit.gap) <= 1e-10
    loss = MultinomialLoss(penalty)
    for b, c in enumerate(weights):
        eta = fit.intercept[b, :, None] + X @ fit.coef[b]
        gradient = X.T @ loss.gradient(y.astype(float), c, eta)
        assert np.all(loss.pull(gradient) <= lams[:, None] * (1.0 + 1e-3))
    active = np.any(fit.coef != 0.0, axis=-1)
    assert np.array_equal(fit.counts, active.sum(axis=0))
    first = np.where(active.any(axis=1), fit.lams[np.argmax(active, axis=1)], 0.0)
    assert np.array_equal(fit.first_entry, first)
    assert not active[..., 9].any()


def test_threads_change_nothing():
    X, y, weights = _data(10, n=50, p=100, members=7)
    one, two = (
        multinomial_path_batch(X, y, [4.0, 2.0, 1.0], weights, n_jobs=jobs) for jobs in (1, 3)
    )
    assert np.array_equal(one.coef, two.coef)
    assert np.array_equal(one.gap, two.gap)


@BOTH
def test_tables_of_every_kind(penalty):
    rng = np.random.default_rng(11)
    values = rng.integers(0, 3, size=(60, 40)).astype(np.int8)
    y = (values[:, 0] + (rng.random(60) < 0.2)) % 3
    weights, lams = np.ones((1, 60)), [6.0, 2.0]
    known = multinomial_path_batch(
        values.astype(float), y, lams, weights, penalty=penalty, tol=1e-12
    )
    tables = (
        values,
        values.astype(np.float32),
        sparse.csc_array(values.astype(float)),
        side_by_side([int8_design(values[:, :15]), values[:, 15:].astype(float)]),
    )
    for table in tables:
        fit = multinomial_path_batch(table, y, lams, weights, penalty=penalty, tol=1e-12)
        np.testing.assert_allclose(fit.coef, known.coef, atol=2e-6)


@BOTH
@pytest.mark.parametrize("jobs", [1, 3])
def test_sparse_entries_are_what_the_penalty_charges(penalty, jobs):
    X, y, weights = _data(14, n=50, p=30, members=4)
    fit = multinomial_path_batch(
        X, y, [6.0, 3.0, 1.0], weights, penalty=penalty, keep=("coef", "sparse", "counts"),
        tol=1e-12, n_jobs=jobs,
    )  # fmt: skip
    charged = np.array([[_norm(W, penalty) for W in member] for member in fit.coef])
    assert fit.sparse.shape == (4 * 3, 30)
    np.testing.assert_allclose(fit.sparse.toarray(), charged.reshape(12, 30), atol=1e-6)
    each = (fit.sparse.toarray() > 0.0).reshape(4, 3, 30)
    np.testing.assert_array_equal(each.sum(axis=0), fit.counts)


def test_reads_of_the_table_are_counted():
    X, y, _ = _data(15, n=60, p=20)
    one, four = (multinomial_path_batch(X, y, [2.0], np.ones((members, 60))) for members in (1, 4))
    # all members are alike, and the table is prepared once
    assert one.passes >= 3.0  # prepared, moments, products before the path
    assert four.passes - 1.0 == pytest.approx(4.0 * (one.passes - 1.0))


# --- members that lack classes, limits, arguments


@BOTH
def test_classes_that_a_member_does_not_have(penalty):
    X, y, _ = _data(12, K=4)
    weights = np.stack([y != 2, y == 1, np.zeros(len(y)), np.ones(len(y))]).astype(float)
    fit = multinomial_path_batch(X, y, [3.0, 1.0], weights, penalty=penalty, tol=1e-12)
    assert fit.status[:, 0].tolist() == ["converged", "degenerate", "degenerate", "converged"]
    there = y != 2
    alone = multinomial_path_batch(
        X[there], y[there], [3.0, 1.0], np.ones((1, there.sum())), penalty=penalty, tol=1e-12
    )
    np.testing.assert_allclose(fit.coef[0][..., [0, 1, 3]], alone.coef[0], atol=2e-6)
    assert not fit.coef[0, ..., 2].any()
    assert not fit.coef[1:3].any()
    assert np.all(fit.intercept[0, :, 2] == -np.inf)
    assert alone.classes.tolist() == [0, 1, 3]


@BOTH
def test_a_penalty_of_zero_and_separated_classes(penalty):
    X, y, weights = _data(13, n=200, p=3, members=1, size=0.5)
    fit = multinomial_path_batch(X, y, [1.0, 0.0], weights, penalty=penalty, tol=1e-9)
    eta = fit.intercept[0, 1] + X @ fit.coef[0, 1]
    gradient = MultinomialLoss().gradient(y.astype(float), weights[0], eta)
    np.testing.assert_allclose(X.T @ gradient, 0.0, atol=1e-3)
    apart = multinomial_path_batch(
        np.c_[y, np.ones(200)], y, [20.0, 1.0, 1e-3], weights, penalty=penalty, tol=1e-8
    )
    assert apart.converged
    assert np.isfinite(apart.coef).all()


def test_a_member_stops_at_its_limit():
    X, y, weights = _data(14, p=30)
    lams = np.geomspace(20.0, 0.5, 10)
    whole = multinomial_path_batch(X, y, lams, weights)
    fit = multinomial_path_batch(X, y, lams, weights, max_active=4)
    for b in range(2):
        stop = int(np.argmax(whole.n_active[b] > 4))
        assert np.all(fit.status[b, stop:] == "stopped")
        assert np.all(fit.n_active[b, stop:] == -1)
        assert np.array_equal(fit.coef[b, :stop], whole.coef[b, :stop])
        assert not fit.coef[b, stop:].any()


def test_labels_progress_and_penalties_of_each_member():
    X, y, weights = _data(15)
    names = np.array(["pear", "apple", "fig"])
    told = []
    lams = [[3.0, 1.0], [2.0, 4.0]]
    fit = multinomial_path_batch(
        X, names[y], lams, weights, progress=lambda done, all_: told.append((done, all_))
    )
    assert fit.classes.tolist() == ["apple", "fig", "pear"]
    assert told[-1] == (2, 2)
    assert fit.lams.tolist() == [[3.0, 1.0], [4.0, 2.0]]
    second = multinomial_path_batch(X, y, [4.0, 2.0], weights[1:])
    np.testing.assert_allclose(fit.coef[1][..., [2, 0, 1]], second.coef[0], atol=1e-3)
    both = multinomial_path_batch(X, np.stack([y, y]), [4.0, 2.0], weights)
    assert np.array_equal(both.coef[1], second.coef[0])
    assert repr(fit).startswith("MultinomialBatch(2 members, 2 penalties, 3 classes, converged")


def test_progress_can_stop_the_work():
    X, y, weights = _data(16)

    def fail(done, members):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        multinomial_path_batch(X, y, [1.0], weights, progress=fail)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"y": [0, 1]}, "y must have shape"),
        ({"weights": np.ones((1, 3))}, "weights must have shape"),
        ({"lams": np.ones((3, 2))}, "lams must have shape"),
        ({"lam2": [1.0, 2.0, 3.0]}, "lam2 must be"),
        ({"penalty": "all"}, "penalty"),
        ({"penalty_weights": np.ones(2)}, "penalty_weights must have shape"),
        ({"unpenalised": [8]}, "unpenalised must be"),
        ({"keep": "moments"}, "keep"),
    ],
    ids=str,
)
def test_arguments_that_do_not_fit(changed, message):
    X, y, weights = _data()
    given = {"X": X, "y": y, "lams": [1.0], "weights": weights} | changed
    with pytest.raises(ArgumentError, match=message):
        multinomial_path_batch(**given)
