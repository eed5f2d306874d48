"""What the room needs, and what it shows."""

from __future__ import annotations

from selica import control
from selica.control import thresholds
from tests.test_package import loaded_by


def test_nothing_heavy_is_loaded():
    loaded = loaded_by("import selica.control")
    assert loaded & {"sklearn", "matplotlib", "pandas"} == set()


def test_public_names():
    names = {
        "stability_bound",
        "stability_parameters",
        "supported_bound",
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


def test_thresholds_are_shares_that_the_bounds_allow():
    assert 0.5 < thresholds.USUAL_THRESHOLD < thresholds.THRESHOLD <= 1.0  # bounds need a half
    assert 0.0 < thresholds.LOWEST_PROBABILITY < thresholds.USUAL_THRESHOLD
    assert 0.0 < thresholds.CARRIED_SHARE < 1.0
