"""`selica plan`: what `planning` says, commands that run as printed, one line for bad input."""

from __future__ import annotations

import csv
import json
import math
import shlex
import sys
from pathlib import Path

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from selica import planning, selectors, theory
from selica._core.errors import ArgumentError
from selica.cli import app, main
from selica.cli.output import copyable
from selica.cli.plan_answers import rounded_up
from selica.cli.plan_options import Procedure
from selica.cli.select import Source, command_of
from selica.sampling import simulate

N, P, K, R2 = 150, 60, 12, 0.9
SIZES = ["-n", str(N), "-p", str(P), "-k", str(K)]
STUDY = [*SIZES, "--r2", str(R2)]
FEW = ["--method", "stability", "--method", "knockoff"]
ONE = ["--method", "stability"]


def invoke(*args):
    """What a command prints, run in this process."""
    result = CliRunner().invoke(app, [*map(str, args)], env={"COLUMNS": "80"})
    if result.exception is not None:
        raise result.exception
    assert result.exit_code == 0
    assert result.stderr == ""
    return result.stdout


def plan(*args):
    return invoke("plan", *args)


def no_constant(name):
    raise AssertionError(f"{name} is not JSON")


def report(*args):
    return json.loads(plan(*args, "--json"), parse_constant=no_constant)


def printed_commands(text):
    """Commands among the lines, with those that are continued joined as a shell does."""
    joined = text.replace("\\\n", "").splitlines()
    return [shlex.split(line) for line in joined if line.startswith("  selica ")]


