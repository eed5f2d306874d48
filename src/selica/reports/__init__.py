"""Read a table, select from it, write a report: what the command line and the app share."""

from selica.reports.demo import demo_table
from selica.reports.report import write_report
from selica.reports.selection import Selection, select
from selica.reports.tables import Columns, read_table, split

__all__ = [
    "Columns",
    "Selection",
    "demo_table",
    "read_table",
    "select",
    "split",
    "write_report",
]
