r"""Ghost knockoffs: copies of Z-scores, without the data behind them (He, Liu, Belloy et al. 2022).

Gaussian knockoffs are :math:`\tilde X = X(I - \Sigma^{-1}S) + E V^{1/2}` with independent normal
E and :math:`V = 2S - S\Sigma^{-1}S`. So with a response of length :math:`|y|^2 = n`

.. math:: \tilde Z = \tilde X'y / \sqrt n = (I - S\Sigma^{-1}) Z + V^{1/2} e, \qquad
          Z = X'y / \sqrt n, \quad e = E'y / \sqrt n \sim N(0, I) :

given the data, Z-scores of the copies depend on the Z-scores alone. They are what a knockoff
sampler draws for a table of *one row*, the Z-scores, with mean zero and covariance :math:`\Sigma`.
The same holds for groups of markers, and for several joint copies. :math:`\Sigma` is block
diagonal, so that each block is drawn by itself.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import cholesky, eigvalsh
from scipy.sparse import csr_array

from selica._core.errors import ArgumentError
from selica._core.linkage import LinkageBlocks
from selica._core.random import RandomState, child, generator, seed_sequence
from selica._core.types import Array, IntArray
from selica._core.validation import count, matrix, numbers
from selica.sampling.checks import group_labels
from selica.sampling.knockoffs import GaussianKnockoffs

SMALLEST_LD_EIGENVALUE = 1e-3
"""Smallest eigenvalue of LD that copies are drawn with. Genotypes of a chip or an imputation are
known to about this share of their variance: what is below cannot be told from rounding."""
GHOSTS = int.from_bytes(b"ghst", "big")
"""Purpose of the random numbers of ghost copies."""

NULLS = int.from_bytes(b"gnul", "big")
"""Purpose of the random numbers of Z-scores without effects."""
_KEPT_BYTES = 1_000_000_000
"""Memory up to which samplers of all blocks are kept for further draws."""
_MATRICES = 4
"""Matrices of the size of LD that a sampler has."""


class UsableLinkage(NamedTuple):
    """LD that copies can be drawn with.

    Examples
    --------
    >>> import numpy as np
    >>> from selica.sampling import usable_linkage
    >>> usable_linkage(np.array([[1.0, 0.5], [0.5, 1.0]])).shrinkage
    0.0
    """

    correlation: Array
    """(p_b, p_b), positive definite."""
    shrinkage: float
    """Share of the identity in it."""


def usable_linkage(correlation: Array, n_reference: int | None = None) -> UsableLinkage:
    r"""Shrink LD towards the identity, as far as its error asks for, and bound its eigenvalues.

    A correlation r from n people has the variance :math:`(1 - r^2)^2 / n`, about; the share of the
    identity with the smallest expected squared error is :math:`\sum_{i \ne j} (1 - r_{ij}^2)^2 / n`
    over :math:`\sum_{i \ne j} r_{ij}^2` (Ledoit and Wolf 2004; Schäfer and Strimmer 2005). It needs
    no data beside the matrix. More is taken where the smallest eigenvalue would be below 0.001.

    Parameters
    ----------
    correlation : array of shape (p, p)
    n_reference : int, optional
        Number of people it was computed from; None: it has no error.

    Returns
    -------
    UsableLinkage

    Examples
    --------
    >>> import numpy as np
    >>> from selica.sampling import usable_linkage
    >>> R = np.array([[1.0, 0.6], [0.6, 1.0]])
    >>> usable_linkage(R).shrinkage
    0.0
    >>> found = usable_linkage(R, n_reference=100)
    >>> round(found.shrinkage, 6), round(float(found.correlation[0, 1]), 6)  # 0.64**2 / 100 / 0.36
    (0.011378, 0.593173)
    """
    correlation = matrix("correlation", correlation)
    p = len(correlation)
    if correlation.shape != (p, p) or not np.allclose(correlation, correlation.T, atol=1e-8):
        raise ArgumentError("correlation must be a symmetric matrix.")
    if not np.allclose(np.diag(correlation), 1.0, atol=1e-6):
        raise ArgumentError("correlation must have ones on its diagonal.")
    if n_reference is not None:
        count("n_reference", n_reference)
    smallest = float(eigvalsh(correlation, subset_by_index=[0, 0])[0])
    share = share_of_identity(correlation, smallest, n_reference)
    found = (1.0 - share) * correlation
    np.fill_diagonal(found, 1.0)
    return UsableLinkage(found, share)


def share_of_identity(correlation: Array, smallest: float, n_reference: int | None) -> float:
    """Return the share of the identity by which LD is shrunk; see `usable_linkage`.

    Parameters
    ----------
    correlation : array of shape (p, p)
    smallest : float
        Its smallest eigenvalue.
    n_reference : int, optional
    """
    share = 0.0
    p = len(correlation)
    if n_reference is not None and p > 1:
        square = correlation**2
        # the diagonal has squares of one, and no error
        error = float(np.sum((1.0 - square) ** 2)) / n_reference
        total = float(square.sum()) - p
        share = 1.0 if error >= total else error / total
    smallest = (1.0 - share) * smallest + share
    if smallest < SMALLEST_LD_EIGENVALUE:
        share += (1.0 - share) * (SMALLEST_LD_EIGENVALUE - smallest) / (1.0 - smallest)
    return share


class GhostKnockoffs:
    """Draw knockoff copies of Z-scores, block by block.

    Parameters
    ----------
    ld : LinkageBlocks
        Correlations of the markers.
    method : {"mvr", "maxent", "sdp", "equi"}, optional
        How S is chosen, as in `GaussianKnockoffs`.
    groups : array of int, shape (p,), optional
        Markers with the same number belong to one group, which lies in one block.
    n_joint : int
        Number m of copies that are exchangeable with the Z-scores and with each other.

    Attributes
    ----------
    correlations : tuple of arrays of shape (p_b, p_b)
        LD as it is used: shrunk by the number of people of the reference panel, eigenvalues
        bounded.
    shrinkage : array of shape (blocks,)
        Share of the identity in each of them.

    Examples
    --------
    >>> import numpy as np
    >>> from selica.sampling import GhostKnockoffs
    >>> from selica.tables import LinkageBlocks
    >>> ld = LinkageBlocks([0.5 ** np.abs(np.subtract.outer(range(4), range(4))), np.eye(2)])
    >>> ghosts = GhostKnockoffs(ld)
    >>> ghosts.draw([3.0, 1.0, 0.5, 0.2, -1.0, 4.0], random_state=0).shape
    (1, 6)
    >>> ghosts.joint_correlation(1)[0]  # of a marker with the others and with the copies
    array([1., 0., 0., 0.])
    """

    def __init__(
        self,
        ld: LinkageBlocks,
        method: str | None = None,
        *,
        groups: ArrayLike | None = None,
        n_joint: int = 1,
    ) -> None:
        self.ld = ld
        self.n_joint = count("n_joint", n_joint)
        self.groups = None if groups is None else group_labels(groups, len(ld))
        usable = [usable_linkage(one, ld.n_reference) for one in ld.matrices]
        self.correlations = tuple(one.correlation for one in usable)
        self.shrinkage = np.array([one.shrinkage for one in usable])
        self._check_groups()
        self._method = method
        size = sum(one.nbytes for one in self.correlations)
        self._keeps = _MATRICES * size <= _KEPT_BYTES
        self._known: dict[int, GaussianKnockoffs] = {}
        self._S: list[Any] = []
        for block in range(self.n_blocks):
            S = self._sampler(block).S_
            # the blocks of S are sparse: what is kept of many LD blocks is LD itself
            self._S.append(csr_array(S))

    def _sampler(self, block: int) -> GaussianKnockoffs:
        """Return the sampler of a block, made anew where all of them are too large to keep."""
        if block not in self._known:
            made = GaussianKnockoffs(
                0.0, self.correlations[block], self._method, n_joint=self.n_joint,
                groups=None if self.groups is None else self.groups[self.place(block)],
            )  # fmt: skip
            if not self._keeps:
                return made
            self._known[block] = made
        return self._known[block]

    def _check_groups(self) -> None:
        """Refuse groups with markers of two blocks."""
        if self.groups is None:
            return
        block = np.repeat(np.arange(len(self.correlations)), np.diff(self.ld.starts))
        pairs = np.unique(np.stack([self.groups, block]), axis=1)
        several = np.flatnonzero(np.bincount(pairs[0]) > 1)
        if several.size:
            first = self.ld.names[int(np.argmax(self.groups == several[0]))]
            raise ArgumentError(
                f"groups: the group of {first} has markers of two LD blocks; a group must lie in "
                "one block."
            )

    def place(self, block: int) -> slice:
        """Return which markers are in a block.

        Parameters
        ----------
        block : int
        """
        return slice(int(self.ld.starts[block]), int(self.ld.starts[block + 1]))

    @property
    def n_blocks(self) -> int:
        """Number of blocks."""
        return len(self.correlations)

    @property
    def s_(self) -> Array:
        """Diagonal of S, shape (p,): a marker and its copy have a correlation of 1 - s."""
        return np.concatenate([one.diagonal() for one in self._S])

    def draw(self, z: ArrayLike, random_state: RandomState | None = None, member: int = 0) -> Array:
        """Draw Z-scores of the copies.

        Parameters
        ----------
        z : array of shape (p,)
            Z-scores of the markers.
        random_state : None, int, SeedSequence, Generator or RandomState
        member : int
            Which of many draws. Each draw and each block have random numbers of their own.

        Returns
        -------
        array of shape (m, p)
        """
        scores = numbers("z", z)
        if scores.size != len(self.ld):
            raise ArgumentError(
                f"z must have one Z-score for each of the {len(self.ld)} markers of ld; got "
                f"{scores.size}."
            )
        seed = seed_sequence(random_state)
        found = np.empty((self.n_joint, scores.size))
        for block in range(self.n_blocks):
            where = self.place(block)
            # a table of one row: the copies of the Z-scores, side by side
            copies = self._sampler(block).copies(
                scores[None, where], child(seed, GHOSTS, block), [member]
            )
            found[:, where] = copies[0].reshape(self.n_joint, -1)
        return found

    def noise(self, draws: int, random_state: RandomState | None = None) -> Array:
        """Draw Z-scores of markers without effects, and of their copies.

        Parameters
        ----------
        draws : int
        random_state : None, int, SeedSequence, Generator or RandomState

        Returns
        -------
        array of shape (draws, m + 1, p)
            Markers first.
        """
        seed = seed_sequence(random_state)
        found = np.empty((draws, self.n_joint + 1, len(self.ld)))
        for block, one in enumerate(self.correlations):
            where = self.place(block)
            rng = generator(child(seed, NULLS, block))
            z = rng.standard_normal((draws, len(one))) @ cholesky(one, lower=True).T
            copies = self._sampler(block).copies(z, child(seed, GHOSTS, block), 1)[0]
            found[:, 0, where] = z
            found[:, 1:, where] = copies.reshape(draws, self.n_joint, -1)
        return found

    def joint_correlation(self, block: int) -> Array:
        """Return the correlations of the markers of a block and of all their copies.

        Parameters
        ----------
        block : int

        Returns
        -------
        array of shape ((m + 1) p_b, (m + 1) p_b)
            LD in the diagonal blocks, LD minus S off them.
        """
        own = self.correlations[block]
        versions = self.n_joint + 1
        joint = np.tile(own - self._S[block].toarray(), (versions, versions))
        for k in range(versions):
            where = slice(k * len(own), (k + 1) * len(own))
            joint[where, where] = own
        return joint

    def labels(self) -> IntArray:
        """Return the number of the group of each marker; each is its own without groups."""
        return np.arange(len(self.ld)) if self.groups is None else self.groups
