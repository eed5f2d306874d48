"""What fuzzing found: each of these ended in an error of another kind, or not at all."""

from __future__ import annotations

import numpy as np
import pytest

from selica import (
    amp,
    control,
    experiments,
    planning,
    plots,
    reports,
    sampling,
    selectors,
    solvers,
    tables,
    theory,
)
from selica._core.errors import ArgumentError
from selica._core.validation import LARGEST_COUNT, MOST_WORKERS, workers
from tests.hardening.commands import assert_one_sentence, selica

X = np.random.default_rng(0).standard_normal((12, 5))
Y = X[:, 0]
WEIGHTS = np.ones((3, 12))
TABLE = tables.parse_table("t.csv", b"a,b,y\n1,2,3\n2,1,4\n")
BARS = experiments.Table.of([{"variable": "a", "selected": True, "chance": 0.5}])
TINY = theory.Model(1.0, 1e-276, 1e-276)
NOTHING = theory.Model(0.05, 0.0, 0.0)
SEVERAL = np.zeros((2, 2, 2))  # printed in several lines
HUGE = 10**30
VAST = np.full((12, 5), 1e308)
UNEVEN = [[1.0], [2.0, 3.0]]

REFUSED = {
    "resamples without end": (
        lambda: selectors.StabilitySelection(n_resamples=HUGE).fit(X, Y),
        "n_resamples must be at most",
    ),
    "members without end": (lambda: sampling.resample_weights(12, HUGE), "n_resamples"),
    "samples without end": (lambda: sampling.simulate(HUGE, 5, 1, snr=1.0), "n_samples"),
    "workers without end": (
        lambda: solvers.lasso_path_batch(X, Y, 0.1, WEIGHTS, n_jobs=HUGE),
        "n_jobs",
    ),
    "workers of a selector": (lambda: selectors.DataSplitting(n_jobs="all").fit(X, Y), "n_jobs"),
    "no worker": (
        lambda: planning.plasmode_power(X, 2, r2=0.5, methods="lasso", n_jobs=0),
        "n_jobs",
    ),
    "a message of several lines": (lambda: sampling.FixedKnockoffs(intercept=SEVERAL), "intercept"),
    "an array for a flag": (lambda: sampling.ledoit_wolf(X, standardise=X), "standardise"),
    "another flag": (
        lambda: solvers.logistic_path_batch(X, np.arange(12) % 2, 0.1, WEIGHTS, fit_intercept=X),
        "fit_intercept",
    ),
    "an array for a number": (
        lambda: solvers.lasso_path_batch(X, Y, 0.1, WEIGHTS, tol=[1e-6, 1e-7]),
        "tol",
    ),
    "a number for words": (lambda: solvers.lasso_path_batch(X, Y, 0.1, WEIGHTS, keep=5), "keep"),
    "an array for a word": (lambda: amp.stability_vamp(X, Y, 0.1, resampling=X), "resampling"),
    "an array for signs": (lambda: theory.PointEffects(1.0, signs=SEVERAL), "signs"),
    "an integer beyond floats": (lambda: theory.EmpiricalEffects([10**400]), "values"),
    "several shares": (lambda: theory.bayes_transitions([0.1, 0.2], 0.1), "rho"),
    "less noise than rounding": (lambda: theory.bayes_transitions(0.1, 1e-17), "Delta"),
    "nothing to explain": (
        lambda: theory.rate_function(NOTHING, "knockoffs-ideal", 1.0),
        "rho . Delta",
    ),
    "next to nothing": (
        lambda: planning.correlated_stability(TINY, 1.0, np.eye(5), n_data=8, random_state=0),
        "Delta",
    ),
    "an array for a size": (
        lambda: planning.correlated_stability(TINY, 1.0, np.eye(5), n_features=np.ones(2)),
        "n_features",
    ),
    "an estimator that is none": (
        lambda: selectors.KnockoffSelection(estimator=X).fit(X, Y),
        "estimator",
    ),
    "a store with too long a name": (lambda: experiments.Store("x" * 1000), "path"),
    "a store that is a folder": (lambda: experiments.Store("."), "path"),
    "a seed that no file is named by": (
        lambda: experiments.reproduce("phase-boundary", "smoke", "figures", random_state=10**400),
        "random_state",
    ),
    "an array for fresh": (
        lambda: experiments.reproduce("phase-boundary", "smoke", "figures", fresh=X),
        "fresh",
    ),
    "a table that is none": (lambda: experiments.deviations(np.nan), "table"),
    "a path that is none": (lambda: tables.read_table(2.5), "path"),
    "a path with a zero": (lambda: tables.read_table("a\0.csv"), "path"),
    "a path of two lines": (lambda: tables.read_table("a\nb.csv"), "path"),
    "text for bytes": (lambda: tables.parse_table("a.csv", "a,b"), "content"),
    "limits that are none": (lambda: tables.parse_table("a.csv", b"a\n1\n2", 3), "limits"),
    "columns that are none": (lambda: tables.split([1, 2], "y"), "table"),
    "a target that is no name": (lambda: tables.split(TABLE, 1.0), "target"),
    "one name for several": (lambda: tables.split(TABLE, "y", "a"), "drop"),
    "columns by number": (lambda: tables.variables(TABLE, [np.arange(3)]), "drop"),
    "a selector that is none": (lambda: reports.answer(5, X, Y, list("abcde"), "y"), "selector"),
    "names that are none": (
        lambda: reports.answer(selectors.LassoSelection(), X, Y, 5, "y"),
        "names",
    ),
    "a report of nothing": (lambda: reports.report_zip(None), "selection"),
    "bars of nothing": (lambda: plots.plot_bars(5, "chance"), "variables"),
    "bars of another column": (lambda: plots.plot_bars(BARS, "other"), "value"),
    "bars without end": (lambda: plots.plot_bars(BARS, "chance", most=HUGE), "most"),
    "a threshold that is text": (lambda: plots.plot_statistics([1.0], "high"), "threshold"),
    "statistics that are none": (lambda: plots.plot_statistics(None, 1.0), "W"),
    "no probabilities": (lambda: plots.plot_frequencies([], 0.5), "probabilities"),
    "penalties of another length": (
        lambda: plots.plot_stability_path([0.2, 0.1], [[0.5]], [True], 0.6),
        "probabilities",
    ),
    "curves that are none": (lambda: plots.plot_power([1, 2]), "curves"),
    "rate functions that are none": (lambda: plots.plot_rate_function(5), "rates"),
    "fewer settings than labels": (
        lambda: plots.plot_comparison(["a", "b"], ["best"], [0.5, 0.5], [0.1, 0.1], 0.1),
        "settings",
    ),
    "fewer values than labels": (
        lambda: plots.plot_requirement(["a"], [([1], [0.5])], [], 0.5, "samples"),
        "values",
    ),
    "a table for correlations": (lambda: plots.plot_correlated_power(BARS, 0.1), "Delta"),
    "columns whose sums overflow": (lambda: sampling.correlation_groups(VAST), "X: values beyond"),
    "rows whose sums overflow": (lambda: sampling.ledoit_wolf(VAST), "X: values beyond"),
    "a mean without an end": (lambda: sampling.ledoit_wolf(X, mean=1e308), "mean: values beyond"),
    "a panel whose sums overflow": (lambda: sampling.reference_linkage(VAST), "X: values beyond"),
    "copies without an end": (
        lambda: planning.correlated_knockoff(
            theory.Model(1.0, 0.5, 1.0),
            3.0,
            "identity",
            s=1e308,
            n_features=5,
            n_data=10,
            n_members=2,
            random_state=0,
        ),
        "s: values beyond",
    ),
    "small numbers in uneven rows": (lambda: solvers.int8_design(UNEVEN), "values"),
    "two bits in uneven rows": (lambda: solvers.pack_two_bit(UNEVEN), "values"),
    "counts that are one number": (
        lambda: solvers.poisson_path_batch(X, 1.0, [0.1], WEIGHTS),
        "y must have shape",
    ),
    "classes kept by a number": (
        lambda: solvers.multinomial_path_batch(X, Y > 0.0, [0.1], WEIGHTS, keep=3),
        "keep",
    ),
    "an estimator without a fit": (
        lambda: selectors.InterceptIfEmpty({}).fit(X, Y),
        "estimator must have fit",
    ),
    "a report of what was not prepared": (
        lambda: reports.answer(
            selectors.LassoSelection(), X, Y, list("abcde"), target="y", prepared=3
        ),
        "prepared",
    ),
    "an array with an endless name": (lambda: tables.read_array("x" * 5000), "path: "),
    "LD that is none": (lambda: tables.write_linkage("x.npz", "ld"), "ld must be of the class"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_refusal_names_the_argument_in_one_line(case):
    call, name = REFUSED[case]
    with pytest.raises(ArgumentError, match=name) as caught:
        call()
    assert "\n" not in str(caught.value)


def test_a_seed_may_be_of_any_size():
    first, again = (sampling.resample_weights(12, 2, random_state=HUGE) for _ in range(2))
    np.testing.assert_array_equal(first, again)


def test_counts_and_workers_end_somewhere():
    assert workers(MOST_WORKERS) == MOST_WORKERS
    assert workers(None) is None
    assert workers(-1) == -1
    with pytest.raises(ArgumentError, match="at most"):
        workers(MOST_WORKERS + 1)
    with pytest.raises(ArgumentError, match="at most"):
        control.frequency_bound(LARGEST_COUNT + 1, 0.5)


@pytest.mark.parametrize("v", [1, 10, 53])
def test_levels_next_to_one(v):
    """P(NB(v, 1/2) >= 1) = 1 - 2^-v; the search went on for ever where a level rounds to one."""
    assert control.kfwer_parameters(1, 1.0 - 2.0**-v).v == v


def test_transitions_with_the_least_noise():
    """Two solutions are stable between the ends of a jump, one is beyond them."""
    (jump,) = theory.bayes_transitions(0.066, 1e-16)
    assert jump.spinodal < jump.information < jump.algorithm

    def solutions(alpha):
        return len(theory.bayes_solutions(theory.Model(alpha, 0.066, 1e-16)))

    assert [solutions(0.999 * jump.spinodal), solutions(1.001 * jump.spinodal)] == [1, 3]
    assert [solutions(0.999 * jump.algorithm), solutions(1.001 * jump.algorithm)] == [3, 1]


def test_words_of_several_lines_are_told_in_one():
    assert_one_sentence(selica("select", "a\nb", "--target", "y"))
    assert selica("predict", "--alpha", "a\nb").stderr.count("\n") == 1
