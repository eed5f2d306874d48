"""Commands that convert genotypes: each is run where PLINK 2 is, and the calls come back."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from selica._core.errors import ArgumentError
from selica.tables.genotypes import is_genotype_file, read_genotypes
from selica.tables.genotypes.conversions import CONVERSIONS, REMARKS, conversion

N, P = 11, 7
PAGE = Path(__file__).parents[3] / "docs" / "genotypes.md"
runs_plink = pytest.mark.skipif(
    shutil.which("plink2") is None, reason="plink2 is not on this machine"
)


def run(command, folder):
    subprocess.run(shlex.split(command), cwd=folder, check=True, capture_output=True, timeout=60)


@pytest.fixture(scope="module")
def calls():
    rng = np.random.default_rng(0)
    table = rng.integers(0, 3, (N, P))
    table[rng.random((N, P)) < 0.1] = -1
    return table


@pytest.fixture(scope="module")
def folder(calls, tmp_path_factory):
    """A folder with x.vcf, whose last line has three alleles and is not to be used."""
    place = tmp_path_factory.mktemp("plink")
    words = {0: "0/0", 1: "0/1", 2: "1/1", -1: "./."}
    people = [f"p{i}" for i in range(N)]
    lines = [
        "##fileformat=VCFv4.2", "##contig=<ID=1>", "##contig=<ID=2>",
        '##FORMAT=<ID=GT,Number=1,Type=String,Description="Genotype">',
        "\t".join(["#CHROM", "POS", "ID", "REF", "ALT", "QUAL", "FILTER", "INFO", "FORMAT",
                   *people]),
    ]  # fmt: skip
    for j in range(P):
        about = [str(1 + (j > 3)), str(100 * (j + 1)), f"rs{j}", "A", "G", ".", ".", ".", "GT"]
        lines.append("\t".join([*about, *(words[c] for c in calls[:, j])]))
    lines.append("\t".join(["2", "9000", "three", "A", "G,T", ".", ".", ".", "GT", *["1/2"] * N]))
    (place / "x.vcf").write_text("\n".join(lines) + "\n")
    return place


MADE = {
    ".vcf": "cp x.vcf y.vcf",
    ".vcf.gz": "plink2 --vcf x.vcf --export vcf bgz --out y",
    ".vcf.bgz": "plink2 --vcf x.vcf --export vcf bgz --out y",
    ".bcf": "plink2 --vcf x.vcf --export bcf --out y",
    ".bgen": "plink2 --vcf x.vcf --max-alleles 2 --export bgen-1.2 ref-first --out y",
    ".ped": "plink2 --vcf x.vcf --max-alleles 2 --export ped --out y",
}
"""How a file of each kind is made for the test; it is called y."""


@runs_plink
@pytest.mark.parametrize("ending", CONVERSIONS)
def test_calls_come_back(calls, folder, ending):
    run(MADE[ending], folder)
    if ending == ".vcf.bgz":
        (folder / "y.vcf.gz").rename(folder / "y.vcf.bgz")
    command, made = conversion(Path(f"y{ending}"), ending)
    run(command, folder)
    found = read_genotypes(folder / made)
    assert found.names == [f"rs{j}" for j in range(P)]
    assert found.people.labels == [f"p{i}" for i in range(N)]
    # entries count the first allele, which is G where the file says which one is the reference
    copies = found.calls()
    first = np.array([found.markers.row(j)["allele_1"] for j in range(P)])
    counted = np.where((copies >= 0) & (first == "A"), 2 - copies, copies)
    np.testing.assert_array_equal(counted, calls)
    if ending != ".ped":  # which does not say it
        assert set(first) == {"G"}


@runs_plink
def test_pgen_has_the_calls_of_bed(calls, folder):
    pytest.importorskip("pgenlib", reason="the package that reads .pgen is not here")
    run("plink2 --vcf x.vcf --max-alleles 2 --make-pgen --out z", folder)
    np.testing.assert_array_equal(read_genotypes(folder / "z.pgen").calls(), calls)


@pytest.mark.parametrize("ending", CONVERSIONS)
def test_the_refusal_has_the_command(tmp_path, ending):
    path = tmp_path / f"cohort{ending}"
    assert is_genotype_file(path)
    with pytest.raises(ArgumentError) as caught:
        read_genotypes(path)
    command, made = conversion(path, ending)
    assert f"`{command}`" in str(caught.value)
    assert f"give {made}" in str(caught.value)
    assert REMARKS.get(ending, "") in str(caught.value)


@pytest.mark.parametrize("ending", CONVERSIONS)
def test_the_page_has_the_command(ending):
    """Endings of one kind have one line."""
    shown = {".vcf": ".vcf.gz", ".vcf.bgz": ".vcf.gz"}.get(ending, ending)
    command, _ = conversion(Path(f"x{shown}"), shown)
    assert command in PAGE.read_text(encoding="utf-8")
