"""`selica select`: a table in, variables out, files, and one clear line for what is wrong."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from selica import catalogue
from selica._core.errors import ArgumentError
from selica.cli import app
from selica.cli.select_method import unfitted
from selica.sampling import simulate
from tests.cli.commands import assert_refused, invoke, parsed

SIGNALS = 6
FAST = {
    "auto": ["--pfer", "0.5"],
    "stability-fdr": ["--fdr", "0.2"],
    # weaker assumptions leave room for six signals only at a higher level
    "stability-pfer-unimodal": ["--n-resamples", "20", "--pfer", "4"],
    "stability-pfer-none": ["--n-resamples", "20", "--pfer", "6"],
    "stability-ideal": ["--n-resamples", "20", "--lam", "cv"],
    "knockoffs": ["--fdr", "0.3"],
    "knockoffs-evalues": ["--fdr", "0.3", "--n-resamples", "4"],
    "knockoffs-frequency": ["--pfer", "2", "--n-resamples", "4"],
    # the smallest aggregated p-value of 15 variables is 0.22
    "knockoffs-pvalues": ["--fdr", "0.7", "--n-resamples", "4"],
    "splitting": ["--fdr", "0.3", "--n-resamples", "4"],
    "lasso": ["--lam", "0.1"],
    "thresholded-lasso": ["--lam", "0.1", "--threshold", "0.05"],
}
"""Options with which a method is quick and finds strong signals; others have few resamples."""
METHODS = [one.name for one in catalogue.methods() if one.selector is not None]


def fast(method):
    return ["--method", method, *FAST.get(method, ["--n-resamples", "20"])]


def select(*args):
    return invoke("select", *args)


def report(*args):
    return parsed("select", *args)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Tables of 15 columns, of which the first six matter much."""
    folder = tmp_path_factory.mktemp("tables")
    X = simulate(150, 15, 0, noise_variance=1.0, random_state=0).X
    y = X[:, :SIGNALS].sum(axis=1) + 0.1 * np.random.default_rng(0).standard_normal(150)
    names = [f"true {j}" if j < SIGNALS else f"false {j}" for j in range(15)]
    for file, target in (("linear", y), ("binary", np.where(y > 0, "case", "control"))):
        with (folder / f"{file}.csv").open("w", newline="") as out:
            writer = csv.writer(out)
            writer.writerow(["patient", *names, "y"])
            for i, row in enumerate(X):
                writer.writerow([f"id{i}", *row, target[i]])
    return folder


@pytest.fixture
def table(folder):
    return [folder / "linear.csv", "--target", "y", "--drop", "patient"]


@pytest.mark.parametrize("method", METHODS)
def test_strong_signals_are_found(table, method):
    found = report(*table, *fast(method))
    assert {f"true {j}" for j in range(SIGNALS)} <= set(found["selected"])
    assert found["n_samples"] == 150
    assert len(found["variables"]) == found["n_variables"] == 15
    chosen = [row["variable"] for row in found["variables"] if row["selected"]]
    assert chosen == found["selected"]
    assert [row["selected"] for row in found["variables"]] == sorted(
        (row["selected"] for row in found["variables"]), reverse=True
    )


@pytest.mark.parametrize("method", ["stability-ideal", "splitting"])
def test_two_classes(folder, method):
    source = [folder / "binary.csv", "--target", "y", "--drop", "patient"]
    found = report(*source, *fast(method))
    assert {f"true {j}" for j in range(SIGNALS)} <= set(found["selected"])
    assert list(found["response"]["classes"]) == ["case", "control"]
    assert "control is taken as the event" in select(*source, *fast(method))


def test_the_printed_summary(table):
    text = select(*table, "--method", "stability-ideal", "--n-resamples", "20", "--lam", "0.2")
    lines = text.splitlines()
    assert lines[0].startswith("Stability selection")
    assert lines[1].startswith("linear.csv: 150 rows, 15 variables.")
    first = next(line for line in lines if line.startswith("   1  "))
    assert first.split()[:2] == ["1", "true"]
    assert "Promise: No error rate is controlled" in text
    assert "more variables" in text
    assert max(map(len, lines)) <= 80


def test_the_default_chooses_and_says_why(table):
    """It was e-values at a tenth, which are empty with fewer than twenty clear signals."""
    found = report(*table)
    assert found["method"] == "AutoSelection"
    assert found["guarantee"]["level"] == 1.0
    assert len(found["selected"]) >= SIGNALS
    said = "Derandomized knockoffs (knockoffs-frequency) were chosen because"
    assert said in " ".join(select(*table).split())


