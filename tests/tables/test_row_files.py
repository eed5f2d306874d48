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


def long_names(folder: Path, first: str, second: str, order: list[int]) -> tuple[Path, Path]:
    """A table and a file of responses whose rows have long numbers as names."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((40, 3)).round(3)
    table, pheno = folder / "numbered.csv", folder / "numbered_y.csv"
    rows = [f"{1_234_000 + i},{a},{b},{c}" for i, (a, b, c) in enumerate(X)]
    table.write_text("\n".join([f"{first},a,b,c", *rows]))
    pheno.write_text("\n".join([f"{second},y", *(f"{1_234_000 + i},{i}.5" for i in order)]))
    return table, pheno


def test_numbers_are_names_where_both_columns_are_called_the_same(folder: Path) -> None:
    order = np.random.default_rng(2).permutation(40).tolist()
    got = prepare(*long_names(folder, "id", "id", order)[:1], "y", pheno=folder / "numbered_y.csv")
    assert got.y.tolist() == [i + 0.5 for i in range(40)]
    assert any("matched with rows by 'id'" in note for note in got.notes)
    table, pheno = long_names(folder, "dose", "id", order)
    got = prepare(table, "y", pheno=pheno)
    assert got.y.tolist() == [i + 0.5 for i in order]
    assert any("taken in the order of the rows" in note for note in got.notes)


def test_names_that_do_not_fit_are_refused(folder: Path) -> None:
    text = (folder / "pheno.csv").read_text()
    (folder / "other.csv").write_text(text.replace("\nm", "\nM"))
    with pytest.raises(
        RefusedError, match=r"none of the 80 names in 'mouse' .*'M00'.*'m00', 'm01'"
    ):
        prepare(folder / "named.csv", "bmi", pheno=folder / "other.csv")
    table, pheno = long_names(folder, "id", "id", list(range(40)))
    pheno.write_text(pheno.read_text().replace("\n1234", "\n7777"))
    with pytest.raises(RefusedError, match="none of the 40 names in 'id'"):
        prepare(table, "y", pheno=pheno)


def test_a_word_that_is_a_name_by_chance_is_a_value(folder: Path) -> None:
    lines = [f"{'m07' if i == 3 else 'FM'[i % 2]},{i}" for i in range(80)]
    (folder / "sex.csv").write_text("\n".join(["sex,y", *lines]))
    got = prepare(folder / "named.csv", "y", pheno=folder / "sex.csv")
    assert got.y.tolist() == [float(i) for i in range(80)]


def test_names_to_keep_may_come_one_by_one(folder: Path) -> None:
    names = (name for name in ["sex"])
    got = prepare(folder / "plain.csv", "bmi", pheno=folder / "pheno.csv", keep=names)
    assert got.keep_names == ("sex: M",)
