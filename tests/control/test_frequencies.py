"""The bound on selection frequencies against linear programmes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.stats import binom

from selica.control import frequency_bound


@pytest.mark.parametrize(
    ("n_copies", "eta", "bound"),
    [
        (31, 0.5, 1.0),
        (30, 0.5, 1.034483),
        (10, 0.5, 1.111111),
        (50, 0.5, 1.020408),
        (51, 0.5, 1.0),
        (100, 0.5, 1.010101),
        (20, 0.6, 0.857143),
        (30, 0.81, 0.387097),
        (31, 0.81, 0.375),
        (31, 0.75, 0.5),
        (31, 0.9, 0.25),
        (31, 1.0, 0.0625),
        (50, 0.81, 0.3921569),
    ],
)
def test_published_values(n_copies, eta, bound):
    assert frequency_bound(n_copies, eta) == pytest.approx(bound, abs=6e-7)


def programme(n_copies, least, monotone):
    """max P(count >= least) / E(count / M) over laws of the count on 0, .., M."""
    j = np.arange(n_copies + 1)
    rising = np.diff(np.eye(n_copies + 1), axis=0)
    answer = linprog(
        np.where(j >= least, -1.0, 0.0),
        A_ub=rising if monotone else None,
        b_ub=np.zeros(n_copies) if monotone else None,
        A_eq=[j / n_copies],
        b_eq=[1.0],
    )
    assert answer.status == 0
    return -answer.fun


@pytest.mark.parametrize("n_copies", [1, 2, 3, 8, 15, 31])
def test_linear_programme(n_copies):
    for least in range(1, n_copies + 1):
        eta = least / n_copies
        want = programme(n_copies, least, monotone=True)
        assert frequency_bound(n_copies, eta) == pytest.approx(want, rel=1e-7)
        want = programme(n_copies, least, monotone=False)
        assert frequency_bound(n_copies, eta, "none") == pytest.approx(want, rel=1e-7)


@given(st.integers(1, 3000), st.floats(1e-4, 1.0))
@settings(max_examples=200, deadline=None)
def test_the_maximum_over_uniform_laws(n_copies, eta):
    least = max(int(np.ceil(eta * n_copies - 1e-9)), 1)
    k = np.arange(least, n_copies + 1.0)
    want = np.max(2 * n_copies * (k - least + 1) / (k * (k + 1)))
    assert frequency_bound(n_copies, eta) == pytest.approx(want, rel=1e-12)
    assert frequency_bound(n_copies, eta) <= frequency_bound(n_copies, eta, "none") * (1 + 1e-9)


def test_frequencies_count_in_integers():
    # 0.81 * 100 is 81.00000000000001, 0.07 * 100 is 7.000000000000001
    for eta in (0.81, 0.07, 0.29, 0.57):
        count = round(100 * eta)
        assert frequency_bound(100, eta) == frequency_bound(100, count / 100)
        assert frequency_bound(100, eta) > frequency_bound(100, eta + 0.001)
    assert frequency_bound(10**12, 1.0) == pytest.approx(2 / (10**12 + 1))
    assert frequency_bound(7, 1e-12) == 7.0


@pytest.mark.parametrize("chance", [0.01, 0.03])
@pytest.mark.parametrize("eta", [0.1, 0.5, 0.9])
def test_independent_runs_obey_it(chance, eta):
    # a binomial law with M * chance < 1 does not increase
    count = int(np.ceil(eta * 30 - 1e-9))
    assert binom.sf(count - 1, 30, chance) <= frequency_bound(30, eta) * chance
