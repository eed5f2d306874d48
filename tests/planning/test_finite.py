"""Draws of the variables that can matter, and the stated errors of predictions."""

from __future__ import annotations

import math
from importlib import import_module
from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import binom, kstest, norm

from selica import theory
from selica.planning.predict import finite
from selica.planning.predict.ceiling import ceiling
from selica.planning.predict.exceedances import Exceedances, lowest_statistic
from selica.planning.predict.expectation import Expected, mean_false_share
from selica.planning.predict.finite import (
    _counted,
    _some,
    _Tally,
    _whole,
    by_evalues,
    by_fields,
    by_one_copy,
    by_pvalues,
)
from selica.planning.predict.prediction import predict
from selica.planning.study import Study

RULES = {
    "fields": by_fields,
    "one copy": by_one_copy,
    "e-values": lambda s, fdr: by_evalues(s, fdr, 8),
    "p-values": lambda s, fdr: by_pvalues(s, fdr, 8, 0.3),
}


def mean_counts(sample, rule, study, cut, runs):
    """Of a rule and of a cut on the same fields, with standard errors."""
    parts, number = [], 0
    while sum(part.shape[1] for part in parts) < runs:
        some = sample(number)
        fixed = np.abs(some.fields) > cut
        counts = [
            _counted(mask, some, study.n_signals)
            for mask in (rule.select(some, study.n_features), fixed)
        ]
        parts.append(np.concatenate(counts))
        number += 1
    found = np.concatenate(parts, axis=1)
    return found.mean(axis=1), found.std(axis=1) / math.sqrt(found.shape[1])


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize(
    "lam", [0.02, 0.25]
)  # with the first, most statistics are below the lowest
def test_variables_that_can_matter_are_enough(name, lam):
    study, fdr = Study.of(400, 900, 30, r2=0.8), 0.2
    s = theory.solve_knockoff(study.model, lam)
    rule = RULES[name](s, fdr)
    if lam == 0.02:
        assert rule.lowest(study.n_features) > 0.0
    cut = 3.0 * math.sqrt(s.chi_hat)
    runs = 150 if rule.copies > 1 else 800
    all_, all_error = mean_counts(_whole(study, s, rule), rule, study, cut, runs)
    some, some_error = mean_counts(_some(study, s, rule, cut), rule, study, cut, 2 * runs)
    assert np.all(np.abs(all_ - some) <= 4.0 * np.hypot(all_error, some_error) + 1e-9)


def test_tails_of_statistics_have_their_law():
    """Against draws of all irrelevant variables: numbers beyond, and sizes, in two copies."""
    study = Study.of(2000, 4000, 40, r2=0.5)
    s = theory.solve_knockoff(study.model, lam=0.003)
    lowest = 1.5 * math.sqrt(s.v_tilde_hat)
    source = Exceedances(study, s, 2, lowest, np.inf)
    samples = [source.sample((number,)) for number in range(4)]
    null = [
        np.where(one.truth[:, None], 0.0, one.statistics.table()).swapaxes(0, 1) for one in samples
    ]
    W = np.concatenate([part.reshape(2, -1) for part in null], axis=1)
    size = 4 * source.size * 3960
    rng = np.random.default_rng(0)
    g = math.sqrt(s.chi_hat) * rng.standard_normal(400_000)
    own = np.abs(g + math.sqrt(s.v_hat) * rng.standard_normal((2, g.size)))
    copy = np.abs(math.sqrt(s.v_tilde_hat) * rng.standard_normal((2, g.size)))
    brute = np.maximum(own - s.lam, 0.0) - np.maximum(copy - s.lam, 0.0)
    for beyond in (
        lambda one, other: one > lowest,
        lambda one, other: one < -lowest,
        lambda one, other: np.minimum(one, other) > lowest,  # copies share a field
    ):
        share, often = np.mean(beyond(*brute)), np.sum(beyond(*W)) / size
        assert share > 1e-4
        assert often == pytest.approx(share, abs=4.0 * math.sqrt(share / g.size + share / size))
    for sign in (1.0, -1.0):
        some, every = (sign * part[0][sign * part[0] > lowest] for part in (W, brute))
        assert kstest(some, every).pvalue > 1e-3


@pytest.mark.parametrize("posthoc", [False, True])
def test_no_filter_stops_below_the_lowest_statistic(posthoc):
    study, fdr = Study.of(1000, 2000, 20, r2=0.5), 0.2
    s = theory.solve_knockoff(study.model, lam=0.02)
    lowest = lowest_statistic(s, 2000, fdr, posthoc=posthoc)
    assert lowest > 0.0
    sample = _whole(study, s, by_one_copy(s, fdr))
    for number in range(8):
        for (W,) in sample(number).statistics:
            for t in np.linspace(0.0, lowest, 20)[1:]:
                ahead, behind = np.sum(t <= W), np.sum(-t >= W)
                assert 1 + behind > fdr * ahead
                assert not posthoc or behind > 0


