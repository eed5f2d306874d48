"""The ensemble engine against scikit-learn, against definitions, and at its boundaries."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from sklearn.linear_model import Lasso

from selica._core.errors import ArgumentError
from selica._core.losses import loss_of
from selica.solvers import lasso_batch, lasso_path_batch
from selica.solvers.ensemble import make_problem, solve_part


def _problem(seed, n=None, p=None, members=3):
    rng = np.random.default_rng(seed)
    n = n or int(rng.integers(2, 80))
    p = p or int(rng.integers(1, 120))
    X = rng.standard_normal((n, p)) * rng.uniform(0.3, 3.0, p)
    if seed % 5 == 1 and p > 3:
        X[:, 1] = X[:, 0]  # duplicated
        X[:, 2] = -2.0 * X[:, 0]
    if seed % 5 == 2 and p > 3:
        X[:, 1] = 1.7  # constant
        X[:, 2] = 0.0
    if seed % 5 == 3 and p > 3:
        X += 2.0 * rng.standard_normal((n, 1))  # correlated
    w = np.where(rng.random(p) < 0.2, rng.standard_normal(p), 0.0)
    y = X @ w + rng.standard_normal(n)
    weights = rng.multinomial(n, np.full(n, 1 / n), size=members).astype(float)
    if seed % 3 == 0:
        weights = rng.exponential(size=(members, n))
    top = max(np.abs(c * y @ X).max() for c in weights)
    lams = top * np.geomspace(1.1, 0.02, 8)
    return X, y, weights, lams


def _objective(X, y, c, lam, w, a=0.0, u=1.0):
    return 0.5 * np.sum(c * (y - a - X @ w) ** 2) + lam * np.sum(u * np.abs(w))


@pytest.mark.parametrize("seed", range(100))
def test_against_scikit_learn(seed):
    X, y, weights, lams = _problem(seed)
    intercept = bool(seed % 2)
    fit = lasso_path_batch(X, y, lams, weights, fit_intercept=intercept, tol=1e-10)
    assert fit.converged, fit.gap.max()
    assert np.nanmax(fit.gap) <= 1e-10
    for m, c in enumerate(weights):
        for step in (2, 5, 7):
            peer = Lasso(alpha=lams[step] / c.sum(), fit_intercept=intercept, tol=1e-13)
            peer.max_iter = 200_000
            used = c > 0
            with np.errstate(all="ignore"):
                peer.fit(X[used], y[used], sample_weight=c[used])
            ours = _objective(X, y, c, lams[step], fit.coef[m, step], fit.intercept[m, step])
            theirs = _objective(X, y, c, lams[step], peer.coef_, peer.intercept_)
            half = 0.5 * np.sum(c * y**2)
            assert ours <= theirs + 1e-10 * half
            assert ours >= theirs - 1e-6 * half
            # the fit is unique even where the coefficients are not
            np.testing.assert_allclose(
                np.sqrt(c) * (X @ fit.coef[m, step] + fit.intercept[m, step]),
                np.sqrt(c) * (X @ peer.coef_ + peer.intercept_),
                atol=2e-3 * np.sqrt(half),
            )


@pytest.mark.parametrize("seed", range(20))
def test_certificate_is_right(seed):
    X, y, weights, lams = _problem(seed)
    fit = lasso_path_batch(X, y, lams, weights)
    for m, c in enumerate(weights):
        half = 0.5 * np.sum(c * y**2)
        for step, lam in enumerate(lams):
            w = fit.coef[m, step]
            r = y - X @ w
            slope = X.T @ (c * r)
            scale = min(1.0, lam / max(np.abs(slope).max(), 1e-300))
            dual = scale * np.sum(c * r * y) - 0.5 * scale**2 * np.sum(c * r * r)
            gap = (_objective(X, y, c, lam, w) - dual) / half
            assert fit.gap[m, step] == pytest.approx(gap, abs=1e-11)
            active = w != 0
            off = np.abs(slope[active] - lam * np.sign(w[active])).max(initial=0.0)
            off = max(off, (np.abs(slope[~active]) - lam).max(initial=0.0))
            assert fit.kkt[m, step] == pytest.approx(off, abs=1e-9 * lams[0])
            assert fit.n_active[m, step] == np.count_nonzero(w)


def test_rows_of_weight_zero_and_repeated_rows():
    X, y, weights, lams = _problem(4, n=30, p=50)
    fit = lasso_path_batch(X, y, lams, weights)
    for m, c in enumerate(weights):
        repeat = np.repeat(np.arange(30), c.astype(int))
        one = lasso_path_batch(X[repeat], y[repeat], lams, np.ones((1, repeat.size)))
        np.testing.assert_allclose(fit.coef[m], one.coef[0], atol=1e-9)


def test_standardized_columns_and_penalty_weights():
    X, y, weights, lams = _problem(5, n=40, p=20)
    u = np.linspace(0.5, 2.0, 20)
    fit = lasso_path_batch(X, y, lams, weights, u, fit_intercept=True, standardize=True, tol=1e-10)
    for m, c in enumerate(weights):
        mean = c @ X / c.sum()
        sd = np.sqrt(c @ X**2 / c.sum() - mean**2)
        Z = (X - mean) / sd
        one = lasso_path_batch(Z / u, y, lams, c[None], fit_intercept=True, tol=1e-10)
        np.testing.assert_allclose(fit.coef[m], one.coef[0] / u / sd, atol=1e-8)
        np.testing.assert_allclose(
            fit.intercept[m] + mean @ fit.coef[m].T, one.intercept[0], atol=1e-8
        )


def test_unpenalised_variables_are_always_in():
    X, y, weights, lams = _problem(7, n=40, p=30)
    u = np.ones(30)
    u[[3, 8]] = 0.0
    fit = lasso_path_batch(X, y, lams, weights, u)
    assert np.all(fit.coef[:, :, [3, 8]] != 0.0)
    assert fit.converged
    few = np.flatnonzero(u == 0)
    root = np.sqrt(weights[0])
    expected = np.linalg.lstsq(root[:, None] * X[:, few], root * y, rcond=None)[0]
    huge = lasso_path_batch(X, y, [1e9], weights[:1], u)
    np.testing.assert_allclose(huge.coef[0, 0, few], expected, rtol=1e-9)


def test_responses_and_penalties_of_each_member():
    X, y, weights, lams = _problem(8, n=35, p=60)
    Y = np.stack([y, -y, 2 * y])
    own = lams * np.array([[1.0], [0.7], [2.0]])
    fit = lasso_path_batch(X, Y, own, weights)
    for m in range(3):
        one = lasso_path_batch(X, Y[m], own[m], weights[m : m + 1])
        np.testing.assert_allclose(fit.coef[m], one.coef[0], atol=1e-10)
    batch = lasso_batch(X, y, own[:, 3], weights)
    for m in range(3):
        one = lasso_path_batch(X, y, own[m, 3:4], weights[m : m + 1])
        np.testing.assert_allclose(batch.coef[m, 0], one.coef[0, 0], atol=1e-10)


def test_what_is_kept_agrees_with_the_coefficients():
    X, y, weights, lams = _problem(9, n=50, p=70, members=40)
    fit = lasso_path_batch(X, y, lams, weights, keep=["coef", "counts", "moments", "entry"])
    np.testing.assert_array_equal(fit.counts, np.count_nonzero(fit.coef, axis=0))
    np.testing.assert_allclose(fit.mean, fit.coef.mean(axis=0), atol=1e-12)
    np.testing.assert_allclose(fit.second_moment, (fit.coef**2).mean(axis=0), atol=1e-12)
    first = np.where(fit.coef != 0, fit.lams[None, :, None], 0.0).max(axis=1)
    np.testing.assert_array_equal(fit.first_entry, first)
    thin = lasso_path_batch(X, y, lams, weights, keep="sparse").sparse
    np.testing.assert_array_equal(thin.toarray().reshape(fit.coef.shape), fit.coef)
    lean = lasso_path_batch(X, y, lams, weights, keep="counts")
    assert lean.coef is None
    assert lean.mean is None
    np.testing.assert_array_equal(lean.counts, fit.counts)


def test_a_member_stops_before_too_many_variables():
    X, y, weights, lams = _problem(10, n=60, p=80, members=5)
    full = lasso_path_batch(X, y, lams, weights)
    fit = lasso_path_batch(X, y, lams, weights, max_active=4)
    for m in range(5):
        over = np.flatnonzero(full.n_active[m] > 4)
        stop = over[0] if over.size else lams.size
        np.testing.assert_array_equal(fit.n_active[m, :stop], full.n_active[m, :stop])
        assert np.all(fit.n_active[m, stop:] == -1)
        assert np.all(fit.status[m, stop:] == "stopped")
        assert np.all(fit.coef[m, stop:] == 0.0)


@pytest.mark.parametrize("p", [90, 4000])
def test_chunks_do_not_show(p):
    """A small design is multiplied for each member alone, a large one for a chunk at a time."""
    X, y, weights, lams = _problem(11, n=40, p=p, members=37)
    problem = make_problem(X, y, lams, weights, loss_of("squared"))
    together = solve_part(problem, chunk=37).kept
    for size in (1, 2, 8):
        np.testing.assert_allclose(
            solve_part(problem, chunk=size).kept.coef, together.coef, atol=1e-10
        )


def test_workers_give_the_same_bits():
    X, y, weights, lams = _problem(12, n=40, p=60, members=70)
    serial = lasso_path_batch(X, y, lams, weights, keep=["coef", "counts"])
    shared = lasso_path_batch(X, y, lams, weights, keep=["coef", "counts"], n_jobs=2)
    np.testing.assert_array_equal(serial.coef, shared.coef)
    np.testing.assert_array_equal(serial.counts, shared.counts)


@pytest.mark.parametrize(("n", "p"), [(1, 1), (1, 5), (2, 1), (5, 1), (3, 40)])
def test_tiny_problems(n, p):
    X, y, _, _ = _problem(14, n=n, p=p)
    weights = np.ones((2, n))
    weights[1] = 0.0
    top = np.abs(X.T @ y).max()
    fit = lasso_path_batch(X, y, [2 * top, 0.5 * top, 0.0], weights)
    assert fit.converged
    assert np.all(fit.coef[0, 0] == 0.0)
    assert np.all(fit.coef[1] == 0.0)
    if n >= p:
        np.testing.assert_allclose(
            X @ fit.coef[0, 2], X @ np.linalg.lstsq(X, y, rcond=None)[0], atol=1e-6
        )


def test_zero_response_and_largest_penalty():
    X, y, weights, lams = _problem(15, n=20, p=30)
    fit = lasso_path_batch(X, np.zeros(20), lams, weights)
    assert np.all(fit.coef == 0.0)
    assert fit.converged
    for c in weights:
        top = np.abs(X.T @ (c * y)).max()
        fit = lasso_path_batch(X, y, [top * (1 + 1e-9), top * 0.999], c[None])
        assert fit.n_active[0].tolist() == [0, 1]


def test_metamorphic_relations():
    X, y, weights, lams = _problem(16, n=40, p=25)
    base = lasso_path_batch(X, y, lams, weights)
    rng = np.random.default_rng(0)
    order, sign = rng.permutation(25), rng.choice([-1.0, 1.0], 25)
    moved = lasso_path_batch((X * sign)[:, order], y, lams, weights)
    np.testing.assert_allclose(moved.coef, (base.coef * sign)[:, :, order], atol=1e-10)
    scaled = lasso_path_batch(X, 3 * y, 3 * lams, weights)
    np.testing.assert_allclose(scaled.coef, 3 * base.coef, atol=1e-9)
    heavy = lasso_path_batch(X, y, 2 * lams, 2 * weights)
    np.testing.assert_allclose(heavy.coef, base.coef, atol=1e-10)


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"X": [[1.0, np.nan], [0.0, 1.0]]}, "X"),
        ({"X": "table"}, "X"),
        ({"X": np.ones(3)}, "X"),
        ({"y": [1.0, 2.0, 3.0]}, "y"),
        ({"y": [1.0, np.inf]}, "y"),
        ({"lams": [-1.0]}, "lams"),
        ({"lams": np.ones((3, 2))}, "lams"),
        ({"weights": np.ones(2)}, "weights"),
        ({"weights": -np.ones((1, 2))}, "weights"),
        ({"weights": np.ones((1, 5))}, "weights"),
        ({"penalty_weights": [1.0]}, "penalty_weights"),
        ({"penalty_weights": [1.0, -1.0]}, "penalty_weights"),
        ({"keep": "everything"}, "keep"),
        ({"max_active": -1}, "max_active"),
        ({"max_active": 1.5}, "max_active"),
        ({"tol": 0.0}, "tol"),
        ({"max_iter": 0}, "max_iter"),
    ],
)
def test_bad_input_is_named(change, name):
    good = {"X": np.eye(2), "y": [1.0, 2.0], "lams": [0.1], "weights": np.ones((1, 2))}
    with pytest.raises(ArgumentError, match=name):
        lasso_path_batch(**(good | change))


def test_arrays_may_be_read_only_and_in_any_order():
    X, y, weights, lams = _problem(11, n=40, p=90, members=9)
    fit = lasso_path_batch(X, y, lams, weights)
    for array in (X, y, weights, lams):
        array.setflags(write=False)
    for other in (X, np.asfortranarray(X), np.repeat(X, 2, axis=1)[:, ::2]):
        again = lasso_path_batch(other, y, lams, weights.astype(int), np.broadcast_to(1.0, 90))
        np.testing.assert_array_equal(again.coef, fit.coef)


def test_numbers_beyond_single_precision():
    X, y, weights, lams = _problem(13, n=30, p=40)
    fit = lasso_path_batch(X, y, lams, weights)
    for scale in (1e-30, 1e25):
        other = lasso_path_batch(X * scale, y, lams * scale, weights)
        np.testing.assert_allclose(other.coef * scale, fit.coef, atol=1e-9)
        other = lasso_path_batch(X, y * scale, lams * scale, weights)
        np.testing.assert_allclose(other.coef / scale, fit.coef, atol=1e-9)


def test_columns_far_from_zero():
    X, y, weights, lams = _problem(14, n=30, p=40)
    fit = lasso_path_batch(X, y, lams, weights, fit_intercept=True)
    far = lasso_path_batch(X + 1e6, y, lams, weights, fit_intercept=True)
    np.testing.assert_allclose(far.coef, fit.coef, atol=1e-7)


@pytest.mark.parametrize("lam", [0.0, 1e-6])
def test_one_small_penalty_without_a_path(lam):
    rng = np.random.default_rng(8)
    X, y = rng.standard_normal((60, 300)), rng.standard_normal(60)
    fit = lasso_batch(X, y, lam, np.ones((2, 60)))
    assert fit.converged
    np.testing.assert_allclose(X @ fit.coef[0, 0], y, atol=1e-5)


def test_progress_is_told_of_every_chunk():
    X, y, weights, lams = _problem(11, n=40, p=90, members=50)
    told = []
    lasso_path_batch(X, y, lams, weights, progress=lambda done, of: told.append((done, of)))
    assert told[-1] == (50, 50)
    assert len(told) > 1
    assert told == sorted(told)


def test_one_column_beyond_single_precision():
    X, y, weights, lams = _problem(14, n=30, p=40)
    fit = lasso_path_batch(X, y, lams, weights, standardize=True)
    tiny = X.copy()
    tiny[:, np.argmax(np.abs(fit.coef).max(axis=(0, 1)))] *= 1e-42
    other = lasso_path_batch(tiny, y, lams, weights, standardize=True)
    np.testing.assert_array_equal(other.n_active, fit.n_active)


def test_memory_does_not_grow_with_the_width_of_a_table():
    """One member of 100 x 50,000 once asked for 20 GB, and for 320 GB at 200,000 columns."""
    code = (
        "import resource, numpy as np\n"
        "from selica.solvers import lasso_batch\n"
        "X = np.random.default_rng(0).standard_normal((50, 50_000))\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "lasso_batch(X, X[:, 0], 5.0, np.ones((1, 50)), keep='counts')\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 200_000  # kilobytes; the table has 20,000
