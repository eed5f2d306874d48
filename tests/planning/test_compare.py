"""Methods side by side: numbers that belong together, code that runs, units that are right."""

from __future__ import annotations

import json
import warnings
from dataclasses import replace

import numpy as np
import pytest

from selica import planning, selectors, theory
from selica.control import fdp, tpp
from selica.planning import METHODS, Prediction, Study, compare_methods
from selica.planning.questions.recommendation import Candidate, recommend
from selica.sampling import simulate

SIZES = (400, 200, 40)


@pytest.fixture(scope="module")
def found():
    return compare_methods(*SIZES, r2=0.8)


def test_every_method_at_both_settings(found):
    pairs = [(one.method, one.settings) for one in found.predictions]
    assert pairs == [(name, s) for name in METHODS for s in ("best", "default")]
    for one in found.predictions:
        assert 0.0 <= one.power <= 1.0
        assert one.true_selections == pytest.approx(40 * one.power)
        if METHODS[one.method].calibrated:
            assert one.fdr <= 0.11, one


def test_best_settings_are_not_worse_than_the_default(found):
    for name, method in METHODS.items():
        if method.calibrated:
            assert found.one(name).power >= found.one(name, "default").power - 0.02, name


def test_no_procedure_beats_the_known_threshold(found):
    ceiling = found.one("thresholded-lasso").power + 0.03
    for one in found.predictions:
        if METHODS[one.method].calibrated:
            assert one.power <= ceiling


def test_the_best_is_the_most_powerful_procedure(found):
    able = [one for one in found.predictions if METHODS[one.method].calibrated]
    assert found.best.power == max(one.power for one in able)


def test_the_table_is_readable(found):
    text = str(found)
    assert "400 samples, 200 variables, 40 signals explaining 80 %" in text
    table = text.split("Most power:")[0]
    for method in METHODS.values():
        assert table.count(f"\n{method.label}  ") == 2
    assert text.endswith(
        "Assumes independent columns, independent rows, a linear response and Gaussian effects."
    )
    assert found.best.code in text
    assert found.best.code in repr(found)


def test_it_becomes_json_and_a_frame(found):
    again = json.loads(json.dumps(found.to_dict()))
    assert again["n_samples"] == 400
    assert again["r2"] == pytest.approx(0.8)
    assert len(again["methods"]) == 20
    frame = found.to_frame()
    assert len(frame) == 20
    assert frame["power"].iloc[0] == found.predictions[0].power


def test_it_is_drawn(found):
    figure = found.plot()
    left, _ = figure.get_axes()
    assert [t.get_text() for t in left.get_yticklabels()] == [m.label for m in METHODS.values()]
    drawn = np.concatenate([line.get_xdata() for line in left.get_lines()])
    ceiling = [found.ceiling.power] * 2  # a line
    assert sorted(drawn) == sorted([*(one.power for one in found.predictions), *ceiling])


def test_the_ceiling_is_that_of_the_theory(found):
    """With a little more room for false selections than a large study; no method is above."""
    best = theory.power(found.study.model, "bayes", found.fdr)
    assert best < found.ceiling.power < best + 0.003
    top = found.ceiling
    assert top.true_selections == pytest.approx(found.study.n_signals * top.power)
    assert top.fdr == pytest.approx(found.fdr, rel=1e-4)
    for name in ("stability-ideal", "thresholded-lasso", "lasso"):
        assert found.one(name).power < best
    assert found.to_dict()["ceiling"]["power"] == found.ceiling.power


def test_recommendations_run_as_printed(found):
    data = simulate(*SIZES, noise_variance=0.05, scale="article", random_state=0)
    for one in found.predictions:
        if one.method in ("knockoffs-evalues", "knockoffs-pvalues") or one.settings == "default":
            continue  # the same selectors with copies, which take longer
        selector = eval(one.code, vars(selectors))
        selector.set_params(random_state=0)
        assert type(selector).__name__ == METHODS[one.method].class_name
        assert {k: selector.get_params()[k] for k in one.parameters} == one.parameters
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # about few resamples
            mask = selector.fit(data.X, data.y).support_
        assert mask.shape == (200,)


