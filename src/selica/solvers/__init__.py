"""Arrays in, arrays and a certificate out: whole ensembles of penalised fits as one computation."""

from selica.solvers.designs import int8_design, pack_two_bit, side_by_side, two_bit_design
from selica.solvers.lasso import (
    cox_path_batch,
    knockoff_path_batch,
    lasso_batch,
    lasso_path_batch,
    logistic_path_batch,
    poisson_path_batch,
)
from selica.solvers.multinomial import MultinomialBatch, multinomial_path_batch
from selica.solvers.quadratic import QuadraticFit, quadratic_lasso
from selica.solvers.results import LassoBatch

__all__ = [
    "LassoBatch",
    "MultinomialBatch",
    "QuadraticFit",
    "cox_path_batch",
    "int8_design",
    "knockoff_path_batch",
    "lasso_batch",
    "lasso_path_batch",
    "logistic_path_batch",
    "multinomial_path_batch",
    "pack_two_bit",
    "poisson_path_batch",
    "quadratic_lasso",
    "side_by_side",
    "two_bit_design",
]
