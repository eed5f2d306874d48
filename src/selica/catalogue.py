"""The catalogue of methods: each named once, with everything that other rooms say about it.

Command line, page, planning, diagnosis, reports, figures, documentation and tests read it. A new
method is a file and a row here: `register` adds one, and every room knows it.

>>> from selica import catalogue
>>> catalogue.method("knockoffs-evalues").label
'knockoffs, e-values of copies'
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from inspect import signature
from types import MappingProxyType
from typing import Any

from selica._core.defaults import written_defaults
from selica._core.deprecation import renamed
from selica._core.errors import ArgumentError

__all__ = ["METHODS", "Method", "method", "methods", "register", "unregister"]

Dash = str | tuple[float, tuple[float, ...]]
"""A line style of matplotlib: "solid", or lengths of dashes and gaps."""


@dataclass(frozen=True, slots=True)
class Method:
    """Describe a method.

    Attributes
    ----------
    name : str
        Its one name, in Python, on the command line and in files.
    label : str
        What tables and legends call it.
    selector : str or None
        Where its class is, as "module:Class"; None for what cannot be run on data.
    genotypes : str or None
        Where the class of a method for genotypes alone is, as "module:Class"; tables of other
        numbers have no use for it, and `selector` is None.
    preset : mapping
        Arguments that the class is always given for this method.
    usual : mapping
        Arguments that the class is given where a user names the method and nothing that decides.
    decided_by : tuple of str
        Parameters beside the levels that decide what is selected.
    by_default : bool
        Whether the class does this where it is given nothing that decides.
    levels : tuple of str
        Parameters that set the level of error: "fdr", "pfer", "kfwer"; the first is the usual one.
    controls : str
        What is kept at the level, as a short word for tables: "FDR", "PFER" or "none".
    promise : str
        What the method promises, as a sentence.
    rests_on : str
        What the promise rests on, as a sentence.
    predictor : str or None
        Function that predicts it, as "module:function": of studies, a level and whether settings
        are the best ones, to what is found in each study (`planning.predict.prediction`).
    correlated_rule : str or None
        Function that selects from draws of the theory for correlated columns, as
        "module:function": of a `CorrelatedSolution` and a level, to masks.
    equations : str or None
        The ensemble of the theory whose equations it has: "lasso", "stability" or "knockoff".
    threshold : str or None
        The threshold that `theory.power` sets by the truth to keep a level: the penalty ("lam"), or
        one on coefficients ("w_th"), on frequencies ("Pi_th"), on the statistic of one copy
        ("Z_th") or on the local false discovery rate ("lfdr"); None for methods whose threshold
        the data set, which `planning` predicts.
    calibrated : bool
        Whether the data set its threshold; otherwise the user, or the truth.
    refusable : bool
        Whether a check on the data may refuse it.
    beside_ideal : bool
        Whether it is one of the few procedures that are shown beside ideal thresholds.
    options : mapping
        Options of `selica select` that it has, to the parameters of the class that they set.
    colour, dash, marker : str
        How it looks in every figure.
    former : mapping
        Names that it had, by who took them: "theory", "planning", "select" (the command line) or
        "page" (the address of the page).

    Examples
    --------
    >>> from selica import catalogue
    >>> catalogue.Method("my-tests", "tests of my own", levels=("fdr",), controls="FDR").promise
    'No error rate is promised.'
    """

    name: str
    label: str
    selector: str | None = None
    genotypes: str | None = None
    preset: Mapping[str, Any] = field(default_factory=dict)
    usual: Mapping[str, Any] = field(default_factory=dict)
    decided_by: tuple[str, ...] = ()
    by_default: bool = False
    levels: tuple[str, ...] = ()
    controls: str = "none"
    promise: str = "No error rate is promised."
    rests_on: str = ""
    predictor: str | None = None
    correlated_rule: str | None = None
    equations: str | None = None
    threshold: str | None = None
    calibrated: bool = False
    refusable: bool = False
    beside_ideal: bool = False
    options: Mapping[str, str] = field(default_factory=dict)
    colour: str = "#000000"
    dash: Dash = "solid"
    marker: str = "o"
    former: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def class_name(self) -> str:
        """Name of the class."""
        return (self.selector or self.genotypes or "").partition(":")[2]

    def arguments(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments of the class, with what the method adds to those that are given."""
        decisive = {*self.levels, *self.decided_by}
        usual = {} if decisive & given.keys() else self.usual
        return {**usual, **self.preset, **given}

    def load_selector(self) -> type[Any]:
        """Import the class of the method."""
        return _load(self, "selector", "can be run on data")  # type: ignore[no-any-return]

    def load_predictor(self) -> Any:
        """Import the function that predicts the method."""
        return _load(self, "predictor", "has a prediction")

    def load_correlated_rule(self) -> Any:
        """Import the function that selects from draws for correlated columns."""
        return _load(self, "correlated_rule", "has a theory for correlated columns")

    def default(self, parameter: str) -> Any:
        """Return the value that a parameter of the class has unless the user gives another.

        Parameters
        ----------
        parameter : str

        Examples
        --------
        >>> from selica import catalogue
        >>> catalogue.method("knockoffs-evalues").default("n_copies")
        50
        """
        if parameter in self.preset:
            return self.preset[parameter]
        module = str(self.selector).partition(":")[0]
        written = {} if module in sys.modules else written_defaults(str(self.selector))
        if parameter in written:
            return written[parameter]
        return signature(self.load_selector()).parameters[parameter].default


