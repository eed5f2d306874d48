"""Copies of mixed tables: the exact construction on toys, and what is fitted to tables."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from selica import DerandomizedKnockoffs, KnockoffSelection
from selica._core.errors import ArgumentError
from selica._core.losses import loss_of
from selica.sampling import SequentialKnockoffs, exchangeability
from tests.oracles.sequential import joint_law, parallel_law, swap_error

TOY = np.array([8, 3, 2, 5, 1, 4, 6, 11]).reshape(2, 2, 2) / 40.0
FIRST_ROW = [
    *(0.1527549836, 0.0133439621, 0.0046532081, 0.0070256240),
    *(0.0030347493, 0.0052339846, 0.0045758243, 0.0093776641),
]


def mixed_table(n, seed=0):
    """Two numbers, one of them skewed, two classes, a count and a factor, which depend."""
    rng = np.random.default_rng([seed, 5])
    z = rng.standard_normal((n, 6))
    for j in range(1, 6):
        z[:, j] = 0.6 * z[:, j - 1] + 0.8 * z[:, j]
    level = np.digitize(z[:, 4], [-0.6, 0.2, 1.0])
    X = np.column_stack([
        z[:, 0], z[:, 1] > 0.5, np.maximum(np.rint(1.5 * z[:, 2] + 2.0), 0.0), np.exp(z[:, 3]),
        np.eye(4)[level][:, 1:], np.where(z[:, 5] > -0.4, 3.0, -1.0),
    ])  # fmt: skip
    return X, np.array([0, 1, 2, 3, 4, 4, 4, 5])


def test_the_exact_construction_has_the_published_law():
    J = joint_law(TOY, (0, 1, 2))
    np.testing.assert_allclose(J.sum(axis=(3, 4, 5)), TOY, atol=1e-15)
    np.testing.assert_allclose(J[0, 0, 0].ravel(), FIRST_ROW, atol=5e-11)
    assert J[1, 1, 1, 1, 1, 1] == pytest.approx(0.0826675827, abs=5e-11)
    assert J[1, 0, 0, 1, 0, 0] == pytest.approx(0.0000003361, abs=5e-11)
    assert (J**2).sum() == pytest.approx(0.0521544920, abs=5e-11)
    for x in itertools.product((0, 1), repeat=3):
        opposite = tuple(1 - one for one in x)
        assert J[(*x, *opposite)] == pytest.approx(0.0093776641, abs=5e-11)


def test_it_is_exchangeable_in_any_order_and_the_parallel_shortcut_is_not():
    assert swap_error(joint_law(TOY, (0, 1, 2))) < 1e-16
    other = joint_law(TOY, (2, 1, 0))
    assert swap_error(other) < 1e-16
    assert other[0, 0, 0, 0, 0, 0] == pytest.approx(0.1320163443, abs=5e-11)
    assert swap_error(parallel_law(TOY)) == pytest.approx(0.030, abs=5e-4)


def test_fitted_models_of_two_classes_have_the_exact_law():
    # both logits are sums of functions of one column, so that the models can be true
    P = np.array([[0.4, 0.1], [0.2, 0.3]])
    n = 20_000
    code = np.random.default_rng(1).choice(4, n, p=P.ravel())
    X = np.column_stack([code // 2, code % 2]).astype(float)
    copies = SequentialKnockoffs().fit(X).copies(X, 3, 8)
    seen = [
        np.bincount((8 * X[:, 0] + 4 * X[:, 1] + 2 * one[:, 0] + one[:, 1]).astype(int), None, 16)
        for one in copies
    ]
    expected = joint_law(P, (0, 1)).ravel()
    error = np.sqrt(expected * (1.0 - expected) / n)  # that of the table
    np.testing.assert_array_less(np.abs(np.mean(seen, axis=0) / n - expected), 4.0 * error)


def test_second_moments_of_normal_columns_survive_every_exchange():
    n, p = 20_000, 4
    distance = np.abs(np.subtract.outer(np.arange(p), np.arange(p)))
    sigma = 0.6**distance
    X = np.random.default_rng(0).multivariate_normal(np.zeros(p), sigma, n)
    copy = SequentialKnockoffs("normal").fit(X).sample(X, random_state=1)
    found = np.cov(np.hstack([X, copy]).T)
    allowed = 4.0 * np.sqrt(2.0 / n)
    assert np.abs(found[p:, p:] - sigma).max() < allowed
    off = ~np.eye(p, dtype=bool)
    assert np.abs(found[:p, p:] - sigma)[off].max() < allowed


@pytest.mark.parametrize("residuals", ["resampled", "normal"])
def test_copies_vary_as_much_as_their_columns(residuals):
    ratios = []
    for seed in range(60):
        X, variable = mixed_table(120, seed)
        sampler = SequentialKnockoffs(residuals).with_variables(variable).fit(X)
        copy = sampler.sample(X, random_state=seed)
        # about the mean of the column: a resample varies less about its own mean
        ratios.append(((copy - X.mean(axis=0)) ** 2).mean(axis=0) / X.var(axis=0))
    error = np.std(ratios, axis=0, ddof=1) / np.sqrt(len(ratios))
    np.testing.assert_array_less(np.abs(np.mean(ratios, axis=0) - 1.0), 3.0 * error + 1e-12)


def test_copies_are_of_the_kind_of_their_columns():
    X, variable = mixed_table(300)
    X = np.column_stack([X, np.full(300, 7.0)])
    sampler = SequentialKnockoffs().with_variables([*variable, 6]).fit(X)
    for copy in sampler.copies(X, 0, 3):
        for j in (1, 2, 7):
            assert set(copy[:, j]) <= set(X[:, j])
        levels = copy[:, 4:7]
        assert np.isin(levels, (0.0, 1.0)).all()
        assert levels.sum(axis=1).max() == 1.0
        assert (copy[:, 8] == 7.0).all()
        assert not (copy[:, 0] == X[:, 0]).any()
        assert ((copy[:, 3] - np.mean(copy[:, 3])) ** 3).mean() > 0.0


def test_resampled_residuals_keep_the_skew_and_normal_ones_do_not():
    rng = np.random.default_rng(0)
    X = rng.exponential(size=(2000, 3))

    def skew(x):
        return float((((x - x.mean()) / x.std()) ** 3).mean())

    kept = SequentialKnockoffs().fit(X).sample(X, random_state=0)
    lost = SequentialKnockoffs("normal").fit(X).sample(X, random_state=0)
    for j in range(3):
        assert skew(kept[:, j]) == pytest.approx(skew(X[:, j]), abs=0.3)
        assert abs(skew(lost[:, j])) < 0.4 < skew(X[:, j])


def test_copies_are_close_to_exchangeable_on_a_mixed_table():
    ratios = []
    for seed in range(8):
        X, variable = mixed_table(400, seed)
        sampler = SequentialKnockoffs().with_variables(variable).fit(X)
        copy = sampler.sample(X, random_state=seed)
        ratios.append(exchangeability(X, copy, centre=sampler.centre, random_state=seed).ratio)
    assert 0.9 < np.mean(ratios) < 1.1


def test_rare_levels_are_copied_at_their_rate():
    rng = np.random.default_rng(0)
    level = np.concatenate([np.full(150, 0), np.full(143, 1), np.full(4, 2), np.full(3, 3)])
    X = np.column_stack([np.eye(4)[level][:, 1:], rng.standard_normal(300)])
    sampler = SequentialKnockoffs().with_variables([0, 0, 0, 1]).fit(X)
    many = np.mean([copy[:, :3].sum(axis=0) for copy in sampler.copies(X, 0, 200)], axis=0)
    np.testing.assert_allclose(many[1:], [4.0, 3.0], atol=0.6)


def test_rows_without_weight_do_not_count():
    X, variable = mixed_table(150)
    weight = np.r_[np.ones(100), np.zeros(50)]
    wild = X.copy()
    wild[100:, 0] += 1000.0
    made = SequentialKnockoffs().with_variables(variable)
    few = made.fit(wild, weight).copies(X[:100], 0, 1)[0]
    expected = made.fit(X, weight).copies(X[:100], 0, 1)[0]
    np.testing.assert_allclose(few, expected)


def test_a_copy_depends_on_its_member_alone():
    X, variable = mixed_table(100)
    sampler = SequentialKnockoffs().with_variables(variable).fit(X)
    copies = sampler.copies(X, 5, 6)
    np.testing.assert_array_equal(copies[4], sampler.copies(X, 5, [4])[0])
    assert (copies[0] != copies[1]).any()
    again = SequentialKnockoffs().with_variables(variable).fit(X).copies(X, 5, 6)
    np.testing.assert_array_equal(copies[2], again[2])


def test_copies_of_wide_tables_and_of_identical_columns():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 50))
    X[:, ::3] = X[:, ::3] > 0.0
    X[:, 1] = X[:, 2]
    copy = SequentialKnockoffs().fit(X).sample(X, random_state=0)
    assert np.isfinite(copy).all()
    assert np.corrcoef(copy[:, 1], X[:, 1])[0, 1] > 0.9


def test_only_constant_columns_are_their_own_copies():
    X = np.ones((10, 2))
    np.testing.assert_array_equal(SequentialKnockoffs().fit(X).sample(X, random_state=0), X)


def test_what_it_refuses():
    with pytest.raises(ArgumentError, match="residuals must be one of"):
        SequentialKnockoffs("uniform")
    with pytest.raises(ArgumentError, match=r"call fit\(X\) first"):
        SequentialKnockoffs().copies(np.ones((4, 2)), 0, 1)
    SequentialKnockoffs().needs(100, 20, loss_of("squared"))


@pytest.mark.parametrize("sampler", ["sequential", SequentialKnockoffs()])
def test_selectors_use_it_with_factors(sampler):
    X, _ = mixed_table(400)
    rng = np.random.default_rng(0)
    more = rng.standard_normal((400, 20))
    X = np.hstack([X, more])
    y = X[:, 0] + 2.0 * X[:, 5] + more[:, :8].sum(axis=1) + rng.standard_normal(400)
    selector = KnockoffSelection(0.2, sampler=sampler, random_state=0).fit(X, y)
    assert selector.support_[[0, 8, 9, 10]].all()
    assert not selector.guarantee_.proven
    assert "the models of each predictor given the others" in str(selector.guarantee_)
    assert selector.exchangeability_.departure < 1.25


def test_derandomized_knockoffs_do_not_depend_on_workers():
    X, _ = mixed_table(120)
    y = X[:, 0] + np.random.default_rng(0).standard_normal(120)
    made = DerandomizedKnockoffs(
        pfer=1.0, n_copies=6, sampler="sequential", lam=0.1, random_state=0
    )
    alone = made.fit(X, y).statistics_
    np.testing.assert_array_equal(alone, made.set_params(n_jobs=1).fit(X, y).statistics_)
