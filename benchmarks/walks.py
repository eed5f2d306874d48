"""How far a call travels: files, functions and changes of file, of the package's own Python code.

    python -m benchmarks.walks            the table
    python -m benchmarks.walks --files    also the files, in the order in which they are entered

A call is made once before it is measured, so that nothing is counted that only happens on import.
`again` is the same call a second time, in which answers that are remembered are not computed again;
`anew` is a call with other numbers. The C++ core is not seen: it runs outside of Python.
"""

from __future__ import annotations

import argparse
import sys
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import numpy as np

import selica

_HOME = Path(selica.__file__).parent

LIMITS = {
    "StabilitySelection.fit": 18,
    "theory.power": 15,
    "planning.compare_methods": 24,
    "selica plan samples": 32,
}
"""Files that a call was to enter at most when the rooms were laid out (`docs/design.md`)."""


class Walk(NamedTuple):
    """What a call entered."""

    files: list[str]
    functions: int
    changes: int


def walk(call: Callable[[], Any]) -> Walk:
    """Make the call and say where it went."""
    files: dict[str, None] = {}
    functions: set[Any] = set()
    changes, last = 0, ""
    home = str(_HOME)

    def note(frame: FrameType, event: str, _: Any) -> None:
        nonlocal changes, last
        code = frame.f_code
        if event != "call" or not code.co_filename.startswith(home):
            return
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


def calls() -> dict[str, Callable[[int], Any]]:
    """Name the calls that are measured: functions of a number that changes what they are given."""
    from typer.testing import CliRunner

    from selica import DerandomizedKnockoffs, StabilitySelection, planning, theory
    from selica.cli import app

    def table(number: int) -> tuple[Any, Any]:
        rng = np.random.default_rng(number)
        X = rng.standard_normal((200, 50 + number))
        return X, X[:, :5].sum(axis=1) + rng.standard_normal(200)

    models = [theory.Model(alpha=alpha, rho=0.3, Delta=0.01) for alpha in (2.5, 2.6)]

    def power(number: int) -> Any:
        return theory.power(models[number], "knockoffs-frequency")

    def compare(number: int) -> Any:
        return planning.compare_methods(500 + number, 1000 + number, 30, snr=1.0)

    def samples(number: int) -> Any:
        study = ["-p", str(200 + number), "-k", "20", "--r2", "0.6", "--power", "0.8"]
        return CliRunner().invoke(app, ["plan", "samples", *study], catch_exceptions=False)

    return {
        "StabilitySelection.fit": lambda i: StabilitySelection(random_state=0).fit(*table(i)),
        "DerandomizedKnockoffs.fit": lambda i: DerandomizedKnockoffs(random_state=0).fit(*table(i)),
        "theory.power": power,
        "planning.compare_methods": compare,
        "selica plan samples": samples,
    }


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", action="store_true", help="also list the files")
    options = parser.parse_args()
    print(f"{'call':28}{'limit':>7}{'again':>7}{'anew':>7}{'functions':>11}{'changes of file':>17}")
    for name, call in calls().items():
        call(0)
        again, anew = (walk(partial(call, number)) for number in (0, 1))
        counts = f"{LIMITS.get(name, ''):>7}{len(again.files):7}{len(anew.files):7}"
        print(f"{name:28}{counts}{anew.functions:11}{anew.changes:17}")
        if options.files:
            print("    " + "\n    ".join(anew.files))


if __name__ == "__main__":
    main()
