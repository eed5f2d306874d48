r"""Knockoff statistics: how much more a variable matters than its copy.

W_j is positive where the variable is ahead and changes its sign when variable and copy are
exchanged (Candes, Fan, Janson and Lv 2018). That needs everything that enters it, the penalty
included, to treat the two halves alike: a penalty is chosen by cross-validation on [X, copy].

Where each member has m joint copies, one fit on all m + 1 versions of the columns gives the
importances of them all, which `control.joint_wins` compares.

The fits of several copies, with all folds of their cross-validations, are members of one ensemble:
products with X serve all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from selica._core.errors import DoesNotApply
from selica._core.parallel import one_blas_thread
from selica._core.types import Array
from selica._core.validation import choice
from selica.statistics.bayes import bayes_importances
from selica.statistics.cross_validation import Validation, predictors
from selica.statistics.data import Data, beside, null_gradient, path_from, pull, standardised
from selica.statistics.fits import fit_copies
from selica.statistics.importance import importances
from selica.statistics.mlr import mlr_odds

STATISTICS = ("coefficient", "entry", "correlation", "bayes", "mlr")
"""Names of the statistics."""
MASKED = ("bayes", "mlr")
"""Those of a model of masked pairs, which have neither a penalty nor an estimator."""
SAMPLED = ("mlr",)
"""Those by Gibbs sampling, which compare a variable with one copy."""
COMBINATIONS = ("sum", "max", "l2")
"""How the importances of the columns of one variable, or of one group, are combined."""
_LEAST_TOP = 1e-300
"""Where no column has any pull a path begins here, so that all paths have the same length."""
_ENTRY_PENALTIES = 200
"""Penalties of the path along which variables enter."""


def knockoff_statistic(
    data: Data,
    copy: Array,
    rng: np.random.Generator,
    *,
    statistic: str = "coefficient",
    penalty: float | None = None,
    estimator: Any = None,
    n_folds: int = 10,
    combine: str = "sum",
) -> Array:
    """Return W of every variable, for one copy.

    Parameters
    ----------
    data : Data
    copy : array of shape (n, p)
        Knockoff copy of the columns as they were given, before standardisation.
    rng : Generator
        For the folds, and for Gibbs sampling.
    statistic : {"coefficient", "entry", "correlation", "bayes", "mlr"}
        - "coefficient": abs(w_j) - abs(w_copy_j) of the penalised fit;
        - "entry": the penalty at which the first of the two enters the path, with its sign;
        - "correlation": the same difference for correlations with the response;
        - "bayes": log odds that the variable, and not its copy, is the original, in a sparse
          Bayesian model whose prior is estimated, by message passing (`statistics.bayes`);
        - "mlr": the same, by Gibbs sampling: the masked likelihood ratio (`statistics.mlr`).
    penalty : float, optional
        In glmnet's unit; by default from cross-validation on both halves together.
    estimator : scikit-learn estimator, optional
        Instead of the penalised fit: its importances are compared.
    n_folds : int
    combine : {"sum", "max", "l2"}
        How columns that belong to one variable, or to one group of variables, are combined: by the
        sum of their importances, the largest, or the root of the sum of squares. "entry" always
        takes the first that enters.

    Examples
    --------
    >>> import numpy as np
    >>> from selica.sampling import simulate
    >>> from selica.statistics import knockoff_statistic, make_data
    >>> rng = np.random.default_rng(0)
    >>> data = simulate(100, 5, 1, snr=9.0, random_state=0)
    >>> copy = rng.standard_normal((100, 5))  # the columns are independent and Gaussian
    >>> W = knockoff_statistic(make_data(data.X, data.y, "squared"), copy, rng, penalty=0.1)
    >>> bool(W.argmax() == data.support.argmax())
    True
    """
    [W] = knockoff_statistics(
        data, [copy], [rng], statistic=statistic, penalty=penalty, estimator=estimator,
        n_folds=n_folds, combine=combine,
    )  # fmt: skip
    return np.asarray(W)


def knockoff_statistics(
    data: Data,
    copies: Sequence[Array],
    rngs: Sequence[np.random.Generator],
    *,
    statistic: str = "coefficient",
    penalty: float | None = None,
    estimator: Any = None,
    n_folds: int = 10,
    n_jobs: int | None = None,
    combine: str = "sum",
) -> Array:
    """Return W of every variable for several copies, (copies, p).

    Parameters
    ----------
    copies : sequence of arrays of shape (n, p)
    rngs : sequence of Generator
        For the folds of each copy, and for Gibbs sampling.
    n_jobs : int, optional
        1 for one thread; None for all.
    data, statistic, penalty, estimator, n_folds, combine
        As in `knockoff_statistic`.

    Examples
    --------
    >>> import numpy as np
    >>> from selica.sampling import simulate
    >>> from selica.statistics import knockoff_statistics, make_data
    >>> data = simulate(100, 5, 1, snr=9.0, random_state=0)
    >>> rngs = [np.random.default_rng(seed) for seed in range(3)]
    >>> copies = [rng.standard_normal((100, 5)) for rng in rngs]
    >>> made = make_data(data.X, data.y, "squared")
    >>> knockoff_statistics(made, copies, rngs, penalty=0.1).shape
    (3, 5)
    """
    if statistic in SAMPLED and estimator is None:
        n_threads = 1 if n_jobs == 1 else None
        each = zip(copies, rngs, strict=True)
        return np.array([mlr_odds(data, copy, rng, n_threads) for copy, rng in each])
    T = joint_importances(
        data, copies, rngs, statistic=statistic, penalty=penalty, estimator=estimator,
        n_folds=n_folds, n_jobs=n_jobs, combine=combine,
    )  # fmt: skip
    own, other = T[:, 0], T[:, 1]
    if statistic == "entry" and estimator is None:
        return np.asarray(np.maximum(own, other) * np.sign(own - other))
    return np.asarray(own - other)


def joint_importances(
    data: Data,
    copies: Sequence[Array],
    rngs: Sequence[np.random.Generator],
    *,
    statistic: str = "coefficient",
    penalty: float | None = None,
    estimator: Any = None,
    n_folds: int = 10,
    n_jobs: int | None = None,
    combine: str = "sum",
) -> Array:
    """Return the importances of all versions of every variable, (members, m + 1, variables).

    Version 0 is the variable itself, the others are its m joint copies.

    Parameters
    ----------
    copies : sequence of arrays of shape (n, m p)
        Of each member: its m copies side by side, as `GaussianKnockoffs` with `n_joint` draws them.
    rngs : sequence of Generator
        For the folds of each member.
    data, statistic, penalty, estimator, n_folds, n_jobs, combine
        As in `knockoff_statistics`. The importance of "entry" is the penalty at which a version
        enters the path, that of "bayes" the log evidence for it. "mlr" compares two versions at
        once, and has no importances.

    Examples
    --------
    >>> import numpy as np
    >>> from selica.sampling import GaussianKnockoffs, simulate
    >>> from selica.statistics import joint_importances, make_data
    >>> data = simulate(100, 6, 1, snr=9.0, random_state=0)
    >>> groups = np.array([0, 0, 1, 1, 2, 2])
    >>> knockoffs = GaussianKnockoffs(0.0, data.covariance, groups=groups, n_joint=5)
    >>> made = make_data(data.X, data.y, "squared", variable=groups)
    >>> copies, rngs = knockoffs.copies(data.X, 1, 1), [np.random.default_rng(0)]
    >>> T = joint_importances(made, copies, rngs, penalty=0.1)
    >>> T.shape, bool(T[0, 0].argmax() == groups[data.support.argmax()])
    ((1, 6, 3), True)
    """
    choice("statistic", statistic, STATISTICS)
    choice("combine", combine, COMBINATIONS)
    p = data.X.shape[1]
    m = copies[0].shape[1] // p
    if statistic in SAMPLED and estimator is None:
        raise DoesNotApply(
            f"statistic={statistic!r} compares a variable with one copy; for several joint copies "
            "use statistic='bayes' or 'coefficient'."
        )
    if estimator is not None:
        return _combined(
            data, np.array([_importances(estimator, data, c) for c in copies]), combine
        )
    if statistic == "bayes":
        with one_blas_thread():  # as many digits of it with any number of threads
            return np.array([bayes_importances(data, copy) for copy in copies])
    even = None if np.all(data.weight == 1.0) else data.weight
    columns = [standardised(copy, even)[0] for copy in copies]
    if statistic == "entry":
        # a variable enters with the first of its columns
        return data.largest(_entry(data, columns, n_jobs))
    if statistic == "correlation":
        slope = null_gradient(data, data.weight) / data.weight.sum()
        own = np.broadcast_to(pull(data, slope, data.X), (len(columns), p))
        size = np.concatenate([own, [pull(data, slope, c) for c in columns]], axis=1)
        size = size.reshape(-1, m + 1, p)
    elif penalty is not None:
        penalties, weights = np.full((len(columns), 1), penalty), _all_rows(data, len(columns))
        fit = fit_copies(data, columns, penalties, weights, n_jobs=n_jobs)
        assert fit.coef is not None
        size = _sizes(data, fit.coef[:, 0])
    else:
        size = _cross_validated(data, columns, rngs, n_folds, n_jobs)
    varies = np.array([np.concatenate([data.varies, copy.any(axis=0)]) for copy in columns])
    return _combined(data, np.where(varies.reshape(size.shape), size, 0.0), combine)


def _combined(data: Data, size: Array, combine: str) -> Array:
    """Return the importances of variables from those of their columns, (..., variables)."""
    if combine == "max":
        return data.largest(size)
    return np.sqrt(data.summed(size**2)) if combine == "l2" else data.summed(size)


def _versions(data: Data, values: Array) -> Array:
    """Return what a fit has for columns and copies by version, (copies, m + 1, p).

    Parameters
    ----------
    data : Data
    values : array of shape (copies, columns)
        Columns as `fit_copies` has them: those of `data.keep` come after either part.
    """
    p, k = data.X.shape[1], data.n_kept
    last = values.shape[1] - k
    kept = np.concatenate([values[:, :p], values[:, p + k : last]], axis=1)
    return np.asarray(kept.reshape(len(values), -1, p))


def _sizes(data: Data, coef: Array) -> Array:
    """Return the sizes of the coefficients of columns and copies, (copies, m + 1, p).

    Parameters
    ----------
    data : Data
    coef : array of shape (copies, columns), or (copies, columns, K) for K classes
        As `fit_copies` returns them.
    """
    return _versions(data, data.loss.charged(coef))


def _importances(estimator: Any, data: Data, copy: Array) -> Array:
    """Return the importances of variables and of their copies, (m + 1, p)."""
    all_versions = beside(data, copy)
    size = np.where(all_versions.varies, importances(estimator, all_versions), 0.0)
    return size.reshape(-1, data.X.shape[1])


def _all_rows(data: Data, copies: int) -> Array:
    """Return the weights of one member for each copy."""
    return np.ones((copies, 1, data.n_rows))


def _paths(data: Data, columns: list[Array], **settings: Any) -> list[Array]:
    """Return a path of penalties for each copy."""
    slope = null_gradient(data, data.weight) / data.weight.sum()
    own = pull(data, slope, data.X).max(initial=0.0)
    tops = [max(own, pull(data, slope, copy).max(initial=0.0), _LEAST_TOP) for copy in columns]
    shapes = [(len(copy), data.X.shape[1] + copy.shape[1]) for copy in columns]
    return [
        path_from(float(top), shape, **settings) for top, shape in zip(tops, shapes, strict=True)
    ]


def _entry(data: Data, columns: list[Array], n_jobs: int | None) -> Array:
    """Return the penalties at which columns and copies enter the path, (copies, m + 1, p)."""
    paths = np.array(_paths(data, columns, n_penalties=_ENTRY_PENALTIES))
    weights = _all_rows(data, len(columns))
    fit = fit_copies(data, columns, paths, weights, keep="entry", n_jobs=n_jobs)
    assert fit.first_entry is not None
    return _versions(data, fit.first_entry / data.weight.sum())


def _cross_validated(
    data: Data,
    columns: list[Array],
    rngs: Sequence[np.random.Generator],
    n_folds: int,
    n_jobs: int | None,
) -> Array:
    """Return sizes of coefficients at the best penalties, (copies, m + 1, p)."""
    runs = [
        Validation(data, rng, n_folds, path, early=True)
        for path, rng in zip(_paths(data, columns), rngs, strict=True)
    ]
    while live := [k for k, run in enumerate(runs) if not run.over]:
        fit = fit_copies(
            data, [columns[k] for k in live], np.array([runs[k].ahead for k in live]),
            np.array([runs[k].weights for k in live]), keep="coef", n_jobs=n_jobs,
        )  # fmt: skip
        assert fit.coef is not None
        for place, k in enumerate(live):
            members = slice(place * len(runs[k].weights), (place + 1) * len(runs[k].weights))

            def predict(rows: Any, coef: Array, copy: Array = columns[k]) -> Array:
                return predictors(data, rows, coef, data.X, copy)

            runs[k].take(fit.coef[members], fit.intercept[members], predict)
    best = [run.result() for run in runs]
    return _sizes(data, np.array([found.coef[found.best] for found in best]))
