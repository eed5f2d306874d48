"""Bounds on false selections by frequencies: for which resampling they hold, what they allow."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

from selica._core.errors import ArgumentError
from selica._core.rounding import ROUNDING
from selica.control import stability_parameters, supported_bound
from selica.control.stability import bound_obstacle
from selica.control.thresholds import CARRIED_SHARE, THRESHOLD
from selica.selectors.guarantee import Guarantee, no_guarantee
from selica.statistics import Data

_SOURCES = {
    "none": "Meinshausen and Bühlmann 2010",
    "unimodal": "Shah and Samworth 2013, unimodal frequencies",
    "r-concave": "Shah and Samworth 2013, r-concave frequencies",
}
ALIKE = (
    "all irrelevant variables are alike (each as likely as any other to be picked from half of the "
    "rows)"
)
"""What every bound on false selections by frequencies rests on."""
_ASSUMPTIONS = {
    "none": ALIKE,
    "unimodal": f"{ALIKE}, with selection frequencies whose distribution has one peak",
    "r-concave": f"{ALIKE}, with selection frequencies whose distribution falls smoothly",
}


MANY_HALVES = "so many halves are drawn that their share is as good as a probability"
"""What a bound rests on where halves do not come in complementary pairs."""
_PREFERRED_THRESHOLD = 0.7
"""Largest threshold that is preferred to an assumption: higher ones cost too much power."""
_CARRIED_BY_NETS = 20
"""Variables that half of the rows may select at least, as long as there are so many rows, where the
penalty has a ridge: an elastic net is not limited by the rows as the lasso is."""


def carried(data: Data) -> int:
    """Return how many variables a fit to half of the rows can carry."""
    rows = data.loss.informative_rows(data.y[data.weight > 0.0])
    if data.units is not None:  # rows of one unit may all say the same
        rows = min(rows, int(data.units.max()) + 1)
    most = int(CARRIED_SHARE * rows / 2) - data.n_kept
    if data.l1_ratio < 1.0:
        independent = data.n_rows if data.units is None else data.n_units
        most = max(most, min(_CARRIED_BY_NETS, independent // 2))
    return max(most, 1)


def weakest_assumption(p: int, pfer: float, q: int) -> str:
    """Return the assumption of a bound for q variables of each half: none where none is needed.

    Without one the threshold has to be higher. Where it is at most 0.7, little is gained by
    assuming more.
    """
    if q < p:
        found = stability_parameters(p, q=q, pfer=pfer, assumption="none")
        if found.feasible and found.cutoff <= _PREFERRED_THRESHOLD:
            return "none"
    return "r-concave"


class Bound(NamedTuple):
    """A theorem with its assumption, and the resampling it is asked of."""

    assumption: str
    resampling: str
    rate: float

    @property
    def proven(self) -> bool:
        """Whether a theorem is for this resampling."""
        half = self.resampling == "subsample" and self.rate == 0.5
        return self.resampling == "pairs" or (half and self.assumption == "none")

    def parameters(
        self, p: int, B: int, pfer: float, threshold: float | None, q: int | None, most: int
    ) -> tuple[float, int]:
        """Return threshold and q that keep the expected number of false selections at `pfer`.

        A q that is chosen here is at most `most`, which half of the rows can carry; the threshold
        is then the smallest one that this q allows, unless it was given.
        """
        if not self.proven:
            pairs = "'pairs'" if self.assumption != "none" else "'pairs' or 'subsample' at rate 1/2"
            raise ArgumentError(
                f"pfer with assumption={self.assumption!r} is proven for resampling={pairs} only; "
                f"got {self.resampling!r} at rate {self.rate:g}."
            )
        if threshold is not None and threshold <= 0.5 + ROUNDING:
            raise ArgumentError(
                "threshold must be above 1/2 where pfer is bounded, which is the default unless "
                f"lam or fdr is given; got {threshold:g}."
            )
        settings: dict[str, Any] = {
            "pfer": pfer, "n_pairs": max(B // 2, 1), "assumption": self.assumption
        }  # fmt: skip
        if q is None and threshold is None:
            q = min(int(stability_parameters(p, cutoff=THRESHOLD, **settings).q), most)
        if q is not None:
            found = stability_parameters(p, q=q, **settings)
        else:
            found = stability_parameters(p, cutoff=threshold, **settings)
            found = replace(found, q=min(found.q, most))
        if not found.feasible:
            raise ArgumentError(
                f"pfer must be at least {found.bound:.3g} for {p} variables and {B} resamples with "
                f"q={found.q} and threshold={found.cutoff:g}; got {pfer:g}."
            )
        return float(found.cutoff), int(found.q)

    def guarantee(
        self,
        p: int,
        B: int,
        q: float,
        threshold: float,
        *,
        exact: bool,
        asked: float | None = None,
    ) -> Guarantee:
        """Return what a threshold promises where members select q variables.

        Parameters
        ----------
        p, B : int
            Variables and resamples.
        q : float
        threshold : float
        exact : bool
            Whether each member selects its first q variables.
        asked : float, optional
            Bound that was asked for.
        """
        if not self.proven:
            return no_guarantee(
                "no theorem bounds the false selections of a threshold on "
                f"{self.resampling} frequencies at rate {self.rate:g}"
            )
        if threshold <= 0.5 + ROUNDING:
            return no_guarantee(
                "the bounds on false selections are for thresholds above 1/2, and the threshold is "
                f"{threshold:g}"
            )
        pairs = max(B // 2, 1)
        obstacle = bound_obstacle(p, q, threshold, pairs, self.assumption)
        if obstacle:
            return no_guarantee(obstacle.rstrip("."))
        level = supported_bound(p, q, threshold, pairs, self.assumption)
        promise = Guarantee(
            controls="expected number of false selections",
            level=float(level),
            proven=exact,
            assumptions=_ASSUMPTIONS[self.assumption],
            source=_SOURCES[self.assumption],
            settings=_settings(q, threshold, level, exact=exact, asked=asked),
        )
        # the theorem is about probabilities; shares of pairs obey it for any number of pairs
        return promise if self.resampling == "pairs" else promise.supposing(MANY_HALVES)


def _settings(q: float, threshold: float, level: float, *, exact: bool, asked: float | None) -> str:
    """Say how many variables a half selects, and why the bound is not what was asked for."""
    first = f"its first q = {q:g} variables" if exact else f"{q:.3g} variables on average"
    text = f"each half of the rows selects {first}"
    if asked is None or f"{asked:.3g}" == f"{level:.3g}":
        return f"{text[0].upper()}{text[1:]}."
    return (
        f"You asked for at most {asked:g}; the settings guarantee {level:.3g}: {text}, and a "
        f"variable is selected if {100.0 * threshold:.3g} % of the halves select it."
    )
