"""Planning reads the catalogue: names, defaults, and methods that somebody else registers."""

from __future__ import annotations

import ast
import inspect
import sys
import types
import warnings
from pathlib import Path

import numpy as np
import pytest

import selica.correlated
from selica import catalogue, planning, selectors
from selica._core.errors import ArgumentError, DoesNotApply, RefusedError, RenamedWarning
from selica.catalogue import Method
from selica.planning.predict.expectation import Expected
from selica.planning.predict.prediction import Forecast
from selica.selectors import DerandomizedKnockoffs, KnockoffSelection, LassoSelection

STUDY = {"n_samples": 120, "n_features": 40, "n_signals": 10, "r2": 0.8}
FORMER = {old: row.name for row in catalogue.methods() for old in row.former.get("planning", ())}


@pytest.fixture(scope="module")
def table():
    return np.random.default_rng(0).standard_normal((80, 20))


def test_every_planned_method_has_a_predictor_that_is_there():
    for name, row in planning.METHODS.items():
        assert row is catalogue.method(name)
        assert tuple(inspect.signature(row.load_predictor()).parameters) == (
            "studies", "level", "best",
        )  # fmt: skip
    assert list(planning.METHODS) == [row.name for row in catalogue.methods() if row.predictor]


def test_former_names_are_those_of_all_that_were_renamed():
    assert set(FORMER) == {
        "stability", "knockoff", "evalues", "pvalues", "stability_none", "stability_unimodal",
        "stability_r_concave", "ideal", "thresholded_lasso",
    }  # fmt: skip


@pytest.mark.parametrize("old", FORMER)
def test_a_former_name_is_accepted_with_a_warning(old):
    with pytest.warns(RenamedWarning, match=f"methods: '{old}' is now called '{FORMER[old]}'") as w:
        found = planning.compare_methods(**STUDY, methods=[old])
    assert {warning.filename for warning in w} == {__file__}
    assert {one.method for one in found.predictions} == {FORMER[old]}
    with pytest.warns(RenamedWarning):
        assert found.one(old) is found.one(FORMER[old])


def test_former_names_in_the_other_questions(table):
    sizes = {name: STUDY[name] for name in ("n_features", "n_signals", "r2")}
    with pytest.warns(RenamedWarning, match="method: 'knockoff' is now called 'knockoffs'"):
        found = planning.required_samples(0.3, **sizes, fdr=0.3, method="knockoff")
    with pytest.warns(RenamedWarning):
        assert found.one("knockoff") is found.one("knockoffs")
    with pytest.warns(RenamedWarning, match="'knockoff' is now called 'knockoffs'"):
        planning.correlated_power(table, 5, r2=0.8, methods="knockoff", random_state=0)
    with pytest.warns(RenamedWarning, match="'knockoff' is now called 'knockoffs'"):
        measured = planning.plasmode_power(
            table, 5, r2=0.8, methods="knockoff", n_sets=2, theory=False, random_state=0
        )
    assert [row["method"] for row in measured.methods] == ["knockoffs"]


@pytest.mark.parametrize("name", ["auto", "splitting", "bolasso", "bayes", "knockoffs-frequency"])
def test_a_method_without_a_prediction_is_one_sentence(name):
    with pytest.raises(DoesNotApply, match=f"{name!r} has no prediction; .*plasmode_power") as info:
        planning.compare_methods(**STUDY, methods=name)
    assert "stability-fdr" in str(info.value)
    with pytest.raises(DoesNotApply, match=f"method: {name!r} has no prediction"):
        planning.detectable_effect(0.5, n_samples=100, n_features=40, n_signals=5, method=name)


RUN = [row.name for row in catalogue.methods() if row.selector is not None]


@pytest.mark.parametrize("name", RUN)
def test_every_method_that_can_be_run_is_measured(table, name):
    found = planning.plasmode_power(
        table, 6, r2=0.9, fdr=0.2, methods=name, n_sets=2, theory=False, random_state=0
    )
    (row,) = found.methods.rows
    assert (row["method"], row["label"]) == (name, catalogue.method(name).label)
    assert (row["predicted"] is None) == (catalogue.method(name).predictor is None)


def test_what_cannot_be_run_is_said_before_the_work(table):
    with pytest.raises(ArgumentError, match=r"can be run on data.*got 'bayes'"):
        planning.plasmode_power(table, 6, r2=0.9, methods="bayes")


def found_by_half(studies, level, best):
    """Predict a method that finds half of the signals."""
    for study in studies:
        k = study.n_signals
        expected = Expected(0.5, 0.5 * level, 0.5 * k, 0.1)
        yield Forecast(expected, {"fdr": level}, ("A coin is tossed.",))


class Theirs(KnockoffSelection):
    """A selector of somebody else."""


