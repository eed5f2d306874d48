"""The tab Select without a browser: tables, columns and their corrections, answers, bad files."""

from __future__ import annotations

import base64
import csv
import gzip
import hashlib
import io
import json
import shlex
import zipfile
from html import escape
from pathlib import Path
from typing import Any, ClassVar
from xml.etree import ElementTree

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest
from typer.testing import CliRunner

import selica
from selica import catalogue, tables
from selica._core.errors import ArgumentError
from selica.app import column_rows, column_view, select_tab, selecting
from selica.app.selecting import ColumnUses, SelectRequest
from selica.cli import app as command_line
from selica.selectors.text_table import column_cell
from selica.tables.kinds import recognise
from tests.app.pages import bodies, opened

KNOCKOFFS = "knockoffs, one copy"


def csv_of(columns: dict[str, Any], separator: str = ",") -> bytes:
    """A table as the content of a file."""
    rows = zip(*columns.values(), strict=True)
    lines = [separator.join(columns), *(separator.join(map(str, row)) for row in rows)]
    return "\n".join(lines).encode()


@pytest.fixture(scope="module")
def messy() -> bytes:
    """Semicolons, decimal commas, names of rows, dates, categories, codes of groups and gaps."""
    rng = np.random.default_rng(0)
    n = 160
    genes = rng.standard_normal((n, 4))
    tissue = rng.choice(["liver", "lung", "skin"], n)
    well = 4.0 * genes[:, 0] - 4.0 * genes[:, 1] + rng.logistic(size=n) > 0.0
    columns: dict[str, Any] = {
        "patient": [f"P{i // 2}" for i in range(n)],
        "visit": [f"2026-0{1 + i % 9}-1{i % 9}" for i in range(n)],
        "tissue": tissue,
        "batch": rng.integers(1, 5, n),
        "age": [("NA" if i % 20 == 0 else 40 + i % 30) for i in range(n)],
    }
    columns |= {f"gene {j}": [f"{v:.3f}".replace(".", ",") for v in genes[:, j]] for j in range(4)}
    return csv_of(columns | {"well": np.where(well, "yes", "no")}, ";")


def loaded(name: str, content: bytes, **address: str) -> Any:
    """The tab with a table of the user's."""
    at = opened(tab="Select", data="My own table", **address)
    at.file_uploader[0].upload(name, content).run()
    assert not at.exception
    return at


def control(at: Any, label: str) -> Any:
    found = [one for one in (*at.selectbox, *at.multiselect) if one.label == label]
    assert len(found) == 1
    return found[0]


def corrections(content: bytes) -> str:
    """The key of the kinds that were corrected for a file."""
    return f"kept kinds {hashlib.sha256(content).hexdigest()[:16]}"


