"""Losses: all that the rooms have to know of a response, one file for each."""

from selica._core.losses.base import HeldOut, Loss, RowLoss
from selica._core.losses.cox import CoxLoss
from selica._core.losses.logistic import LogisticLoss
from selica._core.losses.multinomial import MultinomialLoss
from selica._core.losses.poisson import PoissonLoss
from selica._core.losses.rooms import require, treats
from selica._core.losses.squared import SquaredLoss
from selica._core.losses.table import LOSSES, loss_of, read_response, register, responses

__all__ = [
    "LOSSES",
    "CoxLoss",
    "HeldOut",
    "LogisticLoss",
    "Loss",
    "MultinomialLoss",
    "PoissonLoss",
    "RowLoss",
    "SquaredLoss",
    "loss_of",
    "read_response",
    "register",
    "require",
    "responses",
    "treats",
]
