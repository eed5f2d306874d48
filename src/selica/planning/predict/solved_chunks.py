"""Chunks of neighbouring columns on which the equations of a study are solved.

What rules on copies and bounds on halves of the rows share: chunks with signals and fields, how
many of them are drawn, the error of a rate over the signals that were drawn, and what is said of
the chunks and of the equations.
"""

from __future__ import annotations

import math

import numpy as np

from selica._core.scaling import penalty_of_data
from selica._core.types import Array
from selica.correlated.chunks import Chunks, plant
from selica.correlated.drawn_fits import GaussianCopies, SingleBody
from selica.correlated.fixed_point import DrawnEquations, FixedPoint
from selica.planning.study import Study
from selica.theory import Model

DRAFT = 0.25
"""Share of all draws that a rough prediction takes."""
MOST_WORK = 200_000_000
"""Columns that are drawn times the columns of a chunk, at most."""
_SEED = (22, 0)
"""Seed of the signals and fields."""
_SOLVED_DRAWS = (2000, 40_000)
"""Signals and columns with which the equations are solved."""
_INNER_MEMBERS = 4
"""Members of a chunk there."""
_FEWEST_SIGNALS = 200
"""Signals that are drawn, at least."""


def solved_draws(study: Study) -> tuple[int, int]:
    """Return the signals and columns with which the equations of a study are solved."""
    share = DRAFT if study.draft else 1.0
    return round(share * _SOLVED_DRAWS[0]), round(share * _SOLVED_DRAWS[1])


def chunk_notes(chunks: Chunks, point: FixedPoint) -> tuple[str, ...]:
    """Return what a reader should know of chunks and of the equations on them, in sentences."""
    notes: tuple[str, ...] = (chunks.note,) if chunks.note else ()
    if not point.converged:
        notes += (
            f"The equations of the theory were not solved (residual {point.residual:.1e}): no "
            "power is predicted, and it is shown as 0.",
        )
    return notes


def affordable(signals: int, most: int, chunks: Chunks, rho: float) -> int:
    """Return a number of signals, fewer where chunks that hold them have too many columns."""
    a_chunk = max(rho * chunks.size, 1.0)
    return max(min(signals, int(most * a_chunk / chunks.size)), _FEWEST_SIGNALS)


def stratified_error(effect: Array, rate: Array, weight: Array) -> float:
    """Return the error of the mean rate of signals whose effects are one from each of equal parts.

    Signals with the next larger effect say how far a rate is from that of its part.
    """
    order = np.argsort(np.abs(effect))
    apart, weight = np.diff(rate[order]), weight[order]
    if apart.size == 0:
        return 0.5
    return float(math.sqrt(0.5 * np.sum((weight[1:] * apart) ** 2)) / weight.sum())


class ChunkDraws:
    """Chunks with signals and fields, in which equations are solved."""

    def __init__(
        self,
        study: Study,
        chunks: Chunks,
        copies: GaussianCopies | None,
        wanted: tuple[int, int],
    ) -> None:
        k, p = study.n_signals, study.n_features
        self._study = study
        rng = np.random.default_rng(_SEED)
        most = MOST_WORK // (2 * chunks.size)
        signals = affordable(wanted[0], most, chunks, k / p)
        at_most = (signals, min(wanted[1], most))
        self.planted = plant(chunks, study.effects, (k, p), at_most, rng)
        self.model = Model(study.n_samples / p, k / p, self.planted.signal / study.snr)
        self.body = SingleBody(chunks.covariance, self.planted.truth, _INNER_MEMBERS, rng, copies)

    def equations(self, lam: float, resampled: tuple[float, str] | None = None) -> DrawnEquations:
        """Return the equations at a penalty, of fits or of resampled ones."""
        signal, share = self.planted.signal, self.planted.share
        return DrawnEquations(self.body, self.model, lam, resampled, signal, share)

    def unit(self, rate: float = 1.0) -> float:
        """Return a penalty of one in the unit of the selectors."""
        size = (self._study.n_samples, self._study.n_features)
        return float(penalty_of_data(1.0, *size, self.planted.signal, self.model.Delta, rate))
