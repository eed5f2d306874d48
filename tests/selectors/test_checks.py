"""What a selector says about rows, columns and responses that weaken its answer."""

from __future__ import annotations

import warnings
from itertools import combinations

import numpy as np
import pandas
import pytest

from selica import (
    DataSplitting,
    DerandomizedKnockoffs,
    IntegratedStability,
    KnockoffSelection,
    LassoSelection,
    StabilitySelection,
)
from selica._core.errors import ArgumentError, RefusedError
from selica.reports import demo_table
from selica.selectors import AssumptionWarning, checks
from selica.selectors.checks import alike_columns, identical_groups
from selica.statistics import make_data
from selica.tables import split


def rng(seed):
    return np.random.default_rng(seed)


NOISE, TARGET = rng(1).standard_normal((60, 8)), rng(2).standard_normal(60)
PROMISING = [
    KnockoffSelection(0.3, sampler="iid", lam=0.1, random_state=0),
    DerandomizedKnockoffs(pfer=1.0, sampler="iid", lam=0.1, n_copies=2, random_state=0),
    DataSplitting(0.3, n_splits=2, random_state=0),
    IntegratedStability(n_resamples=20, random_state=0),
    StabilitySelection(
        resampling="pairs", pfer=1.0, assumption="r-concave", n_resamples=20, random_state=0
    ),
]


def cautions(X, y, selector=None):
    """What is said of a table, by itself and, where a person should act, as warnings."""
    selector = selector or LassoSelection(lam=0.5)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        selector.fit(X, y)
    said = [str(w.message) for w in caught if issubclass(w.category, AssumptionWarning)]
    quiet = ("Constant columns", "Near-duplicate columns", "Columns with few values")
    loud = {one for one in selector.cautions_ if not one.startswith(quiet)}
    assert {one for one in loud if "are identical to another one" not in one} <= set(said)
    assert not any(one.startswith(quiet) for one in said)
    return list(selector.cautions_)


class TestRows:
    @pytest.mark.parametrize("selector", PROMISING, ids=lambda s: type(s).__name__)
    def test_copies_of_rows_break_every_promise(self, selector):
        assert cautions(NOISE, TARGET, selector) == []
        assert selector.guarantee_.level is not None
        said = cautions(np.tile(NOISE, (5, 1)), np.tile(TARGET, 5), selector)
        assert said[0].startswith("240 of 300 rows are exact copies of another row.")
        assert selector.guarantee_.level is None
        assert not selector.guarantee_.proven
        assert "240 of 300 rows are exact copies" in str(selector.guarantee_)

    def test_one_copy_is_told_and_does_no_harm(self):
        X, y = np.vstack([NOISE, NOISE[:1]]), np.append(TARGET, TARGET[0])
        selector = PROMISING[0]
        assert cautions(X, y, selector)[0].startswith("1 of 61 rows is an exact copy of another")
        assert selector.guarantee_.proven

    def test_rows_that_agree_by_chance_are_no_copies(self):
        X = rng(3).integers(0, 2, (400, 6)).astype(float)
        y = rng(4).integers(0, 2, 400)
        assert len(np.unique(np.column_stack([X, y]), axis=0)) < 400
        assert cautions(X, y) == []
        alleles = rng(5).integers(0, 3, (100, 40)).astype(float)
        y = rng(6).integers(0, 2, 100)
        assert cautions(alleles, y) == []
        said = cautions(np.tile(alleles, (2, 1)), np.tile(y, 2))
        assert said[0].startswith("100 of 200 rows are exact copies")

    def test_negative_zero_is_zero(self):
        X = np.abs(NOISE[:20])
        X[:, 0] = 0.0
        assert checks.copied_rows(np.vstack([X, X * [-1, *[1] * 7]]), np.tile(TARGET[:20], 2))

    @pytest.mark.parametrize("selector", PROMISING, ids=lambda s: type(s).__name__)
    def test_patients_with_several_rows_break_every_promise(self, selector):
        X = pandas.DataFrame(NOISE, columns=[f"gene{j}" for j in range(8)])
        X.insert(0, "patient", np.repeat(np.arange(12), 5))
        said = cautions(X, TARGET, selector)
        assert said[0].startswith("Column 'patient' has 12 different values in 60 rows")
        assert selector.guarantee_.level is None
        assert "the same 'patient' seem to belong together" in str(selector.guarantee_)

    def test_a_variable_that_may_count_persons_takes_no_promise_away(self):
        sizes = np.random.default_rng(0).integers(100, 130, 60).astype(float)
        found = checks.repeated_measures([("students", sizes)], variables=True)
        assert not found[0].certain
        assert checks.repeated_measures([("student", sizes)], variables=True)[0].certain
        assert checks.repeated_measures([("students", sizes)])[0].certain

    def test_a_pattern_alone_makes_a_promise_unproven(self):
        X = pandas.DataFrame(NOISE).rename(columns=str)
        X["code"] = np.repeat(np.arange(30), 2)
        selector = PROMISING[0]
        assert cautions(X, TARGET, selector)[0].startswith("Column 'code' has 30 different values")
        assert selector.guarantee_.level == 0.3
        assert not selector.guarantee_.proven

    def test_a_patient_or_two_that_came_twice_are_told_and_do_no_harm(self):
        found = checks.repeated_measures([("patient", np.array([*range(100), 0.0]))])
        guarantee = cautions(NOISE, TARGET, PROMISING[0]) or PROMISING[0].guarantee_
        assert found[0].effect == pytest.approx(103 / 101)
        assert found[0].weakened(guarantee) == guarantee


