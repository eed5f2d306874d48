"""How columns are correlated: forms, words, correlations of a covariance, and what cannot be."""

from __future__ import annotations

import numpy as np
import pytest

from selica import planning
from selica.planning import Binary, Study, compare_methods
from selica.planning.columns import check_columns
from selica.sampling import simulate


@pytest.mark.parametrize(
    ("form", "entry", "label", "typed"),
    [
        (("ar1", 0.5), lambda i, j: 0.5 ** abs(i - j),
         "columns with autoregressive correlation 0.5", "ar1:0.5"),
        (("ar1", -0.3), lambda i, j: (-0.3) ** abs(i - j),
         "columns with autoregressive correlation -0.3", "ar1:-0.3"),
        (("block", 0.4, 3), lambda i, j: 1.0 if i == j else 0.4 * (i // 3 == j // 3),
         "blocks of 3 columns with correlation 0.4", "block:0.4:3"),
        (("equicorrelated", 0.2), lambda i, j: 1.0 if i == j else 0.2,
         "columns that all have correlation 0.2", "equicorrelated:0.2"),
    ],
    ids=["ar1", "negative", "block", "equal"],
)  # fmt: skip
def test_forms(form, entry, label, typed):
    found = check_columns(form, 7)
    want = [[entry(i, j) for j in range(7)] for i in range(7)]
    assert np.asarray(found.covariance) == pytest.approx(np.array(want), abs=1e-15)
    assert (found.label, found.typed) == (label, typed)
    assert label in Study.of(50, 7, 2, r2=0.5, covariance=form).assumptions


@pytest.mark.parametrize("given", [None, "identity", ("ar1", 0.0), ("block", 0.0, 2)], ids=str)
def test_independent_columns_are_none(given):
    assert check_columns(given, 5) is None


def test_effects_are_of_standardised_columns_whatever_their_variances():
    correlation = np.array([[1.0, 0.5, 0.25], [0.5, 1.0, 0.5], [0.25, 0.5, 1.0]])
    deviation = np.array([2.0, 0.1, 30.0])
    found = check_columns(correlation * np.outer(deviation, deviation), 3)
    assert np.asarray(found.covariance) == pytest.approx(correlation, abs=1e-12)
    assert (found.label, found.typed) == ("columns with the given covariance", "covariance.csv")


def test_a_covariance_of_the_library_is_taken_as_it_is():
    covariance = simulate(10, 4, 1, snr=1.0, covariance=("ar1", 0.3), random_state=0).covariance
    assert check_columns(covariance, 4).covariance is covariance


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("ar1", 1.5), "^covariance: the correlation must be between -0.99 and 0.99; got 1.5"),
        (("ar1", "high"), "^covariance: the correlation must be a number"),
        (("block", -0.2, 2), "^covariance: the correlation must be between 0 and 0.99"),
        (("block", 0.2, 6), "^covariance: the size of a block must be at most 5; got 6"),
        (("block", 0.2, 2.5), "^covariance: the size of a block must be an integer"),
        (("ar1",), "^covariance must be .*ar1"),
        (("block", 0.2), "^covariance must be .*block"),
        (("toeplitz", 0.2), "^covariance must be"),
        ("high", "^covariance must be"),
        (np.eye(4), "^covariance must have 5 rows and columns, one for each variable; got 4 x 4"),
        (np.ones((5, 4)), "^covariance must have 5 rows and columns, .*; got 5 x 4"),
        (np.diag([1.0, 1.0, 0.0, 1.0, 1.0]), "^covariance must have positive variances; got 0"),
        (np.triu(np.ones((5, 5))), "^covariance must be symmetric"),
        (np.eye(5) * 3.0 - 2.0, "^covariance must be positive semidefinite"),
        (np.full((5, 5), np.nan), "^covariance must be finite"),
    ],
    ids=str,
)  # fmt: skip
def test_what_is_no_correlation(given, message):
    with pytest.raises(ValueError, match=message):
        check_columns(given, 5)


def test_there_is_no_theory_for_correlated_columns_with_another_response():
    study = Study.of(50, 10, 2, r2=0.5, response=Binary(), covariance=("ar1", 0.5))
    assert study.is_simulated
    assert not Study.of(50, 10, 2, r2=0.5, covariance=("ar1", 0.5)).is_simulated
    assert not Study.of(50, 10, 2, r2=0.5, response=Binary()).is_simulated


@pytest.fixture(scope="module")
def correlated():
    return compare_methods(
        150, 30, 6, r2=0.8, fdr=0.2, covariance=("block", 0.5, 3), methods=["knockoffs"],
    )  # fmt: skip


def test_a_study_with_correlated_columns_is_compared_and_recommended(correlated):
    assert correlated.best is not None
    assert correlated.best.power == max(
        one.power for one in correlated.predictions if one.fdr < 0.205
    )
    assert correlated.recommendation.otherwise is None  # no check refuses these
    assert "blocks of 3 columns with correlation 0.5" in str(correlated)


def test_a_matrix_predicts_what_its_form_predicts(correlated):
    """The same correlations, once as blocks and once as numbers."""
    deviation = np.linspace(1.0, 3.0, 30)
    matrix = np.kron(np.eye(10), np.full((3, 3), 0.5)) + 0.5 * np.eye(30)
    found = compare_methods(
        150, 30, 6, r2=0.8, fdr=0.2, covariance=matrix * np.outer(deviation, deviation),
        methods=["knockoffs"],
    )  # fmt: skip
    one, other = (study.one("knockoffs") for study in (found, correlated))
    error = np.hypot(one.power_error, other.power_error)
    assert one.power == pytest.approx(other.power, abs=4.0 * error + 0.01)


def test_a_method_without_a_theory_for_correlated_columns_says_so():
    with pytest.raises(
        ValueError, match="'stability-fdr' has no prediction for correlated columns"
    ):
        compare_methods(100, 20, 4, r2=0.8, covariance=("ar1", 0.5), methods="stability-fdr")


def test_the_correlations_of_a_pilot_table_are_taken():
    X = simulate(40, 6, 1, snr=1.0, covariance=("ar1", 0.6), random_state=0).X * 5.0 + 3.0
    found = check_columns(planning.covariance_of(X), 6)
    assert np.diag(np.asarray(found.covariance)) == pytest.approx(np.ones(6), abs=1e-12)
    assert 0.3 < np.asarray(found.covariance)[0, 1] < 0.9
