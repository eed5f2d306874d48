"""
Which of 4000 genes, from 71 samples?
=====================================

Gene expression has far more columns than rows, and genes of one pathway move together. Stability
selection draws half of the rows again and again, takes the first genes of the lasso's path in
each half, and keeps those that return. The table is simulated, with the size of a well-known one
(riboflavin production), so that the truth is known.
"""

# %%
# Forty hidden factors make the genes correlated; four genes act on the response and explain 90 %
# of its variance.
import warnings

import numpy as np

from selica import LassoSelection, StabilitySelection
from selica.sampling import simulate
from selica.selectors import UnstableWarning
from selica.theory import PointEffects

data = simulate(
    71, 4000, 4, r2=0.9, covariance=("factor", 40, 0.5), effects=PointEffects(), random_state=3
)
size = np.abs(np.corrcoef(data.X[:, :500].T)[np.triu_indices(500, 1)])
print(f"correlation of two genes: {np.median(size):.2f} in the median, up to {size.max():.2f}")

# %%
# One lasso with a cross-validated penalty selects whatever helps it to predict.
lasso = LassoSelection(random_state=0).fit(data.X, data.y)
true = int((lasso.support_ & data.support).sum())
print(f"one lasso: {lasso.support_.sum()} genes, {true} of the 4 among them")

# %%
# Each half of the rows selects its first 15 genes. How often a gene must return follows from the
# number of false selections that may be expected: one.
warnings.simplefilter("ignore", UnstableWarning)  # the column "close call" says it
selector = StabilitySelection(
    q=15, pfer=1.0, assumption="unimodal", resampling="pairs", n_resamples=400, random_state=0
).fit(data.X, data.y)
print(selector.summary())
print("true genes:", ", ".join(f"x{j}" for j in np.flatnonzero(data.support)))

# %%
figure = selector.plot()

# %%
# **What to see:** the lasso's list is eleven times longer than the truth and does not say which
# of its genes to trust. The four genes that return most often are the four true ones; the bound
# on false selections lets two of them through, and no false one.
