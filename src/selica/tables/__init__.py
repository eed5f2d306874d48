"""Read a table as people have it, say what its columns are, and prepare it for a selector."""

from selica._core.linkage import LinkageBlocks
from selica.tables.array_study import is_array_file, prepare_array
from selica.tables.arrays import ArrayTable, read_array
from selica.tables.columns import Columns, Limits
from selica.tables.files import parse_table, read_table
from selica.tables.kinds import ColumnKind
from selica.tables.linkage import read_linkage, write_linkage
from selica.tables.missing import MissingCells
from selica.tables.objects import as_columns
from selica.tables.prepared import Prepared, prepare
from selica.tables.sorted_columns import LeftOut
from selica.tables.variables import split, variables
from selica.tables.zscores import AlignedScores, ZScores, align, read_zscores

__all__ = [
    "AlignedScores",
    "ArrayTable",
    "ColumnKind",
    "Columns",
    "LeftOut",
    "Limits",
    "LinkageBlocks",
    "MissingCells",
    "Prepared",
    "ZScores",
    "align",
    "as_columns",
    "is_array_file",
    "parse_table",
    "prepare",
    "prepare_array",
    "read_array",
    "read_linkage",
    "read_table",
    "read_zscores",
    "split",
    "variables",
    "write_linkage",
]
