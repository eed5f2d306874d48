"""Numbers from publications, or computed by independent programs: each to its last digit.

Sources, by the keys under which they are named below:

article
    T. Takahashi, "Replica Analysis for Ensemble Techniques in Variable Selection", whose
    self-consistent equations of stability selection and of derandomized knockoffs are solved. It
    shows results as figures; the numbers are quadratures of its equations by an independent
    program, to eight digits. `tests.oracles.replica` is another such program, and
    `test_brute_force` compares it with the package everywhere.
semi-analytic resampling
    T. Obuchi and Y. Kabashima, "Semi-analytic resampling in Lasso", JMLR 20(70), 2019
    (arXiv:1802.10254). State evolution of the bootstrapped lasso at the parameters of the
    demonstration in their code (SE_AMPR.m), iterated to its fixed point.
trade-off
    W. Su, M. Bogdan and E. Candes, "False discoveries occur early on the lasso path", Annals of
    Statistics 45(5), 2017 (arXiv:1511.01957): smallest FDP of the lasso path at a TPP, and the
    weak limit of Donoho and Tanner in the form given there; both are evaluated below.
reconstruction
    Y. Kabashima, T. Wadayama and T. Tanaka, "A typical reconstruction limit for compressed sensing
    based on Lp-norm minimization", J. Stat. Mech. L09003, 2009, and D. Donoho and J. Tanner,
    "Counting faces of randomly projected polytopes when the projection radically lowers
    dimension", J. AMS 22, 2009.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brentq, minimize_scalar
from scipy.stats import norm

from selica import theory

MODEL = theory.Model(alpha=2.5, rho=0.3, Delta=0.01)


@pytest.mark.parametrize(
    ("lam", "expected"),
    [
        (
            0.05,
            (0.28316738, 0.28959869, 0.67616407, 0.00425003, 1.14340085, 0.00730556, 0.00849021),
        ),
        (0.1, (0.26924712, 0.28265255, 0.45949002, 0.00301105, 1.3707732, 0.01047893, 0.01109734)),
        (0.5, (0.19767754, 0.23934229, 0.15635839, 0.00301413, 1.92943271, 0.04317295, 0.04329285)),
    ],
)
def test_stability_order_parameters(lam, expected):
    """Article, stability selection with mu_B = 1."""
    s = theory.solve_stability(MODEL, lam=lam)
    found = (s.q, s.m, s.chi, s.v, s.Q_hat, s.chi_hat, s.v_hat)
    np.testing.assert_allclose(found, expected, rtol=0, atol=6e-9)
    assert s.m_hat == s.Q_hat
    assert s.status == "converged"


@pytest.mark.parametrize(
    ("lam", "tpr", "fdr"),
    [(0.3, 0.93997935, 0.49258644), (0.5, 0.88353453, 0.31143237), (0.1, 1.0, 0.7)],
)
def test_stability_rates(lam, tpr, fdr):
    """Article, stability selection with mu_B = 1, Pi > 0.15; at lam = 0.1 all variables pass."""
    rates = theory.solve_stability(MODEL, lam=lam).rates(Pi_th=0.15)
    np.testing.assert_allclose((rates.tpr, rates.fdr), (tpr, fdr), rtol=0, atol=6e-9)


@pytest.mark.parametrize(
    ("lam", "expected"),
    [
        (0.05, (0.283203958, 0.289853213, 0.609347664, 0.000951976, 0.002835352, 0.518122854,
                1.175104416)),
        (0.1, (0.272329760, 0.284461171, 0.367998953, 0.000330372, 0.001275907, 0.260931398,
               1.534749474)),
        (1.0, (0.146271483, 0.199913532, 0.088290225, 0.000001168, 0.000013271, 0.001621415,
               2.293763924)),
    ],
)  # fmt: skip
def test_knockoff_order_parameters(lam, expected):
    """Article, derandomized knockoffs."""
    d = theory.solve_knockoff(MODEL, lam=lam)
    found = (d.q, d.m, d.chi, d.v, d.v_tilde, d.chi_tilde, d.Q_hat)
    np.testing.assert_allclose(found, expected, rtol=0, atol=6e-10)


@pytest.mark.parametrize(
    ("lam", "tpr", "fdr"),
    [
        (0.05, 0.94566576, 0.46508131),
        (0.1, 0.92423557, 0.32749030),
        (1.0, 0.63257035, 0.00474496),
    ],
)
def test_derandomized_rates(lam, tpr, fdr):
    """Article, rule P(Z > 0.05) > 0.15."""
    rates = theory.solve_knockoff(MODEL, lam=lam).rates(Z_th=0.05, Pi_th=0.15)
    np.testing.assert_allclose((rates.tpr, rates.fdr), (tpr, fdr), rtol=0, atol=6e-9)


@pytest.mark.parametrize(
    ("lam", "tpr", "fdr"), [(0.1, 0.89497281, 0.21620628), (1.0, 0.63071153, 0.00449065)]
)
def test_one_copy_rates(lam, tpr, fdr):
    """Article, one copy with the rule Z > 0.05."""
    rates = theory.solve_knockoff(MODEL, lam=lam).single_rates(Z_th=0.05)
    np.testing.assert_allclose((rates.tpr, rates.fdr), (tpr, fdr), rtol=0, atol=6e-9)


@pytest.mark.parametrize(
    ("lam", "expected"),
    [
        (0.1, (0.277970, 0.287347, 0.325649, 0.013277, 0.95782, 0.53211)),
        (1.0, (0.146443, 0.200057, 0.088220, 0.056329, 0.66686, 0.01289)),
    ],
)
def test_lasso(lam, expected):
    """Article, without resampling."""
    one = theory.solve_lasso(MODEL, lam=lam)
    rates = one.rates()
    found = (one.q, one.m, one.chi, one.ensemble_error)
    np.testing.assert_allclose(found, expected[:4], rtol=0, atol=6e-7)
    np.testing.assert_allclose((rates.tpr, rates.fdr), expected[4:], rtol=0, atol=6e-6)
    assert one.v == 0.0
    assert one.v_hat == 0.0


# Article: at the penalty with the smallest prediction error of a member, rho = 0.5.
POWER = {  # (Delta, alpha): stability 1, stability 2, derandomized, knockoff, thresholded, lasso
    (0.01, 0.63): (0.2444, 0.3377, 0.2512, 0.1888, 0.3484, 0.1110),
    (0.01, 1.12): (0.6890, 0.7690, 0.7150, 0.6458, 0.7773, 0.3950),
    (0.1, 1.12): (0.3857, 0.4147, 0.3838, 0.3309, 0.4142, 0.2462),
}
METHODS = (
    *(("stability-ideal", 1.0), ("stability-ideal", 2.0), ("knockoffs-frequency", 1.0)),
    *(("knockoffs-ideal", 1.0), ("thresholded-lasso", 1.0), ("lasso", 1.0)),
)


@pytest.mark.parametrize(("setting", "expected"), POWER.items())
def test_power_at_fdr_one_tenth(setting, expected):
    """Article; the lasso moves its penalty."""
    Delta, alpha = setting
    model = theory.Model(alpha, 0.5, Delta)
    found = [theory.power(model, method, fdr=0.1, mu_B=rate) for method, rate in METHODS]
    np.testing.assert_allclose(found, expected, rtol=0, atol=6e-5)


@pytest.mark.parametrize(
    ("alpha", "noise", "rho", "variance", "lam", "expected"),
    [
        (0.5, 0.01, 0.2, 5.0, 1.0, (0.278648, 0.065210, 0.600371)),
        (1.0, 0.1, 0.1, 10.0, 0.5, (0.360875, 0.024448, 0.071413)),
    ],
)
def test_state_evolution_of_obuchi_and_kabashima(alpha, noise, rho, variance, lam, expected):
    """Semi-analytic resampling: chi, W and MSE."""
    # effects of variance s^2: divide the response, so Delta / s^2 and lam / s
    model = theory.Model(alpha, rho, noise / variance)
    s = theory.solve_stability(model, lam / np.sqrt(variance), mu_B=1.0)
    error = (s.ensemble_error - model.Delta) * variance
    np.testing.assert_allclose((s.chi, s.v * variance, error), expected, rtol=0, atol=6e-7)


def test_state_evolution_at_rate_two():
    """Semi-analytic resampling with tau = 2, which their code does not run: its equations do."""
    s = theory.solve_stability(theory.Model(0.5, 0.2, 0.01 / 5), 1 / np.sqrt(5), mu_B=2.0)
    found = (s.chi, 5 * s.v, 5 * (s.ensemble_error - 0.002), s.Q_hat, 5 * s.v_hat, 5 * s.chi_hat)
    expected = (0.290389, 0.038636, 0.374936, 0.559495, 0.098088, 0.240996)
    np.testing.assert_allclose(found, expected, rtol=0, atol=6e-7)


@pytest.mark.parametrize(
    ("alpha", "rho"),
    [(0.1, 0.018943), (0.25, 0.066846), (0.5, 0.192845), (0.75, 0.400284), (0.9, 0.610352)],
)
def test_weak_l1_limit_of_donoho_and_tanner(alpha, rho):
    """Trade-off, where it is the largest sparsity below which the path may find all signals."""

    def sparsity(x):
        tail, density = norm.sf(x), norm.pdf(x)
        high = alpha + 2 * x * density - 2 * (1 + x * x) * tail
        return high / (1 + x * x - 2 * (1 + x * x) * tail + 2 * x * density)

    top = minimize_scalar(lambda x: -sparsity(x), bounds=(1e-3, 8.0), method="bounded")
    assert -top.fun == pytest.approx(rho, abs=5e-7)
    below = theory.reconstruction_limit(rho - 5e-7, "lasso")
    above = theory.reconstruction_limit(rho + 5e-7, "lasso")
    assert below < alpha < above


def test_reconstruction_limits_at_half():
    """Reconstruction; rows seen and doubled variables by the article, with the sign corrected."""
    found = [
        theory.reconstruction_limit(0.5, "lasso"),
        theory.reconstruction_limit(0.5, "stability-ideal", mu_B=1.0),
        theory.reconstruction_limit(0.5, "stability-ideal", mu_B=2.0),
        theory.reconstruction_limit(0.5, "knockoffs-frequency"),
    ]
    np.testing.assert_allclose(found, (0.83130, 1.31510, 0.96141, 1.16572), rtol=0, atol=6e-6)


def test_large_deviation_oracles_at_zero_tilt():
    """Article, the equations of its appendix without a tilt (docs/large-deviations.md)."""
    model = theory.Model(1.0, 0.3, 0.1)
    s = theory.solve_stability(model, 0.2)
    found = (s.q, s.m, s.v, s.chi, s.Q_hat, s.chi_hat, s.v_hat, s.cost)
    expected = (0.149499, 0.177889, 0.061472, 1.282403, 0.314808, 0.019198, 0.021686, 0.055969)
    np.testing.assert_allclose(found, expected, rtol=0, atol=6e-7)
    d = theory.solve_knockoff(model, 0.2)
    found = (d.q, d.m, d.v, d.v_tilde, d.chi, d.chi_tilde, d.Q_hat, d.chi_hat, d.v_hat, d.cost)
    expected = (
        *(0.164883, 0.188426, 0.011333, 0.025155, 0.988945, 0.691308),
        *(0.373099, 0.026174, 0.005079, 0.063311),
    )
    np.testing.assert_allclose(found, expected, rtol=0, atol=6e-7)


# Trade-off: smallest FDP of the lasso path at a TPP, for (alpha, rho).
BOUNDARY = {
    (1.0, 0.2): {0.25: 0.000209, 0.5: 0.020881, 0.75: 0.083601, 0.9: 0.128213},
    (2.5, 0.3): {0.6: 0.001282, 0.8: 0.006217},
    (1.12, 0.5): {0.4: 0.065484, 0.6: 0.127205, 0.8: 0.178560},
    (0.5, 0.15): {0.2: 0.002130, 0.4: 0.084652, 0.6: 0.231599, 0.8: 0.358947},
}


@pytest.mark.parametrize("setting", BOUNDARY)
def test_trade_off_is_that_of_the_article(setting):
    """Trade-off: a root in t at each TPP, as in the authors' code (fdrlasso)."""
    alpha, rho = setting

    def equation(t, tpp):
        tail, density = norm.sf(t), norm.pdf(t)
        high = 2 * (1 - rho) * ((1 + t * t) * tail - t * density) + rho * (1 + t * t) - alpha
        low = rho * ((1 + t * t) * (1 - 2 * tail) + 2 * t * density)
        return high / low - (1 - tpp) / (1 - 2 * tail)

    for tpp, fdp in BOUNDARY[setting].items():
        grid = np.linspace(12.0, 1e-3, 4000)
        values = equation(grid, tpp)
        k = np.flatnonzero(values[1:] * values[:-1] < 0.0)[0]  # the largest root
        t = brentq(equation, grid[k + 1], grid[k], args=(tpp,), xtol=1e-13)
        false = 2 * (1 - rho) * norm.sf(t)
        assert false / (false + rho * tpp) == pytest.approx(fdp, abs=6e-7)


@pytest.mark.parametrize("setting", BOUNDARY)
@pytest.mark.parametrize(
    "effects",
    [
        theory.GaussianEffects(),
        theory.LaplaceEffects(),
        theory.PointEffects(),
        theory.PointEffects([1.0, 30.0], weights=[0.5, 0.5]),
        theory.PointEffects([1.0, 8.0, 60.0], weights=[0.25, 0.25, 0.5]),
    ],
    ids=["gauss", "laplace", "point", "two", "three"],
)
@pytest.mark.parametrize("Delta", [0.0, 1e-6, 1e-2, 1.0])
def test_trade_off_of_the_lasso_is_never_beaten(setting, effects, Delta):
    """Trade-off: no penalty, no noise and no distribution of the effects does better."""
    alpha, rho = setting
    lam = np.geomspace(1e-4, 20.0, 400)
    rates = theory.solve_lasso(theory.Model(alpha, rho, Delta, effects), lam).rates()
    for tpp, fdp in BOUNDARY[setting].items():
        reached = rates.tpr >= tpp
        assert np.all(rates.fdr[reached] >= fdp - 5e-7)
