"""Vector message passing against dense algebra, single fits and Monte Carlo."""

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import expit, roots_hermitenorm

from selica._core.counts import count_law
from selica._core.errors import ArgumentError
from selica._core.losses import loss_of
from selica.amp import stability_amp, stability_vamp
from selica.amp.couplings import Beliefs, Rotated, Tall, Wide
from selica.amp.outputs import output_of
from selica.sampling import resample_weights, simulate
from selica.solvers import lasso_path_batch, logistic_path_batch
from tests.amp.instances import rms

FORMS = ("diagonal", "restricted")
NUMBERS = (
    "selection_probabilities", "coef", "coef_variance", "field", "field_variance", "precision",
    "ensemble_error", "residual",
)  # fmt: skip


def frequencies(X, y, lam, scheme="poisson", rate=1.0, weakness=1.0, members=2000, binary=False):
    """Share of the members that select a variable, and its standard error."""
    c = resample_weights(X.shape[0], members, scheme, rate, random_state=11)
    rng = np.random.default_rng(12)
    u = np.where(rng.random((members, X.shape[1])) < 0.5, 1.0 / weakness, 1.0)
    fit = logistic_path_batch if binary else lasso_path_batch
    batch = fit(X, y, np.atleast_1d(lam), c, u, fit_intercept=False, keep="counts")
    P = batch.counts / members
    return P, np.sqrt(np.mean(P * (1.0 - P) / members, axis=-1))


def article(correlation, seed):
    """The data of the reference table: 100 rows, 200 variables, 20 of them relevant."""
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((100, 200))
    X = Z.copy()
    for j in range(1, 200):
        X[:, j] = correlation * X[:, j - 1] + np.sqrt(1.0 - correlation**2) * Z[:, j]
    X /= np.sqrt(200)
    w = np.zeros(200)
    w[rng.permutation(200)[:20]] = np.sqrt(10.0) * rng.standard_normal(20)
    return X, X @ w + 0.1 * rng.standard_normal(100)


# the linear part


def beliefs(rng, n, p, own=None):
    def positive(size):
        return rng.uniform(0.2, 2.0, size if own is None else own)

    return Beliefs(
        rng.standard_normal(p), positive(p), positive(p), rng.standard_normal(n), positive(n),
        positive(n),
    )  # fmt: skip


def dense(X, b):
    """Means, responses and variances of variables and predictors, by definition."""
    Xi = np.linalg.inv(np.diag(1.0 / b.S) + X.T @ np.diag(b.D) @ X)
    Y = np.diag(b.tau / b.S**2) + X.T @ np.diag(b.D**2 * b.sigma2) @ X
    x = Xi @ (b.mu / b.S + X.T @ (b.D * b.u))
    cov = Xi @ Y @ Xi
    return (
        (x, np.diag(Xi), np.diag(cov)),
        (X @ x, np.diag(X @ Xi @ X.T), np.diag(X @ cov @ X.T)),
    )


