"""Knockoffs of a fixed design: the two identities, the law of the rest, added rows."""

from __future__ import annotations

import warnings
from itertools import product

import numpy as np
import pytest

from selica import KnockoffSelection
from selica._core.errors import ArgumentError, RefusedError
from selica.sampling import AugmentationWarning, FixedKnockoffs, s_matrix, simulate
from selica.sampling.s_matrices import METHODS
from selica.sampling.sampler import as_sampler
from tests.sampling.members import assert_members_do_not_depend_on_the_chunk
from tests.sampling.test_s_matrices import ar1, nearly_singular

methods = pytest.mark.parametrize("method", METHODS)


def design(n, p, seed=0, r=0.6):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) @ np.linalg.cholesky(ar1(r, p)).T
    return X * 10.0 ** rng.uniform(-3, 3, p)


def with_gram(gram, n, seed=0):
    """A design of n rows with this X'X."""
    Q = np.linalg.qr(np.random.default_rng(seed).standard_normal((n, len(gram))))[0]
    return Q @ np.linalg.cholesky(gram).T


DESIGNS = {
    "tall": design(60, 5),
    "square pairs": design(24, 12),
    "one column": design(2, 1),
    "correlated": design(40, 10, r=0.95),
    "not centred": design(30, 4) + 5.0,
    "nearly singular": with_gram(nearly_singular(10, 1e-7), 25),
    "huge": 1e100 * design(30, 4),
    "tiny": 1e-100 * design(30, 4),
}
designs = pytest.mark.parametrize("X", DESIGNS.values(), ids=DESIGNS.keys())


def relative(gram, X):
    """In units of the lengths of the columns of X."""
    length = np.abs(X).max(axis=0)
    length = length * np.linalg.norm(X / length, axis=0)
    return gram / length / length[:, None]


@methods
@designs
def test_identities(method, X):
    G = X.T @ X
    s = s_matrix(relative(G, X), method)
    for copy in FixedKnockoffs(method).copies(X, 0, 3):
        assert copy.shape == X.shape
        np.testing.assert_allclose(relative(copy.T @ copy, X), relative(G, X), atol=1e-9)
        np.testing.assert_allclose(relative(X.T @ copy, X), relative(G, X) - np.diag(s), atol=1e-6)
        off = ~np.eye(len(G), dtype=bool)
        np.testing.assert_allclose(relative(X.T @ copy, X)[off], relative(G, X)[off], atol=1e-9)


@methods
@pytest.mark.parametrize("shape", [(60, 5), (25, 12), (3, 1)])
def test_identities_with_an_intercept(method, shape):
    X = design(*shape) + np.linspace(-5, 5, shape[1])
    centred = X - X.mean(axis=0)
    s = s_matrix(centred.T @ centred, method)
    for copy in FixedKnockoffs(method, intercept=True).copies(X, 0, 3):
        np.testing.assert_allclose(copy.mean(axis=0), X.mean(axis=0), rtol=1e-9)
        rest = copy - copy.mean(axis=0)
        for a, b, want in (
            (rest, rest, centred.T @ centred),
            (centred, rest, centred.T @ centred - np.diag(s)),
            (copy, copy, X.T @ X),
            (X, copy, X.T @ X - np.diag(s)),
        ):
            np.testing.assert_allclose(relative(a.T @ b, X), relative(want, X), atol=1e-6)


@methods
def test_swapping_any_columns_with_their_copies_keeps_all_products(method):
    X = design(20, 4)
    copy = FixedKnockoffs(method).sample(X, 1)
    G = np.hstack([X, copy]).T @ np.hstack([X, copy])
    for swap in product([False, True], repeat=4):
        both = np.hstack([np.where(swap, copy, X), np.where(swap, X, copy)])
        size = np.tile(np.linalg.norm(X, axis=0), 2)
        np.testing.assert_allclose((both.T @ both - G) / size / size[:, None], 0, atol=1e-9)


@methods
def test_permuted_columns_have_permuted_copies(method):
    X, order = design(20, 4), np.array([2, 0, 3, 1])
    plain, permuted = (FixedKnockoffs(method).sample(A, 1) for A in (X, X[:, order]))
    got = relative(X[:, order].T @ permuted, X[:, order])
    want = relative(X.T @ plain, X)[np.ix_(order, order)]
    np.testing.assert_allclose(got, want, atol=1e-6)


def test_published_solution():
    X = with_gram(ar1(0.5, 3), 8)
    copy = FixedKnockoffs("sdp").sample(X, 0)
    np.testing.assert_allclose(np.diag(X.T @ (X - copy)), [1, 2 / 3, 1], atol=1e-6)


