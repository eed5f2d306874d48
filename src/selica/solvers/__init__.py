"""Arrays in, arrays and a certificate out: whole ensembles of penalised fits as one computation."""

from selica.solvers.lasso import (
    knockoff_path_batch,
    lasso_batch,
    lasso_path_batch,
    logistic_path_batch,
)
from selica.solvers.results import LassoBatch

__all__ = [
    "LassoBatch",
    "knockoff_path_batch",
    "lasso_batch",
    "lasso_path_batch",
    "logistic_path_batch",
]
