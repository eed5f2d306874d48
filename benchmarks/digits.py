"""Sums of what the package computes, to the last bit, before and after a change of walls.

    python -m benchmarks.digits            one line a subject: the sum, its exact hexadecimal form

Compare the output of two commits with `diff`. Rounding differs between machines and numerical
libraries, so the two have to be run on one machine, with one thread in each library.
"""

from __future__ import annotations

import dataclasses
import math
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from selica import (
    AggregatedKnockoffs,
    AutoSelection,
    Bolasso,
    DataSplitting,
    DerandomizedKnockoffs,
    IntegratedStability,
    KnockoffSelection,
    LassoSelection,
    StabilitySelection,
    amp,
    planning,
    sampling,
    solvers,
    theory,
)


def numbers(value: Any) -> Iterator[float]:
    """All finite numbers in a result, in the order of its fields."""
    if isinstance(value, str | bytes) or value is None:
        return
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        for field in dataclasses.fields(value):
            yield from numbers(getattr(value, field.name))
    elif isinstance(value, dict):
        for each in value.values():
            yield from numbers(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from numbers(each)
    else:
        array = np.asarray(value)
        if array.dtype.kind in "biuf":
            yield from (float(x) for x in array.ravel() if np.isfinite(x))


def table(n: int, p: int, *, binary: bool = False, common: float = 0.3) -> tuple[Any, Any]:
    """A table with ten signals, whose columns share a part."""
    rng = np.random.default_rng(n + p)
    X = rng.standard_normal((n, p)) + common * rng.standard_normal((n, 1))
    y = X[:, :10] @ np.linspace(0.3, 1.0, 10) + rng.standard_normal(n)
    return X, (y > 0).astype(int) if binary else y


def fitted(selector: Any, **settings: Any) -> list[Any]:
    """What a selector says of a table."""
    selector.fit(*table(300, **{"p": 60, **settings}))
    kept = (
        "selection_probabilities_", "statistics_", "evalues_", "pvalues_", "coef_", "bound_",
        "scores_", "efp_",
    )  # fmt: skip
    return [selector.get_support(), *(getattr(selector, name, None) for name in kept)]


def subjects() -> dict[str, Callable[[], Any]]:
    """What is summed."""
    grid = np.linspace(0.5, 3.0, 12)
    model = theory.Model(alpha=grid, rho=0.1, Delta=0.05)
    one = theory.Model(alpha=1.5, rho=0.1, Delta=0.05)
    study = {"n_samples": 400, "n_features": 500, "n_signals": 25, "r2": 0.5}
    X, y = table(200, 100, common=0.0)
    weights, lams = sampling.resample_weights(200, 20, random_state=0), np.array([0.3, 0.1])
    lasso: dict[str, Any] = {"statistic": "coefficient", "random_state": 0}
    methods = ("lasso", "stability-ideal", "knockoffs-ideal", "knockoffs-frequency")
    return {
        "theory.solve": lambda: [
            theory.solve_lasso(model, 0.5),
            theory.solve_stability(model, 0.5),
            theory.solve_knockoff(model, 0.5),
        ],
        "theory.power": lambda: [theory.power(model, each) for each in methods],
        "theory.power_curve": lambda: theory.power_curve(one, "stability-ideal"),
        "theory.operating_point": lambda: theory.operating_point(one, "knockoffs-frequency"),
        "theory.optimal_lam": lambda: theory.optimal_lam(one, "stability-ideal"),
        "theory.spectrum": lambda: theory.solve_stability(
            one, 0.5, spectrum=theory.Spectrum.row_orthogonal(0.5)
        ),
        "theory.logistic": lambda: theory.solve_stability(
            theory.Model(alpha=grid, rho=0.1, Delta=0.0), 0.2, response=theory.Logistic(2.0)
        ),
        "theory.bayes": lambda: [theory.solve_bayes(one), theory.power(one, "bayes")],
        "theory.rate_function": lambda: theory.rate_function(
            one, "stability-ideal", 0.5, y=np.linspace(-1, 1, 5)
        ),
        "planning.compare_methods": lambda: planning.compare_methods(**study),
        "planning.required_samples": lambda: planning.required_samples(
            n_features=500, n_signals=25, r2=0.5, power=0.7
        ),
        "planning.correlated_power": lambda: planning.correlated_power(
            X, n_signals=8, r2=0.5, random_state=0
        ),
        "planning.plasmode_power": lambda: planning.plasmode_power(
            X, n_signals=8, r2=0.5, n_sets=3, random_state=0
        ),
        "planning.diagnose": lambda: planning.diagnose(
            StabilitySelection(random_state=0).fit(X, y), X, y
        ),
        "planning.correlated_stability": lambda: planning.correlated_stability(
            one, 0.3, np.eye(20) * 0.7 + 0.3, random_state=0
        ),
        "solvers.lasso": lambda: solvers.lasso_path_batch(X, y, lams, weights),
        "solvers.logistic": lambda: solvers.logistic_path_batch(X, (y > 0) * 1, lams, weights),
        "amp": lambda: [
            amp.stability_amp(X, y, 0.1),
            amp.stability_vamp(X, y, 0.1),
            amp.stability_vamp(X, (y > 0) * 1, 0.05, response="binary"),
            amp.knockoff_amp(X, y, 0.1),
        ],
        "StabilitySelection": lambda: fitted(StabilitySelection(random_state=0)),
        "StabilitySelection(fdr=)": lambda: fitted(
            StabilitySelection(fdr=0.2, engine="semi-analytic", random_state=0),
            p=200,
            common=0.0,
        ),
        "StabilitySelection, binary": lambda: fitted(
            StabilitySelection(random_state=0), binary=True
        ),
        "KnockoffSelection": lambda: fitted(KnockoffSelection(fdr=0.2, **lasso)),
        "KnockoffSelection, binary": lambda: fitted(
            KnockoffSelection(fdr=0.2, **lasso), binary=True
        ),
        "DerandomizedKnockoffs": lambda: fitted(DerandomizedKnockoffs(fdr=0.2, **lasso)),
        "DerandomizedKnockoffs(pfer=)": lambda: fitted(DerandomizedKnockoffs(pfer=1.0, **lasso)),
        "AggregatedKnockoffs": lambda: fitted(AggregatedKnockoffs(**lasso)),
        "KnockoffSelection, default": lambda: fitted(KnockoffSelection(fdr=0.2, random_state=0)),
        "DerandomizedKnockoffs, default": lambda: fitted(
            DerandomizedKnockoffs(fdr=0.2, random_state=0)
        ),
        "AggregatedKnockoffs, default": lambda: fitted(AggregatedKnockoffs(random_state=0)),
        "DataSplitting": lambda: fitted(DataSplitting(random_state=0)),
        "IntegratedStability": lambda: fitted(IntegratedStability(random_state=0)),
        "LassoSelection": lambda: fitted(LassoSelection(random_state=0)),
        "Bolasso": lambda: fitted(Bolasso(random_state=0)),
        "AutoSelection": lambda: fitted(AutoSelection(random_state=0)),
    }


def main() -> None:
    """Print the sums."""
    for name, subject in subjects().items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                found = list(numbers(subject()))
                total = math.fsum(map(abs, found))  # in any order
                print(f"{name:32}{len(found):7} numbers  {total:<24.17g}{total.hex()}", flush=True)
            except Exception as error:
                print(f"{name:32}{type(error).__name__}: {error}", flush=True)


if __name__ == "__main__":
    main()
