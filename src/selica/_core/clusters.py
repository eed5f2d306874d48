"""Clusters behind joblib on which arrays can be put before they are needed: Dask and Ray."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import Any, Protocol

import numpy as np

_PATIENCE = 30.0
"""Seconds to wait for workers."""


class Cluster(Protocol):
    """Workers that keep arrays."""

    def put(self, arrays: list[Any]) -> list[Any]:
        """Put arrays on the workers; tasks take the handles that are returned as arguments."""

    def lost(self, handles: Iterable[Any]) -> bool:
        """Tell whether no worker has the array of one of the handles any more."""

    def wait(self) -> None:
        """Wait until workers that died have been replaced, but not for long."""


class DaskCluster:
    """Workers of Dask: each gets an array once, and a worker that comes later from another one.

    Parameters
    ----------
    client : distributed.Client
    """

    def __init__(self, client: Any) -> None:
        self._client = client
        self._workers = len(client.ncores())

    def put(self, arrays: list[Any]) -> list[Any]:
        """Put arrays on all workers."""
        return list(self._client.scatter(arrays, broadcast=True, hash=False)) if arrays else []

    def lost(self, handles: Iterable[Any]) -> bool:
        """Tell whether no worker has the array of one of the handles any more."""
        return any(handle.status in ("lost", "cancelled") for handle in handles)

    def wait(self) -> None:
        """Wait until workers that died have been replaced, but not for long."""
        with suppress(TimeoutError):
            self._client.wait_for_workers(max(self._workers, 1), timeout=_PATIENCE)


class RayCluster:
    """Workers of Ray, which share a store on each machine; this process keeps what it put there."""

    def put(self, arrays: list[Any]) -> list[Any]:
        """Put arrays into the object store."""
        import ray

        return [ray.put(array) for array in arrays]

    def lost(self, handles: Iterable[Any]) -> bool:
        """Tell whether no worker has the array of one of the handles any more: never."""
        return False

    def wait(self) -> None:
        """Wait until workers that died have been replaced: Ray does so itself."""


def active_cluster(prefer: str | None) -> Cluster | None:
    """Return the cluster that joblib gives work to; None where workers are on this machine.

    Parameters
    ----------
    prefer : {"processes", "threads"}, optional
        As in joblib.
    """
    from joblib.parallel import get_active_backend

    backend, _ = get_active_backend(prefer=prefer)
    kind = type(backend).__name__
    if kind == "DaskDistributedBackend":
        return None if _on_a_dask_worker() else DaskCluster(backend.client)
    return RayCluster() if kind == "RayBackend" else None


def arrived(array: Any) -> Any:
    """Return an array of a task, aligned in memory; a handle in its place is resolved.

    joblib does a task here and not on a cluster where it finds one worker alone. Dask leaves an
    array where its message was read, at any address, and sums over such an array round otherwise.
    """
    if isinstance(array, np.ndarray):
        return np.require(array, requirements="A")
    if hasattr(array, "result"):
        return array.result()
    import ray

    return ray.get(array)


def _on_a_dask_worker() -> bool:
    """Tell whether this is a task of Dask itself, whose own tasks are small."""
    from distributed import get_worker

    try:
        get_worker()
    except ValueError:
        return False
    return True
