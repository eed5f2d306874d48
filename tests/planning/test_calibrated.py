"""Predictions of calibrated procedures: published simulations, and their own conditions."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy.interpolate import PchipInterpolator
from scipy.stats import norm

from selica import theory
from selica._core.scalar import knockoff_probability
from selica.control import (
    averaged_level,
    benjamini_hochberg,
    ebh,
    fdp,
    knockoff_threshold,
    posthoc_evalues,
    supported_bound,
    tpp,
)
from selica.planning.predict import finite
from selica.planning.predict.bounds import _guess, _half_rows, _largest_q, by_bound, halves_of
from selica.planning.predict.expectation import Expected
from selica.planning.predict.finite import by_evalues, by_fields, by_one_copy, expected
from selica.planning.predict.knockoffs import _predicting_copies
from selica.planning.predict.limit import (
    FieldLaw,
    OneCopy,
    cut_of_fields,
    monotone,
    rates_of_members,
)
from selica.planning.predict.prediction import predict
from selica.planning.study import Study

LAWS = [theory.GaussianEffects(), theory.PointEffects(), theory.LaplaceEffects()]
NAMES = ["Gaussian", "equal", "Laplace"]


def study_of_ren_and_barber(amplitude):
    """Independent N(0, 1) columns, 60 signals of size amplitude / sqrt(n), noise of variance 1."""
    return Study.of(
        3000, 1000, 60, effect_size=amplitude / math.sqrt(3000), effects=theory.PointEffects()
    )


@pytest.mark.parametrize(
    ("amplitude", "method", "power", "tolerance"),
    [
        # means of 100 published runs, with standard errors of at most 0.017
        (3, "knockoffs", 0.394, 0.03),
        (4, "knockoffs", 0.820, 0.03),
        (5, "knockoffs", 0.964, 0.03),
    ],
)
def test_published_knockoff_simulations(amplitude, method, power, tolerance):
    found = predict(study_of_ren_and_barber(amplitude), method, 0.1, "default")
    assert found.power == pytest.approx(power, abs=tolerance)


def filter_of_ren_and_barber(W, level):
    """Select by their e-values from the statistics (copies, p) of a data set.

    A copy stops at knockoff+ at half the level, or at its (1/that - 1)-th positive statistic if
    that is smaller; e-BH is at the level itself.
    """
    copies, p = W.shape
    evalue = np.zeros(p)
    for w in W:
        positive = np.sort(w[w > 0.0])[::-1]
        most = math.ceil(2.0 / level)
        early = positive[most - 2] if positive.size >= most else positive[-1]
        behind = np.sum(w[:, None] <= -positive, axis=0)
        fine = (1 + behind) / np.arange(1, positive.size + 1) <= 0.5 * level
        stop = min(early, positive[fine].min(initial=np.inf))
        evalue += (w >= stop) * (p / copies) / (1 + np.sum(w <= -stop))
    return ebh(evalue, level)


def test_interpolation_is_that_of_scipy():
    rng = np.random.default_rng(0)
    y = np.concatenate([rng.standard_normal((3, 40)), np.cumsum(rng.random((3, 40)), axis=1)])
    y[4, 5:9] = y[4, 5]  # level
    x = np.append(rng.uniform(0.0, 39.0, 200), [0.0, 39.0, 7.0])
    np.testing.assert_allclose(
        monotone(y, x), PchipInterpolator(np.arange(40.0), y, axis=1)(x), atol=1e-13
    )


@pytest.mark.slow
@pytest.mark.parametrize(("amplitude", "published"), [(3, 0.238), (4, 0.758), (5, 0.953)])
def test_published_evalues_at_the_level_itself(amplitude, published):
    # means of 100 published runs, with standard errors of at most 0.017; ours are below 0.009
    study = study_of_ren_and_barber(amplitude)
    one = _predicting_copies((study,)).solution[0]
    rng = np.random.default_rng(amplitude)
    truth = np.arange(1000) < 60
    power = []
    for _ in range(300):
        field = one.slope * truth + math.sqrt(one.chi_hat) * rng.standard_normal(1000)
        own = field + math.sqrt(one.v_hat) * rng.standard_normal((50, 1000))
        copy = math.sqrt(one.v_tilde_hat) * rng.standard_normal((50, 1000))
        own, copy = (np.maximum(np.abs(x) - one.lam, 0.0) for x in (own, copy))
        power.append(tpp(filter_of_ren_and_barber(own - copy, 0.1), truth))
    assert np.mean(power) == pytest.approx(published, abs=0.03)


@pytest.mark.parametrize(("amplitude", "published"), [(3, 0.238), (4, 0.758), (5, 0.953)])
def test_many_copies_find_more_than_published_and_nearly_what_one_copy_finds(amplitude, published):
    # published with e-BH at the level itself, means of 100 runs with errors of at most 0.017
    study = study_of_ren_and_barber(amplitude)
    one, many = (
        predict(study, name, 0.1, "default").power for name in ("knockoffs", "knockoffs-evalues")
    )
    assert many > published + 0.01
    assert many > 0.92 * one


@pytest.mark.parametrize("effects", LAWS, ids=NAMES)
def test_cells_have_the_rates_of_the_closed_form(effects):
    s = theory.solve_knockoff(theory.Model(0.8, 0.2, 0.1, effects), lam=0.2)
    top = s.lam + 12.0 * math.sqrt(s.v_tilde_hat)
    (g,), (null,), (signal,) = FieldLaw.of(s, np.array([top]))
    assert null.sum() == pytest.approx(1.0, abs=1e-12)
    assert signal.sum() == pytest.approx(1.0, abs=1e-12)
    for t in (0.0, 0.3, 0.8):
        chance = s.selection_probability(g, t)
        exact = s.single_rates(t)
        assert chance @ signal == pytest.approx(exact.tpr, abs=1e-3)
        assert chance @ null == pytest.approx(exact.fpr, abs=1e-3)


@pytest.mark.parametrize("effects", LAWS, ids=NAMES)
@pytest.mark.parametrize("lam", [0.05, 0.3, 3.0])  # with the last, members hardly differ
def test_leads_have_the_probabilities_of_the_closed_form(effects, lam):
    s = theory.solve_knockoff(theory.Model([0.8, 3.0], 0.2, 0.1, effects), lam)
    one = OneCopy(s, 100)
    for row in (0, 1):
        t = np.array([0.0, 0.1, 0.4, 1.0]) / s.Q_hat[row]
        exact = knockoff_probability(
            one._law.g[row], s.v_hat[row], s.v_tilde_hat[row], lam, s.Q_hat[row] * t[:, None]
        )
        np.testing.assert_allclose(one._wins(row, t), exact.value, atol=2e-3)


@pytest.mark.parametrize("effects", LAWS, ids=NAMES)
def test_a_grid_has_the_rates_of_its_points(effects):
    alpha, lam = np.array([[0.8], [2.0]]), np.array([0.1, 0.3, 0.6])
    grid = OneCopy(theory.solve_knockoff(theory.Model(alpha, 0.2, 0.05, effects), lam), 400)
    for i, j in np.ndindex(2, 3):
        one = theory.solve_knockoff(theory.Model(alpha[i, 0], 0.2, 0.05, effects), lam[j])
        single = OneCopy(one, 400)
        for rates in (
            lambda copies: copies.knockoff_plus(0.1),
            lambda copies: copies.evalues(0.1, 20),
            lambda copies: copies.pvalues(0.1, 10, 0.3),
        ):
            assert rates(grid).tpr[i, j] == pytest.approx(rates(single).tpr, abs=1e-9)
            assert rates(grid).fdr[i, j] == pytest.approx(rates(single).fdr, abs=1e-9)


@pytest.mark.parametrize("effects", LAWS, ids=NAMES)
@pytest.mark.parametrize("lam", [0.05, 0.5])
def test_statistics_of_one_copy_have_the_law_of_the_closed_form(effects, lam):
    s = theory.solve_knockoff(theory.Model(1.5, 0.2, 0.3, effects), lam=lam)
    one = OneCopy(s, 100)
    (t,) = one._t

    def share(rates):
        return 0.2 * rates.tpr + 0.8 * rates.fpr

    np.testing.assert_allclose(one._ahead[0], share(s.single_rates(t)), atol=5e-5)
    behind = 1.0 - share(s.single_rates(-t))
    np.testing.assert_allclose(one._behind[0], 0.01 + behind, atol=5e-5)


@pytest.mark.parametrize("effects", LAWS, ids=NAMES)
@pytest.mark.parametrize("Pi_th", [0.3, 0.6, 0.9])
# with few resamples a threshold may be where all variables pass, which is a kink of the rates
@pytest.mark.parametrize(("members", "digits"), [(20, 1e-3), (256, 1e-7)])
def test_finite_resamples_are_a_random_threshold(effects, Pi_th, members, digits):
    s = theory.solve_stability(theory.Model(1.5, 0.2, 0.1, effects), 0.2, 0.5, "bernoulli")
    found, exact = rates_of_members(s, Pi_th, members), s.rates(Pi_th, n_members=members)
    assert found.tpr == pytest.approx(exact.tpr, abs=digits)
    assert found.fpr == pytest.approx(exact.fpr, abs=digits)
    assert found.fdr == pytest.approx(exact.fdr, abs=digits)
    assert rates_of_members(s, 0.0, members).tpr == 1.0


@pytest.mark.parametrize("effects", LAWS, ids=NAMES)
def test_fields_are_cut_where_the_step_up_rule_is_an_equality(effects):
    s = theory.solve_stability(theory.Model(2.0, 0.2, 0.1, effects), lam=0.3, mu_B=1.0)
    cut = cut_of_fields(s, 0.1)
    rates = s.rates_of_field(np.asarray(cut))
    irrelevant = 2.0 * norm.sf(cut / math.sqrt(s.chi_hat))
    assert rates.fpr == pytest.approx(irrelevant, rel=1e-9)
    assert irrelevant == pytest.approx(0.1 * (0.2 * rates.tpr + 0.8 * rates.fpr), rel=2e-3)
    assert rates.fdr == pytest.approx(0.8 * 0.1, rel=2e-3)


def test_knockoff_plus_stops_where_its_estimate_is_the_level():
    s = theory.solve_knockoff(theory.Model(2.0, 0.2, 0.1), lam=0.45)
    found = OneCopy(s, 300).knockoff_plus(0.2)
    t = np.linspace(1e-6, 2.0, 4001)
    ahead, not_behind = s.single_rates(t), s.single_rates(-t)
    positive = 0.2 * ahead.tpr + 0.8 * ahead.fpr
    negative = 1.0 - (0.2 * not_behind.tpr + 0.8 * not_behind.fpr)
    first = np.argmax(1.0 / 300 + negative <= 0.2 * positive)
    assert found.tpr == pytest.approx(ahead.tpr[first], abs=2e-3)


def brute_force(study, s, select, runs):
    """Mean power and false discovery proportion on fields drawn one data set at a time."""
    rng = np.random.default_rng(123)
    truth = np.arange(study.n_features) < study.n_signals
    out = []
    for _ in range(runs):
        w0 = np.where(truth, study.effects.sample(truth.size, rng), 0.0)
        g = s.Q_hat * w0 + math.sqrt(s.chi_hat) * rng.standard_normal(truth.size)
        mask = select(g, rng)
        out.append((tpp(mask, truth), fdp(mask, truth)))
    return np.mean(out, axis=0), np.std(out, axis=0) / math.sqrt(runs)


def statistics(s, g, rng, copies):
    own = np.abs(g + math.sqrt(s.v_hat) * rng.standard_normal((copies, g.size)))
    copy = np.abs(math.sqrt(s.v_tilde_hat) * rng.standard_normal((copies, g.size)))
    return np.maximum(own - s.lam, 0.0) - np.maximum(copy - s.lam, 0.0)


@pytest.mark.parametrize("rule", ["fields", "one copy", "e-values"])
def test_few_selections_are_predicted_with_their_fluctuations(rule):
    study = Study.of(200, 100, 14, r2=0.7)  # knockoff+ at 0.1 selects ten or none
    level, copies = 0.1, 5
    s = theory.solve_knockoff(study.model, lam=0.35)
    one = OneCopy(s, 100)
    if rule == "fields":
        sd = math.sqrt(s.chi_hat)
        rates = s.rates_of_field(np.asarray(cut_of_fields(s, level)))
        found = expected(study, s, rates, by_fields(s, level))

        def select(g, rng):
            return benjamini_hochberg(2.0 * norm.sf(np.abs(g) / sd), level)

    elif rule == "one copy":
        found = expected(study, s, one.knockoff_plus(level), by_one_copy(s, level))

        def select(g, rng):
            (W,) = statistics(s, g, rng, 1)
            return knockoff_threshold(W, level) <= W

    else:
        level = 0.3
        rates = one.evalues(level, copies)
        found = expected(study, s, rates, by_evalues(s, level, copies))

        def select(g, rng):
            W = statistics(s, g, rng, copies)
            each = [posthoc_evalues(w, 0.5 * level) for w in W]
            return ebh(np.mean(each, axis=0), averaged_level(level, 0.5 * level, copies))

    (power, false), (power_error, false_error) = brute_force(study, s, select, 400)
    assert found.power == pytest.approx(power, abs=4.0 * power_error + 0.03)
    assert found.fdr == pytest.approx(false, abs=4.0 * false_error + 0.02)
    assert found.true_selections == pytest.approx(14 * found.power)


def test_many_selections_need_no_draw():
    study = Study.of(20_000, 10_000, 2000, r2=0.9)
    s = theory.solve_knockoff(study.model, lam=0.4)
    rates = OneCopy(s, 10_000).knockoff_plus(0.1)

    def select(sample, p):
        raise AssertionError("nothing is to be drawn")

    found = expected(study, s, rates, by_one_copy(s, 0.1)._replace(select=select))
    assert found[:4] == Expected.of_rates(study, rates)[:4]
    assert 0.0 < found.power_error < 0.01


@pytest.mark.parametrize("assumption", ["none", "unimodal", "r-concave"])
def test_a_bound_allows_the_level_times_what_is_selected_and_no_more(assumption):
    study, fdr = Study.of(600, 200, 40, r2=0.8), 0.2
    ((found, settings, _),) = by_bound((study,), fdr, assumption, best=True, resamples=100)
    assert found.power > 0.05
    cutoff = settings["threshold"]
    (halves,) = halves_of((study,))
    qs = np.arange(1, 100)
    bounds = []
    for q in qs:
        try:
            bounds.append(supported_bound(200, float(q), cutoff, 50, assumption))
        except ValueError:
            bounds.append(np.inf)
    selected = halves.selected(qs.astype(float), cutoff)
    q = int(qs[np.flatnonzero(np.array(bounds) <= fdr * selected)[-1]])
    assert settings["pfer"] == pytest.approx(fdr * selected[q - 1], rel=0.01)
    solution = _half_rows((study,), np.exp([halves.log_lam(q)]))
    assert 200 * solution.chi * solution.Q_hat == pytest.approx([q], rel=0.03)
    assert found.power == pytest.approx(solution.rates(cutoff, n_members=100).tpr[0])
    assert found.false_selections <= settings["pfer"]


@pytest.mark.parametrize("assumption", ["none", "unimodal", "r-concave"])
@pytest.mark.parametrize("sizes", [(300, 60, 6), (500, 400, 30), (400, 3000, 40)], ids=str)
def test_the_guess_of_q_is_near_the_answer(assumption, sizes):
    (halves,) = halves_of((Study.of(*sizes, r2=0.8),))
    for cutoff in (0.6, 0.75, 0.9):
        guess = _guess(halves, 0.2, cutoff, assumption, 128)
        exact = _largest_q(halves, 0.2, cutoff, assumption, 128, guess)
        assert abs(guess - exact) <= 1 + 0.1 * exact


def test_more_samples_find_more_where_a_level_allows_few_selections():
    # a copy selects ten or none, and there are ten signals
    powers = [
        predict(Study.of(n, 200, 10, r2=0.6), "knockoffs-evalues", 0.1).power
        for n in (1600, 3600, 6400, 9000, 12_800, 25_600)
    ]
    assert np.all(np.diff(powers) > -0.01)
    assert powers[-1] > powers[0] + 0.1


@pytest.mark.parametrize("n", [30_014, 30_015, 50_000])
def test_one_signal_that_is_always_found_in_a_few_draws_is_not_certain(n):
    # in a large study 0.90 to 0.93 of such signals are found
    found = predict(Study.of(n, 5000, 1, r2=0.05), "stability-fdr", 0.01)
    assert found.power == pytest.approx(0.92, abs=0.03)


@pytest.mark.parametrize(
    ("sizes", "fdr", "effects"),
    [
        ((244, 57, 9, 0.3), 0.5, theory.EmpiricalEffects([0.3, -1.0, 2.0, 0.7, -0.1])),
        ((9000, 200, 20, 0.6), 0.1, theory.GaussianEffects()),
    ],
)
def test_the_best_penalty_is_no_worse_than_that_of_cross_validation(sizes, fdr, effects):
    study = Study.of(*sizes[:3], r2=sizes[3], effects=effects)
    best, usual = (
        predict(study, "knockoffs-evalues", fdr, settings) for settings in ("best", "default")
    )
    assert best.power >= usual.power - math.hypot(best.power_error, usual.power_error)


def test_threads_predict_what_one_thread_predicts():
    studies = [Study.of(300, 230, 12, r2=r2) for r2 in (0.8, 0.81, 0.82, 0.83)]

    def powers(study):
        return [
            predict(study, name, 0.2).power
            for name in ("knockoffs", "knockoffs-evalues", "knockoffs-pvalues")
        ]

    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(powers, studies))
    finite._draws.cache_clear()
    assert together == [powers(study) for study in studies]
