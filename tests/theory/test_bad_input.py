"""One clear sentence that names the argument."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from selica import theory
from selica._core.errors import ArgumentError

GOOD = {"alpha": 2.5, "rho": 0.3, "Delta": 0.01}
MODEL = theory.Model(**GOOD)
NO_SIGNAL = theory.Model(4.0, 0.0, 0.0)
S = theory.solve_stability(MODEL, 0.3)
D = theory.solve_knockoff(MODEL, 0.3)


@pytest.mark.parametrize("name", ["alpha", "rho", "Delta"])
@pytest.mark.parametrize(
    "value", [np.nan, np.inf, -1.0, "one", None, [], [0.5, np.nan], {}, 1j, True, [[1], [2, 3]]]
)
def test_model_parameters(name, value):
    with pytest.raises((ValueError, TypeError), match=name) as error:
        theory.Model(**(GOOD | {name: value}))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: theory.Model(0.0, 0.3, 0.01), "alpha"),
        (lambda: theory.Model(1.0, 1.1, 0.01), "rho"),
        (lambda: theory.Model(1.0, 0.3, -1e-9), "Delta"),
        (lambda: theory.Model(1.0, 0.3, 0.1, effects="gaussian"), "effects"),
        (lambda: theory.Model([1.0, 2.0], [0.1, 0.2, 0.3], 0.1), r"alpha \(2,\), rho \(3,\)"),
        (lambda: theory.solve_lasso("model", 0.1), "model"),
        (lambda: theory.solve_lasso(MODEL, 0.0), "lam"),
        (lambda: theory.solve_lasso(MODEL, "small"), "lam"),
        (lambda: theory.solve_stability(MODEL, -0.1), "lam"),
        (lambda: theory.solve_stability(MODEL, 0.1, 0.0), "mu_B"),
        (lambda: theory.solve_stability(MODEL, 0.1, np.nan), "mu_B"),
        (lambda: theory.solve_stability(MODEL, 0.1, 1.5, "bernoulli"), "mu_B"),
        (lambda: theory.solve_stability(MODEL, 0.1, 1.0, "jackknife"), "resampling"),
        (lambda: theory.solve_stability(MODEL, [0.1, 0.2], [1.0, 2.0, 3.0]), "lam .*mu_B"),
        (lambda: theory.solve_knockoff(MODEL, np.inf), "lam"),
        (lambda: S.rates(Pi_th=1.2), "Pi_th"),
        (lambda: S.rates(Pi_th="half"), "Pi_th"),
        (lambda: S.probability_cdf(0.5, group="some"), "group"),
        (lambda: S.correlation(0), "K"),
        (lambda: D.rates(Z_th=np.nan, Pi_th=0.1), "Z_th"),
        (lambda: D.rates(Z_th=0.1, Pi_th=-0.1), "Pi_th"),
        (lambda: D.single_rates("z"), "Z_th"),
        (lambda: theory.solve_lasso(MODEL, 0.1).rates(-1.0), "w_th"),
        (lambda: theory.power(MODEL, "ridge"), "method"),
        (lambda: theory.power(MODEL, ["lasso"]), "method"),
        (lambda: theory.power(MODEL, "stability-ideal", fdr=1.5), "fdr"),
        (lambda: theory.power(MODEL, "stability-ideal", lam="best"), "lam"),
        (lambda: theory.power(MODEL, "stability-ideal", lam=-1.0), "lam"),
        (lambda: theory.power(MODEL, "stability-ideal", mu_B=-1.0), "mu_B"),
        (lambda: theory.power(MODEL, "stability-ideal", resampling="x", lam=0.1), "resampling"),
        (lambda: theory.power("x", "stability-ideal"), "model"),
        (lambda: theory.power(MODEL, "stability-ideal", 0.1, 0.1, 1.5, "bernoulli"), "mu_B"),
        (lambda: theory.optimal_lam(MODEL, "stability-ideal", 1.5, resampling="bernoulli"), "mu_B"),
        (lambda: theory.power(NO_SIGNAL, "stability-ideal", response=theory.Logistic(1.0)), "T"),
        (lambda: theory.optimal_lam(NO_SIGNAL, response=theory.Logistic(1.0)), "T"),
        (lambda: theory.power_curve(MODEL, "stability-ideal", fdrs=[0.1, np.nan]), "fdrs"),
        (lambda: theory.optimal_lam(MODEL, "stability-ideal", criterion="speed"), "criterion"),
        (lambda: theory.optimal_lam(None), "model"),
        (lambda: theory.operating_point(MODEL, "nothing"), "method"),
        (lambda: theory.reconstruction_limit(1.5, "lasso"), "rho"),
        (lambda: theory.reconstruction_limit(0.5, "ridge"), "method"),
        (lambda: theory.reconstruction_limit(0.5, "stability-ideal", mu_B=0.0), "mu_B"),
        (lambda: theory.reconstruction_limit(0.5, "stability-ideal", resampling="x"), "resampling"),
        (lambda: theory.PointEffects([1.0, 0.0]), "values"),
        (lambda: theory.EmpiricalEffects([]), "values"),
    ],
)
def test_each_argument_is_named(call, name):
    with pytest.raises(ValueError, match=name) as error:
        call()
    assert "\n" not in str(error.value)


numbers = st.one_of(
    st.floats(allow_nan=True, allow_infinity=True),
    st.floats(1e-12, 1e12),
    st.lists(st.floats(allow_nan=True, allow_infinity=True), max_size=3),
    st.text(max_size=3),
    st.none(),
)


@given(numbers, numbers, numbers, numbers, numbers)
@settings(max_examples=300, deadline=None)
def test_any_input_gives_an_answer_or_a_sentence(alpha, rho, Delta, lam, mu_B):
    try:
        model = theory.Model(alpha, rho, Delta)
        solutions = [
            theory.solve_stability(model, lam, mu_B),
            theory.solve_knockoff(model, lam),
            theory.solve_lasso(model, lam),
        ]
    except ArgumentError:  # never another kind of error
        return
    for s in solutions:
        good = np.ravel(s.converged)
        for name in ("q", "m", "chi", "v", "Q_hat", "chi_hat", "v_hat", "ensemble_error"):
            value = np.ravel(getattr(s, name))[good]
            assert np.all(np.isfinite(value))
            assert np.all(value >= 0.0)
