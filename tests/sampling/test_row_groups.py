"""Knockoff copies for rows that belong together."""

from __future__ import annotations

import numpy as np
import pytest

from selica.sampling import GaussianKnockoffs, simulate
from selica.sampling.row_groups import group_means, grouped_copies, part

GROUPS, VISITS, P = 12_000, 3, 4


def table(seed=0):
    """Columns with a part of the group; one is constant in groups, one has no such part."""
    rng = np.random.default_rng(seed)
    settings = {"noise_variance": 1.0, "random_state": rng}
    units = np.repeat(np.arange(GROUPS), VISITS)
    B = simulate(GROUPS, P, 0, covariance=("equicorrelated", 0.6), **settings).X[units]
    W = simulate(units.size, P, 0, covariance=("ar1", 0.7), **settings).X
    share = np.array([0.5, 1.0, 0.3, 0.0])
    return np.sqrt(share) * B + np.sqrt(1.0 - share) * W, units


def by_group(X):
    """Return the columns of all rows of a group, (groups, rows * columns)."""
    return X.reshape(GROUPS, -1)


def joint(X, copy, swapped):
    """Return the covariance of rows of a group and their copies, some columns exchanged."""
    A, B = X.copy(), copy.copy()
    A[:, swapped], B[:, swapped] = copy[:, swapped], X[:, swapped]
    return np.cov(np.hstack([by_group(A), by_group(B)]).T)


@pytest.mark.parametrize("swapped", [[0], [1], [0, 2], [0, 1, 2, 3]])
def test_columns_and_copies_can_be_exchanged_in_all_rows_of_a_group(swapped):
    X, units = table()
    error = 5.0 * np.sqrt(2.0 / GROUPS)  # of an entry of either covariance
    copy = grouped_copies(GaussianKnockoffs(), X, units, None, 1, 1).copies[0]
    assert np.abs(joint(X, copy, swapped) - joint(X, copy, [])).max() < error
    by_rows = GaussianKnockoffs().fit(X).sample(X, random_state=1)
    assert np.abs(joint(X, by_rows, swapped) - joint(X, by_rows, [])).max() > 3.0 * error


def test_a_copy_is_not_the_column_itself():
    X, units = table()
    copy = grouped_copies(GaussianKnockoffs(), X, units, None, 1, 1).copies[0]
    together = [np.corrcoef(X[:, j], copy[:, j])[0, 1] for j in range(P)]
    assert np.abs(together).max() < 0.8


def test_what_does_not_differ_within_a_group_does_not_in_its_copy():
    X, units = table()
    copies = grouped_copies(GaussianKnockoffs(), X, units, None, 1, 2).copies
    assert not np.array_equal(copies[0], copies[1])
    for copy in copies:
        assert np.ptp(copy[:, 1].reshape(GROUPS, -1), axis=1).max() < 1e-12
    visit = np.tile(np.arange(float(VISITS)), GROUPS)  # the same in all groups
    both = np.column_stack([X, visit])
    found = grouped_copies(GaussianKnockoffs(), both, units, None, 1, 1)
    assert np.ptp(group_means(found.copies[0], units)[:, -1]) < 1e-12
    assert found.parts.between.tolist() == [True] * P + [False]
    assert found.parts.within.tolist() == [True, False, True, True, True]


def test_parts_add_up_in_any_order_of_the_rows():
    X, units = table()
    order = np.random.default_rng(0).permutation(30)
    some, mixed = X[:30][order], units[:30][order]
    parts = part(some, mixed)
    np.testing.assert_allclose(parts.means[mixed] + parts.deviations, some, atol=1e-12)
    np.testing.assert_allclose(parts.means[4], some[mixed == 4].mean(axis=0), atol=1e-12)


def test_copies_of_another_law_are_noticed():
    X, units = table()
    some, groups = X[: 100 * VISITS], units[: 100 * VISITS]
    good = grouped_copies(GaussianKnockoffs(), some, groups, None, 1, 1)
    assert good.exchangeability(good.copies[0], None, 2).departure == 1.0
    far = simulate(
        some.shape[0], 40, 0, noise_variance=1.0, covariance=("ar1", 0.98), random_state=3
    ).X
    made = grouped_copies(GaussianKnockoffs(), far[::VISITS].repeat(VISITS, 0), groups, None, 1, 1)
    assert made.exchangeability(made.copies[0], None, 2).departure > 1.25
