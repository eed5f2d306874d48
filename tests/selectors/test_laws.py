"""The level on smooth columns: broken by the first law, kept by the one that suits them."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter

from selica import KnockoffSelection
from selica.control import fdp
from selica.sampling import GaussianKnockoffs

LEVEL = 0.2
RUNS = 60


def measured(width, sampler, effect):
    """False shares of many data sets, and in how many of them the level is promised."""
    shares, promised = [], 0
    for seed in range(300, 300 + RUNS):
        rng = np.random.default_rng(seed)
        X = gaussian_filter(rng.standard_normal((100, 5, 20)), (0, width, width)).reshape(100, 100)
        X /= X.std(axis=0)
        coef = np.zeros(100)
        coef[rng.choice(100, 15, replace=False)] = effect * rng.choice([-1.0, 1.0], 15)
        y = X @ coef + rng.standard_normal(100)
        found = KnockoffSelection(LEVEL, sampler=sampler, random_state=seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found.fit(X, y)
        shares.append(fdp(found.support_, coef != 0.0))
        promised += found.guarantee_.level == LEVEL
    return np.mean(shares), np.std(shares, ddof=1) / np.sqrt(RUNS), promised


@pytest.mark.slow
@pytest.mark.parametrize(("width", "effect"), [(0.8, 2.0), (1.25, 5.0)])
def test_smooth_columns_keep_their_level_by_a_law_that_suits_them(width, effect):
    false, error, promised = measured(width, GaussianKnockoffs(covariance="ledoit_wolf"), effect)
    assert false > LEVEL + 2.0 * error
    assert promised == 0
    false, error, promised = measured(width, "gaussian", effect)
    assert false <= LEVEL + 3.0 * error
    assert promised >= 0.95 * RUNS
