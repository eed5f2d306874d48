"""Studies side by side: their models and solutions as arrays, and the top of what is on a grid."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any, TypeVar

import numpy as np

from selica._core.types import Array
from selica.planning.predict.finite import Expected
from selica.planning.study import Study
from selica.theory import Model, Solution

S = TypeVar("S", bound=Solution)
Studies = tuple[Study, ...]
"""That have the same number of variables and law of effects."""
Found = tuple[Expected, dict[str, Any]]
"""An expectation, and arguments of the selector."""
PENALTIES = 9
"""That are tried for each study."""


def models(studies: Sequence[Study], axes: int = 0) -> Model:
    """What the theory sees of S studies with the same law: an array of S and some axes of one."""
    each = [study.model for study in studies]
    shape = (len(each),) + (1,) * axes
    alpha, rho, Delta = (
        np.array([getattr(model, name) for model in each]).reshape(shape)
        for name in ("alpha", "rho", "Delta")
    )
    return Model(alpha, rho, Delta, each[0].effects)


def points(studies: Studies, grid: S, places: Sequence[tuple[int, ...]]) -> list[S]:
    """For each study a point of a solution over studies and more, with floats."""
    columns = {f.name: getattr(grid, f.name) for f in fields(grid) if f.name != "model"}
    return [
        type(grid)(
            model=study.model,
            **{
                name: value[place].item() if isinstance(value, np.ndarray) else value
                for name, value in columns.items()
            },
        )
        for study, place in zip(studies, places, strict=True)
    ]


def smooth_maximum(x: Array, value: Array) -> float:
    """Place of the maximum of a smooth function known at equal steps: a parabola at the top."""
    i = int(np.argmax(value))
    if i in (0, x.size - 1):
        return float(x[i])
    left, top, right = value[i - 1 : i + 2]
    bend = left - 2.0 * top + right
    shift = 0.5 * (left - right) / bend if bend < 0.0 else 0.0
    return float(x[i] + shift * (x[i + 1] - x[i]))


def rounded(x: float) -> float:
    """A number to be read and typed."""
    return float(f"{x:.3g}")
