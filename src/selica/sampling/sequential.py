r"""Copies of mixed tables, one column after the other: sequential conditional independent pairs.

Copy :math:`\tilde X_j` is drawn from the distribution of :math:`X_j` given all other columns and
the copies :math:`\tilde X_1, \dots, \tilde X_{j-1}` that are there already, independently of
:math:`X_j` itself. With the true conditional distributions these are knockoffs, for columns of any
kind and in any order (Candes, Fan, Janson and Lv 2018, algorithm 1). To draw every copy given
the columns alone is not enough: the copies would not be exchangeable together.

The conditional distributions are fitted here, one model for each kind of variable (after
Kormaksson, Kelly, Zhu, Haemmerle, Pricop and Ohlssen 2021). They are functions of columns and
copies and the same for all copies of a table, so they are fitted once, with one copy that nobody
else sees; all others cost a product of matrices each. A second such copy, to which nothing is
fitted, sets what must be right for copies to come: variances of residuals and frequencies of
classes.

A residual variance is what the variance of the column leaves beside that of the fit. The unbiased
variance of the residuals would be wrong here: the fit of these rows has learned a part of the
noise, and of a ridge it is too flat, and only the sum of both must be the variance of the column.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from selica._core.errors import ArgumentError
from selica._core.losses import Loss
from selica._core.memory import check_memory
from selica._core.random import RandomState
from selica._core.types import Array, IntArray
from selica._core.validation import choice, matrix
from selica.sampling.checks import column_mean, row_shares
from selica.sampling.conditional_draws import (
    Draw,
    LevelsOfFactor,
    NormalResiduals,
    ResampledResiduals,
    ResampledValues,
    TwoValues,
)
from selica.sampling.conditional_models import GrowingColumns, best_ridges, calibrated
from selica.sampling.copies import Copies, draw_copies
from selica.sampling.kinds import BINARY, CONSTANT, CONTINUOUS, FACTOR, Variable, variables_of
from selica.sampling.sampler import Doubt, Sampler

RESIDUALS = ("resampled", "normal")
"""How residuals of continuous columns are drawn."""
RARE_LEVEL = 5
"""Levels of a factor with fewer rows than this share one class of its model."""
_RIDGE_SHARE = 0.5
"""Share of the ridge that predicts best: predictions gain by shrinking, but correlations with the
copies must be those of the column."""
_SMALLEST_VARIANCE = 1e-6
"""Of a residual, as a share of the variance of the column: other columns determine it."""
_TOGETHER = 48
"""Variables whose dependence on copies before them is one product of matrices."""
_BYTES = 80.0
"""Memory for the models, for each pair of columns."""


class Step(NamedTuple):
    """What is drawn in one step."""

    draw: Draw
    columns: IntArray
    """Of the variable."""
    sets: slice
    """Of its coefficients."""


class Law(NamedTuple):
    """The fitted conditional distributions, for standardised columns."""

    mean: Array
    scale: Array
    own: Array
    """(p, sets): coefficients of the columns."""
    copied: Array
    """(p, sets): coefficients of their copies; zero for later ones."""
    constant: Array
    """(sets,)"""
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class OneAfterTheOther:
    """Copies by conditional distributions, given the columns."""

    base: Array
    """(n, sets): what the models say by the columns alone."""
    law: Law

    @property
    def shape(self) -> tuple[int, int]:
        """(n, p) of a copy."""
        return self.base.shape[0], self.law.mean.size

    def draw(self, rng: np.random.Generator) -> Array:
        """Draw one copy, columns contiguous in memory."""
        n, p = self.shape
        Z, index = np.zeros((n, p), order="F"), self.base.copy(order="F")
        for start in range(0, len(self.law.steps), _TOGETHER):
            steps = self.law.steps[start : start + _TOGETHER]
            sets = slice(steps[0].sets.start, steps[-1].sets.stop)
            if start:
                index[:, sets] += Z @ self.law.copied[:, sets]
            columns = np.concatenate([step.columns for step in steps])
            part, done = np.zeros((n, columns.size), order="F"), 0
            for step in steps:
                line = index[:, step.sets]
                if done:
                    line = line + part[:, :done] @ self.law.copied[columns[:done], step.sets]
                own = slice(done, done + step.columns.size)
                part[:, own] = step.draw.draw(line, rng.random(n))
                done = own.stop
            Z[:, columns] = part
        Z *= self.law.scale
        Z += self.law.mean
        return Z


class SequentialKnockoffs(Sampler):
    """Knockoffs of columns of mixed kinds, each drawn by a model of it given the others.

    A continuous column is a linear function of the other columns and of the copies drawn before,
    plus a residual; a column of two values follows a logistic regression; a count, or another
    column of few values, takes the value of a row with a similar linear function; the indicators
    of a factor follow a multinomial regression, and a copy is one level in each row. A constant
    column is its own copy.

    Parameters
    ----------
    residuals : {"resampled", "normal"}
        Of continuous columns: those of other rows, which keeps a skewed column skewed, or normal
        numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from selica.sampling import SequentialKnockoffs
    >>> rng = np.random.default_rng(0)
    >>> age = rng.normal(60.0, 10.0, 200)
    >>> ill = (rng.random(200) < 1.0 / (1.0 + np.exp(-(age - 60.0) / 5.0))).astype(float)
    >>> X = np.column_stack([age, ill, rng.poisson(3.0, 200)])
    >>> copy = SequentialKnockoffs().fit(X).sample(X, random_state=1)
    >>> np.unique(copy[:, 1]).tolist(), bool(np.isin(copy[:, 2], X[:, 2]).all())
    ([0.0, 1.0], True)
    """

    assumption = (
        "the models of each predictor given the others, which are fitted here, are close to the "
        "truth"
    )
    exact = False
    mismatch = ""

    def __init__(self, residuals: str = "resampled") -> None:
        self.residuals = choice("residuals", residuals, RESIDUALS)
        self._variable: ArrayLike | None = None
        self._law: Law | None = None

    def with_variables(self, variable: ArrayLike | None) -> SequentialKnockoffs:
        """Return a sampler that knows which columns belong together; see `Sampler`.

        Examples
        --------
        >>> import numpy as np
        >>> from selica.sampling import SequentialKnockoffs
        >>> level = np.random.default_rng(0).integers(3, size=60)
        >>> X = np.eye(3)[level][:, 1:]  # the first level is the reference
        >>> copy = SequentialKnockoffs().with_variables([0, 0]).fit(X).sample(X, random_state=1)
        >>> bool((copy.sum(axis=1) <= 1).all())
        True
        """
        made = copy(self)
        made._variable = variable
        return made

    def needs(self, rows: int, columns: int, loss: Loss) -> None:
        """Check that the models fit into the memory; see `Sampler.needs`."""
        super().needs(rows, columns, loss)
        check_memory(
            f"models of {columns:,} columns", _BYTES * columns * (columns + 0.5 * rows),
            "use stability selection, or leave columns out",
        )  # fmt: skip

    def fit(self, X: ArrayLike, sample_weight: ArrayLike | None = None) -> SequentialKnockoffs:
        """Return a sampler with the models fitted to X; this object stays as it is.

        Parameters
        ----------
        X : array of shape (n, p)
            Independent rows; they need no response.
        sample_weight : array of shape (n,), optional
            Weights of the rows.
        """
        table = matrix("X", X)
        share = row_shares(sample_weight, len(table))
        rows = np.flatnonzero(share)
        found = variables_of(table[rows], self._variable)
        variables = [one for one in found if one.kind != CONSTANT]
        fitted = copy(self)
        fitted._law = _Models(table[rows], share[rows], rows, self.residuals).fitted(variables)
        return fitted

    def copies(self, X: ArrayLike, random_state: RandomState | None, members: Any) -> Copies:
        """Return knockoff copies of X for these members; see `Sampler.copies`."""
        law = self._known()
        table = matrix("X", X, columns=law.mean.size)
        base = ((table - law.mean) / law.scale) @ law.own + law.constant
        return draw_copies(OneAfterTheOther(base, law), random_state, members)

    def doubts(self, X: Array) -> list[Doubt]:
        """Return that there are few rows for so many columns, where it is so."""
        n, p = X.shape
        if n >= p:
            return []
        return [Doubt(f"the models of {p} columns are fitted to {n} rows only")]

    @property
    def centre(self) -> Any:
        """Mean of the columns."""
        return None if self._law is None else self._law.mean

    def _known(self) -> Law:
        if self._law is None:
            raise ArgumentError("The models are not known yet: call fit(X) first.")
        return self._law

    def __repr__(self) -> str:
        return f"SequentialKnockoffs(residuals={self.residuals!r})"


class Classes(NamedTuple):
    """A variable with two values, or with levels, as classes of a model."""

    levels: Array
    """(n, K): 1 at the class of each row; one column for two values."""
    draw: Draw


@dataclass(frozen=True, slots=True)
class _Models:
    """What all models are fitted to."""

    table: Array
    """(n, p): rows with a weight."""
    share: Array
    """(n,): of the rows."""
    rows: IntArray
    """(n,): which rows of the whole table they are."""
    residuals: str

    def fitted(self, variables: Sequence[Variable]) -> Law:
        """Fit the model of each variable given all others and the copies before it."""
        p, mean, share = self.table.shape[1], column_mean(self.table, self.share), self.share
        scale = _scales(self.table - mean, share, variables)
        if not variables:
            none = np.zeros((p, 0))
            return Law(mean, scale, none, none, np.zeros(0), ())
        varies = np.concatenate([one.columns for one in variables])
        place = np.empty(p, dtype=np.intp)
        place[varies] = np.arange(varies.size)
        own = [place[one.columns] for one in variables]
        Z = np.asarray((self.table - mean) / scale)[:, varies]
        classes = [_classes(one, Z[:, part]) for one, part in zip(variables, own, strict=True)]
        sets = np.cumsum([0, *(1 if one is None else one.levels.shape[1] for one in classes)])
        slopes = np.zeros((2, p, sets[-1]))
        law = Law(mean, scale, slopes[0], slopes[1], np.zeros(sets[-1]), ())
        ridges = _RIDGE_SHARE * best_ridges(Z, share, own)
        columns = GrowingColumns(Z, share, float(np.exp(np.log(ridges).mean())), 2 * varies.size)
        # the same columns with the copy to which nothing is fitted
        unseen = np.zeros((len(Z), 2 * varies.size), order="F")
        unseen[:, : varies.size] = Z
        rng, steps = _generator_of(self.table), []
        for number, one in enumerate(variables):
            size, part = columns.size, slice(int(sets[number]), int(sets[number + 1]))
            found, ridge = classes[number], float(ridges[number])
            draw: Draw
            if found is None:
                column = int(own[number][0])
                fit = columns.linear(column, ridge)
                line = unseen[:, :size] @ fit.coef[:, 0]
                draw = self._number(Z[:, column], line, one.kind == CONTINUOUS)
            else:
                fit = columns.classes(own[number], found.levels, ridge)
                fit = calibrated(fit, unseen[:, :size] @ fit.coef, found.levels, share)
                draw = found.draw
            law.own[varies, part] = fit.coef[: varies.size]
            law.copied[varies[: size - varies.size], part] = fit.coef[varies.size :]
            law.constant[part] = fit.constant
            steps.append(Step(draw, one.columns, part))
            index = unseen[:, :size] @ fit.coef + fit.constant
            unseen[:, size : size + one.columns.size] = draw.draw(index, rng.random(len(Z)))
            columns.add(draw.draw(columns.Z @ fit.coef + fit.constant, rng.random(len(Z))))
        return law._replace(steps=tuple(steps))

    def _number(self, column: Array, line: Array, continuous: bool) -> Draw:
        """Return how a number is drawn given its fit.

        Parameters
        ----------
        column, line : arrays of shape (n,)
            Standardised column, and its fit by columns and the copy to which nothing is fitted.
        continuous : bool
        """
        if not continuous:
            order = np.argsort(line, kind="stable")
            return ResampledValues(column[order], self.rows[order])
        share = self.share
        variance = float(share @ column**2 - share @ line**2)
        sd = float(np.sqrt(max(variance, _SMALLEST_VARIANCE)))
        if self.residuals == "normal":
            return NormalResiduals(sd)
        rest = column - line
        rest = rest - share @ rest
        size = float(np.sqrt(share @ rest**2))
        return ResampledResiduals(rest * (sd / size if size > 0.0 else 0.0), np.cumsum(share))


def _generator_of(table: Array) -> np.random.Generator:
    """Return a generator for the copies that models are fitted with.

    It follows from the table alone, and is another for every table.
    """
    digest = sha256(np.ascontiguousarray(table).tobytes()).digest()
    return np.random.default_rng(list(digest))


def _scales(centred: Array, share: Array, variables: Sequence[Variable]) -> Array:
    """Return the standard deviations of the columns, the same for all of a factor."""
    square = share @ centred**2
    scale = np.ones(square.size)
    for one in variables:
        scale[one.columns] = np.sqrt(square[one.columns].mean())
    return scale


def _classes(one: Variable, own: Array) -> Classes | None:
    """Return a variable with two values or with levels as classes; None for a number."""
    if one.kind == BINARY:
        low, high = float(own.min()), float(own.max())
        return Classes((own == high).astype(float), TwoValues(low, high))
    if one.kind != FACTOR:
        return None
    indicators, level, many = np.unique(own, axis=0, return_inverse=True, return_counts=True)
    rare = many < RARE_LEVEL
    group = np.cumsum(~rare) - 1
    group[rare] = np.count_nonzero(~rare)
    within = many / np.bincount(group, weights=many)[group]
    levels = (group[level.ravel(), None] == np.arange(group.max() + 1)).astype(float)
    return Classes(levels, LevelsOfFactor(indicators, group, within))
