"""Arguments for every public function and command: mostly sensible, some absurd."""

from __future__ import annotations

import inspect
import os
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
from hypothesis import strategies as st

from selica import amp, control, sampling, selectors, solvers, theory
from selica._core.errors import ArgumentError
from tests.hardening.commands import csv_text, selica

NUMBERS = [np.nan, np.inf, -np.inf, -1, 0, 0.0, 1e-320, 1e308, 2.5, 1j]
THINGS = [None, True, "x", "", b"x", [], {}, (), [[]], [1.0, np.nan], ["a", "b"], object(), len]
ARRAYS = [np.zeros(0), np.zeros((0, 3)), np.full(12, np.inf), np.array(["a"]), np.zeros((2, 2, 2))]
ABSURD = st.sampled_from([*NUMBERS, *THINGS, *ARRAYS, [[1.0], [2.0, 3.0]]])
ROWS, COLUMNS = 12, 5


def _array(seed, *shape):
    return np.random.default_rng(seed).standard_normal(shape)


seeds = st.integers(0, 1000)
fractions = st.floats(0.0, 1.0)
positive = st.floats(1e-3, 1e3)
small = st.integers(1, 12)
effects = st.sampled_from([theory.GaussianEffects(), theory.LaplaceEffects()])
models = st.builds(theory.Model, st.floats(0.05, 20.0), st.floats(0.0, 0.9), st.floats(0.0, 10.0))
tables = st.builds(lambda s: _array(s, ROWS, COLUMNS), seeds)
statistics = st.builds(lambda s: np.round(_array(s, 8), 1), seeds)
probabilities = st.lists(fractions, max_size=8)
METHODS = ["lasso", "stability", "knockoff", "derandomized", "bayes", "thresholded lasso"]

SENSIBLE: dict[str, st.SearchStrategy] = {
    "model": models,
    "method": st.sampled_from(METHODS),
    "lam": positive,
    "lam2": st.floats(0.0, 10.0),
    "lams": st.lists(positive, min_size=1, max_size=4).map(lambda v: sorted(v, reverse=True)),
    "mu_B": st.floats(0.05, 5.0),
    "resampling": st.sampled_from(["poisson", "bernoulli", "exponential", "subsample"]),
    "response": st.none(),
    "spectrum": st.none(),
    "fdr": fractions,
    "fdrs": st.lists(fractions, min_size=1, max_size=3),
    "criterion": st.sampled_from(["prediction", "power"]),
    "branch": st.sampled_from(["information", "algorithm"]),
    "rho": fractions,
    "Delta": st.floats(0.0, 10.0),
    "effects": effects,
    "pvalues": probabilities,
    "rates": probabilities,
    "evalues": st.lists(st.floats(0.0, 100.0), max_size=8),
    "W": statistics,
    "M": statistics,
    "selected": st.lists(st.booleans(), min_size=5, max_size=5),
    "truth": st.lists(st.booleans(), min_size=5, max_size=5),
    "v": small,
    "k": small,
    "p": st.integers(1, 1000),
    "q": st.floats(0.5, 50.0),
    "cutoff": st.floats(0.5, 1.0),
    "pfer": st.floats(0.01, 5.0),
    "n_pairs": small,
    "level": fractions,
    "eta": fractions,
    "gamma": fractions,
    "n_copies": small,
    "offset": st.integers(0, 1),
    "assumption": st.sampled_from(["none", "unimodal", "r-concave", "monotone"]),
    "adaptive": st.booleans(),
    "early_stopping": st.booleans(),
    "X": tables,
    "y": st.builds(lambda s: _array(s, ROWS), seeds),
    "weights": st.builds(lambda s: np.abs(_array(s, 3, ROWS)), seeds),
    "sample_weight": st.none(),
    "scale": st.none(),
    "members": st.just(np.arange(3)),
    "random_state": seeds,
    "Sigma": seeds.map(lambda s: np.corrcoef(_array(s, 5, 20))),
    "n_samples": st.integers(1, 30),
    "n_features": st.integers(1, 20),
    "n_resamples": small,
    "n_signals": st.integers(0, 5),
    "scheme": st.sampled_from(["bootstrap", "poisson", "subsample", "pairs", "exponential"]),
    "rate": st.floats(0.1, 2.0),
    "resample_rate": st.floats(0.1, 2.0),
    "snr": positive,
}
"""What a parameter of this name may be; others keep their default, or get something absurd."""

