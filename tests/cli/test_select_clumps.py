"""`selica select --method clump-knockoffs`, from the files to the discoveries."""

from __future__ import annotations

import json

import numpy as np
import pytest

from selica import ClumpKnockoffs
from selica._core.table import Table
from selica.tables.genotypes import write_bed
from tests.cli.commands import assert_refused, invoke, parsed
from tests.sampling.test_genotypes import founders

LAW = founders(120, 4, 0, rate=0.1)
X = LAW.simulate(250, random_state=1)
CAUSAL = np.arange(5, 120, 12)
Y = X[:, CAUSAL].sum(axis=1) + np.random.default_rng(2).standard_normal(250)


@pytest.fixture(scope="module")
def cohort(tmp_path_factory):
    path = tmp_path_factory.mktemp("cohort") / "small.bed"
    write_bed(path, X.astype(np.int8))
    lines = [f"{i + 1} {i + 1} {value}" for i, value in enumerate(Y)]
    path.with_suffix(".pheno").write_text("FID IID y\n" + "\n".join(lines) + "\n")
    return path


def asked(cohort, *more):
    pheno = cohort.with_suffix(".pheno")
    options = ("--method", "clump-knockoffs", "--fdr", "0.2", "--resolutions", "6,12")
    return ("select", cohort, "--pheno", pheno, *options, *more)


def test_the_command_is_the_class_and_writes_what_it_says(cohort, tmp_path):
    out = tmp_path / "clumps"
    said = parsed(*asked(cohort, "--out", out, "--seed", "3"))
    found = ClumpKnockoffs(0.2, resolutions=[6, 12], random_state=3).fit(X, Y)
    assert said["resolutions"] == {one.name: int(one.selected.sum()) for one in found.resolutions_}
    rows = Table.read_csv(out / "discoveries.csv")
    assert len(rows) == len(found.discoveries_) > 0
    assert rows["W"] == pytest.approx(found.discoveries_["W"])
    assert json.loads((out / "selection.json").read_text())["title"] == said["title"]
    assert (out / "genome.png").stat().st_size > 5_000


def test_what_is_printed(cohort):
    said = invoke(*asked(cohort))
    assert "Clumps at FDR 0.2" in said
    assert "false" in said


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("--pfer", "1"), "--pfer does not belong to --method clump-knockoffs"),
        (("--resolutions", "5,many"), "--resolutions must be numbers with commas"),
    ],
)
def test_hostile_options(monkeypatch, capsys, cohort, more, words):
    assert_refused(monkeypatch, capsys, [*map(str, asked(cohort, *more))], words)


def test_resolutions_belong_to_clumps(monkeypatch, capsys, cohort):
    words = ("select", cohort, "--pheno", cohort.with_suffix(".pheno"), "--resolutions", "5")
    assert_refused(
        monkeypatch, capsys, [*map(str, words)], "--resolutions belongs to genotypes with --method"
    )
