"""Power on the user's own table: signals are planted in its columns, and the selectors run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import cholesky

from selica._core.deprecation import renamed
from selica._core.effects import Effects
from selica._core.errors import ArgumentError
from selica._core.parallel import on_workers
from selica._core.random import RandomState, child, generator, seed_sequence
from selica._core.results import Result
from selica._core.table import Row, Table
from selica._core.types import Array, Progress
from selica._core.validation import count, flag, reporter, short, workers
from selica.catalogue import Method
from selica.planning.data.correlated_power import (
    correlated_power,
    covariance_of,
    study_of_table,
    usual_methods,
    with_interval,
)
from selica.planning.predict.prediction import (
    Prediction,
    check_level,
    check_methods,
    current_name,
    predict,
)
from selica.planning.predict.runs import RunOutcome, run_selector, warned
from selica.planning.study import Study
from selica.plots import plot_planted
from selica.statistics.data import standardised

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_DATA_KEY = 0
"""Spawn key of the planted data."""
_SELECTOR_KEY = 1
"""Spawn key of the selectors."""
_ROWS_KEY = 2
"""Spawn key of the rows of a data set, where these are drawn."""
_THEORY_KEY = int.from_bytes(b"thry", "big")
"""Spawn key of the theory, beyond any number of data sets."""
_BLOCK = 5
"""Data sets that go to a worker together."""


@dataclass(frozen=True, slots=True, repr=False)
class PlasmodePower(Result):
    """Power and error rates of selectors on planted signals.

    Attributes
    ----------
    methods : Table
        One row for each selector: its name as `method`, its `label`, mean `power` and `fdr` over
        the data sets with the ends of 95 % intervals (`power_low`, ...), mean number `selected`,
        how many data sets it `refused`, and what the theory `predicted` for independent columns,
        where it has a prediction.
    n_sets : int
    r2 : float
        Mean share of the variance that the signals explain.
    fdr : float
        Level that was asked for.
    predicted : Table or None
        What the theory predicts for Gaussian rows with the covariance of the table, from
        `correlated_power`: one row for each method that it covers. None if it was not asked.
    notes : tuple of str
        Warnings of the selectors, in sentences.

    Examples
    --------
    >>> import numpy as np
    >>> from selica.planning import plasmode_power
    >>> X = np.random.default_rng(0).standard_normal((100, 20))
    >>> found = plasmode_power(
    ...     X, 5, r2=0.9, methods="lasso", n_sets=3, theory=False, random_state=0
    ... )
    >>> found.n_sets, found.methods.columns[:3]
    (3, ('method', 'label', 'power'))
    """

    methods: Table
    n_sets: int
    r2: float
    fdr: float
    predicted: Table | None = None
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers and text; `correlated` is the power that theory predicts."""
        rows = [row | {"correlated": self._correlated(row["method"])} for row in self.methods]
        return {
            "n_sets": self.n_sets,
            "r2": self.r2,
            "fdr": self.fdr,
            "methods": rows,
            "notes": list(self.notes),
        }

    def to_frame(self) -> Any:
        """Return the methods as a data frame (needs pandas)."""
        return self.methods.to_frame()

    def plot(self) -> Figure:
        """Draw power and false discovery rate, beside the predictions (needs matplotlib)."""
        power, fdr = (
            [(row[key], row[f"{key}_low"], row[f"{key}_high"]) for row in self.methods]
            for key in ("power", "fdr")
        )
        methods = [row["method"] for row in self.methods]
        independent = [row["predicted"] for row in self.methods]
        correlated = [self._correlated(name) for name in methods]
        return plot_planted(methods, power, fdr, self.fdr, correlated, independent)

    def predicted_power(self, method: str) -> float | None:
        """Return the power that the theory for correlated columns predicts, if it does.

        Parameters
        ----------
        method : str
        """
        own = any(row["method"] == method for row in self.methods)
        return self._correlated(method if own else current_name(method))

    def _correlated(self, name: str) -> float | None:
        """Return the predicted power of a row; a selector of the user's may have a former name."""
        rows = () if self.predicted is None else self.predicted.rows
        return next((row["power"] for row in rows if row["method"] == name), None)

    @property
    def first(self) -> Table | None:
        """Former name of `predicted`."""
        renamed("PlasmodePower.first", "PlasmodePower.predicted")
        return self.predicted

    def foretold(self, method: str) -> float | None:
        """Return what `predicted_power` returns: its former name."""
        renamed("PlasmodePower.foretold", "PlasmodePower.predicted_power")
        return self.predicted_power(method)

    def __str__(self) -> str:
        width = 2 + max(len(row["label"]) for row in self.methods)
        lines = [
            f"Signals planted in {self.n_sets} data sets; they explain "
            f"{100 * self.r2:.0f} % of the variance",
            "",
            f"{'method':<{width}}{'power':>22}{'FDR':>22}"
            f"{'theory: correlated':>20}{'independent columns':>21}",
        ]
        for row in self.methods:
            spans = [
                f"{row[key]:.2f} ({row[f'{key}_low']:.2f} to {row[f'{key}_high']:.2f})"
                for key in ("power", "fdr")
            ]
            theory = [
                "" if power is None else f"{power:.2f}"
                for power in (self._correlated(row["method"]), row["predicted"])
            ]
            note = f"  refused {row['refused']} data sets" if row["refused"] else ""
            found = f"{row['label']:<{width}}{spans[0]:>22}{spans[1]:>22}"
            lines.append(f"{found}{theory[0]:>20}{theory[1]:>21}{note}".rstrip())
        return "\n".join([*lines, *(f"Note: {note}" for note in self.notes)])

    def __repr__(self) -> str:
        return str(self)


