"""PLINK 2 files: hard calls of `.pgen`, written once into two bits each (needs pgenlib)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from selica._core.errors import ArgumentError
from selica._core.types import IntArray
from selica.tables.genotypes.codes import BLOCK, Codes, line_bytes, pack
from selica.tables.genotypes.storing import store_codes


def read_pgen(path: Path, n: int, p: int, lines: IntArray, cache: Path | None = None) -> Codes:
    """Return the hard calls of some markers of a `.pgen` file as codes.

    Parameters
    ----------
    path : path
    n, p : int
        People of the `.psam` file and markers of the `.pvar` file.
    lines : array of int
        Markers to read.
    cache : path, optional
        File for the codes; without it they are in memory.

    Returns
    -------
    array of uint8 of shape (m, ceil(n / 4))
        Copies of the alternative allele; dosages are not read.
    """
    try:
        from pgenlib import PgenReader
    except ImportError:
        raise ArgumentError(
            f"{path}: PLINK 2 files need pgenlib (pip install 'selica[genotypes]'); .bed files "
            f"need nothing: plink2 --pfile {path.with_suffix('')} --make-bed --out {path.stem}."
        ) from None
    try:
        reader = PgenReader(str(path).encode(), raw_sample_ct=n, variant_ct=p)
    except RuntimeError as error:
        raise ArgumentError(f"{path}: {_reason(error)}.") from None
    with reader:
        if (reader.get_raw_sample_ct(), reader.get_variant_ct()) != (n, p):
            raise ArgumentError(
                f"{path}: the file has {reader.get_raw_sample_ct():,} people and "
                f"{reader.get_variant_ct():,} markers; .psam and .pvar beside it have {n:,} and "
                f"{p:,}."
            )
        return store_codes(_parts(reader, n, lines), (int(lines.size), line_bytes(n)), cache)


def _parts(reader: Any, n: int, lines: IntArray) -> Iterator[tuple[slice, Codes]]:
    """Yield codes of some markers after others."""
    step = max(1, BLOCK // max(1, n))
    for start in range(0, lines.size, step):
        some = np.ascontiguousarray(lines[start : start + step], dtype=np.uint32)
        calls = np.empty((some.size, n), dtype=np.int8)
        reader.read_list(some, calls)
        calls[calls == -9] = -1
        yield slice(start, start + some.size), pack(calls)


def _reason(error: RuntimeError) -> str:
    text = " ".join(str(error).split()).rstrip(".")
    return text[0].lower() + text[1:] if text else "the file cannot be read"
