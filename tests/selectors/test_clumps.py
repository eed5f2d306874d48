"""Clumps of markers at several resolutions: the same table in any form, promises, hostile input."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from selica import ClumpKnockoffs
from selica.errors import ArgumentError, DoesNotApply
from selica.sampling import SegmentMotifs
from selica.sampling.exchangeability import Exchangeability
from selica.selectors import AssumptionWarning, clumps
from selica.solvers import pack_two_bit, two_bit_design
from selica.tables.genotypes import Genotypes, Markers
from tests.sampling.test_genotypes import founders

LAW = founders(300, 6, 0, rate=0.1)
KNOWN = SegmentMotifs((LAW,), estimated=False)
X = LAW.simulate(400, random_state=1)
CAUSAL = np.arange(10, 300, 25)
Y = X[:, CAUSAL].sum(axis=1) + np.random.default_rng(2).standard_normal(400)


def chosen(**settings):
    settings = {"resolutions": [10, 30], "motifs": KNOWN, "lam": 0.05, "random_state": 0} | settings
    return ClumpKnockoffs(0.2, **settings)


@pytest.fixture(scope="module")
def fitted():
    return chosen().fit(X, Y)


def test_clumps_with_causal_markers_are_found(fitted):
    for one in fitted.resolutions_:
        true = np.unique(one.clumps[CAUSAL])
        found = np.flatnonzero(one.selected)
        assert np.isin(found, true).mean() >= 0.7
        assert np.isin(true, found).mean() >= 0.8
    assert [one.statistics.size for one in fitted.resolutions_] == [30, 10]
    np.testing.assert_array_equal(fitted.get_support(), fitted.at(10).support)


def test_statistics_are_sums_of_coefficients_by_an_independent_solver(fitted):
    """The lasso on standardised columns and copies, by scikit-learn."""
    from sklearn.linear_model import Lasso

    from selica.sampling import stored_group_copies
    from selica.tables.genotypes.codes import unpack

    one = fitted.at(30)
    labels = np.array([each.clumps for each in fitted.resolutions_])
    copies = stored_group_copies(Genotypes.of(X), KNOWN, labels, random_state=0)
    both = np.concatenate([X, unpack(copies[1], 400).T], axis=1).astype(float)
    both -= both.mean(axis=0)
    both /= both.std(axis=0)
    fit = Lasso(0.05, tol=1e-10, max_iter=100_000).fit(both, (Y - Y.mean()) / Y.std())
    size = np.abs(fit.coef_).reshape(2, 300)
    W = [(size[0] - size[1])[one.clumps == g].sum() for g in range(10)]
    np.testing.assert_allclose(one.statistics, W, atol=1e-4)
    for g in range(10):
        members = np.flatnonzero(one.clumps == g)
        assert one.leading[g] == members[np.argmax(size[0][members])]


def test_the_form_of_the_table_does_not_matter(fitted):
    codes = pack_two_bit(X)
    markers = Markers.of(["7"] * 300, [f"rs{j}" for j in range(300)], range(300), "A" * 300,
                         "C" * 300)  # fmt: skip
    forms = (X.astype(float), two_bit_design(codes, 400), Genotypes.of(X, markers=markers))
    for form in forms:
        other = chosen().fit(form, Y)
        for a, b in zip(fitted.resolutions_, other.resolutions_, strict=True):
            np.testing.assert_array_equal(a.statistics, b.statistics)
    row = other.discoveries_.rows[0]
    assert row["chromosome"] == "7"
    assert row["leading marker"].startswith("rs")


def test_threads_change_nothing(fitted, monkeypatch):
    monkeypatch.setenv("SELICA_NUM_THREADS", "1")
    other = chosen(n_jobs=1).fit(X, Y)
    for a, b in zip(fitted.resolutions_, other.resolutions_, strict=True):
        np.testing.assert_array_equal(a.statistics, b.statistics)


def test_cross_validation_and_kept_columns():
    sex = np.random.default_rng(3).integers(0, 2, 400)
    selector = chosen(lam="cv", resolutions=30).fit(X, Y + 20.0 * sex, keep=sex)
    without = chosen(lam="cv", resolutions=30).fit(X, Y)
    one, other = selector.resolutions_[0], without.resolutions_[0]
    assert np.corrcoef(one.statistics, other.statistics)[0, 1] > 0.95
    assert one.selected.sum() >= 5


@pytest.mark.parametrize("response", ["binary", "count", "survival"])
def test_other_responses(response):
    rng = np.random.default_rng(4)
    z = (Y - Y.mean()) / Y.std()
    y = {
        "binary": (z + 0.3 * rng.standard_normal(400) > 0).astype(int),
        "count": rng.poisson(np.exp(z)),
        "survival": (rng.exponential(np.exp(-z)), np.ones(400)),
    }[response]
    lam = {"binary": 0.03, "count": 0.1, "survival": 0.05}[response]
    one = chosen(resolutions=30, lam=lam, response=response).fit(X, y).resolutions_[0]
    true = np.zeros(10, dtype=bool)
    true[one.clumps[CAUSAL]] = True
    assert one.statistics[true].sum() > 0.0
    assert np.count_nonzero(one.statistics > 0.0) >= 6


def test_motifs_are_fitted_where_none_are_given():
    y = X[:, ::20].sum(axis=1) + np.random.default_rng(5).standard_normal(400)
    segments = np.repeat(["a", "b"], 150)
    selector = ClumpKnockoffs(0.2, resolutions=30, motifs=12, n_steps=25, lam=0.05, random_state=0)
    selector.fit(X, y, segments=segments, positions=np.arange(300) * 10)
    assert selector.motifs_.estimated
    assert np.bincount(selector.segments_).tolist() == [150, 150]
    assert "close to mosaics of the motifs" in str(selector.guarantee_)
    assert not selector.guarantee_.proven
    assert {row["chromosome"] for row in selector.discoveries_} <= {"a", "b"}


def test_copies_that_do_not_fit_take_the_promise_back(monkeypatch, fitted):
    assert fitted.guarantee_.level == 0.2
    wrong = Exchangeability(1.5, 0.001, "full", 400)
    monkeypatch.setattr(clumps, "copies_by_block", lambda *_: wrong)
    with pytest.warns(AssumptionWarning, match="No error rate is promised"):
        selector = chosen(resolutions=30).fit(X, Y)
    assert selector.guarantee_.withdrawn


def test_summary_pickle_and_plot(fitted):
    text = str(fitted.summary())
    assert text.startswith("Clumps at FDR 0.2:")
    assert "at each resolution by itself" in text.replace("\n", " ")
    again = pickle.loads(pickle.dumps(fitted))
    assert again.discoveries_ == fitted.discoveries_
    assert fitted.plot(30).axes
    with pytest.raises(ArgumentError, match="resolution must be one of 10, 30; got 7"):
        fitted.at(7)


@pytest.mark.parametrize(
    ("settings", "arguments", "message"),
    [
        ({"resolutions": 1.5}, {}, "resolutions must be"),
        ({"lam": "best"}, {}, "lam must be"),
        ({}, {"keep": np.ones(3)}, "keep must have one row"),
        ({}, {"segments": np.zeros(300)}, "segments cannot be given beside motifs"),
        ({"motifs": 4}, {"segments": np.zeros(3)}, "segments must have one label"),
        ({"motifs": 4}, {"positions": np.zeros(300)}, "positions must be whole numbers"),
        ({"motifs": 4, "response": "linear"}, {"y": Y[:50]}, "y must have one value for each"),
        ({"motifs": SegmentMotifs((LAW, LAW))}, {}, "motifs are of 600 markers, and X has 300"),
    ],
)
def test_arguments_are_checked(settings, arguments, message):
    with pytest.raises(ArgumentError, match=message):
        chosen(**settings).fit(X, arguments.pop("y", Y), **arguments)


def test_several_classes_are_refused():
    with pytest.raises(DoesNotApply, match="several classes"):
        chosen(resolutions=30).fit(X, np.array(["a", "b", "c", "d"])[np.arange(400) % 4])
