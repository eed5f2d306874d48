"""Checks of arguments: what passes, and that what does not is named."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from selica import errors
from selica._core.errors import (
    ArgumentError,
    BoundaryWarning,
    ColumnError,
    ConvergenceWarning,
    SelicaError,
)
from selica._core.validation import (
    broadcast,
    choice,
    exactly_one,
    flag,
    number,
    positive,
    real,
    single,
)


@pytest.mark.parametrize(
    "value", [1, 2.5, np.float32(0.5), np.int8(3), [1, 2.5], (4,), np.arange(3), np.ones((2, 2))]
)
def test_numbers_pass_as_floats(value):
    got = real("x", value)
    assert got.dtype == np.float64
    np.testing.assert_array_equal(got, value)


def test_the_array_given_is_not_shared():
    given = np.array([1.0, 2.0])
    assert not np.shares_memory(real("x", given), given)


NOT_NUMBERS = {
    "digits": "3",
    "empty text": "",
    "bytes": b"1",
    "none": None,
    "true": True,
    "false": False,
    "numpy truth": np.True_,
    "truths": [True, False],
    "complex": 1j,
    "with a hole": [1, None],
    "texts": ["a"],
    "dictionary": {"a": 1},
    "too large": 10**400,
    "ragged": [[1.0], [1.0, 2.0]],
    "object": object(),
}


@pytest.mark.parametrize("value", NOT_NUMBERS.values(), ids=NOT_NUMBERS.keys())
def test_what_is_not_a_number_is_named(value):
    with pytest.raises(ArgumentError, match=r"^width must be a number or an array of numbers; got"):
        real("width", value)


@pytest.mark.parametrize("value", [[], np.zeros((0, 3))], ids=str)
def test_nothing_is_named(value):
    with pytest.raises(ArgumentError, match=r"^width must not be empty"):
        real("width", value)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, [1.0, np.nan]], ids=str)
def test_what_is_not_finite_is_named(value):
    with pytest.raises(ArgumentError, match=r"^width must be finite; got (nan|inf|-inf)\.$"):
        real("width", value)


@pytest.mark.parametrize(
    ("limits", "good", "bad", "said"),
    [
        ({"at_least": 1.0}, [1.0, 9.0], 0.999, "at least 1; got 0.999"),
        ({"at_most": 10000.0}, [-5.0, 10000.0], 20000.0, "at most 10000; got 20000"),
        ({"at_least": 0.0, "at_most": 1.0}, [0.0, 1.0], 1.5, "between 0 and 1; got 1.5"),
        ({"at_least": 0.0, "at_most": 1.0}, [0.5], -0.5, "between 0 and 1; got -0.5"),
        ({"at_least": 0.0, "at_most": 1.0}, [0.3], [0.5, 7.0], "between 0 and 1; got 7"),
    ],
)
def test_ranges_contain_their_ends(limits, good, bad, said):
    np.testing.assert_array_equal(real("x", good, **limits), good)
    with pytest.raises(ArgumentError) as error:
        real("rate", bad, **limits)
    assert str(error.value) == f"rate must be {said}."


@pytest.mark.parametrize(("bad", "meant"), [(80, "0.8"), (5.0, "0.05"), (1.5, None), (100, None)])
def test_a_share_in_per_cent_gets_a_hint(bad, meant):
    hint = "" if meant is None else f" (did you mean {meant}?)"
    with pytest.raises(ArgumentError) as error:
        number("power", bad, at_least=0.01, at_most=0.999)
    assert str(error.value) == f"power must be between 0.01 and 0.999; got {bad:g}{hint}."
    with pytest.raises(ArgumentError, match=r"at least 90; got 80\.$"):
        number("power", 80, at_least=90.0)


def test_positive_numbers_of_a_size_that_can_be_squared():
    np.testing.assert_array_equal(positive("x", [1e-9, 1, 1e9]), [1e-9, 1, 1e9])
    assert positive("share", 1.0, at_most=1.0) == 1.0
    for bad in (0.0, -1.0, 1e-200, 1e200, [1.0, 0.0]):
        with pytest.raises(ArgumentError, match=r"^width must be .*; got"):
            positive("width", bad)
    with pytest.raises(ArgumentError, match=r"^share must be .* and 1; got 1\.5"):
        positive("share", 1.5, at_most=1.0)


def test_argument_errors_are_value_errors():
    assert issubclass(ArgumentError, ValueError)
    assert issubclass(BoundaryWarning, UserWarning)
    assert issubclass(ConvergenceWarning, UserWarning)


def test_broadcast_gives_the_common_shape():
    a, b = broadcast(a=np.zeros((3, 1)), b=np.arange(2.0))
    assert a.shape == b.shape == (3, 2)
    np.testing.assert_array_equal(b[2], [0.0, 1.0])


def test_shapes_that_do_not_fit_are_named():
    with pytest.raises(ArgumentError) as error:
        broadcast(alpha=np.zeros(3), rho=np.zeros(()), lam=np.zeros((2, 4)))
    message = str(error.value)
    assert "alpha (3,)" in message
    assert "lam (2, 4)" in message
    assert "rho" not in message  # a scalar always fits


def test_choice():
    assert choice("method", "lasso", ("lasso", "ridge")) == "lasso"
    for bad in ("Lasso", "", None, 3, ["lasso"]):
        with pytest.raises(ArgumentError, match=r"^method must be one of 'lasso', 'ridge'; got"):
            choice("method", bad, ("lasso", "ridge"))


def test_an_error_about_a_column_takes_its_name_and_travels():
    error = pickle.loads(pickle.dumps(ColumnError("X must vary; {column} does not.", 3)))
    assert str(error) == "X must vary; column 3 does not."
    assert str(error.named("{age}")) == "X must vary; {age} does not."


def test_single_is_one_number_and_not_several():
    assert single("lam", np.array(0.5)) == 0.5
    assert type(single("lam", np.array(0.5))) is float
    for bad in (np.ones(1), np.ones((2, 3))):
        with pytest.raises(ArgumentError, match=r"^lam must be one number; got shape"):
            single("lam", bad)


def test_exactly_one_of_several():
    assert exactly_one(r2=None, snr=4.0, noise_variance=None) == ("snr", 4.0)
    assert exactly_one(r2=0.0, snr=None) == ("r2", 0.0)  # zero is given
    text = "Give exactly one of r2, snr and noise_variance; got "
    for given, got in (({}, "none of them"), ({"r2": 0.5, "snr": 1.0}, "r2 and snr")):
        with pytest.raises(ArgumentError) as error:
            exactly_one(**({"r2": None, "snr": None, "noise_variance": None} | given))
        assert str(error.value) == f"{text}{got}."


def test_a_flag_is_true_or_false_and_no_number():
    assert flag("adaptive", True) is True
    assert flag("adaptive", np.bool_(False)) is False
    for bad in (0, 1, "yes", None, np.array([True])):
        with pytest.raises(ArgumentError, match=r"^adaptive must be True or False; got"):
            flag("adaptive", bad)


def test_errors_have_one_base_and_a_public_home():
    assert errors.SelicaError is SelicaError
    assert issubclass(SelicaError, ValueError)
    kinds = (errors.ArgumentError, errors.RefusedError, errors.DoesNotApply)
    for kind in kinds:
        assert kind.__base__ is SelicaError
        assert str(kind("two\nlines")) == "two lines"
    assert issubclass(ColumnError, errors.RefusedError)
    assert isinstance(ColumnError("{column} is constant.", 2).named("age"), errors.RefusedError)
