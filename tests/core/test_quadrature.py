"""Composite Gauss-Legendre rules."""

from __future__ import annotations

import numpy as np
import pytest

from selica._core.quadrature import legendre, panels


@pytest.mark.parametrize("order", [1, 3, 12, 24])
def test_exact_for_polynomials_of_twice_the_order(order):
    cuts = np.array([-1.5, -1.4, 0.25, 2.0])
    x, weight = panels(cuts, order)
    for degree in range(2 * order):
        want = (2.0 ** (degree + 1) - (-1.5) ** (degree + 1)) / (degree + 1)
        assert weight @ x**degree == pytest.approx(want, rel=1e-12, abs=1e-12)
    degree = 2 * order  # and no further
    want = (2.0 ** (degree + 1) - (-1.5) ** (degree + 1)) / (degree + 1)
    assert order > 4 or weight @ x**degree != pytest.approx(want, rel=1e-9)


def test_rows_of_cuts_are_rules_of_their_own():
    cuts = np.sort(np.random.default_rng(0).standard_normal((3, 2, 5)), axis=-1)
    x, weight = panels(cuts, 6)
    assert x.shape == weight.shape == (3, 2, 24)
    for index in np.ndindex(3, 2):
        alone = panels(cuts[index], 6)
        np.testing.assert_array_equal(x[index], alone[0])
        np.testing.assert_array_equal(weight[index], alone[1])
    np.testing.assert_allclose(weight.sum(axis=-1), np.ptp(cuts, axis=-1), rtol=1e-13)


def test_panels_without_width_have_no_weight():
    x, weight = panels(np.array([0.0, 0.0, 1.0, 1.0]), 4)
    assert weight.sum() == pytest.approx(1.0)
    assert weight @ x == pytest.approx(0.5)


def test_rules_that_are_kept_cannot_be_changed_from_outside():
    for part in legendre(7):
        with pytest.raises(ValueError, match="read-only"):
            part[0] = 0.0
