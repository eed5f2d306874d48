"""Text with separators: names, separator, rows, and what is wrong with them."""

from __future__ import annotations

from pathlib import Path

import pytest

from selica._core.errors import ArgumentError
from selica.tables import Limits
from selica.tables.separated import read_separated

PATH = Path("t.csv")


def read(text, path=PATH, limits=None):
    return read_separated(path, text if isinstance(text, bytes) else text.encode(), limits)


def values(text, **settings):
    table = read(text, **settings)
    return dict(zip(table.names, (column.tolist() for column in table.values), strict=True))


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_separators_and_ends_of_lines(separator, end):
    lines = ["a,b", "1,2.5", "3,x"]
    text = end.join(line.replace(",", separator) for line in lines)
    assert values(text) == {"a": [1.0, 3.0], "b": ["2.5", "x"]}
    assert values(text + end) == values(text)


def test_quoted_cells_hold_anything():
    assert values('"a, b";c\n"x;y";1\n"p\nq";2\n') == {"a, b": ["x;y", "p\nq"], "c": [1.0, 2.0]}
    assert values('a,b\n"say ""no""",1\n') == {"a": ['say "no"'], "b": [1.0]}


def test_the_separator_is_the_one_by_which_rows_fit():
    assert values("a, or b;c\n1;2\n3;4\n") == {"a, or b": [1.0, 3.0], "c": [2.0, 4.0]}
    assert values("sep=|\na,b|c\n1|2\n") == {"a,b": [1.0], "c": [2.0]}


def test_decimal_commas_late_in_the_file():
    rows = "".join(f"{i};{i}\n" for i in range(2000))
    found = values(f"a;b\n{rows}2000;1,5\n")
    assert found["b"][-1] == 1.5
    assert found["a"][-1] == 2000.0


def test_text_late_in_the_file():
    rows = "".join(f"{i},{i}\n" for i in range(2000))
    table = read(f"a,b\n{rows}2000,high\n")
    assert table.values[1][-1] == "high"
    assert table.values[0][-1] == 2000.0
    assert table.remarks["b"] == "1 of its cells is not a number ('high')"


def test_names_are_cleaned_and_made_up():
    table = read("  a   b ,,c\n1,2,3\n")
    assert table.names == ("a b", "column 2", "c")
    assert table.unnamed == ("column 2",)


def test_row_names_and_trailing_separators():
    assert read("a,b\nr1,1,2\nr2,3,4\n").names == ("column 1", "a", "b")
    assert read("a,b\n1,2,\n3,4,\n").names == ("a", "b", "column 3")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "t.csv: the file is empty."),
        ("\n\n \n", "t.csv: the file is empty."),
        ("a,b\n", "t.csv: there is a line of names, but there are no rows."),
        ("a,a\n1,2\n", "t.csv: column names must differ; more than once: 'a'."),
        ("1.5,2\n3,4\n", "t.csv: the first line holds numbers, not names of columns"),
        ("a,b\n1\n", "t.csv: line 2 has 1 field, the first line has 2."),
        ("a,b\n1,2\n\n1,2,3\n4\n", "t.csv: line 4 has 3 fields, line 5 has 1 field, the first"),
        (b"a,b\n\xff\x00\x01,2\n", "t.csv: line 2 is not text"),
    ],
)
def test_what_is_wrong_is_one_sentence(text, sentence):
    with pytest.raises(ArgumentError) as error:
        read(text)
    assert str(error.value).startswith(sentence)


def test_years_may_be_names():
    assert read("1990,1991,y\n1,2,3\n").names == ("1990", "1991", "y")


def test_limits_are_kept():
    with pytest.raises(ArgumentError, match="more than 1 rows"):
        read("a,b\n1,2\n3,4\n", limits=Limits(1, 10, 10))
