"""Do tests notice a small change to a rule or a certificate?  `python -m benchmarks.mutants`

    python -m benchmarks.mutants control          every file of selica.control, by tests/control
    python -m benchmarks.mutants certificates     gaps, KKT and dual points in Python
    python -m benchmarks.mutants core             certificates of the C++ core, by tests/solvers
    python -m benchmarks.mutants control --only evalues pvalues --show
    python -m benchmarks.mutants control --skip concave stability --every 4

Each file has a row: changes, how many a test noticed, how many ran too long (an endless loop, which
counts as noticed), how many survived, and how many change nothing. The last are listed one by one
in `equivalent.toml` with the reason. Every survivor is printed as it would stand there; `--show`
prints all others too. `--csv docs/data/mutants.csv` replaces the rows of the files that were tried.
"""

from __future__ import annotations

import argparse
import csv
import os
import sys
import time
import tomllib
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from benchmarks.mutants.changes import Mutant, mutants
from benchmarks.mutants.trials import SOURCES, Trials, run

ROOT = Path(__file__).parents[2]
EQUIVALENT = Path(__file__).with_name("equivalent.toml")
CERTIFICATES: dict[str, tuple[str, ...]] = {
    "solvers/newton.py": (
        "Minimised.penalty", "Minimised.ridge", "_paid", "_judged", "_left_to_free_columns",
        "ridge_conjugate", "_record_idle",
    ),
    "solvers/quadratic.py": ("quadratic_lasso",),
    "solvers/results.py": ("LassoBatch.converged",),
    "_core/losses/base.py": (
        "RowLoss.lowest", "RowLoss.conjugate", "RowLoss.total", "RowLoss.gradient",
        "RowLoss.majorant", "RowLoss.dual", "RowLoss.infimum", "Loss.null",
    ),
    "_core/losses/squared.py": (
        "SquaredLoss.value", "SquaredLoss.slope", "SquaredLoss.curvature", "SquaredLoss.conjugate",
        "SquaredLoss.null",
    ),
    "_core/losses/logistic.py": (
        "LogisticLoss.value", "LogisticLoss.slope", "LogisticLoss.curvature",
        "LogisticLoss.conjugate", "LogisticLoss.null",
    ),
    "_core/losses/poisson.py": (
        "PoissonLoss.lowest", "PoissonLoss.conjugate", "PoissonLoss.total", "PoissonLoss.gradient",
        "PoissonLoss.dual", "PoissonLoss.infimum", "PoissonLoss.degenerate", "_between", "_rate",
    ),
    "_core/losses/multinomial.py": (
        "MultinomialLoss.total", "MultinomialLoss.gradient", "MultinomialLoss.dual",
        "MultinomialLoss.infimum",
    ),
    "_core/losses/cox.py": ("CoxLoss.dual", "CoxLoss.infimum", "_Sums.dual"),
}  # fmt: skip
"""Functions that gaps, violations and `converged` come from."""
COLUMNS = (
    "part", "file", "changes", "noticed", "too_long", "survived", "equivalent", "command", "date",
)  # fmt: skip
CERTIFYING = (
    "tests/solvers",
    "tests/core/test_cox_loss.py",
    "tests/core/test_losses.py",
    "tests/core/test_multinomial_loss.py",
    "tests/core/test_poisson_loss.py",
)


def python_mutants(part: str) -> tuple[list[Mutant], tuple[str, ...]]:
    """Mutants of a part of the package, and the tests that have to notice them."""
    if part == "control":
        files = {f"control/{path.name}": () for path in sorted((SOURCES / "control").glob("*.py"))}
        tests: tuple[str, ...] = ("tests/control", "src/selica/control")
    else:
        files, tests = CERTIFICATES, CERTIFYING
    return [
        mutant for file, functions in files.items() for mutant in mutants(SOURCES, file, functions)
    ], tests


def asked(mutant: Mutant, only: list[str], skip: list[str]) -> bool:
    """Whether the file of a mutant is one of those to change."""
    name = Path(mutant.file).stem
    return name not in skip and (not only or name in only)


