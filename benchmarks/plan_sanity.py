"""Can plans be believed anywhere? Random studies: `python -m benchmarks.plan_sanity --studies 200`.

Every procedure is predicted in studies of up to a million variables, with three numbers of samples
each; in two of five studies the response is binary, a count or a time of an event, or columns are
correlated. No power may be above what is best possible at the false discovery rate of the
procedure, and none may fall where samples are added, beyond two standard errors that the
predictions state. Results go to a file study by study: an interrupted run continues.
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
from benchmarks.planning import LAWS

from benchmarks import result_files
from selica.planning import Binary, Counts, Numeric, Survival
from selica.planning.predict.ceiling import ceiling
from selica.planning.predict.prediction import planned_names, predict
from selica.planning.responses import StudyResponse
from selica.planning.study import Study

SEED = 19
LEVELS = (0.05, 0.1, 0.2)
KINDS: dict[str, tuple[StudyResponse, Any]] = {
    "independent": (Numeric(), None),
    "prevalence 0.1": (Binary(0.1), None),
    "case-control": (Binary(0.01, cases=0.5), None),
    "counts": (Counts(1.0), None),
    "survival": (Survival(0.3), None),
    "AR 0.6": (Numeric(), ("ar1", 0.6)),
}
"""Responses and correlations."""
_USUAL = 0.6
"""Share of the studies with independent columns and a numeric response."""
# Samples of a study, by those of the first.
_FACTORS = (1.0, 1.5, 3.0)
# Sizes of studies: from, to.
_FEATURES, _SAMPLES = (50, 1_000_000), (30, 20_000)
_SIGNALS = 1000
_STRONGEST = 0.9
"""Largest share that is explained of another response, whose theory has an end."""
_DEVIATIONS = 2.0
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
    kind: str = "independent"

    def __str__(self) -> str:
        size = f"n {self.n}, p {self.p}, k {self.k} {self.law}"
        return f"{self.kind}, {size}, R2 {self.r2:g}, FDR {self.fdr:g}"

    def studies(self) -> list[Study]:
        """With three numbers of samples."""
        sizes = [round(self.n * factor) for factor in _FACTORS]
        response, covariance = KINDS[self.kind]
        return [
            Study.of(
                n, self.p, self.k, r2=self.r2, effects=LAWS[self.law], response=response,
                covariance=covariance,
            )
            for n in sizes
        ]  # fmt: skip


def setting(number: int) -> Setting:
    """The study of a number."""
    rng = np.random.default_rng([SEED, number])

    def between(low: float, high: float) -> int:
        return round(math.exp(rng.uniform(math.log(low), math.log(high))))

    p = between(*_FEATURES)
    k = between(1, min(p // 4, _SIGNALS))
    law = list(LAWS)[rng.integers(len(LAWS))]
    r2, fdr = round(float(rng.uniform(0.05, 0.95)), 2), float(rng.choice(LEVELS))
    n = between(*_SAMPLES)
    usual, *others = KINDS
    kind = usual if rng.random() < _USUAL else str(rng.choice(others))
    if KINDS[kind][0].name != "numeric":
        r2 = min(r2, _STRONGEST)
    return Setting(n, p, k, law, r2, fdr, kind)


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
        for method in planned_names(None, calibrated=True, study=study):
            start = time.perf_counter()
            found = predict(study, method, one.fdr)
            seconds = time.perf_counter() - start
            best = top if found.fdr <= one.fdr else ceiling(study, found.fdr)
            yield Found(
                study.n_samples, method, found.power, found.power_error, found.fdr,
                ceiling=best.power, ceiling_error=best.power_error, seconds=seconds,
            )  # fmt: skip


class Comparison(NamedTuple):
    """Two powers of which the first must not be above the second."""

    above: float
    """By how much it is, or less than nothing."""
    error: float
    """Standard error of that."""
    text: str

    @property
    def excess(self) -> float:
        """By how much more than two standard errors allow."""
        return self.above - _DEVIATIONS * self.error


def comparisons(found: list[Found]) -> list[Comparison]:
    """Powers with what is best possible, and with those of more samples."""
    out = []
    for one in found:
        error = math.hypot(one.power_error, one.ceiling_error)
        text = f"{one.method} at n {one.n}: {one.power:.4f}, best possible {one.ceiling:.4f}"
        out.append(Comparison(one.power - one.ceiling, error, f"{text} ({error:.4f})"))
    for method in dict.fromkeys(one.method for one in found):
        for few, many in pairwise(one for one in found if one.method == method):
            error = math.hypot(few.power_error, many.power_error)
            text = f"{method} falls: {few.power:.4f} at n {few.n}, {many.power:.4f} at n {many.n}"
            out.append(Comparison(few.power - many.power, error, f"{text} ({error:.4f})"))
    return out


def violations(found: list[Found]) -> list[Comparison]:
    """What is above by more than two standard errors and the tolerance; worst first."""
    some = [one for one in comparisons(found) if one.excess > TOLERANCE]
    return sorted(some, key=lambda one: -one.excess)


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
    """Predict what is missing, and print what is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=200)
    parser.add_argument("--out", type=Path, help="file of results, which an interrupted run reads")
    parser.add_argument("--csv", type=Path, help="file of the summary for docs/benchmarks.md")
    options = parser.parse_args()
    stored = _stored(options.out)
    for number in range(options.studies):
        if number in stored:
            continue
        stored[number] = list(predictions(setting(number)))
        if options.out is not None:
            with options.out.open("a") as file:
                print(json.dumps({"study": number, "found": stored[number]}), file=file)
    numbers = [one for number in range(options.studies) for one in stored[number]]
    every = [
        one._replace(text=f"{setting(number)}: {one.text}")
        for number in range(options.studies)
        for one in comparisons(stored[number])
    ]
    wrong = sorted((one for one in every if one.excess > 0.0), key=lambda one: -one.excess)
    large = sum(one.excess > TOLERANCE for one in wrong)
    slowest = max(numbers, key=lambda one: one.seconds)
    print(f"{options.studies} studies, {len(numbers)} predictions, {len(every)} comparisons")
    print(
        f"{len(wrong)} are above by more than two standard errors ({0.023 * len(every):.0f} would "
        f"be by chance if all pairs were equal), {large} of them by {TOLERANCE:g} more"
    )
    for one in wrong[:20]:
        print(f"{one.excess:.4f}  {one.text}")
    print(f"largest standard error {max(one.power_error for one in numbers):.3f}")
    print(f"slowest prediction {slowest.seconds:.1f} s ({slowest.method})")
    if options.csv is not None:
        summary = {
            "studies": options.studies, "comparisons": len(every), "beyond": len(wrong),
            "by_chance": round(0.023 * len(every)),
            "largest": f"{wrong[0].excess if wrong else 0.0:.4f}",
            "power_error": f"{max(one.power_error for one in numbers):.3f}",
            "slowest": f"{slowest.seconds:.0f}",
        }  # fmt: skip
        result_files.save(options.csv, [summary])


if __name__ == "__main__":
    main()
