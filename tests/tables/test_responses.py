"""The response of a table."""

from __future__ import annotations

import numpy as np
import pytest

from selica._core.errors import ArgumentError, RefusedError, SelicaError
from selica.tables import as_columns
from selica.tables.responses import RESPONSES, outcome
from selica.tables.roles import assign

N = 40
RNG = np.random.default_rng(0)
A = RNG.standard_normal(N)
TEXT = ["u", "v", "w", "u"] * 10
EVENT = [1, 0, 1, 1] * 10


def read(response="auto", /, table=None, **given):
    columns, roles = assign(as_columns(table or {"a": A, **given.pop("columns", {})}), given)
    return outcome(columns, roles, response)


@pytest.mark.parametrize(
    ("values", "response"),
    [
        (A, "auto"),
        ([0, 1] * 20, "binary"),
        ([1, 2] * 20, "binary"),
        ([-1.5, 7.0] * 20, "binary"),
        ([0, 1, 2, 5] * 10, "auto"),  # whole numbers are no counts unless asked
        (["case", "control"] * 20, "binary"),
        (np.array([True, False] * 20), "binary"),
        (TEXT, "classes"),
    ],
)
def test_a_response_is_inferred_only_where_it_is_clear(values, response):
    found = read(target="y", columns={"y": values})
    assert (found.response, found.target) == (response, "y")
    assert found.known.all()


def test_missing_responses_are_known_to_be():
    found = read(target="y", columns={"y": [None, *A[1:]]})
    assert found.known.tolist() == [False, *[True] * (N - 1)]
    found = read(target="y", columns={"y": [None, *TEXT[1:]]})
    assert found.y[1:].tolist() == TEXT[1:]
    assert not found.known[0]


def test_truth_values_keep_their_names():
    found = read(target="y", columns={"y": np.array([True, False] * 20)})
    assert set(found.y) == {"True", "False"}
    assert read("linear", target="y", columns={"y": np.array([True, False] * 20)}).y.dtype == float


@pytest.mark.parametrize(
    ("response", "values", "sentence"),
    [
        ("linear", TEXT, "target: 'y' is text ('u', 'v', 'w'), which response='linear' does not"),
        ("count", TEXT, "target: 'y' is text"),
        ("count", [-1, 2] * 20, "target: 'y' must hold whole numbers of zero or more"),
        ("count", [0.5, 2] * 20, "target: 'y' must hold whole numbers of zero or more"),
        ("binary", A, "target: 'y' has 40 different values; response='binary' takes two."),
        ("binary", TEXT, "target: 'y' has 3 different values"),
        ("classes", A, "target: 'y' is numbers with 40 different values"),
        ("ordinal", A, "target: 'y' has 40 different values, too many for response='ordinal'"),
        ("ordinal", TEXT, "target: the order of 'u', 'v', 'w' is not known"),
        ("auto", [None] * N, "target: 'y' has no value in any row."),
        ("auto", [2.0] * N, "target: 'y' is constant (2): there is nothing to explain."),
        ("auto", ["x"] * N, "target: 'y' is constant (x): there is nothing to explain."),
        ("auto", [f"n{i}" for i in range(N)], "target: 'y' is text with 40 different values"),
        ("auto", ["2020-01-02", "2020-02-03"] * 20, "target: 'y' holds dates"),
        ("survival", A, "Survival needs both: time, and event"),
        ("gaussian", A, "response must be one of 'auto', 'linear', 'binary'"),
    ],
)
def test_what_cannot_be_is_one_sentence(response, values, sentence):
    with pytest.raises(SelicaError) as error:
        read(response, target="y", columns={"y": values})
    assert str(error.value).startswith(sentence)


def test_a_response_has_to_be_named():
    with pytest.raises(
        ArgumentError, match="Name the column to explain: target, or time and event"
    ):
        read()
    assert "ordinal" in RESPONSES


def test_scores_go_by_the_order():
    found = read("ordinal", target="y", columns={"y": ["high", "low", "mid", "low"] * 10})
    assert found.y[:3].tolist() == [2.0, 0.0, 1.0]
    assert found.notes == (
        "The response 'y' is taken as scores in a linear model: 0 for low, 1 for mid, 2 for high.",
    )
    found = read("ordinal", target="y", columns={"y": [1, 5, None, 3] * 10})
    assert found.y[[0, 1, 3]].tolist() == [0.0, 2.0, 1.0]
    assert np.isnan(found.y[2])


