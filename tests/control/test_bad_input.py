"""Whatever is passed, a function answers or names the argument that is wrong."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from selica import control
from selica._core.errors import ArgumentError

W = [3.0, -1.0, 2.0, 0.0]
GOOD = {
    "stability_bound": {"p": 20, "q": 2, "cutoff": 0.7, "n_pairs": 5, "assumption": "none"},
    "supported_bound": {"p": 20, "q": 2, "cutoff": 0.7, "n_pairs": 5, "assumption": "none"},
    "stability_parameters": {"p": 20, "q": 2, "pfer": 0.7, "n_pairs": 5, "assumption": "none"},
    "knockoff_threshold": {"W": W, "fdr": 0.2, "offset": 1},
    "knockoff_evalues": {"W": W, "fdr": 0.2, "offset": 1, "early_stopping": True},
    "averaged_level": {"fdr": 0.2, "copy_fdr": 0.1, "n_copies": 9},
    "ebh": {"evalues": [1.0, 2.0], "fdr": 0.2},
    "first_negatives_filter": {"W": W, "v": 1},
    "kfwer_parameters": {"k": 2, "level": 0.1},
    "knockoff_pvalues": {"W": W},
    "joint_wins": {"importances": [[1.0, 2.0], [0.0, 3.0]]},
    "joint_threshold": {"winner": [0, 1], "lead": [1.0, 2.0], "n_joint": 2, "fdr": 0.2},
    "joint_selection": {"winner": [0, 1], "lead": [1.0, 2.0], "n_joint": 2, "fdr": 0.2},
    "joint_qvalues": {"winner": [0, 1], "lead": [1.0, 2.0], "n_joint": 2},
    "benjamini_hochberg": {"pvalues": [0.1, 0.2], "fdr": 0.2},
    "benjamini_yekutieli": {"pvalues": [0.1, 0.2], "fdr": 0.2},
    "quantile_aggregation": {"pvalues": [[0.1, 0.2]], "gamma": 0.5, "adaptive": False},
    "frequency_bound": {"n_copies": 9, "eta": 0.5, "assumption": "none"},
    "mirror_threshold": {"M": W, "fdr": 0.2, "offset": 1},
    "inclusion_rate_cutoff": {"rates": [0.5, 0.5], "fdr": 0.2},
    "posthoc_evalues": {"W": W, "fdr": 0.2, "joint_copies": 2},
    "posthoc_selection": {"evalues": [1.0, 2.0], "fdr": 0.2},
    "posthoc_level": {"evalues": [1.0, 2.0], "chosen": [True, False]},
    "sign_boundary": {"level": 0.1, "nonzero": 20},
    "false_bound": {"W": W, "chosen": [True] * 4, "boundary": control.sign_boundary(0.1, 3)},
    "prefix_bounds": {"W": W, "boundary": control.sign_boundary(0.1, 3)},
    "rank_integral": {"p": 20, "n_pairs": 5, "order": 2, "limit": 0.1, "longest": 4},
    "penalty_integral": {
        "lams": [2.0, 1.0],
        "p": 20,
        "n_pairs": 5,
        "order": 1,
        "limit": 0.1,
        "exponent": 1.0,
        "q": [1.0, 2.0],
    },
    "integrated_scores": {"counts": [[10, 1]], "path": control.rank_integral(2, 5, limit=1.0)},
    "integrated_efp": {"scores": [0.1, 0.2], "path": control.rank_integral(2, 5, limit=1.0)},
    "chance_efp": {"scores": [0.1, 0.2], "drawn": [0.1, 0.2], "weight": [0.5, 0.5], "p": 2},
    "efp_qvalues": {"efp": [0.1, 0.2]},
    "stability_index": {"selections": [[1, 0], [0, 1]], "pairs": False},
    "members_needed": {"distances": [1.0, 3.0], "members": 9, "half_width": 0.1},
    "share_distances": {"shares": [0.1, 0.9], "threshold": 0.5, "members": 9},
    "fdp": {"selected": [0, 1], "truth": [1]},
    "tpp": {"selected": [0, 1], "truth": [1]},
}
ARGUMENTS = [(function, name) for function, good in GOOD.items() for name in good]

NO_VECTOR = [
    10**400,
    None,
    1.0,
    "abc",
    [],
    [[1.0]],
    [1.0, np.nan],
    [np.inf],
    [1, "a"],
    [True],
    [1j],
    [[1], 2],
]
NO_LEVEL = [None, 0.0, 1.0, -0.1, 1.5, np.nan, np.inf, "0.1", [0.1], True, 0.1j]
NO_COUNT = [None, -1, 1.0, 2.5, np.nan, "3", [3], True, np.True_, 10**13, 10**400]
NO_WORD = [None, 3, "", "None", ["none"]]
WRONG = {
    "W": NO_VECTOR,
    "M": NO_VECTOR,
    "evalues": [*NO_VECTOR, [-0.1, 2.0]],
    "rates": [*NO_VECTOR, [-0.1], [1.1]],
    "fdr": NO_LEVEL,
    "level": NO_LEVEL,
    "copy_fdr": NO_LEVEL,
    "offset": [*NO_COUNT, 2],
    "early_stopping": [None, 0, 1, "yes"],
    "adaptive": [None, 0, 1, "yes"],
    "v": NO_COUNT,
    "k": [*NO_COUNT, 0],
    "p": [*NO_COUNT, 0, 1],
    "n_pairs": [*NO_COUNT, 0],
    "n_copies": [*NO_COUNT, 0],
    "q": [0, -1, 20, 21, np.nan, np.inf, "2", [2], True],
    "pfer": [0, -1.0, np.nan, np.inf, "2", [2], True],
    "cutoff": [0.0, -0.5, 1.01, np.nan, "1", [0.7], True],
    "eta": [None, 0.0, -0.5, 1.01, np.nan, "1", [0.7], True],
    "gamma": [None, 0.0, -0.5, 1.01, np.nan, "1", [0.7], True],
    "importances": [None, 1.0, [1.0], [], [[]], [[1.0]], [[1.0], [np.nan]], [[1.0], [-1.0]], "ab"],
    "winner": [*NO_VECTOR, [0, 3], [-1, 0], [0.0, 1.0], [0, 1, 1]],
    "lead": [*NO_VECTOR, [-0.1, 2.0]],
    "n_joint": [*NO_COUNT, 0],
    "assumption": NO_WORD,
    "nonzero": NO_COUNT,
    "joint_copies": [*NO_COUNT, 0],
    "chosen": [None, "ab", [0.5], [[0]], [1, 1], [True], [[True, False]], [[True], True]],
    "boundary": [None, 3, "linear", [1, 2], (1, 2, 3)],
    "order": [*NO_COUNT, 0, 3],
    "limit": [None, 0.0, -1.0, np.nan, np.inf, "1", [0.7], True],
    "longest": [-1, 0, 1.0, np.nan, "3", [3], True],
    "lams": [*NO_VECTOR, [1.0], [1.0, 2.0], [1.0, 1.0], [1.0, 0.0]],
    "exponent": [None, np.nan, np.inf, "1", [0.7], True],
    "counts": [None, 1.0, "ab", [1.0], [], [[]], [[np.nan, 1.0]], [[-1.0, 1.0]], [[11.0, 1.0]]],
    "path": [None, 3, "ranks", [1, 2]],
    "scores": [*NO_VECTOR, [-0.1]],
    "drawn": [*NO_VECTOR, [-0.1, 0.2]],
    "weight": [*NO_VECTOR, [-0.1, 0.2], [0.1]],
    "efp": [*NO_VECTOR, [-0.1]],
    "selections": [None, 1, "ab", [1, 0], [[1, 0]], [[1], [2]], [[1], [1, 0]], [[np.nan], [1]]],
    "pairs": [None, 0, 1, "yes"],
    "distances": [None, 1.0, "ab", [], [[1.0]], [np.nan], [-1.0], [1, "a"], [True], [1j]],
    "members": [*NO_COUNT, 0],
    "half_width": [None, -0.1, np.inf, "1", [0.1], True],
    "shares": [None, "ab", [], [np.nan], [-0.1], [1.1], [1, "a"], [True], [1j]],
    "threshold": [None, np.nan, np.inf, "1", [0.7], True],
    "selected": [None, "ab", [0.5], [[0]], [1, 1], [-1]],
    "truth": [None, "ab", [0.5], [[0]], [1, 1], [-1]],
}
BAD = [
    pytest.param(function, name, value, id=f"{function}-{name}-{value!r}")
    for function, name in ARGUMENTS
    for value in WRONG.get(name, [])
] + [
    pytest.param(function, "pvalues", value, id=f"{function}-pvalues-{value!r}")
    for function in ("benjamini_hochberg", "benjamini_yekutieli")
    for value in [*NO_VECTOR, [-0.1], [1.1]]
]
BAD += [
    pytest.param("quantile_aggregation", "pvalues", value, id=f"quantile-pvalues-{value!r}")
    for value in [
        None,
        "a",
        [],
        [0.1],
        [[]],
        [[[0.1]]],
        [[0.1], [0.1, 0.2]],
        [[1.1]],
        [[-0.1]],
        [[np.nan]],
    ]
]


def message(function, **change):
    with pytest.raises(ArgumentError) as error:
        getattr(control, function)(**(GOOD[function] | change))
    return str(error.value)


@pytest.mark.parametrize(("function", "name", "value"), BAD)
def test_bad_input(function, name, value):
    text = message(function, **{name: value})
    assert text.startswith(name)
    assert text.endswith(".")
    assert "\n" not in text


def test_every_argument_has_a_bad_value():
    assert {name for _, name in ARGUMENTS} <= {*WRONG, "pvalues"}
    assert {*GOOD} == {name for name in control.__all__ if name[0].islower()}


@pytest.mark.parametrize(("function", "name"), [a for a in ARGUMENTS if a[1] != "assumption"])
def test_long_input_gives_a_short_message(function, name):
    text = message(function, **{name: np.array([["text"] * 40] * 40)})
    assert len(text) < 200
    assert "\n" not in text


anything = st.one_of(
    st.none(),
    st.booleans(),
    st.text(max_size=3),
    st.floats(),
    st.floats(0, 1),
    st.integers(-3, 40),
    st.sampled_from(["none", "unimodal", "r-concave", "monotone"]),
    st.lists(st.none() | st.integers(-2, 5) | st.floats(), max_size=5),
    st.lists(st.floats(0, 1), min_size=1, max_size=5),
    st.lists(st.booleans(), max_size=3),
    st.lists(st.lists(st.floats(0, 1), min_size=2, max_size=2), max_size=3),
)


@given(st.sampled_from(ARGUMENTS), anything)
@settings(max_examples=400, deadline=None)
def test_whatever_is_passed_it_works_or_says_what_is_wrong(argument, value):
    function, name = argument
    try:
        answer = getattr(control, function)(**(GOOD[function] | {name: value}))
    except ArgumentError as error:
        text = str(error)
    else:
        numbers = answer.to_dict().values() if hasattr(answer, "to_dict") else [answer]
        for each in numbers:
            assert isinstance(each, str) or not np.any(np.isnan(each))
        return
    assert name in text
    assert "\n" not in text


@pytest.mark.parametrize("function", ["knockoff_threshold", "ebh", "benjamini_hochberg"])
def test_what_is_given_is_not_changed(function):
    name = next(iter(GOOD[function]))
    given_array = np.array([0.9, 0.1, 0.5, 0.2])
    kept = given_array.copy()
    getattr(control, function)(**(GOOD[function] | {name: given_array}))
    np.testing.assert_array_equal(given_array, kept)


@pytest.mark.parametrize("assumption", ["none", "unimodal", "r-concave"])
def test_extreme_but_lawful_numbers(assumption):
    tiny = control.stability_bound(10**12, 1e-300, 0.6, assumption=assumption)
    assert 0.0 <= tiny < 1e-100
    large = control.stability_bound(10**12, 1e11, 0.9, assumption=assumption)
    assert 0.0 < large < 10**12
    assert control.stability_parameters(
        10**12, cutoff=0.9, pfer=1.0, assumption=assumption
    ).feasible
    # P(NB(k, 1/2) >= k) = 1/2; SciPy 1.13 to 1.15 is 1e-5 above it at 10^12, exact up to 10^6
    assert control.kfwer_parameters(10**6, 0.5).v == 10**6
    assert 10**12 - 100 <= control.kfwer_parameters(10**12, 0.5).v <= 10**12
    assert control.kfwer_parameters(5000, 1e-300).probability < 1.0
    assert control.knockoff_threshold([5e-324, -1e308, 1e308], 0.5) == np.inf


def test_numpy_scalars_and_integer_arrays_are_welcome():
    assert control.knockoff_threshold(np.array([1, 2, 3], dtype=np.int8), np.float32(0.5)) == 1.0
    assert control.stability_bound(np.int64(100), np.int32(4), np.float64(0.6)) == pytest.approx(
        0.8
    )
    assert control.first_negatives_filter([1, -2], np.int64(1)).tolist() == [False, False]
