"""Stored parts of a run belong to the code that made them."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import selica
from selica._core.errors import RenamedWarning
from selica.experiments import grid, simulate_cell
from selica.experiments.cells import ThresholdRule, check_cell, simulated_methods
from selica.experiments.measure import measure
from selica.experiments.sources import sources
from selica.theory import Model

ROOT = Path(selica.__file__).parent
MODEL = Model(1.5, 0.25, 0.1)


def test_every_file_that_runs_in_a_measurement_is_among_the_sources():
    """Among them is the rule of votes, of the theory."""
    files = set()

    def note(frame, event, argument):
        files.add(frame.f_code.co_filename)

    for name in simulated_methods():
        rule = ThresholdRule(name, (0.3,), 0.4 if name == "knockoffs-frequency" else None)
        for covariance in ("identity", ("ar1", 0.3)):
            cell = check_cell(
                (rule,), MODEL, np.array([0.4]), N=12, n_members=4, covariance=covariance
            )
            sys.setprofile(note)
            try:
                measure(cell, np.random.SeedSequence(0), range(1))
            finally:
                sys.setprofile(None)
    ours = {Path(name) for name in files if name.startswith(str(ROOT))}
    known = set(sources("selica.experiments.measure"))
    assert any("votes_needed" in path.read_text("utf-8") for path in ours if "theory" in str(path))
    assert ours <= known


def test_a_changed_rule_asks_for_new_parts(monkeypatch, tmp_path):
    before = grid._code()
    (rates,) = [
        path
        for path in sources("selica.experiments.measure")
        if "def votes_needed" in path.read_text("utf-8")
    ]
    changed = tmp_path / "changed.py"
    changed.write_text(rates.read_text("utf-8") + "\n# another rule\n")

    def other(module):
        return [changed if path == rates else path for path in sources(module)]

    monkeypatch.setattr(grid, "sources", other)
    grid._code.cache_clear()
    try:
        assert grid._code() != before
    finally:
        grid._code.cache_clear()


def test_plots_and_selectors_are_not_among_the_sources():
    rooms = {path.relative_to(ROOT).parts[0] for path in sources("selica.experiments.measure")}
    assert not rooms & {"plots", "selectors", "cli", "app", "reports", "planning"}


@pytest.mark.parametrize(
    ("former", "name"), [("stability", "stability-ideal"), ("derandomized", "knockoffs-frequency")]
)
def test_a_former_name_is_simulated_with_a_warning(former, name):
    size = {"N": 12, "n_members": 4, "n_datasets": 2}
    with pytest.warns(RenamedWarning, match=f"now called '{name}'") as said:
        found = simulate_cell(former, MODEL, 0.4, **size)
    assert said[0].filename == __file__
    assert found.rows == simulate_cell(name, MODEL, 0.4, **size).rows
