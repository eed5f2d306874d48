"""A sample size as a paragraph: its numbers are those of the answer, and its command gives them."""

from __future__ import annotations

import json
import re
import shlex

import pytest

from selica import planning, selectors, theory
from selica._version import __version__
from selica.planning.questions.protocol import protocol
from tests.cli.commands import invoke

COMMAND = "selica plan samples -p 60 -k 8 --r2 0.7 --power 0.6 --fdr 0.2"


@pytest.fixture(scope="module")
def found():
    return planning.required_samples(0.6, n_features=60, n_signals=8, r2=0.7, fdr=0.2)


@pytest.fixture(scope="module")
def text(found):
    return protocol(found, command=COMMAND)


STUDIES = {
    "numeric": {"r2": 0.7, "n_signals": 8},
    "list": {"effects": planning.Betas([0.4, 0.3, 0.3, 0.2])},
    "binary": {
        "effects": planning.OddsRatios(2.5), "n_signals": 5,
        "response": planning.Binary(0.02, cases=0.5),
    },
    "counts": {"effects": planning.RateRatios([1.6, 1.5]), "response": planning.Counts(2.0)},
    "survival": {"r2": 0.4, "n_signals": 4, "response": planning.Survival(0.3)},
}  # fmt: skip


@pytest.mark.parametrize("kind", STUDIES)
def test_the_length_of_every_kind(kind):
    found = planning.required_samples(
        0.5, n_features=30, **STUDIES[kind], fdr=0.2, method="stability-pfer"
    )
    text = protocol(found, command="selica plan samples -p 60")
    assert 120 <= len(text.split()) <= 200
    assert len(text.splitlines()) == 7
    response = found.study.response
    assert response.label in text
    assert f"% of {response.explained} (typical signal: {found.study.typical_effect})" in text
    n = found.best.value
    told = response.informative(n)
    first = f"n = {n:,} samples ({told})." if told else f"n = {n:,} samples."
    assert first in text
    assert "nan" not in text
    assert "None" not in text


def test_its_numbers_are_those_of_the_answer(found, text):
    best = found.best
    at = best.prediction
    assert f"planned with n = {best.value:,} samples." in text
    assert "among 60 candidate variables" in text
    assert "We assume 8 signals with Gaussian effects, which together explain 70 %" in text
    assert f"predicted to be {at.power:.2f}" in text
    assert f"{8 * at.power:.1f} of 8 on average" in text
    assert "0.6 was required" in text
    assert at.code in text
    assert f"Software: selica {__version__} [1]." in text
    assert "it assumes independent columns and independent rows" in text


def test_the_code_in_it_is_a_selector(found, text):
    code = re.search(r"\((\w+Selection\(.*?\))\)", text)[1]
    selector = eval(code, vars(selectors))
    assert {k: selector.get_params()[k] for k in found.best.prediction.parameters} == (
        found.best.prediction.parameters
    )


def test_its_command_gives_the_same_answer(found, text):
    command = text.splitlines()[-1].removeprefix("Command: ")
    assert command == COMMAND
    told = json.loads(invoke(*shlex.split(command)[1:], "--json"))
    assert told["best"] == {"method": found.best.method, "value": found.best.value}


def test_another_method_than_the_recommended_one(found):
    text = protocol(found, command=COMMAND, method="stability-pfer")
    assert f"n = {found.one('stability-pfer').value:,} samples" in text
    assert "which bounds the expected number of false selections" in text
    assert protocol(found, command=COMMAND, method="knockoffs") != text


def test_what_has_no_paragraph(found):
    effect = planning.detectable_effect(
        0.5, n_samples=100, n_features=60, n_signals=8, method="stability-pfer"
    )
    with pytest.raises(ValueError, match="the requirement is about the effect size"):
        protocol(effect, command=COMMAND)
    none = planning.required_samples(
        0.9, n_features=60, n_signals=8, r2=0.1, at_most=20, method="stability-pfer"
    )
    with pytest.raises(ValueError, match="no number of samples that was tried reaches the power"):
        protocol(none, command=COMMAND)
    for wrong in ("", "  ", None):
        with pytest.raises(ValueError, match="command must be the text of a command"):
            protocol(found, command=wrong)


def test_a_prediction_without_draws_has_no_monte_carlo_error(found):
    ideal = planning.required_samples(
        0.6, n_features=60, n_signals=8, r2=0.7, method="stability-pfer",
        effects=theory.PointEffects(),
    )  # fmt: skip
    at = ideal.best.prediction
    error = "Monte-Carlo standard error" if at.power_error > 0 else "without Monte-Carlo error"
    assert error in protocol(ideal, command=COMMAND)