def plasmode_power(
    X: ArrayLike,
    n_signals: int,
    *,
    r2: float | None = None,
    snr: float | None = None,
    effect_size: float | None = None,
    fdr: float = 0.1,
    methods: Sequence[str] | str | None = None,
    selectors: Mapping[str, Any] | None = None,
    effects: Effects | None = None,
    n_samples: int | None = None,
    n_sets: int = 50,
    theory: bool = True,
    random_state: RandomState | None = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> PlasmodePower:
    """Measure power and FDR of selectors on a table of one's own, with signals planted in it.

    In each data set `n_signals` random columns matter, with random signs; the response is their
    weighted sum plus Gaussian noise. The rows and columns stay as they are, so that power suffers
    from correlations as it will in the study.

    Parameters
    ----------
    X : array of shape (n, p)
        Numbers; constant columns are left out.
    n_signals : int
    r2, snr, effect_size : float
        Exactly one of them, as in `compare_methods`. `r2` and `snr` hold in every data set;
        `effect_size` is for standardised columns and noise of variance one.
    fdr : float
        Level of the methods.
    methods : str or sequence of str, optional
        Methods of the catalogue that can be run on data, as they come; by default stability
        selection by p-values of fields, knockoffs with one copy and with e-values. These p-values
        are refused where a check says that they are wrong: then nothing is selected. A method
        that keeps an expected number of false selections is given the level times the number of
        selections that theory expects, or times `n_signals` where there is no prediction.
    selectors : mapping of str to selector, optional
        Further selectors to run, by name. Their arguments have to be usable: only a refusal that
        depends on the response, such as that of p-values of fields, is counted.
    effects : Effects, optional
        Distribution of the coefficients; Gaussian by default.
    n_samples : int, optional
        Rows of the study, as many as in the table by default. Fewer are drawn from it for each data
        set, without replacement. More than it has are drawn from a Gaussian distribution with the
        correlations of `covariance_of`: rows that repeat would be no new ones.
    n_sets : int
        Data sets with planted signals.
    theory : bool
        Whether the theory for correlated columns gives a first answer, for the methods that it
        covers; False saves its time.
    random_state, n_jobs
        The same seed gives the same answer for any number of workers.
    progress : callable, optional
        ``progress(done, total)``, in data sets.

    Returns
    -------
    PlasmodePower

    Examples
    --------
    >>> import numpy as np
    >>> from selica import planning
    >>> X = np.random.default_rng(0).standard_normal((150, 30))
    >>> found = planning.plasmode_power(
    ...     X, 10, r2=0.9, fdr=0.2, methods="knockoffs", n_sets=4, random_state=0
    ... )
    >>> bool(found.methods.rows[0]["power"] > 0.5)
    True
    """
    n_jobs, by_theory = workers(n_jobs), flag("theory", theory)
    reporter(progress)
    columns, study = study_of_table(X, n_signals, r2, snr, effect_size, effects, n_samples)
    level = check_level(fdr)
    asked = usual_methods() if methods is None else check_methods(methods)
    predictions = {
        row.name: predict(study, row.name, level, "default")
        for row in asked
        if row.predictor is not None
    }
    known = {row.name: _selector(row, predictions.get(row.name), study, level) for row in asked}
    own = _named(selectors, known)
    sets = count("n_sets", n_sets, at_least=2)
    source = _rows_of(columns, study.n_samples)
    plan = _Plan(source, study, effect_size is None, known | own, frozenset(own))
    seed = seed_sequence(random_state)
    # arguments that no data would make usable are said before the work
    runs = plan.run(seed, range(1)) if own else []
    predicted = None
    if by_theory:
        strength = {"r2": r2, "snr": snr, "effect_size": effect_size}
        predicted = correlated_power(
            columns, study.n_signals, **strength, fdr=level, methods=[row.name for row in asked],
            effects=effects, n_samples=study.n_samples, random_state=child(seed, _THEORY_KEY),
        )  # fmt: skip
    blocks = [range(s, min(s + _BLOCK, sets)) for s in range(len(runs), sets, _BLOCK)]
    # in processes, unless a backend was chosen: threads would share the warnings of the runs
    tasks = [(seed, block) for block in blocks]
    for part in on_workers(plan.run, tasks, n_jobs, prefer="processes"):
        runs += part
        if progress is not None:
            progress(len(runs), sets)
    labels = {row.name: row.label for row in asked} | {name: name for name in own}
    every = {name: [run.outcomes[name] for run in runs] for name in labels}
    rows = [
        {"method": name, "label": labels[name]} | _row(found, predictions.get(name))
        for name, found in every.items()
    ]
    notes = [note for name, found in every.items() for note in warned(labels[name], found)]
    mean_r2 = float(np.mean([run.r2 for run in runs]))
    return PlasmodePower(Table.of(rows), sets, mean_r2, level, predicted, tuple(notes))


class _Rows(NamedTuple):
    """Where the rows of data sets come from."""

    table: Array
    n_samples: int
    root: Array | None
    """Of the covariance of Gaussian rows; None where rows are those of the table."""

    def draw(self, seed: np.random.SeedSequence) -> Array:
        """Return the rows of a data set, standardised."""
        n, have = self.n_samples, len(self.table)
        if n == have:
            return self.table
        rng = generator(child(seed, _ROWS_KEY))
        if self.root is None:
            rows = self.table[rng.choice(have, n, replace=False)]
        else:
            rows = rng.standard_normal((n, len(self.root))) @ self.root.T
        return standardised(rows)[0]


def _rows_of(columns: Array, n_samples: int) -> _Rows:
    """Return where the rows of data sets with so many of them come from."""
    if n_samples <= len(columns):
        return _Rows(columns, n_samples, None)
    return _Rows(columns, n_samples, np.asarray(cholesky(covariance_of(columns), lower=True)))


def _selector(row: Method, prediction: Prediction | None, study: Study, level: float) -> Any:
    """Return the selector of a method, as it comes, at a level."""
    if prediction is not None:
        settings = prediction.parameters
    elif "fdr" in row.levels:
        settings = {"fdr": level}
    elif "pfer" in row.levels:
        settings = {"pfer": level * study.n_signals}
    else:
        settings = {}
    return row.load_selector()(**{**row.preset, **settings})


def _named(selectors: Mapping[str, Any] | None, known: Mapping[str, Any]) -> dict[str, Any]:
    """Return the checked selectors of the user."""
    if selectors is None:
        return {}
    if not isinstance(selectors, Mapping):
        raise ArgumentError(
            f"selectors must be a mapping of names to selectors; got {short(selectors)}."
        )
    for name, one in selectors.items():
        if not isinstance(name, str) or name in known:
            raise ArgumentError(
                f"selectors: a name must be a text that no method has; got {short(name)}."
            )
        if any(not hasattr(one, part) for part in ("fit", "get_support", "get_params")):
            raise ArgumentError(f"selectors[{name!r}] must be a selector; got {short(one)}.")
    return dict(selectors)


class _Run(NamedTuple):
    """What all selectors do in a data set."""

    r2: float
    """Share of the variance that the signals explain."""
    outcomes: dict[str, RunOutcome]
    """By the name of the selector."""


@dataclass(frozen=True, slots=True)
class _Plan:
    """What is planted, and who looks for it."""

    rows: _Rows
    study: Study
    by_ratio: bool
    """Whether noise follows the variance of the signal, or is one."""
    selectors: dict[str, Any]
    own: frozenset[str]
    """Names of those whose arguments the user gave."""

    def run(self, seed: np.random.SeedSequence, sets: Sequence[int]) -> list[_Run]:
        """Run all selectors on some data sets."""
        return [self._run_one(child(seed, s)) for s in sets]

    def _run_one(self, seed: np.random.SeedSequence) -> _Run:
        rng = generator(child(seed, _DATA_KEY))
        X = self.rows.draw(seed)
        n, p = X.shape
        k = self.study.n_signals
        truth = np.zeros(p, dtype=bool)
        truth[rng.choice(p, k, replace=False)] = True
        effect = self.study.effects.sample(k, rng) * rng.choice((-1.0, 1.0), k)
        signal = X[:, truth] @ (self.study.effect_size * effect)
        sd = float(np.sqrt(signal.var() / self.study.snr)) if self.by_ratio else 1.0
        y = signal + sd * rng.standard_normal(n)
        own = child(seed, _SELECTOR_KEY)
        outcomes = {
            name: run_selector(selector, X, y, truth, seed=own, called=self._called(name))
            for name, selector in self.selectors.items()
        }
        return _Run(float(signal.var() / (signal.var() + sd**2)), outcomes)

    def _called(self, name: str) -> str:
        """Return the argument that a selector comes from."""
        return f"{'selectors' if name in self.own else 'methods'}[{name!r}]"


def _row(found: Sequence[RunOutcome], prediction: Prediction | None) -> Row:
    """Return the means of a selector over the data sets."""
    row: Row = with_interval("power", np.array([one.power for one in found]))
    row |= with_interval("fdr", np.array([one.fdp for one in found]))
    return row | {
        "selected": float(np.mean([one.selected for one in found])),
        "refused": sum(one.refused for one in found),
        "predicted": None if prediction is None else prediction.power,
    }
