"""Arrays in files with a response and covariates of the same rows."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csc_array

from selica._core.errors import ArgumentError, RefusedError
from selica.tables import ArrayTable, Columns, is_array_file, prepare_array

COUNTS = np.array([[0, 1, 4], [2, 1, 0], [1, 0, 3], [5, 2, 1]], dtype=np.int8)
ROWS = ("c1", "c2", "c3", "c4")


def cells(**more):
    about = Columns(
        ("dose", "age", "type"),
        (
            np.array([1.0, np.nan, 3.0, 4.0]),
            np.array([30.0, 40.0, 50.0, 65.0]),
            np.array(["T", "B", "NK", "T"], dtype=object),
        ),
    )
    return ArrayTable(**({"values": COUNTS, "names": ("a", "b", "c"), "row_names": ROWS,
                          "about": about} | more))  # fmt: skip


def bare(**more):
    return cells(row_names=(), about=None, **more)


def test_endings():
    assert is_array_file("a.h5ad")
    assert is_array_file("A.ZARR")
    assert not is_array_file("a.csv")
    assert not is_array_file(COUNTS)


def test_rows_without_a_response_are_left_out_and_numbers_stay_bytes():
    study = prepare_array(cells(), "dose", keep="age")
    assert study.X.values.dtype == np.int8
    np.testing.assert_array_equal(study.X.values, COUNTS[[0, 2, 3]])
    assert study.X.row_names == ("c1", "c3", "c4")
    assert study.y.tolist() == [1.0, 3.0, 4.0]
    assert study.keep.ravel().tolist() == [30.0, 50.0, 65.0]
    assert any("dose" in note for note in study.notes)


def test_text_becomes_classes_and_sparse_stays_sparse():
    twice = np.tile(COUNTS, (2, 1)).astype(float)
    about = Columns(("type",), (np.array(["T", "B", "NK", "T"] * 2, dtype=object),))
    names = tuple(f"c{i}" for i in range(8))
    study = prepare_array(ArrayTable(csc_array(twice), ("a", "b", "c"), names, about), "type")
    assert study.response == "classes"
    assert study.X.values.format == "csc"
    assert study.names == ("a", "b", "c")


def test_lines_of_a_file_are_matched_by_name(tmp_path):
    path = tmp_path / "y.csv"
    path.write_text("cell,height\nc3,3.5\nc1,1.5\nc4,4.5\nother,9\n")
    study = prepare_array(cells(), pheno=path)
    assert study.target == "height"
    assert study.y.tolist() == [1.5, 3.5, 4.5]
    assert any("1 of 4 rows has no line in y.csv: 'c2'" in note for note in study.notes)


def test_lines_of_a_file_are_in_the_order_of_unnamed_rows(tmp_path):
    path = tmp_path / "y.csv"
    path.write_text("height\n1\n2\n3.5\n5\n")
    study = prepare_array(bare(names=()), pheno=path)
    assert study.y.tolist() == [1.0, 2.0, 3.5, 5.0]
    assert study.names == ("x0", "x1", "x2")


def test_columns_are_dropped_and_names_made_different():
    study = prepare_array(cells(), "age", drop="b")
    assert study.names == ("a", "c")
    np.testing.assert_array_equal(study.X.values, COUNTS[:, [0, 2]])
    study = prepare_array(cells(names=("a", "b", "a")), "age")
    assert study.names == ("a", "b", "a (2)")
    assert any("same name" in note for note in study.notes)


@pytest.mark.parametrize(
    ("table", "arguments", "error", "said"),
    [
        (cells(), {}, ArgumentError, "name the column to explain .* 'dose', 'age', 'type'"),
        (cells(), {"target": "Dose"}, ArgumentError, "did you mean 'dose'"),
        (cells(), {"target": "dose", "keep": "sex"}, ArgumentError, "keep: .*'sex'"),
        (cells(), {"target": "dose", "weights": "w"}, ArgumentError, "weights: .*'w'"),
        (cells(), {"target": "dose", "layer": "x"}, ArgumentError, "layer"),
        (cells(), {"target": "dose", "drop": ["a", "b", "c"]}, RefusedError, "no column"),
        (bare(), {}, ArgumentError, "--pheno FILE"),
        (cells(), {"target": np.ones(4)}, ArgumentError, "target must be the name of a column"),
        (cells(), {"target": "dose", "offset": "log(w"}, ArgumentError, r"offset: .*'log\(w'"),
    ],
)
def test_mistakes_are_named(table, arguments, error, said):
    with pytest.raises(error, match=said):
        prepare_array(table, **arguments)


@pytest.mark.parametrize(
    ("text", "error", "said"),
    [
        ("height\n1\n2\n", RefusedError, "a line for each of the 4 rows .*'c1', 'c2'.* 2 lines"),
        ("cell,y\nc1,1\nc1,2\n", ArgumentError, "more than one: 'c1'"),
        ("cell\nc1\nc2\nc3\nc4\n", RefusedError, "'cell' is text with 4 different values"),
        ("cell,dose\nc1,1\nc2,2\n", ArgumentError, "'dose' is in y.csv and in obs"),
    ],
)
def test_files_that_do_not_fit_are_refused(tmp_path, text, error, said):
    (tmp_path / "y.csv").write_text(text)
    with pytest.raises(error, match=said):
        prepare_array(cells(), pheno=tmp_path / "y.csv")


def test_values_are_no_names_of_rows(tmp_path):
    (tmp_path / "y.csv").write_text("y\n3\n2\n1\n0\n")
    numbered = cells(row_names=("0", "1", "2", "3"), about=None)
    assert prepare_array(numbered, pheno=tmp_path / "y.csv").y.tolist() == [3.0, 2.0, 1.0, 0.0]
    (tmp_path / "y.csv").write_text("ill,y\n0,3.5\n1,2.5\n0,1.5\n1,0.5\n")
    study = prepare_array(numbered, "y", pheno=tmp_path / "y.csv", keep="ill")
    assert study.y.tolist() == [3.5, 2.5, 1.5, 0.5]
    (tmp_path / "y.csv").write_text("cell,y\n3,3.5\n1,1.5\n0,0.5\n2,2.5\n")
    assert prepare_array(numbered, pheno=tmp_path / "y.csv").y.tolist() == [0.5, 1.5, 2.5, 3.5]


def test_rows_of_the_same_name_cannot_be_matched(tmp_path):
    (tmp_path / "y.csv").write_text("cell,y\nc1,1\nc2,2\n")
    with pytest.raises(ArgumentError, match="more than one is called: 'c1', 'c2'"):
        prepare_array(cells(row_names=("c1", "c2", "c1", "c2")), pheno=tmp_path / "y.csv")


def test_made_names_are_different():
    study = prepare_array(cells(names=("a", "a", "a (1)")), "age")
    assert study.names == ("a", "a (2)", "a (1)")


@pytest.mark.parametrize("more", [{"names": ("a",)}, {"row_names": ("c1",)}])
def test_what_is_known_fits_the_values(more):
    with pytest.raises(ArgumentError, match="the array has"):
        cells(**more)
    with pytest.raises(ArgumentError, match="about: the array has 4 rows"):
        cells(about=Columns(("a",), (np.ones(3),)))
