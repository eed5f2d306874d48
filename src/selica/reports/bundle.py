"""A ZIP file with which anyone can repeat a selection, to the last digit."""

from __future__ import annotations

import csv
import io
import json
import pickle
import platform
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from selica._core.compiled import core, threads
from selica._core.errors import ArgumentError, DoesNotApply, RefusedError
from selica._core.files import as_path, write_whole
from selica._core.results import plain
from selica._core.table import repr_plain
from selica._core.validation import printable, short
from selica._version import __version__
from selica.reports.again import home_of, literal
from selica.reports.given import GivenTable
from selica.reports.report import write_report
from selica.reports.selection import Selection
from selica.selectors.grouping import CORRELATION

PACKAGES = ("numpy", "scipy", "scikit-learn")
"""Packages on whose version numbers may depend."""
_DAY_ZERO = (1980, 1, 1, 0, 0, 0)
"""Time of all files in the archive, so that the same selection gives the same archive."""
_PIECE = 1 << 20
"""Signs of a table that are packed at once."""


class PackedColumn(NamedTuple):
    """A column of the table in a bundle."""

    role: str
    """"X", "y", or an argument of `fit`."""
    name: str
    kind: str
    """What its values are: "float", "int", "bool" or "str"."""
    values: Any


def write_bundle(selection: Selection, path: Path | str) -> Path:
    """Write a selection into an archive with which anyone can repeat it to the last digit.

    The archive has the table exactly as the selector was given it, with all digits; the settings,
    the seed and the versions; the report; and `run.py`, which repeats the selection and compares
    every number with the first one. Versions and the instruction set of the compiled core are in
    `settings.json`: with others, last digits may differ, and `run.py` says by how much.

    Parameters
    ----------
    selection : Selection
        Of a selector whose `random_state` is a number.
    path : path
        The archive, e.g. `bundle.zip`.

    Returns
    -------
    path

    Examples
    --------
    >>> import zipfile
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from selica import LassoSelection
    >>> from selica.reports import demo_table, answer, write_bundle
    >>> from selica.tables import split
    >>> X, y, names = split(demo_table(), "progression")
    >>> found = answer(LassoSelection(0.3, random_state=0), X, y, names, "progression")
    >>> with TemporaryDirectory() as folder:
    ...     sorted(zipfile.ZipFile(write_bundle(found, Path(folder) / "b.zip")).namelist())[:4]
    ['README.txt', 'report.html', 'requirements.txt', 'run.py']
    """
    if not isinstance(selection, Selection):
        raise ArgumentError(f"selection must be a Selection; got {short(selection)}.")
    path = as_path("path", path)
    if selection.given is None:
        raise ArgumentError("selection: it does not have the table it was made from.")
    if selection.stored:
        raise DoesNotApply(
            "A bundle has the table inside, and genotypes and arrays in files are not packed: "
            "write a report, which has the command and the digest of the file."
        )
    selector = _with_labels(clone(selection.selector), selection.selector)
    code, packed = _construction(selector)
    columns = _columns(selection.given, selection.target)
    texts = {
        "README.txt": _readme(selection),
        "run.py": _RUN.replace("{construction}", code),
        "requirements.txt": "".join(
            f"{name}=={number}\n" for name, number in _versions()["packages"].items()
        ),
        "settings.json": json.dumps(
            plain(_settings(selection, columns)), indent=2, allow_nan=False, ensure_ascii=False
        ),
    }

    def write(part: Path) -> None:
        with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, text in texts.items():
                archive.writestr(_member(name), text.encode("utf-8"))
            if packed is not None:
                archive.writestr(_member("selector.pickle"), packed)
            with archive.open(_member("table.csv"), "w", force_zip64=True) as file:
                for piece in _table(columns):
                    file.write(piece)
            with tempfile.TemporaryDirectory() as folder:
                for report in write_report(selection, Path(folder)):
                    archive.writestr(_member(report.name), report.read_bytes())

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return write_whole({path: write})[0]
    except OSError as error:
        raise ArgumentError(f"{path}: {error.strerror or error}.") from None


def _member(name: str) -> zipfile.ZipInfo:
    """Return the entry of a file, always of the same time."""
    entry = zipfile.ZipInfo(name, _DAY_ZERO)
    entry.compress_type = zipfile.ZIP_DEFLATED
    return entry


def _with_labels(selector: Any, fitted: Any) -> Any:
    """Return a selector with the groups of a fitted one, where they came from a file."""
    if isinstance(selector.groups, str) and not selector.groups.startswith(CORRELATION):
        labels = [str(fitted.group_names_[group]) for group in fitted.groups_]
        selector.set_params(groups=labels)
    return selector


