"""Power on a table of one's own, and what a data set was like."""

from __future__ import annotations

import json
import warnings
from types import SimpleNamespace

import numpy as np
import pytest

from selica import DerandomizedKnockoffs, KnockoffSelection, StabilitySelection, catalogue, planning
from selica._core.errors import ArgumentError, DoesNotApply, RefusedError
from selica.correlated import drawn_fits
from selica.planning.data.correlated_power import LARGEST
from selica.planning.data.diagnosis import SignalEstimate, estimate, reason_against
from selica.planning.predict.correlated import covered as has_theory
from selica.reports import demo_table
from selica.reports.demo import TARGET
from selica.sampling import simulate
from selica.selectors import LassoSelection
from selica.tables import split


@pytest.fixture(scope="module")
def table():
    return simulate(150, 60, 0, noise_variance=1.0, random_state=0).X


@pytest.fixture(scope="module")
def tangled():
    """Ten hidden causes of 40 columns: 60 rows do not tell how these depend on each other."""
    rng = np.random.default_rng(0)
    causes, loadings = rng.standard_normal((60, 10)), rng.standard_normal((10, 40))
    return causes @ loadings + 0.03 * rng.standard_normal((60, 40))


def plasmode(X, **settings):
    arguments = {"r2": 0.8, "fdr": 0.2, "methods": "knockoffs", "n_sets": 6, "random_state": 1}
    arguments |= {"theory": False}
    return planning.plasmode_power(X, 15, **(arguments | settings))


def test_planted_signals_are_found_as_predicted(table):
    found = plasmode(table, n_sets=12)
    (row,) = found.methods.rows
    assert row["power_low"] <= row["power"] <= row["power_high"]
    assert row["predicted"] == pytest.approx(row["power"], abs=0.25)
    assert found.r2 == pytest.approx(0.8)
    assert planning.METHODS["knockoffs"].label in str(found)


def test_correlation_costs_power_as_theory_says_beforehand():
    X = simulate(150, 60, 0, noise_variance=1.0, covariance=("ar1", 0.95), random_state=0).X
    found = plasmode(X, n_sets=16, theory=True)
    (row,), (first,) = found.methods.rows, found.predicted.rows
    assert row["power"] < row["predicted"] - 0.15
    assert first["method"] == row["method"]
    assert first["status"] == "converged"
    assert first["power"] == pytest.approx(row["power"], abs=0.12)
    assert first["power_low"] < first["power"] < first["power_high"]
    assert found.predicted_power(row["method"]) == first["power"]
    (plain,) = json.loads(json.dumps(found.to_dict()))["methods"]
    assert plain == row | {"correlated": first["power"]}
    (line,) = [line for line in str(found).splitlines() if line.startswith(row["label"])]
    assert f"{first['power']:.2f}" in line


@pytest.mark.parametrize("effect_size", [None, 0.5])
def test_a_first_answer_for_every_method_that_has_one(table, effect_size):
    strength = {"effect_size": effect_size, "r2": 0.8 if effect_size is None else None}
    settings = strength | {"fdr": 0.2, "methods": tuple(planning.METHODS), "random_state": 1}
    told = planning.correlated_power(table, 15, **settings)
    known = [row for row in catalogue.methods() if row.predictor is not None]
    covered = [row for row in known if row.correlated_rule or has_theory(row)]
    assert len(covered) == 9
    assert [(row["method"], row["label"]) for row in told] == [(m.name, m.label) for m in covered]
    for name, row in ((one.name, row) for one, row in zip(covered, told, strict=True)):
        known = planning.compare_methods(
            150, 60, 15, **strength, fdr=0.2, methods=[name]
        ).one(name, "default")  # fmt: skip
        assert row["power"] == pytest.approx(known.power, abs=0.1)  # columns are independent
        assert row["fdr"] == pytest.approx(known.fdr, abs=0.1)


