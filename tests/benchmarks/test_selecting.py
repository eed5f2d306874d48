"""How problems reach other people's selections and come back; no peer is needed for it."""

from __future__ import annotations

import os
import signal
from importlib import import_module

import numpy as np
import pytest

selecting = import_module("benchmarks.peers.selecting")
environments = import_module("benchmarks.peers.environments")
adapters = import_module("benchmarks.peers.selection_adapters")
worker = import_module("benchmarks.peers.selecting_peer")
X = np.arange(12.0).reshape(4, 3) ** 2
PROBLEMS = [
    selecting.Problem(X, np.array([0.5, -1.0, 2.0, 3.0]), "linear", 7),
    selecting.Problem(X[:, :2], np.column_stack([[3.0, 1, 2, 5], [1, 0, 1, 1]]), "survival", 2**31),
]


def test_problems_come_back_as_they_were(tmp_path):
    selecting.write_problems(tmp_path, PROBLEMS)
    for sent, received in zip(PROBLEMS, selecting.read_problems(tmp_path), strict=True):
        np.testing.assert_array_equal(received.X, sent.X)
        np.testing.assert_array_equal(received.y, sent.y)
        assert (received.response, received.seed) == (sent.response, sent.seed)


@pytest.fixture
def peer(monkeypatch):
    """Let a peer of this test answer, by the given function; return what it selected."""

    def answer(folder, select, limit=5.0):
        monkeypatch.setitem(adapters.ADAPTERS, "ours", select)
        question = selecting.Question("fdr", 0.25, limit)
        worker.fork("ours", folder, 0, PROBLEMS[0], question)
        return selecting.read_outcome(folder, 0, PROBLEMS[0], "no answer")

    return answer


def test_a_selection_comes_back_with_its_seconds(tmp_path, peer):
    outcome = peer(tmp_path, lambda problem, question: problem.X[0] > 4 * question.level)
    np.testing.assert_array_equal(outcome.selected, [False, False, True])
    assert outcome.error is None
    assert 0 <= outcome.seconds < 5


def test_draws_depend_on_the_seed_of_the_problem_alone(tmp_path, peer):
    drawn = [
        peer(tmp_path, lambda problem, question: np.random.random(3) < 0.5).selected  # noqa: NPY002
        for _ in range(3)
    ]
    expected = np.random.RandomState(7).random_sample(3) < 0.5
    np.testing.assert_array_equal(drawn, np.tile(expected, (3, 1)))


def test_an_error_selects_nothing_and_says_why(tmp_path, peer):
    def refuse(problem, question):
        raise ValueError("y has no variance\nat all")

    outcome = peer(tmp_path, refuse)
    assert outcome.error == "ValueError: y has no variance"
    assert not outcome.selected.any()
    assert np.isnan(outcome.seconds)


def test_a_peer_that_needs_longer_is_too_slow(tmp_path, peer):
    def never(problem, question):
        while True:
            pass

    assert peer(tmp_path, never, limit=0.5).error == selecting.TOO_SLOW


def test_a_peer_that_dies_is_an_error(tmp_path, peer):
    outcome = peer(tmp_path, lambda problem, question: os.kill(os.getpid(), signal.SIGKILL))
    assert outcome.error == "ended by signal 9"


def test_every_peer_has_a_version_and_a_way_to_run():
    for name, peer in selecting.PEERS.items():
        assert peer.version
        assert set(peer.targets) <= {"fdr", "pfer"}
        assert set(peer.responses) <= set(selecting.RESPONSES)
        assert (name in adapters.ADAPTERS) != (peer.package in environments.R_PACKAGES)


def test_a_target_or_response_that_a_peer_does_not_take_is_refused():
    with pytest.raises(ValueError, match="takes no level for 'pfer'"):
        selecting.select_many("knockpy-lcd", PROBLEMS[:1], "pfer", 1.0)
    with pytest.raises(ValueError, match="takes no response survival"):
        selecting.select_many("knockpy-lcd", PROBLEMS, "fdr", 0.1)


def test_a_peer_that_is_not_installed_is_an_error(tmp_path, monkeypatch):
    monkeypatch.setenv("SELICA_BENCH", str(tmp_path))
    (outcome,) = selecting.select_many("knockpy-lcd", PROBLEMS[:1], "fdr", 0.1)
    assert outcome.error == "knockpy is skipped: no environment 'knockpy'"


def test_the_small_table_counts_what_is_found(monkeypatch):
    outcomes = [
        selecting.Outcome(np.arange(60) % 20 < 5, 1.25),
        selecting.Outcome(np.arange(60) == 3, 1.0),
    ]
    monkeypatch.setattr(selecting, "select_many", lambda *_: outcomes)
    row = [cell.strip() for cell in selecting.trial_row("trex", "fdr", 5.0).split("|")]
    assert row[3:8] == ["fdr 0.1", "0.50", "10", "1", "1.25"]


def test_the_readme_lists_the_peers():
    readme = (environments.ROOT / "benchmarks" / "README.md").read_text()
    assert selecting.table() in readme
