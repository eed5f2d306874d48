"""The selector that chooses: by which rules, what it says, and that it answers."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone

from selica import AutoSelection, reports
from selica._core.errors import ArgumentError, DoesNotApply
from selica._core.progress import reporting, stoppable
from selica._core.random import seed_sequence
from selica.sampling import GaussianKnockoffs, simulate
from selica.selectors import AssumptionWarning, UnstableWarning
from selica.selectors.choice import RULES, choose
from selica.statistics import make_data

DATA = simulate(200, 40, 6, snr=5.0, random_state=0)


def fit(X=DATA.X, y=DATA.y, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnstableWarning)
        return AutoSelection(**{"random_state": 0} | settings).fit(X, y)


def smooth_columns(n, p, width, seed=0):
    """Neighbours are averages of nearly the same noise: an estimated covariance is far off."""
    noise = np.random.default_rng(seed).standard_normal((n, p + 6))
    kernel = np.exp(-0.5 * (np.arange(-3, 4) / width) ** 2)
    return np.apply_along_axis(lambda row: np.convolve(row, kernel, "valid"), 1, noise)


def chosen(X, loss="squared"):
    y = np.arange(len(X)) % 2 if loss == "logistic" else np.arange(float(len(X)))
    return choose(make_data(X, y.astype(float), loss), X, seed_sequence(0))


def normal(n, p):
    return np.random.default_rng(1).standard_normal((n, p))


@pytest.mark.parametrize(
    ("X", "loss", "method", "word"),
    [
        (normal(100, 20), "squared", "knockoffs-frequency", "can be copied"),
        (normal(100, 20), "logistic", "knockoffs-frequency", "can be copied"),
        (normal(50, 2001), "squared", "stability-pfer", "more than 2,000 take"),
        (normal(20_001, 50), "squared", "stability-pfer", "more than 1,000,000 take"),
        (normal(4001, 100), "logistic", "stability-pfer", "more than 400,000 take"),
        (normal(39, 20), "squared", "stability-pfer", "39 rows"),
        (
            np.hstack([normal(100, 20), normal(100, 20)[:, :1]]),
            "squared",
            "stability-pfer",
            "1.000",
        ),
        (np.ones((50, 3)), "squared", "stability-pfer", "no column varies"),
    ],
)
def test_the_table_of_choices(X, loss, method, word):
    found = chosen(X, loss)
    assert found.method == method
    assert word in found.because


def test_columns_whose_copies_can_be_told_from_them_go_to_stability_selection():
    # variances that fall off along directions at random: no neighbours, no factors, few rows
    rng = np.random.default_rng(0)
    directions = np.linalg.qr(rng.standard_normal((120, 120)))[0]
    sizes = np.exp(-np.linspace(0.0, 9.0, 120) / 2.0)
    found = chosen(rng.standard_normal((45, 120)) * sizes @ directions.T)
    assert found.method == "stability-pfer"
    assert "far from exchangeable" in found.because


def test_columns_whose_copies_hardly_differ_from_them_go_to_stability_selection():
    found = chosen(smooth_columns(200, 100, 1.25))
    assert found.method == "stability-pfer"
    assert "hardly differ from them" in found.because


def test_the_choice_does_not_look_at_the_response():
    first = fit()
    again = fit(y=DATA.y[::-1])
    assert (first.method_, first.reason_) == (again.method_, again.reason_)


def test_it_answers_where_ten_effects_are_clear():
    """The former default was empty in 24 of 24 such tables."""
    power, false = [], []
    for seed in range(4):
        data = simulate(200, 60, 10, snr=5.0, random_state=seed)
        found = fit(data.X, data.y, random_state=seed)
        power.append((found.support_ & data.support).sum() / 10)
        false.append(int((found.support_ & ~data.support).sum()))
    assert min(power) >= 0.4
    assert np.mean(power) > 0.6
    assert np.mean(false) <= 2.0


def test_what_was_chosen_is_said_and_so_is_why():
    found = fit()
    text = str(found.summary())
    assert found.reason_ == (
        "Derandomized knockoffs (knockoffs-frequency) were chosen because the table is small "
        "enough for knockoffs and its columns can be copied. Stability selection would have been "
        "chosen for more than 2,000 columns, fewer than 40 rows, or columns that are correlated by "
        "more than 0.95."
    )
    assert found.reason_ in text
    assert str(found.guarantee_) in text
    assert found.guarantee_.level == 1.0
    assert "expected number of false selections" in found.guarantee_.controls


@pytest.mark.parametrize(
    ("shape", "correlation", "fdr", "method"),
    [
        ((200, 40), 0.0, 0.2, "knockoffs-evalues"),
        ((200, 60), 0.0, 0.2, "stability-fdr"),
        ((200, 60), 0.6, 0.2, "knockoffs-evalues"),
        ((200, 210), 0.0, 0.1, "stability-fdr"),
        ((30, 210), 0.0, 0.2, "stability-pfer"),
        ((30, 40), 0.0, 0.2, "stability-pfer"),
    ],
)
def test_a_false_discovery_rate_is_kept(shape, correlation, fdr, method):
    data = simulate(*shape, 6, snr=10.0, covariance=("ar1", correlation), random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)
        found = fit(data.X, data.y, fdr=fdr)
    assert found.guarantee_.level <= fdr
    assert found.guarantee_.controls == "false discovery rate"
    assert found.method_ == method
    assert method in found.reason_
    by_pvalues = method == "stability-fdr"
    assert ("for columns that depend more on each other" in found.reason_) == by_pvalues
    by_evalues = method == "knockoffs-evalues"
    clause = "the response decided whether e-values"
    assert (clause in found.guarantee_.assumptions) == by_evalues
    # a level that is proven for e-values alone is not said of both rules together
    assert "at most 33" not in str(found.guarantee_)


@pytest.mark.parametrize(
    ("columns", "method", "what"),
    [(60, "stability-fdr", "p-values"), (40, "knockoffs-frequency", "a bound")],
)
def test_another_rule_selects_where_e_values_select_nothing(columns, method, what):
    data = simulate(200, columns, 2, snr=20.0, covariance=("ar1", 0.6), random_state=0)
    found = fit(data.X, data.y, fdr=0.1)
    assert found.method_ == method
    assert found.support_[data.support].all()
    assert f"({method}) took the place of derandomized knockoffs with e-values" in found.reason_
    assert "they select at least 6 variables or none" in found.reason_
    assert f"whether e-values or {what} keep it" in found.guarantee_.assumptions
    assert found.guarantee_.controls == "false discovery rate"
    assert found.guarantee_.level <= 0.1
    assert not found.guarantee_.proven


def test_where_nothing_is_selected_the_answer_is_that_of_e_values():
    noise = simulate(200, 60, 0, covariance=("ar1", 0.6), noise_variance=1.0, random_state=3)
    found = fit(noise.X, noise.y, fdr=0.1)
    assert found.method_ == "knockoffs-evalues"
    assert not found.support_.any()
    assert "p-values (stability-fdr) would select nothing either." in found.reason_
    assert found.posthoc().level is None or found.posthoc().level > 0.1


@pytest.mark.parametrize("columns", [1, 5])
def test_e_values_are_not_tried_where_they_cannot_select(columns):
    data = simulate(120, columns, 1, snr=10.0, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error", AssumptionWarning)  # e-values would say: nothing can be
        found = fit(data.X, data.y, fdr=0.1)
    assert found.method_ == "knockoffs-frequency"
    assert found.support_[data.support].all()
    assert f"at least 6 variables or none, and the table has {columns}." in found.reason_
    assert "the response decided" not in found.guarantee_.assumptions
    with pytest.raises(DoesNotApply, match="e-values, which could select nothing here"):
        found.posthoc()


def test_a_rate_of_one_is_kept_by_a_number():
    data = simulate(120, 20, 2, snr=10.0, random_state=0)
    found = fit(data.X, data.y, fdr=1.0)
    assert found.method_ == "knockoffs-frequency"
    assert "E-values" not in found.reason_


def test_where_p_values_are_refused_a_bound_takes_the_place_of_e_values():
    data = simulate(120, 60, 2, snr=20.0, covariance=("ar1", 0.7), random_state=0)
    weight = np.random.default_rng(0).uniform(0.5, 1.5, 120)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)
        found = AutoSelection(fdr=0.1, random_state=0).fit(data.X, data.y, sample_weight=weight)
    assert found.method_ == "stability-pfer"
    assert "(stability-pfer) took the place of derandomized knockoffs" in found.reason_
    assert "whether e-values or a bound keep it" in found.guarantee_.assumptions


def test_warnings_are_those_of_the_method_that_selects():
    noise = simulate(120, 60, 0, covariance=("ar1", 0.6), noise_variance=1.0, random_state=3)
    weight = np.random.default_rng(0).uniform(0.5, 1.5, 120)
    with warnings.catch_warnings():
        warnings.simplefilter("error", AssumptionWarning)  # of p-values, which did not select
        found = AutoSelection(fdr=0.1, random_state=0).fit(noise.X, noise.y, sample_weight=weight)
    assert found.method_ == "knockoffs-evalues"
    assert not any("the level may not hold" in note for note in found.notes_)


def test_an_interrupted_fit_asks_no_other_method():
    data = simulate(120, 40, 2, snr=20.0, covariance=("ar1", 0.6), random_state=0)

    def stop(what, done, total):
        if done >= 8 and total == 31:
            raise KeyboardInterrupt

    with stoppable(), reporting(stop), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = fit(data.X, data.y, fdr=0.1)
    assert found.method_ == "knockoffs-evalues"
    assert any("8 of 31" in note for note in found.notes_)


def test_independent_columns_of_few_rows_do_not_depend_on_each_other():
    data = simulate(40, 800, 3, snr=20.0, random_state=0)
    assert fit(data.X, data.y, fdr=0.1).reason_.startswith("Stability selection")


def test_what_speaks_against_copies_is_said_where_p_values_are_chosen():
    data = simulate(200, 210, 6, snr=5.0, covariance=("ar1", 0.6), random_state=0)
    X = data.X.copy()
    X[:, 1] = X[:, 0] + 0.1 * X[:, 1]
    found = fit(X, data.y, fdr=0.2)
    assert found.method_ == "stability-fdr"
    assert "e-values were not chosen because knockoffs cannot tell near-dup" in found.reason_


def test_an_empty_list_comes_with_a_ranking_and_numbers_that_were_tried():
    noise = simulate(100, 40, 0, noise_variance=1.0, random_state=11)
    found = fit(noise.X, noise.y, pfer=0.1)
    assert not found.support_.any()
    tried = r"PFER [\d.]+ would select \d+ variable|the same copies would select none"
    assert re.search(tried, found.explain())
    assert len(re.findall(r"\n +\d+  x\d+", str(found.summary()))) >= 5


@pytest.mark.parametrize(
    ("settings", "word"),
    [
        ({"fdr": 0.1, "pfer": 1.0}, "got fdr and pfer"),
        ({"fdr": 2.0}, "fdr must be"),
        ({"fdr": "x"}, "fdr must be"),
        ({"pfer": -1.0}, "pfer must be"),
        ({"response": "weather"}, "response must be"),
    ],
)
def test_bad_settings(settings, word):
    with pytest.raises(ArgumentError, match=word):
        fit(**settings)


def test_the_table_of_rules_ends_and_is_in_the_documentation():
    page = (Path(__file__).parents[2] / "docs" / "choosing.md").read_text(encoding="utf-8")
    assert RULES[-1].applies(None)
    for rule in RULES:
        assert f"| {rule.table} | {rule.method} | {rule.why} |" in page


def test_every_rule_that_could_have_been_another_says_when():
    first, second = fit(normal(30, 20), normal(30, 1)[:, 0]), fit()
    assert first.reason_.endswith("Derandomized knockoffs would have been chosen for 40 or more.")
    assert second.reason_.count(". ") == 1


def test_few_rows_get_a_little_ridge_so_that_halves_carry_more():
    """38 patients and 7,129 genes: with five genes from each half nothing was ever selected."""
    wide = simulate(38, 300, 3, snr=20.0, random_state=0)
    found = fit(wide.X, wide.y)
    assert found.selector_.l1_ratio == 0.8
    assert found.selector_.q_ <= 20
    path = found.selector_.stability_path()
    assert path.probabilities.shape == (30, 300)
    assert fit(wide.X[:, :30], wide.y).selector_.get_params().get("l1_ratio", 1.0) == 1.0


def test_a_wide_table_takes_what_fits():
    wide = simulate(60, 3000, 3, snr=20.0, random_state=0)
    found = fit(wide.X, wide.y)
    assert found.method_ == "stability-pfer"
    assert (found.support_ & wide.support).sum() >= 1


@pytest.mark.parametrize("rows", [200, 30])
def test_several_false_selections_are_seldom(rows):
    data = simulate(rows, 40, 6, snr=5.0, random_state=0)
    found = fit(data.X, data.y, kfwer=(2, 0.2))
    assert found.guarantee_.controls == "probability of 2 or more false selections"
    assert found.guarantee_.level <= 0.2
    assert "2 or more false" in str(found.guarantee_)


@pytest.mark.parametrize("asked", [{"fdr": 0.05}, {"pfer": 0.02}, {"kfwer": (1, 0.05)}])
def test_small_levels_take_as_many_copies_as_they_need(asked):
    """With 31 copies a level below 0.0625 would silence most of them."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 12))
    found = fit(X, 2.0 * X[:, :3].sum(axis=1) + rng.standard_normal(200), **asked)
    assert found.support_.tolist() == [True] * 3 + [False] * 9


