"""`selica plan`: what `planning` says, in tables and JSON."""

from __future__ import annotations

import json
import math

import pytest
import typer
from typer.testing import CliRunner

from selica import catalogue, planning, theory
from selica._core.errors import ArgumentError
from selica.cli import app
from selica.cli.plan_answers import rounded_up
from tests.cli.commands import invoke
from tests.cli.plans import (
    FEW,
    ONE,
    R2,
    SIZES,
    STUDY,
    K,
    N,
    P,
    plan,
    printed_code,
    printed_commands,
    report,
)

ASSUMED = "Assumes independent columns, independent rows, a linear response and {} effects."

# --- compare ---------------------------------------------------------------------------------


FORMER = {
    "stability": "stability-fdr",
    "knockoff": "knockoffs",
    "evalues": "knockoffs-evalues",
    "pvalues": "knockoffs-pvalues",
    "stability_none": "stability-pfer-none",
    "stability_unimodal": "stability-pfer-unimodal",
    "stability_r_concave": "stability-pfer",
    "ideal": "stability-ideal",
    "thresholded_lasso": "thresholded-lasso",
    "derandomized": "knockoffs-evalues",
    "aggregated": "knockoffs-pvalues",
}


@pytest.mark.parametrize("former", FORMER)
def test_a_former_name_is_planned_with_and_the_new_one_is_said(former):
    name = FORMER[former]
    words = ["plan", "compare", *STUDY, "--json", "--method"]
    done = CliRunner().invoke(app, [*words, former])
    note = (
        f"Note: --method {former} is now called {name}; the old name will be removed in selica 1.1."
    )
    assert done.stderr == f"{note}\n"
    assert json.loads(done.stdout) == json.loads(invoke(*words, name))


def test_the_names_of_methods_are_those_of_the_catalogue():
    told = report("compare", *STUDY)["methods"]
    assert list(dict.fromkeys(row["method"] for row in told)) == [
        one.name for one in catalogue.methods() if one.predictor is not None
    ]


@pytest.mark.parametrize("row", list(catalogue.methods()), ids=lambda row: row.name)
def test_what_has_no_prediction_says_so(row):
    if row.predictor is None:
        with pytest.raises(ArgumentError, match=f"^--method {row.name} has no prediction; choose"):
            plan("compare", *STUDY, "--method", row.name)


def test_compare_prints_what_planning_says():
    found = planning.compare_methods(N, P, K, r2=R2, fdr=0.2)
    lines = plan("compare", *STUDY, "--fdr", "0.2").splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("method "))
    for line, one in zip(lines[start + 1 :], found.predictions, strict=False):
        label = planning.METHODS[one.method].label
        assert line.startswith(label)
        settings, power, fdr, true, false, *promise = line[len(label) :].split()
        assert settings == one.settings
        assert " ".join(promise) == one.controls
        assert (power, fdr) == (f"{one.power:.2f}", f"{one.fdr:.3f}")
        assert (true, false) == (f"{one.true_selections:.1f}", f"{one.false_selections:.1f}")
    last = lines[start + 1 + len(found.predictions) :]
    assert last[0].split()[:3] == ["best", "possible", f"{found.ceiling.power:.2f}"]
    one_copy = ["best", "possible,", "one", "copy", f"{found.copy_ceiling.power:.2f}"]
    assert last[1].split()[:5] == one_copy
    assert last[2] == ""
    best = found.best
    words = f"it finds {best.found_low:.0f} to {best.found_high:.0f} of the {K} signals"
    assert words in " ".join(last)
    share = found.best.power / found.ceiling.power
    assert f"{100 * share:.0f} % of the best possible" in " ".join(last)
    assert printed_code("\n".join(lines)) == found.best.code
    assert ASSUMED.format("Gaussian") in " ".join(last)


def test_the_probability_to_find_one_variable():
    asked = {"r2": R2, "variable": 0.2, "methods": ["stability-fdr", "stability-pfer"]}
    found = planning.compare_methods(N, P, K, **asked)
    named = ("--method", "stability-fdr", "--method", "stability-pfer")
    text = plan("compare", *STUDY, "--variable", "0.2", *named)
    row = next(line for line in text.splitlines() if line.startswith("stability, p-values"))
    assert row.split()[-2] == f"{found.one('stability-fdr').variable_power:.2f}"
    chance = f"a probability of {found.best.variable_power:.2f}."
    assert f"the one variable with {chance}" in " ".join(text.split())
    told = report("compare", *STUDY, "--variable", "0.2", *named)
    assert told["methods"][0]["variable_power"] == found.predictions[0].variable_power


