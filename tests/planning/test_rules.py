"""Rules for many data sets at once: each row is what `control` does with it."""

from __future__ import annotations

import numpy as np
import pytest

from selica.control import (
    averaged_level,
    benjamini_hochberg,
    ebh,
    knockoff_pvalues,
    knockoff_threshold,
    posthoc_evalues,
    quantile_aggregation,
)
from selica.planning.predict.listed import Listed
from selica.planning.predict.rules import (
    aggregated_pvalues,
    derandomized,
    knockoff_plus,
    mean_evalues,
    step_up,
)

LEVELS = [0.05, 0.1, 0.3]


@pytest.fixture(scope="module")
def statistics():
    """Data sets without signals, with many, and with few; half of the statistics are zero."""
    rng = np.random.default_rng(0)
    W = rng.standard_normal((12, 7, 80))
    W[4:8, :, :30] += 2.5
    W[8:, :, :6] += 4.0
    return np.where(rng.random(W.shape) < 0.4, 0.0, W).astype(np.float32)


@pytest.mark.parametrize("fdr", LEVELS)
def test_knockoff_plus(statistics, fdr):
    found = knockoff_plus(statistics, fdr)
    assert found.any()
    for i, j in np.ndindex(found.shape[:2]):
        W = statistics[i, j]
        np.testing.assert_array_equal(found[i, j], knockoff_threshold(W, fdr) <= W)


@pytest.mark.parametrize("fdr", LEVELS)
def test_e_values(statistics, fdr):
    e = mean_evalues(statistics, 0.5 * fdr)
    found = step_up(e, fdr)
    assert e.any()
    for i, W in enumerate(statistics):
        each = np.mean([posthoc_evalues(w, 0.5 * fdr) for w in W], axis=0)
        np.testing.assert_allclose(e[i], each, rtol=1e-12)
        np.testing.assert_array_equal(found[i], ebh(each, fdr))


@pytest.mark.parametrize("fdr", LEVELS)
def test_derandomized(statistics, fdr):
    found = derandomized(statistics, fdr)
    for i, W in enumerate(statistics):
        each = np.mean([posthoc_evalues(w, 0.5 * fdr) for w in W], axis=0)
        raised = averaged_level(fdr, 0.5 * fdr, len(W))
        np.testing.assert_array_equal(found[i], ebh(each, raised))


@pytest.mark.parametrize("fdr", [0.1, 0.3])
def test_variables_without_evidence_may_be_left_out(statistics, fdr):
    """Zeros in all copies are never selected, but count."""
    p = statistics.shape[-1] + 50
    whole = np.pad(statistics, ((0, 0), (0, 0), (0, 50)))
    np.testing.assert_array_equal(
        derandomized(whole, fdr)[:, :-50], derandomized(statistics, fdr, p)
    )
    P = aggregated_pvalues(whole, 0.3)
    np.testing.assert_array_equal(P[:, :-50], aggregated_pvalues(statistics, 0.3, p))
    np.testing.assert_array_equal(step_up(1.0 / P, fdr)[:, :-50], step_up(1.0 / P[:, :-50], fdr, p))


@pytest.mark.parametrize("gamma", [0.1, 0.3, 1.0])
def test_p_values(statistics, gamma):
    P = aggregated_pvalues(statistics, gamma)
    found = step_up(1.0 / P, 0.3)
    for i, W in enumerate(statistics):
        each = quantile_aggregation(np.array([knockoff_pvalues(w) for w in W]), gamma)
        np.testing.assert_allclose(P[i], each, rtol=1e-12)
        np.testing.assert_array_equal(found[i], benjamini_hochberg(each, 0.3))


@pytest.mark.parametrize("fdr", LEVELS)
def test_lists_of_statistics_are_treated_as_tables(statistics, fdr):
    """Also where variables without evidence are left out."""
    listed, p = Listed.of(statistics), statistics.shape[-1] + 50
    np.testing.assert_array_equal(listed.table(), statistics)
    np.testing.assert_allclose(
        listed.mean_evalues(fdr, p), mean_evalues(statistics, fdr, p), rtol=1e-12
    )
    for gamma in (0.1, 0.3, 1.0):
        np.testing.assert_allclose(
            listed.aggregated_pvalues(gamma, p),
            aggregated_pvalues(statistics, gamma, p),
            rtol=1e-12,
        )
    one = statistics[:, :1]
    np.testing.assert_array_equal(Listed.of(one).knockoff_plus(fdr), knockoff_plus(one[:, 0], fdr))


def test_a_list_may_be_empty():
    empty = Listed.of(np.zeros((2, 3, 20), dtype=np.float32))
    assert not empty.mean_evalues(0.3, 20).any()
    assert (empty.aggregated_pvalues(0.3, 20) == 1.0).all()
    assert not Listed.of(np.zeros((2, 1, 20), dtype=np.float32)).knockoff_plus(0.3).any()


def test_nothing_is_selected_from_zeros():
    zeros = np.zeros((2, 3, 20), dtype=np.float32)
    assert not knockoff_plus(zeros, 0.3).any()
    assert not mean_evalues(zeros, 0.3).any()
    assert not step_up(np.zeros((2, 20)), 0.3).any()
