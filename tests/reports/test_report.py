"""Reports: files that say what was selected, escaped, self-contained, the same every time."""

from __future__ import annotations

import json
import sys
import warnings
from collections import namedtuple
from html.parser import HTMLParser
from types import SimpleNamespace

import numpy as np
import pytest

from selica import (
    AggregatedKnockoffs,
    AutoSelection,
    Bolasso,
    DataSplitting,
    DerandomizedKnockoffs,
    KnockoffSelection,
    LassoSelection,
    StabilitySelection,
)
from selica._core.errors import DoesNotApply, RefusedError
from selica._core.table import Table
from selica.reports import FileIdentity, Provenance, answer, write_report
from selica.reports.figure import MOST_BARS, effect_figure, measure_figure
from selica.reports.page import page
from selica.sampling import GaussianKnockoffs, simulate
from selica.selectors.summary import cell
from selica.tables import Columns, split

SELECTORS = {
    "stability-ideal": StabilitySelection("cv", n_resamples=20, random_state=0),
    "stability-pfer": StabilitySelection(n_resamples=20, pfer=2.0, random_state=0),
    "knockoffs": KnockoffSelection(0.3, sampler="iid", random_state=0),
    "knockoffs-evalues": DerandomizedKnockoffs(0.3, n_copies=4, sampler="iid", random_state=0),
    "knockoffs-frequency": DerandomizedKnockoffs(threshold=0.7, n_copies=4, random_state=0),
    "knockoffs-pvalues": AggregatedKnockoffs(0.3, n_copies=4, random_state=0),
    "splitting": DataSplitting(0.3, n_splits=4, random_state=0),
    "bolasso": Bolasso(n_resamples=20, random_state=0),
    "lasso": LassoSelection(random_state=0),
}
STRANGE = ["<script>alert(1)</script>", "a & b", '"quoted"', "$x^", "[red]", "名前", "c" * 200]


class Tags(HTMLParser):
    """Tags and attributes of a page; every tag must be closed in order."""

    VOID = ("meta", "path", "line", "rect")

    def __init__(self):
        super().__init__()
        self.open, self.seen, self.attributes = [], set(), []

    def handle_starttag(self, tag, attrs):
        self.seen.add(tag)
        self.attributes += attrs
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.seen.add(tag)
        self.attributes += attrs

    def handle_endtag(self, tag):
        if tag not in self.VOID:
            assert self.open.pop() == tag


@pytest.fixture(scope="module")
def data():
    return simulate(120, 12, 4, snr=20.0, random_state=0)


def selection(data, selector, names=None):
    names = names or [f"v{j}" for j in range(12)]
    return answer(selector, data.X, data.y, names, "y & z")


def test_a_report_says_whether_copies_pass_as_columns(data):
    for name in ("knockoffs", "knockoffs-evalues", "knockoffs-pvalues"):
        found = selection(data, SELECTORS[name])
        measured = SELECTORS[name].exchangeability_
        told = found.to_dict()["exchangeability"]
        assert (told["ratio"], told["p_value"]) == (measured.ratio, measured.p_value)
        assert f"<h2>Knockoff copies</h2>\n<p>{measured}</p>" in page(found)
    found = selection(data, SELECTORS["lasso"])
    assert found.to_dict()["exchangeability"] is None
    assert "Knockoff copies" not in page(found)


@pytest.mark.parametrize("name", SELECTORS)
def test_every_method_writes_a_report(data, name, tmp_path):
    found = selection(data, SELECTORS[name])
    files = write_report(found, tmp_path / "new" / "folder")
    assert [f.name for f in files] == ["selection.csv", "selection.json", "report.html"]
    table = Table.read_csv(files[0])
    assert sorted(table["variable"]) == sorted(f"v{j}" for j in range(12))
    said = json.loads(files[1].read_text(encoding="utf-8"))
    assert said["selected"] == [row["variable"] for row in table if row["selected"]]
    assert said["settings"]["random_state"] == 0
    assert said["target"] == "y & z"
    assert said["guarantee"]["text"] == str(SELECTORS[name].guarantee_)
    text = files[2].read_text(encoding="utf-8")
    tags = Tags()
    tags.feed(text)
    assert tags.open == []
    assert "svg" in tags.seen
    assert not tags.seen & {"script", "link", "img", "iframe", "object"}
    assert "http" not in text
    assert "y &amp; z" in text
    assert all(v.startswith("#") for k, v in tags.attributes if k in ("href", "xlink:href", "src"))


