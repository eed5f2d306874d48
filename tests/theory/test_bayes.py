"""The ceiling: no method beats it, message passing meets it, quadrature confirms it."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from selica import theory
from selica._core.errors import ArgumentError, BoundaryWarning
from selica.theory.bayes.channel import channel
from selica.theory.bayes.local_fdr import tails
from tests.oracles import bayes as oracle
from tests.theory.points import random_box

GAUSS = theory.GaussianEffects()
GIVEN = theory.PointEffects([1.0, -0.4], signs="given")
ONE_SIGN = theory.PointEffects([1.0, 2.0], signs="given")
LAWS = {
    "gauss": (GAUSS, "gaussian"),
    "signs": (theory.PointEffects(), ([1.0, -1.0], [0.5, 0.5])),
    "given": (GIVEN, (GIVEN.values, GIVEN.weights)),
    "one sign": (ONE_SIGN, (ONE_SIGN.values, ONE_SIGN.weights)),
}
EVERY_LAW = [
    *(law for law, _ in LAWS.values()),
    theory.LaplaceEffects(),
    theory.EmpiricalEffects(np.random.default_rng(0).standard_normal(40)),
]


def test_the_oracle_of_the_ceiling():
    model = theory.Model(1.12, 0.5, 0.01)
    assert theory.power(model, "bayes", 0.1) == pytest.approx(0.8005, abs=5e-5)


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("s", [0.02, 1.0, 9.0, 300.0])
def test_mmse_by_brute_force(name, s):
    law, known = LAWS[name]
    found = channel(law.mixture(), 0.2, np.array([s])).load[0] / s
    assert found == pytest.approx(oracle.mmse(s, 0.2, known), abs=1e-12)


@pytest.mark.parametrize("law", EVERY_LAW, ids=str)
def test_slopes_of_the_channel(law):
    """I-MMSE: the information grows by half the error; the slope of the error is -E Var^2."""
    x, h = np.linspace(-5.0, 9.0, 15), 1e-4
    at, left, right = (channel(law.mixture(), 0.3, np.exp(x + d)) for d in (0.0, -h, h))
    assert (right.information - left.information) / (2 * h) == pytest.approx(at.load / 2, abs=1e-8)
    assert (right.load - left.load) / (2 * h) == pytest.approx(at.slope, abs=1e-7)


def test_a_mixture_of_points_close_together_is_a_gaussian():
    """Laws by Gauss-Legendre panels and laws by the trapezoidal rule meet."""
    x, w = np.polynomial.hermite_e.hermegauss(60)
    points = theory.PointEffects(x, w / w.sum(), signs="given")
    s = np.exp(np.linspace(-3.0, 1.0, 9))
    for one, other in zip(
        channel(GAUSS.mixture(), 0.4, s), channel(points.mixture(), 0.4, s), strict=True
    ):
        assert one == pytest.approx(other, abs=1e-10)


@pytest.mark.parametrize("law", EVERY_LAW, ids=str)
def test_everything_known_about_the_limits(law):
    # no signals: nothing to estimate; all signals, little noise: s = alpha / (Delta + mmse)
    none = theory.solve_bayes(theory.Model(1.0, 0.0, 0.3, law))
    assert (none.mse, none.ensemble_error) == (0.0, pytest.approx(0.3))
    weak = theory.solve_bayes(theory.Model(0.5, 0.2, 1e4, law))
    mean = law.mixture().probability @ law.mixture().mean
    # the posterior mean is then the prior mean
    assert weak.mse == pytest.approx(0.2 - (0.2 * mean) ** 2, rel=1e-4)


@pytest.mark.parametrize("name", LAWS)
def test_a_solution_solves_its_equation(name):
    law, known = LAWS[name]
    for branch in ("information", "algorithm"):
        s = theory.solve_bayes(theory.Model(0.5, 0.15, 0.02, law), branch)
        assert s.converged
        assert s.m_hat == pytest.approx(0.5 / (0.02 + oracle.mmse(s.m_hat, 0.15, known)), rel=1e-9)
        assert s.q == s.m == pytest.approx(0.15 - s.mse)
        assert s.ensemble_error == pytest.approx(0.02 + s.mse, rel=1e-12)


def test_gaussian_effects_without_nulls_are_ridge_regression():
    alpha, Delta = 0.7, 0.3
    s = theory.solve_bayes(theory.Model(alpha, 1.0, Delta))
    # e = 1/(1 + alpha/(Delta + e))
    b = Delta + alpha - 1.0
    assert s.mse == pytest.approx((-b + np.sqrt(b * b + 4 * Delta)) / 2, rel=1e-12)


@pytest.mark.parametrize("law", EVERY_LAW, ids=str)
def test_information_is_a_free_energy(law):
    """Its derivatives are those of the information of the data."""
    alpha, rho, Delta, h = 0.8, 0.25, 0.05, 1e-4
    at = theory.solve_bayes(theory.Model(alpha, rho, Delta, law))
    one, two = (theory.solve_bayes(theory.Model(alpha + d, rho, Delta, law)) for d in (-h, h))
    slope = (two.information - one.information) / (2 * h)
    assert slope == pytest.approx(0.5 * np.log1p(at.mse / Delta), rel=1e-6)
    steps = 1 / Delta + np.array([-h, h])
    one, two = (theory.solve_bayes(theory.Model(alpha, rho, 1 / p, law)) for p in steps)
    slope = (two.information - one.information) / (2 * h)
    # I-MMSE for the data: half the error of predicting X w0, alpha mse Delta/(Delta + mse)
    assert slope == pytest.approx(0.5 * alpha * at.mse * Delta / (Delta + at.mse), rel=1e-5)


@pytest.mark.parametrize("law", [GAUSS, GIVEN, ONE_SIGN], ids=str)
def test_edges(law):
    alpha, rho, Delta = np.meshgrid([1e-3, 1.0, 30.0], [0.0, 1e-4, 0.3, 1.0], [0.0, 1e-9, 1e5])
    for branch in ("information", "algorithm"):
        s = theory.solve_bayes(theory.Model(alpha, rho, Delta, law), branch)
        assert np.all(s.converged)
        assert np.all((s.mse >= 0.0) & (s.mse <= rho))
        rates = s.rates(0.2)
        assert np.all(rates.fdr <= 0.2 + 1e-12)
        assert np.all((rates.tpr >= 0.0) & (rates.tpr <= 1.0))


def test_a_law_of_many_points_far_apart_and_close():
    """Points that stand alone are taken out of the quadrature; clusters are not."""
    points = theory.PointEffects([1.0, 1.01, 5.0], signs="given")
    mixture = points.mixture()
    for s in (10.0, 1e3, 1e5):
        found = channel(mixture, 0.3, np.array([s]))
        known = oracle.mmse(s, 0.3, (mixture.mean, mixture.probability))
        assert found.load[0] / s == pytest.approx(known, abs=1e-13)
    # once all is known, the information is the entropy
    p = np.append(0.3 * mixture.probability, 0.7)
    entropy = -np.sum(p * np.log(p))
    assert channel(mixture, 0.3, np.array([1e9])).information[0] == pytest.approx(entropy)


# --- several solutions -----------------------------------------------------------------------


def test_three_solutions_between_the_spinodals():
    rho, Delta = 0.1, 1e-6
    (jump,) = theory.bayes_transitions(rho, Delta)
    inside = theory.bayes_solutions(theory.Model(0.18, rho, Delta))
    assert [s.branch for s in inside] == ["algorithm", "unstable", "information"]
    assert inside[0].information > inside[2].information
    assert inside[1].information > inside[0].information
    ends = {jump.spinodal: (1, 3), jump.algorithm: (3, 1)}
    for alpha, number in [(a * (1 + d), n[d > 0]) for a, n in ends.items() for d in (-1e-6, 1e-6)]:
        assert len(theory.bayes_solutions(theory.Model(alpha, rho, Delta))) == number
    below, above = (
        theory.solve_bayes(theory.Model(jump.information * (1 + d), rho, Delta))
        for d in (-1e-7, 1e-7)
    )
    assert below.mse == pytest.approx(jump.mse_below, rel=1e-4)
    assert above.mse == pytest.approx(jump.mse_above, rel=1e-4)
    stuck = theory.solve_bayes(theory.Model(jump.information * (1 + 1e-7), rho, Delta), "algorithm")
    assert stuck.mse == pytest.approx(jump.mse_below, rel=1e-4)
    assert below.information == pytest.approx(above.information, abs=1e-6)


def test_noiseless_thresholds():
    """Krzakala, Mezard, Sausset, Sun, Zdeborova 2012: at rho = 0.4 message passing needs 0.59."""
    (jump,) = theory.bayes_transitions(0.4, 0.0)
    assert jump.algorithm == pytest.approx(0.59, abs=0.005)
    assert jump.information == 0.4
    assert jump.algorithm < theory.reconstruction_limit(0.4, "lasso")
    small = theory.bayes_transitions(0.4, 1e-9)[0]
    assert small.algorithm == pytest.approx(jump.algorithm, abs=1e-5)
    for alpha, known in ((0.39, False), (0.41, True)):
        s = theory.solve_bayes(theory.Model(alpha, 0.4, 0.0))
        assert (s.mse == 0.0) == known
        assert theory.solve_bayes(theory.Model(alpha, 0.4, 0.0), "algorithm").mse > 0.01
    assert theory.power(theory.Model(0.41, 0.4, 0.0), "bayes", 0.01) == 1.0
    assert theory.bayes_transitions(0.4, 0.1) == ()


def test_points_have_no_information_threshold_without_noise():
    (jump,) = theory.bayes_transitions(0.1, 0.0, theory.PointEffects())
    assert jump.information == 0.0
    assert jump.algorithm > 0.1
    assert theory.solve_bayes(theory.Model(0.05, 0.1, 0.0, theory.PointEffects())).mse == 0.0


# --- selection -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("fdr", [0.01, 0.1, 0.4])
def test_power_is_that_of_the_best_set_of_fields(name, fdr):
    law, known = LAWS[name]
    model = theory.Model(0.6, 0.3, 0.1, law)
    s = theory.solve_bayes(model)
    best = oracle.best_rule(s.m_hat, 0.3, known, fdr)
    assert theory.power(model, "bayes", fdr) == pytest.approx(best, abs=2e-4)
    point = theory.operating_point(model, "bayes", fdr)
    rates = s.rates(point.threshold)
    assert (rates.tpr, rates.fpr) == (
        pytest.approx(point.tpr, abs=1e-10),
        pytest.approx(point.fpr, abs=1e-10),
    )
    assert point.fdr == pytest.approx(fdr, abs=1e-10)


@pytest.mark.parametrize("name", LAWS)
def test_local_fdr_by_bayes_formula(name):
    law, known = LAWS[name]
    s = theory.solve_bayes(theory.Model(0.6, 0.3, 0.1, law))
    r = np.linspace(-2.5, 2.5, 11)
    inclusion = oracle.posterior(r, s.m_hat, 0.3, known)[0]
    assert s.local_fdr(s.m_hat * r) == pytest.approx(1 - inclusion, abs=1e-12)


def test_two_ways_to_a_symmetric_region():
    """The general search for both ends, and the symmetric one."""
    signals = theory.PointEffects([0.5, 1.0]).mixture()
    s, threshold = np.array([2.0, 30.0]), np.array([0.5, 3.0])
    found = tails(signals, s, threshold)
    assert found.a == pytest.approx(-found.b)
    skewed = signals._replace(probability=signals.probability * [1, 1, 1, 1 + 1e-9])
    assert tails(skewed, s, threshold).b == pytest.approx(found.b, rel=1e-7)


@pytest.mark.parametrize("law", EVERY_LAW, ids=str)
def test_thresholds_everything_and_nothing(law):
    s = theory.solve_bayes(theory.Model(0.6, 0.3, 0.1, law))
    assert s.rates(1.0).tpr == s.rates(1.0).fpr == 1.0
    assert s.rates(0.0).tpr == s.rates(0.0).fdr == 0.0
    curve = theory.power_curve(
        theory.Model(0.6, 0.3, 0.1, law), "bayes", [0.0, 0.05, 0.3, 0.7, 1.0]
    )
    assert np.all(np.diff(curve.tpr) >= 0.0)
    assert curve.tpr[[0, 3, 4]] == pytest.approx([0.0, 1.0, 1.0])


def _no_method_above(model, fdr, methods):
    amp = np.asarray(theory.power(model, "bayes-amp", fdr))
    best = np.asarray(theory.power(model, "bayes", fdr))
    assert np.all(amp <= best + 1e-12)
    for method, lam, rate in methods:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", BoundaryWarning)
            other = theory.power(model, method, fdr, lam=lam, mu_B=rate)
        assert np.all(other <= amp + 1e-8), (method, lam)


@pytest.mark.parametrize("law", EVERY_LAW, ids=str)
def test_no_method_is_above_the_ceiling(law):
    box = random_box(12, seed=5)
    model = theory.Model(
        box["alpha"], np.clip(np.round(box["rho"], 1), 0.02, 0.97), box["Delta"], law
    )
    methods = [
        *(("thresholded-lasso", box["lam"], 1.0), ("knockoffs-frequency", box["lam"], 1.0)),
        *(("stability-ideal", box["lam"], box["mu_B"]), ("knockoffs-ideal", box["lam"], 1.0)),
    ]
    for fdr in (0.01, 0.1, 0.3):
        _no_method_above(model, fdr, methods)


@pytest.mark.slow
@pytest.mark.parametrize("law", EVERY_LAW, ids=str)
def test_no_tuned_method_is_above_the_ceiling(law):
    box = random_box(20, seed=11)
    model = theory.Model(
        box["alpha"], np.clip(np.round(box["rho"], 1), 0.02, 0.97), box["Delta"], law
    )
    methods = [
        (method, lam, rate)
        for method in (
            "lasso",
            "thresholded-lasso",
            "knockoffs-frequency",
            "stability-ideal",
            "knockoffs-ideal",
        )
        for lam in ("prediction", "power")
        for rate in ((1.0, 5.0) if method == "stability-ideal" else (1.0,))
    ]
    _no_method_above(model, 0.1, methods)


def test_the_ceiling_does_not_look_at_the_penalty():
    model = theory.Model([0.5, 1.0], 0.3, 0.1)
    assert np.all(theory.power(model, "bayes", 0.1) == theory.power(model, "bayes", 0.1, lam=3.0))
    curve = theory.power_curve(model, "bayes", [0.1, 0.2])
    assert curve.tpr.shape == (2, 2)
    assert np.isnan(curve.lam).all()
    assert theory.operating_point(model, "bayes-amp").threshold_name == "lfdr"


def test_bad_input():
    with pytest.raises(ArgumentError, match="branch must be one of"):
        theory.solve_bayes(theory.Model(1.0, 0.1, 0.1), "best")
    with pytest.raises(ArgumentError, match="model must be a single one"):
        theory.bayes_solutions(theory.Model([1.0, 2.0], 0.1, 0.1))
    with pytest.raises(ArgumentError, match="effects must be a distribution"):
        theory.bayes_transitions(0.1, 0.1, effects=3)
    with pytest.raises(ArgumentError, match="method must be one of"):
        theory.optimal_lam(theory.Model(1.0, 0.1, 0.1), "bayes")


# --- data ------------------------------------------------------------------------------------


def _run(size, sets, alpha, rho, Delta, name, from_truth=False):
    law, known = LAWS[name]
    branch = "information" if from_truth else "algorithm"
    s = theory.solve_bayes(theory.Model(alpha, rho, Delta, law), branch)
    rows = []
    for seed in range(sets):
        rng = np.random.default_rng(seed)
        X, y, w0 = oracle.draw(rng, size, alpha, rho, Delta, known)
        inclusion, w = oracle.bayes_amp(X, y, rho, known, w0 if from_truth else None)
        chosen = 1 - inclusion <= 0.3
        rows.append([np.mean((w - w0) ** 2), np.mean(chosen[w0 != 0]), np.mean(chosen[w0 == 0])])
    mean, se = np.mean(rows, axis=0), np.std(rows, axis=0, ddof=1) / np.sqrt(sets)
    rates = s.rates(lfdr=0.3)
    expected = np.array([s.mse, rates.tpr, rates.fpr])
    assert np.all(np.abs(mean - expected) < 4 * se + 1e-9), (mean, expected, se)
    return se / expected


@pytest.mark.parametrize("name", ["gauss", "given"])
def test_message_passing_on_data(name):
    _run(400, 8, 0.8, 0.2, 0.02, name)


@pytest.mark.slow
@pytest.mark.parametrize("name", LAWS)
def test_message_passing_on_large_data(name):
    spread = _run(2000, 12, 0.7, 0.2, 0.02, name)
    assert spread[1] < 0.03


@pytest.mark.slow
def test_message_passing_in_the_hard_phase():
    """Between the transitions: stuck from nothing, at the better solution from the truth."""
    _run(2000, 6, 0.18, 0.1, 1e-5, "gauss")
    _run(2000, 6, 0.18, 0.1, 1e-5, "gauss", from_truth=True)


@pytest.mark.parametrize("Delta", [1e-250, 1e-300, 5e-324])
def test_noise_too_small_for_a_number_is_none(Delta):
    for alpha in (0.05, 1.5):
        tiny, none = (theory.bayes_solutions(theory.Model(alpha, 0.2, x)) for x in (Delta, 0.0))
        assert [one.status for one in tiny] == ["converged"] * len(none)
        assert tiny[0].mse == pytest.approx(none[0].mse, rel=1e-12)


@pytest.mark.parametrize(
    ("law", "alpha", "rho", "snr", "fdr"),
    [
        (theory.EmpiricalEffects([0.3, -1.0, 2.0, 0.7, -0.1]), 8 / 7, 3 / 7, 1 / 19, 0.5),
        (theory.EmpiricalEffects([0.3, -1.0, 2.0, 0.7, -0.1]), 3.0, 0.9, 10.0, 0.05),
        (theory.PointEffects((1.0, -0.5), signs="given"), 3.0, 0.7, 0.1, 0.2),
    ],
)
def test_levels_next_to_the_smallest_ratio_are_kept(law, alpha, rho, snr, fdr):
    # next to it nearly all variables are selected, and slopes are those of a square root
    found = theory.operating_point(theory.Model(alpha, rho, rho / snr, law), "bayes", fdr)
    assert found.fdr == pytest.approx(fdr, abs=1e-9)
    assert 0.0 < found.fpr < found.tpr < 1.0


def test_what_is_remembered_is_what_is_found(monkeypatch):
    from selica.theory.bayes import solution as module

    model = theory.Model([0.2, 0.2, 1.0], 0.1, [1e-6, 0.01, 0.0])
    known = [theory.solve_bayes(model, branch) for branch in ("information", "algorithm")]
    again = theory.solve_bayes(model)
    again.q[:] = 0.0  # a result is the caller's own
    monkeypatch.setattr(module, "_MOST_REMEMBERED", 0)
    for one in known:
        anew = theory.solve_bayes(model, one.branch)
        for name in ("q", "mse", "m_hat", "ensemble_error", "information", "solutions"):
            np.testing.assert_array_equal(getattr(one, name), getattr(anew, name))
