"""Power, optimal penalties, and the one number behind them."""

from __future__ import annotations

import numpy as np
import pytest

from selica import theory
from selica._core.errors import BoundaryWarning, ConvergenceWarning
from selica.theory.iid.batch import EnsembleModel, member_errors, member_guesses
from tests.theory.points import random_box

MODEL = theory.Model(1.12, 0.5, 0.01)
RUNS = [
    *(
        ("lasso", 1.0),
        ("thresholded-lasso", 1.0),
        ("stability-ideal", 1.0),
        ("stability-ideal", 2.0),
    ),
    *(("knockoffs-ideal", 1.0), ("knockoffs-frequency", 1.0)),
]
LAWS = [
    theory.GaussianEffects(),
    theory.LaplaceEffects(),
    theory.PointEffects(),
    theory.EmpiricalEffects([0.1, 0.5, -1.0, 3.0]),
]


def _scan(model, method, rate, lam):
    """(tpr, fdr) along the method's threshold, by its public rates."""
    if method == "lasso":
        return theory.solve_lasso(model, np.geomspace(1e-3, 20, 20_001)).rates()
    if method == "thresholded-lasso":
        return theory.solve_lasso(model, lam).rates(np.linspace(0, 4, 20_001))
    if method == "stability-ideal":
        s = theory.solve_stability(model, lam, rate)
        return s.rates(1 - np.geomspace(1e-12, 1, 20_001))
    d = theory.solve_knockoff(model, lam)
    if method == "knockoffs-ideal":
        return d.single_rates(np.linspace(-2, 4, 20_001))
    return d.rates(np.linspace(-1, 3, 20_001), 0.025)


@pytest.mark.parametrize("effects", LAWS, ids=["gauss", "laplace", "point", "empirical"])
@pytest.mark.parametrize(("method", "rate"), RUNS)
def test_power_is_the_best_of_a_scan_over_the_threshold(method, rate, effects):
    model = theory.Model(0.8, 0.3, 0.05, effects)
    rates = _scan(model, method, rate, 0.15)
    for level in (0.02, 0.1, 0.3):
        best = np.max(rates.tpr[rates.fdr <= level], initial=0.0)
        found = theory.power(model, method, fdr=level, lam=0.15, mu_B=rate)
        assert best <= found + 1e-9
        assert found == pytest.approx(best, abs=2e-3)


@pytest.mark.parametrize("level", [0.01, 0.1, 0.25])
def test_threshold_of_z_and_of_the_probability_trace_the_same_curve(level):
    d = theory.solve_knockoff(MODEL, 0.05)
    by_Z = d.rates(np.linspace(-0.5, 2.0, 4001), 0.025)
    by_Pi = d.rates(0.03, np.linspace(0.001, 1 - 1e-7, 4001))
    expected = theory.power(MODEL, "knockoffs-frequency", level, lam=0.05)
    for rates in (by_Z, by_Pi):
        order = np.argsort(rates.fdr)
        tpr = np.interp(level, rates.fdr[order], rates.tpr[order])
        assert tpr == pytest.approx(expected, abs=1e-4)


def test_power_depends_on_alpha_over_the_error_alone():
    level = 0.1
    pairs = []
    for method, rate in RUNS:
        if method in ("lasso", "knockoffs-ideal"):
            continue
        point = theory.operating_point(MODEL, method, level, mu_B=rate)
        pairs.append((point.solution.ensemble_error, point.tpr))
    errors, powers = np.array(sorted(pairs)).T
    assert np.all(np.diff(powers) < 0)
    # another model with the same alpha / E has the same power
    for E, power in zip(errors, powers, strict=True):
        # Delta enters only through E: choose (alpha, lam) so that alpha'/E' = alpha/E
        from scipy.optimize import brentq

        def off(alpha, E=E):
            s = theory.solve_stability(theory.Model(alpha, 0.5, 0.2), 0.3, 1.3)
            return alpha / s.ensemble_error - MODEL.alpha / E

        alpha = brentq(off, 0.5, 500.0, xtol=1e-12)
        other = theory.power(theory.Model(alpha, 0.5, 0.2), "stability-ideal", level, 0.3, 1.3)
        assert other == pytest.approx(power, abs=1e-10)


