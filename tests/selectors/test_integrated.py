"""Integrated stability selection: lists of all lengths, scores and what is promised of them."""

from __future__ import annotations

import joblib
import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.ensemble import ExtraTreesRegressor, GradientBoostingClassifier
from sklearn.linear_model import lars_path

from selica import IntegratedStability
from selica._core.errors import ArgumentError, RefusedError
from selica._core.random import child, seed_sequence
from selica.control import rank_integral
from selica.experiments.chance import reached_by_chance
from selica.sampling import chance_counts, resample_weights, simulate
from selica.selectors import integrated
from selica.selectors.integrated import score_errors
from selica.selectors.members import Selections

# where little matters decisions are close, and a selector says so
pytestmark = pytest.mark.filterwarnings("ignore::selica.selectors.UnstableWarning")
DATA = simulate(100, 30, 3, snr=10.0, random_state=0)


def fitted(**settings):
    settings = {"random_state": 0, "n_resamples": 40, "n_jobs": 1} | settings
    return IntegratedStability(**settings)


class Fixed(BaseEstimator):
    """Give every column the importance that its name has, and draw none."""

    def __init__(self, importances=(), random_state=None):
        self.importances = importances
        self.random_state = random_state

    def fit(self, X, y):
        self.seen_ = self.random_state
        self.feature_importances_ = np.array(self.importances, dtype=float)
        return self


def test_lists_are_the_first_variables_of_each_path():
    """Against the path of another program, half by half."""
    selector = fitted(n_resamples=20, q=5).fit(DATA.X, DATA.y)
    halves = resample_weights(100, 20, "pairs", random_state=child(seed_sequence(0), 1)) > 0.0
    paths = []
    for half in halves:
        X, y = DATA.X[half], DATA.y[half]
        X = (X - X.mean(axis=0)) / X.std(axis=0)
        alphas, _, coef = lars_path(X, y - y.mean(), method="lasso", max_iter=14)
        paths.append((alphas, coef))
    top = max(alphas[0] for alphas, _ in paths)
    grid = np.geomspace(top, 1e-3 * top, 500)
    counts = np.zeros((5, 30))
    for alphas, coef in paths:
        # a coefficient is linear between the penalties at which variables enter or leave
        before = np.maximum(np.searchsorted(-alphas, -grid, side="right") - 1, 0)
        after = np.minimum(before + 1, alphas.size - 1)
        step = np.where(
            after > before,
            (alphas[before] - grid) / (alphas[before] - alphas[after] + (after == before)),
            0.0,
        )
        at = coef[:, before] + np.maximum(step, 0.0) * (coef[:, after] - coef[:, before])
        active = np.abs(at) > 1e-12
        number = np.maximum.accumulate(active.sum(axis=0))
        for q in range(1, 6):
            counts[q - 1] += active[:, np.flatnonzero(number <= q)[-1]]
    np.testing.assert_allclose(selector.probability_path_, counts / 20)


def test_scores_are_those_of_the_shares():
    selector = fitted().fit(DATA.X, DATA.y)
    q = np.arange(1, selector.q_ + 1)
    weight = np.log((q + 1) / q)
    shares = np.maximum(2.0 * selector.probability_path_ - 1.0, 0.0) ** 2
    np.testing.assert_allclose(selector.scores_, weight @ shares / weight.sum(), rtol=1e-12)
    assert np.array_equal(selector.support_, DATA.support)
    assert np.array_equal(selector.efp_ <= 1.0, selector.scores_ >= selector.threshold_)


def test_the_order_and_the_bound_are_those_that_are_asked_for():
    selector = fitted(order=1, calibration="bound").fit(DATA.X, DATA.y)
    path = rank_integral(30, 20, 1)
    assert selector.q_ == path.cells == 1
    assert selector.threshold_ == pytest.approx(path.integral)
    twice = 2.0 * selector.probability_path_[0] - 1.0
    expected = np.where(twice > 1 / 900, (1 / 30) / np.maximum(twice, 1e-9), 30.0)
    np.testing.assert_allclose(selector.efp_, expected)


