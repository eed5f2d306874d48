"""Knockoffs from Z-scores beside knockoffs from the table they come from.

`python -m benchmarks.ghost_knockoffs --part agreement` compares the two on the same tables of 1,000
rows and 300 normal columns in 10 blocks: statistics W, discoveries, false discovery rate and power,
also with LD from reference panels of other people. `--part people` repeats the lasso with LD of the
people of the table, and asks where power is lost. `--part mismatch` measures how often LD is
refused, right and wrong, on genotypes; `--part flips` what swapped alleles do that are not refused.
Rows go to docs/data/ghosts; `--part table` prints the tables of docs/summary-statistics.md from
them.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import norm

from selica import KnockoffSelection, SummaryKnockoffs
from selica._core.table import Table
from selica._core.types import Array
from selica._core.warning import noted
from selica.control import fdp, joint_selection, joint_wins, tpp
from selica.sampling import GaussianKnockoffs, GhostKnockoffs, reference_linkage, simulate
from selica.solvers.quadratic import quadratic_lasso
from selica.statistics import joint_importances, linkage_mismatch, make_data
from selica.statistics.ghost_importances import lasso_importances, marginal_importances
from selica.tables import LinkageBlocks

FOLDER = Path(__file__).parents[1] / "docs" / "data" / "ghosts"
ROWS = 1000
COLUMNS = 300
SIGNALS = 30
BLOCK = 30
LEVEL = 0.1
PANELS = (500, 2000)
WAYS = (("marginal", 1), ("lasso", 1), ("lasso", 5))
"""Statistics and numbers of joint copies."""
DRAWS = 5
"""Draws of copies whose statistics are averaged for a correlation."""
COMPARED = 50
"""Data sets whose statistics W are compared."""
FLIPPED = 3
"""Markers whose alleles are swapped."""
WRONG = 50
"""Studies in which LD that is wrong is judged."""
FLIPS = ((300, 0, 1), (300, 30, 3), (1500, 30, 1))
"""Markers, signals, and how many times as many studies with swapped alleles."""
PARTS = ("agreement", "people", "mismatch", "flips", "table", "figure")
FIGURE = (
    "the table itself",
    "the table, variance of signals added as noise",
    "Z-scores, LD known",
    "Z-scores, LD of own people, blocks",
    "Z-scores, LD of own people, all pairs, residual noise",
)
"""Ways of the figure."""
FEWER = 0.2
"""Share of the markers with Z-scores of half of the people."""


def z_scores(X: Array, y: Array) -> Array:
    """t-statistics of single-marker tests."""
    X, y = X - X.mean(axis=0), y - y.mean()
    r = X.T @ y / np.sqrt((X**2).sum(axis=0) * (y @ y))
    return np.asarray(r * np.sqrt((len(y) - 2) / (1.0 - r**2)))


def covariance() -> Array:
    """Blocks of neighbours with correlations that fall with the distance."""
    i = np.arange(COLUMNS)
    same = np.equal.outer(i // BLOCK, i // BLOCK)
    return np.where(same, 0.6 ** np.abs(np.subtract.outer(i, i)), 0.0)


def table_copies(ghosts: GhostKnockoffs, X: Array, seed: Any) -> Array:
    """Gaussian copies of a table by the same S, (n, m, p)."""
    seeds = np.random.SeedSequence(seed).spawn(ghosts.n_blocks)
    parts = [
        GaussianKnockoffs(0.0, ghosts.correlations[b], n_joint=ghosts.n_joint)
        .copies(X[:, ghosts.place(b)], seeds[b], 1)[0]
        .reshape(len(X), ghosts.n_joint, -1)
        for b in range(ghosts.n_blocks)
    ]
    return np.concatenate(parts, axis=2)


def table_importances(
    ghosts: GhostKnockoffs, X: Array, y: Array, copies: Array, statistic: str
) -> Array:
    """Importances from the table; the lasso has the penalty that Z-scores would have."""
    n = len(y)
    if statistic == "marginal":
        Z = np.concatenate([(X.T @ y)[None], np.einsum("nmp,n->mp", copies, y)]) / np.sqrt(n)
        return marginal_importances(ghosts, Z).values
    nothing = np.zeros((ghosts.n_joint + 1, X.shape[1]))
    lam = lasso_importances(ghosts, nothing, n, "theory", np.random.SeedSequence(0)).lam
    found = joint_importances(
        make_data(X, y, "squared"), [copies.reshape(n, -1)], [np.random.default_rng(0)],
        penalty=lam, n_jobs=1,
    )  # fmt: skip
    return np.asarray(found[0])


def signed(importances: Array) -> Array:
    """W of joint copies."""
    wins = joint_wins(importances)
    return np.where(wins.winner == 0, wins.lead, -wins.lead)


def agreement(run: int) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Errors and power of every way, and correlations of W, for one data set."""
    sigma = covariance()
    data = simulate(ROWS, COLUMNS, SIGNALS, r2=0.5, covariance=sigma, random_state=run)
    X = (data.X - data.X.mean(axis=0)) / data.X.std(axis=0)
    y = (data.y - data.y.mean()) / data.y.std()
    z, truth = z_scores(X, y), data.support
    sizes = [BLOCK] * (COLUMNS // BLOCK)
    lds = {"known": LinkageBlocks([sigma[:BLOCK, :BLOCK]] * len(sizes))}
    for people in PANELS:
        panel = simulate(
            people, COLUMNS, 0, noise_variance=1.0, covariance=sigma,
            random_state=1_000_000 + 10_000 * people + run,
        )  # fmt: skip
        lds[str(people)] = reference_linkage(panel.X, sizes)
    rows: list[dict[str, Any]] = []
    alike: list[dict[str, Any]] = []

    def add(ld: str, statistic: str, m: int, chosen: Array, refused: bool = False) -> None:
        rows.append(
            {"run": run, "ld": ld, "statistic": statistic, "copies": m,
             "selected": int(chosen.sum()), "fdp": fdp(chosen, truth), "power": tpp(chosen, truth),
             "refused": refused}
        )  # fmt: skip

    scores = z * np.sqrt(ROWS / (ROWS - 2.0 + z**2))
    refused = {name: linkage_mismatch(scores, ld, run).refused for name, ld in lds.items()}
    with noted():
        for m in (1, 5):
            for name, ld in lds.items():
                ghosts = known(m) if name == "known" else GhostKnockoffs(ld, n_joint=m)
                Z = np.concatenate([scores[None], ghosts.draw(scores, run)])
                for statistic in (statistic for statistic, copies in WAYS if copies == m):
                    T = importances(ghosts, Z, statistic, run)
                    add(name, statistic, m, chosen_by(T, m), refused[name])
            ghosts = known(m)
            copies = table_copies(ghosts, X, [run, 0])
            for statistic in (statistic for statistic, copies in WAYS if copies == m):
                T = table_importances(ghosts, X, y, copies, statistic)
                add("table", statistic, m, chosen_by(T, m))
                if m == 1 and run < COMPARED:
                    alike.append({"run": run, "statistic": statistic}
                                 | correlations(ghosts, X, y, scores, run, statistic))  # fmt: skip
        sampler = GaussianKnockoffs(0.0, sigma)
        cv = KnockoffSelection(
            LEVEL, sampler=sampler, statistic="coefficient", response="linear", n_jobs=1,
            random_state=run,
        )  # fmt: skip
        add("table", "lasso, cross-validated", 1, cv.fit(data.X, data.y).support_)
    return rows, alike


@cache
def known(m: int) -> GhostKnockoffs:
    """Ghosts with the LD of the population."""
    one = covariance()[:BLOCK, :BLOCK]
    return GhostKnockoffs(LinkageBlocks([one] * (COLUMNS // BLOCK)), n_joint=m)


def importances(ghosts: GhostKnockoffs, Z: Array, statistic: str, seed: int) -> Array:
    """What `SummaryKnockoffs` compares."""
    if statistic == "marginal":
        return marginal_importances(ghosts, Z).values
    return lasso_importances(ghosts, Z, ROWS, "theory", np.random.SeedSequence(seed)).values


def chosen_by(T: Array, m: int) -> Array:
    wins = joint_wins(T)
    return np.asarray(joint_selection(wins.winner, wins.lead, m, LEVEL))


def correlations(
    ghosts: GhostKnockoffs, X: Array, y: Array, scores: Array, run: int, statistic: str
) -> dict[str, float]:
    """Correlations over markers of W by ghosts and by the table."""
    own, ghostly, same = [], [], []
    for draw in range(DRAWS):
        copies = table_copies(ghosts, X, [run, 1 + draw])
        own.append(signed(table_importances(ghosts, X, y, copies, statistic)))
        of_copies = np.einsum("nmp,n->mp", copies, y) / np.sqrt(len(y))
        for Z, into in ((ghosts.draw(scores, run, draw), ghostly), (of_copies, same)):
            both = np.concatenate([scores[None], Z])
            into.append(signed(importances(ghosts, both, statistic, 0)))

    def corr(a: Array, b: Array) -> float:
        return float(np.corrcoef(a, b)[0, 1])

    return {
        "same_copies": corr(own[0], same[0]),
        "ghost_and_table": corr(own[0], ghostly[0]),
        "table_and_table": corr(own[0], own[1]),
        "means": corr(np.mean(own, axis=0), np.mean(ghostly, axis=0)),
    }


def people(run: int, m: int) -> list[dict[str, Any]]:
    """Rows of one data set: the lasso from Z-scores, with more and more of what the table knows.

    "same copies" are those of the table, so that its statistics differ by correlations alone. With
    correlations of all pairs of the people, Z-scores are normal given the columns, with the
    variance that is left by them and not that of the response: noise of the copies and penalty are
    to be those of the residuals, as for fixed-X knockoffs (Barber and Candès 2015).
    """
    sigma, n = covariance(), ROWS
    data = simulate(n, COLUMNS, SIGNALS, r2=0.5, covariance=sigma, random_state=run)
    X = (data.X - data.X.mean(axis=0)) / data.X.std(axis=0)
    y = (data.y - data.y.mean()) / data.y.std()
    scores, population = X.T @ y / np.sqrt(n), known(m)
    lam = float(lasso_importances(population, np.zeros((m + 1, COLUMNS)), n, "theory",
                                  np.random.SeedSequence(0)).lam or 0.0)  # fmt: skip
    copies, others = (table_copies(population, X, [run, draw]) for draw in (0, 1))
    both = np.concatenate([X[:, None], copies], axis=1).reshape(n, -1)
    both -= both.mean(axis=0)
    gram, r = both.T @ both / n, both.T @ y / n
    block = np.tile(np.arange(COLUMNS) // BLOCK, m + 1)
    inside = block[:, None] == block
    noisier = y + np.sqrt(0.5) * np.random.default_rng([run, 1]).standard_normal(n)
    own = np.corrcoef(X.T)
    blocks = [own[b : b + BLOCK, b : b + BLOCK] for b in range(0, COLUMNS, BLOCK)]

    def of_table(response: Array, drawn: Array) -> Array:
        return table_importances(population, X, response - response.mean(), drawn, "lasso")

    def of_gram(G: Array) -> Array:
        return np.abs(quadratic_lasso(G, r, lam).coef).reshape(m + 1, -1)

    def of_ghosts(matrices: list[Array], sd: float = 1.0) -> Array:
        ghosts = GhostKnockoffs(LinkageBlocks(matrices), n_joint=m)
        # Z-scores of noise with this deviation: the copies' noise and the penalty follow it
        Z = np.concatenate([scores[None], sd * ghosts.draw(scores / sd, run)])
        return importances(ghosts, Z / sd, "lasso", run)

    left = 1.0 - scores @ np.linalg.solve(own, scores) / n
    residual = float(np.sqrt(left * n / (n - COLUMNS - 1)))
    table = of_table(y, copies)
    ways = {
        "the table itself": table,
        "the table, other copies": of_table(y, others),
        "the table, variance of signals added as noise": of_table(noisier, copies),
        "same copies, correlations of the table": of_gram(gram),
        "same copies, those within blocks": of_gram(np.where(inside, gram, 0.0)),
        "same copies, population": of_gram(_population_gram(population)),
        "Z-scores, LD known": of_ghosts([sigma[:BLOCK, :BLOCK]] * len(blocks)),
        "Z-scores, LD of own people, blocks": of_ghosts(blocks),
        "Z-scores, LD of own people, all pairs": of_ghosts([own]),
        "Z-scores, LD of own people, all pairs, residual noise": of_ghosts([own], residual),
    }
    chosen_there, rows = chosen_by(table, m), []
    for way, T in ways.items():
        chosen = chosen_by(T, m)
        either = int(np.count_nonzero(chosen | chosen_there))
        rows.append(
            {"run": run, "way": way, "copies": m, "selected": int(chosen.sum()),
             "fdp": fdp(chosen, data.support), "power": tpp(chosen, data.support),
             "correlation": float(np.corrcoef(signed(T), signed(table))[0, 1]),
             "both": int(np.count_nonzero(chosen & chosen_there)), "either": either}
        )  # fmt: skip
    return rows


def _population_gram(ghosts: GhostKnockoffs) -> Array:
    """Correlations of all markers and copies in the population, a version after the other."""
    versions = ghosts.n_joint + 1
    G = np.zeros((versions, COLUMNS, versions, COLUMNS))
    for b in range(ghosts.n_blocks):
        where = ghosts.place(b)
        G[:, where, :, where] = ghosts.joint_correlation(b).reshape(
            versions, BLOCK, versions, BLOCK
        )
    return G.reshape(versions * COLUMNS, -1)


class Population:
    """Genotypes of chains of markers: each haplotype is a chain of normal numbers, cut in two."""

    def __init__(self, markers: int, rng: np.random.Generator) -> None:
        self.link, self.frequency = rng.beta(6.0, 1.5, markers), rng.uniform(0.1, 0.5, markers)

    def other(self, rng: np.random.Generator) -> Population:
        """A population in which half of the links are others, and frequencies have drifted."""
        found = Population(self.link.size, rng)
        kept = rng.random(self.link.size) < 0.5
        found.link = np.where(kept, self.link, found.link)
        drifted = self.frequency + 0.1 * rng.standard_normal(self.link.size)
        found.frequency = np.clip(drifted, 0.05, 0.5)
        return found

    def people(self, n: int, rng: np.random.Generator) -> Array:
        """Copies of an allele, (n, markers)."""
        return sum(self._haplotypes(n, rng) for _ in range(2))  # type: ignore[return-value]

    def _haplotypes(self, n: int, rng: np.random.Generator) -> Array:
        hidden = rng.standard_normal((n, self.link.size))
        for j in range(self.link.size):
            if j % 50:
                own = np.sqrt(1.0 - self.link[j] ** 2) * hidden[:, j]
                hidden[:, j] = self.link[j] * hidden[:, j - 1] + own
        return (hidden > norm.isf(self.frequency)).astype(float)


class Genotyped(NamedTuple):
    """A study with genotypes, and LD of other people."""

    G: Array
    z: Array
    flipped: Array
    """Z-scores in which the alleles of some markers are swapped, of those with large ones."""
    truth: Array
    sizes: list[int]
    panels: dict[int, LinkageBlocks]
    y: Array
    population: Population
    rng: np.random.Generator


def genotyped(run: int, markers: int, signals: int) -> Genotyped:
    """Draw a study and its reference panels."""
    rng = np.random.default_rng([run, markers, signals])
    people, sizes = Population(markers, rng), [50] * (markers // 50)
    G = people.people(ROWS, rng)
    X = (G - G.mean(axis=0)) / G.std(axis=0)
    effect = np.zeros(markers)
    which = rng.choice(markers, signals, replace=False)
    effect[which] = rng.choice([-1.0, 1.0], signals) * rng.uniform(0.5, 1.5, signals)
    part = X @ effect
    y = rng.standard_normal(ROWS) + (part / part.std() if signals else 0.0)
    z = z_scores(G, y)
    panels = {m: reference_linkage(people.people(m, rng), sizes) for m in PANELS}
    flipped = z.copy()
    some = rng.choice(np.argsort(-np.abs(z))[: markers // 5], FLIPPED, replace=False)
    flipped[some] *= -1.0
    return Genotyped(G, z, flipped, effect != 0.0, sizes, panels, y, people, rng)


def mismatch(run: int, markers: int, signals: int) -> list[dict[str, Any]]:
    """Rows of one study: how LD that is right, and that is wrong, is judged."""
    study = genotyped(run, markers, signals)
    G, z, sizes, panels, rng = study.G, study.z, study.sizes, study.panels, study.rng
    fewer, few = z.copy(), rng.random(markers) < FEWER
    fewer[few] = z_scores(G[: ROWS // 2], study.y[: ROWS // 2])[few]
    cases = [
        ("right", "own people", z, LinkageBlocks(reference_linkage(G, sizes).matrices)),
        *(("right", str(m), z, ld) for m, ld in panels.items()),
        *((f"{FLIPPED} markers flipped", str(m), study.flipped, ld) for m, ld in panels.items()),
        ("half of the people for 1 in 5 markers", "2000", fewer, panels[2000]),
        ("another population", "2000", z,
         reference_linkage(study.population.other(rng).people(2000, rng), sizes)),
    ]  # fmt: skip
    rows = []
    for case, panel, scores, ld in cases:
        if case != "right" and run >= WRONG:
            continue
        found = linkage_mismatch(scores, ld, run)
        rows.append(
            {"run": run, "markers": markers, "signals": signals, "case": case, "panel": panel,
             "opposed": found.opposed / found.opposed_limit,
             "noise": found.noise / found.noise_limit, "refused": found.refused}
        )  # fmt: skip
    return rows


def flips(run: int, markers: int, signals: int) -> list[dict[str, Any]]:
    """Rows of one study: discoveries with right alleles and with swapped ones, refused or not."""
    study = genotyped(run, markers, signals)
    selector = SummaryKnockoffs(LEVEL, accept_mismatch=True, random_state=run)
    rows = []
    for case, z in (("right", study.z), ("flipped", study.flipped)):
        with noted():
            selector.fit(z, ROWS, study.panels[PANELS[-1]])
        chosen = selector.get_support()
        rows.append(
            {"run": run, "markers": markers, "signals": signals, "case": case,
             "refused": selector.mismatch_.refused, "selected": int(chosen.sum()),
             "fdp": fdp(chosen, study.truth), "power": tpp(chosen, study.truth)}
        )  # fmt: skip
    return rows


def agreement_table() -> Iterator[str]:
    """Lines of the first table of the page."""
    rows, alike = (Table.read_csv(FOLDER / f"{x}.csv") for x in ("agreement", "correlations"))
    yield "| from | statistic, copies | FDR | s.e. | power | discoveries | refused |"
    yield "|---|---|---|---|---|---|---|"
    names = {"table": "the table itself", "known": "Z-scores, LD known"}
    for statistic, m in (*WAYS, ("lasso, cross-validated", 1)):
        for ld in ("table", "known", *map(str, PANELS)):
            one = rows.where(statistic=statistic, copies=m)
            one = Table.of(row for row in one if str(row["ld"]) == ld)
            if len(one):
                f, p, k = (np.array([row[x] for row in one]) for x in ("fdp", "power", "selected"))
                name = names.get(ld, f"Z-scores, LD of {ld} others")
                refused = sum(row["refused"] for row in one)
                yield (
                    f"| {name} | {statistic}, {m} | {f.mean():.3f} | "
                    f"{f.std(ddof=1) / np.sqrt(len(f)):.3f} | {p.mean():.3f} | {k.mean():.1f} | "
                    f"{refused} of {len(f)} |"
                )
    yield ""
    keys = ("same_copies", "ghost_and_table", "table_and_table", "means")
    for statistic in ("marginal", "lasso"):
        one = alike.where(statistic=statistic)
        mean = [np.mean([row[key] for row in one]) for key in keys]
        yield f"{statistic}: " + ", ".join(f"{k} {v:.3f}" for k, v in zip(keys, mean, strict=True))


def mismatch_table() -> Iterator[str]:
    """Lines of the second table of the page."""
    rows = Table.read_csv(FOLDER / "mismatch.csv")
    yield "| LD | panel | markers | signals | refused | by opposed markers | by noise |"
    yield "|---|---|---|---|---|---|---|"
    seen = dict.fromkeys((r["case"], r["panel"], r["markers"], r["signals"]) for r in rows)
    for case, panel, markers, signals in seen:
        one = rows.where(case=case, panel=panel, markers=markers, signals=signals)
        opposed = sum(row["opposed"] > 1.0 for row in one)
        noise = sum(row["noise"] > 1.0 for row in one)
        refused = sum(row["refused"] for row in one)
        yield (
            f"| {case} | {panel} | {markers} | {signals} | {refused} of {len(one)} | {opposed} | "
            f"{noise} |"
        )


def _mean(rows: Any, column: str) -> str:
    """Mean over data sets, with its standard error."""
    values = np.array([float(row[column]) for row in rows])
    return f"{values.mean():.3f} ({values.std(ddof=1) / np.sqrt(values.size):.3f})"


def people_table() -> Iterator[str]:
    """Lines of the table on LD of the people of the table."""
    rows = Table.read_csv(FOLDER / "people.csv")
    yield "| from | copies | FDR (s.e.) | power (s.e.) | correlation of W | shared discoveries |"
    yield "|---|---|---|---|---|---|"
    for m, way in dict.fromkeys((row["copies"], row["way"]) for row in rows):
        one = rows.where(copies=m, way=way)
        shared = sum(row["both"] for row in one) / max(sum(row["either"] for row in one), 1)
        alike = np.mean([row["correlation"] for row in one])
        yield (
            f"| {way} | {m} | {_mean(one, 'fdp')} | {_mean(one, 'power')} | {alike:.3f} | "
            f"{shared:.2f} |"
        )


def flips_table() -> Iterator[str]:
    """Lines of the table on swapped alleles that are not refused."""
    rows = Table.read_csv(FOLDER / "flips.csv")
    yield "| markers | signals | alleles | refused | FDR of the others (s.e.) | power (s.e.) |"
    yield "|---|---|---|---|---|---|"
    for markers, signals, case in dict.fromkeys(
        (row["markers"], row["signals"], row["case"]) for row in rows
    ):
        one = rows.where(markers=markers, signals=signals, case=case)
        kept = [row for row in one if not row["refused"]]
        power = _mean(kept, "power") if signals else "-"
        yield (
            f"| {markers} | {signals} | {case} | {len(one) - len(kept)} of {len(one)} | "
            f"{_mean(kept, 'fdp')} | {power} |"
        )


def figure(path: Path) -> None:
    """Draw power and false discovery rate by what is known, with five copies."""
    import matplotlib.pyplot as plt

    rows = Table.read_csv(FOLDER / "people.csv").where(copies=5)
    drawn, (left, right) = plt.subplots(1, 2, figsize=(10, 2.8), sharey=True)
    for place, way in enumerate(FIGURE):
        one = rows.where(way=way)
        for axis, column in ((left, "power"), (right, "fdp")):
            values = np.array([row[column] for row in one])
            axis.errorbar(
                values.mean(), -place, xerr=values.std(ddof=1) / np.sqrt(values.size), marker="o",
                capsize=3, color="tab:blue",
            )  # fmt: skip
    right.axvline(LEVEL, color="black", linewidth=0.8, linestyle="--")
    left.set_yticks(-np.arange(len(FIGURE)), FIGURE)
    left.set(xlabel="power", xlim=(0.0, 0.6))
    right.set(xlabel="false discovery rate; dashed: the level", xlim=(0.0, 0.15))
    right.set_xticks([0.0, 0.05, 0.1, 0.15])
    drawn.tight_layout()
    drawn.savefig(path, dpi=130)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", choices=PARTS, required=True)
    parser.add_argument("--runs", type=int, default=200)
    given = parser.parse_args()
    FOLDER.mkdir(parents=True, exist_ok=True)
    if given.part == "agreement":
        rows, alike = [], []
        for run in range(given.runs):
            for found, into in zip(agreement(run), (rows, alike), strict=True):
                into.extend(found)
            if run % 20 == 19 or run == given.runs - 1:  # so that an interrupted run leaves some
                Table.of(rows).to_csv(FOLDER / "agreement.csv")
                Table.of(alike).to_csv(FOLDER / "correlations.csv")
    elif given.part == "mismatch":
        rows = []
        for run in range(given.runs):
            for markers, signals, share in ((300, 0, 1), (300, 30, 1), (1500, 30, 10)):
                if run % share == 0:
                    rows.extend(mismatch(run, markers, signals))
            if run % 20 == 19 or run == given.runs - 1:
                Table.of(rows).to_csv(FOLDER / "mismatch.csv")
    elif given.part == "people":
        with noted():
            rows = [row for m in (1, 5) for run in range(given.runs) for row in people(run, m)]
        Table.of(rows).to_csv(FOLDER / "people.csv")
    elif given.part == "flips":
        rows = [
            row
            for markers, signals, times in FLIPS
            for run in range(times * given.runs)
            for row in flips(run, markers, signals)
        ]
        Table.of(rows).to_csv(FOLDER / "flips.csv")
    elif given.part == "figure":
        figure(FOLDER.parents[1] / "images" / "summary-statistics.png")
    else:
        tables = (agreement_table(), people_table(), mismatch_table(), flips_table())
        print("\n\n".join("\n".join(lines) for lines in tables))


if __name__ == "__main__":
    main()
