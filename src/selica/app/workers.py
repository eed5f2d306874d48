"""Long work in processes of their own, so that one window does not slow the others down.

Windows share one interpreter, in which only one thread computes at a time. A worker is a process
that does one piece of work after another and sends each result as soon as it is known. Processes
talk by pickles through their standard input and output: a new process by `multiprocessing` would
run the main script again, which in a page is Streamlit's.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum, auto
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from typing import IO, Any, TypeVar

from selica import catalogue
from selica._core.errors import RefusedError
from selica.app.turns import Turns

T = TypeVar("T")
Step = Callable[[], object]
"""Called by work now and then; it raises where nobody waits for the work any more."""
Work = Callable[[Step], Iterator[T]]
"""A piece of work: it can be pickled, and iterates over its results."""

_OFTEN = 0.05
"""Seconds between two looks at whether the window has moved on."""
_START = "from selica.app.workers import serve; serve({})"
_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "SELICA_NUM_THREADS")
"""Numerical libraries of a worker have one thread: there are as many workers as cores."""


class _Kind(Enum):
    """Kinds of messages from a worker."""

    RESULT = auto()
    DONE = auto()
    FAILED = auto()
    ENDED = auto()


class Abandoned(Exception):
    """Ends work that nobody waits for any more."""


class Workers:
    """Processes that work for all windows: first come, first served.

    Parameters
    ----------
    count : int
        Processes at most; each is started when it is first needed.
    nice : int
        How much they give way to the page, which answers all windows.
    """

    def __init__(self, count: int, nice: int = 0) -> None:
        self._turns, self._nice = Turns(count), nice
        self._idle: SimpleQueue[_Worker] = SimpleQueue()

    @property
    def are_busy(self) -> bool:
        """Whether a piece of work would have to wait."""
        return self._turns.are_taken

    def stream(self, work: Work[T], look: Callable[[], object]) -> Iterator[T]:
        """Iterate over the results of a piece of work.

        Parameters
        ----------
        work : callable
            Takes a function that it calls now and then.
        look : callable
            Called while nothing comes; it raises where the window has moved on, and so ends the
            work.
        """
        with self._turns.turn(look):
            worker = self._taken()
            try:
                yield from worker.stream(work, look)
            finally:
                if worker.is_alive:
                    self._idle.put(worker)

    def close(self) -> None:
        """End the processes that have nothing to do."""
        while not self._idle.empty():
            self._idle.get().close()

    def _taken(self) -> _Worker:
        """Return a process that has nothing to do, or a new one."""
        try:
            worker = self._idle.get_nowait()
        except Empty:
            return _Worker(self._nice)
        return worker if worker.is_alive else _Worker(self._nice)


class _Worker:
    """A process, and what it sent."""

    def __init__(self, nice: int) -> None:
        path = os.pathsep.join(place for place in sys.path if place)  # what the page can import
        environment = os.environ | dict.fromkeys(_ONE_THREAD, "1") | {"PYTHONPATH": path}
        pipe = subprocess.PIPE
        command = [
            sys.executable,
            "-P",
            "-c",
            _START.format(nice),
        ]  # not what lies in the present folder
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, env=environment)
        self._sent: SimpleQueue[tuple[int | None, _Kind, Any]] = SimpleQueue()
        self._number = 0
        self._receiver = Thread(target=self._receive, daemon=True, name="selica-worker")
        self._receiver.start()

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def stream(self, work: Work[T], look: Callable[[], object]) -> Iterator[T]:
        self._number += 1
        is_over = not self._send((self._number, _Job(catalogue.registered(), work)))
        try:
            while True:
                try:
                    number, kind, value = self._sent.get(timeout=_OFTEN)
                except Empty:
                    look()
                    continue
                if number is None:
                    is_over = True
                    raise RefusedError(
                        "The process that worked on this answer has ended, perhaps because memory "
                        "is short. Move a control to ask again."
                    )
                if number != self._number:
                    continue  # work that was abandoned
                if kind == _Kind.RESULT:
                    yield value
                    continue
                is_over = True
                if kind == _Kind.FAILED:
                    raise value
                return
        finally:
            if not is_over:
                self._send((self._number, None))

    def _send(self, message: tuple[int, Any]) -> bool:
        """Send work, or None to abandon it; return whether there is somebody to take it."""
        assert self._process.stdin is not None
        try:
            pickle.dump(message, self._process.stdin)
            self._process.stdin.flush()
        except (OSError, ValueError):  # it has ended, and what led to it may be closed
            return False
        return True

    def close(self) -> None:
        """End the process, which sees that nobody can send it work any more."""
        assert self._process.stdin is not None
        with suppress(OSError):  # what could not be sent
            self._process.stdin.close()
        self._receiver.join()

    def _receive(self) -> None:
        """Put what the process sends into a queue, until it ends."""
        assert self._process.stdout is not None
        with self._process.stdout as source:
            for message in _messages(source):
                self._sent.put(message)
        self._process.kill()  # it has ended, or sent what nobody can read
        self._process.wait()
        assert self._process.stdin is not None
        with suppress(OSError):
            self._process.stdin.close()
        self._sent.put((None, _Kind.ENDED, None))


def _messages(source: IO[bytes]) -> Iterator[Any]:
    """Iterate over pickled objects until the other side ends."""
    while True:
        try:
            yield pickle.load(source)
        except Exception:  # the end, or an object that cannot be made again here
            return


@dataclass(frozen=True)
class _Job:
    """A piece of work, and the methods that were registered where it was asked for."""

    methods: tuple[catalogue.Method, ...]
    work: Work[Any]

    def __call__(self, step: Step) -> Iterator[Any]:
        for row in catalogue.registered():
            catalogue.unregister(row.name)  # it may be another one by now
        for row in self.methods:
            catalogue.register(row)
        return self.work(step)


class _Duties:
    """Work that a process was given, and how much of it is abandoned."""

    def __init__(self, source: IO[bytes]) -> None:
        self.given: SimpleQueue[tuple[int, Work[Any]]] = SimpleQueue()
        self._abandoned = 0
        self._lock = Lock()
        Thread(target=self._listen, args=(source,), daemon=True).start()

    def step(self, number: int) -> None:
        """End a piece of work that is abandoned."""
        with self._lock:
            if number <= self._abandoned:
                raise Abandoned

    def _listen(self, source: IO[bytes]) -> None:
        for number, work in _messages(source):
            if work is not None:
                self.given.put((number, work))
                continue
            with self._lock:
                self._abandoned = number
        os._exit(0)  # the page has ended


def serve(nice: int) -> None:
    """Work as a process: do what comes, one piece after another, until the page ends.

    Parameters
    ----------
    nice : int
        How much it gives way to other processes.
    """
    if hasattr(os, "nice"):  # not on Windows
        os.nice(nice)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C in the terminal is for the page
    sink = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what is printed does not go among the messages
    duties = _Duties(sys.stdin.buffer)

    def send(number: int, kind: _Kind, value: object = None) -> None:
        sink.write(pickle.dumps((number, kind, value)))
        sink.flush()

    while True:
        number, work = duties.given.get()
        step = _Step(duties, number)
        try:
            for result in work(step):
                step()
                send(number, _Kind.RESULT, result)
            send(number, _Kind.DONE)
        except Abandoned:
            send(number, _Kind.DONE)
        except Exception as error:
            send(number, _Kind.FAILED, _sendable(error))


def _sendable(error: Exception) -> Exception:
    """Return an error that the page can read: the same, or one with its words."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RefusedError(f"{type(error).__name__}: {error}")
    return error


class _Step:
    """Calls `step` of the duties for one piece of work."""

    def __init__(self, duties: _Duties, number: int) -> None:
        self._duties, self._number = duties, number

    def __call__(self) -> None:
        self._duties.step(self._number)
