"""Functions, selectors and commands, called with what they should not be called with."""

from __future__ import annotations

import inspect
import warnings

import numpy as np
import pytest
from hypothesis import strategies as st

from selica import amp, planning, selectors, solvers, theory
from selica._core.errors import SelicaError
from tests.hardening.command_lines import COMMANDS, WEIGHTS, command_lines, run
from tests.hardening.commands import csv_text
from tests.hardening.fuzzing import ABSURD, absurd_names, arguments, call, fuzz
from tests.hardening.subjects import SELECTORS, SUBJECTS
from tests.hardening.values import ALTERNATIVES, COSTLY, SENSIBLE

OWN_WORDS = (ValueError, TypeError, OverflowError)
"""Of scikit-learn, which checks tables for the selectors."""
FEW = {"n_resamples": 4, "n_copies": 2, "n_splits": 2}


@pytest.fixture(scope="module", autouse=True)
def imported():
    """What is imported late is there before a case has its time."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((40, 8)), rng.standard_normal(40)
    model = theory.Model(1.0, 0.3, 0.1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        for response in (y, y > 0.0):
            for kind in (selectors.StabilitySelection, selectors.KnockoffSelection):
                kind(random_state=0).fit(X, response)
            selectors.StabilitySelection(q=2, n_resamples=4, random_state=0).fit(X, response)
        for loss, response in (("squared", y), ("logistic", (y > 0.0).astype(float))):
            solvers.knockoff_path_batch(X, response, [0.1], lambda b: X[::-1], 2, loss=loss)
        for engine in (amp.stability_amp, amp.knockoff_amp, amp.stability_vamp):
            engine(X, y, 0.1)
        planning.correlated_stability(model, 0.2, np.eye(5), n_data=8, n_members=4, random_state=0)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Files that are written lie where nobody misses them."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "table.csv").write_text(csv_text("a,b,c,d,e,y"), encoding="utf-8")


@pytest.mark.parametrize("name", SUBJECTS)
def test_functions(name):
    subject = SUBJECTS[name]
    cases = arguments(subject.function, subject.sensible, COSTLY, ALTERNATIVES)
    refusals = OWN_WORDS if name in ("reports.answer", "planning.plasmode_power") else SelicaError
    fuzz(name, cases, lambda case: call(subject.function, refusals, case), subject.weight)


@st.composite
def selecting(draw, kind):
    """Settings, a table and a response, each of them at times absurd."""
    known = inspect.signature(kind).parameters
    settings = {name: value for name, value in FEW.items() if name in known}
    wrong = draw(absurd_names([*known, "X", "y"]))
    X, y = (draw(ABSURD if name in wrong else SENSIBLE[name]) for name in ("X", "y"))
    return settings | {name: draw(ABSURD) for name in wrong if name in known}, X, y


@pytest.mark.parametrize("kind", SELECTORS, ids=lambda kind: kind.__name__)
def test_selectors(kind):
    def attempt(case):
        settings, X, y = case
        return call(lambda: kind(**settings).fit(X, y), OWN_WORDS, {})

    fuzz(f"selectors.{kind.__name__}", selecting(kind), attempt, 2.0)


@pytest.mark.parametrize("name", COMMANDS)
def test_commands(name):
    weight = WEIGHTS.get(name, 1.0)
    fuzz(f"cli.{name}", command_lines(name), lambda words: run(words, "table.csv"), weight)