@pytest.fixture
def theirs():
    module = types.ModuleType("their_package")
    module.found_by_half, module.Theirs = found_by_half, Theirs
    sys.modules["their_package"] = module
    row = Method(
        "theirs",
        "their method",
        selector="their_package:Theirs",
        predictor="their_package:found_by_half",
        levels=("fdr",),
        controls="FDR",
        calibrated=True,
    )
    catalogue.register(row)
    yield row
    catalogue.unregister("theirs")
    del sys.modules["their_package"]


def test_a_method_of_somebody_else_is_compared_searched_measured_and_diagnosed(theirs, table):
    assert "theirs" in planning.METHODS
    found = planning.compare_methods(**STUDY, methods=["theirs", "knockoffs-pvalues"])
    one = found.one("theirs")
    assert (one.power, one.controls, one.code) == (0.5, "FDR", "Theirs(fdr=0.1)")
    assert found.best is one
    assert "\ntheir method " in str(found)
    assert "Note: their method, best settings: A coin is tossed." in str(found)
    sizes = {name: STUDY[name] for name in ("n_features", "n_signals", "r2")}
    assert planning.required_samples(0.4, **sizes, method="theirs").one("theirs").value == 2
    measured = planning.plasmode_power(
        table, 6, r2=0.9, fdr=0.2, methods="theirs", n_sets=2, theory=False, random_state=0
    )
    assert measured.methods.rows[0]["predicted"] == 0.5
    y = table[:, :5].sum(axis=1) + np.random.default_rng(1).standard_normal(80)
    fitted = Theirs(fdr=0.2, sampler="iid", lam=0.05, random_state=0).fit(table, y)
    assert planning.diagnose(fitted, table, y).method == "theirs"
    assert "theirs" in [one.method for one in planning.compare_methods(**STUDY).predictions]


def test_a_wrong_argument_of_a_method_is_no_refusal(theirs, table, monkeypatch):
    """A predictor that recommends what its selector does not take: a mistake, and not the data."""

    def mistaken(studies, level, best):
        return [Forecast(Expected(0.5, 0.0, 1.0, 0.0), {"fdr": 5.0}) for _ in studies]

    monkeypatch.setattr(sys.modules["their_package"], "found_by_half", mistaken)
    with pytest.raises(ArgumentError, match=r"methods\['theirs'\]: fdr must"):
        planning.plasmode_power(table, 6, r2=0.9, methods="theirs", n_sets=2, theory=False)


def test_what_the_data_refuse_is_counted_and_no_error(theirs, table, monkeypatch):
    def refuse(self, X, y):
        raise RefusedError("These data do not allow it.")

    monkeypatch.setattr(Theirs, "fit", refuse)
    found = planning.plasmode_power(table, 6, r2=0.9, methods="theirs", n_sets=2, theory=False)
    assert (found.methods.rows[0]["refused"], found.methods.rows[0]["power"]) == (2, 0.0)


def test_defaults_come_from_the_signatures_of_the_selectors(monkeypatch):
    """Copies and resamples of a prediction are what the selector would take."""

    def powers():
        found = planning.compare_methods(
            200, 60, 20, r2=0.9, fdr=0.2, methods=["knockoffs-evalues", "stability-pfer"]
        )
        return [found.one(name).power for name in ("knockoffs-evalues", "stability-pfer")]

    before = powers()
    changes = [
        (DerandomizedKnockoffs, "n_copies", 2),
        (selectors.StabilitySelection, "n_resamples", 8),
    ]
    for kind, name, value in changes:
        monkeypatch.setitem(kind.__init__.__kwdefaults__, name, value)
    assert catalogue.method("knockoffs-evalues").default("n_copies") == 2
    assert all(a != b for a, b in zip(before, powers(), strict=True))


def test_no_default_of_a_selector_is_written_again():
    """Literals of the defaults that a prediction depends on."""
    copied = {
        row.default(name)
        for row in planning.METHODS.values()
        for name in ("n_resamples", "n_copies", "gamma")
        if name in inspect.signature(row.load_selector()).parameters
    } | {0.6, 0.9}
    homes = [Path(planning.__file__).parent / "predict", Path(planning.__file__).parent / "data"]
    # cutoffs and starts that are tried, data sets with planted signals, and how draws are made
    allowed = {
        ("bounds.py", 0.6), ("diagnosis.py", 0.3), ("plasmode.py", 50), ("exceedances.py", 0.3),
        ("expectation.py", 0.9), ("finite.py", 0.3), ("finite.py", 25),
    }  # fmt: skip
    for file in sorted(path for home in homes for path in home.glob("*.py")):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Constant):
                again = type(node.value) in (int, float) and node.value in copied
                assert not again or (file.name, node.value) in allowed, f"{file}:{node.lineno}"


@pytest.mark.parametrize(
    ("old", "new"),
    [("RocCurve", "PowerCurve"), ("Power", "PowerAtLevel"), ("Answer", "RequiredValue")],
)
def test_former_classes_are_there_with_a_warning(old, new):
    with pytest.warns(RenamedWarning, match=f"planning.{old} is now called planning.{new}") as seen:
        assert getattr(planning, old) is getattr(planning, new)
    assert seen[0].filename == __file__
    assert old not in planning.__all__


