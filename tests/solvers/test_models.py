"""Counts, times of events and classes: fits with known answers, and what holds for all of them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from selica._core.losses import CoxLoss, LogisticLoss, MultinomialLoss, PoissonLoss
from selica.solvers import logistic_path_batch, multinomial_path_batch
from selica.solvers.ensemble import make_problem, solve
from tests.core.test_cox_loss import hessian, some, terms
from tests.oracles.classes import identified_coef

X = np.array([
    [1.0, 0.5, -0.3], [-0.8, 1.2, 0.4], [0.3, -1.0, 1.1], [1.5, 0.2, -0.9],
    [-1.2, -0.7, 0.6], [0.1, 0.9, -1.4], [0.7, -0.4, 0.2], [-0.5, 0.6, 0.8],
])  # fmt: skip
ONES = np.ones(8)
COUNTS = np.array([3.0, 0, 1, 5, 0, 2, 2, 1])
EXPOSED = np.column_stack([COUNTS, np.log([1, 1.5, 1, 2, 0.5, 1, 1.2, 0.8])])
OF_COUNTS = np.array([1.0, 2, 0, 1, 3, 1, 1, 2])
TIMES = np.column_stack([[2.0, 3, 3, 5, 5, 7, 8, 9], [1, 1, 0, 1, 1, 0, 1, 0]])
OF_TIMES = np.array([1.0, 2, 1, 1, 3, 0, 1, 2])
STRATUM = np.array([0.0, 0, 1, 0, 1, 1, 0, 1])
ENTRY = np.array([0, 1, 0, 2.5, 3, 0, 5, 4])
CLASSES = np.array([0.0, 1, 2, 0, 1, 2, 0, 1])
LABELS = np.array([1.0, 0, 1, 1, 0, 0, 1, 0])


def fit(loss, X, y, lams, weights, **settings):
    """Fit members: y has shape (n,) or (n, width), weights (B, n)."""
    given = {"fit_intercept": loss.identified, "tol": 1e-14, "max_iter": 2000} | settings
    return solve(make_problem(X, y, np.atleast_1d(np.array(lams, float)), weights, loss, **given))


def objective(loss, y, c, found, lam, penalty_weights=1.0, design=X):
    """What the first fit of the first member costs."""
    w = found.coef[0, 0]
    eta = design @ w + found.intercept[0, 0]
    return float(loss.total(y, c, eta)) + lam * np.sum(penalty_weights * np.abs(w))


# --- counts ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("y", "c", "a", "value", "gradient"),
    [
        (COUNTS, ONES, 0.559615787935, 6.165378968904, 9.975),
        (EXPOSED, OF_COUNTS, 0.214254603897, 11.000435545443, 11.174336283186),
    ],
    ids=["P1", "P2"],
)
def test_counts_without_variables(y, c, a, value, gradient):
    null = PoissonLoss().null(y, c)
    assert null.intercept == pytest.approx(a, abs=1e-12)
    assert null.value == pytest.approx(value, abs=1e-12)
    assert np.abs(null.gradient @ X).max() == pytest.approx(gradient, abs=1e-12)
    if c is OF_COUNTS:
        largest = np.abs(null.gradient @ X / [1.0, 1.0, 0.5]).max()
        assert largest == pytest.approx(12.697345132743, abs=1e-12)
    else:
        np.testing.assert_allclose(null.gradient @ X, [-9.975, -0.825, 6.775], atol=1e-12)


@pytest.mark.parametrize(
    ("y", "c", "u", "lam", "a", "w", "cost", "deviance"),
    [
        (COUNTS, ONES, None, 1.0, 0.120551323601, (0.859676122043, 0, -0.196676763187),
         1.978095599707, 2.074715729784),
        (COUNTS, ONES, None, 0.3, 0.044913032466, (0.925760075730, 0, -0.256675409185),
         1.195018375574, 1.911805761029),
        (EXPOSED, OF_COUNTS, None, 1.0, -0.072223771428, (0.779207401428, 0, 0),
         7.141138045564, 6.186907761582),
        (EXPOSED, OF_COUNTS, None, 0.3, -0.133468499265,
         (0.812442392636, 0.029226519523, -0.068256288376), 6.562872361915, 6.042836076819),
        (EXPOSED, OF_COUNTS, (1, 1, 0.5), 0.6, -0.100057719310,
         (0.745008703101, 0, -0.132670925537), 6.795458227108, None),
    ],
    ids=["P1 1", "P1 .3", "P2 1", "P2 .3", "P3"],
)  # fmt: skip
def test_counts(y, c, u, lam, a, w, cost, deviance):
    loss, u = PoissonLoss(), np.ones(3) if u is None else np.array(u, float)
    found = fit(loss, X, y, lam, c[None], penalty_weights=u)
    assert found.gap[0, 0] <= 1e-10
    np.testing.assert_allclose(found.coef[0, 0], w, atol=1e-11)
    assert found.intercept[0, 0] == pytest.approx(a, abs=1e-11)
    assert objective(loss, y, c, found, lam, u) == pytest.approx(cost, abs=1e-11)
    eta = X @ found.coef[0, 0] + found.intercept[0, 0]
    if deviance is not None:
        assert loss.total_deviance(y, c, eta) == pytest.approx(deviance, abs=1e-11)
    if y is COUNTS:
        gradient = loss.gradient(y, c, eta) @ X
        assert gradient[1] == pytest.approx(
            {1.0: -0.464131476202, 0.3: -0.284479365713}[lam], abs=1e-11
        )


def test_counts_with_a_free_column():
    """P5: the largest penalty is that of the other columns beside the free one."""
    loss, u = PoissonLoss(), np.array([0.0, 1.0, 1.0])
    null = fit(loss, X, EXPOSED, 100.0, OF_COUNTS[None], penalty_weights=u)
    assert null.coef[0, 0, 0] == pytest.approx(0.872057717908, abs=1e-10)
    assert null.intercept[0, 0] == pytest.approx(-0.142565810022, abs=1e-10)
    eta = X @ null.coef[0, 0] + null.intercept[0, 0]
    known = (0.0, -0.522440141815, 0.372390059483)
    np.testing.assert_allclose(loss.gradient(EXPOSED, OF_COUNTS, eta) @ X, known, atol=1e-9)
    found = fit(loss, X, EXPOSED, 0.3, OF_COUNTS[None], penalty_weights=u)
    np.testing.assert_allclose(found.coef[0, 0], (0.888988653996, 0.085909237011, 0), atol=1e-9)
    assert found.intercept[0, 0] == pytest.approx(-0.182312871150, abs=1e-9)
    cost = objective(loss, EXPOSED, OF_COUNTS, found, 0.3, u)
    assert cost == pytest.approx(6.306605493905, abs=1e-11)


# --- times of events ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ties", "c", "null", "largest", "lam", "w", "cost"),
    [
        ("breslow", ONES, 7.9373746962, 0.7082142857, 0.5, (0.0577775320, 0, 0), 7.9313569160),
        ("breslow", ONES, 7.9373746962, 0.7082142857, 0.2, (0.1415731977, 0.0081914050, 0),
         7.9014846073),
        ("efron", ONES, 7.7142311448, 0.7157142857, 0.5, (0.0640741233, 0, 0), 7.7073166586),
        ("efron", ONES, 7.7142311448, 0.7157142857, 0.2, (0.1530690723, 0, 0), 7.6747476015),
        ("breslow", OF_TIMES, 15.8853183437, 1.8537662338, 0.5,
         (-0.5168372249, 0.1212839571, -1.2670909135), 15.2741739065),
        ("breslow", OF_TIMES, 15.8853183437, 1.8537662338, 0.2,
         (-1.1769392357, 0.3201738359, -2.3713955332), 14.4321686046),
        ("efron", OF_TIMES, 15.2123738704, 1.9823376623, 0.5,
         (-0.6843471491, 0.0795389801, -1.5895883824), 14.3511760892),
        ("efron", OF_TIMES, 15.2123738704, 1.9823376623, 0.2,
         (-1.3886423916, 0.2945342679, -2.7686666067), 13.3549962703),
    ],
    ids=["C1 .5", "C1 .2", "C2 .5", "C2 .2", "C3 .5", "C3 .2", "C4 .5", "C4 .2"],
)  # fmt: skip
def test_times(ties, c, null, largest, lam, w, cost):
    loss = CoxLoss(ties)
    start = loss.null(TIMES, c)
    assert start.value == pytest.approx(null, abs=1e-10)
    assert np.abs(start.gradient @ X).max() == pytest.approx(largest, abs=1e-10)
    found = fit(loss, X, TIMES, lam, c[None])
    assert found.gap[0, 0] <= 1e-10
    assert found.intercept[0, 0] == 0.0
    np.testing.assert_allclose(found.coef[0, 0], w, atol=2e-10)
    assert objective(loss, TIMES, c, found, lam) == pytest.approx(cost, abs=1e-10)


def test_weights_are_not_ties():
    """C5: Efron's terms of repeated rows have ties that the rows do not have; C4 does not."""
    rows = np.repeat(np.arange(8), OF_TIMES.astype(int))
    loss, ones = CoxLoss("efron"), np.ones(rows.size)
    null = loss.null(TIMES[rows], ones)
    assert null.value == pytest.approx(14.7297191236, abs=1e-10)
    assert np.abs(null.gradient @ X[rows]).max() == pytest.approx(2.0720400433, abs=1e-10)
    found = fit(loss, X[rows], TIMES[rows], 0.5, ones[None])
    w = (-0.8655167984, 0.1204641563, -1.8982294706)
    np.testing.assert_allclose(found.coef[0, 0], w, atol=2e-10)
    cost = objective(loss, TIMES[rows], ones, found, 0.5, design=X[rows])
    assert cost == pytest.approx(13.6038242539, abs=1e-10)


