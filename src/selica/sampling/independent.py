"""Knockoffs of independent normal columns, those of the article: copies of independent numbers."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from selica._core.random import RandomState
from selica.sampling.copies import Copies, iid_copies
from selica.sampling.sampler import Sampler


class IndependentKnockoffs(Sampler):
    """Knockoffs of columns that are independent of each other and normal, of mean zero.

    Examples
    --------
    >>> import numpy as np
    >>> from selica.sampling import IndependentKnockoffs
    >>> X = np.random.default_rng(0).standard_normal((50, 3))
    >>> IndependentKnockoffs().copies(X, random_state=1, members=2).shape
    (2, 50, 3)
    """

    assumption = "the predictors are independent of each other and normal"
    mismatch = "the columns are not independent, as sampler='iid' takes them to be"
    centre = 0.0
    standardised = True
    independent = True

    def copies(self, X: ArrayLike, random_state: RandomState | None, members: Any) -> Copies:
        """Return copies of independent normal entries, of the size of the columns; `iid_copies`."""
        return iid_copies(X, random_state=random_state, members=members)

    def __repr__(self) -> str:
        return "IndependentKnockoffs()"
