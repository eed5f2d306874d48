"""`selica select --ld`: Z-scores in, markers out, from LD in files and from genotypes."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from selica.sampling import reference_linkage
from selica.tables import write_linkage
from selica.tables.genotypes import Markers, write_bed
from tests.cli.commands import assert_refused, invoke, parsed

PEOPLE = 1500
MARKERS = 40


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a reference panel of other people, its LD, and Z-scores."""
    folder = tmp_path_factory.mktemp("study")
    rng = np.random.default_rng(0)

    def people(n: int) -> np.ndarray:
        hidden = rng.standard_normal((2, n, MARKERS))
        for j in range(1, MARKERS):
            if j % 10:
                hidden[:, :, j] = 0.8 * hidden[:, :, j - 1] + 0.6 * hidden[:, :, j]
        return (hidden > 0.3).sum(axis=0)

    G, panel = people(PEOPLE), people(1000)
    y = G[:, 3::8].sum(axis=1) + 2.0 * rng.standard_normal(PEOPLE)
    X = G - G.mean(axis=0)
    y = y - y.mean()
    r = X.T @ y / np.sqrt((X**2).sum(axis=0) * (y @ y))
    z = r * np.sqrt((PEOPLE - 2) / (1.0 - r**2))
    names = [f"rs{j}" for j in range(MARKERS)]
    first, second = ["A"] * MARKERS, ["G"] * MARKERS
    markers = Markers.of([1] * MARKERS, names, np.arange(1, MARKERS + 1), first, second)
    write_bed(folder / "panel.bed", panel, markers=markers)
    of_marker = {"allele_1": first, "allele_2": second}
    ld = reference_linkage(panel, [10] * 4, names=names, markers=of_marker)
    write_linkage(folder / "ld.npz", ld)
    for name, sign in (("z", np.ones(MARKERS)), ("flipped", np.where(z > 6.0, -1.0, 1.0))):
        lines = ["marker\tchromosome\tposition\tallele_1\tallele_2\tz"]
        for j in range(MARKERS):
            # every other effect is that of the other allele
            pair, own = ("A\tG", z[j]) if j % 2 else ("G\tA", -z[j])
            lines.append(f"rs{j}\t1\t{j + 1}\t{pair}\t{sign[j] ** j * own:.4f}")
        (folder / f"{name}.tsv").write_text("\n".join(lines) + "\n")
    return folder


def test_ld_of_files_and_of_genotypes_give_the_same_markers(study: Path, tmp_path: Path) -> None:
    words = ["select", str(study / "z.tsv"), "--samples", str(PEOPLE), "--fdr", "0.3"]
    found = {}
    for kind in ("ld.npz", "panel.bed"):
        found[kind] = parsed(*words, "--ld", study / kind)
        assert found[kind]["markers"]["used"] == MARKERS
        assert found[kind]["markers"]["flipped"] == MARKERS // 2
        assert not found[kind]["mismatch"]["refused"]
    chosen = set(found["ld.npz"]["selected"])
    assert len(chosen & {f"rs{j}" for j in range(3, MARKERS, 8)}) >= 3


def test_files_are_written_and_sentences_printed(study: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    said = invoke(
        "select", str(study / "z.tsv"), "--ld", str(study / "ld.npz"), "--samples", str(PEOPLE),
         "--groups", "correlation:0.7", "--out", str(out),
    )  # fmt: skip
    assert "reference panel" in " ".join(said.split())
    record = json.loads((out / "selection.json").read_text())
    assert record["guarantee"]["proven"] is False
    assert (out / "selection.csv").read_text().startswith("rank,group,selected,W,z")


def test_swapped_alleles_are_refused_unless_accepted(study: Path, monkeypatch, capsys) -> None:
    words = ["select", str(study / "flipped.tsv"), "--ld", str(study / "ld.npz")]
    words += ["--samples", str(PEOPLE)]
    assert_refused(monkeypatch, capsys, words, "ld is not that of the people behind z")
    said = invoke(*words, "--accept-mismatch")
    assert "No error rate is controlled" in said


def test_what_does_not_belong_together_is_named(study: Path, monkeypatch, capsys) -> None:
    table, ld = str(study / "z.tsv"), ["--ld", str(study / "ld.npz")]
    assert_refused(monkeypatch, capsys, ["select", table, *ld], "--samples")
    assert_refused(monkeypatch, capsys, ["select", *ld, "--samples", "9"], "TABLE")
    assert_refused(
        monkeypatch,
        capsys,
        ["select", table, *ld, "--samples", "99", "--pfer", "1"],
        "--pfer does not",
    )
    assert_refused(
        monkeypatch,
        capsys,
        ["select", table, *ld, "--samples", "99", "--keep", "a"],
        "--keep does not",
    )
    assert_refused(
        monkeypatch, capsys, ["select", table, "--target", "z", "--samples", "99"], "belong to --ld"
    )
    assert_refused(
        monkeypatch, capsys, ["select", table, "--ld", "no.npz", "--samples", "99"], "no such file"
    )
    more = ["--samples", "99", "--groups", "correlation:x"]
    assert_refused(monkeypatch, capsys, ["select", table, *ld, *more], "needs a number")