def test_slopes_and_curvatures_of_times():
    """C8: gradient, majorant, second derivatives, and bounds of these that hold everywhere."""
    loss, eta = CoxLoss(), X @ [0.5, -0.2, 0.1]
    np.testing.assert_allclose(
        loss.gradient(TIMES, OF_TIMES, eta),
        (-0.8691509616, -1.6725137516, 0.4726234034, 0.6268715789, -1.2400750210, 0,
         0.8842453748, 1.7979993772), atol=1e-10,
    )  # fmt: skip
    np.testing.assert_allclose(
        loss.majorant(TIMES, OF_TIMES, eta),
        (0.1308490384, 0.3274862484, 0.4726234034, 1.6268715789, 1.7599249790, 0,
         1.8842453748, 1.7979993772), atol=1e-10,
    )  # fmt: skip
    steps = 1e-4 * np.eye(8)
    slopes = [loss.gradient(TIMES, OF_TIMES, eta + k * steps) for k in (-2, -1, 1, 2)]
    H = (slopes[0] - 8.0 * slopes[1] + 8.0 * slopes[2] - slopes[3]) / 12e-4
    full = np.column_stack([TIMES, np.zeros(8), np.full(8, -np.inf)])
    np.testing.assert_allclose(H, hessian(full, OF_TIMES, "breslow", eta), atol=1e-10)
    np.testing.assert_allclose(
        np.diag(H),
        (0.1137275676, 0.2915884612, 0.3978560532, 1.2364811882, 1.3030673459, 0,
         1.3445288689, 1.3065601060), atol=1e-10,
    )  # fmt: skip
    known = [[7.86598277, 0.55637172, -4.08891804], [0.55637172, 2.77278327, -0.60001791],
             [-4.08891804, -0.60001791, 3.19099016]]  # fmt: skip
    np.testing.assert_allclose(X.T @ H @ X, known, atol=1e-8)
    bounds = sum(
        0.25 * omega * np.ptp(X[b > 0], axis=0) ** 2
        for omega, b, _ in terms(full, OF_TIMES, "breslow")
    )
    np.testing.assert_allclose(bounds, (13.1175, 5.57, 5.98), atol=1e-12)


