"""How improbable is a member whose training cost is not the typical one?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from selica._core.errors import ArgumentError, ConvergenceWarning
from selica._core.results import Status, unwrap
from selica._core.types import Array
from selica._core.validation import LARGEST, choice, number, positive, real, single
from selica._core.warning import warn
from selica.catalogue import Method
from selica.theory.large_deviations.continuation import (
    Branch,
    End,
    Solved,
    follow,
    solve_at,
    to_vector,
)
from selica.theory.large_deviations.equations import RESAMPLINGS, RateEquations, State
from selica.theory.model import Model, ModelResult
from selica.theory.solve import method_of, solve_method

# The distribution of one row weight, where the number of rows is fixed.
_FREE_COUNTS = {"multinomial": "poisson", "subsample": "bernoulli"}
# By default y runs as far as s would reach this depth if g were a parabola: with 200 variables a
# probability of e^-20.
_DEFAULT_DEPTH = 0.1
_POINTS_PER_SIDE = 20  # points on each side of y = 0
_LEAST_VARIANCE = 1e-100  # of the response: products of such variances are still numbers
_LARGEST_RATE = 1000.0  # of a Poisson law whose counts are summed one by one

_ORDER_PARAMETERS = ("q", "m", "chi", "v", "Q_hat", "m_hat", "chi_hat", "v_hat")
_COPY_PARAMETERS = ("chi_tilde", "v_tilde", "v_tilde_hat")


class CostRange(NamedTuple):
    """The farthest cost in one direction that the theory reaches, and what ends the range.

    Examples
    --------
    >>> from selica import theory
    >>> model = theory.Model(alpha=1.0, rho=0.3, Delta=0.1)
    >>> found = theory.rate_function(model, "stability-ideal", lam=0.2, y=[0.0, 1.0])
    >>> found.high.reason, found.high.y
    ('range', 1.0)
    """

    y: float
    """The tilt of it."""
    cost: float
    """e(y) there."""
    s: float
    """The rate function at this cost."""
    reason: str
    """range, instability, condensation, divergence, "no solution" or max_iter: see `End`."""

    def __str__(self) -> str:
        return f"{self.reason} at y = {self.y:.6g} (cost {self.cost:.6g}, s = {self.s:.4g})"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class RateFunction(ModelResult):
    """Generating function g(y) and rate function s of the cost; arrays over y, or floats.

    A member of the ensemble has the minimal cost N e with a probability of the order of
    exp(N s(e)). The tilt y selects e: s'(e) = y, and y = 0 is the typical cost, where s = 0.

    Attributes
    ----------
    y : float or array
        The tilt; negative for costs above the typical one.
    g, cost, s, variance : float or array
        g(y), e = -g'(y), s = g + y e, and g''(y): at y = 0 that is N times the variance of the
        cost per variable between members.
    q, m, chi, v, Q_hat, m_hat, chi_hat, v_hat : float or array
        Order parameters and conjugates of members with this cost; at y = 0 those of the article.
    chi_tilde, v_tilde, v_tilde_hat : float, array or None
        Of the knockoff copies; None without them.
    nu : float or array
        Multiplier of the number of rows where it is fixed, else zero.
    replicon : float or array
        Below one the solution is stable.
    status : str or array of str
        converged; infeasible or max_iter beyond the end of the branch, where numbers are nan.
    residual : float or array
        Largest abs(F(x) - x) / (1 + abs(x)) of one undamped step of the equations.
    iterations : int or array
    low, high : CostRange
        Where the solutions end in the direction of negative and of positive y, and why.
    typical_cost, typical_variance : float
        e and g'' at y = 0.

    Examples
    --------
    >>> from selica import theory
    >>> model = theory.Model(alpha=1.0, rho=0.3, Delta=0.1)
    >>> found = theory.rate_function(model, "stability-ideal", lam=0.2, y=[0.0, 1.0])
    >>> found.cost.round(4).tolist(), found.s.round(6).tolist()
    ([0.056, 0.0535], [0.0, -0.001266])
    """

    model: Model
    method: str
    resampling: str
    """A distribution of the row weights, or "none" for knockoffs."""
    lam: float
    mu_B: float
    y: Any
    g: Any
    cost: Any
    s: Any
    variance: Any
    q: Any
    m: Any
    chi: Any
    v: Any
    chi_tilde: Any
    v_tilde: Any
    Q_hat: Any
    m_hat: Any
    chi_hat: Any
    v_hat: Any
    v_tilde_hat: Any
    nu: Any
    replicon: Any
    status: Any
    residual: Any
    iterations: Any
    low: CostRange
    high: CostRange
    typical_cost: float
    typical_variance: float

    _core: ClassVar[tuple[str, ...]] = ("y", "g", "cost", "s", "variance")
    _certificate: ClassVar[tuple[str, ...]] = ("replicon", "status", "residual", "iterations")

    def _column_names(self) -> tuple[str, ...]:
        copies = _COPY_PARAMETERS if self.v_tilde is not None else ()
        nu = ("nu",) if self.resampling in _FREE_COUNTS else ()
        return (*self._core, *_ORDER_PARAMETERS, *copies, *nu, *self._certificate)

    def rate(self, cost: ArrayLike) -> Any:
        """Return s at any cost between the ends of the grid, nan outside.

        Cubic between the points: values and slopes are those of the solutions. Needs a grid.
        """
        from scipy.interpolate import CubicHermiteSpline  # half a second, and few need it

        e, s, y, _ = self._by_cost()
        return unwrap(CubicHermiteSpline(e, s, y, extrapolate=False)(real("cost", cost)))

    def density(self, cost: ArrayLike, N: float) -> Any:
        """Return the density of the cost per variable at N variables, to leading order.

        sqrt(N / (2 pi g'')) exp(N s): the prefactor is that of a saddle point. The typical cost of
        one data set differs from `typical_cost` by a few parts in sqrt(N).
        """
        from scipy.interpolate import PchipInterpolator

        size = number("N", N, at_least=1.0 / LARGEST, at_most=LARGEST)
        e, _, _, variance = self._by_cost()
        at = real("cost", cost)
        local = PchipInterpolator(e, variance, extrapolate=False)(at)
        return unwrap(np.sqrt(size / (2.0 * np.pi * local)) * np.exp(size * self.rate(at)))

    def _by_cost(self) -> tuple[Array, Array, Array, Array]:
        """Return cost, s, y and variance of the converged points, by increasing cost."""
        good = np.atleast_1d(self.converged)
        if np.count_nonzero(good) < 2:
            raise ArgumentError("y must be a grid with at least two points that converged.")
        columns = (self.cost, self.s, self.y, self.variance)
        e, s, y, variance = (np.atleast_1d(c)[good] for c in columns)
        _, order = np.unique(e, return_index=True)
        return e[order], s[order], y[order], variance[order]

    def __str__(self) -> str:
        return (
            f"{self.method}, lam = {self.lam:g}: typical cost {self.typical_cost:.6g}, "
            f"N Var = {self.typical_variance:.6g}\n"
            f"above it: {self.low}\nbelow it: {self.high}"
        )


def rate_function(
    model: Model,
    method: str,
    lam: float,
    y: ArrayLike | None = None,
    mu_B: float = 1.0,
    resampling: str = "poisson",
) -> RateFunction:
    """Find how improbable each minimal cost of a member is, given typical data.

    Parameters
    ----------
    model : Model
        A single one.
    method : {"stability-ideal", "knockoffs-ideal", "knockoffs-frequency"}
        What differs between members: resampled rows, or knockoff copies (the last two are one).
    lam : float
        Penalty of a member, positive.
    y : float or array, optional
        Tilts at which the equations are solved, in any order. By default 41 of them around zero,
        as far as probabilities of about exp(-0.1 N), or as there are solutions.
    mu_B : float
        Resampling rate; used by "stability-ideal" only.
    resampling : {"poisson", "multinomial", "bernoulli", "subsample", "exponential"}
        Distribution of the row weights. "multinomial" draws exactly mu_B M rows with replacement
        (the bootstrap), "subsample" exactly mu_B M without; "poisson" and "bernoulli" let that
        number vary. Typical costs agree, large deviations do not: a member with few rows is cheap.

    Returns
    -------
    RateFunction

    Examples
    --------
    >>> from selica import theory
    >>> model = theory.Model(alpha=1.0, rho=0.3, Delta=0.1)
    >>> tilts = [-1, 0, 1]
    >>> r = theory.rate_function(model, "stability-ideal", 0.2, tilts, resampling="multinomial")
    >>> r.cost.round(6).tolist()
    [0.057581, 0.055969, 0.05426]
    >>> r.s.round(6).tolist()
    [-0.000797, 0.0, -0.000861]
    """
    eq, method = _equations(model, method, lam, mu_B, resampling)
    tilt = None if y is None else real("y", y, at_least=-LARGEST, at_most=LARGEST)
    start = _typical(eq, model, method)
    span = np.sqrt(2.0 * _DEFAULT_DEPTH / max(start.variance, 1.0 / LARGEST))
    even = span * np.arange(-_POINTS_PER_SIDE, _POINTS_PER_SIDE + 1) / _POINTS_PER_SIDE
    grid = np.unique(even if tilt is None else tilt)
    up = follow(eq, start, grid[grid > 0.0].tolist())
    down = follow(eq, start, grid[grid < 0.0][::-1].tolist())
    found = {one.y: one for one in (start, *up.solved, *down.solved)}
    if tilt is None:
        found |= {one.y: one for one in (up.last, down.last)}
        tilt = np.array(sorted(found))
    missing = np.array([value not in found for value in tilt.ravel()])
    if missing.any():
        warn(
            f"At {np.count_nonzero(missing)} of {missing.size} values of y there is no solution: "
            f"it ends at y = {down.last.y:.6g} ({down.end}) and y = {up.last.y:.6g} ({up.end}).",
            ConvergenceWarning,
        )
    points = [found.get(value) for value in tilt.ravel().tolist()]
    status = [
        Status.CONVERGED.value if value in found else _lost(up if value > 0.0 else down)
        for value in tilt.ravel().tolist()
    ]
    return RateFunction(
        model=model,
        method=method,
        resampling=eq.resampling,
        lam=eq.lam,
        mu_B=eq.mu_B,
        y=unwrap(tilt),
        status=unwrap(np.array(status).reshape(tilt.shape)),
        low=_cost_range(down),
        high=_cost_range(up),
        typical_cost=start.point.cost,
        typical_variance=start.variance,
        **_columns(points, tilt.shape, eq.copies),
    )


def _equations(
    model: Model, method: str, lam: float, mu_B: float, resampling: str
) -> tuple[RateEquations, str]:
    model = Model.check_single(model)
    if model.rho + model.Delta < _LEAST_VARIANCE:
        raise ArgumentError(f"model must have rho + Delta of at least {_LEAST_VARIANCE:g}.")
    row = method_of(method, _has_random_members)
    resampling = choice("resampling", resampling, RESAMPLINGS)
    penalty = single("lam", positive("lam", lam))
    rate = single("mu_B", positive("mu_B", mu_B, at_most=_LARGEST_RATE))
    copies = int(row.equations == "knockoff")
    if not copies and resampling in ("bernoulli", "subsample") and rate >= 1.0:
        raise ArgumentError(
            f"mu_B must be below 1 for {resampling}: otherwise all resamples are the same."
        )
    law, rows = ("none", 1.0) if copies else (resampling, rate)
    equations = RateEquations(
        alpha=float(model.alpha),
        rho=float(model.rho),
        Delta=float(model.Delta),
        lam=penalty,
        mixture=model.kinds,
        resampling=law,
        mu_B=rows,
        copies=copies,
    )
    return equations, row.name


def _has_random_members(method: Method) -> bool:
    """Say whether the theory treats the method and its members differ for given data."""
    return method.threshold is not None and method.equations in ("stability", "knockoff")


def _typical(eq: RateEquations, model: Model, method: str) -> Solved:
    """Return the solution at y = 0: that of the article."""
    law = _FREE_COUNTS.get(eq.resampling, eq.resampling)
    known = solve_method(model, method, eq.lam, eq.mu_B, "poisson" if eq.copies else law)
    chi = known.chi + getattr(known, "chi_tilde", 0.0)
    own = known.prediction_error - known.ensemble_error
    start = solve_at(eq, 0.0, to_vector(eq, State(known.ensemble_error, chi, own)))
    if start is None:
        raise ArgumentError(
            "The equations were not solved for the typical cost; this happens without noise and "
            f"at penalties close to zero. Got {model} and lam = {eq.lam:g}."
        )
    return start


def _lost(branch: Branch) -> str:
    return Status.MAX_ITER.value if branch.end is End.MAX_ITER else Status.INFEASIBLE.value


def _cost_range(branch: Branch) -> CostRange:
    y, point = branch.last.y, branch.last.point
    return CostRange(y, point.cost, point.g + y * point.cost, branch.end.value)


def _columns(points: list[Solved | None], shape: tuple[int, ...], copies: int) -> dict[str, Any]:
    """Return the values by name, in the shape of y."""

    def row(one: Solved | None) -> dict[str, float]:
        if one is None:
            return {}
        p, hats = one.point, one.point.hats
        values = {name: getattr(p.overlaps, name) for name in ("q", "m", "chi", "v")}
        if copies:
            values |= {"chi_tilde": p.overlaps.chi_tilde, "v_tilde": p.overlaps.v_tilde}
            values["v_tilde_hat"] = hats.chi + hats.v
        return values | {
            "g": p.g if one.y else 0.0,
            "cost": p.cost,
            "s": p.g + one.y * p.cost if one.y else 0.0,
            "variance": one.variance,
            "Q_hat": hats.Q,
            "m_hat": hats.m,
            "chi_hat": hats.chi,
            "v_hat": hats.v,
            "nu": one.state.nu if one.y else 0.0,
            "replicon": p.replicon,
            "residual": one.residual,
        }

    rows = [row(one) for one in points]
    names = (*_ORDER_PARAMETERS, *(_COPY_PARAMETERS if copies else ()))
    names += ("g", "cost", "s", "variance", "nu", "replicon", "residual")
    out = {
        name: unwrap(np.array([r.get(name, np.nan) for r in rows]).reshape(shape)) for name in names
    }
    counts = np.array([0 if one is None else one.iterations for one in points])
    empty = dict.fromkeys(() if copies else _COPY_PARAMETERS)
    return out | {"iterations": unwrap(counts.reshape(shape))} | empty
