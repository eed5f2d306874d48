"""A ridge part of the penalty: quadrature over the definitions, limits with closed forms."""

from __future__ import annotations

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.stats import norm

from selica import theory
from selica._core.counts import count_law
from selica._core.scalar import clipped_mean
from selica.theory.iid.equations import IidEquations
from tests.oracles import replica
from tests.theory.points import random_box

NAMES = ("q", "m", "chi", "v", "Q_hat", "m_hat", "chi_hat", "v_hat")
COPIES = ("v_tilde", "chi_tilde", "v_tilde_hat")
POINTS = np.array([1.0, 3.0]) / np.sqrt(5.0)
LAWS = {
    "gaussian": (theory.GaussianEffects(), "gaussian"),
    "laplace": (theory.LaplaceEffects(), "laplace"),
    "points": (theory.PointEffects([1.0, 3.0]), ("points", [*POINTS, *-POINTS], [0.25] * 4)),
}
METHODS = ("lasso", "poisson", "bernoulli", "exponential", "knockoff")


def solve(method, p, effects=None):
    """One of `METHODS` at parameters that may be arrays."""
    model = theory.Model(p["alpha"], p["rho"], p["Delta"], effects)
    if method in ("lasso", "knockoff"):
        return getattr(theory, f"solve_{method}")(model, p["lam"], lam2=p["lam2"])
    rate = np.minimum(p["mu_B"], 0.9) if method == "bernoulli" else p["mu_B"]
    return theory.solve_stability(model, p["lam"], rate, method, lam2=p["lam2"])


def box(size, seed, low=1e-3, high=30.0):
    rng = np.random.default_rng(seed)
    return random_box(size, seed) | {"lam2": np.exp(rng.uniform(np.log(low), np.log(high), size))}


def one_of(points, i):
    return {name: float(values[i]) for name, values in points.items()}


def definition(method, p, law):
    """The same point by quadrature, and its settings."""
    kind = method if method in ("lasso", "knockoff") else "stability"
    p = dict(p)
    if kind != "stability":
        del p["mu_B"]
    else:
        p["resampling"] = method
        p["mu_B"] = min(p["mu_B"], 0.9) if method == "bernoulli" else p["mu_B"]
    return kind, replica.solve(kind, **p, effects=law), p


# --- against the definitions -----------------------------------------------------------------


def compare_with_quadrature(method, law, points):
    effects, defined = LAWS[law]
    names = (*NAMES, *COPIES) if method == "knockoff" else NAMES
    for i in range(points["lam"].size):
        p = one_of(points, i)
        ours = solve(method, p, effects)
        kind, expected, settings_ = definition(method, p, defined)
        for name in names:
            got = getattr(ours, name)
            assert abs(got - expected[name]) <= 1e-11 * (1.0 + abs(expected[name])), (name, p)
        cost, absolute = replica.cost(kind, expected, **settings_, effects=defined)
        assert ours.cost == pytest.approx(cost, rel=1e-10)
        assert ours.mean_absolute == pytest.approx(absolute, rel=1e-9, abs=1e-13)


@pytest.mark.parametrize("method", METHODS)
def test_order_parameters(method):
    compare_with_quadrature(method, "gaussian", box(3, seed=len(method)))
    compare_with_quadrature(method, "laplace", box(1, seed=30 + len(method)))
    compare_with_quadrature(method, "points", box(1, seed=60 + len(method)))


@pytest.mark.slow
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("method", METHODS)
def test_order_parameters_at_many_points(method, law):
    compare_with_quadrature(method, law, box(30, seed=100 + len(law)))
    compare_with_quadrature(method, law, box(10, seed=200 + len(law), low=1e-9, high=1e6))


@pytest.mark.parametrize("law", LAWS)
def test_rates(law):
    effects, defined = LAWS[law]
    rng = np.random.default_rng(len(law))
    points = box(2, seed=300 + len(law), low=0.1, high=3.0)
    points["lam"] = np.minimum(points["lam"], 1.0)
    for i in range(2):
        p = one_of(points, i)
        Pi_th, Z_th = rng.uniform(0.02, 0.98), rng.normal(0.0, 0.2)
        common = {"rho": p["rho"], "lam": p["lam"], "lam2": p["lam2"], "effects": defined}
        cases = []
        expected = definition("poisson", p, defined)[1]
        by_frequency = replica.rates("stability", expected, **common, Pi_th=Pi_th)
        cases.append((solve("poisson", p, effects).rates(Pi_th), by_frequency))
        d, expected = solve("knockoff", p, effects), definition("knockoff", p, defined)[1]
        many = replica.rates("derandomized", expected, **common, Pi_th=Pi_th, Z_th=Z_th)
        cases.append((d.rates(Z_th, Pi_th), many))
        cases.append(
            (d.single_rates(Z_th), replica.rates("knockoff", expected, **common, Z_th=Z_th))
        )
        expected = definition("lasso", p, defined)[1]
        cases.append(
            (solve("lasso", p, effects).rates(), replica.rates("lasso", expected, **common))
        )
        for got, want in cases:
            for name in ("tpr", "fpr", "fdr"):
                assert getattr(got, name) == pytest.approx(want[name], rel=1e-7, abs=1e-8), name


