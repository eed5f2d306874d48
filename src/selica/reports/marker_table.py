"""The table of a selection with what is known of markers: place, alleles and frequency."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from selica._core.table import Table
from selica.selectors import Summary
from selica.tables.genotypes import Genotypes

_MEANINGS = {
    "alleles": "the one that is counted, and the other",
    "frequency": "that of the allele that is counted, among these people",
}
"""What the columns of markers mean, as clauses."""


def with_markers(summary: Summary, genotypes: Genotypes) -> Summary:
    """Return a summary with the columns of the markers, without markers that nothing selects.

    Parameters
    ----------
    summary : Summary
        Of a selector that was fitted to these genotypes.
    genotypes : Genotypes
    """
    if summary.unit != "variable":
        return summary
    place = {str(name): j for j, name in enumerate(genotypes.markers.name)}
    shares = genotypes.frequency
    rows = []
    for row in summary.variables:
        if not row["selected"] and row.get(summary.measure) == 0.0:
            continue
        j = place[row["variable"]]
        first = {name: row[name] for name in ("rank", "variable", "selected")}
        rows.append(first | _about(genotypes, j, float(shares[j])) | row)
    if not rows:  # none was ever selected
        return summary
    explained = {**summary.explanations, **_MEANINGS}
    if len(rows) < len(summary.variables) and "rank" in explained:
        explained["rank"] += "; markers that were never selected are not listed"
    return replace(summary, variables=Table.of(rows), explanations=explained)


def _about(genotypes: Genotypes, j: int, share: float) -> dict[str, Any]:
    """Return what is known of a marker, as columns of a table."""
    one = genotypes.markers.row(j)
    return {
        "chromosome": one["chromosome"],
        "position": one["position"],
        "alleles": f"{one['allele_1']}/{one['allele_2']}",
        "frequency": round(share, 4),
    }