def test_what_is_proven():
    promises = {
        (calibration, order): fitted(calibration=calibration, order=order, pfer=0.5)
        .fit(DATA.X, DATA.y)
        .guarantee_
        for calibration in ("chance", "bound")
        for order in (1, 2)
    }
    assert [key for key, promise in promises.items() if promise.proven] == [("bound", 1)]
    average = "they are picked no more often than the average variable"
    assert [key for key, promise in promises.items() if average in str(promise)] == [("bound", 1)]
    assert promises.pop(("bound", 2)).level is None  # measured above it
    for promise in promises.values():
        assert (promise.controls, promise.level) == ("expected number of false selections", 0.5)
    share = fitted(fdr=0.2, calibration="bound", order=1).fit(DATA.X, DATA.y).guarantee_
    assert (share.controls, share.level, share.proven) == ("false discovery rate", 0.2, False)


def test_a_false_discovery_rate_goes_by_q_values():
    selector = fitted(fdr=0.1).fit(DATA.X, DATA.y)
    assert np.array_equal(selector.support_, selector.qvalues_ <= 0.1)
    assert "q-value" in selector.summary().variables.columns


def test_more_expected_false_selections_select_more():
    noise = np.random.default_rng(1).standard_normal(100)
    chosen = [fitted(pfer=pfer).fit(DATA.X, noise).support_ for pfer in (0.1, 1.0, 5.0)]
    assert np.all(chosen[0] <= chosen[1])
    assert np.all(chosen[1] <= chosen[2])
    assert chosen[2].sum() > chosen[0].sum()


def test_an_empty_selection_says_what_would_select():
    noise = np.random.default_rng(2).standard_normal(100)
    selector = fitted(pfer=0.01).fit(DATA.X, noise)
    assert not selector.support_.any()
    text = selector.explain()
    assert "pfer" in text
    assert "would select" in text
    level = float(text.split("pfer ")[1].split(" would")[0])
    assert fitted(pfer=level).fit(DATA.X, noise).support_.any()


def test_importances_rank_and_ties_are_broken_by_the_seed():
    X, y = DATA.X[:, :6], DATA.y
    values = (0.5, 0.0, 0.3, 0.3, 0.3, 0.0)
    path = fitted(estimator=Fixed(values), q=4, n_resamples=200).fit(X, y).probability_path_
    np.testing.assert_array_equal(path[0], [1, 0, 0, 0, 0, 0])
    np.testing.assert_array_equal(path[3], [1, 0, 1, 1, 1, 0])  # none without importance
    assert np.all(np.abs(path[1, 2:5] - 1 / 3) < 4 * np.sqrt(2 / 9 / 200))
    assert np.all(np.abs(path[2, 2:5] - 2 / 3) < 4 * np.sqrt(2 / 9 / 200))


def test_every_fit_has_random_numbers_of_its_own(monkeypatch):
    seen = []
    original = Fixed.fit
    monkeypatch.setattr(
        Fixed, "fit", lambda self, X, y: seen.append(self.random_state) or original(self, X, y)
    )
    fitted(estimator=Fixed((1.0, 0.5, 0.2), random_state=7), n_resamples=20).fit(
        DATA.X[:, :3], DATA.y
    )
    assert len(set(seen)) == 20


def test_trees_find_a_square_and_do_not_depend_on_the_workers():
    X = np.random.default_rng(0).standard_normal((120, 8))
    settings = {"estimator": ExtraTreesRegressor(5), "n_resamples": 20}
    selector = fitted(**settings).fit(X, X[:, 3] ** 2)
    assert np.flatnonzero(selector.support_).tolist() == [3]
    with joblib.parallel_config(backend="threading"):
        again = fitted(**settings | {"n_jobs": 2}).fit(X, X[:, 3] ** 2)
    np.testing.assert_array_equal(again.scores_, selector.scores_)


