"""
Does the theory hold for a study of this size?
==============================================

Stability selection and knockoffs over many copies on simulated data with 100 variables and 150
samples, beside what the theory of infinitely large systems says for the same number of members.
"""

# %%
import matplotlib.pyplot as plt

from selica import experiments

table = experiments.sweep(
    method=["stability-ideal", "knockoffs-frequency"],
    alpha=1.5, rho=0.2, Delta=0.05, lam=[0.2, 0.4, 0.8],
    threshold=0.3, Pi_th=0.5, N=100, n_members=50, n_datasets=40, random_state=0,
)  # fmt: skip

print("method               lam  quantity   simulated (error)   theory   deviation in s.e.")
rows = experiments.deviations(table).where(quantity=("tpr", "fdr_pooled"))
for row in rows:
    print(
        f"{row['method']:19}  {row['lam']:.1f}  {row['quantity']:10}  {row['value']:.3f} "
        f"({row['error']:.3f})      {row['theory']:.3f}   {row['deviation']:+6.1f}"
    )

# %%
figure, axes = plt.subplots(figsize=(4.4, 4.0))
axes.plot([0, 1], [0, 1], color="0.7", lw=1)
for quantity, marker in {"tpr": "o", "fdr_pooled": "s"}.items():
    points = [(row["theory"], row["value"], row["error"]) for row in rows.where(quantity=quantity)]
    predicted, simulated, errors = zip(*points, strict=True)
    label = {"tpr": "power", "fdr_pooled": "FDR"}[quantity]
    axes.errorbar(predicted, simulated, yerr=errors, fmt=marker, mfc="white", label=label)
axes.set(xlabel="theory", ylabel="simulated")
axes.legend(frameon=False)

# %%
# **What to see:** with 40 data sets every simulated rate lies within a few standard errors of the
# theory, although the study is small.
