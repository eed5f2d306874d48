"""One call from a table to an answer: `selica.select`."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from inspect import signature
from typing import Any

import numpy as np

from selica import catalogue
from selica._core.errors import ArgumentError
from selica._core.validation import short
from selica.reports.again import asking
from selica.reports.provenance import FileIdentity, Provenance
from selica.reports.selection import Selection, answer
from selica.selectors.base import Selector
from selica.tables import ArrayTable, Prepared, is_array_file, prepare, prepare_array
from selica.tables.genotypes import Genotypes, is_genotype_file, prepare_genotypes

GENOTYPE_SETTINGS = (
    "pheno", "components", "maf", "max_missing", "extract", "exclude", "chromosomes",
    "keep_people", "remove_people", "cache",
)  # fmt: skip
"""Arguments of `tables.genotypes.prepare_genotypes` that other tables do not have."""
ARRAY_SETTINGS = ("pheno", "layer")
"""Arguments of `tables.prepare_array` that other tables do not have."""

NO_POLICY = "missing: missing calls of genotypes take the mean of a marker."
"""Why genotypes have no policy for missing values."""
COMPLETE = "missing: an array in a file must be complete; rows without a response are left out."
"""Why arrays in files have none."""


def select(
    table: Any,
    target: Any = None,
    *,
    method: Any = "auto",
    time: Any = None,
    event: Any = None,
    response: str = "auto",
    keep: str | Iterable[str] = (),
    drop: str | Iterable[str] = (),
    rows_of: Any = None,
    weights: Any = None,
    offset: Any = None,
    strata: Any = None,
    missing: str = "impute",
    kinds: Mapping[str, str] | None = None,
    random_state: Any = 0,
    **settings: Any,
) -> Selection:
    """Select the variables of a table that explain a target, and say what is guaranteed.

    `selica select` on the command line is the same call, with the same defaults.

    Parameters
    ----------
    table : path, data frame, array, sparse matrix or dictionary
        A file (CSV, Parquet, ...) or an object of pandas, polars, pyarrow, NumPy or SciPy, or
        AnnData; see `tables.as_columns`. Genotypes: a `.bed` or `.pgen` file, or what
        `read_genotypes` returns; see `tables.genotypes.prepare_genotypes`. Arrays in files: a
        `.h5ad` file, a `.zarr` folder, or what `tables.read_array` returns; see
        `tables.prepare_array`.
    target : str or array of shape (n,)
        Column to explain.
    method : str or selector
        A name of the catalogue (`selica methods` lists them); "auto" chooses, for genotypes and
        arrays in files stability selection with a bound on false selections, or with `fdr` by
        p-values where it can. A selector is fitted as it is, without a copy, and takes no settings.
    time, event : str
        In the place of a target, for survival: times, and whether the event was observed.
    response : {"auto", "linear", "binary", "count", "survival", "classes", "ordinal"}
        What the target is. "auto" takes two values as "binary" and text with more as "classes".
    keep : str or iterable of str
        Covariates that are in every fit and never selected: names, "age,sex" or "pc1-pc10".
    drop : str or iterable of str
        Columns to leave out.
    rows_of : str
        Column that says which rows belong together, such as the number of a patient.
    weights, offset, strata : str
        Columns of weights of the rows, of the logarithm of exposures (or "log(exposure)"), and of
        strata.
    missing : {"impute", "drop-rows", "drop-columns"}
        What is done with missing values.
    kinds : mapping of str to str
        Kinds of columns that are recognised wrongly, such as ``{"batch": "category"}``.
    random_state : int, SeedSequence, Generator or None
    **settings
        Parameters of the method, such as ``pfer=1`` or ``fdr=0.1``. `pheno` is a file with
        response and covariates, a line for each row of the table. For genotypes also
        `components`, `maf` and the other arguments of `tables.genotypes.prepare_genotypes`; for
        arrays in files also `layer`.

    Returns
    -------
    Selection
        It prints as what the command line prints; `selected` are the names, and
        `reports.write_report` makes the report.

    Examples
    --------
    >>> import numpy as np
    >>> import selica
    >>> rng = np.random.default_rng(1)
    >>> table = {f"gene {j}": rng.standard_normal(200) for j in range(20)}
    >>> table["dose"] = table["gene 3"] - table["gene 7"] + rng.standard_normal(200)
    >>> sorted(selica.select(table, "dose").selected)
    ['gene 3', 'gene 7']
    """
    of_genotypes = isinstance(table, Genotypes) or is_genotype_file(table)
    if of_genotypes or isinstance(table, ArrayTable) or is_array_file(table):
        uses = {
            "time": time, "event": event, "keep": keep, "drop": drop, "rows_of": rows_of,
            "weights": weights, "offset": offset, "strata": strata, "kinds": kinds,
            "response": response,
        }  # fmt: skip
        if missing != "impute":
            raise ArgumentError(NO_POLICY if of_genotypes else COMPLETE)
        return _select_stored(table, target, method, uses, settings, random_state)
    pheno = settings.pop("pheno", None)
    prepared = prepare(
        table, target, time=time, event=event, keep=keep, drop=drop, rows_of=rows_of,
        weights=weights, offset=offset, strata=strata, missing=missing, response=response,
        kinds=kinds, pheno=pheno,
    )  # fmt: skip
    selector = _selector(method, settings, random_state)
    arguments = {
        "time": time, "event": event, "keep": keep, "drop": drop, "rows_of": rows_of,
        "weights": weights, "offset": offset, "strata": strata, "kinds": kinds, "pheno": pheno,
    }  # fmt: skip
    if missing != "impute":
        arguments["missing"] = missing
    if response != "auto":
        arguments["response"] = response
    return answer_to(selector, prepared, provenance=origin(table, selector, target, arguments))


def _select_stored(
    table: Any,
    target: Any,
    method: Any,
    uses: dict[str, Any],
    settings: dict[str, Any],
    random_state: Any,
) -> Selection:
    """Select from a stored table; settings are of the method, or say what is used of the files."""
    of_array = isinstance(table, ArrayTable) or is_array_file(table)
    names = ARRAY_SETTINGS if of_array else GENOTYPE_SETTINGS
    own = {name: settings.pop(name) for name in names if name in settings}
    selector = _selector(stored_method(method, settings), settings, random_state)
    given = {n: v for n, v in uses.items() if v is not None and v != () and v != "auto"}
    if of_array:
        prepared = prepare_array(table, target, **given, **own)
    else:
        prepared = prepare_genotypes(table, target, random_state=random_state, **given, **own)
    source = None if isinstance(table, Genotypes | ArrayTable) else table
    return answer_to(
        selector, prepared, provenance=origin(source, selector, target, {**given, **own})
    )


def stored_method(method: Any, settings: Mapping[str, Any]) -> Any:
    """Return the method for a stored table: stability selection where the choice is left open.

    Parameters
    ----------
    method : str or selector
    settings : mapping
        Parameters that were given; those that are None were not.
    """
    if not (isinstance(method, str) and method == "auto"):
        return method
    return "stability-pfer" if settings.get("fdr") is None else "stability-fdr"


def origin(
    table: Any, selector: Selector, target: Any, arguments: Mapping[str, Any], **about: Any
) -> Provenance:
    """Return where an answer comes from: the file if there is one, the day, and the call.

    Parameters
    ----------
    table : path or object
        As `select` takes it.
    selector : selector of `selica`
        Not yet fitted.
    target : str or array
    arguments : mapping
        Others that say what columns are for.
    **about
        Other fields of `Provenance`.
    """
    from_file = isinstance(table, str | os.PathLike)
    text = repr(os.fspath(table)) if from_file else "table"
    return Provenance(
        file=FileIdentity.of(os.fspath(table)) if from_file else None,
        date=datetime.now(tz=UTC).date().isoformat(),
        **({"code": asking(selector, text, target, arguments)} | about),
    )


def answer_to(selector: Selector, prepared: Prepared, **about: Any) -> Selection:
    """Fit a selector to a table that was made ready.

    Parameters
    ----------
    selector : selector of `selica`
        It is fitted. Its response becomes that of the table, unless it has one of its own.
    prepared : Prepared
    **about
        As in `answer`.

    Examples
    --------
    >>> from selica import LassoSelection
    >>> from selica.reports import answer_to
    >>> from selica.tables import prepare
    >>> table = {"dose": [1, 2, 3, 4, 5, 6], "well": ["no", "no", "yes", "no", "yes", "yes"]}
    >>> answer_to(LassoSelection(0.1, random_state=0), prepare(table, "well")).selected
    ['dose']
    """
    if not isinstance(selector, Selector):
        raise ArgumentError(f"selector must be a selector of selica; got {short(selector)}.")
    if not isinstance(prepared, Prepared):
        raise ArgumentError(f"prepared must come from tables.prepare; got {short(prepared)}.")
    if selector.response == "auto":
        selector.set_params(response=prepared.response)
    return answer(
        selector, prepared.X, prepared.y, prepared.names, prepared.target,
        prepared=prepared,
        variable=prepared.variable,
        keep=prepared.keep,
        rows_of=prepared.rows_of,
        sample_weight=prepared.sample_weight,
        offset=prepared.offset,
        strata=prepared.strata,
        missing="impute" if _has_gaps(prepared.X) else None,
        **about,
    )  # fmt: skip


def _has_gaps(X: Any) -> bool:
    """Tell whether values are to be filled in; missing calls of genotypes take the mean."""
    return not isinstance(X, Genotypes | ArrayTable) and bool(np.isnan(X).any())


def _selector(method: Any, settings: dict[str, Any], random_state: Any) -> Selector:
    """Return the selector that a name and settings stand for."""
    if isinstance(method, Selector):
        if settings:
            raise ArgumentError(
                f"{', '.join(settings)}: settings belong to a method by name; a selector has its "
                "own."
            )
        return method
    row = catalogue.method(method)
    kind = row.load_selector()
    known = sorted(signature(kind).parameters)
    foreign = [name for name in settings if name not in known]
    if foreign:
        raise ArgumentError(
            f"{foreign[0]} does not belong to method {row.name!r}, which takes {', '.join(known)}."
        )
    made: Selector = kind(**row.arguments(settings), random_state=random_state)
    return made
