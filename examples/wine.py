"""
What goes with the colour of a wine?
====================================

178 wines from three cultivars, twelve chemical measurements beside the intensity of their colour
(scikit-learn's wine table). A hundred columns of pure noise are added: whatever is selected among
them is false for certain, which shows what a list is worth without knowing the truth.
"""

# %%
import numpy as np
import pandas as pd
from sklearn.datasets import load_wine

from selica import LassoSelection, StabilitySelection

wine = load_wine(as_frame=True).data
y = np.log(wine.pop("color_intensity"))
noise = np.random.default_rng(0).standard_normal((len(wine), 100))
X = pd.concat([wine, pd.DataFrame(noise, columns=[f"noise {k}" for k in range(100)])], axis=1)

# %%
# A lasso that predicts well:
lasso = LassoSelection(random_state=0).fit(X, y)
names = lasso.get_feature_names_out()
false = sum(name.startswith("noise") for name in names)
print(f"one lasso: {len(names)} columns, {false} of them noise")

# %%
# Stability selection under the r-concave bound of Shah and Samworth, with half a false selection
# expected at most:
selector = StabilitySelection(
    pfer=0.5, resampling="pairs", assumption="r-concave", n_resamples=200, random_state=0
).fit(X, y)
print(selector.summary())

# %%
figure = selector.plot()

# %%
# **What to see:** one lasso takes noise along with the chemistry; what returns in the halves is
# chemistry only, led by alcohol and hue. The first column of noise returns in three quarters of the
# halves, and the threshold is nine tenths.
