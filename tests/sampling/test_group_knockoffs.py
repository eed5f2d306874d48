"""Copies of groups, and several joint ones: their joint covariance, exactly."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from selica._core.errors import ArgumentError, DoesNotApply
from selica.sampling import FixedKnockoffs, GaussianKnockoffs, IndependentKnockoffs, group_s_matrix
from selica.sampling.group_s_matrices import GROUP_METHODS
from tests.sampling.members import assert_members_do_not_depend_on_the_chunk
from tests.sampling.test_s_matrices import ar1, wishart

SD = np.array([1.0, 0.3, 5.0, 2.0, 1.0, 10.0])
GROUPS = np.array([4, 2, 4, 2, 2, 9])
LAWS = {
    "identity": np.diag(SD**2),
    "ar1 0.5": ar1(0.5, 6) * np.outer(SD, SD),
    "ar1 0.9": ar1(0.9, 6) * np.outer(SD, SD),
    "wishart": wishart(6, 0),
}


class UnitNoise:
    """A generator of "random" numbers: the next row of the identity for each row of a table."""

    def __init__(self) -> None:
        self.used = 0

    def standard_normal(self, shape):
        *numbers, rows = shape
        many = int(np.prod(numbers))
        unit = np.zeros((many, rows))
        unit[np.arange(many), self.used + np.arange(many)] = 1.0
        self.used += many
        return unit.reshape(shape)


def implied_joint(knockoffs, sigma):
    """Covariance of (X, copy 1, ..., copy m), read off the slope and the noise of a draw."""
    p, m = len(sigma), knockoffs.n_joint
    zero = knockoffs.sample(np.zeros((p, p)), random_state=0)
    slope = knockoffs.sample(np.eye(p), random_state=0) - zero
    noise = knockoffs.copies(np.zeros((p * (m + 1), p)), 0, 1).law.draw(UnitNoise())
    cross = sigma @ slope
    return np.block([[sigma, cross], [cross.T, slope.T @ sigma @ slope + noise.T @ noise]])


def wanted_joint(sigma, S, m):
    return np.kron(np.ones((m + 1, m + 1)), sigma - S) + np.kron(np.eye(m + 1), S)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("method", GROUP_METHODS)
@pytest.mark.parametrize("m", [1, 2, 5])
def test_the_joint_covariance_is_exact(law, method, m):
    sigma = LAWS[law]
    knockoffs = GaussianKnockoffs(0.0, sigma, method, groups=GROUPS, n_joint=m)
    S = group_s_matrix(sigma, GROUPS, method, m)
    np.testing.assert_allclose(knockoffs.S_, S, atol=1e-12 * SD.max() ** 2)
    np.testing.assert_allclose(knockoffs.s_, S.diagonal(), atol=1e-12 * SD.max() ** 2)
    # the root of a matrix at the edge of what is possible has half of the digits
    tolerance = (1e-7 if method == "equi" else 1e-12) * np.outer(SD, SD).max()
    found = implied_joint(knockoffs, sigma)
    np.testing.assert_allclose(found, wanted_joint(sigma, S, m), atol=tolerance)


@pytest.mark.parametrize("groups", [None, GROUPS])
def test_versions_of_groups_can_trade_places(groups):
    """Any order of the m + 1 versions of one group leaves the joint covariance as it is."""
    sigma, m, p = LAWS["ar1 0.9"], 2, 6
    found = implied_joint(GaussianKnockoffs(0.0, sigma, "mvr", groups=groups, n_joint=m), sigma)
    labels = np.arange(p) if groups is None else groups
    for group in np.unique(labels):
        for order in permutations(range(m + 1)):
            version = np.tile(np.arange(m + 1)[:, None], (1, p))
            version[:, labels == group] = np.array(order)[:, None]
            columns = (version * p + np.arange(p)).ravel()
            np.testing.assert_allclose(found[np.ix_(columns, columns)], found, atol=1e-11)


def test_single_columns_of_a_group_cannot_trade_places():
    sigma = LAWS["ar1 0.9"]
    found = implied_joint(GaussianKnockoffs(0.0, sigma, groups=GROUPS), sigma)
    columns = np.arange(12)
    columns[[0, 6]] = columns[[6, 0]]
    assert np.abs(found[np.ix_(columns, columns)] - found).max() > 0.01


def test_the_covariance_given_x_of_an_oracle():
    sigma = ar1(0.5, 6)
    knockoffs = GaussianKnockoffs(0.0, sigma, groups=np.arange(6) // 2)
    root = knockoffs.copies(np.zeros((1, 6)), 0, 1).law.root
    spread = root @ root.T
    diagonal = [0.933433, 0.733733, 0.692598, 0.692598, 0.733733, 0.933433]
    np.testing.assert_allclose(spread.diagonal(), diagonal, atol=5e-7)
    np.testing.assert_allclose(
        spread[0], [0.933433, 0.366866, 0.126723, 0.044129, 0.0, 0.0], atol=5e-7
    )


def test_what_joint_copies_share_need_not_have_a_covariance():
    """S - S Sigma^-1 S has a negative eigenvalue, and the copies are exact all the same."""
    sigma, groups = ar1(0.5, 6), np.arange(6) // 3
    knockoffs = GaussianKnockoffs(0.0, sigma, "mvr", groups=groups, n_joint=3)
    S = knockoffs.S_
    between = S - S @ np.linalg.solve(sigma, S)
    assert np.linalg.eigvalsh(between)[0] == pytest.approx(-0.0389, abs=5e-5)
    np.testing.assert_allclose(
        implied_joint(knockoffs, sigma), wanted_joint(sigma, S, 3), atol=1e-12
    )


def test_groups_of_one_have_the_copies_of_single_columns():
    sigma, X = LAWS["ar1 0.5"], np.random.default_rng(0).standard_normal((20, 6))
    one = GaussianKnockoffs(0.0, sigma, "mvr").sample(X, 3)
    grouped = GaussianKnockoffs(0.0, sigma, "mvr", groups=np.arange(6)).sample(X, 3)
    np.testing.assert_allclose(grouped, one, atol=1e-7)


def test_members_and_shapes():
    knockoffs = GaussianKnockoffs(0.0, LAWS["ar1 0.5"], groups=GROUPS, n_joint=3)
    X = np.random.default_rng(0).standard_normal((20, 6))
    copies = knockoffs.copies(X, 1, 4)
    assert copies.shape == (4, 20, 18)
    assert copies[2].shape == (20, 18)
    assert copies[2].flags.f_contiguous
    assert_members_do_not_depend_on_the_chunk(knockoffs, X)


def test_estimated_groups():
    X = np.random.default_rng(0).standard_normal((60, 6)) @ np.linalg.cholesky(ar1(0.8, 6)).T
    knockoffs = GaussianKnockoffs(groups=GROUPS, n_joint=2)
    assert "not fitted" in repr(knockoffs)
    fitted = knockoffs.fit(X)
    np.testing.assert_allclose(
        fitted.S_, group_s_matrix(fitted.covariance, GROUPS, "maxent", 2), atol=1e-10
    )
    assert fitted.sample(X, 0).shape == (60, 12)
    with pytest.raises(ArgumentError, match=r"^groups must have one integer for each of the 4"):
        knockoffs.fit(X[:, :4])


def test_other_groups_of_the_same_columns():
    known = GaussianKnockoffs(0.0, LAWS["ar1 0.5"])
    assert (known.method, known.groups, known.n_joint) == ("mvr", None, 1)
    other = known.of_groups(GROUPS, 2)
    assert (other.method, other.n_joint) == ("maxent", 2)
    np.testing.assert_array_equal(other.groups, [1, 0, 1, 0, 0, 2])
    assert other.of_groups(None).method == "mvr"
    np.testing.assert_allclose(other.of_groups(None).S_, known.S_)
    assert known.groups is None
    mvr = GaussianKnockoffs(method="mvr").of_groups(GROUPS)
    assert mvr.method == "mvr"


def test_any_sampler_serves_groups_with_one_copy():
    for sampler in (FixedKnockoffs(), IndependentKnockoffs()):
        assert sampler.of_groups(GROUPS) is sampler
        with pytest.raises(DoesNotApply, match=r"^sampler: .* draws no joint copies"):
            sampler.of_groups(GROUPS, 2)


def test_sdp_knows_no_groups():
    with pytest.raises(ArgumentError, match=r"^method"):
        GaussianKnockoffs(0.0, np.eye(6), "sdp", groups=GROUPS)
    with pytest.raises(ArgumentError, match=r"^method"):
        GaussianKnockoffs(0.0, np.eye(6), "sdp", n_joint=2)
    with pytest.raises(ArgumentError, match=r"^n_joint"):
        GaussianKnockoffs(0.0, np.eye(6), n_joint=0)
