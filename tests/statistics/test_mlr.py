"""Masked likelihood ratios: Gibbs sampling beside sums over all states, and its symmetries."""

from __future__ import annotations

import _thread
import signal
import threading

import numpy as np
import pytest
from scipy.special import ndtr

from selica import KnockoffSelection
from selica._core.compiled import SETS, core, load
from selica._core.errors import ArgumentError, DoesNotApply
from selica._core.losses import loss_of
from selica.sampling import simulate
from selica.statistics import joint_importances, knockoff_statistics, make_data, mlr
from selica.statistics.mlr import Prior, mlr_statistics
from selica.statistics.pairs import MaskedPairs, masked_pairs
from tests.oracles.masked_odds import averaged, originals
from tests.statistics.test_pairs import GROUPS, RESPONSES, P, swapped, table

FIRST = np.array([[1.0, 0.5, -0.3], [-0.8, 1.2, 0.4], [0.3, -1.0, 1.1], [1.5, 0.2, -0.9],
                  [-1.2, -0.7, 0.6], [0.1, 0.9, -1.4], [0.7, -0.4, 0.2],
                  [-0.5, 0.6, 0.8]])  # fmt: skip
SECOND = np.array([[0.4, -0.6, 0.9], [-0.2, 0.8, -1.1], [-1.0, 0.3, 0.5], [0.9, -0.1, 0.7],
                   [0.6, -1.3, -0.4], [-0.7, 1.0, -0.2], [1.1, 0.4, -0.8],
                   [-0.3, -0.5, 1.2]])  # fmt: skip
Y = np.array([1.2, -0.5, -0.9, 2.0, -1.6, 0.8, 0.9, -0.4])
PUBLISHED = {
    (0.8, 1.0, 1.0): ([0.73129216, 0.50957762, 0.58405364], [0.56495833, 0.13729513, 0.26012101]),
    (0.8, 1.0, 0.25): ([0.99599939, 0.62281046, 0.62103845], [0.99549543, 0.30104460, 0.29441177]),
    (0.5, 0.5, 0.5): ([0.94636006, 0.58012895, 0.65968842], [0.95730968, 0.44987789, 0.53660642]),
}
"""P(the first is the original) and P(the effect is not zero), added up by another program."""


def pairs_of(first=FIRST, second=SECOND, y=Y, *, variable=None, labels=None, sign=1.0):
    """Return pairs as they are, without any standardisation."""
    n, p = first.shape
    units = np.arange(p) if variable is None else np.asarray(variable)
    order = np.repeat([[0], [1]] if sign > 0.0 else [[1], [0]], units.max() + 1, axis=1)
    return MaskedPairs(
        (np.asfortranarray(first), np.asfortranarray(second)), y, labels, np.ones(n),
        np.zeros((n, 0)), None, units, order=order, alike=np.zeros(order.shape, dtype=bool),
    )  # fmt: skip


def shares(pairs, prior=None, seed=0, **settings):
    """Return P(the first is the original) as the chains have it."""
    W = mlr_statistics(pairs, np.random.default_rng(seed), prior=prior, **settings).W
    return 1.0 / (1.0 + np.exp(-W))


@pytest.mark.parametrize("prior", PUBLISHED)
@pytest.mark.parametrize("gram", [True, False])
def test_chains_find_what_all_states_add_up_to(prior, gram):
    expected, matters = PUBLISHED[prior]
    exact = originals(FIRST, SECOND, Y, np.arange(3), *prior)
    np.testing.assert_allclose(exact, [expected, matters], atol=1e-8)
    found = shares(pairs_of(), Prior(*prior, fixed=True), sweeps=8000, chains=8, gram=gram)
    np.testing.assert_allclose(found, expected, atol=0.004)


def test_groups_have_one_inclusion():
    groups = np.array([0, 0, 1])
    expected, _ = originals(FIRST, SECOND, Y, groups, 0.8, 1.0, 0.25)
    np.testing.assert_allclose(expected, [0.99626291, 0.52284949], atol=1e-8)
    pairs = pairs_of(variable=groups)
    found = shares(pairs, Prior(0.8, 1.0, 0.25, fixed=True), sweeps=8000, chains=8)
    np.testing.assert_allclose(found, expected, atol=0.004)


