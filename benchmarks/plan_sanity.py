"""Can plans be believed anywhere? Random studies: `python -m benchmarks.plan_sanity --studies 200`.

Every procedure is predicted in studies of up to a million variables, with three numbers of samples
each. No power may be above what is best possible at the false discovery rate of the procedure, and
none may fall where samples are added, beyond three standard errors that the predictions state and
a tolerance for what is not drawn. Results go to a file study by study: an interrupted run
continues.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from benchmarks.planning import LAWS, PROCEDURES

from selica.planning.predict.ceiling import ceiling
from selica.planning.predict.prediction import predict
from selica.planning.study import Study

SEED = 19
LEVELS = (0.05, 0.1, 0.2)
# Samples of a study, by those of the first.
_FACTORS = (1.0, 1.5, 3.0)
# Sizes of studies: from, to.
_FEATURES, _SAMPLES = (50, 1_000_000), (30, 20_000)
_SIGNALS = 1000
_DEVIATIONS = 3.0
# Power that whole numbers of selections of a half, and searches for penalties, may lose.
TOLERANCE = 0.005


class Setting(NamedTuple):
    """A random study, but for its samples."""

    n: int
    p: int
    k: int
    law: str
    r2: float
    fdr: float

    def __str__(self) -> str:
        return f"n {self.n}, p {self.p}, k {self.k} {self.law}, R2 {self.r2:g}, FDR {self.fdr:g}"

    def studies(self) -> list[Study]:
        """With three numbers of samples."""
        sizes = [round(self.n * factor) for factor in _FACTORS]
        return [Study.of(n, self.p, self.k, r2=self.r2, effects=LAWS[self.law]) for n in sizes]


def setting(number: int) -> Setting:
    """The study of a number."""
    rng = np.random.default_rng([SEED, number])

    def between(low: float, high: float) -> int:
        return round(math.exp(rng.uniform(math.log(low), math.log(high))))

    p = between(*_FEATURES)
    k = between(1, min(p // 4, _SIGNALS))
    law = list(LAWS)[rng.integers(len(LAWS))]
    r2, fdr = round(float(rng.uniform(0.05, 0.95)), 2), float(rng.choice(LEVELS))
    return Setting(between(*_SAMPLES), p, k, law, r2, fdr)


class Found(NamedTuple):
    """A method in a study."""

    n: int
    method: str
    power: float
    power_error: float
    fdr: float
    ceiling: float
    """Power that is best possible at the level, or at the FDR of the method where that is more."""
    ceiling_error: float
    seconds: float


def predictions(one: Setting) -> Iterator[Found]:
    """Every procedure in the three studies of a setting."""
    for study in one.studies():
        top = ceiling(study, one.fdr)
        for method in PROCEDURES:
            start = time.perf_counter()
            found = predict(study, method, one.fdr)
            seconds = time.perf_counter() - start
            best = top if found.fdr <= one.fdr else ceiling(study, found.fdr)
            yield Found(
                study.n_samples, method, found.power, found.power_error, found.fdr,
                ceiling=best.power, ceiling_error=best.power_error, seconds=seconds,
            )  # fmt: skip


def violations(found: list[Found]) -> list[tuple[float, str]]:
    """By how much more than three standard errors allow, and what it is; worst first."""
    out = []
    for one in found:
        error = math.hypot(one.power_error, one.ceiling_error)
        above = one.power - one.ceiling - _DEVIATIONS * error
        text = f"{one.method} at n {one.n}: {one.power:.3f} ({one.power_error:.3f})"
        out.append((above, f"{text}, best possible {one.ceiling:.3f}"))
    for method in PROCEDURES:
        for few, many in pairwise(one for one in found if one.method == method):
            error = math.hypot(few.power_error, many.power_error)
            text = f"{method} falls: {few.power:.3f} at n {few.n}, {many.power:.3f} at n {many.n}"
            out.append((few.power - many.power - _DEVIATIONS * error, f"{text} ({error:.3f})"))
    return sorted(((by, text) for by, text in out if by > TOLERANCE), reverse=True)


def _stored(out: Path | None) -> dict[int, list[Found]]:
    """Results by the number of the study."""
    lines: list[Any] = []
    for line in out.read_text().splitlines() if out is not None and out.exists() else ():
        try:
            lines.append(json.loads(line))
        except json.JSONDecodeError:  # cut short by an interruption
            continue
    return {one["study"]: [Found(*each) for each in one["found"]] for one in lines}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=200)
    parser.add_argument("--out", type=Path, help="file of results, which an interrupted run reads")
    options = parser.parse_args()
    stored = _stored(options.out)
    for number in range(options.studies):
        if number in stored:
            continue
        stored[number] = list(predictions(setting(number)))
        if options.out is not None:
            with options.out.open("a") as file:
                print(json.dumps({"study": number, "found": stored[number]}), file=file)
    every = [
        (by, f"{setting(number)}: {text}")
        for number in range(options.studies)
        for by, text in violations(stored[number])
    ]
    numbers = [one for number in range(options.studies) for one in stored[number]]
    slowest = max(numbers, key=lambda one: one.seconds)
    print(f"{options.studies} studies, {len(numbers)} predictions, {len(every)} violations")
    for by, text in sorted(every, reverse=True)[:20]:
        print(f"{by:.4f}  {text}")
    print(f"largest standard error {max(one.power_error for one in numbers):.3f}")
    print(f"slowest prediction {slowest.seconds:.1f} s ({slowest.method})")


if __name__ == "__main__":
    main()
