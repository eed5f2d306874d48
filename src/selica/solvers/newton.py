r"""Minimised of any loss: proximal Newton steps around the compiled solver of weighted squares.

At predictors :math:`\eta` with slopes v and a diagonal A that bounds the second derivatives of the
loss, the model of a step is a lasso with the weights A and the response :math:`\eta - v/A`. All
members of a chunk take their steps together; each step is shortened until the objective falls.
Where the bound is no sum over rows, A is scaled by the curvature that was found along the last step.
The certificate is the duality gap with the dual point :math:`\kappa v`, where :math:`\kappa \le 1`
makes every gradient, that of the ridges included, at most its penalty.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from selica._core.losses import RowLoss, loss_of
from selica._core.types import Array, BoolArray, IntArray
from selica.solvers.ensemble import (
    Ensemble,
    SolverLimits,
    Workspace,
    copy_of,
    empty_kept,
    make_design,
    solve_chunk,
)
from selica.solvers.paths import CONVERGED, FAILED, Kept, SparseEntries
from selica.solvers.quadratic import ridge_conjugate

_LEAST_CURVATURE = 1e-6
"""Curvatures of rows are raised to this share of the largest: a row without one still counts."""
_LEAST_BEND = 0.02
"""Share of the majorant that a model has, at least."""
_PATIENCE = 10
"""Steps without a smaller gap after which rounding has the last word, with such a majorant."""
_ARMIJO = 1e-4
"""Share of the promised decrease that a step has to bring."""
_HALVINGS = 40
"""Times a step is halved, at most."""
_ROUNDING = 1e-12
"""A promised decrease below this share of the unit drowns in rounding: the step is taken whole."""
_MODEL_TOLERANCE = 1e-12
"""Relative gap of the model of a step."""
_MODEL_EPOCHS = 10_000
"""Epochs of coordinate descent in a model whose columns are degenerate."""
_CONSTANT = 1e-13
"""A column whose variance is below this share of its mean square does not vary."""
_TINY = 1e-300
"""Stands for zero where something is divided by it."""


class Minimised(NamedTuple):
    """What some members minimise at one penalty; b of them."""

    X: Array
    """(n, p)."""
    y: Array
    """(n,) or (n, width) for all members, or (b, n) or (b, n, width)."""
    own: bool
    """Whether members have responses of their own."""
    c: Array
    """(b, n): weights of the rows."""
    lam: Array
    """(b,)."""
    lam2: Array
    """(b,)."""
    factor: Array
    """(b, p): penalty weights, before standardisation."""
    variance: Array | None
    """(b, p): of the columns, where these are standardised."""
    flat: BoolArray
    """(b, p): columns that do not vary, which stay out."""
    unit: Array
    """(b,): loss without variables above the smallest possible one."""

    def penalty(self) -> Array:
        """Return the penalty of each coefficient, infinite where a column must stay out."""
        scale = 1.0 if self.variance is None else np.sqrt(self.variance)
        return np.where(self.flat, np.inf, self.lam[:, None] * self.factor * scale)

    def ridge(self) -> Array:
        """Return the ridge of each coefficient."""
        scale = 1.0 if self.variance is None else self.variance
        return np.broadcast_to(self.lam2[:, None] * scale, self.factor.shape)

    def some(self, which: IntArray) -> Minimised:
        """Return a part of the members."""
        return self._replace(
            y=self.y[which] if self.own else self.y,
            c=self.c[which],
            lam=self.lam[which],
            lam2=self.lam2[which],
            factor=self.factor[which],
            variance=None if self.variance is None else self.variance[which],
            flat=self.flat[which],
            unit=self.unit[which],
        )


class Fit(NamedTuple):
    """Where members are, with a certificate."""

    w: Array
    """(b, p)."""
    intercept: Array
    """(b,)."""
    eta: Array
    """(b, n)."""
    objective: Array
    """(b,)."""
    gap: Array
    """(b,): in the unit of the objective."""
    kkt: Array
    """(b,)."""

    def put(self, which: IntArray, other: Fit, better: BoolArray) -> None:
        """Replace some members by others where these are better."""
        for mine, theirs in zip(self, other, strict=True):
            mine[which[better]] = theirs[better]


def solve_chunk_of_any_loss(problem: Ensemble) -> tuple[Kept, SparseEntries]:
    """Solve the members of a chunk along their paths; as `ensemble.solve_chunk`."""
    members, n_lams = problem.weights.shape[0], problem.lams.shape[-1]
    kept = empty_kept(problem.keep, members, n_lams, problem.n_columns)
    if problem.copies is None:
        parts = [_follow(problem, kept, slice(None))]
    else:
        parts = [_follow(_alone(problem, m), kept, slice(m, m + 1)) for m in range(members)]
    return kept, SparseEntries(*(np.concatenate(part) for part in zip(*parts, strict=True)))


def _alone(problem: Ensemble, m: int) -> Ensemble:
    """Return member m with its copy beside the design."""
    one = problem.members(m, m + 1)
    return one._replace(X=np.hstack([problem.X, copy_of(one, 0)]), copies=None)


def _follow(problem: Ensemble, kept: Kept, place_of: slice) -> SparseEntries:
    """Follow the paths of members, and write what is kept to their places."""
    members, p = problem.weights.shape[0], problem.X.shape[1]
    lams = np.broadcast_to(problem.lams, (members, problem.lams.shape[-1]))
    lam2 = np.broadcast_to(problem.lam2, lams.shape)
    (y, own), c = _response(problem), problem.weights
    variance, flat = _variances(problem)
    null = problem.loss.null(y, c, problem.fit_intercept)
    unit = np.maximum(null.value - problem.loss.infimum(y, c), _TINY)
    everyone = Minimised(
        X=problem.X, y=y, own=own, c=c, lam=lams[:, 0], lam2=lam2[:, 0],
        factor=np.broadcast_to(problem.factor, (members, p)),
        variance=variance if problem.standardize else None, flat=flat, unit=unit,
    )  # fmt: skip
    w, intercept = np.zeros((members, p)), np.array(null.intercept)
    # where nothing happened, an intercept alone has no loss left
    idle = problem.loss.degenerate(y, c) & _constant(problem)
    _record_idle(kept, np.arange(kept.gap.shape[0])[place_of][idle], intercept[idle])
    live = np.flatnonzero(~idle)
    none = np.zeros(0, dtype=np.intp)
    entries = [SparseEntries(none, none, np.zeros(0))]
    for place in range(lams.shape[1]):
        if live.size == 0:
            break
        at = everyone.some(live)._replace(lam=lams[live, place], lam2=lam2[live, place])
        fit, steps = _newton(problem, at, w[live], intercept[live])
        w[live], intercept[live] = fit.w, fit.intercept
        active = np.count_nonzero(fit.w, axis=1)
        most = problem.limits.max_active
        goes_on = np.full(live.size, True) if most is None else active <= most
        live = live[goes_on]
        rows = np.arange(kept.gap.shape[0])[place_of][live]
        relative = (fit.gap / at.unit)[goes_on]
        kept.gap[rows, place], kept.kkt[rows, place] = relative, fit.kkt[goes_on]
        kept.iterations[rows, place] = steps[goes_on]
        failed = relative > problem.limits.tol
        kept.status[rows, place] = np.where(failed, FAILED, CONVERGED)
        kept.intercept[rows, place], kept.n_active[rows, place] = intercept[live], active[goes_on]
        entries.append(_record(kept, rows, place, w[live], lams[live, place]))
    return SparseEntries(*(np.concatenate(part) for part in zip(*entries, strict=True)))


def _response(problem: Ensemble) -> tuple[Array, bool]:
    """Return the response in the form that its loss takes, and whether members have their own.

    An ensemble has (n,) for all members or (B, n), and with several numbers a row (B, n, width).
    """
    y = problem.y
    if len(problem.loss.fields) > 1 and y.ndim < 3:
        y = y[..., None]
    shared = y.ndim == (1 if len(problem.loss.fields) == 1 else 2)
    if not shared and y.strides[0] == 0:
        return y[0], False
    return y, not shared


def _record_idle(kept: Kept, rows: IntArray, intercept: Array) -> None:
    """Keep fits without variables, which need no certificate."""
    kept.gap[rows], kept.kkt[rows], kept.n_active[rows] = 0.0, 0.0, 0
    kept.status[rows], kept.intercept[rows] = CONVERGED, intercept[:, None]


def _record(kept: Kept, rows: IntArray, place: int, w: Array, lam: Array) -> SparseEntries:
    """Keep the coefficients of members at one penalty; return them in sparse form."""
    active = w != 0.0
    if kept.coef.size:
        kept.coef[rows, place] = w
    if kept.counts.size:
        kept.counts[place] += np.count_nonzero(active, axis=0)
    if kept.total.size:
        kept.total[place] += w.sum(axis=0)
        kept.square[place] += (w**2).sum(axis=0)
    if kept.entry.size:
        known = kept.entry[rows]
        kept.entry[rows] = np.where(active & (known == 0.0), lam[:, None], known)
    member, column = np.nonzero(active)
    return SparseEntries(rows[member] * kept.gap.shape[1] + place, column, w[member, column])


def _constant(problem: Ensemble) -> bool:
    """Return whether a constant in the predictors is free: fitted, or without any effect."""
    return problem.fit_intercept or not problem.loss.identified


def _variances(problem: Ensemble) -> tuple[Array, BoolArray]:
    """Return weighted variances of the columns, and which do not vary, (members, p)."""
    c = problem.weights
    total = np.maximum(c.sum(axis=1, keepdims=True), _TINY)
    constant = _constant(problem)
    centre = problem.X.mean(axis=0) if constant else np.zeros(problem.X.shape[1])
    Z = problem.X - centre
    square = c @ Z**2 / total
    variance = square
    if constant:
        variance = np.maximum(square - (c @ Z / total) ** 2, 0.0)
    return variance, np.asarray(variance <= _CONSTANT * (square + centre**2))


def _newton(problem: Ensemble, at: Minimised, w: Array, a: Array) -> tuple[Fit, IntArray]:
    """Take Newton steps until the gaps are small enough; return the fits and their numbers."""
    here = _judged(problem, at, w, a)
    best = Fit(*(np.array(part) for part in here))
    steps, waited = np.zeros((2, len(w)), dtype=np.intp)
    bend = np.ones(len(w))
    patience = 0 if isinstance(problem.loss, RowLoss) else _PATIENCE
    live = np.arange(len(w))
    for _ in range(problem.limits.max_iter):
        live = live[best.gap[live] > 0.1 * problem.limits.tol * at.unit[live]]
        if live.size == 0:
            break
        some, now = at.some(live), Fit(*(part[live] for part in here))
        steps[live] += 1
        new, small = _stepped(problem, some, now, bend[live])
        # where rounding decides, the gap does: steps of the whole majorant, until it stays
        better = ~small | (new.gap < best.gap[live])
        bend[live] = np.where(better, _bend(problem, some, now, new), 1.0)
        here.put(live, new, np.full(live.size, True))
        best.put(live, new, better)
        waited[live] = np.where(better, 0, waited[live] + 1)
        live = live[waited[live] <= patience]
    return best, steps


def _bend(problem: Ensemble, at: Minimised, old: Fit, new: Fit) -> Array:
    """Return the curvature of the loss along the last step, as a share of the majorant's.

    A majorant of a loss that is no sum over rows can be far too large for most steps. Scaled by this
    share it is the better model of the next step, whose length the search settles.
    """
    if isinstance(problem.loss, RowLoss):
        return np.ones(len(old.w))
    step = new.eta - old.eta
    slope, next_slope = (problem.loss.gradient(at.y, at.c, fit.eta) for fit in (old, new))
    bound = np.vecdot(problem.loss.majorant(at.y, at.c, old.eta), step**2)
    share = np.vecdot(step, next_slope - slope) / np.maximum(bound, _TINY)
    return np.clip(share, _LEAST_BEND, 1.0)


def _stepped(
    problem: Ensemble, at: Minimised, now: Fit, bend: Array
) -> tuple[Fit, BoolArray]:
    """Take one step; return where it leads, and which members had next to nothing to gain."""
    w, a = _model(problem, at, now, bend)
    eta = w @ at.X.T + a[:, None]
    slope = problem.loss.gradient(at.y, at.c, now.eta)
    promised = np.vecdot(slope, eta - now.eta)
    promised += _paid(at, w) - _paid(at, now.w)
    promised -= 0.5 * np.vecdot(at.ridge(), (w - now.w) ** 2)  # the ridge to first order
    small = np.abs(promised) <= _ROUNDING * at.unit
    length = np.ones(len(w))
    search = ~small
    for _ in range(_HALVINGS):
        if not search.any():
            break
        tried = now.w + length[:, None] * (w - now.w)
        value = problem.loss.total(at.y, at.c, now.eta + length[:, None] * (eta - now.eta))
        value = value + _paid(at, tried)
        search &= ~(value <= now.objective + _ARMIJO * length * promised)
        length[search] *= 0.5
    whole = length == 1.0
    moved = now.w + length[:, None] * (w - now.w)
    w = np.where(whole[:, None], w, moved)
    return _judged(problem, at, w, now.intercept + length * (a - now.intercept)), small


def _model(problem: Ensemble, at: Minimised, now: Fit, bend: Array) -> tuple[Array, Array]:
    """Return coefficients and intercepts that minimise the quadratic model of a step."""
    slope = problem.loss.gradient(at.y, at.c, now.eta)
    curve = bend[:, None] * problem.loss.majorant(at.y, at.c, now.eta)
    least = _LEAST_CURVATURE * curve.max(axis=1, keepdims=True)
    curve = np.where(at.c > 0.0, np.maximum(curve, np.maximum(least, _TINY)), 0.0)
    target = now.eta - slope / np.where(at.c > 0.0, curve, 1.0)
    model = Ensemble(
        X=at.X,
        y=target,
        lams=at.lam[:, None],
        lam2=at.lam2[:, None],
        weights=curve,
        factor=at.factor,
        loss=loss_of("squared"),
        keep=frozenset(["coef"]),
        limits=SolverLimits(_MODEL_TOLERANCE, _MODEL_EPOCHS, None),
        fit_intercept=_constant(problem),
        standardize=at.variance is not None,
        variance=at.variance,
        most_rows=int(np.count_nonzero(curve, axis=1).max(initial=0)),
    )
    found, _ = solve_chunk(model, make_design(model), Workspace())
    a = found.intercept[:, 0] if problem.loss.identified else np.zeros(len(curve))
    return np.where(at.flat, 0.0, found.coef[:, 0]), a


def _paid(at: Minimised, w: Array) -> Array:
    """Return what coefficients pay for the penalty and the ridge."""
    lasso = np.where(w != 0.0, at.penalty(), 0.0)
    return np.asarray(np.vecdot(lasso, np.abs(w)) + 0.5 * np.vecdot(at.ridge(), w**2))


def _judged(problem: Ensemble, at: Minimised, w: Array, a: Array) -> Fit:
    """Return members at these coefficients, their intercept balanced, with a certificate."""
    loss, eta = problem.loss, w @ at.X.T + a[:, None]
    if problem.fit_intercept:
        more = loss.balance(at.y, at.c, eta)
        a, eta = a + more, eta + more[:, None]
    slope = loss.gradient(at.y, at.c, eta)
    penalty, ridge = at.penalty(), at.ridge()
    q = -slope @ at.X - ridge * w
    size = np.abs(q)
    over = (size > penalty) & (penalty > 0.0)
    scale = np.min(penalty / np.where(over, size, _TINY), axis=1, initial=1.0, where=over)
    objective = loss.total(at.y, at.c, eta) + _paid(at, w)
    dual = loss.dual(at.y, at.c, eta, scale)
    bent = [
        ridge_conjugate(q[m], w[m], penalty[m], np.array(ridge[m]), scale[m], w.shape[1])
        for m in range(len(w))
    ]
    free = _left_to_free_columns(problem, at, w, eta, q)
    gap = np.maximum(objective - dual + np.array(bent), 0.0) + free
    active = np.where(w != 0.0, np.abs(q - np.where(w != 0.0, penalty, 0.0) * np.sign(w)), 0.0)
    idle = np.where(w == 0.0, size - np.minimum(penalty, size), 0.0)
    kkt = np.maximum(np.maximum(active, idle).max(axis=1), 0.0)
    if problem.fit_intercept:
        kkt = np.maximum(kkt, np.abs(slope.sum(axis=1)))
    return Fit(w, a, eta, objective, gap, kkt)


def _left_to_free_columns(
    problem: Ensemble, at: Minimised, w: Array, eta: Array, q: Array
) -> Array:
    """Return about what columns without a penalty can still gain, of which no dual point tells.

    A dual point needs their gradients q to be zero: it may be off by |q w|, and a Newton step would
    gain q^2 / 2 over the curvature.
    """
    free = (at.penalty() == 0.0) & (at.ridge() == 0.0)
    if not free.any():
        return np.zeros(len(w))
    curve = problem.loss.majorant(at.y, at.c, eta) @ at.X**2
    gain = np.abs(q * w) + 0.5 * q**2 / np.maximum(curve, _TINY)
    return np.asarray(np.where(free, gain, 0.0).sum(axis=1))
