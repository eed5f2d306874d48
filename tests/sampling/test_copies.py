"""The article's knockoffs: independent Gaussian copies, drawn on demand."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy.stats import kstest

from selica._core.errors import ArgumentError
from selica.sampling import callable_copies, iid_copies, simulate

X = np.random.default_rng(0).standard_normal((60, 4)) * [1.0, 2.0, 0.1, 0.0] + [0, 1, 0, 0]


def test_entries_are_independent_gaussians_of_the_given_scale():
    scale = np.array([0.5, 1.0, 2.0])
    copies = iid_copies(np.ones((40, 3)), scale=scale, random_state=1, members=1000)
    pooled = np.concatenate(list(copies))
    assert pooled.shape == (40_000, 3)
    assert kstest((pooled / scale).ravel(), "norm").pvalue > 1e-3
    assert np.abs(np.corrcoef(pooled.T) - np.eye(3)).max() < 5 / np.sqrt(40_000)
    # entry (i, j) of different members: independent as well
    stack = np.stack([c.ravel() for c in copies])
    off = np.corrcoef(stack.T)[~np.eye(120, dtype=bool)]
    assert np.abs(off).max() < 5.5 / np.sqrt(1000)


def test_default_scale_is_the_root_mean_square():
    copies = iid_copies(X, random_state=0, members=2000)
    rms = np.sqrt(np.mean(X**2, axis=0))
    got = np.sqrt(np.mean([np.mean(c**2, axis=0) for c in copies], axis=0))
    np.testing.assert_allclose(got, rms, rtol=5 / np.sqrt(2 * 2000 * 60))
    assert not np.any(copies[0][:, 3])


@pytest.mark.parametrize("size", [1e-200, 1e200])
def test_the_default_scale_neither_overflows_nor_vanishes(size):
    unit, scaled = (iid_copies(X * s, random_state=0, members=1)[0] for s in (1.0, size))
    np.testing.assert_allclose(scaled, unit * size, rtol=1e-12)


def test_one_scale_for_all():
    one = iid_copies(X, scale=0.5, random_state=0, members=1)[0]
    each = iid_copies(X, scale=[0.5] * 4, random_state=0, members=1)[0]
    np.testing.assert_array_equal(one, each)


def test_a_member_is_the_same_in_every_chunk():
    copies = iid_copies(X, random_state=9, members=50)
    assert len(copies) == 50
    assert copies.shape == (50, 60, 4)
    for other in (
        iid_copies(X, random_state=9, members=[17])[0],
        iid_copies(X, random_state=np.random.SeedSequence(9), members=slice(10, 20))[7],
        copies[10:20][7],
        copies[-33],
        pickle.loads(pickle.dumps(copies[16:18]))[1],
        list(copies)[17],
    ):
        np.testing.assert_array_equal(other, copies[17])
    assert np.any(copies[17] != copies[18])
    with pytest.raises(IndexError):
        copies[50]


def test_seeds_of_data_and_copies_do_not_collide():
    # the same seed for both must not make the copy equal to the design
    data = simulate(50, 30, 3, r2=0.5, random_state=0)
    plain = np.random.default_rng(0).standard_normal((50, 30))
    for copy in iid_copies(data.X, scale=1.0, random_state=0, members=8):
        for design in (data.X, plain):
            assert abs(np.corrcoef(copy.ravel(), design.ravel())[0, 1]) < 5 / np.sqrt(1500)
            assert abs(np.corrcoef(copy.ravel("F"), design.ravel())[0, 1]) < 5 / np.sqrt(1500)


def test_copies_are_laid_out_for_coordinate_descent_and_not_kept():
    copies = iid_copies(X, random_state=0, members=3)
    first = copies[0]
    assert first.flags.f_contiguous
    first[:] = 0.0
    assert np.any(copies[0])
    assert "shape=(3, 60, 4)" in repr(copies)


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"X": np.ones(3)}, "X"),
        ({"X": [[1.0, np.nan]]}, "X"),
        ({"X": [["a", "b"]]}, "X"),
        ({"X": [[1.0], [2.0, 3.0]]}, "X"),
        ({"X": np.ones((0, 3))}, "X"),
        ({"scale": -1.0}, "scale"),
        ({"scale": [1.0, 2.0]}, "scale"),
        ({"scale": "big"}, "scale"),
        ({"members": -1}, "members"),
        ({"members": None}, "members"),
        ({"members": slice(None)}, "members"),
        ({"random_state": 1.5}, "random_state"),
    ],
)
def test_bad_input(change, name):
    args = {"X": X, "members": 2} | change
    with pytest.raises(ArgumentError, match=name) as error:
        iid_copies(args.pop("X"), **args)
    assert "\n" not in str(error.value)


def shuffled(X, rng):
    return rng.permuted(X, axis=0)


def test_a_sampler_of_the_user_gets_the_design_and_its_own_generator():
    copies = callable_copies(lambda A, rng: A + rng.standard_normal(A.shape), X, 3, 400)
    assert copies.shape == (400, 60, 4)
    noise = np.stack([c - X for c in copies])
    assert kstest(noise.ravel(), "norm").pvalue > 1e-3
    off = np.corrcoef(noise.reshape(400, -1).T)[~np.eye(240, dtype=bool)]
    assert np.abs(off).max() < 5.5 / np.sqrt(400)


def test_a_member_of_a_sampler_is_the_same_in_every_chunk():
    copies = callable_copies(shuffled, X, 9, 50)
    for other in (
        callable_copies(shuffled, X, 9, [17])[0],
        callable_copies(shuffled, X, random_state=np.random.SeedSequence(9), members=slice(9, 20))[
            8
        ],
        copies[10:20][7],
        pickle.loads(pickle.dumps(copies[16:18]))[1],
    ):
        np.testing.assert_array_equal(other, copies[17])
        assert other.flags.f_contiguous
    assert np.any(copies[17] != copies[18])


def test_a_sampler_sees_the_design_as_it_was():
    design = X.copy()
    copies = callable_copies(lambda A, rng: A, design, 0, 2)
    design[:] = 7.0
    np.testing.assert_array_equal(copies[0], X)
    copies[0][:] = 0.0
    np.testing.assert_array_equal(copies[1], X)
    assert callable_copies(lambda A, rng: [[1, 2]], [[3, 4]], 0, 1)[0].dtype == float
    kept = np.asfortranarray(X)
    callable_copies(lambda A, rng: kept, X, 0, 1)[0][:] = 0.0
    np.testing.assert_array_equal(kept, X)


def one_argument(A):
    return A


def failing(A, rng):
    raise RuntimeError("no\nluck")


def overwriting(A, rng):
    A[:] = 0.0
    return A


@pytest.mark.parametrize(
    ("sampler", "message"),
    [
        (lambda A, rng: A[:-1], r"sampler.*shape of X, \(60, 4\); got \(59, 4\)"),
        (lambda A, rng: A.T, r"sampler.*shape"),
        (lambda A, rng: A[0], "sampler.*two-dimensional"),
        (lambda A, rng: np.where(A > 0, np.nan, A), "sampler.*finite"),
        (lambda A, rng: None, "sampler.*numbers"),
        (lambda A, rng: A.astype(str), "sampler.*numbers"),
        (lambda A, rng: A.astype(complex), "sampler.*numbers"),
        (failing, r"sampler raised RuntimeError.*\(60, 4\): no luck"),
        (one_argument, "sampler raised TypeError"),
        (overwriting, "sampler raised ValueError.*read-only"),
    ],
)
def test_bad_samplers(sampler, message):
    copies = callable_copies(sampler, X, 0, 2)
    for use in (copies, pickle.loads(pickle.dumps(copies)) if sampler is overwriting else copies):
        with pytest.raises(ArgumentError, match=message) as error:
            use[1]
        assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: callable_copies("shuffle", X, 0, 2), "sampler"),
        (lambda: callable_copies(None, X, 0, 2), "sampler"),
        (lambda: callable_copies(shuffled, [[1.0, np.inf]], 0, 2), "X"),
        (lambda: callable_copies(shuffled, np.ones(3), 0, 2), "X"),
        (lambda: callable_copies(shuffled, X, "seed", 2), "random_state"),
        (lambda: callable_copies(shuffled, X, 0, -2), "members"),
    ],
)
def test_bad_input_of_callable_copies(call, name):
    with pytest.raises(ArgumentError, match=name):
        call()