@pytest.mark.parametrize(
    ("ties", "best", "share", "kappa", "cost", "bound"),
    [
        ("breslow", 14.779544290733, 0.9, 0.6502969852, 14.788923822135, 13.792748741781),
        ("breslow", 14.779544290733, 0.99, 0.9488040280, None, 14.728690758160),
        ("efron", 13.758322505026, 0.9, 0.6321270249, None, 12.620308135639),
    ],
)
def test_certificates_of_times(ties, best, share, kappa, cost, bound):
    """C9: the dual objective at a part of the way to the solution."""
    loss = CoxLoss(ties)
    found = fit(loss, X, TIMES, 0.3, OF_TIMES[None])
    assert objective(loss, TIMES, OF_TIMES, found, 0.3) == pytest.approx(best, abs=1e-11)
    w = share * found.coef[0, 0]
    scale = 0.3 / np.abs(loss.gradient(TIMES, OF_TIMES, X @ w) @ X).max()
    assert scale == pytest.approx(kappa, abs=1e-9)
    assert loss.dual(TIMES, OF_TIMES, X @ w, scale) == pytest.approx(bound, abs=1e-8)
    if cost is not None:
        value = loss.total(TIMES, OF_TIMES, X @ w) + 0.3 * np.abs(w).sum()
        assert value == pytest.approx(cost, abs=1e-11)