def test_the_json_of_compare():
    found = planning.compare_methods(N, P, K, r2=R2)
    told = report("compare", *STUDY)
    assert [told[name] for name in ("n_samples", "n_features", "n_signals")] == [N, P, K]
    assert told["best"] == {"method": found.best.method, "settings": found.best.settings}
    assert told["ceiling"]["power"] == found.ceiling.power
    for row, one in zip(told["methods"], found.predictions, strict=True):
        for name, value in one.to_dict().items():
            assert row[name] == value
        assert row["parameters"] == one.parameters


@pytest.mark.parametrize(
    "strength",
    [["--snr", R2 / (1 - R2)], ["--effect-size", math.sqrt(R2 / (1 - R2) / K)]],
    ids=["snr", "effect size"],
)
def test_three_ways_to_say_how_strong_signals_are(strength):
    one = report("compare", *STUDY, *ONE)["methods"][0]
    other = report("compare", *SIZES, *strength, *ONE)["methods"][0]
    assert other["power"] == pytest.approx(one["power"], abs=1e-6)


@pytest.mark.parametrize(
    ("name", "law"),
    [("laplace", theory.LaplaceEffects()), ("point", theory.PointEffects())],
)
def test_laws_of_effects(name, law):
    told = report("compare", *STUDY, "--effects", name, *ONE)
    want = planning.compare_methods(N, P, K, r2=R2, effects=law, methods=["stability-fdr"])
    usual = report("compare", *STUDY, *ONE)["methods"][0]["power"]
    assert told["effects"] == name
    assert told["methods"][0]["power"] == want.one("stability-fdr").power
    assert abs(told["methods"][0]["power"] - usual) > 0.01


GIVEN = [0.5, -0.3, 0.2, 0.1, 0.1, 0.05]


def test_effects_of_ones_own(tmp_path):
    """By numbers or by a file; as many signals as effects."""
    size = ["-n", N, "-p", P, "--r2", R2]
    told = report("compare", *size, "--effects", ",".join(map(str, GIVEN)), *ONE)
    law = theory.EmpiricalEffects(GIVEN)
    want = planning.compare_methods(N, P, len(GIVEN), r2=R2, effects=law, methods=["stability-fdr"])
    assert told["n_signals"] == len(GIVEN)
    assert told["methods"][0]["power"] == want.one("stability-fdr").power
    assert told["assumptions"].endswith("a linear response and 6 given effects.")
    file = tmp_path / "effects.csv"
    file.write_text("".join(f"{x}\n" for x in GIVEN))
    assert report("compare", *size, "-k", len(GIVEN), "--effects", file, *ONE) == told
    text = plan("compare", *size, "--effects", file, *ONE)
    assert ASSUMED.format("6 given") in " ".join(text.split())


@pytest.mark.parametrize("question", ["samples", "effect", "signals", "fdr"])
def test_effects_of_ones_own_in_the_other_questions(question):
    args = {
        "samples": ["-p", P, "--r2", R2],
        "effect": ["-n", N, "-p", P],
        "signals": ["-n", N, "-p", P, "--r2", R2],
        "fdr": ["-n", N, "-p", P, "--r2", R2],
    }[question]
    text = plan(question, *args, "--power", "0.5", "--effects=-1,2,3", *ONE)
    assert ASSUMED.format("3 given") in " ".join(text.split())


def test_the_law_of_the_effects_is_named_where_it_decides():
    """1470 samples for Gaussian effects, 227 for equal ones."""
    study = ["-p", "200", "-k", "20", "--r2", "0.6", *ONE]
    text = plan("samples", *study)
    equal = report("samples", *study, "--effects", "point")["best"]["value"]
    told = report("samples", *study)
    assert told["best"]["value"] > 5 * equal
    line = (
        "What would change this most: with equal effects instead of Gaussian effects the answer "
        f"would be {equal} samples."
    )
    assert told["most_sensitive"] == line
    assert line in " ".join(text.split())
    assert "with equal effects" not in plan("samples", *study, "--effects", "point")


