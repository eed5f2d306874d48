"""What CONTRIBUTING.md shows: each example is one file, and every room knows it."""

from __future__ import annotations

import re
import shutil
import sys
import warnings
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from sklearn.utils.estimator_checks import check_estimator

from selica import catalogue, planning
from selica._core.errors import ArgumentError
from selica.experiments import reproduce
from selica.experiments.figures import register_figure, unregister_figure
from tests.cli.commands import invoke, parsed

HERE = Path(__file__).parent
PAGE = HERE.parent / "CONTRIBUTING.md"
# Only the ratios of weights count, and a test needs a number of rows.
WEIGHTS = {
    f"check_sample_weight_equivalence_on_{kind}_data": "weights are relative"
    for kind in ("dense", "sparse")
}
SKELETONS = ("method", "loss", "sampler", "figure")


@pytest.fixture
def own(tmp_path, monkeypatch):
    """Import a skeleton from a package of somebody else's."""
    folder = tmp_path / "theirs"
    folder.mkdir()
    (folder / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)

    def load(name):
        shutil.copy(HERE / "skeletons" / f"{name}.py", folder / f"{name}.py")
        return import_module(f"theirs.{name}")

    yield load
    for name in [n for n in sys.modules if n.partition(".")[0] == "theirs"]:
        del sys.modules[name]


@pytest.fixture
def method(own):
    module = own("method")
    catalogue.register(module.ROW)
    yield module
    catalogue.unregister(module.ROW.name)


@pytest.mark.parametrize("name", SKELETONS)
def test_the_page_shows_the_file_that_is_tested(name):
    shown = re.search(rf"<!-- {name}.py -->\n+```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert shown is not None
    assert shown[1] == (HERE / "skeletons" / f"{name}.py").read_text()


def test_a_method_passes_the_checks_of_scikit_learn(method):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_estimator(method.MarginalTests(), expected_failed_checks=WEIGHTS)


@pytest.fixture
def table(tmp_path):
    """A table of 200 rows; three of twelve columns matter."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 12))
    y = X[:, :3].sum(axis=1) + rng.standard_normal(200)
    path = tmp_path / "table.csv"
    header = ",".join([*(f"x{j}" for j in range(12)), "y"])
    np.savetxt(path, np.column_stack([X, y]), delimiter=",", header=header, comments="")
    return path


def test_a_method_is_known_to_the_command_line(method, table):
    found = parsed("select", table, "--target", "y", "--method", "marginal", "--fdr", "0.1")
    chosen = {row["variable"] for row in found["variables"] if row["selected"]}
    assert chosen == {"x0", "x1", "x2"}
    assert "marginal" in invoke("methods")


def test_a_method_is_known_to_the_tables_of_predictions(method):
    study = ("-n", "200", "-p", "100", "-k", "5", "--snr", "1")
    assert "tests of each column" in invoke("plan", "compare", *study, "--method", "marginal")
    found = planning.compare_methods(200, 100, 5, snr=1.0, methods=["marginal", "knockoffs"])
    assert {one.method for one in found.predictions} == {"marginal", "knockoffs"}
    needed = planning.required_samples(0.8, n_features=100, n_signals=5, snr=1.0, method="marginal")
    assert 50 < needed.answers[0].value < 2000


def test_a_method_finds_what_its_prediction_says(method):
    predicted = planning.compare_methods(200, 100, 5, snr=1.0, methods="marginal").predictions[0]
    rng = np.random.default_rng(1)
    powers = []
    for _ in range(100):
        X = rng.standard_normal((200, 100))
        effect = rng.standard_normal(5) / np.sqrt(5.0)
        y = X[:, :5] @ effect + rng.standard_normal(200)
        powers.append(method.MarginalTests(fdr=0.1).fit(X, y).get_support()[:5].mean())
    error = np.hypot(np.std(powers) / 10.0, predicted.power_error)
    assert abs(np.mean(powers) - predicted.power) < 3.0 * error


def test_a_name_is_taken_once(method):
    with pytest.raises(ArgumentError, match="name must be one that no method has"):
        catalogue.register(method.ROW)


def test_a_method_that_was_taken_out_is_unknown(own):
    row = own("method").ROW
    catalogue.register(row)
    catalogue.unregister(row.name)
    with pytest.raises(ArgumentError, match="marginal"):
        catalogue.method("marginal")


def test_a_figure_is_made_with_its_table_and_findings(own, tmp_path):
    own("figure")
    register_figure("samples", "theirs.figure")
    try:
        made = reproduce("samples", "smoke", tmp_path / "out")
    finally:
        unregister_figure("samples")
    assert all(finding.holds for finding in made.findings)
    assert {path.suffix for path in (tmp_path / "out").rglob("*") if path.is_file()} >= {
        ".csv",
        ".png",
    }
