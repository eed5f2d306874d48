"""Tables that selectors read as they are stored, beside the same tables of ordinary numbers."""

from __future__ import annotations

import re
from functools import cache

import numpy as np
import pytest
from scipy.sparse import csc_array

from selica import DataSplitting, KnockoffSelection, StabilitySelection
from selica.errors import ArgumentError, DoesNotApply, RefusedError
from selica.progress import keeping
from selica.selectors import stored
from selica.solvers.designs import (
    as_table,
    int8_design,
    pack_two_bit,
    side_by_side,
    two_bit_design,
)
from selica.statistics import make_data
from selica.statistics.stored import StoredColumns, make_stored_data

N, P = 160, 60

pytestmark = pytest.mark.filterwarnings("ignore::selica.selectors.UnstableWarning")


def cohort(seed=0, missing=0.0):
    """Genotypes with neighbours that go together, and a response of three of them."""
    rng = np.random.default_rng(seed)
    G = rng.binomial(2, rng.uniform(0.15, 0.5, P), (N, P)).astype(np.int8)
    G[:, 1] = np.where(rng.random(N) < 0.8, G[:, 0], G[:, 1])
    y = 1.0 * G[:, 3] - 0.9 * G[:, 20] + 0.8 * G[:, 41] + rng.standard_normal(N)
    if missing:
        G[rng.random(G.shape) < missing] = -1
    return G, y


def two_bit(G):
    return two_bit_design(pack_two_bit(G), len(G))


@pytest.fixture(scope="module")
def data():
    return cohort()


def selector(**settings):
    return StabilitySelection(n_resamples=40, random_state=3, **settings)


@pytest.fixture(scope="module")
def ordinary(data):
    """Return the answer on ordinary numbers to each response, fitted once."""

    @cache
    def fitted(response):
        target = RESPONSES[response](data[1])
        return selector(pfer=1.0, response=response).fit(data[0].astype(float), target)

    return fitted


RESPONSES = {
    "linear": lambda y: y,
    "binary": lambda y: (y > np.median(y)).astype(int),
    "count": lambda y: np.rint(np.exp(0.5 * (y - y.min()))).astype(int),
    "survival": lambda y: (np.exp(-0.4 * y), (np.arange(N) % 3 > 0).astype(int)),
    "classes": lambda y: np.array(["low", "middle", "high"])[
        np.digitize(y, np.quantile(y, [0.3, 0.7]))
    ],
}
FORMS = {
    "int8": int8_design,
    "two-bit": lambda G: two_bit(G),
    "sparse": lambda G: as_table("X", csc_array(G.astype(float))),
    "single": lambda G: as_table("X", G.astype(np.float32)),
    "mixed": lambda G: side_by_side(
        [two_bit(G[:, :25]), csc_array(G[:, 25:40].astype(float)), G[:, 40:]]
    ),
}


@pytest.mark.parametrize("response", RESPONSES)
@pytest.mark.parametrize("form", FORMS)
def test_the_answer_is_that_of_ordinary_numbers(data, ordinary, response, form):
    G, y = data
    plain = ordinary(response)
    found = selector(pfer=1.0, response=response).fit(FORMS[form](G), RESPONSES[response](y))
    np.testing.assert_array_equal(
        found.selection_probabilities_, plain.selection_probabilities_, strict=True
    )
    np.testing.assert_array_equal(found.signs_, plain.signs_)
    np.testing.assert_array_equal(found.support_, plain.support_)
    assert found.guarantee_ == plain.guarantee_
    np.testing.assert_allclose(found.effects_.per_unit, plain.effects_.per_unit, rtol=1e-9)
    np.testing.assert_allclose(found.effects_.association, plain.effects_.association, atol=1e-12)
    assert found.support_[3]


