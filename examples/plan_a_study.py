"""
How many samples does the study need?
=====================================

Before there is any data: 500 candidate variables, perhaps 50 of which matter and explain 70 % of
the variance. One false discovery in ten is allowed. Which method, and how many samples?
"""

# %%
# What would each method find with 400 samples?
from selica import planning

found = planning.compare_methods(400, 500, 50, r2=0.7, fdr=0.1)
print(found)

# %%
figure = found.plot()

# %%
# And how many samples would find 60 % of the signals?
needed = planning.required_samples(0.6, n_features=500, n_signals=50, r2=0.7, fdr=0.1)
print(needed)

# %%
curves = needed.plot()

# %%
# Is the guess about the number of signals crucial? The same strength shared by fewer or more of
# them:
print("signals   samples for power 0.6, knockoffs")
for signals in (20, 50, 100):
    answer = planning.required_samples(
        0.6, n_features=500, n_signals=signals, r2=0.7, fdr=0.1, method="knockoffs"
    )
    print(f"{signals:7d}   {answer.one('knockoffs').value:7d}")

# %%
# **What to see:** the methods differ by a factor of more than five in the samples they need, and
# the order is not that of how cautious they sound: a bound on the expected number of false
# selections is paid for with power, most of all when it assumes nothing.
