"""
Which of 2000 genes tell tumour from normal tissue, from 62 samples?
====================================================================

The data of Alon et al. (1999), by logistic loss: first one lasso at the penalty 0.05, whose 16
genes are documented for another solver (biglasso), then stability selection: the first 15 genes of
the path on 1000 halves of the rows, with at most one false selection expected.

The folder with the data is the one that the environment variable SELICA_DATA names; the table is
colon_alon1999/colon.csv.gz with the column tumor and the genes.

What to see: the lasso selects the 16 documented genes exactly, but on halves of the rows only two
of them come back more than half of the time, and seven of them less than a fifth of it: one fit
does not tell the stable genes from the others.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import pandas as pd

from selica import LassoSelection, StabilitySelection

# Numbers of the genes, from 1, in the reference of biglasso 1.7.0 for `predict`.
DOCUMENTED = (
    249, 377, 617, 639, 765, 1024, 1325, 1346, 1423, 1482, 1504, 1582, 1641, 1644, 1772, 1870,
)  # fmt: skip

folder = os.environ.get("SELICA_DATA")
if folder is None:
    print("Set SELICA_DATA to the folder that holds colon_alon1999/colon.csv.gz.")
    sys.exit()

table = pd.read_csv(Path(folder, "colon_alon1999", "colon.csv.gz"))
X, y = table.drop(columns="tumor"), table["tumor"]

lasso = LassoSelection(lam=0.05, response="binary").fit(X, y)
found = np.flatnonzero(lasso.get_support()) + 1
same = "the same as" if tuple(found) == DOCUMENTED else "not the same as"
print(f"lasso at 0.05: {found.size} genes, {same} the {len(DOCUMENTED)} documented\n")

stable = StabilitySelection(
    q=15, pfer=1.0, assumption="unimodal", resampling="pairs", n_resamples=1000,
    response="binary", random_state=0,
).fit(X, y)  # fmt: skip
chance = stable.selection_probabilities_
print(f"{'gene':10s} sign  probability  selected  one lasso")
for j in np.argsort(-chance, kind="stable")[:12]:
    print(
        f"{X.columns[j]:10s} {'+' if stable.signs_[j] > 0 else '-':>4s}  "
        f"{chance[j]:11.3f}  {'yes' if stable.support_[j] else '':8s}  "
        f"{'yes' if lasso.support_[j] else ''}"
    )
print(f"\nthreshold {stable.threshold_:.3f}; {stable.guarantee_}")
print("\nthe 16 genes:", " ".join(f"{x:.2f}" for x in np.sort(chance[lasso.support_])[::-1]))