@pytest.mark.parametrize(
    "arguments",
    [
        {"keep": np.linspace(-1.0, 1.0, N)[:, None]},
        {"sample_weight": np.linspace(0.5, 1.5, N)},
        {"rows_of": np.arange(N) // 2},
        {"strata": np.arange(N) % 2},
    ],
    ids=lambda one: next(iter(one)),
)
def test_what_is_said_of_the_rows_is_heard(data, arguments):
    G, y = data
    plain = selector().fit(G.astype(float), y, **arguments)
    found = selector().fit(two_bit(G), y, **arguments)
    np.testing.assert_array_equal(found.selection_probabilities_, plain.selection_probabilities_)
    assert found.guarantee_ == plain.guarantee_


def test_missing_calls_take_the_mean_of_their_marker():
    G, y = cohort(missing=0.05)
    filled = G.astype(float)
    filled[G < 0] = np.nan
    filled = np.where(G < 0, np.nanmean(filled, axis=0), filled)
    plain, found = selector().fit(filled, y), selector().fit(two_bit(G), y)
    np.testing.assert_array_equal(found.selection_probabilities_, plain.selection_probabilities_)


@pytest.mark.parametrize("response", ["linear", "classes"])
def test_the_certificate_is_told(data, response):
    found = selector(response=response).fit(two_bit(data[0]), RESPONSES[response](data[1]))
    told = re.search(
        r"40 fits are certified over all 60 columns.* gap is (\S+)\. .* read ([\d,]+) times",
        found.note_,
    )
    assert told is not None
    assert float(told[1]) <= 1e-6  # the tolerance of the solvers
    assert int(told[2].replace(",", "")) >= 2


def test_finished_resamples_are_taken_from_a_run_that_ended(data, tmp_path, monkeypatch):
    table, y = two_bit(data[0]), data[1]
    alone = selector().fit(table, y)
    with keeping(tmp_path / "unfinished"):
        selector().fit(table, y)
        monkeypatch.setattr("selica.selectors.members.fit_members", None)  # nothing is fitted
        again = selector().fit(table, y)
    np.testing.assert_array_equal(again.selection_probabilities_, alone.selection_probabilities_)
    assert "certified over all 60 columns" in again.note_


def test_groups_by_label(data):
    G, y = data
    labels = np.arange(P) // 3
    plain = selector(groups=labels).fit(G.astype(float), y)
    found = selector(groups=labels).fit(two_bit(G), y)
    np.testing.assert_array_equal(found.group_support_, plain.group_support_)
    np.testing.assert_array_equal(found.member_probabilities_, plain.member_probabilities_)


def test_workers_and_threads_change_nothing(data):
    G, y = data
    alone = selector().fit(two_bit(G), y)
    for jobs in (1, 2):
        again = selector(n_jobs=jobs).fit(two_bit(G), y)
        np.testing.assert_array_equal(
            again.selection_probabilities_, alone.selection_probabilities_
        )


def test_what_is_the_same_as_a_selected_column_is_listed(data):
    G, y = data
    twice = np.concatenate([G, G[:, [3]]], axis=1)
    found = selector(threshold=0.6, q=6).fit(two_bit(twice), y)
    chosen = {name for name in found.duplicates_ if name in ("x3", f"x{P}")}
    assert chosen


def test_the_summary_ends_and_the_columns_come_back(data, monkeypatch):
    G, y = data
    monkeypatch.setattr("selica.selectors.reading.LISTED_VARIABLES", 10)
    found = selector().fit(two_bit(G), y)
    assert len(found.summary().variables) == 10
    assert found.summary().variables["variable"][0] in {"x3", "x20", "x41"}
    columns = found.transform(two_bit(G))
    np.testing.assert_array_equal(columns, G[:, found.support_])
    again = found.fit(G.astype(float), y)
    assert len(again.summary().variables) == P


def test_rows_that_are_copies_take_the_promise_back(data):
    G, y = data
    rows = np.concatenate([np.arange(N), np.arange(30)])
    with pytest.warns(UserWarning, match="copies"):
        found = selector().fit(two_bit(G[rows]), y[rows])
    assert "independent rows" in str(found.guarantee_)


def test_nothing_is_kept_of_a_stored_table(data):
    found = selector().fit(two_bit(data[0]), data[1])
    with pytest.raises(ArgumentError, match="not kept"):
        found.stability_path()


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (lambda: StabilitySelection(0.1), "needs ordinary numbers"),
        (lambda: KnockoffSelection(), "KnockoffSelection needs ordinary numbers"),
        (lambda: DataSplitting(), "DataSplitting needs ordinary numbers"),
    ],
)
def test_rules_that_need_ordinary_numbers_say_so(data, made, said):
    with pytest.raises(RefusedError, match=said):
        made().fit(two_bit(data[0]), data[1])


