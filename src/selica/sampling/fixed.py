r"""Knockoffs of a fixed design (Barber and Candes 2015).

For :math:`G = X'X` and :math:`n \ge 2p` the copy is :math:`\tilde X = X(I - G^{-1}S) + UC` with
:math:`U'U = I`, :math:`U'X = 0` and :math:`C'C = 2S - SG^{-1}S`, so that
:math:`\tilde X'\tilde X = G` and :math:`X'\tilde X = G - S`. Nothing is assumed of the rows of X;
the response must be linear in X with independent Gaussian noise of one variance.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import lstsq, qr

from selica._core.errors import ArgumentError, ColumnError, RefusedError
from selica._core.losses import Loss, require
from selica._core.random import ROWS, RandomState, child, seed_sequence
from selica._core.types import Array
from selica._core.validation import count, flag, matrix, real, single
from selica._core.warning import warn
from selica.sampling.checks import column_mean, row_shares, standardised, varying
from selica.sampling.copies import Copies, draw_copies
from selica.sampling.knockoffs import check_copies_fit, conditional
from selica.sampling.s_matrices import check_method
from selica.sampling.sampler import Sampler

ROTATIONS = 0
"""Seed of the bases U of copies that are not randomized: the same for every table of a size."""


class AugmentationWarning(UserWarning):
    """Rows with simulated responses were added to the data."""


class FixedKnockoffs(Sampler):
    """Knockoffs of a fixed design with at least as many rows as columns.

    Parameters
    ----------
    method : {"equi", "mvr", "maxent", "sdp"}
        How S is chosen for G = X'X, see `s_matrix`. "sdp" leaves some columns of correlated tables
        nearly equal to their copies: it selected nothing with 19 of 40 rotations where "equi" never
        did (docs/samplers.md).
    intercept : bool
        Whether the model of the response has an intercept. S is then that of the centred
        columns, and the copies have the column means of X, so that centring the columns and the
        response afterwards changes nothing. It costs one row: n >= 2p + 1.
    randomized : bool
        Whether U, a rotation that the theorem leaves free, is drawn with the seed of the selection.
        By default it depends on the numbers of rows and columns and on the number of the copy
        alone, so that two people who select from the same table select the same.

    Examples
    --------
    >>> import numpy as np
    >>> from selica.sampling import FixedKnockoffs, s_matrix
    >>> X = np.random.default_rng(0).standard_normal((20, 4))
    >>> copies = FixedKnockoffs().copies(X, random_state=1, members=3)
    >>> copies.shape
    (3, 20, 4)
    >>> G = X.T @ X
    >>> bool(np.allclose(copies[0].T @ copies[0], G))
    True
    >>> bool(np.allclose(X.T @ copies[2], G - np.diag(s_matrix(G, "equi"))))
    True
    """

    assumption = "the response is a linear function of the predictors with normal noise"
    exchangeable = False
    any_statistic = False

    def __init__(
        self, method: str = "equi", *, intercept: bool = False, randomized: bool = False
    ) -> None:
        self.method = check_method(method)
        self.intercept = flag("intercept", intercept)
        self.randomized = flag("randomized", randomized)

    @property
    def seeded(self) -> bool:  # type: ignore[override]
        """Whether copies differ from seed to seed."""
        return self.randomized

    def rows_needed(self, n_features: int) -> int:
        """Return how many rows copies of so many columns need: 2p, or 2p + 1 with an intercept.

        Examples
        --------
        >>> from selica.sampling import FixedKnockoffs
        >>> FixedKnockoffs().rows_needed(10), FixedKnockoffs(intercept=True).rows_needed(10)
        (20, 21)
        """
        return 2 * count("n_features", n_features) + self.intercept

    def needs(self, rows: int, columns: int, loss: Loss) -> None:
        """Check the response and the numbers of rows and columns; see `Sampler.needs`."""
        super().needs(rows, columns, loss)
        require("fixed-X knockoffs", loss)
        if not self.intercept:
            raise ArgumentError(
                "sampler must be FixedKnockoffs(intercept=True): columns are centred here."
            )
        check_copies_fit(columns)
        self._check_rows(rows, columns)

    def _check_rows(self, rows: int, columns: int) -> None:
        if rows < self.rows_needed(columns):
            raise RefusedError(
                f"X must have at least {self.rows_needed(columns)} rows for {columns} columns; got "
                f"{rows}. augment(X, y) adds rows with simulated responses."
            )

    def copies(self, X: ArrayLike, random_state: RandomState | None, members: Any) -> Copies:
        """Return knockoff copies of X for these members, each drawn when it is asked for.

        Members differ in U, a uniformly distributed orthonormal basis. Unless `randomized`, member
        b has the same one whatever the seed is.

        Parameters
        ----------
        X : array of shape (n, p), n >= 2p
            The design, columns of any scale. With p <= n < 2p see `augment`.
        random_state : None, int, SeedSequence, Generator or RandomState
            An integer or a SeedSequence gives member b the same copy at every call.
        members : int, slice or array of int
            The first so many members, or their indices.

        Returns
        -------
        Copies
            Indexed and iterated like a list of (n, p) arrays.
        """
        design = self._design(X)
        n, p = design.unit.shape
        self._check_rows(n, p)
        law = conditional(design.correlation, design.smallest, self.method)
        centre = design.unit - design.unit @ law.slope
        constant = np.ones((n, int(self.intercept)))
        span, _ = qr(np.hstack([constant, design.unit]), mode="economic")
        given = GivenGram(
            centre.T * design.norm[:, None] + design.mean[:, None],
            design.norm[:, None] * law.root,
            np.asarray(span),
        )
        given_seed = seed_sequence(random_state)  # checked in any case
        return draw_copies(given, given_seed if self.randomized else ROTATIONS, members)

    def augment(
        self,
        X: ArrayLike,
        y: ArrayLike,
        random_state: RandomState | None = None,
        *,
        noise_variance: float | None = None,
    ) -> tuple[Array, Array]:
        r"""Add enough rows for copies, where there are fewer than 2p (Barber and Candes, 2.1.2).

        Rows of zeros are added to X, with responses N(0, noise_variance). With an intercept the
        added rows are the column means of X; their responses are the mean of y plus noise whose
        common part, of variance `noise_variance / n`, stands for the error of that mean, so that
        the centred response has independent noise in all rows again.

        Parameters
        ----------
        X : array of shape (n, p), n >= p
            The design; n >= p + 1 with an intercept.
        y : array of shape (n,)
            The response.
        random_state : None, int, SeedSequence, Generator or RandomState
            Source of the added responses.
        noise_variance : float, optional
            Variance of the noise of y. By default the residual variance of least squares, which
            needs one row more.

        Returns
        -------
        X, y : arrays of shape (m, p) and (m,)
            m is n or `rows_needed(p)`, whichever is larger; the first n rows are those given.

        Warns
        -----
        AugmentationWarning
            If rows are added: the control of errors then holds for the noise variance used.

        Examples
        --------
        >>> import numpy as np
        >>> import warnings
        >>> from selica.sampling import FixedKnockoffs
        >>> rng = np.random.default_rng(0)
        >>> X, y = rng.standard_normal((8, 5)), rng.standard_normal(8)
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")
        ...     X_more, y_more = FixedKnockoffs().augment(X, y, random_state=0)
        >>> X_more.shape, y_more.shape
        ((10, 5), (10,))
        """
        design = self._design(X)
        n, p = design.unit.shape
        response = real("y", y)
        if response.shape != (n,):
            raise ArgumentError(
                f"y must have one entry for each of the {n} rows of X; got shape {response.shape}."
            )
        table = matrix("X", X)
        more = self.rows_needed(p) - n
        if more <= 0:
            return table.copy(), response
        level = float(np.mean(response)) if self.intercept else 0.0
        if noise_variance is None:
            variance = _residual_variance(design.unit, response - level, n - p - self.intercept)
            source = "estimated from the residuals"
        else:
            given = real("noise_variance", noise_variance, at_least=0.0)
            variance, source = single("noise_variance", given), "as given"
        rng = np.random.default_rng(child(seed_sequence(random_state), ROWS))
        sd = np.sqrt(variance)
        added = level + sd * rng.standard_normal(more)
        if self.intercept:
            added += sd / np.sqrt(n) * rng.standard_normal()
        warn(
            f"X has {n} rows for {p} columns: {more} row(s) with simulated responses were added "
            f"to reach {n + more}. The control of errors holds for the noise variance used, "
            f"{variance:.4g}, {source}.",
            AugmentationWarning,
        )
        rows = np.tile(design.mean, (more, 1))
        return np.vstack([table, rows]), np.concatenate([response, added])

    def _design(self, X: ArrayLike) -> _Design:
        table = matrix("X", X)
        n, p = table.shape
        if n < p + self.intercept:
            raise RefusedError(
                f"X must have at least {p + self.intercept} rows for {p} columns; got {n}. With "
                "fewer there are no knockoffs of a fixed design: see GaussianKnockoffs."
            )
        mean = np.zeros(p)
        if self.intercept:
            equal = row_shares(None, n)
            varying("X", table, equal)
            mean = column_mean(table, equal)
        rows = table - mean
        largest = np.abs(rows).max(axis=0)
        if np.any(largest == 0.0):
            raise ColumnError(
                "X must have no column of zeros; {column} is one.", int(np.argmin(largest))
            )
        norm = largest * np.linalg.norm(rows / largest, axis=0)
        unit = rows / norm
        _, correlation, smallest = standardised("X'X", unit.T @ unit)
        return _Design(mean, norm, unit, correlation, smallest)

    def __repr__(self) -> str:
        intercept = ", intercept=True" if self.intercept else ""
        randomized = ", randomized=True" if self.randomized else ""
        return f"FixedKnockoffs(method={self.method!r}{intercept}{randomized})"


class _Design(NamedTuple):
    """X = mean + unit * norm, the columns of `unit` of length one; correlation is unit'unit."""

    mean: Array
    norm: Array
    unit: Array
    correlation: Array
    smallest: float


