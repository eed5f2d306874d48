"""The arena: the same data every time, no answer asked for twice, and who is marked."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest

contestants = import_module("benchmarks.arena.contestants")
kinds = import_module("benchmarks.arena.kinds")
page = import_module("benchmarks.arena.page")
running = import_module("benchmarks.arena.run")
selecting = import_module("benchmarks.peers.selecting")
store = import_module("benchmarks.arena.store")
tables = import_module("benchmarks.arena.tables")
Kind = import_module("benchmarks.table_kinds").Kind

SMALL = Kind("small", 60, 20, 3, strength=7.0)
FDR, _, PFER = contestants.TARGETS
ME = contestants.ours()["stability-pfer"]
PEER = replace(ME, name="peer", label="a peer", peer=True)


class Endless:
    """A contestant that never comes to an end."""

    def selector(self, target, response, seed):
        return self

    def fit(self, X, y):
        while True:
            pass


def answers(errors, promised=1.0, found=5):
    return [store.Answer(found, false, 10, 0.1, promised) for false in errors]


def test_there_are_enough_kinds_and_two_are_wide():
    assert len(kinds.SIMULATED) >= 18
    assert sum(kind.p >= 1000 for kind in kinds.SIMULATED) == 2


@pytest.mark.parametrize("name", ["AR 0.5", "genotypes", "survival", "nothing matters"])
def test_a_data_set_follows_from_its_kind_and_number(name):
    kind = kinds.kinds()[name]
    first, again, other = (kinds.data_set(kind, number) for number in (3, 3, 4))
    np.testing.assert_array_equal(first.X, again.X)
    np.testing.assert_array_equal(first.y, again.y)
    assert first.X.shape == (kind.n, kind.p)
    assert first.truth.sum() == kind.k
    assert not np.array_equal(first.X, other.X)


def test_a_run_that_was_stopped_goes_on_where_it_was(tmp_path, monkeypatch):
    todo = [*running.tasks([ME], [SMALL], 6, [PFER])]
    assert [task.number for task in todo] == [0, 2, 4]
    whole = store.Answers(tmp_path / "whole")
    running.run(todo, whole)

    ask, asked = running.answer, []

    def stopped(contestant, target, data):
        asked.append(data.seed)
        if len(asked) == 2:
            raise KeyboardInterrupt
        return ask(contestant, target, data)

    monkeypatch.setattr(running, "answer", stopped)
    with pytest.raises(KeyboardInterrupt):
        running.run(todo, store.Answers(tmp_path / "part"))
    running.run(todo, store.Answers(tmp_path / "part"))
    assert asked == [0, 2, 2, 4]
    part = store.Answers(tmp_path / "part")
    for number in (0, 2, 4):
        one, two = (each.get(ME, "small", PFER, number) for each in (whole, part))
        assert replace(one, seconds=0.0) == replace(two, seconds=0.0)
        assert one.found > 0

    monkeypatch.setattr(contestants, "VERSIONS", {ME.name: 2})
    assert part.get(ME, "small", PFER, 0) is None


def test_peers_are_asked_in_turn_and_only_those_that_are_installed(tmp_path, monkeypatch):
    """Ask for five data sets in batches of two; one answer is known, and one peer is away."""
    asked = []

    def select(name, problems, rate, level, limit):
        asked.append((name, [problem.seed for problem in problems]))
        return [selecting.Outcome(np.arange(20) < 4, 0.5) for _ in problems]

    monkeypatch.setattr(running, "BATCH", 2)
    monkeypatch.setattr(running, "select_many", select)
    monkeypatch.setattr(running, "absence", lambda name: "away" if name == "away" else None)
    trio = [replace(PEER, name=name, rates=("fdr",)) for name in ("one", "two", "away")]
    kept = store.Answers(tmp_path)
    kept.add(trio[1], "small", FDR, 0, store.Answer(0, 0, 3, 9.0, None, store.TOO_SLOW))
    running.run([*running.tasks(trio, [SMALL], 5, [FDR])], kept)
    assert asked == [
        *(("one", [0, 1]), ("two", [1])),
        *(("one", [2, 3]), ("two", [2, 3])),
        *(("one", [4]), ("two", [4])),
    ]
    truth = kinds.data_set(SMALL, 3).truth
    found = int(truth[:4].sum())
    assert kept.get(trio[0], "small", FDR, 3) == store.Answer(found, 4 - found, 3, 0.5, 0.1)
    assert kept.get(trio[2], "small", FDR, 0) is None


def test_time_that_is_over_is_an_answer(tmp_path):
    late = running.answer(Endless(), FDR, kinds.data_set(SMALL, 0), limit=0.05)
    assert late.refused == store.TOO_SLOW
    kept = store.Answers(tmp_path)
    kept.add(ME, "small", PFER, 0, late)
    assert not kept.too_slow(ME, "small", PFER)
    kept.add(ME, "small", PFER, 2, late)
    assert kept.too_slow(ME, "small", PFER)
    assert tables.summary(ME, "small", PFER, [late, late]).status == store.TOO_SLOW


@pytest.mark.parametrize(
    ("errors", "status"),
    [
        ([1, 1, 1, 1], tables.RANKED),  # at the level
        ([0, 2, 2, 1, 1], tables.RANKED),  # mean 1.2, standard error 0.37
        ([2, 2, 2, 1, 2], tables.BROKEN),  # mean 1.8, standard error 0.2
        ([2, 2, 2, 2], tables.BROKEN),
    ],
)
def test_who_is_two_standard_errors_above_the_level_is_marked(errors, status):
    assert tables.summary(ME, "small", PFER, answers(errors)).status == status


def test_answers_without_a_promise_find_nothing_and_are_not_judged():
    some = [*answers([0, 0]), *answers([9, 9], promised=None)]
    row = tables.summary(ME, "small", PFER, some)
    assert (row.status, row.power, row.error, row.promised) == (tables.RANKED, 0.25, 0.0, 0.5)
    none = tables.summary(ME, "small", PFER, answers([9, 9], promised=None))
    assert none.status == tables.SILENT
    more = tables.summary(ME, "small", FDR, answers([0, 0], promised=0.3))
    assert more.status == tables.SILENT


def test_the_best_is_compared_on_common_data_sets():
    mine = dict(enumerate(answers([0, 0, 0, 0], found=6)))
    theirs = {i: one for i, one in enumerate(answers([0, 0, 0, 0], found=5)) if i % 2}
    broken = dict(enumerate(answers([3, 3, 3, 3], found=9)))
    third = replace(ME, name="third", label="third")
    rows = tables.compared("AR 0.5", PFER, [(ME, mine), (PEER, theirs), (third, broken)])
    assert [row.status for row in rows] == [tables.RANKED, tables.RANKED, tables.BROKEN]
    assert [row.behind for row in rows] == pytest.approx([0.0, 0.1, -0.3])
    assert page.ahead(rows) == pytest.approx((0.1, 0.0))
    wanted = "The best of ours finds more on 1 of them (by more than 2 standard errors on 1)"
    assert f"{wanted} and less on 0." in page.headline(rows)
    assert [one.power for one in page.totals(rows, PFER.name)] == pytest.approx([0.6, 0.5, 0.0])
    assert "| AR 0.5 | 500 x 200, 25 | stability, PFER bound | 0.60 (0.00) | a peer |" in (
        page.by_kind(rows, PFER.name)
    )
    assert "3.00 (0.00)" in page.marked(rows)


def test_rows_are_read_as_they_were_written(tmp_path):
    rows = tables.compared("AR 0.5", PFER, [(ME, dict(enumerate(answers([0, 1, 1, 0]))))])
    tables.write(tmp_path / "rows.csv", rows)
    (read,) = tables.read(tmp_path / "rows.csv")
    assert read == replace(rows[0], error_error=read.error_error)
    assert read.error_error == pytest.approx(rows[0].error_error, abs=5e-5)


def test_the_pages_show_the_rows():
    for path in page.PAGES:
        text = path.read_text("utf-8")
        assert page.renewed(text) == text, "Run `python -m benchmarks.arena tables`."
