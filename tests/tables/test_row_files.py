"""A file beside a table: lines by names of rows or by order, columns that are used, refusals."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import selica
from selica.errors import ArgumentError, RefusedError
from selica.tables import prepare


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 6)).round(3)
    y = (X[:, 1] - 2.0 * X[:, 4] + 0.3 * rng.standard_normal(80)).round(3)
    names = ",".join(f"snp{j}" for j in range(6))
    plain = [names, *(",".join(map(str, row)) for row in X)]
    (tmp_path / "plain.csv").write_text("\n".join(plain))
    (tmp_path / "named.csv").write_text(
        "\n".join([f"mouse,{names}", *(f"m{i:02d},{row}" for i, row in enumerate(plain[1:]))])
    )
    lines = [f"m{i:02d},{y[i]},{i % 7},{'FM'[i % 2]}" for i in range(80)]
    (tmp_path / "pheno.csv").write_text("\n".join(["mouse,bmi,cage,sex", *lines]))
    (tmp_path / "turned.csv").write_text("\n".join(["mouse,bmi,cage,sex", *lines[:0:-1]]))
    return tmp_path


def test_lines_by_order(folder: Path) -> None:
    got = prepare(folder / "plain.csv", "bmi", pheno=folder / "pheno.csv", keep="sex")
    assert got.columns == tuple(f"snp{j}" for j in range(6))  # cage and mouse are no variables
    assert got.keep_names == ("sex: M",)
    assert got.keep[:2].ravel().tolist() == [0.0, 1.0]
    assert got.y[0] == float((folder / "pheno.csv").read_text().splitlines()[1].split(",")[1])


def test_lines_by_names(folder: Path) -> None:
    whole = prepare(folder / "named.csv", "bmi", pheno=folder / "pheno.csv")
    turned = prepare(folder / "named.csv", "bmi", pheno=folder / "turned.csv")
    assert any("1 of 80 rows has no line in turned.csv: 'm00'." in note for note in turned.notes)
    np.testing.assert_array_equal(turned.rows, np.arange(1, 80))
    np.testing.assert_array_equal(turned.y, whole.y[1:])


def test_one_column_needs_no_name(folder: Path) -> None:
    lines = (folder / "pheno.csv").read_text().splitlines()
    (folder / "y.csv").write_text("\n".join(line.split(",")[1] for line in lines))
    got = prepare(folder / "plain.csv", pheno=folder / "y.csv")
    assert got.target == "bmi"
    with pytest.raises(ArgumentError, match=r"target: .*'mouse', 'bmi'"):
        prepare(folder / "plain.csv", pheno=folder / "pheno.csv")


def test_the_same_answer_as_from_one_table(folder: Path) -> None:
    apart = selica.select(folder / "plain.csv", "bmi", pheno=folder / "pheno.csv")
    rows = zip(
        (folder / "plain.csv").read_text().splitlines(),
        (folder / "pheno.csv").read_text().splitlines(),
        strict=True,
    )
    (folder / "one.csv").write_text("\n".join(f"{a},{b.split(',')[1]}" for a, b in rows))
    together = selica.select(folder / "one.csv", "bmi")
    assert apart.selected == together.selected
    assert {"snp1", "snp4"} <= {*apart.selected}
    assert "pheno=" in apart.provenance.code


def test_refusals(folder: Path) -> None:
    (folder / "short.csv").write_text("bmi\n1\n2\n")
    with pytest.raises(RefusedError, match=r"a line for each of the 80 rows; it has 2 lines"):
        prepare(folder / "plain.csv", "bmi", pheno=folder / "short.csv")
    with pytest.raises(ArgumentError, match=r"pheno: 'snp1' is in named.csv and in the table"):
        prepare(folder / "plain.csv", "snp1", pheno=folder / "named.csv")
    with pytest.raises(ArgumentError, match="no column 'bmj'"):
        prepare(folder / "plain.csv", "bmj", pheno=folder / "pheno.csv")
    lines = (folder / "pheno.csv").read_text().splitlines()
    (folder / "twice.csv").write_text("\n".join([*lines, lines[1]]))
    with pytest.raises(ArgumentError, match=r"one line; more than one: 'm00'"):
        prepare(folder / "named.csv", "bmi", pheno=folder / "twice.csv")
