"""What is simulated: one setting of data and ensemble, and the rules that select from it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from selica import catalogue
from selica._core.effects import Effects, EmpiricalEffects, GaussianEffects
from selica._core.errors import ArgumentError
from selica._core.random import child
from selica._core.table import Row
from selica._core.types import Array
from selica._core.validation import LARGEST, choice, count, number, positive, real
from selica.catalogue import Method
from selica.sampling.covariance import parse_covariance
from selica.theory.model import Model

THRESHOLDS = {"lasso": "w_th", "stability": "Pi_th", "knockoff": "Z_th"}
"""The threshold that methods move, in the words of the theory, by their equations."""
IDENTITY = "identity"


def simulated_methods() -> dict[str, Method]:
    """Return the methods that are simulated: those with equations and an ideal threshold."""
    rows = catalogue.at_ideal()
    return {one.name: one for one in rows if one.equations is not None}


def simulated_method(name: object) -> str:
    """Return the name of a method that is simulated; former names give a warning."""
    found = catalogue.method(name, room="theory").name
    return choice("method", found, tuple(simulated_methods()))


class ThresholdRule(NamedTuple):
    """A method, and the thresholds at which it selects."""

    method: str
    thresholds: tuple[float, ...]
    """On Pi for stability selection, on Z for knockoffs, on |w| for the lasso."""
    Pi_th: float | None = None
    """The other threshold of a frequency over knockoff copies."""

    @property
    def ensemble(self) -> str:
        """Ensemble that the method reads its selection off: lasso, stability or knockoff."""
        return str(catalogue.method(self.method).equations)


@dataclass(frozen=True, slots=True)
class Cell:
    """Data sets of one kind, one ensemble over a path of penalties, and rules.

    Parameters
    ----------
    rules : tuple of ThresholdRule
        All of one ensemble.
    alpha, rho, Delta : float
        Samples per variable, share of signals, noise variance.
    lams : tuple of float
        Penalties, in the unit of the theory.
    mu_B : float
        Resampling rate of stability selection.
    N : int
        Number of variables.
    n_members, n_datasets : int
        Realisations of the ensemble's randomness for each data set, and number of data sets.
    effects : Effects
    covariance : str, tuple or array
        As in `sampling.simulate`; anything but "identity" uses Gaussian knockoffs.
    """

    rules: tuple[ThresholdRule, ...]
    alpha: float
    rho: float
    Delta: float
    lams: tuple[float, ...]
    mu_B: float = 1.0
    N: int = 128
    n_members: int = 256
    n_datasets: int = 64
    effects: Effects = GaussianEffects()  # noqa: RUF009 (frozen)
    covariance: Any = IDENTITY

    @property
    def ensemble(self) -> str:
        """lasso, stability or knockoff."""
        return self.rules[0].ensemble

    @property
    def n_samples(self) -> int:
        """Rows of a data set."""
        return max(round(self.alpha * self.N), 1)

    @property
    def model(self) -> Model:
        """The parameters the theory sees, with the samples there are."""
        return Model(self.n_samples / self.N, self.rho, self.Delta, self.effects)

    @property
    def independent(self) -> bool:
        """Whether the columns are independent, as the theory assumes."""
        return isinstance(self.covariance, str) and self.covariance == IDENTITY

    def seed(self, parent: np.random.SeedSequence, dataset: int) -> np.random.SeedSequence:
        """Return the seed of a data set: methods are compared on the same data, sizes are not."""
        text = f"{self.alpha!r} {self.rho!r} {self.Delta!r} {self.N}"
        word = int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big")
        return child(parent, word, dataset)

    def labels(self) -> Row:
        """Return the columns that name this cell in a table."""
        ensemble = self.ensemble
        return {
            "alpha": self.alpha,
            "rho": self.rho,
            "Delta": self.Delta,
            "effects": _effects_label(self.effects),
            "covariance": covariance_label(self.covariance),
            "N": self.N,
            "n_samples": self.n_samples,
            "mu_B": self.mu_B if ensemble == "stability" else None,
            "n_datasets": self.n_datasets,
        }


def covariance_label(covariance: Any) -> str:
    """Return a covariance in a few letters; different ones have different letters."""
    if isinstance(covariance, str):
        return covariance
    if isinstance(covariance, tuple):
        return f"{covariance[0]}({', '.join(map(repr, covariance[1:]))})"
    return f"matrix {_digest(np.asarray(covariance, dtype=float))}"


def _effects_label(effects: Effects) -> str:
    """Name a distribution of effects in a few letters; hidden values get a digest."""
    if isinstance(effects, EmpiricalEffects):
        return f"{effects!r} {_digest(np.concatenate(effects.mixture()))}"
    return repr(effects)


def _digest(values: Array) -> str:
    return hashlib.sha256(np.ascontiguousarray(values).tobytes()).hexdigest()[:8]


def check_cell(
    rules: tuple[ThresholdRule, ...],
    model: Model,
    lams: Array,
    *,
    mu_B: float = 1.0,
    N: int = 128,
    n_members: int = 256,
    n_datasets: int = 64,
    covariance: Any = IDENTITY,
) -> Cell:
    """Return a cell of values that can be simulated, or raise for the first that cannot."""
    for rule in rules:
        choice("method", rule.method, tuple(simulated_methods()))
        moved = THRESHOLDS[rule.ensemble]
        lowest = -np.inf if moved == "Z_th" else 0.0
        highest = 1.0 if moved == "Pi_th" else np.inf
        real("threshold", rule.thresholds, at_least=lowest, at_most=highest)
        if rule.Pi_th is not None:
            number("Pi_th", rule.Pi_th, at_least=0.0, at_most=1.0)
        elif rule.method == "knockoffs-frequency":
            raise ArgumentError(f"Pi_th must be given for the method {rule.method!r}.")
    if len({rule.ensemble for rule in rules}) != 1:
        raise ArgumentError("rules must all belong to one ensemble.")
    if isinstance(covariance, tuple | list) and tuple(covariance) == (IDENTITY,):
        covariance = IDENTITY
    size = count("N", N, at_least=2)
    parse_covariance(covariance, size, np.random.default_rng(0))  # for its errors
    return Cell(
        rules=tuple(
            ThresholdRule(r.method, tuple(dict.fromkeys(map(float, r.thresholds))), r.Pi_th)
            for r in rules
        ),
        alpha=float(model.alpha),
        rho=float(model.rho),
        Delta=float(model.Delta),
        effects=model.effects,
        lams=tuple(np.unique(positive("lam", lams))[::-1].tolist()),
        mu_B=number("mu_B", mu_B, at_least=1.0 / LARGEST, at_most=LARGEST),
        N=size,
        n_members=count("n_members", n_members, at_least=2),
        n_datasets=count("n_datasets", n_datasets),
        covariance=covariance,
    )
