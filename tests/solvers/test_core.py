"""The C++ core: the same answers from all instruction sets and threads, and calls that go wrong."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from selica._core.compiled import FORCED, SETS, THREADS, core, load
from selica.sampling import resample_weights
from selica.solvers import (
    cox_path_batch,
    knockoff_path_batch,
    lasso_path_batch,
    logistic_path_batch,
    poisson_path_batch,
)

LOSSES = ("squared", "logistic", "poisson", "breslow", "efron")
SIZES = {"small": (90, 40), "large": (150, 1200)}  # members alone, and multiplied together


def fit(loss, size="small", **settings):
    """Fit an ensemble of 40 members, which are several chunks, along five penalties."""
    n, p = SIZES[size]
    rng = np.random.default_rng(3)
    X = rng.standard_normal((n, p))
    eta = X[:, :5] @ [1.0, -1, 0.5, 0.5, -0.5] + rng.standard_normal(n)
    weights = resample_weights(n, 40, "bootstrap", random_state=4)
    given = {"tol": 1e-12, "keep": ("coef", "counts", "moments", "entry")} | settings
    if loss == "squared":
        return lasso_path_batch(X, eta, [80.0, 40, 20, 10, 8], weights, fit_intercept=True, **given)
    if loss == "logistic":
        return logistic_path_batch(X, (eta > 0) * 1.0, [16.0, 12, 8, 6, 5], weights, **given)
    if loss == "poisson":
        counts = np.floor(np.exp(0.5 * eta))
        return poisson_path_batch(X, counts, [60.0, 40, 25, 18, 15], weights, **given)
    times = np.ceil(20.0 * np.exp(-eta)), (rng.random(n) < 0.7) * 1.0
    strata = np.arange(n) % 3
    lams = [20.0, 15, 10, 8, 6]
    return cox_path_batch(X, times, lams, weights, ties=loss, strata=strata, **given)


def _built():
    """The instruction sets that were built and that this machine runs."""
    best = SETS.index(str(load("baseline").best_set()))
    found = []
    for name in SETS[: best + 1]:
        try:
            load(name)
        except ImportError:
            continue
        found.append(name)
    return found


_OF_A_SET = """
import sys
import numpy as np
from selica._core.compiled import core
from tests.solvers.test_core import LOSSES, SIZES, fit
assert core().instruction_set == sys.argv[1]
kept = {f"{loss} {size}": fit(loss, size).coef for loss in LOSSES for size in SIZES}
np.savez(sys.argv[2], **kept)
"""


def test_all_instruction_sets_agree(tmp_path):
    root = Path(__file__).parents[2]
    answers = {}
    for name in _built():
        file = tmp_path / f"{name}.npz"
        command = [sys.executable, "-c", _OF_A_SET, name, str(file)]
        subprocess.run(command, env=os.environ | {FORCED: name}, cwd=root, check=True, timeout=300)
        answers[name] = np.load(file)
    reference = answers.pop("baseline")
    for name, answer in answers.items():
        for case in reference.files:
            wanted, got = reference[case], answer[case]
            assert np.array_equal(got != 0.0, wanted != 0.0), (name, case)
            np.testing.assert_allclose(got, wanted, rtol=0, atol=1e-9, err_msg=f"{name} {case}")


def test_a_set_that_is_not_there_is_one_sentence():
    command = [sys.executable, "-c", "from selica._core.compiled import core; core()"]
    env = os.environ | {FORCED: "avx1024"}
    ran = subprocess.run(command, env=env, capture_output=True, text=True, timeout=60)
    assert ran.stderr.strip().splitlines()[-1].startswith("ImportError: SELICA_SET is 'avx1024'")


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("loss", LOSSES)
def test_threads_do_not_change_a_bit(loss, size, monkeypatch):
    monkeypatch.setenv(THREADS, "1")
    wanted = fit(loss, size)
    assert wanted.n_active.max() >= 5
    for threads in "23":
        monkeypatch.setenv(THREADS, threads)
        got = fit(loss, size)
        for part in (
            "coef", "intercept", "counts", "mean", "second_moment", "first_entry", "gap", "kkt",
            "lam_max", "iterations",
        ):  # fmt: skip
            a, b = getattr(got, part), getattr(wanted, part)
            assert a.tobytes() == b.tobytes(), part


def test_copies_on_threads_do_not_change_a_bit(monkeypatch):
    answers = []
    for threads in "123":
        monkeypatch.setenv(THREADS, threads)
        answers.append(_with_copies(_copy))
    assert answers[0].mean.any()
    for got in answers[1:]:
        assert got.mean.tobytes() == answers[0].mean.tobytes()
        assert got.second_moment.tobytes() == answers[0].second_moment.tobytes()


def _copy(member):
    return np.random.default_rng(member).standard_normal((60, 30))


def _with_copies(copies, **settings):
    X = np.random.default_rng(100).standard_normal((60, 30))
    y = X[:, 0] + X[:, 1]
    return knockoff_path_batch(X, y, [20.0, 10, 5], copies, 40, keep="moments", **settings)


def _threads():
    """How many threads this process has, those of the core included."""
    folder = Path("/proc/self/task")
    if not folder.exists():
        # threads are counted in /proc, which only Linux has; the rest of the file runs everywhere
        pytest.skip("the system does not list threads")
    return len(list(folder.iterdir()))


class Trouble(Exception):
    """Raised by a function that the core calls."""


@pytest.mark.parametrize("threads", ["1", "2"])
@pytest.mark.parametrize("place", [0, 17, 39])
def test_an_error_of_copies_reaches_the_caller(place, threads, monkeypatch):
    monkeypatch.setenv(THREADS, threads)
    _with_copies(_copy)  # threads of other libraries
    before = _threads()

    def copies(member):
        if member == place:
            raise Trouble(f"no copy {member}")
        return _copy(member)

    with pytest.raises(Trouble, match=f"no copy {place}"):
        _with_copies(copies)
    assert _threads() <= before
    assert _with_copies(_copy).converged


@pytest.mark.parametrize("threads", ["1", "2"])
def test_an_error_of_progress_reaches_the_caller(threads, monkeypatch):
    monkeypatch.setenv(THREADS, threads)
    fit("squared")
    before = _threads()

    def progress(done, members):
        raise Trouble(f"{done} of {members}")

    for loss in LOSSES:
        with pytest.raises(Trouble, match="of 40"):
            fit(loss, progress=progress)
        assert _threads() <= before
    with pytest.raises(Trouble):
        _with_copies(_copy, progress=progress)
    assert _threads() <= before


@pytest.mark.parametrize("threads", ["1", "3"])
@pytest.mark.parametrize("loss", LOSSES)
def test_progress_rises_to_the_end(loss, threads, monkeypatch):
    monkeypatch.setenv(THREADS, threads)
    told = []
    fit(loss, progress=lambda done, members: told.append((done, members)))
    done = [each for each, _ in told]
    assert len(done) > 1
    assert done == sorted(set(done))
    assert done[-1] == 40
    assert {members for _, members in told} == {40}


def test_copies_of_another_kind_are_refused():
    for copies in (lambda b: np.ones((2, 2)), lambda b: np.full((60, 30), np.nan)):
        with pytest.raises(ValueError, match="copies must"):
            _with_copies(copies)


def test_the_core_refuses_what_does_not_fit_together():
    design = core().dense_double(np.asfortranarray(np.ones((4, 2))), True)
    one = np.ones((1, 1))
    with pytest.raises(ValueError, match="weights need"):
        core().solve_ensemble(
            design, "squared", [np.ones((1, 4))], np.ones((1, 3)), one, one, np.ones((1, 2)),
            None, None, {}, {}, None, None,
        )  # fmt: skip
