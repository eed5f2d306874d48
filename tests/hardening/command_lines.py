"""Words for every command, from the options it has."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any
from unittest import mock

import typer
from hypothesis import strategies as st

from selica import catalogue
from selica.cli import app
from tests.hardening.commands import selica

_ABSURD = (
    *("nan", "inf", "-inf", "-1", "0", "1e308", "1e-320", "-1e308", "1" + 30 * "0", "9" * 400),
    *("x", "", "--json", "é", "a\nb", "[red]", "x" * 300, "0x10", "1,5", "\udcff", "/", "$"),
)
_SIZES = ("2", "20", "100", "1000", "100000")
_SHARES = ("0.01", "0.1", "0.5", "0.9", "1")
_METHODS = tuple(one.name for one in catalogue.methods() if one.predictor is not None)
_SELECTORS = tuple(one.name for one in catalogue.methods() if one.selector is not None)
_SENSIBLE = {
    "n_samples": _SIZES,
    "n_features": _SIZES,
    "n_signals": ("1", "5", "20", "1000"),
    "alpha": ("0.5", "3"),
    "rho": _SHARES,
    "r2": _SHARES,
    "snr": ("0.1", "4"),
    "delta": ("0", "0.1", "2"),
    "effect_size": ("0.01", "0.3", "3"),
    "fdr": _SHARES,
    "power": _SHARES,
    "pfer": ("0.5", "3"),
    "kfwer": ("3 0.1", "1 0.05"),
    "threshold": _SHARES,
    "mu_b": ("0.5", "2"),
    "lam": ("0.1", "prediction", "power", "auto", "cv", "theory"),
    "l1_ratio": _SHARES,
    "q": ("1", "3"),
    "weakness": ("0.5", "1"),
    "resample_rate": ("0.5", "1"),
    "n_resamples": ("2", "5"),
    "n_sets": ("2", "3"),
    "at_most": ("50", "5000"),
    "seed": ("1", "1" + 30 * "0"),
    "n_jobs": ("1", "2", "-1"),
    "plot": ("a.png", "a.svg", "a.txt", "none/a.png"),
    "out": ("out", "."),
    "target": ("y", "a", "b"),
    "drop": ("c", "d", "y"),
    "keep": ("a", "a,b", "c-d", "none"),
    "time": ("y", "a"),
    "event": ("b", "none"),
    "response": (
        *("auto", "linear", "binary", "count", "classes", "ordinal", "survival"),
        *("numeric", "counts"),  # of plans
    ),
    "prevalence": ("0.1", "0.5", "1"),
    "cases": ("0.5", "0.9"),
    "rate": ("0.1", "2"),
    "events": ("0.3", "1"),
    "covariance": ("ar1:0.5", "ar1:2", "block:0.5:10", "block:0.5", "none.csv"),
    "smallest": ("0.1", "1"),
    "variable": ("0.1", "1.5", "-0.3"),
    "betas": ("0.2", "0.3,0.2,0.1,0.1,0.1", "0.9,0.9"),
    "odds_ratios": ("1.5", "1.5,2,0.5,0.7,1.2"),
    "rate_ratios": ("1.2", "1.5,0"),
    "hazard_ratios": ("1.5", "1.5,-2"),
    "order": ("1", "2"),
    "calibration": ("auto", "pvalues"),
    "confidence": ("0.9", "1"),
    "rows_of": ("a", "b"),
    "weights": ("a", "c"),
    "offset": ("a", "log(b)"),
    "strata": ("a", "b"),
    "missing": ("impute", "drop-rows", "drop-columns"),
    "kind": ("a=category", "b=number", "c=weather", "a"),
    "bundle": ("b.zip", "none/b.zip", "."),
    "host": ("localhost", "0.0.0.0", "::1"),
    "port": ("80", "8501", "70000"),
    "resampling": ("poisson", "bernoulli", "exponential", "bootstrap", "subsample", "pairs"),
    "effects": ("gaussian", "laplace", "point", "1,-2,3,0.5,0.5"),
    "settings": ("best", "default"),
    "scale": ("smoke",),
    "assumption": ("none", "unimodal", "r-concave"),
    "engine": ("auto", "monte-carlo", "semi-analytic"),
    "sampler": ("gaussian", "fixed", "iid", "genotypes", "markov"),
    "joint_copies": ("1", "2"),
    "groups": ("correlation", "correlation:0.3"),
    "statistic": ("coefficient", "entry", "correlation", "bayes", "mlr"),
    "pheno": ("y.txt", "table.csv"),
    "layer": ("X", "counts"),
    "components": ("0", "2"),
    "maf": _SHARES,
    "max_missing": _SHARES,
    "extract": ("names.txt", "table.csv"),
    "exclude": ("names.txt",),
    "chromosomes": ("1-22", "X", "1,2"),
    "keep_people": ("people.txt",),
    "remove_people": ("people.txt",),
    "cache": (".", "none"),
    "ld": (".", "ld.npz", "table.csv"),
    "samples": ("100", "5000"),
    "resolutions": ("5,20", "0.5"),
}
_STUDY = "-n 100 -p 50 -k 5 --r2 0.8 --method knockoffs"
_STARTS = {
    "predict": ("--alpha 0.8 --rho 0.2 --r2 0.9", "-n 100 -p 50 -k 5"),
    "select": (
        "TABLE --target y --method lasso",
        "TABLE -y y --n-resamples 4 --method stability-pfer",
    ),
    "plan compare": (_STUDY,),
    "plan samples": ("-p 50 -k 5 --r2 0.8 --at-most 3000 --method knockoffs",),
    "plan effect": ("-n 100 -p 50 -k 5 --method knockoffs",),
    "plan signals": ("-n 100 -p 50 --r2 0.8 --method knockoffs",),
    "plan fdr": (_STUDY,),
    "plan table": ("TABLE --target y -k 2 --r2 0.8 --n-sets 2 --method knockoffs --no-theory",),
    "plan diagnose": ("TABLE --target y --method knockoffs", "TABLE -y y --n-resamples 4"),
    "methods": ("", "bayes", "magic"),
    "reproduce": ("phase-boundary --scale smoke --n-jobs 1", "none --n-jobs 1"),
    "app": ("--no-browser",),
}
WEIGHTS = {"select": 2.0, "app": 2.0, "predict": 0.5, "plan table": 0.5, "reproduce": 0.5}


def _commands(group: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    for name, one in group.commands.items():
        if hasattr(one, "commands"):
            yield from _commands(one, (*path, name))
        else:
            yield " ".join((*path, name)), one


COMMANDS = dict(_commands(typer.main.get_command(app)))


@st.composite
def command_lines(draw: Any, name: str) -> list[str]:
    """Words for a command; most have all they need."""
    words = name.split()
    if draw(st.integers(0, 3)) < 3:
        words += draw(st.sampled_from(_STARTS[name])).split()
    options = [one for one in COMMANDS[name].params if one.param_type_name == "option"]
    for option in draw(st.lists(st.sampled_from(options), max_size=4)):
        words.append(draw(st.sampled_from([*option.opts, *option.secondary_opts])))
        if option.is_flag:
            continue
        known = _METHODS if name.startswith("plan") and name != "plan diagnose" else _SELECTORS
        values = known if option.name == "method" else _SENSIBLE[option.name]
        if draw(st.integers(0, 4)) < 4:
            words += draw(st.sampled_from(values)).split()
        else:
            words += option.nargs * [draw(st.sampled_from(_ABSURD))]
    return words


@contextmanager
def _no_server() -> Iterator[None]:
    with (
        mock.patch("runpy.run_module"),
        mock.patch.object(sys, "argv"),
        mock.patch.object(import_module("selica.cli.app"), "_prepare"),
    ):
        yield


def run(words: list[str], table: str) -> bool:
    """Exit code 0, or 2 and one line."""
    with _no_server():
        done = selica(*(table if word == "TABLE" else word for word in words))
    if done.returncode == 0:
        return True
    assert done.returncode == 2, done
    assert done.stderr.startswith("selica: "), done
    assert done.stderr.count("\n") == 1, done
    return False
