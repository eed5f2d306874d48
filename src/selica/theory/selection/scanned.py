"""Errors of single members along penalties: what a search for a penalty asks for."""

from __future__ import annotations

import numpy as np

from selica._core.effects import Effects
from selica._core.types import Array, IntArray
from selica.theory.solve import Errors, member_errors, member_guesses


class ScannedErrors:
    """Errors of members of many models, at any of their penalties.

    What two members share is not solved for. The first call is a scan, with equally many penalties
    of each model in turn, falling; later calls start from what it found nearby.

    Parameters
    ----------
    effects : Effects
    models : dict of arrays of shape (models,)
        alpha, rho, Delta, lam2 and mu_B; without the last, nothing is resampled.
    copies, resampling
        As in the equations.
    """

    def __init__(
        self, effects: Effects, models: dict[str, Array], copies: int = 0, resampling: str = ""
    ) -> None:
        self._effects, self._models = effects, models
        self._copies, self._resampling = copies, resampling
        self._scan: tuple[Array, Errors] | None = None

    def __call__(self, log_lam: Array, index: IntArray) -> Errors:
        """Of the models `index`."""
        points = {name: values[index] for name, values in self._models.items()}
        found = member_errors(
            self._effects, points | {"lam": np.exp(log_lam)}, copies=self._copies,
            resampling=self._resampling, guess=self._near(log_lam, index),
        )  # fmt: skip
        if self._scan is None:
            self._scan = self._rows(log_lam), found
        return found

    def _rows(self, log_lam: Array) -> Array:
        """Penalties of a scan, one row for each model."""
        return log_lam.reshape(self._models["alpha"].size, -1)

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
        models = dict(self._models)
        if models.pop("lam2").any():
            return None
        return member_guesses(
            self._effects, models, self._rows(log_lam),
            copies=self._copies, resampling=self._resampling,
        )  # fmt: skip