def test_the_demonstration_is_not_empty():
    found = report("--demo")
    assert {"bmi", "bp", "ltg"} <= set(found["selected"])
    assert found["probes"]["selected"] <= 3


def test_a_bound_takes_pairs(table):
    options = ["--method", "stability-pfer", "--pfer", "2", "--n-resamples", "20"]
    found = report(*table, *options)
    assert found["used"]["q"] >= 3
    assert found["guarantee"]["controls"] == "expected number of false selections"
    with pytest.raises(ArgumentError, match="pfer"):
        select(*table, *options, "--resampling", "bootstrap")


OPTIONS = {
    "q": (["--method", "stability-pfer", "--q", "4"], 4),
    "weakness": (["--method", "stability-ideal", "--weakness", "0.5"], 0.5),
    "kfwer": (["--method", "knockoffs-frequency", "--kfwer", "2", "0.3"], [2, 0.3]),
    "l1_ratio": (["--method", "stability-ideal", "--l1-ratio", "0.3"], 0.3),
    "statistic": (
        ["--method", "knockoffs-evalues", "--statistic", "entry", "--fdr", "0.3"],
        "entry",
    ),
}


@pytest.mark.parametrize("name", OPTIONS)
def test_options_reach_the_selector_and_change_the_answer(table, name):
    options, value = OPTIONS[name]
    free = ["--lam", "cv"] if name in ("weakness", "l1_ratio") else []
    found = report(*table, *options, *free, "--n-resamples", "20")
    plain = report(*table, *options[:2], *free, "--n-resamples", "20")
    assert found["settings"][name] == value
    assert plain["settings"][name] != value
    assert found["variables"] != plain["variables"]


def test_resamples_until_decisions_are_settled(table):
    found = report(*table, "--method", "stability-pfer", "--n-resamples", "auto")
    assert found["settings"]["n_resamples"] == "auto"
    assert found["used"]["n_resamples"] % 200 == 0
    assert any("resamples agree by" in note for note in found["notes"])


def test_what_a_bound_on_several_false_selections_says(table):
    options = ["--method", "knockoffs-frequency", "--threshold", "1", "--n-resamples", "20"]
    text = select(*table, "--kfwer", "2", "0.3", *options)
    said = " ".join(text.split())
    assert "The probability of 2 or more false selections is at most 30 %. This is expected" in said
    assert "6 of 15 variables" in text
    options = [*OPTIONS["q"][0], "--assumption", "none", "--threshold", "0.6"]
    promise = report(*table, *options, "--n-resamples", "20")["guarantee"]
    assert promise["level"] == pytest.approx(4**2 / (0.2 * 15))  # q^2 / ((2 * 0.6 - 1) p)


def test_what_is_not_selected_has_a_direction_and_no_effect(table):
    options = [*OPTIONS["q"][0], "--n-resamples", "40"]
    found = report(*table, *options)["variables"]
    never = [row for row in found if not row["selected"]]
    assert never
    assert all(row["direction"] in ("+", "-") for row in found)
    assert all(row["effect per SD"] is None for row in never)
    assert [row["rank"] for row in found] == list(range(1, 16))


def test_warnings_are_notes(table):
    text = select(*table, "--method", "knockoffs", "--fdr", "0.01")
    head, _, _ = text.partition("rank")
    assert "\nNothing was selected." in head
    assert "Warning" not in text


def test_files(table, tmp_path):
    options = [*table, "--method", "stability-ideal", "--n-resamples", "20", "--lam", "cv"]
    text = select(*options, "--out", tmp_path / "a")
    select(*options, "--out", tmp_path / "b")
    other = report(*options, "--seed", "1", "--out", tmp_path / "c")
    assert "report.html" in text
    assert other["files"][-1].endswith("report.html")
    one, two, three = (tmp_path.joinpath(f, "selection.csv").read_bytes() for f in "abc")
    assert one == two
    assert one != three
    assert "http" not in (tmp_path / "a" / "report.html").read_text(encoding="utf-8")
    said = json.loads((tmp_path / "a" / "selection.json").read_text(encoding="utf-8"))
    assert said["settings"]["n_resamples"] == 20