def text(values):
    return np.array([f"P{v}" for v in values], dtype=object)


PATIENTS = np.repeat(np.arange(40.0), 5)
SHUFFLED = rng(7).permutation(PATIENTS)
BLOCKS = np.repeat(rng(8).permutation(40), rng(9).integers(2, 8, 40)).astype(float)
GROUPS = {
    "patient numbers": ("patient", PATIENTS),
    "patients in any order": ("Subject_ID", SHUFFLED),
    "patients as text": ("patientID", text(SHUFFLED)),
    "many rows a person": ("subject", np.repeat(np.arange(6.0), 500)),
    "some missing": ("patient", np.append(PATIENTS, [np.nan, np.nan])),
    "some text missing": ("donor", np.append(text(PATIENTS), [None, None])),
    "unequal families": ("FID", rng(10).integers(0, 60, 200).astype(float)),
    "cages": ("cage", text(rng(11).integers(0, 500, 1800))),
    "equally often, unnamed": ("code", SHUFFLED),
    "twins, unnamed": ("x", text(rng(12).permutation(np.repeat(np.arange(50), 2)))),
    "blocks, unnamed": ("code", BLOCKS),
}
DATES = [f"2020-{m:02d}-{d:02d}" for m in range(1, 6) for d in range(1, 9)]
MEASURED = {
    "a name for each row": ("patient", np.arange(200.0)),
    "ages": ("age", rng(13).integers(20, 80, 200).astype(float)),
    "ages without their name": ("x3", rng(14).integers(20, 80, 200).astype(float)),
    "sorted ages": ("x3", np.sort(rng(15).integers(20, 80, 200)).astype(float)),
    "alleles": ("rs123", rng(16).integers(0, 3, 200).astype(float)),
    "patient or control": ("patient", rng(17).integers(0, 2, 200).astype(float)),
    "a score": ("pain", rng(18).integers(0, 11, 200).astype(float)),
    "counts": ("reads", rng(19).poisson(50, 200).astype(float)),
    "doses": ("x", np.repeat(np.arange(10.0), 20)),
    "visits": ("visit", np.tile(np.arange(25.0), 8)),
    "dates": ("when", np.array(DATES * 5, dtype=object)),
    "size of a litter": ("litter size", rng(20).integers(1, 12, 200).astype(float)),
    "density of a cage": ("CageDensity", rng(21).integers(1, 12, 200).astype(float)),
    "number of the litter, 1 to 8": ("Litter", rng(22).integers(1, 9, 1800).astype(float)),
    "occupations": ("job", text(rng(23).integers(0, 30, 200))),
    "numbers": ("patient", rng(24).standard_normal(200).round(1)),
    "wells of plates": ("well", text(np.tile(np.arange(96), 3))),
}


@pytest.mark.parametrize("case", GROUPS)
def test_columns_that_tell_which_rows_belong_together(case):
    assert len(checks.repeated_measures([GROUPS[case]])) == 1


@pytest.mark.parametrize("case", MEASURED)
def test_columns_that_measure_tell_no_groups(case):
    assert checks.repeated_measures([MEASURED[case]]) == []


def test_the_design_effect_is_that_of_unequal_groups():
    sizes = [5, 1, 2, 2, 3]
    found = checks.repeated_measures([("patient", np.repeat(np.arange(5.0), sizes))])
    # the variance of a sum of m equal terms is m ** 2, and of n independent ones n
    assert found[0].effect == pytest.approx(sum(m * m for m in sizes) / sum(sizes))


