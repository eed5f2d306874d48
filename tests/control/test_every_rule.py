"""Every rule beside brute force, on small inputs with ties, zeros and extreme levels."""

from __future__ import annotations

import importlib
import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from selica import control
from selica._core.errors import ArgumentError
from selica.control.fdp_bounds import joint_boundary
from tests.oracles import rules

ELSEWHERE = {
    "benjamini_hochberg": "test_pvalues.test_step_up_in_exact_arithmetic",
    "benjamini_yekutieli": "test_pvalues.test_step_up_in_exact_arithmetic",
    "ebh": "test_evalues.test_ebh_is_the_largest_self_consistent_set",
    "fdp": "test_proportions.test_sets",
    "frequency_bound": "test_frequencies.test_the_maximum_over_uniform_laws",
    "inclusion_rate_cutoff": "test_splitting.test_the_rates_left_out",
    "knockoff_evalues": "test_evalues.test_the_first_time_to_stop",
    "knockoff_pvalues": "test_knockoffs.test_pvalues_by_their_definition",
    "knockoff_threshold": "test_knockoffs.test_exhaustive_rule_in_exact_arithmetic",
    "mirror_threshold": "test_splitting.test_exhaustive_rule_in_exact_arithmetic",
    "posthoc_selection": "test_posthoc.test_the_selection_is_the_best_of_all_lists",
    "quantile_aggregation": "test_pvalues.test_the_best_quantile_of_a_fine_grid",
    "stability_parameters": "test_stability.test_the_third_is_the_best_of_all",
    "tpp": "test_proportions.test_sets",
}
"""Rules that another test compares with brute force, by their tests."""

levels = st.sampled_from([1e-6, 0.01, 0.05, 0.1, 0.2, 0.25, 0.29, 0.3, 0.5, 0.57, 0.9, 0.999])
statistics = st.lists(
    st.integers(-6, 6).map(float) | st.sampled_from([1e300, -1e300, 5e-324, -0.5]),
    min_size=1,
    max_size=14,
)
boundaries = st.builds(control.sign_boundary, levels, st.integers(0, 12)) | st.builds(
    joint_boundary, st.sampled_from([0.1, 0.3, 0.9]), st.integers(1, 9)
)
masks = st.lists(st.booleans(), min_size=14, max_size=14)
shares = st.integers(0, 20).map(lambda i: i / 20)
numbers = st.integers(0, 12).map(lambda i: i / 4)
efps = st.lists(numbers | st.sampled_from([0.0, 1e-300, 1e300]), min_size=1, max_size=9)
paths = st.builds(
    control.rank_integral, st.integers(2, 9), st.integers(1, 6), st.integers(1, 2),
    limit=st.sampled_from([1e-9, 0.2, 1.0, 50.0]),
)  # fmt: skip


@st.composite
def wins(draw):
    """Winners and leads, with copies and ties."""
    m = draw(st.integers(1, 4))
    rows = draw(st.lists(st.tuples(st.integers(0, m), numbers), min_size=1, max_size=10))
    winner, lead = zip(*rows, strict=True)
    return {"winner": list(winner), "lead": list(lead), "n_joint": m}


@st.composite
def penalties(draw):
    """Penalties that fall, with the numbers of variables that fits select."""
    lams = draw(st.lists(st.integers(1, 40), min_size=2, max_size=6, unique=True))
    q = [draw(st.integers(0, 32)) / 4 for _ in lams]
    return {"lams": sorted((float(x) / 4 for x in lams), reverse=True), "q": q}


def together(**arguments):
    return st.fixed_dictionaries(arguments)


def joined(first, **more):
    return st.tuples(first, together(**more)).map(lambda two: two[0] | two[1])


