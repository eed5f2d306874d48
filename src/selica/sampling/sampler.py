"""Samplers of knockoff copies: what a selector asks of one, and the table of those with a name.

A sampler is one file and one row: a class that inherits from `Sampler`, and an entry here, or a
call of `register` from another package. Selectors know samplers by this interface alone, so that a
new one works with every knockoff selector, its promise included.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from functools import partial
from importlib import import_module
from typing import Any, NamedTuple

from numpy.typing import ArrayLike

from selica._core.errors import ArgumentError, DoesNotApply, RefusedError
from selica._core.losses import Loss
from selica._core.random import RandomState
from selica._core.types import Array, BoolArray, IntArray
from selica._core.validation import choice, short
from selica.sampling.copies import Copies, callable_copies
from selica.sampling.s_matrices import METHODS


class Doubt(NamedTuple):
    """What about a table speaks against a sampler."""

    clause: str
    columns: tuple[int, ...] = ()
    """Columns that it is about, which whoever knows their names lists after it."""


class Sampler(ABC):
    """Draw knockoff copies of the columns of a table.

    A sampler has to define `copies` and `assumption`; everything else has a default.

    Attributes
    ----------
    assumption : str
        What must be true of the data for the copies to be knockoffs, as a clause, e.g. "the
        predictors are independent of each other". The guarantee of a selection quotes it.
    exact : bool
        Whether a promise is proven if that is true; False where the distribution of the columns
        is estimated from the table.
    mismatch : str
        What is wrong where the copies turn out not to be exchangeable with the columns, as a
        clause.
    centre : float, array of shape (p,) or None
        Mean of the columns in the distribution that the copies are drawn from, where it has one.
    exchangeable : bool
        Whether rows of the copies are meant to be exchangeable with rows of the table, which is
        then checked.
    any_statistic : bool
        Whether the promise holds for statistics that look at single rows, as folds do.
    standardised : bool
        Whether it copies the standardised columns, not the table as it was given.
    independent : bool
        Whether all entries of a copy are independent normal numbers, as message passing needs.
    discrete : bool
        Whether it copies values of a table that must stay as they are. Then copies are not drawn
        given covariates, which would be subtracted.
    own_rows : array of bool, shape (n,), or None
        Rows of the table whose copies are these rows themselves; they are not checked.
    seeded : bool
        Whether copies are drawn with the seed of the selection; False where they are the same for
        every seed.
    groups : array of int, shape (p,), or None
        Groups of columns of which only whole ones are exchangeable with their copies; None where
        single columns are.
    structure : str
        What an estimate of the distribution takes for granted, as a clause; empty where that is
        nothing to speak of.

    Examples
    --------
    Columns that are independent of each other can be shuffled, each on its own:

    >>> import numpy as np
    >>> from selica import KnockoffSelection
    >>> from selica.sampling import Sampler, callable_copies, simulate
    >>> class Shuffled(Sampler):
    ...     assumption = "the predictors are independent of each other"
    ...
    ...     def copies(self, X, random_state, members):
    ...         shuffle = lambda table, rng: rng.permuted(table, axis=0)
    ...         return callable_copies(shuffle, X, random_state, members)
    >>> data = simulate(300, 40, 15, snr=20.0, random_state=0)
    >>> selector = KnockoffSelection(0.2, sampler=Shuffled(), lam=0.05, random_state=0)
    >>> print(selector.fit(data.X, data.y).guarantee_)  # doctest: +NORMALIZE_WHITESPACE
    On average at most 20 % of the selected variables are false. This is proven if the rows are
    independent and the predictors are independent of each other [Barber and Candès 2015; Candès et
    al. 2018].
    """

    assumption: str
    exact: bool = True
    mismatch: str = "the sampler does not draw knockoffs of this table"
    centre: Any = None
    exchangeable: bool = True
    any_statistic: bool = True
    standardised: bool = False
    independent: bool = False
    discrete: bool = False
    seeded: bool = True
    groups: IntArray | None = None
    structure: str = ""
    own_rows: BoolArray | None = None

    def needs(self, rows: int, columns: int, loss: Loss) -> None:
        """Check that a table can be copied, or say in an error why it cannot.

        Parameters
        ----------
        rows, columns : int
            Size of the table, without columns that need no copy; they will be centred.
        loss : Loss
            Of the response.
        """
        if columns == 0:
            raise RefusedError("X: all columns are constant; there is nothing to select.")

    def with_variables(self, variable: ArrayLike | None) -> Sampler:
        """Return a sampler that knows which columns belong to one variable; by default this one.

        It is called before `fit`. A sampler that copies a factor as a whole needs to know it.

        Parameters
        ----------
        variable : array of int, shape (p,), or None
            Number of the variable to which a column belongs; None where every column is one.
        """
        return self

    def fit(self, X: ArrayLike, sample_weight: ArrayLike | None = None) -> Sampler:
        """Return a sampler that knows what it needs of the table; by default this one.

        Parameters
        ----------
        X : array of shape (n, p)
        sample_weight : array of shape (n,), optional
        """
        return self

    @abstractmethod
    def copies(self, X: ArrayLike, random_state: RandomState | None, members: Any) -> Copies:
        """Return knockoff copies of X for these members, each drawn when it is asked for.

        Parameters
        ----------
        X : array of shape (n, p)
        random_state : None, int, SeedSequence, Generator or RandomState
            An integer or a SeedSequence gives member b the same copy at every call.
        members : int, slice or array of int
            The first so many members, or their indices.
        """

    def of_groups(self, groups: ArrayLike | None, n_joint: int = 1) -> Sampler:
        """Return a sampler of copies of which only whole groups need to be exchangeable.

        By default this one: copies whose single columns can trade places can do so by groups too.

        Parameters
        ----------
        groups : array of int, shape (p,), or None
            Columns with the same number belong to one group; None: each is its own.
        n_joint : int
            Number of copies of each member that are exchangeable with the columns and with each
            other.
        """
        if n_joint != 1:
            raise DoesNotApply(
                f"sampler: {type(self).__name__} draws no joint copies; use sampler='gaussian', or "
                "one copy."
            )
        return self

    def alternatives(
        self,
        X: ArrayLike,
        sample_weight: ArrayLike | None = None,
        random_state: RandomState | None = None,
    ) -> Iterable[Sampler]:
        """Return samplers to be tried where copies by this one do not behave like the columns.

        They are not yet fitted, and the most promising comes first; by default there is none. The
        response is not looked at.

        Parameters
        ----------
        X : array of shape (n, p)
        sample_weight : array of shape (n,), optional
        random_state : None, int, SeedSequence, Generator or RandomState
        """
        return ()

    def sample(self, X: ArrayLike, random_state: RandomState | None = None) -> Array:
        """Return one knockoff copy of X, the first of `copies` with the same seed.

        Parameters
        ----------
        X : array of shape (n, p)
        random_state : None, int, SeedSequence, Generator or RandomState

        Returns
        -------
        array of shape (n, p)
        """
        return self.copies(X, random_state, 1)[0]

    def doubts(self, X: Array) -> list[Doubt]:
        """Return what about a table speaks against the assumption of this fitted sampler.

        Parameters
        ----------
        X : array of shape (n, p)
            The whole table, constant columns included.
        """
        return []


_OWN = "the sampler draws knockoff copies of the true joint distribution of the predictors"
"""What a promise rests on where a user's function or object draws the copies."""


