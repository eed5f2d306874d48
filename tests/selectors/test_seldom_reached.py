"""Ways through the selectors that ordinary tables do not take, and the sentences said there."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import Lasso

from selica import (
    ClumpKnockoffs,
    DerandomizedKnockoffs,
    KnockoffSelection,
    StabilitySelection,
)
from selica._core.errors import ArgumentError, DoesNotApply, RefusedError
from selica._core.losses import loss_of
from selica._core.warning import noted
from selica.sampling import simulate
from selica.selectors import Resolution
from selica.selectors.agreement import close_by_error
from selica.selectors.guarantee import Guarantee, kept_by_number, no_guarantee
from selica.selectors.rows import RowArguments, column_variables
from selica.selectors.text_table import list_cut
from selica.tables.genotypes import Genotypes

DATA = simulate(80, 12, 3, snr=10.0, random_state=0)


def test_a_list_is_cut_between_names():
    text = "alpha, beta, gamma, delta"
    assert list_cut(text, 25) == text
    assert list_cut(text, 20) == "alpha, beta, \N{HORIZONTAL ELLIPSIS}"
    assert list_cut(text, 8) == "alpha, \N{HORIZONTAL ELLIPSIS}"


def test_close_decisions_of_message_passing_are_counted():
    assert close_by_error(1).startswith("1 decision is a close call")
    assert close_by_error(1).endswith("may change it.")
    assert close_by_error(3).startswith("3 decisions are close calls")
    assert close_by_error(3).endswith("may change them.")


def test_a_promise_on_numbers_that_says_nothing_on_shares():
    none = no_guarantee("no reason")
    assert kept_by_number(none, 0.1) is none
    many = Guarantee("expected number of false selections", 1.5, True, "", "")
    assert kept_by_number(many, 0.1).level is None


def test_offsets_and_strata_stand_beside_the_response():
    counts = np.array([2.0, 0.0, 1.0])
    given = RowArguments(offset=[0.1, 0.2, 0.3])
    beside = given.response(counts, 3, loss_of("poisson"))
    np.testing.assert_array_equal(beside, np.column_stack([counts, [0.1, 0.2, 0.3]]))
    with pytest.raises(ArgumentError, match=r"^offset must have one number for each of the 3 rows"):
        RowArguments(offset=[0.1]).response(counts, 3, loss_of("poisson"))
    times = np.array([[1.0, 1.0, 0.0, 0.0], [2.0, 0.0, 0.0, 0.0], [3.0, 1.0, 0.0, 0.0]])
    strata = RowArguments(strata=["b", "a", "b"]).response(times, 3, loss_of("cox"))
    assert strata[0, 2] == strata[2, 2] != strata[1, 2]
    np.testing.assert_array_equal(strata[:, [0, 1, 3]], times[:, [0, 1, 3]])


@pytest.mark.parametrize("wrong", [[0, 1], [0, 2, 2], [0.0, 1.0, 2.0], [1, 2, 3]])
def test_columns_of_variables_are_numbered_from_zero(wrong):
    with pytest.raises(ArgumentError, match=r"^variable must have one number for each of the 3"):
        column_variables(wrong, 3)


def test_what_a_selection_is_printed_as():
    fitted = KnockoffSelection(fdr=0.2, random_state=0).fit(DATA.X, DATA.y)
    summary = fitted.summary()
    assert repr(summary) == str(summary)
    assert summary.meanings()
    first = np.arange(12) < 2
    for said in (fitted.fdp_bound(), fitted.fdp_bound(first), fitted.level_of(first)):
        assert repr(said) == str(said)
        assert str(said).endswith(".")


def test_settings_that_contradict_each_other_are_refused():
    with pytest.raises(ArgumentError, match=r"^estimator takes the place of a statistic"):
        KnockoffSelection(statistic="mlr", estimator=Lasso(0.1)).fit(DATA.X, DATA.y)
    with pytest.raises(ArgumentError, match=r"^lam is a setting of the penalised fit"):
        KnockoffSelection(statistic="mlr", lam=0.1).fit(DATA.X, DATA.y)
    with pytest.raises(DoesNotApply, match=r"^sampler: fixed-X knockoffs know no covariates"):
        KnockoffSelection(sampler="fixed").fit(DATA.X, DATA.y, keep=DATA.X[:, :1] ** 2)
    with pytest.raises(RefusedError, match="determine all of its columns"), noted():
        KnockoffSelection().fit(DATA.X[:, :2], DATA.y, keep=DATA.X[:, :2] + 0.0)


def test_a_stability_path_needs_a_penalty_and_the_same_data():
    with noted():
        by_forest = StabilitySelection(estimator=Lasso(0.1), n_resamples=20, random_state=0).fit(
            DATA.X, DATA.y
        )
        fitted = StabilitySelection(lam=0.2, n_resamples=20, random_state=0).fit(DATA.X, DATA.y)
        with pytest.raises(DoesNotApply, match=r"^A stability path is about the penalty"):
            by_forest.stability_path()
        with pytest.raises(ArgumentError, match=r"^X and y are not the data"):
            fitted.stability_path(DATA.X, DATA.y[::-1])
        path = fitted.stability_path(DATA.X, DATA.y)
    assert fitted.plot("path", DATA.X, DATA.y).axes
    assert path.probabilities.shape[1] == DATA.X.shape[1]


def test_a_penalty_that_is_too_large_selects_nothing_and_says_so():
    with noted():
        fitted = StabilitySelection(lam=100.0, n_resamples=20, random_state=0).fit(DATA.X, DATA.y)
    assert not fitted.support_.any()
    assert "a smaller lam would select some" in fitted.explain()


def test_shares_of_copies_can_be_drawn():
    with noted():
        fitted = DerandomizedKnockoffs(threshold=0.5, n_copies=5, random_state=0).fit(
            DATA.X, DATA.y
        )
    assert fitted.plot("histogram").axes


def test_many_identical_columns_are_counted():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 12))
    X = np.concatenate([X, X], axis=1)
    with noted():
        fitted = StabilitySelection(lam=0.01, n_resamples=20, threshold=0.01, random_state=0).fit(
            X, X[:, :12] @ np.arange(1.0, 13.0)
        )
    assert len(fitted.duplicates_) > 10
    assert any("such duplicates; the table lists them" in note for note in fitted.notes_)


def test_a_resolution_is_called_by_its_correlation():
    found = Resolution(0.5, np.zeros(2, int), np.ones(1), 2.0, np.zeros(1, int), 0.1, None)
    assert found.name == "r2 0.5"
    assert not found.support.any()


def test_genotypes_have_their_own_positions_and_people():
    genotypes = Genotypes.of(np.array([[0, 1, 2], [2, 1, 0], [1, 1, 0]]))
    with pytest.raises(ArgumentError, match=r"^positions are those of the markers of X"):
        ClumpKnockoffs().fit(genotypes, [0.0, 1.0, 2.0], positions=[1, 2, 3])


def test_times_are_one_for_each_row():
    y = np.array([(True, 1.0), (False, 2.0)], dtype=[("event", bool), ("time", float)])
    with pytest.raises(ArgumentError, match=r"^y must have one time and event for each of the 80"):
        StabilitySelection(n_resamples=20).fit(DATA.X, y)