def test_thresholded_lasso_cannot_select_what_is_zero():
    one = theory.solve_lasso(MODEL, 0.5)
    support = one.rates()
    found = theory.power(MODEL, "thresholded-lasso", fdr=0.9, lam=0.5)
    assert found == pytest.approx(support.tpr, rel=1e-12)


@pytest.mark.filterwarnings("ignore::selica._core.errors.BoundaryWarning")
@pytest.mark.parametrize(("method", "rate"), RUNS)
def test_ends_of_the_range(method, rate):
    assert theory.power(MODEL, method, fdr=0.0, lam=0.1, mu_B=rate) == 0.0
    full = theory.power(MODEL, method, fdr=1.0, lam=0.1, mu_B=rate)
    if method in ("stability-ideal", "knockoffs-ideal", "knockoffs-frequency"):
        assert full == 1.0
    nothing = theory.Model(1.12, 0.0, 0.01)
    assert theory.power(nothing, method, fdr=0.1, lam=0.1, mu_B=rate) == 0.0


@pytest.mark.parametrize(("method", "rate"), RUNS)
def test_operating_point_reports_a_rule_that_has_these_rates(method, rate):
    point = theory.operating_point(MODEL, method, 0.1, mu_B=rate)
    assert point.fdr == pytest.approx(0.1, abs=1e-9)
    assert point.tpr == pytest.approx(theory.power(MODEL, method, 0.1, mu_B=rate), abs=1e-9)
    s = point.solution
    rates = {
        "lasso": lambda: theory.solve_lasso(MODEL, point.threshold).rates(),
        "thresholded-lasso": lambda: s.rates(point.threshold),
        "stability-ideal": lambda: s.rates(point.threshold),
        "knockoffs-ideal": lambda: s.single_rates(point.threshold),
        "knockoffs-frequency": lambda: s.rates(0.0, point.threshold),
    }[method]()
    assert rates.tpr == pytest.approx(point.tpr, abs=1e-7)
    assert rates.fdr == pytest.approx(0.1, abs=1e-7)


@pytest.mark.parametrize("criterion", ["prediction", "power"])
@pytest.mark.parametrize(("method", "rate"), [r for r in RUNS if r[0] != "lasso"])
def test_optimal_penalty_by_a_scan(method, rate, criterion):
    model = theory.Model(np.array([1.12, 3.0]), 0.3, 0.1)
    best = theory.optimal_lam(model, method, rate, criterion)
    lams = best[:, None] * np.geomspace(0.2, 5.0, 801)
    wide = theory.Model(np.array([[1.12], [3.0]]), 0.3, 0.1)
    if method in ("knockoffs-ideal", "thresholded-lasso") and criterion == "power":
        value = -theory.power(wide, method, 0.1, lams)
    else:
        if method == "stability-ideal":
            s = theory.solve_stability(wide, lams, rate)
        elif method == "thresholded-lasso":
            s = theory.solve_lasso(wide, lams)
        else:
            s = theory.solve_knockoff(wide, lams)
        value = s.prediction_error if criterion == "prediction" else s.ensemble_error
    np.testing.assert_allclose(
        np.take_along_axis(lams, value.argmin(axis=1)[:, None], 1)[:, 0], best, rtol=0.006
    )
    # stationary to many digits: moving by one per mil changes the value in second order only
    assert np.all(value.min(axis=1) >= value[:, 400] - 1e-12)


