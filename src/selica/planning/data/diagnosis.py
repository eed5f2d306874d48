r"""After a fit: what kind of data this was, and what it could have shown.

At the fixed point of message passing the field of a variable, in units of its noise, is a draw
from :math:`(1-\rho)\,N(0, 1) + \rho\,N(0, 1 + \tau_i^2)` with
:math:`\tau_i = \hat Q_i s/\sigma_i`, where s is the root mean square coefficient of the variables
that matter, if their effects are Gaussian. The two unknowns are estimated by maximum likelihood;
the explained variance follows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from selica import catalogue
from selica._core.effects import GaussianEffects
from selica._core.errors import ArgumentError, DoesNotApply
from selica._core.losses import loss_of, require
from selica._core.results import Result
from selica._core.types import Array
from selica._core.validation import matrix, number, real
from selica._core.wording import assumptions
from selica.amp.results import Fields
from selica.catalogue import Method
from selica.planning.predict.prediction import check_level, predict, predictable
from selica.planning.questions.answers import RequiredValue
from selica.planning.questions.inverse import required_samples
from selica.planning.study import Study
from selica.plots import plot_requirement
from selica.selectors.base import Selector
from selica.selectors.engine import correlated, penalty_for_power, stability_fields
from selica.selectors.members import Scheme
from selica.statistics.data import make_data

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_STARTS = ((0.02, 3.0), (0.1, 2.0), (0.3, 5.0), (0.5, 1.0))
"""Shares of signals and sizes at which the search begins."""
_EVIDENCE = 3.0
"""Gain in log likelihood that effects need: half of the 95 % point of chi-squared, two degrees."""
_LIKELY = 1.92
"""Loss in log likelihood of likely values: half of the 95 % point of chi-squared, one degree."""
_GRID = 48
"""Values of each parameter that are tried for its interval."""
_LARGEST_FACTOR = 8.0
"""Largest factor between likely effects and the best ones."""
_NORMAL = 1.96
"""Normal quantile of a 95 % interval."""
_TINY = 1e-12
"""Distance of shares of signals from zero and one."""
_NOISELESS_R2 = 0.999
"""Explained share of the variance beyond which there is no noise left to speak of."""
_USUAL_LEVEL = 0.1
"""False discovery rate of a prediction for a selector that keeps none."""
_FIT = "the fit behind the estimate (message passing)"
"""What the fit is called in sentences."""
NO_SIGNAL = "the data are explained as well if no variable matters"
"""Why there is no estimate where there is nothing to be estimated."""

_NEAREST = "stability-fdr"
"""Method whose prediction stands for selectors that have none."""


def _method_of(selector: Any) -> str:
    """Return the method, of those that have a prediction, that is nearest to a fitted selector."""
    classes = [kind.__name__ for kind in type(selector).__mro__]
    rows = [row for row in predictable().values() if row.calibrated and row.class_name in classes]
    # the nearer its class and the more of its settings a method fixes, the nearer it is
    rows.sort(key=lambda row: (classes.index(row.class_name), -len(row.preset)))
    decided = [row for row in rows if _decides(row, selector)]
    if decided:
        return decided[0].name
    return next((row.name for row in rows if not row.preset), _NEAREST)


def _decides(row: Method, selector: Any) -> bool:
    """Tell whether a method is the one of a fitted selector, by the error rate that it keeps."""

    def used(name: str) -> Any:
        return getattr(selector, f"{name}_", getattr(selector, name, None))

    fixed = all(used(name) == value for name, value in row.preset.items())
    return fixed and any(used(name) is not None for name in (*row.levels, *row.decided_by))


class SignalEstimate(NamedTuple):
    """What the signals of a table are like, in units of standardised columns and response."""

    sparsity: float
    """Share of the variables that matter."""
    effect_size: float
    """Their root mean square coefficient."""
    r2: float
    """Share of the variance that they explain."""
    effective_noise: float
    """Mean square error of the averaged fit on a new row."""
    evidence: float
    """How much more likely the fields are than with no effect at all, as a logarithm."""
    likely: tuple[Array, Array]
    """Sparsities and effect sizes that the fields do not exclude at the 95 % level."""


class _Likelihood:
    """Likelihood of the share of the variables that matter and of the size of their effects."""

    def __init__(self, fields: Fields) -> None:
        good = (fields.noise > 0.0) & (fields.precision > 0.0)
        self.z = fields.field[good] / fields.noise[good]
        self.gain = fields.precision[good] / fields.noise[good]

    def costs(self, shares: Array, size: float) -> Array:
        """Return minus the log likelihood of several shares of signals of one size."""
        wide = 1.0 + (self.gain * size) ** 2
        # how much more likely a field is if its variable matters, as a logarithm
        more = 0.5 * self.z**2 * (1.0 - 1.0 / wide) - 0.5 * np.log(wide)
        share = np.clip(shares, _TINY, 1.0 - _TINY)[:, None]
        mixed = np.logaddexp(np.log1p(-share), np.log(share) + more)
        return np.asarray(0.5 * float(self.z @ self.z) - mixed.sum(axis=1))

    def explained(self) -> tuple[float, float]:
        """Return the sum of the squared coefficients of this table, and its standard error.

        By moments: it is known much better than the distribution of the coefficients.
        """
        square = self.z**2
        mean = float(((square - 1.0) / self.gain**2).sum())
        variance = float(((4.0 * square - 2.0) / self.gain**4).sum())
        return mean, math.sqrt(max(variance, 0.0))

    def region(self, least: float, size: float) -> tuple[Array, Array]:
        """Return sparsities and sizes whose cost is so near the least that they are likely too.

        A function of both has its 95 % profile likelihood interval between its extremes there. Of
        these, those that explain as much of the variance as the coefficients of this table do.
        """
        p = self.z.size
        shares = np.geomspace(0.5 / p, 0.95, _GRID)
        sizes = size * np.geomspace(1.0 / _LARGEST_FACTOR, _LARGEST_FACTOR, _GRID)
        costs = np.stack([self.costs(shares, own) for own in sizes.tolist()], axis=1)
        mean, error = self.explained()
        r2 = p * shares[:, None] * sizes**2
        near = (np.abs(r2 - mean) <= _NORMAL * error) & (r2 < _NOISELESS_R2)
        rows, columns = np.nonzero((costs <= least + _LIKELY) & near)
        return shares[rows], sizes[columns]


def estimate(fields: Fields) -> SignalEstimate:
    """Estimate sparsity and size of the effects behind fields of message passing."""
    found = _Likelihood(fields)
    starts = [(np.log(r / (1.0 - r)), np.log(t / found.gain.mean())) for r, t in _STARTS]

    def cost(x: Array) -> float:
        return float(found.costs(np.array([expit(x[0])]), float(np.exp(x[1])))[0])

    fits = [minimize(cost, x, method="Nelder-Mead") for x in starts]
    best = min(fits, key=lambda fit: fit.fun)
    rho, s = float(expit(best.x[0])), float(np.exp(best.x[1]))
    r2 = min(rho * found.z.size * s**2, 1.0 - 1e-6)
    evidence = 0.5 * float(found.z @ found.z) - float(best.fun)
    shares, sizes = found.region(float(best.fun), s)
    shares, sizes = np.append(shares, rho), np.append(sizes, s)
    return SignalEstimate(rho, s, r2, float(fields.ensemble_error), evidence, (shares, sizes))


def reason_against(fields: Fields, found: SignalEstimate, n_samples: int) -> str | None:
    """Return why nothing can be predicted from an estimate; None where it can.

    The one place where an estimate is judged: the fit behind it must have converged and predict
    better than a constant, some variable must matter, and some of the variance must be noise.
    """
    error, by_chance = found.effective_noise, 3.0 * math.sqrt(2.0 / n_samples)
    worse = f"{_FIT} predicts no better than a constant (error {error:.2g} of a variance of 1)"
    if str(fields.status) != "converged":
        return f"{_FIT} did not converge"
    if not error < 1.0 + by_chance:
        return worse
    if found.evidence < _EVIDENCE:
        return NO_SIGNAL
    if error >= 1.0:
        return worse
    if found.r2 > _NOISELESS_R2:
        return f"{_FIT} would explain all of the variance, noise included"
    return None


@dataclass(frozen=True, slots=True, repr=False)
class Diagnosis(Result):
    """What a data set was like, and what a method could find in it.

    Attributes
    ----------
    n_samples, n_features : int
    selected : int
        How many variables the selector selected.
    method : str
        Name in the catalogue, whose prediction is used.
    fdr : float
    target : float
        Power for which samples are counted.
    correlated : bool
        Whether columns are correlated: then all of this is a guide at best.
    reason : str or None
        Why nothing can be predicted; then all that follows is None, but for zeros where no
        variable matters.
    n_signals : int or None
        Estimated number of variables that matter.
    r2, effect_size, effective_noise : float or None
        As in `SignalEstimate`.
    power, true_selections, false_selections : float or None
        Predicted for such data.
    required : int or None
        Samples at which the method is predicted to reach the target power; None if it never does.
    n_signals_interval, r2_interval, required_interval : pair or None
        Ends of 95 % intervals, by the likelihood; None in place of a number of samples that never
        suffices.

    Examples
    --------
    >>> from selica import LassoSelection, planning
    >>> from selica.sampling import simulate
    >>> data = simulate(300, 200, 20, snr=4.0, random_state=0)
    >>> selector = LassoSelection(lam=0.1).fit(data.X, data.y)
    >>> found = planning.diagnose(selector, data.X, data.y)
    >>> found.selected, found.n_signals, round(found.r2, 2)
    (15, 23, 0.79)
    """

    n_samples: int
    n_features: int
    selected: int
    method: str
    fdr: float
    target: float
    correlated: bool
    reason: str | None = None
    n_signals: int | None = None
    r2: float | None = None
    effect_size: float | None = None
    effective_noise: float | None = None
    power: float | None = None
    true_selections: float | None = None
    false_selections: float | None = None
    required: int | None = None
    n_signals_interval: tuple[int, int] | None = None
    r2_interval: tuple[float, float] | None = None
    required_interval: tuple[int | None, int | None] | None = None

    @property
    def label(self) -> str:
        """What tables and figures call the method."""
        return catalogue.method(self.method).label

    @property
    def notes(self) -> tuple[str, ...]:
        """What speaks against the estimate."""
        if not self.correlated:
            return ()
        if self.reason is not None:
            return ("The columns are correlated, which the estimate ignores.",)
        return ("The columns are correlated, which the estimate ignores: power is usually lower.",)

    def __str__(self) -> str:
        first = f"{self.n_samples} samples, {self.n_features} variables, {self.selected} selected"
        if self.reason is not None:
            return "\n".join([first, f"Nothing can be predicted: {self.reason}.", *self.notes])
        few, many = self.n_signals_interval or (0, 0)
        low, high = (100.0 * end for end in self.r2_interval or (0.0, 0.0))
        soon, late = self.required_interval or (None, None)
        upper = "or more" if late is None else f"to {late}"
        ends = "not reached" if soon is None else f"{soon} {upper}"
        needed = "no number of samples" if self.required is None else f"{self.required} samples"
        lines = [
            first,
            f"About {self.n_signals} variables matter ({few} to {many}) and explain "
            f"{100.0 * (self.r2 or 0.0):.0f} % of the variance ({low:.0f} to {high:.0f} %).",
            f"On such data {self.label} at FDR {self.fdr:g} finds "
            f"{100.0 * (self.power or 0.0):.0f} % of them: {self.true_selections:.1f} signals and "
            f"{self.false_selections:.1f} false selections.",
            f"By this estimate {needed} would reach a power of {self.target:g} ({ends}).",
            "The brackets are 95 % intervals; they are wide because one table carries little "
            "information.",
            assumptions(GaussianEffects()),
        ]
        return "\n".join([*lines, *self.notes])

    def __repr__(self) -> str:
        return str(self)

    def plot(self) -> Figure:
        """Draw the power of the method against the number of samples (needs matplotlib)."""
        if self.reason is not None or self.n_signals is None or self.r2 is None:
            raise ArgumentError(f"There is no curve to draw: {self.reason}.")
        answer = _needed(
            self.target, self.n_features, self.n_signals, self.r2, self.fdr, self.method
        )
        known = dict(zip(answer.x.tolist(), answer.power.tolist(), strict=True))
        x, power = zip(*sorted((known | {self.n_samples: self.power}).items()), strict=True)
        return plot_requirement(
            [self.method], [(x, power)], [answer.value], self.target, "samples",
            now=self.n_samples,
        )  # fmt: skip


def _needed(target: float, p: int, k: int, r2: float, fdr: float, method: str) -> RequiredValue:
    """Return the samples for the target, as the method comes."""
    found = required_samples(
        target, n_features=p, n_signals=k, r2=r2, fdr=fdr, method=method, settings="default"
    )
    return found.one(method)


def diagnose(selector: Any, X: Any, y: Any, *, power: float = 0.8) -> Diagnosis:
    """Estimate after a fit what the data were like, which power they allowed, and samples for more.

    Parameters
    ----------
    selector : fitted selector
        The prediction is for its method, or the nearest one that can be predicted, at its false
        discovery rate, or 0.1 where it keeps none.
    X : table of shape (n, p)
        The table it was fitted on.
    y : array of shape (n,)
        A linear response.
    power : float
        Target for which samples are counted.

    Returns
    -------
    Diagnosis

    Examples
    --------
    >>> from selica import KnockoffSelection, planning
    >>> from selica.sampling import simulate
    >>> data = simulate(300, 200, 20, snr=4.0, random_state=0)
    >>> selector = KnockoffSelection(0.1, sampler="iid", lam=0.05, random_state=0)
    >>> found = planning.diagnose(selector.fit(data.X, data.y), data.X, data.y)
    >>> 10 <= found.n_signals <= 40, 0.7 < found.r2 < 0.9
    (True, True)
    """
    if not isinstance(selector, Selector) or not hasattr(selector, "support_"):
        raise ArgumentError("selector must be a fitted selector.")
    if selector.groups_ is not None:
        raise DoesNotApply(
            "groups: a diagnosis is about single variables; fit the selector without groups."
        )
    require("diagnosis", loss_of(selector.response_))
    target = number("power", power, at_least=0.01, at_most=0.999)
    table = matrix("X", X, columns=selector.support_.size)
    response = real("y", y)
    if response.shape != table.shape[:1]:
        raise ArgumentError(f"y must have one entry for each of the {len(table)} rows of X.")
    data = make_data(table, response, "squared")
    scheme = Scheme("bootstrap", 1.0, 1.0)
    penalty = penalty_for_power(
        data, lambda path, **settings: stability_fields(data, path, scheme, **settings)
    )
    n, p = table.shape
    selector = getattr(selector, "selector_", selector)
    method = _method_of(selector)
    level = check_level(_USUAL_LEVEL if getattr(selector, "fdr", None) is None else selector.fdr)
    blank = Diagnosis(n, p, int(selector.support_.sum()), method, level, target, correlated(data))
    if penalty is None:
        return replace(blank, reason=f"{_FIT} did not converge")
    fields = stability_fields(data, penalty, scheme)
    found = estimate(fields)
    reason = reason_against(fields, found, n)
    if reason == NO_SIGNAL:
        nothing = replace(blank, reason=reason, n_signals=0, r2=0.0, effect_size=0.0)
        return replace(nothing, effective_noise=found.effective_noise)
    if reason is not None:
        return replace(blank, reason=reason)
    k = min(max(round(found.sparsity * p), 1), p)
    now = predict(Study.of(n, p, k, r2=found.r2), method, level, "default")
    need = _needed(target, p, k, found.r2, level, method)
    shares, sizes = found.likely
    signals = np.clip(np.round(shares * p), 1, p)
    r2 = np.minimum(shares * p * sizes**2, _NOISELESS_R2)
    # samples depend on the effects in units of the noise, and on counts where a rule needs some:
    # the extremes of all of these
    strength = sizes**2 / (1.0 - r2)
    ends = {int(at) for x in (strength, signals, r2) for at in (np.argmin(x), np.argmax(x))}
    needs = [
        _needed(target, p, int(signals[at]), float(r2[at]), level, method).value
        for at in sorted(ends)
    ]
    return replace(
        blank,
        n_signals=k,
        r2=found.r2,
        effect_size=found.effect_size,
        effective_noise=found.effective_noise,
        power=now.power,
        true_selections=now.true_selections,
        false_selections=now.false_selections,
        required=None if need.value is None else int(need.value),
        n_signals_interval=(int(signals.min()), int(signals.max())),
        r2_interval=(float(r2.min()), float(r2.max())),
        required_interval=_interval([need.value, *needs]),
    )


def _interval(values: Sequence[float | None]) -> tuple[int | None, int | None]:
    """Return the smallest and largest of some numbers of samples; None is more than all."""
    known = [int(value) for value in values if value is not None]
    if not known:
        return None, None
    return min(known), max(known) if len(known) == len(values) else None