def _load(row: Method, part: str, what: str) -> Any:
    """Import what a field of a method names; `what` says which methods have it."""
    place: str | None = getattr(row, part)
    if place is None:
        known = ", ".join(one.name for one in methods() if getattr(one, part) is not None)
        raise ArgumentError(f"method must be one that {what}, one of {known}; got {row.name!r}.")
    module, _, attribute = place.partition(":")
    return getattr(import_module(module), attribute)


def _same(*names: str) -> dict[str, str]:
    """Return options that are called as the parameters they set."""
    return {name: name for name in names}


_KNOCKOFF_OPTIONS = _same("lam", "l1_ratio", "sampler", "statistic", "groups", "n_jobs")
_RESAMPLING_OPTIONS = _same("n_resamples", "l1_ratio", "weakness", "resampling", "groups", "n_jobs")
_PENALTY_OPTIONS = _same("lam", "resample_rate", "engine")
_COUNT_OPTIONS = _same("threshold", "q")
_ALIKE = "It is proven if the rows are independent and all irrelevant variables are alike."
_COPIES = (
    "It is proven if the rows are independent and the copies are drawn from the true distribution "
    "of the columns."
)
_CALIBRATED = (
    "It is expected, not proven, if the rows are independent and the columns are close to "
    "independent of each other, or depend on each other in a way that can be estimated; both are "
    "checked on the data. Where neither is believed, a bound on the number of false selections "
    "keeps the share, and finds less."
)
_TRUTH = (
    "In predictions the truth sets the threshold, which nobody can do in practice: they show how "
    "much power a threshold can give."
)
_FDR = "On average at most the chosen share of the selected variables is false."
_PFER = "On average at most the chosen number of selected variables is false."
_LONG = (0, (6, 1.5))
"""Long dashes of a line."""
_MIDDLE = (0, (3, 1))
"""Dashes of middle length."""
_SHORT = (0, (2, 1))
"""Short dashes."""

