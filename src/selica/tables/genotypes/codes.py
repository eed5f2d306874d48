"""Genotypes in two bits each, in the order of PLINK 1.

A line of codes is a marker; a byte holds four people, the first in its lowest bits. Code 0 is two
copies of the first allele, 1 a missing call, 2 one copy and 3 no copy.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from selica._core.errors import ArgumentError
from selica._core.types import BoolArray, IntArray

Codes = NDArray[np.uint8]
"""(p, ceil(n / 4)): one line a marker, four people a byte."""
BLOCK = 1 << 24
"""Bytes of codes that are worked on at once."""
_IN_A_BYTE = 4
"""People in a byte."""
_WORD = 8
"""Bytes in the words in which bits are counted."""
_CODE_OF_CALL = np.array([1, 3, 2, 0], dtype=np.uint8)
"""Codes of the calls -1 (missing), 0, 1 and 2."""
_CALL_OF_CODE = np.array([2, -1, 1, 0], dtype=np.int8)
"""Calls of the codes 0, 1, 2 and 3."""


def line_bytes(n: int) -> int:
    """Return the number of bytes of a line for n people."""
    return -(-n // _IN_A_BYTE)


def pack(calls: Any) -> Codes:
    """Return codes of calls.

    Parameters
    ----------
    calls : array of int8 of shape (m, n)
        A line for each marker: copies of the first allele, -1 where the call is missing.

    Returns
    -------
    array of uint8 of shape (m, ceil(n / 4))
        Bits that stand for nobody are zero.

    Examples
    --------
    >>> import numpy as np
    >>> from selica.tables.genotypes.codes import pack, unpack
    >>> codes = pack(np.array([[2, 1, 0, -1, 2]], dtype=np.int8))
    >>> codes.tolist(), unpack(codes, 5).tolist()
    ([[120, 0]], [[2, 1, 0, -1, 2]])
    """
    calls = np.asarray(calls)
    if calls.ndim != 2 or calls.dtype.kind not in "iu":
        raise ArgumentError("calls must be a two-dimensional table of whole numbers.")
    if calls.size and (calls.min() < -1 or calls.max() > 2):
        raise ArgumentError("calls must be 0, 1, 2, or -1 where they are missing.")
    return _packed(_CODE_OF_CALL[calls.astype(np.int8, copy=False) + np.int8(1)])


def _packed(codes: Codes) -> Codes:
    """Return codes of one byte each in two bits each."""
    lines, n = codes.shape
    full = np.zeros((lines, _IN_A_BYTE * line_bytes(n)), dtype=np.uint8)
    full[:, :n] = codes
    quarters = full.reshape(lines, -1, _IN_A_BYTE)
    out = quarters[:, :, 0].copy()
    for place in range(1, _IN_A_BYTE):
        out |= quarters[:, :, place] << np.uint8(2 * place)
    return out


def _all_bytes(values: NDArray[Any]) -> NDArray[np.uint32]:
    """Return, for every byte, what its four codes stand for, as the four bytes of a word."""
    every = np.arange(256, dtype=np.uint8)
    four = np.column_stack([values[(every >> 2 * k) & 3] for k in range(_IN_A_BYTE)])
    return np.ascontiguousarray(four).view(np.uint32).ravel()


_CALLS_OF_BYTE = _all_bytes(_CALL_OF_CODE)
"""Four calls for every byte."""
_CODES_OF_BYTE = _all_bytes(np.arange(4, dtype=np.uint8))
"""Four codes for every byte."""


def unpack(codes: Codes, n: int) -> NDArray[np.int8]:
    """Return the calls of codes: copies of the first allele, -1 where the call is missing.

    Parameters
    ----------
    codes : array of uint8 of shape (m, ceil(n / 4))
    n : int
        Number of people.

    Returns
    -------
    array of int8 of shape (m, n)
    """
    return _CALLS_OF_BYTE[codes].view(np.int8)[:, :n]


def some_people(codes: Codes, n: int, which: IntArray) -> Codes:
    """Return the codes of some people, in the order of `which`, packed anew."""
    return _packed(_CODES_OF_BYTE[codes].view(np.uint8)[:, :n][:, which])


def blocks(codes: Codes, lines: IntArray) -> Iterator[tuple[slice, Codes]]:
    """Yield lines of codes, some at a time, with their places among `lines`.

    Lines that follow each other in a file are read in one piece.
    """
    step = max(1, BLOCK // max(1, codes.shape[1]))
    for start in range(0, lines.size, step):
        part = lines[start : start + step]
        first, last = int(part[0]), int(part[-1])
        adjacent = last - first == part.size - 1 and bool((np.diff(part) == 1).all())
        read = codes[first : last + 1] if adjacent else codes[part]
        yield slice(start, start + part.size), np.asarray(read)


def count_codes(
    codes: Codes, n: int, lines: IntArray | None = None, people: BoolArray | None = None
) -> IntArray:
    """Count how many people have each code, marker by marker.

    Parameters
    ----------
    codes : array of uint8 of shape (p, ceil(n / 4))
    n : int
        Number of people.
    lines : array of int, optional
        The markers that are counted; all by default.
    people : array of bool of shape (n,), optional
        The people that are counted; all by default.

    Returns
    -------
    array of int of shape (m, 4)

    Examples
    --------
    >>> import numpy as np
    >>> from selica.tables.genotypes.codes import count_codes, pack
    >>> count_codes(pack(np.array([[2, 1, 0, -1, 2]], dtype=np.int8)), 5).tolist()
    [[2, 1, 1, 1]]
    """
    lines = np.arange(codes.shape[0]) if lines is None else lines
    taken = np.ones(n, dtype=np.uint8) if people is None else people.astype(np.uint8)
    width = -(-codes.shape[1] // _WORD) * _WORD
    mask = np.zeros((1, width), dtype=np.uint8)
    mask[:, : codes.shape[1]] = _packed(taken[None, :])  # the lower bit of each code
    low_bits = mask.view(np.uint64)
    total = int(taken.sum())
    out = np.empty((lines.size, 4), dtype=np.intp)
    for place, block in blocks(codes, lines):
        wide = np.zeros((block.shape[0], width), dtype=np.uint8)
        wide[:, : block.shape[1]] = block
        words = wide.view(np.uint64)
        low = words & low_bits
        words >>= np.uint64(1)
        words &= low_bits
        both = np.bitwise_count(low & words).sum(axis=1, dtype=np.intp)
        out[place, 3] = both
        out[place, 2] = np.bitwise_count(words).sum(axis=1, dtype=np.intp) - both
        out[place, 1] = np.bitwise_count(low).sum(axis=1, dtype=np.intp) - both
        out[place, 0] = total - out[place, 1:].sum(axis=1)
    return out
