"""From answers to tables: means with standard errors, who is marked, who is ahead."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.arena.contestants import TARGETS, Contestant, Target
from benchmarks.arena.store import TOO_SLOW, Answer, Answers

MARGIN = 2.0
"""Standard errors by which a mean error may exceed its target."""
FEWEST = 4
"""Answers below which nobody is judged."""
RANKED = "ranked"
BROKEN = "breaks its level"
SILENT = "no promise"
REFUSED = "refuses"


@dataclass(frozen=True)
class Row:
    """A contestant on one kind of data, at one target."""

    kind: str
    target: str
    contestant: str
    label: str
    peer: bool
    status: str
    """One of `RANKED`, `BROKEN`, `SILENT`, `REFUSED` and "too slow"."""
    sets: int
    power: float
    """Mean share of the signals that are found; an answer without a promise counts as none."""
    power_error: float
    error: float
    """Mean of what the target bounds, over the answers that come with a promise."""
    error_error: float
    false: float
    """Mean number of false selections."""
    empty: float
    """Share of the answers that select nothing."""
    refused: float
    """Share of the data sets that are refused."""
    promised: float
    """Share of the data sets on which the target is promised."""
    seconds: float
    """Mean processor seconds of the answers that are no refusals."""
    behind: float | None = None
    """How much less is found than by the best that is ranked, on the same data sets."""
    behind_error: float | None = None
    sentence: str = ""
    """The most frequent refusal."""


def mean_and_error(values: Sequence[float]) -> tuple[float, float]:
    """Return a mean and its standard error."""
    each = np.asarray(values, dtype=float)
    if each.size == 0:
        return 0.0, 0.0
    spread = each.std(ddof=1) / np.sqrt(each.size) if each.size > 1 else 0.0
    return float(each.mean()), float(spread)


def keeps(answer: Answer, target: Target) -> bool:
    """Say whether an answer promises the target."""
    return answer.promised is not None and answer.promised <= target.level * (1.0 + 1e-9)


def summary(contestant: Contestant, kind: str, target: Target, given: Sequence[Answer]) -> Row:
    """Summarise the answers of a contestant to one kind of data."""
    promised = [one for one in given if keeps(one, target)]
    power = mean_and_error([one.power * keeps(one, target) for one in given])
    error = mean_and_error([one.error(target) for one in promised])
    refusals = [one.refused for one in given if one.refused]
    sentence = max(set(refusals), key=refusals.count) if refusals else ""
    return Row(
        kind,
        target.name,
        contestant.name,
        contestant.label,
        contestant.peer,
        status=_status(contestant, target, given, error),
        sets=len(given),
        power=power[0],
        power_error=power[1],
        error=error[0],
        error_error=error[1],
        false=float(np.mean([one.false for one in given])),
        empty=float(np.mean([one.found + one.false == 0 for one in given])),
        refused=len(refusals) / len(given),
        promised=len(promised) / len(given),
        seconds=float(np.mean([one.seconds for one in given if not one.refused] or [0.0])),
        sentence=sentence,
    )


def _status(
    contestant: Contestant, target: Target, given: Sequence[Answer], error: tuple[float, float]
) -> str:
    """Say whether a contestant is ranked, and otherwise why not."""
    refusals = [one.refused for one in given if one.refused]
    if 2 * len(refusals) > len(given) or (refusals and len(refusals) == len(given)):
        return TOO_SLOW if TOO_SLOW in refusals else REFUSED
    if not any(keeps(one, target) for one in given):
        return SILENT
    mean, spread = error
    return BROKEN if mean > target.level + MARGIN * spread and mean > target.level else RANKED


def rows(
    answers: Answers, kinds: Iterable[str], contestants: Iterable[Contestant], sets: int
) -> list[Row]:
    """Return a row for each contestant, kind and target that has answers."""
    everyone = [*contestants]
    out: list[Row] = []
    for kind in kinds:
        for target in TARGETS:
            found = [(one, dict(answers.of(one, kind, target, sets))) for one in everyone]
            out += compared(kind, target, [(one, given) for one, given in found if judged(given)])
    return out


def judged(given: Mapping[int, Answer]) -> bool:
    """Say whether there are answers enough to judge by."""
    return len(given) >= FEWEST or any(one.refused == TOO_SLOW for one in given.values())


def compared(
    kind: str, target: Target, found: Sequence[tuple[Contestant, Mapping[int, Answer]]]
) -> list[Row]:
    """Summarise the answers to one kind, each beside the best that is ranked."""
    each = [(summary(one, kind, target, [*given.values()]), given) for one, given in found]
    ranked = [(row, given) for row, given in each if row.status == RANKED]
    if not ranked:
        return [row for row, _ in each]
    _, best = max(ranked, key=lambda pair: pair[0].power)
    return [_beside(row, given, best, target) for row, given in each]


def _beside(
    row: Row, given: Mapping[int, Answer], best: Mapping[int, Answer], target: Target
) -> Row:
    """Add how far a contestant is behind the best, over the data sets that both answered."""
    both = sorted(given.keys() & best.keys())
    if not both:
        return row
    less = [
        best[i].power * keeps(best[i], target) - given[i].power * keeps(given[i], target)
        for i in both
    ]
    mean, spread = mean_and_error(less)
    return replace(row, behind=mean, behind_error=spread)


def write(path: Path, table: Sequence[Row]) -> None:
    """Write rows as CSV."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([one.name for one in fields(Row)])
        writer.writerows([_cell(value) for value in asdict(row).values()] for row in table)


def _cell(value: Any) -> str:
    """Write a number with four decimals, and nothing for None."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.4f}" if isinstance(value, float) else str(value)


def read(path: Path) -> list[Row]:
    """Read rows that were written."""
    with path.open(newline="", encoding="utf-8") as file:
        return [_row(line) for line in csv.DictReader(file)]


def _row(line: Mapping[str, str]) -> Row:
    whole = {"sets"}
    words = {"kind", "target", "contestant", "label", "status", "sentence"}
    values: dict[str, Any] = {}
    for name, text in line.items():
        if name in words:
            values[name] = text
        elif name == "peer":
            values[name] = text == "yes"
        else:
            values[name] = None if text == "" else int(text) if name in whole else float(text)
    return Row(**values)
