"""Tables of every kind: the same numbers give the same fit, however they are stored."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import numpy as np
import pytest
from scipy.sparse import coo_array, csc_array, csr_array

from selica._core.errors import ArgumentError
from selica.solvers import (
    cox_path_batch,
    int8_design,
    lasso_path_batch,
    logistic_path_batch,
    poisson_path_batch,
    side_by_side,
)
from selica.solvers.designs import DesignTable

ROWS, COLUMNS = 60, 25
LOSSES = ("squared", "logistic", "poisson", "breslow", "efron")


def _numbers():
    """Numbers that doubles, floats and small integers all hold: half units from -8 to 8."""
    rng = np.random.default_rng(5)
    table = rng.integers(-16, 17, (ROWS, COLUMNS)) / 2.0
    table[rng.random(table.shape) < 0.5] = 0.0
    table[:, 3] = 1.5  # constant
    table[:, 4] = table[:, 5]  # twice
    return table


def fit(loss, X, **settings):
    """Fit three resamples along four penalties, with a response that five columns explain."""
    rng = np.random.default_rng(6)
    dense = X.dense() if isinstance(X, DesignTable) else X
    dense = dense.toarray() if hasattr(dense, "toarray") else np.asarray(dense, dtype=float)
    eta = dense[:, 5:10] @ [0.3, -0.2, 0.2, 0.1, -0.3] + 0.5 * rng.standard_normal(ROWS)
    weights = rng.integers(0, 3, (3, ROWS)).astype(float)
    given = {"tol": 1e-13} | settings
    if loss == "squared":
        return lasso_path_batch(X, eta, [40.0, 10, 3, 1], weights, fit_intercept=True, **given)
    if loss == "logistic":
        return logistic_path_batch(X, (eta > 0) * 1.0, [15.0, 5, 2, 1], weights, **given)
    if loss == "poisson":
        return poisson_path_batch(X, np.floor(np.exp(eta)), [40.0, 20, 8, 4], weights, **given)
    times = np.ceil(5.0 * np.exp(-eta)), (rng.random(ROWS) < 0.8) * 1.0
    strata = np.arange(ROWS) % 2
    lams = [15.0, 8, 4, 2]
    return cox_path_batch(X, times, lams, weights, ties=loss, strata=strata, **given)


def _mapped(folder, values):
    file = folder / "table.bin"
    values.tofile(file)
    return np.memmap(file, dtype=values.dtype, mode="r", shape=values.shape)


def _read_only(values):
    values = values.copy()
    values.flags.writeable = False
    return values


def _wide_steps(values):
    """Every second row and third column of a larger array."""
    large = np.zeros((2 * ROWS, 3 * COLUMNS), dtype=values.dtype)
    large[::2, ::3] = values
    return large[::2, ::3]


HALVES = 2.0 * np.ones(COLUMNS)
KINDS = {
    "doubles in columns": lambda x, _: np.asfortranarray(x),
    "doubles with steps": lambda x, _: _wide_steps(x),
    "doubles read-only": lambda x, _: _read_only(x),
    "doubles mapped": lambda x, folder: _mapped(folder, x),
    "doubles backwards": lambda x, _: np.ascontiguousarray(x[::-1, ::-1])[::-1, ::-1],
    "floats in rows": lambda x, _: x.astype(np.float32),
    "floats in columns": lambda x, _: np.asfortranarray(x, dtype=np.float32),
    "floats with steps": lambda x, _: _wide_steps(x.astype(np.float32)),
    "floats read-only": lambda x, _: _read_only(x.astype(np.float32)),
    "floats mapped": lambda x, folder: _mapped(folder, x.astype(np.float32)),
    "small integers": lambda x, _: int8_design((2 * x).astype(np.int8), unit=1 / HALVES),
    "small integers in columns": lambda x, _: int8_design(
        np.asfortranarray(2 * x, dtype=np.int8), unit=1 / HALVES
    ),
    "small integers away from zero": lambda x, _: int8_design(
        (2 * x + 3).astype(np.int8), unit=1 / HALVES, origin=1.5 * HALVES
    ),
    "sparse columns": lambda x, _: csc_array(x),
    "sparse rows": lambda x, _: csr_array(x),
    "sparse floats": lambda x, _: csc_array(x.astype(np.float32)),
    "side by side": lambda x, _: side_by_side([
        x[:, :4],
        csc_array(x[:, 4:9]),
        x[:, 9:11].astype(np.float32),
        int8_design((2 * x[:, 11:]).astype(np.int8), unit=1 / HALVES[11:]),
    ]),
}  # fmt: skip


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("kind", KINDS)
def test_the_same_numbers_give_the_same_fit(kind, loss, tmp_path):
    X = _numbers()
    for settings in ({}, {"standardize": True, "unpenalised": [7], "lam2": 0.3}):
        wanted = fit(loss, X, **settings)
        got = fit(loss, KINDS[kind](X, tmp_path), **settings)
        assert wanted.converged
        assert wanted.n_active.max() >= 5
        np.testing.assert_allclose(got.coef, wanted.coef, rtol=0, atol=1e-9)
        np.testing.assert_allclose(got.intercept, wanted.intercept, rtol=0, atol=1e-8)
        np.testing.assert_allclose(got.lam_max, wanted.lam_max, rtol=1e-12)


@pytest.mark.parametrize("loss", LOSSES)
def test_flags_are_zeros_and_ones(loss):
    X = _numbers() > 0.0
    wanted = fit(loss, X.astype(float))
    for kind in (X, X.astype(np.int8), np.asfortranarray(X), csc_array(X), X.astype(int)):
        np.testing.assert_allclose(fit(loss, kind).coef, wanted.coef, rtol=0, atol=1e-9)


@pytest.mark.parametrize("loss", LOSSES)
def test_floats_are_fitted_as_the_doubles_they_are(loss):
    X = np.random.default_rng(8).standard_normal((ROWS, COLUMNS)).astype(np.float32)
    wanted = fit(loss, X.astype(float)).coef
    np.testing.assert_allclose(fit(loss, X).coef, wanted, rtol=0, atol=1e-9)


def test_entries_of_a_sparse_table_come_in_any_order_and_twice():
    X = _numbers()
    wanted = fit("squared", X).coef
    rows, columns = np.nonzero(X)
    order = np.random.default_rng(9).permutation(rows.size)
    half = 0.5 * X[rows, columns][order]
    places = (np.tile(rows[order], 2), np.tile(columns[order], 2))
    twice = coo_array((np.tile(half, 2), places), shape=X.shape)
    np.testing.assert_allclose(fit("squared", twice).coef, wanted, rtol=0, atol=1e-9)
    shuffled = csc_array(X)
    for j in range(COLUMNS):  # each column backwards
        part = slice(shuffled.indptr[j], shuffled.indptr[j + 1])
        shuffled.indices[part] = shuffled.indices[part][::-1].copy()
        shuffled.data[part] = shuffled.data[part][::-1].copy()
    shuffled.has_sorted_indices = shuffled.has_canonical_format = False
    before = shuffled.indices.copy()
    np.testing.assert_allclose(fit("squared", shuffled).coef, wanted, rtol=0, atol=1e-9)
    assert np.array_equal(shuffled.indices, before)  # the caller's table stays as it was


def test_a_table_may_be_fitted_again_and_by_several_losses():
    table = side_by_side([_numbers(), csc_array(_numbers())])
    first = fit("squared", table).coef
    fit("breslow", table)
    assert np.array_equal(fit("squared", table).coef, first)


def _with(value, dtype):
    X = _numbers().astype(dtype)
    X[7, 3] = value
    return X


def _unfit(indices, indptr):
    """Fit a sparse table whose parts do not belong together."""
    table = csc_array(np.eye(4))
    table.indices = np.asarray(indices, dtype=np.int32)
    table.indptr = np.asarray(indptr, dtype=np.int32)
    return lasso_path_batch(table, np.ones(4), [1.0], np.ones((1, 4)))


REFUSED = {
    "floats that are not numbers": (lambda: fit("squared", _with(np.nan, np.float32)), "X must"),
    "floats without end": (lambda: fit("squared", _with(np.inf, np.float32)), "X must"),
    "doubles that are not numbers": (lambda: fit("squared", _with(np.nan, float)), "X must"),
    "sparse, not a number": (lambda: fit("squared", csc_array(_with(np.nan, float))), "X must"),
    "sparse without rows": (
        lambda: lasso_path_batch(csc_array((0, 3)), [], [1.0], np.ones((1, 0))), "X must"
    ),
    "sparse complex": (
        lambda: lasso_path_batch(csc_array(1j * np.eye(3)), np.ones(3), [1.0], np.ones((1, 3))),
        "X must",
    ),
    "a row beyond the end": (lambda: _unfit([0, 1, 2, 9], [0, 1, 2, 3, 4]), "X must"),
    "a row before the first": (lambda: _unfit([0, 1, 2, -1], [0, 1, 2, 3, 4]), "X must"),
    "starts that decrease": (lambda: _unfit([0, 1, 2, 3], [0, 2, 1, 3, 4]), "X must"),
    "starts beyond the end": (lambda: _unfit([0, 1, 2, 3], [0, 1, 2, 3, 9]), "X must"),
    "one row of small integers": (lambda: int8_design(np.ones(3, np.int8)), "values must"),
    "three dimensions": (lambda: int8_design(np.ones((2, 2, 2), np.int8)), "values must"),
    "large integers": (lambda: int8_design(np.ones((2, 2), np.int16)), "values must"),
    "too few units": (lambda: int8_design(np.ones((2, 2), np.int8), unit=[1.0]), "unit must"),
    "an origin without end": (
        lambda: int8_design(np.ones((2, 1), np.int8), origin=[np.inf]), "origin must"
    ),
    "units that are words": (
        lambda: int8_design(np.ones((2, 1), np.int8), unit=["a"]), "unit must"
    ),
    "different rows": (lambda: side_by_side([np.ones((3, 1)), np.ones((4, 1))]), "tables must"),
    "no tables": (lambda: side_by_side([]), "tables must"),
    "a table that is none": (lambda: side_by_side([np.ones((3, 1)), None]), "tables[1] must"),
    "a part that is not finite": (
        lambda: side_by_side([np.full((3, 1), np.nan, dtype=np.float32)]), "tables[0] must"
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_a_table_that_cannot_be_read_is_one_sentence(what):
    call, opening = REFUSED[what]
    with pytest.raises(ArgumentError) as refused:
        call()
    message = str(refused.value)
    assert message.startswith(opening)
    assert "\n" not in message


_PEAK = """
    import resource, sys
    import numpy as np
    from selica.solvers import lasso_path_batch
    rng = np.random.default_rng(0)
    kind, rows, columns = sys.argv[1], 2_000, 5_000
    if kind == "float":
        X = rng.standard_normal((rows, columns), dtype=np.float32)
    else:
        X = rng.integers(0, 3, (rows, columns), dtype=np.int8)
    y = X[:, 0] - X[:, 1] + rng.standard_normal(rows, dtype=np.float32)
    weights = np.ones((2, rows))
    settings = dict(fit_intercept=True, keep="counts", n_jobs=1)
    lasso_path_batch(X[:, :50], y, [500.0], weights, **settings)  # imports, first buffers
    peak = lambda: 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    before = peak()
    lasso_path_batch(X, y, [500.0, 400.0], weights, **settings)
    print((peak() - before) / X.nbytes)
"""


@pytest.mark.parametrize(("kind", "most"), [("float", 0.5), ("int8", 1.0)])
def test_a_table_is_not_copied(kind, most):
    # peak memory is asked of the system through a module that Windows does not have
    pytest.importorskip("resource")
    asked = [sys.executable, "-c", textwrap.dedent(_PEAK), kind]
    ran = subprocess.run(asked, capture_output=True, text=True, check=True, timeout=120)
    # in doubles it would be twice the floats, and eight times the small integers
    assert float(ran.stdout) < most
