"""`selica plan table` and `selica plan diagnose`: a table of one's own."""

from __future__ import annotations

import json
import shlex

import numpy as np
import pytest

from selica import catalogue, planning, selectors
from tests.cli.commands import invoke
from tests.cli.plans import FEW, R2, K, N, P, plan, printed_commands, report

SETS = ["--n-sets", "3", "-k", str(K), "--r2", str(R2), "--fdr", "0.3", "--method", "knockoffs"]


def test_power_on_ones_own_table(study_folder):
    columns = [study_folder / "table.csv", "--drop", "patient", "--target", "y"]
    told = report("table", *columns, *SETS, "--seed", "4")
    X = np.loadtxt(study_folder / "plain.csv", delimiter=",", skiprows=1)[:, :P]
    want = planning.plasmode_power(
        X, K, r2=R2, fdr=0.3, methods="knockoffs", n_sets=3, random_state=4
    )
    (row,) = want.methods
    (got,) = told["methods"]
    assert got["label"] == row["label"] == catalogue.method("knockoffs").label
    (first,) = planning.correlated_power(
        X, K, r2=R2, fdr=0.3, methods="knockoffs", random_state=4
    )  # fmt: skip
    assert got["correlated"] == first["power"]
    assert {k: v for k, v in got.items() if k != "correlated"} == row
    assert (got["method"], told["n_features"], told["n_samples"]) == ("knockoffs", P, N)
    assert told["r2"] == pytest.approx(R2)
    assert row["power"] > 0.3  # so that there is something to recommend
    command = shlex.split(told["best"]["command"])
    assert command[2:7] == [str(study_folder / "table.csv"), "--target", "y", "--drop", "patient"]
    assert json.loads(invoke(*command[1:], "--json"))["settings"]["fdr"] == 0.3


def test_a_table_without_a_response_keeps_all_its_columns(study_folder):
    told = report("table", study_folder / "plain.csv", *SETS, "--no-theory")
    assert told["n_features"] == P + 1
    assert told["methods"][0]["correlated"] is None


def test_the_printed_power_on_a_table(study_folder):
    source = [study_folder / "table.csv", "--drop", "patient", "--target", "y"]
    text = plan("table", *source, *SETS)
    told = report("table", *source, *SETS)
    (row,) = told["methods"]
    lines = [line for line in text.splitlines() if line.startswith("knockoffs, one copy  ")]
    first, line = lines  # before the simulation, and after it
    assert first.split()[-2] == f"{row['correlated']:.2f}"
    power = f"{row['power']:.2f} ({row['power_low']:.2f}-{row['power_high']:.2f})"
    assert power in line
    assert line.split()[-2:] == [f"{row['selected']:.1f}", f"{row['correlated']:.2f}"]
    assert "Assumes independent rows, a linear response and Gaussian effects;" in text
    alone = plan("table", *source, *SETS, "--no-theory")
    assert "First answer, by theory" in text
    assert text.endswith(alone.split("\n\n", 2)[2].split("\n\n", 1)[1])  # after the table
    assert "theory: power with independent columns" in alone
    long = [x for x in text.splitlines() if len(x.rstrip()) > 80 and str(source[0]) not in x]
    assert long == []


def test_diagnosis_of_a_fit(study_folder):
    source = [study_folder / "plain.csv", "--target", "y"]
    options = ["--method", "knockoffs", "--fdr", "0.2", "--sampler", "iid", "--lam", "0.05"]
    told = report("diagnose", *source, *options, "--power", "0.6")
    table = np.loadtxt(study_folder / "plain.csv", delimiter=",", skiprows=1)
    X, y = table[:, :P], table[:, P]
    selector = selectors.KnockoffSelection(fdr=0.2, sampler="iid", lam=0.05, random_state=0)
    want = planning.diagnose(selector.fit(X, y), X, y, power=0.6)
    plain = json.loads(json.dumps(want.to_dict()))
    assert {name: told[name] for name in plain} == plain
    assert (told["method"], told["fdr"], told["target"]) == ("knockoffs", 0.2, 0.6)
    assert len(told["selected_variables"]) == told["selected"]
    text = plan("diagnose", *source, *options, "--power", "0.6")
    assert f"About {want.n_signals} variables matter" in text
    assert "({} to {})".format(*want.required_interval) in text
    assert "Assumes independent columns" in text
    (command,) = printed_commands(text)
    assert command == shlex.split(told["command"])
    found = json.loads(invoke(*command[1:], *FEW, "--json"))
    assert (found["n_samples"], found["n_signals"]) == (N, want.n_signals)
    assert found["r2"] == pytest.approx(want.r2, rel=0.01)


FIT = "the fit behind the estimate (message passing) did not converge"


def test_a_diagnosis_without_an_estimate_prints_no_numbers(tmp_path, monkeypatch):
    """On the embedded table with other noise the fit behind the estimate does not converge."""
    monkeypatch.setattr("selica.reports.demo._SEED", 0)
    path = tmp_path / "power.png"
    text = plan("diagnose", "--demo", "--method", "knockoffs", "--plot", path)
    assert f"Nothing can be predicted: {FIT}." in " ".join(text.split())
    for word in ("matter", "explain", "would reach", "finds", "selica plan compare"):
        assert word not in text
    assert f"No figure: {FIT}." in " ".join(text.split())
    assert not path.exists()
    told = report("diagnose", "--demo", "--method", "knockoffs")
    assert told["reason"] == FIT
    for name in ("n_signals", "r2", "power", "required", "required_interval", "command"):
        assert told[name] is None


@pytest.mark.parametrize("question", ["table", "diagnose"])
def test_a_figure_for_a_table(question, study_folder, tmp_path):
    path = tmp_path / "plan.png"
    more = SETS if question == "table" else ["--method", "knockoffs", "--sampler", "iid"]
    source = [study_folder / "plain.csv", "--target", "y"]
    assert f"Figure written to {path}" in plan(question, *source, *more, "--plot", path)
    assert path.read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
