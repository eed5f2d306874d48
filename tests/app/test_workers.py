"""Work in processes of their own: results as they come, errors, work that is abandoned."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from functools import partial
from threading import Thread

import pytest

from selica import catalogue
from selica.app.asked import Asked
from selica.app.plan import changes, plans
from selica.app.workers import Step, Workers
from selica.errors import ArgumentError, RefusedError


def numbers(count: int, step: Step) -> Iterator[tuple[int, int]]:
    for k in range(count):
        step()
        yield k, os.getpid()


def printing(step: Step) -> Iterator[int]:
    print("this goes to the terminal")
    os.write(1, b"and this")
    yield 1


def refused(step: Step) -> Iterator[int]:
    yield 1
    raise ArgumentError("power must be below 1")


def without_end(path: str, step: Step) -> Iterator[int]:
    yield os.getpid()
    try:
        while True:
            step()
            time.sleep(0.01)
    finally:
        with open(path, "w") as file:
            file.write("ended")


def wait(step: Step) -> Iterator[int]:
    yield os.getpid()
    time.sleep(60.0)


class TwoWords(Exception):
    """Cannot be made again from its one argument."""

    def __init__(self, one: str, other: str) -> None:
        super().__init__(f"{one} {other}")


def failing(step: Step) -> Iterator[int]:
    raise TwoWords("no", "luck")
    yield 1


class Odd:
    """Can be sent, and not read."""

    def __reduce__(self) -> tuple[object, ...]:
        return int, ("no number",)


def sending_odd(step: Step) -> Iterator[Odd]:
    yield Odd()


def names(step: Step) -> Iterator[list[str]]:
    yield [*catalogue.METHODS]


def nothing() -> None:
    pass


@pytest.fixture(scope="module")
def workers() -> Iterator[Workers]:
    some = Workers(1)
    yield some
    some.close()


def test_results_come_from_another_process_which_is_kept(workers: Workers) -> None:
    found = [*workers.stream(partial(numbers, 3), nothing)]
    assert [k for k, _ in found] == [0, 1, 2]
    (process,) = {process for _, process in found}
    assert process != os.getpid()
    assert {one for _, one in workers.stream(partial(numbers, 2), nothing)} == {process}


def test_what_is_printed_does_not_disturb_results(workers: Workers) -> None:
    assert [*workers.stream(printing, nothing)] == [1]


def test_errors_are_raised_where_the_results_are_awaited(workers: Workers) -> None:
    results = workers.stream(refused, nothing)
    assert next(results) == 1
    with pytest.raises(ArgumentError, match="power must be below 1"):
        next(results)
    assert len([*workers.stream(partial(numbers, 2), nothing)]) == 2


def test_work_ends_when_its_window_moves_on(workers: Workers, tmp_path) -> None:
    path = tmp_path / "ended"

    has_moved_on = False

    def look() -> None:
        if has_moved_on:
            raise KeyboardInterrupt

    results = workers.stream(partial(without_end, str(path)), look)
    before = next(results)
    has_moved_on = True
    with pytest.raises(KeyboardInterrupt):
        next(results)
    # the process takes the next piece of work, and none of the results of the last
    (after,) = {process for _, process in workers.stream(partial(numbers, 2), nothing)}
    assert after == before
    assert path.read_text() == "ended"


def test_a_process_that_is_killed_is_said_and_replaced(workers: Workers) -> None:
    results = workers.stream(wait, nothing)
    os.kill(next(results), signal.SIGKILL)
    with pytest.raises(RefusedError, match="ask again"):
        next(results)
    assert len([*workers.stream(partial(numbers, 2), nothing)]) == 2


def test_what_cannot_be_read_ends_in_a_sentence(workers: Workers) -> None:
    with pytest.raises(RefusedError, match="TwoWords: no luck"):
        next(workers.stream(failing, nothing))
    with pytest.raises(RefusedError, match="ask again"):
        next(workers.stream(sending_odd, nothing))
    assert len([*workers.stream(partial(numbers, 2), nothing)]) == 2


def test_files_in_the_present_folder_are_not_taken_for_modules(tmp_path, monkeypatch) -> None:
    (tmp_path / "queue.py").write_text("raise SystemExit")
    monkeypatch.chdir(tmp_path)
    workers = Workers(1)
    assert len([*workers.stream(partial(numbers, 2), nothing)]) == 2
    workers.close()


def test_registered_methods_are_known(workers: Workers) -> None:
    catalogue.register(catalogue.Method("my-tests", "tests of my own"))
    try:
        assert next(workers.stream(names, nothing)) == [*catalogue.METHODS]
    finally:
        catalogue.unregister("my-tests")
    assert next(workers.stream(names, nothing)) == [*catalogue.METHODS]


def test_two_windows_work_at_the_same_time() -> None:
    workers = Workers(2)
    slow = workers.stream(wait, nothing)
    busy = next(slow)
    found: list[tuple[int, int]] = []
    thread = Thread(target=lambda: found.extend(workers.stream(partial(numbers, 2), nothing)))
    thread.start()
    thread.join(60.0)
    assert len(found) == 2
    assert {process for _, process in found} != {busy}
    os.kill(busy, signal.SIGKILL)
    with pytest.raises(RefusedError):
        next(slow)
    workers.close()


def test_a_plan_is_that_of_the_page_itself(workers: Workers) -> None:
    asked = Asked(40, 8, 0.2, 0.6)
    *_, here = plans(0.5, asked)
    *_, there = workers.stream(partial(plans, 0.5, asked), nothing)
    assert there.rows() == here.rows()
    assert there.lines == here.lines
    (sentence,) = workers.stream(partial(changes, there.found), nothing)
    assert [sentence] == [*changes(here.found)]