def test_deviance_of_times():
    """C10."""
    loss = CoxLoss()
    assert loss.infimum(TIMES, OF_TIMES) == pytest.approx(6.9314718056, abs=1e-10)
    found = fit(loss, X, TIMES, 0.3, OF_TIMES[None])
    deviance = loss.total_deviance(TIMES, OF_TIMES, X @ found.coef[0, 0])
    assert deviance == pytest.approx(13.8346530578, abs=1e-9)


def test_times_with_a_free_column():
    """C11."""
    loss, u = CoxLoss(), np.array([0.0, 1.0, 1.0])
    null = fit(loss, X, TIMES, 100.0, OF_TIMES[None], penalty_weights=u)
    assert null.coef[0, 0, 0] == pytest.approx(0.0682825675, abs=1e-9)
    gradient = loss.gradient(TIMES, OF_TIMES, X @ null.coef[0, 0]) @ X
    np.testing.assert_allclose(gradient, (0, -0.78755198, 1.6466166535), atol=1e-8)
    found = fit(loss, X, TIMES, 0.3, OF_TIMES[None], penalty_weights=u)
    known = (-1.2014617622, 0.2983460193, -2.3835908599)
    np.testing.assert_allclose(found.coef[0, 0], known, atol=1e-8)
    cost = objective(loss, TIMES, OF_TIMES, found, 0.3, u)
    assert cost == pytest.approx(14.463002509214, abs=1e-11)


@pytest.mark.parametrize(
    ("ties", "null", "free", "penalised"),
    [("breslow", 32.8675507789, 0.85955745, 0.62151405),
     ("efron", 30.2921796059, 0.87260425, 0.63487656)],
)  # fmt: skip
def test_published_times_with_weights(ties, null, free, penalised):
    """C14: the weighted test data of R's survival."""
    y = np.column_stack([[1.0, 1, 2, 2, 2, 2, 3, 4, 5], [1, 0, 1, 1, 1, 0, 0, 1, 0]])
    x = np.array([2.0, 0, 1, 1, 0, 1, 0, 1, 0])[:, None]
    c, loss = np.array([1.0, 2, 3, 4, 3, 2, 1, 2, 1]), CoxLoss(ties)
    start = loss.null(y, c)
    assert start.value == pytest.approx(null, abs=1e-10)
    if ties == "breslow":
        assert (start.gradient @ x)[0] == pytest.approx(-2.10745614, abs=1e-8)
        expected = loss.majorant(y, c, np.zeros(9)) / c
        assert expected[0] == pytest.approx(1 / 19)
        assert expected[2] == pytest.approx(103 / 152)
    found = fit(loss, x, y, [0.5, 0.0], c[None])
    np.testing.assert_allclose(found.coef[0, :, 0], [penalised, free], atol=1e-8)


# --- classes -----------------------------------------------------------------------------------

TABLE = [
    (ONES, 0.8, (-0.216897321, 0.146386225, 0.070511095),
     {(0, 0): 1.333191149, (0, 1): -1.594892751}, 6.3470650169),
    (ONES, 0.4, (-0.651279859, 0.134571634, 0.516708225),
     {(0, 0): 2.695707842, (0, 1): -2.745825746, (2, 1): 0.182978465}, 4.7480106559),
    (OF_COUNTS, 0.8, (0.060533442, 0.718779143, -0.779312585),
     {(0, 0): 1.679502565, (0, 1): -0.986635389, (2, 1): 0.174890034, (2, 2): -1.193121505},
     5.3307316577),
]  # fmt: skip


