"""What message passing owes to copies that are drawn and fitted."""

from __future__ import annotations

import numpy as np

from tests.amp.instances import rms


def assert_copies_are_integrated_out(found, coef, w0, w_threshold):
    """`found` by message passing, coefficients (B, 2 p) of fits with B copies, true effects."""
    assert found.status == "converged"
    B, p = len(coef), w0.size
    own = coef[:, :p]
    Z = np.abs(own) - np.abs(coef[:, p:])
    for t in (w_threshold, 0.0, -0.05):
        P = np.mean(t < Z, axis=0)
        error = np.sqrt(np.mean(P * (1 - P)) / B)
        assert rms(found.probability(t) - P) < 1.5 * error
    assert rms(found.coef - own.mean(axis=0)) < 2.0 * np.sqrt(own.var(axis=0).mean() / B)
    # the estimate of the false share is an upper one, and not an empty one
    selected = w_threshold < Z
    false = np.count_nonzero(selected & (w0 == 0.0)) / np.count_nonzero(selected)
    assert false < found.expected_fdp() < 3.0 * false + 0.1
