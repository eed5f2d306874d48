"""Columns without a penalty: how they are named, and what is said where they depend on others."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.sparse import csc_array

from selica._core.errors import ArgumentError
from selica.solvers import cox_path_batch, int8_design, lasso_path_batch, multinomial_path_batch
from selica.solvers.designs import as_table, side_by_side
from selica.solvers.free_columns import FreeColumnWarning, dependent

RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 8))
Y = X[:, 0] + RNG.standard_normal(60)
ONE = np.ones((1, 60))


def test_numbers_and_flags_are_the_same():
    by_number = lasso_path_batch(X, Y, [10.0, 3.0], ONE, unpenalised=[2, 5])
    flags = np.isin(np.arange(8), [2, 5])
    by_flag = lasso_path_batch(X, Y, [10.0, 3.0], ONE, unpenalised=flags)
    np.testing.assert_array_equal(by_number.coef, by_flag.coef)
    assert np.all(by_number.coef[..., [2, 5]] != 0.0)


@pytest.mark.parametrize("bad", [[8], [-1], [0.5], [[1]], np.ones(7, dtype=bool)])
def test_bad_columns_are_named(bad):
    with pytest.raises(ArgumentError, match="unpenalised"):
        lasso_path_batch(X, Y, [1.0], ONE, unpenalised=bad)


def test_a_column_that_others_determine_is_named():
    both = np.column_stack([X, 2.0 * X[:, 1] - X[:, 3], np.ones(60)])
    with pytest.warns(FreeColumnWarning, match="determine column 8"):
        fit = lasso_path_batch(both, Y, [5.0], ONE, unpenalised=[1, 3, 8])
    without = np.delete(both, 8, axis=1)
    known = lasso_path_batch(without, Y, [5.0], ONE, unpenalised=[1, 3])
    np.testing.assert_allclose(both @ fit.coef[0, 0], without @ known.coef[0, 0], atol=1e-8)
    with pytest.warns(FreeColumnWarning, match="determine column 9"):
        lasso_path_batch(both, Y, [5.0], ONE, unpenalised=[9], fit_intercept=True)
    with pytest.warns(FreeColumnWarning, match="determine column 9"):  # no constant is identified
        cox_path_batch(both, (np.exp(Y), np.ones(60)), [5.0], ONE, unpenalised=[9])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        lasso_path_batch(both, Y, [5.0], ONE, unpenalised=[9])


def test_many_free_columns_are_noticed():
    with pytest.warns(FreeColumnWarning, match="many for 60 rows"):
        lasso_path_batch(X, Y, [5.0], ONE, unpenalised=np.ones(8, dtype=bool))
    labels = np.arange(60) % 3
    with pytest.warns(FreeColumnWarning, match="many for 60 rows"):
        multinomial_path_batch(X, labels, [5.0], ONE, unpenalised=np.arange(7))


def test_columns_of_every_kind():
    whole = RNG.integers(0, 3, (60, 4)).astype(np.int8)
    kinds = [
        X,
        X.astype(np.float32),
        int8_design(whole, unit=np.full(4, 0.5), origin=np.ones(4)),
        csc_array(whole.astype(float)),
    ]
    kinds.append(side_by_side(kinds))
    for kind in kinds:
        table = as_table("X", kind)
        dense = table.dense()
        for j in range(table.shape[1]):
            np.testing.assert_array_equal(table.column(j), dense[:, j])
    # the int8 columns are the sparse ones in another unit, the float32 ones those of X
    doubled = dependent(as_table("X", kinds[-1]), np.arange(24), intercept=True)
    assert doubled.tolist() == [*range(8, 16), *range(20, 24)]
