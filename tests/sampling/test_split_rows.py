"""Rows split between the distribution of the columns and the selection."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

from selica import DerandomizedKnockoffs, KnockoffSelection
from selica._core.errors import ArgumentError, RefusedError
from selica.sampling import GaussianKnockoffs, SplitRows, simulate

DATA = simulate(200, 20, 8, snr=10.0, covariance=("ar1", 0.5), random_state=0)


def test_some_rows_estimate_and_the_others_are_copied():
    split = SplitRows(GaussianKnockoffs(covariance="neighbours"), share=0.3, random_state=5)
    fitted = split.fit(DATA.X)
    rows = fitted.own_rows
    assert rows.sum() == 60
    assert split.own_rows is None  # as it was
    inner = GaussianKnockoffs(covariance="neighbours").fit(DATA.X[rows])
    want = inner.sample(DATA.X, random_state=3)
    got = fitted.sample(DATA.X, random_state=3)
    np.testing.assert_array_equal(got[rows], DATA.X[rows])
    np.testing.assert_allclose(got[~rows], want[~rows], atol=1e-12)
    assert fitted.law == "neighbours"
    assert fitted.assumption == inner.assumption
    np.testing.assert_array_equal(split.fit(DATA.X).own_rows, rows)
    assert not (SplitRows(share=0.3, random_state=6).fit(DATA.X).own_rows == rows).all()


def test_weights_and_joint_copies():
    weight = np.linspace(0.5, 2.0, 200)
    fitted = SplitRows(share=0.5).fit(DATA.X, weight)
    rows = fitted.own_rows
    inner = GaussianKnockoffs().fit(DATA.X[rows], weight[rows])
    np.testing.assert_allclose(fitted.sampler.covariance, inner.covariance, rtol=1e-10)
    joint = SplitRows(share=0.5).of_groups(None, 3).fit(DATA.X)
    drawn = joint.sample(DATA.X, random_state=1)
    assert drawn.shape == (200, 60)
    np.testing.assert_array_equal(drawn[joint.own_rows, 40:], DATA.X[joint.own_rows])


def test_only_the_other_rows_are_checked():
    selector = KnockoffSelection(0.3, sampler=SplitRows(share=0.4), lam=0.1, random_state=0)
    selector.fit(DATA.X, DATA.y)
    assert selector.exchangeability_.rows == 120
    assert selector.law_ == "ledoit_wolf"
    assert "estimated" in selector.guarantee_.assumptions
    assert not selector.guarantee_.proven
    assert selector.support_.any()
    again = clone(selector).fit(DATA.X, DATA.y)
    np.testing.assert_array_equal(again.statistics_, selector.statistics_)


def test_other_laws_are_fitted_to_the_same_rows():
    rng = np.random.default_rng(0)
    kernel = np.exp(-0.5 * np.arange(-4, 5) ** 2 / 1.2)
    X = np.apply_along_axis(np.convolve, 1, rng.standard_normal((160, 60)), kernel, "valid")
    y = X[:, :5].sum(axis=1) + rng.standard_normal(160)
    selector = DerandomizedKnockoffs(
        0.2, n_copies=2, lam=0.1, sampler=SplitRows(share=0.5), random_state=0
    ).fit(X, y)
    assert selector.law_ == "neighbours"
    assert selector.exchangeability_.rows == 80


def test_a_sampler_with_a_known_law_is_still_exact():
    known = SplitRows(GaussianKnockoffs(0.0, DATA.covariance), share=0.2)
    selector = KnockoffSelection(0.3, sampler=known, lam=0.1, random_state=0).fit(DATA.X, DATA.y)
    assert selector.guarantee_.proven


@pytest.mark.parametrize(
    ("settings", "word"),
    [
        ({"share": 0.0}, "share"),
        ({"share": 1.0}, "share"),
        ({"share": "half"}, "share"),
        ({"sampler": "nothing"}, "sampler"),
        ({"sampler": 3}, "sampler"),
        ({"sampler": "fixed"}, "sampler must be one whose copies are exchangeable"),
        ({"sampler": "iid"}, "sampler must be one whose copies are exchangeable"),
    ],
)
def test_bad_settings(settings, word):
    with pytest.raises(ArgumentError, match=word):
        SplitRows(**settings)


def test_values_of_the_other_rows_alone_are_told():
    X = np.random.default_rng(0).integers(0, 2, (40, 3)).astype(float)
    rows = SplitRows("markov").fit(X).own_rows
    X[np.flatnonzero(~rows)[0], 1] = 7.0
    with pytest.raises(RefusedError, match=r"holds 7.*does not occur in the rows that the chain"):
        SplitRows("markov").fit(X).sample(X, 0)


def test_what_the_sampler_allows_is_passed_on():
    class Grams(GaussianKnockoffs):
        any_statistic = False

    assert SplitRows().any_statistic
    assert not SplitRows(Grams()).any_statistic
    with pytest.raises(ArgumentError, match="sampler draws 2 joint copies"):
        KnockoffSelection(sampler=SplitRows(GaussianKnockoffs(n_joint=2))).fit(DATA.X, DATA.y)
