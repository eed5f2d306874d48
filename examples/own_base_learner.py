"""
A base learner of your own
==========================

The lasso sees straight lines. Any estimator with `coef_` or `feature_importances_` can take its
place, in stability selection and in knockoffs. Here the response depends on the square of some
variables, which no linear model can see.
"""

# %%
import warnings

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.ensemble import ExtraTreesRegressor

from selica import DerandomizedKnockoffs, StabilitySelection
from selica.selectors import UnstableWarning

rng = np.random.default_rng(0)
X = rng.standard_normal((400, 40))
y = X[:, 0] + X[:, 1] + X[:, 2] ** 2 + X[:, 3] ** 2 + 0.5 * rng.standard_normal(400)
print("the truth: x0, x1 (straight), x2, x3 (squared)")

# %%
# With the lasso, with trees, and with ten lines of one's own: the correlation of y with a column
# and with its square, whichever is larger.
bound = {"q": 6, "pfer": 1.0, "assumption": "unimodal", "resampling": "pairs"}
bound |= {"n_resamples": 50, "random_state": 0}


class Curved(RegressorMixin, BaseEstimator):
    """Importance of a column: how well a line or a parabola in it alone follows y."""

    def fit(self, X, y):
        both = [np.corrcoef(shape.T, y)[-1, :-1] for shape in (X, (X - X.mean(0)) ** 2)]
        self.feature_importances_ = np.abs(both).max(axis=0)
        return self


warnings.simplefilter("ignore", UnstableWarning)
trees = ExtraTreesRegressor(40, max_depth=5, random_state=0)
for name, learner in {"lasso": None, "trees": trees, "Curved": Curved()}.items():
    selector = StabilitySelection(estimator=learner, **bound).fit(X, y)
    print(f"{name:7s} {', '.join(selector.get_feature_names_out())}")

# %%
# Knockoffs compare the importance of a variable with that of its copy, so that their promise
# holds whatever the learner is:
knockoffs = DerandomizedKnockoffs(
    pfer=1.0, n_copies=10, sampler="iid", estimator=trees, random_state=0
).fit(X, y)
print(knockoffs.summary())
figure = knockoffs.plot()

# %%
# **What to see:** the lasso finds the straight effects only; trees and the ten lines find all
# four, under the same bound on false selections, because the bound is about what returns and not
# about what the learner is.
