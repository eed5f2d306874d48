"""How far long work has come, told to whoever listens; and what Ctrl-C leaves of an ensemble.

Work says how far it is with `report`, from any depth, and knows nobody who listens. Whoever wants
to know opens `reporting` around a call:

>>> from selica._core.progress import report, reporting
>>> with reporting(lambda what, done, total: print(f"{what}: {done} of {total}")):
...     report("resamples", 20, 200)
resamples: 20 of 200

Both contexts hold for the thread that opens them, so that users of a server do not hear each other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from selica._core.types import Progress

Listener = Callable[[str, int, int], object]
"""Called with the name of the work, how much of it is done, and of how much."""
_LISTENER: ContextVar[Listener | None] = ContextVar("listener", default=None)
"""Who listens."""
_STOP: ContextVar[Stop | None] = ContextVar("stop", default=None)
"""Whether, and how, an ensemble may end early."""


@contextmanager
def reporting(listener: Listener) -> Iterator[None]:
    """Tell a function how far the work inside has come.

    Parameters
    ----------
    listener : callable
        ``listener(what, done, total)``, called in the thread that opened the context. What it
        raises ends the work; a `KeyboardInterrupt` does as Ctrl-C does.

    Examples
    --------
    >>> from selica import StabilitySelection
    >>> from selica._core.progress import reporting
    >>> from selica.sampling import simulate
    >>> data, seen = simulate(100, 30, 3, snr=10.0, random_state=0), []
    >>> with reporting(lambda what, done, total: seen.append((what, done, total))):
    ...     _ = StabilitySelection(n_resamples=40, random_state=0).fit(data.X, data.y)
    >>> seen[-1]
    ('resamples', 40, 40)
    """
    token = _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.reset(token)


def report(what: str, done: int, total: int) -> None:
    """Say how far work has come.

    Parameters
    ----------
    what : str
        The things that are counted, e.g. "resamples".
    done, total : int
    """
    listener = _LISTENER.get()
    if listener is not None:
        listener(what, done, total)


def reporter_of(what: str, start: int = 0, total: int | None = None) -> Progress | None:
    """Return a function for solvers that reports; None where nobody listens.

    Parameters
    ----------
    what : str
    start : int
        How much was done before.
    total : int, optional
        Of how much, where it is more than the solver knows of.
    """
    if _LISTENER.get() is None:
        return None
    return lambda done, of: report(what, start + done, of if total is None else total)


class Stop:
    """Whether an interrupt may be answered with what is there: the first one may."""

    def __init__(self) -> None:
        self.used = False


@contextmanager
def stoppable() -> Iterator[Stop]:
    """Let Ctrl-C end an ensemble early: inside, a selector answers with the members it has.

    Without it, and where too few members are there, the selector raises `KeyboardInterrupt`; so it
    does for a second Ctrl-C. A result from a part has the promise of that part, and says so in
    `notes_`.

    Examples
    --------
    >>> from selica import StabilitySelection
    >>> from selica._core.progress import reporting, stoppable
    >>> from selica.sampling import simulate
    >>> data = simulate(100, 30, 3, snr=10.0, random_state=0)
    >>> def enough(what, done, total):
    ...     if done > 60:
    ...         raise KeyboardInterrupt
    >>> with stoppable() as stop, reporting(enough):
    ...     found = StabilitySelection(n_resamples=200, random_state=0).fit(data.X, data.y)
    >>> stop.used, found.n_resamples_
    (True, 60)
    >>> found.notes_[0]
    'The run was stopped after 60 of 200 resamples; the selection is made from these.'
    """
    stop = Stop()
    token = _STOP.set(stop)
    try:
        yield stop
    finally:
        _STOP.reset(token)


def stop_here() -> bool:
    """Tell whether an interrupt is to be answered with what is there; once only."""
    stop = _STOP.get()
    if stop is None or stop.used:
        return False
    stop.used = True
    return True


def was_stopped() -> bool:
    """Tell whether an interrupt was answered with what was there."""
    stop = _STOP.get()
    return stop is not None and stop.used


def stopped_after(done: int, total: int, what: str) -> str:
    """Return what is said of a run that was stopped, as a clause.

    >>> from selica._core.progress import stopped_after
    >>> stopped_after(120, 200, "resamples")
    'the run was stopped after 120 of 200 resamples; the selection is made from these'
    """
    return f"the run was stopped after {done} of {total} {what}; the selection is made from these"
