"""Plans by simulation: correlated columns with classes, counts, times, or effects at places."""

from __future__ import annotations

import json
import math
import warnings
from itertools import pairwise

import numpy as np
import pytest
from scipy.special import expit
from typer.testing import CliRunner

from selica import DerandomizedKnockoffs, KnockoffSelection, catalogue, planning
from selica._core.errors import ArgumentError, DoesNotApply
from selica.cli import app
from selica.control import ebh, fdp, knockoff_threshold, tpp
from selica.planning import Binary, Counts, Numeric, Study, Survival
from selica.planning.predict import simulated
from selica.planning.predict.correlated import covered, predict_correlated
from selica.sampling import GaussianKnockoffs
from selica.theory import EmpiricalEffects, PlacedEffects, PointEffects

AR = ("ar1", 0.5)
SIGMA = 0.5 ** np.abs(np.subtract.outer(np.arange(4), np.arange(4)))
KNOCKOFFS = catalogue.method("knockoffs")
PUBLISHED = [(16, 0.945, 0.935), (28, 0.989, 0.998)]
"""Amplitude, power of one copy and of e-values of 50: their script with their seeds, run again.

Standard errors are at most 0.014; of what is stored of their runs it gives all digits.
"""


def small(response, n=20_000, **more):
    return Study.of(n, 4, 2, r2=0.5, response=response, covariance=AR, **more)


def drawn(study, seed=0):
    return simulated.draw(study, np.random.SeedSequence(seed))


@pytest.mark.parametrize(
    "response", [Numeric(), Binary(0.2), Counts(2.0), Survival(0.3)], ids=lambda one: one.name
)
def test_rows_have_the_covariance_and_the_predictor_its_variance(response):
    study = small(response)
    X, _, coef = drawn(study)
    np.testing.assert_allclose(np.cov(X.T), SIGMA, atol=0.05)
    assert coef @ SIGMA @ coef == pytest.approx(study.snr)
    assert np.var(X @ coef) == pytest.approx(study.snr, rel=0.05)


def test_responses_follow_the_predictor():
    X, y, coef = drawn(small(Numeric()))
    noise = y - X @ coef
    assert noise.std() == pytest.approx(1.0, abs=0.02)
    np.testing.assert_allclose(X.T @ noise / len(X), 0.0, atol=0.03)
    X, y, coef = drawn(small(Binary(0.2)))
    assert y.mean() == pytest.approx(0.2, abs=0.012)
    chance = expit(X @ coef + float(small(Binary(0.2)).theory_response.intercept))
    np.testing.assert_allclose(X.T @ (y - chance) / len(X), 0.0, atol=0.02)
    X, y, coef = drawn(small(Counts(2.0)))
    assert y.mean() == pytest.approx(2.0, rel=0.05)
    X, (time, event), coef = drawn(small(Survival(0.3)))
    assert event.mean() == pytest.approx(0.3, abs=0.015)
    # the compensator of an event is its cumulative hazard
    np.testing.assert_allclose(X.T @ (event - time * np.exp(X @ coef)) / len(X), 0.0, atol=0.02)


def test_cases_and_controls_are_those_of_the_population():
    study = small(Binary(0.05, cases=0.4))
    X, y, coef = drawn(study)
    assert y.sum() == 8000
    nodes, weights = np.polynomial.hermite_e.hermegauss(61)
    z = math.sqrt(study.snr) * nodes
    case = expit(float(study.theory_response.intercept) + z)
    for label, chance in ((1.0, case), (0.0, 1.0 - case)):
        mean = weights @ (chance * z) / (weights @ chance)
        assert np.mean(X[y == label] @ coef) == pytest.approx(mean, abs=0.06)
        # the rest of a row does not depend on the class
        rest = X[y == label] - np.outer(X[y == label] @ coef, SIGMA @ coef) / study.snr
        np.testing.assert_allclose(rest.mean(axis=0), 0.0, atol=0.05)


def test_fewer_samples_are_the_first_of_more():
    X, y, _ = drawn(small(Binary(), 50))
    more, labels, _ = drawn(small(Binary(), 80))
    np.testing.assert_array_equal(X, more[:50])
    np.testing.assert_array_equal(y, labels[:50])


def forecast(study, level=0.2, best=True, row=KNOCKOFFS):
    return simulated.forecast(row, study, level, best)


