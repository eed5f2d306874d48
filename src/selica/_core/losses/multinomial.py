r"""Classes: a softmax over a predictor for each of them, none of which is the reference.

With coefficients W of shape (p, K) and probabilities P of the classes, the gradient in the
predictors is :math:`c (P - Y)`. A constant added to the predictors of a row changes nothing, so
that a row of W is known up to a constant: a fit has the one that its penalty prefers.
"""

from __future__ import annotations

import numpy as np
from scipy.special import log_softmax, logsumexp, softmax, xlogy

from selica._core.errors import ArgumentError
from selica._core.losses.base import HeldOut, Loss, Null, Reading
from selica._core.types import Array, BoolArray
from selica._core.validation import choice, count

PENALTIES = ("group", "each")
"""What is charged for the row of a variable in W: its length, or the sum of its sizes."""
_NO_WEIGHT = 1e-300
"""Stands for a total weight of zero where it is divided by."""
_MOST_STEPS = 100
"""Newton steps of the constants of the classes."""
_LAST_STEP = 1e-8
"""They end at a step below this: the error that is left is about its square."""
_ARMIJO = 1e-4
"""Share of the promised decrease that a step has to bring."""
_ROUNDING = 1e-13
"""Share of the loss that is lost to rounding."""


class MultinomialLoss(Loss):
    """log sum_k exp(z_k) - z_y, for classes y of 0, ..., K - 1 with a predictor z_k each.

    A class without any weight has a predictor of minus infinity, and coefficients of zero.

    Parameters
    ----------
    penalty : {"group", "each"}
        "group": a variable is in or out, for all classes at once.
    n_classes : int, optional
        Number K of classes; by default the largest value of y plus one.

    Examples
    --------
    >>> import numpy as np
    >>> from selica._core.losses import MultinomialLoss
    >>> null = MultinomialLoss().null(np.array([0.0, 1.0, 2.0, 2.0]), np.ones(4))
    >>> np.exp(null.intercept - null.intercept[0]).round(9).tolist()
    [1.0, 1.0, 2.0]
    """

    name = "multinomial"
    response = "classes"
    label = "several classes"
    several = True

    def __init__(self, penalty: str = "group", n_classes: int | None = None) -> None:
        self.penalty = choice("penalty", penalty, PENALTIES)
        self.n_classes = None if n_classes is None else count("n_classes", n_classes, at_least=2)

    def __repr__(self) -> str:
        return f"MultinomialLoss({self.penalty!r})"

    def indicators(self, y: Array) -> Array:
        """Return a one for the class of each row, (..., n, K)."""
        classes = int(y.max(initial=0.0)) + 1 if self.n_classes is None else self.n_classes
        return np.asarray(y[..., None] == np.arange(classes), dtype=float)

    # --- the fit

    def total(self, y: Array, c: Array, eta: Array) -> Array:
        """Return minus the weighted log likelihood."""
        return np.asarray(np.vecdot(c, self._row_loss(y, c, eta)))

    def _row_loss(self, y: Array, c: Array, eta: Array) -> Array:
        """Return minus the log probability of the class of each row of positive weight."""
        own = y.astype(np.intp)[..., None]
        logs = log_softmax(eta, axis=-1)
        shape = (*np.broadcast_shapes(own.shape[:-1], logs.shape[:-1]), 1)
        logs = np.broadcast_to(logs, (*shape[:-1], logs.shape[-1]))
        found = np.take_along_axis(logs, np.broadcast_to(own, shape), axis=-1)[..., 0]
        return np.asarray(np.where(c > 0.0, -found, 0.0))

    def gradient(self, y: Array, c: Array, eta: Array) -> Array:
        """Return probabilities minus indicators, weighted, (..., n, K)."""
        return np.asarray(c[..., None] * (softmax(eta, axis=-1) - self._indicators(y, eta)))

    def _indicators(self, y: Array, eta: Array) -> Array:
        """Return indicators of as many classes as there are predictors."""
        return np.asarray(y[..., None] == np.arange(eta.shape[-1]), dtype=float)

    def majorant(self, y: Array, c: Array, eta: Array) -> Array:
        """Return twice the variances of the indicators, by Gershgorin's theorem, (..., n, K)."""
        del y
        P = softmax(eta, axis=-1)
        return np.asarray(2.0 * c[..., None] * P * (1.0 - P))

    def dual(self, y: Array, c: Array, eta: Array, scale: Array) -> Array:
        """Return the weighted entropy of the distributions between fit and response."""
        P, Y = softmax(eta, axis=-1), self._indicators(y, eta)
        share = np.clip(Y + scale[..., None, None] * (P - Y), 0.0, 1.0)
        return np.asarray(-np.vecdot(c, xlogy(share, share).sum(axis=-1)))

    def infimum(self, y: Array, c: Array) -> Array:
        """Return zero."""
        return np.zeros(np.broadcast_shapes(y.shape, c.shape)[:-1])

    def balance(self, y: Array, c: Array, eta: Array) -> Array:
        """Return constants of the classes, of mean zero, at which gradients sum to zero, (..., K).

        A class without weight has minus infinity.
        """
        Y = self._indicators(y, eta)
        shape = np.broadcast_shapes(Y.shape, eta.shape, (*c.shape, eta.shape[-1]))
        parts = (np.broadcast_to(part, shape) for part in (Y, eta, c[..., None]))
        flat = (part.reshape(-1, *shape[-2:]) for part in parts)
        found = [_balanced(*one) for one in zip(*flat, strict=True)]
        return np.stack(found).reshape(*shape[:-2], shape[-1])

    def null(self, y: Array, c: Array, intercept: bool = True) -> Null:
        """Return the fit by the weighted shares of the classes, or by equal ones."""
        Y = self.indicators(y)
        mass = (c[..., None] * Y).sum(axis=-2)
        total = np.maximum(mass.sum(axis=-1, keepdims=True), _NO_WEIGHT)
        share = mass / total if intercept else np.full(mass.shape, 1.0 / mass.shape[-1])
        value = -xlogy(mass, np.where(mass > 0.0, share, 1.0)).sum(axis=-1)
        a = _centred(_logarithm(share)) if intercept else np.zeros(mass.shape)
        return Null(a, np.asarray(c[..., None] * (share[..., None, :] - Y)), np.asarray(value))

    def degenerate(self, y: Array, c: Array) -> BoolArray:
        """Return where fewer than two classes have any weight."""
        mass = (c[..., None] * self.indicators(y)).sum(axis=-2)
        return np.asarray(np.count_nonzero(mass, axis=-1) < 2)

    # --- the penalty

    def charged(self, coef: Array) -> Array:
        """Return what a penalty of one charges for each variable, (..., p) from (..., p, K)."""
        if self.penalty == "each":
            return np.asarray(np.abs(coef).sum(axis=-1))
        return np.asarray(np.linalg.norm(coef, axis=-1))

    def pull(self, gradient: Array) -> Array:
        """Return the smallest penalty at which a variable stays out, (..., p) from (..., p, K)."""
        if self.penalty == "each":
            return np.asarray(np.abs(gradient).max(axis=-1))
        return np.asarray(np.linalg.norm(gradient, axis=-1))

    # --- predictions

    def mean(self, eta: Array) -> Array:
        """Return the probabilities of the classes, (..., n, K)."""
        return np.asarray(softmax(eta, axis=-1))

    def deviance(self, y: Array, eta: Array) -> Array:
        """Return minus twice the log probability of the class of each row, (..., n)."""
        return np.asarray(2.0 * self._row_loss(y, np.ones(()), eta))

    def held_out_score(self, y: Array, c: Array, held_out: BoolArray, eta: Array) -> HeldOut:
        """Return the deviance of the rows that were held out, and their weight."""
        deviance = self.deviance(y[held_out], eta[..., held_out, :])
        return HeldOut(np.asarray(np.vecdot(c[held_out], deviance)), float(c[held_out].sum()))

    # --- the response

    def recognises(self, values: Array) -> bool:
        """Return whether a response is text with more than two different values."""
        return values.size > 2 and all(isinstance(value, str) for value in values[:3].tolist())

    def read(self, y: Array) -> Reading:
        """Return the place of each value among the different ones, in their order."""
        raw = np.asarray(y)
        if raw.ndim != 1 or (raw.dtype.kind == "f" and not np.all(np.isfinite(raw))):
            raise ArgumentError("y must be a vector of classes, none of them missing.")
        classes, place = np.unique(raw, return_inverse=True)
        return Reading(place.astype(float), classes)

    def check(self, y: Array) -> None:
        """Refuse numbers that are no places of classes."""
        most = np.inf if self.n_classes is None else self.n_classes - 1
        if not np.all((y == np.floor(y)) & (y >= 0.0) & (y <= most)):
            raise ArgumentError("y must hold numbers of classes, 0 and up, for several classes.")

    def strata(self, y: Array) -> Array:
        """Return the class of each row."""
        return y

    def informative_rows(self, y: Array) -> int:
        """Return the rows outside of the largest class, times K / (K - 1)."""
        sizes = self.indicators(y).sum(axis=0)
        return int((y.size - sizes.max()) * sizes.size / max(sizes.size - 1, 1))

    def draw(self, eta: Array, noise_variance: float | None, rng: np.random.Generator) -> Array:
        """Return classes with the log odds `eta`, of shape (n, K)."""
        del noise_variance
        if eta.ndim != 2:
            raise ArgumentError("response: 'classes' needs a predictor for each class.")
        return np.asarray(np.argmax(eta + rng.gumbel(size=eta.shape), axis=1), dtype=float)


