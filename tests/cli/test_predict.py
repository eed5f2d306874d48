"""`selica predict`: tables, JSON, figures."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from typer.testing import CliRunner

from selica import catalogue, planning, theory
from selica._core.errors import ArgumentError
from selica.cli import app
from tests.cli.commands import assert_one_line, invoke, parsed, run

STUDY = ["-n", "400", "-p", "500", "-k", "100", "--r2", "0.9"]
RATIOS = ["--alpha", "0.8", "--rho", "0.2", "--r2", "0.9"]
MODEL = theory.Model(alpha=400 / 500, rho=100 / 500, Delta=0.2 * 0.1 / 0.9)
IDEAL = [one for one in catalogue.at_ideal() if one.name != "bayes"]
METHODS = [
    one.label if rate is None else f"{one.label}, rate {rate}"
    for one in IDEAL
    for rate in ((1, 2) if one.equations == "stability" else (None,))
]
TITLES = ["Ideal power at FDR", "Penalty and prediction error", "Order parameters", "Conjugates"]


def predict(*args):
    return invoke("predict", *args)


def report(*args):
    return parsed("predict", *args)


def by_name(found):
    return {(row["method"], row["mu_B"]): row for row in found["methods"]}


@pytest.fixture(scope="module")
def study():
    return report(*STUDY)


# --- tables ----------------------------------------------------------------------------------


def tables(text):
    """The lines of each table by its title."""
    found, title = {}, None
    for line in text.splitlines():
        started = [t for t in TITLES if line.startswith(t)]
        if started:
            title = started[0]
            found[title] = []
        elif not line.strip():
            title = None
        elif title and "  " not in line.strip():  # the second line of a name
            name, *numbers = found[title][-1].split("  ", 1)
            found[title][-1] = "  ".join([f"{name} {line.strip()}", *numbers])
        elif title:
            found[title].append(line.rstrip())
    return found


WIDE = {
    "default": STUDY,
    "ratios only": RATIOS,
    "best for power": [*STUDY, "--lam", "power"],
    "fine rates": [*STUDY, "--mu-b", "0.333333", "--mu-b", "12.25", "--lam", "0.1"],
    "small numbers": [*STUDY, "--lam", "0.0001234", "--mu-b", "1.25"],
    "large study": ["-n", "4e6", "-p", "5e6", "-k", "1e6", "--r2", "0.9", "--lam", "0.001234"],
    "every level": [*STUDY, "--fdr", "1", "--lam", "0.1"],
    "no level": [*STUDY, "--fdr", "0", "--lam", "0.1"],
}


@pytest.mark.parametrize("args", WIDE.values(), ids=WIDE.keys())
def test_tables_are_complete_and_fit_a_terminal(args):
    text = predict(*args, "--details")
    assert "…" not in text
    assert max(len(line.rstrip()) for line in text.splitlines()) <= 80
    found = tables(text)
    assert list(found) == TITLES
    for lines in found.values():
        assert lines[0].startswith("method ")
        names = [line.split("  ")[0] for line in lines[1:]]
        for one in IDEAL:
            if one.equations == "stability":
                assert any(name.startswith(f"{one.label}, rate ") for name in names)
            else:
                assert names.count(one.label) == 1


def test_every_method_has_a_row_in_every_table():
    for lines in tables(predict(*STUDY, "--details")).values():
        names = [line.split("  ")[0] for line in lines[1:]]
        assert names == [*METHODS, "best possible"]
    assert list(tables(predict(*STUDY))) == TITLES[:1]


def test_the_table_prints_the_numbers_of_the_json(study):
    lines = tables(predict(*STUDY))["Ideal power at FDR"][1:]
    for line, row in zip(lines, [*study["methods"], study["ceiling"]], strict=True):
        power, fdr, true, false, name, threshold = line.split()[-6:]
        assert power == f"{row['tpr']:.4f}"
        assert fdr == f"{row['fdr']:.4f}"
        assert true == f"{row['true_selections']:.1f}"
        assert false == f"{row['false_selections']:.1f}"
        assert name == row["threshold_name"]
        assert float(threshold) == pytest.approx(row["threshold"], rel=1e-3)


# --- what procedures reach -------------------------------------------------------------------

# A study in which the ideal threshold finds much and knockoffs find nothing.
SPARSE = ["-n", "200", "-p", "1000", "-k", "10", "--r2", "0.5"]


def test_procedures_come_first_and_thresholds_that_nobody_knows_are_marked():
    text = " ".join(predict(*SPARSE).split())
    assert text.startswith("200 samples, 1000 variables, 10 signals, R2 = 0.5, Gaussian effects")
    reached = text.index("Power at FDR 0.1 of procedures that set their threshold from the data:")
    ideal = text.index("Ideal power at FDR 0.1, at thresholds that nobody knows in practice:")
    assert reached < ideal
    assert "knockoffs, ideal" in text[ideal:]
    assert "ideal" not in text[:ideal]
    assert "Assumes independent columns, independent rows, a linear response and" in text


def test_the_strength_as_an_effect_size():
    """100 effects of 0.3 have a variance of 9, so that they explain 0.9."""
    told = report(*STUDY[:6], "--effect-size", "0.3", "--lam", "0.1")
    assert told["model"]["snr"] == pytest.approx(9.0)
    want = report(*STUDY[:6], "--r2", "0.9", "--lam", "0.1")
    for row, other in zip(told["methods"], want["methods"], strict=True):
        assert row["tpr"] == pytest.approx(other["tpr"], abs=1e-9)


def test_what_procedures_reach_stands_beside_the_ideal():
    found = report(*SPARSE)
    ideal = by_name(found)
    assert ideal["knockoffs-ideal", None]["tpr"] > 0.35
    assert ideal["knockoffs-frequency", None]["tpr"] > 0.35
    assert found["thresholds"] == "ideal"
    want = planning.compare_methods(200, 1000, 10, r2=0.5)
    reached = {row["method"]: row for row in found["reached"]}
    assert list(reached) == [one.name for one in catalogue.methods(beside_ideal=True)]
    for name, row in reached.items():
        assert (row["power"], row["fdr"]) == (want.one(name).power, want.one(name).fdr)
    assert reached["knockoffs"]["power"] < 0.1
    assert reached["knockoffs-evalues"]["power"] < 0.1
    lines = predict(*SPARSE).split("set their threshold from the data:")[1].splitlines()
    for row in reached.values():
        (line,) = (line for line in lines if line.startswith(row["label"]))
        numbers = line[len(row["label"]) :].split()
        assert numbers[:2] == [f"{row['power']:.2f}", f"{row['fdr']:.3f}"]


@pytest.mark.parametrize(
    ("args", "reason"),
    [(RATIOS, "-n and -p"), ([*STUDY, "--fdr", "0", "--lam", "0.1"], "--fdr must be between")],
)
def test_where_procedures_have_no_prediction_the_reason_is_said(args, reason):
    found = report(*args)
    assert found["reached"] is None
    assert reason in found["reached_reason"]
    assert reason in " ".join(predict(*args).split("not predicted here")[1].split())


# --- JSON ------------------------------------------------------------------------------------


def solve(method, lam, mu_B):
    equations = catalogue.method(method).equations
    if equations == "stability":
        return theory.solve_stability(MODEL, lam, mu_B)
    if equations == "knockoff":
        return theory.solve_knockoff(MODEL, lam)
    return theory.solve_lasso(MODEL, lam)


def rates_of_rule(row, solution):
    threshold = row["threshold"]
    return {
        "lasso": lambda: solution.rates(),
        "thresholded-lasso": lambda: solution.rates(w_th=threshold),
        "stability-ideal": lambda: solution.rates(Pi_th=threshold),
        "knockoffs-ideal": lambda: solution.single_rates(Z_th=threshold),
        "knockoffs-frequency": lambda: solution.rates(Z_th=0.0, Pi_th=threshold),
    }[row["method"]]()


def test_the_json_holds_what_the_theory_says(study):
    assert study["model"]["alpha"] == 0.8
    assert study["model"]["rho"] == 0.2
    assert study["model"]["Delta"] == pytest.approx(MODEL.Delta, rel=1e-14)
    assert study["model"]["snr"] == pytest.approx(9.0, rel=1e-14)
    assert study["fdr"] == 0.1
    assert study["notes"] == []
    assert list(dict.fromkeys(row["method"] for row in study["methods"])) == [
        one.name for one in IDEAL
    ]
    for row in study["methods"]:
        method, rate = row["method"], row["mu_B"] or 1.0
        assert row["tpr"] == pytest.approx(theory.power(MODEL, method, 0.1, mu_B=rate), rel=1e-8)
        if method != "lasso":
            best = theory.optimal_lam(MODEL, method, rate)
            assert row["lam"] == pytest.approx(best, rel=1e-9)
        solution = solve(method, row["lam"], rate)
        order = ["q", "m", "chi", "v", "Q_hat", "m_hat", "chi_hat", "v_hat"]
        order += ["ensemble_error", "prediction_error"]
        if catalogue.method(method).equations == "knockoff":
            order += ["v_tilde", "chi_tilde", "v_tilde_hat"]
        for name in order:
            assert row[name] == pytest.approx(getattr(solution, name), rel=1e-9), name
        assert row["status"] == "converged"
        rates = rates_of_rule(row, solution)
        assert row["fdr"] == pytest.approx(0.1, abs=1e-8)
        for name in ("tpr", "fpr", "fdr"):
            assert row[name] == pytest.approx(getattr(rates, name), rel=1e-6), name


def test_the_ceiling_is_that_of_the_theory(study):
    assert study["ceiling"]["tpr"] == pytest.approx(theory.power(MODEL, "bayes", 0.1), rel=1e-9)
    assert all(row["tpr"] < study["ceiling"]["tpr"] for row in study["methods"])
    assert study["ceiling"]["lam"] is None


def test_counts_and_penalty_in_units_of_the_study(study):
    for row in study["methods"]:
        assert row["true_selections"] == pytest.approx(100 * row["tpr"], rel=1e-12)
        assert row["false_selections"] == pytest.approx(400 * row["fpr"], rel=1e-12)
        # lam = rows * penalty / (sqrt(p) s), s^2 (rho + Delta) = 1
        s = 1.0 / math.sqrt(0.2 + MODEL.Delta)
        rows = 400 * (row["mu_B"] or 1.0)
        assert row["penalty_on_data"] == pytest.approx(row["lam"] * math.sqrt(500) * s / rows)


def same_numbers(one, other, without=()):
    for a, b in zip(one["methods"], other["methods"], strict=True):
        names = [n for n in a if n in b and n not in (*without, "residual")]
        assert len(names) > 15
        for name in names:
            if isinstance(a[name], float):
                assert a[name] == pytest.approx(b[name], rel=1e-9), name
            else:
                assert a[name] == b[name], name


def test_ratios_say_the_same_as_counts(study):
    other = report("--alpha", "0.8", "--rho", "0.2", "--delta", repr(MODEL.Delta))
    same_numbers(study, other)
    assert "penalty_on_data" not in other["methods"][0]
    assert "true_selections" not in other["methods"][0]


@pytest.mark.parametrize("noise", [["--snr", "9"], ["--Delta", repr(0.02 / 0.9)]])
def test_three_ways_to_say_the_noise(study, noise):
    same_numbers(study, report(*STUDY[:6], *noise))


def test_json_is_json_also_where_a_threshold_is_infinite():
    found = report(*STUDY, "--fdr", "0", "--lam", "0.1")
    for row in found["methods"]:
        assert row["tpr"] == row["fpr"] == row["fdr"] == 0.0


def test_where_no_penalty_keeps_the_level_there_is_none_on_data_either():
    row = by_name(report(*STUDY, "--fdr", "0", "--lam", "0.1"))["lasso", None]
    assert row["lam"] is None
    assert row.get("penalty_on_data") is None


# --- settings --------------------------------------------------------------------------------


def test_rates_in_the_order_given():
    found = report(*RATIOS, "--mu-b", "3", "--mu-B", "0.5", "--mu-b", "1", "--lam", "0.2")
    rates = [row["mu_B"] for row in found["methods"] if row["method"] == "stability-ideal"]
    assert rates == [3.0, 0.5, 1.0]
    for row in found["methods"]:
        if row["method"] == "stability-ideal":
            want = theory.solve_stability(MODEL, 0.2, row["mu_B"])
            assert row["q"] == pytest.approx(want.q, rel=1e-9)
            want = theory.power(MODEL, "stability-ideal", 0.1, 0.2, row["mu_B"])
            assert row["tpr"] == pytest.approx(want, rel=1e-8)


@pytest.mark.parametrize("resampling", ["bernoulli", "exponential"])
def test_resampling_laws(resampling):
    found = report(*RATIOS, "--resampling", resampling, "--mu-b", "0.6", "--lam", "0.2")
    assert found["resampling"] == resampling
    want = theory.solve_stability(MODEL, 0.2, 0.6, resampling)
    assert by_name(found)["stability-ideal", 0.6]["q"] == pytest.approx(want.q, rel=1e-9)


def test_subsampling_takes_half_the_rows_by_default():
    found = report(*RATIOS, "--resampling", "bernoulli", "--lam", "0.2")
    assert [row["mu_B"] for row in found["methods"] if row["mu_B"]] == [0.5]


@pytest.mark.parametrize(
    ("name", "law"), [("laplace", theory.LaplaceEffects()), ("point", theory.PointEffects())]
)
def test_laws_of_effects(name, law):
    found = report(*RATIOS, "--effects", name, "--lam", "0.2")
    assert found["model"]["effects"] == name
    want = theory.solve_lasso(theory.Model(0.8, 0.2, MODEL.Delta, law), 0.2)
    assert by_name(found)["thresholded-lasso", None]["q"] == pytest.approx(want.q, rel=1e-9)


def test_effects_of_ones_own(tmp_path):
    """By numbers or by a file; as many signals as effects."""
    effects = [0.5, -0.3, 0.2, 0.1]
    law = theory.EmpiricalEffects(effects)
    size = ["-n", "100", "-p", "50", "--r2", "0.8", "--lam", "0.2"]
    found = report(*size, "--effects", ",".join(map(str, effects)))
    assert found["model"]["effects"] == "4 given effects"
    assert found["model"]["rho"] == 4 / 50
    want = theory.solve_lasso(theory.Model(2.0, 0.08, 0.02, law), 0.2)
    assert by_name(found)["thresholded-lasso", None]["q"] == pytest.approx(want.q, rel=1e-9)
    (tmp_path / "effects.txt").write_text("".join(f"{x}\n" for x in effects))
    same = report(*size, "-k", "4", "--effects", tmp_path / "effects.txt")
    assert same == found
    assert "4 signals, R2 = 0.8, 4 given effects" in predict(*size, "--effects=0.5,-0.3,0.2,0.1")


def test_a_penalty_by_number_is_used_by_all_but_the_lasso():
    found = report(*RATIOS, "--lam", "0.3")
    for row in found["methods"]:
        if row["method"] != "lasso":
            assert row["lam"] == 0.3
    level = by_name(found)["lasso", None]
    assert level["lam"] == level["threshold"]
    assert level["fdr"] == pytest.approx(0.1, abs=1e-9)


def test_the_best_penalty_for_power():
    found = report(*RATIOS, "--lam", "power")
    for row in found["methods"]:
        if row["method"] != "lasso":
            rate = row["mu_B"] or 1.0
            best = theory.optimal_lam(MODEL, row["method"], rate, "power", fdr=0.1)
            assert row["lam"] == pytest.approx(best, rel=1e-9)
    usual = by_name(report(*RATIOS))
    for key, row in by_name(found).items():
        assert row["tpr"] >= usual[key]["tpr"] - 1e-9


def test_the_level_is_kept():
    for row in report(*RATIOS, "--fdr", "0.25", "--lam", "0.2")["methods"]:
        assert row["fdr"] <= 0.25 + 1e-9


EDGE = ["-n", "315", "-p", "500", "-k", "250", "--delta", "0.01", "--lam", "power"]


def test_a_search_that_ends_at_its_edge_is_noted():
    text = predict(*EDGE)
    notes = [line for line in text.splitlines() if line.startswith("Note: ")]
    assert len(notes) == 1
    assert "edge" in notes[0]
    found = report(*EDGE)
    assert len(found["notes"]) == 1
    assert found["notes"][0] in notes[0]


@pytest.mark.parametrize(
    "args",
    [["--rho", "0", "--r2", "0.5"], ["--rho", "0", "--delta", "0"], ["--rho", "0.2", "--r2", "1"]],
    ids=" ".join,
)
def test_notes_are_for_people(args):
    done = run("predict", "--alpha", "1", *args)
    if done.returncode == 2:  # to refuse is fine too
        assert_one_line(done.returncode, done.stderr)
        assert "lam " not in done.stderr  # which nobody gave
    else:
        assert done.returncode == 0
        assert "encountered in" not in done.stdout  # numpy's own warnings
        assert " nan " not in done.stdout
        assert done.stderr == ""


# --- figures ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("extension", "magic"), [("png", b"\x89PNG\r\n\x1a\n"), ("pdf", b"%PDF"), ("svg", b"<?xml")]
)
def test_a_figure_is_written(tmp_path, extension, magic):
    path = tmp_path / f"power.{extension}"
    text = predict(*RATIOS, "--lam", "0.2", "--plot", str(path))
    assert path.read_bytes().startswith(magic)
    assert path.stat().st_size > 2000
    assert str(path) in text.replace("\n", "")
    assert "Ideal power at FDR" in text


def test_a_figure_does_not_disturb_the_json(tmp_path):
    path = tmp_path / "power.png"
    found = report(*RATIOS, "--lam", "0.2", "--plot", str(path))
    assert len(found["methods"]) == 6
    assert path.exists()


def test_the_figure_is_where_the_message_says(tmp_path):
    args = ["predict", *RATIOS, "--lam", "0.2", "--plot", str(tmp_path / "power")]
    result = CliRunner().invoke(app, args)
    if result.exit_code == 0:
        said = result.stdout[result.stdout.index("Figure written to ") :]
        assert Path(said.removeprefix("Figure written to ").strip()).exists()
    else:  # to refuse a name without extension is fine too
        assert isinstance(result.exception, ArgumentError)
        assert list(tmp_path.iterdir()) == []


def test_without_matplotlib_the_table_is_printed_all_the_same(tmp_path):
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\n"
        "class Blocked:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.split('.')[0] == 'matplotlib':\n"
        "            raise ModuleNotFoundError(f'No module named {name!r}', name=name)\n"
        "sys.meta_path.insert(0, Blocked())\n"
    )
    path = tmp_path / "power.png"
    args = ["predict", *RATIOS, "--lam", "0.2", "--plot", str(path)]
    done = run(*args, PYTHONPATH=str(tmp_path))
    assert done.returncode == 0
    assert list(tables(done.stdout)) == TITLES[:1]
    assert "matplotlib" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert "Figure written" not in done.stdout
    assert not path.exists()
    assert json.loads(run(*args, "--json", PYTHONPATH=str(tmp_path)).stdout)["fdr"] == 0.1
