"""Arrays in files: AnnData (`.h5ad`) and Zarr, read by blocks into the smallest form they need."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from selica._core.errors import ArgumentError
from selica._core.files import as_path
from selica._core.memory import SMALL, check_memory
from selica._core.validation import short
from selica.tables.columns import Columns

_BLOCK = 4_000_000
"""Entries that are read at once."""
_SMALLEST = -128
"""Smallest number that a byte holds."""
_LARGEST = 127
"""Largest number that a byte holds."""
_SINGLE = float(np.finfo(np.float32).max)
"""What single precision holds."""


@dataclass(frozen=True, slots=True, eq=False)
class ArrayTable:
    """A table that was read from an array in a file.

    Attributes
    ----------
    values : array of int8 or float32, or sparse array by columns, of shape (n, p)
    names : tuple of str
        Of the columns; empty where the file has none.
    row_names : tuple of str
    about : Columns or None
        What is known of the rows: `obs` of AnnData.

    Examples
    --------
    >>> import numpy as np
    >>> from selica.tables import ArrayTable
    >>> ArrayTable(np.eye(2, dtype=np.int8), ("a", "b")).names
    ('a', 'b')
    """

    values: Any
    names: tuple[str, ...] = ()
    row_names: tuple[str, ...] = ()
    about: Columns | None = None

    def __post_init__(self) -> None:
        """Check that everything that is known of rows and columns fits the values."""
        rows, columns = self.shape
        known = 0 if self.about is None or not self.about.values else len(self.about)
        for name, size, length, what in (
            ("names", len(self.names), columns, "columns"),
            ("row_names", len(self.row_names), rows, "rows"),
            ("about", known, rows, "rows"),
        ):
            if size not in (0, length):
                raise ArgumentError(
                    f"{name}: the array has {length:,} {what}, and this is of {size:,}."
                )

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        return int(self.values.shape[0]), int(self.values.shape[1])

    def some_rows(self, which: Any) -> ArrayTable:
        """Return some of the rows, without what is known of them; all of them are not copied."""
        if np.array_equal(which, np.arange(self.shape[0])):
            return replace(self, about=None)
        names = tuple(self.row_names[i] for i in which) if self.row_names else ()
        return ArrayTable(self.values[which], self.names, names)

    def some_columns(self, which: Any) -> ArrayTable:
        """Return some of the columns."""
        names = tuple(self.names[j] for j in which) if self.names else ()
        return replace(self, values=self.values[:, which], names=names)


def read_array(path: str | Path, *, layer: str | None = None) -> ArrayTable:
    """Read a table of numbers from a `.h5ad` file of AnnData, or from a Zarr array.

    The array is read block by block, twice: whole numbers that fit into a byte become `int8`,
    others `float32`. A sparse array stays sparse.

    Parameters
    ----------
    path : path
        A `.h5ad` file (needs h5py) or the folder of a Zarr array (needs zarr).
    layer : str, optional
        Layer of AnnData, or name of an array in a Zarr group; by default X.

    Returns
    -------
    ArrayTable

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import zarr
    >>> from selica.tables import read_array
    >>> with TemporaryDirectory() as folder:
    ...     stored = zarr.open_array(Path(folder) / "a.zarr", mode="w", shape=(2, 3), dtype="f8")
    ...     stored[:] = [[0, 1, 2], [2, 1, 0]]
    ...     table = read_array(Path(folder) / "a.zarr")
    >>> table.values.dtype, table.values.tolist()
    (dtype('int8'), [[0, 1, 2], [2, 1, 0]])
    """
    file = as_path("path", path)
    try:
        is_there = file.exists()
    except OSError as error:  # a name that is too long
        raise ArgumentError(f"path: {error.strerror}; got {short(str(path))}.") from None
    if not is_there:
        raise ArgumentError(f"{file}: there is no such file.")
    if layer is not None and not isinstance(layer, str):
        raise ArgumentError(f"layer must be the name of a layer; got {short(layer)}.")
    if file.suffix.lower() in (".h5ad", ".h5"):
        return _of_anndata(file, layer)
    if file.suffix.lower() == ".zarr" or file.is_dir():
        return _of_zarr(file, layer)
    raise ArgumentError(f"path must be a .h5ad file or a Zarr array; got {short(str(path))}.")


def _of_zarr(path: Path, name: str | None) -> ArrayTable:
    try:
        import zarr
    except ImportError:
        raise ArgumentError(f"{path}: Zarr needs zarr (pip install 'selica[arrays]').") from None
    try:
        found = zarr.open(path, mode="r")
        if not isinstance(found, zarr.Array):
            found = found["X" if name is None else name]
    except (KeyError, OSError, ValueError):
        raise ArgumentError(
            f"{path}: there is no Zarr array {'X' if name is None else repr(name)}."
        ) from None
    if not isinstance(found, zarr.Array):
        raise ArgumentError(f"{path}: sparse groups of Zarr are not read; write a .h5ad file.")
    return ArrayTable(_dense(path, found))


def _of_anndata(path: Path, layer: str | None) -> ArrayTable:
    try:
        import h5py
    except ImportError:
        raise ArgumentError(f"{path}: .h5ad needs h5py (pip install 'selica[arrays]').") from None
    try:
        file = h5py.File(path, "r")
    except OSError:
        raise ArgumentError(f"{path}: this is not a file of AnnData (HDF5).") from None
    with file:
        key = "X" if layer is None else f"layers/{layer}"
        if key not in file:
            there = ", ".join(file["layers"]) if "layers" in file else ""
            raise ArgumentError(f"{path}: there is no {key}; the layers are: {there or 'none'}.")
        found = file[key]
        values = _sparse(path, found) if isinstance(found, h5py.Group) else _dense(path, found)
        return ArrayTable(
            values, _index(file, "var"), _index(file, "obs"), _about(file.get("obs"), h5py)
        )


def _rows(array: Any) -> Iterator[slice]:
    """Yield rows that are read at once: whole chunks of the file, where it has any."""
    chunk = (getattr(array, "chunks", None) or (1,))[0]
    step = max(1, _BLOCK // max(1, array.shape[1]))
    step = max(chunk, step // chunk * chunk)
    for start in range(0, array.shape[0], step):
        yield slice(start, min(start + step, array.shape[0]))


def _dense(path: Path, array: Any) -> Any:
    """Return a dense array in the smallest form that holds it, without holding it twice."""
    if array.ndim != 2 or 0 in array.shape or array.dtype.kind not in "biuf":
        raise ArgumentError(
            f"{path}: the array must be a non-empty two-dimensional one of numbers."
        )
    parts = (np.asarray(array[rows]) for rows in _rows(array))
    kind = _smallest(path, parts)
    size = float(np.prod(array.shape)) * np.dtype(kind).itemsize
    if size > SMALL:
        check_memory(f"an array of {array.shape[0]:,} x {array.shape[1]:,}", size, "read a part")
    out = np.empty(array.shape, dtype=kind)
    for rows in _rows(array):
        out[rows] = array[rows]
    return out


def _smallest(path: Path, parts: Iterator[Any]) -> Any:
    """Return the smallest type that holds all numbers, or refuse those that are not finite."""
    kind: Any = np.int8
    for part in parts:
        if part.dtype.kind == "b":
            continue
        low, high = float(part.min(initial=0)), float(part.max(initial=0))
        if not (np.isfinite(low) and np.isfinite(high)):
            raise ArgumentError(f"{path}: the array must be finite, without missing values.")
        if max(-low, high) > _SINGLE:
            raise ArgumentError(f"{path}: the array has numbers beyond single precision.")
        whole = part.dtype.kind in "iu" or bool((part == np.rint(part)).all())
        if not whole or low < _SMALLEST or high > _LARGEST:
            kind = np.float32
    return kind


def _sparse(path: Path, group: Any) -> Any:
    """Return a sparse array by columns, from one by rows or by columns."""
    from scipy.sparse import csc_array, csr_array

    form = _text(group.attrs.get("encoding-type", ""))
    kinds: dict[str, Callable[..., Any]] = {"csr_matrix": csr_array, "csc_matrix": csc_array}
    if form not in kinds or not {"data", "indices", "indptr"} <= set(group):
        raise ArgumentError(f"{path}: the array must be dense, csr_matrix or csc_matrix.")
    shape = tuple(int(one) for one in group.attrs["shape"])
    needed = 16.0 * group["data"].shape[0]
    if needed > SMALL:
        check_memory(
            f"a sparse array with {group['data'].shape[0]:,} entries", needed, "read a part"
        )
    data, indices, indptr = (group[name][...] for name in ("data", "indices", "indptr"))
    if data.dtype.kind not in "biuf" or not np.isfinite(data).all():
        raise ArgumentError(f"{path}: the array must be finite numbers.")
    return csc_array(kinds[form]((data, indices, indptr), shape=shape))


def _index(file: Any, axis: str) -> tuple[str, ...]:
    """Return the names of rows or columns; nothing where the file has none."""
    group = file.get(axis)
    if group is None or "_index" not in group.attrs:
        return ()
    found = group.get(_text(group.attrs["_index"]))
    return () if found is None else tuple(_text(one) for one in found[...])


def _about(group: Any, h5py: Any) -> Columns | None:
    """Return what is known of the rows: numbers, text and categories."""
    if group is None or "_index" not in group.attrs:
        return None
    own = _text(group.attrs["_index"])
    order = [_text(one) for one in group.attrs.get("column-order", ())]
    names, values = list[str](), list[Any]()
    for name in order or [one for one in group if one != own]:
        column = group.get(name)
        if column is None:
            continue
        found = _column(column, h5py)
        if found is not None:
            names.append(name)
            values.append(found)
    return Columns(tuple(names), tuple(values)) if names else None


def _column(column: Any, h5py: Any) -> Any:
    """Return a column of `obs`: floats, or text with None where a value is missing."""
    if isinstance(column, h5py.Group):
        if "codes" not in column or "categories" not in column:
            return None
        words = [_text(one) for one in column["categories"][...]]
        return np.array([*words, None], dtype=object)[column["codes"][...]]
    values = column[...]
    if values.ndim != 1:
        return None
    if values.dtype.kind in "biuf":
        return values.astype(float)
    return np.array([_text(one) for one in values], dtype=object)


def _text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
