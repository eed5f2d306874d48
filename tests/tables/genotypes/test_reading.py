"""Genotype files: against bed-reader and pgenlib, filters against brute force, broken files."""

from __future__ import annotations

import numpy as np
import pytest
from bed_reader import open_bed, to_bed

from selica.errors import ArgumentError, RefusedError
from selica.tables.genotypes import Genotypes, Markers, People, read_genotypes, write_bed
from selica.tables.genotypes.codes import pack
from selica.tables.genotypes.markers import karyogram_place, read_pvar
from selica.tables.genotypes.people import read_psam

N, P = 23, 60


def drawn(seed=0, n=N, p=P, missing=0.1):
    rng = np.random.default_rng(seed)
    calls = rng.binomial(2, rng.uniform(0.02, 0.9, p), (n, p)).astype(np.int8)
    calls[rng.random((n, p)) < missing] = -1
    return calls


def some_markers(p=P):
    chromosome = ["1"] * (p // 2) + ["2"] * (p - p // 2 - 5) + ["X"] * 5
    names = [f"rs{j}" for j in range(p)]
    return Markers.of(chromosome, names, np.arange(p) * 100 + 7, "A" * p, ["GT"] * p)


def some_people(n=N):
    return People.of([f"i{i}" for i in range(n)], [f"f{i // 2}" for i in range(n)])


def varies(calls):
    known = np.where(calls < 0, np.nan, calls)
    copies, most = np.nansum(known, axis=0), 2 * (~np.isnan(known)).sum(axis=0)
    return (copies > 0) & (copies < most)


@pytest.fixture(scope="module")
def calls():
    return drawn()


@pytest.fixture
def bed(tmp_path, calls):
    return write_bed(tmp_path / "cohort.bed", calls, some_people(), some_markers())


def test_an_independent_reader_sees_what_was_written(bed, calls):
    with open_bed(bed) as file:
        found = file.read(dtype="int8")
        # bed-reader counts copies of the first allele by default, as PLINK does
        np.testing.assert_array_equal(np.where(found == -127, -1, found), calls)
        assert file.iid.tolist() == [f"i{i}" for i in range(N)]
        assert file.fid.tolist() == [f"f{i // 2}" for i in range(N)]
        assert file.bp_position.tolist() == (np.arange(P) * 100 + 7).tolist()
        assert set(file.allele_2.tolist()) == {"GT"}


def test_what_an_independent_writer_wrote_is_read(tmp_path, calls):
    values = np.where(calls < 0, np.nan, calls)
    to_bed(tmp_path / "other.bed", values, properties={"sid": [f"s{j}" for j in range(P)]})
    found = read_genotypes(tmp_path / "other.bed")
    used = varies(calls)
    np.testing.assert_array_equal(found.calls(), calls[:, used])
    assert found.names == [f"s{j}" for j in np.flatnonzero(used)]


def test_a_file_is_mapped_and_filters_of_markers_copy_nothing(bed, calls):
    found = read_genotypes(bed, maf=0.2, chromosomes="2,X")
    assert isinstance(found.codes, np.memmap)
    assert found.codes.shape[0] == P
    share = np.nansum(np.where(calls < 0, np.nan, calls), axis=0) / (2 * (calls >= 0).sum(0))
    expected = np.flatnonzero((np.minimum(share, 1 - share) >= 0.2) & (np.arange(P) >= P // 2))
    assert found.columns.tolist() == expected.tolist()
    np.testing.assert_array_equal(found.calls(), calls[:, expected])
    np.testing.assert_allclose(found.frequency, share[expected])
    np.testing.assert_allclose(found.missing, (calls < 0).mean(0)[expected])


def test_frequencies_are_those_of_the_people_that_are_used(bed, calls):
    some = np.arange(0, N, 2)
    found = read_genotypes(bed, keep_people=[f"i{i}" for i in some], maf=0.1, max_missing=0.15)
    here = calls[some]
    share = np.nansum(np.where(here < 0, np.nan, here), axis=0) / (2 * (here >= 0).sum(0))
    good = (np.minimum(share, 1 - share) >= 0.1) & ((here < 0).mean(0) <= 0.15)
    np.testing.assert_array_equal(found.calls(), here[:, good])
    assert found.people.name.tolist() == [f"i{i}" for i in some]
    assert found.n_rows == some.size


def test_a_share_at_its_limit_is_used(tmp_path):
    # 1 of 10 alleles is 0.1, and 1 of 5 calls missing 0.2
    path = write_bed(tmp_path / "a.bed", np.array([[1, 1], [0, -1], [0, 0], [0, 0], [0, 1]]))
    assert read_genotypes(path, maf=0.1, max_missing=0.2).shape == (5, 2)
    assert read_genotypes(path, maf=0.1 + 1e-6).shape == (5, 1)
    assert read_genotypes(path, max_missing=0.2 - 1e-6).shape == (5, 1)


def test_lists_of_people_and_markers_come_from_files(bed, tmp_path, calls):
    (tmp_path / "keep.txt").write_text("#FID IID\nf0 i0\nf1 i2\nf9 nobody\nf5 i11\n")
    (tmp_path / "out.txt").write_text("i11\n")
    (tmp_path / "few.txt").write_text("rs1\nrs2\nrs3\nrs3\nnot-there\n")
    found = read_genotypes(bed, keep_people=tmp_path / "keep.txt")
    assert found.people.name.tolist() == ["i0", "i2", "i11"]
    assert any("1 of 4 people there has no genotypes" in note for note in found.notes)
    found = read_genotypes(bed, remove_people=str(tmp_path / "out.txt"))
    assert "i11" not in found.people.name
    found = read_genotypes(bed, extract=tmp_path / "few.txt", exclude=["rs2"])
    assert set(found.names) <= {"rs1", "rs3"}


def test_markers_without_a_name_of_their_own_get_one(tmp_path):
    markers = Markers.of("1111", [".", ".", "rs7", "rs7"], [5, 9, 9, 9], "AAAA", "CCGG")
    path = write_bed(
        tmp_path / "a.bed", np.tile([[0, 1, 2, 0], [1, 0, 1, 2]], (5, 1)), None, markers
    )
    assert read_genotypes(path).names == ["1:5:A:C", "1:9:A:C", "1:9:A:G (1)", "1:9:A:G (2)"]


def test_pgen_files_hold_the_same(tmp_path, bed, calls):
    pgenlib = pytest.importorskip("pgenlib")  # no wheel for every Python of the matrix
    path = tmp_path / "two.pgen"
    with pgenlib.PgenWriter(str(path).encode(), N, variant_ct=P, nonref_flags=False) as writer:
        for column in np.where(calls < 0, -9, calls).T:
            writer.append_biallelic(np.ascontiguousarray(column, dtype=np.int8))
    lines = [
        f"{c}\t{b}\t{i}\tGT\tA"
        for c, b, i in zip(
            some_markers().chromosome, some_markers().position, some_markers().name, strict=True
        )
    ]
    head = "##fileformat=VCFv4.2\n#CHROM\tPOS\tID\tREF\tALT\n"
    path.with_suffix(".pvar").write_text(head + "\n".join(lines) + "\n")
    people = [f"f{i // 2}\ti{i}\t{'12'[i % 2]}" for i in range(N)]
    path.with_suffix(".psam").write_text("#FID\tIID\tSEX\n" + "\n".join(people) + "\n")
    one, two = read_genotypes(bed), read_genotypes(path)
    np.testing.assert_array_equal(one.calls(), two.calls())
    np.testing.assert_array_equal(one.counts, two.counts)
    assert one.names == two.names
    assert two.markers.row(0) == one.markers.row(0)
    some = {"chromosomes": "2", "remove_people": ["i3"], "cache": tmp_path / "codes"}
    three = read_genotypes(path, **some)
    assert isinstance(three.codes, np.memmap)
    np.testing.assert_array_equal(three.calls(), read_genotypes(bed, **some).calls())
    path.with_suffix(".psam").write_text("#IID\n" + "\n".join(f"i{i}" for i in range(N - 1)))
    with pytest.raises(ArgumentError):
        read_genotypes(path)


def test_pvar_and_psam_without_lines_of_names(tmp_path):
    (tmp_path / "a.pvar").write_text("chr1 rs1 0 55 T C\nchrX rs2 0 60 G A\n")
    markers = read_pvar(tmp_path / "a.pvar")
    assert markers.chromosome.tolist() == ["1", "X"]
    assert (markers.allele_1.tolist(), markers.allele_2.tolist()) == (["T", "G"], ["C", "A"])
    (tmp_path / "a.psam").write_text("f i 0 0 1 2.5\n")
    assert read_psam(tmp_path / "a.psam").phenotype.tolist() == ["2.5"]
    (tmp_path / "b.pvar").write_text("#CHROM\tPOS\tID\tREF\tALT\n1\t5\trs1\tA\tC,G\n")
    with pytest.raises(ArgumentError, match="more than two alleles, such as 'rs1'"):
        read_pvar(tmp_path / "b.pvar")


def test_chromosomes_in_the_order_of_a_karyogram():
    names = ["X", "10", "2", "MT", "1", "Y", "0", "chr3"]
    assert sorted(names, key=karyogram_place) == ["1", "2", "chr3", "10", "X", "Y", "MT", "0"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"maf": 0.6}, "maf must be between 0 and 0.5"),
        ({"max_missing": -1}, "max_missing must be between 0 and 1"),
        ({"chromosomes": "9"}, "there is no marker on '9'"),
        ({"extract": ["nothing"]}, "extract: none of 1 name"),
        ({"keep_people": ["nobody"]}, "keep_people: none of the people"),
        ({"remove_people": [f"i{i}" for i in range(N - 1)]}, "at least two people"),
        ({"maf": 0.5}, "no marker is left"),
    ],
)
def test_impossible_filters_are_refused(bed, arguments, words):
    with pytest.raises((ArgumentError, RefusedError), match=words):
        read_genotypes(bed, **arguments)


