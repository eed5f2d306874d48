"""One path of the lasso on genotypes: `python -m benchmarks.genotype_paths --peer-python PYTHON`.

2,000 people, 50,000 markers whose neighbours are correlated, 100 penalties down to a share of the
largest, squared loss with an intercept, one thread: selica on codes of two bits, adelie on its SNP
matrix, glmnet on doubles. Each fit runs in a process of its own; what is timed is a path, from the
matrix as each package stores it, and processor time is given beside the clock. The relative duality
gap of all returned coefficients is computed by one function here.
A peer is run at several tolerances, and the fastest run with a gap below the target counts.
PYTHON is one that has adelie; glmnet is found through Rscript. `--quick` divides n and p by five.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import result_files

ROWS, MARKERS = 2000, 50_000
PENALTIES = 100
CAUSAL = 50
HERITABILITY = 0.5
NEIGHBOURS = 0.9
"""Correlation of the normal variables behind neighbouring alleles."""
TARGET = 1e-6
"""Largest relative gap along a path."""
PEER_TOLERANCES = (1e-7, 1e-9, 1e-11, 1e-13, 1e-15)
"""What a peer is asked for, from its default on."""
TOLERANCES = {"selica": (1e-6,), "adelie": PEER_TOLERANCES, "glmnet": PEER_TOLERANCES}
"""By package."""
BLOCK = 500
"""Markers that are made, or checked, at once."""

R_SCRIPT = """
suppressMessages(library(glmnet))
argument <- commandArgs(trailingOnly = TRUE)
folder <- argument[1]; n <- as.integer(argument[2]); p <- as.integer(argument[3])
thresh <- as.numeric(argument[4])
X <- matrix(as.double(readBin(file.path(folder, "bytes"), "integer", n * p, size = 1)), n, p)
y <- readBin(file.path(folder, "y"), "double", n)
lams <- readBin(file.path(folder, "lams"), "double", 1000)
glmnet.control(fdev = 0, devmax = 1)
time <- system.time(fit <- glmnet(X, y, lambda = lams / n, standardize = FALSE, thresh = thresh,
                                  maxit = 1e8))
beta <- fit$beta
writeBin(as.double(beta@x), file.path(folder, "values"))
writeBin(as.integer(beta@i), file.path(folder, "places"))
writeBin(as.integer(beta@p), file.path(folder, "starts"))
cat(time[["elapsed"]], time[["user.self"]] + time[["sys.self"]])
"""

ADELIE = """
import sys, os, json, time
import numpy as np
import adelie as ad
from scipy.sparse import csc_matrix
folder, n, p, tol = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])
y, lams = (np.fromfile(os.path.join(folder, name)) for name in ("y", "lams"))
stored = os.path.join(folder, "snpdat")
if not os.path.exists(stored):
    values = np.fromfile(os.path.join(folder, "bytes"), dtype=np.int8).reshape(p, n).T
    ad.io.snp_unphased(stored).write(np.asfortranarray(values), n_threads=1)
wall, cpu = time.perf_counter(), time.process_time()
matrix = ad.matrix.snp_unphased(ad.io.snp_unphased(stored), n_threads=1)
fit = ad.grpnet(matrix, ad.glm.gaussian(y), lmda_path=lams / n, tol=tol, adev_tol=1.0,
                early_exit=False, progress_bar=False, n_threads=1)
