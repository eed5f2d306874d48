"""The Newton iteration that all designs share."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from selica.theory.numerics.newton import Linear, newton

SETTINGS = {"steps": 30, "longest": 1.0, "tolerance": 1e-8}


@dataclass(frozen=True)
class Planes:
    """x -> p + s sin(y), y -> q + s sin(x): a plain iteration that contracts for s below one."""

    p: np.ndarray
    q: np.ndarray
    s: np.ndarray

    def linear(self, x, y):
        one = np.ones_like(x)
        return Linear(
            first=self.p + self.s * np.sin(y) - x,
            second=self.q + self.s * np.sin(x) - y,
            a=one,
            b=-self.s * np.cos(y),
            c=-self.s * np.cos(x),
            d=one,
        )

    def take(self, index):
        return Planes(self.p[index], self.q[index], self.s[index])


def planes(size, seed=0):
    rng = np.random.default_rng(seed)
    return Planes(rng.normal(size=size), rng.normal(size=size), rng.uniform(0.1, 0.9, size))


def test_linear_equations_are_solved():
    rng = np.random.default_rng(1)
    a, b, c, d, x, y = rng.normal(size=(6, 50))
    found = Linear(a * x + b * y, c * x + d * y, a, b, c, d).solve()
    np.testing.assert_allclose(found[0], x, rtol=1e-9)
    np.testing.assert_allclose(found[1], y, rtol=1e-9)
    np.testing.assert_allclose(found[2], a * d - b * c)


def test_the_plain_iteration_agrees():
    system = planes(200)
    solved = newton(system, np.full(200, 4.0), np.full(200, -4.0), **SETTINGS)
    assert solved.found.all()
    x = y = np.zeros(200)
    for _ in range(1000):
        x, y = system.p + system.s * np.sin(y), system.q + system.s * np.sin(x)
    np.testing.assert_allclose(solved.x, x, atol=1e-12)
    np.testing.assert_allclose(solved.y, y, atol=1e-12)
    assert solved.iterations.min() >= 2
    assert solved.iterations.max() < 30


def test_points_do_not_see_each_other():
    system = planes(40, seed=2)
    start = np.linspace(-3.0, 3.0, 40)
    whole = newton(system, start, -start, **SETTINGS)
    for k in range(40):
        pick = np.arange(40) == k
        one = newton(system.take(pick), start[pick], -start[pick], **SETTINGS)
        assert (one.x[0], one.y[0]) == (whole.x[k], whole.y[k])
        assert one.iterations[0] == whole.iterations[k]


def test_steps_are_bounded_and_counted():
    system = Planes(np.array([10.0]), np.array([-10.0]), np.array([1e-9]))
    solved = newton(system, np.zeros(1), np.zeros(1), steps=7, longest=1.0, tolerance=1e-8)
    assert (solved.x[0], solved.y[0]) == (pytest.approx(7.0), pytest.approx(-7.0))
    assert not solved.found[0]
    assert solved.iterations[0] == 7
    assert newton(system, np.zeros(1), np.zeros(1), **SETTINGS).iterations[0] == 11


def test_where_slopes_mislead_half_a_plain_step_is_taken():
    @dataclass(frozen=True)
    class Wrong(Planes):
        def linear(self, x, y):
            right = super().linear(x, y)
            return right._replace(a=-right.a)  # a determinant below zero

    solved = newton(
        Wrong(np.array([0.5]), np.array([0.25]), np.zeros(1)),
        *(np.zeros(1), np.zeros(1)),
        **SETTINGS | {"steps": 2},
    )
    assert (solved.x[0], solved.y[0]) == (0.375, 0.1875)  # three quarters of the way
    assert not solved.found[0]


def test_what_is_no_number_is_not_found():
    solved = newton(planes(2), np.array([np.nan, 0.0]), np.zeros(2), **SETTINGS)
    assert solved.found.tolist() == [False, True]
