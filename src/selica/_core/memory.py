"""Memory that is free, asked for before work that may not fit."""

from __future__ import annotations

from pathlib import Path

from selica._core.errors import RefusedError

SMALL = 1e8
"""Bytes that are there on every machine: less is not worth asking for."""
_LINUX = Path("/proc/meminfo")
"""Where Linux says how much memory is free."""
_GROUP = Path("/sys/fs/cgroup")
"""Where Linux says what a container may take."""
_GIGABYTE = 1e9
"""Bytes in a gigabyte."""


def available() -> float | None:
    """Return the bytes that a process may still take; None where the system does not say.

    >>> from selica._core.memory import available
    >>> found = available()
    >>> found is None or found > 0.0
    True
    """
    free = _of_system()
    limit = _of_group()
    known = [size for size in (free, limit) if size is not None]
    return min(known) if known else None


def check_memory(what: str, needed: float, instead: str) -> None:
    """Refuse work that needs more memory than there is.

    Parameters
    ----------
    what : str
        The work, as the subject of a sentence.
    needed : float
        Bytes, about.
    instead : str
        What to do, as a clause.

    Examples
    --------
    >>> from selica._core.memory import check_memory
    >>> check_memory("knockoffs of 5 columns", 1000.0, "leave columns out")
    """
    free = available()
    if free is not None and needed > free:
        raise RefusedError(
            f"{what[0].upper()}{what[1:]} would need about {needed / _GIGABYTE:.3g} GB of memory, "
            f"and {free / _GIGABYTE:.3g} GB are free; {instead}."
        )


def _of_system() -> float | None:
    try:
        lines = _LINUX.read_text().splitlines()
    except OSError:
        return None
    for line in lines:
        name, _, size = line.partition(":")
        if name == "MemAvailable":
            return 1024.0 * float(size.split()[0])
    return None


def _of_group() -> float | None:
    """Return the bytes that a container may still take."""
    try:
        most, taken, kinds = (
            (_GROUP / f"memory.{name}").read_text().strip() for name in ("max", "current", "stat")
        )
    except OSError:
        return None
    if not (most.isdigit() and taken.isdigit()):
        return None
    # files that were read are given back when memory is asked for
    stat = dict(line.split() for line in kinds.splitlines())
    return float(most) - float(taken) + float(stat.get("inactive_file", 0))