def test_an_effect_size_is_told_as_a_share_of_the_variance_too():
    text = plan("compare", *SIZES, "--effect-size", "0.5", *ONE)
    assert "12 signals, R2 = 0.75 (standardised beta 0.25)" in text  # 12 effects: 3 to 1
    asked = ["effect", *SIZES, "--power", "0.7", *ONE]
    (row,) = report(*asked)["methods"]
    snr = K * row["value"] ** 2
    assert row["r2"] == pytest.approx(snr / (1 + snr))
    said = " ".join(plan(*asked).split())
    beta = row["value"] / math.sqrt(1 + snr)
    assert f"(R2 = {row['r2']:.3g}, standardised beta {beta:.2g})" in said


def test_one_signal_is_one():
    text = plan("compare", "-n", "50", "-p", "30", "-k", "1", "--r2", "0.5", *ONE)
    assert "30 variables, 1 signal, R2" in text


TWO = ["--method", "stability-fdr", "--method", "stability-pfer"]


def test_a_method_named_twice_has_one_row_for_each_setting():
    assert len(report("compare", *STUDY, *ONE, *ONE)["methods"]) == 2


def test_nothing_is_recommended_that_the_truth_must_set():
    text = plan("compare", *STUDY, "--method", "lasso")
    assert "the truth sets the threshold or the penalty" in text
    assert "selica select" not in text
    assert report("compare", *STUDY, "--method", "lasso")["best"] is None


def test_nothing_is_recommended_that_finds_nothing():
    text = plan("compare", *SIZES, "--r2", "0.0001", *FEW)
    assert "finds anything in such a study" in text
    assert printed_commands(text) == []


# --- inverse questions -----------------------------------------------------------------------


def power_of(*args):
    """Of stability selection at its best, by another command."""
    return report("compare", *args, *ONE)["methods"][0]["power"]


def test_one_sample_less_is_not_enough():
    told = report("samples", *SIZES[2:], "--r2", R2, "--power", "0.6", *ONE)
    (row,) = told["methods"]
    n = row["value"]
    assert told["best"] == {"method": "stability-fdr", "value": n}
    study = [*SIZES[2:], "--r2", R2]
    assert power_of("-n", n, *study) == row["power"] >= 0.6
    assert power_of("-n", n - 1, *study) < 0.6
    tried = {point["value"]: point["power"] for point in row["tried"]}
    assert tried[n] == row["power"]
    assert list(tried) == sorted(tried)


def test_one_signal_more_is_too_many():
    (row,) = report("signals", *SIZES[:4], "--r2", R2, "--power", "0.7", *ONE)["methods"]
    k = row["value"]
    study = [*SIZES[:4], "--r2", R2]
    assert power_of(*study, "-k", k) >= 0.7
    assert power_of(*study, "-k", k + 1) < 0.7


def test_the_printed_effect_and_no_smaller_one_is_found():
    asked = ["effect", *SIZES, "--power", "0.7", *ONE]
    value = report(*asked)["methods"][0]["value"]
    said = next(line for line in plan(*asked).splitlines() if line.startswith("Smallest"))
    shown = float(said.split(": ")[1].split()[0])
    assert value <= shown < 1.01 * value
    assert power_of(*SIZES, "--effect-size", shown) >= 0.7
    assert power_of(*SIZES, "--effect-size", 0.98 * value) < 0.7


def test_the_printed_level_and_no_smaller_one_leaves_the_power():
    asked = ["fdr", *STUDY, "--power", "0.75", *ONE]
    text = plan(*asked)
    value = report(*asked)["methods"][0]["value"]
    (command,) = printed_commands(text)
    shown = float(command[command.index("--fdr") + 1])
    assert f"Smallest level: {shown:g} with" in text
    assert f"fdr={shown:g}," in printed_code(text)
    assert value <= shown < 1.01 * value
    assert power_of(*STUDY, "--fdr", shown) >= 0.75
    assert power_of(*STUDY, "--fdr", 0.98 * value) < 0.75


