"""Warnings point at the line of the caller, and results keep them as notes."""

from __future__ import annotations

import inspect
import threading
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from selica import (
    AutoSelection,
    DerandomizedKnockoffs,
    KnockoffSelection,
    LassoSelection,
    StabilitySelection,
    catalogue,
    theory,
)
from selica._core.errors import BoundaryWarning, ConvergenceWarning, RenamedWarning
from selica._core.warning import heard, noted, warn
from selica.sampling import FixedKnockoffs, GaussianKnockoffs, s_matrices, s_matrix, simulate
from selica.selectors import AssumptionWarning, UnstableWarning

DATA = simulate(80, 12, 3, snr=4.0, random_state=0)
X = DATA.X.copy()
X[:, 5] = 1.0
COPIED, TARGET = X.copy(), DATA.y.copy()
COPIED[1::4], TARGET[1::4] = COPIED[::4], TARGET[::4]
QUICK = {"n_resamples": 4, "n_copies": 2, "n_splits": 2, "random_state": 0}
RUN = [method.name for method in catalogue.methods() if method.selector is not None]


def selector_of(name):
    """The selector of a row of the catalogue, with few resamples."""
    row = catalogue.method(name)
    kind = row.load_selector()
    known = inspect.signature(kind).parameters
    quick = {key: value for key, value in QUICK.items() if key in known}
    level = {row.levels[0]: 0.5} if row.levels else {}
    if name == "stability-fdr":  # fewer cannot check message passing
        quick["n_resamples"] = 256
    return kind(**(quick | level | dict(row.preset)))


def here():
    """Line of the caller."""
    return inspect.currentframe().f_back.f_lineno


def places(caught):
    return {(w.filename, w.lineno) for w in caught}


@pytest.mark.parametrize("name", RUN)
def test_every_selector_points_at_the_line_of_fit(name):
    selector = selector_of(name)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        line = here() + 1
        selector.fit(COPIED, TARGET)
    assert any("exact copies of another row" in str(w.message) for w in caught)
    assert places(caught) == {(__file__, line)}
    said = {str(w.message) for w in caught}
    assert said <= set(selector.notes_)


@pytest.mark.parametrize("name", RUN)
def test_also_through_a_pipeline(name):
    pipeline = make_pipeline(StandardScaler(), selector_of(name))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        line = here() + 1
        pipeline.fit(COPIED, TARGET)
    assert places(caught) == {(__file__, line)}


def test_also_through_cross_validation():
    pipeline = make_pipeline(LassoSelection(lam=0.1), LinearRegression())
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        line = here() + 1
        cross_val_score(pipeline, COPIED, TARGET, cv=3)
    assert len(caught) == 3
    assert places(caught) == {(__file__, line)}


def unstable():
    return StabilitySelection(0.1, n_resamples=20, random_state=0), DATA.X


def level_out_of_reach():
    return KnockoffSelection(0.05, lam=0.1, random_state=0), DATA.X


def shrunk_copies():
    rng = np.random.default_rng(0)
    return KnockoffSelection(0.5, sampler="iid", lam=0.1, random_state=0), np.cumsum(
        rng.standard_normal((80, 12)), axis=1
    )


@pytest.mark.parametrize(
    ("make", "category"),
    [
        (unstable, UnstableWarning),
        (level_out_of_reach, AssumptionWarning),
        (shrunk_copies, AssumptionWarning),
    ],
)
def test_warnings_from_deeper_down_point_there_too(make, category):
    selector, table = make()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        line = here() + 1
        selector.fit(table, DATA.y)
    assert category in {w.category for w in caught}
    assert places(caught) == {(__file__, line)}
    assert {str(w.message) for w in caught} <= set(selector.notes_)


def test_an_iteration_of_the_sampler_is_heard(monkeypatch):
    """A warning of another room, three calls down, is a note of the selection."""
    monkeypatch.setattr(s_matrices, "_MAX_NEWTON", 1)
    monkeypatch.setattr(s_matrices, "_PASSES", 0)
    correlated = simulate(80, 12, 3, snr=4.0, covariance=("ar1", 0.8), random_state=0)
    selector = KnockoffSelection(0.5, lam=0.1, random_state=0)
    line = here() + 2
    with pytest.warns(ConvergenceWarning, match="not optimal") as caught:
        selector.fit(correlated.X, correlated.y)
    assert places(caught) == {(__file__, line)}
    assert any("not optimal" in note for note in selector.notes_)


def test_functions_of_other_rooms(monkeypatch):
    rng = np.random.default_rng(0)
    line = here() + 2
    with pytest.warns(UserWarning, match="simulated responses were added") as caught:
        FixedKnockoffs().augment(rng.standard_normal((8, 5)), rng.standard_normal(8), 0)
    assert places(caught) == {(__file__, line)}
    monkeypatch.setattr(s_matrices, "_MAX_NEWTON", 1)
    monkeypatch.setattr(s_matrices, "_PASSES", 0)
    Sigma = 0.8 ** np.abs(np.subtract.outer(range(20), range(20)))
    for call in (s_matrix, lambda sigma: GaussianKnockoffs(0.0, sigma)):
        with pytest.warns(ConvergenceWarning, match="not optimal") as caught:
            call(Sigma)
        assert {w.filename for w in caught} == {__file__}
    model = theory.Model(alpha=2.0, rho=0.0, Delta=1.0)
    line = here() + 2
    with pytest.warns(BoundaryWarning) as caught:
        theory.optimal_lam(model, "lasso")
    assert places(caught) == {(__file__, line)}


