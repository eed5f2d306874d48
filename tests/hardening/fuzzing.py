"""Cases of the fuzz tests: absurd values among sensible ones, and what may come of them."""

from __future__ import annotations

import inspect
import os
import resource
import signal
import time
import traceback
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from selica._core.errors import SelicaError

CASES = int(os.environ.get("SELICA_FUZZ", "4"))
"""For a function of weight one; `make reliability` asks for many."""
SECONDS = 60
"""Of this process's own time: longer is a defect."""
_MEMORY = 12 * 2**30
"""An absurd size fails to be allocated instead of filling the machine."""
_NUMBERS = (
    *(np.nan, np.inf, -np.inf, -1, 0, 0.0, 1e-320, 2.5, 1j, np.float32(0.5), np.int8(3)),
    *(1e308, -1e308, 10**30, -(10**30), 10**400),
)
_THINGS = (
    *(None, True, "x", "", "x" * 1000, "a\nb", "$x", "\0", b"x", [], {}, (), [[]], {1, 2}),
    *([1.0, np.nan], ["a", "b"], [1e308, 1e308], [10**400], object(), len, Path("x"), slice(3)),
    np.datetime64("2026-01-01"),
)
_ARRAYS = (
    *(np.zeros(0), np.zeros((0, 3)), np.full(12, np.inf), np.array(["a"]), np.zeros((2, 2, 2))),
    *(np.array([1, None]), np.full((12, 5), 1e308), np.zeros((12, 5)), np.arange(12)),
)
ABSURD = st.sampled_from([*_NUMBERS, *_THINGS, *_ARRAYS, [[1.0], [2.0, 3.0]]])


def absurd_names(names: Sequence[str]) -> st.SearchStrategy[list[str]]:
    """Which of these get something absurd: up to two."""
    return st.lists(st.sampled_from(names), max_size=2) if names else st.just([])


class TooLong(BaseException):
    """A case did not end. No `Exception`: parts of a run that fail are rows of its table."""


@st.composite
def arguments(
    draw: Any,
    function: Callable,
    sensible: Mapping[str, st.SearchStrategy],
    always: Collection[str] = (),
    alternatives: tuple[tuple[str, ...], ...] = (),
) -> dict[str, Any]:
    """Keyword arguments; up to two are absurd.

    Parameters
    ----------
    draw
        From hypothesis.
    function : callable
    sensible : mapping of str to strategy
        What a parameter of this name may be; others keep their default, or get something absurd.
    always : collection of str
        Parameters that do not keep their default.
    alternatives : tuple of tuple of str
        Parameters of which exactly one is to be given, which they mostly are.
    """
    known = inspect.signature(function).parameters
    left_out: set[str] = set()
    asked: set[str] = set()
    for group in alternatives:
        names = [name for name in group if name in known]
        if len(names) > 1 and draw(st.integers(0, 7)) < 7:
            asked.add(draw(st.sampled_from(names)))
            left_out.update(set(names) - asked)
    wrong = draw(absurd_names(list(known)))
    chosen = {}
    for name, parameter in known.items():
        required = parameter.default is inspect.Parameter.empty or name in asked
        if parameter.kind is inspect.Parameter.VAR_KEYWORD or name in left_out:
            continue
        if name in wrong:
            chosen[name] = draw(ABSURD)
        elif name in sensible and (required or name in always or draw(st.booleans())):
            chosen[name] = draw(sensible[name])
        elif required:
            chosen[name] = draw(ABSURD)
    return chosen


def _late(*_: object) -> None:
    raise TooLong


@contextmanager
def guarded() -> Iterator[None]:
    """No case takes the machine: limits on time and memory, and threads in the place of workers."""
    limits = resource.getrlimit(resource.RLIMIT_AS)
    handler = signal.signal(signal.SIGVTALRM, _late)
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, limits[1]))
    # again and again: one that strikes in a finaliser is lost
    signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS, 1.0)
    try:
        with warnings.catch_warnings(), joblib.parallel_config(backend="threading"):
            warnings.simplefilter("ignore", UserWarning)
            yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)
        signal.signal(signal.SIGVTALRM, handler)
        resource.setrlimit(resource.RLIMIT_AS, limits)


def call(function: Callable, refusals: Any, kwargs: Mapping[str, Any]) -> bool:
    """Whether there is an answer, not a refusal in one sentence; anything else is raised."""
    try:
        function(**kwargs)
    except refusals as error:
        said = str(error)
        assert said
        assert "\n" not in said or refusals is not SelicaError
        return False
    return True


def fuzz(
    label: str,
    cases: st.SearchStrategy,
    attempt: Callable[[Any], bool],
    weight: float = 1.0,
) -> None:
    """Tries cases, a line in the log for each; all defects are told at the end.

    Parameters
    ----------
    label : str
        Room and name.
    cases : strategy
    attempt : callable
        Returns whether a case was answered, or raises.
    weight : float
        Cases are this many times those of an ordinary function.
    """
    defects: dict[str, str] = {}

    @settings(
        max_examples=max(1, round(weight * CASES)),
        phases=[Phase.generate],
        deadline=None,
        database=None,
        derandomize="SELICA_FUZZ" not in os.environ,
        suppress_health_check=list(HealthCheck),
    )
    @given(cases)
    def check(case: Any) -> None:
        begin, outcome = time.perf_counter(), "defect"
        try:
            with guarded():
                outcome = "answered" if attempt(case) else "refused"
        except (Exception, TooLong) as error:
            lines = traceback.format_exception(error)
            where = next((line for line in reversed(lines) if "/selica/" in line), "").strip()
            defects.setdefault(f"{type(error).__name__} {where}", f"{case!r}\n{''.join(lines)}")
            _log("defect", label, type(error).__name__, str(error)[:200], where, repr(case)[:2000])
        seconds = time.perf_counter() - begin
        if seconds > SECONDS / 10:
            _log("slow", label, outcome, f"{seconds:.3f}", "", repr(case)[:2000])
        _log("case", label, outcome, f"{seconds:.3f}")

    check()
    assert not defects, "\n\n".join(defects.values())


def _log(*words: str) -> None:
    """A line of words between tabs, where the long run asks for it."""
    if "SELICA_FUZZ_LOG" in os.environ:
        with Path(os.environ["SELICA_FUZZ_LOG"]).open("a", encoding="utf-8") as file:
            print(*(" ".join(word.split()) for word in words), sep="\t", file=file)
