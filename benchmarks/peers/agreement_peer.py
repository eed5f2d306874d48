"""Answer small problems with a Python peer: `... -m benchmarks.peers.agreement_peer PEER FOLDER`.

Run by `benchmarks.peers.agreement` with the Python of the peer's environment.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import numpy as np

from .exchange import Array, Small, answer, read


def sksurv(problem: Small) -> tuple[Array, float]:
    """scikit-survival: no weights, so every row as often as its weight says; Breslow's ties."""
    from sksurv.linear_model import CoxnetSurvivalAnalysis
    from sksurv.util import Surv

    drawn = np.repeat(np.arange(len(problem.c)), problem.c.astype(int))
    X, n = problem.X[drawn], len(drawn)
    y = Surv.from_arrays(problem.event[drawn] > 0.5, problem.y[drawn])
    options = {"tol": 1e-14, "max_iter": 1_000_000, "normalize": False}
    first = CoxnetSurvivalAnalysis(l1_ratio=1.0, n_alphas=3, **options).fit(X, y).alphas_[0]
    alphas = problem.lams * (1.0 + problem.ridge) / n
    fit = CoxnetSurvivalAnalysis(l1_ratio=1 / (1 + problem.ridge), alphas=alphas, **options)
    return fit.fit(X, y).coef_.T, first * n


def adelie(problem: Small) -> tuple[Array, float]:
    """adelie: Cox with Breslow's or Efron's ties, with strata."""
    import adelie as ad

    total = problem.c.sum()
    start = np.full(len(problem.y), problem.y.min() - 1.0)
    glm = ad.glm.cox(
        start,
        problem.y.copy(),
        problem.event.copy(),
        strata=problem.strata if problem.loss == "cox-strata" else None,
        weights=problem.c / total,
        tie_method=problem.ties,
    )
    X = np.asfortranarray(problem.X)
    options = {"intercept": False, "early_exit": False, "progress_bar": False}
    largest = ad.grpnet(X, glm, lmda_path_size=2, min_ratio=0.9, **options).lmda_max
    options |= {"irls_tol": 1e-14, "tol": 1e-14, "max_iters": 1_000_000}
    lams = problem.lams * (1.0 + problem.ridge) / total
    fit = ad.grpnet(X, glm, lmda_path=lams, alpha=1.0 / (1.0 + problem.ridge), **options)
    if len(fit.lmdas) < len(lams):
        raise RuntimeError("the path is not complete")
    return fit.betas.toarray(), float(largest * total)


def main() -> None:
    """Answer all problems of the folder."""
    peer, folder = sys.argv[1], Path(sys.argv[2])
    warnings.filterwarnings("ignore")
    solve = {"sksurv": sksurv, "adelie": adelie}[peer]
    for problem in read(folder):
        try:
            W, largest = solve(problem)
        except (ValueError, ArithmeticError, RuntimeError) as error:
            words = f"{peer} gave up problem {problem.number} ({problem.loss}): {error}"
            print(words, file=sys.stderr)
            continue
        answer(folder, problem, W[:, :, None], np.zeros((len(W), 1)), largest)


if __name__ == "__main__":
    main()
