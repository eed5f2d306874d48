r"""Solves the equations of a general loss at one point: first one member, then a pair of members.

**Members.** The fields :math:`(\hat Q, \hat m, \hat T)`, :math:`\hat T = \hat\chi + \hat v`, give
the overlaps :math:`(\chi, m, q + v)` of one member (`Body.member`), and these the fields
(`Rows.member`). Newton's method in the logarithms of the three fields, after a few damped steps;
where it fails, the solution is followed from a large penalty.

**Pairs.** One more scalar equation :math:`v = \psi(v)`, with
:math:`\psi' = \alpha E[G_1' G_2']\, P(\text{both active})/K^2 < 1`, :math:`K = \hat Q + \lambda_2`
(docs/logistic.md).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from selica._core.root import find_root
from selica._core.types import Array, IntArray
from selica.theory.glm.rows import Averages, Rows
from selica.theory.iid.equations import IidEquations
from selica.theory.numerics.continuation import PathPoints, follow

_DAMPED_STEPS = 8
"""Damped steps before Newton's method."""
_NEWTON_STEPS = 30
"""Newton steps from a near guess."""
_MANY_STEPS = 80
"""Newton steps from no guess."""
_WIDTH = 1e-6
"""Of the difference quotients."""
_TOL = 1e-13
"""Of the equations, in logarithms."""
_GOOD = 1e-11
"""Where rounding keeps Newton's method from more."""
_LONGEST_STEP = 1.5
"""Of a logarithm."""
_HALVINGS = 6
"""Times a step is halved, at most."""
_PATH_STEPS = 200
"""Steps of the way from a large penalty."""


class MemberOverlaps(NamedTuple):
    """Overlaps of one member."""

    m: float
    total: float
    """q + v."""
    chi: float


@dataclass(frozen=True, slots=True)
class Body:
    """One variable: the sums of `theory.iid.equations` with an effect of `scale` log odds a unit.

    The field of a unit effect has the slope m_hat * scale, while the estimate is S(h)/K with
    K = Q_hat + lam2. The sums are those of an estimate S(h)/(m_hat * scale), in units of the ratio
    of the two: their equations have no ridge part.
    """

    eq: IidEquations
    scale: float
    lam2: float = 0.0

    @classmethod
    def of(cls, eq: IidEquations, T: float, lam2: float = 0.0) -> Body:
        """Build the variable for effects of total strength T; without strength all are null."""
        rho = float(eq.rho[0])
        if T > 0.0 and rho > 0.0:
            return cls(eq, float(np.sqrt(T / rho)), lam2)
        return cls(replace(eq, rho=np.zeros(1)), 1.0, lam2)

    def member(self, Q_hat: float, m_hat: float, total: float) -> MemberOverlaps:
        """Return the overlaps of one member at its fields."""
        part = self._overlaps(Q_hat, m_hat, total, 0.0)
        return MemberOverlaps(part["m"], part["q"], part["chi"])

    def pair(self, Q_hat: float, m_hat: float, total: float, v_hat: float) -> dict[str, float]:
        """Return q, m, chi and v at the fields of an ensemble."""
        return self._overlaps(Q_hat, m_hat, total, v_hat)

    def spread(self, Q_hat: float, m_hat: float, total: float, v_hat: float) -> tuple[float, float]:
        """Return v, and its slope in v_hat."""
        slope = np.array([m_hat * self.scale])
        value, both = self.eq.spread(slope, np.array([total]), np.array([min(v_hat, total)]))
        K = Q_hat + self.lam2
        return float(value[0]) / K**2, float(both[0]) / K**2

    def mean_absolute(self, Q_hat: float, m_hat: float, total: float) -> float:
        """Return E|w_hat|, the mean absolute coefficient."""
        slope = np.array([m_hat * self.scale])
        return float(self.eq.mean_absolute(slope, np.array([total]))[0] * slope[0]) / (
            Q_hat + self.lam2
        )

    def _overlaps(self, Q_hat: float, m_hat: float, total: float, v_hat: float) -> dict[str, float]:
        slope = m_hat * self.scale
        ratio = slope / (Q_hat + self.lam2)
        part = self.eq.overlaps(np.array([slope]), np.array([total]), np.array([v_hat]))
        factor = {"q": ratio**2, "m": self.scale * ratio, "chi": ratio, "v": ratio**2}
        return {name: float(part[name][0]) * by for name, by in factor.items()}


class GlmPoint(NamedTuple):
    """The answer at one point."""

    q: float
    m: float
    chi: float
    v: float
    Q_hat: float
    m_hat: float
    chi_hat: float
    v_hat: float
    loss: float
    mean_absolute: float
    residual: float
    found: bool
    iterations: int


