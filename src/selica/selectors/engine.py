"""Selection probabilities by refits, or by message passing, which some refits can check."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.special import bdtr, bdtrc

from selica._core.errors import AssumptionWarning, ConvergenceWarning, DoesNotApply
from selica._core.losses import require, treats
from selica._core.parallel import one_blas_thread
from selica._core.types import Array, IntArray
from selica._core.warning import warn
from selica.amp import KnockoffAmp, StabilityAmp, knockoff_amp, stability_amp, stability_vamp
from selica.amp.results import Fields, Members
from selica.selectors.members import SEEN, Scheme
from selica.statistics import Data
from selica.statistics.data import penalty_path, ridge_of_ratio

ENGINES = ("auto", "monte-carlo", "semi-analytic")
TOLERANCE = 0.03
"""Message passing is believed if its probabilities err by no more, as a root mean square."""
REFITTED = "The probabilities were computed by refits: "
"""How a note begins where message passing was not used."""
_FEWEST_CHECKS = 32
"""Refits that check message passing, at least."""
_RESOLUTION = 4.0
"""Standard deviations of the squared error that its tolerance has to hold; more refits may help."""
_UPPER_QUANTILE = 1.645
"""Upper end of 95 % of a normal distribution, in standard deviations."""
_SIGNIFICANCE = 0.01
"""Probability below which the count of a single variable shows an error."""
_WEIGHTS = {
    "bootstrap": "poisson",
    "poisson": "poisson",
    "subsample": "bernoulli",
    "pairs": "bernoulli",
    "exponential": "exponential",
}
"""Distribution of the row weights for each way to resample."""
_PENALTIES = 24
"""Penalties among which the one for power is searched."""
_SMALLEST_SHARE = 0.02
"""The smallest of them, as a share of the largest."""
_ITERATIONS = 150
"""Iterations of message passing at each of them, at most."""
_LARGE_TABLE = 1_000_000
"""Numbers in a table from which on products of matrices gain by threads."""
_COSTLY = 2e8
"""Vector message passing costs some dozen times n p min(n, p): beyond this, refits are cheaper."""
_TOO_COSTLY = 2e10
"""Beyond this it takes minutes."""
_INTERCEPT = 1e4
"""Entries of the column of an intercept: so large that its penalty is none."""
_EXCESS_CORRELATION = 0.5
"""Sum of a column's squared correlations with the others, beyond chance, that is not small."""
_COMPARED_COLUMNS = 1000
"""Columns whose correlations with all others are looked at."""


def stability_fields(
    data: Data, penalties: Array | float, scheme: Scheme, **settings: Any
) -> StabilityAmp:
    """Run message passing for columns close to independent; penalties in glmnet's unit."""
    X, y = _weighted(data)
    rate = _rate(scheme, data.y.size)
    lam = np.asarray(penalties) * rate * data.y.size
    with _threads(X):
        return stability_amp(
            X, y, lam, rate, resampling=_WEIGHTS[scheme.resampling],
            weakness=scheme.weakness, lam2=ridge_of_ratio(lam, data.l1_ratio), **settings,
        )  # fmt: skip


def vector_fields(data: Data, penalty: float, scheme: Scheme) -> Members:
    """Run message passing for correlated columns and any loss; penalty in glmnet's unit."""
    X, y = _weighted(data) if data.loss.quadratic else (data.X, data.y)
    p = X.shape[1]
    if not data.loss.quadratic:
        # an intercept: a column so large that its penalty is none
        X = np.column_stack([X, np.full(y.size, _INTERCEPT)])
    with _threads(X):
        rate = _rate(scheme, y.size)
        lam = penalty * rate * y.size
        found = stability_vamp(
            X, y, lam, rate, response=data.loss, resampling=_WEIGHTS[scheme.resampling],
            weakness=scheme.weakness, lam2=ridge_of_ratio(lam, data.l1_ratio),
        )  # fmt: skip
    return found.first_variables(p)


def stability_attempts(
    data: Data, penalty: float, scheme: Scheme, engine: str, calibrated: bool
) -> list[Callable[[], Members]]:
    """Return ways of message passing in the order in which they are tried.

    Parameters
    ----------
    data : Data
    penalty : float
    scheme : Scheme
    engine : one of ENGINES
    calibrated : bool
        Whether the distribution of irrelevant fields is needed, which is known for columns that
        are close to independent.
    """
    n, p = data.X.shape
    plain, vector = (
        partial(fields, data, penalty, scheme) for fields in (stability_fields, vector_fields)
    )
    costly = n * p * min(n, p) > (_COSTLY if engine == "auto" else _TOO_COSTLY)
    if not data.loss.quadratic:
        fits = not costly and bool(np.all(data.weight == 1.0))
        if engine == "semi-analytic":
            require("message passing", data.loss)
            if not fits:
                raise DoesNotApply(
                    "With sample weights, or a table of this size, engine='semi-analytic' works "
                    "for a linear response only; use engine='monte-carlo'."
                )
        return [vector] if fits and treats("message passing", data.loss) else []
    if calibrated or costly:
        return [plain]
    if correlated(data):
        return [vector]
    return [plain, vector] if engine == "auto" else [plain]


def _rate(scheme: Scheme, n: int) -> float:
    """Return the share of the rows that is really drawn."""
    if scheme.resampling in ("subsample", "pairs"):
        return math.floor(scheme.rate * n + 1e-9) / n
    return scheme.rate


def knockoff_fields(
    data: Data, penalties: Array | float, w_threshold: float, **settings: Any
) -> KnockoffAmp:
    """Run message passing over independent copies; penalties in glmnet's unit."""
    lam = np.asarray(penalties) * data.y.size
    with _threads(data.X):
        lam2 = ridge_of_ratio(lam, data.l1_ratio)
        return knockoff_amp(data.X, data.y, lam, w_threshold, scale=1.0, lam2=lam2, **settings)


