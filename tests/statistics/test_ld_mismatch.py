"""Whether LD is that of the Z-scores: residuals by regression, rates of alarm, what is noticed."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import kstest
from scipy.stats import t as student

from selica._core.errors import ArgumentError
from selica.sampling import reference_linkage
from selica.statistics import ld_mismatch as module
from selica.statistics import linkage_mismatch
from selica.tables import LinkageBlocks

RNG = np.random.default_rng(0)
AR = 0.8 ** np.abs(np.subtract.outer(range(12), range(12)))
ROOT = np.linalg.cholesky(AR)


def test_residuals_are_those_of_a_new_row_in_a_regression(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_RIDGE", 0.0)
    X = RNG.standard_normal((60, 4)) @ ROOT[:4, :4].T
    z = ROOT[:4, :4] @ RNG.standard_normal(4)
    how = module._predictions(np.corrcoef(X.T), 60)
    assert how is not None
    _, found, _ = how.residuals(z)
    unit = (X - X.mean(axis=0)) / X.std(axis=0)
    for j in range(4):
        others = [k for k in range(4) if k != j]
        A, b = unit[:, others], unit[:, j]
        coef, rss = np.linalg.lstsq(A, b, rcond=None)[:2]
        freedom = 60 - 3 - 1  # three neighbours, and the mean
        spread = rss[0] / freedom * (1.0 + z[others] @ np.linalg.solve(A.T @ A, z[others]))
        assert found[j] == pytest.approx((z[j] - z[others] @ coef) / np.sqrt(spread))


def test_residuals_without_effects_have_the_distribution_of_t() -> None:
    t = []
    for run in range(400):
        rng = np.random.default_rng([1, run])
        X = rng.standard_normal((40, 12)) @ ROOT.T
        how = module._predictions(np.corrcoef(X.T), 40)  # four neighbours
        assert how is not None
        t.append(how.residuals(ROOT @ rng.standard_normal(12))[1][run % 12])
        assert how.freedom == 40 - 4 - 1
    assert kstest(t, student(35).cdf).pvalue > 0.001


def test_the_share_of_noise_is_the_one_that_was_put_in() -> None:
    big = LinkageBlocks([AR] * 300)
    rng = np.random.default_rng(2)
    for s in (0.0, 0.3):
        root = np.linalg.cholesky((1.0 - s) * AR + s * np.eye(12))
        z = (root @ rng.standard_normal((12, 300))).T.ravel()
        assert linkage_mismatch(z, big).noise == pytest.approx(s, abs=0.04)


def test_a_drawn_reference_has_the_moments_of_a_wishart_matrix() -> None:
    for people in (8, 40):  # by rows, and by Bartlett's factor
        drawn = [module._drawn_reference(ROOT, people, RNG) for _ in range(600)]
        spread = np.std(drawn, axis=0)[0, 1]
        # a correlation has the standard error (1 - r^2) / sqrt(n - 1), about
        assert spread == pytest.approx(
            0.36 / np.sqrt(people - 1), rel=0.35 if people < 20 else 0.15
        )


@pytest.mark.parametrize("people", [None, 200])
def test_flipped_alleles_are_found_and_right_ones_are_not(people: int | None) -> None:
    rng = np.random.default_rng(4)
    blocks = []
    for _ in range(5):
        rows = rng.standard_normal((people or 2, 12)) @ ROOT.T
        blocks.append(AR if people is None else np.corrcoef(rows.T))
    ld = LinkageBlocks(blocks, people)
    z = np.concatenate([ROOT @ rng.standard_normal(12) + 7.0 * AR[6] for _ in range(5)])
    assert not linkage_mismatch(z, ld).refused
    z[[17, 31]] *= -1.0
    found = linkage_mismatch(z, ld)
    assert found.refused
    assert {17, 31} & set(found.worst[:3].tolist())
    assert "m17" in found.sentence(ld.names) or "m31" in found.sentence(ld.names)


def test_ld_of_other_people_is_noticed() -> None:
    rng = np.random.default_rng(5)
    z = np.concatenate([ROOT @ rng.standard_normal(12) for _ in range(40)])
    assert not linkage_mismatch(z, LinkageBlocks([AR] * 40)).refused
    shuffled = AR[np.ix_(order := rng.permutation(12), order)]
    found = linkage_mismatch(z, LinkageBlocks([shuffled] * 40))
    assert found.refused
    assert found.noise > found.noise_limit
    assert "noise without LD" in found.sentence(tuple(f"m{j}" for j in range(480)))


def test_identical_markers_and_single_ones_are_fine() -> None:
    same = np.ones((3, 3))
    z = np.array([4.0, 4.0, 4.01])
    assert not linkage_mismatch(z, LinkageBlocks([same])).refused
    assert linkage_mismatch([9.0], LinkageBlocks([np.eye(1)])).number == 0.0


def test_the_same_seed_gives_the_same_limit() -> None:
    ld = reference_linkage(RNG.standard_normal((50, 12)) @ ROOT.T)
    z = RNG.standard_normal(12)
    assert linkage_mismatch(z, ld, 1).noise_limit == linkage_mismatch(z, ld, 1).noise_limit
    with pytest.raises(ArgumentError, match="12 markers"):
        linkage_mismatch(z[:3], ld)


@pytest.mark.slow
@pytest.mark.parametrize("signals", [0, 30])
def test_right_ld_is_refused_in_one_of_a_hundred_cases_at_most(signals: int) -> None:
    from benchmarks.ghost_knockoffs import mismatch

    rows = [row for run in range(300) for row in mismatch(run, 300, signals)]
    for panel in ("own people", "500", "2000"):
        refused = [
            row["refused"] for row in rows if (row["case"], row["panel"]) == ("right", panel)
        ]
        assert np.mean(refused) <= 0.01 + 3.0 * np.sqrt(0.01 * 0.99 / len(refused))
