"""Tables of every make hold the same numbers."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from selica._core.errors import ArgumentError
from selica.tables import Columns, as_columns

X = np.array([[1.0, 0.0], [0.0, 2.5], [3.0, 0.0]])
NAMES = ["a", "b"]
FRAME = pd.DataFrame(X, columns=NAMES)

FORMS = {
    "dictionary": {"a": X[:, 0], "b": X[:, 1].tolist()},
    "pandas": FRAME,
    "pandas, nullable": FRAME.convert_dtypes(),
    "pandas, arrow": FRAME.convert_dtypes(dtype_backend="pyarrow"),
    "pandas, sparse": FRAME.astype(pd.SparseDtype("float", 0.0)),
    "pandas, single precision": FRAME.astype("float32"),
    "pandas, text": FRAME.astype(str),
    "polars": pl.DataFrame(dict(FRAME)),
    "polars, lazy": pl.DataFrame(dict(FRAME)).lazy(),
    "pyarrow": pa.table(dict(FRAME)),
    "a batch of pyarrow": pa.RecordBatch.from_pandas(FRAME),
    "structured": np.array(list(map(tuple, X)), dtype=[("a", float), ("b", float)]),
    "AnnData": SimpleNamespace(X=X, obs=pd.DataFrame(index=range(3)), var_names=pd.Index(NAMES)),
    "sparse AnnData": SimpleNamespace(
        X=sparse.csr_array(X[:, 1:]), obs=FRAME[["a"]], var_names=pd.Index(["b"])
    ),
    "columns": Columns(("a", "b"), (X[:, 0], X[:, 1])),
}


@pytest.mark.parametrize("form", FORMS)
def test_tables_with_names(form):
    found = as_columns(FORMS[form])
    assert found.names == ("a", "b")
    np.testing.assert_array_equal(np.column_stack(found.values), X)


ARRAYS = {
    "floats": X,
    "list": X.tolist(),
    "Fortran": np.asfortranarray(X),
    "masked": np.ma.masked_array(X, mask=False),
    "objects": X.astype(object),
    **{kind: getattr(sparse, f"{kind}_array")(X) for kind in ("csr", "csc", "coo", "dok", "lil")},
    "matrix": sparse.csr_matrix(X),
}


@pytest.mark.parametrize("form", ARRAYS)
def test_arrays_have_names_made_up(form):
    found = as_columns(ARRAYS[form])
    assert found.names == ("x0", "x1")
    np.testing.assert_array_equal(np.column_stack(found.values), X)


def test_what_is_missing_is_nan_or_none():
    masked = as_columns(np.ma.masked_array(X, mask=X == 0.0))
    np.testing.assert_array_equal(np.isnan(np.column_stack(masked.values)), X == 0.0)
    frame = pd.DataFrame({"i": pd.array([1, None], "Int64"), "t": pd.array(["u", None], "string")})
    number, text = as_columns(frame).values
    assert np.isnan(number[1])
    assert text.tolist() == ["u", None]
    assert as_columns(pl.DataFrame({"t": ["u", None]})).values[0].tolist() == ["u", None]


@pytest.mark.parametrize(
    "values",
    [
        np.array([True, False]),
        pd.Series([True, False]),
        pd.Series([True, None], dtype="boolean"),
        pl.Series([True, False]),
        pa.array([True, None]),
        [True, False],
        ["TRUE", "FALSE"],
    ],
)
def test_truth_values_are_known(values):
    found = as_columns({"a": values})
    assert found.truths == {"a"}
    assert found.values[0][0] == 1.0


def test_categories_and_their_order():
    frame = pd.DataFrame({"c": pd.Categorical(["u", "w"], ["w", "u"], ordered=True)})
    found = as_columns(frame)
    assert (found.kinds, found.orders) == ({"c": "category"}, {"c": ("w", "u")})
    enum = pl.DataFrame({"c": pl.Series(["u", "w"], dtype=pl.Enum(["w", "u"]))})
    assert as_columns(enum).kinds == {"c": "category"}


def test_dates_are_declared():
    days = pd.DataFrame({"d": pd.to_datetime(["2020-01-02", "2020-01-03"])})
    assert as_columns(days).kinds == {"d": "date"}


def test_names_of_several_levels_are_joined():
    frame = pd.DataFrame(X, columns=pd.MultiIndex.from_tuples([("a", 1), ("a", 2)]))
    assert as_columns(frame).names == ("a 1", "a 2")


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        (None, "table must be a path, a data frame"),
        (b"a,b", "table must be a path, a data frame"),
        (np.zeros(3), "table must have two dimensions; got shape (3,)."),
        (np.zeros((2, 2, 2)), "table must have two dimensions"),
        (np.zeros((0, 2)), "table: there are no rows."),
        (np.zeros((2, 0)), "table: there are no columns."),
        ({}, "table: there are no columns."),
        (X + 1j, "table must hold real numbers; these are complex."),
        ([[1, 2], [3]], "table must be a path"),
        ({"a": [1, 2], "b": [1]}, "table: columns must have one length; 'a' has 2, 'b' has 1."),
        ({"a": 3}, "table: columns must be vectors; 'a' is none."),
        ({"a": X}, "table: columns must be vectors; 'a' is none."),
        (pd.DataFrame(X, columns=["a", "a"]), "table: column names must differ"),
        (pl.DataFrame({"a\x07": [1]}), "table: names of columns must be letters"),
        ("no such file.csv", "no such file.csv: No such file or directory."),
    ],
)
def test_what_is_no_table_is_one_sentence(table, sentence):
    with pytest.raises(ArgumentError) as error:
        as_columns(table)
    assert str(error.value).startswith(sentence)


def test_a_table_is_not_changed():
    frame = FRAME.assign(c=["u", "v", "u"])
    before = frame.copy()
    as_columns(frame)
    pd.testing.assert_frame_equal(frame, before)
