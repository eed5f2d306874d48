"""
Stability selection at a false discovery rate
=============================================

Which threshold on the selection probability gives one false discovery in ten? It depends on the
penalty, the noise and the size of the table. Message passing knows how large the fields of
irrelevant variables get in the table at hand and sets the threshold by that.
"""

# %%
# Ten tables of 300 rows and 200 independent columns, forty of which matter.
import warnings

import matplotlib.pyplot as plt
import numpy as np

from selica import StabilitySelection
from selica.sampling import simulate
from selica.selectors import UnstableWarning

warnings.simplefilter("ignore", UnstableWarning)  # rates over tables are of interest here
asked = (0.05, 0.1, 0.2)
results = {level: [] for level in asked}
usual = []
for seed in range(10):
    data = simulate(300, 200, 40, r2=0.8, random_state=seed)
    for level in asked:
        chosen = StabilitySelection(fdr=level, random_state=seed)
        found = chosen.fit(data.X, data.y).support_
        wrong = (found & ~data.support).sum() / max(1, found.sum())
        results[level].append((wrong, (found & data.support).sum() / 40, chosen.threshold_))
    found = StabilitySelection("cv", threshold=0.6, n_resamples=60, random_state=seed)
    found = found.fit(data.X, data.y).support_
    usual.append((found & ~data.support).sum() / max(1, found.sum()))

print("level   false (mean, s.e.)    power   thresholds")
for level, runs in results.items():
    wrong, power, threshold = np.transpose(runs)
    error = wrong.std(ddof=1) / np.sqrt(len(wrong))
    print(
        f"{level:5.2f}   {wrong.mean():.3f} ({error:.3f})        {power.mean():.2f}    "
        f"{threshold.min():.2f} to {threshold.max():.2f}"
    )
print(f"usual threshold of 0.6: {np.mean(usual):.2f} of the selected variables are false")

# %%
figure, axes = plt.subplots(figsize=(4.8, 3.8))
axes.plot([0, 0.25], [0, 0.25], color="0.7", lw=1)
means = [np.mean([run[0] for run in results[level]]) for level in asked]
errors = [np.std([run[0] for run in results[level]], ddof=1) / np.sqrt(10) for level in asked]
axes.errorbar(asked, means, yerr=errors, fmt="o", capsize=2)
axes.set(xlabel="level asked for", ylabel="mean share of false selections")

# %%
# **What to see:** the measured rates stay below the levels asked for and grow with them, with a
# threshold that differs from level to level and from table to table; the usual threshold of 0.6
# with a cross-validated penalty has a false discovery rate nobody asked for. This holds for
# columns close to independent, and :doc:`/guarantees` shows where it ends.
