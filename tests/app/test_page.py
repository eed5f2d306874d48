"""The page without a browser: what it shows, what it makes of bad addresses and hostile files."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from threading import Event, Thread
from typing import Any

import numpy as np
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest
from typer.testing import CliRunner

from selica import catalogue, planning, theory
from selica.app import controls, page, plan, prediction, reached
from selica.app.apart import Apart
from selica.app.asked import Asked
from selica.app.turns import Turns
from selica.cli import app as command_line
from selica.planning.predict.ceiling import CEILING
from selica.plots.style import line_style
from tests.app.pages import bodies, opened

SMALL = {"n": "600", "p": "500", "k": "50", "r2": "0.8", "fdr": "0.2"}


@pytest.fixture(autouse=True)
def nothing_known() -> Iterator[None]:
    """Plans are remembered by the server; a test that leaves methods out must not share them."""
    st.cache_resource.clear()
    yield
    st.cache_resource.clear()


def shown_only(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """Leave all other methods out of the page: they take time."""
    few = [catalogue.method(name) for name in names]
    for module in (plan, reached):
        monkeypatch.setattr(module, "procedures", lambda asked: few)


def power_shown(at: Any, method: str) -> float:
    row = bodies(at).split(f"<td>{method}</td><td>")[1]
    return float(row.split("<")[0])


def drawn(at: Any) -> list[dict[str, Any]]:
    """The charts of the page, as the browser is told of them."""
    from html import unescape

    parts = bodies(at).split('data-chart="')[1:]
    return [json.loads(unescape(part.split('"')[0])) for part in parts]


def test_predict_shows_procedures_first_and_then_the_ideal() -> None:
    """In a sparse study the ideal threshold finds much, and knockoffs find little."""
    at = opened(n="200", p="1000", k="10", r2="0.5", fdr="0.1")
    assert not at.exception
    html = bodies(at)
    assert html.index("What procedures reach") < html.index("Ideal: nobody knows this threshold")
    assert power_shown(at, "knockoffs, ideal") > 0.35
    found = planning.compare_methods(200, 1000, 10, r2=0.5, fdr=0.1)
    procedures = [one for one in found.predictions if catalogue.method(one.method).calibrated]
    best = [one for one in procedures if one.settings == "best"]
    for one in best:
        assert power_shown(at, one.label) == pytest.approx(one.power, abs=6e-4)
    places = [html.index(f"<td>{one.label}</td>") for one in sorted(best, key=lambda o: -o.power)]
    assert places == sorted(places)
    assert f"Most power: {found.best.label}, with its best settings; " in html
    assert found.study.assumptions in html
    again = at.run()  # what is known is drawn at once
    assert bodies(again) == html


def test_the_ideal_is_that_of_the_theory_and_follows_the_address(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shown_only(monkeypatch, "stability-fdr")
    at = opened(**SMALL)
    assert not at.exception
    rho = 50 / 500
    for n in (600, 900):
        at.query_params["n"] = str(n)
        at.run()
        model = theory.Model(n / 500, rho, rho * 0.2 / 0.8)
        for method, label in (
            ("knockoffs-frequency", "knockoffs, share of copies"),
            ("lasso", "lasso"),
        ):
            expected = theory.power(model, method, fdr=0.2)
            assert power_shown(at, label) == pytest.approx(expected, abs=6e-4)


@pytest.mark.parametrize(
    ("choice", "law"),
    [
        ("point", theory.PointEffects()),
        ("laplace", theory.LaplaceEffects()),
        ("Laplace (a few large)", theory.LaplaceEffects()),  # a link from before
    ],
)
def test_the_law_of_the_effects_can_be_chosen(
    choice: str, law: theory.Effects, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown_only(monkeypatch, "stability-fdr")
    at = opened(**SMALL, effects=choice)
    assert not at.exception
    expected = theory.power(theory.Model(1.2, 0.1, 0.025, law), "knockoffs-frequency", fdr=0.2)
    assert power_shown(at, "knockoffs, share of copies") == pytest.approx(expected, abs=6e-4)
    assert f"a linear response and {law.label}." in bodies(at)


def test_effects_of_ones_own_are_as_many_as_signals(monkeypatch: pytest.MonkeyPatch) -> None:
    shown_only(monkeypatch, "stability-fdr")
    at = opened(n="100", p="50", r2="0.8", fdr="0.2", effects="list", list="1, -2 3,1.5")
    assert not at.exception
    assert "50 variables, 4 signals" in bodies(at)
    law = theory.EmpiricalEffects([1.0, -2.0, 3.0, 1.5])
    expected = theory.power(theory.Model(2.0, 0.08, 0.02, law), "knockoffs-frequency", fdr=0.2)
    assert power_shown(at, "knockoffs, share of copies") == pytest.approx(expected, abs=6e-4)
    assert "a linear response and 4 given effects." in bodies(at)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("many", "must be numbers; got &#x27;many&#x27;"),
        (" ", "must not be empty"),
        ("0, 0", "must not all be zero"),
        ("gaussian", "must be numbers"),
        (",".join(["1"] * 60), "must be at most 50 numbers, one for each variable"),
    ],
)
def test_effects_that_make_no_sense_get_a_sentence(text: str, said: str) -> None:
    at = opened(p="50", effects="list", list=text)
    assert not at.exception
    assert f"The effects {said}" in bodies(at)
    assert "<table" not in bodies(at)


def test_effects_with_a_size_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    shown_only(monkeypatch, "stability-fdr")
    at = opened(p="200", effects="sizes", sizes="0.4, 0.3, -0.2")
    assert not at.exception
    study = planning.Study.of(200, 200, effects=planning.Betas([0.4, 0.3, -0.2]))
    assert study.n_signals == 3
    assert "betas 0.4, 0.3, -0.2" in bodies(at)
    too_much = opened(p="200", effects="sizes", sizes="0.9, 0.9")
    assert "betas must explain less than all of the variance" in bodies(too_much)
    assert not too_much.exception


def test_a_level_between_two_positions_of_its_slider_is_predicted_too() -> None:
    study = prediction.PageStudy(600, 500, 50, 0.8)
    assert prediction.known(0.07)
    assert not prediction.known(0.073)
    found = prediction.predict(study, 0.073)
    for line in found.lines:
        at = int(np.searchsorted(found.levels, 0.073))
        rate = {"mu_B": line.mu_B} if line.method == prediction.STABILITY else {}
        assert line.tpr[at] == pytest.approx(
            theory.power(study.model, line.method, 0.073, **rate), rel=1e-7
        )
    lines = found.chart("a study", 0.073).lines
    assert len(lines) == len(prediction.STYLES)
    assert {len(line.x) for line in lines} == {16}


def test_details_are_drawn_when_they_are_open(monkeypatch: pytest.MonkeyPatch) -> None:
    shown_only(monkeypatch, "stability-fdr")
    assert "Q_hat" not in bodies(opened())
    at = opened(details="true")
    assert not at.exception
    rows = bodies(at).split("<th>threshold</th>")[1]
    study = prediction.PageStudy(200, 1000, 10, 0.5)
    for method in ("lasso", "knockoffs-ideal", "stability-ideal"):
        lam = theory.optimal_lam(study.model, method)
        if method != "lasso":  # the page moves the lasso's own
            assert f"<td>{lam:.4g}</td>" in rows
    found = theory.operating_point(study.model, "lasso", 0.1)
    assert f"<td>lam {found.threshold:.4g}</td><td>{found.threshold:.4g}</td>" in rows
    assert f"<td>{found.solution.Q_hat:.4g}</td>" in rows


def test_the_curves_need_no_pandas() -> None:
    """It takes half a second of the first view."""
    code = (
        "import sys; from selica.app import prediction as p\n"
        "p.predict(p.PageStudy(400, 500, 100, 0.95)).chart('', 0.1).data()\n"
        "assert 'pandas' not in sys.modules and 'scipy.interpolate' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, timeout=120)


def test_a_chart_has_what_a_file_of_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    shown_only(monkeypatch, "stability-fdr")
    (chart,) = drawn(opened(**SMALL))
    assert chart["setting"].startswith(
        "600 samples, 500 variables, 50 signals, R²\N{NO-BREAK SPACE}0.8"
    )
    assert chart["title"].startswith("Ideal")
    assert [rule["at"] for rule in chart["rules"]] == [0.2]
    assert len(chart["lines"]) == len(prediction.STYLES)
    (point,) = chart["points"]  # what the procedure reaches
    assert 0.0 < point["y"] < 1.0
    assert point["label"] == catalogue.method("stability-fdr").label


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ({"n": "many"}, ["n=many (a whole number from 20 to 1,000,000"]),
        ({"n": "-3", "p": "1e99", "k": "nan"}, ["n=-3", "p=1e99", "k=nan"]),
        ({"r2": "2", "fdr": "<script>"}, ["r2=2", "fdr=&lt;script&gt;"]),
        ({"effects": "none", "response": "x", "columns": "[]"}, ["effects=none (one of gaussian"]),
        ({"tab": "Nowhere"}, []),
        ({"tab": "Select", "method": "../../etc/passwd", "data": "x", "pfer": "inf"}, []),
        ({"tab": "Plan", "power": "", "p": "100"}, ["power= "]),
        ({"tab": "Theory", "lam": "-1", "mu": "1e400"}, ["lam=-1", "mu=1e400"]),
    ],
)
def test_bad_values_in_the_address_are_ignored(
    address: dict[str, str], said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    shown_only(monkeypatch, "stability-pfer")
    at = opened(**address)
    assert not at.exception
    html = bodies(at)
    assert all(text in html for text in said)
    assert ("no sense" in html) == bool(said)
    if address.get("tab") != "Select":
        assert "<table" in html


def ran(command: str) -> Any:
    """What a command that the page shows prints as JSON, for two methods only."""
    words = [*command.split()[1:], "--json", "--method", "stability-fdr", "--method", "knockoffs"]
    result = CliRunner().invoke(command_line, words)
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def typed(at: Any) -> list[str]:
    """The commands that the page shows, without their comments."""
    block = next(block.value for block in at.code if "plan samples" in block.value)
    return [line for line in block.splitlines() if line.startswith("selica ")]


def test_plan_says_how_many_samples_and_what_to_run(monkeypatch: pytest.MonkeyPatch) -> None:
    shown_only(monkeypatch, "stability-fdr", "knockoffs")
    at = opened(tab="Plan", p="200", k="40", r2="0.9", fdr="0.2", power="0.6")
    assert not at.exception
    need = planning.required_samples(
        0.6, n_features=200, n_signals=40, r2=0.9, fdr=0.2, method="stability-fdr"
    ).one("stability-fdr")
    assert f"<td>{need.value:,.0f}</td>" in bodies(at)
    samples, compare = typed(at)
    told = ran(samples)
    assert (told["fdr"], told["target"]) == (0.2, 0.6)
    assert told["best"] == {"method": "stability-fdr", "value": need.value}
    told = ran(compare)
    assert (told["n_samples"], told["n_features"], told["fdr"]) == (need.value, 200, 0.2)
    assert told["methods"][0]["power"] == pytest.approx(need.prediction.power)
    fit = at.code[-1].value
    compile(fit, "snippet", "exec")
    assert need.prediction.code in fit
    assert "# KnockoffSelection(fdr=0.2" in fit
    assert "Sample size justification\n" not in str([block.value for block in at.code])
    paper = opened(tab="Plan", p="200", k="40", r2="0.9", fdr="0.2", power="0.6", paper="true")
    text = paper.code[0].value
    assert text.startswith("Sample size justification\n")
    assert f"n = {need.value:,.0f} samples" in text
    few = ["--method", "stability-fdr", "--method", "knockoffs"]
    told = CliRunner().invoke(command_line, [*samples.split()[1:], "--protocol", *few])
    # but for the command, which names the methods that this test is limited to
    assert told.stdout.split("Command:")[0].split() == text.split("Command:")[0].split()
    assert text.endswith(f"Command: {samples}")


def test_the_page_recommends_what_the_command_line_does(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("stability-fdr", "stability-pfer")
    shown_only(monkeypatch, *names)
    at = opened(tab="Plan", p="2000", k="3", r2="0.5", fdr="0.1", power="0.5")
    assert not at.exception
    html = bodies(at)
    words = [*typed(at)[0].split()[1:], "--json"]
    words += [word for name in names for word in ("--method", name)]
    told = json.loads(CliRunner().invoke(command_line, words).stdout)
    label = catalogue.method(told["best"]["method"]).label
    assert f"Fewest samples: {told['best']['value']:,} with {label}." in html
    for out in told.get("left_out", ()):
        assert f"{out['reason']}." in html
    assert "<th>FDR</th>" in html
    assert told["assumptions"] in html


def said_by(*words: str) -> list[str]:
    """The lines of a command's answer below its tables, without the breaks of a terminal."""
    result = CliRunner().invoke(command_line, [*words])
    assert result.exit_code == 0, result.output
    below = result.stdout.split("\n\n")
    return [" ".join(part.split()).replace(",", "") for part in below]


