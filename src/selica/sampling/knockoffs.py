r"""Gaussian knockoffs, for a known or an estimated mean and covariance.

Given X the copy is :math:`\tilde X \sim N(X - (X - \mu)\Sigma^{-1}S,\ 2S - S\Sigma^{-1}S)`
(Candes, Fan, Janson and Lv 2018), so that :math:`(X, \tilde X)` has mean :math:`(\mu, \mu)` and
covariance :math:`\Sigma` in the diagonal blocks, :math:`\Sigma - S` off them. S is diagonal, or has
a full block for each group of variables.

Of m copies that are exchangeable with X and with each other, copy a is
:math:`X - (X - \mu)\Sigma^{-1}S + L(z_a - \bar z) + K z_0` with independent normal z,
:math:`LL' = S` and :math:`KK' = \frac{m + 1}{m}S - S\Sigma^{-1}S`: the covariance given X is
:math:`2S - S\Sigma^{-1}S` within a copy and :math:`S - S\Sigma^{-1}S` between two. The latter
need not be positive.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from copy import copy, deepcopy
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import LinAlgError, cho_factor, cho_solve, cholesky, eigh

from selica._core.errors import ArgumentError, RefusedError
from selica._core.losses import Loss
from selica._core.memory import check_memory
from selica._core.random import RandomState
from selica._core.types import Array, IntArray
from selica._core.validation import choice, count, matrix, real
from selica.sampling.checks import (
    column_mean,
    group_labels,
    row_shares,
    standardised,
    symmetric,
    varying,
)
from selica.sampling.copies import Copies, CopyLaw, draw_copies
from selica.sampling.group_s_matrices import (
    DiagonalBlocks,
    check_group_method,
    unit_group_s,
)
from selica.sampling.kinds import CONSTANT, CONTINUOUS, kind_of
from selica.sampling.laws import LAWS, best_law, law_names
from selica.sampling.s_matrices import EDGE_METHODS, check_method, unit_s
from selica.sampling.sampler import Doubt, Sampler
from selica.sampling.shrinkage import ledoit_wolf

_ESTIMATE = "The covariance estimated from X"
_FIRST = "ledoit_wolf"
"""The law that is tried first."""
_FEWEST_ROWS = 3
"""Rows from which the first law is estimated: with two, all correlations are 1 or -1."""
_BYTES = 84.0
"""Memory for a covariance and what is computed from it, for each pair of columns: ten matrices."""


def check_copies_fit(columns: int) -> None:
    """Refuse copies by a covariance for which there is not enough memory.

    Parameters
    ----------
    columns : int
    """
    check_memory(
        f"knockoffs of {columns:,} columns", _BYTES * columns**2,
        "use stability selection, or leave columns out",
    )  # fmt: skip


class Conditional(NamedTuple):
    """The distribution of a copy given X, for unit variances: slope R^-1 S, root of the rest."""

    S: Array
    """(p,): the diagonal of S; (p, p): the whole of it, where it has blocks."""
    slope: Array
    root: Array
    labels: IntArray | None = None
    """(p,): groups of variables, where S has blocks."""


class GaussianKnockoffs(Sampler):
    """Model-X knockoffs of Gaussian variables.

    Where the mean and the covariance are known, the copies are exact knockoffs and the error
    control of a knockoff filter holds in finite samples. Where one of them is estimated from X
    it holds up to the error of the estimate: `estimated` tells the two apart.

    Parameters
    ----------
    mean : float or array of shape (p,), optional
        Mean of the variables. None: estimated by `fit`; a given mean is kept.
    covariance : array of shape (p, p), str, estimator or None
        Covariance of the variables, if it is known; positive definite. A covariance whose
        correlation matrix has an eigenvalue below 1e-10 is refused: the variables it ties
        together have no knockoff but themselves. An estimator is an object with `fit(X)` that
        sets `covariance_` (and `location_`, the mean, if it is not known), such as those of
        `sklearn.covariance`. A word is the name of a law of the standardised columns, by which
        `fit` estimates the covariance: "ledoit_wolf", "shrinkage", "factors", "neighbours" or
        "factors_neighbours", see `sampling.laws`. None: `ledoit_wolf`; a knockoff selector goes
        on to the other laws where its copies do not behave like the columns.
    method : {"mvr", "maxent", "sdp", "equi"}, optional
        How S is chosen, see `s_matrix`, and `group_s_matrix` for groups and for several joint
        copies, which know no "sdp". None: "maxent" with groups, "mvr" without.
    groups : array of int, shape (p,), optional
        Variables with the same number belong to one group. Then only whole groups are exchangeable
        with their copies, which may differ more from the variables: they find groups that matter
        where single variables of them cannot be told apart.
    n_joint : int
        Number m of copies that are exchangeable with the variables and with each other, for
        `control.joint_threshold`. Each member then has m copies side by side: all columns of the
        first, then all columns of the second, and so on.

    Attributes
    ----------
    s_ : array of shape (p,)
        Diagonal of S: the covariance of variable j with its copy is covariance[j, j] - s_[j].
    S_ : array of shape (p, p)
        The whole of S: the covariance of variables with copies is covariance - S_.
    mean : array of shape (p,)
        As given, or as estimated.
    covariance : array of shape (p, p)
        As given, or as estimated.
    estimated : bool
        Whether the mean or the covariance comes from data.
    method : str
        As given.
    law : str or None
        Name of the law that the covariance is, or will be, estimated by.

    Examples
    --------
    >>> import numpy as np
    >>> from selica.sampling import GaussianKnockoffs, simulate
    >>> data = simulate(100, 5, 2, r2=0.5, covariance=("ar1", 0.5), random_state=0)
    >>> knockoffs = GaussianKnockoffs(0.0, data.covariance)
    >>> knockoffs
    GaussianKnockoffs(n_features=5, method='mvr')
    >>> knockoffs.sample(data.X, random_state=1).shape
    (100, 5)
    >>> [copy.shape for copy in knockoffs.copies(data.X, random_state=1, members=2)]
    [(100, 5), (100, 5)]

    Without the covariance:

    >>> knockoffs = GaussianKnockoffs(method="sdp").fit(data.X)
    >>> knockoffs
    GaussianKnockoffs(n_features=5, method='sdp', estimated=True)
    >>> knockoffs.covariance.shape
    (5, 5)
    >>> GaussianKnockoffs(covariance="neighbours").fit(data.X)
    GaussianKnockoffs(n_features=5, method='mvr', estimated=True, law='neighbours')

    Three joint copies of groups of variables:

    >>> knockoffs = GaussianKnockoffs(0.0, data.covariance, groups=[0, 0, 1, 1, 1], n_joint=3)
    >>> knockoffs
    GaussianKnockoffs(n_features=5, method='maxent', n_groups=2, n_joint=3)
    >>> knockoffs.sample(data.X, random_state=1).shape
    (100, 15)
    """

    mean: Any
    covariance: Any
    estimated: bool
    method: str
    groups: IntArray | None
    n_joint: int

    def __init__(
        self,
        mean: ArrayLike | None = None,
        covariance: Any = None,
        method: str | None = None,
        *,
        groups: ArrayLike | None = None,
        n_joint: int = 1,
    ) -> None:
        self._asked = None if method is None else check_method(method)
        self._set_groups(groups, n_joint)
        if isinstance(covariance, type):
            raise ArgumentError(
                f"covariance must be a matrix, an estimator or None; got the class "
                f"{covariance.__name__}, not an object of it."
            )
        if isinstance(covariance, str):
            choice("covariance", covariance, law_names())
        unknown = _unknown(covariance)
        self.estimated = unknown or mean is None
        self.mean = None if mean is None else real("mean", mean)
        self.covariance = covariance
        self._law: Conditional | None = None
        if not unknown:
            self._set_covariance("covariance", covariance)
        self._set_mean(self.mean)
        # what `fit` starts from, also when it is called a second time
        self._given = (self.mean, covariance if unknown else self.covariance)

    def _set_groups(self, groups: Any, n_joint: Any, name: str = "method") -> None:
        """Set groups, the number of joint copies, and the method that suits them."""
        self.groups = None if groups is None else group_labels(groups)
        self.n_joint = count("n_joint", n_joint)
        self.method = self._asked or ("mvr" if groups is None else "maxent")
        if groups is not None or self.n_joint > 1:
            check_group_method(self.method, name)

    def of_groups(self, groups: ArrayLike | None, n_joint: int = 1) -> GaussianKnockoffs:
        """Return knockoffs of the same variables for these groups; this object stays as it is.

        Parameters
        ----------
        groups : array of int, shape (p,), or None
            Variables with the same number belong to one group; None: each is its own.
        n_joint : int
            Number of joint copies.

        Examples
        --------
        >>> import numpy as np
        >>> from selica.sampling import GaussianKnockoffs
        >>> GaussianKnockoffs(0.0, np.eye(4)).of_groups([0, 0, 1, 1], n_joint=5)
        GaussianKnockoffs(n_features=4, method='maxent', n_groups=2, n_joint=5)
        """
        other = copy(self)
        other._set_groups(groups, n_joint, "sampler: for groups and joint copies, method")
        if other._law is not None:
            other._set_covariance("covariance", other.covariance)
        return other

    def _set_covariance(self, name: str, value: Any) -> None:
        sd, correlation, smallest = standardised(name, value)
        self.covariance = symmetric(name, value)
        self._sd = sd
        if self.groups is None and self.n_joint == 1:
            self._law = conditional(correlation, smallest, self.method)
        else:
            given = np.arange(sd.size) if self.groups is None else self.groups
            labels = group_labels(given, sd.size)
            self._law = group_conditional(correlation, labels, self.method, self.n_joint)

    def _set_mean(self, mean: Array | None) -> None:
        """Set the mean of each variable, as soon as their number is known."""
        if mean is None:
            return
        unknown = self._law is None
        if mean.ndim > 1 or not (unknown or mean.shape in ((), self._sd.shape)):
            raise ArgumentError(
                "mean must be one number or have one entry for each of the "
                f"{'' if unknown else f'{self._sd.size} '}variables; got shape {mean.shape}."
            )
        self.mean = mean if unknown else np.broadcast_to(mean, self._sd.shape).copy()

    def fit(self, X: ArrayLike, sample_weight: ArrayLike | None = None) -> GaussianKnockoffs:
        """Return knockoffs with what was not given estimated from X; this object stays as it is.

        Parameters
        ----------
        X : array of shape (n, p)
            Independent rows of the variables; they need no response.
        sample_weight : array of shape (n,), optional
            Weights of the rows, see `ledoit_wolf`. An estimator must have a `sample_weight` in
            its `fit`.

        Returns
        -------
        GaussianKnockoffs
            With `mean` and `covariance`, ready to sample. Where both were given, this object.

        Examples
        --------
        >>> import numpy as np
        >>> from selica.sampling import GaussianKnockoffs
        >>> X = np.random.default_rng(0).standard_normal((50, 3))
        >>> fitted = GaussianKnockoffs(mean=0.0).fit(X)
        >>> fitted.mean, fitted.estimated
        (array([0., 0., 0.]), True)
        """
        mean, covariance = self._given
        known = not _unknown(covariance)
        table = matrix("X", X, columns=self._sd.size if known else None)
        share = row_shares(sample_weight, table.shape[0])
        if not self.estimated:
            return self
        fitted = copy(self)
        if known:
            fitted.mean = column_mean(table, share)
            return fitted
        if mean is not None and mean.shape not in ((), table.shape[1:]):
            raise ArgumentError(
                f"X must have one column for each of the {mean.size} entries of mean; got "
                f"{table.shape[1]}."
            )
        varying("X", table, share)
        if covariance is None or covariance == _FIRST:
            if mean is None and table.shape[1] > 1 and np.count_nonzero(share) < _FEWEST_ROWS:
                raise RefusedError(
                    f"X must have at least {_FEWEST_ROWS} rows for an estimate of the covariance "
                    f"of its columns; got {np.count_nonzero(share)}."
                )
            found = ledoit_wolf(table, mean=mean, sample_weight=sample_weight, standardise=True)
            fitted._set_covariance(_ESTIMATE, found.covariance)
            fitted._set_mean(found.mean)
        elif isinstance(covariance, str):
            centre = column_mean(table, share) if mean is None else mean
            rows = table - centre
            largest = np.abs(rows).max(axis=0)
            unit = largest * np.sqrt(share @ (rows / largest) ** 2)
            estimate = LAWS[covariance].estimate(rows / unit, share)
            fitted._set_covariance(_ESTIMATE, estimate * unit * unit[:, None])
            fitted._set_mean(centre)
        else:
            location, matrix_found = _estimate(covariance, table, sample_weight)
            fitted._set_covariance(_ESTIMATE, matrix_found)
            if mean is None:
                mean = column_mean(table, share) if location is None else location
            fitted._set_mean(mean)
        return fitted

    @property
    def assumption(self) -> str:  # type: ignore[override]
        """What must be true of the columns, as a clause."""
        if self.estimated:
            also = f", and {self.structure}" if self.structure else ""
            return (
                "the joint distribution of the predictors, which is estimated here, is close to "
                f"the true one{also}"
            )
        return "the joint distribution of the predictors is the one that was given"

    @property
    def law(self) -> str | None:
        """Name of the law that the covariance is estimated by; None where it is not by one."""
        given = self._given[1]
        return _FIRST if given is None else given if isinstance(given, str) else None

    @property
    def structure(self) -> str:  # type: ignore[override]
        """What the law of the columns takes for granted, as a clause."""
        return "" if self.law in (None, _FIRST) else LAWS[str(self.law)].words

    def alternatives(
        self,
        X: ArrayLike,
        sample_weight: ArrayLike | None = None,
        random_state: RandomState | None = None,
    ) -> Iterable[Sampler]:
        """Return knockoffs by the laws that describe left-out rows better than the first law does.

        Where the covariance, or how it is to be estimated, was given, there are none.

        Parameters
        ----------
        X : array of shape (n, p)
            None of the columns is constant.
        sample_weight : array of shape (n,), optional
        random_state : None, int, SeedSequence, Generator or RandomState
            Source of the rows that are left out.

        Examples
        --------
        >>> from selica.sampling import GaussianKnockoffs, simulate
        >>> X = simulate(200, 30, 0, noise_variance=1.0, covariance=("ar1", 0.9), random_state=0).X
        >>> [other.law for other in GaussianKnockoffs().alternatives(X, random_state=0)]
        ['neighbours']
        """
        if self._given[1] is not None:
            return []
        table = matrix("X", X)
        judged = best_law(
            table, share=row_shares(sample_weight, len(table)), random_state=random_state
        )
        names = [one.name for one in judged]
        return [self._by_law(name) for name in names[: names.index(_FIRST)]]

    def _by_law(self, name: str) -> GaussianKnockoffs:
        """Return the same knockoffs, not fitted, with another law."""
        other = copy(self)
        other.mean, _ = other._given
        other.covariance, other._law = name, None
        other._given = (other.mean, name)
        return other

    @property
    def exact(self) -> bool:  # type: ignore[override]
        """Whether mean and covariance are known."""
        return not self.estimated

    @property
    def mismatch(self) -> str:  # type: ignore[override]
        """What is wrong where the copies do not fit the columns; nothing if it is the estimate."""
        if self.estimated:
            return ""
        return "the mean or the covariance given is not that of the table"

    @property
    def centre(self) -> Any:
        """Mean of the columns."""
        return self.mean

    def needs(self, rows: int, columns: int, loss: Loss) -> None:
        """Check that copies of all columns fit into the memory; see `Sampler.needs`."""
        super().needs(rows, columns, loss)
        check_copies_fit(columns)

    def doubts(self, X: Array) -> list[Doubt]:
        """Return what speaks against normal columns, or against the estimate of a covariance."""
        if not self.estimated:
            return []
        n, p = X.shape
        found = []
        few = tuple(j for j in range(p) if kind_of(X[:, j]) not in (CONSTANT, CONTINUOUS))
        if few:
            found.append(
                Doubt(
                    "columns with few values, or many equal ones, are not normally distributed, "
                    "as knockoff copies assume",
                    few,
                )
            )
        if n < p:
            found.append(
                Doubt(f"the covariance of {p:,} columns is estimated from {n:,} rows only")
            )
        return found

    @property
    def s_(self) -> Array:
        """Diagonal of S, shape (p,)."""
        S = self._known().S
        return (S if S.ndim == 1 else S.diagonal()) * self._sd**2

    @property
    def S_(self) -> Array:
        """S, shape (p, p)."""
        S = self._known().S
        return (np.diag(S) if S.ndim == 1 else S) * np.outer(self._sd, self._sd)

    @property
    def n_features(self) -> int:
        """Number of variables p."""
        return len(self._known().slope)

    def _known(self) -> Conditional:
        if self._law is None:
            raise ArgumentError(
                "covariance is not known yet: call fit(X) first, and use its result."
            )
        return self._law

    def copies(self, X: ArrayLike, random_state: RandomState | None, members: Any) -> Copies:
        """Return knockoff copies of X for these members, each drawn when it is asked for.

        Parameters
        ----------
        X : array of shape (n, p)
            Rows from N(mean, covariance).
        random_state : None, int, SeedSequence, Generator or RandomState
            An integer or a SeedSequence gives member b the same copy at every call.
        members : int, slice or array of int
            The first so many members, or their indices.

        Returns
        -------
        Copies
            Indexed and iterated like a list of (n, p) arrays; of (n, m p) arrays where each member
            has m joint copies.
        """
        law = self._known()
        if self.mean is None:
            raise ArgumentError("mean is not known yet: call fit(X) first, and use its result.")
        table = matrix("X", X, columns=self.n_features)
        centre = table - (table - self.mean) @ (law.slope / self._sd[:, None] * self._sd)
        given: CopyLaw = GivenData(np.ascontiguousarray(centre.T), self._sd[:, None] * law.root)
        if self.n_joint > 1:
            assert isinstance(given, GivenData)
            given = JointCopies(given, self.n_joint, self._sd, *group_roots(law))
        return draw_copies(given, random_state, members)

    def __repr__(self) -> str:
        if self._law is None:
            how = self.law or type(self.covariance).__name__
            return f"GaussianKnockoffs(covariance={how}, not fitted, method={self.method!r})"
        more = "" if self.groups is None else f", n_groups={int(self.groups.max()) + 1}"
        more += f", n_joint={self.n_joint}" if self.n_joint > 1 else ""
        more += ", estimated=True" if self.estimated else ""
        more += f", law={self.law!r}" if self.law not in (None, _FIRST) else ""
        return f"GaussianKnockoffs(n_features={self.n_features}, method={self.method!r}{more})"


@dataclass(frozen=True, slots=True)
class GivenData:
    """Rows N(centre, root root'), columns of the copy stored one after the other."""

    centre: Array
    """Conditional means, shape (p, n)."""
    root: Array

    @property
    def shape(self) -> tuple[int, int]:
        """(n, p) of a copy."""
        return self.centre.shape[1], self.centre.shape[0]

    def draw(self, rng: np.random.Generator) -> Array:
        """Draw one copy, columns contiguous in memory."""
        copy = self.root @ rng.standard_normal(self.centre.shape)
        copy += self.centre
        return copy.T


@dataclass(frozen=True, slots=True)
class JointCopies:
    """Several copies side by side, exchangeable with the columns and with each other."""

    common: GivenData
    """What the copies have in common."""
    number: int
    """Number of copies."""
    scale: Array
    """(p,): standard deviations of the columns."""
    blocks: DiagonalBlocks
    roots: Array
    """Diagonal blocks of a root of S for unit variances, by which the copies differ."""

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns of all copies of a member together."""
        n, p = self.common.shape
        return n, self.number * p

    def draw(self, rng: np.random.Generator) -> Array:
        """Draw the copies of one member, columns contiguous in memory."""
        n, p = self.common.shape
        common = self.common.draw(rng).T
        apart = rng.standard_normal((p, self.number, n))
        apart -= apart.mean(axis=1, keepdims=True)
        apart = self.blocks.times(self.roots, apart.reshape(p, -1)).reshape(apart.shape)
        drawn = np.empty((self.number, p, n))
        drawn[:, self.blocks.order] = apart.transpose(1, 0, 2)
        drawn *= self.scale[:, None]
        drawn += common
        return drawn.reshape(-1, n).T


def _unknown(covariance: Any) -> bool:
    """Tell whether a covariance is yet to be estimated."""
    return covariance is None or isinstance(covariance, str) or hasattr(covariance, "fit")


def conditional(correlation: Array, smallest: float, method: str) -> Conditional:
    """Return S, R^-1 S and a root of 2S - S R^-1 S for a correlation matrix R."""
    s = unit_s(correlation, smallest, method)
    slope = cho_solve(cho_factor(correlation), np.diag(s))
    spread = np.diag(2.0 * s) - s[:, None] * slope
    return Conditional(s, slope, _root(0.5 * (spread + spread.T), method))


def group_conditional(
    correlation: Array, labels: IntArray, method: str, n_joint: int
) -> Conditional:
    """Return S, R^-1 S and a root of (m + 1)/m S - S R^-1 S, for groups and m joint copies."""
    S = unit_group_s(correlation, labels, method, n_joint)
    slope = cho_solve(cho_factor(correlation), S)
    spread = (n_joint + 1.0) / n_joint * S - S @ slope
    return Conditional(S, slope, _root(0.5 * (spread + spread.T), method), labels)


def group_roots(law: Conditional) -> tuple[DiagonalBlocks, Array]:
    """Return the groups, and the blocks of a root of S."""
    assert law.labels is not None
    blocks = DiagonalBlocks(law.labels)
    S = blocks.of(law.S[np.ix_(blocks.order, blocks.order)])
    return blocks, np.concatenate([np.linalg.cholesky(part).ravel() for part in blocks.parts(S)])


def _root(spread: Array, method: str) -> Array:
    """Return R with R R' = spread, the conditional covariance."""
    if method not in EDGE_METHODS:
        try:
            return np.asarray(cholesky(spread, lower=True))
        except LinAlgError:  # rounding, for nearly singular covariances
            pass
    # at the edge the copy is an exact function of X in some directions
    value, vector = eigh(spread)
    return np.asarray(vector * np.sqrt(np.maximum(value, 0.0)))


def _estimate(estimator: Any, table: Array, sample_weight: Any) -> tuple[Array | None, Any]:
    """Return location, if there is one, and covariance by a copy of the estimator."""
    name = type(estimator).__name__
    estimator = deepcopy(estimator)
    options: dict[str, Any] = {}
    if sample_weight is not None:
        if "sample_weight" not in inspect.signature(estimator.fit).parameters:
            raise ArgumentError(f"sample_weight cannot be used: {name}.fit takes no weights.")
        options["sample_weight"] = sample_weight
    try:
        estimator.fit(table, **options)
    except Exception as error:
        reason = " ".join(str(error).split())
        raise RefusedError(f"covariance: {name}.fit(X) failed: {reason}") from error
    covariance: Any = getattr(estimator, "covariance_", None)
    if np.shape(covariance) != (table.shape[1], table.shape[1]):
        raise ArgumentError(
            f"covariance: {name}.fit(X) must set covariance_, of shape "
            f"{(table.shape[1], table.shape[1])}; got shape {np.shape(covariance)}."
        )
    location = getattr(estimator, "location_", None)
    if location is not None:
        location = real(f"covariance: location_ of {name}", location)
        if location.shape != table.shape[1:]:
            raise ArgumentError(
                f"covariance: {name}.fit(X) must set location_, of shape {table.shape[1:]}; got "
                f"shape {location.shape}."
            )
    return location, covariance
