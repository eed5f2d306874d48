"""Tables nobody should have to fit: a clear error, or a correct answer."""

from __future__ import annotations

import warnings

import numpy as np
import pandas
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from selica import (
    DataSplitting,
    DerandomizedKnockoffs,
    IntegratedStability,
    KnockoffSelection,
    LassoSelection,
    StabilitySelection,
)
from selica.sampling import simulate

SELECTORS = [
    LassoSelection(),
    StabilitySelection(n_resamples=4),
    StabilitySelection(resampling="pairs", q=2, n_resamples=4),
    KnockoffSelection(0.5),
    KnockoffSelection(0.5, sampler="iid", statistic="entry"),
    DerandomizedKnockoffs(0.5, n_copies=2, statistic="correlation"),
    DataSplitting(0.5, n_splits=2),
    IntegratedStability(n_resamples=4),
]

cells = st.one_of(
    st.floats(-1e3, 1e3), st.sampled_from([0.0, 1.0, 1e-300, 1e300, -1e150, np.nan, np.inf])
)


@st.composite
def tables(draw):
    """A few rows and columns of anything, some columns constant or repeated."""
    n, p = draw(st.integers(0, 12)), draw(st.integers(0, 6))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.standard_normal((n, p))
    for j in range(p):
        kind = draw(st.sampled_from(["plain", "plain", "constant", "copy", "cells", "integers"]))
        if kind == "constant":
            X[:, j] = draw(st.floats(-1e6, 1e6))
        elif kind == "copy" and j:
            X[:, j] = X[:, 0] * draw(st.sampled_from([1.0, -1.0, 1e6]))
        elif kind == "cells" and n:
            X[draw(st.integers(0, n - 1)), j] = draw(cells)
        elif kind == "integers":
            X[:, j] = rng.integers(0, 3, n)
    rows = max(n + draw(st.sampled_from([0, 0, 0, 0, 1, -1])), 0)
    y = draw(st.sampled_from(["normal", "classes", "constant", "words", "cells"]))
    target = rng.standard_normal(rows)
    if y == "classes":
        target = rng.integers(0, 2, rows).astype(float)
    elif y == "constant":
        target[:] = 1.0
    elif y == "words":
        target = np.array(["a", "b", "c"])[rng.integers(0, 3, rows)]
    elif y == "cells" and rows:
        target[0] = draw(cells)
    return X, target


@pytest.mark.parametrize("selector", SELECTORS, ids=repr)
@given(tables())
@settings(max_examples=40, deadline=None)
def test_a_clear_error_or_a_mask(selector, table):
    X, y = table
    message = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a number that overflows is an error here
        warnings.filterwarnings("ignore", "invalid value encountered in reduce")  # inf - inf
        try:
            found = selector.set_params(random_state=0).fit(X, y)
        except ValueError as error:
            message = str(error)
    if message is not None:
        assert len(message) > 10
        return
    assert found.support_.shape == (X.shape[1],)
    assert found.support_.dtype == bool
    constant = np.ptp(X, axis=0) == 0.0
    assert not found.support_[constant].any()
    assert str(found.summary())
    assert found.explain()


def test_in_a_pipeline_and_a_grid_search():
    data = simulate(100, 15, 4, snr=10.0, random_state=0)
    pipe = make_pipeline(
        StandardScaler(),
        StabilitySelection(n_resamples=10, threshold=0.5, random_state=0),
        LinearRegression(),
    )
    grid = {"stabilityselection__lam": [0.05, 0.2], "stabilityselection__resample_rate": [1.0, 2.0]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        search = GridSearchCV(pipe, grid, cv=3).fit(data.X, data.y)
    assert search.best_score_ > 0.7
    assert search.best_estimator_[1].support_[data.support].all()


def test_duplicated_names_are_refused_by_name():
    data = simulate(50, 3, 1, snr=10.0, random_state=0)
    table = pandas.DataFrame(data.X, columns=["a", "b", "a"])
    with pytest.raises(ValueError, match="a"):
        LassoSelection(0.1).fit(table, data.y).summary()


def test_sparse_tables_are_taken_as_they_are():
    from scipy.sparse import csr_array

    data = simulate(50, 3, 1, snr=10.0, random_state=0)
    X = np.where(np.abs(data.X) > 1.0, data.X, 0.0)
    sparse = LassoSelection(0.1).fit(csr_array(X), data.y)
    np.testing.assert_allclose(sparse.coef_, LassoSelection(0.1).fit(X, data.y).coef_, atol=1e-12)