def _logarithm(share: Array) -> Array:
    """Return the logarithm, minus infinity at zero."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(share))


def _centred(a: Array) -> Array:
    """Return constants of mean zero over those that are finite."""
    there = np.isfinite(a)
    mean = np.where(there, a, 0.0).sum(axis=-1) / np.maximum(np.count_nonzero(there, axis=-1), 1)
    return np.asarray(a - mean[..., None])


def _balanced(Y: Array, eta: Array, c: Array) -> Array:
    """Return the constants of one member: Y, eta and c have the shape (n, K)."""
    mass = (c * Y).sum(axis=0)
    there = mass > 0.0
    a = np.where(there, 0.0, -np.inf)
    if not there.any():
        return np.zeros(mass.size)

    def value(a: Array) -> float:
        return float(c[:, 0] @ logsumexp(eta + a, axis=1) - mass[there] @ a[there])

    here = value(a)
    for _ in range(_MOST_STEPS):
        P = softmax(eta + a, axis=1)[:, there]
        weighted = c[:, :1] * P
        slope = weighted.sum(axis=0) - mass[there]
        curve = np.diag(weighted.sum(axis=0)) - weighted.T @ P
        # a constant in all classes changes nothing: curvature is added in that direction
        step = np.linalg.solve(curve + weighted.sum() / slope.size**2, -slope)
        length, least = 1.0, here + _ROUNDING * abs(here)
        tried = a.copy()
        tried[there] += step
        new = value(tried)
        while new > least + _ARMIJO * length * float(slope @ step):
            length *= 0.5
            tried[there] = a[there] + length * step
            new = value(tried)
        a, here = tried, new
        if np.abs(length * step).max() <= _LAST_STEP:
            break
    return _centred(a)
