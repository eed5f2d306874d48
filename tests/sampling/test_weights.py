"""Laws of the resampling schemes, and draws that do not depend on the partition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from selica._core.errors import ArgumentError, RefusedError
from selica.sampling import resample_weights
from selica.sampling.weights import SCHEMES

N, B = 20, 6000


def draw(scheme, rate=1.0, **kwargs):
    return resample_weights(N, B, scheme, rate, random_state=1, **kwargs)


@pytest.mark.parametrize(
    ("scheme", "rate", "mean", "variance", "covariance"),
    [
        # multinomial counts of m draws: m/n, m (1/n)(1 - 1/n), -m/n^2
        ("bootstrap", 1.0, 1.0, 1 - 1 / N, -1 / N),
        ("bootstrap", 0.3, 0.3, 0.3 * (1 - 1 / N), -0.3 / N),
        ("bootstrap", 30.0, 30.0, 30 * (1 - 1 / N), -30 / N),
        ("poisson", 1.0, 1.0, 1.0, 0.0),
        ("poisson", 2.5, 2.5, 2.5, 0.0),
        # m of n without replacement: -f(1 - f)/(n - 1)
        ("subsample", 0.5, 0.5, 0.25, -0.25 / (N - 1)),
        ("subsample", 0.8, 0.8, 0.16, -0.16 / (N - 1)),
        ("pairs", 1.0, 0.5, 0.25, -0.25 / (N - 1)),
        ("exponential", 1.0, 1.0, 1.0, 0.0),
        ("exponential", 2.0, 2.0, 4.0, 0.0),
    ],
)
def test_moments(scheme, rate, mean, variance, covariance):
    w = draw(scheme, rate)
    assert w.shape == (B, N)
    assert w.dtype == np.float64
    # 5 standard errors for each of 20 rows; weights of fixed sum leave members independent
    assert np.abs(w.mean(axis=0) - mean).max() < 5 * np.sqrt(variance / B)
    spread = np.cov(w.T)
    diagonal, off = spread.diagonal(), spread[~np.eye(N, dtype=bool)]
    kurtosis = np.mean((w - mean) ** 4) - variance**2
    assert np.abs(diagonal - variance).max() < 5 * np.sqrt(kurtosis / B) + 1e-3
    assert off.mean() == pytest.approx(covariance, abs=5 * variance / np.sqrt(B * N))
    assert np.abs(off - covariance).max() < 6 * variance / np.sqrt(B)


def test_bootstrap_counts_are_nearly_poisson_for_many_rows():
    w = resample_weights(4000, 50, random_state=0)
    for k, probability in enumerate(np.exp(-1) / np.array([1, 1, 2, 6])):
        assert np.mean(w == k) == pytest.approx(probability, abs=3e-3)


def test_both_ways_to_draw_a_bootstrap_have_one_law():
    few, many = (resample_weights(5, 4000, rate=r, random_state=0) for r in (16.0, 16.2))
    assert few.sum(axis=1).tolist() == [80.0] * 4000
    assert many.sum(axis=1).tolist() == [81.0] * 4000
    assert few.var() == pytest.approx(80 * 0.2 * 0.8, rel=0.02)
    assert many.var() == pytest.approx(81 * 0.2 * 0.8, rel=0.02)


@pytest.mark.parametrize("n", [2, 3, 101])
def test_halves_are_complementary(n):
    w = resample_weights(n, 20, "pairs", random_state=3)
    assert set(np.unique(w)) <= {0.0, 1.0}
    assert w.sum(axis=1).tolist() == [n // 2] * 20
    assert not np.any(w[::2] * w[1::2])
    if n == 101:  # another row is left out by each pair
        assert len({int(np.argmin(pair)) for pair in w[::2] + w[1::2]}) > 5


@pytest.mark.parametrize(
    ("n", "rate", "rows"), [(10, 0.7, 7), (100, 0.29, 29), (10, 1.0, 10), (3, 0.5, 1)]
)
def test_subsample_sizes_are_floors_that_forgive_rounding(n, rate, rows):
    w = resample_weights(n, 5, "subsample", rate, random_state=0)
    assert w.sum(axis=1).tolist() == [rows] * 5
    assert w.max() == 1.0


def test_an_empty_poisson_member_stays_empty():
    w = resample_weights(2, 200, "poisson", 0.2, random_state=0)
    assert np.any(w.sum(axis=1) == 0.0)


def test_exponential_members_have_no_zero():
    assert draw("exponential").min() > 0.0


@given(
    scheme=st.sampled_from(SCHEMES),
    seed=st.integers(0, 2**70),
    members=st.slices(12) | st.lists(st.integers(0, 11), max_size=4),
    labels=st.sampled_from(["none", "groups", "strata"]),
)
@settings(max_examples=60, deadline=None)
def test_a_chunk_is_a_part_of_the_whole(scheme, seed, members, labels):
    given_labels = {} if labels == "none" else {labels: np.repeat(np.arange(5), 4)}
    args = {"scheme": scheme, "rate": 0.5, "random_state": seed} | given_labels
    full = resample_weights(20, 12, **args)
    part = resample_weights(20, 12, **args, members=members)
    np.testing.assert_array_equal(part, full[members])
    longer = resample_weights(20, 30, **args)
    np.testing.assert_array_equal(longer[:12], full)


def test_a_generator_is_advanced():
    rng = np.random.default_rng(0)
    first, second = (resample_weights(20, 3, random_state=rng) for _ in range(2))
    assert np.any(first != second)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_groups_share_their_weight(scheme):
    labels = np.array(["a", "b", "c", "a", "d", "b", "a"], dtype=object)
    w = resample_weights(7, 200, scheme, groups=labels, random_state=0)
    for label in "abcd":
        same = w[:, labels == label]
        np.testing.assert_array_equal(same, same[:, :1].repeat(same.shape[1], axis=1))
    unit = w[:, [0, 1, 2, 4]]  # one row of each group
    if scheme == "bootstrap":
        assert np.all(unit.sum(axis=1) == 4)
    if scheme == "pairs":
        assert np.all(unit.sum(axis=1) == 2)
        assert not np.any(w[::2] * w[1::2])


@pytest.mark.parametrize(
    ("scheme", "rate", "sizes"),
    [
        ("bootstrap", 0.5, {"x": 10, "y": 5}),
        ("subsample", 0.6, {"x": 12, "y": 6}),
        ("pairs", 0.5, {"x": 10, "y": 5}),
    ],
)
def test_strata_keep_their_share(scheme, rate, sizes):
    labels = np.array(["x", "y", "x"] * 10)
    w = resample_weights(30, 400, scheme, rate, strata=labels, random_state=0)
    for label, size in sizes.items():
        part = w[:, labels == label]
        assert np.all(part.sum(axis=1) == size)
        se = part.std() / np.sqrt(400)
        assert np.abs(part.mean(axis=0) - size / part.shape[1]).max() < 5 * se


def test_groups_inside_strata():
    groups = np.repeat(np.arange(10), 3)
    strata = np.repeat([0, 1], [12, 18])  # 4 and 6 groups
    w = resample_weights(30, 50, "pairs", groups=groups, strata=strata, random_state=0)
    assert np.all(w[:, :12].sum(axis=1) == 6)
    assert np.all(w[:, 12:].sum(axis=1) == 9)


@pytest.mark.parametrize("scheme", ["poisson", "exponential"])
def test_strata_change_nothing_for_independent_weights(scheme):
    a = resample_weights(60, 2000, scheme, random_state=0, strata=np.arange(60) % 3)
    assert a.mean() == pytest.approx(1.0, abs=5 / np.sqrt(a.size))
    assert a.sum(axis=1).var() == pytest.approx(60, rel=0.2)


@pytest.mark.parametrize("name", ["groups", "strata"])
@pytest.mark.parametrize(
    "labels",
    [
        [7, 7, 3, 3, 9, 9],
        [0.5, 0.5, 0.1, 0.1, 2.0, 2.0],
        ["b", "b", "a", "a", "c", "c"],
        np.array(["2001", "2001", "1999", "1999", "2005", "2005"], dtype="M8[Y]"),
        np.array([(1,), (1,), "s", "s", 5, 5, None], dtype=object)[:-1],
        [True, True, False, False, True, True],
    ],
    ids=["int", "float", "str", "date", "object", "bool"],
)
def test_only_the_partition_matters_not_the_names(name, labels):
    want = [0, 0, 1, 1, 2, 2] if len(set(np.asarray(labels).tolist())) == 3 else [0, 0, 1, 1, 0, 0]
    a, b = (resample_weights(6, 9, random_state=2, **{name: lab}) for lab in (labels, want))
    np.testing.assert_array_equal(a, b)


GOOD = {"n_samples": 10, "n_resamples": 4, "scheme": "bootstrap", "rate": 1.0}


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"n_samples": 0}, "n_samples"),
        ({"n_samples": 10.0}, "n_samples"),
        ({"n_resamples": 0}, "n_resamples"),
        ({"n_resamples": None}, "n_resamples"),
        ({"n_resamples": 3, "scheme": "pairs"}, "n_resamples"),
        ({"scheme": "jackknife"}, "scheme"),
        ({"scheme": 3}, "scheme"),
        ({"rate": 0.0}, "rate"),
        ({"rate": -1.0}, "rate"),
        ({"rate": np.nan}, "rate"),
        ({"rate": [1.0, 2.0]}, "rate"),
        ({"rate": "1"}, "rate"),
        ({"rate": 0.04}, "rate"),
        ({"scheme": "subsample", "rate": 1.01}, "rate"),
        ({"scheme": "subsample", "rate": 0.05}, "rate"),
        ({"scheme": "pairs", "rate": 0.7}, "rate"),
        ({"scheme": "pairs", "n_samples": 1}, "n_samples"),
        ({"scheme": "pairs", "groups": [0] * 10}, "groups"),
        ({"groups": [0] * 9}, "groups"),
        ({"groups": [[0] * 10]}, "groups"),
        ({"groups": [0.0, np.nan] * 5}, "groups"),
        ({"groups": np.array([[1]] * 9 + [None], dtype=object)}, "groups"),
        ({"groups": np.array([0, None] * 5, dtype=object)}, "groups"),
        ({"strata": "abcdefghij"}, "strata"),
        ({"strata": np.array(["1999", "NaT"] * 5, dtype="M8[Y]")}, "strata"),
        ({"strata": [0, 1] * 5, "groups": [0] * 10}, "groups"),
        ({"members": [4]}, "members"),
        ({"random_state": "now"}, "random_state"),
    ],
)
def test_bad_input(change, name):
    with pytest.raises(ArgumentError, match=name) as error:
        resample_weights(**(GOOD | change))
    assert "\n" not in str(error.value)


def test_a_stratum_of_which_no_row_is_drawn():
    with pytest.raises(RefusedError, match="strata: a stratum of 1 rows is too small"):
        resample_weights(**(GOOD | {"strata": [0] * 9 + [1], "scheme": "pairs"}))


@given(
    st.sampled_from([*GOOD, "groups", "strata", "members", "random_state"]),
    st.one_of(
        st.none(),
        st.booleans(),
        st.text(max_size=3),
        st.floats(),
        st.integers(-3, 20),
        st.lists(st.none() | st.integers(-2, 5) | st.floats(), min_size=9, max_size=11),
        st.lists(st.lists(st.integers(), max_size=2), max_size=3),
        st.sampled_from([*SCHEMES]),
    ),
)
@settings(max_examples=200, deadline=None)
def test_whatever_is_passed_it_works_or_says_what_is_wrong(name, value):
    try:
        w = resample_weights(**(GOOD | {name: value}))
    except ArgumentError as error:
        message = str(error)
    else:
        assert np.isfinite(w).all()
        assert w.min(initial=0.0) >= 0.0
        return
    assert name in message
    assert "\n" not in message


def test_unhashable_labels():
    labels = np.empty(10, dtype=object)
    labels[:] = [{}] * 10
    with pytest.raises(ArgumentError, match=r"groups.*hashable"):
        resample_weights(**GOOD, groups=labels)
