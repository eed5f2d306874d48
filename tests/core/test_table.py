from __future__ import annotations

import numpy as np
import pytest

from selica._core.errors import ArgumentError
from selica._core.table import Table


def make() -> Table:
    return Table.of(
        [
            {"method": "lasso", "lam": 0.1, "tpr": 1 / 3, "mu_B": None},
            {"method": "stability", "lam": 0.1, "tpr": 0.5, "mu_B": 2.0, "n": 3},
            {"method": "stability", "lam": np.float64(0.2), "tpr": float("inf"), "ok": True},
        ]
    )


def test_columns_in_order_of_appearance_and_holes_are_none():
    table = make()
    assert table.columns == ("method", "lam", "tpr", "mu_B", "n", "ok")
    assert table.rows[0]["n"] is None
    assert len(table) == 3


def test_where_takes_values_and_collections():
    table = make()
    assert len(table.where(method="stability")) == 2
    assert len(table.where(method=("lasso", "stability"), lam=0.1)) == 2
    assert table.where(mu_B=None)["method"].tolist() == ["lasso", "stability"]
    assert table.where(lam=0.1 + 1e-17)["tpr"].tolist() == [1 / 3, 0.5]


def test_one_row_or_an_error():
    assert make().one(method="lasso")["tpr"] == 1 / 3
    with pytest.raises(ArgumentError, match="there are 2"):
        make().one(method="stability")
    with pytest.raises(ArgumentError, match="column"):
        make().where(nothing=1)


def test_csv_round_trip_keeps_every_digit(tmp_path):
    path = tmp_path / "t.csv"
    table = make()
    table.to_csv(path)
    again = Table.read_csv(path)
    assert again == table
    assert "np.float64" not in path.read_text()
    table.to_csv(tmp_path / "u.csv")
    assert (tmp_path / "u.csv").read_bytes() == path.read_bytes()


def test_sum_and_frame():
    frame = (make() + Table.of([{"extra": 1}])).to_frame()
    assert frame.shape == (4, 7)
    assert "Table(3 rows" in repr(make())
