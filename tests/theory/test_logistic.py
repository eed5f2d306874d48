"""Labels: other people's numbers, the long form, limits in which it is another theory, data."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtr, ndtri

from selica import theory
from selica._core.counts import count_law, single_fit
from selica._core.errors import ArgumentError
from selica._core.losses import LogisticLoss, SquaredLoss
from selica._core.losses.base import LabelledLoss
from selica.theory.glm.rows import Rows, gauss
from selica.theory.glm.solver import Body, solve_point
from selica.theory.iid.equations import IidEquations
from tests.oracles import logistic as oracle

LAWS = [theory.GaussianEffects(), theory.LaplaceEffects(), theory.PointEffects([1.0, 2.0])]
NAMES = ("q", "m", "chi", "v", "Q_hat", "m_hat", "chi_hat", "v_hat")


def _solve(alpha, rho, T, lam, mu_B=1.0, resampling="poisson", effects=None):
    model = theory.Model(alpha, rho, 0.0, effects)
    if mu_B is None:
        return theory.solve_lasso(model, lam, response=theory.Logistic(T))
    return theory.solve_stability(model, lam, mu_B, resampling, response=theory.Logistic(T))


# --- numbers ---------------------------------------------------------------------------------


def test_independent_numbers():
    s = _solve(4.0, 0.2, 4.0, 1.0)
    expected = (1.54531, 2.24401, 0.623524, 0.319020, 0.578480, 0.483590, 0.445407, 0.422538)
    assert [getattr(s, name) for name in NAMES] == pytest.approx(expected, rel=3e-6)
    assert s.chi * s.Q_hat == pytest.approx(0.360696, rel=3e-6)
    assert s.status == "converged"


def test_near_separability():
    # a coarse independent quadrature, good to a few per cent; unguarded Newton gives v = 2.36
    s = _solve(2.0, 0.2, 4.0, 0.2)
    assert [s.q, s.m, s.v] == pytest.approx([6.3, 3.86, 3.2], rel=0.05)
    assert s.chi * s.Q_hat == pytest.approx(0.539, abs=5e-4)


@pytest.mark.parametrize(
    ("resampling", "mu_B", "lam", "T"),
    [("bernoulli", 0.5, 0.4, 4.0), ("bernoulli", 0.9, 0.1, 2.0), ("poisson", 1.0, 1.0, 4.0)],
)
def test_fields_from_the_definitions(resampling, mu_B, lam, T):
    s = _solve(3.0, 0.2, T, lam, mu_B, resampling)
    law = count_law(resampling, np.array([mu_B]))
    often = law.probability[0] > 1e-13
    long = oracle.fields(
        3.0, T, law.weight[0][often], law.probability[0][often], q=s.q, m=s.m, v=s.v, chi=s.chi
    )
    for name, value in long.items():
        assert getattr(s, name) == pytest.approx(value, rel=1e-9), name


@pytest.mark.parametrize("effects", LAWS)
@pytest.mark.parametrize("mu_B", [None, 1.0])
def test_overlaps_from_the_fields(effects, mu_B):
    s = _solve(2.0, 0.3, 3.0, 0.5, mu_B, effects=effects)
    assert s.expect(lambda w: w, lambda x: x**2) == pytest.approx(s.q, abs=1e-9)
    assert s.expect(lambda w: w**2, lambda x: x) == pytest.approx(s.q + s.v, abs=1e-9)
    active = s.expect(lambda w: (w != 0.0).astype(float), lambda x: x)
    assert active == pytest.approx(s.chi * s.Q_hat, abs=5e-3)
    assert s.expect(np.abs, lambda x: x) == pytest.approx(s.mean_absolute, abs=1e-9)


@pytest.mark.parametrize("sd", [0.01, 0.3, 0.7, 2.0, 20.0])
def test_quadrature(sd):
    # E[sigmoid(x)] = 1/2; E[sigmoid(x) x] = sd^2 E[sigmoid'(x)]: a fine rule for the latter
    x, weight = gauss(sd)
    sigmoid = LogisticLoss().chance(np.ones(1), x)
    fine = np.linspace(-9 * sd, 9 * sd, 40_001)
    density = np.exp(-0.5 * (fine / sd) ** 2)
    slope = LogisticLoss().chance_slope(np.ones(1), fine) @ density / density.sum()
    assert weight @ sigmoid == pytest.approx(0.5, abs=1e-15)
    assert weight @ (sigmoid * x) == pytest.approx(sd**2 * slope, rel=1e-12)


def test_fits_at_any_pull():
    pull = np.repeat([0.0, 1e-8, 1.0, 30.0, 1e4, 1e8], 41)
    field = np.tile(np.linspace(-200.0, 200.0, 41), 6)
    y = np.ones(pull.size)
    z = LogisticLoss().proximal(y, field, pull)
    left = z - field + pull * LogisticLoss().slope(y, z)
    assert np.all(np.abs(left) <= 1e-12 * (1.0 + np.abs(field) + np.abs(z) + pull * 1e-3))


# --- identities ------------------------------------------------------------------------------


@pytest.mark.parametrize("mu_B", [None, 1.0])
def test_slope_of_the_cost(mu_B):
    h = 1e-4
    low, here, high = (_solve(3.0, 0.2, 5.0, 0.7 + k * h, mu_B) for k in (-1, 0, 1))
    assert (high.cost - low.cost) / (2 * h) == pytest.approx(here.mean_absolute, rel=1e-6)


def test_rates_count_variables():
    s = _solve(4.0, 0.2, 4.0, 1.0)
    rates = s.rates(Pi_th=0.6)
    g = 0.5 + np.array([0.0, 1.0, 2.0])
    assert np.all(np.diff(s.selection_probability(g)) > 0.0)
    below = s.probability_cdf(0.6, "signal")
    assert rates.tpr == pytest.approx(1.0 - below)
    # Gaussian effects: g of a signal has the variance (m_hat sqrt(T/rho))^2 + chi_hat
    sd = np.sqrt(s.m_hat**2 * 4.0 / 0.2 + s.chi_hat)
    cut = -np.sqrt(s.chi_hat) * ndtri(rates.fpr / 2)
    assert rates.tpr == pytest.approx(2 * ndtr(-cut / sd))
    assert s.rates(0.6, n_members=2000).fdr == pytest.approx(rates.fdr, abs=2e-3)


def test_power_depends_on_one_number():
    model, response = theory.Model(4.0, 0.2, 0.0), theory.Logistic(4.0)
    power = theory.power(model, "stability-ideal", 0.1, 1.0, response=response)
    point = theory.operating_point(model, "stability-ideal", 0.1, 1.0, response=response)
    s = point.solution
    assert s.rates(point.threshold).fdr == pytest.approx(0.1)
    assert s.rates(point.threshold).tpr == pytest.approx(power)
    # the linear model with the same ratio of noise to slope has the same power
    tau2 = s.chi_hat / (s.m_hat**2 * 4.0 / 0.2)
    lasso = theory.solve_lasso(theory.Model(1.0, 0.2, tau2), 1e6)  # E = rho + Delta
    alpha = lasso.ensemble_error / tau2
    same = theory.power(theory.Model(alpha, 0.2, tau2), "knockoffs-frequency", 0.1, 1e6)
    assert same == pytest.approx(power, rel=1e-6)


@pytest.mark.slow
def test_best_penalties():
    model, response = theory.Model(4.0, 0.2, 0.0), theory.Logistic(4.0)
    for method in ("stability-ideal", "thresholded-lasso"):
        lam = theory.optimal_lam(model, method, criterion="power", response=response)
        best = theory.power(model, method, 0.1, "power", response=response)
        beside = [
            theory.power(model, method, 0.1, lam * k, response=response) for k in (0.9, 1, 1.1)
        ]
        assert beside[1] == pytest.approx(best)
        assert max(beside[0], beside[2]) < best


# --- limits ----------------------------------------------------------------------------------


class Squares(SquaredLoss, LabelledLoss):
    """Half the squared residual of a Gaussian response, summed over a grid of responses."""

    def __init__(self, T, Delta):
        self.Delta = Delta
        step = 0.5 * np.sqrt(Delta)
        half = np.ceil(9.0 * np.sqrt(T + Delta) / step)
        self.labels = step * np.arange(-half, half + 1)
        self.multiplicity = np.full(self.labels.size, step)

    def chance(self, y, z0):
        return np.exp(-0.5 * (y - z0) ** 2 / self.Delta) / np.sqrt(2 * np.pi * self.Delta)

    def chance_slope(self, y, z0):
        return self.chance(y, z0) * (y - z0) / self.Delta


def _point(rows_of, loss, alpha, rho, T, lam, law, effects):
    four = (np.array([x]) for x in (alpha, rho, 0.0, lam))
    eq = IidEquations.of_kinds(*four, law=law, kinds=effects.mixture().kinds(), copies=0)
    rows = rows_of(alpha, T, loss, law.weight[0], law.probability[0])
    return solve_point(rows, Body.of(eq, T))


@pytest.mark.parametrize("effects", LAWS)
@pytest.mark.parametrize("mu_B", [None, 1.0])
def test_squared_loss_is_the_theory_of_the_article(effects, mu_B):
    alpha, rho, Delta, lam = 1.5, 0.3, 0.5, 0.3
    law = single_fit(1) if mu_B is None else count_law("poisson", np.array([mu_B]))
    model = theory.Model(alpha, rho, Delta, effects)
    known = (
        theory.solve_lasso(model, lam) if mu_B is None else theory.solve_stability(model, lam, mu_B)
    )
    # effects have second moment one: T = rho
    p = _point(Rows.of, Squares(rho, Delta), alpha, rho, rho, lam, law, effects)
    for name in (*NAMES, "mean_absolute"):
        assert getattr(p, name) == pytest.approx(getattr(known, name), rel=1e-8), name
    assert p.loss + lam * p.mean_absolute == pytest.approx(known.cost, rel=1e-8)


def test_weak_labels_are_a_noisy_linear_response():
    # small log odds: 2 y is the response, of variance 4, and the curvature of the loss is 1/4
    T, rho, alpha = 1e-4, 0.3, 1e5
    size = np.sqrt(T / rho)
    for mu_B in (None, 1.0):
        lam = 0.6 * alpha * 0.25 * size
        s = _solve(alpha, rho, T, lam, mu_B)
        model = theory.Model(alpha, rho, 4.0 / size**2)
        same = (
            theory.solve_lasso(model, 4.0 * lam / size)
            if mu_B is None
            else theory.solve_stability(model, 4.0 * lam / size, mu_B)
        )
        assert s.q == pytest.approx(same.q * size**2, rel=1e-3)
        assert s.m == pytest.approx(same.m * size**2, rel=1e-3)
        assert s.v == pytest.approx(same.v * size**2, rel=1e-3)


class SignRows(Rows):
    """Labels that are signs of the truth."""

    __slots__ = ()

    def _fields(self, m, variance):
        ratio = m / variance if variance > 0 else 0.0
        rest = np.sqrt(max(self.T - m * ratio, 0.0))
        omega, weight = gauss(np.sqrt(variance), ratio, rest)
        x = ratio * omega / rest
        share = 2.0 * weight * ndtr(x)
        slope = 2.0 * weight * np.exp(-0.5 * x**2) / np.sqrt(2 * np.pi) / rest
        return omega, share[None], slope[None]


def test_strong_labels_are_signs():
    # corrections are of the order 1/T
    law = count_law("poisson", np.array([1.0]))
    point = _point(SignRows.of, LogisticLoss(), 1.0, 0.2, 1.0, 0.2, law, theory.GaussianEffects())
    for T, close in ((100.0, 0.1), (1e4, 1e-3)):
        s = _solve(1.0, 0.2, T, 0.2)
        answer = [s.q, s.m / np.sqrt(T), s.chi, s.v, s.Q_hat, s.m_hat * np.sqrt(T)]
        signs = [point.q, point.m, point.chi, point.v, point.Q_hat, point.m_hat]
        assert answer == pytest.approx(signs, rel=close)


def test_no_signal():
    s = _solve(1.0, 0.2, 0.0, 0.2)
    assert s.m == 0.0
    rates = s.rates(0.5)
    assert rates.tpr == pytest.approx(rates.fpr)
    near = _solve(1.0, 0.2, 1e-9, 0.2)
    assert [near.q, near.v, near.chi] == pytest.approx([s.q, s.v, s.chi], rel=1e-6)
    none = _solve(1.0, 0.0, 0.0, 0.2)
    assert [none.q, none.v, none.chi] == pytest.approx([s.q, s.v, s.chi])
    model = theory.Model(1.0, 0.2, 0.0)
    assert theory.power(model, "stability-ideal", 0.1, 0.2, response=theory.Logistic(0.0)) == 0.0


def test_resampling_becomes_one_fit():
    one = _solve(3.0, 0.2, 4.0, 0.7, None)
    full = _solve(3.0, 0.2, 4.0, 0.7, 1.0, "bernoulli")
    many = _solve(3.0, 0.2, 4.0, 0.7 * 1e6, 1e6)
    for name in ("q", "m"):
        assert getattr(full, name) == pytest.approx(getattr(one, name), rel=1e-12)
        assert getattr(many, name) == pytest.approx(getattr(one, name), rel=1e-5)
    assert full.v == 0.0


def test_large_penalties_select_nothing():
    s = _solve(2.0, 0.2, 4.0, 1e4)
    assert (s.q, s.m, s.v) == (0.0, 0.0, 0.0)
    assert s.rates(0.5).tpr == 0.0
    assert s.cost == pytest.approx(2.0 * np.log(2.0))


# --- everywhere ------------------------------------------------------------------------------


def test_edges_converge():
    for point in [
        (1.0, 1.0, 4.0, 0.2),
        (1.0, 0.2, 1e-6, 0.2),
        (0.05, 0.2, 4.0, 0.05),
        (50.0, 0.2, 4.0, 1e-2),
        (5.0, 0.2, 4.0, 1e-6, None),
        (2.0, 0.2, 4.0, 0.3, 1e-3),
        (2.0, 0.2, 4.0, 300.0, 1e3),
    ]:
        s = _solve(*point)
        assert s.status == "converged", point


@pytest.mark.slow
def test_random_points_converge():
    rng = np.random.default_rng(3)
    for _ in range(150):
        alpha, T, lam, mu_B = 10 ** rng.uniform([-1, -2, -2, -0.7], [1.2, 2.5, 0.7, 1])
        s = _solve(alpha, rng.uniform(0.01, 0.99), T, lam, rng.choice([None, mu_B]))
        assert s.status == "converged", (alpha, T, lam, mu_B, s)
        assert s.q * T >= s.m**2 * (1 - 1e-12)


def test_grids():
    s = _solve(np.array([[2.0], [4.0]]), 0.2, np.array([1.0, 4.0, 9.0]), 1.0)
    assert s.shape == (2, 3)
    assert s.q[1, 1] == pytest.approx(_solve(4.0, 0.2, 4.0, 1.0).q)
    assert s.rates(0.6).fdr.shape == (2, 3)
    assert {"T", "mu_B", "m_hat"} <= set(s.to_dict())


def test_bad_input():
    model, response = theory.Model(2.0, 0.2, 0.0), theory.Logistic(4.0)
    with pytest.raises(ArgumentError, match="response must be theory"):
        theory.solve_lasso(model, 1.0, response="logistic")
    with pytest.raises(ArgumentError, match="Delta must be 0"):
        theory.solve_lasso(theory.Model(2.0, 0.2, 0.1), 1.0, response=response)
    with pytest.raises(ArgumentError, match="T must be between"):
        theory.Logistic(-1.0)
    with pytest.raises(ArgumentError, match="T must be 0 where rho is 0"):
        theory.solve_lasso(theory.Model(2.0, 0.0, 0.0), 1.0, response=response)
    rows = theory.Spectrum.marchenko_pastur(2.0)
    with pytest.raises(ArgumentError, match="spectrum and response"):
        theory.solve_lasso(model, 1.0, spectrum=rows, response=response)
    with pytest.raises(ArgumentError, match="method must be one of"):
        theory.power(model, "lasso", response=response)


# --- data ------------------------------------------------------------------------------------

SETTINGS = [
    # alpha, rho, T, lam, mu_B, resampling, effects
    (4.0, 0.2, 4.0, 1.0, 1.0, "poisson", theory.GaussianEffects()),
    (2.0, 0.2, 4.0, 0.2, 1.0, "poisson", theory.GaussianEffects()),
    (4.0, 0.2, 4.0, 0.5, 0.5, "bernoulli", theory.LaplaceEffects()),
    (3.0, 0.1, 9.0, 0.8, 1.0, "exponential", theory.PointEffects()),
    (1.5, 0.3, 2.0, 0.6, 2.0, "poisson", theory.PointEffects([1.0, 2.0])),
    (4.0, 0.2, 4.0, 1.0, None, "", theory.GaussianEffects()),
]


def compare(setting, size, sets, members, seed=11):
    """(name, theory, mean of simulations, standard error) for one setting."""
    alpha, rho, T, lam, mu_B, resampling, effects = setting
    s = _solve(alpha, rho, T, lam, mu_B, resampling, effects)
    rates = s.rates() if mu_B is None else s.rates(0.6, n_members=members)
    expected = {"q": s.q, "m": s.m, "v": s.v, "active": s.chi * s.Q_hat}
    expected |= {"tpr": rates.tpr, "fpr": rates.fpr}
    runs = [
        oracle.one_data_set(
            np.random.default_rng(seq),
            size=size,
            alpha=alpha,
            rho=rho,
            T=T,
            lam=lam,
            mu_B=mu_B,
            resampling=resampling,
            effects=effects,
            members=members,
            Pi_th=0.6,
        )
        for seq in np.random.SeedSequence(seed).spawn(sets)
    ]
    out = []
    for name, value in expected.items():
        drawn = np.array([run[name] for run in runs])
        se = drawn.std(ddof=1) / np.sqrt(sets)
        if name in ("tpr", "fpr"):  # at least that of a count of so many variables
            share = rho if name == "tpr" else 1.0 - rho
            se = max(se, np.sqrt(value * (1.0 - value) / (share * size * sets)))
        out.append((name, value, drawn.mean(), se))
    return out


def test_one_setting_of_data():
    for name, value, mean, se in compare(SETTINGS[0], size=100, sets=12, members=10):
        # finite systems are off by the order of 1/size
        assert abs(mean - value) <= 4 * se + 3.0 * value / 100, (name, value, mean, se)


@pytest.mark.slow
@pytest.mark.parametrize("setting", SETTINGS)
def test_data(setting):
    for name, value, mean, se in compare(setting, size=400, sets=16, members=24):
        assert abs(mean - value) <= 4 * se + 1e-15, (name, value, mean, se)
        assert se <= 0.1 * value + 1e-15  # sharp enough to notice
