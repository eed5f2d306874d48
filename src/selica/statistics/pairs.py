r"""Masked pairs: a table beside its knockoff copy, without telling which of the two is which.

Which member of a pair is the original is a fair coin for a variable that does not matter, whatever
the response, the unordered pairs and the other coins are (Candes, Fan, Janson and Lv 2018). A
statistic that is computed from the masked data and only then given its sign is therefore valid,
whatever model it believes in (Spector and Fithian, Asymptotically optimal knockoff statistics via
the masked likelihood ratio).

Here the mask is exact. Members of a pair are put in an order that their values alone decide, before
anything is computed: exchanging a column with its copy changes `MaskedPairs.sign`, and not one bit
of the rest. What is computed from the pairs may use their order, random numbers or rounding as it
likes; its validity does not rest on convergence.

**The response** is that of a linear model. Any other loss is replaced by its quadratic
approximation at a fit: with the predictors eta, the slopes v and the curvatures A of the rows
there, the rows have the weights A and the response eta - v/A. The fit is a cross-validated lasso on
the masked pairs, which does not know either which column is the original. (Where no variable is in
the model the approximation is poor for strong effects: counts lose most of their power.) Times of
events have the diagonal of Cox's second derivatives without their second term, and columns are
centred in its place. Of several classes each is a response of its own, against all others. Where
the response is the predictor plus noise, all rows have the mean of the curvatures: that of a single
row depends on its noise, and a loss that hardly bends at an outlier would make it the heaviest row.

Columns without a penalty, and a constant, are projected off response and columns, which is what a
flat prior for their coefficients does.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from selica._core.types import Array, BoolArray, IntArray
from selica.statistics.cross_validation import cross_validate
from selica.statistics.data import Data, null_predictors, standardised
from selica.statistics.fits import fit_members

_LEAST_CURVATURE = 1e-10
"""Rows with less than this share of the mean curvature say nothing, and are left out."""
_DEPENDENT = 1e-10
"""A column without a penalty that is within this share of others is one of them."""
_NOTHING = 1e-12
"""A column that keeps less than this share of its size after a projection is zero."""

_FOLDS = 5
"""Folds of the cross-validation by which the fit is chosen."""
_FOLDS_SEED = 0
"""Seed of their order: the fit depends on the masked data alone."""


class MaskedPairs(NamedTuple):
    """Pairs of columns in an order that does not know which of the two is the original.

    Rows are multiplied by the roots of their weights, and what is not penalised is projected off.

    Examples
    --------
    >>> import numpy as np
    >>> from selica.statistics import make_data
    >>> from selica.statistics.pairs import masked_pairs
    >>> rng = np.random.default_rng(0)
    >>> X, copy, y = rng.standard_normal((20, 3)), rng.standard_normal((20, 3)), np.arange(20.0)
    >>> [one] = masked_pairs(make_data(X, y, "squared"), copy)
    >>> [other] = masked_pairs(make_data(copy, y, "squared"), X)
    >>> bool(np.all(one.first == other.first)), bool(np.all(one.sign == -other.sign))
    (True, True)
    """

    versions: tuple[Array, ...]
    """V of shape (n, p), stored column by column: the versions of all columns in an order of their
    own, two for a variable and its copy. All versions of a column have a scale in common, and a
    mean square of about one."""
    response: Array
    """(n,): of mean square one."""
    labels: Array | None
    """(n,): +1 and -1 where the response is binary; else None."""
    weight: Array
    """(n,): weights of the rows, of mean one; their roots are in columns and response."""
    basis: Array
    """(n, k): orthonormal; what was projected off response and columns."""
    noise: float | None
    """Variance of the response that no variable can explain, where residuals do not tell it: those
    of times of events are long where few were at risk, and the variance is that of the slopes."""
    variable: IntArray
    """(p,): number of the unit, a variable or a group, to which a column belongs; a unit is
    exchanged with its copy as a whole."""
    order: IntArray
    """(V, units): number of the version, 0 for the original, that has this place."""
    alike: BoolArray
    """(V, units): versions that do not differ at all from the one before."""

    @property
    def first(self) -> Array:
        """(n, p): the first version."""
        return self.versions[0]

    @property
    def second(self) -> Array:
        """(n, p): the second version."""
        return self.versions[1]

    @property
    def sign(self) -> Array:
        """(units,): +1 where the original of a pair is the first, -1 where it is the second.

        It is 0 where the two do not differ.
        """
        return np.where(self.alike[1], 0.0, np.where(self.order[0] == 0, 1.0, -1.0))

    def signed(self, ahead: Array) -> Array:
        """Return W from what speaks for the first of each pair, (..., units)."""
        return np.asarray(np.where(self.sign == 0.0, 0.0, self.sign * ahead))

    def restored(self, values: Array) -> Array:
        """Return what versions have, (V, units), with the original first.

        Versions that do not differ get the same.
        """
        same = values.copy()
        for place in range(1, len(values)):
            same[place] = np.where(self.alike[place], same[place - 1], same[place])
        out = np.empty_like(same)
        np.put_along_axis(out, self.order, same, axis=0)
        return out


def masked_pairs(data: Data, copy: Array, *, labels: bool = False) -> list[MaskedPairs]:
    """Return the pairs of a table and its copy: one, or for several classes one for each.

    Parameters
    ----------
    data : Data
    copy : array of shape (n, p), or (n, m p) for m joint copies
        Knockoff copy of the columns as they were given, before standardisation.
    labels : bool
        Whether a binary response stays what it is: rows then have their own weights, and not those
        of the quadratic approximation.
    """
    rows = data.weight
    versions, order, alike = _in_order(data, copy)
    keeps_labels = labels and data.loss.name == "logistic"
    found = []
    linear = data.loss.name == "squared" or keeps_labels
    eta = null_predictors(data, data.weight) if linear else _predictors(data, versions)
    for center, slope, curvature in _surrogates(data, eta):
        binary = 2.0 * data.y - 1.0 if data.loss.name == "logistic" else None
        weight = rows if keeps_labels else curvature
        use = curvature > _LEAST_CURVATURE * curvature.mean()
        working = np.where(use, center - slope / np.where(use, curvature, 1.0), 0.0)
        if keeps_labels:
            assert binary is not None
            working = binary
        weight = np.where(use, weight, 0.0)
        unit = 1.0 / weight.mean()
        root = np.sqrt(unit * weight)
        basis = _orthonormal(root[:, None] * _unpenalised(data))
        response = _without((root * working)[:, None], basis)[:, 0]
        scale = float(np.sqrt(np.mean(response**2)))
        found.append(
            MaskedPairs(
                versions=tuple(_without(root[:, None] * one, basis) for one in versions),
                response=response / scale if scale > 0.0 else response,
                labels=binary,
                weight=unit * weight,
                basis=basis,
                noise=None if data.loss.diagonal or scale == 0.0 else unit / scale**2,
                variable=_units(data),
                order=order,
                alike=alike,
            )
        )
    return found


def _units(data: Data) -> IntArray:
    """Return the number of the unit to which each column belongs."""
    return np.arange(data.X.shape[1]) if data.variable is None else np.asarray(data.variable)


def _in_order(data: Data, copy: Array) -> tuple[list[Array], IntArray, BoolArray]:
    """Return versions with a scale in common, in order, with `order` and `alike` of the result."""
    p = data.X.shape[1]
    even = None if np.all(data.weight == 1.0) else data.weight
    columns, scales = [data.X], [np.where(data.varies, data.x_scale, 0.0)]
    for start in range(0, copy.shape[1], p):
        other, scale = standardised(copy[:, start : start + p], even)
        columns.append(other)
        scales.append(np.where(other.any(axis=0), scale, 0.0))
    # sums over versions in the order of their sizes, whichever version that is
    common = np.sqrt(np.mean(np.sort(scales, axis=0) ** 2, axis=0))
    common = np.where(common > 0.0, common, 1.0)
    Z = np.empty((len(columns), p, len(data.X)))
    for one, part, own in zip(Z, columns, scales, strict=True):
        np.multiply(part.T, (own / common)[:, None], out=one)
    Z += 0.0  # a zero has no sign, so that equal columns are equal to the bit
    order, alike = _places([one.T for one in Z], _units(data))
    moved = [Z[which, np.arange(p)].T for which in order[:, _units(data)]]
    return moved, order, alike


def _places(Z: list[Array], unit: IntArray) -> tuple[IntArray, BoolArray]:
    """Return the lexicographic order of the versions of each unit, and which of them are alike.

    Columns of a unit are compared one after another, and each from its first row on.

    Parameters
    ----------
    Z : list of V arrays of shape (n, p)
        Versions.
    unit : array of int, shape (p,)
    """
    _, first = np.unique(unit, return_index=True)
    head = np.stack([one[0, first] for one in Z])
    order = np.argsort(head, axis=0, kind="stable")
    ranked = np.take_along_axis(head, order, axis=0)
    alike = np.zeros(order.shape, dtype=bool)
    for number in np.flatnonzero(np.any(ranked[1:] == ranked[:-1], axis=0)):
        part = np.stack([one[:, unit == number].T.ravel() for one in Z])
        where = np.flatnonzero(np.any(part[1:] != part[0], axis=0))
        values = part[:, where[:1] if len(part) == 2 else where].tolist()
        order[:, number] = sorted(range(len(values)), key=values.__getitem__)
        arranged = [values[k] for k in order[:, number]]
        alike[1:, number] = [a == b for a, b in zip(arranged[1:], arranged[:-1], strict=True)]
    return order, alike


def _predictors(data: Data, versions: list[Array]) -> Array:
    """Return the predictors of all rows, by a cross-validated lasso on all versions."""
    X = np.asfortranarray(np.concatenate(versions, axis=1))
    both = data._replace(
        X=X, varies=np.asarray(X.any(axis=0)), x_scale=np.ones(X.shape[1]), l1_ratio=1.0,
        variable=None, member=None, imputation=None,
    )  # fmt: skip
    if not both.varies.any():
        return null_predictors(data, data.weight)
    found = cross_validate(both, np.random.default_rng(_FOLDS_SEED), n_folds=_FOLDS)
    penalty = found.penalties[found.best : found.best + 1]
    fit = fit_members(both, penalty, np.ones((1, data.n_rows)), whole=True)
    assert fit.coef is not None
    coef, p = fit.coef[0, 0], X.shape[1]
    kept = 0.0 if data.keep is None else data.keep @ coef[p:]
    return np.asarray(X @ coef[:p] + kept + fit.intercept[0, 0])


def _surrogates(data: Data, eta: Array) -> list[tuple[Array, Array, Array]]:
    """Return predictors, slopes and curvatures of the rows at a fit, for each response."""
    slope = data.loss.gradient(data.y, data.weight, eta)
    if not data.loss.several:
        curvature = data.loss.majorant(data.y, data.weight, eta)
        if data.loss.noisy:
            curvature = data.weight * (curvature.sum() / data.weight.sum())
        return [(eta, slope, curvature)]
    share = np.exp(eta - eta.max(axis=-1, keepdims=True))
    share /= share.sum(axis=-1, keepdims=True)
    curvature = data.weight[:, None] * share * (1.0 - share)
    return [(eta[:, k], slope[:, k], curvature[:, k]) for k in range(slope.shape[1])]


def _unpenalised(data: Data) -> Array:
    """Return a constant, and the columns without a penalty, (n, 1 + k)."""
    constant = np.ones((data.n_rows, 1))
    return constant if data.keep is None else np.concatenate([constant, data.keep], axis=1)


def _orthonormal(columns: Array) -> Array:
    """Return an orthonormal basis of what columns span, without those that depend on others."""
    left, size, _ = np.linalg.svd(columns, full_matrices=False)
    return np.ascontiguousarray(left[:, size > _DEPENDENT * size.max(initial=0.0)])


def _without(columns: Array, basis: Array) -> Array:
    """Return columns with what lies in the span of a basis taken away, stored by columns."""
    rest = (columns.T @ basis) @ -basis.T
    rest += columns.T
    before, after = (np.einsum("cn,cn->c", part, part) for part in (columns.T, rest))
    rest[after <= _NOTHING**2 * before] = 0.0
    return rest.T