def test_general_average():
    for method in ("lasso", "poisson", "knockoff"):
        p = {"alpha": 1.5, "rho": 0.3, "Delta": 0.1, "lam": 0.2, "mu_B": 1.0, "lam2": 0.7}
        s = solve(method, p)
        assert s.expect(lambda w, *_: w, lambda x: x**2) == pytest.approx(s.q, rel=1e-9)
        assert s.expect(lambda w, *_: w**2, lambda x: x) == pytest.approx(s.q + s.v, rel=1e-9)
    copy = s.expect(lambda w, copy: copy**2, lambda x: x)
    assert copy == pytest.approx(s.v_tilde, rel=1e-9)


@pytest.mark.parametrize("mean", [None, 0.0, 0.4, -2.0, 30.0])
@pytest.mark.parametrize(("var", "lam"), [(1.0, 0.5), (1e-4, 0.5), (4.0, 1e-3)])
def test_clipped_mean(mean, var, lam):
    m, sd = mean or 0.0, np.sqrt(var)
    given_mean = None if mean is None else np.array([mean])
    inside, clipped = clipped_mean(given_mean, np.array([var]), np.array([lam]))
    edges = sorted({-lam, lam, *np.clip(m + sd * np.arange(-10.0, 11.0), -lam, lam)})
    density = norm(m, sd)
    middle = sum(
        quad(lambda h: h * density.pdf(h), a, b, epsabs=1e-16)[0]
        for a, b in itertools.pairwise(edges)
    )
    assert float(inside[0]) == pytest.approx(density.cdf(lam) - density.cdf(-lam), abs=1e-15)
    expected = middle + lam * (density.sf(lam) - density.cdf(-lam))
    assert np.ravel(clipped)[0] == pytest.approx(expected, abs=1e-13)


@pytest.mark.parametrize("law", LAWS)
def test_slopes_of_a_members_sums(law):
    """Newton's method needs them exact: differences of the sums themselves."""
    points = box(50, seed=7)
    Q, T = points["alpha"], points["alpha"] * (points["rho"] + points["Delta"])
    points["lam"] = np.minimum(points["lam"], 3.0 * np.sqrt(T))  # differences fail far out
    counts = count_law("poisson", points["mu_B"])
    five = (points[name] for name in ("alpha", "rho", "Delta", "lam", "lam2"))
    eq = IidEquations.of_kinds(*five, law=counts, kinds=LAWS[law][0].mixture().kinds(), copies=1)
    here = eq.member(Q, T)
    for name, h in (("Q", 1e-4 * Q), ("T", 1e-4 * T)):
        at = {
            k: eq.member(Q + k * h * (name == "Q"), T + k * h * (name == "T"))
            for k in (-2, -1, 1, 2)
        }
        for sums in ("P", "N"):
            value = {k: getattr(one, sums) for k, one in at.items()}
            slope = (value[-2] - 8 * value[-1] + 8 * value[1] - value[2]) / (12 * h)
            scale = getattr(here, sums) / (h * 1e4)
            off = np.abs(getattr(here, f"{sums}_{name}") - slope)
            assert np.all(off <= 1e-9 * scale), (sums, name)


# --- limits ----------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_no_ridge_part_is_the_lasso(method):
    points = box(40, seed=8) | {"lam2": np.zeros(40)}
    none = solve(method, points)
    model = theory.Model(points["alpha"], points["rho"], points["Delta"])
    if method in ("lasso", "knockoff"):
        plain = getattr(theory, f"solve_{method}")(model, points["lam"])
    else:
        rate = np.minimum(points["mu_B"], 0.9) if method == "bernoulli" else points["mu_B"]
        plain = theory.solve_stability(model, points["lam"], rate, method)
    little = solve(method, points | {"lam2": np.full(40, 1e-13)})
    mixed = solve(method, points | {"lam2": np.where(np.arange(40) % 2, 1.0, 0.0)})
    for name in (*none._overlaps, *none._conjugates, "ensemble_error", "cost"):
        assert np.array_equal(getattr(none, name), getattr(plain, name)), name
        for other, keep in ((little, slice(None)), (mixed, slice(None, None, 2))):
            close = getattr(none, name)[keep], getattr(other, name)[keep]
            np.testing.assert_allclose(*close, rtol=1e-7, atol=1e-10, err_msg=name)


