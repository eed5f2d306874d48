"""Effects with sizes: variances by hand, one for all signals, and what cannot be."""

from __future__ import annotations

import math

import numpy as np
import pytest

from selica.planning import (
    Betas,
    Binary,
    Counts,
    HazardRatios,
    Numeric,
    OddsRatios,
    RateRatios,
    Study,
    Survival,
    compare_methods,
)

RATIOS = [(OddsRatios, Binary()), (RateRatios, Counts()), (HazardRatios, Survival())]


def test_betas_are_in_standard_deviations_of_the_response():
    """Effects b in units of noise one give betas b over the deviation of y, in drawn data."""
    rng = np.random.default_rng(0)
    b = np.array([0.5, -0.3, 0.2])
    X = rng.standard_normal((200_000, 3))
    y = X @ b + rng.standard_normal(len(X))
    betas = X.T @ y / len(X) / y.std()
    law = Betas(betas)
    assert law.sizes == pytest.approx(b, abs=0.01)
    assert law.variance() == pytest.approx(b @ b, abs=0.01)
    study = Study.of(100, 20, effects=law)
    assert study.r2 == pytest.approx((X @ b).var() / y.var(), abs=0.01)
    assert study.r2 == pytest.approx(betas @ betas, rel=1e-12)
    assert study.n_signals == 3


def test_equal_betas_are_the_share_that_they_explain():
    study = Study.of(100, 50, 4, effects=Betas(0.3))
    assert study.r2 == pytest.approx(4 * 0.09)
    assert study.typical_effect == "standardised beta 0.3"
    assert study.effects.label == "equal effects"


@pytest.mark.parametrize(("kind", "response"), RATIOS, ids=lambda one: str(one))
def test_ratios_are_exponentials_of_effects(kind, response):
    study = Study.of(100, 20, effects=kind([2.0, 0.5, 1.25]), response=response)
    by_hand = 2 * math.log(2.0) ** 2 + math.log(1.25) ** 2
    assert study.snr == pytest.approx(by_hand, rel=1e-12)
    assert study.n_signals == 3
    typical = math.exp(math.sqrt(by_hand / 3.0))
    assert study.typical_effect == f"{response.ratio} {typical:.3g} per standard deviation"
    assert study.effects.label == "3 given effects"


@pytest.mark.parametrize(("kind", "response"), RATIOS, ids=lambda one: str(one))
def test_one_ratio_is_that_of_all_signals(kind, response):
    study = Study.of(100, 20, 5, effects=kind(1.5), response=response)
    assert study.snr == pytest.approx(5 * math.log(1.5) ** 2, rel=1e-12)
    assert study.typical_effect.endswith(" 1.5 per standard deviation")
    assert study.effects.label == "equal effects"


def test_a_ratio_and_its_inverse_are_equally_strong():
    up, down = OddsRatios([1.5, 1.5]), OddsRatios([1 / 1.5, 1.5])
    assert up.variance() == pytest.approx(down.variance(), rel=1e-12)


def test_sizes_predict_what_the_same_strength_predicts():
    """Equal odds ratios are equal effects of the same root mean square."""
    from selica.theory import PointEffects

    one = {"response": Binary(0.2), "methods": "stability-pfer"}
    sized = compare_methods(300, 60, 6, effects=OddsRatios(2.0), **one)
    point = compare_methods(300, 60, 6, effect_size=math.log(2.0), effects=PointEffects(), **one)
    powers = [found.one("stability-pfer").power for found in (sized, point)]
    assert powers[0] == pytest.approx(powers[1], abs=1e-9)


@pytest.mark.parametrize(
    ("kind", "values", "message"),
    [
        (Betas, [], "^Betas must not be empty"),
        (Betas, [0.1, math.nan], "^Betas must be finite; got nan"),
        (Betas, ["a"], "^Betas must be numbers"),
        (Betas, [0.3, 0.0], "^Betas must not stand for no effect; got 0: leave"),
        (Betas, [0.8, 0.7], "the sum of their squares is 1.13, and has to be below 1"),
        (OddsRatios, [1.5, 0.0], "^OddsRatios must be above 0; got 0"),
        (HazardRatios, [-2.0], "^HazardRatios must be above 0; got -2"),
        (RateRatios, [1.2, 1.0], "^RateRatios must not stand for no effect; got 1"),
    ],
)
def test_sizes_that_cannot_be(kind, values, message):
    with pytest.raises(ValueError, match=message):
        kind(values)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"effects": OddsRatios([1.5])}, "OddsRatios must go with a binary response; the response"),
        (
            {"effects": Betas([0.1]), "response": Survival()},
            "Betas must go with a numeric response",
        ),
        (
            {"effects": Betas([0.1, 0.2]), "n_signals": 3},
            "n_signals must be the number of betas, 2",
        ),
        ({"effects": Betas([0.1]), "r2": 0.5}, "r2 must be left out: betas have a size"),
        ({"effects": Betas(0.4), "n_signals": 10}, "the sum of their squares is 1.6"),
        ({"effects": Betas([0.01] * 21)}, "n_signals must be at most n_features = 20"),
        (
            {"effects": RateRatios(50.0), "n_signals": 5, "response": Counts()},
            "RateRatios must stand for weaker effects",
        ),
    ],
)
def test_sizes_that_do_not_go_with_the_study(given, message):
    with pytest.raises(ValueError, match=message):
        Study.of(100, 20, **({"n_signals": None} | given))


@pytest.mark.parametrize(
    ("kind", "response", "unit"),
    [
        (Betas, Numeric, "beta"),
        (OddsRatios, Binary, "odds ratio"),
        (RateRatios, Counts, "rate ratio"),
        (HazardRatios, Survival, "hazard ratio"),
    ],
)
def test_every_kind_has_a_unit_and_a_response(kind, response, unit):
    assert (kind.response, kind.unit) == (response, unit)
    assert repr(kind([0.3, 0.2])) == f"{kind.__name__}(2 values)"
