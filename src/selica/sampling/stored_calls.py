"""Calls of genotypes that are stored in two bits, a stretch of markers at a time."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from selica._core.errors import ArgumentError
from selica._core.types import Array
from selica._core.validation import short
from selica.sampling.motifs import MISSING
from selica.tables.genotypes.codes import unpack

MOST_PEOPLE = 1_000
"""People from whom correlations are taken, at most: those at even distances in the table."""


class StoredCalls(Protocol):
    """Genotypes in two bits: a table of `solvers.designs` or `tables.genotypes`."""

    @property
    def codes(self) -> Any:
        """(lines, bytes): codes in the order of PLINK 1."""

    @property
    def n_rows(self) -> int:
        """Number of people."""

    @property
    def columns(self) -> Any:
        """(p,): the line of each marker."""


def check_stored(stored: object) -> None:
    """Refuse what is no table of genotypes in two bits."""
    if not all(hasattr(stored, name) for name in ("codes", "n_rows", "columns")):
        raise ArgumentError(
            "stored must be genotypes in two bits, a Genotypes or a TwoBitTable; got "
            f"{short(stored)}."
        )


def calls_of(stored: StoredCalls, begin: int, end: int, people: Any = slice(None)) -> Any:
    """Return calls of neighbouring markers, (markers, people), -1 where one is missing."""
    lines = np.asarray(stored.columns[begin:end])
    first, last = int(lines[0]), int(lines[-1])
    adjacent = last - first == lines.size - 1 and bool((np.diff(lines) == 1).all())
    codes = np.asarray(stored.codes[first : last + 1] if adjacent else stored.codes[lines])
    return unpack(codes, stored.n_rows)[:, people]


def even_people(n: int, most: int = MOST_PEOPLE) -> Any:
    """Return at most so many of n people, at even distances."""
    return np.unique(np.linspace(0, n - 1, min(n, most)).round().astype(np.intp))


def standard_calls(calls: Any) -> Any:
    """Return calls of mean zero and length one, (markers, people); missing ones are the mean."""
    table = calls.astype(np.float32)
    known = calls != MISSING
    many = np.maximum(known.sum(axis=1, keepdims=True), 1)
    table[~known] = 0.0
    table -= table.sum(axis=1, keepdims=True) / many
    table[~known] = 0.0
    length = np.sqrt(np.einsum("mn,mn->m", table, table))[:, None]
    table /= np.where(length > 0.0, length, 1.0)
    return table


def filled(calls: Any) -> Array:
    """Return calls as numbers, (people, markers), the mean of a marker in place of gaps."""
    table = np.asarray(calls, dtype=float)
    gaps = table == MISSING
    if gaps.any():
        mean = np.where(gaps, 0.0, table).sum(axis=0) / np.maximum((~gaps).sum(axis=0), 1)
        table = np.where(gaps, mean, table)
    return table
