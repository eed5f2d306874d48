"""Arrays in files of AnnData and Zarr: forms, layers, names, what is refused."""

from __future__ import annotations

import h5py
import numpy as np
import pytest
import zarr
from scipy.sparse import csr_array

from selica.errors import ArgumentError
from selica.solvers.designs import as_table
from selica.tables import arrays, read_array

RNG = np.random.default_rng(0)
NUMBERS = RNG.standard_normal((7, 5))
COUNTS = RNG.poisson(3.0, (7, 5))
SPARSE = csr_array(RNG.random((7, 5)) * (RNG.random((7, 5)) < 0.3))


@pytest.fixture
def h5ad(tmp_path):
    """A file in the layout that AnnData documents for HDF5."""
    path = tmp_path / "cells.h5ad"
    with h5py.File(path, "w") as file:
        file["X"] = NUMBERS
        file["layers/counts"] = COUNTS.astype("f4")
        group = file.create_group("layers/sparse")
        group.attrs["encoding-type"], group.attrs["shape"] = "csr_matrix", (7, 5)
        for name in ("data", "indices", "indptr"):
            group[name] = getattr(SPARSE, name)
        obs = file.create_group("obs")
        obs.attrs["_index"], obs.attrs["column-order"] = "cell", ["age", "tissue", "donor"]
        obs["cell"] = [f"c{i}" for i in range(7)]
        obs["age"] = np.arange(7)
        obs["tissue/codes"] = np.array([0, 1, 0, -1, 1, 0, 0], dtype="i1")
        obs["tissue/categories"] = ["lung", "skin"]
        obs["donor"] = list("aabbccd")
        var = file.create_group("var")
        var.attrs["_index"] = "_index"
        var["_index"] = [f"g{j}" for j in range(5)]
    return path


def test_x_with_names_and_what_is_known_of_rows(h5ad):
    table = read_array(h5ad)
    assert table.values.dtype == np.float32
    np.testing.assert_array_equal(table.values, NUMBERS.astype(np.float32))
    assert table.names == ("g0", "g1", "g2", "g3", "g4")
    assert table.row_names[:2] == ("c0", "c1")
    about = dict(zip(table.about.names, table.about.values, strict=True))
    assert about["age"].tolist() == list(range(7))
    assert about["tissue"].tolist() == ["lung", "skin", "lung", None, "skin", "lung", "lung"]
    assert about["donor"].tolist() == list("aabbccd")


def test_counts_become_bytes_and_sparse_layers_stay_sparse(h5ad):
    counts = read_array(h5ad, layer="counts").values
    assert counts.dtype == np.int8
    np.testing.assert_array_equal(counts, COUNTS)
    sparse = read_array(h5ad, layer="sparse").values
    assert sparse.format == "csc"
    np.testing.assert_array_equal(sparse.toarray(), SPARSE.toarray())
    np.testing.assert_array_equal(as_table("X", sparse).dense(), SPARSE.toarray())


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (COUNTS.astype("f8"), "int8"),
        (COUNTS > 2, "int8"),
        (COUNTS * 100, "float32"),
        (NUMBERS, "float32"),
        (COUNTS.astype("u2"), "int8"),
        (-128 * np.ones((7, 5)), "int8"),
        (128 * np.ones((7, 5)), "float32"),
    ],
)
def test_zarr_in_the_smallest_form(tmp_path, values, kind, monkeypatch):
    monkeypatch.setattr(arrays, "_BLOCK", 12)  # several blocks, of whole chunks
    stored = zarr.open_array(
        tmp_path / "a.zarr", mode="w", shape=(7, 5), chunks=(2, 3), dtype=values.dtype
    )
    stored[:] = values
    found = read_array(tmp_path / "a.zarr").values
    assert found.dtype == kind
    np.testing.assert_allclose(found, values, rtol=1e-6)


def test_what_is_refused(tmp_path, h5ad):
    with pytest.raises(ArgumentError, match=r"no layers/other; the layers are: counts, sparse"):
        read_array(h5ad, layer="other")
    with pytest.raises(ArgumentError, match="there is no such file"):
        read_array(tmp_path / "no.h5ad")
    (tmp_path / "bad.h5ad").write_bytes(b"text")
    with pytest.raises(ArgumentError, match="not a file of AnnData"):
        read_array(tmp_path / "bad.h5ad")
    (tmp_path / "bad.csv").write_bytes(b"text")
    with pytest.raises(ArgumentError, match=r"must be a \.h5ad file or a Zarr array"):
        read_array(tmp_path / "bad.csv")
    stored = zarr.open_array(tmp_path / "a.zarr", mode="w", shape=(2, 2), dtype="f8")
    stored[:] = [[1.0, np.nan], [0.0, 1.0]]
    with pytest.raises(ArgumentError, match="must be finite"):
        read_array(tmp_path / "a.zarr")
    (tmp_path / "empty").mkdir()
    with pytest.raises(ArgumentError, match="there is no Zarr array"):
        read_array(tmp_path / "empty")
