"""Run knockpy, hidimstat, ipss and selica on one study, and say where their answers agree.

`python -m benchmarks.peers.coming_from` needs an environment that has all of them (knockpy 1.3.5,
hidimstat 0.4.0 and ipss 1.1.13 were used); `--parts` runs some. The study is that of docs/methods.
The numbers are those of docs/coming-from.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from selica import IntegratedStability, KnockoffSelection, control
from selica.sampling import GaussianKnockoffs as SelicaKnockoffs
from selica.sampling import s_matrix, simulate

ROWS = 40_000
"""Rows from which the covariance of copies is estimated: an entry errs by about 0.01."""


def found(mask: Any, data: Any) -> str:
    """Return how many selected variables matter, and how many do not."""
    mask = np.asarray(mask, dtype=bool)
    return f"{(mask & data.support).sum()} true, {(mask & ~data.support).sum()} false"


def knockpy(data: Any) -> None:
    """Compare S-matrices, filters, statistics and lists, with the copies that knockpy drew."""
    from knockpy.knockoff_filter import KnockoffFilter

    sigma = np.asarray(data.covariance)
    for fstat, ours in (("lasso", "coefficient"), ("mlr", "mlr")):
        for method in ("mvr", "maxent"):
            np.random.seed(0)  # noqa: NPY002 (knockpy draws from the global state)
            peer = KnockoffFilter(
                fstat=fstat, ksampler="gaussian", knockoff_kwargs={"method": method}
            )
            theirs = peer.forward(X=data.X, y=data.y, mu=np.zeros(100), Sigma=sigma, fdr=0.1)
            theirs = theirs.astype(bool)
            copy = peer.Xk
            same = KnockoffSelection(
                0.1, statistic=ours, sampler=lambda X, rng, copy=copy: copy, random_state=0
            ).fit(data.X, data.y)
            filtered = control.knockoff_threshold(peer.W, 0.1) <= peer.W
            apart = np.abs(np.diag(peer.S) - s_matrix(sigma, method)).max()
            print(
                f"{fstat}, {method}: knockpy {found(theirs, data)}; selica, same copy "
                f"{found(same.support_, data)}; same list {np.array_equal(theirs, same.support_)}; "
                f"same list from the same W {np.array_equal(theirs, filtered)}; W correlated "
                f"{np.corrcoef(same.statistics_, peer.W)[0, 1]:.3f}; s apart by {apart:.1e}"
            )


def hidimstat(data: Any) -> None:
    """Compare filters and e-BH on the statistics of hidimstat, and look at its copies."""
    from hidimstat import ModelXKnockoff
    from hidimstat.samplers import GaussianKnockoffs
    from hidimstat.statistical_tools.multiple_testing import fdr_threshold

    one = ModelXKnockoff(n_repeats=1, random_state=0)
    one.fit_importance(data.X, data.y)
    theirs = np.asarray(one.fdr_selection(fdr=0.1)).astype(bool)
    W = one.importances_[0]
    ours = control.knockoff_threshold(W, 0.1) <= W
    print(f"one copy: {found(theirs, data)}; same list from W {np.array_equal(theirs, ours)}")
    many = ModelXKnockoff(n_repeats=5, random_state=0)
    many.fit_importance(data.X, data.y)
    theirs = many.fdr_selection(fdr=0.1, fdr_control="ebh", evalues=True)
    evalues = many.aggregated_eval_
    print(f"e-values of 5 copies: {found(theirs, data)}")
    print(f"e-BH of selica on the same e-values: {found(control.ebh(evalues, 0.1), data)}")
    raised = control.averaged_level(0.1, 0.05, 5)
    ahead = np.mean([control.posthoc_evalues(w, 0.05) for w in many.importances_], axis=0)
    print(f"rule of selica on the same statistics: {found(control.ebh(ahead, raised), data)}")
    zeros = np.zeros(10)
    print(f"all e-values 0: selects {(zeros >= fdr_threshold(zeros, 0.1, 'ebh')).sum()} of 10")
    X = simulate(ROWS, 20, 0, noise_variance=1.0, covariance=("ar1", 0.5), random_state=0).X
    sampler = GaussianKnockoffs()
    sampler.fit(X)
    copy = np.asarray(sampler.sample(n_repeats=1, random_state=0)).reshape(-1, 20)
    ours = SelicaKnockoffs().fit(X).copies(X, 0, 1)[0]
    apart = [np.abs(np.cov(one.T) - np.cov(X.T)).max() for one in (copy, np.asarray(ours))]
    print(
        "covariance of copies and of columns, largest difference: "
        f"{apart[0]:.2f}, of selica {apart[1]:.2f}"
    )


def ipss(data: Any) -> None:
    """Compare lists at one expected false selection."""
    from ipss import ipss as peer

    for selector in ("l1", "gb"):
        np.random.seed(0)  # noqa: NPY002 (ipss draws from the global state)
        scores = peer(data.X, data.y, selector=selector)["efp_scores"]
        theirs = np.array([scores.get(j, np.inf) <= 1.0 for j in range(100)])
        print(f"ipss, {selector}: {found(theirs, data)}")
        if selector == "l1":
            first = theirs
    for settings in (
        {},
        {"calibration": "bound", "order": 2},
        {"calibration": "bound", "order": 1},
    ):
        ours = IntegratedStability(random_state=0, **settings).fit(data.X, data.y).get_support()
        print(f"selica, {settings}: {found(ours, data)}; in both {(ours & first).sum()}")


PARTS: dict[str, Callable[[Any], None]] = {
    "knockpy": knockpy,
    "hidimstat": hidimstat,
    "ipss": ipss,
}


def main() -> None:
    """Run the parts that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--parts", nargs="*", choices=list(PARTS), default=list(PARTS))
    data = simulate(300, 100, 15, snr=3.0, covariance=("ar1", 0.5), random_state=1)
    for part in parser.parse_args().parts:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            PARTS[part](data)


if __name__ == "__main__":
    main()
