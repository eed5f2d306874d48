"""selica's solvers beside other people's on random small problems, as one table.

`python -m benchmarks.peers.agreement`: glmnet, scikit-survival and adelie, which run in their own
environments, at tight tolerance, 100 problems each: n < p, ties, zero weights, resamples, real
weights, the elastic net, offsets, strata. Objectives are computed here, in plain NumPy, for both;
their difference is divided by the null loss minus its infimum. The unit of the penalty is fixed
first: `unit` is the largest relative difference between the peer's smallest penalty that selects
nothing and ours.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from .environments import ROOT, missing, python_of
from .exchange import Array, Small, answered, write
from .losses import Cox, Logistic, Multinomial, Poisson, Squared, null_loss

# Peer -> losses, with the way ties are handled behind a colon.
QUESTIONS: dict[str, tuple[str, ...]] = {
    "glmnet": ("squared", "logistic", "poisson", "cox", "cox-strata", "each", "group"),
    "sksurv": ("cox",),
    "adelie": ("cox", "cox:efron", "cox-strata", "cox-strata:efron"),
}
NAMES = {
    "squared": "lasso",
    "logistic": "logistic",
    "poisson": "poisson",
    "cox": "cox",
    "cox-strata": "cox",
    "each": "multinomial",
    "group": "multinomial",
}
RATIOS = (0.7, 0.4, 0.2, 0.1)
RIDGE = 0.5  # of the elastic net, beside the penalty
TOL = 1e-12
STRATA = 2
WEIGHTS = ("ones", "resample", "half", "real")


def make(number: int, loss: str, ties: str = "breslow", whole: bool = False) -> Small:
    """A random problem; `whole` weights for a peer that repeats rows."""
    rng = np.random.default_rng([number, sum(map(ord, loss))])
    wide = number % 3 == 0
    n = int(rng.integers(14, 22)) if wide else int(rng.integers(20, 45))
    p = int(rng.integers(n + 2, 2 * n)) if wide else int(rng.integers(2, 12))
    if loss in ("each", "group"):
        n += 15
    K = int(rng.integers(3, 5)) if loss in ("each", "group") else 1
    X = rng.standard_normal((n, p)) * rng.uniform(0.5, 1.5, p)
    tied = number % 2 == 0
    if tied:
        X = np.concatenate([X[: n - 4], X[:4] + 1e-3 * rng.standard_normal((4, p))])
    eta = X[:, : min(p, 2)].sum(axis=1)
    words = WEIGHTS[number % 4]
    while True:
        c = _weights(words, n, rng)
        if whole and words == "real":
            c = rng.integers(0, 4, n).astype(np.float64)
        rows = np.column_stack([*_response(loss, eta, K, tied, c, rng), c])
        if _usable(loss, rows, K):
            break
    ridge = RIDGE if number % 5 == 0 else 0.0
    kind = f"{'n < p' if wide else 'n > p'}, {words}{', ties' * tied}{', ridge' * (ridge > 0)}"
    draft = Small(number, loss, X, rows, np.ones(1), ridge, K, ties, kind)
    lams = largest(draft) * np.array(RATIOS)
    return Small(number, loss, X, rows, lams, ridge, K, ties, kind)


def _weights(words: str, n: int, rng: np.random.Generator) -> Array:
    if words == "resample":
        return rng.multinomial(n, np.full(n, 1 / n)).astype(np.float64)
    if words == "half":
        return rng.permutation(n) % 3 > 0
    return rng.exponential(size=n) if words == "real" else np.ones(n)


def _response(
    loss: str, eta: Array, K: int, tied: bool, c: Array, rng: np.random.Generator
) -> tuple[Array, Array, Array, Array]:
    """Response, event, stratum, offset."""
    n = len(eta)
    zero = np.zeros(n)
    if loss == "squared":
        y = 0.5 + eta + rng.standard_normal(n)
        spread = np.sqrt(c @ (y - c @ y / c.sum()) ** 2 / c.sum())  # glmnet: see agreement.R
        return y / spread, zero, zero, zero
    if loss == "logistic":
        return (rng.random(n) < 1 / (1 + np.exp(-eta))).astype(np.float64), zero, zero, zero
    if loss == "poisson":
        offset = np.log(rng.uniform(0.5, 2.0, n))
        return rng.poisson(np.exp(0.5 * eta + offset)).astype(np.float64), zero, zero, offset
    if K > 1:
        scores = eta[:, None] * np.linspace(-1.0, 1.0, K) + rng.gumbel(size=(n, K))
        return scores.argmax(axis=1).astype(np.float64), zero, zero, zero
    time = rng.exponential(size=n) / np.exp(0.7 * eta)
    event = (rng.random(n) < 0.7).astype(np.float64)
    if tied:
        time = 1.0 + np.floor(8.0 * time / (time + np.median(time)))
    return time, event, rng.integers(0, STRATA, n).astype(np.float64), zero


def _usable(loss: str, rows: Array, K: int) -> bool:
    """Whether peers accept it: some of each class, enough events, a response that varies."""
    y, c = rows[:, 0], rows[:, 4]
    if loss == "logistic" or K > 1:
        return bool(np.bincount(y[c > 0].astype(int), minlength=max(K, 2)).min() >= 3)
    if loss.startswith("cox"):
        events = rows[(c > 0) & (rows[:, 1] > 0), 2].astype(int)
        return bool(np.bincount(events, minlength=STRATA).min() >= 3)
    return bool(np.ptp(y[c > 0]) > 0)


def _loss(s: Small) -> Any:
    if s.classes > 1:
        return Multinomial(s.y.astype(np.int64))
    if s.loss.startswith("cox"):
        return Cox(s.y, s.event, s.strata if s.loss == "cox-strata" else None, s.ties)
    if s.loss == "poisson":
        return Poisson(s.y, True, s.offset)
    return {"squared": Squared, "logistic": Logistic}[s.loss](s.y, True)


def largest(s: Small) -> float:
    """The smallest penalty that selects nothing."""
    loss = _loss(s)
    if s.classes > 1:
        shares = np.bincount(s.y.astype(int), s.c, s.classes) / s.c.sum()
        G = s.X.T @ (s.c[:, None] * (shares - np.eye(s.classes)[s.y.astype(int)]))
        each = np.abs(G).max(axis=1) if s.loss == "each" else np.linalg.norm(G, axis=1)
        return float(each.max())
    eta = loss.settle(np.zeros(len(s.c)) + s.offset, s.c)
    return float(np.abs(s.X.T @ loss.slope(eta, s.c)).max())


def objective(s: Small, lam: float, W: Array, intercept: Array) -> float:
    """Of W (p, K) and its intercepts (K,), over the null loss minus the infimum."""
    loss = _loss(s)
    eta = s.X @ W + intercept
    if s.classes == 1:
        value = loss.value(eta[:, 0] + s.offset, s.c)
        unit = null_loss(loss, s.c, s.offset) - loss.infimum(s.c)
    else:
        value, unit = loss.value(eta, s.c), loss.null(s.c)
    size = np.linalg.norm(W, axis=1).sum() if s.loss == "group" else np.abs(W).sum()
    return float(value + lam * size + 0.5 * s.ridge * lam * np.sum(W**2)) / unit


def ours(s: Small) -> tuple[Array, Array]:
    """W (L, p, K) and intercept (L, K) by selica."""
    from selica import solvers

    solve = getattr(solvers, f"{NAMES[s.loss]}_path_batch")
    options: dict[str, Any] = {"lam2": s.ridge * s.lams, "tol": TOL}
    response: Any = s.y
    if s.loss.startswith("cox"):
        response = (s.y, s.event)
        options["ties"] = s.ties
        if s.loss == "cox-strata":
            options["strata"] = s.strata
    elif s.classes <= 1:  # classes always have intercepts
        options["fit_intercept"] = True
    if s.loss == "poisson":
        options["offset"] = s.offset
    if s.classes > 1:
        response = s.y.astype(np.int64)
        options["penalty"] = s.loss
    fit = solve(s.X, response, s.lams, s.c[None], **options)
    shape = (len(s.lams), s.X.shape[1], s.classes)
    return fit.coef[0].reshape(shape), np.reshape(fit.intercept[0], (len(s.lams), -1))


def ask(peer: str, problems: list[Small], folder: Path) -> None:
    """Have the peer answer the problems, in a process of its environment."""
    write(folder, problems)
    if peer == "glmnet":
        command = ["Rscript", str(Path(__file__).with_name("agreement.R")), str(folder)]
    else:
        command = [str(python_of(peer)), "-m", "benchmarks.peers.agreement_peer", peer, str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)


def centred(W: Array) -> Array:
    """What classes have in common is not determined: contrasts are compared."""
    return W - W.mean(axis=-1, keepdims=True) if W.shape[-1] > 1 else W


def compare(peer: str, problems: list[Small], folder: Path) -> str:
    """The line of the table."""
    unit = apart = above = coefficients = 0.0
    solved, worst = 0, "-"
    for s in problems:
        if (theirs := answered(folder, s)) is None:
            continue
        solved += 1
        W, free = ours(s)
        unit = max(unit, abs(theirs[2] / largest(s) - 1.0))
        for k, lam in enumerate(s.lams):
            difference = objective(s, lam, W[k], free[k]) - objective(
                s, lam, theirs[0][k], theirs[1][k]
            )
            above = max(above, difference)
            if abs(difference) >= apart:
                apart = abs(difference)
                n, p = s.X.shape
                worst = f"{s.number}: {n} x {p}, {s.kind}, lam {RATIOS[k]} of the largest"
            between = np.abs(centred(W[k]) - centred(theirs[0][k])).max()
            coefficients = max(coefficients, float(between))
    name = problems[0].loss + (", Efron" if problems[0].ties == "efron" else "")
    cells = (peer, name, f"{solved} of {len(problems)}", f"{unit:.0e}", f"{apart:.0e}")
    return f"| {' | '.join((*cells, f'{above:.0e}', f'{coefficients:.0e}', worst))} |"


def main() -> None:
    """Ask and compare, peer by peer."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--peers", nargs="+", choices=QUESTIONS, default=list(QUESTIONS))
    parser.add_argument("--losses", nargs="+", help="of those a peer has; all by default")
    parser.add_argument("--problems", type=int, default=100)
    options = parser.parse_args()
    print("| peer | loss | problems | unit | objectives differ by | selica above by | ", end="")
    print("coefficients differ by | worst objective |")
    print("|---|---|---|---|---|---|---|---|")
    for peer in options.peers:
        if reason := missing(peer):
            print(f"| {peer} | {reason} | | | | | | |")
            continue
        for question in QUESTIONS[peer]:
            loss, _, ties = question.partition(":")
            if options.losses and loss not in options.losses:
                continue
            whole = peer == "sksurv"
            problems = [make(k, loss, ties or "breslow", whole) for k in range(options.problems)]
            with tempfile.TemporaryDirectory() as name:
                ask(peer, problems, Path(name))
                print(compare(peer, problems, Path(name)), flush=True)


if __name__ == "__main__":
    main()
