"""Copies of large groups by representatives."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from selica._core.errors import ArgumentError
from selica.sampling import (
    GaussianKnockoffs,
    RepresentativeKnockoffs,
    exchangeability,
    group_representatives,
    group_s_matrix,
    simulate,
)
from tests.sampling.members import assert_members_do_not_depend_on_the_chunk
from tests.sampling.test_group_knockoffs import implied_joint, wanted_joint
from tests.sampling.test_s_matrices import ar1, wishart

GROUPS = np.array([1, 0, 0, 1, 2, 0, 1, 2, 3])
HEADS = np.array([0, 1, 4, 8])
"""One column of each group: all that groups have to do with each other goes through these."""
SD = np.array([1.0, 2.0, 0.5, 3.0, 1.0, 10.0, 1.0, 0.1, 4.0])


def hanging(r=0.6):
    """The covariance of columns that follow their head, with noise of their own."""
    heads = ar1(r, 4)
    head_of = np.array([0, 1, 1, 0, 2, 1, 0, 2, 3])
    slope = np.where(np.isin(np.arange(9), HEADS), 1.0, 0.95)
    sigma = slope * slope[:, None] * heads[np.ix_(head_of, head_of)]
    noise = wishart(9, 1) * 0.05
    same = np.equal.outer(GROUPS, GROUPS)
    follows = ~np.isin(np.arange(9), HEADS)
    sigma += np.where(same & follows & follows[:, None], noise, 0.0)
    return sigma * np.outer(SD, SD)


@pytest.mark.parametrize("m", [1, 3])
def test_copies_are_exact_where_groups_depend_by_representatives(m):
    sigma = hanging()
    knockoffs = RepresentativeKnockoffs(GROUPS, 0.0, sigma, n_joint=m)
    np.testing.assert_array_equal(np.flatnonzero(knockoffs.representatives_), HEADS)
    assert knockoffs.exact
    found = implied_joint(knockoffs, sigma)
    S = sigma - found[:9, 9:18]
    assert np.abs(S[np.not_equal.outer(GROUPS, GROUPS)]).max() < 1e-10
    np.testing.assert_allclose(found, wanted_joint(sigma, S, m), atol=1e-10)
    # of the representatives themselves these are the copies by the best S
    heads = np.ix_(HEADS, HEADS)
    best = group_s_matrix(sigma[heads], np.arange(4), "maxent", m)
    np.testing.assert_allclose(S[heads], best, atol=1e-9)


def test_copies_are_approximate_where_groups_depend_otherwise():
    knockoffs = RepresentativeKnockoffs(np.arange(9) // 3, 0.0, ar1(0.9, 9))
    assert not knockoffs.exact
    assert not RepresentativeKnockoffs(GROUPS).exact
    assert "representatives" in knockoffs.assumption
    X = simulate(2000, 30, 0, noise_variance=1.0, covariance=("ar1", 0.9), random_state=0).X
    groups = np.arange(30) // 3
    rough = RepresentativeKnockoffs(groups, 0.0, ar1(0.9, 30)).sample(X, 1)
    assert exchangeability(X, rough, centre=0.0, random_state=2, groups=groups).differs


def test_all_columns_are_representatives_where_all_is_to_be_explained():
    sigma = ar1(0.8, 9) * np.outer(SD, SD)
    X = np.random.default_rng(0).standard_normal((30, 9))
    knockoffs = RepresentativeKnockoffs(GROUPS, 0.0, sigma, share=1.0)
    assert knockoffs.representatives_.all()
    assert knockoffs.exact
    whole = GaussianKnockoffs(0.0, sigma, "maxent", groups=GROUPS)
    np.testing.assert_allclose(
        implied_joint(knockoffs, sigma), implied_joint(whole, sigma), atol=1e-9 * SD.max() ** 2
    )
    # the columns are copied group by group, so that their noise has another order
    assert knockoffs.sample(X, 1).shape == whole.sample(X, 1).shape


def explained(correlation, some):
    """Share of the variance of all columns that some of them explain."""
    cross = correlation[:, some]
    return np.trace(cross @ np.linalg.solve(correlation[np.ix_(some, some)], cross.T)) / len(
        correlation
    )


def test_representatives_explain_their_share():
    sigma, groups = wishart(12, 3), np.arange(12) // 6
    for share in (0.3, 0.5, 0.8):
        chosen = group_representatives(sigma * 7.0, groups, share)
        for group in range(2):
            block = sigma[np.ix_(groups == group, groups == group)]
            some = np.flatnonzero(chosen[groups == group])
            assert explained(block, some) >= share
            # with one fewer no choice of the greedy path would do; one alone is the best of all
            if some.size == 1:
                best = max(explained(block, [j]) for j in range(6))
                assert explained(block, some) == pytest.approx(best)
            else:
                fewer = [explained(block, list(c)) for c in combinations(some, some.size - 1)]
                assert min(fewer) < share


def test_a_group_of_one_is_its_own_representative():
    np.testing.assert_array_equal(group_representatives(np.eye(3), [0, 1, 2], 0.01), [True] * 3)


def test_estimated_and_regrouped():
    X = simulate(80, 9, 0, noise_variance=1.0, covariance=("ar1", 0.9), random_state=0).X
    knockoffs = RepresentativeKnockoffs(GROUPS, n_joint=2)
    assert "not fitted" in repr(knockoffs)
    with pytest.raises(ArgumentError, match=r"^covariance is not known yet"):
        knockoffs.copies(X, 0, 1)
    fitted = knockoffs.fit(X)
    assert fitted.estimated
    assert not fitted.exact
    assert fitted.sample(X, 0).shape == (80, 18)
    assert_members_do_not_depend_on_the_chunk(fitted, X)
    other = fitted.of_groups(np.zeros(9, int))
    assert other.n_joint == 1
    assert other.representatives_.sum() < fitted.representatives_.sum()
    assert fitted.of_groups(None).representatives_.all()


def test_bad_arguments():
    for share in (0.0, 1.5, "half"):
        with pytest.raises(ArgumentError, match=r"^share"):
            group_representatives(np.eye(2), [0, 0], share)
    with pytest.raises(ArgumentError, match=r"^groups must have one integer for each of the 2"):
        RepresentativeKnockoffs([0, 0, 1], 0.0, np.eye(2))
    with pytest.raises(ArgumentError, match=r"^mean"):
        RepresentativeKnockoffs([0, 0], [0.0, 1.0, 2.0], np.eye(2))
    with pytest.raises(ArgumentError, match=r"^method"):
        RepresentativeKnockoffs([0, 0], method="sdp")
