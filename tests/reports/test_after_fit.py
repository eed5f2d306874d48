"""Levels and bounds after the fit, in what is printed and written."""

from __future__ import annotations

import csv
import json
import re

import pytest
from typer.testing import CliRunner

from selica import DerandomizedKnockoffs, KnockoffSelection, StabilitySelection
from selica.cli import app
from selica.reports import answer, write_report
from selica.reports.figure import figures
from selica.sampling import simulate

FEW = simulate(200, 40, 4, snr=20.0, random_state=1)
MANY = simulate(300, 60, 20, snr=20.0, random_state=1)
NAMES = [f"gene {j}" for j in range(60)]


def found(data, selector):
    return answer(selector, data.X, data.y, NAMES[: data.X.shape[1]], "dose")


@pytest.fixture(scope="module")
def long():
    return found(MANY, KnockoffSelection(0.2, sampler="iid", lam=0.05, random_state=0))


@pytest.fixture(scope="module")
def empty():
    return found(FEW, KnockoffSelection(0.1, sampler="iid", lam=0.05, random_state=0))


def test_an_empty_list_is_printed_with_what_the_data_support(empty):
    assert not empty.selected
    text = " ".join(str(empty).split())
    level = empty.selector.posthoc()
    assert f"the data support {len(level.names)} variables at level {level.level:.3g}:" in text
    assert "divided by this level is at most 1 on average" in text


def test_bounds_are_written(long, tmp_path):
    bound = long.selector.fdp_bound(long.selector.support_)
    assert bound.false is not None
    assert bound.claim in " ".join(str(long).split())
    table, about, page = write_report(long, tmp_path)
    with open(table, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    last = [row for row in rows if row["selected"] == "True"][-1]
    assert int(last["false at most"]) == bound.false
    said = json.loads(about.read_text(encoding="utf-8"))["after_the_fit"]
    assert said["bound"]["false"] == bound.false
    assert said["bound"]["confidence"] == 0.95
    assert said["posthoc"]["level"] <= 0.2
    assert said["bounds"]["false_at_most"][:4] == [None] * 4
    assert said["bounds"]["size"][-1] == (long.selector.statistics_ > 0).sum()
    text = page.read_text(encoding="utf-8")
    assert "Bound on false variables" in text
    assert bound.claim in text


def test_the_figure_has_a_step_for_each_list(long):
    (drawn,) = [one for one in figures(long) if one.title == "Bound on false variables"]
    curve = long.selector.fdp_bound()
    most = curve.size[-1]
    (path,) = re.findall(r'class="bound" d="M([^"]+) Z"', drawn.svg)
    heights = [most - int(point.split()[1]) for point in path.split(" L")][1:-1]
    assert heights[::2] == curve.false.tolist()
    assert "0.95" in drawn.caption


def test_without_a_bound_there_is_no_figure(empty):
    weak = found(FEW, StabilitySelection(n_resamples=20, random_state=0))
    short = answer(
        KnockoffSelection(0.5, sampler="iid", lam=0.4, random_state=0), FEW.X, FEW.y, NAMES[:40],
        "dose",
    )  # fmt: skip
    for one in (weak, short):
        assert "Bound on false variables" not in [drawn.title for drawn in figures(one)]
    assert weak.to_dict()["after_the_fit"] == {}


def test_many_copies_have_a_level_and_no_curve():
    copies = DerandomizedKnockoffs(0.1, n_copies=4, sampler="iid", lam=0.05, random_state=0)
    assert list(found(FEW, copies).to_dict()["after_the_fit"]) == ["posthoc"]


def test_the_command_line_takes_a_confidence(tmp_path):
    table = tmp_path / "table.csv"
    rows = [",".join([*NAMES, "dose"])]
    rows += [
        ",".join(f"{value:.9g}" for value in (*x, y)) for x, y in zip(MANY.X, MANY.y, strict=True)
    ]
    table.write_text("\n".join(rows))
    call = ["select", str(table), "--target", "dose", "--method", "knockoffs", "--fdr", "0.2"]
    said = CliRunner().invoke(app, [*call, "--lam", "0.05", "--confidence", "0.8"])
    assert said.exit_code == 0, said.output
    assert re.search(r"With probability 0\.8, at most \d+ of these \d+ variables are", said.output)
    wrong = CliRunner().invoke(app, [*call, "--confidence", "80"])
    assert wrong.exit_code != 0
    assert "confidence must be between 0 and 1" in str(wrong.exception)
    foreign = CliRunner().invoke(
        app, ["select", str(table), "--target", "dose", "--method", "lasso", "--confidence", "0.9"]
    )
    assert "--confidence does not belong to --method lasso" in str(foreign.exception)
