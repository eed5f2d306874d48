"""The kinds of data of the arena: from a kind and a number to a data set, always the same one.

Columns of real tables are read from a folder that is not part of this project; docs/choosing.md
says where the tables come from. Their response is drawn, so that the truth is known there too.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from benchmarks.real_tables import hiv
from benchmarks.table_kinds import (
    RESPONSES,
    Kind,
    Rng,
    autoregressive,
    blocks,
    curved,
    genotypes,
    heavy,
    mixed,
    smooth,
    some_near_duplicates,
)

PEOPLE = 600
"""Rows that are taken of a table of genotypes."""
MARKERS = 300
"""Markers that are taken of it, at most."""
CLOSE = 0.8
"""Correlation above which the later one of two markers is left out."""
MOLECULES = 300
"""Columns that are taken of a table of expressions."""

SIMULATED = (
    Kind("independent", 500, 200, 25, strength=4.0),
    Kind("independent, wide", 300, 1000, 10, strength=30.0**0.5),
    Kind("AR 0.5", 500, 200, 25, autoregressive(0.5), strength=4.5),
    Kind("AR 0.8", 500, 200, 25, autoregressive(0.8), strength=7.0),
    Kind("AR 0.9", 500, 200, 25, autoregressive(0.9), strength=10.0),
    Kind("blocks", 400, 200, 20, blocks(10, 0.5), strength=5.5),
    Kind("blocks, wide", 300, 1000, 15, blocks(10, 0.5), strength=7.0),
    Kind("smooth", 500, 200, 20, smooth((10, 20), 0.7), strength=11.0),
    Kind("genotypes", 500, 300, 20, genotypes, strength=6.0),
    Kind("heavy tails", 400, 200, 20, heavy, strength=3.8, response="heavy tails"),
    Kind("uneven noise", 400, 200, 20, strength=4.5, response="uneven noise"),
    Kind("binary", 500, 150, 20, autoregressive(0.3), strength=4.5, response="binary"),
    Kind("counts", 400, 150, 20, autoregressive(0.3), strength=3.5, response="count"),
    Kind("survival", 400, 150, 20, autoregressive(0.3), strength=5.0, response="survival"),
    Kind("mixed table", 400, 150, 20, mixed, strength=4.0),
    Kind("nothing matters", 300, 200, 0, autoregressive(0.5)),
    Kind("weak and dense", 600, 200, 60, strength=3.3),
    Kind("very sparse", 250, 400, 3, autoregressive(0.3), strength=5.5),
    Kind("near duplicates", 400, 150, 20, some_near_duplicates, strength=4.5),
    Kind("Gaussian effects", 500, 200, 40, strength=6.0, effects="gaussian"),
    Kind("nonlinear", 600, 100, 16, autoregressive(0.3), strength=9.5, shape=curved),
)
"""Kinds that need no folder."""


class DataSet(NamedTuple):
    """A data set, and which of its columns matter."""

    X: Any
    y: Any
    response: str
    """What a selector calls the response."""
    truth: Any
    seed: int


def kinds(folder: Path | None = None) -> dict[str, Kind]:
    """Return the kinds by name; those of real columns only with the folder of the tables."""
    real = () if folder is None else _real(folder)
    return {kind.name: kind for kind in (*SIMULATED, *real)}


def data_set(kind: Kind, number: int) -> DataSet:
    """Draw a data set of a kind; the name of the kind and the number decide everything."""
    rng = np.random.default_rng([number, *kind.name.encode()])
    X, y, truth = kind.draw(rng)
    return DataSet(X, y, RESPONSES[kind.response][0], truth, number)


def _real(folder: Path) -> tuple[Kind, ...]:
    return (
        Kind("HIV mutations", 767, 201, 20, _of(_mutations, folder), strength=4.0),
        Kind("microRNA", 493, MOLECULES, 20, expressions(folder, MOLECULES), strength=5.5),
        Kind("toy GWAS", PEOPLE, MARKERS, 20, _of(_markers, folder), strength=6.0),
    )


def _of(columns: Callable[..., Any], folder: Path) -> Callable[..., Any]:
    return lambda rng, n, p: columns(rng, folder)


@cache
def _table(path: Path) -> Any:
    return pd.read_csv(path)


@cache
def _first_drug(folder: Path) -> Any:
    table = next(iter(hiv(folder)))
    return table.frame.drop(columns=table.target).to_numpy(float)


def _mutations(rng: Rng, folder: Path) -> Any:
    """All rows and mutations of one drug, in another order."""
    return rng.permutation(_first_drug(folder))


def expressions(folder: Path, many: int) -> Callable[..., Any]:
    """Return what draws some microRNAs of all tumours."""

    def columns(rng: Rng, n: int, p: int) -> Any:
        table = _table(folder / "tcga_prad_mirna/prad_mirna.csv.gz")
        X = table.drop(columns=["sample", "tumor_purity"]).to_numpy(float)
        return X[:, rng.choice(X.shape[1], many, replace=False)]

    return columns


def _markers(rng: Rng, folder: Path) -> Any:
    """Markers of one chromosome of some people, none close to one before it."""
    X = _table(folder / "gwas_toy_knockoffzoom/genotypes.csv.gz").drop(columns="y").to_numpy(float)
    people = rng.choice(len(X), PEOPLE, replace=False)
    one, other = np.split(X[people], 2, axis=1)
    chromosome = (one, other)[rng.integers(2)]
    close = np.abs(np.corrcoef(chromosome.T)) > CLOSE
    kept: list[int] = []
    for j in range(chromosome.shape[1]):
        if len(kept) < MARKERS and not close[j, kept].any():
            kept.append(j)
    return chromosome[:, kept]
