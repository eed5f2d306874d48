"""A selector fitted to named columns, with everything it had to say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sklearn.base import clone

from selica._core.errors import ArgumentError, DoesNotApply
from selica._core.validation import printable, short
from selica._core.warning import noted
from selica._version import __version__
from selica.reports import account, again
from selica.reports.given import GivenTable
from selica.reports.marker_table import with_markers
from selica.reports.next_steps import next_steps
from selica.reports.provenance import Provenance
from selica.sampling import Exchangeability
from selica.selectors import Guarantee, StabilitySelection, Summary
from selica.selectors.base import Selector
from selica.selectors.stability_path import StabilityPath
from selica.selectors.summary import NEAR_MISSES
from selica.selectors.text_table import wrapped
from selica.tables import ArrayTable, Columns, Prepared
from selica.tables.genotypes import Genotypes


@dataclass(frozen=True, slots=True)
class Selection:
    """The result of a selector on a table, ready to be printed and written.

    `print` shows what a person needs; `write_report` writes it, and `bundle` packs it with the
    table so that another person can repeat it to the last digit.

    Attributes
    ----------
    selector : selector of `selica`
        Fitted.
    target : str
    n_samples : int
    settings : dict
        Parameters of the selector.
    used : dict
        The settings as they were used: those of the method that was run, with what it made of them
        (penalties, q, threshold, resamples or copies, kind of response), and how many rows each
        class has.
    response : dict
        Kind of the response, with its classes, events or range.
    copies : Exchangeability, optional
        Whether the knockoff copies pass as columns, where copies were drawn.
    summary : Summary
    guarantee : Guarantee
    threshold : float, optional
        On the measure of the summary's table, where the rule has one.
    cautions : tuple of str
        What the reader has to know about the data before the result.
    notes : tuple of str
        What the reader has to know about the result, such as why nothing was selected.
    provenance : Provenance
        The file, the day, and how to run it again, as far as they are known.
    prepared : Prepared, optional
        What was done with the columns of the table.
    given : GivenTable, optional
        The numbers that the selector was fitted to.

    Examples
    --------
    >>> from selica import LassoSelection
    >>> from selica.reports import demo_table, answer
    >>> from selica.tables import split
    >>> X, y, names = split(demo_table(), "progression")
    >>> found = answer(LassoSelection(lam=0.3), X, y, names, "progression")
    >>> found.method, found.n_samples, found.selected
    ('LassoSelection', 442, ['bmi', 'ltg'])
    >>> print(found)  # doctest: +ELLIPSIS
    Lasso at lam = 0.3: 2 of 105 variables
    442 rows, 105 variables. progression is a number, from 25 to 346 with a mean of
    152.1.
    ...
    """

    selector: Any
    target: str
    n_samples: int
    settings: dict[str, Any]
    used: dict[str, Any]
    summary: Summary
    guarantee: Guarantee
    threshold: float | None
    cautions: tuple[str, ...]
    notes: tuple[str, ...]
    copies: Exchangeability | None = None
    response: dict[str, Any] = field(default_factory=dict)
    provenance: Provenance = field(default_factory=Provenance)
    prepared: Any = None
    given: GivenTable | None = None

    @property
    def method(self) -> str:
        """Name of the selector."""
        return type(self.selector).__name__

    @property
    def selected(self) -> list[str]:
        """Names of the selected variables, or groups of them, the most important first."""
        return [row[self.summary.unit] for row in self.summary.variables if row["selected"]]

    @property
    def members(self) -> dict[str, list[str]]:
        """Names of the variables in each selected group; nothing where there are no groups.

        The promise is about groups: which of their members matter is not said.
        """
        groups = self.selector._grouping
        if groups is None:
            return {}
        every = dict(zip(groups.names, groups.members(self.selector._names()), strict=True))
        return {name: list(every[name]) for name in self.selected}

    @property
    def genotypes(self) -> Genotypes | None:
        """The genotypes that were selected from; None for other tables."""
        X = None if self.given is None else self.given.X
        return X if isinstance(X, Genotypes) else None

    @property
    def stored(self) -> bool:
        """Whether the table stays as it is stored: genotypes, or an array in a file."""
        return self.given is not None and isinstance(self.given.X, Genotypes | ArrayTable)

    @property
    def n_units(self) -> int:
        """How many variables, or groups of them, were selected from."""
        if self.summary.unit == "variable":
            return int(self.selector.n_features_in_)
        return len(self.summary.variables)

    @property
    def size(self) -> str:
        """How many rows and variables there are, in words."""
        variables = f"{self.n_samples:,} rows, {self.selector.n_features_in_:,} variables"
        if self.summary.unit == "variable":
            return variables
        many = len(self.summary.variables)
        return f"{variables} in {many:,} {'group' if many == 1 else 'groups'}"

    @property
    def rows(self) -> list[dict[str, Any]]:
        """All variables, selected ones first, without columns that are empty throughout."""
        table = self.summary.variables
        empty = [c for c in table.columns if all(row[c] is None for row in table)]
        rows = sorted(table, key=lambda row: not row["selected"])
        return [{k: v for k, v in row.items() if k not in empty} for row in rows]

    @property
    def close(self) -> dict[str, list[str]]:
        """Names of what was close: close calls, and the next variables, or groups, by rank."""
        rows, unit = self.summary.variables.rows, self.summary.unit
        calls = [row[unit] for row in rows if row.get("close call")]
        after = [row[unit] for row in rows if not row["selected"]]
        return {"close calls": calls, "next": after[:NEAR_MISSES]}

    @property
    def chosen(self) -> str:
        """Sentences on which method was chosen, why, and what else might have been; or nothing."""
        return str(getattr(self.selector, "reason_", ""))

    @property
    def to_check(self) -> tuple[str, ...]:
        """Those of the cautions and notes that a person should act on."""
        asked = () if self.prepared is None else self.prepared.questions
        urgent = {*asked, *self.selector._noticed}
        return tuple(one for one in (*self.cautions, *self.notes) if one in urgent)

    @property
    def levels(self) -> dict[str, dict[str, float]]:
        """Effects of the levels of selected categories, against the one without a column."""
        effects = self.selector.effects_
        if effects is None:
            return {}
        names = self.selector._directions()
        return {
            names.names[variable]: {
                names.level(column, variable): effect
                for column, effect in sorted(listed, key=lambda one: -one[1])
            }
            for variable, listed in zip(effects.variables, effects.levels, strict=True)
            if listed
        }

    @property
    def next_steps(self) -> tuple[str, ...]:
        """What to do next, in sentences."""
        return next_steps(self)

    @property
    def code(self) -> str:
        """Lines of Python that repeat the selection."""
        return self.provenance.code or again.fitting(self.selector)

    @property
    def columns(self) -> dict[str, Any]:
        """What was done with the columns of the table, as far as it is known."""
        return account.columns_of(self.prepared, self.given)

    def about(self) -> list[str]:
        """Return sentences on the table: the file, its size, the response, the columns."""
        file = self.provenance.file
        name = "" if file is None else f"{file.name}: "
        said = [f"{name}{self.size}."]
        if self.response:
            said.append(account.response_sentence(self.response, self.target))
        return [*said, *account.column_sentences(self.columns)]

    def __str__(self) -> str:
        check = self.to_check
        head = [self.summary.title, *([self.chosen] if self.chosen else []), " ".join(self.about())]
        nothing = () if self.selected else (self.selector.explain(),)
        head += [*nothing, *(f"Check: {one}" for one in check)]
        head += [f"Note: {one}" for one in self.cautions if one not in check]
        tail = [f"Promise: {self.guarantee}"]
        tail += [f"Note: {one}" for one in self.notes if one not in (*check, *nothing)]
        tail += [f"Next: {step}" for step in self.next_steps]
        parts = [*map(wrapped, head), "", self.summary.table(), "", *map(wrapped, tail)]
        return "\n".join(parts)

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the table of variables, as plain values for JSON."""
        return {
            "version": __version__,
            "date": self.provenance.date,
            "file": None if self.provenance.file is None else self.provenance.to_dict()["file"],
            "method": self.method,
            "chosen": self.chosen,
            "settings": self.settings,
            "used": self.used,
            "target": self.target,
            "response": self.response,
            "n_samples": self.n_samples,
            "n_variables": self.selector.n_features_in_,
            "columns": self.columns,
            "selected": self.selected,
            "members": self.members,
            "close": self.close,
            "duplicates": {name: list(same) for name, same in self.selector.duplicates_.items()},
            "near_duplicates": {
                name: list(same) for name, same in self.selector.near_duplicates_.items()
            },
            "guarantee": self.guarantee.to_dict() | {"text": str(self.guarantee)},
            "after_the_fit": account.after_the_fit(self.selector),
            "exchangeability": None if self.copies is None else self.copies.to_dict(),
            "threshold": self.threshold,
            "measure": self.summary.measure,
            "explanations": dict(self.summary.explanations),
            "levels": self.levels,
            "to_check": list(self.to_check),
            "cautions": list(self.cautions),
            "notes": list(self.notes),
            "next_steps": list(self.next_steps),
            "run_again": {"command": self.provenance.command, "python": self.code},
        }

    def stability_path(self) -> StabilityPath:
        """Compute how often resamples select each variable, along the penalty of the lasso.

        Examples
        --------
        >>> from selica import StabilitySelection
        >>> from selica.reports import demo_table, answer
        >>> from selica.tables import split
        >>> X, y, names = split(demo_table(), "progression")
        >>> found = answer(StabilitySelection(random_state=0), X, y, names, "progression")
        >>> found.stability_path().probabilities.shape
        (30, 105)
        """
        selector = account.chosen_of(self.selector)
        path: StabilityPath
        if self.stored:
            raise DoesNotApply("A stability path is for tables of ordinary numbers.")
        if selector._data is None and self.given is not None:
            table, y = self.given.named(self.target), self.given.y
            if isinstance(selector, StabilitySelection):
                path = selector.stability_path(table, y, **self.given.arguments)
                return path
            selector = clone(self.selector)
            with noted():
                selector.fit(table, y, **self.given.arguments)
        path = selector.stability_path()
        return path

    def bundle(self, path: Path | str) -> Path:
        """Write a ZIP file with which anyone can repeat the selection; see `write_bundle`.

        Examples
        --------
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> from selica import LassoSelection
        >>> from selica.reports import demo_table, answer
        >>> from selica.tables import split
        >>> X, y, names = split(demo_table(), "progression")
        >>> found = answer(LassoSelection(0.3, random_state=0), X, y, names, "progression")
        >>> with TemporaryDirectory() as folder:
        ...     found.bundle(Path(folder) / "bundle.zip").name
        'bundle.zip'
        """
        from selica.reports.bundle import write_bundle  # it packs selections

        return write_bundle(self, path)


