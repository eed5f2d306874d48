"""The skeleton of a loss: copied into a package of its own, imported, used by selectors."""

from __future__ import annotations

import importlib
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

from selica import DataSplitting, KnockoffSelection, LassoSelection, StabilitySelection
from selica._core.errors import ArgumentError, DoesNotApply
from selica._core.losses import LOSSES, loss_of
from selica._core.warning import noted
from selica.amp import stability_vamp
from selica.sampling import simulate
from selica.solvers.ensemble import make_problem, solve
from selica.statistics import cross_validate, make_data
from tests.core.losses import check_row_loss

ROWS = 200
SIGNALS = 6


@pytest.fixture
def robust(tmp_path, monkeypatch):
    """The loss of the skeleton, registered by the import of a package that holds a copy of it."""
    package = tmp_path / "robust_regression"
    package.mkdir()
    (package / "__init__.py").write_text("from robust_regression import loss\n")
    shutil.copy(Path(__file__).with_name("loss.py"), package / "loss.py")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr("selica._core.losses.table.LOSSES", dict(LOSSES))
    importlib.import_module("robust_regression")
    yield loss_of("robust")
    for name in [name for name in sys.modules if name.startswith("robust_regression")]:
        del sys.modules[name]


@pytest.fixture(scope="module")
def table():
    """A table in which one row in twelve has an outlier."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((ROWS, 20))
    y = 1.5 * X[:, :SIGNALS].sum(axis=1) + rng.standard_normal(ROWS)
    outlier = rng.random(ROWS) < 0.08
    return X, y + outlier * 100.0 * rng.standard_normal(ROWS)


def test_it_is_a_loss(robust):
    check_row_loss(robust, np.random.default_rng(3).standard_normal(40))


@pytest.mark.filterwarnings("ignore:n_resamples")
def test_selectors_find_what_outliers_hide(robust, table):
    X, y = table
    for selector in (
        StabilitySelection(response="robust", n_resamples=20, random_state=0),
        StabilitySelection(fdr=0.2, response="robust", random_state=0),
        KnockoffSelection(fdr=0.2, response="robust", random_state=0),
        LassoSelection(response="robust", random_state=0),
    ):
        with noted():  # twenty resamples leave close calls
            found = selector.fit(X, y).support_
        assert selector.response_ == "robust"
        assert found[:SIGNALS].all(), selector
        plain = type(selector)(**(selector.get_params() | {"response": "linear"}))
        with noted():
            plain.fit(X, y)
        assert np.count_nonzero(plain.support_[:SIGNALS]) < np.count_nonzero(found[:SIGNALS])


def test_fits_are_certified(robust, table):
    X, y = table
    scaled, _ = robust.standardised(y, np.ones(ROWS))
    problem = make_problem(
        X, scaled, np.geomspace(60.0, 1.0, 8), np.ones((1, ROWS)), robust, fit_intercept=True,
        tol=1e-9,
    )  # fmt: skip
    fit = solve(problem)
    assert fit.converged
    for place, lam in enumerate(fit.lams):
        w, a = fit.coef[0, place], fit.intercept[0, place]
        slope = np.tanh(X @ w + a - scaled)
        gradient = slope @ X
        assert abs(slope.sum()) < 1e-9
        assert np.abs(gradient).max() <= lam * (1.0 + 1e-4)
        np.testing.assert_allclose(gradient[w != 0], -lam * np.sign(w[w != 0]), atol=1e-4)


def test_cross_validation_message_passing_and_simulation(robust, table):
    X, y = table
    data = make_data(X, y, "robust")
    found = cross_validate(
        data, np.random.default_rng(0), n_folds=4, penalties=np.geomspace(0.3, 0.02, 8)
    )
    assert found.error[found.best] < found.error[0]
    passed = stability_vamp(data.X, data.y, 10.0, response="robust")
    assert passed.converged
    assert passed.selection_probabilities[:SIGNALS].min() > 0.9
    drawn = simulate(20_000, 2, 1, noise_variance=4.0, response="robust", random_state=0)
    noise = drawn.y - drawn.X @ drawn.coef
    assert np.var(noise) == pytest.approx(4.0, rel=0.05)


def test_rooms_that_do_not_treat_it_say_so(robust, table):
    with pytest.raises(DoesNotApply, match="for a response with outliers use knockoffs"):
        DataSplitting(response="robust").fit(*table)
    with pytest.raises(DoesNotApply, match="use lam='cv' for a response with outliers"):
        LassoSelection(lam="theory", response="robust").fit(*table)


def test_without_the_import_there_is_no_such_response(table):
    with pytest.raises(ArgumentError, match=r"response must be one of 'auto', .*; got 'robust'"):
        StabilitySelection(response="robust").fit(*table)
