"""From files of two cohorts to discoveries: `python -m benchmarks.genotype_files DATA`.

DATA is the folder with `gwas_toy_knockoffzoom` (artificial, with a known truth and published
discoveries) and `mice_gwas` (heterogeneous stock mice). Each is written as PLINK files with a
phenotype file to `--out`, then one command selects, and its answer is compared with what is known.
"""

from __future__ import annotations

import argparse
import json
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from selica._core.table import Table
from selica.tables import read_table
from selica.tables.genotypes import Markers, People, write_bed

KILOBASES = 1000
"""Base pairs."""
NEAR = 100 * KILOBASES
"""Distance from a causal marker within which a selected one is counted as near."""


def columns(path: Path) -> dict[str, Any]:
    """Return the columns of a file by name."""
    table = read_table(path)
    return dict(zip(table.names, table.values, strict=True))


def text(values: Any) -> list[str]:
    """Return chromosomes as text: 7, not 7.0."""
    return [f"{one:g}" if isinstance(one, float) else str(one) for one in values]


def write_toy(data: Path, out: Path) -> list[str]:
    """Write the toy cohort; return the command that selects."""
    table, snps = columns(data / "genotypes.csv.gz"), columns(data / "snps.csv")
    y, names = table.pop("y"), [str(one) for one in snps["snp"]]
    calls = np.column_stack([table[name] for name in names]).astype(np.int8)
    p = len(names)
    people = People.of([f"person{i}" for i in range(1, y.size + 1)])
    markers = Markers.of(text(snps["chr"]), names, snps["bp"].astype(int), ["1"] * p, ["2"] * p)
    bed = write_bed(out / "toy.bed", calls, people, markers)
    lines = [f"{name}\t{value:.6g}" for name, value in zip(people.name, y, strict=True)]
    (out / "toy.pheno").write_text("\n".join(["IID\ty", *lines, ""]))
    return ["select", str(bed), "--pheno", str(out / "toy.pheno")]


def write_mice(data: Path, out: Path) -> list[str]:
    """Write the mice; return the command that selects markers of the albino coat."""
    table, snps = columns(data / "genotypes.csv.gz"), columns(data / "snps.csv.gz")
    about = columns(data / "phenotypes.csv.gz")
    names = [str(one) for one in snps["snp_id"]]
    calls = np.column_stack([table[name] for name in names]).astype(np.int8)
    counted = [name.rpartition("_")[2] for name in names]
    pairs = [str(one).split(";") for one in snps["alleles"]]
    other = [
        next((one for one in pair if one != allele), "0")
        for pair, allele in zip(pairs, counted, strict=True)
    ]
    # the unit of the map is not known: it is taken as megabases, for the order alone
    place = np.rint(1e6 * snps["map_position"]).astype(int)
    markers = Markers.of(text(snps["chr"]), names, place, counted, other)
    mice = [str(one) for one in about["SUBJECT.NAME"]]
    bed = write_bed(out / "mice.bed", calls, People.of(mice), markers)
    albino = np.where(about["CoatColour"] == "albino", "2", "1")
    for name, head, value in (
        ("mice.pheno", "albino", albino),
        ("mice.covar", "sex", about["GENDER"]),
    ):
        lines = [f"{mouse}\t{one}" for mouse, one in zip(mice, value, strict=True)]
        (out / name).write_text("\n".join([f"IID\t{head}", *lines, ""]))
    return ["select", str(bed), "--pheno", str(out / "mice.pheno"), "--keep",
            str(out / "mice.covar")]  # fmt: skip


def selected(command: list[str], out: Path) -> tuple[Table, dict[str, Any], float]:
    """Run a command; return the selected markers, what else it said, and its time."""
    start = time.perf_counter()
    whole = [sys.executable, "-m", "selica", *command, "--out", str(out)]
    subprocess.run(whole, check=True, stdout=subprocess.DEVNULL)
    seconds = time.perf_counter() - start
    table = Table.read_csv(out / "selection.csv").where(selected=True)
    return table, json.loads((out / "selection.json").read_text()), seconds


def compare_toy(data: Path, found: Table) -> list[str]:
    """Say how many selected markers are near causal ones and inside published regions."""
    snps = columns(data / "snps.csv")
    is_causal = np.array([one is not None and one == one for one in snps["causal_locus"]])
    causal = list(zip(text(snps["chr"][is_causal]), snps["bp"][is_causal], strict=True))
    lines = []
    near = [
        any(str(row["chromosome"]) == c and abs(row["position"] - b) <= NEAR for c, b in causal)
        for row in found
    ]
    lines.append(f"within {NEAR // KILOBASES} kb of a causal marker: {sum(near)} of {len(near)}")
    published = columns(data / "published_discoveries.csv")
    for resolution in sorted(set(published["resolution"].tolist())):
        here = published["resolution"] == resolution
        regions = list(
            zip(text(published["chr"][here]), published["bp_min"][here],
                published["bp_max"][here], strict=True)
        )  # fmt: skip
        inside = [
            any(str(row["chromosome"]) == c and a <= row["position"] <= b for c, a, b in regions)
            for row in found
        ]
        hit = [
            any(str(row["chromosome"]) == c and a <= row["position"] <= b for row in found)
            for c, a, b in regions
        ]
        lines.append(
            f"resolution {resolution:g}: {sum(inside)} of {len(found)} inside a published region; "
            f"{sum(hit)} of {len(regions)} published regions have a selected marker"
        )
    return lines


def compare_mice(found: Table) -> list[str]:
    """Say on which chromosomes the selected markers are: albino is on 7."""
    places = [str(row["chromosome"]) for row in found]
    on_seven = [row for row in found if str(row["chromosome"]) == "7"]
    lines = [f"on chromosome 7: {places.count('7')} of {len(places)}"]
    if on_seven:
        first = on_seven[0]
        lines.append(f"first on chromosome 7: {first['variable']} at {first['position'] / 1e6:g}")
    others = [f"{row['variable']} ({row['chromosome']})" for row in found
              if str(row["chromosome"]) != "7"]  # fmt: skip
    if others:
        lines.append(f"elsewhere: {', '.join(others)}")
    return lines


def main() -> None:
    """Write the files, select, compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--out", type=Path, help="folder for files and reports; temporary if not")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        out = given.out or Path(folder)
        out.mkdir(parents=True, exist_ok=True)
        for name, source, write in (
            ("toy", "gwas_toy_knockoffzoom", write_toy),
            ("mice", "mice_gwas", write_mice),
        ):
            data = given.data / source
            command = write(data, out)
            found, said, seconds = selected(command, out / f"{name}-report")
            print(f"selica {shlex.join(command)}")
            print(f"  {len(found)} of {said['n_variables']:,} markers, {seconds:.0f} s")
            print(f"  {said['guarantee']['text'].partition('. ')[0]}.")
            for line in compare_toy(data, found) if name == "toy" else compare_mice(found):
                print(f"  {line}")


if __name__ == "__main__":
    main()