def _matrix(entries):
    W = np.zeros((3, 3))
    for place, value in entries.items():
        W[place] = value
    return W


@pytest.mark.parametrize(
    ("c", "a", "value", "each", "group"),
    [
        (ONES, (0.135155036036, 0.135155036036, -0.270310072072), 8.657564240310, 2.9125,
         4.033415116251),
        (OF_COUNTS, (0.083771476, 0.931069336, -1.014840813), 9.459640091391, 4.354545454545,
         5.917909503580),
    ],
)  # fmt: skip
def test_classes_without_variables(c, a, value, each, group):
    null = MultinomialLoss().null(CLASSES, c)
    np.testing.assert_allclose(null.intercept, a, atol=1e-9)
    assert null.value == pytest.approx(value, abs=1e-12)
    for penalty, largest in (("each", each), ("group", group)):
        pull = MultinomialLoss(penalty).pull(X.T @ null.gradient)
        assert pull.max() == pytest.approx(largest, abs=1e-11)


@pytest.mark.parametrize(("c", "lam", "a", "entries", "cost"), TABLE)
def test_certificates_of_classes(c, lam, a, entries, cost):
    """The known solutions have the known objective, on both sides."""
    loss, W = MultinomialLoss("each"), _matrix(entries)
    a = loss.balance(CLASSES, c, X @ W)
    eta = X @ W + a
    v = loss.gradient(CLASSES, c, eta)
    scale = min(1.0, lam / loss.pull(X.T @ v).max())
    assert loss.total(CLASSES, c, eta) + lam * loss.charged(W).sum() == pytest.approx(
        cost, abs=1e-9
    )
    assert loss.dual(CLASSES, c, eta, np.array(scale)) == pytest.approx(cost, abs=1e-7)
    np.testing.assert_allclose(identified_coef(W, "each"), W, atol=1e-15)


@pytest.mark.parametrize(("c", "lam", "a", "entries", "cost"), TABLE)
def test_classes(c, lam, a, entries, cost):
    loss = MultinomialLoss("each")
    found = multinomial_path_batch(X, CLASSES, [lam], c[None], penalty="each", tol=1e-14)
    W, a_found = found.coef[0, 0], found.intercept[0, 0]
    np.testing.assert_allclose(W, _matrix(entries), atol=1e-8)
    np.testing.assert_allclose(a_found, a, atol=1e-8)
    total = loss.total(CLASSES, c, X @ W + a_found) + lam * loss.charged(W).sum()
    assert total == pytest.approx(cost, abs=1e-9)
    assert found.gap[0, 0] <= 1e-10


LABELLED = [
    (0.5, -1.243871374049, 3.032487164489, 2.579466260006, "each"),
    (0.5 / np.sqrt(2.0), None, 3.582280082, 2.098117743337, "group"),
]


@pytest.mark.parametrize(("lam", "a", "w", "cost", "penalty"), LABELLED)
def test_labels_as_two_classes(lam, a, w, cost, penalty):
    """A split of the coefficient into halves has the same objective, with the penalty 0.5."""
    found = logistic_path_batch(X, LABELS, [lam], OF_COUNTS[None], tol=1e-14)
    assert found.coef[0, 0, 0] == pytest.approx(w, abs=1e-7)
    if a is not None:
        assert found.intercept[0, 0] == pytest.approx(a, abs=1e-7)
    total = objective(LogisticLoss(), LABELS, OF_COUNTS, found, lam)
    assert total == pytest.approx(cost, abs=1e-9)
    half, constant = 0.5 * found.coef[0, 0], 0.5 * found.intercept[0, 0]
    W, loss = np.column_stack([-half, half]), MultinomialLoss(penalty)
    eta = X @ W + [-constant, constant]
    both = loss.total(LABELS, OF_COUNTS, eta) + 0.5 * loss.charged(W).sum()
    assert both == pytest.approx(total, rel=1e-13)
    pull = loss.pull(X.T @ loss.gradient(LABELS, OF_COUNTS, eta)).max()
    assert loss.dual(LABELS, OF_COUNTS, eta, np.array(min(1.0, 0.5 / pull))) == pytest.approx(
        cost, abs=1e-6
    )