bounds = together(
    p=st.integers(2, 60),
    q=st.sampled_from([0.01, 0.5, 1, 1.5, 3, 7, 20, 34]),
    cutoff=st.sampled_from([0.03, 0.3, 0.5, 0.51, 0.55, 0.6, 0.63, 0.75, 0.8, 0.9, 0.95, 1.0]),
    n_pairs=st.integers(1, 6) | st.sampled_from([20, 21, 30]),
    assumption=st.sampled_from(["none", "unimodal", "r-concave"]),
)
tables = st.integers(1, 5).flatmap(
    lambda p: st.lists(st.lists(numbers, min_size=p, max_size=p), min_size=2, max_size=5)
)
members = st.tuples(st.integers(1, 4), st.integers(1, 6)).flatmap(
    lambda sizes: st.lists(
        st.lists(st.integers(0, 1), min_size=sizes[1], max_size=sizes[1]),
        min_size=2 * sizes[0], max_size=2 * sizes[0],
    )
)  # fmt: skip
ARGUMENTS = {
    "averaged_level": together(fdr=levels, copy_fdr=levels, n_copies=st.integers(1, 60)),
    "chance_efp": together(
        scores=efps,
        drawn=st.lists(numbers, min_size=4, max_size=4),
        weight=st.lists(shares, min_size=4, max_size=4),
        p=st.integers(2, 9),
    ),
    "efp_qvalues": together(efp=efps),
    "false_bound": together(W=statistics, chosen=masks, boundary=boundaries),
    "first_negatives_filter": together(W=statistics, v=st.integers(0, 6)),
    "integrated_efp": together(scores=efps, path=paths),
    "integrated_scores": together(
        counts=st.lists(
            st.lists(st.integers(0, 2), min_size=3, max_size=3), min_size=9, max_size=9
        ),
        path=paths,
    ),
    "joint_qvalues": wins(),
    "joint_selection": joined(wins(), fdr=levels),
    "joint_threshold": joined(wins(), fdr=levels),
    "joint_wins": together(importances=tables),
    "kfwer_parameters": together(k=st.integers(1, 8), level=levels.filter(lambda x: x < 0.99)),
    "members_needed": together(
        distances=st.lists(
            st.sampled_from([0.0, 0.1, 0.5, 0.64, 1.0, 1.9, 2.0, 2.1, math.inf]),
            min_size=1,
            max_size=6,
        ),
        members=st.integers(1, 60),
        half_width=st.sampled_from([0.0, 0.02, 0.025, 0.026, 0.05, 0.08, 9.0, math.nan]),
    ),
    "penalty_integral": joined(
        penalties(),
        p=st.integers(8, 12),
        n_pairs=st.integers(1, 6),
        order=st.integers(1, 2),
        exponent=st.sampled_from([0.0, 0.5, 1.0, 2.0]),
        limit=st.sampled_from([0.01, 0.3, 2.0]),
    ),
    "posthoc_evalues": together(W=statistics, fdr=levels, joint_copies=st.integers(1, 4)),
    "posthoc_level": together(evalues=efps, chosen=masks),
    "prefix_bounds": together(W=statistics, boundary=boundaries),
    "rank_integral": together(
        p=st.integers(2, 12),
        n_pairs=st.integers(1, 6),
        order=st.integers(1, 2),
        limit=st.sampled_from([1e-9, 0.05, 0.3, 2.0]),
        longest=st.integers(1, 15),
    ),
    "share_distances": together(
        shares=st.lists(shares, min_size=1, max_size=6),
        threshold=shares,
        members=st.integers(1, 99),
    ),
    "sign_boundary": together(level=levels, nonzero=st.integers(0, 6)),
    "stability_bound": bounds,
    "stability_index": together(selections=members, pairs=st.booleans()),
    "supported_bound": bounds,
}
"""Small inputs of the rules that are compared here."""


def fitted(name, arguments):
    """Arguments that belong together: lists of one length, a q that is below p."""
    if name == "posthoc_level":
        arguments["chosen"] = arguments["chosen"][: len(arguments["evalues"])]
        assume(any(arguments["chosen"]))
        assume(1e-300 not in arguments["evalues"])  # whose level is beyond what a double holds
    if name == "false_bound":
        arguments["chosen"] = arguments["chosen"][: len(arguments["W"])]
    if name == "integrated_scores":
        arguments["counts"] = [
            [x * arguments["path"].n_pairs for x in row] for row in arguments["counts"]
        ]
    if name in ("stability_bound", "supported_bound"):
        assume(arguments["q"] < arguments["p"])
    return arguments


def plain(answer):
    """An answer as numbers that can be compared."""
    if isinstance(answer, control.Wins):
        return answer.winner, answer.lead
    if isinstance(answer, control.KFwerParameters):
        return answer.v, answer.probability
    if isinstance(answer, control.SignBoundary):
        return dict(zip(answer.negatives, answer.allowed, strict=True)), answer.missed
    if isinstance(answer, control.PrefixBounds):
        return answer.t, answer.size, answer.false
    if isinstance(answer, control.PathIntegral):
        return answer.weights, answer.integral
    if isinstance(answer, control.StabilityIndex):
        defined = not answer.why_undefined
        return (answer.index, answer.variance, answer.units) if defined else None
    if isinstance(answer, control.MembersNeeded):
        return answer.to_dict()
    return answer


def same(got, want):
    if want is None or isinstance(want, dict):
        assert got == want
    elif isinstance(want, tuple):
        assert len(got) == len(want)
        for one, other in zip(got, want, strict=True):
            same(one, other)
    else:
        rtol = 1e-6 if isinstance(want, float) else 1e-9
        np.testing.assert_allclose(got, want, rtol=rtol, atol=1e-12)


@pytest.mark.parametrize("name", ARGUMENTS)
@given(data=st.data())
@settings(max_examples=40, deadline=None)
def test_a_rule_is_what_its_definition_says(name, data):
    arguments = fitted(name, data.draw(ARGUMENTS[name]))
    want = getattr(rules, name)(**arguments)
    try:
        got = plain(getattr(control, name)(**arguments))
    except ArgumentError:
        assert name.endswith("_bound")  # where no theorem applies
        got = None
    same(got, want)


def test_every_rule_is_compared():
    public = {name for name in control.__all__ if name[0].islower()}
    assert {*ARGUMENTS, *ELSEWHERE} == public
    assert not {*ARGUMENTS} & {*ELSEWHERE}
    for name, place in ELSEWHERE.items():
        module, test = place.split(".")
        function = getattr(importlib.import_module(f"tests.control.{module}"), test)
        assert hasattr(function, "hypothesis"), f"{place}, of {name}, draws no examples"


def test_the_joint_boundary_misses_as_often_as_a_walk_counted_toss_by_toss():
    for level, most in ((0.3, 2), (0.9, 5)):
        found = joint_boundary(level, most)
        allowed = dict(zip(found.negatives.tolist(), found.allowed.tolist(), strict=True))
        # a walk crosses no more once it has all the tails that are looked at
        assert found.missed == pytest.approx(float(rules.crossing(allowed, 50)), abs=1e-9)
        assert found.missed > float(rules.crossing(allowed, 2))