def test_few_rows_and_few_columns_use_the_whole_level():
    """A threshold of 0.9 left most of it unused, or was refused for two columns."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 5))
    y = 2.0 * X[:, 0] + rng.standard_normal(30)
    assert fit(X, y, fdr=0.1).support_[0]
    assert fit(X, y, fdr=0.1).selector_.threshold_ < 0.9
    assert fit(X[:, :2], y, fdr=0.05).support_[0]


def test_copied_rows_take_the_promise_from_the_chosen_selector_too():
    with pytest.warns(AssumptionWarning, match="cop"):
        found = fit(np.tile(DATA.X, (2, 1)), np.tile(DATA.y, 2))
    assert found.guarantee_.level is None
    assert found.selector_.guarantee_ == found.guarantee_
    assert str(found.guarantee_) in str(found.summary())


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_the_report_of_the_chosen_selector_knows_two_classes():
    data = simulate(80, 6, 2, response="logistic", random_state=0)
    found = AutoSelection(n_resamples=10, random_state=0)
    names = tuple(f"v{j}" for j in range(6))
    selection = reports.answer(found, data.X, data.y, names, "y")
    assert found.response_ == found.selector_.response_ == selection.used["response"] == "binary"


def test_the_law_of_the_columns_is_fitted_once(monkeypatch):
    """What the choice has made is used, and is what the chosen selector would have made."""
    data = simulate(100, 80, 6, snr=10.0, covariance=("ar1", 0.9), random_state=1)
    fits = []
    plain = GaussianKnockoffs.fit

    def counted(self, X, sample_weight=None):
        fits.append(self.law)
        return plain(self, X, sample_weight)

    with monkeypatch.context() as patch:
        patch.setattr(GaussianKnockoffs, "fit", counted)
        found = fit(data.X, data.y, pfer=1.0)
    assert found.method_ == "knockoffs-frequency"
    assert len(fits) == len(set(fits)) >= 1  # each law once
    alone = clone(found.selector_).fit(data.X, data.y)
    np.testing.assert_array_equal(alone.statistics_, found.selector_.statistics_)
    np.testing.assert_array_equal(alone.support_, found.support_)
    assert alone.law_ == found.selector_.law_
    assert alone.exchangeability_ == found.selector_.exchangeability_
