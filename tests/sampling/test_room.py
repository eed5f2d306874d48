"""What the room needs, and what it shows."""

from __future__ import annotations

from selica import sampling
from tests.test_package import loaded_by


def test_nothing_heavy_is_loaded():
    loaded = loaded_by("import selica.sampling")
    assert loaded & {"sklearn", "matplotlib", "pandas"} == set()


def test_public_names():
    names = {"GaussianKnockoffs", "s_matrix", "resample_weights", "simulate", "iid_copies"}
    names |= {"FixedKnockoffs", "callable_copies", "ledoit_wolf"}
    assert names <= {*sampling.__all__}
    assert all(hasattr(sampling, name) for name in sampling.__all__)
