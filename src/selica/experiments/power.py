"""Is control bought by selecting nothing? Power beside what the theory predicts."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from selica._core.effects import PointEffects
from selica._core.random import RandomState, child
from selica._core.table import Row, Table
from selica._core.validation import count
from selica.control import fdp, tpp
from selica.control.stability import ASSUMPTIONS
from selica.experiments.data_sets import on_data_sets
from selica.experiments.summary import mean_and_error
from selica.planning.predict.limit import OneCopy, first_variables
from selica.planning.study import Study
from selica.sampling import simulate
from selica.selectors import (
    AggregatedKnockoffs,
    DerandomizedKnockoffs,
    KnockoffSelection,
    StabilitySelection,
)
from selica.theory import Model, Rates, optimal_lam, solve_knockoff, solve_stability

FDR = 0.2
"""Level of the false discovery rate."""
PFER = 5.0
"""Level of the expected number of false selections."""
_COPIES = 10
"""Knockoff copies of derandomized methods."""
_GAMMA = 0.3
"""Quantile of the p-values of the copies."""
_RESAMPLES = 100
"""Members of stability selection."""
_OFTEN = 0.9
"""Threshold of stability selection in the form of the article."""
_BOUNDED = 0.75
"""Threshold of stability selection with a bound."""


STUDIES = {
    "Gaussian effects": Study.of(400, 200, 40, r2=0.8),
    "equal effects": Study.of(600, 300, 30, r2=0.5, effects=PointEffects()),
    "more variables than rows": Study.of(240, 300, 45, r2=0.95),
}


def _penalties(model: Model) -> tuple[float, float]:
    """Return the penalties of least prediction error, for knockoffs and for bootstrapped rows."""
    return float(optimal_lam(model, "knockoffs-ideal")), float(
        optimal_lam(model, "stability-ideal", mu_B=1.0)
    )


def _selectors(study: Study) -> dict[str, Any]:
    """Return the methods with a prediction."""
    both, resampled = (study.penalty(lam) for lam in _penalties(study.model))
    knockoffs: dict[str, Any] = {"sampler": "iid", "lam": both, "n_jobs": 1}
    out: dict[str, Any] = {
        "knockoff+": KnockoffSelection(FDR, **knockoffs),
        f"e-values, {_COPIES} copies": DerandomizedKnockoffs(FDR, n_copies=_COPIES, **knockoffs),
        f"p-values, {_COPIES} copies": AggregatedKnockoffs(
            FDR, n_copies=_COPIES, gamma=_GAMMA, **knockoffs
        ),
        "stability, bootstrap": StabilitySelection(
            resampled, n_resamples=_RESAMPLES, threshold=_OFTEN, n_jobs=1
        ),
    }
    for assumption in ASSUMPTIONS:
        out[f"stability, {assumption}"] = StabilitySelection(
            resampling="pairs", n_resamples=_RESAMPLES, pfer=PFER, threshold=_BOUNDED,
            assumption=assumption, n_jobs=1,
        )  # fmt: skip
    return out


def _predicted(study: Study) -> dict[str, Rates]:
    """Return what the theory says about those that do not take the first q variables."""
    model = study.model
    both, resampled = _penalties(model)
    one = OneCopy(solve_knockoff(model, both), study.n_features)
    rows = solve_stability(model, resampled, 1.0)
    return {
        "knockoff+": one.knockoff_plus(FDR),
        f"e-values, {_COPIES} copies": one.evalues(FDR, _COPIES),
        f"p-values, {_COPIES} copies": one.pvalues(FDR, _COPIES, _GAMMA),
        "stability, bootstrap": rows.rates(_OFTEN, n_members=_RESAMPLES),
    }


def _of_first(study: Study, q: float) -> Rates:
    """Return what the theory says about those that take the first q variables."""
    halves = first_variables(study.model, study.n_features, q)
    return halves.rates(_BOUNDED, n_members=_RESAMPLES)


class SelectionPower(NamedTuple):
    """One selection."""

    power: float
    fdp: float
    q: int | None
    """Variables a resample may take, where it takes the first ones."""
    taken: float
    """Variables the resamples did take on average; zero where q is None."""


def _run(study: Study, seeds: Sequence[np.random.SeedSequence]) -> list[dict[str, SelectionPower]]:
    """Return selections on some data sets, by method."""
    out = []
    selectors = _selectors(study)
    for seed in seeds:
        data = simulate(
            study.n_samples, study.n_features, study.n_signals, noise_variance=study.model.Delta,
            effects=study.effects, scale="article", random_state=seed,
        )  # fmt: skip
        found: dict[str, SelectionPower] = {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for name, selector in selectors.items():
                mask = selector.set_params(random_state=child(seed, 1)).fit(data.X, data.y).support_
                q = getattr(selector, "q_", None)
                found[name] = SelectionPower(
                    tpp(mask, data.support), fdp(mask, data.support),
                    q, 0.0 if q is None else selector.mean_selected_,
                )  # fmt: skip
        out.append(found)
    return out


def power_beside_theory(
    runs: int = 50,
    studies: Mapping[str, Study] = STUDIES,
    *,
    random_state: RandomState | None = 0,
    n_jobs: int | None = None,
) -> Table:
    """Measure power and false discovery rate of the selectors beside predictions.

    Parameters
    ----------
    runs : int
        Data sets of each study, at least two.
    studies : mapping of str to planning.Study
    random_state, n_jobs
        As in `sweep`.

    Returns
    -------
    Table
        One row for each study and method: `power` and `fdp` with standard errors, `predicted`
        and `predicted_fdr`, and `ratio`, measured over predicted power. Where resamples take the
        first q variables, `predicted_taken` is the power predicted for as many as they did take:
        a resample stops at the last penalty of a grid at which it has no more than q.
    """
    rows: list[Row] = []
    measured = on_data_sets(
        _run, list(studies.values()), count("runs", runs, at_least=2),
        random_state=random_state, n_jobs=n_jobs, progress=None,
    )  # fmt: skip
    for title, (study, found) in zip(studies, measured, strict=True):
        predicted = _predicted(study)
        rows += [
            {"study": title, "method": name}
            | _row(study, [one[name] for one in found], predicted.get(name))
            for name in found[0]
        ]
    return Table.of(rows)


def _row(study: Study, found: list[SelectionPower], predicted: Rates | None) -> Row:
    (power, false), (power_error, false_error) = mean_and_error(
        np.array([(one.power, one.fdp) for one in found])
    )
    rates, taken, q = predicted, None, found[0].q
    if q is not None:
        rates = _of_first(study, q)
        taken = _of_first(study, float(np.mean([one.taken for one in found]))).tpr
    assert rates is not None
    return {
        "runs": len(found),
        "power": float(power),
        "power_error": float(power_error),
        "predicted": rates.tpr,
        "ratio": float(power / rates.tpr) if rates.tpr > 0.0 else None,
        "fdp": float(false),
        "fdp_error": float(false_error),
        "predicted_fdr": rates.fdr,
        "predicted_taken": taken,
    }
