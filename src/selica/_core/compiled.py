"""Compiled functions whose cache on disk is checked before it is used.

Numba compares a cached function with the time stamp of its own file. A kernel is compiled into
those that call it, though, from whatever file: here the stamp is made of the contents of all files
that a kernel reaches, and of the constants it uses.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from hashlib import blake2b
from importlib.machinery import EXTENSION_SUFFIXES
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import numba
from numba.core.caching import IndexDataCacheFile
from numba.core.dispatcher import Dispatcher

from selica._core.errors import ArgumentError

QUIET = "SELICA_QUIET"
"""Environment variable; where it is set, nothing is said about compilation."""
_SEAL = 32
"""Bytes of the digest at the end of a file."""


def njit(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Compile as `numba.njit`, but make files of the cache anew that are damaged or out of date.

    Numba reads its files unseen. One that was cut short or overwritten ends every call in an error
    until somebody deletes it, or runs as machine code. Here each file ends with a digest of what is
    before it; where the two do not agree there is no file. One that cannot be written is left out.
    A function is compiled again when its file or that of a kernel it calls has changed, and not
    when files were only written anew. The first function of a process that has to be compiled says
    so on standard error.

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
            cache._cache_file = _SealedFile(cache._cache_file, function)
        return kernel

    return compiled


class _SealedFile(IndexDataCacheFile):
    """The index of a function and its machine code, each with a seal."""

    def __init__(self, plain: IndexDataCacheFile, function: Callable[..., Any]) -> None:
        vars(self).update(vars(plain))
        self._function = function

    def load(self, key: Any) -> Any:
        # not before: a kernel that is called may be defined later
        self._source_stamp = _stamp(self._function) or self._source_stamp
        found = super().load(key)
        if found is None:
            _announce()
        return found

    def save(self, key: Any, data: Any) -> None:
        with suppress(OSError):  # a full disk: the next process compiles again
            super().save(key, data)

    def _load_index(self) -> Any:
        if not _sealed(self._index_path):
            return {}
        try:
            return super()._load_index()
        except (AttributeError, ImportError):  # it names a class that has another name by now
            return {}

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


def _stamp(function: Callable[..., Any]) -> str | None:
    """Return a digest of all that a kernel is compiled from; None where sources are not files."""
    files: dict[str, None] = {}
    constants: list[str] = []
    waiting: list[Any] = [function]
    seen: set[int] = set()
    while waiting:
        kernel = waiting.pop()
        if id(kernel) in seen:
            continue
        seen.add(id(kernel))
        files[kernel.__code__.co_filename] = None
        for name in sorted(_names(kernel.__code__)):
            value = kernel.__globals__.get(name)
            if isinstance(value, Dispatcher):
                waiting.append(value.py_func)
            elif isinstance(value, int | float | str | tuple):
                constants.append(f"{kernel.__qualname__} {name} {value!r}")
            elif isinstance(value, type) and value.__module__ in sys.modules:
                source = getattr(sys.modules[value.__module__], "__file__", None)
                if source is not None and value.__module__ != "builtins":
                    files[source] = None
    try:
        digests = [_digest(file) for file in sorted(files)]
    except OSError:
        return None
    return _seal("\n".join([*digests, *sorted(constants)]).encode()).hex()


def _names(code: CodeType) -> set[str]:
    """Return the global names that a piece of code may use, inner functions included."""
    inner = (part for part in code.co_consts if isinstance(part, CodeType))
    return set(code.co_names).union(*(_names(part) for part in inner))


@cache
def _digest(file: str) -> str:
    return _seal(Path(file).read_bytes()).hex()


def _seal(content: bytes) -> bytes:
    return blake2b(content, digest_size=_SEAL).digest()


def _sealed(path: str) -> bool:
    """Say whether a file is as it was written."""
    try:
        content = Path(path).read_bytes()
    except OSError:
        return False
    return content[-_SEAL:] == _seal(content[:-_SEAL])


# The core in C++: one extension module for each instruction set, beside this file.

SETS = ("baseline", "avx2", "avx512")
"""Instruction sets that a core may be built for, each of which contains those before it."""
FORCED = "SELICA_SET"
"""Environment variable: the instruction set to use instead of the largest that the machine runs."""
ELSEWHERE = "SELICA_CORE"
"""Environment variable: a folder that holds the extension modules instead of the package's own."""
THREADS = "SELICA_NUM_THREADS"
"""Environment variable: how many threads compiled code may have."""


@cache
def core() -> Any:
    """Return the extension module of this machine; it is imported once.

    It is the one for the largest instruction set that was built and that the processor runs. The
    environment variable SELICA_SET names another (`baseline`, `avx2`, `avx512`), SELICA_CORE a
    folder with modules that were built elsewhere, such as those with checked memory.

    Raises
    ------
    ImportError
        If there is no module, or none for the set that is asked for.

    Examples
    --------
    >>> from selica._core.compiled import SETS, core
    >>> core().instruction_set in SETS
    True
    """
    best = str(load("baseline").best_set())
    able = SETS[: SETS.index(best) + 1]
    wanted = os.environ.get(FORCED)
    if wanted:
        if wanted not in SETS:
            raise ImportError(f"{FORCED} is {wanted!r}, which is none of {', '.join(SETS)}.")
        if wanted not in able:
            raise ImportError(
                f"{FORCED} is {wanted!r}, which this processor does not run; it runs "
                f"{', '.join(able)}."
            )
        return load(wanted)
    for each in reversed(able[1:]):
        if _file(each) is not None:
            return load(each)
    return load("baseline")


def load(instruction_set: str) -> ModuleType:
    """Import the extension module for one instruction set.

    Raises
    ------
    ImportError
        If it was not built.
    """
    name = f"{__package__}._compiled_{instruction_set}"
    if name in sys.modules:
        return sys.modules[name]
    file = _file(instruction_set)
    if file is None:
        raise ImportError(
            f"The compiled core of selica for {instruction_set!r} is missing: install a wheel, or "
            "build it from the sources with a C++ compiler, by `make core` or `pip install .`."
        )
    spec = spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    sys.modules[name] = module
    return module


def threads() -> int:
    """Return how many threads compiled code may have.

    The environment variable SELICA_NUM_THREADS says so; without it, there is one for each processor
    that this process may use.

    Raises
    ------
    ArgumentError
        If the variable is no positive whole number.
    """
    asked = os.environ.get(THREADS, "").strip()
    if not asked:
        return _processors()
    if not asked.isdecimal() or int(asked) < 1:
        raise ArgumentError(f"{THREADS} is {asked!r}; it has to be a positive whole number.")
    return int(asked)


def _processors() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _file(instruction_set: str) -> Path | None:
    """Return where the module for an instruction set is; None if it was not built."""
    folder = Path(os.environ.get(ELSEWHERE) or Path(__file__).parent)
    named = (folder / f"_compiled_{instruction_set}{ending}" for ending in EXTENSION_SUFFIXES)
    return next((path for path in named if path.exists()), None)
