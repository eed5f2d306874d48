"""Selection probabilities by refits, or by message passing, which some refits can check."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from selica._core.threads import one_blas_thread
from selica._core.types import Array, IntArray
from selica.amp import KnockoffAmp, StabilityAmp, knockoff_amp, stability_amp, stability_vamp
from selica.amp.results import Fields, Members
from selica.selectors.members import Scheme
from selica.selectors.summary import SEEN
from selica.statistics import Data
from selica.statistics.data import penalty_path

ENGINES = ("auto", "monte-carlo", "semi-analytic")
TOLERANCE = 0.03
"""Message passing is believed if its probabilities err by no more, as a root mean square."""
REFITTED = "Probabilities by refits: "
"""How a note begins where message passing was not used."""
# Refits that check it, at least.
_CHECKS = 32
# Law of the row weights for each way to resample.
_LAWS = {
    "bootstrap": "poisson",
    "poisson": "poisson",
    "subsample": "bernoulli",
    "pairs": "bernoulli",
    "exponential": "exponential",
}
# The penalty for power is looked for among so many, down to this share of the largest.
_PENALTIES, _SMALLEST = 24, 0.02
_PATIENCE = 150
# Products of small matrices are faster in one thread.
_LARGE = 1_000_000
# Vector message passing costs some dozen times n p min(n, p); beyond this, refits are cheaper, and
# beyond the second number it takes minutes.
_DEAR, _DEAREST = 2e8, 2e10
_INTERCEPT = 1e4
# Columns whose squared correlations with the others sum to more than this, beyond chance.
_CORRELATED = 0.5
_COLUMNS = 200


def stability_fields(
    data: Data, penalties: Array | float, scheme: Scheme, **settings: Any
) -> StabilityAmp:
    """Message passing for columns close to independent; penalties in glmnet's unit."""
    X, y = _weighted(data)
    lam = np.asarray(penalties) * scheme.rate * data.y.size
    with _threads(X):
        return stability_amp(
            X, y, lam, scheme.rate, resampling=_LAWS[scheme.resampling],
            weakness=scheme.weakness, **settings,
        )  # fmt: skip


def vector_fields(data: Data, penalty: float, scheme: Scheme) -> Members:
    """Message passing for correlated columns, and for labels; penalty in glmnet's unit."""
    X, y = _weighted(data) if data.loss == "squared" else (data.X, data.y)
    p = X.shape[1]
    if data.loss == "logistic":
        # an intercept: a column so large that its penalty is none
        X = np.column_stack([X, np.full(y.size, _INTERCEPT)])
    with _threads(X):
        found = stability_vamp(
            X, y, penalty * scheme.rate * y.size, scheme.rate,
            response="linear" if data.loss == "squared" else "binary",
            resampling=_LAWS[scheme.resampling], weakness=scheme.weakness,
        )  # fmt: skip
    return found.first_variables(p)


def stability_attempts(
    data: Data, penalty: float, scheme: Scheme, engine: str, calibrated: bool
) -> list[Callable[[], Members]]:
    """Ways of message passing in the order in which they are tried.

    Parameters
    ----------
    data : Data
    penalty : float
    scheme : Scheme
    engine : one of ENGINES
    calibrated : bool
        Whether the law of irrelevant fields is needed, which columns close to independent have.
    """
    n, p = data.X.shape
    plain, vector = (
        partial(fields, data, penalty, scheme) for fields in (stability_fields, vector_fields)
    )
    dear = n * p * min(n, p) > (_DEAR if engine == "auto" else _DEAREST)
    if data.loss == "logistic":
        return [] if dear or not np.all(data.weight == 1.0) else [vector]
    if calibrated or dear:
        return [plain]
    if correlated(data):
        return [vector]
    return [plain, vector] if engine == "auto" else [plain]


def knockoff_fields(
    data: Data, penalties: Array | float, w_threshold: float, **settings: Any
) -> KnockoffAmp:
    """Message passing for the lasso over independent copies; penalties in glmnet's unit."""
    X, y = _weighted(data)
    lam = np.asarray(penalties) * data.y.size
    with _threads(X):
        return knockoff_amp(X, y, lam, w_threshold, scale=1.0, **settings)


def _threads(X: Array) -> Any:
    return one_blas_thread() if X.size < _LARGE else nullcontext()


