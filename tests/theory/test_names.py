"""Names of methods: those of the catalogue, and former ones for one more release."""

from __future__ import annotations

import numpy as np
import pytest

from selica import catalogue, theory
from selica._core.errors import ArgumentError, RenamedWarning
from selica.theory.selection.power import point_of

MODEL = theory.Model(alpha=1.5, rho=0.2, Delta=0.05)
FORMER = {old: row.name for row in catalogue.methods() for old in row.former.get("theory", ())}
TREATED = [row.name for row in catalogue.methods() if row.threshold is not None]


def test_the_theory_treats_seven_methods():
    assert sorted(TREATED) == sorted(
        (
            *("lasso", "thresholded-lasso", "stability-ideal", "knockoffs-ideal"),
            *("knockoffs-frequency", "bayes", "bayes-amp"),
        )
    )
    assert sorted(FORMER) == sorted(
        ("stability", "knockoff", "derandomized", "thresholded_lasso", "bayes_amp")
    )


@pytest.mark.parametrize("method", TREATED)
def test_results_carry_the_name_of_the_method(method):
    point = theory.operating_point(MODEL, method, 0.1, lam=0.3)
    assert point.method == theory.power_curve(MODEL, method, [0.1], lam=0.3).method == method
    allowed = {catalogue.METHODS[method].threshold}
    assert point.threshold_name in allowed | ({"g_th", "Z_th"} if allowed == {"Pi_th"} else set())
    assert point.tpr == pytest.approx(theory.power(MODEL, method, 0.1, lam=0.3), rel=1e-6)


@pytest.mark.parametrize(("old", "new"), FORMER.items())
def test_former_names_work_with_a_warning(old, new):
    def warned(call):
        with pytest.warns(RenamedWarning, match=f"{old!r} is now called {new!r}") as caught:
            result = call(old)
        assert [w.filename for w in caught] == [__file__] * len(caught)
        assert len(caught) == 1
        return result, call(new)

    one, other = warned(lambda name: theory.power(MODEL, name, 0.1, lam=0.3))
    assert one == other
    one, other = warned(lambda name: theory.power_curve(MODEL, name, [0.1, 0.2], lam=0.3))
    assert one.method == new
    assert np.array_equal(one.tpr, other.tpr)
    one, other = warned(lambda name: theory.operating_point(MODEL, name, 0.1, lam=0.3))
    assert one.method == new
    assert one.threshold == other.threshold
    if new == "bayes-amp":
        return
    one, other = warned(lambda name: theory.optimal_lam(MODEL, name))
    assert one == other
    one, other = warned(lambda name: theory.reconstruction_limit(0.2, name))
    assert one == other
    if new != "thresholded-lasso":
        one, other = warned(lambda name: theory.rate_function(MODEL, name, 0.3, y=0.0))
        assert one.method == new
        assert one.cost == other.cost
    solution = theory.operating_point(MODEL, new, 0.1, lam=0.3).solution
    one, other = warned(lambda name: point_of(solution, name, np.asarray(0.1)))
    assert one.method == new
    assert one.threshold == other.threshold


@pytest.mark.parametrize("method", ["knockoffs", "stability-fdr", "splitting", "auto"])
def test_methods_whose_threshold_the_data_set_are_not_treated(method):
    for call in (
        lambda: theory.power(MODEL, method),
        lambda: theory.operating_point(MODEL, method),
        lambda: theory.power_curve(MODEL, method),
        lambda: theory.optimal_lam(MODEL, method),
        lambda: theory.reconstruction_limit(0.2, method),
        lambda: theory.rate_function(MODEL, method, 0.3),
    ):
        with pytest.raises(ArgumentError, match=r"^method must be one .*stability-ideal") as caught:
            call()
        assert repr(method) in str(caught.value)


def test_methods_without_a_penalty_have_no_best_one():
    with pytest.raises(ArgumentError, match=r"method must be one of .*'lasso'.*; got 'bayes'"):
        theory.optimal_lam(MODEL, "bayes")
    for call in (theory.rate_function, theory.optimal_lam, theory.power):
        with pytest.raises(ArgumentError, match=r"^method must be"):
            call(MODEL, None, lam=0.1) if call is not theory.optimal_lam else call(MODEL, None)


def test_a_registered_method_is_treated_by_its_equations():
    row = catalogue.Method("mine", "mine", equations="stability", threshold="Pi_th")
    catalogue.register(row)
    try:
        found = theory.operating_point(MODEL, "mine", 0.1, lam=0.3)
        assert found.method == "mine"
        assert found.tpr == theory.operating_point(MODEL, "stability-ideal", 0.1, lam=0.3).tpr
    finally:
        catalogue.unregister("mine")


def test_the_former_name_of_the_range_of_costs():
    with pytest.warns(RenamedWarning, match=r"theory\.Reach is now called theory\.CostRange"):
        assert theory.Reach is theory.CostRange
    with pytest.raises(AttributeError, match="nothing"):
        theory.nothing  # noqa: B018