@pytest.mark.parametrize(("lam", "a", "w", "cost", "penalty"), LABELLED)
def test_two_classes_are_labels(lam, a, w, cost, penalty):
    loss = MultinomialLoss(penalty)
    found = multinomial_path_batch(X, LABELS, [0.5], OF_COUNTS[None], penalty=penalty, tol=1e-14)
    W = found.coef[0, 0]
    assert W[0, 1] - W[0, 0] == pytest.approx(w, abs=1e-7)
    np.testing.assert_allclose(W.sum(axis=1), 0.0, atol=1e-9)
    total = loss.total(LABELS, OF_COUNTS, X @ W + found.intercept[0, 0])
    assert total + 0.5 * loss.charged(W).sum() == pytest.approx(cost, abs=1e-9)


# --- all of them -------------------------------------------------------------------------------


def _data(kind, n=40, p=6, seed=0):
    """A design, a response and weights with zeros."""
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((n, p))
    eta = 0.3 + Z[:, 0] - 0.7 * Z[:, 1]
    c = rng.integers(0, 4, n).astype(float)
    if kind == "counts":
        exposure = rng.uniform(0.5, 2.0, n)
        return Z, np.column_stack([rng.poisson(exposure * np.exp(eta)), np.log(exposure)]), c
    time, end = rng.exponential(size=n) * np.exp(-eta), rng.exponential(size=n) * 2.0
    event = time <= end
    time = np.ceil(4.0 * np.minimum(time, end))  # ties
    return (
        Z,
        np.column_stack([time, event, rng.integers(0, 2, n), time - 1.0 - rng.integers(0, 9, n)]),
        c,
    )


MODELS = [("counts", PoissonLoss()), ("times", CoxLoss()), ("times", CoxLoss("efron"))]
"""Kinds of data, and losses for them."""


@pytest.mark.parametrize(("kind", "loss"), MODELS, ids=str)
@pytest.mark.parametrize("lam2", [0.0, 0.8])
def test_against_scipy(kind, loss, lam2):
    """A smooth method in the positive and negative parts of the coefficients."""
    Z, y, c = _data(kind)
    lam, p = 2.0, Z.shape[1]

    def cost(x):
        w = x[:p] - x[p : 2 * p]
        eta = Z @ w + x[-1]
        v = loss.gradient(y, c, eta)
        slope = Z.T @ v + lam2 * w
        value = loss.total(y, c, eta) + lam * x[:-1].sum() + 0.5 * lam2 * w @ w
        return float(value), np.r_[slope + lam, lam - slope, v.sum()]

    bounds = [(0.0, None)] * (2 * p) + [(None, None) if loss.identified else (0.0, 0.0)]
    peer = minimize(cost, np.zeros(2 * p + 1), jac=True, bounds=bounds, method="L-BFGS-B",
                    options={"maxiter": 20_000, "ftol": 1e-16, "gtol": 1e-10})  # fmt: skip
    found = fit(loss, Z, y, lam, c[None], lam2=lam2)
    assert found.gap[0, 0] <= 1e-10
    np.testing.assert_allclose(found.coef[0, 0], peer.x[:p] - peer.x[p:-1], atol=1e-6)
    assert found.intercept[0, 0] == pytest.approx(peer.x[-1], abs=1e-6)
    x = np.r_[np.maximum(found.coef[0, 0], 0), np.maximum(-found.coef[0, 0], 0)]
    assert cost(np.r_[x, found.intercept[0, 0]])[0] <= peer.fun + 1e-10


@pytest.mark.parametrize(("kind", "loss"), MODELS, ids=str)
def test_weights_are_repetitions(kind, loss):
    Z, y, c = _data(kind, seed=1)
    rows = np.repeat(np.arange(c.size), c.astype(int))
    weighted = fit(loss, Z, y, [3.0, 1.0], c[None])
    repeated = fit(loss, Z[rows], y[rows], [3.0, 1.0], np.ones((1, rows.size)))
    if loss.name == "cox" and loss.ties == "efron":
        assert np.abs(weighted.coef - repeated.coef).max() > 1e-3
    else:
        np.testing.assert_allclose(weighted.coef, repeated.coef, atol=1e-9)


