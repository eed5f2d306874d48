"""Predictions for correlated columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from selica import catalogue
from selica._core.errors import DoesNotApply
from selica.control import fdp, tpp
from selica.planning.predict.correlated import covered, predict_correlated
from selica.planning.predict.prediction import Forecast
from selica.planning.study import Study
from selica.sampling import simulate
from selica.sampling.covariance import Covariance, parse_covariance
from selica.theory import PointEffects


@dataclass(frozen=True)
class _Columns:
    """Columns of a study, by the form of their covariance."""

    form: tuple[Any, ...]
    p: int

    @property
    def covariance(self) -> Covariance:
        return parse_covariance(self.form, self.p, np.random.default_rng(0))


@dataclass(frozen=True)
class _Correlated(Study):
    """A study with correlated columns."""

    columns: Any = None


def _study(n: int, p: int, k: int, form: tuple[Any, ...], r2: float, **more: Any) -> Any:
    one = Study.of(n, p, k, r2=r2, **more)
    return _Correlated(n, p, k, one.snr, one.effects, columns=_Columns(form, p))


def _predicted(method: str, study: Any, fdr: float = 0.2, best: bool = True) -> Forecast:
    return next(iter(predict_correlated(catalogue.method(method), [study], fdr, best)))


@pytest.mark.parametrize("method", ["knockoffs", "knockoffs-evalues"])
def test_without_correlation_it_is_the_prediction_for_independent_columns(method: str) -> None:
    study = _study(500, 1000, 50, ("ar1", 1e-6), 0.7)
    found = _predicted(method, study).expected
    plain = Study.of(500, 1000, 50, r2=0.7)
    row = catalogue.method(method)
    known = next(iter(row.load_predictor()((plain,), 0.2, False))).expected
    assert found.power == pytest.approx(known.power, abs=0.03)
    assert found.fdr == pytest.approx(known.fdr, abs=0.03)


def test_correlation_costs_power_and_rows_give_it_back() -> None:
    power = [
        _predicted("knockoffs", _study(n, 1000, 30, ("ar1", r), 0.6)).expected.power
        for n, r in ((500, 0.3), (500, 0.8), (1000, 0.8))
    ]
    assert power[1] < power[0] - 0.05
    assert power[2] > power[1] + 0.05


def test_errors_are_small_and_answers_the_same() -> None:
    study = _study(600, 2000, 20, ("block", 0.5, 10), 0.5)
    first = _predicted("knockoffs", study)
    assert 0.0 < first.expected.power_error < 0.01
    assert set(first.parameters) == {"fdr", "lam"}
    assert _predicted("knockoffs", study) == first


def test_default_settings_say_that_the_statistic_is_another() -> None:
    study = _study(400, 200, 20, ("ar1", 0.5), 0.8)
    found = _predicted("knockoffs", study, best=False)
    assert found.parameters == {"fdr": 0.2}
    assert any("statistic" in note for note in found.notes)


def test_columns_that_are_not_local_have_a_note() -> None:
    study = _study(300, 700, 30, ("equicorrelated", 0.3), 0.7)
    found = _predicted("knockoffs", study)
    assert any("600" in note for note in found.notes)


def test_methods_without_a_theory_are_refused() -> None:
    row = catalogue.method("stability-fdr")
    assert not covered(row)
    with pytest.raises(DoesNotApply, match="plasmode_power"):
        list(predict_correlated(row, [_study(100, 50, 5, ("ar1", 0.5), 0.8)], 0.2, True))


@pytest.mark.slow
@pytest.mark.parametrize("form", [("ar1", 0.5), ("ar1", 0.8), ("block", 0.5, 10)])
def test_selectors_find_what_is_predicted(form: tuple[Any, ...]) -> None:
    study = _study(400, 200, 20, form, 0.7)
    found = _predicted("knockoffs", study)
    shares = []
    for seed in range(40):
        data = simulate(400, 200, 20, r2=0.7, covariance=form, random_state=seed)
        selector = catalogue.method("knockoffs").load_selector()(
            **found.parameters, random_state=seed
        )
        mask = selector.fit(data.X, data.y).get_support()
        shares.append((tpp(mask, data.support), fdp(mask, data.support)))
    power, fdr = np.mean(shares, axis=0)
    assert found.expected.power == pytest.approx(power, abs=0.06)
    assert found.expected.fdr == pytest.approx(fdr, abs=0.07)


def test_equal_effects() -> None:
    study = _study(500, 500, 25, ("ar1", 0.5), 0.6, effects=PointEffects())
    found = _predicted("knockoffs", study).expected
    assert 0.3 < found.power <= 1.0
    assert found.true_selections == pytest.approx(25 * found.power)
