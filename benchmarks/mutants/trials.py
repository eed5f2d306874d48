"""Mutants of Python files, each tried in a process of its own.

Tests are collected and run once by one process, which notes the lines that each of them runs. For
every mutant it forks: the child puts the changed functions in the place of those that were
imported, and runs the tests that reach the changed statement, the fastest first, until one fails.
Tests with random examples draw the same ones every time, and do not look for smaller ones.
"""

from __future__ import annotations

import gc
import json
import os
import resource
import signal
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import pytest
from benchmarks.mutants.changes import Mutant, tree_of

SOURCES = Path(__file__).parents[2] / "src" / "selica"
LEAST_SECONDS = 5
"""Processor seconds that the tests of a mutant have, at least."""
TIMES = 3
"""And this many times what they take without a change."""
SLOWEST_TEST = 0.5
"""Tests that take more processor seconds are not used."""
MOST_BYTES = 8 << 30
"""Memory of a child."""
VALUES = (bool, int, float, str, tuple, frozenset)
"""Kinds of constants that a changed file may set anew."""


@dataclass
class Trials:
    """A plugin of pytest that tries mutants where it would run tests."""

    mutants: list[Mutant]
    said: Callable[[Mutant, str], None]
    """Is told what became of each: killed, survived, too long, not reached."""
    change: Callable[[Mutant], None] | None = None
    """How a child changes; None for mutants of Python files."""
    failed: bool = False
    covered: dict[tuple[str, int], set[int]] = field(default_factory=lambda: defaultdict(set))
    seconds: list[float] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)

    def pytest_configure(self) -> None:
        """Draw the same examples every time; before tests are imported."""
        from hypothesis import HealthCheck, Phase, settings  # late: pytest rewrites its plugins

        settings.register_profile(
            "mutants",
            derandomize=True,
            database=None,
            deadline=None,
            phases=(Phase.explicit, Phase.generate),
            suppress_health_check=list(HealthCheck),
        )
        settings.load_profile("mutants")

    def pytest_runtest_logreport(self, report: Any) -> None:
        self.failed = self.failed or report.failed

    def pytest_runtestloop(self, session: Any) -> bool:
        items = session.items
        self._without_a_change(items)
        gc.collect()
        gc.freeze()
        for mutant in self.mutants:
            try:
                self.said(mutant, self._tried(mutant, items))
            except KeyboardInterrupt:  # pytest would end without a word
                break
        return True

    def _run(self, items: Sequence[Any]) -> Iterator[int]:
        """Run tests one by one."""
        for place, item in enumerate(items):
            after = items[place + 1] if place + 1 < len(items) else None
            self.failed = False
            item.ihook.pytest_runtest_protocol(item=item, nextitem=after)
            yield place

    def _without_a_change(self, items: Sequence[Any]) -> None:
        """Run tests in a child: threads that they start would not be there in a later one."""
        readable, writable = os.pipe()
        child = os.fork()
        if child == 0:
            self._traced(items)
            lines = [[*line, *tests] for line, tests in self.covered.items()]
            with os.fdopen(writable, "w") as file:
                json.dump([self.seconds, self.broken, lines], file)
            os._exit(0)
        os.close(writable)
        with os.fdopen(readable) as file:
            self.seconds, self.broken, lines = json.load(file)
        os.waitpid(child, 0)
        for name, number, *tests in lines:
            self.covered[name, number] = set(tests)

    def _traced(self, items: Sequence[Any]) -> None:
        """Note how long each test takes, which fail, and the lines of Python that they run."""
        files = {str(SOURCES / mutant.file): mutant.file for mutant in self.mutants}
        at = 0

        def line(frame: Any, event: str, _: Any) -> Any:
            if event == "line":
                self.covered[files[frame.f_code.co_filename], frame.f_lineno].add(at)
            return line

        def call(frame: Any, event: str, _: Any) -> Any:
            return line if frame.f_code.co_filename in files else None

        forget()
        begin = time.process_time()
        if self.change is None:
            sys.settrace(call)
            threading.settrace(call)
        for at in self._run(items):
            now = time.process_time()
            self.seconds.append(now - begin)
            begin = now
            if self.failed:
                self.broken.append(items[at].nodeid)
            forget()
            at += 1

    def _tried(self, mutant: Mutant, items: Sequence[Any]) -> str:
        if self.change is None:
            lines = range(mutant.first, mutant.last + 1)
            reached = set[int]().union(*(self.covered[mutant.file, one] for one in lines))
            if not mutant.scope:  # a constant: all tests of the file
                reached = set[int]().union(
                    *(tests for (file, _), tests in self.covered.items() if file == mutant.file)
                )
        else:
            reached = set(range(len(items)))
        reached = {one for one in reached if self.seconds[one] <= SLOWEST_TEST}
        reached = {one for one in reached if items[one].nodeid not in self.broken}
        if not reached:
            return "not reached"
        order = sorted(reached, key=lambda one: self.seconds[one])
        limit = LEAST_SECONDS + TIMES * sum(self.seconds[one] for one in order)
        child = os.fork()
        if child == 0:
            self._child(mutant, [items[one] for one in order], limit)
        return _ended(child, 20.0 * limit)

    def _child(self, mutant: Mutant, items: Sequence[Any], limit: float) -> None:
        """Try a mutant; never returns."""
        code = 1
        try:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, 1)
            os.dup2(nowhere, 2)
            resource.setrlimit(resource.RLIMIT_CPU, (int(limit) + 1, int(limit) + 2))
            resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
            if self.change is None:
                put(mutant)
            else:
                self.change(mutant)
            forget()
            code = 1 if any(self.failed for _ in self._run(items)) else 0
        except BaseException:
            code = 1
        finally:
            os._exit(code)


