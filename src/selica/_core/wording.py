"""Sentences and phrases that several rooms say."""

from __future__ import annotations

from selica._core.effects import Effects


def assumptions(effects: Effects) -> str:
    """Return what every prediction for a study assumes, in a sentence.

    Parameters
    ----------
    effects : Effects
        Distribution of the non-zero effects.

    Examples
    --------
    >>> from selica._core.wording import assumptions
    >>> from selica.theory import PointEffects
    >>> assumptions(PointEffects())
    'Assumes independent columns, independent rows, a linear response and equal effects.'
    """
    return f"Assumes independent columns, independent rows, a linear response and {effects.label}."


def signals(n: int) -> str:
    """Say how many signals there are.

    Parameters
    ----------
    n : int

    Examples
    --------
    >>> from selica._core.wording import signals
    >>> signals(1), signals(2)
    ('1 signal', '2 signals')
    """
    return f"{n} signal" if n == 1 else f"{n} signals"
