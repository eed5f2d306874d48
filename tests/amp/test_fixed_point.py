"""The fixed point of message passing is that of the theory; what it says of false selections."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from selica import theory
from selica.amp import knockoff_amp, stability_amp
from selica.control import benjamini_hochberg
from tests.amp.instances import instance

MODEL = theory.Model(alpha=1.0, rho=0.3, Delta=0.1)
LAM = 0.3


def overlaps(data, found):
    """What the theory calls q, v, chi, E and its conjugates, measured on one data set."""
    return {
        "q": np.mean(found.coef**2),
        "m": np.mean(found.coef * data.w0),
        "v": np.mean(found.coef_variance),
        "Q_hat": np.mean(found.precision),
        "chi_hat": np.mean(found.noise**2),
        "v_hat": np.mean(found.field_variance),
        "ensemble_error": found.ensemble_error,
    }


@pytest.mark.parametrize(("N", "sets"), [(400, 24), (1600, 10)])
@pytest.mark.parametrize("kind", ["stability", "over-sampled", "knockoff"])
def test_overlaps_are_those_of_the_theory(N, sets, kind):
    """Within 4 standard errors over data sets; these shrink with N."""
    measured = []
    for seed in range(sets):
        data = instance(N, 1.0, Delta=0.1, seed=100 + seed, typical=True)
        if kind == "knockoff":
            found = knockoff_amp(data.X, data.y, LAM, variances="scalar")
        else:
            rate = 1.0 if kind == "stability" else 2.0
            found = stability_amp(data.X, data.y, LAM * rate, rate, variances="scalar")
        assert found.converged
        measured.append(overlaps(data, found))
    if kind == "knockoff":
        solution = theory.solve_knockoff(MODEL, LAM)
    else:
        rate = 1.0 if kind == "stability" else 2.0
        solution = theory.solve_stability(MODEL, LAM * rate, mu_B=rate)
    for name in measured[0]:
        values = np.array([each[name] for each in measured])
        error = values.std(ddof=1) / np.sqrt(sets)
        expected = float(getattr(solution, name))
        # a bias of order 1/N is allowed beside the noise
        assert abs(values.mean() - expected) < 4 * error + 4 * expected / N, name
        assert error < 0.2 * expected, name


def test_fields_of_irrelevant_variables_are_standard_normal():
    z = []
    for seed in range(8):
        data = instance(600, 1.5, seed=seed)
        found = stability_amp(data.X, data.y, 0.25)
        z.append(found.z_values[data.w0 == 0.0])
    z = np.concatenate(z)
    assert abs(z.mean()) < 4 / np.sqrt(z.size)
    assert z.std() == pytest.approx(1.0, abs=0.04)
    assert np.mean(np.abs(z) > 1.96) == pytest.approx(0.05, abs=0.01)


@pytest.mark.parametrize("kind", ["stability", "weak", "knockoff"])
def test_expected_false_selections_by_brute_force(kind):
    """Draws fields of irrelevant variables and counts those whose probability is large enough."""
    data = instance(200, 1.5, seed=1)
    X = data.X * np.linspace(0.7, 1.3, 200)
    if kind == "knockoff":
        found = knockoff_amp(X, data.y, 0.3, 0.02)
    else:
        found = stability_amp(X, data.y, 0.3, weakness=0.5 if kind == "weak" else 1.0)
    rng = np.random.default_rng(0)
    draws = 400
    fields = found.noise * rng.standard_normal((draws, 200))
    everyone = np.arange(200)
    P = np.array([found._chance(np.abs(g), everyone).value for g in fields])
    thresholds = np.array([0.05, 0.3, 0.6, 0.9])
    counted = np.array([np.count_nonzero(t <= P, axis=1).mean() for t in thresholds])
    expected = found.expected_false(thresholds)
    # 64 variables stand for 200, so some per cent are allowed beside the noise of the draws
    np.testing.assert_allclose(expected, counted, rtol=0.03, atol=4 * np.sqrt(200 / draws) * 0.5)
    floor = found._chance(np.zeros(200), everyone).value.min()
    if kind != "knockoff":  # there it is below the accuracy of probabilities
        assert found.expected_false(0.5 * floor) == pytest.approx(200.0)


def test_thresholds_of_equal_variances_are_those_of_the_p_values():
    """Where all variables have one variance, a threshold is one on the p-values."""
    data = instance(300, 1.5, rho=0.15, seed=5)
    X = data.X / np.linalg.norm(data.X, axis=0)
    found = stability_amp(X, data.y, 0.3, variances="scalar")
    for level in (0.05, 0.1, 0.2):
        chosen = benjamini_hochberg(found.p_values, level)
        threshold = found.selection_probabilities[chosen].min()
        assert chosen.any()
        np.testing.assert_array_equal(found.selection_probabilities >= threshold, chosen)
        assert found.fdr(threshold) <= level
        below = found.selection_probabilities[~chosen].max()
        assert found.fdr(below) > level


def test_a_threshold_of_one_counts_probabilities_rounded_to_one():
    data = instance(300, 1.5, rho=0.15, seed=5)
    found = stability_amp(data.X, data.y, 0.2, 0.995, resampling="bernoulli")
    z = np.abs(found.z_values)
    least = z[found.selection_probabilities == 1.0].min()
    expected = 300 * 2 * norm.sf(least)
    assert found.expected_false(1.0) == pytest.approx(expected, rel=0.3)


def test_nothing_selected_has_no_false_share():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((100, 50)) / 10.0, rng.standard_normal(100)
    assert stability_amp(X, y, 5.0).fdr(0.99) == 0.0


def test_the_ensemble_error_finds_the_penalty_of_most_power():
    """Its minimum over penalties and resampling rates is where the theory has it."""
    data = instance(1500, 1.0, Delta=0.1, seed=7)
    lams = np.geomspace(0.05, 1.5, 25)
    for rate in (1.0, 2.0):
        found = stability_amp(data.X, data.y, lams * rate, rate, variances="scalar")
        expected = theory.solve_stability(MODEL, lams * rate, mu_B=rate).ensemble_error
        best = lams[np.argmin(found.ensemble_error)]
        best_of_theory = lams[np.argmin(expected)]
        assert np.abs(np.log(best / best_of_theory)) < 2.5 * np.log(lams[1] / lams[0])
        np.testing.assert_allclose(found.ensemble_error, expected, rtol=0.15)


def test_results_print_and_tabulate():
    data = instance(60, 1.0)
    grid = stability_amp(data.X, data.y, [0.5, 0.2])
    assert "60 variables, 2 penalties, converged" in repr(grid)
    assert "lam=0.2" in repr(grid.at(1))
    assert list(grid.to_frame()["status"]) == ["converged", "converged"]
    with pytest.raises(ValueError, match="one penalty"):
        grid.fdr(0.5)
    assert grid.at(1).at(0) is not None
    copies = knockoff_amp(data.X, data.y, [0.5, 0.2])
    assert copies.probability([0.0, 0.1, 0.2]).shape == (2, 3, 60)
    assert copies.at(0).expected_fdp([0.0, 0.1]).shape == (2,)
