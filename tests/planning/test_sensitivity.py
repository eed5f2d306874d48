"""What would change an answer most: every sentence is checked by the study that it names."""

from __future__ import annotations

import re

import pytest

from selica import planning, theory
from selica.planning.questions.sensitivity import most_sensitive

SIZES = {"n_features": 60, "n_signals": 8}
ONE = {"method": "stability-pfer", "fdr": 0.2}
BEGIN = "What would change this most: with "


def compared(**given):
    """A comparison of one method, with its best settings recommended."""
    study = {"n_samples": 120, "r2": 0.7, "methods": "stability-pfer", "fdr": 0.2} | SIZES | given
    return planning.compare_methods(**study)


def told(found):
    sentence = most_sensitive(found)
    assert sentence.startswith(BEGIN)
    return sentence.removeprefix(BEGIN)


CHANGES = {
    "equal effects instead of Gaussian effects": {"effects": theory.PointEffects()},
    "Gaussian effects instead of equal effects": {"effects": theory.GaussianEffects()},
    "effects half as large": {"snr": 0.7 / 0.3 / 4.0, "r2": None},
}


def changed_power(words, found, **given):
    """The power of the recommended method in the study that the words name."""
    best = found.best
    if words == "neighbouring columns correlated by 0.5":
        n = round(0.6 * found.study.n_samples)  # (1 - r^2) / (1 + r^2)
        return compared(**given | {"n_samples": n}).one(best.method, best.settings).power
    return compared(**given | CHANGES[words]).one(best.method, best.settings).power


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"effects": theory.PointEffects()},
        {"n_samples": 40},
        {"n_samples": 3000, "effects": theory.PointEffects()},
        {"covariance": ("ar1", 0.5), "methods": "knockoffs"},
    ],
    ids=["gaussian", "equal", "few samples", "many samples", "correlated"],
)
def test_the_power_is_that_of_the_changed_study(given):
    found = compared(**given)
    sentence = told(found)
    words, about, power = re.fullmatch(
        r"(.*) the power would be (about )?(\d\.\d\d)\.", sentence
    ).groups()
    want = changed_power(words, found, **given)
    assert power == f"{want:.2f}"
    assert bool(about) == (words not in CHANGES)
    for other in CHANGES if "covariance" not in given else []:
        if found.study.effects.label != CHANGES[other].get(
            "effects", found.study.effects
        ).label or ("snr" in CHANGES[other]):
            moved = abs(changed_power(other, found, **given) - found.best.power)
            assert abs(want - found.best.power) >= moved - 1e-12


def test_correlated_neighbours_cost_about_what_is_said():
    """The share of the samples stands for the theory of correlated columns."""
    n, fewer = 200, round(0.6 * 200)
    asked = {"effects": theory.PointEffects(), "methods": "knockoffs", "n_features": 60}
    approximate = compared(**asked, n_samples=fewer).one("knockoffs").power
    exact = compared(**asked, n_samples=n, covariance=("ar1", 0.5)).one("knockoffs").power
    assert approximate == pytest.approx(exact, abs=0.12)
    independent = compared(**asked, n_samples=n).one("knockoffs").power
    assert abs(approximate - exact) < abs(independent - exact) + 0.02


@pytest.mark.parametrize(
    ("effects", "words"),
    [
        (theory.GaussianEffects(), ["equal effects instead of Gaussian effects"]),
        (
            theory.PointEffects(),
            ["Gaussian effects instead of equal effects", "effects half as large"],
        ),
    ],
    ids=["gaussian", "equal"],
)
def test_the_samples_are_those_of_the_changed_study(effects, words):
    found = planning.required_samples(0.8, **SIZES, **ONE, r2=0.7, effects=effects)
    named, samples = re.fullmatch(
        r"(.*) the answer would be ([\d,]+) samples\.", told(found)
    ).groups()
    assert named in words
    given = {"r2": 0.7, "effects": effects} | CHANGES[named]
    again = planning.required_samples(0.8, **SIZES, **ONE, **given)
    assert int(samples.replace(",", "")) == again.best.value


def test_one_size_for_all_signals_is_equal_effects():
    """Nothing changes from equal to equal: Gaussian effects are tried, and half the effect."""
    found = compared(r2=None, effects=planning.Betas(0.25), n_samples=200)
    assert "equal effects instead of" not in told(found)


def test_the_other_questions_have_a_sentence_on_the_power():
    for found in (
        planning.detectable_effect(0.5, n_samples=120, **SIZES, **ONE),
        planning.achievable_fdr(0.5, n_samples=120, **SIZES, r2=0.7, method="stability-pfer"),
    ):
        assert re.search(r"the power would be (about )?\d\.\d\d\.$", most_sensitive(found))


def test_nothing_is_said_where_nothing_is_recommended_or_changes():
    assert most_sensitive(compared(r2=1e-6)) is None
    sure = compared(r2=None, snr=1e5, n_samples=20_000, effects=theory.PointEffects())
    sentence = most_sensitive(sure)
    assert sentence is None or "Gaussian effects" in sentence
    none = planning.required_samples(0.8, **SIZES, **ONE, r2=0.01, at_most=50)
    assert none.best is None
    assert most_sensitive(none) is None
