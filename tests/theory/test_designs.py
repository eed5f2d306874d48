"""Designs with a given spectrum: limits, identities, the long form of the equations, data."""

from __future__ import annotations

import numpy as np
import pytest

from selica import theory
from selica._core.errors import ArgumentError
from selica.solvers import lasso_path_batch
from tests.oracles import designs as oracle
from tests.theory.points import random_box

NAMES = ("q", "m", "chi", "v", "Q_hat", "chi_hat", "v_hat", "ensemble_error", "cost")
LAWS = [theory.GaussianEffects(), theory.LaplaceEffects(), theory.PointEffects([1.0, 2.0])]
SPECTRA = {
    "rows": (0.5, theory.Spectrum.row_orthogonal(0.5)),
    "wide": (0.5, theory.Spectrum.geometric(0.5, 10.0)),
    "tall": (1.5, theory.Spectrum.geometric(1.5, 30.0)),
}


def _solve(model, lam, mu_B, spectrum, resampling="poisson"):
    if mu_B is None:
        return theory.solve_lasso(model, lam, spectrum=spectrum)
    return theory.solve_stability(model, lam, mu_B, resampling, spectrum=spectrum)


# --- spectra ---------------------------------------------------------------------------------


@pytest.mark.parametrize("alpha", [0.01, 0.5, 0.999, 1.0, 1.001, 20.0])
def test_moments_of_marchenko_pastur(alpha):
    s = theory.Spectrum.marchenko_pastur(alpha)
    moments = [s.weights @ s.values**k for k in range(4)]
    assert moments == pytest.approx([1.0, alpha, alpha + alpha**2, alpha + 3 * alpha**2 + alpha**3])
    assert s.rank == pytest.approx(min(1.0, alpha))
    # E 1/(g + L) solves S = 1/(g + alpha/(1 + S)): the poles of tiny g are resolved
    for g in (1e-6, 1e-2, 1.0, 100.0):
        S = s.weights @ (1 / (g + s.values))
        assert S * (g + alpha / (1 + S)) == pytest.approx(1.0, abs=1e-9)


def test_geometric_spectrum_is_the_limit_of_a_matrix():
    s = theory.Spectrum.geometric(0.5, 10.0)
    one = theory.Spectrum.of_singular_values(oracle.geometric(2000, 4000, 10.0), 4000)
    assert s.mean == pytest.approx(one.mean) == pytest.approx(0.5)
    assert s.rank == pytest.approx(one.rank)
    for g in (0.01, 1.0):
        limit, finite = (t.weights @ (1 / (g + t.values)) for t in (s, one))
        assert limit == pytest.approx(finite, rel=1e-3)


def test_eigenvalues_and_singular_values_of_one_matrix():
    X = np.random.default_rng(1).standard_normal((7, 12))
    one = theory.Spectrum.of_eigenvalues(np.linalg.eigvalsh(X.T @ X))
    two = theory.Spectrum.of_singular_values(np.linalg.svd(X, compute_uv=False), 12)
    assert np.sort(one.values) == pytest.approx(np.sort(two.values), abs=1e-9)
    assert one.rank == two.rank == pytest.approx(7 / 12)
    tall = theory.Spectrum.of_singular_values(np.append(np.ones(3), np.zeros(2)), 3)
    assert (tall.rank, tall.values.size) == (1.0, 3)


def test_bad_spectra():
    with pytest.raises(ArgumentError, match="must be non-negative"):
        theory.Spectrum.of_eigenvalues([1.0, -0.5])
    with pytest.raises(ArgumentError, match="must not all be zero"):
        theory.Spectrum.of_eigenvalues([0.0, 0.0])
    with pytest.raises(ArgumentError, match="at most n_features = 2"):
        theory.Spectrum.of_singular_values([1.0, 1.0, 1.0], 2)
    with pytest.raises(ArgumentError, match="more than the alpha"):
        theory.solve_lasso(theory.Model(0.3, 0.1, 0.1), 1.0, spectrum=SPECTRA["rows"][1])
    with pytest.raises(ArgumentError, match=r"spectrum must be a theory\.Spectrum"):
        theory.solve_lasso(theory.Model(0.3, 0.1, 0.1), 1.0, spectrum=[1.0])


