"""Do the promises hold? Selectors on many data sets of which the truth is known.

Every data set of a setting has the same variables that matter, so that the average frequency of a
variable over data sets is its probability of being selected by a half of the rows, which is what
the bounds of stability selection speak of.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit

from selica._core.errors import SelicaError
from selica._core.random import RandomState, child
from selica._core.table import Row, Table
from selica._core.types import Array, BoolArray, Progress
from selica._core.validation import count
from selica.control import fdp, tpp
from selica.control.stability import ASSUMPTIONS
from selica.experiments.data_sets import on_data_sets
from selica.experiments.summary import mean_and_error
from selica.sampling import GaussianKnockoffs, simulate
from selica.selectors import (
    AggregatedKnockoffs,
    DataSplitting,
    DerandomizedKnockoffs,
    KnockoffSelection,
    StabilitySelection,
)
from selica.selectors.comparison import KnockoffComparison, Measure
from selica.selectors.guarantee import Guarantee

FDR = 0.2
"""Level of the false discovery rate."""
PFER = 1.0
"""Level of the expected number of false selections."""
KFWER = (2, 0.2)
"""A number of false selections, and the level of its probability."""
_COPIES = 10
"""Knockoff copies of derandomized methods."""
_SPLITS = 5
"""Splits of the rows."""
# One penalty for all copies, chosen before the data: it treats variables and copies alike.
_LAM = 0.1


class DataSet(NamedTuple):
    """Table and response of one run."""

    X: Any
    y: Array
    arguments: dict[str, Any]
    """Further arguments of `fit`."""
    covariance: Any = None
    """Of the columns, where knockoffs may know it."""


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
    design: Any = "gaussian"
    """Distribution of the independent variables that rows are made of, as in `simulate`."""
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

    def draw(self, seed: np.random.SeedSequence) -> DataSet:
        """Draw the data set of a seed."""
        blank = simulate(
            self.n, self.p, 0, noise_variance=1.0, covariance=self.covariance,
            design=self.design, random_state=seed,
        )  # fmt: skip
        signal = blank.X @ self.coef
        y = np.asarray(blank.y + signal)
        if self.binary:
            chance = np.random.default_rng(child(seed, 1)).random(self.n)
            y = (chance < expit(signal)).astype(float)
        return DataSet(blank.X, y, {}, blank.covariance)


Methods = Callable[[Setting, Any], dict[str, Any]]

SETTINGS = (
    Setting("nothing matters", k=0),
    Setting("sparse signals", k=5),
    Setting("dense signals", k=20),
    Setting("AR(1) 0.5", covariance=("ar1", 0.5)),
    Setting("AR(1) 0.9", covariance=("ar1", 0.9), strength=0.6),
    Setting("equicorrelated 0.5", covariance=("equicorrelated", 0.5), strength=0.5),
    Setting("blocks of five, 0.5", covariance=("block", 0.5, 5), strength=0.5),
    Setting("covariance estimated", covariance=("ar1", 0.5), known=False),
    Setting("more variables than rows", n=60, p=80, strength=0.8),
    Setting(
        "more variables than rows, covariance estimated", n=60, p=80, strength=0.8, known=False
    ),
    Setting("tied statistics", statistic="entry"),
    Setting("binary response", binary=True, strength=0.8),
)


def all_methods(setting: Setting, sigma: Any) -> dict[str, Any]:
    """Return the methods whose promises are tested."""
    sampler = GaussianKnockoffs(0.0, sigma) if setting.known else "gaussian"
    knockoffs: dict[str, Any] = {
        "sampler": sampler,
        "statistic": setting.statistic,
        "lam": _LAM,
        "n_jobs": 1,
    }
    many = {"n_copies": _COPIES} | knockoffs
    out: dict[str, Any] = {
        "knockoff+": KnockoffSelection(FDR, **knockoffs),
        "e-values": DerandomizedKnockoffs(FDR, **many),
        "p-values": AggregatedKnockoffs(FDR, **many),
        "first negatives, PFER": DerandomizedKnockoffs(pfer=PFER, **many),
        # a high threshold pays for one negative in each copy
        "first negatives, k-FWER": DerandomizedKnockoffs(kfwer=KFWER, threshold=0.9, **many),
    }
    if setting.statistic != "coefficient" or not setting.known:
        return out  # the rest knows neither copies nor covariances
    for assumption in ASSUMPTIONS:
        out[f"stability, {assumption}"] = StabilitySelection(
            resampling="pairs", n_resamples=100, pfer=PFER, threshold=0.75,
            assumption=assumption, n_jobs=1,
        )  # fmt: skip
    if not setting.binary:
        out["data splitting"] = DataSplitting(FDR, n_splits=_SPLITS, n_jobs=1)
    return out


class SelectionErrors(NamedTuple):
    """One selection."""

    mask: BoolArray
    guarantee: Guarantee
    probabilities: Array | None
    """Shares of the resamples, of stability selection."""
    q: int | None


def _run(
    setting: Setting, seeds: Sequence[np.random.SeedSequence], methods: Methods
) -> list[dict[str, SelectionErrors]]:
    """Return selections on some data sets, by method."""
    out = []
    selectors: dict[str, Any] = {}
    for seed in seeds:
        drawn = setting.draw(seed)
        selectors = selectors or methods(setting, drawn.covariance)
        found: dict[str, SelectionErrors] = {}
        with warnings.catch_warnings(), _shared_copies():
            warnings.simplefilter("ignore")
            for name, selector in selectors.items():
                try:
                    selector.set_params(random_state=child(seed, 2))
                    selector.fit(drawn.X, drawn.y, **drawn.arguments)
                except SelicaError:  # a level that cannot be held: nothing is selected
                    found[name] = SelectionErrors(
                        np.zeros(setting.p, dtype=bool), _asked(selector), None, None
                    )
                    continue
                found[name] = SelectionErrors(
                    selector.support_,
                    selector.guarantee_,
                    getattr(selector, "selection_probabilities_", None),
                    getattr(selector, "q_", None),
                )
        out.append(found)
    return out


@contextmanager
def _shared_copies() -> Iterator[None]:
    """Let selectors with one seed share the statistics of their copies, which are the same.

    A data set is then fitted once for all rules that look at knockoff statistics.
    """
    known: dict[Any, Array] = {}
    own = KnockoffComparison.statistics

    def shared(
        found: KnockoffComparison, copies: int, measure: Measure, *more: Any, **others: Any
    ) -> Array:
        key = (repr(found.sampler), measure)
        have = known.get(key)
        if have is None or len(have) < copies:
            have = known[key] = own(found, copies, measure, *more, **others)
        return have[:copies]

    KnockoffComparison.statistics = shared  # type: ignore[assignment,method-assign]
    try:
        yield
    finally:
        KnockoffComparison.statistics = own  # type: ignore[method-assign]


def _asked(selector: Any) -> Guarantee:
    """Return what a selector that refused was asked for."""
    return Guarantee("false discovery rate", float(selector.fdr), False, "it refused", "")


def guarantees(
    runs: int = 500,
    settings: Sequence[Setting] = SETTINGS,
    *,
    methods: Methods = all_methods,
    random_state: RandomState | None = 0,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> Table:
    """Measure error rates and power of the selectors on data with a known truth.

    Parameters
    ----------
    runs : int
        Data sets of each setting.
    settings : sequence of Setting
    methods : callable
        Selectors by name, for a setting and the covariance of its columns.
    random_state, n_jobs
        As in `sweep`.
    progress : callable, optional
        ``progress(done, total)``, in settings.

    Returns
    -------
    Table
        One row for each setting and method: what `guarantee_` says it `controls` and at what
        `level`, whether it is `proven` under its assumptions, `promised` (whether a theorem covers
        all false variables of the setting), the `error` that is controlled, mean `fdp`, false
        selections, for stability selection those of variables that half of the rows select with
        probability at most q/p (`low`), share of runs that select anything, power, and standard
        errors.
    """
    where: dict[str, Any] = {"random_state": random_state, "n_jobs": n_jobs, "progress": progress}
    parts = guarantees_by_setting(runs, settings, methods=methods, **where)
    return Table.of(row for table in parts for row in table)


def guarantees_by_setting(
    runs: int,
    settings: Sequence[Setting],
    *,
    methods: Methods,
    random_state: RandomState | None = 0,
    n_jobs: int | None = None,
    progress: Progress | None = None,
    wanted: Callable[[Setting], bool] | None = None,
) -> Iterator[Table]:
    """Return what `guarantees` measures, one table after the other.

    Parameters
    ----------
    runs, settings, methods, random_state, n_jobs, progress
        As in `guarantees`.
    wanted : callable, optional
        Whether a setting is measured; the others keep their seeds.
    """
    where: dict[str, Any] = {"random_state": random_state, "n_jobs": n_jobs, "progress": progress}
    work = partial(_run, methods=methods)
    runs = count("runs", runs)
    for setting, found in on_data_sets(work, settings, runs, wanted=wanted, **where):
        yield Table.of(_row(setting, name, [one[name] for one in found]) for name in found[0])


def _row(setting: Setting, name: str, found: list[SelectionErrors]) -> Row:
    truth = setting.coef != 0.0
    masks = np.array([one.mask for one in found])
    wrong = np.count_nonzero(masks & ~truth, axis=1).astype(float)
    # where a promise is withdrawn on some data sets, the others say what it is
    kept = [one.guarantee for one in found if one.guarantee.level is not None]
    promise, q = (kept or [found[0].guarantee])[0], found[0].q
    # by what a response can carry, bounds may differ between data sets
    level = float(np.mean([float(one.level or 0.0) for one in kept])) if kept else None
    measured = {
        "fdp": np.array([fdp(mask, truth) for mask in masks]),
        "false": wrong,
        "any": masks.any(axis=1).astype(float),
        "power": np.array([tpp(mask, truth) for mask in masks]),
    }
    if "rate" in promise.controls:
        measured["error"] = measured["fdp"]
    elif "number" in promise.controls:
        measured["error"] = wrong
    else:
        measured["error"] = (wrong >= KFWER[0]).astype(float)
    if q is not None:
        chance = np.mean(np.array([one.probabilities for one in found]), axis=0)
        measured["low"] = np.count_nonzero(masks & (chance <= q / setting.p), axis=1).astype(float)
    row: Row = {
        "setting": setting.name,
        "method": name,
        "controls": promise.controls,
        "level": level,
        "proven": promise.proven,
        "promised": promise.proven and (q is None or setting.exchangeable),
        "runs": len(found),
    }
    for key, values in measured.items():
        mean, error = mean_and_error(values)
        row |= {key: float(mean), f"{key}_error": float(error)}
    return row