def test_former_attributes_are_there_with_a_warning(table):
    found = planning.plasmode_power(
        table, 5, r2=0.8, fdr=0.2, methods="knockoffs", n_sets=2, random_state=0
    )
    with pytest.warns(RenamedWarning, match="now called PlasmodePower.predicted"):
        assert found.first is found.predicted
    with pytest.warns(RenamedWarning, match="predicted_power"):
        assert found.foretold("knockoffs") == found.predicted_power("knockoffs")
    one = planning.compare_methods(**STUDY, methods="lasso").one("lasso")
    with pytest.warns(RenamedWarning, match="Prediction.controls"):
        assert one.promise == one.controls == "none"


def test_no_other_name_is_there():
    with pytest.raises(AttributeError, match="no attribute 'Astrology'"):
        planning.Astrology  # noqa: B018


@pytest.mark.parametrize(
    ("question", "sizes", "total"),
    [
        (planning.compare_methods, {"n_samples": 100, "n_signals": 5, "r2": 0.8}, 4),
        (planning.required_samples, {"power": 0.3, "n_signals": 5, "r2": 0.8}, 3),
        (planning.detectable_effect, {"power": 0.3, "n_samples": 100, "n_signals": 5}, 3),
        (planning.largest_support, {"power": 0.3, "n_samples": 100, "r2": 0.8}, 3),
        (planning.achievable_fdr, {"power": 0.3, "n_samples": 100, "n_signals": 5, "r2": 0.8}, 3),
    ],
)
def test_progress_is_told_step_by_step(question, sizes, total):
    seen = []
    names = ["stability-fdr", "stability-pfer"]
    chosen = {"methods" if question is planning.compare_methods else "method": names}
    told = {"progress": lambda done, of: seen.append((done, of))}
    with_progress = question(n_features=40, **sizes, **chosen, **told)
    assert seen == [(done, total) for done in range(1, total + 1)]
    assert str(with_progress) == str(question(n_features=40, **sizes, **chosen))
    with pytest.raises(ArgumentError, match="progress must"):
        question(n_features=40, **sizes, **chosen, progress=3)


def test_the_order_of_preference_among_equals_does_not_depend_on_the_order_of_the_table():
    def one(method, **parameters):
        row = catalogue.method(method)
        values = {"power": 1.0, "fdr": 0.0, "true_selections": 5.0, "false_selections": 0.0}
        return planning.Prediction(
            method=method, settings="best", **values, controls=row.controls, code="",
            parameters=parameters,
        )  # fmt: skip

    from selica.planning.questions.recommendation import Candidate, recommend

    every = [
        one("stability-pfer", assumption="r-concave"),
        one("stability-pfer-unimodal", assumption="unimodal"),
        one("stability-pfer-none", assumption="none"),
        one("knockoffs-pvalues"),
        one("knockoffs"),
    ]
    for last in (
        "knockoffs",
        "knockoffs-pvalues",
        "stability-pfer-none",
        "stability-pfer-unimodal",
    ):
        candidates = [Candidate(each, each, 0.1, each.power) for each in every]
        assert recommend(candidates).best.method == last
        assert recommend(candidates[::-1]).best.method == last
        every = [each for each in every if each.method != last]


def test_unsolved_equations_are_noted():
    from types import SimpleNamespace

    from selica.planning.predict.limit import unsolved

    assert unsolved(SimpleNamespace(converged=True)) == ()
    (note,) = unsolved(SimpleNamespace(converged=False, status="max_iter", residual=1e-3))
    assert note.startswith("The equations of the theory were not solved (status 'max_iter'")


def test_nothing_in_the_rooms_catches_warnings_but_runs_in_processes():
    homes = [Path(planning.__file__).parent, Path(selica.correlated.__file__).parent]
    files = [file for home in homes for file in home.rglob("*.py")]
    catching = [file.name for file in files if "catch_warnings" in file.read_text()]
    assert catching == ["runs.py"]
    assert 'prefer="processes"' in next(f for f in files if f.name == "plasmode.py").read_text()


def test_warnings_of_the_runs_become_notes(table):
    class Noisy(LassoSelection):
        def fit(self, X, y):
            warnings.warn("The weather is bad.", UserWarning, stacklevel=2)
            return super().fit(X, y)

    settings = {"r2": 0.8, "methods": "lasso", "selectors": {"mine": Noisy(0.1)}, "n_sets": 3}
    found = planning.plasmode_power(table, 5, **settings, theory=False, random_state=0)
    note = "mine warned in 3 of 3 data sets; the first warning: UserWarning: The weather is bad."
    assert found.notes == (note,)
    assert found.to_dict()["notes"] == [note]
    assert str(found).endswith(f"Note: {note}")
