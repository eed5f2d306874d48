"""Do the promises hold? Selectors on many data sets of which the truth is known.

Every data set of a setting has the same variables that matter, so that the average frequency of a
variable over data sets is its probability of being selected by a half of the rows, which is what
the bounds of stability selection speak of.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit

from selica._core.table import Row, Table
from selica._core.types import Array, Progress
from selica._core.validation import count
from selica.control import fdp, tpp
from selica.experiments.summary import mean_and_error
from selica.sampling import GaussianKnockoffs, simulate
from selica.sampling.random import RandomState, child, seed_sequence
from selica.selectors import DerandomizedKnockoffs, KnockoffSelection, StabilitySelection

FDR, PFER = 0.2, 1.0
# One penalty for all copies, chosen before the data: it treats variables and copies alike.
_LAM = 0.1


@dataclass(frozen=True, slots=True)
class Setting:
    """Data sets of one kind."""

    name: str
    n: int = 200
    p: int = 40
    k: int = 10
    strength: float = 0.35
    """Coefficient of each variable that matters, with alternating signs; the noise has variance
    one."""
    covariance: Any = "identity"
    binary: bool = False
    known: bool = True
    """Whether the knockoffs know the covariance."""
    statistic: str = "coefficient"

    @property
    def coef(self) -> Array:
        """Spread evenly over the variables."""
        out = np.zeros(self.p)
        where = np.linspace(0, self.p - 1, self.k).round().astype(int)
        out[where] = self.strength * (-1.0) ** np.arange(self.k)
        return out

    @property
    def exchangeable(self) -> bool:
        """Whether irrelevant variables are exchangeable."""
        return bool(self.covariance == "identity" or self.covariance[0] == "equicorrelated")


SETTINGS = (
    Setting("nothing matters", k=0),
    Setting("sparse signals", k=5),
    Setting("dense signals", k=20),
    Setting("AR(1) 0.5", covariance=("ar1", 0.5)),
    Setting("AR(1) 0.9", covariance=("ar1", 0.9), strength=0.6),
    Setting("equicorrelated 0.5", covariance=("equicorrelated", 0.5), strength=0.5),
    Setting("covariance estimated", covariance=("ar1", 0.5), known=False),
    Setting("more variables than rows", n=60, p=80, strength=0.8),
    Setting("tied statistics", statistic="entry"),
    Setting("binary response", binary=True, strength=0.8),
)


def _selectors(setting: Setting, sigma: Any) -> dict[str, Any]:
    """The methods whose promises are tested."""
    sampler = GaussianKnockoffs(0.0, sigma) if setting.known else "gaussian"
    knockoffs: dict[str, Any] = {
        "sampler": sampler,
        "statistic": setting.statistic,
        "lam": _LAM,
        "n_jobs": 1,
    }
    out: dict[str, Any] = {
        "knockoff+": KnockoffSelection(FDR, **knockoffs),
        "e-values, 10 copies": DerandomizedKnockoffs(FDR, n_copies=10, **knockoffs),
    }
    if setting.statistic == "coefficient" and setting.known:
        for assumption in ("none", "unimodal", "r-concave"):
            out[f"stability, {assumption}"] = StabilitySelection(
                resampling="pairs", n_resamples=100, pfer=PFER, threshold=0.75,
                assumption=assumption, n_jobs=1,
            )  # fmt: skip
    return out


def _run(setting: Setting, seeds: Sequence[np.random.SeedSequence]) -> list[dict[str, Any]]:
    """Selections on some data sets: for each, by method, (mask, probabilities or None, q)."""
    out = []
    coef = setting.coef
    selectors: dict[str, Any] = {}
    for seed in seeds:
        blank = simulate(
            setting.n, setting.p, 0, noise_variance=1.0, covariance=setting.covariance,
            random_state=seed,
        )  # fmt: skip
        selectors = selectors or _selectors(setting, blank.covariance)
        signal = blank.X @ coef
        y = np.asarray(blank.y + signal)
        if setting.binary:
            chance = np.random.default_rng(child(seed, 1)).random(setting.n)
            y = (chance < expit(signal)).astype(float)
        found: dict[str, Any] = {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for name, selector in selectors.items():
                selector.set_params(random_state=child(seed, 2)).fit(blank.X, y)
                found[name] = (
                    selector.support_,
                    getattr(selector, "selection_probabilities_", None),
                    getattr(selector, "q_", None),
                )
        out.append(found)
    return out


def guarantees(
    runs: int = 500,
    settings: Sequence[Setting] = SETTINGS,
    *,
    random_state: RandomState | None = 0,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> Table:
    """Error rates and power of the selectors, measured on data with a known truth.

    Parameters
    ----------
    runs : int
        Data sets of each setting.
    settings : sequence of Setting
    random_state, n_jobs
        As in `sweep`.
    progress : callable, optional
        ``progress(done, total)``, in settings.

    Returns
    -------
    Table
        One row for each setting and method: level and `promised` (whether a theorem covers the
        setting), mean `fdp`, false selections, those of variables that are selected by half of
        the rows with probability at most q/p (`low`), share of runs that select anything, power,
        and standard errors.
    """
    from joblib import Parallel, delayed

    runs = count("runs", runs)
    seed = seed_sequence(random_state)
    rows: list[Row] = []
    for i, setting in enumerate(settings):
        if progress is not None:
            progress(i, len(settings))
        seeds = [child(seed, i, r) for r in range(runs)]
        blocks = [seeds[s : s + 10] for s in range(0, runs, 10)]
        work = Parallel(n_jobs=n_jobs)(delayed(_run)(setting, block) for block in blocks)
        found = [one for block in work for one in block]
        rows += [_row(setting, name, [one[name] for one in found]) for name in found[0]]
    if progress is not None:
        progress(len(settings), len(settings))
    return Table.of(rows)


def _row(setting: Setting, name: str, found: list[Any]) -> Row:
    truth = setting.coef != 0.0
    masks = np.array([mask for mask, *_ in found])
    wrong = np.count_nonzero(masks & ~truth, axis=1).astype(float)
    stability = name.startswith("stability")
    row: Row = {
        "setting": setting.name,
        "method": name,
        "controls": "false selections" if stability else "FDR",
        "level": PFER if stability else FDR,
        "promised": setting.exchangeable if stability else setting.known,
        "runs": len(found),
    }
    measured: dict[str, Callable[[], Array]] = {
        "fdp": lambda: np.array([fdp(mask, truth) for mask in masks]),
        "false": lambda: wrong,
        "any": lambda: masks.any(axis=1).astype(float),
        "power": lambda: np.array([tpp(mask, truth) for mask in masks]),
    }
    if stability:
        chance = np.mean([P for _, P, _ in found], axis=0)
        rare = chance <= found[0][2] / setting.p
        measured["low"] = lambda: np.count_nonzero(masks & rare, axis=1).astype(float)
    for key, values in measured.items():
        mean, error = mean_and_error(values())
        row |= {key: float(mean), f"{key}_error": float(error)}
    return row
