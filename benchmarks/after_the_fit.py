"""Levels and bounds after the fit, measured: `python -m benchmarks.after_the_fit`.

`--parts promises` measures what is promised, for docs/data/guarantees/after_the_fit.csv;
`--parts published` repeats the simulations of Fischer and Sechidis (arXiv 2511.11166) and prints
both numbers with their difference in standard errors.
"""

from __future__ import annotations

import argparse
import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.covariance import EmpiricalCovariance

from selica import DerandomizedKnockoffs, KnockoffSelection
from selica._core.types import Array, BoolArray
from selica.control import ebh, fdp, posthoc_evalues, tpp
from selica.experiments.guarantees import SETTINGS, Setting
from selica.experiments.promise_rows import PromiseRow, read_promises, write_promises
from selica.sampling import FixedKnockoffs, GaussianKnockoffs

COMMAND = "python -m benchmarks.after_the_fit --parts promises"
FDR = 0.2
CONFIDENCE = 0.95
COPIES = 10
LISTS = 20
"""Random lists of each data set, beside all lists of the largest statistics."""
KINDS = (
    *(
        one
        for one in SETTINGS
        if one.name
        in (
            "nothing matters", "sparse signals", "dense signals", "AR(1) 0.5", "AR(1) 0.9",
            "covariance estimated", "more variables than rows", "tied statistics",
        )
    ),
    Setting("300 columns", n=300, p=300, k=30, statistic="entry"),
    Setting("300 columns, nothing matters", n=300, p=300, k=0, statistic="entry"),
)  # fmt: skip


def selectors(kind: Setting, sigma: Any) -> dict[str, Any]:
    """One copy and many, with copies that know the covariance where the setting says so."""
    sampler = GaussianKnockoffs(0.0, sigma) if kind.known else "gaussian"
    common = {"sampler": sampler, "statistic": kind.statistic, "lam": 0.03, "n_jobs": 1}
    return {
        "one copy": KnockoffSelection(FDR, **common),
        "copies": DerandomizedKnockoffs(FDR, n_copies=COPIES, **common),
    }


class Outcome(NamedTuple):
    """What a data set says of one selector."""

    ratio: float
    """False share over the level."""
    lists: float
    """Largest such ratio of some lists of one's own."""
    any: bool
    power: float
    missed: bool
    """Whether the bound of any list is below its false variables."""
    promised: str


def outcome(selector: Any, truth: BoolArray, rng: np.random.Generator) -> Outcome:
    """Compare levels and bounds with the truth."""
    found = selector.posthoc()
    W = selector._one_copy()
    lists = [t <= W for t in np.unique(W[W > 0.0])]
    lists += [rng.random(W.size) < share for share in np.linspace(0.05, 0.95, LISTS)]
    lists = [one for one in lists if one.any()]
    bounds = [selector.fdp_bound(one, CONFIDENCE).false for one in lists]
    false = [int(np.count_nonzero(one & ~truth)) for one in lists]
    own = [(selector.level_of(one).level, fdp(one, truth)) for one in lists]
    ratio = 0.0 if found.level is None else fdp(found.support, truth) / found.level
    promise = found.guarantee
    kept = "withdrawn" if promise.level is None else "proven" if promise.proven else "expected"
    return Outcome(
        ratio,
        max([ratio, *(share / level for level, share in own if level is not None)]),
        bool(found.support.any()),
        tpp(found.support, truth) if truth.any() else 0.0,
        any(b is not None and v > b for b, v in zip(bounds, false, strict=True)),
        kept,
    )


def promises(runs: int, folder: Path | None) -> None:
    """Measure ratios and bounds on every kind of data."""
    file = folder and folder / "after_the_fit.csv"
    done = {row.setting for row in read_promises(file)} if file and file.exists() else set()
    for place, kind in enumerate(KINDS):
        if kind.name in done:
            continue
        found: dict[str, list[Outcome]] = {}
        for seed in np.random.SeedSequence([23, place]).spawn(runs):
            first, second, third = seed.spawn(3)
            data = kind.draw(first)
            rng = np.random.default_rng(third)
            for name, selector in selectors(kind, data.covariance).items():
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    selector.set_params(random_state=second).fit(data.X, data.y)
                found.setdefault(name, []).append(outcome(selector, kind.coef != 0.0, rng))
        rows = [row for name, each in found.items() for row in rows_of(kind, name, each)]
        if file:
            write_promises(file, rows)
        for row in rows:
            print(
                f"{row.setting:32} {row.method:34} {row.controls:18} {row.measured:.3f} "
                f"({row.error:.3f}) of {row.level:g}, {row.promised}",
                flush=True,
            )