_ROWS = (
    Method(
        "auto",
        "automatic choice",
        selector="selica.selectors:AutoSelection",
        levels=("pfer", "fdr", "kfwer"),
        controls="PFER",
        promise=_PFER,
        rests_on="The conditions are those of the chosen method, which the answer names.",
        calibrated=True,
        options=_same("fdr", "pfer", "kfwer", "n_resamples", "groups", "n_jobs"),
        colour="#56B4E9",
        marker="o",
        former={"page": ("Automatic",)},
    ),
    Method(
        "stability-fdr",
        "stability, p-values",
        selector="selica.selectors:StabilitySelection",
        usual={"fdr": 0.1},
        levels=("fdr",),
        controls="FDR",
        promise=_FDR,
        rests_on=_CALIBRATED,
        predictor="selica.planning.predict.stability:by_message_passing",
        equations="stability",
        calibrated=True,
        refusable=True,
        beside_ideal=True,
        options=_same("fdr") | _RESAMPLING_OPTIONS | _PENALTY_OPTIONS,
        colour="#0072B2",
        dash=_LONG,
        marker="o",
        former={"planning": ("stability",)},
    ),
    Method(
        "stability-pfer",
        "stability, PFER bound",
        selector="selica.selectors:StabilitySelection",
        usual={"pfer": 1.0},
        levels=("pfer",),
        decided_by=("q",),
        by_default=True,
        controls="PFER",
        promise=_PFER,
        rests_on=f"{_ALIKE} Their selection frequencies are assumed to fall smoothly.",
        predictor="selica.planning.predict.bounds:r_concave",
        equations="stability",
        calibrated=True,
        beside_ideal=True,
        options=_same("pfer", "assumption") | _COUNT_OPTIONS | _RESAMPLING_OPTIONS,
        colour="#009E73",
        marker="^",
        former={
            "planning": ("stability_r_concave",),
            "select": ("stability",),
            "page": ("Stability selection",),
        },
    ),
    Method(
        "stability-pfer-unimodal",
        "stability, PFER, one peak",
        selector="selica.selectors:StabilitySelection",
        preset={"assumption": "unimodal"},
        usual={"pfer": 1.0},
        levels=("pfer",),
        decided_by=("q",),
        controls="PFER",
        promise=_PFER,
        rests_on=f"{_ALIKE} Their selection frequencies are assumed to have one peak.",
        predictor="selica.planning.predict.bounds:unimodal",
        equations="stability",
        calibrated=True,
        options=_same("pfer") | _COUNT_OPTIONS | _RESAMPLING_OPTIONS,
        colour="#009E73",
        dash=_LONG,
        marker="^",
        former={"planning": ("stability_unimodal",)},
    ),
    Method(
        "stability-pfer-none",
        "stability, PFER, no shape",
        selector="selica.selectors:StabilitySelection",
        preset={"assumption": "none"},
        usual={"pfer": 1.0},
        levels=("pfer",),
        decided_by=("q",),
        controls="PFER",
        promise=_PFER,
        rests_on=_ALIKE,
        predictor="selica.planning.predict.bounds:no_assumption",
        equations="stability",
        calibrated=True,
        options=_same("pfer") | _COUNT_OPTIONS | _RESAMPLING_OPTIONS,
        colour="#009E73",
        dash=_SHORT,
        marker="^",
        former={"planning": ("stability_none",)},
    ),
    Method(
        "stability-integrated",
        "stability, integrated path",
        selector="selica.selectors:IntegratedStability",
        usual={"pfer": 1.0},
        levels=("pfer", "fdr"),
        by_default=True,
        controls="PFER",
        promise=_PFER,
        rests_on="It is expected, not proven, if the rows are independent, all irrelevant "
        "variables are alike, and halves of the rows agree on them no more than chance makes "
        "them. With calibration bound and order 1 it is proven if they are alike and picked no "
        "more often than the average variable, and finds much less.",
        calibrated=True,
        options=_same("pfer", "fdr", "calibration", "order", "q")
        | _same("n_resamples", "l1_ratio", "groups", "n_jobs"),
        colour="#009E73",
        dash=_MIDDLE,
        marker="<",
    ),
    Method(
        "stability-ideal",
        "stability, ideal",
        selector="selica.selectors:StabilitySelection",
        usual={"lam": "cv"},
        decided_by=("lam", "q", "resample_rate", "engine"),
        promise="No error rate is promised: the threshold is given.",
        rests_on=_TRUTH,
        predictor="selica.planning.predict.stability:ideal",
        correlated_rule="selica.planning.data.correlated_power:frequent",
        equations="stability",
        threshold="Pi_th",
        options=_COUNT_OPTIONS | _RESAMPLING_OPTIONS | _PENALTY_OPTIONS,
        colour="#0072B2",
        marker="o",
        former={"planning": ("ideal",), "theory": ("stability",)},
    ),
    Method(
        "knockoffs",
        "knockoffs, one copy",
        selector="selica.selectors:KnockoffSelection",
        levels=("fdr",),
        controls="FDR",
        promise=_FDR,
        rests_on=_COPIES,
        predictor="selica.planning.predict.knockoffs:one_copy",
        equations="knockoff",
        calibrated=True,
        beside_ideal=True,
        options=_same("fdr", "joint_copies", "confidence") | _KNOCKOFF_OPTIONS,
        colour="#E69F00",
        marker="v",
        former={"planning": ("knockoff",), "page": ("Knockoffs, one copy",)},
    ),
    Method(
        "knockoffs-ideal",
        "knockoffs, ideal",
        promise="No error rate is promised: the threshold is given.",
        rests_on=_TRUTH,
        equations="knockoff",
        threshold="Z_th",
        colour="#E69F00",
        dash=(0, (4, 2)),
        marker="v",
        former={"theory": ("knockoff",)},
    ),
    Method(
        "knockoffs-evalues",
        "knockoffs, e-values of copies",
        selector="selica.selectors:DerandomizedKnockoffs",
        by_default=True,
        levels=("fdr",),
        controls="FDR",
        promise=_FDR,
        rests_on="It is expected, not proven, if the rows are independent, the copies are drawn "
        "from the true distribution of the columns, and among irrelevant variables high e-values "
        "are rarer than low ones. Without the last condition at most twice the chosen share is "
        "proven: choose half of a share that has to be proven.",
        predictor="selica.planning.predict.knockoffs:e_values",
        equations="knockoff",
        calibrated=True,
        beside_ideal=True,
        options=_same("fdr") | {"n_resamples": "n_copies"} | _KNOCKOFF_OPTIONS,
        colour="#D55E00",
        dash=_LONG,
        marker="s",
        former={
            "planning": ("evalues",),
            "select": ("derandomized",),
            "page": ("Derandomized knockoffs",),
        },
    ),
    Method(
        "knockoffs-frequency",
        "knockoffs, share of copies",
        selector="selica.selectors:DerandomizedKnockoffs",
        usual={"pfer": 1.0},
        levels=("pfer", "kfwer"),
        decided_by=("threshold",),
        controls="PFER",
        promise=_PFER,
        rests_on="It is proven if the rows are independent, the copies are drawn from the true "
        "distribution of the columns, and among irrelevant variables high selection frequencies "
        "are rarer than low ones. With a threshold alone no error rate is promised.",
        equations="knockoff",
        threshold="Pi_th",
        calibrated=True,
        options=_same("pfer", "kfwer", "threshold", "engine")
        | {"n_resamples": "n_copies"}
        | _KNOCKOFF_OPTIONS,
        colour="#D55E00",
        marker="s",
        former={"theory": ("derandomized",)},
    ),
    Method(
        "knockoffs-pvalues",
        "knockoffs, p-values of copies",
        selector="selica.selectors:AggregatedKnockoffs",
        levels=("fdr",),
        controls="3.2 FDR",
        promise="On average at most 3.2 times the chosen share of the selected variables is false.",
        rests_on="It is expected, not proven, if the rows are independent, the copies are drawn "
        "from the true distribution of the columns, and the statistics of irrelevant variables, "
        "of which there are many, are independent of each other and alike.",
        predictor="selica.planning.predict.knockoffs:p_values",
        equations="knockoff",
        calibrated=True,
        options=_same("fdr") | {"n_resamples": "n_copies"} | _KNOCKOFF_OPTIONS,
        colour="#CC79A7",
        marker="D",
        former={
            "planning": ("pvalues",),
            "select": ("aggregated",),
            "page": ("Aggregated knockoffs",),
        },
    ),
    Method(
        "splitting",
        "data splitting",
        selector="selica.selectors:DataSplitting",
        levels=("fdr",),
        controls="FDR",
        promise=_FDR,
        rests_on="It is expected, not proven, if the rows are independent, many variables matter, "
        "the columns depend weakly on each other, and the lasso finds all that matter.",
        calibrated=True,
        options=_same("fdr", "groups", "n_jobs") | {"n_resamples": "n_splits"},
        colour="#CC79A7",
        dash=_MIDDLE,
        marker="D",
        former={"page": ("Data splitting",)},
    ),
    Method(
        "bolasso",
        "Bolasso",
        selector="selica.selectors:Bolasso",
        promise="No error rate is promised.",
        rests_on="With a suitable penalty and ever more rows it finds the variables that matter "
        "and no others (Bach 2008).",
        options=_same("threshold", "n_resamples", "lam", "l1_ratio", "groups", "n_jobs"),
        colour="#56B4E9",
        dash=(0, (3, 1, 1, 1, 1, 1)),
        marker="p",
    ),
    Method(
        "lasso",
        "lasso",
        selector="selica.selectors:LassoSelection",
        by_default=True,
        promise="No error rate is promised.",
        rests_on="By default the penalty is the one that predicts best, with which many selected "
        "variables may be false.",
        predictor="selica.planning.predict.lasso:penalty_known",
        correlated_rule="selica.planning.data.correlated_power:nonzero",
        equations="lasso",
        threshold="lam",
        options=_same("lam", "l1_ratio", "threshold", "groups"),
        colour="#999999",
        dash=(0, (1, 1)),
        marker="x",
        former={"page": ("Lasso",)},
    ),
    Method(
        "thresholded-lasso",
        "lasso, ideal",
        promise="No error rate is promised: the threshold is given.",
        rests_on=_TRUTH,
        selector="selica.selectors:LassoSelection",
        decided_by=("threshold",),
        predictor="selica.planning.predict.lasso:threshold_known",
        correlated_rule="selica.planning.data.correlated_power:nonzero",
        equations="lasso",
        threshold="w_th",
        options=_same("lam", "l1_ratio", "threshold", "groups"),
        colour="#000000",
        dash=(0, (5, 1, 1, 1)),
        marker="+",
        former={"planning": ("thresholded_lasso",), "theory": ("thresholded_lasso",)},
    ),
    Method(
        "bayes",
        "best possible",
        promise="No error rate is promised: it needs the true distribution of the effects.",
        rests_on="No method finds more at the same false discovery rate.",
        threshold="lfdr",
        colour="#000000",
        marker="*",
    ),
    Method(
        "best-copy-statistic",
        "best possible, one copy",
        promise="No error rate is promised: it needs the true distribution of the effects.",
        rests_on="No statistic of one knockoff copy discovers more at the same estimated rate.",
        colour="#000000",
        dash=_LONG,
        marker="*",
    ),
    Method(
        "clump-knockoffs",
        "knockoffs of clumps of markers",
        genotypes="selica.selectors:ClumpKnockoffs",
        levels=("fdr",),
        controls="FDR",
        promise="On average at most the chosen share of the selected clumps of a resolution is "
        "false.",
        rests_on="It is expected, not proven, if no two people are related and the genotypes are "
        "close to mosaics of the motifs that were fitted to them, which is checked on the data.",
        colour="#E69F00",
        dash=_SHORT,
        marker="P",
    ),
    Method(
        "bayes-amp",
        "best possible, in reasonable time",
        promise="No error rate is promised: it needs the true distribution of the effects.",
        rests_on="No known fast method finds more at the same false discovery rate.",
        threshold="lfdr",
        colour="#000000",
        dash=_SHORT,
        marker="*",
        former={"theory": ("bayes_amp",)},
    ),
)