@pytest.mark.parametrize("intercept", [False, True])
def test_the_free_part_is_uniform(intercept):
    n, p, B = 9, 3, 10_000
    X = design(n, p) / np.linalg.norm(design(n, p), axis=0)
    copies = np.stack(list(FixedKnockoffs("mvr", intercept=intercept).copies(X, 7, B)))
    span = np.hstack([np.ones((n, 1)), X]) if intercept else X
    centred = X - X.mean(axis=0) * intercept
    G = centred.T @ centred
    S = np.diag(s_matrix(G, "mvr"))
    rest = copies - (X - centred @ np.linalg.solve(G, S))
    np.testing.assert_allclose(np.einsum("ni,bnj->bij", span, rest), 0, atol=1e-10)
    # E U = 0, E U_ia U_jb = P_ij 1(a = b) / (n - k), P the projection on what is free
    flat = rest.reshape(B, -1)
    P = np.eye(n) - span @ np.linalg.pinv(span)
    spread = 2 * S - S @ np.linalg.solve(G, S)
    want = np.kron(P, spread) / (n - span.shape[1])
    assert np.abs(flat.mean(axis=0)).max() < 5 * np.sqrt(want.max() / B)
    variance = want.diagonal()
    se = np.sqrt(np.outer(variance, variance) + want**2) / np.sqrt(B)
    assert np.abs((flat.T @ flat / B - want) / np.maximum(se, 1e-12)).max() < 5


@methods
def test_members_do_not_depend_on_the_chunk(method):
    assert_members_do_not_depend_on_the_chunk(FixedKnockoffs(method), design(30, 4))


def augmented(*args, **options):
    intercept = options.pop("intercept", False)
    with pytest.warns(AugmentationWarning, match="simulated"):
        return FixedKnockoffs(intercept=intercept).augment(*args, **options)


@pytest.mark.parametrize("intercept", [False, True])
def test_added_rows(intercept):
    X, y = design(12, 8), np.arange(12.0)
    X_more, y_more = augmented(X, y, 0, intercept=intercept)
    assert X_more.shape == (16 + intercept, 8)
    assert y_more.shape == (16 + intercept,)
    np.testing.assert_array_equal(X_more[:12], X)
    np.testing.assert_array_equal(y_more[:12], y)
    want = X.mean(axis=0) if intercept else np.zeros(8)
    np.testing.assert_allclose(X_more[12:], np.tile(want, (4 + intercept, 1)), rtol=1e-12)
    # now there is room for copies
    copy = FixedKnockoffs(intercept=intercept).sample(X_more, 0)
    np.testing.assert_allclose(
        relative(copy.T @ copy, X_more), relative(X_more.T @ X_more, X_more), atol=1e-9
    )


@pytest.mark.parametrize("intercept", [False, True])
def test_the_noise_variance_is_that_of_the_residuals(intercept):
    X, y = design(14, 10), np.random.default_rng(5).standard_normal(14)
    full = np.hstack([X / np.abs(X).max(axis=0), np.ones((14, int(intercept)))])
    residual = y - full @ np.linalg.lstsq(full, y, rcond=None)[0]
    variance = residual @ residual / (14 - 10 - intercept)
    level = y.mean() * intercept
    estimated = augmented(X, y, 3, intercept=intercept)[1][14:] - level
    given = augmented(X, y, 3, intercept=intercept, noise_variance=1.0)[1][14:] - level
    np.testing.assert_allclose(estimated, given * np.sqrt(variance), rtol=1e-9)


@pytest.mark.parametrize("intercept", [False, True])
def test_the_enlarged_response_has_independent_noise_of_one_variance(intercept):
    n, p, B, variance = 4, 3, 6_000, 2.5
    rng = np.random.default_rng(0)
    X = design(n, p) / np.linalg.norm(design(n, p), axis=0)
    noise = np.sqrt(variance) * rng.standard_normal((B, n))
    knockoffs = FixedKnockoffs(intercept=intercept)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AugmentationWarning)
        X_more = knockoffs.augment(X, noise[0], 0, noise_variance=variance)[0]
        responses = np.stack(
            [
                knockoffs.augment(
                    X, 3.0 * intercept + X.sum(axis=1) + e, seed, noise_variance=variance
                )[1]
                for seed, e in enumerate(noise)
            ]
        )
    m = 2 * p + intercept
    assert responses.shape == (B, m)
    P = np.eye(m) - np.full((m, m), intercept / m)
    rest = (responses - X_more.sum(axis=1)) @ P
    se = variance * np.sqrt(2 / B)
    assert np.abs(rest.mean(axis=0)).max() < 5 * np.sqrt(variance / B)
    assert np.abs(rest.T @ rest / B - variance * P).max() < 5 * se


def test_nothing_is_added_where_there_is_room():
    X, y = design(16, 8), np.arange(16)
    X_same, y_same = FixedKnockoffs().augment(X, y, 0)
    np.testing.assert_array_equal(X_same, X)
    np.testing.assert_array_equal(y_same, y)
    assert not np.shares_memory(X_same, X)