def solve_point(rows: Rows, body: Body) -> GlmPoint:
    """Solve for members and pairs, and measure how far an undamped step moves the answer."""
    fields, found, count = _solve_members(rows, body)
    Q_hat, m_hat, total = (float(x) for x in np.exp(fields))
    one = body.member(Q_hat, m_hat, total)
    v, v_hat, more = _solve_pairs(rows, body, one, (Q_hat, m_hat, total))
    answer = body.pair(Q_hat, m_hat, total, v_hat)
    # one undamped step from these overlaps
    back = rows.member(answer["m"], answer["q"] + answer["v"], answer["chi"])
    own = back.own
    if v > 0.0:
        there = rows.pairs(answer["m"], answer["q"] + answer["v"], answer["chi"])
        own = there.at(answer["v"]).v_hat
    after = body.pair(back.Q_hat, back.m_hat, back.total, min(own, back.total))
    residual = max(abs(after[k] - answer[k]) / (1.0 + abs(answer[k])) for k in answer)
    return GlmPoint(
        **answer,
        Q_hat=Q_hat,
        m_hat=m_hat,
        chi_hat=total - v_hat,
        v_hat=v_hat,
        loss=back.loss,
        mean_absolute=body.mean_absolute(Q_hat, m_hat, total),
        residual=residual,
        found=found,
        iterations=count + more,
    )


def _nothing(rows: Rows) -> Array:
    """Return the logarithms of the fields at an estimate that is zero."""
    return _logs(rows.member(0.0, 0.0, 0.0))


def _logs(fields: Averages) -> Array:
    return np.asarray(np.log([fields.Q_hat, fields.m_hat, fields.total]))


def _moved(rows: Rows, body: Body, fields: Array) -> Array:
    """Return how far an undamped step moves the logarithms of the fields."""
    one = body.member(*(float(x) for x in np.exp(fields)))
    return np.asarray(_logs(rows.member(*one)) - fields)


def _solve_members(rows: Rows, body: Body) -> tuple[Array, bool, int]:
    fields = _nothing(rows)
    for _ in range(_DAMPED_STEPS):
        fields = fields + 0.5 * _moved(rows, body, fields)
    fields, found, count = _newton(rows, body, fields, _NEWTON_STEPS)
    if not found:
        fields, found, more = _follow(rows, body)
        count += more
    return fields, found, count + _DAMPED_STEPS


def _newton(rows: Rows, body: Body, fields: Array, steps: int) -> tuple[Array, bool, int]:
    """Run Newton's method with difference quotients; halve a step until it improves."""
    error = _moved(rows, body, fields)
    size = float(np.max(np.abs(error)))
    for step in range(1, steps + 1):
        if not size < np.inf:
            return fields, False, step
        if size < _TOL:
            return fields, True, step
        slopes = np.empty((3, 3))
        for k in range(3):
            beside = fields.copy()
            beside[k] += _WIDTH
            slopes[:, k] = (_moved(rows, body, beside) - error) / _WIDTH
        try:
            move = np.linalg.solve(-slopes, error)
        except np.linalg.LinAlgError:
            move = 0.5 * error
        move *= min(1.0, _LONGEST_STEP / max(float(np.max(np.abs(move))), 1e-300))
        for _ in range(_HALVINGS):
            target = fields + move
            new = _moved(rows, body, target)
            far = float(np.max(np.abs(new)))
            if far < size:
                break
            move = 0.5 * move
        else:
            if size < _GOOD:
                return fields, True, step
            target = fields + 0.5 * error  # out of a fold: a damped step
            new = _moved(rows, body, target)
            far = float(np.max(np.abs(new)))
        fields, error, size = target, new, far
    return fields, size < _GOOD, steps


def _follow(rows: Rows, body: Body) -> tuple[Array, bool, int]:
    """Follow the solution from a large penalty, where it is next to nothing, to the given one."""
    nothing = _nothing(rows)
    goal = np.log(body.eq.lam)
    _, m_hat, total = np.exp(nothing)
    here = np.maximum(goal, np.log(4.0 * np.sqrt(total + (m_hat * body.scale) ** 2)))

    def one(fields: Array, found: bool, count: int) -> PathPoints:
        return PathPoints(fields[:, None], np.array([found]), np.array([count]))

    def solve(log_lam: Array, guess: Array, _: IntArray) -> PathPoints:
        return one(*_newton(rows, _at(body, log_lam), guess[:, 0], _NEWTON_STEPS))

    first = one(*_newton(rows, _at(body, here), nothing, _MANY_STEPS))
    fields, arrived, count = follow(solve, first, here, goal, 0.5, _PATH_STEPS)
    return fields[:, 0], bool(arrived[0]), int(count[0])


def _at(body: Body, log_lam: Array) -> Body:
    return replace(body, eq=replace(body.eq, lam=np.exp(log_lam)))


def _solve_pairs(
    rows: Rows, body: Body, one: MemberOverlaps, fields: tuple[float, float, float]
) -> tuple[float, float, int]:
    """Solve for v and v_hat."""
    Q_hat, m_hat, total = fields
    if rows.weight.size == 1 or one.total <= 0.0:  # members differ in nothing, or are zero
        own = min(rows.member(*one).own, total)
        return 0.0, own, 0
    pairs = rows.pairs(*one)
    top = pairs.largest()

    def equation(v: Array, _: IntArray) -> tuple[Array, Array]:
        there = pairs.at(float(v[0]))
        value, slope = body.spread(Q_hat, m_hat, total, there.v_hat)
        return v - value, np.array([1.0 - slope * there.slope])

    root = find_root(equation, np.array([0.5 * top]), lower=0.0, upper=top, tol=1e-13)
    v = float(root.x[0])
    return v, min(pairs.at(v).v_hat, total), int(root.iterations[0])
