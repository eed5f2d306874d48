"""Knockoffs of Markov chains, by adding up everything that the recursion can draw."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from selica import KnockoffSelection
from selica._core.compiled import core
from selica._core.errors import ArgumentError, ColumnError, RefusedError
from selica.sampling import MarkovKnockoffs, exchangeability
from tests.sampling.swaps import swap_error

# A chain with 2, 3 and 2 states, and what an independent program printed of it.
FIRST = [0.6, 0.4]
STEPS = ([[0.5, 0.3, 0.2], [0.1, 0.2, 0.7]], [[0.9, 0.1], [0.4, 0.6], [0.3, 0.7]])
JOINT = {
    ("000", "000"): 0.184510309459,
    ("000", "121"): 0.001787930766,
    ("121", "000"): 0.001787930766,
    ("011", "100"): 0.001078517039,
    ("100", "011"): 0.001078517039,
    ("021", "021"): 0.004660350592,
}
EQUAL = [0.650642533937, 0.577007691234, 0.710753256291]
CORRELATION = [0.272171945701, 0.540460361796, 0.419416411665]
ROWS = np.array(list(product(range(2), range(3), range(2))), dtype=np.int16)
CHANCE = np.array(
    [FIRST[a] * STEPS[0][a][b] * STEPS[1][b][c] for a, b, c in ROWS.tolist()]
)  # fmt: skip


def joint(sampler, rows, chance):
    """P(x, x~) of all pairs of rows, by the probabilities with which the core would draw."""
    law = sampler._known()
    m = len(rows)
    given = np.empty(m * m)
    core().chain_probabilities(
        law.first, law.steps, np.repeat(rows, m, axis=0),
        np.tile(rows, (m, 1)).astype(np.int64), given,
    )  # fmt: skip
    return chance[:, None] * given.reshape(m, m)


def random_chain(seed, p, K):
    rng = np.random.default_rng(seed)
    steps = rng.dirichlet(np.ones(K), (p - 1, K))
    return rng.dirichlet(np.ones(K)), list(steps)


def chain_rows(first, steps, n, seed):
    rng = np.random.default_rng(seed)
    out = np.empty((n, len(steps) + 1), dtype=int)
    out[:, 0] = rng.choice(len(first), n, p=first)
    for j, step in enumerate(steps):
        below = np.cumsum(np.asarray(step), axis=1)[out[:, j]]
        out[:, j + 1] = (rng.random(n)[:, None] >= below[:, :-1]).sum(axis=1)
    return out


def test_the_joint_distribution_is_the_one_that_was_published_for_a_small_chain():
    J = joint(MarkovKnockoffs(FIRST, STEPS), ROWS, CHANCE)
    names = ["".join(map(str, row)) for row in ROWS.tolist()]
    found = {(a, b): J[names.index(a), names.index(b)] for a, b in JOINT}
    for pair, value in JOINT.items():
        assert found[pair] == pytest.approx(value, abs=1e-12)
    assert J.sum() == pytest.approx(1.0, abs=1e-14)
    for j in range(3):
        x, y = ROWS[:, None, j], ROWS[None, :, j]
        assert (J * (x == y)).sum() == pytest.approx(EQUAL[j], abs=1e-12)
        mean = (J * x).sum()
        spread = (J * x**2).sum() - mean**2
        assert ((J * x * y).sum() - mean**2) / spread == pytest.approx(CORRELATION[j], abs=1e-11)


def test_columns_and_copies_can_change_places_in_any_set():
    assert swap_error(ROWS, joint(MarkovKnockoffs(FIRST, STEPS), ROWS, CHANCE)) < 1e-15


@pytest.mark.parametrize("seed", range(3))
def test_random_chains_are_exchangeable_too(seed):
    first, steps = random_chain(seed, 4, 3)
    rows = np.array(list(product(range(3), repeat=4)), dtype=np.int16)
    chance = np.array(
        [first[x[0]] * np.prod([steps[j][x[j], x[j + 1]] for j in range(3)]) for x in rows]
    )
    J = joint(MarkovKnockoffs(first, steps), rows, chance)
    assert J.sum() == pytest.approx(1.0, abs=1e-13)
    assert swap_error(rows, J) < 1e-15


def test_what_is_drawn_has_these_probabilities():
    n = 200_000
    sampler = MarkovKnockoffs(FIRST, STEPS)
    X = ROWS[np.random.default_rng(0).choice(12, n, p=CHANCE)]
    copy = sampler.sample(X, random_state=1).astype(int)
    code = np.array([6, 2, 1])
    seen = np.bincount((X @ code) * 12 + copy @ code, minlength=144)
    expected = n * joint(sampler, ROWS, CHANCE).ravel()
    chi_square = ((seen - expected) ** 2 / expected).sum()
    assert abs(chi_square - 143) < 4 * np.sqrt(2 * 143)


def test_states_that_cannot_follow_each_other_are_never_drawn():
    # 0 -> 1 -> 2 -> 0 or to stay: half of the transitions are impossible
    step = np.array([[0.5, 0.5, 0.0], [0.0, 0.5, 0.5], [0.5, 0.0, 0.5]])
    first = np.ones(3) / 3
    X = chain_rows(first, [step] * 400, 50, 0)
    copy = MarkovKnockoffs(first, [step] * 400).sample(X, random_state=1).astype(int)
    assert (step[copy[:, :-1], copy[:, 1:]] > 0.0).all()
    assert (copy != X).mean() > 0.1


def test_a_row_that_the_chain_does_not_allow_is_refused():
    step = np.array([[0.5, 0.5], [0.0, 1.0]])
    with pytest.raises(RefusedError, match="row 1 has a value in column 2 that is impossible"):
        MarkovKnockoffs([0.5, 0.5], [step] * 2).sample([[0, 1, 1], [1, 1, 0]])


def test_copies_do_not_depend_on_threads_or_other_rows(monkeypatch):
    first, steps = random_chain(0, 30, 4)
    X, sampler = chain_rows(first, steps, 100, 1), MarkovKnockoffs(first, steps)
    copies = []
    for threads in ("1", "3"):
        monkeypatch.setenv("SELICA_NUM_THREADS", threads)
        copies.append(sampler.copies(X, 5, [2])[0])
    np.testing.assert_array_equal(*copies)
    np.testing.assert_array_equal(sampler.copies(X[:40], 5, 3)[2], copies[0][:40])
    assert not np.array_equal(sampler.copies(X, 5, [3])[0], copies[0])


def test_numbers_are_those_of_numpy():
    key = np.array([2**63 + 5, 17], dtype=np.uint64)
    for row in (0, 3, 2**40):
        found = np.empty(9)
        core().uniforms(key, row, found)
        bits = np.random.Philox(key=key, counter=[0, row, 0, 0])
        np.testing.assert_array_equal(found, np.random.Generator(bits).random(9))


def test_estimated_transitions_come_close_to_the_true_ones():
    first, steps = random_chain(3, 6, 3)
    fitted = MarkovKnockoffs().fit(chain_rows(first, steps, 40_000, 4))._known()
    np.testing.assert_allclose(fitted.steps, steps, atol=0.03)
    np.testing.assert_allclose(fitted.first, first, atol=0.01)


def test_values_are_kept_as_they_are():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.choice([-1.5, 7.0], 80), rng.choice([1.0, 2.0, 40.0], 80)])
    copy = MarkovKnockoffs().fit(X).sample(X, random_state=1)
    assert set(copy[:, 0]) == {-1.5, 7.0}
    assert set(copy[:, 1]) == {1.0, 2.0, 40.0}
    assert copy.flags.f_contiguous


def test_segments_are_independent():
    first, steps = random_chain(5, 4, 2)
    X = chain_rows(first, steps, 500, 6)
    law = MarkovKnockoffs(segments=["a", "a", "b", "b"]).fit(X)._known()
    np.testing.assert_allclose(law.steps[1][0], law.steps[1][1])
    assert np.abs(law.steps[0][0] - law.steps[0][1]).max() > 0.01


def test_rows_without_weight_have_a_copy():
    X = np.array([[0, 0], [1, 1], [0, 1], [2, 2]])
    copy = MarkovKnockoffs().fit(X, [1.0, 1.0, 1.0, 0.0]).sample(X, random_state=0)
    assert copy.shape == (4, 2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0.5, 0.5], None), "first and steps are given together"),
        (([0.5, 0.4], [np.eye(2)]), "first must hold probabilities that sum to one"),
        (([0.5, 0.5], [np.eye(3)]), r"steps\[0\] must have one row for each of the 2 values"),
        (([0.5, 0.5], [np.full((2, 2), 0.6)]), r"steps\[0\] must hold probabilities"),
        (([0.5, 1.5], [np.eye(2)]), "first must be between 0 and 1"),
        (([0.5, 0.5], 3), "steps must be a sequence of tables; got 3"),
    ],
)
def test_tables_of_probabilities_are_checked(arguments, message):
    with pytest.raises(ArgumentError, match=message):
        MarkovKnockoffs(*arguments)


def test_tables_are_checked():
    rng = np.random.default_rng(0)
    known = MarkovKnockoffs([0.5, 0.5], [np.eye(2)])
    with pytest.raises(ColumnError, match=r"column 1 holds 0\.5"):
        known.fit([[0.0, 0.5]])
    with pytest.raises(ArgumentError, match="X must have 2 columns; got 3"):
        known.sample([[0, 1, 1]])
    with pytest.raises(ColumnError, match="column 0 has 60"):
        MarkovKnockoffs().fit(rng.standard_normal((60, 2)))
    with pytest.raises(ArgumentError, match="steps are not known yet"):
        MarkovKnockoffs().sample([[0, 1]])
    with pytest.raises(ArgumentError, match="segments must be contiguous"):
        MarkovKnockoffs(segments=[1, 2, 1]).fit([[0, 1, 0], [1, 0, 1]])
    with pytest.raises(ArgumentError, match="segments must have one label for each of the 3"):
        MarkovKnockoffs(segments=[1, 2]).fit([[0, 1, 0], [1, 0, 1]])


def test_a_selection_says_what_it_rests_on():
    stay = np.array([[0.8, 0.2], [0.3, 0.7]])
    first, steps = np.array([0.6, 0.4]), [stay] * 29
    X = chain_rows(first, steps, 300, 0)
    y = X[:, ::5].sum(axis=1) * 1.5 + np.random.default_rng(1).standard_normal(300)
    known = KnockoffSelection(0.3, sampler=MarkovKnockoffs(first, steps), random_state=0).fit(X, y)
    assert known.guarantee_.proven
    assert "with the probabilities that were given" in str(known.guarantee_)
    named = KnockoffSelection(0.3, sampler="markov", random_state=0).fit(X, y)
    assert not named.guarantee_.proven
    assert "through its neighbour alone" in str(named.guarantee_)
    assert named.exchangeability_.departure == 1.0
    sexes = np.random.default_rng(2).integers(0, 2, 300)
    kept = KnockoffSelection(0.3, sampler="markov", random_state=0).fit(X, y, keep=sexes[:, None])
    assert "do not depend on the covariates that are kept" in str(kept.guarantee_)


def test_estimated_copies_are_exchangeable_with_the_columns():
    first, steps = random_chain(7, 40, 3)
    X = chain_rows(first, steps, 600, 8)
    copy = MarkovKnockoffs().fit(X).sample(X, random_state=9)
    assert exchangeability(X, copy, random_state=10).departure == 1.0
