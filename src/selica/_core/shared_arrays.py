"""Arrays that the tasks of a run have in common travel to each worker once.

A task is packed into bytes that hold everything but the arrays it shares with other tasks; these
stand beside the bytes. What stands there depends on the workers:

- on a cluster of Dask, an array is put on every worker; a worker that comes later gets it from
  another one;
- on a cluster of Ray, it is put into the object store, one for each machine;
- an array that is mapped from a file is not sent: workers open the file (`file_arrays`).

Workers of joblib itself are on this machine and map large arrays from memory already, threads share
it; their tasks are not packed.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import Any
from weakref import ref

import numpy as np

from selica._core.file_arrays import FileArray, in_file

_LARGE = 20_000
"""Bytes from which an array is sent by itself."""
_PLACES: ContextVar[Places | None] = ContextVar("places", default=None)
"""Where arrays have been put, inside `sharing`."""


class Places:
    """Where arrays are on the workers of clusters, for as long as they are in memory here."""

    def __init__(self) -> None:
        self._known: dict[tuple[Any, ...], tuple[Any, Any]] = {}

    def of(self, arrays: Sequence[Any], put: Callable[[list[Any]], list[Any]]) -> list[Any]:
        """Return handles of arrays; those without one are put on the workers.

        Parameters
        ----------
        arrays : sequence of ndarray
        put : callable
            Puts arrays on the workers and returns their handles.
        """
        keys = [_key(array) for array in arrays]
        new = {
            key: array for key, array in zip(keys, arrays, strict=True) if key not in self._known
        }
        for (key, array), handle in zip(new.items(), put(list(new.values())), strict=True):
            self._known[key] = (ref(_owner(array), partial(self._drop, key)), handle)
        return [self._known[key][1] for key in keys]

    def _drop(self, key: tuple[Any, ...], _: Any) -> None:
        """Let workers drop an array that is no longer in memory here."""
        self._known.pop(key, None)

    @property
    def handles(self) -> list[Any]:
        """Handles of all arrays that are on the workers."""
        return [handle for _, handle in self._known.values()]

    def forget(self) -> None:
        """Let workers drop all arrays."""
        self._known.clear()


@contextmanager
def sharing() -> Iterator[Places]:
    """Leave arrays on the workers from one call to the next; nobody may change them inside.

    An array that goes out of memory is dropped by the workers as well, and all are at the end. A
    context inside another is the same as the outer one.
    """
    outer = _PLACES.get()
    if outer is not None:
        yield outer
        return
    places = Places()
    token = _PLACES.set(places)
    try:
        yield places
    finally:
        _PLACES.reset(token)
        places.forget()


class SharedArrays:
    """What the tasks of one call have in common, and its handles.

    Parameters
    ----------
    tasks : sequence
        Whatever is to be sent; the first and the last tell what all have in common.
    put : callable
        Puts arrays on the workers and returns their handles.
    places : Places
    """

    def __init__(
        self, tasks: Sequence[Any], put: Callable[[list[Any]], list[Any]], places: Places
    ) -> None:
        ends = [_large_arrays(task) for task in (tasks[0], tasks[-1])]
        self._arrays = {key: array for key, array in ends[0].items() if key in ends[1]}
        self._put, self._places = put, places

    def packed(self, task: Any) -> tuple[bytes, list[Any]]:
        """Return a task as bytes, and the handles of the arrays that it has beside them."""
        beside: dict[tuple[Any, ...], int] = {}

        def place(array: Any) -> Any:
            key = _key(array)
            return beside.setdefault(key, len(beside)) if key in self._arrays else None

        content = _dumped(task, place)
        return content, self._places.of([self._arrays[key] for key in beside], self._put)


def unpacked(content: bytes, arrays: Sequence[Any]) -> Any:
    """Return a task on a worker.

    Parameters
    ----------
    content : bytes
    arrays : sequence of ndarray
        Those that its handles stood for.
    """
    return _Unpacker(content, arrays).load()


def _large_arrays(task: Any) -> dict[tuple[Any, ...], Any]:
    """Return the large arrays in a task that no file holds, by their place in memory."""
    found: dict[tuple[Any, ...], Any] = {}

    def note(array: Any) -> int:
        found[_key(array)] = array
        return 0

    _dumped(task, note)
    return found


def _owner(array: Any) -> Any:
    """Return the array whose memory an array is a view of."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def _key(array: Any) -> tuple[Any, ...]:
    """Return what two views of the same entries have in common."""
    place = array.__array_interface__["data"][0]
    return (place, array.shape, array.strides, array.dtype.str)


def _dumped(task: Any, place: Callable[[Any], Any]) -> bytes:
    """Return a task as bytes; where `place` returns something, it stands for a large array."""
    import cloudpickle  # comes with Dask and with joblib for Ray; slow to import, seldom needed

    class Packer(cloudpickle.Pickler):  # type: ignore[misc]
        def persistent_id(self, obj: Any) -> Any:
            plain = type(obj) in (np.ndarray, np.memmap) and not obj.dtype.hasobject
            if not plain or obj.nbytes < _LARGE:
                return None
            where = in_file(obj)
            return place(obj) if where is None else where

    file = io.BytesIO()
    Packer(file, protocol=pickle.HIGHEST_PROTOCOL).dump(task)
    return file.getvalue()


class _Unpacker(pickle.Unpickler):
    """Reads a task, and takes the arrays that stand beside it."""

    def __init__(self, content: bytes, arrays: Sequence[Any]) -> None:
        super().__init__(io.BytesIO(content))
        self._arrays = arrays

    def persistent_load(self, pid: Any) -> Any:
        """Return an array by its number, or from its file."""
        return pid.open() if isinstance(pid, FileArray) else self._arrays[pid]
