"""What the ensemble engine returns: answers, and the certificate that they are right."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from selica._core.results import Result
from selica._core.types import Array, IntArray


@dataclass(frozen=True, slots=True, repr=False)
class LassoBatch(Result):
    """B members over L penalties; parts that were not asked for are None.

    Attributes
    ----------
    lams : array (L,) or (B, L)
        Penalties, from large to small.
    lam2 : array of the shape of `lams`
        The ridge beside each of them.
    coef : array (B, L, p), optional
        Coefficients.
    sparse : sparse array (B * L, p), optional
        The same, row b * L + l for member b and penalty l.
    intercept : array (B, L)
        Zero without `fit_intercept`.
    counts : integer array (L, p), optional
        In how many members each variable is active.
    mean, second_moment : array (L, p), optional
        Averages over the members of the coefficient and of its square.
    first_entry : array (B, p), optional
        Largest penalty of the path at which a variable is active, zero if it never is.
    n_active : integer array (B, L)
        Number of active variables; -1 after a member has stopped at `max_active`.
    gap : array (B, L)
        Duality gap relative to half the weighted sum of squares of y.
    kkt : array (B, L)
        Largest violation of the optimality conditions, in the unit of the gradient.
    iterations : integer array (B, L)
    status : array of str (B, L)
        converged, max_iter, "stopped" after `max_active`, or "degenerate" where a member has
        nothing to fit, e.g. one class only.
    lam_max : array (B,), optional
        Smallest penalty at which a member selects nothing.
    passes : float, optional
        How often the design was read, in units of the whole design: to prepare it, to open the
        members, by products that serve several members at once or one, and column by column. None
        for losses that the core does not have.

    Examples
    --------
    >>> import numpy as np
    >>> from selica.solvers import lasso_path_batch
    >>> fit = lasso_path_batch(np.eye(3), [3.0, -2.0, 0.5], [2.5, 1.0], np.ones((1, 3)))
    >>> fit.n_active.tolist(), fit.converged, bool(fit.gap.max() < 1e-8)
    ([[1, 2]], True, True)
    """

    lams: Array
    lam2: Array
    coef: Array | None
    sparse: Any
    intercept: Array
    counts: IntArray | None
    mean: Array | None
    second_moment: Array | None
    first_entry: Array | None
    n_active: IntArray
    gap: Array
    kkt: Array
    iterations: IntArray
    status: Any
    lam_max: Array | None = None
    passes: float | None = None

    _columns: ClassVar[tuple[str, ...]] = ("n_active", "gap", "kkt", "iterations", "status")

    @property
    def n_members(self) -> int:
        """Number of members B."""
        return int(self.gap.shape[0])

    @property
    def converged(self) -> bool:
        """Whether every member converged at every penalty it was solved at."""
        return bool(np.all(np.asarray(self.status) != "max_iter"))

    def __repr__(self) -> str:
        members, lams = self.gap.shape
        state = "converged" if self.converged else "not converged everywhere"
        gap = f"largest relative gap {np.nanmax(self.gap, initial=0.0):.1e}"
        said = (f"{members} members", f"{lams} penalties", *self._more_sizes, state, gap)
        return f"{type(self).__name__}({', '.join(said)})"

    @property
    def _more_sizes(self) -> tuple[str, ...]:
        """Sizes of further axes, for `repr`."""
        return ()
