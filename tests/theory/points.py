"""Points of parameter space shared by the tests."""

from __future__ import annotations

import numpy as np

LOW = {"alpha": 0.05, "rho": 0.01, "Delta": 1e-4, "lam": 0.01, "mu_B": 0.2}
HIGH = {"alpha": 10.0, "rho": 0.99, "Delta": 10.0, "lam": 5.0, "mu_B": 10.0}


def random_box(size: int, seed: int) -> dict[str, np.ndarray]:
    """Random points: logarithmic in every parameter but rho."""
    rng = np.random.default_rng(seed)
    out = {}
    for name in LOW:
        if name == "rho":
            out[name] = rng.uniform(LOW[name], HIGH[name], size)
        else:
            out[name] = np.exp(rng.uniform(np.log(LOW[name]), np.log(HIGH[name]), size))
    return out
