"""What is fuzzed: every public function, with sensible values for its parameters."""

from __future__ import annotations

import inspect
import io
import warnings
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st

from selica import (
    amp,
    control,
    experiments,
    planning,
    plots,
    reports,
    sampling,
    selectors,
    solvers,
    tables,
    theory,
)
from selica.experiments import Table
from selica.experiments.cells import simulated_methods
from tests.hardening.commands import csv_text
from tests.hardening.values import (
    COLUMNS,
    ROWS,
    SENSIBLE,
    array,
    fractions,
    positive,
    seeds,
    some,
)

_PLANNED = {
    "method": some(st.sampled_from(["stability-fdr", "knockoffs", "stability-pfer"]), 1),
    "methods": some(st.sampled_from(list(planning.METHODS)), 1),
    "n_samples": st.integers(20, 300),
    "n_features": st.integers(10, 200),
    "n_signals": st.integers(1, 10),
    "fdr": st.floats(0.01, 0.5),
    "X": st.builds(lambda s: array(s, 40, 8), seeds),
}
_SIMULATED = {
    "method": st.sampled_from(list(simulated_methods())),
    "alpha": st.floats(0.3, 3.0),
    "model": st.builds(
        theory.Model, st.floats(0.3, 3.0), st.floats(0.05, 0.9), st.floats(0.01, 1.0)
    ),
}


@cache
def _fitted(name: str) -> Any:
    few = {"n_resamples": 4, "n_copies": 2, "n_splits": 2, "random_state": 0, "lam": 0.1}
    kind = getattr(selectors, name)
    known = inspect.signature(kind).parameters
    X = array(0, 40, 8)
    one = kind(**{key: value for key, value in few.items() if key in known})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return one.fit(X, 2.0 * X[:, 0] + array(1, 40))


@cache
def _selection() -> reports.Selection:
    X, names = array(0, 40, 8), [f"x{j}" for j in range(8)]
    return reports.answer(selectors.LassoSelection(lam=0.1), X, X[:, 0] + array(1, 40), names, "y")


@cache
def _curves() -> tuple[list[theory.Curve], list[theory.RateFunction]]:
    model = theory.Model(0.8, 0.2, 0.01)
    curves = [theory.power_curve(model, name, [0.05, 0.1]) for name in ("lasso", "knockoffs-ideal")]
    return curves, [theory.rate_function(model, "stability-ideal", 0.2, [-1, 0, 1])]


def _bars(seed: int) -> Table:
    rng = np.random.default_rng(seed)
    return Table.of(
        {"variable": f"x{j}", "selected": rng.random() < 0.5, "chance": rng.random(), "error": 0.1}
        for j in range(1 + seed % 30)
    )


def _correlated(seed: int) -> Table:
    row = {"Delta": 0.1, "method": "stability-ideal", "mu_B": 2.0, "error": 0.01}
    return Table.of(row | {"correlation": c / 4, "value": 0.6} for c in range(1 + seed % 3))


