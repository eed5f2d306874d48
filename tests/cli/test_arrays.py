"""`selica select` on AnnData files and Zarr arrays."""

from __future__ import annotations

import json
import sys

import h5py
import numpy as np
import pytest
import zarr
from scipy.sparse import csr_array

import selica
from selica.errors import DoesNotApply, SelicaError
from selica.tables import read_array
from tests.cli.commands import invoke, parsed

N, P = 150, 60
RNG = np.random.default_rng(0)
COUNTS = RNG.poisson(0.5, (N, P)).astype("f4")
SCORE = COUNTS[:, 3] - COUNTS[:, 10] + 0.5 * RNG.standard_normal(N)
TYPE = np.digitize(SCORE, np.quantile(SCORE, [0.33, 0.66]))
RUN = ("--n-resamples", "40")

pytestmark = pytest.mark.filterwarnings("ignore::selica.selectors.UnstableWarning")


@pytest.fixture(scope="module")
def cells(tmp_path_factory):
    """A file in the layout that AnnData documents for HDF5, with X sparse."""
    path = tmp_path_factory.mktemp("cells") / "cells.h5ad"
    sparse = csr_array(COUNTS)
    with h5py.File(path, "w") as file:
        group = file.create_group("X")
        group.attrs["encoding-type"], group.attrs["shape"] = "csr_matrix", COUNTS.shape
        for name in ("data", "indices", "indptr"):
            group[name] = getattr(sparse, name)
        file["layers/dense"] = COUNTS
        obs = file.create_group("obs")
        obs.attrs["_index"], obs.attrs["column-order"] = "_index", ["score", "age", "type"]
        obs["_index"] = [f"cell{i}" for i in range(N)]
        obs["score"], obs["age"] = SCORE, RNG.integers(20, 60, N)
        obs["type/codes"], obs["type/categories"] = TYPE.astype("i1"), ["B", "NK", "T"]
        var = file.create_group("var")
        var.attrs["_index"] = "_index"
        var["_index"] = [f"gene{j}" for j in range(P)]
    return path


@pytest.fixture(scope="module")
def counts(tmp_path_factory):
    path = tmp_path_factory.mktemp("zarr") / "counts.zarr"
    zarr.open_array(path, mode="w", shape=(N, P), chunks=(40, 20), dtype="f4")[:] = COUNTS
    lines = "\n".join(f"{one:.6f}" for one in SCORE)
    (path.parent / "y.csv").write_text(f"score\n{lines}\n")
    return path


def ordinary(target, **settings):
    """Return the answer on a table of ordinary numbers."""
    table = {f"gene{j}": COUNTS[:, j].astype(float) for j in range(P)} | {"target": target}
    return selica.select(table, "target", method="stability-pfer", n_resamples=40, **settings)


@pytest.mark.parametrize("layer", [(), ("--layer", "dense")])
def test_the_answer_is_that_of_ordinary_numbers(cells, layer):
    found = parsed("select", cells, "--target", "score", *layer, *RUN)
    known = ordinary(SCORE)
    assert found["selected"] == known.selected
    assert {"gene3", "gene10"} <= {*found["selected"]}
    assert found["guarantee"]["level"] == known.guarantee.level
    rows = {row["variable"]: row["probability"] for row in found["variables"]}
    assert rows == {row["variable"]: row["probability"] for row in known.summary.variables}


def test_a_category_of_obs_is_classes_and_a_column_is_kept(cells):
    found = selica.select(cells, "type", keep="age", n_resamples=40)
    assert found.response["classes"].keys() == {"B", "NK", "T"}
    assert found.prepared.keep_names == ("age",)
    assert "certified over all 60 columns" in " ".join(found.notes)
    again = selica.select(read_array(cells), "type", keep="age", n_resamples=40)
    assert again.selected == found.selected
    with pytest.raises(DoesNotApply, match="not packed"):
        found.bundle("b.zip")


def test_zarr_with_a_table_of_responses(counts, tmp_path):
    out = tmp_path / "report"
    invoke("select", counts, "--pheno", counts.parent / "y.csv", *RUN, "--out", out)
    about = json.loads((out / "selection.json").read_text())
    assert {"x3", "x10"} <= {*about["selected"]}
    assert about["file"]["name"] == "counts.zarr"
    assert "pheno=" in about["run_again"]["python"]
    assert (out / "report.html").stat().st_size > 1000
    assert not (out / "unfinished").exists()


def test_a_run_that_was_ended_goes_on(cells, tmp_path, monkeypatch):
    """What is in the folder of finished resamples is not fitted again."""
    from selica.progress import keeping

    with keeping(tmp_path / "unfinished"):
        alone = selica.select(cells, "score", n_resamples=40)
        monkeypatch.setattr("selica.selectors.members.fit_members", None)  # nothing is fitted
        again = selica.select(cells, "score", n_resamples=40)
    assert again.selected == alone.selected


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "name the column to explain (--target)"),
        (("--target", "scor"), "did you mean 'score'"),
        (("--target", "score", "--layer", "raw"), "the layers are: dense"),
        (("--target", "score", "--keep", "sex"), "keep: there is no column 'sex'"),
        (("--target", "score", "--maf", "0.1"), "--maf is for genotypes"),
        (("--target", "score", "--missing", "drop-rows"), "must be complete"),
        (("--target", "score", "--bundle", "b.zip"), "not packed"),
        (("--target", "score", "--method", "knockoffs"), "needs ordinary numbers"),
    ],
)
def test_mistakes_are_named(cells, arguments, words):
    with pytest.raises(SelicaError) as said:
        invoke("select", cells, *arguments)
    assert words in str(said.value)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("no.h5ad", None, "there is no such file"),
        ("text.h5ad", b"a,b\n1,2\n", "this is not a file of AnnData"),
        ("text.zarr", b"a,b\n1,2\n", "there is no Zarr array"),
    ],
)
def test_files_that_are_something_else(tmp_path, name, content, words):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(SelicaError) as said:
        invoke("select", tmp_path / name, "--target", "y")
    assert words in str(said.value)


def test_what_is_not_installed_is_said(cells, monkeypatch):
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(SelicaError, match=r"pip install 'selica\[arrays\]'"):
        invoke("select", cells, "--target", "score")
