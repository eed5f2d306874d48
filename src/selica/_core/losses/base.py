r"""What a loss has to say: how to read a response, to fit, to certify, to score and to draw it.

A member of an ensemble minimises, over an intercept a and coefficients w,

.. math:: L(\eta) + \lambda \sum_j u_j |w_j| + \tfrac12 \lambda_2 \sum_j w_j^2 , \qquad
    \eta = a + X w ,

where L depends on the response y and on weights c of the rows, and is convex. `Loss` is what
fitting needs of L as a whole. `RowLoss` is the common case
:math:`L = \sum_i c_i\, \ell(y_i, \eta_i)`, in which three functions of one row are enough: value,
slope and curvature.

**The response of a row** is one number, and y has the shape (..., n); or it is the numbers that
`Loss.fields` names, and y has the shape (..., n, width), so that ``y[rows]`` takes all of them
along. Fields at the end that have a default may be left out, and a plain vector (n,) holds the
first field alone. `Loss.columns` returns the fields of any such y. Functions of a single row
(`RowLoss.value` and its like, `mean`, `deviance`) see the first field, and a predictor to which an
offset was added.

**The predictor of a row** is one number, and weights, predictors and gradients have the shape
(..., n). Where `Loss.several` is true it is one number for each of K classes: predictors, gradients
and majorants have the shape (..., n, K), intercepts (..., K), coefficients (..., p, K), and the
loss itself says what they are charged (`multinomial`). Nothing else differs.

A new loss is one file: a subclass with its functions, and ``register(MyLoss())`` at its end.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, NamedTuple

import numpy as np

from selica._core.errors import ArgumentError, DoesNotApply
from selica._core.root import find_root
from selica._core.types import Array, BoolArray, IntArray
from selica._core.validation import short, written

LARGEST_RESPONSE = 1e150
"""The square of a larger number, times the number of rows, is not a number any more."""
_PROXIMAL_TOLERANCE = 1e-8
"""Last Newton step of a proximal map; the error left is about its square."""
_BALANCE_TOLERANCE = 1e-14
"""Last Newton step of an intercept."""
_NO_WEIGHT = 1e-300
"""A total weight of zero is replaced by this, so that a mean is zero and not undefined."""


class Reading(NamedTuple):
    """A response as numbers."""

    values: Array
    """(n,) or (n, width): what the loss is fitted to."""
    classes: Any = None
    """The classes, whose places are the values; None for numbers."""


class Null(NamedTuple):
    """The fit without variables, for each of the given weights."""

    intercept: Array
    """(...): zero where no intercept is fitted."""
    gradient: Array
    """(..., n): derivative of L in the predictor of each row."""
    value: Array
    """(...): L."""


class HeldOut(NamedTuple):
    """What rows that were not fitted say of a fit.

    The error of a fold is `deviance` over `mass`. Over folds it is the sum of the first over the
    sum of the second: a fold without any mass still has its say.
    """

    deviance: Array
    """(...)."""
    mass: float
    """Weight of the rows, or of their events."""


class Loss(ABC):
    """A loss of the predictors of all rows; weights and predictors have shape (..., n).

    Attributes
    ----------
    name : str
        Name of the loss, e.g. "squared".
    response : str
        What selectors call the response, e.g. "linear".
    label : str
        The response in a sentence, e.g. "a continuous response".
    kernel : str or None
        Compiled kernel of `selica.solvers` that fits it; None for proximal Newton steps in Python.
    quadratic : bool
        Whether the loss of a row is half the squared residual. Then a row of weight c is a row
        multiplied by the root of c, an intercept is a matter of centring, and the unit of the
        response is a matter of taste.
    distinct_values : int or None
        Number of different values by which the response is recognised.
    unpenalised : bool
        Whether `statistics.mirror` has a fit of it without a penalty, for data splitting.
    noisy : bool
        Whether the response has noise whose variance is a parameter of its own.
    fields : tuple of str
        The numbers that make the response of one row.
    defaults : tuple of float
        Values of the last fields, which may be left out.
    identified : bool
        Whether a constant in all predictors changes the loss, so that an intercept can be fitted.
    several : bool
        Whether a row has a predictor for each of several classes.
    diagonal : bool
        Whether `majorant` is all that is known of the second derivatives; else `curved` has them.
    """

    name: ClassVar[str]
    response: ClassVar[str]
    label: ClassVar[str]
    kernel: ClassVar[str | None] = None
    quadratic: ClassVar[bool] = False
    distinct_values: ClassVar[int | None] = None
    unpenalised: ClassVar[bool] = False
    noisy: ClassVar[bool] = False
    fields: ClassVar[tuple[str, ...]] = ("value",)
    defaults: ClassVar[tuple[float, ...]] = ()
    identified: ClassVar[bool] = True
    several: ClassVar[bool] = False
    diagonal: ClassVar[bool] = True

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    # --- the response

    def columns(self, y: Array) -> tuple[Array, ...]:
        """Return the fields of a response, each of shape (..., n)."""
        if len(self.fields) == 1:
            return (y,)
        if y.ndim == 1:
            y = y[:, None]
        given = [y[..., k] for k in range(y.shape[-1])]
        rest = self.defaults[len(self.defaults) - len(self.fields) + len(given) :]
        return (*given, *(np.broadcast_to(value, y.shape[:-1]) for value in rest))

    def compiled(self, y: Array) -> str | None:
        """Return the name by which the compiled core fits this response, None if it does not."""
        del y
        return self.kernel

    def recognises(self, values: Array) -> bool:
        """Return whether a response with these different values can be nothing else."""
        return bool(values.size == self.distinct_values)

    def takes(self, y: Any) -> bool:
        """Return whether a response has a form that no other loss reads."""
        del y
        return False

    def read(self, y: Array) -> Reading:
        """Return a response as the numbers that are fitted, or raise one sentence.

        Parameters
        ----------
        y : array of shape (n,), or what else the loss takes
            As it was given; a vector has at least two different values.
        """
        return Reading(real_response(y))

    def check(self, y: Array) -> None:
        """Refuse numbers that are no response of this kind."""
        del y

    def standardised(self, y: Array, weight: Array) -> tuple[Array, float]:
        """Return the response in the unit in which it is fitted, and what it was divided by."""
        del weight
        return y, 1.0

    def strata(self, y: Array) -> Array | None:
        """Return the stratum of each row, if folds and resamples have to keep their shares."""
        del y
        return None

    def informative_rows(self, y: Array) -> int:
        """Return how many rows of a balanced data set would carry as many variables."""
        return int(self.columns(y)[0].size)

    def draw(self, eta: Array, noise_variance: float | None, rng: np.random.Generator) -> Array:
        """Return a response drawn at the linear predictor `eta`.

        Parameters
        ----------
        eta : array of shape (n,)
        noise_variance : float or None
            Variance of the noise where the loss is `noisy`, else None.
        rng : Generator
        """
        del eta, noise_variance, rng
        raise ArgumentError(f"response: {self.response!r} has no simulation.")

    # --- the fit

    @abstractmethod
    def total(self, y: Array, c: Array, eta: Array) -> Array:
        """Return L, of shape (...)."""

    @abstractmethod
    def gradient(self, y: Array, c: Array, eta: Array) -> Array:
        """Return the derivatives of L in the predictors, of shape (..., n)."""

    @abstractmethod
    def majorant(self, y: Array, c: Array, eta: Array) -> Array:
        """Return a diagonal that is no smaller than the matrix of second derivatives, (..., n)."""

    def curved(self, y: Array, c: Array, eta: Array, V: Array) -> Array:
        """Return the matrix of second derivatives times vectors V, (k, n), for one member."""
        return np.asarray(self.majorant(y, c, eta) * V)

    @abstractmethod
    def dual(self, y: Array, c: Array, eta: Array, scale: Array) -> Array:
        """Return a lower bound of min L + linear terms: minus the conjugate of L, of shape (...).

        It is taken at `scale` (...), between zero and one, times the gradient at `eta`, and is
        exact where the scale is one. With a scale that makes all columns feasible it is the dual
        objective, and the distance from the primal one is the certificate of a fit.
        """

    @abstractmethod
    def infimum(self, y: Array, c: Array) -> Array:
        """Return the smallest L of any predictors, of shape (...)."""

    @abstractmethod
    def balance(self, y: Array, c: Array, eta: Array) -> Array:
        """Return the constant that minimises L when it is added to `eta`, of shape (...)."""

    def degenerate(self, y: Array, c: Array) -> BoolArray:
        """Return where nothing can be fitted because nothing happened, of shape (...)."""
        return np.zeros(np.broadcast_shapes(self.columns(y)[0].shape, c.shape)[:-1], dtype=bool)

    def null(self, y: Array, c: Array, intercept: bool = True) -> Null:
        """Return the fit without variables: intercept, gradient and value."""
        zero = np.zeros(np.broadcast_shapes(self.columns(y)[0].shape, np.shape(c)))
        a = self.balance(y, c, zero) if intercept else np.zeros(zero.shape[:-1])
        eta = zero + a[..., None]
        return Null(a, self.gradient(y, c, eta), self.total(y, c, eta))

    # --- the penalty

    def charged(self, coef: Array) -> Array:
        """Return what a penalty of one charges for each variable, (..., p)."""
        return np.abs(coef)

    def pull(self, gradient: Array) -> Array:
        """Return the smallest penalty at which a variable stays out, (..., p)."""
        return np.abs(gradient)

    # --- predictions

    @abstractmethod
    def mean(self, eta: Array) -> Array:
        """Return the response that is expected at a predictor."""

    def deviance(self, y: Array, eta: Array) -> Array:
        """Return twice the excess of the loss of each row over the smallest possible one."""
        del y, eta
        raise DoesNotApply(
            f"The loss of {self.label} is no sum over rows: rows have no deviance of their own."
        )

    def total_deviance(self, y: Array, c: Array, eta: Array) -> Array:
        """Return twice the excess of L over the smallest possible one, of shape (...)."""
        return np.asarray(2.0 * (self.total(y, c, eta) - self.infimum(y, c)))

    def held_out_score(self, y: Array, c: Array, held_out: BoolArray, eta: Array) -> HeldOut:
        """Return what rows that were held out say of a fit: how much deviance they add.

        Parameters
        ----------
        y : array of shape (n,) or (n, width)
        c : array of shape (n,)
            Weights of all rows.
        held_out : boolean array of shape (n,)
        eta : array of shape (..., n)
            Predictors of all rows, by a fit to those that were not held out.
        """
        fitted = np.where(held_out, 0.0, c)
        added = self.total_deviance(y, c, eta) - self.total_deviance(y, fitted, eta)
        return HeldOut(added, float(c[held_out].sum()))


class RowLoss(Loss):
    """A sum over rows of c * value(y, z); the functions of a row work on arrays of any shape.

    A subclass has `value`, `slope` and `curvature`, and `lowest` where the smallest value is not
    zero. All the rest follows, and may be replaced where there is a closed form. A subclass with
    several fields has `row_wise`, and sums of its own.
    """

    def row_wise(self, y: Array, eta: Array) -> tuple[Array, Array]:
        """Return the first field, and the predictor with what the other fields add to it."""
        return y, eta

    @abstractmethod
    def value(self, y: Array, z: Array) -> Array:
        """Return the loss of a predictor z."""

    @abstractmethod
    def slope(self, y: Array, z: Array) -> Array:
        """Return its derivative in z."""

    @abstractmethod
    def curvature(self, y: Array, z: Array) -> Array:
        """Return its second derivative in z, which is not negative."""

    def lowest(self, y: Array) -> Array:
        """Return the smallest loss that any predictor has."""
        return np.zeros_like(y)

    def conjugate(self, y: Array, z: Array, scale: Array) -> Array:
        r"""Return the conjugate at `scale` times the slope at z, or an upper bound of it.

        At a scale of one it is slope * z - value, and at zero it is minus the smallest loss; a
        convex function is at most the line between the two.
        """
        ends = self.slope(y, z) * z - self.value(y, z)
        return np.asarray(scale * ends - (1.0 - scale) * self.lowest(y))

    def proximal(self, y: Array, field: Array, pull: Array) -> Array:
        """Return the z with z = field - pull * slope(y, z), all of shape (k,).

        Newton's method between bounds: the loss is convex, and the root lies between the field and
        one full step from it. Without the bounds the iteration cycles where the pull is large.
        """

        def equation(z: Array, index: IntArray) -> tuple[Array, Array]:
            label, force = y[index], pull[index]
            value = z - field[index] + force * self.slope(label, z)
            return value, 1.0 + force * self.curvature(label, z)

        end = field - pull * self.slope(y, field)
        low, high = np.minimum(field, end), np.maximum(field, end)
        middle = 0.5 * (low + high)
        return find_root(equation, middle, lower=low, upper=high, tol=_PROXIMAL_TOLERANCE).x

    def mean(self, eta: Array) -> Array:
        """Return the predictor itself."""
        return eta

    def deviance(self, y: Array, eta: Array) -> Array:
        """Return twice the excess of each row."""
        return np.asarray(2.0 * (self.value(y, eta) - self.lowest(y)))

    def held_out_score(self, y: Array, c: Array, held_out: BoolArray, eta: Array) -> HeldOut:
        """Return the deviance of the rows that were held out, and their weight."""
        c = c[held_out]
        deviance = self.deviance(*self.row_wise(y[held_out], eta[..., held_out]))
        return HeldOut(np.asarray(np.vecdot(c, deviance)), float(c.sum()))

    def total(self, y: Array, c: Array, eta: Array) -> Array:
        """Return the weighted sum of the values."""
        return np.asarray(np.vecdot(c, self.value(y, eta)))

    def gradient(self, y: Array, c: Array, eta: Array) -> Array:
        """Return the weighted slopes."""
        return np.asarray(c * self.slope(y, eta))

    def majorant(self, y: Array, c: Array, eta: Array) -> Array:
        """Return the weighted curvatures."""
        return np.asarray(c * self.curvature(y, eta))

    def dual(self, y: Array, c: Array, eta: Array, scale: Array) -> Array:
        """Return minus the weighted sum of the conjugates."""
        return np.asarray(-np.vecdot(c, self.conjugate(y, eta, scale[..., None])))

    def infimum(self, y: Array, c: Array) -> Array:
        """Return the weighted sum of the smallest values."""
        return np.asarray(np.vecdot(c, self.lowest(y)))

    def balance(self, y: Array, c: Array, eta: Array) -> Array:
        """Return the constant at which the weighted slopes sum to zero, by Newton's method."""
        shape = np.broadcast_shapes(np.shape(y), np.shape(c), np.shape(eta))
        label, weight, start = (
            np.broadcast_to(part, shape).reshape(-1, shape[-1]) for part in (y, c, eta)
        )

        def equation(a: Array, index: IntArray) -> tuple[Array, Array]:
            z = start[index] + a[:, None]
            some = label[index], weight[index], z
            return self.gradient(*some).sum(axis=-1), self.majorant(*some).sum(axis=-1)

        longest = 1.0 + float(np.abs(y).max(initial=0.0)) + float(np.abs(eta).max(initial=0.0))
        root = find_root(equation, np.zeros(len(start)), max_step=longest, tol=_BALANCE_TOLERANCE)
        return root.x.reshape(shape[:-1])


