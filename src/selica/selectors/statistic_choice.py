"""The rule by which a statistic is chosen where the user leaves it open."""

from __future__ import annotations

from typing import Any, NamedTuple

from selica.statistics import Data

_LARGEST_MATRIX = 3000
"""Rows of the largest square matrix that "bayes" may need where it was not asked for."""


class StatisticChoice(NamedTuple):
    """How variables are compared with their copies where the user leaves it open, and why.

    Examples
    --------
    >>> from selica.selectors.statistic_choice import StatisticChoice
    >>> chosen = StatisticChoice("coefficient", "a penalty is given (lam)")
    >>> print(chosen.sentence)  # doctest: +NORMALIZE_WHITESPACE
    Variables are compared with their copies by statistic='coefficient' because a penalty is given
    (lam).
    """

    name: str
    because: str

    @property
    def sentence(self) -> str:
        """Which statistic compares them and why."""
        return (
            f"Variables are compared with their copies by statistic={self.name!r} because "
            f"{self.because}."
        )


def statistic_choice(
    data: Data,
    lam: Any,
    estimator: Any,
    *,
    n_joint: int = 1,
    coefficients: str = "",
) -> StatisticChoice:
    """Choose how variables are compared with their copies, by settings, response and shape alone.

    Parameters
    ----------
    data : Data
        The table in standard form.
    lam, estimator
        As in `KnockoffSelection`.
    n_joint : int
        Number of joint copies.
    coefficients : str
        Why the rule of a selector is one on coefficients, as a clause; empty where it is not.

    Examples
    --------
    >>> import numpy as np
    >>> from selica.selectors.statistic_choice import statistic_choice
    >>> from selica.statistics import make_data
    >>> data = make_data(np.eye(4), np.arange(4.0), "squared")
    >>> statistic_choice(data, "auto", None).name, statistic_choice(data, 0.1, None).name
    ('bayes', 'coefficient')
    """
    n, p = data.X.shape
    reasons = {
        "an estimator is given": estimator is not None,
        "a penalty is given (lam)": not (isinstance(lam, str) and lam == "auto"),
        "an elastic net is asked for (l1_ratio)": data.l1_ratio < 1.0,
        "there are several joint copies": n_joint > 1,
        "the response has several classes": data.loss.several,
        "the table is large": min(n, 2 * p) > _LARGEST_MATRIX,
        coefficients: bool(coefficients),
    }
    because = next((reason for reason, holds in reasons.items() if holds), "")
    if because:
        return StatisticChoice("coefficient", because)
    return StatisticChoice("bayes", "no setting asks for a penalised fit")