def test_recommendation_and_rule_are_the_sentences_of_the_command_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    names = ("stability-fdr", "stability-pfer")
    shown_only(monkeypatch, *names)
    few = [word for name in names for word in ("--method", name)]
    study = ["-p", "60", "-k", "10", "--r2", "0.8", "--fdr", "0.1"]
    address = {"p": "60", "k": "10", "r2": "0.8", "fdr": "0.1"}
    for words, tab, value in (
        (["compare", "-n", "100"], "Predict", {"n": "100"}),
        (["samples", "--power", "0.6"], "Plan", {"power": "0.6"}),
    ):
        told = said_by("plan", *words, *study, *few)
        page_says = bodies(opened(tab=tab, **address, **value)).replace(",", "")
        begin = "Most power" if tab == "Predict" else "Fewest samples"
        (block,) = (part for part in told if part.startswith(begin))
        sentences = block.split(". ")
        assert len(sentences) == 5  # what, how many, the rule, the assumptions, what changes it
        for sentence in sentences:
            assert sentence.removesuffix(".") in page_says
        (other,) = (part for part in told if part.startswith("Checks on the data"))
        assert other.split(":\n")[0].split(": selica")[0] in page_says


def test_a_plan_for_effects_of_ones_own(monkeypatch: pytest.MonkeyPatch) -> None:
    shown_only(monkeypatch, "stability-fdr", "knockoffs")
    address = {"p": "60", "r2": "0.9", "power": "0.6", "fdr": "0.2"}
    at = opened(tab="Plan", effects="list", list="-1,2,3,4,2,2,2,1,1,3,3,3", **address)
    assert not at.exception
    told = ran(typed(at)[0])
    assert (told["n_signals"], told["effects"]) == (12, "12 given effects")
    assert f"Fewest samples: {told['best']['value']:,} with" in bodies(at)


