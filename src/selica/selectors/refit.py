"""Direction and size of the effects: a fit without a penalty to the variables that were selected.

The rows that chose the variables also measure them here, so that effects are too large on average
and no interval around them would be right. They say which way a variable points, and how much.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.special import softmax

from selica._core.losses import Loss
from selica._core.types import Array, IntArray
from selica.statistics import Data
from selica.statistics.data import null_gradient

CAVEAT = "optimistic, because the same rows chose the variables, and without a confidence interval"
"""What is to be known of every effect of a refit."""
_RATIOS = {"binary": "odds ratio", "classes": "odds ratio", "count": "rate ratio",
           "survival": "hazard ratio"}  # fmt: skip
"""What the exponential of an effect is called, by response."""
_WEAK = 1e-10
"""Ridge of every refit for each row, which decides where columns say the same and is not felt."""
_ENDLESS = 8.0
"""An effect of a standard deviation on a logarithm of odds, rates or hazards that no data support:
e to this power is 3000."""
_ROWS_EACH = 2
"""Informative rows that a fit without a penalty needs for each of its columns."""
_MOST_STEPS = 100
"""Newton steps of a refit."""
_LAST_DECREASE = 1e-13
"""Share of the loss below which a step decides nothing."""
_BLOCK = 4096
"""Columns whose associations are computed at once."""
_BLOCK_NUMBERS = 4_000_000
"""Of a stored table, numbers that are made of them."""


class RefitEffects(NamedTuple):
    """Which way variables point, and how large their effects are.

    Examples
    --------
    >>> from selica.sampling import simulate
    >>> from selica.selectors.refit import refit
    >>> from selica.statistics import make_data
    >>> data = simulate(200, 5, 1, snr=10.0, random_state=0)
    >>> found = refit(make_data(data.X, data.y, "squared"), data.support)
    >>> (found.direction[data.support] > 0).tolist() == (data.coef[data.support] > 0).tolist()
    True
    """

    ratio: str | None
    """What the exponential of an effect is: "odds ratio", ...; None where effects are in the unit
    of the response."""
    direction: IntArray
    """(p,): 1 where the response rises with the variable, -1 where it falls, 0 where there is
    nothing to see; for several classes, the number of the class that it points to. By the refit for
    variables in it, by their own association with the response for others."""
    association: Array
    """(p,): how strongly each variable by itself goes with the response, without unit."""
    variables: IntArray
    """(k,): those in the refit."""
    per_sd: Array
    """(k,): change of the response, or of a logarithm, for one standard deviation of the variable.
    For several classes, between the class that it points to and the one it points away from. Of a
    variable with levels it is the standard deviation of its contribution."""
    per_unit: Array
    """(k,): the same for one unit of the variable; of a variable with levels, the largest
    difference between two of them; of a group with several members, NaN."""
    levels: tuple[tuple[tuple[int, float], ...], ...]
    """(k,): for a variable with levels, its columns and their effects against the level without a
    column, whose number is -1 and whose effect is 0; else (). For several classes these are of the
    class with the largest difference."""
    note: str
    """How effects were measured, as a clause."""


def refit(data: Data, support: Any) -> RefitEffects:
    """Measure direction and size of the effects of the selected variables, by a refit.

    Parameters
    ----------
    data : Data
    support : boolean array of shape (p,)
        The selected variables.

    Examples
    --------
    >>> import numpy as np
    >>> from selica.selectors.refit import refit
    >>> from selica.statistics import make_data
    >>> x = np.array([[0.0], [1.0], [2.0], [3.0], [4.0]])
    >>> found = refit(make_data(x, 10.0 - 3.0 * x[:, 0], "squared"), np.array([True]))
    >>> found.per_unit.round(6).tolist(), found.per_sd.round(3).tolist()
    ([-3.0], [-4.243])
    """
    owner = _owners(data)
    chosen = np.flatnonzero(support)
    columns = np.flatnonzero(np.isin(owner, chosen) & data.varies)
    kept = _kept(data)
    pull, slope = _associations(data, owner, len(support))
    direction = slope.copy()
    fitted, ridge = _fit(data, data.X[:, columns], kept)
    effects = fitted * data.y_scale
    per_sd, per_unit = np.zeros(chosen.size), np.zeros(chosen.size)
    levels: list[tuple[tuple[int, float], ...]] = []
    for place, variable in enumerate(chosen):
        own = np.flatnonzero(owner[columns] == variable)
        several = np.count_nonzero(owner == variable) > 1
        if several and _is_group(data, owner, variable):
            sd, _, _ = _of_levels(data, columns[own], effects[own])
            unit = np.nan  # members have units of their own
            levels.append(())
        elif several:
            which = columns[own]
            sd, unit, listed = _of_levels(data, which, effects[own])
            levels.append(listed)
        else:
            sd, unit = _of_number(effects[own], data.x_scale[columns[own]])
            levels.append(())
            direction[variable] = _direction(effects[own], data.loss)
        per_sd[place], per_unit[place] = sd, unit
    return RefitEffects(
        ratio=_RATIOS.get(data.loss.response),
        direction=direction,
        association=pull,
        variables=chosen,
        per_sd=per_sd,
        per_unit=per_unit,
        levels=tuple(levels),
        note=_note(ridge, kept),
    )


def _owners(data: Data) -> IntArray:
    """Return the variable that each column belongs to, (c,)."""
    variable = getattr(data, "variable", None)
    return np.arange(data.X.shape[1]) if variable is None else np.asarray(variable)


def _is_group(data: Data, owner: IntArray, variable: Any) -> bool:
    """Tell whether what was selected is a group with several members."""
    return data.member is not None and np.unique(data.member[owner == variable]).size > 1


def _kept(data: Data) -> Array:
    """Return the covariates that stay in, in standard form, (n, k)."""
    return np.zeros((data.n_rows, 0)) if data.keep is None else data.keep


def _associations(data: Data, owner: IntArray, variables: int) -> tuple[Array, IntArray]:
    """Return how strongly each variable by itself goes with the response, and which way."""
    gradient = null_gradient(data, data.weight)
    sides = -np.asarray(gradient).reshape(len(data.weight), -1).T / data.weight.sum()
    strength, direction = np.zeros(variables), np.zeros(variables, dtype=np.intp)
    alone = np.bincount(owner, minlength=variables) == 1
    step = max(1, _BLOCK_NUMBERS // data.n_rows) if data.stored else _BLOCK
    for start in range(0, owner.size, step):
        part = slice(start, start + step)
        pull = sides @ data.X[:, part]
        np.maximum.at(strength, owner[part], np.ptp(pull, axis=0) if len(pull) > 1 else
                      np.abs(pull[0]))  # fmt: skip
        way = pull.argmax(axis=0) if len(pull) > 1 else np.sign(pull[0])
        direction[owner[part]] = way.astype(np.intp)
    direction[~alone] = 0
    return strength, direction


def _of_number(effect: Array, scale: Array) -> tuple[float, float]:
    """Return the effect of one column for a standard deviation, and for a unit."""
    if effect.size == 0:  # a constant column
        return 0.0, 0.0
    sd = float(np.ptp(effect[0]) if effect.ndim > 1 else effect[0])
    return sd, sd / float(scale[0])


def _of_levels(
    data: Data, columns: IntArray, effects: Array
) -> tuple[float, float, tuple[tuple[int, float], ...]]:
    """Return spread, largest difference and single effects of a variable with levels.

    A row has one level at most, so that the effect of a level against the one without a column is
    that of a unit of its own column.
    """
    if columns.size == 0:
        return 0.0, 0.0, ()
    table = effects if effects.ndim > 1 else effects[:, None]
    part = data.X[:, columns]
    lines = part @ table
    share = data.weight / data.weight.sum()
    spread = float(np.sqrt((share @ lines**2).max()))
    against, numbers = table / data.x_scale[columns, None], columns.tolist()
    if not np.all(np.any(part > 0.0, axis=1)):  # some rows have the level without a column
        against, numbers = np.vstack([against, np.zeros(table.shape[1])]), [*numbers, -1]
    ranges = np.ptp(against, axis=0)
    best = int(np.argmax(ranges))
    listed = tuple(zip(numbers, against[:, best].tolist(), strict=True))
    return spread, float(ranges[best]), listed


def _direction(effect: Array, loss: Loss) -> int:
    """Return the sign of an effect, or the class that it points to."""
    if effect.size == 0:
        return 0
    return int(effect[0].argmax()) if loss.several else int(np.sign(effect[0]))


def _fit(data: Data, X: Array, kept: Array) -> tuple[Array, str | None]:
    """Return effects of standardised columns, (k,) or (k, classes), and why a ridge was needed."""
    rows = float(data.weight.sum())
    weak, free = np.full(X.shape[1], _WEAK * rows), np.full(kept.shape[1], _WEAK * rows)
    design = np.concatenate([X, kept], axis=1)
    reason = None
    if _ROWS_EACH * design.shape[1] > data.loss.informative_rows(data.y):
        reason = "there are too many selected variables for so few rows"
    else:
        coef, done = _minimum(data, design, np.concatenate([weak, free]))
        largest = np.abs(coef[: X.shape[1]]).max(initial=0.0)
        if done and (data.loss.quadratic or largest <= _ENDLESS):
            return coef[: X.shape[1]], None
        reason = "the selected variables explain the response perfectly or nearly so"
    strong = np.full(X.shape[1], float(max(X.shape[1], 1)))
    coef, _ = _minimum(data, design, np.concatenate([strong, free]))
    return coef[: X.shape[1]], reason


def _minimum(data: Data, design: Array, ridge: Array) -> tuple[Array, bool]:
    """Minimise loss and ridge over an intercept and coefficients, by Newton's method.

    Returns the coefficients, (d,) or (d, classes), those of the intercept last where the loss has
    one, and whether the last step decided nothing.
    """
    loss, c = data.loss, data.weight
    if loss.identified:
        design = np.concatenate([design, np.ones((len(c), 1))], axis=1)
        ridge = np.append(ridge, 0.0 if not loss.several else _WEAK * c.sum())
    classes = int(data.y.max()) + 1 if loss.several else 0
    coef = np.zeros((design.shape[1], classes) if loss.several else design.shape[1])
    charge = ridge[:, None] if loss.several else ridge
    if coef.size == 0:
        return coef, True

    def value(w: Array) -> float:
        cost = float(loss.total(data.y, c, design @ w))
        return cost + 0.5 * float((charge * w**2).sum())

    here = value(coef)
    for _ in range(_MOST_STEPS):
        eta = design @ coef
        slope = design.T @ loss.gradient(data.y, c, eta) + charge * coef
        step = -_solved(_curvature(loss, data.y, c, eta, design), ridge, slope)
        promise = float((slope * step).sum())
        length, new = 1.0, value(coef + step)
        while not new <= here + 1e-4 * length * promise and length > 1e-10:
            length *= 0.5
            new = value(coef + length * step)
        if not new <= here:
            return coef, abs(promise) <= 1e-8 * (1.0 + abs(here))
        coef, gain, here = coef + length * step, here - new, new
        if gain <= _LAST_DECREASE * (1.0 + abs(here)):
            return coef, True
    return coef, False


def _curvature(loss: Loss, y: Array, c: Array, eta: Array, design: Array) -> Array:
    """Return the second derivatives in the coefficients, (d, d) or (d K, d K)."""
    if not loss.several:
        if loss.diagonal:
            return np.asarray((design.T * loss.majorant(y, c, eta)) @ design)
        return np.asarray(loss.curved(y, c, eta, design.T) @ design)
    P = softmax(eta, axis=1)
    d, K = design.shape[1], eta.shape[1]
    out = np.empty((d, K, d, K))
    for k in range(K):
        for m in range(K):
            weight = c * P[:, k] * ((k == m) - P[:, m])
            out[:, k, :, m] = (design.T * weight) @ design
    return out.reshape(d * K, d * K)


def _solved(curvature: Array, ridge: Array, slope: Array) -> Array:
    """Return curvature and ridge, inverted, times a slope."""
    each = len(curvature) // max(len(ridge), 1)
    matrix = curvature + np.diag(np.repeat(ridge, each))
    # along what no data decide, such as a constant in all classes, there is no step
    found = np.linalg.lstsq(matrix, slope.ravel(), rcond=1e-14)[0]
    return np.asarray(found.reshape(slope.shape))


def _note(ridge: str | None, kept: Array) -> str:
    """Say how effects were measured."""
    what = "from a refit on the selected variables"
    if kept.shape[1]:
        what += " and the covariates"
    if ridge is not None:
        what += f", with a ridge penalty because {ridge}, so that effects are shrunk"
    else:
        what += ", without a penalty"
    return f"{what}; {CAVEAT}"
