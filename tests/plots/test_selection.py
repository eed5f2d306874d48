"""Pictures of a selection: what is drawn is what was measured."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pandas
import pytest
from sklearn.base import clone
from sklearn.linear_model import Lasso

from selica import (
    AggregatedKnockoffs,
    DataSplitting,
    DerandomizedKnockoffs,
    IntegratedStability,
    KnockoffSelection,
    LassoSelection,
    StabilitySelection,
)
from selica._core.errors import ArgumentError, DoesNotApply
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
        IntegratedStability(n_resamples=20),
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
    ever = selector.probability_path_[:, selector.probability_path_.any(axis=0)]
    assert sorted(map(tuple, drawn)) == sorted(map(tuple, ever.T))
    labels = {text.get_text() for text in axes.texts}
    assert labels <= {f"x{j}" for j in np.flatnonzero(selector.support_)}
    assert labels


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"lam": 0.2},
        {"pfer": 2.0},
        {"q": 5},
        {"lam": "cv", "engine": "auto", "n_resamples": 256},
    ],
    ids=str,
)
def test_the_path_is_one_call_after_any_fit(settings):
    selector = fit(StabilitySelection(**({"n_resamples": 20} | settings)))
    path = selector.stability_path()
    assert path.lams.size == 30
    assert np.all(np.diff(path.lams) < 0.0)
    if selector.lams_ is not None:  # the resamples are those of the fit
        here = path.probabilities[np.argmin(np.abs(path.lams - selector.lams_[0]))]
        refits = clone(selector).set_params(engine="monte-carlo", lam=selector.lams_[0])
        np.testing.assert_array_equal(here, fit(refits).selection_probabilities_)
    assert selector.plot("path").get_axes()[0].get_xlabel() == "penalty"


def test_a_pickled_selector_asks_for_the_data():
    selector = fit(StabilitySelection(n_resamples=20))
    packed = pickle.dumps(selector)
    assert len(packed) < 20_000
    again = pickle.loads(packed)
    with pytest.raises(ArgumentError, match=r"give them again, as in stability_path\(X, y\)"):
        again.plot("path")
    np.testing.assert_array_equal(
        again.stability_path(DATA.X, DATA.y).probabilities,
        selector.stability_path().probabilities,
    )
    assert again.plot("path", DATA.X, DATA.y)
    with pytest.raises(ArgumentError, match="not the data that the selector was fitted to"):
        again.stability_path(DATA.X, -(DATA.y**2))
    with pytest.raises(DoesNotApply, match="an estimator has none"):
        fit(StabilitySelection(estimator=Lasso(0.1), q=3, n_resamples=4)).plot("path")


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
