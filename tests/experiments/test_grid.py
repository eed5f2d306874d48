"""Sweeps: determinism, agreement with the theory, failures, bad input."""

from __future__ import annotations

import numpy as np
import pytest

from selica import experiments, theory
from selica._core.errors import ArgumentError
from selica.experiments import Store, sweep
from selica.experiments.measure import measure

SMALL = {
    "alpha": 2.0, "rho": 0.3, "Delta": 0.05, "lam": [0.3, 0.8], "N": 24, "n_members": 8,
    "n_datasets": 6,
}  # fmt: skip


def csv_of(table, path):
    table.to_csv(path)
    return path.read_bytes()


def test_one_seed_one_table_two_seeds_two_tables(tmp_path):
    methods = ["lasso", "stability-ideal", "knockoffs-frequency"]
    first = sweep(method=methods, **SMALL, random_state=1)
    again = sweep(method=methods, **SMALL, random_state=1)
    other = sweep(method=methods, **SMALL, random_state=2)
    a, b, c = (csv_of(t, tmp_path / f"{i}.csv") for i, t in enumerate((first, again, other)))
    assert a == b
    assert a != c
    same = [r for r in first if r["source"] == "theory"]
    assert same == [r for r in other if r["source"] == "theory"]


@pytest.mark.parametrize("covariance", ["identity", ("ar1", 0.6)])
def test_workers_do_not_change_the_table(tmp_path, covariance):
    settings = SMALL | {"N": 64, "n_datasets": 8, "covariance": covariance}
    alone = sweep(method=["stability-ideal", "knockoffs-frequency"], **settings, n_jobs=1)
    both = sweep(method=["stability-ideal", "knockoffs-frequency"], **settings, n_jobs=2)
    assert csv_of(alone, tmp_path / "a") == csv_of(both, tmp_path / "b")


def test_a_killed_run_goes_on_and_ends_with_the_same_table(tmp_path, monkeypatch):
    whole = sweep(method="stability-ideal", **SMALL | {"n_datasets": 12})
    path = tmp_path / "parts.jsonl"

    class Killed(BaseException):
        pass

    def stop(done, total):
        if done >= 8:
            raise Killed

    with pytest.raises(Killed):
        sweep(
            method="stability-ideal", **SMALL | {"n_datasets": 12}, store=Store(path), progress=stop
        )
    parts = len(Store(path))
    assert 0 < parts < 3
    calls = []
    monkeypatch.setattr(
        "selica.experiments.grid.measure", lambda *a: calls.append(a) or measure(*a)
    )
    again = sweep(method="stability-ideal", **SMALL | {"n_datasets": 12}, store=Store(path))
    assert len(calls) == 3 - parts
    assert csv_of(again, tmp_path / "a") == csv_of(whole, tmp_path / "b")


def test_more_data_sets_use_those_there_are(tmp_path):
    store = Store(tmp_path / "parts.jsonl")
    sweep(method="stability-ideal", **SMALL | {"n_datasets": 4}, store=store)
    assert len(store) == 1
    sweep(method="stability-ideal", **SMALL | {"n_datasets": 8}, store=store)
    assert len(store) == 2


def test_a_part_that_fails_is_a_row_with_its_reason(tmp_path, monkeypatch):
    def broken(cell, seed, block):
        if block.start == 4:
            raise RuntimeError("the disk is full")
        return measure(cell, seed, block)

    monkeypatch.setattr("selica.experiments.grid.measure", broken)
    store = Store(tmp_path / "parts.jsonl")
    table = sweep(method="stability-ideal", **SMALL | {"n_datasets": 8}, store=store)
    row = table.one(status="failed")
    assert row["reason"] == "RuntimeError: the disk is full"
    assert table.where(source="monte-carlo", status="ok")["n_datasets"].tolist()[0] == 4
    monkeypatch.undo()
    mended = sweep(method="stability-ideal", **SMALL | {"n_datasets": 8}, store=store)
    assert len(mended.where(status="failed")) == 0


def test_everything_failed_leaves_theory_and_reasons(monkeypatch):
    def broken(*_):
        raise RuntimeError("no")

    monkeypatch.setattr("selica.experiments.grid.measure", broken)
    table = sweep(method="lasso", **SMALL)
    assert len(table.where(status="failed")) == 2
    assert len(table.where(source="theory")) > 0
    assert len(experiments.deviations(table)) == 0


def test_a_failure_is_told_for_every_rule_that_misses_it(monkeypatch):
    def broken(*_):
        raise RuntimeError("no")

    monkeypatch.setattr("selica.experiments.grid.measure", broken)
    table = sweep(method=["knockoffs-frequency", "knockoffs-ideal"], **SMALL | {"n_datasets": 4})
    assert table.where(status="failed").unique("method") == [
        "knockoffs-frequency",
        "knockoffs-ideal",
    ]


def test_laws_and_designs_that_print_alike_are_told_apart():
    laws = [theory.EmpiricalEffects([1.0, 2.0]), theory.EmpiricalEffects([1.0, 9.0])]
    designs = [np.eye(24), 0.5 * np.eye(24) + 0.5]
    table = sweep(method="lasso", **SMALL, effects=laws, covariance=designs)
    assert len(table.unique("effects")) == 2
    assert len(table.unique("covariance")) == 2
    found = experiments.deviations(sweep(method="lasso", **SMALL, effects=laws))
    theories = {row["effects"]: row["theory"] for row in found.where(quantity="q", lam=0.3)}
    assert len(set(theories.values())) == 2


def test_correlated_runs_are_not_compared_with_the_theory_of_independent_columns():
    table = sweep(method="stability-ideal", **SMALL, covariance=["identity", ("ar1", 0.9)])
    assert experiments.deviations(table).unique("covariance") == ["identity"]


