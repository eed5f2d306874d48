"""The penalty a method should use: for prediction, for power, or as its own threshold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from selica._core.counts import RESAMPLINGS, check_rate
from selica._core.errors import BoundaryWarning
from selica._core.results import unwrap
from selica._core.root import find_root
from selica._core.types import Array, IntArray
from selica._core.validation import LARGEST, broadcast, choice, positive, real
from selica._core.warning import warn
from selica.catalogue import Method
from selica.theory.glm.fast import null_fields
from selica.theory.iid.batch import EnsembleModel, Errors, member_errors, member_guesses
from selica.theory.model import Model
from selica.theory.response import RowResponse
from selica.theory.selection.levels import at_level, log_odds, log_rates
from selica.theory.solution import Solution
from selica.theory.solve import check_response, check_ridge, method_of, solve_method

CRITERIA = ("prediction", "power")
"""Ways to choose a penalty."""
BY_LEVEL = ("lam", "w_th", "Z_th")
"""Thresholds of the methods whose most powerful penalty depends on the FDR level."""
_DECADES = 7.0  # how far below the largest useful penalty the search goes
_GRID_POINTS = 64
"""Penalties of a scan."""
_BINARY_DECADES = 2.5  # for another response, where a point takes longer
_BINARY_GRID_POINTS = 18
"""Penalties of a scan for another response."""
_SLOPE_STEP = 2e-3  # of log lam, in difference quotients

Objective = Callable[[Array, IntArray], Array]
"""(log lam, index of the models) -> values"""


def optimal_lam(
    model: Model,
    method: str = "stability-ideal",
    mu_B: ArrayLike = 1.0,
    criterion: str = "prediction",
    resampling: str = "poisson",
    fdr: ArrayLike = 0.1,
    *,
    lam2: ArrayLike = 0.0,
    response: RowResponse | None = None,
) -> Any:
    """Return the best penalty of a method.

    Parameters
    ----------
    model : Model
    method : {"lasso", "thresholded-lasso", "stability-ideal", "knockoffs-ideal", \
            "knockoffs-frequency"}
    mu_B, resampling
        As in `solve_stability`; used by "stability-ideal" only.
    criterion : {"prediction", "power"}
        "prediction" is the article's choice: the prediction error of one member, E + v (+ v_tilde).
        "power" maximises the true positive rate. For "stability-ideal" and "knockoffs-frequency"
        that is one penalty for every FDR level, the one that minimises E, the error of the averaged
        estimator.
    fdr : float or array
        Level at which the power is maximised; used with criterion "power" by the other methods:
        "knockoffs-ideal" (one copy), "thresholded-lasso" (only non-zero coefficients can be
        selected) and "lasso" (the penalty is the threshold).
    lam2 : float or array
        Ridge part of the penalty, as in `solve_lasso`; the search is over lam at this lam2.
    response : Logistic, Poisson or Cox, optional
        As in `solve_lasso`, for "stability-ideal" and "thresholded-lasso". "prediction" is then the
        squared error of a member's log odds.

    Returns
    -------
    float or array
        A `BoundaryWarning` says where the search would have gone on beyond its edge; that of an
        ensemble often tends to zero, since averaging does what a penalty does.

    Examples
    --------
    >>> from selica import theory
    >>> model = theory.Model(alpha=1.12, rho=0.5, Delta=0.01)
    >>> round(theory.optimal_lam(model, "knockoffs-frequency"), 4)
    0.0424
    >>> round(theory.optimal_lam(model, "knockoffs-frequency", lam2=0.1), 4)
    0.1415
    """
    choice("criterion", criterion, CRITERIA)
    setting = MethodSetting.of(
        model,
        method_of(method, _searched(response)),
        lam=criterion,
        lam2=lam2,
        mu_B=mu_B,
        resampling=resampling,
        response=response,
    )
    return unwrap(setting.penalty(real("fdr", fdr, at_least=0.0, at_most=1.0)))


class MethodSetting(NamedTuple):
    """Checked settings of a method."""

    model: Model
    method: Method
    lam: Array | str
    """The penalty, or one of `CRITERIA`."""
    lam2: Array
    rate: Array
    resampling: str
    response: RowResponse | None

    @classmethod
    def of(
        cls,
        model: Model,
        method: Method,
        *,
        lam: ArrayLike | str,
        lam2: ArrayLike,
        mu_B: ArrayLike,
        resampling: str,
        response: RowResponse | None,
    ) -> MethodSetting:
        """Check the settings."""
        Model.check(model)
        if response is not None:
            check_response(model, response)
        if method.equations == "stability":
            rate = check_rate("mu_B", mu_B, resampling)
        else:  # neither is used
            choice("resampling", resampling, RESAMPLINGS)
            rate = positive("mu_B", mu_B)
        ridge = check_ridge(lam2)
        penalty = choice("lam", lam, CRITERIA) if isinstance(lam, str) else positive("lam", lam)
        return cls(model, method, penalty, ridge, rate, resampling, response)

    def check_shape(self, fdr: Array) -> None:
        """Refuse a level that does not fit the model, in the words of the caller."""
        named = self.model.parameters
        if not isinstance(self.lam, str):
            named["lam"] = self.lam
        if self.response is not None:
            named |= self.response.settings
        broadcast(**named, lam2=self.lam2, mu_B=self.rate, fdr=fdr)

    @property
    def by_level(self) -> bool:
        """Whether the penalty has to be chosen for each level."""
        chosen = isinstance(self.lam, str) and self.lam == "power"
        return chosen and self.method.threshold in BY_LEVEL

    @property
    def resampled(self) -> bool:
        """Whether the members see resampled rows."""
        return self.method.equations == "stability"

    def penalty(self, fdr: Array) -> Array:
        """Return the penalty that was given, or the best one at levels of the FDR."""
        if not isinstance(self.lam, str):
            return self.lam
        if self.response is not None:
            return _best_for_labels(self, fdr)
        if self.by_level and self.method.threshold == "lam":
            return lasso_at_level(self.model, fdr, lam2=self.lam2).lam
        return _best_for_numbers(self, fdr)

    def solve(self, lam: Array) -> Solution:
        """Solve the equations of the method at penalties."""
        return solve_method(
            self.model,
            self.method.name,
            lam,
            self.rate,
            self.resampling,
            lam2=self.lam2,
            response=self.response,
        )

    def at(self, flat: dict[str, Array], index: IntArray) -> MethodSetting:
        """Return the setting of some of the points of a search."""
        response = (
            None
            if self.response is None
            else self.response.like(T=flat["T"][index], place=flat["place"][index])
        )
        return self._replace(
            model=self.model.like(*(part[index] for part in _three(flat))),
            lam2=flat["lam2"][index],
            rate=flat["mu_B"][index],
            response=response,
        )


def penalised(method: Method) -> bool:
    """Say whether the theory sets a threshold of the method, and it has a penalty."""
    return method.threshold not in (None, "lfdr")


def for_other_response(method: Method) -> bool:
    """Say whether the theory sets a threshold of the method for classes, counts or times."""
    return method.threshold in ("w_th", "Pi_th", "Z_th", "lfdr")


def _searched(response: RowResponse | None) -> Callable[[Method], bool]:
    """Return which methods have a penalty that is searched for."""
    if response is None:
        return penalised
    return lambda method: penalised(method) and for_other_response(method)


def _best_for_numbers(setting: MethodSetting, fdr: Array) -> Array:
    """Return the best penalty for a linear response."""
    model, method = setting.model, setting.method
    named = model.parameters | {"lam2": setting.lam2}
    if setting.resampled:
        named["mu_B"] = setting.rate
    if setting.by_level:
        named["fdr"] = fdr
    flat, shape = _flat(named)
    models = {name: values for name, values in flat.items() if name != "fdr"}
    flat.setdefault("mu_B", np.ones(flat["alpha"].size))
    top = np.log(largest_penalty(model.like(*_three(flat)), flat["mu_B"]))
    members = ScannedErrors(
        EnsembleModel(
            model.kinds,
            model.mixture.mean.size,
            copies=int(method.equations == "knockoff"),
            resampling=setting.resampling if setting.resampled else None,
        ),
        models,
    )

    def prediction(log_lam: Array, index: IntArray) -> Array:
        return _log(members(log_lam, index).prediction)

    def power(log_lam: Array, index: IntArray) -> Array:
        solution = setting.at(flat, index).solve(np.exp(log_lam))
        if setting.by_level:
            return _lost_power(solution, method, flat["fdr"][index])
        return _log(np.asarray(solution.ensemble_error))

    search = prediction if setting.lam == "prediction" else power
    return np.exp(best_penalty(search, top)).reshape(shape)


def _best_for_labels(setting: MethodSetting, fdr: Array) -> Array:
    """Return the best penalty for another response: by power, or by the error of the predictor."""
    assert setting.response is not None
    named = (
        setting.model.parameters
        | setting.response.settings
        | {
            "lam2": setting.lam2,
            "mu_B": setting.rate if setting.resampled else np.ones(()),
            "fdr": fdr if setting.by_level else np.ones(()),
        }
    )
    flat, shape = _flat(named)

    def objective(log_lam: Array, index: IntArray) -> Array:
        solution = setting.at(flat, index).solve(np.exp(log_lam))
        if setting.lam == "prediction":
            return _log(np.asarray(solution.prediction_error))
        if setting.by_level:
            return _lost_power(solution, setting.method, flat["fdr"][index])
        # noise of the field in units of its slope: what power depends on
        return _log(np.asarray(solution.chi_hat / np.maximum(solution.slope, 1e-150) ** 2))

    weight = flat["alpha"] * flat["mu_B"]
    if setting.response.plain:
        # m_hat of an estimate that is zero is at most weight * min(1/4, 1/sqrt(2 pi T))
        noise, slope = np.full(weight.shape, 0.25), np.minimum(flat["T"] / 16.0, 0.16)
    else:
        noise, slope = _null_fields(setting.response, flat)
    with np.errstate(divide="ignore", invalid="ignore"):
        size = np.where(flat["T"] > 0.0, slope / flat["rho"], 0.0)
    top = 3.0 * np.log(2.0) + 0.5 * np.log(weight * (1.0 + flat["mu_B"]) * noise + weight**2 * size)
    best = best_penalty(objective, top, _BINARY_DECADES, _BINARY_GRID_POINTS)
    return np.exp(best).reshape(shape)


def _null_fields(response: RowResponse, flat: dict[str, Array]) -> tuple[Array, Array]:
    """Return chi_hat, and T m_hat^2, of an estimate that is zero, for each row of the data."""
    key = np.stack([flat["T"], flat["place"]], axis=1)
    groups, where = np.unique(key, axis=0, return_inverse=True)
    fields = np.array([null_fields(response.row(T, place)) for T, place in groups.tolist()])
    m_hat, noise = fields[where.ravel()].T
    return noise, flat["T"] * m_hat**2


def _flat(named: dict[str, Array]) -> tuple[dict[str, Array], tuple[int, ...]]:
    """Return arrays at their common shape, in one row, and that shape."""
    arrays = dict(zip(named, broadcast(**named), strict=True))
    shape = arrays["alpha"].shape
    return {name: np.ravel(values) for name, values in arrays.items()}, shape


def _three(flat: dict[str, Array]) -> tuple[Array, Array, Array]:
    return flat["alpha"], flat["rho"], flat["Delta"]


def _lost_power(solution: Solution, method: Method, fdr: Array) -> Array:
    """Return minus the logarithm of the power at levels of the FDR."""
    tpr = at_level(solution, method.name, fdr).tpr
    return np.asarray(-np.log(np.maximum(tpr, 1e-300)))


def _log(error: Array) -> Array:
    return np.asarray(np.log(np.maximum(error, 1e-300)))  # zero where y = 0


class ScannedErrors:
    """Errors of members of many models, at any of their penalties.

    What two members share is not solved for. The first call is a scan, with equally many penalties
    of each model in turn, falling; later calls start from what it found nearby.

    Parameters
    ----------
    ensemble : EnsembleModel
    models : dict of arrays of shape (models,)
        alpha, rho, Delta, lam2 and, with resampling, mu_B.
    """

    def __init__(self, ensemble: EnsembleModel, models: dict[str, Array]) -> None:
        self._ensemble, self._models = ensemble, models
        self._scan: tuple[Array, Errors] | None = None

    def __call__(self, log_lam: Array, index: IntArray) -> Errors:
        """Return the errors of the models `index`."""
        points = {name: values[index] for name, values in self._models.items()}
        points["lam"] = np.exp(log_lam)
        found = member_errors(self._ensemble, points, self._near(log_lam, index))
        if self._scan is None:
            self._scan = self._rows(log_lam), found
        return found

    def _rows(self, log_lam: Array) -> Array:
        """Return the penalties of a scan, one row for each model."""
        return log_lam.reshape(self._models["alpha"].size, -1)

    def _near(self, log_lam: Array, index: IntArray) -> Errors | None:
        """Return a guess from the two scanned points of the same model beside a penalty."""
        if self._scan is None:
            return self._first(log_lam)
        grid, found = self._scan
        size = grid.shape[1]  # falling penalties
        right = np.clip(np.sum(grid[index] > log_lam[:, None], axis=1), 1, size - 1)
        high, low = grid[index, right - 1], grid[index, right]
        share = np.clip((high - log_lam) / np.maximum(high - low, 1e-12), 0.0, 1.0)
        after = index * size + right
        return Errors(*(part[after - 1] ** (1.0 - share) * part[after] ** share for part in found))

    def _first(self, log_lam: Array) -> Errors | None:
        """Return a guess for the scan itself; with a ridge part it begins as anywhere else."""
        models = dict(self._models)
        if models.pop("lam2").any():
            return None
        return member_guesses(self._ensemble, models, self._rows(log_lam))


def largest_penalty(model: Model, mu_B: Array | float = 1.0) -> Array:
    """Return six standard deviations of the field of an estimate that is zero."""
    slope = np.asarray(model.alpha) * mu_B
    noise = np.asarray(model.alpha) * mu_B * (1.0 + mu_B) * (model.rho + np.asarray(model.Delta))
    field = np.sqrt(slope**2 * (np.asarray(model.rho) > 0.0) + noise)
    # the search must stay among the penalties that `solve_*` accept
    return np.asarray(np.clip(6.0 * field, 1e6 / LARGEST, 0.1 * LARGEST))


def best_penalty(
    objective: Objective, top: Array, decades: float = _DECADES, points: int = _GRID_POINTS
) -> Array:
    """Find log lam of the smallest value: a scan below `top`, refined around its best point."""
    grid = top[:, None] - np.linspace(0.0, decades * np.log(10.0), points)
    grid = np.maximum(grid, -np.log(LARGEST))
    rows = np.repeat(np.arange(top.size), points)
    value = objective(grid.ravel(), rows).reshape(grid.shape)
    best = np.argmin(value, axis=1)
    each = np.arange(top.size)
    x = np.asarray(grid[each, best])
    inner = (best > 0) & (best < points - 1)
    for edge, lower in ((best == points - 1, True), (best == 0, False)):
        if edge.any():
            warn_edge(int(edge.sum()), top.size, lower=lower)
    index = np.flatnonzero(inner)
    if index.size:
        at = best[index]
        left, right = grid[index, at + 1], grid[index, at - 1]
        three = (value[index, at + k] for k in (1, 0, -1))
        start = _vertex(x[index], 0.5 * (right - left), *three)
        x[index] = minimise(lambda y, i: objective(y, index[i]), left, start, right)
    return x


def _vertex(x: Array, step: Array, before: Array, here: Array, after: Array) -> Array:
    """Return the lowest point of the parabola through three values, the least in the middle."""
    curvature = before - 2.0 * here + after
    with np.errstate(divide="ignore", invalid="ignore"):
        shift = 0.5 * (before - after) / curvature
    return np.asarray(x + step * np.where(np.abs(shift) <= 0.5, shift, 0.0))


def warn_edge(count: int, total: int, *, lower: bool) -> None:
    """Warn that a search would have gone on."""
    what = "smaller than any tried: lam -> 0 is best" if lower else "larger than any tried"
    warn(
        f"At {count} of {total} points the best penalty is {what}; the edge of the search is used.",
        BoundaryWarning,
    )


def minimise(objective: Objective, left: Array, start: Array, right: Array) -> Array:
    """Find the minima of smooth functions inside brackets, as roots of fourth-order slopes."""
    h = _SLOPE_STEP

    def equation(x: Array, index: IntArray) -> tuple[Array, Array]:
        # one call for the five points: a solve costs much the same for one model and for five
        points = np.concatenate([x + k * h for k in (-2, -1, 0, 1, 2)])
        values = objective(points, np.tile(index, 5)).reshape(5, index.size)
        far_left, near_left, here, near_right, far_right = values
        slope = (far_left - 8.0 * near_left + 8.0 * near_right - far_right) / (12.0 * h)
        curvature = 16.0 * (near_left + near_right) - 30.0 * here - far_left - far_right
        return slope, curvature / (12.0 * h * h)

    return find_root(equation, start, lower=left, upper=right, tol=5e-6, max_iter=60).x


class LassoSupport(NamedTuple):
    """The support of the lasso at a level: its TPR, and the penalty that gives it."""

    tpr: Array
    lam: Array


def lasso_at_level(
    model: Model, fdr: Array, own_axis: bool = False, *, lam2: Array
) -> LassoSupport:
    """Find the penalty at which the support of the lasso keeps a level, infinite if none does."""
    named = model.parameters | {"lam2": lam2}
    if own_axis:
        whole = broadcast(**named)
        named = {n: a[..., None] for n, a in zip(named, whole, strict=True)}
    *parameters, level = broadcast(**named, fdr=fdr)
    shape = level.shape
    alpha, rho, Delta, lam2, level = (np.ravel(a) for a in (*parameters, level))
    goal = log_odds(rho, level)

    # each distinct model is scanned once
    keys, which = np.unique(np.stack([alpha, rho, Delta, lam2]), axis=1, return_inverse=True)
    path = _LassoPath(model.like(*keys[:3]), keys[3])
    ratio = path.ratio[np.ravel(which)]
    admissible = ratio >= goal[:, None]
    value = np.where(admissible, path.log_tpr[np.ravel(which)], -np.inf)
    best = np.argmax(value, axis=1)
    some = np.flatnonzero(admissible.any(axis=1) & (goal < np.inf))
    tpr, lam = np.zeros(level.size), np.full(level.size, np.inf)
    if some.size:
        tpr[some], lam[some] = path.refine(goal[some], np.ravel(which)[some], best[some])
    return LassoSupport(tpr.reshape(shape), lam.reshape(shape))


class _LassoPath:
    """TPR and FDR along a grid of penalties, from large to small, for a list of models."""

    def __init__(self, model: Model, lam2: Array) -> None:
        self._alpha = model.alpha
        members = EnsembleModel(model.kinds, model.mixture.mean.size)
        self._members = ScannedErrors(members, model.parameters | {"lam2": lam2})
        self._signals = model.signals
        top = np.log(largest_penalty(model)) + 1.0
        self.grid = np.maximum(top[:, None] - np.linspace(0.0, 16.0, 129), -np.log(LARGEST))
        each = np.repeat(np.arange(top.size), self.grid.shape[1])
        log_tpr, ratio = self.at(self.grid.ravel(), each)
        self.log_tpr, self.ratio = (a.reshape(self.grid.shape) for a in (log_tpr, ratio))

    def at(self, log_lam: Array, index: IntArray) -> tuple[Array, Array]:
        """Return log TPR and log TPR - log FPR of the support."""
        one, lam = self._members(log_lam, index), np.exp(log_lam)
        Q_hat = self._alpha[index] / (1.0 + one.chi)
        noise = Q_hat * np.sqrt(one.prediction / self._alpha[index])
        sd = np.maximum(noise, 1e-6 * lam)  # a million deviations are enough
        log_tpr, log_fpr, _ = log_rates(self._signals, sd / Q_hat, lam / sd)
        return log_tpr, log_tpr - log_fpr

    def refine(self, goal: Array, which: IntArray, best: IntArray) -> tuple[Array, Array]:
        """Move from the best admissible grid point to the level, or to the top of the TPR."""
        last = self.grid.shape[1] - 1
        x = self.grid[which, best]
        after = np.minimum(best + 1, last)
        blocked = self.ratio[which, after] < goal
        index = np.flatnonzero(blocked)
        if index.size:

            def equation(y: Array, i: IntArray) -> tuple[Array, Array]:
                point = which[index[i]]
                both = self.at(np.concatenate([y, y + 1e-5]), np.tile(point, 2))[1]
                value, beside = both.reshape(2, y.size)
                return value - goal[index[i]], (beside - value) / 1e-5

            low, high = self.grid[which[index], after[index]], x[index]
            below, above = (self.ratio[which, at][index] for at in (after, best))
            share = np.clip((goal[index] - below) / np.maximum(above - below, 1e-300), 0.0, 1.0)
            start = low + (0.01 + 0.98 * share) * (high - low)  # on the line, inside
            # the slope is right to 1e-5, and the error left is that share of the last step
            x[index] = find_root(equation, start, lower=low, upper=high, tol=1e-9).x
        gain = self.log_tpr[which, last] - self.log_tpr[which, last - 1]
        rising = ~blocked & (best == last) & (gain > 1e-4)
        if rising.any():
            warn_edge(int(rising.sum()), best.size, lower=True)
        inner = np.flatnonzero(~blocked & (best > 0) & (best < last))
        if inner.size:
            left = self.grid[which[inner], best[inner] + 1]
            right = self.grid[which[inner], best[inner] - 1]
            x[inner] = minimise(lambda y, i: -self.at(y, which[inner[i]])[0], left, x[inner], right)
        return np.exp(self.at(x, which)[0]), np.exp(x)