def test_a_covariance_without_copies_is_no_error(table, monkeypatch):
    def refused(*_):
        raise RefusedError("Sigma must be positive definite.")

    monkeypatch.setattr(drawn_fits, "s_matrix", refused)
    asked = {"methods": ["knockoffs", "lasso"], "random_state": 1}
    knockoff, lasso = planning.correlated_power(table, 15, r2=0.8, **asked)
    assert (knockoff["power"], knockoff["status"]) == (None, "Sigma must be positive definite.")
    assert (lasso["power"] > 0.5, lasso["status"]) == (True, "converged")


def test_the_theory_can_be_left_out(table):
    found = plasmode(table)
    assert found.predicted is None
    assert found.methods.rows == plasmode(table, theory=True).methods.rows
    none = planning.correlated_power(table, 15, r2=0.8, methods="stability-fdr")
    assert len(none) == 0  # message passing has no theory for correlated columns
    wide = np.random.default_rng(0).standard_normal((20, LARGEST + 1))
    assert len(planning.correlated_power(wide, 15, r2=0.8, methods="knockoffs")) == 0


def test_workers_and_seeds(table):
    one, same = plasmode(table), plasmode(table, n_jobs=2)
    assert one.methods.rows == same.methods.rows
    assert one.methods.rows != plasmode(table, random_state=2).methods.rows


def test_selectors_of_ones_own_and_progress(table):
    seen = []
    found = plasmode(
        table, selectors={"lasso": LassoSelection(0.05)}, n_sets=6, effect_size=0.5, r2=None,
        progress=lambda done, total: seen.append((done, total)),
    )  # fmt: skip
    lasso = found.methods.one(method="lasso")
    assert lasso["predicted"] is None
    assert lasso["power"] > 0.8
    assert seen[-1] == (6, 6)


def test_a_method_that_refuses_is_counted(tangled):
    (row,) = planning.plasmode_power(
        tangled, 5, r2=0.8, methods="stability-fdr", n_sets=3, random_state=0
    ).methods.rows
    assert row["refused"] == 3
    assert row["power"] == 0.0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [({"r2": None}, "exactly one of r2"), ({"r2": 2.0}, "r2"), ({"n_sets": 1}, "n_sets"),
     ({"methods": "magic"}, "magic"), ({"fdr": 0.0}, "fdr")],
)  # fmt: skip
def test_one_sentence_for_bad_settings(table, arguments, words):
    with pytest.raises(ArgumentError, match=words):
        plasmode(table, **arguments)
    for power in (planning.plasmode_power, planning.correlated_power):
        with pytest.raises(ArgumentError, match="n_signals"):
            power(table, 100, r2=0.5)
        for X in ("table", table[:9]):
            with pytest.raises(ArgumentError, match="X must"):
                power(X, 3, r2=0.5)


@pytest.mark.parametrize(
    ("selector", "words"),
    [
        (StabilitySelection(threshold=1.5), r"selectors\['mine'\]: threshold must"),
        (KnockoffSelection(fdr=2.0), r"selectors\['mine'\]: fdr must"),
        (5, r"selectors\['mine'\] must be a selector; got 5"),
    ],
)
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_a_wrong_argument_is_no_refusal(table, selector, words, n_jobs):
    with pytest.raises(ArgumentError, match=words):
        plasmode(table, methods="lasso", selectors={"mine": selector}, n_jobs=n_jobs)


def test_selectors_have_names_of_their_own(table):
    lasso = LassoSelection(0.05)
    with pytest.raises(ArgumentError, match="mapping of names"):
        plasmode(table, selectors=[lasso])
    with pytest.raises(ArgumentError, match="a name must be a text that no method has"):
        plasmode(table, selectors={"knockoffs": lasso})


