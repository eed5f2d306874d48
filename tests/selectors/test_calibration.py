"""A false discovery rate by p-values of left-out fields: where, how, and where it is refused."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest

from selica import AutoSelection, StabilitySelection
from selica._core.errors import DoesNotApply, RefusedError
from selica._core.random import seed_sequence
from selica.control import benjamini_hochberg
from selica.sampling import simulate
from selica.selectors import stability
from selica.selectors.calibration import (
    LEFT_OUT,
    MESSAGES,
    ResponseError,
    calibrated,
    calibration_route,
)
from selica.statistics.data import make_data
from selica.statistics.left_out import averaged_fit, left_out_fields


def table(n=300, p=100, k=10, covariance=("ar1", 0.8), snr=4.0, seed=0):
    return simulate(n, p, k, snr=snr, covariance=covariance, random_state=seed)


def fitted(drawn, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        settings = {"n_resamples": 100, "random_state": 0, "n_jobs": 1} | settings
        return StabilitySelection(**settings).fit(drawn.X, drawn.y)


@pytest.fixture(scope="module")
def chain():
    drawn = table()
    return drawn, fitted(drawn, fdr=0.2)


def test_p_values_keep_a_level_on_correlated_columns(chain):
    drawn, found = chain
    assert found.fdr_ == 0.2
    assert found.fields_ is None
    assert found.calibration_.law == "neighbours"
    assert (found.support_ & drawn.support).sum() >= 5
    chosen = benjamini_hochberg(found.calibration_.p_values, 0.2)
    assert found.support_.sum() > 0
    np.testing.assert_array_equal(found.support_, chosen & (found.selection_probabilities_ >= 0.1))
    promise = found.guarantee_
    assert (promise.controls, promise.level, promise.proven) == ("false discovery rate", 0.2, False)
    assert "each column depends on a few others" in str(promise)
    assert "is independent of them, as it is for normal columns" in str(promise)
    assert "the p-values do not depend much on each other" in str(promise)
    assert any("up to 0.15 is accepted" in note for note in found.notes_)


def test_the_table_is_ranked_by_p_values(chain):
    _, found = chain
    rows = found.summary().variables.rows
    p = [row["p-value"] for row in rows]
    chosen = int(found.support_.sum())
    assert p[:chosen] == sorted(p[:chosen])
    assert all(row["selected"] for row in rows[:chosen])
    assert 0.0 <= rows[0]["probability"] <= 1.0


def test_p_values_do_not_depend_on_workers(chain):
    drawn, found = chain
    again = fitted(drawn, fdr=0.2, n_jobs=None)  # threads of the core
    np.testing.assert_array_equal(again.calibration_.p_values, found.calibration_.p_values)
    other = fitted(drawn, fdr=0.2, random_state=1)
    assert not np.array_equal(other.calibration_.p_values, found.calibration_.p_values)


def test_two_classes_have_p_values():
    drawn = table(400, 60, 6, snr=8.0)
    found = fitted(replace(drawn, y=drawn.y > 0.0), fdr=0.2)
    assert found.calibration_ is not None
    assert (found.support_ & drawn.support).sum() >= 4


ROUTES = [
    ({"covariance": "identity"}, "auto", (MESSAGES, True, True)),
    ({"covariance": "identity", "n": 80}, "auto", (LEFT_OUT, True, True)),
    ({"covariance": "identity", "n": 80}, "semi-analytic", (LEFT_OUT, True, False)),
    ({}, "auto", (LEFT_OUT, False, True)),
    ({}, "semi-analytic", (MESSAGES, True, False)),
    ({"n": 30}, "auto", (MESSAGES, True, False)),
]


@pytest.mark.parametrize(("settings", "engine", "route"), ROUTES)
def test_the_table_of_rules(settings, engine, route):
    drawn = table(**settings)
    assert tuple(calibration_route(make_data(drawn.X, drawn.y, "squared"), engine)) == route


def test_rules_for_weights_and_other_responses():
    drawn = table(n=100, p=20, k=2)
    data = make_data(drawn.X, (drawn.y > 0.0).astype(float), "logistic")
    assert calibration_route(data, "auto") == (LEFT_OUT, False, True)
    weighted = data._replace(weight=np.linspace(0.5, 1.5, 100))
    with pytest.raises(DoesNotApply, match="without sample weights"):
        calibration_route(weighted, "auto")
    linear = make_data(drawn.X, drawn.y, "squared")
    assert calibration_route(linear._replace(l1_ratio=0.5), "auto") == (MESSAGES, True, False)


def refused(X, y, coef=None, selected=3.0):
    data = make_data(X, y, "squared")
    coef = np.zeros(X.shape[1]) if coef is None else coef
    return calibrated(data, coef, selected, 0.1, seed_sequence(0))


def test_columns_that_no_law_describes_are_refused():
    """15 factors of 60 rows: half of the rows does not know them."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 15)) @ rng.standard_normal((15, 100))
    X += 0.1 * rng.standard_normal((60, 100))
    with pytest.raises(RefusedError, match="no estimate describes how the columns depend") as said:
        refused(X, rng.standard_normal(60))
    assert not isinstance(said.value, ResponseError)  # the columns alone say so


