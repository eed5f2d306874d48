"""Synthetic data: the covariance, the effects and the noise that were asked for."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit
from scipy.stats import kstest, laplace, norm

from selica._core.effects import EmpiricalEffects, GaussianEffects, LaplaceEffects, PointEffects
from selica._core.errors import ArgumentError
from selica.sampling import simulate
from selica.sampling.covariance import parse_covariance

P = 7
ROW, COLUMN = np.indices((P, P))
GIVEN = np.diag([1.0, 2.0, 0.5, 1.0, 3.0, 1.0, 0.1]) + 0.05
SINGULAR = np.outer(np.arange(1.0, 8.0), np.arange(1.0, 8.0)) / 10
STRUCTURES = {
    "identity": ("identity", np.eye(P)),
    "ar1": (("ar1", 0.7), 0.7 ** abs(ROW - COLUMN)),
    "ar1 negative": (["ar1", -0.4], (-0.4) ** abs(ROW - COLUMN)),
    "equicorrelated": (("equicorrelated", 0.6), np.where(ROW == COLUMN, 1.0, 0.6)),
    "equicorrelated negative": (("equicorrelated", -1 / 6), np.where(ROW == COLUMN, 1.0, -1 / 6)),
    "equal": (("equicorrelated", 1.0), np.ones((P, P))),
    "block": (("block", 0.5, 3), np.where(ROW == COLUMN, 1.0, 0.5 * (ROW // 3 == COLUMN // 3))),
    "block negative": (
        ("block", -0.5, 3),
        np.where(ROW == COLUMN, 1.0, -0.5 * (ROW // 3 == COLUMN // 3)),
    ),
    "one block": (("block", 0.3, 99), np.where(ROW == COLUMN, 1.0, 0.3)),
    "given": (GIVEN, GIVEN),
    "singular": (SINGULAR, SINGULAR),
}
structures = pytest.mark.parametrize(
    ("covariance", "sigma"), STRUCTURES.values(), ids=STRUCTURES.keys()
)
DESIGNS = ["gaussian", "rademacher", ("t", 9.0)]


def within_error(X, sigma, excess=0.0):
    """Empirical second moments against sigma, 5 standard errors; excess: fourth cumulant."""
    d = sigma.diagonal()
    se = np.sqrt((np.outer(d, d) * (1 + excess) + sigma**2) / X.shape[0])
    return np.abs(X.T @ X / X.shape[0] - sigma) <= 5 * se + 1e-12


@structures
@pytest.mark.parametrize("design", DESIGNS, ids=str)
def test_rows_have_the_covariance(covariance, sigma, design):
    data = simulate(60_000, P, 2, r2=0.5, covariance=covariance, design=design, random_state=1)
    np.testing.assert_allclose(np.asarray(data.covariance), sigma, atol=1e-12)
    assert within_error(data.X, sigma, excess=2.0 if design[0] == "t" else 0.0).all()
    assert np.abs(data.X.mean(0) / np.sqrt(sigma.diagonal() / 60_000)).max() < 5


@structures
def test_the_root_is_exact(covariance, sigma):
    structure = parse_covariance(covariance, P, np.random.default_rng(0))
    root = structure.colour(np.eye(structure.n_white))
    np.testing.assert_allclose(root @ root.T, sigma, atol=1e-12)
    coef = np.random.default_rng(1).standard_normal(P)
    assert structure.variance_of(coef) == pytest.approx(coef @ sigma @ coef, rel=1e-10, abs=1e-10)


@pytest.mark.parametrize("k", [1, 3, 20])
@pytest.mark.parametrize("strength", [0.0, 0.4, 1.0])
def test_factors(k, strength):
    structure = parse_covariance(("factor", k, strength), P, np.random.default_rng(0))
    sigma = np.asarray(structure)
    root = structure.colour(np.eye(P + k))
    np.testing.assert_allclose(root @ root.T, sigma, atol=1e-12)
    np.testing.assert_allclose(sigma.diagonal(), 1.0)
    coef = np.arange(P) - 2.0
    assert structure.variance_of(coef) == pytest.approx(coef @ sigma @ coef)
    # the common part has rank k: what is left of the spectrum is 1 - strength
    if k < P:
        np.testing.assert_allclose(np.linalg.eigvalsh(sigma)[: P - k], 1 - strength, atol=1e-12)
    data = simulate(40_000, P, 1, r2=0.5, covariance=("factor", k, strength), random_state=3)
    assert within_error(data.X, np.asarray(data.covariance)).all()


@pytest.mark.parametrize("design", DESIGNS, ids=str)
def test_entries_of_independent_designs(design):
    X = simulate(500, 40, 1, r2=0.5, design=design, random_state=0).X
    if design == "gaussian":
        assert kstest(X.ravel(), "norm").pvalue > 1e-3
    elif design == "rademacher":
        assert set(np.unique(X)) == {-1.0, 1.0}
    else:
        assert kstest(X.ravel() / np.sqrt(7 / 9), "t", args=(9.0,)).pvalue > 1e-3
    assert X.var() == pytest.approx(1.0, abs=0.05)


@pytest.mark.parametrize("covariance", ["identity", ("ar1", 0.5), ("equicorrelated", 0.3)])
@pytest.mark.parametrize("scale", ["unit", "article"])
@pytest.mark.parametrize("level", [{"r2": 0.3}, {"r2": 0.95}, {"snr": 4.0}])
def test_noise_as_asked_for(covariance, scale, level):
    data = simulate(40_000, 30, 10, covariance=covariance, scale=scale, **level, random_state=2)
    r2 = level.get("r2", 0.8)
    signal, noise = data.signal_variance, data.noise_variance
    assert signal == pytest.approx(data.coef @ np.asarray(data.covariance) @ data.coef)
    assert signal / (signal + noise) == pytest.approx(r2)
    fitted = data.X @ data.coef
    assert np.var(fitted) == pytest.approx(signal, rel=0.05)
    residual = data.y - fitted
    assert np.var(residual) == pytest.approx(noise, rel=0.05)
    assert kstest(residual / np.sqrt(noise), "norm").pvalue > 1e-3
    assert 1 - np.var(residual) / np.var(data.y) == pytest.approx(r2, abs=0.02)


def test_the_articles_scale():
    p, rho, Delta = 2000, 0.3, 0.05
    data = simulate(1000, p, sparsity=rho, noise_variance=Delta, scale="article", random_state=0)
    assert data.noise_variance == Delta
    np.testing.assert_allclose(np.sum(data.X**2, axis=1), 1.0, atol=5 * np.sqrt(2 / p))
    assert np.mean(data.coef**2) == pytest.approx(rho, abs=5 * np.sqrt(rho * 3 / p))
    assert np.var(data.y) == pytest.approx(rho + Delta, rel=0.25)
    assert np.asarray(data.covariance)[0, 0] == pytest.approx(1 / p)


def test_unit_scale_signal_is_the_number_of_signals_times_the_mean_square():
    data = simulate(10, 400, 50, r2=0.5, random_state=0)
    assert data.signal_variance == pytest.approx(50 * np.mean(data.coef[data.support] ** 2))
    point = simulate(10, 400, 50, r2=0.5, effects=PointEffects(), random_state=0)
    assert point.signal_variance == pytest.approx(50.0)


@pytest.mark.parametrize("k", [0, 1, 13, 40])
def test_exactly_so_many_signals(k):
    data = simulate(5, 40, k, noise_variance=1.0, random_state=0)
    assert data.support.sum() == k
    assert data.support.dtype == bool
    np.testing.assert_array_equal(data.support, data.coef != 0)


def test_signals_are_anywhere():
    hits = sum(
        simulate(1, 20, 5, noise_variance=1.0, random_state=s).support.astype(int)
        for s in range(600)
    )
    assert np.abs(hits - 150).max() < 5 * np.sqrt(600 * 0.25 * 0.75)


def test_sparsity_is_a_probability():
    numbers = [
        simulate(1, 100, sparsity=0.2, noise_variance=1.0, random_state=s).support.sum()
        for s in range(500)
    ]
    assert np.mean(numbers) == pytest.approx(20, abs=5 * np.sqrt(16 / 500))
    assert np.var(numbers) == pytest.approx(16, rel=0.35)
    for share, want in ((0.0, 0), (1.0, 100)):
        data = simulate(1, 100, sparsity=share, noise_variance=1.0, random_state=0)
        assert data.support.sum() == want


def test_no_signal_by_chance_still_has_noise():
    data = simulate(50, 10, sparsity=1e-9, snr=2.0, random_state=0)
    assert not data.support.any()
    assert data.noise_variance == pytest.approx(10 * 1e-9 / 2)


@pytest.mark.parametrize(
    ("effects", "law"),
    [
        (None, norm()),
        (GaussianEffects(), norm()),
        (LaplaceEffects(), laplace(scale=np.sqrt(0.5))),
    ],
)
@pytest.mark.parametrize("scale", ["unit", "article"])
def test_smooth_effects(effects, law, scale):
    data = simulate(2, 5000, 3000, r2=0.5, effects=effects, scale=scale, random_state=0)
    assert kstest(data.coef[data.support], law.cdf).pvalue > 1e-3


def test_effects_with_given_values():
    study = EmpiricalEffects([1.0, -2.0, 4.0])
    data = simulate(2, 5000, 3000, r2=0.5, effects=study, random_state=0)
    value, number = np.unique(data.coef[data.support], return_counts=True)
    np.testing.assert_allclose(value, np.array([-2.0, 1.0, 4.0]) / np.sqrt(7))
    assert np.abs(number - 1000).max() < 5 * np.sqrt(3000 * 2 / 9)
    sign = simulate(2, 5000, 3000, r2=0.5, effects=PointEffects(), random_state=0).coef
    assert abs(sign.sum()) < 5 * np.sqrt(3000)
    assert np.sum(sign**2) == pytest.approx(3000)


def test_logistic_labels():
    data = simulate(60_000, 5, 3, response="logistic", random_state=0)
    assert data.noise_variance is None
    assert set(np.unique(data.y)) == {0.0, 1.0}
    probability = expit(data.X @ data.coef)
    for low in np.arange(0.0, 1.0, 0.1):
        inside = (probability >= low) & (probability < low + 0.1)
        n = inside.sum()
        assert data.y[inside].mean() == pytest.approx(
            probability[inside].mean(), abs=5 * np.sqrt(0.25 / n)
        )


def test_one_seed_one_design():
    base = simulate(20, 10, 3, r2=0.5, random_state=7)
    same = simulate(20, 10, 3, r2=0.5, random_state=np.random.SeedSequence(7))
    np.testing.assert_array_equal(base.X, same.X)
    np.testing.assert_array_equal(base.y, same.y)
    other = simulate(20, 10, 8, snr=9.0, effects=LaplaceEffects(), random_state=7)
    np.testing.assert_array_equal(base.X, other.X)
    assert np.any(simulate(20, 10, 3, r2=0.5, random_state=8).X != base.X)
    rng = np.random.default_rng(0)
    first, second = (simulate(20, 10, 3, r2=0.5, random_state=rng).X for _ in range(2))
    assert np.any(first != second)


def test_no_noise():
    for level in ({"noise_variance": 0.0}, {"r2": 1.0}):
        data = simulate(20, 10, 3, **level, random_state=0)
        assert data.noise_variance == 0.0
        np.testing.assert_array_equal(data.y, data.X @ data.coef)


def test_a_covariance_can_be_used_again():
    first = simulate(20, 10, 3, r2=0.5, covariance=("factor", 2, 0.5), random_state=0)
    again = simulate(20, 10, 3, r2=0.5, covariance=first.covariance, random_state=1)
    assert again.covariance is first.covariance
    with pytest.raises(ArgumentError, match="covariance"):
        simulate(20, 11, 3, r2=0.5, covariance=first.covariance)
    small = simulate(20, 10, 3, r2=0.5, scale="article", random_state=0).covariance
    for scale in ("unit", "article"):  # rows as drawn: 1/p enters once
        data = simulate(20, 10, 3, r2=0.5, covariance=small, scale=scale, random_state=0)
        np.testing.assert_allclose(np.asarray(data.covariance), np.eye(10) / 10)


def test_the_result_object():
    data = simulate(20, 10, 3, r2=0.5, random_state=0)
    assert dataclasses.is_dataclass(data)
    assert not hasattr(data, "__dict__")
    with pytest.raises(dataclasses.FrozenInstanceError):
        data.y = None
    assert repr(data).startswith("Simulation(n_samples=20, n_features=10, n_signals=3, noise_")
    assert "noise" not in repr(simulate(20, 10, 3, response="logistic", random_state=0))
    assert [*data.to_dict()] == ["X", "y", "coef", "support", "noise_variance", "covariance"]
    frame = data.to_frame()
    assert frame.shape == (20, 11)
    assert [*frame.columns[[0, 9, 10]]] == ["x0", "x9", "y"]
    assert data.X.flags.f_contiguous
    assert "7 x 7" in repr(simulate(2, 7, 1, r2=0.5, covariance=GIVEN).covariance)


@pytest.mark.parametrize(
    "covariance", ["identity", ("ar1", 0.5), ("equicorrelated", 0.5), ("block", 0.5, 10)]
)
def test_twenty_thousand_variables(covariance):
    data = simulate(20, 20_000, 10, r2=0.5, covariance=covariance, random_state=0)
    assert data.X.shape == (20, 20_000)
    assert np.isfinite(data.noise_variance)


@pytest.mark.parametrize(("n", "p"), [(1, 1), (1, 5), (5, 1)])
@pytest.mark.parametrize(
    "covariance", ["identity", ("ar1", 0.5), ("equicorrelated", 0.5), ("block", 0.5, 2)]
)
def test_one_row_or_one_variable(n, p, covariance):
    assert simulate(n, p, 1, r2=0.5, covariance=covariance, random_state=0).X.shape == (n, p)


GOOD = {"n_samples": 6, "n_features": 5, "n_signals": 2, "r2": 0.5}


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"n_samples": 0}, "n_samples"),
        ({"n_samples": 2.5}, "n_samples"),
        ({"n_features": "many"}, "n_features"),
        ({"n_signals": None}, "n_signals"),
        ({"n_signals": 6}, "n_signals"),
        ({"n_signals": -1}, "n_signals"),
        ({"n_signals": 0}, "n_signals"),
        ({"n_signals": True}, "n_signals"),
        ({"sparsity": 0.5}, "sparsity"),
        ({"n_signals": None, "sparsity": 1.5}, "sparsity"),
        ({"n_signals": None, "sparsity": [0.1, 0.2]}, "sparsity"),
        ({"n_signals": None, "sparsity": 0.0}, "sparsity"),
        ({"snr": 1.0}, "snr and r2"),
        ({"r2": None}, "snr, r2 and noise_variance"),
        ({"r2": 0.0}, "r2"),
        ({"r2": 1.1}, "r2"),
        ({"r2": None, "snr": 0.0}, "snr"),
        ({"r2": None, "snr": np.inf}, "snr"),
        ({"r2": None, "noise_variance": -1.0}, "noise_variance"),
        ({"r2": [0.1, 0.2]}, "r2"),
        ({"response": "logistic"}, "r2"),
        ({"response": "poisson"}, "response"),
        ({"scale": "paper"}, "scale"),
        ({"effects": "gaussian"}, "effects"),
        ({"design": "cauchy"}, "design"),
        ({"design": ("t", 2.0)}, "dof"),
        ({"design": ("t", "many")}, "dof"),
        ({"design": ("t",)}, "design"),
        ({"design": np.eye(2)}, "design"),
        ({"design": None}, "design"),
        ({"covariance": "ar1"}, "covariance"),
        ({"covariance": ("ar1", 1.0)}, "covariance"),
        ({"covariance": ("ar1", -1.5)}, "covariance"),
        ({"covariance": ("ar1", [0.1])}, "covariance"),
        ({"covariance": ("ar1", 0.5, 2)}, "covariance"),
        ({"covariance": ("toeplitz", 0.5)}, "covariance"),
        ({"covariance": ("equicorrelated", -0.3)}, "covariance"),
        ({"covariance": ("equicorrelated", None)}, "covariance"),
        ({"covariance": ("block", 0.5, 0)}, "covariance"),
        ({"covariance": ("block", 0.5, 2.0)}, "covariance"),
        ({"covariance": ("factor", 0, 0.5)}, "covariance"),
        ({"covariance": ("factor", 2, 1.5)}, "covariance"),
        ({"covariance": ("factor", 2, [0.5])}, "covariance"),
        ({"covariance": ()}, "covariance"),
        ({"covariance": None}, "covariance"),
        ({"covariance": np.eye(4)}, "covariance"),
        ({"covariance": np.ones((5, 4))}, "covariance"),
        ({"covariance": np.triu(np.ones((5, 5)))}, "covariance"),
        ({"covariance": np.eye(5) - 0.5}, "covariance"),
        ({"covariance": -np.eye(5)}, "covariance"),
        ({"covariance": np.full((5, 5), np.nan)}, "covariance"),
        ({"random_state": -3}, "random_state"),
    ],
)
def test_bad_input(change, name):
    with pytest.raises(ArgumentError, match=name) as error:
        simulate(**(GOOD | change))
    assert "\n" not in str(error.value)


WRONG = st.one_of(
    st.none(),
    st.booleans(),
    st.text(max_size=5),
    st.floats(),
    st.integers(-5, 5),
    st.lists(st.floats(), max_size=3),
    st.tuples(st.sampled_from(["ar1", "block", "t", "factor", ""]), st.floats()),
    st.binary(max_size=3),
    st.dictionaries(st.text(max_size=1), st.integers(), max_size=1),
)


@given(st.sampled_from([*GOOD, "sparsity", "snr", "covariance", "design", "scale"]), WRONG)
@settings(max_examples=200, deadline=None)
def test_whatever_is_passed_it_works_or_says_what_is_wrong(name, value):
    args = GOOD | {name: value}
    args.pop({"sparsity": "n_signals", "snr": "r2"}.get(name), None)
    try:
        data = simulate(**args)
    except ArgumentError as error:
        message = str(error)
    else:
        assert np.isfinite(data.X).all()
        assert np.isfinite(data.y).all()
        return
    assert name in message
    assert "\n" not in message