@pytest.mark.parametrize(("kind", "shape"), [(Wide, (5, 8)), (Tall, (8, 5)), (Tall, (6, 6))])
def test_coupling_takes_out_what_was_put_in(kind, shape):
    rng = np.random.default_rng(0)
    X, b = rng.standard_normal(shape), beliefs(rng, *shape)
    (x, chi_x, v_x), (z, chi_z, v_z) = dense(X, b)
    at = kind(X)(b)
    np.testing.assert_allclose(at.Q_hat, 1.0 / chi_x - 1.0 / b.S, rtol=1e-9)
    np.testing.assert_allclose(at.g, x / chi_x - b.mu / b.S, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(at.v_hat, v_x / chi_x**2 - b.tau / b.S**2, rtol=1e-8)
    np.testing.assert_allclose(1.0 / at.chi, 1.0 / chi_z - b.D, rtol=1e-8)
    np.testing.assert_allclose(at.omega / at.chi, z / chi_z - b.D * b.u, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(at.v / at.chi**2, v_z / chi_z**2 - b.D**2 * b.sigma2, rtol=1e-7)


@pytest.mark.parametrize("shape", [(5, 8), (8, 5)])
def test_rotated_coupling_averages_the_dense_one(shape):
    rng = np.random.default_rng(1)
    n, p = shape
    X, b = rng.standard_normal(shape), beliefs(rng, n, p, own=1)
    spread = Beliefs(*(np.broadcast_to(part, (p if k < 3 else n,)) for k, part in enumerate(b)))
    (x, chi_x, v_x), (z, chi_z, v_z) = dense(X, spread)
    at = Rotated(X)(b)
    chi, row = chi_x.mean(), chi_z.mean()
    np.testing.assert_allclose(at.Q_hat, 1.0 / chi - 1.0 / b.S, rtol=1e-9)
    np.testing.assert_allclose(at.g, x / chi - b.mu / b.S, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(at.v_hat, v_x.mean() / chi**2 - b.tau / b.S**2, rtol=1e-8)
    np.testing.assert_allclose(1.0 / at.chi, 1.0 / row - b.D, rtol=1e-8)
    np.testing.assert_allclose(at.omega / at.chi, z / row - b.D * b.u, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(at.v / at.chi**2, v_z.mean() / row**2 - b.D**2 * b.sigma2, rtol=1e-7)


# the rows


@pytest.mark.parametrize("kind", ["squared", "logistic"])
def test_rows_answer_as_their_members_do(kind):
    rng = np.random.default_rng(2)
    y, law = np.array([1.0, 0.0, 1.0]), count_law("poisson", np.array([1.0]))
    omega, chi, v = (
        rng.standard_normal((3, 1)),
        np.array([[0.3], [8.0], [60.0]]),
        1.3 * np.ones((3, 1)),
    )
    answer = output_of(loss_of(kind), y, law)(omega, chi, v)
    node, gauss = roots_hermitenorm(80)
    gauss = gauss / gauss.sum()
    for k in range(3):
        G, slope, share = [], [], []
        for c, chance in zip(law.weight[0], law.probability[0], strict=True):
            for eta, weight in zip(node, gauss, strict=True):
                field, pull = omega[k, 0] + np.sqrt(v[k, 0]) * eta, c * chi[k, 0]
                if kind == "squared":
                    g, curvature = c / (1.0 + pull) * (y[k] - field), c
                else:
                    z = brentq(
                        lambda z, f=field, a=pull, t=y[k]: z - f - a * (t - expit(z)),
                        field - pull - 1.0, field + pull + 1.0, xtol=1e-12,
                    )  # fmt: skip
                    g, curvature = c * (y[k] - expit(z)), c * expit(z) * expit(-z)
                G.append(g)
                slope.append(curvature / (1.0 + chi[k, 0] * curvature))
                share.append(chance * weight)
        mean, flat = np.dot(share, G), np.dot(share, slope)
        excess = np.dot(share, np.square(G)) - mean**2 - v[k, 0] * flat**2
        tol = 1e-9 if kind == "squared" else 1e-3
        np.testing.assert_allclose(answer.mean[k, 0], mean, rtol=tol)
        np.testing.assert_allclose(answer.slope[k, 0], flat, rtol=tol)
        np.testing.assert_allclose(answer.excess[k, 0], excess, rtol=5 * tol)


# one method becomes another


@pytest.mark.parametrize("shape", [(120, 30), (50, 80)])
def test_without_resampling_it_is_the_lasso(shape):
    data = simulate(*shape, 6, snr=5.0, covariance=("ar1", 0.6), random_state=3)
    lam = 0.2 * np.abs(data.X.T @ data.y).max()
    found = stability_vamp(data.X, data.y, lam, resampling="bernoulli", tol=1e-8)
    w = lasso_path_batch(data.X, data.y, [lam], np.ones((1, shape[0])), tol=1e-12).coef[0, 0]
    assert found.converged
    np.testing.assert_array_equal(found.selection_probabilities.round(9), w != 0.0)
    np.testing.assert_allclose(found.coef, w, atol=2e-4 * np.abs(w).max())


def test_independent_columns_give_what_the_simpler_algorithm_gives():
    data = simulate(300, 400, 20, snr=5.0, random_state=4)
    lam = 0.2 * np.abs(data.X.T @ data.y).max()
    simple = stability_amp(data.X, data.y, lam)
    for form, far in (("diagonal", 0.01), ("restricted", 0.015)):
        found = stability_vamp(data.X, data.y, lam, form=form)
        assert found.converged
        assert rms(found.selection_probabilities - simple.selection_probabilities) < far
        assert found.ensemble_error == pytest.approx(simple.ensemble_error, rel=0.05)


# Monte Carlo


@pytest.mark.parametrize(
    ("shape", "covariance"),
    [((100, 200), ("ar1", 0.5)), ((150, 100), ("ar1", 0.9)), ((150, 150), ("block", 0.8, 10))],
)
def test_probabilities_are_those_of_many_fits(shape, covariance):
    data = simulate(*shape, 10, snr=4.0, covariance=covariance, random_state=5)
    lam = np.abs(data.X.T @ data.y).max() * np.array([0.4, 0.15])
    P, noise = frequencies(data.X, data.y, lam)
    found = stability_vamp(data.X, data.y, lam)
    assert found.converged
    for k in range(2):
        assert rms(found.selection_probabilities[k] - P[k]) < 1.5 * noise[k] + 0.006
    restricted = stability_vamp(data.X, data.y, lam, form="restricted")
    assert restricted.converged
    assert rms(restricted.selection_probabilities - P) < 0.06


@pytest.mark.parametrize(
    ("resampling", "scheme", "rate", "weakness"),
    [
        ("poisson", "poisson", 2.0, 1.0),
        ("poisson", "poisson", 0.5, 0.5),
        ("bernoulli", "subsample", 0.5, 1.0),
        ("exponential", "exponential", 1.0, 1.0),
    ],
)
def test_every_resampling_scheme(resampling, scheme, rate, weakness):
    data = simulate(150, 100, 10, snr=4.0, covariance=("ar1", 0.7), random_state=6)
    lam = 0.2 * rate * np.abs(data.X.T @ data.y).max()
    P, noise = frequencies(data.X, data.y, lam, scheme, rate, weakness)
    found = stability_vamp(data.X, data.y, lam, rate, resampling=resampling, weakness=weakness)
    assert found.converged
    assert rms(found.selection_probabilities - P[0]) < 1.5 * noise[0] + 0.006


@pytest.mark.parametrize("covariance", ["identity", ("ar1", 0.5)])
def test_labels(covariance):
    data = simulate(200, 80, 8, covariance=covariance, response="logistic", random_state=7)
    lam = np.abs(data.X.T @ (data.y - 0.5)).max() * np.array([0.5, 0.25, 0.1])
    P, noise = frequencies(data.X, data.y, lam, binary=True)
    found = stability_vamp(data.X, data.y, lam, response="binary")
    assert found.converged
    for k in range(3):
        assert rms(found.selection_probabilities[k] - P[k]) < 1.5 * noise[k] + 0.006


@pytest.mark.slow
@pytest.mark.parametrize(
    ("correlation", "rate", "weakness", "published"),
    [
        (0.0, 1.0, 1.0, 0.0091),
        (0.0, 0.5, 0.5, 0.0067),
        (0.7, 1.0, 1.0, 0.0088),
        (0.7, 0.5, 0.5, 0.0065),
    ],
)
def test_as_close_as_published(correlation, rate, weakness, published):
    errors = []
    for seed in range(3):
        X, y = article(correlation, seed)
        P, _ = frequencies(X, y, 0.3, "poisson", rate, weakness, members=3000)
        found = stability_vamp(X, y, 0.3, rate, weakness=weakness)
        errors.append(rms(found.selection_probabilities - P[0]))
    assert np.mean(errors) < published + 0.001


# metamorphic


@pytest.mark.parametrize("form", FORMS)
def test_order_sign_and_unit(form):
    data = simulate(60, 40, 5, snr=4.0, covariance=("ar1", 0.5), random_state=8)
    lam = 0.3 * np.abs(data.X.T @ data.y).max()
    one = stability_vamp(data.X, data.y, lam, form=form, tol=1e-9)
    order = np.random.default_rng(0).permutation(40)
    sign = np.where(np.arange(40) % 2, 1.0, -1.0)
    other = stability_vamp(
        1e30 * (data.X * sign)[:, order], 1e-20 * data.y, 1e10 * lam, form=form, tol=1e-9
    )
    assert one.converged
    assert other.converged
    np.testing.assert_allclose(
        other.selection_probabilities, one.selection_probabilities[order], atol=1e-6
    )
    np.testing.assert_allclose(1e50 * other.coef, (one.coef * sign)[order], atol=1e-6)
    np.testing.assert_allclose(1e-10 * other.field, (one.field * sign)[order], atol=1e-5 * lam)
    np.testing.assert_allclose(1e-60 * other.precision, one.precision[order], rtol=1e-5)


def test_a_column_in_another_unit_has_another_penalty():
    data = simulate(60, 30, 5, snr=4.0, random_state=9)
    lam = 0.2 * np.abs(data.X.T @ data.y).max()
    X = data.X.copy()
    X[:, 0] *= 1e-6  # a coefficient a million times as large: never selected
    found = stability_vamp(X, data.y, lam)
    without = stability_vamp(data.X[:, 1:], data.y, lam)
    assert found.selection_probabilities[0] == 0.0
    np.testing.assert_allclose(
        found.selection_probabilities[1:], without.selection_probabilities, atol=1e-4
    )


def test_penalties_come_back_in_their_order():
    data = simulate(80, 50, 5, snr=4.0, covariance=("ar1", 0.5), random_state=10)
    lam = np.abs(data.X.T @ data.y).max() * np.array([0.2, 0.6, 0.35])
    path = stability_vamp(data.X, data.y, lam)
    assert path.selection_probabilities.shape == (3, 50)
    for k in range(3):
        alone = stability_vamp(data.X, data.y, lam[k])
        assert alone.status == "converged"
        np.testing.assert_allclose(
            path.at(k).selection_probabilities, alone.selection_probabilities, atol=1e-4
        )


# the edge


def edge_cases():
    rng = np.random.default_rng(13)
    X = rng.standard_normal((30, 12))
    y = 2.0 * X[:, 0] + rng.standard_normal(30)
    twins, empty, outlier = X.copy(), X.copy(), X.copy()
    twins[:, 3], twins[:, 4] = X[:, 0], -X[:, 0]
    empty[:, 3] = 0.0
    outlier[0] *= 1e8
    yield "twins", twins, y, 3.0
    yield "one column twelve times", np.repeat(X[:, :1], 12, axis=1), y, 3.0
    yield "empty column", empty, y, 3.0
    yield "empty table", 0.0 * X, y, 3.0
    yield "no response", X, 0.0 * y, 3.0
    yield "constant column", np.c_[X, np.ones(30)], y, 3.0
    yield "outlier", outlier, y, 3.0
    yield "tiny penalty", X, y, 1e-10
    yield "huge penalty", X, y, 1e300
    yield "huge scales", 1e74 * X, 1e74 * y, 3e148
    yield "tiny scales", 1e-74 * X, 1e-74 * y, 1e-12
    for n, p in ((1, 1), (1, 4), (2, 1), (2, 5), (5, 1), (3, 200)):
        yield f"{n} x {p}", rng.standard_normal((n, p)), rng.standard_normal(n), 0.1


@pytest.mark.parametrize("response", ["linear", "binary"])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("case", list(edge_cases()), ids=lambda case: case[0])
def test_always_ends_with_numbers(case, form, response):
    _, X, y, lam = case
    y = y if response == "linear" else (y > 0.0).astype(float)
    found = stability_vamp(X, y, lam, response=response, form=form, max_iter=60)
    for name in NUMBERS:
        assert np.isfinite(getattr(found, name)).all(), name
    P = found.selection_probabilities
    assert P.min() >= 0.0
    assert P.max() <= 1.0 + 1e-12
    assert found.status in ("converged", "max_iter", "nonfinite")
    assert found.iterations <= 60


@pytest.mark.parametrize("form", FORMS)
def test_nothing_is_selected_by_a_large_penalty(form):
    data = simulate(50, 70, 5, snr=4.0, random_state=14)
    X = np.c_[data.X, np.zeros(50)]
    found = stability_vamp(X, data.y, 20.0 * np.abs(data.X.T @ data.y).max(), form=form)
    assert found.converged
    assert found.selection_probabilities.max() < 1e-12
    assert np.all(np.abs(found.coef) < 1e-12)
    assert found.ensemble_error == pytest.approx(np.mean(data.y**2))
    small = stability_vamp(X, data.y, 1.0, form=form)
    assert small.selection_probabilities[-1] == 0.0  # an empty column


@pytest.mark.parametrize(
    ("changed", "match"),
    [
        ({"form": "scalar"}, "form"),
        ({"response": "binary"}, "y must hold 0 and 1 only"),
        ({"response": "counts"}, "response"),
        ({"resampling": "jackknife"}, "resampling"),
        ({"weakness": 0.0}, "weakness"),
        ({"lam": -1.0}, "lam"),
        ({"resample_rate": [1.0, 2.0]}, "resample_rate"),
        ({"y": np.ones(3)}, "y must have"),
        ({"X": np.full((4, 2), 1e80)}, "too large"),
    ],
)
def test_bad_input_is_named(changed, match):
    good = {"X": np.eye(4)[:, :2], "y": np.arange(4.0), "lam": 1.0}
    with pytest.raises(ArgumentError, match=match):
        stability_vamp(**{**good, **changed})
