"""Reports: files that say what was selected, escaped, self-contained, the same every time."""

from __future__ import annotations

import json
import sys
import warnings
from html.parser import HTMLParser

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
from selica._core.errors import ArgumentError, RefusedError
from selica._core.table import Table
from selica.reports import FileIdentity, Provenance, answer, select, write_report
from selica.reports.account import response_sentence
from selica.reports.figure import MOST_BARS, effect_figure, measure_figure
from selica.reports.page import page
from selica.sampling import GaussianKnockoffs, simulate
from selica.selectors.text_table import column_cell, text_width
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
MINUS = "\N{MINUS SIGN}"
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
        text = page(found)
        said = str(measured).removesuffix(".")
        assert f"{said}; a ratio of 1 would be perfect, and up to 1.25 is accepted." in text
    found = selection(data, SELECTORS["lasso"])
    assert found.to_dict()["exchangeability"] is None
    assert "knockoff copies" not in page(found)


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
    found = answer(KnockoffSelection(sampler="gaussian", random_state=0), X, data.y, names, "y")
    few = (
        "Columns with few values, or many equal ones, are not normally distributed, as knockoff "
        "copies assume"
    )
    assert f"{few}: name 11." in found.cautions
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
    assert found.selector._why() in page(found)
    assert "No variable was selected" in page(found)
    assert "None is selected" in page(found)
    head, _, _ = str(found).partition("rank")
    assert "Nothing was selected." in head
    assert str(found).count("Nothing was selected") == 1


def test_a_class_of_one_row_is_said_in_the_singular():
    said = response_sentence({"kind": "binary", "classes": {"no": 1, "yes": 1200}}, "y")
    assert said == "y has two classes: no in 1 row, yes in 1,200 rows; yes is taken as the event."


def test_two_classes_are_named(data):
    y = np.where(data.y > np.median(data.y), "yes", "no")
    found = answer(LassoSelection(random_state=0), data.X, y, [f"v{j}" for j in range(12)], "y")
    assert found.response == {"kind": "binary", "classes": {"no": 60, "yes": 60}}
    sentence = "y has two classes: no in 60 rows, yes in 60 rows; yes is taken as the event."
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
        assert f"<title>{row['variable']}</title>" in drawn
        text = column_cell(found.summary.measure, row[found.summary.measure])
        assert f">{text.replace('-', MINUS)}</text>" in drawn
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
    assert "1,200 variables, the first 1,000" in text


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
            "Check this first",
            "Column &#x27;patient&#x27;",
            "<h2>The list</h2>",
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
    assert "<td>kind of response</td><td>auto: linear</td>" in text
    assert "(lam)</td><td>not used</td>" in text
    y = np.where(data.y > 0, 2.0, 1.0)
    found = answer(LassoSelection(random_state=0), data.X, y, [f"v{j}" for j in range(12)], "y")
    sizes = {"1": int(np.sum(y == 1)), "2": int(np.sum(y == 2))}
    assert found.used["classes"] == sizes
    assert found.about()[1] == (
        f"y has two classes: 1 in {sizes['1']} rows, 2 in {sizes['2']} rows; 2 is taken as the "
        "event."
    )
    assert f"(lam)</td><td>auto: {found.selector.lam_:.4g}</td>" in page(found)
    found = answer(LassoSelection(lam=0.1), data.X, y > 1, [f"v{j}" for j in range(12)], "y")
    assert "True is taken as the event" in found.about()[1]


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
        assert f"{name}: {meaning}." in " ".join(printed.split())
        assert f"<dt>{name}:</dt> <dd>{meaning}.</dd>" in text
    assert max(map(len, printed.splitlines())) <= 80
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
    table = {f"v{j}": data.X[:, j].copy() for j in range(12)}
    table["v0"][:3] = np.nan
    table |= {
        "id": [f"S{i:03d}" for i in range(120)],
        "age": np.arange(120) % 50 + 20.0,
        "sex": ["f", "m"] * 60,
        "patient": [f"P{i // 3}" for i in range(120)],
        "y": data.y,
    }
    found = select(
        table, "y", method="lasso", lam=0.1, keep="age,sex", rows_of="patient", random_state=0
    )
    said = found.to_dict()["columns"]
    assert said["left_out"] == [
        {"name": "id", "reason": "has a different value in every row, as names do"}
    ]
    assert said["missing"]["by_column"] == {"v0": 3}
    assert (said["keep"], said["rows_of"], said["weights"]) == (["age", "sex"], ["patient"], [])
    assert json.dumps(said)
    text, printed = page(found), " ".join(str(found).split())
    for part in (
        "Kept as covariates in every fit, and never selected: age, sex.",
        "Rows with the same patient are resampled and split together.",
    ):
        assert part in text
        assert part in printed
    assert "has a different value in every row" in text
    assert "3 values of the variables are missing, in 3 of 120 rows" in text
    assert "What was done with each of the 17 columns" in text


