"""Inverse questions: answers that are the smallest, or the largest, or that say there is none."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from selica import planning, theory
from selica.planning import (
    achievable_fdr,
    compare_methods,
    detectable_effect,
    largest_support,
    required_samples,
)

STUDY = {"n_features": 150, "n_signals": 20, "r2": 0.7}


@pytest.fixture(scope="module")
def samples():
    return required_samples(0.7, **STUDY, method=["stability-fdr", "knockoffs"])


def power_of(method, n, **change):
    study = STUDY | change
    return compare_methods(n, **study, methods=[method]).one(method).power


@pytest.mark.parametrize("method", ["stability-fdr", "knockoffs"])
def test_the_smallest_number_of_samples(samples, method):
    answer = samples.one(method)
    n = answer.value
    assert isinstance(n, int)
    assert power_of(method, n) == answer.prediction.power >= 0.7
    assert power_of(method, round(0.96 * n)) < 0.7  # draws have errors: not to the last sample
    assert power_of(method, 2 * n) > 0.75
    tried = dict(zip(answer.x, answer.power, strict=True))
    assert tried[n] == answer.prediction.power
    assert np.all(np.diff(answer.x) > 0.0)


def test_the_curve_rises(samples):
    for answer in samples.answers:
        assert np.all(np.diff(answer.power) > -0.05)
        assert answer.power[0] < 0.2


def test_stronger_signals_need_fewer_samples(samples):
    strong = required_samples(0.7, **(STUDY | {"r2": 0.9}), method="stability-fdr")
    assert strong.one("stability-fdr").value < 0.7 * samples.one("stability-fdr").value


def test_what_cannot_be_reached_is_said():
    few = required_samples(0.7, **STUDY, method="stability-fdr", at_most=60)
    answer = few.one("stability-fdr")
    assert answer.value is None
    assert answer.prediction.power == answer.power.max() < 0.7
    assert "not reached" in str(few)
    # aggregated p-values at level 0.1 allow no selection of fewer than 34
    never = required_samples(0.7, **STUDY, method="knockoffs-pvalues", at_most=20_000)
    assert never.one("knockoffs-pvalues").value is None


def test_the_smallest_effect():
    found = detectable_effect(
        0.6, n_samples=300, n_features=150, n_signals=20, method="stability-fdr"
    )
    size = found.one("stability-fdr").value
    sizes = {"n_samples": 300, "n_features": 150, "n_signals": 20, "methods": ["stability-fdr"]}
    assert compare_methods(**sizes, effect_size=size).best.power >= 0.6
    assert compare_methods(**sizes, effect_size=0.99 * size).one("stability-fdr").power < 0.6


def test_the_largest_number_of_signals():
    arguments = {"n_samples": 300, "n_features": 150, "r2": 0.8}
    k = largest_support(0.5, **arguments, method="stability-fdr").one("stability-fdr").value
    assert isinstance(k, int)

    def power(n_signals):
        return compare_methods(**arguments, n_signals=n_signals, methods=["stability-fdr"]).one(
            "stability-fdr"
        )

    assert power(k).power >= 0.5
    assert power(k + 1).power < 0.5


def test_the_smallest_level():
    found = achievable_fdr(0.6, n_samples=300, **STUDY, method="knockoffs").one("knockoffs")
    assert power_of("knockoffs", 300, fdr=found.value) >= 0.6
    assert power_of("knockoffs", 300, fdr=0.98 * found.value) < 0.6
    assert found.prediction.fdr <= found.value


def test_levels_beyond_reach_and_levels_that_need_no_search():
    weak = achievable_fdr(0.9, n_samples=50, **STUDY, method="stability-fdr").one("stability-fdr")
    assert weak.value is None
    easy = achievable_fdr(0.2, n_samples=5000, **STUDY, method="stability-fdr").one("stability-fdr")
    assert easy.value == pytest.approx(1e-3)


def test_it_is_printed_tabled_and_drawn(samples):
    assert str(samples).startswith("samples for power 0.7")
    assert str(samples.one("knockoffs").value) in str(samples)
    assert f"knockoffs={samples.one('knockoffs').value}" in repr(samples)
    rows = json.loads(json.dumps(samples.to_dict()))["methods"]
    assert [row["value"] for row in rows] == [a.value for a in samples.answers]
    assert list(samples.to_frame()["method"]) == ["stability-fdr", "knockoffs"]
    (axes,) = samples.plot().get_axes()
    assert axes.get_xlabel() == "samples"
    marked = [line.get_xdata()[0] for line in axes.get_lines() if len(line.get_xdata()) == 1]
    assert marked == [a.value for a in (*samples.answers, samples.ceiling)]


def test_what_is_recommended_keeps_the_level():
    """Message passing needs fewest samples here, but with a rate that is above the level."""
    names = ["stability-fdr", "stability-pfer"]
    found = required_samples(0.5, n_features=2000, n_signals=3, r2=0.5, method=names)
    first, kept = found.one("stability-fdr"), found.one("stability-pfer")
    assert found.best == first
    assert first.value < kept.value
    assert first.prediction.fdr == pytest.approx(0.1 * (1.0 - 3 / 2000))  # Benjamini, Hochberg
    above = replace(first, prediction=replace(first.prediction, fdr=0.12))
    found = replace(found, answers=(above, kept))
    best, otherwise, left_out = found.recommendation
    assert (best, otherwise) == (kept, None)
    reason = f"predicted FDR {above.prediction.fdr:.3f} is above the level 0.1"
    assert left_out == ((above, reason),)
    text = str(found)
    assert f"Fewest samples: {kept.value} with {kept.prediction.label}: " in text
    assert f"Left out: {above.prediction.label}: {reason}." in text
    assert text.endswith("a linear response and Gaussian effects.")


def test_the_level_that_is_searched_is_the_level_to_keep():
    found = achievable_fdr(0.6, n_samples=300, **STUDY, method=["knockoffs", "stability-fdr"])
    assert found.fdr is None
    assert found.best.value == min(answer.value for answer in found.answers)
    assert found.superlative == "Smallest level"


def test_equal_effects_need_far_fewer_samples():
    """The law of the effects decides: 1470 samples or 227."""
    study = {"n_features": 200, "n_signals": 20, "r2": 0.6, "method": "stability-fdr"}
    gaussian = required_samples(0.8, **study)
    equal = required_samples(0.8, **study, effects=theory.PointEffects())
    assert gaussian.best.value > 5 * equal.best.value
    assert str(equal).endswith("a linear response and equal effects.")


def test_no_method_needs_fewer_samples_than_the_ceiling(samples):
    n = samples.ceiling.value
    assert n <= min(answer.value for answer in samples.answers)
    study = compare_methods(n, **STUDY, methods=["lasso"])
    assert study.ceiling.power >= 0.7
    assert compare_methods(n - 1, **STUDY, methods=["lasso"]).ceiling.power < 0.7
    assert "best possible" in str(samples)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"power": 0.0}, "power must be between"),
        ({"power": 1.0}, "power must be between"),
        ({"power": "most"}, "power must be a number"),
        ({"power": [0.5, 0.6]}, "power must be one number"),
        ({"fdr": 2.0}, "fdr must be between"),
        ({"method": "astrology"}, "method must be one of"),
        ({"settings": "worst"}, "settings must be one of 'best', 'default'"),
        ({"at_most": 1}, "at_most must be at least 2"),
        ({"n_signals": 151}, "n_signals must be at most n_features"),
        ({"r2": None}, "exactly one of r2, snr and effect_size"),
    ],
)
def test_bad_input(change, message):
    with pytest.raises(ValueError, match=message):
        required_samples(**({"power": 0.7} | STUDY | change))


def test_bad_input_of_the_other_questions():
    with pytest.raises(ValueError, match="n_samples must be an integer"):
        detectable_effect(0.5, n_samples=30.5, n_features=20, n_signals=3)
    with pytest.raises(ValueError, match="n_features must be at least 2"):
        largest_support(0.5, n_samples=30, n_features=0, r2=0.5)
    with pytest.raises(ValueError, match="exactly one of"):
        achievable_fdr(0.5, n_samples=30, n_features=20, n_signals=3)


def test_an_unknown_answer_is_named(samples):
    with pytest.raises(ValueError, match="method must be one of 'stability-fdr', 'knockoffs'"):
        samples.one("knockoffs-evalues")


def test_all_calibrated_methods_by_default():
    found = largest_support(0.9, n_samples=20, n_features=10, r2=0.3)
    calibrated = [name for name, method in planning.METHODS.items() if method.calibrated]
    assert [answer.method for answer in found.answers] == calibrated


def test_curves_of_all_methods_go_to_where_the_last_has_enough():
    found = planning.required_samples(
        0.5,
        n_features=60,
        n_signals=15,
        r2=0.9,
        fdr=0.2,
        method=["stability-fdr", "stability-pfer-none"],
    )
    soon, late = found.one("stability-fdr"), found.one("stability-pfer-none")
    assert soon.value < 0.6 * late.value
    assert soon.x.max() >= late.value
    assert soon.power[np.argmax(soon.x)] > 0.5


def test_answers_are_numbers_to_be_typed():
    level = achievable_fdr(0.5, n_samples=300, **STUDY, method="stability-fdr").one("stability-fdr")
    assert level.value == float(f"{level.value:.5g}")
    assert f"fdr={level.value!r}" in level.prediction.code
    size = detectable_effect(
        0.6, n_samples=311, n_features=150, n_signals=20, method="stability-fdr"
    ).one("stability-fdr")
    assert size.value == float(f"{size.value:.5g}")


def test_the_figure_names_the_study_and_ends_beyond_the_answers():
    """A method that a million samples do not help does not stretch the axis."""
    found = planning.required_samples(
        0.5, n_features=60, n_signals=6, r2=0.6, method=["stability-pfer", "knockoffs-pvalues"]
    )
    needed, never = found.answers
    assert never.value is None
    assert never.x.max() > 100 * needed.value
    axes = found.plot().axes[0]
    drawn = max(float(np.max(line.get_xdata())) for line in axes.get_lines() if line.get_label())
    assert needed.value <= drawn <= 4.0 * max(needed.value, found.ceiling.value)
    assert axes.get_title(loc="left") == (
        "60 variables, 6 signals, R2 = 0.6, FDR 0.1\n"
        "a linear response, Gaussian effects, independent columns"
    )


@pytest.mark.parametrize("question", ["effect", "signals", "level"])
def test_curves_are_drawn_around_the_answers(question):
    """The same answer with and without; points close enough for a line."""
    study = {"n_samples": 150, "n_features": 60, "method": "stability-pfer"}
    ask = {
        "effect": partial(planning.detectable_effect, n_signals=6, **study),
        "signals": partial(planning.largest_support, r2=0.8, **study),
        "level": partial(planning.achievable_fdr, n_signals=6, r2=0.8, **study),
    }[question]
    plain, drawn = ask(0.5), ask(0.5, curves=True)
    (before,), (after,) = plain.answers, drawn.answers
    assert before.value == after.value
    assert before.prediction == after.prediction
    assert plain.study == drawn.study
    assert after.x.size > before.x.size
    assert set(before.x) <= set(after.x)
    near = after.x[(after.x >= before.value / 2.0) & (after.x <= 2.0 * before.value)]
    whole = 1.0 if question == "signals" else 0.0  # neighbours among whole numbers
    assert np.all(np.diff(near) <= np.maximum(0.5 * near[:-1], whole))
