"""Synthetic data sets: sparse effects, designs with a known covariance, linear or binary y."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from selica._core.effects import Effects, check_effects
from selica._core.errors import ArgumentError
from selica._core.losses import Loss, loss_of
from selica._core.random import SIMULATION, RandomState, child, seed_sequence
from selica._core.results import Result
from selica._core.types import Array, BoolArray
from selica._core.validation import (
    LARGEST,
    choice,
    count,
    exactly_one,
    number,
    positive,
    short,
    single,
)
from selica.sampling.covariance import Covariance, Scaled, parse_covariance

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True, repr=False)
class Simulation(Result):
    """A synthetic data set and the truth behind it.

    Examples
    --------
    >>> from selica.sampling import simulate
    >>> data = simulate(100, 30, 3, snr=4.0, random_state=0)
    >>> data.X.shape, data.y.shape, int(data.support.sum())
    ((100, 30), (100,), 3)
    >>> round(data.signal_variance / data.noise_variance, 12)
    4.0
    """

    X: Array
    """Design, shape (n, p); columns contiguous in memory."""
    y: Array
    """Response, shape (n,); zeros and ones if it is binary."""
    coef: Array
    """True coefficients, shape (p,)."""
    support: BoolArray
    """Which variables have an effect, shape (p,)."""
    noise_variance: float | None
    """Variance of the noise; None for a response without noise of its own, e.g. a binary one."""
    covariance: Covariance
    """Covariance of the rows as drawn; `numpy.asarray` makes the (p, p) matrix of it."""

    @property
    def signal_variance(self) -> float:
        """Variance coef' Sigma coef of x . coef over new rows."""
        return self.covariance.variance_of(self.coef)

    def to_frame(self) -> pd.DataFrame:
        """Return one row for each sample: the variables x0, x1, ... and y (needs pandas)."""
        import pandas as pd

        table = pd.DataFrame(self.X, columns=[f"x{j}" for j in range(self.X.shape[1])])
        table["y"] = self.y
        return table

    def __repr__(self) -> str:
        n, p = self.X.shape
        noise = "" if self.noise_variance is None else f", noise_variance={self.noise_variance:.6g}"
        return f"Simulation(n_samples={n}, n_features={p}, n_signals={self.support.sum()}{noise})"


def simulate(
    n_samples: int,
    n_features: int,
    n_signals: int | None = None,
    *,
    sparsity: float | None = None,
    snr: float | None = None,
    r2: float | None = None,
    noise_variance: float | None = None,
    effects: Effects | None = None,
    covariance: Any = "identity",
    design: Any = "gaussian",
    response: str = "linear",
    random_state: RandomState | None = None,
    scale: str = "unit",
) -> Simulation:
    """Simulate a sparse regression problem with a known truth.

    Parameters
    ----------
    n_samples, n_features : int
        Rows n and variables p.
    n_signals : int, optional
        Exactly so many variables have an effect. Either this or `sparsity`.
    sparsity : float, optional
        Each variable has an effect with this probability, independently.
    snr, r2, noise_variance : float, optional
        Exactly one of them for a linear response, none for a binary one. Ratio of the signal's
        to the noise's variance, or the signal's share of the variance of y, for the coefficients
        as drawn and new rows: the signal's variance is coef' Sigma coef (where `sparsity` happens
        to give no signal at all, that of p * sparsity independent unit effects). To compare with
        the theory at a given Delta pass ``noise_variance=Delta``: then nothing random enters.
    effects : Effects, optional
        Distribution of the non-zero coefficients, of unit second moment; Gaussian by default.
    covariance : str, tuple, array of shape (p, p) or Covariance
        "identity"; ("ar1", r): r^|i-j|; ("equicorrelated", r); ("block", r, size): correlation r
        inside consecutive blocks; ("factor", k, strength): k common factors with random loadings
        make this share of each variance; a matrix, singular ones included; or the covariance of
        an earlier Simulation, taken as it is in either scale.
    design : {"gaussian", "rademacher"} or ("t", dof)
        Distribution of the independent variables of unit variance, out of which the rows are
        made by a square root of the covariance; dof > 2.
    response : {"linear", "binary"} or the name of another loss
        y = X coef + noise; or y = 1 with log odds X coef, else 0 ("logistic" says the same).
    random_state : None, int, SeedSequence, Generator or RandomState
        The same seed gives the same design whatever the effects and the noise are.
    scale : {"unit", "article"}
        Rows have covariance Sigma (unit variances, for all but a given matrix), so that the
        signal of k independent variables has variance about k; or Sigma/p as in the article.

    Returns
    -------
    Simulation
        X, y, coef, support, noise_variance and covariance.

    Examples
    --------
    >>> from selica.sampling import simulate
    >>> data = simulate(200, 500, 10, r2=0.8, covariance=("ar1", 0.5), random_state=0)
    >>> data.X.shape, int(data.support.sum())
    ((200, 500), 10)
    >>> signal = data.signal_variance
    >>> round(signal / (signal + data.noise_variance), 12)
    0.8
    """
    n, p = count("n_samples", n_samples), count("n_features", n_features)
    effects = check_effects(effects)
    draw = _design(design)
    loss = loss_of(response, "response")
    scale = choice("scale", scale, ("unit", "article"))
    noise = _noise(loss, snr=snr, r2=r2, noise_variance=noise_variance)
    share = _share(n_signals, sparsity, p)
    if noise is not None and noise[0] != "noise_variance" and share == 0.0:
        name = "n_signals" if sparsity is None else "sparsity"
        raise ArgumentError(f"{name} is 0: without a signal give noise_variance, not {noise[0]}.")

    seed = seed_sequence(random_state)
    rngs = [np.random.default_rng(child(seed, SIMULATION, k)) for k in range(5)]
    of_loadings, of_design, of_support, of_effects, of_response = rngs
    sigma = parse_covariance(covariance, p, of_loadings)
    if scale == "article" and not isinstance(covariance, Covariance):
        sigma = Scaled(sigma, 1.0 / p)

    support = np.zeros(p, dtype=bool)
    if sparsity is None:
        support[of_support.choice(p, size=round(share * p), replace=False)] = True
    else:
        support[:] = of_support.random(p) < share
    coef = np.zeros(p)
    coef[support] = effects.sample(int(support.sum()), of_effects)

    X = sigma.colour(draw(of_design, (sigma.n_white, n))).T
    signal = X @ coef
    variance = None
    if noise is not None:
        power = (
            sigma.variance_of(coef) if support.any() else share * (p if scale == "unit" else 1.0)
        )
        variance = _noise_variance(*noise, power)
    y = loss.draw(signal, variance, of_response)
    return Simulation(X, y, coef, support, variance, sigma)


