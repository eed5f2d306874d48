"""What `AutoSelection()` finds on tables of many kinds whose truth is known.

`python -m benchmarks.default_answers` prints the table of docs/choosing.md: for each kind the
method that was chosen, power, false selections, share of empty answers, and whether the promise
held. With `--compare` every method of the catalogue that controls an error rate answers some of
the same tables, and the best of those that keep their promise stands beside it. Answers are kept
in `.bench/default_answers.jsonl`: a run that was stopped goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from benchmarks.table_kinds import (
    RESPONSES,
    Kind,
    autoregressive,
    blocks,
    diabetes,
    digits,
    genotypes,
    heavy,
    mixed,
    near_duplicates,
    rare,
    skewed,
)

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
    Kind("blocks of ten, 0.7, 100 x 2000", 100, 2000, 4, blocks(10, 0.7), strength=9.0),
    Kind("genotypes in disequilibrium, 500 x 300", 500, 300, 12, genotypes, strength=7.0),
    Kind("two classes, 400 x 200", 400, 200, 10, strength=5.0, response="binary"),
    Kind("two classes, one rare, 500 x 100", 500, 100, 6, strength=6.0, response="one class rare"),
    Kind("two classes, 100 x 2000", 100, 2000, 4, strength=9.0, response="binary"),
    Kind("counts, 300 x 150", 300, 150, 8, autoregressive(0.3), response="count"),
    Kind("survival, half censored, 300 x 100", 300, 100, 8, autoregressive(0.3), strength=6.0,
         response="survival"),
    Kind("survival, 200 x 1500", 200, 1500, 5, strength=7.0, response="survival"),
    Kind("three classes, 300 x 100", 300, 100, 6, strength=6.0, response="classes"),
    Kind("heavy tails of the noise, 400 x 200", 400, 200, 12, response="heavy tails"),
    Kind("heavy tails of the columns, 400 x 200", 400, 200, 12, heavy),
    Kind("skewed columns, 400 x 200", 400, 200, 12, skewed),
    Kind("rare binary columns, 600 x 200", 600, 200, 12, rare),
    Kind("numbers, counts and indicators, 400 x 150", 400, 150, 10, mixed, strength=6.0),
    Kind("dense, 400 x 100, 40 matter", 400, 100, 40),
    Kind("Gaussian effects, 500 x 200", 500, 200, 20, strength=6.0, effects="gaussian"),
    Kind("near duplicates, 400 x 200", 400, 200, 10, near_duplicates, strength=8.0),
    Kind("measurements with products, planted", 442, 55, 8, diabetes, strength=8.0),
    Kind("pixels of digits, planted", 600, 50, 8, digits, strength=8.0),
)  # fmt: skip


class Answer(NamedTuple):
    """One fit."""

    kind: str
    method: str
    seed: int
    chosen: str
    power: float
    false: int
    share: float
    """False selections among the selected."""
    empty: bool
    promised: str
    level: float | None
    seconds: float


def answer(kind: Kind, seed: int, method: str, level: dict[str, float]) -> Answer:
    """What a method of the catalogue selects in one table of a kind."""
    from selica import catalogue
    from selica.errors import SelicaError

    rng = np.random.default_rng([seed, *kind.name.encode()])
    X, y, truth = kind.draw(rng)
    row = catalogue.method(method)
    settings = {name: value for name, value in level.items() if name in row.levels}
    selector = row.load_selector()(
        **row.arguments(settings), response=RESPONSES[kind.response][0], random_state=seed
    )
    start = time.perf_counter()
    label = _label(method, level)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            selector.fit(X, y)
        except SelicaError:
            taken = time.perf_counter() - start
            return Answer(kind.name, label, seed, "refused", 0.0, 0, 0.0, True, "", None, taken)
    found = selector.support_
    right, wrong = int((found & truth).sum()), int((found & ~truth).sum())
    promise = selector.guarantee_
    return Answer(
        kind.name,
        label,
        seed,
        getattr(selector, "method_", method),
        power=right / kind.k,
        false=wrong,
        share=wrong / max(right + wrong, 1),
        empty=right + wrong == 0,
        promised=promise.controls,
        level=promise.level,
        seconds=time.perf_counter() - start,
    )


def row(found: list[Answer]) -> dict[str, Any]:
    """Means over the tables of a kind; the promise is that of those that made one."""
    rates = [a.share if "rate" in a.promised else a.false for a in found if a.level is not None]
    levels = [a.level for a in found if a.level is not None]
    runs = len(found)
    spread = float(np.std(rates, ddof=1) / np.sqrt(len(rates))) if len(rates) > 1 else 0.0
    level = float(np.mean(levels)) if levels else None
    error = float(np.mean(rates)) if rates else None
    return {
        "kind": found[0].kind,
        "name": found[0].method,
        "method": ", ".join(f"{m} {c}" for m, c in Counter(a.chosen for a in found).most_common()),
        "power": float(np.mean([a.power for a in found])),
        "share": float(np.mean([a.share for a in found])),
        "empty": sum(a.empty for a in found) / runs,
        "runs": runs,
        "level": level,
        "error": error,
        "error_se": spread,
        "holds": level is None or error is None or error <= level + 3.0 * spread,
        "seconds": float(np.median([a.seconds for a in found])),
    }


HEAD = (
    "| kind | method chosen (times) | power | false share | empty | level | measured | seconds |\n"
    "|---|---|---|---|---|---|---|---|"
)
COMPARED = (
    "| kind | automatic | best that keeps its promise | its power | ratio |\n|---|---|---|---|---|"
)


def line(one: dict[str, Any]) -> str:
    """A row of the table."""
    level, error = ("-", "-")
    if one["level"] is not None:
        level, error = f"{one['level']:.3g}", f"{one['error']:.2f} ({one['error_se']:.2f})"
        if not one["holds"]:
            error += " above"
    return (
        f"| {one['kind']} | {one['method']} | {one['power']:.2f} | {one['share']:.2f} | "
        f"{one['empty']:.2f} | {level} | {error} | {one['seconds']:.1f} |"
    )


def controlled() -> list[str]:
    """Names of the methods that a table can be given to and that control an error rate."""
    from selica import catalogue

    return [
        one.name
        for one in catalogue.methods()
        if one.selector is not None and one.levels and one.name != "auto"
    ]


class Store:
    """Answers in a file, one a line."""

    def __init__(self, path: Path) -> None:
        self.path = path
        lines = path.read_text().splitlines() if path.exists() else []
        read = (Answer(**json.loads(one)) for one in lines)
        self.known = {(a.kind, a.method, a.seed): a for a in read}

    def answers(self, jobs: Iterable[tuple[Kind, int, str, dict[str, float]]], n_jobs: int) -> None:
        """Work out the answers that are not known yet."""
        from joblib import Parallel, delayed

        open_jobs = [
            (kind, seed, method, level)
            for kind, seed, method, level in jobs
            if (kind.name, _label(method, level), seed) not in self.known
        ]
        work = Parallel(n_jobs=n_jobs, return_as="generator_unordered")(
            delayed(answer)(*job) for job in open_jobs
        )
        self.path.parent.mkdir(exist_ok=True)
        with self.path.open("a") as file:
            for one in work:
                self.known[one.kind, one.method, one.seed] = one
                file.write(json.dumps(one._asdict()) + "\n")
                file.flush()

    def of(self, kind: str, method: str, seeds: Iterable[int]) -> list[Answer]:
        """Return the answers of a method to tables of a kind."""
        return [self.known[kind, method, seed] for seed in seeds]


def _label(method: str, level: dict[str, float]) -> str:
    return " ".join([method, *(f"{name} {value:g}" for name, value in level.items())])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=50, help="tables of each kind")
    parser.add_argument("--only", help="kinds whose name contains this")
    parser.add_argument("--fdr", type=float, help="false discovery rate to ask for, if any")
    parser.add_argument("--compare", type=int, default=0, metavar="RUNS",
                        help="tables that every method of the catalogue answers")  # fmt: skip
    parser.add_argument("--store", type=Path, default=Path(".bench/default_answers.jsonl"))
    parser.add_argument("--n-jobs", type=int, default=2)
    options = parser.parse_args()
    level = {} if options.fdr is None else {"fdr": options.fdr}
    kinds = [kind for kind in KINDS if not options.only or options.only in kind.name]
    store = Store(options.store)
    name = _label("auto", level)
    print(HEAD)
    rows = []
    for kind in kinds:
        seeds = range(options.runs)
        store.answers(((kind, seed, "auto", level) for seed in seeds), options.n_jobs)
        rows.append(row(store.of(kind.name, name, seeds)))
        print(line(rows[-1]), flush=True)
    power, empty = (np.mean([one[name] for one in rows]) for name in ("power", "empty"))
    print(f"\nMean power {power:.3f}; empty {100 * empty:.1f} %; {len(rows)} kinds.")
    if options.compare:
        _compare(store, kinds, level, options)


def _compare(store: Store, kinds: list[Kind], level: dict[str, float], options: Any) -> None:
    """Print the best of the methods beside the automatic choice, on the same tables."""
    seeds = range(min(options.compare, options.runs))
    print(f"\n{COMPARED}")
    for kind in kinds:
        methods = controlled()
        store.answers(((kind, seed, one, {}) for one in methods for seed in seeds), options.n_jobs)
        rows = [row(store.of(kind.name, one, seeds)) for one in methods]
        kept = [one for one in rows if one["level"] is not None and one["holds"]]
        rows = sorted(kept, key=lambda one: -one["power"])
        mine = row(store.of(kind.name, _label("auto", level), seeds))["power"]
        best = rows[0]
        ratio = mine / best["power"] if best["power"] else 1.0
        print(
            f"| {kind.name} | {mine:.2f} | {best['name']} | {best['power']:.2f} | {ratio:.2f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