def rows_of(kind: Setting, name: str, each: list[Outcome]) -> list[PromiseRow]:
    """Rows of a setting: the level of the rule, the largest of all lists, and the bound."""
    promised = max({one.promised for one in each}, key=[one.promised for one in each].count)
    kept = [one for one in each if one.promised == promised]
    common = {"promised": promised, "runs": len(kept), "command": COMMAND}
    chosen = {
        "selects": float(np.mean([one.any for one in kept])),
        "power": float(np.mean([one.power for one in kept])) if kind.k else None,
    }
    said = {
        (f"level after the fit, {name}", "FDP/level", 1.0): [one.ratio for one in kept],
        (f"levels of lists, {name}", "FDP/level", 1.0): [one.lists for one in kept],
    }
    if name == "one copy":  # many copies are bounded by the first of them, the same one
        missed = [float(one.missed) for one in kept]
        said["bound for any list", "FDP bound missed", 1.0 - CONFIDENCE] = missed
    return [
        PromiseRow(
            kind.name, method, controls, round(level, 6), *mean_and_error(values),
            **common, **(chosen if method.startswith("level after") else {}),
        )
        for (method, controls, level), values in said.items()
    ]  # fmt: skip


def mean_and_error(values: list[float]) -> tuple[float, float]:
    """Mean with its standard error."""
    return float(np.mean(values)), float(np.std(values, ddof=1) / np.sqrt(len(values)))


@dataclass(frozen=True)
class Study:
    """A published simulation: coefficients N(A, 1) / sqrt(n) with alternating signs."""

    name: str
    n: int
    p: int
    k: int
    amplitude: float
    rho: float
    fdr: float
    runs: int
    """Data sets here, and there."""
    their_runs: int
    published: dict[str, float]


PUBLISHED = (
    Study("P1", 250, 50, 1, 4.0, 0.5, 0.2, 500, 2000,
          {"knockoff+": 0.0245, "power": 0.786, "level": 0.657, "ratio": 0.667}),
    Study("P1", 250, 50, 5, 4.0, 0.5, 0.2, 500, 2000,
          {"knockoff+": 0.4107, "power": 0.7067, "level": 0.289, "ratio": 0.879}),
    Study("P1", 250, 50, 3, 6.0, 0.5, 0.2, 500, 2000,
          {"knockoff+": 0.2345, "power": 0.9490, "level": 0.299, "ratio": 0.935}),
    Study("P1", 250, 50, 10, 8.0, 0.5, 0.2, 500, 2000,
          {"knockoff+": 0.9663, "power": 0.9690, "level": 0.183, "ratio": 0.924}),
    Study("P3", 500, 100, 5, 4.0, 0.0, 0.2, 500, 2000,
          {"power": 0.7791, "level": 0.2495, "ratio": 0.9785}),
    Study("P3", 500, 100, 15, 6.0, 0.0, 0.2, 500, 2000, {"power": 0.9905, "ratio": 1.003}),
    Study("P2", 1000, 800, 20, 4.0, 0.5, 0.1, 20, 200,
          {"e-BH": 0.0900, "power": 0.5063, "level": 0.131, "ratio": 0.224}),
    Study("P2", 1000, 800, 40, 3.0, 0.5, 0.1, 20, 200,
          {"e-BH": 0.0264, "power": 0.2498, "level": 0.157, "ratio": 0.223}),
    Study("P2", 1000, 800, 20, 6.0, 0.5, 0.1, 6, 200, {"e-BH": 0.9328, "power": 0.9328}),
)  # fmt: skip