def packed(size: int) -> bytes:
    """An archive of so many bytes of nothing."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/workbook.xml", b"0" * size)
    return file.getvalue()


def answered(at: Any) -> str:
    at.button[0].click().run()
    assert not at.exception
    return bodies(at)


def run(content: bytes, method: str, uses: ColumnUses, **options: Any) -> selecting.ShownSelection:
    """An answer without the page around it."""
    table = selecting.uploaded("t.csv", content)
    request = SelectRequest(table.digest, uses, method, tuple(options.items()))
    return selecting.select(request, table, selecting.prepared(table, uses))


@pytest.fixture(scope="module")
def table() -> bytes:
    rng = np.random.default_rng(3)
    X = rng.standard_normal((60, 4))
    y = X[:, 0] - X[:, 1] + 0.3 * rng.standard_normal(60)
    lines = [",".join(f"{v:.6f}" for v in (*row, target)) for row, target in zip(X, y, strict=True)]
    names = "=cmd|' /C calc'!A0,<b onclick=x>bold</b>,-minus,![x](http://127.0.0.9/x.png),y"
    return "\n".join([names, *lines]).encode()


def test_hostile_names_are_escaped_and_formulas_disarmed(table: bytes) -> None:
    outcome = run(table, "lasso", ColumnUses(target="y"))
    assert len(outcome.selection.selected) >= 2
    with zipfile.ZipFile(io.BytesIO(outcome.report)) as archive:
        assert archive.namelist() == ["selection.csv", "selection.json", "report.html"]
        rows = list(csv.DictReader(io.StringIO(archive.read("selection.csv").decode())))
        page_text = archive.read("report.html").decode()
    names = {row["variable"] for row in rows}
    assert {"'=cmd|' /C calc'!A0", "'-minus"} <= names
    # numbers are left alone, also negative ones
    for row in rows:
        float(row["coefficient"])
    assert "<b onclick" not in page_text
    assert "&lt;b onclick=x&gt;" in page_text


def test_what_is_said_of_the_data_comes_with_the_outcome() -> None:
    rng = np.random.default_rng(0)
    columns = {"patient": [f"P{i // 4}" for i in range(80)]}
    columns |= {name: [f"{v:.4f}" for v in rng.standard_normal(80)] for name in "xy"}
    content = csv_of(columns)
    outcome = run(content, KNOCKOFFS, ColumnUses(target="y"), fdr=0.5)
    said = "Column 'patient' has 20 different values in 80 rows"
    assert any(caution.startswith(said) for caution in outcome.selection.cautions)
    text = str(outcome.selection.guarantee)
    assert text.startswith("No error rate is controlled: rows with the same 'patient'")
    together = run(content, KNOCKOFFS, ColumnUses(target="y", rows_of="patient"), fdr=0.5)
    assert not any(said in caution for caution in together.selection.cautions)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("empty.csv", b"", "the file is empty"),
        ("binary.csv", bytes(range(256)) * 50, "line 1 is not text"),
        ("names.csv", b"a,b,c\n", "no rows"),
        ("wide.csv", (b"a," * 9_999 + b"a\n") * 2, "more than 2,000 columns"),
        ("long.csv", b"a,b\n" + b"1,2\n" * 20_001, "more than 20,000 rows"),
        ("large.csv", ",".join(map("x{}".format, range(2_000))).encode()
         + (b"\n" + b"1," * 1_999 + b"1") * 2_600, "5,000,000 cells"),
        ("broken.csv.gz", b"\x1f\x8b" + b"\0" * 100, "the gzip file is broken"),
        ("bomb.csv.gz", gzip.compress(b"0" * 100_000_001, 1), "more than 100 MB"),
        ("bomb.xlsx", packed(100_000_001), "more than 100 MB"),
        ("broken.parquet", b"PAR1" + b"\xff" * 200 + b"PAR1", "not a Parquet file"),
        ("../../etc/x.csv", b"", "x.csv: the file is empty"),
        ("C:\\secret\\x.csv", b"", "x.csv: the file is empty"),
        ("ragged.csv", b"a,b\n1,2\n1\n", "line 3 has 1 field"),
        ("quote.csv", b'a,b\n"' + b"x" * 200_000, "field larger than field limit"),
    ],
)  # fmt: skip
def test_bad_files_get_a_sentence(name: str, content: bytes, said: str) -> None:
    with pytest.raises(ArgumentError, match=said) as caught:
        selecting.uploaded(name, content)
    assert "etc" not in str(caught.value)
    assert "secret" not in str(caught.value)


def test_a_parquet_file_is_refused_before_it_is_read() -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    file = io.BytesIO()
    pq.write_table(pa.table({"a": np.zeros(3_000_000), "b": np.zeros(3_000_000)}), file)
    assert len(file.getvalue()) < 100_000  # it would be 48 MB
    with pytest.raises(ArgumentError, match="more than 20,000 rows"):
        selecting.uploaded("zeros.parquet", file.getvalue())


def test_one_column_is_not_enough() -> None:
    at = loaded("one.csv", b"y\n1\n2\n3\n")
    assert "There are no variables beside the target." in bodies(at)
    assert at.button[0].disabled


def test_select_on_the_embedded_data() -> None:
    at = opened(tab="Select", method="Lasso")
    assert not at.exception
    assert "variables selected" not in bodies(at)
    at.button[0].click().run()
    assert not at.exception
    assert "variables selected" in bodies(at)
    assert at.query_params["run"] == "1"
    linked = opened(tab="Select", method="Lasso", run="1")
    assert bodies(linked) == bodies(at)
    # other settings, and the old list is gone
    at.selectbox(key="method").set_value("Bolasso").run()
    assert "variables selected" not in bodies(at)


def test_the_page_has_the_methods_of_the_catalogue() -> None:
    shown = selecting.methods()
    assert [one.label for one in shown.values()] == list(shown)
    runnable = [one for one in catalogue.methods() if one.selector is not None]
    left_out = {one.name for one in runnable} - {one.name for one in shown.values()}
    assert left_out == {  # variants, and what needs a threshold that somebody knows
        "stability-pfer-unimodal", "stability-pfer-none", "stability-ideal", "thresholded-lasso",
    }  # fmt: skip
    for method in shown.values():
        level = {method.levels[0]: 0.2} if method.levels else {}
        method.load_selector()(**method.arguments(level))


FORMER = [
    ("Automatic", "auto"),
    ("Stability selection", "stability-pfer"),
    ("Derandomized knockoffs", "knockoffs-evalues"),
    ("Knockoffs, one copy", "knockoffs"),
    ("Aggregated knockoffs", "knockoffs-pvalues"),
    ("Data splitting", "splitting"),
    ("Bolasso", "bolasso"),
    ("Lasso", "lasso"),
    ("derandomized", "knockoffs-evalues"),
    ("splitting", "splitting"),
]


@pytest.mark.parametrize(("linked", "name"), FORMER)
def test_an_address_may_have_a_former_name_of_a_method(linked: str, name: str) -> None:
    at = opened(tab="Select", method=linked)
    assert not at.exception
    assert at.selectbox(key="method").value == catalogue.method(name).label


def test_nothing_is_explained_before_it_is_chosen(messy: bytes) -> None:
    at = loaded("messy.csv", messy)
    html = bodies(at)
    assert control(at, "Column to explain").value is None
    assert "Choose what is to be explained." in html
    assert at.button[0].disabled
    assert "160 rows, 10 columns, read as text with semicolons between columns." in html
    assert "Decimal commas are read as decimal points in 4 columns" in html


def test_page_command_line_and_python_give_the_same_answer(
    messy: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = loaded("messy.csv", messy, method="stability-pfer", pfer="2")
    control(at, "Column to explain").set_value("well").run()
    assert "well has two classes: no in " in bodies(at)
    assert "The model is logistic." in bodies(at)
    control(at, "Rows that belong together have the same").set_value("patient")
    control(at, "Covariates to keep").set_value(["age"])
    control(at, "Columns to leave out").set_value(["gene 2-gene 3"])
    at.session_state[corrections(messy)] = {"batch": "category"}
    at.run()
    html = answered(at)
    assert "Kept as covariates in every fit, and never selected: age." in html
    (tmp_path / "messy.csv").write_bytes(messy)
    monkeypatch.chdir(tmp_path)
    command, code = (block.value for block in at.code)
    result = CliRunner().invoke(command_line, [*shlex.split(command)[1:], "--json"])
    assert result.exit_code == 0
    told = json.loads(result.stdout)
    assert set() < {*told["selected"]} <= {"gene 0", "gene 1"}
    assert {one["name"] for one in told["columns"]["left_out"]} == {"visit", "gene 2", "gene 3"}
    assert next(one for one in told["columns"]["kinds"] if one["name"] == "batch")["kind"] == (
        "category"
    )
    made: dict[str, Any] = {}
    exec(code, made)
    found = made["found"]
    assert found.selected == told["selected"]
    assert f"<b>{len(found.selected)}</b><span>variables selected</span>" in html
    for row in found.rows[: len(found.selected) + 5]:
        cells = [escape(column_cell(name, row[name])) for name in ("variable", "probability")]
        assert all(f">{text}</td>" in html for text in cells)
    assert escape(str(found.guarantee)) in html
    assert [row["probability"] for row in found.rows] == [
        row["probability"] for row in told["variables"]
    ]


def test_the_automatic_choice_is_explained() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, 6))
    columns = {f"x{j}": [f"{v:.4f}" for v in X[:, j]] for j in range(6)}
    columns["y"] = [f"{v:.4f}" for v in X[:, 0] - X[:, 1] + 0.5 * rng.standard_normal(100)]
    at = loaded("t.csv", csv_of(columns))
    assert control(at, "Column to explain").value == "y"
    assert "Chosen by the names of the columns" in bodies(at)
    assert control(at, "Method").value == "automatic choice"
    row = catalogue.method("auto")
    assert f"{row.promise} {row.rests_on}" in bodies(at)
    html = answered(at)
    same = selica.select({name: list(map(float, values)) for name, values in columns.items()}, "y")
    reason = same.selector.reason_
    assert reason.count(". ") == 1
    assert html.count(escape(reason)) == 1
    assert escape(str(same.guarantee)) in html


def test_survival_is_asked_for_by_two_columns() -> None:
    rng = np.random.default_rng(2)
    X = rng.standard_normal((150, 5))
    times = rng.exponential(np.exp(-1.5 * X[:, 0] + 1.5 * X[:, 1]))
    columns: dict[str, Any] = {"time": [f"{v:.5f}" for v in times]}
    columns["status"] = np.where(np.arange(150) % 5 == 0, "alive", "dead")
    columns |= {f"x{j}": [f"{v:.4f}" for v in X[:, j]] for j in range(5)}
    at = loaded("t.csv", csv_of(columns))
    labels = ("Time until the event, or until the last news", "Whether the event was observed")
    assert [control(at, label).value for label in labels] == ["time", "status"]
    assert (
        "time is a time until an event: 120 events, 30 rows censored. The model is of "
        in bodies(at)
    )
    html = answered(at)
    assert ">hazard ratio per SD</th>" in html
    assert html.index(">x0</td>") < html.index(">x4</td>")
    # one of them alone is a question, and no answer
    control(at, labels[1]).set_value(None).run()
    assert at.button[0].disabled
    assert "Choose what is to be explained." in bodies(at)


def test_all_problems_are_said_at_once(messy: bytes) -> None:
    at = loaded("messy.csv", messy)
    control(at, "Column to explain").set_value("well")
    control(at, "Covariates to keep").set_value(["nobody"])
    control(at, "Columns to leave out").set_value(["well", "pc1-pc9"]).run()
    html = bodies(at)
    for said in (
        "keep: there is no column &#x27;nobody&#x27;",
        "drop: there is no column &#x27;pc1-pc9&#x27;",
        "&#x27;well&#x27; is the target.",
    ):
        assert said in html
    assert at.button[0].disabled


@pytest.mark.parametrize(
    ("response", "target", "said"),
    [
        ("count", "visits", "The model is of counts (Poisson)."),
        ("linear", "grade", "The model is linear."),
        ("classes", "grade", "The model is multinomial."),
        ("ordinal", "grade", "is taken as scores in a linear model"),
        ("auto", "grade", "The model is linear."),
        ("binary", "grade", "response=&#x27;binary&#x27; takes two."),
    ],
)
def test_the_response_can_be_said(response: str, target: str, said: str) -> None:
    rng = np.random.default_rng(0)
    columns: dict[str, Any] = {f"x{j}": rng.standard_normal(60).round(3) for j in range(3)}
    columns |= {"visits": rng.poisson(3.0, 60), "grade": rng.integers(1, 4, 60)}
    at = loaded("t.csv", csv_of(columns))
    control(at, "Column to explain").set_value(target)
    control(at, "What the response is").set_value(response).run()
    assert said in bodies(at)


def test_the_exposure_of_a_count_is_an_offset() -> None:
    rng = np.random.default_rng(0)
    columns: dict[str, Any] = {f"x{j}": rng.standard_normal(60).round(3) for j in range(3)}
    columns |= {"days": rng.integers(1, 9, 60), "visits": rng.poisson(3.0, 60)}
    at = loaded("t.csv", csv_of(columns), method="lasso")
    control(at, "Column to explain").set_value("visits")
    control(at, "What the response is").set_value("count")
    control(at, "Offset of a count").set_value("days").run()
    assert "The exposure of each row is known: days." in answered(at)
    assert "--offset 'log(days)'" in at.code[0].value
    at.checkbox[0].uncheck().run()
    answered(at)
    assert "--offset days" in at.code[0].value


def test_errors_that_are_allowed_can_be_chosen() -> None:
    at = opened(tab="Select", pfer="2.5")
    assert (control(at, "False variables allowed").value, at.slider(key="pfer").value) == (
        "pfer",
        2.5,
    )
    control(at, "False variables allowed").set_value("kfwer").run()
    at.number_input(key="k false").set_value(3)
    at.number_input(key="kfwer").set_value(0.2).run()
    html = answered(at)
    assert "The probability of 3 or more false selections is at most" in html
    assert at.code[0].value == "selica select --demo --kfwer 3 0.2"
    # a method without this kind of level has its own
    control(at, "Method").set_value("knockoffs, share of copies").run()
    control(at, "Method").set_value(KNOCKOFFS).run()
    assert not at.exception
    assert [slider.label for slider in at.slider] == ["False discovery rate allowed (FDR)"]


def test_figures_are_drawings_that_run_nothing(table: bytes) -> None:
    at = loaded("t.csv", table, method="lasso")
    html = answered(at)
    drawn = [
        base64.b64decode(part.split('"')[0]).decode()
        for part in html.split("data:image/svg+xml;base64,")[1:]
    ]
    assert len(drawn) == 2
    for picture in drawn:
        root = ElementTree.fromstring(picture)
        assert root.tag == "{http://www.w3.org/2000/svg}svg"
        tags = {node.tag.rpartition("}")[2] for node in root.iter()}
        assert tags <= {"svg", "style", "title", "text", "rect", "line"}
    assert "<b onclick" not in html


def test_a_selection_says_how_far_it_is_and_can_be_left(table: bytes) -> None:
    loaded_table, uses = selecting.uploaded("t.csv", table), ColumnUses(target="y")
    ready = selecting.prepared(loaded_table, uses)
    request = SelectRequest(loaded_table.digest, uses, "stability, PFER bound", (("pfer", 1.0),))
    told: list[tuple[str, int, int]] = []
    selecting.select(request, loaded_table, ready, listener=lambda *how_far: told.append(how_far))
    assert told[-1][0] == "resamples"
    assert told[-1][1] == told[-1][2]

    class Left(BaseException):
        pass

    def leave(*_: Any) -> None:
        raise Left

    with pytest.raises(Left):
        selecting.select(request, loaded_table, ready, listener=leave)
    selecting.select(request, loaded_table, ready, waiting=leave)  # nobody is before it


def test_the_bar_says_what_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    class Place:
        drawn: ClassVar[list[tuple[float, str]]] = []

        def progress(self, share: float, text: str) -> None:
            self.drawn.append((share, text))

    clock = iter([0.0, 0.1, 2.0, 2.1, 4.0, 5.0])
    monkeypatch.setattr(select_tab, "monotonic", lambda: next(clock))
    bar = select_tab._ProgressBar(Place())
    for done in (1, 20, 21, 40):
        bar.listen("resamples", done, 100)
    bar.listen("other", 0, 0)
    assert Place.drawn == [
        (0.2, "20 of 100 resamples, about 8 s left"),
        (0.4, "40 of 100 resamples, about 6 s left"),
    ]


def test_a_bundle_can_be_downloaded(table: bytes) -> None:
    outcome = run(table, "lasso", ColumnUses(target="y"))
    with zipfile.ZipFile(io.BytesIO(outcome.bundle())) as archive:
        assert {"run.py", "table.csv", "settings.json", "report.html"} <= {*archive.namelist()}
        settings = json.loads(archive.read("settings.json"))
    assert settings["file"]["name"] == "t.csv"
    assert settings["command"] == "selica select t.csv --target y --method lasso"


def test_files_of_all_kinds_are_read() -> None:
    import openpyxl
    import pyarrow as pa
    from pyarrow import feather, parquet

    values = {"x": np.arange(20.0) ** 2, "y": np.arange(20.0)}
    arrow, packed_feather, workbook = io.BytesIO(), io.BytesIO(), io.BytesIO()
    parquet.write_table(pa.table(values), arrow)
    feather.write_feather(pa.table(values), packed_feather, compression="zstd")
    book = openpyxl.Workbook()
    for row in [["x", "y"], *zip(*(v.tolist() for v in values.values()), strict=True)]:
        book.active.append(row)
    book.save(workbook)
    text = csv_of({"x": [f"{v:g}" for v in values["x"]], "y": values["y"]}, "\t")
    files = {
        "t.tsv": (text, "text with tabs between columns"),
        "t.tsv.gz": (gzip.compress(text), "text with tabs between columns"),
        "t.tsv.zst": (pa.compress(text, "zstd", asbytes=True), "text with tabs between columns"),
        "t.parquet": (arrow.getvalue(), "Parquet"),
        "t.feather": (packed_feather.getvalue(), "Feather or Arrow"),
        "t.xlsx": (workbook.getvalue(), "Excel, sheet 'Sheet'"),
    }
    at = opened(tab="Select", data="My own table")
    for name, (content, how) in files.items():
        ending = name.rpartition(".")[2]
        assert f".{ending}" in at.file_uploader[0].allowed_type
        columns = selecting.uploaded(name, content).columns
        assert columns.read_as == how
        assert [part.tolist() for part in columns.values] == [v.tolist() for v in values.values()]


def test_a_feather_file_is_read_as_far_as_the_limits_allow() -> None:
    import pyarrow as pa
    from pyarrow import feather

    file = io.BytesIO()
    feather.write_feather(pa.table({"a": np.zeros(25_000)}), file)
    with pytest.raises(ArgumentError, match="more than 20,000 rows"):
        selecting.uploaded("zeros.feather", file.getvalue())


def test_a_wide_table_shows_first_what_is_no_plain_number() -> None:
    names = [f"x{j}" for j in range(1000)]
    table = tables.as_columns(
        {name: np.arange(9.0) + j for j, name in enumerate(names)}
        | {"x500": [1.0, None, 2.0, 3.0, 5.0, 1.0, 2.0, 2.5, 9.0], "site": list("aabbccaab")}
        | {"day": ["2026-01-02"] * 8 + ["2026-01-03"]}
    )
    rows = column_rows.described(table, recognise(table), {"x7": "target"}, None)
    shown, rest = column_rows.shown(rows)
    assert [row.name for row in shown[:5]] == ["x7", "site", "day", "x500", "x0"]
    assert (len(shown), shown[3].missing, shown[2].reason) == (300, 1, "is a date")
    assert rest.startswith("300 of 1,002 columns are shown; the others are numbers without missing")
    some = column_rows.shown(rows, "X99 number")
    assert [row.name for row in some.rows] == ["x99", *(f"x99{k}" for k in range(10))]
    assert some.rest == "11 of 1,002 columns have this in their name, kind or use."


def test_columns_that_are_asked_about_come_before_others() -> None:
    rng = np.random.default_rng(0)
    columns = {f"x{j}": rng.standard_normal(30) for j in range(5)} | {"site": np.arange(30) % 4}
    table = tables.as_columns(columns | {"y": rng.standard_normal(30)})
    ready = tables.prepare(table, "y")
    assert "'site'" in ready.questions[0]
    rows = column_rows.described(table, recognise(table), {}, ready)
    assert [row.name for row in column_rows.shown(rows).rows[:3]] == ["y", "site", "x0"]


def test_examples_are_few_and_short() -> None:
    table = tables.as_columns(
        {"a": [1.5, None, 2.0, 2.0, 3.25, 4.0], "b": ["x" * 90, "y", "y", None, "z\nz", "y"]}
    )
    assert column_rows.examples(table.values[0]) == "1.5, 2, 3.25, …"
    assert column_rows.examples(table.values[1]) == f"y, {'x' * 23}…, z z"


@pytest.mark.parametrize(
    ("names", "found"),
    [
        (["a", "y"], ("y", None, None)),
        (["Outcome", "time", "event"], ("Outcome", None, None)),
        (["a", "b"], (None, None, None)),
        (["y", "target"], (None, None, None)),
        (["OS_days", "OS_event", "b"], (None, "OS_days", "OS_event")),
        (["time", "time_to_relapse", "event"], (None, None, None)),
    ],
)
def test_what_is_explained_is_chosen_only_where_it_is_obvious(
    names: list[str], found: tuple[str | None, ...]
) -> None:
    values = {name: ([0, 1] * 5 if "event" in name else range(10)) for name in names}
    assert column_rows.outcomes(tables.as_columns(values)) == found


def test_a_correction_of_a_use_takes_the_column_from_what_it_was_for() -> None:
    def script() -> None:
        import streamlit as st

        from selica.app import selecting
        from selica.app.column_view import ColumnControls

        header = b"id,pc1,pc2,pc3,sex,y\n"
        rows = b"".join(b"n%d,1,2,%d,f,%d\n" % (i, i, i) for i in range(12))
        controls = ColumnControls(selecting.uploaded("t.csv", header + rows))
        if st.session_state.get("begun") is None:
            st.session_state["begun"] = True
            st.session_state[controls.key("keep")] = ["pc1-pc3"]
            st.session_state[controls.key("drop")] = []
            controls.set_use("pc2", "left out", "constant")
            controls.set_use("sex", "strata", "constant")
            controls.set_use("sex", "weights", "constant")
            controls.set_use("id", "variable", "identifier")
            controls.set_use("y", "variable", "number")
            controls.set_use("pc3", "time", "number")
            controls.set_kind("pc1", "category", "constant")
            controls.set_kind("pc1", "constant", "constant")
        st.session_state["asked"] = controls.others(controls.outcome())

    at = AppTest.from_function(script).run()
    assert not at.exception
    asked = at.session_state["asked"]
    assert asked == ColumnUses(
        time="pc3", keep=("pc1",), drop=("pc2",), weights="sex", kinds=(("id", "category"),)
    )


def test_a_range_that_is_not_there_stays_for_the_sentence_about_it() -> None:
    table = tables.as_columns({"a": [1, 2], "b": [3, 4]})
    assert column_view.without("a", ["a", "c-d"], table) == ["c-d"]


def test_groups_of_correlated_variables_can_be_selected(table: bytes) -> None:
    at = loaded("t.csv", table, method="lasso")
    control(at, "What is selected").set_value("Groups of correlated variables").run()
    cut = next(slider for slider in at.slider if slider.label.startswith("Correlation within"))
    cut.set_value(0.4).run()
    html = answered(at)
    assert "groups selected" in html
    assert "--groups correlation:0.4" in at.code[0].value
    assert "groups='correlation:0.4'" in at.code[1].value
    drawn = [
        base64.b64decode(part.split('"')[0]).decode()
        for part in html.split("data:image/svg+xml;base64,")[1:]
    ]
    tree = ElementTree.fromstring(drawn[-1])
    tags = {node.tag.rpartition("}")[2] for node in tree.iter()}
    assert tags <= {"svg", "style", "title", "text", "rect", "path", "image"}
    assert "How the variables go together" in html