def test_labels_are_signs_of_a_latent_response():
    labels = np.sign(Y[:5])
    pairs = pairs_of(FIRST[:5], SECOND[:5], labels, labels=labels)
    found = shares(pairs, Prior(0.8, 1.0, 1.0, fixed=True), sweeps=20_000, chains=4)
    np.testing.assert_allclose(found, [0.54975, 0.50264, 0.55270], atol=0.003)


def test_labels_with_an_intercept_that_has_a_flat_prior():
    # one pair: the posterior by sums over a grid of intercept and effect
    rng = np.random.default_rng(3)
    n = 12
    first, second = rng.standard_normal((2, n, 1))
    labels = np.where(rng.random(n) < 0.8, 1.0, -1.0)
    one = np.full((n, 1), n**-0.5)
    a, b = np.meshgrid(np.linspace(-3.0, 9.0, 241), np.linspace(-5.0, 5.0, 201), indexing="ij")

    def chance(column, effect):
        eta = a[..., None] + column * effect[..., None]
        return ndtr(labels * eta).prod(axis=-1)

    normal = np.exp(-0.5 * b**2) / np.sqrt(2.0 * np.pi) * 0.05
    weight = [
        0.6 * chance(column[:, 0], 0.0 * b)[:, 0].sum()
        + 0.4 * (chance(column[:, 0], b) * normal).sum()
        for column in (first, second)
    ]
    without = [column - one @ (one.T @ column) for column in (first, second)]
    pairs = pairs_of(*without, labels, labels=labels)._replace(basis=one)
    found = shares(pairs, Prior(0.6, 1.0, 1.0, fixed=True), sweeps=60_000, chains=4)
    assert found[0] == pytest.approx(weight[0] / sum(weight), abs=0.003)
    assert abs(found[0] - 0.5) > 0.02


def test_parameters_that_all_pairs_share_are_drawn_from_their_posterior():
    scale = 0.4
    expected = averaged(
        FIRST[:, :2], SECOND[:, :2], Y, least_p0=mlr.LEAST_P0, t2_prior=(mlr.SHAPE, scale),
        s2_prior=(mlr.SHAPE, 1.0),
    )  # fmt: skip
    pairs = pairs_of(FIRST[:, :2], SECOND[:, :2])
    found = shares(pairs, Prior(0.9, scale, 1.0), sweeps=20_000, chains=8)
    np.testing.assert_allclose(found, expected, atol=0.004)
    assert expected[0] > 0.8


@pytest.mark.parametrize("response", RESPONSES)
@pytest.mark.parametrize("groups", [None, GROUPS])
def test_an_exchange_flips_the_sign_to_the_last_bit(response, groups):
    X, copy, y, weight, keep = table(response)
    units = np.arange(P) if groups is None else groups
    other, back, which = swapped(X, copy, units, np.random.default_rng(1))

    def W(own, knockoff):
        data = make_data(own, y, loss_of(response), weight, variable=groups, keep=keep)
        rng = np.random.default_rng(7)
        return knockoff_statistics(data, [knockoff], [rng], statistic="mlr", n_jobs=1)[0]

    before, after = W(X, copy), W(other, back)
    assert np.array_equal(after, np.where(which, -before, before))
    assert np.isfinite(before).all()
    assert np.abs(before).max() > 0.1
    if groups is None:
        assert before[5] == 0.0  # this column and its copy are the same


def test_an_exchange_leaves_the_other_pairs_as_they_are():
    X, copy, y, *_ = table("linear")
    own, other = X.copy(), copy.copy()
    own[:, 0], other[:, 0] = copy[:, 0], X[:, 0]
    [one] = masked_pairs(make_data(X, y, "squared"), copy)
    [two] = masked_pairs(make_data(own, y, "squared"), other)
    first, second = (mlr_statistics(each, np.random.default_rng(2)).W for each in (one, two))
    assert second[0] == -first[0] != 0.0
    assert np.array_equal(first[1:], second[1:])


def study(n=60, p=25, response="squared"):
    """Return pairs of a table with signals and correlated columns."""
    data = simulate(n, p, 4, snr=4.0, covariance=("ar1", 0.7), random_state=3)
    y = data.y if response == "squared" else (data.y > 0.0).astype(float)
    copy = np.random.default_rng(4).standard_normal((n, p))
    [pairs] = masked_pairs(make_data(data.X, y, response), copy, labels=True)
    return pairs