_catalogue = {row.name: row for row in _ROWS}
METHODS: Mapping[str, Method] = MappingProxyType(_catalogue)
"""All methods by name, in the order of the tables."""


def methods(**having: Any) -> Iterator[Method]:
    """Iterate over the methods with these attributes.

    Parameters
    ----------
    **having
        Values of attributes of `Method`.

    Examples
    --------
    >>> from selica import catalogue
    >>> [one.name for one in catalogue.methods(equations="lasso")]
    ['lasso', 'thresholded-lasso']
    """
    return (
        one
        for one in _catalogue.values()
        if all(getattr(one, name) == value for name, value in having.items())
    )


def method(name: object, room: str | None = None, argument: str = "method") -> Method:
    """Find a method by its name, or by one that it had.

    Parameters
    ----------
    name : str
    room : {"theory", "planning", "select", "page"}, optional
        Whose former names are accepted too, with a warning that says the name to use.
    argument : str
        How the caller calls the name; opens the message of an error.

    Examples
    --------
    >>> from selica import catalogue
    >>> catalogue.method("knockoffs").controls
    'FDR'
    """
    if isinstance(name, str):
        if name in _catalogue:
            return _catalogue[name]
        former = formerly(name, room)
        if former is not None:
            renamed(f"{argument}: {name!r}", repr(former.name))
            return former
    raise ArgumentError.choice(argument, name, _catalogue)