ASKED = Asked(200, 40, 0.2, 0.9)


def cells(planned: plan.Plan, column: str) -> list[str]:
    return [str(row.cells[column]) for row in planned.rows()]


def test_a_plan_begins_with_estimates_and_grows(monkeypatch: pytest.MonkeyPatch) -> None:
    shown_only(monkeypatch, "stability-fdr", "knockoffs")
    quick, first, *between, last = plan.plans(0.6, ASKED)
    assert [len(each.needs) for each in (quick, first, *between, last)] == [0, 0, 1, 2, 2, 2]
    # the recommendation does not wait for the curves
    assert [each.found is None for each in between] == [True, False, False]
    assert [each.is_whole for each in (first, *between, last)] == [False] * 4 + [True]
    assert cells(quick, "samples")[1:] == ["…", f"{last.ceiling.samples}"]
    at_once = dict(zip(cells(first, "method"), cells(first, "samples"), strict=True))
    assert at_once.pop("best possible") == f"{first.ceiling.samples}"
    for need in last.needs:
        about = at_once[need.method]
        assert about.startswith("≈ ")
        assert int(about[2:].replace(",", "")) == pytest.approx(need.samples, rel=0.05)
    assert "…" not in str(last.rows())
    assert "≈" not in str(last.rows())
    samples = [int(text) for text in cells(last, "samples")[:-1]]
    assert samples == sorted(samples)
    assert last.best_label == cells(last, "method")[0]
    for each in (first, last):
        assert len(each.lines) == 3
        assert min(line.x[-1] for line in each.lines) >= last.needs[1].samples  # they end together
    assert len(last.chart().marks) == 3


