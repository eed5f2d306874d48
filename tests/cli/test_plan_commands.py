"""`selica plan`: commands that run as they are printed."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from selica import planning, selectors
from selica.cli.output import copyable
from selica.cli.run_lines import command_of
from selica.cli.select_source import Source
from selica.cli.table_options import TableOptions
from tests.cli.commands import invoke
from tests.cli.plans import FEW, ONE, SIZES, STUDY, plan, printed_code, printed_commands, report


def test_every_command_gives_the_selector_its_settings(study_folder, monkeypatch):
    monkeypatch.chdir(study_folder)
    rows = report("compare", *STUDY, "--fdr", "0.2")["methods"]
    best = [row for row in rows if row["settings"] == "best"]
    assert len(best) == len(planning.METHODS)
    for row in best:
        # copies and resamples take time and are not in question
        less = ["--n-resamples", "20"] if row["method"].startswith("stability-pfer") else []
        words = [*shlex.split(row["command"])[1:], "--drop", "patient", *less]
        found = json.loads(invoke(*words, "--json"))
        selector = eval(row["code"], vars(selectors))  # as a reader would run it
        assert found["method"] == type(selector).__name__
        assert found["settings"].items() >= row["parameters"].items()


@pytest.mark.parametrize(
    "asked",
    [
        ["compare", *STUDY, *FEW],
        ["samples", *SIZES[2:], "--r2", "0.9", "--power", "0.6", "--method", "stability-pfer"],
    ],
    ids=lambda asked: asked[0],
)
def test_what_is_printed_runs(asked, study_folder, monkeypatch):
    monkeypatch.chdir(study_folder)
    text = plan(*asked)
    commands = printed_commands(text)
    # message passing may be refused, and then there is another method
    assert len(commands) == (2 if "--method stability-fdr --fdr" in text else 1)
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
    assert told["best"]["method"] == "stability-fdr"
    assert told["otherwise"]["method"] == "knockoffs"
    assert report("compare", *STUDY, *ONE)["otherwise"] is None
    assert report("compare", *STUDY, "--method", "knockoffs")["otherwise"] is None
    asked = ["samples", *STUDY[2:], "--power", "0.5", *FEW]
    told = report(*asked)
    by_name = {row["method"]: row["value"] for row in told["methods"]}
    assert told["otherwise"] == {"method": "knockoffs", "value": by_name["knockoffs"]}
    told = " ".join(plan(*asked).split())
    assert f"In that case use knockoffs, one copy (samples: {by_name['knockoffs']}):" in told


def test_names_with_spaces_and_quotes_are_quoted():
    source = Source(
        Path("my tables/a b.csv"), "the 'y'", TableOptions.of(drop=["row name", "$HOME"])
    )
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
