"""How far a call travels: files, functions and changes of file, of the package's own Python code.

    python -m benchmarks.walks            the table
    python -m benchmarks.walks --files    also the files, in the order in which they are entered

A call is made once before it is measured, so that nothing is counted that only happens on import or
at a first compilation. Compiled kernels are not seen: they run outside of Python.
"""

from __future__ import annotations

import argparse
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import numpy as np
from numba.core.dispatcher import Dispatcher

import selica

_HOME = Path(selica.__file__).parent

LIMITS = {
    "StabilitySelection.fit": 18,
    "theory.power": 15,
    "planning.compare_methods": 24,
    "selica plan samples": 32,
}
"""Files that a call may enter, for those with a limit."""


class Walk(NamedTuple):
    """What a call entered."""

    files: list[str]
    functions: int
    changes: int


def walk(call: Callable[[], Any]) -> Walk:
    """Make the call twice and say where the second one went."""
    call()
    files: dict[str, None] = {}
    functions: set[Any] = set()
    changes, last = 0, ""
    home, kernels = str(_HOME), _kernels()

    def note(frame: FrameType, event: str, _: Any) -> None:
        nonlocal changes, last
        code = frame.f_code
        if event != "call" or not code.co_filename.startswith(home):
            return
        if (code.co_filename, code.co_name) in kernels:
            return  # numba reports the call of a kernel as if it were Python
        files[code.co_filename] = None
        functions.add(code)
        changes += code.co_filename != last
        last = code.co_filename

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    entered = [str(Path(name).relative_to(_HOME)) for name in files]
    return Walk(entered, len(functions), changes)


def _kernels() -> set[tuple[str, str]]:
    """Return file and name of all compiled functions that the modules of the package hold."""
    modules = [module for name, module in sys.modules.items() if name.startswith("selica.")]
    held = (value for module in modules for value in list(vars(module).values()))
    codes = (value.py_func.__code__ for value in held if isinstance(value, Dispatcher))
    return {(code.co_filename, code.co_name) for code in codes}


def calls() -> dict[str, Callable[[], Any]]:
    """Name the calls that are measured."""
    from typer.testing import CliRunner

    from selica import DerandomizedKnockoffs, StabilitySelection, planning, theory
    from selica.cli import app

    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 50))
    y = X[:, :5].sum(axis=1) + rng.standard_normal(200)
    model = theory.Model(alpha=2.5, rho=0.3, Delta=0.01)
    study = ["-p", "200", "-k", "20", "--r2", "0.6", "--power", "0.8"]
    return {
        "StabilitySelection.fit": lambda: StabilitySelection(random_state=0).fit(X, y),
        "DerandomizedKnockoffs.fit": lambda: DerandomizedKnockoffs(random_state=0).fit(X, y),
        "theory.power": lambda: theory.power(model, "knockoffs-frequency"),
        "planning.compare_methods": lambda: planning.compare_methods(
            n_samples=500, n_features=1000, n_signals=30, snr=1.0
        ),
        "selica plan samples": lambda: CliRunner().invoke(
            app, ["plan", "samples", *study], catch_exceptions=False
        ),
    }


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", action="store_true", help="also list the files")
    options = parser.parse_args()
    print(f"{'call':28}{'files':>7}{'limit':>7}{'functions':>11}{'changes of file':>17}")
    for name, call in calls().items():
        went = walk(call)
        limit = LIMITS.get(name, "")
        print(f"{name:28}{len(went.files):7}{limit:>7}{went.functions:11}{went.changes:17}")
        if options.files:
            print("    " + "\n    ".join(went.files))


if __name__ == "__main__":
    main()