@pytest.mark.parametrize(("kind", "loss"), MODELS, ids=str)
def test_scales_signs_and_orders(kind, loss):
    Z, y, c = _data(kind, seed=2)
    lams = np.array([3.0, 1.0])
    known = fit(loss, Z, y, lams, c[None]).coef
    scaled = fit(loss, Z, y, 2.5 * lams, 2.5 * c[None]).coef
    np.testing.assert_allclose(scaled, known, atol=1e-9)
    sign = np.array([1.0, -1, 1, -1, -1, 1])
    flipped = fit(loss, sign * Z, y, lams, c[None]).coef
    np.testing.assert_allclose(flipped, sign * known, atol=1e-9)
    order = np.random.default_rng(0).permutation(c.size)
    moved = fit(loss, Z[order], y[order], lams, c[None, order]).coef
    np.testing.assert_allclose(moved, known, atol=1e-9)
    swapped = fit(loss, Z[:, ::-1], y, lams, c[None]).coef[..., ::-1]
    np.testing.assert_allclose(swapped, known, atol=1e-9)
    shifted = fit(loss, Z + 5.0, y, lams, c[None]).coef
    np.testing.assert_allclose(shifted, known, atol=1e-8)


@pytest.mark.parametrize(("kind", "loss"), MODELS, ids=str)
def test_the_gap_bounds_what_is_left_to_gain(kind, loss):
    Z, y, c = _data(kind, p=12, seed=3)
    for steps in (1, 2, 4):
        for lam2 in (0.0, 0.5):
            exact = fit(loss, Z, y, 1.0, c[None], lam2=lam2)
            rough = fit(loss, Z, y, 1.0, c[None], lam2=lam2, max_iter=steps)
            unit = float(loss.null(y, c).value - loss.infimum(y, c))
            costs = [
                objective(loss, y, c, one, 1.0, design=Z) + 0.5 * lam2 * np.sum(one.coef**2)
                for one in (rough, exact)
            ]
            assert rough.gap[0, 0] >= (costs[0] - costs[1]) / unit - 1e-12
            assert exact.gap[0, 0] >= 0.0


@pytest.mark.parametrize(("kind", "loss"), MODELS, ids=str)
def test_members_standardised_columns_and_paths(kind, loss):
    """Members of an ensemble are what they are alone; a standardised column has its own unit."""
    Z, y, _ = _data(kind, seed=4)
    Z[:, 3] = 2.0
    c = np.random.default_rng(1).multinomial(40, np.full(40, 1 / 40), size=5).astype(float)
    lams = np.geomspace(6.0, 0.5, 5)
    whole = fit(loss, Z, y, lams, c, standardize=True, tol=1e-12)
    alone = [fit(loss, Z, y, lams, row[None], standardize=True, tol=1e-12).coef[0] for row in c]
    np.testing.assert_allclose(whole.coef, alone, atol=1e-8)
    assert not whole.coef[..., 3].any()
    units = np.array([1.0, 10, 0.1, 1, 3, 1])
    scaled = fit(loss, units * Z, y, lams, c, standardize=True, tol=1e-12)
    np.testing.assert_allclose(scaled.coef * units, whole.coef, atol=1e-8)
    short = fit(loss, Z, y, lams, c, standardize=True, tol=1e-12, max_active=2)
    assert short.n_active.max() <= 2
    stopped = short.status == "stopped"
    assert stopped.any()
    np.testing.assert_allclose(short.coef[~stopped], whole.coef[~stopped], atol=1e-8)


@pytest.mark.parametrize(("kind", "loss"), MODELS, ids=str)
def test_responses_of_their_own(kind, loss):
    """Members may have a response each, with its own offsets or risk sets."""
    Z, y, c = _data(kind, seed=5)
    order = [np.random.default_rng(k).permutation(c.size) for k in range(3)]
    many = np.stack([y[one] for one in order])
    problem = make_problem(
        Z, many, np.array([1.0]), np.stack([c] * 3), loss, fit_intercept=loss.identified,
        tol=1e-12, max_iter=1000,
    )  # fmt: skip
    known = [fit(loss, Z, y[one], 1.0, c[None]).coef[0] for one in order]
    np.testing.assert_allclose(solve(problem).coef, known, atol=1e-8)