def at_ideal() -> list[Method]:
    """Return the methods that tables and figures show at thresholds set by the truth.

    The best possible is shown once: as far as it can be found in reasonable time it is the same in
    most studies.

    Examples
    --------
    >>> from selica import catalogue
    >>> [one.name for one in catalogue.at_ideal()][:2]
    ['stability-ideal', 'knockoffs-ideal']
    """
    return [one for one in methods() if one.threshold is not None and one.name != "bayes-amp"]


def formerly(name: str, room: str | None) -> Method | None:
    """Find the method that had a name before; None where none had it, or has it now.

    Parameters
    ----------
    name : str
    room : {"theory", "planning", "select", "page"} or None
        Who took the name.

    Examples
    --------
    >>> from selica import catalogue
    >>> catalogue.formerly("derandomized", "select").name
    'knockoffs-evalues'
    """
    if room is None or name in _catalogue:
        return None
    return next((one for one in methods() if name in one.former.get(room, ())), None)


def of_selector(class_name: str, parameters: Mapping[str, Any]) -> Method:
    """Find the method that a selector carries out.

    Parameters
    ----------
    class_name : str
        Name of the class.
    parameters : mapping
        Arguments that it is given.

    Examples
    --------
    >>> from selica import catalogue
    >>> catalogue.of_selector("StabilitySelection", {"fdr": 0.1}).name
    'stability-fdr'
    >>> catalogue.of_selector("DerandomizedKnockoffs", {"threshold": 0.5}).name
    'knockoffs-frequency'
    """
    able = [one for one in methods(class_name=class_name) if _explains(one, parameters)]
    if not able:
        raise ArgumentError(
            f"selector must be one of a known method; got {class_name} with "
            f"{', '.join(parameters) or 'no arguments'}."
        )
    given = parameters.keys()
    return max(
        able,
        key=lambda one: (
            len(given & {*one.levels, *one.decided_by}),
            len(one.preset),
            one.by_default,
        ),
    )


