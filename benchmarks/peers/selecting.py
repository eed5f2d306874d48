"""Other people's selections: which columns a peer selects at a level, beside the truth.

`select_many` writes problems to a folder (`exchange`), lets the peer answer them in a process of
its own environment, and reads what it selected and how many processor seconds it took. Peers get
what a user has: X and y, no covariance and no number of signals; their settings are those that
their documentation gives as defaults (`selection_adapters`, `selecting.R`).

A folder has `manifest.csv` (number, n, p, columns, response, seed) and for problem k the doubles of
k.X (n, p) and k.y (n, columns): for survival the time and whether the event was seen. A peer writes
k.selected (p: 0 or 1) and k.seconds, or the sentence k.error.

`python -m benchmarks.peers.selecting` lets every peer that is installed select on two small
problems, ten strong effects and none.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .environments import R_PACKAGES, ROOT, missing, missing_in_r, python_of, version
from .exchange import Array, get, put, read_manifest, write_manifest

RESPONSES = ("linear", "binary", "count", "survival")
TOO_SLOW = "too slow"
LIMIT = 60.0
"""Processor seconds that a peer has for each problem."""
TRIAL_LEVELS = {"fdr": 0.1, "pfer": 1.0}
"""Levels of the two small problems."""
COLUMNS = ("number", "n", "p", "columns", "response", "seed")
ONE_THREAD = {
    f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL", "NUMBA", "BLIS")
}


@dataclass(frozen=True, slots=True)
class Problem:
    """A table and a response; the seed is for what the peer draws."""

    X: Array  # (n, p)
    y: Array  # (n,), for survival (n, 2): time, event
    response: str = "linear"
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of a selection: "fdr" or "pfer", its level, and the processor seconds."""

    target: str
    level: float
    limit: float = LIMIT


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a peer selected, or why it selected nothing."""

    selected: NDArray[np.bool_]
    seconds: float
    """Processor seconds of the selection alone, NaN where there is none."""
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Peer:
    """What is known of a peer before it runs."""

    label: str
    package: str
    """The environment it runs in (`environments`)."""
    targets: tuple[str, ...]
    """What it takes a level for; nothing for a peer without a level, which promises nothing."""
    responses: tuple[str, ...]
    promise: str
    correlated: bool
    """Whether the promise is meant for correlated columns too."""
    citation: str

    @property
    def version(self) -> str:
        """Version of the package."""
        return version(self.package)


_MODEL_X = "FDR, exact if the distribution of X is known; here its covariance is estimated"
_PVALUES = "p-values that are valid for many rows; then Benjamini-Hochberg, or Bonferroni"
PEERS: dict[str, Peer] = {
    "knockpy-lcd": Peer(
        label="knockpy, lasso coefficients",
        package="knockpy",
        targets=("fdr",),
        responses=("linear", "binary", "count"),
        promise=_MODEL_X,
        correlated=True,
        citation="Spector and Janson (2022), Annals of Statistics 50, 252-276",
    ),
    "knockpy-mlr": Peer(
        label="knockpy, masked likelihood ratio",
        package="knockpy",
        targets=("fdr",),
        responses=("linear", "binary", "count"),
        promise=_MODEL_X,
        correlated=True,
        citation="Spector and Fithian (2022), arXiv:2212.08766",
    ),
    "trex": Peer(
        label="T-Rex",
        package="trexselector",
        targets=("fdr",),
        responses=("linear",),
        promise="FDR where columns are independent",
        correlated=False,
        citation="Machkour, Muma and Palomar (2025), Signal Processing 231, 109894",
    ),
    "ipss-lasso": Peer(
        label="ipss, lasso",
        package="ipss",
        targets=("fdr", "pfer"),
        responses=("linear", "binary", "count"),
        promise="false selections where noise columns are alike; FDR estimated from them",
        correlated=False,
        citation="Melikechi and Miller (2025), JASA, 10.1080/01621459.2025.2525589",
    ),
    "ipss-boosting": Peer(
        label="ipss, gradient boosting",
        package="ipss",
        targets=("fdr", "pfer"),
        responses=("linear", "binary", "count"),
        promise="false selections where noise columns are alike; FDR estimated from them",
        correlated=False,
        citation="Melikechi, Dunson and Miller (2025), Bioinformatics, btaf299",
    ),
    "hidimstat-knockoffs": Peer(
        label="hidimstat, knockoffs",
        package="hidimstat",
        targets=("fdr",),
        responses=("linear", "binary", "count"),
        promise=_MODEL_X,
        correlated=True,
        citation="Candès, Fan, Janson and Lv (2018), JRSS B 80, 551-577",
    ),
    "hidimstat-dcrt": Peer(
        label="hidimstat, distilled CRT",
        package="hidimstat",
        targets=("fdr", "pfer"),
        responses=("linear", "binary", "count"),
        promise=_PVALUES,
        correlated=True,
        citation="Liu, Katsevich, Janson and Ramdas (2022), Biometrika 109, 277-293",
    ),
    "hidimstat-desparsified": Peer(
        label="hidimstat, desparsified lasso",
        package="hidimstat",
        targets=("fdr", "pfer"),
        responses=("linear",),
        promise=_PVALUES,
        correlated=True,
        citation="Zhang and Zhang (2014), JRSS B 76, 217-242",
    ),
    "boruta": Peer(
        label="Boruta",
        package="boruta",
        targets=(),
        responses=("linear", "binary", "count"),
        promise="nothing: it wants all relevant columns, also those without an effect of their own",
        correlated=False,
        citation="Kursa and Rudnicki (2010), Journal of Statistical Software 36(11)",
    ),
    "glmnet-cv": Peer(
        label="glmnet, cross-validated",
        package="glmnet",
        targets=(),
        responses=("linear", "binary", "count", "survival"),
        promise="nothing: the penalty is chosen for prediction",
        correlated=False,
        citation="Friedman, Hastie and Tibshirani (2010), Journal of Statistical Software 33(1)",
    ),
}


def select_many(
    peer: str, problems: Sequence[Problem], target: str, level: float, limit: float = LIMIT
) -> list[Outcome]:
    """Let a peer select on every problem, one after another, with one thread.

    Parameters
    ----------
    peer : str
        Name in `PEERS`. A peer without a level ignores `target` and `level`.
    problems : sequence of Problem
    target : {"fdr", "pfer"}
    level : float
    limit : float
        Processor seconds for each problem; a peer that needs more is "too slow".
    """
    known = PEERS[peer]
    if known.targets and target not in known.targets:
        raise ValueError(f"{peer} takes no level for {target!r}, only for {known.targets}")
    unknown = {problem.response for problem in problems} - set(known.responses)
    if unknown:
        raise ValueError(f"{peer} takes no response {', '.join(sorted(unknown))}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_problems(folder, problems)
        words = _run(peer, folder, Question(target, level, limit))
        return [read_outcome(folder, k, problem, words) for k, problem in enumerate(problems)]


def table() -> str:
    """Return the rows of the table of the peers."""
    rows = []
    for peer in PEERS.values():
        takes = " and ".join(target.upper() for target in peer.targets) or "no level"
        package = f"{peer.package} {peer.version}"
        where = "" if not peer.targets else "yes" if peer.correlated else "no"
        cells = (peer.label, package, takes, ", ".join(peer.responses), peer.promise, where)
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows)


def absence(peer: str) -> str | None:
    """Say why a peer cannot run here, or None."""
    package = PEERS[peer].package
    return missing_in_r(package) if package in R_PACKAGES else missing(package)


def _run(peer: str, folder: Path, question: Question) -> str:
    """Run the peer's process; return the last line that it complained with."""
    package = PEERS[peer].package
    command = [str(python_of(package)), "-m", "benchmarks.peers.selecting_peer"]
    if package in R_PACKAGES:
        command = ["Rscript", str(Path(__file__).with_name("selecting.R"))]
    command += [peer, str(folder), question.target, str(question.level), str(question.limit)]
    try:
        done = subprocess.run(
            command,
            cwd=ROOT,
            env=os.environ | ONE_THREAD,
            capture_output=True,
            text=True,
            check=False,
        )
    except FileNotFoundError:
        return absence(peer) or "no answer"
    return (done.stderr.strip().splitlines() or ["no answer"])[-1]


