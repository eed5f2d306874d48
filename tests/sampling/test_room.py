"""What the room needs, and what it shows."""

from __future__ import annotations

import subprocess
import sys

from selica import sampling


def test_nothing_heavy_is_loaded():
    code = (
        "import sys, selica.sampling; "
        "print([m for m in ('sklearn', 'numba', 'matplotlib', 'pandas') if m in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_public_names():
    names = {"GaussianKnockoffs", "s_matrix", "resample_weights", "simulate", "iid_copies"}
    names |= {"FixedKnockoffs", "callable_copies", "ledoit_wolf"}
    assert names <= {*sampling.__all__}
    assert all(hasattr(sampling, name) for name in sampling.__all__)
