"""Bounds on false selections by frequencies: for which resampling they hold, what they allow."""

from __future__ import annotations

from typing import NamedTuple

from selica._core.errors import ArgumentError
from selica.control import stability_bound, stability_parameters
from selica.selectors.guarantee import Guarantee, no_guarantee

_SOURCES = {
    "none": "Meinshausen and Bühlmann 2010",
    "unimodal": "Shah and Samworth 2013, unimodal frequencies",
    "r-concave": "Shah and Samworth 2013, r-concave frequencies",
}


class Bound(NamedTuple):
    """A theorem with its assumption, and the resampling it is asked of."""

    assumption: str
    resampling: str
    rate: float

    @property
    def proven(self) -> bool:
        """Whether the theorem is for this resampling."""
        half = self.resampling == "subsample" and self.rate == 0.5
        return self.resampling == "pairs" or (half and self.assumption == "none")

    def parameters(
        self, p: int, B: int, pfer: float, threshold: float | None, q: int | None
    ) -> tuple[float, int]:
        """Threshold and q that keep the expected number of false selections at `pfer`."""
        if not self.proven:
            pairs = "'pairs'" if self.assumption != "none" else "'pairs' or 'subsample' at rate 1/2"
            raise ArgumentError(
                f"pfer with assumption={self.assumption!r} is proven for resampling={pairs} only; "
                f"got {self.resampling!r} at rate {self.rate:g}."
            )
        if q is None and threshold is None:
            threshold = 0.6 if self.assumption != "none" else 0.75
        found = stability_parameters(
            p, q=q, cutoff=threshold, pfer=pfer, n_pairs=max(B // 2, 1),
            assumption=self.assumption,
        )  # fmt: skip
        if not found.feasible:
            raise ArgumentError(
                f"pfer must be at least {found.bound:.3g} for {p} variables and {B} resamples with "
                f"q={found.q} and threshold={found.cutoff:g}; got {pfer:g}."
            )
        return float(found.cutoff), int(found.q)

    def guarantee(self, p: int, B: int, q: float, threshold: float, *, exact: bool) -> Guarantee:
        """What a threshold promises where members select q variables, exactly or on average."""
        if not self.proven:
            return no_guarantee(
                "no theorem bounds the false selections of a threshold on "
                f"{self.resampling} frequencies at rate {self.rate:g}"
            )
        try:
            level = stability_bound(p, q, threshold, max(B // 2, 1), self.assumption)
        except ArgumentError as error:
            return no_guarantee(str(error).rstrip("."))
        return Guarantee(
            controls="expected number of false selections",
            level=float(level),
            proven=exact,
            assumptions=(
                "false are those that a random half selects with probability at most q/p, as "
                "exchangeable irrelevant variables are"
            ),
            source=_SOURCES[self.assumption],
        )
