"""Result objects: dictionaries, tables, and how they print."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

from selica import theory
from selica._core.results import Result, Status, plain, statuses, unwrap


@dataclass(frozen=True, slots=True, repr=False)
class Pair(Result):
    left: Any
    right: Any


@dataclass(frozen=True, slots=True, repr=False)
class Picky(Result):
    name: str
    x: Any
    secret: Any

    _columns: ClassVar[tuple[str, ...]] = ("name", "x")


def test_all_fields_or_those_named():
    assert Pair(1.5, 2).to_dict() == {"left": 1.5, "right": 2}
    assert Picky("a", 3.0, "s").to_dict() == {"name": "a", "x": 3.0}


def test_a_single_point_is_one_row():
    frame = Picky("a", 3.0, "s").to_frame()
    assert list(frame.columns) == ["name", "x"]
    assert frame.to_dict("records") == [{"name": "a", "x": 3.0}]


def test_a_grid_has_one_row_for_each_point_in_order():
    x, y = np.array([[1.0], [2.0]]), np.array([10.0, 20.0, 30.0])
    frame = Pair(x, y).to_frame()
    assert frame["left"].tolist() == [1, 1, 1, 2, 2, 2]
    assert frame["right"].tolist() == [10, 20, 30, 10, 20, 30]


def test_repr_of_a_point_and_of_a_grid():
    assert repr(Pair(1.23456789, 2)) == "Pair(left=1.23457, right=2)"
    assert repr(Picky("a", 0.5, "hidden")) == "Picky(name=a, x=0.5)"
    grid = Pair(np.array([1.0, 3.0, 2.0]), np.array(["b", "a", "b"]))
    assert repr(grid) == "Pair(shape=(3,), left=[1 .. 3], right=[a, b])"
    assert repr(Pair(np.ones((2, 1)), np.arange(3))).startswith("Pair(shape=(2, 3), ")


@pytest.mark.parametrize(
    ("array", "kind"),
    [
        (np.array(1.5), float),
        (np.array(2), int),
        (np.array(True), bool),
        (np.array("a"), str),
        (np.float64(0.1), float),
        (3.0, float),
    ],
)
def test_unwrap_gives_python_scalars(array, kind):
    assert type(unwrap(array)) is kind
    assert unwrap(array) == array


def test_unwrap_leaves_grids_alone():
    x = np.ones((1,))
    assert unwrap(x) is x


def test_status_reads_as_text():
    assert f"{Status.CONVERGED}" == "converged"
    assert {str(s) for s in Status} == {"converged", "max_iter", "nonfinite", "infeasible"}


MODEL = theory.Model(alpha=[0.8, 1.5], rho=0.2, Delta=0.05)
SOLUTIONS = [
    theory.solve_lasso(MODEL, 0.3),
    theory.solve_stability(MODEL, 0.3, 0.7),
    theory.solve_knockoff(MODEL, 0.3),
]


@pytest.mark.parametrize("solution", SOLUTIONS, ids=lambda s: type(s).__name__)
def test_solutions_as_tables(solution):
    values, frame = solution.to_dict(), solution.to_frame()
    assert list(frame.columns) == list(values)
    assert len(frame) == 2
    for name, value in values.items():
        np.testing.assert_array_equal(frame[name], np.broadcast_to(value, 2))
        np.testing.assert_array_equal(getattr(solution, name), value)
    assert frame["alpha"].tolist() == [0.8, 1.5]
    assert set(frame["rho"]) == {0.2}
    assert set(frame["lam"]) == {0.3}
    assert set(frame["status"]) == {"converged"}
    has_copies = isinstance(solution, theory.KnockoffSolution)
    assert ("v_tilde" in values) is has_copies
    assert ("mu_B" in values) is isinstance(solution, theory.StabilitySolution)


def test_a_single_solution_holds_plain_numbers():
    solution = theory.solve_stability(theory.Model(0.8, 0.2, 0.05), 0.3, 0.7)
    values = solution.to_dict()
    assert {type(v) for v in values.values()} == {float, int, str}
    assert solution.shape == ()
    assert solution.converged is True
    assert len(solution.to_frame()) == 1
    assert values["mu_B"] == 0.7


@pytest.mark.parametrize("solution", SOLUTIONS, ids=lambda s: type(s).__name__)
def test_solutions_print_their_shape_and_range(solution):
    text = repr(solution)
    assert text.startswith(f"{type(solution).__name__}(shape=(2,), alpha=[0.8 .. 1.5]")
    assert "status=[converged]" in text
    assert "\n" not in text


@pytest.mark.parametrize("solution", SOLUTIONS, ids=lambda s: type(s).__name__)
def test_results_are_frozen(solution):
    with pytest.raises(dataclasses.FrozenInstanceError):
        solution.q = 0.0


def test_rates_and_points_as_tables():
    rates = SOLUTIONS[0].rates()
    assert list(rates.to_frame().columns) == ["tpr", "fpr", "fdr"]
    assert len(rates.to_frame()) == 2
    point = theory.operating_point(theory.Model(1.2, 0.2, 0.05), "stability-ideal", 0.1, lam=0.3)
    row = point.to_frame()
    assert len(row) == 1
    assert row["threshold_name"][0] == "Pi_th"
    assert row["tpr"][0] == point.tpr
    assert "solution" not in row
    assert "\n" not in repr(point)


def test_curves_as_tables():
    levels = [0.05, 0.1, 0.2]
    curve = theory.power_curve(MODEL, "thresholded-lasso", levels, lam=0.3)
    frame = curve.to_frame()
    assert len(frame) == 6
    assert frame["fdr"].tolist() == levels * 2
    np.testing.assert_array_equal(frame["tpr"], np.ravel(curve.tpr))
    assert set(frame["lam"]) == {0.3}


def test_statuses_of_points():
    good = np.array([[True, False], [False, True]])
    residual = np.array([[1e-12, 1e-3], [np.nan, 0.0]])
    assert statuses(good, residual).tolist() == [
        ["converged", "max_iter"], ["nonfinite", "converged"],
    ]  # fmt: skip
    assert statuses(np.ones(2, dtype=bool), np.zeros(2)).tolist() == ["converged"] * 2


def test_plain_values_are_json():
    given = {"a": [1, (2.5, np.inf)], "b": {"c": -np.inf, "d": float("nan")}, "e": (None, "x")}
    want = {"a": [1, [2.5, None]], "b": {"c": None, "d": None}, "e": [None, "x"]}
    assert plain(given) == want
    assert json.loads(json.dumps(plain(given), allow_nan=False)) == want
