"""Solutions for every response, at many points at once, to few digits or to many."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import eigh_tridiagonal

from selica._core.counts import count_law
from selica._core.results import statuses, unwrap
from selica._core.types import Array, BoolArray, IntArray
from selica._core.validation import broadcast
from selica.theory.glm.batch import (
    Bodies,
    MemberSolutions,
    follow_members,
    nothing,
    regridded,
    solve_members,
    solve_pairs,
    split,
    step,
)
from selica.theory.glm.hermite import MOST_NODES, nodes_for, resolved
from selica.theory.glm.solution import (
    ResponseKnockoffSolution,
    ResponseLassoSolution,
    ResponseStabilitySolution,
)
from selica.theory.glm.spectral import SpectralRows
from selica.theory.glm.tables import FAST, Clock, Precision, table
from selica.theory.model import Model
from selica.theory.response import RowResponse, RowSetting
from selica.theory.solution import Solution

_CHUNK_VALUES = 200_000
"""Numbers that one fit of a chunk of points holds."""
_ROUNDS = 6
"""Times that fields are resolved more finely, at most."""
_AGAIN = 4
"""How many times more nodes there are for what was not found."""
_FRESH = 1
"""Rounds after which that is tried."""


def solve_columns(
    model: Model,
    points: dict[str, Array],
    response: RowResponse,
    resampling: str | None,
    copies: int,
    precision: Precision,
) -> dict[str, Any]:
    """Return the fields of a solution.

    Parameters
    ----------
    model : Model
    points : dict
        alpha, rho, Delta, lam, lam2, T, place and with resampling mu_B, at their common shape.
    response : RowResponse
    resampling : str or None
    copies : int
        Knockoff copies of each variable.
    precision : Precision
    """
    shape = points["lam"].shape
    flat = {name: np.ravel(value) for name, value in points.items()}
    columns: dict[str, Array] = {}
    key = np.stack([flat["T"], flat["place"]], axis=1)
    groups, member = np.unique(key, axis=0, return_inverse=True)
    member = member.ravel()
    for number, (T, place) in enumerate(groups.tolist()):
        index = np.flatnonzero(member == number)
        part = {name: value[index] for name, value in flat.items()}
        row = response.row(T, place)
        with np.errstate(all="ignore"):  # whatever goes wrong shows in the residual
            solved = _solve_group(model, part, row, resampling, copies, precision)
        for name, value in solved.items():
            columns.setdefault(name, np.empty(flat["lam"].size, dtype=value.dtype))[index] = value
    residual, found = columns["residual"], columns.pop("found").astype(bool)
    status = statuses(found & (residual <= precision.converged), residual)
    columns |= {"status": status, "T": flat["T"]}
    columns["ensemble_error"] = columns["q"] - 2.0 * columns["m"] + flat["T"]
    fields = {name: unwrap(np.reshape(value, shape)) for name, value in columns.items()}
    penalty = {name: unwrap(points[name]) for name in ("lam", "lam2")}
    return {"model": model, **penalty, **fields}


def _solve_group(
    model: Model,
    points: dict[str, Array],
    row: RowSetting,
    resampling: str | None,
    copies: int,
    precision: Precision,
) -> dict[str, Array]:
    """Solve points of one response: each as finely as its fields need, then what went astray."""
    group = _Group(points, row, resampling, precision, _bodies(model, points, row.T, copies))
    size = points["lam"].size
    nodes = np.full(size, group.nodes(np.zeros(1))[0])
    found = np.zeros(size, dtype=bool)
    count = np.zeros(size, dtype=np.intp)
    variance = np.zeros(size)
    states: dict[int, Array] = {}
    todo: IntArray = np.arange(size)
    coarse, most = nodes, group.nodes(np.full(1, np.inf))[0]
    for number in range(_ROUNDS):
        for some in (todo[found[todo]], todo[~found[todo]]):
            for pick in group.chunks(some, nodes):
                rows, bodies = group.rows(pick, int(nodes[pick[0]])), group.bodies.take(pick)
                guess = None
                if found[pick[0]]:
                    grids = [group.clock(int(coarse[i])) for i in pick.tolist()]
                    guess = np.concatenate(
                        [
                            regridded(states[i][None], grid, rows.table.clock)
                            for i, grid in zip(pick.tolist(), grids, strict=True)
                        ]
                    )
                members = solve_members(rows, bodies, guess)
                group.keep(pick, members, states, found, count, variance)
        found[todo] &= group.clear(nodes[todo], variance[todo])
        # what was too coarse to be found at all starts afresh
        again = _AGAIN * nodes[todo] if number < _FRESH else nodes[todo]
        wanted = np.where(found[todo], group.nodes(variance[todo]), np.minimum(again, most))
        finer = wanted > nodes[todo]
        coarse = nodes.copy()
        nodes[todo] = np.maximum(wanted, nodes[todo])
        todo = todo[finer]
        if todo.size == 0:
            break
    lost = np.flatnonzero(~found)
    for pick in group.chunks(lost, np.full(size, precision.nodes)):
        rows_of = partial(group.finest, pick)
        members = follow_members(rows_of, group.bodies.take(pick), pick.size, precision.path)
        group.keep(pick, members, states, found, count, variance)
        nodes[pick] = group.fixed(variance[pick])
    found &= group.clear(nodes, variance)
    out: dict[str, Array] = {}
    for pick in group.chunks(np.arange(size), nodes):
        state = np.stack([states[i] for i in pick.tolist()])
        rows, bodies = group.rows(pick, int(nodes[pick[0]])), group.bodies.take(pick)
        for name, value in _ensemble(rows, bodies, state).items():
            out.setdefault(name, np.empty(size, dtype=value.dtype))[pick] = value
    return out | {"found": out["found"] & found, "iterations": out["iterations"] + count}


class _Group(NamedTuple):
    """Points of one response."""

    points: dict[str, Array]
    row: RowSetting
    resampling: str | None
    precision: Precision
    bodies: Bodies

    def nodes(self, variance: Array) -> IntArray:
        """Return how many nodes resolve truth and fields; a wide truth may have more."""
        widths = np.sqrt(np.maximum(variance, self.row.T)).tolist()
        rule = self.precision
        most = max(rule.nodes, nodes_for(float(np.sqrt(self.row.T)), rule.least, MOST_NODES))
        return np.array([nodes_for(sd, rule.digits, most) for sd in widths], dtype=np.intp)

    def clear(self, nodes: IntArray, variance: Array) -> BoolArray:
        """Say whether so many nodes resolve truth and fields at all."""
        widest = np.sqrt(np.maximum(variance, self.row.T))
        return np.asarray(resolved(nodes.astype(float), widest) >= self.precision.least)

    def fixed(self, variance: Array) -> IntArray:
        """Return the same; for times the most, which keeps the grid of times."""
        if self.row.kind == "cox":
            return np.full(variance.size, self.precision.nodes)
        return self.nodes(variance)

    def finest(self, pick: IntArray, index: IntArray, variance: Array) -> SpectralRows:
        """Return the rows of some of the points picked, at the nodes that `fixed` has for them."""
        return self.rows(pick[index], int(self.fixed(variance).max()))

    def clock(self, nodes: int) -> Clock | None:
        """Return the grid of times with so many nodes."""
        return table(self.row, nodes, self.precision).clock

    def rows(self, pick: IntArray, nodes: int) -> SpectralRows:
        """Return the rows of some of the points."""
        some = {name: value[pick] for name, value in self.points.items()}
        labels = table(self.row, nodes, self.precision)
        weights = _weights(self.resampling, some, self.precision)
        binary = self.row.kind == "logistic"
        return SpectralRows(some["alpha"], self.row.T, labels, *weights, binary, self.precision)

    def chunks(self, pick: IntArray, nodes: IntArray) -> Iterator[IntArray]:
        """Return points of equally many nodes, as many at once as fit the cache."""
        for number in np.unique(nodes[pick]).tolist():
            here = pick[nodes[pick] == number]
            step = max(1, _CHUNK_VALUES // self.rows(here[:1], number).size)
            for start in range(0, here.size, step):
                yield here[start : start + step]

    def keep(
        self,
        pick: IntArray,
        members: MemberSolutions,
        states: dict[int, Array],
        found: BoolArray,
        count: IntArray,
        variance: Array,
    ) -> None:
        """Keep the answers of some points."""
        found[pick] = members.found & np.all(np.isfinite(members.state), axis=1)
        count[pick] += members.iterations
        one = self.bodies.take(pick).member(*split(members.state)[:3])
        variance[pick] = np.where(np.isfinite(one.variance), one.variance, np.inf)
        states.update(zip(pick.tolist(), members.state, strict=True))


def _bodies(model: Model, points: dict[str, Array], T: float, copies: int) -> Bodies:
    rho = points["rho"]
    some = (rho > 0.0) & (T > 0.0)
    return Bodies(
        rho=np.where(some, rho, 0.0),
        scale=np.where(some, np.sqrt(T / np.where(some, rho, 1.0)), 1.0),
        lam=points["lam"],
        lam2=points["lam2"],
        kinds=model.kinds,
        copies=copies,
    )


def _weights(
    resampling: str | None, points: dict[str, Array], precision: Precision
) -> tuple[Array, Array]:
    """Return weights of rows and their probabilities, without zero and what never happens."""
    size = points["lam"].size
    if resampling is None:
        return np.ones((size, 1)), np.ones((size, 1))
    law = count_law(resampling, points["mu_B"])
    gain = law.weight**2 * law.probability
    often = np.any(gain > precision.rare * gain.sum(axis=1, keepdims=True), axis=0)
    often &= np.any(law.weight > 0.0, axis=0)
    weight, probability = law.weight[:, often], law.probability[:, often]
    if precision.weights is None or weight.shape[1] <= precision.weights:
        return weight, probability
    few = [
        _fewer(tuple(c), tuple(p), precision.weights)
        for c, p in zip(weight.tolist(), probability.tolist(), strict=True)
    ]
    return np.stack([c for c, _ in few]), np.stack([p for _, p in few])


@lru_cache(maxsize=1024)
def _fewer(weight: tuple[float, ...], probability: tuple[float, ...], nodes: int) -> Any:
    """Return Gauss nodes of a law of weights, for functions that are zero without weight."""
    c, p = np.array(weight), np.array(probability)
    mass = c * p
    # Lanczos' method for the polynomials that are orthogonal by c p(c)
    basis = np.zeros((nodes + 1, c.size))
    basis[0] = np.sqrt(mass / mass.sum())
    diagonal, beside = np.zeros(nodes), np.zeros(nodes)
    for k in range(nodes):
        new = c * basis[k]
        diagonal[k] = new @ basis[k]
        for _ in range(2):
            new = new - basis[: k + 1].T @ (basis[: k + 1] @ new)
        beside[k] = np.linalg.norm(new)
        basis[k + 1] = new / max(beside[k], 1e-300)
    node, vector = eigh_tridiagonal(diagonal, beside[:-1])
    return node, mass.sum() * vector[0] ** 2 / node


def _ensemble(rows: SpectralRows, bodies: Bodies, state: Array) -> dict[str, Array]:
    """Return the fields of a solution at solved members."""
    Q_hat, m_hat, total, offset = split(state)
    one = bodies.member(Q_hat, m_hat, total)
    moved, there = step(rows, bodies, state, with_loss=True)
    pairs = solve_pairs(rows, bodies, state, one, there)
    v, _ = bodies.spread(Q_hat, m_hat, total, pairs.v_hat)
    v_tilde, chi_tilde = bodies.copy(Q_hat, total)
    off = np.abs(pairs.own - v - v_tilde) / (1.0 + pairs.own)
    found = {
        "q": np.maximum(one.variance - v - v_tilde, 0.0),
        "m": one.m,
        "chi": one.chi - chi_tilde,
        "v": v,
        "Q_hat": Q_hat,
        "m_hat": m_hat,
        "chi_hat": total - pairs.v_hat,
        "v_hat": pairs.v_hat,
        "loss": there.loss,
        "absolute": bodies.mean_absolute(Q_hat, m_hat, total),
        "intercept": offset[:, -1],
        "residual": np.maximum(np.max(np.abs(moved), axis=1), off),
        "found": pairs.converged,
        "iterations": pairs.iterations,
    }
    if bodies.copies:
        found |= {"v_tilde": v_tilde, "chi_tilde": chi_tilde, "v_tilde_hat": total}
    return found


def null_fields(row: RowSetting) -> tuple[float, float]:
    """Return m_hat and chi_hat of an estimate that is zero, for alpha = 1."""
    one = {"alpha": np.ones(1), "lam": np.ones(1)}
    nodes = nodes_for(float(np.sqrt(row.T)), FAST.digits, FAST.nodes)
    weights = _weights(None, one, FAST)
    binary = row.kind == "logistic"
    rows = SpectralRows(one["alpha"], row.T, table(row, nodes, FAST), *weights, binary, FAST)
    _, m_hat, total, _ = split(nothing(rows))
    return float(m_hat[0]), float(total[0])


def solve_fast(
    kind: str,
    model: Model,
    lams: ArrayLike,
    response: RowResponse,
    mu_B: ArrayLike = 1.0,
    resampling: str = "poisson",
    lam2: ArrayLike = 0.0,
    precision: Precision = FAST,
) -> Solution:
    """Solve to about five digits, in a few milliseconds a point.

    Parameters
    ----------
    kind : {"lasso", "stability", "knockoff"}
    model : Model
        With Delta = 0.
    lams, mu_B, resampling, lam2
        As in `theory.solve_stability`, and known to be valid.
    response : RowResponse
        Broadcasts against the model.
    precision : Precision

    Examples
    --------
    >>> from selica import theory
    >>> from selica.theory.glm.fast import solve_fast
    >>> model = theory.Model(alpha=[1.0, 2.0], rho=0.2, Delta=0.0)
    >>> solve_fast("lasso", model, 1.5, theory.Poisson(T=0.5)).m.round(4).tolist()
    [0.201, 0.3232]
    """
    named = model.parameters | response.settings
    named |= {"lam": np.asarray(lams, dtype=float), "lam2": np.asarray(lam2, dtype=float)}
    if kind == "stability":
        named["mu_B"] = np.asarray(mu_B, dtype=float)
    points = dict(zip(named, broadcast(**named), strict=True))
    if kind == "lasso":
        return ResponseLassoSolution(**solve_columns(model, points, response, None, 0, precision))
    if kind == "knockoff":
        return ResponseKnockoffSolution(
            **solve_columns(model, points, response, None, 1, precision)
        )
    fields = solve_columns(model, points, response, resampling, 0, precision)
    return ResponseStabilitySolution(**fields, mu_B=unwrap(points["mu_B"]), resampling=resampling)
