"""A run that is stopped answers with what is there, with the promise of that part."""

from __future__ import annotations

import numpy as np
import pytest

from selica import DerandomizedKnockoffs, StabilitySelection
from selica._core.progress import reporting, stoppable
from selica.control import frequency_bound
from selica.sampling import simulate
from selica.selectors import comparison
from selica.selectors.bounds import Bound

DATA = simulate(120, 30, 4, snr=10.0, random_state=0)


def after(most):
    """Return a listener that presses Ctrl-C when more than so many are done."""

    def listen(what, done, total):
        if done > most:
            raise KeyboardInterrupt

    return listen


def stopped(selector, most, **arguments):
    with stoppable() as stop, reporting(after(most)):
        selector.fit(DATA.X, DATA.y, **arguments)
    return stop.used


def stability(**settings):
    return StabilitySelection(**{"pfer": 1.0, "random_state": 3, **settings})


def test_stability_selection_counts_the_members_that_are_there():
    part = stability(n_resamples=200)
    assert stopped(part, 60)
    assert part.n_resamples_ == 60
    whole = stability(n_resamples=200).fit(DATA.X, DATA.y)
    few = stability(n_resamples=60, q=part.q_, pfer=None, threshold=part.threshold_)
    few.set_params(assumption=part.assumption_).fit(DATA.X, DATA.y)
    # the first members of 200 are those of 60, but for the first penalty of their paths
    assert np.abs(part.selection_probabilities_ - few.selection_probabilities_).max() <= 2 / 60
    assert set(np.round(part.selection_probabilities_ * 60, 9)) <= set(range(61))
    assert part.q_ == whole.q_
    bound = Bound(part.assumption_, "pairs", 0.5)
    want = bound.guarantee(30, 60, float(part.q_), part.threshold_, exact=True).level
    assert part.guarantee_.level == want != whole.guarantee_.level
    said = "The run was stopped after 60 of 200 resamples; the selection is made from these."
    assert said in part.notes_
    assert "share of 60 random halves" in part.summary().explanations["probability"]
    assert not any("stopped" in note for note in whole.notes_)


def test_the_same_number_of_members_is_the_same_answer():
    one, two = stability(n_resamples=200), stability(n_resamples=200, n_jobs=1)
    assert stopped(one, 80)
    assert stopped(two, 95)  # within the same block
    assert np.array_equal(one.selection_probabilities_, two.selection_probabilities_)


def test_blocks_change_nothing_where_nobody_stops():
    calls = []
    with reporting(lambda *said: calls.append(said)), stoppable() as stop:
        heard = stability(n_resamples=100).fit(DATA.X, DATA.y)
    alone = stability(n_resamples=100).fit(DATA.X, DATA.y)
    assert not stop.used
    assert np.array_equal(heard.selection_probabilities_, alone.selection_probabilities_)
    done = [done for _, done, _ in calls]
    assert done == sorted(done)
    assert calls[-1] == ("resamples", 100, 100)


@pytest.mark.parametrize("most", [0, 10])
def test_too_few_members_are_no_answer(most):
    with pytest.raises(KeyboardInterrupt), stoppable(), reporting(after(most)):
        stability(n_resamples=200).fit(DATA.X, DATA.y)


def test_python_raises_as_usual_unless_asked():
    with pytest.raises(KeyboardInterrupt), reporting(after(60)):
        stability(n_resamples=200).fit(DATA.X, DATA.y)
    with pytest.raises(KeyboardInterrupt), reporting(after(16)):
        DerandomizedKnockoffs(pfer=1.0, n_copies=32, lam=0.1).fit(DATA.X, DATA.y)


def test_the_second_interrupt_ends_everything():
    with stoppable(), reporting(after(60)):
        stability(n_resamples=200).fit(DATA.X, DATA.y)
        with pytest.raises(KeyboardInterrupt):
            stability(n_resamples=200).fit(DATA.X, DATA.y)


def test_with_missing_values_and_with_a_learner():
    from sklearn.linear_model import Lasso

    X = DATA.X.copy()
    X[::7, 3] = np.nan
    part = stability(n_resamples=200)
    with stoppable(), reporting(after(40)):
        part.fit(X, DATA.y, missing="impute")
    assert part.n_resamples_ == 40
    learner = stability(n_resamples=200, estimator=Lasso(0.1))
    assert stopped(learner, 40)
    assert learner.n_resamples_ == 40


@pytest.mark.parametrize("settings", [{"pfer": 1.0}, {"fdr": 0.2}, {"pfer": 0.1}])
def test_knockoffs_average_the_copies_that_are_there(settings):
    made = {"lam": 0.1, "random_state": 1, **settings}
    part = DerandomizedKnockoffs(n_copies=40, **made)
    assert stopped(part, 16)
    copies = part.n_copies_
    assert 8 <= copies < 40
    few = DerandomizedKnockoffs(n_copies=copies, **made).fit(DATA.X, DATA.y)
    assert np.array_equal(part.statistics_, few.statistics_)
    assert np.array_equal(part.support_, few.support_)
    assert part.threshold_ == few.threshold_
    assert part.guarantee_ == few.guarantee_
    if "fdr" in settings:
        assert np.array_equal(part.evalues_, few.evalues_)
    else:
        share = part.threshold_
        assert part.negatives_ == settings["pfer"] / frequency_bound(copies, share)
    said = f"The run was stopped after {copies} of 40 knockoff copies; the selection is made from"
    assert any(said in note for note in part.notes_)


def test_too_few_copies_are_no_answer(monkeypatch):
    monkeypatch.setattr(comparison, "_MOST_TOGETHER", 2)
    with pytest.raises(KeyboardInterrupt), stoppable(), reporting(after(0)):
        DerandomizedKnockoffs(pfer=1.0, n_copies=40, lam=0.1).fit(DATA.X, DATA.y)


def test_the_selector_that_chooses_says_so_too():
    from selica import AutoSelection

    found = AutoSelection(random_state=0, n_resamples=40)
    assert stopped(found, 16)
    copies = found.selector_.n_copies_
    assert any(f"stopped after {copies} of 40" in note for note in found.notes_)