class TestIdentifiers:
    @pytest.mark.parametrize(
        "numbers",
        [
            np.arange(1, 61),
            np.arange(60, 0, -1),
            np.arange(60) + 1001,
            rng(25).permutation(60),
            np.delete(np.arange(64), [3, 9, 20, 50]),
        ],
    )
    def test_numbers_of_rows_are_noticed(self, numbers):
        X = np.column_stack([NOISE, numbers])
        assert cautions(X, TARGET) == [
            "Column 'x8' has a different whole number in every row, as row numbers and "
            "identifiers do: if it is one, leave it out (on the command line: --drop 'x8')."
        ]

    def test_a_name_is_a_sign_too(self):
        numbers = rng(26).choice(10**6, 60, replace=False).astype(float)
        X = np.column_stack([NOISE, numbers])
        assert cautions(X, TARGET) == []
        names = [*"abcdefgh", "sample_id"]
        assert len(cautions(pandas.DataFrame(X, columns=names), TARGET)) == 1

    def test_ranks_are_no_identifiers(self):
        ranks = NOISE.argsort(axis=0).argsort(axis=0).astype(float)
        assert cautions(ranks, TARGET) == []


SURVIVAL = {
    ("time", "event"),
    ("OS.time", "OS"),
    ("survival_months", "died"),
    ("days", "censored"),
    ("followUpDays", "vital_status"),
    ("time to death", "death"),
}
TIME = rng(27).exponential(size=60)
EVENT = (rng(28).random(60) < 0.5).astype(float)


@pytest.mark.parametrize(("time", "event"), sorted(SURVIVAL))
def test_survival_data_are_noticed(time, event):
    X = pandas.DataFrame(NOISE).rename(columns=str)
    said = cautions(X.assign(**{event: EVENT}), pandas.Series(TIME, name=time))
    assert len(said) == 1
    assert said[0].startswith("This looks like survival data, and ")
    assert f"--time {time!r} --event {event!r}" in said[0]
    said = cautions(X.assign(**{time: TIME}), pandas.Series(EVENT, name=event))
    assert len(said) == 1
    assert f"--time {time!r} --event {event!r}" in said[0]


@pytest.mark.parametrize(
    ("target", "column"),
    [
        ("reaction time", "smoking_status"),
        ("time", "sex"),
        ("yield", "event"),
        ("months", "hospital_death"),
    ],
)
def test_other_times_and_classes_are_not_survival(target, column):
    X = pandas.DataFrame(NOISE).rename(columns=str).assign(**{column: EVENT})
    assert cautions(X, pandas.Series(TIME, name=target)) == []


class TestResponses:
    @pytest.mark.parametrize("mean", [0.7, 3.0, 20.0])
    def test_counts_are_noticed(self, mean):
        y = rng(29).poisson(mean * rng(30).exponential(size=60)).astype(float)
        said = cautions(NOISE, y)
        assert len(said) == 1
        assert said[0].startswith("The response 'y' looks like counts: whole numbers from")
        assert cautions(NOISE, y, LassoSelection(lam=0.5, response="linear")) == []

    def test_few_classes_are_noticed(self):
        stage = pandas.Series(rng(31).integers(0, 3, 60), name="stage")
        said = cautions(NOISE, stage)
        assert said[0].startswith("The response 'stage' has only the values 0, 1, 2. A linear")
        assert "from 3 to" not in said[0]
        assert len(cautions(NOISE, rng(32).integers(3, 9, 60))) == 1

    def test_measurements_are_left_in_peace(self):
        X, y, _ = split(demo_table(), "progression")
        assert cautions(X, y) == []
        assert cautions(NOISE, TARGET.round(1)) == []
        assert cautions(NOISE, rng(33).integers(20, 80, 60)) == []

    def test_mixed_kinds_are_one_sentence(self):
        y = np.array([1, "a"] * 30, dtype=object)
        with pytest.raises(ArgumentError, match=r"^y mixes values of different kinds \(1, 'a'\)"):
            LassoSelection().fit(NOISE, y)

    def test_numbers_are_written_plainly(self):
        with pytest.raises(RefusedError, match=r"^y is constant \(1\): "):
            LassoSelection().fit(NOISE, np.ones(60))
        with pytest.raises(RefusedError, match=r"^y is constant \(b\): "):
            LassoSelection().fit(NOISE, ["b"] * 60)

    def test_classes_are_those_of_the_last_fit(self):
        selector = LassoSelection(lam=0.5).fit(NOISE, EVENT)
        assert selector.classes_.tolist() == [0.0, 1.0]
        assert not hasattr(selector.fit(NOISE, TARGET), "classes_")


