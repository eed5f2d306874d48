"""
Nothing was selected. Now what?
===============================

An empty list is an answer, and there are different reasons for it: the rule cannot select so few
variables, the signals are too weak for this many samples, or there is nothing to find.
`explain()` and `planning.diagnose` tell them apart.
"""

# %%
# **A rule that cannot.** Six strong signals, at a false discovery rate of 0.1:
import warnings

from selica import KnockoffSelection, StabilitySelection, planning
from selica.sampling import simulate
from selica.selectors import UnstableWarning
from selica.theory import PointEffects

few = simulate(300, 60, 6, r2=0.9, effects=PointEffects(), random_state=0)
knockoffs = KnockoffSelection(fdr=0.1, sampler="iid", random_state=0).fit(few.X, few.y)
print(knockoffs.explain())

# %%
# The signals are there: another promise, on the expected number of false selections, finds
# them.
warnings.simplefilter("ignore", UnstableWarning)
bound = StabilitySelection(pfer=1.0, assumption="unimodal", n_resamples=100, random_state=0).fit(
    few.X, few.y
)
found = bound.support_
print(f"{(found & few.support).sum()} of 6 found, {(found & ~few.support).sum()} false")

# %%
figure = knockoffs.plot()

# %%
# **Too few samples.** Forty signals that explain 60 % of the variance, in 150 rows. The diagnosis
# knows neither number and estimates both, roughly:
weak = simulate(150, 200, 40, r2=0.6, random_state=1)
knockoffs = KnockoffSelection(fdr=0.1, sampler="iid", random_state=0).fit(weak.X, weak.y)
print(knockoffs.explain())
print()
print(planning.diagnose(knockoffs, weak.X, weak.y, power=0.5))

# %%
# **Nothing to find.** A table of that size and a response that has nothing to do with it:
nothing = simulate(150, 200, 0, noise_variance=1.0, random_state=2)
knockoffs = KnockoffSelection(fdr=0.1, sampler="iid", random_state=0).fit(nothing.X, nothing.y)
print(planning.diagnose(knockoffs, nothing.X, nothing.y, power=0.5))

# %%
# **What to see:** three empty lists for three reasons. In the first, the rule needs ten variables
# and there were six; in the second the data hold signals, and the diagnosis says how many samples
# would show half of them; in the third it finds no
# sign that any variable matters.