class FunctionSampler(Sampler):
    """Draw copies by a function of (X, rng) that returns one.

    Parameters
    ----------
    function : callable
        As in `callable_copies`.
    """

    assumption = _OWN

    def __init__(self, function: Callable[..., ArrayLike]) -> None:
        self.function = function

    def copies(self, X: ArrayLike, random_state: RandomState | None, members: Any) -> Copies:
        """Return what the function draws; see `Sampler.copies`."""
        return callable_copies(self.function, X, random_state, members)


class ObjectSampler(Sampler):
    """Draw copies by an object that has a method `copies` and nothing else of the interface.

    Parameters
    ----------
    source : object
        With `copies(X, random_state, members)`.
    """

    assumption = _OWN

    def __init__(self, source: Any) -> None:
        self.source = source

    def copies(self, X: ArrayLike, random_state: RandomState | None, members: Any) -> Any:
        """Return the copies of the object; see `Sampler.copies`."""
        return self.source.copies(X, random_state, members)


def _load(place: str, **settings: Any) -> Sampler:
    """Make the sampler of a class that is named as "module:Class"."""
    module, _, name = place.partition(":")
    made: Sampler = getattr(import_module(module), name)(**settings)
    return made


_ROWS: dict[str, Callable[..., Sampler]] = {
    "auto": partial(_load, "selica.sampling.automatic:AutomaticSampler"),
    "gaussian": partial(_load, "selica.sampling.knockoffs:GaussianKnockoffs"),
    "fixed": partial(_load, "selica.sampling.fixed:FixedKnockoffs", intercept=True),
    "iid": partial(_load, "selica.sampling.independent:IndependentKnockoffs"),
    "sequential": partial(_load, "selica.sampling.sequential:SequentialKnockoffs"),
    "genotypes": partial(_load, "selica.sampling.genotypes:GenotypeKnockoffs"),
    "markov": partial(_load, "selica.sampling.chains:MarkovKnockoffs"),
}
"""The built-in samplers by name, each as a function that makes one."""
_WITH_METHOD = ("gaussian", "fixed")
"""Those whose S-matrix can be chosen by a word after the name."""
_samplers = dict(_ROWS)
"""Those and the registered ones."""


