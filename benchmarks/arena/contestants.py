"""Who takes part: every method of the catalogue with a level, variants of it, and the peers.

A method takes part at its defaults under its own name; knockoffs, whose default statistic is that
of a variant ("-bayes"), do so with the coefficients of a lasso. A variant is a method with other
arguments, a candidate for a default. `version` is part of the key of every result: whoever changes
a method raises it, and only that contestant is run again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from benchmarks.peers.selecting import PEERS

from selica import catalogue

LEVELS = ("fdr", "pfer")
"""Error rates that are asked for."""
VERSIONS: Mapping[str, int] = {
    "auto": 4,
    "knockoffs": 3,
    "knockoffs-evalues": 3,
    "knockoffs-frequency": 2,
    "knockoffs-joint": 2,
    "knockoffs-pvalues": 2,
    "stability-fdr": 2,
}
"""Versions of contestants that have changed; all others have version 1."""


@dataclass(frozen=True)
class Target:
    """What is asked for, and on how many of the data sets."""

    rate: str
    level: float
    every: int
    """On each data set (1), on every second (2), ..."""

    @property
    def name(self) -> str:
        """What tables call it."""
        return f"{self.rate.upper()} {self.level:g}"


TARGETS = (Target("fdr", 0.1, 1), Target("fdr", 0.2, 2), Target("pfer", 1.0, 2))


@dataclass(frozen=True)
class Contestant:
    """A selector with its settings, or a peer."""

    name: str
    label: str
    rates: tuple[str, ...]
    """Error rates that it takes a level for; none for a peer that takes no level."""
    peer: bool = False
    method: str = ""
    """The method of the catalogue."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    parts: Mapping[str, Callable[[], Any]] = field(default_factory=dict)
    """Settings that are objects, made anew for each answer."""
    responses: tuple[str, ...] | None = None
    """Responses that it can take, where it is known beforehand; None: it is asked."""
    kinds: tuple[str, ...] | None = None
    """Kinds that it takes part in; None: all."""
    every: int = 1
    """On each data set (1), on every second (2), ..., if the target asks for it."""
    slow: bool = False
    """Whether it is asked for the first target only."""

    @property
    def key(self) -> str:
        """Name and version, as results are kept."""
        return f"{self.name}@{VERSIONS.get(self.name, 1)}"

    def stride(self, target: Target) -> int:
        """Return on which data sets it is asked for a target: each, every second, ..."""
        return max(target.every, self.every)

    def takes(self, kind: str, response: str, target: Target) -> bool:
        """Say whether it is asked for a target on data of this kind."""
        # without a level it answers once
        asked = target.rate in self.rates if self.rates else target == TARGETS[0]
        return (
            asked
            and (not self.slow or target == TARGETS[0])
            and (self.kinds is None or kind in self.kinds)
            and (self.responses is None or response in self.responses)
        )

    def selector(self, target: Target, response: str, seed: int) -> Any:
        """Make the selector for a target."""
        row = catalogue.method(self.method)
        parts = {name: make() for name, make in self.parts.items()}
        settings = {**self.settings, **parts, target.rate: target.level}
        return row.load_selector()(
            **row.arguments(settings), response=response, n_jobs=1, random_state=seed
        )


def _forest() -> Any:
    from sklearn.ensemble import RandomForestRegressor

    return RandomForestRegressor(100, max_features=1 / 3, min_samples_leaf=5, n_jobs=1)


def _trees() -> Any:
    from sklearn.ensemble import ExtraTreesRegressor

    return ExtraTreesRegressor(100, max_features=1 / 3, min_samples_leaf=5, n_jobs=1)


def _boosting() -> Any:
    from sklearn.ensemble import GradientBoostingRegressor

    return GradientBoostingRegressor(max_depth=2, subsample=0.7, max_features=1 / 3)


def _maximum_entropy() -> Any:
    from selica.sampling import GaussianKnockoffs

    return GaussianKnockoffs(method="maxent")


def _semidefinite() -> Any:
    from selica.sampling import GaussianKnockoffs

    return GaussianKnockoffs(method="sdp")


