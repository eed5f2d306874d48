"""A table that does not fit into the memory is refused before the work, by every selector."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from selica import AutoSelection, errors, tables
from selica._core import memory
from selica.selectors import (
    AggregatedKnockoffs,
    Bolasso,
    DataSplitting,
    DerandomizedKnockoffs,
    IntegratedStability,
    KnockoffSelection,
    LassoSelection,
    StabilitySelection,
)

SELECTORS = (
    AggregatedKnockoffs, AutoSelection, Bolasso, DataSplitting, DerandomizedKnockoffs,
    IntegratedStability, KnockoffSelection, LassoSelection, StabilitySelection,
)  # fmt: skip


@pytest.fixture
def scarce(monkeypatch):
    """A machine with little memory, to which no table is too small to ask."""
    monkeypatch.setattr(memory, "available", lambda: 1e7)
    for place in ("selica.selectors.reading.SMALL", "selica.selectors.frames.SMALL"):
        monkeypatch.setattr(place, 0.0)


@pytest.mark.parametrize("selector", SELECTORS)
@pytest.mark.parametrize("kind", ["plain", "sparse", "gaps"])
def test_every_selector_refuses(scarce, selector, kind):
    X = np.random.default_rng(0).standard_normal((200, 5000))
    y = X[:, 0]
    arguments = {}
    if kind == "sparse":
        X = sparse.csr_array(X)
    if kind == "gaps":
        X[3, 4], arguments = np.nan, {"missing": "impute"}
    with pytest.raises(errors.RefusedError, match=r"would need about .* GB of memory, and 0.01 GB"):
        selector().fit(X, y, **arguments)


def test_what_fits_is_not_refused(monkeypatch):
    monkeypatch.setattr(memory, "available", lambda: 4e9)
    X = np.random.default_rng(0).standard_normal((50, 200))
    assert LassoSelection(0.1).fit(X, X[:, 0]).support_[0]


def test_a_file_that_does_not_fit_is_not_read(scarce, monkeypatch, tmp_path):
    monkeypatch.setattr("selica.tables.files.SMALL", 0.0)
    path = tmp_path / "large.csv"
    path.write_text("a,b\n" + 1_000_000 * "1,2\n")
    with pytest.raises(errors.RefusedError, match=r"^Reading .*large.csv would need about 0.0128"):
        tables.read_table(path)