def _ended(child: int, limit: float) -> str:
    """What became of a child; a crash is noticed by any test."""
    begin = time.monotonic()
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            break
        if time.monotonic() - begin > limit:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return "too long"
        time.sleep(0.002)
    if os.WIFSIGNALED(status):
        return "too long" if os.WTERMSIG(status) in (signal.SIGXCPU, signal.SIGKILL) else "killed"
    return "survived" if os.waitstatus_to_exitcode(status) == 0 else "killed"


def forget() -> None:
    """Empty the caches of the package."""
    for name, module in list(sys.modules.items()):
        if name.startswith("selica"):
            for value in list(vars(module).values()):
                if hasattr(value, "cache_clear") and hasattr(value, "__wrapped__"):
                    value.cache_clear()


def put(mutant: Mutant) -> None:
    """Put the functions and constants of a changed file in the place of those imported."""
    name = "selica." + mutant.file.removesuffix(".py").replace("/", ".").removesuffix(".__init__")
    module = sys.modules[name]
    new: dict[str, Any] = {
        "__name__": name, "__file__": module.__file__, "__package__": module.__package__,
    }  # fmt: skip
    exec(compile(tree_of(SOURCES, mutant), str(module.__file__), "exec"), new)
    for key, value in new.items():
        _replace(vars(module).get(key), value, name)
        if isinstance(value, VALUES) and not key.startswith("__"):
            _set(module, key, value)


def _replace(old: Any, new: Any, module: str) -> None:
    """Give functions that were imported the code of changed ones."""
    old, new = (getattr(x, "__wrapped__", x) for x in (old, new))
    old, new = (x.__func__ if isinstance(x, staticmethod | classmethod) else x for x in (old, new))
    if isinstance(old, property):
        _replace(old.fget, new.fget, module)
    elif isinstance(old, FunctionType) and old.__module__ == module:
        old.__code__, old.__defaults__ = new.__code__, new.__defaults__
        old.__kwdefaults__ = new.__kwdefaults__
    elif isinstance(old, type) and old.__module__ == module:
        for key, value in vars(new).items():
            if key in vars(old):
                _replace(vars(old)[key], value, module)


def _set(module: ModuleType, key: str, value: Any) -> None:
    """Set a constant wherever it was imported."""
    old = vars(module).get(key)
    if type(old) is not type(value) or old == value:
        return
    for other in list(sys.modules.values()):
        if getattr(other, "__name__", "").startswith("selica") and vars(other).get(key) is old:
            setattr(other, key, value)


def run(trials: Trials, tests: Sequence[str]) -> None:
    """Collect tests, and try mutants."""
    os.environ["SELICA_NUM_THREADS"] = "1"  # threads would not be there in a child
    options = ["-s", "-p", "no:terminal", "-p", "no:cacheprovider", "-m", "not slow"]
    options += ["-o", "addopts=--doctest-modules"]  # those of the project tell the terminal
    code = pytest.main([*options, *tests], plugins=[trials])
    if code not in (0, 1):
        raise SystemExit(f"pytest ended with {code!r}: are the tests of {list(tests)} there?")