def test_a_plan_can_be_left_half_way(monkeypatch: pytest.MonkeyPatch) -> None:
    shown_only(monkeypatch, "stability-fdr", "knockoffs")
    known: list[None] = []

    def told() -> None:
        known.append(None)
        if len(known) > 5:
            raise KeyboardInterrupt

    seen = []
    with pytest.raises(KeyboardInterrupt):
        seen.extend(plan.plans(0.6, ASKED, on_step=told))
    assert 2 <= len(seen) < 6


def test_plan_says_when_no_number_of_samples_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    shown_only(monkeypatch, "knockoffs-pvalues")
    at = opened(tab="Plan", p="100", k="3", r2="0.1", power="0.99")
    assert not at.exception
    said = "No method that sets its threshold from the data reaches a power of 0.99 and keeps"
    assert said in bodies(at)
    assert not at.code


def test_more_signals_than_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    shown_only(monkeypatch, "stability-fdr")
    at = opened(p="100", k="300")
    assert not at.exception
    assert "100 variables, 100 signals" in bodies(at)


def test_what_is_not_known_yet_is_shown_as_it_was() -> None:
    """Rows of the former setting stay, marked, until those of the new one are there."""
    asked = Asked(200, 10, 0.1, 0.5)
    *_, before = reached.reached(asked, 100)
    first = next(reached.reached(asked, 150))
    former = {str(row.cells["method"]): row.cells for row in before.rows()}
    rows = first.rows(former)
    *procedures, best, _ = before.rows()  # the last one is of one copy, and known last
    assert [row.cells for row in rows[:-1]] == [row.cells for row in procedures]
    assert [row.is_former for row in rows] == [True] * (len(rows) - 1) + [False]
    assert rows[-1].cells != best.cells  # the best possible is known at once
    assert {row.cells["power"] for row in first.rows()[:-1]} == {"…"}
    assert first.comparison is None
    counts = asked._replace(response="counts", details=(("rate", 1.0),))
    planned = next(plan.plans(0.6, counts))
    assert planned.about == {}
    need = plan.Need("knockoffs, one copy", 321, dict(planned.ceiling.row))
    rows = planned.rows({need.method: need})
    assert [row.samples for row in rows if row.is_former][:1] == [321]
    assert not rows[-1].is_former


