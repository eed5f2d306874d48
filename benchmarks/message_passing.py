"""Message passing beside many refits: `python -m benchmarks.message_passing --accuracy`.

With `--iid` in the article's model, with `--speed` the time, beside that of other people's solvers.
Real data are read from the folder $SELICA_DATA (riboflavin, wine_quality, hiv_drug_resistance).
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from benchmarks.ensemble import PEERS
from benchmarks.peers.__main__ import measure
from benchmarks.peers.environments import missing
from benchmarks.peers.problem import (
    SINGLE,
    SINGLE_RATIO,
    SMALLEST_RATIO,
    TARGET_GAP,
    Problem,
    make_problem,
)
from benchmarks.peers.run_peer import one_thread

from selica.amp import knockoff_amp, stability_amp, stability_vamp
from selica.sampling import iid_copies, resample_weights, simulate
from selica.solvers import (
    knockoff_path_batch,
    lasso_batch,
    lasso_path_batch,
    logistic_path_batch,
)

# Penalties, in units of the smallest one that selects nothing in a single fit.
SHARES = (0.5, 0.2, 0.1)
# The article's model: number of variables, samples for each of them, resampling rates, and
# penalties in units of the rate.
N, ALPHAS, RATES, PENALTIES = 1000, (0.5, 1.0, 2.5), (0.5, 1.0, 2.0), (0.1, 0.4, 1.2)
# Fits of selica that are timed together, in the place of 1000; copies are held in memory.
RESAMPLES, COPIES = 96, 8
VARIANCES = ("vector", "scalar")
CORRELATED: dict[str, Any] = {
    "independent": "identity",
    "AR(1) 0.3": ("ar1", 0.3),
    "AR(1) 0.5": ("ar1", 0.5),
    "AR(1) 0.7": ("ar1", 0.7),
    "AR(1) 0.9": ("ar1", 0.9),
    "blocks of 10, 0.8": ("block", 0.8, 10),
}
ALGORITHMS: dict[str, Callable[..., Any]] = {
    "amp, vector": lambda X, y, lam, binary: stability_amp(X, y, lam),
    "amp, scalar": lambda X, y, lam, binary: stability_amp(X, y, lam, variances="scalar"),
    "vamp, diagonal": lambda X, y, lam, binary: stability_vamp(
        X, y, lam, response="binary" if binary else "linear"
    ),
    "vamp, restricted": lambda X, y, lam, binary: stability_vamp(
        X, y, lam, form="restricted", response="binary" if binary else "linear"
    ),
}


class Case(NamedTuple):
    """Data on which probabilities are compared."""

    name: str
    X: np.ndarray
    y: np.ndarray
    binary: bool = False

    @property
    def lam(self) -> np.ndarray:
        """Penalties, from large to small."""
        centre = 0.5 if self.binary else 0.0
        return np.abs(self.X.T @ (self.y - centre)).max() * np.array(SHARES)

    @property
    def algorithms(self) -> dict[str, Callable[..., Any]]:
        """Those for the kind of response."""
        return {k: f for k, f in ALGORITHMS.items() if k.startswith("vamp") or not self.binary}


def simulated() -> Iterator[Case]:
    for name, covariance in CORRELATED.items():
        for n, p in ((200, 400), (400, 200)):
            data = simulate(n, p, 15, snr=4.0, covariance=covariance, random_state=1)
            yield Case(f"{name}, {n} x {p}", data.X, data.y)
    for name in ("independent", "AR(1) 0.5"):
        data = simulate(
            400, 200, 12, covariance=CORRELATED[name], response="logistic", random_state=2
        )
        yield Case(f"{name}, labels, 400 x 200", data.X, data.y, binary=True)


def real(folder: Path) -> Iterator[Case]:
    import pandas as pd

    table = pd.read_csv(folder / "riboflavin" / "riboflavin.csv.gz")
    genes = table.iloc[:, 2:].to_numpy()
    for size in (1000, genes.shape[1]):
        variable = np.argsort(-genes.var(axis=0))[:size]
        yield standardized("riboflavin", genes[:, variable], table["y"].to_numpy())
    wine = pd.read_csv(folder / "wine_quality" / "winequality_red.csv.gz").to_numpy()
    noise = np.random.default_rng(0).standard_normal((wine.shape[0], 100))
    yield standardized("red wine", wine[:, :-1], wine[:, -1])
    yield standardized("red wine and noise", np.c_[wine[:, :-1], noise], wine[:, -1])
    table = pd.read_csv(folder / "hiv_drug_resistance" / "PI.csv.gz")
    for drug in ("ATV", "LPV"):
        rows = table[table[drug].notna()]
        mutations = rows.iloc[:, 7:].to_numpy(dtype=float)
        kept, times = np.unique(
            mutations[:, mutations.sum(axis=0) >= 3], axis=1, return_counts=True
        )
        yield standardized(f"HIV {drug}", kept[:, times == 1], np.log(rows[drug].to_numpy()))


def cases() -> Iterator[Case]:
    yield from simulated()
    if "SELICA_DATA" in os.environ:
        yield from real(Path(os.environ["SELICA_DATA"]))


def standardized(name: str, X: np.ndarray, y: np.ndarray) -> Case:
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    return Case(f"{name}, {X.shape[0]} x {X.shape[1]}", X, (y - y.mean()) / y.std())


def refits(
    case: Case, lam: np.ndarray, members: int, rate: float = 1.0
) -> tuple[np.ndarray, np.ndarray, float]:
    """Frequencies of selection over resamples, their standard errors (RMS), and the seconds."""
    weights = resample_weights(case.y.size, members, "poisson", rate, random_state=3)
    fit = logistic_path_batch if case.binary else lasso_path_batch
    start = time.perf_counter()
    counts = fit(case.X, case.y, lam, weights, fit_intercept=False, keep="counts").counts
    seconds = time.perf_counter() - start
    P = counts / members
    return P, standard_error(P, members), seconds


def standard_error(P: np.ndarray, members: int) -> np.ndarray:
    """Of frequencies (L, p), as a root mean square over the variables."""
    return np.sqrt(np.mean(P * (1.0 - P) / members, axis=1))


def accuracy(cases: Iterator[Case], members: int) -> Iterator[str]:
    """Lines of a table: errors at the three penalties, from large to small."""
    yield (
        f"RMS error and bias of selection probabilities at {SHARES} of the largest penalty, "
        f"beside {members} refits."
    )
    yield ""
    yield "| data | algorithm | RMS error | bias | converged | iterations | seconds |"
    yield "|---|---|---|---|---|---|---|"
    for case in cases:
        P, noise, seconds = refits(case, case.lam, members)
        yield f"| {case.name} | refits (their error) | {_row(noise)} | | | | {seconds:.2f} |"
        for name, algorithm in case.algorithms.items():
            start = time.perf_counter()
            found = algorithm(case.X, case.y, case.lam, case.binary)
            seconds = time.perf_counter() - start
            off = found.selection_probabilities - P
            good = "yes" if found.converged else ", ".join(found.status)
            yield (
                f"| | {name} | {_row(np.sqrt(np.mean(off**2, axis=1)))} | "
                f"{_row(off.mean(axis=1), '+.4f')} | {good} | "
                f"{', '.join(map(str, found.iterations))} | {seconds:.2f} |"
            )


def independent(members: int, copies: int) -> Iterator[str]:
    """Lines of a table: data of the article's model, where message passing should be exact."""
    yield (
        f"RMS error of probabilities beside {members} resamples or {copies} copies; allowed are "
        "1.5 standard errors or 0.02, whichever is more."
    )
    yield ""
    yield "| alpha | ensemble | lam | refits (their error) | message passing | allowed | reached |"
    yield "|---|---|---|---|---|---|---|"
    for alpha in ALPHAS:
        data = simulate(
            round(alpha * N), N, sparsity=0.2, noise_variance=0.01, random_state=9, scale="article"
        )
        case = Case("", data.X, data.y)
        for rate in RATES:
            lam = rate * np.array(PENALTIES)[::-1]
            P, error, _ = refits(case, lam, members, rate)
            found = stability_amp(data.X, data.y, lam, rate)
            yield from _judged(f"| {alpha:g} | resamples, rate {rate:g} ", found, P, error)
        lam = np.array(PENALTIES[1::-1])
        P = beating(case, lam, copies)
        found = knockoff_amp(data.X, data.y, lam)
        yield from _judged(f"| {alpha:g} | copies ", found, P, standard_error(P, copies))


