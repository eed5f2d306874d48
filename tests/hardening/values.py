"""Sensible values for parameters, by name."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from selica import catalogue, theory

ROWS, COLUMNS = 12, 5


def array(seed, *shape):
    return np.random.default_rng(seed).standard_normal(shape)


def some(values: Any, most: int = 4) -> st.SearchStrategy:
    return st.lists(values, min_size=1, max_size=most)


seeds = st.integers(0, 1000)
fractions = st.floats(0.0, 1.0)
positive = st.floats(1e-3, 1e3)
small = st.integers(1, 12)
effects = st.sampled_from(
    [theory.GaussianEffects(), theory.LaplaceEffects(), theory.PointEffects((1.0, 2.0))]
)
models = st.builds(theory.Model, st.floats(0.05, 20.0), st.floats(0.0, 0.9), st.floats(0.0, 10.0))
tables = st.builds(lambda s: array(s, ROWS, COLUMNS), seeds)
responses = st.builds(lambda s: array(s, ROWS), seeds)
statistics = st.builds(lambda s: np.round(array(s, 8), 1), seeds)
probabilities = st.lists(fractions, max_size=8)
covariances = st.one_of(
    st.sampled_from(
        ["identity", ("ar1", 0.5), ("equicorrelated", 0.3), ("block", 0.4, 3), ("factor", 2, 0.5)]
    ),
    seeds.map(lambda s: np.corrcoef(array(s, 5, 20))),
)
METHODS = [one.name for one in catalogue.methods() if one.threshold is not None]

SENSIBLE: dict[str, st.SearchStrategy] = {
    "model": models,
    "method": st.sampled_from(METHODS),
    "lam": positive,
    "lam2": st.floats(0.0, 10.0),
    "lams": some(positive).map(lambda v: sorted(v, reverse=True)),
    "mu_B": st.floats(0.05, 5.0),
    "resampling": st.sampled_from(["poisson", "bernoulli", "exponential", "subsample"]),
    "response": st.none(),
    "spectrum": st.sampled_from([None, theory.Spectrum(np.array([0.5, 1.5]), np.full(2, 0.5))]),
    "fdr": fractions,
    "fdrs": some(fractions, 3),
    "criterion": st.sampled_from(["prediction", "power"]),
    "branch": st.sampled_from(["information", "algorithm"]),
    "rho": fractions,
    "Delta": st.floats(0.0, 10.0),
    "effects": effects,
    "pvalues": probabilities,
    "rates": probabilities,
    "evalues": st.lists(st.floats(0.0, 100.0), max_size=8),
    "W": statistics,
    "M": statistics,
    "selected": st.lists(st.booleans(), min_size=5, max_size=5),
    "truth": st.lists(st.booleans(), min_size=5, max_size=5),
    "v": small,
    "k": small,
    "p": st.integers(1, 1000),
    "q": st.floats(0.5, 50.0),
    "cutoff": st.floats(0.5, 1.0),
    "pfer": st.floats(0.01, 5.0),
    "n_pairs": small,
    "level": fractions,
    "eta": fractions,
    "gamma": fractions,
    "n_copies": small,
    "offset": st.integers(0, 1),
    "assumption": st.sampled_from(["none", "unimodal", "r-concave", "monotone"]),
    "adaptive": st.booleans(),
    "early_stopping": st.booleans(),
    "X": tables,
    "y": responses,
    "weights": st.builds(lambda s: np.abs(array(s, 3, ROWS)), seeds),
    "penalty_weights": st.builds(lambda s: np.abs(array(s, COLUMNS)), seeds),
    "sample_weight": st.builds(lambda s: np.abs(array(s, ROWS)), seeds),
    "scale": st.none(),
    "members": st.sampled_from([np.arange(3), 2, slice(1, 4)]),
    "random_state": seeds,
    "Sigma": seeds.map(lambda s: np.corrcoef(array(s, 5, 20))),
    "n_samples": st.integers(1, 30),
    "n_features": st.integers(1, 20),
    "n_resamples": small,
    "n_signals": st.integers(0, 5),
    "sparsity": fractions,
    "scheme": st.sampled_from(["bootstrap", "poisson", "subsample", "pairs", "exponential"]),
    "rate": st.floats(0.1, 2.0),
    "resample_rate": st.floats(0.1, 2.0),
    "w_threshold": st.floats(0.0, 2.0),
    "weakness": st.floats(0.2, 1.0),
    "variances": st.sampled_from(["vector", "scalar"]),
    "form": st.sampled_from(["diagonal", "scalar"]),
    "tol": st.sampled_from([1e-8, 1e-6, 1e-3]),
    "max_iter": st.integers(1, 200),
    "max_active": st.integers(1, 5),
    "keep": st.sampled_from(["coef", "counts", ("coef", "counts")]),
    "fit_intercept": st.booleans(),
    "standardize": st.booleans(),
    "standardise": st.booleans(),
    "loss": st.sampled_from(["squared", "logistic"]),
    "groups": st.just(np.arange(ROWS) // 2),
    "design": st.sampled_from(["gaussian", "rotation", "binary"]),
    "copies": st.just(lambda b: array(b, ROWS, COLUMNS)),
    "sampler": st.just(lambda X, rng: rng.standard_normal(X.shape)),
    "snr": positive,
    "r2": st.floats(0.05, 0.95),
    "effect_size": st.floats(0.01, 3.0),
    "noise_variance": st.floats(0.0, 10.0),
    "covariance": covariances,
    "s": st.sampled_from(["mvr", "maxent", "sdp", "equi"]),
    "n_data": st.integers(8, 10),
    "n_members": st.integers(2, 6),
    "n_datasets": st.integers(1, 3),
    "N": st.integers(2, 16),
    "threshold": fractions,
    "Pi_th": fractions,
    "n_jobs": st.sampled_from([None, 1]),
    "n_sets": st.integers(2, 3),
    "theory": st.just(False),
    "power": st.floats(0.01, 0.999),
    "settings": st.sampled_from(["best", "default"]),
    "at_most": st.integers(2, 3000),
    "title": st.sampled_from(["", "power", "p < 0.1 & $\\alpha$"]),
}
COSTLY = {
    *("N", "at_most", "method", "methods", "n_data", "n_datasets", "n_members", "n_sets"),
    *("scale", "theory", "y"),
}
"""Parameters that are always given: their defaults are for answers worth waiting for."""
ALTERNATIVES = (("r2", "snr", "effect_size", "noise_variance"), ("n_signals", "sparsity"))
"""Parameters of which a function wants exactly one."""
