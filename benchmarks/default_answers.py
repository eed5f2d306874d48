"""What `AutoSelection()` finds on tables of many kinds whose truth is known.

`python -m benchmarks.default_answers` prints the table of docs/choosing.md: for each kind the
method that was chosen, power, false selections, share of empty answers, and whether the promise
held.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed

Rng = np.random.Generator


def independent(rng: Rng, n: int, p: int) -> Any:
    return rng.standard_normal((n, p))


def autoregressive(rho: float) -> Callable[..., Any]:
    def columns(rng: Rng, n: int, p: int) -> Any:
        X = rng.standard_normal((n, p))
        for j in range(1, p):
            X[:, j] = rho * X[:, j - 1] + np.sqrt(1.0 - rho**2) * X[:, j]
        return X

    return columns


def blocks(size: int, rho: float) -> Callable[..., Any]:
    def columns(rng: Rng, n: int, p: int) -> Any:
        shared = np.repeat(rng.standard_normal((n, -(-p // size))), size, axis=1)[:, :p]
        return np.sqrt(rho) * shared + np.sqrt(1.0 - rho) * rng.standard_normal((n, p))

    return columns


def skewed(rng: Rng, n: int, p: int) -> Any:
    return np.exp(rng.standard_normal((n, p)))


def heavy(rng: Rng, n: int, p: int) -> Any:
    return rng.standard_t(3, (n, p))


def rare(rng: Rng, n: int, p: int) -> Any:
    return (rng.random((n, p)) < rng.uniform(0.03, 0.15, p)).astype(float)


def genotypes(rng: Rng, n: int, p: int) -> Any:
    """Counts 0, 1, 2 of neighbours that are inherited together."""
    cut = np.quantile(rng.standard_normal(10_000), rng.uniform(0.5, 0.9, p))
    return sum((autoregressive(0.8)(rng, n, p) > cut).astype(float) for _ in range(2))


def near_duplicates(rng: Rng, n: int, p: int) -> Any:
    X = rng.standard_normal((n, p))
    X[:, 1::2] = X[:, ::2] + 0.15 * X[:, 1::2]
    return X


def diabetes(rng: Rng, n: int, p: int) -> Any:
    """Measurements of 442 patients and products of them."""
    from sklearn.datasets import load_diabetes

    X = load_diabetes().data
    first, second = np.triu_indices(X.shape[1], 1)
    return np.column_stack([X, X[:, first] * X[:, second]])[rng.permutation(len(X))]


def digits(rng: Rng, n: int, p: int) -> Any:
    """Pixels of written digits: counts 0..16, neighbours alike."""
    from sklearn.datasets import load_digits

    X = load_digits().data
    return X[rng.choice(len(X), n, replace=False)][:, X.std(axis=0) > 1.0]


def _chance(x: Any) -> Any:
    return 1.0 / (1.0 + np.exp(-x))


class Kind(NamedTuple):
    """Tables of one kind: `n` rows, `p` columns, `k` of which matter."""

    name: str
    n: int
    p: int
    k: int
    columns: Callable[..., Any] = independent
    strength: float = 5.0
    """Coefficient of each column that matters, in standard errors of a single column."""
    effects: str = "equal"
    noise: str = "normal"
    response: str = "linear"

    def draw(self, rng: Rng) -> tuple[Any, Any, Any]:
        """Columns, response, and which columns matter."""
        X = np.asarray(self.columns(rng, self.n, self.p), dtype=float)
        n, p = X.shape
        Z = (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-12)
        truth = np.zeros(p, dtype=bool)
        if self.columns is near_duplicates:  # one of a pair, so that the other is false
            truth[2 * rng.choice(p // 2, self.k, replace=False)] = True
        else:
            truth[rng.choice(p, self.k, replace=False)] = True
        size = np.ones(self.k) if self.effects == "equal" else np.abs(rng.standard_normal(self.k))
        coef = np.zeros(p)
        coef[truth] = self.strength / np.sqrt(n) * size * rng.choice([-1.0, 1.0], self.k)
        line = Z @ coef
        if self.response == "binary":
            return X, (rng.random(n) < _chance(2.0 * line)).astype(float), truth
        if self.response == "rare classes":
            return X, (rng.random(n) < _chance(2.0 * line - 2.2)).astype(float), truth
        noise = rng.standard_normal(n) if self.noise == "normal" else rng.standard_t(3, n) / 3**0.5
        return X, line + noise, truth


KINDS = (
    Kind("independent 300 x 1000", 300, 1000, 10),
    Kind("independent 500 x 200", 500, 200, 20),
    Kind("independent 200 x 2000", 200, 2000, 8, strength=6.0),
    Kind("independent 100 x 50", 100, 50, 6),
    Kind("few strong signals, 200 x 500", 200, 500, 3, strength=7.0),
    Kind("tall, 5000 x 60", 5000, 60, 12),
    Kind("AR(1) 0.5, 500 x 200", 500, 200, 20, autoregressive(0.5)),
    Kind("AR(1) 0.8, 500 x 200", 500, 200, 12, autoregressive(0.8), strength=8.0),
    Kind("blocks of ten, 0.5, 400 x 200", 400, 200, 12, blocks(10, 0.5), strength=7.0),
    Kind("genotypes in disequilibrium, 500 x 300", 500, 300, 12, genotypes, strength=7.0),
    Kind("two classes, 400 x 200", 400, 200, 10, strength=5.0, response="binary"),
    Kind("two classes, one rare, 500 x 100", 500, 100, 6, strength=6.0, response="rare classes"),
    Kind("heavy tails of the noise, 400 x 200", 400, 200, 12, noise="heavy"),
    Kind("heavy tails of the columns, 400 x 200", 400, 200, 12, heavy),
    Kind("skewed columns, 400 x 200", 400, 200, 12, skewed),
    Kind("rare binary columns, 600 x 200", 600, 200, 12, rare),
    Kind("dense, 400 x 100, 40 matter", 400, 100, 40),
    Kind("Gaussian effects, 500 x 200", 500, 200, 20, strength=6.0, effects="gaussian"),
    Kind("near duplicates, 400 x 200", 400, 200, 10, near_duplicates, strength=8.0),
    Kind("measurements with products, planted", 442, 55, 8, diabetes, strength=8.0),
    Kind("pixels of digits, planted", 600, 50, 8, digits, strength=8.0),
)


class Answer(NamedTuple):
    """One fit."""

    chosen: str
    power: float
    false: int
    share: float
    """False selections among the selected."""
    empty: bool
    promised: str
    level: float | None
    seconds: float


def answer(kind: Kind, seed: int, selector: Any) -> Answer:
    """One table of a kind."""
    rng = np.random.default_rng([seed, *kind.name.encode()])
    X, y, truth = kind.draw(rng)
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        selector.set_params(random_state=seed).fit(X, y)
    found = selector.support_
    right, wrong = int((found & truth).sum()), int((found & ~truth).sum())
    promise = selector.guarantee_
    chosen = getattr(selector, "method_", type(selector).__name__)
    return Answer(
        chosen,
        power=right / kind.k,
        false=wrong,
        share=wrong / max(right + wrong, 1),
        empty=right + wrong == 0,
        promised=promise.controls,
        level=promise.level,
        seconds=time.perf_counter() - start,
    )


def row(kind: Kind, found: list[Answer]) -> dict[str, Any]:
    """Means over the tables of a kind; the promise is that of those that made one."""
    rates = [a.share if "rate" in a.promised else a.false for a in found if a.level is not None]
    levels = [a.level for a in found if a.level is not None]
    runs = len(found)
    spread = float(np.std(rates, ddof=1) / np.sqrt(len(rates))) if len(rates) > 1 else 0.0
    return {
        "kind": kind.name,
        "method": ", ".join(f"{m} {c}" for m, c in Counter(a.chosen for a in found).most_common()),
        "power": float(np.mean([a.power for a in found])),
        "false": float(np.mean([a.false for a in found])),
        "share": float(np.mean([a.share for a in found])),
        "empty": sum(a.empty for a in found) / runs,
        "promises": len(rates),
        "level": float(np.mean(levels)) if levels else None,
        "error": float(np.mean(rates)) if rates else None,
        "error_se": spread,
        "seconds": float(np.median([a.seconds for a in found])),
    }


HEAD = (
    "| kind | method chosen (times) | power | false share | empty | level | measured | seconds |\n"
    "|---|---|---|---|---|---|---|---|"
)


def line(one: dict[str, Any]) -> str:
    """A row of the table."""
    level, error = ("-", "-")
    if one["level"] is not None:
        level, error = f"{one['level']:.3g}", f"{one['error']:.2f} ({one['error_se']:.2f})"
        if one["error"] > one["level"] + 3.0 * one["error_se"]:
            error += " above"
    return (
        f"| {one['kind']} | {one['method']} | {one['power']:.2f} | {one['share']:.2f} | "
        f"{one['empty']:.2f} | {level} | {error} | {one['seconds']:.1f} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=30, help="tables of each kind")
    parser.add_argument("--only", help="kinds whose name contains this")
    parser.add_argument("--strength", type=float, default=1.0, help="factor on all effects")
    parser.add_argument("--n-jobs", type=int, default=2)
    options = parser.parse_args()
    from selica.selectors import AutoSelection

    print(HEAD)
    rows = []
    for kind in (one._replace(strength=options.strength * one.strength) for one in KINDS):
        if options.only and options.only not in kind.name:
            continue
        found = Parallel(n_jobs=options.n_jobs)(
            delayed(answer)(kind, seed, AutoSelection()) for seed in range(options.runs)
        )
        rows.append(row(kind, found))
        print(line(rows[-1]), flush=True)
    power, empty = (np.mean([one[name] for one in rows]) for name in ("power", "empty"))
    print(f"\nMean power {power:.3f}; empty {100 * empty:.1f} %; {len(rows)} kinds.")


if __name__ == "__main__":
    main()