def test_the_stability_path_is_one_call(data):
    found = selection(data, SELECTORS["stability-pfer"])
    path = found.stability_path()
    assert path.probabilities.shape == (30, 12)
    assert path.names == tuple(f"v{j}" for j in range(12))
    found.selector._data = None  # as after a large table
    np.testing.assert_array_equal(found.stability_path().probabilities, path.probabilities)


@pytest.mark.parametrize("name", ["knockoffs", "lasso", "splitting", "knockoffs-frequency"])
def test_the_stability_path_is_one_call_after_any_method(data, name):
    found = selection(data, SELECTORS[name])
    path = found.stability_path()
    assert path.probabilities.shape == (30, 12)
    assert path.threshold is None
    np.testing.assert_array_equal(path.support, found.selector.support_)
    # at the smallest penalties every half of the rows finds what is there, by its definition
    assert path.probabilities[-1, data.support].min() == 1.0
    assert path.plot().axes[0].get_ylabel() == "selection probability"
    found.selector._data = None
    with pytest.raises(ArgumentError, match="fit it again for a stability path"):
        found.selector.stability_path()
    np.testing.assert_array_equal(found.stability_path().probabilities, path.probabilities)


def test_the_stability_path_of_an_automatic_choice(data):
    chosen = AutoSelection(n_resamples=20, random_state=0)
    path = selection(data, chosen).stability_path()
    np.testing.assert_array_equal(path.support, chosen.support_)


def test_what_was_chosen_stands_under_the_title(data):
    chosen = AutoSelection(n_resamples=20, random_state=0)
    found = selection(data, chosen)
    assert found.chosen == found.to_dict()["chosen"] == chosen.reason_
    for printed in (str(found), str(chosen.summary())):
        text = " ".join(printed.split())
        assert text.startswith(f"{found.summary.title} {chosen.reason_}")
        assert text.count(chosen.reason_) == 1
    text = page(found)
    assert text.index(chosen.reason_) < text.index("class=lead") < text.index("class=figures")
    assert text.count(chosen.reason_) == 1
    assert selection(data, SELECTORS["lasso"]).chosen == ""


def test_what_a_person_should_act_on_is_apart_from_what_is_only_told(data):
    table = {f"v{j}": data.X[:, j] for j in range(12)}
    table |= {"same": np.ones(120), "site": np.arange(120) % 4 + 1, "y": data.y}
    found = select(table, "y", method="lasso", lam=0.05)
    asked = [one for one in found.cautions if "names of groups, say so" in one]
    assert found.to_check == tuple(asked)
    assert any("left out: 'same'" in one for one in found.cautions)
    lines = str(found).splitlines()
    assert sum(line.startswith("Check: 'site'") for line in lines) == 1
    assert sum(line.startswith("Note: 1 column is left out") for line in lines) == 1
    text = page(found)
    box = text[text.index("Check this first") : text.index("class=figures")]
    assert "names of groups" in box
    assert "left out" not in box
    assert found.next_steps[0].startswith("Settle what is to be checked")
    assert found.to_dict()["to_check"] == list(found.to_check)


def test_what_to_do_next_fits_the_answer(data):
    selector = StabilitySelection(0.02, n_resamples=100, random_state=0)
    hopeless = selection(data, selector.set_params(threshold=0.3))
    assert "even 1,000 resamples may not settle them" in " ".join(hopeless.notes)
    assert not any("--n-resamples" in step for step in hopeless.next_steps)
    close = selection(data, selector.set_params(threshold=0.5))
    assert close.close["close calls"]
    wanted = close.selector.stability_.suggested
    assert 100 < wanted < 1000
    step = next(one for one in close.next_steps if f"(--n-resamples {wanted})" in one)
    assert f"about {wanted} instead of 100 resamples" in step
    assert step.endswith("(--n-resamples auto).")
    assert any("Confirm" in step for step in close.next_steps)
    noise = np.random.default_rng(0).standard_normal(120)
    names = [f"v{j}" for j in range(12)]
    empty = answer(KnockoffSelection(0.05, random_state=0), data.X, noise, names, "y")
    assert any("An empty list does not say" in step for step in empty.next_steps)
    assert not any("Confirm" in step for step in empty.next_steps)
    free = selection(data, SELECTORS["lasso"])
    assert any("--method auto" in step for step in free.next_steps)
    for found in (close, empty, free):
        assert found.to_dict()["next_steps"] == list(found.next_steps)
        for step in found.next_steps:
            assert f"Next: {step}" in " ".join(str(found).split())