@pytest.mark.parametrize("arguments", [{}, {"keep": np.linspace(-1.0, 1.0, N)[:, None]}])
def test_a_false_discovery_rate_is_that_of_ordinary_numbers(data, arguments):
    G, y = data
    plain = selector(fdr=0.1).fit(G.astype(float), y, **arguments)
    found = selector(fdr=0.1).fit(two_bit(G), y, **arguments)
    np.testing.assert_array_equal(found.support_, plain.support_)
    np.testing.assert_array_equal(found.selection_probabilities_, plain.selection_probabilities_)
    assert found.guarantee_ == plain.guarantee_
    assert found.note_ == plain.note_


def test_a_bound_keeps_the_rate_of_a_large_table(data, monkeypatch):
    G, y = data
    monkeypatch.setattr("selica.selectors.stability_settings.MOST_UNPACKED", 100)
    found = selector(fdr=0.5).fit(two_bit(G), y)
    bound = selector(pfer=0.5).fit(two_bit(G), y)
    np.testing.assert_array_equal(found.support_, bound.support_)
    assert found.guarantee_.controls == "false discovery rate"
    assert found.guarantee_.level == pytest.approx(bound.guarantee_.level)
    assert "Reason: p-values need ordinary numbers" in found.note_
    assert "certified over all 60 columns" in found.note_
    with pytest.raises(DoesNotApply, match="Ask for pfer"):
        selector(fdr=0.5, lam=0.1).fit(two_bit(G), y)


@pytest.mark.parametrize(
    ("arguments", "error", "said"),
    [
        ({"y": np.ones(N - 1)}, ArgumentError, "one value for each of the 160 rows"),
        ({"y": np.full(N, np.nan)}, ArgumentError, "y must be finite"),
        ({"missing": "impute"}, DoesNotApply, "mean of their marker"),
    ],
)
def test_hostile_arguments(data, arguments, error, said):
    G, y = data
    with pytest.raises(error, match=said):
        selector().fit(two_bit(G), **({"y": y} | arguments))


def test_clusters_of_all_columns_are_refused(data):
    with pytest.raises(DoesNotApply, match="all pairs of columns"):
        selector(groups="correlation").fit(two_bit(data[0]), data[1])


def test_as_many_classes_as_rows_are_refused(data):
    with pytest.raises(RefusedError, match="too many for classes"):
        selector(response="classes").fit(two_bit(data[0]), np.arange(N))


def test_columns_are_those_of_ordinary_data(data):
    G, y = data
    flat = G.copy()
    flat[:, 5] = 2
    weight = np.linspace(0.5, 1.5, N)
    plain = make_data(flat.astype(float), y, "squared", weight, keep=G[:, :2].astype(float))
    found = make_stored_data(two_bit(flat), y, "squared", weight, keep=G[:, :2].astype(float))
    assert isinstance(found.X, StoredColumns)
    np.testing.assert_array_equal(found.varies, plain.varies)
    np.testing.assert_allclose(found.x_scale, plain.x_scale, rtol=1e-12)
    np.testing.assert_allclose(found.X[:, :], plain.X, atol=1e-12)
    np.testing.assert_allclose(found.X[:, [7, 3]], plain.X[:, [7, 3]], atol=1e-12)
    np.testing.assert_allclose(
        found.X[10:20, plain.varies], plain.X[10:20, plain.varies], atol=1e-12
    )
    np.testing.assert_array_equal(found.keep, plain.keep)
    assert found.stored
    assert not plain.stored


def test_too_many_columns_for_the_memory_are_refused(data, monkeypatch):
    monkeypatch.setattr("selica._core.memory.available", lambda: 1e5)
    monkeypatch.setattr(stored, "SMALL", 1.0)
    with pytest.raises(RefusedError, match="60 columns"):
        selector().fit(two_bit(data[0]), data[1])
