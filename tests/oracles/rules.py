"""Decision rules of `selica.control` by their definitions: slow, mostly in exact arithmetic.

Each function has the name and the arguments of the rule that it says again. Nothing is sorted,
cumulated or looked up cleverly: every threshold, list and walk is tried.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations, pairwise
from statistics import median

import numpy as np
from scipy.integrate import quad
from scipy.optimize import brentq

from selica.control import SignBoundary
from selica.control.stability import CONCAVE_PAIRS, HIGH_CUTOFF, HIGH_PAIRS, LOWEST_CUTOFF

SLIGHTLY = 1e-9
"""What a rule forgives, as `selica._core.rounding` says."""


def exact(value):
    """The decimal number that was written, not the double that is nearest to it."""
    return value if isinstance(value, Fraction) else Fraction(str(value))


# --- knockoff statistics


def first_negatives_filter(W, v):
    """A positive is selected if fewer than v negatives are as large as it is."""
    return [w > 0 and sum(other <= -w for other in W) < v for w in W]


def kfwer_parameters(k, level):
    """The number of negatives, by adding up the negative binomial distribution."""

    def tail(v):
        if v == 0:
            return Fraction(0)
        return 1 - sum(Fraction(math.comb(j + v - 1, j), 2 ** (j + v)) for j in range(k))

    level, v = exact(level), 0
    while tail(v + 1) <= level:
        v += 1
    return v, float((level - tail(v)) / (tail(v + 1) - tail(v)))


def posthoc_evalues(W, fdr, joint_copies):
    """Stop at the first size with few enough negatives, or none."""
    fdr = exact(fdr)
    for t in sorted({abs(w) for w in W if w != 0}):
        positive, negative = sum(w >= t for w in W), sum(w <= -t for w in W)
        if 1 + negative <= joint_copies * fdr * max(1, positive) or negative == 0:
            return [joint_copies * len(W) / (1 + negative) if w >= t else 0.0 for w in W]
    return [0.0] * len(W)


def posthoc_level(evalues, chosen):
    """The size of the table over the size of the list and its smallest e-value."""
    listed = [e for e, one in zip(evalues, chosen, strict=True) if one]
    return math.inf if 0 in listed else len(evalues) / (len(listed) * min(listed))


def averaged_level(fdr, copy_fdr, n_copies):
    """The harmonic mean of two levels, between the first and one half."""
    one, other = exact(fdr), exact(copy_fdr) * n_copies
    mean = 2 * one * other / (one + other)
    return float(one if mean < one or one > Fraction(1, 2) else min(mean, Fraction(1, 2)))


# --- joint copies


def joint_wins(importances):
    """The version that is ahead of all others, or in a tie the first copy that has the largest."""
    winner, lead = [], []
    for versions in zip(*importances, strict=True):
        largest = max(versions)
        first = [v for v, value in enumerate(versions) if value == largest]
        if len(first) == 1:
            others = [value for v, value in enumerate(versions) if v != first[0]]
            winner.append(first[0])
            lead.append(largest - median(others))
        else:
            winner.append(next(v for v in first if v > 0))
            lead.append(0.0)
    return winner, lead


def joint_threshold(winner, lead, n_joint, fdr):
    """The smallest lead at which copies win rarely enough."""
    for t in sorted({x for x in lead if x > 0}):
        own = sum(k == 0 and x >= t for k, x in zip(winner, lead, strict=True))
        others = sum(k != 0 and x >= t for k, x in zip(winner, lead, strict=True))
        if Fraction(1 + others, n_joint * max(1, own)) <= exact(fdr):
            return t
    return math.inf


def joint_selection(winner, lead, n_joint, fdr):
    """Variables that are ahead of their copies by the threshold at least."""
    t = joint_threshold(winner, lead, n_joint, fdr)
    return [k == 0 and x >= t for k, x in zip(winner, lead, strict=True)]


def joint_qvalues(winner, lead, n_joint):
    """The smallest of all levels that a ratio can have at which a variable is selected."""
    levels = {
        Fraction(a, n_joint * b) for a in range(1, len(lead) + 2) for b in range(1, len(lead) + 1)
    }
    out = [1.0] * len(lead)
    for level in sorted(level for level in levels if level < 1):
        for j, one in enumerate(joint_selection(winner, lead, n_joint, level)):
            if one and out[j] == 1.0:
                out[j] = float(level)
    return out


# --- bounds on false variables


def crossing(allowed, length):
    """The probability that a fair walk has more heads than are allowed before a later tail."""
    alive = {(0, 0): Fraction(1)}
    crossed = Fraction(0)
    for _ in range(length):
        after: dict[tuple[int, int], Fraction] = {}
        for (heads, tails), chance in alive.items():
            for more, less in ((1, 0), (0, 1)):
                now = heads + more, tails + less
                limits = [b for v, b in allowed.items() if v > now[1]]
                if limits and now[0] > min(limits):
                    crossed += chance / 2
                else:
                    after[now] = after.get(now, Fraction(0)) + chance / 2
        alive = after
    return crossed


def sign_boundary(level, nonzero):
    """The linear boundary with the smallest constant, of all fractions that can matter."""
    length = max(nonzero, 1)
    slopes = sorted({Fraction(b, d) for d in range(1, length + 2) for b in range(length * d + 1)})
    for slope in slopes:
        allowed = {v: math.floor(slope * v) for v in range(1, length + 2)}
        missed = crossing(allowed, length)
        if missed <= exact(level):
            return allowed, float(missed)
    raise AssertionError("a walk of so many tosses has no more heads")


def false_bound(W, chosen, boundary: SignBoundary):
    """The smallest of the bounds that the numbers of a boundary give a list."""
    listed = [w for w, one in zip(W, chosen, strict=True) if one]
    bounds = [len(listed)]
    for v, b in zip(boundary.negatives.tolist(), boundary.allowed.tolist(), strict=True):
        bounds.append(b + sum(not (w > 0 and sum(x <= -w for x in W) < v) for w in listed))
    return min(bounds)


def prefix_bounds(W, boundary: SignBoundary):
    """The bound of each list of the largest positive statistics."""
    levels = sorted({w for w in W if w > 0}, reverse=True)
    sizes = [sum(w >= t for w in W) for t in levels]
    return levels, sizes, [false_bound(W, [w >= t for w in W], boundary) for t in levels]


# --- integrated paths


def moment(p, q, n_pairs, order):
    """p E(S / B)^m of a binomial number S of B pairs, each with the probability (q / p)^2."""
    t = (Fraction(q) / p) ** 2
    return p * sum(
        math.comb(n_pairs, s) * t**s * (1 - t) ** (n_pairs - s) * Fraction(s, n_pairs) ** order
        for s in range(n_pairs + 1)
    )


def longest_beginning(weights, moments, limit):
    """The longest beginning all of whose own beginnings have a mean within the limit."""
    best = [], 0.0
    for cells in range(1, len(weights) + 1):
        some = weights[:cells]
        mean = math.fsum(w * float(m) for w, m in zip(some, moments, strict=False)) / math.fsum(
            some
        )
        if mean > limit * (1.0 + SLIGHTLY):
            break
        best = [w / math.fsum(some) for w in some], mean
    return best


def rank_integral(p, n_pairs, order, limit, longest):
    """Lists of the first 1, 2, .. variables, with the logarithms of (q + 1) / q as weights."""
    q = range(1, min(longest, p) + 1)
    return longest_beginning(
        [math.log((one + 1) / one) for one in q],
        [moment(p, one, n_pairs, order) for one in q],
        limit,
    )


def penalty_integral(lams, q, p, n_pairs, order, exponent, limit):
    """Cells between penalties, whose measures are computed by adaptive quadrature."""
    measures = [
        quad(lambda lam: lam**-exponent, low, high, epsrel=1e-13)[0] for high, low in pairwise(lams)
    ]
    return longest_beginning(measures, [moment(p, one, n_pairs, order) for one in q[:-1]], limit)


def integrated_scores(counts, path):
    """The weighted mean of powers of what shares exceed one half by."""
    return [
        math.fsum(
            w * max(2 * Fraction(int(row[j]), 2 * path.n_pairs) - 1, 0) ** path.order
            for w, row in zip(path.weights.tolist(), counts, strict=False)
        )
        for j in range(len(counts[0]))
    ]


def integrated_efp(scores, path):
    """The integral over the score, and p where that is more or there is none."""
    if path.integral == 0.0:
        return [float(path.p)] * len(scores)
    return [min(path.integral / s if s > 0 else math.inf, float(path.p)) for s in scores]


def chance_efp(scores, drawn, weight, p):
    """p times the probability of the draws that are at least as high."""
    return [
        float(min(p * sum(exact(w) for d, w in zip(drawn, weight, strict=True) if d >= s), p))
        for s in scores
    ]


def efp_qvalues(efp):
    """The smallest ratio over all lists that a variable is in."""
    lists = [[j for j, e in enumerate(efp) if e <= level] for level in sorted(set(efp))]
    ratio = [max(efp[j] for j in one) / len(one) for one in lists]
    return [
        min(1.0, *(r for r, one in zip(ratio, lists, strict=True) if j in one))
        for j in range(len(efp))
    ]


# --- agreement of members


def stability_index(selections, pairs):
    """Nogueira et al. 2018: unbiased variances, pair by pair of members, and influences."""
    Z = [[Fraction(int(z)) for z in row] for row in selections]
    M, d = len(Z), len(Z[0])
    total = sum(map(sum, Z))
    if total in (0, M * d):
        return None
    mean = total / (M * d)
    # the unbiased variance is half of the mean square of differences over pairs of members
    spread = sum(
        Fraction(sum((a - b) ** 2 for a, b in zip(x, y, strict=True)), 2)
        for x, y in combinations(Z, 2)
    ) / (Fraction(M * (M - 1), 2) * d)
    chance = mean * (1 - mean)
    index = 1 - spread / chance
    share = [sum(row[j] for row in Z) / M for j in range(d)]
    influence = [
        (
            sum(z * f for z, f in zip(row, share, strict=True)) / d
            - sum(row) * mean / d
            + index / 2 * (2 * sum(row) * mean / d - sum(row) / d - mean + 1)
        )
        / chance
        for row in Z
    ]
    if pairs:
        influence = [(a + b) / 2 for a, b in zip(influence[::2], influence[1::2], strict=True)]
    units = len(influence)
    middle = sum(influence) / units
    return float(index), float(4 * sum((x - middle) ** 2 for x in influence) / units**2), units


def share_distances(shares, threshold, members):
    """Differences over standard errors, which shares of 0 and 1 do not have."""
    return [
        math.inf
        if x in (0, 1)
        else abs(float(exact(x) - exact(threshold))) / math.sqrt(x * (1 - x) / members)
        for x in shares
    ]


def members_needed(distances, members, half_width):
    """The first number from what there is on, up to ten times it, that settles everything."""
    close = [j for j, z in enumerate(distances) if z < 2]
    undecided = [j for j in close if distances[j] == 0]
    moved = [exact(distances[j]) for j in close if distances[j] > 0]
    width = Fraction(0) if math.isnan(half_width) else exact(half_width)
    limit = Fraction(1, 40)

    def enough(M):
        # distances grow as the root of the number, and the width falls as it
        settled = all(z**2 * M >= 4 * members for z in moved)
        return settled and (width <= limit or width**2 * members <= limit**2 * M)

    suggested = next((M for M in range(members, 10 * members + 1) if enough(M)), None)
    return {
        "settled": not close,
        "precise": width <= limit,
        "members": members,
        "suggested": 10 * members if suggested is None else suggested,
        "capped": suggested is None,
        "close": tuple(sorted(close, key=lambda j: (distances[j], j))),
        "undecided": tuple(undecided),
    }


# --- bounds of stability selection


def stability_bound(p, q, cutoff, n_pairs, assumption):
    """The theorems of Shah and Samworth; None where one does not apply."""
    theta, B, cut = exact(q) / p, n_pairs, exact(cutoff)
    if cut <= theta or (assumption != "r-concave" and cut <= Fraction(1, 2)):
        return None
    if assumption == "none":
        return float(p * theta**2 / (2 * cut - 1))
    if assumption == "unimodal":
        return _unimodal(p, theta, cut, B)
    return _concave(p, theta, cut, B)


def _concave(p, theta, cut, B):
    """Section 3.3: the smaller of two tails, and the unimodal bound where that is smaller still."""
    fits = math.ceil(2 * B * cut)
    tails = (
        _largest_tail(float(theta**2) * B, B, fits - B, 2),
        _largest_tail(float(2 * theta) * B, 2 * B, fits, 4),
    )
    unimodal = _unimodal(p, theta, cut, B)
    return min(p * min(tails), math.inf if unimodal is None else unimodal)


def _unimodal(p, theta, cut, B):
    """Theorem 3, at a frequency that so many pairs can have above one half."""
    if cut <= Fraction(1, 2) or 3 * theta**2 > 1:
        return None
    cut = max(cut, Fraction(1, 2) + Fraction(1, 2 * B))
    lowest = min(Fraction(1, 2) + theta**2, Fraction(1, 2) + Fraction(1, 2 * B) + theta**2 * 3 / 4)
    if cut <= min(lowest, Fraction(3, 4)):
        return None
    if cut <= Fraction(3, 4):
        return float(p * theta**2 / (2 * (2 * cut - 1 - Fraction(1, 2 * B))))
    return float(p * theta**2 * 4 * (1 - cut + Fraction(1, 2 * B)) / (1 + Fraction(1, B)))


def _largest_tail(mean, top, index, power):
    """The largest tail of the distributions (1 + b j)^-power on 0, .., k of this mean, over k."""
    if index <= mean:
        return 1.0
    if index <= max(math.ceil(2 * mean - SLIGHTLY), 1):
        return mean / index
    best = 0.0
    for k in range(index, top + 1):
        j = np.arange(k + 1.0)

        def weights(log_slope, j=j):
            w = (1.0 + math.exp(log_slope) * j) ** -power
            return w / w.sum()

        root = brentq(lambda s, j=j, of=weights: of(s) @ j - mean, -60.0, 60.0, xtol=1e-13)
        best = max(best, float(weights(root)[index:].sum()))
    return best


def supported_bound(p, q, cutoff, n_pairs, assumption):
    """The bound with no more pairs than the assumption bears; None where it does not apply."""
    if assumption != "r-concave":
        return stability_bound(p, q, cutoff, n_pairs, assumption)
    if cutoff <= 0.5:
        return None
    unimodal = stability_bound(p, q, cutoff, n_pairs, "unimodal")
    if cutoff < LOWEST_CUTOFF:
        none = stability_bound(p, q, cutoff, n_pairs, "none")
        return none if unimodal is None else unimodal
    most = CONCAVE_PAIRS if cutoff < HIGH_CUTOFF else HIGH_PAIRS
    if n_pairs <= most:
        return stability_bound(p, q, cutoff, n_pairs, assumption)
    if exact(cutoff) <= exact(q) / p:
        return None
    below = Fraction(math.floor(2 * most * exact(cutoff)), 2 * most)
    bound = _concave(p, exact(q) / p, below, most)
    return bound if unimodal is None else min(bound, unimodal)
