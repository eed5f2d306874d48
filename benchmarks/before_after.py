"""Real tables with Gaussian copies, and with the copies that suit their columns.

`python -m benchmarks.before_after FOLDER --page docs/before-after.md` reads tables from a folder,
which are not part of this project (docs/choosing.md says where they come from), selects from each
with both kinds of copies, and writes the table of that page. Lines that are done are kept in a
file, so that an interrupted run goes on.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from benchmarks.real_tables import Table, hiv, small

from selica import DerandomizedKnockoffs
from selica.sampling import GaussianKnockoffs, ledoit_wolf

MARK = "<!-- made by python -m benchmarks.before_after -->"
COPIES = 31
LARGEST_CORRELATION = 0.9
HEAD = (
    "| table | rows x columns | copies | selected | agreement | ratio | promised | seconds |\n"
    "|---|---|---|---|---|---|---|---|"
)


class LedoitWolf:
    """The covariance of Gaussian copies before others could be chosen."""

    def fit(self, X: Any) -> LedoitWolf:
        """Estimate the covariance."""
        found = ledoit_wolf(X, standardise=True)
        self.covariance_, self.location_ = found.covariance, found.mean
        return self


class Way(NamedTuple):
    """How copies are made, before and after."""

    name: str
    sampler: Any


def mice(folder: Path) -> Iterator[Table]:
    """Chromosome 7, which has the gene of albinism, without markers that hardly differ."""
    genotypes = pd.read_csv(folder / "mice_gwas/genotypes.csv.gz")
    traits = pd.read_csv(folder / "mice_gwas/phenotypes.csv.gz")
    where = pd.read_csv(folder / "mice_gwas/snps.csv.gz").set_index("snp_id")
    names = [name for name in genotypes.columns if where.chr.get(name) == "7"]
    kept: list[str] = []
    for name in names:
        recent = [abs(np.corrcoef(genotypes[name], genotypes[old])[0, 1]) for old in kept[-30:]]
        if genotypes[name].nunique() > 1 and max(recent, default=0.0) <= LARGEST_CORRELATION:
            kept.append(name)
    albino = (traits.CoatColour == "albino").astype(int)
    peak = max(names, key=lambda name: abs(np.corrcoef(genotypes[name], albino)[0, 1]))

    def near(found: list[str]) -> str:
        far = [abs(float(where.map_position[name] - where.map_position[peak])) for name in found]
        return f"{sum(one <= 10.0 for one in far)} within 10 map units of the strongest marker"

    frame = genotypes[kept].copy().assign(albino=albino)
    yield Table("mice, albino, chromosome 7", frame, "albino", near)


def tables(folder: Path) -> Iterator[tuple[Table, str]]:
    """Each table with the name of the sampler that is compared with Gaussian copies."""
    for table in hiv(folder):
        yield table, "auto"
    for table in mice(folder):
        yield table, "auto"
    for table in small(folder):
        if table.name == "TCGA miRNA":
            frame = table.frame.select_dtypes("number")
            yield table._replace(frame=frame.loc[:, frame.nunique() > 1]), "auto"


def line(table: Table, way: Way, seed: int) -> str:
    """A row: what is selected, and how far copies are from exchangeable."""
    X = table.frame.drop(columns=table.target)
    selector = DerandomizedKnockoffs(
        pfer=1.0, n_copies=COPIES, sampler=way.sampler, statistic="coefficient", n_jobs=1,
        random_state=seed,
    )  # fmt: skip
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        selector.fit(X, table.frame[table.target])
    seconds = time.process_time() - start
    names = [str(name) for name in X.columns[selector.support_]]
    checked = selector.exchangeability_
    assert checked is not None
    ratio = "-" if checked.ratio is None else f"{checked.ratio:.2f}"
    promised = "nothing" if selector.guarantee_.level is None else "PFER 1"
    name = way.name if way.sampler != "auto" else selector.sampler_
    return (
        f"| {table.name} | {X.shape[0]} x {X.shape[1]} | {name} | {len(names)} | "
        f"{table.agrees(names)} | {ratio} | {promised} | {seconds:.1f} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="where the tables are")
    parser.add_argument("--page", type=Path, help="page whose table is written")
    parser.add_argument("--done", type=Path, default=Path("before-after.json"))
    options = parser.parse_args()
    done: dict[str, str] = {}
    if options.done.exists():
        done = json.loads(options.done.read_text())
    lines = []
    for table, after in tables(options.folder):
        ways = (Way("Gaussian", GaussianKnockoffs(covariance=LedoitWolf())), Way(after, after))
        for way in ways:
            key = f"{table.name}, {way.name}"
            if key not in done:
                done[key] = line(table, way, 0)
                options.done.write_text(json.dumps(done, indent=1))
            lines.append(done[key])
            print(done[key], flush=True)
    if options.page is not None:
        before, _, rest = options.page.read_text().partition(MARK)
        _, _, after = rest.partition(MARK)
        table_of = "\n".join([HEAD, *lines])
        options.page.write_text(f"{before}{MARK}\n\n{table_of}\n\n{MARK}{after}")


if __name__ == "__main__":
    main()