took = time.perf_counter() - wall, time.process_time() - cpu
beta = csc_matrix(fit.betas.T)
beta.data.astype(float).tofile(os.path.join(folder, "values"))
beta.indices.astype(np.int32).tofile(os.path.join(folder, "places"))
beta.indptr.astype(np.int32).tofile(os.path.join(folder, "starts"))
print(*took)
"""


def genotypes(rows: int, markers: int, seed: int = 0) -> Any:
    """Return copies of alleles (markers, rows), with neighbours that are correlated."""
    rng = np.random.default_rng(seed)
    out = np.zeros((markers, rows), dtype=np.int8)
    from scipy.special import ndtri

    cut = ndtri(rng.uniform(0.05, 0.5, markers)).astype(np.float32)
    latent = rng.standard_normal((2, rows), dtype=np.float32)
    fresh = np.float32(np.sqrt(1.0 - NEIGHBOURS**2))
    for j in range(markers):
        latent = np.float32(NEIGHBOURS) * latent + fresh * rng.standard_normal(
            (2, rows), dtype=np.float32
        )
        out[j] = (latent < cut[j]).sum(axis=0)
    return out


def write_data(folder: Path, rows: int, markers: int, least: float) -> None:
    """Write the data in all forms that the packages read."""
    from selica.solvers import pack_two_bit, two_bit_design

    values = genotypes(rows, markers)
    rng = np.random.default_rng(1)
    which = rng.choice(markers, min(CAUSAL, markers // 10), replace=False)
    signal = rng.standard_normal(which.size) @ (values[which] - values[which].mean(axis=1)[:, None])
    noise = rng.standard_normal(rows)
    y = signal / signal.std() * np.sqrt(HERITABILITY) + np.sqrt(1.0 - HERITABILITY) * noise
    values.tofile(folder / "bytes")
    codes = pack_two_bit(values.T)
    codes.tofile(folder / "codes")
    table = two_bit_design(codes, rows)
    largest = max(
        np.abs((y - y.mean()) @ table.columns_of(np.arange(j, min(j + BLOCK, markers)))).max()
        for j in range(0, markers, BLOCK)
    )
    (largest * np.geomspace(1.0, least, PENALTIES)).tofile(folder / "lams")
    y.tofile(folder / "y")


def fit_selica(folder: Path, rows: int, markers: int, tol: float) -> None:
    """Fit the path, print seconds and processor seconds, write the coefficients."""
    from selica.solvers import lasso_path_batch, two_bit_design

    y, lams = np.fromfile(folder / "y"), np.fromfile(folder / "lams")
    shape = (markers, (rows + 3) // 4)
    ones = np.ones((1, rows))
    settings: dict[str, Any] = {"fit_intercept": True, "keep": "sparse", "n_jobs": 1, "tol": tol}
    some = np.zeros((9, shape[1]), dtype=np.uint8)
    lasso_path_batch(two_bit_design(some, rows), y, lams[:1], ones, **settings)  # imports
    wall, cpu = time.perf_counter(), time.process_time()
    codes = np.memmap(folder / "codes", dtype=np.uint8, mode="r", shape=shape)
    fit = lasso_path_batch(two_bit_design(codes, rows), y, lams, ones, **settings)
    took = time.perf_counter() - wall, time.process_time() - cpu
    beta = fit.sparse.T.tocsc()
    beta.data.tofile(folder / "values")
    beta.indices.astype(np.int32).tofile(folder / "places")
    beta.indptr.astype(np.int32).tofile(folder / "starts")
    print(*took, fit.passes)


def largest_gap(folder: Path, rows: int, markers: int) -> tuple[float, int]:
    """Return the largest relative duality gap of the coefficients, and the size of the last fit.

    Of |r|^2 / 2 + lam |w|_1 with r the centred residual; the dual point is r, scaled so that no
    gradient exceeds lam; the gap is relative to half the square of the centred response.
    """
    from scipy.sparse import csc_array

    from selica.solvers import two_bit_design

    y, lams = np.fromfile(folder / "y"), np.fromfile(folder / "lams")
    parts = [np.fromfile(folder / "values")] + [
        np.fromfile(folder / name, dtype=np.int32) for name in ("places", "starts")
    ]
    beta = csc_array(tuple(parts), shape=(markers, lams.size))
    codes = np.fromfile(folder / "codes", dtype=np.uint8).reshape(markers, -1)
    table = two_bit_design(codes, rows)
    centred = y - y.mean()
    used = np.unique(beta.indices)
    residual = np.repeat(centred[:, None], lams.size, axis=1)
    rows_of_beta = beta.tocsr()
    for start in range(0, used.size, BLOCK):
        some = used[start : start + BLOCK]
        block = table.columns_of(some)
        residual -= (block - block.mean(axis=0)) @ rows_of_beta[some].toarray()
    steepest = np.zeros(lams.size)
    for start in range(0, markers, BLOCK):
        block = table.columns_of(np.arange(start, min(start + BLOCK, markers)))
        steepest = np.maximum(steepest, np.abs(block.T @ residual).max(axis=0))
    scale = np.minimum(1.0, lams / np.maximum(steepest, 1e-300))
    square = (residual**2).sum(axis=0)
    paid = lams * np.asarray(abs(beta).sum(axis=0)).ravel()
    gap = 0.5 * (1.0 + scale**2) * square + paid - scale * (centred @ residual)
    return float(gap.max() / (0.5 * centred @ centred)), int(np.diff(beta.indptr)[-1])


def run(package: str, folder: Path, tol: float, arguments: argparse.Namespace) -> dict[str, Any]:
    """Fit the path in a process of its own, on one thread."""
    rows, markers = arguments.rows, arguments.markers
    size = [str(folder), str(rows), str(markers), str(tol)]
    if package == "selica":
        command = [sys.executable, "-m", "benchmarks.genotype_paths", "--fit", *size]
    elif package == "adelie":
        (folder / "adelie_path.py").write_text(ADELIE)
        command = [arguments.peer_python, str(folder / "adelie_path.py"), *size]
    else:
        (folder / "path.R").write_text(R_SCRIPT)
        command = ["Rscript", str(folder / "path.R"), *size]
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "SELICA_NUM_THREADS")
    environment = os.environ | dict.fromkeys(names, "1")
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if ran.returncode != 0:
        raise RuntimeError(f"{package} failed: {ran.stderr[-2000:]}")
    took = [float(word) for word in ran.stdout.split()]
    gap, active = largest_gap(folder, rows, markers)
    return {
        "package": package,
        "tolerance": tol,
        "seconds": took[0],
        "processor": took[1],
        "gap": gap,
        "active": active,
        "passes": took[2] if len(took) > 2 else None,
    }


def csv_row(row: dict[str, Any], unit: float) -> dict[str, Any]:
    """A row of docs/benchmarks.md; `unit` is what selica takes."""
    passes = "" if row["passes"] is None else f"{row['passes']:.1f}"
    return {
        "package": row["package"], "tolerance": f"{row['tolerance']:g}",
        "processor": f"{row['processor']:.2f}", "times": f"{row['processor'] / unit:.0f}",
        "gap": f"{row['gap']:.1e}", "active": row["active"], "passes": passes,
    }  # fmt: skip


def main() -> None:
    """Run every package, and print what it took beside the gap."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peer-python", default=None, help="an interpreter that has adelie")
    parser.add_argument("--least", type=float, default=0.1, help="last penalty, of the largest")
    parser.add_argument("--packages", nargs="+", default=["selica", "adelie", "glmnet"])
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--markers", type=int, default=MARKERS)
    parser.add_argument("--quick", action="store_true", help="a fifth of the rows and markers")
    parser.add_argument("--csv", type=Path, help="file of the rows for docs/benchmarks.md")
    parser.add_argument("--fit", nargs=4, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.fit:
        folder, rows, markers, tol = arguments.fit
        fit_selica(Path(folder), int(rows), int(markers), float(tol))
        return
    if arguments.quick:
        arguments.rows, arguments.markers = arguments.rows // 5, arguments.markers // 5
    if arguments.peer_python is None:
        arguments.packages = [name for name in arguments.packages if name != "adelie"]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_data(folder, arguments.rows, arguments.markers, arguments.least)
        best = {}
        rows = []
        for package in arguments.packages:
            for tol in TOLERANCES[package]:
                row = run(package, folder, tol, arguments)
                print(json.dumps(row), flush=True)
                rows.append(row)
                if row["gap"] <= TARGET:
                    best[package] = row
                    break
    for package, row in best.items():
        ratio = row["processor"] / best["selica"]["processor"]
        print(
            f"{package}: {row['seconds']:.2f} s, {row['processor']:.2f} s of a processor, "
            f"gap {row['gap']:.1e}: {ratio:.1f} times selica"
        )
    if arguments.csv is not None:
        unit = best["selica"]["processor"]
        first = {name: tolerances[0] for name, tolerances in TOLERANCES.items()}
        kept = [
            row for row in rows
            if row is best.get(row["package"]) or row["tolerance"] == first[row["package"]]
        ]  # fmt: skip
        result_files.save(arguments.csv, [csv_row(row, unit) for row in kept])


if __name__ == "__main__":
    main()
