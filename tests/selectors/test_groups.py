"""Groups of variables as what is selected: oracles, names, every selector, hostile input."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pandas
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from selica import (
    AggregatedKnockoffs,
    AutoSelection,
    Bolasso,
    DataSplitting,
    DerandomizedKnockoffs,
    IntegratedStability,
    KnockoffSelection,
    LassoSelection,
    StabilitySelection,
    planning,
)
from selica.control import joint_selection
from selica.errors import ArgumentError, DoesNotApply, RefusedError, SelicaError
from selica.sampling import GaussianKnockoffs, RepresentativeKnockoffs, SplitRows
from selica.selectors.group_map import joined
from selica.selectors.grouping import (
    SAME_ROWS,
    in_groups,
    read_groups,
    representative_weights,
)
from selica.statistics import make_data

SELECTORS = [
    LassoSelection(0.1),
    AutoSelection(n_resamples=20),
    StabilitySelection(n_resamples=40),
    StabilitySelection(0.1, n_resamples=20, threshold=0.8),
    Bolasso(0.1, n_resamples=20),
    KnockoffSelection(fdr=0.5, lam=0.05),
    DerandomizedKnockoffs(pfer=1.0, n_copies=5, lam=0.05),
    AggregatedKnockoffs(fdr=0.5, n_copies=3, lam=0.05),
    DataSplitting(fdr=0.5, n_splits=3),
    IntegratedStability(n_resamples=20),
]
"""One of each kind."""
MEASURED = (
    "statistics_", "selection_probabilities_", "evalues_", "pvalues_", "inclusion_rates_", "efp_"
)  # fmt: skip


def blocks(rows=120, groups=8, size=3, noise=0.4, seed=0):
    """Return groups of columns that say nearly the same, and a response to the first two."""
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((rows, groups))
    X = np.repeat(Z, size, axis=1) + noise * rng.standard_normal((rows, groups * size))
    return X, Z[:, 0] - Z[:, 1] + 0.5 * rng.standard_normal(rows)


X, Y = blocks()
LABELS = np.repeat([f"g{k}" for k in range(8)], 3)


def fitted(selector, X=X, y=Y, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return clone(selector).set_params(random_state=0, **settings).fit(X, y)


# --- oracles of the specification ---------------------------------------------------------------

DRAWN = ("100100", "010100", "100001", "001100", "100100", "010010", "000100", "001101")
CLUSTERS = [0, 0, 0, 1, 2, 2]


class Listed(BaseEstimator):
    """A learner that selects what a list says, one entry for each fit."""

    turn = 0

    def fit(self, X, y):
        """Take the next of the selections."""
        self.coef_ = np.array([float(sign) for sign in DRAWN[Listed.turn]])
        Listed.turn += 1
        return self


def test_a_resample_selects_a_group_with_any_of_its_members():
    Listed.turn = 0
    rng = np.random.default_rng(0)
    table, y = rng.standard_normal((20, 6)), rng.standard_normal(20)
    selector = StabilitySelection(
        lam="cv", estimator=Listed(), n_resamples=8, groups=CLUSTERS, resampling="pairs",
        threshold=0.75, random_state=0, n_jobs=1,
    )  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        selector.fit(table, y)
    assert selector.selection_probabilities_.tolist() == [0.875, 0.75, 0.375]
    assert selector.member_probabilities_.tolist() == [0.375, 0.25, 0.25, 0.75, 0.125, 0.25]
    assert selector.group_support_.tolist() == [True, True, False]  # at least the threshold
    assert selector.support_.tolist() == [True, True, True, True, False, False]
    weighted = selector.representatives("weighted")
    assert weighted.round(4).tolist() == [0.4286, 0.2857, 0.2857, 1.0, 0.3333, 0.6667]
    assert selector.representatives("sparse").tolist() == [1.0, 0.0, 0.0, 1.0, 0.0, 1.0]
    assert selector.representatives("simple").round(4).tolist() == [0.3333] * 3 + [1.0] + [0.5] * 2


def test_weights_where_members_tie_or_are_never_selected():
    groups = np.array([0, 0, 0, 1, 1])
    frequency = np.array([0.4, 0.4, 0.1, 0.0, 0.0])
    assert representative_weights(frequency, groups, "sparse").tolist() == [0.5, 0.5, 0, 0.5, 0.5]
    assert representative_weights(frequency, groups, "weighted")[3:].tolist() == [0.5, 0.5]


def test_members_are_counted_along_paths_and_penalties_alike():
    for settings in ({"q": 3}, {"lam": 0.1}, {"lam": [0.2, 0.1]}):
        selector = fitted(StabilitySelection(n_resamples=40, threshold=0.9), groups=LABELS,
                          **settings)  # fmt: skip
        P, single = selector.selection_probabilities_, selector.member_probabilities_
        largest, total = single.reshape(8, 3).max(axis=1), single.reshape(8, 3).sum(axis=1)
        assert single.shape == (24,)
        assert np.all(largest - 1e-12 <= P)
        assert np.all(total + 1e-12 >= P)
        assert P[0] == 1.0


# --- every selector -----------------------------------------------------------------------------


@pytest.mark.parametrize("selector", SELECTORS, ids=repr)
def test_groups_of_one_change_nothing(selector):
    plain = fitted(selector)
    grouped = fitted(selector, groups=np.arange(24))
    np.testing.assert_array_equal(grouped.support_, plain.support_)
    np.testing.assert_array_equal(grouped.group_support_, plain.support_)
    for name in MEASURED:
        one, other = (getattr(s, name, None) for s in (plain, grouped))
        assert (one is None) == (other is None)
        if one is not None:
            np.testing.assert_array_equal(other, one)


@pytest.mark.parametrize("selector", SELECTORS, ids=repr)
def test_every_selector_selects_whole_groups(selector):
    found = fitted(selector, groups=LABELS)
    assert found.groups_.tolist() == np.repeat(np.arange(8), 3).tolist()
    assert found.group_names_.tolist() == [f"g{k}" for k in range(8)]
    assert found.group_support_.shape == (8,)
    np.testing.assert_array_equal(found.support_, found.group_support_[found.groups_])
    for name in MEASURED:
        values = getattr(found, name, None)
        if values is not None:
            assert values.shape[-1] == 8
    if found.group_support_.any():
        assert found.transform(X).shape[1] == 3 * found.group_support_.sum()
    table = found.summary()
    assert table.unit == "group"
    assert len(table.variables) == 8
    first = table.variables.rows[0]
    assert first["members"] == 3
    assert first["in this group"].count(",") == 2
    assert "of 8 groups" in table.title
    assert " variable is" not in str(found.guarantee_)
    if found.guarantee_.level is not None:
        assert "nothing is promised about single members" in str(found.guarantee_)
        assert found.guarantee_.discoveries == "groups"
    assert found.plot() is not None
    again = pickle.loads(pickle.dumps(found))
    np.testing.assert_array_equal(again.group_support_, found.group_support_)
    assert str(again.summary()) == str(table)


WEIGHTS = {
    f"check_sample_weight_equivalence_on_{kind}_data": "rows are resampled or put into folds"
    for kind in ("dense", "sparse")
}
CLUSTERED = [clone(one).set_params(groups=("correlation", 0.99)) for one in SELECTORS]


@parametrize_with_checks(CLUSTERED[3:6:2], expected_failed_checks=lambda _: WEIGHTS)
def test_scikit_learn_checks_with_clusters(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(estimator)


@pytest.mark.slow
@parametrize_with_checks(
    [*CLUSTERED[:3], *CLUSTERED[4:5], *CLUSTERED[6:]], expected_failed_checks=lambda _: WEIGHTS
)
def test_scikit_learn_checks_of_the_others(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(estimator)


def test_a_second_fit_without_groups_forgets_them():
    selector = fitted(LassoSelection(0.1), groups=LABELS)
    selector.set_params(groups=None).fit(X, Y)
    assert selector.groups_ is selector.group_names_ is selector.group_support_ is None
    assert selector.summary().unit == "variable"
    assert selector.support_.shape == (24,)


def test_the_automatic_choice_passes_groups_on():
    twins = np.repeat(X[:, ::3], 2, axis=1) + 0.01 * np.random.default_rng(1).standard_normal(
        (120, 16)
    )
    without = fitted(AutoSelection(n_resamples=12), twins)
    assert "near-duplicate" in without.reason_
    found = fitted(AutoSelection(n_resamples=12), twins, groups=np.arange(16) // 2)
    assert "near-duplicate" not in found.reason_
    assert found.selector_.groups_.tolist() == found.groups_.tolist()
    assert found.selector_.group_support_.tolist() == found.group_support_.tolist()
    assert found.group_support_[:2].all()
    assert "groups" in str(found.guarantee_)
    assert found.group_map().group_names


def test_identical_columns_are_found_as_a_group():
    Z = X[:, ::3]
    table = np.repeat(Z, 3, axis=1)
    for selector in (
        StabilitySelection(n_resamples=40),
        DerandomizedKnockoffs(pfer=1.0, n_copies=5),
    ):
        found = fitted(selector, table, groups="correlation")
        assert found.group_names_[0] == "x0 and 2 more"
        assert found.group_support_[:2].all()


def test_one_group_needs_no_bound():
    with pytest.raises(RefusedError, match="all variables are in one group"):
        fitted(StabilitySelection(), groups=[1] * 24)
    found = fitted(AutoSelection(n_resamples=5), groups=[1] * 24)
    assert "the only group" in found.reason_


# --- labels, names, categories ------------------------------------------------------------------


def frame():
    table = pandas.DataFrame(X[:, :6], columns=list("abcdef"))
    return table, Y


@pytest.mark.parametrize(
    "groups",
    [
        ["left", "left", "right", "right", "left", "right"],
        np.array(["left", "left", "right", "right", "left", "right"]),
        {"f": "right", "a": "left", "b": "left", "c": "right", "d": "right", "e": "left", "z": 1},
        pandas.Series(["right", "left", "left", "right", "right", "left"], index=list("fabcde")),
        pandas.Series(["left", "left", "right", "right", "left", "right"]),
    ],
    ids=["list", "array", "mapping", "series by name", "series by place"],
)
def test_labels_in_any_form_are_the_same_groups(groups):
    table, y = frame()
    found = fitted(LassoSelection(0.1), table, y, groups=groups)
    assert found.groups_.tolist() == [0, 0, 1, 1, 0, 1]
    assert found.group_names_.tolist() == ["left", "right"]
    members = {row["group"]: row["in this group"] for row in found.summary().variables}
    assert members == {"left": "a, b, e", "right": "c, d, f"}


def test_a_missing_label_is_a_group_of_its_own():
    found = read_groups([None, "a", np.nan, "a"], ["w", "x", "y", "z"], make_data(
        np.random.default_rng(0).standard_normal((9, 4)), np.arange(9.0), "squared"))  # fmt: skip
    assert found.of.tolist() == [0, 1, 2, 1]
    assert found.names == ("w", "a", "y")


def test_labels_that_look_alike_stay_apart():
    data = make_data(np.random.default_rng(0).standard_normal((9, 3)), np.arange(9.0), "squared")
    found = read_groups([1, "1", 1.0], ["x", "y", "z"], data)
    assert found.of.tolist() == [0, 1, 0]
    assert found.names == ("1", "1 (2)")


def test_categories_inside_groups():
    rng = np.random.default_rng(0)
    tissue = rng.choice(["liver", "lung", "skin"], 200)
    table = pandas.DataFrame(
        {"age": rng.standard_normal(200), "tissue": pandas.Categorical(tissue),
         "dose": rng.standard_normal(200), "site": pandas.Categorical(rng.choice(list("xyz"), 200))}
    )  # fmt: skip
    y = 2.0 * (tissue == "lung") + rng.standard_normal(200)
    groups = {"age": "who", "tissue": "who", "dose": "what", "site": "where"}
    found = fitted(StabilitySelection(n_resamples=40), table, y, groups=groups)
    assert found.group_support_.tolist() == [True, False, False]
    assert found.support_.tolist() == [True, True, False, False]
    assert found.member_probabilities_.shape == (4,)
    assert found.member_probabilities_[1] == 1.0
    rows = {row["group"]: row for row in found.summary().variables}
    assert rows["who"]["in this group"] == "age, tissue"
    assert rows["who"]["effect per unit"] is None
    alone = fitted(StabilitySelection(n_resamples=40), table, y,
                   groups={"age": 1, "dose": 1, "tissue": 2, "site": 3})  # fmt: skip
    rows = {row["group"]: row for row in alone.summary().variables}
    assert rows["2"]["direction"].startswith("lung > ")  # a group of one category has levels


def test_members_are_read_below_a_table_that_is_too_wide():
    names = [f"{'a name that is long ' * 2}{j:02}" for j in range(24)]
    table = pandas.DataFrame(X, columns=names)
    found = fitted(KnockoffSelection(fdr=0.5, lam=0.05), table, groups="correlation")
    text = found.summary().table()
    printed, below = text.split("In this group, by rank:")
    assert max(map(len, text.splitlines())) <= 80
    assert printed.count("\N{HORIZONTAL ELLIPSIS}") >= 2
    assert all(
        " and 2 more " in line for line in printed.splitlines() if "\N{HORIZONTAL ELLIPSIS}" in line
    )
    listed = " ".join(below.split())
    assert all(", ".join(names[k : k + 3]) in listed for k in (0, 3))


def test_a_cluster_of_two_names_both():
    found = fitted(LassoSelection(0.1), X[:, [0, 1, 3, 4, 5, 6]], groups="correlation")
    assert found.group_names_.tolist() == ["x0 and x1", "x2 and 2 more", "x5"]


def test_correlated_columns_become_clusters():
    found = fitted(LassoSelection(0.1), groups="correlation")
    assert found.groups_.tolist() == np.repeat(np.arange(8), 3).tolist()
    assert found.group_names_[2] == "x6 and 2 more"
    tight = fitted(LassoSelection(0.1), groups=("correlation", 0.99))
    assert tight.groups_.tolist() == list(range(24))
    text = fitted(LassoSelection(0.1), groups="correlation:0.99")
    assert text.group_names_.tolist() == tight.group_names_.tolist()


def test_a_feature_table_names_groups(tmp_path):
    path = tmp_path / "genes.csv"
    path.write_text(
        "number,gene,pathway\n1,f,right\n2,a,left\n3,b,left\n4,c,right\n5,d,\n6,e,left\n"
    )
    table, y = frame()
    found = fitted(LassoSelection(0.1), table, y, groups=f"{path}:pathway")
    assert found.groups_.tolist() == [0, 0, 1, 2, 0, 1]
    assert found.group_names_.tolist() == ["left", "right", "d"]


@pytest.mark.parametrize(
    ("groups", "said"),
    [
        ("clusters", "groups must be labels of the variables"),
        ("correlation:high", "groups: the cut"),
        (("correlation", 1.5), "groups: the cut"),
        ([0, 1], "groups must have one label for each of the 24 variables; got 2"),
        (np.zeros((24, 2)), "dimensions"),
        ({"x0": 1}, "there is none for x1, x2, x3, x4, x5 and 18 more"),
        ([[1]] * 24, "groups"),
        ([{}] * 24, "hashable"),
        (7, "groups must be labels"),
        ({1, 2}, "groups must be labels"),
        ("nowhere.csv:pathway", "nowhere.csv"),
        (pandas.Series([1] * 24, index=["a"] * 24), "more than one label"),
    ],
)
def test_hostile_groups_are_refused_in_a_sentence(groups, said):
    with pytest.raises(ArgumentError, match=said):
        LassoSelection(0.1, groups=groups).fit(X, Y)


def test_a_feature_table_without_the_column(tmp_path):
    path = tmp_path / "genes.csv"
    path.write_text("gene,pathway\na,left\n")
    with pytest.raises(ArgumentError, match=r"groups: .* has no column 'family'"):
        LassoSelection(0.1, groups=f"{path}:family").fit(*frame())
    with pytest.raises(ArgumentError, match="there is none for b, c, d, e, f"):
        LassoSelection(0.1, groups=f"{path}:pathway").fit(*frame())


# --- promises and words -------------------------------------------------------------------------


def test_a_bound_on_groups_is_proven_for_equal_sizes_only():
    equal = fitted(StabilitySelection(n_resamples=40), groups=LABELS)
    assert equal.guarantee_.proven
    assert "all irrelevant groups are alike" in str(equal.guarantee_)
    labels = LABELS.copy()
    labels[3] = "g0"
    unequal = fitted(StabilitySelection(n_resamples=40), groups=labels)
    assert not unequal.guarantee_.proven
    assert "many members are picked no more often" in str(unequal.guarantee_)
    # the bound itself counts groups, and is the same
    assert unequal.guarantee_.level == equal.guarantee_.level


def test_an_empty_answer_speaks_of_groups():
    rng = np.random.default_rng(5)
    for selector in SELECTORS[2:]:
        found = fitted(selector, rng.standard_normal((60, 24)), rng.standard_normal(60),
                       groups=LABELS)  # fmt: skip
        said = found.explain()
        assert "variables" not in said
        if not found.group_support_.any():
            assert said.startswith("Nothing was selected.")


def test_words():
    assert in_groups("A variable, variables. Variables; invariable") == (
        "A group, groups. Groups; invariable"
    )
    assert in_groups("2 variables: variable 1, b", ["variable 1", "b"]) == "2 groups: variable 1, b"


def test_representatives_need_groups():
    with pytest.raises(ArgumentError, match="groups were not given"):
        fitted(StabilitySelection(n_resamples=20)).representatives()
    with pytest.raises(ArgumentError, match="groups were not given"):
        fitted(StabilitySelection(n_resamples=20)).group_map()


def test_near_duplicates_inside_a_group_are_no_caution():
    table = np.repeat(X[:, ::3], 2, axis=1)
    without = fitted(LassoSelection(0.1), table)
    assert any("near-duplicate" in one.lower() for one in without.notes_)
    found = fitted(LassoSelection(0.1), table, groups=np.arange(16) // 2)
    assert not any("near-duplicate" in one.lower() for one in found.notes_)
    assert not found.duplicates_


# --- joint copies -----------------------------------------------------------------------------


def test_joint_copies_select_by_their_filter():
    settings = {"joint_copies": 5, "lam": 0.05, "groups": LABELS}
    found = fitted(KnockoffSelection(0.1), **settings)
    assert found.group_support_[:2].all()  # two groups are enough: 1 / (5 * 0.1)
    assert found.guarantee_.source.startswith("Gimenez and Zou")
    assert not fitted(KnockoffSelection(0.1), lam=0.05, groups=LABELS).group_support_.any()
    lead = np.abs(found.statistics_)
    winner = np.where(found.statistics_ > 0.0, 0, 1)
    np.testing.assert_array_equal(joint_selection(winner, lead, 5, 0.1), found.group_support_)
    assert "median of its 5 knockoff copies" in str(found.summary())
    alone = fitted(KnockoffSelection(0.1, joint_copies=3, lam=0.05))
    assert alone.statistics_.shape == (24,)
    one = fitted(KnockoffSelection(0.5, joint_copies=1))
    np.testing.assert_array_equal(one.statistics_, fitted(KnockoffSelection(0.5)).statistics_)


@pytest.mark.parametrize(
    ("settings", "arguments", "said"),
    [
        ({"joint_copies": 0}, {}, "joint_copies"),
        ({"joint_copies": 2, "offset": 0}, {}, "offset must be 1"),
        ({"joint_copies": 2, "sampler": "iid"}, {}, "joint copies"),
        ({"joint_copies": 2}, {"keep": Y[:, None] ** 2}, "joint_copies"),
        ({"joint_copies": 2}, {"rows_of": np.arange(120) // 4}, "joint_copies"),
        ({"sampler": GaussianKnockoffs(n_joint=2)}, {}, "joint copies"),
    ],
)
def test_hostile_joint_copies(settings, arguments, said):
    with pytest.raises(SelicaError, match=said):
        KnockoffSelection(0.5, **settings).fit(X, Y, **arguments)


def test_a_known_covariance_makes_exact_copies_of_groups():
    truth = np.kron(np.eye(8), np.full((3, 3), 1.0)) + 0.16 * np.eye(24)
    sampler = GaussianKnockoffs(0.0, truth)
    found = fitted(KnockoffSelection(0.5, sampler=sampler, lam=0.05), groups=LABELS)
    assert found.guarantee_.proven
    assert found.group_support_[:2].all()
    assert sampler.groups is None  # the user's sampler stays as it is


@pytest.mark.parametrize("sampler", [GaussianKnockoffs(0.0, np.eye(6)), "iid", "fixed"])
def test_groups_that_are_formed_from_the_copied_rows_are_not_proven(sampler):
    table = np.random.default_rng(0).standard_normal((60, 6))
    y = np.random.default_rng(1).standard_normal(60)
    selector = KnockoffSelection(0.5, sampler=sampler, statistic="correlation")
    given = fitted(selector, table, y, groups=[0, 0, 1, 1, 2, 3]).guarantee_
    assert given.proven
    assert SAME_ROWS not in given.assumptions
    design = sampler == "fixed"  # a fixed design, groups included
    for groups in (("correlation", 0.1), ("correlation", 1.0)):
        found = fitted(selector, table, y, groups=groups)
        for promise in (found.guarantee_, found.posthoc().guarantee):
            assert promise.proven == design
            assert (SAME_ROWS in promise.assumptions) == (not design)


@pytest.mark.parametrize(
    "sampler",
    [
        GaussianKnockoffs(0.0, np.eye(24), groups=np.repeat(np.arange(8), 3)),
        GaussianKnockoffs(groups=np.repeat(np.arange(8), 3)),
        RepresentativeKnockoffs(np.repeat(np.arange(8), 3)),
        SplitRows(GaussianKnockoffs(groups=np.repeat(np.arange(8), 3))),
    ],
)
def test_copies_of_groups_are_not_for_single_variables(sampler):
    for selector in (KnockoffSelection(0.5), DerandomizedKnockoffs(n_copies=2)):
        with pytest.raises(ArgumentError, match=r"^sampler is for groups of columns; give groups="):
            fitted(selector, sampler=sampler, lam=0.05)
    fitted(KnockoffSelection(0.5), sampler=sampler, lam=0.05, groups=LABELS)
    alone = GaussianKnockoffs(0.0, np.eye(24), groups=np.arange(24))
    fitted(KnockoffSelection(0.5), sampler=alone, lam=0.05)


def test_rows_that_belong_together_and_groups_of_columns():
    patient = np.arange(120) // 3
    found = fitted_with(DerandomizedKnockoffs(pfer=1.0, n_copies=5, lam=0.05), rows_of=patient)
    assert found.group_support_[:2].all()
    assert found.exchangeability_ is not None
    kept = fitted_with(DerandomizedKnockoffs(pfer=1.0, n_copies=5, lam=0.05), keep=X[:, :1])
    assert kept.group_support_[1]


def fitted_with(selector, **arguments):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return selector.set_params(groups=LABELS, random_state=0).fit(X, Y, **arguments)


# --- the map --------------------------------------------------------------------------------------


def test_a_tree_is_that_of_scipy_where_groups_are_its_clusters():
    from scipy.cluster.hierarchy import cophenet, linkage
    from scipy.spatial.distance import squareform

    C = np.abs(np.corrcoef(X.T))
    distance = np.clip(1.0 - C, 0.0, 1.0)
    np.fill_diagonal(distance, 0.0)
    tree = linkage(squareform(distance, checks=False), "average")
    order, joins = joined(distance, np.repeat(np.arange(8), 3))
    np.testing.assert_allclose(np.sort(joins[:, 4]), np.sort(tree[:, 2]), atol=1e-12)
    assert sorted(order.tolist()) == list(range(24))
    assert cophenet(tree).max() == pytest.approx(joins[:, 4].max())


def test_a_map_shows_selected_groups_first_and_says_what_it_leaves_out():
    rng = np.random.default_rng(0)
    table = np.repeat(rng.standard_normal((80, 50)), 4, axis=1) + 0.3 * rng.standard_normal(
        (80, 200)
    )
    found = fitted(LassoSelection(0.2), table, table[:, 199], groups=np.arange(200) // 4)
    shown = found.group_map()
    assert "49" in shown.group_names
    assert shown.left_out == 50 - len(shown.group_names) > 0
    assert shown.selected[shown.group_names.index("49")]
    assert shown.correlations.shape == (len(shown.names),) * 2
    inside = shown.groups[:, None] == shown.groups
    assert shown.correlations[inside].mean() > 0.8 > shown.correlations[~inside].max()
    assert len(shown.plot().axes[1].patches) == len(shown.group_names)


def test_figures_speak_of_groups():
    for selector in (SELECTORS[2], SELECTORS[5], SELECTORS[6]):
        found = fitted(selector, groups=LABELS)
        assert len(found.plot("groups").axes[1].patches) == 8
        with pytest.raises(ArgumentError, match="groups were not given"):
            fitted(selector).plot("groups")
    assert fitted(SELECTORS[5], groups=LABELS).plot().axes[0].get_xlabel().startswith("groups by")
    shown = fitted(SELECTORS[2], groups=LABELS).plot("histogram")
    assert shown.axes[0].get_ylabel() == "groups"


def test_a_diagnosis_knows_no_groups():
    with pytest.raises(DoesNotApply, match="groups"):
        planning.diagnose(fitted(SELECTORS[2], groups=LABELS), X, Y)


# --- levels ---------------------------------------------------------------------------------------


def chain(seed, matter, rows=200, groups=12, size=5, correlation=0.9):
    """Return columns of a chain in groups, a response, which groups matter, and the covariance."""
    rng = np.random.default_rng([seed, 7])
    p = groups * size
    covariance = correlation ** np.abs(np.subtract.outer(np.arange(p), np.arange(p)))
    table = rng.standard_normal((rows, p)) @ np.linalg.cholesky(covariance).T
    coef = np.zeros(p)
    chosen = rng.choice(groups, matter, replace=False)
    coef[chosen * size + rng.integers(0, size, matter)] = 0.5 * rng.choice([-1.0, 1.0], matter)
    truth = np.isin(np.arange(groups), chosen)
    return table, table @ coef + rng.standard_normal(rows), truth, covariance


@pytest.mark.slow
@pytest.mark.parametrize("matter", [0, 4])
@pytest.mark.parametrize("copies", [1, 5])
def test_the_rate_of_false_groups_is_kept(matter, copies):
    shares, proven = [], []
    for seed in range(100):
        table, y, truth, covariance = chain(seed, matter)
        sampler = GaussianKnockoffs(0.0, covariance)
        found = fitted(KnockoffSelection(0.25, sampler=sampler, joint_copies=copies, lam=0.05),
                       table, y, groups=np.arange(60) // 5)  # fmt: skip
        chosen = found.group_support_
        shares.append((chosen & ~truth).sum() / max(chosen.sum(), 1))
        proven.append(found.guarantee_.proven)
    assert np.mean(proven) >= 0.95  # the check of exact copies fails in one of a hundred
    assert np.mean(shares) <= 0.25 + 3.0 * np.std(shares) / 10.0


@pytest.mark.slow
@pytest.mark.parametrize("matter", [0, 4])
def test_the_bound_on_false_groups_is_kept(matter):
    false, bounds = [], []
    for seed in range(60):
        table, y, truth, _ = chain(seed, matter)
        found = fitted(StabilitySelection(pfer=1.0, n_resamples=60), table, y,
                       groups=np.arange(60) // 5)  # fmt: skip
        false.append((found.group_support_ & ~truth).sum())
        bounds.append(found.guarantee_.level)
    assert np.mean(false) <= max(bounds) + 3.0 * np.std(false) / np.sqrt(60)


def test_names_of_groups_differ_whatever_the_labels_are():
    data = make_data(X[:, :4], Y, "squared")
    found = read_groups([1, "1", "1 (2)", "1 (3)"], list("abcd"), data)
    assert found.names == ("1", "1 (4)", "1 (2)", "1 (3)")


def test_sentences_on_groups_name_the_argument():
    with pytest.raises(ArgumentError, match=r"^groups: nofile.csv: No such file"):
        KnockoffSelection(groups="nofile.csv:pathway").fit(X, Y)
    pairs = [j // 2 for j in range(X.shape[1])]
    with pytest.raises(ArgumentError, match=r"^sampler: .*method must be one of.*got 'sdp'"):
        KnockoffSelection(sampler="gaussian:sdp", groups=pairs).fit(X, Y)


@pytest.mark.parametrize("settings", [{"groups": [j // 2 for j in range(24)]}, {"joint_copies": 2}])
def test_two_rows_are_too_few(settings):
    with pytest.raises(RefusedError, match=r"X must have at least 3 rows .*; got 2"):
        KnockoffSelection(sampler="gaussian", **settings).fit(X[:2], Y[:2])
