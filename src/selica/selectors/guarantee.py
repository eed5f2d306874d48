"""What a selection promises, in words and numbers."""

from __future__ import annotations

from dataclasses import dataclass, replace

from selica._core.results import Result

RATIO = "ratio of the false share to the level"
"""What is controlled where the level is chosen after the fit."""
_OF_GROUPS = (
    "A group is false if none of its members matters given all other variables; nothing is "
    "promised about single members."
)


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
        One clause beside the independence of the rows, on which every promise rests, e.g. "the
        joint distribution of the predictors is the one that was given".
    source : str
        Who proved it, or where the rule comes from.
    settings : str
        A sentence on how the level comes about, or nothing.
    units : str
        What must be independent of each other.
    discoveries : {"variables", "groups"}
        What is selected, and so what the level counts.
    withdrawn : bool
        Whether the rule has a promise that these data took away.

    Examples
    --------
    >>> from selica.selectors import Guarantee
    >>> promise = Guarantee("false discovery rate", 0.1, True, "the predictors are normal", "N. N.")
    >>> print(promise)  # doctest: +NORMALIZE_WHITESPACE
    On average at most 10 % of the selected variables are false. This is proven if the rows are
    independent and the predictors are normal [N. N.].
    """

    controls: str
    level: float | None
    proven: bool
    assumptions: str
    source: str
    settings: str = ""
    units: str = "the rows"
    discoveries: str = "variables"
    withdrawn: bool = False

    def __str__(self) -> str:
        if self.level is None:
            return self.basis
        text = f"{self._claim(self.level)}. {self.basis}"
        said = [text, self.settings, _OF_GROUPS if self.discoveries == "groups" else ""]
        return " ".join(part for part in said if part)

    @property
    def basis(self) -> str:
        """What it rests on, as a sentence."""
        if self.level is None:
            return f"No error rate is controlled: {self.assumptions}."
        how = "proven" if self.proven else "expected, not proven,"
        rests = f"{self.units} are independent"
        if ", and " in self.assumptions:  # one of several
            *first, last = self.assumptions.split(", and ")
            rests = f"{rests}, {', '.join(first)}, and {last}"
        elif self.assumptions:
            rests += f"{',' if ' and ' in self.assumptions else ''} and {self.assumptions}"
        source = f" [{self.source}]" if self.source else ""
        return f"This is {how} if {rests}{source}."

    def needing(self, clause: str) -> Guarantee:
        """Return the promise with one more assumption, under which it is as proven as before.

        Parameters
        ----------
        clause : str
        """
        if self.level is None:
            return self
        return replace(self, assumptions=f"{self.assumptions}, and {clause}")

    def supposing(self, clause: str) -> Guarantee:
        """Return the promise with one more assumption, under which it is expected, not proven.

        Parameters
        ----------
        clause : str
        """
        return replace(self.needing(clause), proven=False)

    def _claim(self, level: float) -> str:
        """Say what is controlled, as a sentence."""
        percent = f"{100.0 * level:.3g} %"
        if self.controls == "false discovery rate":
            return f"On average at most {percent} of the selected {self.discoveries} are false"
        if self.controls == "expected number of false selections":
            many = f"false {self.discoveries} are"
            if f"{level:.3g}" == "1":
                many = f"false {self.discoveries.removesuffix('s')} is"
            return f"On average at most {level:.3g} {many} selected"
        if self.controls == RATIO:
            return (
                f"The false share divided by the level is at most {level:.3g} on average, also "
                "when the level is chosen after the fit"
            )
        if self.controls.startswith("probability"):
            return f"The {self.controls} is at most {percent}"
        return f"The {self.controls} is at most {level:.3g}"


def kept_by_number(promise: Guarantee, fdr: float) -> Guarantee:
    """Return a promise on the number of false selections as one on their share.

    The share of false selections is not zero only if there is one, and the probability of that is
    at most their expected number.

    Parameters
    ----------
    promise : Guarantee
    fdr : float
        The false discovery rate that was asked for.

    Examples
    --------
    >>> from selica.selectors.guarantee import Guarantee, kept_by_number
    >>> number = Guarantee("expected number of false selections", 0.1, True, "", "")
    >>> print(kept_by_number(number, 0.1))  # doctest: +NORMALIZE_WHITESPACE
    On average at most 10 % of the selected variables are false. This is proven if the rows are
    independent. This level is kept by allowing at most 0.1 false variables on average.
    """
    if promise.level is None:
        return promise
    if promise.level >= 1.0:
        return no_guarantee(
            "so few resamples bound the number of false selections, and not their share"
        )
    said = f"This level is kept by allowing at most {promise.level:.3g} false variables on average"
    if promise.level < 0.995 * fdr:
        said += f"; you asked for {100.0 * fdr:.3g} %"
    return replace(promise, controls="false discovery rate", settings=f"{said}.")


def no_guarantee(reason: str, *, withdrawn: bool = False) -> Guarantee:
    """Return the guarantee of a selection without error control, and why.

    Parameters
    ----------
    reason : str
        As a clause.
    withdrawn : bool
        Whether the rule has a promise that these data took away.
    """
    return Guarantee("nothing", None, False, reason, "", withdrawn=withdrawn)
