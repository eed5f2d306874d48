"""Knockoffs from summary statistics: Z-scores, the number of people, and LD."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from selica._core.errors import ArgumentError, RefusedError
from selica._core.linkage import LinkageBlocks
from selica._core.random import seed_sequence
from selica._core.rounding import ceiling
from selica._core.table import Table
from selica._core.types import Array, BoolArray, IntArray
from selica._core.validation import choice, count, error_level, flag, number, numbers, printable
from selica._core.warning import cautioned, heard
from selica.control import joint_qvalues, joint_threshold, joint_wins
from selica.plots import plot_statistics
from selica.sampling import GhostKnockoffs, linkage_groups
from selica.selectors.grouping import for_groups, in_groups, title_of
from selica.selectors.guarantee import Guarantee, no_guarantee
from selica.selectors.summary import NEAR_MISSES, Summary, order_of
from selica.statistics.ghost_importances import (
    GHOST_PENALTIES,
    GHOST_STATISTICS,
    lasso_importances,
    marginal_importances,
)
from selica.statistics.ld_mismatch import LinkageMismatch, linkage_mismatch

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MOST_JOINT = 20
"""Joint copies at most."""
_FEWEST_PEOPLE = 10
"""People behind the Z-scores at least."""
_NEARLY_THE_SAME = 0.9
"""Correlation of two markers above which a copy of one can hardly be told from the other."""
_GROUP_CUT = 0.5
"""Correlation, on average, up to which clusters of markers are joined where no other is given."""
_SOURCE = "He, Liu, Belloy and others 2022; Gimenez and Zou 2019"
_PLACE = ("chromosome", "position")
"""What a table says of a marker, where it is known."""


class SummaryKnockoffs(BaseEstimator):  # type: ignore[misc]
    """Knockoffs from Z-scores of single-marker tests, the number of people and LD.

    No genotypes and no phenotypes are needed: Z-scores of the knockoff copies are drawn given those
    of the markers (ghost knockoffs), and the filter is that of `KnockoffSelection`. Whether LD can
    be that of the people behind the Z-scores is checked first, and LD that cannot is refused.

    Parameters
    ----------
    fdr : float
        Target false discovery rate.
    statistic : {"lasso", "marginal"}
        Coefficients of a lasso that is computed from Z-scores and LD, or squares of Z-scores.
    lam : {"theory", "validation"} or float
        Penalty of "lasso" for a response of variance one, in glmnet's unit. "theory": 0.6 times
        the largest noise that markers and copies without effects have; "validation": by Z-scores
        that are split as if people were.
    joint_copies : int
        Number m of copies; a selection has at least 1 / (m fdr) markers or groups.
    groups : sequence, "correlation" or ("correlation", cut), optional
        Labels of the markers: those with the same one are selected together, or clusters of markers
        whose correlation is above 0.5, or `cut`, on average. Of markers that are nearly the same,
        none can be told from the others: give groups then.
    method : {"mvr", "maxent", "sdp", "equi"}, optional
        How far copies are from their markers, see `sampling.s_matrix`; "sdp" with one copy and
        without groups only. None: "maxent" with groups, "mvr" without.
    accept_mismatch : bool
        Whether to go on with LD that is not that of the Z-scores; nothing is promised then.
    random_state : None, int, SeedSequence, Generator or RandomState

    Attributes
    ----------
    statistics_ : array of shape (p,), or (K,) for K groups
        W: by how much a marker is ahead of the median of its copies; negative where a copy is the
        largest.
    threshold_ : float
        Smallest W that is selected; infinite if none is.
    qvalues_ : array of the shape of `statistics_`
        Smallest false discovery rate at which each would be selected.
    support_ : boolean array of shape (p,)
    groups_, group_names_, group_support_
        Number of the group of each marker, names of the groups, and which of them are selected;
        None without groups.
    mismatch_ : LinkageMismatch
        How far Z-scores are from what LD allows: refused above 1.
    copies_ : array of shape (m, p)
        Z-scores of the copies.
    lam_ : float or None
        Penalty of the lasso.
    kkt_ : float
        Largest violation of its optimality conditions.
    guarantee_ : Guarantee
    notes_, cautions_ : tuple of str
        What was noticed; cautions are about the data.

    Notes
    -----
    It is no method of the catalogue: what is there takes a table with rows and a response, and is
    planned, resampled and reported as such.

    Examples
    --------
    >>> import numpy as np
    >>> from selica import SummaryKnockoffs
    >>> from selica.sampling import simulate
    >>> from selica.tables import LinkageBlocks
    >>> data = simulate(2000, 60, 10, snr=1.0, covariance=("ar1", 0.5), random_state=0)
    >>> X, y = data.X - data.X.mean(axis=0), data.y - data.y.mean()
    >>> r = X.T @ y / np.sqrt((X**2).sum(axis=0) * (y @ y))
    >>> z = r * np.sqrt(1998 / (1.0 - r**2))  # what single-marker tests report
    >>> ld = LinkageBlocks([np.asarray(data.covariance)])
    >>> selector = SummaryKnockoffs(0.2, random_state=0).fit(z, 2000, ld)
    >>> chosen = selector.get_support()
    >>> int((chosen & data.support).sum()), int((chosen & ~data.support).sum())
    (8, 0)
    >>> selector.mismatch_.refused
    False
    """

    def __init__(
        self,
        fdr: float = 0.1,
        *,
        statistic: str = "lasso",
        lam: Any = "theory",
        joint_copies: int = 5,
        groups: Any = None,
        method: str | None = None,
        accept_mismatch: bool = False,
        random_state: Any = None,
    ) -> None:
        self.fdr = fdr
        self.statistic = statistic
        self.lam = lam
        self.joint_copies = joint_copies
        self.groups = groups
        self.method = method
        self.accept_mismatch = accept_mismatch
        self.random_state = random_state

    def fit(self, z: Any, n_samples: Any, ld: Any, names: Sequence[str] | None = None) -> Any:
        """Select markers.

        Parameters
        ----------
        z : array of shape (p,)
            Z-scores, or t-statistics, of single-marker tests; markers in the order of `ld`, effects
            of the alleles that LD is of.
        n_samples : int
            Number of people behind the Z-scores.
        ld : LinkageBlocks, or sequence of correlation matrices
            `sampling.reference_linkage` computes it from the genotypes of a reference panel,
            `tables.read_linkage` reads it from files.
        names : sequence of str, optional
            Names of the markers, in the place of those of `ld`.

        Returns
        -------
        self
        """
        linkage = ld if isinstance(ld, LinkageBlocks) else LinkageBlocks(ld)
        if names is not None:
            linkage = LinkageBlocks(
                linkage.matrices, linkage.n_reference, tuple(names), linkage.markers
            )
        people = count("n_samples", n_samples, at_least=_FEWEST_PEOPLE)
        scores = _scores(z, people, len(linkage))
        level = error_level("fdr", self.fdr)
        choice("statistic", self.statistic, GHOST_STATISTICS)
        m = count("joint_copies", self.joint_copies, at_most=_MOST_JOINT)
        lam = self._penalty()
        anyway = flag("accept_mismatch", self.accept_mismatch)
        self.cautions_: tuple[str, ...] = ()
        seed = seed_sequence(self.random_state)
        with heard() as said:
            self.mismatch_ = self._checked(scores, linkage, seed, anyway)
            self._set_groups(linkage)
            ghosts = GhostKnockoffs(linkage, self.method, groups=self.groups_, n_joint=m)
            self.copies_ = ghosts.draw(scores, seed)
            Z = np.concatenate([scores[None], self.copies_])
            if self.statistic == "lasso":
                found = lasso_importances(ghosts, Z, people, lam, seed)
            else:
                found = marginal_importances(ghosts, Z)
            self.lam_, self.kkt_ = found.lam, found.kkt
            self._decide(found.values, m, level)
            self._caution_copies(linkage)
        self._said = tuple(one.message for one in said)
        self.z_, self._ld, self._of_fit = scores, linkage, (level, m)
        self.guarantee_ = self._promise(linkage, level, ghosts)
        return self

    def _penalty(self) -> Any:
        """Return the penalty: a number, or how it is chosen."""
        if isinstance(self.lam, str):
            return choice("lam", self.lam, GHOST_PENALTIES)
        if self.statistic != "lasso":
            raise ArgumentError("lam is a setting of statistic='lasso'; leave it out.")
        return number("lam", self.lam, above=0.0)

    def _checked(
        self, scores: Array, ld: LinkageBlocks, seed: np.random.SeedSequence, anyway: bool
    ) -> LinkageMismatch:
        """Return how LD fits the Z-scores; refuse LD that does not."""
        found = linkage_mismatch(scores, ld, seed)
        if found.refused:
            sentence = found.sentence(tuple(map(printable, ld.names)))
            if not anyway:
                raise RefusedError(
                    f"ld is not that of the people behind z: {sentence}. Correct or leave out "
                    "these markers, or use LD of the same population; accept_mismatch=True goes on "
                    "without a promise."
                )
            self.cautions_ = cautioned(
                self.cautions_, f"LD is not that of the people behind the Z-scores: {sentence}"
            )
        return found

    def _set_groups(self, ld: LinkageBlocks) -> None:
        """Set the groups of the markers."""
        self.groups_: IntArray | None = None
        self.group_names_: Any = None
        if self.groups is None:
            return
        kind, *rest = (self.groups,) if isinstance(self.groups, str) else (*self.groups,)
        if isinstance(kind, str) and kind == "correlation" and len(rest) < 2:
            cut = number("groups: cut", rest[0]) if rest else _GROUP_CUT
            self.groups_ = linkage_groups(ld, cut)
            names = []
            for group in range(int(self.groups_.max()) + 1):
                own = [ld.names[j] for j in np.flatnonzero(self.groups_ == group)]
                names.append(title_of(own))
            self.group_names_ = np.array(names, dtype=object)
            return
        labels = np.asarray([kind, *rest])
        if isinstance(self.groups, str) or labels.shape != (len(ld),):
            raise ArgumentError(
                "groups must be one label for each of the "
                f"{len(ld)} markers, 'correlation' or ('correlation', cut)."
            )
        found, first, code = np.unique(labels, return_index=True, return_inverse=True)
        order = np.argsort(first)
        self.groups_ = np.argsort(order)[code].astype(np.intp)
        self.group_names_ = np.array([str(found[k]) for k in order], dtype=object)

    def _decide(self, importances: Array, m: int, level: float) -> None:
        """Set statistics, threshold and what is selected."""
        wins = joint_wins(importances)
        self.statistics_ = np.where(wins.winner == 0, wins.lead, 0.0 - wins.lead)
        self.threshold_ = joint_threshold(wins.winner, wins.lead, m, level)
        self.qvalues_ = joint_qvalues(wins.winner, wins.lead, m)
        chosen = self.statistics_ >= self.threshold_
        self.group_support_ = None if self.groups_ is None else chosen
        self.support_: BoolArray = chosen if self.groups_ is None else chosen[self.groups_]

    def _caution_copies(self, ld: LinkageBlocks) -> None:
        """Say which markers cannot be told from others, where they are not in one group."""
        found, example, start = 0, (0, 1), 0
        for block in ld.matrices:
            near = np.triu(np.abs(block) > _NEARLY_THE_SAME, 1)
            if self.groups_ is not None:
                own = self.groups_[start : start + len(block)]
                near &= own[:, None] != own
            if near.any() and not found:
                i, k = np.argwhere(near)[0]
                example = (start + int(i), start + int(k))
            found += int(np.count_nonzero(near.any(axis=0) | near.any(axis=1)))
            start += len(block)
        if found:
            pair = " and ".join(printable(ld.names[j]) for j in example)
            self.cautions_ = cautioned(
                self.cautions_,
                f"{found:,} markers have a correlation above {_NEARLY_THE_SAME} with another one, "
                f"such as {pair}: neither can be told from the other, and little is found; "
                "groups='correlation' selects such markers together",
                act=False,
            )

    def _promise(self, ld: LinkageBlocks, level: float, ghosts: GhostKnockoffs) -> Guarantee:
        """Return what the selection promises."""
        if self.mismatch_.refused:
            return no_guarantee("LD is not that of the people behind the Z-scores", withdrawn=True)
        rests = "LD is that of the people behind the Z-scores"
        if ld.n_reference is not None:
            rests = (
                f"LD of the {ld.n_reference:,} people of the reference panel is close to that of "
                "the people behind the Z-scores"
            )
        promise = Guarantee(
            "false discovery rate", level, False,
            f"{rests}, and there are so many people that Z-scores are normal",
            _SOURCE, units="the people",
        )  # fmt: skip
        most = float(ghosts.shrinkage.max())
        if ld.n_reference is None and most > 0.0:
            promise = promise.supposing(
                f"it does not matter that up to {100.0 * most:.2g} % of LD was replaced by the "
                "identity, since markers determine each other"
            )
        return promise if self.groups_ is None else for_groups(promise)

    @property
    def notes_(self) -> tuple[str, ...]:
        """Sentences on what was noticed about the data and the result."""
        check_is_fitted(self, "support_")
        found = self.mismatch_
        fits = (
            f"LD fits the Z-scores: the mismatch number is {max(found.number, 0.0):.2f}, and above "
            "1 it would be refused."
        )
        nothing = () if self.support_.any() else (self.explain(),)
        said = (*self.cautions_, *nothing, *(() if found.refused else (fits,)), *self._said)
        return tuple(dict.fromkeys(said))

    def get_support(self, indices: bool = False) -> Any:
        """Return which markers are selected.

        Parameters
        ----------
        indices : bool
            Whether to return their numbers instead of a mask.
        """
        check_is_fitted(self, "support_")
        return np.flatnonzero(self.support_) if indices else self.support_

    def explain(self) -> str:
        """Say why nothing was selected, and what would have selected something."""
        check_is_fitted(self, "support_")
        units, (level, m) = self.statistics_.size, self._of_fit
        chosen = int(np.count_nonzero(self.statistics_ >= self.threshold_))
        if chosen:
            return self._words(f"{chosen:,} of {units:,} variables were selected.")
        ahead = int(np.count_nonzero(self.statistics_ > 0.0))
        least, best = ceiling(1.0 / (m * level)), float(self.qvalues_.min())
        also = f" The smallest level that selects any is {best:.2g}." if best < 1.0 else ""
        are = "is" if ahead == 1 else "are"
        return self._words(
            f"Nothing was selected. At FDR {level:g} at least {least} "
            f"variable{'s' * (least != 1)} must be ahead of {'all ' * (m > 1)}their copies by more "
            f"than copies of others are, and {ahead:,} {are} ahead.{also}"
        )

    def _words(self, text: str) -> str:
        """Return a sentence in the words of what is selected."""
        if self.groups_ is not None:
            return in_groups(text)
        return text.replace("variable", "marker")

    def summary(self) -> Summary:
        """Return the markers, or groups, by their statistics."""
        check_is_fitted(self, "support_")
        level, m = self._of_fit
        chosen = self.statistics_ >= self.threshold_
        names = [printable(name) for name in self._ld.names]
        unit = "variable" if self.groups_ is None else "group"
        if self.groups_ is None:
            strongest = np.arange(len(names))
        else:
            names = [printable(str(name)) for name in self.group_names_]
            # of each group, the member with the largest Z-score
            order = np.lexsort((-np.abs(self.z_), self.groups_))
            strongest = order[np.unique(self.groups_[order], return_index=True)[1]]
        where = {key: self._ld.markers[key] for key in _PLACE if key in self._ld.markers}
        rows = []
        for rank, j in enumerate(order_of(chosen, [self.statistics_]), start=1):
            row: dict[str, Any] = {"rank": rank, unit: names[j], "selected": bool(chosen[j])}
            row["W"] = float(self.statistics_[j])
            row["z"] = float(self.z_[strongest[j]])
            row |= {key: _plain(value[strongest[j]]) for key, value in where.items()}
            if self.groups_ is not None:
                own = [printable(self._ld.names[k]) for k in np.flatnonzero(self.groups_ == j)]
                row |= {"members": len(own), "in this group": ", ".join(own)}
            rows.append(row)
        needed = f", and {self.threshold_:.3g} was needed" if np.isfinite(self.threshold_) else ""
        which = "the Z-score" if self.groups_ is None else "the largest Z-score of its members"
        copies = "its knockoff copy" if m == 1 else f"the median of its {m} knockoff copies"
        what = "group" if self.groups_ is not None else "marker"
        number_chosen = int(np.count_nonzero(chosen))
        return Summary(
            f"Knockoffs from Z-scores at FDR {level:g}: {number_chosen:,} of {len(rows):,} {what}s",
            Table.of(rows), str(self.guarantee_), self.notes_, number_chosen + NEAR_MISSES, "W",
            {"W": f"how far the {what} is ahead of {copies}; negative where a copy is the "
                  f"largest{needed}",
             "z": f"{which}, as a correlation times the root of the number of people"},
            unit=unit,
        )  # fmt: skip

    def plot(self) -> Figure:
        """Draw the statistics with the threshold (needs matplotlib)."""
        check_is_fitted(self, "support_")
        unit = "marker" if self.groups_ is None else "group"
        return plot_statistics(self.statistics_, self.threshold_, unit=unit)


def _scores(z: Any, people: int, markers: int) -> Array:
    r"""Return correlations times the root of the number of people, from t-statistics.

    :math:`t = r\sqrt{(n - 2)/(1 - r^2)}`; knockoffs are of :math:`X'y`, and so of r.
    """
    t = numbers("z", z)
    if t.size != markers:
        raise ArgumentError(
            f"z must have one Z-score for each of the {markers} markers of ld; got {t.size}."
        )
    return np.asarray(t * np.sqrt(people / (people - 2.0 + t**2)))


def _plain(value: Any) -> Any:
    """Return a value of an array as one of Python."""
    return value.item() if hasattr(value, "item") else value