def _share(n_signals: int | None, sparsity: float | None, p: int) -> float:
    """Return the share of the variables with an effect."""
    if (n_signals is None) == (sparsity is None):
        raise ArgumentError("Give exactly one of n_signals and sparsity.")
    if sparsity is not None:
        return number("sparsity", sparsity, at_least=0.0, at_most=1.0)
    k = count("n_signals", n_signals, at_least=0)
    if k > p:
        raise ArgumentError(f"n_signals must be at most n_features = {p}; got {k}.")
    return k / p


def _noise(loss: Loss, **given: float | None) -> tuple[str, float] | None:
    """Return the name and value of the one noise argument; None for a response without noise."""
    if not loss.noisy:
        for name, value in given.items():
            if value is not None:
                raise ArgumentError(f"{name} has no meaning for a {loss.name} response.")
        return None
    name, value = exactly_one(**given)
    if name == "noise_variance":
        return name, number(name, value, at_least=0.0, at_most=LARGEST)
    return name, single(name, positive(name, value, at_most=1.0 if name == "r2" else LARGEST))


def _noise_variance(name: str, value: float, signal: float) -> float:
    if name == "noise_variance":
        return value
    return signal / value if name == "snr" else signal * (1.0 - value) / value


def _design(design: Any) -> Any:
    """Return a function that draws independent variables of unit variance."""
    match design if isinstance(design, str | tuple | list) else None:
        case "gaussian":
            return np.random.Generator.standard_normal
        case "rademacher":
            return _signs
        case ("t", dof):
            freedom = single("design: dof", positive("design: dof", dof))
            if freedom <= 2.0:
                raise ArgumentError(f"design: dof must be above 2 for a variance; got {freedom:g}.")
            return lambda rng, size: _student(rng, freedom, size)
    raise ArgumentError(
        f'design must be "gaussian", "rademacher" or ("t", dof); got {short(design)}.'
    )


def _signs(rng: np.random.Generator, size: tuple[int, int]) -> Array:
    out = rng.integers(0, 2, size=size, dtype=np.int8).astype(float)
    out *= 2.0
    out -= 1.0
    return out


def _student(rng: np.random.Generator, dof: float, size: tuple[int, int]) -> Array:
    out = rng.standard_t(dof, size=size)
    out *= np.sqrt((dof - 2.0) / dof)
    return out
