r"""Copies of large groups by a few representatives of each.

In a group of ten columns that are nearly the same, one or two say what all of them say to the rest
of the table. If the other columns of a group depend on all other groups only through the
representatives of their own group, copies need to be made of the representatives alone: group
copies of these, with a small S, and then the other columns drawn from their distribution given the
*copied* representatives of their group (Chu, Gu, Chen, Morrison, Candes, He and Sabatti
2024). The columns of a group and their copies then trade places together, since both halves are
made in the same way.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import cho_factor, cho_solve, eigh
from scipy.sparse import block_diag, csr_array

from selica._core.errors import ArgumentError
from selica._core.losses import Loss
from selica._core.random import RandomState
from selica._core.types import Array, BoolArray, IntArray
from selica._core.validation import count, matrix, number, real
from selica.sampling.checks import group_labels, row_shares, standardised, symmetric, varying
from selica.sampling.copies import Copies, CopyLaw
from selica.sampling.group_s_matrices import check_group_method
from selica.sampling.knockoffs import GaussianKnockoffs, check_copies_fit
from selica.sampling.sampler import Doubt, Sampler
from selica.sampling.shrinkage import ledoit_wolf

SHARE = 0.5
"""Share of the variance of a group that its representatives explain, at least."""
_SAME = 1e-8
"""Correlations that differ by less are the same."""


def group_representatives(covariance: Any, groups: Any, share: float = SHARE) -> BoolArray:
    """Choose columns that explain a share of the variance of their group.

    In each group the column that explains most of the variance that is left, of all columns of the
    group together, is chosen until the share is reached. Columns count as if all had the same
    variance.

    Parameters
    ----------
    covariance : array of shape (p, p)
        Positive definite.
    groups : array of int, shape (p,)
        Columns with the same number belong to one group.
    share : float
        Above 0 and at most 1; with 1 all columns are chosen.

    Returns
    -------
    boolean array of shape (p,)

    Examples
    --------
    >>> import numpy as np
    >>> from selica.sampling import group_representatives
    >>> covariance = 0.9 ** np.abs(np.subtract.outer(range(6), range(6)))
    >>> group_representatives(covariance, [0, 0, 0, 1, 1, 1])
    array([False,  True, False, False,  True, False])
    """
    sd, correlation, _ = standardised("covariance", covariance)
    labels = group_labels(groups, sd.size)
    return _chosen(correlation, labels, number("share", share, above=0.0, at_most=1.0))


def _chosen(correlation: Array, labels: IntArray, share: float) -> BoolArray:
    """Return the representatives of all groups."""
    found = np.zeros(labels.size, dtype=bool)
    for members in _members(labels):
        rest = correlation[np.ix_(members, members)].copy()
        allowed = (1.0 - share) * members.size
        left = np.arange(members.size)
        while left.size and (not found[members].any() or np.trace(rest) > allowed + _SAME):
            gain = (rest[:, left] ** 2).sum(axis=0) / rest[left, left]
            best = left[int(np.argmax(gain))]
            found[members[best]] = True
            rest = rest - np.outer(rest[:, best], rest[best]) / rest[best, best]
            left = left[left != best]
    return found


def _members(labels: IntArray) -> list[IntArray]:
    """Return the columns of each group."""
    order = np.argsort(labels, kind="stable")
    return list(np.split(order, np.cumsum(np.bincount(labels))[:-1]))


class _Parts(NamedTuple):
    """How columns follow from the representatives of their group, for unit variances."""

    chosen: BoolArray
    """(p,): representatives."""
    slope: csr_array
    """(others, representatives): regression of the other columns."""
    root: csr_array
    """(others, others): root of what it leaves."""


class RepresentativeKnockoffs(Sampler):
    """Knockoffs of groups of Gaussian variables, by representatives of each group.

    Much faster than `GaussianKnockoffs` where groups are large. The copies are exact if mean and
    covariance are known and the other columns of a group depend on other groups only through its
    representatives; otherwise they are approximate, and the more representatives, the better.

    Parameters
    ----------
    groups : array of int, shape (p,), optional
        Columns with the same number belong to one group. None: each is its own, and its own
        representative.
    mean : float or array of shape (p,), optional
        Mean of the variables. None: estimated by `fit`.
    covariance : array of shape (p, p), optional
        Covariance of the variables. None: `ledoit_wolf` of the standardised columns, by `fit`.
    method : {"maxent", "mvr", "equi"}
        How S of the representatives is chosen, see `group_s_matrix`.
    share : float
        Share of the variance of a group that its representatives explain, see
        `group_representatives`.
    n_joint : int
        Number of joint copies, as in `GaussianKnockoffs`.

    Attributes
    ----------
    representatives_ : boolean array of shape (p,)
    estimated : bool
        Whether mean or covariance come from data.

    Examples
    --------
    >>> import numpy as np
    >>> from selica.sampling import RepresentativeKnockoffs, simulate
    >>> data = simulate(100, 40, 2, r2=0.5, covariance=("ar1", 0.9), random_state=0)
    >>> knockoffs = RepresentativeKnockoffs(np.arange(40) // 10).fit(data.X)
    >>> int(knockoffs.representatives_.sum())
    4
    >>> knockoffs.sample(data.X, random_state=1).shape
    (100, 40)
    """

    def __init__(
        self,
        groups: ArrayLike | None = None,
        mean: ArrayLike | None = None,
        covariance: Any = None,
        method: str = "maxent",
        *,
        share: float = SHARE,
        n_joint: int = 1,
    ) -> None:
        self.groups = None if groups is None else group_labels(groups)
        self.method = check_group_method(method)
        self.share = number("share", share, above=0.0, at_most=1.0)
        self.n_joint = count("n_joint", n_joint)
        self.estimated = mean is None or covariance is None
        self.mean: Any = None if mean is None else real("mean", mean)
        self.covariance: Any = None if covariance is None else symmetric("covariance", covariance)
        self._parts: _Parts | None = None
        if not self.estimated:
            self._set("covariance")

    def of_groups(self, groups: ArrayLike | None, n_joint: int = 1) -> RepresentativeKnockoffs:
        """Return knockoffs of the same variables for these groups; this object stays as it is.

        Parameters
        ----------
        groups : array of int, shape (p,), or None
            Columns with the same number belong to one group; None: each is its own.
        n_joint : int
            Number of joint copies.
        """
        other = copy(self)
        other.groups = None if groups is None else group_labels(groups)
        other.n_joint = count("n_joint", n_joint)
        if other._parts is not None:
            other._set("covariance")
        return other

    def fit(self, X: ArrayLike, sample_weight: ArrayLike | None = None) -> RepresentativeKnockoffs:
        """Return knockoffs with what was not given estimated from X; this object stays as it is.

        Parameters
        ----------
        X : array of shape (n, p)
        sample_weight : array of shape (n,), optional
        """
        if not self.estimated:
            return self
        table = matrix("X", X)
        varying("X", table, row_shares(sample_weight, len(table)))
        found = ledoit_wolf(table, mean=self.mean, sample_weight=sample_weight, standardise=True)
        fitted = copy(self)
        fitted.mean = found.mean if self.mean is None else self.mean
        if self.covariance is None:
            fitted.covariance = found.covariance
        fitted._set("The covariance estimated from X")
        return fitted

    def _set(self, name: str) -> None:
        """Choose representatives, and the distribution of the other columns given them."""
        sd, correlation, _ = standardised(name, self.covariance)
        labels = group_labels(np.arange(sd.size) if self.groups is None else self.groups, sd.size)
        if np.shape(self.mean) not in ((), sd.shape):
            raise ArgumentError(
                f"mean must be one number or have one entry for each of the {sd.size} variables; "
                f"got shape {np.shape(self.mean)}."
            )
        self.mean = np.broadcast_to(self.mean, sd.shape).astype(float)
        chosen = _chosen(correlation, labels, self.share)
        slopes, roots, order = [], [], []
        for members in _members(labels):
            reps, others = members[chosen[members]], members[~chosen[members]]
            known = cho_factor(correlation[np.ix_(reps, reps)])
            cross = correlation[np.ix_(others, reps)]
            slope = cho_solve(known, cross.T).T
            rest = correlation[np.ix_(others, others)] - slope @ cross.T
            value, vector = eigh(rest) if others.size else (np.zeros(0), np.zeros((0, 0)))
            slopes.append(slope)
            roots.append(vector * np.sqrt(np.maximum(value, 0.0)))
            order.append((reps, others))
        reps, others = (np.concatenate(part) for part in zip(*order, strict=True))
        self._sd, self._reps, self._others = sd, reps, others
        self._parts = _Parts(chosen, csr_array(block_diag(slopes)), csr_array(block_diag(roots)))
        self._inner = GaussianKnockoffs(
            self.mean[reps], self.covariance[np.ix_(reps, reps)], self.method,
            groups=labels[reps], n_joint=self.n_joint,
        )  # fmt: skip
        self._holds = self._is_exact(correlation, labels)

    def _is_exact(self, correlation: Array, labels: IntArray) -> bool:
        """Tell whether other columns depend on other groups through representatives alone."""
        parts = self._known()
        across = np.not_equal.outer(labels[self._others], labels)
        implied = parts.slope @ correlation[self._reps]
        gap = np.abs(np.where(across, implied - correlation[self._others], 0.0))
        return bool(gap.max(initial=0.0) <= _SAME)

    def _known(self) -> _Parts:
        if self._parts is None:
            raise ArgumentError(
                "covariance is not known yet: call fit(X) first, and use its result."
            )
        return self._parts

    @property
    def representatives_(self) -> BoolArray:
        """(p,): columns of which group copies are made."""
        return self._known().chosen

    @property
    def assumption(self) -> str:  # type: ignore[override]
        """What must be true of the columns, as a clause."""
        law = (
            "the joint distribution of the predictors, which is estimated here, is close to the "
            "true one"
            if self.estimated
            else "the joint distribution of the predictors is the one that was given"
        )
        return (
            f"{law}, and predictors depend on other groups only through the representatives of "
            "their own"
        )

    @property
    def exact(self) -> bool:  # type: ignore[override]
        """Whether mean and covariance are known, and groups depend by representatives alone."""
        return not self.estimated and self._holds

    @property
    def mismatch(self) -> str:  # type: ignore[override]
        """What is wrong where the copies do not fit the columns."""
        return "the representatives of a group do not say all that it has to do with other groups"

    @property
    def centre(self) -> Any:
        """Mean of the columns."""
        return self.mean

    def needs(self, rows: int, columns: int, loss: Loss) -> None:
        """Check that the covariance fits into the memory; see `Sampler.needs`."""
        super().needs(rows, columns, loss)
        check_copies_fit(columns)

    def doubts(self, X: Array) -> list[Doubt]:
        """Return what speaks against normal columns, or against the estimate of a covariance."""
        return GaussianKnockoffs().doubts(X) if self.estimated else []

    def copies(self, X: ArrayLike, random_state: RandomState | None, members: Any) -> Copies:
        """Return knockoff copies of X for these members, each drawn when it is asked for.

        Parameters
        ----------
        X : array of shape (n, p)
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
        parts = self._known()
        table = matrix("X", X, columns=self._sd.size)
        inner = self._inner.copies(table[:, self._reps], random_state, members)
        law = FromRepresentatives(
            inner.law, self._reps, self._others, self.mean, self._sd, parts.slope, parts.root
        )
        return Copies(law, inner.seed, inner.members)

    def __repr__(self) -> str:
        groups = "" if self.groups is None else f"n_groups={int(self.groups.max()) + 1}, "
        joint = f", n_joint={self.n_joint}" if self.n_joint > 1 else ""
        fitted = "" if self._parts is not None else ", not fitted"
        return f"RepresentativeKnockoffs({groups}method={self.method!r}{joint}{fitted})"


@dataclass(frozen=True, slots=True)
class FromRepresentatives:
    """Copies of representatives, and of the other columns given these."""

    law: CopyLaw
    """Of the copies of the representatives."""
    reps: IntArray
    others: IntArray
    mean: Array
    scale: Array
    """(p,): standard deviations."""
    slope: csr_array
    root: csr_array

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns of the copies of a member."""
        n, columns = self.law.shape
        return n, columns // self.reps.size * self.mean.size

    def draw(self, rng: np.random.Generator) -> Array:
        """Draw the copies of one member, columns contiguous in memory."""
        n, columns = self.shape
        p = self.mean.size
        out = np.empty((columns // p, p, n))
        copied = self.law.draw(rng).T.reshape(len(out), self.reps.size, n)
        noise = rng.standard_normal((len(out), self.others.size, n))
        for one, known, more in zip(out, copied, noise, strict=True):
            one[self.reps] = known
            unit = (known - self.mean[self.reps, None]) / self.scale[self.reps, None]
            given = self.slope @ unit + self.root @ more
            one[self.others] = given * self.scale[self.others, None] + self.mean[self.others, None]
        return out.reshape(columns, n).T
