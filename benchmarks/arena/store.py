"""What each contestant answered on each data set: one file for each contestant."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.arena.contestants import Contestant, Target

from selica.experiments import Store

TOO_SLOW = "too slow"
"""What stands for a sentence of refusal where the time was over."""


@dataclass(frozen=True)
class Answer:
    """One contestant on one data set."""

    found: int
    """Selected variables that matter."""
    false: int
    """Selected variables that do not."""
    signals: int
    """Variables that matter."""
    seconds: float
    """Processor seconds."""
    promised: float | None
    """Level that was promised with the answer; None where there is no promise."""
    refused: str = ""
    """The sentence of a refusal."""

    @property
    def power(self) -> float:
        """Share of the variables that matter that were selected; 0 where none matters."""
        return self.found / max(self.signals, 1)

    @property
    def fdp(self) -> float:
        """Share of the selected variables that are false."""
        return self.false / max(self.found + self.false, 1)

    def error(self, target: Target) -> float:
        """Return what the target bounds the mean of."""
        return self.fdp if target.rate == "fdr" else float(self.false)


class Answers:
    """Answers of all contestants in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._files: dict[str, Store] = {}

    def _file(self, contestant: Contestant) -> Store:
        if contestant.name not in self._files:
            path = self.folder / f"{contestant.name}.jsonl"
            self._files[contestant.name] = Store(path)
        return self._files[contestant.name]

    def get(self, contestant: Contestant, kind: str, target: Target, number: int) -> Answer | None:
        """Return an answer, or None where there is none yet."""
        file, key = self._file(contestant), _key(contestant, kind, target, number)
        return Answer(**file[key]) if key in file else None

    def add(
        self, contestant: Contestant, kind: str, target: Target, number: int, answer: Answer
    ) -> None:
        """Keep an answer."""
        self._file(contestant).add(_key(contestant, kind, target, number), asdict(answer))

    def of(
        self, contestant: Contestant, kind: str, target: Target, sets: int
    ) -> Iterator[tuple[int, Answer]]:
        """Iterate over the answers to the first data sets, each with its number."""
        for number in range(sets):
            answer = self.get(contestant, kind, target, number)
            if answer is not None:
                yield number, answer

    def too_slow(self, contestant: Contestant, kind: str, target: Target) -> bool:
        """Say whether the time was over on the first two data sets."""
        first = [
            self.get(contestant, kind, target, i * contestant.stride(target)) for i in range(2)
        ]
        return all(one is not None and one.refused == TOO_SLOW for one in first)


def _key(contestant: Contestant, kind: str, target: Target, number: int) -> str:
    return f"{contestant.key} | {kind} | {target.name} | {number}"
