"""The page without a browser: what it shows, what it makes of bad addresses and hostile files."""

from __future__ import annotations

import json
import subprocess
import sys
from threading import Event, Thread
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest
from typer.testing import CliRunner

from selica import catalogue, planning, theory
from selica.app import controls, dragging, page, plan, prediction
from selica.app.turns import Turns
from selica.cli import app as command_line
from tests.app.pages import bodies, opened


def shown_only(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """Leave all other methods out of the tab Plan: they take time."""
    monkeypatch.setattr(plan, "planned", lambda: [catalogue.method(name) for name in names])


def power_shown(at: Any, method: str) -> float:
    row = bodies(at).split(f"<td>{method}</td><td>")[1]
    return float(row.split("<")[0])


def test_predict_shows_the_power_of_the_theory_and_follows_the_sliders() -> None:
    at = opened(n="600", p="500", k="50", r2="0.8", fdr="0.2")
    assert not at.exception
    rho = 50 / 500
    for n in (600, 900):
        at.slider(key="n").set_value(n).run()
        model = theory.Model(n / 500, rho, rho * 0.2 / 0.8)
        for method, label in (
            ("knockoffs-frequency", "knockoffs, share of copies"),
            ("lasso", "lasso"),
        ):
            expected = theory.power(model, method, fdr=0.2)
            assert power_shown(at, label) == pytest.approx(expected, abs=6e-4)


def test_predict_says_that_thresholds_are_ideal_and_what_procedures_reach() -> None:
    """In a sparse study the ideal threshold finds much, and knockoffs find little."""
    at = opened(n="200", p="1000", k="10", r2="0.5", fdr="0.1")
    assert not at.exception
    html = bodies(at)
    first = html.index("power at the ideal threshold, which nobody knows in practice")
    assert first < html.index("<table")
    assert power_shown(at, "knockoffs, ideal") > 0.35
    found = planning.compare_methods(200, 1000, 10, r2=0.5, fdr=0.1)
    for one in catalogue.methods(beside_ideal=True):
        want = found.one(one.name)
        row = f"<td>{want.power:.3f}</td><td>{want.fdr:.3f}</td>"
        assert f"<td>{one.label}</td>{row}" in html
    assert power_shown(at, "knockoffs, one copy") < 0.1
    assert power_shown(at, "knockoffs, e-values of copies") < 0.1
    assert found.study.assumptions in html
    again = at.run()  # what is known is drawn at once
    assert bodies(again) == html


@pytest.mark.parametrize(
    ("choice", "law"),
    [("All equal", theory.PointEffects()), ("Laplace (a few large)", theory.LaplaceEffects())],
)
def test_the_law_of_the_effects_can_be_chosen(choice: str, law: theory.Effects) -> None:
    at = opened(n="600", p="500", k="50", r2="0.8", fdr="0.2", effects=choice)
    assert not at.exception
    expected = theory.power(theory.Model(1.2, 0.1, 0.025, law), "knockoffs-frequency", fdr=0.2)
    assert power_shown(at, "knockoffs, share of copies") == pytest.approx(expected, abs=6e-4)
    assert f"a linear response and {law.label}." in bodies(at)


def test_effects_of_ones_own_are_as_many_as_signals() -> None:
    at = opened(n="100", p="50", r2="0.8", fdr="0.2", effects="My own list", list="1, -2 3,1.5")
    assert not at.exception
    assert "4 signals among 50 variables" in bodies(at)
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
    at = opened(p="50", effects="My own list", list=text)
    assert not at.exception
    assert f"The effects {said}" in bodies(at)
    assert "<table" not in bodies(at)


def test_one_signal_is_one() -> None:
    assert "1 signal among 500 variables" in bodies(opened(k="1"))


@pytest.mark.parametrize(
    ("told", "samples"),
    [(("n", 600.0), 600), (("n", 1e9), 5000), (("n", -3.0), 50), (("other", 600.0), 400)],
)
def test_a_slider_that_is_dragged_is_followed(
    monkeypatch: pytest.MonkeyPatch, told: tuple[str, float], samples: int
) -> None:
    at = opened()
    assert "500 variables, 400 samples" in bodies(at)
    monkeypatch.setattr(controls, "dragged", lambda: told)
    at.run()
    assert not at.exception
    assert f"500 variables, {samples} samples" in bodies(at)
    assert at.slider(key="n").value == 400
    at.slider(key="n").set_value(700).run()  # the end of the drag comes together with its middle
    assert "500 variables, 700 samples" in bodies(at)


def test_what_a_browser_says_of_a_drag_is_checked() -> None:
    assert dragging.said({"key": "n", "value": 500}) == ("n", 500.0)
    for nonsense in (None, 3, {}, {"key": "n"}, {"key": "n", "value": "x"}, {"value": 1}):
        assert dragging.said(nonsense) is None
    for value in (float("nan"), float("inf"), "-inf", 10**400):
        assert dragging.said({"key": "n", "value": value}) is None


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
    drawn = found.curves()
    assert 0.073 not in drawn["fdr"]
    assert {len(part) for part in drawn.values()} == {len(prediction.STYLES) * 16}


def test_details_are_drawn_when_they_are_open() -> None:
    assert "Q_hat" not in bodies(opened())
    at = opened(details="true")
    assert not at.exception
    rows = bodies(at).split("<th>threshold</th>")[1]
    study = prediction.PageStudy(400, 500, 100, 0.95)
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
        "import sys; from selica.app import charts, prediction as p\n"
        "found = p.predict(p.PageStudy(400, 500, 100, 0.95)).curves()\n"
        "charts.curves(found, p.STYLES, ('fdr', 'rate'), vertical=0.1)\n"
        "assert 'pandas' not in sys.modules and 'scipy.interpolate' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, timeout=120)


def test_a_link_reproduces_a_view() -> None:
    at = opened(n="800", fdr="0.25")
    assert (at.slider(key="n").value, at.slider(key="fdr").value) == (800, 0.25)
    assert at.slider(key="p").value == 500


@pytest.mark.parametrize(
    "address",
    [
        {"n": "many"},
        {"n": "-3", "p": "1e99", "k": "nan"},
        {"r2": "2", "fdr": "<script>"},
        {"tab": "Nowhere"},
        {"tab": "Select", "method": "../../etc/passwd", "data": "x", "pfer": "inf"},
        {"tab": "Plan", "power": ""},
    ],
)
def test_bad_values_in_the_address_are_ignored(
    address: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    shown_only(monkeypatch, "knockoffs")
    at = opened(**address)
    assert not at.exception
    for slider in at.slider:
        assert slider.min <= slider.value <= slider.max


def test_more_signals_than_variables() -> None:
    at = opened(p="100", k="300")
    assert not at.exception
    assert "There are 100 variables" in at.caption[0].value


def ran(command: str) -> Any:
    """What a command that the page shows prints as JSON, for two methods only."""
    words = [*command.split()[1:], "--json", "--method", "stability-fdr", "--method", "knockoffs"]
    result = CliRunner().invoke(command_line, words)
    assert result.exit_code == 0
    return json.loads(result.stdout)


def test_plan_says_how_many_samples_and_what_to_run(monkeypatch: pytest.MonkeyPatch) -> None:
    shown_only(monkeypatch, "stability-fdr", "knockoffs")
    at = opened(tab="Plan", p="200", k="40", r2="0.9", fdr="0.2", power="0.6")
    assert not at.exception
    need = planning.required_samples(
        0.6, n_features=200, n_signals=40, r2=0.9, fdr=0.2, method="stability-fdr"
    ).one("stability-fdr")
    assert f"<td>{need.value:,.0f}</td>" in bodies(at)
    samples, compare, fit, otherwise = (block.value for block in at.code)
    assert otherwise.startswith("KnockoffSelection(fdr=0.2")
    told = ran(samples)
    assert (told["fdr"], told["target"]) == (0.2, 0.6)
    assert told["best"] == {"method": "stability-fdr", "value": need.value}
    told = ran(compare)
    assert (told["n_samples"], told["n_features"], told["fdr"]) == (need.value, 200, 0.2)
    assert told["methods"][0]["power"] == pytest.approx(need.prediction.power)
    compile(fit, "snippet", "exec")
    assert need.prediction.code in fit


def test_the_page_recommends_what_the_command_line_does(monkeypatch: pytest.MonkeyPatch) -> None:
    """What needs fewest samples here does not keep the level."""
    names = ("stability-fdr", "stability-pfer")
    shown_only(monkeypatch, *names)
    at = opened(tab="Plan", p="2000", k="3", r2="0.5", fdr="0.1", power="0.5")
    assert not at.exception
    html = bodies(at)
    words = [*at.code[0].value.split()[1:], "--json"]
    words += [word for name in names for word in ("--method", name)]
    told = json.loads(CliRunner().invoke(command_line, words).stdout)
    assert told["best"]["method"] == "stability-pfer"
    assert f"Fewest samples: {told['best']['value']:,} with stability, PFER bound." in html
    above, kept = told["methods"]
    assert above["value"] < kept["value"]
    reason = told["left_out"][0]["reason"]
    assert f"Left out: {above['value']:,} with stability, p-values: {reason}." in html
    assert f"<td>{above['power']:.2f}</td><td>{above['fdr']:.3f}</td>" in html
    assert "<th>FDR</th>" in html
    assert told["assumptions"] in html
    equal = f"{told['with_equal_effects']:,} samples"
    assert f"With equal effects instead of Gaussian effects, {equal} would be enough." in html


def test_a_plan_for_effects_of_ones_own(monkeypatch: pytest.MonkeyPatch) -> None:
    shown_only(monkeypatch, "stability-fdr", "knockoffs")
    address = {"p": "60", "r2": "0.9", "power": "0.6", "fdr": "0.2"}
    at = opened(tab="Plan", effects="My own list", list="-1,2,3,4,2,2,2,1,1,3,3,3", **address)
    assert not at.exception
    told = ran(at.code[0].value)
    assert (told["n_signals"], told["effects"]) == (12, "12 given effects")
    assert f"Fewest samples: {told['best']['value']:,} with" in bodies(at)


def test_a_plan_begins_with_estimates_and_grows(monkeypatch: pytest.MonkeyPatch) -> None:
    shown_only(monkeypatch, "stability-fdr", "knockoffs")
    least, first, *between, last = plan.plans(0.6, 200, 40, 0.9, 0.2)
    assert [len(each.needs) for each in (least, first, *between, last)] == [0, 0, 1, 2, 2, 2]
    assert [row["samples"] for row in least.rows] == ["…", "…", f"{last.ceiling.samples}"]
    assert set(least.curves["method"]) == {"best possible"}
    at_once = {row["method"]: row["samples"] for row in first.rows}
    assert at_once.pop("best possible") == f"{first.ceiling.samples}"
    for need in last.needs:
        about = at_once[need.method]
        assert about.startswith("≈ ")
        assert int(about[2:].replace(",", "")) == pytest.approx(need.samples, rel=0.05)
    assert "…" not in str(last.rows)
    assert "≈" not in str(last.rows)
    assert first.ceiling.row == last.ceiling.row
    for drawn in (first.curves, last.curves):
        assert len(set(drawn["method"])) == 3
        ends = dict(zip(drawn["method"], drawn["n"], strict=True))  # all curves end together
        assert min(ends.values()) >= last.needs[1].samples


def test_a_plan_can_be_left_half_way(monkeypatch: pytest.MonkeyPatch) -> None:
    shown_only(monkeypatch, "stability-fdr", "knockoffs")
    known: list[None] = []

    def told() -> None:
        known.append(None)
        if len(known) > 4:
            raise KeyboardInterrupt

    seen = []
    with pytest.raises(KeyboardInterrupt):
        seen.extend(plan.plans(0.6, 200, 40, 0.9, 0.2, on_step=told))
    assert 2 <= len(seen) < 6
    whole = list(plan.plans(0.6, 200, 40, 0.9, 0.2))
    assert len(whole) == 6


def test_plan_says_when_no_number_of_samples_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan, "MOST_SAMPLES", 60)
    shown_only(monkeypatch, "knockoffs")
    at = opened(tab="Plan", p="300", k="30", r2="0.1", power="0.9")
    assert not at.exception
    assert "No method reaches this power" in bodies(at)
    assert not at.code


def test_a_table_on_the_page_is_escaped() -> None:
    def script() -> None:
        from selica.app import markup

        markup.table([{"<i>": "<img src=x onerror=alert(1)>"}])
        markup.problem("<script>alert(1)</script>")
        markup.cards({"<b>": "<b>"})
        markup.legend([("<b>", '"><b>', (1.0, 2.0))])

    at = AppTest.from_function(script).run()
    assert not at.exception
    assert not [tag for tag in ("<i>", "<img", "<script", "<b><", '"><b>') if tag in bodies(at)]


def test_a_method_looks_the_same_on_every_tab() -> None:
    for style in (*plan.styles(), *prediction.STYLES):
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
