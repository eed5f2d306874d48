"""What a selector was given, so that it can be given again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from selica._core.types import Array


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class GivenTable:
    """The numbers that a selector was fitted to, exactly as it was given them.

    Attributes
    ----------
    X : array of shape (n, c)
    y : array of shape (n,) or (n, 2)
    names : tuple of str
    variable : array of shape (c,), optional
        Which variable each column belongs to, where one has several.
    arguments : mapping
        What else `fit` was given, such as `sample_weight` and `keep`.
    """

    X: Array
    y: Any
    names: tuple[str, ...]
    variable: Any = None
    arguments: Mapping[str, Any] = field(default_factory=dict)
