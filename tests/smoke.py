"""Whether an installed selica works: a minute of what people do with it, without a test library.

    python -m tests.smoke           all parts whose libraries are installed
    python -m tests.smoke core      the parts that need nothing but the package itself

`tests.matrix` copies this file out of the checkout and runs it in empty environments. It prints a
line for each part, then the versions it ran with as JSON; the exit code says whether a part failed.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import time
import traceback
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import selica
from selica import catalogue, control, planning, solvers, tables, theory

ROOMS = (
    "amp", "catalogue", "control", "errors", "experiments", "planning", "plots", "progress",
    "reports", "sampling", "selectors", "solvers", "statistics", "tables", "theory",
)  # fmt: skip
LIBRARIES = (
    "numpy", "scipy", "scikit-learn", "joblib", "threadpoolctl", "rich", "typer", "pyarrow",
    "matplotlib", "pandas", "openpyxl", "Pgenlib", "h5py", "zarr", "streamlit", "dask",
)  # fmt: skip
STUDY = ("-n", "400", "-p", "500", "-k", "100", "--r2", "0.9")
STRONG = (0, 1, 2)
"""Columns of the table that matter."""


def table(rows: int = 120, columns: int = 12) -> tuple[np.ndarray, np.ndarray]:
    """Three columns with strong effects among columns without any."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((rows, columns))
    return X, X[:, STRONG] @ [2.0, -2.0, 1.5] + 0.5 * rng.standard_normal(rows)


def columns() -> dict[str, list[float]]:
    """The same as columns with names, rounded so that text loses nothing."""
    X, y = table()
    named = {f"x{j}": X[:, j].round(6).tolist() for j in range(X.shape[1])}
    return named | {"y": y.round(6).tolist()}


