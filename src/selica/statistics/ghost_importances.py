r"""Importances of markers and of their ghost copies, from Z-scores alone.

- "marginal": the square of the Z-score.
- "lasso": coefficients of the penalised quadratic
  :math:`\tfrac12 w'Gw - w'r + \lambda|w|_1` with the correlations G of markers and copies and
  :math:`r = (Z, \tilde Z) / \sqrt n`, block by block: the lasso of the table that nobody has
  (Chen, He and others 2024).

The penalty needs no table either. "theory" is a share of the largest noise: the mean, over draws of
:math:`N(0, G/n)`, of their largest entry in size. "validation" splits r into two independent
parts, as if people were: with noise :math:`g \sim N(0, G)`, :math:`r + g\sqrt{n_v/(n n_t)}` is
what :math:`n_t` people would have given, the rest what the others would; the penalty whose
coefficients predict these best is taken. Both treat a marker and its copies alike, so that the
copies of noise stay exchangeable with it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from selica._core.errors import ConvergenceWarning
from selica._core.random import child
from selica._core.types import Array
from selica._core.warning import warn
from selica.sampling.ghosts import GhostKnockoffs
from selica.solvers.quadratic import quadratic_lasso

GHOST_STATISTICS = ("lasso", "marginal")
"""How markers are compared with their copies."""
GHOST_PENALTIES = ("theory", "validation")
"""How the penalty of "lasso" is chosen where it is no number."""
_SHARE_OF_NOISE = 0.6
"""Penalty as a share of the largest noise (Chen, He and others 2024)."""
_NOISE_DRAWS = 30
"""Draws that the largest noise is the mean of."""
_SPLITS = 5
"""Splits of the Z-scores that a validated penalty is chosen by."""
_TRAINING = 0.8
"""Share of the people in the larger part of a split."""
_SHARES = np.geomspace(1.2, 0.2, 13)
"""Penalties that are tried, as shares of the largest noise."""
_LARGEST_KKT = 1e-8
"""Violation of the optimality conditions, as a share of the penalty, above which a fit is told."""
NOISE = int.from_bytes(b"gnoi", "big")
"""Purpose of the draws of noise."""
SPLITS = int.from_bytes(b"gspl", "big")
"""Purpose of the splits of Z-scores."""


class GhostImportances(NamedTuple):
    """Importances, and what the fit says of itself."""

    values: Array
    """(m + 1, K): of the K markers or groups in the first row, of their copies in the others."""
    lam: float | None
    """Penalty; None without a fit."""
    kkt: float
    """Largest violation of the optimality conditions, in the unit of the gradient; 0 without."""


def marginal_importances(ghosts: GhostKnockoffs, Z: Array) -> GhostImportances:
    """Return squares of Z-scores, added up over the members of groups.

    Parameters
    ----------
    ghosts : GhostKnockoffs
    Z : array of shape (m + 1, p)
        Z-scores of the markers, then of the copies.

    Examples
    --------
    >>> import numpy as np
    >>> from selica.sampling import GhostKnockoffs
    >>> from selica.statistics.ghost_importances import marginal_importances
    >>> from selica.tables import LinkageBlocks
    >>> ghosts = GhostKnockoffs(LinkageBlocks([np.eye(2)]))
    >>> marginal_importances(ghosts, np.array([[3.0, 0.0], [1.0, -2.0]])).values
    array([[9., 0.],
           [1., 4.]])
    """
    return GhostImportances(_by_group(ghosts, Z**2), None, 0.0)


def lasso_importances(
    ghosts: GhostKnockoffs,
    Z: Array,
    n_samples: float,
    lam: float | str,
    seed: np.random.SeedSequence,
) -> GhostImportances:
    """Return sizes of the coefficients of a lasso from Z-scores, added up over groups.

    Parameters
    ----------
    ghosts : GhostKnockoffs
    Z : array of shape (m + 1, p)
        Z-scores of the markers, then of the copies.
    n_samples : float
        Number of people behind the Z-scores.
    lam : float, "theory" or "validation"
        Penalty for a response of variance one, in glmnet's unit.
    seed : SeedSequence
        Of the draws by which a penalty is chosen.

    Examples
    --------
    >>> import numpy as np
    >>> from selica.sampling import GhostKnockoffs
    >>> from selica.statistics.ghost_importances import lasso_importances
    >>> from selica.tables import LinkageBlocks
    >>> ghosts = GhostKnockoffs(LinkageBlocks([np.eye(2)]))
    >>> Z = np.array([[3.0, 0.0], [1.0, -2.0]])
    >>> lasso_importances(ghosts, Z, 100, 0.15, np.random.SeedSequence(0)).values.round(12)
    array([[0.15, 0.  ],
           [0.  , 0.05]])
    """
    r = Z / np.sqrt(n_samples)
    if lam == "theory":
        chosen = _SHARE_OF_NOISE * largest_noise(ghosts, seed) / np.sqrt(n_samples)
    elif lam == "validation":
        chosen = validated_penalty(ghosts, r, n_samples, seed)
    else:
        chosen = float(lam)
    coef, worst, converged = np.zeros_like(r), 0.0, True
    for block in range(ghosts.n_blocks):
        where = ghosts.place(block)
        part = r[:, where]
        fit = quadratic_lasso(ghosts.joint_correlation(block), part.ravel(), chosen)
        coef[:, where] = fit.coef.reshape(part.shape)
        worst, converged = max(worst, fit.kkt), converged and fit.converged
    if not converged or worst > _LARGEST_KKT * chosen:
        warn(
            "The lasso from Z-scores is not solved to its last digits: the optimality conditions "
            f"are off by {worst / chosen:.1e} of the penalty.",
            ConvergenceWarning,
        )
    return GhostImportances(_by_group(ghosts, np.abs(coef)), chosen, worst)


def largest_noise(ghosts: GhostKnockoffs, seed: np.random.SeedSequence) -> float:
    """Return the mean of the largest Z-score, in size, of markers and copies without effects.

    Parameters
    ----------
    ghosts : GhostKnockoffs
    seed : SeedSequence
    """
    noise = ghosts.noise(_NOISE_DRAWS, child(seed, NOISE))
    return float(np.abs(noise).max(axis=(1, 2)).mean())


def validated_penalty(
    ghosts: GhostKnockoffs, r: Array, n_samples: float, seed: np.random.SeedSequence
) -> float:
    r"""Return the penalty whose coefficients predict the left-out part of the Z-scores best.

    The best is the largest mean, over splits, of :math:`w'r_v / \sqrt{w'Gw}`, the correlation of
    prediction and response in the left-out part.

    Parameters
    ----------
    ghosts : GhostKnockoffs
    r : array of shape (m + 1, p)
        Z-scores of markers and copies over the root of the number of people.
    n_samples : float
    seed : SeedSequence
    """
    trained, left = _TRAINING * n_samples, (1.0 - _TRAINING) * n_samples
    lams = _SHARES * largest_noise(ghosts, seed) / np.sqrt(trained)
    along, length = np.zeros((_SPLITS, lams.size)), np.zeros((_SPLITS, lams.size))
    noises = ghosts.noise(_SPLITS, child(seed, SPLITS))
    for block in range(ghosts.n_blocks):
        where, G = ghosts.place(block), ghosts.joint_correlation(block)
        for split, noise in enumerate(noises):
            first = (r + noise * np.sqrt(left / (n_samples * trained)))[:, where].ravel()
            second = (n_samples * r[:, where].ravel() - trained * first) / left
            w = np.zeros(first.size)
            for k, lam in enumerate(lams):
                w = quadratic_lasso(G, first, lam, w).coef
                along[split, k] += w @ second
                length[split, k] += w @ G @ w
    score = np.mean(along / np.sqrt(np.where(length > 0.0, length, np.inf)), axis=0)
    # the penalty for all people: noise is smaller by the root of the share
    return float(lams[int(np.argmax(score))] * np.sqrt(_TRAINING))


def _by_group(ghosts: GhostKnockoffs, values: Array) -> Array:
    """Return values of markers added up over the members of groups, (m + 1, K)."""
    if ghosts.groups is None:
        return values
    found = np.zeros((len(values), int(ghosts.groups.max()) + 1))
    np.add.at(found.T, ghosts.groups, values.T)
    return found