# --- limits ----------------------------------------------------------------------------------


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_marchenko_pastur_is_the_theory_of_independent_entries(law):
    box = random_box(6, seed=3)
    for alpha, rho, Delta, lam, mu_B in zip(*box.values(), strict=True):
        model, spectrum = (
            theory.Model(alpha, rho, Delta, law),
            theory.Spectrum.marchenko_pastur(alpha),
        )
        cases = [(None, "poisson"), (mu_B, "poisson"), (mu_B, "exponential")]
        for rate, resampling in [*cases, (min(mu_B, 1.0), "bernoulli")]:
            got = _solve(model, lam, rate, spectrum, resampling)
            want = _solve(model, lam, rate, None, resampling)
            assert got.converged
            for name in NAMES:
                assert getattr(got, name) == pytest.approx(getattr(want, name), rel=1e-8, abs=1e-9)
            assert got.m_hat == got.Q_hat


def test_orthogonal_columns_are_soft_thresholds():
    """X'X = L: every variable alone, with field L w0 + N(0, L Delta)."""
    L, rho, Delta, lam = 2.0, 0.3, 0.1, 0.4
    s = theory.solve_lasso(
        theory.Model(3.0, rho, Delta), lam, spectrum=theory.Spectrum.of_eigenvalues([L, L])
    )
    assert (s.Q_hat, s.chi_hat) == (pytest.approx(L), pytest.approx(L * Delta))
    # without noise too, where fields have no spread: only effects above lam / L are found
    quiet = theory.solve_lasso(
        theory.Model(3.0, rho, 0.0), lam, spectrum=theory.Spectrum.of_eigenvalues([L, L])
    )
    assert quiet.converged
    assert quiet.rates().fpr == 0.0


def test_the_scale_of_the_design_is_a_unit():
    """X -> a X, Delta -> a^2 Delta, lam -> a^2 lam leaves the estimate as it is."""
    alpha, one = SPECTRA["wide"]
    big = theory.Spectrum(9.0 * one.values, one.weights)
    a = theory.solve_stability(theory.Model(alpha, 0.2, 0.01), 0.3, spectrum=one)
    b = theory.solve_stability(theory.Model(alpha, 0.2, 0.09), 2.7, spectrum=big)
    for name in ("q", "m", "v"):
        assert getattr(a, name) == pytest.approx(getattr(b, name), rel=1e-10)
    assert a.rates(0.4).tpr == pytest.approx(b.rates(0.4).tpr, rel=1e-10)


def test_many_resamples_are_one_lasso():
    alpha, spectrum = SPECTRA["wide"]
    model = theory.Model(alpha, 0.2, 0.05)
    s = theory.solve_stability(model, 0.3 * 1e5, 1e5, spectrum=spectrum)
    want = theory.solve_lasso(model, 0.3, spectrum=spectrum)
    assert (s.q, s.m) == (pytest.approx(want.q, rel=1e-4), pytest.approx(want.m, rel=1e-4))
    assert s.v < 1e-4


# --- the equations ---------------------------------------------------------------------------


def test_published_row_orthogonal_numbers():
    s = theory.solve_stability(theory.Model(0.5, 0.2, 0.01), 0.3, spectrum=SPECTRA["rows"][1])
    want = {"q": 0.040355, "m": 0.074835, "chi": 0.490819, "v": 0.019044, "Q_hat": 0.289489}
    want |= {"m_hat": 0.289489, "chi_hat": 0.011681, "v_hat": 0.018475}
    for name, value in want.items():
        assert getattr(s, name) == pytest.approx(value, abs=6e-7)


@pytest.mark.parametrize("name", SPECTRA)
@pytest.mark.parametrize("mu_B", [None, 1.0])
def test_the_long_form_of_the_equations(name, mu_B):
    alpha, spectrum = SPECTRA[name]
    model = theory.Model(alpha, 0.2, 0.01)
    got = _solve(model, 0.3, mu_B, spectrum)
    want = oracle.two_modules(
        spectrum.values, spectrum.weights, alpha=alpha, rho=0.2, Delta=0.01, lam=0.3,
        method="lasso" if mu_B is None else "stability",
    )  # fmt: skip
    for key in ("q", "m", "chi", "v", "Q_hat", "m_hat", "chi_hat", "v_hat"):
        assert getattr(got, key) == pytest.approx(want[key], abs=1e-9), key


