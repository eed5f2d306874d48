"""Knockoffs of whole genomes: clumps of neighbouring markers at several resolutions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from selica._core.errors import ArgumentError, AssumptionWarning, RefusedError
from selica._core.losses import read_response
from selica._core.random import child, seed_sequence
from selica._core.results import Result
from selica._core.rounding import ceiling
from selica._core.table import Table
from selica._core.types import Array, BoolArray, IntArray
from selica._core.validation import count, error_level, short
from selica._core.warning import warn
from selica.control import knockoff_threshold
from selica.plots import plot_manhattan
from selica.sampling import Exchangeability
from selica.sampling.clumps import check_resolutions, clumps
from selica.sampling.exchangeability import DOUBTFUL_RATIO, WITHDRAWN_RATIO
from selica.sampling.ld_blocks import ld_blocks
from selica.sampling.motifs import as_genotypes
from selica.sampling.segment_motifs import (
    N_MOTIFS,
    N_STEPS,
    SegmentMotifs,
    copies_by_block,
    fit_segment_motifs,
    stored_group_copies,
)
from selica.selectors.guarantee import Guarantee, no_guarantee
from selica.selectors.penalty import fixed_penalty
from selica.selectors.rows import RowArguments
from selica.selectors.summary import NEAR_MISSES, Summary
from selica.solvers.two_bit import TwoBitTable
from selica.statistics.clumps import pair_sizes, standard_two_bit
from selica.statistics.data import Data, make_data
from selica.tables.genotypes import Genotypes, Markers, People

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MOTIFS = 1
"""Purpose of the random numbers that the motifs start from."""
_FOLDS = 2
"""Purpose of the folds of a resolution."""
_CHECK = 3
"""Purpose of the check of the copies."""
_SOURCE = "Barber and Candès 2015; Sesia et al. 2020"
"""Who proved the promise."""


@dataclass(frozen=True, slots=True, repr=False)
class Resolution(Result):
    """What was found at one resolution.

    Attributes
    ----------
    resolution : float
        A squared correlation below 1, or how many markers clumps have on average.
    clumps : array of int, shape (p,)
        The clump of each marker: 0, 1, ... .
    statistics : array of shape (K,)
        W of the K clumps: positive where the markers are ahead of their copies.
    threshold : float
        Smallest W that is selected; infinite if none is.
    leading : array of int, shape (K,)
        The marker of each clump with the largest coefficient.
    lam : float
        Penalty, in glmnet's unit.
    exchangeability : Exchangeability
        How far the copies are from being exchangeable with the genotypes.

    Examples
    --------
    >>> import numpy as np
    >>> from selica.selectors import Resolution
    >>> W, clumps = np.array([2.0, -1.0]), np.array([0, 0, 1, 1])
    >>> found = Resolution(2, clumps, W, 1.5, np.array([1, 2]), 0.1, None)
    >>> found.name, found.selected.tolist(), found.support.tolist()
    ('2 markers', [True, False], [True, True, False, False])
    """

    resolution: float
    clumps: IntArray
    statistics: Array
    threshold: float
    leading: IntArray
    lam: float
    exchangeability: Exchangeability

    @property
    def selected(self) -> BoolArray:
        """Which clumps are selected, (K,)."""
        return np.asarray(self.statistics >= self.threshold)

    @property
    def support(self) -> BoolArray:
        """Which markers are in a selected clump, (p,)."""
        return np.asarray(self.selected[self.clumps])

    @property
    def name(self) -> str:
        """What the resolution is called in tables."""
        if self.resolution < 1.0:
            return f"r2 {self.resolution:g}"
        return "single markers" if self.resolution == 1.0 else f"{self.resolution:g} markers"


class ClumpKnockoffs(SelectorMixin, BaseEstimator):  # type: ignore[misc]
    """Selects clumps of neighbouring markers that are ahead of their knockoff copies.

    Genotypes are cut into segments that hardly depend on each other, a hidden Markov model of
    haplotypes is fitted to each of them, and each segment is cut into clumps at several
    resolutions. For each resolution copies are drawn that can change places with whole clumps, one
    lasso is fitted to all markers and copies, and the knockoff filter selects clumps (after
    KnockoffZoom, Sesia et al. 2020). Genotypes and copies are in two bits each.

    Parameters
    ----------
    fdr : float
        Target false discovery rate over the clumps of a resolution.
    resolutions : sequence of numbers
        A whole number is how many markers clumps have on average. A number below 1 is a squared
        correlation: neighbouring clumps are joined as long as the mean between their markers is at
        least this.
    motifs : int or SegmentMotifs
        Number of motifs of a segment to fit, or `sampling.SegmentMotifs` that were fitted before or
        are known; their segments are then taken.
    n_steps : int
        Steps of the fit of motifs.
    lam : {"auto", "cv"} or float
        Penalty in glmnet's unit; by default cross-validated on markers and copies together.
    n_folds : int
        Folds of the cross-validation.
    response : str
        As in `StabilitySelection`; not several classes.
    n_jobs, random_state
        As in `StabilitySelection`.

    Attributes
    ----------
    resolutions_ : tuple of Resolution
        What was found at each of them, from the most clumps to the fewest.
    discoveries_ : Table
        Selected clumps of all resolutions: resolution, clump, chromosome, first and last position,
        markers, W and the leading marker.
    support_ : boolean array of shape (p,)
        Markers in clumps that are selected at the finest resolution.
    segments_ : array of int, shape (p,)
    motifs_ : SegmentMotifs
    guarantee_ : Guarantee
        For the clumps of each resolution by themselves.
    notes_ : tuple of str

    Examples
    --------
    >>> import numpy as np
    >>> from selica import ClumpKnockoffs
    >>> from selica.sampling import HaplotypeLaw
    >>> alleles = np.random.default_rng(0).random((600, 8)) < 0.5
    >>> theta = np.where(alleles, 0.98, 0.02)
    >>> law = HaplotypeLaw(np.full(600, 0.1), np.full((600, 8), 1 / 8), theta)
    >>> X = law.simulate(500, random_state=1)
    >>> y = X[:, 20::40].sum(axis=1) + np.random.default_rng(2).standard_normal(500)
    >>> selector = ClumpKnockoffs(0.2, resolutions=[10, 40], motifs=8, random_state=0).fit(X, y)
    >>> [one.name for one in selector.resolutions_]
    ['10 markers', '40 markers']
    """

    def __init__(
        self,
        fdr: float = 0.1,
        *,
        resolutions: Any = (5, 20, 100),
        motifs: Any = N_MOTIFS,
        n_steps: int = N_STEPS,
        lam: Any = "auto",
        n_folds: int = 5,
        response: str = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.fdr = fdr
        self.resolutions = resolutions
        self.motifs = motifs
        self.n_steps = n_steps
        self.lam = lam
        self.n_folds = n_folds
        self.response = response
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        keep: Any = None,
        offset: Any = None,
        strata: Any = None,
        segments: Any = None,
        positions: Any = None,
    ) -> ClumpKnockoffs:
        """Select clumps of markers.

        Parameters
        ----------
        X : Genotypes, TwoBitTable, or array of shape (n, p)
            Numbers of alleles 0, 1 and 2, markers in the order of the chromosomes; in an array
            missing calls are -1, or NaN.
        y : array of shape (n,), or times and events
            As in `StabilitySelection.fit`.
        keep : array of shape (n, k), optional
            Covariates that are in every fit, without a penalty: age, sex, principal components.
        offset, strata : optional
            As in `StabilitySelection.fit`.
        segments : array of shape (p,), optional
            Labels of contiguous markers that are independent of other segments. By default
            chromosomes are cut where correlations across the cut are smallest.
        positions : array of shape (p,), optional
            Positions for the table of discoveries, where X has none.

        Returns
        -------
        self
        """
        fdr = error_level("fdr", self.fdr)
        asked = check_resolutions(self.resolutions)
        genotypes = _read(X, segments, positions)
        data = self._data(genotypes.n_rows, y, RowArguments(None, keep, None, offset, strata))
        seed = seed_sequence(self.random_state)
        self.motifs_ = self._motifs(genotypes, segments, seed)
        self.segments_ = self.motifs_.segments
        self.n_features_in_ = genotypes.shape[1]
        self.feature_names_in_ = np.array(genotypes.names, dtype=object)
        labels = clumps(genotypes, self.segments_, asked)
        order = np.argsort(-labels.max(axis=1), kind="stable")
        labels = labels[order]
        copies = stored_group_copies(genotypes, self.motifs_, labels, random_state=seed)
        table = standard_two_bit(genotypes.codes, genotypes.n_rows, genotypes.columns)
        found = []
        for k, (place, groups, codes) in enumerate(zip(order, labels, copies, strict=True)):
            copy = standard_two_bit(codes, genotypes.n_rows)
            sizes = pair_sizes(
                data, table, copy, np.random.default_rng(child(seed, _FOLDS, k)),
                penalty=fixed_penalty(self.lam), n_folds=count("n_folds", self.n_folds, at_least=2),
                n_jobs=self.n_jobs,
            )  # fmt: skip
            W = sizes.statistics(groups)
            checked = copies_by_block(
                genotypes, copy, groups, self.segments_, child(seed, _CHECK, k)
            )
            threshold = float(knockoff_threshold(W, fdr))
            leading = sizes.leading(groups)
            found.append(
                Resolution(asked[place], groups, W, threshold, leading, sizes.penalty, checked)
            )
        self.resolutions_ = tuple(found)
        self._markers, self._fdr = genotypes.markers, fdr
        self.support_ = found[0].support
        self.discoveries_ = Table.of(self._rows(only_selected=True))
        self.guarantee_ = self._promise()
        self.notes_ = self._notes()
        return self

    def _data(self, n: int, y: Any, given: RowArguments) -> Data:
        """Return response and covariates, without columns."""
        loss, read = read_response(self.response, y)
        if len(read.values) != n:
            raise ArgumentError(
                f"y must have one value for each of the {n} people; got {len(read.values)}."
            )
        self.response_ = loss.response
        values = given.response(read.values, n, loss)
        return make_data(np.empty((n, 0)), values, loss, keep=given.covariates(n, loss))

    def _motifs(self, genotypes: Genotypes, segments: Any, seed: Any) -> SegmentMotifs:
        """Return the motifs that were given, or fit them."""
        if isinstance(self.motifs, SegmentMotifs):
            p = int(self.motifs.edges[-1])
            if p != genotypes.shape[1]:
                raise ArgumentError(f"motifs are of {p} markers, and X has {genotypes.shape[1]}.")
            if segments is not None:
                raise ArgumentError("segments cannot be given beside motifs, which have their own.")
            return self.motifs
        if genotypes.n_rows < 2:
            raise RefusedError("X: motifs are fitted to two people at least, and there is one.")
        labels = segments
        if labels is None:
            labels = ld_blocks(genotypes, genotypes.markers.chromosome)
        return fit_segment_motifs(
            genotypes, labels, n_motifs=self.motifs, n_steps=self.n_steps,
            random_state=child(seed, _MOTIFS),
        )  # fmt: skip

    def _promise(self) -> Guarantee:
        """Return what is promised for the clumps of each resolution."""
        worst = max((one.exchangeability for one in self.resolutions_), key=lambda e: e.departure)
        if worst.departure > WITHDRAWN_RATIO:
            warn(
                f"{worst.measured}, so the motifs do not describe the genotypes well enough; more "
                "of them (motifs=) may. No error rate is promised.",
                AssumptionWarning,
            )
            return no_guarantee(
                f"the knockoff copies do not behave like the genotypes: {worst.measured}",
                withdrawn=True,
            )
        if worst.departure > DOUBTFUL_RATIO:
            warn(f"{worst.measured}; the level may be exceeded.", AssumptionWarning)
        law = (
            "the genotypes are close to mosaics of the motifs that were fitted to them"
            if self.motifs_.estimated
            else "the distribution of the genotypes is the one that was given"
        )
        return Guarantee(
            "false discovery rate", self._fdr, False,
            f"{law}, and segments are independent of each other, and no two people are related, "
            "and it does not matter that clumps were formed from the same genotypes",
            _SOURCE,
            "This holds at each resolution by itself, not for all of them together.",
            discoveries="groups",
        )  # fmt: skip

    def _notes(self) -> tuple[str, ...]:
        """Return sentences on what was noticed."""
        p, many = self.segments_.size, int(self.segments_.max()) + 1
        each = ", ".join(f"{one.statistics.size:,} at {one.name}" for one in self.resolutions_)
        segments = "1 segment" if many == 1 else f"{many:,} segments"
        notes = [f"{p:,} markers are in {segments}; clumps by resolution: {each}."]
        fewest = ceiling(1.0 / self._fdr)
        for one in self.resolutions_:
            if not one.selected.any():
                notes.append(
                    f"At {one.name} nothing is selected: at FDR {self._fdr:g} knockoffs select at "
                    f"least {fewest} clumps or none."
                )
            notes.append(f"Copies at {one.name}: {one.exchangeability.measured}.")
        return tuple(notes)

    def _rows(self, only_selected: bool) -> list[dict[str, Any]]:
        """Return clumps as rows of a table, by resolution and W."""
        markers, rows = self._markers, []
        for one in self.resolutions_:
            size = np.bincount(one.clumps)
            first = np.searchsorted(one.clumps, np.arange(size.size))
            last = first + size - 1
            chosen = one.selected
            which = np.flatnonzero(chosen) if only_selected else np.arange(size.size)
            for g in which[np.argsort(-one.statistics[which], kind="stable")]:
                rows.append(
                    {
                        "resolution": one.name,
                        "clump": int(g),
                        "selected": bool(chosen[g]),
                        "chromosome": str(markers.chromosome[first[g]]),
                        "first": int(markers.position[first[g]]),
                        "last": int(markers.position[last[g]]),
                        "markers": int(size[g]),
                        "W": float(one.statistics[g]),
                        "leading marker": str(markers.name[one.leading[g]]),
                    }
                )
        return rows

    def at(self, resolution: float) -> Resolution:
        """Return what was found at a resolution.

        Parameters
        ----------
        resolution : float
            One of those that were asked for.
        """
        check_is_fitted(self)
        for one in self.resolutions_:
            if one.resolution == resolution:
                return one
        known = ", ".join(f"{one.resolution:g}" for one in self.resolutions_)
        raise ArgumentError(f"resolution must be one of {known}; got {short(resolution)}.")

    def summary(self) -> Summary:
        """Return the clumps of all resolutions by their statistics, selected ones first."""
        check_is_fitted(self)
        rows = sorted(self._rows(only_selected=False), key=lambda row: not row["selected"])
        chosen = sum(row["selected"] for row in rows)
        shown = ("resolution", "selected", "markers", "W", "leading marker")
        table = Table.of(
            {"rank": rank, "clump": f"{row['chromosome']}:{row['first']}-{row['last']}"}
            | {name: row[name] for name in shown}
            for rank, row in enumerate(rows, start=1)
        )
        found = ", ".join(f"{one.selected.sum():,} at {one.name}" for one in self.resolutions_)
        return Summary(
            f"Clumps at FDR {self._fdr:g}: {found}", table, str(self.guarantee_), self.notes_,
            chosen + NEAR_MISSES, "W",
            {"W": "how far the markers of the clump are ahead of their knockoff copies"},
            unit="clump",
        )  # fmt: skip

    def plot(self, resolution: float | None = None) -> Figure:
        """Draw W along the genome, with the selected clumps of all resolutions (needs matplotlib).

        Parameters
        ----------
        resolution : float, optional
            Whose W is drawn, at the leading marker of each clump; the finest by default.
        """
        check_is_fitted(self)
        one = self.resolutions_[0] if resolution is None else self.at(resolution)
        value, chosen = np.zeros(one.clumps.size), np.zeros(one.clumps.size, dtype=bool)
        value[one.leading] = one.statistics
        chosen[one.leading] = one.selected
        bands = {
            each.name: [
                (row["chromosome"], row["first"], row["last"])
                for row in self.discoveries_
                if row["resolution"] == each.name
            ]
            for each in self.resolutions_
        }
        threshold = one.threshold if np.isfinite(one.threshold) else None
        return plot_manhattan(
            self._markers, value, chosen, measure=f"W at {one.name}", threshold=threshold,
            bands=bands, title=f"Clumps at FDR {self._fdr:g}",
        )  # fmt: skip

    def _get_support_mask(self) -> BoolArray:
        check_is_fitted(self)
        return self.support_


def _read(X: Any, segments: Any, positions: Any) -> Genotypes:
    """Return genotypes in two bits from what was given."""
    if isinstance(X, Genotypes):
        if positions is not None:
            raise ArgumentError("positions are those of the markers of X; give them there.")
        return X
    if isinstance(X, TwoBitTable):
        found = _of_table(X)
    else:
        found = Genotypes.of(as_genotypes(X, 2))
    p = found.shape[1]
    if positions is None and segments is None:
        return found
    place = found.markers.position if positions is None else np.asarray(positions)
    label = found.markers.chromosome if segments is None else np.asarray(segments).astype(str)
    if np.shape(place) != (p,) or np.asarray(place).dtype.kind not in "iu":
        raise ArgumentError(f"positions must be whole numbers, one for each of the {p} markers.")
    if np.shape(label) != (p,):
        raise ArgumentError(f"segments must have one label for each of the {p} markers.")
    names = found.markers.name
    return replace(found, markers=Markers.of(label, names, place, "A" * p, "B" * p))


def _of_table(table: TwoBitTable) -> Genotypes:
    """Return the genotypes of a table whose markers have no names."""
    p = int(table.columns.size)
    people = People.of(range(1, table.n_rows + 1))
    return Genotypes(
        table.codes, table.n_rows, table.columns, people, Markers.numbered(p), table.counts()
    )