def test_without_signals_there_is_no_true_positive_rate():
    table = sweep(method="stability-ideal", **SMALL | {"rho": 0.0})
    assert set(table.where(source="monte-carlo", quantity="tpr")["value"]) == {None}
    assert "tpr" not in experiments.deviations(table).unique("quantity")


def test_the_theory_has_the_samples_there_are():
    table = sweep(method="lasso", **SMALL | {"alpha": 0.36, "lam": 0.3})
    q = table.one(source="theory", quantity="q")
    assert q["n_samples"] == 9
    assert q["value"] == theory.solve_lasso(theory.Model(9 / 24, 0.3, 0.05), 0.3).q


def test_theory_is_left_out_for_correlated_designs():
    table = sweep(method="stability-ideal", **SMALL, covariance=["identity", ("ar1", 0.5)])
    assert table.where(covariance="ar1(0.5)").unique("source") == ["monte-carlo"]
    assert set(table.where(covariance="identity").unique("source")) == {"theory", "monte-carlo"}


def test_axes_of_the_grid():
    table = sweep(
        method=["lasso", "stability-ideal"], alpha=[1.0, 2.0], rho=0.3, Delta=[0.01, 0.1], lam=0.5,
        mu_B=[1.0, 2.0], N=[16, 20], effects=[theory.GaussianEffects(), theory.PointEffects()],
        n_members=4, n_datasets=2,
    )  # fmt: skip
    points = table.where(source="monte-carlo", quantity="tpr")
    assert len(points) == 2 * 2 * 2 * 2 * (1 + 2)


def test_progress_counts_data_sets():
    seen = []
    sweep(method="lasso", **SMALL, progress=lambda done, total: seen.append((done, total)))
    assert seen[0] == (0, 6)
    assert seen[-1] == (6, 6)


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"method": "ridge"}, "method"),
        ({"method": []}, "method"),
        ({"lam": -1.0}, "lam"),
        ({"lam": float("nan")}, "lam"),
        ({"threshold": 1.5, "method": "stability-ideal"}, "threshold"),
        ({"threshold": "much", "method": "stability-ideal"}, "threshold"),
        ({"Pi_th": 2.0, "method": "knockoffs-frequency"}, "Pi_th"),
        ({"N": 1}, "N"),
        ({"N": 3.5}, "N"),
        ({"n_members": 1}, "n_members"),
        ({"n_datasets": 0}, "n_datasets"),
        ({"mu_B": 0.0, "method": "stability-ideal"}, "mu_B"),
        ({"alpha": -1.0}, "alpha"),
        ({"rho": 2.0}, "rho"),
        ({"random_state": "seed"}, "random_state"),
        ({"covariance": ("ar9", 0.1)}, "covariance"),
        ({"method": None}, "method"),
        ({"method": [["lasso"]]}, "method"),
        ({"alpha": []}, "alpha"),
        ({"alpha": [[1.0], [2.0, 3.0]]}, "alpha"),
        ({"lam": [[1.0], [2.0, 3.0]]}, "lam"),
        ({"effects": []}, "effects"),
        ({"effects": 3}, "effects"),
        ({"covariance": []}, "covariance"),
        ({"Pi_th": [0.1, 0.2], "method": "knockoffs-frequency"}, "Pi_th"),
        ({"mu_B": "abc"}, "mu_B"),
        ({"n_jobs": 1.5}, "n_jobs"),
        ({"n_jobs": 0}, "n_jobs"),
        ({"store": "parts.jsonl"}, "store"),
        ({"progress": 5}, "progress"),
    ],
)
def test_bad_input_is_one_sentence_that_names_it(change, word):
    with pytest.raises(ArgumentError, match=word):
        sweep(**{"method": "lasso"} | SMALL | change)


def test_a_model_is_asked_for():
    with pytest.raises(ArgumentError, match="model"):
        experiments.simulate_cell("lasso", 5, 0.5)


def test_repetitions_are_one():
    once = sweep(method="stability-ideal", **SMALL, threshold=0.5)
    twice = sweep(
        method=["stability-ideal"] * 2, **SMALL | {"alpha": [2.0, 2.0]}, threshold=[0.5, 0.5]
    )
    assert once == twice


def test_a_cell_is_one_point():
    with pytest.raises(ArgumentError, match="model"):
        experiments.simulate_cell("lasso", theory.Model([1.0, 2.0], 0.3, 0.1), 0.5)


def test_every_quantity_of_every_method_agrees_with_the_theory():
    """Within four standard errors; thresholds at which false selections are not rare."""
    table = sweep(
        method=["lasso", "stability-ideal", "knockoffs-frequency", "knockoffs-ideal"],
        alpha=2.5, rho=0.3, Delta=0.05, lam=[0.2], threshold=0.02, Pi_th=0.3, N=96,
        n_members=24, n_datasets=60, random_state=0,
    )  # fmt: skip
    table += sweep(
        method="stability-ideal", alpha=2.5, rho=0.3, Delta=0.05, lam=[0.2], threshold=0.4, N=96,
        n_members=24, n_datasets=60, random_state=0,
    )  # fmt: skip
    found = experiments.deviations(table)
    assert len(found) > 25
    sizes = np.abs(found["deviation"].astype(float))
    worst = found.rows[int(sizes.argmax())]
    assert sizes.max() < 4.0, worst


def test_deviations_see_a_wrong_theory():
    table = sweep(method="stability-ideal", **SMALL | {"n_datasets": 24})
    shifted = experiments.Table.of(
        row | ({"value": 3.0 * row["value"]} if row["source"] == "theory" else {}) for row in table
    )
    assert np.abs(experiments.deviations(shifted)["deviation"].astype(float)).max() > 4.0