@pytest.mark.parametrize("x", [0.001, 0.0123401, 0.1, 0.19465744, 0.25, 0.5, 1.708583, 9.996, 10.0])
def test_rounding_up(x):
    shown = rounded_up(x)
    assert x * (1 - 1e-12) <= shown <= 1.01 * x
    assert float(f"{shown:.3g}") == shown


def test_what_is_not_reached():
    asked = ["samples", *SIZES[2:], "--r2", "0.3", "--at-most", "40", *FEW]
    told = report(*asked)
    assert [row["value"] for row in told["methods"]] == [None, None]
    assert told["best"] is None
    assert all(point["value"] <= 40 for row in told["methods"] for point in row["tried"])
    text = plan(*asked)
    assert text.count("not reached") == 4  # two methods, the ceiling, and what it means
    assert "not reached: no number of samples up to 40 is enough" in text
    assert "reaches a power of 0.8" in text
    assert printed_commands(text) == []


def test_the_fewest_samples_are_recommended():
    told = report("samples", *SIZES[2:], "--r2", R2, "--power", "0.5", *FEW)
    fewest = min(told["methods"], key=lambda row: row["value"])
    assert told["best"] == {"method": fewest["method"], "value": fewest["value"]}


def test_by_default_all_that_set_their_threshold_by_the_data():
    told = report("fdr", *STUDY, "--power", "0.3")
    names = [name for name, known in planning.METHODS.items() if known.calibrated]
    assert [row["method"] for row in told["methods"]] == names


def test_selectors_as_they_come():
    told = report("samples", *SIZES[2:], "--r2", R2, "--settings", "default", *ONE)
    assert told["methods"][0]["parameters"] == {"fdr": 0.1, "engine": "auto"}


# --- the look --------------------------------------------------------------------------------

LARGE = ["-n", "400000", "-p", "500000", "-k", "10000"]
LOOKS = {
    "compare": ["compare", *STUDY],
    "compare large": ["compare", *LARGE, "--r2", "0.123456", "--fdr", "0.0123", *FEW],
    "samples": ["samples", *SIZES[2:], "--effect-size", "0.3", "--power", "0.4", *FEW],
    "effect": ["effect", *SIZES, "--power", "0.999", "--effects", "point", *ONE],
    "signals": ["signals", *SIZES[:4], "--snr", "9", "--power", "0.5", *ONE],
    "fdr": ["fdr", *STUDY, "--power", "0.456789", *FEW],
}


@pytest.mark.parametrize("args", LOOKS.values(), ids=LOOKS.keys())
def test_everything_fits_a_terminal(args):
    text = plan(*args)
    assert "…" not in text
    assert max(len(line.rstrip()) for line in text.splitlines()) <= 80
    assert "nan" not in text


@pytest.mark.parametrize("question", ["compare", "samples", "effect", "signals", "fdr"])
def test_a_figure_is_written(question, tmp_path):
    path = tmp_path / "plan.png"
    args = {
        "compare": STUDY,
        "samples": [*SIZES[2:], "--r2", "0.9"],
        "effect": SIZES,
        "signals": [*SIZES[:4], "--r2", "0.9"],
        "fdr": STUDY,
    }[question]
    text = plan(question, *args, *ONE, "--plot", path)
    assert text.splitlines()[-1] == f"Figure written to {path}"
    assert path.read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
    path.unlink()
    assert report(question, *args, *ONE, "--plot", path)["methods"]
    assert path.exists()


# --- help ------------------------------------------------------------------------------------


def test_help_names_every_question_and_option():
    group = typer.main.get_command(app).commands["plan"]
    assert list(group.commands) == [
        "compare", "samples", "effect", "signals", "fdr", "table", "diagnose",
    ]  # fmt: skip
    alone = plan()
    for name, command in group.commands.items():
        assert f"  {name} " in alone
        text = plan(name, "--help")
        assert f"Example: selica plan {name} " in text
        for parameter in command.params:
            if parameter.param_type_name == "option":
                assert parameter.opts[0] in text


def test_the_examples_of_the_help_run():
    group = typer.main.get_command(app).commands["plan"]
    for name in ("compare", "samples", "effect", "signals", "fdr"):
        words = group.commands[name].help.split("Example: selica ")[1].split()
        assert json.loads(invoke(*words, *ONE, "--json"))["methods"][0]["power"] > 0.1
