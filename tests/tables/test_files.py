"""Reading tables: what is accepted, and one sentence for everything that is wrong."""

from __future__ import annotations

import gzip
import sys
import tracemalloc

import numpy as np
import pyarrow as pa
import pytest

from selica._core.errors import ArgumentError
from selica.reports.demo import N_PROBES, TARGET, demo_table, is_probe
from selica.tables import read_table, split, variables

GOOD = "a,b,y\n1,2.5,3\n-4,5e-1,6\n0,1,2\n"


@pytest.fixture
def write(tmp_path):
    def to_file(content, name="t.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return to_file


def is_good(table):
    X, y, names = split(table, "y")
    assert names == ("a", "b")
    assert X.tolist() == [[1.0, 2.5], [-4.0, 0.5], [0.0, 1.0]]
    assert y.tolist() == [3.0, 6.0, 2.0]


FORMS = {
    "csv": ("t.csv", GOOD.encode()),
    "no suffix": ("t", GOOD.encode()),
    "byte order mark": ("t.csv", b"\xef\xbb\xbf" + GOOD.encode()),
    "windows lines": ("t.csv", GOOD.replace("\n", "\r\n").encode()),
    "old mac lines": ("t.csv", GOOD.replace("\n", "\r").encode()),
    "blank lines": ("t.csv", ("\n\n" + GOOD.replace("\n", "\n\n")).encode()),
    "quoted": ("t.csv", GOOD.replace("a,", '"a",').encode()),
    "spaces": ("t.csv", GOOD.replace(",", " , ").encode()),
    "tsv": ("t.tsv", GOOD.replace(",", "\t").encode()),
    "tabs in csv": ("t.csv", GOOD.replace(",", "\t").encode()),
    "commas in tsv": ("t.tsv", GOOD.encode()),
    "semicolons": ("t.csv", GOOD.replace(",", ";").encode()),
    "bars": ("t.txt", GOOD.replace(",", "|").encode()),
    "csv.gz": ("t.csv.gz", gzip.compress(GOOD.encode())),
    "tsv.gz": ("t.TSV.GZ", gzip.compress(GOOD.replace(",", "\t").encode())),
    "gzip without its suffix": ("t.csv", gzip.compress(GOOD.encode())),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_the_same_table(write, form):
    name, content = FORMS[form]
    is_good(read_table(write(content, name)))


def test_tabs_separate_a_tsv_file_with_commas_in_its_names(write):
    table = read_table(write("x,1\tx,2,3\ty\n1\t2\t3\n4\t5\t6\n", "t.tsv"))
    assert table.names == ("x,1", "x,2,3", "y")


def test_quoted_names_do_not_decide_the_separator(write):
    assert read_table(write('"a,b,c,d";y\n1;2\n')).names == ("a,b,c,d", "y")


def test_parquet(tmp_path):
    from pyarrow import parquet

    columns = {
        "a": pa.array([1, -4, 0]),
        "b": pa.array([2.5, 0.5, 1.0], pa.float32()),
        "y": [3.0, 6.0, 2.0],
    }
    parquet.write_table(pa.table(columns), tmp_path / "t.parquet")
    is_good(read_table(tmp_path / "t.parquet"))
    more = {"a": [True, None, False], "y": ["u", None, "v"]}
    parquet.write_table(pa.table(more), tmp_path / "m.pq")
    table = read_table(tmp_path / "m.pq")
    assert np.array_equal(table.values[0], [1.0, np.nan, 0.0], equal_nan=True)
    assert table.values[1].tolist() == ["u", None, "v"]
    with pytest.raises(ArgumentError, match="missing in 1 row: 'a' \\(1 row\\), 'y' \\(1 row\\)"):
        split(table, "y")


def test_excel_without_openpyxl(write, monkeypatch):
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(ArgumentError, match=r"needs openpyxl.*selica\[excel\]"):
        read_table(write(b"PK\x03\x04", "t.xlsx"))


def test_broken_parquet(write):
    with pytest.raises(ArgumentError, match="not a Parquet file"):
        read_table(write(b"a,y\n1,2\n", "t.parquet"))


UNREADABLE = {
    "empty": (b"", "file is empty"),
    "only blank lines": (b"\n \n", "file is empty"),
    "only a byte order mark": (b"\xef\xbb\xbf", "file is empty"),
    "no rows": (b"a,b\n", "no rows"),
    "binary": (b"a,y\n1,2\n\x00\x01,3\n", "line 3 is not text"),
    "junk": (bytes(range(256)) * 4, "line 1 is not text"),
    "PDF": (b"%PDF-1.4\n", "this is a PDF document"),
    "short row": (b"a,b,y\n1,2,3\n1,2\n", "line 3 has 2 fields, the first line has 3"),
    "long row": (b"\na,b\n1,2\n1,2,3\n", "line 4 has 3 fields, the first line has 2"),
    "same names": (b"a,b,a,b,c\n1,2,3,4,5\n", "more than once: 'a', 'b'."),
    "same names after trimming": (b"a, a,y\n1,2,3\n", "more than once: 'a'."),
    "broken gzip": (gzip.compress(b"a,b\n1,2\n")[:-6], "gzip file is broken"),
}


@pytest.mark.parametrize("case", UNREADABLE)
def test_unreadable_files(write, case):
    content, sentence = UNREADABLE[case]
    with pytest.raises(ArgumentError) as error:
        read_table(write(content))
    assert sentence in str(error.value)
    assert "\n" not in str(error.value)


def test_files_that_are_none(tmp_path, write):
    with pytest.raises(ArgumentError, match="No such file"):
        read_table(tmp_path / "none.csv")
    with pytest.raises(ArgumentError, match="directory"):
        read_table(tmp_path)
    with pytest.raises(ArgumentError, match=r"save the table as .xlsx or as CSV"):
        read_table(write(b"\xd0\xcf\x11\xe0", "t.xls"))
    with pytest.raises(ArgumentError, match="not an Excel file"):
        read_table(write(b"PK\x03\x04", "t.xlsx"))
    with pytest.raises(ArgumentError, match="gzip file is broken"):
        read_table(write(b"a,b\n", "t.csv.gz"))


UNUSABLE = {
    "missing": (
        "a,b,c,y\n1,,2,3\nNA,NaN,2,3\n1,2,2,1\n",
        "Values are missing in 2 rows: 'a' (1 row), 'b' (2 rows).",
    ),
    "missing in text": ("a,y\n,u\nx,v\n", "Values are missing in 1 row: 'a' (1 row)."),
    "missing target": ("a,y\n1,\n2,3\n", "'y' (1 row)"),
    "all missing": ("a,y\n,1\n,2\n", "'a' (2 rows)"),
    "text": ("a,b,c,y\n1,u,x,2\n2,v,3,4\n", "Columns 'b', 'c' are text: leave them out (--drop"),
    "thousands or decimals": ("a;y\n1,500;2\n2,500;4\n", "Column 'a' is text"),
    "python number": ("a,y\n1_000,2\n2,3\n", "Column 'a' is text"),
    "infinite": ("a,y\n1,2\ninf,3\n", "Column 'a' is infinite"),
    "infinite target": ("a,y\n1,2\n1,-inf\n", "Column 'y' is infinite"),
    "row names": (",a,y\n1,2,3\n2,3,4\n", "--drop 'column 1'"),
    "three classes": ("a,y\n1,u\n2,v\n3,w\n", "3 different values ('u', 'v', 'w')"),
    "one class": ("a,y\n1,u\n2,u\n", "1 different value ('u')"),
    "one row": ("a,y\n1,2\n", "at least two rows"),
    "only a target": ("y\n1\n2\n", "no variables beside the target"),
    "no target": ("a,yy\n1,2\n2,3\n", "did you mean 'yy'?"),
    "nothing like the target": ("a,b\n1,2\n2,3\n", "there are 'a', 'b'."),
}


@pytest.mark.parametrize("case", UNUSABLE)
def test_unusable_tables(write, case):
    text, sentence = UNUSABLE[case]
    table = read_table(write(text))
    with pytest.raises(ArgumentError) as error:
        split(table, "y")
    assert sentence in str(error.value)
    assert "\n" not in str(error.value)


def test_long_lists_are_cut(write):
    names = [f"v{j}" for j in range(9)]
    text = ",".join([*names, "y"]) + "\n" + 2 * ("t," * 9 + "1\n")
    with pytest.raises(ArgumentError, match="'v4' and 4 more are text"):
        split(read_table(write(text)), "y")


def test_dropped_columns_may_hold_anything(write):
    table = read_table(write(",a,b,y\nr1,1,NA,u\nr2,2,t,v\n"))
    X, y, names = split(table, "y", drop=["column 1", "b"])
    assert names == ("a",)
    assert X.shape == (2, 1)
    assert y.tolist() == ["u", "v"]
    with pytest.raises(ArgumentError, match="drop: there is no column 'zzz'"):
        split(table, "y", drop=["zzz"])
    with pytest.raises(ArgumentError, match="'y' is the target"):
        split(table, "y", drop=["y"])


def test_a_table_need_not_have_a_response(write):
    table = read_table(write(",a,b,y\nr1,1,3,u\nr2,2,4,NA\n"))
    X, names = variables(table, drop=["column 1"], target="y")
    assert names == ("a", "b")
    assert X.tolist() == [[1.0, 3.0], [2.0, 4.0]]
    with pytest.raises(ArgumentError, match="target: there is no column 'zzz'"):
        variables(table, target="zzz")
    with pytest.raises(ArgumentError, match=r"'y' \(1 row\)"):
        variables(table, drop=["column 1"])
    with pytest.raises(ArgumentError, match=r"There are no variables\.$"):
        variables(table, drop=table.names)


def test_true_and_false_are_numbers(write):
    X, _, _ = split(read_table(write("a,y\nTrue,1\nfalse,2\n")), "y")
    assert X.tolist() == [[1.0], [0.0]]


def test_missing_text_is_not_a_class(write):
    with pytest.raises(ArgumentError, match="missing"):
        split(read_table(write("a,y\n1,u\n2,v\n3,NA\n")), "y")


def test_the_demonstration_is_always_the_same():
    one, two = demo_table(), demo_table()
    assert all(np.array_equal(a, b) for a, b in zip(one.values, two.values, strict=True))
    X, y, names = split(one, TARGET)
    assert X.shape == (442, 10 + 45 + N_PROBES)
    assert y.size == 442
    assert sum(map(is_probe, names)) == N_PROBES


def test_decimal_commas_are_read_where_they_are_certain(write):
    table = read_table(write("a;b;c;y\n0,12;1;u;1,5e-1\n-2,5;2;v;NA\n3;4;w;2,0\n"))
    assert table.values[0].tolist() == [0.12, -2.5, 3.0]
    assert table.values[1].tolist() == [1.0, 2.0, 4.0]
    assert table.values[2].tolist() == ["u", "v", "w"]
    assert np.array_equal(table.values[3], [0.15, np.nan, 2.0], equal_nan=True)
    assert table.notes == ("Decimal commas are read as decimal points in 2 columns: 'a', 'y'.",)
    assert read_table(write(GOOD)).notes == ()
    # 1,500 in one column may be thousands; in a table with 0,5 it is a decimal comma
    table = read_table(write("a;y\n1,500;0,5\n2,250;1,5\n"))
    assert table.values[0].tolist() == [1.5, 2.25]


def test_numbers_stay_numbers_beside_text_and_gaps(write):
    rows = ["a,b,c,d,e", "1,x,,TRUE,1_0", "nan, y ,2,false,2_0", " 3 ,,n/a,,3"]
    table = read_table(write("\n".join(rows)))
    assert np.array_equal(table.values[0], [1.0, np.nan, 3.0], equal_nan=True)
    assert table.values[1].tolist() == ["x", "y", None]
    assert np.array_equal(table.values[2], [np.nan, 2.0, np.nan], equal_nan=True)
    assert np.array_equal(table.values[3], [1.0, 0.0, np.nan], equal_nan=True)
    assert table.values[4].tolist() == ["1_0", "2_0", "3"]


def test_a_wide_table_is_read_in_a_few_times_its_size(write):
    n, p = 20, 5000
    cells = np.random.default_rng(0).standard_normal((n, p)).round(4)
    lines = [",".join(f"g{j}" for j in range(p)), *(",".join(map(str, row)) for row in cells)]
    path = write("\n".join(lines))
    read_table(write(GOOD, "small.csv"))
    tracemalloc.start()
    try:
        table = read_table(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert np.array_equal(np.column_stack(table.values), cells)
    # the file, its text and the numbers; as cells of text it was 17 times as much
    assert peak < 8 * cells.nbytes