def test_with_a_numeric_response_it_finds_what_theory_predicts():
    study = Study.of(200, 60, 20, r2=0.8, covariance=AR)
    known = next(iter(predict_correlated(KNOCKOFFS, [study], 0.2, True))).expected
    found = forecast(study).expected
    assert 0.2 < found.power < 0.9
    error = math.hypot(found.power_error, known.power_error)
    assert found.power == pytest.approx(known.power, abs=3.0 * error + 0.03)
    assert found.fdr == pytest.approx(known.fdr, abs=0.06)
    assert found.true_selections == pytest.approx(20 * found.power)
    assert found.found_low <= found.true_selections <= found.found_high


def test_classes_in_correlated_columns_are_found_as_in_a_loop_of_ones_own():
    study = Study.of(
        200, 30, 10, effect_size=0.8, effects=PointEffects(), response=Binary(), covariance=AR
    )
    found = forecast(study)
    root = np.linalg.cholesky(0.5 ** np.abs(np.subtract.outer(np.arange(30), np.arange(30))))
    rng = np.random.default_rng(3)
    power, false = [], []
    for seed in range(30):
        beta = np.zeros(30)
        beta[rng.permutation(30)[:10]] = rng.choice((-1.0, 1.0), 10)
        beta *= math.sqrt(6.4 / np.sum((root.T @ beta) ** 2))
        X = rng.standard_normal((200, 30)) @ root.T
        y = (rng.random(200) < 1.0 / (1.0 + np.exp(-X @ beta))).astype(float)
        mask = KnockoffSelection(**found.parameters, random_state=seed).fit(X, y).support_
        power.append(tpp(mask, beta != 0.0))
        false.append(fdp(mask, beta != 0.0))
    error = math.hypot(np.std(power) / math.sqrt(30), found.expected.power_error)
    assert 0.2 < found.expected.power < 0.95
    assert found.expected.power == pytest.approx(np.mean(power), abs=3.0 * error)
    assert found.expected.fdr == pytest.approx(np.mean(false), abs=0.08)


def test_more_samples_find_more():
    found = [
        forecast(
            Study.of(n, 20, 8, r2=0.6, response=Binary(), covariance=("block", 0.5, 3))
        ).expected
        for n in (60, 120, 300)
    ]
    for less, more in pairwise(found):
        error = math.hypot(less.power_error, more.power_error)
        assert more.power > less.power - 2.0 * error
    assert found[-1].power > found[0].power + 0.1


def test_answers_are_the_same_and_say_how_they_were_made():
    study = Study.of(
        100, 12, 6, r2=0.9, response=Survival(0.5), covariance=AR, effects=PointEffects()
    )
    first = forecast(study)
    simulated._runs.cache_clear()
    assert forecast(study) == first
    why, measured = first.notes
    assert "no theory for survival times" in why
    assert measured.startswith("Simulated in ")
    assert f"standard error of the power {first.expected.power_error:.3f}" in measured


def test_large_tables_are_refused_in_a_sentence():
    study = Study.of(100, 501, 10, r2=0.5, response=Binary(), covariance=AR)
    with pytest.raises(DoesNotApply, match=r"^covariance: .* at most 500 columns .* 100 x 501"):
        forecast(study)
    with pytest.raises(DoesNotApply, match=r"600,000 entries; got 10,000 x 100"):
        planning.compare_methods(10_000, 100, 10, r2=0.5, response=Binary(), covariance=AR)


def test_a_number_of_samples_is_not_searched_by_simulation():
    with pytest.raises(DoesNotApply, match=r"^covariance: there is no theory.*compare_methods"):
        planning.required_samples(
            0.8, n_features=50, n_signals=5, r2=0.5, response=Binary(), covariance=AR
        )


def test_methods_whose_threshold_the_truth_sets_are_left_out():
    study = Study.of(100, 20, 5, r2=0.5, response=Binary(), covariance=AR)
    assert covered(catalogue.method("stability-fdr"), study)
    assert not covered(catalogue.method("lasso"), study)
    with pytest.raises(DoesNotApply, match="'lasso' has no prediction for correlated columns"):
        planning.compare_methods(
            100, 20, 5, r2=0.5, response=Binary(), covariance=AR, methods="lasso"
        )


def test_effects_have_the_places_that_are_given():
    effects = PlacedEffects([1.0, 0.0, -1.0, 0.0])
    study = Study.of(50, 4, effect_size=0.7, effects=effects, response=Binary(), covariance=AR)
    np.testing.assert_allclose(drawn(study).coef, [0.7, 0.0, -0.7, 0.0])
    assert study.n_signals == 2
    assert study.snr == pytest.approx(0.49 * (2.0 - 2.0 * 0.25))
    assert study.effect_size == pytest.approx(0.7)
    assert study.with_independent_columns().snr == pytest.approx(0.98)
    assert Study.of(50, 4, r2=0.5, effects=effects, covariance=AR).is_simulated
    assert not Study.of(50, 4, r2=0.5, effects=effects).is_simulated
    with pytest.raises(ArgumentError, match=r"^effects must be 5 numbers, one for each variable"):
        Study.of(50, 5, r2=0.5, effects=effects)
    with pytest.raises(ArgumentError, match=r"^n_signals must be .* 2; got 3"):
        Study.of(50, 4, 3, r2=0.5, effects=effects)
    with pytest.raises(ArgumentError, match="not all be zero"):
        PlacedEffects([0.0, 0.0])