def test_a_selector_of_ones_own_may_have_a_former_name_of_a_method(table):
    own = {"knockoff": LassoSelection(0.05)}
    found = plasmode(table, selectors=own, n_sets=2, theory=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        theirs, own = found.to_dict()["methods"]
        assert str(found).splitlines()[-1].startswith("knockoff ")
        found.plot()
        assert found.predicted_power("knockoff") is own["correlated"] is None
    assert theirs["correlated"] == found.predicted_power("knockoffs") > 0.0


def test_what_does_not_apply_is_said_with_the_name_of_the_selector(table):
    own = {"mine": DerandomizedKnockoffs(0.2, engine="semi-analytic")}
    with pytest.raises(DoesNotApply, match=r"^selectors\['mine'\]: engine='semi-analytic' works"):
        plasmode(table, selectors=own)


def test_a_selector_of_ones_own_that_refuses_the_data_is_counted(tangled):
    own = {"mine": StabilitySelection(fdr=0.1, engine="auto")}
    found = plasmode(tangled, methods="lasso", selectors=own, n_sets=3)
    row = found.methods.one(method="mine")
    assert row["refused"] == 3
    assert row["power"] == 0.0


@pytest.mark.parametrize(("n", "p", "k", "snr"), [(500, 400, 40, 4.0), (800, 300, 30, 1.0)])
def test_the_number_of_signals_and_their_strength(n, p, k, snr):
    seen = []
    for seed in range(3):
        data = simulate(n, p, k, snr=snr, random_state=seed)
        fit = StabilitySelection("power", engine="semi-analytic").fit(data.X, data.y)
        found = estimate(fit.fields_)
        seen.append((found.sparsity * p, found.r2))
    signals, r2 = np.mean(seen, axis=0)
    assert signals == pytest.approx(k, rel=0.35)
    assert r2 == pytest.approx(snr / (1 + snr), abs=0.08)


def test_a_diagnosis():
    data = simulate(300, 200, 20, snr=3.0, random_state=0)
    selector = KnockoffSelection(0.2, sampler="iid", lam=0.05, random_state=0)
    found = planning.diagnose(selector.fit(data.X, data.y), data.X, data.y, power=0.9)
    assert found.method == "knockoffs"
    assert found.fdr == 0.2
    assert found.selected == selector.support_.sum()
    assert found.power == pytest.approx(selector.support_[data.support].mean(), abs=0.3)
    assert found.required > 300 or found.power > 0.9
    assert "samples would reach" in str(found)
    assert not found.correlated
    curve, *_ = found.plot().axes[0].lines
    drawn = dict(zip(curve.get_xdata(), curve.get_ydata(), strict=True))
    assert drawn[300] == found.power
    assert drawn[found.required] >= 0.9


@pytest.mark.parametrize("seed", range(4))
def test_pure_noise_is_diagnosed_as_nothing(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((200, 100)), rng.standard_normal(200)
    selector = KnockoffSelection(0.2, sampler="iid", lam=0.05, random_state=0).fit(X, y)
    found = planning.diagnose(selector, X, y)
    assert (found.n_signals, found.r2, found.power, found.required) == (0, 0.0, None, None)
    assert found.reason == "the data are explained as well if no variable matters"
    assert f"Nothing can be predicted: {found.reason}." in str(found)
    assert "would reach" not in str(found)
    with pytest.raises(ArgumentError, match="no curve to draw: the data are explained as well"):
        found.plot()


ESTIMATES = ("n_signals", "r2", "effect_size", "power", "true_selections", "false_selections")
ESTIMATES += ("required", "n_signals_interval", "r2_interval", "required_interval")


def test_no_numbers_where_the_fit_says_nothing(monkeypatch):
    """The embedded table with other noise: message passing does not converge at its penalty."""
    monkeypatch.setattr("selica.reports.demo._SEED", 0)
    X, y, _ = split(demo_table(), TARGET)
    found = planning.diagnose(LassoSelection(0.1).fit(X, y), X, y)
    assert found.reason == "the fit behind the estimate (message passing) did not converge"
    assert found.correlated
    assert [getattr(found, name) for name in ESTIMATES] == [None] * len(ESTIMATES)
    assert "%" not in str(found)
    assert "would reach" not in str(found)
    with pytest.raises(ArgumentError, match="did not converge"):
        found.plot()


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({}, None),
        ({"effective_noise": 1.9e5}, "predicts no better than a constant"),
        ({"effective_noise": 1.01}, "predicts no better than a constant"),
        ({"effective_noise": np.nan}, "predicts no better than a constant"),
        ({"r2": 1.0 - 1e-6}, "would explain all of the variance"),
        ({"evidence": 0.0}, "explained as well if no variable matters"),
        ({"evidence": 0.0, "effective_noise": 1.01}, "explained as well if no variable matters"),
        ({"status": "max_iter"}, "did not converge"),
    ],
)
def test_what_speaks_against_an_estimate(change, reason):
    fields = SimpleNamespace(status=change.pop("status", "converged"))
    good = {"sparsity": 0.1, "effect_size": 0.2, "r2": 0.6, "effective_noise": 0.7}
    found = SignalEstimate(**(good | {"evidence": 30.0, "likely": (None, None)} | change))
    told = reason_against(fields, found, 300)
    assert (told is None) if reason is None else (reason in told)


