"""Predictions beside selectors on small data sets, run as recommended."""

from __future__ import annotations

import numpy as np
import pytest

from selica import selectors, theory
from selica.control import tpp
from selica.planning import compare_methods
from selica.sampling import simulate

STUDIES = {
    "Gaussian effects": ((300, 200, 40, 0.8, 0.2), theory.GaussianEffects()),
    "equal effects": ((250, 150, 30, 0.6, 0.2), theory.PointEffects()),
    "more variables than rows": ((200, 300, 40, 0.95, 0.2), theory.GaussianEffects()),
}


@pytest.mark.parametrize("name", STUDIES)
@pytest.mark.parametrize("method", ["knockoff", "stability"])
def test_power_of_the_recommendation_is_as_predicted(name, method):
    (n, p, k, r2, fdr), effects = STUDIES[name]
    comparison = compare_methods(n, p, k, r2=r2, fdr=fdr, effects=effects, methods=[method])
    found, runs = comparison.one(method), 20
    power = []
    for seed in range(runs):
        data = simulate(
            n, p, k, noise_variance=comparison.study.model.Delta, effects=effects,
            scale="article", random_state=seed,
        )  # fmt: skip
        selector = eval(found.code, vars(selectors)).set_params(random_state=seed)
        if method == "knockoff":
            selector.set_params(sampler="iid")
        else:  # without the refits that check it
            selector.set_params(engine="semi-analytic")
        power.append(tpp(selector.fit(data.X, data.y).support_, data.support))
    assert 0.1 < found.power < 0.95
    error = np.std(power, ddof=1) / np.sqrt(runs)
    assert np.mean(power) == pytest.approx(found.power, abs=3.0 * error + 0.03)