def _construction(selector: Any) -> tuple[str, bytes | None]:
    """Return lines that make an unfitted selector, and its pickle where they need one."""
    kind = type(selector)
    parameters = selector.get_params(deep=False)
    seed = parameters.get("random_state")
    if not isinstance(seed, int | np.integer | np.random.SeedSequence):
        raise RefusedError(
            "This selection cannot be repeated to the last digit: its random_state is "
            f"{short(seed)}. Give a whole number, such as random_state=0, and select again."
        )
    literals = {name: literal(value) for name, value in parameters.items()}
    if None in literals.values():
        lines = 'selector = pickle.loads((HERE / "selector.pickle").read_bytes())'
        return lines, pickle.dumps(selector)
    listed = "".join(f"    {name}={text},\n" for name, text in literals.items())
    lines = f"from {home_of(selector)} import {kind.__name__}\n\nselector = {kind.__name__}("
    return f"{lines}\n{listed})", None


def _columns(given: GivenTable, target: str) -> list[PackedColumn]:
    """Return the columns of the table: variables, response, and what else the fit was given."""
    table = np.asarray(given.X)
    names = given.columns or given.names
    named = names if len(names) == table.shape[1] else None
    found = [
        _packed("X", printable(named[j]) if named else f"column {j}", table[:, j])
        for j in range(table.shape[1])
    ]
    for role, values in (("y", given.y), *given.arguments.items()):
        array = np.asarray(values)
        if array.dtype.names is not None:  # times and events
            parts = [array[name] for name in array.dtype.names]
            found += [
                _packed(role, f"{target}: {name}", part)
                for name, part in zip(array.dtype.names, parts, strict=True)
            ]
        elif array.ndim == 0:
            continue
        elif array.ndim == 1:
            found.append(_packed(role, target if role == "y" else role, array))
        else:
            found += [_packed(role, f"{role} {k}", array[:, k]) for k in range(array.shape[1])]
    return found


def _packed(role: str, name: str, values: Any) -> PackedColumn:
    """Return a column with the kind of its values."""
    kind = {"f": "float", "i": "int", "u": "int", "b": "bool"}.get(values.dtype.kind, "str")
    return PackedColumn(role, name, kind, values)


