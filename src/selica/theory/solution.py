"""Solutions of the self-consistent equations, and what can be read off them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from selica._core.counts import CountLaw, count_law, single_fit
from selica._core.effects import Mixture
from selica._core.errors import ArgumentError
from selica._core.results import unwrap
from selica._core.scalar import knockoff_probability, selection_probability
from selica._core.types import Array
from selica._core.validation import broadcast, choice, real
from selica.theory.iid.equations import IidEquations
from selica.theory.model import Model, ModelResult
from selica.theory.selection.averages import Field, expect
from selica.theory.selection.rates import (
    Rates,
    make_rates,
    member_rates,
    over_signals,
    threshold_of_frequency,
    threshold_of_knockoff_frequency,
    two_sided,
)

_GROUPS = ("all", "null", "signal")


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Solution(ModelResult):
    """Order parameters and conjugates; floats for one model, arrays over a grid.

    Attributes
    ----------
    q, m, chi, v : float or array
        Order parameters of the article.
    Q_hat, m_hat, chi_hat, v_hat : float or array
        Their conjugates: a variable's field is m_hat w0 + sqrt(chi_hat) xi + sqrt(v_hat) eta.
    ensemble_error : float or array
        Prediction error E of the averaged estimator, noise included; accurate also where
        q - 2 m + rho + Delta cancels.
    lam2 : float or array
        Ridge part of the penalty: the estimate of a variable with field h is S(h; lam) / curvature.
    status : str or array of str
        converged, max_iter, nonfinite or infeasible.
    residual : float or array
        Largest abs(F(x) - x) / (1 + abs(x)) of one undamped step of the equations.
    iterations : int or array

    Examples
    --------
    >>> from selica import theory
    >>> isinstance(theory.solve_lasso(theory.Model(0.8, 0.2, 0.1), 0.5), theory.Solution)
    True
    """

    model: Model
    lam: Any
    lam2: Any = 0.0
    q: Any
    m: Any
    chi: Any
    v: Any
    Q_hat: Any
    m_hat: Any
    chi_hat: Any
    v_hat: Any
    ensemble_error: Any
    status: Any
    residual: Any
    iterations: Any

    _overlaps: ClassVar[tuple[str, ...]] = ("q", "m", "chi", "v")
    _conjugates: ClassVar[tuple[str, ...]] = ("Q_hat", "m_hat", "chi_hat", "v_hat")
    _settings: ClassVar[tuple[str, ...]] = ("lam",)
    _copy_field: ClassVar[tuple[str, ...]] = ()

    def _column_names(self) -> tuple[str, ...]:
        return (
            *("alpha", "rho", "Delta"),
            *self._settings,
            *(("lam2",) if np.any(self.lam2) else ()),
            *self._overlaps,
            *self._conjugates,
            *("ensemble_error", "prediction_error", "status", "residual", "iterations"),
        )

    @property
    def prediction_error(self) -> Any:
        """Prediction error of one member, noise included."""
        return unwrap(np.asarray(self.ensemble_error + self.v))

    @property
    def slope(self) -> Any:
        """Slope of a variable's field in its effect, in the unit of the model's effects."""
        return self.Q_hat

    @property
    def curvature(self) -> Any:
        """Q_hat + lam2, the curvature of a variable's cost."""
        return self.Q_hat + self.lam2

    @property
    def penalty(self) -> Any:
        """Mean penalty of one member for each variable: lam E|w_hat| + lam2 E[w_hat^2] / 2."""
        square = self.q + self.v + getattr(self, "v_tilde", 0.0)
        return self.lam * self.mean_absolute + 0.5 * self.lam2 * square

    @property
    def cost(self) -> Any:
        """Minimal cost of one member for each variable: training loss plus penalty."""
        eq, total_chi, _ = self._flat()
        loss = 0.5 * eq.alpha * eq.law.loss_factor(total_chi) * np.ravel(self.prediction_error)
        return unwrap(loss.reshape(self.shape) + self.penalty)

    @property
    def mean_absolute(self) -> Any:
        """E|w_hat| (with knockoffs plus E|w_tilde|); equals d cost / d lam."""
        eq, _, T = self._flat()
        out = np.zeros(T.size)
        live = T > 0.0
        if live.any():
            out[live] = eq.take(live).mean_absolute(np.ravel(self.Q_hat)[live], T[live])
        return unwrap(out.reshape(self.shape))

    def expect(self, psi: Callable[..., Any], phi: Callable[[Array], Any]) -> Any:
        """Return the article's general average E[phi(E[psi(w_hat)])].

        By quadrature: about ten digits for functions that are smooth away from w_hat = 0, two or
        three where they jump. `rates` and the order parameters are exact and faster.

        Parameters
        ----------
        psi : callable
            Elementwise function of the estimate (knockoffs: of estimate and copy).
        phi : callable
            Elementwise function of the inner average.
        """
        mixture = self.model.mixture
        names = ("curvature", "slope", "chi_hat", "v_hat", "lam", "rho", *self._copy_field)
        columns = [np.broadcast_to(getattr(self, name), self.shape).ravel() for name in names]
        values = [
            expect(Field(*map(float, point)), mixture, psi, phi)
            for point in zip(*columns, strict=True)
        ]
        return unwrap(np.reshape(values, self.shape))

    def correlation(self, K: int, psi: Callable[..., Any] | None = None) -> Any:
        """Return the K-point correlation E[E[psi(w_hat)]^K] of members that share only the data."""
        order = int(real("K", K, at_least=1.0))
        if order != K:
            raise ArgumentError(f"K must be a whole number; got {K!r}.")
        inner = psi if psi is not None else self._identity
        return self.expect(inner, lambda x: x**order)

    @staticmethod
    def _identity(w_hat: Array, *_: Array) -> Array:
        return w_hat

    def _law(self, size: int) -> CountLaw:
        return single_fit(size)

    def _copies(self) -> int:
        return 0

    def _flat(self) -> tuple[IidEquations, Array, Array]:
        """Return the equations at every point, chi of both halves, and T = chi_hat + v_hat."""
        parts = (self.model.alpha, self.model.rho, self.model.Delta, self.lam, self.lam2)
        flat = [np.broadcast_to(p, self.shape).ravel() for p in parts]
        law = self._law(flat[0].size)
        eq = IidEquations.of_kinds(*flat, law=law, kinds=self.model.kinds, copies=self._copies())
        total_chi = np.ravel(self.chi + getattr(self, "chi_tilde", 0.0))
        return eq, total_chi, np.ravel(np.asarray(self.chi_hat + self.v_hat))

    def rates_of_field(self, threshold: Array) -> Rates:
        """Return the rates of the rule abs(g) > threshold, g the part of a field the data fix."""
        signals = self.model.signals
        fpr = two_sided(threshold, np.zeros(()), np.asarray(self.chi_hat))
        tpr = self._signal_rate(signals, threshold)
        return make_rates(self.model.rho, tpr, fpr)

    def _signal_rate(self, signals: Mixture, threshold: Array) -> Array:
        edge = np.asarray(threshold)[..., None]
        return over_signals(
            signals, self.slope, self.chi_hat, lambda mean, var: two_sided(edge, mean, var)
        )

    def _rates_of_members(
        self,
        Pi_th: ArrayLike,
        n_members: int,
        fields: tuple[Any, ...],
        threshold: Callable[..., Array],
        probability: Callable[..., Array],
    ) -> Rates:
        """Return rates with so many members; both functions need `fields` beside Pi or g."""
        Pi = real("Pi_th", Pi_th, at_least=0.0, at_most=1.0)
        fitting = np.broadcast_shapes(*(np.shape(f) for f in fields))
        broadcast(Pi_th=Pi, solution=np.empty(fitting))
        Pi, *arrays = np.broadcast_arrays(Pi, *fields)
        wide = [a[..., None] for a in arrays]
        return member_rates(
            Pi,
            n_members,
            self.model.rho,
            (np.asarray(self.slope), np.asarray(self.chi_hat)),
            self.model.signals,
            lambda p: threshold(p, *wide),
            lambda g: probability(g, *wide),
        )

    def _law_of_probability(self, threshold: Array, group: str) -> Any:
        """Return P(|g| <= threshold) among nulls, signals or all variables."""
        rates = self.rates_of_field(threshold)
        share = np.asarray({"null": 0.0, "signal": 1.0, "all": self.model.rho}[group])
        return unwrap(1.0 - np.asarray((1.0 - share) * rates.fpr + share * rates.tpr))


