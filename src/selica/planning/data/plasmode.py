"""Power on the user's own table: signals are planted in its columns, and the selectors run."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

import selica.selectors
from selica._core.effects import Effects
from selica._core.errors import ArgumentError, RefusedError
from selica._core.random import RandomState, child, generator, seed_sequence
from selica._core.results import Result
from selica._core.table import Row, Table
from selica._core.types import Array, Progress
from selica._core.validation import count, flag, reporter, short, workers
from selica.control import fdp, tpp
from selica.planning.data.first_answer import correlated_power, study_of_table, with_interval
from selica.planning.predict.methods import METHODS, predict
from selica.planning.questions.compare import fdr_level, method_names
from selica.planning.study import Study
from selica.plots import plot_planted

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Spawn keys: the planted data, the selectors.
_DATA, _SELECTOR = range(2)
# Of the theory, beyond any number of data sets.
_THEORY = int.from_bytes(b"thry", "big")
# Data sets that go to a worker together.
_BLOCK = 5
_METHODS = ("stability", "knockoff", "evalues")


@dataclass(frozen=True, slots=True, repr=False)
class PlasmodePower(Result):
    """Power and error rates of selectors on planted signals.

    Attributes
    ----------
    methods : Table
        One row for each selector: mean `power` and `fdr` over the data sets with the ends of 95 %
        intervals (`power_low`, ...), mean number `selected`, how many data sets it `refused`, and
        what the theory `predicted` for independent columns, where it has a prediction.
    n_sets : int
    r2 : float
        Mean share of the variance that the signals explain.
    fdr : float
        Level that was asked for.
    first : Table or None
        What the theory said beforehand for Gaussian rows with the covariance of the table, from
        `correlated_power`: one row for each method that it covers. None if it was not asked.

    Examples
    --------
    >>> import numpy as np
    >>> from selica.planning import plasmode_power
    >>> X = np.random.default_rng(0).standard_normal((100, 20))
    >>> found = plasmode_power(
    ...     X, 5, r2=0.9, methods="lasso", n_sets=3, theory=False, random_state=0
    ... )
    >>> found.n_sets, found.methods.columns[:3]
    (3, ('method', 'power', 'power_low'))
    """

    methods: Table
    n_sets: int
    r2: float
    fdr: float
    first: Table | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and text; a method has what was foretold of it as `correlated`."""
        rows = [row | {"correlated": self.foretold(row["method"])} for row in self.methods]
        return {"n_sets": self.n_sets, "r2": self.r2, "fdr": self.fdr, "methods": rows}

    def to_frame(self) -> Any:
        """The methods as a data frame (needs pandas)."""
        return self.methods.to_frame()

    def plot(self) -> Figure:
        """Power and false discovery rate, beside what the theory said (needs matplotlib)."""
        power, fdr = (
            [(row[key], row[f"{key}_low"], row[f"{key}_high"]) for row in self.methods]
            for key in ("power", "fdr")
        )
        names = [row["method"] for row in self.methods]
        independent = [row["predicted"] for row in self.methods]
        correlated = [self.foretold(name) for name in names]
        return plot_planted(names, power, fdr, self.fdr, correlated, independent)

    def foretold(self, method: str) -> float | None:
        """Power that the theory for correlated columns said; None where it does not say."""
        rows = () if self.first is None else self.first.rows
        return next((row["power"] for row in rows if row["method"] == method), None)

    def __str__(self) -> str:
        lines = [
            f"Signals planted in {self.n_sets} data sets, {100 * self.r2:.0f} % of the variance",
            "",
            f"{'method':<24}{'power':>22}{'FDR':>22}"
            f"{'theory: correlated':>20}{'independent columns':>21}",
        ]
        for row in self.methods:
            spans = [
                f"{row[key]:.2f} ({row[f'{key}_low']:.2f} to {row[f'{key}_high']:.2f})"
                for key in ("power", "fdr")
            ]
            told = [
                "" if power is None else f"{power:.2f}"
                for power in (self.foretold(row["method"]), row["predicted"])
            ]
            note = f"  refused {row['refused']} data sets" if row["refused"] else ""
            found = f"{row['method']:<24}{spans[0]:>22}{spans[1]:>22}"
            lines.append(f"{found}{told[0]:>20}{told[1]:>21}{note}".rstrip())
        return "\n".join(lines)

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
    methods: Sequence[str] | str = _METHODS,
    selectors: Mapping[str, Any] | None = None,
    effects: Effects | None = None,
    n_sets: int = 50,
    theory: bool = True,
    random_state: RandomState | None = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> PlasmodePower:
    """Power and FDR of selectors on a table of one's own, with signals planted in it.

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
    methods : str or sequence of str
        Some of `planning.METHODS`, run as they come. Message passing refuses where a check by
        refits says that it is wrong, and then selects nothing.
    selectors : mapping of str to selector, optional
        Further selectors to run, by name. Their arguments have to be usable: only a refusal that
        depends on the response, such as that of message passing, is counted.
    effects : Effects, optional
        Law of the coefficients; Gaussian by default.
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
    ...     X, 10, r2=0.9, fdr=0.2, methods="knockoff", n_sets=4, random_state=0
    ... )
    >>> bool(found.methods.rows[0]["power"] > 0.5)
    True
    """
    from joblib import Parallel, delayed

    n_jobs, foretell = workers(n_jobs), flag("theory", theory)
    reporter(progress)
    columns, study = study_of_table(X, n_signals, r2, snr, effect_size, effects)
    level = fdr_level(fdr)
    names = method_names(methods)
    predictions = {name: predict(study, name, level, "default") for name in names}
    known = {
        METHODS[name].label: getattr(selica.selectors, METHODS[name].selector)(**found.parameters)
        for name, found in predictions.items()
    }
    own = _named(selectors, known)
    chosen = known | own
    sets = count("n_sets", n_sets, at_least=2)
    plan = _Plan(columns, study, effect_size is None, chosen, frozenset(own))
    seed = seed_sequence(random_state)
    # arguments that no data would make usable are told before the work
    runs = plan.run(seed, range(1)) if own else []
    first = None
    if foretell:
        strength = {"r2": r2, "snr": snr, "effect_size": effect_size}
        first = correlated_power(
            columns, study.n_signals, **strength, fdr=level, methods=names, effects=effects,
            random_state=child(seed, _THEORY),
        )  # fmt: skip
    blocks = [range(s, min(s + _BLOCK, sets)) for s in range(len(runs), sets, _BLOCK)]
    done = len(runs)
    for part in Parallel(n_jobs=n_jobs, return_as="generator")(
        delayed(plan.run)(seed, block) for block in blocks
    ):
        runs += part
        done += len(part)
        if progress is not None:
            progress(done, sets)
    told = {METHODS[name].label: found.power for name, found in predictions.items()}
    rows = [_row(name, [run[name] for run in runs], told.get(name)) for name in chosen]
    mean_r2 = float(np.mean([run["r2"] for run in runs]))
    return PlasmodePower(Table.of(rows), sets, mean_r2, level, first)


