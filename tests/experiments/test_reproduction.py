"""Figures from start to end: files, numbers, findings, resuming after kill -9."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pandas
import pytest

from selica._core.errors import ArgumentError
from selica._core.table import Table
from selica.experiments import FIGURES, Store, reproduce
from selica.experiments.figures import (
    correlated,
    cross_check,
    figure_module,
    finite_size,
    power,
)
from selica.experiments.figures.figure import FigureRun
from selica.experiments.measure import measure


@pytest.fixture(scope="module")
def smoke(tmp_path_factory):
    """All figures at the smallest scale."""
    out = tmp_path_factory.mktemp("smoke")
    return out, {name: reproduce(name, "smoke", out) for name in FIGURES}


def test_every_figure_has_its_files(smoke):
    out, made = smoke
    for name in FIGURES:
        for suffix in (".png", ".pdf", ".csv", ".json"):
            assert (out / f"{name}{suffix}").stat().st_size > 50
        record = json.loads((out / f"{name}.json").read_text())
        assert record["figure"] == name
        assert record["seed"] == 0
        assert record["scale"] == "smoke"
        assert {"numpy", "scipy", "joblib"} <= set(record["dependencies"])
        assert record["seconds"] >= 0.0
        assert record["machine"]["cores"] == os.cpu_count()
        assert record["rows"] == len(made[name].table)
    assert not [path for path in out.iterdir() if path.name.startswith(".")]


def test_tables_read_back_and_draw_the_same_findings(smoke):
    out, made = smoke
    for name in FIGURES:
        table = Table.read_csv(out / f"{name}.csv")
        module = figure_module(name)
        assert [f.text for f in module.findings(table)] == [f.text for f in made[name].findings]
        assert module.draw(table).get_axes()


@pytest.mark.slow
def test_the_same_seed_gives_the_same_bytes(smoke, tmp_path):
    out, _ = smoke
    for name in ("cross-check", "power-finite-size"):
        reproduce(name, "smoke", tmp_path)
        for suffix in (".csv", ".pdf", ".png"):
            first, again = ((d / f"{name}{suffix}").read_bytes() for d in (out, tmp_path))
            assert first == again


@pytest.fixture(scope="module")
def another(tmp_path_factory):
    """A figure with another seed, at which no copy is ever selected at the largest penalty."""
    return reproduce("cross-check", "smoke", tmp_path_factory.mktemp("another"), random_state=7)


def test_another_seed_moves_the_markers_but_not_the_theory(smoke, another):
    _, made = smoke
    other = another.table
    first = made["cross-check"].table
    pick = {"source": "monte-carlo", "quantity": "q"}
    assert not np.any(other.where(**pick)["value"] == first.where(**pick)["value"])
    assert other.where(source="theory").rows == first.where(source="theory").rows


def test_phase_boundary_crossings():
    """Section 6 of the theory: 0.876 for rate 1, 0.0099 for rate 2."""
    module = figure_module("phase-boundary")
    table = module.compute("smoke")
    crossing = {row["mu_B"]: row["rho"] for row in table.where(quantity="crossing")}
    assert crossing[1.0] == pytest.approx(0.876, abs=5e-4)
    assert crossing[2.0] == pytest.approx(0.0099, abs=5e-5)
    assert crossing[4.0] < 1e-10
    assert [f.holds for f in module.findings(table)] == [True] * 4 + [None]


def test_power_has_the_published_numbers(smoke):
    _, made = smoke
    at = power.power_at(made["power"].table, 0.1)
    assert at[0.01, 0.63]["stability-ideal", 1.0] == pytest.approx(0.2444, abs=5e-5)
    assert at[0.01, 1.12]["stability-ideal", 2.0] == pytest.approx(0.7690, abs=5e-5)
    assert at[0.1, 1.12]["knockoffs-ideal", None] == pytest.approx(0.3309, abs=5e-5)
    assert at[0.01, 1.12]["thresholded-lasso", None] == pytest.approx(0.7773, abs=5e-5)
    assert all(finding.holds for finding in made["power"].findings)


def test_the_best_penalty_is_never_worse(smoke):
    _, made = smoke
    usual = power.power_at(made["power"].table, 0.1)
    best = power.power_at(made["power-optimal"].table, 0.1)
    for panel, methods in usual.items():
        for method, tpr in methods.items():
            assert best[panel][method] >= tpr - 1e-6


def test_findings_can_fail(smoke):
    """A theory that is off is noticed, were the data sets many enough to tell."""
    _, made = smoke
    table = Table.of(
        row | ({"value": 4.0 * row["value"]} if row["source"] == "theory" else {"n_datasets": 512})
        for row in made["cross-check"].table
    )
    assert any(finding.holds is False for finding in cross_check.findings(table))


def test_a_power_law_is_recovered():
    N = np.array([32.0, 64.0, 128.0, 256.0, 512.0])
    fit = finite_size._fit(N, 0.3 * (N / 32.0) ** -0.8, np.full(5, 1e-3))
    assert fit["power"] == pytest.approx(0.8, abs=1e-6)
    assert fit["amplitude"] == pytest.approx(0.3, abs=1e-6)
    noise = np.random.default_rng(0).normal(0.0, 1e-3, 5)
    assert finite_size._fit(N, noise, np.full(5, 1e-3))["power"] is None


def test_cells_that_fail_do_not_stop_a_figure(tmp_path, monkeypatch):
    def broken(*_):
        raise RuntimeError("no luck")

    monkeypatch.setattr("selica.experiments.grid.measure", broken)
    made = reproduce("finite-size", "smoke", tmp_path)
    assert made.table.where(status="failed").unique("reason") == ["RuntimeError: no luck"]
    assert any("failed" in note for note in made.notes)
    assert (tmp_path / "finite-size.csv").exists()
    assert (tmp_path / "finite-size.json").exists()


@pytest.mark.slow
def test_a_method_that_failed_does_not_take_the_others_along(tmp_path, monkeypatch):
    def broken(cell, seed, block):
        if cell.ensemble == "knockoff":
            raise RuntimeError("no luck")
        return measure(cell, seed, block)

    monkeypatch.setattr("selica.experiments.grid.measure", broken)
    for name in ("cross-check", "correlated", "power-finite-size"):
        made = reproduce(name, "smoke", tmp_path)
        lost = [f for f in made.findings if f.holds is False]
        if name != "correlated":
            assert lost
            assert all("not simulated" in f.text for f in lost)
        assert len(made.findings) > len(lost)


def test_a_quantity_without_spread_is_left_out(another):
    assert len(another.findings) == 12


def test_files_of_an_earlier_run_do_not_stay(tmp_path, monkeypatch):
    (tmp_path / "phase-boundary.png").write_bytes(b"old")
    monkeypatch.setattr(
        "selica.experiments.reproduction._pictures", lambda *a: a[-1].append("No picture.") or []
    )
    made = reproduce("phase-boundary", "smoke", tmp_path)
    assert not (tmp_path / "phase-boundary.png").exists()
    assert "No picture." in made.notes


def test_tables_as_parquet(smoke):
    out, made = smoke
    for name in FIGURES:
        frame = pandas.read_parquet(out / f"{name}.parquet")
        assert len(frame) == len(made[name].table)


def test_power_at_a_level_by_hand():
    """One variable a threshold: FDR 0, 0, 1/3, 1/4; the level is crossed between two and three."""
    true, false = np.array([1.0, 2.0, 2.0, 3.0]), np.array([0.0, 0.0, 1.0, 1.0])
    assert correlated._power(true, false, 4.0) == pytest.approx(0.5)
    # unanimous already too many: between nothing and the strictest threshold
    assert correlated._power(np.array([2.0]), np.array([2.0]), 4.0) == pytest.approx(
        0.5 * 0.1 / 0.5
    )


def test_fresh_forgets(tmp_path):
    reproduce("finite-size", "smoke", tmp_path)
    store = Store(tmp_path / "parts" / "finite-size-smoke-0.jsonl")
    assert len(store) > 0
    again = reproduce("finite-size", "smoke", tmp_path)
    assert json.loads((tmp_path / "finite-size.json").read_text())["parts_found_on_disk"] > 0
    fresh = reproduce("finite-size", "smoke", tmp_path, fresh=True)
    assert json.loads((tmp_path / "finite-size.json").read_text())["parts_found_on_disk"] == 0
    assert again.table == fresh.table


def test_bad_input(tmp_path):
    with pytest.raises(ArgumentError, match="name"):
        reproduce("cross", "smoke", tmp_path)
    with pytest.raises(ArgumentError, match="scale"):
        reproduce("power", "huge", tmp_path)
    with pytest.raises(ArgumentError, match="random_state"):
        reproduce("power", "smoke", tmp_path, random_state=1.5)
    with pytest.raises(ArgumentError, match="out"):
        reproduce("power", "smoke", 5)
    file = tmp_path / "file"
    file.touch()
    with pytest.raises(ArgumentError, match="out"):
        reproduce("power", "smoke", file / "below")


def command(out):
    code = "from selica.cli import main; main()"
    options = ["--scale", "smoke", "--n-jobs", "1", "--out", str(out), "--json"]
    return [sys.executable, "-c", code, "reproduce", "cross-check", *options]


def test_kill_and_resume(smoke, tmp_path):
    """kill -9 in the middle; the next run goes on and writes the same table."""
    out, _ = smoke
    parts = tmp_path / "parts" / "cross-check-smoke-0.jsonl"
    process = subprocess.Popen(command(tmp_path), stdout=subprocess.DEVNULL)
    limit = time.monotonic() + 120.0
    while not (parts.exists() and parts.read_bytes().count(b"\n") >= 1):
        assert process.poll() is None
        assert time.monotonic() < limit
        time.sleep(0.005)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    done = len(Store(parts))
    assert not (tmp_path / "cross-check.csv").exists()
    subprocess.run(command(tmp_path), check=True, stdout=subprocess.DEVNULL)
    record = json.loads((tmp_path / "cross-check.json").read_text())
    assert record["parts_found_on_disk"] == done >= 1
    assert (tmp_path / "cross-check.csv").read_bytes() == (out / "cross-check.csv").read_bytes()


def test_compute_reports_progress():
    seen = []
    figure_module("power").compute("smoke", FigureRun(progress=lambda d, t: seen.append((d, t))))
    assert seen[0][0] == 0
    assert seen[-1][0] == seen[-1][1]


@pytest.mark.slow
def test_parts_that_are_damaged_are_computed_again(tmp_path):
    """A flipped byte in the finished parts costs those parts, not the table."""
    reproduce("finite-size", "smoke", tmp_path, n_jobs=1)
    table = (tmp_path / "finite-size.csv").read_bytes()
    [parts] = (tmp_path / "parts").iterdir()
    content = bytearray(parts.read_bytes())
    content[0] ^= 0xFF
    parts.write_bytes(content[:-30])
    again = reproduce("finite-size", "smoke", tmp_path, n_jobs=1)
    assert (tmp_path / "finite-size.csv").read_bytes() == table
    assert len(again.table) > 0


@pytest.mark.slow
def test_cross_check_at_a_middle_scale(tmp_path):
    """Every marker within four standard errors, or nearer to the theory at a larger size."""
    made = reproduce("cross-check", "quick", tmp_path, random_state=7, n_jobs=2)
    assert [f.text for f in made.findings if f.holds is False] == []
