"""Selection probabilities by refits, or by message passing, which some refits can check."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.special import bdtr, bdtrc

from selica._core.errors import ConvergenceWarning, DoesNotApply
from selica._core.losses import require, treats
from selica._core.parallel import one_blas_thread
from selica._core.types import Array, IntArray
from selica.amp import KnockoffAmp, StabilityAmp, knockoff_amp, stability_amp, stability_vamp
from selica.amp.results import Fields, Members
from selica.selectors.base import AssumptionWarning
from selica.selectors.members import Scheme
from selica.selectors.summary import SEEN
from selica.statistics import Data
from selica.statistics.data import penalty_path, ridge_of_ratio

ENGINES = ("auto", "monte-carlo", "semi-analytic")
TOLERANCE = 0.03
"""Message passing is believed if its probabilities err by no more, as a root mean square."""
REFITTED = "Probabilities by refits: "
"""How a note begins where message passing was not used."""
# Refits that check it, at least; more where they are needed for a resolution of this part of the
# squared tolerance, one standard deviation; the upper end of 95 % in standard deviations; and how
# improbable the count of a variable may be.
_CHECKS, _RESOLUTION, _UPPER, _CLEARLY = 32, 4.0, 1.645, 0.01
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
_COLUMNS = 1000


def stability_fields(
    data: Data, penalties: Array | float, scheme: Scheme, **settings: Any
) -> StabilityAmp:
    """Message passing for columns close to independent; penalties in glmnet's unit."""
    X, y = _weighted(data)
    rate = _rate(scheme, data.y.size)
    lam = np.asarray(penalties) * rate * data.y.size
    with _threads(X):
        return stability_amp(
            X, y, lam, rate, resampling=_LAWS[scheme.resampling],
            weakness=scheme.weakness, lam2=ridge_of_ratio(lam, data.l1_ratio), **settings,
        )  # fmt: skip


