"""Z-scores and LD from files: names of columns, alleles, what is left out, what is wrong."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from selica._core.errors import ArgumentError, RefusedError
from selica.tables import LinkageBlocks, ZScores, align, read_linkage, read_zscores, write_linkage


def ld(alleles: list[str]) -> LinkageBlocks:
    p = len(alleles)
    first, second = zip(*(pair.split("/") for pair in alleles), strict=True)
    return LinkageBlocks(
        [np.eye(p)], 100, [f"rs{j}" for j in range(p)], {"allele_1": first, "allele_2": second}
    )


def scores(alleles: list[str]) -> ZScores:
    first, second = zip(*(pair.split("/") for pair in alleles), strict=True)
    names = tuple(f"rs{j}" for j in range(len(alleles)))
    markers = {"allele_1": first, "allele_2": second}
    return ZScores(names, np.arange(1.0, len(alleles) + 1.0), markers)


@pytest.mark.parametrize(
    ("own", "reference", "expected"),
    [
        ("A/G", "A/G", 1.0),
        ("G/A", "A/G", -1.0),
        ("T/C", "A/G", 1.0),  # the other strand
        ("C/T", "A/G", -1.0),
        ("a/g", "A/G", 1.0),
        ("AT/A", "A/AT", -1.0),  # an insertion
        ("A/T", "A/T", None),  # either strand
        ("C/G", "G/C", None),
        ("A/C", "A/G", None),
        ("A/A", "A/G", None),
    ],
)
def test_effects_are_those_of_the_allele_of_ld(own: str, reference: str, expected: object) -> None:
    found = align(scores([own, "A/G"]), ld([reference, "A/G"]))
    if expected is None:
        assert found.kept.tolist() == [False, True]
        assert found.counts["ambiguous"] + found.counts["other alleles"] == 1
    else:
        assert found.z.tolist() == [expected, 2.0]


def test_everything_that_is_left_out_is_counted() -> None:
    given = scores(["A/G", "A/T", "A/C", "A/G", "A/G"])
    twice = ZScores(
        (*given.names, "rs3", "other"), [*given.z, 9.0, 9.0],
        {key: [*value, "A", "A"] for key, value in given.markers.items()},
    )  # fmt: skip
    found = align(twice, ld(["A/G", "A/T", "A/G", "A/G", "G/A", "A/G"]))
    assert found.counts == {
        "used": 2, "flipped": 1, "ambiguous": 1, "other alleles": 1, "twice": 1, "not in LD": 1,
        "without Z": 1,
    }  # fmt: skip
    assert found.z.tolist() == [1.0, -5.0]
    assert any("changed their sign" in note for note in found.notes)
    with pytest.raises(RefusedError, match="no marker in common"):
        align(ZScores(("x",), [1.0]), ld(["A/G"]))


def test_without_alleles_it_is_said_that_none_were_compared() -> None:
    found = align(ZScores(("b", "a"), [1.0, 2.0]), LinkageBlocks([np.eye(2)], names=["a", "b"]))
    assert found.z.tolist() == [2.0, 1.0]
    assert "none could be compared" in found.notes[-1]


@pytest.mark.parametrize(
    "text",
    [
        "marker\tz\tallele_1\tallele_2\nrs1\t2.0\tT\tC\nrs2\t-1\tA\tG\nrs3\t\tA\tG\n",
        "SNP,BETA,SE,A1,A2\nrs1,0.2,0.1,T,C\nrs2,-1,1,A,G\nrs3,1,0,A,G\n",
    ],
)
def test_columns_have_the_names_of_many_programs(text: str, tmp_path: Path) -> None:
    path = tmp_path / ("z.tsv" if "\t" in text else "z.csv")
    path.write_text(text)
    found = read_zscores(path)
    assert found.names == ("rs1", "rs2")
    np.testing.assert_allclose(found.z, [2.0, -1.0])
    assert found.markers["allele_1"].tolist() == ["T", "A"]
    assert any("1 line" in note for note in found.notes)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("marker,beta\nrs1,1\n", "z .or beta and se"),
        ("name,z\nrs1,1\n", "a column marker"),
        ("marker,z\nrs1,high\nrs2,low\n", "column z must hold numbers"),
        ("marker,z\nrs1,\n,2\n", "no line"),
    ],
)
def test_a_file_that_cannot_be_used_says_why(text: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "z.csv"
    path.write_text(text)
    with pytest.raises(ArgumentError, match=words):
        read_zscores(path)


def test_ld_comes_back_from_files_and_folders(tmp_path: Path) -> None:
    one = ld(["A/G", "C/T"])
    write_linkage(tmp_path / "a.npz", one)
    write_linkage(tmp_path / "b.npz", LinkageBlocks([np.eye(1)], 100, ["x"]))
    back = read_linkage(tmp_path / "a.npz")
    assert back.names == one.names
    assert back.n_reference == 100
    assert back.markers["allele_1"].tolist() == ["A", "C"]
    both = read_linkage(tmp_path)
    assert both.names == ("rs0", "rs1", "x")
    assert len(both.matrices) == 2


def test_ld_files_that_are_none_are_named(tmp_path: Path) -> None:
    (tmp_path / "text.npz").write_text("hello")
    np.savez(tmp_path / "empty.npz", names=np.array(["a"]))
    np.savez(tmp_path / "nameless.npz", block_00000=np.eye(2))
    np.savez(tmp_path / "wrong.npz", block_00000=np.full((1, 1), 3.0), names=np.array(["a"]))
    cases = {
        "text": "no .npz archive", "empty": "no matrix", "nameless": "no names",
        "wrong": "ones on its diagonal", "absent": "no such file",
    }  # fmt: skip
    for name, words in cases.items():
        with pytest.raises(ArgumentError, match=words):
            read_linkage(tmp_path / f"{name}.npz")
    (tmp_path / "folder").mkdir()
    with pytest.raises(ArgumentError, match=r"no \.npz file"):
        read_linkage(tmp_path / "folder")
