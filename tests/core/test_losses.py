"""Losses: derivatives, proximal maps and certificates from their definitions; the tables."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from selica import KnockoffSelection, LassoSelection, StabilitySelection
from selica._core.errors import ArgumentError, DoesNotApply, RefusedError
from selica._core.losses import (
    LOSSES,
    LogisticLoss,
    Loss,
    PoissonLoss,
    RowLoss,
    SquaredLoss,
    loss_of,
    read_response,
    register,
    require,
    responses,
    treats,
)
from selica._core.losses.rooms import ROOMS
from selica.amp import stability_vamp
from selica.sampling import simulate
from selica.solvers.ensemble import make_problem, solve
from tests.core.losses import check_row_loss

ALL = [SquaredLoss(), LogisticLoss(), PoissonLoss()]


class ByValue(RowLoss):
    """A loss of which no more than three functions are known."""

    name, response, label = "by value", "by value", "numbers"

    def __init__(self, known):
        self.known = known

    def value(self, y, z):
        return self.known.value(y, z)

    def slope(self, y, z):
        return self.known.slope(y, z)

    def curvature(self, y, z):
        return self.known.curvature(y, z)

    def lowest(self, y):
        return self.known.lowest(y)


def responses_of(loss, n=40):
    rng = np.random.default_rng(5)
    if isinstance(loss, LogisticLoss):
        return (np.arange(n) % 3 == 0).astype(float)
    if isinstance(loss, PoissonLoss):
        return rng.poisson(2.0, n).astype(float)
    return rng.standard_normal(n)


@pytest.mark.parametrize("loss", [*ALL, *map(ByValue, ALL)], ids=str)
def test_a_loss_is_what_it_says(loss):
    check_row_loss(loss, responses_of(getattr(loss, "known", loss)))


@pytest.mark.parametrize("loss", ALL, ids=str)
def test_closed_forms_are_what_newton_finds(loss):
    rng, plain = np.random.default_rng(1), ByValue(loss)
    y = responses_of(loss)
    c = rng.random((3, y.size))
    for intercept in (True, False):
        known, found = (one.null(y, c, intercept) for one in (loss, plain))
        for name in ("intercept", "gradient", "value"):
            np.testing.assert_allclose(
                getattr(known, name), getattr(found, name), rtol=1e-10, atol=1e-12
            )
    # the root of an exponential is far from the middle of its bounds where the pull is large
    largest = 1.5 if isinstance(loss, PoissonLoss) else 3.0
    field, pull = 3.0 * rng.standard_normal(y.size), 10.0 ** rng.uniform(-3, largest, y.size)
    np.testing.assert_allclose(
        loss.proximal(y, field, pull), plain.proximal(y, field, pull), rtol=1e-9, atol=1e-9
    )
    eta = rng.standard_normal((3, y.size))
    np.testing.assert_allclose(loss.balance(y, c, eta), plain.balance(y, c, eta), atol=1e-12)


@pytest.mark.parametrize("loss", [*ALL, *map(ByValue, ALL)], ids=str)
def test_one_member_or_several_have_the_null_fit_of_each(loss):
    y = responses_of(getattr(loss, "known", loss))
    c = np.random.default_rng(2).random((2, 3, y.size))
    for intercept in (True, False):
        whole = loss.null(y, c, intercept)
        assert whole.intercept.shape == whole.value.shape == (2, 3)
        assert whole.gradient.shape == c.shape
        for place in np.ndindex(2, 3):
            alone = loss.null(y, c[place], intercept)
            assert np.shape(alone.intercept) == np.shape(alone.value) == ()
            assert whole.intercept[place] == pytest.approx(alone.intercept, abs=1e-12)
            assert whole.value[place] == pytest.approx(alone.value, rel=1e-12)
            np.testing.assert_allclose(whole.gradient[place], alone.gradient, atol=1e-12)


def test_the_log_loss_is_stable_and_far_from_zero_too():
    loss, z = LogisticLoss(), np.array([-800.0, -40.0, 40.0, 800.0])
    for y in (np.zeros(4), np.ones(4)):
        s = 2.0 * y - 1.0
        np.testing.assert_allclose(
            loss.value(y, z), np.where(s * z < 0, np.abs(z), np.exp(-np.abs(z))), rtol=1e-12
        )
        np.testing.assert_allclose(
            loss.slope(y, z), -s * np.where(s * z < 0, 1.0, np.exp(-np.abs(z))), rtol=1e-12
        )
    assert loss.curvature(np.zeros(1), np.array([40.0]))[0] == pytest.approx(np.exp(-40.0))


def test_a_mean_without_weight_is_zero():
    assert SquaredLoss().null(np.arange(3.0), np.zeros(3)).intercept == 0.0
    assert LogisticLoss().null(np.ones(3), np.zeros(3)).value == 0.0


# --- reading, drawing ------------------------------------------------------------------------


def test_responses_are_recognised():
    for y, name in (
        (np.array([0.5, 1.0, 2.0]), "squared"),
        (np.array([1.0, 2.0, 1.0]), "logistic"),
        (np.array(["no", "yes", "no"]), "logistic"),
        (np.array([True, False]), "logistic"),
        (np.array([0, 1, 2, 3]), "squared"),  # counts have to be asked for
        (np.array([0.0, 7.0, 2.0, 0.0]), "squared"),
    ):
        assert read_response("auto", y)[0].name == name
    loss, read = read_response("linear", np.array([1, 2, 1]))
    assert (loss.name, read.values.tolist(), read.classes) == ("squared", [1.0, 2.0, 1.0], None)
    loss, read = read_response("binary", np.array(["a", "b", "a"]))
    assert (read.values.tolist(), list(read.classes)) == ([0.0, 1.0, 0.0], ["a", "b"])


@pytest.mark.parametrize(
    ("response", "y", "sentence"),
    [
        ("counts", [1.0, 2.0], "response must be one of 'auto', 'linear', 'binary'"),
        ("binary", [1.0, 2.0, 3.0], "y must have two classes for response='binary'; got 3"),
        ("linear", [1.0, 1e200], "y must be finite and at most 1e\\+150"),
    ],
)
def test_bad_responses_are_named(response, y, sentence):
    kind = RefusedError if "constant" in sentence else ArgumentError
    with pytest.raises(kind, match=sentence):
        read_response(response, np.array(y))
    with pytest.raises(RefusedError, match=r"^y is constant \(2\): there is nothing to explain\.$"):
        read_response("auto", np.full(2, 2.0))
    mixed = np.array([1, "a", None], dtype=object)
    with pytest.raises(ArgumentError, match="y mixes values of different kinds"):
        read_response("auto", mixed)


def test_responses_are_drawn_from_their_predictors():
    rng = np.random.default_rng(0)
    eta = np.repeat([-1.0, 0.5], 40_000)
    for loss, noise in ((SquaredLoss(), 4.0), (LogisticLoss(), None), (PoissonLoss(), None)):
        y = loss.draw(eta, noise, rng).reshape(2, -1)
        spread = y.std(axis=1) / np.sqrt(y.shape[1])
        assert np.all(np.abs(y.mean(axis=1) - loss.mean(np.array([-1.0, 0.5]))) < 5.0 * spread)
    same = [simulate(50, 5, 2, response=word, random_state=3).y for word in ("logistic", "binary")]
    np.testing.assert_array_equal(*same)
    with pytest.raises(ArgumentError, match="snr has no meaning for a logistic response"):
        simulate(50, 5, 2, snr=1.0, response="binary")


# --- tables ----------------------------------------------------------------------------------


def test_losses_are_found_by_name_and_by_response():
    assert list(LOSSES) == ["squared", "logistic", "poisson", "cox", "multinomial"]
    assert responses() == ("linear", "binary", "count", "survival", "classes")
    for loss in LOSSES.values():
        assert loss_of(loss.name) is loss_of(loss.response) is loss_of(loss) is loss
    with pytest.raises(ArgumentError, match="loss must be one of 'squared', 'logistic'"):
        loss_of("hinge")
    with pytest.raises(ArgumentError, match="loss must be one of"):
        loss_of(3)


def test_a_response_has_one_loss(monkeypatch):
    monkeypatch.setattr("selica._core.losses.table.LOSSES", dict(LOSSES))

    class Other(SquaredLoss):
        name = "other"

    with pytest.raises(ArgumentError, match="'linear' belongs to the loss 'squared'"):
        register(Other())


def test_every_room_has_a_sentence():
    class Whole(Loss):
        """A loss that is no sum over rows, of which a room asks no more than its kind."""

        name, response, label = "whole", "survival", "times of events"
        total = gradient = majorant = dual = infimum = balance = mean = deviance = None

    for room in ROOMS:
        assert treats(room, SquaredLoss())
        require(room, SquaredLoss())
        with pytest.raises(DoesNotApply, match=r"times of events.*\.$") as found:
            require(room, Whole())
        assert "{" not in str(found.value)
    treated = {room for room in ROOMS if treats(room, PoissonLoss())}
    assert treated == {"message passing", "left-out fields"}
    for name in ("cox", "multinomial"):
        assert not any(treats(room, loss_of(name)) for room in ROOMS)
    treated = {room for room in ROOMS if treats(room, LogisticLoss())}
    assert treated == {"message passing", "data splitting", "left-out fields"}


def test_rows_of_the_rarer_class_count():
    y = np.array([0.0, 0, 0, 0, 0, 1, 1])
    assert LogisticLoss().informative_rows(y) == 4
    assert SquaredLoss().informative_rows(y) == 7
    assert SquaredLoss().strata(y) is None
    np.testing.assert_array_equal(LogisticLoss().strata(y), y)


def test_what_rows_held_out_add():
    """The deviance of these rows alone, which is also what they add to that of the others."""
    rng = np.random.default_rng(3)
    held_out, c = np.arange(40) % 4 == 0, rng.random(40)
    eta = rng.standard_normal((3, 40))
    for loss in ALL:
        y = responses_of(loss)
        found = loss.held_out_score(y, c, held_out, eta)
        known = loss.deviance(y, eta)[:, held_out] @ c[held_out]
        np.testing.assert_allclose(found.deviance, known, rtol=1e-12)
        assert found.mass == pytest.approx(c[held_out].sum())
        added = Loss.held_out_score(loss, y, c, held_out, eta)
        np.testing.assert_allclose(added.deviance, known, rtol=1e-10)
        assert added.mass == found.mass
        assert not loss.degenerate(y, np.ones((3, 40))).any()


@pytest.mark.filterwarnings("ignore:n_resamples")
def test_selectors_and_message_passing_treat_counts():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 30))
    y = rng.poisson(np.exp(0.3 + 0.5 * X[:, :4].sum(axis=1)))
    passed = stability_vamp(X, y - 0.0, 20.0, response="count").selection_probabilities
    for selector in (
        LassoSelection("cv", response="count", random_state=0),
        StabilitySelection(pfer=1.0, response="count", n_resamples=40, random_state=0),
        KnockoffSelection(fdr=0.3, response="count", random_state=0),
    ):
        assert selector.fit(X, y).support_[:4].all(), selector
        assert selector.response_ == "count"
    with pytest.warns(UserWarning, match="looks like counts"):  # which have to be asked for
        assert LassoSelection("cv", random_state=0).fit(X, y).response_ == "linear"
    weights = rng.poisson(1.0, (300, 200)).astype(float)
    lams = np.array([20.0])
    fits = solve(make_problem(X, y - 0.0, lams, weights, PoissonLoss(), keep="counts"))
    np.testing.assert_allclose(passed, fits.counts[0] / 300.0, atol=0.2)


def test_proximal_maps_minimise():
    rng = np.random.default_rng(2)
    for loss in (LogisticLoss(), PoissonLoss()):
        y = responses_of(loss, 6)
        field, pull = rng.standard_normal(6), np.array([0.01, 0.3, 1.0, 3.0, 20.0, 400.0])
        z = loss.proximal(y, field, pull)
        for k in range(6):

            def cost(x, k=k, loss=loss, y=y, field=field, pull=pull):
                return pull[k] * loss.value(y[k], np.asarray(x)) + 0.5 * (x - field[k]) ** 2

            found = minimize_scalar(cost, bracket=(z[k] - 1.0, z[k] + 1.0), tol=1e-12)
            assert cost(z[k]) <= found.fun + 1e-10 * (1.0 + abs(found.fun))