def test_text_columns_are_named():
    frame = pandas.DataFrame(NOISE[:, :2], columns=["a", "b"])
    frame["sex"] = ["F", "M"] * 30
    frame["site"] = "north"
    with pytest.raises(ArgumentError, match="not numbers, in columns 'sex', 'site': leave"):
        LassoSelection().fit(frame, TARGET)
    frame = frame.astype({"sex": "category"})
    with pytest.raises(ArgumentError, match="not numbers, in column 'site': leave"):
        LassoSelection().fit(frame, TARGET)
    dates = frame[["a"]].assign(day=pandas.date_range("2020-01-01", periods=60))
    with pytest.raises(ArgumentError, match="text and dates are not numbers, in column 'day'"):
        LassoSelection().fit(dates, TARGET)


@pytest.fixture(scope="module")
def wide():
    """More columns than are compared pair by pair, some of them the same."""
    X = np.random.default_rng(1).integers(0, 3, (60, 5500)).astype(float)
    X[:, 5400] = X[:, 7]
    X[:, 5401] = 2.0 - X[:, 7]
    X[:, 30] = 0.1 * X[:, 20] + 3.0
    X[:, 40] = X[:, 20]
    X[0, 40] = 1.0 if X[0, 20] != 1.0 else 2.0
    X[:, 50:52] = 1.0
    return X, X[:, 7] + 0.1 * np.random.default_rng(2).standard_normal(60)


class TestIdenticalColumns:
    def test_groups_are_those_of_all_correlations(self, wide):
        some = np.r_[0:300, 5390:5410]
        data = make_data(wide[0][:, some], wide[1], "squared")
        size = np.triu(np.abs(data.X.T @ data.X) / 60.0 > 1.0 - 1e-9, 1)
        expected = {(int(some[i]), int(some[j])) for i, j in np.argwhere(size)}
        found = [tuple(map(int, some[group])) for group in identical_groups(data)]
        assert sorted(found) == [(7, 5400, 5401), (20, 30)]
        assert {pair for group in found for pair in combinations(group, 2)} == expected
        same = alike_columns(data, np.array([310, 30, 3])).identical
        assert {j: some[others].tolist() for j, others in same.items()} == {
            310: [7, 5401],
            30: [20],
        }

    def test_weights_of_rows_count(self):
        X = NOISE.copy()
        X[:, 3] = X[:, 2]
        X[0, 3] = 9.0
        weight = np.r_[0.0, np.ones(59)]
        data = make_data(X, TARGET, "squared", weight)
        assert [g.tolist() for g in identical_groups(data)] == [[2, 3]]
        assert identical_groups(make_data(X, TARGET, "squared")) == []

    def test_they_are_listed_beside_a_selected_column_at_any_width(self, wide):
        X = pandas.DataFrame(wide[0], columns=[f"rs{j}" for j in range(5500)])
        selector = LassoSelection(lam=0.5)
        said = cautions(X, wide[1], selector)
        assert any(s.startswith("5 of 5500 columns are identical to another one") for s in said)
        (chosen,) = selector.get_feature_names_out()
        others = {"rs7", "rs5400", "rs5401"} - {chosen}
        assert selector.duplicates_ == {chosen: tuple(sorted(others, key=lambda n: int(n[2:])))}
        summary = selector.summary()
        assert set(summary.variables.rows[0]["identical to"].split(", ")) == others
        assert "the data cannot tell which of them matters" in str(summary)

    @pytest.mark.parametrize("selector", PROMISING, ids=lambda s: type(s).__name__)
    def test_every_method_lists_them(self, selector):
        X = np.random.default_rng(3).standard_normal((120, 12))
        y = X[:, :6].sum(axis=1) + 0.1 * np.random.default_rng(4).standard_normal(120)
        X[:, 11] = -3.0 * X[:, 10]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fitted = selector.fit(X, y)
            assert fitted.duplicates_ == {}
            assert "identical to" not in fitted.summary().variables.columns
            fitted.support_[10] = True
            fitted.duplicates_ = {"x10": ("x11",)}
        rows = {row["variable"]: row["identical to"] for row in fitted.summary().variables}
        assert rows["x10"] == "x11"
        assert rows["x0"] is None

    def test_near_duplicates_in_plain_words(self):
        X = NOISE.copy()
        X[:, 3] = X[:, 2] + 1e-3 * rng(34).standard_normal(60)
        assert cautions(X, TARGET) == [
            "Near-duplicate columns (correlation above 0.999) compete for selection, so that "
            "either of a pair may be selected in place of the other: x2 and x3."
        ]