def _named(selectors: Mapping[str, Any] | None, known: Mapping[str, Any]) -> dict[str, Any]:
    """Checked selectors of the user."""
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


@dataclass(frozen=True, slots=True)
class _Plan:
    """What is planted, and who looks for it."""

    X: Array
    study: Study
    by_ratio: bool
    """Whether noise follows the variance of the signal, or is one."""
    selectors: dict[str, Any]
    own: frozenset[str]
    """Names of those whose arguments the user gave."""

    def run(self, seed: np.random.SeedSequence, sets: Sequence[int]) -> list[dict[str, Any]]:
        """Some data sets: for each, by selector, (power, FDP, selected, refused)."""
        return [self._one(child(seed, s)) for s in sets]

    def _one(self, seed: np.random.SeedSequence) -> dict[str, Any]:
        from sklearn.base import clone

        rng = generator(child(seed, _DATA))
        n, p = self.X.shape
        k = self.study.n_signals
        truth = np.zeros(p, dtype=bool)
        truth[rng.choice(p, k, replace=False)] = True
        effect = self.study.effects.sample(k, rng) * rng.choice((-1.0, 1.0), k)
        signal = self.X[:, truth] @ (self.study.effect_size * effect)
        sd = float(np.sqrt(signal.var() / self.study.snr)) if self.by_ratio else 1.0
        y = signal + sd * rng.standard_normal(n)
        out: dict[str, Any] = {"r2": float(signal.var() / (signal.var() + sd**2))}
        for name, selector in self.selectors.items():
            one = clone(selector)
            settings = {"random_state": child(seed, _SELECTOR), "n_jobs": 1}
            one.set_params(**{k: v for k, v in settings.items() if k in one.get_params()})
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    mask, refused = one.fit(self.X, y).get_support(), False
                except ArgumentError as error:
                    where = "selectors" if name in self.own else "methods"
                    raise ArgumentError(f"{where}[{name!r}]: {error}") from None
                except RefusedError:
                    mask, refused = np.zeros(p, dtype=bool), True
            out[name] = (tpp(mask, truth), fdp(mask, truth), int(mask.sum()), refused)
        return out


def _row(name: str, found: list[tuple[float, float, int, bool]], predicted: float | None) -> Row:
    values = np.array(found, dtype=float)
    row: Row = {"method": name}
    for place, key in enumerate(("power", "fdr")):
        row |= with_interval(key, values[:, place])
    return row | {
        "selected": float(values[:, 2].mean()),
        "refused": int(values[:, 3].sum()),
        "predicted": predicted,
    }