def beating(case: Case, lam: np.ndarray, members: int) -> np.ndarray:
    """How often a variable has a larger coefficient than its copy, (L, p)."""
    drawn = iid_copies(case.X, random_state=1, members=members).__getitem__
    size = np.abs(knockoff_path_batch(case.X, case.y, lam, drawn, members).coef)
    p = case.X.shape[1]
    return np.mean(size[..., :p] > size[..., p:], axis=0)


def _judged(name: str, found: Any, P: np.ndarray, error: np.ndarray) -> Iterator[str]:
    rms = np.sqrt(np.mean((found.selection_probabilities - P) ** 2, axis=1))
    for lam, off, noise, status in zip(found.lam, rms, error, found.status, strict=True):
        allowed = max(1.5 * noise, 0.02)
        reached = "yes" if off <= allowed and status == "converged" else f"no ({status})"
        yield f"{name}| {lam:g} | {noise:.4f} | {off:.4f} | {allowed:.3f} | {reached} |"


def speed(peers: list[str], repeats: int) -> Iterator[str]:
    """Lines of a table: one penalty without refits, beside 1000 refits."""
    yield (
        f"Processor time, best of {repeats} interleaved runs, one thread, {SINGLE_RATIO} of the "
        f"largest penalty; peers at a gap of {TARGET_GAP:.0e}. Aims: 100 times the fastest peer "
        "(knockoffs: 300), 10 fits, 12 times one penalty."
    )
    yield ""
    yield (
        "| n x p | algorithm | ms | fastest peer, ms a member | 1000 members by it | single fits "
        "of selica | 1000 members by selica | 50 penalties / one |"
    )
    yield "|---|---|---|---|---|---|---|---|"
    for name in SINGLE:
        records = [measure(peer, name) for peer in peers]
        met = [r for r in records if r["gap_met"]]
        members = COPIES if "knockoffs" in name else RESAMPLES
        seconds = best(_work(make_problem(name, members)), repeats)
        fit, many = (seconds.pop(part) for part in ("fit", "members"))
        fastest = min(met, key=lambda r: r["cpu_seconds_per_member"], default=None)
        for variances in VARIANCES:
            one, grid = (seconds[f"{variances}, {part}"] for part in ("one", "grid"))
            peer = times = "-"
            if fastest:
                each = fastest["cpu_seconds_per_member"]
                peer, times = f"{fastest['peer']}, {1e3 * each:.3g}", f"{1000 * each / one:.0f}"
            cells = [name.removeprefix("single-"), variances, f"{1e3 * one:.3g}", peer, times]
            cells += [f"{one / fit:.1f}", f"{1000 * many / members / one:.0f}", f"{grid / one:.1f}"]
            yield f"| {' | '.join(cells)} |"