def test_added_responses_depend_on_the_seed_only():
    X, y = design(6, 4), np.arange(6.0)
    first, again, other = (augmented(X, y, seed)[1] for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert np.all(first[6:] != other[6:])


def test_square_designs_need_the_noise_variance():
    X, y = design(5, 5), np.arange(5.0)
    with pytest.raises(ArgumentError, match="noise_variance must be given"):
        FixedKnockoffs().augment(X, y, 0)
    assert augmented(X, y, 0, noise_variance=1.0)[0].shape == (10, 5)
    with pytest.raises(ArgumentError, match="noise_variance must be given"):
        FixedKnockoffs(intercept=True).augment(design(6, 5), np.arange(6.0), 0)


TALL, SHORT = design(20, 4), design(6, 4)
Y = np.arange(6.0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: FixedKnockoffs("best"), "method"),
        (lambda: FixedKnockoffs(intercept="yes"), "intercept"),
        (lambda: FixedKnockoffs().sample(np.where(TALL > 0, np.nan, TALL), 0), "X must be finite"),
        (lambda: FixedKnockoffs().sample(TALL.astype(str), 0), "X must be a table"),
        (lambda: FixedKnockoffs().sample(TALL[0], 0), "X must be"),
        (lambda: FixedKnockoffs().rows_needed(2.5), "n_features"),
        (lambda: FixedKnockoffs().copies(TALL, "seed", 1), "random_state"),
        (lambda: FixedKnockoffs().copies(TALL, 0, "all"), "members"),
        (lambda: FixedKnockoffs().augment(SHORT, Y[:5], 0), "y must have one entry"),
        (lambda: FixedKnockoffs().augment(SHORT, Y[:, None], 0), "y must have one entry"),
        (lambda: FixedKnockoffs().augment(SHORT, np.full(6, np.nan), 0), "y must be finite"),
        (lambda: FixedKnockoffs().augment(SHORT, list("abcdef"), 0), "y must be a number"),
        (lambda: FixedKnockoffs().augment(SHORT, Y, "seed"), "random_state"),
        (lambda: FixedKnockoffs().augment(SHORT, Y, 0, noise_variance=-1.0), "noise_variance"),
        (lambda: FixedKnockoffs().augment(SHORT, Y, 0, noise_variance=[1.0]), "noise_variance"),
        (lambda: FixedKnockoffs().augment(SHORT, Y, 0, noise_variance="a"), "noise_variance"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ArgumentError, match=message) as error:
        call()
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: FixedKnockoffs().sample(TALL.T, 0), "X must have at least 20 rows.*Gaussian"),
        (lambda: FixedKnockoffs().augment(TALL.T, np.ones(4), 0), "X must have at least 20 rows"),
        (lambda: FixedKnockoffs(intercept=True).sample(SHORT[:4], 0), "X must have at least 5 row"),
        (lambda: FixedKnockoffs().sample(SHORT, 0), r"X must have at least 8 rows.*augment"),
        (lambda: FixedKnockoffs(intercept=True).sample(TALL[:8], 0), "X must have at least 9 rows"),
        (lambda: FixedKnockoffs().sample(TALL * [1, 0, 1, 1], 0), "X.*column 1"),
        (
            lambda: FixedKnockoffs(intercept=True).sample(TALL * [1, 0, 1, 1] + 0.1, 0),
            "X.*column 1",
        ),
        (lambda: FixedKnockoffs().sample(TALL[:, [0, 1, 1]], 0), "X'X must be positive definite"),
    ],
)
def test_refused_data(call, message):
    with pytest.raises(RefusedError, match=message) as error:
        call()
    assert "\n" not in str(error.value)


def test_the_seed_changes_nothing_unless_it_is_asked_to():
    X = np.random.default_rng(0).standard_normal((30, 5))
    sampler = FixedKnockoffs(intercept=True)
    one, two = sampler.copies(X, 1, 3), sampler.copies(X, 2, 3)
    for b in range(3):
        np.testing.assert_array_equal(one[b], two[b])
    assert not np.allclose(one[0], one[1])  # copies of one selection differ
    drawn = FixedKnockoffs(intercept=True, randomized=True)
    assert not np.allclose(drawn.copies(X, 1, 1)[0], drawn.copies(X, 2, 1)[0])


def test_a_selection_by_fixed_copies_does_not_hang_on_the_seed():
    data = simulate(200, 30, 10, snr=5.0, random_state=0)
    found = [
        KnockoffSelection(0.3, sampler="fixed", statistic="entry", random_state=seed)
        .fit(data.X, data.y)
        .statistics_
        for seed in range(3)
    ]
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


@pytest.mark.parametrize("method", ["equi", "mvr", "maxent", "sdp"])
def test_the_method_can_be_named_after_a_colon(method):
    assert as_sampler(f"fixed:{method}").method == method
    assert as_sampler(f"fixed:{method}").intercept
    assert as_sampler(f"gaussian:{method}").method == method


def test_equicorrelated_copies_are_the_default():
    assert FixedKnockoffs().method == as_sampler("fixed").method == "equi"
    for wrong in ("fixed:best", "iid:mvr", "fixed:"):
        with pytest.raises(ArgumentError, match="sampler"):
            as_sampler(wrong)


def test_a_drawn_rotation_is_in_its_name():
    shown = repr(FixedKnockoffs("mvr", intercept=True, randomized=True))
    assert shown == "FixedKnockoffs(method='mvr', intercept=True, randomized=True)"
