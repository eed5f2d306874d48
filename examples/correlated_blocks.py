"""
Correlated blocks: who stands for the signal?
=============================================

In a block of correlated columns, one acts and its neighbours look alike. Resamples then disagree
on which of them to take, and the probability of the right one falls. What happens to the error
rates, and does a method that knows the correlation do better?
"""

# %%
# 300 rows, 100 columns in twenty blocks of five; fifteen columns act, at correlations within a
# block of 0, 0.5, 0.8 and 0.9. Knockoffs are given the true covariance.
import warnings

import matplotlib.pyplot as plt
import numpy as np

from selica import DerandomizedKnockoffs, StabilitySelection
from selica.sampling import GaussianKnockoffs, simulate
from selica.selectors import UnstableWarning
from selica.theory import PointEffects

warnings.simplefilter("ignore", UnstableWarning)  # rates over tables are of interest here
levels = (0.0, 0.5, 0.8, 0.9)
rates = {"stability, threshold 0.9": [], "knockoffs, FDR 0.2": []}
for level in levels:
    rows = {name: [] for name in rates}
    for seed in range(6):
        data = simulate(
            300, 100, 15, r2=0.8, covariance=("block", level, 5), effects=PointEffects(),
            random_state=seed,
        )  # fmt: skip
        copies = GaussianKnockoffs(np.zeros(100), np.asarray(data.covariance))
        selectors = (
            StabilitySelection("cv", threshold=0.9, n_resamples=100, random_state=0),
            DerandomizedKnockoffs(0.2, n_copies=20, sampler=copies, lam=0.03, random_state=0),
        )
        for name, selector in zip(rates, selectors, strict=True):
            found = selector.fit(data.X, data.y).support_
            rows[name].append(
                (
                    (found & data.support).sum() / 15,
                    (found & ~data.support).sum() / max(1, found.sum()),
                )
            )
    for name in rates:
        rates[name].append(np.mean(rows[name], axis=0))

print("correlation   " + "   ".join(f"{name}: power, false" for name in rates))
for k, level in enumerate(levels):
    print(
        f"{level:11.1f}   "
        + "   ".join(f"{rates[name][k][0]:24.2f}, {rates[name][k][1]:5.2f}" for name in rates)
    )

# %%
figure, (power, false) = plt.subplots(1, 2, figsize=(7.5, 3.2))
for name, values in rates.items():
    power.plot(levels, np.transpose(values)[0], "o-", label=name)
    false.plot(levels, np.transpose(values)[1], "o-", label=name)
power.set(xlabel="correlation in a block", ylabel="power", ylim=(0, 1.02))
false.set(xlabel="correlation in a block", ylabel="share of false selections", ylim=(0, 0.5))
power.legend(frameon=False, fontsize=8)
figure.tight_layout()

# %%
# **What to see:** power falls for both as neighbours become alike, since the data no longer say
# who acts. Knockoffs that know the correlation stay below their level and select less. A
# fixed threshold on frequencies selects more and promises nothing: its share of false selections
# grows with the correlation.