@pytest.mark.parametrize(
    ("name", "values", "happened"),
    [
        ("status", [1, 0], [1, 0]),
        ("status", [1, 2], [0, 1]),
        ("status", ["dead", "alive"], [1, 0]),
        ("status", ["1:DECEASED", "0:LIVING"], [1, 0]),
        ("status", ["Censored", "Relapse"], [0, 1]),
        ("status", ["yes", "no"], [1, 0]),
        ("censored", ["yes", "no"], [0, 1]),
        ("censored", [1, 0], [0, 1]),
        ("status", np.array([True, False]), [1, 0]),
        ("status", ["free", "something"], [0, 1]),
    ],
)
def test_events_are_told_from_their_words(name, values, happened):
    events = np.tile(np.asarray(values), N // 2)
    found = read(time="t", event=name, columns={"t": np.arange(1.0, N + 1), name: events})
    assert found.y[:2, 1].tolist() == happened
    assert found.response == "survival"
    assert "means that the event happened" in found.notes[0]


@pytest.mark.parametrize(
    ("time", "events", "sentence"),
    [
        (np.arange(N) - 1.0, EVENT, "time: 't' must not be negative; got -1."),
        (TEXT, EVENT, "time: 't' is text; it must be numbers."),
        (np.arange(N), [0] * N, "event: 'e' has no event"),
        (np.arange(N), [0, 1, 2, 1] * 10, "event: 'e' has 3 different values"),
        (np.arange(N), ["A", "B"] * 20, "event: it cannot be told which value of 'e' ('A', 'B')"),
        ([None] * N, EVENT, "time and event: no row has both"),
    ],
)
def test_survival_that_cannot_be(time, events, sentence):
    with pytest.raises(SelicaError) as error:
        read(time="t", event="e", columns={"t": time, "e": events})
    assert str(error.value).startswith(sentence)


def test_survival_takes_no_other_target():
    columns = {"t": np.arange(N), "e": EVENT, "z": A**2}
    with pytest.raises(ArgumentError, match="target: 'z' is neither the time nor the event"):
        read(target="z", time="t", event="e", columns=columns)
    with pytest.raises(ArgumentError, match="response: 'count' does not go with time and event"):
        read("count", time="t", event="e", columns=columns)
    assert read("survival", target="t", event="e", columns=columns).target == "t"


def related(**given):
    return read(**given).related


def test_copies_of_the_response_are_related():
    reason = {"b": "says the same as the response 'y'"}
    y = A**2
    assert related(target="y", columns={"y": y, "b": 3.0 - 2.0 * y}) == reason
    gaps = np.where(np.arange(N) < 5, np.nan, y)
    assert related(target="y", columns={"y": y, "b": gaps}) == reason
    assert related(target="y", columns={"y": y, "b": y + 1e-3 * A}) == {}
    assert related(target="y", columns={"y": y, "b": np.full(N, 2.0)}) == {}
    classes = {"y": TEXT, "b": [7, 3, 9, 7] * 10}
    assert related(target="y", columns=classes) == reason
    assert related(target="y", columns={"y": TEXT, "b": [7, 3, 7, 7] * 10}) == {}
    assert related(target="y", columns={"y": [0, 1] * 20, "b": ["no", "yes"] * 20}) == reason


def test_in_a_few_rows_agreement_is_chance():
    short = {"a": A[:10], "y": A[:10] ** 2, "b": A[:10] ** 2}
    assert read(table=short, target="y").related == {}


def test_times_and_events_ask_for_each_other():
    columns = {"months": np.arange(1.0, N + 1) ** 1.5, "died": EVENT}
    found = read(target="months", columns=columns)
    assert found.related == {"died": "seems to say whether the event happened"}
    assert "--time months --event died" in found.questions[0]
    found = read(target="died", columns=columns)
    assert found.related == {"months": "seems to be the time of the event"}
    found = read(time="months", event="died", columns={**columns, "pfs_status": EVENT[::-1]})
    assert found.related == {"pfs_status": "seems to belong to another endpoint"}
    assert read(target="died", drop="months", columns=columns).related == {}


def test_all_rows_without_a_response_are_refused():
    with pytest.raises(RefusedError, match="has no value in any row"):
        read(target="y", columns={"y": np.full(N, np.inf)})