@pytest.mark.parametrize("response", ["squared", "logistic"])
def test_threads_change_nothing(response):
    pairs = study(response=response)
    first, *others = [
        mlr_statistics(pairs, np.random.default_rng(1), sweeps=40, n_threads=each)
        for each in (1, 2, 5)
    ]
    for other in others:
        assert np.array_equal(other.W, first.W)
        assert other.spread == first.spread
    assert 0.0 < first.spread < 1.0


def test_instruction_sets_change_no_more_than_rounding(monkeypatch):
    pairs = study()
    settings = {"prior": Prior(0.9, 0.2, 0.3, fixed=True), "sweeps": 30}
    expected = mlr_statistics(pairs, np.random.default_rng(1), gram=True, **settings).W
    able = SETS[: SETS.index(load("baseline").best_set()) + 1]
    assert "baseline" in able
    for each in able:
        monkeypatch.setattr(mlr, "core", lambda each=each: load(each))
        found = mlr_statistics(pairs, np.random.default_rng(1), gram=True, **settings).W
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("response", ["linear", "binary"])
@pytest.mark.parametrize("case", ["one column", "two rows", "constant y", "all the same"])
def test_tables_that_say_nothing_give_numbers(response, case):
    rng = np.random.default_rng(0)
    n, p = (2, 3) if case == "two rows" else (20, 1 if case == "one column" else 3)
    X, copy = rng.standard_normal((2, n, p))
    if case == "all the same":
        X[:] = copy[:] = 1.0
    y = np.arange(n) % 2.0
    if case == "constant y" and response == "linear":
        y[:] = 1.0
    data = make_data(X, y, loss_of(response))
    W = knockoff_statistics(data, [copy], [rng], statistic="mlr")
    assert W.shape == (1, p)
    assert np.isfinite(W).all()
    if case == "all the same" or (case == "constant y" and response == "linear"):
        assert np.abs(W).max() < 0.05


def test_sure_answers_neither_tie_nor_overflow():
    rng = np.random.default_rng(5)
    first, second = rng.standard_normal((2, 400, 3))
    pairs = pairs_of(first, second, first @ [10.0, 20.0, 30.0])
    W = mlr_statistics(pairs, rng, prior=Prior(0.5, 400.0, 0.01, fixed=True), sweeps=50).W
    assert np.isfinite(W).all()
    assert 1000.0 < W[0] < W[1] < W[2]


def test_what_has_no_copy_or_several_is_refused():
    X, copy, y, *_ = table("linear", copies=2)
    data = make_data(X, y, "squared")
    with pytest.raises(DoesNotApply, match="statistic='mlr'"):
        joint_importances(data, [copy], [np.random.default_rng()], statistic="mlr")
    with pytest.raises(ArgumentError, match=r"l1_ratio.*'mlr'"):
        KnockoffSelection(0.2, statistic="mlr", l1_ratio=0.5).fit(X, y)


def test_a_selection_with_it():
    data = simulate(200, 40, 12, snr=6.0, random_state=0)
    found = KnockoffSelection(0.2, statistic="mlr", sampler="iid", random_state=0)
    found.fit(data.X, data.y)
    assert found.support_[data.support].sum() > 6
    assert found.guarantee_.proven
    fixed = KnockoffSelection(0.2, statistic="mlr", sampler="fixed", random_state=0)
    fixed.fit(data.X, data.y)
    assert not fixed.guarantee_.proven
    assert "order of the masked pairs" in fixed.guarantee_.assumptions


def test_an_interrupt_ends_the_chains():
    pairs = study(200, 100)
    timer = threading.Timer(0.3, _thread.interrupt_main)
    # a process in the background ignores interrupts unless it asks for them
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            mlr_statistics(pairs, np.random.default_rng(), sweeps=10**9, n_threads=2)
        timer.join()
    finally:
        signal.signal(signal.SIGINT, before)


def test_sizes_that_do_not_belong_together_are_refused():
    with pytest.raises(ValueError, match="Sizes of the pairs"):
        core().masked_chains(
            np.zeros((2, 8)), np.array([0, 1]), np.zeros(16), np.zeros((0, 8)), np.zeros(2),
            np.zeros(2, dtype=np.uint64), {"rows": 8}, None, np.zeros((1, 2, 1)), 1,
        )  # fmt: skip