@pytest.mark.parametrize(("kind", "loss"), MODELS, ids=str)
def test_members_in_which_nothing_happened(kind, loss):
    Z, y, c = _data(kind, seed=6)
    happened = y[:, 0] if kind == "counts" else y[:, 1]
    weights = np.stack([c, np.where(happened > 0.0, 0.0, 1.0), np.zeros(c.size)])
    np.testing.assert_array_equal(loss.degenerate(y, weights), [False, True, True])
    found = fit(loss, Z, y, [2.0, 0.5], weights, keep=("coef", "counts", "sparse"))
    assert found.converged
    assert found.coef[0].any()
    np.testing.assert_array_equal(found.coef[1:], 0.0)
    np.testing.assert_array_equal(found.n_active[1:], 0)
    np.testing.assert_array_equal(found.gap[1:], 0.0)
    assert np.all(np.isfinite(found.intercept))
    nothing = fit(loss, Z, y, [2.0, 0.5], weights[1:])
    assert nothing.converged
    assert not nothing.coef.any()


def test_a_loss_that_cannot_change_selects_nothing():
    """Everybody is alone at risk: there is no loss to be had, and no unit of the gap."""
    Z, y, c = _data("times", seed=6)
    y[:, 2] = np.arange(c.size)
    found = fit(CoxLoss(), Z, y, [1.0, 0.0], c[None])
    assert found.converged
    assert not found.coef.any()
    assert not found.gap.any()


def test_an_offset_is_an_exposure():
    Z, y, c = _data("counts", seed=7)
    E = np.exp(y[:, 1])
    offset = fit(PoissonLoss(), Z, y, 1.0, c[None])
    weight = fit(PoissonLoss(), Z, y[:, 0] / E, 1.0, (c * E)[None])
    np.testing.assert_allclose(offset.coef, weight.coef, atol=1e-10)
    np.testing.assert_allclose(offset.intercept, weight.intercept, atol=1e-10)


def test_steep_counts_do_not_overflow():
    """From the null model the first Newton step would overflow."""
    rng = np.random.default_rng(8)
    Z = rng.standard_normal((30, 2))
    y = np.round(np.exp(6.0 * Z[:, 0]))
    found = fit(PoissonLoss(), Z, y, [1e-3], np.ones((1, 30)), tol=1e-10)
    assert found.converged
    assert found.coef[0, 0, 0] == pytest.approx(6.0, abs=0.01)


def test_late_entries_and_strata_count():
    """A fit that takes the last columns of y for nothing has another answer."""
    y, c, _ = some(12, 40)
    Z = np.random.default_rng(0).standard_normal((40, 3))
    fits = [fit(CoxLoss(), Z, y[:, :width], 0.3, c[None]).coef for width in (2, 3, 4)]
    assert np.abs(fits[0] - fits[1]).max() > 1e-3
    assert np.abs(fits[1] - fits[2]).max() > 1e-3


@pytest.mark.parametrize(("kind", "loss"), MODELS, ids=str)
def test_free_columns_are_kept(kind, loss):
    """Without a ridge a column without a penalty is one that is kept; with one it has no ridge."""
    Z, y, c = _data(kind, seed=9)
    free = np.array([0.0, 1, 1, 1, 1, 1])
    known = fit(loss, Z, y, [3.0, 1.0], c[None], penalty_weights=free)
    kept = fit(loss, Z, y, [3.0, 1.0], c[None], unpenalised=np.arange(6) == 0)
    np.testing.assert_allclose(kept.coef, known.coef, atol=1e-8)
    ridged = fit(loss, Z, y, 1.0, c[None], unpenalised=np.arange(6) == 0, lam2=5.0)
    eta = Z @ ridged.coef[0, 0] + ridged.intercept[0, 0]
    assert abs(loss.gradient(y, c, eta) @ Z[:, 0]) < 1e-7
