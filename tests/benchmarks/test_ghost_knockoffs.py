"""The ways by which `benchmarks.ghost_knockoffs` asks where power is lost."""

from __future__ import annotations

from importlib import import_module

import numpy as np

from selica._core.warning import noted

ghosts = import_module("benchmarks.ghost_knockoffs")


def test_with_the_correlations_of_the_table_z_scores_give_the_lasso_of_the_table() -> None:
    """The lasso knows its table by products of columns alone, so that only rounding differs."""
    with noted():
        rows = {row["way"]: row for row in ghosts.people(0, 1)}
    same = rows["same copies, correlations of the table"]
    assert same["correlation"] > 0.999
    assert rows["same copies, those within blocks"]["correlation"] < 0.99


def test_correlations_of_the_population_have_no_entry_between_blocks() -> None:
    G = ghosts._population_gram(ghosts.known(1)).reshape(2, 10, 30, 2, 10, 30)
    assert not G[:, 0, :, :, 1:].any()
    np.testing.assert_array_equal(G[0, 3, :, 0, 3], ghosts.covariance()[:30, :30])
