"""Awkward tables as people have them, each with what it should give: values, or the sentence."""

from __future__ import annotations

import gzip
import io
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import date
from types import SimpleNamespace
from typing import Any

import numpy as np
import openpyxl
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
from scipy import sparse

N = 40
RNG = np.random.default_rng(0)
X = RNG.standard_normal((N, 3)).round(3)
A, B, Y = X.T
GROUP = ["u", "v", "w", "u"] * 10


def csv(separator: str = ",", **columns: Sequence[Any]) -> bytes:
    """Text with a line of names."""
    rows = zip(*columns.values(), strict=True)
    lines = [separator.join(columns), *(separator.join(map(str, row)) for row in rows)]
    return ("\n".join(lines) + "\n").encode()


def german(values: Sequence[Any]) -> list[str]:
    """Numbers with points between thousands and decimal commas."""
    swapped = {",": ".", ".": ","}
    return ["".join(swapped.get(sign, sign) for sign in f"{value:,}") for value in values]


def parquet(table: Any) -> bytes:
    """A table as a Parquet file."""
    stream = io.BytesIO()
    pyarrow.parquet.write_table(table, stream)
    return stream.getvalue()


def feather(table: Any) -> bytes:
    """A table as a Feather file."""
    stream = io.BytesIO()
    pyarrow.feather.write_feather(table, stream)
    return stream.getvalue()


def workbook(rows: Sequence[Sequence[Any]]) -> bytes:
    """Rows as a workbook of Excel."""
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append([cell.item() if hasattr(cell, "item") else cell for cell in row])
    stream = io.BytesIO()
    book.save(stream)
    return stream.getvalue()


def mapped(values: Any) -> Any:
    """An array that lies in a file."""
    with tempfile.TemporaryFile() as file:
        array = np.memmap(file, dtype="float32", shape=values.shape)
    array[:] = values
    return array


def with_cells(values: Sequence[Any], **cells: str) -> list[str]:
    """The same column with other cells: `_3="?"` puts a question mark into row 3."""
    out = [str(value) for value in values]
    for place, cell in cells.items():
        out[int(place[1:])] = cell
    return out


@dataclass
class Case:
    """A table, how it is prepared, and what comes of it."""

    table: Any
    """Bytes are a file called `file`; anything else is passed on."""
    target: Any = "y"
    file: str = "t.csv"
    options: dict[str, Any] = field(default_factory=dict)
    columns: tuple[str, ...] | None = None
    """Names of the columns of X."""
    left_out: dict[str, str] = field(default_factory=dict)
    """Columns that are left out, with the reason."""
    notes: tuple[str, ...] = ()
    """All notes but those on columns that are left out and values that are missing."""
    response: str = "auto"
    check: Callable[[Any], bool] | None = None
    """What else is true of the result."""
    error: str | None = None
    """The sentence, without the name of the file."""


NUMBERED = "has a different whole number in every row, as row numbers do"
MOSTLY = (
    "'a' holds mostly numbers. To use it, say so: kinds={'a': 'number'} (on the command line: "
    "--kind a=number). A limit such as <0.1 is then taken as 0.1, and any other text as missing."
)
NAMED = "has a different value in every row, as names do"
DAYS = [date(2020, 1, i % 28 + 1) for i in range(N)]
EVENTS = np.array([1, 0, 1, 1] * 10)
TIMES = np.abs(A).round(3) * 100 + 1
ANNDATA = SimpleNamespace(
    X=sparse.csr_matrix(X[:, :2]),
    obs=pd.DataFrame({"condition": GROUP, "y": Y}, index=[f"cell{i}" for i in range(N)]),
    var_names=pd.Index(["g1", "g2"]),
)