FUNCTIONS: dict[str, Callable] = {
    f"{room.__name__.removeprefix('selica.')}.{name}": getattr(room, name)
    for room in (theory, control, sampling, solvers, amp)
    for name in room.__all__
    if inspect.isfunction(getattr(room, name))
}
SELECTORS = [
    getattr(selectors, name)
    for name in selectors.__all__
    if hasattr(getattr(selectors, name), "fit")
]
FEW = {"n_resamples": 4, "n_copies": 2, "n_splits": 2}


@st.composite
def arguments(draw, function):
    """Keyword arguments; one in six is absurd."""
    chosen = {}
    for name, parameter in inspect.signature(function).parameters.items():
        required = parameter.default is inspect.Parameter.empty
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            continue
        if draw(st.integers(0, 5)) == 0:
            chosen[name] = draw(ABSURD)
        elif name in SENSIBLE and (required or draw(st.booleans())):
            chosen[name] = draw(SENSIBLE[name])
        elif required:
            chosen[name] = draw(ABSURD)
    return chosen


@st.composite
def selecting(draw):
    """A selector, a table and a response, each of them at times absurd."""
    kind = draw(st.sampled_from(SELECTORS))
    known = inspect.signature(kind).parameters
    settings = {name: value for name, value in FEW.items() if name in known}
    for name in known:
        if draw(st.integers(0, 9)) == 0:
            settings[name] = draw(ABSURD)
    X = draw(SENSIBLE["X"] if draw(st.integers(0, 5)) else ABSURD)
    y = draw(SENSIBLE["y"] if draw(st.integers(0, 5)) else ABSURD)
    return kind, settings, X, y


FILES = st.sampled_from(["a.csv", "a.tsv", "a.csv.gz", "a.parquet", "a"])
BYTES = st.one_of(st.binary(max_size=60), st.text(',;\n\t"a1.-', max_size=60).map(str.encode))
WORDS = ["nan", "inf", "-1", "0", "1e308", "0.1", "0.5", "1", "7", "200", "x", "", "--json", "é"]
OPTIONS = {
    "predict": "-n -p -k --r2 --snr --alpha --rho --delta --fdr --lam --mu-b --resampling --plot",
    "select": "--target --method --fdr --pfer --threshold --lam --l1-ratio --q --weakness --drop",
    "plan compare": "-n -p -k --r2 --snr --fdr --effects",
    "reproduce": "--scale --seed --n-jobs",
}


@st.composite
def command_lines(draw):
    """Words for a command; some have all they need."""
    command = draw(st.sampled_from(list(OPTIONS)))
    words = command.split()
    if command == "predict" and draw(st.booleans()):
        words += ["--alpha", "0.8", "--rho", "0.2", "--r2", "0.9"]
    if command == "select" and draw(st.booleans()):
        words += ["TABLE", "--target", "y", "--method", "lasso"]
    for option in draw(st.lists(st.sampled_from(OPTIONS[command].split()), max_size=4)):
        words += [option, draw(st.sampled_from(WORDS))]
    return words


def log(name, outcome):
    """A line for each case, where the long run asks for it."""
    if "SELICA_FUZZ_LOG" in os.environ:
        with Path(os.environ["SELICA_FUZZ_LOG"]).open("a") as file:
            file.write(f"{name} {outcome}\n")


def call(label, function, refusals=ArgumentError, **kwargs):
    """An answer, or one sentence on an argument; anything else is a defect and is raised."""
    outcome, said = "answered", "an answer"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            function(**kwargs)
    except refusals as error:
        outcome, said = "refused", str(error)
    except Exception as error:
        log(label, type(error).__name__)
        raise
    log(label, outcome)
    assert said
    assert "\n" not in said or refusals is not ArgumentError


def run_command(words, folder):
    """Exit code 0, or 2 and one line."""
    table = folder / "table.csv"
    table.write_text(csv_text("a,b,c,d,e,y"), encoding="utf-8")
    words = [str(table) if word == "TABLE" else word for word in words]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        try:
            done = selica(*words)
            if done.returncode:
                assert done.returncode == 2
                assert done.stderr.startswith("selica: ")
                assert done.stderr.count("\n") == 1
        except BaseException as error:
            log("command", type(error).__name__)
            raise
    log("command", "refused" if done.returncode else "answered")