def equivalent() -> dict[str, str]:
    """Names of the changes that change nothing, with the reasons."""
    if not EQUIVALENT.exists():
        return {}
    rows = tomllib.loads(EQUIVALENT.read_text())["mutant"]
    return {row["name"]: row["reason"] for row in rows}


class Tally:
    """What became of mutants, file by file."""

    def __init__(self, show: bool) -> None:
        self.show = show
        self.counts: dict[str, Counter[str]] = {}
        self.known = equivalent()

    def __call__(self, mutant: Mutant, what: str) -> None:
        if what in ("survived", "not reached") and mutant.name in self.known:
            what = "equivalent"
        self.counts.setdefault(mutant.file, Counter())[what] += 1
        if what in ("survived", "not reached"):
            print(f"# {what}, line {mutant.first}", flush=True)
            print(f"[[mutant]]\nname = {mutant.name!r}\nreason = ''\n", flush=True)
        elif self.show:
            print(f"# {what}: {mutant.name}", flush=True)

    def rows(self) -> Iterable[str]:
        yield "| file | changes | noticed | too long | survived | change nothing | noticed, share |"
        yield "|---|---|---|---|---|---|---|"
        total = Counter[str]()
        for file, counts in self.counts.items():
            yield row(file, counts)
            total.update(counts)
        yield row("all", total)


def row(name: str, counts: Counter[str]) -> str:
    """A row of the table."""
    survived = counts["survived"] + counts["not reached"]
    noticed = counts["killed"] + counts["too long"]
    share = 100.0 * noticed / max(noticed + survived, 1)
    return (
        f"| {name} | {counts.total()} | {counts['killed']} | {counts['too long']} | {survived} | "
        f"{counts['equivalent']} | {share:.1f} % |"
    )


def write(path: Path, part: str, counts: dict[str, Counter[str]]) -> None:
    """Replace the rows of some files in a table of all."""
    command = " ".join(["python -m benchmarks.mutants", *sys.argv[1:]])
    kept: list[list[str]] = []
    if path.exists():
        with path.open(newline="") as file:
            others = list(csv.reader(file))[1:]
        kept = [one for one in others if not (one[0] == part and one[1] in counts)]
    for name, one in counts.items():
        survived = one["survived"] + one["not reached"]
        numbers = (one.total(), one["killed"], one["too long"], survived, one["equivalent"])
        kept.append([part, name, *map(str, numbers), command, time.strftime("%Y-%m-%d")])
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows(sorted(kept))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", choices=("control", "certificates", "core"))
    parser.add_argument("--only", nargs="*", default=[], help="files to change, without the end")
    parser.add_argument("--show", action="store_true", help="print every mutant")
    parser.add_argument("--list", action="store_true", help="print names, try nothing")
    parser.add_argument(
        "--skip", nargs="*", default=[], help="files to leave out, with their tests"
    )
    parser.add_argument("--every", type=int, default=1, help="try one of so many")
    parser.add_argument("--csv", type=Path, help="write rows, docs/data/mutants.csv")
    chosen = parser.parse_args()
    tally = Tally(chosen.show)
    if chosen.part == "core":
        from benchmarks.mutants.core import core_trials

        trials, tests = core_trials(tally)
    else:
        found, tests = python_mutants(chosen.part)
        tests += tuple(f"--ignore={tests[0]}/test_{name}.py" for name in chosen.skip)
        trials = Trials(found, tally)
    trials.mutants = [one for one in trials.mutants if asked(one, chosen.only, chosen.skip)]
    trials.mutants = trials.mutants[:: chosen.every]
    if chosen.list:
        print(*(mutant.name for mutant in trials.mutants), sep="\n")
        return
    run(trials, tests)
    print(*tally.rows(), sep="\n")
    if chosen.csv is not None:
        write(chosen.csv, chosen.part, tally.counts)
    for name in trials.broken:
        print(f"not used, as it fails without a change: {name}")
    seconds = sum(os.times()[:4])  # those of children included
    print(f"{time.strftime('%d %B %Y')}, {seconds:.0f} processor seconds")


if __name__ == "__main__":
    main()
