"""What is measured on one data set, from definitions."""

from __future__ import annotations

import numpy as np
import pytest

from selica import theory
from selica.experiments import measure as room
from selica.experiments.cells import ThresholdRule, check_cell
from selica.sampling import simulate

MODEL = theory.Model(2.0, 0.3, 0.05)


def cell(method="stability-ideal", **change):
    rule = ThresholdRule(method, (0.3,), 0.4 if method == "knockoffs-frequency" else None)
    settings = {"N": 24, "n_members": 12, "n_datasets": 3} | change
    return check_cell((rule,), MODEL, np.array([0.2, 0.6]), **settings)


def data_of(one, number=0):
    parent = np.random.SeedSequence(5)
    return simulate(
        one.n_samples, one.N, sparsity=one.rho, noise_variance=one.Delta, effects=one.effects,
        covariance=one.covariance, random_state=one.seed(parent, number), scale="article",
    )  # fmt: skip


def test_second_moments_do_not_depend_on_the_number_of_members():
    """Averaged over ensembles of 2 members, q and v are what many members give."""
    one = cell()
    data = data_of(one)
    rng = np.random.default_rng(0)
    many = data.coef * 0.8 + 0.1 * rng.standard_normal((20_000, 1, one.N))
    exact = room._moments(one, data, many, None)
    pairs = [room._moments(one, data, many[2 * b : 2 * b + 2], None) for b in range(10_000)]
    for name in ("q", "v", "ensemble_error", "prediction_error"):
        values = np.array([p[name][0] for p in pairs])
        error = values.std() / np.sqrt(values.size)
        assert abs(values.mean() - exact[name][0]) < 5.0 * error + 1e-6


def test_errors_of_correlated_designs_are_the_quadratic_forms():
    one = cell(covariance=("ar1", 0.5))
    data = data_of(one)
    rng = np.random.default_rng(1)
    coef = rng.standard_normal((7, 2, one.N))
    found = room._moments(one, data, coef, None)
    sigma = np.asarray(data.covariance)
    away = coef[:, 0] - data.coef
    member = np.mean([w @ sigma @ w for w in away]) + one.Delta
    assert found["prediction_error"][0] == pytest.approx(member)
    pairs = [away[a] @ sigma @ away[b] for a in range(7) for b in range(7) if a != b]
    assert found["ensemble_error"][0] == pytest.approx(np.mean(pairs) + one.Delta)


def test_independent_and_general_errors_agree():
    plain, general = cell(), cell(covariance=np.eye(24))
    data = data_of(plain)
    coef = np.random.default_rng(2).standard_normal((5, 2, 24))
    a, b = room._moments(plain, data, coef, None), room._moments(general, data, coef, None)
    for name in ("prediction_error", "ensemble_error"):
        np.testing.assert_allclose(a[name], b[name], rtol=1e-12)


def test_rules_by_hand():
    support = np.array([True, True, False, False])
    votes = np.zeros((4, 1, 4))
    votes[:3, 0, 0], votes[:1, 0, 1], votes[:2, 0, 2] = 1.0, -1.0, 0.5
    found = room._selections(ThresholdRule("stability-ideal", (0.5, 0.75, 1.0)), votes, support, 4)
    assert found["true"] == [[1.0, 1.0, 0.0]]
    assert found["false"] == [[1.0, 0.0, 0.0]]
    assert found["fdp"] == [[0.5, 0.0, 0.0]]  # nothing selected: nothing false

    both = np.zeros((2, 1, 8))
    both[:, 0, 0], both[0, 0, 4] = 1.0, 0.8  # Z of variable 0: 0.2 and 1.0
    both[:, 0, 2], both[:, 0, 7] = 0.3, 2.0  # a null with Z = 0.3; a copy ahead of its variable
    one = room._selections(ThresholdRule("knockoffs-ideal", (0.25,)), both, support, 4)
    assert one["true"] == [[0.5]]
    assert one["false"] == [[1.0]]
    assert one["fdp"] == [[0.75]]  # 1 and 1/2
    every = room._selections(ThresholdRule("knockoffs-frequency", (0.25,), 1.0), both, support, 4)
    assert every["true"] == [[0.0]]
    assert every["false"] == [[1.0]]
    half = room._selections(ThresholdRule("knockoffs-frequency", (0.25,), 0.5), both, support, 4)
    assert half["true"] == [[1.0]]
    size = room._selections(ThresholdRule("thresholded-lasso", (0.9,)), both[:1, :, :4], support, 4)
    assert size["true"] == [[1.0]]
    assert size["false"] == [[0.0]]


def test_data_sets_have_their_own_seeds_and_methods_share_them():
    parent = np.random.SeedSequence(5)
    a, b = cell("stability-ideal"), cell("knockoffs-ideal")
    assert a.seed(parent, 0).spawn_key == b.seed(parent, 0).spawn_key
    assert a.seed(parent, 0).spawn_key != a.seed(parent, 1).spawn_key
    assert a.seed(parent, 0).spawn_key != cell(N=32).seed(parent, 0).spawn_key
    first = room.measure(a, parent, range(2))
    assert room.measure(a, parent, range(1, 2)) == first[1:]


@pytest.mark.parametrize("covariance", ["identity", ("ar1", 0.5), ("factor", 2, 0.3)])
@pytest.mark.parametrize("method", ["lasso", "stability-ideal", "knockoffs-frequency"])
def test_every_ensemble_with_every_covariance(method, covariance):
    one = cell(method, covariance=covariance)
    found = room.measure(one, np.random.SeedSequence(1), range(2))
    assert all(np.isfinite(v).all() for d in found for v in d.moments.values())
    assert np.shape(found[0].selections[0]["true"]) == (2, 1)