def test_the_same_selection_is_the_same_files(data, tmp_path):
    for folder in ("a", "b"):
        write_report(selection(data, SELECTORS["stability-pfer"]), tmp_path / folder)
    for name in ("selection.csv", "selection.json", "report.html"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_strange_names_are_text(data, tmp_path):
    names = STRANGE + [f"v{j}" for j in range(12 - len(STRANGE))]
    found = selection(data, SELECTORS["lasso"], names)
    text = write_report(found, tmp_path)[-1].read_text(encoding="utf-8")
    assert "<script" not in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    assert "a &amp; b" in text
    assert "名前" in text
    said = json.loads((tmp_path / "selection.json").read_text(encoding="utf-8"))
    assert set(said["selected"]) <= set(names)


def test_the_page_needs_no_matplotlib(data, monkeypatch):
    found = selection(data, SELECTORS["lasso"])
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert page(found).count("<svg class=") == 2


def test_warnings_become_notes_with_names(data):
    X = data.X.copy()
    X[:, 11] = X[:, 11] > 0
    names = [f"name {j}" for j in range(12)]
    found = answer(KnockoffSelection(random_state=0), X, data.y, names, "y")
    assert (
        "Columns with few values are not normally distributed, as copies of them are: name 11."
        in found.cautions
    )
    X[:, 3] = 1.0
    found = answer(LassoSelection(random_state=0), X, data.y, names, "y")
    assert "Constant columns are never selected: name 3." in found.cautions
    X[:, 3] = X[:, 4]
    found = answer(LassoSelection(random_state=0), X, data.y, ["x9", *names[1:]], "y")
    assert found.cautions[0].endswith("in place of the other: name 3 and name 4.")


def test_errors_name_columns(data):
    X = data.X.copy()
    X[:, 3] = 1.0
    names = [f"x{100 + j}" for j in range(12)]
    estimated = KnockoffSelection(sampler=GaussianKnockoffs(), random_state=0)
    with pytest.raises(RefusedError, match="constant column; x103 is constant"):
        answer(estimated, X, data.y, names, "y")
    with pytest.raises(RefusedError, match="constant column; x3 is constant"):
        estimated.fit(X, data.y)


def test_other_warnings_are_not_swallowed(data):
    class Odd(LassoSelection):
        def fit(self, X, y, sample_weight=None):
            warnings.warn("soon gone", FutureWarning, stacklevel=2)
            return super().fit(X, y, sample_weight)

    with pytest.warns(FutureWarning, match="soon gone"):
        selection(data, Odd(random_state=0))


def test_an_empty_selection_is_explained(data):
    noise = np.random.default_rng(0).standard_normal(120)
    names = [f"v{j}" for j in range(12)]
    found = answer(KnockoffSelection(0.05, random_state=0), data.X, noise, names, "y")
    assert found.selected == []
    assert sum("Nothing was selected" in note for note in found.notes) == 1
    assert "Nothing was selected" in page(found)


def test_two_classes_are_named(data):
    y = np.where(data.y > np.median(data.y), "yes", "no")
    found = answer(LassoSelection(random_state=0), data.X, y, [f"v{j}" for j in range(12)], "y")
    assert found.response == {"kind": "binary", "classes": {"no": 60, "yes": 60}}
    sentence = "y has two classes: no in 60 rows, yes in 60 rows; yes is counted as 1."
    assert sentence in found.about()
    assert sentence in page(found)
    assert "+ yes becomes more likely as the variable rises" in str(found)
    assert "odds ratio per SD" in page(found)


@pytest.mark.parametrize("name", SELECTORS)
def test_figures_draw_the_table(data, name):
    found = selection(data, SELECTORS[name])
    drawn = measure_figure(found)
    rows = found.summary.variables.rows[: min(len(found.selected) + 5, MOST_BARS)]
    assert drawn.count("<rect") == len(rows)
    for row in rows:
        assert f">{row['variable']}</text>" in drawn
        assert f">{cell(row[found.summary.measure])}</text>" in drawn
    effects = effect_figure(found)
    assert (effects is None) == (not found.selected)
    if effects is not None:
        assert effects.count("<rect") == len(found.selected)


def test_a_long_selection_is_cut(data):
    found = selection(data, SELECTORS["lasso"])
    rows = [{"variable": f"v{j}", "selected": True, "W": 1.0} for j in range(1200)]
    table = Table.of(rows)
    summary = type(found.summary)("many", table, "", (), 1205)
    fields = {name: getattr(found, name) for name in found.__slots__}
    text = page(type(found)(**(fields | {"summary": summary})))
    assert "1200 variables, the first 1000" in text


def test_what_is_said_of_the_data_comes_before_the_result(data):
    table = Columns(
        ("visit", "patient", *(f"v{j}" for j in range(12)), "y"),
        (np.arange(120.0), np.repeat([f"P{i}" for i in range(30)], 4), *data.X.T, data.y),
    )
    X, y, names = split(table, "y", ["patient", "visit"])
    selector = KnockoffSelection(0.4, sampler="iid", random_state=0)
    assert answer(selector, X, y, names, "y").guarantee.proven
    found = answer(selector, X, y, names, "y", table)
    assert found.cautions[0].startswith("Column 'patient' has 30 different values in 120 rows")
    assert not any("patient" in note for note in found.notes)
    assert found.guarantee.level is None
    assert found.to_dict()["cautions"] == list(found.cautions)
    text = page(found)
    places = [
        text.index(word)
        for word in (
            "About the data",
            "Column &#x27;patient&#x27;",
            "Selected variables, and those",
        )
    ]
    assert places == sorted(places)


def test_what_is_left_out_may_be_an_event(data):
    values = (np.exp(data.y), data.y > 0, *data.X.T)
    table = Columns(("time", "event", *(f"v{j}" for j in range(12))), values)
    X, y, names = split(table, "time", ["event"])
    found = answer(LassoSelection(lam=0.3), X, y, names, "time", table)
    assert found.cautions[0].endswith("--time 'time' --event 'event').")


def test_identical_columns_are_in_every_file(data, tmp_path):
    X = data.X.copy()
    twin = int(np.argmax(np.abs(data.X.T @ data.y)))
    other = int(np.argmin(np.abs(data.X.T @ data.y)))
    X[:, other] = -2.0 * X[:, twin]
    names = [f"v{j}" for j in range(12)]
    found = answer(LassoSelection(lam=0.05, random_state=0), X, data.y, names, "y")
    files = write_report(found, tmp_path)
    (first, same), *_ = found.selector.duplicates_.items()
    assert {first, *same} == {f"v{twin}", f"v{other}"}
    rows = {row["variable"]: row["identical to"] for row in Table.read_csv(files[0])}
    assert rows[first] == same[0]
    said = json.loads(files[1].read_text(encoding="utf-8"))
    assert said["duplicates"][first] == list(same)
    assert any(f"{first} is identical to {same[0]}, up to sign" in note for note in said["notes"])
    assert "<th class=word>identical to</th>" in files[2].read_text(encoding="utf-8")


def test_settings_say_what_was_used(data):
    found = selection(data, SELECTORS["stability-pfer"])
    assert found.used["q"] == SELECTORS["stability-pfer"].q_
    assert found.used["threshold"] == SELECTORS["stability-pfer"].threshold_
    assert found.used["response"] == "linear"
    text = page(found)
    assert f"(q)</td><td>{SELECTORS['stability-pfer'].q_}</td>" in text
    assert "<td>response</td><td>auto: linear</td>" in text
    assert "(lam)</td><td>not used</td>" in text
    y = np.where(data.y > 0, 2.0, 1.0)
    found = answer(LassoSelection(random_state=0), data.X, y, [f"v{j}" for j in range(12)], "y")
    sizes = {"1": int(np.sum(y == 1)), "2": int(np.sum(y == 2))}
    assert found.used["classes"] == sizes
    assert found.about()[1] == (
        f"y has two classes: 1 in {sizes['1']} rows, 2 in {sizes['2']} rows; 2 is counted as 1."
    )
    assert f"(lam)</td><td>auto: {found.selector.lam_:.4g}</td>" in page(found)
    found = answer(LassoSelection(lam=0.1), data.X, y > 1, [f"v{j}" for j in range(12)], "y")
    assert "True is counted as 1" in found.about()[1]


def test_penalties_along_a_path_are_summed_up(data):
    path = StabilitySelection(lam=np.array([0.3, 0.1]), n_resamples=4, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert selection(data, path).used["lam"] == "2 penalties from 0.3 to 0.1"


def test_halves_of_characters_in_names_can_be_written(data, tmp_path):
    names = ["a\ud800", *(f"v{j}" for j in range(1, 12))]
    found = answer(LassoSelection(lam=1e-3), data.X, data.y, names, "y\udcff")
    assert "a\\ud800" in found.selected
    files = write_report(found, tmp_path)
    assert "a\\ud800" in files[2].read_text(encoding="utf-8")
    str(found.summary).encode()


def test_the_same_is_said_in_text_page_and_json(data):
    file = FileIdentity.of_bytes("measured.csv", b"some bytes")
    about = Provenance(file, "2026-11-17", "selica select measured.csv --target y", None)
    names = [f"v{j}" for j in range(12)]
    selector = StabilitySelection(pfer=1.0, n_resamples=20, random_state=0)
    found = answer(selector, data.X, data.y, names, "y", provenance=about)
    said, text, printed = found.to_dict(), page(found), str(found)
    assert said["file"] == {"name": "measured.csv", "size": 10, "sha256": file.sha256}
    assert said["date"] == "2026-11-17"
    assert said["run_again"]["command"] == about.command
    assert (
        "StabilitySelection(n_resamples=20, pfer=1.0, random_state=0)"
        in said["run_again"]["python"]
    )
    assert said["response"]["kind"] == "linear"
    for name, meaning in said["explanations"].items():
        assert f"{name}: {meaning}." in printed
        assert f"<dt>{name}:</dt> <dd>{meaning}.</dd>" in text
    assert set(said["explanations"]) >= {"probability", "direction", "effect", "rank"}
    for part in ("measured.csv (10 bytes)", file.sha256, "2026-11-17", about.command):
        assert part in text
    assert said["used"]["q"] == selector.q_
    assert said["used"]["n_resamples"] == 20
    assert said["used"]["assumption"] == selector.assumption_
    assert said["close"]["next"] == [r["variable"] for r in found.rows if not r["selected"]][:5]
    assert "measured.csv: 120 rows, 12 variables." in printed


def test_nothing_is_said_of_a_day_that_was_not_given(data):
    found = selection(data, SELECTORS["lasso"])
    assert found.to_dict()["date"] is None
    assert found.to_dict()["file"] is None
    assert "date of the selection" not in page(found)


def test_what_was_done_with_the_columns_is_told(data):
    """With a prepared table as the command line has it."""
    column = namedtuple("column", "name kind use reason")
    gone = namedtuple("gone", "name reason values asked")
    cells = namedtuple("cells", "policy cells rows columns per_column")
    prepared = SimpleNamespace(
        kinds=(
            column("v0", "number", "variable", ""),
            column("id", "identifier", "left out", "1 to n"),
        ),
        left_out=(gone("id", "it numbers the rows", np.arange(120.0), False),),
        missing=cells("impute", 3, 2, 1, {"v0": 3}),
        keep_names=("age", "sex"), rows_of=np.zeros(120), sample_weight=None, offset=None,
        strata=None, columns=tuple(f"v{j}" for j in range(12)), notes=(), references={},
    )  # fmt: skip
    names = [f"v{j}" for j in range(12)]
    found = answer(LassoSelection(0.1), data.X, data.y, names, "y", prepared=prepared)
    said = found.to_dict()["columns"]
    assert said["left_out"] == [{"name": "id", "reason": "it numbers the rows"}]
    assert said["missing"]["per_column"] == {"v0": 3}
    assert json.dumps(said)
    text = page(found)
    for part in (
        "Kept as covariates, never selected: age, sex.", "it numbers the rows", "policy: impute",
        "Rows that belong together", "What was done with each of the 2 columns",
    ):  # fmt: skip
        assert part in text


def test_the_stability_path_is_one_call(data):
    found = selection(data, SELECTORS["stability-pfer"])
    path = found.stability_path()
    assert path.probabilities.shape == (30, 12)
    assert path.names == tuple(f"v{j}" for j in range(12))
    chosen = selection(data, AutoSelection(n_resamples=20, random_state=0))
    with pytest.raises(DoesNotApply, match="made by DerandomizedKnockoffs"):
        chosen.stability_path()
    found.selector._data = None  # as after a large table
    np.testing.assert_array_equal(found.stability_path().probabilities, path.probabilities)
