"""Select from a table, write a report: what the command line and the app share."""

from selica.reports.demo import demo_table
from selica.reports.report import report_zip, write_report
from selica.reports.selection import Selection, select

__all__ = [
    "Selection",
    "demo_table",
    "report_zip",
    "select",
    "write_report",
]
