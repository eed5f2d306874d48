"""Tables of every make, given to `fit`."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from selica import LassoSelection
from selica._core.errors import ArgumentError

RNG = np.random.default_rng(0)
X = np.where(RNG.random((80, 5)) < 0.3, 0.0, RNG.standard_normal((80, 5)))
Y = X[:, 0] - X[:, 1] + 0.3 * RNG.standard_normal(80)
FRAME = pd.DataFrame(X, columns=[f"g{j}" for j in range(5)])
SEX = np.where(np.arange(80) % 3 == 0, "m", "f")
WITH_SEX = FRAME.assign(sex=pd.Categorical(SEX))


def fit(table, **settings):
    return LassoSelection(lam=0.3).fit(table, Y, **settings)


FORMS = {
    "pandas": FRAME,
    "pandas, nullable": FRAME.convert_dtypes(),
    "pandas, sparse": FRAME.astype(pd.SparseDtype("float", 0.0)),
    "polars": pl.DataFrame(dict(FRAME)),
    "polars, lazy": pl.DataFrame(dict(FRAME)).lazy(),
    "pyarrow": pa.table(dict(FRAME)),
    "a batch of pyarrow": pa.RecordBatch.from_pandas(FRAME),
    "masked": np.ma.masked_array(X, mask=False),
    "objects": X.astype(object),
    "csr": sparse.csr_array(X),
    "dok": sparse.dok_array(X),
    "list": X.tolist(),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_the_same_table(form):
    found = fit(FORMS[form])
    np.testing.assert_allclose(found.coef_, fit(X).coef_, atol=1e-12)
    assert found.get_support().tolist() == [True, True, False, False, False]


@pytest.mark.parametrize("form", [form for form in FORMS if form not in ("list", "objects")])
def test_what_was_fitted_can_be_transformed(form):
    found = fit(FORMS[form]).transform(FORMS[form])
    found = found.toarray() if sparse.issparse(found) else np.asarray(found, dtype=float)
    np.testing.assert_array_equal(found, X[:, :2])


def test_a_category_is_one_variable():
    for table in (WITH_SEX, pl.DataFrame(dict(FRAME)).with_columns(
        pl.Series("sex", SEX, dtype=pl.Categorical)
    )):  # fmt: skip
        y = Y + 2.0 * (SEX == "m")
        found = LassoSelection(lam=0.3).fit(table, y)
        assert list(found.get_feature_names_out()) == ["g0", "g1", "sex"]
        rows = {row["variable"]: row["direction"] for row in found.summary().variables}
        assert rows["sex"] == "m > f"
        assert (
            'its levels from high to low, such as "a > b"'
            in found.summary().explanations["direction"]
        )


@pytest.mark.parametrize("sign", [2.0, -2.0])
def test_the_effect_of_two_levels_has_the_sign_of_its_direction(sign):
    found = LassoSelection(lam=0.3).fit(WITH_SEX, Y + sign * (SEX == "m"))
    summary = found.summary()
    row = next(row for row in summary.variables if row["variable"] == "sex")
    assert row["direction"] == ("m > f" if sign > 0.0 else "f > m")
    assert row["effect per unit"] == pytest.approx(2.0, abs=0.5)
    assert row["effect per SD"] > 0.0
    assert "the largest difference between two levels" in summary.explanations["effect"]


GAPS = np.where(X > 1.8, np.nan, X)


def test_missing_values_are_named_or_estimated():
    masked = np.ma.masked_array(X, mask=X > 1.8)
    nullable = pd.DataFrame(GAPS).add_prefix("g").convert_dtypes()
    cells = int(np.isnan(GAPS).sum())
    for table in (GAPS, masked, nullable):
        with pytest.raises(ArgumentError) as error:
            fit(table)
        assert str(error.value).startswith(f"X: {cells} values are missing (NaN), in ")
        assert "missing='impute'" in str(error.value)
    first = fit(GAPS, missing="impute")
    np.testing.assert_allclose(fit(masked, missing="impute").coef_, first.coef_, atol=1e-12)
    np.testing.assert_array_equal(first.transform(GAPS), GAPS[:, :2])
    with pytest.raises(ValueError, match="NaN"):
        fit(X).transform(GAPS)  # nobody said what to do with missing values
    infinite = np.where(X > 1.8, np.inf, X)
    with pytest.raises(ArgumentError, match=rf"X: {cells} values are infinite \(inf\), in 'x"):
        fit(infinite, missing="impute")


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        ("table.csv", "X must be a data frame, an array or a sparse matrix of numbers"),
        (dict(FRAME), "X must be a data frame"),
        (SimpleNamespace(X=X, obs=FRAME, var_names=["a"]), "X must be a data frame"),
        (np.array([(1.0, 2.0)], dtype=[("a", float), ("b", float)]), "X must be a data frame"),
        (
            pd.DataFrame(X, columns=list("aabbc")),
            "X: column names must differ; more than once: 'a'",
        ),
        (FRAME.assign(sex=SEX), "X: text and dates are not numbers, in column 'sex'"),
        (WITH_SEX.assign(site=SEX), "X: text and dates are not numbers, in column 'site'"),
        (
            pa.table(dict(FRAME) | {"sex": SEX}),
            "X: text and dates are not numbers, in column 'sex'",
        ),
        (FRAME.assign(day=pd.date_range("2020", periods=80)), "X: text and dates are not numbers"),
    ],
)
def test_other_tables_are_refused_in_a_sentence(table, sentence):
    with pytest.raises(ArgumentError) as error:
        fit(table)
    assert str(error.value).startswith(sentence)


def test_dates_are_no_response():
    with pytest.raises(ArgumentError, match="y holds dates; it must be numbers or classes"):
        LassoSelection().fit(X, pd.Series(pd.date_range("2020", periods=80)))


def test_near_duplicates_are_listed_beside_the_selected_column():
    twin = X[:, 0].copy()
    twin[3] += 0.2
    table = pd.DataFrame(np.column_stack([X, twin, -2.0 * X[:, 0]]))
    table.columns = [*FRAME.columns, "near", "same"]
    found = LassoSelection(lam=0.3).fit(table, Y)
    (chosen,) = found.duplicates_
    assert {chosen, *found.duplicates_[chosen]} == {"g0", "same"}
    assert found.near_duplicates_ == {chosen: ("near",)}
    row = next(row for row in found.summary().variables if row["variable"] == chosen)
    assert row["nearly identical to"] == "near"