@pytest.mark.parametrize("name", SPECTRA)
@pytest.mark.parametrize("mu_B", [None, 0.7])
def test_slope_of_the_cost_is_the_mean_absolute_estimate(name, mu_B):
    alpha, spectrum = SPECTRA[name]
    model, h = theory.Model(alpha, 0.3, 0.05, LAWS[2]), 1e-4
    low, at, high = (_solve(model, 0.2 + d, mu_B, spectrum) for d in (-h, 0.0, h))
    assert (high.cost - low.cost) / (2 * h) == pytest.approx(at.mean_absolute, rel=1e-6)


def test_everywhere():
    rng = np.random.default_rng(0)
    for seed in range(4):
        box = random_box(40, seed=100 + seed)
        alpha = float(box["alpha"][0])
        values = np.zeros(100)
        values[: max(1, int(min(alpha, 1.0) * 100))] = 1.0
        values = values * rng.exponential(size=100) ** 2
        spectra = [theory.Spectrum.geometric(alpha, 300.0)]
        if np.count_nonzero(values) <= 100 * alpha:
            spectra.append(theory.Spectrum.of_eigenvalues(values * alpha / values.mean()))
        for spectrum in spectra:
            model = theory.Model(alpha, box["rho"], box["Delta"], LAWS[seed % 3])
            for rate in (None, box["mu_B"]):
                s = _solve(model, box["lam"], rate, spectrum)
                assert np.all(s.converged)
                assert np.max(s.residual) < 1e-10


@pytest.mark.parametrize("rho", [0.0, 0.2, 1.0])
@pytest.mark.parametrize("Delta", [0.0, 1e-6, 1e6])
def test_edges(rho, Delta):
    lam = np.geomspace(1e-4, 1e3, 8)
    for alpha, spectrum in SPECTRA.values():
        for rate in (None, 1.0):
            assert np.all(_solve(theory.Model(alpha, rho, Delta), lam, rate, spectrum).converged)


# --- data ------------------------------------------------------------------------------------


def _fit(X, y, weights, lam):
    return lasso_path_batch(X, y, [lam], weights, tol=1e-7).coef[:, 0, :]


def _compare(size, sets, kind, members, *, alpha=0.5, lam=0.3, rho=0.2, Delta=0.01):
    """Largest deviations from both theories, in standard errors, by quantity."""
    rows = round(alpha * size)
    singular = np.ones(rows) if kind == "rows" else oracle.geometric(rows, size, kind)
    setting = {"rho": rho, "Delta": Delta, "lam": lam, "mu_B": 1.0}
    runs = []
    for seed in np.random.SeedSequence(17).spawn(sets):
        rng = np.random.default_rng(seed)
        X = oracle.design(rng, rows, size, singular)
        votes = max(1, members // 2)
        runs.append(
            oracle.one_data_set(rng, X, members=members, votes=votes, lasso=_fit, **setting)
        )
    strength = np.array([run["strength"] for run in runs]) - rho
    own = theory.Spectrum.of_singular_values(singular, size)
    off = []
    for spectrum in (own, None):
        s = _solve(theory.Model(alpha, rho, Delta), lam, None if members == 1 else 1.0, spectrum)
        rates = s.rates() if members == 1 else s.rates(0.5, n_members=members)
        expected = {"q": s.q, "m": s.m, "active": s.chi * s.Q_hat, "tpr": rates.tpr,
                    "fpr": rates.fpr, "fdp": rates.fdr}  # fmt: skip
        if members > 1:
            expected["v"] = s.v
        apart = {}
        for name, value in expected.items():
            drawn = np.array([run[name] for run in runs])
            # the strength of the drawn signal is a control variate
            left = drawn - np.cov(drawn, strength)[0, 1] / strength.var(ddof=1) * strength
            apart[name] = abs(left.mean() - value) / (left.std(ddof=2) / np.sqrt(sets))
        off.append(apart)
    return off


@pytest.mark.parametrize(("kind", "members"), [("rows", 1), (10.0, 1)])
def test_small_data(kind, members):
    own, independent = _compare(300, 30, kind, members)
    assert max(own.values()) < 4, own
    assert independent["fdp"] > 6


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["rows", 10.0])
@pytest.mark.parametrize(("members", "sets"), [(1, 40), (50, 24)])
def test_large_data(kind, members, sets):
    """N = 1000: within four standard errors, where independent entries are far off."""
    own, independent = _compare(1000, sets, kind, members)
    assert max(own.values()) < 4, own
    assert independent["fdp"] > 8
    assert independent["tpr"] > 4