def test_levels_of_categories_have_names_and_effects(data):
    tissue = np.array(["liver", "lung", "skin"])[np.arange(120) % 3]
    tissue[:20] = "liver"
    y = data.y + 3.0 * (tissue == "lung") - 2.0 * (tissue == "skin")
    table = {f"v{j}": data.X[:, j] for j in range(12)} | {"tissue": tissue, "y": y}
    found = select(table, "y", method="lasso", lam=0.02)
    row = next(row for row in found.rows if row["variable"] == "tissue")
    assert row["direction"] == "lung > liver > skin"
    chosen = [name for name in found.selected if name != "tissue"]
    columns = [np.ones(120), *(table[name] for name in chosen), tissue == "lung", tissue == "skin"]
    coef = np.linalg.lstsq(np.column_stack(columns).astype(float), y, rcond=None)[0]
    expected = {"lung": coef[-2], "liver": 0.0, "skin": coef[-1]}
    assert list(found.levels["tissue"]) == list(expected)
    np.testing.assert_allclose(
        list(found.levels["tissue"].values()), list(expected.values()), rtol=1e-6, atol=1e-12
    )
    assert found.to_dict()["levels"] == found.levels
    assert "Levels of the selected categories" in page(found)
    assert row["effect per unit"] == pytest.approx(coef[-2] - coef[-1], rel=1e-6)


def test_long_and_wide_names_fit_a_terminal(data):
    long = [f"{'systolic blood pressure ' * 4}{j}" for j in range(10)]
    names = [*long, "名前の長い変数" * 6, "שם ארוך מאוד " * 5]
    found = selection(data, SELECTORS["lasso"], names)
    printed = str(found)
    lines = printed.splitlines()
    table = lines[lines.index("") :]
    assert all(text_width(line) <= 80 for line in table)
    assert "systolic blood" in printed
    assert "\N{HORIZONTAL ELLIPSIS}" in printed
    same = [f"{'a' * 60}{j}{'b' * 60}" for j in range(12)]
    kept = str(selection(data, SELECTORS["lasso"], same))
    assert all(name in kept for name in selection(data, SELECTORS["lasso"], same).selected)
    text = page(found)
    assert all(f"<bdi>{name}</bdi>" in text for name in found.selected)


@pytest.mark.parametrize(
    ("method", "settings"),
    [("auto", {"n_resamples": 20}), ("stability-pfer", {"n_resamples": 20}), ("lasso", {})],
)
def test_the_lines_of_python_give_the_same_answer(data, tmp_path, monkeypatch, method, settings):
    monkeypatch.chdir(tmp_path)
    columns = {f"v'{j}": data.X[:, j].tolist() for j in range(12)}
    columns |= {"sex": ["f", "m"] * 60, "w": [1.0, 2.0] * 60, "y": data.y.tolist()}
    rows = [
        dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)
    ]
    Table.of(rows).to_csv(tmp_path / "a table.csv")
    found = select(
        "a table.csv", "y", method=method, keep="sex", weights="w", drop=["v'3"], **settings
    )
    assert found.provenance.file.name == "a table.csv"
    assert found.to_dict()["date"]
    assert found.code.startswith("import selica\n")
    space = {}
    exec(found.code.replace("print(found)", ""), space)
    assert space["found"].summary.variables.rows == found.summary.variables.rows


def test_a_table_that_is_no_file_is_called_table(data):
    table = {f"v{j}": data.X[:, j] for j in range(12)} | {"y": data.y}
    found = select(table, "y", method="lasso", lam=0.1)
    assert found.provenance.file is None
    call = "selica.select(table,'y',method=LassoSelection(lam=0.1,random_state=0),)"
    assert call in "".join(found.code.split())


def test_settings_of_an_automatic_choice_are_those_of_what_it_chose(data):
    chosen = AutoSelection(n_resamples=20, random_state=0)
    found = selection(data, chosen)
    assert found.used["method"] == chosen.method_
    assert found.used["n_copies"] == 20
    assert found.used["pfer"] == 1.0
    assert found.used["threshold"] == chosen.selector_.threshold_
    assert found.used["sampler"] == "gaussian"
    text = page(found)
    assert f"<td>method</td><td>auto: {chosen.method_} (" in text
    assert "(pfer)</td><td>1</td>" in text
    evalues = selection(data, SELECTORS["knockoffs-evalues"])
    assert evalues.used["fdr"] == 0.3
    assert evalues.used["copy_fdr"] == 0.15
