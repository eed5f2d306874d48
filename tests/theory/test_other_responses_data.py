"""Classes of any prevalence, counts and times: what fits of drawn data do, against the theory."""

from __future__ import annotations

import numpy as np
import pytest

from selica import theory
from tests.oracles import responses as oracle

SETTINGS = {
    # response, alpha, rho, lam
    "prevalence 0.1": (theory.Logistic.of_prevalence(2.0, 0.1), 4.0, 0.1, 0.35),
    "half cases": (theory.Logistic.of_prevalence(2.0, 0.02, cases=0.5), 3.0, 0.2, 0.6),
    "counts": (theory.Poisson(0.5, 0.5), 2.0, 0.2, 1.5),
    "30 % events": (theory.Cox.of_events(1.0, 0.3), 4.0, 0.1, 0.8),
}
HOW = ("lasso", "stability", "knockoff")
_GAP = 0.5
"""Of coefficients, for the rates of one copy; the same as in the oracle."""


def compare(name, how, size, sets, members, seed=3):
    """(name, theory, mean of simulations, standard error) for one setting."""
    response, alpha, rho, lam = SETTINGS[name]
    model = theory.Model(alpha, rho, 0.0)
    solve = {
        "lasso": theory.solve_lasso,
        "stability": theory.solve_stability,
        "knockoff": theory.solve_knockoff,
    }[how]
    s = solve(model, lam, response=response)
    assert s.status == "converged"
    expected = {"q": s.q, "m": s.m, "v": s.v, "active": s.chi * s.Q_hat, "intercept": s.intercept}
    if how == "knockoff":
        rates = s.single_rates(_GAP)
        expected |= {"v_tilde": s.v_tilde, "tpr": rates.tpr, "fpr": rates.fpr}
    T, place = (float(response.settings[part]) for part in ("T", "place"))
    runs = [
        oracle.one_data_set(
            np.random.default_rng(seq),
            response.kind,
            size=size,
            alpha=alpha,
            rho=rho,
            T=T,
            place=place,
            lam=lam,
            how=how,
            members=members,
            cases=getattr(response, "cases", None),
        )
        for seq in np.random.SeedSequence(seed).spawn(sets)
    ]
    out = []
    for key in runs[0]:
        drawn = np.array([run[key] for run in runs])
        out.append((key, expected[key], drawn.mean(), drawn.std(ddof=1) / np.sqrt(sets)))
    return out


@pytest.mark.parametrize("name", SETTINGS)
def test_small_data(name):
    for key, value, mean, se in compare(name, "lasso", size=100, sets=10, members=1):
        # finite systems are off by the order of 1/size
        assert abs(mean - value) <= 4 * se + 4.0 * abs(value) / 100, (key, value, mean, se)


@pytest.mark.slow
@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("name", SETTINGS)
def test_data(name, how):
    size = 400
    for key, value, mean, se in compare(name, how, size=size, sets=20, members=12):
        close = 4 * se + 2.0 * abs(value) / size
        assert abs(mean - value) <= close, (key, value, mean, se)
        if key != "intercept":
            assert se <= 0.12 * value + 1e-15, key  # sharp enough to notice


@pytest.mark.slow
@pytest.mark.parametrize("name", ["prevalence 0.1", "half cases"])
def test_message_passing_reaches_the_ceiling(name):
    response, _, rho, _ = SETTINGS[name]
    best = theory.solve_bayes(theory.Model(4.0, rho, 0.0), response=response)
    place, cases = float(response.intercept), response.cases
    errors = [
        oracle.class_messages(
            np.random.default_rng(seq),
            size=1000,
            alpha=4.0,
            rho=rho,
            T=2.0,
            place=place,
            cases=cases,
        )
        for seq in np.random.SeedSequence(8).spawn(16)
    ]
    mean, se = np.mean(errors), np.std(errors, ddof=1) / 4.0
    assert abs(mean - best.mse * 2.0 / rho) <= 4.0 * se, (mean, se, best.mse * 2.0 / rho)
    assert se <= 0.04 * mean  # a curvature for the scores would be off by a factor of nine


if __name__ == "__main__":
    for one in SETTINGS:
        for kind in HOW:
            for row in compare(one, kind, size=400, sets=20, members=12):
                key, value, mean, se = row
                print(f"{one:15} {kind:9} {key:9} {value:8.4f} {mean:8.4f} {se:7.4f}")
