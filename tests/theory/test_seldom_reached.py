"""Ways through the theory that ordinary settings do not take: ends of ranges, rescues, refusals."""

from __future__ import annotations

import numpy as np
import pytest

from selica import theory
from selica._core.counts import single_fit
from selica._core.effects import Mixture
from selica._core.errors import ArgumentError
from selica.theory.bayes.local_fdr import _lowest
from selica.theory.glm import solver as glm_solver
from selica.theory.glm.information import information
from selica.theory.iid import solver
from selica.theory.iid.equations import IidEquations
from selica.theory.large_deviations.tilted import OutOfRange, poisson_table
from selica.theory.response import RowSetting
from selica.theory.selection.averages import Field, expect
from selica.theory.spectrum.spectra import Spectrum


def test_effects_of_one_sign_open_the_other_side():
    s = np.array([0.5, 2.0])
    sides = {}
    for sign in (1.0, -1.0):
        signals = Mixture(sign * np.array([1.0, 2.0]), np.zeros(2), np.full(2, 0.5))
        place, side = _lowest(signals, s)
        sides[sign] = place.tolist(), side
    assert sides[1.0] == ([-x for x in sides[-1.0][0]], -1.0)
    assert sides[-1.0][1] == 1.0


def test_rows_without_a_signal_tell_what_one_count_or_label_tells():
    # the information of a Poisson count is its rate, that of a fair coin a quarter
    V = np.zeros(2)
    assert information(RowSetting("poisson", 0.0, np.log(3.0), None), V) == pytest.approx([3.0] * 2)
    assert information(RowSetting("logistic", 0.0, 0.0, None), V) == pytest.approx([0.25] * 2)


def test_responses_print_and_move():
    logistic = theory.Logistic(T=2.0, intercept=0.5)
    assert repr(logistic) == "Logistic(T=2.0, intercept=0.5)"
    assert repr(theory.Logistic(T=2.0)) == "Logistic(T=2.0)"
    moved = logistic.like(T=np.array(3.0), place=np.array(1.0))
    assert (float(moved.T), float(moved.intercept)) == (3.0, 1.0)
    counts = theory.Poisson(T=1.0, intercept=0.5).like(T=np.array(2.0), place=np.array(0.0))
    assert (float(counts.T), float(counts.intercept)) == (2.0, 0.0)
    times = theory.Cox(T=1.0, censoring=2.0)
    assert repr(times) == "Cox(T=1.0, censoring=2.0)"
    assert float(times.like(T=np.array(1.0), place=np.array(4.0)).censoring) == 4.0


def test_refusals_name_the_argument():
    with pytest.raises(ArgumentError, match=r"^values and weights must be vectors of one length"):
        Spectrum(np.ones(2), np.ones(3) / 3)
    with pytest.raises(ArgumentError, match=r"^weights must add up to one; got 0.5"):
        Spectrum(np.ones(1), np.array([0.5]))
    solution = theory.solve_stability(theory.Model(1.0, 0.1, 0.1), lam=0.5)
    with pytest.raises(ArgumentError, match=r"^K must be a whole number; got 1.5"):
        solution.correlation(1.5)
    with pytest.raises(ArgumentError, match=r"^Delta must be 0 or at least 1e-16"):
        theory.bayes_transitions(0.2, 1e-20)


@pytest.mark.parametrize(
    "response", [theory.Logistic(T=4.0), theory.Poisson(T=0.5, intercept=0.0)], ids=repr
)
def test_the_best_penalty_of_another_response_predicts_better_than_its_neighbours(response):
    model = theory.Model(alpha=4.0, rho=0.2, Delta=0.0)
    best = theory.optimal_lam(model, "thresholded-lasso", response=response)
    below, here, above = (
        theory.solve_lasso(model, times * best, response=response).prediction_error
        for times in (0.9, 1.0, 1.1)
    )
    assert here < min(below, above)


def test_curves_of_another_response_are_powers_at_their_levels():
    model, response = theory.Model(alpha=4.0, rho=0.2, Delta=0.0), theory.Logistic(T=4.0)
    curve = theory.power_curve(model, "thresholded-lasso", [0.1, 0.3], lam=0.6, response=response)
    for level, tpr in zip((0.1, 0.3), curve.tpr, strict=True):
        alone = theory.power(model, "thresholded-lasso", level, lam=0.6, response=response)
        assert tpr == pytest.approx(alone, rel=1e-6)
    most = theory.optimal_lam(
        model, "thresholded-lasso", criterion="power", fdr=0.1, response=response
    )
    best, *others = (
        theory.power(model, "thresholded-lasso", 0.1, lam=times * most, response=response)
        for times in (1.0, 0.8, 1.25)
    )
    assert best > max(others)


def test_averages_where_every_variable_matters_and_data_do_not_vary():
    field = Field(curvature=1.0, slope=2.0, chi_hat=0.0, v_hat=0.0, lam=0.5, rho=1.0)
    signals = Mixture(np.ones(1), np.zeros(1), np.ones(1))
    # h = 2 for sure, and the estimate is S(2; 0.5) = 1.5
    found = expect(field, signals, lambda w: w, lambda inner: inner**2)
    assert found == pytest.approx(1.5**2)


def test_many_damped_steps_arrive_where_newtons_method_does():
    model = theory.Model(np.array([0.8, 2.0]), rho=0.2, Delta=0.1)
    eq = IidEquations.of_kinds(
        np.array([0.8, 2.0]), np.full(2, 0.2), np.full(2, 0.1), np.full(2, 0.4),
        law=single_fit(2), kinds=model.kinds, copies=0,
    )  # fmt: skip
    A, chi, found, count = solver._patient(eq)
    assert found.all()
    assert np.all(count > solver._MOST_STEPS)
    want = solver.solve_members(eq)
    np.testing.assert_allclose(A, want[0], rtol=1e-8)
    np.testing.assert_allclose(chi, want[1], rtol=1e-8)


def test_a_path_from_a_large_penalty_rescues_newtons_method(monkeypatch):
    model, response = theory.Model(alpha=4.0, rho=0.2, Delta=0.0), theory.Logistic(T=4.0)
    want = theory.solve_stability(model, lam=0.5, response=response)
    newton, calls = glm_solver._newton, []

    def fails_at_first(*arguments):
        calls.append(arguments)
        fields, found, count = newton(*arguments)
        return fields, found and len(calls) > 1, count

    monkeypatch.setattr(glm_solver, "_newton", fails_at_first)
    got = theory.solve_stability(model, lam=0.5, response=response)
    assert len(calls) > 1
    assert got.converged
    for name in ("q", "m", "chi", "v"):
        assert getattr(got, name) == pytest.approx(getattr(want, name), rel=1e-7)


def test_tilts_without_a_finite_average_are_out_of_range():
    with pytest.raises(OutOfRange, match="no finite average"):
        poisson_table(1.0, 1.0, tilt=50.0, slope=0.0)
    counts, log_p = poisson_table(1.0, 1.0, tilt=0.0, slope=0.0)
    assert np.exp(log_p).sum() == pytest.approx(1.0)
    assert counts[0] == 0.0
