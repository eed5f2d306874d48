"""`selica select` on files of genotypes, from the files to the report."""

from __future__ import annotations

import json

import numpy as np
import pytest
from benchmarks.simulate_cohort import Cohort, simulate_cohort

import selica
from selica._core.table import Table
from selica.cli.genotype_options import GenotypeOptions
from selica.errors import ArgumentError, DoesNotApply, SelicaError
from tests.cli.commands import invoke, parsed

SMALL = Cohort(n=300, p=800, n_causal=2, heritability=0.5, chromosomes=3, missing=0.01)


@pytest.fixture(scope="module")
def cohort(tmp_path_factory):
    return simulate_cohort(tmp_path_factory.mktemp("cohort") / "small.bed", SMALL)


def test_from_files_to_a_report(cohort, tmp_path):
    out = tmp_path / "report"
    options = ["--pheno", cohort.with_suffix(".pheno"), "--keep", cohort.with_suffix(".covar"),
               "--components", 2, "--maf", 0.06, "--n-resamples", 50, "--out", out]  # fmt: skip
    invoke("select", cohort, *options)
    rows = Table.read_csv(out / "selection.csv")
    for name in ("chromosome", "position", "alleles", "frequency", "probability"):
        assert name in rows.columns
    assert all(row["selected"] or row["probability"] > 0.0 for row in rows)
    about = json.loads((out / "selection.json").read_text())
    assert about["n_samples"] == 300
    assert any("2 principal components" in one for one in about["cautions"])
    assert "--pheno" in about["run_again"]["command"] or about["run_again"]["python"]
    assert "pheno=" in about["run_again"]["python"]
    truth = Table.read_csv(cohort.with_suffix(".truth.csv"))
    places = {(str(row["chromosome"]), row["position"]) for row in truth}
    found = [row for row in rows if row["selected"]]
    assert found
    for row in found:  # in the neighbourhood of a causal marker
        assert any(
            str(row["chromosome"]) == c and abs(row["position"] - b) < 3e7 for c, b in places
        )
    page = (out / "report.html").read_text()
    assert 'class="genome"' in page
    assert len(page) < 600_000


def test_a_false_discovery_rate_leads_to_clumps(cohort):
    pheno = cohort.with_suffix(".pheno")
    found = parsed("select", cohort, "--pheno", pheno, "--fdr", "0.2", "--n-resamples", "50")
    assert found["guarantee"]["controls"] == "false discovery rate"
    assert any("--method clump-knockoffs" in step for step in found["next_steps"])
    same = selica.select(cohort, pheno=pheno, fdr=0.2, n_resamples=50)
    assert same.selected == found["selected"]


def test_the_command_is_the_call(cohort, tmp_path):
    pheno = cohort.with_suffix(".pheno")
    said = parsed("select", cohort, "--pheno", pheno, "--n-resamples", "50")
    found = selica.select(cohort, pheno=pheno, n_resamples=50)
    assert said["selected"] == found.selected
    same = selica.select(selica.read_genotypes(cohort), pheno=pheno, n_resamples=50)
    assert same.selected == found.selected
    np.testing.assert_array_equal(
        same.summary.variables["probability"], found.summary.variables["probability"]
    )
    with pytest.raises(DoesNotApply, match="A bundle has the table inside"):
        found.bundle(tmp_path / "b.zip")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["x.vcf.gz"], "plink2 --vcf x.vcf.gz --max-alleles 2 --make-bed --out x"),
        (["no.bed"], "there is no such file"),
        (["table.csv", "--target", "y", "--maf", "0.1"], "--maf is for genotypes"),
        (["--demo", "--pheno", "y.txt"], "--demo has its own table"),
        (["no.bed", "--missing", "drop-rows"], "missing calls take the mean"),
        (["no.bed", "--method", "nothing"], "nothing"),
        (["no.bed", "--bundle", "b.zip"], "genotypes and arrays in files are not packed"),
        (["no.bed", "--layer", "counts"], "--layer is for arrays"),
    ],
)
def test_bad_commands_are_refused(arguments, words):
    with pytest.raises(SelicaError) as said:
        invoke("select", *arguments)
    assert words in str(said.value)


def test_bad_filters_are_refused(cohort):
    with pytest.raises(ArgumentError, match=r"maf must be between 0 and 0\.5"):
        invoke("select", cohort, "--maf", "0.7")
    with pytest.raises(ArgumentError, match="--pheno FILE"):
        invoke("select", cohort)


def test_options_that_were_given():
    options = GenotypeOptions.of(pheno=None, components=3, maf=None)
    assert options.given == {"components": 3}
    with pytest.raises(ArgumentError, match="--components is for genotypes"):
        options.refuse()
