"""Classes of any prevalence, counts and times: other people's numbers, the long form, limits."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit

from selica import theory
from selica._core.counts import count_law
from selica._core.errors import ArgumentError, DoesNotApply
from selica.theory.glm.batch import solve_members, split
from selica.theory.glm.counted import count_information
from selica.theory.glm.fast import _bodies, _Group, solve_columns
from selica.theory.glm.information import information
from selica.theory.glm.tables import FINE
from selica.theory.response import RowSetting
from tests.oracles import responses as oracle

MODEL = theory.Model(alpha=2.0, rho=0.2, Delta=0.0)
COUNTS = theory.Poisson(T=0.5)
TIMES = theory.Cox(T=1.0, censoring=1.5)
RARE = theory.Logistic.of_prevalence(T=2.0, prevalence=0.1)
CASES = theory.Logistic.of_prevalence(T=2.0, prevalence=0.02, cases=0.5)
ALL = {"counts": COUNTS, "times": TIMES, "rare": RARE, "cases": CASES}
NAMES = ("q", "m", "chi", "v", "Q_hat", "m_hat", "chi_hat", "v_hat")


def solve(how, lam, response, model=MODEL, resampling="poisson", mu_B=1.0):
    if how == "lasso":
        return theory.solve_lasso(model, lam, response=response)
    if how == "knockoff":
        return theory.solve_knockoff(model, lam, response=response)
    return theory.solve_stability(model, lam, mu_B, resampling, response=response)


def _members(response, lam, model=MODEL):
    """The rows of a single fit, and logarithms of its fields with offsets."""
    point = model.parameters | response.settings | {"lam": lam, "lam2": 0.0}
    points = {name: np.array([value], dtype=float) for name, value in point.items()}
    T = float(points["T"][0])
    bodies = _bodies(model, points, T, 0)
    group = _Group(points, response.row(T, float(points["place"][0])), None, FINE, bodies)
    rows = group.rows(np.array([0]), int(group.nodes(np.array([4.0]))[0]))
    found = solve_members(rows, bodies)
    assert found.found.all()
    return rows, found.state


# --- numbers of another program --------------------------------------------------------------

COUNTED = {
    1.5: (0.3210841, 0.3231994, 0.1801025, 0.0690356, 1.9652597, 1.9379374, 1.9163357, 0.3539482),
    0.6: (0.6115560, 0.4101793, 0.4418518, -0.0502528, 1.4358852, 1.4477595, 1.2375970, 0.6344485),
}
"""lam: q, m, chi, intercept, Q_hat, m_hat, chi_hat, P(active)."""
TIMED = {
    1.0: (0.7521, 0.7056, 0.38858, 1.0340, 1.0485, 1.0463, 0.40177),
    0.4: (2.234, 1.092, 1.0015, 0.7182, 0.9119, 0.9668, 0.7193),
}
"""lam: q, m, chi, Q_hat, m_hat, chi_hat, P(active)."""
HAZARDS = {1.0: (0.1106, 0.5644, 1.1466, 1.7306), 0.4: (0.0727, 0.503, 1.230, 2.100)}
"""lam: effective cumulative hazard at 0.1, 0.5, 1, 1.49."""


@pytest.mark.parametrize("lam", COUNTED)
def test_independent_numbers_of_counts(lam):
    s = solve("lasso", lam, COUNTS)
    got = (s.q, s.m, s.chi, s.intercept, s.Q_hat, s.m_hat, s.chi_hat, s.chi * s.Q_hat)
    assert got == pytest.approx(COUNTED[lam], abs=1.5e-7)
    assert s.v == s.v_hat == 0.0


@pytest.mark.parametrize("lam", TIMED)
def test_independent_numbers_of_times(lam):
    s = solve("lasso", lam, TIMES)
    got = (s.q, s.m, s.chi, s.Q_hat, s.m_hat, s.chi_hat, s.chi * s.Q_hat)
    # these were a sum over 2^17 points, good to 3e-4
    assert got == pytest.approx(TIMED[lam], rel=4e-4, abs=5e-5)


@pytest.mark.parametrize("lam", HAZARDS)
def test_independent_hazards(lam):
    rows, state = _members(TIMES, lam)
    time = rows.table.clock.time
    hazard = np.exp(split(state)[3][0])
    at = np.array([0.1, 0.5, 1.0, 1.49])
    found = at * np.exp(np.interp(np.log(at), np.log(time), np.log(hazard / time)))
    assert found == pytest.approx(HAZARDS[lam], rel=2e-3)
    s = solve("lasso", lam, TIMES)
    assert np.exp(s.intercept) == pytest.approx(hazard[-1], rel=1e-9)


def test_means_of_another_simulation():
    # N = 200, 24 data sets: mean and standard error
    expected = {
        ("lasso", "counts", 1.5): {"q": (0.310, 0.011), "m": (0.313, 0.010), "P": (0.353, 0.006),
                                   "a": (0.083, 0.008)},
        ("stability", "counts", 1.5): {"q": (0.253, 0.010), "v": (0.1134, 0.0040),
                                       "m": (0.283, 0.009), "P": (0.357, 0.004),
                                       "a": (0.032, 0.009)},
        ("lasso", "times", 1.0): {"q": (0.737, 0.021), "m": (0.692, 0.012), "P": (0.400, 0.004)},
        ("stability", "times", 1.0): {"q": (0.905, 0.036), "v": (0.465, 0.015),
                                      "m": (0.757, 0.018), "P": (0.448, 0.004)},
    }  # fmt: skip
    for (how, kind, lam), means in expected.items():
        s = solve(how, lam, ALL[kind])
        here = {"q": s.q, "m": s.m, "v": s.v, "P": s.chi * s.Q_hat, "a": s.intercept}
        for name, (mean, se) in means.items():
            assert abs(here[name] - mean) <= 3.0 * se, (how, kind, name)


# --- averages by their definitions -----------------------------------------------------------

WEIGHTED = [
    ("lasso", "", None),
    ("stability", "bernoulli", 0.6),
    pytest.param("stability", "poisson", 1.0, marks=pytest.mark.slow),
    ("knockoff", "", None),
]


@pytest.mark.parametrize(("how", "resampling", "mu_B"), WEIGHTED)
@pytest.mark.parametrize("kind", ["rare", "cases", "counts"])
def test_fields_from_the_definitions(kind, how, resampling, mu_B):
    response = theory.Poisson(0.3, -0.3) if kind == "counts" else ALL[kind]
    lam = {"rare": 0.25, "cases": 0.6, "counts": 0.7}[kind]
    s = solve(how, lam, response, theory.Model(3.0, 0.2, 0.0), resampling, mu_B)
    assert s.status == "converged"
    weights, chances = np.ones(1), np.ones(1)
    if resampling:
        law = count_law(resampling, np.array([mu_B]))
        often = law.probability[0] > (1e-13 if kind != "counts" else 1e-9)
        weights, chances = law.weight[0][often], law.probability[0][often]
    settings = {"T": response.T, "place": response.intercept, "s": s, "most": 45}
    cases = getattr(response, "cases", None)
    long = oracle.fields(
        response.kind, 3.0, weights=weights, chances=chances, cases=cases, **settings
    )
    close = 1e-6 if kind == "counts" else 1e-9
    for name in ("Q_hat", "m_hat", "chi_hat", "v_hat"):
        assert getattr(s, name) == pytest.approx(getattr(long, name), rel=close, abs=1e-9), name
    assert long.balance == pytest.approx(0.0, abs=close)


@pytest.mark.parametrize(
    ("how", "resampling"), [("lasso", ""), ("stability", "bernoulli"), ("knockoff", "")]
)
def test_times_from_a_population(how, resampling):
    s = solve(how, 0.8, TIMES, resampling=resampling, mu_B=0.6)
    chance = 0.6 if resampling else 1.0
    long, (time, hazard) = oracle.time_fields(2.0, 1.0, 1.5, s, chance=chance, exponent=14)
    for name in ("Q_hat", "m_hat", "chi_hat"):
        assert getattr(s, name) == pytest.approx(getattr(long, name), rel=2e-3), name
    assert s.v_hat == pytest.approx(long.v_hat, rel=1e-2, abs=1e-4)
    assert long.balance == pytest.approx(0.0, abs=1e-9)  # for every hazard that solves
    assert s.intercept == pytest.approx(np.log(hazard[-1]), abs=2e-3)
    assert time[-1] == 1.5


@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize("how", ["lasso", "stability", "knockoff"])
def test_overlaps_from_the_fields(kind, how):
    # E[.] over fields m_hat w0 + noise of a variable, drawn
    s = solve(how, 0.8, ALL[kind])
    rng, n = np.random.default_rng(1), 400_000
    w0 = rng.standard_normal(n) * (rng.random(n) < 0.2) * np.sqrt(ALL[kind].T / 0.2)
    shared = s.m_hat * w0 + np.sqrt(s.chi_hat) * rng.standard_normal(n)
    one, two = (
        np.sign(h) * np.maximum(np.abs(h) - 0.8, 0.0) / s.Q_hat
        for h in shared + np.sqrt(s.v_hat) * rng.standard_normal((2, n))
    )
    for name, drawn in {
        "q": one * two, "m": w0 * one, "v": 0.5 * (one - two) ** 2,
        "chi": (one != 0.0) / s.Q_hat,
    }.items():  # fmt: skip
        close = 4.5 * drawn.std() / np.sqrt(n) + 1e-12
        assert getattr(s, name) == pytest.approx(drawn.mean(), abs=close), name
    if how == "knockoff":
        h = np.sqrt(s.chi_hat + s.v_hat) * rng.standard_normal(n)
        copy = np.maximum(np.abs(h) - 0.8, 0.0) / s.Q_hat
        assert s.v_tilde == pytest.approx(np.mean(copy**2), rel=0.03)
        assert s.chi_tilde == pytest.approx(np.mean(copy > 0.0) / s.Q_hat, rel=0.02)
        assert s.v_tilde_hat == pytest.approx(s.chi_hat + s.v_hat)
        drawn = np.mean(np.abs(one) + copy)
    else:
        drawn = np.mean(np.abs(one))
    assert s.mean_absolute == pytest.approx(drawn, rel=0.02)


# --- identities ------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize("how", ["lasso", "stability", "knockoff"])
def test_slope_of_the_cost(kind, how):
    h = 1e-4
    low, here, high = (solve(how, 0.7 + k * h, ALL[kind]) for k in (-1, 0, 1))
    assert (high.cost - low.cost) / (2 * h) == pytest.approx(here.mean_absolute, rel=1e-6)


@pytest.mark.parametrize("kind", ALL)
def test_price_of_two_members(kind):
    # d chi_hat / d V = -alpha E[G1' G2']
    rows, state = _members(ALL[kind], 0.7)
    s = solve("lasso", 0.7, ALL[kind])
    m, variance, chi = (np.array([x]) for x in (s.m, s.q, s.chi))
    there = rows.member(m, variance, chi, split(state)[3])
    h, V = 1e-4, 0.2 * s.q
    up, down = (rows.pair(m, variance, np.array([V + k * h]), there.mean)[0] for k in (1, -1))
    slope = rows.pair(m, variance, np.array([V]), there.mean)[1]
    assert (down - up) / (2 * h) == pytest.approx(slope, rel=1e-5)
    # with nothing of their own two members are one
    assert rows.pair(m, variance, np.zeros(1), there.mean)[0] == pytest.approx(there.total)
    assert 0.0 < slope[0] < s.Q_hat / s.chi


def test_resampling_becomes_one_fit():
    for response in ALL.values():
        one = solve("lasso", 0.7, response)
        full = solve("stability", 0.7, response, resampling="bernoulli", mu_B=1.0)
        many = solve("stability", 0.7e5, response, mu_B=1e5)
        for name in ("q", "m"):
            assert getattr(full, name) == pytest.approx(getattr(one, name), rel=1e-9)
            assert getattr(many, name) == pytest.approx(getattr(one, name), rel=1e-4)
        assert full.v == pytest.approx(0.0, abs=1e-9)


# --- limits ----------------------------------------------------------------------------------


@pytest.mark.parametrize("T", [0.25, 4.0, 30.0])
@pytest.mark.parametrize("resampling", [None, "poisson"])
def test_equal_classes_are_the_former_solver(T, resampling):
    model, response = theory.Model(4.0, 0.2, 0.0), theory.Logistic(T)
    how = "lasso" if resampling is None else "stability"
    known = solve(how, 1.0, response, model)
    points = model.parameters | response.settings | {"lam": 1.0, "lam2": 0.0, "mu_B": 1.0}
    points = {name: np.asarray(value, dtype=float) for name, value in points.items()}
    found = solve_columns(model, points, response, resampling, 0, FINE)
    close = 1e-9 if T < 10 else 1e-6
    for name in (*NAMES, "loss", "absolute"):
        assert found[name] == pytest.approx(getattr(known, name), rel=close, abs=1e-12), name
    assert found["intercept"] == pytest.approx(0.0, abs=1e-9)


def test_classes_change_names():
    # controls of one are cases of the other
    for prevalence, cases in ((0.1, None), (0.1, 0.3)):
        other = None if cases is None else 1.0 - cases
        one = theory.Logistic.of_prevalence(2.0, prevalence, cases=cases)
        two = theory.Logistic.of_prevalence(2.0, 1.0 - prevalence, cases=other)
        for how in ("lasso", "stability", "knockoff"):
            a, b = solve(how, 0.4, one), solve(how, 0.4, two)
            for name in NAMES:
                assert getattr(a, name) == pytest.approx(getattr(b, name), rel=1e-8), name
            assert a.intercept == pytest.approx(-b.intercept, rel=1e-8)


def test_cases_as_in_the_population_are_no_sampling():
    share = solve("stability", 0.3, theory.Logistic.of_prevalence(2.0, 0.1, cases=0.1))
    plain = solve("stability", 0.3, RARE)
    for name in NAMES:
        assert getattr(share, name) == pytest.approx(getattr(plain, name), rel=1e-9), name


WEAK = {
    # response, what a row tells: its variance of y, mean or chance of an event
    "counts": (theory.Poisson(1e-4, np.log(3.0)), 3.0),
    "rare counts": (theory.Poisson(1e-4, np.log(0.1)), 0.1),
    "rare": (theory.Logistic.of_prevalence(1e-4, 0.1), 0.09),
    "cases": (theory.Logistic.of_prevalence(1e-4, 0.01, cases=0.3), 0.21),
    "times": (theory.Cox(1e-4), 1.0),
    "few events": (theory.Cox.of_events(1e-4, 0.3), 0.3),
}


@pytest.mark.parametrize("kind", WEAK)
def test_weak_signals_are_a_linear_response(kind):
    response, told = WEAK[kind]
    rho, alpha = 0.3, 1e5 / told
    size = np.sqrt(response.T / rho)
    model = theory.Model(alpha, rho, 0.0)
    linear = theory.Model(alpha, rho, 1.0 / (told * size**2))  # rho / (T told)
    lam = 0.6 * alpha * told * size
    for how in ("lasso", "stability", "knockoff"):
        s = solve(how, lam, response, model)
        same = {
            "lasso": theory.solve_lasso,
            "stability": theory.solve_stability,
            "knockoff": theory.solve_knockoff,
        }[how](linear, lam / (told * size))
        names = ("q", "m", "v") + (("v_tilde",) if how == "knockoff" else ())
        for name in names:
            expected = getattr(same, name) * size**2
            assert getattr(s, name) == pytest.approx(expected, rel=2e-3, abs=1e-12), (how, name)
        assert s.Q_hat == pytest.approx(alpha * told, rel=1e-3)
    best = theory.solve_bayes(model, response=response)
    assert best.m_hat == pytest.approx(theory.solve_bayes(linear).m_hat, rel=1e-3)
    for fdr in (0.1, 0.3):
        masked = [
            theory.masked_ceiling(model, fdr, response=response),
            theory.masked_ceiling(linear, fdr),
        ]
        assert masked[0].power == pytest.approx(masked[1].power, rel=1e-3)


def test_large_penalties_leave_the_null_fit():
    for kind, null in (
        ("counts", 0.25),  # log E[y] = a0 + T/2
        ("rare", np.log(0.1 / 0.9)),
        ("cases", 0.0),
        ("times", np.log(-np.log(oracle_survivors(1.0, 1.5)))),
    ):
        s = solve("stability", 1e4, ALL[kind])
        assert (s.q, s.m, s.v) == (0.0, 0.0, 0.0)
        assert s.intercept == pytest.approx(null, rel=1e-9, abs=1e-12), kind


def oracle_survivors(T, end):
    x = np.linspace(-9.0, 9.0, 2001)
    weight = np.exp(-0.5 * x**2)
    return (np.exp(-end * np.exp(np.sqrt(T) * x)) * weight).sum() / weight.sum()


def test_no_signal():
    for response in (
        theory.Poisson(0.0), theory.Cox(0.0), theory.Logistic.of_prevalence(0.0, 0.2),
    ):  # fmt: skip
        s = solve("stability", 1.0, response)
        assert s.m == 0.0
        assert s.status == "converged"
        rates = s.rates(0.5)
        assert rates.tpr == pytest.approx(rates.fpr)
        assert theory.power(MODEL, "bayes", 0.1, response=response) == 0.0
        assert theory.masked_ceiling(MODEL, 0.1, response=response).power == 0.0


# --- statements of a response ----------------------------------------------------------------


@pytest.mark.parametrize("T", [0.0, 1.0, 25.0, 100.0])
def test_prevalence(T):
    x = np.linspace(-9.0, 9.0, 200_001)
    weight = np.exp(-0.5 * x**2)
    for share in (0.02, 0.3, 0.9):
        a = theory.Logistic.of_prevalence(T, share).intercept
        mean = (expit(a + np.sqrt(T) * x) * weight).sum() / weight.sum()
        assert mean == pytest.approx(share, abs=1e-12)


def test_rates_and_events():
    assert theory.Poisson.of_rate(0.5, 3.0).intercept == pytest.approx(np.log(3.0) - 0.25)
    for T in (0.0, 1.0, 4.0):
        for events in (0.05, 0.3, 0.95):
            end = theory.Cox.of_events(T, events).censoring
            assert 1.0 - oracle_survivors(T, end) == pytest.approx(events, rel=1e-8)
    assert np.isposinf(theory.Cox.of_events(1.0, 1.0).censoring)
    assert theory.Cox.of_events([1.0, 2.0], [[0.3], [0.5]]).censoring.shape == (2, 2)


def test_grids():
    response = theory.Poisson(np.array([0.2, 0.5]), np.array([[0.0], [1.0], [-1.0]]))
    s = theory.solve_stability(MODEL, 0.8, response=response)
    assert s.shape == (3, 2)
    assert s.q[0, 1] == pytest.approx(solve("stability", 0.8, COUNTS).q, rel=1e-9)
    assert {"T", "mu_B", "m_hat"} <= set(s.to_dict())
    best = theory.solve_bayes(MODEL, response=response)
    assert best.shape == (3, 2)
    assert best.m_hat[0, 1] == pytest.approx(theory.solve_bayes(MODEL, response=COUNTS).m_hat)


@pytest.mark.slow
def test_wide_fields_of_a_narrow_truth_are_found():
    # the grid that resolves the truth is too coarse for the fields
    s = solve("stability", 0.3, theory.Cox(0.0))
    assert s.status == "converged"
    assert s.q + s.v > 5.0


def test_a_truth_that_is_too_wide_is_not_called_solved():
    good = theory.solve_lasso(MODEL, 1.0, response=theory.Logistic.of_prevalence(50.0, 0.2))
    assert good.status == "converged"
    bad = theory.solve_lasso(MODEL, 1.0, response=theory.Logistic(400.0, intercept=-20.0))
    assert bad.status != "converged"


# --- ceilings --------------------------------------------------------------------------------


@pytest.mark.parametrize("share", [0.02, 0.3, 0.8])
def test_information_from_the_definitions(share):
    for T, place, cases in ((2.0, -3.0, None), (2.0, -3.0, 0.5), (0.5, 0.0, None)):
        told = information(RowSetting("logistic", T, place, cases), np.array([share * T]))
        expected = oracle.class_information(T, place, share * T, cases)
        assert told[0] == pytest.approx(expected, rel=1e-8)
    for T, end in ((1.0, 0.3), (0.5, 3.0)):
        told = information(RowSetting("cox", T, end, None), np.array([share * T]))
        assert told[0] == pytest.approx(oracle.time_information(T, end, share * T), rel=2e-5)


@pytest.mark.parametrize(
    ("T", "place", "share"), [(0.5, 0.0, 0.5), (1.0, -2.0, 0.9), (0.3, 2.5, 0.3), (1.0, 2.0, 0.5)]
)
def test_information_of_counts_from_the_definition(T, place, share):
    expected = oracle.count_information(T, place, share * T)
    assert count_information(T, place, share * T) == pytest.approx(expected, rel=2e-6)
    told = information(RowSetting("poisson", T, place, None), np.array([share * T]))
    assert told[0] == pytest.approx(expected, rel=1e-4)


def test_information_of_large_counts_is_that_of_their_logarithms():
    # y is as good as a measurement of z0 with the variance exp(-a0 - z0)
    for place in (12.0, 30.0):
        for V in (0.001, 0.1, 0.9):
            assert count_information(1.0, place, V) == pytest.approx(1.0 / V, rel=1e-2)
    assert count_information(4.0, 0.0, 0.0) == pytest.approx(np.exp(2.0))


def test_information_without_errors_is_that_of_fisher():
    for kind, fisher in (("rare", None), ("counts", np.exp(0.25)), ("times", None)):
        response = ALL[kind]
        settings = response.settings
        row = response.row(float(settings["T"]), float(settings["place"]))
        told = information(row, np.zeros(1))[0]
        x = np.linspace(-9.0, 9.0, 2001)
        weight = np.exp(-0.5 * x**2) / np.exp(-0.5 * x**2).sum()
        if kind == "rare":
            chance = expit(row.place + np.sqrt(row.T) * x)
            fisher = weight @ (chance * (1.0 - chance))
        if kind == "times":
            fisher = 1.0 - oracle_survivors(row.T, row.place)  # events, not patients
        assert told == pytest.approx(fisher, rel=1e-5), kind


@pytest.mark.parametrize("kind", ALL)
def test_nothing_is_above_the_ceiling(kind):
    model, response = theory.Model(4.0, 0.1, 0.0), ALL[kind]
    best = theory.power(model, "bayes", 0.1, response=response)
    masked = theory.masked_ceiling(model, 0.1, level="true", response=response)
    assert masked.power < best
    for lam in (0.5, 1.0, 1.7):
        for method in ("thresholded-lasso", "stability-ideal", "knockoffs-frequency"):
            found = theory.power(model, method, 0.1, lam, response=response)
            assert 0.0 < found < best, (method, lam)
        single = theory.operating_point(model, "knockoffs-ideal", 0.1, lam, response=response)
        assert single.solution.single_rates(single.threshold).tpr == pytest.approx(single.tpr)
        assert single.tpr < masked.power + 0.003  # the signed maximum may find a little more
        # discoveries at the level that the filter estimates
        filtered = theory.masked_ceiling(model, 0.1, response=response)
        assert _discoveries(single.solution, 0.1) <= filtered.discoveries + 1e-6


def _discoveries(s, level):
    """Share of variables beyond the first gap at which losers are few enough, on a grid."""
    rho = s.model.rho
    for gap in np.linspace(0.0, 4.0 * np.sqrt(s.T / rho), 200)[1:]:
        ahead = s.single_rates(gap)
        behind = s.single_rates(-gap)  # W > -gap
        found = rho * ahead.tpr + (1.0 - rho) * ahead.fpr
        losers = (1.0 - rho) * ahead.fpr + rho * (1.0 - behind.tpr)
        if losers <= level * found:
            return found
    return 0.0


def test_the_ceiling_is_stationary():
    # s = alpha I(V), V = mmse(s), in units of the effects
    for response in ALL.values():
        best = theory.solve_bayes(theory.Model(4.0, 0.1, 0.0), response=response)
        size = response.T / 0.1
        T, place = (float(response.settings[name]) for name in ("T", "place"))
        told = response.information(T, place, np.array([size * best.mse]))[0]
        assert best.m_hat == pytest.approx(4.0 * size * told, rel=1e-8)
        u = np.linspace(-60.0, 60.0, 60_001)
        s, rho = best.m_hat, 0.1
        null = (1 - rho) * np.exp(-0.5 * u**2)
        signal = rho * np.exp(-0.5 * u**2 / (1 + s)) / np.sqrt(1 + s)
        mean = signal / (null + signal) * u * s / (1 + s)
        power = np.sum((null + signal) * mean**2) / np.sum(null + signal)
        assert best.mse == pytest.approx(rho - power / s, rel=1e-6)


# --- bad input -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "start"),
    [
        (lambda: theory.Poisson(5.0), "T must be between 0 and 4"),
        (lambda: theory.Poisson(1.0, 40.0), "intercept must be between -30 and 30"),
        (lambda: theory.Poisson(1.0, np.nan), "intercept must"),
        (lambda: theory.Poisson.of_rate(1.0, 0.0), "rate must be between"),
        (lambda: theory.Cox(26.0), "T must be between 0 and 25"),
        (lambda: theory.Cox(1.0, 0.0), "censoring must be a positive time"),
        (lambda: theory.Cox(1.0, np.nan), "censoring must be a positive time"),
        (lambda: theory.Cox(1.0, "soon"), "censoring must be a positive time"),
        (lambda: theory.Cox.of_events(1.0, 0.0), "events must be between"),
        (lambda: theory.Cox.of_events(1.0, 1.5), "events must be between"),
        (lambda: theory.Logistic(1.0, intercept=-31.0), "intercept must be between"),
        (lambda: theory.Logistic(1.0, cases=1.0), "cases must be between 0 and 1"),
        (lambda: theory.Logistic(1.0, cases=-0.2), "cases must be between 0 and 1"),
        (lambda: theory.Logistic.of_prevalence(1.0, 0.0), "prevalence must be between"),
        (lambda: theory.Logistic.of_prevalence(1e4, 0.1), "prevalence 0.1 with T = 10000"),
        (lambda: theory.Cox([1.0, 2.0], [1.0, 2.0, 3.0]), "These shapes do not broadcast"),
        (lambda: theory.solve_lasso(MODEL, 1.0, response="counts"), "response must be"),
        (lambda: theory.solve_bayes(MODEL, response=3.0), "response must be"),
        (lambda: theory.solve_lasso(theory.Model(2.0, 0.2, 0.1), 1.0, response=COUNTS), "Delta"),
        (lambda: theory.solve_bayes(theory.Model(2.0, 0.2, 0.1), response=TIMES), "Delta"),
        (lambda: theory.solve_lasso(theory.Model(2.0, 0.0, 0.0), 1.0, response=COUNTS), "T must"),
        (lambda: theory.solve_bayes(theory.Model(2.0, 0.0, 0.0), response=COUNTS), "T must be 0"),
        (lambda: theory.masked_ceiling(MODEL, 0.1, response=theory.Cox([1.0])), "response must"),
        (lambda: theory.power(MODEL, "lasso", response=COUNTS), "method must be one of"),
    ],
)
def test_bad_input_is_named(call, start):
    with pytest.raises(ArgumentError, match=f"^{start}"):
        call()


def test_masked_pairs_need_signals():
    with pytest.raises(DoesNotApply, match="rho must be above 0"):
        theory.masked_ceiling(theory.Model(2.0, 0.0, 0.1), 0.1)
