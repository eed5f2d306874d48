r"""Expected false selections of stability selection on complementary pairs of half samples.

:math:`B` pairs of disjoint halves give :math:`2B` fits that select :math:`q` of :math:`p` variables
on average. A variable is kept when its selection frequency :math:`\hat\Pi` is at least the cutoff
:math:`\pi`. With :math:`\theta = q/p`, the expected number of kept variables that one half sample
selects with probability at most :math:`\theta` (noise variables are such, if the fits do better
than guessing) is at most

- without further assumption (Meinshausen & Bühlmann 2010, theorem 1; Shah & Samworth 2013,
  theorem 1), for :math:`\pi > 1/2`,

  .. math:: \frac{q^2}{(2\pi - 1)\, p} ;

- if the fraction of pairs that select a variable twice has a unimodal distribution (Shah &
  Samworth, theorem 3), for :math:`\theta \le 1/\sqrt 3`,

  .. math::
      \frac{q^2}{p} \cdot
      \begin{cases}
      \frac{1}{2 (2\pi - 1 - 1/(2B))} &
      \min(\frac12 + \theta^2, \frac12 + \frac1{2B} + \frac34 \theta^2) < \pi \le \frac34 \\
      \frac{4 (1 - \pi + 1/(2B))}{1 + 1/B} & \frac34 < \pi \le 1 ;
      \end{cases}

- if that distribution is r-concave with :math:`r = -1/2` and that of :math:`\hat\Pi` with
  :math:`r = -1/4` (Shah & Samworth, section 3.3), for :math:`\pi > \theta`, also below one half,

  .. math::
      p \min\{1, D(\theta^2, 2\pi - 1; B, -\tfrac12), D(\theta, \pi; 2B, -\tfrac14)\} ,

  where :math:`D(\eta, t; B, r)` is the largest :math:`P(X \ge t)` over r-concave distributions on
  :math:`\{0, 1/B, .., 1\}` of mean at most :math:`\eta`.

All of them are for halves drawn without replacement, in complementary pairs. The first one also
holds for the probability that a random half selects a variable, and so for the share of very many
halves. They do not hold for the bootstrap.

To be r-concave is an assumption about a grid of :math:`2B + 1` frequencies, and the more
pairs there are, the more it asks. Frequencies of irrelevant variables do not meet it: where nothing
matters, and the fields of the halves are normal, more of them than the bound allows reach a cutoff
below one half (five times as many at 0.2 where q / p is 1/400), and with 128 pairs also cutoffs up
to 0.8 (3.6 times as many at 0.6). For all q / p the bound holds there with at most 20 pairs above
one half, and with at most 1000 pairs from a cutoff of 0.9 on. It falls with the number of pairs, so
that the bound of so many is implied for more of them: `supported_bound` counts no more pairs than
these, and is for cutoffs above one half.

A single row that decides what every half selects that has it, as an outlier of the response does,
gives q variables a frequency of one half and a little more: up to seven times as many false
selections as this bound allows at a cutoff of 0.51, and 1.6 times at 0.55. Frequencies that pile up
at one half are not r-concave. Below a cutoff of 0.6 `supported_bound` is therefore the unimodal
bound, or that without an assumption. Both are implied; such a row can reach 1.05 times the first,
where q / p is above 0.1, and none of the second. From 0.6 on it can reach 1.3 times the r-concave
bound with 20 pairs, and 1.06 times with 100 or more, where q / p is above 0.25. The tests compute
these numbers, and `python -m benchmarks.stability_bounds` measures false selections beside both
bounds.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass
from functools import lru_cache

from selica._core.errors import ArgumentError
from selica._core.results import Result
from selica._core.rounding import ROUNDING, ceiling
from selica._core.validation import choice, count, number
from selica.control.concave import largest_tail

ASSUMPTIONS = ("none", "unimodal", "r-concave")
"""What may be assumed of the frequencies of irrelevant variables."""
CONCAVE_PAIRS = 20
"""The r-concave bound of more pairs is exceeded by variables that do not matter."""
LOWEST_CUTOFF = 0.6
"""Below this cutoff frequencies that pile up at one half exceed the r-concave bound."""
HIGH_CUTOFF = 0.9
"""A cutoff from which on more pairs may count."""
HIGH_PAIRS = 1000
"""As many, at such a cutoff."""
_BELOW_HALF = "cutoff must be above 1/2 under the assumption {!r}; got {:g}."
MOST_PAIRS = 10_000
"""More pairs change a bound by less than a hundredth, and the r-concave one takes a second."""


@dataclass(frozen=True, slots=True, repr=False)
class StabilityParameters(Result):
    """Settings of stability selection that belong together; see `stability_parameters`.

    Examples
    --------
    >>> from selica.control import stability_parameters
    >>> found = stability_parameters(1000, cutoff=0.75, pfer=1.0)
    >>> found.q, round(found.bound, 3), found.feasible
    (22, 0.968, True)
    """

    p: int
    """Number of variables."""
    q: float
    """Variables selected by one fit, on average."""
    cutoff: float
    """Selection frequency from which on a variable is kept."""
    pfer: float
    """Expected false selections allowed; equal to `bound` if they were asked for."""
    bound: float
    """Bound on the expected false selections at `q` and `cutoff`."""
    feasible: bool
    """Whether `bound` is at most `pfer`."""
    n_pairs: int
    assumption: str


def stability_bound(
    p: int, q: float, cutoff: float, n_pairs: int = 50, assumption: str = "none"
) -> float:
    """Return a bound on the expected number of false selections of stability selection.

    It is valid for complementary pairs of half samples (and under "none" for so many other half
    samples that their share is a probability), not for the bootstrap.

    Parameters
    ----------
    p : int
        Number of variables, at least two.
    q : float
        Number of variables that one fit selects, on average; below p.
    cutoff : float
        A variable is kept when its selection frequency is at least this. Above q / p, at most one,
        and above one half unless the assumption is "r-concave".
    n_pairs : int
        Number of complementary pairs B, that is, of fits divided by two.
    assumption : {"none", "unimodal", "r-concave"}
        On the distribution of a noise variable's selection frequency. "unimodal" needs
        q <= p / sqrt(3) and a cutoff that is not too close to one half.

    Returns
    -------
    float
        A bound of p or more says nothing.

    Notes
    -----
    Where the computation of the r-concave bound stops (a cutoff below about twice q / p) Markov's
    inequality and, if it applies, the unimodal bound take its place; both are implied.

    This is the theorem as published. Its r-concave assumption fails at low cutoffs and with many
    pairs: `supported_bound` is the bound that selections rely on.

    Examples
    --------
    >>> from selica.control import stability_bound
    >>> for assumption in ("none", "unimodal", "r-concave"):
    ...     print(f"{stability_bound(100, 5, 0.6, assumption=assumption):.4f}")
    1.2500
    0.6579
    0.2605
    """
    setting = _checked(p, q, cutoff, n_pairs, assumption)
    obstacle = _obstacle(*setting)
    if obstacle:
        raise ArgumentError(obstacle)
    return _bound(*setting)


def supported_bound(
    p: int, q: float, cutoff: float, n_pairs: int = 50, assumption: str = "none"
) -> float:
    """Return `stability_bound` as far as simulations without signals support its assumption.

    Under "none" and "unimodal" this is `stability_bound`. Under "r-concave" the cutoff must be
    above one half, and it is the bound of at most 20 pairs, or of at most 1000 from a cutoff of 0.9
    on, which is larger than that of more pairs; below a cutoff of 0.6 it is the "unimodal" bound,
    or that under "none".

    Parameters
    ----------
    p, q, cutoff, n_pairs, assumption
        As in `stability_bound`.

    Returns
    -------
    float
        A bound of p or more says nothing.

    Examples
    --------
    >>> from selica.control import stability_bound, supported_bound
    >>> for n_pairs in (20, 128):
    ...     bounds = (f(1000, 35, 0.6, n_pairs, "r-concave") for f in (stability_bound,
    ...                                                               supported_bound))
    ...     print(*(f"{bound:.2f}" for bound in bounds))
    1.71 1.71
    0.99 1.71
    """
    setting = _checked(p, q, cutoff, n_pairs, assumption)
    obstacle = _unsupported(*setting)
    if obstacle:
        raise ArgumentError(obstacle)
    return _supported(*setting)


def stability_parameters(
    p: int,
    *,
    q: float | None = None,
    cutoff: float | None = None,
    pfer: float | None = None,
    n_pairs: int = 50,
    assumption: str = "none",
) -> StabilityParameters:
    """Return the third of q, cutoff and expected false selections from the other two.

    The bound is that of `supported_bound`.

    Parameters
    ----------
    p : int
        Number of variables, at least two.
    q : float, optional
        Number of variables that one fit selects, on average. If it is asked for: the largest
        integer whose bound is at most `pfer`. Under "r-concave" it stays below about p / 2
        (ceil(4 B q / p) + 1 < 2 B), where both parts of the bound are at work.
    cutoff : float, optional
        Selection frequency from which on a variable is kept. If it is asked for: the smallest
        multiple of 1 / (2 n_pairs) whose bound is at most `pfer`.
    pfer : float, optional
        Expected false selections allowed (per-family error rate). If it is asked for: the bound.
    n_pairs : int
        Number of complementary pairs of half samples.
    assumption : {"none", "unimodal", "r-concave"}
        See `stability_bound`. Under "r-concave" the cutoff is above one half too.

    Returns
    -------
    StabilityParameters
        If nothing keeps the bound below `pfer`, `feasible` is False and the strictest setting is
        returned with its bound: a cutoff of one, or q = 1.

    Examples
    --------
    >>> from selica.control import stability_parameters
    >>> found = stability_parameters(200, q=7, pfer=0.2, assumption="unimodal")
    >>> found.cutoff, round(found.bound, 4), found.feasible
    (0.81, 0.1922, True)
    >>> stability_parameters(200, cutoff=0.6, pfer=0.2, assumption="r-concave").q
    5
    >>> stability_parameters(10, q=3, pfer=0.2).feasible
    False
    """
    p, n_pairs = count("p", p, at_least=2), count("n_pairs", n_pairs, at_most=MOST_PAIRS)
    assumption = choice("assumption", assumption, ASSUMPTIONS)
    if pfer is None and q is not None and cutoff is not None:
        pfer = bound = supported_bound(p, q, cutoff, n_pairs, assumption)
        q, cutoff = _average(q, p), float(cutoff)
    elif cutoff is None and q is not None and pfer is not None:
        q, pfer = _average(q, p), number("pfer", pfer, above=0.0)
        cutoff = _smallest_cutoff(p, q, pfer, n_pairs, assumption)
        bound = supported_bound(p, q, cutoff, n_pairs, assumption)
    elif q is None and cutoff is not None and pfer is not None:
        cutoff = number("cutoff", cutoff, above=0.0, at_most=1.0)
        pfer = number("pfer", pfer, above=0.0)
        q = _largest_q(p, cutoff, pfer, n_pairs, assumption)
        bound = supported_bound(p, q, cutoff, n_pairs, assumption)
    else:
        raise ArgumentError("q, cutoff and pfer: give exactly two of them to get the third.")
    q = int(q) if q == int(q) else q
    return StabilityParameters(
        p=p,
        q=q,
        cutoff=cutoff,
        pfer=pfer,
        bound=bound,
        feasible=_allowed(bound, pfer),
        n_pairs=n_pairs,
        assumption=assumption,
    )


def _smallest_cutoff(p: int, q: float, pfer: float, n_pairs: int, assumption: str) -> float:
    """Return the smallest multiple of 1 / (2 n_pairs) that is allowed, else one."""

    def allowed(fits: int) -> bool:
        cutoff = fits / (2 * n_pairs)
        if _unsupported(p, q, cutoff, n_pairs, assumption):
            return False
        return _allowed(_supported(p, q, cutoff, n_pairs, assumption), pfer)

    # every bound falls with the cutoff, and where it applies it applies to larger cutoffs too
    fits = 1 + bisect_left(range(1, 2 * n_pairs), True, key=allowed)
    return fits / (2 * n_pairs)


def _largest_q(p: int, cutoff: float, pfer: float, n_pairs: int, assumption: str) -> int:
    """Return the largest integer that is allowed, else one."""
    limit = p - 1
    if assumption == "r-concave":
        limit = min(limit, largest_usable_q(p, n_pairs))

    def forbidden(q: int) -> bool:
        if _unsupported(p, q, cutoff, n_pairs, assumption):
            return True
        return not _allowed(_supported(p, q, cutoff, n_pairs, assumption), pfer)

    # the largest that is allowed lies just below the smallest that is not
    return 1 + bisect_left(range(2, limit + 1), True, key=forbidden)


def largest_usable_q(p: int, n_pairs: int) -> int:
    """Return the largest integer q with ceil(4 B q / p) + 1 < 2 B, at least one: about p / 2.

    The published computation ends there: for larger q its second part says nothing but at the
    very largest cutoffs.
    """
    return max(1, (2 * n_pairs - 2) * p // (4 * n_pairs))


def _allowed(bound: float, pfer: float) -> bool:
    return bound <= pfer * (1.0 + ROUNDING)


def _checked(
    p: int, q: float, cutoff: float, n_pairs: int, assumption: str
) -> tuple[int, float, float, int, str]:
    """Return the arguments of a bound, checked."""
    p = count("p", p, at_least=2)
    n_pairs = count("n_pairs", n_pairs, at_most=MOST_PAIRS)
    assumption = choice("assumption", assumption, ASSUMPTIONS)
    q = _average(q, p)
    return p, q, number("cutoff", cutoff, above=0.0, at_most=1.0), n_pairs, assumption


def _average(q: float, p: int) -> float:
    got = number("q", q, above=0.0)
    if got >= p:
        raise ArgumentError(_too_many(got, p))
    return got


def _too_many(q: float, p: int) -> str:
    return f"q must be below p = {p}; got {q:g}."


def bound_obstacle(p: int, q: float, cutoff: float, n_pairs: int, assumption: str) -> str:
    """Say why `supported_bound` does not apply, in a sentence; nothing if it does.

    Parameters
    ----------
    p, q, cutoff, n_pairs, assumption
        As in `supported_bound`; here one variable, any q and any number of pairs may be asked for.
    """
    if p < 2:
        return "a bound on false selections needs two variables."
    if n_pairs > MOST_PAIRS:
        return f"n_pairs must be at most {MOST_PAIRS}; got {n_pairs}."
    if q <= 0.0:
        return "q must be above 0: no fit selects any variable."
    return _too_many(q, p) if q >= p else _unsupported(p, q, cutoff, n_pairs, assumption)


def _obstacle(p: int, q: float, cutoff: float, n_pairs: int, assumption: str) -> str:
    """Say why the bound does not apply, in a sentence; empty if it does."""
    theta = q / p
    if cutoff <= theta + ROUNDING:
        return (
            f"cutoff must be above q / p = {theta:g}, which irrelevant variables reach by chance; "
            f"got {cutoff:g}."
        )
    if assumption == "r-concave":
        return ""
    if cutoff <= 0.5 + ROUNDING:
        return _BELOW_HALF.format(assumption, cutoff)
    if assumption == "unimodal":
        # the theorem's own condition: beyond it there are unimodal laws above the bound
        if 3.0 * theta**2 > 1.0 + ROUNDING:
            largest = p / math.sqrt(3.0)
            return f"q must be at most p / sqrt(3) = {largest:g} for the unimodal bound; got {q:g}."
        lowest = min(0.5 + theta**2, 0.5 + 0.5 / n_pairs + 0.75 * theta**2, 0.75)
        if _attained(cutoff, n_pairs) <= lowest + ROUNDING:
            return f"cutoff must be above {lowest:g} for the unimodal bound; got {cutoff:g}."
    return ""


def _unsupported(p: int, q: float, cutoff: float, n_pairs: int, assumption: str) -> str:
    """Say why no promise rests on the bound, in a sentence; empty if one may."""
    if assumption == "r-concave" and cutoff <= 0.5 + ROUNDING:
        return _BELOW_HALF.format(assumption, cutoff)
    return _obstacle(p, q, cutoff, n_pairs, assumption)


def _supported(p: int, q: float, cutoff: float, n_pairs: int, assumption: str) -> float:
    if assumption == "r-concave" and cutoff < LOWEST_CUTOFF - ROUNDING:
        weaker = "none" if _obstacle(p, q, cutoff, n_pairs, "unimodal") else "unimodal"
        return _bound(p, q, cutoff, n_pairs, weaker)
    pairs = CONCAVE_PAIRS if cutoff < HIGH_CUTOFF - ROUNDING else HIGH_PAIRS
    if assumption != "r-concave" or n_pairs <= pairs:
        return _bound(p, q, cutoff, n_pairs, assumption)
    # the largest frequency of so few pairs that is not above the cutoff
    below = math.floor(2 * pairs * cutoff * (1.0 + ROUNDING)) / (2 * pairs)
    bound = _bound(p, q, below, pairs, assumption)
    if _obstacle(p, q, cutoff, n_pairs, "unimodal"):
        return bound
    return min(bound, _bound(p, q, cutoff, n_pairs, "unimodal"))


def _attained(cutoff: float, n_pairs: int) -> float:
    """Return the cutoff, or the smallest frequency above one half that the fits can have."""
    return max(cutoff, 0.5 + 0.5 / n_pairs)


def _bound(p: int, q: float, cutoff: float, n_pairs: int, assumption: str) -> float:
    theta = q / p
    if assumption == "none":
        return q * theta / (2.0 * cutoff - 1.0)
    if assumption == "unimodal":
        return q * theta * _unimodal(_attained(cutoff, n_pairs), n_pairs)
    return _concave(p, q, cutoff, n_pairs)


@lru_cache(maxsize=4096)
def _concave(p: int, q: float, cutoff: float, n_pairs: int) -> float:
    """Return the r-concave bound; kept, as selections of tables of one size ask for the same."""
    theta = q / p
    fits = ceiling(2 * n_pairs * cutoff)  # a frequency of at least the cutoff is a count from here
    # fits beyond n_pairs come at least that often from pairs that select the variable twice
    twice = largest_tail(theta**2 * n_pairs, n_pairs, fits - n_pairs, 2)
    bound = p * min(twice, largest_tail(2 * theta * n_pairs, 2 * n_pairs, fits, 4))
    if _obstacle(p, q, cutoff, n_pairs, "unimodal"):
        return bound
    return min(bound, _bound(p, q, cutoff, n_pairs, "unimodal"))


def _unimodal(cutoff: float, n_pairs: int) -> float:
    if cutoff <= 0.75:
        return 0.5 / (2.0 * cutoff - 1.0 - 0.5 / n_pairs)
    return 4.0 * (1.0 - cutoff + 0.5 / n_pairs) / (1.0 + 1.0 / n_pairs)
