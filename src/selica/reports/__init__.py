"""Read a table, select from it, write a report: what the command line and the app share."""

from selica.reports.bundle import write_bundle
from selica.reports.demo import demo_table
from selica.reports.provenance import FileIdentity, Provenance
from selica.reports.report import report_zip, write_report
from selica.reports.selection import Selection, select
from selica.tables import Columns, Limits, parse_table, read_table, split, variables

__all__ = [
    "Columns",
    "FileIdentity",
    "Limits",
    "Provenance",
    "Selection",
    "demo_table",
    "parse_table",
    "read_table",
    "report_zip",
    "select",
    "split",
    "variables",
    "write_bundle",
    "write_report",
]