def names() -> tuple[str, ...]:
    """Return the names that `sampler=` takes, on the command line too.

    Examples
    --------
    >>> from selica.sampling import sampler
    >>> sampler.names()[:3]
    ('auto', 'gaussian', 'fixed')
    """
    return tuple(_samplers)


def register(name: str, make: Callable[[], Sampler]) -> None:
    """Add a sampler to those that have a name.

    Parameters
    ----------
    name : str
        What `sampler=` is to take.
    make : callable
        A function without arguments, or a class, that makes the sampler.

    Examples
    --------
    >>> from selica.sampling import FixedKnockoffs, sampler
    >>> sampler.register("fixed-mvr", lambda: FixedKnockoffs("mvr", intercept=True))
    >>> "fixed-mvr" in sampler.names()
    True
    >>> sampler.unregister("fixed-mvr")
    """
    if not isinstance(name, str) or not name:
        raise ArgumentError(f"name must be a word; got {short(name)}.")
    if name in _samplers:
        raise ArgumentError(f"name must be one that no sampler has; got {name!r}.")
    if not callable(make):
        raise ArgumentError(f"make must be a function that makes a sampler; got {short(make)}.")
    _samplers[name] = make


def unregister(name: str) -> None:
    """Take a sampler out again.

    Parameters
    ----------
    name : str
        Of a sampler that was registered.
    """
    if name in _ROWS or name not in _samplers:
        raise ArgumentError(f"name must be that of a registered sampler; got {name!r}.")
    del _samplers[name]


def as_sampler(value: Any) -> Sampler:
    """Return the sampler that a word, an object or a function stands for.

    Parameters
    ----------
    value : str, Sampler, object with `copies`, or callable
        "fixed" and "gaussian" may be followed by the method of their S-matrix, as in "fixed:mvr"
        (see `s_matrix`).

    Examples
    --------
    >>> from selica.sampling.sampler import as_sampler
    >>> as_sampler("fixed"), as_sampler("fixed:mvr")
    (FixedKnockoffs(method='equi', intercept=True), FixedKnockoffs(method='mvr', intercept=True))
    """
    if isinstance(value, str):
        name, _, method = value.partition(":")
        if method and name in _WITH_METHOD:
            make = partial(_ROWS[name], method=choice("sampler: method", method, METHODS))
            return make()
        return _samplers[choice("sampler", value, names())]()
    if isinstance(value, Sampler):
        return value
    if isinstance(value, type):
        raise ArgumentError(
            f"sampler must be an object; got the class {value.__name__}, not an object of it."
        )
    if hasattr(value, "copies"):
        return ObjectSampler(value)
    if callable(value):
        return FunctionSampler(value)
    raise ArgumentError(
        f"sampler must be one of {names()}, an object with `copies`, or a function of (X, rng); "
        f"got {short(value)}."
    )
