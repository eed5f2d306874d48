"""Slow oracle of the replica theory: every average is a quadrature over its definition.

One variable sees ``g = m_hat w0 + sqrt(chi_hat) xi`` (the data) and ``h = g + sqrt(v_hat) eta``
(one member of the ensemble); its estimate minimises Q_hat w^2/2 - h w + lam |w| + lam2 w^2/2, which
is ``S(h; lam) / (Q_hat + lam2)``. No Stein identity, no
Gaussian convolution, no moment formula in ``h`` is used: ``w0`` and ``g`` (that is, ``xi``) are
integrated by composite Gauss-Legendre panels, the counts ``c`` by their law. Only the ``eta``
average at fixed ``g`` uses the normal pdf and cdf; `inner_moments_by_quadrature` checks it.

Set `REFINE` to 2 (monkeypatch) to halve every panel: the change is the quadrature error.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import root
from scipy.special import gammaln, ndtr

Array = NDArray[np.float64]
Moments = tuple[Array, Array, Array, Array]
Effects = Any  # "gaussian" | "laplace" | ("points", values, weights)

REFINE = 1  # parts into which each panel is cut
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(16)
_LOG_DROP = 40.0  # a tail is cut where its density fell by exp(-40)
_ORDER = ("q", "m", "chi", "v", "v_tilde", "chi_tilde")


def _pdf(x: Array) -> Array:
    return np.asarray(np.exp(-0.5 * x * x) / np.sqrt(2 * np.pi))


def _panels(edges: Array) -> tuple[Array, Array]:
    """Nodes and weights, shape (..., n), of Gauss-Legendre panels between sorted `edges`."""
    parts = (np.arange(REFINE)[:, None] + 0.5 * (1 + _NODES)).ravel() / REFINE
    share = np.tile(0.5 * _WEIGHTS, REFINE) / REFINE
    left, width, shape = edges[..., :-1, None], np.diff(edges)[..., None], edges.shape[:-1]
    return (left + width * parts).reshape(*shape, -1), (width * share).reshape(*shape, -1)


def _decay_length(slope: Array | float, curvature: float) -> Array | float:
    """Length after which exp(-slope d - curvature d^2 / 2) has fallen by exp(-_LOG_DROP)."""
    return 2 * _LOG_DROP / (slope + np.sqrt(slope**2 + 2 * _LOG_DROP * curvature))


# --- the average over eta at fixed g ---------------------------------------------------------


def inner_moments(g: Array, v_hat: float, lam: float | Array) -> Moments:
    """P(S != 0), E S, Var S, E|S| over eta of S(g + sqrt(v_hat) eta; lam).

    The variance is E (S - E S)^2 piece by piece, so that it does not cancel for g >> lam.
    """
    g = np.asarray(g, dtype=float)
    if v_hat <= 0.0:
        soft = np.sign(g) * np.maximum(np.abs(g) - lam, 0.0)
        return (soft != 0.0) * 1.0, soft, np.zeros_like(soft), np.abs(soft)
    sd = np.sqrt(v_hat)
    side, a, b = np.sign(g), (lam - np.abs(g)) / sd, (lam + np.abs(g)) / sd
    p_a, p_b, d_a, d_b = ndtr(-a), ndtr(-b), _pdf(a), _pdf(b)
    up, down = d_a - a * p_a, d_b - b * p_b  # E(eta - a)_+ and E(-eta - b)_+
    mean = up - down
    c = d_a + a * ndtr(a) - down  # a + mean, because E(eta - a)_+ - E(a - eta)_+ = -a
    d = b - mean
    var = (ndtr(a) - p_b) * mean**2  # the atom at zero, then the two active branches
    var += p_a * (1 + c * c) + d_a * (a - 2 * c) + p_b * (1 + d * d) + d_b * (b - 2 * d)
    return p_a + p_b, side * sd * mean, v_hat * np.maximum(var, 0.0), sd * (up + down)


def inner_moments_by_quadrature(g: Array, v_hat: float, lam: float) -> Moments:
    """Return what `inner_moments` does, by panels over eta cut at |h| = lam (v_hat > 0)."""
    g = np.atleast_1d(np.asarray(g, dtype=float))[:, None]
    sd = np.sqrt(v_hat)
    kinks = np.clip(np.concatenate([(lam - g) / sd, (-lam - g) / sd], axis=1), -12.0, 12.0)
    grid = np.broadcast_to(np.linspace(-12.0, 12.0, 25), (len(g), 25))
    eta, weight = _panels(np.sort(np.concatenate([grid, kinks], axis=1)))
    h, weight = g + sd * eta, weight * _pdf(eta)
    soft = np.sign(h) * np.maximum(np.abs(h) - lam, 0.0)
    mean = np.sum(weight * soft, axis=1)
    var = np.sum(weight * (soft - mean[:, None]) ** 2, axis=1)
    active = np.sum(weight * (np.abs(h) > lam), axis=1)
    return active, mean, var, np.sum(weight * np.abs(soft), axis=1)


# --- the laws of g, of h_tilde and of c ------------------------------------------------------


def _posterior_integrals(
    g: Array, m_hat: float, chi_hat: float, effects: Effects
) -> tuple[Array, Array]:
    """Integrals over w0 of p(w0) p(g | w0) and w0 p(w0) p(g | w0), for each g."""
    if not isinstance(effects, str):
        values, weights = np.asarray(effects[1], float), np.asarray(effects[2], float)
        density = weights * _pdf((g[:, None] - m_hat * values) / np.sqrt(chi_hat))
        density /= np.sqrt(chi_hat) * weights.sum()
        return density.sum(axis=1), density @ values
    steep = m_hat**2 / chi_hat  # curvature in w0 of -log p(g | w0)
    if effects == "gaussian":
        peak = g * m_hat / (m_hat**2 + chi_hat)
        reach = _decay_length(0.0, 1 + steep)
        windows = [(peak - reach, peak + reach)]
    elif effects == "laplace":  # unit second moment: rate sqrt(2); one window for each sign
        windows, rate = [], np.sqrt(2.0)
        for sign in (1.0, -1.0):
            slope = rate - sign * g * m_hat / chi_hat  # of -log density at w0 = 0
            peak, reach = np.maximum(-slope / steep, 0.0), _decay_length(0.0, steep)
            low = np.maximum(peak - reach, 0.0)
            high = np.where(slope > 0, _decay_length(np.maximum(slope, 0), steep), peak + reach)
            windows.append((sign * low, sign * high))
    else:
        raise ValueError(f"unknown effects {effects!r}")
    total, first = np.zeros_like(g), np.zeros_like(g)
    for low, high in windows:
        w0, weight = _panels(low[:, None] + (high - low)[:, None] * np.linspace(0, 1, 5))
        square = (g[:, None] - m_hat * w0) ** 2 / chi_hat
        if effects == "gaussian":
            weight = weight * np.exp(-0.5 * (square + w0**2)) / np.sqrt(2 * np.pi)
        else:
            weight = weight * np.exp(-0.5 * square - rate * np.abs(w0)) * rate / 2
        weight = np.abs(weight) / np.sqrt(2 * np.pi * chi_hat)  # w0 < 0 ran downwards
        total += weight.sum(axis=1)
        first += (weight * w0).sum(axis=1)
    return total, first


def _law_of_g(
    hats: dict[str, float], cut: float, effects: Effects
) -> tuple[Array, Array, Array, Array]:
    """Rule on |g|, refined at sqrt(v_hat) around `cut`.

    Returns the nodes g > 0, weights of |g| for the nulls and for the non-nulls, and weights of
    E[w0 sign(g); |g|] for the non-nulls.
    """
    m_hat, chi_hat = hats["m_hat"], hats["chi_hat"]
    narrow, width = np.sqrt(chi_hat), np.sqrt(hats["v_hat"])
    ticks = np.arange(-10.0, 10.5)
    edges = [narrow * ticks, cut + width * ticks]
    if effects == "gaussian":
        wide = np.hypot(m_hat, narrow)
        edges.append(wide * np.arange(0.0, 11.0 + min(cut / wide, 30.0)))
    elif effects == "laplace":
        edges += [m_hat * np.arange(0.5, 30.0, 1.5), 30.0 * m_hat + narrow * ticks]
    else:
        edges += [abs(x) * m_hat + narrow * ticks for x in effects[1]]
    points = np.concatenate([*edges, [0.0, cut]])
    g, weight = _panels(np.unique(points[points >= 0.0]))
    nulls = weight * 2 * _pdf(g / narrow) / narrow
    total, first = _posterior_integrals(g, m_hat, chi_hat, effects)
    if isinstance(effects, str):  # symmetric effects
        return g, nulls, 2 * weight * total, 2 * weight * first
    total_minus, first_minus = _posterior_integrals(-g, m_hat, chi_hat, effects)
    return g, nulls, weight * (total + total_minus), weight * (first - first_minus)


def _law_of_knockoff(
    hats: dict[str, float], lam: float, extra: Array | None = None
) -> tuple[Array, Array]:
    """Nodes u > 0 and weights of |h_tilde| - lam where it is positive; `extra` edges (k, n)."""
    var = hats["chi_hat"] + hats["v_hat"]
    reach = _decay_length(lam / var, 1 / var)
    edges = reach * np.linspace(0.0, 1.0, 9)
    if extra is not None:
        base = np.broadcast_to(edges, (len(extra), len(edges)))
        edges = np.sort(np.concatenate([base, np.clip(extra, 0.0, reach)], axis=1), axis=1)
    u, weight = _panels(edges)
    return u, weight * 2 * _pdf((lam + u) / np.sqrt(var)) / np.sqrt(var)


def _law_of_counts(method: str, resampling: str, mu_B: float) -> tuple[Array, Array]:
    """Support and probabilities of the counts c of one row."""
    if method in ("lasso", "knockoff"):
        return np.ones(1), np.ones(1)
    if method != "stability":
        raise ValueError(f"unknown method {method!r}")
    if resampling == "poisson":
        c = np.arange(0.0, np.ceil(mu_B + 14 * np.sqrt(mu_B) + 40))
        return c, np.exp(c * np.log(mu_B) - mu_B - gammaln(c + 1))
    if resampling == "bernoulli":
        if not 0 < mu_B <= 1:
            raise ValueError("bernoulli resampling needs 0 < mu_B <= 1")
        return np.array([0.0, 1.0]), np.array([1 - mu_B, mu_B])
    if resampling == "exponential":  # mean mu_B; panels halve towards 0: c/(1 + chi c) bends there
        edges = np.concatenate([[0.0], 2.0 ** np.arange(-30.0, 2.0), np.arange(4.0, 49.0, 4.0)])
        c, weight = _panels(edges)
        return mu_B * c, weight * np.exp(-c)
    raise ValueError(f"unknown resampling {resampling!r}")


# --- the equations ---------------------------------------------------------------------------


def _conjugates(totals: Array, alpha: float, counts: tuple[Array, Array]) -> dict[str, float]:
    """Conjugate parameters from E, the total chi and the total v (both halves for knockoffs)."""
    (E, chi, v), (c, prob) = totals, counts
    f = c / (1 + chi * c)
    f1, f2 = prob @ f, prob @ f**2
    v_hat = alpha * (prob @ (f - f1) ** 2 * E + f2 * v)
    hats = {"Q_hat": alpha * f1, "m_hat": alpha * f1, "chi_hat": alpha * f1**2 * E, "v_hat": v_hat}
    return {key: float(value) for key, value in hats.items()}


def _orders(
    method: str, hats: dict[str, float], rho: float, lam: float, effects: Effects,
    lam2: float = 0.0,
) -> dict[str, float]:  # fmt: skip
    """Order parameters, and the mean absolute value of the coefficients, of given conjugates."""
    K = hats["Q_hat"] + lam2
    g, nulls, signals, w0_sign = _law_of_g(hats, lam, effects)
    active, mean, var, size = inner_moments(g, hats["v_hat"], lam)
    everyone = (1 - rho) * nulls + rho * signals
    out = {
        "q": everyone @ mean**2 / K**2,
        "m": rho * (w0_sign @ mean) / K,
        "chi": everyone @ active / K,
        "v": everyone @ var / K**2,
        "mean_abs": everyone @ size / K,
    }
    if method == "knockoff":
        u, weight = _law_of_knockoff(hats, lam)
        out["v_tilde"] = weight @ u**2 / K**2
        out["chi_tilde"] = weight.sum() / K
        out["mean_abs"] += weight @ u / K
    return {key: float(value) for key, value in out.items()}


def _totals(x: dict[str, float], rho: float, Delta: float) -> Array:
    """E, total chi, total v: all that the conjugates depend on."""
    chi, v = x["chi"] + x.get("chi_tilde", 0.0), x["v"] + x.get("v_tilde", 0.0)
    return np.array([x["q"] - 2 * x["m"] + rho + Delta, chi, v])


def step(
    method: str, params: dict[str, float], *,
    alpha: float, rho: float, Delta: float, lam: float,
    lam2: float = 0.0, mu_B: float = 1.0, resampling: str = "poisson",
    effects: Effects = "gaussian",
) -> dict[str, float]:  # fmt: skip
    """One undamped step of the equations from the order parameters `params`."""
    counts = _law_of_counts(method, resampling, mu_B)
    hats = _conjugates(_totals(params, rho, Delta), alpha, counts)
    new = _orders(method, hats, rho, lam, effects, lam2)
    return {key: new[key] for key in _ORDER if key in new}


def solve(
    method: str, *,
    alpha: float, rho: float, Delta: float, lam: float,
    lam2: float = 0.0, mu_B: float = 1.0, resampling: str = "poisson",
    effects: Effects = "gaussian",
    tol: float = 1e-12,
) -> dict[str, float]:  # fmt: skip
    """Solve the self-consistent equations of "lasso", "stability" or "knockoff".

    Damped iteration on (E, chi, v), then `scipy.optimize.root` on their logarithms, until one
    step changes no order parameter x by more than tol (1 + x). Returns the order and conjugate
    parameters, `residual` (that change) and `iterations` (evaluations of the map).
    """
    counts, calls = _law_of_counts(method, resampling, mu_B), 0

    def image(x: Array) -> tuple[dict[str, float], Array]:
        nonlocal calls
        calls += 1
        new = _orders(method, _conjugates(x, alpha, counts), rho, lam, effects, lam2)
        return {key: new[key] for key in _ORDER if key in new}, _totals(new, rho, Delta)

    def point(z: Array, start: Array) -> Array:
        y = np.exp(np.clip(z, start - 8.0, start + 8.0))
        return np.where(y > 1e-290, y, 0.0)

    def gap(z: Array, start: Array) -> Array:
        return np.log(np.maximum(image(point(z, start))[1], 1e-300)) - z

    x = np.array([rho + Delta, 0.0, 0.0])
    for _ in range(12):
        for _ in range(20):
            x = 0.5 * (x + image(x)[1])
        start = np.log(np.maximum(x, 1e-300))
        newton = root(gap, start, args=(start,), tol=1e-14).x
        for trial in (point(newton, start), x):
            orders, totals = image(trial)
            again = image(totals)[0]
            change = {key: abs(again[key] - orders[key]) for key in orders}
            if all(change[key] <= tol * (1 + abs(orders[key])) for key in orders):
                hats = _conjugates(totals, alpha, counts)
                if method == "knockoff":
                    hats["v_tilde_hat"] = hats["chi_hat"] + hats["v_hat"]
                residual = max(change.values())
                return {**orders, **hats, "residual": residual, "iterations": float(calls)}
    raise RuntimeError(f"no solution: {method}, alpha={alpha}, rho={rho}, Delta={Delta}, lam={lam}")


# --- what follows from a solution ------------------------------------------------------------


def cost(
    method: str, solution: dict[str, float], *,
    alpha: float, rho: float, Delta: float, lam: float,
    lam2: float = 0.0, mu_B: float = 1.0, resampling: str = "poisson",
    effects: Effects = "gaussian",
) -> tuple[float, float]:  # fmt: skip
    """Minimal cost per variable e, and E|w_hat| (+ E|w_tilde|), which is de/dlam."""
    c, prob = _law_of_counts(method, resampling, mu_B)
    E, chi, v = _totals(solution, rho, Delta)
    mean_abs = _orders(method, solution, rho, lam, effects, lam2)["mean_abs"]
    penalty = lam * mean_abs + lam2 / 2 * (solution["q"] + v)
    return float(alpha / 2 * (prob @ (c / (1 + chi * c) ** 2)) * (E + v) + penalty), mean_abs


def selection_probability(
    method: str, g: Array | float, solution: dict[str, float], *,
    lam: float, lam2: float = 0.0, Z_th: float | None = None,
) -> Array:  # fmt: skip
    """Pi(g): P(w_hat != 0) of "stability", P(|w_hat| - |w_tilde| > Z_th) of the knockoffs."""
    field = np.abs(np.atleast_1d(np.asarray(g, dtype=float)))[:, None]
    if method == "stability":
        return inner_moments(field[:, 0], solution["v_hat"], lam)[0]
    if Z_th is None:
        raise ValueError(f"{method} needs Z_th")
    sd, shift = np.sqrt(solution["v_hat"]), (solution["Q_hat"] + lam2) * Z_th

    def exceeds(u: Array) -> Array:
        """P(|w_hat| > Z_th + u / (Q_hat + lam2)) over eta; certain where that is negative."""
        prob = inner_moments(field, solution["v_hat"], lam + np.maximum(shift + u, 0.0))[0]
        return np.where(shift + u < 0.0, 1.0, prob)

    turns = field - lam - shift + sd * np.arange(-10.0, 10.5)  # u where |w_hat| meets the level
    u, weight = _law_of_knockoff(solution, lam, np.hstack([turns, 0 * field - shift]))
    atom = 1.0 - weight.sum(axis=1)  # P(w_tilde = 0)
    return np.asarray(atom * exceeds(0 * field)[:, 0] + np.sum(weight * exceeds(u), axis=1))


def rates(
    method: str, solution: dict[str, float], *,
    rho: float, lam: float, lam2: float = 0.0, effects: Effects = "gaussian",
    Pi_th: float | None = None, Z_th: float | None = None,
) -> dict[str, float]:  # fmt: skip
    """Compute the true and false positive rates and the FDR (0 when nothing is selected).

    "knockoff" is one copy (Z > Z_th); "stability" and "derandomized" select Pi(g) > Pi_th.
    """

    def pi(g: Array | float) -> Array:
        return selection_probability(method, g, solution, lam=lam, lam2=lam2, Z_th=Z_th)

    if method in ("lasso", "knockoff"):
        gap = (solution["Q_hat"] + lam2) * max(Z_th or 0.0, 0.0)
        cut = lam + gap if method == "knockoff" else lam
    elif method not in ("stability", "derandomized") or Pi_th is None:
        raise ValueError(f"unknown method {method!r}, or no Pi_th")
    else:  # Pi grows with |g|: bisect for the crossing; 0 if all pass, 1e6 if none can
        low, cut = 0.0, 0.0 if pi(0.0)[0] > Pi_th else 1e6
        while low < (middle := 0.5 * (low + cut)) < cut:
            low, cut = (low, middle) if pi(middle)[0] > Pi_th else (middle, cut)
    g, nulls, signals, _ = _law_of_g(solution, cut, effects)
    chosen = pi(g) if method == "knockoff" else (g > cut) * 1.0
    fpr, tpr = float(nulls @ chosen), float(signals @ chosen)
    false, found = (1 - rho) * fpr, (1 - rho) * fpr + rho * tpr
    return {"tpr": tpr, "fpr": fpr, "fdr": false / found if found > 0 else 0.0}
