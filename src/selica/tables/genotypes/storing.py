"""Codes that are made anew, block by block: in memory, or in a file where they do not fit."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from selica._core.errors import ArgumentError
from selica._core.memory import SMALL, check_memory
from selica._core.types import IntArray
from selica.tables.genotypes.codes import Codes, blocks, line_bytes, some_people


def store_codes(
    parts: Iterable[tuple[slice, Codes]], shape: tuple[int, int], cache: Path | None = None
) -> Codes:
    """Return codes that come block by block as one array.

    Parameters
    ----------
    parts : iterable of (slice, array)
        Blocks of lines with their places.
    shape : tuple
        Numbers of lines and of bytes in a line.
    cache : path, optional
        A file for them, which is then mapped; without it they are in memory.
    """
    size = float(shape[0]) * shape[1]
    if cache is None:
        if size > SMALL:
            check_memory(
                f"genotypes of {shape[0]:,} markers", size,
                "name a file for them with cache (on the command line: --cache FILE)",
            )  # fmt: skip
        out = np.empty(shape, dtype=np.uint8)
    else:
        try:
            out = np.memmap(cache, dtype=np.uint8, mode="w+", shape=shape)
        except OSError as error:
            raise ArgumentError(f"cache: {cache}: {error.strerror or error}.") from None
    for place, block in parts:
        out[place] = block
    if isinstance(out, np.memmap):
        out.flush()
        assert cache is not None
        return np.memmap(cache, dtype=np.uint8, mode="r", shape=shape)
    return out


def store_people(
    codes: Codes, n: int, lines: IntArray, which: IntArray, cache: Path | None = None
) -> Codes:
    """Return the codes of some people at some markers, packed anew.

    Parameters
    ----------
    codes : array of uint8 of shape (p, ceil(n / 4))
    n : int
    lines : array of int
        Markers.
    which : array of int
        People, in the order that they are to have.
    cache : path, optional
    """
    parts = ((place, some_people(block, n, which)) for place, block in blocks(codes, lines))
    return store_codes(parts, (int(lines.size), line_bytes(int(which.size))), cache)
