r"""The ceiling: the selector that knows the distribution of the effects, and makes the best of it.

In the limit of large systems the posterior of a variable is that of the scalar channel
:math:`r = w_0 + \xi/\sqrt s`, where :math:`s = \alpha/(\Delta + \mathrm{mmse}(s))`. Where this has
several solutions, the one of least free energy is what the data determine, and the one of largest
error is what message passing reaches (docs/ceiling.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from selica._core.effects import Effects
from selica._core.errors import ArgumentError
from selica._core.results import statuses, unwrap
from selica._core.types import Array, IntArray
from selica._core.validation import broadcast, choice, real
from selica.theory.bayes.fixed_points import FixedPoints, fixed_points
from selica.theory.bayes.local_fdr import Cut, best_cut, local_fdr, tails
from selica.theory.bayes.outputs import precision_of_response
from selica.theory.model import Model, ModelResult
from selica.theory.response import RowResponse
from selica.theory.selection.rates import Rates, make_rates

BRANCHES = ("information", "algorithm")
"""Solutions a user can ask for, where there are several."""
TOLERANCE = 1e-10
"""Residual up to which a point counts as converged."""
_LEAST_NOISE = 1e-200  # below, its inverse is no number
_MOST_REMEMBERED = 64  # models whose fixed points are kept together


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class BayesSolution(ModelResult):
    """The Bayes-optimal estimate in the limit; floats for one model, arrays over a grid.

    Attributes
    ----------
    branch : str
        "information": what the data determine. "algorithm": what message passing reaches.
        `bayes_solutions` also gives "stable" and "unstable" ones that are neither.
    q, m : float or array
        Overlap of the posterior mean with itself and with the effects; they are equal.
    mse : float or array
        Mean squared error of the posterior mean, for each variable.
    m_hat, chi_hat : float or array
        A variable's field is m_hat w0 + sqrt(chi_hat) xi; both are the precision s.
    ensemble_error : float or array
        Prediction error E = Delta + mse; m_hat = alpha / E as for every method.
    information : float or array
        Mutual information of data and effects for each variable, in nats, if this solution were
        what the data determine: the free energy that decides between solutions. NaN without noise.
    solutions : int or array
        How many solutions the fixed point has at these parameters.
    status, residual
        As in `Solution`.

    Examples
    --------
    >>> from selica import theory
    >>> best = theory.solve_bayes(theory.Model(alpha=1.12, rho=0.5, Delta=0.01))
    >>> best.status, best.solutions, round(best.mse, 4)
    ('converged', 1, 0.0153)
    """

    model: Model
    branch: str
    q: Any
    m: Any
    mse: Any
    m_hat: Any
    chi_hat: Any
    ensemble_error: Any
    information: Any
    solutions: Any
    status: Any
    residual: Any

    _columns: ClassVar[tuple[str, ...]] = (
        *("alpha", "rho", "Delta", "branch", "q", "m", "mse", "m_hat", "chi_hat"),
        *("ensemble_error", "information", "solutions", "status", "residual"),
    )

    @property
    def prediction_error(self) -> Any:
        """The same as `ensemble_error`: there is one posterior mean, and no ensemble."""
        return self.ensemble_error

    def local_fdr(self, g: ArrayLike) -> Any:
        """Return the probability that a variable with field g is null, given the data.

        Parameters
        ----------
        g : float or array
            In the unit of the field m_hat w0 + sqrt(chi_hat) xi.

        Examples
        --------
        >>> from selica import theory
        >>> s = theory.solve_bayes(theory.Model(alpha=1.12, rho=0.5, Delta=0.01))
        >>> round(s.local_fdr(0.0), 3), round(s.local_fdr(0.5 * s.m_hat), 3)
        (0.871, 0.029)
        """
        shape, (field, s, rho) = self._at(g=real("g", g))
        out = np.where(rho < 1.0, 1.0, 0.0)
        known = np.isinf(s)
        out[known & (field != 0.0)] = 0.0
        todo = np.flatnonzero(~known & (rho > 0.0) & (rho < 1.0))
        if todo.size:
            u = field[todo] / np.sqrt(s[todo])
            out[todo] = local_fdr(self.model.mixture, rho[todo], s[todo], u)
        return unwrap(out.reshape(shape))

    def rates(self, lfdr: ArrayLike) -> Rates:
        """Return the rates of the rule "select what is null with probability at most lfdr".

        Parameters
        ----------
        lfdr : float or array in [0, 1]
            Threshold on the local false discovery rate. The FDR it gives is the average of the
            local one over what is selected, and so smaller.

        Examples
        --------
        >>> from selica import theory
        >>> s = theory.solve_bayes(theory.Model(alpha=1.12, rho=0.5, Delta=0.01))
        >>> s.rates(lfdr=0.5)
        Rates(tpr=0.769201, fpr=0.0483106, fdr=0.0590947)
        """
        level = real("lfdr", lfdr, at_least=0.0, at_most=1.0)
        shape, (local, s, rho) = self._at(lfdr=level)
        tpr = np.where((local >= 1.0) | (rho >= 1.0), 1.0, 0.0)
        fpr = np.where((local >= 1.0) | (rho >= 1.0), 1.0, 0.0)
        open_ = (local > 0.0) & (local < 1.0) & (rho < 1.0)
        tpr[open_ & np.isinf(s)] = 1.0
        todo = np.flatnonzero(open_ & np.isfinite(s) & (rho > 0.0))
        if todo.size:
            odds = np.log1p(-local[todo]) - np.log(local[todo])
            threshold = odds + np.log1p(-rho[todo]) - np.log(rho[todo])
            found = tails(self.model.mixture, s[todo], threshold)
            tpr[todo], fpr[todo] = np.exp(found.log_tpr), np.exp(found.log_fpr)
        wide = np.broadcast_to(np.asarray(self.model.rho), shape)
        return make_rates(wide, tpr.reshape(shape), fpr.reshape(shape))

    def at_level(self, fdr: Array, own_axis: bool = False) -> Cut:
        """Find the best rule with FDR at most `fdr`; `own_axis` gives levels the last axis."""
        shape, (level, s, rho) = self._at(own_axis, fdr=fdr)
        found = best_cut(self.model.mixture, rho, s, level)
        return Cut(*(part.reshape(shape) for part in found))

    def _at(self, own_axis: bool = False, **value: Array) -> tuple[tuple[int, ...], list[Array]]:
        """Return the common shape; then the value, s and rho, flat."""
        parts = [np.broadcast_to(a, self.shape) for a in (self.m_hat, self.model.rho)]
        if own_axis:
            parts = [part[..., None] for part in parts]
        arrays = broadcast(**value, solution=parts[0], rho=parts[1])
        return arrays[0].shape, [np.ravel(a).astype(float) for a in arrays]


def solve_bayes(
    model: Model, branch: str = "information", *, response: RowResponse | None = None
) -> BayesSolution:
    """Solve for the Bayes-optimal estimate, which has the least error any method can have.

    Parameters
    ----------
    model : Model
        The distribution of the effects is known to this estimate.
    branch : {"information", "algorithm"}
        Where the fixed point has several solutions: what the data determine, with unlimited
        computing time, or what message passing reaches. With a `response` it is the latter.
    response : Logistic, Poisson or Cox, optional
        Two classes, counts or times in place of a linear response (docs/more-responses.md). Times
        are those of rows whose hazard at x = 0 is known: a bound that is close.

    Returns
    -------
    BayesSolution

    Examples
    --------
    >>> from selica import theory
    >>> s = theory.solve_bayes(theory.Model(alpha=1.12, rho=0.5, Delta=0.01))
    >>> round(s.mse, 5), s.solutions
    (0.01529, 1)
    >>> classes = theory.Logistic.of_prevalence(T=2.0, prevalence=0.1)
    >>> round(theory.solve_bayes(theory.Model(4.0, 0.1, 0.0), response=classes).mse, 4)
    0.0353
    """
    if response is not None:
        return _of_response(model, choice("branch", branch, BRANCHES), response)
    arrays = broadcast(**Model.check(model).parameters)
    choice("branch", branch, BRANCHES)
    shape = arrays[0].shape
    alpha, rho, Delta = (np.ravel(a) for a in arrays)
    Delta = _noise(Delta)
    fields: dict[str, Array] = {}
    for share in np.unique(rho):
        index = np.flatnonzero(rho == share)
        found = _find(model.effects, float(share), alpha[index], Delta[index])
        pick, number = _choose(found, index.size, branch)
        part = _fields(found, pick, alpha[index], share, Delta[index])
        part["solutions"] = number
        for name, values in part.items():
            fields.setdefault(name, np.empty(alpha.size, dtype=values.dtype))[index] = values
    return _solution(model, branch, {k: v.reshape(shape) for k, v in fields.items()})


def _of_response(model: Model, branch: str, response: RowResponse) -> BayesSolution:
    """Solve s = alpha I(V), V = mmse(s) from the side of no knowledge: the smallest s."""
    named = RowResponse.check(response, model).settings | model.parameters
    arrays = dict(zip(named, broadcast(**named), strict=True))
    if np.any((arrays["rho"] == 0.0) & (arrays["T"] > 0.0)):
        raise ArgumentError(f"T must be 0 where rho is 0; got T = {named['T']}.")
    shape = arrays["alpha"].shape
    flat = {name: np.ravel(value) for name, value in arrays.items()}
    size = flat["alpha"].size
    out = {name: np.zeros(size) for name in ("q", "mse", "m_hat", "ensemble_error", "residual")}
    out["solutions"] = np.ones(size, dtype=np.intp)
    key = np.stack([flat["T"], flat["place"], flat["rho"]], axis=1)
    for T, place, rho in np.unique(key, axis=0).tolist():
        here = np.flatnonzero(np.all(key == [T, place, rho], axis=1))
        alpha = flat["alpha"][here]
        told = partial(response.information, T, place)
        s, mse, off, number = precision_of_response(model.mixture, rho, alpha, told, T)
        out["q"][here], out["mse"][here], out["m_hat"][here] = rho - mse, mse, s
        out["ensemble_error"][here] = alpha / s
        out["residual"][here], out["solutions"][here] = off, number
    residual = out["residual"]
    fields = {name: value.reshape(shape) for name, value in out.items()}
    fields["status"] = np.reshape(statuses(residual <= TOLERANCE, residual), shape)
    fields["information"] = np.full(shape, np.nan)
    return _solution(model, branch, fields)


def bayes_solutions(model: Model) -> tuple[BayesSolution, ...]:
    """Find all solutions of the Bayes-optimal fixed point of one model, the worst first.

    Parameters
    ----------
    model : Model
        Of shape ().

    Returns
    -------
    tuple of BayesSolution
        An odd number; the worst is what message passing reaches, and that of least `information`
        what the data determine. Its `branch` says which is which; where both agree it is called
        "information".

    Examples
    --------
    >>> from selica import theory
    >>> model = theory.Model(alpha=0.2, rho=0.1, Delta=1e-6)
    >>> [(s.branch, round(s.mse, 7)) for s in theory.bayes_solutions(model)]
    [('algorithm', 0.0300598), ('unstable', 0.0074419), ('information', 1.1e-06)]
    """
    Model.check_single(model)
    alpha, Delta = np.array([model.alpha]), _noise(np.array([model.Delta]))
    found = _find(model.effects, model.rho, alpha, Delta)
    best, _ = _choose(found, 1, "information")
    out = []
    for i in range(found.x.size):
        branch = "stable" if found.stable[i] else "unstable"
        branch = "algorithm" if i == 0 else branch
        branch = "information" if i == best[0] else branch
        pick = np.array([i])
        part = _fields(found, pick, alpha, model.rho, Delta)
        part["solutions"] = np.array([found.x.size])
        out.append(_solution(model, branch, {k: v.reshape(()) for k, v in part.items()}))
    return tuple(out)


def _find(effects: Effects, rho: float, alpha: Array, Delta: Array) -> FixedPoints:
    """Find the fixed points; those of a few models are remembered.

    Every question about one study asks for the same ceiling, and a search asks for it at the same
    numbers of samples again.
    """
    if alpha.size > _MOST_REMEMBERED:
        return fixed_points(effects, rho, alpha, Delta)
    return _remembered(effects, rho, tuple(alpha.tolist()), tuple(Delta.tolist()))


@lru_cache(maxsize=512)
def _remembered(
    effects: Effects, rho: float, alpha: tuple[float, ...], Delta: tuple[float, ...]
) -> FixedPoints:
    found = fixed_points(effects, rho, np.array(alpha), np.array(Delta))
    for part in found:  # shared by everyone who asks for these models
        part.setflags(write=False)
    return found


def _noise(Delta: Array) -> Array:
    """Return variances, with zero for those whose inverse is no number."""
    return np.where(Delta < _LEAST_NOISE, 0.0, Delta)


def _choose(found: FixedPoints, size: int, branch: str) -> tuple[IntArray, IntArray]:
    """Return the index of the solution of each point, and how many there are."""
    number = np.bincount(found.point, minlength=size)
    first = np.concatenate([[0], np.cumsum(number)[:-1]])
    if branch == "algorithm":
        return first, number
    energy = np.where(found.stable, found.free_energy, np.inf)
    order = np.lexsort([energy, found.point])
    return order[first], number


def _fields(
    found: FixedPoints, pick: IntArray, alpha: Array, rho: float, Delta: Array
) -> dict[str, Any]:
    s = np.exp(found.x[pick])
    error = alpha / s
    with np.errstate(invalid="ignore", divide="ignore"):
        mse = np.where(np.isinf(s), 0.0, found.load[pick] / s)
        # from G - alpha x / 2 to the information of the data
        constant = 0.5 * alpha * (np.log(alpha / Delta) - 1.0)
        information = np.where(Delta > 0.0, found.free_energy[pick] + constant, np.nan)
    residual = np.abs(mse + Delta - error) / (1.0 + error)
    return {
        "q": rho - mse,
        "mse": mse,
        "m_hat": s,
        "ensemble_error": error,
        "information": information,
        "status": statuses(found.converged[pick] & (residual <= TOLERANCE), residual),
        "residual": residual,
    }


def _solution(model: Model, branch: str, fields: dict[str, Array]) -> BayesSolution:
    values = {name: unwrap(value) for name, value in fields.items()}
    return BayesSolution(
        model=model, branch=branch, m=values["q"], chi_hat=values["m_hat"], **values
    )