def command(*words: str) -> str:
    """What the command prints that was installed beside this Python."""
    run = [str(Path(sys.executable).parent / "selica"), *words]
    done = subprocess.run(run, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert "Warning" not in done.stderr, done.stderr
    return done.stdout


def every_public_name_is_there(folder: Path) -> None:
    assert selica.__version__ == version("selica")
    for room in ROOMS:
        module = import_module(f"selica.{room}")
        for name in getattr(module, "__all__", ()):
            assert getattr(module, name) is not None, (room, name)


def commands_answer(folder: Path) -> None:
    assert command("--version") == f"selica {selica.__version__}\n"
    assert all(name in command("methods") for name in catalogue.METHODS)
    assert json.loads(command("predict", *STUDY, "--json"))
    text = [",".join(columns())]
    text += [",".join(map(repr, row)) for row in zip(*columns().values(), strict=True)]
    path = folder / "table.csv"
    path.write_text("\n".join(text) + "\n", "utf-8")
    out = folder / "report"
    options = ["--target", "y", "--method", "stability-pfer", "--out", str(out), "--json"]
    said = json.loads(command("select", str(path), *options))
    assert {f"x{j}" for j in STRONG} <= set(said["selected"]), said["selected"]
    assert all(Path(name).is_file() for name in said["files"])


def selectors_find_strong_effects(folder: Path) -> None:
    X, y = table()
    for row in catalogue.methods():
        if row.selector is None or row.name == "clump-knockoffs":  # it takes genotypes
            continue
        given = {"lam": 0.2} if row.name in ("thresholded-lasso",) else {}
        fitted = row.load_selector()(**row.arguments(given), random_state=0).fit(X, y)
        found = set(np.flatnonzero(fitted.get_support()).tolist())
        # 12 columns are too few for a share of false ones to be small: those methods have to run
        assert found >= set(STRONG) or row.controls.endswith("FDR"), row.name
        assert fitted.guarantee_ is not None
        assert str(fitted.summary())


def decisions_are_those_of_their_definitions(folder: Path) -> None:
    pvalues = np.random.default_rng(0).random(40) ** 3
    ranks = np.argsort(np.argsort(pvalues)) + 1
    within = pvalues <= 0.1 * ranks / 40
    limit = pvalues[within].max() if within.any() else -1.0
    assert (control.benjamini_hochberg(pvalues, 0.1) == (pvalues <= limit)).all()
    W = np.array([-2.0, -1, 1, 2, 3, 4, 5, 6, 7, 8])
    shares = {t: (1 + sum(t <= -W)) / max(sum(t <= W), 1) for t in sorted(abs(W))}
    smallest = next(t for t, share in shares.items() if share <= 0.2)
    assert control.knockoff_threshold(W, fdr=0.2) == smallest
    # Meinshausen and Bühlmann 2010: q^2 / ((2 cutoff - 1) p)
    bound = control.stability_bound(1000, 20, 0.75, 50, "none")
    assert math.isclose(float(bound), 20**2 / ((2 * 0.75 - 1) * 1000)), bound


def certificates_hold(folder: Path) -> None:
    X, y = table()
    fit = solvers.lasso_path_batch(X, y, [30.0, 10.0], np.ones((1, len(y))))
    assert fit.converged
    for coef, lam in zip(fit.coef[0], (30.0, 10.0), strict=True):
        slope = X.T @ (y - X @ coef)
        assert np.all(abs(slope) <= lam * (1 + 1e-4))
        assert np.allclose(slope[coef != 0], lam * np.sign(coef[coef != 0]), rtol=1e-4)


def theory_gives_its_numbers(folder: Path) -> None:
    model = theory.Model(alpha=2.5, rho=0.3, Delta=0.01)
    assert round(theory.power(model, "knockoffs-frequency", fdr=0.1), 3) == 0.88
    best = theory.power(model, "bayes-amp", fdr=0.1)
    for name in ("thresholded-lasso", "stability-ideal", "knockoffs-ideal"):
        assert 0.0 < theory.power(model, name, fdr=0.1) <= best, name


def a_study_is_planned(folder: Path) -> None:
    asked = {"n_features": 200, "n_signals": 20, "r2": 0.6}
    need = planning.required_samples(0.8, method="stability-fdr", curves=False, **asked)
    n = int(need.one("stability-fdr").value)
    reached = planning.compare_methods(n, fdr=0.1, methods=["stability-fdr"], **asked)
    assert 0.8 <= reached.predictions[0].power < 0.82, reached.predictions[0].power
    assert reached.predictions[0].power <= reached.ceiling.power


def tables_are_read(folder: Path) -> None:
    import pyarrow as pa
    from pyarrow import csv, feather, parquet

    made = columns()
    arrow = pa.table(made)
    csv.write_csv(arrow, folder / "a.csv")
    parquet.write_table(arrow, folder / "a.parquet")
    feather.write_feather(arrow, folder / "a.feather")
    text = (folder / "a.csv").read_text("utf-8").replace(",", "\t")
    (folder / "a.tsv").write_text(text, "utf-8")
    for ending in ("csv", "parquet", "feather", "tsv"):
        found = tables.read_table(folder / f"a.{ending}")
        assert list(found.names) == list(made), ending
        for name, values in zip(found.names, found.values, strict=True):
            assert np.allclose(np.asarray(values, float), made[name]), (ending, name)
    assert "'größe'" in str(
        tables.parse_table("a.csv", "größe;b\n1,5;1\n2,5;2\n3,5;3\n".encode()).notes
    )


def genotypes_are_read(folder: Path) -> None:
    from selica.tables.genotypes import Markers, People, write_bed

    rng = np.random.default_rng(0)
    calls = rng.binomial(2, 0.4, (40, 30)).astype(np.int8)
    markers = Markers.of(
        ["1"] * 30, [f"rs{j}" for j in range(30)], np.arange(30), "A" * 30, "C" * 30
    )
    people = People.of([f"i{i}" for i in range(40)])
    path = write_bed(folder / "cohort.bed", calls, people, markers)
    assert (selica.read_genotypes(path).calls() == calls).all()


def excel_is_read(folder: Path) -> None:
    from openpyxl import Workbook

    book = Workbook()
    for row in (list(columns()), *zip(*columns().values(), strict=True)):
        book.active.append(list(row))
    book.save(folder / "a.xlsx")
    found = tables.read_table(folder / "a.xlsx")
    assert list(found.names) == list(columns())
    assert np.allclose(np.asarray(found.values[0], float), columns()["x0"])


def frames_keep_their_names(folder: Path) -> None:
    import pandas as pd
    from sklearn.linear_model import LinearRegression
    from sklearn.pipeline import make_pipeline

    frame = pd.DataFrame(columns())
    X, y = frame.drop(columns="y"), frame["y"]
    select = selica.StabilitySelection(random_state=0).set_output(transform="pandas")
    chosen = select.fit_transform(X, y)
    assert {f"x{j}" for j in STRONG} <= set(chosen.columns)
    line = make_pipeline(selica.StabilitySelection(random_state=0), LinearRegression())
    assert line.fit(X, y).score(X, y) > 0.9
    assert len(select.summary().to_frame())


def pgen_is_read(folder: Path) -> None:
    import pgenlib

    calls = np.random.default_rng(0).binomial(2, 0.4, (40, 30)).astype(np.int8)
    path = folder / "two.pgen"
    with pgenlib.PgenWriter(str(path).encode(), 40, variant_ct=30, nonref_flags=False) as writer:
        for column in calls.T:
            writer.append_biallelic(np.ascontiguousarray(column))
    lines = "".join(f"1\t{j}\trs{j}\tC\tA\n" for j in range(30))
    path.with_suffix(".pvar").write_text(f"#CHROM\tPOS\tID\tREF\tALT\n{lines}")
    path.with_suffix(".psam").write_text("#IID\n" + "".join(f"i{i}\n" for i in range(40)))
    assert (selica.read_genotypes(path).calls() == calls).all()


def stored_arrays_are_read(folder: Path) -> None:
    import h5py
    import zarr

    X, _ = table()
    with h5py.File(folder / "a.h5ad", "w") as file:
        file["X"] = X
    assert np.array_equal(tables.read_array(folder / "a.h5ad").values, X.astype(np.float32))
    zarr.save_array(str(folder / "a.zarr"), X)
    assert np.allclose(tables.read_array(folder / "a.zarr").values, X, rtol=1e-6)


def figures_are_drawn(folder: Path) -> None:
    X, y = table()
    fitted = selica.StabilitySelection(random_state=0).fit(X, y)
    figure = fitted.plot()
    for ending in ("png", "svg", "pdf"):
        figure.savefig(folder / f"a.{ending}")
        assert (folder / f"a.{ending}").stat().st_size > 1000
    command("predict", *STUDY, "--plot", str(folder / "b.png"))


def the_page_opens(folder: Path) -> None:
    from streamlit.testing.v1 import AppTest

    import selica.app

    script = Path(selica.app.__file__).parent / "served" / "start.py"
    page = AppTest.from_file(str(script), default_timeout=120).run()
    assert not page.exception
    assert "selica-answer" in "".join(part.proto.body for part in page.get("html"))


def a_cluster_selects_the_same(folder: Path) -> None:
    import joblib
    from distributed import Client, LocalCluster

    X, y = table()
    found = [selica.StabilitySelection(random_state=0).fit(X, y).selection_probabilities_]
    with (
        LocalCluster(2, processes=False, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster),
        joblib.parallel_config("dask"),
    ):
        found += [selica.StabilitySelection(random_state=0).fit(X, y).selection_probabilities_]
    assert np.array_equal(*found)


CORE = (
    every_public_name_is_there,
    commands_answer,
    selectors_find_strong_effects,
    decisions_are_those_of_their_definitions,
    certificates_hold,
    theory_gives_its_numbers,
    a_study_is_planned,
    tables_are_read,
    genotypes_are_read,
)
EXTRAS: dict[Callable[[Path], None], tuple[str, ...]] = {
    excel_is_read: ("openpyxl",),
    frames_keep_their_names: ("pandas",),
    pgen_is_read: ("pgenlib",),
    stored_arrays_are_read: ("h5py", "zarr"),
    figures_are_drawn: ("matplotlib",),
    the_page_opens: ("streamlit", "matplotlib"),
    a_cluster_selects_the_same: ("distributed",),
}
"""Parts that need more, by the modules they need."""


def passes(part: Callable[[Path], None]) -> bool:
    """Run a part in a folder of its own and print a line about it."""
    begun = time.monotonic()
    with TemporaryDirectory() as folder:
        try:
            part(Path(folder))
        except Exception:
            traceback.print_exc()
            verdict = "FAILED"
        else:
            verdict = "passed"
    name = part.__name__.replace("_", " ")
    print(f"{verdict} {name} ({time.monotonic() - begun:.1f} s)", flush=True)
    return verdict == "passed"


def versions() -> dict[str, str]:
    """Versions of Python, of the package and of the libraries that are installed."""
    found = {"python": sys.version.split()[0], "selica": version("selica")}
    for name in LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def main() -> int:
    parts = list(CORE)
    if sys.argv[1:] != ["core"]:
        parts += [part for part, needs in EXTRAS.items() if all(map(find_spec, needs))]
    failed = [part for part in parts if not passes(part)]
    print(f"{len(parts) - len(failed)} of {len(parts)} parts passed")
    print(json.dumps(versions()))
    return int(bool(failed))


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    sys.exit(main())
