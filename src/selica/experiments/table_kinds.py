"""Do the promises hold for other responses, covariates, groups of rows and missing values?

Settings and methods for `guarantees`. Nothing is known beforehand here: knockoffs estimate the
covariance of the columns, and penalties are cross-validated, as they are for a user.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit

from selica._core.random import child
from selica._core.types import Array, BoolArray
from selica.experiments.guarantees import FDR, PFER, DataSet, Setting
from selica.sampling import simulate
from selica.selectors import (
    AutoSelection,
    DataSplitting,
    DerandomizedKnockoffs,
    KnockoffSelection,
    StabilitySelection,
)
from selica.selectors.reading import NamedColumns

VISITS = 5
"""Rows of each patient."""
MOST_VISITS = 9
"""Rows of a patient at most, where their numbers differ."""
_MISSING = 0.1
"""Share of the values that are missing."""
_COPIES = 10
"""Knockoff copies, also of `AutoSelection`, which takes 31 by default: enough for an FDR of 0.2."""
_TICKS = 8
"""Times are whole multiples of one over this, so that many are tied."""
_EXPECTED = {"count": "count", "overdispersed": "count", "survival": "survival"}
"""What a selector is told of the response, where it does not see it."""


@dataclass(frozen=True, slots=True)
class TableSetting(Setting):
    """Data sets of one kind, with what a plain table does not have."""

    n: int = 150
    p: int = 60
    k: int = 12
    strength: float = 0.5
    covariance: Any = ("ar1", 0.5)
    known: bool = False
    kind: str = "linear"
    """How the response comes about: one of `RESPONSES`."""
    kept: float | None = None
    """Effect of two covariates that are kept, with opposite signs; None without any."""
    shared: float = 0.0
    """Correlation of each column with one of these."""
    patients: str = ""
    """Which columns are the same in all rows of a patient: "constant" ones, "none" of them, or
    "half"; without patients, all rows are independent."""
    uneven: bool = False
    """Whether patients have one row to nine."""
    missing: str = ""
    """Which values are missing: "anywhere", "by neighbour" (where the next column is large),
    or "rows dropped" (three columns have them, and their rows are left out)."""
    categories: bool = False
    """Whether every second variable is a category of two to four values."""
    weighted: bool = False
    """Whether rows have weights."""

    @property
    def exchangeable(self) -> bool:
        """Whether irrelevant variables are exchangeable."""
        return self.covariance == "identity" and not (self.categories or self.patients == "half")

    def draw(self, seed: np.random.SeedSequence) -> DataSet:
        """Draw the data set of a seed."""
        rng = np.random.default_rng(child(seed, 1))
        Z = simulate(
            self.n, self.p, 0, noise_variance=1.0, covariance=self.covariance, random_state=seed
        ).X
        arguments: dict[str, Any] = {}
        signal = np.zeros(self.n)
        if self.patients:
            visits = 1 + np.arange(self.n) % MOST_VISITS if self.uneven else VISITS
            patient = np.repeat(np.arange(self.n), visits)[: self.n]
            Z = _of_patients(Z, patient, self.patients)
            signal += rng.standard_normal(patient[-1] + 1)[patient]
            arguments["rows_of"] = patient
        if self.kept is not None:
            K = rng.standard_normal((self.n, 2))
            both = K[:, np.arange(self.p) % 2]
            Z = self.shared * both + np.sqrt(1.0 - self.shared**2) * Z
            signal += self.kept * (K[:, 0] - K[:, 1])
            arguments["keep"] = K
        X: Any = Z
        if self.categories:
            X, Z = _with_categories(Z)
        signal += Z @ self.coef
        y, more = RESPONSES[self.kind](signal, rng)
        arguments |= more
        if self.weighted:
            arguments["sample_weight"] = rng.exponential(size=self.n)
        if self.missing:
            gone = _missing(Z, self.missing, rng)
            X = np.where(gone, np.nan, Z)
            if self.missing == "rows dropped":
                whole = ~gone.any(axis=1)
                X, y = X[whole], y[whole]
            else:
                arguments["missing"] = "impute"
        return DataSet(X, y, arguments)


def _of_patients(Z: Array, patient: Any, which: str) -> Array:
    """Return columns with a part that is the same in all rows of a patient."""
    first = Z[np.searchsorted(patient, patient)]
    mixed = np.sqrt(0.5) * (first + np.roll(Z, 1, axis=0))
    odd = np.arange(Z.shape[1]) % 2 == 1
    constant = {"constant": np.ones_like(odd), "none": np.zeros_like(odd), "half": odd}[which]
    return np.asarray(np.where(constant, first, mixed))


def _missing(Z: Array, which: str, rng: np.random.Generator) -> BoolArray:
    """Return which values are missing, a tenth of them in the columns that have any."""
    if which == "by neighbour":
        chance = expit(2.0 * np.roll(Z, 1, axis=1) - 3.3)  # a tenth on average
        gone = rng.random(Z.shape) < chance
        gone[:, 0] = False
        return np.asarray(gone)
    gone = rng.random(Z.shape) < _MISSING
    if which == "rows dropped":
        gone[:, 3:] = False
    return np.asarray(gone)


def _with_categories(Z: Array) -> tuple[NamedColumns, Array]:
    """Return a table whose every second variable is a category, and a number for each variable.

    The values are cut at quantiles of the normal distribution, the first of them rare.
    """
    columns, variable, numbers = [], [], Z.copy()
    for j, z in enumerate(Z.T):
        if j % 2 == 0:
            columns.append(z)
            variable.append(j)
            continue
        cuts = [-1.3, 0.0, 0.7][: 1 + j % 3]
        level = np.searchsorted(cuts, z)
        numbers[:, j] = np.where(level == 0, 1.5, np.where(level == 1, -0.5, 0.5))
        for value in range(1, len(cuts) + 1):
            columns.append((level == value).astype(float))
            variable.append(j)
    names = tuple(f"v{j}" for j in range(Z.shape[1]))
    return NamedColumns(np.column_stack(columns), names, variable=np.array(variable)), numbers


Response = Callable[[Array, np.random.Generator], tuple[Any, dict[str, Any]]]


def _linear(signal: Array, rng: np.random.Generator) -> tuple[Any, dict[str, Any]]:
    return signal + rng.standard_normal(signal.size), {}


def _binary(signal: Array, rng: np.random.Generator) -> tuple[Any, dict[str, Any]]:
    return (rng.random(signal.size) < expit(2.0 * signal)).astype(float), {}


def _survival(signal: Array, rng: np.random.Generator) -> tuple[Any, dict[str, Any]]:
    """Half of the times are censored, and many are tied."""
    time = rng.exponential(np.exp(-signal))
    end = rng.exponential(np.exp(-rng.permutation(signal)))
    return np.column_stack([np.ceil(_TICKS * np.minimum(time, end)), time <= end]), {}


def _count(signal: Array, rng: np.random.Generator) -> tuple[Any, dict[str, Any]]:
    offset = np.log(rng.uniform(0.5, 3.0, signal.size))
    return rng.poisson(np.exp(signal + offset)).astype(float), {"offset": offset}


def _overdispersed(signal: Array, rng: np.random.Generator) -> tuple[Any, dict[str, Any]]:
    """Counts whose variance is their mean and its square."""
    return _count(signal + np.log(rng.exponential(size=signal.size)), rng)


def _classes(signal: Array, rng: np.random.Generator) -> tuple[Any, dict[str, Any]]:
    chance = np.column_stack([signal, -signal, np.zeros(signal.size)])
    chosen = (chance + rng.gumbel(size=chance.shape)).argmax(axis=1)
    return np.array(["a", "b", "c"])[chosen], {}


RESPONSES: dict[str, Response] = {
    "linear": _linear,
    "binary": _binary,
    "survival": _survival,
    "count": _count,
    "overdispersed": _overdispersed,
    "classes": _classes,
}
"""How a response comes about, from the predictor of each row."""

_NULL: dict[str, Any] = {"k": 0, "covariance": "identity"}
"""Nothing matters, and all variables are alike."""

TABLE_SETTINGS = (
    TableSetting("survival, nothing matters", kind="survival", **_NULL),
    TableSetting("survival", kind="survival", strength=0.5),
    TableSetting("counts", kind="count", strength=0.25),
    TableSetting("counts, overdispersed", kind="overdispersed"),
    TableSetting("three classes", kind="classes", strength=0.6),
    TableSetting("kept, 0.8", kept=2.0, shared=0.8, strength=0.6),
    TableSetting("kept, 0.8, nothing else matters", kept=2.0, shared=0.8, **_NULL),
    TableSetting("kept, 0.8, binary", kind="binary", kept=0.8, shared=0.8, strength=0.8),
    TableSetting("kept, 0.8, survival", kind="survival", kept=1.0, shared=0.8, strength=0.8),
    TableSetting("kept without effect", kept=0.0, shared=0.8, strength=0.6),
    TableSetting("patients, constant columns, nothing matters", n=200, patients="constant",
                 **_NULL),
    TableSetting("patients, nothing matters", n=200, patients="none", **_NULL),
    TableSetting("patients, half of the columns constant, nothing matters", n=200,
                 patients="half", **_NULL),
    TableSetting("patients", n=200, patients="none"),
    TableSetting("patients, half of the columns constant", n=200, patients="half"),
    TableSetting("missing anywhere", missing="anywhere", covariance=("ar1", 0.7), strength=0.6),
    TableSetting("missing by a neighbour", missing="by neighbour", covariance=("ar1", 0.7),
                 strength=0.5),
    TableSetting("missing anywhere, binary", kind="binary", missing="anywhere",
                 covariance=("ar1", 0.7), strength=0.7),
    TableSetting("missing, rows dropped", n=210, missing="rows dropped", covariance=("ar1", 0.7),
                 strength=0.5),
    TableSetting("categories", p=40, categories=True),
    TableSetting("categories, nothing matters", p=40, categories=True, **_NULL),
    TableSetting("weights", weighted=True),
    TableSetting("weights, nothing matters", weighted=True, **_NULL),
    TableSetting("patients, one to nine visits", n=200, patients="none", uneven=True),
)  # fmt: skip
"""Kinds of tables whose promises are measured."""


def table_methods(setting: Setting, _: Any) -> dict[str, Any]:
    """Return the methods whose promises are tested, as a user has them.

    `AutoSelection` takes derandomized knockoffs with `pfer` where it can.
    """
    assert isinstance(setting, TableSetting)
    common: dict[str, Any] = {"response": _EXPECTED.get(setting.kind, "auto"), "n_jobs": 1}
    own: dict[str, Any] = {"n_resamples": _COPIES} | common
    out: dict[str, Any] = {
        "auto": AutoSelection(**own),
        "auto, FDR": AutoSelection(fdr=FDR, **own),
        "knockoff+": KnockoffSelection(FDR, **common),
        "e-values": DerandomizedKnockoffs(FDR, n_copies=_COPIES, **common),
        "stability": StabilitySelection(pfer=PFER, n_resamples=100, **common),
    }
    if setting.kind in ("linear", "binary"):
        out["data splitting"] = DataSplitting(FDR, n_splits=5, **common)
    return out