def _table(columns: Sequence[PackedColumn]) -> Iterator[bytes]:
    """Yield a table as pieces of CSV; numbers keep every digit."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([column.name for column in columns])
    for row in zip(*(column.values.tolist() for column in columns), strict=True):
        writer.writerow(map(repr_plain, row))
        if text.tell() > _PIECE:
            yield text.getvalue().encode("utf-8")
            text.seek(0)
            text.truncate()
    yield text.getvalue().encode("utf-8")


def _settings(selection: Selection, columns: Sequence[PackedColumn]) -> dict[str, Any]:
    """Return what `run.py` and a reader need to know."""
    given = selection.given
    assert given is not None
    words = {k: v for k, v in given.arguments.items() if np.ndim(v) == 0}
    return {
        "target": selection.target,
        "method": selection.method,
        "settings": selection.settings,
        "used": selection.used,
        "seed": str(selection.selector.get_params(deep=False)["random_state"]),
        "file": selection.to_dict()["file"],
        "date": selection.provenance.date,
        "command": selection.provenance.command,
        "versions": _versions(),
        "names": [printable(name) for name in given.names],
        "variable": None if given.variable is None else np.asarray(given.variable).tolist(),
        "columns of variables": [printable(name) for name in given.columns],
        "references": [printable(name) for name in given.references],
        "fields": list(np.asarray(given.y).dtype.names or ()),
        "orders": {
            role: "C" if np.asarray(values).flags.c_contiguous else "F"
            for role, values in (("X", given.X), ("y", given.y), *given.arguments.items())
            if np.ndim(values) == 2
        },
        "words": words,
        "columns": [
            {"role": column.role, "name": column.name, "kind": column.kind} for column in columns
        ],
    }


def _versions() -> dict[str, Any]:
    """Return everything on which a last digit may depend."""
    return {
        "packages": {"selica": __version__} | {name: version(name) for name in PACKAGES},
        "python": platform.python_version(),
        "platform": platform.platform(),
        "instruction set of the core": str(core().instruction_set),
        "threads": threads(),
    }


def _readme(selection: Selection) -> str:
    """Return what a reviewer reads first."""
    file = selection.provenance.file
    parts = [
        f"A selection of variables that explain {selection.target}, by selica {__version__}.",
        "",
        *([f"File: {file}"] if file is not None else []),
        *([f"Date: {selection.provenance.date}"] if selection.provenance.date else []),
        *([f"Command: {selection.provenance.command}"] if selection.provenance.command else []),
        *([f"Method: {selection.chosen}"] if selection.chosen else []),
        f"Result: {selection.summary.title}.",
        f"Promise: {selection.guarantee}",
        "",
        "report.html       the report; open it in a browser",
        f"selection.csv     all {selection.summary.unit}s with what was measured, all digits",
        "selection.json    settings, data, result and promise, for programs",
        "table.csv         the table exactly as it was used, all digits",
        "settings.json     settings, seed, versions, and the columns of table.csv",
        "run.py            repeats the selection and compares every number",
        "requirements.txt  the versions of the packages that were used",
        "",
        "To repeat it:",
        "",
        "    pip install -r requirements.txt",
        "    python run.py",
        "",
        "With the same versions, and on a processor with the same instruction set, every digit is",
        "the same; else run.py says by how much numbers differ.",
    ]
    return "\n".join(parts) + "\n"


_RUN = '''"""Repeat the selection of this folder, and compare every number with selection.csv."""

import csv
import json
import pickle
import platform
import sys
import warnings
from pathlib import Path

import numpy as np

import selica
from selica._core.compiled import core
from selica.selectors.base import NamedColumns

HERE = Path(__file__).resolve().parent
ABOUT = json.loads((HERE / "settings.json").read_text(encoding="utf-8"))
READ = {"float": float, "int": int, "bool": lambda text: text == "True", "str": str}


def read_table():
    """The columns of table.csv by their role, exactly as they were."""
    with open(HERE / "table.csv", newline="", encoding="utf-8") as file:
        rows = csv.reader(file)
        next(rows)
        columns = list(zip(*rows))
    found = {}
    for about, texts in zip(ABOUT["columns"], columns):
        values = np.array([READ[about["kind"]](text) for text in texts])
        found.setdefault(about["role"], []).append(values)
    fields = found.pop("y") if ABOUT["fields"] else None
    # last digits of sums depend on how a table lies in memory
    arrays = {name: np.asarray(np.column_stack(v), order=ABOUT["orders"][name])
              if name in ABOUT["orders"] else v[0] for name, v in found.items()}
    X = arrays.pop("X")
    y = arrays.pop("y") if fields is None else np.rec.fromarrays(fields, names=ABOUT["fields"])
    return X, y, arrays | ABOUT["words"]


def compare(table):
    """Differences from selection.csv: cells that are not the same, and the largest difference."""
    with open(HERE / "selection.csv", newline="", encoding="utf-8") as file:
        before = list(csv.DictReader(file))
    different, largest, compared = 0, 0.0, 0
    if len(before) != len(table):
        sys.exit(f"There were {len(before)} rows, and there are {len(table)} now.")
    for old, new in zip(before, table):
        for name, text in old.items():
            value = new[name]
            same = text == ("" if value is None else value if isinstance(value, str)
                            else repr(value))
            compared += 1
            if not same:
                different += 1
                try:
                    a, b = float(text), float(value)
                    largest = max(largest, abs(a - b) / max(abs(a), abs(b), 1e-300))
                except (TypeError, ValueError):
                    largest = float("inf")
    return different, largest, compared


{construction}

X, y, arguments = read_table()
variable = None if ABOUT["variable"] is None else np.array(ABOUT["variable"])
columns = NamedColumns(
    X, tuple(ABOUT["names"]), ABOUT["target"], variable=variable,
    columns=tuple(ABOUT["columns of variables"]), references=tuple(ABOUT["references"]),
)
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # the report has them
    selector.fit(columns, y, **arguments)
summary = selector.summary()
print(summary.title)
different, largest, compared = compare(summary.variables)
if not different:
    print(f"All {compared} values are the same, to the last digit.")
    sys.exit(0)
print(f"{different} of {compared} values differ, by a share of at most {largest:.2g}.")
now = {"selica": selica.__version__, "numpy": np.__version__, "python": platform.python_version(),
       "instruction set": core().instruction_set}
then = ABOUT["versions"]
print("then:", {"selica": then["packages"]["selica"], "numpy": then["packages"]["numpy"],
                "python": then["python"],
                "instruction set": then["instruction set of the core"]})
print("now: ", now)
sys.exit(1)
'''
"""The script of a bundle; the braces take the lines that make the selector."""
