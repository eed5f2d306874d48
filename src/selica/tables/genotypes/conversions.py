"""Files of genotypes that are not read, and the command of PLINK 2 that makes files that are."""

from __future__ import annotations

from pathlib import Path

from selica._core.errors import ArgumentError

CONVERSIONS = {
    ".vcf": "plink2 --vcf {file} --max-alleles 2 --make-bed --out {stem}",
    ".vcf.gz": "plink2 --vcf {file} --max-alleles 2 --make-bed --out {stem}",
    ".vcf.bgz": "plink2 --vcf {file} --max-alleles 2 --make-bed --out {stem}",
    ".bcf": "plink2 --bcf {file} --max-alleles 2 --make-bed --out {stem}",
    ".bgen": "plink2 --bgen {file} ref-first --sample {stem}.sample --max-alleles 2 --make-bed "
    "--out {stem}",
    ".ped": "plink2 --pedmap {stem} --make-bed --out {stem}",
}
"""Commands by the ending of a file; `stem` is its name without the ending."""
REMARKS = {
    ".bgen": "Say ref-last in the place of ref-first if the second allele of your file is the "
    "reference, as in files that PLINK 2 writes."
}
"""What a user has to know before running some of them."""


def ending_to_convert(path: Path) -> str | None:
    """Return the ending of a file that has to be converted; None for others."""
    name = path.name.lower()
    longest = sorted(CONVERSIONS, key=len, reverse=True)
    return next((ending for ending in longest if name.endswith(ending)), None)


def conversion(path: Path, ending: str) -> tuple[str, str]:
    """Return the command that converts a file with this ending, and the file that it makes.

    >>> from pathlib import Path
    >>> from selica.tables.genotypes.conversions import conversion
    >>> conversion(Path("cohort.ped"), ".ped")
    ('plink2 --pedmap cohort --make-bed --out cohort', 'cohort.bed')
    """
    stem = str(path)[: -len(ending)]
    return CONVERSIONS[ending].format(file=path, stem=stem), f"{stem}.bed"


def refuse_to_convert(path: Path) -> None:
    """Refuse a file that another program has to convert, with its command."""
    ending = ending_to_convert(path)
    if ending is None:
        return
    command, made = conversion(path, ending)
    remark = f" {REMARKS[ending]}" if ending in REMARKS else ""
    raise ArgumentError(
        f"{path}: files of this kind are not read; convert it with `{command}` and give {made}."
        f"{remark}"
    )
