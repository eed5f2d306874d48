"""`selica plan`: what people know of a study, as options, in answers and in JSON."""

from __future__ import annotations

import csv
import json
import math
import shlex

import numpy as np
import pytest

from selica import planning, selectors, theory
from tests.cli.commands import call_main, invoke
from tests.cli.plans import plan, printed_code, printed_commands, report

BASE = ["-n", "150", "-p", "40"]
PFER = ["--method", "stability-pfer"]
LOG2 = math.log(2.0)


def row(*args):
    """The first row of the JSON of a comparison with one method."""
    return report("compare", *BASE, *args, *PFER)["methods"][0]


STRENGTHS = {
    # options, and the same study in Python
    "heritability": (["-k", "5", "--heritability", "0.6"], {"n_signals": 5, "r2": 0.6}),
    "smallest": (
        ["-k", "5", "--smallest", "0.4"],
        {"n_signals": 5, "effect_size": 0.4, "effects": theory.PointEffects()},
    ),
    "betas": (["--betas", "0.5,-0.3,0.2"], {"effects": planning.Betas([0.5, -0.3, 0.2])}),
    "one beta": (["-k", "4", "--betas", "0.3"], {"n_signals": 4, "effects": planning.Betas(0.3)}),
    "odds ratios": (
        ["--response", "binary", "--odds-ratios", "2,3,0.5"],
        {"effects": planning.OddsRatios([2, 3, 0.5]), "response": planning.Binary()},
    ),
    "prevalence": (
        ["--response", "binary", "--prevalence", "0.2", "-k", "4", "--odds-ratios", "2.5"],
        {
            "effects": planning.OddsRatios(2.5), "n_signals": 4,
            "response": planning.Binary(prevalence=0.2),
        },
    ),
    "case-control": (
        ["--response", "binary", "--prevalence", "0.02", "--cases", "0.5", "-k", "4", "--snr", "3"],
        {"n_signals": 4, "snr": 3.0, "response": planning.Binary(0.02, cases=0.5)},
    ),
    "rate ratios": (
        ["--response", "counts", "--rate", "2", "--rate-ratios", "1.5,1.3"],
        {"effects": planning.RateRatios([1.5, 1.3]), "response": planning.Counts(2.0)},
    ),
    "hazard ratios": (
        ["--response", "survival", "--events", "0.4", "-k", "4", "--hazard-ratios", "2"],
        {
            "effects": planning.HazardRatios(2.0), "n_signals": 4,
            "response": planning.Survival(0.4),
        },
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", STRENGTHS)
def test_options_are_the_arguments_of_planning(case):
    options, given = STRENGTHS[case]
    told = report("compare", *BASE, *options, *PFER)
    want = planning.compare_methods(150, 40, **given, methods="stability-pfer")
    assert told["n_signals"] == want.study.n_signals
    assert told["r2"] == pytest.approx(want.study.r2, rel=1e-12)
    assert told["snr"] == pytest.approx(want.study.snr, rel=1e-12)
    assert told["methods"][0]["power"] == want.one("stability-pfer").power
    assert told["assumptions"] == want.study.assumptions
    assert told["response"] == want.study.response.name
    for name in ("prevalence", "cases", "rate", "events"):
        assert (name in told) == (f"--{name}" in options)


@pytest.mark.parametrize(
    ("options", "snr"),
    [
        (["--smallest", "0.4", "-k", "5"], 5 * 0.16),
        (["--betas", "0.3", "-k", "4"], 0.36 / 0.64),
        (["--betas", "0.5,0.3"], 0.34 / 0.66),
        (["--response", "binary", "--odds-ratios", "2", "-k", "3"], 3 * LOG2**2),
        (["--response", "counts", "--rate-ratios", "2,0.5"], 2 * LOG2**2),
        (["--response", "survival", "--hazard-ratios", "0.5,0.5,2"], 3 * LOG2**2),
    ],
    ids=lambda one: " ".join(one) if isinstance(one, list) else "",
)
def test_strengths_by_hand(options, snr):
    assert report("compare", *BASE, *options, *PFER)["snr"] == pytest.approx(snr, rel=1e-12)


def test_sizes_from_a_file(tmp_path):
    file = tmp_path / "ratios.txt"
    file.write_text("2\n3\n0.5\n")
    options = ["--response", "binary", "--odds-ratios"]
    typed = row(*options, "2,3,0.5")
    assert row(*options, file) == typed


QUESTIONS = {
    "samples": ["-p", "40", "-k", "4"],
    "fdr": [*BASE, "-k", "4"],
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_sizes_in_the_other_questions(question):
    options = ["--response", "binary", "--prevalence", "0.25", "--odds-ratios", "4", *PFER]
    told = report(question, *QUESTIONS[question], *options, "--power", "0.4")
    (found,) = told["methods"]
    assert found["power"] >= 0.4
    again = ["-n", found["value"] if question == "samples" else 150, "-p", "40", "-k", "4"]
    level = found["value"] if question == "fdr" else 0.1
    power = report("compare", *again, *options, "--fdr", level)["methods"][0]["power"]
    assert power == pytest.approx(found["power"], abs=1e-9)
    text = plan(question, *QUESTIONS[question], *options, "--power", "0.4")
    assert "R2 = " in text
    assert "R2: share of the variance on the liability scale that the signals explain" in text
    if question == "samples":
        cases = f"{found['value'] * 0.25:,.0f}"
        assert f"Fewest samples: {found['value']} (about {cases} cases) with" in text


@pytest.mark.parametrize("question", ["effect", "signals"])
def test_responses_in_the_questions_about_strength(question):
    """An effect size is a logarithm of a ratio, which is said."""
    kind = ["--response", "binary", "--prevalence", "0.3", *PFER, "--power", "0.5"]
    if question == "effect":
        asked = ["effect", *BASE, "-k", "4", *kind]
        (found,) = report(*asked)["methods"]
        T = 4 * found["value"] ** 2
        assert found["r2"] == pytest.approx(T / (T + math.pi**2 / 3.0), rel=1e-9)
        text = " ".join(plan(*asked).split())
        assert "effect size: root mean square, in log odds" in text
        shown = f"odds ratio {math.exp(found['value']):.3g} per standard deviation"
        assert shown in text
    else:
        (found,) = report("signals", *BASE, "--effect-size", "1.2", *kind)["methods"]
        k = found["value"]
        assert row("-k", k, "--effect-size", "1.2", *kind[:4])["power"] >= 0.5
        assert row("-k", k + 1, "--effect-size", "1.2", *kind[:4])["power"] < 0.5


# --- responses -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """Tables of each response, with the columns that printed commands name."""
    folder = tmp_path_factory.mktemp("responses")
    rng = np.random.default_rng(0)
    X = rng.standard_normal((150, 12))
    z = X[:, :4].sum(axis=1)
    times = rng.exponential(size=150) * np.exp(-z)
    end = np.quantile(times, 0.6)
    responses = {
        "binary": {"y": (rng.random(150) < 1.0 / (1.0 + np.exp(-z))).astype(int)},
        "counts": {"y": rng.poisson(np.exp(0.5 * z))},
        "survival": {"time": np.minimum(times, end), "event": (times <= end).astype(int)},
    }
    for name, columns in responses.items():
        (folder / name).mkdir()
        with (folder / name / "table.csv").open("w", newline="") as out:
            writer = csv.writer(out)
            writer.writerow([*(f"x{j}" for j in range(12)), *columns])
            writer.writerows(np.column_stack([X, *columns.values()]).tolist())
    return folder


@pytest.mark.parametrize("kind", ["binary", "counts", "survival"])
def test_what_is_printed_runs_on_such_a_table(kind, tables, monkeypatch):
    monkeypatch.chdir(tables / kind)
    names = ["--method", "knockoffs", "--method", "stability-pfer"]
    asked = ["compare", "-n", "150", "-p", "12", "-k", "4", "--r2", "0.5", "--response", kind]
    text = plan(*asked, *names, "--fdr", "0.4")
    (command,) = printed_commands(text)
    found = json.loads(invoke(*command[1:], "--json"))
    assert found["settings"]["response"] in (kind.removesuffix("s"), "auto")
    selector = eval(printed_code(text).replace("\n", ""), vars(selectors))
    told = {"counts": "count", "survival": "survival"}.get(kind, "auto")
    assert selector.get_params()["response"] == told


def test_a_method_that_survival_times_refuse_is_not_in_the_table():
    asked = ["compare", *BASE, "-k", "4", "--hazard-ratios", "2", "--response", "survival"]
    text = plan(*asked)
    assert "Not in the table: stability, p-values: it has no p-values for survival times." in text
    assert "\nstability, p-values " not in text
    assert "150 samples (about 75 events)" in text
    told = report(*asked)
    assert "stability-fdr" not in [one["method"] for one in told["methods"]]
    assert told["not_predicted"].startswith("Not in the table: stability, p-values")
    assert max(len(line.rstrip()) for line in text.splitlines()) <= 80


# --- correlated columns ----------------------------------------------------------------------


def test_correlated_columns_are_said_and_planned_with(tmp_path):
    study = ["-n", "150", "-p", "30", "-k", "6", "--r2", "0.8", "--fdr", "0.2"]
    study += ["--method", "knockoffs"]
    text = " ".join(plan("compare", *study, "--covariance", "block:0.5:3").split())
    assert "blocks of 3 columns with correlation 0.5, a linear response" in text
    assert "Assumes blocks of 3 columns with correlation 0.5, independent rows" in text
    assert "which knows the distribution of the effects, if columns were independent" in text
    told = report("compare", *study, "--covariance", "block:0.5:3")
    want = planning.compare_methods(
        150, 30, 6, r2=0.8, fdr=0.2, covariance=("block", 0.5, 3), methods="knockoffs"
    )
    assert told["methods"][0]["power"] == want.one("knockoffs").power
    assert told["covariance"] == "block:0.5:3"
    matrix = np.kron(np.eye(10), np.full((3, 3), 0.5)) + 0.5 * np.eye(30)
    file = tmp_path / "covariance.csv"
    np.savetxt(file, 4.0 * matrix, delimiter=",")
    given = report("compare", *study, "--covariance", file)
    assert given["methods"][0]["power"] == pytest.approx(want.one("knockoffs").power, abs=0.03)
    independent = report("compare", *study)["methods"][0]["power"]
    strong = report("compare", *study, "--covariance", "ar1:0.8")["methods"][0]["power"]
    assert independent > strong + 0.1


# --- protocol --------------------------------------------------------------------------------

SAMPLES = ["samples", "-p", "40", "-k", "5", "--r2", "0.7", "--power", "0.5", *PFER]


def test_the_protocol_names_the_command_that_gives_the_answer(monkeypatch, capsys):
    assert call_main(monkeypatch, "plan", *SAMPLES, "--protocol") == 0
    text = capsys.readouterr().out
    assert text.startswith("Sample size justification\n")
    command = text.splitlines()[-1].removeprefix("Command: ")
    assert shlex.split(command) == ["selica", "plan", *SAMPLES]
    (found,) = report(*SAMPLES)["methods"]
    assert f"n = {found['value']:,} samples" in text


def test_the_protocol_is_in_the_json_and_leaves_the_figure(tmp_path):
    path = tmp_path / "plan.png"
    told = report(*SAMPLES, "--protocol", "--plot", path)
    assert told["protocol"].startswith("Sample size justification\n")
    assert path.exists()
    assert "protocol" not in report(*SAMPLES)
    path.unlink()
    text = plan(*SAMPLES, "--protocol", "--plot", path)
    assert text.endswith(f"Figure written to {path}\n")
    assert path.exists()


# --- one's own table, with any number of rows ------------------------------------------------


@pytest.fixture(scope="module")
def pilot(tmp_path_factory):
    """120 rows of 80 columns, each correlated by 0.6 with the one before."""
    file = tmp_path_factory.mktemp("pilot") / "pilot.csv"
    rng = np.random.default_rng(3)
    X = rng.standard_normal((120, 80))
    for j in range(1, 80):
        X[:, j] = 0.6 * X[:, j - 1] + 0.8 * X[:, j]
    y = X[:, ::16].sum(axis=1) + rng.standard_normal(120)
    names = ",".join([*(f"x{j}" for j in range(80)), "y"])
    np.savetxt(file, np.column_stack([X, y]), delimiter=",", header=names, comments="")
    return file


def test_theory_for_any_number_of_rows(pilot):
    asked = ["table", pilot, "--target", "y", "-k", "6", "--r2", "0.6", "--fdr", "0.2"]
    asked += ["--n-sets", "0", "--method", "knockoffs"]
    power = {}
    for n in (60, 500):
        told = report(*asked, "-n", n)
        (found,) = told["predicted"]
        assert told["n_sets"] == 0
        assert told["best"] == {"method": "knockoffs"}
        assert f"{n} Gaussian rows with the correlations of the table" in told["assumptions"]
        power[n] = found["power"]
    assert power[60] + 0.2 < power[500]
    text = plan(*asked, "-n", "500")
    assert text.startswith("Power by theory")
    assert f"{power[500]:.2f}" in text
    assert "Most power: knockoffs, one copy." in text
    assert "simulation follows" not in text
    missing = plan(*asked, "-n", "500", "--method", "stability-fdr")
    assert "Not in the table: stability, p-values; a simulation" in missing


def test_more_rows_than_the_table_has_are_simulated(pilot):
    asked = ["table", pilot, "--target", "y", "-k", "6", "--r2", "0.9", "--fdr", "0.3"]
    asked += ["--n-sets", "2", "--no-theory", "--method", "knockoffs"]
    told = report(*asked, "-n", "400")
    assert told["n_samples"] == 400
    assert "rows are Gaussian with the correlations of the table" in told["assumptions"]
    fewer = report(*asked, "-n", "60")
    assert "each data set has 60 rows of the table" in fewer["assumptions"]
    assert told["methods"][0]["power"] > fewer["methods"][0]["power"]
