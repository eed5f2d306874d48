"""Selections from Z-scores: decisions, refusals, promises, words, hostile input."""

from __future__ import annotations

import numpy as np
import pytest

from selica import SummaryKnockoffs
from selica._core.errors import ArgumentError, RefusedError
from selica.control import knockoff_threshold
from selica.sampling import GhostKnockoffs, simulate
from selica.selectors import AssumptionWarning
from selica.tables import LinkageBlocks

SIZE = 12
AR = 0.6 ** np.abs(np.subtract.outer(range(SIZE), range(SIZE)))
LD = LinkageBlocks([AR] * 5, names=[f"rs{j}" for j in range(60)])


def study(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Z-scores of 1,000 people, and which markers have effects."""
    rng = np.random.default_rng(seed)
    mu = np.zeros((5, SIZE))
    mu[:, [2, 8]] = 7.0
    z = mu @ AR + rng.standard_normal((5, SIZE)) @ np.linalg.cholesky(AR).T
    return z.ravel(), mu.ravel() != 0.0


def test_one_copy_is_the_knockoff_filter() -> None:
    z, _ = study()
    found = SummaryKnockoffs(0.2, statistic="marginal", joint_copies=1, random_state=3)
    found.fit(z, 10**9, LD)  # so many that a t-statistic is a Z-score
    copy = GhostKnockoffs(LD).draw(z, 3)[0]
    W = z**2 - copy**2
    np.testing.assert_allclose(found.statistics_, W, rtol=1e-5, atol=1e-5)
    assert found.threshold_ == pytest.approx(knockoff_threshold(W, 0.2), rel=1e-5)
    assert np.array_equal(found.support_, knockoff_threshold(W, 0.2) <= W)


@pytest.mark.parametrize("statistic", ["lasso", "marginal"])
def test_effects_are_found_and_the_answer_is_told(statistic: str) -> None:
    z, truth = study()
    found = SummaryKnockoffs(0.2, statistic=statistic, random_state=0).fit(z, 1000, LD)
    if statistic == "lasso":
        assert (found.support_ & truth).sum() >= 8
        assert found.support_.sum() <= 20
    text = str(found.summary())
    assert "rs2" in text
    assert "expected, not proven" in text
    assert "mismatch number" in text
    assert found.guarantee_.level == 0.2
    assert not found.guarantee_.proven
    assert np.array_equal(found.get_support(indices=True), np.flatnonzero(found.support_))
    assert len(found.summary().variables) == 60


def test_the_same_seed_gives_the_same_answer() -> None:
    z, _ = study()
    one, two = (SummaryKnockoffs(random_state=5).fit(z, 1000, LD) for _ in range(2))
    assert np.array_equal(one.statistics_, two.statistics_)
    assert one.lam_ == two.lam_


def test_flipped_alleles_are_refused_or_cost_the_promise() -> None:
    z, _ = study()
    z[[2, 20]] *= -1.0
    with pytest.raises(RefusedError, match=r"ld is not that of the people behind z.*rs"):
        SummaryKnockoffs(random_state=0).fit(z, 1000, LD)
    with pytest.warns(AssumptionWarning, match="LD is not that"):
        found = SummaryKnockoffs(accept_mismatch=True, random_state=0).fit(z, 1000, LD)
    assert found.guarantee_.level is None
    assert found.guarantee_.withdrawn
    assert not found.guarantee_.proven
    assert any("LD is not that" in caution for caution in found.cautions_)


def test_groups_are_selected_as_a_whole() -> None:
    z, _ = study()
    groups = np.repeat(np.arange(20), 3)
    found = SummaryKnockoffs(0.2, groups=groups, random_state=0).fit(z, 1000, LD)
    assert found.group_support_.shape == (20,)
    assert np.array_equal(found.support_, found.group_support_[groups])
    assert found.guarantee_.discoveries == "groups"
    assert "in this group" in found.summary().variables.columns
    clusters = SummaryKnockoffs(0.2, groups=("correlation", 0.55), random_state=0).fit(z, 1000, LD)
    assert 5 < clusters.group_names_.size < 60


def test_a_reference_panel_is_named_in_the_promise() -> None:
    z, _ = study()
    rows = np.random.default_rng(1).standard_normal((900, SIZE)) @ np.linalg.cholesky(AR).T
    ld = LinkageBlocks([np.corrcoef(rows.T)] * 5, 900)
    found = SummaryKnockoffs(random_state=0).fit(z, 1000, ld, names=[f"a{j}" for j in range(60)])
    assert "900 people of the reference panel" in str(found.guarantee_)
    assert "a2" in str(found.summary())


def test_an_empty_answer_says_what_was_needed() -> None:
    z = np.random.default_rng(8).standard_normal(60) @ np.eye(60)
    found = SummaryKnockoffs(0.05, joint_copies=1, random_state=0)
    found.fit(z, 1000, LinkageBlocks([np.eye(12)] * 5))
    assert not found.support_.any()
    assert "at least 20 markers" in found.explain()
    assert found.explain() in found.notes_


def test_nearly_identical_markers_are_told() -> None:
    R = np.full((2, 2), 0.97)
    np.fill_diagonal(R, 1.0)
    found = SummaryKnockoffs(random_state=0).fit([1.0, 1.1], 500, [R])
    assert any("m0 and m1" in caution for caution in found.cautions_)


def test_figures_are_drawn() -> None:
    z, _ = study()
    figure = SummaryKnockoffs(0.2, random_state=0).fit(z, 1000, LD).plot()
    assert "markers" in figure.axes[0].get_xlabel()


@pytest.mark.parametrize(
    ("settings", "arguments", "words"),
    [
        ({}, (np.ones(3), 100, LD), "60 markers of ld"),
        ({}, (np.full(60, np.nan), 100, LD), "finite"),
        ({}, (np.ones(60), 3, LD), "n_samples"),
        ({}, (np.ones(60), 100.5, LD), "n_samples"),
        ({}, (np.ones(60), 100, "ld"), "ld must be correlation matrices"),
        ({"fdr": 2.0}, (np.ones(60), 100, LD), "fdr"),
        ({"statistic": "x"}, (np.ones(60), 100, LD), "statistic"),
        ({"lam": -1.0}, (np.ones(60), 100, LD), "lam"),
        ({"lam": 0.1, "statistic": "marginal"}, (np.ones(60), 100, LD), "lam is a setting"),
        ({"joint_copies": 0}, (np.ones(60), 100, LD), "joint_copies"),
        ({"groups": [1, 2]}, (np.ones(60), 100, LD), "groups"),
        ({"groups": "corelation"}, (np.ones(60), 100, LD), "groups"),
        ({"groups": [0] * 60}, (np.ones(60), 100, LD), "two LD blocks"),
        ({"accept_mismatch": 1}, (np.ones(60), 100, LD), "accept_mismatch"),
        ({"method": "sdp"}, (np.ones(60), 100, LD), "method"),
    ],
)
def test_what_makes_no_sense_is_named(settings: dict, arguments: tuple, words: str) -> None:
    with pytest.raises(ArgumentError, match=words):
        SummaryKnockoffs(**settings).fit(*arguments)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:LD is not that:selica.selectors.AssumptionWarning")  # by chance
@pytest.mark.parametrize("statistic", ["lasso", "marginal"])
@pytest.mark.parametrize("signals", [0, 15])
def test_the_false_discovery_rate_is_kept(statistic: str, signals: int) -> None:
    shares = []
    ld = LinkageBlocks([AR] * 5)
    sigma = np.kron(np.eye(5), AR)
    for run in range(300):
        noise = {"noise_variance": 1.0} if signals == 0 else {"r2": 0.5}
        data = simulate(500, 60, signals, covariance=sigma, random_state=run, **noise)
        X, y = data.X - data.X.mean(axis=0), data.y - data.y.mean()
        r = X.T @ y / np.sqrt((X**2).sum(axis=0) * (y @ y))
        z = r * np.sqrt(498 / (1.0 - r**2))
        selector = SummaryKnockoffs(
            0.2, statistic=statistic, accept_mismatch=True, random_state=run
        )
        chosen = selector.fit(z, 500, ld).support_
        shares.append((chosen & ~data.support).sum() / max(chosen.sum(), 1))
    assert np.mean(shares) <= 0.2 + 3.0 * np.std(shares) / np.sqrt(len(shares))
