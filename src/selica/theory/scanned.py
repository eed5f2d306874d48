"""Errors of single members along penalties: what a search for a penalty asks for."""

from __future__ import annotations

import numpy as np

from selica._core.types import Array, IntArray
from selica.theory.model import Model
from selica.theory.solve import Errors, member_errors, member_guesses


class ScannedErrors:
    """Errors of members of many models, at any of their penalties.

    What two members share is not solved for. The first call is a scan, with equally many penalties
    of each model in turn, falling; later calls start from what it found nearby.
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
        """Of the same model, between the two scanned points beside a penalty."""
        if self._scan is None:
            return self._first(log_lam)
        grid, found = self._scan
        size = grid.shape[1]  # falling penalties
        right = np.clip(np.sum(grid[index] > log_lam[:, None], axis=1), 1, size - 1)
        high, low = grid[index, right - 1], grid[index, right]
        share = np.clip((high - log_lam) / np.maximum(high - low, 1e-12), 0.0, 1.0)
        after = index * size + right
        return Errors(*(part[after - 1] ** (1.0 - share) * part[after] ** share for part in found))

    def _first(self, log_lam: Array) -> Errors | None:
        """For the scan itself; with a ridge part it begins as anywhere else."""
        if self._lam2.any():
            return None
        return member_guesses(
            self._model, log_lam.reshape(self._model.alpha.size, -1), self._rate,
            copies=self._copies, resampling=self._resampling,
        )  # fmt: skip