CASES: dict[str, Case] = {
    # how files are written
    "semicolons and decimal commas": Case(
        csv(";", a=german(A), y=german(Y)),
        columns=("a",),
        notes=("Decimal commas are read as decimal points in 2 columns: 'a', 'y'.",),
        check=lambda p: np.array_equal(p.X[:, 0], A) and np.array_equal(p.y, Y),
    ),
    "points between thousands": Case(
        csv(";", income=german(range(2000, 2000 + 77 * N, 77)), y=german(Y)),
        columns=("income",),
        notes=(
            "Decimal commas are read as decimal points in 1 column: 'y'.",
            "Points in numbers are read as separators of thousands in 1 column: 'income'.",
        ),
        check=lambda p: p.X[:2, 0].tolist() == [2000.0, 2077.0],
    ),
    "points between thousands and decimal commas": Case(
        csv(";", income=german([2000.5 + 77 * i for i in range(N)]), y=GROUP[:2] * 20),
        columns=("income",),
        response="binary",
        notes=(
            "Decimal commas are read as decimal points in 1 column: 'income'.",
            "Points in numbers are read as separators of thousands in 1 column: 'income'.",
        ),
        check=lambda p: p.X[:2, 0].tolist() == [2000.5, 2077.5],
    ),
    "commas between thousands": Case(
        csv(a=[f'"{2000 + 77 * i:,}"' for i in range(N)], y=Y),
        columns=("a",),
        notes=(
            "Commas or spaces in numbers are read as separators of thousands in 1 column: 'a'.",
        ),
        check=lambda p: p.X[:2, 0].tolist() == [2000.0, 2077.0],
    ),
    "spaces between thousands": Case(
        csv("\t", a=[f"{2000 + 77 * i:,}".replace(",", "\u00a0") for i in range(N)], y=Y),
        file="t.tsv",
        columns=("a",),
        notes=(
            "Commas or spaces in numbers are read as separators of thousands in 1 column: 'a'.",
        ),
        check=lambda p: p.X[:2, 0].tolist() == [2000.0, 2077.0],
    ),
    "commas for thousands or decimals": Case(
        csv(";", a=[f"{2000 + 77 * i:,}" for i in range(N)], b=np.arange(N) ** 2, y=range(N)),
        columns=("b",),
        left_out={
            "a": "is text: its commas may separate thousands or decimals: write decimals with a "
            "point, and thousands without a comma"
        },
    ),
    "a tab, decimal commas and an exponent": Case(
        csv("\t", a=[f"{v:.3e}".replace(".", ",") for v in A], y=german(Y)),
        file="t.txt",
        columns=("a",),
        notes=("Decimal commas are read as decimal points in 2 columns: 'a', 'y'.",),
        check=lambda p: np.allclose(p.X[:, 0], A, rtol=1e-3),
    ),
    "thousands of Switzerland": Case(
        csv(";", a=[f"{2000 + 77 * i:,}".replace(",", "'") for i in range(N)], y=Y),
        columns=("a",),
        notes=(
            "Commas or spaces in numbers are read as separators of thousands in 1 column: 'a'.",
        ),
        check=lambda p: p.X[:2, 0].tolist() == [2000.0, 2077.0],
    ),
    "a file of Windows and its mark": Case(
        b"\xef\xbb\xbf" + csv(a=A, y=Y).replace(b"\n", b"\r\n"),
        columns=("a",),
        check=lambda p: np.array_equal(p.X[:, 0], A),
    ),
    "compressed by gzip": Case(gzip.compress(csv(a=A, y=Y)), file="t.csv.gz", columns=("a",)),
    "compressed by zstd": Case(
        pa.compress(csv(a=A, y=Y), codec="zstd", asbytes=True),
        file="t.csv.zst",
        columns=("a",),
        check=lambda p: np.array_equal(p.X[:, 0], A),
    ),
    "broken gzip": Case(
        gzip.compress(csv(a=A, y=Y))[:50], file="t.csv.gz", error="the gzip file is broken."
    ),
    "Parquet": Case(
        parquet(pa.table({"a": A, "c": pa.array(GROUP).dictionary_encode(), "y": Y})),
        file="t.parquet",
        columns=("a", "c: v", "c: w"),
    ),
    "Feather under another name": Case(
        feather(pa.table({"a": A, "y": Y})), file="t.dat", columns=("a",)
    ),
    "Excel with an empty row above": Case(
        workbook([(), ("a", "d", "y"), *zip(A, DAYS, Y, strict=True)]),
        file="t.xlsx",
        columns=("a",),
        left_out={"d": "is a date"},
    ),
    "an old spreadsheet": Case(
        b"",
        file="t.xls",
        error="spreadsheets of this kind are not read; save the table as .xlsx or as CSV.",
    ),
    "decimal commas and points in one column": Case(
        csv(";", a=with_cells(A, _30="1,5"), b=B, y=Y),
        columns=("b",),
        left_out={
            "a": "is text: some of its numbers have decimal commas, and others decimal points"
        },
        notes=(MOSTLY,),
    ),
    "per cent and currency": Case(
        csv(";", a=[f"{v}%" for v in A], b=[f"$ {v}" for v in B], y=Y),
        columns=("a", "b"),
        notes=("Signs such as % beside numbers are left out in 2 columns: 'a', 'b'.",),
        check=lambda p: np.array_equal(p.X, X[:, :2]),
    ),
    "spaces, as R and PLINK write them": Case(
        b'"a" "long name" "y"\n'
        + b"".join(
            f'"{i}" {a} {b} {y}\n'.encode()
            for i, (a, b, y) in enumerate(zip(A, B, Y, strict=True), start=1)
        ),
        columns=("a", "long name"),
        left_out={"column 1": NUMBERED},
        notes=(
            "Spaces separate the columns.",
            "The rows have one field more than the line of names: the first is taken as names of "
            "the rows.",
        ),
        check=lambda p: np.array_equal(p.X, X[:, :2]),
    ),
    "spaces that align columns": Case(
        b"  a        y\n"
        + b"".join(f"{a:8}  {y:8} \n".encode() for a, y in zip(A, Y, strict=True)),
        columns=("a",),
        notes=("Spaces separate the columns.",),
        check=lambda p: np.array_equal(p.X[:, 0], A),
    ),
    "a minus of typography": Case(
        csv(a=[str(v).replace("-", "\u2212") for v in A], y=Y),
        columns=("a",),
        check=lambda p: np.array_equal(p.X[:, 0], A),
    ),
    "numbers with their unit": Case(
        csv(a=[f"{v} mg" for v in A], b=B, y=Y),
        columns=("b",),
        left_out={"a": "is text: its numbers have 'mg' beside them"},
        notes=(MOSTLY,),
    ),
    "numbers with their unit as asked": Case(
        csv(a=[f"{v} mg" for v in A], b=B, y=Y),
        options={"kinds": {"a": "number"}},
        columns=("a", "b"),
        check=lambda p: np.array_equal(p.X[:, 0], A),
    ),
    "a few doses": Case(
        csv(dose=["5 mg", "10 mg", "20 mg", "5 mg"] * 10, a=A, y=Y),
        columns=("dose: 10 mg", "dose: 20 mg", "a"),
    ),
    "bars": Case(csv("|", a=A, y=Y), file="t.txt", columns=("a",)),
    "a line that names the separator": Case(b"sep=;\n" + csv(";", a=A, y=Y), columns=("a",)),
    "lines of comments": Case(
        b"# made on Monday\n#\n" + csv(a=A, y=Y),
        columns=("a",),
        notes=("Lines at the beginning that start with # are left out (2).",),
    ),
    "names that begin with #": Case(csv(**{"#a": A, "y": Y}), columns=("#a",)),
    "commas in names before semicolons": Case(
        csv(";", **{"weight, kg": A, "height, cm, barefoot": B, "y": Y}),
        columns=("weight, kg", "height, cm, barefoot"),
    ),
    "a quoted cell of two lines": Case(
        csv(a=A, c=with_cells(GROUP, _0='"u\nv"'), y=Y), columns=("a", "c: v", "c: w", "c: u v")
    ),
    "Windows-1252": Case(
        csv(größe=A, y=Y).decode().encode("cp1252"),
        columns=("größe",),
        notes=("The file is not in UTF-8; it was read as Windows-1252 (Western European).",),
    ),
    "UTF-16": Case(
        csv(größe=A, y=Y).decode().encode("utf-16"),
        columns=("größe",),
        notes=("The file is not in UTF-8; it was read as UTF-16.",),
    ),
    "row names of R": Case(
        b"a,y\n" + b"".join(f"r{i},{A[i]},{Y[i]}\n".encode() for i in range(N)),
        columns=("a",),
        left_out={"column 1": NAMED},
        notes=(
            "The rows have one field more than the line of names: the first is taken as names of "
            "the rows.",
        ),
    ),
    "the index of pandas": Case(
        pd.DataFrame({"a": A, "y": Y}).to_csv().encode(),
        columns=("a",),
        left_out={"column 1": NUMBERED},
    ),
    "a separator at the end of lines": Case(
        b"a,y\n" + b"".join(f"{a},{y},\n".encode() for a, y in zip(A, Y, strict=True)),
        columns=("a",),
        left_out={"column 3": "has no value in any row"},
    ),
    "a column without a name": Case(
        csv(**{"a": A, "": B, "y": Y}),
        columns=("a", "column 2"),
        notes=("Column 'column 2' is without a name in the file.",),
    ),
    # files that cannot be read
    "an empty file": Case(b"", error="the file is empty."),
    "nothing but names": Case(b"a,b,y\n", error="there is a line of names, but there are no rows."),
    "no line of names": Case(
        b"1.5,2,3\n2.5,3,4\n",
        error="the first line holds numbers, not names of columns: put a line of names above it.",
    ),
    "all problems at once": Case(
        b"a,a,y\x07\n1,2,3\n1,2\n1,2,3,4\n",
        error="column names must differ; more than once: 'a'; names of columns must be letters, "
        "digits and signs that can be printed; 'y\\x07' has others; line 3 has 2 fields, line 4 "
        "has 4 fields, the first line has 3.",
    ),
    "a title above the names": Case(
        b"My study\n\n" + csv(a=A, b=B, y=Y),
        error="the first line has 1 field, and all others have 3: the first line must hold the "
        "names of the columns.",
    ),
    "a web page": Case(
        b"<!DOCTYPE html><html></html>",
        error="this is a web page, which is not read; save the table as a CSV file.",
    ),
    "JSON": Case(
        b'[{"a": 1, "y": 2}]',
        error="this is JSON, which is not read; save the table as a CSV file.",
    ),
    "binary junk": Case(
        bytes(range(256)) * 3,
        error="line 1 is not text; save the table as a CSV file in UTF-8.",
    ),
    "an old spreadsheet under another name": Case(
        b"\xd0\xcf\x11\xe0" + bytes(100),
        error="this is a spreadsheet of an old kind (.xls), which is not read; save the table as a "
        "CSV file.",
    ),
    # kinds of columns
    "numbers of rows": Case(
        csv(nr=range(1, N + 1), a=A, y=Y), columns=("a",), left_out={"nr": NUMBERED}
    ),
    "numbers of rows in any order": Case(
        csv(k=RNG.permutation(N) + 500, a=A, y=Y), columns=("a",), left_out={"k": NUMBERED}
    ),
    "a week is no number of a row": Case(
        csv(week=range(1, N + 1), a=A, y=Y), columns=("week", "a")
    ),
    "text that names rows": Case(
        csv(s=[f"S{i:03d}" for i in range(N)], a=A, y=Y), columns=("a",), left_out={"s": NAMED}
    ),
    "long numbers that name rows": Case(
        csv(s=[10**17 + i for i in range(N)], a=A, y=Y), columns=("a",), left_out={"s": NAMED}
    ),
    "codes with zeros in front": Case(
        csv(zip=["01234", "00099"] * 20, a=A, y=Y), columns=("zip: 01234", "a")
    ),
    "patients with several rows": Case(
        csv(patient=[i // 5 for i in range(N)], a=A, y=Y),
        columns=("a",),
        left_out={"patient": "says which rows belong together (8 different values in 40 rows)"},
    ),
    "dates of every kind": Case(
        csv(
            d=[f"2020-01-{i % 28 + 1:02d}" for i in range(N)],
            e=[f"{i % 12 + 1}/{i % 28 + 1}/2020" for i in range(N)],
            f=[f"{i % 28 + 1}.{i % 12 + 1}.2020 10:00" for i in range(N)],
            g=[f"{i % 24}:30" for i in range(N)],
            birth_date=[19500101 + 10000 * (i % 30) for i in range(N)],
            a=A,
            y=Y,
        ),
        columns=("a",),
        left_out=dict.fromkeys(("d", "e", "f", "g", "birth_date"), "is a date"),
    ),
    "constant and empty columns": Case(
        csv(c=[3] * N, d=["x"] * N, e=[""] * N, f=["x", ""] * 20, a=A, y=Y),
        columns=("a",),
        left_out={
            "c": "has one value in all rows (3)",
            "d": "has one value in all rows ('x')",
            "e": "has no value in any row",
            "f": "has one value ('x'), and none in 20 of 40 rows",
        },
    ),
    "free text": Case(
        csv(c=[f"seen on ward {i} and sent home" for i in range(N)], a=A, y=Y),
        columns=("a",),
        left_out={"c": "is free text"},
    ),
    "a category with rare values": Case(
        csv(c=["red"] * 16 + ["green"] * 12 + ["blue"] * 10 + ["pink", "grey"], a=A, y=Y),
        columns=("c: green", "c: blue", "c: other", "a"),
        notes=(
            "2 values of 'c' that fewer than 2 rows have are taken together as 'other': 'grey', "
            "'pink'.",
        ),
        check=lambda p: p.names == ("c", "a") and p.variable.tolist() == [0, 0, 0, 1],
    ),
    "too many values for a category": Case(
        csv(c=[f"k{i // 2}" for i in range(N)], a=A, y=Y),
        columns=("a",),
        left_out={"c": "has 20 different values in 40 rows, too many for a category"},
    ),
    "yes and no, true and false, plus and minus": Case(
        csv(
            c=["yes", "no", "yes", "yes"] * 10,
            d=["True", "false"] * 20,
            e=["+", "-"] * 20,
            y=Y,
        ),
        columns=("c: yes", "d", "e: +"),
        check=lambda p: p.X[:2].tolist() == [[1.0, 1.0, 1.0], [0.0, 0.0, 0.0]],
    ),
    "numbers below a limit": Case(
        csv(a=with_cells(A, _3="<0.5", _9="n.d."), b=B, y=Y),
        columns=("b",),
        left_out={"a": "is text: 1 of its cells is not a number ('<0.5')"},
        notes=(MOSTLY,),
    ),
    "numbers and a letter": Case(
        csv(chromosome=[1, 2, 3, "X"] * 10, a=A, y=Y),
        columns=("chromosome: 2", "chromosome: 3", "chromosome: X", "a"),
        notes=("'chromosome' is taken as a category: 10 of its cells are not numbers ('X').",),
    ),
    "text after thousands of numbers": Case(
        csv(a=[*range(0, 6000, 2), "high"], b=np.arange(3001.0) % 7, y=np.arange(3001.0) % 5),
        columns=("b",),
        left_out={"a": "is text: 1 of its cells is not a number ('high')"},
        notes=(MOSTLY,),
    ),
    "numbers of batches": Case(
        csv(batch=[1, 2, 3, 4] * 10, a=A, y=Y),
        columns=("batch", "a"),
        notes=(
            "'batch' holds a few whole numbers, which are taken as amounts. If they are names of "
            "groups, say so: kinds={'batch': 'category'} (on the command line: --kind "
            "batch=category).",
        ),
    ),
    "numbers of batches as asked": Case(
        csv(batch=[1, 2, 3, 4] * 10, a=A, y=Y),
        options={"kinds": {"batch": "category"}},
        columns=("batch: 2", "batch: 3", "batch: 4", "a"),
    ),
    "numbers below a limit as asked": Case(
        csv(a=with_cells(A, _3="<0.5", _9="n.d.", _11="high"), b=B, y=Y),
        options={"kinds": {"a": "number"}},
        columns=("a", "b"),
        notes=(
            "'a': 1 cell ('<0.5') is taken as the limit itself.",
            "'a': 2 cells ('n.d.', 'high') are no number, and taken as missing.",
        ),
        check=lambda p: p.X[3, 0] == 0.5 and p.missing.by_column == {"a": 2},
    ),
    "text as numbers": Case(
        csv(a=A, c=GROUP, y=Y),
        options={"kinds": {"c": "number"}},
        error="kinds: 'c' cannot be taken as numbers: 40 cells ('u', 'v', 'w') are no number.",
    ),
    "a few rows with their names": Case(
        csv(ID=range(1, 7), a=A[:6], y=Y[:6]), columns=("a",), left_out={"ID": NUMBERED}
    ),
    "names of rows with a space": Case(
        csv(**{"sample id": range(101, 101 + N), "a": A, "y": Y}),
        columns=("a",),
        left_out={"sample id": NUMBERED},
    ),
    "the response once more": Case(
        csv(crp_si=Y * 10 + 3, a=A, y=Y),
        columns=("a",),
        left_out={"crp_si": "says the same as the response 'y'"},
    ),
    "the response once more, with gaps": Case(
        csv(copy=with_cells(Y, _3="", _5=""), a=A, y=Y),
        columns=("a",),
        left_out={"copy": "says the same as the response 'y'"},
    ),
    "the response in words": Case(
        csv(diagnosis=["ill", "well"] * 20, a=A, y=[1, 0] * 20),
        columns=("a",),
        response="binary",
        left_out={"diagnosis": "says the same as the response 'y'"},
    ),
    "the response as asked for": Case(
        csv(copy=Y, a=A, y=Y), options={"kinds": {"copy": "number"}}, columns=("copy", "a")
    ),
    # missing values
    "signs for missing values": Case(
        csv(a=with_cells(A, _1="?", _2=".", _3="-", _4="none", _5="#N/A"), b=B, y=Y),
        columns=("a", "b"),
        notes=("'?' and '.' and '-' and 'none' are read as missing (4 cells).",),
        check=lambda p: p.missing.cells == 5 and np.isnan(p.X[1:6, 0]).all(),
    ),
    "none as a value": Case(
        csv(c=["none", "drug", "surgery", "drug"] * 10, a=A, y=Y),
        columns=("c: none", "c: surgery", "a"),
        notes=("'none' is taken as a value, not as missing, in 'c'.",),
    ),
    "minus 999": Case(
        csv(a=with_cells(A, _1="-999", _7="-999"), b=B, y=Y),
        columns=("a", "b"),
        notes=(
            "-999 is far from all other values of 'a' (2 cells), and is taken as a number. If it "
            "stands for a missing value, leave these cells empty.",
        ),
    ),
    "infinite values": Case(
        csv(a=with_cells(A, _1="inf", _2="-inf"), b=B, y=Y),
        columns=("a", "b"),
        notes=("2 infinite values are taken as missing, in 'a'.",),
        check=lambda p: p.missing.cells == 2,
    ),
    "more than half is missing": Case(
        csv(a=["", "", "1"] * 13 + ["2"], b=B, y=Y),
        columns=("b",),
        left_out={"a": "has no value in 26 of 40 rows"},
    ),
    "rows without a response": Case(
        csv(a=A, y=with_cells(Y, _0="", _1="NA")),
        columns=("a",),
        notes=("2 of 40 rows have no response ('y') and are left out.",),
        check=lambda p: p.rows.tolist() == list(range(2, N)),
    ),
    # responses
    "two classes of text": Case(
        csv(a=A, y=["ill", "well"] * 20),
        columns=("a",),
        response="binary",
        check=lambda p: p.y[:2].tolist() == ["ill", "well"],
    ),
    "1 and 2": Case(csv(a=A, y=[1, 2] * 20), columns=("a",), response="binary"),
    "true and false": Case(
        csv(a=A, y=["True", "False"] * 20),
        columns=("a",),
        response="binary",
        check=lambda p: p.y[:2].tolist() == ["True", "False"],
    ),
    "true and false of NumPy": Case(
        {"a": A, "y": EVENTS == 1},
        columns=("a",),
        response="binary",
        check=lambda p: p.y[:2].tolist() == ["True", "False"],
    ),
    "two classes and a gap": Case(
        csv(a=A, y=with_cells(["ill", "well"] * 20, _0="NA")),
        columns=("a",),
        response="binary",
        notes=("1 of 40 rows has no response ('y') and is left out.",),
        check=lambda p: len(p.y) == N - 1,
    ),
    "a class of one row": Case(
        csv(a=A, y=["ill"] * (N - 1) + ["well"]),
        columns=("a",),
        response="binary",
        notes=("'well' has 1 row only: so few say little about what distinguishes them.",),
    ),
    "three classes as two": Case(
        csv(a=A, y=GROUP),
        options={"response": "binary"},
        error="target: 'y' has 3 different values ('u', 'v', 'w'); response='binary' takes two.",
    ),
    "counts that are none": Case(
        csv(a=A, y=Y),
        options={"response": "count"},
        error="target: 'y' must hold whole numbers of zero or more for response='count'; got "
        f"{Y[0]}.",
    ),
    "stages": Case(
        csv(a=A, y=["Stage II", "Stage IV", "Stage I", "Stage III"] * 10),
        options={"response": "ordinal"},
        columns=("a",),
        response="linear",
        notes=(
            "The response 'y' is taken as scores in a linear model: 0 for Stage I, 1 for Stage II, "
            "2 for Stage III, 3 for Stage IV.",
        ),
        check=lambda p: p.y[:4].tolist() == [1.0, 3.0, 0.0, 2.0],
    ),
    "a scale in words": Case(
        csv(a=A, y=["mild", "severe", "None", "moderate"] * 10),
        options={"response": "ordinal"},
        columns=("a",),
        response="linear",
        notes=(
            "'None' is taken as a value, not as missing, in 'y'.",
            "The response 'y' is taken as scores in a linear model: 0 for None, 1 for mild, 2 for "
            "moderate, 3 for severe.",
        ),
    ),
    "words without an order": Case(
        csv(a=A, y=GROUP),
        options={"response": "ordinal"},
        error="target: the order of 'u', 'v', 'w' is not known; for response='ordinal' write "
        "numbers, or use an ordered category of a data frame.",
    ),
    "three classes": Case(
        csv(a=A, y=GROUP),
        columns=("a",),
        response="classes",
        check=lambda p: p.y[:3].tolist() == ["u", "v", "w"],
    ),
    "classes in two spellings": Case(
        csv(a=A, y=["Yes", "yes", "No", "No"] * 10),
        columns=("a",),
        response="classes",
        notes=(
            "'Yes', 'yes' differ in capitals only, and are taken as different values of 'y'. If "
            "they are the same, write them alike.",
        ),
    ),
    "a category in two spellings": Case(
        csv(sex=["Male", "male", "Female", "Female"] * 10, g=["AA", "Aa"] * 20, a=A, y=Y),
        columns=("sex: Male", "sex: male", "g: Aa", "a"),
        notes=(
            "'Male', 'male' differ in capitals only, and are taken as different values of 'sex'. "
            "If they are the same, write them alike.",
        ),
    ),
    "variables in rows": Case(
        b"gene,p1,p2,p3\nTP53,1.5,2.5,3.5\nBRCA1,2,3,1\ny,1,0,1\n",
        error="target: there is no column 'y', but a row of 'gene' is called so: variables must be "
        "columns, and samples rows; turn the table around.",
    ),
    "units below the names": Case(
        b"a,y\nmg,kg\n" + csv(a=A, y=Y).split(b"\n", 1)[1],
        error="target: 'y' is text with 41 different values ('-0.129', '-0.159', '-0.259', "
        "'-0.316', '-0.433' and 36 more) in 41 rows; it must be numbers, or a few classes.",
    ),
    "names as a response": Case(
        csv(a=A, y=[f"s{i:02d}" for i in range(N)]),
        error="target: 'y' is text with 40 different values ('s00', 's01', 's02', 's03', 's04' and "
        "35 more) in 40 rows; it must be numbers, or a few classes.",
    ),
    "dates as a response": Case(
        csv(a=A, y=[f"2020-01-{i % 28 + 1:02d}" for i in range(N)]),
        error="target: 'y' holds dates; it must be numbers or classes.",
    ),
    "one value as a response": Case(
        csv(a=A, y=[3] * N), error="target: 'y' is constant (3): there is nothing to explain."
    ),
    "the response in another spelling": Case(
        csv(a=A, y=Y), target="Y", error="target: there is no column 'Y'; did you mean 'y'?"
    ),
    "scores": Case(
        csv(a=A, y=[1, 2, 5, 3] * 10),
        options={"response": "ordinal"},
        columns=("a",),
        response="linear",
        notes=(
            "The response 'y' is taken as scores in a linear model: 0 for 1, 1 for 2, 2 for 3, 3 "
            "for 5.",
        ),
        check=lambda p: p.y[:4].tolist() == [0.0, 1.0, 3.0, 2.0],
    ),
    "an event beside a time": Case(
        csv(time=TIMES, status=EVENTS, a=B),
        target="time",
        columns=("a",),
        left_out={"status": "seems to say whether the event happened"},
        notes=(
            "'time' looks like a time until an event, and 'status' like whether it happened; so "
            "'status' is left out. If so, ask for a model of survival, time='time' and "
            "event='status' (on the command line: --time time --event status). If it is a "
            "variable, say so: kinds={'status': 'number'} (on the command line: --kind "
            "status=number).",
        ),
    ),
    "a time beside an event": Case(
        csv(os_days=TIMES, death=EVENTS, a=B),
        target="death",
        response="binary",
        columns=("a",),
        left_out={"os_days": "seems to be the time of the event"},
        notes=(
            "'death' looks like an event, and 'os_days' like the time until it; so 'os_days' is "
            "left out. If so, ask for a model of survival, time='os_days' and event='death' (on "
            "the command line: --time os_days --event death). If it is a variable, say so: "
            "kinds={'os_days': 'number'} (on the command line: --kind os_days=number).",
        ),
    ),
    "survival in words": Case(
        csv(time=TIMES, status=np.where(EVENTS, "1:DECEASED", "0:LIVING"), a=B),
        target=None,
        options={"time": "time", "event": "status"},
        columns=("a",),
        response="survival",
        notes=(
            "'status': 1:DECEASED means that the event happened (30 rows), and 0:LIVING that it "
            "was not seen (10 rows).",
        ),
        check=lambda p: np.array_equal(p.y, np.column_stack([TIMES, EVENTS])),
    ),
    "censored is no event": Case(
        csv(time=TIMES, censored=1 - EVENTS, a=B),
        target=None,
        options={"time": "time", "event": "censored"},
        columns=("a",),
        response="survival",
        notes=(
            "'censored': 0 means that the event happened (30 rows), and 1 that it was not seen (10 "
            "rows).",
        ),
    ),
    "events that cannot be told": Case(
        csv(time=TIMES, status=np.where(EVENTS, "A", "B"), a=B),
        target=None,
        options={"time": "time", "event": "status"},
        error="event: it cannot be told which value of 'status' ('A', 'B') means that the event "
        "happened; write 1 for an event and 0 for none.",
    ),
    "another endpoint": Case(
        csv(os=TIMES, death=EVENTS, pfs=TIMES / 2, relapse=EVENTS[::-1], a=B),
        target=None,
        options={"time": "os", "event": "death"},
        columns=("a",),
        response="survival",
        left_out={
            "pfs": "says the same as the response 'os'",
            "relapse": "seems to belong to another endpoint",
        },
        notes=(
            "'death': 1 means that the event happened (30 rows), and 0 that it was not seen (10 "
            "rows).",
            "'pfs', 'relapse' seem to belong to another endpoint than 'os' and 'death', and are "
            "left out. If it is a variable, say so: kinds={'pfs': 'number'} (on the command line: "
            "--kind pfs=number).",
        ),
    ),
    "a negative time": Case(
        csv(time=-TIMES, status=EVENTS, a=B),
        target=None,
        options={"time": "time", "event": "status"},
        error=f"time: 'time' must not be negative; got {-TIMES[0]:.10g}.",
    ),
    "a time without an event": Case(
        csv(time=TIMES, status=EVENTS, a=B),
        options={"response": "survival"},
        target="time",
        error="Survival needs both: time, and event, which says if it was observed.",
    ),
    "counts with the logarithm of their exposure": Case(
        csv(a=A, years=TIMES, y=[0, 2, 5, 1] * 10),
        options={"response": "count", "offset": "years"},
        columns=("a",),
        response="count",
        notes=(
            "The offset 'years' is taken as the logarithm of the exposure. If it is the exposure "
            "itself, write log(years) in its place.",
        ),
        check=lambda p: np.allclose(p.offset, TIMES),
    ),
    "an offset without counts": Case(
        csv(a=A, years=TIMES, y=[0, 2, 5, 1] * 10),
        options={"offset": "log(years)"},
        error="offset is for counts: ask for response='count' (--response count).",
    ),
    "counts with their exposure": Case(
        csv(a=A, years=TIMES, y=[0, 2, 5, 1] * 10),
        options={"response": "count", "offset": "log(years)"},
        columns=("a",),
        response="count",
        check=lambda p: np.allclose(p.offset, np.log(TIMES)),
    ),
    # what else columns are for
    "covariates by a range": Case(
        csv(pc1=A, pc2=B, pc10=A**2, pc3=B**2, sex=["f", "m"] * 20, a=A * B, y=Y),
        options={"keep": "pc1-pc3, sex"},
        columns=("pc10", "a"),
        check=lambda p: p.keep_names == ("pc1", "pc2", "pc3", "sex: m"),
    ),
    "a range that is too long": Case(
        csv(pc1=A, pc2=B, a=A * B, y=Y),
        options={"keep": "pc1-pc10"},
        error="keep: the range 'pc1-pc10' needs the column 'pc10', which is not there; did you "
        "mean 'pc1'?",
    ),
    "a range in capitals": Case(
        csv(pc1=A, pc2=B, a=A * B, y=Y),
        options={"keep": "PC1-PC2"},
        error="keep: the range 'PC1-PC2' needs the column 'PC1', which is not there; did you mean "
        "'pc1'?",
    ),
    "a patient to keep": Case(
        csv(patient=[f"P{i // 5}" for i in range(N)], a=A, y=Y),
        options={"keep": "patient"},
        error="keep takes numbers and categories; 'patient' says which rows belong together (8 "
        "different values in 40 rows).",
    ),
    "gaps in a column to keep": Case(
        csv(age=with_cells(range(30, 30 + N), _2="", _3=""), a=A, y=Y),
        options={"keep": "age"},
        columns=("a",),
        notes=(
            "In 2 rows a value of a column to keep is missing ('age'); the mean of the column "
            "stands there, or its most frequent value.",
        ),
        check=lambda p: np.isfinite(p.keep).all() and p.keep[2, 0] == p.keep[3, 0],
    ),
    "rows with gaps in a column to keep": Case(
        csv(age=with_cells(range(30, 30 + N), _2="", _3=""), a=with_cells(A, _3="", _7=""), y=Y),
        options={"keep": "age", "missing": "drop-rows"},
        columns=("a",),
        notes=(
            "4 values of the variables are missing, in 3 of 40 rows and 2 columns ('a', 'age'); "
            "these rows are left out.",
        ),
        check=lambda p: p.rows.tolist() == [i for i in range(N) if i not in (2, 3, 7)],
    ),
    "columns with gaps": Case(
        csv(a=with_cells(A, _3=""), b=B, y=Y),
        options={"missing": "drop-columns"},
        columns=("b",),
        left_out={"a": "has no value in 1 of 40 rows"},
        notes=(
            "1 value of the variables is missing, in 1 of 40 rows and 1 column ('a'); this column "
            "is left out.",
        ),
    ),
    "negative weights": Case(
        csv(a=A, b=B, y=Y),
        options={"weights": "a"},
        error=f"weights: 'a' must not be negative; got {A[A < 0.0][0]}.",
    ),
    "strata of text": Case(
        csv(site=GROUP, a=A, y=Y),
        options={"strata": "site"},
        columns=("a",),
        check=lambda p: np.unique(p.strata).size == 3,
    ),
    "several names that are not there": Case(
        csv(age=A, sex=B, y=Y),
        options={"keep": "agee", "drop": "sexx", "weights": "w"},
        error="weights: there is no column 'w'; there are 'age', 'sex', 'y'. keep: there is no "
        "column 'agee'; did you mean 'age'? drop: there is no column 'sexx'; did you mean 'sex'?",
    ),
    "a column for two uses": Case(
        csv(a=A, w=TIMES, y=Y),
        options={"keep": ["w"], "weights": "w"},
        error="'w' is named for weights and for keep; a column has one use.",
    ),
    "rows of patients": Case(
        csv(patient=[f"P{i // 5}" for i in range(N)], a=A, y=Y),
        options={"rows_of": "patient"},
        columns=("a",),
        notes=("Rows with the same 'patient' belong together: 8 groups of 5 rows.",),
        check=lambda p: np.unique(p.rows_of).size == 8,
    ),
    # objects
    "pandas of every kind": Case(
        pd.DataFrame(
            {
                "nullable": pd.array([1, None, 3, 5] * 10, dtype="Int64"),
                "boolean": pd.array([True, False, None, True] * 10, dtype="boolean"),
                "category": pd.Categorical(GROUP),
                "codes": pd.Categorical([1, 2, 3, 2] * 10),
                "sparse": pd.arrays.SparseArray([0.0, 0.0, 1.5, 0.0] * 10),
                "object": ["1", 2.5, None, 4] * 10,
                "day": pd.date_range("2020-01-01", periods=N),
                "y": Y,
            }
        ),
        columns=(
            "nullable",
            "boolean",
            "category: v",
            "category: w",
            "codes: 1",
            "codes: 3",
            "sparse",
            "object",
        ),
        left_out={"day": "is a date"},
        check=lambda p: p.X[0, [0, 1, 6, 7]].tolist() == [1.0, 1.0, 0.0, 1.0],
    ),
    "an ordered category of pandas": Case(
        pd.DataFrame({"a": A, "y": pd.Categorical(GROUP, ["w", "u", "v"], ordered=True)}),
        options={"response": "ordinal"},
        columns=("a",),
        response="linear",
        notes=(
            "The response 'y' is taken as scores in a linear model: 0 for w, 1 for u, 2 for v.",
        ),
    ),
    "names twice in pandas": Case(
        pd.DataFrame(X, columns=["a", "a", "y"]),
        error="table: column names must differ; more than once: 'a'.",
    ),
    "polars": Case(
        pl.DataFrame({"a": A, "c": pl.Series(GROUP, dtype=pl.Categorical), "y": Y}),
        columns=("a", "c: v", "c: w"),
    ),
    "polars, lazy": Case(pl.LazyFrame({"a": A, "y": Y}), columns=("a",)),
    "pyarrow": Case(pa.table({"a": A, "c": GROUP, "y": Y}), columns=("a", "c: v", "c: w")),
    "NumPy, single precision": Case(X[:, :2].astype(np.float32), target=Y, columns=("x0", "x1")),
    "NumPy, masked": Case(
        np.ma.masked_array(X[:, :2], mask=X[:, :2] > 1.0),
        target=Y,
        columns=("x0", "x1"),
        check=lambda p: np.array_equal(np.isnan(p.X), X[:, :2] > 1.0),
    ),
    "NumPy, structured": Case(
        np.array(list(zip(A, GROUP, strict=True)), dtype=[("a", float), ("c", "U3")]),
        target=Y,
        columns=("a", "c: v", "c: w"),
    ),
    "a sparse matrix": Case(
        sparse.csc_array(np.where(X > 0.0, X, 0.0)),
        target=Y,
        columns=("x0", "x1", "x2"),
        check=lambda p: np.array_equal(p.X, np.where(X > 0.0, X, 0.0)),
    ),
    "AnnData": Case(ANNDATA, columns=("condition: v", "condition: w", "g1", "g2")),
    "a response of scikit-survival": Case(
        X,
        target=np.array(
            list(zip(EVENTS == 1, TIMES, strict=True)), dtype=[("event", bool), ("time", float)]
        ),
        columns=("x0", "x1", "x2"),
        response="survival",
        notes=(
            "'event': 1 means that the event happened (30 rows), and 0 that it was not seen (10 "
            "rows).",
        ),
    ),
    "whole numbers and truth values of NumPy": Case(
        (X[:, :2] * 10).astype(np.int8), target=EVENTS == 1, columns=("x0", "x1"), response="binary"
    ),
    "NumPy, mapped from a file": Case(
        mapped(X[:, :2]),
        target=Y,
        columns=("x0", "x1"),
        check=lambda p: np.allclose(p.X, X[:, :2], rtol=1e-6),
    ),
    "a sparse matrix that is a dictionary": Case(
        sparse.dok_array(X[:, :2]),
        target=Y,
        columns=("x0", "x1"),
        check=lambda p: np.array_equal(p.X, X[:, :2]),
    ),
    "times and events as a pair": Case(
        X,
        target=(TIMES, EVENTS),
        columns=("x0", "x1", "x2"),
        response="survival",
        notes=(
            "'event': 1 means that the event happened (30 rows), and 0 that it was not seen (10 "
            "rows).",
        ),
        check=lambda p: np.array_equal(p.y, np.column_stack([TIMES, EVENTS])),
    ),
    "events and times as a frame": Case(
        X,
        target=pd.DataFrame({"died": EVENTS == 1, "months": TIMES}),
        columns=("x0", "x1", "x2"),
        response="survival",
        notes=(
            "'died': 1 means that the event happened (30 rows), and 0 that it was not seen (10 "
            "rows).",
        ),
        check=lambda p: np.array_equal(p.y, np.column_stack([TIMES, EVENTS])),
    ),
    "a response of three columns": Case(
        X,
        target=X,
        error="target: several values for each row must be two, a time and whether the event "
        "happened (true and false, or 1 and 0); got '0', '1', '2'.",
    ),
    "a response of another length": Case(
        X, target=Y[:5], error="target must have a value for each of 40 rows; it has 5."
    ),
    "no columns": Case(np.zeros((5, 0)), target=Y[:5], error="table: there are no columns."),
    "columns of different lengths": Case(
        {"a": A, "b": [1, 2], "y": Y},
        error="table: columns must have one length; 'a' has 40, 'b' has 2, 'y' has 40.",
    ),
    "no table at all": Case(
        3.5,
        error="table must be a path, a data frame (pandas, polars or pyarrow), an array, a sparse "
        "matrix, an AnnData object or a dictionary of columns; got 3.5.",
    ),
}
