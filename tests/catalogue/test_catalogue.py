"""The catalogue of methods: every row is complete, and rows do not contradict each other."""

from __future__ import annotations

import inspect
from dataclasses import replace

import pytest
import typer

from selica import catalogue
from selica._core.errors import ArgumentError, RenamedWarning
from selica.cli import app
from selica.sampling import simulate

ROWS = list(catalogue.methods())
NAMES = [one.name for one in ROWS]
RUNNABLE = [one for one in ROWS if one.selector is not None]
PREDICTED = [one for one in ROWS if one.predictor is not None]
FORMER = [
    (room, name, one.name) for one in ROWS for room, names in one.former.items() for name in names
]
LONGEST_LABEL = 45


def by_name(row):
    return row.name


def test_no_two_methods_look_alike():
    looks = [(one.colour, one.dash) for one in ROWS]
    assert len(set(looks)) == len(ROWS)


def test_labels_are_short_and_differ():
    labels = [one.label for one in ROWS]
    assert len(set(labels)) == len(ROWS)
    assert max(map(len, labels)) <= LONGEST_LABEL


@pytest.mark.parametrize("row", ROWS, ids=by_name)
def test_every_method_says_what_it_promises_and_why(row):
    assert row.promise.endswith(".")
    assert row.rests_on.endswith(".")
    assert (row.controls == "none") == (not row.levels)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(
    "row", [one for one in RUNNABLE if one.levels and one.name != "auto"], ids=by_name
)
def test_the_catalogue_calls_proven_what_the_selector_does(row):
    """With copies of a known distribution; the automatic choice says what it chose."""
    data = simulate(200, 60, 15, snr=20.0, random_state=0)
    few = {"sampler": "iid", "n_copies": 10, "n_splits": 5, "lam": 0.05, "random_state": 0}
    parameters = inspect.signature(row.load_selector()).parameters
    few = {name: value for name, value in few.items() if name in parameters}
    if row.equations == "stability":
        del few["lam"]
    found = row.load_selector()(**row.arguments({row.levels[0]: 0.4}), **few).fit(data.X, data.y)
    assert ("It is proven if" in row.rests_on) == found.guarantee_.proven
    assert ("It is expected, not proven" in row.rests_on) != found.guarantee_.proven


def test_a_row_that_is_registered_is_one_that_no_other_is_mistaken_for():
    lasso = catalogue.method("lasso")
    with pytest.raises(ArgumentError, match=r"row must be a catalogue\.Method; got 'lasso'"):
        catalogue.register("lasso")
    with pytest.raises(ArgumentError, match="name must be one that no method has; got 'lasso'"):
        catalogue.register(lasso)
    with pytest.raises(ArgumentError, match="label must be one that no method has; got 'lasso'"):
        catalogue.register(replace(lasso, name="mine"))
    assert "mine" not in catalogue.METHODS


@pytest.mark.parametrize(("room", "name", "now"), FORMER)
def test_a_former_name_is_found_with_a_warning(room, name, now):
    assert catalogue.formerly(name, room).name == now
    with pytest.warns(RenamedWarning, match=f"{name}.* is now called '{now}'") as said:
        assert catalogue.method(name, room=room).name == now
    assert said[0].filename == __file__


def test_a_former_name_means_one_method_in_a_room():
    keys = [(room, name) for room, name, _ in FORMER]
    assert len(set(keys)) == len(keys)
    for _, name, _ in FORMER:
        if name not in NAMES:
            with pytest.raises(ArgumentError, match="method must be one of"):
                catalogue.method(name)


@pytest.mark.parametrize("row", RUNNABLE, ids=by_name)
def test_options_are_those_of_the_command_and_of_the_class(row):
    options = {one.name for one in typer.main.get_command(app).commands["select"].params}
    assert row.options.keys() <= options
    parameters = inspect.signature(row.load_selector()).parameters.keys()
    assert {*row.options.values(), *row.preset, *row.usual, *row.decided_by} <= parameters
    assert {*row.levels} <= {*row.options}


@pytest.mark.parametrize("row", RUNNABLE, ids=by_name)
def test_a_method_is_found_by_its_class_and_arguments(row):
    decisive = (*row.levels, *row.decided_by)
    if decisive:
        level = {decisive[0]: 0.5}
        assert catalogue.of_selector(row.class_name, row.arguments(level)) is row
    if row.by_default:
        assert catalogue.of_selector(row.class_name, {}) is row


def test_one_method_of_a_class_is_what_it_does_by_default():
    for name in {one.class_name for one in RUNNABLE}:
        rows = list(catalogue.methods(class_name=name))
        assert len(rows) == 1 or sum(one.by_default for one in rows) == 1


def test_a_selector_of_no_method_is_an_error():
    with pytest.raises(ArgumentError, match="got StabilitySelection with magic"):
        catalogue.of_selector("StabilitySelection", {"magic": 1})
    with pytest.raises(ArgumentError, match="got Astrology with no arguments"):
        catalogue.of_selector("Astrology", {})


@pytest.mark.parametrize("row", PREDICTED, ids=by_name)
def test_every_predictor_is_there(row):
    assert callable(row.load_predictor())


def test_what_cannot_be_run_says_what_can():
    with pytest.raises(ArgumentError, match=r"one that can be run on data, one of auto, .*'bayes'"):
        catalogue.method("bayes").load_selector()