def test_methods_that_take_long_come_last_and_change_nothing() -> None:
    def order(**study: Any) -> list[str]:
        asked = Asked(60, 5, 0.1, 0.5, **study)
        return [one.method for one in [*reached.reached(asked, 80)][-2].found]

    plain = order()
    counts = order(response="counts", details=(("rate", 1.0),))
    assert plain[0] == "stability-fdr"
    assert plain[: len(plain) // 2][-1] == "knockoffs-evalues"
    assert counts[: len(counts) // 2][-1] == "stability-fdr"
    *some, whole = reached.reached(Asked(60, 5, 0.1, 0.5), 80)
    assert next(one.found[-1].method for one in some if one.is_next_slow) == plain[-2]
    *_, last = reached.reached(Asked(60, 5, 0.1, 0.5, "gaussian", "counts", (("rate", 1.0),)), 80)
    assert [one.method for one in last.found] == [one.method for one in whole.found]


def test_controls_that_do_not_apply_are_hidden() -> None:
    def keys(**values: Any) -> set[str]:
        known = {field.key: field.first for field in controls.STUDY} | values
        return {field.key for field in controls._shown(known, None)}

    plain = {"p", "response", "effects", "k", "r2", "columns", "fdr"}
    assert keys() == plain
    assert keys(columns="ar1") == plain | {"corr"}
    assert keys(columns="block") == plain | {"corr", "block"}
    assert keys(response="binary") == plain - {"columns"} | {"prevalence", "sampling"}
    assert keys(response="binary", sampling="cases") >= {"prevalence", "sampling", "cases"}
    assert keys(response="counts", columns="ar1") == plain - {"columns"} | {"rate"}
    assert keys(response="survival") == plain - {"columns"} | {"events"}
    assert keys(effects="list") == plain - {"k"} | {"list"}
    assert keys(effects="sizes") == plain - {"k", "r2"} | {"sizes"}


def test_the_theory_has_the_numbers_of_the_article_s_equations() -> None:
    at = opened(tab="Theory", lam="0.2", pi="0.8")
    assert not at.exception
    model = theory.Model(0.8, 0.2, 0.01)
    solution = theory.solve_stability(model, 0.2, 2.0)
    rates = solution.rates(0.8)
    html = bodies(at)
    for value in (f"{rates.tpr:.3f}", f"{rates.fdr:.3f}", f"{solution.chi_hat:.4g}"):
        assert f">{value}<" in html
    fields, thresholds = drawn(at)
    # areas beyond the threshold are the shares of variables that are selected
    for colour, share in (("#0072B2", 0.2 * rates.tpr), ("#D55E00", 0.8 * rates.fpr)):
        parts = [area for area in fields["areas"] if area["colour"] == colour]
        assert len(parts) == 2
        whole = sum(np.trapezoid(area["high"], area["x"]) for area in parts)
        assert whole == pytest.approx(share, abs=0.01)
    assert {line["label"] for line in thresholds["lines"]} == {"TPR", "FPR", "FDR"}


def test_a_table_on_the_page_is_escaped() -> None:
    def script() -> None:
        from selica.app import markup

        markup.table([{"<i>": "<img src=x onerror=alert(1)>"}])
        markup.problem("<script>alert(1)</script>")
        markup.cards({"<b>": "<b>"})
        markup.answer("<i>", "<script>")
        markup.notes("<img src=x>")
        markup.ignored(["<script>"])

    at = AppTest.from_function(script).run()
    assert not at.exception
    assert not [tag for tag in ("<i>", "<img", "<script", "<b><b", '"><b>') if tag in bodies(at)]


def test_a_method_looks_the_same_on_every_tab() -> None:
    names = [one.name for one in reached.procedures(ASKED)]
    for style in (*map(line_style, [*names, CEILING]), *prediction.STYLES):
        if ", rate " not in style.label:
            (row,) = catalogue.methods(label=style.label)
            assert (style.colour, style.dash) == (row.colour, row.dash)


def test_all_tabs_are_there() -> None:
    assert [tab.label for tab in opened().tabs] == list(page.TABS)


def test_long_work_takes_turns() -> None:
    turns, order, looked = Turns(), [], Event()

    def other() -> None:
        with turns.turn(looked.set):
            order.append("second")

    thread = Thread(target=other)
    with turns.turn():
        thread.start()
        assert looked.wait(10.0)
        order.append("first")
    thread.join(10.0)
    assert order == ["first", "second"]


def test_one_who_leaves_while_waiting_holds_up_nobody() -> None:
    turns = Turns()

    def leave() -> None:
        raise KeyboardInterrupt

    with turns.turn(), pytest.raises(KeyboardInterrupt), turns.turn(leave):
        pass
    with turns.turn(leave):
        pass


def test_some_work_goes_on_at_the_same_time() -> None:
    turns, looked, ended = Turns(2), Event(), Event()

    def third() -> None:
        with turns.turn(looked.set):
            ended.set()

    thread = Thread(target=third)
    with turns.turn():
        with turns.turn():
            thread.start()
            assert looked.wait(10.0)
            assert not ended.is_set()
        assert ended.wait(10.0)
    thread.join(10.0)


def test_work_apart_is_returned_or_not_waited_for() -> None:
    looked: list[None] = []
    apart = Apart(lambda: looked.append(None))
    assert apart.run(lambda: 3) == 3
    slow = Event()
    assert apart.run(lambda: slow.wait(0.2)) is False
    assert looked  # the page was ready meanwhile
    with pytest.raises(ZeroDivisionError):
        apart.run(lambda: 1 // 0)

    def moved_on() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Apart(moved_on).run(lambda: slow.wait(0.2))
    with pytest.raises(KeyboardInterrupt):
        Apart(moved_on).rest(10.0)