@pytest.mark.parametrize(
    ("p", "k", "tpr", "fpr"), [(8, 3, 0.5, 0.3), (40, 1, 0.6, 0.01), (30, 29, 0.9, 1.0)]
)
def test_mean_share_of_false_ones(p, k, tpr, fpr):
    true, false = np.arange(k + 1)[:, None], np.arange(p - k + 1)
    weight = binom.pmf(true, k, tpr) * binom.pmf(false, p - k, fpr)
    exact = np.sum(weight * false / np.maximum(true + false, 1))
    assert mean_false_share(p, k, tpr, fpr) == pytest.approx(exact, rel=1e-9)


def test_in_a_large_study_it_is_the_ratio_of_numbers():
    ratio = 999_000 * 1e-4 / (999_000 * 1e-4 + 1000 * 0.7)
    assert mean_false_share(10**6, 1000, 0.7, 1e-4) == pytest.approx(ratio, rel=1e-3)
    assert mean_false_share(10, 10, 0.7, 0.1) == mean_false_share(10, 2, 0.7, 0.0) == 0.0


@pytest.mark.parametrize("runs", [12, 40])
def test_stated_errors_are_those_of_repetitions(runs):
    """The mean of a rule that follows a known one, with noise of its own."""
    rng = np.random.default_rng(2)
    fixed = Expected(0.5, 0.1, 5.0, 1.0)
    seen, stated = [], []
    for _ in range(800):
        x = np.array([0.5, 0.1, 1.0, 6.0])[:, None] + 0.1 * rng.standard_normal((4, runs))
        tally = _Tally(100, fixed, 0.0)
        tally.add(0.1 + 0.7 * x + 0.05 * rng.standard_normal((4, runs)), x)
        mean, error = tally.estimate()
        seen.append(mean[0])
        stated.append(error[0])
    assert np.mean(seen) == pytest.approx(0.45, abs=4.0 * np.std(seen) / math.sqrt(800))
    assert np.sqrt(np.mean(np.square(stated))) == pytest.approx(np.std(seen), rel=0.2)
    assert np.mean(np.abs(np.array(seen) - 0.45) > 3.0 * np.array(stated)) < 0.01


def test_nothing_in_a_few_data_sets_is_not_nothing():
    tally = _Tally(20, Expected(0.8, 0.1, 16.0, 2.0), 20.0)
    fixed = np.array([[0.8], [0.1], [2.0], [18.0]]) + 0.01 * norm.ppf(np.linspace(0.1, 0.9, 12))
    tally.add(np.zeros((4, 12)), fixed)
    mean, error = tally.estimate()
    assert mean[0] == pytest.approx(0.0, abs=1e-12)
    assert error[0] == pytest.approx(0.8 / 14)


@pytest.mark.parametrize(
    "effects", [None, theory.PointEffects(), theory.PointEffects(signs="given")]
)
def test_the_ceiling_of_a_large_study_is_that_of_the_theory(effects):
    study = Study.of(20_000, 10_000, 2000, r2=0.7, effects=effects)
    top = ceiling(study, 0.1)
    assert top.power == pytest.approx(theory.power(study.model, "bayes", 0.1), abs=2e-4)
    assert top.power_error == 0.0


def test_the_ceiling_of_one_signal_is_the_best_threshold():
    """One of 50 variables matters: the mean share of false ones over all fields of a threshold."""
    study, fdr = Study.of(60, 50, 1, r2=0.2), 0.2
    s = theory.solve_bayes(study.model).m_hat
    u = np.linspace(0.0, 6.0, 6001)
    tpr, fpr = 2.0 * norm.sf(u / math.sqrt(1.0 + s)), 2.0 * norm.sf(u)
    none = (1.0 - fpr) ** 49
    false = (1.0 - tpr) * (1.0 - none)
    numbers = np.arange(50)[:, None]
    false += tpr * np.sum(binom.pmf(numbers, 49, fpr) * numbers / (numbers + 1.0), axis=0)
    best = tpr[np.argmax(false <= fdr)]
    top = ceiling(study, fdr)
    assert best - 1e-3 <= top.power <= best + 3.0 * top.power_error + 1e-3
    assert best > theory.power(study.model, "bayes", fdr) + 0.02  # than in a large study


def test_all_variables_are_signals():
    assert ceiling(Study.of(50, 20, 20, r2=0.5), 0.1).power == 1.0


@pytest.mark.parametrize("method", ["stability-fdr", "knockoffs", "knockoffs-pvalues"])
def test_expected_counts_are_enough_for_many_selections(method, monkeypatch):
    study = Study.of(6000, 20_000, 700, r2=0.8)
    large = predict(study, method, 0.1)
    monkeypatch.setattr(finite, "_MANY_SELECTIONS", 10**9)
    drawn = predict(study, method, 0.1)
    assert large.power_error == finite._NEGLECTED_ERROR
    assert large.power == pytest.approx(drawn.power, abs=0.003 + 3.0 * drawn.power_error)