def drawn(study: Study, rng: np.random.Generator) -> tuple[Array, Array, BoolArray]:
    """Columns, response and truth of a data set."""
    gaps = np.abs(np.subtract.outer(np.arange(study.p), np.arange(study.p)))
    root = np.linalg.cholesky(study.rho**gaps)
    X = rng.standard_normal((study.n, study.p)) @ root.T
    where = np.round(np.arange(1, study.k + 1) * study.p / study.k).astype(int) - 1
    coef = np.zeros(study.p)
    coef[where] = rng.normal(study.amplitude, 1.0, study.k) / np.sqrt(study.n)
    coef[where[1::2]] *= -1.0
    return X, X @ coef + rng.standard_normal(study.n), coef != 0.0


def published(runs: int | None, names: list[str] | None) -> None:
    """Print published numbers beside those that are measured here."""
    print("| study | n x p | k, A | measured here | published | difference in s.e. | data sets |")
    print("|---|---|---|---|---|---|---|")
    for place, study in enumerate(PUBLISHED):
        if names and study.name not in names:
            continue
        study = replace(study, runs=runs or study.runs)
        found: dict[str, list[float]] = {name: [] for name in study.published}
        sampler = sampler_of(study)
        for seed in np.random.SeedSequence([2511, place]).spawn(study.runs):
            first, second = seed.spawn(2)
            X, y, truth = drawn(study, np.random.default_rng(first))
            for name, value in measured(study, sampler, X, y, truth, second).items():
                if name in found:
                    found[name].append(value)
        for name, values in found.items():
            mean, error = mean_and_error(values)
            # their standard error is that of as many data sets as they have
            both = error * np.sqrt(1.0 + study.runs / study.their_runs)
            there = study.published[name]
            print(
                f"| {study.name}, {name} | {study.n} x {study.p} | {study.k}, {study.amplitude:g} "
                f"| {mean:.4f} ({error:.4f}) | {there:g} | {(mean - there) / both:+.1f} "
                f"| {study.runs} |",
                flush=True,
            )


def sampler_of(study: Study) -> Any:
    """Copies as in the article: second-order, fixed-X, or of the known distribution."""
    if study.name == "P1":
        return GaussianKnockoffs(None, EmpiricalCovariance(), method="sdp")
    if study.name == "P3":
        return FixedKnockoffs("sdp", intercept=True)
    gaps = np.abs(np.subtract.outer(np.arange(study.p), np.arange(study.p)))
    sigma = study.rho**gaps
    return GaussianKnockoffs(0.0, sigma, method="sdp")


def measured(
    study: Study, sampler: Any, X: Array, y: Array, truth: BoolArray, seed: Any
) -> dict[str, float]:
    """What a data set says: power, level (the one asked for where there is none) and ratio."""
    many = study.name == "P2"
    common: dict[str, Any] = {
        "sampler": sampler, "statistic": "coefficient", "n_jobs": 1, "random_state": seed,
    }  # fmt: skip
    selector: Any = (
        DerandomizedKnockoffs(study.fdr, n_copies=100, **common)
        if many
        else KnockoffSelection(study.fdr, **common)
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        selector.fit(X, y)
    after = selector.posthoc()
    nominal = 0.5 * study.fdr if many else study.fdr
    out = {
        "knockoff+": tpp(selector.support_, truth),
        "power": tpp(after.support, truth),
        "level": nominal if after.level is None else after.level,
        "ratio": 0.0 if after.level is None else fdp(after.support, truth) / after.level,
    }
    if many:
        e = np.mean([posthoc_evalues(w, 0.5 * study.fdr) for w in selector.statistics_], axis=0)
        out["e-BH"] = tpp(ebh(e, study.fdr), truth)
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--parts", nargs="+", choices=("promises", "published"))
    parser.add_argument("--runs", type=int, help="data sets of each setting")
    parser.add_argument("--studies", nargs="+", choices=("P1", "P2", "P3"), help="all by default")
    parser.add_argument(
        "--csv", type=Path, metavar="FOLDER",
        help="folder of the rows, docs/data/guarantees; settings that it has are not repeated",
    )  # fmt: skip
    options = parser.parse_args()
    for part in options.parts or ("promises", "published"):
        if part == "promises":
            promises(options.runs or 500, options.csv)
        else:
            published(options.runs, options.studies)


if __name__ == "__main__":
    main()