class LabelledLoss(RowLoss):
    """A row loss with the distribution of its response given the true predictor z0.

    Averages over responses are sums over `labels` with `multiplicity`. Functions of z are analytic
    at distances below pi from the real axis: the quadrature of `theory.glm.rows` builds on it.
    """

    labels: Array
    multiplicity: Array

    @abstractmethod
    def chance(self, y: Array, z0: Array) -> Array:
        """Return the probability, or the density, of the response y."""

    @abstractmethod
    def chance_slope(self, y: Array, z0: Array) -> Array:
        """Return its derivative in z0."""


def real_response(y: Array) -> Array:
    """Return a response as finite floats, or raise one sentence."""
    try:
        values = y.astype(float)
    except (TypeError, ValueError):
        raise ArgumentError(
            f"y must be numbers, or have two classes; got {short(written(y[0]))}."
        ) from None
    if not np.all(np.abs(values) <= LARGEST_RESPONSE):
        raise ArgumentError(f"y must be finite and at most {LARGEST_RESPONSE:g} in size.")
    return np.asarray(values)


def weighted_mean(y: Array, c: Array) -> Array:
    """Return the mean of y by weights c over the last axis; zero where there is no weight."""
    return np.asarray(np.vecdot(c, y) / np.maximum(c.sum(axis=-1), _NO_WEIGHT))
