"""Select from a table, write a report: what the command line and the app share."""

from selica.reports.asking import answer_to, select
from selica.reports.bundle import write_bundle
from selica.reports.demo import demo_table
from selica.reports.provenance import FileIdentity, Provenance
from selica.reports.report import report_zip, write_report
from selica.reports.selection import Selection, answer

__all__ = [
    "FileIdentity",
    "Provenance",
    "Selection",
    "answer",
    "answer_to",
    "demo_table",
    "report_zip",
    "select",
    "write_bundle",
    "write_report",
]
