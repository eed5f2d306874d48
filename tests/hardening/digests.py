"""Digests of answers from every engine: `python -m tests.hardening.digests [n_jobs [backend]]`."""

from __future__ import annotations

import hashlib
import json
import sys

import joblib
import numpy as np

from selica import DataSplitting, DerandomizedKnockoffs, KnockoffSelection, StabilitySelection
from selica.amp import knockoff_amp, stability_amp, stability_vamp
from selica.sampling import simulate
from selica.theory import Model, power, solve_stability


def digest(*arrays):
    """Of all bytes of the arrays."""
    whole = hashlib.sha256()
    for array in arrays:
        whole.update(np.ascontiguousarray(array).tobytes())
    return whole.hexdigest()[:16]


def digests(n_jobs=None, n_samples=150, n_features=300):
    """Name of an engine, digest of its answer."""
    data = simulate(n_samples, n_features, 10, snr=5.0, random_state=0)
    X, y = data.X, data.y
    shared = {"random_state": 0, "n_jobs": n_jobs}
    stability = StabilitySelection(n_resamples=40, **shared).fit(X, y)
    single = KnockoffSelection(0.2, **shared).fit(X, y)
    derandomized = DerandomizedKnockoffs(0.2, n_copies=4, **shared).fit(X, y)
    splitting = DataSplitting(0.2, n_splits=4, **shared).fit(X, y)
    lam = 0.3 * np.abs(X.T @ y).max()
    model = Model(0.8, 0.2, 0.01)
    solution = solve_stability(model, np.geomspace(0.05, 0.5, 5))
    return {
        "StabilitySelection": digest(stability.selection_probabilities_),
        "KnockoffSelection": digest(single.statistics_, single.get_support()),
        "DerandomizedKnockoffs": digest(derandomized.evalues_, derandomized.get_support()),
        "DataSplitting": digest(splitting.inclusion_rates_, splitting.get_support()),
        "stability_amp": digest(stability_amp(X, y, lam).selection_probabilities),
        "knockoff_amp": digest(knockoff_amp(X, y, lam).selection_probabilities),
        "stability_vamp": digest(stability_vamp(X, y, lam).selection_probabilities),
        "theory": digest(solution.q, solution.v, power(model, "knockoffs-ideal")),
    }


if __name__ == "__main__":
    jobs = int(sys.argv[1]) if len(sys.argv) > 1 else None
    with joblib.parallel_config(backend=sys.argv[2] if len(sys.argv) > 2 else "loky"):
        print(json.dumps(digests(jobs)))