@pytest.mark.parametrize("name", ["lasso", "thresholded-lasso", "stability-fdr"])
def test_penalties_and_thresholds_are_in_the_unit_of_the_selectors(name):
    """Large enough for one data set to be close to its prediction."""
    found = compare_methods(1200, 800, 160, r2=0.8, methods=[name]).one(name)
    data = simulate(1200, 800, 160, noise_variance=0.05, scale="article", random_state=3)
    selector = eval(found.code, vars(selectors))
    mask = selector.set_params(random_state=0).fit(data.X, data.y).support_
    # 160 signals: a standard error of 0.04; the power at twice the penalty is 0.15 lower
    assert tpp(mask, data.support) == pytest.approx(found.power, abs=0.09)
    assert fdp(mask, data.support) == pytest.approx(found.fdr, abs=0.07)


@pytest.mark.parametrize(
    "strength", [{"snr": 4.0}, {"r2": 0.8}, {"effect_size": np.sqrt(4.0 / 40)}], ids=str
)
def test_the_three_ways_to_say_how_strong(strength):
    study = Study.of(*SIZES, **strength)
    assert study.snr == pytest.approx(4.0)
    assert study.r2 == pytest.approx(0.8)
    assert study.effect_size == pytest.approx(np.sqrt(0.1))
    assert study.model.snr == pytest.approx(4.0)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_samples": 0}, "n_samples must be at least 2"),
        ({"n_samples": 10.5}, "n_samples must be an integer"),
        ({"n_samples": True}, "n_samples must be an integer"),
        ({"n_features": 1}, "n_features must be at least 2"),
        ({"n_signals": 0}, "n_signals must be at least 1"),
        ({"n_signals": 201}, "n_signals must be at most n_features = 200"),
        ({"r2": None}, "exactly one of r2, snr and effect_size; got none of them"),
        ({"snr": 3.0}, "exactly one of r2, snr and effect_size; got r2 and snr"),
        ({"r2": 1.0}, "r2 must be between"),
        ({"r2": -0.5}, "r2 must be between"),
        ({"r2": float("nan")}, "r2 must be finite"),
        ({"r2": [0.5, 0.6]}, "r2 must be one number"),
        ({"r2": "high"}, "r2 must be a number"),
        ({"fdr": 0.0}, "fdr must be between"),
        ({"fdr": 0.9}, "fdr must be between"),
        ({"fdr": [0.1, 0.2]}, "fdr must be one number"),
        ({"effects": "gaussian"}, "effects must be a distribution of effects"),
        (
            {"methods": ["astrology"]},
            "methods must be one of 'auto', 'stability-fdr', .*; got 'astrology'",
        ),
        ({"methods": []}, "methods must be a list of names"),
        ({"methods": 3}, "methods must be a list of names"),
    ],
)
def test_bad_input(change, message):
    given = {"n_samples": 400, "n_features": 200, "n_signals": 40, "r2": 0.8} | change
    with pytest.raises(ValueError, match=message):
        compare_methods(**given)


@pytest.mark.parametrize(
    "study",
    [
        {"n_samples": 2, "n_features": 2, "n_signals": 1, "r2": 0.5},
        {"n_samples": 5, "n_features": 1000, "n_signals": 3, "r2": 0.999},
        {"n_samples": 50, "n_features": 30, "n_signals": 30, "r2": 0.5},
        {"n_samples": 100_000, "n_features": 20, "n_signals": 4, "r2": 0.9},
        {"n_samples": 300, "n_features": 100, "n_signals": 10, "r2": 1e-6},
        {"n_samples": 300, "n_features": 100, "n_signals": 10, "snr": 1e6},
    ],
    ids=["tiny", "few rows", "all signals", "many rows", "no signal", "no noise"],
)
def test_extreme_studies_have_an_answer(study):
    for effects in (None, theory.PointEffects()):
        for one in compare_methods(**study, effects=effects).predictions:
            values = (one.power, one.fdr, one.true_selections, one.false_selections)
            assert np.isfinite(values).all(), one
            assert 0.0 <= one.power <= 1.0