def test_broken_files_are_refused(bed):
    with pytest.raises(ArgumentError, match="there is no such file"):
        read_genotypes(bed.with_name("other.bed"))
    whole = bed.read_bytes()
    for content, words in (
        (whole[:-1], "does not belong to"),
        (b"PK" + whole[2:], "not a .bed file"),
        (whole[:2] + b"\0" + whole[3:], "a line of this file is a person"),
        (b"", "not a .bed file"),
    ):
        bed.write_bytes(content)
        with pytest.raises(ArgumentError, match=words):
            read_genotypes(bed)
    bed.write_bytes(whole)
    fam = bed.with_suffix(".fam")
    lines = fam.read_text().splitlines()
    fam.write_text("\n".join([*lines[:-1], lines[0]]))
    with pytest.raises(ArgumentError, match="more than once: 'f0 i0'"):
        read_genotypes(bed)
    fam.write_text("\n".join([*lines[:-1], "f 1 2"]))
    with pytest.raises(ArgumentError, match="6 fields; one has 3"):
        read_genotypes(bed)
    fam.unlink()
    with pytest.raises(ArgumentError, match=r"cohort.fam has to be beside it"):
        read_genotypes(bed)


def test_positions_have_to_be_numbers(bed):
    bim = bed.with_suffix(".bim")
    bim.write_text(bim.read_text().replace("\t107\t", "\there\t"))
    with pytest.raises(ArgumentError, match="positions must be whole numbers; one is 'here'"):
        read_genotypes(bed)


def test_writing_is_checked(tmp_path):
    with pytest.raises(ArgumentError, match=r"end in .bed"):
        write_bed(tmp_path / "a.ped", [[1]])
    with pytest.raises(ArgumentError, match="3 lines for 4 markers"):
        write_bed(
            tmp_path / "a.bed",
            iter([pack(np.zeros((3, 5), dtype=np.int8))]),
            some_people(5),
            some_markers(10).some(range(4)),
        )
    assert not (tmp_path / "a.bed").exists()


def test_some_people_in_another_order(calls):
    genotypes = Genotypes.of(calls, some_people(), some_markers())
    which = np.array([5, 0, 22])
    some = genotypes.some_people(which).some_markers([3, 1])
    np.testing.assert_array_equal(some.calls(), calls[which][:, [3, 1]])
    assert some.people.name.tolist() == ["i5", "i0", "i22"]
    assert some.counts.sum(axis=1).tolist() == [3, 3]
    blocks = np.vstack([part for _, part in genotypes.blocks()])
    np.testing.assert_array_equal(blocks, calls.T)