def test_powers_at_ten_thousand_variables_are_below_the_ceiling_and_grow():
    # 0.64, 0.99, 1.00, 0.48 when two data sets were drawn
    studies = [Study.of(n, 10_000, 60, r2=0.3) for n in (2800, 3000, 3200, 4000)]
    found = [predict(study, "knockoffs-evalues", 0.1) for study in studies]
    for study, one in zip(studies, found, strict=True):
        assert 0.0 < one.power_error <= 0.02
        assert one.power <= ceiling(study, 0.1).power + 3.0 * one.power_error
    powers = np.array([one.power for one in found])
    assert np.all(np.diff(powers) > -0.02)
    assert powers[-1] == pytest.approx(0.46, abs=0.06)


def test_power_falls_slowly_with_the_number_of_variables():
    # 0.13, 0.11, 0.11, 0.04, 0.27, 0.24, 0.12 when a few data sets were drawn
    found = [
        predict(Study.of(2000, round(10**x), 8, r2=0.5), "knockoffs", 0.1)
        for x in (3.0, 3.5, 4.0, 4.5, 5.0, 5.5, 6.0)
    ]
    powers, errors = np.array([(one.power, one.power_error) for one in found]).T
    assert np.all(errors < 0.02)
    assert np.all(np.diff(powers) < 3.0 * np.hypot(errors[1:], errors[:-1]))
    assert np.all((powers > 0.03) & (powers < 0.18))


@pytest.mark.parametrize("p", [10**6, 10**9])
def test_ten_or_none_are_selected_of_any_number_of_variables(p):
    """With ten expected signals at level 0.2 a selection has five variables or more."""
    found = predict(Study.of(3000, p, 10, r2=0.5), "knockoffs", 0.2)
    selected = found.true_selections + found.false_selections
    assert 0.2 < found.power < 0.9
    assert found.fdr <= 0.2 + 0.02
    assert selected > 2.0
    # a study that is too small: fewer than one selection on average, of five or none
    few = predict(Study.of(100, p, 10, r2=0.5), "knockoffs", 0.2)
    assert few.power < 0.05
    assert few.power_error > 0.0


@pytest.mark.parametrize("method", ["stability-fdr", "knockoffs", "stability-pfer"])
@pytest.mark.parametrize("k", [50_000, 10**9])
def test_any_number_of_signals_takes_little_time(method, k):
    study = Study.of(10**9, 10**9, k, r2=0.5)
    assert 0.0 <= predict(study, method, 0.1).power <= ceiling(study, 0.1).power


@pytest.fixture(scope="module")
def benchmark():
    """The command of the check in the documentation."""
    return import_module("benchmarks.plan_sanity")


SETTINGS = [
    (2800, 10_000, 60, "Gaussian", 0.3, 0.1),
    (200, 1000, 1, "Gaussian", 0.1, 0.1),  # a level that one selection uses up
    (4416, 3798, 3, "Gaussian", 0.68, 0.2),  # fewer signals than a selection has variables
    (5769, 88, 3, "Gaussian", 0.85, 0.05),  # halves that find all there is
    (995, 615_356, 38, "equal", 0.35, 0.2),  # one or two selections
    pytest.param((2000, 1_000_000, 8, "Laplace", 0.5, 0.1), marks=pytest.mark.slow),
]


@pytest.mark.parametrize("sizes", SETTINGS, ids=str)
def test_no_study_is_absurd(benchmark, sizes):
    found = list(benchmark.predictions(benchmark.Setting(*sizes)))
    assert benchmark.violations(found) == []


@pytest.mark.parametrize(
    ("sizes", "method"),
    [
        # small penalties at which the equations have no solution that is found
        ((979, 313_712, 65, "Gaussian", 0.7, 0.1, "survival"), "knockoffs-evalues"),
        ((719, 18_588, 3, "Gaussian", 0.77, 0.2, "survival"), "knockoffs"),
        pytest.param(
            (150, 16_052, 40, "Gaussian", 0.9, 0.1, "survival"),
            "stability-fdr",
            marks=pytest.mark.slow,
        ),
        # a solution at a penalty nearby from which the next one is not reached
        pytest.param(
            (138, 310_657, 5, "Laplace", 0.47, 0.1, "AR 0.6"),
            "stability-pfer",
            marks=pytest.mark.slow,
        ),
        # fewer signals than a selection has variables
        ((7858, 56, 2, "Gaussian", 0.89, 0.2, "case-control"), "knockoffs-evalues"),
    ],
    ids=str,
)
def test_power_grows_where_equations_are_hard(benchmark, sizes, method):
    one = benchmark.Setting(*sizes)
    found = [predict(study, method, one.fdr) for study in one.studies()]
    assert all(each.notes == () for each in found)
    for few, many in pairwise(found):
        chance = 2.0 * math.hypot(few.power_error, many.power_error)
        assert many.power > few.power - chance - benchmark.TOLERANCE
    assert found[-1].power > 0.1


@pytest.mark.slow
def test_no_random_study_is_absurd(benchmark):
    for number in range(40):
        found = list(benchmark.predictions(benchmark.setting(number)))
        assert benchmark.violations(found) == []