def _threads(X: Array) -> Any:
    return one_blas_thread() if X.size < _LARGE_TABLE else nullcontext()


def _weighted(data: Data) -> tuple[Array, Array]:
    """Return table and response with rows scaled so that each counts as much as its weight."""
    if np.all(data.weight == 1.0):
        return data.X, data.y
    root = np.sqrt(data.weight)
    return data.X * root[:, None], data.y * root


def penalty_for_power(data: Data, fields: Callable[..., Members]) -> float | None:
    """Return the penalty at which the averaged fit has the smallest estimated error.

    It orders variables best, and so has the most power at every error level. None where message
    passing does not converge there or at the next smaller penalty: then its error is no guide.

    Parameters
    ----------
    data : Data
    fields : callable
        Message passing for given penalties.
    """
    path = penalty_path(data, _PENALTIES, _SMALLEST_SHARE)
    if path[0] == 0.0:
        return None
    found = fields(path, max_iter=_ITERATIONS, variances="scalar")
    good = found.status == "converged"
    best = int(np.where(good, found.ensemble_error, np.inf).argmin())
    return float(path[best]) if good[best : best + 2].all() else None


def correlated(data: Data) -> bool:
    """Tell whether a column is far from independent of the others, by its correlations."""
    excess, noise = excess_correlation(data)
    return bool(excess.max(initial=0.0) > _EXCESS_CORRELATION + noise)


def excess_correlation(data: Data) -> tuple[Array, float]:
    """Return how much columns are correlated with all others, beyond chance.

    Parameters
    ----------
    data : Data

    Returns
    -------
    array
        Sums of the squares of the correlations of some columns with all others, less what chance
        gives.
    float
        Four standard errors of such a sum.
    """
    X = data.X[:, data.varies]
    p = X.shape[1]
    if p < 2:
        return np.zeros(p), 0.0
    some = np.unique(np.linspace(0, p - 1, min(_COMPARED_COLUMNS, p)).astype(np.intp))
    share = data.weight / data.weight.sum()
    rows = 1.0 / float(share @ share)  # as many as weights leave
    with _threads(X):
        r = (X[:, some] * share[:, None]).T @ X
    excess = (r**2).sum(axis=1) - 1.0 - (p - 1) / max(rows - 1.0, 1.0)
    return np.asarray(excess), 4.0 * math.sqrt(2.0 * p) / rows


def checks_needed(P: Array) -> int:
    """Return how many refits can tell an error of the tolerance from none."""
    return max(_FEWEST_CHECKS, int(_RESOLUTION * _noise(P, 1) / TOLERANCE**2) + 1)


def _noise(P: Array, members: int) -> float:
    """Return the standard deviation of the mean of (P - f)^2 - f (1 - f) / members.

    f are the frequencies in so many refits.
    """
    seen = P[P >= SEEN]
    spread = float((seen * (1.0 - seen)).sum())
    return float(spread * math.sqrt(2.0) / max(seen.size, 1) ** 1.5 / members)


def error_bound(P: Array, counts: IntArray, members: int) -> float:
    """Return the upper end, at 95 %, of the root mean square error, seen from refits.

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
    if min(few.min(), many.min()) * seen.sum() < _SIGNIFICANCE:
        return math.inf
    return math.sqrt(max(square, 0.0) + _UPPER_QUANTILE * _noise(P, members))


class EngineOutcome(NamedTuple):
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
) -> EngineOutcome:
    """Return the first way of message passing that is believed, if any.

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
        return EngineOutcome()
    if engine == "semi-analytic":
        fields = attempts[0]()
        rest = (
            "columns that are close to independent"
            if isinstance(fields, Fields)
            else "estimates that are normally distributed over the resamples"
        )
        state = "" if fields.converged else " It did not converge."
        return EngineOutcome(
            fields, None,
            "The probabilities were computed by message passing and not checked by refits "
            f"(engine='auto' checks them); they assume {rest}.{state}",
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
                f"was tried, but checking it needs n_resamples={checks + 1} or more; got {members}"
            )
            break
        counts, fitted = refits(checks)
        error = error_bound(P, counts, fitted)
        if error > TOLERANCE and fitted < members:
            # counts of one refit rise and fall together, so that few of them raise false alarms
            counts, fitted = refits(members)
            error = error_bound(P, counts, fitted)
        if error <= TOLERANCE:
            return EngineOutcome(
                fields, error,
                f"The probabilities were computed by message passing; {fitted} refits bound their "
                f"error (root mean square) by {error:.2g}.",
            )  # fmt: skip
        how = (
            f"by up to {error:.2g}, above {TOLERANCE:g}" if error < 1.0 else "for single variables"
        )
        reason = f"was tried, but its probabilities are wrong {how}"
    return EngineOutcome(note=f"{REFITTED}message passing {reason}.")


def warn_of_fields(fields: Any, data: Data, *, checked: bool, calibrated: bool = False) -> None:
    """Warn of what message passing rests on where that is in doubt.

    Parameters
    ----------
    fields : Members
    data : Data
    checked : bool
        Whether refits have checked the probabilities.
    calibrated : bool
        Whether a level rests on the distribution of irrelevant fields, which refits do not check.
    """
    plain = isinstance(fields, Fields)
    if plain and (calibrated or not checked) and correlated(data):
        what = "the level may not hold" if checked else "message passing may be wrong"
        warn(f"The columns are correlated, so that {what}.", AssumptionWarning)
    if not fields.converged:
        warn(
            f"Message passing ended with status {fields.status!r}, so that probabilities "
            "may be wrong; engine='monte-carlo' refits instead.",
            ConvergenceWarning,
        )