def _weighted(data: Data) -> tuple[Array, Array]:
    """Rows scaled so that each counts as much as its weight."""
    if np.all(data.weight == 1.0):
        return data.X, data.y
    root = np.sqrt(data.weight)
    return data.X * root[:, None], data.y * root


def penalty_for_power(data: Data, fields: Callable[..., Members]) -> float | None:
    """The penalty at which the averaged fit has the smallest estimated error.

    It orders variables best, and so has the most power at every error level. None where message
    passing does not converge there or at the next smaller penalty: then its error is no guide.

    Parameters
    ----------
    data : Data
    fields : callable
        Message passing for given penalties.
    """
    path = penalty_path(data, _PENALTIES, _SMALLEST)
    found = fields(path, max_iter=_PATIENCE, variances="scalar")
    good = found.status == "converged"
    best = int(np.where(good, found.ensemble_error, np.inf).argmin())
    return float(path[best]) if good[best : best + 2].all() else None


def correlated(data: Data) -> bool:
    """Whether columns are far from independent, by some of their correlations."""
    X = data.X[:, data.varies]
    n, p = X.shape
    some = np.unique(np.linspace(0, p - 1, min(_COLUMNS, p)).astype(np.intp))
    with _threads(X):
        r = (X[:, some] * data.weight[:, None]).T @ X / data.weight.sum()
    return bool((r**2).sum(axis=1).mean() - 1.0 - (p - 1) / n > _CORRELATED)


def checks_needed(P: Array) -> int:
    """Refits that can tell an error of the tolerance from none, for given probabilities.

    The mean over S variables of (P - f)^2 - f (1 - f) / R, f the frequencies in R refits, has a
    standard deviation of about P (1 - P) / R sqrt(2 / S): a third of the squared tolerance.
    """
    seen = P[P >= SEEN]
    noise: float = float((seen * (1.0 - seen)).sum()) * math.sqrt(2.0) / max(seen.size, 1) ** 1.5
    return max(_CHECKS, int(3.0 * noise / TOLERANCE**2) + 1)


def estimated_error(P: Array, counts: IntArray, members: int) -> float:
    """Root mean square error of probabilities, seen from frequencies with their own noise."""
    f = counts / members
    seen = (P >= SEEN) | (f >= 2.0 * SEEN)
    if not seen.any():
        return 0.0
    square = (P - f) ** 2 - f * (1.0 - f) / (members - 1)
    return math.sqrt(max(float(square[seen].mean()), 0.0))


class Outcome(NamedTuple):
    """Which engine gave the probabilities, and how far they can be trusted."""

    fields: Any = None
    """The result of message passing; None where refits decide."""
    error: float | None = None
    """Estimated root mean square error of probabilities by message passing; None if unchecked."""
    note: str | None = None
    """One sentence for the summary."""


def decide(
    engine: str,
    attempts: Sequence[Callable[[], Members]],
    counts: Callable[[int], IntArray],
    members: int,
) -> Outcome:
    """The first way of message passing that is believed, if any.

    Parameters
    ----------
    engine : one of ENGINES
    attempts : sequence of callables
        Ways of message passing; none where it does not apply.
    counts : callable
        How many of the first so many refits select each variable.
    members : int
        How many refits there may be.
    """
    if engine == "monte-carlo":
        return Outcome()
    if engine == "semi-analytic":
        fields = attempts[0]()
        rest = (
            "columns that are close to independent"
            if isinstance(fields, Fields)
            else "fields that are normal over the resamples"
        )
        state = "" if fields.converged else " It did not converge."
        return Outcome(
            fields, None,
            "Probabilities by message passing, not checked by refits (engine='auto' does); they "
            f"rest on {rest}.{state}",
        )  # fmt: skip
    reason = "does not apply here"
    for attempt in attempts:
        fields = attempt()
        if not fields.converged:
            reason = "was tried, but it did not converge"
            continue
        P = fields.selection_probabilities
        checks = checks_needed(P)
        if checks >= members:
            reason = f"was tried, but to check it takes {checks} refits, more than there are"
            break
        error = estimated_error(P, counts(checks), checks)
        if error <= TOLERANCE:
            told = f"as {error:.2g}" if error >= 0.01 else "below 0.01"
            return Outcome(
                fields, error,
                f"Probabilities by message passing; {checks} refits estimate their error {told}.",
            )  # fmt: skip
        reason = f"was tried, but its error is estimated as {error:.2g}, above {TOLERANCE:g}"
    return Outcome(note=f"{REFITTED}message passing {reason}.")