s_methods = st.sampled_from(["mvr", "maxent", "sdp", "equi"])
fitted = st.sampled_from(["KnockoffSelection", "StabilitySelection", "DataSplitting"]).map(_fitted)
columns = st.just(tables.parse_table("t.csv", csv_text("a,b,c,d,e,y").encode()))
chances = st.builds(lambda s: np.random.default_rng(s).random(6), seeds)
numbers = st.lists(fractions, min_size=3, max_size=3)
SPECIAL: dict[str, dict[str, st.SearchStrategy]] = {
    "planning.diagnose": {
        "selector": fitted,
        "X": st.just(array(0, 40, 8)),
        "y": st.builds(lambda s: array(s, 40), seeds),
    },
    "planning.plasmode_power": {
        "selectors": st.builds(lambda s: {"mine": s}, fitted),
        "methods": some(st.sampled_from(["knockoffs", "lasso"]), 1),
    },
    "control.false_bound": {"boundary": st.just(control.sign_boundary(0.1, 20))},
    "control.prefix_bounds": {"boundary": st.just(control.sign_boundary(0.1, 20))},
    "control.quantile_aggregation": {
        "pvalues": st.builds(lambda s: np.random.default_rng(s).random((3, 5)), seeds)
    },
    "sampling.GaussianKnockoffs": {
        "mean": st.sampled_from([None, 0.0, np.zeros(5)]),
        "covariance": seeds.map(lambda s: np.corrcoef(array(s, 5, 20))),
        "method": s_methods,
    },
    "sampling.FixedKnockoffs": {"method": s_methods, "intercept": st.booleans()},
    "sampling.GenotypeKnockoffs": {
        "law": st.none(),
        "n_motifs": st.integers(1, 20),
        "n_steps": st.integers(1, 30),
        "segments": st.none(),
        "ploidy": st.sampled_from([1, 2]),
    },
    "sampling.HaplotypeLaw": {
        "rates": st.just([0.0, 0.5]),
        "shares": st.just([[0.7, 0.3], [0.5, 0.5]]),
        "frequencies": st.just([[0.1, 0.8], [0.3, 0.9]]),
    },
    "sampling.MarkovKnockoffs": {
        "first": st.just([0.5, 0.5]),
        "steps": st.just([[[0.9, 0.1], [0.2, 0.8]]]),
        "segments": st.none(),
    },
    "sampling.s_matrix": {"method": s_methods},
    "sampling.resample_weights": {
        "n_samples": st.just(ROWS),
        "strata": st.just(np.arange(ROWS) // 6),
        "members": st.sampled_from([None, slice(0, 1)]),
    },
    "sampling.simulate": {
        "response": st.just("linear"),
        "design": st.sampled_from(["gaussian", "rademacher", ("t", 5)]),
        "scale": st.sampled_from(["unit", "article"]),
        "n_features": st.just(5),
    },
    "solvers.logistic_path_batch": {"y": st.just(np.arange(ROWS) % 2)},
    "theory.Model": {"alpha": positive},
    "theory.Logistic": {"T": positive},
    "theory.EmpiricalEffects": {"values": some(st.floats(-2.0, 2.0))},
    "theory.PointEffects": {
        "values": some(st.floats(-2.0, 2.0), 2),
        "weights": some(fractions, 2),
        "signs": st.sampled_from(["random", "given"]),
    },
    "theory.Spectrum": {
        "values": st.lists(positive, min_size=2, max_size=2),
        "weights": st.sampled_from([[0.5, 0.5], [0.2, 0.8]]),
    },
    "theory.Spectrum.of_eigenvalues": {"values": some(positive)},
    "theory.Spectrum.of_singular_values": {"values": some(positive)},
    "theory.Spectrum.marchenko_pastur": {"alpha": positive},
    "theory.Spectrum.row_orthogonal": {"alpha": fractions},
    "theory.Spectrum.geometric": {"alpha": positive, "condition": st.floats(1.0, 1e6)},
    "theory.rate_function": {
        "y": st.sampled_from([0.5, [-1.0, 0.0, 1.0]]),
        "lam": st.floats(0.05, 10.0),
    },
    "amp.stability_vamp": {"response": st.sampled_from(["linear", "binary"])},
    "planning.correlated_stability": {"n_features": st.just(5)},
    "planning.correlated_knockoff": {"n_features": st.just(5)},
    "experiments.deviations": {
        "table": st.builds(
            lambda n: experiments.sweep(
                method="lasso", alpha=1.0, rho=0.2, Delta=0.1, lam=0.5, N=8, n_datasets=n
            ),
            st.integers(2, 3),
        )
    },
    "experiments.reproduce": {
        "name": st.just("phase-boundary"),
        "scale": st.just("smoke"),
        "fresh": st.booleans(),
    },
    "plots.plot_bars": {
        "variables": st.builds(_bars, seeds),
        "value": st.sampled_from(["chance", "error"]),
        "most": st.integers(1, 40),
    },
    "plots.plot_comparison": {
        "labels": st.just(["a", "€ & <b>", "a"]),
        "settings": st.just(["best", "best", "default"]),
        "power": numbers,
        "fdr": numbers,
        "ceiling": fractions,
    },
    "plots.plot_correlated_power": {"table": st.builds(_correlated, seeds)},
    "plots.plot_frequencies": {"probabilities": chances},
    "plots.plot_planted": {
        "labels": st.just(["a", "b"]),
        "power": st.just([(0.5, 0.4, 0.6), (0.2, 0.2, 0.2)]),
        "fdr": st.just([(0.1, 0.0, 0.2), (0.0, 0.0, 0.0)]),
        "level": fractions,
        "correlated": st.sampled_from([[None, 0.2], [None, None]]),
        "independent": st.just([0.1, 0.2]),
    },
    "plots.plot_power": {
        "curves": st.builds(lambda: _curves()[0]),
        "rates": st.sampled_from([None, [None, None], [None, 2.0]]),
    },
    "plots.plot_rate_function": {
        "rates": st.builds(lambda: _curves()[1]),
        "labels": st.just(["a"]),
    },
    "plots.plot_requirement": {
        "labels": st.just(["a", "b"]),
        "curves": st.just([([1, 2, 3], [0.1, 0.2, 0.4]), ([5, 7], [0.5, 0.7])]),
        "values": st.sampled_from([[None, 6.0], [2.0, None]]),
        "target": fractions,
        "quantity": st.just("samples"),
    },
    "plots.plot_stability_path": {
        "lams": st.just(np.array([0.3, 0.2, 0.1])),
        "probabilities": st.builds(lambda s: np.random.default_rng(s).random((3, 4)), seeds),
        "chosen": st.just(np.array([True, False, False, True])),
    },
    "tables.parse_table": {
        "name": st.sampled_from(["a.csv", "a.tsv", "a.csv.gz", "a.parquet", "a", "a.xlsx"]),
        "content": st.one_of(
            st.binary(max_size=60),
            st.text(',;\n\t"a1.-', max_size=60).map(str.encode),
            st.sampled_from([b"a,b\n1,2\n3,4\n", b"a;b\n1;x\n", csv_text().encode()]),
        ),
        "limits": st.just(tables.Limits(3, 3, 6)),
    },
    "tables.read_table": {
        "path": st.sampled_from(["table.csv", "none.csv", ".", "/dev/null", __file__])
    },
    "tables.split": {
        "table": columns,
        "target": st.sampled_from(["y", "a", "no"]),
        "drop": st.lists(st.sampled_from(["b", "c", "no"]), max_size=2),
    },
    "reports.answer": {
        "selector": st.builds(selectors.LassoSelection),
        "names": st.just([f"x{j}" for j in range(COLUMNS)]),
        "target": st.just("y"),
        "table": columns,
    },
    "reports.write_report": {
        "selection": st.builds(_selection),
        "folder": st.sampled_from(["report", "new/report", "table.csv"]).map(Path),
        "for_spreadsheets": st.booleans(),
    },
    "reports.report_zip": {"selection": st.builds(_selection)},
}
SPECIAL["tables.variables"] = SPECIAL["tables.split"]


class Subject(NamedTuple):
    """A function, and how to call it."""

    function: Callable
    sensible: Mapping[str, st.SearchStrategy]
    weight: float
    """Of its number of cases: those of costly functions are few."""


_ROOMS = {
    theory: 1.0,
    control: 2.0,
    sampling: 2.0,
    solvers: 1.0,
    amp: 1.5,
    planning: 0.5,
    experiments: 0.5,
    plots: 1.0,
    reports: 2.0,
    tables: 2.0,
}
_SLOW = {"theory.rate_function": 0.25, "experiments.reproduce": 0.25}
"""Functions that take seconds at their best."""
_CHECKED = {
    theory: ("EmpiricalEffects", "Logistic", "Model", "PointEffects", "Spectrum"),
    sampling: (
        "FixedKnockoffs",
        "GaussianKnockoffs",
        "GenotypeKnockoffs",
        "HaplotypeLaw",
        "IndependentKnockoffs",
        "MarkovKnockoffs",
    ),
    experiments: ("Store",),
}
"""Classes that people build themselves."""


def _drawn(function: Callable) -> Callable:
    """What is plotted is also drawn: some of what is wrong is only noticed then."""

    def draw(**kwargs: Any) -> None:
        function(**kwargs).savefig(io.BytesIO(), format="png", dpi=20)

    draw.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]
    return draw


def _subjects() -> dict[str, Subject]:
    out = {}
    for name in (
        "of_eigenvalues",
        "of_singular_values",
        "marchenko_pastur",
        "row_orthogonal",
        "geometric",
    ):
        label = f"theory.Spectrum.{name}"
        out[label] = Subject(getattr(theory.Spectrum, name), SENSIBLE | SPECIAL[label], 1.0)
    for room, weight in _ROOMS.items():
        short = room.__name__.removeprefix("selica.")
        for name in room.__all__:
            thing = getattr(room, name)
            if not inspect.isfunction(thing) and name not in _CHECKED.get(room, ()):
                continue
            own = {"planning": _PLANNED, "experiments": _SIMULATED}.get(short, {})
            label = f"{short}.{name}"
            called = _drawn(thing) if room is plots else thing
            out[label] = Subject(
                called, SENSIBLE | own | SPECIAL.get(label, {}), _SLOW.get(label, weight)
            )
    return out


SUBJECTS = _subjects()
SELECTORS = [
    getattr(selectors, name)
    for name in selectors.__all__
    if hasattr(getattr(selectors, name), "fit")
]