def _explains(one: Method, parameters: Mapping[str, Any]) -> bool:
    """Say whether a method has these arguments, with the values that it presets."""
    known = {*one.options.values(), *one.preset}
    return parameters.keys() <= known and one.preset.items() <= parameters.items()


def register(row: Method) -> None:
    """Add a method, so that every room knows it.

    Parameters
    ----------
    row : Method
        With a name and a label that are not in use.

    Examples
    --------
    >>> from selica import catalogue
    >>> catalogue.register(catalogue.Method("my-tests", "tests of my own"))
    >>> catalogue.method("my-tests").label
    'tests of my own'
    >>> catalogue.unregister("my-tests")
    """
    if not isinstance(row, Method):
        raise ArgumentError(f"row must be a catalogue.Method; got {row!r}.")
    taken = {*_catalogue, *(n for m in methods() for names in m.former.values() for n in names)}
    if row.name in taken:
        raise ArgumentError(f"name must be one that no method has; got {row.name!r}.")
    if any(one.label == row.label for one in methods()):
        raise ArgumentError(f"label must be one that no method has; got {row.label!r}.")
    _catalogue[row.name] = row


def unregister(name: str) -> None:
    """Take a method out again.

    Parameters
    ----------
    name : str
        Of a method that was registered.

    Examples
    --------
    >>> from selica import catalogue
    >>> catalogue.register(catalogue.Method("my-tests", "tests of my own"))
    >>> catalogue.unregister("my-tests")
    >>> "my-tests" in catalogue.METHODS
    False
    """
    if name not in {row.name for row in registered()}:
        raise ArgumentError(f"name must be that of a registered method; got {name!r}.")
    del _catalogue[name]


def registered() -> tuple[Method, ...]:
    """Return the methods that were added to those of the package."""
    own = {row.name for row in _ROWS}
    return tuple(row for row in _catalogue.values() if row.name not in own)