def test_two_classes_and_groups():
    y = DATA.y > 0.0
    trees = GradientBoostingClassifier(n_estimators=5, max_depth=1)
    found = fitted(estimator=trees, n_resamples=20, groups=np.arange(30) // 3).fit(DATA.X, y)
    assert found.efp_.shape == (10,)
    assert set(np.flatnonzero(found.support_) // 3) <= set(np.flatnonzero(DATA.support) // 3)
    assert fitted().fit(DATA.X, y).response_ == "binary"


@pytest.mark.slow
def test_errors_of_scores_are_those_of_other_seeds():
    noise = np.random.default_rng(3)
    y = DATA.y + 1.5 * noise.standard_normal(100)
    drawn = [fitted(random_state=seed).fit(DATA.X, y) for seed in range(40)]
    scores = np.array([one.scores_ for one in drawn])
    errors = np.array([one._error for one in drawn]).mean(axis=0)
    some = scores.mean(axis=0) > 0.1
    assert some.sum() >= 2
    ratio = scores[:, some].std(axis=0, ddof=1) / errors[some]
    assert np.all((ratio > 0.6) & (ratio < 1.5))  # 40 seeds: a standard error of 0.11


def test_errors_by_hand():
    """Two pairs and one list: a score is the mean number of halves in a pair, minus one."""
    from scipy.sparse import csr_array

    lists = csr_array(np.array([[1], [1], [1], [0]]))
    found = Selections(np.array([[3]]), np.zeros((1, 1)), lists > 0, lists=lists)
    path = rank_integral(2, 2, 1, limit=2.0, longest=1)
    # pairs add 2 and 1: a standard deviation of 1/2, over two pairs
    assert score_errors(found, path)[0] == pytest.approx(0.5 / np.sqrt(2.0))


def test_counts_by_chance_are_those_of_one_list():
    """Each list by itself against an exact computation."""
    draws = list(chance_counts(100, 10, 20))
    weight = np.repeat([one.probability / one.counts.shape[1] for one in draws], 200)
    counts = np.concatenate([one.counts for one in draws], axis=1)
    assert weight.sum() == pytest.approx(1.0)
    for q in (1, 10):
        reached = reached_by_chance(q / 100, 20)
        for many in (1, 10, 20, 30):
            got = weight[counts[q - 1] >= many].sum()
            assert got == pytest.approx(reached[many], rel=0.06)
    assert np.all(np.diff(counts, axis=0) >= 0)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"pfer": 1.0, "fdr": 0.1}, "pfer and fdr: give one of them"),
        ({"n_resamples": 7}, "n_resamples must be even"),
        ({"order": 3}, "order"),
        ({"calibration": "theorem"}, "calibration must be one of 'chance', 'bound'"),
        ({"q": 30}, "q must be below the number of variables, 30; got 30"),
        ({"pfer": 0.0}, "pfer"),
        ({"fdr": 1.5}, "fdr"),
    ],
)
def test_bad_arguments(settings, words):
    with pytest.raises(ArgumentError, match=words):
        fitted(**settings).fit(DATA.X, DATA.y)


def test_halves_go_on_until_decisions_are_settled(monkeypatch):
    monkeypatch.setattr(integrated, "FIRST_RESAMPLES", 20)
    y = DATA.y + 1.5 * np.random.default_rng(3).standard_normal(100)
    selector = fitted(n_resamples="auto").fit(DATA.X, y)
    assert selector.n_resamples_ in range(40, 201, 20)
    assert selector.n_resamples_ == 200 or not selector.stability_.close_calls
    whole = fitted(n_resamples=selector.n_resamples_, q=selector.q_).fit(DATA.X, y)
    # the same halves; where two variables enter at nearly one penalty its grid decides, and that of
    # a block begins at the largest of its own
    assert np.abs(selector.probability_path_ - whole.probability_path_).max() <= 0.02
    assert "close calls decided" in str(selector.guarantee_)
    proven = fitted(n_resamples="auto", calibration="bound", order=1).fit(DATA.X, y)
    assert proven.guarantee_.proven  # by Doob's inequality, as for shares of one list


def test_one_column_has_no_ranks():
    with pytest.raises(RefusedError, match="n_features=1"):
        fitted().fit(DATA.X[:, :1], DATA.y)


@pytest.mark.slow
def test_false_selections_where_nothing_matters():
    """Many rows, where the published bound of order 2 is exceeded."""
    wrong = {}
    for calibration in ("chance", "bound"):
        wrong[calibration] = [
            fitted(calibration=calibration, random_state=run, n_resamples=100)
            .fit(np.random.default_rng([run, 1]).standard_normal((800, 60)),
                 np.random.default_rng([run, 2]).standard_normal(800))
            .support_.sum()
            for run in range(150)
        ]  # fmt: skip
    mean = {name: np.mean(values) for name, values in wrong.items()}
    error = {name: np.std(values) / np.sqrt(150) for name, values in wrong.items()}
    assert mean["chance"] <= 1.0 + 3.0 * error["chance"]
    assert mean["chance"] >= 0.4