def test_rare_kinds_of_effects_are_lumped_without_a_trace():
    """Laplace effects have many kinds of nearly none: the law stays what it is."""
    law = theory.LaplaceEffects()
    study = Study.of(*SIZES, r2=0.8, effects=law)
    few, many = study.model, theory.Model(2.0, 0.2, 0.05, law)
    lumped, all_kinds = few.effects.mixture(), law.mixture()
    assert lumped.mean.size < 0.5 * all_kinds.mean.size
    assert lumped.probability.sum() == pytest.approx(1.0, abs=1e-12)
    for power in (2, 4):
        moments = [m.probability @ m.sd**power for m in (lumped, all_kinds)]
        assert moments[0] == pytest.approx(moments[1], rel=1e-6)
    a, b = (theory.solve_stability(m, 0.3, 1.0).rates(0.6) for m in (few, many))
    assert a.tpr == pytest.approx(b.tpr, abs=1e-6)
    assert a.fpr == pytest.approx(b.fpr, abs=1e-6)


def test_an_unknown_prediction_is_named(found):
    with pytest.raises(ValueError, match="method must be one of those predicted, stability-fdr"):
        found.one("astrology")


def test_names_the_room_promises_are_there():
    for name in planning.__all__:
        assert getattr(planning, name) is not None


def test_methods_that_know_the_truth_are_compared_too():
    found = planning.compare_methods(150, 60, 12, r2=0.9, methods=["lasso"])
    assert found.one("lasso").power > 0.3
    assert found.best is None  # nobody knows its penalty
    assert "LassoSelection" not in str(found)
    assert "none recommended" in repr(found)


def test_a_method_that_does_not_keep_the_level_is_left_out_with_the_reason():
    """In a sparse study message passing is the most powerful; here its rate is made too large."""
    names = ["stability-fdr", "stability-pfer"]
    found = planning.compare_methods(115, 2000, 3, r2=0.5, methods=names)
    assert found.best.method == "stability-fdr"
    changed = [
        replace(one, fdr=0.12) if one.method == "stability-fdr" else one
        for one in found.predictions
    ]
    found = replace(found, predictions=tuple(changed))
    above = found.one("stability-fdr")
    assert above.power > found.one("stability-pfer").power
    best, otherwise, left_out = found.recommendation
    assert best is found.best is found.one("stability-pfer")
    assert otherwise is None
    assert [one.settings for one, _ in left_out] == ["best", "default"]
    reason = f"predicted FDR {above.fdr:.3f} is above the level 0.1"
    assert left_out[0] == (above, reason)
    assert f"Left out: {above.label}, best settings: {reason}." in str(found)


@pytest.mark.parametrize(
    ("fdr", "level", "kept"),
    [(0.1049, 0.1, True), (0.1051, 0.1, False), (0.02, 0.016, True), (0.022, 0.016, False)],
)
def test_rates_are_compared_to_two_decimals(fdr, level, kept):
    one = Prediction("knockoffs", "best", 0.5, fdr, 5.0, 1.0, "FDR", "", {})
    chosen = recommend([Candidate(one, one, level, one.power)])
    assert (chosen.best is one) == kept
    assert [reason for _, reason in chosen.left_out] == (
        [] if kept else [f"predicted FDR {fdr:.3f} is above the level {level:g}"]
    )


def test_another_method_is_named_where_the_best_may_be_refused():
    def one(method, power):
        return Prediction(method, "best", power, 0.05, 5.0, 1.0, "FDR", "", {})

    every = [
        one("knockoffs", 0.4),
        one("stability-fdr", 0.6),
        one("knockoffs-evalues", 0.5),
        one("lasso", 0.9),
    ]
    candidates = [Candidate(each, each, 0.1, each.power) for each in every]
    chosen = recommend(candidates)
    assert (chosen.best.method, chosen.otherwise.method) == ("stability-fdr", "knockoffs-evalues")
    assert recommend(candidates[:1]).otherwise is None
    assert recommend([Candidate(one("knockoffs", 0.004), one("knockoffs", 0.004), 0.1, 1.0)]) == (
        None, None, (),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("law", "name"),
    [
        (theory.GaussianEffects(), "Gaussian effects"),
        (theory.LaplaceEffects(), "Laplace effects"),
        (theory.PointEffects(), "equal effects"),
        (theory.PointEffects([1.0, -1.0, 3.0]), "effects of 2 sizes"),
        (theory.EmpiricalEffects([0.3, 0.1]), "2 given effects"),
        (theory.EmpiricalEffects([0.3]), "one given effect"),
    ],
)
def test_the_assumptions_name_the_law_of_the_effects(law, name):
    sentence = Study.of(100, 50, 5, r2=0.5, effects=law).assumptions
    assert sentence == (
        f"Assumes independent columns, independent rows, a linear response and {name}."
    )
