"""Labels of variables from a table of them."""

from __future__ import annotations

import pytest

from selica.errors import ArgumentError
from selica.tables.feature_labels import feature_labels


def written(folder, text):
    path = folder / "genes.csv"
    path.write_text(text)
    return path


def test_the_column_that_has_all_names_says_whose_a_row_is(tmp_path):
    path = written(tmp_path, "row,symbol,class\n1,b,3\n2,a,\n3,c,3\n")
    assert feature_labels(path, "class", ["a", "b"]) == {"b": "3", "a": None, "c": "3"}


def test_without_such_a_column_it_is_the_first(tmp_path):
    path = written(tmp_path, "symbol,class\na,left\nb,right\n")
    assert feature_labels(path, "class", ["a", "z"]) == {"a": "left", "b": "right"}


def test_names_that_are_numbers(tmp_path):
    path = written(tmp_path, "position,block\n17,1\n23,2\n")
    assert feature_labels(path, "block", ["17", "23"]) == {"17": "1", "23": "2"}


def test_two_rows_of_a_variable(tmp_path):
    same = written(tmp_path, "symbol,class\na,left\na,left\n")
    assert feature_labels(same, "class", ["a"]) == {"a": "left"}
    other = written(tmp_path, "symbol,class\na,left\na,right\n")
    with pytest.raises(ArgumentError, match="more than one row for a"):
        feature_labels(other, "class", ["a"])
