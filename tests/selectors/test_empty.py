"""What an empty selection says it would have needed: every number is run again."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest

from selica import AutoSelection, DerandomizedKnockoffs, StabilitySelection
from selica.selectors.empty import CHANCE, Demand, RowsNeeded, of_copies, of_halves, of_p_values

RULES = {
    "frequency": (DerandomizedKnockoffs, {"pfer": 1.0, "n_copies": 15, "lam": 0.1}, 1),
    "halves": (StabilitySelection, {"pfer": 1.0, "n_resamples": 60}, 1),
    "halves without a shape": (
        StabilitySelection,
        {"pfer": 1.0, "assumption": "none", "n_resamples": 60},
        1,
    ),
}


def quietly(selector, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return selector.fit(X, y)


def table(rng, n, p, z, rows):
    """Return columns, the first of which has an association of z standard errors in `rows` rows.

    In a table of so many rows the association is exactly that, so that it is as strong as it looks.
    """
    X = rng.standard_normal((n, p))
    noise = rng.standard_normal(n)
    slope = z / np.sqrt(rows)
    if n == rows:
        x = (X[:, 0] - X[:, 0].mean()) / X[:, 0].std()
        noise -= noise.mean() + x * (x @ noise) / n
        noise /= noise.std()
        r = z / np.sqrt(n)
        return X, r * x + np.sqrt(1.0 - r * r) * noise
    r = min(slope, 0.999)
    return X, r * X[:, 0] + np.sqrt(1.0 - r * r) * noise


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("p", [50, 400])
def test_so_many_rows_select_a_variable_as_often_as_is_said(rule, p):
    kind, settings, _ = RULES[rule]
    rng = np.random.default_rng(p)
    n, z = 100, 2.4
    while True:  # a table where nothing is selected, and the first column is the strongest
        X, y = table(rng, n, p, z, n)
        found = quietly(kind(**settings, random_state=0), X, y)
        if not found.support_.any() and found._evidence.argmax() == 0:
            break
        z = min(z + 0.1, 3.4)
    said = re.search(r"about ([\d,]+) rows would select it", found.explain())
    rows = int(said[1].replace(",", ""))
    runs = 120
    hits = sum(
        quietly(kind(**settings, random_state=seed), *table(rng, rows, p, z, n)).support_[0]
        for seed in range(runs)
    )
    error = np.sqrt(CHANCE * (1.0 - CHANCE) / runs)
    assert CHANCE - 0.15 - 3.0 * error <= hits / runs <= min(CHANCE + 0.15 + 3.0 * error, 1.0)


def test_associations_are_in_standard_errors():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((500, 4))
    for y, response in (
        (rng.standard_normal(500), "linear"),
        ((rng.random(500) < 0.3).astype(float), "binary"),
        (rng.poisson(2.0, 500).astype(float), "count"),
        (np.column_stack([rng.exponential(1.0, 500), rng.random(500) < 0.6]), "survival"),
    ):
        sizes = []
        for _ in range(60):
            rows = rng.permutation(500)
            found = quietly(StabilitySelection(0.5, n_resamples=2, response=response), X[rows], y)
            sizes.append(found._evidence)
        # squares of standard normal numbers, in absolute value
        assert np.mean(np.square(sizes)) == pytest.approx(1.0, abs=0.3), response


def test_levels_that_are_named_select_what_is_said():
    rng = np.random.default_rng(5)
    tried = 0
    for seed in range(12):
        X = rng.standard_normal((120, 60))
        y = 0.1 * X[:, :12].sum(axis=1) + rng.standard_normal(120)
        start = DerandomizedKnockoffs(pfer=0.2, n_copies=9, random_state=seed)
        found = quietly(start, X, y)
        said = re.search(r"PFER ([\d.]+) would select (\d+) variable", found.explain())
        if found.support_.any() or said is None:
            continue
        again = DerandomizedKnockoffs(pfer=float(said[1]), n_copies=9, random_state=seed)
        assert quietly(again, X, y).support_.sum() == int(said[2])
        tried += 1
    assert tried >= 3


def test_a_threshold_that_is_named_selects_what_is_said():
    rng = np.random.default_rng(7)
    X, y = rng.standard_normal((100, 500)), rng.standard_normal(100)
    y += 0.25 * X[:, :3].sum(axis=1)
    found = quietly(AutoSelection(pfer=0.2, random_state=0), X, y)
    chosen = found.selector_ if not found.support_.any() else None
    if chosen is None or found.method_ != "stability-pfer":
        chosen = quietly(StabilitySelection(pfer=0.2, n_resamples=100, random_state=0), X, y)
    assert not chosen.support_.any()
    said = re.search(r"A threshold of ([\d.]+) would select (\d+) variable", chosen.explain())
    many = np.count_nonzero(chosen.selection_probabilities_ >= float(said[1]) - 5e-4)
    assert many == int(said[2])


def test_rows_of_a_demand():
    assert RowsNeeded.of(Demand(1, 3.0), np.zeros(5), 100) is None
    assert RowsNeeded.of(Demand(1, 3.0), np.ones(5), 10) is None
    # the formula says that fewer rows than these would have done, and they have not
    assert RowsNeeded.of(Demand(1, 3.0), np.array([9.0, 1.0]), 100) is None
    few, more = (RowsNeeded.of(Demand(k, 3.0), np.array([3.0, 2.0, 1.0]), 100) for k in (1, 2))
    assert (few.variable, more.variable) == (0, 1)
    assert few.rows == 170
    assert more.rows > few.rows
    assert "2 variables" in more.sentence(["a", "b", "c"], "rows")
    assert of_halves(1000, 10, 0.6).size > of_halves(1000, 40, 0.6).size
    assert of_copies(1000, 0.9).size > of_copies(1000, 0.5).size
    assert of_p_values(1000, 0.1).size > of_p_values(1000, 0.2).size


def test_the_chance_of_irrelevant_variables_is_what_simulation_says():
    rng = np.random.default_rng(0)
    found = RowsNeeded.of(Demand(3, 4.0), np.array([2.5, 2.2, 2.0, *np.zeros(97)]), 100)
    third = np.sort(np.abs(rng.standard_normal((20_000, 100))), axis=1)[:, -3]
    assert found.by_chance == pytest.approx(np.mean(third >= 2.0), abs=0.015)
    assert found.variables == 100
