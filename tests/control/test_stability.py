"""Bounds of stability selection: published numbers, exact programmes, laws that must obey them."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.stats import binom

from selica._core.errors import ArgumentError
from selica.control import stability_bound, stability_parameters, supported_bound
from selica.control.stability import ASSUMPTIONS, bound_obstacle, largest_usable_q
from selica.experiments.chance import reached_by_chance
from tests.oracles.outlier import reached_beside_an_outlier

UNIMODAL = [0.02631579, 0.1052632, 0.2368421, 0.4210526, 0.6578947]
UNIMODAL += [0.9473684, 1.289474, 1.684211, 2.131579, 2.631579]
CONCAVE = [0.006993405, 0.03344990, 0.08693320, 0.1637235, 0.2605334]
CONCAVE += [0.3820480, 0.5295205, 0.7042744, 0.9077141, 1.141339]


@pytest.mark.parametrize("q", range(1, 11))
def test_a_hundred_variables_at_cutoff_0_6(q):
    def bound(assumption):
        return stability_bound(100, q, 0.6, assumption=assumption)

    assert bound("none") == pytest.approx(0.05 * q**2)
    assert bound("unimodal") == pytest.approx(UNIMODAL[q - 1], rel=1e-6)
    assert bound("r-concave") == pytest.approx(CONCAVE[q - 1], rel=1e-6)


@pytest.mark.parametrize(
    ("p", "q", "cutoff", "bound", "digits"),
    [
        (100, 30, 0.6, 16.24975, 1e-6),
        (100, 10, 1.0, 0.005491, 1e-4),
        (200, 6, 0.6, 0.174, 2e-3),
        (200, 7, 0.6, 0.248, 2e-3),
        (200, 7, 0.61, 0.219, 3e-3),
        (200, 7, 0.62, 0.196, 2e-3),
        # theta = q / p: min D times p
        (50, 1, 0.3, 50 * 2.6953e-3, 2e-5),
        (50, 1, 0.6, 50 * 3.3450e-4, 2e-5),
        (50, 1, 0.9, 50 * 2.5613e-5, 2e-5),
        (10, 1, 0.5, 10 * 0.024846, 3e-5),
        (10, 1, 0.8, 10 * 0.0019241, 3e-5),
        # computed without the ends of the intervals: up to 1e-5 too small
        (100, 10, 0.37, 4.988848, 1e-5),
        (100, 10, 0.61, 1.005863, 1e-5),
        (100, 10, 0.62, 0.8971682, 1e-5),
    ],
)
def test_published_r_concave_bounds(p, q, cutoff, bound, digits):
    got = stability_bound(p, q, cutoff, assumption="r-concave")
    assert got == pytest.approx(bound, rel=digits)


@pytest.mark.parametrize(
    ("cutoff", "none", "unimodal", "concave"),
    [
        (0.55, 25, 13.8889, 3.8997),
        (0.6, 12.5, 6.5789, 2.6053),
        (0.7, 6.25, 3.2051, 0.96859),
        (0.75, 5, 2.5510, 0.64785),
        (0.8, 4.1667, 2.0588, 0.43513),
        (0.9, 3.125, 1.0784, 0.17050),
        (0.95, 2.7778, 0.5882, 0.08259),
        (1.0, 2.5, 0.0980, 0.01238),
        (0.4, None, None, 9.5951),
        (0.5, None, None, 5.2028),
    ],
)
def test_table_of_a_thousand_variables(cutoff, none, unimodal, concave):
    for assumption, want in zip(ASSUMPTIONS, (none, unimodal, concave), strict=True):
        if want is None:
            with pytest.raises(ArgumentError, match=r"cutoff must be above 1/2"):
                stability_bound(1000, 50, cutoff, assumption=assumption)
        else:
            got = stability_bound(1000, 50, cutoff, assumption=assumption)
            # as printed: five decimals below one under the last assumption, four otherwise
            digits = 5 if assumption == "r-concave" and want < 1 else 4
            assert got == pytest.approx(want, abs=0.6 * 10.0**-digits)


def largest_unimodal_tail(top, index, mean):
    """A linear programme for each mode: P(X >= index) over unimodal laws on 0, .., top."""
    best = 0.0
    for mode in range(top + 1):
        order = np.zeros((top, top + 1))
        for j in range(top):
            order[j, [j, j + 1]] = (1, -1) if j < mode else (-1, 1)
        answer = linprog(
            np.where(np.arange(top + 1) >= index, -1.0, 0.0),
            A_ub=np.vstack([order, np.arange(top + 1)]),
            b_ub=[*np.zeros(top), mean],
            A_eq=np.ones((1, top + 1)),
            b_eq=[1.0],
        )
        best = max(best, -answer.fun if answer.status == 0 else 0.0)
    return best


@pytest.mark.parametrize("n_pairs", [3, 8])
@pytest.mark.parametrize("q", [50, 200, 400, 577])
def test_the_unimodal_bound_is_the_largest_tail(n_pairs, q):
    applies = 0
    for fits in range(n_pairs + 1, 2 * n_pairs + 1):
        cutoff = fits / (2 * n_pairs)
        want = largest_unimodal_tail(n_pairs, fits - n_pairs, (q / 1000) ** 2 * n_pairs)
        try:
            got = stability_bound(1000, q, cutoff, n_pairs, "unimodal")
        except ArgumentError:
            assert cutoff <= 0.75
            continue
        applies += 1
        assert got / 1000 == pytest.approx(want, rel=1e-7)
    assert applies


def test_beyond_the_range_of_theta_the_unimodal_formula_would_be_wrong():
    # q / p = 0.75 at cutoff 1 with 10 pairs: the formula says 0.102, a law reaches 0.205
    formula = 0.75**2 * 4 * (1 / 20) / (1 + 1 / 10)
    assert largest_unimodal_tail(10, 10, 0.75**2 * 10) > 1.9 * formula
    with pytest.raises(ArgumentError, match=r"^q must be at most p / sqrt\(3\)"):
        stability_bound(100, 75, 1.0, 10, "unimodal")


@pytest.mark.parametrize("n_pairs", [1, 7, 50])
@pytest.mark.parametrize(("p", "q"), [(50, 1), (50, 5), (40, 14), (300, 60)])
@pytest.mark.parametrize("assumption", ASSUMPTIONS)
def test_fits_that_guess_obey_the_bound(n_pairs, p, q, assumption):
    # q variables at random in each half: a variable's count is binomial, a law of every class
    seen = 0
    for fits in range(1, 2 * n_pairs + 1):
        try:
            bound = stability_bound(p, q, fits / (2 * n_pairs), n_pairs, assumption)
        except ArgumentError:
            continue
        seen += 1
        assert p * binom.sf(fits - 1, 2 * n_pairs, q / p) <= bound * (1 + 1e-9)
    assert seen


@given(
    p=st.integers(2, 300),
    share=st.floats(0.001, 0.999),
    fits=st.integers(1, 40),
    n_pairs=st.integers(1, 20),
)
@settings(max_examples=100, deadline=None)
def test_stronger_assumptions_give_smaller_bounds(p, share, fits, n_pairs):
    args = p, share * p, min(fits / (2 * n_pairs), 1.0), n_pairs
    bounds = []
    for assumption in ASSUMPTIONS:
        try:
            bounds.append(stability_bound(*args, assumption))
        except ArgumentError:
            bounds.append(None)
    if bounds[0] is not None:
        assert bounds[2] is not None
    known = [b for b in bounds if b is not None]
    assert all(b > 0 for b in known)
    assert all(b <= a * (1 + 1e-9) for a, b in pairwise(known))
    if bounds[2] is not None:
        assert bounds[2] <= p * (1 + 1e-9)


@pytest.mark.parametrize("assumption", ASSUMPTIONS)
def test_the_bound_rises_with_q_and_falls_with_the_cutoff(assumption):
    cutoffs = np.arange(60, 101) / 100
    table = [[stability_bound(100, q, c, 50, assumption) for c in cutoffs] for q in (1, 4.5, 9, 20)]
    assert np.all(np.diff(table, axis=0) > 0)
    assert np.all(np.diff(table, axis=1) < 0)


def test_cutoffs_between_two_frequencies():
    # 2 * 50 fits: a frequency of at least 0.601 is one of at least 0.61
    at = [stability_bound(100, 5, c, assumption="r-concave") for c in (0.60, 0.601, 0.609, 0.61)]
    assert at[1] == at[2] == at[3] < at[0]
    # 0.55 * 100 is 55.00000000000001 in double precision, and still 55 fits
    at = [stability_bound(100, 5, c, assumption="r-concave") for c in (0.55, 0.551, 0.56)]
    assert at[0] > at[1] == at[2]
    # above one half the smallest frequency is 0.51: the factor of the unimodal bound is B = 50
    assert stability_bound(1000, 1, 0.501, assumption="unimodal") == pytest.approx(50 / 1000)
    assert stability_bound(1000, 1, 0.51, assumption="unimodal") == pytest.approx(50 / 1000)


@pytest.mark.parametrize(
    ("given_two", "assumption", "name", "value", "bound", "feasible"),
    [
        ({"p": 10, "q": 3, "pfer": 0.2}, "none", "cutoff", 1.0, 0.9, False),
        ({"p": 10, "q": 3, "pfer": 0.2}, "unimodal", "cutoff", 0.96, 0.1764706, True),
        ({"p": 200, "cutoff": 0.6, "pfer": 0.2}, "unimodal", "q", 3, 0.1184211, True),
        ({"p": 200, "cutoff": 0.6, "pfer": 0.2}, "r-concave", "q", 5, None, True),
        ({"p": 200, "q": 7, "pfer": 0.2}, "unimodal", "cutoff", 0.81, 0.1921569, True),
        ({"p": 200, "q": 7, "pfer": 0.2}, "r-concave", "cutoff", 0.65, None, True),
        ({"p": 100, "q": 4, "cutoff": 0.6}, "none", "pfer", 0.8, 0.8, True),
        # q^2 / ((2 * 0.6 - 1) * 100) is 0.2 at q = 2, but a little more in double precision
        ({"p": 100, "cutoff": 0.6, "pfer": 0.2}, "none", "q", 2, 0.2, True),
        ({"p": 100, "cutoff": 0.6, "pfer": 0.04}, "none", "q", 1, 0.05, False),
        # floor(sqrt(PFER (2 pi - 1) p)) = floor(sqrt(30))
        ({"p": 50, "cutoff": 0.8, "pfer": 1.0}, "none", "q", 5, 25 / 30, True),
        # (1 + q^2 / (PFER p)) / 2 = 0.625 exactly, up to the next hundredth
        ({"p": 50, "q": 5, "pfer": 2.0}, "none", "cutoff", 0.63, 0.5 / 0.26, True),
    ],
)
def test_solving_for_the_third(given_two, assumption, name, value, bound, feasible):
    found = stability_parameters(**given_two, assumption=assumption)
    for key, given_value in given_two.items():
        assert getattr(found, key) == given_value
    assert getattr(found, name) == pytest.approx(value)
    if bound is not None:
        assert found.bound == pytest.approx(bound, rel=1e-6)
    assert found.feasible is feasible
    assert found.bound == supported_bound(found.p, found.q, found.cutoff, 50, assumption)
    assert found.assumption == assumption
    assert isinstance(found.q, int)


@pytest.mark.parametrize(("p", "q"), [(20, 9), (100, 49), (200, 98)])
def test_largest_q_of_the_r_concave_bound(p, q):
    assert largest_usable_q(p, 50) == q
    assert stability_parameters(p, cutoff=1.0, pfer=1e6, assumption="r-concave").q == q
    assert np.ceil(200 * q / p) + 1 < 100 <= np.ceil(200 * (q + 1) / p) + 1


@given(
    p=st.integers(2, 60),
    n_pairs=st.integers(1, 12) | st.integers(21, 26),
    assumption=st.sampled_from(ASSUMPTIONS),
    pfer=st.floats(1e-3, 20.0),
    given_q=st.floats(0.01, 0.99),
    fits=st.integers(1, 24),
)
@settings(max_examples=60, deadline=None)
def test_the_third_is_the_best_of_all(p, n_pairs, assumption, pfer, given_q, fits):
    def allowed(q, cutoff):
        try:
            return supported_bound(p, q, cutoff, n_pairs, assumption) <= pfer * (1 + 1e-9)
        except ArgumentError:
            return False

    q, cutoff = given_q * p, min(fits / (2 * n_pairs), 1.0)
    fine = [c for c in np.arange(1, 2 * n_pairs + 1) / (2 * n_pairs) if allowed(q, c)]
    try:
        found = stability_parameters(p, q=q, pfer=pfer, n_pairs=n_pairs, assumption=assumption)
    except ArgumentError:
        assert assumption == "unimodal"
        assert not fine
    else:
        assert found.feasible == bool(fine)
        assert found.cutoff == (fine[0] if fine else 1.0)

    limit = largest_usable_q(p, n_pairs) if assumption == "r-concave" else p - 1
    fine = [k for k in range(1, limit + 1) if allowed(k, cutoff)]
    try:
        found = stability_parameters(
            p, cutoff=cutoff, pfer=pfer, n_pairs=n_pairs, assumption=assumption
        )
    except ArgumentError:
        assert not fine
    else:
        assert found.feasible == bool(fine)
        assert found.q == (fine[-1] if fine else 1)


def test_what_chance_reaches_is_what_drawn_fields_reach():
    rng = np.random.default_rng(0)
    z, w = rng.standard_normal((20_000, 1)), rng.standard_normal((20_000, 6))
    cut = np.sqrt(2.0) * 1.2815515655446004  # a field of a half is beyond it with chance 0.2
    times = np.count_nonzero(np.abs(z + w) > cut, 1) + np.count_nonzero(np.abs(z - w) > cut, 1)
    drawn = np.array([np.mean(times >= k) for k in range(13)])
    error = np.sqrt(drawn * (1.0 - drawn) / 20_000)
    assert np.all(np.abs(drawn - reached_by_chance(0.2, 6)) <= 4.0 * error + 1e-4)


def test_many_pairs_count_only_so_far():
    for cutoff, pairs in ((0.75, 20), (0.9, 1000)):
        bound = supported_bound(1000, 30, cutoff, 5000, "r-concave")
        assert bound == stability_bound(1000, 30, cutoff, pairs, "r-concave")
    reached = reached_by_chance(0.003, 1000)[1800]
    assert 1e6 * reached <= supported_bound(10**6, 3000, 0.9, 1000, "r-concave")


@pytest.mark.parametrize("n_pairs", [10, 20, 50, 128])
@pytest.mark.parametrize("assumption", ["unimodal", "r-concave"])
def test_normal_fields_without_any_signal_obey_the_supported_bound(n_pairs, assumption):
    for theta in np.geomspace(1e-4, 0.45, 10):
        reached = reached_by_chance(theta, n_pairs)
        assert reached[1:].sum() == pytest.approx(2 * n_pairs * theta, rel=1e-6)
        for fits in range(n_pairs + 1, 2 * n_pairs + 1, max(n_pairs // 25, 1)):
            cutoff = fits / (2 * n_pairs)
            try:
                bound = supported_bound(10**6, theta * 1e6, cutoff, n_pairs, assumption)
            except ArgumentError:
                assert assumption == "unimodal"
                continue
            assert 1e6 * reached[fits] <= bound, (theta, cutoff)


def test_normal_fields_without_any_signal_exceed_the_published_r_concave_bound():
    """Why `supported_bound` is needed: the assumption does not hold for them."""
    for theta, n_pairs, cutoff, times in [(0.0025, 50, 0.2, 5.0), (0.002, 128, 0.6, 3.4)]:
        reached = reached_by_chance(theta, n_pairs)[int(np.ceil(2 * n_pairs * cutoff))]
        bound = stability_bound(10**6, theta * 1e6, cutoff, n_pairs, "r-concave")
        assert 1e6 * reached > times * bound


def test_cutoffs_below_which_no_r_concave_promise_is_made():
    # 200 x 2000, q = 10: 2.06 (0.41) false selections were measured at the cutoff of before, 0.16
    found = stability_parameters(2000, q=10, pfer=1.0, n_pairs=128, assumption="r-concave")
    assert found.cutoff == 132 / 256
    assert found.bound == stability_bound(2000, 10, found.cutoff, 128, "unimodal") <= 1.0
    for cutoff in (0.08, 0.2, 0.5):
        with pytest.raises(ArgumentError, match=r"cutoff must be above 1/2 .*'r-concave'"):
            supported_bound(2000, 10, cutoff, 50, "r-concave")
        with pytest.raises(ArgumentError, match=r"cutoff must be above 1/2 .*'r-concave'"):
            stability_parameters(2000, cutoff=cutoff, pfer=1.0, assumption="r-concave")


@pytest.mark.parametrize("n_pairs", [20, 50, 128])
def test_an_outlier_that_decides_half_of_the_halves(n_pairs):
    """Frequencies pile up at one half: why the r-concave bound is not used below 0.6."""
    most = {"r-concave": 0.0, "unimodal": 0.0, "none": 0.0, "published": 0.0}
    for theta in np.geomspace(1e-4, 0.45, 10):
        reached = reached_beside_an_outlier(theta, n_pairs)
        for fits in range(n_pairs + 1, 2 * n_pairs + 1, max(n_pairs // 25, 1)):
            args = 10**6, theta * 1e6, fits / (2 * n_pairs), n_pairs
            for assumption in ASSUMPTIONS:
                try:
                    bound = supported_bound(*args, assumption)
                except ArgumentError:
                    continue
                most[assumption] = max(most[assumption], 1e6 * reached[fits] / bound)
            published = stability_bound(*args, "r-concave")
            most["published"] = max(most["published"], 1e6 * reached[fits] / published)
    assert most["none"] <= 1.0
    assert most["unimodal"] <= 1.06
    # from 0.6 on such an outlier can cost little more than the bound, where q / p is large
    assert most["r-concave"] <= 1.3
    assert most["published"] > 3.0


@given(
    share=st.floats(1e-4, 0.48),
    cutoff=st.floats(0.501, 1.0),
    n_pairs=st.integers(1, 300),
)
@settings(max_examples=60, deadline=None)
def test_the_supported_bound_is_implied_by_the_theorem(share, cutoff, n_pairs):
    args = 1000, 1000 * share, cutoff, n_pairs
    for assumption in ASSUMPTIONS:
        try:
            theorem = stability_bound(*args, assumption)
        except ArgumentError:
            continue
        supported = supported_bound(*args, assumption)
        assert supported >= theorem * (1 - 1e-9)
        if assumption != "r-concave" or cutoff >= (0.6 if n_pairs <= 20 else 0.9):
            assert supported == theorem


def test_results_print_and_become_tables():
    found = stability_parameters(100, q=4.5, cutoff=0.6)
    assert repr(found) == (
        "StabilityParameters(p=100, q=4.5, cutoff=0.6, pfer=1.0125, bound=1.0125, feasible=True, "
        "n_pairs=50, assumption=none)"
    )
    assert found.to_frame().shape == (1, 8)
    with pytest.raises(AttributeError):
        found.q = 3


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"p": 9, "q": 1, "cutoff": 0.5, "assumption": "unimodal"}, "cutoff must be above 1/2"),
        ({"p": 10, "q": 6, "cutoff": 0.6}, "cutoff must be above q / p = 0.6"),
        ({"p": 100, "q": 7, "cutoff": 0.07, "assumption": "r-concave"}, "cutoff .*q / p"),
        ({"p": 10, "q": 1, "cutoff": 0.5}, "cutoff must be above 1/2 .*none"),
        ({"p": 10, "q": 4, "cutoff": 0.62, "assumption": "unimodal"}, "cutoff must be above 0.63"),
        ({"p": 10, "q": 10, "cutoff": 1.0}, "q must be below p = 10"),
        ({"p": 10, "q": 5.8, "cutoff": 1.0, "assumption": "unimodal"}, "q must be at most p / sq"),
    ],
)
def test_where_the_bound_does_not_apply(kwargs, message):
    with pytest.raises(ArgumentError, match=message):
        stability_bound(**kwargs)


@pytest.mark.parametrize(
    "two",
    [{}, {"q": 1}, {"cutoff": 0.6}, {"q": 1, "cutoff": 0.6, "pfer": 1.0}],
)
def test_exactly_two_are_given(two):
    with pytest.raises(ArgumentError, match="exactly two"):
        stability_parameters(100, **two)


@pytest.mark.parametrize("assumption", ["none", "unimodal", "r-concave"])
@pytest.mark.parametrize("p", [1, 2, 50])
@pytest.mark.parametrize("n_pairs", [1, 50, 10_001])
def test_the_obstacle_is_known_before_the_bound_is_asked_for(assumption, p, n_pairs):
    for q in (0.0, 0.5, 10.0, 30.0, 50.0):
        for cutoff in (0.3, 0.5, 0.55, 0.75, 1.0):
            obstacle = bound_obstacle(p, q, cutoff, n_pairs, assumption)
            try:
                supported_bound(p, q, cutoff, n_pairs, assumption)
            except ArgumentError:
                assert obstacle.endswith(".")
            else:
                assert obstacle == ""


def test_ten_thousand_pairs_are_the_most():
    known = 5 * 5 / 100 / (2.0 * 0.9 - 1.0)
    for bound in (stability_bound, supported_bound):
        assert bound(100, 5, 0.9, 10_000) == pytest.approx(known, rel=1e-12)
        with pytest.raises(ArgumentError, match="n_pairs"):
            bound(100, 5, 0.9, 10_001)
    assert not bound_obstacle(100, 5, 0.9, 10_000, "none")
    assert "n_pairs" in bound_obstacle(100, 5, 0.9, 10_001, "none")