@pytest.mark.parametrize("seed", range(3))
def test_an_estimate_has_an_interval_that_holds_the_truth(seed):
    """20 of 200 variables explain 0.6: a pilot of 150 rows is off by a factor of two to four."""
    data = simulate(150, 200, 20, snr=1.5, random_state=seed)
    found = planning.diagnose(LassoSelection(0.1).fit(data.X, data.y), data.X, data.y)
    truth = planning.required_samples(
        0.8, n_features=200, n_signals=20, r2=0.6, method="stability-fdr", settings="default"
    ).best.value
    low, high = found.required_interval
    assert low < found.required < high
    assert low < truth < high
    assert high > 2 * low
    assert found.n_signals_interval[0] <= 20 <= found.n_signals_interval[1]
    assert found.r2_interval[0] <= found.r2 <= found.r2_interval[1]
    assert f"({low} to {high})" in str(found)
    assert json.loads(json.dumps(found.to_dict()))["required_interval"] == [low, high]


def test_what_cannot_be_diagnosed(table):
    y = np.random.default_rng(0).standard_normal(150)
    with pytest.raises(ArgumentError, match="fitted selector"):
        planning.diagnose(KnockoffSelection(), table, y)
    fit = LassoSelection(0.1).fit(table, y)
    with pytest.raises(ArgumentError, match="one entry"):
        planning.diagnose(fit, table, y[:10])
    with pytest.raises(ArgumentError, match="columns"):
        planning.diagnose(fit, table[:, :5], y)


def test_a_diagnosis_does_not_apply_to_two_classes(table):
    y = (table[:, 0] > 0).astype(int)
    selector = KnockoffSelection(0.5, lam=0.02, random_state=0).fit(table, y)
    with pytest.raises(DoesNotApply, match="needs a linear response; it does not apply to two"):
        planning.diagnose(selector, table, y)


def test_a_covariance_of_a_table():
    X = simulate(400, 5, 0, noise_variance=1.0, covariance=("ar1", 0.6), random_state=0).X
    found = planning.covariance_of(3.0 * X + 1.0)
    assert np.allclose(found.diagonal(), 1.0)
    assert found[0, 1] == pytest.approx(0.6, abs=0.1)
    with pytest.raises(ArgumentError, match="column 2 is constant"):
        planning.covariance_of(np.where(np.arange(5) == 2, 1.0, X))
    with pytest.raises(ArgumentError, match="at least 10 rows"):
        planning.covariance_of(X[:9])


def test_any_number_of_rows(table):
    few, many = (plasmode(table, n_samples=n).methods.rows[0]["power"] for n in (60, 600))
    assert few < many
    told = [
        planning.correlated_power(table, 15, r2=0.8, fdr=0.2, methods="knockoffs", n_samples=n)
        for n in (60, 600)
    ]
    assert told[0].rows[0]["power"] < told[1].rows[0]["power"]
    with pytest.raises(ArgumentError, match="n_samples"):
        plasmode(table, n_samples=3)
