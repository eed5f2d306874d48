"""Groups on the command line, in `selica.select`, in reports and bundles."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
import zipfile

import numpy as np
import pandas
import pytest

import selica
from selica.errors import ArgumentError
from tests.cli.commands import assert_one_line, call_main, invoke, parsed


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A table of eight blocks of three genes, and a table of the genes."""
    place = tmp_path_factory.mktemp("groups")
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((120, 8))
    X = np.repeat(Z, 3, axis=1) + 0.4 * rng.standard_normal((120, 24))
    table = pandas.DataFrame(X, columns=[f"gene{j}" for j in range(24)])
    table["dose"] = Z[:, 0] - Z[:, 1] + 0.5 * rng.standard_normal(120)
    table.to_csv(place / "table.csv", index=False)
    genes = pandas.DataFrame(
        {"symbol": table.columns[:24], "pathway": [f"pathway {j // 3}" for j in range(24)]}
    )
    genes[::-1].to_csv(place / "genes.csv", index=False)
    return place


def asked(folder, *words):
    return [
        "select", folder / "table.csv", "--target", "dose", "--method", "stability-pfer",
        "--n-resamples", "40", *words,
    ]  # fmt: skip


def test_clusters_are_asked_for_by_a_word(folder):
    told = parsed(*asked(folder, "--groups", "correlation"))
    assert sorted(told["selected"]) == ["gene0 and 2 more", "gene3 and 2 more"]
    assert told["members"]["gene3 and 2 more"] == ["gene3", "gene4", "gene5"]
    assert told["n_variables"] == 24
    assert len(told["variables"]) == 8
    assert told["guarantee"]["discoveries"] == "groups"
    tight = parsed(*asked(folder, "--groups", "correlation:0.99"))
    assert len(tight["variables"]) == 24


def test_groups_from_a_feature_table_are_those_of_python(folder):
    place = f"{folder / 'genes.csv'}:pathway"
    told = parsed(*asked(folder, "--groups", place))
    assert sorted(told["selected"]) == ["pathway 0", "pathway 1"]
    found = selica.select(
        folder / "table.csv", "dose", method="stability-pfer", n_resamples=40, groups=place
    )
    assert found.selected == told["selected"]
    assert found.members == told["members"]
    labels = {f"gene{j}": f"pathway {j // 3}" for j in range(24)}
    named = selica.select(
        folder / "table.csv", "dose", method="stability-pfer", n_resamples=40, groups=labels
    )
    assert named.rows == found.rows


def test_what_is_printed_speaks_of_groups(folder):
    text = invoke(*asked(folder, "--groups", "correlation"))
    assert "2 of 8 groups reach the threshold" in text
    assert "120 rows, 24 variables in 8 groups." in text
    assert "in this group" in text
    assert "gene3, gene4, gene5" in text
    assert "nothing is promised about single members" in " ".join(text.split())
    assert max(map(len, text.splitlines())) <= 80


def test_a_report_lists_members_and_maps_groups(folder, tmp_path):
    invoke(*asked(folder, "--groups", "correlation", "--out", tmp_path))
    page = (tmp_path / "report.html").read_text()
    assert "Groups of variables selected for" in page
    assert "2 of 8 groups were selected" in page
    assert "gene3, gene4, gene5" in page
    assert "How the variables go together" in page
    picture = base64.b64decode(page.split("data:image/png;base64,")[1].split('"')[0])
    assert picture.startswith(b"\x89PNG")
    assert page.count('class="chosen"') == 2
    assert "http" not in page.replace("http://www.w3.org", "")
    told = json.loads((tmp_path / "selection.json").read_text())
    assert len(told["members"]) == 2
    rows = pandas.read_csv(tmp_path / "selection.csv")
    assert rows["group"].size == 8
    assert (rows["members"] == 3).all()


def test_a_bundle_has_the_labels_of_a_feature_table(folder, tmp_path):
    invoke(*asked(folder, "--groups", f"{folder / 'genes.csv'}:pathway", "--bundle",
                  tmp_path / "b.zip"))  # fmt: skip
    with zipfile.ZipFile(tmp_path / "b.zip") as packed:
        packed.extractall(tmp_path / "b")
    assert "genes.csv" not in (tmp_path / "b" / "run.py").read_text()
    done = subprocess.run(
        [sys.executable, str(tmp_path / "b" / "run.py")],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "to the last digit" in done.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--groups", "clusters"], "groups must be labels"),
        (["--groups", "correlation:2"], "groups: the cut"),
        (["--groups", "nowhere.csv:pathway"], "nowhere.csv"),
        (["--joint-copies", "5"], "--joint-copies does not belong"),
    ],
)
def test_bad_groups_are_one_line(folder, monkeypatch, capsys, words, said):
    code = call_main(monkeypatch, *map(str, asked(folder, *words)))
    assert_one_line(code, capsys.readouterr().err, said)


def test_joint_copies_on_the_command_line(folder):
    told = parsed(
        "select", folder / "table.csv", "--target", "dose", "--method", "knockoffs", "--fdr", "0.1",
        "--joint-copies", "5", "--groups", "correlation", "--lam", "0.05",
    )  # fmt: skip
    assert {"gene0 and 2 more", "gene3 and 2 more"} <= {*told["selected"]}
    assert told["used"]["joint_copies"] == 5


def test_a_method_without_names_for_groups_is_told_so():
    with pytest.raises(ArgumentError, match="groups must have one label for each of the 2"):
        selica.select({"a": [1, 2, 3, 5], "b": [2, 1, 4, 3], "y": [1, 2, 3, 4]}, "y",
                      groups=["one"])  # fmt: skip