def test_penalty_for_power_is_at_least_as_powerful_at_every_level():
    levels = np.array([0.01, 0.05, 0.1, 0.2])
    for method, rate in RUNS[1:]:
        model = theory.Model(1.12, 0.3, 0.1)
        usual = theory.power_curve(model, method, levels, "prediction", rate).tpr
        best = theory.power_curve(model, method, levels, "power", rate).tpr
        assert np.all(best >= usual - 1e-9), method


def test_lasso_penalty_at_a_level():
    lam = theory.optimal_lam(MODEL, "lasso", criterion="power", fdr=0.1)
    assert theory.solve_lasso(MODEL, lam).rates().fdr == pytest.approx(0.1, abs=1e-9)


def test_edge_of_the_search_is_announced():
    with pytest.warns(BoundaryWarning, match="lam -> 0 is best"):
        theory.optimal_lam(theory.Model(2.0, 0.3, 0.0), "thresholded-lasso")
    with pytest.warns(BoundaryWarning):
        theory.optimal_lam(theory.Model(2.0, 0.0, 1.0), "stability-ideal")


def test_curves_have_the_levels_last():
    model = theory.Model(np.array([0.63, 1.12, 2.0])[:, None], 0.5, np.array([0.01, 0.1]))
    levels = np.array([0.05, 0.1, 0.2])
    for method, rate in RUNS:
        curve = theory.power_curve(model, method, levels, mu_B=rate)
        assert curve.tpr.shape == (3, 2, 3)
        assert np.all(np.diff(curve.tpr, axis=-1) >= 0)
        one = theory.power(theory.Model(1.12, 0.5, 0.1), method, 0.2, mu_B=rate)
        assert curve.tpr[1, 1, 2] == pytest.approx(one, rel=1e-8)
        assert len(curve.to_frame()) == 18
    scalar = theory.power_curve(MODEL, "stability-ideal")
    assert scalar.tpr.shape == (100,)


def test_findings_of_the_article():
    """Low noise, alpha = 0.63 and 1.12, FDR 0.1: the order of the methods."""
    for alpha in (0.63, 1.12):
        model = theory.Model(alpha, 0.5, 0.01)
        p = {(m, r): theory.power(model, m, 0.1, mu_B=r) for m, r in RUNS}
        assert p["knockoffs-frequency", 1.0] > p["knockoffs-ideal", 1.0]
        assert p["knockoffs-frequency", 1.0] > p["stability-ideal", 1.0]
        assert p["stability-ideal", 2.0] > p["knockoffs-frequency", 1.0]
        # what the article did not look at
        assert p["thresholded-lasso", 1.0] > p["stability-ideal", 2.0]
        assert p["lasso", 1.0] < min(v for k, v in p.items() if k[0] != "lasso")


def test_small_levels_do_not_underflow():
    model = theory.Model(5.0, 0.01, 0.001)
    levels = np.array([1e-200, 1e-50, 1e-10])
    power = theory.power(model, "knockoffs-frequency", levels, lam=0.1)
    assert np.all(power > 0.1)
    assert np.all(np.diff(power) > 0)


@pytest.mark.filterwarnings("ignore::selica._core.errors.BoundaryWarning")
@pytest.mark.parametrize(("method", "rate"), RUNS)
@pytest.mark.parametrize("lam", ["prediction", "power", 0.1])
def test_extremes_give_an_answer(method, rate, lam):
    alpha, rho, Delta = np.meshgrid([1e-9, 1e9], [0.0, 1e-6, 1.0], [0.0, 1e9])
    model = theory.Model(alpha, rho, Delta)
    found = theory.power(model, method, 0.1, lam, rate)
    assert np.all((found >= 0.0) & (found <= 1.0))


