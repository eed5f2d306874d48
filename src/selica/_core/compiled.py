"""Compiled functions whose cache on disk is checked before it is used."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import IndexDataCacheFile

QUIET = "SELICA_QUIET"
"""Environment variable; where it is set, nothing is said about compilation."""
_SEAL = 32
"""Bytes of the digest at the end of a file."""


def njit(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """As `numba.njit`, but for files of the cache that are damaged: those are made anew.

    Numba reads its files unseen. One that was cut short or overwritten ends every call in an error
    until somebody deletes it, or runs as machine code. Here each file ends with a digest of what is
    before it; where the two do not agree there is no file. One that cannot be written is left out.
    The first function of a process that has to be compiled says so on standard error.

    Parameters
    ----------
    **options
        Of `numba.njit`.

    Examples
    --------
    >>> from selica._core.compiled import njit
    >>> @njit(nogil=True)
    ... def twice(x):
    ...     return 2.0 * x
    >>> twice(1.5)
    3.0
    """

    def compiled(function: Callable[..., Any]) -> Any:
        kernel = numba.njit(**options)(function)
        cache: Any = getattr(kernel, "_cache", None)  # there is none where numba is switched off
        if isinstance(getattr(cache, "_cache_file", None), IndexDataCacheFile):
            cache._cache_file = _SealedFile(cache._cache_file)
        return kernel

    return compiled


def threads() -> int:
    """Return how many threads compiled code may have."""
    settings: Any = numba.config
    return int(settings.NUMBA_NUM_THREADS)


class _SealedFile(IndexDataCacheFile):
    """The index of a function and its machine code, each with a seal."""

    def __init__(self, plain: IndexDataCacheFile) -> None:
        vars(self).update(vars(plain))

    def load(self, key: Any) -> Any:
        found = super().load(key)
        if found is None:
            _announce()
        return found

    def save(self, key: Any, data: Any) -> None:
        with suppress(OSError):  # a full disk: the next process compiles again
            super().save(key, data)

    def _load_index(self) -> Any:
        return super()._load_index() if _sealed(self._index_path) else {}

    def _load_data(self, name: str) -> Any:
        path = self._data_path(name)
        if not _sealed(path):
            raise FileNotFoundError(path)  # which numba takes for a file that is gone
        return super()._load_data(name)

    @contextmanager
    def _open_for_write(self, filepath: str) -> Iterator[io.BytesIO]:
        whole = io.BytesIO()
        yield whole
        with super()._open_for_write(filepath) as file:
            # what reads a pickle does not mind what follows it
            file.write(whole.getvalue() + _seal(whole.getvalue()))


@cache
def _announce() -> None:
    """Say once that code is compiled, since the first fit waits for it."""
    if not os.environ.get(QUIET):
        print(
            "selica: compiling its solvers for this machine, which happens once and takes about a "
            "minute ...",
            file=sys.stderr,
            flush=True,
        )


def _seal(content: bytes) -> bytes:
    return blake2b(content, digest_size=_SEAL).digest()


def _sealed(path: str) -> bool:
    """Whether a file is as it was written."""
    try:
        content = Path(path).read_bytes()
    except OSError:
        return False
    return content[-_SEAL:] == _seal(content[:-_SEAL])
