"""Ask the contestants; what was answered before is not asked again."""

from __future__ import annotations

import signal
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from benchmarks.arena.contestants import TARGETS, Contestant, Target
from benchmarks.arena.kinds import DataSet, data_set
from benchmarks.arena.store import TOO_SLOW, Answer, Answers
from benchmarks.peers.selecting import Outcome, Problem, absence, select_many
from benchmarks.table_kinds import RESPONSES, Kind

from selica.errors import SelicaError

LIMIT = 45.0
"""Processor seconds that a contestant has for a data set."""
BATCH = 24
"""Data sets that a peer gets together: its environment is started once for them."""


class OutOfTime(Exception):
    """The limit is over."""


@dataclass(frozen=True)
class Task:
    """A contestant on a data set."""

    number: int
    target: Target
    kind: Kind
    contestant: Contestant

    @property
    def place(self) -> tuple[Contestant, str, Target]:
        """Contestant, kind and target."""
        return self.contestant, self.kind.name, self.target


def tasks(
    contestants: Sequence[Contestant],
    kinds: Sequence[Kind],
    sets: int,
    targets: Sequence[Target] = TARGETS,
) -> Iterator[Task]:
    """Iterate over the tasks, data set by data set, so that a stopped run is balanced."""
    for number in range(sets):
        for target in targets:
            able = [one for one in contestants if number % one.stride(target) == 0]
            for kind in kinds:
                response = RESPONSES[kind.response][0]
                for one in able:
                    if one.takes(kind.name, response, target):
                        yield Task(number, target, kind, one)


def run(todo: Sequence[Task], answers: Answers, jobs: int = 1) -> None:
    """Work out what is not known yet, and keep each answer as it comes."""
    ours = [task for task in todo if not task.contestant.peer]
    theirs = [task for task in todo if task.contestant.peer]
    _run_ours(ours, answers, jobs)
    _run_peers(theirs, answers)


def _run_ours(todo: Sequence[Task], answers: Answers, jobs: int) -> None:
    from joblib import Parallel, delayed

    missing = [task for task in todo if answers.get(*task.place, task.number) is None]
    print(f"{len(todo)} answers, {len(todo) - len(missing)} of them known", flush=True)
    begin = time.monotonic()
    # a contestant that is found too slow on the way is not asked again
    still = (task for task in missing if not answers.too_slow(*task.place))
    work = Parallel(n_jobs=jobs, return_as="generator_unordered", pre_dispatch="2*n_jobs")(
        delayed(_answered)(task) for task in still
    )
    for done, (task, answer) in enumerate(work, start=1):
        answers.add(*task.place, task.number, answer)
        if done % 50 == 0:
            print(
                f"{done} of {len(missing)} in {(time.monotonic() - begin) / 60:.0f} min: data set "
                f"{task.number}, {task.kind.name}, {task.contestant.name}",
                flush=True,
            )


def _answered(task: Task) -> tuple[Task, Answer]:
    return task, answer(task.contestant, task.target, data_set(task.kind, task.number))


def answer(contestant: Contestant, target: Target, data: DataSet, limit: float = LIMIT) -> Answer:
    """Ask one of our methods on a data set."""
    selector = contestant.selector(target, data.response, data.seed)
    signal.signal(signal.SIGPROF, _over)
    signal.setitimer(signal.ITIMER_PROF, limit)
    begin = time.process_time()
    refused = ""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            selector.fit(data.X, data.y)
    except SelicaError as error:
        refused = str(error)
    except OutOfTime:
        refused = TOO_SLOW
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
    seconds = time.process_time() - begin
    if refused:
        return Answer(0, 0, int(data.truth.sum()), seconds, None, refused)
    return _counted(selector.support_, data.truth, seconds, selector.guarantee_.level)


def _over(*_: Any) -> None:
    raise OutOfTime


def _counted(selected: Any, truth: Any, seconds: float, promised: float | None) -> Answer:
    return Answer(
        int(np.count_nonzero(selected & truth)),
        int(np.count_nonzero(selected & ~truth)),
        int(truth.sum()),
        seconds,
        promised,
    )


def _run_peers(todo: Sequence[Task], answers: Answers) -> None:
    """Ask the peers that are installed in turn, some data sets at a time."""
    groups: dict[tuple[str, Target], list[Task]] = {}
    for task in todo:
        groups.setdefault((task.contestant.name, task.target), []).append(task)
    absent = {name: absence(name) for name, _ in groups}
    for sentence in filter(None, absent.values()):
        print(sentence)
    here = [group for (name, _), group in groups.items() if absent[name] is None]
    for start in range(0, max(map(len, here), default=0), BATCH):
        for group in here:
            _ask_peer(group[start : start + BATCH], answers)


def _ask_peer(batch: Sequence[Task], answers: Answers) -> None:
    """Ask a peer for what is not known yet of a batch, which has one target."""
    missing = [
        task
        for task in batch
        if answers.get(*task.place, task.number) is None and not answers.too_slow(*task.place)
    ]
    if not missing:
        return
    begin = time.monotonic()
    name, target = missing[0].contestant.name, missing[0].target
    data = [data_set(task.kind, task.number) for task in missing]
    problems = [Problem(one.X, one.y, one.response, one.seed) for one in data]
    found = select_many(name, problems, target.rate, target.level, limit=LIMIT)
    for task, one, outcome in zip(missing, data, found, strict=True):
        answers.add(*task.place, task.number, _of_peer(task, one, outcome))
    print(
        f"{name}, {target.name}: {len(missing)} answers in {time.monotonic() - begin:.0f} s, "
        f"up to data set {missing[-1].number}",
        flush=True,
    )


def _of_peer(task: Task, data: DataSet, outcome: Outcome) -> Answer:
    if outcome.error is not None:
        seconds = 0.0 if np.isnan(outcome.seconds) else outcome.seconds
        return Answer(0, 0, int(data.truth.sum()), seconds, None, outcome.error)
    promised = task.target.level if task.contestant.rates else None
    return _counted(outcome.selected, data.truth, outcome.seconds, promised)
