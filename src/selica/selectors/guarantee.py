"""What a selection promises, in words and numbers."""

from __future__ import annotations

from dataclasses import dataclass

from selica._core.results import Result


@dataclass(frozen=True, slots=True, repr=False)
class Guarantee(Result):
    """What is controlled, at what level, and what that rests on.

    Attributes
    ----------
    controls : str
        "false discovery rate", "expected number of false selections", ..., or "nothing".
    level : float, optional
        The bound.
    proven : bool
        Whether a theorem says so under the assumptions alone; otherwise it is a common practice.
    assumptions : str
        One clause, e.g. "the covariance of the columns is known".
    source : str
        Who proved it, or where the rule comes from.

    Examples
    --------
    >>> from selica.selectors import Guarantee
    >>> print(Guarantee("false discovery rate", 0.1, True, "columns are Gaussian", "N. N. 2026"))
    The false discovery rate is at most 0.1 (N. N. 2026), if columns are Gaussian.
    """

    controls: str
    level: float | None
    proven: bool
    assumptions: str
    source: str

    def __str__(self) -> str:
        if self.level is None:
            return f"Nothing is controlled: {self.assumptions}."
        verb = "is at most" if self.proven else "is meant to be at most"
        text = f"The {self.controls} {verb} {self.level:.4g} ({self.source})"
        return f"{text}, if {self.assumptions}." if self.assumptions else f"{text}."


def no_guarantee(reason: str) -> Guarantee:
    """A selection without error control, and why."""
    return Guarantee("nothing", None, False, reason, "")
