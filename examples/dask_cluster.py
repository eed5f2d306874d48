"""
The same answer on a cluster
============================

Selectors and solvers take `n_jobs` and go through joblib, so that any of its backends does the
work: processes of this machine, Dask, Ray. Here a Dask cluster of two workers on this machine
stands in for a large one; only the address would change.
"""

# %%
import warnings

import joblib
import numpy as np
from distributed import Client, LocalCluster

from selica import StabilitySelection
from selica.sampling import simulate
from selica.selectors import UnstableWarning

data = simulate(150, 500, 12, r2=0.8, random_state=0)
settings = {"q": 12, "pfer": 1.0, "assumption": "unimodal", "resampling": "pairs"}
settings |= {"n_resamples": 100, "random_state": 0}


def main():
    warnings.simplefilter("ignore", UnstableWarning)  # the column "close call" says it
    alone = StabilitySelection(**settings).fit(data.X, data.y)
    options = {"processes": True, "host": "127.0.0.1", "dashboard_address": None}
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, **options) as cluster,
        Client(cluster) as client,
        joblib.parallel_config(backend="dask"),
    ):
        print("workers:", len(client.scheduler_info()["workers"]))
        together = StabilitySelection(**settings, n_jobs=2).fit(data.X, data.y)

    same = np.array_equal(alone.selection_probabilities_, together.selection_probabilities_)
    print("the same probabilities to the last bit:", same)
    print("selected:", ", ".join(together.get_feature_names_out()))


# %%
# Workers are processes that import this file, so that a script starts them behind this line:
if __name__ == "__main__":
    main()

# %%
# **What to see:** two workers and one process give the same probabilities to the last bit,
# because every resample has a seed of its own and the pieces of work follow from the problem, not
# from who does them.
