"""What `selica select TABLE --target y` answers on published tables, in which time and memory.

`python -m benchmarks.real_tables FOLDER` reads tables from a folder, which are not part of this
project (docs/choosing.md says where they come from), runs the command on each as a person would,
and prints the table of docs/choosing.md.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd


class Table(NamedTuple):
    """A table, and what is known of the truth."""

    name: str
    frame: Any
    target: str
    agrees: Callable[[list[str]], str]
    """What is said of a selection."""


def first(names: set[str], what: str) -> Callable[[list[str]], str]:
    """How many of published variables were selected."""
    return lambda found: f"{len(names & set(found))} of {len(names)} {what}"


def shown(found: list[str]) -> str:
    """The first names."""
    if not found:
        return "nothing"
    return ", ".join(found[:4]) + (" ..." if len(found) > 4 else "")


def small(folder: Path) -> Iterator[Table]:
    for colour in ("red", "white"):
        frame = pd.read_csv(folder / f"wine_quality/winequality_{colour}.csv.gz")
        yield Table(f"wine, {colour}", frame, "quality", shown)
    frame = pd.read_csv(folder / "riboflavin/riboflavin.csv.gz")
    yield Table("riboflavin", frame, "y", first({"LYSC_at", "YOAB_at", "YXLD_at"}, "published"))
    frame = pd.read_csv(folder / "colon_alon1999/colon.csv.gz")
    genes = [
        "Hsa.8147", "Hsa.36689", "Hsa.42949", "Hsa.22762", "Hsa.692.2", "Hsa.31801", "Hsa.3016",
        "Hsa.5392", "Hsa.1832", "Hsa.12241", "Hsa.44244", "Hsa.2928", "Hsa.41159", "Hsa.33268",
        "Hsa.6814", "Hsa.1660",
    ]  # fmt: skip
    yield Table("colon", frame, "tumor", lambda found: _within(found, set(genes), "of one lasso"))
    frame = pd.read_csv(folder / "leukemia_golub1999/leukemia.csv.gz")
    frame = frame[frame.split == "train"]
    yield Table("leukemia", frame, "aml", _of_golub)
    frame = pd.read_csv(folder / "tcga_prad_mirna/prad_mirna.csv.gz")
    mirnas = {f"hsa-mir-{name}" for name in ("1274b", "146a", "150", "182", "219-1")}
    yield Table("TCGA miRNA", frame, "tumor_purity", first(mirnas, "published"))


GOLUB = (
    "M55150 X95735 U50136 M16038 U82759 M23197 M84526 Y12670 M27891 X17042 Y00787 M96326 U46751 "
    "M80254 L08246 M62762 M28130 M63138 M57710 M69043 M81695 X85116 M19045 M83652 X04085 U22376 "
    "X59417 U05259 M92287 M31211 X74262 D26156 S50223 M31523 L47738 U32944 Z15115 X15949 X63469 "
    "M91432 U29175 Z69881 U20998 D38073 U26266 M31303 Y08612 U35451 M29696 M13792"
)
"""Accession numbers of the 50 genes of figure 3B of Golub et al. (1999), Science 286, 531."""


def _of_golub(found: list[str]) -> str:
    known = [name for name in found if name.split("_")[0] in GOLUB.split()]
    return f"{len(known)} of {len(found)} among the 50 of Golub et al.: {shown(found)}"


def _within(found: list[str], known: set[str], what: str) -> str:
    return f"{len(known & set(found))} of {len(found)} among {len(known)} {what}"


def hiv(folder: Path) -> Iterator[Table]:
    known = pd.read_csv(folder / "hiv_drug_resistance/tsm.csv")
    for kind, number in (("PI", 7), ("NRTI", 6), ("NNRTI", 3)):
        whole = pd.read_csv(folder / f"hiv_drug_resistance/{kind}.csv.gz")
        truth = set(known[known.drug_class == kind].position.astype(int))
        for drug in whole.columns[:number]:
            rows = whole[drug].notna()
            X = whole.loc[rows, whole.columns[number:]]
            X = X.loc[:, X.sum() >= 3]
            X = X.loc[:, ~X.T.duplicated(keep=False)]
            frame = pd.concat([X, np.log(whole.loc[rows, drug])], axis=1)

            there = {_position(name.split(".")[0]) for name in X.columns} & truth

            def positions(found: list[str], truth: set[int] = truth, there: Any = there) -> str:
                return _agreement({_position(name.split(".")[0]) for name in found}, truth, there)

            yield Table(f"HIV, {drug}", frame, drug, positions)


def _position(name: str) -> int:
    return int("".join(c for c in name if c.isdigit()))


def _agreement(at: set[int], truth: set[int], there: set[int]) -> str:
    """Say how many positions are known ones, and how many of those in the table were found."""
    share = len(at & truth) / max(len(at), 1)
    return (
        f"{len(at & truth)} known positions, {len(at - truth)} others: precision {share:.2f}, "
        f"recall {len(at & truth) / len(there):.2f}"
    )


def later_release(folder: Path) -> Iterator[Table]:
    frame = pd.read_csv(folder / "hiv_drug_resistance/PI_LPV_extended.csv.gz")
    known = pd.read_csv(folder / "hiv_drug_resistance/tsm.csv")
    truth = set(known[known.drug_class == "PI"].position.astype(int))

    there = {_position(name.split(".")[1]) for name in frame.columns[1:]} & truth

    def positions(found: list[str]) -> str:
        return _agreement({_position(name.split(".")[1]) for name in found}, truth, there)

    yield Table("HIV, LPV, later release", frame, "log10_fold_LPV", positions)


def genetics(folder: Path) -> Iterator[Table]:
    frame = pd.read_csv(folder / "gwas_toy_knockoffzoom/genotypes.csv.gz")
    snps = pd.read_csv(folder / "gwas_toy_knockoffzoom/snps.csv")
    causal = set(snps.snp[snps.causal_locus.notna()])
    yield Table("toy GWAS", frame, "y", lambda found: _within(found, causal, "causal"))
    genotypes = pd.read_csv(folder / "mice_gwas/genotypes.csv.gz")
    traits = pd.read_csv(folder / "mice_gwas/phenotypes.csv.gz")
    where = pd.read_csv(folder / "mice_gwas/snps.csv.gz").set_index("snp_id").chr

    def chromosomes(found: list[str]) -> str:
        at = [str(where.get(name, where.get(name.rsplit("_", 1)[0], "?"))) for name in found]
        return "chromosome " + ", ".join(dict.fromkeys(at)) if at else "nothing"

    albino = (traits.CoatColour == "albino").astype(int)
    yield Table("mice, albino", genotypes.assign(albino=albino), "albino", chromosomes)
    for trait in ("Obesity.BMI", "Obesity.BodyLength"):
        rows = traits[trait].notna()
        frame = genotypes[rows].assign(**{trait: traits[trait][rows]})
        yield Table(f"mice, {trait.split('.')[1]}", frame, trait, chromosomes)


def simulated(folder: Path) -> Iterator[Table]:
    rng = np.random.default_rng(0)
    for name, n, p, k in (
        ("tall, 50,000 x 100", 50_000, 100, 15),
        ("wide, 200 x 20,000", 200, 20_000, 5),
        ("wide, 100 x 50,000", 100, 50_000, 3),
    ):
        X = rng.standard_normal((n, p)).round(4)
        names = [f"v{j}" for j in range(p)]
        size = 11.0 / np.sqrt(n) if n > p else 1.0
        y = size * X[:, :k].sum(axis=1) + rng.standard_normal(n)
        frame = pd.DataFrame(X, columns=names).assign(y=y)
        yield Table(name, frame, "y", first(set(names[:k]), "that matter"))


GROUPS = {
    "small": small,
    "hiv": hiv,
    "later": later_release,
    "genetics": genetics,
    "simulated": simulated,
}
HEAD = (
    "| table | rows x columns | method | selected | promised | agreement | seconds | MB |\n"
    "|---|---|---|---|---|---|---|---|"
)


def answer(table: Table, options: list[str]) -> str:
    """A row: the command is run as a person would, the table a file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        table.frame.to_csv(path, index=False)
        command = [str(path), "--target", table.target, "--json", *options]
        code = "from selica.cli import main; main()"
        start = time.perf_counter()
        with (Path(folder) / "out").open("w+") as out, (Path(folder) / "err").open("w+") as err:
            process = subprocess.Popen(
                [sys.executable, "-c", code, "select", *command], stdout=out, stderr=err
            )
            _, status, usage = os.wait4(process.pid, 0)
            seconds = time.perf_counter() - start
            process.returncode = os.waitstatus_to_exitcode(status)
            out.seek(0)
            err.seek(0)
            answered, refused = out.read(), err.read().strip()
        size = usage.ru_maxrss / 1024.0
    n, p = table.frame.shape[0], table.frame.shape[1] - 1
    if process.returncode:
        return (
            f"| {table.name} | {n} x {p} | refused: {refused} | | | | {seconds:.0f} | {size:.0f} |"
        )
    found = json.loads(answered)
    method = found["used"].get("method", found["method"])
    level = found["guarantee"]["level"]
    promised = "nothing" if level is None else f"{found['guarantee']['controls']} {level:.3g}"
    promised = promised.replace("expected number of false selections", "PFER")
    promised = promised.replace("false discovery rate", "FDR")
    return (
        f"| {table.name} | {n} x {p} | {method} | {len(found['selected'])} | {promised} | "
        f"{table.agrees(found['selected'])} | {seconds:.0f} | {size:.0f} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="where the tables are")
    parser.add_argument("--only", nargs="*", choices=list(GROUPS), default=list(GROUPS))
    parser.add_argument("--options", nargs="*", default=[], help="further options of the command")
    chosen = parser.parse_args()
    print(HEAD)
    for group in chosen.only:
        for table in GROUPS[group](chosen.folder):
            print(answer(table, [f"--{one}" for one in chosen.options]), flush=True)


if __name__ == "__main__":
    main()
