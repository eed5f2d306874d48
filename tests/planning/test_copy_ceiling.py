"""The best statistic of one knockoff copy, in studies of finite size."""

from __future__ import annotations

import math

import numpy as np
import pytest

from selica import planning, theory
from selica.control import knockoff_threshold
from selica.planning.predict.ceiling import ceiling
from selica.planning.predict.copy_ceiling import copy_ceiling
from selica.planning.predict.prediction import predict
from selica.planning.study import Study
from selica.theory.bayes.masked import pair_precision


@pytest.mark.parametrize("effects", [theory.GaussianEffects(), theory.PointEffects()])
def test_many_selections_are_those_of_the_limit(effects):
    study = Study.of(3000, 2000, 400, r2=0.8, effects=effects)
    found = copy_ceiling(study, 0.1)
    limit = theory.masked_ceiling(study.model, 0.1, n_features=2000)
    assert found.power == pytest.approx(limit.power, abs=4.0 * found.power_error + 0.002)
    assert found.fdr == pytest.approx(limit.fdr, abs=0.01)


def test_all_pairs_drawn_give_the_same():
    """Every pair by the definition of W, with the threshold of `control`."""
    study, fdr = Study.of(1000, 600, 15, r2=0.5), 0.2
    s = pair_precision(study.model)
    rng = np.random.default_rng(0)
    rho = 15 / 600
    power = []
    for _ in range(1500):
        u, copy = rng.standard_normal((2, 600))
        u[:15] += math.sqrt(s) * rng.standard_normal(15)
        odds = [
            np.log(1.0 - rho + rho * np.exp(0.5 * s * x**2 / (1.0 + s)) / math.sqrt(1.0 + s))
            for x in (u, copy)
        ]
        W = odds[0] - odds[1]
        power.append(np.mean(knockoff_threshold(W, fdr) <= W[:15]))
    found = copy_ceiling(study, fdr)
    error = math.hypot(np.std(power) / math.sqrt(len(power)), found.power_error)
    assert found.power == pytest.approx(np.mean(power), abs=3.5 * error)


@pytest.mark.parametrize(
    "sizes", [(300, 200, 40, 0.8), (2000, 100_000, 50, 0.5), (1000, 1000, 12, 0.5)]
)
def test_between_the_coefficients_and_the_best_possible(sizes):
    *numbers, r2 = sizes
    study = Study.of(*numbers, r2=r2)
    lasso, one, best = (f(study) for f in (
        lambda s: predict(s, "knockoffs", 0.1), lambda s: copy_ceiling(s, 0.1),
        lambda s: ceiling(s, 0.1),
    ))  # fmt: skip
    assert lasso.power <= one.power + 2.0 * math.hypot(lasso.power_error, one.power_error)
    assert one.power <= best.power + 2.0 * one.power_error


def test_where_it_is_not_known():
    assert copy_ceiling(Study.of(300, 200, 20, r2=0.5, covariance=("ar1", 0.5)), 0.1) is None
    given = theory.PointEffects(signs="given")
    assert copy_ceiling(Study.of(300, 200, 20, r2=0.5, effects=given), 0.1) is None
    assert copy_ceiling(Study.of(300, 20, 20, r2=0.5), 0.1) is None


def test_a_comparison_has_both_ceilings():
    found = planning.compare_methods(300, 200, 40, r2=0.8, methods="knockoffs")
    assert [one.method for one in found.ceilings] == ["bayes", "best-copy-statistic"]
    assert "best possible, one copy" in str(found)
    assert found.to_dict()["copy_ceiling"]["power"] == found.copy_ceiling.power
