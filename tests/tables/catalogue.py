"""Awkward tables as people have them, each with what it should give: values, or the sentence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
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
NAMED = "has a different value in every row, as names do"
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
    "decimal commas and points in one column": Case(
        csv(";", a=with_cells(A, _30="1,5"), b=B, y=Y),
        columns=("b",),
        left_out={
            "a": "is text: some of its numbers have decimal commas, and others decimal points"
        },
    ),
    "per cent and currency": Case(
        csv(";", a=[f"{v}%" for v in A], b=[f"$ {v}" for v in B], y=Y),
        columns=("a", "b"),
        notes=("Signs such as % beside numbers are left out in 2 columns: 'a', 'b'.",),
        check=lambda p: np.array_equal(p.X, X[:, :2]),
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
    "binary junk": Case(
        bytes(range(256)) * 3,
        error="line 1 is not text; save the table as a CSV file in UTF-8.",
    ),
    "an old spreadsheet under another name": Case(
        b"\xd0\xcf\x11\xe0" + bytes(100),
        error="this is a spreadsheet of an old kind (.xls), not text; save the table as a CSV "
        "file.",
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
    "three classes": Case(
        csv(a=A, y=GROUP),
        columns=("a",),
        response="classes",
        check=lambda p: sorted(set(p.y.tolist())) == ["u", "v", "w"],
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
            "'time' looks like a time until an event, and 'status' like whether it happened, which "
            "is no variable. If so, ask for a model of survival (time and event; on the command "
            "line: --time 'time' --event 'status').",
        ),
    ),
    "a time beside an event": Case(
        csv(os_days=TIMES, death=EVENTS, a=B),
        target="death",
        response="binary",
        columns=("a",),
        left_out={"os_days": "seems to be the time of the event"},
        notes=(
            "'death' looks like an event, and 'os_days' like the time until it, which is no "
            "variable. If so, ask for a model of survival (time and event; on the command line: "
            "--time 'os_days' --event 'death').",
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
    "a column for two uses": Case(
        csv(a=A, w=TIMES, y=Y),
        options={"keep": ["w"], "weights": "w"},
        error="'w' is named for weights and for keep; a column has one use.",
    ),
    "rows of patients": Case(
        csv(patient=[f"P{i // 5}" for i in range(N)], a=A, y=Y),
        options={"rows_of": "patient"},
        columns=("a",),
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
