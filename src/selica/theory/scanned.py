"""Errors of single members along penalties: what a search for a penalty asks for."""

from __future__ import annotations

import numpy as np

from selica._core.types import Array, IntArray
from selica.theory.model import Model
from selica.theory.solve import Errors, member_errors


class ScannedErrors:
    """Errors of members of many models, at any of their penalties.

    What two members share is not solved for. The first call is a scan, with equally many penalties
    of each model in turn; later calls start from what it found nearby.
    """

    def __init__(
        self, model: Model, lam2: Array, rate: Array | None, copies: int, resampling: str
    ) -> None:
        self._model, self._lam2, self._rate = model, lam2, rate
        self._copies, self._resampling = copies, resampling
        self._scan: tuple[Array, Errors] | None = None

    def __call__(self, log_lam: Array, index: IntArray) -> Errors:
        """Of the models `index`."""
        m = self._model
        part = Model(m.alpha[index], m.rho[index], m.Delta[index], m.effects)
        rate = None if self._rate is None else self._rate[index]
        found = member_errors(
            part, np.exp(log_lam), rate, lam2=self._lam2[index], copies=self._copies,
            resampling=self._resampling, guess=self._near(log_lam, index),
        )  # fmt: skip
        if self._scan is None:
            self._scan = log_lam.reshape(self._model.alpha.size, -1), found
        return found

    def _near(self, log_lam: Array, index: IntArray) -> Errors | None:
        """Of the same model, the scanned point with the nearest penalty."""
        if self._scan is None:
            return None
        grid, found = self._scan
        apart = np.abs(grid[index] - log_lam[:, None])
        nearest = index * grid.shape[1] + np.argmin(apart, axis=1)
        return Errors(found.prediction[nearest], found.chi[nearest])
