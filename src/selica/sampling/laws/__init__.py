"""Laws of the columns: ways to estimate their covariance, each a file of its own.

A law assumes a structure, and is right where the columns have it: `table` lists the laws,
`held_out` says which of them describes rows best that it was not fitted to.
"""

from selica.sampling.laws.held_out import Judged, best_law
from selica.sampling.laws.table import LAWS, ColumnLaw, law_names

__all__ = ["LAWS", "ColumnLaw", "Judged", "best_law", "law_names"]
