r"""Fits of any loss: proximal Newton steps around the compiled solver of weighted squares.

At predictors :math:`\eta` with slopes v and a diagonal A that bounds the second derivatives of the
loss, the model of a step is a lasso with the weights A and the response :math:`\eta - v/A`. All
members of a chunk take their steps together; each step is shortened until the objective falls.
Where the loss knows more of its second derivatives than A, the step finds the active columns, and
Newton steps in these follow.
The certificate is the duality gap with the dual point :math:`\kappa v`, where :math:`\kappa \le 1`
makes every gradient, that of the ridges included, at most its penalty.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from selica._core.losses import loss_of
from selica._core.types import Array, BoolArray, IntArray
from selica.solvers.designs import DenseTable
from selica.solvers.ensemble import (
    CONVERGED,
    DEGENERATE,
    FAILED,
    Ensemble,
    Kept,
    Part,
    SolverLimits,
    copy_of,
    empty_kept,
    solve_part,
)

_LEAST_CURVATURE = 1e-6
"""Curvatures of rows are raised to this share of the largest: a row without one still counts."""
_SETTLING = 10
"""Newton steps in the active columns between two steps of the model."""
_SINGULAR = 1e-14
"""Share of the trace that is added to a matrix of second derivatives."""
_PATIENCE = 2
"""Steps without a smaller gap that are taken nevertheless."""
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
_STILL = 1e-13
"""A slope below this share of the weight of its row is rounding."""
_SLIGHTLY = 1e-14
"""Products of a scale and a gradient may exceed a penalty by this share, by rounding."""
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
    free: BoolArray
    """(p,): columns without penalty and ridge."""
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
        return np.where(self.free, 0.0, self.lam2[:, None] * scale)

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


class SparseEntries(NamedTuple):
    """Coefficients in sparse form."""

    rows: IntArray
    """member * n_lams + place"""
    columns: IntArray
    values: Array


def solve_chunk_of_any_loss(problem: Ensemble) -> Part:
    """Solve the members of a chunk along their paths; as `ensemble.solve_part`."""
    members, n_lams = problem.weights.shape[0], problem.lams.shape[-1]
    kept = empty_kept(problem.keep, members, n_lams, problem.n_columns)
    if problem.copies is None:
        parts = [_follow(problem, kept, slice(None))]
    else:
        parts = [_follow(_alone(problem, m), kept, slice(m, m + 1)) for m in range(members)]
    sparse = None
    if "sparse" in problem.keep:
        from scipy.sparse import csr_array  # slow to import, and seldom needed

        rows, columns, values = (np.concatenate(part) for part in zip(*parts, strict=True))
        sparse = csr_array((values, (rows, columns)), shape=(kept.gap.size, problem.n_columns))
    return Part(kept, sparse)


def _alone(problem: Ensemble, m: int) -> Ensemble:
    """Return member m with its copy beside the design."""
    one = problem.members(m, m + 1)
    return one._replace(X=DenseTable(np.hstack([problem.X.dense(), copy_of(one, 0)])), copies=None)


def _follow(problem: Ensemble, kept: Kept, place_of: slice) -> SparseEntries:
    """Follow the paths of members, and write what is kept to their places."""
    members, p = problem.weights.shape[0], problem.X.shape[1]
    lams = np.broadcast_to(problem.lams, (members, problem.lams.shape[-1]))
    lam2 = np.broadcast_to(problem.lam2, lams.shape)
    y, own, c = problem.y, problem.each_has_a_response, problem.weights
    X = problem.X.dense()
    variance, flat = _variances(problem)
    free = np.zeros(p, dtype=bool) if problem.unpenalised is None else problem.unpenalised
    null = problem.loss.null(y, c, problem.fit_intercept)
    unit = np.maximum(null.value - problem.loss.infimum(y, c), _TINY)
    everyone = Minimised(
        X=X, y=y, own=own, c=c, lam=lams[:, 0], lam2=lam2[:, 0],
        factor=np.where(free, 0.0, np.broadcast_to(problem.factor, (members, p))), free=free,
        variance=variance if problem.standardize else None, flat=flat, unit=unit,
    )  # fmt: skip
    w, intercept = np.zeros((members, p)), np.array(null.intercept)
    # where nothing happened, or no row pulls, a constant alone has no loss left
    still = np.all(np.abs(null.gradient) <= _STILL * c, axis=1)
    idle = (problem.loss.degenerate(y, c) & _constant(problem)) | still
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


def _record_idle(kept: Kept, rows: IntArray, intercept: Array) -> None:
    """Keep fits without variables, which need no certificate."""
    kept.gap[rows], kept.kkt[rows], kept.n_active[rows] = 0.0, 0.0, 0
    kept.status[rows], kept.intercept[rows] = DEGENERATE, intercept[:, None]


def _record(kept: Kept, rows: IntArray, place: int, w: Array, lam: Array) -> SparseEntries:
    """Keep the coefficients of members at one penalty; return them in sparse form."""
    active = w != 0.0
    if kept.coef is not None:
        kept.coef[rows, place] = w
    if kept.counts is not None:
        kept.counts[place] += np.count_nonzero(active, axis=0)
    if kept.total is not None:
        assert kept.square is not None
        kept.total[place] += w.sum(axis=0)
        kept.square[place] += (w**2).sum(axis=0)
    if kept.entry is not None:
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
    X = problem.X.dense()
    centre = X.mean(axis=0) if constant else np.zeros(X.shape[1])
    Z = X - centre
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
    live = np.arange(len(w))
    for _ in range(problem.limits.max_iter):
        live = live[best.gap[live] > 0.1 * problem.limits.tol * at.unit[live]]
        if live.size == 0:
            break
        some, now = at.some(live), Fit(*(part[live] for part in here))
        steps[live] += 1
        new, small = _stepped(problem, some, now)
        if not problem.loss.diagonal:
            new = _settled(problem, some, new)
        # where rounding decides, the gap does, and steps that do not improve it are the last
        better = ~small | (new.gap < best.gap[live])
        here.put(live, new, np.full(live.size, True))
        best.put(live, new, better)
        waited[live] = np.where(better, 0, waited[live] + 1)
        live = live[waited[live] <= _PATIENCE]
    return best, steps


def _settled(problem: Ensemble, at: Minimised, fit: Fit) -> Fit:
    """Take Newton steps in the active columns, by second derivatives that are exact.

    A majorant can be far too large for a loss that is no sum over rows. It finds the active columns
    soon, and their coefficients late.
    """
    w = np.array(fit.w)
    for m in range(len(w)):
        _settle_one(problem, at.some(np.array([m])), w[m], float(fit.intercept[m]))
    return _judged(problem, at, w, fit.intercept)


def _settle_one(problem: Ensemble, at: Minimised, w: Array, a: float) -> None:
    """Move the active coefficients of one member to the optimum of their signs, or to zero."""
    loss, y, c = problem.loss, at.y[0] if at.own else at.y, at.c[0]
    penalty, ridge = at.penalty()[0], at.ridge()[0]

    def cost(w: Array) -> float:
        return float(loss.total(y, c, at.X @ w + a) + _paid(at, w[None])[0])

    here = cost(w)
    for _ in range(_SETTLING):
        active = np.flatnonzero(w)
        if active.size == 0:
            return
        V, eta = at.X[:, active].T, at.X @ w + a
        slope = V @ loss.gradient(y, c, eta) + ridge[active] * w[active]
        slope += penalty[active] * np.sign(w[active])
        curve = V @ loss.curved(y, c, eta, V).T + np.diag(ridge[active])
        curve += max(_SINGULAR * np.trace(curve), _TINY) * np.eye(active.size)
        step = np.zeros(w.size)
        step[active] = -np.linalg.solve(curve, slope)
        crossing = w * step < 0.0
        reach = np.where(crossing, -w / np.where(crossing, step, 1.0), np.inf)
        length = float(min(1.0, reach.min()))
        promised = float(slope @ step[active])
        for _ in range(_HALVINGS):
            tried = np.where(reach <= length, 0.0, w + length * step)
            new = cost(tried)
            if new <= here + _ARMIJO * length * promised + _ROUNDING * at.unit[0]:
                break
            length *= 0.5
        else:
            return
        w[:], here = tried, new
        if length == 1.0 and -promised <= _ROUNDING * at.unit[0]:
            return


def _stepped(problem: Ensemble, at: Minimised, now: Fit) -> tuple[Fit, BoolArray]:
    """Take one step; return where it leads, and which members had next to nothing to gain."""
    w, a = _model(problem, at, now)
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


def _model(problem: Ensemble, at: Minimised, now: Fit) -> tuple[Array, Array]:
    """Return coefficients and intercepts that minimise the quadratic model of a step."""
    slope = problem.loss.gradient(at.y, at.c, now.eta)
    curve = problem.loss.majorant(at.y, at.c, now.eta)
    least = _LEAST_CURVATURE * curve.max(axis=1, keepdims=True)
    curve = np.where(at.c > 0.0, np.maximum(curve, np.maximum(least, _TINY)), 0.0)
    target = now.eta - slope / np.where(at.c > 0.0, curve, 1.0)
    model = Ensemble(
        X=DenseTable(at.X),
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
        unpenalised=problem.unpenalised,
    )
    found = solve_part(model).kept
    assert found.coef is not None
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
    bent = ridge_conjugate(q, w, penalty, ridge, scale)
    free = _left_to_free_columns(problem, at, w, eta, q)
    gap = np.maximum(objective - dual + bent, 0.0) + free
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


def ridge_conjugate(q: Array, w: Array, penalty: Array, ridge: Array, scale: Array) -> Array:
    r"""Return what ridges add to minus the dual objective at `scale` (...) times the residual.

    The conjugate of :math:`\lambda_j |w| + \tfrac12 \kappa_j w^2` at the gradient g of the loss is
    :math:`(|g| - \lambda_j)_+^2 / 2 \kappa_j`, finite everywhere: with a ridge every residual is a
    dual point. q = g - ridge * w is the gradient of loss and ridge together. Where scale * q is
    within the penalty the conjugate is at most :math:`\kappa_j (s w_j)^2 / 2`, which is free of the
    rounding that a tiny ridge magnifies.
    """
    s = np.asarray(scale)[..., None]
    over = np.maximum(s * np.abs(q + ridge * w) - penalty, 0.0)
    value = 0.5 * over**2 / np.maximum(ridge, _TINY)
    bound = 0.5 * ridge * (s * w) ** 2
    inside = s * np.abs(q) <= penalty * (1.0 + _SLIGHTLY)
    value = np.where(inside, np.minimum(value, bound), value)
    return np.asarray(np.where(ridge > 0.0, value, 0.0).sum(axis=-1))
