"""Checks that hold for every loss of rows, from the definitions."""

from __future__ import annotations

import numpy as np


def check_row_loss(loss, y):
    """Derivatives by differences, the proximal map and conjugates by brute force, the null fit."""
    rng = np.random.default_rng(0)
    z = 2.0 * rng.standard_normal(y.size)
    h = 1e-5
    difference = (loss.value(y, z + h) - loss.value(y, z - h)) / (2.0 * h)
    np.testing.assert_allclose(loss.slope(y, z), difference, rtol=1e-6, atol=1e-8)
    difference = (loss.slope(y, z + h) - loss.slope(y, z - h)) / (2.0 * h)
    np.testing.assert_allclose(loss.curvature(y, z), difference, rtol=1e-6, atol=1e-8)
    assert np.all(loss.curvature(y, z) >= 0.0)
    assert np.all(loss.value(y, z) >= loss.lowest(y) - 1e-12)
    assert np.all(loss.deviance(y, z) >= -1e-12)
    _check_proximal(loss, y, z)
    _check_conjugate(loss, y, z)
    _check_null(loss, y, rng)


def _check_proximal(loss, y, field):
    """The minimum of pull * value + (z - field)^2 / 2 on a grid around it."""
    for pull in (0.0, 0.1, 3.0, 200.0):
        force = np.full(y.size, pull)
        z = loss.proximal(y, field, force)

        def cost(x, force=force):
            return force * loss.value(y, x) + 0.5 * (x - field) ** 2

        best = cost(z)
        for step in np.r_[-np.geomspace(1e-4, 10.0, 30), np.geomspace(1e-4, 10.0, 30)]:
            assert np.all(best <= cost(z + step) + 1e-9 * (1.0 + np.abs(best)))


def _check_conjugate(loss, y, z):
    """No smaller than scale * slope * x - value at any x; equal to it where the scale is one."""
    slope = loss.slope(y, z)
    grid = np.linspace(-30.0, 30.0, 1201)[:, None]
    for scale in (0.0, 0.3, 0.9, 1.0):
        bound = loss.conjugate(y, z, np.full(y.size, scale))
        seen = np.max(scale * slope * grid - loss.value(y, grid), axis=0)
        assert np.all(bound >= seen - 1e-9 * (1.0 + np.abs(seen)))
    np.testing.assert_allclose(bound, slope * z - loss.value(y, z), rtol=1e-9, atol=1e-9)


def _check_null(loss, y, rng):
    """The constant that no other beats, its gradient, and the sums over rows."""
    c = rng.random((2, y.size))
    null = loss.null(y, c)
    assert null.intercept.shape == (2,)
    np.testing.assert_allclose(null.gradient.sum(axis=1), 0.0, atol=1e-9)
    for shift in (-0.1, 0.1):
        assert np.all(loss.total(y, c, null.intercept[:, None] + shift + 0.0 * c) > null.value)
    assert np.all(loss.infimum(y, c) <= null.value)
    scale = np.ones(2)
    eta = np.broadcast_to(null.intercept[:, None], c.shape)
    np.testing.assert_allclose(loss.dual(y, c, eta, scale), null.value, rtol=1e-9, atol=1e-9)