class LossGiven:
    """For solutions that hold their training loss: it is no function of the order parameters."""

    __slots__ = ()
    loss: Any
    penalty: Any

    @property
    def cost(self) -> Any:
        """Minimal cost of one member for each variable: training loss plus penalty."""
        return unwrap(np.asarray(self.loss + self.penalty))


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class LassoSolution(Solution):
    """One lasso on the data. Attributes are those of `Solution`.

    >>> from selica.theory import Model, solve_lasso
    >>> round(solve_lasso(Model(alpha=2.5, rho=0.3, Delta=0.01), lam=0.3).rates(w_th=0.1).fdr, 4)
    0.0111
    """

    def rates(self, w_th: ArrayLike = 0.0) -> Rates:
        """Return the rates of the rule abs(w_hat) > w_th; with w_th = 0 the support of the lasso.

        Parameters
        ----------
        w_th : float or array
            Threshold on the coefficients, at least zero (the thresholded lasso).
        """
        w_th = real("w_th", w_th, at_least=0.0)
        broadcast(w_th=w_th, solution=np.asarray(self.q))
        return self.rates_of_field(self.lam + self.curvature * w_th)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class StabilitySolution(Solution):
    """Stability selection: lassos on resampled rows. Attributes of `Solution`, and two settings.

    >>> from selica.theory import Model, solve_stability
    >>> found = solve_stability(Model(alpha=2.5, rho=0.3, Delta=0.01), lam=0.18)
    >>> round(found.rates(0.15).fdr, 4), round(found.rates(0.15, n_members=256).fdr, 4)
    (0.7, 0.6817)
    """

    mu_B: Any
    resampling: str

    _settings: ClassVar[tuple[str, ...]] = ("lam", "mu_B")

    def rates(self, Pi_th: ArrayLike, n_members: int | None = None) -> Rates:
        """Return the rates of the rule Pi > Pi_th.

        Below the floor Pi(0) every variable is selected: tpr = 1 and fdr = 1 - rho.

        Parameters
        ----------
        Pi_th : float or array in [0, 1]
        n_members : int, optional
            Members of the ensemble, which selects what at least Pi_th n_members of them select.
            By default infinitely many.
        """
        if n_members is None:
            return self.rates_of_field(self._threshold(Pi_th))
        fields = (self.v_hat, self.lam)
        return self._rates_of_members(
            Pi_th, n_members, fields, threshold_of_frequency, selection_probability
        )

    def selection_probability(self, g: ArrayLike) -> Any:
        """Return Pi of a variable whose data field is g; an increasing function of abs(g)."""
        g = real("g", g)
        broadcast(g=g, solution=np.asarray(self.q))
        return unwrap(selection_probability(g, self.v_hat, self.lam))

    def probability_cdf(self, Pi: ArrayLike, group: str = "all") -> Any:
        """Return the share of a group (all, null, signal) with probability at most Pi."""
        group = choice("group", group, _GROUPS)
        return self._law_of_probability(self._threshold(Pi, "Pi"), group)

    def _threshold(self, Pi_th: ArrayLike, name: str = "Pi_th") -> Array:
        Pi = real(name, Pi_th, at_least=0.0, at_most=1.0)
        broadcast(**{name: Pi}, solution=np.asarray(self.q))
        return threshold_of_frequency(Pi, self.v_hat, self.lam)

    def _law(self, size: int) -> CountLaw:
        return count_law(self.resampling, np.broadcast_to(self.mu_B, self.shape).ravel())


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class KnockoffSolution(Solution):
    """The lasso on [X, knockoff copy], over copies or one. Attributes of `Solution`, and of copies.

    >>> from selica.theory import Model, solve_knockoff
    >>> found = solve_knockoff(Model(alpha=2.5, rho=0.3, Delta=0.01), lam=0.18)
    >>> round(found.rates(0.05, 0.15).fdr, 4), round(found.single_rates(0.05).fdr, 4)
    (0.1752, 0.121)
    """

    v_tilde: Any
    chi_tilde: Any
    v_tilde_hat: Any

    _overlaps: ClassVar[tuple[str, ...]] = ("q", "m", "chi", "v", "v_tilde", "chi_tilde")
    _conjugates: ClassVar[tuple[str, ...]] = ("Q_hat", "m_hat", "chi_hat", "v_hat", "v_tilde_hat")
    _copy_field: ClassVar[tuple[str, ...]] = ("v_tilde_hat",)

    @property
    def prediction_error(self) -> Any:
        """Prediction error of one member, both halves, noise included."""
        return unwrap(np.asarray(self.ensemble_error + self.v + self.v_tilde))

    def rates(self, Z_th: ArrayLike, Pi_th: ArrayLike, n_members: int | None = None) -> Rates:
        """Return the rates of the rule P(Z > Z_th) > Pi_th of derandomized knockoffs.

        Parameters
        ----------
        Z_th : float or array
        Pi_th : float or array in [0, 1]
        n_members : int, optional
            Copies, of which Pi_th n_members or more select a variable; by default infinitely many.
        """
        if n_members is None:
            return self.rates_of_field(self._threshold(Z_th, Pi_th))
        Z = real("Z_th", Z_th)
        broadcast(Z_th=Z, solution=np.asarray(self.q))

        def probability(g: Array, *fields: Array) -> Array:
            return knockoff_probability(g, *fields).value

        fields = (self.v_hat, self.v_tilde_hat, self.lam, self.curvature * Z)
        return self._rates_of_members(
            Pi_th, n_members, fields, threshold_of_knockoff_frequency, probability
        )

    def single_rates(self, Z_th: ArrayLike) -> Rates:
        """Return the rates of the rule Z > Z_th with one copy; Z_th may be negative."""
        Z = real("Z_th", Z_th)
        broadcast(Z_th=Z, solution=np.asarray(self.q))
        gap = np.asarray(self.curvature * Z)
        copy = np.asarray(self.v_tilde_hat)

        def chance(mean: Array, var: Array) -> Array:
            return knockoff_probability(
                mean, var, copy[..., None], np.asarray(self.lam)[..., None], gap[..., None]
            ).value

        fpr = knockoff_probability(np.zeros(()), copy, copy, np.asarray(self.lam), gap).value
        tpr = over_signals(self.model.signals, self.slope, copy, chance)
        return make_rates(self.model.rho, tpr, fpr)

    def selection_probability(self, g: ArrayLike, Z_th: ArrayLike) -> Any:
        """Return P(Z > Z_th) of a variable whose data field is g; increasing in abs(g)."""
        g, Z = real("g", g), real("Z_th", Z_th)
        broadcast(g=g, Z_th=Z, solution=np.asarray(self.q))
        gap = np.asarray(self.curvature * Z)
        return unwrap(knockoff_probability(g, self.v_hat, self.v_tilde_hat, self.lam, gap).value)

    def probability_cdf(self, Pi: ArrayLike, Z_th: ArrayLike, group: str = "all") -> Any:
        """Return the share of a group (all, null, signal) with P(Z > Z_th) at most Pi."""
        group = choice("group", group, _GROUPS)
        return self._law_of_probability(self._threshold(Z_th, Pi, "Pi"), group)

    def _threshold(self, Z_th: ArrayLike, Pi_th: ArrayLike, name: str = "Pi_th") -> Array:
        Z, Pi = real("Z_th", Z_th), real(name, Pi_th, at_least=0.0, at_most=1.0)
        broadcast(Z_th=Z, **{name: Pi}, solution=np.asarray(self.q))
        return threshold_of_knockoff_frequency(
            Pi, self.v_hat, self.v_tilde_hat, self.lam, self.curvature * Z
        )

    def _copies(self) -> int:
        return 1
