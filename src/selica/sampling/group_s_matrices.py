r"""How far the copies of whole groups may be from their originals: the block diagonal matrix S.

Copies of groups have to be exchangeable with the columns only where whole groups trade places, so
that :math:`\mathrm{Cov}(X, \tilde X) = \Sigma - S` with a full block of S for each group (Dai and
Barber 2016). With m copies that are exchangeable with the columns and with each other, the joint
covariance is :math:`\Sigma` in the diagonal blocks and :math:`\Sigma - S` off them (Gimenez and
Zou 2019). Its spectrum is that of S, m times, and that of :math:`(m + 1)\Sigma - mS`, once:

.. math:: S \succeq 0, \qquad A = \tfrac{m + 1}{m}\Sigma - S \succeq 0 .

All methods work on the correlation matrix and scale back. Those with an interior optimum are solved
by Newton steps. The Hessian is never formed: its product with a block diagonal matrix D needs
:math:`(A^{-1} D A^{-1})_{GG}` only, and conjugate gradients, preconditioned group by group, find
the step.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np
from scipy.linalg import eigvalsh, lapack

from selica._core.errors import RefusedError
from selica._core.types import Array, IntArray
from selica._core.validation import choice, count
from selica.sampling.checks import group_labels, standardised
from selica.sampling.s_matrices import warn_of_gap

GROUP_METHODS = ("maxent", "mvr", "equi")
"""How S of groups can be chosen."""
_MAX_NEWTON = 100
"""Newton steps at most."""
_MAX_CONJUGATE = 300
"""Conjugate gradients for a step at most."""
_HALVINGS = 60
"""Halvings of a step at most."""
_DECREASE = 1e-4
"""Share of the promised decrease that a step has to bring."""
_GRADIENT = 1e-9
"""Projected gradient, relative to its parts, at which the iteration ends."""
_PROMISED_GAP = 1e-8
"""Relative gap of the objective up to which S counts as optimal."""
_SMALLEST_GAP = 1e-11
"""Gap that double precision may be unable to close: the gradient then has to halve."""
_LOOSEST = 0.1
"""Relative residual at which conjugate gradients stop, at most."""
_ROUNDING = 1e-12
"""Relative decrease of the objective that rounding hides."""


def group_s_matrix(covariance: Any, groups: Any, method: str = "maxent", n_joint: int = 1) -> Array:
    r"""Return the block diagonal matrix S of Gaussian knockoffs of groups of variables.

    Parameters
    ----------
    covariance : array of shape (p, p)
        Covariance of the variables; positive definite.
    groups : array of int, shape (p,)
        Variables with the same number belong to one group.
    method : {"maxent", "mvr", "equi"}
        With m = `n_joint` and :math:`A = \frac{m + 1}{m}\Sigma - S`:

        - "maxent": maximum entropy, the largest :math:`\log\det A + m\log\det S`; it does not
          depend on how the variables of a group are combined with each other.
        - "mvr": minimum variance-based reconstructability, the smallest
          :math:`\mathrm{Tr}\,A^{-1} + m^2\,\mathrm{Tr}\,S^{-1}`.
        - "equi": :math:`S_{GG} = \gamma\Sigma_{GG}` with the largest possible :math:`\gamma \le 1`,
          the same for all groups.
    n_joint : int
        Number m of copies that are exchangeable with the variables and with each other.

    Returns
    -------
    array of shape (p, p)
        S; entries between variables of different groups are zero. With groups of one variable
        each, and one copy, its diagonal is that of `s_matrix`.

    Warns
    -----
    ConvergenceWarning
        If the objective is not within a relative 1e-8 of its optimum.

    Examples
    --------
    >>> import numpy as np
    >>> from selica.sampling import group_s_matrix
    >>> covariance = 0.5 ** np.abs(np.subtract.outer(range(4), range(4)))
    >>> group_s_matrix(covariance, [0, 0, 1, 1]).round(4)
    array([[0.9085, 0.317 , 0.    , 0.    ],
           [0.317 , 0.634 , 0.    , 0.    ],
           [0.    , 0.    , 0.634 , 0.317 ],
           [0.    , 0.    , 0.317 , 0.9085]])
    """
    method = check_group_method(method)
    sd, correlation, _ = standardised("covariance", covariance)
    labels = group_labels(groups, sd.size)
    return unit_group_s(correlation, labels, method, count("n_joint", n_joint)) * np.outer(sd, sd)


def check_group_method(method: object, name: str = "method") -> str:
    """Return `method` if S of groups, or of several joint copies, can be chosen by it."""
    return choice(name, method, GROUP_METHODS)


def unit_group_s(correlation: Array, labels: IntArray, method: str, n_joint: int) -> Array:
    """Return S for a correlation matrix; warn if it is not optimal.

    Parameters
    ----------
    correlation : array of shape (p, p)
    labels : array of int, shape (p,)
        Numbers of the groups from zero on.
    method : one of GROUP_METHODS
    n_joint : int
    """
    blocks = DiagonalBlocks(labels)
    ordered = correlation[np.ix_(blocks.order, blocks.order)]
    within = blocks.of(ordered)
    roots = _roots(blocks, within)
    edge = _largest_share(ordered, blocks, roots, n_joint)
    if method == "equi":
        best = min(1.0, edge) * within
    else:
        # half of what is possible: well inside the feasible set
        start = 0.5 * min(1.0, edge) * within
        scaled = (n_joint + 1.0) / n_joint * ordered
        best, gap = _minimise(scaled, blocks, start, _GroupMaxEnt(n_joint))
        if method == "mvr":
            # maximum entropy does not mind directions that hardly vary, and is never far off
            best, gap = _minimise(scaled, blocks, best, _GroupMVR(n_joint))
        warn_of_gap(gap, _PROMISED_GAP)
    S = np.zeros_like(correlation)
    S[np.ix_(blocks.order, blocks.order)] = blocks.matrix(best)
    return S


class DiagonalBlocks:
    """The diagonal blocks of a matrix whose columns are ordered by group, smallest groups first.

    The blocks are one vector, so that they can be added and multiplied like one; `parts` shows them
    as matrices, those of the same size as one array.

    Parameters
    ----------
    labels : array of int, shape (p,)
        Numbers of the groups from zero on.

    Attributes
    ----------
    order : array of int, shape (p,)
        Columns in the order in which groups lie side by side.

    Examples
    --------
    >>> import numpy as np
    >>> from selica.sampling.group_s_matrices import DiagonalBlocks
    >>> blocks = DiagonalBlocks(np.array([0, 1, 0]))
    >>> blocks.order.tolist()
    [1, 0, 2]
    >>> [part.tolist() for part in blocks.parts(blocks.of(np.eye(3)))]
    [[[[1.0]]], [[[1.0, 0.0], [0.0, 1.0]]]]
    """

    def __init__(self, labels: IntArray) -> None:
        sizes = np.bincount(labels)
        self.order: IntArray = np.lexsort((np.arange(labels.size), labels, sizes[labels]))
        self._ranges: list[tuple[int, int, int]] = []
        """(first column, number of groups, their size), for each size of groups."""
        first = 0
        for size in np.unique(sizes):
            number = int(np.count_nonzero(sizes == size))
            self._ranges.append((first, number, int(size)))
            first += number * int(size)
        self._ends = np.cumsum([number * size**2 for _, number, size in self._ranges])[:-1]

    def parts(self, vector: Array) -> list[Array]:
        """Return the blocks as arrays (groups, size, size), one for each size."""
        return [
            part.reshape(number, size, size)
            for part, (_, number, size) in zip(
                np.split(vector, self._ends), self._ranges, strict=True
            )
        ]

    def joined(self, parts: list[Array]) -> Array:
        """Return blocks as one vector, made symmetric."""
        return np.concatenate([(0.5 * (part + part.mT)).ravel() for part in parts])

    def of(self, matrix: Array) -> Array:
        """Return the diagonal blocks of a symmetric matrix, columns in the order of the groups."""
        return self.joined([self._cut(matrix, *place) for place in self._ranges])

    @staticmethod
    def _cut(matrix: Array, first: int, number: int, size: int) -> Array:
        """Return some of the diagonal blocks, (groups, size, size)."""
        part = matrix[first : first + number * size, first : first + number * size]
        each = np.arange(number)
        return part.reshape(number, size, number, size)[each, :, each, :]

    def matrix(self, vector: Array) -> Array:
        """Return the matrix with these blocks, and zeros elsewhere."""
        whole = np.zeros((self.order.size, self.order.size))
        for (first, number, size), part in zip(self._ranges, self.parts(vector), strict=True):
            rows = first + np.arange(number * size).reshape(number, size)
            whole[rows[:, :, None], rows[:, None, :]] = part
        return whole

    def times(self, vector: Array, matrix: Array) -> Array:
        """Return the product of the block diagonal matrix with another one."""
        out = np.empty_like(matrix)
        for (first, number, size), part in zip(self._ranges, self.parts(vector), strict=True):
            rows = slice(first, first + number * size)
            lines = matrix[rows].reshape(number, size, -1)
            out[rows] = (part @ lines).reshape(number * size, -1)
        return out

    def product(self, left: Array, right: Array) -> Array:
        """Return the diagonal blocks of the product of two matrices, and only these."""
        found = []
        for first, number, size in self._ranges:
            rows = slice(first, first + number * size)
            lines = left[rows].reshape(number, size, -1)
            columns = right[:, rows].reshape(-1, number, size).transpose(1, 0, 2)
            found.append(lines @ columns)
        return self.joined(found)


class _State(NamedTuple):
    """A feasible S, and what follows from it."""

    S: Array
    """DiagonalBlocks."""
    roots: list[Array]
    """Lower triangular roots of the blocks."""
    M: Array
    """A^-1."""
    logdet: float
    """log det A."""


class _GroupObjective(Protocol):
    """A convex function of the blocks of S."""

    def value(self, state: _State) -> float: ...
    def size(self, value: float, p: int) -> float: ...
    def gradient(self, state: _State, blocks: DiagonalBlocks) -> tuple[Array, float]: ...
    def curvature(self, state: _State, blocks: DiagonalBlocks) -> Callable[[Array], Array]: ...
    def preconditioner(self, state: _State, blocks: DiagonalBlocks) -> Callable[[Array], Array]: ...


class _GroupMaxEnt:
    """-log det A - m log det S."""

    def __init__(self, m: int) -> None:
        self.m = float(m)

    def value(self, state: _State) -> float:
        """Return the objective."""
        return -state.logdet - self.m * _logdet(state.roots)

    def size(self, value: float, p: int) -> float:
        """Return the unit of a gap: entropy has no zero, so that it is counted by columns."""
        return float(p)

    def gradient(self, state: _State, blocks: DiagonalBlocks) -> tuple[Array, float]:
        """Return M_GG - m S_G^-1, and the largest entry of its second part."""
        part = self.m * blocks.joined([_inverse(root) for root in state.roots])
        return blocks.of(state.M) - part, float(np.abs(part).max())

    def curvature(self, state: _State, blocks: DiagonalBlocks) -> Callable[[Array], Array]:
        """Return D -> (M D M)_GG + m S^-1 D S^-1."""
        inverses = [_inverse(root) for root in state.roots]

        def apply(D: Array) -> Array:
            own = [i @ d @ i for i, d in zip(inverses, blocks.parts(D), strict=True)]
            moved = blocks.product(state.M, blocks.times(D, state.M))
            return moved + self.m * blocks.joined(own)

        return apply

    def preconditioner(self, state: _State, blocks: DiagonalBlocks) -> Callable[[Array], Array]:
        """Return the inverse of D -> M_GG D M_GG + m S^-1 D S^-1, in a basis common to both."""
        bases, scales = [], []
        for root, M in zip(state.roots, blocks.parts(blocks.of(state.M)), strict=True):
            d, U = np.linalg.eigh(root.mT @ M @ root)
            bases.append(root @ U)
            scales.append(1.0 / (d[:, :, None] * d[:, None, :] + self.m))
        return _in_bases(blocks, bases, scales)


class _GroupMVR:
    """Tr A^-1 + m^2 Tr S^-1."""

    def __init__(self, m: int) -> None:
        self.square = float(m) ** 2

    def value(self, state: _State) -> float:
        """Return the objective."""
        own = sum(float(np.trace(_inverse(root), axis1=1, axis2=2).sum()) for root in state.roots)
        return float(np.trace(state.M)) + self.square * own

    def size(self, value: float, p: int) -> float:
        """Return the unit of a gap."""
        return value

    def gradient(self, state: _State, blocks: DiagonalBlocks) -> tuple[Array, float]:
        """Return (M^2)_GG - m^2 S_G^-2, and the largest entry of its second part."""
        inverses = [_inverse(root) for root in state.roots]
        part = self.square * blocks.joined([i @ i for i in inverses])
        return blocks.product(state.M, state.M) - part, float(np.abs(part).max())

    def curvature(self, state: _State, blocks: DiagonalBlocks) -> Callable[[Array], Array]:
        """Return D -> (M D M^2 + M^2 D M)_GG + m^2 (S^-1 D S^-2 + S^-2 D S^-1)."""
        M, inverses = state.M, [_inverse(root) for root in state.roots]
        squared, squares = M @ M, [i @ i for i in inverses]

        def apply(D: Array) -> Array:
            own = [
                2.0 * i @ d @ i2
                for i, d, i2 in zip(inverses, blocks.parts(D), squares, strict=True)
            ]  # half of it is its transpose: `joined` symmetrises
            moved = 2.0 * blocks.product(M, blocks.times(D, squared))
            return moved + self.square * blocks.joined(own)

        return apply

    def preconditioner(self, state: _State, blocks: DiagonalBlocks) -> Callable[[Array], Array]:
        """Return the inverse of the diagonal of the curvature, in the eigenvectors of S_G."""
        bases, scales = [], []
        M, squared = blocks.of(state.M), blocks.product(state.M, state.M)
        for root, one, two in zip(state.roots, blocks.parts(M), blocks.parts(squared), strict=True):
            s, U = np.linalg.eigh(root @ root.mT)
            a = np.einsum("kji,kjl,kli->ki", U, one, U)
            b = np.einsum("kji,kjl,kli->ki", U, two, U)
            mixed = a[:, :, None] * b[:, None, :] + self.square / (s[:, :, None] * s[:, None] ** 2)
            bases.append(U)
            scales.append(1.0 / (mixed + mixed.mT))
        return _in_bases(blocks, bases, scales)


def _in_bases(
    blocks: DiagonalBlocks, bases: list[Array], scales: list[Array]
) -> Callable[[Array], Array]:
    """Return D -> V ((V' D V) * scale) V', group by group."""

    def apply(D: Array) -> Array:
        return blocks.joined(
            [
                V @ ((V.mT @ d @ V) * scale) @ V.mT
                for V, d, scale in zip(bases, blocks.parts(D), scales, strict=True)
            ]
        )

    return apply


def _minimise(
    Sigma: Array, blocks: DiagonalBlocks, S: Array, objective: _GroupObjective
) -> tuple[Array, float]:
    """Return the optimal blocks, and the relative gap of the objective.

    Half the Newton decrement estimates how far the objective is above its minimum.

    Parameters
    ----------
    Sigma : array of shape (p, p)
        (m + 1)/m times the correlation, columns in the order of the blocks.
    blocks : DiagonalBlocks
    S : array
        Diagonal blocks of a feasible S.
    objective : _GroupObjective
    """
    state = _state(Sigma, blocks, S)
    if state is None:  # rounding, at the very edge of what counts as positive definite
        raise RefusedError("The covariance must be positive definite; 2 Sigma - S is not.")
    value = objective.value(state)
    gap, last = np.inf, np.inf
    for _ in range(_MAX_NEWTON):
        gradient, scale = objective.gradient(state, blocks)
        relative = float(np.abs(gradient).max()) / scale
        if relative <= _GRADIENT or (gap <= _SMALLEST_GAP and relative > 0.5 * last):
            return state.S, 0.0 if relative <= _GRADIENT else gap
        last = relative
        step = _conjugate_gradients(
            objective.curvature(state, blocks), -gradient,
            objective.preconditioner(state, blocks), min(_LOOSEST, relative),
        )  # fmt: skip
        slope = float(gradient @ step)
        gap = -0.5 * slope / objective.size(value, len(Sigma))
        found = _line_search(Sigma, blocks, state, step, value, slope, objective)
        if found is None:
            break
        state, value = found
    return state.S, gap


def _conjugate_gradients(
    curvature: Callable[[Array], Array],
    right: Array,
    precondition: Callable[[Array], Array],
    tolerance: float,
) -> Array:
    """Return the step that solves curvature(step) = right, to a relative residual."""
    step, left = np.zeros_like(right), right
    natural = precondition(left)
    direction, size = natural, float(left @ natural)
    enough = tolerance**2 * size
    for _ in range(_MAX_CONJUGATE):
        curved = curvature(direction)
        length = size / float(direction @ curved)
        step = step + length * direction
        left = left - length * curved
        natural = precondition(left)
        size, last = float(left @ natural), size
        if size <= enough:
            break
        direction = natural + size / last * direction
    return step


def _line_search(
    Sigma: Array,
    blocks: DiagonalBlocks,
    state: _State,
    step: Array,
    value: float,
    slope: float,
    objective: _GroupObjective,
) -> tuple[_State, float] | None:
    """Return the first of 1, 1/2, 1/4, ... of the step that lowers the objective."""
    noise = _ROUNDING * max(abs(value), 1.0)
    for k in range(_HALVINGS):
        length = 0.5**k
        trial = _state(Sigma, blocks, state.S + length * step)
        if trial is None:
            continue
        new = objective.value(trial)
        if new <= value + _DECREASE * length * slope + noise:
            return trial, new
    return None


def _state(Sigma: Array, blocks: DiagonalBlocks, S: Array) -> _State | None:
    """Return what follows from S; None if it is not feasible."""
    try:
        roots = _roots(blocks, S)
    except np.linalg.LinAlgError:
        return None
    A = Sigma - blocks.matrix(S)
    root, failed = lapack.dpotrf(A, lower=1, overwrite_a=1)
    if failed:
        return None
    logdet = 2.0 * float(np.sum(np.log(root.diagonal())))
    M, failed = lapack.dpotri(root, lower=1, overwrite_c=1)
    if failed or not np.isfinite(logdet):
        return None
    M = np.tril(M)
    return _State(S, roots, M + np.tril(M, -1).T, logdet)


def _largest_share(correlation: Array, blocks: DiagonalBlocks, roots: list[Array], m: int) -> float:
    """Return the largest gamma for which S_G = gamma Sigma_GG leaves A semidefinite."""
    inverse = np.concatenate([np.linalg.inv(root).ravel() for root in roots])
    half = blocks.times(inverse, correlation)
    return (m + 1.0) / m * float(eigvalsh(blocks.times(inverse, half.T))[0])


def _roots(blocks: DiagonalBlocks, vector: Array) -> list[Array]:
    """Return lower triangular roots of positive definite blocks."""
    return [np.asarray(np.linalg.cholesky(part), dtype=float) for part in blocks.parts(vector)]


def _inverse(root: Array) -> Array:
    """Return the inverses of matrices of which these are the roots."""
    upper = np.linalg.inv(root)
    return np.asarray(upper.mT @ upper)


def _logdet(roots: list[Array]) -> float:
    """Return the log determinant of the block diagonal matrix with these roots."""
    return 2.0 * float(sum(np.log(np.diagonal(root, axis1=1, axis2=2)).sum() for root in roots))