def test_too_few_free_rows_are_refused():
    drawn = table(n=60, p=80)
    with pytest.raises(ResponseError, match="leaves too few of 60 rows"):
        refused(drawn.X, drawn.y, selected=45.0)


def test_fields_that_are_all_too_large_are_refused():
    """Every variable matters a little, so that no field is that of an irrelevant one."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 100))
    with pytest.raises(ResponseError, match="times as large as those of variables that do not"):
        refused(X, X @ np.full(100, 0.1) + rng.standard_normal(400))


@pytest.mark.parametrize(("error", "proven"), [(ResponseError, False), (RefusedError, True)])
def test_a_bound_that_the_response_chose_is_not_proven(monkeypatch, error, proven):
    def refuse(*arguments):
        raise error("fdr: not here. Ask for pfer.")

    monkeypatch.setattr(stability, "calibrated", refuse)
    found = fitted(table(200, 30, 3), fdr=0.2)
    assert (found.fdr_, found.guarantee_.controls) == (None, "false discovery rate")
    assert found.guarantee_.proven is proven
    clause = "it does not matter that the response decided between p-values and a bound"
    assert (clause in str(found.guarantee_)) is not proven


def test_too_many_effects_leave_a_bound_that_is_not_proven():
    """Every variable matters a little: their fields speak against p-values."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 100))
    y = X @ np.full(100, 0.1) + rng.standard_normal(400)
    found = AutoSelection(fdr=0.1, n_resamples=50, random_state=0, n_jobs=1).fit(X, y)
    assert found.method_ == "stability-pfer"
    assert not found.guarantee_.proven
    assert stability.BY_RESPONSE in str(found.guarantee_)


def test_a_constant_column_has_no_p_value():
    drawn = table(n=200, p=30, k=3)
    X = np.column_stack([drawn.X, np.ones(200)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = StabilitySelection(fdr=0.2, n_resamples=50, random_state=0).fit(X, drawn.y)
    assert found.calibration_.p_values[-1] == 1.0
    assert not found.support_[-1]


def test_more_columns_than_rows_are_judged_without_the_variable_itself():
    """Fields of message passing are too large there: a strong one changes the residuals."""
    drawn = table(200, 400, 8, covariance="identity", snr=2.0)
    found = fitted(drawn, fdr=0.1, engine="semi-analytic")
    data = make_data(drawn.X, drawn.y, "squared")
    fit = averaged_fit(data, found.fields_.coef, float(found.selection_probabilities_.sum()))
    expected = left_out_fields(fit, data.X).z_values
    assert found.calibration_.law == "independent"
    np.testing.assert_allclose(found.calibration_.z_values, expected, rtol=1e-10)
    strong = np.abs(found.fields_.z_values) > 3.0
    assert np.all(found.fields_.p_values[strong] < found.calibration_.p_values[strong])


@pytest.mark.slow
def test_the_level_holds_where_message_passing_refused():
    """FDR at 0.2 over 60 data sets of a chain of 0.8: at most three standard errors above it."""
    false = []
    for seed in range(60):
        drawn = table(300, 100, 12, seed=seed)
        found = fitted(drawn, fdr=0.2, n_resamples=60)
        chosen = found.support_
        false.append((chosen & ~drawn.support).sum() / max(chosen.sum(), 1))
        assert found.calibration_ is not None
    error = np.std(false) / np.sqrt(60)
    assert np.mean(false) <= 0.2 + 3.0 * error
