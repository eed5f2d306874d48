"""The statistic of the sparse Bayesian model: antisymmetric to the bit, and robust."""

from __future__ import annotations

import numpy as np
import pytest

from selica import DerandomizedKnockoffs, KnockoffSelection
from selica._core.losses import loss_of
from selica.errors import ArgumentError
from selica.sampling import GaussianKnockoffs, simulate
from selica.statistics import joint_importances, knockoff_statistics, make_data
from tests.statistics.test_pairs import GROUPS, RESPONSES, P, swapped, table


def bayes(data, *copies):
    return knockoff_statistics(data, copies, [np.random.default_rng(0)] * len(copies),
                               statistic="bayes")  # fmt: skip


@pytest.mark.parametrize("response", RESPONSES)
@pytest.mark.parametrize("groups", [None, GROUPS])
@pytest.mark.parametrize("weighted", [False, True])
def test_an_exchange_changes_the_sign_and_not_one_bit_more(response, groups, weighted):
    X, copy, y, weight, keep = table(response)
    units = np.arange(P) if groups is None else groups
    settings = {"variable": groups, "keep": keep if weighted else None}
    rows, loss = weight if weighted else None, loss_of(response)
    other, back, which = swapped(X, copy, units, np.random.default_rng(1))
    [W] = bayes(make_data(X, y, loss, rows, **settings), copy)
    [after] = bayes(make_data(other, y, loss, rows, **settings), back)
    assert np.array_equal(after, np.where(which, -W, W))
    assert np.count_nonzero(W) == W.size - (groups is None)  # one column is its own copy
    if response == "linear":
        assert W.argmax() in units[:2]


def test_a_turn_of_the_rows_changes_nothing_as_fixed_copies_need():
    """Inner products decide: the order of pairs, which the first rows decide, does not matter."""
    X, copy, y, _, _ = table("linear")
    n = len(X)
    rng = np.random.default_rng(2)
    # an orthogonal matrix that leaves the constant where it is
    axes = np.linalg.qr(np.column_stack([np.ones(n), rng.standard_normal((n, n - 1))]))[0]
    inner = np.linalg.qr(rng.standard_normal((n - 1, n - 1)))[0]
    turn = axes[:, :1] @ axes[:, :1].T + axes[:, 1:] @ inner @ axes[:, 1:].T
    [W] = bayes(make_data(X, y, "squared"), copy)
    [turned] = bayes(make_data(turn @ X, turn @ y, "squared"), turn @ copy)
    np.testing.assert_allclose(turned, W, rtol=1e-6, atol=1e-8)


def test_joint_copies_that_trade_places_take_their_evidence_along():
    X, copies, y, _, _ = table("linear", copies=3)
    versions = np.stack([X, *np.split(copies, 3, axis=1)])
    rng = np.random.default_rng(2)
    places = np.array([rng.permutation(4) for _ in range(P)]).T
    moved = np.take_along_axis(versions, places[:, None, :], axis=0)
    arguments = ([np.random.default_rng(0)],)
    [T] = joint_importances(make_data(X, y, "squared"), [copies], *arguments, statistic="bayes")
    data = make_data(moved[0], y, "squared")
    [after] = joint_importances(data, [np.hstack(list(moved[1:]))], *arguments, statistic="bayes")
    assert np.array_equal(after, np.take_along_axis(T, places, axis=0))
    assert T[0, 5] == T[1, 5]  # the first copy of this column is the column


HARD = {
    "one column": (30, 1), "two rows": (2, 3), "three rows": (3, 40), "square": (20, 10),
}  # fmt: skip


@pytest.mark.parametrize("shape", HARD.values(), ids=HARD)
def test_small_tables(shape):
    rng = np.random.default_rng(0)
    X, copy = rng.standard_normal((2, *shape))
    [W] = bayes(make_data(X, rng.standard_normal(shape[0]), "squared"), copy)
    assert W.shape == (shape[1],)
    assert np.all(np.isfinite(W))


def test_hostile_columns():
    rng = np.random.default_rng(0)
    n = 60
    base = rng.standard_normal((n, 1))
    near = base + 1e-9 * rng.standard_normal((n, 4))
    X = np.hstack([near, np.ones((n, 1)), 1e12 * rng.standard_normal((n, 1)), base])
    copy = np.hstack([near[:, ::-1], rng.standard_normal((n, 1)), -X[:, 5:6], base])
    for y in (base[:, 0], rng.standard_normal(n), 1e-30 * base[:, 0]):
        [W] = bayes(make_data(X, y, "squared"), copy)
        assert np.all(np.isfinite(W))
        assert W[6] == 0.0
    [W] = bayes(make_data(X[:, [4, 4]], base[:, 0], "squared"), X[:, [4, 4]])
    assert np.array_equal(W, [0.0, 0.0])
    [W] = bayes(make_data(X, np.zeros(n), "squared"), copy)
    assert np.array_equal(W, np.zeros(7))


def test_several_copies_are_several_statistics():
    X, copy, y, _, _ = table("linear")
    data, other = make_data(X, y, "squared"), copy[::-1]
    assert np.array_equal(bayes(data, copy, other), [bayes(data, copy)[0], bayes(data, other)[0]])


@pytest.mark.slow
def test_more_is_found_than_by_coefficients_where_columns_are_correlated():
    found = []
    for seed in range(20):
        data = simulate(300, 300, 20, snr=4.0, covariance=("ar1", 0.5), random_state=seed)
        sampler = GaussianKnockoffs(0.0, data.covariance)
        found.append([
            (selector.fit(data.X, data.y).get_support() & data.support).sum()
            for selector in (
                KnockoffSelection(0.1, sampler=sampler, statistic=name, random_state=seed)
                for name in ("bayes", "coefficient")
            )
        ])  # fmt: skip
    bayes, coefficient = np.mean(found, axis=0)
    assert bayes > coefficient + 0.5


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"lam": 0.1}, "lam is a setting of the penalised fit, and statistic='bayes' fits none."),
        ({"l1_ratio": 0.5}, "l1_ratio is a setting of the penalised fit"),
        ({"estimator": object()}, "estimator takes the place of a statistic"),
    ],
)
def test_settings_of_other_statistics_are_refused(settings, message):
    data = simulate(60, 8, 2, snr=4.0, random_state=0)
    selector = KnockoffSelection(0.5, statistic="bayes", **settings)
    with pytest.raises(ArgumentError, match=message):
        selector.fit(data.X, data.y)


def test_promises_are_those_of_the_copies():
    data = simulate(80, 8, 3, snr=9.0, random_state=0)
    sampler = GaussianKnockoffs(0.0, data.covariance)
    proven = KnockoffSelection(0.5, sampler=sampler, statistic="bayes", random_state=0)
    assert proven.fit(data.X, data.y).guarantee_.proven
    fixed = KnockoffSelection(0.5, sampler="fixed", statistic="bayes", random_state=0)
    assert fixed.fit(data.X, data.y).guarantee_.proven
    many = DerandomizedKnockoffs(fdr=0.5, n_copies=3, statistic="bayes", random_state=0)
    assert many.fit(data.X, data.y).get_support().size == 8
