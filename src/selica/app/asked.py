"""A study as the controls of the page describe it, in the words of planning and command line."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

from selica import planning
from selica._core.effects import Effects, EmpiricalEffects, effects_of
from selica._core.errors import ArgumentError
from selica._core.wording import signals

_RATIOS = {
    "numeric": ("Betas", "betas"),
    "binary": ("OddsRatios", "odds-ratios"),
    "counts": ("RateRatios", "rate-ratios"),
    "survival": ("HazardRatios", "hazard-ratios"),
}
"""Class and option for effects that have a size of their own, by the response."""
_RESPONSES = {"binary": "Binary", "counts": "Counts", "survival": "Survival"}
"""Classes of responses that are no plain numbers."""

_CALLED = {"binary": "binary response", "counts": "counts", "survival": "survival times"}
"""What responses are called in a sentence."""
_DETAILS = {
    "prevalence": "prevalence",
    "cases": "share of cases",
    "rate": "mean",
    "events": "share of events",
}
"""What arguments of a response are called in a sentence."""


class Asked(NamedTuple):
    """A study without its number of samples; two that ask the same are equal."""

    n_features: int
    n_signals: int
    fdr: float
    r2: float | None = 0.5
    """None where effects have a size of their own."""
    effects: str = "gaussian"
    """Name of a distribution, or numbers with commas between them."""
    response: str = "numeric"
    details: tuple[tuple[str, float], ...] = ()
    """Arguments of the response."""
    covariance: tuple[Any, ...] = ()
    """Form of the correlation, such as ("ar1", 0.5); empty for independent columns."""

    @property
    def is_plain(self) -> bool:
        """Whether the response is numeric and columns are independent, as in most of the theory."""
        return self.response == "numeric" and not self.covariance

    def keywords(self) -> dict[str, Any]:
        """Return the arguments of functions of `planning`."""
        found: dict[str, Any] = {"n_features": self.n_features, "n_signals": self.n_signals}
        found["effects"] = self.law
        if self.r2 is not None:
            found["r2"] = self.r2
        if self.response in _RESPONSES:
            found["response"] = getattr(planning, _RESPONSES[self.response])(**dict(self.details))
        if self.covariance:
            found["covariance"] = self.covariance
        return found

    @property
    def law(self) -> Effects:
        """The distribution of the effects."""
        if self.r2 is None:
            name, _ = _RATIOS[self.response]
            law: Effects = getattr(planning, name)([*map(float, self.effects.split(","))])
            return law
        return effects_of(self.effects)

    def study(self, n_samples: int) -> planning.Study:
        """Return the study with so many samples."""
        return _study(self, n_samples)

    def words(self) -> str:
        """Return the options of a command."""
        words = [f"-p {self.n_features}"]
        if self.r2 is None:
            words += [f"--{_RATIOS[self.response][1]}={self.effects}"]
        else:
            words += [f"-k {self.n_signals}", f"--r2 {self.r2:g}"]
            words += [] if self.effects == "gaussian" else [f"--effects={self.effects}"]
        if self.response != "numeric":
            words += [f"--response {self.response}"]
        words += [f"--{name} {value:g}" for name, value in self.details]
        if self.covariance:
            words += [f"--covariance {':'.join(_written(part) for part in self.covariance)}"]
        return " ".join([*words, f"--fdr {self.fdr:g}"])

    def __str__(self) -> str:
        words = [f"{self.n_features:,} variables", signals(self.n_signals)]
        if self.r2 is None:
            words += [f"{_RATIOS[self.response][1].replace('-', ' ')} {_few(self.effects)}"]
        else:
            words += [f"R²\N{NO-BREAK SPACE}{self.r2:g}", effects_of(self.effects).label]
        if self.response != "numeric":
            inner = ", ".join(f"{_DETAILS[name]} {value:g}" for name, value in self.details)
            words += [f"{_CALLED[self.response]} ({inner})"]
        if self.covariance:
            name, *parts = self.covariance
            called = {"ar1": "AR(1)", "block": "blocks"}.get(name, name)
            words += [f"columns correlated, {called} {' of '.join(map(_written, parts))}"]
        return ", ".join([*words, f"FDR {self.fdr:g}"])


@lru_cache(maxsize=256)
def _study(asked: Asked, n_samples: int) -> planning.Study:
    return planning.Study.of(n_samples, **asked.keywords())


def numbers_of(text: str, most: int) -> tuple[str, int]:
    """Return typed numbers with commas between them, and how many they are.

    Parameters
    ----------
    text : str
        Numbers with commas or spaces between them.
    most : int
        One for each variable.
    """
    law = effects_of(text)
    if not isinstance(law, EmpiricalEffects):
        raise ArgumentError("effects must be numbers.")
    if len(law.values) > most:
        raise ArgumentError(f"effects must be at most {most} numbers, one for each variable.")
    return ",".join(text.replace(",", " ").split()), len(law.values)


def _written(part: Any) -> str:
    return f"{part:g}" if isinstance(part, float) else str(part)


def _few(text: str) -> str:
    """Return the first of many numbers."""
    parts = text.split(",")
    return ", ".join(parts[:5]) + (", …" if len(parts) > 5 else "")