def vector_fields(data: Data, penalty: float, scheme: Scheme) -> Members:
    """Message passing for correlated columns and any loss; penalty in glmnet's unit."""
    X, y = _weighted(data) if data.loss.quadratic else (data.X, data.y)
    p = X.shape[1]
    if not data.loss.quadratic:
        # an intercept: a column so large that its penalty is none
        X = np.column_stack([X, np.full(y.size, _INTERCEPT)])
    with _threads(X):
        rate = _rate(scheme, y.size)
        lam = penalty * rate * y.size
        found = stability_vamp(
            X, y, lam, rate, response=data.loss, resampling=_LAWS[scheme.resampling],
            weakness=scheme.weakness, lam2=ridge_of_ratio(lam, data.l1_ratio),
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
    if not data.loss.quadratic:
        fits = not dear and bool(np.all(data.weight == 1.0))
        if engine == "semi-analytic":
            require("message passing", data.loss)
            if not fits:
                raise DoesNotApply(
                    "engine='semi-analytic' is for a linear response where there are sample "
                    "weights, or so large a table; use engine='monte-carlo'."
                )
        return [vector] if fits and treats("message passing", data.loss) else []
    if calibrated or dear:
        return [plain]
    if correlated(data):
        return [vector]
    return [plain, vector] if engine == "auto" else [plain]


def _rate(scheme: Scheme, n: int) -> float:
    """Share of the rows that is really drawn."""
    if scheme.resampling in ("subsample", "pairs"):
        return math.floor(scheme.rate * n + 1e-9) / n
    return scheme.rate


def knockoff_fields(
    data: Data, penalties: Array | float, w_threshold: float, **settings: Any
) -> KnockoffAmp:
    """Message passing for the lasso over independent copies; penalties in glmnet's unit."""
    lam = np.asarray(penalties) * data.y.size
    with _threads(data.X):
        lam2 = ridge_of_ratio(lam, data.l1_ratio)
        return knockoff_amp(data.X, data.y, lam, w_threshold, scale=1.0, lam2=lam2, **settings)


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
    if path[0] == 0.0:
        return None
    found = fields(path, max_iter=_PATIENCE, variances="scalar")
    good = found.status == "converged"
    best = int(np.where(good, found.ensemble_error, np.inf).argmin())
    return float(path[best]) if good[best : best + 2].all() else None


def correlated(data: Data) -> bool:
    """Whether a column is far from independent of the others, by the sum of its correlations."""
    X = data.X[:, data.varies]
    p = X.shape[1]
    if p < 2:
        return False
    some = np.unique(np.linspace(0, p - 1, min(_COLUMNS, p)).astype(np.intp))
    share = data.weight / data.weight.sum()
    rows = 1.0 / float(share @ share)  # as many as weights leave
    with _threads(X):
        r = (X[:, some] * share[:, None]).T @ X
    excess = (r**2).sum(axis=1) - 1.0 - (p - 1) / rows
    return bool(excess.max() > _CORRELATED + 4.0 * math.sqrt(2.0 * p) / rows)


def checks_needed(P: Array) -> int:
    """Refits that can tell an error of the tolerance from none, for given probabilities."""
    return max(_CHECKS, int(_RESOLUTION * _noise(P, 1) / TOLERANCE**2) + 1)


def _noise(P: Array, members: int) -> float:
    """Standard deviation of the mean over S variables of (P - f)^2 - f (1 - f) / members.

    f are the frequencies in so many refits.
    """
    seen = P[P >= SEEN]
    spread = float((seen * (1.0 - seen)).sum())
    return float(spread * math.sqrt(2.0) / max(seen.size, 1) ** 1.5 / members)


def error_bound(P: Array, counts: IntArray, members: int) -> float:
    """Upper end, at 95 %, of the root mean square error of probabilities, seen from refits.

    Infinite where a single variable is clearly off: its count has a probability below 0.01 over
    the number of variables, even if its probability may err by the tolerance.
    """
    f = counts / members
    seen = (P >= SEEN) | (f >= 2.0 * SEEN)
    if not seen.any():
        return 0.0
    square = float(((P - f) ** 2 - f * (1.0 - f) / (members - 1))[seen].mean())
    low, high = (np.clip(P[seen] + d, 0.0, 1.0) for d in (-TOLERANCE, TOLERANCE))
    k = counts[seen].astype(float)
    few, many = bdtr(k, members, low), np.where(k > 0.0, bdtrc(k - 1.0, members, high), 1.0)
    if min(few.min(), many.min()) * seen.sum() < _CLEARLY:
        return math.inf
    return math.sqrt(max(square, 0.0) + _UPPER * _noise(P, members))


class Outcome(NamedTuple):
    """Which engine gave the probabilities, and how far they can be trusted."""

    fields: Any = None
    """The result of message passing; None where refits decide."""
    error: float | None = None
    """Bound on the root mean square error of its probabilities, from refits; None if unchecked."""
    note: str | None = None
    """One sentence for the summary."""


def decide(
    engine: str,
    attempts: Sequence[Callable[[], Members]],
    refits: Callable[[int], tuple[IntArray, int]],
    members: int,
) -> Outcome:
    """The first way of message passing that is believed, if any.

    Parameters
    ----------
    engine : one of ENGINES
    attempts : sequence of callables
        Ways of message passing; none where it does not apply.
    refits : callable
        How many of so many refits, or more, select each variable; and of how many.
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
            reason = (
                f"was tried, but to check it takes n_resamples={checks + 1} or more refits, and "
                f"there are {members}"
            )
            break
        counts, fitted = refits(checks)
        error = error_bound(P, counts, fitted)
        if error > TOLERANCE and fitted < members:
            # counts of one refit rise and fall together, so that few of them raise false alarms
            counts, fitted = refits(members)
            error = error_bound(P, counts, fitted)
        if error <= TOLERANCE:
            return Outcome(
                fields, error,
                f"Probabilities by message passing; {fitted} refits bound their error (root mean "
                f"square) by {error:.2g}.",
            )  # fmt: skip
        how = f"by up to {error:.2g}, above {TOLERANCE:g}" if error < 1.0 else "at single variables"
        reason = f"was tried, but it errs {how}"
    return Outcome(note=f"{REFITTED}message passing {reason}.")


def warn_of_fields(fields: Any, data: Data, checked: bool, calibrated: bool = False) -> None:
    """Says what message passing rests on where that is in doubt.

    Parameters
    ----------
    fields : Members
    data : Data
    checked : bool
        Whether refits have checked the probabilities.
    calibrated : bool
        Whether a level rests on the law of irrelevant fields, which refits do not check.
    """
    plain = isinstance(fields, Fields)
    if plain and (calibrated or not checked) and correlated(data):
        what = "the level may not hold" if checked else "message passing may be wrong"
        warnings.warn(
            f"X: columns are correlated, so that {what}.", AssumptionWarning, stacklevel=6
        )
    if not fields.converged:
        warnings.warn(
            f"engine: message passing ended with status {fields.status!r}, so that probabilities "
            "may be wrong; engine='monte-carlo' refits instead.",
            ConvergenceWarning,
            stacklevel=6,
        )