def ridge_overlaps(L, weights, rho, Delta, lam2):
    """Of the minimiser (X'X + lam2)^-1 X'y, by the eigenvalues of X'X."""
    D = L + lam2
    return {
        "chi": weights @ (1.0 / D),
        "m": rho * (weights @ (L / D)),
        "square": weights @ ((rho * L**2 + Delta * L) / D**2),
        "error": Delta + weights @ ((rho * lam2**2 + Delta * L) / D**2),
    }


def without_l1(method, points, effects=None):
    """Solutions as lam goes to zero, from two small ones: they are linear in lam there."""
    one, two = (solve(method, points | {"lam": np.full_like(points["lam2"], lam)}, effects)
                for lam in (1e-11, 2e-11))  # fmt: skip
    assert np.all(one.converged & two.converged)
    names = (*one._overlaps, "ensemble_error", "prediction_error")
    return SimpleNamespace(**{n: 2.0 * getattr(one, n) - getattr(two, n) for n in names})


@pytest.mark.parametrize("law", LAWS)
def test_without_the_l1_part_it_is_ridge_regression(law):
    """Closed form: (X'X + lam2)^-1 X'y knows the Marchenko-Pastur law only, not the effects."""
    points = box(12, seed=9)
    s = without_l1("lasso", points, LAWS[law][0])
    a, r = points["alpha"], points["lam2"]
    # chi (alpha/(1 + chi) + lam2) = 1
    b = a + r - 1.0
    chi = 2.0 / (b + np.sqrt(b * b + 4.0 * r))
    np.testing.assert_allclose(s.chi, chi, rtol=1e-10)
    for i in range(12):
        p = one_of(points, i)
        law_of_eigenvalues = theory.Spectrum.marchenko_pastur(p["alpha"])
        want = ridge_overlaps(
            law_of_eigenvalues.values, law_of_eigenvalues.weights, p["rho"], p["Delta"], p["lam2"]
        )
        assert s.chi[i] == pytest.approx(want["chi"], rel=1e-9)
        assert s.m[i] == pytest.approx(want["m"], rel=1e-9)
        assert s.q[i] == pytest.approx(want["square"], rel=1e-9)
        assert s.ensemble_error[i] == pytest.approx(want["error"], rel=1e-9)


def test_ridge_regression_on_knockoffs():
    """2 N columns: eigenvalues are twice those of alpha / 2 samples for each variable."""
    points = box(12, seed=10)
    d = without_l1("knockoff", points)
    for i in range(12):
        p = one_of(points, i)
        half = theory.Spectrum.marchenko_pastur(0.5 * p["alpha"])
        want = ridge_overlaps(
            2.0 * half.values, half.weights, 0.5 * p["rho"], p["Delta"], p["lam2"]
        )
        assert d.chi[i] + d.chi_tilde[i] == pytest.approx(2.0 * want["chi"], rel=1e-9)
        assert d.m[i] == pytest.approx(2.0 * want["m"], rel=1e-9)
        square = d.q[i] + d.v[i] + d.v_tilde[i]
        assert square == pytest.approx(2.0 * want["square"], rel=1e-9)


@pytest.mark.parametrize("method", ["poisson", "bernoulli", "exponential"])
def test_ridge_regression_on_resamples(method):
    """Everything is active: linear equations for the errors of a member and of the average."""
    points = box(12, seed=11)
    s = without_l1(method, points)
    for i in range(12):
        p = one_of(points, i)
        rate = min(p["mu_B"], 0.9) if method == "bernoulli" else p["mu_B"]
        c, prob = replica._law_of_counts("stability", method, rate)

        def f(k, chi, c=c, prob=prob):
            return prob @ (c / (1.0 + chi * c)) ** k

        chi = brentq(
            lambda x, p=p, f=f: x * (p["alpha"] * f(1, x) + p["lam2"]) - 1.0,
            *(1e-12, 1.0 / p["lam2"]), xtol=1e-15, rtol=1e-14,
        )  # fmt: skip
        K = p["alpha"] * f(1, chi) + p["lam2"]
        bias = p["Delta"] + p["rho"] * (p["lam2"] / K) ** 2
        error = bias / (1.0 - p["alpha"] * f(1, chi) ** 2 / K**2)
        member = bias / (1.0 - p["alpha"] * f(2, chi) / K**2)
        assert s.chi[i] == pytest.approx(chi, rel=1e-9)
        assert s.ensemble_error[i] == pytest.approx(error, rel=1e-9)
        assert s.prediction_error[i] == pytest.approx(member, rel=1e-9)


