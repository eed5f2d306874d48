"""Covariates, groups of rows, missing values and weights: what selectors do, and promise."""

from __future__ import annotations

import numpy as np
import pytest

from selica import AutoSelection, DerandomizedKnockoffs, KnockoffSelection, StabilitySelection
from selica.sampling import GaussianKnockoffs, simulate

pytestmark = [
    pytest.mark.filterwarnings("ignore::selica.selectors.AssumptionWarning"),
    pytest.mark.filterwarnings("ignore::selica.selectors.UnstableWarning"),
]


def grouped(groups=40, visits=5, p=8, seed=0):
    """Columns and a response that have a part of the patient; nothing matters."""
    rng = np.random.default_rng(seed)
    patient = np.repeat(np.arange(groups), visits)
    X = rng.standard_normal((groups, p))[patient] + 0.3 * rng.standard_normal((patient.size, p))
    y = rng.standard_normal(groups)[patient] + 0.3 * rng.standard_normal(patient.size)
    return X, y, patient


def test_knockoffs_of_groups_promise_for_independent_groups():
    X, y, patient = grouped()
    selector = KnockoffSelection(0.2, random_state=0).fit(X, y, rows_of=patient)
    said = str(selector.guarantee_)
    assert selector.guarantee_.level == 0.2
    assert "the 40 groups of rows are independent" in said
    assert "differ from its mean by chance alone" in said
    assert not selector.guarantee_.proven


def test_knockoffs_of_a_known_covariance_promise_nothing_for_groups():
    X, y, patient = grouped()
    known = KnockoffSelection(0.2, sampler=GaussianKnockoffs(0.0, np.eye(8)), random_state=0)
    promise = known.fit(X, y, rows_of=patient).guarantee_
    assert promise.level is None
    assert "row by row" in str(promise)


@pytest.mark.parametrize(
    ("groups", "method"), [(39, "stability-pfer"), (40, "knockoffs-frequency")]
)
def test_the_choice_counts_groups_of_rows(groups, method):
    X, y, patient = grouped(groups)
    selector = AutoSelection(n_resamples=6, random_state=0).fit(X, y, rows_of=patient)
    assert selector.method_ == method
    assert f"the {groups} groups of rows are independent" in str(selector.guarantee_)
    assert ("39 groups of rows are too few" in selector.reason_) == (groups == 39)


def test_rows_of_a_patient_do_not_make_evidence():
    """Row by row a copy has no part of the patient, and the columns win: 4.1 false of 8."""
    false = {True: 0, False: 0}
    for seed in range(12):
        X, y, patient = grouped(seed=seed)
        for told in false:
            selector = DerandomizedKnockoffs(pfer=1, n_copies=5, random_state=seed)
            selector.fit(X, y, rows_of=patient if told else None)
            false[told] += int(selector.support_.sum())
    assert false[True] <= 12  # one each
    assert false[False] > 24  # so that the test can fail


def test_more_columns_than_groups_are_cautioned_about():
    X, y, patient = grouped(groups=10)
    few = KnockoffSelection(0.2, random_state=0).fit(np.hstack([X, X**2]), y, rows_of=patient)
    assert any("from 10 groups of rows only" in caution for caution in few.cautions_)
    enough = KnockoffSelection(0.2, random_state=0).fit(X, y, rows_of=patient)
    assert not any("groups of rows only" in caution for caution in enough.cautions_)


def test_what_was_filled_in_is_no_theorem():
    data = simulate(120, 10, 3, snr=5.0, random_state=0)
    X = data.X.copy()
    X[::11, 2] = np.nan
    for selector in (
        StabilitySelection(pfer=1, n_resamples=20, random_state=0),
        KnockoffSelection(0.2, sampler=GaussianKnockoffs(0.0, np.eye(10)), lam=0.1, random_state=0),
    ):
        whole = selector.fit(data.X, data.y, missing="impute").guarantee_
        assert whole.proven
        assert "filled in" not in str(whole)
        promise = selector.fit(X, data.y, missing="impute").guarantee_
        assert not promise.proven
        assert promise.level == whole.level
        assert "missing values, which were filled in, follow the other columns" in str(promise)


def test_every_promise_asks_for_independent_rows():
    X, y, patient = grouped()
    for selector in (
        AutoSelection(n_resamples=4, random_state=0),
        KnockoffSelection(0.2, random_state=0),
        DerandomizedKnockoffs(0.2, n_copies=4, random_state=0),
        StabilitySelection(pfer=1, n_resamples=20, random_state=0),
    ):
        assert "the rows are independent" in str(selector.fit(X[::5], y[::5]).guarantee_)
        said = str(selector.fit(X, y, rows_of=patient).guarantee_)
        assert "the 40 groups of rows are independent" in said


def test_covariates_of_patients_and_of_visits_can_be_kept():
    """Columns follow the covariates, which alone matter."""
    rng = np.random.default_rng(0)
    X, y, patient = grouped()
    age = rng.standard_normal(40)[patient]
    time = rng.standard_normal(200)
    X = X + np.column_stack([age] * 4 + [time] * 4)
    y = y + 3.0 * age + 3.0 * time
    keep = np.column_stack([age, time])
    selector = DerandomizedKnockoffs(pfer=1, n_copies=10, random_state=0)
    assert selector.fit(X, y, keep=keep, rows_of=patient).support_.sum() <= 1
    assert selector.fit(X, y, rows_of=patient).support_.sum() > 2


def test_a_promise_with_many_assumptions_has_one_and():
    X, y, patient = grouped()
    X[::9, 1] = np.nan
    selector = DerandomizedKnockoffs(pfer=1, n_copies=4, random_state=0)
    said = str(selector.fit(X, y, rows_of=patient, missing="impute").guarantee_)
    assert said.count(", and ") == 1
    for clause in ("by chance alone, ", "rarer than low ones, ", "as known ones do"):
        assert clause in said