def write_problems(folder: Path, problems: Sequence[Problem]) -> None:
    """Write the problems for a peer to read."""
    lines = []
    for k, problem in enumerate(problems):
        y = np.asarray(problem.y, dtype=np.float64).reshape(len(problem.X), -1)
        lines.append((k, *problem.X.shape, y.shape[1], problem.response, problem.seed))
        put(folder, k, "X", problem.X)
        put(folder, k, "y", y)
    write_manifest(folder, COLUMNS, lines)


def read_problems(folder: Path) -> list[Problem]:
    """Read the problems of a folder."""
    problems = []
    for line in read_manifest(folder):
        number, n, p, columns = (int(line[name]) for name in COLUMNS[:4])
        y = get(folder, number, "y", n, columns)
        y = y[:, 0] if columns == 1 else y
        X = np.ascontiguousarray(get(folder, number, "X", n, p))
        problems.append(Problem(X, y, line["response"], int(line["seed"])))
    return problems


def read_outcome(folder: Path, number: int, problem: Problem, words: str) -> Outcome:
    """Read what a peer wrote on one problem; `words` say why where it wrote nothing."""
    p = problem.X.shape[1]
    selected, error = folder / f"{number}.selected", folder / f"{number}.error"
    if not error.exists() and selected.exists():
        mask = get(folder, number, "selected", p) > 0.5
        return Outcome(mask, float(get(folder, number, "seconds")[0]))
    sentence = error.read_text().strip() if error.exists() else words
    return Outcome(np.zeros(p, dtype=bool), float("nan"), sentence)


