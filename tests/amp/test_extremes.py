"""Bad or extreme input: one clear sentence, or an answer with a status; never a NaN or a hang."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from selica._core.errors import ArgumentError
from selica.amp import knockoff_amp, stability_amp

RNG = np.random.default_rng(0)
X, Y = RNG.standard_normal((20, 8)), RNG.standard_normal(20)


@pytest.mark.parametrize("function", [stability_amp, knockoff_amp])
@pytest.mark.parametrize(
    ("arguments", "words"),
    [((X, Y, 0.0), "lam"), ((X, Y, -1.0), "lam"), ((X, Y, np.nan), "lam"),
     ((X, Y, [[1.0]]), "lam"), ((X, Y, []), "lam"), ((X, Y[:5], 1.0), "y must have one entry"),
     ((X[0], Y, 1.0), "X must"), ((np.full((20, 8), np.nan), Y, 1.0), "X must be finite"),
     ((X, np.full(20, np.inf), 1.0), "y must be finite"), (([["a"]], Y, 1.0), "X must"),
     ((X * 1e200, Y, 1.0), "X: values beyond"), ((X[:0], Y[:0], 1.0), "X must")],
)  # fmt: skip
def test_one_sentence_names_the_argument(function, arguments, words):
    with pytest.raises(ArgumentError, match=words):
        function(*arguments)


@pytest.mark.parametrize(
    ("setting", "words"),
    [({"resample_rate": 0.0}, "resample_rate"), ({"resample_rate": [1.0, 2.0]}, "one number"),
     ({"resample_rate": 1.5, "resampling": "bernoulli"}, "resample_rate"),
     ({"resampling": "jackknife"}, "resampling"), ({"weakness": 0.0}, "weakness"),
     ({"variances": "some"}, "variances"), ({"tol": 0.0}, "tol"), ({"max_iter": 0}, "max_iter"),
     ({"max_iter": 2.5}, "max_iter")],
)  # fmt: skip
def test_settings_of_the_ensemble(setting, words):
    with pytest.raises(ArgumentError, match=words):
        stability_amp(X, Y, 1.0, **setting)


def test_settings_of_the_copies():
    for setting, words in (
        ({"w_threshold": [0.0, 1.0]}, "w_threshold must be one number"),
        ({"w_threshold": np.nan}, "w_threshold"),
        ({"scale": [1.0, 2.0]}, "scale"),
        ({"scale": -1.0}, "scale"),
    ):
        with pytest.raises(ArgumentError, match=words):
            knockoff_amp(X, Y, 1.0, **setting)


def sound(found):
    for name in ("selection_probabilities", "coef", "coef_variance", "field", "noise", "p_values"):
        assert np.isfinite(getattr(found, name)).all(), name
    P = found.selection_probabilities
    assert np.all((P >= 0.0) & (P <= 1.0 + 1e-12))
    assert np.all(found.coef_variance >= 0.0)
    assert set(np.atleast_1d(found.status)) <= {"converged", "max_iter", "nonfinite"}


@settings(max_examples=80, deadline=None)
@given(
    st.integers(1, 12), st.integers(1, 12), st.integers(0, 10_000),
    st.sampled_from([1e-40, 1e-6, 1.0, 1e8]), st.sampled_from([1e-30, 1.0, 1e10]),
    st.sampled_from([1e-10, 1e-3, 0.3, 10.0, 1e10]), st.sampled_from([0.01, 0.5, 1.0, 3.0, 200.0]),
    st.sampled_from(["plain", "zero column", "duplicates", "constant", "zero response"]),
    st.sampled_from(["vector", "scalar"]),
)  # fmt: skip
def test_any_table_ends_with_a_status(n, p, seed, size, y_size, lam, rate, kind, variances):
    rng = np.random.default_rng(seed)
    table, y = size * rng.standard_normal((n, p)), y_size * rng.standard_normal(n)
    if kind == "zero column":
        table[:, 0] = 0.0
    elif kind == "duplicates":
        table[:] = table[:, :1]
    elif kind == "constant":
        table[:] = size
    elif kind == "zero response":
        y[:] = 0.0
    pull = np.abs(table.T @ y).max()
    lam = max(lam * (pull if pull > 0.0 else 1.0), 1e-12)
    for found in (
        stability_amp(table, y, lam, rate, variances=variances, max_iter=60),
        knockoff_amp(table, y, lam, variances=variances, max_iter=60),
    ):
        sound(found)
        assert found.iterations <= 60


def test_a_penalty_above_all_selects_nothing():
    top = np.abs(X.T @ Y).max()
    found = stability_amp(X, Y, 100.0 * top)
    assert found.status == "converged"
    assert found.selection_probabilities.max() < 1e-12
    assert not found.coef.any()


def test_divergence_is_noticed_within_the_limit():
    """Nearly equal columns, which message passing is not for."""
    table = X[:, :1] + 0.01 * X
    found = stability_amp(table, Y, 0.01, max_iter=300)
    assert found.status in ("max_iter", "nonfinite")
    sound(found)
