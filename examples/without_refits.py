"""
Selection probabilities without a single refit
==============================================

Hundreds of refits, or one run of message passing? Both give the probability that a resample
selects a variable. Where columns are close to independent, the second also knows how large the
fields of irrelevant variables get, and sets a threshold for a level of the false discovery rate.
"""

# %%
import time
import warnings

import matplotlib.pyplot as plt
import numpy as np

from selica import StabilitySelection
from selica.amp import stability_amp
from selica.sampling import simulate

warnings.simplefilter("ignore")
data = simulate(600, 900, 40, snr=4.0, random_state=1)


def seconds(run):
    run()  # the first call imports and warms up
    start = time.perf_counter()
    result = run()
    return time.perf_counter() - start, result


lam = 0.05
slow, refits = seconds(
    lambda: StabilitySelection(lam, n_resamples=500, random_state=0).fit(data.X, data.y)
)
fast, passed = seconds(
    lambda: StabilitySelection(lam, engine="semi-analytic", random_state=0).fit(data.X, data.y)
)
P, Q = refits.selection_probabilities_, passed.selection_probabilities_
noise = np.sqrt(np.mean(P * (1 - P) / 500))
print(f"500 refits          {slow:6.2f} s   (their own error {noise:.4f})")
print(f"message passing     {fast:6.2f} s   RMS difference {np.sqrt(np.mean((P - Q) ** 2)):.4f}")

# %%
figure, axes = plt.subplots(figsize=(4.2, 4.0))
axes.plot([0, 1], [0, 1], color="0.7", lw=1)
axes.plot(P, Q, ".", ms=4)
axes.set(xlabel="500 refits", ylabel="message passing", title="selection probability")

# %%
# The error of the averaged fit on new rows says which penalty and which rate order variables best;
# no truth is needed to estimate it.
print("Estimated errors:")
X = (data.X - data.X.mean(0)) / data.X.std(0)
y = (data.y - data.y.mean()) / data.y.std()
path = np.geomspace(0.2, 0.01, 12)
for rate in (0.5, 1.0, 2.0):
    found = stability_amp(X, y, path * rate * len(y), rate, variances="scalar")
    best = found.ensemble_error.argmin()
    print(f"rate {rate:3.1f}: smallest {found.ensemble_error[best]:.4f} at lam = {path[best]:.3f}")

# %%
# A threshold for each level of the false discovery rate:
for fdr in (0.05, 0.1, 0.2):
    chosen = StabilitySelection(fdr=fdr, engine="auto", random_state=0).fit(data.X, data.y)
    false = np.count_nonzero(chosen.support_ & ~data.support)
    found = np.count_nonzero(chosen.support_ & data.support)
    print(f"FDR {fdr:4.2f}: threshold {chosen.threshold_:.3f}, {found} of 40 found, {false} false")

# %%
# **What to see:** 500 refits and message passing give one answer, up to the error of the refits
# themselves, and the second takes a fraction of the time; a larger resampling rate orders the
# variables better; and more false selections come with a larger level.
