r"""After a fit: what kind of data this was, and what it could have shown.

At the fixed point of message passing the field of a variable, in units of its noise, is a draw
from :math:`(1-\rho)\,N(0, 1) + \rho\,N(0, 1 + \tau_i^2)` with
:math:`\tau_i = \hat Q_i s/\sigma_i`, where s is the root mean square coefficient of the variables
that matter, if their effects are Gaussian. The two unknowns are estimated by maximum likelihood;
the explained variance follows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from selica._core.errors import ArgumentError
from selica._core.results import Result
from selica._core.types import Array
from selica._core.validation import matrix, number, real
from selica.amp.results import Fields
from selica.planning.compare import fdr_level
from selica.planning.methods import METHODS, predict
from selica.planning.requirement import Answer
from selica.planning.samples import required_samples
from selica.planning.study import Study
from selica.plots import plot_requirement
from selica.selectors import (
    AggregatedKnockoffs,
    DerandomizedKnockoffs,
    KnockoffSelection,
    StabilitySelection,
)
from selica.selectors.base import Selector
from selica.selectors.engine import correlated, penalty_for_power, stability_fields
from selica.selectors.members import Scheme
from selica.statistics.data import make_data

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Where the search for the share of signals and their size begins.
_STARTS = ((0.02, 3.0), (0.1, 2.0), (0.3, 5.0), (0.5, 1.0))
# Fields without any effect are seldom this much more likely with some: half of the 95 % point of a
# chi-squared variable with two degrees of freedom.
_EVIDENCE = 3.0

# Which prediction is that of a selector.
_METHOD_OF = {
    StabilitySelection: "stability",
    KnockoffSelection: "knockoff",
    DerandomizedKnockoffs: "evalues",
    AggregatedKnockoffs: "pvalues",
}


class Estimate(NamedTuple):
    """Of a table with standardised columns and a response of variance one."""

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


def estimate(fields: Fields) -> Estimate:
    """Sparsity and size of the effects behind fields of message passing, at one penalty."""
    good = fields.noise > 0.0
    z = fields.field[good] / fields.noise[good]
    gain = fields.precision[good] / fields.noise[good]

    def cost(x: Array) -> float:
        rho, s = expit(x[0]), np.exp(x[1])
        wide = 1.0 + (gain * s) ** 2
        null = np.exp(-0.5 * z**2)
        signal = np.exp(-0.5 * z**2 / wide) / np.sqrt(wide)
        return -float(np.log((1.0 - rho) * null + rho * signal + 1e-300).sum())

    starts = [(np.log(r / (1.0 - r)), np.log(t / gain.mean())) for r, t in _STARTS]
    fits = [minimize(cost, x, method="Nelder-Mead") for x in starts]
    best = min(fits, key=lambda fit: fit.fun)
    rho, s = float(expit(best.x[0])), float(np.exp(best.x[1]))
    r2 = min(rho * z.size * s**2, 1.0 - 1e-6)
    evidence = 0.5 * float(z @ z) - float(best.fun)
    return Estimate(rho, s, r2, float(fields.ensemble_error), evidence)


@dataclass(frozen=True, slots=True, repr=False)
class Diagnosis(Result):
    """What a data set was like, and what a method could find in it.

    Attributes
    ----------
    n_samples, n_features : int
    n_signals : int
        Estimated number of variables that matter; 0 where the data are as likely without any.
    r2, effect_size, effective_noise : float
        As in `Estimate`.
    selected : int
        How many variables the selector selected.
    method : str
        Of `planning.METHODS`, whose prediction is used.
    fdr : float
    power, true_selections, false_selections : float or None
        Predicted for such data; None where nothing matters.
    target : float
    required : int or None
        Samples at which the method is predicted to reach the target power; None if it never does.
    correlated : bool
        Whether columns are correlated: then all of this is a guide at best.

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
    n_signals: int
    r2: float
    effect_size: float
    effective_noise: float
    selected: int
    method: str
    fdr: float
    power: float | None
    true_selections: float | None
    false_selections: float | None
    target: float
    required: int | None
    correlated: bool

    @property
    def notes(self) -> tuple[str, ...]:
        """What speaks against the estimate."""
        notes = []
        if self.correlated:
            notes.append("Columns are correlated, which the estimate ignores: power is lower.")
        if self.effective_noise > 1.0 and self.n_signals:
            notes.append(
                "The fit behind the estimate predicts worse than a constant (error "
                f"{self.effective_noise:.2g} of a variance of 1): do not rely on it."
            )
        return tuple(notes)

    def __str__(self) -> str:
        first = f"{self.n_samples} samples, {self.n_features} variables, {self.selected} selected"
        if self.power is None:
            none = "The data are as likely if no variable matters: nothing to predict from."
            return "\n".join([first, none, *self.notes])
        more = "no number of samples reaches" if self.required is None else (
            f"{self.required} samples would reach"
        )  # fmt: skip
        lines = [
            first,
            f"About {self.n_signals} variables matter and explain {100 * self.r2:.0f} % of the "
            "variance (estimated).",
            f"On such data {self.method} at FDR {self.fdr:g} finds {100 * self.power:.0f} % of "
            f"them: {self.true_selections:.1f} true and {self.false_selections:.1f} false.",
            f"By this estimate {more} a power of {self.target:g}.",
        ]
        return "\n".join([*lines, *self.notes])

    def __repr__(self) -> str:
        return str(self)

    def plot(self) -> Figure:
        """Power of the method against the number of samples, by the estimate (needs matplotlib)."""
        if self.power is None:
            raise ArgumentError(
                "X: the data are as likely if no variable matters; there is no curve to draw."
            )
        answer = _needed(
            self.target, self.n_features, self.n_signals, self.r2, self.fdr, self.method
        )
        known = dict(zip(answer.x.tolist(), answer.power.tolist(), strict=True))
        x, power = zip(*sorted((known | {self.n_samples: self.power}).items()), strict=True)
        return plot_requirement(
            [METHODS[self.method].label], [(x, power)], [answer.value], self.target, "samples",
            now=self.n_samples,
        )  # fmt: skip


