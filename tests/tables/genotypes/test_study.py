"""Phenotypes and covariates, matched with genotypes: any form, any order, missing values."""

from __future__ import annotations

import numpy as np
import pytest

from selica.errors import ArgumentError, RefusedError
from selica.tables.genotypes import Genotypes, Markers, People, prepare_genotypes

N = 30
CALLS = np.random.default_rng(0).binomial(2, 0.4, (N, 12))
Y = np.random.default_rng(1).standard_normal(N).round(3)
NAMES = [f"i{i}" for i in range(N)]
FAMILIES = [f"f{i // 3}" for i in range(N)]


@pytest.fixture
def genotypes():
    return Genotypes.of(CALLS, People.of(NAMES, FAMILIES), Markers.numbered(12))


def lines(*columns, order=None, sep=" ", head=None):
    rows = [sep.join(str(v) for v in row) for row in zip(*columns, strict=True)]
    rows = rows if order is None else [rows[i] for i in order]
    return "\n".join([*([] if head is None else [sep.join(head)]), *rows]) + "\n"


def written(folder, name, text):
    (folder / name).write_text(text)
    return folder / name


SHUFFLED = np.random.default_rng(2).permutation(N)


@pytest.mark.parametrize(
    "text",
    [
        lines(FAMILIES, NAMES, Y, order=SHUFFLED),
        lines(NAMES, Y, order=SHUFFLED),
        lines(NAMES, Y, order=SHUFFLED, sep=","),
        lines(FAMILIES, NAMES, Y, order=SHUFFLED, sep="\t", head=["#FID", "IID", "height"]),
        lines(NAMES, Y, order=SHUFFLED, sep="\t", head=["IID", "height"]),
        lines(NAMES, Y, order=SHUFFLED, sep=",", head=["person", "height"]),
        lines(Y, NAMES, sep=",", head=["height", "IID"]),
        lines(["x"] * N, NAMES, Y, head=["FID", "IID", "height"]),  # families of another file
        lines(["0"] * N, NAMES, Y),
    ],
)
def test_every_form_of_a_phenotype_file(genotypes, tmp_path, text):
    study = prepare_genotypes(genotypes, pheno=written(tmp_path, "y.txt", text))
    np.testing.assert_array_equal(study.y, Y)
    assert study.target in ("phenotype", "height")
    assert study.X is genotypes
    assert study.names == tuple(f"marker{j}" for j in range(1, 13))


def test_people_who_lack_something_are_left_out_and_counted(genotypes, tmp_path):
    y = [str(v) for v in Y]
    y[3], y[7] = "-9", "NA"
    pheno = written(tmp_path, "y.txt", lines(NAMES[1:], y[1:]) + "stranger 5\n")
    age = [str(40 + i % 9) for i in range(N)]
    age[5] = "nan"
    site = ["north", "south", "east"] * 10
    covar = written(
        tmp_path,
        "c.txt",
        lines(FAMILIES, NAMES, age, site, order=SHUFFLED, head=["FID", "IID", "age", "site"]),
    )
    study = prepare_genotypes(genotypes, pheno=pheno, keep=covar)
    left = [i for i in range(N) if i not in (0, 3, 5, 7)]
    np.testing.assert_array_equal(study.y, Y[left])
    np.testing.assert_array_equal(study.X.calls(), CALLS[left])
    assert study.X.people.name.tolist() == [NAMES[i] for i in left]
    assert study.rows.tolist() == left
    assert study.keep_names[0] == "age"
    assert len(study.keep_names) == 3  # three sites are two columns
    np.testing.assert_array_equal(study.keep[:, 0], [float(age[i]) for i in left])
    for name, column in zip(study.keep_names[1:], study.keep[:, 1:].T, strict=True):
        place = name.removeprefix("site: ")
        np.testing.assert_array_equal(column, [float(site[i] == place) for i in left])
    said = " ".join(study.notes)
    assert "3 of 30 people have no phenotype and are left out: i0, i3, i7." in said
    assert "1 of 30 people has no value of a covariate and is left out: i5." in said
    assert "1 person of y.txt has no genotypes: 'stranger'." in said


def test_cases_and_controls(genotypes, tmp_path):
    codes = np.array([1, 2] * 15)
    study = prepare_genotypes(genotypes, pheno=written(tmp_path, "y.txt", lines(NAMES, codes)))
    assert study.response == "binary"
    np.testing.assert_array_equal(study.y, codes)
    codes[4] = 0
    study = prepare_genotypes(genotypes, pheno=written(tmp_path, "y.txt", lines(NAMES, codes)))
    assert study.X.n_rows == N - 1
    assert any("missing, control and case" in note for note in study.notes)
    study = prepare_genotypes(
        genotypes, pheno=written(tmp_path, "y.txt", lines(NAMES, codes)), response="linear"
    )
    assert study.X.n_rows == N