def printed_code(text):
    """The selector, which may take several lines."""
    return text.split("or, in Python,\n")[1].split("\n\n")[0].strip()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Tables like the study, with a seed whose data message passing can be believed on."""
    folder = tmp_path_factory.mktemp("tables")
    data = simulate(N, P, K, snr=R2 / (1.0 - R2), random_state=1)
    names = [f"x{j}" for j in range(P)]
    for file, target in (("table", data.y), ("classes", np.where(data.y > 0, "case", "control"))):
        with (folder / f"{file}.csv").open("w", newline="") as out:
            writer = csv.writer(out)
            writer.writerow(["patient", *names, "y"])
            for i, row in enumerate(data.X):
                writer.writerow([f"id{i}", *row, target[i]])
    with (folder / "plain.csv").open("w", newline="") as out:
        writer = csv.writer(out)
        writer.writerow([*names, "y"])
        writer.writerows([*row, y] for row, y in zip(data.X, data.y, strict=True))
    return folder


# --- compare ---------------------------------------------------------------------------------


def test_the_names_of_methods_are_those_of_planning():
    assert [one.value for one in Procedure] == list(planning.METHODS)


def test_compare_prints_what_planning_says():
    found = planning.compare_methods(N, P, K, r2=R2, fdr=0.2)
    lines = plan("compare", *STUDY, "--fdr", "0.2").splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("method "))
    for line, one in zip(lines[start + 1 :], found.predictions, strict=False):
        label = planning.METHODS[one.method].label
        assert line.startswith(label)
        settings, power, fdr, true, false, *promise = line[len(label) :].split()
        assert settings == one.settings
        assert " ".join(promise) == one.promise
        assert (power, fdr) == (f"{one.power:.2f}", f"{one.fdr:.3f}")
        assert (true, false) == (f"{one.true_selections:.1f}", f"{one.false_selections:.1f}")
    last = lines[start + 1 + len(found.predictions) :]
    assert last[0].split()[:3] == ["best", "possible", f"{found.ceiling.power:.2f}"]
    assert last[1] == ""
    share = found.best.power / found.ceiling.power
    assert f"{100 * share:.0f} % of the best possible" in " ".join(last)
    assert printed_code("\n".join(lines)) == found.best.code


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
    want = planning.compare_methods(N, P, K, r2=R2, effects=law, methods=["stability"])
    usual = report("compare", *STUDY, *ONE)["methods"][0]["power"]
    assert told["effects"] == name
    assert told["methods"][0]["power"] == want.one("stability").power
    assert abs(told["methods"][0]["power"] - usual) > 0.01


def test_a_method_named_twice_has_one_row_for_each_setting():
    assert len(report("compare", *STUDY, *ONE, *ONE)["methods"]) == 2


def test_nothing_is_recommended_that_the_truth_must_set():
    text = plan("compare", *STUDY, "--method", "lasso")
    assert "lasso, penalty known" in text
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
    assert told["best"] == {"method": "stability", "value": n}
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


# --- what to run -----------------------------------------------------------------------------


def test_every_command_gives_the_selector_its_settings(folder, monkeypatch):
    monkeypatch.chdir(folder)
    rows = report("compare", *STUDY, "--fdr", "0.2")["methods"]
    best = [row for row in rows if row["settings"] == "best"]
    assert len(best) == len(planning.METHODS)
    for row in best:
        # copies and resamples take time and are not in question
        less = ["--n-resamples", "20"] if row["method"].startswith("stability_") else []
        words = [*shlex.split(row["command"])[1:], "--drop", "patient", *less]
        found = json.loads(invoke(*words, "--json"))
        selector = eval(row["code"], vars(selectors))  # as a reader would run it
        assert found["method"] == type(selector).__name__
        assert found["settings"].items() >= row["parameters"].items()


@pytest.mark.parametrize(
    "asked",
    [
        ["compare", *STUDY, *FEW],
        ["samples", *SIZES[2:], "--r2", "0.9", "--power", "0.6", "--method", "stability_r_concave"],
    ],
    ids=lambda asked: asked[0],
)
def test_what_is_printed_runs(asked, folder, monkeypatch):
    monkeypatch.chdir(folder)
    text = plan(*asked)
    commands = printed_commands(text)
    # message passing may be refused, and then there is another method
    assert len(commands) == (2 if "--method stability --fdr" in text else 1)
    found = []
    for command in commands:
        assert command[:3] == ["selica", "select", "table.csv"]
        found.append(json.loads(invoke(*command[1:], "--drop", "patient", "--json")))
    selector = eval(printed_code(text), vars(selectors))
    assert (
        found[0]["settings"].items()
        >= {
            name: value
            for name, value in selector.get_params().items()
            if name != "random_state" and isinstance(value, str | float)
        }.items()
    )


def test_another_method_is_named_where_the_first_may_be_refused():
    told = report("compare", *STUDY, *FEW)
    assert told["best"]["method"] == "stability"
    assert told["otherwise"]["method"] == "knockoff"
    assert report("compare", *STUDY, *ONE)["otherwise"] is None
    assert report("compare", *STUDY, "--method", "knockoff")["otherwise"] is None
    asked = ["samples", *STUDY[2:], "--power", "0.5", *FEW]
    told = report(*asked)
    by_name = {row["method"]: row["value"] for row in told["methods"]}
    assert told["otherwise"] == {"method": "knockoff", "value": by_name["knockoff"]}
    assert f"Then {by_name['knockoff']} with knockoff+, one copy:" in " ".join(plan(*asked).split())


def test_names_with_spaces_and_quotes_are_quoted():
    source = Source(Path("my tables/a b.csv"), "the 'y'", ("row name", "$HOME"))
    words = command_of("KnockoffSelection", {"fdr": 0.25, "lam": 0.03}, source.words)
    assert shlex.split(" ".join(words)) == [
        "selica", "select", "my tables/a b.csv", "--target", "the 'y'", "--drop", "row name",
        "--drop", "$HOME", "--method", "knockoffs", "--fdr", "0.25", "--lam", "0.03",
    ]  # fmt: skip


def test_a_long_command_is_cut_between_options():
    words = ["selica select", *(f"--option-{i} {i}" for i in range(20))]
    text = copyable(words)
    assert max(map(len, text.splitlines())) <= 80
    assert printed_commands(text) == [shlex.split(" ".join(words))]


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


@pytest.mark.parametrize("question", ["table", "diagnose"])
def test_a_figure_for_a_table(question, folder, tmp_path):
    path = tmp_path / "plan.png"
    more = SETS if question == "table" else ["--method", "knockoffs", "--sampler", "iid"]
    source = [folder / "plain.csv", "--target", "y"]
    assert f"Figure written to {path}" in plan(question, *source, *more, "--plot", path)
    assert path.read_bytes().startswith(b"\x89PNG\r\n\x1a\n")


# --- tables ----------------------------------------------------------------------------------

SETS = ["--n-sets", "3", "-k", str(K), "--r2", str(R2), "--fdr", "0.3", "--method", "knockoff"]


def test_power_on_ones_own_table(folder):
    columns = [folder / "table.csv", "--drop", "patient", "--target", "y"]
    told = report("table", *columns, *SETS, "--seed", "4")
    X = np.loadtxt(folder / "plain.csv", delimiter=",", skiprows=1)[:, :P]
    want = planning.plasmode_power(
        X, K, r2=R2, fdr=0.3, methods="knockoff", n_sets=3, random_state=4
    )
    (row,) = want.methods
    (got,) = told["methods"]
    assert got["label"] == row["method"]
    (first,) = planning.correlated_power(
        X, K, r2=R2, fdr=0.3, methods="knockoff", random_state=4
    )  # fmt: skip
    assert got["correlated"] == first["power"]
    assert {k: v for k, v in got.items() if k not in ("method", "label", "correlated")} == {
        k: v for k, v in row.items() if k != "method"
    }
    assert (got["method"], told["n_features"], told["n_samples"]) == ("knockoff", P, N)
    assert told["r2"] == pytest.approx(R2)
    assert row["power"] > 0.3  # so that there is something to recommend
    command = shlex.split(told["best"]["command"])
    assert command[2:7] == [str(folder / "table.csv"), "--target", "y", "--drop", "patient"]
    assert json.loads(invoke(*command[1:], "--json"))["settings"]["fdr"] == 0.3


def test_a_table_without_a_response_keeps_all_its_columns(folder):
    told = report("table", folder / "plain.csv", *SETS, "--no-theory")
    assert told["n_features"] == P + 1
    assert told["methods"][0]["correlated"] is None


def test_the_printed_power_on_a_table(folder):
    source = [folder / "table.csv", "--drop", "patient", "--target", "y"]
    text = plan("table", *source, *SETS)
    told = report("table", *source, *SETS)
    (row,) = told["methods"]
    lines = [line for line in text.splitlines() if line.startswith("knockoff+, one copy  ")]
    first, line = lines  # before the simulation, and after it
    assert first.split()[-2] == f"{row['correlated']:.2f}"
    power = f"{row['power']:.2f} ({row['power_low']:.2f}-{row['power_high']:.2f})"
    assert power in line
    assert line.split()[-2:] == [f"{row['selected']:.1f}", f"{row['predicted']:.2f}"]
    alone = plan("table", *source, *SETS, "--no-theory")
    assert "First answer, by theory" in text
    assert text.endswith(alone)
    long = [x for x in text.splitlines() if len(x.rstrip()) > 80 and str(source[0]) not in x]
    assert long == []


def test_diagnosis_of_a_fit(folder):
    source = [folder / "plain.csv", "--target", "y"]
    options = ["--method", "knockoffs", "--fdr", "0.2", "--sampler", "iid", "--lam", "0.05"]
    told = report("diagnose", *source, *options, "--power", "0.6")
    table = np.loadtxt(folder / "plain.csv", delimiter=",", skiprows=1)
    X, y = table[:, :P], table[:, P]
    selector = selectors.KnockoffSelection(fdr=0.2, sampler="iid", lam=0.05, random_state=0)
    want = planning.diagnose(selector.fit(X, y), X, y, power=0.6)
    assert {name: told[name] for name in want.to_dict()} == want.to_dict()
    assert (told["method"], told["fdr"], told["target"]) == ("knockoff", 0.2, 0.6)
    assert len(told["selected_variables"]) == told["selected"]
    text = plan("diagnose", *source, *options, "--power", "0.6")
    assert f"About {want.n_signals} variables matter" in text
    (command,) = printed_commands(text)
    assert command == shlex.split(told["command"])
    found = json.loads(invoke(*command[1:], *FEW, "--json"))
    assert (found["n_samples"], found["n_signals"]) == (N, want.n_signals)
    assert found["r2"] == pytest.approx(want.r2, rel=0.01)


def test_an_estimate_that_predicts_worse_than_nothing_is_not_passed_on_silently(
    folder, monkeypatch
):
    from selica.planning.diagnosis import Diagnosis

    bad = Diagnosis(N, P, 9, 0.999999, 1.0, 2.7, 0, "knockoff", 0.1, 0.9, 8.0, 0.0, 0.8, 90, True)
    monkeypatch.setattr(planning, "diagnose", lambda *_, **__: bad)
    source = [folder / "plain.csv", "--target", "y", "--method", "knockoffs", "--lam", "0.1"]
    text = plan("diagnose", *source)
    assert "do not rely on it" in text
    assert "--r2 0.999 " in text  # the command must run


# --- what is wrong ---------------------------------------------------------------------------

T = ["table", "t.csv", "-k", "1", "--r2", "0.5"]
D = ["diagnose", "t.csv", "--target", "y"]
BAD = {
    # arguments after `plan`, words of the message
    "unknown question": (["when"], "when"),
    "no samples": (["compare", *SIZES[2:], "--r2", "0.9"], "--n-samples"),
    "no signals": (["compare", *SIZES[:4], "--r2", "0.9"], "--n-signals"),
    "no strength": (["compare", *SIZES], "--effect-size; got none"),
    "two strengths": (["compare", *STUDY, "--effect-size", "1"], "got --r2 and --effect-size"),
    "strength of an effect": (["effect", *STUDY], "--r2"),
    "signals of signals": (["signals", *STUDY], "-k"),
    "samples of samples": (["samples", *STUDY], "-n"),
    "level of a level": (["fdr", *STUDY, "--fdr", "0.1"], "--fdr"),
    "nan samples": (["compare", "-n", "nan", *SIZES[2:], "--r2", "0.9"], "--n-samples"),
    "half a sample": (["compare", "-n", "1.5", *SIZES[2:], "--r2", "0.9"], "--n-samples"),
    "samples without end": (["compare", "-n", "9" * 320, *SIZES[2:], "--r2", "0.9"], "--n-samples"),
    "variables without end": (["effect", "-n", "9", "-p", "9" * 320, "-k", "1"], "--n-features"),
    "no samples at all": (["compare", "-n", "0", *SIZES[2:], "--r2", "0.9"], "n_samples"),
    "negative samples": (["fdr", "-n", "-5", *SIZES[2:], "--r2", "0.9"], "n_samples"),
    "negative variables": (["samples", "-p", "-5", "-k", "1", "--r2", "0.9"], "n_features"),
    "negative signals": (["effect", *SIZES[:4], "-k", "-1"], "n_signals"),
    "too many signals": (["compare", *SIZES[:4], "-k", "61", "--r2", "0.9"], "n_signals"),
    "nan r2": (["compare", *SIZES, "--r2", "nan"], "r2"),
    "r2 of one": (["signals", *SIZES[:4], "--r2", "1"], "r2"),
    "r2 of two": (["compare", *SIZES, "--r2", "2"], "r2"),
    "negative snr": (["compare", *SIZES, "--snr", "-1"], "snr"),
    "infinite effect": (["compare", *SIZES, "--effect-size", "inf"], "effect_size"),
    "power zero": (["samples", *STUDY[2:], "--power", "0"], "power must be between"),
    "power one": (["effect", *SIZES, "--power", "1"], "power must be between"),
    "power two": (["fdr", *STUDY, "--power", "2"], "power must be between"),
    "power nan": (["signals", *SIZES[:4], "--r2", "0.5", "--power", "nan"], "power must be finite"),
    "power in words": (["samples", *STUDY[2:], "--power", "high"], "--power"),
    "fdr of two": (["compare", *STUDY, "--fdr", "2"], "fdr must be between"),
    "fdr zero": (["samples", *STUDY[2:], "--fdr", "0"], "fdr must be between"),
    "fdr nan": (["effect", *SIZES, "--fdr", "nan"], "fdr"),
    "unknown method": (["compare", *STUDY, "--method", "magic"], "--method"),
    "unknown law": (["compare", *STUDY, "--effects", "cauchy"], "--effects"),
    "unknown settings": (["samples", *STUDY[2:], "--settings", "worst"], "--settings"),
    "no samples allowed": (["samples", *STUDY[2:], "--at-most", "0"], "at_most"),
    "unknown figure": (["compare", *STUDY, "--plot", "plan.xyz"], "--plot"),
    "no folder": (["samples", *STUDY[2:], "--plot", "/no/such/place/plan.png"], "--plot"),
    "no table": (["table", "-k", "1", "--r2", "0.5"], "Name the TABLE"),
    "missing table": (["table", "none.csv", *T[2:]], "none.csv: No such file"),
    "text in the table": (["table", "text.csv", *T[2:]], "--drop 'a'"),
    "gaps in the table": (["table", "gaps.csv", *T[2:]], "missing"),
    "unknown target": ([*T, "--target", "z"], "target: there is no column 'z'"),
    "unknown drop": ([*T, "--drop", "z"], "drop: there is no column 'z'"),
    "nothing left": ([*T, "--drop", "a", "--drop", "b", "--target", "y"], "no variables"),
    "too many planted": ([*T, "-k", "4"], "n_signals"),
    "no planted": ([*T, "-k", "0"], "n_signals"),
    "table without strength": (T[:4], "--effect-size; got none"),
    "one data set": ([*T, "--n-sets", "1"], "n_sets"),
    "no jobs": ([*T, "--n-jobs", "0"], "--n-jobs"),
    "demo and table": ([*T, "--demo"], "--demo"),
    "demo and target": (["table", "--demo", "--target", "y", *T[2:]], "--demo"),
    "diagnosis of nothing": (["diagnose"], "Name the TABLE"),
    "diagnosis without target": (D[:2], "--target"),
    "diagnosis of a missing table": (["diagnose", "none.csv", *D[2:]], "none.csv: No such file"),
    "diagnosis of another target": ([*D[:2], "--target", "z"], "target: there is no column 'z'"),
    "diagnosis of classes": (["diagnose", "classes.csv", *D[2:]], "target: 'y' has two classes"),
    "diagnosis of zeros and ones": (["diagnose", "zeros.csv", *D[2:]], "two classes"),
    "no prediction": ([*D, "--method", "bolasso"], "--method bolasso has no prediction"),
    "option of another": ([*D, "--method", "knockoffs", "--engine", "auto"], "--engine does not"),
    "diagnosis at power two": (
        [*D, "--method", "knockoffs", "--lam", "0.1", "--power", "2"],
        "power",
    ),
    "diagnosis at fdr two": ([*D, "--fdr", "2"], "fdr"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_line_and_code_2(case, tmp_path, monkeypatch, capsys):
    args, named = BAD[case]
    rows = [(i * i % 7, i % 5, i) for i in range(20)]
    numbers = "".join(f"{a},{b},{y}\n" for a, b, y in rows)
    (tmp_path / "t.csv").write_text("a,b,y\n" + numbers)
    (tmp_path / "text.csv").write_text("a,y\nu,1\nv,2\n")
    (tmp_path / "gaps.csv").write_text("a,b,y\n1,,3\n" + numbers)
    for file, values in (("classes", ("no", "yes")), ("zeros", (0, 1))):
        lines = "".join(f"{a},{b},{values[y % 2]}\n" for a, b, y in rows)
        (tmp_path / f"{file}.csv").write_text("a,b,y\n" + lines)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["selica", "plan", *args])
    with pytest.raises(SystemExit) as stop:
        main()
    printed = capsys.readouterr()
    assert stop.value.code == 2
    assert printed.out == ""
    assert len(printed.err.splitlines()) == 1
    assert printed.err.startswith("selica: ")
    assert named in printed.err


def test_an_argument_error_reaches_the_caller_of_the_app():
    with pytest.raises(ArgumentError, match="power"):
        plan("samples", *STUDY[2:], "--power", "2")


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


def test_the_examples_of_the_help_run(folder):
    group = typer.main.get_command(app).commands["plan"]
    for name in ("compare", "samples", "effect", "signals", "fdr"):
        words = group.commands[name].help.split("Example: selica ")[1].split()
        assert json.loads(invoke(*words, *ONE, "--json"))["methods"][0]["power"] > 0.1