def test_signals_of_one_sign_explain_more_than_signals_of_both():
    both, one = (
        Study.of(50, 4, effect_size=0.7, effects=PlacedEffects(values), covariance=AR).snr
        for values in ([1.0, -1.0, 0.0, 0.0], [1.0, 1.0, 0.0, 0.0])
    )
    assert (both, one) == pytest.approx((0.49, 3 * 0.49))


def test_listed_effects_are_those_of_every_data_set():
    study = small(Binary(), 50, effects=EmpiricalEffects([3.0, 1.0]))
    sizes = [np.sort(np.abs(drawn(study, seed).coef))[2:] for seed in range(5)]
    assert all(high / low == pytest.approx(3.0) for low, high in sizes)


@pytest.fixture(scope="module")
def compared():
    words = "plan compare -n 120 -p 12 --effect-size 1 --response binary --covariance ar1:0.5"
    effects = "--effects=1,0,-1,0,1,0,-1,0,1,0,0,0"
    return [*words.split(), effects, "--fdr", "0.2", "--method", "knockoffs"]


def test_the_command_line_simulates(compared):
    found = CliRunner().invoke(app, compared)
    assert found.exit_code == 0, found.output
    text = " ".join(found.output.split())
    assert "There is no theory for a binary response" in text
    assert "Simulated in " in text
    assert "5 given effects at given places" in text
    found = CliRunner().invoke(app, [*compared, "--json"])
    one = json.loads(found.stdout)["methods"][0]
    assert one["method"] == "knockoffs"
    assert one["power_error"] > 0.0


def test_zeros_are_refused_where_places_say_nothing():
    found = CliRunner().invoke(app, ["predict", "--effects", "1,0,2"])
    assert "effects must not be zero" in str(found.exception)


def setting_of_ren_and_barber(amplitude):
    """600 rows, 100 columns, every second one with an effect, of signs that change in turn."""
    signs = np.array([1.0, 0.0, -1.0, 0.0] * 25)
    return Study.of(
        600, 100, effect_size=amplitude / math.sqrt(600), effects=PlacedEffects(signs),
        response=Binary(), covariance=AR,
    )  # fmt: skip


def evalues_of_ren_and_barber(W, level):
    """Select by e-values that stop at knockoff+ at half the level, or at the 19th positive one."""
    copies, p = W.shape
    evalue = np.zeros(p)
    for w in W:
        positive = np.sort(w[w > 0.0])[::-1]
        most = math.ceil(2.0 / level)
        early = positive[most - 2] if positive.size >= most else 0.0
        stop = min(early, knockoff_threshold(w, level / 2.0))
        evalue += (w >= stop) * (p / copies) / (1 + np.sum(w <= -stop))
    return ebh(evalue, level)


@pytest.mark.slow
@pytest.mark.parametrize(("amplitude", "one", "many"), PUBLISHED)
def test_published_classes_in_correlated_columns(amplitude, one, many):
    study = setting_of_ren_and_barber(amplitude)
    Sigma = np.asarray(study.columns.covariance)
    copies = GaussianKnockoffs(0.0, Sigma, method="sdp")
    found = []
    for seed in range(40):
        data = drawn(study, seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            W = (
                DerandomizedKnockoffs(
                    fdr=0.1, statistic="coefficient", sampler=copies, random_state=seed
                )
                .fit(data.X, data.y)
                .statistics_
            )
        each = [tpp(w >= knockoff_threshold(w, 0.1), data.truth) for w in W]
        found.append((np.mean(each), tpp(evalues_of_ren_and_barber(W, 0.1), data.truth)))
    power = np.mean(found, axis=0)
    assert power == pytest.approx([one, many], abs=0.03)


@pytest.mark.slow
@pytest.mark.parametrize(("amplitude", "one", "many"), PUBLISHED)
def test_a_plan_finds_what_was_published(amplitude, one, many):
    study = setting_of_ren_and_barber(amplitude)
    found = forecast(study, 0.1, best=False).expected
    assert found.power == pytest.approx(one, abs=0.03 + 2.0 * found.power_error)
