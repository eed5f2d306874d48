"""What the room needs, and what it shows."""

from __future__ import annotations

import subprocess
import sys

from selica import control


def test_nothing_heavy_is_loaded():
    code = (
        "import sys, selica.control; "
        "print([m for m in ('sklearn', 'numba', 'matplotlib', 'pandas') if m in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_public_names():
    names = {
        "stability_bound",
        "stability_parameters",
        "knockoff_threshold",
        "knockoff_evalues",
        "ebh",
        "first_negatives_filter",
        "benjamini_hochberg",
        "benjamini_yekutieli",
        "quantile_aggregation",
        "frequency_bound",
        "mirror_threshold",
        "inclusion_rate_cutoff",
        "fdp",
        "tpp",
        "kfwer_parameters",
        "knockoff_pvalues",
    }
    assert names <= {*control.__all__}
    assert all(getattr(control, name).__doc__ for name in control.__all__)