def test_names_with_brackets_are_printed_as_they_are(tmp_path):
    path = tmp_path / "t.csv"
    rows = "".join(f"{i},{i % 3},{2 * i}\n" for i in range(12))
    path.write_text("[red]a[/red],<b>,y\n" + rows)
    assert "[red]a[/red]" in select(path, "--target", "y", "--method", "lasso")


def test_the_demonstration():
    text = select("--demo", "--method", "lasso", "--lam", "0.2")
    said = " ".join(text.split())
    assert "Of the 50 probes, which are pure noise, none was selected." in said
    assert "Note: This is a demonstration: 50 of the columns" in said
    quick = ("--demo", "--method", "stability-ideal", "--n-resamples", "20", "--lam", "0.2")
    assert "close call: within two standard errors" in " ".join(select(*quick).split())
    found = report("--demo", "--method", "lasso", "--lam", "0.001")
    assert found["probes"]["added"] == 50
    assert found["probes"]["selected"] > 0


T = ["t.csv", "--target", "y"]
MANY = ["--method", "knockoffs-evalues"]
BAD = {
    "no table": ([], "Name the TABLE"),
    "no target": (["t.csv"], "--target"),
    "no such table": (["none.csv", "--target", "y"], "No such file"),
    "no such column": (["t.csv", "--target", "z"], "no column 'z'"),
    "text": (["text.csv", "--target", "y"], "no variables: 'a' has a different value"),
    "demo and table": (["t.csv", "--demo"], "--demo"),
    "demo and target": (["--demo", "--target", "y"], "--demo"),
    "demo and drop": (["--demo", "--drop", "a"], "--demo"),
    "drop unknown": ([*T, "--drop", "q"], "no column 'q'"),
    "unknown method": ([*T, "--method", "magic"], "--method"),
    "fdr of bolasso": ([*T, "--method", "bolasso", "--fdr", "0.1"], "--fdr does not belong"),
    "pfer of knockoffs": ([*T, "--method", "knockoffs", "--pfer", "1"], "--pfer does not belong"),
    "copies of one": ([*T, "--method", "knockoffs", "--n-resamples", "9"], "--n-resamples does"),
    "rate of knockoffs": ([*T, "--resample-rate", "1"], "--resample-rate does not belong"),
    "resampling of knockoffs": ([*T, "--resampling", "pairs"], "--resampling does not belong"),
    "assumption of bolasso": (
        [*T, "--method", "bolasso", "--assumption", "none"],
        "--assumption does not belong",
    ),
    "sampler of stability": (
        [*T, "--method", "stability-pfer", "--sampler", "iid"],
        "--sampler does",
    ),
    "two of splitting": (
        [*T, "--method", "splitting", "--lam", "1", "--threshold", "1"],
        "--threshold and --lam do not belong",
    ),
    "q of knockoffs": ([*T, "--q", "2"], "--q does not belong"),
    "q is too large": ([*T, "--method", "stability-pfer", "--q", "3"], "q must be at most"),
    "weakness of bolasso": (
        [*T, "--method", "bolasso", "--weakness", "0.5"],
        "--weakness does not belong",
    ),
    "weakness out of range": ([*T, "--method", "stability-pfer", "--weakness", "2"], "weakness"),
    "kfwer of stability": (
        [*T, "--method", "stability-pfer", "--kfwer", "1", "0.1"],
        "--kfwer does",
    ),
    "kfwer and fdr": ([*T, "--kfwer", "1", "0.1", "--fdr", "0.1"], "fdr and kfwer"),
    "half of kfwer": ([*T, "--kfwer", "1"], "--kfwer"),
    "kfwer of none": ([*T, "--kfwer", "0", "0.1"], "kfwer: k"),
    "statistic of splitting": (
        [*T, "--method", "splitting", "--statistic", "entry"],
        "--statistic does not belong",
    ),
    "unknown statistic": ([*T, "--statistic", "magic"], "--statistic"),
    "jobs of the lasso": ([*T, "--method", "lasso", "--n-jobs", "2"], "--n-jobs does not belong"),
    "no jobs": ([*T, "--n-jobs", "0"], "--n-jobs"),
    "fdr and pfer": ([*T, "--fdr", "0.1", "--pfer", "1"], "fdr and pfer"),
    "fdr and threshold": ([*T, "--fdr", "0.1", "--threshold", "0.5"], "fdr"),
    "fdr out of range": ([*T, "--fdr", "2"], "fdr"),
    "threshold out of range": ([*T, "--method", "stability-pfer", "--threshold", "2"], "threshold"),
    "lam of a bound": ([*T, "--method", "stability-pfer", "--lam", "cv"], "--lam does not belong"),
    "not to be run": ([*T, "--method", "bayes"], "--method bayes cannot be run on data"),
    "lam is a word": ([*T, "--lam", "big"], "--lam"),
    "lam by theory for knockoffs": ([*T, *MANY, "--lam", "theory"], "'theory'"),
    "negative lam": ([*T, "--method", "lasso", "--lam", "-1"], "lam"),
    "resamples are a word": ([*T, *MANY, "--n-resamples", "many"], "whole number or auto"),
    "resamples in parts": ([*T, *MANY, "--n-resamples", "2.5"], "whole number or auto"),
    "splits until settled": ([*T, "--method", "splitting", "--n-resamples", "auto"], "n_splits"),
    "no resamples": ([*T, *MANY, "--n-resamples", "0"], "n_copies"),
    "lam of auto": ([*T, "--lam", "0.1"], "--lam does not belong to --method auto"),
    "out is a file": ([*T, "--out", "t.csv"], "t.csv"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_line_and_code_2(case, tmp_path, monkeypatch, capsys):
    args, named = BAD[case]
    (tmp_path / "t.csv").write_text(
        "a,b,y\n" + "".join(f"{i * i % 7},{i % 5},{i}\n" for i in range(20))
    )
    (tmp_path / "text.csv").write_text("a,y\nu,1\nv,2\nw,2\nx,1\n")
    monkeypatch.chdir(tmp_path)
    assert_refused(monkeypatch, capsys, ["select", *args], named)


def test_works_without_the_extras(table, tmp_path):
    code = (
        "import sys\n"
        "class Absent:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name.split('.')[0] in ('pandas', 'polars', 'openpyxl', 'matplotlib'):\n"
        "            raise ImportError(name)\n"
        "sys.meta_path.insert(0, Absent())\n"
        "from selica.cli import main\n"
        "main()\n"
    )
    command = [sys.executable, "-W", "error", "-c", code, "select", *map(str, table)]
    command += ["--method", "lasso", "--lam", "0.1", "--out", str(tmp_path / "out")]
    env = os.environ | {"OMP_NUM_THREADS": "1", "COLUMNS": "80"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=env)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert "true 0" in done.stdout
    text = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert text.count("<svg class=") == 2


def test_other_commands_start_without_scikit_learn():
    code = "import sys, selica.cli; sys.exit('sklearn' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == 0


def test_help_names_every_option():
    text = select("--help")
    for parameter in typer.main.get_command(app).commands["select"].params:
        if parameter.param_type_name == "option":
            assert parameter.opts[0] in text


def test_message_passing_and_levels(table):
    found = report(*table, "--method", "stability-fdr", "--fdr", "0.2",
                   "--engine", "semi-analytic", "--lam", "power")  # fmt: skip
    chosen = {row["variable"] for row in found["variables"] if row["selected"]}
    assert {f"true {j}" for j in range(SIGNALS)} <= chosen
    assert "false discovery rate" in json.dumps(found)
    assert "by message passing" in json.dumps(found)


@pytest.mark.parametrize(
    ("options", "words"),
    [(["--method", "knockoffs", "--engine", "auto"], "--engine does not belong"),
     (["--method", "knockoffs-evalues", "--lam", "power"], "--lam 'power' does not belong"),
     (["--method", "stability-fdr", "--fdr", "0.1", "--threshold", "0.6"], "--threshold does not"),
     (["--method", "stability-fdr", "--engine", "monte-carlo"], "fdr works with the lasso at one")],
)  # fmt: skip
def test_engines_and_methods_that_do_not_go_together(table, options, words):
    with pytest.raises(ArgumentError, match=words):
        select(*table, *options)


def test_notes_on_the_data_come_before_the_result(folder):
    with (folder / "linear.csv").open() as source:
        header, *rows = csv.reader(source)
    visits = folder / "visits.csv"
    with visits.open("w", newline="") as out:
        writer = csv.writer(out)
        writer.writerow(header)
        writer.writerows([f"P{i // 5}", *row[1:]] for i, row in enumerate(rows))
    options = ["--target", "y", "--drop", "patient", "--method", "knockoffs", "--fdr", "0.3"]
    lines = select(visits, *options).splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith("rank"))
    said = "Check: Column 'patient' has 30 different values in 150 rows"
    assert any(line.startswith(said) for line in lines[:first])
    assert any(
        line.startswith("Promise: No error rate is controlled: rows with the same")
        for line in lines[first:]
    )


FORMER = {
    # a command line of before, and what it is called now
    "stability": (["--n-resamples", "20"], "stability-pfer", []),
    "stability --resampling pairs": (
        ["--resampling", "pairs", "--n-resamples", "20"],
        "stability-pfer",
        [],
    ),
    "stability --lam --assumption": (
        ["--lam", "cv", "--assumption", "none", "--n-resamples", "20"],
        "stability-ideal",
        ["--assumption", "none"],
    ),
    "stability --q": (["--q", "4", "--n-resamples", "20"], "stability-pfer", []),
    "stability --fdr": (["--fdr", "0.2"], "stability-fdr", []),
    "stability --fdr --assumption": (
        ["--fdr", "0.2", "--assumption", "none"],
        "stability-fdr",
        ["--assumption", "none"],
    ),
    "stability --lam": (["--lam", "cv", "--n-resamples", "20"], "stability-ideal", []),
    "stability --pfer --lam": (
        ["--pfer", "2", "--lam", "cv", "--n-resamples", "20"],
        "stability-pfer",
        ["--lam", "cv"],
    ),
    "derandomized": (["--n-resamples", "5"], "knockoffs-evalues", []),
    "derandomized --fdr": (["--fdr", "0.3", "--n-resamples", "5"], "knockoffs-evalues", []),
    "derandomized --pfer": (["--pfer", "2", "--n-resamples", "5"], "knockoffs-frequency", []),
    "derandomized --threshold": (
        ["--threshold", "0.6", "--sampler", "iid", "--engine", "auto", "--n-resamples", "40"],
        "knockoffs-frequency",
        [],
    ),
    "aggregated": (["--fdr", "0.7", "--n-resamples", "5"], "knockoffs-pvalues", []),
}


@pytest.mark.parametrize("case", FORMER)
def test_a_former_name_does_what_it_did_and_says_the_new_one(table, case):
    options, name, unused = FORMER[case]
    former = case.split()[0]
    words = [*map(str, table), "--method", former, *options, "--json"]
    done = CliRunner().invoke(app, ["select", *words])
    assert done.exit_code == 0
    note = (
        f"Note: --method {former} is now called {name}; the old name will be removed in selica 1.1."
    )
    assert done.stderr == f"{note}\n"
    used = [word for word in options if word not in unused]
    found, now = json.loads(done.stdout), report(*table, "--method", name, *used)
    assert found["variables"] == now["variables"]
    kept = ("controls", "level", "proven")
    assert [found["guarantee"][key] for key in kept] == [now["guarantee"][key] for key in kept]
    row = catalogue.of_selector(found["method"], dict.fromkeys(_decisive(options), 0))
    assert row.name == name


def _decisive(options):
    words = [word.removeprefix("--") for word in options if word.startswith("--")]
    return {*words} & {"fdr", "pfer", "q", "threshold"} or {*words} & {"lam"}


@pytest.mark.parametrize(
    ("method", "expected"),
    [
        ("stability-fdr", {"fdr": 0.1}),
        ("stability-pfer", {"pfer": 1.0}),
        ("stability-pfer-none", {"pfer": 1.0, "assumption": "none"}),
        ("stability-ideal", {"lam": "cv", "pfer": None}),
        ("knockoffs-frequency", {"pfer": 1.0, "fdr": None}),
    ],
)
def test_a_method_named_alone_has_its_usual_level(method, expected):
    """Not what its class does when it is told nothing, which may be another method."""
    parameters = unfitted(method, 0).get_params()
    assert {name: parameters[name] for name in expected} == expected


def test_a_registered_method_can_be_run(table):
    row = catalogue.Method(
        "my-lasso",
        "lasso of mine",
        selector="selica.selectors:LassoSelection",
        options={"threshold": "threshold"},
        preset={"lam": 0.1},
    )
    catalogue.register(row)
    try:
        mine = report(*table, "--method", "my-lasso", "--threshold", "0.05")
    finally:
        catalogue.unregister("my-lasso")
    known = report(*table, "--method", "thresholded-lasso", "--lam", "0.1", "--threshold", "0.05")
    assert mine["variables"] == known["variables"]
