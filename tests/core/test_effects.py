"""Laws of effects: unit second moment, their mixtures and their draws."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from scipy.stats import norm

from selica._core.effects import (
    Effects,
    EmpiricalEffects,
    GaussianEffects,
    LaplaceEffects,
    Mixture,
    PointEffects,
    check_effects,
    effects_of,
)
from selica._core.errors import ArgumentError

STUDY = [0.3, -1.2, 2.0, 0.3, -0.05, 0.7]
LAWS = [
    GaussianEffects(),
    LaplaceEffects(),
    PointEffects(),
    PointEffects([1.0, 3.0], weights=[4.0, 1.0]),
    PointEffects([1.0, -2.0, 5.0], signs="given"),
    EmpiricalEffects(STUDY),
]


def moment(mixture, k):
    """E w^k from the moments of normal laws, k = 1, 2, 4."""
    m, s = mixture.mean, mixture.sd
    each = {1: m, 2: m**2 + s**2, 4: m**4 + 6 * m**2 * s**2 + 3 * s**4}[k]
    return mixture.probability @ each


def tail(mixture, t):
    """P(|w| > t) of a mixture with spread."""
    up = norm.sf((t - mixture.mean) / mixture.sd) + norm.sf((t + mixture.mean) / mixture.sd)
    return mixture.probability @ up


@pytest.mark.parametrize("law", LAWS, ids=repr)
def test_second_moment_is_one(law):
    mixture = law.mixture()
    assert np.all(mixture.probability >= 0.0)
    assert mixture.probability.sum() == pytest.approx(1.0, abs=1e-14)
    assert moment(mixture, 2) == pytest.approx(1.0, abs=1e-13)


@pytest.mark.parametrize("t", [1e-3, 0.1, 0.5, 1.0, 2.0, 4.0, 8.0])
def test_the_laplace_mixture_has_the_laplace_tail(t):
    assert tail(LaplaceEffects().mixture(), t) == pytest.approx(np.exp(-np.sqrt(2) * t), abs=1e-12)


def test_fourth_moments():
    assert moment(GaussianEffects().mixture(), 4) == pytest.approx(3.0, rel=1e-14)
    assert moment(LaplaceEffects().mixture(), 4) == pytest.approx(6.0, rel=1e-12)
    # sizes 1 and 3, odds 4 : 1, scaled by E w^2 = 13/5
    two = PointEffects([1.0, 3.0], weights=[4.0, 1.0])
    assert moment(two.mixture(), 4) == pytest.approx((4 + 81) / 5 / (13 / 5) ** 2, rel=1e-14)
    w = np.array(STUDY)
    want = np.mean(w**4) / np.mean(w**2) ** 2
    assert moment(EmpiricalEffects(w).mixture(), 4) == pytest.approx(want, rel=1e-13)


@pytest.mark.parametrize("law", LAWS, ids=repr)
def test_folding_keeps_even_averages(law):
    mixture = law.mixture()
    folded = mixture.folded()
    assert np.all(folded.mean >= 0.0)
    assert folded.mean.size <= mixture.mean.size
    for k in (2, 4):
        assert moment(folded, k) == pytest.approx(moment(mixture, k), rel=1e-14)
    # smeared, so that points have a tail too
    wide, wide_folded = (x._replace(sd=np.hypot(x.sd, 0.4)) for x in (mixture, folded))
    for t in (0.1, 0.9, 2.0):
        assert tail(wide_folded, t) == pytest.approx(tail(wide, t), rel=1e-13)


def test_folding_joins_a_value_with_its_mirror_image():
    assert PointEffects().mixture().folded().mean.size == 1
    assert PointEffects([1.0, 2.0]).mixture().folded().mean.size == 2
    mixed = Mixture(np.array([1.0, -1.0, 1.0]), np.array([0.1, 0.1, 0.2]), np.full(3, 1 / 3))
    folded = mixed.folded()
    np.testing.assert_array_equal(folded.mean, [1.0, 1.0])
    order = np.argsort(folded.sd)
    np.testing.assert_allclose(folded.sd[order], [0.1, 0.2])
    np.testing.assert_allclose(folded.probability[order], [2 / 3, 1 / 3])


def test_point_effects_keep_ratios_and_odds():
    law = PointEffects([2.0, -6.0], weights=[3.0, 1.0], signs="given")
    scale = np.sqrt(0.75 * 4 + 0.25 * 36)
    np.testing.assert_allclose(law.values, [2.0 / scale, -6.0 / scale], rtol=1e-14)
    np.testing.assert_allclose(law.weights, [0.75, 0.25], rtol=1e-15)
    mixture = law.mixture()
    np.testing.assert_allclose(mixture.mean, law.values)
    np.testing.assert_allclose(mixture.probability, law.weights)
    np.testing.assert_array_equal(mixture.sd, [0.0, 0.0])
    assert moment(mixture, 1) == pytest.approx(0.0, abs=1e-14)  # 3 * 2 = 1 * 6


def test_random_signs_are_fair():
    mixture = PointEffects([1.0, -4.0], weights=[5.0, 2.0]).mixture()
    for value in np.unique(np.abs(mixture.mean)):
        plus = mixture.probability[np.isclose(mixture.mean, value)].sum()
        minus = mixture.probability[np.isclose(mixture.mean, -value)].sum()
        assert plus == pytest.approx(minus, rel=1e-15)
    assert PointEffects(3.0).values == (1.0,)
    assert PointEffects(-3.0, signs="given").values == (-1.0,)


def test_a_value_of_no_weight_changes_nothing():
    with_it = PointEffects([1.0, 2.0, 100.0], weights=[1.0, 1.0, 0.0], signs="given").mixture()
    without = PointEffects([1.0, 2.0], signs="given").mixture()
    assert moment(with_it, 4) == pytest.approx(moment(without, 4), rel=1e-13)


@pytest.mark.parametrize("scale", [1e-200, 1e-3, 1e200])
def test_the_unit_of_the_effects_does_not_matter(scale):
    np.testing.assert_allclose(
        EmpiricalEffects(scale * np.array(STUDY)).values, EmpiricalEffects(STUDY).values, rtol=1e-13
    )


def test_empirical_effects_count_repeated_values_once():
    mixture = EmpiricalEffects(STUDY).mixture()
    assert mixture.mean.size == 5  # 0.3 occurs twice
    unit = 0.3 / np.sqrt(np.mean(np.square(STUDY)))
    assert mixture.probability[np.isclose(mixture.mean, unit)].sum() == pytest.approx(2 / 6)
    assert repr(EmpiricalEffects(np.arange(1, 1001))) == "EmpiricalEffects(1000 values)"


@pytest.mark.parametrize("law", LAWS, ids=repr)
def test_samples_follow_the_law(law):
    size = 400_000
    w = law.sample(size, np.random.default_rng(11))
    mixture = law.mixture()
    for k in (1, 2):
        error = np.std(w**k) / np.sqrt(size)
        assert abs(np.mean(w**k) - moment(mixture, k)) <= 5 * error + 1e-12
    eighth = {"GaussianEffects": 105.0, "LaplaceEffects": 2520.0}.get(type(law).__name__)
    if eighth is None:  # points: their own empirical law
        eighth = mixture.probability @ mixture.mean**8
    error = np.sqrt((eighth - moment(mixture, 4) ** 2) / size)
    assert abs(np.mean(w**4) - moment(mixture, 4)) <= 5 * error + 1e-12
    if not mixture.sd.any():
        values, number = np.unique(np.round(w, 12), return_counts=True)
        order = np.argsort(mixture.mean)
        np.testing.assert_allclose(values, mixture.mean[order], atol=1e-11)
        p = mixture.probability[order]
        assert np.all(np.abs(number / size - p) <= 5 * np.sqrt(p * (1 - p) / size))


@pytest.mark.parametrize("law", LAWS, ids=repr)
def test_samples_depend_on_the_generator_alone(law):
    first, again = (law.sample((3, 4), np.random.default_rng(5)) for _ in range(2))
    assert first.shape == (3, 4)
    np.testing.assert_array_equal(first, again)
    rng = np.random.default_rng(5)
    law.sample((3, 4), rng)
    assert not np.array_equal(law.sample((3, 4), rng), law.sample((3, 4), rng))


BAD = [
    (lambda: PointEffects(0.0), "values"),
    (lambda: PointEffects([1.0, 0.0]), "values"),
    (lambda: PointEffects([1.0, np.nan]), "values"),
    (lambda: PointEffects(np.inf), "values"),
    (lambda: PointEffects("large"), "values"),
    (lambda: PointEffects([1.0, None]), "values"),
    (lambda: PointEffects([1.0 + 2.0j]), "values"),
    (lambda: PointEffects([]), "values"),
    (lambda: PointEffects([[1.0, 2.0]]), "values"),
    (lambda: PointEffects([[1.0], [1.0, 2.0]]), "values"),
    (lambda: PointEffects([1.0, 2.0], weights=[1.0]), "weights"),
    (lambda: PointEffects([1.0, 2.0], weights=[1.0, -0.1]), "weights"),
    (lambda: PointEffects([1.0, 2.0], weights=[0.0, 0.0]), "weights"),
    (lambda: PointEffects([1.0, 2.0], weights=[1.0, np.nan]), "weights"),
    (lambda: PointEffects([1.0, 2.0], weights="ab"), "weights"),
    (lambda: PointEffects(1.0, signs="both"), "signs"),
    (lambda: PointEffects(1.0, signs=None), "signs"),
    (lambda: EmpiricalEffects([0.1, 0.0]), "values"),
    (lambda: EmpiricalEffects([]), "values"),
    (lambda: EmpiricalEffects([np.nan]), "values"),
    (lambda: EmpiricalEffects(["a", "b"]), "values"),
    (lambda: EmpiricalEffects(np.ones((2, 2))), "values"),
]


@pytest.mark.parametrize(("make", "name"), BAD)
def test_errors_name_the_argument(make, name):
    with pytest.raises(ArgumentError, match=f"^{name} "):
        make()


def test_the_message_for_zeros_says_where_they_belong():
    with pytest.raises(ArgumentError, match="rho"):
        EmpiricalEffects([1.0, 0.0])


def test_laws_are_values():
    assert GaussianEffects() == GaussianEffects()
    assert LaplaceEffects() != GaussianEffects()
    assert PointEffects([1.0, 2.0]) == PointEffects([2.0, 4.0])  # only ratios matter
    assert PointEffects([1.0, 2.0]) != PointEffects([1.0, 2.0], signs="given")
    assert EmpiricalEffects(STUDY) == EmpiricalEffects(np.array(STUDY))
    assert EmpiricalEffects([1.0, 2.0]) != PointEffects([1.0, 2.0], signs="given")
    assert len({GaussianEffects(), GaussianEffects(), PointEffects(), PointEffects(2.0)}) == 2


@pytest.mark.parametrize("law", LAWS, ids=repr)
def test_laws_are_frozen(law):
    assert isinstance(law, Effects)
    hash(law)
    names = [f.name for f in dataclasses.fields(law)]
    for name in names:
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(law, name, None)


def test_the_array_given_is_neither_changed_nor_kept():
    values = np.array([1.0, 2.0])
    law = EmpiricalEffects(values)
    np.testing.assert_array_equal(values, [1.0, 2.0])
    before = law.values
    values[0] = 50.0
    assert law.values == before


def test_kinds_of_variables_begin_with_the_nulls():
    kinds = PointEffects([1.0, 2.0]).mixture().kinds()
    assert kinds.mean[0] == kinds.sd[0] == kinds.probability[0] == 0.0
    assert (
        kinds.mean[1:].tolist() == PointEffects([1.0, 2.0], signs="given").mixture().mean.tolist()
    )
    assert kinds.probability[1:].tolist() == [0.5, 0.5]


def test_no_law_is_the_gaussian_one():
    assert check_effects(None) == GaussianEffects()
    law = PointEffects()
    assert check_effects(law) is law
    with pytest.raises(ArgumentError, match=r"^effects must be a distribution of effects"):
        check_effects("gaussian")


@pytest.mark.parametrize(
    ("text", "law"),
    [
        ("gaussian", GaussianEffects()),
        ("laplace", LaplaceEffects()),
        ("point", PointEffects()),
        ("0.5, -0.3\n0.2 1e-2", EmpiricalEffects([0.5, -0.3, 0.2, 0.01])),
        ("3", EmpiricalEffects([3.0])),
    ],
)
def test_a_law_by_its_name_or_by_numbers(text, law):
    assert effects_of(text) == law


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("cauchy", "effects must be numbers; got 'cauchy'"),
        ("1,nan", "effects must be numbers; got 'nan'"),
        (" , ", "effects must not be empty"),
        ("0 0", "effects must not all be zero"),
        ("1,0", "effects must not be zero: leave out variables without an effect"),
        ("1," * 1001, "effects must be at most 1,000 numbers; got 1001"),
    ],
)
def test_lists_of_effects_that_make_no_sense(text, said):
    with pytest.raises(ArgumentError) as error:
        effects_of(text)
    assert str(error.value) == f"{said}."