def test_a_large_ridge_part_leaves_one_step():
    """Then the estimate is S(h; lam) / lam2 with the field of an estimate that is zero."""
    alpha, rho, Delta, lam, rate, lam2 = 1.5, 0.3, 0.2, 0.8, 1.7, 1e8
    model = theory.Model(alpha, rho, Delta)
    for s, mean, square in (
        (theory.solve_lasso(model, lam, lam2=lam2), 1.0, 1.0),
        (theory.solve_stability(model, lam, rate, lam2=lam2), rate, rate + rate**2),
        (theory.solve_knockoff(model, lam, lam2=lam2), 1.0, 1.0),
    ):
        Q, T = alpha * mean, alpha * square * (rho + Delta)
        active, second = [], []
        for var in (T, T + Q**2):
            t = lam / np.sqrt(var)
            active.append(2.0 * norm.sf(t))
            second.append(var * ((1.0 + t * t) * 2.0 * norm.sf(t) - 2.0 * t * norm.pdf(t)))
        share = np.array([1.0 - rho, rho])
        assert s.chi * lam2 == pytest.approx(share @ active, rel=1e-6)
        assert s.m * lam2 == pytest.approx(rho * Q * active[1], rel=1e-6)
        assert (s.q + s.v) * lam2**2 == pytest.approx(share @ second, rel=1e-6)
        assert s.ensemble_error == pytest.approx(rho + Delta, rel=1e-6)
        if isinstance(s, theory.KnockoffSolution):
            assert s.v_tilde * lam2**2 == pytest.approx(second[0], rel=1e-6)


def test_many_resampled_rows_are_one_fit():
    points = box(30, seed=12)
    one = solve("lasso", points)
    model = theory.Model(points["alpha"], points["rho"], points["Delta"])
    rate = 1e6
    s = theory.solve_stability(model, rate * points["lam"], rate, lam2=rate * points["lam2"])
    np.testing.assert_allclose(s.q, one.q, rtol=1e-3, atol=1e-6)
    np.testing.assert_allclose(s.m, one.m, rtol=1e-3, atol=1e-6)
    assert np.max(s.v) < 1e-4


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("method", METHODS)
def test_slopes_of_the_cost(method, law):
    points = box(20, seed=13)
    s = solve(method, points, LAWS[law][0])
    square = s.q + s.v + getattr(s, "v_tilde", 0.0)
    for name, expected in (("lam", s.mean_absolute), ("lam2", 0.5 * square)):
        h = 1e-3 * points[name]
        cost = {
            k: solve(method, points | {name: points[name] + k * h}, LAWS[law][0]).cost
            for k in (-2, -1, 1, 2)
        }
        slope = (cost[-2] - 8 * cost[-1] + 8 * cost[1] - cost[2]) / (12 * h)
        np.testing.assert_allclose(slope, expected, rtol=1e-6, atol=1e-8)


# --- everywhere ------------------------------------------------------------------------------


def check(s):
    names = (*s._overlaps, *s._conjugates, "ensemble_error", "prediction_error", "cost")
    values = np.array([np.ravel(getattr(s, name)) for name in names])
    assert np.all(s.converged)
    assert np.all(np.isfinite(values))
    assert np.all(values >= 0.0)


@pytest.mark.parametrize("method", METHODS)
def test_random_points_converge(method):
    s = solve(method, box(3_000, seed=14, low=1e-12, high=1e12))
    check(s)
    assert np.quantile(s.residual, 0.999) < 1e-12
    check(solve(method, box(1_000, seed=15) | {"lam": np.full(1_000, 1e-12)}))
    check(solve(method, box(1_000, seed=16, low=1e-9) | {"Delta": np.zeros(1_000)}))
    check(solve(method, box(300, seed=17, low=1e-9), LAWS["points"][0]))


def logarithmic(low, high):
    return st.floats(np.log10(low), np.log10(high)).map(lambda x: 10.0**x)


ANYWHERE = {
    "method": st.sampled_from(METHODS),
    "law": st.sampled_from(list(LAWS)),
    "p": st.fixed_dictionaries(
        {
            "alpha": logarithmic(1e-2, 1e2),
            "rho": st.one_of(st.just(0.0), st.floats(1e-6, 1.0)),
            "Delta": st.one_of(st.just(0.0), logarithmic(1e-6, 1e4)),
            "lam": logarithmic(1e-6, 1e3),
            "mu_B": logarithmic(1e-2, 1e2),
            "lam2": st.one_of(st.just(0.0), logarithmic(1e-12, 1e12)),
        }
    ),
}


def converges(method, law, p):
    if p["Delta"] == 0.0:
        p["lam"] = max(p["lam"], 1e-4)  # below, a noiseless lasso loses digits (docs/theory.md)
    check(solve(method, p, LAWS[law][0]))


@given(**ANYWHERE)
@settings(max_examples=25, deadline=None)
def test_converged_everywhere(method, law, p):
    converges(method, law, p)


@pytest.mark.slow
@given(**ANYWHERE)
@settings(max_examples=1500, deadline=None)
def test_converged_at_many_places(method, law, p):
    converges(method, law, p)
