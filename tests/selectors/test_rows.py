"""What `fit` is told of the rows beside columns and response."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from selica import LassoSelection
from selica._core.errors import SelicaError

RNG = np.random.default_rng(0)
N = 60
X = RNG.standard_normal((N, 5))
SEX = np.array(["f", "m", "f"] * 20)
Y = X[:, 0] + 2.0 * (SEX == "m") + 0.3 * RNG.standard_normal(N)
UNITS = np.repeat(np.arange(20), 3)


def coefficients(**given):
    return LassoSelection(lam=0.1).fit(X, Y, **given).coef_


def test_a_category_to_keep_is_its_indicator():
    as_category = coefficients(keep=pd.DataFrame({"sex": pd.Categorical(SEX)}))
    np.testing.assert_allclose(as_category, coefficients(keep=SEX == "m"), atol=1e-12)
    assert np.abs(as_category - coefficients()).max() > 1e-3


def test_labels_of_any_type_are_the_same_units():
    first = coefficients(rows_of=UNITS)
    for labels in (UNITS.astype(str), UNITS.tolist(), pd.Series(UNITS).astype("category")):
        np.testing.assert_array_equal(coefficients(rows_of=labels), first)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"keep": ["age"]}, "keep must be columns of numbers or categories; selica.select takes"),
        ({"keep": X[:5]}, "keep must have one row for each of the 60 rows of X"),
        ({"keep": np.where(X > 2.0, np.nan, X)}, "keep must be finite, without missing values."),
        ({"keep": np.ma.masked_array(X, X > 1.0)}, "keep must be finite, without missing values."),
        ({"keep": RNG.standard_normal((N, N))}, "keep has 60 columns, which is too many for 60"),
        ({"rows_of": UNITS[:5]}, "rows_of must have one entry for each of the 60 rows."),
        ({"rows_of": np.zeros(N)}, "rows_of has 1 different value, and a selection needs"),
        ({"rows_of": [None, *UNITS[1:]]}, "rows_of must not have missing entries."),
        ({"strata": UNITS[:5]}, "strata must have one entry for each of the 60 rows."),
        ({"offset": np.zeros(N)}, "offset is for counts (response='count')"),
        ({"sample_weight": -np.ones(N)}, "sample_weight must be at least 0; got -1."),
        ({"missing": "mean"}, "missing must be None or 'impute'; got 'mean'."),
    ],
)
def test_what_cannot_be_is_one_sentence(given, sentence):
    with pytest.raises(SelicaError) as error:
        coefficients(**given)
    assert str(error.value).startswith(sentence)