def trial_problems(n: int = 300, p: int = 60, k: int = 10) -> list[tuple[Problem, NDArray[Any]]]:
    """Draw a problem with k strong effects and one with none; each with its truth."""
    rng = np.random.default_rng(0)
    drawn = []
    for signals in (k, 0):
        X = rng.standard_normal((n, p))
        truth = np.arange(p) < signals
        y = X @ (0.5 * truth) + rng.standard_normal(n)
        drawn.append((Problem(X, y), truth))
    return drawn


def trial_row(peer: str, target: str, limit: float) -> str:
    """Let a peer select on both problems; return a row of the table."""
    drawn = trial_problems()
    level = TRIAL_LEVELS[target]
    outcomes = select_many(peer, [problem for problem, _ in drawn], target, level, limit)
    known = PEERS[peer]
    cells = [known.label, known.version, f"{target} {level:g}" if known.targets else "no promise"]
    if errors := [outcome.error for outcome in outcomes if outcome.error]:
        return "| " + " | ".join([*cells, errors[0], "", "", ""]) + " |"
    (signals, nothing), truth = outcomes, drawn[0][1]
    cells.append(f"{np.mean(signals.selected[truth]):.2f}")
    cells.append(str(np.count_nonzero(signals.selected & ~truth)))
    cells.append(str(np.count_nonzero(nothing.selected)))
    cells.append(f"{signals.seconds:.2f}")
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    """Print the table of the two small problems."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--peers", nargs="+", choices=PEERS, default=list(PEERS))
    parser.add_argument("--limit", type=float, default=LIMIT, help="processor seconds a problem")
    options = parser.parse_args()
    print("| peer | version | level | power | false | where nothing matters | seconds |")
    print("|---|---|---|---|---|---|---|")
    for peer in options.peers:
        if absent := absence(peer):
            print(f"| {PEERS[peer].label} | {absent} | | | | | |")
            continue
        for target in PEERS[peer].targets or ("fdr",):
            print(trial_row(peer, target, options.limit), flush=True)


if __name__ == "__main__":
    main()
