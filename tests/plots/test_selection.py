"""Pictures of a selection: what is drawn is what was measured."""

from __future__ import annotations

import warnings

import numpy as np
import pandas
import pytest

from selica import (
    AggregatedKnockoffs,
    DataSplitting,
    DerandomizedKnockoffs,
    KnockoffSelection,
    LassoSelection,
    StabilitySelection,
)
from selica._core.errors import ArgumentError
from selica.sampling import simulate

DATA = simulate(150, 30, 10, snr=10.0, random_state=0)


def fit(selector):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return selector.set_params(random_state=0).fit(DATA.X, DATA.y)


@pytest.mark.parametrize(
    "selector",
    [
        LassoSelection(),
        StabilitySelection(0.2, n_resamples=20),
        DerandomizedKnockoffs(0.3, n_copies=4, sampler="iid"),
        AggregatedKnockoffs(0.3, n_copies=4, sampler="iid"),
        DataSplitting(0.3, n_splits=4),
    ],
    ids=lambda s: type(s).__name__,
)
def test_bars_have_the_lengths_of_the_summary(selector):
    axes = fit(selector).plot().get_axes()[0]
    rows = selector.summary().variables.rows
    column = axes.get_xlabel()
    lengths = {round(patch.get_width(), 12) for patch in axes.patches}
    assert lengths == {round(row[column], 12) for row in rows[: len(axes.patches)]}
    labels = [label.get_text() for label in axes.get_yticklabels()]
    assert labels == [row["variable"] for row in rows[: len(labels)]]


def test_the_stability_path():
    selector = fit(StabilitySelection([0.1, 0.2, 0.4], n_resamples=20))
    axes = selector.plot("path").get_axes()[0]
    drawn = np.array([line.get_ydata() for line in axes.get_lines() if len(line.get_xdata()) == 3])
    assert sorted(map(tuple, drawn)) == sorted(map(tuple, selector.probability_path_.T))
    with pytest.raises(ArgumentError, match="path"):
        fit(StabilitySelection(0.2, n_resamples=4)).plot("path")


def test_the_histogram_counts_every_variable():
    axes = fit(StabilitySelection(0.2, n_resamples=20)).plot("histogram").get_axes()[0]
    assert sum(patch.get_height() for patch in axes.patches) == 30


def test_knockoff_statistics_by_size():
    selector = fit(KnockoffSelection(0.3, sampler="iid"))
    axes = selector.plot().get_axes()[0]
    drawn = np.concatenate([x.get_ydata() for x in axes.get_lines() if x.get_linestyle() == "None"])
    np.testing.assert_allclose(np.sort(drawn), np.sort(selector.statistics_))


def test_kinds_are_checked():
    with pytest.raises(ArgumentError, match="kind"):
        fit(StabilitySelection(0.2, n_resamples=4)).plot("pie")


def test_names_with_dollars_are_drawn_as_they_are():
    table = pandas.DataFrame(DATA.X, columns=[rf"$\x{{{j}$" for j in range(30)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        figure = StabilitySelection(0.2, n_resamples=4, random_state=0).fit(table, DATA.y).plot()
    figure.canvas.draw()