def _work(problem: Problem) -> dict[str, Callable[[], Any]]:
    """What is timed of selica on one workload."""
    X, y, lam = problem.X, problem.y, problem.lams
    grid = lam[0] / SINGLE_RATIO * np.geomspace(1.0, SMALLEST_RATIO, 50)
    copies = problem.copies
    if copies is None:
        algorithm: Callable[..., Any] = stability_amp

        def fits(members: int) -> Any:
            return lasso_batch(X, y, lam[0], problem.weights[:members], keep="counts")
    else:
        algorithm = knockoff_amp

        def fits(members: int) -> Any:
            return knockoff_path_batch(X, y, lam, lambda b: copies[b].T, members, keep="counts")

    work: dict[str, Callable[[], Any]] = {
        "fit": lambda: fits(1),
        "members": lambda: fits(len(problem.weights)),
    }
    for variances in VARIANCES:
        run = partial(algorithm, X, y, variances=variances)
        work[f"{variances}, one"] = partial(run, lam[0])
        work[f"{variances}, grid"] = partial(run, grid)
    return work


def best(work: dict[str, Callable[[], Any]], repeats: int) -> dict[str, float]:
    """Processor seconds of each, interleaved as the machine varies; first runs do not count."""
    times = np.full((len(work), repeats + 1), np.inf)
    for k in range(repeats + 1):
        for row, run in zip(times, work.values(), strict=True):
            start = time.process_time()
            run()
            row[k] = time.process_time() - start
    return dict(zip(work, times[:, 1:].min(axis=1), strict=True))


def _row(values: np.ndarray, form: str = ".4f") -> str:
    return ", ".join(format(value, form) for value in values)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--accuracy", action="store_true", help="errors beside refits")
    parser.add_argument("--iid", action="store_true", help="errors in the article's model")
    parser.add_argument("--members", type=int, default=2000)
    parser.add_argument("--copies", type=int, default=1000)
    parser.add_argument("--speed", action="store_true", help="seconds beside refits, by peers too")
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    if not (options.accuracy or options.iid or options.speed):
        parser.error("name a part: --accuracy, --iid, --speed")
    one_thread("benchmarks.message_passing")
    if options.speed:
        peers = [peer for peer in PEERS if not missing(peer)]
        for line in speed(peers, options.repeats):
            print(line, flush=True)
    if options.iid:
        for line in independent(options.members, options.copies):
            print(line, flush=True)
    if options.accuracy:
        for line in accuracy(cases(), options.members):
            print(line, flush=True)
        if "SELICA_DATA" not in os.environ:
            print("\nReal data are left out: SELICA_DATA does not name their folder.")


if __name__ == "__main__":
    main()
