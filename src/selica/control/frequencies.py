r"""How often a noise variable can be selected in many of the runs of a derandomised selection.

A selection is repeated with :math:`M` knockoff copies, and a variable kept when the frequency
:math:`\Pi` of its selection is at least :math:`\eta` (Ren, Wei & Candès 2023). If one run makes at
most :math:`v` false selections in expectation, the kept set makes at most :math:`v R`, where
:math:`R` bounds :math:`P(\Pi \ge \eta) / E\,\Pi`. Markov's inequality has :math:`R = 1/\eta`. If
the probabilities of :math:`0, 1/M, .., 1` do not increase, then with
:math:`j_0 = \lceil \eta M \rceil`

.. math:: R = \max_{j_0 \le k \le M} \frac{2 M (k - j_0 + 1)}{k (k + 1)} ,

the value at the uniform distribution on :math:`0, .., k`. The ratio rises up to
:math:`k = 2 j_0 - 1` and falls from there on, so that the maximum is :math:`M / (2 j_0 - 1)`
if :math:`2 j_0 - 1 \le M`, and
:math:`2 (M - j_0 + 1) / (M + 1)` otherwise.
"""

from __future__ import annotations

from selica._core.rounding import ceiling
from selica._core.validation import choice, count, number


def frequency_bound(n_copies: int, eta: float, assumption: str = "monotone") -> float:
    """Return the largest P(Pi >= eta) / E(Pi) of the selection frequency Pi of a noise variable.

    Times the expected false selections of one run, it bounds those of the variables that are
    selected in a share of at least eta of the runs.

    Parameters
    ----------
    n_copies : int
        Number of runs M.
    eta : float
        Selection frequency from which on a variable is kept, above 0 and at most 1.
    assumption : {"monotone", "none"}
        "monotone": the probabilities of 0, 1/M, .., 1 for Pi do not increase. "none": any
        distribution, 1 / eta.

    Examples
    --------
    >>> from selica.control import frequency_bound
    >>> frequency_bound(31, 0.5), frequency_bound(31, 0.75), frequency_bound(31, 1.0)
    (1.0, 0.5, 0.0625)
    >>> frequency_bound(31, 0.5, assumption="none")
    2.0
    """
    n_copies = count("n_copies", n_copies)
    eta = number("eta", eta, above=0.0, at_most=1.0)
    if choice("assumption", assumption, ("monotone", "none")) == "none":
        return 1.0 / eta
    least = max(ceiling(eta * n_copies), 1)  # selections that keep a variable
    if 2 * least - 1 <= n_copies:
        return n_copies / (2 * least - 1)
    return 2 * (n_copies - least + 1) / (n_copies + 1)