@pytest.mark.filterwarnings("ignore::selica._core.errors.BoundaryWarning")
@pytest.mark.parametrize(("method", "rate"), [*RUNS, ("stability-ideal", 10.0)])
def test_operating_points_can_be_used_as_printed(method, rate):
    box = random_box(60, seed=31)
    model = theory.Model(box["alpha"], box["rho"], box["Delta"])
    point = theory.operating_point(model, method, 0.1, lam=box["lam"], mu_B=rate)
    for i in range(60):
        one = theory.Model(box["alpha"][i], box["rho"][i], box["Delta"][i])
        lam, cut = float(box["lam"][i]), float(point.threshold[i])
        name = np.broadcast_to(point.threshold_name, 60)[i]
        if method == "lasso":
            found = theory.solve_lasso(one, cut).rates() if np.isfinite(cut) else None
        elif method == "thresholded-lasso":
            found = theory.solve_lasso(one, lam).rates(cut) if np.isfinite(cut) else None
        elif name == "g_th":
            continue  # a threshold on the field itself: nothing to ask of the public rates
        elif method == "stability-ideal":
            found = theory.solve_stability(one, lam, rate).rates(cut)
        elif method == "knockoffs-ideal":
            found = theory.solve_knockoff(one, lam).single_rates(cut) if np.isfinite(cut) else None
        else:
            d = theory.solve_knockoff(one, lam)
            found = d.rates(0.0, cut) if name == "Pi_th" else d.rates(cut, 0.5)
        expected = float(cut < 0.0) if found is None else found.tpr  # all, or nothing
        assert point.tpr[i] == pytest.approx(expected, abs=2e-6), (i, name, cut)
    assert np.all(point.fdr <= 0.1 + 1e-6)


@pytest.mark.filterwarnings("ignore::selica._core.errors.BoundaryWarning")
def test_thresholded_lasso_with_the_most_powerful_penalty_by_a_scan():
    for alpha, rho, Delta, level in ((0.6617, 0.8988, 0.8149, 0.1), (0.5, 0.3, 1.0, 0.5)):
        model = theory.Model(alpha, rho, Delta)
        scan = theory.power(model, "thresholded-lasso", level, np.geomspace(1e-3, 10, 2000))
        found = theory.power(model, "thresholded-lasso", level, "power")
        assert found >= scan.max() - 1e-6


def test_what_is_built_on_a_failed_point_warns(monkeypatch):
    from selica.theory.iid import batch as module

    monkeypatch.setattr(module, "TOLERANCE", -1.0)
    with pytest.warns(ConvergenceWarning, match="stability-ideal did not converge at 1 of 1"):
        theory.power(MODEL, "stability-ideal", 0.1, lam=0.1)


@pytest.mark.parametrize("effects", [theory.GaussianEffects(), theory.PointEffects()])
@pytest.mark.parametrize(("alpha", "Delta"), [(0.3, 0.001), (0.9, 0.05), (3.0, 0.01)])
@pytest.mark.parametrize("law", [None, "poisson", "bernoulli", "exponential"])
def test_scans_begin_close_to_what_they_find(law, alpha, Delta, effects):
    """Within a factor of three, while chi goes through decades; and what is found is the same."""
    log_lam = np.linspace(2.0, -12.0, 40)
    models = {"alpha": np.array([alpha]), "rho": np.array([0.2]), "Delta": np.array([Delta])}
    if law is not None:
        models["mu_B"] = np.array([0.7])
    mixture = effects.mixture()
    ensemble = EnsembleModel(mixture.kinds(), mixture.mean.size, copies=0, resampling=law)
    with np.errstate(all="ignore"):
        guess = member_guesses(ensemble, models, log_lam[None])
    points = {name: np.repeat(value, 40) for name, value in models.items()}
    points |= {"lam": np.exp(log_lam), "lam2": np.zeros(40)}
    found = member_errors(ensemble, points)
    known = np.isfinite(guess.prediction)
    assert known.sum() >= 30
    for near, exact in zip(guess, found, strict=True):
        assert np.all(np.abs(np.log(near / exact)[known]) < np.log(3.0))
    again = member_errors(ensemble, points, guess)
    for one, other in zip(again, found, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-10)
