r"""Cavities of variables with several versions, for many columns that are independent.

Approximate message passing, with two products with the table in each iteration. For columns of
length :math:`\ell^{1/2}` and n rows,

.. math:: r = m + X'z / \ell , \quad s = n \ell / |z|^2 , \quad
    z \leftarrow y - X m + z\, \frac{s}{n} \sum \mathrm{Var}(w | r)

where m are the means of the coefficients in their cavities (:math:`C = s, \eta = s r`). In the
limit of many columns this is optimal: `theory.bayes.masked` says what it finds.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from selica._core.random import generator
from selica._core.types import Array, IntArray
from selica.amp.pairs import PairBeliefs, PairCavities, PairFields, PairPrior

_STEPS = 60
"""Iterations."""
_STEPS_BEFORE_PRIOR = 5
"""Iterations after which the prior is estimated."""
_SHARE = 0.5
"""Share of a new estimate of the prior that is taken over."""
_FIRST_PRIOR = 0.9
"""Share of zeros with which the iteration begins, where the prior is not known."""
_DIVERGED = 10.0
"""The iteration diverges where the residual is so many times as long as the response."""
_PROBES = 16
"""Random signs by which correlations of columns are measured."""
_CORRELATED = 0.1
"""Columns are independent if the squares of their correlations with all others sum up to at most
this much more than by chance."""


def looks_independent(columns: Sequence[Array]) -> bool:
    """Tell whether correlations between all columns are as small as by chance.

    Examples
    --------
    >>> import numpy as np
    >>> from selica.amp.pair_messages import looks_independent
    >>> X, copy = np.random.default_rng(0).standard_normal((2, 300, 200))
    >>> looks_independent([X, copy]), looks_independent([X, 0.8 * X + 0.6 * copy])
    (True, False)
    """
    n, p = columns[0].shape
    length = np.array([np.sqrt(np.einsum("np,np->p", one, one)) for one in columns])
    some = length > 0.0
    size = int(np.count_nonzero(some))
    if size < 2:
        return True
    inverse = np.where(some, 1.0 / np.where(some, length, 1.0), 0.0)
    signs = generator(0).choice([-1.0, 1.0], (len(columns), p, _PROBES)) * inverse[..., None]
    mixed = sum(one @ sign for one, sign in zip(columns, signs, strict=True))
    back = [inverse[k][:, None] * (one.T @ mixed) for k, one in enumerate(columns)]
    # the mean over random signs of |R s|^2 is the trace of R^2, R the matrix of correlations
    squares = float(np.mean(np.sum(np.square(back), axis=(0, 1)))) / size
    return bool(squares - 1.0 - (size - 1.0) / n < _CORRELATED)


def pair_messages(
    columns: Sequence[Array],
    response: Array,
    unit: IntArray,
    *,
    prior: PairPrior | None = None,
    steps: int = _STEPS,
) -> PairFields | None:
    """Return the cavities of all versions of all columns; None where the iteration diverges.

    Parameters
    ----------
    columns, response, unit
        As in `pair_propagation`.
    prior : PairPrior, optional
        By default it is estimated.
    steps : int

    Examples
    --------
    >>> import numpy as np
    >>> from selica.amp.pair_messages import pair_messages
    >>> rng = np.random.default_rng(0)
    >>> X, copy = rng.standard_normal((2, 200, 100))
    >>> y = X[:, 1] - X[:, 2] + 0.5 * rng.standard_normal(200)
    >>> found = pair_messages([X, copy], y / y.std(), np.arange(100))
    >>> odds = np.subtract(*found.prior.evidence(found.seen, np.arange(100)))
    >>> sorted(odds.argsort()[-2:].tolist())
    [1, 2]
    """
    n, p = columns[0].shape
    known = PairPrior(_FIRST_PRIOR, 1.0 / (p * (1.0 - _FIRST_PRIOR))) if prior is None else prior
    length = float(np.mean([np.einsum("np,np->p", one, one) for one in columns]))
    whole = float(response @ response)
    mean, z, found = np.zeros((len(columns), p)), response, None
    for number in range(steps if length > 0.0 and whole > 0.0 else 0):
        square = float(z @ z)
        if not square < _DIVERGED**2 * whole:
            return None
        s = n * length / max(square, np.finfo(float).tiny)
        field = mean + np.stack([one.T @ z for one in columns]) / length
        seen = PairCavities(s * field, np.full(field.shape, s))
        if prior is None and number >= _STEPS_BEFORE_PRIOR:
            known = known.towards(known.learnt(seen, unit, 1), _SHARE)
        beliefs: PairBeliefs = known.beliefs(seen, unit)
        mean = beliefs.mean
        fit = sum(one @ part for one, part in zip(columns, mean, strict=True))
        z = response - fit + z * (s / n * float(beliefs.variance.sum()))
        found = PairFields(seen, known, square / n, mean)
    return found