def test_notes_are_those_of_the_last_fit():
    selector = LassoSelection(lam=0.1)
    selector.fit(X, DATA.y)
    assert selector.notes_ == ("Constant columns are never selected: x5.",)
    assert selector.fit(DATA.X, DATA.y).notes_ == ()


def test_notes_have_everything_a_reader_needs():
    rng = np.random.default_rng(0)
    table = np.column_stack([rng.standard_normal((80, 8)), np.ones(80)])
    selector = DerandomizedKnockoffs(0.05, n_copies=4, lam=0.2, random_state=0)
    with pytest.warns(AssumptionWarning) as caught:
        selector.fit(table, rng.standard_normal(80))
    notes = selector.notes_
    assert notes[0] == "Constant columns are never selected: x8."
    assert notes[: len(selector.cautions_)] == selector.cautions_
    assert any(note.startswith("Nothing was selected.") for note in notes)
    assert any("nothing can be selected" in note for note in notes)
    assert len(set(notes)) == len(notes)
    assert {str(w.message) for w in caught} <= set(notes)


def test_the_chosen_method_is_a_note():
    found = AutoSelection(n_resamples=10, random_state=0).fit(DATA.X, DATA.y)
    assert found.reason_ in found.notes_
    assert found.summary().chosen == found.reason_
    assert set(found.summary().notes) <= set(found.notes_)
    with pytest.warns(AssumptionWarning, match="exact copies"):
        found.fit(COPIED, TARGET)
    assert set(found.selector_.notes_) <= set(found.notes_)
    assert "Constant columns are never selected: x5." in found.selector_.notes_


def test_inside_noted_nothing_is_said_but_renamings():
    selector = LassoSelection(lam=0.1)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with noted():
            selector.fit(X, DATA.y)
            warn("this has another name", RenamedWarning)
    assert [w.category for w in caught] == [RenamedWarning]
    assert selector.notes_ == ("Constant columns are never selected: x5.",)


def test_threads_hear_their_own_warnings_only():
    found: dict[str, tuple[str, ...]] = {}
    start = threading.Barrier(2)

    def work(name, table):
        selector = LassoSelection(lam=0.1)
        start.wait()
        for _ in range(20):
            with noted():
                selector.fit(table, DATA.y)
            found[name] = selector.notes_

    one, other = X, X.copy()
    other[:, 7] = 2.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        threads = [
            threading.Thread(target=work, args=pair) for pair in (("one", one), ("other", other))
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert found["one"] == ("Constant columns are never selected: x5.",)
    assert found["other"] == ("Constant columns are never selected: x5, x7.",)


def test_what_is_heard_is_said_all_the_same():
    with pytest.warns(AssumptionWarning), heard() as said:
        warn("the sky is low", AssumptionWarning)
    assert said == [("the sky is low", AssumptionWarning)]


def test_what_is_heard_further_in_is_heard_further_out():
    with pytest.warns(AssumptionWarning), heard() as outer, heard() as inner:
        warn("the sky is low", AssumptionWarning)
    assert outer == inner == [("the sky is low", AssumptionWarning)]


class SelectorInside(BaseEstimator):
    """A base learner that runs a selector of its own."""

    def fit(self, table, y):
        numbered = np.column_stack([table, np.arange(len(table))])
        self.coef_ = LassoSelection(lam=0.1).fit(numbered, y).get_support()[:-1].astype(float)
        return self


@pytest.mark.parametrize("n_jobs", [None, 1, 2])
def test_a_selector_inside_a_worker_is_heard(n_jobs):
    selector = StabilitySelection(
        threshold=0.6, estimator=SelectorInside(), n_resamples=4, n_jobs=n_jobs, random_state=0
    )
    with pytest.warns(AssumptionWarning, match="Column 'x12' has a different whole number"):
        selector.fit(DATA.X, DATA.y)
    assert any(note.startswith("Column 'x12' has a different") for note in selector.notes_)


def test_the_line_of_a_package_whose_name_begins_alike():
    beside = f"{Path(catalogue.__file__).parent}_tools/report.py"
    said = compile("warn('the sky is low', AssumptionWarning)", beside, "exec")
    with pytest.warns(AssumptionWarning) as caught:
        exec(said, {"warn": warn, "AssumptionWarning": AssumptionWarning, "__name__": "tools"})
    assert [w.filename for w in caught] == [beside]


def talkative(table, rng):
    """A sampler that notices something in a worker."""
    warn("the copies are loud", AssumptionWarning)
    return rng.permuted(table, axis=0)


@pytest.mark.parametrize("n_jobs", [None, 1, 2])
def test_what_workers_notice_is_said_once_at_the_line_of_fit(n_jobs):
    selector = DerandomizedKnockoffs(
        0.5, n_copies=6, sampler=talkative, lam=0.1, n_jobs=n_jobs, random_state=0
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        line = here() + 1
        selector.fit(DATA.X, DATA.y)
    loud = [w for w in caught if "loud" in str(w.message)]
    # once from the first copy, which this thread draws to check it, and once for all workers
    assert len(loud) == 2
    assert [w.lineno for w in loud][1] == line
    assert {w.filename for w in caught} == {__file__}
    assert selector.notes_.count("the copies are loud") == 1
