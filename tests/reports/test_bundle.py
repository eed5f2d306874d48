"""Bundles: unpacked anywhere, `run.py` gives every number again."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import Lasso

import selica
from selica import (
    AutoSelection,
    DerandomizedKnockoffs,
    KnockoffSelection,
    LassoSelection,
    StabilitySelection,
)
from selica._core.errors import ArgumentError, RefusedError
from selica.reports import Provenance, answer, write_bundle
from selica.sampling import simulate

DATA = simulate(80, 10, 3, snr=10.0, random_state=0)
NAMES = ['a "quoted" name', "b,c", "d\ne", *(f"v{j}" for j in range(7))]
LABELS = np.where(DATA.y > 0, "ill", "well")
CASES = {
    "stability": (StabilitySelection(n_resamples=20, pfer=1.0, random_state=3), DATA.y, {}),
    "penalties": (StabilitySelection([0.2, 0.1], n_resamples=4, random_state=3), DATA.y, {}),
    "labels": (LassoSelection(random_state=np.int64(0)), LABELS, {}),
    "weights": (
        KnockoffSelection(0.5, random_state=np.random.SeedSequence(5)),
        DATA.y,
        {"sample_weight": np.linspace(0.5, 2.0, 80)},
    ),
    "pair": (DerandomizedKnockoffs(kfwer=(2, 0.5), n_copies=3, random_state=0), DATA.y, {}),
    "auto": (AutoSelection(n_resamples=6, random_state=0), DATA.y, {}),
    "learner": (
        StabilitySelection(estimator=Lasso(0.1), q=3, n_resamples=4, random_state=0), DATA.y, {},
    ),
}  # fmt: skip


def repeat(folder: Path) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": str(Path(selica.__file__).parents[1])}
    return subprocess.run(
        [sys.executable, folder / "run.py"], capture_output=True, text=True, check=False,
        env=environment, timeout=120,
    )  # fmt: skip


def unpacked(selection, folder):
    with zipfile.ZipFile(selection.bundle(folder / "sub" / "bundle.zip")) as archive:
        archive.extractall(folder / "there")
    return folder / "there"


@pytest.mark.parametrize(
    "case",
    [c if c == "labels" else pytest.param(c, marks=pytest.mark.slow) for c in CASES],
)
def test_a_bundle_repeats_every_digit(case, tmp_path):
    selector, y, more = CASES[case]
    found = answer(selector, DATA.X, y, NAMES, "y", **more)
    there = unpacked(found, tmp_path)
    done = repeat(there)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "to the last digit" in done.stdout
    assert found.summary.title in done.stdout
    assert (there / "selector.pickle").exists() == (case == "learner")


def everything():
    """Return a table with categories, missing values, patients, weights and covariates."""
    rng = np.random.default_rng(1)
    table = {f"v{j}": DATA.X[:, j].copy() for j in range(10)}
    table["v1"][[3, 7]] = np.nan
    table |= {
        "tissue": np.array(["liver", "lung", "skin"])[rng.integers(3, size=80)],
        "age": rng.uniform(20.0, 80.0, 80),
        "sex": np.array(["f", "m"])[rng.integers(2, size=80)],
        "patient": np.repeat([f"P{i}" for i in range(40)], 2),
        "w": rng.uniform(0.5, 2.0, 80),
        "exposure": rng.uniform(1.0, 3.0, 80),
        "time": rng.exponential(np.exp(-0.3 * DATA.y)) + 0.01,
        "event": rng.integers(2, size=80),
        "y": DATA.y,
        "visits": rng.poisson(np.exp(0.2 * DATA.y)),
        "kind": np.array(["a", "b", "c"])[np.digitize(DATA.y, [-1.0, 1.0])],
    }
    return table


ASKED = {
    "linear": {"target": "y", "drop": "time,event,visits,kind,exposure", "weights": "w"},
    "counts": {
        "target": "visits", "response": "count", "offset": "log(exposure)",
        "drop": "time,event,y,kind,w",
    },
    "survival": {"time": "time", "event": "event", "drop": "y,visits,kind,w,exposure"},
    "classes": {"target": "kind", "drop": "time,event,y,visits,w,exposure"},
}  # fmt: skip


@pytest.mark.parametrize(
    "case", [c if c == "linear" else pytest.param(c, marks=pytest.mark.slow) for c in ASKED]
)
def test_a_bundle_of_everything_repeats_every_digit(case, tmp_path):
    found = selica.select(
        everything(), **ASKED[case], keep="age,sex", rows_of="patient",
        method="stability-pfer", n_resamples=20,
    )  # fmt: skip
    done = repeat(unpacked(found, tmp_path))
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_difference_is_found(tmp_path):
    found = answer(LassoSelection(0.1, random_state=0), DATA.X, DATA.y, NAMES, "y")
    there = unpacked(found, tmp_path)
    table = (there / "table.csv").read_text(encoding="utf-8")
    digits = repr(float(DATA.X[0, np.flatnonzero(DATA.support)[0]]))
    assert table.count(digits) == 1
    (there / "table.csv").write_text(table.replace(digits, digits[:-6]), encoding="utf-8")
    done = repeat(there)
    assert done.returncode == 1
    assert "values differ, by a share of at most" in done.stdout
    assert "then:" in done.stdout


def test_it_has_what_a_reviewer_asks_for(tmp_path):
    command = "selica select t.csv --target y --seed 0"
    about = Provenance(date="2026-11-17", command=command)
    selector = LassoSelection(0.1, random_state=0)
    found = answer(selector, DATA.X, DATA.y, NAMES, "y", provenance=about)
    there = unpacked(found, tmp_path)
    assert {path.name for path in there.iterdir()} == {
        "README.txt", "report.html", "requirements.txt", "run.py", "selection.csv",
        "selection.json", "settings.json", "table.csv",
    }  # fmt: skip
    said = json.loads((there / "settings.json").read_text(encoding="utf-8"))
    assert said["seed"] == "0"
    assert said["command"] == command
    assert said["versions"]["packages"]["numpy"] == np.__version__
    assert said["versions"]["instruction set of the core"]
    assert command in (there / "README.txt").read_text(encoding="utf-8")
    assert "lam=0.1," in (there / "run.py").read_text(encoding="utf-8")
    write_bundle(found, tmp_path / "again.zip")
    assert (tmp_path / "again.zip").read_bytes() == (tmp_path / "sub/bundle.zip").read_bytes()


def test_without_a_seed_nobody_can_repeat_it(tmp_path):
    found = answer(LassoSelection(0.1), DATA.X, DATA.y, NAMES, "y")
    with pytest.raises(RefusedError, match=r"random_state is None. Give a whole number"):
        found.bundle(tmp_path / "bundle.zip")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ArgumentError, match="selection must be a Selection"):
        write_bundle("found", tmp_path / "bundle.zip")
