"""Options that say what the columns of a table are for."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, NamedTuple

import typer

from selica._core.errors import ArgumentError
from selica._core.wording import option_words


class ResponseKind(StrEnum):
    """What a target is."""

    auto = "auto"
    linear = "linear"
    binary = "binary"
    counts = "count"
    survival = "survival"
    classes = "classes"
    ordinal = "ordinal"


class Policy(StrEnum):
    """What is done with missing values."""

    impute = "impute"
    drop_rows = "drop-rows"
    drop_columns = "drop-columns"


Time = Annotated[
    str | None,
    typer.Option(help="Column of times until an event, for survival; goes with --event."),
]
Event = Annotated[
    str | None,
    typer.Option(help="Column that says whether the event was observed (1) or not (0)."),
]
ResponseName = Annotated[
    ResponseKind,
    typer.Option(
        "--response",
        help="What the target is. auto takes two values as binary and text with more as classes; "
        "counts, and ordinal scores, have to be asked for.",
    ),
]
Keep = Annotated[
    list[str] | None,
    typer.Option(
        help="Covariates that are in every fit and are never selected: names with commas between "
        "them, or ranges such as pc1-pc10; for genotypes covariate files; repeatable."
    ),
]
Drop = Annotated[
    list[str] | None,
    typer.Option(help="Columns to leave out: names with commas between them; repeatable."),
]
RowsOf = Annotated[
    str | None,
    typer.Option(
        help="Column that says which rows belong together, such as the number of a patient: they "
        "are resampled and split as wholes."
    ),
]
Weights = Annotated[str | None, typer.Option(help="Column of weights of the rows.")]
Offset = Annotated[
    str | None,
    typer.Option(
        help="For counts: column of the logarithm of the exposure, or 'log(exposure)' for one of "
        "the exposure itself."
    ),
]
Strata = Annotated[
    str | None,
    typer.Option(
        help="Column of strata: each has an intercept of its own, or a hazard of its own for "
        "survival."
    ),
]
MissingPolicy = Annotated[
    Policy,
    typer.Option(
        "--missing",
        help="What is done with missing values: fill them in, inside each resample, or leave out "
        "the rows or the columns that have any.",
    ),
]
Kind = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=KIND",
        help="Kind of a column that is recognised wrongly: number, category, identifier, date or "
        "text, e.g. batch=category; repeatable.",
    ),
]


class TableOptions(NamedTuple):
    """What the options say of the columns, as `tables.prepare` takes it."""

    time: str | None = None
    event: str | None = None
    response: str = "auto"
    keep: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    rows_of: str | None = None
    weights: str | None = None
    offset: str | None = None
    strata: str | None = None
    missing: str = "impute"
    kinds: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, *, kind: list[str] | None = None, **given: Any) -> TableOptions:
        """Return what was given on the command line; options that are None were not."""
        if (given.get("time") is None) != (given.get("event") is None):
            raise ArgumentError("--time and --event go together: name both columns.")
        plain: dict[str, Any] = {
            name: tuple(value)
            if isinstance(value, list)
            else value.value
            if isinstance(value, StrEnum)
            else value
            for name, value in given.items()
            if value is not None
        }
        return cls(**plain, kinds=tuple(_kind(text) for text in kind or ()))

    @property
    def arguments(self) -> dict[str, Any]:
        """Arguments of `tables.prepare`."""
        return self._asdict() | {"kinds": dict(self.kinds) or None}

    @property
    def given(self) -> dict[str, Any]:
        """Those arguments that differ from their defaults."""
        usual = TableOptions().arguments
        return {name: v for name, v in self.arguments.items() if v != usual[name]}

    @property
    def words(self) -> list[str]:
        """The options again, those that differ from their defaults."""
        first = TableOptions()._asdict()
        given = {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in self._asdict().items()
            if value != first[name]
        }
        if "kinds" in given:
            given["kind"] = [f"{name}={kind}" for name, kind in given.pop("kinds")]
        return option_words(given)


def _kind(text: str) -> tuple[str, str]:
    """Return name and kind of NAME=KIND."""
    name, equals, kind = text.rpartition("=")
    if not equals or not name or not kind:
        raise ArgumentError(f"--kind must be NAME=KIND, e.g. batch=category; got {text!r}.")
    return name, kind