NORMAL = ("AR 0.5", "AR 0.8", "AR 0.9", "blocks", "smooth")
"""Kinds on which S-matrices of normal copies are compared."""
DISCRETE = ("genotypes", "mixed table", "HIV mutations", "toy GWAS")
"""Kinds on which copies that suit the columns are compared with normal ones."""
CURVED = ("nonlinear", "independent", "mixed table", "I1", "I2, other columns")
"""Kinds on which trees take part, which need a second for each fit."""
VARIANTS = (
    Contestant(
        "knockoffs-coefficient",
        "knockoffs, one copy, lasso coefficients",
        ("fdr",),
        method="knockoffs",
        settings={"statistic": "coefficient"},
    ),
    Contestant(
        "knockoffs-mlr",
        "knockoffs, one copy, Gibbs sampling",
        ("fdr",),
        method="knockoffs",
        settings={"statistic": "mlr"},
    ),
    Contestant(
        "knockoffs-evalues-coefficient",
        "knockoffs, e-values of copies, lasso coefficients",
        ("fdr",),
        method="knockoffs-evalues",
        settings={"statistic": "coefficient"},
        every=4,
    ),
    Contestant(
        "knockoffs-frequency-coefficient",
        "knockoffs, share of copies, lasso coefficients",
        ("pfer",),
        method="knockoffs-frequency",
        settings={"statistic": "coefficient"},
        every=4,
    ),
    Contestant(
        "knockoffs-maxent",
        "knockoffs, one copy, maximum entropy",
        ("fdr",),
        method="knockoffs",
        parts={"sampler": _maximum_entropy},
        kinds=NORMAL,
        every=2,
    ),
    Contestant(
        "knockoffs-sdp",
        "knockoffs, one copy, SDP",
        ("fdr",),
        method="knockoffs",
        parts={"sampler": _semidefinite},
        kinds=NORMAL,
        every=2,
    ),
    Contestant(
        "knockoffs-gaussian",
        "knockoffs, one copy, normal copies",
        ("fdr",),
        method="knockoffs",
        settings={"sampler": "gaussian"},
        kinds=DISCRETE,
    ),
    Contestant(
        "knockoffs-joint",
        "knockoffs, five joint copies",
        ("fdr",),
        method="knockoffs",
        settings={"joint_copies": 5},
        every=4,
    ),
    Contestant(
        "knockoffs-forest",
        "knockoffs, one copy, forest",
        ("fdr",),
        method="knockoffs",
        parts={"estimator": _forest},
        responses=("linear",),
        kinds=CURVED,
    ),
    Contestant(
        "knockoffs-boosting",
        "knockoffs, one copy, boosted trees",
        ("fdr",),
        method="knockoffs",
        parts={"estimator": _boosting},
        responses=("linear",),
        kinds=CURVED,
    ),
    Contestant(
        "stability-integrated-trees",
        "stability, integrated path, trees",
        ("fdr", "pfer"),
        method="stability-integrated",
        settings={"n_resamples": 60},
        parts={"estimator": _trees},
        responses=("linear",),
        kinds=CURVED,
        every=4,
    ),
)


SELDOM: Mapping[str, int] = {
    "auto": 2,
    "knockoffs-evalues": 2,
    "knockoffs-frequency": 2,
    "knockoffs-pvalues": 4,
}
"""Methods that make dozens of copies are asked on every second or fourth data set."""


PLAIN = ("independent", "AR 0.5", "blocks")
"""Kinds on which peers take part that need minutes for some data sets."""
SLOW: Mapping[str, tuple[str, ...]] = {
    "ipss-boosting": CURVED,
    "hidimstat-knockoffs": PLAIN,
    "hidimstat-dcrt": PLAIN,
    "hidimstat-desparsified": PLAIN,
    "boruta": PLAIN,
}
"""Peers that are asked on a few kinds, on every fourth data set, for the first target."""
SELDOM_PEERS: Mapping[str, int] = {"knockpy-mlr": 2, **dict.fromkeys(SLOW, 4)}
"""Peers that are asked on every second or fourth data set."""


def ours() -> dict[str, Contestant]:
    """Return the methods of the catalogue that take a level, and the variants."""
    plain = (
        Contestant(
            row.name,
            row.label,
            tuple(r for r in LEVELS if r in row.levels),
            method=row.name,
            every=SELDOM.get(row.name, 1),
        )
        for row in catalogue.methods()
        if row.selector is not None and any(r in row.levels for r in LEVELS)
    )
    return {one.name: one for one in (*plain, *VARIANTS)}


def peers() -> dict[str, Contestant]:
    """Return the peers by name."""
    return {
        name: Contestant(
            name,
            one.label,
            one.targets,
            peer=True,
            responses=one.responses,
            kinds=SLOW.get(name),
            every=SELDOM_PEERS.get(name, 1),
            slow=name in SLOW,
        )
        for name, one in PEERS.items()
    }