@dataclass(frozen=True, slots=True)
class GivenGram:
    """centre + U root', U uniform among orthonormal bases orthogonal to `span`."""

    centre: Array
    """Shape (p, n): columns of the copy are stored one after the other."""
    root: Array
    span: Array
    """Orthonormal columns, shape (n, k) with k + p <= n."""

    @property
    def shape(self) -> tuple[int, int]:
        """(n, p) of a copy."""
        return self.centre.shape[1], self.centre.shape[0]

    def draw(self, rng: np.random.Generator) -> Array:
        """Draw one copy, columns contiguous in memory."""
        noise = rng.standard_normal(self.centre.shape).T
        for _ in range(2):  # the second removes what rounding left of the first
            noise = noise - self.span @ (self.span.T @ noise)
        basis, upper = qr(noise, mode="economic", overwrite_a=True)
        # without the signs the law of U would depend on how the factorisation chooses them
        basis *= np.where(upper.diagonal() < 0.0, -1.0, 1.0)
        copy = self.root @ basis.T
        copy += self.centre
        return np.asarray(copy.T)


def _residual_variance(unit: Array, response: Array, freedom: int) -> float:
    """Return the residual variance of least squares with so many degrees of freedom."""
    if freedom < 1:
        raise ArgumentError(
            f"noise_variance must be given: with {unit.shape[0]} rows and {unit.shape[1]} columns "
            "no residual is left to estimate it."
        )
    coef = lstsq(unit, response)[0]
    residual = response - unit @ coef
    return float(residual @ residual) / freedom