def test_the_phenotype_of_the_fam_file(tmp_path):
    people = People.of(NAMES, None, None, ["-9", *Y[1:]])
    study = prepare_genotypes(Genotypes.of(CALLS, people))
    np.testing.assert_array_equal(study.y, Y[1:])
    with pytest.raises(ArgumentError, match="name the file with the phenotype"):
        prepare_genotypes(Genotypes.of(CALLS))


def test_columns_of_the_phenotype_file_may_be_kept_and_have_uses(genotypes, tmp_path):
    age, group = np.arange(N) % 11 + 40, np.arange(N) // 2
    pheno = written(
        tmp_path,
        "y.txt",
        lines(NAMES, Y, age, group, np.ones(N), head=["IID", "y", "age", "litter", "one"]),
    )
    with pytest.raises(ArgumentError, match="has 4 phenotypes; name one of them"):
        prepare_genotypes(genotypes, pheno=pheno)
    study = prepare_genotypes(genotypes, "y", pheno=pheno, keep="age", rows_of="litter")
    np.testing.assert_array_equal(study.keep[:, 0], age)
    assert len(set(study.rows_of)) == 15
    study = prepare_genotypes(genotypes, "y", pheno=pheno, keep=["age", "one"])
    assert study.keep_names == ("age",)
    assert any("one value: 'one'" in note for note in study.notes)
    with pytest.raises(ArgumentError, match="there is no column 'agee'"):
        prepare_genotypes(genotypes, "y", pheno=pheno, keep="agee")
    with pytest.raises(ArgumentError, match=r"no file and no column 'covar\.txt'"):
        prepare_genotypes(genotypes, "y", pheno=pheno, keep="covar.txt")
    with pytest.raises(ArgumentError, match="There is no column 'z'"):
        prepare_genotypes(genotypes, "z", pheno=pheno)


def test_survival(genotypes, tmp_path):
    t, e = np.arange(N) + 1.0, np.arange(N) % 2
    pheno = written(tmp_path, "y.txt", lines(NAMES, t, e, head=["IID", "years", "died"]))
    study = prepare_genotypes(genotypes, pheno=pheno, time="years", event="died")
    assert study.response == "survival"
    np.testing.assert_array_equal(study.y, np.column_stack([t, e]))


def test_components_are_kept_behind_covariates(genotypes, tmp_path):
    pheno = written(tmp_path, "y.txt", lines(NAMES, Y, Y**2, head=["IID", "y", "z"]))
    study = prepare_genotypes(genotypes, "y", pheno=pheno, keep="z", components=2)
    assert study.keep_names == ("z", "PC1", "PC2")
    assert study.keep.shape == (N, 3)


def test_markers_that_one_allele_is_left_of_are_left_out(tmp_path):
    calls = CALLS.copy()
    calls[:, 0] = 0
    calls[4, 0] = 1
    genotypes = Genotypes.of(calls, People.of(NAMES))
    y = ["NA" if i == 4 else str(v) for i, v in enumerate(Y)]
    study = prepare_genotypes(genotypes, pheno=written(tmp_path, "y.txt", lines(NAMES, y)))
    assert study.X.shape == (N - 1, 11)
    assert any("1 marker has one allele only among them" in note for note in study.notes)


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        ("", ArgumentError, "the file is empty"),
        ("IID y\n", ArgumentError, "nothing below it"),
        ("i1\ni2\n", ArgumentError, "a person and a value"),
        ("a 1\nb 2\n", RefusedError, "none of the people there has genotypes; the file has 'a'"),
        ("i1 1\ni2 2\ni1 3\n", ArgumentError, "a person must have one line; more than one: 'i1'"),
        ("i1 1\ni2\n", ArgumentError, "every line must have 2 fields"),
        ("FID y\nf0 1\n", ArgumentError, "none that is called IID"),
        ("IID y y\ni1 1 2\n", ArgumentError, "names of columns must differ"),
        ("IID y\ni1 1\n", RefusedError, "at least two people"),
        ("IID y\ni1 1\ni2 1\n", RefusedError, "constant"),
    ],
)
def test_bad_files_are_refused(genotypes, tmp_path, text, error, words):
    with pytest.raises(error, match=words):
        prepare_genotypes(genotypes, pheno=written(tmp_path, "y.txt", text))


def test_names_that_several_families_have_need_families(tmp_path):
    people = People.of(["a", "a", "b"], ["f1", "f2", "f1"])
    genotypes = Genotypes.of(CALLS[:3], people)
    with pytest.raises(ArgumentError, match="people of several families"):
        prepare_genotypes(genotypes, pheno=written(tmp_path, "y.txt", "a 1\nb 2\n"))
    pheno = written(tmp_path, "y.txt", "f2 a 2\nf1 b 3\nf1 a 1.5\n")
    np.testing.assert_array_equal(prepare_genotypes(genotypes, pheno=pheno).y, [1.5, 2, 3])