def answer(
    selector: Any,
    X: Any,
    y: Any,
    names: Sequence[str],
    target: str,
    table: Columns | None = None,
    *,
    provenance: Provenance | None = None,
    prepared: Any = None,
    variable: Any = None,
    **arguments: Any,
) -> Selection:
    """Fit a selector to named columns.

    Parameters
    ----------
    selector : selector of `selica`
        It is fitted, and given the names.
    X : array of shape (n, p), Genotypes or ArrayTable
    y : array of shape (n,)
    names : sequence of str
        Of the columns.
    target : str
        Name of the response.
    table : Columns, optional
        Where the columns come from. Those of its columns that are left out are searched for one
        that tells which rows belong together, as the number of a patient does.
    provenance : Provenance, optional
        The file, the day and the command, for the report.
    prepared : Prepared, optional
        What was done with the columns of the table, for the report.
    variable : array of shape (p,), optional
        Which variable each column belongs to, where one has several.
    **arguments
        Others that `fit` takes, such as `sample_weight`.

    Returns
    -------
    Selection
        What the selector noticed is among its cautions and notes, and is not said as a warning.

    Examples
    --------
    >>> from selica import LassoSelection
    >>> from selica.reports import demo_table, answer
    >>> from selica.tables import split
    >>> X, y, names = split(demo_table(), "progression")
    >>> found = answer(LassoSelection(lam=0.3), X, y, names, "progression")
    >>> list(found.selector.get_feature_names_out())
    ['bmi', 'ltg']
    """
    if not isinstance(selector, Selector):
        raise ArgumentError(f"selector must be a selector of selica; got {short(selector)}.")
    if isinstance(names, str) or not isinstance(names, Sequence):
        raise ArgumentError(f"names must be a list of names; got {short(names)}.")
    if not all(isinstance(name, str) for name in (*names, target)):
        raise ArgumentError("names and target must be text.")
    if table is not None and not isinstance(table, Columns):
        raise ArgumentError(f"table must be Columns, as from read_table; got {short(table)}.")
    if provenance is not None and not isinstance(provenance, Provenance):
        raise ArgumentError(f"provenance must be a Provenance; got {short(provenance)}.")
    if prepared is not None and not isinstance(prepared, Prepared):
        raise ArgumentError(f"prepared must be Prepared, as from prepare; got {short(prepared)}.")
    given = {name: value for name, value in arguments.items() if value is not None}
    columns, references = ((), ()) if prepared is None else (prepared.columns, prepared.references)
    fitted = GivenTable(X, y, tuple(names), variable, columns, references, given)
    left_out = _left_out(table, names, target)
    if prepared is not None:
        left_out = tuple(
            (printable(one.name), one.values) for one in prepared.left_out if not one.asked
        )
    stored = isinstance(X, Genotypes | ArrayTable)
    with noted():
        selector.fit(X if stored else fitted.named(target)._replace(left_out=left_out), y, **given)
    summary = selector.summary()
    response = account.response_of(selector, y)
    classes = response.get("classes")
    source = table if prepared is None else prepared
    reason = getattr(selector, "reason_", None)  # it stands under the title
    cautions = [*(() if source is None else source.notes), *selector.cautions_]
    return Selection(
        selector=selector,
        target=printable(target),
        n_samples=X.shape[0],
        settings=account.settings_of(selector),
        used=account.used_by(selector) | ({"classes": classes} if classes else {}),
        summary=with_markers(summary, X) if isinstance(X, Genotypes) else summary,
        guarantee=selector.guarantee_,
        threshold=account.threshold_of(selector),
        cautions=tuple(dict.fromkeys(cautions)),
        notes=tuple(
            note
            for note in selector.notes_
            if note not in selector.cautions_ and (reason is None or reason not in note)
        ),
        copies=getattr(account.chosen_of(selector), "exchangeability_", None),
        response=response,
        provenance=provenance or Provenance(),
        prepared=prepared,
        given=fitted,
    )


def _left_out(
    table: Columns | None, names: Sequence[str], target: str
) -> tuple[tuple[str, Any], ...]:
    """Return columns of a table that are neither variables nor the response."""
    if table is None:
        return ()
    used = {*names, target}
    columns = zip(table.names, table.values, strict=True)
    return tuple((printable(name), values) for name, values in columns if name not in used)
