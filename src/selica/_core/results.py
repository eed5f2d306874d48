"""What every result object can do: print itself, become a dictionary or a table."""

from __future__ import annotations

import math
from dataclasses import fields
from enum import StrEnum
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from selica._core.types import Array, BoolArray

if TYPE_CHECKING:
    import pandas as pd


class Status(StrEnum):
    """Why an iteration stopped."""

    CONVERGED = "converged"
    MAX_ITER = "max_iter"
    NONFINITE = "nonfinite"
    INFEASIBLE = "infeasible"


def unwrap(array: Any) -> Any:
    """Return a Python scalar for a zero-dimensional array, the array itself otherwise."""
    array = np.asarray(array)
    return array.item() if array.ndim == 0 else array


def plain(value: Any) -> Any:
    """Return a value for JSON, in which NaN and infinity become null."""
    if isinstance(value, dict):
        return {key: plain(v) for key, v in value.items()}
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def statuses(good: BoolArray, residual: Array) -> Any:
    """Say of each point whether it is good and, where it is not, whether it is a number."""
    out = np.full(good.shape, Status.CONVERGED.value, dtype="<U10")
    if not good.all():
        out[~good] = Status.MAX_ITER.value
        out[~np.isfinite(residual)] = Status.NONFINITE.value
    return out


class Result:
    """Base of the frozen result dataclasses; `_columns` names what goes into a table."""

    __slots__ = ()
    _columns: ClassVar[tuple[str, ...]] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers and arrays by name."""
        return {name: getattr(self, name) for name in self._column_names()}

    def to_frame(self) -> pd.DataFrame:
        """Return one row for each point of the grid (needs pandas)."""
        import pandas as pd

        values = self.to_dict()
        arrays = np.broadcast_arrays(*(np.atleast_1d(v) for v in values.values()))
        return pd.DataFrame({k: a.ravel() for k, a in zip(values, arrays, strict=True)})

    def _column_names(self) -> tuple[str, ...]:
        return self._columns or tuple(f.name for f in fields(self))  # type: ignore[arg-type]

    def __repr__(self) -> str:
        shape = np.broadcast_shapes(*(np.shape(v) for v in self.to_dict().values()))
        inner = ", ".join(f"{k}={_show(v)}" for k, v in self.to_dict().items())
        grid = f"shape={shape}, " if shape else ""
        return f"{type(self).__name__}({grid}{inner})"


def _show(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, np.ndarray) and value.size > 1:
        if value.dtype.kind == "f":
            return f"[{np.min(value):.4g} .. {np.max(value):.4g}]"
        return "[" + ", ".join(str(u) for u in np.unique(value)) + "]"
    return str(value)