def _needed(target: float, p: int, k: int, r2: float, fdr: float, method: str) -> Answer:
    """Samples for the target, as the method comes."""
    found = required_samples(
        target, n_features=p, n_signals=k, r2=r2, fdr=fdr, method=method, settings="default"
    )
    return found.one(method)


def diagnose(selector: Any, X: Any, y: Any, *, power: float = 0.8) -> Diagnosis:
    """After a fit: what the data were like, the power they allowed, and samples for more.

    Parameters
    ----------
    selector : fitted selector
        Its method and level are those of the prediction.
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
    if penalty is None:
        raise ArgumentError(
            "X: message passing does not converge, so that nothing can be estimated."
        )
    found = estimate(stability_fields(data, penalty, scheme))
    n, p = table.shape
    method = next((m for kind, m in _METHOD_OF.items() if isinstance(selector, kind)), "stability")
    level = fdr_level(0.1 if getattr(selector, "fdr", None) is None else selector.fdr)
    if found.evidence < _EVIDENCE:
        return Diagnosis(
            n, p, 0, 0.0, 0.0, found.effective_noise, int(selector.support_.sum()), method, level,
            None, None, None, target, None, correlated(data),
        )  # fmt: skip
    k = min(max(round(found.sparsity * p), 1), p)
    study = Study.of(n, p, k, r2=found.r2)
    now = predict(study, method, level, "default")
    need = _needed(target, p, k, found.r2, level, method)
    return Diagnosis(
        n, p, k, found.r2, found.effect_size, found.effective_noise,
        int(selector.support_.sum()), method, level, now.power, now.true_selections,
        now.false_selections, target, None if need.value is None else int(need.value),
        correlated(data),
    )  # fmt: skip
